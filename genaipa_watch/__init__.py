"""What changes with time: versions of a document and the answers that still hold, and systems that drift."""
