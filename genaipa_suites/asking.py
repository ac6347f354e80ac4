"""The asking of a suite: the items that a run draws, the templates of its prompts, and the message of each item.

A template is `NAME-WORDING.jinja` in a folder `prompts` beside the suite's module; one of the same name in
`prompts/suites/` of a workspace takes its place. Three wordings of each, all ours: how much a score moves between them
is part of its uncertainty. A suite with a prefix that many items share has that in a template of its own,
`NAME-PART-WORDING.jinja`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa.errors import DataError, OptionError, UsageError, clipped
from genaipa.files.text import digest, read_text
from genaipa.runs.inputs import NO_WORDS
from genaipa.systems.base import Message
from genaipa.systems.catalog import resolve_system
from genaipa.systems.extractive import ExtractiveSystem
from genaipa.tasks.base import Call
from genaipa_suites import probes
from genaipa_suites.baseline import PREFIX
from genaipa_suites.data import SHIPPED
from genaipa_suites.encoders import encoder as encoders
from genaipa_suites.material import Item, Material, examples, same_text
from genaipa_suites.plan import SAMPLE, suite_targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.tasks.base import Dialogue, Target
    from genaipa.tasks.templates import Templates
    from genaipa.workspace import Workspace
    from genaipa_suites.suite import Suite

FOLDER = "suites"
"""Of a workspace's `prompts/`."""
PROBE = "probe"
"""The part of a suite's templates that a probe has."""
PROBES = {path.stem: path for path in SHIPPED.glob("probe-*.jinja")}
"""Name → template of the probes that have words of their own."""


@dataclass(frozen=True)
class Template:
    """One template: its file and its text."""

    path: Path
    source: str

    @cached_property
    def _compiled(self) -> Templates:
        from genaipa.tasks.templates import Templates

        return Templates({self.path.name: self.source})

    def render(self, **variables: Any) -> str:
        """Return the message; a DataError naming the template and what is wrong in it."""
        return self._compiled.render(self.path.name, {self.path.name: self.path}, **variables)


def faults(path: Path) -> list[DataError]:
    """Return the reason why a file is no template; none for one. Its variables are known only once it is rendered."""
    from genaipa.tasks.templates import syntax_faults

    try:
        return list(syntax_faults(path, read_text(path)))
    except DataError as error:
        return [error]


def shipped_templates(suite: type[Suite]) -> dict[str, Path]:
    """Name → file of the templates that come with a suite."""
    folder = Path(inspect.getfile(suite)).with_name("prompts")
    return {path.stem: path for path in sorted(folder.glob("*.jinja"))}


def own_templates(workspace: Workspace) -> dict[str, Path]:
    """Name → file of the workspace's templates, of all suites and probes."""
    return {name: path for name, (_, path) in workspace.names("prompts", FOLDER).items()}


def templates_of(suite: Suite) -> dict[str, Template]:
    """The templates of the plan's wording, "" for the question and further parts by their names, and of its probe."""
    name, others, ending = suite.stem, suite_targets().keys() - {suite.stem}, f"-{suite.plan.wording}"
    own = own_templates(suite.workspace)
    templates = {}
    for stem, path in (shipped_templates(type(suite)) | own).items():
        whose = stem.removesuffix(ending)
        if whose == name or (stem.endswith(ending) and whose.startswith(f"{name}-") and whose not in others):
            templates[whose[len(name) :].strip("-")] = Template(path, read_text(path))
    if "" not in templates:
        raise UsageError(f"no wording {suite.plan.wording} of {name} is here (prompts/{FOLDER}/{name}{ending}.jinja).")
    probe = f"probe-{suite.plan.probe}"
    if probe in PROBES:
        chosen = own.get(probe, PROBES[probe])
        templates[PROBE] = Template(chosen, read_text(chosen))
    return templates


# The items of a run.


class DrawnItems(NamedTuple):
    """The items of a new run, and in words what its probe can't ask about."""

    material: Material
    left_out: str


