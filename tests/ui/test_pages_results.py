"""The Results page of the desk: the report's numbers, the filters, and the answers behind a cell."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pages import EDSGER, Shown, desk_here, digests, make_desk, score
from running import carry_out, make_workspace, spec, write

from genaipa.answers.gather import gather_study
from genaipa.reports.chapters import metrics, overall
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.runs.imported import PUBLISHED_SCORES, PublishedScore, format_published_scores_csv
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.people import User
from genaipa.ui.desk import Desk
from genaipa.ui.launch import FOR_RESULTS, explain_missing_results_packages_if_any
from genaipa.ui.results import ScoreFilter

READER = User("ruth", scores=False, adjudicates=True)
REASON = "tables-contradict: The metrics imply 7."
HOSTILE = "<script>alert(1)</script> ![beacon](http://192.0.2.1/x.png) [link](http://192.0.2.1) :red[**loud**] $x$"


@pytest.fixture
def desk() -> Desk:
    """A desk with the four answers of one system to questions about one document, none of them scored."""
    return make_desk()


@pytest.fixture
def scored(desk: Desk) -> Desk:
    """The same with two analysts' scores of the first two answers, who differ on the first, and one of the third."""
    first, second, third, _ = digests(desk)
    for analyst, keys in (("ada", "11213"), ("grace", "13213")):
        score(desk, analyst, first, keys, note=f"{analyst} on the first")
        score(desk, analyst, second, "11111")
    score(desk, "ada", third, "33333")
    return desk


def cells(page: Shown, group: str = "extractive") -> dict[str, dict[str, str]]:
    """Row → column → the number on the heat map."""
    shown: dict[str, dict[str, str]] = {}
    for cell in tiles(page):
        if cell["system"] == group:
            shown.setdefault(cell["row"], {})[cell["column"]] = cell["text"]
    return shown


def tiles(page: Shown) -> list[dict[str, Any]]:
    """What the heat map draws."""
    return page.chart_rows("results map")


def groups(page: Shown) -> list[str]:
    """The systems on the heat map, in their order."""
    order: list[str] = page.charts()["results map"]["facet"]["sort"]
    return order


def choose(page: Shown, row: str, column: str = "accuracy", group: str = "extractive") -> None:
    """Click a cell of the heat map."""
    page.select("results map", "cell", system=group, row=row, column=column)


def choose_in(page: Shown, box: str, value: object) -> None:
    """Choose in a filter."""
    page.test.selectbox(key=f"results {box}").select(value)
    page.run()


# -- the numbers --


def test_an_empty_workspace_is_one_sentence():
    """Where nothing has been run, the page says so, and what to do."""
    make_workspace()
    page = Shown("results", desk_here())
    ((said,),) = [data["texts"] for data in page.components().values() if "texts" in data]
    assert "There is no run yet" in said["text"]
    assert "genaipa run" in said["text"]


def test_a_run_that_nobody_scored(desk):
    """Without a score there is no heat map, and a sentence; the report's count of what was asked is there.

    Where too little is scored the page says that, not that nothing is.
    """
    page = Shown("results", desk)
    assert "No score counts in this selection" in page.text()
    page.test.toggle(key="results report").set_value(True)
    page.run()
    assert page.rows("results table answers")[0][:3] == ["extractive", "recall", "4"]
    score(desk, "ada", digests(desk)[0], "11213")
    said = Shown("results", desk, READER).text()
    assert "extractive recall (1 of 4)" in said, "one score of four is no average, and more than none"
    assert "is chosen" not in said


