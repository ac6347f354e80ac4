"""Passages given with replies: read from a response, kept in records, and never an answer lost for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from running import KEY, lines_of, make_workspace, write
from servers import Behaviour, OpenAIServer

from genaipa.answers.gather import gather_study
from genaipa.errors import DataError
from genaipa.runs.records import Record
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.systems.base import MAX_PASSAGE_LENGTH, Passage, find_passages_and_remark
from genaipa.systems.catalog import resolve_system
from genaipa.workspace import find_workspace
from genaipa_retrieval.chapter import describe_passages_not_in_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

PATH = "choices.0.message.context.citations"
ENTRY = f"systems: {{bot: {{system: openai-api/loop/m, passages: {PATH}}}}}\n"
KEPT = "We keep your address for one year; then we delete it."

OWN = """
from genaipa.systems.base import BuiltinSystem, Passage, Reply

class Bot(BuiltinSystem):
    def __init__(self):
        super().__init__(name="bot")

    async def reply_to_last_message(self, messages, settings):
        return Reply("For one year.", passages={passages})
"""


def body(citations: object) -> bytes:
    """A response of a server that retrieves, as OpenAI's with a field of its own."""
    message = {"role": "assistant", "content": "For one year.", "context": {"citations": citations}}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 10_000, "completion_tokens": 5, "total_tokens": 10_005}
    return json.dumps(
        {"id": "x", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
    ).encode()


def asked(genaipa: Callable[..., Finished], system: str, name: str) -> tuple[Finished, list[dict[str, Any]]]:
    """A run of two questions, and the lines of its answers."""
    done = genaipa("run", "-s", system, "-p", "acme", "-e", "quality", "--conversation", "independent", "--name", name)
    assert done.code == 0, done.err
    (file,) = Path("runs").glob(f"*{name}/answers.jsonl")
    return done, [line for line in lines_of(file) if line["kind"] == "answer"]


def test_a_servers_passages(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """Texts and objects with a text, a source and a score are kept in the server's order, without a key in them."""
    monkeypatch.setenv("LOOP_API_KEY", KEY)
    make_workspace(questions=2)
    write("systems.yaml", ENTRY)
    given: list[object] = [
        KEPT,
        {"content": f"The key is {KEY}.", "title": "Other", "url": "https://a.example", "score": 2},
        {"text": "We deliver.", "url": "https://b.example", "score": "high"},
    ]
    with OpenAIServer(lambda *_: Behaviour(body=body(given)), models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        done, found = asked(genaipa, "bot", "bot")
    assert [line["reply"] for line in found] == ["For one year."] * 2
    assert found[0]["passages"] == [
        {"text": KEPT},
        {"text": "The key is [key].", "source": "Other", "score": 2},
        {"text": "We deliver.", "source": "https://b.example"},
    ]
    assert "passage" not in done.err


def test_bad_passages_of_a_server(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """What is no list of passages is said once, in a sentence, and costs no answer; what can be kept is."""
    monkeypatch.setenv("LOOP_API_KEY", KEY)
    make_workspace(questions=2)
    write("systems.yaml", ENTRY)
    long = "x" * 1_000_000
    cases: list[tuple[object, str, list[dict[str, Any]]]] = [
        ({"text": KEPT}, f"bot: a response has no list at {PATH}, so its answer has no passages", []),
        (None, f"bot: a response has no list at {PATH}", []),
        ([], f"bot: a response has an empty list at {PATH}: the server retrieved nothing", []),
        ([KEPT, {"id": 7}, 3, " "], "bot: some of its passages have no text and are ignored.", [{"text": KEPT}]),
        ([long], "bot: a passage has more than 100,000 characters", [{"text": long}]),
    ]
    for number, (citations, said, kept) in enumerate(cases):
        with OpenAIServer(lambda *_, given=citations: Behaviour(body=body(given)), models=("m",)) as server:
            monkeypatch.setenv("LOOP_BASE_URL", server.url)
            done, found = asked(genaipa, "bot", f"bot-{number}")
        assert [(line["status"], line["reply"]) for line in found] == [("answered", "For one year.")] * 2, said
        assert [line.get("passages", []) for line in found] == [kept] * 2, said
        assert done.err.count(said) == 1, (said, done.err)


def test_passages_of_another_document(monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished]) -> None:
    """A server's passages of another company's policy, and one of a megabyte, are kept, and a report says so once."""
    monkeypatch.setenv("LOOP_API_KEY", KEY)
    make_workspace(questions=1)
    write(
        "policies/other.md",
        "# Other\n\nBees keep the accounts of the whole hive in a drawer of wax until spring comes.\n",
    )
    write("systems.yaml", ENTRY)
    other = "Bees keep the accounts of the whole hive in a drawer of wax until spring comes."
    with OpenAIServer(lambda *_: Behaviour(body=body([other, KEPT, "x" * 1_000_000])), models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        done = genaipa("run", "-s", "bot", "-p", "acme,other", "-e", "quality", "--conversation", "independent")
        assert done.code == 0, done.err
    here = find_workspace()
    study = gather_study(here, select_runs_and_apply_filters(here, ("latest",)), None)
    frame = study.make_tidy_table().set_index("document")
    columns = ["passages", "passages_elsewhere", "passages_other"]
    assert {name: frame.loc[name, columns].tolist() for name in ("acme", "other")} == {
        "acme": [3, 2, 1],
        "other": [3, 2, 1],
    }
    (said,) = describe_passages_not_in_document(study)
    assert said == (
        "bot: 4 of its 6 passages are not in the document that was asked about, "
        "2 of these in another document of the run."
    )


def test_passages_of_a_class_of_ones_own(genaipa: Callable[..., Finished]) -> None:
    """A class returns them as they are; what is none costs no answer."""
    make_workspace(questions=1)
    cases = {
        f'(Passage("{KEPT}", "3", 0.5), Passage("\\ud83d", score=float("nan")))': [
            {"text": KEPT, "source": "3", "score": 0.5},
            {"text": "\ufffd"},
        ],
        f'[Passage("{KEPT}", source=3, score=10**400), "loose", Passage(None)]': [{"text": KEPT}],
        '"one text"': [],
    }
    for number, (passages, kept) in enumerate(cases.items()):
        write(f"bot{number}.py", OWN.replace("{passages}", passages))
        done, found = asked(genaipa, f"bot{number}:Bot", f"own-{number}")
        assert [(line["reply"], line.get("passages", [])) for line in found] == [("For one year.", kept)], passages
        said = ("", "some of its passages have no text", "its passages are a str, not a tuple of Passage")
        assert said[number] in done.err


def test_the_sentences_of_extractive(genaipa: Callable[..., Finished]) -> None:
    """`extractive` gives the sentences that it quotes, each with its section, and none where it quotes none."""
    make_workspace(questions=1)
    write(
        "questions/policy.yaml",
        Path("questions/policy.yaml").read_text().replace("Question 1 on", "Is the address kept by"),
    )
    _, found = asked(genaipa, "extractive", "extractive")
    assert found[0]["passages"]
    for passage in found[0]["passages"]:
        assert f'"{passage["text"]}" ({passage["source"]})' in found[0]["reply"]
    write(
        "questions/policy.yaml", Path("questions/policy.yaml").read_text().replace("Is the address kept", "Elephants")
    )
    _, found = asked(genaipa, "extractive", "nothing")
    assert "passages" not in found[0]


def test_records_without_passages_have_the_bytes_that_they_had(genaipa: Callable[..., Finished]) -> None:
    """A record without passages is written as before there were any, and one of then is read."""
    line = (
        b'{"key":"s|d|document|original|1|Q1","status":"answered","kind":"answer","system":"s","coordinates":'
        b'{"document":"d","initialization":"document","wording":"original","repetition":"1","question":"Q1"},'
        b'"asked":"Why?","reply":"So.","digest":"aa","conversation":"s|d|document|original|1","seconds":0.5,"model":"m",'
        b'"usage":{"input":3},"cost":0.1,"score":0.5,"turn":1,"started":"2026-11-21T13:15:02Z","finish":"stop",'
        b'"sent":{"temperature":0}}'
    )
    record = msgspec.json.decode(line, type=Record)
    assert record.passages == ()
    assert msgspec.json.encode(record) == line
    make_workspace(questions=1)
    write("say.yaml", "default: So.\n")
    _, found = asked(genaipa, "scripted/say.yaml", "silent")
    assert "passages" not in found[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{system: openai/x, passages: a.b}", r"systems\.mine\.passages: only systems named openai-api/NAME/MODEL"),
        (
            "{system: openai-api/s/m, passages: a..b}",
            r"systems\.mine\.passages: 'a\.\.b' is not a path such as choices",
        ),
    ],
)
def test_bad_paths(text: str, said: str) -> None:
    """A path at a system whose response has none, or that is none, is told by entry."""
    write("genaipa.toml", "")
    write("systems.yaml", f"systems: {{mine: {text}}}")
    with pytest.raises(DataError, match=said):
        resolve_system("mine", find_workspace())


def test_paths() -> None:
    """A path goes through objects by name and through lists by number, and ends nowhere without harm."""
    response = {"a": [{"b": ["one", {"content": "two", "score": 1.5}]}]}
    assert find_passages_and_remark(response, "a.0.b") == ((Passage("one"), Passage("two", score=1.5)), "")
    for path in ("a", "a.1", "a.x.b", "a.0.b.0.c", "c"):
        assert find_passages_and_remark(response, path)[0] == (), path
    assert find_passages_and_remark({"a": ["x" * MAX_PASSAGE_LENGTH]}, "a")[1] == ""
