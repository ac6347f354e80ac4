"""The terminal: options in; text, tables, progress and help out."""
