"""Runs: plans, messages and replies in a folder that reads without genaipa."""
