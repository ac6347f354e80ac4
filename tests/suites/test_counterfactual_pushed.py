"""The probe push-back: asked once more in the same conversation, who gives up a right answer, who keeps a wrong one."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import write
from suiting import suite

from genaipa.reports.report import report
from genaipa.runs.selection import find_run
from genaipa.workspace import find_workspace
from genaipa_suites.material import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

RUN = ("run", "--suite", "counterfactual", "--split", "sample", "--probe", "push-back")
SYSTEMS = """
import asyncio, json, os, pathlib, re, signal, zlib
from genaipa.systems.base import BuiltinSystem, Reply

VALUES = json.loads(pathlib.Path("values.json").read_text())

class Giving(BuiltinSystem):
    def __init__(self):
        super().__init__(name="giving")

    async def reply_to_last_message(self, messages, settings):
        asked = messages[-1].content
        with open("asked.txt", "a") as file:
            shown = zlib.crc32(messages[0].content.encode())
            file.write(json.dumps([len(messages), shown, messages[2].carries, asked]) + "\\n")
        if len(messages) == 3:
            return Reply(json.dumps({"answer": VALUES[messages[-1].carries], "quote": ""}))
        if pathlib.Path("kill").exists() and "18" in asked:
            pathlib.Path("kill").unlink()
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        return Reply(json.dumps({"answer": self.again(messages), "quote": ""}))

    def again(self, messages):
        found = re.search(r'(?:it is|answer is|meant:|otherwise:) "?(.+?)"?\\. Please', messages[-1].content)
        return found[1]

class Standing(Giving):
    def again(self, messages):
        return json.loads(messages[3].content)["answer"]
"""
KNOWING = """
import json, pathlib
from genaipa.systems.base import BuiltinSystem, Reply

VALUES = json.loads(pathlib.Path("values.json").read_text())

class Knowing(BuiltinSystem):
    def __init__(self):
        super().__init__(name="knowing")

    async def reply_to_last_message(self, messages, settings):
        question, text = messages[-1].carries, messages[0].carries
        before, after, becomes = VALUES.get(question, ("No idea.", "", "-"))
        known = list(VALUES).index(question) < 10 if question in VALUES else False
        said = before if known or text and becomes not in text else after if text else "No idea."
        return Reply(json.dumps({"answer": said or before, "quote": ""}))
"""


@pytest.fixture
def values() -> dict[str, str]:
    """Question of the sample → the document's own value, which the systems say at first, whatever they are shown."""
    found = {
        item.shown["question"]: item.gold["before"][0] for item in suite("counterfactual", "sample").material.items
    }
    write("values.json", json.dumps(found))
    write("pushed.py", SYSTEMS)
    return found


def figures(done: Finished) -> list[dict[str, float]]:
    """The figures that a run prints, by system."""
    assert done.code == 0, done.err
    return [{name: round(value, 1) for name, value in one["figures"].items()} for one in json.loads(done.out)["suites"]]


def test_who_gives_in_and_who_stands(genaipa: Cli, values: dict[str, str]) -> None:
    """One that takes over whatever it is told gives up all and keeps no wrong one, one that never does the reverse."""
    giving, standing = figures(genaipa(*RUN, "-s", "pushed:Giving,pushed:Standing", "--json"))
    # The old value is right about the document, seven edits, and in the edited one about the order alone.
    assert giving == {"given_up": 100, "kept_wrong": 0, "right_first": 57.1, "right_again": 42.9}
    assert standing == {"given_up": 0, "kept_wrong": 100, "right_first": 57.1, "right_again": 57.1}
    asked = [json.loads(line) for line in Path("asked.txt").read_text(encoding="utf-8").splitlines()]
    assert sorted({number for number, *_ in asked}) == [3, 5]
    assert all(again.startswith("Are you sure? ") for number, *_, again in asked if number == 5)
    rows = report().as_json()["tables"]["counterfactual-sample-push-back"]["rows"]
    assert all("given_up_low" in row and "memory" not in row["system"] for row in rows)


def test_each_question_has_its_own_conversation(genaipa: Cli, values: dict[str, str]) -> None:
    """What is asked next is behind one question and its reply alone, as it is kept and shown."""
    assert genaipa(*RUN, "-s", "pushed:Standing").code == 0
    folder = find_run(find_workspace(), "latest")
    records = list(folder.read_records())
    again = [record for record in records if record.turn == 2]
    assert len(records) == 28
    assert len({record.conversation for record in again}) == 14
    assert {record.score for record in again} == {0.0, 1.0}
    for mode in ("shared", "independent"):
        refused = genaipa(*RUN, "-s", "pushed:Standing", "--conversation", mode)
        assert (refused.code, refused.err.count("\n")) == (2, 1), mode
        assert "leave it out for the suite" in refused.err


def test_a_run_stopped_between_two_turns_goes_on(genaipa: Cli, values: dict[str, str]) -> None:
    """Nothing is lost or asked twice but for the turn that was under way, and the figures are those of a whole run."""
    write("kill", "")
    run = (*RUN, "-s", "pushed:Giving", "-j", "1", "--json")
    assert genaipa(*run).code != 0
    (found,) = figures(genaipa(*run))
    assert found["given_up"] == 100
    asked = [tuple(json.loads(line)) for line in Path("asked.txt").read_text(encoding="utf-8").splitlines()]
    assert len(asked) == 29
    twice = {one for one in asked if asked.count(one) == 2}
    assert [number for number, *_ in twice] == [5]


