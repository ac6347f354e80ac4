"""Agreement on completeness with points and without, of analysts of our own making; and what ticking would take.

    python -m benchmarks.points [--studies N]

Nobody scored anything: this says what follows from a model of an analyst, and not whether it is true of people. Answers
to brindlecart's 24 questions with points say each point with a chance of their system's own. An analyst misreads a
point of an answer (said for not said, or the reverse) with the chance `misread`, with and without points alike.

- With points the value follows from what the analyst read by the rubric's rule.
- Without, the analyst goes by a list of their own: each vital point is on it with the chance 1 - `own`, each other
  point with the chance 1/2, where `own` is how far analysts' notions of what matters differ. The rule is the same.

So the gain is the price of different lists; that a list of points anchors whoever reads it can't be seen here.
Seconds are modelled: so many for each point that is looked for in the answer (`LOOK`) and each key (`KEY`).
"""

from __future__ import annotations

import argparse

import msgspec
import numpy as np

from benchmarks.__main__ import print_table
from genaipa.questions.annotations import read_annotations_without_blanks
from genaipa.questions.points import Point, make_ticks
from genaipa.scoring.rubric import Rubric, shipped_rubric
from genaipa.stats.agreement import measure_agreement
from genaipa.workspace import shipped_folder

SAYS = (0.85, 0.6, 0.4)
"""The chance of each system to say a point."""
LOOK, KEY = 0.6, 0.28
"""Seconds to look for a point in an answer that was read already, and of a key (keystroke-level model: Card, 1980)."""
_SETTINGS = [(misread, own) for misread in (0.02, 0.05, 0.1) for own in (0.0, 0.1, 0.3)]


def answered() -> list[tuple[Point, ...]]:
    """Return the points of each of brindlecart's answers that has any."""
    answers = read_annotations_without_blanks(shipped_folder() / "annotations" / "brindlecart.yaml").answers
    return [answer.points for answer in answers.values() if answer.points]


def read(points: tuple[Point, ...], said: list[bool], misread: float, random: np.random.Generator) -> list[bool]:
    """Return the points that an analyst ticks in an answer."""
    return [bool(says) != bool(random.random() < misread) for says, _ in zip(said, points, strict=True)]


def value(rubric: Rubric, points: tuple[Point, ...], found: list[bool]) -> float:
    """Return the value of completeness that follows from it."""
    return rubric.value_from_points(
        points, make_ticks(points, [p.id for p, is_said in zip(points, found, strict=True) if is_said])
    )


def alone(rubric: Rubric, points: tuple[Point, ...], found: list[bool], listed: list[bool]) -> float:
    """Return the value by a list of one's own, on which all are vital."""
    own = [
        (msgspec.structs.replace(p, weight="vital"), f) for p, f, on in zip(points, found, listed, strict=True) if on
    ]
    if not own:
        return rubric.values[0]
    return value(rubric, tuple(p for p, _ in own), [is_said for _, is_said in own])


def study(misread: float, own: float, random: np.random.Generator) -> dict[str, list[list[float]]]:
    """Two analysts' values of every answer, with points and without, and the values without any error."""
    rubric = shipped_rubric()
    given: dict[str, list[list[float]]] = {name: [[], []] for name in ("with", "without")}
    truth: list[float] = []
    for points in answered():
        lists = [[bool(random.random() < (1 - own if p.weight == "vital" else 0.5)) for p in points] for _ in range(2)]
        for chance in SAYS:
            said = [bool(random.random() < chance) for _ in points]
            truth.append(value(rubric, points, said))
            for who in range(2):
                found = read(points, said, misread, random)
                given["with"][who].append(value(rubric, points, found))
                given["without"][who].append(alone(rubric, points, found, lists[who]))
    return given | {"truth": [truth]}


def alpha(values: list[list[float]]) -> tuple[float, float]:
    """Alpha and AC2 of two analysts' values."""
    scale = np.array(sorted(shipped_rubric().values))
    counts = np.stack([(np.array(values) == one).sum(axis=0) for one in scale], axis=1)
    agreement = measure_agreement(counts, scale)
    return agreement.alpha, agreement.ac2


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    studies, random, rows = parser.parse_args().studies, np.random.default_rng(3), []
    for misread, own in _SETTINGS:
        found = [study(misread, own, random) for _ in range(studies)]
        cells: list[object] = [misread, own]
        for name in ("without", "with"):
            alphas, ac2 = np.nanmean([alpha(one[name]) for one in found], axis=0)
            r = np.mean([np.corrcoef(one[name][0], one["truth"][0])[0, 1] for one in found])
            cells += [f"{alphas:.2f}", f"{ac2:.2f}", f"{r:.2f}"]
        rows.append(cells)
    heads = [f"{measure} {name} points" for name in ("without", "with") for measure in ("alpha", "AC2", "r")]
    print_table(["misread", "own lists", *heads], rows)
    number = [len(points) for points in answered()]
    keys = [said * len(points) + 1 for points in answered() for said in SAYS]
    seconds = LOOK * np.mean(number) + KEY * np.mean(keys)
    print(f"\nPoints of an answer: {np.mean(number):.1f}; modelled seconds more for an answer: {seconds:.1f}.")


if __name__ == "__main__":
    main()
