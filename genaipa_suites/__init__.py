"""Benchmarks with automatic scores, as tasks: their data, their questions, their scorers, their published rows."""
