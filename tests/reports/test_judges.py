"""How good judges are: on a real run and store, with judges of known quality, against numbers found another way."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

import krippendorff
import numpy as np
import pandas as pd
import pytest
import scipy
from judged import GPT, OTHER_PROMPT, human, make_judged, make_run, noisy, truth, verdict
from msgspec.structs import replace
from pages import Shown, desk_here

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.answers.study import Study
from genaipa.reports.chapters.agreement import alpha_by_silence_and_language_table, analyst_alpha_table
from genaipa.reports.chapters.judges import JudgesChapter
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.judged.quality import (
    EPSILON,
    alternative_annotator_test_table,
    group_answers_by_silence_and_language,
    judge_agreement_by_group_table,
    judge_agreement_table,
)
from genaipa.reports.judged.verdicts import LEAST, Verdicts
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.people import User
from genaipa.scoring.rubric import format_signed_value
from genaipa.stats.annotators import run_alternative_annotator_test
from genaipa.ui.charts import drop_judges_chapter_unless_adjudicator
from genaipa.ui.results import ResultsChoice, make_results_view_cached, results_cache
from genaipa.workspace import find_workspace
from rubrics import METRICS, PAPER, VALUES
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    from genaipa.reports.chapters.chapter import Chapter

SCALE = sorted(VALUES)
EXACT, HARSH, CONSTANT = (f"{name} @012345" for name in ("exact", "harsh", "constant"))
NEXT = "With so few answers, score them all; no estimate is needed."
ERRING = f"{GPT} @ba9876"


def gathered() -> Study:
    """All that a report of the working folder's runs needs."""
    here = find_workspace()
    return gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ()))


def chapter_of(found: Study) -> Chapter:
    """The chapter on judges."""
    return JudgesChapter().make(found, FigureScope.from_scores_table(found.table))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Study, Chapter]]:
    """The folder, the data and the chapter of a study with four judges (`judged.make_judged`)."""
    folder = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        make_judged()
        found = gathered()
        yield folder, found, chapter_of(found)


def rows(found: Chapter, table: str, **of: object) -> list[dict[str, object]]:
    """The rows of a table with these values."""
    data = next(one.data for one in found.tables if one.name == table)
    for column, value in of.items():
        data = data[data[column] == value]
    return data.to_dict("records")


def given(found: Study) -> dict[str, dict[str, dict[str, float]]]:
    """Who scored → answer → values with M_all, from the events themselves."""
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for event in found.log.counted:
        assert event.values is not None
        whole = {**event.values, "M_all": round(PAPER.m_all(event.values), 9)}
        scores.setdefault(event.analyst, {})[event.answer] = whole
    return scores


def packages_alpha(raters: list[list[float]]) -> float:
    """What the krippendorff package finds: a row for each rater."""
    domain = sorted({value for row in raters for value in row if not np.isnan(value)})
    return krippendorff.alpha(np.array(raters), value_domain=domain, level_of_measurement="ordinal")


# -- agreement --


def test_alpha_of_people_and_of_passes_is_the_packages(study):
    """People with each other and a judge's passes are coders of the krippendorff package, by metric and for M_all."""
    _, found, made = study
    scores = given(found)
    passes = [scores[f"judge:{GPT}@{OTHER_PROMPT}#{number}"] for number in (1, 2)]
    for judge, whom, coders in (("people", "each other", [scores["ada"], scores["bo"]]), (ERRING, "itself", passes)):
        for measure in (*METRICS, "M_all"):
            (row,) = rows(made, "judges-agreement", judge=judge, measure=measure, **{"with": whom})
            both = [answer for answer in coders[0] if answer in coders[1]]
            expected = packages_alpha([[coder[answer][measure] for answer in both] for coder in coders])
            assert (row["alpha"], row["answers"]) == (pytest.approx(expected), len(both))
            assert row["low"] < row["alpha"] < row["high"]


