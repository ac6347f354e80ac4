"""Levels of effort, a system prompt and further options: how each vendor's SDK sends them, and who may be sent them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from asking import QUESTION, ask
from judges import events, verdict
from running import make_workspace, write
from servers import AnthropicServer, Behaviour, GoogleServer, LoopbackServer, OpenAIServer

from genaipa.errors import UsageError
from genaipa.execution.limits import max_call_usage
from genaipa.judging.name import Judge, model_family
from genaipa.runs.selection import find_run
from genaipa.scoring.masking import MASK, list_names_revealing_system, mask_names
from genaipa.systems.base import EFFORTS, NEVER_REFUSED, Settings
from genaipa.systems.catalog import resolve_system
from genaipa.words import join_names
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli

    from genaipa.systems.base import Readiness, Reply

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
SERVERS: dict[str, type[LoopbackServer]] = {
    "openai": OpenAIServer,
    "openai-api": OpenAIServer,
    "vllm": OpenAIServer,
    "anthropic": AnthropicServer,
    "google": GoogleServer,
}
VARIABLES = {"openai": "OPENAI", "openai-api": "LAB", "vllm": "VLLM", "anthropic": "ANTHROPIC", "google": "GOOGLE"}


def claude(*efforts: str, thinking: tuple[str, ...] = (), longest: int | None = None) -> Behaviour:
    """Anthropic's list, with one model that takes these levels and ways of thinking."""
    types = ("adaptive", "between_tools", "disabled", "enabled")
    capabilities = {
        "effort": {"supported": bool(efforts)} | {name: {"supported": name in efforts} for name in EFFORTS[2:]},
        "thinking": {"supported": True, "types": {name: {"supported": name in thinking} for name in types}},
    }
    entry = {
        "id": "claude-x",
        "type": "model",
        "display_name": "x",
        "max_tokens": longest,
        "capabilities": capabilities,
    }
    return Behaviour(body=json.dumps({"data": [entry], "has_more": False, "first_id": None, "last_id": None}).encode())


ALWAYS = claude("low", "medium", "high", "max", thinking=("adaptive",))


def send(
    name: str, monkeypatch: pytest.MonkeyPatch, server: LoopbackServer | None = None, **options: Any
) -> tuple[dict[str, Any], Reply, Readiness]:
    """Ask the system of a name once, as a run does; return the body of the request, the reply and what it told."""
    system = resolve_system(name, find_workspace())
    provider = name.partition("/")[0]
    with server or SERVERS[provider](models=(system.model,)) as started:
        monkeypatch.setenv(f"{VARIABLES[provider]}_{'GEMINI_' * (provider == 'google')}BASE_URL", started.url)
        monkeypatch.setenv(f"{VARIABLES[provider]}_API_KEY", "sk-x")
        settings = Settings(effort=system.effort or None, **options)
        readiness, (reply,) = ask(system.make_system(), QUESTION, settings=settings)
    return started.requests[0].body, reply, readiness


