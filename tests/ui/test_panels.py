"""Panels at the desk come from packages: a stranger's is shown, and without ours points are still there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from analysts import arrive, kept_events, make_answers
from copies import break_packages, copy_genaipa, interpreter
from desk import browsing, open_desk
from judges import pointed, script
from pages import Shown, desk_here
from running import write

from genaipa.plugins import ships_with_genaipa
from genaipa.scoring.assignment import ScoringPlan
from genaipa.ui.panel import load_panels_enabled_by_plan
from genaipa.ui.widgets import read_component_script_and_style

if TYPE_CHECKING:
    from collections.abc import Iterator

# One that shows a line beside the answer, and one without a script.
COUNTER = """
import streamlit as st
from genaipa.ui.panel import Panel

class Counter(Panel):
    script = "counter.js"

    def make_script_data(self, case, rubric, scores=()):
        return {"words": len(case.reply.split()), "given": len(scores)}

    def show_score_comparison(self, case, scores, key):
        st.caption(f"counted beside {len(scores)} scores")

class Mute(Panel):
    def make_script_data(self, case, rubric, scores=()):
        return {}

COUNTER, MUTE = Counter(), Mute()
"""
SCRIPT = """
const UNIT = "words";
PANELS.counter = class extends Panel {
  get title() { return "Count"; }
  draw() { return [make("p", { class: "count" }, `${this.data.words} ${UNIT}`)]; }
};
"""
POINTS = """  Q1:
    silent: no
    answer: For a year.
    sections: ["3"]
    points: [{id: kept, text: It is kept for a year., sections: ["3"]}]
"""


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that brings a panel, as pip would have installed it."""
    make_answers("They keep it for a year, or so.", annotations=POINTS)
    write("counter/__init__.py", "")
    write("counter/panel.py", COUNTER)
    write("counter/counter.js", SCRIPT)
    write("counter/counter.css", ".count { margin: 0; }")
    write("counter-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: counter\nVersion: 1\n")
    write(
        "counter-1.dist-info/entry_points.txt",
        "[genaipa.panels]\ncounter = counter.panel:COUNTER\nmute = counter.panel:MUTE\n",
    )
    monkeypatch.syspath_prepend(Path.cwd())
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()), prepend=os.pathsep)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "counter"]:
        del sys.modules[name]


@pytest.mark.usefixtures("counter")
def test_a_panel_of_somebody_elses() -> None:
    """Its data come with the answer, at the adjudication with the scores; its script and style with the pad's."""
    desk = desk_here()
    assert Shown("scoring", desk).components()["answer"]["panels"] == {"counter": {"words": 8, "given": 0}, "mute": {}}
    script, style = read_component_script_and_style("pad")
    assert script.index("PANELS.counter") < script.index("class Pad ")
    assert ".count { margin: 0; }" in style
    assert [
        ships_with_genaipa(f"{package}.panel") for package in ("genaipa_points", "counter", "genaipa_of_others")
    ] == [
        True,
        False,
        False,
    ]


@pytest.mark.full
@pytest.mark.usefixtures("counter")
def test_its_line_is_beside_the_answer() -> None:
    """Beside ours, whose points are ticked as ever."""
    with browsing() as browser, open_desk("--per-answer", "1", "--points") as desk:
        anna = arrive(browser, desk, "Anna")
        assert anna.wait().typed == "....."
        beside = anna.page.locator(".panel")
        assert [one.get_attribute("aria-label") for one in beside.all()] == ["Count", "Points"]
        assert beside.first.inner_text() == "8 words"
        anna.keys("c")
        assert anna.page.locator(".points li.said").count() == 1


def test_a_plan_turns_a_panel_on() -> None:
    """Points are on where the plan asks for ticks; a panel that says nothing of it is always on."""
    assert [*load_panels_enabled_by_plan()] == ["points"]
    assert [[*load_panels_enabled_by_plan(ScoringPlan(points=points))] for points in (True, False)] == [["points"], []]


DESK = """
from pages import Shown, desk_here
desk = desk_here(points=True)
page = Shown("scoring", desk)
told = page.components()["turn"]
print(page.components()["answer"]["panels"])
typing = {"typed": "11111", "note": "", "seconds": 1}
page.tell("turn", "act", {"act": "save", "id": told["id"], "number": 1, **typing})
print([event.ticks for event in desk.queue.current_scores_and_pace("edsger").scores])
"""


@pytest.mark.full
def test_points_without_their_package(tmp_path: Path) -> None:
    """Without it nobody ticks at the desk; judges are asked of points as ever, and what they tick is kept."""
    copy = copy_genaipa(tmp_path / "copy")
    break_packages(copy)
    make_answers("It is kept for a year.", annotations=POINTS)
    judge = script("judge.yaml", {"match": "each of these points", "reply": pointed({"kept": "yes"})}, default="none")
    with interpreter(copy) as genaipa:
        assert genaipa.execute(DESK) == "{}\n[None]\n"
        done = genaipa("judge", "latest", "--judge", judge, "--passes", "1")
        assert done.code == 0, done.err
    (ticks,) = [event.ticks for event in kept_events() if event.scorer == "machine"]
    assert ticks is not None
    assert ticks.said == ("kept",)
