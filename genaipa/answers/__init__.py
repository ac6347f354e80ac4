"""Facts about answers beside their scores: found by entry points, read once, kept where texts are withheld."""
