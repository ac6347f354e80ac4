"""PolicyIE: a sentence's intent, and the spans of both layers of its slots."""
