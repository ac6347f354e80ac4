"""The experiments: how a run tries them, and what reports call them. This is the one list of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from genaipa.questions.sets import FOLLOW_UP, WORDINGS, Wording
from genaipa.runs.procedure import GUIDED, INITIALIZATIONS, NEUTRAL, Initialization

if TYPE_CHECKING:
    from genaipa.policies.document import DocumentKind

StudyExperiment = Literal["quality", "robustness", "recall", "summary", "regulation"]
"""The experiments of the paper."""


@dataclass(frozen=True)
class Experiment:
    """One experiment: a preset of `genaipa run --experiment`, and a value of the tidy table's column.

    `label` heads its figures, `short` does where there is little room. `prompts` are the sets of prompts that it asks
    with, where that is what it is about.
    """

    initializations: tuple[Initialization, ...]
    wordings: tuple[Wording, ...] = ("original",)
    kind: DocumentKind | None = None
    label: str = ""
    short: str = ""
    prompts: tuple[str, ...] = ()


EXPERIMENTS: dict[str, Experiment] = {
    "quality": Experiment(
        ("document",), label="Quality: with the document", short="Quality: with the document"
    ),  # paper, 6.1
    "robustness": Experiment(
        ("document",),
        WORDINGS[1:],
        label="Robustness: paraphrased questions, with the document",
        short="Robustness: paraphrases, with the document",
    ),  # 6.2
    "recall": Experiment(
        ("company-name",), label="Recall: with the company's name only", short="Recall: company name only"
    ),  # 6.3
    "summary": Experiment(
        ("summary-of-document",),
        label="Summary: with the system's own summary of the document",
        short="Summary: with its own summary",
    ),  # B.1
    "summary-by-name": Experiment(
        ("summary-by-name",),
        label="Summary by name: with the summary that the system wrote from the company's name",
        short="Summary by name: with its own summary",
    ),
    "regulation": Experiment(("company-name",), kind="regulation", label="Regulations"),  # 6.4
    "prompting": Experiment(("document",), prompts=(NEUTRAL, GUIDED)),  # quality, with two sets of prompts
    "procedure": Experiment(INITIALIZATIONS),  # Algorithm 1: four experiments at once
}
"""Name → experiment, in the order of reports."""
DEFAULT_EXPERIMENT = "procedure"


def classify_experiment(document_kind: str | None, initialization: str, wording: str) -> str:
    """Return the experiment that an answer belongs to; for a combination without a preset, a name of the same form.

    Answers to follow-ups are an experiment apart, whatever the first question's wording.
    """
    if wording == FOLLOW_UP:
        return f"{classify_experiment(document_kind, initialization, 'original')}-{FOLLOW_UP}"
    if document_kind == "regulation":
        return "regulation"
    if wording != "original" and initialization == "document":
        return "robustness"
    names = (name for name, experiment in EXPERIMENTS.items() if experiment.initializations == (initialization,))
    name = next(names, initialization)
    return name if wording == "original" else f"{name}-paraphrased"


def find_experiment(name: str) -> Experiment | None:
    """Return an experiment with its labels, that of an experiment's follow-ups too; None for a name without a preset.

    >>> find_experiment("quality-follow-up").label
    'Quality, follow-ups: with the document'
    """
    experiment = EXPERIMENTS.get(name.removesuffix(f"-{FOLLOW_UP}"))
    if experiment is None or name in EXPERIMENTS:
        return experiment
    label, short = (_mark_label_as_follow_ups(label) for label in (experiment.label, experiment.short))
    return replace(experiment, label=label, short=short)


def _mark_label_as_follow_ups(label: str) -> str:
    heading, colon, about = label.partition(":")
    return f"{heading}, follow-ups{colon}{about}" if label else ""
