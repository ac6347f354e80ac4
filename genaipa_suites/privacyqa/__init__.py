"""PrivacyQA: which sentences of a policy are evidence for a user's question, or that none is."""
