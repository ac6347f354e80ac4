"""PrivacyGLUE: seven tasks on privacy policies, as one view over the suites that they are made of."""
