"""A study of which people score a wave, and a judge everything: its tidy table, its waves, and what is true of it."""

from __future__ import annotations

import functools
import hashlib
from typing import NamedTuple

import numpy as np
import pandas as pd
from framing import answer_rows, tidy_of

from genaipa.judging.name import Judge
from genaipa.scoring.answers import Occurrence, PooledAnswer
from genaipa.scoring.waves import Waves, compute_wave_inclusion_and_chance, digest_prefix_used_in_waves
from rubrics import METRICS, PAPER

JUDGE = Judge("made-up", "0123456789ab", 1)
LEVELS = np.array([-1.0, 0.5, 1.0])


class Judged(NamedTuple):
    """Scores of people and judge (`frame`), the waves, all answers, and the values that people would give them."""

    frame: pd.DataFrame
    waves: Waves
    rows: list
    people: np.ndarray

    def whole(self):
        """The study as it would be if people had scored everything."""
        return tidy_of(self.rows, scores_of(self.rows, self.people))


def digest(row):
    """An answer's digest; the shortened one differs as well."""
    return hashlib.sha256(row["key"].encode()).hexdigest()


def drawn(rows, size, *, before=None, scored=()):
    """The waves of these rows' answers."""
    answers = [
        PooledAnswer(
            row["answer"],
            row["document"],
            "policy",
            "answered",
            [Occurrence(row["run"], row["key"], row["system"], row["document"], row["initialization"],
                        row["wording"], row["repetition"], row["question"], "", 0)],
        )
        for row in rows
    ]  # fmt: skip
    return (before or Waves()).extend_groups_to_size(
        answers, size_of_each_group=size, seed=0, time="2026-11-22T00:00:00Z", scored_digests_to_leave_out=scored
    )


def with_waves(frame, waves):
    """A tidy table whose answers are in these waves, or not."""
    taken = compute_wave_inclusion_and_chance(frame, waves)
    words = np.where(taken["pi"].isna(), "", np.where(taken["in_wave"], "yes", "no"))
    return frame.assign(pi=taken["pi"], in_wave=pd.Categorical(words))


def scores_of(rows, values, *, analyst="ada", scorer="human", rubric=PAPER.digest):
    """A score of each row, with these values of the metrics."""
    about = {"analyst": analyst, "role": "score", "scorer": scorer, "independent": "yes", "rubric": rubric}
    return [
        {"answer": row["answer"], **about, **dict(zip(METRICS, own.tolist(), strict=True))}
        for row, own in zip(rows, values, strict=True)
    ]


@functools.cache
def judged(*, size=48, errors=0.2, seed=0, judge=JUDGE, outside=(), left=0, **shape):
    """A study whose people score a wave of `size` in each group, and whose judge errs in so many metrics.

    `outside` are places of rows that people scored before; `left` answers of each wave are not scored yet. It is made
    once: nobody may change it.
    """
    random = np.random.default_rng(seed)
    shape = {"documents": ("d1", "d2", "d3"), **shape}
    rows = [{**row, "answer": digest(row)} for row in answer_rows(**shape)]
    question = {name: random.normal(0, 0.5) for name in dict.fromkeys(row["question"] for row in rows)}
    good = np.array([question[row["question"]] + 0.4 * row["system"].startswith("a/") for row in rows])
    people = LEVELS[np.digitize(good[:, None] + random.normal(0, 1, (len(rows), len(METRICS))), [-0.8, -0.2])]
    slips = random.random(people.shape) < errors
    verdicts = np.where(slips, random.choice(LEVELS, people.shape), people)
    early = [rows[place]["answer"] for place in outside]
    waves = drawn(rows, size, scored=early)
    asked = [row for row in rows if digest_prefix_used_in_waves(row["answer"]) in waves.all_wave_digest_prefixes]
    unfinished = {row["answer"] for row in asked[:left]}
    scored = [
        place
        for place, row in enumerate(rows)
        if (digest_prefix_used_in_waves(row["answer"]) in waves.all_wave_digest_prefixes or row["answer"] in early)
        and row["answer"] not in unfinished
    ]
    machine = scores_of(rows, verdicts, analyst=str(judge), scorer="machine") if judge else []
    own = scores_of([rows[place] for place in scored], people[scored])
    return Judged(with_waves(tidy_of(rows, own + machine), waves), waves, rows, people)
