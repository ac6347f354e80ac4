"""Judges and points: what is asked, which replies are verdicts, and what becomes of them, through the vendors' SDKs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from judges import RUBRIC, annotated, events, judge_runs, pointed, script, study
from running import KEY, latest, write
from servers import AnthropicServer, GoogleServer, LoopbackServer, OpenAIServer, cut, reply
from size import size

from genaipa.judging.task import load_judge_templates, prompt_digest
from genaipa.judging.verdict import (
    count_longest_verdict_tokens,
    find_verdict_flaw,
    make_sample_verdict_json,
    make_verdict_schema,
    shuffle_points,
)
from genaipa.judging.verdict_parsing import read_verdict
from genaipa.questions.points import MOST, Point, Ticks, points_digest
from genaipa.systems.base import Reply, strip_max_length_and_items
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = (
    Point("ways", "Deletion can be asked for by mail.", ("1",)),
    Point("kept", "Some data are kept.", ("2",), "vital", "harm"),
    Point("cost", "It costs nothing.", ("2",), "okay"),
)
ALL = dict.fromkeys(("ways", "kept", "cost"), "yes")
WHOLE = [*RUBRIC.metrics]
UNRULED = msgspec.structs.replace(
    RUBRIC, metrics={name: msgspec.structs.replace(one, points=()) for name, one in RUBRIC.metrics.items()}
)


def annotate(*, points: bool = True) -> None:
    """Annotated answers to two questions, of which the first has the points."""
    lines = "".join(f"      - {{id: {p.id}, text: {p.text}, sections: ['1'], weight: {p.weight}}}\n" for p in POINTS)
    write(
        "annotations/acme.yaml",
        "document: acme\nquestions: policy\nannotators: [one]\nanswers:\n"
        "  Q1:\n    silent: no\n    answer: By mail, and some is kept.\n    sections: ['1']\n"
        + (f"    points:\n{lines}" if points else "")
        + "  Q2: {silent: no, answer: They sell nothing., sections: ['2']}\n",
    )


def test_the_value_follows_from_what_is_said_of_the_points() -> None:
    """Ticks are in the points' order, whatever the reply's; the rule's metric has the rule's value, and isn't asked."""
    cases = {
        ("yes", "yes", "yes"): 1.0,
        ("yes", "yes", "no"): 0.5,
        ("yes", "yes", "contradicted"): 0.5,
        ("yes", "contradicted", "yes"): 0.5,
        ("no", "contradicted", "yes"): -1.0,
        ("no", "no", "no"): -1.0,
    }
    for words, value in cases.items():
        said = dict(zip(ALL, words, strict=True))
        found = read_verdict(RUBRIC, pointed(dict(reversed(said.items())), 2), has_annotated_answer=True, points=POINTS)
        ticks = Ticks(
            points_digest(POINTS), *(tuple(p for p, w in said.items() if w == one) for one in ("yes", "contradicted"))
        )
        assert (found.ticks, found.values["completeness"]) == (ticks, value), words
        assert [*found.values] == WHOLE
        assert {found.values[name] for name in WHOLE if name != "completeness"} == {-1.0}
    assert found.evidence_as_note.splitlines()[:2] == [
        "point ways (no): Seen for ways.",
        "point kept (no): Seen for kept.",
    ]
    assert read_verdict(RUBRIC, annotated(), has_annotated_answer=True).ticks is None


def test_a_reply_without_one_word_for_each_point_is_no_verdict() -> None:
    """One lacking, twice, or unknown, another word, no evidence, a value beside them: one reason each."""
    ticks = json.loads(pointed(ALL))["points"]
    rest = json.loads(pointed(ALL))["verdicts"]
    whole = json.loads(annotated())["verdicts"]

    def of(points: Any, verdicts: Any = rest) -> str:
        return json.dumps({"points": points, "verdicts": verdicts})

    flaws = {
        of(ticks[:2]): "it leaves out the points cost",
        of([*ticks, ticks[0]]): "it has two entries for the point ways",
        of([*ticks, ticks[0] | {"point": "why"}]): "'why' is not a point",
        of([ticks[0] | {"said": "partly"}, *ticks[1:]]): "'partly' on point ways is not yes, no or contradicted",
        of([ticks[0] | {"said": True}, *ticks[1:]]): "it has no decision on point ways",
        of([ticks[0] | {"evidence": ""}, *ticks[1:]]): "it has no evidence for point ways",
        of([{"point": "ways"}, *ticks[1:]]): "an entry in points is not an object with point, evidence and said",
        of("all"): "its points are not a list",
        of(ticks, whole): "'completeness' is not asked for: it follows from the points",
        annotated(): "it is not an object with points and verdicts",
    }
    for text, said in flaws.items():
        assert find_verdict_flaw(RUBRIC, Reply(text), has_annotated_answer=True, points=POINTS) == said
    assert find_verdict_flaw(RUBRIC, Reply(pointed(ALL)), has_annotated_answer=True, points=POINTS) == ""
    assert (
        find_verdict_flaw(
            RUBRIC, Reply(of([one | {"said": " Yes "} for one in ticks])), has_annotated_answer=True, points=POINTS
        )
        == ""
    )
    assert "no verdict on completeness" in find_verdict_flaw(RUBRIC, Reply(pointed(ALL)), has_annotated_answer=True)


