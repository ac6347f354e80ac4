"""How often the intervals hold the truth, and how often two systems that are alike seem to differ.

    python -m benchmarks.coverage [--quick] [--figure FILE]

Studies are drawn from a known truth and go through the functions of the reports (`reports.crossed`,
`stats.agreement`). A thousand for each cell, a quarter of that for other analysts and three times as many for several
systems and looks, take about four minutes of one core (--quick: a hundred, half a minute). docs/method/coverage.md is
what it prints, and after that what `benchmarks.coverage_shares --studies 600` does; the figure there is what it draws.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import stats

from benchmarks import coverage_levels as levels
from benchmarks.__main__ import print_table
from benchmarks.coverage_others import other_analysts, suites_policies, uneven_documents
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.scoring.rubric import M_ALL_RANGE, shipped_rubric
from genaipa.stats.agreement import ScaleAgreement, measure_agreement
from genaipa.stats.intervals import LEAST_DOCUMENTS

Floats = NDArray[np.float64]

DOCUMENTS = (1, 3, 5, 10, 30)
QUESTIONS = (4, 8, 32)
PUBLISHED = (82.0, 46.0, 508.0)
"""Variances of M_all between questions, between documents, and of the rest: the published study's tables have
82 to 107, 46 to 72 and 508 to 518."""
APART = 162.0
"""Variance between documents of the difference of two systems (the published study's `recall`)."""
_STEP = 22.5
"""M_all from one of five values to the next."""


def _exponential(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    return 1 - random.exponential(size=size)


def _normal(random: np.random.Generator, size: tuple[int, ...]) -> Floats:
    return random.normal(size=size)


@dataclass(frozen=True)
class Shape:
    """How values are spread: the noise around `mean`, what is scored of it, and the mean of that for a given spread.

    `expected(mean, deviation)` is the mean of what is scored where values lie normally around `mean`; `limits` are the
    ends of the scale.
    """

    mean: float
    noise: Callable[[np.random.Generator, tuple[int, ...]], Floats]
    scored: Callable[[Floats], Floats]
    expected: Callable[[Floats, float], Floats]
    limits: tuple[float, float] | None = None


def _below(values: Floats) -> Floats:
    return np.minimum(values, 100.0)


def _expected_below(mean: Floats, deviation: float) -> Floats:
    apart = (mean - 100) / deviation
    found: Floats = 100 - deviation * (stats.norm.pdf(apart) - apart * stats.norm.sf(apart))
    return found


def _stepped(values: Floats) -> Floats:
    return np.round((np.clip(values, *M_ALL_RANGE) - M_ALL_RANGE[0]) / _STEP) * _STEP + M_ALL_RANGE[0]


def _expected_stepped(mean: Floats, deviation: float) -> Floats:
    found = np.full(np.shape(mean), M_ALL_RANGE[0])
    for step in range(4):
        found = found + _STEP * stats.norm.sf((M_ALL_RANGE[0] + _STEP * (step + 0.5) - mean) / deviation)
    return found


SHAPES = {
    "normal": Shape(70, _normal, lambda values: values, lambda mean, _: mean),
    "skewed": Shape(70, _exponential, lambda values: values, lambda mean, _: mean),
    "ties": Shape(62, _normal, _stepped, _expected_stepped, M_ALL_RANGE),
    "ceiling": Shape(120, _normal, _below, _expected_below, M_ALL_RANGE),
}
"""Normal; skewed (exponential, towards low values); five values only; and cut off at 100, with a mean of 97."""
RATES = {
    f"{rate:.0%}": Shape(
        float(np.sqrt(sum(PUBLISHED)) * stats.norm.ppf(rate)),
        _normal,
        lambda values: (values > 0).astype(np.float64),
        lambda mean, deviation: stats.norm.cdf(mean / deviation),
        (0.0, 1.0),
    )
    for rate in (0.01, 0.05, 0.2)
}
"""Shares of answers: each is one or not, the likelier the higher its value."""


@dataclass
class Held:
    """How many of the studies had an interval, and of those, in how many it held the truth; and its mean width."""

    studies: int = 0
    given: int = 0
    held: int = 0
    width: float = 0.0
    off: float = 0.0
    """By how much the middle of the intervals is off, added up."""

    def add(self, low: float, high: float, truth: float) -> None:
        """One study."""
        self.studies += 1
        if not np.isnan(low):
            self.given += 1
            self.held += low <= truth <= high
            self.width += high - low
            self.off += (low + high) / 2 - truth

    def __str__(self) -> str:
        """Return the share that held, with the share that was refused, if any."""
        if not self.given:
            return "refused" if self.studies else ""
        refused = 1 - self.given / self.studies
        return f"{self.held / self.given:.1%}" + (f" ({refused:.0%} refused)" if refused >= 0.005 else "")

    @property
    def share(self) -> float:
        """The share that held, NaN where all were refused."""
        return self.held / self.given if self.given else np.nan


@dataclass(frozen=True)
class Cell:
    """A size and shape of study, and how the two intervals did."""

    shape: str
    questions: int
    documents: int
    these: Held
    policies: Held


def drawn(
    random: np.random.Generator, shape: Shape, size: tuple[int, int], variances: tuple[float, float, float] = PUBLISHED
) -> tuple[Floats, float, float]:
    """Return a study (questions down, documents across), and the truth for its documents and for policies like them."""
    (questions, documents), (of_questions, of_documents, rest) = size, variances
    about = np.sqrt(of_documents) * shape.noise(random, (1, documents))
    values = shape.mean + about + np.sqrt(of_questions) * shape.noise(random, (questions, 1))
    values = shape.scored(values + np.sqrt(rest) * shape.noise(random, size))
    here = float(shape.expected(shape.mean + about, float(np.sqrt(of_questions + rest))).mean())
    return values, here, float(shape.expected(np.array(shape.mean), float(np.sqrt(sum(variances)))))


def columns(values: Floats) -> tuple[Floats, list[str], list[str]]:
    """Return a study's values, questions and documents, as the reports have them."""
    questions, documents = (
        [f"{letter}{n:02}" for n in range(size)] for letter, size in zip("qd", values.shape, strict=True)
    )
    return values.ravel(), [name for name in questions for _ in documents], documents * len(questions)


def coverage(studies: int, shapes: dict[str, Shape]) -> Iterator[Cell]:
    """How often both intervals hold the truth, for each shape and size."""
    for shape, questions, documents in itertools.product(shapes, QUESTIONS, DOCUMENTS):
        random = np.random.default_rng([questions, documents, list(shapes).index(shape)])
        these, policies = Held(), Held()
        for _ in range(studies):
            values, here, everywhere = drawn(random, shapes[shape], (questions, documents))
            found = estimate_crossed_mean(*columns(values), limits=shapes[shape].limits)
            these.add(found.low, found.high, here)
            policies.add(found.policies_low, found.policies_high, everywhere)
        yield Cell(shape, questions, documents, these, policies)


def false_differences(studies: int) -> Iterator[tuple[int, int, float, float, float]]:
    """Two systems that are alike in general: questions, documents, and the share that each target's p calls different.

    They differ by document (`APART`, and twice that) and by chance, but not on average over policies. Between questions
    and for the rest, a difference has twice the variance of one system. What `for these documents` calls different is
    so for the documents drawn, and for these alone: it must not be said of policies.
    """

    def different(size: tuple[int, int], apart: float, *, policies: bool) -> float:
        random = np.random.default_rng([*size, int(apart)])
        variances = (2 * PUBLISHED[0], apart, 2 * PUBLISHED[2])
        found = (
            estimate_crossed_mean(*columns(drawn(random, SHAPES["normal"], size, variances)[0] - 70))
            for _ in range(studies)
        )
        return float(np.mean([(one.policies_p if policies else one.p) < 0.05 for one in found]))

    for size in itertools.product(QUESTIONS, DOCUMENTS):
        known = size[1] >= LEAST_DOCUMENTS
        also = [different(size, apart, policies=True) if known else np.nan for apart in (APART, 2 * APART)]
        yield *size, different(size, APART, policies=False), *also


# -- what else could have been chosen for policies like these --


def _students(values: Floats) -> tuple[float, float]:
    """Student's t over the documents' means alone."""
    means = values.mean(axis=0)
    low, high = stats.t.interval(0.95, len(means) - 1, means.mean(), stats.sem(means))
    return float(low), float(high)


def _questions_alone(values: Floats) -> tuple[float, float]:
    """Return a percentile bootstrap over the questions, which takes documents as they are."""
    means = values.mean(axis=1)
    random = np.random.default_rng(0)
    drawn = means[random.integers(len(means), size=(1000, len(means)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _two_way_bootstrap(values: Floats) -> tuple[float, float]:
    """Questions and documents drawn with replacement, widened by Student's t of the smaller number."""
    random = np.random.default_rng(0)
    weights = [random.multinomial(n, np.full(n, 1 / n), size=1000) / n for n in values.shape]
    drawn = np.einsum("sq,qd,sd->s", weights[0], values, weights[1])
    wider = stats.t.ppf(0.975, min(values.shape) - 1) / stats.norm.ppf(0.975)
    low, high = values.mean() + wider * (np.quantile(drawn, [0.025, 0.975]) - values.mean())
    return float(low), float(high)


def _satterthwaite(values: Floats) -> tuple[float, float]:
    """Crossed random effects (two-way analysis of variance) with Satterthwaite's degrees of freedom."""
    (questions, documents), mean = values.shape, values.mean()
    by_question, by_document = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    free = np.array([questions - 1, documents - 1, (questions - 1) * (documents - 1)])
    squares = [by_question - mean, by_document - mean, values - by_question - by_document + mean]
    of = np.array([documents, questions, 1]) * [(each**2).sum() for each in squares] / free / values.size
    variance = max(of[0] + of[1] - of[2], of[0], of[1])
    half = stats.t.ppf(0.975, max(variance**2 / (of**2 / free).sum(), 1)) * np.sqrt(variance)
    return float(mean - half), float(mean + half)


def _chosen(values: Floats) -> tuple[float, float]:
    found = estimate_crossed_mean(*columns(values))
    return found.policies_low, found.policies_high


CANDIDATES: dict[str, Callable[[Floats], tuple[float, float]]] = {
    "bootstrap over questions": _questions_alone,
    "t over documents": _students,
    "two-way bootstrap, t-widened": _two_way_bootstrap,
    "crossed effects, Satterthwaite": _satterthwaite,
    "chosen": _chosen,
}


def candidates(studies: int) -> Iterator[tuple[str, ...]]:
    """For some sizes and shapes, how often each candidate holds the truth for policies, and how wide it is."""
    for shape, size in (
        ("normal", (4, 3)),
        ("normal", (8, 5)),
        ("normal", (32, 5)),
        ("skewed", (32, 5)),
        ("ceiling", (8, 5)),
        ("ceiling", (32, 5)),
    ):
        random = np.random.default_rng(size)
        held = {name: Held() for name in CANDIDATES}
        for _ in range(studies):
            values, _, everywhere = drawn(random, SHAPES[shape], size)
            for name, candidate in CANDIDATES.items():
                held[name].add(*(candidate(values) if np.ptp(values) else (np.nan, np.nan)), everywhere)
        sized = (shape, f"{size[0]} x {size[1]}")
        yield (*sized, *(f"{one.share:.1%} ({one.width / max(one.given, 1):.1f})" for one in held.values()))


# -- agreement --


def agreements(studies: int) -> Iterator[tuple[int, int, str, str]]:
    """Analysts, answers, and how often the interval of Krippendorff's alpha holds the truth, high or middling.

    Each of the rubric's metrics is a study of its own. The truth is the mean alpha of five times two thousand answers.
    """
    rubric, thresholds, scale = shipped_rubric(), (-0.4, 0.4), np.arange(3.0)

    def measure(random: np.random.Generator, analysts: int, answers: int, noise: float) -> Iterator[ScaleAgreement]:
        of_answers = random.normal(0, 1, (answers, 1, len(rubric.metrics)))
        values = of_answers + random.normal(0, noise, (answers, analysts, len(rubric.metrics)))
        counts = (np.searchsorted(thresholds, values)[..., None] == np.arange(3)).sum(axis=1)
        return (measure_agreement(counts[:, metric], scale) for metric in range(len(rubric.metrics)))

    for analysts, answers in itertools.product((2, 3), (10, 20, 50)):
        random, rows = np.random.default_rng([analysts, answers]), []
        for noise in (0.5, 1.0):
            truth = float(np.mean([found.alpha for found in measure(random, 2, 2000, noise)]))
            held = Held()
            for _ in range(studies // len(rubric.metrics)):
                for found in measure(random, analysts, answers, noise):
                    held.add(found.low, found.high, truth)
            rows.append(f"{held} (alpha {truth:.2f})")
        yield analysts, answers, rows[0], rows[1]


# -- shown --


TARGETS: dict[str, Callable[[Cell], Held]] = {
    "for these documents": lambda cell: cell.these,
    "for policies like these": lambda cell: cell.policies,
}


def figure(cells: list[Cell]) -> Figure:
    """Coverage against the number of documents: a column for each shape, a row for each target."""
    drawn = Figure(figsize=(7, 3.6), layout="constrained")
    panels = drawn.subplots(2, len(SHAPES), sharex=True, sharey=True)
    for place, (target, held) in enumerate(TARGETS.items()):
        row = panels[place]
        for shape, axes in zip(SHAPES, row, strict=True):
            axes.axhspan(93, 97, color="#dce9d5", zorder=0)
            axes.axhline(95, color="#888888", linewidth=0.7, zorder=1)
            for questions, mark in zip(QUESTIONS, "os^", strict=True):
                some = [cell for cell in cells if (cell.shape, cell.questions) == (shape, questions)]
                shares = [100 * held(cell).share for cell in some]
                axes.plot(range(len(some)), shares, marker=mark, markersize=4, linewidth=0.8, label=f"{questions}")
            axes.set_xticks(range(len(DOCUMENTS)), [str(number) for number in DOCUMENTS])
            axes.tick_params(labelsize=8)
            if not place:
                axes.set_title(shape, fontsize=9)
        row[0].set_ylabel(f"{target}, %", fontsize=8)
    panels[0, 0].set_ylim(88, 100)
    drawn.supxlabel("documents", fontsize=9)
    drawn.legend(*panels[0, 0].get_legend_handles_labels(), title="questions", loc="outside right center", fontsize=8)
    return drawn


def simulation(name: str, about: str | None) -> tuple[int, Path | None]:
    """Parse a simulation's options: the number of studies for each cell, and the file to draw the coverage to."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=(about or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a hundred studies for each cell")
    parser.add_argument("--studies", type=int, help="so many studies for each cell")
    parser.add_argument("--figure", type=Path, help="draw the coverage to this .svg or .png file")
    wanted = parser.parse_args()
    return wanted.studies or (100 if wanted.quick else 1000), wanted.figure


def print_section(title: str, text: str) -> None:
    """Print the heading of a table, and what its numbers are."""
    print(f"\n## {title}\n\n{text}", flush=True)


HEAD = """# How often intervals hold

Printed by `python -m benchmarks.coverage` and `python -m benchmarks.coverage_shares --studies 600`. Both draw studies
from a known truth, put them through the functions of the reports, and count how often an interval holds the truth.
[How sure is an average?](intervals.md) has the formulas and what follows.

Variances of M_all (10 to 100) are of the order of the published study's: 82 between questions (82 to 107 there), 46
between documents (46 to 72), 508 for the rest (508 to 518). 1,000 studies a cell know a share of 95 % to within 1.4
points.

![Coverage by documents and questions: most between 93 and 97 %, for policies like these up to 99 %](intervals.png)"""


def print_coverage(cells: list[Cell]) -> None:
    """Print a table of coverage for each target."""
    for target, held in TARGETS.items():
        rows = [
            (f"{shape}, {questions} questions", *(held(cell) for cell in row))
            for (shape, questions), row in itertools.groupby(cells, lambda cell: (cell.shape, cell.questions))
        ]
        print_table((target, *(f"{n} document{'s' * (n > 1)}" for n in DOCUMENTS)), rows)


def print_levels(studies: int) -> None:
    """Print the tables on several systems and on looks (`coverage_levels`)."""
    systems = [f"{number} systems" for number in levels.SYSTEMS]
    print_section(
        "Several systems",
        "Alike systems over 32 questions: how many of 100 studies find a difference for policies like these, after "
        "Holm's correction. *Nothing left* takes all of the rest out of the documents' part, *half left*, the rule of "
        "the reports, at most half. The last column is how many find a difference of 10 points between two systems.",
    )
    heads = ("documents", "variance", "rule", *systems, "10 points found")
    print_table(heads, list(levels.several_systems(studies)))
    print_section(
        "Looking early",
        "160 answers of each of two alike systems, 32 questions about 5 documents, in the order of a random part: how "
        "many of 100 studies ever find a difference, at one look, at ten, and at one after each answer.",
    )
    print_table(("looks", "variance", "rule", "these documents", "policies like these"), list(levels.looks(studies)))
    print_section("Looking early at several systems", "Ten looks, variance 162, for policies like these.")
    print_table(("documents", "ten looks", *systems), list(levels.looks_at_systems(studies)))
    print_section(
        "An enlarged random part",
        "64 answers, and 32 more up to 160 as long as nothing is found: 0.05 at the first end, another level later.",
    )
    heads = ("variance", "later ends", "these documents", "policies like these")
    print_table(heads, list(levels.enlarged(studies)))


def main() -> None:
    """Print the tables, and draw the figure if it is asked for."""
    studies, path = simulation("coverage", __doc__)
    begun = time.process_time()
    print(HEAD)
    print_section(
        "Averages",
        "*Skewed* values have a tail to the low side, *ties* are five values, *ceiling* is cut off at 100 with a mean "
        "of 97. Refused are studies in which all questions have one value.",
    )
    cells = list(coverage(studies, SHAPES))
    print_coverage(cells)
    print_section("Rates", "Shares of 1, 5 and 20 % of answers, which vary as the normal values do.")
    print_coverage(list(coverage(studies, RATES)))
    print_section(
        "Alike systems",
        "Two systems that are alike in general and differ by document (variance 162, as in the published recall "
        "experiment; the last column is for policies like these with 324): how often p is below 0.05.",
    )
    print_table(
        ("questions", "documents", "these documents", "policies like these", "with twice the variance"),
        [
            (questions, documents, *("refused" if np.isnan(share) else f"{share:.1%}" for share in shares))
            for questions, documents, *shares in false_differences(studies)
        ],
    )
    print_levels(3 * studies)
    print_section("Other methods", "For policies like these: coverage, and mean width in brackets.")
    print_table(("shape", "questions x documents", *CANDIDATES), list(candidates(studies)))
    print_section("Krippendorff's alpha", "Coverage of its interval, by the true alpha.")
    print_table(("analysts", "answers", "high alpha", "middling alpha"), list(agreements(studies)))
    print_section(
        "Documents of which more was scored", "32 questions, for policies like these, by the documents' variance."
    )
    heads = ("documents", "variance between them 46", "162")
    print_table(heads, list(uneven_documents(max(studies * 2 // 5, 1))))
    print_section(
        "Other analysts",
        "32 questions about 5 documents, one score an answer. *Leniency* is the standard deviation of M_all between "
        "analysts, *width* that of the interval for analysts like these. *Alike differ*: alike systems that are called "
        "different for policies like these, scored by the same analysts; *by own analysts*: by others each, and how "
        "often the verdict says so. All intervals are held against what other analysts would give.",
    )
    targets = ("these documents", "policies like these", "analysts like these", "width")
    print_table(
        ("leniency", "analysts", *targets, "alike differ", "by own analysts"),
        list(other_analysts(max(studies // 4, 1))),
    )
    print_section("Suites", "A share over policies of 12 items each, or of 60 over the root of k for the k-th.")
    print_table(("policies of a suite", "alike in size", "unlike"), list(suites_policies(studies)))
    print(f"\n{studies:,} studies a cell, {(time.process_time() - begun) / 60:.1f} minutes of processor")
    if path:
        figure(cells).savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
