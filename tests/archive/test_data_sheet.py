"""The data sheet of a human evaluation: it says what the records prove, and nothing where they prove nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
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
from genaipa.runs.records import CorpusFacts, SystemFacts
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.events import MEAN, SEND_BACK, Event, ScreenContents, new_event_id
from genaipa.scoring.rubric import load_guidelines
from genaipa.scoring.waves import Waves, digest_prefix_used_in_waves, encode_waves
from genaipa.workspace import find_workspace
from genaipa_artifact.evaluation import ADDITIONS_GROUP, HumanEvaluationRecords, SheetAddition
from genaipa_artifact.heds import HedsDataSheet, fill_data_sheet
from genaipa_artifact.heds_criteria import CRITERION_QUESTIONS
from genaipa_artifact.heds_form import QUESTIONS
from genaipa_artifact.heds_power import describe_follow_ups_of_match

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
STAND_INS = "Kinds of systems: scripted/say.yaml, scripted/say1.yaml (replies from a file)."
SCREEN = ScreenContents(nearest=True, evidence=("accuracy",), suggestion=("clarity",))
HELD_BACK = ScreenContents(withheld={"clarity": 1.0})
ELSEWHERE = "how scores from elsewhere were given"
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
    waves = Waves().extend_groups_to_size(
        pool.answers.values(), size_of_each_group=6, seed=7, time="2026-11-01T00:00:00.000Z"
    )
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
        "1.1.2": "Scores recorded as people's are in effect for 13 answers of scripted/say.yaml, scripted/say1.yaml "
        "to 4 questions "
        "about acme, bolt, cask, by relevance, accuracy, clarity, completeness and reference. "
        f"{STAND_INS} [its place in the main reference]",
        "2.1": "Text, as genaipa sent it: the question, after the text of the document. In shared conversations, the "
        "questions and replies before it came along. Prompts: guided (runs/*/prompts). [the form's types of text that "
        "fit]",
        "2.2": f"Text: 24 replies. {STAND_INS} [the form's types of text that fit]",
        "2.3": "Option 12. Answering questions about documents.",
        "2.4": "Documents, as stated or else recognised in the texts: English. [the language of the questions]",
        "3.1.1": "scripted/say.yaml: 7; scripted/say1.yaml: 6. The averages leave out 1 of them (exclusions.csv). [why "
        "the numbers differ]",
        "3.1.2": "Chance (seed 7) drew 12 of 24 answers, within each system and experiment, by turns of the questions "
        "and, within these, of the documents. Scored are 12 of the 12, and 1 that chance did not draw. [how the others "
        "that are scored, the documents and the questions were chosen]",
        "3.2.1": "4. Counted are the names under which scores or adjudications of answers that are not excluded are in "
        "effect; the records can't tell whether a name is a person, or two names are one. 1 of them gave "
        "adjudications alone. 1 name "
        "left out by desk.yaml is not counted.",
        "3.2.4": "1 score by 1 of 4 analysts is recorded as calibration: given to be compared with a reference "
        "analyst's. Written guidelines are in guidelines.md as it is now, of which pack.json has the digest; the "
        "records don't say who read them. [introductions and practice beside these]",
        "3.3.2": "17 of 19 scores were, as recorded, given at genaipa's scoring desk, a page in the browser; the "
        "others name no medium. [the medium of the others: a sheet, another tool, an earlier desk; the medium of "
        "adjudications]",
        "3.3.3.1": "Option 3. Recorded: several scores of an answer, calibration, adjudication, sending back and "
        "leaving people out. [the form's other options that fit, and methods beside these]",
        "3.3.3.2": "6 of 13 answer texts have scores under several names. 1 score is recorded as calibration. 1 answer "
        "text was adjudicated; there the adjudication alone counts. Answers were sent back to their analysts 1 time. "
        f"The scores of 1 name count nowhere. As desk.yaml has it: {REASON}. [methods beside these]",
        "3.3.4.2": "As recorded with 17 scores of the desk: 16 where it had not shown whose answer it was, 16 where "
        "neither it nor a sending back had told of others' scores. On screen beside answer "
        "and rubric: evidence at a metric (10), a suggested value (10), the document's nearest sentences (10), a "
        "pinned passage (1). At 1 a suggestion was held back. 6 don't record the whole screen. [the screen's "
        "other parts, and other scores']",
        "3.3.5": "17 scores of the desk are dated 2026-11-01 to 2026-11-03 (UTC). 12 of 17 scores record "
        "seconds, 15.5 in the median. [what evaluators were asked to keep to]",
        "4.2.2": f"Each score has values of one answer. [{ELSEWHERE}]",
        "4.3.1.1": f"accuracy [whether it was so throughout; {ELSEWHERE}]",
        "4.3.2": "The meanings of its values: +1: entirely correct; +0.5: partially correct; -1: incorrect. "
        "Where the document does not answer, the rubric says: “The document does not answer this question: the right "
        "answer is to say so, and any mention of a section scores -1 on reference.” "
        f"guidelines.md has a section on it. [whether it was so throughout; {ELSEWHERE}]",
        "4.3.3": f"3 [{ELSEWHERE}]",
        "4.3.4": f"+1, +0.5, -1 [{ELSEWHERE}]",
        "4.3.5": "At the desk, one button for each value, with its meaning. [how scores from elsewhere were given]",
        "4.3.6": f"N/A [{ELSEWHERE}]",
        "4.3.7": "Is what the answer says right by the document? [whether it was in sight; whether it was so "
        f"throughout; {ELSEWHERE}]",
        "4.3.8": f"A value of the scale for each answer, in 19 scores. [{ELSEWHERE}]",
        "4.3.9": "In the packed report, as each table's note says. Where an answer was adjudicated, the "
        "adjudication alone counts. Over all criteria: M_all = (sum + 5) / 10 x 90 + 10, of the sum of an answer's "
        "values. [what the main reference does beside this]",
        "4.3.11.1": "Krippendorff's alpha for ordinal values, and Gwet's AC2, over 5 answers with scores under two "
        "names or more (3 names in all), as they were before their analysts saw others', as recorded. "
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
    assert sheet.notes[1:] == ["No score by a person counts."]
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
    pair = pd.DataFrame(
        [{"first": "scripted/say.yaml", "second": "scripted/say1.yaml", "p_holm": 0.001, "level": 0.05}]
    )
    tables = {"system-differences": make_table("system-differences", "", "", pair, list(pair))}
    assert "4.3.10" not in texts(fill(replace(beside, tables=tables))), "the test may be one of published scores"
    own = rescore(evaluated.unscored, scored("ada", evaluated.beside))
    assert "4.3.10" in texts(fill(replace(own, tables=tables)))


def test_a_desks_study_is_whole_where_another_rubrics_is_not(evaluated: Evaluated) -> None:
    """Where all scores name the desk, nothing is left open about others; scores by another rubric name no criterion."""
    desk = texts(fill(rescore(evaluated.unscored, scored("ada", evaluated.drawn[0], order="question"))))
    assert desk["3.3.2"] == "As recorded, genaipa's scoring desk, a page in the browser."
    assert desk["3.3.5"] == "1 score of the desk is dated 2026-11-01 (UTC). [what evaluators were asked to keep to]"
    assert desk["4.3.5"].endswith("with its meaning.")
    assert desk["4.3.11.2"] == (
        "InterAA not assessed in the packed report: no answer has scores under two names that are recorded as "
        "independent."
    )
    elsewhere = texts(fill(rescore(evaluated.unscored, scored("ada", evaluated.drawn[0], blind=False))))
    assert "4.3.7" in desk
    assert "4.3.7" not in elsewhere, "no spreadsheet has it"
    assert elsewhere["3.3.4.2"].startswith("1 of 1 score that names no desk is recorded as not blind.")
    first = evaluated.drawn[0]
    both = scored("ada", first, order="question"), scored("cat", first, kind="adjudication")
    assert texts(fill(rescore(evaluated.unscored, *both)))["3.3.2"].endswith("browser. [the medium of adjudications]")
    settled = texts(fill(rescore(evaluated.unscored, scored("cat", evaluated.drawn[0], kind="adjudication"))))
    assert settled["3.1.1"] == "scripted/say.yaml: 1; scripted/say1.yaml: 0. [why the numbers differ]"
    assert "1 of them gave adjudications alone." in settled["3.2.1"]
    other = fill(rescore(evaluated.unscored, scored("ada", evaluated.drawn[0], rubric="0123456789ab")))
    assert not {"4.3.1.1", "4.3.2", "4.3.3", "4.3.4", "4.3.7", "3.3.2", "3.3.4.2", "3.3.5"} & texts(other).keys()
    assert "relevance" not in texts(other)["1.1.2"]
    assert "another rubric" in other.notes[-1]


def test_a_metric_is_named_as_evaluators_saw_it(evaluated: Evaluated) -> None:
    """The desk shows the rubric's name of it; sheets have its key, which is another word."""
    study = evaluated.unscored.study
    metrics = study.rubric.metrics
    named = msgspec.structs.replace(metrics["accuracy"], name="Truth")
    rubric = msgspec.structs.replace(study.rubric, metrics={**metrics, "accuracy": named})
    records = replace(evaluated.unscored, study=replace(study, rubric=rubric))
    desk, sheets = (
        texts(fill(replace(records, study=records.study.replace_scores_from_events([event]))))
        for event in (scored("ada", evaluated.beside, order="question"), scored("ada", evaluated.beside))
    )
    assert desk["4.3.1.1"].startswith("Truth")
    assert "4.3.1.1" not in sheets
    assert "4.3.2" in sheets


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
        "With 2 of them, as recorded, a value was suggested on screen; 1 of these has that value."
        in (entries["clarity", "4.3.8"])
    )
    assert "With 1 of them, as recorded, analysts were shown the points" in entries["completeness", "4.3.8"]
    assert entries["accuracy", "4.3.8"] == "Option 2. A value of the scale for each answer, in 3 scores."
    assert "+1 from 100 % of the vital and 50 % of the other points" in entries["completeness", "4.3.2"]
    untouched = {(entry.criterion, entry.number): entry.answer_for_readers for entry in fill(evaluated.mixed).entries}
    assert "ticked" not in untouched["completeness", "4.3.2"], "nobody was shown points, so their rule defines nothing"
    assert entries["", "3.1.2"].startswith("Chance (seed 7) drew 12 of 24 answers")
    assert "Scored are 3 of the 12." in entries["", "3.1.2"]
    assert entries["", "3.1.2"].endswith("[how those scored of the drawn, the documents and the questions were chosen]")