def test_the_form_is_one_for_all_answers_with_points() -> None:
    """Evidence comes before each word; no id is in it, so that providers keep the document; there is room for all."""
    form = make_verdict_schema(RUBRIC, has_annotated_answer=True, has_points=True)
    assert list(form["properties"]) == ["points", "verdicts"]
    entry = form["properties"]["points"]["items"]
    assert list(entry["properties"]) == entry["required"] == ["point", "evidence", "said"]
    assert entry["properties"]["said"]["enum"] == ["yes", "no", "contradicted"]
    assert "enum" not in entry["properties"]["point"]
    assert form["properties"]["points"]["maxItems"] == MOST
    named = [one["properties"]["metric"]["enum"][0] for one in form["properties"]["verdicts"]["items"]["anyOf"]]
    assert named == [name for name in WHOLE if name != "completeness"]
    many = tuple(Point(f"{'p' * 30}{n:02}", "So.", ("1",)) for n in range(MOST))
    ordinary = make_sample_verdict_json(RUBRIC, has_annotated_answer=True, points=many)
    assert find_verdict_flaw(RUBRIC, Reply(ordinary), has_annotated_answer=True, points=many) == ""
    assert len(ordinary) / 4 < count_longest_verdict_tokens(RUBRIC, has_annotated_answer=True, has_points=True) < 3_000
    # A rubric of nothing but the metric with the rule asks for the points alone.
    alone = msgspec.structs.replace(RUBRIC, metrics={"completeness": RUBRIC.metrics["completeness"]})
    assert list(make_verdict_schema(alone, has_annotated_answer=True, has_points=True)["properties"]) == ["points"]
    found = read_verdict(
        alone, json.dumps({"points": json.loads(pointed(ALL))["points"]}), has_annotated_answer=True, points=POINTS
    )
    assert found.values == {"completeness": 1.0}


def test_points_are_asked_where_there_are_some_and_kept(genaipa: Callable[..., Any]) -> None:
    """Of two answers one has points; both verdicts are one judge's, and the second pass has the points in reverse."""
    study(genaipa, 2)
    annotate()
    judge = script("judge.yaml", {"match": "each of these points", "reply": pointed(ALL)}, default=annotated())
    done = genaipa("judge", "--judge", judge, "--passes", "2")
    assert done.code == 0, done.err
    (folder,) = judge_runs()
    shown = {(record.question, record.coordinates["pass"]): record for record in folder.read_records()}
    texts = {point.id: point.text for point in POINTS}
    for number in ("1", "2"):
        record = shown["Q1", number]
        listed = re.findall(r"^- (\w+): (.+)$", record.asked, re.MULTILINE)
        assert dict(listed) == texts
        wanted = shuffle_points(POINTS, record.coordinates["answer"], int(number))
        assert [name for name, _ in listed] == [point.id for point in wanted]
        metrics = re.findall(r"^\d\. (\w+)", record.asked, re.MULTILINE)
        assert sorted(metrics) == sorted(set(WHOLE) - {"completeness"})
        assert not re.search("vital|okay|harm", record.asked)
        assert "point" not in shown["Q2", number].asked
    one, other = (shuffle_points(POINTS, shown["Q1", "1"].coordinates["answer"], passed) for passed in (1, 2))
    assert other == one[::-1]
    given = {event.answer: event for event in events() if event.analyst.endswith("#1")}
    first, second = (given[shown[name, "1"].coordinates["answer"]] for name in ("Q1", "Q2"))
    assert first.analyst == second.analyst
    assert first.ticks == Ticks(points_digest(POINTS), tuple(ALL))
    assert second.ticks is None
    # A store that is lost is filled with the same, from the run folder alone.
    before = events()
    find_workspace().home.joinpath("scores.db").unlink()
    annotate(points=False)
    assert genaipa("judge", "--judge", judge, "--passes", "2").code == 0
    assert events() == before


