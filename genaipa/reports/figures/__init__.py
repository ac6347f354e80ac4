"""Figures: each a function of tables, that gives a Figure, or None where there is nothing to draw."""
