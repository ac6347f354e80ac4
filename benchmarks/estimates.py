"""How often estimates from people and a judge hold the truth, how wide they are, and where they fail.

    python -m benchmarks.estimates [--quick] [--studies N] [--figure FILE]

Judges of our own making (`made_judges`) score studies drawn from a known truth, people score a wave of them, and both
go through the functions of the reports (`stats.rectified`, `reports.crossed`). No language model judged
anything. A thousand studies for each cell take eight minutes of one core (--quick: a hundred, one minute).
docs/method/coverage-estimates.md is what it prints, and the figure there is what it draws. The published scores are
left out where `genaipa get genaipabench` did not fetch them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from matplotlib.figure import Figure

from benchmarks.__main__ import print_table
from benchmarks.coverage import Held, simulation
from benchmarks.judged_report import seconds
from benchmarks.made_judges import JUDGES, METRICS, Floats, Published, Study, Synthetic, overall, two_that_share
from genaipa.errors import GenaipaError
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.scoring.rubric import M_ALL_RANGE, M_ALL_WIDTH
from genaipa.stats.intervals import CrossedMean
from genaipa.stats.reason import Reason
from genaipa.stats.rectified import ScoredSample

SIZES = ((32, 5, 32), (32, 5, 64), (32, 5, 96), (64, 5, 200))
"""Questions, documents, and how many of their answers people score."""
LIMITS = {True: M_ALL_RANGE, False: (-1.0, 1.0)}
"""The ends of the scale of M_all, and of a metric."""

Drawer = Callable[[np.random.Generator, int, int, int], Study]


@dataclass(frozen=True)
class Rectified:
    """What people scored of a study (NaN elsewhere), z, and whether people scored an answer to a cell's question.

    `blank` says that the report would give no estimate. `half` is half the interval for these very answers.
    """

    people: Floats
    z: Floats
    known: np.ndarray
    blank: bool
    half: float = np.nan


@dataclass
class Row:
    """A judge on studies of one size: both intervals of people alone, of people and judge, and of the judge alone.

    `answers` is that of people and judge for these very answers.

    Where a study gave no estimate (`blank`), it is in neither of the columns that are compared.
    """

    judge: str
    size: tuple[int, int, int]
    alone: tuple[Held, Held] = field(default_factory=lambda: (Held(), Held()))
    both: tuple[Held, Held] = field(default_factory=lambda: (Held(), Held()))
    answers: Held = field(default_factory=Held)
    judged: Held = field(default_factory=Held)
    correlations: list[float] = field(default_factory=list)
    biases: list[float] = field(default_factory=list)
    blank: int = 0

    @property
    def fewer(self) -> float:
        """The variance of people alone as a multiple of that of people and judge, by their widths."""
        return (self.alone[0].width / self.both[0].width) ** 2 if self.both[0].given else np.nan

    def add(
        self,
        found: Rectified,
        people: Floats,
        judge: Floats,
        *,
        truth: list[float],
        limits: tuple[float, float] = LIMITS[True],
    ) -> None:
        """Count one study of which people would have scored all as `people`."""
        self.biases.append(float(judge.mean() - people.mean()))
        if people.std() and judge.std():
            self.correlations.append(float(np.corrcoef(people.ravel(), judge.ravel())[0, 1]))
        self.blank += found.blank
        said = average(judge, limits)
        self.judged.add(said.low, said.high, truth[0])
        if not found.blank:
            middle = float(found.z.mean())
            self.answers.add(middle - found.half, middle + found.half, float(people.mean()))
            for held, values, known in ((self.alone, found.people, None), (self.both, found.z, found.known)):
                one = average(values, limits, known)
                held[0].add(one.low, one.high, truth[0])
                if not np.isnan(truth[1]):  # else nobody knows what other documents would have given
                    held[1].add(one.policies_low, one.policies_high, truth[1])


def half(held: Held) -> str:
    """Half the mean width of an interval."""
    return f"{held.width / held.given / 2:.2f}" if held.given else "refused"


def waved(random: np.random.Generator, questions: int, documents: int, number: int) -> np.ndarray:
    """Which answers a wave draws: in rounds, one of each question, each about another document."""
    turns = np.full(questions, number // questions)
    turns[random.permutation(questions)[: number % questions]] += 1
    order = random.random((questions, documents)).argsort(axis=1).argsort(axis=1)
    found: np.ndarray = order < turns[:, None]
    return found


def average(values: Floats, limits: tuple[float, float], known: np.ndarray | None = None) -> CrossedMean:
    """Return the average of a study's cells as in the reports; NaN are left out."""
    questions, documents = (place.ravel() for place in np.indices(values.shape))
    labels = [f"{place:03}" for place in range(max(values.shape))]
    names = np.array(labels, dtype=object)
    return estimate_crossed_mean(values.ravel(), names[questions], names[documents], limits=limits, has_scores=known)


