"""The answer after the one on screen, as the Score page sends it ahead: the one that comes, and blind."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("streamlit", reason="needs the extra desk")

from pages import Shown, desk_here, digests, make_desk, score


@pytest.fixture
def page() -> Shown:
    """The Score page with the first of four answers."""
    make_desk()
    return Shown("scoring", desk_here(per_answer=1))


def act(page: Shown, what: str, number: int = 1, **more: Any) -> dict[str, Any]:
    """Score, skip or go back; the turn that is on screen then."""
    typing = {"typed": "11111", "note": "", "seconds": 1, "revision": 1}
    page.tell("turn", "act", {"act": what, "id": page.components()["turn"]["id"], "number": number, **typing, **more})
    return page.components()["turn"]


def documents(page: Shown) -> list[str]:
    """The documents that the browser has."""
    return [data["digest"] for key, data in page.components().items() if key.startswith("document")]


def test_what_was_sent_ahead_is_what_comes(page: Shown) -> None:
    """The browser has its answer and turn, as they are once it has come; its document once, where that is the same."""
    for number in range(1, 4):
        shown = page.components()
        turn, following = shown["turn"], shown["following"]["turn"]
        assert shown["following"]["answer"]["answer"] == following["of"] != turn["of"]
        assert documents(page) == [shown["answer"]["document"]]
        assert following["settled"] == turn["id"]
        assert following["progress"][0] == f"Answer {number + 1}"
        came = act(page, "save", number)
        as_sent = {name: came[name] for name in ("id", "of", "mode", "draft", "progress", "can", "pin")}
        assert as_sent == {name: following[name] for name in as_sent}
        assert page.components()["answer"] == {**shown["following"]["answer"], "part": "answer"}
    assert "following" not in page.components()


def test_no_key_changes_what_follows(page: Shown) -> None:
    """After a draft it is the same, under the same id; a skip leads to it, and a correction is followed by nothing."""
    before = page.components()
    page.tell("turn", "draft", {"id": before["turn"]["id"], "typed": "1....", "note": "", "seconds": 1, "revision": 1})
    assert page.components()["following"] == before["following"]
    assert act(page, "skip")["id"] == before["following"]["turn"]["id"]
    act(page, "save", 2)
    assert act(page, "back", 3)["mode"] == "correction"
    assert "following" not in page.components()


def test_nothing_of_what_follows_tells_whose_it_is(page: Shown) -> None:
    """What is sent ahead names no system, run or other analyst, and no value of anybody's."""
    sent = page.components()["following"]
    for trace in ("extractive", "2026", "Bo"):
        assert trace not in json.dumps(sent)


def test_somebody_else_may_have_it_by_then(page: Shown) -> None:
    """An answer that was sent ahead and scored meanwhile does not come: another does."""
    following = page.components()["following"]["turn"]
    elsewhere = desk_here(per_answer=1)
    score(elsewhere, "Bo", following["of"], "22222")
    came = act(page, "save")
    assert came["of"] != following["of"]
    assert came["id"] != following["id"]


def test_nothing_follows_a_calibration_answer(page: Shown) -> None:
    """After it comes the comparison."""
    calibrating = desk_here(per_answer=1)
    score(calibrating, "reference", digests(calibrating)[0], "22222")
    assert "following" not in Shown("scoring", desk_here(per_answer=2, calibration=1)).components()
