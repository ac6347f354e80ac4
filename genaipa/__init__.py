"""Measure how well AI assistants answer people's questions about privacy policies and data-protection law."""

__version__ = "0.1.0"
