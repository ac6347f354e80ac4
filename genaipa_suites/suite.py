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
from genaipa.files.text import DAMAGE, digest
from genaipa.runs.records import Digests
from genaipa.systems.base import Message
from genaipa.tasks.base import Reading, Task
from genaipa.tasks.json_reply import last_json, read_json
from genaipa_suites import asking, probes
from genaipa_suites.asking import templates_of
from genaipa_suites.baseline import PREFIX, Baseline
from genaipa_suites.data import DataFiles, SuiteSource
from genaipa_suites.encoders import encoder as encoders
from genaipa_suites.material import CUT_OFF, FAILED, REFUSED, UNPARSABLE, Given, Item, Material, Outcome, stratified
from genaipa_suites.measure import Measure
from genaipa_suites.plan import SAMPLE, SuitePlan

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
    """Its authors' name for it."""
    version: ClassVar[int] = 1
    """One more whenever its prompts, its reading of replies or its scorer change: figures of two can't be compared."""
    about: ClassVar[str]
    """Its question and its scores, in a sentence."""
    citation: ClassVar[str]
    data: ClassVar[tuple[SuiteSource, ...]]
    """The data sets that its splits are read from."""
    splits: ClassVar[tuple[str, ...]]
    """The published splits, that evaluated by default first."""
    train: ClassVar[str] = "train"
    """The split that trained baselines learn from, and examples are drawn from."""
    measures: tuple[Measure, ...]
    """Its figures, the most important first. `__init__` may set others for a split
    whose references are of another kind."""
    parts: Mapping[str, Mapping[str, tuple[Measure, ...]]] = {}
    """Breakdowns that are none of items (those are `Item.groups`), as by the kind of a span that is one of several in
    an item: name of the breakdown → its groups, each with the measures of it, over all outcomes."""
    error_kinds: tuple[str, ...] = ()
    """Types of errors that `errors` tells apart, in the order in which they are shown."""
    about_errors: str = ""
    """Sentences for a reader about them: which comes first where two hold."""
    clusters: ClassVar[str] = "policies"
    """The word for the units that `Item.cluster` names, and by which intervals draw."""
    is_joint: ClassVar[bool] = False
    """Whether outcomes bear on one another (`together`), so that a run's are scored all at once."""
    reads_prose: ClassVar[bool] = False
    """Whether a reply that is no JSON is read all the same."""
    beside: tuple[str, str] | tuple[()] = ()
    """The names of two measures that a figure has beside each other, and says which systems are highest in the second:
    that is the one to worry about. Empty for none."""
    remembered: ClassVar[str] = ""
    """The name of the measure that is set apart for the clusters that a system knows by heart (without the text it is
    right about them), and for the others; empty for none."""
    dependent: ClassVar[str] = ""
    """A sentence on items that are not independent, for its published data; empty where clusters are known."""
    baselines: tuple[Baseline, ...] = ()
    head: ClassVar[EncoderHead | None] = None
    """The encoder that can be fine-tuned for it."""
    seen: ClassVar[str] = ""
    """A sentence where the published train split holds what the others ask about."""
    schema: ClassVar[Mapping[str, Any]]
    """JSON schema of a reply; every property required, none additional."""
    max_tokens: ClassVar[int | None] = None
    """Longest reply, where the user sets none."""

    asking: encoders.Asking | None = None
    """The run, once it is asked."""
    is_part = False
    """Whether it is asked as one of several, as in PrivacyGLUE."""
    left_out = ""
    """The items of a new run that its probe can't ask about, in words."""

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        super().__init__(spec, workspace)
        known = [baseline.name for baseline in self.baselines]
        for name in spec.systems:
            if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known:
                raise UnknownNameError(f"baseline of {spec.task}", name, [PREFIX + one for one in known])
            if name.startswith("manual/") and self.plan.shots:
                raise UsageError(
                    f"{name} is a web chat, which can't be shown examples with replies; leave out the shots."
                )
            if name.startswith(PREFIX) and self.plan.probe:
                raise UsageError(f"{name} answers by rule; leave it out, or ask it without a probe.")
        if self.plan.probe == probes.CONTINUATION:
            if self.plan.shots:
                raise UsageError("the probe continuation has no examples; leave out the shots.")
            # The suite's own are of other replies.
            self.measures, self.parts, self.error_kinds, self.baselines = (probes.CONTINUED,), {}, (), ()

    @property
    def stem(self) -> str:
        """The name in names of files and in tables: one that is asked as `module:Class` has a dot there."""
        return self.name.replace(":", ".")

    @cached_property
    def plan(self) -> SuitePlan:
        """The plan: what is asked of it."""
        assert isinstance(self.spec.plan, SuitePlan), "it is a suite's run"
        return self.spec.plan

    @cached_property
    def files(self) -> DataFiles:
        """Its files, as they are found from this workspace."""
        return DataFiles(self.name, self.data, self.workspace)

    # For a suite to write: three that every one has, and those that it may have.

    @abstractmethod
    def load(self, split: str) -> Material:
        """All items of a split, read through `self.files` and checked; a UsageError or DataError with the remedy."""

    @abstractmethod
    def parse(self, item: Item, found: Any) -> Given:
        """The prediction in a reply's JSON object that fits the schema, or its fault."""

    @abstractmethod
    def gold_reply(self, item: Item) -> str:
        """The reply that would be right in every way; it answers the examples in a prompt."""

    def sampled(self, items: Sequence[Item], size: int) -> list[Item]:
        """As many items as `size`, or nearly, in their order."""
        return stratified(items, size, self.spec.seed)

    def probed(self, material: Material) -> Material:
        """The items as the plan's probe asks about them; a UsageError for a probe that can tell nothing here."""
        return probes.applied(self.plan.probe, material)

    def together(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """The outcomes of one system, each with what another of them says of it."""
        return list(outcomes)

    def messages(self, item: Item) -> list[Message]:
        """The messages that ask about an item."""
        return [Message("user", self.render("", **self.asked_about(item)))]

    def again(self, item: Item, reply: str) -> Message:
        """The message that asks an item after another's `reply`; for items with an `after`."""
        raise NotImplementedError

    def people_about(self, outcomes: Sequence[Outcome]) -> str:  # noqa: ARG002 - for suites that can
        """A sentence on `people`, for the note beside their row: their references, and on which of the items."""
        return "one reference against the others"

    def people(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:  # noqa: ARG002 - for suites that can
        """Measure → the figure (0 to 1) that people reach on the items of these outcomes, from several references."""
        return {}

    def gold_shown(self, item: Item) -> Any:
        """The gold label as people read it: text, a list, or an object of such."""
        return item.gold

    def said(self, outcome: Outcome) -> Any:
        """The prediction as people read it, in the form of `gold_shown`; of a reply without a fault."""
        return outcome.given.prediction

    def errors(self, outcome: Outcome) -> Mapping[str, int]:
        """Type of error (one of `error_kinds`) → how many of it an outcome has; types that it has none of left out."""
        why = self.why(outcome)
        return {why: 1} if why in self.error_kinds else {}

    @property
    def single(self) -> Measure:
        """The measure that scores single items: the first one."""
        return self.measures[0]

    @property
    def grouped(self) -> tuple[Measure, ...]:
        """The measures of groups of items, the main one first: no mean over labels, since a group has only some."""
        return self.measures[:2]

    def why(self, outcome: Outcome) -> str:
        """The reason of an outcome's score in a few words: a fault, a type of error, or empty for all right."""
        return outcome.given.fault

    # What every suite has.

    @property
    def shows_documents(self) -> bool:
        """Whether its items share long texts."""
        return bool(self.material.documents)

    @cached_property
    def material(self) -> Material:
        """The items that are asked: from the run's folder, else the files, sampled by `--limit`, changed by a probe."""
        if self.folder is not None:
            kept = self.folder.path / self._kept(MATERIAL)
            return msgspec.json.decode(kept.read_bytes(), type=Material)
        drawn = asking.drawn(self)
        self.left_out = drawn.left_out
        return drawn.material

    @cached_property
    def items(self) -> dict[str, Item]:
        """The items that are asked, by id."""
        return {item.id: item for item in self.material.items}

    @cached_property
    def following(self) -> dict[str, Item]:
        """The items that are asked after another, in its conversation, by that one's id."""
        return {item.after: item for item in self.material.items if item.after}

    @property
    def learns_from(self) -> str:
        """The split of `training`: of the sample the sample itself, since it has no other."""
        return SAMPLE if self.plan.split == SAMPLE else self.train

    @cached_property
    def training(self) -> Material:
        """The split that is learnt from; a UsageError with the remedy where it is not here."""
        return self.load(self.learns_from)

    def asked_about(self, item: Item) -> dict[str, Any]:
        """The variables of the template: what is shown of an item, and its long text as `document`."""
        document = {"document": self.material.documents[item.document]} if item.document else {}
        return {**item.shown, **document}

    def render(self, part: str, **variables: Any) -> str:
        """The message made of this suite's template in the plan's wording; `part` names a further template."""
        return str(self.templates[part].render(**variables)).strip()

    @cached_property
    def templates(self) -> Mapping[str, Template]:
        """The templates of the plan's wording by part, and that of its probe."""
        return templates_of(self)

    @property
    def notes(self) -> tuple[str, ...]:
        """The terms of the data read; what is of the user's own; what a sample is."""
        return asking.notes(self)

    @property
    def digests(self) -> Digests:
        """SHA-256 of the material and of the templates."""
        return Digests({}, {}, {}, {}, task={name: digest(text) for name, text in self.sources.items()})

    @property
    def sources(self) -> dict[str, str]:
        """The material, the templates, and how encoders are fine-tuned where one is asked."""
        material = msgspec.json.format(msgspec.json.encode(self.material), indent=1).decode()
        templates = {self._kept(f"{name or 'prompt'}.jinja"): one.source for name, one in self.templates.items()}
        return {self._kept(MATERIAL): material, **templates, **encoders.sources(self)}

    def _kept(self, name: str) -> str:
        return f"suites/{self.stem}/{name}"

    def planned(self) -> int:
        """The number of items, over all repetitions."""
        # A baseline that can't learn, for want of a package or a train split, is told before a run is begun.
        for system in self.spec.systems:
            self.baseline_reply(system)
        return len(self.material.items) * self.spec.repetitions

    def dialogues(self, target: Target) -> Iterator[Dialogue]:
        """One dialogue for each item and repetition; items that share a text in a row."""
        return asking.dialogues(self, target)

    def sample(self, target: Target) -> tuple[Iterator[Dialogue], int]:
        """Those about one long text, or after the same examples, in one dialogue: there is seen what repeats these."""
        return asking.sample(self, target) or super().sample(target)

    def coordinates(self, item: Item, repetition: int) -> dict[str, str]:
        """The coordinates of an item's record."""
        return {"split": self.plan.split, "item": item.id, "repetition": str(repetition)}

    @contextmanager
    def keeping(self, folder: RunFolder) -> Iterator[Callable[[Record], None]]:
        """Held while a run is asked: an encoder keeps its predictions in the folder, and stops training at the end."""
        self.asking = encoders.Asking(folder.path)
        try:
            yield lambda _record: None
        finally:
            self.asking.over.set()

    def baseline_reply(self, system: str) -> Callable[[Item], str] | None:
        """The replies of a baseline, made once; None for any other system."""
        baseline = next((one for one in self.baselines if PREFIX + one.name == system), None)
        if baseline and system not in self._made:
            self._made[system] = baseline.make(self)
        return self._made.get(system)

    @cached_property
    def _made(self) -> dict[str, Callable[[Item], str]]:
        return {}

    def read(self, call: Call, reply: str) -> Reading:
        """The reading of a whole reply."""
        return self.read_status(call, reply, "answered")

    def read_status(self, call: Call, reply: str, status: Status) -> Reading:
        """The prediction of a reply as JSON, or its fault; its score."""
        item = self.items[call.coordinates["item"]]
        given = self.given(item, reply, status)
        shown = given.fault or msgspec.json.encode(given.prediction).decode()
        score = self.single.of([Outcome(item, given)])
        return Reading(shown, score if score == score else None)  # noqa: PLR0124 - NaN

    def given(self, item: Item, reply: str, status: str = "answered") -> Given:
        """A reply as it is scored: one that was cut off or refused is no answer, whatever it says.

        Of a reply that is no JSON the last object in it that fits is taken, as benchmarks' harnesses do, and marked.
        """
        if self.plan.probe == probes.CONTINUATION and status in ("answered", "truncated"):
            return Given(reply)
        if status in _STATUS:
            return Given(fault=_STATUS[status])
        text, problem = read_json(reply, self.schema)
        if problem and not (text := last_json(reply, self.schema)):
            return Given(fault=UNPARSABLE)
        try:
            found = msgspec.json.decode(text.encode())
        except DAMAGE:
            # Python's reader takes what is no JSON: NaN, numbers beyond all bounds, halves of characters.
            return Given(fault=UNPARSABLE)
        given = self.parse(item, found)
        return replace(given, in_prose=True) if problem else given

    def outcomes(self, records: Sequence[Record]) -> list[Outcome]:
        """The outcome of every record of one system, those without a reply too."""
        found = []
        for record in records:
            item = self.items[record.coordinates["item"]]
            given = self.given(item, record.reply or "", record.status)
            form = str(record.sent.get("json_schema", ""))
            repetition = int(record.coordinates["repetition"])
            found.append(
                Outcome(
                    item,
                    given,
                    repetition,
                    record.key,
                    record.reply or "",
                    form and ("in words" if form == "in words" else "schema"),
                )
            )
        return self.together(found)
