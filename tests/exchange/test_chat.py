"""Chats as runs: what a person read becomes an answer where the message asks a question, and nothing else is kept."""

from __future__ import annotations

import json
import re
import textwrap
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import call
from running import TEXT, make_workspace, write

from genaipa.answers.gather import gather_study
from genaipa.errors import UsageError
from genaipa.reports.throughput import group_timed_calls_by_system
from genaipa.runs.folder import RunFolder
from genaipa.runs.inputs import load_conversation_through_reply
from genaipa.runs.integrity import find_damage_in_run_folder
from genaipa.runs.selection import list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.tasks.prompts import map_prompt_sets_to_labels
from genaipa.workspace import find_workspace
from genaipa_exchange.assistant_exports import extract_html_reply_text
from genaipa_exchange.chat_import import import_chats
from genaipa_exchange.chat_options import ChatOptions
from genaipa_exchange.incoming import Incoming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.runs.records import Record
    from genaipa_exchange.incoming import ImportSummary

POLICY = TEXT
ASKED = "Question {} on Acme?".format
PRIVATE = "My landlord called"


def bring(*files: str, **options: Any) -> ImportSummary:
    """Import files of chats."""
    return import_chats([Path(file) for file in files], Incoming(find_workspace(), chats=ChatOptions(**options)))


def records() -> list[Record]:
    """All answers of the workspace, in the order in which they were asked."""
    every = (record for path in sorted(Path("runs").iterdir()) for record in RunFolder(path).read_records())
    return sorted(every, key=lambda record: (record.started, record.key))


def written() -> str:
    """Everything that imports have written."""
    return "".join(path.read_text() for path in Path("runs").rglob("*") if path.is_file())


def dump(path: str, content: Any) -> str:
    """Write JSON, or a line of it for each item of a path that says so."""
    lines = path.endswith(".jsonl")
    write(path, "".join(json.dumps(item) + "\n" for item in content) if lines else json.dumps(content))
    return path


