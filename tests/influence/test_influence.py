"""Chance withholds the desk's aids from one score in five, and a report says what each did to values and seconds."""

from __future__ import annotations

import re
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from framing import answer_rows, study_of, tidy_of
from scipy import stats
from stores import score

from genaipa.answers.study import AnswerEventLog
from genaipa.scoring.aids import draw_withheld_aids, load_built_in_and_plugin_aids
from genaipa.scoring.events import ScreenContents
from genaipa_influence.chapter import InfluenceChapter
from genaipa_influence.effects import LEAST_ANALYSTS, LEAST_SCORES, estimate_aid_effect
from genaipa_influence.fact import AidsOnScreen
from genaipa_influence.tables import (
    collect_scores_recording_aids,
    describe_significant_aid_effects,
    estimate_and_adjust_aid_effects_on_m_all,
    tabulate_aid_effects_by_system,
)
from rubrics import PAPER, typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.answers.study import Study
    from genaipa.scoring.events import Event


def test_each_aid_is_drawn_by_itself() -> None:
    """One score in five lacks an aid, whatever it lacks beside; seed, answer, analyst and aid alone decide."""
    names = [*load_built_in_and_plugin_aids()]
    draws = [draw_withheld_aids(names, seed=3, answer_digest=f"{n:064x}", analyst="Ada") for n in range(4000)]
    assert names == ["points", "nearest", "evidence", "suggestions"]
    for name in names:
        assert sum(name in drawn for drawn in draws) / len(draws) == pytest.approx(0.2, abs=0.02)
        for other in names:
            if other != name:
                assert sum({name, other} <= drawn for drawn in draws) / len(draws) == pytest.approx(0.04, abs=0.01)
    again = {"seed": 3, "answer_digest": f"{7:064x}", "analyst": "Ada"}
    assert draws[7] == draw_withheld_aids(reversed(names), **again)  # type: ignore[arg-type]
    for other in ({"seed": 4}, {"analyst": "Bo"}):
        changed = [draw_withheld_aids(names, **again | {"answer_digest": f"{n:064x}"} | other) for n in range(40)]  # type: ignore[arg-type]
        assert changed != draws[:40]


def test_one_analyst_and_system_is_a_comparison_of_means() -> None:
    """The effect is then the difference of the means, and its error that of Welch's test."""
    random = np.random.default_rng(5)
    shown = np.arange(140) >= 30
    values = random.normal(0, np.where(shown, 4, 9))
    effect = estimate_aid_effect(values, shown, [f"{n}" for n in range(140)], ["Ada"] * 140, ["one"] * 140)
    with_it, without = values[shown], values[~shown]
    assert (effect.shown, effect.withheld) == (110, 30)
    assert effect.difference == pytest.approx(with_it.mean() - without.mean())
    error = (with_it.var(ddof=1) / 110 + without.var(ddof=1) / 30) ** 0.5
    reach = effect.high - effect.difference
    assert stats.t.ppf(0.975, 29 + 110) * error < reach < stats.t.ppf(0.975, 20) * error
    assert effect.low == pytest.approx(effect.difference - reach)
    alike = np.where(shown, values, 3.0)
    effect = estimate_aid_effect(alike, shown, [f"{n}" for n in range(140)], ["Ada"] * 140, ["one"] * 140)
    pooled = (109 * with_it.var(ddof=1) / 138 * (1 / 110 + 1 / 30)) ** 0.5
    assert effect.high - effect.difference > 1.96 * pooled, "thirty equal values have no variance of their own"
    assert np.isnan(effect.others_low), "one analyst says nothing of others"


