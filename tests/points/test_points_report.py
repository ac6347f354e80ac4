"""Points in reports: from analysts' ticks to recall, the harm rate, the heat map, agreement and the first screen."""

from __future__ import annotations

import itertools
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING, Any

import krippendorff
import msgspec
import numpy as np
import pandas as pd
import pytest
import yaml
from framing import QUESTIONS, answer_rows, score_rows, tidy_of
from judged import GPT, human, keep, make_run, verdict
from running import write
from size import size

from genaipa.answers import tidy as tidy_table
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.answers.study import Study
from genaipa.questions.points import Point, make_ticks, points_digest
from genaipa.reports.chapters.agreement import AnalystAgreementChapter
from genaipa.reports.chapters.judges import JudgesChapter
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.page import build_first_screen
from genaipa.reports.report import Report
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace
from genaipa_points.chapter import MOST, PointsChapter, draw_heatmap_of_most_missed_points
from genaipa_points.counts import AnnotatedPoints, PointCounts, find_points_by_run_document_question
from genaipa_points.tables import (
    HARM,
    RECALL,
    compute_said_and_contradicted_shares,
    describe_harm_rates_in_a_sentence_if_any,
    tabulate_point_recall_and_harm_rates,
)
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.table import Table

POINTS = {
    "Q1": (Point("a", "First.", ("1",)), Point("b", "Second.", ("1",), "okay", "harm", "It hurts.")),
    "Q2": (Point("a", "Third.", ("1",)), Point("b", "=Fourth.", ("1",), if_wrong="harm"), Point("c", "5.", ("1",))),
    "Q3": (Point("only", "Sixth.", ("1",)),),
}
WHOLE = 16
"""Questions of the study."""


def annotate(points: dict[str, tuple[Point, ...]], license_: str = "CC0-1.0") -> None:
    """Annotated answers with these points, about both documents."""
    answers = {
        f"Q{n}": {"silent": False, "answer": "So.", "sections": ["1"]}
        | ({"points": msgspec.to_builtins(points[f"Q{n}"])} if f"Q{n}" in points else {})
        for n in range(1, WHOLE + 1)
    }
    for name in ("acme", "bolt"):
        head = {"document": name, "questions": "policy", "annotators": ["one"], "license": license_}
        write(f"annotations/{name}.yaml", yaml.safe_dump({**head, "answers": answers}))


def gathered(**options: bool) -> Study:
    """All that a report of the working folder's runs needs."""
    here = find_workspace()
    return gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ()), **options)


def chapter_of(found: Study) -> Chapter | None:
    """Make the chapter on points."""
    return PointsChapter().make(found, FigureScope.from_scores_table(found.table))


def points_in(found: Study) -> dict[tuple[str, str, str], AnnotatedPoints]:
    """Return the points of a study's annotated answers."""
    return find_points_by_run_document_question(found.sources, found.annotated.answers)