def test_alpha_with_people_is_found_by_drawing_one_of_them(study):
    """A judge with two people: the coincidences of each answer's two pairs, halved, by plain loops."""
    _, found, made = study
    scores = given(found)
    judge = scores["judge:harsh@0123456789ab#1"]
    pairs = [(judge[answer], scores[person][answer]) for person in ("ada", "bo") for answer in scores[person]]
    for measure in (*METRICS, "M_all"):
        (row,) = rows(made, "judges-agreement", judge=HARSH, measure=measure, **{"with": "people"})
        values_of = [(ours[measure], theirs[measure]) for ours, theirs in pairs]
        crossed: Counter[tuple[float, float]] = Counter()
        for pair in values_of:
            crossed[pair] += 0.5  # type: ignore[assignment]
            crossed[pair[::-1]] += 0.5  # type: ignore[assignment]
        assert row["alpha"] == pytest.approx(alpha_of(crossed))
        assert row["agreement"] == pytest.approx(mean(a == b for a, b in values_of))


def alpha_of(crossed: Counter[tuple[float, float]]) -> float:
    """Krippendorff's alpha for ordinal values from coincidences, as its formula says (2011, section D)."""
    marginal: Counter[float] = Counter()
    for (value, _), often in crossed.items():
        marginal[value] += often
    scale, n = sorted(marginal), sum(marginal.values())

    def distance(one: float, other: float) -> float:
        between_them = [marginal[value] for value in scale if min(one, other) <= value <= max(one, other)]
        return (sum(between_them) - (marginal[one] + marginal[other]) / 2) ** 2

    observed = sum(often * distance(*pair) for pair, often in crossed.items())
    expected = sum(marginal[a] * marginal[b] * distance(a, b) for a, b in itertools.product(scale, scale))
    return 1 - (n - 1) * observed / expected


def test_agreement_by_silent_questions_and_by_language(study):
    """Of each group of answers it is that of these answers alone, of people and of judges; no group is no table."""
    _, found, made = study
    frame, (source,) = found.table, found.sources
    silent = frame["question"].isin([f"Q{n}" for n in range(1, 5)]).map({True: "yes", False: "no"})
    documents = source.manifest.documents
    documents = {**documents, "bolt": replace(documents["bolt"], language="de")}
    sources = [dataclasses.replace(source, manifest=replace(source.manifest, documents=documents))]
    known = dataclasses.replace(found, table=frame.assign(silent=silent.astype("category")), sources=sources)
    judged, people = (
        judge_agreement_by_group_table(Verdicts.from_study(known), group_answers_by_silence_and_language(known)).data,
        alpha_by_silence_and_language_table(known).data,
    )
    assert not alpha_by_silence_and_language_table(found)
    assert "judges-agreement-apart" not in {one.name for one in made.tables}
    for by, group, some in (
        ("silent", "silent", silent == "yes"),
        ("silent", "not silent", silent == "no"),
        ("language", "en", frame["document"] == "acme"),
        ("language", "de", frame["document"] == "bolt"),
    ):
        there = {*frame.loc[some, "answer"].astype("str")}
        alone = found.replace_scores_from_events([event for event in found.log.counted if event.answer in there])
        own = people[(people["by"] == by) & (people["group"] == group)]
        expected = analyst_alpha_table(alone.log.counted, PAPER).data
        columns = ["metric", "alpha", "low", "high", "ac2", "commonest", "answers", "reason"]
        pd.testing.assert_frame_equal(own[columns].reset_index(drop=True), expected[columns])
        told = judged[(judged["judge"] == HARSH) & (judged["by"] == by) & (judged["group"] == group)]
        if (answers := own["answers"].iloc[0]) < LEAST:
            assert [*told[["answers", "measure"]].itertuples(index=False, name=None)] == [(answers, "M_all")]
            assert "and 30 are needed" in told["reason"].iloc[0]
        else:
            whole = judge_agreement_table(Verdicts.from_study(alone)).data
            whole = whole[(whole["judge"] == HARSH) & (whole["with"] == "people")]
            columns = ["measure", "answers", "alpha", "low", "high", "ac2", "commonest"]
            pd.testing.assert_frame_equal(told[columns].reset_index(drop=True), whole[columns].reset_index(drop=True))
    assert len(told) == 1 + len(METRICS), "the last of these has enough answers"


