"""Batches: questions that are handed in together, and answered within a day for half the price."""
