"""What a desk shows is kept with a score, and scores beside a suggestion are held against those without."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from analysts import make_answers
from pages import Shown as Page
from pages import desk_here, digests
from stores import kept, opened, score

import genaipa
from genaipa.errors import DataError
from genaipa.reports.chapters.agreement import tabulate_suggestion_effects
from genaipa.scoring.agreement import LEAST_ANSWERS, measure_suggestion_effects
from genaipa.scoring.databases import SCHEMA_STEPS
from genaipa.scoring.events import Event, ScreenContents, verify_log
from genaipa.scoring.evidence.examine import is_suggestion_withheld
from rubrics import METRICS, PAPER, typed

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.ui.desk import Desk

SECTIONS = '  Q1: {silent: no, answer: "Your name and your address.", sections: ["1"]}\n'
SAID = "Your name and your address are collected, says section 1."
BESIDE = ScreenContents(nearest=True, evidence=("reference",), suggestion=("reference",))
HELD = msgspec.structs.replace(BESIDE, suggestion=(), withheld={"reference": 1.0})


def test_older_events_are_read_and_verified(tmp_path: Path) -> None:
    """A log of before this was kept goes on: its digests hold, and an older genaipa refuses it from then on."""
    url = f"sqlite:///{tmp_path / 'scores.db'}"
    with opened(url) as store:
        store.append([score("ana", "a1")])
        before = [row.event for row in store.log_rows()]
        assert "shown" not in before[0]
        with store._open_transaction() as connection:
            connection.exec_driver_sql(f"UPDATE score_schema SET version = {len(SCHEMA_STEPS) - 1}")
    with opened(url) as store:
        store.append([score("ana", "a2", shown=BESIDE)])
        assert [row.event for row in store.log_rows()][:1] == before
        assert [event.shown for event in kept(store)] == [None, BESIDE]
        assert verify_log(store).breaks == []
        with store._open_connection() as connection:
            assert connection.exec_driver_sql("SELECT version FROM score_schema").scalar() == len(SCHEMA_STEPS)
        with pytest.raises(DataError, match="a different event"):
            store.append([msgspec.structs.replace(kept(store)[1], shown=HELD)])


def desk_with_an_answer(reply: str = SAID) -> tuple[Desk, str]:
    """A desk on one answer, and its digest."""
    make_answers(reply, annotations=SECTIONS)
    desk = desk_here()
    (answer,) = digests(desk)
    return desk, answer


def sent(page: Page, typed_: str, shown: Any) -> dict[str, Any]:
    """What the browser sends of the answer on screen."""
    turn = page.components()["turn"]
    return {"id": turn["id"], "typed": typed_, "note": "", "seconds": 1, "revision": 1, "shown": shown}


def test_what_was_shown_is_kept() -> None:
    """In the draft, in the score, in the draft that an undo leaves, and in the score after that."""
    desk, answer = desk_with_an_answer()
    assert not is_suggestion_withheld(answer, "reference")
    page = Page("scoring", desk)
    said = {"nearest": True, "grey": False, "evidence": ["reference", "madness"], "suggestion": ["reference"]}
    page.tell("turn", "draft", sent(page, "1....", said))
    draft = desk.store.draft("edsger", answer)
    assert draft is not None
    assert draft.shown == BESIDE
    page = Page("scoring", desk)
    assert page.components()["turn"]["draft"]["shown"] == {
        "nearest": True, "evidence": ["reference"], "suggestion": ["reference"],
    }  # fmt: skip
    page.tell("turn", "act", sent(page, "11111", said) | {"act": "save", "number": 1})
    (event,) = kept(desk.store)
    assert (event.shown, event.suggested) == (BESIDE, {"reference": 1.0})
    desk.queue.undo_last_action("edsger")
    again = desk.store.draft("edsger", answer)
    assert again is not None
    assert again.shown == BESIDE


def test_a_suggestion_that_nobody_came_to() -> None:
    """It is none of the score; a browser that says nothing, or nonsense, makes nothing up."""
    desk, _ = desk_with_an_answer()
    page = Page("scoring", desk)
    nonsense = sent(page, "11111", {"nearest": "perhaps"}) | {"act": "save", "number": 1}
    page.tell("turn", "act", nonsense)
    assert kept(desk.store) == []
    page = Page("scoring", desk)
    silent = sent(page, "11111", {}) | {"act": "save", "number": 2}
    page.tell("turn", "act", silent)
    (event,) = kept(desk.store)
    assert (event.shown, event.suggested) == (ScreenContents(), {})


def test_what_is_held_back_is_kept() -> None:
    """The value that would have been suggested is in the record, and nowhere on screen."""
    replies = (f"{SAID} {'Truly. ' * n}" for n in range(40))
    for reply in replies:
        desk, answer = desk_with_an_answer(reply)
        if is_suggestion_withheld(answer, "reference"):
            break
    page = Page("scoring", desk)
    shown = page.components()["answer"]
    assert (shown["suggestion"], shown["reason"], shown["withheld"]) == ({}, "", ["reference"])
    said = {"nearest": False, "grey": False, "evidence": [], "suggestion": ["reference"]}
    page.tell("turn", "act", sent(page, "11111", said) | {"act": "save", "number": 1})
    (event,) = kept(desk.store)
    assert (event.shown, event.suggested) == (ScreenContents(withheld={"reference": 1.0}), {})


def scores(answers: int, *, held: bool, keys: str = "11111", **more: Any) -> list[Event]:
    """A score of each of so many answers, all beside a suggestion of 1 for reference or without."""
    return [
        score("ana", f"{held} {n}", values=typed(keys if n % 2 else "11112"), **_screen(held=held), **more)
        for n in range(answers)
    ]


def _screen(*, held: bool) -> dict[str, Any]:
    return {"shown": HELD, "suggested": {}} if held else {"shown": BESIDE, "suggested": {"reference": 1.0}}


def test_with_and_without() -> None:
    """The difference of the means, with an interval, from answers with and without; none below ten on a side."""
    some = [*scores(20, held=False), *scores(12, held=True, keys="11113")]
    (metric,) = (found := measure_suggestion_effects(some, PAPER))
    one = found[metric]
    assert (metric, one.shown, one.withheld) == ("reference", 20, 12)
    assert (one.with_it, one.without, one.as_suggested, one.as_withheld) == (0.75, -0.25, 0.5, 0.0)
    assert one.difference == 1.0
    assert one.interval is not None
    assert one.interval[0] < 1.0 < one.interval[1]
    # By SciPy: ttest_ind([1, .5] * 10, [-1, .5] * 6, equal_var=False).confidence_interval()
    assert one.interval == pytest.approx((0.4936, 1.5064), abs=1e-4)
    few = measure_suggestion_effects([*scores(20, held=False), *scores(LEAST_ANSWERS - 1, held=True)], PAPER)[
        "reference"
    ]
    assert (few.difference, few.interval, few.withheld) == (None, None, LEAST_ANSWERS - 1)
    assert measure_suggestion_effects([score("ana", "a1")], PAPER) == {}, "nothing is known of what was on screen"
    assert measure_suggestion_effects(scores(20, held=True, independent=False), PAPER) == {}


def test_with_and_without_on_page_and_in_report() -> None:
    """Agreement and report have a line for each metric with a suggestion, and none before there is one."""
    desk, answer = desk_with_an_answer()
    given: dict[str, Any] = {"note": "", "seconds": 1.0}
    assert "suggested" not in genaipa.report().tables
    for who, id_ in (("Anna", "one"), ("Bo", "two")):
        assert "agreement suggested" not in Page("agreement", desk).components()
        desk.queue.save_score(who, answer, typed("11111"), id=id_, suggested={"reference": 1.0}, shown=BESIDE, **given)
    page = Page("agreement", desk)
    assert page.rows("agreement suggested") == [["reference", "1.00", "-", "-", "-", "100%", "-", "1 and 0"]]
    table = genaipa.report().tables["suggested"].data
    assert table[["metric", "with", "answers_with", "answers_without"]].to_numpy().tolist() == [["reference", 1, 1, 0]]
    assert not tabulate_suggestion_effects([score("ana", "a1")], PAPER)
    assert METRICS[-1] == "reference"
