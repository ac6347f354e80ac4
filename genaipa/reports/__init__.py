"""From runs and scores to findings: one tidy table, and every table and figure as a function of it."""
