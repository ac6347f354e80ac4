"""Inspect: its own reader takes every log, a log of ours comes back whole, and somebody else's becomes a run.

Inspect is in no extra that `make test` installs: CI runs this file in an environment of its own.
"""

from __future__ import annotations

import json
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import call
from exchanged import everything_in, study_with_scores
from judges import annotated, script
from running import TEXT, answers, write

from genaipa.runs.folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Finished

    from genaipa.runs.records import Record

pytestmark = pytest.mark.skipif(find_spec("inspect_ai") is None, reason="needs inspect_ai (.ci/inspect.txt)")


def done(*words: str) -> Finished:
    """A command that worked."""
    finished = call(*words)
    assert finished.code == 0, finished.err
    return finished


def records(home: str = ".") -> list[Record]:
    """The answers of a workspace, by key."""
    found = (one for path in Path(home, "runs").iterdir() for one in answers(RunFolder(path)))
    return sorted(found, key=lambda record: record.key)


def samples(count: int = 50, **changes: Any) -> list[Any]:
    """Samples as an evaluation of questions about two policies leaves them; `changes` are the last one's."""
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
    from inspect_ai.scorer import Score

    made = []
    for n in range(count):
        question, reply = f"May they share it with {n // 2}?", f"Not with {n // 2}, by section {n}."
        fields = {
            "id": n + 1,
            "epoch": 1,
            "input": question,
            "target": "They may not.",
            "messages": [ChatMessageUser(content=question), ChatMessageAssistant(content=reply)],
            "output": ModelOutput.from_content("acme/large", reply),
            "scores": {"match": Score(value="C")},
            "metadata": {"document": ("acme", "umbrella")[n % 2]},
        }
        made.append(EvalSample(**(fields | (changes if n == count - 1 else {}))))
    return made


def log_of(some: list[Any], path: str = "log.eval", **changes: Any) -> str:
    """A log of these samples, written by Inspect, and its path."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, write_eval_log

    made = EvalSpec(
        created="2026-11-26T10:00:00+00:00",
        task="sharing",
        eval_id="abcdefgh",
        dataset=EvalDataset(name="two policies"),
        model="acme/large",
        config=EvalConfig(epochs=1),
    )
    write_eval_log(EvalLog(**({"version": 2, "status": "success", "eval": made, "samples": some} | changes)), path)
    return path


@pytest.fixture
def texts() -> str:
    """A folder with the texts of both policies."""
    write("texts/acme.md", TEXT)
    write("texts/umbrella.txt", "1. We share everything with everybody.")
    return "texts"


def test_a_log_is_readable_and_comes_back() -> None:
    """Inspect reads answers, scores and means; in another workspace all are as they were, and are taken in once."""
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_samples

    before, here = study_with_scores(), records()
    out = done("export", "inspect", "-o", "out", "--with-judge").out
    assert "out: 1 file, 2 answers, 5 scores." in out
    (found,) = list_eval_logs("out")
    log = read_eval_log(found)
    assert len(list(read_eval_log_samples(found))) == len(log.samples) == 2
    assert {one.metadata["digest"] for one in log.samples} == {record.digest for record in here}
    assert {one.output.completion for one in log.samples} == {record.reply for record in here}
    scored = next(one for one in log.samples if one.scores)
    assert scored.scores.keys() == {"ada", "bo", "ada (adjudication)", "robot1", "robot2"}
    assert scored.scores["ada"].value["accuracy"] == -1
    assert next(one for one in log.results.scores if one.name == "bo").metrics["clarity"].value == 1
    assert "2 answers read, 0 new; 5 scores read, 0 new." in done("import", "inspect", "out").out
    write("other/genaipa.toml", "")
    out = done("import", "inspect", "out", "-w", "other").out
    assert "2 answers read, 2 new; 5 scores read, 5 new." in out
    assert records("other") == here
    assert everything_in("other") == before
    assert "2 answers read, 0 new; 5 scores read, 0 new." in done("import", "inspect", "out", "-w", "other").out
    done("validate", "--data", "-w", "other")


def test_a_log_shows_what_inspect_lists() -> None:
    """Its viewer has a duration, an answer beside each score, M_all before the metrics, and an id for each log."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    study_with_scores()
    done("run", "--system", "extractive", "--policy", "acme", "--experiment", "quality", "--questions", "policy")
    done("export", "inspect", "-o", "out")
    listed = list_eval_logs("out")
    logs = [read_eval_log(info) for info in listed]
    assert len({log.eval.task_id for log in logs}) == len(logs) == 2
    assert {info.task_id for info in listed} == {log.eval.task_id for log in logs}
    for log in logs:
        assert "" < log.stats.started_at <= log.stats.completed_at
        assert all(one.started_at <= one.completed_at and one.total_time is not None for one in log.samples)
    scored = next(log for log in logs if log.results.scores)
    assert next(iter(scored.results.scores[0].metrics)) == "M_all"
    sample = next(one for one in scored.samples if one.scores)
    for score in sample.scores.values():
        assert score.answer == sample.output.completion
        assert next(iter(score.value)) == "M_all"
        assert score.value["M_all"] == pytest.approx(10 + 9 * (sum([*score.value.values()][1:]) + 5))


