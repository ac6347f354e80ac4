"""Web chats driven by hand: sheets out, replies back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

MARK = re.compile(r"@@@@@ message (\d+) · (\(.*?\)|\S+) · ")


def fill(path: Path, only=lambda _question: True, say="The reply to {}.\n\nSee Section 2.") -> int:
    """Paste a reply under each question's line of a fill-in file that has none yet, as a person would."""
    lines, filled = path.read_text().split("\n"), 0
    written = []
    for index, line in enumerate(lines):
        written.append(line)
        mark = MARK.match(line)
        if mark and only(mark.group(2)) and not any(lines[index + 1 : index + 3]):
            written.append(say.format(mark.group(2)))
            filled += 1
    path.write_text("\n".join(written))
    return filled


def the_run() -> Path:
    """The only run folder here."""
    (run,) = Path("runs").iterdir()
    return run


def answers(run: Path) -> list[dict]:
    """The records of a run."""
    return [json.loads(line) for line in (run / "answers.jsonl").read_text().splitlines()]


def test_recall_by_hand_is_complete_when_all_replies_are_in(genaipa):
    """Sheets filled at once and collected make a complete run, whose answers are the replies as pasted."""
    begun = genaipa("run", "--system", "manual/bing-chat", "--policy", "brindlecart", "--experiment", "recall")
    assert begun.code == 3, begun.err
    (replies,) = (the_run() / "sheets").glob("*.replies.txt")
    assert fill(replies) == 32
    collected = genaipa("collect", "latest")
    assert collected.code == 0, collected.err
    assert "32 replies recorded" in collected.out
    records = answers(the_run())
    assert len(records) == len({r["key"] for r in records}) == 32
    assert all(r["reply"] == f"The reply to {r['coordinates']['question']}.\n\nSee Section 2." for r in records)
    assert json.loads((the_run() / "manifest.json").read_text())["status"] == "complete"
    again = genaipa("collect", "latest")
    assert again.code == 0
    assert "0 replies recorded; already recorded: 32" in again.out
    assert len(answers(the_run())) == 32


def test_the_sheet_holds_the_very_messages_in_order(genaipa):
    """What is to be pasted is what --dry-run prints for the conversation."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-i", "document", "--limit", "3")
    (sheet,) = (the_run() / "sheets").glob("*.messages.txt")
    pasted = [part.strip() for part in re.split(r"-{20} message .* -{20}\n", sheet.read_text())[1:]]
    shown = genaipa(
        "run", "-s", "manual/chat", "-p", "brindlecart", "-i", "document", "--limit", "3", "--dry-run", "--json"
    )
    (conversation,) = json.loads(shown.out)
    assert pasted == [m["content"] for m in conversation["messages"] if m["role"] == "user"]


def test_replies_come_in_any_order_and_number(genaipa):
    """The last question's reply is kept before the first one's, and nothing is kept twice."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-e", "recall", "--limit", "4")
    order = json.loads((the_run() / "manifest.json").read_text())["orders"]["brindlecart|1"]
    (replies,) = (the_run() / "sheets").glob("*.replies.txt")
    fill(replies, lambda question: question == order[3])
    assert genaipa("collect", "latest").code == 3
    fill(replies, lambda question: question in order[:2])
    assert genaipa("collect", "latest").code == 3
    fill(replies)
    assert genaipa("collect", "latest").code == 0
    assert [r["coordinates"]["question"] for r in answers(the_run())] == [order[3], order[0], order[1], order[2]]
    assert [r["turn"] for r in answers(the_run())] == [4, 1, 2, 3]


