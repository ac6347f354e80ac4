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

from genaipa.errors import DataError, OptionError, UsageError, clip
from genaipa.files.text import read_text, sha256_of
from genaipa.runs.inputs import NO_WORDS
from genaipa.systems.base import Message
from genaipa.systems.catalog import resolve_system
from genaipa.systems.extractive import ExtractiveSystem
from genaipa.tasks.base import Call
from genaipa_suites import probes
from genaipa_suites.baseline import PREFIX
from genaipa_suites.data import SHIPPED
from genaipa_suites.encoders import encoder as encoders
from genaipa_suites.material import Item, Material, draw_prompt_examples, normalized_item_text
from genaipa_suites.plan import SAMPLE, suite_class_paths

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
    def _template_set(self) -> Templates:
        from genaipa.tasks.templates import Templates

        return Templates({self.path.name: self.source})

    def render(self, **variables: Any) -> str:
        """Return the message; a DataError naming the template and what is wrong in it."""
        return self._template_set.render(self.path.name, {self.path.name: self.path}, **variables)


def list_template_syntax_errors(path: Path) -> list[DataError]:
    """Return the syntax errors of a template file; its variables are known only once it is rendered."""
    from genaipa.tasks.templates import find_template_syntax_faults

    try:
        return list(find_template_syntax_faults(path, read_text(path)))
    except DataError as error:
        return [error]


def suite_templates(suite: type[Suite]) -> dict[str, Path]:
    """Return name → file of the templates that come with a suite."""
    folder = Path(inspect.getfile(suite)).with_name("prompts")
    return {path.stem: path for path in sorted(folder.glob("*.jinja"))}


def workspace_templates(workspace: Workspace) -> dict[str, Path]:
    """Return name → file of the workspace's templates, of all suites and probes."""
    return {name: path for name, (_, path) in workspace.nearest_files("prompts", FOLDER).items()}


def load_suite_templates_by_part(suite: Suite) -> dict[str, Template]:
    """Load the templates of the plan's wording by part ("" for the question), and that of its probe."""
    name, other_suites, ending = (
        suite.name_in_files,
        suite_class_paths().keys() - {suite.name_in_files},
        f"-{suite.plan.wording}",
    )
    own_paths = workspace_templates(suite.workspace)
    templates = {}
    for stem, path in (suite_templates(type(suite)) | own_paths).items():
        stem_owner = stem.removesuffix(ending)
        if stem_owner == name or (
            stem.endswith(ending) and stem_owner.startswith(f"{name}-") and stem_owner not in other_suites
        ):
            templates[stem_owner[len(name) :].strip("-")] = Template(path, read_text(path))
    if "" not in templates:
        raise UsageError(
            f"{name} has no wording {suite.plan.wording}: prompts/{FOLDER}/{name}{ending}.jinja is missing."
        )
    probe = f"probe-{suite.plan.probe}"
    if probe in PROBES:
        probe_path = own_paths.get(probe, PROBES[probe])
        templates[PROBE] = Template(probe_path, read_text(probe_path))
    return templates


# The items of a run.


class DrawnItems(NamedTuple):
    """The items of a new run, and in words what its probe can't ask about."""

    material: Material
    omission_note: str


def draw_items_and_examples(suite: Suite) -> DrawnItems:
    """Draw the items of the plan's split, sampled by its limit and changed by its probe, and their examples."""
    plan, seed = suite.plan, suite.spec.seed
    loaded, changed_files = _load_split_and_unpublished_files(suite)
    items = suite.draw_sample(loaded.items, plan.limit or len(loaded.items))
    probed = suite.make_probed_material(Material(tuple(items), _select_documents(loaded, items)))
    left_out = probes.probe_omission_note_or_empty(plan.probe, len(probed.items), len(items))
    if not plan.shots:
        return DrawnItems(msgspec.structs.replace(probed, own=changed_files), left_out)
    shots = draw_prompt_examples(suite.training.items, plan.shots, seed, set(map(normalized_item_text, loaded.items)))
    if len(shots) < plan.shots:
        if plan.split == SAMPLE:
            raise UsageError(
                f"the sample of {suite.title} has no items left to show as examples; leave out the shots, or choose "
                "a published split."
            )
        raise UsageError(f"only {len(shots)} items of {suite.title} are left to show as examples; use fewer shots.")
    documents = {**_select_documents(suite.training, shots), **probed.documents}
    return DrawnItems(Material(probed.items, documents, tuple(shots), changed_files), left_out)


