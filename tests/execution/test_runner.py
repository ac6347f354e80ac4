"""A run against a real server: what it receives, in which order, and what is kept of it."""

from __future__ import annotations

import asyncio
import subprocess
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from running import (
    SYSTEM,
    answers,
    carry_out,
    last_messages,
    latest,
    lines_of,
    make_workspace,
    messages,
    procedure,
    spec,
    write,
)
from servers import Behaviour, OpenAIServer, Request, cut, refusal, reply

from genaipa.errors import RunBusyError
from genaipa.execution.limits import RunLimits
from genaipa.execution.observer import Observer
from genaipa.execution.prepare import find_source_commit_and_whether_changed, prepare_run
from genaipa.execution.run import carry_out_run as ask_missing
from genaipa.policies.document import split_by_token_limit
from genaipa.runs import journal
from genaipa.runs.inputs import NO_WORDS
from genaipa.runs.procedure import assert_procedure_run_and_get_plan
from genaipa.systems.costs import make_estimating_token_counter
from genaipa.tasks.procedure import (
    Procedure,
    Script,
    list_messages_and_acknowledgements,
    shuffled_question_order_within_limit,
)
from genaipa.tasks.request import RunRequest
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

from genaipa.runs.records import Record, RunSpec

Dialogue = list[dict[str, str]]


class TimedServer(OpenAIServer):
    """A server that writes down, in order, when a call begins and ends: ("begin", its messages), ("end", the same)."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.events: list[tuple[str, Dialogue]] = []

    async def _called(self, request: Request, behaviour: Behaviour) -> tuple[int, dict[str, str], bytes] | None:
        self.events.append(("begin", messages(request)))
        try:
            return await super()._called(request, behaviour)
        finally:
            self.events.append(("end", messages(request)))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TimedServer]:
    """A server that answers everything; tests may give it a script."""
    with TimedServer(models=("m",), latency=0.01) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        yield running


def expected_script(plan: RunSpec) -> Script:
    """The messages of the first document, cut as for the system."""
    material = Procedure(plan, find_workspace())
    document = material.documents[plan.plan.documents[0]]
    parts = tuple(
        split_by_token_limit(
            document, assert_procedure_run_and_get_plan(plan).part_tokens or 2000, make_estimating_token_counter().count
        )
    )
    return Script(document, parts, material.questions[document.name], material.prompts["guided"])


def dialogue(script: Script, introduction: Any) -> Dialogue:
    """An introduction as a server receives it."""
    return [{"role": m.role, "content": m.content} for m in list_messages_and_acknowledgements(introduction)]


def replied(asked: str) -> str:
    """The server's own reply to a message."""
    return f"You asked: {asked[:80]}"