def rectified(people: Floats, judge: Floats, scored: np.ndarray, *, slope: float | None = None) -> Rectified:
    """Return a study rectified, with its own slope unless one is given."""
    cell = np.arange(people.size)
    drawn = ScoredSample(scored.ravel(), np.ones(people.size, bool), cell, cell // people.shape[1], cell * 0)
    given = np.where(scored, people, np.nan)
    if slope is None:
        slope = drawn.fit_slope_or_zero_if_insignificant(given.ravel(), judge.ravel())
    every = np.ones(people.size, bool)
    blank = drawn.reason_for_no_estimate(given.ravel(), judge.ravel(), slope, every) is not Reason.NONE
    z = drawn.rectify_scores(given.ravel(), judge.ravel(), slope).reshape(people.shape)
    half_ = drawn.group_mean_half_width((given - slope * judge).ravel(), every)
    return Rectified(given, z, drawn.has_scored_question, blank, half_)


def pooled(people: list[Floats], judge: list[Floats], scored: list[np.ndarray]) -> float:
    """Return the slope within several groups."""
    group = np.concatenate([np.full(wave.sum(), number) for number, wave in enumerate(scored)])
    mine, theirs = (
        np.concatenate([of[wave] for of, wave in zip(some, scored, strict=True)]) for some in (people, judge)
    )
    all_ = np.ones(len(group), bool)
    return ScoredSample(all_, all_, group, group, group).fit_slope_or_zero_if_insignificant(mine, theirs)


def coverage(
    studies: int, draw: Drawer, sizes: tuple[tuple[int, int, int], ...], metric: int | None = None
) -> Iterator[Row]:
    """Each judge on studies of each size: M_all, or one metric."""
    value: Callable[[Floats], Floats] = overall if metric is None else lambda values: values[..., metric]
    for (name, judge), size in itertools.product(JUDGES.items(), sizes):
        if judge.own is None:
            row = Row(name, size)
            random = np.random.default_rng([*size, list(JUDGES).index(name)])
            for turn in range(studies):
                metrics, *truth = draw(random, turn, *size[:2])
                people, said = value(metrics), value(judge.judged(random, metrics))
                found = rectified(people, said, waved(random, *size))
                row.add(found, people, said, truth=[float(value(one)) for one in truth], limits=LIMITS[metric is None])
            yield row


def two_judges(studies: int, draw: Drawer) -> Iterator[Row]:
    """Yield the mean of two judges as good as `good`, whose slips have a share in common."""
    for share in (0.0, 0.5, 0.9):
        random, row = np.random.default_rng(round(10 * share)), Row(f"two good, {share:.0%} shared", (32, 5, 64))
        for turn in range(studies):
            metrics, *truth = draw(random, turn, 32, 5)
            people, said = overall(metrics), overall(two_that_share(random, metrics, share))
            found = rectified(people, said, waved(random, 32, 5, 64))
            row.add(found, people, said, truth=[float(overall(one)) for one in truth])
        yield row


def small_waves(studies: int, draw: Drawer) -> Iterator[Row]:
    """One of six groups of 32 questions, in each of which people scored answers to a part of the questions."""
    for name, number in itertools.product(("noise", "lenient", "good", "excellent"), (5, 8, 12, 16, 24)):
        random, row = np.random.default_rng([number, list(JUDGES).index(name)]), Row(name, (32, 5, number))
        for turn in range(studies):
            groups = [draw(random, turn, 32, 5) for _ in range(6)]
            people = [overall(metrics) for metrics, _, _ in groups]
            said = [overall(JUDGES[name].judged(random, metrics)) for metrics, _, _ in groups]
            waves = [waved(random, 32, 5, number) for _ in groups]
            found = rectified(people[0], said[0], waves[0], slope=pooled(people, said, waves))
            row.add(found, people[0], said[0], truth=[float(overall(one)) for one in groups[0][1:]])
        yield row


def differences(studies: int) -> Iterator[Row]:
    """Yield the first of two systems minus the second, which is a little worse, and may be of the judge's family."""
    for name, number in itertools.product(("noise", "fair", "own family", "good", "strong", "excellent"), (32, 64, 96)):
        random, row = np.random.default_rng([number, list(JUDGES).index(name)]), Row(name, (32, 5, number))
        for _ in range(studies):
            systems = Synthetic().drawn(random, 32, 5, (0.0, -0.4))
            people = [overall(metrics) for metrics, _, _ in systems]
            said = [overall(JUDGES[name].judged(random, one[0], own=own)) for own, one in enumerate(systems)]
            wave = waved(random, 32, 5, number)
            slope = pooled(people, said, [wave, wave])
            a, b = (rectified(of, by, wave, slope=slope) for of, by in zip(people, said, strict=True))
            found = Rectified(a.people - b.people, a.z - b.z, a.known, a.blank or b.blank)
            truth = [
                float(overall(one) - overall(other)) for one, other in zip(*(one[1:] for one in systems), strict=True)
            ]
            row.add(found, people[0] - people[1], said[0] - said[1], truth=truth, limits=(-M_ALL_WIDTH, M_ALL_WIDTH))
        yield row


def failures(studies: int) -> Iterator[tuple[str, str, str, str]]:
    """Where the method fails, with a good judge: what people scored, and how often each interval holds the truth."""

    def of(name: str, choose: Callable[[np.random.Generator, Floats, Floats], np.ndarray]) -> tuple[str, str, str, str]:
        random, row = np.random.default_rng(0), Row("good", (32, 5, 64))
        for _ in range(studies):
            ((metrics, *truth),) = Synthetic(document=0.5).drawn(random, 32, 5)
            people, said = overall(metrics), overall(JUDGES["good"].judged(random, metrics))
            row.add(
                rectified(people, said, choose(random, people, said)),
                people,
                said,
                truth=[float(overall(one)) for one in truth],
            )
        return name, str(row.alone[0]), str(row.both[0]), f"{row.both[0].off / row.both[0].given:+.2f}"

    def until_narrow(random: np.random.Generator, people: Floats, said: Floats) -> np.ndarray:
        """Wave after wave until the interval is as narrow as one wants."""
        order = random.random(people.shape).argsort(axis=1).argsort(axis=1)
        for turns in range(1, 6):
            scored: np.ndarray = order < turns
            one = rectified(people, said, scored)
            found = average(one.z, LIMITS[True], one.known)
            if one.blank or found.high - found.low < 13:
                break
        return scored

    yield of("a wave of 64", lambda random, people, _: waved(random, *people.shape, 64))
    yield of("two documents whole", lambda _, people, __: np.arange(5) < 2 + np.zeros(people.shape))
    yield of(
        "the answers that the judge finds worst", lambda _, people, said: said <= np.sort(said.ravel())[63] + 0 * people
    )
    yield of("wave after wave, until ±6.5", until_narrow)


# -- shown --

PAGE_HEAD = """# How often estimates hold

Printed by `python -m benchmarks.estimates`. Judges of our own making score studies of a known truth, people score a
random part, and both go through the functions of the reports. No language model judged anything.
[What would people say of the rest?](estimates.md) has the formula and what follows.

- *r* is the correlation of the judge's M_all with people's, *bias* the judge's average less people's, *n* the answers
  that people scored.
- *Judge alone*, *people alone* and *people and judge* are how often the interval holds the truth for these documents,
  *policies* the same for policies like these, *these answers* for these very answers; ± is half of its mean width.
- *Fewer* is how many times as many answers people alone would have to score for the same width, *blank* the share of
  studies in which the report gives no estimate.
- Studies are of 32 questions about 5 documents, and of 64 questions where n is 200. 1,000 studies a cell know a share
  of 95 % to within 1.4 points.
- Published scores are questions drawn from one system and experiment, with their five documents; the metrics behind an
  M_all are drawn from all that fit the published tables. About other documents nothing is known there.

![Intervals by the judge's correlation with people: 93 to 97 % hold, of a judge alone 0 to 90 %](estimates.png)"""
HEAD = (
    *("judge", "r", "bias", "judge alone", "n", "people alone", "people and judge"),
    *("policies: people", "policies: both", "these answers", "±people", "±both", "±these answers", "fewer", "blank"),
)


def shown(row: Row) -> tuple[str, ...]:
    """Return a row of a table, under `HEAD`."""
    return (
        row.judge,
        f"{np.mean(row.correlations):.2f}",
        f"{np.mean(row.biases):+.2f}",
        f"{row.judged.share:.0%}",
        str(row.size[2]),
        str(row.alone[0]),
        str(row.both[0]),
        str(row.alone[1]),
        str(row.both[1]),
        str(row.answers),
        half(row.alone[0]),
        half(row.both[0]),
        half(row.answers),
        f"{row.fewer:.1f}",
        f"{row.blank / len(row.biases):.0%}",
    )


_LOOKS = {
    "people alone": ("s", "#888888"),
    "people and judge": ("o", "#0b5fa5"),
    "judge alone: not an estimate": ("x", "#b3541e"),
}


def figure(panels: dict[str, list[Row]]) -> Figure:
    """Coverage by the judge's r: people alone, people and judge, judge alone; a panel for each kind of study."""
    drawn = Figure(figsize=(7.2, 3.0), layout="constrained")
    for axes, (title, rows) in zip(drawn.subplots(1, len(panels), sharey=True), panels.items(), strict=True):
        axes.axhspan(93, 97, color="#dce9d5", zorder=0)
        places = [float(np.mean(row.correlations)) for row in rows]
        held = zip(*((row.alone[0], row.both[0], row.judged) for row in rows), strict=True)
        for (name, (mark, colour)), some in zip(_LOOKS.items(), held, strict=True):
            shares = [100 * one.share for one in some]
            axes.plot(places, shares, mark, color=colour, markersize=3.5, label=name, alpha=0.8)
        axes.set_title(title, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.set_xlim(0, 1)
    drawn.axes[0].set_ylabel("holds the truth, %", fontsize=8)
    drawn.axes[len(panels) // 2].set_xlabel("correlation of the judge's M_all with people's", fontsize=8)
    drawn.legend(*drawn.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, fontsize=8)
    return drawn


def published_scores() -> Published | None:
    """Return the published scores as far as they are here; None, said, where they are not."""
    from genaipa_study.layout import published_tree
    from genaipa_study.study import read_published_study

    try:
        study = read_published_study(published_tree())
        return Published.of([score for score in study.scores if score not in study.excluded_scores])
    except GenaipaError as error:
        print(f"The published scores are left out: {error}")
        return None


def synthetic(random: np.random.Generator, _: int, questions: int, documents: int) -> Study:
    """Return a study made up."""
    return Synthetic().drawn(random, questions, documents)[0]


def main() -> None:
    """Print the tables, and draw the figure if it is asked for."""
    studies, path = simulation("estimates", __doc__)
    begun = time.process_time()
    panels: dict[str, list[Row]] = {}
    print(PAGE_HEAD)

    def tell(title: str, rows: Iterator[Row]) -> list[Row]:
        print(f"\n## {title}", flush=True)
        found = list(rows)
        print_table(HEAD, [shown(row) for row in found])
        return found

    known = published_scores()
    if known is not None:

        def draw(random: np.random.Generator, turn: int, questions: int, _: int) -> Study:
            return known.drawn(random, turn, questions)

        panels["published scores"] = tell("Published scores, M_all", coverage(studies, draw, SIZES))
        tell("Published scores, reference", coverage(studies, draw, SIZES[:2], METRICS.index("reference")))
    panels["made-up studies"] = tell("Made-up studies, M_all", coverage(studies, synthetic, SIZES))
    tell("Made-up studies of 10 documents, M_all", coverage(studies, synthetic, ((32, 10, 32), (32, 10, 200))))
    tell("Made-up studies, one metric", coverage(studies, synthetic, SIZES[:2], 0))
    panels["differences"] = tell("Two systems, M_all, differences", differences(studies))
    tell("Two judges", two_judges(studies, synthetic))
    tell("Waves smaller than the number of questions", small_waves(studies, synthetic))
    print("\n## Where it fails\n\nMade-up studies in which documents differ more, with the judge *good*.")
    print_table(("people scored", "people alone", "people and judge", "off on average"), list(failures(studies)))
    size, scored, took = seconds()
    print(f"\n{size:,} answers, {scored:,} scores of people: all tables with estimates in {took:.1f} s of processor")
    print(f"\n{studies} studies a cell, {(time.process_time() - begun) / 60:.1f} minutes of processor")
    if path:
        figure(panels).savefig(path, dpi=150, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
