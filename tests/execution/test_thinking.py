"""Thoughts of models through the vendors' SDKs: kept apart, and in nothing that is sent, judged, measured or shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from judges import events, verdict
from running import make_workspace
from servers import AnthropicServer, Behaviour, GoogleServer, OpenAIServer

from genaipa.runs.selection import find_run

if TYPE_CHECKING:
    from commandline import Cli

THOUGHT = "They ask in Section 99.9 about it, wait."
ANSWER = "Yes, for a year (Section 3)."
IN_TEXT = (
    f"<think>\n{THOUGHT}\n</think>\n\n{ANSWER}",
    f"{THOUGHT}\n</think>\n\n{ANSWER}",
    f"[THINK]{THOUGHT}[/THINK]{ANSWER}",
)


def openai(**message: Any) -> Behaviour:
    """A completion with this message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 40, "completion_tokens_details": {"reasoning_tokens": 30}}
    return Behaviour(body=json.dumps({"model": "m", "choices": [choice], "usage": usage}).encode())


def anthropic(*content: dict[str, Any]) -> Behaviour:
    """A message of these blocks."""
    return Behaviour(body=json.dumps({"model": "m", "stop_reason": "end_turn", "content": list(content)}).encode())


def google(*parts: dict[str, Any]) -> Behaviour:
    """A candidate of these parts."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}
    return Behaviour(body=json.dumps({"modelVersion": "m", "candidates": [candidate]}).encode())


TEXT = {"type": "text", "text": ANSWER}
FORMS: dict[str, list[Behaviour]] = {
    "openai-api/loop/m": [
        *(openai(content=text) for text in IN_TEXT),
        openai(content=f"\n\n{ANSWER}", reasoning_content=THOUGHT),
        openai(content=ANSWER, reasoning=THOUGHT),
        openai(content=[{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, TEXT]),
        openai(content=IN_TEXT[0], reasoning_content=THOUGHT),
    ],
    "anthropic/claude-opus-4-8": [
        *(anthropic({"type": "text", "text": text}) for text in IN_TEXT),
        anthropic({"type": "thinking", "thinking": THOUGHT, "signature": "x"}, TEXT),
        anthropic({"type": "redacted_thinking", "data": "x"}, {"type": "thinking", "thinking": THOUGHT}, TEXT),
    ],
    "google/gemini-2.5-pro": [
        *(google({"text": text}) for text in IN_TEXT),
        google({"text": THOUGHT, "thought": True}, {"text": ANSWER}),
    ],
}
SERVERS = {"openai-api": OpenAIServer, "anthropic": AnthropicServer, "google": GoogleServer}
VARIABLES = {"openai-api": "LOOP", "anthropic": "ANTHROPIC", "google": "GOOGLE_GEMINI"}


@pytest.mark.parametrize("system", FORMS)
def test_no_thought_is_in_an_answer_or_goes_back(system: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """In every form that a vendor's reply may have: the answer alone is kept as the reply, measured and sent again."""
    forms, provider = FORMS[system], system.partition("/")[0]
    make_workspace(len(forms))
    with SERVERS[provider](lambda number, _: forms[(number - 1) % len(forms)]) as server:
        server.models = (system.rpartition("/")[2],)
        monkeypatch.setenv(f"{VARIABLES[provider]}_BASE_URL", server.url)
        monkeypatch.setenv(f"{VARIABLES[provider].removeprefix('GOOGLE_')}_API_KEY", "sk-x")
        done = genaipa("run", "-s", system, "-p", "acme", "-e", "quality", "--json")
    assert done.code == 0, done.err
    folder = find_run(make_workspace(len(forms)), "latest")
    records = list(folder.read_records())
    assert [record.reply for record in records if record.kind == "answer"] == [ANSWER] * len(forms)
    assert all(THOUGHT in record.thoughts and record.thoughts.count(THOUGHT) == 1 for record in records)
    sent = [json.dumps(request.body) for request in server.requests]
    assert any(ANSWER in body for body in sent), "it goes on in one conversation"
    assert not any("99.9" in body or "think>" in body for body in sent)
    (row,) = json.loads(done.out)["rows"]
    assert row["thoughts_in_text"] == sum(record.thoughts != THOUGHT for record in records) > 0


def test_a_judge_sees_no_thoughts_and_thinks_aloud(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its prompt has the answer alone, its own thoughts are out of its verdict, and both runs end with one sentence."""
    make_workspace(2)

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        judged = "response_format" in body
        return openai(content=f"<think>{THOUGHT} {{}}</think>\n{verdict()}" if judged else IN_TEXT[0])

    with OpenAIServer(behave, models=("m", "n")) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("OTHER_BASE_URL", server.url)
        asked = genaipa("run", "-s", "openai-api/loop/m", "-p", "acme", "-e", "quality")
        judged = genaipa("judge", "latest", "--judge", "openai-api/other/n", "--own-family")
    assert (asked.code, judged.code) == (0, 0), judged.err
    assert not any("99.9" in json.dumps(request.body) for request in server.requests)
    assert sum(ANSWER in json.dumps(request.body) for request in server.requests) >= 3
    assert len({event.answer for event in events()}) == 2
    for done, name in ((asked, "m"), (judged, "n")):
        assert done.out.count("--reasoning-parser") == 1
        assert f"2 replies of {name} began with reasoning, which genaipa separated; a setting of the server" in done.out
    listed, shown = genaipa("show", "latest"), genaipa("show", "latest", "Q1")
    assert "99.9" not in listed.out + shown.out
    assert "characters of thoughts (--whole shows them)" in shown.out
    assert THOUGHT in genaipa("show", "latest", "Q1", "--whole").out


def test_thoughts_alone_and_thoughts_without_an_end(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is a failure of its own and asked once; the second is a reply that was cut off."""
    replies = {
        "Question 1 ": openai(content=f"<think>{THOUGHT}</think>\n"),
        "Question 2 ": openai(content=f"<think>\n{THOUGHT}"),
        "Question 3 ": openai(content=None, reasoning=THOUGHT),
        "Question 4 ": openai(content=ANSWER),
    }
    make_workspace(4)
    with OpenAIServer(lambda _n, body: next(r for q, r in replies.items() if q in str(body["messages"][-1]))) as server:
        server.models = ("m",)
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        plan = ("run", "-s", "openai-api/loop/m", "-p", "acme", "-e", "quality", "--conversation", "independent")
        done = genaipa(*plan)
    assert len(server.requests) == 4, "nothing is paid for again"
    found = {record.question: record for record in find_run(make_workspace(4), "latest").read_records()}
    assert {name: record.status for name, record in found.items()} == {
        "Q1": "failed",
        "Q2": "truncated",
        "Q3": "failed",
        "Q4": "answered",
    }
    assert [found[name].error.kind for name in ("Q1", "Q3")] == ["thoughts-alone"] * 2  # type: ignore[union-attr]
    assert "it has reasoning but no answer" in found["Q3"].error.message  # type: ignore[union-attr]
    assert "99.9" not in done.out + done.err + str([record.error for record in found.values()])
    assert all(THOUGHT in found[name].thoughts for name in ("Q1", "Q2", "Q3"))
    assert (found["Q2"].reply, found["Q1"].usage.output) == ("", 40)  # type: ignore[union-attr]
