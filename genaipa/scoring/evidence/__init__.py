"""Evidence about an answer, without a model: citations, quotations, and whether it claims silence."""
