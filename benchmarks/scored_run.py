"""Score every answer of a run, by several analysts, straight into the store.

    python -m benchmarks.scored_run WORKSPACE RUN --analysts 10

expects a workspace with a run, as `finished_run` writes it, and prints how many scores it has then.
"""

from __future__ import annotations

import argparse
import contextlib
import random
from itertools import islice
from pathlib import Path

import genaipa
from genaipa.files.stamps import now
from genaipa.scoring.events import Event
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.store import open_or_create_store

_AT_ONCE = 50_000


def _scores(answers, analysts: int, seed: int):
    """One score for each answer and analyst."""
    chance, rubric = random.Random(seed), shipped_rubric()
    for number, answer in enumerate(answers):
        for analyst in range(analysts):
            yield Event(
                id=f"{number:x}-{analyst:x}",
                time=now(),
                kind="score",
                analyst=f"analyst {analyst + 1}",
                answer=answer,
                values=rubric.parse_digits("".join(chance.choices("123", weights=(6, 3, 1), k=len(rubric.metrics)))),
                seconds=chance.uniform(60, 300),
            )


def main() -> None:
    """Give the scores and print how many."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace", type=Path)
    parser.add_argument("run")
    parser.add_argument("--analysts", type=int, default=10)
    wanted = parser.parse_args()
    run = genaipa.load_run(wanted.run, wanted.workspace)
    answers = dict.fromkeys(record.digest for record in run.answers())
    scores, given = _scores(answers, wanted.analysts, seed=7), 0
    with contextlib.closing(open_or_create_store(run.workspace)) as store:
        while batch := list(islice(scores, _AT_ONCE)):
            given += store.append_new_events(batch)
    print(given)


if __name__ == "__main__":
    main()
