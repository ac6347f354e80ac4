"""PI-Extract: the data that a sentence says are collected or shared, or are not."""
