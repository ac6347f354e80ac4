"""Whole runs of the suites' samples through the vendors' SDKs: replies by gold, with noise, and garbage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers import AnthropicServer, GoogleServer, OpenAIServer, cut, empty, failure, refusal, reply
from size import size
from suiting import suite

from genaipa_suites.data import SHIPPED
from genaipa_suites.material import Outcome
from genaipa_suites.plan import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished
    from servers import Behaviour, LoopbackServer

    from genaipa_suites.suite import Suite

    Cli = Callable[..., Finished]

# Whatever says the value in prose is an answer to a counterfactual question: its garbage is in a file of its own.
ASKED = tuple(name for name in SUITES if name not in ("privacyglue", "counterfactual"))
VENDORS: dict[str, tuple[str, type[LoopbackServer], str, str]] = {
    "openai": ("openai/gpt-4o", OpenAIServer, "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "google": ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
    "compatible": ("openai-api/loop/m", OpenAIServer, "LOOP_BASE_URL", "LOOP_API_KEY"),
}
EVERY = [(name, vendor) for name in ASKED for vendor in VENDORS]
# Suites know no vendor, and tests/systems has what the vendors' adapters make of a schema. So in small one is enough;
# in full it is each vendor with another suite.
FEW = [
    pytest.param("policyqa", "compatible"),
    *(
        pytest.param(name, vendor, marks=pytest.mark.full)
        for name, vendor in (("policyie", "anthropic"), ("privacyqa", "google"), ("opp115", "openai"))
    ),
]


def wrong(found: Any) -> Any:
    """Another type in place of each value."""
    return {key: 0 if isinstance(value, list | str) else "no" for key, value in found.items()}


GARBAGE: dict[str, tuple[Callable[[str], Behaviour], str]] = {
    "no JSON": (lambda _gold: reply("It says so in the text."), "unparsable"),
    "wrong types": (lambda gold: reply(json.dumps(wrong(json.loads(gold)))), "unparsable"),
    "no field": (lambda _gold: reply("{}"), "unparsable"),
    "half": (lambda gold: reply(gold[:-1]), "unparsable"),
    "not a number": (lambda gold: reply(gold.replace("{", '{"x": NaN, ', 1)), "unparsable"),
    "half a character": (lambda gold: reply(gold.replace("{", '{"x": "\\ud800", ', 1)), "unparsable"),
    "nested": (lambda _gold: reply('{"x":' * 5000 + "1" + "}" * 5000), "unparsable"),
    "refused": (refusal, "refused"),
    "cut off": (cut, "cut off"),
    "empty": (lambda _gold: empty(), "failed"),
    "failed": (lambda _gold: failure(400, "no such thing"), "failed"),
}


class Asked:
    """The items of a split, found by the messages that a server is sent about them."""

    def __init__(self, name: str, split: str = "sample") -> None:
        self.suite: Suite = suite(name, split)
        self.messages = [
            tuple(message.content for message in self.suite.messages(item)) for item in self.suite.material.items
        ]
        self._last = {messages[-1]: place for place, messages in enumerate(self.messages)}

    def place(self, server: LoopbackServer, body: dict[str, Any]) -> int:
        """The place of the item that is asked about; JSON may be asked for in words behind it."""
        if (place := self._last.get(server.turns(body)[-1].text)) is not None and len(self.messages[place]) == 1:
            return place
        sent = "\n".join(turn.text for turn in server.turns(body))
        return next(place for place, asked in enumerate(self.messages) if all(one in sent for one in asked))


def run(
    genaipa: Cli,
    name: str,
    vendor: str,
    patch: pytest.MonkeyPatch,
    behave: Callable[[str, int], Behaviour],
    split: str = "sample",
) -> Any:
    """The outcome of a run as JSON; `behave` is given the gold reply to an item, and its place."""
    system, kind, address, key = VENDORS[vendor]
    asked = Asked(name, split)
    right = golden(asked.suite)

    def answered(_number: int, body: dict[str, Any]) -> Behaviour:
        place = asked.place(server, body)
        return behave(right[place], place)

    with kind(answered, models=(system.rpartition("/")[2],)) as server:
        patch.setenv(address, server.url)
        patch.setenv(key, "sk-made-up")
        done = genaipa(
            *("run", "--suite", name, "--split", split, "--system", system, "--json"), "--new", "--max-retries", "0"
        )
    assert done.code in {0, 3}, done.err
    return json.loads(done.out)["suites"][0]


def faults(found: Any) -> dict[str, int]:
    """The faults that there are, by kind."""
    return {name: count for name, count in found["faults"].items() if count}


def reached(of: Suite, replies: list[str]) -> dict[str, Any]:
    """Every figure that these replies to the items reach, scored without a run."""
    outcomes = [Outcome(item, of.parse_reply(item, one)) for item, one in zip(of.material.items, replies, strict=True)]
    values = {one.name: 100 * one.compute(outcomes) for one in of.measures}
    return {name: None if value != value else pytest.approx(value, abs=1e-4) for name, value in values.items()}  # noqa: PLR0124 - NaN


def golden(of: Suite) -> list[str]:
    """The right replies."""
    return [of.gold_reply(item) for item in of.material.items]


@pytest.mark.parametrize(("name", "vendor"), size(small=FEW, soak=EVERY))
def test_gold_scores_100(name: str, vendor: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bare or in a fence, a right reply is right; of PolicyIE not all can be, since one sentence has two golds."""
    found = run(genaipa, name, vendor, monkeypatch, lambda gold, at: reply(f"```json\n{gold}\n```" if at % 2 else gold))
    of = suite(name, "sample")
    assert found["figures"] == reached(of, golden(of))
    assert found["figures"][of.measures[0].name] == (100 if name != "policyie" else pytest.approx(95.2381))
    assert faults(found) == {}


