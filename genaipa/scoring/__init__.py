"""Scoring: the rubric, the evidence, the store of scores, M_all and the analysts' agreement."""
