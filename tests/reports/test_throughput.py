"""The rates of answers and tokens over the time of asking, in the chapter on time and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from running import answers, carry_out, make_workspace, spec, write

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.reports.report import report
from genaipa.reports.throughput import (
    TimedCalls,
    measure_busy_seconds_and_count_pauses,
    study_throughput_table,
    throughput_by_system_table,
)
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

BEGAN = 1_790_000_000.0


def calls(*begun: float, seconds: float = 2.0, tokens: float = 100.0) -> TimedCalls:
    """A call at each of these seconds, all equally long."""
    begin = BEGAN + np.array(begun)
    return TimedCalls(begin, begin + seconds, np.ones(len(begun)), np.full(len(begun), tokens))


def test_pauses_are_no_time_of_asking() -> None:
    """A run that went on hours later has its own pace; a short wait between two answers is no pause."""
    resumed = calls(*range(60), *range(10_000, 10_030), *range(100_000, 100_040))
    assert measure_busy_seconds_and_count_pauses(resumed) == (pytest.approx(61 + 31 + 41), 2)
    assert measure_busy_seconds_and_count_pauses(calls(0, 3, 6, 9)) == (pytest.approx(11), 0)
    lone = calls(*range(20), tokens=float("nan"))
    first, second = throughput_by_system_table({"a": resumed, "b": lone}, batched=True).data.to_dict("records")
    assert (first["answers"], first["pauses"], round(first["answers_per_minute"], 1)) == (130, 2, 58.6)
    assert round(first["at_once"], 2) == round(260 / 133, 2)
    assert np.isnan(second["tokens_per_minute"])


def test_made_up_times_have_no_pace() -> None:
    """What a script tells of its time is in the records; nothing is concluded from when its calls were open."""
    make_workspace(2)
    write("told.yaml", "default: No.\nlevels: {high: {seconds: 100, reasoning: 10}}\n")
    folder = carry_out(spec(systems=("scripted/told.yaml@high",)))[0]
    assert all(50 <= record.seconds < 150 for record in answers(folder))
    assert not study_throughput_table(
        gather_study_with_stored_scores(
            find_workspace(), select_runs_and_apply_filters(find_workspace(), [folder.name])
        )
    )


@pytest.mark.full
def test_reports_have_it_where_time_was_measured(genaipa: Cli) -> None:
    """Of runs that took time, of the paper's questions and of a suite; not of a system that answers from memory."""
    make_workspace(4)
    write("slow.yaml", "rules: [{match: '', reply: 'No.', delay: .05, usage: {input: 90, output: 10}}]\ndefault: No.\n")
    about = ("-p", "acme", "-i", "document", "--conversation", "independent", "--max-connections", "1")
    runs = (about, ("--suite", "policyqa", "--split", "sample", "--limit", "6", "--max-connections", "2"))
    for number, options in enumerate(runs):
        asked = genaipa("run", "-s", "scripted/slow.yaml,extractive", *options, "--name", f"slow{number}")
        assert asked.code == 0
        made = report(f"slow{number}")
        (row,) = made.tables["throughput-systems"].data.to_dict("records")
        assert (row["system"], row["answers"]) == ("scripted/slow.yaml", (4, 6)[number])
        # A call of a kind that is no answer has tokens as well, and a suite asks once more for JSON.
        assert row["tokens_per_minute"] * row["minutes"] > 0.99 * 100 * row["answers"]
        assert any(chapter.title == "Time and cost" for chapter in made.chapters)
