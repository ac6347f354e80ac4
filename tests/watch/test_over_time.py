"""Occasions and drift: what is one, what is a change, and how often chance is taken for one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from judged import human, keep
from judges import events, script, verdict
from running import answers, carry_out, dated, make_workspace, spec, write
from size import size
from source import ROOT

from benchmarks.drift import alarms, series
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.judging.name import Judge
from genaipa.reports.report import Report
from genaipa.runs.selection import Occasion, find_run, select_runs_and_apply_filters
from genaipa.stats.tests import adjust_p_by_holm
from genaipa.workspace import find_workspace
from genaipa_watch.over_time import (
    draw_changes_over_time,
    find_loss_on_latest_scored_occasion,
    tabulate_changes_since_first_occasion,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    from genaipa.runs.folder import RunFolder

    Cli = Callable[..., Finished]


def test_an_unchanged_system_seldom_seems_changed_and_a_loss_of_five_points_is_found() -> None:
    """Over twelve looks a year: a false alarm in at most 5 % of years (200 at full size), a loss of 5 in 95 %."""
    years = size(small=1, soak=200)
    assert alarms(years) <= years * 0.05
    assert {
        find_loss_on_latest_scored_occasion(tabulate_changes_since_first_occasion(*series(seed, 1))).points
        for seed in range(4)
    } == {0}, "what may be chance is no loss"
    found = [
        find_loss_on_latest_scored_occasion(
            tabulate_changes_since_first_occasion(*series(seed, size(small=2, soak=12), lost=5))
        )
        for seed in range(size(small=1, soak=30))
    ]
    assert sum(one.points > 0 for one in found) >= 0.95 * len(found)
    assert np.mean([one.points for one in found if one.points]) == pytest.approx(5, abs=size(small=2, soak=1))


def test_all_measures_and_systems_are_one_family_and_the_gate_has_its_own() -> None:
    """A change counts among the tests of every system; the gate's loss does not depend on what else is tested."""
    frame, found = series(3, 1, lost=1.4, systems=3, replies=True)
    made = tabulate_changes_since_first_occasion(frame, found).data
    assert made["p"].notna().sum() == 3 * 7
    assert made["p_holm"].tolist() == adjust_p_by_holm(made["p"].tolist())
    ours = made["system"] == "s0"
    watched = made[ours & (made["measure"] == "M_all")].iloc[0]
    assert watched["p"] < 0.05 < watched["p_holm"]
    assert watched["meaning"] == "may be chance"
    own = tabulate_changes_since_first_occasion(frame[frame["system"] == "s0"], {"s0": found["s0"]})
    assert find_loss_on_latest_scored_occasion(own).points == pytest.approx(-watched["difference"])


def test_a_rare_share_has_an_exact_test() -> None:
    """Four refusals of 160 where there were none are no change, 12 are; its interval says the same."""
    frame, found = series(0, 1)
    frame["status"] = "answered"
    last = np.flatnonzero(frame["run"] == found["s0"][-1].runs[0])
    for refusals, p, meaning in ((4, 2 / 2**4, "may be chance"), (12, 2 / 2**12, "higher")):
        some = frame.assign(
            status=np.where(np.isin(np.arange(len(frame)), last[::13][:refusals]), "refused", "answered")
        )
        row = tabulate_changes_since_first_occasion(some, found).data.set_index("measure").loc["refuses"]
        assert row["p"] == pytest.approx(p)
        assert row["meaning"] == meaning
        assert (row["low"] > 0) == (meaning == "higher")


def test_a_day_that_other_people_scored_is_no_loss() -> None:
    """Leniency and change can't be separated there: it has no test, and the gate goes by the day before."""
    frame, found = series(0, 2, lost=10)
    *_, before, last = found["s0"]
    assert find_loss_on_latest_scored_occasion(tabulate_changes_since_first_occasion(frame, found)).points > 0
    others = frame["run"].isin(last.runs)
    made = tabulate_changes_since_first_occasion(frame.assign(analyst=np.where(others, "bo", "ada")), found)
    assert made.data["meaning"].tolist() == ["may be chance", "other analysts"]
    assert find_loss_on_latest_scored_occasion(made) == (0.0, "M_all", before.day)


