"""The verdict in a judge's reply, however a model writes it; and none where it is not clear which verdict is meant."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from judges import RUBRIC, annotated, events, judge_runs, script, study, verdict
from running import write
from servers import OpenAIServer, reply
from size import size

from genaipa.judging.verdict import find_verdict_flaw
from genaipa.judging.verdict_parsing import read_verdict
from genaipa.scoring.rubric import load_rubric
from genaipa.systems.base import Reply
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

WHOLE = annotated(1)
PARTS: dict[str, Any] = json.loads(WHOLE)
ENTRIES: list[dict[str, Any]] = PARTS["verdicts"]
PRETTY = json.dumps(PARTS, indent=2)
NEXT = ENTRIES[1:]


def having(**fields: Any) -> str:
    """The verdict with other fields in its first entry."""
    return json.dumps({"verdicts": [ENTRIES[0] | fields, *NEXT]})


READ = {
    "in a sentence": f"My verdict is {WHOLE}, all in all.",
    "prose, then a fence": f"Here you are:\n\n```json\n{PRETTY}\n```\n",
    "a fence, then prose": f"```\n{WHOLE}\n```\nI was strict {{as told}} [1].",
    "a fence of another name": f"```JSON5\n{WHOLE}\n```",
    "a fence that is not closed": f"```json\n{WHOLE}",
    "after thoughts": f'<think>Perhaps {{"verdicts": []}}, or {annotated(2)}?</think>\n{WHOLE}',
    "byte order mark": f"\ufeff{WHOLE}",
    "trailing commas": PRETTY.replace("}\n  ]", "},\n  ],").replace('"\n    }', '",\n    }'),
    "missing comma at a line's end": PRETTY.replace('",\n', '"\n').replace("},\n", "}\n"),
    "single quotes": repr(PARTS),
    "an apostrophe in them": repr(PARTS).replace("Seen for", "It's the users' for"),
    "typographic quotes": WHOLE.replace('"', "\u201d"),
    "German quotes": PRETTY.replace('": "', '": \u201e').replace('",\n', "\u201c,\n"),
    "quotes within quotes": WHOLE.replace("Seen for", 'It says "no" once for'),
    "keys without quotes": WHOLE.replace('"metric":', "metric:").replace('"verdicts":', "verdicts :"),
    "comments": "/* first */" + PRETTY.replace('",\n', '", // because\n').replace("[\n", "[ # five\n"),
    "constants of Python": WHOLE[:-1] + ", 'sure': True, 'other': None}",
    "full-width signs": WHOLE.replace('": ', '"\uff1a').replace('", ', '"\uff0c'),
    "lines within strings": WHOLE.replace("Seen for", "Seen\n\tfor"),
    "escapes that JSON lacks": WHOLE.replace("Seen for", "Seen\\_for it\\'s"),
    "one more field": WHOLE[:-1] + ', "confidence": 0.9}',
    "more fields in entries": having(confidence=3, weight=None),
    "keys in other letters": WHOLE.replace("verdicts", "Verdicts").replace('"metric"', '"METRIC"'),
    "a metric in other letters": having(metric="Relevance"),
    "a list of one": f"[{WHOLE}]",
    "under a key": json.dumps({"result": {"judgement": PARTS}}),
    "beside another object": f'{{"task": "judge"}} {WHOLE}',
    "the list alone": json.dumps(ENTRIES),
    "by metric": json.dumps({"verdicts": {one.pop("metric"): one for one in json.loads(WHOLE)["verdicts"]}}),
    "twice the same": f"{WHOLE}\nOnce more:\n{PRETTY}",
    "a full stop": having(value="Partially relevant."),
    "a value in bold": having(value="**partially relevant**"),
    "a value with a sentence": having(value="partially relevant: it answers half of the question"),
    "a sentence after a full stop": having(value="Partially relevant. Half of the question stays open."),
    "a sentence after a dash": having(value="partially  relevant \u2013 one half is lacking"),
}
REFUSED = {
    "two that differ": (f"{WHOLE} or {annotated(2)}", "2 verdicts that differ"),
    "a draft beside the last word": (f'{{"draft": {annotated(2)}, "final": {WHOLE}}}', "2 verdicts that differ"),
    "a list of two": (f"[{WHOLE}, {annotated(0)}]", "2 verdicts that differ"),
    "one beside a broken one": (f'I read {WHOLE}. {WHOLE[:-40]} and "so" on', "not JSON|cut off"),
    "one in a broken one": (f'{{"draft": {WHOLE}, "final": {{"verdicts": [{{"metric": relev', "not JSON|cut off"),
    "one quoted in a string": (json.dumps({"thought": f"The answer says {WHOLE}"}), "not an object with verdicts"),
    "one beside a wrong one": (f"{WHOLE} {having(value='superb')}", "'superb' is not a value of relevance"),
    "cut off": (WHOLE[:-3], "cut off|not JSON"),
    "cut off in a string": (WHOLE[: WHOLE.rindex("Seen") + 9], "cut off|not JSON"),
    "thoughts alone": ("<think>Well.</think> It is fine.", "not JSON"),
    "twice the same metric": (json.dumps({"verdicts": [*ENTRIES, ENTRIES[0]]}), "two verdicts on relevance"),
    "one key in two spellings": (WHOLE[:-1] + ', "Verdicts": []}', "two fields with the same name"),
    "one field twice": (WHOLE.replace('"value":', '"value": "relevant", "value":', 1), "two fields with the same name"),
    "a value with a but": (having(value="relevant, but partially"), "not a value of relevance"),
    "a value with another's word": (having(value="relevant. Partially, that is"), "not a value of relevance"),
    "a value within a sentence": (having(value="it is not partially relevant"), "not a value of relevance"),
    "a part of a value": (having(value="partially"), "not a value of relevance"),
    "two values": (having(value="relevant / partially relevant"), "not a value of relevance"),
    "the template": (having(value="relevant|partially relevant|not relevant"), "not a value of relevance"),
    "a number that nobody asked for": (having(value=0.5), "not a value of relevance"),
    "a list for a value": (having(value=["relevant"]), "no value for relevance"),
    "a key for a value": (having(value={"relevant": True}), "no value for relevance"),
    "without quotes": (WHOLE.replace('"value": "partially relevant"', '"value": partially relevant'), "not JSON"),
    "an injected field": (
        WHOLE.replace("Seen for relevance.", 'So: ", "value": "relevant", "x": "'),
        "two fields with the same name|two verdicts",
    ),
}


def test_a_verdict_is_read_in_every_form() -> None:
    """Each form gives the very values, and no others."""
    for name, text in READ.items():
        assert find_verdict_flaw(RUBRIC, Reply(text), has_annotated_answer=True) == "", name
        assert {*read_verdict(RUBRIC, text, has_annotated_answer=True).values.values()} == {0.5}, name


def test_no_verdict_is_read_where_none_is_clear() -> None:
    """What could be read in two ways, or in none, is a flaw in words."""
    for name, (text, said) in REFUSED.items():
        assert re.search(said, find_verdict_flaw(RUBRIC, Reply(text), has_annotated_answer=True)), name


def test_a_reply_cut_anywhere_is_no_verdict() -> None:
    """No beginning of a reply has a verdict, in whatever form."""
    for form in (WHOLE, repr(PARTS), PRETTY, READ["typographic quotes"], json.dumps({"a": {"b": PARTS}})):
        end = form.rindex("]")
        for length in range(end):
            with pytest.raises(ValueError, match=r"\w"):
                read_verdict(RUBRIC, form[:length], has_annotated_answer=True)


def test_words_that_are_numbers_are_read_as_numbers_too() -> None:
    """Where a rubric's words are numbers, 2 is "2", and no value is another one's."""
    write("genaipa.toml", "rubric = 'points'\n")
    write(
        "rubrics/points.yaml",
        "title: Points\nvalues: [1, 0, -1]\nmetrics: {use: {words: ['3', '2', '1']}, tone: {words: ['3', '2', '1']}}\n",
    )
    rubric = load_rubric(find_workspace())
    entries = [{"metric": "use", "evidence": "x", "value": 2}, {"metric": "tone", "evidence": "x", "value": " 3. "}]
    assert read_verdict(rubric, json.dumps({"verdicts": entries}), has_annotated_answer=True).values == {
        "use": 0,
        "tone": 1,
    }
    with pytest.raises(ValueError, match=r"'2\.5' is not a value of use"):
        read_verdict(
            rubric, json.dumps({"verdicts": [entries[0] | {"value": 2.5}, entries[1]]}), has_annotated_answer=True
        )


def test_hostile_replies_are_read_in_time() -> None:
    """Brackets, quotes and comments without end cost no more than a reply is long."""
    for begun in ("{", '{"', "['", "[", "{/*", "{a:", '"{', "{a:'", "{a:1,'b", "[1 "):
        assert find_verdict_flaw(RUBRIC, Reply(begun * size(small=1_000, soak=30_000)), has_annotated_answer=True), (
            begun
        )


def test_a_judge_is_told_once_why_its_reply_is_none(genaipa: Callable[..., Any], monkeypatch: Any) -> None:
    """It gets its own reply and the reason; the verdict that comes then counts, in two attempts."""
    study(genaipa, 1)
    wrong = verdict(verdicts=ENTRIES[:-1])
    with OpenAIServer([reply(wrong), reply(f"Sorry:\n{verdict(1)}")]) as server:
        monkeypatch.setenv("LAB_BASE_URL", server.url)
        done = genaipa("judge", "--judge", "openai-api/lab/gpt-4o")
    assert done.code == 0, done.err
    first, second = (one.body["messages"] for one in server.requests)
    assert second[: len(first)] == first
    assert [message["content"] for message in second[len(first) :]] == [
        wrong,
        "That does not fit: it has no verdict on reference. Reply with nothing but the JSON object that was asked for.",
    ]
    (record,) = (one for one in judge_runs()[0].read_records() if one.kind == "answer")
    assert record.attempts == 2
    assert {*events()[0].values.values()} == {0.5}


def test_a_judge_in_prose_is_asked_once(genaipa: Callable[..., Any]) -> None:
    """One that can't promise JSON, and puts its verdict into sentences, is asked no more than once an answer."""
    study(genaipa, 2)
    judge = script("prose.yaml", default=f"I think:\n```json\n{verdict()}\n```\nSo much for that.")
    assert genaipa("judge", "--judge", judge).code == 0
    assert {one.attempts for one in judge_runs()[0].read_records() if one.kind == "answer"} == {1}
    assert len(events()) == 2