def test_the_numbers_are_those_of_the_report(scored):
    """The heat map and the systems show what the report's tables say of the same runs and scores."""
    page = Shown("results", scored, READER)
    frame = gather_study(scored.workspace, select_runs_and_apply_filters(scored.workspace, ()), scored.store).table
    for line in metrics.metrics_by_question_table(frame).data.to_dict("records"):
        shown = cells(page)[line["question"]]
        assert shown["accuracy"] == f"{line['accuracy']:+.2f}"
        assert shown["m_all"] == f"{line['m_all']:.1f}"
    assert set(cells(page)) == {"Q1", "Q2", "Q3"}
    (system,) = overall.leaderboard_table(frame).data.to_dict("records")
    (row,) = page.rows("results systems")
    assert row[0] == "extractive"
    assert row[1] == f"{system['m_all']:.1f}"
    assert row[2] == f"[{system['low']:.1f}, {system['high']:.1f}]"
    assert row[3] == "1 document: too few"
    assert "3 of 4 planned answers are scored: " in page.text()
    page.test.radio(key="results rows").set_value("category")
    page.run()
    assert cells(page)["T"]["accuracy"] == f"{metrics.metrics_by_category_table(frame).data['accuracy'][0]:+.2f}"


def test_new_scores_change_the_same_table(scored):
    """Scores that are put to answers gathered before give the very table that gathering everything anew gives."""
    sources = select_runs_and_apply_filters(scored.workspace, ())
    before = gather_study(scored.workspace, sources, scored.store)
    score(scored, "grace", digests(scored)[3], "22222")
    scored.queue.undo_last_score_or_skip("ada")
    events = [event for _, event in scored.store.read_numbered_events()]
    after = gather_study(scored.workspace, sources, scored.store)
    for start in (before, gather_study(scored.workspace, sources, None)):
        found = start.replace_scores_from_events(events)
        pd.testing.assert_frame_equal(found.make_tidy_table(), after.make_tidy_table())
        assert found.log.counted == after.log.counted


def test_what_came_in_since_is_taken_in_when_it_is_asked_for(scored):
    """Numbers stand still under whoever reads them; that others scored is said, and a visit begins with the latest."""
    page = Shown("results", scored, READER)
    assert "have come in since" not in page.text()
    score(scored, "grace", digests(scored)[2], "11111")
    page.run()
    assert cells(page)["Q3"]["accuracy"] == "-1.00"
    assert "have come in since" in page.text()
    page.test.button(key="results anew").click()
    page.run()
    assert cells(page)["Q3"]["accuracy"] == "+0.00"
    assert "have come in since" not in page.text()
    score(scored, "edsger", digests(scored)[3], "11111")
    assert "Q4" in cells(Shown("results", scored, READER))


# -- the filters --


@pytest.fixture
def two_systems() -> Desk:
    """A desk on two systems, two documents and two experiments, all scored alike but for what is said here."""
    make_workspace(2, documents=("acme", "emca"))
    write("say.yaml", 'rules: [{match: "", reply: "See section 1."}]\n')
    carry_out(
        spec(
            systems=("extractive", "scripted/say.yaml"),
            documents=("acme", "emca"),
            initializations=("document", "company-name"),
        )
    )
    desk = desk_here()
    for answer in desk.pool.answers.values():
        worst = answer.document == "emca" and answer.question == "Q2"
        score(desk, "ada", answer.digest, "33333" if worst else "11111")
        score(desk, "grace", answer.digest, "22222")
    return desk


def test_filters_change_the_numbers(two_systems):
    """System, experiment, document, questions and analyst each let only their own through, and close a chosen cell."""
    page = Shown("results", two_systems, READER)
    assert groups(page) == ["extractive", "scripted/say.yaml"]
    assert cells(page)["Q2"]["accuracy"] == f"{(0.75 - 0.25) / 2:+.2f}"
    choose(page, "Q1", group="scripted/say.yaml")
    assert len(page.rows("results answers")) == 2
    choose_in(page, "system", "extractive")
    assert groups(page) == ["extractive"]
    assert "results answers" not in page.components(), "nothing is left of the cell"
    assert page.test.selectbox(key="results cell system").options == ["extractive"]
    choose_in(page, "document", "emca")
    assert cells(page)["Q2"]["accuracy"] == "-0.25"
    choose_in(page, "whose", ScoreFilter("human", "ada"))
    assert cells(page)["Q2"]["accuracy"] == "-1.00"
    assert cells(page)["Q1"]["accuracy"] == "+1.00"
    choose(page, "Q1")
    assert len(page.rows("results answers")) == 1
    choose_in(page, "experiment", "recall")
    assert "results answers" not in page.components(), "the same place on another experiment's map is another cell"
    assert [row[5] for row in page.rows("results systems")] == ["2"]
    choose_in(page, "questions", "user")
    assert "results map" not in page.charts()
    assert "No score counts in this selection" in page.text()
    choose_in(page, "questions", "T")
    assert set(cells(page)) == {"Q1", "Q2"}


