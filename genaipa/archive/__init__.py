"""One archive of a study, and what may be passed on in it."""
