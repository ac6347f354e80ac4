"""The tables of a report, one module per subject: each a function of the tidy table."""