def test_adjudications_alone(scored):
    """An adjudicated answer counts as it was settled; the adjudications can be looked at alone."""
    first = digests(scored)[0]
    scored.queue.adjudicate(
        "edsger", first, scored.current.scores_by_analyst(first)["ada"].values, note="", seconds=1, id="a" * 32
    )
    page = Shown("results", scored, READER)
    assert cells(page)["Q1"]["accuracy"] == "+1.00"
    choose_in(page, "whose", ScoreFilter("adjudication"))
    assert set(cells(page)) == {"Q1"}
    choose_in(page, "whose", ScoreFilter("human", "grace"))
    assert cells(page)["Q1"]["accuracy"] == "-1.00"


def test_what_is_excluded_can_be_counted(scored):
    """An excluded answer is in no number until that is asked for, and is listed with the reason."""
    (run,) = scored.workspace.runs.iterdir()
    where = scored.pool.answers[digests(scored)[2]].occurrences[0]
    excluded = Exclusion("answer", where.key, "other-company", "It is about another company.")
    (run / EXCLUSIONS).write_bytes(format_exclusions_csv([excluded]))
    page = Shown("results", desk_here(), READER)
    assert set(cells(page)) == {"Q1", "Q2"}
    page.test.toggle(key="results excluded").set_value(True)
    page.run()
    assert cells(page)["Q3"]["accuracy"] == "-1.00"
    choose(page, "Q3")
    assert "It is about another company." in json.dumps(page.rows("results answers"))


# -- behind a cell --


def test_a_cell_leads_to_its_answers(scored):
    """A chosen cell lists the answers behind it with each analyst's value; one of them can be read with the notes."""
    first = digests(scored)[0]
    page = Shown("results", scored, READER)
    assert "results answers" not in page.components()
    for row, column in (("Q9", "accuracy"), ("Q1", "counted")):
        choose(page, row, column)
        assert "results answers" not in page.components(), "that is the name of no cell"
    choose(page, "Q1")
    (head,) = page.components()["results cell"]["texts"]
    assert head["aside"] == "extractive, recall: accuracy +0.00 (Yellow)"
    assert "Question 1 on" in head["text"]
    (chosen,) = [cell for cell in tiles(page) if cell["chosen"]]
    assert (chosen["row"], chosen["column"], chosen["heard"]) == (
        "Q1",
        "accuracy",
        "Q1, accuracy, extractive: +0.00, Yellow",
    )
    (row,) = page.rows("results answers")
    assert row == ["acme", "original, 1", "answered", "+0.00", "68.5", "ada +1\ngrace -1", ""]
    page.tell("results answers", "chosen", first)
    texts = {text["title"]: text["text"] for text in page.components()["results reply"]["texts"]}
    case = scored.pool.load_case(first)
    assert (texts["Asked"], texts["Answer"]) == (case.asked, case.reply)
    given = page.rows("results scores")
    assert [(row[0], row[2], row[-1]) for row in given] == [
        ("ada", "+1", "ada on the first"),
        ("grace", "-1", "grace on the first"),
    ]
    page.test.selectbox(key="results cell row").select("Q2")
    page.test.selectbox(key="results cell metric").select("m_all")
    page.run()
    assert page.rows("results answers")[0][3:] == ["100.0", "ada 100.0\ngrace 100.0", ""]
    assert "results reply" not in page.components()


