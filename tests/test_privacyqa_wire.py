"""PrivacyQA's sample through the vendors' SDKs, against servers that answer by gold, with every fault, or garbage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from servers import AnthropicServer, Behaviour, GoogleServer, LoopbackServer, OpenAIServer, cut, refusal, reply
from size import size
from suiting import figures, suite

if TYPE_CHECKING:
    from commandline import Cli

VENDORS = {
    "openai": ("openai/gpt-4o", OpenAIServer, "OPENAI", "OPENAI"),
    "anthropic": ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC", "ANTHROPIC"),
    "google": ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI", "GEMINI"),
}
KINDS = ("right", "silent", "out of range", "refused", "cut off", "unparsable")


def answer(kind: str, gold: str) -> Behaviour:
    """A reply of a kind: right, the empty list, or a fault."""
    said = {"right": gold, "silent": '{"sentences": []}', "out of range": '{"sentences": [1, 14]}'}
    if kind in said:
        return reply(said[kind])
    return {"refused": refusal(), "cut off": cut(gold), "unparsable": reply(f"Sentences: {gold}")}[kind]


@pytest.mark.parametrize(
    "vendor", ["anthropic", *(pytest.param(name, marks=pytest.mark.full) for name in ("openai", "google"))]
)
def test_scores_are_as_the_replies_are(vendor: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mixture scores as it does without a server, and each fault is counted; gold scores 100, garbage 0."""
    system, server_of, address, key = VENDORS[vendor]
    loaded = suite("privacyqa", "sample")
    items = loaded.material.items
    monkeypatch.setenv(f"{key}_API_KEY", "sk-made-up")

    def row(kinds: tuple[str, ...]) -> dict[str, Any]:
        def behave(_number: int, body: dict[str, Any]) -> Behaviour:
            asked = next(turn.text for turn in reversed(server.turns(body)) if "Question of a user" in turn.text)
            place = next(at for at, item in enumerate(items) if item.shown["text"] in asked)
            return answer(kinds[place % len(kinds)], loaded.gold_reply(items[place]))

        server: LoopbackServer
        with server_of(behave) as server:
            monkeypatch.setenv(f"{address}_BASE_URL", server.url)
            done = genaipa("run", "--suite", "privacyqa", "--split", "sample", "-s", system, "--new", "--json")
            calls = [server.turns(request.body) for request in server.requests if server.is_call(request)]
        assert done.code in {0, 3}, done.err
        assert {sum(turn.marked for turn in turns) for turns in calls} == {1 if vendor == "anthropic" else 0}
        report = genaipa("report", json.loads(done.out)["folder"], "--json")
        assert report.code == 0, report.err
        rows = json.loads(report.out)["tables"]["privacyqa-sample"]["rows"]
        found: dict[str, Any] = next(one for one in rows if one["kind"] == "system")
        return found

    mixed = row(KINDS)
    kinds = {item.id: KINDS[place % len(KINDS)] for place, item in enumerate(items)}
    usable = {"right": loaded.gold_reply, "silent": lambda _item: '{"sentences": []}'}
    expected = figures(loaded, lambda item: usable.get(kinds[item.id], "none".format)(item))
    assert {name: mixed[name] for name in expected} == pytest.approx(expected, abs=0.006)
    assert [mixed[fault] for fault in (*KINDS[2:], "failed", "missing")] == [3, 3, 3, 3, 0, 0]
    for every, score in size(small=(), full=((("right",), 100), (("unparsable",), 0))):
        same = row(every)
        assert same["best_of_n_f1_of_means"] == score
        assert same["unparsable"] == (0 if score else 20)
