"""The read-only view of answers side by side: an index of the runs, the page, and the server that shows it."""
