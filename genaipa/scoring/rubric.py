"""A rubric: the metrics that answers are scored on, the meaning of their values, M_all and bands (paper, section 5).

It is a data file, `rubrics/NAME.yaml`: `genaipabench` ships, and a workspace that names another one in its
genaipa.toml (`rubric = "NAME"`) is scored by that. Guidelines for analysts, with borderline examples for each metric,
are in the workspace's `guidelines.md`: a heading of the second level (`## accuracy`) is a metric's id; the pad shows
its section at that metric, and the whole file on demand. Text before the first of them is for all metrics.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import msgspec

from genaipa.errors import DataError, clip, name_suggestion
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import read_text, sha256_of
from genaipa.scoring.columns import CORE, IN_TABLE
from genaipa.workspace import MARKER, shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from genaipa.questions.points import Point, Ticks
    from genaipa.workspace import Workspace


Band = Literal["Green", "Yellow", "Red"]
M_ALL_RANGE = (10.0, 100.0)
"""The least M_all and the greatest, as in the paper's figures 2 to 6; its formula gives a tenth of it."""
M_ALL_WIDTH = M_ALL_RANGE[1] - M_ALL_RANGE[0]


class BandBounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of the bands: Green from `green` up, Red below `red`, Yellow between; a ValueError if they cross.

    The bounds are on the scale of a metric, from -1 to 1. Figures and tables with bands have their `description`.
    """

    green: float = 0.5
    red: float = 0.0

    def __post_init__(self) -> None:
        if not self.red <= self.green:
            raise ValueError(f"red ({self.red:g}) must not be above green ({self.green:g})")

    @property
    def m_all_bounds(self) -> BandBounds:
        """The same bounds on the scale of M_all: its value where every metric is at the bound."""
        return BandBounds(scale_to_m_all_from_10_to_100(self.green, 1.0), scale_to_m_all_from_10_to_100(self.red, 1.0))

    @property
    def description(self) -> str:
        """The bands, as readers see them."""
        overall = self.m_all_bounds
        return (
            f"Green from {self.green:g} (M_all {overall.green:g}) up, Red below {self.red:g} (M_all {overall.red:g}), "
            "Yellow between"
        )


def scale_to_m_all_from_10_to_100(weighted_sum: Any, maximum: float) -> Any:
    """Return M_all, from 10 to 100, of points from -`maximum` to `maximum`: a number, or a column of them."""
    return M_ALL_WIDTH * (weighted_sum + maximum) / (2 * maximum) + M_ALL_RANGE[0]


def classify_band(value: float, bounds: BandBounds) -> Band:
    """Return the band of a metric's average by `bounds`, and that of M_all by `bounds.m_all_bounds`."""
    # The mean of means may miss a bound by its last binary digit.
    value = round(value, 9)
    if value >= bounds.green:
        return "Green"
    return "Red" if value < bounds.red else "Yellow"


SHIPPED = "genaipabench"
"""The name of the rubric that ships, which a workspace has that names none."""
EvidenceKind = Literal["citations", "quotations", "length", "question"]
"""A kind of evidence that the desk shows beside a metric."""
_MOST_VALUES = 9
"""Each value has a digit as its key."""
_RESERVED = CORE.union(
    IN_TABLE,
    ("digest", "time", "note", "seconds", "blind", "independent", "calibration", "suggested", "preselected", "pinned"),
    ("shown", "order", "id", "ticks", "asked", "annotated answer"),
    ("documents", "m_all_documents", "metric_documents", "questions", "m_all_questions", "answers", "scores", "n"),
    ("low", "high", "policies_low", "policies_high"),
)
"""Columns of the narrow table, of sheets of scores, and of averages, where metrics have columns of their own."""


