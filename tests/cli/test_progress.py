"""What a run looks like while it goes on and once it has ended, at any width."""

from __future__ import annotations

import io
import itertools
import re
from typing import TYPE_CHECKING

import pytest
from rich.cells import cell_len
from rich.console import Console
from running import make_workspace, spec

from genaipa.cli.commands.run_summary import print_tally
from genaipa.cli.terminal import console
from genaipa.cli.terminal.progress import (
    LineProgress,
    LiveProgress,
    format_duration_as_m_ss_or_h_mm_ss,
    join_facts_into_lines,
)
from genaipa.runs.procedure import INITIALIZATIONS
from genaipa.runs.records import Record
from genaipa.runs.status import AnswerTally
from genaipa.systems.base import Usage
from genaipa.tasks.procedure import Procedure, map_document_repetitions_to_orders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

SYSTEMS = (
    "openai-api/aa/gpt-4.1",
    "openai-api/bb/gpt-4.1",
    "openai-api/aa/gpt-4.1-mini-2025-04-14",
    "openai-api/bb/gpt-4.1-mini-2025-04-14",
    "openai-api/aa/claude-sonnet-4-5-20250929",
)


def tally_of(*systems: str, initializations: tuple[str, ...] = INITIALIZATIONS, each: int = 3) -> AnswerTally:
    """A run in which each system has answered one question of so many and failed at one, in each initialization."""
    workspace = make_workspace(questions=each)
    plan = spec(systems=systems, initializations=initializations)
    tally = AnswerTally()
    tally.set_planned_answers(plan, map_document_repetitions_to_orders(plan, Procedure(plan, workspace).questions))
    for system, initialization, status in itertools.product(systems, initializations, ("answered", "failed")):
        kept = status == "answered"
        tally.add_record(
            Record(
                key=f"{system}|{initialization}|{status}",
                status=status,
                conversation="",
                kind="answer",
                system=system,
                coordinates={"initialization": initialization},
                turn=1,
                asked="",
                reply="Yes." if kept else None,
                started="",
                seconds=1.5,
                usage=Usage(input=5000, cached=2500, output=20) if kept else None,
                cost=0.25 if kept else None,
            )
        )
    return tally


def drawn(shown: RenderableType, width: int, height: int = 100) -> list[str]:
    """The lines that a terminal of that size would show."""
    console = Console(file=io.StringIO(), width=width, height=height, legacy_windows=False)
    with console.capture() as capture:
        console.print(shown)
    return [line.rstrip() for line in capture.get().splitlines()]


@pytest.fixture
def closing_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., list[str]]]:
    """The closing table's lines at a width."""

    def printed(tally: AnswerTally, width: int) -> list[str]:
        console.stdout_console.cache_clear()
        monkeypatch.setenv("COLUMNS", str(width))
        print_tally(tally)
        return capsys.readouterr().out.strip("\n").splitlines()

    yield printed
    console.stdout_console.cache_clear()


def test_the_closing_table_fits_any_terminal(closing_table: Callable[..., list[str]]) -> None:
    """No line is longer than the terminal, and every number is there, beside or below its row."""
    tally = tally_of(*SYSTEMS)
    for width in (60, 80, 120, 200):
        lines = closing_table(tally, width)
        assert max(map(len, lines)) <= width
        text = " ".join(" ".join(lines).replace(";", "").split())
        assert text.count("4/12") == len(SYSTEMS)
        assert text.count(" 1/3") == len(SYSTEMS) * len(INITIALIZATIONS)
        assert "20/60" in text
        assert text.count("100k") == 1
        assert width < 200 or len(lines) == 2 + len(SYSTEMS) * (1 + len(INITIALIZATIONS)) + 1


