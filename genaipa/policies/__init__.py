"""Documents: privacy policies and regulations, their sections, parts and statistics."""
