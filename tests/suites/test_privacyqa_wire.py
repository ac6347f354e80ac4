"""PrivacyQA's sample through the vendors' SDKs, against servers that answer by gold, with every fault, or garbage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers import AnthropicServer, Behaviour, GoogleServer, LoopbackServer, OpenAIServer, cut, refusal, reply
from suiting import figures, suite

from genaipa.runs.selection import select
from genaipa.workspace import find_workspace
from genaipa_suites.report.results import results

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
    return {"refused": refusal(), "cut off": cut(gold), "unparsable": reply("It says so in the text.")}[kind]


# In small, `test_privacyqa.py` asks one server, and scores each fault without one.
@pytest.mark.full
@pytest.mark.parametrize("vendor", VENDORS)
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
        here = find_workspace()
        (result,), problems = results(here, select(here, [Path(json.loads(done.out)["folder"]).name]))
        assert problems == []
        reached = {measure.name: round(100 * measure.of(result.outcomes), 2) for measure in result.suite.measures}
        assert json.loads(done.out)["scores"][system] == pytest.approx(reached["leave_one_out_f1_mean"] / 100, abs=6e-5)
        return {**reached, **result.faults}

    mixed = row(KINDS)
    kinds = {item.id: KINDS[place % len(KINDS)] for place, item in enumerate(items)}
    usable = {"right": loaded.gold_reply, "silent": lambda _item: '{"sentences": []}'}
    expected = figures(loaded, lambda item: usable.get(kinds[item.id], "none".format)(item))
    assert {name: mixed[name] for name in expected} == expected
    assert [mixed[fault] for fault in (*KINDS[2:], "failed", "missing")] == [3, 3, 3, 3, 0, 0]
    for every, score in ((("right",), 100), (("unparsable",), 0)):
        same = row(every)
        assert same["best_of_n_f1_of_means"] == score
        assert same["unparsable"] == (0 if score else 20)
