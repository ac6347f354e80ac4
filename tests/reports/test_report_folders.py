"""Where a report goes: no report takes the place of another, nor its files that of somebody else's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import carry_out, make_workspace, spec, write

from genaipa.answers.gather import gather_study
from genaipa.answers.study import Study
from genaipa.errors import UsageError
from genaipa.reports.report import Report
from genaipa.reports.writing import choose_report_folder, read_report_selection
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]


def some_report() -> Study:
    """What a report on a small run is made of."""
    make_workspace(questions=1)
    carry_out(spec(systems=("extractive",)))
    return gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), None)


def test_a_report_on_something_else_gets_a_folder_of_its_own() -> None:
    """A folder is named after all that was asked for; one that another report took is left as it is."""
    nothing = some_report()
    workspace = find_workspace()
    both = choose_report_folder(workspace, ("a/one", "b/two"))
    assert both.name == "a-one+b-two"
    assert choose_report_folder(workspace, ("a/one",)).name == "a-one"
    assert choose_report_folder(workspace, ()).name == "all"
    assert len(choose_report_folder(workspace, tuple(f"host/{'long' * 20}-{n}" for n in range(9))).name) <= 100
    Report.build(nothing, selection=("a/one", "b/two")).write(both, formats=())
    assert choose_report_folder(workspace, ("b/two", "a/one")).name == "b-two+a-one"
    assert choose_report_folder(workspace, ("a/one", "b/two")) == both
    # Another name that is written the same.
    assert choose_report_folder(workspace, ("a-one", "b-two")).name == "a-one+b-two-2"
    assert read_report_selection(both) == ["a/one", "b/two"]


def test_a_folder_of_somebody_else_is_refused() -> None:
    """A folder with files and no report is left as it is; one with hidden files only is as good as empty."""
    write("docs/guide.md", "mine")
    nothing = some_report()
    with pytest.raises(
        UsageError, match=r"guide\.md already exists and does not belong to an earlier report; name another"
    ):
        Report.build(nothing).write(Path("docs"), formats=())
    assert [path.name for path in Path("docs").iterdir()] == ["guide.md"]
    write("hidden/.gitignore", "*")
    said: list[str] = []
    assert Report.build(nothing).write(Path("hidden"), formats=(), tell=said.append).is_file()
    assert said[-1].endswith("tables and the page")


@pytest.mark.full
def test_the_page_is_opened_and_a_replaced_report_is_named(
    genaipa: Cli, genaipa_process: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--open hands the page to the browser; with -o, a report on something else is replaced and said to be."""
    make_workspace(questions=1)
    carry_out(spec(systems=("extractive",)))
    write("browser.py", "import sys, pathlib\npathlib.Path('opened.txt').write_text(sys.argv[1])\n")
    monkeypatch.setenv("BROWSER", f"{sys.executable} browser.py %s")
    first = genaipa_process("report", "extractive", "--formats", "svg", "-o", "out", "--open")
    assert first.code == 0, first.err
    assert Path("opened.txt").read_text() == (Path.cwd() / "out/index.html").as_uri()
    again = genaipa("report", "--formats", "svg", "-o", "out")
    assert "The report on extractive in out was replaced." in again.err


@pytest.mark.parametrize("place", ["policies", "./questions", "policies/new", "runs", "runs/mine"])
def test_a_folder_of_the_workspace_s_data_is_refused(place: str) -> None:
    """What is written among policies or runs would be taken for one; a folder within a run is free."""
    make_workspace(questions=1)
    workspace = find_workspace()
    with pytest.raises(
        UsageError, match=r"is for the (policies|questions|runs) of the workspace; choose another folder"
    ):
        workspace.check_output_outside_data(Path(place))
    workspace.check_output_outside_data(Path("reports/policies"))
    workspace.check_output_outside_data(Path("runs/mine/report"))
    workspace.check_output_outside_data(None)


@pytest.mark.parametrize(
    "command",
    [
        ("report",),
        ("judges",),
        ("compare", "extractive", "extractive"),
        ("export", "huggingface"),
        ("artifact",),
    ],
)
def test_every_command_that_writes_a_folder_refuses_it(genaipa: Cli, command: tuple[str, ...]) -> None:
    """Report, judges, compare, export and artifact say so before they read a run."""
    make_workspace(questions=1)
    carry_out(spec(systems=("extractive",)))
    done = genaipa(*command, "-o", "corrections")
    assert (done.code, "corrections is for the corrections of the workspace" in done.err) == (2, True), done.err
    assert not Path("corrections").exists()