def test_a_sheet_says_less_where_its_records_are_not_sure(evaluated: Evaluated) -> None:
    """Of agreement that the report has no table of, of averages beside a judge's, of names that gave no score."""
    first, second, *_ = evaluated.drawn
    pair = [scored(name, first, order="question") for name in ("ada", "bo")]
    untold = replace(rescore(evaluated.unscored, *pair), tables={})
    assert not {"4.3.11.1", "4.3.11.2"} & texts(fill(untold)).keys(), "it may be measured, elsewhere"
    assert texts(fill(untold))["4.3.9"].startswith("In the packed report, as each table's note says. Over all")
    averages = {"averages": make_table("averages", "", "", pd.DataFrame({"mean": [1.0]}), ["mean"])}
    said = texts(fill(replace(untold, tables=averages)))["4.3.9"]
    assert said.startswith("In the packed report's table of averages: the mean of an answer's scores"), "not of others"
    log = untold.study.log._replace(left_out={"Gil": "left early", "EVE": "read nothing"})
    some = replace(untold, study=replace(untold.study, log=log))
    assert texts(fill(some))["3.3.3.2"].endswith(
        "The scores of 1 name count nowhere. As desk.yaml has it: read nothing. [methods beside these]"
    ), "the log has a score of eve alone"
    ticked = scored(
        "ada",
        second,
        order="question",
        shown=ScreenContents(suggestion=("completeness", "clarity")),
        suggested={"completeness": 1.0, "clarity": 1.0},
        ticks=Ticks("0123456789ab"),
    )
    entries = {
        entry.criterion: entry.answer_for_readers
        for entry in fill(rescore(evaluated.unscored, ticked)).entries
        if entry.number == "4.3.8"
    }
    assert "was suggested on screen" in entries["clarity"]
    assert "was suggested on screen" not in entries["completeness"], "its suggestion became that of the ticks"


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
    assert entries["2.4"].endswith("English. [the language of the questions and follow-ups]")
    assert entries["3.1.1"] == "4. 2 answers of them, in all, are to follow-ups."
    assert entries["3.1.2"].startswith("Option 6. Not selected: all 4 answers of this study are scored.")
    limited = carry_out(spec(systems=("scripted/say.yaml",), limit=(1, 1)))[0]
    with opened("sqlite:///scores.db") as store:
        study = gather_study(workspace, select_runs_and_apply_filters(workspace, ()), store)
    entries = texts(fill(HumanEvaluationRecords(study, {}, "rubrics/genaipabench.yaml", None)))
    assert f"Of {limited.name}: Of each set's questions" in entries["3.1.2"]