def tables(made: Chapter) -> dict[str, Table]:
    """Its tables by name."""
    return {one.name: one for one in made.tables}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study of two systems about two documents: Ada ticked all points, Bo those about acme, a judge all, all by rule.

    Of the n-th answer Ada says the points with (n + place) even, and contradicts each third that she doesn't; Bo errs
    at each fifth.
    """
    folder = tmp_path_factory.mktemp("points")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        annotate({f"Q{n}": POINTS[f"Q{(n - 1) % 3 + 1}"] for n in range(1, WHOLE + 1) if n != 6})
        make_run(WHOLE)
        keep(scores())
        yield gathered()


def scores() -> list[Any]:
    """The events of the study."""
    found = gathered()
    given: list[Any] = []
    frame, points = found.table.sort_values(["system", "document", "question"]), points_in(found)
    for n, row in enumerate(frame.to_dict("records")):
        of = points.get((row["run"], row["document"], row["question"]))
        best = (0,) * 5
        events = [human("ada", row["answer"], best, n), verdict("kind", row["answer"], best)]
        if row["document"] == "acme":
            events.append(human("bo", row["answer"], best, n))
        for event in events:
            states = dict(zip((p.id for p in of.points), states_of(n, event.analyst), strict=False)) if of else {}
            said, denied = ([name for name, state in states.items() if state == what] for what in ("said", "denied"))
            given.append(msgspec.structs.replace(event, ticks=make_ticks(of.points, said, denied) if of else None))
    return given


def states_of(n: int, analyst: str) -> Iterator[str]:
    """What an analyst ticks of the points of the n-th answer."""
    for place in itertools.count():
        state = "said" if (n + place) % 2 == 0 else "denied" if (n + place) % 3 == 0 else ""
        erring = analyst != "ada" and (n + place) % 5 == 0
        yield {"said": "", "": "said", "denied": ""}[state] if erring else state


# -- from ticks to columns --


def test_ticks_become_columns(tmp_path: Path) -> None:
    """A score's own counts; empty without ticks, with ticks of edited points, and where no point is marked as harm.

    A file has the columns only where something was ticked.
    """
    make_run(WHOLE, ("acme",))
    annotate(POINTS)
    none = gathered()
    tidy_table.write_filled_columns_as_csv_or_parquet(none.table, tmp_path / "none.csv")
    assert not set(PointCounts.columns) & set(pd.read_csv(tmp_path / "none.csv"))
    assert not chapter_of(none)
    rows = none.table[none.table["system"] == GPT].set_index("question")["answer"].astype(str)
    second = make_ticks(POINTS["Q2"], ["a", "c"], ["b"])
    events = [
        msgspec.structs.replace(human(analyst, rows[question], (0,) * 5), ticks=ticks)
        for analyst, question, ticks in (
            ("ada", "Q1", make_ticks(POINTS["Q1"], ["a"])),
            ("bo", "Q1", make_ticks(POINTS["Q1"][:1], ["a"])),
            ("ada", "Q2", second),
            ("bo", "Q2", None),
            ("ada", "Q3", make_ticks(POINTS["Q3"], [])),
            ("ada", "Q4", second),
        )
    ]
    keep(events)
    found = gathered()
    known = found.table.dropna(subset="m_all").set_index(["question", "analyst"])[list(PointCounts.columns)]
    assert known.loc["Q1", "ada"].tolist() == [2, 1, 1, 1, 0, 1, "no"]
    assert known.loc["Q2", "ada"].tolist() == [3, 3, 2, 2, 1, 1, "yes"]
    assert known.loc["Q3", "ada"].tolist() == [1, 1, 0, 0, 0, 0, ""]
    for place in (("Q1", "bo"), ("Q2", "bo"), ("Q4", "ada")):
        assert known.loc[place].isna().sum() == len(PointCounts.columns) - 1, place
        assert known.loc[place, "harm"] == ""
    tidy_table.write_filled_columns_as_csv_or_parquet(found.table, tmp_path / "some.parquet")
    again = pd.read_parquet(tmp_path / "some.parquet")[[*PointCounts.columns]]
    counts = found.table[[*PointCounts.columns]]
    assert [again.astype(object).fillna("").to_dict("list")] == [counts.astype(object).fillna("").to_dict("list")]
    less = found.replace_scores_from_events([event for event in found.log.counted if event.analyst == "bo"])
    assert less.table["points"].isna().all(), "what was ticked goes with its score"


def test_an_adjudications_ticks_alone_count(study: Study) -> None:
    """As its values do: of a settled answer what the adjudicator ticked, else the mean over analysts."""
    answer = next(event.answer for event in study.log.counted if event.analyst == "bo" and event.ticks)
    place = study.table.loc[study.table["answer"] == answer, ["run", "document", "question"]].iloc[0]
    points = points_in(study)[tuple(place)].points
    settled = msgspec.structs.replace(
        human("cy", answer, (0,) * 5, 999), kind="adjudication", ticks=make_ticks(points, [], [points[0].id])
    )
    for found, expected in ((study, None), (study.replace_scores_from_events([*study.log.counted, settled]), 0.0)):
        rows = found.table[found.table["counted"] & (found.table["answer"] == answer)]
        own = compute_said_and_contradicted_shares(found)
        own = own[(own["question"] == place["question"]) & (own["document"] == place["document"])]
        own = own[own["system"] == rows["system"].iloc[0]]
        if expected is None:
            both = [
                [p.id in e.ticks.said for p in points]
                for e in study.log.counted
                if e.answer == answer and e.scorer == "human" and e.ticks
            ]
            assert own["said"].tolist() == np.mean(both, axis=0).tolist()
        else:
            assert own["said"].tolist() == [0.0] * len(points)
            assert own["contradicted"].tolist() == [1.0, *[0.0] * (len(points) - 1)]


# -- recall and harm --


def test_rates_are_what_loops_find(study: Study) -> None:
    """By system: each question's mean over documents, of answers' means over analysts; judges' ticks are in none."""
    found, points = tabulate_point_recall_and_harm_rates(study.table).data, points_in(study)
    system_of = dict(study.table[["answer", "system"]].astype(str).itertuples(index=False, name=None))
    asked = {row["answer"]: row for row in study.table.drop_duplicates("answer").to_dict("records")}
    for system, measure in itertools.product(study.table["system"].unique(), (RECALL, HARM)):
        cells: dict[str, dict[str, list[float]]] = {}
        for event in study.log.counted:
            row = asked[event.answer]
            of = points.get((row["run"], row["document"], row["question"]))
            if event.scorer == "machine" or of is None or system_of[event.answer] != system:
                continue
            vital = [p.id for p in of.points if p.weight == "vital"]
            harm = [p.id for p in of.points if p.if_wrong]
            if measure == RECALL:
                value = len({*vital} & {*event.ticks.said}) / len(vital)
            elif harm:
                value = float(bool({*harm} & {*event.ticks.contradicted}))
            else:
                continue
            cells.setdefault(row["question"], {}).setdefault(row["document"], []).append(value)
        expected = mean(mean(mean(values) for values in documents.values()) for documents in cells.values())
        (row,) = found[(found["system"] == system) & (found["measure"] == measure)].to_dict("records")
        assert row["rate"] == pytest.approx(expected)
        assert (row["questions"], row["documents"], row["answers"]) == (len(cells), 2, 2 * len(cells))
        assert row["low"] < row["rate"] < row["high"]
        assert np.isnan(row["policies_low"]), "two documents say nothing of others"