def test_two_systems_answers_side_by_side(two_systems):
    """Beside an answer that is read comes another system's to the same question in the same experiment, with scores."""
    page = Shown("results", two_systems, READER)
    choose(page, "Q1")
    digest = next(row["id"] for row in page.components()["results answers"]["rows"] if row["cells"][0] == "acme")
    page.tell("results answers", "chosen", digest)
    box = page.test.selectbox(key=f"results beside {digest}")
    assert box.options == ["no other answer", "scripted/say.yaml: original, 1"]
    box.select(box.options[1])
    page.run()
    shown = page.components()
    (mine,), (other,) = (shown[key]["texts"] for key in ("results reply", "results reply beside"))
    assert (mine["title"], other["title"], other["text"]) == ("extractive", box.options[1], "See section 1.")
    assert page.rows("results scores beside")[0][0] == "ada"
    beside = next(
        answer.digest
        for answer in two_systems.pool.answers.values()
        if answer.occurrences[0].system != "extractive" and (answer.document, answer.question) == ("acme", "Q1")
    )
    assert beside in two_systems.current.answers_with_seen_system(
        READER.name
    ) & two_systems.current.answers_with_seen_scores(READER.name)
    # Whoever could still be asked to score it is not offered it.
    two_systems.queue.undo_last_score_or_skip("grace")
    last = next(
        digest for digest in two_systems.pool.answers if len(two_systems.current.scores_by_analyst(digest)) == 1
    )
    two_systems.queue.record_exposures(
        "dee", set(two_systems.pool.answers) - {last}, sees_system=True, sees_scores=True
    )
    place = two_systems.pool.answers[last]
    page = Shown("results", two_systems, User("dee", scores=True, adjudicates=False))
    other = next(
        a
        for a in two_systems.pool.answers.values()
        if (a.document, a.question) == (place.document, place.question)
        and a.occurrences[0].system != place.occurrences[0].system
    )
    choose(page, place.question, group=other.occurrences[0].system)
    page.tell("results answers", "chosen", other.digest)
    assert "results reply" in page.components()
    assert not [box for box in page.test.selectbox if str(box.key).startswith("results beside")]


def test_unscored_answers_of_a_cell_are_listed(two_systems):
    """An answer that nobody scored stands behind its cell as unscored, and is part of no number."""
    extractive = (a for a in two_systems.pool.answers.values() if a.occurrences[0].system == "extractive")
    withdrawn = next(answer for answer in extractive if (answer.document, answer.question) == ("emca", "Q1"))
    for analyst in ("ada", "grace"):
        two_systems.queue._append_undo_and_restore_draft(two_systems.current.find_score(withdrawn.digest, analyst))
    page = Shown("results", two_systems, READER)
    choose(page, "Q1")
    assert [(row[0], row[3], row[5]) for row in page.rows("results answers")] == [
        ("acme", "+0.75", "ada +1\ngrace +0.5"),
        ("emca", "", "not scored"),
    ]
    assert cells(page)["Q1"]["accuracy"] == "+0.75"


def test_published_scores_stand_behind_their_cell(desk):
    """A score that a study published without its analysts is shown as such, beside what was scored here."""
    (run,) = desk.workspace.runs.iterdir()
    published = PublishedScore("extractive", "recall", "acme", "Q1", 55.0, 0.5, 0.5, -1.0, 0.5, 0.5)
    (run / PUBLISHED_SCORES).write_bytes(format_published_scores_csv([published]))
    page = Shown("results", desk_here())
    assert cells(page)["Q1"]["clarity"] == "-1.00"
    choose(page, "Q1", "clarity")
    (row,) = [row for row in page.rows("results answers") if row[2] == "published score"]
    assert row == ["acme", "", "published score", "-1.00", "55.0", "published -1", ""]


# -- what is kept from whom --


def test_what_one_can_be_asked_to_score_is_in_no_number(scored):
    """An analyst sees neither scores nor system of an answer ahead of them; how many are left out is said."""
    wanting = desk_here(per_answer=3)
    page = Shown("results", wanting)
    assert "results map" not in page.charts()
    assert "3 answers that people or a judge scored are left out of all numbers" in page.text()
    score(wanting, EDSGER.name, digests(wanting)[1], "11111")
    page = Shown("results", wanting)
    assert set(cells(page)) == {"Q2"}
    assert "2 answers that people or a judge scored" in page.text()
    page.test.radio(key="results rows").set_value("category")
    page.run()
    choose(page, "T")
    assert [row[1] for row in page.rows("results answers")] == ["Q2"]
    page.test.radio(key="results rows").set_value("question")
    page.run()
    choose(page, "Q1")
    assert "results answers" not in page.components()


