"""The languages of documents: a file each, and a line in `catalog.py`."""
