"""The data sheet of a human evaluation: it says what the records prove, and nothing where they prove nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import pytest
from queues import make_run
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened

from genaipa.answers.gather import gather_study
from genaipa.plugins import entry_point_targets
from genaipa.questions.points import Ticks
from genaipa.questions.sets import follow_up_id
from genaipa.reports.chapters.agreement import analyst_alpha_table
from genaipa.reports.matches import MatchedScores
from genaipa.reports.table import make_table
from genaipa.runs.imported import PUBLISHED_SCORES, PublishedScore, format_published_scores_csv
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.events import MEAN, SEND_BACK, Event, ScreenContents, new_event_id
from genaipa.scoring.rubric import load_guidelines
from genaipa.scoring.waves import Waves, digest_prefix_used_in_waves, encode_waves
from genaipa.workspace import find_workspace
from genaipa_artifact.evaluation import ADDITIONS_GROUP, HumanEvaluationRecords, SheetAddition
from genaipa_artifact.heds import HedsDataSheet, fill_data_sheet
from genaipa_artifact.heds_criteria import CRITERION_QUESTIONS
from genaipa_artifact.heds_power import describe_follow_ups_of_match
from genaipa_artifact.heds_questions import QUESTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record
    from genaipa.scoring.rubric import Values

AUTHORS = (
    "1.1.1 1.2 1.3.1.1 1.3.1.2 1.3.1.3 1.3.2.1 1.3.2.2 1.3.2.3 2.5 3.2.2.1 3.2.2.2 3.2.2.3 "
    "3.2.2.4 3.2.3 3.2.5 3.3.1 3.3.4.1 3.3.6 3.3.7 3.3.8 5.1 5.2 5.3 5.4 4.1.1 4.1.2 4.1.3 4.2.1 4.2.3 4.3.1.2"
)
"""Questions that no record answers."""
UNSCORED = {"2.1", "2.2", "2.3", "2.4", "4.3.1.1", "4.3.2", "4.3.3", "4.3.4", "4.3.6", "4.3.7"}
"""Questions that a study answers that nobody scored."""
POWER = {"3.1.3.1", "3.1.3.2", "3.1.3.3"}
STAND_INS = "Not models: scripted/say.yaml, scripted/say1.yaml (replies from a file, for trying things out)."
SCREEN = ScreenContents(nearest=True, evidence=("accuracy",), suggestion=("clarity",))
HELD_BACK = ScreenContents(withheld={"clarity": 1.0})
REASON = r"read nothing, 50 % of \input{it} & more_"


class Evaluated(NamedTuple):
    """Studies of the same 24 answers, 12 of them `drawn`: a mixed one, an unscored one, one with a mean alone."""

    mixed: HumanEvaluationRecords
    unscored: HumanEvaluationRecords
    published: HumanEvaluationRecords
    drawn: list[Record]
    beside: Record


def scored(analyst: str, record: Record, values: Values = GOOD, *, day: int = 1, **more: Any) -> Event:
    """An event with values, given on a day of November."""
    about = {"kind": "score", **more}
    time = f"2026-11-{day:02}T10:00:00.000Z"
    return Event(id=new_event_id(), time=time, analyst=analyst, answer=record.digest, values=values, **about)


def acted(kind: Any, analyst: str, record: Record, **more: Any) -> Event:
    """An event without values."""
    return Event(new_event_id(), "2026-11-09T10:00:00.000Z", kind, analyst, record.digest, **more)


def draw(run: RunFolder) -> Waves:
    """Draw six answers of each system, and keep that."""
    pool = AnswerPool(find_workspace(), [run])
    waves = Waves().extend_to_size(pool.answers.values(), size_of_each_group=6, seed=7, time="2026-11-01T00:00:00.000Z")
    find_workspace().home.joinpath("waves.jsonl").write_bytes(encode_waves(waves))
    return waves


def mixed_events(drawn: list[Record], beside: Record) -> list[Event]:
    """What people and a judge did, dan and fay elsewhere than at the desk; eve is to be left out, and fay's answer."""
    desk = [
        scored("ada", record, order="question", seconds=10.0 + place, shown={1: None, 2: HELD_BACK}.get(place, SCREEN))
        for place, record in enumerate(drawn)
    ]
    desk[0] = scored("ada", drawn[0], order="question", seconds=10.0, shown=SCREEN, calibration=True)
    second = [
        scored("bo", drawn[0], order="random", day=2),
        scored("bo", drawn[1], order="random", day=2),
        scored("bo", drawn[2], POOR, order="random", day=2),
        scored("bo", drawn[3], order="random", day=2, blind=False, pinned=True),
        scored("bo", drawn[4], order="random", day=3, independent=False),
    ]
    withdrawn, mean = scored("bo", drawn[5], order="random"), acted(MEAN, "cat", drawn[0])
    return [
        *desk,
        *second,
        withdrawn,
        acted("undo", "bo", drawn[5], undoes=withdrawn.id),
        scored("eve", drawn[6], POOR, order="question"),
        acted(SEND_BACK, "cat", drawn[2], note="Look at section 2."),
        mean,
        acted("undo", "cat", drawn[0], undoes=mean.id),
        scored("cat", drawn[2], POOR, kind="adjudication", independent=False),
        scored("dan", beside, day=5),
        scored("fay", drawn[7], day=5),
        scored("judge:kind@0123456789ab#1", beside, scorer="machine"),
    ]


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Evaluated:
    """Both studies, gathered from a workspace; never changed by a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("evaluated"))
        run = make_run("See section 2.", "It does not say.")
        waves = draw(run)
        given = sorted(answers(run), key=lambda record: record.key)
        drawn = [
            record for record in given if digest_prefix_used_in_waves(record.digest) in waves.all_wave_digest_prefixes
        ]
        beside = next(record for record in given if record not in drawn)
        write("desk.yaml", f"left_out: {{eve: '{REASON}'}}\n")
        write("guidelines.md", "## accuracy\n\nBy the text alone.\n")
        write(f"runs/{run.name}/exclusions.csv", f"what,key,kind,reason\nanswer,{drawn[7].key},cut,It ends early.\n")
        workspace = find_workspace()
        sources = select_runs_and_apply_filters(workspace, ())
        with opened("sqlite:///scores.db") as store:
            store.append_new_events(mixed_events(drawn, beside))
            study = gather_study(workspace, sources, store)
        mean = PublishedScore("scripted/say.yaml", "quality", "acme", "Q1", 80.0)
        (run.path / PUBLISHED_SCORES).write_bytes(format_published_scores_csv([mean]))
        published = gather_study(workspace, sources, None)
        guidelines = load_guidelines(workspace, study.rubric)
    tables = {"agreement": analyst_alpha_table(study.log.counted, study.rubric)}
    mixed = HumanEvaluationRecords(study, tables, "rubrics/genaipabench.yaml", guidelines)
    return Evaluated(
        mixed,
        replace(mixed, study=study.replace_scores_from_events([]), tables={}),
        replace(mixed, study=published, tables={}),
        drawn,
        beside,
    )


def fill(records: HumanEvaluationRecords) -> HedsDataSheet:
    """The filled sheet."""
    return fill_data_sheet(records, QUESTIONS, CRITERION_QUESTIONS)


def texts(sheet: HedsDataSheet) -> dict[str, str]:
    """Number → answer with its option and what is left to the authors, of what is answered; of criteria, accuracy."""
    return {
        entry.number: entry.answer_for_readers
        for entry in sheet.entries
        if entry.answer and entry.criterion in ("", "accuracy")
    }


def rescore(records: HumanEvaluationRecords, *events: Event) -> HumanEvaluationRecords:
    """The records of the study with these events alone."""
    study = records.study.replace_scores_from_events(events)
    return replace(records, study=study, tables={"agreement": analyst_alpha_table(events, study.rubric)})


def test_every_statement_of_a_mixed_study_is_what_its_records_say(evaluated: Evaluated) -> None:
    """Each expected figure was counted by hand in `mixed_events`."""
    said = texts(fill(evaluated.mixed))
    per_system = {
        system: sum(record.system == system for record in (*evaluated.drawn, evaluated.beside))
        for system in ("scripted/say.yaml", "scripted/say1.yaml")
    }
    assert per_system == {"scripted/say.yaml": 7, "scripted/say1.yaml": 6}
    assert said == {
        "1.1.2": "Scores recorded as people's exist for 13 answers of scripted/say.yaml, scripted/say1.yaml "
        "to 4 questions "
        "about acme, bolt, cask, by relevance, accuracy, clarity, completeness and reference. "
        f"{STAND_INS} [its place in the main reference]",
        "2.1": "Text: the question, after the text of the document. In shared conversations, the questions and replies "
        "before it came along. Prompts: guided (runs/*/prompts). [the form's types of text that fit]",
        "2.2": f"Text: 24 replies. {STAND_INS} [the form's types of text that fit]",
        "2.3": "Option 12. Answering questions about documents.",
        "2.4": "Documents: English. [the language of the questions]",
        "3.1.1": "scripted/say.yaml: 7; scripted/say1.yaml: 6. The averages leave out 1 of them (exclusions.csv). [why "
        "the numbers differ]",
        "3.1.2": "24 of 24 answers were put into a random order by system and experiment (seed 7), which takes "
        "questions, and within them documents, by turns. Its beginning is the random part: 12 answers, of which 12 "
        "were scored. 1 answer outside of it was scored, too. [how the answers outside of it, the documents and the "
        "questions were chosen]",
        "3.2.1": "4. Counted are the names under which scores or adjudications of answers that are not excluded are in "
        "effect; the records can't tell whether a name is a person, or two names are one. 1 of them gave "
        "adjudications alone. 1 name "
        "left out by desk.yaml is not counted.",
        "3.2.4": "1 score by 1 of 4 analysts is recorded as calibration: given to be compared with a reference "
        "analyst's. Written guidelines are in guidelines.md, of which pack.json has the digest; the records don't say "
        "who read them. [introductions and practice beside these]",
        "3.3.2": "17 of 19 scores were, as recorded, given at genaipa's scoring desk, a page in the browser; the "
        "others name no medium. [the medium of the others: a sheet, another tool, an earlier desk]",
        "3.3.3.1": "Option 3. Recorded: several scores of an answer, calibration, adjudication, sending back and "
        "leaving people out. [the form's other options that fit, and methods beside these]",
        "3.3.3.2": "6 of 13 answer texts have several people's scores. 1 score was calibration. 1 answer text was "
        "adjudicated, which replaces the scores. Answers were sent back to their analysts 1 time. The scores of 1 name "
        f"count nowhere, for the reason: {REASON}. [methods beside these]",
        "3.3.4.2": "As recorded with 17 scores of the desk: 16 without having seen whose answer it was, 16 without "
        "having seen how others scored it. Order of the answers: question (12), random (5). On screen beside answer "
        "and rubric: evidence at a metric (10), a suggested value (10), the document's nearest sentences (10), a "
        "pinned passage (1). At 1 a suggestion was held back. 6 don't record the screen. [the screen's other parts, "
        "and other scores']",
        "3.3.5": "17 scores of the desk are dated 2026-11-01 to 2026-11-03 (UTC). An answer was on screen for a median "
        "of 15.5 seconds. [what evaluators were asked to keep to]",
        "4.2.2": "Option 1. Each score is of one answer by itself.",
        "4.3.1.1": "accuracy",
        "4.3.2": "The meanings of its values: +1: entirely correct; +0.5: partially correct; -1: incorrect. "
        "Where the document does not answer, the rubric says: “The document does not answer this question: the right "
        "answer is to say so, and any mention of a section scores -1 on reference.” "
        "guidelines.md has a section on it.",
        "4.3.3": "3",
        "4.3.4": "+1, +0.5, -1",
        "4.3.5": "Option 1. At the desk, one button (and digit key) for each value, with its meaning. [how scores from "
        "elsewhere were given]",
        "4.3.6": "N/A",
        "4.3.7": "Is what the answer says right by the document? [whether it was in sight]",
        "4.3.8": "Option 2. A value of the scale for each answer, in 19 scores.",
        "4.3.9": "In the packed report: the mean of an answer's scores, then of a question's answers about a document, "
        "then as each table's note says. Where an answer was adjudicated, the adjudication alone counts. "
        "Over all criteria: M_all = (sum + 5) / 10 x 90 + 10, of the sum of an answer's values. [what the main "
        "reference does beside this]",
        "4.3.11.1": "Krippendorff's alpha for ordinal values, and Gwet's AC2, over 5 answer texts with the scores of "
        "two or more people (3 people in all). Scores that are recorded as given in sight of others' are left out. "
        "[whether scores from elsewhere were independent]",
        # Four pairs alike, one apart, nine values of ten alike: observed and expected disagreement are 1/5.
        "4.3.11.2": "alpha 0.00; AC2 0.76; too few answers, "
        "or too few with differing values, for a confidence interval.",
        "4.3.12.1": "IntraAA not assessed in the packed report.",
        "4.3.12.2": "IntraAA not assessed in the packed report.",
    }


def test_a_sheet_counts_the_forms_questions_and_leaves_the_authors_theirs(evaluated: Evaluated) -> None:
    """All 62 of the form are there, once; those that no record answers are blank, and the three counts fit."""
    sheet = fill(evaluated.mixed)
    numbers = [question.number for question in (*QUESTIONS, *CRITERION_QUESTIONS)]
    assert len(set(numbers)) == len(numbers) == 62
    assert {entry.number for entry in sheet.entries if entry.number in AUTHORS.split() and entry.answer} == set()
    content = json.loads(sheet.as_json())
    entries = [*content["questions"].values(), *(one for each in content["criteria"].values() for one in each.values())]
    answered = [entry for entry in entries if entry["answer"] is not None]
    whole, partial, blank = map(int, re.findall(r"\d+", content["summary"].replace(f"of {len(entries)} ", "")))
    assert (whole, blank) == (len(answered), len(entries) - len(answered))
    assert partial == sum("add" in entry for entry in answered)
    assert all(entry["source"] for entry in answered)
    assert [entry.number[0] for entry in sheet.entries] == sorted(entry.number[0] for entry in sheet.entries)


def test_nothing_is_said_of_people_where_nobody_scored(evaluated: Evaluated) -> None:
    """Neither where nothing is scored, nor where a judge alone did; nor of a study whose answers are scored by rule."""
    sheet = fill(evaluated.unscored)
    assert set(texts(sheet)) == UNSCORED
    assert sheet.notes[1:] == ["No score by a person is recorded."]
    verdict = scored("judge:kind@0123456789ab#1", evaluated.beside, scorer="machine")
    judged = fill(rescore(evaluated.unscored, verdict))
    assert set(texts(judged)) == UNSCORED
    assert "1 score by 1 judge (judge:kind@0123456789ab#1)" in judged.notes[-1]
    study = evaluated.unscored.study
    none = study.select_rows(study.table["system"] == "no such system")
    assert texts(fill(replace(evaluated.unscored, study=none))) == {}


def test_published_averages_answer_nothing_about_who_gave_them(evaluated: Evaluated) -> None:
    """They name neither people nor a rubric; beside other scores it is left open how many people they are of."""
    sheet = fill(evaluated.published)
    assert set(texts(sheet)) == {"2.1", "2.2", "2.3", "2.4"}
    assert "who gave them, and how, is not recorded" in sheet.notes[-1]
    beside = rescore(evaluated.published, scored("ada", evaluated.beside))
    assert texts(fill(beside))["3.2.1"].startswith("1. ")
    assert texts(fill(beside))["3.2.1"].endswith("[those behind the published scores]")


def test_a_desks_study_is_whole_where_another_rubrics_is_not(evaluated: Evaluated) -> None:
    """Where all scores name the desk, nothing is left open about others; scores by another rubric name no criterion."""
    desk = texts(fill(rescore(evaluated.unscored, scored("ada", evaluated.drawn[0], order="question"))))
    assert desk["3.3.2"] == "As recorded, genaipa's scoring desk, a page in the browser."
    assert desk["3.3.5"] == "1 score of the desk is dated 2026-11-01 (UTC). [what evaluators were asked to keep to]"
    assert desk["4.3.5"].endswith("with its meaning.")
    assert desk["4.3.11.2"] == "InterAA not assessed: no answer has independent scores by two people."
    elsewhere = texts(fill(rescore(evaluated.unscored, scored("ada", evaluated.drawn[0], blind=False))))
    assert elsewhere["3.3.4.2"].startswith("1 of 1 score from outside the desk is recorded as not blind.")
    settled = texts(fill(rescore(evaluated.unscored, scored("cat", evaluated.drawn[0], kind="adjudication"))))
    assert settled["3.1.1"] == "1. No score that is recorded as a person's is of an answer of scripted/say1.yaml."
    assert "1 of them gave adjudications alone." in settled["3.2.1"]
    other = fill(rescore(evaluated.unscored, scored("ada", evaluated.drawn[0], rubric="0123456789ab")))
    assert not {"4.3.1.1", "4.3.2", "4.3.3", "4.3.4", "4.3.7", "3.3.2", "3.3.4.2", "3.3.5"} & texts(other).keys()
    assert "relevance" not in texts(other)["1.1.2"]
    assert "another rubric" in other.notes[-1]


def test_a_sheet_says_what_scores_rest_on(evaluated: Evaluated) -> None:
    """Suggested values at their criterion, aids that chance withheld, the points' rule, and a part scored in part."""
    first, second, third, *_ = evaluated.drawn
    shown = ScreenContents(evidence=("clarity",), suggestion=("clarity",), aids={"evidence": True, "suggestions": True})
    withheld = ScreenContents(withheld={"clarity": 1.0}, aids={"evidence": False, "suggestions": False})
    ticks = Ticks("0123456789ab", said=("a",))
    records = rescore(
        evaluated.mixed,
        scored("ada", first, order="question", shown=shown, suggested={"clarity": 1.0}, ticks=ticks),
        scored("ada", second, POOR, order="question", shown=shown, suggested={"clarity": 1.0}),
        scored("ada", third, order="question", shown=withheld),
    )
    entries = {(entry.criterion, entry.number): entry.answer_for_readers for entry in fill(records).entries}
    assert "A suggested value" not in entries["", "3.3.4.2"]
    assert "evidence at a metric (2), a suggested value (2), points to tick (1)." in entries["", "3.3.4.2"]
    assert "can be measured: evidence lines (1), suggested values (1)." in entries["", "3.3.4.2"]
    assert "held back" not in entries["", "3.3.4.2"]
    assert (
        "With 2 of them, as recorded, a value was suggested on screen by rules; 1 of these has that value."
        in (entries["clarity", "4.3.8"])
    )
    assert "With 1 of them analysts were shown the points" in entries["completeness", "4.3.8"]
    assert entries["accuracy", "4.3.8"] == "Option 2. A value of the scale for each answer, in 3 scores."
    assert "+1 from 100 % of the vital and 50 % of the other points" in entries["completeness", "4.3.2"]
    untouched = {(entry.criterion, entry.number): entry.answer_for_readers for entry in fill(evaluated.mixed).entries}
    assert "ticked" not in untouched["completeness", "4.3.2"], "nobody was shown points, so their rule defines nothing"
    assert entries["", "3.1.2"].startswith("24 of 24 answers were put into a random order")
    assert "12 answers, of which 3 were scored." in entries["", "3.1.2"]
    assert entries["", "3.1.2"].endswith("[how those scored of it, the documents and the questions were chosen]")


