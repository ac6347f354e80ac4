"""Judges in a report: how good they are, and the estimates that people's scores and their verdicts give together."""