def tree(*messages: dict[str, Any], aside: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    """A conversation as ChatGPT exports it: its messages on the branch in view, those `aside` on one that was left."""
    nodes = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    for n, message in enumerate(messages):
        nodes[f"n{n}"] = {"id": f"n{n}", "parent": f"n{n - 1}" if n else "root", "children": [], "message": message}
    for n, message in enumerate(aside):
        nodes[f"left{n}"] = {"id": f"left{n}", "parent": "n0", "children": [], "message": message}
    times = {"create_time": 1750000000.0, "update_time": 1750000900.0}
    return {"title": PRIVATE, "mapping": nodes, "current_node": f"n{len(messages) - 1}", **times}


def said(role: str, text: str, time: float = 1750000000.0, **changes: Any) -> dict[str, Any]:
    """A message of ChatGPT's; `changes` to it, or to its metadata."""
    outer = {key: changes.pop(key) for key in ("recipient", "channel", "content") if key in changes}
    metadata = ({"model_slug": "gpt-5-2"} if role == "assistant" else {}) | changes
    content = {"content_type": "text", "parts": [text]}
    author = {"role": role, "name": None, "metadata": {}}
    shared = {"create_time": time, "status": "finished_successfully", "weight": 1.0, "recipient": "all"}
    return {"id": "x", "author": author, "content": content, "metadata": metadata, **shared, **outer}


def message(n: int, sender: str, text: str, **changes: Any) -> dict[str, Any]:
    """The n-th message of a conversation as Claude exports it."""
    nobody = "00000000-0000-4000-8000-000000000000"
    files: dict[str, Any] = {"attachments": [], "files": []}
    content = [{"type": "text", "text": text, "citations": []}]
    parent = f"m{n - 1}" if n > 1 else nobody
    made = {"uuid": f"m{n}", "parent_message_uuid": parent, "created_at": f"2026-03-01T10:{n:02}:00.123456Z"}
    return {"text": f"flat {text}", "sender": sender, "content": content, **made, **files, **changes}


def line(n: int = 1, **changes: Any) -> dict[str, Any]:
    """A line of one's own."""
    return {"question": ASKED(n), "answer": f"Answer {n}.", "document": "acme", "system": "lab/one", **changes}


def test_what_chatgpt_showed_becomes_a_run() -> None:
    """A download with the policy pasted: two answers in their order, without thoughts, tools, drafts or other chats."""
    make_workspace()
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "hush", "content": "hush"}]}
    recap = {"content_type": "reasoning_recap", "content": "hush for 8 seconds"}
    chat = tree(
        said("system", "hush", is_visually_hidden_from_conversation=True),
        said("user", "", content={"content_type": "user_editable_context", "parts": ["hush"]}),
        said("user", f"Here it is:\n\n{POLICY}\n\n{ASKED(2)}", 1750000100.5),
        said("assistant", "", content=thoughts),
        said("assistant", "", content=recap),
        said("assistant", "hush, I look it up", is_thinking_preamble_message=True),
        said("assistant", "hush", channel="commentary"),
        said("assistant", "hush", is_visually_hidden_from_conversation=True),
        said("assistant", "", content={"content_type": "model_editable_context", "parts": ["hush"]}),
        said("assistant", "hush", recipient="file_search"),
        said("tool", "hush"),
        said(
            "assistant",
            'By section \ue200entity\ue202["part","2","hush"]\ue201 \ue200url\ue202it\ue202hush\ue201 '
            'does.\u30104:1\u2020hush\u3011\ue200image_group\ue202{"query":["hush"]}\ue201\ue200entity\ue202[]\ue201 '
            "\ue200cite\ue202turn0search0\ue201",
        ),
        said("user", ASKED(1), 1750000200.0),
        said("assistant", "It does not say."),
        said("user", PRIVATE, 1750000300.0),
        said("assistant", PRIVATE),
        aside=(said("assistant", "hush, an answer that was made anew"),),
    )
    with zipfile.ZipFile("download.zip", "w") as archive:
        archive.writestr("conversations-000.json", json.dumps([chat]))
        archive.writestr("conversations-001.json", json.dumps([tree(said("user", PRIVATE), said("assistant", "Oh."))]))
        archive.writestr("user.json", "{}")
        archive.writestr("chat.html", PRIVATE)
        archive.writestr("../../conversations.json", "[]")
    taken = bring("download.zip")
    assert taken.answers == 2
    (folder,) = list_run_folders_oldest_first(find_workspace())
    assert map_prompt_sets_to_labels(folder.manifest()) == {"": "unknown"}, "no study published them"
    assert "not imported: 2 of 4 messages" in taken.notes
    first, second = records()
    assert [first.reply, second.reply] == ["By section 2 it does.", "It does not say."]
    assert [first.asked, second.asked] == [ASKED(2), ASKED(1)]
    assert [(record.turn, record.started) for record in (first, second)] == [
        (1, "2025-06-15T15:08:20.500Z"),
        (2, "2025-06-15T15:10:00.000Z"),
    ]
    assert first.system == "chatgpt/gpt-5-2"
    assert first.cost is first.usage is None
    (path,) = Path("runs").iterdir()
    (conversation,) = RunFolder(path).read_conversations()
    assert conversation.order == ("Q2", "Q1")
    assert conversation.mode == RunFolder(path).manifest().spec.plan.conversation == "shared"  # type: ignore[attr-defined]
    assert [one.content for one in RunFolder(path).read_introduction(conversation.introduction)] == [POLICY]
    assert first.coordinates["initialization"] == "document"
    assert "hush" not in written()
    assert PRIVATE not in written()
    assert not [*find_damage_in_run_folder(RunFolder(path))]
    history = load_conversation_through_reply(
        RunFolder(path), second, RunFolder(path).tally_records_and_map_offsets()[1]
    )
    assert [one.content for one in history] == [POLICY, ASKED(2), first.reply, ASKED(1), second.reply]


