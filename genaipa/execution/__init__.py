"""Execution of a run: prepare, estimate, ask or collect by hand, keep the replies."""
