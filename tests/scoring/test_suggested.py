"""What a desk shows, and what chance withholds, is kept with a score."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from analysts import make_answers
from pages import Shown as Page
from pages import desk_here, digests
from stores import kept, opened, score

import genaipa
from genaipa.errors import DataError
from genaipa.scoring.aids import draw_withheld_aids, list_built_in_aids_in_plan, load_built_in_and_plugin_aids
from genaipa.scoring.databases import SCHEMA_STEPS
from genaipa.scoring.events import ScreenContents, verify_log_and_list_breaks
from genaipa.scoring.people import StudyPlan
from genaipa.ui.settings import DeskSettings
from rubrics import typed

if TYPE_CHECKING:
    from genaipa.ui.desk import Desk

SECTIONS = '  Q1: {silent: no, answer: "Your name and your address.", sections: ["1"]}\n'
SAID = "Your name and your address are collected, says section 1."
ALL_SHOWN = {"nearest": True, "evidence": True, "suggestions": True}
BESIDE = ScreenContents(nearest=True, evidence=("reference",), suggestion=("reference",), aids=ALL_SHOWN)
HELD = msgspec.structs.replace(BESIDE, suggestion=(), withheld={"reference": 1.0})


def test_older_events_are_read_and_verified(tmp_path: Path) -> None:
    """A log of before this was kept goes on: its digests hold, and an older genaipa refuses it from then on."""
    url = f"sqlite:///{tmp_path / 'scores.db'}"
    with opened(url) as store:
        store.append_new_events([score("ana", "a1")])
        before = [row.event for row in store.read_log_rows()]
        assert "shown" not in before[0]
        with store._open_transaction() as connection:
            connection.exec_driver_sql(f"UPDATE score_schema SET version = {len(SCHEMA_STEPS) - 1}")
    with opened(url) as store:
        store.append_new_events([score("ana", "a2", shown=BESIDE)])
        assert [row.event for row in store.read_log_rows()][:1] == before
        assert [event.shown for event in kept(store)] == [None, BESIDE]
        assert verify_log_and_list_breaks(store).breaks == []
        with store._open_connection() as connection:
            assert connection.exec_driver_sql("SELECT version FROM score_schema").scalar() == len(SCHEMA_STEPS)
        with pytest.raises(DataError, match="a different event"):
            store.append_new_events([msgspec.structs.replace(kept(store)[1], shown=HELD)])


def find_seed(*withheld: str, answer: str) -> int:
    """A study's seed by which these aids alone are withheld from edsger at the answer."""
    return next(
        seed
        for seed in count()
        if draw_withheld_aids(load_built_in_and_plugin_aids(), seed=seed, answer_digest=answer, analyst="edsger")
        == {*withheld}
    )


def desk_with_an_answer(*withheld: str) -> tuple[Desk, str]:
    """A desk on one answer that suggests values, from which these aids are withheld; and the answer's digest."""
    make_answers(SAID, annotations=SECTIONS)
    (answer,) = digests(desk_here())
    desk = desk_here(seed=find_seed(*withheld, answer=answer), suggestions=True)
    return desk, answer


def sent(page: Page, typed_: str, shown: Any) -> dict[str, Any]:
    """What the browser sends of the answer on screen."""
    turn = page.components()["turn"]
    return {"id": turn["id"], "typed": typed_, "note": "", "seconds": 1, "revision": 1, "shown": shown}


def test_what_was_shown_is_kept() -> None:
    """In the draft, in the score, in the draft that an undo leaves, and in the score after that."""
    desk, answer = desk_with_an_answer()
    page = Page("scoring", desk)
    assert page.components()["answer"]["suggestion"] == {"reference": "1"}
    assert page.components()["turn"]["draft"]["typed"] == ".....", "nothing is filled in"
    said = {"nearest": True, "grey": False, "evidence": ["reference", "madness"], "suggestion": ["reference"]}
    page.tell("turn", "draft", sent(page, "1....", said | {"aids": {"evidence": False}}))
    draft = desk.store.load_draft("edsger", answer)
    assert draft is not None
    assert draft.shown == BESIDE
    page = Page("scoring", desk)
    assert page.components()["turn"]["draft"]["shown"] == {
        "nearest": True, "evidence": ["reference"], "suggestion": ["reference"], "aids": ALL_SHOWN,
    }  # fmt: skip
    page.tell("turn", "act", sent(page, "11111", said) | {"act": "save", "number": 1})
    (event,) = kept(desk.store)
    assert (event.shown, event.suggested) == (BESIDE, {"reference": 1.0})
    desk.queue.undo_last_score_or_skip("edsger")
    again = desk.store.load_draft("edsger", answer)
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
    assert (event.shown, event.suggested) == (ScreenContents(aids=ALL_SHOWN), {})


def test_what_is_withheld_is_kept() -> None:
    """The value that would have been suggested is in the record, and nowhere on screen, before a reload and after."""
    desk, _ = desk_with_an_answer("suggestions")
    for _ in range(2):
        page = Page("scoring", desk)
        shown = page.components()["answer"]
        assert (shown["suggestion"], shown["reason"], shown["withheld"]) == ({}, "", ["reference"])
    said = {"nearest": False, "grey": False, "evidence": [], "suggestion": ["reference"]}
    page.tell("turn", "act", sent(page, "11111", said) | {"act": "save", "number": 1})
    (event,) = kept(desk.store)
    aids = ALL_SHOWN | {"suggestions": False}
    assert (event.shown, event.suggested) == (ScreenContents(withheld={"reference": 1.0}, aids=aids), {})
    report = genaipa.report()
    assert "influence" not in report.tables
    assert any("evidence lines 1 and 0; suggested values 0 and 1." in sentence for sentence in report.absent)
    assert list(genaipa.scores()[["aids_shown", "aids_withheld"]].iloc[0]) == ["evidence, nearest", "suggestions"]


def test_a_plan_turns_each_aid_on_or_off() -> None:
    """What proposes a value is off unless it is asked for."""

    def aids(**plan: bool) -> tuple[str, ...]:
        return list_built_in_aids_in_plan(DeskSettings.from_plan(Path(), StudyPlan(**plan)).plan)

    assert (aids(), aids(suggestions=True)) == (("nearest", "evidence"), ("nearest", "evidence", "suggestions"))
    assert (aids(nearest=False), aids(evidence=False)) == (("evidence",), ("nearest",))


def test_a_correction_keeps_what_was_drawn() -> None:
    """Whoever has scored an answer has read it; a score that records nothing withholds nothing when it is corrected."""
    desk, answer = desk_with_an_answer("nearest")
    given: dict[str, Any] = {"note": "", "seconds": 1.0, "suggested": {}}
    for screen, held_back, aids in (
        (None, [], {}),
        (ScreenContents(aids=ALL_SHOWN | {"evidence": False}), ["evidence lines"], ALL_SHOWN | {"evidence": False}),
    ):
        desk.queue.save_score("edsger", answer, typed("11111"), id=f"{aids}", shown=screen, **given)
        page = Page("scoring", desk)
        page.test.button[0].click()
        page.run()
        assert page.components()["answer"]["held_back"] == held_back
        page.tell("turn", "act", sent(page, "11112", {}) | {"act": "save", "number": 1})
        event = kept(desk.store)[-1]
        assert event.shown is not None
        assert (event.values["reference"], event.shown.aids) == (0.5, aids)
