"""Scores out of the store and into it: the log of events, tables, and spreadsheets that are filled offline."""