def drawn(suite: Suite) -> DrawnItems:
    """The items of the plan's split, sampled by its limit and changed by its probe, and the examples before them."""
    plan, seed = suite.plan, suite.spec.seed
    loaded, own = _loaded(suite)
    items = suite.sampled(loaded.items, plan.limit or len(loaded.items))
    probed = suite.probed(Material(tuple(items), _used(loaded, items)))
    left_out = probes.left_out(plan.probe, len(probed.items), len(items))
    if not plan.shots:
        return DrawnItems(msgspec.structs.replace(probed, own=own), left_out)
    shown = examples(suite.training.items, plan.shots, seed, set(map(same_text, loaded.items)))
    if len(shown) < plan.shots:
        if plan.split == SAMPLE:
            raise UsageError(
                f"the sample of {suite.title} has no items beside those asked, to be shown as examples; leave out the "
                "shots, or ask a published split."
            )
        raise UsageError(
            f"{suite.title} has {len(shown)} examples that are not among the items asked; ask with fewer shots."
        )
    documents = {**_used(suite.training, shown), **probed.documents}
    return DrawnItems(Material(probed.items, documents, tuple(shown), own), left_out)


def _loaded(suite: Suite) -> tuple[Material, tuple[str, ...] | msgspec.UnsetType]:
    """Return the split that is asked, and which of its files are not the published ones."""
    # What was read to learn from makes no other split of this one.
    before, suite.files.changed = suite.files.changed, []
    loaded = _chosen(suite)
    changed, suite.files.changed = suite.files.changed, before
    own = tuple(changed) if suite.plan.split in suite.splits else ()
    return loaded, own or msgspec.UNSET


def _chosen(suite: Suite) -> Material:
    """Return the split that is asked; the error of one that is not here names all that are."""
    try:
        return suite.load(suite.plan.split)
    except DataError:
        raise
    except UsageError as error:
        if suite.is_part:
            # It has no choice of its own.
            raise
        known, split = dict.fromkeys((*suite.splits, SAMPLE)), suite.plan.split
        if split not in known:
            raise OptionError("split", f" '{clipped(split)}': {suite.title} has {', '.join(known)}.") from None
        here = [split for split in known if _has(suite, split)]
        raise UsageError(f"{str(error).rstrip('.')}. Splits that are here: {', '.join(here)}.") from None


def _has(suite: Suite, split: str) -> bool:
    try:
        return bool(suite.load(split))
    except UsageError:
        return False


def _used(material: Material, items: Sequence[Item]) -> dict[str, Any]:
    """Return the long texts of these items."""
    keys = {item.document for item in items}
    return {key: text for key, text in material.documents.items() if key in keys}


def notes(suite: Suite) -> tuple[str, ...]:
    """Return the sentences on a run's data: their terms, files of the user's own, the sample, and what is trained."""
    title, plan, files = suite.title, suite.plan, suite.files
    loaded = suite.material
    read = [one for one in suite.data if not files.digests or one.blobs.keys() & files.digests.keys()]
    said = [f"{source.title}: {source.terms}" for source in read if plan.split in suite.splits]
    said += [f"{title}: {suite.dependent}"] if suite.dependent else []
    if plan.split == SAMPLE:
        said = [f"{title}: the sample is made up, and measures nothing (items: {len(loaded.items)})"]
    elif files.own:
        said.append(f"{title}: {', '.join(map(str, files.own.values()))} read in place of pulled data")
    said += [f"{title}: {suite.left_out}"] if suite.left_out else []
    trained = {PREFIX + one.name for one in suite.baselines if one.kind == "trained"}
    learning = [name for name in suite.spec.systems if name in trained]
    if learning:
        verb = "is" if len(learning) == 1 else "are"
        on = f"on the split {suite.learns_from}"
        said.append(f"{title}: {', '.join(learning)} {verb} trained first, {on}, which may take a minute")
    return (*said, *encoders.notes(suite), *_unreadable(suite))


def _unreadable(suite: Suite) -> list[str]:
    """Return a sentence on systems none of whose replies can be read; empty without any."""
    quoting = [name for name in suite.spec.systems if _provider(suite, name) == ExtractiveSystem.provider.name]
    if not quoting or suite.reads_prose or suite.plan.probe == probes.CONTINUATION:
        return []
    kinds = {one.kind: PREFIX + one.name for one in reversed(suite.baselines)}
    instead = kinds.get("rule") or kinds.get("floor") or "another"
    why = "which is no JSON, so that every reply will be unparsable and is scored 0"
    return [f"{suite.title}: {', '.join(quoting)} can only quote, {why}; ask {instead} in place of it"]


def _provider(suite: Suite, system: str) -> str:
    try:
        return resolve_system(system, suite.workspace).provider
    except UsageError:  # told where the systems are started
        return ""


# The messages of a run.


