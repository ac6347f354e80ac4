"""PolicyQA: a question about a segment of a privacy policy, and the span of the segment that answers it."""
