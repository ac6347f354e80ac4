"""Systems whose replies people write: who wrote what is kept apart, and nobody's score of what they wrote is taken."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
from queues import open_queue, work
from running import carry_out, make_workspace, spec, write
from stores import POOR, kept, score

import genaipa
from genaipa.answers.gather import gather_study
from genaipa.errors import UsageError
from genaipa.execution.prepare import prepare_resumed_run
from genaipa.execution.run import open_manual_run_without_lock, save_manual_progress
from genaipa.runs.authors import AUTHORS, AnswerAuthors, read_authorships
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.events import Draft, new_event_id
from genaipa.workspace import find_workspace
from rubrics import typed

SYSTEM = "people/lawyers"
LONG_QUESTION = f"Which data does it {'keep, and which does it ' * 6}keep?"
METRICS = ("relevance", "accuracy", "clarity", "completeness", "reference")
TWICE = ScoringPlan(per_answer=2, calibration=0)


@pytest.fixture
def run():
    """A run in which three questions wait for people, and a machine has answered them."""
    make_workspace(questions=3)
    questions = Path("questions/policy.yaml")
    questions.write_text(questions.read_text().replace("Question 1 on [the company]?", LONG_QUESTION))
    write("say.yaml", "default: See section 2.\n")
    folder, outcome = carry_out(spec(systems=(SYSTEM, "scripted/say.yaml")))
    assert outcome.status == "waiting"
    return folder


def write_answers(folder, author, *texts):
    """Answer the next questions as the desk's page does; the digests."""
    prepared = prepare_resumed_run(find_workspace(), folder.name)
    with prepared.open_or_create_folder().hold_for_writing_and_list_repairs():
        manual = asyncio.run(open_manual_run_without_lock(prepared))
        keys = [key for _, key in manual.sheets_and_keys_missing_replies()]
        asyncio.run(manual.record_replies(dict(zip(keys, texts, strict=False)), author=author))
        save_manual_progress(manual)
    return [authorship.answer for authorship in read_authorships(folder) if authorship.author == author]


def test_the_author_is_in_a_file_of_its_own(run, genaipa):
    """No record names who wrote it; without a name nothing is taken from files, and the run goes on waiting."""
    (sheet,) = (run.path / "sheets").glob("*.replies.txt")
    assert f"· Q1 · {LONG_QUESTION}\n" in sheet.read_text(), "writers read all of the question"
    sheet.write_text(sheet.read_text() + "It keeps the address.\n")
    shown = genaipa("show", "latest").out
    assert (
        f"3 answers are missing. People write them at the desk, on the page By hand: genaipa score {run.name}" in shown
    )
    refused = genaipa("collect", "latest")
    assert refused.code == 2
    assert "--author: who wrote the answers" in refused.err
    assert not (run.path / AUTHORS).exists()
    taken = genaipa("collect", "latest", "--author", " Ada   Lee ")
    assert (taken.code, "1 reply recorded" in taken.out) == (3, True)
    (authorship,) = read_authorships(run)
    assert (authorship.author, authorship.answer) == ("Ada Lee", authorship.answer)
    (record,) = [record for record in run.read_records() if record.system == SYSTEM]
    assert (record.reply, record.digest, record.cost) == ("It keeps the address.", authorship.answer, None)
    assert b"Ada" not in run.answers_path.read_bytes()


def test_people_at_a_terminal_are_asked_who_they_are_before_they_write(run, genaipa):
    """A blank name is none; no chat is spoken of, and a file to fill in says how it is given back."""
    (sheet,) = (run.path / "sheets").glob("*.replies.txt")
    assert f"genaipa collect {run.name} --author NAME\n" in sheet.read_text()
    refused = genaipa("collect", "latest", "-t", "--author", "  ", stdin="It keeps the address.\n.\n")
    assert (refused.code, "--author: who wrote" in refused.err) == (2, True)
    assert "the question" not in refused.err
    taken = genaipa("collect", "latest", "-t", "--author", "Ada", stdin="It keeps the address.\n.\n")
    assert "1 reply recorded" in taken.out
    assert "--- your answer:" in taken.err
    assert "chat" not in taken.err


