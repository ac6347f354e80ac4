"""`genaipa judge` from the answers to the store: each verdict once, and nowhere among answers and people's scores."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from judges import RUBRIC, events, judge_runs, script, study, verdict
from running import latest, lines_of, write

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.judging.name import Judge
from genaipa.judging.verdict import find_verdict_flaw
from genaipa.reports.chapters import make_chapters
from genaipa.runs.run import load_run
from genaipa.runs.selection import find_run, list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.systems.base import Reply, Usage
from genaipa.workspace import find_workspace


def test_every_answer_is_judged_once(genaipa):
    """A verdict for each answer goes into the store as a machine's score; the same command again asks nothing."""
    study(genaipa)
    judge = script("judge.yaml", {"match": r"(?s)begins =====\s*No\.", "reply": verdict(2)})
    done = genaipa("judge", "--judge", judge)
    assert done.code == 0, done.err
    given = events()
    answers = load_run("answers").answers()
    assert {event.answer for event in given} == {record.digest for record in answers}
    # Questions 3 and 4 have the same answer, and another question makes another answer.
    assert len(given) == 4
    values = {event.answer: set((event.values or {}).values()) for event in given}
    assert [values[record.digest] for record in answers] == [{-1.0} if r.reply == "No." else {1.0} for r in answers]
    name = Judge.parse(given[0].analyst)
    assert name is not None
    assert (name.model, name.passed) == ("kind", 1)
    assert {(event.scorer, event.kind, event.rubric) for event in given} == {("machine", "score", RUBRIC.digest)}
    assert given[0].note.splitlines()[:2] == ["right answer: The document says so.", "relevance: Seen for relevance."]
    again = genaipa("judge", "--judge", judge)
    assert again.code == 0, again.err
    assert "nothing to judge" in again.out
    assert (len(events()), len(judge_runs())) == (4, 1)


def test_further_passes_and_answers_are_all_that_is_asked_for(genaipa):
    """A second pass, and answers that came later, are asked by themselves."""
    study(genaipa, 3)
    judge = script("judge.yaml")
    assert genaipa("judge", "--judge", judge).code == 0
    assert genaipa("judge", "--judge", judge, "--passes", "2").code == 0
    write("more.yaml", "default: Never.\n")
    assert genaipa("run", "-s", "scripted/more.yaml", "-p", "acme", "-i", "document").code == 0
    done = genaipa("judge", "--judge", judge, "--json")
    assert (json.loads(done.out)["wanted"], json.loads(done.out)["had"]) == (6, 3)
    asked = [[record.coordinates["pass"] for record in folder.read_records()] for folder in judge_runs()]
    assert asked == [["1"] * 3, ["2"] * 3, ["1"] * 3]
    assert len({event.id for event in events()}) == len(events()) == 9


def test_a_lost_store_is_made_again_from_the_run_folder(genaipa):
    """The run folder is the source: without the store, the same events come again, and nobody is asked."""
    study(genaipa, 2)
    judge = script("judge.yaml", model="scripted/judge.yaml-2024-08-06")
    assert genaipa("judge", "--judge", judge).code == 0
    before = events()
    Path("scores.db").unlink()
    assert "nothing to judge" in genaipa("judge", "--judge", judge).out
    assert events() == before
    shutil.rmtree(judge_runs()[0].path)
    assert "nothing to judge" in genaipa("judge", "--judge", judge).out
    # Without the run, a model of another number may be another model.
    other = script("judge-4.yaml", model="scripted/judge-4.yaml-8")
    assert genaipa("judge", "--judge", other).code == 0
    shutil.rmtree(judge_runs()[0].path)
    assert "nothing to judge" not in genaipa("judge", "--judge", other).out


def test_what_is_no_verdict_has_a_flaw() -> None:
    """Unreadable, cut, refused and contradictory replies are told from a verdict, each in words of its own."""
    entries = json.loads(verdict())["verdicts"]
    flaws = {
        "It is fine.": "not JSON",
        "[" * 100_000: "nested too deeply",
        f"```json\n{verdict()}\n```\nor\n```json\n{verdict(2)}\n```": "2 verdicts that differ",
        f"{verdict()} {verdict(2)}": "2 verdicts that differ",
        verdict(verdicts=entries[:4]): "no verdict on reference",
        verdict(verdicts=[*entries, entries[0]]): "two verdicts on relevance",
        verdict(verdicts=[*entries, entries[0] | {"metric": "style"}]): "'style' is not a metric",
        verdict(
            verdicts=[entries[0] | {"value": "excellent"}, *entries[1:]]
        ): "'excellent' is not a value of relevance",
        verdict(
            verdicts=[entries[0] | {"value": "incorrect"}, *entries[1:]]
        ): "'incorrect' is not a value of relevance",
        verdict(verdicts=[entries[0] | {"value": 1}, *entries[1:]]): "not a value of relevance",
        verdict(verdicts=[entries[0] | {"evidence": " "}, *entries[1:]]): "no evidence for relevance",
        verdict(
            verdicts=[{"metric": "relevance", "value": "relevant"}, *entries[1:]]
        ): "not an object with metric, evidence",
        verdict(right_answer=""): "no right answer",
        json.dumps({"verdicts": entries}): "not an object with right_answer and verdicts",
        verdict().replace('"right_answer"', '"verdicts": [], "right_answer"'): "two fields with the same name",
    }
    for text, said in flaws.items():
        assert said in find_verdict_flaw(RUBRIC, Reply(text), has_annotated_answer=False), text
    assert (
        find_verdict_flaw(RUBRIC, Reply(verdict(), "length"), has_annotated_answer=False)
        == "it was cut off; allow more tokens (the option `max_tokens`)"
    )
    assert find_verdict_flaw(RUBRIC, Reply(verdict(), "refusal"), has_annotated_answer=False) == "it is a refusal"
    assert find_verdict_flaw(RUBRIC, Reply(verdict()), has_annotated_answer=False) == ""


