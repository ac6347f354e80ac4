"""Workers: processes here or actors of a Ray cluster, each with one piece of work at a time."""
