"""The chapter on how runs went: rates of answers and tokens over the time of asking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from running import make_workspace, write

from genaipa.reports.chapters import conduct
from genaipa.reports.chapters.conduct import Calls
from genaipa.reports.figures.figure import ALONE
from genaipa.reports.report import report

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

BEGAN = 1_790_000_000.0


def calls(*begun: float, seconds: float = 2.0, tokens: float = 100.0) -> Calls:
    """A call at each of these seconds, all equally long."""
    begin = BEGAN + np.array(begun)
    return Calls(begin, begin + seconds, np.ones(len(begun)), np.full(len(begun), tokens))


def test_every_answer_counts_once_wherever_it_falls() -> None:
    """The rates of all intervals, times their lengths, are the answers; each call is spread over its own time."""
    draw = np.random.default_rng(7)
    begin = BEGAN + draw.uniform(0, 300, 400)
    one = Calls(begin, begin + draw.gamma(2, 2, 400), np.ones(400), draw.uniform(10, 900, 400))
    data = conduct.over_time({"a": one}).data
    for rate, of in (("answers_per_minute", one.answers), ("tokens_per_minute", one.tokens)):
        assert (data[rate] * data["seconds"] / 60).sum() == pytest.approx(of.sum())
    edges = np.linspace(BEGAN, BEGAN + 320, 9)
    for left, right, found in zip(edges, edges[1:], conduct.spread(one, one.tokens, edges), strict=False):
        inside = np.clip((np.minimum(one.end, right) - np.maximum(one.begin, left)) / (one.end - one.begin), 0, 1)
        assert found == pytest.approx((inside * one.tokens).sum())


def test_pauses_are_cut_out_and_named() -> None:
    """A run that went on hours later has no empty hours in its figure, but a line with their number."""
    resumed = calls(*range(60), *range(10_000, 10_030), *range(100_000, 100_040))
    other = calls(*range(20), tokens=float("nan"))
    both = {"a": resumed, "b": other}
    sat = conduct.sittings([*both.values()])
    assert [(one.begin - BEGAN, one.end - one.begin) for one in sat] == [(0, 61), (10_000, 31), (100_000, 41)]
    assert [one.at for one in sat] == [0, 61, 92]
    rates = conduct.over_time(both)
    figure = conduct.figure(rates, sat, ALONE)
    assert figure is not None
    assert "A dotted line is a pause that is cut out (2, 1.2 d in all)." in figure.note
    drawn = figure.plot()
    assert [text.get_text() for text in drawn.axes[0].texts] == ["2.8 h", "1 d"]
    (_, most) = drawn.axes[0].get_xlim()
    assert most == pytest.approx(133 / 60)
    row, lone = conduct.by_system(both, rates, batched=True).data.to_dict("records")
    assert (row["answers"], row["pauses"], round(row["answers_per_minute"], 1)) == (130, 2, 58.6)
    assert round(row["at_once"], 2) == round(260 / 133, 2)
    assert np.isnan(lone["tokens_per_minute"])
    # A second between two answers is no pause of a run of minutes.
    assert len(conduct.sittings([calls(0, 3, 6, 9)])) == 1


def test_a_batch_of_hours_is_a_plain_pace() -> None:
    """Answers that are collected together are spread over their hours; too few intervals are no figure."""
    batch = calls(*np.linspace(0, 10, 1000), seconds=36_000)
    rates = conduct.over_time({"batch": batch})
    assert rates.data["seconds"].iloc[0] == 900
    inner = rates.data["answers_per_minute"].iloc[1:-1]
    assert inner.min() == pytest.approx(inner.max()) == pytest.approx(1000 / 600)
    short = {"a": calls(0, seconds=0.2)}
    assert conduct.figure(conduct.over_time(short), conduct.sittings([*short.values()]), ALONE) is None


@pytest.mark.full
def test_reports_have_it_where_time_was_measured(genaipa: Cli) -> None:
    """Of runs that took time, of the paper's questions and of a suite; not of a system that answers from memory."""
    make_workspace(4)
    write("slow.yaml", "rules: [{match: '', reply: 'No.', delay: 0.6, usage: {input: 90, output: 10}}]\ndefault: No.\n")
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
        drawn = made.figures["throughput"].table.data
        assert (drawn["answers_per_minute"] * drawn["seconds"] / 60).sum() == pytest.approx(row["answers"])
