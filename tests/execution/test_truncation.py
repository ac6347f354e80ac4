"""Prompts that a server cuts without an error, and names that it serves several models under."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from running import TEXT, make_workspace, write
from servers import Behaviour, OpenAIServer

from genaipa.execution.truncation import PromptCounts
from genaipa.runs.selection import find_run
from genaipa.systems import costs
from genaipa.systems.base import Message

if TYPE_CHECKING:
    import pytest
    from commandline import Cli

GUESS = costs.make_estimating_token_counter()


def prompt(characters: int, *more: str) -> list[Message]:
    """A document of that length, and further messages."""
    return [Message("user", "a" * characters), *(Message("user", text) for text in more)]


def test_a_count_is_held_against_the_length() -> None:
    """Half by an estimate, three quarters by the server's own count or at the size of a context."""
    own = costs.make_counter_at_measured_rate(1000, 4100, "own")
    for counted, counter, cut in (
        (900, GUESS, True),
        (1300, GUESS, False),
        (1300, own, True),
        (1600, own, False),
        (1024, GUESS, True),
        (2048, GUESS, False),
        (0, GUESS, False),
    ):
        assert PromptCounts().is_prompt_cut(prompt(8000), counted, counter, "en") is cut, (counted, counter.label)


def test_a_count_is_held_against_the_server_s_others() -> None:
    """Of the same language, and of prompts long enough that the server's own frame around them is little."""
    counts = PromptCounts()
    assert not counts.is_prompt_cut(prompt(4000), 1100, GUESS, "en")
    assert counts.is_prompt_cut(prompt(40_000), 7000, GUESS, "en")
    assert not counts.is_prompt_cut(prompt(40_000), 9000, GUESS, "en")
    assert not counts.is_prompt_cut(prompt(40_000), 7000, GUESS, "de"), "nothing is known of German yet"
    assert not counts.is_prompt_cut(prompt(40_000), 7000, GUESS, ""), "nobody knows the language"
    assert not counts.is_prompt_cut(prompt(900), 450, GUESS, "de")
    assert not counts.is_prompt_cut(prompt(40_000), 7000, GUESS, "de"), "a short prompt is no measure"


def test_a_conversation_grows_and_its_count_does_not() -> None:
    """The same or fewer tokens for what was said before and more; not of another question in its place."""
    counts = PromptCounts()
    assert not counts.has_count_stopped_growing("a", prompt(40, "one"), 900)
    assert not counts.has_count_stopped_growing("a", prompt(40, "another"), 900)
    assert counts.has_count_stopped_growing("a", prompt(40, "one", "reply", "two"), 900)
    assert not counts.has_count_stopped_growing("a", prompt(40, "one", "reply", "two", "reply", "three"), 950)
    assert not counts.has_count_stopped_growing("b", prompt(40, "one", "reply", "two"), 900)


def test_a_longer_question_in_place_of_another_has_more_tokens() -> None:
    """The same count for a clearly longer question about the same long document; not for a little longer one."""
    counts = PromptCounts()
    assert not counts.has_count_stopped_growing("a", prompt(9000, "q" * 60), 2000)
    assert not counts.has_count_stopped_growing("a", prompt(9000, "q" * 90), 2000)
    assert counts.has_count_stopped_growing("a", prompt(9000, "q" * 170), 2000)
    assert not counts.has_count_stopped_growing("a", prompt(9000, "q" * 170), 2020)
    assert not counts.has_count_stopped_growing("a", prompt(9001, "q" * 170), 2000), "it is another document"
    assert not counts.has_count_stopped_growing("b", prompt(90, "q" * 60), 40)
    assert not counts.has_count_stopped_growing("b", prompt(90, "q" * 170), 40), "so short a text proves nothing"


def test_a_server_that_cuts_a_third(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said, marked in the records, said once more at the end and counted in the report."""
    make_workspace(3, text=TEXT + "\nWe tell you of every change in good time, and by letter." * 90)
    with OpenAIServer(models=("m",), reads=1000) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        done = genaipa("run", "-s", "openai-api/loop/m", "-p", "acme", "-e", "quality")
    assert done.code == 0, done.err
    assert done.err.count("the server counts 1,000 of about 1,") == 1
    assert [record.prompt_cut for record in find_run(make_workspace(3), "latest").read_records()] == [False, True, True]
    assert done.out.count("The server of m cut 2 prompts, by its own token counts.") == 1
    assert "Answers to a prompt that the server cut, without an error: 2 of 3." in genaipa("report", "latest").out


def test_a_name_that_moves_within_a_run(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two served models under one name are said at the end of the run, and on the report's page."""
    make_workspace(3)
    write("genaipa.toml", "")

    def behave(number: int, _body: dict[str, Any]) -> Behaviour:
        choice = {"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}
        return Behaviour(body=json.dumps({"model": f"m-2026-0{min(number, 2)}", "choices": [choice]}).encode())

    with OpenAIServer(behave, models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        done = genaipa("run", "-s", "openai-api/loop/m", "-p", "acme", "-e", "quality")
    assert done.code == 0, done.err
    assert done.out.count("m was served by m-2026-01 and m-2026-02 in this run: its name now stands for") == 1
    report = genaipa("report", "latest", "-o", "report")
    assert report.code == 0, report.err
    page = (find_run(make_workspace(3), "latest").path.parents[1] / "report" / "index.html").read_text(encoding="utf-8")
    assert (
        "served by several models, and its averages mix them: m-2026-01 (1 answer) and m-2026-02 (2 answers)." in page
    )
