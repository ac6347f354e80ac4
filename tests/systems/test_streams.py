"""Replies that are streamed, through the three SDKs: the same answers, the first pieces' times, errors in between."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from asking import QUESTION, ask
from running import make_workspace, write
from servers import AnthropicServer, Behaviour, GoogleServer, LoopbackServer, OpenAIServer, cut, failure, refusal, reply

from genaipa import report
from genaipa.errors import NoReplyError, PermanentError, TransientError
from genaipa.runs.selection import find_run
from genaipa.systems.base import Settings
from genaipa.systems.catalog import resolve_system
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli

    from genaipa.systems.base import Reply

STREAM = Settings(stream=True)
SERVERS: dict[str, type[LoopbackServer]] = {
    "openai/gpt-4o": OpenAIServer,
    "openai-api/lab/gpt-4o": OpenAIServer,
    "anthropic/claude-opus-4-8": AnthropicServer,
    "google/gemini-2.5-pro": GoogleServer,
}
VARIABLES = {"openai": "OPENAI", "openai-api": "LAB", "anthropic": "ANTHROPIC", "google": "GOOGLE_GEMINI"}
EVERY = pytest.mark.parametrize("name", SERVERS)
TEXT = "Ja: für 10 Jahre.\n\n* “Section 3”: 保存期限 🙂 \n"


def send(
    name: str, behaviour: Behaviour, monkeypatch: pytest.MonkeyPatch, settings: Settings = STREAM
) -> tuple[Reply, dict[str, Any]]:
    """Ask the system of a name once; return its reply and the body of the request."""
    with SERVERS[name]([behaviour]) as server:
        provider = name.partition("/")[0]
        monkeypatch.setenv(f"{VARIABLES[provider]}_BASE_URL", server.url)
        monkeypatch.setenv(f"{VARIABLES[provider].removeprefix('GOOGLE_')}_API_KEY", "sk-x")
        _, (answer,) = ask(resolve_system(name, find_workspace()).make_system(), QUESTION, settings=settings)
    return answer, server.requests[0].body


def plain(answer: Reply) -> tuple[object, ...]:
    """What a reply says, without its times."""
    return answer.text, answer.thoughts, answer.finish, answer.finish_detail, answer.usage, answer.model, answer.sent


@EVERY
def test_the_same_answer_in_pieces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, end, tokens and model are those of the reply that comes whole; the request differs by the wish alone."""
    for behaviour in (reply(TEXT), reply("x"), cut("The policy says"), refusal()):
        whole, body = send(name, behaviour, monkeypatch, Settings())
        streamed, other = send(name, behaviour, monkeypatch)
        assert plain(streamed) == plain(whole)
        assert {field: value for field, value in other.items() if not field.startswith("stream")} == body
        assert (whole.first_token, whole.first_text) == (None, None)
        if streamed.text:
            assert streamed.first_token == streamed.first_text is not None
        if name.startswith("openai"):
            assert other["stream_options"] == {"include_usage": True}


def chunks(*deltas: dict[str, Any]) -> Behaviour:
    """Chunks of a completion with these deltas."""
    choices = [*({"index": 0, "delta": delta} for delta in deltas), {"index": 0, "delta": {}, "finish_reason": "stop"}]
    return Behaviour(events=[*({"model": "m", "choices": [choice]} for choice in choices), "[DONE]"])


def blocks(*events: Any) -> Behaviour:
    """Events of a message with this content."""
    usage = {"input_tokens": 9, "output_tokens": 1}
    start = {"type": "message_start", "message": {"model": "m", "content": [], "usage": usage}}
    end = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    return Behaviour(events=[start, {"type": "ping"}, *events, end, {"type": "message_stop"}])


