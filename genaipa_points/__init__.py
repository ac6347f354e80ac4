"""Points of annotated answers, where they are shown: the panel of the desk on which people tick them."""
