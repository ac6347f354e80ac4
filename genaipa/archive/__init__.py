"""A study in one archive, without texts that may not be passed on."""
