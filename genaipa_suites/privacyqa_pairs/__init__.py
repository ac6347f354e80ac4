"""PrivacyQA's pairs as LegalBench asks them: whether one sentence of a policy is relevant to a question."""
