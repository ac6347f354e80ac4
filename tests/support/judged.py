"""A study that people and judges scored: two systems, two documents, and verdicts of judges of known quality.

make_judged()                      # the working folder as a workspace, with a run of 96 answers and its scores
gathered = gather_scored(find_workspace(), select(find_workspace(), ()))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import yaml
from running import answers, carry_out, make_workspace, spec, write

from genaipa.judging.name import Judge
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.rubric import Values
from genaipa.scoring.store import ScoreStore
from rubrics import METRICS, PAPER, VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from genaipa.runs.folder import RunFolder

PROMPT, OTHER_PROMPT = "0123456789ab", "ba9876543210"
KIND, GPT = "scripted/kind.yaml", "scripted/gpt-4.yaml"
Places = tuple[int, ...]
"""A score by the places of its values in the rubric, from best to worst: (0, 2, 1, 0, 0)."""
_BEST, _WORST = 0, len(VALUES) - 1


def values(places: Iterable[int]) -> Values:
    """The score with the values at these places."""
    return Values({metric: VALUES[place] for metric, place in zip(METRICS, places, strict=True)})


def harsh(places: Places) -> Places:
    """One value lower on every metric, where there is one."""
    return tuple(min(place + 1, _WORST) for place in places)


def constant(_places: Places) -> Places:
    """The best value for everything."""
    return (_BEST,) * len(METRICS)


def noisy(seed: int, share: float = 0.3) -> Callable[[Places], Places]:
    """Any value at all in this share of the values."""
    random = np.random.default_rng(seed)

    def given(places: Places) -> Places:
        return tuple(int(random.integers(3)) if random.random() < share else place for place in places)

    return given


def make_run(questions: int = 24, documents: tuple[str, ...] = ("acme", "bolt")) -> RunFolder:
    """The working folder as a workspace with a run of two systems, whose answers all differ."""
    make_workspace(questions, documents)
    for name in ("kind", "gpt-4"):
        write(f"{name}.yaml", yaml.safe_dump({"rules": [{"match": ".", "reply": f"Section 1 says so, {name} says."}]}))
    return carry_out(spec(systems=(KIND, GPT), documents=documents))[0]


def truth(digests: Iterable[str], seed: int = 0) -> dict[str, Places]:
    """What each answer is worth."""
    random = np.random.default_rng(seed)
    return {digest: tuple(random.choice(3, len(METRICS), p=(0.5, 0.3, 0.2)).tolist()) for digest in digests}


def human(analyst: str, answer: str, places: Places, minute: int = 0) -> Event:
    """A person's score, given so many minutes after the first."""
    time = f"2026-11-{1 + minute // 1440:02}T{minute // 60 % 24:02}:{minute % 60:02}:00.000Z"
    return Event(new_event_id(), time, "score", analyst, answer, values(places), rubric=PAPER.digest)


def verdict(model: str, answer: str, places: Places, *, prompt: str = PROMPT, passed: int = 1) -> Event:
    """A judge's verdict, as `genaipa judge` keeps it."""
    about = {"scorer": "machine", "rubric": PAPER.digest, "note": "the judge's evidence"}
    judge = str(Judge(model, prompt, passed))
    return Event(new_event_id(), "2026-11-20T10:00:00.000Z", "score", judge, answer, values(places), **about)


def keep(events: Iterable[Event]) -> None:
    """Append events to the store of the working folder."""
    store = ScoreStore.open_or_create("sqlite:///scores.db")
    store.append_new_events(list(events))
    store.close()


def make_judged(scored: int = 64) -> dict[str, Places]:
    """A run whose first answers (by digest) ada and bo scored, and four judges all of them; what the answers are worth.

    `exact` gives what ada does, `harsh` one value less, `constant` always the best, and one that is the second system
    itself errs in three of ten values, in two passes.
    """
    known = truth(sorted({record.digest for record in answers(make_run())}))
    errs, again, bo = noisy(1), noisy(2), noisy(3, 0.15)
    people = [
        event
        for minute, (digest, places) in enumerate(list(known.items())[:scored])
        for event in (human("ada", digest, places, minute), human("bo", digest, bo(places), minute))
    ]
    judged = [
        event
        for digest, places in known.items()
        for event in (
            verdict("exact", digest, places),
            verdict("harsh", digest, harsh(places)),
            verdict("constant", digest, constant(places)),
            verdict(GPT, digest, errs(places), prompt=OTHER_PROMPT),
            verdict(GPT, digest, again(places), prompt=OTHER_PROMPT, passed=2),
        )
    ]
    keep([*people, *judged])
    return known
