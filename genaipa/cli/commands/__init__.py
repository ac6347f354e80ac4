"""The commands: a file each, and what belongs to one or two of them."""