def test_the_checkout_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its commit, and whether it was changed when the process first looked; a wheel and an empty one have none."""

    def run_from(name: str, *commands: tuple[str, ...]) -> Path:
        root = tmp_path / name
        root.mkdir()
        for command in commands:
            subprocess.run(["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a", *command], check=True)
        monkeypatch.setattr("genaipa.__file__", str(root / "genaipa" / "__init__.py"))
        return root

    init, commit = ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "x")
    run_from("wheel")
    assert find_source_commit_and_whether_changed() == (None, None)
    run_from("empty", init)
    assert find_source_commit_and_whether_changed() == (None, False)
    clean = run_from("clean", init, commit)
    command = ["git", "-C", clean, "rev-parse", "HEAD"]
    head = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    assert find_source_commit_and_whether_changed() == (head, False)
    (clean / "new").touch()
    assert find_source_commit_and_whether_changed() == (head, False), "the code that runs is the one that was loaded"
    (run_from("changed", init, commit) / "new").touch()
    assert find_source_commit_and_whether_changed()[1] is True


def test_shared_conversation_grows(server: TimedServer) -> None:
    """Each question follows on the introduction, all questions before it and the replies to them."""
    make_workspace()
    plan = spec()
    carry_out(plan)
    script = expected_script(plan)
    history = dialogue(script, script.introduction_steps("document"))
    assert len(script.parts) == 2
    order = shuffled_question_order_within_limit(plan, "acme", 1, script.questions)
    assert len(server.requests) == len(order) == 4
    for request, question in zip(server.requests, order, strict=True):
        asked = script.question_message(question, "original").content
        history.append({"role": "user", "content": asked})
        assert messages(request) == history
        history.append({"role": "assistant", "content": replied(asked)})


def test_independent_questions_branch(server: TimedServer) -> None:
    """Each question follows on the introduction alone."""
    make_workspace()
    plan = spec(conversation="independent")
    carry_out(plan)
    script = expected_script(plan)
    introduction = dialogue(script, script.introduction_steps("document"))
    assert [messages(request)[:-1] for request in server.requests] == [introduction] * 4
    assert sorted(last_messages(server)) == [f"Question {n} on Acme?" for n in range(1, 5)]


def test_summary_conversations_reset(server: TimedServer) -> None:
    """The summary is asked for in one conversation; the questions follow in another that holds only the summary."""
    server.script = [reply("It says: be good.")]
    make_workspace()
    plan = spec(initializations=("summary-of-document",))
    carry_out(plan)
    script = expected_script(plan)
    first, *others = server.requests
    request = {"role": "user", "content": script.summary_request_message("summary-of-document").content}
    assert messages(first) == [*dialogue(script, script.introduction_steps("document")), request]
    introduction = dialogue(script, script.introduction_steps("summary-of-document", "It says: be good."))
    assert len(others) == 4
    for later in others:
        assert messages(later)[:2] == introduction
        assert not any("# ACME Privacy Policy" in m["content"] for m in messages(later))


def test_summary_by_name_shows_nothing_of_the_document(server: TimedServer) -> None:
    """The summary is asked for by the name, in the first message of its conversation."""
    make_workspace()
    carry_out(spec(initializations=("summary-by-name",)))
    assert [m["role"] for m in messages(server.requests[0])] == ["user"]
    assert not any("We collect your name" in str(request.body) for request in server.requests)


def test_same_order_in_all_four_initializations(server: TimedServer) -> None:
    """Every conversation of a repetition asks in the order that the manifest names."""
    make_workspace()
    folder, outcome = carry_out(procedure(repetitions=2, wordings=("original", "paraphrase-1")))
    assert outcome.status == "complete"
    order = folder.manifest().orders
    asked: dict[str, list[str]] = {}
    for record in folder.read_records():
        if record.kind == "answer":
            asked.setdefault(record.conversation, []).append(record.question)
    assert len(asked) == 2 * 4 * 2
    for conversation, questions in asked.items():
        assert tuple(questions) == order[f"acme|{conversation.rpartition('|')[2]}"]


def test_acknowledgements_are_calls_if_wanted(server: TimedServer) -> None:
    """With --acknowledge each part is a call of its own, and what the system said to it stays in the history."""
    make_workspace(questions=2)
    plan = spec(acknowledge=True)
    folder, _ = carry_out(plan)
    script = expected_script(plan)
    steps = script.introduction_steps("document")
    assert last_messages(server)[: len(steps)] == [step.message.content for step in steps]
    assert len(server.requests) == len(steps) + 2
    said = [m["content"] for m in messages(server.requests[-1]) if m["role"] == "assistant"]
    assert said[: len(steps)] == [replied(step.message.content) for step in steps]
    kinds = Counter(record.kind for record in folder.read_records())
    assert kinds == {"acknowledgement": len(steps), "answer": 2}


@pytest.mark.parametrize("mode", ["shared", "independent"])
def test_first_call_of_a_prefix_goes_ahead(server: TimedServer, mode: str) -> None:
    """One call with a document ends before any other with the same document begins; others go on side by side."""
    server.latency = 0.15
    make_workspace(questions=3, documents=("acme", "brook"))

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        asked = body["messages"][2]["content"]

        def are_others_there() -> bool:
            """Whether the other document's first call has come, or after the first a second one about this document."""
            mine = [what for what, said in server.events if said[2]["content"] == asked]
            if "end" not in mine:
                return len({said[2]["content"] for _, said in server.events}) == 2
            return max(accumulate(1 if what == "begin" else -1 for what in mine)) > 1

        return Behaviour(until=are_others_there)

    server.script = behave
    carry_out(spec(documents=("acme", "brook"), conversation=mode, wordings=("original", "paraphrase-1")))
    events = [(what, said[2]["content"]) for what, said in server.events]
    for prefix in {said for _, said in events}:
        mine = [what for what, said in events if said == prefix]
        assert mine[:3] == ["begin", "end", "begin"]
        at_once = list(accumulate(1 if what == "begin" else -1 for what in mine))
        assert max(at_once) > 1, "after the first, calls go side by side"
    assert {events[0][1], events[1][1]} == {said for _, said in events}, "documents don't wait for each other"


