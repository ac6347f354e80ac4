"""`genaipa judge` through the vendors' own SDKs: requests as each documents them, and servers of every bad habit."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from judges import RUBRIC, events, judge_runs, study, verdict
from running import KEY, TEXT, latest, texts_below
from servers import (
    AnthropicServer,
    Behaviour,
    GoogleServer,
    LoopbackServer,
    OpenAIServer,
    cut,
    failure,
    rate_limited,
    refusal,
    reply,
)

from genaipa.judging.name import Judge
from genaipa.judging.verdict import make_verdict_schema
from genaipa.systems.base import Message, Settings, strip_max_length_and_items
from genaipa.systems.openai import OpenAISystem

if TYPE_CHECKING:
    from collections.abc import Callable

ENTRIES = json.loads(verdict())["verdicts"]
HABITS: dict[str, Behaviour] = {
    "refuses": refusal(),
    "is cut at the limit, where nobody would see it": cut(verdict()),
    "loops until the limit": cut('{"verdicts": [{"metric": "clarity", "evidence": "' + "It is so. " * 300),
    "is cut, and says that it is whole": reply(verdict()[:-20]),
    "ignores the schema": reply(f"Full marks for everything. (Your key is {KEY}.)"),
    "adds a metric": reply(verdict(verdicts=[*ENTRIES, ENTRIES[0] | {"metric": "charm"}])),
    "gives a number": reply(verdict(verdicts=[ENTRIES[0] | {"value": 1}, *ENTRIES[1:]])),
    "uses a word of its own": reply(verdict(verdicts=[ENTRIES[0] | {"value": "superb"}, *ENTRIES[1:]])),
}
BAD = len(HABITS)
LIMITED, FENCED, TALKATIVE = BAD + 1, BAD + 2, BAD + 3
"""Questions whose answers are judged well: after a wait, in a fence, and with the key among the evidence."""
CUT = 2, 3
"""Questions whose answers are judged at such length that nobody asks for the same again."""
STRICT = frozenset({"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum"})
"""Keywords of JSON Schema that all three vendors promise to keep."""
ASKED = 3
"""Turns of a request for a verdict."""
BOUNDS = frozenset({"maxLength", "maxItems"})
"""Those that OpenAI, vLLM and llama.cpp keep, and the other two vendors refuse."""


@dataclass(frozen=True)
class Vendor:
    """A judge behind one vendor's SDK: its variables' prefix, and the model as its server names it."""

    judge: str
    server: type[LoopbackServer]
    address: str
    key: str
    served: str

    def form(self, body: dict[str, Any]) -> dict[str, Any]:
        """The fields in which the schema has to stand, by the vendor's documentation; the schema itself."""
        if self.server is AnthropicServer:
            assert set(body["output_config"]) == {"format"}
            assert set(body["output_config"]["format"]) == {"type", "schema"}
            assert body["output_config"]["format"]["type"] == "json_schema"
            return dict(body["output_config"]["format"]["schema"])
        if self.server is GoogleServer:
            settings = body["generationConfig"]
            assert settings["responseMimeType"] == "application/json"
            assert "responseSchema" not in settings
            return dict(settings["responseJsonSchema"])
        assert body["response_format"]["type"] == "json_schema"
        named = body["response_format"]["json_schema"]
        assert set(named) == {"name", "schema", "strict"}
        assert named["strict"] is True
        assert re.fullmatch(r"[\w-]{1,64}", named["name"])
        return dict(named["schema"])


SDKS = {
    "openai": ("openai/gpt-6.1-sol", OpenAIServer, "OPENAI", "OPENAI", "gpt-6.1-sol-2024-08-06"),
    "anthropic": ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC", "ANTHROPIC", "claude-opus-4-8"),
    "google": ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI", "GEMINI", "gemini-2.5-pro-001"),
    "compatible": ("openai-api/loop/m", OpenAIServer, "LOOP", "LOOP", "m-2024-08-06"),
    "vllm": ("vllm/m", OpenAIServer, "VLLM", "VLLM", "m-2024-08-06"),
}


OPENAIS = ("compatible", "vllm")
"""Judges behind the same SDK as `openai`."""