@pytest.mark.parametrize(
    ("system", "fields"),
    [
        ("openai/gpt-6-luna@none", {"reasoning_effort": "none"}),
        ("openai/gpt-6-luna@max", {"reasoning_effort": "max"}),
        ("openai-api/lab/m@low", {"reasoning_effort": "low"}),
        ("vllm/m@high", {"reasoning_effort": "high", "chat_template_kwargs": {"enable_thinking": True}}),
        ("vllm/m@none", {"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": False}}),
        ("anthropic/claude-y@max", {"output_config": {"effort": "max"}}),
        ("anthropic/claude-y@none", {"thinking": {"type": "disabled"}}),
        ("google/gemini-4-argon@xhigh", {"generationConfig": {"thinkingConfig": {"thinking_level": "XHIGH"}}}),
        ("google/gemini-2.5-flash@high", {"generationConfig": {"thinkingConfig": {"thinking_budget": 24576}}}),
        ("google/gemini-2.5-flash@none", {"generationConfig": {"thinkingConfig": {"thinking_budget": 0}}}),
    ],
)
def test_each_vendors_field(system: str, fields: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A level is the field that the vendor has for it, and the record says which it was."""
    body, reply, _ = send(system, monkeypatch)
    plain = {"model", "messages", "contents", "max_tokens"}
    assert {name: body[name] for name in body if name not in plain} == fields
    assert reply.sent["effort"] == system.rpartition("@")[2]


@pytest.mark.parametrize(
    ("thinking", "effort", "sent", "levels"),
    [
        (("adaptive",), "high", {"type": "adaptive"}, ("low", "high")),
        (("adaptive", "between_tools"), "none", {"type": "between_tools"}, ("none", "low", "high")),
        (("adaptive", "disabled"), "none", {"type": "disabled"}, ("none", "low", "high")),
        (("enabled", "disabled"), "low", None, ("none", "low", "high")),
    ],
)
def test_claude_thinks_as_its_entry_allows(
    thinking: tuple[str, ...], effort: str, sent: Any, levels: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model's own entry tells its levels, and how thinking is turned on and off; the form of a reply stays."""
    server = AnthropicServer(listing=claude("low", "high", thinking=thinking))
    body, _, readiness = send(f"anthropic/claude-x@{effort}", monkeypatch, server, json_schema=SCHEMA)
    assert (body.get("thinking"), readiness.efforts) == (sent, levels)
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["output_config"].get("effort") == (None if effort == "none" else effort)


def test_the_limit_of_a_reply_leaves_room_for_thoughts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Anthropic's protocol needs a limit: it grows with the level, also where a model thinks unasked, up to its own."""
    limits = {}
    for system, listing in (
        ("claude-x", claude(thinking=("disabled",))),
        ("claude-x", ALWAYS),
        ("claude-x@low", ALWAYS),
        ("claude-x@max", ALWAYS),
        ("claude-x@max", claude("max", thinking=("adaptive",), longest=32_000)),
    ):
        body, reply, _ = send(f"anthropic/{system}", monkeypatch, AnthropicServer(listing=listing))
        limits[body["max_tokens"]] = reply.sent["max_tokens"]
    assert limits == {limit: limit for limit in (4096, 20_480, 5_120, 69_632, 32_000)}
    body, _, _ = send("anthropic/claude-x@max", monkeypatch, AnthropicServer(listing=ALWAYS), max_tokens=9)
    assert body["max_tokens"] == 9, "who asks for a limit gets it"


@pytest.mark.parametrize("system", ["openai/gpt-4o", "openai-api/lab/m", "anthropic/claude-y", "google/gemini-2.5-pro"])
def test_a_system_prompt_and_a_tier(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each goes where the vendor has it; the record has the prompt's digest, and how the reply was served."""
    body, reply, _ = send(system, monkeypatch, system_prompt="Be brief, “please”.", service_tier="flex", top_p=0.5)
    asked = QUESTION[0].content
    if system.startswith("google"):
        assert (body["systemInstruction"]["parts"], body["serviceTier"]) == ([{"text": "Be brief, “please”."}], "flex")
        assert body["generationConfig"] == {"topP": 0.5}
    else:
        first = body["messages"][0] if "system" not in body else {"role": "system", "content": body["system"]}
        role = "developer" if system == "openai/gpt-4o" else "system"
        assert first == {"role": role, "content": "Be brief, “please”."}
        assert (body["messages"][-1]["content"], body["service_tier"]) == (asked, "flex")
    assert reply.sent["service_tier"] == "flex"
    assert reply.sent["system_prompt"].startswith("sha256:")
    assert len(reply.sent["system_prompt"]) == len("sha256:") + 64
    assert reply.sent.get("top_p") == (None if system.startswith("anthropic") else 0.5)


def test_no_temperature_for_a_model_that_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenAI's refuse one while they think, Anthropic's newer ones always; one's own server is sent what was asked."""
    sends = {}
    for system in (
        "openai/x",
        "openai/x@none",
        "openai/x@low",
        "anthropic/claude-y",
        "vllm/m@low",
        "openai/gpt-6-luna",
    ):
        body, _, _ = send(system, monkeypatch, temperature=0.5, top_p=0.9)
        sends[system] = (body.get("temperature"), body.get("top_p"))
        refused = resolve_system(system, find_workspace()).list_refused_options(Settings(temperature=0.5, top_p=0.9))
        assert refused == ([] if "temperature" in body else ["temperature", "top p"])
    assert [name for name, sent in sends.items() if sent == (0.5, 0.9)] == ["openai/x", "openai/x@none", "vllm/m@low"]
    assert {*sends.values()} == {(0.5, 0.9), (None, None)}


def test_names_with_a_level() -> None:
    """A level is the end of a name, whatever the name; another @ is part of it."""
    write("genaipa.toml", "")
    write("systems.yaml", "systems: {hard: {system: openai/x@high}, odd@low: {system: openai/y}}")
    write("talk.yaml", "default: yes")
    for name, (model, effort, full) in {
        "gpt-6-luna@high": ("gpt-6-luna", "high", "openai/gpt-6-luna@high"),
        "hard": ("x", "high", "openai/x@high"),
        "odd@low": ("y", "", "openai/y"),
        "openai-api/cf/@cf/meta/m": ("@cf/meta/m", "", "openai-api/cf/@cf/meta/m"),
        "openai-api/cf/@cf/meta/m@low": ("@cf/meta/m", "low", "openai-api/cf/@cf/meta/m@low"),
        "vllm/m@20260101": ("m@20260101", "", "vllm/m@20260101"),
        "rag/gpt-6-luna@max": ("gpt-6-luna", "max", "rag/openai/gpt-6-luna@max"),
        "scripted/talk.yaml@low": ("scripted/talk.yaml", "low", "scripted/talk.yaml@low"),
        "json:Thing@none": ("json:Thing", "none", "json:Thing@none"),
    }.items():
        system = resolve_system(name, find_workspace())
        assert (system.requested_name, system.model, system.effort, system.name) == (name, model, effort, full)
        assert system.reader is None or (system.reader.effort, system.tariff) == (effort, system.reader.tariff)
    assert "sha256:" in resolve_system("scripted/talk.yaml@low", find_workspace()).name_with_file_digest


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("extractive@high", "'extractive@high': extractive has no levels of effort; leave out '@high'."),
        ("manual/chat@low", "'manual/chat@low': manual/chat has no levels of effort; leave out '@low'."),
        (
            "gpt-6-luna@hihg",
            f"'gpt-6-luna@hihg': 'hihg' is not a level of effort; the levels are {join_names(EFFORTS)}.",
        ),
        ("hard@low", "'hard@low': hard is openai/x@high; leave out '@low', or name the model itself."),
    ],
)
def test_a_level_that_cannot_be(name: str, sentence: str) -> None:
    """One sentence says why."""
    write("genaipa.toml", "")
    write("systems.yaml", "systems: {hard: {system: openai/x@high}}")
    with pytest.raises(UsageError) as error:
        resolve_system(name, find_workspace())
    assert str(error.value) == sentence


