"""A paper's artifact: a packed study, and what reviewers ask for beside it."""