class PointShares(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The least share of the vital points, and of the others, that an answer must say for a value; each 0 to 1."""

    vital: float = 0.0
    okay: float = 0.0


class Metric(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One metric: `words` are the meanings of the rubric's values, from best to worst.

    `name` is shown in place of its id, `question` is the one the analyst answers. `weight` is how often the
    metric counts in M_all. `evidence` are the kinds that the desk shows beside it. `points` is the rule by which its
    value follows from ticked points: what each value but the worst needs. At most one metric has a rule.
    """

    words: tuple[str, ...]
    name: str = ""
    question: str = ""
    weight: float = 1.0
    evidence: tuple[EvidenceKind, ...] = ()
    points: tuple[PointShares, ...] = ()


class Values(dict[str, float]):
    """One analyst's values for one answer, by metric: hashable, shared between equal scores, and never changed."""

    def __hash__(self) -> int:  # type: ignore[override]  # a dict has none
        return hash(frozenset(self.items()))

    def __setitem__(self, metric: str, value: float) -> NoReturn:
        raise TypeError("the values of a score don't change: a correction is a new score")

    def __reduce__(self) -> tuple[type[Values], tuple[dict[str, float]]]:
        # Unpickling a dict would set its items one by one.
        return Values, (dict(self),)


class Rubric(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """A rubric as its file has it: `metrics` by id, and `values`, which each of them can be given, from best to worst.

    `bands` are the bounds of the bands of an average. `silent_rule` is shown where a document does not answer.
    """

    title: str
    values: tuple[float, ...]
    metrics: dict[str, Metric]
    bands: BandBounds = BandBounds()
    silent_rule: str = ""

    @cached_property
    def digest(self) -> str:
        """Names the metrics, values, meanings and weights. Every score has it; scores by two rubrics don't compare."""
        words = {name: dict(zip(self.values, metric.words, strict=True)) for name, metric in self.metrics.items()}
        weights = self.weights if set(self.weights.values()) != {1.0} else ""
        return hashlib.sha256(f"{words!r}{weights or ''}".encode()).hexdigest()[:12]

    @cached_property
    def weights(self) -> dict[str, float]:
        """Metric → how often it counts in M_all."""
        return {name: metric.weight for name, metric in self.metrics.items()}

    @cached_property
    def display_names(self) -> dict[str, str]:
        """Metric → how people call it."""
        return {name: metric.name or name for name, metric in self.metrics.items()}

    @cached_property
    def value_by_digit(self) -> dict[str, float]:
        """The key that gives each value at the desk → the value."""
        return {str(digit): value for digit, value in enumerate(self.values, start=1)}

    def digit_for_value(self, value: float) -> str:
        """Return the key that gives a value at the desk."""
        return str(self.values.index(value) + 1)

    def meaning(self, metric: str, value: float) -> str:
        """Return the meaning of a value of a metric."""
        return self.metrics[metric].words[self.values.index(value)]

    def metrics_with_evidence(self, kind: EvidenceKind) -> list[str]:
        """Return the metrics beside which the desk shows this kind of evidence."""
        return [name for name, metric in self.metrics.items() if kind in metric.evidence]

    @property
    def m_all_formula(self) -> str:
        """The formula of M_all, a score's sum over all metrics on a scale from 10 to 100."""
        maximum = sum(self.weights.values())
        return f"M_all = (sum + {maximum:g}) / {2 * maximum:g} x {M_ALL_WIDTH:g} + {M_ALL_RANGE[0]:g}"

    @property
    def scale_and_m_all_explanation(self) -> str:
        """The scale and the formula of M_all, in sentences."""
        weighted = set(self.weights.values()) != {1.0}
        metrics = (
            f"{name} (x {self.weights[metric]:g})" if weighted else name for metric, name in self.display_names.items()
        )
        values = [*map(format_signed_value, self.values)]
        return (
            f"Analysts gave each answer {', '.join(values[:-1])} or {values[-1]} on each "
            f"metric: {', '.join(metrics)}. M_all puts their {'weighted ' if weighted else ''}sum on a scale from 10 "
            f"to 100: {self.m_all_formula}."
        )

    # -- the values of an answer --

    @cached_property
    def _values_cache(self) -> dict[tuple[tuple[str, float], ...], Values]:
        return {}

    def make_values(self, value_by_metric: Mapping[str, float]) -> Values:
        """Return these values, in the order of the metrics; a ValueError if they are none of this rubric's.

        The same values are the same object: hundreds of thousands of scores are read when a desk opens.
        """
        key = tuple(value_by_metric.items())
        values = self._values_cache.get(key)
        if values is None:
            self._check_values(value_by_metric)
            ordered = Values({metric: float(value_by_metric[metric]) for metric in self.metrics})
            values = self._values_cache.setdefault(tuple(ordered.items()), ordered)
            self._values_cache[key] = values
        return values

    def _check_values(self, value_by_metric: Mapping[str, float]) -> None:
        if value_by_metric.keys() != self.metrics.keys():
            received, wanted = (", ".join(names) or "none" for names in (value_by_metric, self.metrics))
            raise ValueError(f"the metrics are {received}, but the rubric '{self.title}' has {wanted}")
        for metric, value in value_by_metric.items():
            if value not in self.values:
                raise ValueError(
                    f"{metric} is {value:g}, but can only be {', '.join(map(format_signed_value, self.values))}"
                )

    def parse_digits(self, digits: str) -> Values:
        """Return the values behind digits in the order of the metrics: "11213"; a ValueError for anything else."""
        if len(digits) != len(self.metrics) or not set(digits) <= self.value_by_digit.keys():
            raise ValueError(f"'{digits}' is not {len(self.metrics)} digits from 1 to {len(self.values)}")
        return self.make_values(
            {metric: self.value_by_digit[key] for metric, key in zip(self.metrics, digits, strict=True)}
        )

    def format_as_digits(self, values: Mapping[str, float]) -> str:
        """Return the digits that give these values at the desk, and a dot for each metric without one."""
        return "".join(self.digit_for_value(values[metric]) if metric in values else "." for metric in self.metrics)

    @property
    def blank_digits(self) -> str:
        """The keys of a draft before the first digit: a dot for each metric."""
        return "." * len(self.metrics)

    def are_draft_digits(self, digits: str) -> bool:
        """Whether a draft can hold this: a digit or a dot for each metric."""
        return len(digits) == len(self.metrics) and set(digits) <= {*self.value_by_digit, "."}

    # -- points --

    @cached_property
    def points_metric(self) -> str:
        """The metric whose value follows from ticked points; empty if none does."""
        return next((name for name, metric in self.metrics.items() if metric.points), "")

    def value_from_points(self, points: Sequence[Point], ticks: Ticks) -> float:
        """Return the value of `points_metric` that follows from ticks of these points.

        The first value whose needs are met, else the worst. A point that is contradicted is not said.
        """
        shares = {}
        for weight in ("vital", "okay"):
            ids = {point.id for point in points if point.weight == weight}
            shares[weight] = len(ids.intersection(ticks.said)) / len(ids) if ids else 1.0
        for value, needed in zip(self.values, self.metrics[self.points_metric].points, strict=False):
            if shares["vital"] >= needed.vital and shares["okay"] >= needed.okay:
                return value
        return self.values[-1]

    # -- M_all --

    def weighted_sum(self, values: Any) -> Any:
        """Return the weighted sum of the values: of one score, or of columns of them."""
        return sum(weight * values[metric] for metric, weight in self.weights.items())

    def m_all(self, values: Any) -> Any:
        """Return M_all, from 10 to 100: of one score, or of columns of them. It is linear in the values."""
        return scale_to_m_all_from_10_to_100(self.weighted_sum(values), sum(self.weights.values()))


def format_signed_value(value: float) -> str:
    """Return a value as people write it: "+1", "+0.5", "-1"."""
    return f"{value:+g}"


def load_rubric(workspace: Workspace) -> Rubric:
    """Return the rubric that a workspace scores by; a DataError if it can't be used."""
    path = find_rubric_path(workspace)
    rubric = read_yaml(path, Rubric)
    for problem in find_rubric_problems(path, rubric):
        raise problem
    return rubric


@cache
def shipped_rubric() -> Rubric:
    """Return the paper's rubric, which ships."""
    return read_yaml(shipped_folder("rubrics") / f"{SHIPPED}.yaml", Rubric)


def find_rubric_path(workspace: Workspace) -> Path:
    """Return the file of the rubric that a workspace scores by; a DataError if there is none."""
    name, files = _read_rubric_name(workspace), workspace.nearest_files("rubrics")
    if name not in files:
        raise DataError(workspace.home / MARKER, f"there is no rubric '{name}'{name_suggestion(name, files)}", "rubric")
    return files[name][1]


def _read_rubric_name(workspace: Workspace) -> str:
    path = workspace.home / MARKER
    if not path.is_file():
        return SHIPPED
    try:
        name = tomllib.loads(read_text(path)).get("rubric", SHIPPED)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(path, f"is not TOML: {error}.") from None
    if not isinstance(name, str):
        raise DataError(path, "must be the name of a rubric.", "rubric")
    return name


def find_rubric_problems(path: Path, rubric: Rubric) -> Iterable[DataError]:
    """Check a rubric: its problems, entry by entry."""
    values = rubric.values
    if not 1 < len(values) <= _MOST_VALUES or list(values) != sorted(set(values), reverse=True):
        yield DataError(path, f"must be two to {_MOST_VALUES} different numbers, from best to worst.", "values")
    elif (values[0], values[-1]) != (1.0, -1.0):
        yield DataError(path, "the best value must be 1 and the worst -1, as M_all and its bands assume.", "values")
    if not rubric.metrics:
        yield DataError(path, "needs at least one metric.", "metrics")
    for name, metric in rubric.metrics.items():
        entry = f"metrics.{name}"
        if not name.isidentifier() or not name.islower():
            yield DataError(
                path, "a key may have only lower-case letters, digits and _; put other characters in its `name`.", entry
            )
        elif name in _RESERVED:
            yield DataError(
                path, "is already the name of a column; choose another key, and give the metric this `name`.", entry
            )
        if len(metric.words) != len(values) or not all(metric.words):
            yield DataError(path, f"needs words for each of the {len(values)} values.", f"{entry}.words")
        if not 0 < metric.weight < float("inf"):
            yield DataError(path, "must be above 0.", f"{entry}.weight")
        yield from _find_point_rule_problems(path, metric.points, len(values), f"{entry}.points")
    if len(ruled := [name for name, metric in rubric.metrics.items() if metric.points]) > 1:
        yield DataError(path, f"only one metric can follow from points, but {' and '.join(ruled)} do.", "metrics")


def _find_point_rule_problems(
    path: Path, rule: tuple[PointShares, ...], value_count: int, entry: str
) -> Iterator[DataError]:
    if rule and len(rule) != value_count - 1:
        yield DataError(path, f"needs one entry for each value except the worst, {value_count - 1} in total.", entry)
    if not all(0 <= share <= 1 for needed in rule for share in (needed.vital, needed.okay)):
        yield DataError(path, "shares must be from 0 to 1.", entry)
    if any(worse.vital > better.vital or worse.okay > better.okay for better, worse in pairwise(rule)):
        yield DataError(path, "a worse value can't need more than a better one.", entry)


GUIDELINES = "guidelines.md"
_HEADING = re.compile(r"^## +(.*?)[ #]*$", re.MULTILINE)


@dataclass(frozen=True)
class Guidelines:
    """The file's `text`, and metric → its section, without the heading."""

    text: str
    sections: dict[str, str]


def load_guidelines(workspace: Workspace, rubric: Rubric) -> Guidelines | None:
    """Return the workspace's guidelines, None without a file; a DataError if it can't be used with this rubric."""
    path = workspace.home / GUIDELINES
    if not path.is_file():
        return None
    text = read_text(path)
    headings = [*_HEADING.finditer(text)]
    sections: dict[str, str] = {}
    for index, match in enumerate(headings, 1):
        end = headings[index].start() if index < len(headings) else len(text)
        metric = match[1]
        if metric not in rubric.metrics:
            hint = name_suggestion(metric, rubric.metrics)
            raise DataError(path, f"'{clip(metric)}' is not a metric of the rubric{hint}", f"## {clip(metric)}")
        if metric in sections:
            raise DataError(path, "two sections have this heading; merge them.", f"## {metric}")
        sections[metric] = text[match.end() : end].strip()
    return Guidelines(text.strip(), sections)


def guidelines_digest(workspace: Workspace) -> str:
    """Return the SHA-256 of the workspace's guidelines, empty where there are none."""
    path = workspace.home / GUIDELINES
    return sha256_of(read_text(path).strip()) if path.is_file() else ""


def find_guideline_problems(workspace: Workspace, rubric: Rubric) -> Iterator[DataError]:
    """Yield the first error in the workspace's guidelines, if there is one."""
    try:
        load_guidelines(workspace, rubric)
    except DataError as error:
        yield error


STARTER = """\
# Guidelines for scoring

At the desk, the key g shows the section on the current metric; press it again for the whole file. Write down what you
agree on, ideally with a borderline answer and the reason for its value. Each heading with ## is the id of a metric.

Score what the answer says, judged by the document. What you know from elsewhere counts neither for nor against it.

## relevance

Is the answer about what was asked, whether right or wrong?

- +0.5: asked how long data are kept, it says what is collected, and mentions in passing that some data are deleted.
- -1: asked how long data are kept, it explains how to write to the company.

## accuracy

Every statement counts, even one that the question did not ask for.

- +0.5: "Data are deleted after 30 days", although the document says so of backups only.
- -1: it says that data are never sold, although the document names a case in which they are.
- An answer that leaves something out is not inaccurate: see completeness.

## clarity

Would a reader without legal training understand the answer after reading it once?

- +0.5: it is right, but repeats the policy's long sentences.
- -1: the reader can't tell whether the answer is yes or no.

## completeness

Compare the answer with the annotated answer: what would a reader of the answer alone miss?

- +0.5: it names the two main purposes of three.
- -1: it says that users can object, but not that they can do so in some countries only.

## reference

Do the cited sections support the answer?

- +0.5: "as the section on cookies says", although that section has a number or a title.
- -1: it cites section 4, but the answer is in section 7.
"""
