"""A second task, in one file: run, stopped and gone on with, estimated, previewed, capped and collected by hand."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from running import lines_of, write
from servers import Behaviour, OpenAIServer, reply

from genaipa.runs.folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

TASK = "own_task:Retention"
MARK = re.compile(r"@@@@@ message \d+ · (\S+) · ")


@pytest.fixture(autouse=True)
def here() -> None:
    """A workspace with the task's file in it."""
    Path("genaipa.toml").touch()
    shutil.copy(Path(__file__).with_name("retention.py"), "own_task.py")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that gives the number in the question, but 9 instead of 10."""
    with OpenAIServer(models=("m",), latency=0.01) as running:
        running.script = lambda _number, body: reply(months(body["messages"][-1]["content"]).replace("10", "9"))
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", "sk-x")
        yield running


def months(text: str) -> str:
    """The number in a question."""
    (found,) = re.findall(r"for (\d+) months", text)
    return found


def the_run() -> RunFolder:
    """The only run here."""
    (path,) = Path("runs").iterdir()
    return RunFolder(path)


RUN = ("run", "--system", "openai-api/loop/m", "--task", TASK)


def test_it_runs_and_is_scored(genaipa, server):
    """Every item is asked once, kept under its own coordinates, and scored without a person."""
    done = genaipa(*RUN)
    assert done.code == 0, done.err
    assert "scored 0.900 on average over 20 answers" in done.out
    records = list(the_run().read_records())
    assert len(records) == len({r.key for r in records}) == 20
    tenth = next(r for r in records if r.coordinates == {"split": "test", "item": "test-9"})
    assert tenth.key == f"openai-api/loop/m|{TASK}|test|test-9"
    assert (tenth.task, tenth.prediction, tenth.score, tenth.reply) == (TASK, "9", 0.0, "9")
    assert tenth.sent["max_tokens"] == 10
    assert [request.body["max_tokens"] for request in server.requests] == [10] * 20
    again = genaipa(*RUN)
    assert (again.code, len(server.requests)) == (0, 20)
    shown = genaipa("show", "latest", "--json")
    assert "test-9" in shown.out, shown.err


def test_it_is_previewed_and_estimated(genaipa, server):
    """--dry-run prints the twenty requests as they are sent, --estimate counts them; nothing is asked."""
    shown = json.loads(genaipa(*RUN, "--dry-run", "--json").out)
    assert len({one["conversation"] for one in shown}) == 20
    counted = json.loads(genaipa(*RUN, "--estimate", "--json").out)
    assert [(row["calls"], row["usage"]["output"]) for row in counted["rows"]] == [(20, 200)]
    assert not server.requests
    genaipa(*RUN)
    sent = {request.body["messages"][0]["content"] for request in server.requests}
    assert sent == {one["messages"][0]["content"] for one in shown}


def test_it_is_capped(genaipa, server):
    """The spending cap ends it in order, and it goes on with a higher one."""
    price = "{input: 10000, output: 10000, as_of: '2026-01-01'}"
    write("systems.yaml", f"systems:\n  paid: {{system: openai-api/loop/m, price: {price}}}\n")
    command = ("run", "--system", "paid", "--task", TASK)
    capped = genaipa(*command, "--max-cost", "5", "-j", "1")
    assert capped.code == 4, capped.err
    assert 0 < len(server.requests) == len(lines_of(the_run().answers_path)) < 20
    assert genaipa(*command, "--max-cost", "none").code == 0
    assert len(server.requests) == len({record.key for record in the_run().read_records()}) == 20


def test_it_is_collected_by_hand(genaipa):
    """One sheet holds all items, each to be asked in a new chat; the replies are scored as they come in."""
    begun = genaipa("run", "--system", "manual/chat", "--task", TASK)
    assert begun.code == 3, begun.err
    (messages,) = (the_run().path / "sheets").glob("*.messages.txt")
    assert "question in a new chat" in messages.read_text()
    (replies,) = (the_run().path / "sheets").glob("*.replies.txt")
    for wanted in ("dev", "test"):
        lines = []
        for line in replies.read_text().split("\n"):
            lines.append(line)
            mark = MARK.match(line)
            if mark and mark[1].startswith(wanted):
                lines.append(months(line))
        replies.write_text("\n".join(lines))
        collected = genaipa("collect", "latest")
        assert collected.code == (0 if wanted == "test" else 3), collected.err
    assert "scored 1.000 on average over 20 answers" in collected.out
    assert {r.prediction for r in the_run().read_records()} == {str(n) for n in range(1, 11)}


def test_a_changed_file_is_refused(genaipa, server):
    """A run goes on only with the task that it was begun with."""
    genaipa(*RUN)
    path = the_run().answers_path
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    with Path("own_task.py").open("a") as file:
        file.write("# changed\n")
    refused = genaipa("run", "--resume", "latest")
    assert refused.code == 1
    assert f"task '{TASK}' has changed since the run started" in refused.err


def test_the_procedures_options_are_refused(genaipa):
    """What only the procedure understands is refused by name, and so is a task that is not there."""
    refused = genaipa(*RUN, "--policy", "brindlecart")
    assert refused.code == 2
    assert "--policy is an option of the procedure" in refused.err
    assert "no task 'retentoin'" in genaipa("run", "-s", "extractive", "--task", "retentoin").err
    write("empty.py", "class Empty: pass\n")
    assert "can't be instantiated" in genaipa("run", "-s", "extractive", "--task", "empty:Empty").err


def test_other_commands_read_its_run(genaipa, server):
    """Its run is whole by validate, listed by runs, and no answer of it is up for scoring or in a report."""
    genaipa(*RUN)
    checked = genaipa("validate", "--data")
    assert checked.code == 0, checked.out + checked.err
    assert "complete" in genaipa("runs").out
    assert genaipa("show", "latest", "test-9").code == 0
    name = the_run().name
    refused = genaipa("report", "latest")
    assert (refused.code, Path("reports").exists()) == (2, False)
    assert f"{name} asked the task '{TASK}'. To see its answers: genaipa show {name}" in refused.err
    assert genaipa("run", "-s", "extractive", "-p", "brindlecart", "-e", "quality", "--limit", "1").code == 0
    both = genaipa("report", "--formats", "svg")
    assert f"- {name} is left out: it asked the task '{TASK}'" in both.out


def test_one_line_gives_it_a_name(genaipa, monkeypatch):
    """An installed package's entry point is all that it takes to ask it by a name of its own."""
    monkeypatch.syspath_prepend(Path.cwd())
    write("added-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    write("added-1.0.dist-info/entry_points.txt", f"[genaipa.tasks]\nretention = {TASK}\n")
    done = genaipa("run", "-s", "scripted", "--task", "retention")
    assert done.code == 0, done.err
    assert {record.task for record in the_run().read_records()} == {"retention"}
    assert the_run().manifest().digests.task.keys() == {"retention"}
    refused = genaipa("run", "-s", "scripted", "--task", "retentoin")
    assert "did you mean 'retention'" in refused.err


SCHEMA_TASK = """
from genaipa.systems.base import Message
from genaipa.tasks.base import Task, PredictionAndScore

SCHEMA = {
    "type": "object",
    "properties": {"months": {"type": "integer"}},
    "required": ["months"],
    "additionalProperties": False,
}

class Structured(Task):
    def dialogues(self, target):
        return (self.ask(n) for n in range(1, 4))

    def ask(self, n):
        yield Call({"item": str(n)}, [Message("user", f"Item {n}: how many months?")], settings={"json_schema": SCHEMA})

    def read_reply(self, call, reply):
        return PredictionAndScore(reply, float(reply == '{"months": 12}'))
""".replace("import Task,", "import Call, Task,")


def test_json_is_asked_for_in_words_where_a_system_promises_none(genaipa):
    """A system without structured output is asked for JSON in words, and once more where it gave none."""
    write("schema_task.py", SCHEMA_TASK)
    write(
        "said.yaml",
        """rules:
        - {match: '(?s)Item 1.*JSON Schema', reply: '{"months": 12}'}
        - {match: '(?s)Item 2.*JSON Schema', reply: Twelve.}
        - {match: '(?s)Item 3.*JSON Schema', reply: Never.}
        - {match: it is not JSON, reply: "Here:\\n```json\\n{\\"months\\": 12}\\n```", times: 1}
        - {match: it is not JSON, reply: No.}
        """,
    )
    done = genaipa("run", "-s", "scripted/said.yaml", "--task", "schema_task:Structured", "-j", "1")
    assert done.code == 0, done.err
    assert [(r.reply, r.attempts, r.score) for r in the_run().read_records()] == [
        ('{"months": 12}', 1, 1.0),
        ('{"months": 12}', 2, 1.0),
        ("No.", 2, 0.0),
    ]
    assert {r.sent["json_schema"] for r in the_run().read_records()} == {"in words"}
    assert {r.asked for r in the_run().read_records()} == {f"Item {n}: how many months?" for n in (1, 2, 3)}


def test_a_server_with_structured_output_is_sent_the_schema(genaipa, server):
    """Where the server takes a schema it gets it, and nothing is added to the words."""
    write("schema_task.py", SCHEMA_TASK)
    server.script = lambda _number, _body: reply('{"months": 12}')
    done = genaipa("run", "-s", "openai-api/loop/m", "--task", "schema_task:Structured")
    assert done.code == 0, done.err
    for request in server.requests:
        assert request.body["response_format"]["json_schema"]["schema"]["required"] == ["months"]
        assert "Schema" not in request.body["messages"][-1]["content"]


FOLLOW_UP = """
from genaipa.systems.base import Message
from genaipa.tasks.base import Call, Task

class FollowUp(Task):
    def dialogues(self, target):
        return (self.ask(target.name, n) for n in (1, 2))

    def ask(self, system, n):
        messages = [Message("user", f"Name a right, number {n}.")]
        chat = {"conversation": f"{system}|{n}", "mode": "shared"}
        said = yield Call({"item": f"right-{n}"}, tuple(messages), **chat)
        messages += [Message("assistant", said, "answer"), Message("user", f"Why is '{said}' one?")]
        yield Call({"item": f"why-{n}"}, tuple(messages), turn=2, **chat)
"""


def test_a_question_may_follow_on_a_reply(genaipa, server):
    """A dialogue is sent each reply and asks on; a resumed one is sent the reply that was kept."""
    write("follow_task.py", FOLLOW_UP)
    server.script = lambda number, _body: Behaviour(status=400, error="no") if number == 2 else reply(f"Right {number}")
    command = ("run", "-s", "openai-api/loop/m", "--task", "follow_task:FollowUp", "-j", "1")
    begun = genaipa(*command)
    assert begun.code == 3, begun.err
    server.requests.clear()
    server.script = lambda _number, _body: reply("Because.")
    assert genaipa(*command).code == 0
    (why, *others) = [[m["content"] for m in request.body["messages"]] for request in server.requests]
    assert why == ["Name a right, number 1.", "Right 1", "Why is 'Right 1' one?"]
    assert why not in others
    shown = genaipa("show", "latest", "why-1", "--whole")
    assert "Name a right, number 1." in shown.out, shown.out + shown.err
    dry = json.loads(genaipa(*command, "--dry-run", "--json").out)
    assert [len(one["messages"]) for one in dry] == [3, 3]
    assert dry[0]["messages"][2]["content"] == "Why is '[the system's reply]' one?"


def test_a_follow_up_by_hand_is_shown_once_its_question_is_known(genaipa):
    """A question that quotes a reply gets its files, which go on in the same chat, when that reply is in."""
    write("follow_task.py", FOLLOW_UP)
    genaipa("run", "-s", "manual/chat", "--task", "follow_task:FollowUp")
    sheets = the_run().path / "sheets"
    assert len(list(sheets.glob("*.replies.txt"))) == 2
    for expected in (3, 0):
        for file in sorted(sheets.glob("*.replies.txt")):
            if not file.read_text().endswith("Erasure.\n"):
                file.write_text(file.read_text().rstrip("\n") + "\nErasure.\n")
        assert genaipa("collect", "latest").code == expected
    second = next(sheets.glob("02-*.messages.txt")).read_text()
    assert "Continue in the chat in which you asked right-1" in second
    assert "Why is 'Erasure.' one?" in second


def test_a_task_whose_code_fails_is_told_in_a_sentence(genaipa, server):
    """Its exception, file and line, and no traceback: before the run, after a reply, and in reading one."""
    text = Path("own_task.py").read_text()
    broken = {
        "return (self._ask(item) for item in ITEMS)": 'return {}["items"]',
        'settings={"max_tokens": 10})': 'settings={"max_tokens": 10})\n        raise OSError("gone")',
        'return PredictionAndScore(said, float(said == str(ITEMS[call.coordinates["item"]][2])))': (
            "return PredictionAndScore(said, 1 / 0)"
        ),
    }
    said = ("KeyError: 'items'", "OSError: gone", "ZeroDivisionError: division by zero")
    for (right, wrong), error in zip(broken.items(), said, strict=True):
        assert right in text
        name = f"own_{error[:3].lower()}"
        write(f"{name}.py", text.replace(right, wrong))
        line = 1 + next(n for n, line in enumerate(Path(f"{name}.py").read_text().splitlines()) if wrong[-9:] in line)
        for option in ("--new", "--dry-run", "--estimate"):
            done = genaipa(*RUN[:-1], f"{name}:Retention", option)
            if option != "--new" and error.startswith("Zero"):
                assert done.code == 0, done.err
                continue
            assert (done.code, done.err.splitlines()[-1]) == (
                1,
                f"genaipa: task '{name}:Retention' failed: {error} ({name}.py, line {line}).",
            )


def test_the_time_that_a_run_took_has_what_was_learnt_first_in_it(genaipa: Any) -> None:
    """A task that takes a moment before anything is asked: the run took at least that long."""
    Path("learning.py").write_text(
        "import time\n"
        "from own_task import Retention\n"
        "class Learning(Retention):\n"
        "    def count_planned_answers(self):\n"
        "        time.sleep(0.3)\n"
        "        return super().count_planned_answers()\n"
    )
    done = genaipa("run", "--system", "scripted", "--task", "learning:Learning", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["elapsed"] >= 0.3