def _load_split_and_unpublished_files(suite: Suite) -> tuple[Material, tuple[str, ...] | msgspec.UnsetType]:
    """Load the split that is asked, and list which of its files are not the published ones."""
    # What was read to learn from makes no other split of this one.
    changed_before, suite.files.changed = suite.files.changed, []
    loaded = _load_split_or_suggest_available(suite)
    changed, suite.files.changed = suite.files.changed, changed_before
    own_files = tuple(changed) if suite.plan.split in suite.splits else ()
    return loaded, own_files or msgspec.UNSET


def _load_split_or_suggest_available(suite: Suite) -> Material:
    """Load the split that is asked; the error of a missing split names all that are here."""
    try:
        return suite.load(suite.plan.split)
    except DataError:
        raise
    except UsageError as error:
        if suite.is_part:
            # It has no choice of its own.
            raise
        split_names, split = dict.fromkeys((*suite.splits, SAMPLE)), suite.plan.split
        if split not in split_names:
            raise OptionError("split", f" '{clip(split)}': {suite.title} has {', '.join(split_names)}.") from None
        available = [split for split in split_names if _has_split(suite, split)]
        raise UsageError(f"{str(error).rstrip('.')}. Available splits: {', '.join(available)}.") from None


def _has_split(suite: Suite, split: str) -> bool:
    try:
        return bool(suite.load(split))
    except UsageError:
        return False


def _select_documents(material: Material, items: Sequence[Item]) -> dict[str, Any]:
    """Return the long texts of these items."""
    keys = {item.document for item in items}
    return {key: text for key, text in material.documents.items() if key in keys}


def list_notes_on_run_data(suite: Suite) -> tuple[str, ...]:
    """Return sentences on a run's data: terms, the user's own files, the sample, and what is trained."""
    title, plan, files = suite.title, suite.plan, suite.files
    loaded = suite.material
    read_sources = [source for source in suite.data if not files.digests or source.blobs.keys() & files.digests.keys()]
    sentences = [f"{source.title}: {source.terms}" for source in read_sources if plan.split in suite.splits]
    sentences += [f"{title}: {suite.dependence_note}"] if suite.dependence_note else []
    if plan.split == SAMPLE:
        sentences = [
            f"{title}: the {len(loaded.items)} items of the sample are made up, so scores on them mean nothing"
        ]
    elif files.own_files:
        sentences.append(
            f"{title}: the items are from {', '.join(map(str, files.own_files.values()))}, not from the pulled data"
        )
    sentences += [f"{title}: {suite.omission_note}"] if suite.omission_note else []
    trained = {PREFIX + source.name for source in suite.baselines if source.kind == "trained"}
    learning = [name for name in suite.spec.systems if name in trained]
    if learning:
        verb = "is" if len(learning) == 1 else "are"
        on = f"on the split {suite.training_split}"
        sentences.append(f"{title}: {', '.join(learning)} {verb} trained first {on}, which may take a minute")
    return (
        *sentences,
        *encoders.check_options_and_list_training_notes(suite),
        *_note_on_systems_that_only_quote(suite),
    )


def _note_on_systems_that_only_quote(suite: Suite) -> list[str]:
    """Return a sentence on systems none of whose replies can be read; an empty list without any."""
    quoting = [
        name for name in suite.spec.systems if _provider_name_or_empty(suite, name) == ExtractiveSystem.provider.name
    ]
    if not quoting or suite.reads_prose or suite.plan.probe == probes.CONTINUATION:
        return []
    kinds = {baseline.kind: PREFIX + baseline.name for baseline in reversed(suite.baselines)}
    instead = kinds.get("rule") or kinds.get("floor") or "another"
    reason = "which is not JSON, so every reply will be unparsable and scored 0"
    return [f"{suite.title}: {', '.join(quoting)} can only quote text, {reason}; ask {instead} instead"]


def _provider_name_or_empty(suite: Suite, system: str) -> str:
    try:
        return resolve_system(system, suite.workspace).provider
    except UsageError:  # told where the systems are started
        return ""


# The messages of a run.


def generate_suite_dialogues(suite: Suite, target: Target) -> Iterator[Dialogue]:
    """Yield a dialogue for each repetition of an item and its follow-ups, with the items that share a text in a row."""
    answer, encoder = suite.baseline_reply_function(target.name), encoders.find_encoder(suite, target.name)
    shots = [] if answer or encoder else _example_messages_with_replies(suite)
    for repetition in range(1, suite.spec.repetitions + 1):
        for item in _opening_items_sorted_by_document(suite):
            coordinates = suite.coordinates(item, repetition)
            if encoder:
                # An encoder is trained once the first reply of a repetition is asked for.
                compute_reply = partial(encoder.load_or_train_reply, item, repetition)
                yield _make_dialogue_of_one_step(
                    Call(coordinates, [Message("user", f"Item {item.id}", "answer")], compute=compute_reply)
                )
            elif answer:
                # A baseline repeats what the message carries; nothing else is ever sent a gold label.
                message = Message("user", f"Item {item.id}", "answer", carries=answer(item))
                yield _make_dialogue_of_one_step(Call(coordinates, [message]))
            else:
                yield _dialogue_of_prompt_and_follow_ups(suite, item, repetition, target.name, shots)


