"""Figures: each a function of tables, that gives a Figure, or None if there is nothing to draw."""