def change(records: HumanEvaluationRecords, *, manifest: dict[str, Any] | None = None, **of_study: Any) -> Any:
    """The records of the study with other fields, and with other fields of its run's manifest."""
    source = records.study.sources[0]
    sources = [replace(source, manifest=msgspec.structs.replace(source.manifest, **(manifest or {})))]
    return replace(records, study=replace(records.study, sources=sources, **of_study))


def test_of_imported_replies_nobody_knows_what_they_are_to(evaluated: Evaluated) -> None:
    """Neither input nor language, nor what a system's name stands for, nor whether chats were selected before."""
    digests = set(evaluated.unscored.study.answers["answer"]) - {""}
    event = scored("ada", evaluated.beside)
    events = [msgspec.structs.replace(event, id=digest, answer=digest) for digest in digests]
    everything = rescore(evaluated.unscored, *events)
    whole = texts(fill(everything))
    assert whole["3.1.2"].startswith("Option 6. Not selected: all 24 answers")
    imported = texts(fill(change(everything, answers=everything.study.answers.assign(prompts="unknown"))))
    assert not {"2.1", "2.4"} & imported.keys()
    assert "Kinds of systems" not in imported["1.1.2"] + imported["2.2"]
    assert imported["3.1.2"].startswith("All 24 answers of this study are scored. [how these answers")
    is_first = everything.study.answers["system"].astype(str) == "scripted/say.yaml"
    prompts = is_first.map({True: "unknown", False: "guided"})
    part = texts(fill(change(everything, answers=everything.study.answers.assign(prompts=prompts))))
    assert part["2.1"].startswith("Text, as genaipa sent it for 12 of 24 replies: ")
    assert part["2.1"].endswith("and what the other replies are to]")
    assert part["2.4"].endswith("[the language of the questions and other inputs]")
    assert "Kinds of systems: scripted/say1.yaml (replies from a file)." in part["2.2"]
    lost = texts(fill(change(everything, lost=["Slice 2 of 3 is missing."])))
    assert lost["3.1.2"].startswith("All 24 answers"), "what there is may be a part"