def test_the_printed_next_step_takes_the_answers(run, genaipa):
    """The head of a file to fill in, and what a run and a sheet without answers print, are the commands that work."""
    (sheet,) = (run.path / "sheets").glob("*.replies.txt")
    command = re.search(r"Then: genaipa (.*)", sheet.read_text())[1]
    sheet.write_text(sheet.read_text().replace("· Q1 ·", "· Q1 ·", 1) + "It keeps the address.\n")
    unscored = genaipa("scores", "sheet", "lawyers", "-o", "a.xlsx")
    assert (unscored.code, f"on the page By hand: genaipa score {run.name}" in unscored.err) == (2, True)
    taken = genaipa(*(word.replace("NAME", "Ada") for word in shlex.split(command)))
    assert (taken.code, "1 reply recorded" in taken.out) == (3, True)
    assert f"on the page By hand: genaipa score {run.name}\n" in taken.out
    assert f"sheets, then: genaipa {command}\n" in taken.out
    assert (
        "ada wrote all answers of lawyers"
        in genaipa("scores", "sheet", "lawyers", "--analyst", "ada", "-o", "b.xlsx").err
    )


def test_nobody_is_asked_to_score_what_they_wrote(run, store):
    """By no order of work, while others are; a machine's answer in the same words counts as theirs, too."""
    own = write_answers(run, "Ada", "It keeps the address.", "See section 2.", "Nothing is said.")
    assert len(own) == 3
    queue = open_queue(run, store, TWICE)
    assert len(queue.pool.answers) == 5, "one text is the machine's as well"
    assert queue.answers_analyst_may_still_score(" ada ").isdisjoint(own)
    assert queue.measure_scoring_progress("Ada").remaining == 2
    assert queue.reserve_next_answer("Ada", first_answer=own[0]) not in own
    assert set(work(queue, "Ada")) == set(queue.pool.answers) - set(own)
    assert set(work(queue, "Bo")) == set(queue.pool.answers)


def test_no_act_at_the_desk_scores_what_one_wrote(run, store):
    """Neither a score, an adjudication, a mean nor a word to look again; and no dispute about it is shown."""
    (own, *_) = write_answers(run, "Ada", "It keeps the address.")
    queue = open_queue(run, store, TWICE)
    for name, keys in (("Bo", "11111"), ("Cy", "33333")):
        values = typed(keys)
        queue.save_score(name, own, values, note="", seconds=1.0, suggested={}, id=new_event_id())
    acts = (
        lambda: queue.save_score("ADA", own, POOR, note="", seconds=1.0, suggested={}, id=new_event_id()),
        lambda: queue.adjudicate("Ada", own, POOR, note="", seconds=1.0, id=new_event_id()),
        lambda: queue.send_answer_back("Ada", own, "Look again."),
    )
    for act in acts:
        with pytest.raises(UsageError, match="wrote this answer"):
            act()
    assert [dispute.answer for dispute in queue.visible_open_and_settled_disputes("Dee", gives_scores=False)] == [own]
    assert queue.visible_open_and_settled_disputes("Ada", gives_scores=False) == []
    assert {event.analyst for event in kept(store)} == {"Bo", "Cy"}


def test_what_is_written_later_closes_what_was_begun(run, store):
    """Whoever has begun, skipped or scored a machine's answer and then writes the same is not asked again."""
    queue = open_queue(run, store, TWICE)
    (machine,) = [answer for answer in queue.pool.answers.values() if answer.question == ordered_questions(run)[0]]
    queue.reserve_next_answer("Ada", first_answer=machine.digest)
    queue.skip_answer("Ada", machine.digest)
    (own, *_) = write_answers(run, "Ada", "See section 2.")
    assert own == machine.digest
    queue.pool.read_new_answers()
    assert queue.reserve_next_answer("Ada", first_answer=own) != own
    assert own not in work(queue, "Ada")


