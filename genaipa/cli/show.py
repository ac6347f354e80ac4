"""`genaipa show`: a run, and any answer of it as it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.options import JsonOption, WorkspaceOption, option

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record

_PREVIEW = 72
_LEAST_PREVIEW = 30
_BESIDE = 16
"""Columns that the id of a question takes beside its answer in a narrow terminal."""
_FEW = 12


def show(
    run: Annotated[str, typer.Argument(autocompletion=completion.runs, help="Name of the run, part of it, or latest.")],
    answer: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.answers,
            help="Which answer: a question id, or a key or part of one (see the list).",
        ),
    ] = None,
    whole: Annotated[bool, option("--whole", help="Show the whole conversation before it, as it was sent.")] = False,
    json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Show a run, or an answer of it as it was asked.

    With ANSWER, what was asked and what came back; with --whole, the conversation in which it was given.
    """
    from genaipa.cli import screen
    from genaipa.runs.folder import find_run
    from genaipa.workspace import find_workspace

    folder = find_run(find_workspace(workspace), run)
    if answer is None:
        records = list({record.key: record for record in folder.records()}.values())
        if json:
            screen.print_json({"manifest": folder.manifest(), "answers": records})
        else:
            _print_run(folder, records)
        return
    _, offsets = folder.seen()
    matching = folder.records_at([offsets[key] for key in _matching(list(offsets), answer)])
    if json:
        screen.print_json([{"record": r, "messages": _messages(folder, r, offsets)} for r in matching])
        return
    if len(matching) > _FEW:
        _print_answers(matching)
        screen.show(f"{len(matching)} answers match '{answer}'; write more of a key: {matching[0].key}")
        return
    for record in matching:
        _print_answer(record, _messages(folder, record, offsets) if whole else [])


def _matching(keys: list[str], answer: str) -> list[str]:
    """The keys that a user may mean: that key, those of that question, or those with these parts or this in them."""
    from genaipa.errors import UnknownNameError

    if answer in keys:
        return [answer]
    questions = [key.rpartition("|")[2] for key in keys]
    exact = [key for key, question in zip(keys, questions, strict=True) if question == answer]
    wanted = set(answer.split("|"))
    found = exact or [key for key in keys if wanted <= set(key.split("|"))]
    found = found or [key for key in keys if answer in key]
    if not found:
        raise UnknownNameError("answer", answer, questions)
    return found


def _print_run(folder: RunFolder, records: list[Record]) -> None:
    from genaipa.cli import screen
    from genaipa.cli.closing import print_tally

    manifest, tally = folder.state()
    if lack := folder.lack(manifest, tally.totals().kept):
        screen.say(lack)
    spec = manifest.spec
    begun = f"begun {manifest.created}" if manifest.created else "imported"
    screen.show(f"{folder.name}: {manifest.status}, {begun}, genaipa {manifest.versions['genaipa']}")
    for name, facts in manifest.systems.items():
        served = f", served as {', '.join(facts.served)}" if facts.served else ""
        counted = f"; tokens by {facts.counter}" if facts.counter else ""
        screen.show(f"system {name}: {facts.model}{served}{counted}")
    for name, document in manifest.documents.items():
        screen.show(f"document {name}: {document.title or document.company}, sha256 {document.digest[:12]}")
    screen.show(f"{spec.conversation} conversations, {', '.join(spec.wordings)}, seed {spec.seed}")
    print_tally(tally)
    _print_answers(records)
    if records:
        screen.show(f"One answer as it was asked: genaipa show {folder.name} {records[-1].question}")


def _print_answers(records: list[Record]) -> None:
    from genaipa.cli import screen

    screen.table(
        ("system", "document", "initialization", "wording", "rep.", "question", "status", "reply"),
        [
            (
                r.system,
                r.document,
                r.initialization,
                r.wording,
                r.repetition,
                r.question,
                r.status,
                _short(r.reply if r.reply is not None else r.error.message if r.error else ""),
            )
            for r in records
        ],
        flexible=7,
        under=(3, 4, 1, 0, 2),
    )


def _short(text: str) -> str:
    from genaipa.cli import screen

    flat, room = " ".join(text.split()), max(_LEAST_PREVIEW, min(_PREVIEW, (screen.width() or 2 * _PREVIEW) - _BESIDE))
    return flat if len(flat) <= room else flat[: room - 1] + "…"


def _print_answer(record: Record, conversation: list[dict[str, str]]) -> None:
    """The question and its reply, or else all messages of the conversation, the asked one marked."""
    from genaipa.cli import screen

    screen.show(f"===== {record.key}: {record.status}")
    asked = {"role": "user", "content": record.asked}
    replied = [{"role": "assistant", "content": record.reply}] if record.reply is not None else []
    messages = conversation or [asked, *replied]
    last = len(messages) - len(replied) - 1
    for index, message in enumerate(messages):
        mark = " (asked here)" if conversation and index == last else ""
        screen.show(f"\n--- {message['role']}{mark}\n{screen.printable(message['content'])}")
    if record.error is not None:
        screen.show(f"\n--- no reply ({record.error.kind}): {screen.printable(record.error.message)}")
    facts = [f"{record.seconds} s", f"attempts: {record.attempts}", f"finish: {record.finish or '-'}"]
    if record.model:
        facts.append(f"served by {record.model}")
    if record.usage:
        facts.append(f"{record.usage.input} tokens in ({record.usage.cached} cached), {record.usage.output} out")
    screen.show(f"\n({'; '.join(facts)})\n")


def _messages(folder: RunFolder, record: Record, offsets: dict[str, int]) -> list[dict[str, str]]:
    """The conversation up to and with this answer, as role and content."""
    from genaipa.runs.conversation import conversation

    return [{"role": m.role, "content": m.content} for m in conversation(folder, record, offsets)]
