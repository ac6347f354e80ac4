"""Kinds of tasks come from packages: the core works without ours, and with a stranger's."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from copies import break_packages, copy_genaipa, interpreter
from running import write

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

RIDDLES = """
from typing import Annotated
import pandas as pd
from genaipa.datasets.base import Pulled
from genaipa.errors import UsageError
from genaipa.kinds import TaskKind, Plan, RunClosing, make_plan_option
from genaipa.reports.chapters.chapter import Chapter
from genaipa.reports.chapters.chapter import ResultsComparison
from genaipa.reports.table import make_table
from genaipa.systems.base import Message
from genaipa.tasks.base import Call, PredictionAndScore, Task

class RiddlesPlan(Plan, frozen=True):
    riddles: Annotated[int, make_plan_option("Riddles to ask.")] = 2

    @property
    def label(self):
        return f"{self.riddles} riddles"

    def run_table_facts(self, task):
        return {"riddles": str(self.riddles)}


class RiddlesKind(TaskKind):
    plan = RiddlesPlan
    heading = page = "Riddles"

    def make_task_for_spec(self, spec, workspace):
        return Riddles(spec, workspace)

    def load_results_class(self):
        return Results

    def closing_lines_and_facts(self, workspace, folder):
        return RunClosing(["Riddles were asked."], {"riddles": 1})

    def data_sets(self):
        return {Book.name: Book()}

    def show_page(self, desk, user):
        import streamlit as st

        st.text(f"riddles for {user.name}")


KIND = RiddlesKind()


class Riddles(Task):
    def dialogues(self, target):
        for number in range(self.spec.plan.riddles):
            yield self.one(number)

    def one(self, number):
        yield Call({"riddle": str(number)}, [Message("user", f"What is {number} and {number}?")])

    def read_reply(self, call, reply):
        return PredictionAndScore(reply, float(reply == "0"))


class Results:
    name = "riddles"

    def __init__(self, workspace, sources):
        self.problems = []
        self.scores = [(one.system, one.score) for source in sources for one in source.folder.read_records()]

    notable, facts = ["Riddles are for fun."], [("Riddles", "some")]

    def chapters(self, gathered):
        return [Chapter("riddles", "Riddles", "Who solves them.", [self.leaderboard(gathered)])]

    def leaderboard(self, gathered):
        frame = pd.DataFrame(self.scores, columns=["system", "solved"]).groupby("system", as_index=False).sum()
        return make_table("riddles", "Riddles solved", "All of them.", frame, ["system", "solved"])

    @classmethod
    def compare_systems(cls, workspace, first, second):
        made = cls(workspace, []).leaderboard(None)
        return ResultsComparison(made, made, [])


class Book:
    name, title, terms = "riddle-book", "A book of riddles", "Free."
    documents = question_sets = systems = ()

    def is_pulled(self):
        return False

    def pull(self, *, origin, offline, progress=None):
        return Pulled(__import__("pathlib").Path(), 1, 0)

    def import_study(self, workspace):
        raise UsageError("A book has no runs.")

"""
# What the desk shows under the page's address.
OPENED = """
import os
from pathlib import Path
from genaipa.ui import signin
from genaipa.ui.settings import DeskSettings
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

os.environ |= DeskSettings(Path.cwd()).to_environment()
test = AppTest.from_file(Path(signin.__file__).parent / "script" / "app.py", default_timeout=60)
test._bidi_component_manager = BidiComponentManager()
test.session_state[signin._NAME] = "Ada"
test._page_hash = calc_hash("riddles")
test.run()
print(*[error.value for error in test.exception], *[text.value for text in test.text], sep="\\n")
"""


@pytest.fixture
def riddles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings a kind of task, as pip would have installed it."""
    write("riddles.py", RIDDLES)
    write("riddles-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: riddles\nVersion: 1\n")
    write("riddles-1.dist-info/entry_points.txt", "[genaipa.kinds]\nriddles = riddles:KIND\n")
    write("say.yaml", 'rules: [{match: "0 and 0", reply: "0"}]\ndefault: "42"\n')
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()), prepend=os.pathsep)


