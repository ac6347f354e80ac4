"""The time that estimates take in a study of 100,000 answers, all judged, of which people scored 2,000."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from benchmarks.made_study import make_study
from genaipa.judging.name import Judge
from genaipa.reports.chapters import overall
from genaipa.reports.judged.beside import people_judge_and_combined_means_table, scores_needed_forecast_table
from genaipa.scoring.rubric import shipped_rubric


def seconds(systems: int = 10, documents: int = 63, repetitions: int = 5, scored: int = 2000) -> tuple[int, int, float]:
    """Answers, scores of people, and processor seconds that estimates and the tables with them take."""
    random, rubric, about = np.random.default_rng(0), shipped_rubric(), defaultdict(list)
    for system, document, question, turn in np.ndindex(systems, documents, 32, repetitions):
        names = (f"s/{system}", f"d{document:02}", f"q{question:02}")
        for name, value in zip(("system", "document", "question"), names, strict=True):
            about[name].append(value)
        about["key"].append("|".join((*names, str(turn))))
    size = len(about["key"])
    drawn = np.isin(np.arange(size), random.permutation(size)[:scored])
    fixed = {
        "unit": "answer",
        "run": "r",
        "experiment": "quality",
        "kind": "policy",
        "source": "faq",
        "status": "answered",
    }
    rows = {
        **about,
        **{name: [value] * size for name, value in fixed.items()},
        "answer": about["key"],
        "excluded": [""] * size,
        "in_wave": np.where(drawn, "yes", "no"),
        "pi": [scored / size] * size,
    }
    people = _values(random, size)
    said = np.where(random.random(people.shape) < 0.2, _values(random, size), people)
    given = {
        "answer": [*np.array(about["key"])[drawn], *about["key"]],
        "analyst": ["ada"] * scored + [str(Judge("made-up", "0" * 12, 1))] * size,
        "role": ["score"] * (scored + size),
        "scorer": ["human"] * scored + ["machine"] * size,
        "rubric": [rubric.digest] * (scored + size),
        **{name: np.concatenate([people[drawn, place], said[:, place]]) for place, name in enumerate(rubric.metrics)},
    }
    each = (dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True))
    frame = make_study(each, given, rubric).table
    begun = time.process_time()
    for made in (
        overall.leaderboard_table,
        overall.averages_of_each_metric_table,
        people_judge_and_combined_means_table,
        scores_needed_forecast_table,
    ):
        if not made(frame):
            raise RuntimeError(f"{made.__name__} has no row")
    return size, scored, time.process_time() - begun


def _values(random: np.random.Generator, size: int) -> NDArray[np.float64]:
    """Values of the metrics, most of them the best one."""
    found: NDArray[np.float64] = random.choice([-1.0, 0.5, 1.0], p=[0.2, 0.2, 0.6], size=(size, 5))
    return found