def test_r_is_pearsons_over_answers(study):
    """R is scipy's over answers, each the mean over passes and over people."""
    _, found, made = study
    scores = given(found)
    passes = [scores[f"judge:{GPT}@{OTHER_PROMPT}#{number}"] for number in (1, 2)]
    people = [scores["ada"], scores["bo"]]
    both = list(people[0])
    means = [[mean(one[answer]["M_all"] for one in side) for answer in both] for side in (passes, people)]
    (row,) = rows(made, "judges-agreement", judge=ERRING, measure="M_all", **{"with": "people"})
    assert row["r"] == pytest.approx(scipy.stats.pearsonr(*means).statistic)
    assert row["r_low"] < row["r"] < row["r_high"]


# -- leniency --


def test_leniency_is_what_averages_would_change_by(study):
    """By system: the mean over questions of a judge's M_all less people's mean, found by plain loops."""
    _, found, made = study
    scores, frame = given(found), found.table
    places = frame[["answer", "system", "question", "document"]].drop_duplicates("answer")
    for judge, system in itertools.product((EXACT, HARSH, CONSTANT), places["system"].unique()):
        own = scores[f"judge:{judge.partition(' ')[0]}@0123456789ab#1"]
        cells: dict[str, list[float]] = {}
        for place in places[places["system"] == system].to_dict("records"):
            answer = place["answer"]
            if answer in scores["ada"]:
                people = mean(scores[person][answer]["M_all"] for person in ("ada", "bo"))
                cells.setdefault(place["question"], []).append(own[answer]["M_all"] - people)
        (row,) = rows(made, "judges-leniency", judge=judge, by="system", group=system, measure="M_all")
        assert row["answers"] == sum(map(len, cells.values()))
        assert row["mean"] == pytest.approx(mean(map(mean, cells.values())))
        assert row["low"] < row["mean"] < row["high"]


def test_leniency_takes_the_adjudication_and_agreement_does_not(study):
    """An adjudication moves leniency, which is about averages; alpha takes independent scores alone."""
    _, found, made = study
    answer = next(event.answer for event in found.log.counted if event.analyst == "ada")
    settled = replace(human("ruth", answer, (2,) * 5), kind="adjudication")
    swayed = replace(human("cy", answer, (2,) * 5), independent=False)
    again = chapter_of(found.replace_scores_from_events([*found.log.counted, settled, swayed]))
    of = {"judge": CONSTANT, "by": "all", "measure": "M_all"}
    assert rows(again, "judges-leniency", **of)[0]["mean"] > rows(made, "judges-leniency", **of)[0]["mean"]
    pd.testing.assert_frame_equal(data(again, "judges-agreement"), data(made, "judges-agreement"))


def test_the_own_family_is_marked(study):
    """A judge that is one of the systems has its family apart, the others of the same study have none."""
    _, _, made = study
    marked = data(made, "judges-leniency").query("family == 'yes'")
    assert set(zip(marked["judge"], marked["by"], marked["group"], strict=True)) == {(ERRING, "system", GPT)}
    of_family = rows(made, "judges-leniency", by="family", measure="M_all")
    by_system = rows(made, "judges-leniency", by="system", measure="M_all", judge=ERRING)
    assert [(row["judge"], row["group"]) for row in of_family] == [(ERRING, "its own"), (ERRING, "others")]
    assert of_family[0]["mean"] == next(row["mean"] for row in by_system if row["group"] == GPT)
    assert "For systems of its own family the difference is" in finding(made, ERRING)


# -- values, time, and the alternative annotator test --


def test_the_values_that_a_judge_confuses(study):
    """Each answer counts once, divided among the values of those who scored it; by plain loops."""
    _, found, made = study
    scores = given(found)
    passes = [scores[f"judge:{GPT}@{OTHER_PROMPT}#{number}"] for number in (1, 2)]
    expected: dict[tuple[float, float], float] = {}
    for answer, person, own in itertools.product(scores["ada"], ("ada", "bo"), passes):
        pair = scores[person][answer]["clarity"], own[answer]["clarity"]
        expected[pair] = expected.get(pair, 0.0) + 0.25
    for people in VALUES:
        (row,) = rows(made, "judges-confusion", judge=ERRING, metric="clarity", people=format_signed_value(people))
        assert [row[f"judge {format_signed_value(value)}"] for value in VALUES] == pytest.approx(
            [expected.get((people, value), 0.0) for value in VALUES]
        )