def test_a_prefix_is_warmed_by_one_call_even_if_that_fails(server: TimedServer) -> None:
    """A first call that fails lets the others go on."""
    server.script = [Behaviour(status=400, error="too odd"), *[reply("Yes.")] * 9]
    make_workspace()
    folder, outcome = carry_out(spec(conversation="independent"))
    assert outcome.status == "partial"
    assert Counter(r.status for r in latest(folder).values()) == {"failed": 1, "answered": 3}


def test_most_of_the_input_comes_from_the_cache(server: TimedServer) -> None:
    """With the warm-up, every question after the first reads the document from the provider's cache."""
    make_workspace(questions=8)
    folder, outcome = carry_out(spec(conversation="independent"))
    first, *others = folder.read_records()
    assert first.usage is not None
    assert first.usage.cached == 0
    assert all(r.usage is not None and r.usage.cached / r.usage.input > 0.9 for r in others)
    assert outcome.tally.totals().usage == sum((r.usage for r in others if r.usage), start=first.usage)


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_calls_than_connections(server: TimedServer, most: int) -> None:
    """However much could go side by side, the server never sees more than --max-connections."""
    make_workspace(questions=6)
    # The first goes alone; those after it are answered once as many as may are there, however slowly they come.
    server.script = lambda number, _body: Behaviour(until=None if number == 1 else lambda: server.peak >= most)
    carry_out(spec(conversation="independent", repetitions=3), limits=RunLimits(max_connections=most))
    assert server.peak == most
    assert len(server.requests) == 18


def test_repetitions_and_wordings_are_fresh_conversations(server: TimedServer) -> None:
    """No repetition and no wording sees anything of another."""
    make_workspace(questions=2)
    carry_out(spec(initializations=("company-name",), repetitions=2, wordings=("original", "paraphrase-2")))
    longest = [messages(r) for r in server.requests if len(messages(r)) == 2 + 3]
    assert len(longest) == 4
    for said in longest:
        asked = {m["content"][0] for m in said[2:] if m["role"] == "user"}
        assert len(asked) == 1, "a conversation asks in one wording"


def test_what_a_record_says(server: TimedServer) -> None:
    """The record holds the reply and the facts about it: model as served, settings as sent, tokens, tries."""
    server.script = [reply("Yes (Section 2).")]
    make_workspace(questions=1)
    folder, _ = carry_out(spec(temperature=0.0, max_tokens=100, sampling_seed=5))
    (record,) = folder.read_records()
    facts = {name: getattr(record, name) for name in ("status", "reply", "finish", "model", "attempts", "turn", "sent")}
    assert facts == {
        "status": "answered",
        "reply": "Yes (Section 2).",
        "finish": "stop",
        "model": "m-2024-08-06",
        "attempts": 1,
        "turn": 1,
        "sent": {"temperature": 0.0, "seed": 5, "max_tokens": 100},
    }
    assert record.key == f"{SYSTEM}|acme|document|original|1|Q1"
    assert record.usage is not None
    assert record.usage.output == 4
    system = folder.manifest().systems[SYSTEM]
    assert (system.model, system.served, system.sent) == (SYSTEM, ["m-2024-08-06"], record.sent)