def test_counts_of_nothing_are_left_out(closing_table: Callable[..., list[str]]) -> None:
    """A column without a number is not shown; one initialization stands in the head, and one system needs no total."""
    lines = closing_table(tally_of("extractive", initializations=("document",)), 120)
    assert re.split("  +", lines[0].strip()) == [
        *("system (document)", "answered", "failed", "not asked", "cost", "tokens in", "cached", "out", "call time")
    ]
    assert lines[2].split() == ["extractive", "1/3", "1", "1", "$0.2500", "5.0k", "50", "%", "20", "3.0", "s"]
    assert len(lines) == 3


def test_the_live_display_fits_its_terminal() -> None:
    """The state comes first, since a terminal shows so many lines; then why a call waits, and a bar for each system."""
    tally = tally_of(*SYSTEMS)
    for width in (60, 80, 200):
        progress = LiveProgress(SYSTEMS, 5.0, now=lambda: 0.0)
        progress.on_run_started(tally)
        progress.on_wait(SYSTEMS[0], "no answer within 2 s; trying again in 0.5 s (1 of 5)")
        lines = drawn(progress, width)
        assert max(map(cell_len, lines)) <= width
        state, _, bars = " · ".join(lines).partition("no answer within 2 s")
        done = r"20 of 60 done · 20 failed · \$5.00 of \$5.00 · 100k tokens, 50 % cached · 0:00 · "
        assert re.match(done, state), state
        assert bars.count("4/12") == len(SYSTEMS)
        assert all(bars.count(name) == 1 for name in ("aa/gpt-4.1 ", "bb/gpt-4.1 ", "aa/gpt-4.1-mini-2025", "claude"))
        assert width < 80 or "bb/gpt-4.1-mini-2025-04-14 " in bars


def test_time_left_goes_by_the_slowest_system() -> None:
    """Each system's pace in this process counts; one that was stopped is waited for no more."""
    tally = tally_of("manual/fast", "manual/slow", initializations=("document",), each=9)
    at = [0.0]
    progress = LiveProgress(("manual/fast", "manual/slow"), now=lambda: at[0])
    progress.on_run_started(tally)
    for second in (30.0, 60.0):
        at[0] = second
        for system, count in (("manual/fast", 3), ("manual/slow", 1)):
            tally.get_or_add_row(system, "document").status["answered"] += count
        progress.on_counts_updated(tally)
    assert progress.list_state_facts()[-1] == "1:00, about 3:00 left"
    progress.on_system_stopped("manual/slow", "no more")
    assert progress.list_state_facts()[-1] == "1:00, about 0:20 left"


def test_batches_are_shown_with_what_is_out_and_done(capsys: pytest.CaptureFixture[str]) -> None:
    """Also before anything came back; the time left goes by what is done at the provider, too."""
    tally = tally_of(SYSTEMS[0], initializations=("document",), each=12)
    for kind in (LiveProgress, LineProgress):
        at = [0.0]
        shown = kind((SYSTEMS[0],), now=lambda at=at: at[0])
        shown.on_run_started(tally)
        for second, done in ((0.0, 0), (30.0, 1), (60.0, 2)):
            at[0] = second
            shown.on_batch_progress(SYSTEMS[0], 8, done)
        state = " · ".join(shown.list_state_facts())
        assert state.startswith("1 of 12 done · 8 in batches (2 done there) · 2 waiting · 1 failed"), state
        assert state.endswith("5.0k tokens, 50 % cached · 1:00, about 4:30 left"), state
        shown.on_batch_progress(SYSTEMS[0], 0, 0)
        assert "batches" not in " · ".join(shown.list_state_facts())
    assert "8 in batches (2 done there)" in capsys.readouterr().err


def test_words_of_time_and_lines() -> None:
    """Minutes and seconds, with hours where there are some; a state is broken between its parts only."""
    assert [format_duration_as_m_ss_or_h_mm_ss(seconds) for seconds in (0, 59.6, 72, 3732)] == [
        "0:00",
        "1:00",
        "1:12",
        "1:02:12",
    ]
    assert join_facts_into_lines(["12 of 640 done", "3 failed", "1:12"], 25) == ["12 of 640 done · 3 failed", "1:12"]
    assert join_facts_into_lines(["longer than the width"], 5) == ["longer than the width"]
