"""What can be said about an answer without a model: what it cites and quotes, and whether it claims silence."""