def test_cut_and_refused_replies_are_kept(server: TimedServer) -> None:
    """They are records with their own status, count as answered, and the conversation goes on with their text."""
    server.script = [cut("The policy says"), refusal("I can't help."), reply("Yes.")]
    make_workspace(questions=3)
    folder, outcome = carry_out(spec())
    kept = list(folder.read_records())
    assert [(r.status, r.reply, r.error) for r in kept] == [
        ("truncated", "The policy says", None),
        ("refused", "I can't help.", None),
        ("answered", "Yes.", None),
    ]
    assert outcome.status == "complete"
    assert {"role": "assistant", "content": "I can't help."} in messages(server.requests[-1])


def test_reply_without_text_has_a_stand_in(server: TimedServer) -> None:
    """A reply that was cut before its first word is kept as it is; the history shows that nothing was said."""
    server.script = [cut(""), reply("Yes.")]
    make_workspace(questions=2)
    folder, outcome = carry_out(spec())
    assert [r.reply for r in folder.read_records()] == ["", "Yes."]
    assert messages(server.requests[1])[-2] == {"role": "assistant", "content": "(no answer)"}
    assert outcome.status == "complete"


def test_half_a_character_is_kept_as_its_stand_in(server: TimedServer) -> None:
    """A reply that is cut within an emoji can't be written as it is; it is kept with a replacement character."""
    body = b'{"choices": [{"message": {"content": "Yes \\ud83d"}, "finish_reason": "stop"}], "model": "m"}'
    server.script = [Behaviour(body=body)]
    make_workspace(questions=2)
    folder, outcome = carry_out(spec())
    assert next(folder.read_records()).reply == "Yes �"
    assert outcome.status == "complete"


def test_conversation_ends_with_its_first_failure(server: TimedServer) -> None:
    """What would follow a failed turn in a shared conversation is not asked out of order; another run goes on there."""
    server.script = [reply("Yes."), Behaviour(status=400, error="too odd")]
    make_workspace(questions=4)
    plan = spec()
    folder, outcome = carry_out(plan)
    assert outcome.status == "partial"
    assert [r.status for r in folder.read_records()] == ["answered", "failed"]
    server.requests.clear()
    server.script = ()
    _, outcome = carry_out(plan, folder)
    assert outcome.status == "complete"
    order = folder.manifest().orders["acme|1"]
    assert last_messages(server) == [f"Question {q[1:]} on Acme?" for q in order[1:]]
    assert {"role": "assistant", "content": "Yes."} in messages(server.requests[0])
    assert len(answers(folder)) == 4


def test_resume_uses_the_summary_that_was_written(server: TimedServer) -> None:
    """A summary is not written a second time; its text comes from the record."""
    server.script = [reply("THE SUMMARY"), Behaviour(status=400, error="too odd")]
    make_workspace(questions=2)
    plan = spec(initializations=("summary-of-document",))
    folder, _ = carry_out(plan)
    server.requests.clear()
    server.script = ()
    carry_out(plan, folder)
    assert len(server.requests) == 2
    assert all("THE SUMMARY" in messages(request)[0]["content"] for request in server.requests)


@pytest.mark.parametrize("mode", ["shared", "independent"])
@pytest.mark.parametrize("initialization", ["document", "summary-of-document"])
def test_resume_goes_on_with_the_introduction_that_was_sent(
    server: TimedServer, mode: str, initialization: str
) -> None:
    """A conversation that was begun keeps its parts, although the document would be cut in another way by now."""
    server.script = lambda number, _body: Behaviour(status=400, error="no") if number in (1, 3) else Behaviour()
    make_workspace(questions=4)
    plan = spec(initializations=(initialization,), conversation=mode)
    folder, outcome = carry_out(plan)
    assert outcome.status == "partial"
    before = {str(messages(request)[:3]) for request in server.requests}
    server.requests.clear()
    server.script = ()
    _, outcome = carry_out(spec(initializations=(initialization,), conversation=mode, part_tokens=1000), folder)
    assert outcome.status == "complete"
    assert str(messages(server.requests[0])[:3]) in before