@pytest.mark.parametrize(
    ("model", "description"),
    [
        ("people/team", "people who write answers"),
        ("manual/chat", ""),
        ("rag/openai/gpt", ""),
        ("rag/extractive", "a baseline that quotes the document"),
    ],
)
def test_what_people_or_retrieval_had_is_not_what_genaipa_sent(
    evaluated: Evaluated, model: str, description: str
) -> None:
    """Whoever writes, pastes or chooses passages decides what a reply is to."""
    systems = dict.fromkeys(("scripted/say.yaml", "scripted/say1.yaml"), SystemFacts(model))
    entries = texts(fill(change(evaluated.unscored, manifest={"systems": systems})))
    assert not {"2.1", "2.4"} & entries.keys()
    kinds = f" Kinds of systems: scripted/say.yaml, scripted/say1.yaml ({description})." if description else ""
    assert entries["2.2"].startswith(f"Text: 24 replies.{kinds} [")


def test_a_language_is_named_where_runs_agree_on_a_text_that_tells(evaluated: Evaluated) -> None:
    """Two texts by one name may be in two languages, few words pass for English, and translations state theirs."""
    study = evaluated.unscored.study
    facts = study.sources[0].manifest.documents
    other = change(
        evaluated.unscored,
        manifest={"documents": {name: msgspec.structs.replace(about, digest="0") for name, about in facts.items()}},
    ).study.sources
    both = replace(evaluated.unscored, study=replace(study, sources=[*study.sources, *other]))
    assert "2.4" not in texts(fill(both))
    short = replace(study.document_statistics["acme"], words=29)
    assert "2.4" not in texts(fill(change(evaluated.unscored, documents={**study.documents, "acme": short})))


