"""Tasks: the questions asked of a system, and their conversations."""
