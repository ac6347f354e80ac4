"""The scoring desk: its settings, and the pages in the browser."""
