"""Calls whose messages a task works out while it runs: in a thread, beside the other systems."""

from __future__ import annotations

from pathlib import Path

from running import lines_of, write

# Each text of the first system waits until every answer of the second is on disk.
TASK = """
import functools, pathlib, time
from genaipa.systems.base import BuiltinSystem, Message, Reply
from genaipa.tasks.base import Call, Task

class Echo(BuiltinSystem):
    def __init__(self):
        super().__init__(name="echo")

    async def reply_to_last_message(self, messages, settings):
        return Reply(messages[-1].carries or "nothing")

class Plain(Echo):
    pass

def records():
    (answers,) = pathlib.Path("runs").glob("*/answers.jsonl")
    return answers.read_text().count('"system":"own:Plain"')

class Slow(Task):
    def count_planned_answers(self):
        return 20

    def dialogues(self, target):
        for number in range(20):
            work = functools.partial(self.work, number) if target.name == "own:Echo" else None
            yield self.ask(Call({"item": str(number)}, [Message("user", "?")], compute=work))

    def ask(self, call):
        yield call

    def work(self, number, say):
        say(f"working on {number}")
        end = time.monotonic() + 20
        while records() < 20 and time.monotonic() < end:
            time.sleep(0.01)
        if number == FAILS:
            raise ValueError("no text")
        return f"{number} after {records()}"
"""


def test_others_are_asked_meanwhile(genaipa):
    """Texts that are worked out wait for all answers of another system, which come; each is said to be under way."""
    write("own.py", TASK.replace("FAILS", "-1"))
    done = genaipa("run", "--system", "own:Echo,own:Plain", "--task", "own:Slow")
    assert done.code == 0, done
    (folder,) = Path("runs").iterdir()
    said = {
        r["coordinates"]["item"]: r["reply"] for r in lines_of(folder / "answers.jsonl") if r["system"] == "own:Echo"
    }
    assert said == {str(number): f"{number} after 20" for number in range(20)}
    assert [f"own:Echo: working on {number}" in done.err for number in range(20)] == [True] * 20


def test_a_failure_names_the_line(genaipa):
    """Code of a user's own that fails there ends the run with a sentence, and what is in stays."""
    write("own.py", TASK.replace("FAILS", "3"))
    done = genaipa("run", "--system", "own:Echo,own:Plain", "--task", "own:Slow")
    assert done.code == 1
    assert "task 'own:Slow' failed: ValueError: no text (own.py, line" in done.err
    (folder,) = Path("runs").iterdir()
    assert len(lines_of(folder / "answers.jsonl")) >= 20
