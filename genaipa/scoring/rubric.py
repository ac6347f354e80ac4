"""The five metrics and what each of their values means (paper, section 5): the one place that defines them."""

from __future__ import annotations

import hashlib
from typing import Literal, get_args

import msgspec

Metric = Literal["relevance", "accuracy", "clarity", "completeness", "reference"]
METRICS: tuple[Metric, ...] = get_args(Metric)

VALUES = (1.0, 0.5, -1.0)
"""What a metric can be given, from best to worst."""
KEYS = dict(zip("123", VALUES, strict=True))
"""The key that gives each value at the desk."""
_ALLOWED = frozenset(VALUES)

RUBRIC: dict[Metric, dict[float, str]] = {
    "relevance": {1.0: "relevant", 0.5: "partially relevant", -1.0: "not relevant"},
    "accuracy": {1.0: "entirely correct", 0.5: "partially correct", -1.0: "incorrect"},
    "clarity": {
        1.0: "clear and easy to understand",
        0.5: "somewhat clear, could be improved",
        -1.0: "confusing or hard to comprehend",
    },
    "completeness": {
        1.0: "comprehensive",
        0.5: "lacking some minor information",
        -1.0: "incomplete, or missing important details",
    },
    "reference": {
        1.0: "a correctly cited relevant section",
        0.5: "a section mentioned without citing it explicitly",
        -1.0: "an incorrect reference",
    },
}
RUBRIC_DIGEST = hashlib.sha256(repr(RUBRIC).encode()).hexdigest()[:12]
"""Names these metrics, values and meanings. It is kept with every score: scores by two rubrics are not compared."""
SILENT_RULE = (
    "The document does not answer this question: the right answer is to say so, "
    "and any mention of a section scores -1 on reference."
)


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One analyst's five values for one answer, each of `VALUES`; a ValueError for any other."""

    relevance: float
    accuracy: float
    clarity: float
    completeness: float
    reference: float

    def __post_init__(self) -> None:
        # All five at once first: hundreds of thousands of scores are read when a desk opens.
        if {self.relevance, self.accuracy, self.clarity, self.completeness, self.reference} <= _ALLOWED:
            return
        for metric in METRICS:
            if self[metric] not in VALUES:
                raise ValueError(f"{metric} is {self[metric]:g}, and can be {', '.join(map(shown, VALUES))} only")

    def __getitem__(self, metric: Metric) -> float:
        value: float = getattr(self, metric)
        return value

    @classmethod
    def typed(cls, keys: str) -> Values:
        """The values behind five digits in the order of the metrics: "11213"; a ValueError for anything else."""
        if len(keys) != len(METRICS) or not set(keys) <= set(KEYS):
            raise ValueError(f"'{keys}' is not five digits from 1 to 3")
        return cls(*(KEYS[key] for key in keys))

    @property
    def keys(self) -> str:
        """The five digits that give these values at the desk."""
        digits = {value: key for key, value in KEYS.items()}
        return "".join(digits[self[metric]] for metric in METRICS)


def shown(value: float) -> str:
    """A value as people write it: "+1", "+0.5", "-1"."""
    return f"{value:+g}"