def test_a_level_that_the_model_does_not_take() -> None:
    """The server's word comes first, then the catalog's, then what the vendor's protocol has; else it is sent."""
    for name, told, taken in (
        ("gpt-6-luna@minimal", None, "it takes none, low, medium, high, xhigh and max"),
        ("gpt-6-luna@max", ("low", "high"), "it takes low and high"),
        ("gpt-4o@low", None, "it has no levels of effort; leave out what follows the @"),
        ("anthropic/claude-y@minimal", None, "it takes none, low, medium, high, xhigh and max"),
        ("google/gemini-4-argon@max", None, "it takes none, minimal, low, medium, high and xhigh"),
    ):
        system = resolve_system(name, find_workspace())
        with pytest.raises(UsageError) as error:
            system.refuse_unsupported_effort(told)
        assert str(error.value) == f"{name}: {system.model} does not take the effort '{system.effort}': {taken}."
    for name, told in (("gpt-6-luna@minimal", ("minimal",)), ("openai/x@minimal", None), ("json:Thing@max", None)):
        resolve_system(name, find_workspace()).refuse_unsupported_effort(told)


def test_google_tells_who_thinks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry says whether a model thinks at all; those with a budget have levels that are known."""
    for model, thinks, efforts in (
        ("gemini-2.0-flash", False, ()),
        ("gemini-3.8-flash", True, None),
        ("gemini-2.5-flash", True, ("none", "minimal", "low", "medium", "high")),
        ("gemini-2.5-pro", True, ("minimal", "low", "medium", "high")),
    ):
        listed = {"models": [{"name": f"models/{model}", "inputTokenLimit": 9, "thinking": thinks}]}
        server = GoogleServer(listing=Behaviour(body=json.dumps(listed).encode()))
        assert send(f"google/{model}", monkeypatch, server)[2].efforts == efforts


def served(_number: int, body: dict[str, Any]) -> Behaviour:
    """A completion that says how it was served, with the thoughts of its level."""
    level = body.get("reasoning_effort", "none")
    thoughts = {"none": 0, "low": 40, "high": 400}[level]
    message = {"role": "assistant", "content": f"Yes, {level} (Section 1)."}
    usage = {"prompt_tokens": 900, "completion_tokens": 20 + thoughts}
    usage |= {"completion_tokens_details": {"reasoning_tokens": thoughts}}
    facts = {"system_fingerprint": "fp_1", "service_tier": "default"} if level == "high" else {"service_tier": 7}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return Behaviour(body=json.dumps({"model": "gpt-6-luna", "choices": choices, "usage": usage, **facts}).encode())


def test_a_run_over_levels(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A level is a system in the run, its records, its bill and every command that names systems."""
    make_workspace(2)
    write("system.md", "Be brief.\n")
    with OpenAIServer(served, models=("gpt-6-luna",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        plan = ("run", "-s", "gpt-6-luna,extractive", "--effort", "none,low,high", "-p", "acme", "-e", "quality")
        options = ("--temperature", "0.5", "--system-prompt", "system.md", "--service-tier", "flex")
        estimate = genaipa(*plan, *options, "--estimate", "--json")
        done = genaipa(*plan, *options, "--max-cost", "5")
        again = genaipa(*plan, *options)
        refused = genaipa("run", "-s", "gpt-6-luna", "--effort", "low,minimal", "-p", "acme", "-e", "quality")
    assert (done.code, again.code, refused.code) == (0, 0, 2), done.err + again.err + refused.err
    assert "gpt-6-luna@high accepts no temperature, so none is sent." in done.err
    assert "costs are computed at standard prices" in done.err
    assert "extractive accepts no system prompt, so none is sent." in done.err
    assert "is complete; nothing was asked" in again.out
    assert "not the model asked for" not in done.out
    assert "gpt-6-luna@minimal: gpt-6-luna does not take the effort 'minimal': it takes none, low" in refused.err
    (folder,) = (path for path in Path("runs").iterdir() if path.is_dir())
    run = find_run(find_workspace(), folder.name)
    manifest = run.manifest()
    levels = ("gpt-6-luna@none", "gpt-6-luna@low", "gpt-6-luna@high")
    assert manifest.spec.systems == (*levels, "extractive")
    assert manifest.spec.system_prompt == "Be brief."
    assert len(manifest.digests.task["system_prompt"]) == 64
    records = [record for record in run.read_records() if record.system in levels]
    assert {record.system: (record.reply, record.usage and record.usage.reasoning) for record in records} == {
        f"gpt-6-luna@{level}": (f"Yes, {level} (Section 1).", thoughts)
        for level, thoughts in (("none", 0), ("low", 40), ("high", 400))
    }
    assert {(record.system, tuple(record.served)) for record in records} == {
        ("gpt-6-luna@none", ()),
        ("gpt-6-luna@low", ()),
        ("gpt-6-luna@high", ("system_fingerprint", "service_tier")),
    }
    assert all("temperature" not in record.sent and record.sent["effort"] in record.system for record in records)
    assert all(request.body["messages"][0]["content"] == "Be brief." for request in server.requests)
    rows = {row["system"]: row for row in json.loads(estimate.out)["rows"]}
    assert rows["gpt-6-luna@none"]["usage"]["input"] == rows["gpt-6-luna@high"]["usage"]["input"]
    assert [rows[name]["usage"].get("reasoning", 0) for name in levels] == [0, 1_024, 16_384]
    assert rows["gpt-6-luna@low"]["cost"] < rows["gpt-6-luna@high"]["cost"]
    shown = genaipa("show", "latest", "--system", "gpt-6-luna@high", "Q1")
    assert ("Yes, high" in shown.out, "Yes, low" in shown.out) == (True, False), shown.err


def test_a_name_of_a_level_is_masked_without_it() -> None:
    """Replies and pictures know a model by its own name: the level is no part of it."""
    names = list_names_revealing_system("openai-api/lab/reader-1@high", "openai-api/lab/reader-1@high", ())
    assert mask_names("I am Reader-1.", names, "") == f"I am {MASK}."


def test_judges_of_two_levels_are_two(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge's name has its level, and its family has not; neither is taken for the other."""
    make_workspace(2)
    write("say.yaml", "default: 'Yes (Section 1).'")
    assert genaipa("run", "-s", "scripted/say.yaml", "-p", "acme", "-e", "quality").code == 0

    def behave(_number: int, _body: dict[str, Any]) -> Behaviour:
        message = {"role": "assistant", "content": verdict()}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return Behaviour(body=json.dumps({"model": "gpt-6-luna", "choices": choices}).encode())

    with OpenAIServer(behave, models=("gpt-6-luna",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
        done = [genaipa("judge", "latest", "--judge", f"gpt-6-luna@{level}") for level in ("low", "high", "low")]
    assert [each.code for each in done] == [0, 0, 0], done[0].err
    levels = [request.body["reasoning_effort"] for request in server.requests]
    assert levels == ["low"] * 2 + ["high"] * 2
    limits = {request.body["reasoning_effort"]: request.body["max_completion_tokens"] for request in server.requests}
    assert limits["high"] - limits["low"] == 2 * (8_192 - 512)
    analysts = [Judge.parse(event.analyst) for event in events()]
    assert [judge.model for judge in analysts if judge] == ["gpt-6-luna@low"] * 2 + ["gpt-6-luna@high"] * 2
    judge = Judge("gpt-6-luna@high", "0123456789ab", 1)
    assert Judge.parse(str(judge)) == judge
    assert model_family("o3@high") == model_family("openai/gpt-6-luna@low") == "gpt"
    assert model_family("scripted/kind@high") == model_family("scripted/kind@low")


def test_the_cap_reserves_thoughts_and_the_system_prompt() -> None:
    """A call may come to them, unless a limit says how long all of it is at most."""
    plain = max_call_usage(QUESTION, Settings())
    high = max_call_usage(QUESTION, Settings(effort="high", system_prompt="x" * 300))
    assert (high.input - plain.input, high.output - plain.output) == (100, 8_192)
    assert max_call_usage(QUESTION, Settings(effort="high", max_tokens=50)).output == 50


def test_options_that_every_model_takes() -> None:
    """A catalog's settings, which say what a model refuses, leave these alone."""
    write("genaipa.toml", "")
    write("systems.yaml", "systems: {mine: {system: openai/x, settings: []}}")
    assert resolve_system("mine", find_workspace()).sendable_sampling_options == NEVER_REFUSED
