"""The columns of answers, of scores and of the narrow table that joins them, beside those of facts.

The narrow table has a row for each answer and score: what every average needs, whatever else is known. Its `unit` says
what a row is:

- `answer`: an answer as one analyst scored it, so that an answer that three analysts scored has three rows. One that
  nobody scored, a failure, and a question that was planned and never asked have one row without values.
- `table`: a score that a published study gives without saying which answer it belongs to: one for a question about a
  document, or (`document` empty) the mean over all documents of the study.

Averages take the rows that are `counted`: scores of people, of answers that are not excluded; where an answer was
adjudicated, its adjudication alone.
"""

from __future__ import annotations

from typing import Literal

ColumnKind = Literal["category", "str", "int16", "int32", "float64", "bool"]
Meanings = dict[str, tuple[ColumnKind, str]]
"""Column → (type, meaning)."""

ANSWER: Meanings = {
    "unit": ("category", "what the row is: `answer` or `table`"),
    "run": ("category", "the run folder's name"),
    "key": ("str", "the answer's key in its run; empty for `table` rows"),
    "system": ("category", "the system, as the run names it"),
    "model": ("category", "the model that the provider says it served; empty if it does not say"),
    "experiment": ("category", "the paper's experiment: quality, robustness, recall, summary, regulation, or another"),
    "document": ("category", "the document's name; empty for a mean over documents"),
    "kind": ("category", "policy or regulation"),
    "initialization": ("category", "how the system was introduced to the document (paper, Appendix A)"),
    "wording": ("category", "original, or paraphrase-1 to paraphrase-3; empty for a mean over wordings"),
    "prompts": (
        "category",
        "the set of prompts, with a digest if it differs from the shipped set; `published` or `unknown` if not known",
    ),
    "repetition": ("int16", "the repetition, from 1; 0 in `table` rows"),
    "conversation": (
        "category",
        "shared (one growing history) or independent (each question on its own); empty if unknown",
    ),
    "position": ("int16", "the question's place in the shuffled order of its conversation, from 1; 0 if unknown"),
    "question": ("category", "the question's id"),
    "category": ("category", "the question's category (paper, section 4.1)"),
    "source": ("category", "where the question comes from: faq or user"),
    "status": ("category", "answered, truncated, refused, failed, or missing (planned but not asked yet)"),
    "answer": ("category", "digest of the answer's document, question and reply; empty if there is no answer"),
}
"""The columns of what was asked, and of its answer."""
IN_TABLE = ("silent", "corrected", "excluded", "in_wave", "pi", "planned")
"""The columns of facts that the narrow table has."""
SCORER: Meanings = {
    "analyst": ("category", "who scored the answer; empty if nobody did"),
    "role": ("category", "score or adjudication; `published` in `table` rows; empty if nobody scored"),
    "scorer": ("category", "human or machine"),
    "independent": ("category", "yes or no: whether the analyst had not seen how others scored the answer"),
    "desk_order": (
        "category",
        "the order in which the desk showed answers: question, document or random; empty for scores from elsewhere",
    ),
}
"""The columns of a score that come before the metrics'."""
OVERALL: Meanings = {
    "m_all": ("float64", "M_all, the overall quality, from 10 to 100"),
    "m_all_positive": ("float64", "M_all+, the sum of the positive values, from 0 to 5"),
    "m_all_negative": ("float64", "M_all-, the sum of the negative values, from -5 to 0"),
    "averaged": (
        "int32",
        "the number of scores that the row averages: 1 for a single score, 0 for none or an unknown number",
    ),
    "rubric": ("category", "digest of the rubric (its metrics and values) by which the answer was scored"),
    "counted": ("bool", "whether averages include the row"),
    "row": ("int32", "the index of the answer's row in `answers`, from 0; -1 for `table` rows"),
}
"""The columns of a score that come after the metrics'."""
CORE = frozenset((*ANSWER, *SCORER, *OVERALL))
"""The columns that no fact may have."""