def test_what_claude_showed_becomes_a_run() -> None:
    """An attached policy by its text or its name; of blocks the text alone, on the branch that was last in view."""
    make_workspace()
    attached = {"file_name": "pasted.txt", "file_type": "txt", "extracted_content": POLICY}
    blocks = [
        {"type": "thinking", "thinking": "hush"},
        {"type": "text", "text": "One"},
        {"type": "tool_use", "name": "x", "input": {"hush": 1}},
        {"type": "tool_result", "content": [{"type": "text", "text": "hush"}]},
        {"type": "text", "text": "answer."},
    ]
    chat = {
        "uuid": "c",
        "name": PRIVATE,
        "chat_messages": [
            message(1, "human", ASKED(1), attachments=[attached]),
            message(2, "assistant", "", content=blocks),
            message(3, "human", ASKED(2)),
            message(4, "assistant", "hush, on a branch that was left"),
            message(5, "human", ASKED(3), parent_message_uuid="m2"),
            message(6, "assistant", "Last."),
            message(7, "human", ASKED(4)),
            message(8, "assistant", "hush", content=[{"type": "thinking", "thinking": "hush"}]),
        ],
    }
    by_name = [
        message(9, "human", ASKED(1), files=[{"file_name": "C:\\tmp\\ACME.pdf"}]),
        message(10, "assistant", "B."),
    ]
    export = dump("conversations.json", [chat, {"uuid": "d", "chat_messages": by_name, "model": "claude-x"}])
    assert bring(export).answers == 3
    assert [(one.system, one.asked, one.reply) for one in records()] == [
        ("claude", ASKED(1), "One\nanswer."),
        ("claude", ASKED(3), "Last."),
        ("claude/claude-x", ASKED(1), "B."),
    ]
    assert "hush" not in written()
    assert "flat" not in written()


def test_documents_beside_a_chat_are_read() -> None:
    """A canvas and an artifact, in exports of several years; no change within one, and no thoughts of a flat text."""
    make_workspace()

    def canvas(tool: str, **arguments: Any) -> dict[str, Any]:
        content = {"content_type": "code", "language": "json", "text": json.dumps(arguments)}
        return said("assistant", "", recipient=f"canmore.{tool}", content=content)

    def artifact(**arguments: str) -> dict[str, Any]:
        return {"type": "tool_use", "name": "artifacts", "input": arguments}

    trees = [
        tree(said("user", ASKED(n)), call, said("tool", "hush"), said("assistant", "See there."))
        for n, call in enumerate(
            (
                canvas("create_textdoc", name="a", type="document", content="First."),
                canvas("update_textdoc", updates=[{"pattern": ".*", "multiple": False, "replacement": "Anew."}]),
                canvas("update_textdoc", updates=[{"pattern": "hush", "replacement": "hush"}]),
                said("assistant", "", recipient="canmore.create_textdoc"),
            ),
            1,
        )
    ]
    bring(dump("conversations.json", trees), policy="acme")
    replies = {one.coordinates["question"]: one.reply for one in records()}
    assert list(replies.values()) == ["First.\n\nSee there.", "Anew.\n\nSee there.", "See there.", "See there."]
    blocks = [
        {"type": "text", "text": "There:"},
        artifact(command="create", content="Written."),
        artifact(command="update", old_str="hush", new_str="hush"),
        {"type": "tool_use", "name": "other", "input": {"content": "hush"}},
    ]
    old = 'A <antThinking>hush</antThinking>b <antArtifact identifier="hush" title="hush">c</antArtifact>'
    turns = [
        message(1, "human", ASKED(1), parent_message_uuid=None),
        message(2, "assistant", "hush, on a branch that was left"),
        message(3, "assistant", "", content=blocks, parent_message_uuid="m1"),
        message(4, "human", ASKED(2), content=[{"type": "voice_note", "title": "hush", "text": ASKED(2)}]),
        message(5, "assistant", "", content=[]) | {"text": old},
    ]
    bring(dump("claude.json", [{"chat_messages": turns}]), policy="acme")
    assert [one.reply for one in records() if one.system == "claude"] == ["There:\nWritten.", "A b c"]
    assert "hush" not in written()


