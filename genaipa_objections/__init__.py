"""Objections to annotated answers: settled, by the command line or at the desk, and written as corrections."""