def begin(index: int, **block: Any) -> dict[str, Any]:
    """The beginning of a block."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, text: str) -> dict[str, Any]:
    """A piece of a block."""
    piece = {"type": f"{kind}_delta", kind: text}
    return {"type": "content_block_delta", "index": index, "delta": piece}


def parts(*pieces: dict[str, Any]) -> Behaviour:
    """Chunks of a candidate with these parts, the last one with its end."""
    events: list[Any] = [{"candidates": [{"content": {"role": "model", "parts": [piece]}}]} for piece in pieces]
    return Behaviour(events=[*events, {"candidates": [{"finishReason": "STOP"}], "modelVersion": "m"}])


@pytest.mark.parametrize(
    ("name", "behaviour", "thoughts"),
    [
        (
            "openai-api/lab/gpt-4o",
            chunks({"reasoning": "Wh"}, {"reasoning": "at?"}, {"content": "Yes."}),
            "What?",
        ),
        (
            "openai-api/lab/gpt-4o",
            chunks({"content": "<think>What?"}, {"content": "</think>\n"}, {"content": "\nYes."}),
            "",
        ),
        ("openai-api/lab/gpt-4o", chunks({"content": "What?</think>"}, {"content": "Yes."}), ""),
        (
            "anthropic/claude-opus-4-8",
            blocks(
                begin(0, type="thinking", thinking="", signature=""),
                delta(0, "thinking", "Wh"),
                delta(0, "thinking", "at?"),
                begin(1, type="text", text=""),
                delta(1, "text", "Yes."),
            ),
            "What?",
        ),
        (
            "anthropic/claude-opus-4-8",
            blocks(
                begin(0, type="thinking", thinking="", signature=""),
                delta(0, "signature", "c2ln"),
                begin(1, type="text", text=""),
                delta(1, "text", "Yes."),
            ),
            "",
        ),
        ("google/gemini-2.5-pro", parts({"text": "What?", "thought": True}, {"text": "Yes."}), "What?"),
    ],
)
def test_silent_and_spoken_thoughts_are_waiting(
    name: str, behaviour: Behaviour, thoughts: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first anything comes before the first text of the answer, wherever its thoughts are."""
    answer, _ = send(name, behaviour, monkeypatch)
    assert answer.text.endswith("Yes.")
    assert answer.thoughts == thoughts
    assert answer.first_token is not None
    assert answer.first_text is not None
    assert answer.first_text > answer.first_token


