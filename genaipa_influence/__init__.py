"""What the desk does to the scores given at it: each aid's effect, from the scores at which chance withheld it."""
