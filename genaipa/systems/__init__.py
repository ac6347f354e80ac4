"""Systems under test: one module for each way to get a reply."""