ERRORS = {
    "openai/gpt-4o": {"error": {"message": "Overloaded", "type": "overloaded_error", "code": 503}},
    "openai-api/lab/gpt-4o": {"error": {"message": "Slow down", "type": "x", "code": "rate_limit_exceeded"}},
    "anthropic/claude-opus-4-8": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
    "google/gemini-2.5-pro": {"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}},
}
EVENT = "event: message_start\n"
FIRST = {
    "openai": chunks({"content": "Yes"}).events[0],
    "openai-api": chunks({"content": "Yes"}).events[0],
    "anthropic": blocks().events[0],
    "google": parts({"text": "Yes"}).events[0],
}


@EVERY
def test_an_error_after_the_beginning(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An event that states an error is that error, though the status was 200: worth another try, or not."""
    behaviour = Behaviour(events=[FIRST[name.partition("/")[0]], ERRORS[name]])
    with pytest.raises(TransientError) as error:
        send(name, behaviour, monkeypatch)
    assert (error.value.kind, error.value.overload) == ("rate-limit" if "lab" in name else "overload", True)
    assert "200" not in str(error.value)
    with pytest.raises(PermanentError):
        send(name, failure(400, "No."), monkeypatch)


@EVERY
def test_a_stream_that_ends_early(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that breaks, and a stream without the reply's end: nothing is kept, and another try is worth it."""
    begun = FIRST[name.partition("/")[0]]
    for behaviour in (Behaviour(text=TEXT, breaks=3), Behaviour(events=[begun]), Behaviour(events=["{"])):
        with pytest.raises(NoReplyError) as error:
            send(name, behaviour, monkeypatch)
        assert isinstance(error.value, TransientError)
        assert error.value.kind in ("connection", "malformed-reply")


@EVERY
def test_a_stream_that_stalls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time is that of the whole reply, and its connection is let go of."""
    event = json.dumps(FIRST[name.partition("/")[0]])
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    data = f"{EVENT * name.startswith('anthropic')}data: {event}\n\n"
    begun = f"{head}{len(data):x}\r\n{data}\r\n".encode()
    with pytest.raises(TransientError) as error:
        send(name, Behaviour(wire=lambda: [begun, 600.0]), monkeypatch, Settings(stream=True, timeout=0.1))
    assert error.value.kind == "timeout"


def test_a_completion_without_its_last_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply has ended: it is kept, without a count of its tokens."""
    answer, _ = send("openai/gpt-4o", chunks({"content": "Yes"}, {"content": "."}), monkeypatch)
    assert (answer.text, answer.usage) == ("Yes.", None)


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-opus-4-8", "google/gemini-2.5-pro"])
def test_odd_events(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a server streams is a reply or an error of the kinds that there are."""
    for event in ([], None, 7, {"choices": 3}, {"choices": [None]}, {"type": "content_block_delta", "delta": 4}):
        with pytest.raises(NoReplyError):
            send(name, Behaviour(events=[event]), monkeypatch)


@pytest.mark.full
def test_a_streamed_run(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has both times and a table of them; one that breaks is asked again; batches are refused; others have none."""
    make_workspace(3)
    script = (
        Behaviour(text="A long enough reply.", breaks=4),
        Behaviour(events=[FIRST["openai"], ERRORS["openai/gpt-4o"]]),
    )
    plan = ("run", "-s", "openai/gpt-4o", "-p", "acme", "-e", "quality", "--conversation", "independent", "-j", "1")
    with OpenAIServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        done = genaipa(*plan, "--stream", "--name", "streamed")
        whole = genaipa(*plan, "--name", "whole")
        refused = genaipa(*plan, "--stream", "--batch", "--new")
    assert (done.code, whole.code, refused.code) == (0, 0, 2), done.err + whole.err
    assert "--stream applies only to single calls; leave it out, or ask without batches." in refused.err
    streamed, plain_run = (find_run(find_workspace(), name) for name in ("streamed", "whole"))
    assert streamed.manifest().spec == plain_run.manifest().spec
    records = [record for record in streamed.read_records() if record.kind == "answer"]
    assert sum(record.attempts for record in records) == len(records) + 2 == len(server.requests) - 3
    for record, other in zip(records, plain_run.read_records(), strict=True):
        assert (record.reply, record.usage and record.usage.output) == (other.reply, other.usage and other.usage.output)
        assert record.first_token is not None
        assert record.first_token <= record.first_text <= record.seconds  # type: ignore[operator]
    assert "first_t" not in (plain_run.path / "answers.jsonl").read_text()
    (row,) = report("streamed").tables["first-token"].data.to_dict("records")
    assert (row["system"], row["answers"]) == ("openai/gpt-4o", 3)
    assert "first-token" not in report("whole").tables


def test_the_times_of_an_assistant_of_ones_own(genaipa: Cli) -> None:
    """Times that are none are left out of its records."""
    make_workspace(1)
    source = """from genaipa.systems.base import Readiness, Reply
class Mine:
    name = "mine"
    async def start(self): return Readiness()
    async def reply(self, messages, settings): return Reply("Yes.", first_token=0.25, first_text="soon")
    async def count_tokens(self, text): return None
    async def close(self): pass
"""
    write("timed.py", source)
    assert genaipa("run", "-s", "timed:Mine", "-p", "acme", "-e", "quality").code == 0
    records = find_run(find_workspace(), "latest").path.joinpath("answers.jsonl").read_text().splitlines()
    (times,) = [{name: json.loads(line).get(name) for name in ("first_token", "first_text")} for line in records]
    assert times == {"first_token": 0.25, "first_text": None}
