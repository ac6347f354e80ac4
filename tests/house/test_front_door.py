"""`import genaipa`: the names that a notebook needs, imported when they are used, each with an example that holds."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import importlib
import inspect
import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import make_workspace, write
from source import PACKAGES
from stores import score
from test_imports import TOO_HEAVY

import genaipa as front
from genaipa.datasets import base as datasets
from genaipa.execution.limits import RunLimits
from genaipa.execution.notebook import RunOptions
from genaipa.kinds import DEFAULT, load_first_plan_option_by_name
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_or_create_store
from genaipa.systems.base import Readiness, Reply
from genaipa.tasks.request import RunRequest
from genaipa_suites.plan import suite_class_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    from genaipa.runs.records import Record
    from genaipa.runs.status import AnswerTally

NAMES = [
    *("GenaipaError", "Observer", "Run", "Workspace", "add_document", "compare", "find_workspace", "import_scores"),
    *("judge", "list_documents", "list_question_sets", "list_runs", "list_suites", "load_answers"),
    *("load_document", "load_question_set", "load_run", "pull", "report", "run", "run_async", "sample", "scores"),
]


def test_the_public_names_are_these() -> None:
    """What is public is pinned, is what `dir` shows, and is importable; another name is an AttributeError."""
    assert front.__all__ == NAMES == sorted(NAMES)
    assert dir(front) == sorted([*NAMES, "__version__"])
    for name in NAMES:
        assert getattr(front, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'rnu'"):
        _ = front.rnu


def test_type_checkers_see_what_is_imported() -> None:
    """What the module imports for type checkers and IDEs is name by name what it imports when it is used."""
    tree = ast.parse(Path(front.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports if node.col_offset == 4 for alias in node.names}
    for name in NAMES:
        assert getattr(front, name) is getattr(importlib.import_module(seen[name]), name), name


def test_importing_it_imports_nothing_else() -> None:
    """Not even the command line: a name brings what it needs when it is first used."""
    probe = "import sys, genaipa; print(*sys.modules); genaipa.GenaipaError; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    before, after = (set(line.split()) for line in done.stdout.splitlines())
    assert {name for name in before if name.startswith("genaipa")} == {"genaipa"}
    assert {name.partition(".")[0] for name in after} & {*TOO_HEAVY, "typer", "rich"} == set()
    assert "genaipa.errors" in after


def test_options_are_those_of_a_request_and_its_limits() -> None:
    """Whatever the command line can ask for, `run` can too, by the same names."""
    known = {*RunRequest.__struct_fields__, *(field.name for field in fields(RunLimits))}
    known |= {name for name, option in load_first_plan_option_by_name().items() if option.kind == DEFAULT}
    assert set(RunOptions.__annotations__) == known - {"systems", "documents", "kind"}


def test_every_option_is_in_the_signature_and_a_wrong_one_is_a_sentence() -> None:
    """A notebook completes the options' names; what can't be is a UsageError that names the option."""
    assert RunOptions.__annotations__.keys() <= inspect.signature(front.run).parameters.keys()
    for given, said in (
        ({"max_cost": "five"}, "max_cost: expected a number"),
        ({"repetitions": "twice"}, "repetitions: expected a whole number"),
        ({"systems": 3}, "give each system as a name"),
        ({"documents": 4}, "give documents as names"),
        ({"max_costs": 5}, "max_cost"),
        ({"shots": 2}, "shots is an option of suites"),
    ):
        with pytest.raises(front.GenaipaError, match=said):
            front.run(**({"systems": "extractive", "documents": "brindlecart"} | given))


def test_scores_come_from_a_frame_or_not_at_all() -> None:
    """A frame is read as a file is; with anything wrong, nothing is taken and all of it is said."""
    run = front.run("extractive", "brindlecart", experiment="quality", limit=3)
    table = run.to_frame()[["digest"]].assign(relevance=1, accuracy=0.5, clarity=1, completeness=-1, reference=None)
    table.loc[0, "accuracy"] = 7
    with pytest.raises(front.GenaipaError, match=r"nothing was imported.*row 2, accuracy.*reference"):
        front.import_scores(table.astype(object), analyst="Ada")
    assert front.scores(run).empty
    assert front.import_scores(table.assign(accuracy=1, reference=1), analyst="Ada").added == len(table)
    assert list(front.scores(run)["completeness"]) == [-1.0] * len(table)


ROWS = "<tr><th>Data</th><th>Kept</th></tr><tr><td>Logs</td><td>90 days</td></tr>"
PAGE = f"<h1>ACME</h1><p>{'We keep very little about you. ' * 8}</p><table>{ROWS}</table>"


def test_a_document_is_added_as_the_command_adds_it(genaipa: Callable[..., Finished]) -> None:
    """The same document, file and refusals; nothing is written where one is refused."""

    def refused(**changes: str) -> str:
        given = {"source": "acme.html", "name": "acme", "company": "ACME"} | changes
        with pytest.raises(front.GenaipaError) as caught:
            front.add_document(**given)
        done = genaipa("policies", "add", given.pop("source"), *(f"--{name}={text}" for name, text in given.items()))
        assert done.err.strip() == f"genaipa: {caught.value}"
        return str(caught.value)

    write("acme.html", f"<html><body>{PAGE}</body></html>")
    assert "documents can only be added to a workspace, and this folder is not in one;" in refused()
    write("genaipa.toml", "")
    assert "known: policy, regulation" in refused(kind="law")
    assert "the company name is blank" in refused(company=" ")
    assert "nothing.html" in refused(source="nothing.html")
    assert not Path("policies").exists()
    held: list[str] = []
    policy = front.add_document(Path("acme.html"), name="acme", company="ACME", title="Our words", tell=held.append)
    assert (policy.company, policy.about.title, held) == ("ACME", "Our words", ["1 table in the page, all in the text"])
    assert "| Logs |" in policy.text
    assert front.load_document("acme") == policy
    assert "exists already" in refused()
    write("acme.txt", "We keep nothing.")
    assert front.add_document("acme.txt", name="acme", company="ACME", force=True).text.strip() == "We keep nothing."


def test_a_sample_is_that_of_the_command(genaipa: Callable[..., Finished]) -> None:
    """It is drawn once: the command shows the same groups, and the same refusals; a larger one adds to it."""
    make_workspace(questions=12)
    with pytest.raises(front.GenaipaError, match="there are no answers to draw from") as caught:
        front.sample()
    assert genaipa("sample").err.strip() == f"genaipa: {caught.value}"
    run = front.run("extractive", "acme", initializations="document")
    assert not front.sample(run).waves
    found = front.sample(run, size=4)
    assert (found.size, found.unscored, found.frame["wave"].to_list()) == (4, 4, [4])
    shown = genaipa("sample", "--json")
    assert json.loads(shown.out) == found.frame.to_dict("records")
    assert front.sample(run, size=6).waves.all_wave_digest_prefixes > found.waves.all_wave_digest_prefixes
    assert front.sample(run, size=2).notes[1].startswith("A random part never shrinks")
    with pytest.raises(front.GenaipaError, match="size 0: must be 1 or more"):
        front.sample(run, size=0)
    with pytest.raises(front.GenaipaError, match="no document of these runs has a column 'sector'"):
        front.sample(run, size=2, stratify="sector")


def test_every_suite_is_listed() -> None:
    """A row for each that can be asked, of which no cell is blank but the measures of one that joins others."""
    table = front.list_suites().set_index("suite")
    assert set(table.index) == set(suite_class_paths())
    assert table.drop(index="privacyglue").astype(bool).all(axis=None)
    assert table.loc["policyqa", "splits"] == "test, dev, train"
    assert set(", ".join(table["data"]).split(", ")) - {"ships"} <= set(datasets.dataset_names())


def score_all(run: front.Run, values: str) -> None:
    """Ada scores all answers of a run alike."""
    given = load_rubric(run.workspace).parse_digits(values)
    with contextlib.closing(open_or_create_store(run.workspace)) as store:
        store.append_new_events([score("Ada", record.digest, given) for record in run.answers()])


@pytest.mark.full
def test_every_example_holds(demo: tuple[Path, Finished], capsys: pytest.CaptureFixture[str]) -> None:
    """The example in each public docstring gives what it says, in a workspace with the demo."""
    shutil.copytree(demo[0], Path.cwd(), dirs_exist_ok=True)
    Path("genaipa.toml").touch()
    Path("my-study").mkdir()
    shutil.copy(Path(__file__).parents[2] / "docs" / "example_judge.py", ".")
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    names = {"genaipa": front, "asyncio": asyncio}
    # Once there is a second run, that is listed as well; and further scores are in all averages.
    order = {"list_runs": 0, "add_document": 2, "import_scores": 2, "judge": 2, "sample": 2}
    for name in sorted(front.__all__, key=lambda name: order.get(name, 1)):
        finder = doctest.DocTestFinder(recurse=False)
        (example,) = finder.find(getattr(front, name), name, module=False, globs=names)
        assert example.examples, name
        runner.run(example)
    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out


@pytest.mark.full
def test_examples_behind_the_door_hold(demo: tuple[Path, Finished], capsys: pytest.CaptureFixture[str]) -> None:
    """The examples of all other functions call what there is, and give what they say."""
    shutil.copytree(demo[0], Path.cwd(), dirs_exist_ok=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    public = {getattr(front, name) for name in front.__all__}
    for package in PACKAGES:
        for found in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            source = importlib.util.find_spec(found.name)
            if source is None or source.origin is None or ">>>" not in Path(source.origin).read_text(encoding="utf-8"):
                continue
            module = importlib.import_module(found.name)
            for example in doctest.DocTestFinder(exclude_empty=True).find(module):
                if not any(example.name.endswith(f".{each.__name__}") for each in public if hasattr(each, "__name__")):
                    runner.run(example)
    assert runner.summarize(verbose=False).failed == 0, capsys.readouterr().out


class Heard(front.Observer):
    """Keeps the records that it hears of, and interrupts the process after so many."""

    def __init__(self, most: int = 1000) -> None:
        self.records: list[Record] = []
        self.most = most

    def on_record_saved(self, record: Record, tally: AnswerTally) -> None:
        """Keep it."""
        self.records.append(record)
        if len(self.records) == self.most:
            os.kill(os.getpid(), signal.SIGINT)


class Silent:
    """An assistant of one's own, as a notebook has it."""

    name = "silent"

    async def start(self) -> Readiness:
        """Nothing is needed."""
        return Readiness()

    async def reply(self, messages: object, settings: object) -> Reply:
        """Say always the same."""
        return Reply("The document does not say.")

    async def count_tokens(self, text: str) -> None:
        """It has no tokens."""

    async def close(self) -> None:
        """Nothing to let go."""


