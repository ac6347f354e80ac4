"""PolicyIE's sample through the vendors' SDKs, against servers that answer by gold, with every fault, or garbage."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers import AnthropicServer, Behaviour, GoogleServer, LoopbackServer, OpenAIServer, cut, refusal, reply
from size import size

from genaipa.runs.folder import RunFolder
from genaipa.runs.records import RunSpec, SuitePlan
from genaipa.suites.policyie.task import PolicyIE
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli

VENDORS = {
    "openai": ("openai/gpt-4o", OpenAIServer, "OPENAI", "OPENAI"),
    "anthropic": ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC", "ANTHROPIC"),
    "google": ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI", "GEMINI"),
}
KINDS = ("gold", "fenced", "no slots", "not in the text", "no label", "refused", "cut off", "unparsable", "other enum")


def answer(kind: str, gold: str) -> Behaviour:
    """A reply of a kind to a sentence with this gold reply."""
    said = json.loads(gold)
    slots = {
        "no slots": [],
        "not in the text": [{**slot, "text": f"so {slot['text']}"} for slot in said["slots"]],
        "no label": [{**slot, "attribute": "none" if slot["role"] != "action" else "user"} for slot in said["slots"]],
        "other enum": [{**slot, "role": "data-seller"} for slot in said["slots"]],
    }
    if kind in slots:
        return reply(json.dumps(said | {"slots": slots[kind]}))
    whole = {"gold": gold, "fenced": f"```json\n{gold}\n```", "unparsable": f"Here it is: {gold}"}
    return reply(whole[kind]) if kind in whole else {"refused": refusal(), "cut off": cut(gold)}[kind]


@pytest.mark.parametrize(
    "vendor", ["openai", *(pytest.param(name, marks=pytest.mark.full) for name in ("anthropic", "google"))]
)
def test_scores_are_as_the_replies_are(vendor: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mixture each slot's fault is counted and each reply's fault is 0; gold is the ceiling, and garbage 0."""
    system, server_of, address, key = VENDORS[vendor]
    suite = PolicyIE(RunSpec((), (), {}, (), other_task="policyie", suite=SuitePlan("sample")), find_workspace(None))
    there = list(suite.material.items)
    # Sentences with slots alone are sure to have each kind's fault; the others are answered by gold.
    kinds_of = {item.id: place for place, item in enumerate(one for one in there if one.gold[0]["type-I"])}
    monkeypatch.setenv(f"{key}_API_KEY", "sk-made-up")

    def row(kinds: tuple[str, ...], *, everywhere: bool = False) -> dict[str, Any]:
        def behave(_number: int, body: dict[str, Any]) -> Behaviour:
            asked = [turn.text for turn in server.turns(body) if "<sentence>" in turn.text][-1]
            item = next(one for one in there if f"<sentence>\n{one.shown['text']}\n" in asked)
            place = kinds_of.get(item.id, None if not everywhere else 0)
            return answer("gold" if place is None else kinds[place % len(kinds)], suite.gold_reply(item))

        server: LoopbackServer
        with server_of(behave) as server:
            monkeypatch.setenv(f"{address}_BASE_URL", server.url)
            done = genaipa("run", "--suite", "policyie", "--split", "sample", "-s", system, "--new", "--json")
        assert done.code in {0, 3}, done.err
        outcomes = suite.outcomes(list(RunFolder(Path(json.loads(done.out)["folder"])).records()))
        faults = Counter(one.given.fault for one in outcomes)
        return {measure.name: 100 * measure.of(outcomes) for measure in suite.measures} | faults

    mixed = row(KINDS)
    slots = [len(json.loads(suite.gold_reply(item))["slots"]) for item in there if item.id in kinds_of]
    of = {kind: sum(slots[place :: len(KINDS)]) for place, kind in enumerate(KINDS)}
    given = sum(of[kind] for kind in ("gold", "fenced", "not in the text", "no label"))
    assert len(kinds_of) == 14
    assert mixed["slots_not_in_text"] == pytest.approx(100 * of["not in the text"] / given)
    assert mixed["slots_without_label"] == pytest.approx(100 * of["no label"] / given)
    assert [mixed[fault] for fault in ("", "unparsable", "refused", "cut off")] == [16, 2, 1, 1]
    assert 0 < mixed["slot_f1_tagger_type_i"] < 60
    for kinds, score in size(small=(), full=((("gold",), 100), (("unparsable",), 0))):
        same = row(kinds, everywhere=not score)
        assert same["intent_accuracy"] == pytest.approx(100 * 20 / 21 if score else 0)
        assert same["slot_f1_tagger_type_ii"] == score
        assert same.get("unparsable", 0) == (0 if score else 20)