def test_a_reply_that_was_cut_is_told_from_a_whole_one() -> None:
    """By its status or its finish; what came whole after it, on being asked to go on, makes it whole."""
    make_workspace()
    messages = (
        said("user", ASKED(1), 1750000001.0),
        said("assistant", "It may") | {"status": "finished_partial_completion"},
        said("user", ASKED(2), 1750000002.0),
        said("assistant", "It may", finish_details={"type": "max_tokens"}),
        said("user", ASKED(3), 1750000003.0),
        said("assistant", "It may", finish_details={"type": "interrupted"}),
        said("assistant", "not.", finish_details={"type": "stop", "stop": "<|diff_marker|>"}),
    )
    bring(dump("conversations.json", [tree(*messages)]), policy="acme")
    result = {"provider": "p", "prompt": {"raw": ASKED(1)}, "response": {"output": "It", "finishReason": "length"}}
    bring(dump("out.json", {"results": [result]}), policy="acme")
    assert [(one.system, one.status) for one in records()] == [
        ("p", "truncated"),
        ("chatgpt/gpt-5-2", "truncated"),
        ("chatgpt/gpt-5-2", "truncated"),
        ("chatgpt/gpt-5-2", "answered"),
    ]


def test_what_gemini_showed_becomes_a_run() -> None:
    """Its activity, newest first and of other products too, in HTML; a chat ends where nobody asked for a while."""
    make_workspace()

    def activity(minute: int, title: str, html: str = "<p>No.</p>", app: str = "Gemini Apps") -> dict[str, Any]:
        labels = {"header": app, "products": [app]}
        time = f"2026-07-26T{6 + minute // 60:02}:{minute % 60:02}:57.773Z"
        return {"title": title, "time": time, "safeHtmlItem": [{"html": html}], **labels}

    entries = [
        activity(100, f"Prompted {ASKED(1)}", "<p>Later.</p>"),
        activity(
            2, f"Prompted {ASKED(2)}", "<p>It <b>may</b>:</p><ul><li>here</li><li>R&amp;D</li></ul><script>1</script>"
        ),
        activity(1, f"Asked {ASKED(1)}"),
        activity(0, f"Asked {ASKED(3)}", "hush", app="Search"),
        {"header": "Gemini Apps", "title": "Used an extension", "time": "2026-07-26T06:00:00Z"},
    ]
    dump("Takeout/My Activity/Gemini Apps/MyActivity.json", entries)
    assert bring("Takeout", policy="acme").answers == 3
    first, second, third = records()
    assert [first.reply, second.reply, third.reply] == ["No.", "It may:\n\n- here\n- R&D", "Later."]
    assert first.coordinates["initialization"] == "company-name"
    assert (first.repetition, second.repetition, third.repetition) == (1, 1, 2)
    assert (second.turn, third.turn) == (2, 1)
    (path,) = Path("runs").iterdir()
    assert [RunFolder(path).read_introduction(one.introduction) for one in RunFolder(path).read_conversations()] == [
        [],
        [],
    ]
    files = [{"name": "Attached 1 file."}, {"name": "-  Acme.pdf", "url": "acme-1.pdf"}]
    bring(dump("MyActivity.json", [activity(200, f"Prompted {ASKED(4)} Attached 1 file.") | {"subtitles": files}]))
    assert (records()[-1].asked, records()[-1].coordinates["initialization"]) == (ASKED(4), "document")
    turns = [
        {"user_turn": {"prompt": ASKED(4), "turn_index": 0, "turn_last_modified": "2026-09-01T00:00:00Z"}},
        {"system_turn": {"model_thoughts": [{"headline": "hush"}], "text": [{"data": "Workspace."}], "turn_index": 1}},
    ]
    write("Gemini/conversation_1.txt", json.dumps({"title": "t", "conversation_turns": turns}))
    assert bring("Gemini", policy="acme").answers == 1
    assert records()[-1].reply == "Workspace."
    assert "hush" not in written()


def test_words_of_html_alone_are_read() -> None:
    """Neither a script, a comment nor an attribute is what a person read; broken HTML raises nothing."""
    assert (
        extract_html_reply_text('<p title="hush">a<br>b</p><!-- hush --><style>hush</style><p>c &lt;d&gt;')
        == "a\nb\n\nc <d>"
    )
    assert extract_html_reply_text("<<<p>&#x110000;&;</") is not None


