"""Carrying out a run: prepare, estimate, ask or collect by hand, keep what comes."""
