"""OPP-115, PI-Extract and Policy-Detection through the vendors' SDKs: gold, gold with noise, and garbage."""

from __future__ import annotations

import json
from pathlib import Path
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
SPLITS = {"opp115": "validation", "piextract": "valid", "policy-detection": "sample"}
WRONG = {
    "opp115": '{"labels": ["Do Not Track", "Policy Change"]}',
    "piextract": '{"COLLECT": ["information"], "NOT_COLLECT": [], "NOT_SHARE": ["xyzzy"], "SHARE": []}',
    "policy-detection": '{"label": "Policy"}',
}
"""Suite → a reply in the right form that is mostly wrong."""
KINDS = ("right", "wrong", "right", "refused", "cut off", "unparsable")
GARBAGE = ("unparsable",)


def answer(kind: str, gold: str, wrong: str) -> Behaviour:
    """A reply of a kind."""
    other = {"refused": refusal(), "cut off": cut(gold), "unparsable": reply("It says so in the text.")}
    return other[kind] if kind in other else reply(gold if kind == "right" else wrong)


# In small, the files of the three suites ask one server about their samples, and score each fault without one; in full
# each suite asks another vendor.
@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "vendor"),
    size(small=[*zip(SPLITS, VENDORS, strict=True)], soak=[(name, vendor) for name in SPLITS for vendor in VENDORS]),
)
def test_scores_are_as_the_replies_are(
    name: str, vendor: str, genaipa: Cli, shared: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On published items a mixture scores as it does without a server, each fault is counted, and garbage scores 0."""
    Path("genaipa.toml").touch()
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    if SPLITS[name] != "sample":
        pulled = genaipa("get", name, "--from", shared / "data" / name)
        assert pulled.code == 0, pulled.err
    system, server_of, address, key = VENDORS[vendor]
    monkeypatch.setenv(f"{key}_API_KEY", "sk-made-up")
    loaded = suite(name, SPLITS[name], limit=60)
    items = loaded.material.items
    right = "ceiling" if name == "piextract" else loaded.gold_reply

    def row(kinds: tuple[str, ...]) -> dict[str, Any]:
        def behave(_number: int, body: dict[str, Any]) -> Behaviour:
            asked = server.turns(body)[-1].text
            # A short text may be in a longer one.
            places = [place for place, item in enumerate(items) if item.shown["text"] in asked]
            place = max(places, key=lambda place: len(items[place].shown["text"]))
            return answer(kinds[place % len(kinds)], loaded.gold_reply(items[place]), WRONG[name])

        server: LoopbackServer
        with server_of(behave) as server:
            monkeypatch.setenv(f"{address}_BASE_URL", server.url)
            asked = ("run", "--suite", name, "--split", SPLITS[name], "--limit", "60", "-s", system)
            done = genaipa(*asked, "--new", "--json")
        assert done.code in {0, 3}, done.err
        report = genaipa("report", json.loads(done.out)["folder"], "--json")
        assert report.code == 0, report.err
        tables = json.loads(report.out)["tables"]
        scores = next(one for stem, one in tables.items() if stem.startswith(f"{name}-{SPLITS[name]}"))
        found: dict[str, Any] = next(one for one in scores["rows"] if one["kind"] == "system")
        return found

    said = {"right": loaded.gold_reply, "wrong": lambda _item: WRONG[name]}
    kinds = {item.id: KINDS[place % len(KINDS)] for place, item in enumerate(items)}
    expected = figures(loaded, lambda item: said.get(kinds[item.id], "none".format)(item))
    mixed = row(KINDS)
    assert {measure: round(mixed[measure], 2) for measure in expected} == expected
    faults = [sum(kind == fault for kind in kinds.values()) for fault in KINDS[3:]]
    assert [mixed[fault] for fault in (*KINDS[3:], "failed", "missing")] == [*faults, 0, 0]
    # How a reply gets here is shown by the mixture; one vendor is enough for the ends of the scale.
    ends = ((("right",), figures(loaded, right)), (GARBAGE, dict.fromkeys(expected, 0.0)))
    for every, same in ends if vendor == "openai" else ():
        reached = row(every)
        assert {measure: round(reached[measure], 2) for measure in expected} == same
        assert reached["unparsable"] == (len(items) if every == GARBAGE else 0)
