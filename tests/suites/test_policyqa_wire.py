"""PolicyQA's sample through an SDK, against a server that answers by gold and with every error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from servers import Behaviour, OpenAIServer, cut, refusal, reply

from genaipa_suites.data import SHIPPED

if TYPE_CHECKING:
    from commandline import Cli

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


def test_scores_are_as_the_replies_are(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mixture each rung has its share, and each fault is counted and scored 0; test_suite_wire has the vendors."""
    there = examples()

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        asked = [turn.text for turn in server.turns(body) if "privacy policy" in turn.text][-1]
        place = next(at for at, one in enumerate(there) if one["question"] in asked and one["context"] in asked)
        return answer(KINDS[place % len(KINDS)], there[place]["answers"][0]["text"])

    with OpenAIServer(behave) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genaipa("run", "--suite", "policyqa", "--split", "sample", "-s", "openai/gpt-4o", "--json")
    assert done.code in {0, 3}, done.err
    (one,) = json.loads(done.out)["suites"]
    mixed = one["figures"] | one["faults"]
    assert json.loads(done.out)["scores"]["openai/gpt-4o"] == pytest.approx(mixed["f1_squad"] / 100)
    assert [mixed[f"f1_{rung}"] for rung in ("verbatim", "folded", "fuzzy")] == [15, 30, 45]
    assert [mixed[f"share_{kind}"] for kind in KINDS[:5]] == [15, 15, 15, 15, 10]
    # As the official script has it: a gold answer in capitals, or with a full stop, is right.
    assert mixed["em"] == 45 < mixed["f1_squad"] < 60
    assert [mixed[fault] for fault in ("not in the text", *KINDS[5:], "failed", "missing")] == [0, 2, 2, 2, 0, 0]
