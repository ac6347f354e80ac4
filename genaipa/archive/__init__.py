"""A study in one archive: what a pack may hold (light), and packing and rebuilding one (needs what reports need)."""