def dialogues_by_shared_text_and_scale(suite: Suite, target: Target) -> tuple[Iterator[Dialogue], int] | None:
    """Return dialogues that each ask the items about one text, or after the same examples; None without either."""
    if not _has_items_about_shared_texts(suite) and not suite.plan.shots:
        return None
    groups = groupby(_opening_items_sorted_by_document(suite) * suite.spec.repetitions, key=lambda item: item.document)
    dialogues = suite.dialogues(target)
    return (_make_dialogue_of_one_step(tuple(islice(dialogues, len(list(items))))) for _, items in groups), 1


def _make_dialogue_of_one_step(step: Call | tuple[Dialogue, ...]) -> Dialogue:
    yield step


def _opening_items_sorted_by_document(suite: Suite) -> list[Item]:
    """Return the items that begin a conversation, those about one text in a row."""
    return sorted((item for item in suite.material.items if not item.after), key=lambda item: item.document)


def _has_items_about_shared_texts(suite: Suite) -> bool:
    return any(item.document for item in suite.material.items)


def _dialogue_of_prompt_and_follow_ups(
    suite: Suite, item: Item, repetition: int, system: str, example_messages: Sequence[Message]
) -> Dialogue:
    continued = suite.plan.probe == probes.CONTINUATION
    settings: dict[str, Any] = {}
    if not continued:
        settings = {"json_schema": dict(suite.schema)} if suite.schema else {}
        if suite.max_tokens and suite.spec.max_tokens is None:
            settings["max_tokens"] = suite.max_tokens
    messages = [*([] if continued else example_messages), *_item_messages(suite, item)]
    conversation = ""
    if len(messages) > 1:
        # All before the question is the same for all items about this text: kept once, and cached by providers.
        conversation = f"{system}|{suite.name}|{suite.plan.split}|{item.document}"
        settings["cache_key"] = f"genaipa-{sha256_of(conversation)[:16]}"
    # For the estimate alone: a right reply is about as long as any.
    likely = str(item.gold) if continued else suite.gold_reply(item)
    call = Call(
        suite.coordinates(item, repetition),
        messages,
        conversation=conversation,
        settings=settings,
        placeholder_reply=likely,
    )
    if item.id not in suite.follow_ups_by_preceding_item_id:
        yield call
        return
    # What is asked next hangs on this reply, in a conversation of the item's own.
    own_conversation = f"{system}|{suite.name}|{suite.plan.split}|{item.document}|{item.id}|{repetition}"
    call = replace(call, conversation=own_conversation, mode="shared")
    reply = yield call
    while follow_up := suite.follow_ups_by_preceding_item_id.get(item.id):
        item = follow_up
        call = call.follow_up(
            reply or NO_WORDS,
            suite.follow_up(item, reply),
            coordinates=suite.coordinates(item, repetition),
            placeholder_reply=suite.gold_reply(item),
            turn=call.turn + 1,
        )
        reply = yield call


def _item_messages(suite: Suite, item: Item) -> list[Message]:
    """Return the messages that ask about an item, as the plan's probe does."""
    if suite.plan.probe == probes.CONTINUATION:
        words = len(str(item.gold).split())
        return [
            Message("user", suite.render_template(PROBE, text=item.shown["text"], policy=item.cluster, words=words))
        ]
    if suite.plan.probe == probes.NO_CONTEXT:
        item = probes.replace_text_by_sentence(item, suite.render_template(PROBE, policy=item.cluster))
    return suite.messages(item)


def _example_messages_with_replies(suite: Suite) -> list[Message]:
    """Return the examples, each with its reply."""
    turns: list[Message] = []
    for item in suite.material.examples:
        # Providers take few breakpoints: none is left for the text that is asked about if examples have them.
        question = [replace(message, breakpoint=False) for message in suite.messages(item)]
        turns += [*question, Message("assistant", suite.gold_reply(item), "answer")]
    if turns and not _has_items_about_shared_texts(suite):
        # All before the last example's reply is the same for every item, and cached.
        turns[-2] = replace(turns[-2], breakpoint=True)
    return turns