def test_whoever_only_reads_can_see_all_of_it(scored):
    """Choosing to see everything opens it, and takes those answers out of what one is asked to score."""
    wanting = desk_here(per_answer=3)
    page = Shown("results", wanting)
    page.test.button(key="results show all").click()
    page.run()
    assert set(cells(page)) == {"Q1", "Q2", "Q3"}
    assert "left out of all numbers" not in page.text()
    assert wanting.queue.reserve_next_answer(EDSGER.name) == digests(wanting)[3]


def test_to_see_what_is_behind_a_cell_is_a_look(scored):
    """Who was shown an answer's system and scores gives neither a blind nor an independent score of it after that."""
    ada = User("ada", scores=True, adjudicates=False)
    first, second, *_ = digests(scored)
    page = Shown("results", scored, ada)
    choose(page, "Q1")
    changed = score(scored, "ada", first, "11111")
    assert (changed.blind, changed.independent) == (False, False)
    # Of a cell with few answers the number alone tells how they were scored.
    other = score(scored, "ada", second, "22222")
    assert (other.blind, other.independent) == (True, False)


# -- the rest of the report --


@pytest.mark.full
def test_every_part_of_the_report_is_there(two_systems):
    """Each chapter's tables stand on the page as the report has them, with its figures as pictures."""
    page = Shown("results", two_systems, READER)
    page.test.toggle(key="results report").set_value(True)
    page.run()
    box = page.test.selectbox(key="results chapter")
    assert {"Overall quality", "Closed book", "Agreement of the analysts"} <= set(box.options)
    choose_in(page, "chapter", "Overall quality")
    assert page.rows("results table leaderboard")[0][1] in ("extractive", "scripted/say.yaml")
    choose_in(page, "chapter", "Closed book")
    assert [element.type for element in page.elements()].count("image") == 1


# -- safety --


def test_no_text_of_others_reaches_markdown(desk):
    """A hostile analyst's name or note is only ever in the desk's own components and in a box's plain options."""
    first = digests(desk)[0]
    score(desk, HOSTILE, first, "11111", note=HOSTILE)
    page = Shown("results", desk, READER)
    choose(page, "Q1")
    page.tell("results answers", "chosen", first)
    page.test.toggle(key="results report").set_value(True)
    page.run()
    assert HOSTILE in json.dumps(page.components(), ensure_ascii=False)
    live = [element for element in page.elements() if "beacon" in str(element.proto)]
    assert {element.type for element in live} <= {"bidi_component", "selectbox"}


def test_a_damaged_answer_is_set_aside(scored):
    """What was changed since is said to whoever keeps the study, and the page goes on without it."""
    first = digests(scored)[0]
    page = Shown("results", scored, READER)
    choose(page, "Q1")
    log = scored.workspace.runs / scored.pool.answers[first].occurrences[0].run / "answers.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"reply":"', b'"reply":"X'))
    page.tell("results answers", "chosen", first)
    assert first not in scored.pool.answers
    assert any(str(log) in problem for problem in scored.pool.problems)
    assert "results reply" not in page.components()


@pytest.mark.parametrize("package", FOR_RESULTS)
def test_without_the_reports_the_page_says_what_to_install(monkeypatch, package):
    """The desk works without the packages for reports; the page names the extra."""
    assert explain_missing_results_packages_if_any() == ""
    monkeypatch.setitem(sys.modules, package, None)
    assert (
        explain_missing_results_packages_if_any()
        == f"The Results page needs the package '{package}': pip install 'genaipa[desk,reports]'"
    )


def test_runs_that_the_desk_is_not_open_on_are_not_there(scored):
    """The page is about the runs of the desk, not about all of the workspace."""
    (run,) = Path("runs").iterdir()
    carry_out(spec(systems=("extractive",), initializations=("document",)))
    page = Shown("results", desk_here(run.name), READER)
    assert page.test.selectbox(key="results experiment").options == ["any", "recall"]