def test_a_run_in_a_loop_and_in_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` works in a script and where a loop runs already, as in Jupyter; names, objects and classes name things."""
    make_workspace(questions=3, documents=("acme", "other"))
    heard = Heard()
    plan = {"initializations": "document", "questions": front.load_question_set("policy"), "observer": heard}

    async def notebook() -> front.Run:
        return front.run([Silent, "extractive"], front.load_document("acme"), limit=(2, 3), **plan)

    run = asyncio.run(notebook())
    assert {record.key for record in heard.records} == {record.key for record in run.answers()}
    spec = run.manifest.spec
    assert (spec.systems, spec.plan.documents) == ((f"{__name__}:Silent", "extractive"), ("acme",))
    assert spec.plan.limit == (2, 3)
    assert {record.reply for record in run.answers() if "Silent" in record.system} == {"The document does not say."}
    again = front.run([Silent, "extractive"], "acme", limit=(2, 3), **plan)
    assert (again.path, len(heard.records)) == (run.path, 4)
    assert (
        front.run("extractive", ["acme", "other"], limit=1, initializations=["document"], new=True).status == "complete"
    )


def test_what_stops_a_notebook_stops_its_run() -> None:
    """An interrupted run leaves a manifest that is true, and goes on where it stopped."""
    make_workspace(questions=4)
    # The third reply leaves a busy machine the time to stop; when the run goes on, only two are left.
    write("slow.yaml", "rules: [{match: '', reply: We do., times: 2}, {match: '', reply: We do., delay: 60}]")

    async def notebook() -> None:
        front.run("scripted/slow.yaml", "acme", initializations="document", observer=Heard(most=2))

    with contextlib.closing(asyncio.new_event_loop()) as loop, pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(notebook())
    run = front.load_run()
    assert run.status == "interrupted"
    assert len(run.answers()) == 2
    assert front.run("scripted/slow.yaml", "acme", initializations="document").path == run.path
    assert (run.status, len(run.answers())) == ("complete", 4)


def test_failures_are_kept_apart() -> None:
    """A failure is no answer; a frame has both, and what came of each."""
    make_workspace(questions=2)
    write("replies.yaml", "rules: [{match: 'Question 1', fail: permanent}]\ndefault: We do.")
    run = front.run("scripted/replies.yaml", "acme", initializations="document", conversation="independent")
    assert (run.status, len(run.answers()), len(run.failures())) == ("partial", 1, 1)
    frame = run.to_frame().set_index("question")
    assert frame["status"].to_dict() == {"Q1": "failed", "Q2": "answered"}
    assert frame.loc["Q1", "error"] == run.failures()[0].error.message
    assert set(frame["run"]) == {run.name}


def test_runs_bring_their_workspace() -> None:
    """Scores and reports of a run are looked for in its own workspace, wherever one is; runs of two don't mix."""
    runs = []
    for name in ("one", "two"):
        Path(name).mkdir()
        Path(name, "genaipa.toml").touch()
        runs.append(front.run("extractive", "vpda", experiment="regulation", limit=1, workspace=name))
        score_all(runs[-1], "11111")
    assert front.scores(runs[0])["run"].unique().tolist() == [runs[0].name]
    report = front.report(runs[1], "out")
    assert Path("out/index.html").is_file()
    assert report.main_table is not None
    assert report.main_table._repr_html_().startswith("<table")
    assert all(figure._repr_png_().startswith(b"\x89PNG") for figure in report.figures.values())
    with pytest.raises(front.GenaipaError, match="several workspaces"):
        front.scores(runs)
