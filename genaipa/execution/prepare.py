"""Everything that can be known, checked or refused before the first call.

Resolves names, loads and checks data, makes the systems ready, chooses a token counter, cuts documents into parts and
refuses a document that does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.errors import GenaipaError, NotReadyError, UsageError
from genaipa.files.strict_yaml import as_yaml, digest, read_text
from genaipa.policies.document import Document, load_document
from genaipa.policies.parts import split_parts
from genaipa.questions.annotations import find_annotations
from genaipa.questions.sets import QuestionSet, load_questions
from genaipa.runs.records import Digests, RunSpec
from genaipa.systems import tokens
from genaipa.systems.base import Readiness
from genaipa.systems.catalog import Resolved, resolve
from genaipa.systems.redaction import redact
from genaipa.tasks.procedure import Script, check_wordings
from genaipa.tasks.prompts import Prompts, load_prompts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.systems.base import System
    from genaipa.systems.prices import Tariff
    from genaipa.workspace import Workspace

PART_TOKENS = 2000
"""Default size of a part: about what the paper's segments of the same policies came to."""
REPLY_TOKENS = 300
"""What a reply is taken to come to when nothing sets a limit."""


@dataclass(frozen=True)
class Material:
    """The data of a study, loaded and checked."""

    documents: dict[str, Document]
    questions: dict[str, QuestionSet]
    prompts: Prompts
    digests: Digests
    sources: dict[str, str]
    """Every text that the messages are made of, under the name by which the run folder keeps it."""
    notes: tuple[str, ...] = ()
    """Sentences about annotated answers that hold for less than their author may think."""


@dataclass
class Ready:
    """A system that can be asked, and what is needed to ask it about each document."""

    resolved: Resolved
    system: System | None
    """None for a web chat driven by hand, and where nothing will be asked (`--dry-run`, `--estimate`)."""
    readiness: Readiness
    tariff: Tariff | None
    context: int | None
    counters: dict[str, tokens.Counter] = field(default_factory=dict)
    scripts: dict[str, Script] = field(default_factory=dict)
    part_tokens: int = PART_TOKENS
    notes: list[str] = field(default_factory=list)

    @property
    def guesses(self) -> bool:
        """Whether tokens are estimated for a system that will count them when it is asked."""
        wanted = self.system is not None and not (self.resolved.record and self.resolved.record.builtin)
        return wanted and any(counter.guess for counter in self.counters.values())


def uncounted(systems: Sequence[str]) -> str:
    """What is said of systems whose tokens are estimated."""
    whose = "its" if len(systems) == 1 else "their"
    return f"{', '.join(systems)}: {whose} tokens can't be counted here ({tokens.estimated().label})."


def load_material(spec: RunSpec, workspace: Workspace) -> Material:
    """Load what a spec names; the errors of the loaders."""
    documents = {name: load_document(workspace, name) for name in spec.documents}
    sets = {name: load_questions(workspace, name) for name in sorted(set(spec.questions.values()))}
    questions = {document: sets[name] for document, name in spec.questions.items()}
    check_wordings(spec, questions)
    prompts = load_prompts(workspace)
    asked = {name: read_text(workspace.names("questions")[name][1]) for name in sets}
    answered, notes = _annotated(workspace, documents, questions)
    digests = Digests(
        prompts=prompts.digests,
        documents={name: document.digest for name, document in documents.items()},
        questions={name: digest(text) for name, text in asked.items()},
        annotations={name: digest(text) for name, text in answered.items()},
        systems={name: resolve(name, workspace).identity for name in spec.systems},
    )
    sources = {f"documents/{document.digest}.txt": document.text for document in documents.values()}
    sources |= {f"prompts/{name}.jinja": text for name, text in prompts.sources.items()}
    sources |= {f"questions/{name}.yaml": text for name, text in asked.items()}
    sources |= {f"annotations/{name}.yaml": text for name, text in answered.items()}
    return Material(documents, questions, prompts, digests, sources, notes)


