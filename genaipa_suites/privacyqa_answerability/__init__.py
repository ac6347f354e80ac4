"""PrivacyQA's answerability: whether a policy can be expected to answer a question, judged by the question alone."""