def test_without_a_rule_or_points_nothing_is_new(genaipa: Callable[..., Any]) -> None:
    """A rubric without the rule asks for every metric, and is another judge's."""
    templates = load_judge_templates(find_workspace()).template_texts
    ruled, unruled = (prompt_digest(templates, rubric, with_evidence=False) for rubric in (RUBRIC, UNRULED))
    assert ruled != unruled
    assert UNRULED.digest == RUBRIC.digest, "people's scores by it compare"
    study(genaipa, 2)
    annotate()
    write("rubrics/genaipabench.yaml", msgspec.yaml.encode(UNRULED).decode())
    done = genaipa("judge", "--judge", script("judge.yaml", default=annotated()))
    assert done.code == 0, done.err
    assert {event.ticks for event in events()} == {None}
    assert not any("points" in record.asked for record in judge_runs()[0].read_records())


SDKS = {
    "openai": ("openai/gpt-6.1-sol", OpenAIServer, "OPENAI", "OPENAI"),
    "anthropic": ("anthropic/claude-opus-4-8", AnthropicServer, "ANTHROPIC", "ANTHROPIC"),
    "google": ("google/gemini-2.5-pro", GoogleServer, "GOOGLE_GEMINI", "GEMINI"),
}
LOOPS = cut('{"points": [' + '{"point": "kept", "evidence": "It is kept.", "said": "yes"}, ' * 90)


@pytest.mark.parametrize("vendor", size(small=["openai"], soak=[*SDKS]))
def test_points_through_a_vendors_sdk(
    vendor: str, genaipa: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form goes out as the vendor takes it and ticks come back; a model that loops is asked once, and said so."""
    judge, server_of, address, key = SDKS[vendor]
    study(genaipa, 2)
    annotate()
    loops = [True]

    def behave(_number: int, body: dict[str, Any]) -> Any:
        if "each of these points" not in server.turns(body)[-1].text:
            return reply(annotated())
        return LOOPS if loops else reply(pointed(ALL | {"kept": "contradicted"}))

    with server_of(behave, models=[judge.rpartition("/")[2]], only=KEY) as server:
        monkeypatch.setenv(f"{address}_BASE_URL", server.url)
        monkeypatch.setenv(f"{key}_API_KEY", KEY)
        first = genaipa("judge", "--judge", judge, "-j", "1")
        assert (first.code, len(server.requests)) == (3, 2), first.err
        (lost,) = (record for record in latest(judge_runs()[0]).values() if record.status == "failed")
        assert lost.error is not None
        assert "it repeated itself and was cut off" in lost.error.message
        assert "try another model" in lost.error.message
        loops.clear()
        assert genaipa("judge", "--judge", judge).code == 0
        forms = [form(server, request.body) for request in server.requests]
    bounded = server_of is OpenAIServer
    made = [make_verdict_schema(RUBRIC, has_annotated_answer=True, has_points=points) for points in (True, False, True)]
    assert [json.dumps(one) for one in forms] == [
        json.dumps(one if bounded else strip_max_length_and_items(one)) for one in made
    ]
    assert {limit(server, request.body) for request in server.requests} == {
        4096 + count_longest_verdict_tokens(RUBRIC, has_annotated_answer=True, has_points=True)
    }
    (ticks,) = (event.ticks for event in events() if event.ticks)
    assert ticks == Ticks(points_digest(POINTS), ("ways", "cost"), ("kept",))
    assert sorted((event.values or {})["completeness"] for event in events()) == [0.5, 1.0]


def form(server: LoopbackServer, body: dict[str, Any]) -> Any:
    """The schema of a request."""
    if isinstance(server, AnthropicServer):
        return body["output_config"]["format"]["schema"]
    if isinstance(server, GoogleServer):
        return body["generationConfig"]["responseJsonSchema"]
    return body["response_format"]["json_schema"]["schema"]


def limit(server: LoopbackServer, body: dict[str, Any]) -> int:
    """The longest reply that a request allows, in tokens."""
    if isinstance(server, GoogleServer):
        return int(body["generationConfig"]["maxOutputTokens"])
    return int(body.get("max_tokens") or body["max_completion_tokens"])