def test_the_summary_comes_before_the_sheet_that_starts_from_it(genaipa):
    """The second chat's sheet appears once the summary is in, and carries it."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-e", "summary", "--limit", "2")
    sheets = the_run() / "sheets"
    (replies,) = sheets.glob("*.replies.txt")
    fill(replies, say="In short: {} says little.")
    collected = genaipa("collect", "latest")
    assert collected.code == 3
    (sheet,) = sheets.glob("02-*.messages.txt")
    assert "In short: (summary) says little." in sheet.read_text()
    fill(next(sheets.glob("02-*.replies.txt")))
    assert genaipa("collect", "latest").code == 0
    shown = genaipa("show", "latest", "(summary)")
    assert "Write a summary" in shown.out
    assert "In short: (summary) says little." in shown.out


def test_a_changed_reply_needs_replace(genaipa):
    """Another text for a kept answer is named and left out, until --replace puts it in its place."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-e", "recall", "--limit", "1")
    (replies,) = (the_run() / "sheets").glob("*.replies.txt")
    fill(replies)
    genaipa("collect", "latest")
    replies.write_text(replies.read_text().replace("The reply", "Another reply"))
    refused = genaipa("collect", "latest")
    assert "a different reply is already stored" in refused.out
    assert len(answers(the_run())) == 1
    assert genaipa("collect", "latest", "--replace").code == 0
    assert answers(the_run())[-1]["reply"].startswith("Another reply")
    assert "Another reply" in genaipa("show", "latest", answers(the_run())[0]["coordinates"]["question"]).out


def test_replies_from_the_terminal(genaipa):
    """Replies typed one after another, each ended by a full stop on a line of its own, are kept at once."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-e", "recall", "--limit", "3")
    first = genaipa("collect", "latest", "--terminal", stdin="One.\nTwo lines.\n.\n\n.\n")
    assert first.code == 3
    assert [r["reply"] for r in answers(the_run())] == ["One.\nTwo lines."]
    assert genaipa("collect", "latest", "-t", stdin="B\n.\nC").code == 0
    assert [r["reply"] for r in answers(the_run())] == ["One.\nTwo lines.", "B", "C"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text.split("\n", 1)[1], "not a fill-in file"),
        (lambda text: text.replace("|recall", "|x").replace("company-name", "nowhere"), "does not belong to"),
        (lambda text: re.sub(r"· \S+ ·", "· T_f9 ·", text, count=1), "no question 'T_f9'"),
        (lambda text: re.sub(r"@@@@@ message 3", "@@@@@  message 3", text), "was changed; restore it"),
        (lambda text: re.sub(r"@@@@@ message 3 .*", "@@@ message 3", text), "is missing; restore it"),
        (lambda text: text.replace("\n\n@@@@@", "\nAnswer.\n@@@@@", 1), "above the first question's line"),
    ],
)
def test_a_damaged_file_is_named_and_nothing_is_taken(genaipa, damage, sentence):
    """A fill-in file that was damaged gives one sentence naming it, and no record."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-e", "recall", "--limit", "2")
    (replies,) = (the_run() / "sheets").glob("*.replies.txt")
    fill(replies)
    replies.write_text(damage(replies.read_text()))
    collected = genaipa("collect", "latest")
    assert collected.code == 2
    assert sentence in collected.err
    assert replies.name in collected.err
    assert not (the_run() / "answers.jsonl").exists() or not answers(the_run())


def test_the_terminal_goes_on_in_the_chat_that_was_begun(genaipa):
    """After a pause a shared chat is gone on with, not begun anew in the middle."""
    genaipa("run", "-s", "manual/chat", "-p", "brindlecart", "-e", "recall", "--limit", "2")
    begun = genaipa("collect", "latest", "-t", stdin="A\n.\n\n.\n")
    assert "open a new chat" in begun.err
    gone_on = genaipa("collect", "latest", "-t", stdin="B\n.\n")
    assert "open a new chat" not in gone_on.err
    assert f"continue in the chat in which you asked {answers(the_run())[0]['coordinates']['question']}" in gone_on.err


def test_collect_wants_a_run_by_hand(genaipa):
    """A run that asked an API or the baseline has nothing to collect, and says how to go on instead."""
    genaipa("run", "-s", "extractive", "-p", "brindlecart", "-e", "recall", "--limit", "1")
    refused = genaipa("collect", "latest")
    assert refused.code == 1
    assert "no system that is driven by hand" in refused.err
