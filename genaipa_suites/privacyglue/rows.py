"""The seven tasks of PrivacyGLUE and their fourteen rows: two metrics of each (paper, Table A3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Row(NamedTuple):
    """A row of Table A3: a task by its name in the official repository, and one of its two metrics."""

    task: str
    metric: str

    @property
    def name(self) -> str:
        """`task/metric`, as data files have it."""
        return f"{self.task}/{self.metric}"

    @property
    def heading(self) -> str:
        """The row's words in a table."""
        return f"{BY_NAME[self.task].title} {METRICS[self.metric]}"


@dataclass(frozen=True)
class GlueTask:
    """A task: the suite that it is of, and the two measures of that suite which are its metrics, in their order.

    `scale` is what the official files multiply its figures by: 100 for the task on questions, 1 for all others.
    `layers` are the sub-tasks of a tagger, whose figures are averaged with equal weights.
    """

    name: str
    title: str
    suite: str
    metrics: tuple[str, str]
    measures: tuple[str, str]
    scale: int = 1
    layers: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[Row, Row]:
        """Its rows."""
        return Row(self.name, self.metrics[0]), Row(self.name, self.metrics[1])


_F1S = ("macro_f1", "micro_f1")
METRICS = {"macro_f1": "macro F1", "micro_f1": "micro F1", "sample_f1": "F1", "exact_match": "EM"}
TASKS = (
    GlueTask("opp_115", "OPP-115", "opp115", _F1S, _F1S),
    # One class in each layer: macro and micro are the same figure.
    GlueTask(
        *("piextract", "PI-Extract", "piextract", _F1S, ("f1_layers", "f1_layers")),
        layers=("COLLECT", "NOT_COLLECT", "NOT_SHARE", "SHARE"),
    ),
    GlueTask("policy_detection", "Policy-Detection", "policy-detection", _F1S, _F1S),
    GlueTask("policy_ie_a", "PolicyIE-A", "policyie", _F1S, ("intent_f1_macro", "intent_accuracy")),
    GlueTask(
        "policy_ie_b",
        "PolicyIE-B",
        "policyie",
        _F1S,
        ("slot_f1_macro_privacyglue", "slot_f1_micro_privacyglue"),
        layers=("type-I", "type-II"),
    ),
    GlueTask("policy_qa", "PolicyQA", "policyqa", ("sample_f1", "exact_match"), ("f1_squad", "em"), scale=100),
    GlueTask("privacy_qa", "PrivacyQA", "privacyqa", _F1S, ("any_relevant_macro_f1", "any_relevant_micro_f1")),
)
"""In the order of Table A3."""
BY_NAME = {task.name: task for task in TASKS}
ROWS: tuple[Row, ...] = tuple(row for task in TASKS for row in task.rows)
