"""A conversation is given back as the system had it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from running import KEY, TEXT, answers, carry_out, latest, make_workspace, messages, procedure, spec
from servers import Behaviour, OpenAIServer, cut, failure

from genaipa.runs.inputs import NO_WORDS, load_conversation_through_reply
from genaipa.runs.manifest import ANSWERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record
    from genaipa.systems.base import Message


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that answers everything; tests may give it a script."""
    make_workspace(questions=3)
    with OpenAIServer(models=("m",)) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        yield running


def had(folder: RunFolder, record: Record) -> list[Message]:
    """The conversation of a record."""
    return load_conversation_through_reply(folder, record, folder.tally_records_and_map_offsets()[1])


@pytest.mark.parametrize("more", [{}, {"conversation": "independent"}, {"acknowledge": True}], ids=json.dumps)
def test_every_conversation_is_as_the_server_received_it(server: OpenAIServer, more: dict[str, Any]) -> None:
    """For every answer, summary and acknowledgement: the messages that were sent, then the reply."""
    folder, _ = carry_out(procedure(**more))
    asked = []
    for record in latest(folder).values():
        *before, reply = had(folder, record)
        assert (reply.role, reply.content) == ("assistant", record.reply)
        asked.append([{"role": message.role, "content": message.content} for message in before])
    received = [messages(request) for request in server.requests]
    assert sorted(map(json.dumps, asked)) == sorted(map(json.dumps, received))


def test_each_message_says_what_it_is_for(server: OpenAIServer) -> None:
    """A page can tell the document's parts from the questions, and the text of a part from the words around it."""
    folder, _ = carry_out(spec())
    *introduction, first, replied, asked, reply = had(folder, answers(folder)[1])
    assert [message.purpose for message in (first, replied, asked, reply)] == ["question", "answer"] * 2
    assert {message.purpose for message in introduction} == {"introduction", "part", "acknowledgement"}
    assert "".join(message.carries for message in introduction if message.purpose == "part") == TEXT


def test_a_reply_without_words_has_a_stand_in(server: OpenAIServer) -> None:
    """A later question followed on the stand-in, in the language of the prompts; the reply itself stays empty."""
    for prompts, said in (("neutral", NO_WORDS), ("neutral-de", "(keine Antwort)")):
        before = len(server.requests)
        server.script = [*(Behaviour() for _ in range(before)), cut("")]
        folder, _ = carry_out(spec(prompts=(prompts,)))
        first, second, *_ = answers(folder)
        assert had(folder, first)[-1].content == ""
        assert had(folder, second)[-3].content == said
        assert messages(server.requests[before + 1])[-2]["content"] == said


def test_a_failure_ends_with_what_was_asked(server: OpenAIServer) -> None:
    """Where no reply came, the conversation ends with the question."""
    server.script = [None, failure(400, "no")]
    folder, _ = carry_out(spec())
    failed = next(record for record in latest(folder).values() if record.status == "failed")
    assert had(folder, failed)[-1].content == failed.asked


def test_only_this_conversation_is_read(server: OpenAIServer) -> None:
    """Of a long run, the records of other conversations are not touched."""
    folder, _ = carry_out(procedure())
    _, offsets = folder.tally_records_and_map_offsets()
    record = answers(folder)[-1]
    expected = load_conversation_through_reply(folder, record, offsets)
    path = folder.path / ANSWERS
    own = json.dumps(record.key.removesuffix(record.question))[:-1].encode()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line if own in line else b"x" * (len(line) - 1) + b"\n" for line in lines))
    assert load_conversation_through_reply(folder, record, offsets) == expected
