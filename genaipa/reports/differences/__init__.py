"""The differences between two systems: their sides, pairs and tests, and the meaning of these in words."""