@pytest.mark.full
@pytest.mark.usefixtures("riddles")
def test_a_kind_of_somebody_elses() -> None:
    """Whatever lists options, asks, sums up, lists, ranks, reports, gets data or shows pages has a part for it."""
    with interpreter(Path.cwd()) as genaipa:
        assert "\nRiddles:\n  --riddles N  Riddles to ask.  [default: 2]\n" in genaipa("run", "--help-all").out
        asked = ("run", "-s", "scripted/say.yaml", "--task", "riddles")
        done = genaipa(*asked, "--riddles", "3")
        assert (done.code, "Riddles were asked." in done.out) == (0, True), done.err
        again = json.loads(genaipa(*asked, "--riddles", "3", "--json").out)
        assert (again["status"], again["riddles"]) == ("complete", 1)
        other = genaipa("run", "-s", "extractive", "-p", "brindlecart", "--riddles", "3")
        assert (other.code, "--riddles is an option of" in other.err) == (2, True), other.err
        assert "3 riddles" in genaipa("runs").out
        ranked = json.loads(genaipa("leaderboard", "--json").out)["riddles"]["rows"]
        assert ranked == [{"system": "scripted/say.yaml", "solved": 1.0}]
        assert genaipa("report", "latest", "-o", "made").code == 0
        page = Path("made/index.html").read_text(encoding="utf-8")
        assert all(said in page for said in ("Who solves them.", "Riddles are for fun."))
        assert "A book of riddles: 1 file fetched" in genaipa("get", "riddle-book").out
        assert "riddles for Ada\n" in genaipa.execute(OPENED)


@pytest.mark.full
def test_the_core_works_without_ours(tmp_path: Path) -> None:
    """In a copy without the packages beside it everything of the paper's evaluator goes on, and says what is gone."""
    copy = copy_genaipa(tmp_path / "copy")
    break_packages(copy)
    with interpreter(copy) as genaipa:
        refused = genaipa("run", "--suite", "policyqa", "-s", "extractive")
        assert (refused.code, "'--suite'; no longer installed" in refused.err) == (2, True), refused.err
        plan = ("run", "-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "3")
        Path("shops.jsonl").write_text('{"name": "shop", "company": "Shop", "text": "We collect your name."}\n')
        refused = genaipa("run", "-s", "extractive", "--documents", "shops.jsonl", "--slices", "2", "--on", "ray:2")
        assert (refused.code, "'ray' is no longer installed; use local:4" in refused.err) == (1, True), refused.err
        for words in (
            *(plan, ("judges",), ("sample", "latest"), ("doctor",)),
            *(("systems",), ("validate",), ("score", "--help"), ("judge", "--help"), ("policies",), ("get", "--help")),
            ("demo",),  # it reports, too, and ends with the leaderboard
        ):
            done = genaipa(*words)
            assert done.code == 0, (words, done.err)


def test_a_run_of_a_kind_that_is_gone_is_in_nobodys_way(genaipa: Cli) -> None:
    """It is listed, left out of what is about others, and can't go on; a plan that is no plan of its kind is damage."""
    of_paper = ("-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "1")
    assert genaipa("run", *of_paper, "--name", "whole").code == 0
    asked = ("run", "-s", "baseline/ceiling", "--suite", "policyqa", "--split", "sample")
    assert genaipa(*asked, "--name", "gone").code == 0
    (run,) = Path("runs").glob("*-gone")
    whole = (run / "manifest.json").read_text(encoding="utf-8")

    def changed(old: str, new: str) -> None:
        assert old in whole
        for path in (run / "manifest.json", run / ".manifest.json"):
            path.write_text(re.sub(r',\s*"sum": "\w+"', "", whole.replace(old, new)), encoding="utf-8")

    changed('"kind": "suite"', '"kind": "riddles"')
    assert "gone" in genaipa("runs").out
    assert genaipa("report").code == genaipa("leaderboard").code == 0
    refused = genaipa("run", "--resume", "gone")
    assert (refused.code, "the kind of task 'riddles' is not installed" in refused.err) == (1, True), refused.err
    changed('"split": "sample"', '"split": 3')
    damaged = json.loads(genaipa("validate", "--json").out)
    assert "is damaged (its plan: Expected `str`, got `int`" in str(damaged)
