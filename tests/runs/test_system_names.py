"""The names that tables print for systems are names that every command takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from servers import OpenAIServer

import genaipa as package
from genaipa.errors import UsageError
from genaipa.runs.filters import Filters
from genaipa.runs.selection import (
    find_runs_by_system_or_run_names,
    resolve_system_or_run_name,
    select_runs_and_apply_filters,
)
from genaipa.systems.provider import match_system_name_or_empty, shorten_system_names
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commandline import Finished

    Cli = Callable[..., Finished]

SYSTEMS = (
    "openai-api/lab/reader-1",
    "openai-api/far/reader-2",
    "vllm/Org/glib-8b",
    "openai-api/lab/glib-8b",
    "rag/openai-api/lab/reader-1",
    "published/bard",
    "extractive",
    "bots.own:Bot",
    "scripted/replies/kind.yaml",
)
FAR = "openai-api/far/glib-8b"


def test_a_system_is_found_by_each_name_that_is_printed() -> None:
    """By every short name that `shorten_names` gives, among any of them; also by the last part, as figures have it."""
    for some in (SYSTEMS, SYSTEMS[:3], SYSTEMS[3:], SYSTEMS[::2]):
        for full, short in shorten_system_names(some).items():
            assert (match_system_name_or_empty(short, some), match_system_name_or_empty(full, some)) == (full, full), (
                short
            )
    for name, full in {
        "reader-1": SYSTEMS[0],
        "lab/reader-1": SYSTEMS[0],
        "rag/reader-1": SYSTEMS[4],
        "Org/glib-8b": SYSTEMS[2],
        "bard": SYSTEMS[5],
        "kind.yaml": SYSTEMS[8],
        "reader": "",
        "eader-1": "",
        "": "",
        "openai-api": "",
    }.items():
        assert match_system_name_or_empty(name, SYSTEMS) == full, name
    with pytest.raises(UsageError) as caught:
        match_system_name_or_empty("glib-8b", SYSTEMS)
    assert str(caught.value) == (
        "'glib-8b' is the short name of 2 systems: openai-api/lab/glib-8b, vllm/Org/glib-8b; write one full name."
    )


@pytest.fixture
def both(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> str:
    """A run of two models, whose short names are in its own name, after one of the first alone; its name."""
    with OpenAIServer(models=["reader-1", "glib-8b"]) as server:
        for name in ("LAB", "FAR"):
            monkeypatch.setenv(f"{name}_BASE_URL", server.url)
        for systems, name in (
            ("openai-api/lab/reader-1", "glib-8b"),
            (",".join((SYSTEMS[0], FAR)), "reader-1-glib-8b"),
        ):
            done = genaipa("run", "-s", systems, "-p", "brindlecart", "-e", "quality", "--limit", "1", "--name", name)
            assert done.code == 0, done.err
    return json.loads(genaipa("runs", "latest", "--json").out)[0]["run"]


def test_names_mean_systems_before_parts_of_runs(both: str) -> None:
    """A short name is the system, in whatever runs; a run by its whole name, or what only it has; RUN:SYSTEM both."""
    here = find_workspace()
    for name, systems, runs, full in (
        ("glib-8b", {FAR}, 1, FAR),
        ("reader-1", {SYSTEMS[0]}, 2, SYSTEMS[0]),
        ("reader-1-glib", {SYSTEMS[0], FAR}, 1, both),
        (both, {SYSTEMS[0], FAR}, 1, both),
        ("latest", {SYSTEMS[0], FAR}, 1, both),
        ("latest:glib-8b", {FAR}, 1, f"{both}:{FAR}"),
        (f"{both}:lab/reader-1", {SYSTEMS[0]}, 1, f"{both}:{SYSTEMS[0]}"),
    ):
        sources = find_runs_by_system_or_run_names(here, [name])
        assert ({s for one in sources for s in one.systems}, len(sources)) == (systems, runs), name
        assert resolve_system_or_run_name(here, name).name == full, name
    for only in (Filters(systems=("glib-8b",)), Filters(without=("reader-1",)), Filters(systems=("openai-api/far",))):
        assert [one.systems for one in select_runs_and_apply_filters(here, (), only)] == [(FAR,)], only


def test_commands_take_the_short_names(genaipa: Cli, both: str) -> None:
    """Each command is about the one system; what is the same is said of the same alone; a fault lists full names."""
    assert "has no score to compare yet" in genaipa("compare", "glib-8b", "reader-1").err
    said = genaipa("compare", "glib-8b", f"{both}:far/glib-8b").err
    assert f"'glib-8b' and '{both}:far/glib-8b' both mean {FAR} in {both};" in said
    assert "'glib-8b' means" in genaipa("compare", "glib-8b", "glib-8b").err
    assert {one["system"] for one in json.loads(genaipa("show", "glib-8b", "--json").out)["answers"]} == {FAR}
    assert "RUN:reader-1" in genaipa("show", "reader-1").err
    for command, runs in ((("runs", "glib-8b"), 1), (("runs", "-s", "glib-8b"), 1), (("runs", "reader-1"), 2)):
        assert len(json.loads(genaipa(*command, "--json").out)) == runs, command
    for command in (
        ("export", "huggingface", "glib-8b", "-o", "out"),
        ("pack", "glib-8b", "-o", "study.zip"),
        ("scores", "sheet", "glib-8b", "-o", "sheet.xlsx"),
        ("sample", "glib-8b", "--size", "1"),
        ("sample", "latest:glib-8b", "--json"),
        ("drift", "glib-8b"),
        ("leaderboard", "-s", "glib-8b"),
        ("judges", "-s", "glib-8b"),
        ("judge", "-s", "glib-8b", "--judge", "scripted", "--estimate"),
    ):
        done = genaipa(*command)
        assert done.code == 0, (command, done.err)
        assert "reader-1" not in done.out.replace(both, ""), command
    assert package.sample("glib-8b", size=1).size == 1


def test_an_unclear_short_name_lists_the_full_ones(
    genaipa: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where two systems end so, every command says which there are, whatever the runs are called."""
    with OpenAIServer(models=["reader-1"]) as server:
        for name in ("LAB", "FAR"):
            monkeypatch.setenv(f"{name}_BASE_URL", server.url)
        both = "openai-api/lab/reader-1,openai-api/far/reader-1"
        assert genaipa("run", "-s", both, "-p", "brindlecart", "--limit", "1", "--name", "reader-1").code == 0
    for command in (
        ("compare", "reader-1", "lab/reader-1"),
        ("runs", "reader-1"),
        ("runs", "-s", "reader-1"),
        ("show", "reader-1"),
        ("leaderboard", "--without", "reader-1"),
        ("report", "latest:reader-1", "-o", str(tmp_path / "out")),
    ):
        done = genaipa(*command)
        assert (done.code, "2 systems: openai-api/far/reader-1, openai-api/lab/reader-1;" in done.err) == (2, True), (
            command,
            done.err,
        )