def dialogues(suite: Suite, target: Target) -> Iterator[Dialogue]:
    """One dialogue for each repetition of an item and those after it; items that share a text in a row."""
    answer, encoder = suite.baseline_reply(target.name), encoders.encoder_of(suite, target.name)
    shots = [] if answer or encoder else _shots(suite)
    for repetition in range(1, suite.spec.repetitions + 1):
        for item in _ordered(suite):
            where = suite.coordinates(item, repetition)
            if encoder:
                # An encoder is trained once the first reply of a repetition is asked for.
                work = partial(encoder.reply, item, repetition)
                yield _make_dialogue(Call(where, [Message("user", f"Item {item.id}", "answer")], compute=work))
            elif answer:
                # A baseline repeats what the message carries; nothing else is ever sent a gold label.
                message = Message("user", f"Item {item.id}", "answer", carries=answer(item))
                yield _make_dialogue(Call(where, [message]))
            else:
                yield _prompted(suite, item, repetition, target.name, shots)


def sample(suite: Suite, target: Target) -> tuple[Iterator[Dialogue], int] | None:
    """Items about one long text, or after the same examples, in one dialogue each; None if nothing is repeated."""
    if not _has_long_texts(suite) and not suite.plan.shots:
        return None
    alike = groupby(_ordered(suite) * suite.spec.repetitions, key=lambda item: item.document)
    each = suite.dialogues(target)
    return (_make_dialogue(tuple(islice(each, len(list(items))))) for _, items in alike), 1


def _make_dialogue(step: Call | tuple[Dialogue, ...]) -> Dialogue:
    """Make a dialogue of one step."""
    yield step


def _ordered(suite: Suite) -> list[Item]:
    """Return the items that begin a conversation, those about one text in a row."""
    return sorted((item for item in suite.material.items if not item.after), key=lambda item: item.document)


def _has_long_texts(suite: Suite) -> bool:
    return any(item.document for item in suite.material.items)


def _prompted(suite: Suite, item: Item, repetition: int, system: str, shots: Sequence[Message]) -> Dialogue:
    continued = suite.plan.probe == probes.CONTINUATION
    settings: dict[str, Any] = {}
    if not continued:
        settings = {"json_schema": dict(suite.schema)} if suite.schema else {}
        if suite.max_tokens and suite.spec.max_tokens is None:
            settings["max_tokens"] = suite.max_tokens
    messages = [*([] if continued else shots), *_asking(suite, item)]
    conversation = ""
    if len(messages) > 1:
        # All before the question is the same for all items about this text: kept once, and cached by providers.
        conversation = f"{system}|{suite.name}|{suite.plan.split}|{item.document}"
        settings["cache_key"] = f"genaipa-{digest(conversation)[:16]}"
    # For the estimate alone: a right reply is about as long as any.
    likely = str(item.gold) if continued else suite.gold_reply(item)
    call = Call(
        suite.coordinates(item, repetition),
        messages,
        conversation=conversation,
        settings=settings,
        placeholder_reply=likely,
    )
    if item.id not in suite.following:
        yield call
        return
    # What is asked next hangs on this reply, in a conversation of the item's own.
    own = f"{system}|{suite.name}|{suite.plan.split}|{item.document}|{item.id}|{repetition}"
    call = replace(call, conversation=own, mode="shared")
    said = yield call
    while following := suite.following.get(item.id):
        item = following
        call = replace(
            call,
            coordinates=suite.coordinates(item, repetition),
            messages=[
                *call.messages,
                Message("assistant", said or NO_WORDS, "answer"),
                suite.again(item, said),
            ],
            placeholder_reply=suite.gold_reply(item),
            turn=call.turn + 1,
        )
        said = yield call


def _asking(suite: Suite, item: Item) -> list[Message]:
    """Return the messages that ask about an item, as the plan's probe does."""
    if suite.plan.probe == probes.CONTINUATION:
        words = len(str(item.gold).split())
        return [Message("user", suite.render(PROBE, text=item.shown["text"], policy=item.cluster, words=words))]
    if suite.plan.probe == probes.NO_CONTEXT:
        item = probes.withheld(item, suite.render(PROBE, policy=item.cluster))
    return suite.messages(item)


def _shots(suite: Suite) -> list[Message]:
    """Return the examples, each with its reply."""
    turns: list[Message] = []
    for item in suite.material.examples:
        # Providers take few breakpoints: none is left for the text that is asked about if examples have them.
        shown = [replace(message, breakpoint=False) for message in suite.messages(item)]
        turns += [*shown, Message("assistant", suite.gold_reply(item), "answer")]
    if turns and not _has_long_texts(suite):
        # All before the last example's reply is the same for every item, and cached.
        turns[-2] = replace(turns[-2], breakpoint=True)
    return turns
