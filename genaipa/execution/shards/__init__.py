"""A run of shards of its documents: prepared, and carried out here, one after another, or by workers."""