def test_a_model_behind_a_system_is_that_system(demo: tuple[Path, Finished]) -> None:
    """`show` prints it beside the system's name, as it was asked for and as it was served."""
    workspace = find_workspace(demo[0])
    for name in ("scripted/careful", "made-up/careful", "careful"):
        assert {source.systems for source in find_runs_by_system_or_run_names(workspace, [name])} == {("careful",)}, (
            name
        )
    runs = [(source.folder, source.manifest) for source in find_runs_by_system_or_run_names(workspace, [])]
    assert Filters(systems=("scripted/careful",)).resolve_names_or_raise(runs).systems == ("careful",)


BOT = """
from genaipa.systems.base import Readiness, Reply


class Bot:
    async def start(self):
        return Readiness()

    async def reply(self, messages, settings):
        return Reply(text="Yes.")

    async def count_tokens(self, text):
        return None

    async def close(self):
        pass
"""


def test_a_misspelt_class_is_no_run_and_its_system(
    genaipa: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is offered as it is written, whether what stands before the colon is a part of a run's name or not."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mill.py").write_text(BOT)
    asked = genaipa("run", "-s", "mill:Bot", "-p", "brindlecart", "-e", "quality", "--limit", "1", "--name", "mill-run")
    assert asked.code == 0, asked.err
    for wrong in ("mill:Bto", "mil:Bot", "mill:bot"):
        with pytest.raises(UsageError, match="did you mean 'mill:Bot'"):
            resolve_system_or_run_name(find_workspace(), wrong)
    run = resolve_system_or_run_name(find_workspace(), "mill:Bot").parts[0].folder.name
    assert resolve_system_or_run_name(find_workspace(), f"{run}:mill:Bot").name == f"{run}:mill:Bot"
    with pytest.raises(UsageError, match=f"system of the run {run} 'extractive'"):
        resolve_system_or_run_name(find_workspace(), "mill-run:extractive")