def test_the_interval_of_a_harm_rate_holds_the_truth() -> None:
    """A system that contradicts 3 of 10: within both intervals in at least 93 % of 500 studies; in small of 3.

    It contradicts the points of some questions more often than those of others. With one document only the interval for
    these documents is there.
    """
    studies, random = size(small=3, soak=500), np.random.default_rng(11)
    counts = dict(zip(PointCounts.columns, (3, 2, 1, 1, 0, 1), strict=False))
    for documents in (1, 3):
        rows = answer_rows(systems=("a/one",), documents=tuple(f"d{n}" for n in range(documents)))
        frame = tidy_of(rows, score_rows(rows)).assign(**counts)
        asked, held = frame["question"].cat.codes.to_numpy(), []
        for _ in range(studies):
            chance = random.beta(3, 7, len(QUESTIONS))[asked]
            data = tabulate_point_recall_and_harm_rates(
                frame.assign(harm=np.where(random.random(len(frame)) < chance, "yes", "no"))
            ).data
            (row,) = data[data["measure"] == HARM].to_dict("records")
            held.append([row[f"{target}low"] <= 0.3 <= row[f"{target}high"] for target in ("", "policies_")])
        these, policies = np.mean(held, axis=0)
        assert these >= 0.93
        assert policies >= 0.93 or documents == 1


# -- point by point --


def test_the_points_missed_most_come_first(study: Study) -> None:
    """In the figure and in the table, in words; a corner where one is contradicted, a sign where that would hurt."""
    made = chapter_of(study)
    (figure,) = made.figures
    data, table = figure.table.data, tables(made)["points-missed"].data
    assert table["said"].is_monotonic_increasing
    assert data.groupby(["document", "question", "point"], observed=True)["said"].mean().max() < 1
    drawn = figure.plot()
    axes = drawn.axes[0]
    labels, words = (one.words for one in axes.artists[1:])
    assert len(labels) == len(words) == min(MOST, int((table["said"] < 1).sum()))
    first = table.iloc[0]
    assert words[0] == first["text"]
    assert labels[0].removesuffix("\u25b2").split()[-3:] == [first["document"], first["question"], first["point"]]
    assert [label[-1] == "\u25b2" for label in labels] == [text in ("Second.", "=Fourth.") for text in words]
    corners = axes.collections[-1].get_paths()
    assert len(corners) == int((data["contradicted"] > 0).sum())
    harm = tables(made)["points-harm"].data
    assert set(harm["text"]) == {"Second.", "=Fourth."}
    assert set(harm.loc[harm["text"] == "Second.", "why"]) == {"It hurts."}
    assert (
        draw_heatmap_of_most_missed_points(compute_said_and_contradicted_shares(study).assign(said=1.0), "quality")
        is None
    )


def test_words_that_may_not_be_passed_on_are_not_shown() -> None:
    """Where the annotated answers' license forbids it, a point is named by its question and id alone."""
    annotate(POINTS, "all rights reserved")
    make_run(WHOLE, ("acme", "bolt"))
    keep(scores())
    made = chapter_of(gathered())
    assert len(tables(made)["points-missed"].data) == 12
    said = "".join(one.data.to_csv() + one.note for one in made.tables) + made.figures[0].table.data.to_csv()
    assert not [point.text for points in POINTS.values() for point in points if point.text in said and point.id != "c"]
    assert "The words of points that may not be passed on are left out." in said
    assert "It hurts." not in said
    _, labels = (one.words for one in made.figures[0].plot().axes[0].artists)
    assert {label.removesuffix("\u25b2").strip() for label in labels} <= {
        f"{document} {question} {point.id}"
        for document in ("acme", "bolt")
        for question in POINTS
        for point in POINTS[question]
    }


