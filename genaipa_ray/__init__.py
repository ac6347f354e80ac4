"""Slices of a study as tasks of a Ray cluster."""