def test_words_are_held_against_how_often_the_first_day_agrees_with_itself() -> None:
    """A system that never says the same twice has not changed; one that always did, and no longer does, has."""
    frame, found = series(0, 1)
    frame["status"] = "answered"
    days = found["s0"]
    again = frame[frame["run"] == days[0].runs[0]].assign(run="run again")
    twice = {"s0": [Occasion(days[0].day, (*days[0].runs, "run again")), days[1]]}
    stable = tabulate_changes_since_first_occasion(pd.concat([frame, again], ignore_index=True), twice).data.set_index(
        "measure"
    )
    assert stable.loc["same words", ["first", "now", "meaning"]].tolist() == [100.0, 0.0, "lower"]
    never = tabulate_changes_since_first_occasion(
        pd.concat([frame, again.assign(answer=again["answer"] + "x")], ignore_index=True), twice
    )
    assert never.data.set_index("measure").loc["same words", "meaning"] == "no difference"
    # Without a repetition nothing is known of the first day, and nothing is said.
    assert "same words" not in set(tabulate_changes_since_first_occasion(frame, found).data["measure"])


def test_two_dozen_occasions_of_five_systems_take_seconds() -> None:
    """The table of 24 occasions of five systems has a row for each, and its figure is drawn."""
    systems = size(small=1, soak=5)
    made = tabulate_changes_since_first_occasion(*series(1, 23, systems=systems))
    assert len(made.data) == systems * 23
    figure = draw_changes_over_time(made)
    assert figure is not None
    assert figure.plot().axes


def _asked(day: str, system: str = "scripted/acme.yaml", **changes: Any) -> RunFolder:
    """Ask a system the workspace's questions on a day."""
    return dated(carry_out(spec(systems=(system,), **changes))[0], day)


def test_drift_says_what_changed_and_needs_two_days_of_one_plan(genaipa: Cli) -> None:
    """One day is nothing to compare, another plan no occasion; a system that does the same has no difference."""
    make_workspace(6)
    _asked("2026-05-01", "extractive")
    _asked("2026-05-02", "extractive", seed=7)
    alone = genaipa("drift", "extractive", "--gate", "3")
    assert (alone.code, "nothing to compare" in alone.out) == (0, True)
    assert genaipa("drift", "nobody").code == 2
    _asked("2026-06-01", "extractive", repetitions=2)
    out = genaipa("drift", "extractive", "--gate", "3")
    assert out.code == 0, out.err
    assert "extractive: 2026-06-01 compared with 2026-05-01, 2 occasions" in out.out
    facts = json.loads(genaipa("drift", "extractive", "--json").out)
    assert facts["occasions"] == ["2026-05-01", "2026-06-01"]
    assert not facts["failed"]
    assert {row["meaning"] for row in facts["rows"]} == {"no difference"}


def test_a_sure_loss_fails_the_gate_and_is_in_the_report(genaipa: Cli) -> None:
    """A system that got worse from one day to the other ends with 5, and with 0 where the gate lets more pass."""
    make_workspace(12)
    days = ("2026-05-01", "2026-06-01", "2026-07-01")
    runs = []
    # On a third day, which nobody scored yet, it cites what is not there.
    for day, place in zip(days, (1, 2, 99), strict=True):
        write("acme.yaml", f"default: Section {place} says so.\n")
        runs.append(_asked(day))
        if place < 99:
            keep(human("ada", record.digest, (place - 1,) * 5) for record in answers(runs[-1]))
    worse = genaipa("drift", "scripted/acme.yaml", "--gate", "3", "-o", "drift.csv")
    assert worse.code == 5, worse.err
    assert Path("drift.csv").read_text().count("\n") >= 2
    assert re.search(r"2026-06-01, .* comparable scores; 2026-07-01", worse.out + worse.err)
    keep(human("bo", record.digest, (1,) * 5) for record in answers(runs[-1]))
    later = genaipa("drift", "scripted/acme.yaml", "--gate", "60")
    assert (later.code, "2026-07-01 was scored by people other than" in later.out + later.err) == (0, True)
    rows = json.loads(genaipa("drift", "scripted/acme.yaml", "--json").out)["rows"]
    (cites,) = (row for row in rows if row["measure"] == "cites" and row["occasion"] == "2026-07-01")
    assert [cites[name] for name in ("first", "now", "meaning")] == [100, 0, "lower"]
    here = find_workspace()
    report = Report.build(
        gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ["scripted/acme.yaml"]))
    )
    assert "occasions" in report.tables


