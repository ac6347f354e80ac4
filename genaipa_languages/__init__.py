"""Languages beside English: a file each, with the rules by which their texts and answers are read."""
