"""Questions: sets of them in several wordings, and the annotated answers to them."""