@pytest.mark.parametrize(
    "vendor",
    [pytest.param(Vendor(*of), id=name, marks=[pytest.mark.full] * (name in OPENAIS)) for name, of in SDKS.items()],
)
def test_a_vendor_of_every_bad_habit(
    vendor: Vendor, genaipa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No bad reply becomes a value: it is asked for three times at most, counted as failed, and asked again next time.

    The schema is sent as the vendor documents it, the end of the document is marked where it has marks, the verdicts
    are those of the model as served, and the key is nowhere, even where the server repeats it.
    """
    study(genaipa, TALKATIVE, json.dumps({"rules": [], "default": "Perhaps."}))
    model = vendor.judge.rpartition("/")[2]
    limited = iter([rate_limited(0)])
    behaviours = dict(enumerate(HABITS.values(), 1))
    good = {FENCED: reply(f"```json\n{verdict()}\n```"), TALKATIVE: reply(verdict(right_answer=f"It is {KEY}."))}

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        asked = question(server, body)
        if asked == LIMITED:
            return next(limited, reply(verdict()))
        return behaviours.get(asked) or good.get(asked) or reply(verdict())

    with vendor.server(behave, models=[model], only=KEY) as server:
        monkeypatch.setenv(f"{vendor.address}_BASE_URL", server.url)
        monkeypatch.setenv(f"{vendor.key}_API_KEY", KEY)
        first = genaipa("judge", "--judge", vendor.judge, "--json")
        assert first.code == 3, first.err
        asked = Counter(question(server, request.body) for request in server.requests)
        once = dict.fromkeys((*CUT, FENCED, TALKATIVE), 1)
        assert asked == {**dict.fromkeys(range(1, BAD + 1), 3), LIMITED: 2, **once}
        check_kept(first, vendor, failed=BAD)
        behaviours.clear()
        begun = len(server.requests)
        second = genaipa("judge", "--judge", vendor.judge, "--json")
        assert second.code == 0, second.err
        again = [question(server, request.body) for request in server.requests[begun:]]
        assert sorted(again) == list(range(1, BAD + 1))
        check_kept(second, vendor, failed=0)
        for request in server.requests:
            # In this order: a model states its evidence before the value only if the schema does.
            made = make_verdict_schema(RUBRIC, has_annotated_answer=False)
            bounded = vendor.server is OpenAIServer
            assert json.dumps(vendor.form(request.body)) == json.dumps(
                made if bounded else strip_max_length_and_items(made)
            )
            check_cache(server, request.body, marked=vendor.judge.startswith(("openai/", "anthropic/")))
    assert len(judge_runs()) == 1
    assert KEY not in first.out + first.err + second.out + second.err + texts_below(Path())


def question(server: LoopbackServer, body: dict[str, Any]) -> int:
    """The number of the question that the last message is about, or the one before it was answered badly."""
    asked = (re.search(r"Question (\d+) on", turn.text) for turn in reversed(server.turns(body)))
    return int(next(found[1] for found in asked if found))


def check_kept(done: Any, vendor: Vendor, *, failed: int) -> None:
    """Each answer has one verdict with every value, by the model as served, or one failure that says so."""
    (run,) = json.loads(done.out)["runs"]
    (row,) = run["rows"]
    assert (row["failed"], row["answered"]) == (failed, TALKATIVE - failed)
    records = latest(judge_runs()[0]).values()
    lost = {record.question: record for record in records if record.status == "failed"}
    assert set(lost) == {f"Q{number}" for number in range(1, failed + 1)}
    for record in lost.values():
        assert record.error is not None
        tries = 1 if lost_at(record) in CUT else 3
        assert (record.reply, record.error.kind, record.attempts) == (None, "unusable", tries)
        assert ("it repeated itself and was cut off" in record.error.message) == (lost_at(record) == max(CUT))
        assert record.usage is not None, "what came to nothing was paid for all the same"
    given = events()
    assert len(given) == len({event.answer for event in given}) == TALKATIVE - failed
    assert {event.answer for event in given} == {
        one.coordinates["answer"] for one in records if one.question not in lost
    }
    for event in given:
        assert Judge.parse(event.analyst) == (
            vendor.served,
            judge_runs()[0].read_records().__next__().coordinates["prompt"],
            1,
        )
        assert event.values == dict.fromkeys(RUBRIC.metrics, 1.0)


def lost_at(record: Any) -> int:
    """The number of the question of a failure."""
    return int(record.question.removeprefix("Q"))


def check_cache(server: LoopbackServer, body: dict[str, Any], *, marked: bool) -> None:
    """A mark behind the document where the vendor has one, and nowhere else; the same beginning for all.

    Where the judge is told why its verdict was none, it and the reason follow.
    """
    turns = server.turns(body)
    if len(turns) > ASKED:
        assert turns[ASKED + 1].text.startswith("That does not fit: ")
        assert turns[0].marked is marked
        return
    assert [(turn.role, turn.marked) for turn in turns][1:] == [(turns[1].role, False), ("user", False)]
    assert turns[0].marked is marked
    assert turns[0].text.endswith(f"<document>\n{TEXT}\n</document>")
    sent = json.dumps(body)
    assert sent.count('"cache_control": {"type": "ephemeral"}') == (isinstance(server, AnthropicServer) and marked)
    assert sent.count('"prompt_cache_breakpoint"') == (isinstance(server, OpenAIServer) and marked)


@pytest.mark.parametrize("annotated", [True, False])
def test_every_vendor_promises_to_keep_the_schema(annotated: bool) -> None:
    """Strict throughout, as OpenAI wants it; without its bounds, nothing that Anthropic's SDK would take out."""
    from anthropic import transform_schema

    made = make_verdict_schema(RUBRIC, has_annotated_answer=annotated)
    check_strict(made)
    # What Anthropic's server does not keep, its SDK puts into words.
    assert "description" not in json.dumps(transform_schema(strip_max_length_and_items(made)))
    assert BOUNDS & set(re.findall(r"\w+", json.dumps(strip_max_length_and_items(made)))) == set()


def test_a_fine_tuned_model_is_sent_no_bounds() -> None:
    """OpenAI keeps bounds for its own models, and refuses them for fine-tuned ones."""
    made = make_verdict_schema(RUBRIC, has_annotated_answer=True)
    for model, bounded in (("gpt-6.1-sol", True), ("ft:gpt-6.1-sol:acme::x", False)):
        system = OpenAISystem(name=f"openai/{model}", model=model, accepts=frozenset())
        body = json.loads(
            system.encode_batch_request_and_sent_settings([Message("user", "x")], Settings(json_schema=made))[0]
        )
        sent = body["response_format"]["json_schema"]["schema"]
        assert sent == (made if bounded else strip_max_length_and_items(made)), model


def check_strict(part: dict[str, Any]) -> None:
    """A part of a schema, by OpenAI's rules for strict ones."""
    assert set(part) <= STRICT | BOUNDS
    # What a model writes itself ends; a list, too.
    assert part.get("type") not in ("string", "array") or {"enum", *BOUNDS} & set(part)
    assert part.get("maxLength", 1) < 2000, "llama.cpp takes no longer string"
    if part.get("type") == "object":
        assert part["additionalProperties"] is False
        assert list(part["properties"]) == part["required"]
    # Objects to choose from have to differ in their first field.
    firsts = [next(iter(choice["properties"].values()))["enum"] for choice in part.get("anyOf", ())]
    assert len({tuple(first) for first in firsts}) == len(firsts)
    assert {len(first) for first in firsts} <= {1}
    for inner in (*part.get("properties", {}).values(), *part.get("anyOf", ()), *filter(None, [part.get("items")])):
        check_strict(inner)


def test_a_server_without_structured_output(genaipa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """One that refuses the schema is asked in words from then on, with the schema in them, and nothing is lost."""
    study(genaipa, 3)

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        if "response_format" in body:
            return failure(400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported.")
        said = body["messages"][-1]["content"]
        assert json.loads(said.rpartition("JSON Schema:\n")[2]) == make_verdict_schema(
            RUBRIC, has_annotated_answer=False
        )
        return reply(verdict(1))

    with OpenAIServer(behave, models=["m"]) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        done = genaipa("judge", "--judge", "openai-api/loop/m", "-j", "1")
        assert done.code == 0, done.err
        assert len(server.requests) == 3 + 1
    assert {value for event in events() for value in (event.values or {}).values()} == {0.5}
    assert len(events()) == 3


def test_a_model_whose_name_has_lines(genaipa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a server calls its model, its verdicts are those of a judge; with several lines they were nobody's."""
    study(genaipa, 1)

    class Odd(OpenAIServer):
        def completion(self, *answered: Any) -> dict[str, Any]:
            return super().completion(*answered) | {"model": " odd\nx@y#2 "}

    with Odd(lambda _number, _body: reply(verdict()), models=["m"]) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        for _ in range(2):
            done = genaipa("judge", "--judge", "openai-api/loop/m")
            assert done.code == 0, done.err
        assert len(server.requests) == 1
    (judge,) = (Judge.parse(event.analyst) for event in events())
    assert judge is not None
    assert (judge.model, judge.passed) == ("odd x@y#2", 1)


def test_a_limit_that_does_not_end(genaipa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server goes on refusing for its limit is a failure after the retries, and asked again next time."""
    study(genaipa, 3)
    busy = {2}

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        return rate_limited(0) if question(server, body) in busy else reply(verdict())

    with OpenAIServer(behave, models=["m"]) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        first = genaipa("judge", "--judge", "openai-api/loop/m", "--max-retries", "1")
        assert (first.code, "1 verdict is missing" in first.out) == (3, True)
        (lost,) = (record for record in latest(judge_runs()[0]).values() if record.status == "failed")
        assert (lost.question, lost.attempts, lost.reply) == ("Q2", 2, None)
        assert len(events()) == 2
        busy.clear()
        assert genaipa("judge", "--judge", "openai-api/loop/m").code == 0
        assert Counter(question(server, request.body) for request in server.requests) == {1: 1, 2: 3, 3: 1}
    assert len(events()) == 3