def test_drift_is_agreement_in_the_order_of_time(study):
    """64 answers are two halves, each as if only these had been scored."""
    _, found, made = study
    scored = [event.answer for event in found.log.counted if event.analyst == "ada"]
    for number, half in enumerate((scored[:32], scored[32:]), 1):
        events = [event for event in found.log.counted if event.scorer == "machine" or event.answer in half]
        agreed = judge_agreement_table(Verdicts.from_study(found.replace_scores_from_events(events))).data
        (expected,) = agreed.query(f"judge == '{HARSH}' and measure == 'M_all' and `with` == 'people'").to_dict(
            "records"
        )
        (row,) = rows(made, "judges-drift", judge=HARSH, measure="M_all", part=f"{number} of 2")
        assert [row[name] for name in ("answers", "alpha", "low", "high", "agreement")] == [
            expected[name] for name in ("answers", "alpha", "low", "high", "agreement")
        ]


def test_the_alternative_annotator_test_is_of_people_and_judge(study):
    """Of the values that all gave: a judge that is people's passes, one that says the same of all does not."""
    _, found, made = study
    assert {row["reason"] for row in rows(made, "judges-alternative")} == {"Only two people; three are advised."}
    third, known = noisy(9, 0.5), truth(sorted({event.answer for event in found.log.counted}))
    cy = [human("cy", answer, third(known[answer])) for answer in given(found)["ada"]]
    more = found.replace_scores_from_events([*found.log.counted, *cy])
    tested, scores = alternative_annotator_test_table(Verdicts.from_study(more)).data, given(more)
    people = [scores[person] for person in ("ada", "bo", "cy")]
    for row in tested[tested["judge"] != ERRING].to_dict("records"):
        own = scores[f"judge:{row['judge'].partition(' ')[0]}@0123456789ab#1"]
        values = [[side[answer][row["measure"]] for answer in people[0]] for side in (own, *people)]
        expected = run_alternative_annotator_test(values[0], values[1:], epsilon=EPSILON, false_discovery_rate=0.05)
        assert (row["people"], row["reason"]) == (3, "")
        assert [row["winning"], row["advantage"]] == pytest.approx(expected[1:])
    assert {*tested.loc[tested["judge"] == EXACT, "passes"]} == {"yes"}
    assert {*tested.loc[tested["judge"] == CONSTANT, "passes"]} == {"no"}


def data(found: Chapter, name: str) -> pd.DataFrame:
    """The data of a table."""
    return next(one.data for one in found.tables if one.name == name)


def finding(found: Chapter, judge: str) -> str:
    """What is said of a judge."""
    return str(rows(found, "judges", judge=judge)[0]["finding"])


def test_each_judge_is_told_what_it_is(study):
    """Exact, harsh and constant judges are called so, with the numbers, and each beside people's own."""
    _, _, made = study
    for judge, word in ((EXACT, "as lenient as"), (HARSH, "harsher than"), (CONSTANT, "more lenient than")):
        assert f"It is {word} people" in finding(made, judge)
    (row,) = rows(made, "judges-against-people", judge=HARSH, measure="clarity")
    assert f"clarity ({row['alpha']:.2f} against {row['people']:.2f}; {row['low']:+.2f} to" in finding(made, HARSH)
    assert row["verdict"] == "less"
    assert "the judge agrees with people less than people agree with each other." in finding(made, HARSH)
    assert "the judge agrees with people more than people agree with each other." in finding(made, EXACT)
    assert "follows people's" not in finding(made, CONSTANT), "what never varies has no correlation"
    assert "When asked again, it agrees with itself at an alpha of 0.50 on M_all." in finding(made, ERRING)


