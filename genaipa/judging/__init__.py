"""The judge: a system in the role of a scorer, whose verdicts are kept apart from people's scores."""
