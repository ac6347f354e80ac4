"""A paper's artifact: a packed study with what its reviewers ask for. `folder` writes it."""