# -- agreement --


def test_agreement_on_points_is_the_packages(study: Study) -> None:
    """Alpha over answers and points is krippendorff's; its interval leaves out whole answers; a judge is a side."""
    (row,) = tables(AnalystAgreementChapter().make(study, FigureScope()))["points-agreement"].data.to_dict("records")
    asked = {r["answer"]: (r["run"], r["document"], r["question"]) for r in study.table.to_dict("records")}
    rank = {"said": 2, "": 1, "denied": 0}
    sides: dict[str, dict[tuple[str, str], int]] = {"ada": {}, "bo": {}, "judge": {}}
    for event in study.log.counted:
        if of := points_in(study).get(asked[event.answer]):
            for point in of.points:
                state = (
                    "said" if point.id in event.ticks.said else "denied" if point.id in event.ticks.contradicted else ""
                )
                sides[event.analyst if event.scorer == "human" else "judge"][event.answer, point.id] = rank[state]
    units = list(sides["bo"])
    coders = [[sides[name][unit] for unit in units] for name in ("ada", "bo")]
    alpha = krippendorff.alpha(np.array(coders), value_domain=[0, 1, 2], level_of_measurement="ordinal")
    assert row["alpha"] == pytest.approx(alpha)
    assert (row["points"], row["answers"]) == (len(units), len({answer for answer, _ in units}))
    assert row["agreement"] == pytest.approx(np.mean(np.equal(*coders)))
    assert row["commonest"] == pytest.approx(max(np.bincount(np.ravel(coders))) / np.size(coders))
    assert row["low"] < row["alpha"] < row["high"]
    judged = tables(JudgesChapter().make(study, FigureScope.from_scores_table(study.table)))["judges-points"].data
    (row,) = judged.to_dict("records")
    assert (row["points"], row["answers"]) == (len(sides["ada"]), len({answer for answer, _ in sides["ada"]}))
    same = [
        mean(sides["judge"][unit] == sides[name][unit] for name in ("ada", "bo") if unit in sides[name])
        for unit in sides["ada"]
    ]
    assert row["agreement"] == pytest.approx(mean(same))
    alone = study.replace_scores_from_events([event for event in study.log.counted if event.scorer == "machine"])
    assert not chapter_of(alone), "analysts may read this chapter, which has nothing of judges"
    of_judges = tables(JudgesChapter().make(alone, FigureScope.from_scores_table(alone.table)))["points-judged"]
    assert of_judges.faint == {"rate"}
    assert of_judges.data["system"].is_monotonic_increasing


# -- the first screen --


def test_harm_is_on_the_first_screen(study: Study) -> None:
    """One sentence, the most harmful system first, with its interval; none where nothing harmful is contradicted."""
    report = Report.build(study)
    (said,) = describe_harm_rates_in_a_sentence_if_any(study.table)
    assert build_first_screen(report).bullets[0] == said
    assert said in report.notable
    head = "Harmful answers, by the points that they contradict (95 % intervals for these documents): "
    assert said.startswith(f"{head}scripted/")
    worst = tabulate_point_recall_and_harm_rates(study.table).data
    worst = worst[worst["measure"] == HARM].sort_values("rate", ascending=False).iloc[0]
    low, high = (f"{worst[end] * 100:.0f}" for end in ("low", "high"))
    assert f"{worst['system']} {worst['rate'] * 100:.0f} % ({low} to {high}) of" in said
    assert not describe_harm_rates_in_a_sentence_if_any(study.table.assign(harm="no"))
    assert not describe_harm_rates_in_a_sentence_if_any(study.table.assign(points=np.nan, harm=""))


def test_points_without_a_digest_match_no_ticks() -> None:
    """Points whose words were left out of a pack are known by the digest that it keeps; without one, by none."""
    points = POINTS["Q1"]
    ticks = make_ticks(points, ["a"])
    bare = tuple(msgspec.structs.replace(point, text="") for point in points)
    assert AnnotatedPoints(points_digest(points), bare).are_ticks_of_these_points(ticks)
    assert not AnnotatedPoints(points_digest(bare), bare).are_ticks_of_these_points(ticks)
    assert not AnnotatedPoints("", bare).are_ticks_of_these_points(ticks)
    assert not replace(AnnotatedPoints(points_digest(points), bare)).are_ticks_of_these_points(None)