def test_half_characters_and_no_numbers_stop_nothing() -> None:
    """A text that a program cut within a character, and NaN, are read; whole characters and backslashes stay."""
    make_workspace()
    fields = r'"document": "acme", "system": "x", "score": NaN, "note": "NaN \ud83d"'
    write("a.jsonl", rf'{{"question": "{ASKED(1)}", "answer": "\ud83d is \\ud83d \ud83d\ude00 NaN", {fields}}}')
    assert bring("a.jsonl").answers == 1
    assert records()[0].reply == "\ufffd is \\ud83d \U0001f600 NaN"


def test_answers_of_other_evaluations_are_taken() -> None:
    """Promptfoo's output of two versions and lm-eval's samples of two, with failures, repeats, filters and NaN."""
    make_workspace()

    def result(n: int, **changes: Any) -> dict[str, Any]:
        texts = {"prompt": {"raw": f"{POLICY}\n{ASKED(n)}", "label": "p"}, "vars": {"q": ASKED(n), "policy": POLICY}}
        fields = {"provider": {"id": "openai:gpt-x", "label": ""}, "promptIdx": 0, "latencyMs": 812, "success": True}
        return {**fields, **texts, "response": {"output": f"Foo {n}."}, "score": 1, "namedScores": {}, **changes}

    results = [result(1), result(1), result(2, response={}, error="429"), result(3, response={"output": {"a": 1}})]
    later = dump(
        "out.json", {"evalId": "e", "results": {"version": 3, "results": results, "prompts": []}, "config": {}}
    )
    assert bring(later).answers == 2
    assert bring(later).answers == 0
    assert [(one.status, one.repetition, one.seconds) for one in records()] == [
        ("answered", 1, 0.812),
        ("failed", 1, 0.812),
        ("answered", 2, 0.812),
    ]
    odd = result(1, provider={"id": "odd"}, promptIdx=None, vars={"q": ASKED(1)})
    wrong = result(2, provider={"id": "odd"}, response={"output": {"a": 1}}, error="Expected a text", failureReason=1)
    assert bring(dump("odd.json", {"results": {"results": [odd, wrong]}}), policy="acme").answers == 1
    with pytest.raises(UsageError, match=r"none of 1 message .* has an answer in text"):
        bring(dump("wrong.json", {"results": {"results": [wrong]}}))
    assert [one.reply for one in records() if one.system == "odd"] == ["Foo 1."]
    earlier = result(4, provider="local", prompt={"raw": json.dumps([{"role": "user", "content": ASKED(4)}])}, vars={})
    assert bring(dump("old.json", {"results": {"version": 2, "results": [earlier]}}), policy="acme").answers == 1

    def sample(n: int, name: str, arguments: Any) -> dict[str, Any]:
        texts = {"doc": {"question": ASKED(n), "document": "acme"}, "target": "yes", "arguments": arguments}
        return {"doc_id": n, **texts, "resps": [[f"Eval {n}.", "Again."]], "filter": name, "score": float("nan")}

    arguments = {"gen_args_0": {"arg_0": ASKED(1), "arg_1": {"until": ["."]}}}
    samples = [sample(1, "none", arguments), sample(1, "strict", arguments), sample(2, "none", [[ASKED(2), {}]])]
    dump("lm/results_2026-03-01T00-00-00.5.json", {"model_name": "meta/llama", "limit": float("nan")})
    assert bring(dump("lm/samples_privacy_2026-03-01T00-00-00.5.jsonl", samples)).answers == 4
    assert [one.reply for one in records() if one.system == "meta/llama"] == ["Eval 1.", "Eval 2.", "Again.", "Again."]