def test_a_judge_that_is_people_exactly(study):
    """Where judge and people give the same, alpha and r are 1, leniency 0 without an interval, and the test is won."""
    _, found, _ = study
    events = [event for event in found.log.counted if event.analyst in ("ada", "judge:exact@0123456789ab#1")]
    twins = [replace(event, id=f"{event.id} again", analyst="bo") for event in events if event.analyst == "ada"]
    made = chapter_of(found.replace_scores_from_events([*events, *twins]))
    for row in rows(made, "judges-agreement", judge=EXACT):
        assert [row["alpha"], row["r"], row["agreement"]] == pytest.approx([1, 1, 1])
        assert np.isnan(row["low"])
    assert rows(made, "judges-leniency", by="all", measure="M_all")[0]["mean"] == 0
    assert {row["winning"] for row in rows(made, "judges-alternative")} == {1.0}
    assert "It is as lenient as people: its M_all minus theirs is +0.00 on average." in finding(made, EXACT)


def test_below_thirty_answers_nothing_is_said(study):
    """29 answers that both scored give a reason, and no number, figure or table but the judges' own; 30 give all."""
    _, found, _ = study
    scored = [event.answer for event in found.log.counted if event.analyst == "ada"]
    judges = [event for event in found.log.counted if event.scorer == "machine"]

    def only(number: int) -> Chapter:
        people = [event for event in found.log.counted if event.analyst == "ada" and event.answer in scored[:number]]
        return chapter_of(found.replace_scores_from_events([*judges, *people]))

    few, enough = only(29), only(30)
    assert [one.name for one in few.tables] == ["judges"]
    assert {figure.name.rpartition("-")[0] for figure in few.figures} == {"judge-alone"}
    assert not any(figure.name.startswith("judge-alone") for figure in enough.figures)
    assert finding(few, EXACT).startswith(
        "Not meaningful: people scored 29 of the answers that it judged, and 30 are needed."
    )
    assert "Not meaningful: people scored none of" in finding(
        chapter_of(found.replace_scores_from_events(judges)), EXACT
    )
    assert rows(enough, "judges-agreement", judge=EXACT, measure="M_all", **{"with": "people"})[0]["alpha"] == 1
    assert "How far people agree with each other is not known: 0 answers were scored by two" in finding(enough, HARSH)
    blank = rows(enough, "judges-leniency", judge=EXACT, by="document")
    assert {row["reason"] for row in blank} == {
        f"not meaningful: {row['answers']} answers, and 30 are needed" for row in blank
    }
    assert enough.absent == ["Drift is not shown: it needs 60 answers scored by both people and a judge, not only 30."]


def test_two_models_are_two_judges_and_other_machines_none(study):
    """A model that changed midway is said; machine scores that no judge gave, and other rubrics, are left out."""
    _, found, _ = study
    people = [event for event in found.log.counted if event.scorer == "human"]
    known = truth(sorted({event.answer for event in found.log.counted}))
    digests = list(known)
    halves = [verdict(f"model-{place % 2}", answer, known[answer]) for place, answer in enumerate(digests)]
    imported = replace(verdict("x", digests[0], known[digests[0]]), analyst="imported")
    other = replace(verdict("model-0", digests[1], known[digests[1]]), rubric="another")
    made = chapter_of(found.replace_scores_from_events([*people, *halves, imported, other]))
    assert [row["judge"] for row in rows(made, "judges")] == ["model-0 @012345", "model-1 @012345"]
    note = next(one.note for one in made.tables if one.name == "judges")
    assert "These judges have the same prompt and no answer in common: model-0 @012345 and model-1 @012345." in note
    assert "1 score is by a different rubric" in note
    assert not chapter_of(found.replace_scores_from_events([*people, imported]))


# -- in a report, on a terminal, at the desk --


def test_verdicts_are_in_no_average(study):
    """The rows that averages take are what they are without judges."""
    _, found, made = study
    assert [figure.name for figure in made.figures] == ["judges-alpha", "judges-systems", "judges-scatter"]
    without = found.replace_scores_from_events([event for event in found.log.counted if event.scorer == "human"])
    columns = ["counted", "m_all", "answer"]
    pd.testing.assert_frame_equal(
        found.table.loc[found.table["counted"], columns].astype({"answer": "str"}).reset_index(drop=True),
        without.table.loc[without.table["counted"], columns].astype({"answer": "str"}).reset_index(drop=True),
    )


