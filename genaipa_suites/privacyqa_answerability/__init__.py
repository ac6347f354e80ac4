"""PrivacyQA's answerability: whether a policy can be expected to answer a question, told by the question alone."""