def test_nothing_is_matched_in_silence() -> None:
    """The very words and the same words count; what is only close is shown, and waits for a person to accept it."""
    make_workspace()
    asked = [ASKED(1), "question 2, ON the company", "A question 3 about ACME?", "May I eat at my desk?"]
    dump("a.jsonl", [line(question=text, answer=text) for text in asked])
    shown = bring("a.jsonl")
    assert [row.how for row in shown.matches] == [
        "exact",
        "same words",
        "close, 82 %: not imported",
        "no question is similar",
    ]
    assert shown.answers == 2
    assert "similar to a question, but not imported: 1 message; to import after a check: --accept 82" in shown.notes
    assert bring("a.jsonl", accept=83).answers == 0
    assert bring("a.jsonl", accept=82).answers == 1
    dump("b.jsonl", [line(question="P2b?", answer="P.")])
    bring("b.jsonl")
    assert {one.coordinates["wording"] for one in records()} == {"original", "paraphrase-2"}
    dump("c.jsonl", [line(question=f"{ASKED(1)} And {ASKED(2)}")])
    assert bring("c.jsonl").answers == 0


def test_an_answer_is_taken_once() -> None:
    """Again, a later export with more, both at once: what is here stays alone; repeats of a file are repetitions."""
    make_workspace()
    turns = [
        message(n, "human" if n % 2 else "assistant", ASKED((n + 1) // 2) if n % 2 else "Yes.") for n in range(1, 7)
    ]
    early = dump("early.json", [{"chat_messages": turns[:4]}])
    late = dump("late.json", [{"chat_messages": turns}])
    for files, numbers in (((early,), (2, 0)), ((early,), (0, 2)), ((late,), (1, 2)), ((early, late), (0, 3))):
        taken = bring(*files, policy="acme")
        assert (taken.answers, taken.known) == numbers, files
    dump("a.jsonl", [line(), line(), line(answer="Other.")])
    dump("b.jsonl", [line(repetition=4)])
    for files, numbers in ((("a.jsonl", "a.jsonl"), (3, 0)), (("a.jsonl",), (0, 3)), (("b.jsonl",), (1, 0))):
        taken = bring(*files)
        assert (taken.answers, taken.known) == numbers, files
    assert sorted(one.repetition for one in records() if one.system == "lab/one") == [1, 2, 3, 4]


def test_each_question_in_a_chat_of_its_own_is_one_repetition() -> None:
    """Such chats are independent and fill the first repetition; a chat with several questions has one alone."""
    make_workspace()

    def chat(minute: int, *asked: int) -> dict[str, Any]:
        pairs = [one for n in asked for one in (("human", ASKED(n)), ("assistant", f"{minute}: {n}."))]
        return {"chat_messages": [message(minute + place, *one) for place, one in enumerate(pairs, 1)]}

    def repetitions(system: str, *chats: dict[str, Any]) -> dict[str | None, int]:
        bring(dump(f"{system}.json", chats), policy="acme", system=system)
        return {one.reply: one.repetition for one in records() if one.system == system}

    assert repetitions("single", chat(8, 1), chat(4, 2), chat(0, 1)) == {"0: 1.": 1, "4: 2.": 1, "8: 1.": 2}
    mixed = repetitions("mixed", chat(0, 1), chat(10, 3, 4), chat(20, 2))
    assert mixed == {"0: 1.": 1, "10: 3.": 2, "10: 4.": 2, "20: 2.": 1}
    assert repetitions("first", chat(0, 3, 4), chat(10, 1)) == {"0: 3.": 1, "0: 4.": 1, "10: 1.": 2}
    again = bring(dump("again.json", [chat(0, 1, 2, 1)]), policy="acme", system="again")
    assert again.answers == 2
    assert "1 message repeating a question of the same conversation; the first answer counts" in again.notes
    plans = {path.name: RunFolder(path).manifest().spec.plan for path in Path("runs").iterdir()}
    modes = {name.split("-")[1]: plan.conversation for name, plan in plans.items()}  # type: ignore[attr-defined]
    assert modes == {"single": "independent", "mixed": "shared", "first": "shared", "again": "shared"}


def test_the_document_is_the_one_that_was_shown() -> None:
    """Pasted in parts, or named in the file; of two, the one that the question or the command line names."""
    make_workspace(
        documents=("acme", "brook"),
        text=TEXT + "".join(f"\nACME keeps a log of kind {n} for long.\n" for n in "abcdefgh"),
    )
    texts = {name: Path(f"policies/{name}.md").read_text() for name in ("acme", "brook")}

    def chat(*shown: str, n: int = 1) -> dict[str, Any]:
        messages = [*shown, f"Question {n} on the company?"]
        pairs = [one for text in messages for one in (("human", text), ("assistant", f"ok {n}"))]
        return {"chat_messages": [message(place, *one) for place, one in enumerate(pairs, 1)]}

    half = len(texts["brook"]) // 2
    parts = (texts["brook"][:half], f"And the rest: {texts['brook'][half:]}")
    assert bring(dump("a.json", [chat(*parts), chat("Hello", n=2)])).answers == 1
    assert [one.document for one in records()] == ["brook"]
    for name, shown in (("photo.png", "company-name"), ("terms.pdf", "document")):
        asks = message(1, "human", ASKED(4), files=[{"file_name": name}])
        attached = dump(f"{name}.json", [{"chat_messages": [asks, message(2, "assistant", f"Of {name}.")]}])
        bring(attached, policy="acme")
        assert next(one for one in records() if one.reply == f"Of {name}.").coordinates["initialization"] == shown
    wrapped = "\n".join(textwrap.wrap(" ".join(texts["brook"].split()), 40))
    other = texts["brook"].replace("log", "diary of all users").replace("address", "place")
    words = " ".join(f"anotherlongword{n}" for n in range(80))
    quote = "We deliver your order. We never sell what we know about you. Our couriers see your address on the day"
    chats = [chat(wrapped, n=2), chat(other, n=3), chat(f"{texts['brook']} {words}", n=3)]
    copies = dump("copies.json", [*chats, chat(f"They write: {quote} Is that long? {words[:400]}", n=3)])
    assert [row.matched for row in bring(copies).matches] == ["brook Q2"]
    before = dump("before.json", [chat(f"Question 4 on Brook?\n\n{texts['brook']}", n=1)])
    assert bring(before).answers == 2
    both = dump("b.json", [chat(texts["acme"], texts["brook"], n=3)])
    with pytest.raises(UsageError, match=r"b.json: entry 1: asks Q3 after it showed acme and brook; name the one"):
        bring(both)
    nearly = chat(texts["acme"], texts["brook"], n=3)
    nearly["chat_messages"][-2]["content"][0]["text"] = "A question 3 on the company?"
    taken = bring(dump("d.json", [nearly, chat(texts["brook"])]))
    assert {row.how.partition(",")[0]: row.how.endswith("not imported") for row in taken.matches} == {
        "close": True,
        "exact": False,
    }
    with pytest.raises(UsageError, match="name the one that it is about"):
        bring("d.json", accept=80)
    assert bring(both, policy="brook").answers == 1
    with pytest.raises(UsageError, match="no policy 'bro'"):
        bring("c.jsonl", policy="bro")
    named = chat(texts["acme"], texts["brook"])
    named["chat_messages"][-2]["content"][0]["text"] = "Question 4 on Brook?"
    assert bring(dump("named.json", [named])).answers == 1
    assert [one.document for one in records() if one.asked == "Question 4 on Brook?"] == ["brook"] * 2
    assert bring(dump("c.jsonl", [line(document=texts["acme"]), line(2, document="acme")])).answers == 2


def refusals() -> Iterator[tuple[str, str]]:
    """A file that can't be taken in, and what is said of it."""
    yield (
        dump("a.json", [{"mapping": [1], "current_node": "x"}]),
        "a.json: entry 1: does not have the layout that genaipa knows for",
    )
    yield (
        dump("b.json", [{"turns": []}]),
        "b.json: entry 1: is not in the format of an export that genaipa knows; genaipa can",
    )
    yield str(write("c.html", "<!doctype html><p>chat")), "c.html: is not JSON; ask for the export as JSON"
    yield str(write("p.yaml", "results: []\n")), "p.yaml: is not JSON; genaipa can read exports from ChatGPT"
    yield str(write("d.json", '[{"chat_messages": [{"sender": "human", "te')), "d.json: is damaged, or was cut off ("
    yield dump("e.json", []), "e.json: is empty and holds no chats."
    yield (
        dump("f.jsonl", [line(document=["acme", "brook"])]),
        "f.jsonl: entry 1: does not have the layout that genaipa knows for",
    )
    yield (
        dump("g.jsonl", [line(), line(repetition=10**9)]),
        "g.jsonl: line 2: does not have the layout that genaipa knows for",
    )
    yield dump("h.jsonl", [line(repetition=2), line(answer="x", repetition=2)]), "h.jsonl: line 2: answers what line 1"
    yield dump("i.jsonl", [line(system="")]), "i.jsonl: entry 1: does not name a system; add the key 'system', or"
    yield dump("j.jsonl", [line(document="gone")]), "j.jsonl: entry 1: is about 'gone'; name a folder with its text"
    yield dump("k.jsonl", [line(document="")]), "no conversation shows a document that genaipa has; name the one"
    yield dump("l.jsonl", [line(language="nl")]), "l.jsonl: entry 1: names the language 'nl', in which there is no"
    yield (
        dump("m.jsonl", [{"doc_id": 0, "resps": [[["-1", "False"]]]}, {}]),
        "m.jsonl: line 1: contains likelihoods, not",
    )
    yield str(write("n.json", "[" * 100_000)), "n.json: is damaged, or was cut off (it is nested too deeply)"
    with zipfile.ZipFile("o.zip", "w") as bomb:
        bomb.writestr("conversations.json", "[]")
        bomb.filelist[0].file_size = 2**28
    yield "o.zip", "o.zip: unpacks to more than 256 MB; export fewer conversations, or split the file."
    with zipfile.ZipFile("p.zip", "w") as archive:
        archive.writestr("photos/1.json", "[]")
    yield "p.zip", "p.zip: holds no chats; genaipa can read"


def test_what_can_not_be_taken_in_is_told() -> None:
    """Of another year, in HTML, cut, empty, ambiguous or too large: one sentence, and nothing is written."""
    make_workspace()
    for path, told in refusals():
        with pytest.raises(UsageError) as refused:
            bring(path)
        assert told in str(refused.value), path
    assert not Path("runs").exists()


def test_the_command_shows_what_matched() -> None:
    """A table and the next step; nothing taken is no success; an option of another form is refused."""
    make_workspace()
    done = call("import", "chat", dump("a.jsonl", [line(), line(2, question="Lunch?")]))
    assert done.code == 0
    assert re.search(r"Question 1 on Acme\? +acme Q1 +exact +1\n +Lunch\? +no question is similar +1\n", done.out)
    assert "1 answer read, 1 new.\nRun: chat-lab-one-" in done.out
    nothing = call("import", "chat", dump("b.jsonl", [line(question="Lunch?")]))
    assert (nothing.code, "nothing was imported" in nothing.err) == (2, True)
    assert "--policy is only for chat, not for inspect." in call("import", "inspect", "a.jsonl", "--policy", "acme").err
    assert "There is no file or folder gone.json." in call("import", "chat", "gone.json").err


def test_rates_are_of_calls_with_a_time() -> None:
    """Answers in lines have no start: no rate is made up of them."""
    workspace = make_workspace()
    bring(dump("a.jsonl", [line(1), line(2)]))
    assert (
        group_timed_calls_by_system(gather_study(workspace, select_runs_and_apply_filters(workspace, ()), None)) == {}
    )


@pytest.mark.full
def test_chats_become_a_report() -> None:
    """Answers without a time or a cost are scored in a sheet and reported beside timed ones."""
    make_workspace()
    chats = [{"chat_messages": [message(1, "human", ASKED(1)), message(2, "assistant", "Yes.")]}]
    assert (
        call("import", "chat", dump("a.jsonl", [line(1), line(2)]), dump("c.json", chats), "--policy", "acme").code == 0
    )
    assert "3 answers" in call("scores", "sheet", "lab/one", "claude", "-o", "sheet.xlsx", "--analyst", "Ada").out
    assert "Report:" in call("report", "--formats", "svg").out