def test_a_loop_is_told_from_a_verdict_that_is_too_long() -> None:
    """A reply whose end goes round in circles is told, wherever it was cut; a long one that doesn't asks for room."""
    begun = '{"verdicts": [{"metric": "clarity", "evidence": "'
    entry = '{"metric": "clarity", "evidence": "It is clear, and says so in words.", "value": "clear"}, '
    for loop in (begun + "It is so. " * 300 + "It", begun + "a" * 900, '{"verdicts": [' + entry * 20, "{" + "\n" * 500):
        said = find_verdict_flaw(RUBRIC, Reply(loop, "length", Usage(output=812)), has_annotated_answer=True)
        assert said == "it repeated itself and was cut off after 812 tokens; try another model", loop
    for long in (verdict()[:-30], begun + "No, no, no, no.", ""):
        assert find_verdict_flaw(RUBRIC, Reply(long, "length"), has_annotated_answer=True).startswith(
            "it was cut off; allow"
        ), long
    thought = find_verdict_flaw(
        RUBRIC, Reply("", "length", Usage(output=300), thoughts="Hm."), has_annotated_answer=True
    )
    assert thought.startswith("it was cut off after 300 tokens, all of which were reasoning; allow more tokens")


def test_what_is_no_verdict_is_a_failure_and_asked_again(genaipa):
    """A reply of no use is asked for three times, one that was cut off once; the same command asks for it again."""
    study(genaipa)
    for name, reply in (("words", {"reply": "Fine."}), ("cut", {"reply": verdict(), "finish": "length"})):
        # The request for JSON in words comes a second time after a misfit, with the schema as its last message.
        rules = [{"match": match, **reply} for match in ("That does not fit", r"begins =====\s*No\.")]
        judge = script(f"{name}.yaml", *rules, model=name)
        done = genaipa("judge", "--judge", judge, "-j", "1")
        assert done.code == 3, (name, done.out)
        (folder,) = [one for one in judge_runs() if one.manifest().spec.systems == (judge,)]
        (failed,) = [record for record in latest(folder).values() if record.status == "failed"]
        assert failed.error is not None
        assert failed.error.kind == "unusable", name
        assert failed.attempts == {"words": 6, "cut": 1}[name]
        given = [event for event in events() if event.analyst.startswith(f"judge:{name}@")]
        assert len(given) == 3, name
        assert {value for event in given for value in (event.values or {}).values()} == {1.0}, name
    lines = len(lines_of(folder.answers_path))
    assert genaipa("judge", "--judge", judge).code == 3
    assert (len(judge_runs()), len(lines_of(folder.answers_path))) == (2, lines + 1)


def test_judges_are_nowhere_among_answers_and_scores(genaipa):
    """No verdict is an answer to score, or a row of report and leaderboard; `latest` is the run that was judged."""
    study(genaipa, 2)
    assert genaipa("judge", "--judge", script("judge.yaml")).code == 0
    here = find_workspace()
    own, judges = AnswerPool(here, list_run_folders_oldest_first(here)), AnswerPool(here, judge_runs())
    assert (len(own.answers), len(judges.answers)) == (2, 0)
    assert [source.folder.name for source in select_runs_and_apply_filters(here, ["latest"])] == [
        load_run("answers").name
    ]
    assert [source.manifest.spec.task for source in select_runs_and_apply_filters(here, ["latest"])] == ["procedure"]
    assert find_run(here, "latest").name == load_run("answers").name
    gathered = gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, []))
    tidy = gathered.table
    assert set(tidy["system"]) == {"scripted/say.yaml"}
    assert set(tidy["scorer"]) == {"machine"}
    assert not tidy["counted"].any()
    # Without people's scores a report has the judge's average as the judge's alone, and no estimate.
    made = {chapter.name: chapter for chapter in make_chapters(gathered, gathered.rubric.bands).chapters}
    (alone,) = (table for table in made["judges"].tables if table.name == "people-and-judge")
    assert "overall" not in made
    assert alone.data[["people", "mean"]].isna().to_numpy().all()
    assert alone.data["judge"].iloc[0] == tidy["m_all"].mean()
    packed = genaipa("pack", judge_runs()[0].name)
    assert (packed.code, "repeats the answers" in packed.err) == (2, True)
    assert genaipa("validate", "--data").code == 0
