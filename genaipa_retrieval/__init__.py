"""What the passages of an answer show: those that were retrieved before it, and those that its vendor's feature cites.

Counts by answer, a chapter that tells whether retriever or reader failed, and one on the citations.
"""