def test_failed_summary_asks_no_questions(server: TimedServer) -> None:
    """Without a summary there is nothing to question; the other initializations go on."""
    server.script = lambda _number, body: (
        Behaviour(status=400, error="no") if "Write a summary" in body["messages"][-1]["content"] else Behaviour()
    )
    make_workspace(questions=2)
    folder, outcome = carry_out(spec(initializations=("document", "summary-by-name")))
    assert outcome.status == "partial"
    assert Counter((r.coordinates["initialization"], r.kind, r.status) for r in folder.read_records()) == {
        ("document", "answer", "answered"): 2,
        ("summary-by-name", "summary", "failed"): 1,
    }


def test_complete_run_asks_nothing(server: TimedServer) -> None:
    """Carried out again, a complete run makes no call and stays as it is."""
    make_workspace()
    plan = procedure()
    folder, _ = carry_out(plan)
    before = (folder.path / "answers.jsonl").read_bytes()
    server.requests.clear()
    _, outcome = carry_out(plan, folder)
    assert (outcome.status, server.requests) == ("complete", [])
    assert (folder.path / "answers.jsonl").read_bytes() == before


def test_conversations_are_kept_before_they_are_asked(server: TimedServer) -> None:
    """Each conversation is recorded once, with its introduction stored once by its digest."""
    make_workspace(questions=2)
    folder, _ = carry_out(procedure(repetitions=2))
    listed = lines_of(folder.path / "conversations.jsonl")
    # Four initializations and two summaries, twice.
    assert len(listed) == len({c["id"] for c in listed}) == 12
    stored = {path.stem for path in (folder.path / "introductions").iterdir()}
    assert stored == {c["introduction"] for c in listed}
    by_document = {c["introduction"] for c in listed if c["id"].startswith(f"{SYSTEM}|acme|document|")}
    assert len(by_document) == 1


def test_prices_are_counted(server: TimedServer) -> None:
    """With a price in the catalog each record has its cost, and the totals their sum."""
    make_workspace(questions=3)
    write(
        "systems.yaml",
        f"systems:\n  mine: {{system: {SYSTEM}, price: {{input: 1000000, output: 2000000, as_of: '2026-01-01'}}}}\n",
    )
    folder, outcome = carry_out(spec(systems=("mine",)))
    costs = [(r.cost, r.usage) for r in folder.read_records()]
    assert all(usage is not None and cost == usage.input + 2 * usage.output for cost, usage in costs)
    assert outcome.tally.totals().cost == sum(cost or 0 for cost, _ in costs)
    assert folder.manifest().systems["mine"].price == "catalog, 2026-01-01"


def test_cap_holds_without_counts(server: TimedServer) -> None:
    """A server that reports no tokens is taken to cost what was set aside, so that a cap still ends the run."""
    make_workspace(questions=3)
    write(
        "systems.yaml",
        f"systems:\n  mine: {{system: {SYSTEM}, price: {{input: 1000000, output: 1, as_of: '2026-01-01'}}}}\n",
    )
    body = b'{"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}], "model": "m"}'
    server.script = lambda _number, _body: Behaviour(body=body)
    plan = spec(systems=("mine",), initializations=("company-name",))
    folder, outcome = carry_out(plan, limits=RunLimits(max_cost=300))
    assert outcome.status == "capped"
    assert [bool(record.cost) for record in folder.read_records()] == [True] * len(server.requests)
    asked = len(server.requests)
    assert 0 < asked < 3
    _, outcome = carry_out(plan, folder, RunLimits(max_cost=300))
    assert outcome.status == "capped"
    assert len(server.requests) == asked


def test_records_survive_a_round_trip(server: TimedServer) -> None:
    """What is read back is what was written, field by field."""
    make_workspace()
    folder, _ = carry_out(procedure())
    raw = (folder.path / "answers.jsonl").read_bytes().splitlines()
    again: list[Record] = list(folder.read_records())
    assert [journal.encode_record_line(record).rstrip() for record in again] == raw