def test_the_command_at_eighty_columns(study, genaipa: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch):
    """Every line of its tables fits, each judge is named with its sentence, and --json has every table."""
    folder, _, made = study
    monkeypatch.setenv("COLUMNS", "80")
    printed = genaipa("judges", "--explain", "--workspace", folder).out
    assert f"{ERRING} (2 passes, 96 answers judged, 64 of them scored by people). {finding(made, ERRING)}" in printed
    assert f"{ERRING}: agrees with people at alpha " in printed
    tables = printed[printed.index("\n measure") : printed.index(NEXT)].splitlines()
    assert [line for line in tables if len(line) > 80] == []
    (row,) = rows(made, "judges-agreement", judge=HARSH, measure="M_all", **{"with": "people"})
    assert f"{row['alpha']:.2f} ({row['low']:.2f} to {row['high']:.2f})" in printed
    by_language = genaipa("judges", "--by", "language", "--workspace", folder).out
    assert "By language\n" in by_language
    assert by_language.count("language: en") == 4, "a line under each judge"
    assert "silent" not in by_language
    found = json.loads(genaipa("judges", "--json", "--workspace", folder).out)
    assert set(found["tables"]) == {one.name for one in made.tables}


@pytest.mark.full
def test_the_chapter_is_written_alone(study, genaipa: Callable[..., Finished]):
    """`-o` writes its tables and figures into a folder, and nothing over a file that is there."""
    folder, _, _ = study
    done = genaipa("judges", "-o", "alone", "--workspace", folder)
    assert (done.code, done.err) == (0, "")
    written = {path.name for path in Path("alone").iterdir()}
    assert {"judges.csv", "judges-agreement.tex", "judges-alpha.svg", "judges-scatter.csv"} <= written
    refused = genaipa("judges", "-o", "alone", "--workspace", folder)
    assert refused.code == 2
    assert "judges.csv already exists" in refused.err


def test_no_judge_is_one_sentence(genaipa: Callable[..., Finished]):
    """Without a verdict the command says how to get one, and the report has no such chapter."""
    make_run(questions=1, documents=("acme",))
    assert genaipa("judges").out.startswith("No judge has scored these answers")
    assert not chapter_of(gathered())


def test_the_page_is_for_the_lead(study, monkeypatch: pytest.MonkeyPatch):
    """Who adjudicates sees each judge's sentence, its figures and tables; an analyst a sentence, and no chapter."""
    folder, _, made = study
    monkeypatch.chdir(folder)
    desk = desk_here()
    lead = Shown("judges", desk, User("ruth", scores=False, adjudicates=True))
    shown_findings = [text["text"] for text in lead.components()["judges findings"]["texts"]]
    assert shown_findings[:4] == [row["finding"] for row in rows(made, "judges")]
    assert [element.type for element in lead.elements()].count("image") == 3
    assert lead.rows("judges table judges-agreement")[0][:2] == ["M_all", "people"]
    dan = User("dan", scores=True, adjudicates=False)
    assert drop_judges_chapter_unless_adjudicator([made], dan) == []
    analyst = Shown("judges", desk, dan)
    assert analyst.components() == {}
    assert analyst.test.text[0].value.endswith("This page is for those who adjudicate.")


def test_a_lead_who_scores_sees_nothing_of_what_is_still_theirs_to_score(study, monkeypatch: pytest.MonkeyPatch):
    """Answers that they can still be asked to score are in no number, and nothing of a verdict is on the page."""
    folder, _, _ = study
    monkeypatch.chdir(folder)
    desk = desk_here(per_answer=3)
    snapshot = results_cache(desk.pool).get_or_read_snapshot(desk)
    assert snapshot is not None
    ada = make_results_view_cached(
        snapshot,
        ResultsChoice(),
        snapshot.make_hidden_byte_per_distinct_answer(desk.queue.answers_analyst_may_still_score("ada")),
    )
    assert {row["judged"] for row in rows(ada.judges_chapter, "judges")} == {64}
    page = Shown("judges", desk, User("dan", scores=True, adjudicates=True))
    assert list(page.components()) == ["judges left out"]
    assert "96 judged answers are left out of all numbers" in page.text()
