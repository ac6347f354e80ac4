"""Runs: what was planned, what was asked, what was answered, in a folder that reads without genaipa."""
