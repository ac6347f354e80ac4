"""What a run looks like while it goes on and once it has ended, at any width."""

from __future__ import annotations

import io
import itertools
import re
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from running import make_workspace, spec

from genaipa.cli.terminal.progress import ENDED, RUNNING, Lines, ProgressTable, clock, fit, joined, told_apart
from genaipa.runs.procedure import INITIALIZATIONS
from genaipa.runs.records import Record
from genaipa.runs.status import Tally
from genaipa.systems.base import Usage
from genaipa.tasks.procedure import Procedure, orders

if TYPE_CHECKING:
    import pytest
    from rich.console import RenderableType

SYSTEMS = (
    "openai-api/aa/gpt-4.1",
    "openai-api/bb/gpt-4.1",
    "openai-api/aa/gpt-4.1-mini-2025-04-14",
    "openai-api/bb/gpt-4.1-mini-2025-04-14",
    "openai-api/aa/claude-sonnet-4-5-20250929",
)
ENDS = ("aa/gpt", "bb/gpt", "claude")
"""Beginnings of their names as they are shown: without what all of them have, and never like another's."""


def tally_of(*systems: str, initializations: tuple[str, ...] = INITIALIZATIONS, each: int = 3) -> Tally:
    """A run in which each system has answered one question of so many and failed at one, in each initialization."""
    workspace = make_workspace(questions=each)
    plan = spec(systems=systems, initializations=initializations)
    tally = Tally()
    tally.plan(plan, orders(plan, Procedure(plan, workspace).questions))
    for system, initialization, status in itertools.product(systems, initializations, ("answered", "failed")):
        kept = status == "answered"
        tally.add(
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


def test_the_table_fits_any_terminal() -> None:
    """From 60 columns on no line is longer than the terminal, no number is cut, and no system is shown like another."""
    tally = tally_of(*SYSTEMS)
    for columns, width in itertools.product((RUNNING, ENDED), (60, 80, 100, 120, 160, 200)):
        lines = drawn(fit(tally, columns, width, bars=columns is RUNNING).table, width)
        assert max(map(cell_len, lines)) <= width
        names = [line.split()[0] for line in lines if line.startswith(ENDS)]
        assert len(set(names)) == len(SYSTEMS)
        assert all(re.search(r" 4/12 +4 ", line) for line in lines if line.startswith(ENDS))
        assert re.match(r"all +20/60 +20 ", lines[-1])
        assert [line for line in lines if line.startswith("  document")] == [
            line for line in lines if re.match(r"  document +1/3 +1 ", line)
        ]
    assert not fit(tally, ENDED, 200).dropped
    assert fit(tally, ENDED, 80).dropped == ("tokens in", "cached", "out")
    assert not fit(tally, ENDED, None).dropped


def test_counts_of_nothing_are_left_out() -> None:
    """A column without a number is not shown; one initialization stands in the head, and one system needs no total."""
    tally = tally_of("extractive", initializations=("document",))
    lines = drawn(fit(tally, ENDED, 120).table, 120)
    assert re.split("  +", lines[0]) == [
        *("system (document)", "answered", "failed", "not asked", "tokens in", "cached", "out", "cost", "call time")
    ]
    assert lines[2].split() == ["extractive", "1/3", "1", "1", "5.0k", "50", "%", "20", "$0.2500", "3.0", "s"]
    assert len(lines) == 3


def test_the_live_display_fits_its_terminal() -> None:
    """Where there are too few lines, the initializations go first, then systems; counts, money and time stay."""
    tally = tally_of(*SYSTEMS)
    for width, height in ((60, 24), (80, 24), (120, 50), (80, 10), (200, 60)):
        table = ProgressTable(SYSTEMS, 5.0)
        table.begun(tally)
        table.waiting(SYSTEMS[0], "no answer within 2 s; trying again in 0.5 s (1 of 5)")
        lines = drawn(table, width, height)
        assert len(lines) < height
        assert max(map(cell_len, lines)) <= width
        said = " · ".join(lines).partition("20 of 60 done")[2]
        assert re.fullmatch(r" · 20 failed · \$5.00 of \$5.00 · 0:00", said), lines
        assert any(line.startswith("  document") for line in lines) == (height >= 50)
        assert ("and 3 more systems" in lines) == (height == 10)


def test_time_left_goes_by_the_slowest_system() -> None:
    """Each system's pace in this process counts; one that was stopped is waited for no more."""
    tally = tally_of("manual/fast", "manual/slow", initializations=("document",), each=9)
    clocks = iter((0.0, 0.0, *[60.0] * 20))
    table = ProgressTable(("manual/fast", "manual/slow"), now=lambda: next(clocks))
    table.begun(tally)
    for system, count in (("manual/fast", 4), ("manual/slow", 2)):
        tally.row(system, "document").status["answered"] += count
    assert table.state()[-1] == "1:00, about 3:00 left"
    table.stopped("manual/slow", "no more")
    assert table.state()[-1] == "1:00, about 1:00 left"


def test_batches_are_shown_with_what_is_out_and_done(capsys: pytest.CaptureFixture[str]) -> None:
    """Also before anything came back; the time left goes by what is done at the provider, too."""
    tally = tally_of(SYSTEMS[0], initializations=("document",), each=12)
    for kind in (ProgressTable, Lines):
        at = [0.0]
        shown = kind((SYSTEMS[0],), now=lambda at=at: at[0])
        shown.begun(tally)
        shown.out(SYSTEMS[0], 8, 0)
        at[0] = 60.0
        shown.out(SYSTEMS[0], 8, 2)
        state = " · ".join(shown.state())
        assert state.startswith("1 of 12 done · 8 in batches (2 done there) · 2 waiting · 1 failed"), state
        assert state.endswith("1:00, about 4:30 left"), state
        assert ("5.0k tokens, 50 % cached" in state) == (kind is Lines), state
        shown.out(SYSTEMS[0], 0, 0)
        assert "batches" not in " · ".join(shown.state())
    assert "8 in batches (2 done there)" in capsys.readouterr().err


def test_names_are_told_apart() -> None:
    """A name is cut in its middle, elsewhere where it would look like another, and numbered where no cut helps."""
    assert told_apart(["gpt-4.1", "extractive"], 10) == ["gpt-4.1", "extractive"]
    assert told_apart(["openai-api/lab/gpt-4.1", "x"], 11) == ["opena…t-4.1", "x"]
    assert told_apart(["openai-api/aa/gpt-4.1", "openai-api/bb/gpt-4.1"], 14) == ["open…a/gpt-4.1", "open…b/gpt-4.1"]
    numbered = told_apart([f"provider/one/{letter}/the-same-model" for letter in "abc"], 12)
    assert len(set(numbered)) == 3
    assert max(map(len, numbered)) == 12


def test_words_of_time_and_lines() -> None:
    """Minutes and seconds, with hours where there are some; a state is broken between its parts only."""
    assert [clock(seconds) for seconds in (0, 59.6, 72, 3732)] == ["0:00", "1:00", "1:12", "1:02:12"]
    assert joined(["12 of 640 done", "3 failed", "1:12"], 25) == ["12 of 640 done · 3 failed", "1:12"]
    assert joined(["longer than the width"], 5) == ["longer than the width"]
