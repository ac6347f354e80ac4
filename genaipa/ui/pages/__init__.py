"""The pages of the desk: each takes the desk and who sits at it, and draws itself."""
