"""What retrieved passages show: counts by answer, and the chapter that tells whether retriever or reader failed."""