def test_systems_run_side_by_side(server: TimedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow system holds no other up: both are under way at once."""
    with TimedServer(models=("m",), latency=0.01) as other:
        monkeypatch.setenv("OTHER_BASE_URL", other.url)
        make_workspace(questions=2)
        # The slow one answers once the other's answers are on disk.
        kept = find_workspace().runs
        server.script = lambda _number, _body: Behaviour(
            until=lambda: any(
                path.read_text().count('"openai-api/other/m"') > 1 for path in kept.glob("*/answers.jsonl")
            )
        )
        plan = spec(systems=(SYSTEM, "openai-api/other/m"))
        folder, outcome = carry_out(plan)
    assert outcome.status == "complete"
    assert [r.system for r in folder.read_records()] == ["openai-api/other/m"] * 2 + [SYSTEM] * 2


def test_the_cap_stops_only_what_costs_money(server: TimedServer) -> None:
    """When the cap leaves nothing for one system, another that costs nothing goes on to its end."""
    make_workspace(questions=4)
    write(
        "systems.yaml",
        f"systems:\n  paid: {{system: {SYSTEM}, price: {{input: 1000000, output: 1, as_of: '2026-01-01'}}}}\n",
    )
    plan = spec(systems=("paid", "scripted"), initializations=("company-name",))
    folder, outcome = carry_out(plan, limits=RunLimits(max_cost=1))
    assert outcome.status == "capped"
    assert Counter(r.system for r in folder.read_records()) == {"scripted": 4}
    assert all(line["system"] == "scripted" for line in lines_of(folder.path / "conversations.jsonl")[1:])


def test_more_cached_than_sent_is_priced(server: TimedServer) -> None:
    """A server that counts cached tokens beside the input, not in it, costs no answer."""
    server.script = lambda _number, _body: reply("Yes.", cached=100_000)
    make_workspace(questions=1)
    write(
        "systems.yaml",
        f"systems:\n  mine: {{system: {SYSTEM}, price: {{input: 1, output: 1, as_of: '2026-01-01'}}}}\n",
    )
    folder, outcome = carry_out(spec(systems=("mine",)))
    assert outcome.status == "complete"
    assert next(folder.read_records()).cost == pytest.approx(0.1, rel=0.01)


def test_a_failed_summary_is_counted(server: TimedServer) -> None:
    """The closing counts name a summary that could not be had, since no question fails for it."""
    server.script = lambda _number, _body: Behaviour(status=400, error="no")
    make_workspace(questions=2)
    _, outcome = carry_out(spec(initializations=("summary-by-name",)))
    row = outcome.tally.get_or_add_row(SYSTEM, "summary-by-name")
    assert (row.failed_steps, row.status["failed"], row.missing_count) == (1, 0, 2)


def test_a_summary_without_words_has_a_stand_in(server: TimedServer) -> None:
    """Questions that start from a summary of which nothing came are told so."""
    server.script = [cut("")]
    make_workspace(questions=1)
    carry_out(spec(initializations=("summary-by-name",)))
    assert NO_WORDS in messages(server.requests[-1])[0]["content"]


def test_the_same_command_at_the_same_instant_is_one_run() -> None:
    """Two that prepare the same plan before either has begun share its folder: one asks, the other is told so."""
    workspace = make_workspace(questions=2)
    request = RunRequest(("extractive",), ("acme",), plan={"experiment": "quality"})
    first, second, anew = (
        prepare_run(workspace, msgspec.structs.replace(request, new=new), Observer()) for new in (False, False, True)
    )
    assert (
        first.open_or_create_folder().path == second.open_or_create_folder().path != anew.open_or_create_folder().path
    )
    with (
        first.open_or_create_folder().hold_for_writing_and_list_repairs(),
        pytest.raises(RunBusyError, match="another process is using"),
    ):
        asyncio.run(ask_missing(second))
    assert asyncio.run(ask_missing(first)).status == "complete"
    assert len(list(workspace.runs.glob("[!.]*"))) == 2


def test_a_call_that_takes_no_time_was_timed() -> None:
    """A script's replies come at once, and reports take 0 for a time that nobody measured."""
    make_workspace(questions=4)
    write("kind.yaml", "default: Yes.\n")
    records = [*carry_out(spec(systems=("scripted/kind.yaml",)))[0].read_records()]
    assert records
    assert min(record.seconds for record in records) > 0