def test_a_judge_judges_anchors_again_and_its_own_change_is_shown(genaipa: Cli) -> None:
    """On a later day it is asked again about answers of the first that people scored; its first verdicts stay."""
    make_workspace(12)
    judge = ("judge", "scripted/say.yaml", "--judge", "scripted/judge.yaml")
    people: list[str] = []
    for day, place in (("2026-05-01", 0), ("2026-06-01", 1)):
        write("say.yaml", f"default: Section {place} says so.\n")
        run = dated(carry_out(spec(systems=("scripted/say.yaml",)))[0], day)
        people = people or sorted({record.digest for record in answers(run)})[:8]
        keep(human("ada", one, (0,) * 5) for one in people)
        script("judge.yaml", default=verdict(place))
        asked = genaipa(*judge)
        assert asked.code == 0, asked.err
    assert "8 answers from the first day will be judged again to check whether the judge has changed" in asked.err
    assert "nothing to judge" in genaipa(*judge).out
    again = [event for event in events() if event.kind == "anchor"]
    assert sorted(event.answer for event in again) == people
    assert {str(Judge.parse(event.analyst).anchor_day_or_empty) for event in again} == {"2026-06-01"}  # type: ignore[union-attr]
    drift = genaipa("drift", "scripted/say.yaml")
    assert "The judge itself scores 22.5 points lower than on the first day." in drift.out, drift.err
    rows = json.loads(genaipa("drift", "scripted/say.yaml", "--json").out)["rows"]
    found = {row["measure"]: (row["n"], row["first"], row["now"]) for row in rows}
    assert found["judge again"] == (8, 100, 77.5)
    assert found["M_all (judge)"] == (12, 100, 77.5)
    assert json.loads(genaipa("scores", "verify", "--json").out)["breaks"] == []


def test_the_recipes_fail_a_job_for_a_sure_loss(genaipa: Cli) -> None:
    """The lines for cron and for a CI job are the same commands; the second ends with 0 at first, with 5 for a loss."""
    guide = (ROOT / "docs/guide/versions.md").read_text()
    cron = re.search(r"^0 6 1 \* \* +cd \S+ && (.*)$", guide, re.MULTILINE)
    (block,) = (one for one in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "drift:" in one)
    job = yaml.safe_load(block)["jobs"]["drift"]["steps"]
    lines = [step["run"] for step in job if step.get("run", "").startswith("genaipa ")]
    assert cron
    assert cron[1].split(" && ") == lines
    make_workspace(12)
    write("monthly.yaml", "system: scripted/say.yaml\npolicy: acme\ninitialization: document\n")
    ask, hold = (line.replace("gpt-6-luna", "scripted/say.yaml").split()[1:] for line in lines)
    codes = []
    for day, place in (("2026-05-01", 0), ("2026-06-01", 2)):
        write("say.yaml", f"default: Section {place} says so.\n")
        assert genaipa(*ask).code == 0
        run = dated(find_run(find_workspace(), "latest"), day)
        keep(human("ada", record.digest, (place,) * 5) for record in answers(run))
        codes.append(genaipa(*hold).code)
    assert codes == [0, 5]
