"""What analysts make of answers: the rubric, the evidence, the scores and how they agree."""