def test_questions_are_counted_where_ids_and_words_are_one_to_one(evaluated: Evaluated) -> None:
    """Runs may ask other words under one id, or the same under two; follow-ups and paraphrases are named as such."""
    asked, table = evaluated.mixed.study.questions, evaluated.mixed.study.answers
    several = change(evaluated.mixed, questions=asked._replace(reworded=frozenset({"Q1"})))
    assert " to questions about acme" in texts(fill(several))["1.1.2"]
    same = change(evaluated.mixed, questions=asked._replace(texts=dict.fromkeys(asked.texts, "Why?")))
    assert " to questions about acme" in texts(fill(same))["1.1.2"]
    reworded = change(evaluated.mixed, answers=table.assign(wording="paraphrase-1"))
    assert " to 4 questions (in paraphrases) about acme" in texts(fill(reworded))["1.1.2"]
    is_first = table["question"].astype(str) == "Q1"
    some = change(
        evaluated.mixed, answers=table.assign(wording=is_first.map({True: "paraphrase-1", False: "original"}))
    )
    assert " to 4 questions (some in paraphrases) about acme" in texts(fill(some))["1.1.2"]
    followed = table["question"].astype(str).map(lambda name: follow_up_id(name) if name == "Q1" else name)
    assert (
        " to 3 questions and to follow-ups about"
        in texts(fill(change(evaluated.mixed, answers=table.assign(question=followed))))["1.1.2"]
    )


def test_a_sample_is_said_as_it_was_planned(evaluated: Evaluated) -> None:
    """A run may end before all is asked, a corpus that is asked about whole is no sample, nor is a draw of others."""
    corpus = CorpusFacts("data/shops.csv", "0", documents=90, texts=80, asked=20, stratified="sector")
    sampled = texts(fill(change(evaluated.mixed, manifest={"corpus": corpus})))["3.1.2"]
    drawn = "Of 80 texts of shops.csv, chance (seed 0) drew 20 to be asked about, stratified by sector."
    assert drawn in sampled
    whole = texts(fill(change(evaluated.mixed, manifest={"corpus": msgspec.structs.replace(corpus, asked=80)})))
    assert "shops.csv" not in whole["3.1.2"]
    manifest = evaluated.mixed.study.sources[0].manifest
    for limit, is_named in (((1, 4), True), ((1, 50), False), ((3, 50), False)):
        plan = msgspec.structs.replace(manifest.spec.plan, limit=limit)
        orders = {name: order[slice(limit[0] - 1, limit[1])] for name, order in manifest.orders.items()}
        limited = {"spec": msgspec.structs.replace(manifest.spec, plan=plan), "orders": orders}
        asked = texts(fill(change(evaluated.mixed, manifest=limited)))["3.1.2"]
        assert (f"those from {limit[0]} to {limit[1]} were planned." in asked) == is_named, "there are four"
    elsewhere = change(evaluated.mixed, answers=evaluated.mixed.study.answers.assign(planned=""))
    assert texts(fill(elsewhere))["3.1.2"].startswith("Scored are 13 of 24 answers. [how these answers")


def test_what_was_drawn_whole_is_no_sample(evaluated: Evaluated) -> None:
    """A system that has no more answers than were wanted has nothing left to chance."""
    table = evaluated.mixed.study.answers
    undrawn = table["planned"].astype(str) == "no"
    planned = table["planned"].astype(str).mask(undrawn & (table["system"] == "scripted/say1.yaml"), "")
    said = texts(fill(change(evaluated.mixed, answers=table.assign(planned=planned))))["3.1.2"]
    assert "drew 12 of 18 answers" in said
    assert " Of some systems and experiments it drew all answers, 6 in all. [" in said
    everything = table.assign(planned=table["planned"].astype(str).mask(undrawn, ""))
    assert "Chance" not in texts(fill(change(evaluated.mixed, answers=everything)))["3.1.2"]