def test_scores_of_one_answer_count_as_one() -> None:
    """Two scores of each answer, equal and drawn alike, are worth no more than one of each."""
    random = np.random.default_rng(6)
    values, shown = random.normal(size=200), np.arange(200) % 4 > 0
    answers = [f"{n}" for n in range(200)]
    once = estimate_aid_effect(values, shown, answers, ["Ada"] * 200, ["one"] * 200)
    apart = [f"{n} again" for n in range(200)]
    for other_answers, width in ((answers, 1.0), (apart, 0.5**0.5)):
        twice = estimate_aid_effect(
            [*values, *values], [*shown, *shown], [*answers, *other_answers], ["Ada"] * 400, ["one"] * 400
        )
        assert (twice.high - twice.low) / (once.high - once.low) == pytest.approx(width, rel=0.02)


def test_harsh_analysts_and_weak_systems_are_no_effect() -> None:
    """However unequally chance withheld an aid from them, what they differ by is not the aid's."""
    random = np.random.default_rng(7)
    analysts, systems = random.integers(0, 6, 600), random.integers(0, 3, 600)
    shown = random.random(600) < np.where(analysts == 0, 0.6, 0.9)
    values = 3.0 * shown - 40 * (analysts == 0) + 15 * systems + random.normal(0, 0.1, 600)
    columns = [[f"{code}" for code in codes] for codes in (np.arange(600), analysts, systems)]
    effect = estimate_aid_effect(values, shown, *columns)
    assert effect.low < 3.0 < effect.high
    assert effect.high - effect.low < 0.2
    assert effect.others_low < 3.0 < effect.others_high
    assert values[shown].mean() - values[~shown].mean() > 8
    few = estimate_aid_effect(
        values, shown, columns[0], [f"{code % (LEAST_ANALYSTS - 1)}" for code in analysts], columns[2]
    )
    assert (np.isnan(few.low), np.isnan(few.others_low)) == (False, True)


def test_too_few_or_nothing_that_varies() -> None:
    """Below so many scores on a side nothing is said; and where all are equal, or drawn alike, there is no interval."""
    count = LEAST_SCORES * 2
    names = [f"{n}" for n in range(count)]
    shown = [n >= LEAST_SCORES for n in range(count)]
    flat = estimate_aid_effect([1.0] * count, shown, names, ["Ada"] * count, ["one"] * count)
    assert (flat.difference, np.isnan(flat.low), np.isnan(flat.p)) == (pytest.approx(0.0), True, True)
    few = estimate_aid_effect([1.0] * (count - 1), shown[1:], names[1:], ["Ada"] * (count - 1), ["one"] * (count - 1))
    assert (few.withheld, few.has_too_few_scores, np.isnan(few.difference)) == (LEAST_SCORES - 1, True, True)
    whose = ["Ada" if on else "Bo" for on in shown]
    assert np.isnan(estimate_aid_effect([*range(count)], shown, names, whose, ["one"] * count).difference)


def study_with(events: list[Event]) -> Study:
    """A study of two systems, with these events in its log."""
    return replace(study_of(tidy_of(answer_rows())), log=AnswerEventLog(counted=events))


def scores(*, followed: bool) -> Iterator[Event]:
    """Each analyst's score of each answer: 1 at reference where that was suggested and if they `followed`, else any."""
    answers = [row["answer"] for row in answer_rows()]
    random = np.random.default_rng(8)
    for analyst in ("Ada", "Bo"):
        for number, answer in enumerate(answers):
            withheld = draw_withheld_aids(("evidence", "suggestions"), seed=1, answer_digest=answer, analyst=analyst)
            shown = "suggestions" not in withheld
            keys = "1" if followed and shown else "12"[number % 2]
            contents = ScreenContents(
                suggestion=("reference",) if shown else (),
                withheld={} if shown else {"reference": 1.0},
                aids={"evidence": "evidence" not in withheld, "suggestions": shown},
            )
            given: dict[str, Any] = {"suggested": {"reference": 1.0} if shown else {}, "shown": contents}
            seconds = float(random.lognormal(4, 0.1)) * (1 if shown else 2)
            yield score(analyst, answer, typed(f"{random.integers(1, 3)}111{keys}"), seconds=seconds, **given)


