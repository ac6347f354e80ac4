"""Workers: processes here, or at a place that a package brings, each with one piece of work at a time."""
