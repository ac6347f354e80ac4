"""PolicyQA's sample through the vendors' SDKs, against servers that answer by gold, with every error, or garbage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from servers import AnthropicServer, Behaviour, GoogleServer, LoopbackServer, OpenAIServer, cut, refusal, reply
from size import size

from genaipa_suites.data import SHIPPED

if TYPE_CHECKING:
    from commandline import Cli

VENDORS = {
    "openai": ("openai/gpt-4o", OpenAIServer, "OPENAI", "OPENAI"),
    "anthropic": ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC", "ANTHROPIC"),
    "google": ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI", "GEMINI"),
}
KINDS = ("verbatim", "folded", "fuzzy", "absent", "empty", "refused", "cut off", "unparsable")


def examples() -> list[dict[str, Any]]:
    """The made-up examples, each with its segment."""
    data = json.loads((SHIPPED / "policyqa/sample.json").read_text(encoding="utf-8"))["data"]
    paragraphs = [paragraph for policy in data for paragraph in policy["paragraphs"]]
    return [example | {"context": paragraph["context"]} for paragraph in paragraphs for example in paragraph["qas"]]


def answer(kind: str, gold: str) -> Behaviour:
    """A reply of a kind: right but for how it stands in the segment, or no reply that could be right."""
    said = {
        "verbatim": gold,
        "folded": gold.upper(),
        "fuzzy": f"{gold}!?",
        "absent": f"Surely this is meant by it: {gold}",
        "empty": "",
    }
    if kind in said:
        return reply(json.dumps({"answer": said[kind]}))
    whole = json.dumps({"answer": gold})
    return {"refused": refusal(), "cut off": cut(whole), "unparsable": reply("The passage says so.")}[kind]


@pytest.mark.parametrize(
    "vendor", ["openai", *(pytest.param(name, marks=pytest.mark.full) for name in ("anthropic", "google"))]
)
def test_scores_are_as_the_replies_are(vendor: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mixture each rung has its share, and each fault is counted and scored 0; gold scores 100 and garbage 0."""
    system, server_of, address, key = VENDORS[vendor]
    there = examples()
    monkeypatch.setenv(f"{key}_API_KEY", "sk-made-up")

    def row(kinds: tuple[str, ...]) -> dict[str, Any]:
        def behave(_number: int, body: dict[str, Any]) -> Behaviour:
            asked = [turn.text for turn in server.turns(body) if "privacy policy" in turn.text][-1]
            place = next(at for at, one in enumerate(there) if one["question"] in asked and one["context"] in asked)
            return answer(kinds[place % len(kinds)], there[place]["answers"][0]["text"])

        server: LoopbackServer
        with server_of(behave) as server:
            monkeypatch.setenv(f"{address}_BASE_URL", server.url)
            done = genaipa("run", "--suite", "policyqa", "--split", "sample", "-s", system, "--new", "--json")
        assert done.code in {0, 3}, done.err
        (one,) = json.loads(done.out)["suites"]
        found = one["figures"] | one["faults"]
        assert json.loads(done.out)["scores"][system] == pytest.approx(found["f1_squad"] / 100)
        return found

    mixed = row(KINDS)
    assert [mixed[f"f1_{rung}"] for rung in ("verbatim", "folded", "fuzzy")] == [15, 30, 45]
    assert [mixed[f"share_{kind}"] for kind in KINDS[:5]] == [15, 15, 15, 15, 10]
    # As the official script has it: a gold answer in capitals, or with a full stop, is right.
    assert mixed["em"] == 45 < mixed["f1_squad"] < 60
    assert [mixed[fault] for fault in ("not in the text", *KINDS[5:], "failed", "missing")] == [0, 2, 2, 2, 0, 0]
    for kinds, score in size(small=(), soak=((("verbatim",), 100), (("unparsable",), 0))):
        same = row(kinds)
        assert [same[name] for name in ("em", "f1_squad", "em_verbatim")] == [score] * 3
        assert same["unparsable"] == (0 if score else 20)