def ordered_questions(run) -> list[str]:
    """The questions by the plan."""
    return json.loads((run.path / "manifest.json").read_text())["orders"]["acme|1"]


def test_no_file_and_no_notebook_brings_ones_own_score(run):
    """A table, a log and a frame with an author's score are refused as a whole, in a sentence."""
    (own, *_) = write_answers(run, "Ada", "It keeps the address.")
    table = pd.DataFrame([{"digest": own, **dict.fromkeys(METRICS, 1)}])
    with pytest.raises(UsageError, match=r"(?i:ada) wrote this answer"):
        genaipa.import_scores(table, analyst="ada")
    table.to_csv("scores.csv", index=False)
    with pytest.raises(UsageError, match=r"(?i:ada) wrote this answer"):
        genaipa.import_scores("scores.csv", analyst="Ada")
    Path("log.jsonl").write_bytes(json.dumps(event_of("Ada", own)).encode() + b"\n")
    with pytest.raises(UsageError, match=r"(?i:ada) wrote this answer"):
        genaipa.import_scores("log.jsonl", unknown_answers=True)
    assert genaipa.import_scores(table, analyst="Bo").added == 1


def event_of(analyst, digest):
    """A score as another program would put it into a log."""
    fields = {"id": new_event_id(), "time": "2026-11-02T10:00:00.000Z", "kind": "score"}
    return fields | {"analyst": analyst, "answer": digest, "values": dict.fromkeys(METRICS, 1.0)}


def test_a_score_from_before_counts_for_nobody(run, store):
    """A score that an author gave before they wrote the same text is in the log, and in no average."""
    machines = [record.digest for record in run.read_records() if record.system != SYSTEM]
    store.append_new_events([score("Ada", machines[0]), score("Ada", machines[1]), score("ada (bbc)", machines[0])])
    sources = select_runs_and_apply_filters(find_workspace(), ())
    assert gather_study(find_workspace(), sources, store).table["counted"].sum() == 3
    first = next(record for record in run.read_records() if record.digest == machines[0])
    assert write_answers(run, "Ada", *["See section 2."]) == [first.digest]
    study = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), store)
    assert list(study.table.loc[study.table["counted"], "answer"]) == [machines[1]]
    assert len(study.log.every) == 3


def test_no_reason_to_ask_somebody_in_particular_brings_it_back(run, store):
    """Neither a draft, an adjudicator's word, nor calibration, which all pass over how many scores are wanted."""
    queue = open_queue(run, store, ScoringPlan(per_answer=2, calibration=3))
    machine = {answer.question: digest for digest, answer in queue.pool.answers.items()}
    begun, returned, calibrated = (machine[question] for question in ordered_questions(run))
    values = {"note": "", "seconds": 1.0, "suggested": {}}
    for name, digest in (("Ada", returned), ("Bo", returned), ("reference", calibrated)):
        queue.save_score(name, digest, typed("11111"), id=new_event_id(), **values)
    queue.send_answer_back("Dee", returned, "Look again.")
    store.save_draft(Draft("Ada", begun, "score", typed="1...."))
    for name in ("Ada", "Cy"):
        assert queue.reserve_next_answer(name) in {begun, returned, calibrated}
    assert len(write_answers(run, "Ada", *["See section 2."] * 3)) == 3
    queue.pool.read_new_answers()
    assert queue.reserve_next_answer("Ada") is None
    assert queue.answers_analyst_may_still_score("Ada") == {returned}, (
        "its scores stay hidden until Bo has looked again"
    )
    assert queue.measure_scoring_progress("Ada").remaining == 0


def test_a_table_of_those_who_wrote_names_each_once(run):
    """The same person under another spelling is one; who is asked for by a name finds what they wrote."""
    write_answers(run, "Ada Lee", "One.")
    write_answers(run, "ada  LEE", "Two.")
    authors = AnswerAuthors([run, run])
    assert len(authors.answer_digests_of_author("ADA lee")) == 2
    assert authors.answer_digests_of_author("Ada") == set()
    assert not AnswerAuthors(())
