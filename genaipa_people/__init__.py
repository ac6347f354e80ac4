"""People as a system: they write answers at the desk, which others score blind among the rest, and reports say so."""
