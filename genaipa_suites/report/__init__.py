"""Suites in a report: from the selected runs to their figures, tables and pictures, and one card for each system."""
