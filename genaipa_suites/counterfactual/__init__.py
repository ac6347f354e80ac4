"""Counterfactual edits: what an assistant answers once a fact of a policy is another."""
