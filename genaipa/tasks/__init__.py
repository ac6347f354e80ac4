"""Tasks: what is asked of a system, and in which conversations."""
