"""The seam of a suite: whoever opens this file can add a benchmark with automatic scores.

A suite is a task of the engine, so that resume, caps, `--estimate`, `--dry-run`, provenance and web chats by hand come
with it. It is a folder with a task, its prompts and a file of published rows, and a line in `plan.py`; or a module of
anybody's: by `--suite module:Class`, or an entry point `genaipa.suites`. Each item is asked in a conversation of its
own, in one message (and the examples before it) made of `prompts/NAME-WORDING.jinja` beside the suite (`asking.py`);
the reply is a JSON object by `schema`, and is read and scored without a person.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from genaipa.errors import UnknownNameError, UsageError
from genaipa.files.text import DAMAGE, sha256_of
from genaipa.runs.records import Digests
from genaipa.systems.base import Message
from genaipa.systems.provider import find_provider
from genaipa.tasks.base import PredictionAndScore, Task
from genaipa.tasks.json_reply import extract_json_or_reply_and_flaw, find_last_fitting_json_or_empty
from genaipa_suites import asking, probes
from genaipa_suites.asking import load_suite_templates_by_part
from genaipa_suites.baseline import PREFIX, Baseline
from genaipa_suites.data import DataFiles, SuiteSource
from genaipa_suites.encoders import encoder as encoders
from genaipa_suites.material import (
    CUT_OFF,
    FAILED,
    REFUSED,
    UNPARSABLE,
    Item,
    Material,
    Outcome,
    ParsedReply,
    sample_by_stratum,
)
from genaipa_suites.measure import Measure
from genaipa_suites.plan import SAMPLE, SuiteOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Record, RunSpec, Status
    from genaipa.tasks.base import Call, Dialogue, Target
    from genaipa.workspace import Workspace
    from genaipa_suites.asking import Template
    from genaipa_suites.encoders.kinds import EncoderHead

MATERIAL = "items.json"
_STATUS = {"refused": REFUSED, "truncated": CUT_OFF, "failed": FAILED}


class Suite(Task):
    """A benchmark. Made of the run's spec, as every task; a run that goes on, or is reported, reads its own folder.

    A subclass sets the facts below, and has three methods: `load`, `parse` and `gold_reply`. Those after them it has
    where what they do is not all. Messages that come first for all items about one long text have to be the very same
    ones, the last of them a `breakpoint`: providers cache them.
    """

    title: ClassVar[str]
    """The name that its authors gave it."""
    version: ClassVar[int] = 1
    """Raise it when prompts, the reading of replies or the scorer change: figures of two versions can't be compared."""
    about: ClassVar[str]
    """A sentence on what it asks and how it scores."""
    citation: ClassVar[str]
    data: ClassVar[tuple[SuiteSource, ...]]
    """The data sets that its splits are read from."""
    splits: ClassVar[tuple[str, ...]]
    """The published splits; the first is evaluated by default."""
    train: ClassVar[str] = "train"
    """The split from which trained baselines learn and examples are drawn."""
    measures: tuple[Measure, ...]
    """Its measures, the most important first. `__init__` may set others for a split with another kind of reference."""
    parts: Mapping[str, Mapping[str, tuple[Measure, ...]]] = {}
    """Breakdowns by parts of items, such as kinds of spans (`Item.groups` are those by items): name of the breakdown →
    its groups, each with its measures, over all outcomes."""
    error_kinds: tuple[str, ...] = ()
    """The types of errors that `errors` counts, in the order in which reports show them."""
    about_errors: str = ""
    """Sentences for readers of a report about these types, such as which of two counts."""
    clusters: ClassVar[str] = "policies"
    """The word for the units that `Item.cluster` names; intervals resample them."""
    is_joint: ClassVar[bool] = False
    """Whether outcomes depend on each other (`add_facts_of_related_outcomes`), so that a run is scored as a whole."""
    reads_prose: ClassVar[bool] = False
    """Whether replies in prose are read, too."""
    paired_measures: tuple[str, str] | tuple[()] = ()
    """The names of two measures that a figure shows side by side; its title names the systems that are highest in the
    second, which is the one to worry about. Empty for none."""
    memory_measure: ClassVar[str] = ""
    """The name of the measure that reports give apart for the clusters that a system knows by heart (it answers rightly
    without the text) and for all others; empty for none."""
    dependence_note: ClassVar[str] = ""
    """A sentence that warns of dependent items in the published data; empty where clusters are known."""
    baselines: tuple[Baseline, ...] = ()
    head: ClassVar[EncoderHead | None] = None
    """The encoder that can be fine-tuned for it."""
    leakage_note: ClassVar[str] = ""
    """A sentence that warns if the published train split holds what other splits ask about."""
    schema: ClassVar[Mapping[str, Any]]
    """The JSON schema of a reply: every property is required, and no other is allowed."""
    max_tokens: ClassVar[int | None] = None
    """The longest reply in tokens, unless the user sets one."""

    encoder_run: encoders.EncoderRun | None = None
    """The state of encoders while a run is asked."""
    is_part = False
    """Whether a joining task such as PrivacyGLUE asks it."""
    omission_note = ""
    """A sentence on the items of a new run that its probe can't ask about."""

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        super().__init__(spec, workspace)
        names = [baseline.name for baseline in self.baselines]
        for name in spec.systems:
            if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in names:
                raise UnknownNameError(
                    f"baseline of {spec.task}", name, [PREFIX + baseline_name for baseline_name in names]
                )
            provider = find_provider(name)
            if provider is not None and provider.by_hand and self.plan.shots:
                raise UsageError(f"{name} is asked by hand, which does not work with examples; leave out --shots.")
            if name.startswith(PREFIX) and self.plan.probe:
                raise UsageError(f"{name} answers by a rule and can't be probed; leave out the system or the probe.")
        if self.plan.probe == probes.CONTINUATION:
            if self.plan.shots:
                raise UsageError("the probe continuation does not use examples; leave out --shots.")
            # The suite's own are of other replies.
            self.measures, self.parts, self.error_kinds, self.baselines = (probes.CONTINUED,), {}, (), ()

    @property
    def name_in_files(self) -> str:
        """The suite's name in names of files and tables; `module:Class` has a dot in place of the colon."""
        return self.name.replace(":", ".")

    @cached_property
    def plan(self) -> SuiteOptions:
        """The plan of the run."""
        assert isinstance(self.spec.plan, SuiteOptions), "it is a suite's run"
        return self.spec.plan

    @cached_property
    def files(self) -> DataFiles:
        """Its data files, as this workspace has them."""
        return DataFiles(self.name, self.data, self.workspace)

    # For a suite to write: three that every one has, and those that it may have.

    @abstractmethod
    def load(self, split: str) -> Material:
        """Read and check all items of a split through `self.files`; a UsageError or DataError names the remedy."""

    @abstractmethod
    def parse(self, item: Item, answer: Any) -> ParsedReply:
        """Read the prediction, or its fault, from a reply's JSON object that fits the schema."""

    @abstractmethod
    def gold_reply(self, item: Item) -> str:
        """Return the reply that would be right in every way; it answers the examples in a prompt."""

    def draw_sample(self, items: Sequence[Item], sample_size: int) -> list[Item]:
        """Draw about `sample_size` items, and return them in their original order."""
        return sample_by_stratum(items, sample_size, self.spec.seed)

    def make_probed_material(self, material: Material) -> Material:
        """Return the items as the plan's probe asks about them; a UsageError for a probe that can tell nothing here."""
        return probes.make_probed_material(self.plan.probe, material)

    def add_facts_of_related_outcomes(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Return the outcomes of one system, each completed with what its related outcomes say about it."""
        return list(outcomes)

    def messages(self, item: Item) -> list[Message]:
        """Return the messages that ask about an item."""
        return [Message("user", self.render_template("", **self.readable_item_fields(item)))]

    def follow_up(self, item: Item, reply: str) -> Message:
        """Return the message that asks `item` after the `reply` to the item before it (`Item.after`)."""
        raise NotImplementedError

    def human_scores_note(self, outcomes: Sequence[Outcome]) -> str:  # noqa: ARG002 - for suites that can
        """Say for the note on `human_scores_by_measure` whose references they have, and on which items."""
        return "one reference against the others"

    def human_scores_by_measure(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:  # noqa: ARG002 - for suites that can
        """Return measure → score (0 to 1) that people reach on these outcomes' items, from several references."""
        return {}

    def readable_gold(self, item: Item) -> Any:
        """Return the gold label as people read it: text, a list, or an object of such."""
        return item.gold

    def readable_prediction(self, outcome: Outcome) -> Any:
        """Return the prediction of a reply without a fault as people read it, in the form of `readable_gold`."""
        return outcome.parsed.prediction

    def count_errors_by_kind(self, outcome: Outcome) -> Mapping[str, int]:
        """Count an outcome's errors by type (one of `error_kinds`); types without any are absent."""
        reason = self.summarize_fault_or_error(outcome)
        return {reason: 1} if reason in self.error_kinds else {}

    @property
    def item_measure(self) -> Measure:
        """The measure that scores single items: the first one."""
        return self.measures[0]

    @property
    def measures_for_item_groups(self) -> tuple[Measure, ...]:
        """The measures of groups of items, the main one first; no means over labels: a group has only some."""
        return self.measures[:2]

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return the reason of an outcome's score in a few words: a fault, a type of error, or nothing."""
        return outcome.parsed.fault

    # What every suite has.

    @property
    def shows_documents(self) -> bool:
        """Whether its items share long texts."""
        return bool(self.material.documents)

    @cached_property
    def material(self) -> Material:
        """The items to ask: from the run's folder, else from the files, sampled by `--limit` and changed by a probe."""
        if self.folder is not None:
            path = self.folder.path / self._path_in_run_folder(MATERIAL)
            return msgspec.json.decode(path.read_bytes(), type=Material)
        draw = asking.draw_items_and_examples(self)
        self.omission_note = draw.omission_note
        return draw.material

    @cached_property
    def items(self) -> dict[str, Item]:
        """The items to ask, by id."""
        return {item.id: item for item in self.material.items}

    @cached_property
    def follow_ups_by_preceding_item_id(self) -> dict[str, Item]:
        """The items that are asked after another one in its conversation, by the id of that one."""
        return {item.after: item for item in self.material.items if item.after}

    @property
    def training_split(self) -> str:
        """The split of `training`; the sample learns from itself, since it has no other."""
        return SAMPLE if self.plan.split == SAMPLE else self.train

    @cached_property
    def training(self) -> Material:
        """The items of the training split; a UsageError with the remedy if they are not here."""
        return self.load(self.training_split)

    def readable_item_fields(self, item: Item) -> dict[str, Any]:
        """Return the variables of the template: what is shown of an item, and its long text as `document`."""
        document = {"document": self.material.documents[item.document]} if item.document else {}
        return {**item.shown, **document}

    def render_template(self, template_part: str, **variables: Any) -> str:
        """Render this suite's template in the plan's wording; `template_part` names a further template."""
        return str(self.templates[template_part].render(**variables)).strip()

    @cached_property
    def templates(self) -> Mapping[str, Template]:
        """The templates of the plan's wording by part, and that of its probe."""
        return load_suite_templates_by_part(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the terms of the data, on the user's own files, and on what a sample is."""
        return asking.list_notes_on_run_data(self)

    @property
    def digests(self) -> Digests:
        """SHA-256 of the material and of the templates."""
        return Digests({}, {}, {}, {}, task={name: sha256_of(text) for name, text in self.texts_for_run_folder.items()})

    @property
    def texts_for_run_folder(self) -> dict[str, str]:
        """The material, the templates, and the settings of training if an encoder is asked."""
        material = msgspec.json.format(msgspec.json.encode(self.material), indent=1).decode()
        templates = {
            self._path_in_run_folder(f"{name or 'prompt'}.jinja"): template.source
            for name, template in self.templates.items()
        }
        return {
            self._path_in_run_folder(MATERIAL): material,
            **templates,
            **encoders.training_settings_for_run_folder(self),
        }

    def _path_in_run_folder(self, file_name: str) -> str:
        return f"suites/{self.name_in_files}/{file_name}"

    def count_planned_answers(self) -> int:
        """Return the number of items, over all repetitions."""
        # A baseline that can't learn, for want of a package or a train split, is told before a run is begun.
        for system in self.spec.systems:
            self.baseline_reply_function(system)
        return len(self.material.items) * self.spec.repetitions

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """Yield a dialogue for each item and repetition, with the items that share a text in a row."""
        return asking.generate_suite_dialogues(self, target)

    def estimation_dialogues_and_scale_to_run(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Return dialogues that each ask all items about one text, or after the same examples."""
        return asking.dialogues_by_shared_text_and_scale(self, target) or super().estimation_dialogues_and_scale_to_run(
            target
        )

    def coordinates(self, item: Item, repetition: int) -> dict[str, str]:
        """Return the coordinates of an item's record."""
        return {"split": self.plan.split, "item": item.id, "repetition": str(repetition)}

    @contextmanager
    def open_record_listener(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """Let encoders keep predictions in the folder while a run is asked, and stop their training at its end."""
        self.encoder_run = encoders.EncoderRun(folder.path)
        try:
            yield lambda _record: None
        finally:
            self.encoder_run.ended.set()

    def baseline_reply_function(self, system: str) -> Callable[[Item], str] | None:
        """Return the function that replies for a baseline, made once; None for any other system."""
        baseline = next((candidate for candidate in self.baselines if PREFIX + candidate.name == system), None)
        if baseline and system not in self._baseline_reply_function_cache:
            self._baseline_reply_function_cache[system] = baseline.make(self)
        return self._baseline_reply_function_cache.get(system)

    @cached_property
    def _baseline_reply_function_cache(self) -> dict[str, Callable[[Item], str]]:
        return {}

    def read_reply(self, call: Call, reply: str) -> PredictionAndScore:
        """Read a whole reply."""
        return self.read_reply_by_status(call, reply, "answered")

    def read_reply_by_status(self, call: Call, reply: str, status: Status) -> PredictionAndScore:
        """Read the prediction of a reply as JSON, or its fault, and score it."""
        item = self.items[call.coordinates["item"]]
        parsed = self.parse_reply(item, reply, status)
        text = parsed.fault or msgspec.json.encode(parsed.prediction).decode()
        score = self.item_measure.compute([Outcome(item, parsed)])
        return PredictionAndScore(text, score if score == score else None)  # noqa: PLR0124 - NaN

    def parse_reply(self, item: Item, reply: str, status: str = "answered") -> ParsedReply:
        """Parse a reply as it is scored: one that was cut off or refused is no answer, whatever it says.

        If the reply is not JSON, take its last JSON object that fits the schema, as other harnesses do, and mark it.
        """
        if self.plan.probe == probes.CONTINUATION and status in ("answered", "truncated"):
            return ParsedReply(reply)
        if status in _STATUS:
            return ParsedReply(fault=_STATUS[status])
        text, problem = extract_json_or_reply_and_flaw(reply, self.schema)
        if problem and not (text := find_last_fitting_json_or_empty(reply, self.schema)):
            return ParsedReply(fault=UNPARSABLE)
        try:
            answer = msgspec.json.decode(text.encode())
        except DAMAGE:
            # Python's reader takes what is no JSON: NaN, numbers beyond all bounds, halves of characters.
            return ParsedReply(fault=UNPARSABLE)
        parsed = self.parse(item, answer)
        return replace(parsed, in_prose=True) if problem else parsed

    def make_outcomes_of_records(self, records: Sequence[Record]) -> list[Outcome]:
        """Return the outcome of every record of one system, including records without a reply."""
        outcomes = []
        for record in records:
            item = self.items[record.coordinates["item"]]
            parsed = self.parse_reply(item, record.reply or "", record.status)
            form = str(record.sent.get("json_schema", ""))
            repetition = int(record.coordinates["repetition"])
            outcomes.append(
                Outcome(
                    item,
                    parsed,
                    repetition,
                    record.key,
                    record.reply or "",
                    form and ("in words" if form == "in words" else "schema"),
                )
            )
        return self.add_facts_of_related_outcomes(outcomes)
