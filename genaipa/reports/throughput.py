"""Throughput: the pace at which each system's answers and tokens came while the runs were asked."""

from __future__ import annotations

import datetime as dt
from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import numpy as np
import pandas as pd

from genaipa.reports.table import Table, make_table
from genaipa.runs.batches import has_batches
from genaipa.runs.records import RecordKind, Status
from genaipa.systems.base import Usage

if TYPE_CHECKING:
    from genaipa.answers.study import Study

_INSTANT = 0.005
"""Median seconds below which a system's answers come from this machine's memory."""
_SHORTEST = 0.001
"""Seconds, as exactly as records have them."""
_PAUSE = (5.0, 3600.0)
"""Seconds of nothing out that are a pause at least, and in a run of weeks."""
_FORMATS = {
    "answers": ",d",
    "minutes": ".2f",
    "answers_per_minute": ".1f",
    "tokens_per_minute": ",.0f",
    "at_once": ".1f",
}


class _Call(msgspec.Struct):
    """What throughput needs of a record."""

    kind: RecordKind
    system: str
    status: Status
    started: str
    seconds: float
    usage: Usage | None = None
    served: dict[str, str] = {}


class TimedCalls(NamedTuple):
    """All calls of a system: seconds since 1970 of each one's `begin` and `end`, its tokens, and whether it answers."""

    begin: np.ndarray
    end: np.ndarray
    answers: np.ndarray
    tokens: np.ndarray


def group_timed_calls_by_system(study: Study) -> dict[str, TimedCalls]:
    """Return the calls that took time: none without a start, of a recording, a script, this machine or people."""
    # Plain numbers: there may be millions.
    numbers_by_system: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
    for source in study.sources:
        facts = source.manifest.systems
        measured_systems = {name for name in source.systems if not (name in facts and facts[name].words == "recording")}
        for _, call in source.folder.read_checksummed_answers_with_offsets(_Call):
            # Somebody else's file may not tell the time, and a script makes it up.
            if call.system in measured_systems and call.started and "time" not in call.served:
                tokens = float(call.usage.input + call.usage.output) if call.usage else np.nan
                answered = call.kind == "answer" and call.status != "failed"
                begin = dt.datetime.fromisoformat(call.started).timestamp()
                numbers_by_system[call.system].extend((begin, call.seconds, answered, tokens))
    calls = {}
    for system, numbers in numbers_by_system.items():
        begins, seconds, answers, tokens_sent = np.array(numbers).reshape(-1, 4).T
        if np.median(seconds) >= _INSTANT:
            calls[system] = TimedCalls(begins, begins + np.maximum(seconds, _SHORTEST), answers, tokens_sent)
    return calls


def measure_busy_seconds_and_count_pauses(calls: TimedCalls) -> tuple[float, int]:
    """Return the seconds during which any of the calls was out, without pauses, and the number of pauses."""
    order = np.argsort(calls.begin, kind="stable")
    begin, latest = calls.begin[order], np.maximum.accumulate(calls.end[order])
    idle = np.maximum(begin[1:] - latest[:-1], 0)
    whole = float(latest[-1] - begin[0])
    # What is long for a run of a minute is nothing in one of a week.
    shortest_pause = min(max((whole - idle.sum()) / 20, _PAUSE[0]), _PAUSE[1])
    pauses = idle[idle > shortest_pause]
    return whole - float(pauses.sum()), len(pauses)


def study_throughput_table(study: Study) -> Table:
    """Return the rates of each system over the time in which it was asked; empty where none took measured time."""
    batched = any(has_batches(source.folder.path) for source in study.sources)
    return throughput_by_system_table(group_timed_calls_by_system(study), batched=batched)


def throughput_by_system_table(calls_by_system: dict[str, TimedCalls], *, batched: bool) -> Table:
    """Return a row for each system: its answers, the minutes in which it was asked, and its rates over these."""
    rows = []
    for system, calls in calls_by_system.items():
        seconds, pauses = measure_busy_seconds_and_count_pauses(calls)
        minutes = seconds / 60
        tokens = np.nan if np.isnan(calls.tokens).all() else float(np.nansum(calls.tokens))
        rows.append(
            {
                "system": system,
                "answers": int(calls.answers.sum()),
                "minutes": minutes,
                "answers_per_minute": calls.answers.sum() / minutes,
                "tokens_per_minute": tokens / minutes,
                "at_once": float((calls.end - calls.begin).sum()) / 60 / minutes,
                "pauses": pauses,
                "from": _format_timestamp(calls.begin.min()),
                "until": _format_timestamp(calls.end.max()),
            }
        )
    batches = " In a batch, an answer's time runs until the batch was collected." if batched else ""
    return make_table(
        "throughput-systems",
        "Throughput by system",
        "Answers (including refused and cut-off ones) and tokens sent and received in all calls, per minute during "
        "which any call of the system was open, including retries and waiting; `at once` is how many calls were open "
        f"on average. Pauses without an open call don't count. Times are UTC.{batches}",
        pd.DataFrame(rows),
        [
            "system",
            "answers",
            "minutes",
            "answers_per_minute",
            "tokens_per_minute",
            "at_once",
            "pauses",
            "from",
            "until",
        ],
        headings={name: name.replace("_", " ") for name in _FORMATS},
        formats=_FORMATS,
    )


_WAITS = {"first_token_seconds": "first_token", "first_text_seconds": "first_text", "seconds": "whole_reply"}
"""Column of the joined table → that of the table of waits."""


def first_token_wait_table(study: Study) -> Table:
    """Return a row for each system whose replies were streamed: the median seconds until they began and ended."""
    answers = study.rows_once_per_answer("first-token")
    # A suite's table has none of these.
    answers = answers.reindex(columns=["system", *_WAITS])
    streamed = answers.dropna(subset=["first_token_seconds"]).groupby("system", observed=True)
    waits = streamed[[*_WAITS]].median().rename(columns=_WAITS)
    late = streamed["first_text_seconds"].quantile(0.95)
    rows = waits.assign(answers=streamed.size(), first_text_95=late).reset_index()
    return make_table(
        "first-token",
        "Wait for the first text",
        "Median seconds of an answer whose reply was streamed: until anything arrived, thoughts included; "
        "until the first text of the answer, after any thoughts, with the 95th percentile; and until the whole reply "
        "had arrived, retries and waiting included.",
        rows,
        ["system", "answers", "first_token", "first_text", "first_text_95", "whole_reply"],
        headings={
            "first_token": "first anything",
            "first_text": "first text",
            "first_text_95": "first text, 95 %",
            "whole_reply": "whole reply",
        },
        formats={"answers": ",d"} | dict.fromkeys(("first_token", "first_text", "first_text_95", "whole_reply"), ".2f"),
    )


def _format_timestamp(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s")).replace("T", " ")