@pytest.mark.full
def test_power_is_that_of_what_the_same_people_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Published scores are none of the evaluation, and where other people scored the one side nothing is found."""
    monkeypatch.chdir(tmp_path)
    records, events = records_of_pair()
    records = replace(records, study=records.study.replace_scores_from_events(events))
    table = records.study.table
    two_people = table.assign(analyst=table["system"].map(lambda system: "bo" if "say1" in system else "ada"))
    assert texts(fill(records)).keys() >= POWER
    for changed in (two_people, table.assign(unit="table")):
        assert not POWER & texts(fill(replace(records, study=replace(records.study, table=changed)))).keys()


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
    pair = pd.DataFrame(
        [{"first": "scripted/say.yaml", "second": "scripted/say1.yaml", "p_holm": 0.001, "level": 0.05}]
    )
    tables = {"system-differences": make_table("system-differences", "", "", pair, list(pair))}
    study = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), None)
    return HumanEvaluationRecords(study, tables, "rubrics/genaipabench.yaml", None), events


@pytest.mark.full
def test_the_power_of_comparisons_is_given_after_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the pairs of systems that the report compares; what was planned before is the authors'."""
    monkeypatch.chdir(tmp_path)
    records, events = records_of_pair()
    records = replace(records, study=records.study.replace_scores_from_events(events))
    said = texts(fill(records))
    assert said["3.1.3.3"].startswith("genaipa.stats.power, of genaipa ")
    assert "scripted/say.yaml and scripted/say1.yaml: with these" in said["3.1.3.2"]
    assert "would be found in 80% of studies" in said["3.1.3.2"]
    assert "The report " not in said["3.1.3.2"]
    assert "Found means at p < 0.05, not adjusted for other pairs." in said["3.1.3.2"]
    assert "questions, documents and the rest" in said["3.1.3.1"]
    table = records.tables["system-differences"]
    leveled = replace(table, data=table.data.assign(level=0.001))
    tested = texts(fill(replace(records, tables={"system-differences": leveled})))["4.3.10"]
    assert "Holm's method, and a difference counts at p < 0.001." in tested
    untested = replace(table, data=table.data.assign(p_holm=float("nan"), level=0.05))
    assert "4.3.10" not in texts(fill(replace(records, tables={"system-differences": untested})))
    five = replace(table, data=pd.concat([table.data] * 5))
    more = texts(fill(replace(records, tables={"system-differences": five})))["3.1.3.2"]
    assert " The report tests 5 pairs of systems." in more, "some of which the sheet leaves out"
    rows = [table.data.assign(p_holm=p) for p in (float("nan"), float("nan"), float("nan"), 0.5)]
    one_tested = replace(table, data=pd.concat(rows))
    one = texts(fill(replace(records, tables={"system-differences": one_tested})))["3.1.3.2"]
    assert one.count("would be found") == 1, "what is not tested takes no place of what is"
    assert "The report " not in one
    few = records.study.select_rows(records.study.table["question"].isin(["Q1", "Q2", "Q3", "Q4", "Q5"]))
    assert not POWER & texts(fill(replace(records, study=few))).keys(), "nothing is found where nothing is tested"


def test_an_unfinished_study_detects_by_the_level_of_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While planned answers are not scored, a difference has to show more, which takes a larger one."""
    monkeypatch.chdir(tmp_path)
    records, events = records_of_pair()
    study = records.study
    judged = msgspec.structs.replace(events[-1], analyst="judge:kind@0123456789ab#1", scorer="machine")
    whole, part, with_judge = (
        texts(fill(replace(records, study=study.replace_scores_from_events(scores))))["3.1.3.2"]
        for scores in (events, events[:-6], [*events[:-6], judged])
    )
    assert with_judge == part, "a judge scored what people are still to score"
    assert "Found means at p < 0.05, not adjusted for other pairs." in whole
    assert "Found means at p < 0.001, not adjusted for other pairs." in part
    sizes = [float(re.findall(r"M_all of (\d+\.\d)", said)[0]) for said in (whole, part)]
    assert 1.5 * sizes[0] < sizes[1], "the difference takes more, not the sentence alone"
    of_all = study.replace_scores_from_events(events)
    acme = texts(fill(replace(records, study=of_all.select_rows(of_all.table["document"] == "acme"))))
    assert "is split" not in acme["3.1.3.1"], "the variance of one document can't be split"


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
