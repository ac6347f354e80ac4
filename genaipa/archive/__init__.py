"""A study in one archive: what it may hold, packing (which needs what reports need), and unpacking."""
