"""The scripted system: the file decides what is said, when it fails and how often."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from genaipa.errors import DataError, PermanentError, TransientError
from genaipa.systems.base import Message, Reply, Settings, Usage
from genaipa.systems.scripted import ScriptedSystem


def scripted(text: str) -> ScriptedSystem:
    """A system that follows this script, written to the working folder."""
    Path("replies.yaml").write_text(text, encoding="utf-8")
    return ScriptedSystem(name="scripted/replies.yaml")


def ask(system: ScriptedSystem, *asked: str, timeout: float = 120.0) -> Reply:
    """The reply to a conversation whose messages are all the user's."""
    messages = [Message("user", one) for one in asked]
    return asyncio.run(system.reply(messages, Settings(timeout=timeout)))


def test_without_a_file_it_echoes() -> None:
    """`scripted` alone repeats the first eight words of the last message."""
    system = ScriptedSystem(name="scripted")
    assert ask(system, "before", "one two three four five six seven eight nine").text == (
        'You said: "one two three four five six seven eight …"'
    )
    assert ask(system, "one two").text == 'You said: "one two"'


def test_first_match_wins() -> None:
    """Rules are tried in order against the last message only; the default is for the rest."""
    system = scripted("rules:\n- {match: (?i)data, reply: A}\n- {match: data breach, reply: B}\ndefault: C\n")
    assert ask(system, "a DATA breach").text == "A"
    assert ask(system, "data", "something else").text == "C"


def test_without_a_default_it_echoes() -> None:
    """A script without a default falls back on the echo; an empty reply is a reply."""
    system = scripted("rules:\n- {match: nothing, reply: ''}\n")
    assert ask(system, "hello").text == 'You said: "hello"'
    assert ask(system, "nothing").text == ""


def test_what_a_reply_carries() -> None:
    """Finish and usage are as scripted."""
    system = scripted(
        "rules:\n- {match: '', reply: A, finish: length, usage: {input: 9, cached: 4, output: 2}, delay: 0.01}\n"
    )
    assert ask(system, "x") == Reply("A", "length", Usage(input=9, cached=4, output=2), "scripted")


def test_levels_cost_what_the_script_says() -> None:
    """Time and thoughts of a level are told and not waited for: by chance, but the same for the same question."""
    system = scripted("default: No.\nlevels: {none: {seconds: 50}, high: {seconds: 100, reasoning: 1000}}\n")
    conversation = [Message("user", "A policy of some length."), Message("user", "Why?")]
    first, again, plain = (
        asyncio.run(system.reply(conversation, Settings(effort=effort))) for effort in ("high", "high", None)
    )
    assert first == again
    assert first.usage is not None
    assert first.usage.reasoning in range(500, 1501)
    assert first.usage.output == first.usage.reasoning + 1
    assert first.usage.input == 7
    assert (first.seconds, plain.seconds) == (first.usage.reasoning / 10, first.usage.reasoning / 20)
    assert plain.usage == Usage(input=7, output=1)
    assert asyncio.run(system.reply(conversation, Settings(effort="low"))).seconds is None


def test_times() -> None:
    """A rule that is used up is passed over."""
    system = scripted("rules:\n- {match: '', reply: A, times: 2}\n- {match: '', reply: B}\n")
    assert [ask(system, "x").text for _ in range(4)] == ["A", "A", "B", "B"]


def test_times_under_concurrency() -> None:
    """Calls that are under way together use up a rule in the order in which they came."""
    system = scripted("rules:\n- {match: '', reply: A, times: 3, delay: 0.01}\n- {match: '', reply: B}\n")

    async def together() -> list[str]:
        calls = [system.reply([Message("user", "x")], Settings()) for _ in range(6)]
        return [reply.text for reply in await asyncio.gather(*calls)]

    assert asyncio.run(together()) == ["A", "A", "A", "B", "B", "B"]


def test_failures() -> None:
    """Each kind of failure is the error that adapters raise for it."""
    system = scripted(
        "rules:\n- {match: t, fail: transient}\n- {match: p, fail: permanent}\n- {match: o, fail: overload}\n"
    )
    with pytest.raises(TransientError) as transient:
        ask(system, "t")
    with pytest.raises(PermanentError):
        ask(system, "p")
    with pytest.raises(TransientError) as overload:
        ask(system, "o")
    assert (transient.value.overload, overload.value.overload) == (False, True)


@pytest.mark.parametrize(("times", "different"), [(", times: 2", 2), ("", 1)])
def test_passing_and_lasting_failures(times: str, different: int) -> None:
    """Failures that are counted differ from one another, those that last are the same failure again."""
    system = scripted(f"rules:\n- {{match: '', fail: transient{times}}}\n")
    signatures = set()
    for _ in range(2):
        with pytest.raises(TransientError) as failure:
            ask(system, "x")
        signatures.add(failure.value.comparison_key)
    assert len(signatures) == different


def test_delay_over_the_time_out() -> None:
    """A reply that comes too late is a time-out, as it would be of a real system."""
    system = scripted("rules:\n- {match: '', reply: A, delay: 600}\n")
    with pytest.raises(TransientError, match=r"within 0\.01 s") as failure:
        ask(system, "x", timeout=0.01)
    assert failure.value.kind == "timeout"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rules: [{match: '(', reply: A}]", r"rules\[0\]\.match: '\(' is not a regular expression"),
        ("rules: [{match: a, reply: A}, {match: b}]", r"rules\[1\]: needs either 'reply' or 'fail'"),
        ("rules: [{match: a, reply: A, fail: permanent}]", r"rules\[0\]: needs either 'reply' or 'fail'"),
        ("rules: [{match: a, replay: A}]", r"unknown key 'replay': did you mean 'reply'"),
        ("rules: [{match: a, reply: A, times: 0}]", r"rules\[0\]\.times: .*>= 1"),
        ("rules: [{match: a, reply: A, usage: {input: 1, cached: 2}}]", r"rules\[0\]\.usage: 'cached'"),
        ("rules: [{match: a, fail: sometimes}]", r"rules\[0\]\.fail: .*'sometimes'"),
    ],
)
def test_bad_scripts(text: str, complaint: str) -> None:
    """A script that can't be followed is refused with the file, the entry and what is wrong."""
    with pytest.raises(DataError, match=rf"replies\.yaml: .*{complaint}"):
        scripted(text)


def test_missing_script() -> None:
    """A path that leads nowhere is named, as it was written."""
    with pytest.raises(DataError, match=r"^there/none\.yaml: can't be read"):
        ScriptedSystem(name="scripted/there/none.yaml")


def test_absolute_path(tmp_path: Path) -> None:
    """A script can stand anywhere."""
    (tmp_path / "far.yaml").write_text("default: A\n", encoding="utf-8")
    assert ask(ScriptedSystem(name=f"scripted/{tmp_path}/far.yaml"), "x").text == "A"