def test_what_an_aid_moves_is_said_with_its_remedy() -> None:
    """Table, metrics and sentence name the aid; scores that record nothing are counted; seconds are in per cent."""
    study = study_with([*scores(followed=True), *(score("Cy", row["answer"]) for row in answer_rows()[:3])])
    chapter = InfluenceChapter().make(study, None)  # type: ignore[arg-type] # no figures
    assert chapter is not None
    influence, metrics = (table.data.set_index("aid") for table in chapter.tables)
    assert set(influence.index) == {"evidence lines", "suggested values"}
    overall = influence[influence["system"] == "all systems"]
    assert dict(overall["meaning"]) == {"evidence lines": "", "suggested values": "moves values"}
    assert overall.loc["suggested values", "seconds"] == pytest.approx(-50, abs=4)
    assert overall.loc["suggested values", "low"] > 0
    assert "3 scores that do not record" in chapter.tables[0].note
    reference = metrics[metrics["metric"] == "reference"].loc["suggested values"]
    assert reference["same_with"] == 1.0
    assert reference["low"] < 0.25 < reference["high"]
    assert reference["moved_low"] < 1 - reference["same_without"] < reference["moved_high"]
    recorded = collect_scores_recording_aids(study)
    assert len(recorded.frame) == len(answer_rows()) * 2
    assert recorded.frame["seconds"].median() == pytest.approx(log(60), abs=0.2)
    points, values = describe_significant_aid_effects(
        recorded, estimate_and_adjust_aid_effects_on_m_all(recorded, PAPER.metrics), study
    )
    remedy = "2 analysts). Turn them off: suggestions: false in the plan of desk.yaml."
    moved = r"Suggested values move M_all by \+\d\.\d points \(95% interval of the effect \d\.\d to \d\.\d, "
    assert re.fullmatch(moved + re.escape(remedy), points)
    assert values.startswith("Suggested values move values of reference: 100% are as suggested, ")
    assert values.endswith(remedy)


def test_no_aid_moves_values_that_nobody_follows() -> None:
    """And without a score that records what was withheld there is no chapter."""
    chapter = InfluenceChapter().make(study_with([*scores(followed=False)]), None)  # type: ignore[arg-type]
    assert chapter is not None
    assert set(chapter.tables[0].data["meaning"]) == {""}
    study = study_with([score("Cy", row["answer"]) for row in answer_rows()])
    assert InfluenceChapter().make(study, None) is None  # type: ignore[arg-type]


def test_what_has_too_few_scores_is_a_sentence() -> None:
    """It says how many are needed and there; no row is of it, nor of what two systems said in the same words."""
    few = study_with([*scores(followed=False)][:30])
    chapter = InfluenceChapter().make(few, None)  # type: ignore[arg-type]
    assert chapter is not None
    assert not chapter.tables
    (sentence,) = chapter.absent
    counts = [int(number) for pair in re.findall(r"(?:lines|values) (\d+) and (\d+)", sentence) for number in pair]
    assert f"needs {LEAST_SCORES} scores with it" in sentence
    assert sum(counts) == 60
    recorded = collect_scores_recording_aids(study_with([*scores(followed=False)]))
    both = np.where(np.arange(len(recorded.frame)) % 2, recorded.frame["system"], "a/one; b/two")
    table = tabulate_aid_effects_by_system(replace(recorded, frame=recorded.frame.assign(system=both)), [])
    assert "all systems" in set(table.data["system"])
    assert not any(";" in system for system in table.data["system"])


def test_aids_are_columns() -> None:
    """Of a score that records them; of another, nothing."""
    read = AidsOnScreen().make_event_reader(None, None)  # type: ignore[arg-type] # it reads each score alone
    assert read is not None
    aids = {"nearest": True, "evidence": False, "points": True}
    assert read(score("Ada", "a1", shown=ScreenContents(aids=aids))) == {
        "aids_shown": "nearest, points", "aids_withheld": "evidence",
    }  # fmt: skip
    assert read(score("Ada", "a1", shown=ScreenContents(nearest=True))) == read(score("Ada", "a1")) == {}
