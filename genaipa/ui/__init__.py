"""The scoring desk: what to score next, and the pages in the browser."""