def test_agreement_names_the_method_of_an_interval_that_is_there(evaluated: Evaluated) -> None:
    """With too few answers there is none, and so no method."""
    agreement = evaluated.mixed.tables["agreement"]
    known = {"agreement": replace(agreement, data=agreement.data.assign(low=0.1, high=0.9))}
    said = texts(fill(replace(evaluated.mixed, tables=known)))
    assert ", with an interval by the jackknife over answers, and Gwet's AC2" in said["4.3.11.1"]
    assert "(0.10 to 0.90)" in said["4.3.11.2"]
    assert "interval" not in texts(fill(evaluated.mixed))["4.3.11.1"]


def test_follow_ups_are_named_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted, come after their question, and are drawn with it; a part of everything is no selection."""
    monkeypatch.chdir(tmp_path)
    make_workspace(questions=2)
    write("say.yaml", "default: See section 2.\n")
    run = carry_out(spec(systems=("scripted/say.yaml",), follow_up="Where?"))[0]
    draw(run)
    workspace = find_workspace()
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([scored("ada", record, order="question") for record in answers(run)])
        study = gather_study(workspace, select_runs_and_apply_filters(workspace, ()), store)
    entries = texts(fill(HumanEvaluationRecords(study, {}, "rubrics/genaipabench.yaml", None)))
    assert "4 answers of scripted/say.yaml to 2 questions and to follow-ups about acme" in entries["1.1.2"]
    assert "A follow-up came after a question and the reply to it" in entries["2.1"]
    assert entries["2.4"] == "Documents: English. [the language of the questions and follow-ups]"
    assert entries["3.1.1"] == "4. 2 answers of them, in all, are to follow-ups."
    assert entries["3.1.2"].startswith("Option 6. Not selected: all 4 answers were in the random part")
    assert "2 are of answers to follow-ups" in entries["3.3.4.2"]
    limited = carry_out(spec(systems=("scripted/say.yaml",), limit=(1, 1)))[0]
    with opened("sqlite:///scores.db") as store:
        study = gather_study(workspace, select_runs_and_apply_filters(workspace, ()), store)
    entries = texts(fill(HumanEvaluationRecords(study, {}, "rubrics/genaipabench.yaml", None)))
    assert f"Of {limited.name}: Of each set's questions" in entries["3.1.2"]


def test_packages_add_what_they_know(evaluated: Evaluated) -> None:
    """To an answer of the records, and where these have none: then it is left open whether that is all."""
    additions = (SheetAddition("3.2.1", "Two houses.", "split"), SheetAddition("3.3.1", "None.", "split"))
    sheet = fill(replace(evaluated.mixed, additions=additions))
    answered = {entry.number: entry.answer for entry in sheet.entries if entry.answer}
    assert answered["3.2.1"].text.endswith(" Two houses.")
    assert answered["3.2.1"].source.endswith("; split")
    assert texts(sheet)["3.3.1"] == "None. [what is beside this]"
    assert "partners" in entry_point_targets(ADDITIONS_GROUP)


def records_of_pair() -> tuple[HumanEvaluationRecords, list[Event]]:
    """The records of two systems that a report compares, in the working folder, and scores of all their answers."""
    given = sorted(answers(make_run("See section 2.", "It does not say.", questions=16)), key=lambda record: record.key)
    events = [
        scored("ada", record, GOOD | {"clarity": 0.5 if place % 5 == 0 else 1.0}) for place, record in enumerate(given)
    ]
    pair = pd.DataFrame([{"first": "scripted/say.yaml", "second": "scripted/say1.yaml"}])
    tables = {"system-differences": make_table("system-differences", "", "", pair, ["first", "second"])}
    study = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), None)
    return HumanEvaluationRecords(study, tables, "rubrics/genaipabench.yaml", None), events


@pytest.mark.full
def test_the_power_of_comparisons_is_given_after_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the pairs of systems that the report compares; what was planned before is the authors'."""
    monkeypatch.chdir(tmp_path)
    records, events = records_of_pair()
    records = replace(records, study=records.study.replace_scores_from_events(events))
    said = texts(fill(records))
    command = "genaipa compare scripted/say.yaml scripted/say1.yaml --anyway."
    assert f"{command} [the power analysis before the study]" in said["3.1.3.3"], "the two may not be asked alike"
    assert "scripted/say.yaml and scripted/say1.yaml: with these" in said["3.1.3.2"]
    assert "would be found in 80% of studies" in said["3.1.3.2"]
    assert "The report compares" not in said["3.1.3.2"]
    assert "Found means at p < 0.05, not adjusted for other pairs." in said["3.1.3.2"]
    assert "questions, documents and the rest" in said["3.1.3.1"]
    table = records.tables["system-differences"]
    leveled = replace(table, data=table.data.assign(level=0.001))
    tested = texts(fill(replace(records, tables={"system-differences": leveled})))["4.3.10"]
    assert "Holm's method, and a difference counts at p < 0.001." in tested
    five = replace(table, data=pd.concat([table.data] * 5))
    more = texts(fill(replace(records, tables={"system-differences": five})))["3.1.3.2"]
    assert " The report compares 5 pairs of systems." in more, "some of which the sheet leaves out"
    few = records.study.select_rows(records.study.table["question"].isin(["Q1", "Q2", "Q3", "Q4", "Q5"]))
    assert not POWER & texts(fill(replace(records, study=few))).keys(), "nothing is found where nothing is tested"


