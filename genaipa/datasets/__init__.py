"""Other people's layouts, turned into our records."""
