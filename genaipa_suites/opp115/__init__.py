"""OPP-115: which practices a segment of a privacy policy is about."""