def test_a_text_that_stayed_is_asked_for() -> None:
    """Of a document that may not be passed on, the text comes from a folder; without one a sentence asks for it."""
    study_with_scores("not redistributable")
    here = records()
    done("export", "inspect", "-o", "out")
    write("other/genaipa.toml", "")
    asked = call("import", "inspect", "out", "-w", "other")
    assert asked.code == 2
    assert "lacks the text of acme; give a folder with a file of that name: --documents FOLDER." in asked.err
    done("import", "inspect", "out", "-w", "other", "--documents", "policies")
    assert records("other") == here


def test_somebody_elses_log_becomes_a_report(texts: str) -> None:
    """Fifty answers about two policies: a run whose answers are scored by people and a judge, and reported."""
    log_of(samples())
    said = done("import", "inspect", "log.eval", "--documents", texts)
    assert said.out.startswith("50 answers read, 50 new; 0 scores read, 0 new; 50 scores with other metrics left out.")
    assert "Next: genaipa score sharing-acme-large-abcdef" in said.out
    assert [record.system for record in records()] == ["acme/large"] * 50
    assert len({(record.document, record.question) for record in records()}) == 50
    done("validate", "--data")
    done("scores", "sheet", "latest", "-o", "sheet.xlsx", "--analyst", "Ada")
    done("judge", "latest", "--judge", script("judge.yaml", default=annotated()))
    assert len(everything_in()) == 50
    assert "Report:" in done("report", "latest", "--formats", "svg").out


def test_a_document_in_the_prompt_is_found() -> None:
    """The text in the metadata is a document too, and is taken out of the question that was asked with it."""
    log_of(samples(1, input=f"{TEXT}\n\nMay they?", metadata={"document": TEXT, "company": "Acme Corp"}), "one.json")
    done("import", "inspect", "one.json")
    (record,) = records()
    assert (record.document, record.asked) == ("acme-corp", "May they?")


def refusals() -> Iterator[tuple[str, str]]:
    """A log that can't be taken in, and what is said of it."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ContentImage
    from inspect_ai.tool import ToolCall

    picture = ContentImage(image="data:image/png;base64,AAAA")
    call_ = ToolCall(id="1", function="search", arguments={})
    yield (
        log_of(samples(2, input=[{"role": "user", "content": [picture]}]), "a.json"),
        "sample 2: has a message with an",
    )
    asks = [ChatMessageAssistant(content="", tool_calls=[call_]), ChatMessageTool(content="x", tool_call_id="1")]
    yield (
        log_of(samples(2, messages=asks), "b.json"),
        "sample 2: calls tools; only answers without tools can be scored.",
    )
    yield log_of(samples(2, metadata={}), "c.json"), "sample 2: does not name a document in its metadata"
    yield (
        log_of(samples(2, metadata={"document": "gone"}), "d.json"),
        "sample 2: lacks the text of 'gone'; give a folder",
    )
    yield (
        log_of([*samples(2), samples(2)[1].model_copy(update={"id": 9})], "e.json"),
        "sample 9: repeats the question of another",
    )
    yield log_of(samples(2, epoch=10**9), "l.json"), "sample 2: has the epoch 1000000000; it must be from 1 to"
    write("m.json", Path("l.json").read_text().replace('"acme/large"', '" "'))
    yield "m.json", "m.json: does not name a model"
    yield log_of(samples(2), "f.json", status="started"), "comes from an evaluation that did not finish (started)"
    yield log_of([], "g.json"), "contains no answers."
    write("h.json", Path("e.json").read_text().replace('"version": 2', '"version": 3'))
    yield "h.json", "h.json: is not an Inspect log, or is damaged (Unable to read version 3 of log format"
    write("i.json", Path("e.json").read_text()[:-900])
    yield "i.json", "i.json: is not an Inspect log, or is damaged ("
    write("j.eval", "PK, and nothing more")
    yield "j.eval", "j.eval: is not an Inspect log, or is damaged ("
    with zipfile.ZipFile("k.eval", "w") as bomb:
        bomb.writestr("header.json", "{}")
        bomb.filelist[0].file_size = 2**30 + 1
    yield "k.eval", "k.eval: unpacks to more than 128 MB; export fewer samples at a time."
    yield "gone.eval", "There is no file or folder gone.eval."


def test_what_can_not_be_taken_in_is_told(texts: str) -> None:
    """Cut, unfinished, of another version, with pictures, tools or unknown documents: a sentence, nothing taken."""
    for path, told in refusals():
        finished = call("import", "inspect", path, "--documents", texts)
        assert finished.code == 2, (path, finished.out, finished.err)
        assert told in finished.err
        assert len(finished.err.splitlines()) == 1
    assert not Path("runs").exists()


def test_a_changed_answer_is_refused() -> None:
    """A reply that was edited in the log is no longer the one that was given, and that a score is for."""
    study_with_scores()
    done("export", "inspect", "-o", "out")
    (path,) = Path("out").iterdir()
    edited = json.loads(path.read_text())
    edited["samples"][0]["output"]["choices"][0]["message"]["content"] = "Better."
    path.write_text(json.dumps(edited))
    finished = call("import", "inspect", "out")
    assert finished.code == 2
    assert "was changed after genaipa wrote it (its text does not match its digest); export it again." in finished.err
    edited["eval"]["metadata"]["genaipa"]["files"]["questions/../../../x.yaml"] = ""
    edited["samples"] = []
    path.write_text(json.dumps(edited))
    assert "has a file 'questions/../../../x.yaml', which does not belong" in call("import", "inspect", "out").err
