"""Workers that are actors of a Ray cluster, for runs in shards."""