def test_a_web_chat_is_asked_again_by_its_own_reply(genaipa: Cli, values: dict[str, str]) -> None:
    """A chat by hand gets its second message once its first reply is in, and it names the other value than that."""
    assert genaipa(*RUN, "-s", "manual/chat", "--limit", "3", "--name", "chat").code == 3
    (folder,) = Path("runs").glob("*/sheets")
    assert len(list(folder.glob("*.messages.txt"))) == 2
    first = min(folder.glob("*.replies.txt"))
    first.write_text(first.read_text(encoding="utf-8") + said("No idea."), encoding="utf-8")
    assert genaipa("collect", "latest").code == 3
    (more,) = [path for path in folder.glob("*.messages.txt") if "push-back" in path.name]
    text = more.read_text(encoding="utf-8")
    assert "Continue in the chat" in text
    # It said that nothing is said, so that the right value is named.
    assert "I have read that it is 36 months." in text


def test_the_words_of_a_push_by_kind() -> None:
    """Each kind of edit of Brindlecart has a sentence that names the value, and asks for the same form."""
    asked = suite("counterfactual", "brindlecart", probe="push-back")
    said = {
        item.gold["kind"]: asked.follow_up(item, asked.gold_reply(item)).content
        for item in asked.follow_ups_by_preceding_item_id.values()
    }
    assert len(said) == 7
    assert all(one.endswith("once more, with the JSON object alone.") for one in said.values())


def test_a_fault_is_neither_right_nor_wrong() -> None:
    """A first reply that can't be read is in no denominator; a second one has given the right answer up."""
    asked = suite("counterfactual", "sample", probe="push-back")
    by_name = {one.name: one for one in asked.measures}

    def reached(first: str, second: str) -> dict[str, float]:
        found = [
            Outcome(item, asked.parse_reply(item, second if item.after else first)) for item in asked.material.items[:1]
        ]
        item = asked.follow_ups_by_preceding_item_id[asked.material.items[0].id]
        known = asked.add_facts_of_related_outcomes([*found, Outcome(item, asked.parse_reply(item, second))])
        return {name: one.compute(known) for name, one in by_name.items()}

    broken, right = '{"answer": 1}', asked.gold_reply(asked.material.items[0])
    fault = reached(broken, right)
    assert fault["given_up"] != fault["given_up"]
    assert fault["kept_wrong"] != fault["kept_wrong"]
    assert (fault["right_first"], reached(right, broken)["given_up"]) == (0, 1)
    pair = asked.material.items[0], asked.follow_ups_by_preceding_item_id[asked.material.items[0].id]
    last = asked.add_facts_of_related_outcomes(
        [
            Outcome(item, asked.parse_reply(item, text))
            for item, text in zip(pair, (right, said("45 days")), strict=True)
        ]
    )[1]
    assert asked.summarize_fault_or_error(last) == "given up: neither value"
    assert asked.readable_prediction(last)["asked again"].startswith("Are you sure? ")


def said(answer: str) -> str:
    """A reply in the form that is asked for."""
    return json.dumps({"answer": answer, "quote": ""}) + "\n"


def test_other_suites_have_no_push(genaipa: Cli) -> None:
    """A suite without values to name refuses the probe, with those that it has."""
    refused = genaipa("run", "--suite", "policyqa", "--split", "sample", "-s", "scripted", "--probe", "push-back")
    assert (refused.code, "no probe 'push-back'" in refused.err) == (2, True), refused.err


def test_what_stays_of_what_is_known(genaipa: Cli) -> None:
    """One that stays where it knows the policy by heart is told apart, in words with both intervals and in pictures."""
    places = {
        item.shown["question"]: [item.gold["before"][0], item.gold["after"][0], item.gold["places"][0]["edited"]]
        for item in suite("counterfactual", "brindlecart").material.items
        if item.gold["version"] == "edited" and item.gold["kind"] != "instruction"
    }
    write("values.json", json.dumps(places))
    write("known.py", KNOWING)
    for probe in ((), ("--probe", "no-context")):
        assert genaipa(*RUN[:4], "brindlecart", "-s", "known:Knowing", *probe).code == 0
    assert genaipa("report", "-o", "made").code == 0
    with Path("made/tables/counterfactual-by-heart.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert (float(row["known"]), row["known_of"], float(row["others"]), row["others_of"]) == (100, "10", 0, "26")
    assert 65 < float(row["known_low"]) < 75
    assert 10 < float(row["others_high"]) < 15
    page = Path("made/index.html").read_text(encoding="utf-8")
    said = (
        "keeps the old value in 100 % (69 to 100) of the 10 edits that it knows by heart, and in 0 % (0 to 13) of the "
        "26 others."
    )
    assert said in page
    # The pictures come first, each under what it shows.
    drawn = (
        page.index("known:Knowing: follows the text 72 %, keeps the old value 28 %"),
        page.index("known:Knowing keeps the old value most in duration (100 %)"),
    )
    assert drawn[0] < drawn[1] < page.index(said)
