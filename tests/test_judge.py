"""`genaipa judge` from the answers to the store: each verdict once, and nowhere among answers and people's scores."""

from __future__ import annotations

import json
from pathlib import Path

from judges import RUBRIC, events, judge_runs, script, study, verdict
from running import latest, lines_of, write

from genaipa.judging.name import Judge
from genaipa.reports.gather import gather_scored
from genaipa.runs.folder import run_folders
from genaipa.runs.run import load_run
from genaipa.runs.selection import select
from genaipa.scoring.answers import Pool
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
    asked = [[record.coordinates["pass"] for record in folder.records()] for folder in judge_runs()]
    assert asked == [["1"] * 3, ["2"] * 3, ["1"] * 3]
    assert len({event.id for event in events()}) == len(events()) == 9


def test_a_lost_store_is_made_again_from_the_run_folder(genaipa):
    """The run folder is the source: without the store, the same events come again, and nobody is asked."""
    study(genaipa, 2)
    judge = script("judge.yaml", model="scripted/judge.yaml")
    assert genaipa("judge", "--judge", judge).code == 0
    before = events()
    Path("scores.db").unlink()
    assert "nothing to judge" in genaipa("judge", "--judge", judge).out
    assert events() == before
    (folder,) = judge_runs()
    for path in folder.path.rglob("*"):
        if path.is_file():
            path.unlink()
    assert "nothing to judge" in genaipa("judge", "--judge", judge).out


def test_what_is_no_verdict_is_a_failure_and_asked_again(genaipa):
    """Unreadable, cut, refused and contradictory replies never become values; the same command asks them again."""
    study(genaipa)
    whole = json.loads(verdict())
    entries = whole["verdicts"]
    flaws = {
        "no JSON": "It is fine.",
        "cut": {"reply": verdict(), "finish": "length"},
        "refused": {"reply": verdict(), "finish": "refusal"},
        "a metric missing": verdict(verdicts=entries[:4]),
        "a metric twice": verdict(verdicts=[*entries, entries[0]]),
        "an unknown metric": verdict(verdicts=[*entries, entries[0] | {"metric": "style"}]),
        "another word": verdict(verdicts=[entries[0] | {"value": "excellent"}, *entries[1:]]),
        "another metric's word": verdict(verdicts=[entries[0] | {"value": "incorrect"}, *entries[1:]]),
        "a number": verdict(verdicts=[entries[0] | {"value": 1}, *entries[1:]]),
        "no evidence": verdict(verdicts=[entries[0] | {"evidence": " "}, *entries[1:]]),
        "no right answer": verdict(right_answer=""),
        "two of one name": verdict().replace('"right_answer"', '"verdicts": [], "right_answer"'),
        "two blocks": f"```json\n{verdict()}\n```\nor\n```json\n{verdict(2)}\n```",
        "more than was asked": verdict(overall="10"),
    }
    for name, reply in flaws.items():
        file = f"{name.replace(' ', '-')}.yaml"
        rule = {"match": r"begins =====\s*No\.", **(reply if isinstance(reply, dict) else {"reply": reply})}
        # The request for JSON in words comes a second time after a misfit, with the schema as its last message.
        repaired = {**rule, "match": "That does not fit"}
        done = genaipa("judge", "--judge", script(file, repaired, rule, model=name), "-j", "1")
        assert done.code == 3, (name, done.out)
        (folder,) = [one for one in judge_runs() if one.manifest().spec.systems == (f"scripted/{file}",)]
        (failed,) = [record for record in latest(folder).values() if record.status == "failed"]
        assert failed.error is not None
        assert failed.error.kind == "unusable", name
        assert failed.attempts >= 3, name
        given = [event for event in events() if event.analyst.startswith(f"judge:{name}@")]
        assert len(given) == 3, name
        assert {value for event in given for value in (event.values or {}).values()} == {1.0}, name
    # Only the failed one is asked again, in the same folder.
    (folder,) = [one for one in judge_runs() if "no-JSON" in one.name]
    lines = len(lines_of(folder.answers))
    assert genaipa("judge", "--judge", "scripted/no-JSON.yaml").code == 3
    assert (len(judge_runs()), len(lines_of(folder.answers))) == (len(flaws), lines + 1)


def test_judges_are_nowhere_among_answers_and_scores(genaipa):
    """No verdict is an answer to score, or a row of report and leaderboard; `latest` is the run that was judged."""
    study(genaipa, 2)
    assert genaipa("judge", "--judge", script("judge.yaml")).code == 0
    here = find_workspace()
    own, judges = Pool(here, run_folders(here)), Pool(here, judge_runs())
    assert (len(own.answers), len(judges.answers)) == (2, 0)
    assert [source.folder.name for source in select(here, ["latest"])] == [load_run("answers").name]
    assert [source.manifest.spec.task for source in select(here, ["latest"])] == ["procedure"]
    tidy = gather_scored(here, select(here, [])).frame
    assert set(tidy["system"]) == {"scripted/say.yaml"}
    assert set(tidy["scorer"]) == {"machine"}
    assert not tidy["counted"].any()
    packed = genaipa("pack", judge_runs()[0].name)
    assert (packed.code, "repeats the answers" in packed.err) == (2, True)
    assert genaipa("validate", "--data").code == 0