@pytest.mark.parametrize(("name", "vendor"), size(small=FEW[::2], soak=EVERY))
def test_garbage_scores_0_and_is_counted(name: str, vendor: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every way to be no answer, by turns: none earns anything, and each is in its own column."""
    kinds = list(GARBAGE)
    found = run(genaipa, name, vendor, monkeypatch, lambda gold, at: GARBAGE[kinds[at % len(kinds)]][0](gold))
    assert found["figures"][suite(name, "sample").measures[0].name] == 0
    expected = [GARBAGE[kinds[place % len(kinds)]][1] for place in range(20)]
    assert faults(found) == {fault: expected.count(fault) for fault in dict.fromkeys(expected)}


@pytest.mark.parametrize(("name", "vendor"), size(small=FEW[:1], soak=EVERY))
def test_noise_scores_what_it_is_worth(name: str, vendor: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right replies, those to the item before, and garbage, by turns: every figure is that of the replies alone."""
    of = suite(name, "sample")
    right = golden(of)
    said = [(gold, right[at - 1], "I can't say.")[at % 3] for at, gold in enumerate(right)]
    found = run(genaipa, name, vendor, monkeypatch, lambda _gold, at: reply(said[at]))
    assert found["figures"] == reached(of, said)


@pytest.mark.parametrize("name", size(small=ASKED[:1], soak=ASKED))
def test_json_is_asked_for_in_words_where_no_schema_is_taken(
    name: str, genaipa: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that refuses the schema loses nothing: one repair each, and the way is on record."""
    tries: dict[int, int] = {}

    def behave(gold: str, at: int) -> Behaviour:
        tries[at] = tries.get(at, 0) + 1
        return reply(gold if tries[at] > 1 else "Let me think about that.")

    system, _, address, key = VENDORS["compatible"]
    asked = Asked(name)
    right = golden(asked.suite)

    def answered(_number: int, body: dict[str, Any]) -> Behaviour:
        if "response_format" in body:
            return failure(400, "response_format is not supported by this model")
        place = asked.place(server, body)
        return behave(right[place], place)

    with OpenAIServer(answered, models=("m",)) as server:
        monkeypatch.setenv(address, server.url)
        monkeypatch.setenv(key, "sk-made-up")
        done = genaipa("run", "--suite", name, "--split", "sample", "--system", system, "--json")
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)["suites"]
    assert found["figures"] == reached(asked.suite, right)
    answers = json.loads(genaipa("show", "latest", "--json").out)["answers"]
    assert {one["sent"]["json_schema"] for one in answers} == {"in words"}
    assert set(tries.values()) == {2}


def test_examples_are_paid_for_once(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come before each question as the very same messages, which an estimate and a provider's cache see."""
    parts = json.loads((SHIPPED / "policyqa/sample.json").read_text(encoding="utf-8"))["data"]
    Path("genaipa.toml").touch()
    Path("suites/policyqa").mkdir(parents=True)
    for name, some in (("train", parts[:2]), ("mine", parts[2:])):
        for policy in some:
            policy["paragraphs"] = [
                {**one, "context": one["context"] + " And so on." * 60} for one in policy["paragraphs"]
            ]
        Path(f"suites/policyqa/{name}.json").write_text(json.dumps({"data": some}), encoding="utf-8")
    run = ("run", "--suite", "policyqa", "--split", "mine", "--shots", "8", "--system", "openai/gpt-4o-mini")
    (row,) = json.loads(genaipa(*run, "--estimate", "--json").out)["rows"]
    assert row["usage"]["cached"] > 0.7 * row["usage"]["input"]
    with OpenAIServer(lambda _number, _body: reply('{"answer": "x"}'), models=("gpt-4o-mini",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
        (asked,) = json.loads(genaipa(*run, "--json").out)["rows"]
    assert asked["usage"]["cached"] > 0.6 * asked["usage"]["input"]
    assert len({json.dumps(request.body["messages"][:-1]) for request in server.requests}) == 1
    assert genaipa(*run).code == 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "split"),
    [
        pytest.param("policyqa", "dev", marks=pytest.mark.soak),
        ("opp115", "validation"),
        pytest.param("policyie", "valid", marks=pytest.mark.soak),
    ],
)
def test_published_splits_score_what_replies_are_worth(
    name: str, split: str, genaipa: Cli, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole split asked through an SDK: by gold, then with every third reply wrong and some garbage."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    assert genaipa("get", name, "--from", shared / "data").code == 0
    of = suite(name, split)
    right = golden(of)
    said = [(gold, gold, right[at - 1], "I can't say.")[at % 4] for at, gold in enumerate(right)]
    for replies in (right, said):
        worth = dict(zip((of.messages(item)[-1].content for item in of.material.items), replies, strict=True))
        kept = [worth[of.messages(item)[-1].content] for item in of.material.items]
        found = run(genaipa, name, "compatible", monkeypatch, lambda _gold, at, kept=kept: reply(kept[at]), split)
        assert found["figures"] == reached(of, kept)