def _annotated(
    workspace: Workspace, documents: dict[str, Document], questions: dict[str, QuestionSet]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Document → the file of its annotated answers to the questions asked, and what is to be said about them."""
    files, notes = {}, []
    for name, document in documents.items():
        held = find_annotations(workspace, document)
        if held is None:
            continue
        usable = held.usable(questions[name], document.company)
        if usable.answers:
            files[name] = read_text(held.path) if usable is held.annotations else as_yaml(usable)
        if said := held.said(questions[name], document.company):
            notes.append(said)
    return files, tuple(notes)


async def make_ready(
    name: str,
    spec: RunSpec,
    material: Material,
    workspace: Workspace,
    *,
    offline: bool,
    asking: bool,
    say: Callable[[str], None],
) -> Ready:
    """One system, resolved, started if something is to be asked, with its parts cut and its limits checked."""
    resolved = resolve(name, workspace)
    if resolved.name != resolved.asked:
        say(f"{resolved.asked} is {resolved.name}")
    for note in _known_notes(resolved):
        say(note)
    system = resolved.make() if asking and not resolved.manual else None
    readiness = await start(system, resolved) if system else Readiness()
    try:
        ready = Ready(
            resolved=resolved,
            system=system,
            readiness=readiness,
            tariff=resolved.tariff,
            context=resolved.entry.context or readiness.context or resolved.context,
        )
        told = _told_notes(ready)
        for note in told:
            say(note)
        await _cut(ready, spec, material, offline=offline)
        if ready.guesses:
            told.append(uncounted([resolved.asked]))
        ready.notes = [*_known_notes(resolved), *told]
        check_fit(ready, spec)
    except BaseException:
        if system:
            await system.close()
        raise
    return ready


async def start(system: System, resolved: Resolved) -> Readiness:
    """Start a system; a refusal of a model that is known to be retired says so, and what to use."""
    try:
        readiness: object = await system.start()
    except NotReadyError as error:
        if error.kind != "not-found" or not resolved.entry.retired:
            raise
        raise NotReadyError(f"{error} It was retired on {resolved.entry.retired}{_instead(resolved)}.") from None
    except GenaipaError:
        raise
    except Exception as error:
        # A user's own assistant may raise anything.
        said = redact(f"{type(error).__name__}: {error}")
        raise NotReadyError(f"{resolved.asked} can't be started ({said}).", kind="exception") from error
    if not isinstance(readiness, Readiness):
        raise NotReadyError(f"{resolved.asked}: its start returned no Readiness.", kind="exception")
    return readiness


def _instead(resolved: Resolved) -> str:
    return f"; use {resolved.entry.use} instead" if resolved.entry.use else ""


def _known_notes(resolved: Resolved) -> list[str]:
    """What the catalog has to say about a system before it is started."""
    entry, notes = resolved.entry, []
    if entry.retired:
        notes.append(f"{resolved.asked} was announced to retire on {entry.retired}{_instead(resolved)}.")
    if entry.note:
        notes.append(f"{resolved.asked}: {entry.note}")
    return notes


def _told_notes(ready: Ready) -> list[str]:
    """What the server has to say about a system; a NotReadyError if it no longer lists one that was to retire."""
    resolved, listed = ready.resolved, ready.readiness.models
    notes = list(ready.readiness.notes)
    if resolved.entry.retired and listed is not None:
        if resolved.model not in listed:
            raise NotReadyError(
                f"{resolved.asked} was retired on {resolved.entry.retired}, and the server no longer lists it"
                f"{_instead(resolved)}."
            )
        notes.append(f"{resolved.asked}: the server still lists it, so the run goes on.")
    if ready.readiness.shutdown:
        notes.append(
            f"{resolved.asked}: the provider ends this model on {ready.readiness.shutdown}{_instead(resolved)}."
        )
    return notes


async def _cut(ready: Ready, spec: RunSpec, material: Material, *, offline: bool) -> None:
    """Choose a counter for each document, and cut it into the parts that suit the system."""
    ready.part_tokens = spec.part_tokens or ready.resolved.entry.part_tokens or PART_TOKENS
    for name, document in material.documents.items():
        counter = ready.counters[name] = await _counter(ready, document.text, offline=offline)
        parts = tuple(split_parts(document, ready.part_tokens, counter.count))
        ready.scripts[name] = Script(document, parts, material.questions[name], material.prompts, spec.summary_words)


async def _counter(ready: Ready, text: str, *, offline: bool) -> tokens.Counter:
    try:
        counted = await ready.system.count_tokens(text) if ready.system else None
    except Exception:  # noqa: BLE001 - a user's own assistant may raise anything; a count is not worth a run
        counted = None
    if counted is not None:
        return tokens.measured(counted, len(text), f"{ready.resolved.provider}'s own count")
    record = ready.resolved.record
    counter = record.counter(ready.resolved.model, offline=offline) if record and record.counter else None
    return counter or tokens.estimated()


def check_fit(ready: Ready, spec: RunSpec) -> None:
    """A UsageError, naming the numbers and the ways out, if a document with its questions exceeds the context."""
    if ready.context is None:
        return
    for name, script in ready.scripts.items():
        if not {"document", "summary-of-document"} & set(spec.initializations):
            continue
        need = context_need(ready, spec, name)
        if need > ready.context:
            part = f"{len(script.parts)} part{'s' if len(script.parts) > 1 else ''}"
            ways = ["choose a system with a larger context"]
            alone = replace(spec, conversation="independent")
            if spec.conversation == "shared" and context_need(ready, alone, name) <= ready.context:
                ways.insert(0, "ask with --conversation independent")
            raise UsageError(
                f"{name} does not fit {ready.resolved.asked}: with its questions and replies it needs about {need:,} "
                f"tokens ({part}; {ready.counters[name].label}), and the context holds {ready.context:,}. "
                f"{' or '.join(ways).capitalize()}, or leave the document out: --initialization company-name."
            )


def context_need(ready: Ready, spec: RunSpec, document: str) -> int:
    """Tokens of the longest request that holds a document, its reply included."""
    script, count = ready.scripts[document], ready.counters[document].count
    introduction = sum(
        count(s.message.content) + count(s.acknowledgement.content) for s in script.introduction("document")
    )
    reply = spec.max_tokens or REPLY_TOKENS
    if "document" not in spec.initializations:
        # The questions follow on the summary, in a conversation without the document.
        return introduction + count(script.summary_request("summary-of-document").content) + reply
    asked = [
        count(script.question(question.id, wording).content)
        for question in script.questions.questions
        for wording in spec.wordings
    ]
    if spec.conversation == "independent":
        return introduction + max(asked) + reply
    first, last = spec.limit or (1, len(script.questions.questions))
    turns = max(1, min(last, len(script.questions.questions)) - first + 1)
    return introduction + turns * (max(asked) + min(reply, REPLY_TOKENS)) + max(0, reply - REPLY_TOKENS)