def test_an_unfinished_study_detects_by_the_level_of_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While planned answers are not scored, a difference has to show more, which takes a larger one."""
    monkeypatch.chdir(tmp_path)
    records, events = records_of_pair()
    study = records.study
    whole, part = (
        texts(fill(replace(records, study=study.replace_scores_from_events(scores))))["3.1.3.2"]
        for scores in (events, events[:-6])
    )
    assert "Found means at p < 0.05, not adjusted for other pairs." in whole
    assert "Found means at p < 0.001, not adjusted for other pairs." in part
    sizes = [float(re.findall(r"M_all of (\d+\.\d)", said)[0]) for said in (whole, part)]
    assert 1.5 * sizes[0] < sizes[1], "the difference takes more, not the sentence alone"
    of_all = study.replace_scores_from_events(events)
    acme = texts(fill(replace(records, study=of_all.select_rows(of_all.table["document"] == "acme"))))
    assert "from question to question" in acme["3.1.3.1"], "the variance of one document can't be split"


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["Q1 acme", "Q1 bolt", "Q2 acme", "Q2 bolt"], []),
        (["Q1 acme", f"{follow_up_id('Q1')} acme"], ["Of these questions, 1 is a follow-up."]),
    ],
)
def test_a_detectable_difference_says_of_which_questions_it_is(cells: list[str], said: list[str]) -> None:
    """Follow-ups count as questions in it."""
    rows = pd.DataFrame([cell.split() for cell in cells], columns=["question", "document"])
    none = pd.Series(dtype=float)
    assert [*describe_follow_ups_of_match(MatchedScores(pd.DataFrame(), rows, none, none, [], []))] == said


def test_a_sheet_in_latex_has_no_command_of_others(evaluated: Evaluated) -> None:
    """A reason that somebody wrote is text."""
    latex = fill(evaluated.mixed).as_latex()
    assert r"50 \% of \textbackslash{}input\{it\} \& more\_" in latex
    assert r"\input{it}" not in latex
    assert "3.2.2.2 &  & Evaluators: payment & {}[yours]" in latex


@pytest.mark.full
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs LaTeX (Debian's texlive-publishers)")
def test_a_sheet_in_latex_compiles(evaluated: Evaluated, tmp_path: Path) -> None:
    """In one column and in two."""
    (tmp_path / "heds.tex").write_text(fill(evaluated.mixed).as_latex(), encoding="utf-8")
    for number, options in enumerate(("", "[twocolumn]")):
        opening = rf"\documentclass{options}{{article}}\usepackage{{array,booktabs,graphicx,longtable}}"
        page = rf"{opening}\begin{{document}}\input{{heds}}\end{{document}}"
        (tmp_path / f"page{number}.tex").write_text(page, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"page{number}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
