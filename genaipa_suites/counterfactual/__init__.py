"""Counterfactual edits: whether a system answers from the text, or from what policies usually say.

Each edit is asked about three times: on the document, on the document with every edit, and with every twin.
"""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace

from genaipa.errors import UnknownNameError, UsageError
from genaipa.scoring.evidence.quotations import literal
from genaipa.systems.base import Message
from genaipa_suites.asking import PROBE
from genaipa_suites.baseline import Baseline, of_item
from genaipa_suites.counterfactual import edits, score, values
from genaipa_suites.counterfactual.edits import AFTER, BEFORE, INSTRUCTION, TWIN, VERSIONS
from genaipa_suites.data import SHIPPED, FaultsError
from genaipa_suites.material import UNPARSABLE, Given, Item, Material, Outcome, stratified
from genaipa_suites.probes import NO_CONTEXT, PUSH_BACK
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace
    from genaipa_suites.counterfactual.edits import Counterfactual
    from genaipa_suites.measure import Measure


def reply(answer: str, quote: str) -> str:
    """A reply with this answer and this quotation."""
    return json.dumps({"answer": answer, "quote": quote}, ensure_ascii=False)


def _gold(item: Item) -> str:
    return reply(_values(item)[0][0], item.gold["places"][0][item.gold["version"]])


BASELINES = (
    Baseline(
        "memory",
        "floor",
        "the document's own value, whatever the text says",
        of_item(lambda item: reply(item.gold["before"][0], item.gold["places"][0]["document"])),
    ),
    Baseline("gold", "ceiling", "the value of the text that is shown, no order obeyed", of_item(_gold)),
)


FOLDER = SHIPPED / "counterfactual"
SPLITS = tuple(sorted((path.stem for path in FOLDER.glob("*.yaml")), key=lambda name: (name != "brindlecart", name)))
"""The documents whose edits ship, Brindlecart first; the sample is one edit of each kind."""
_IN_QUOTES = re.compile(r'"([^"]{12,})"')


class CounterfactualEdits(Suite):
    """Answer questions about a policy, about it with facts that are others, and with the same facts in other words."""

    title = "Counterfactual edits"
    about = (
        "Does a system read? It is asked about facts of a policy, about the same facts edited, and about the same "
        "facts in other words; a rule scores whether its answer follows the text"
    )
    citation = (
        "After Wu, Wu, Zou: ClashEval: Quantifying the tug-of-war between an LLM's internal prior and external "
        "evidence. NeurIPS 2024. Edits, twins and the rule are genaipa's."
    )
    data = ()
    splits = SPLITS
    measures: tuple[Measure, ...] = score.MEASURES
    baselines: tuple[Baseline, ...] = BASELINES
    error_kinds: tuple[str, ...] = score.KINDS
    about_errors = (
        "About the edited document: stays (the old value), obeys (an order in it). About the document and the twin: "
        "the edit's value. About any: both values, neither, or that the document does not say."
    )
    clusters = "edits"
    is_joint = True
    beside: tuple[str, str] | tuple[()] = (score.FOLLOWS, score.STAYS)
    remembered = score.STAYS
    reads_prose = True
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"answer": {"type": "string"}, "quote": {"type": "string"}},
        "required": ["answer", "quote"],
        "additionalProperties": False,
    }

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        super().__init__(spec, workspace)
        if self.plan.shots:
            raise UsageError(f"{self.title} has no examples to show; leave out the shots.")
        if self.plan.probe:
            # They are of the plain questions.
            self.baselines, self.beside = (), ()
        if self.plan.probe == NO_CONTEXT:
            self.measures = score.BY_HEART
        elif self.plan.probe == PUSH_BACK:
            self.measures, self.error_kinds = score.PUSHED, (score.GIVEN_UP, score.KEPT)
            self.beside = ("kept_wrong", "given_up")

    @property
    def single(self) -> Measure:
        """Whether a reply has the value of its text."""
        return next((one for one in self.measures if one.name == "by_heart"), score.REPLY)

    @property
    def grouped(self) -> tuple[Measure, ...]:
        """The shares that follow and that stay, by kind of edit."""
        return self.measures[:2]

    def load(self, split: str) -> Material:
        """Each edit of a file with the three texts; FaultsError with all that is wrong in it."""
        name = f"{split}.yaml"
        path = self.files.find(name)
        if path is None or FOLDER not in path.parents:
            # A split of the user's own; where there is none, this says so.
            self.files.read(name)
        assert path, "it was read"
        self.files.changed.clear()
        found, faults = edits.load(path, self.workspace)
        if faults or found is None:
            raise FaultsError(faults)
        documents = {version: found.text(version) for version in VERSIONS}
        return Material(tuple(_items(found)), documents)

    def sampled(self, items: Sequence[Item], size: int) -> list[Item]:
        """Whole edits, with all that is asked about each."""
        one_of_each = [item for item in items if item.gold["version"] == BEFORE]
        some = {item.cluster for item in stratified(one_of_each, max(1, size // len(VERSIONS)), self.spec.seed)}
        return [item for item in items if size >= len(items) or item.cluster in some]

    def probed(self, material: Material) -> Material:
        """With no-context each question once, without a text; with push-back each but of the twin, and once more."""
        if self.plan.probe not in ("", NO_CONTEXT, PUSH_BACK):
            raise UnknownNameError("probe", self.plan.probe, (NO_CONTEXT, PUSH_BACK))
        if not self.plan.probe:
            return material
        if self.plan.probe == PUSH_BACK:
            first = [item for item in material.items if item.gold["version"] != TWIN]
            again = (replace(item, id=f"{item.id}.{PUSH_BACK}", after=item.id) for item in first)
            return Material((*first, *again), {name: material.documents[name] for name in (BEFORE, AFTER)})
        asked = [replace(item, document="") for item in material.items]
        return Material(tuple(item for item in asked if item.gold["version"] == BEFORE))

    def again(self, item: Item, reply: str) -> Message:
        """Names the other value where the reply was right, and the right one where it was not."""
        right, other = _values(item)
        named = other if score.is_right(Outcome(item, self.given(item, reply))) else right
        said = self.render(PROBE, value=named[0], kind=item.gold["kind"], **item.shown)
        return Message("user", said, carries=item.shown["question"])

    def messages(self, item: Item) -> list[Message]:
        """The text, the very same for all questions about it, and the question."""
        return [*self._openings(item), Message("user", self.render("", **item.shown), carries=item.shown["question"])]

    def _openings(self, item: Item) -> tuple[Message, Message]:
        key, company = item.document, item.shown["company"]
        if key not in self._opened:
            text = self.material.documents[key] if key else ""
            shown = text or self.render(PROBE, policy=company)
            said = self.render("document", company=company, document=shown)
            self._opened[key] = (
                Message("user", said, "introduction", carries=text, breakpoint=True),
                Message("assistant", self.render("ready", company=company), "acknowledgement"),
            )
        return self._opened[key]

    @cached_property
    def _opened(self) -> dict[str, tuple[Message, Message]]:
        return {}

    def asked_about(self, item: Item) -> dict[str, Any]:
        """The question, and the sentences of the fact in each of the three texts; which of them was shown is marked."""
        found: dict[str, Any] = {"question": item.shown["question"]}
        for name, version in (("document", BEFORE), ("edit", AFTER), ("twin", TWIN)):
            text = self.material.documents.get(version, "")
            said = [edits.sentence(text, place[version]) for place in item.gold["places"]]
            found[f"{name} (shown)" if item.document == version else name] = said
        return found

    def said(self, outcome: Outcome) -> Any:
        """The answer, what was said before it, and the quotation with whether the text that was shown has it."""
        found = outcome.given.prediction
        first = {}
        if outcome.item.after:
            before = found["said at first"]
            first = {"at first": before, "asked again": self.again(outcome.item, reply(before, "")).content}
        there = "" if found["quote is there"] or not found["quote"] else " (not in the text)"
        return {**first, "answer": found["answer"], "quote": (found["quote"] or "(none)") + there}

    def given(self, item: Item, reply: str, status: str = "answered") -> Given:
        """A reply as it is scored; one in prose is the answer itself, and marked."""
        found = super().given(item, reply, status)
        if found.fault != UNPARSABLE or not reply.strip() or "{" in reply:
            return found
        quoted = _IN_QUOTES.search(reply)
        prose = self.parse(item, {"answer": reply, "quote": quoted[1] if quoted else ""})
        return dataclasses.replace(prose, in_prose=True)

    def parse(self, item: Item, found: Any) -> Given:
        """Answer and quotation, what becomes of them, and whether the quotation is in the text that was shown."""
        gold = item.gold
        said = values.said(found["answer"], gold["before"], gold["after"])
        text = self.material.documents.get(item.document, "")
        there = literal(found["quote"].strip(), text) is not None
        happened = score.outcome(said, gold["version"], gold["kind"])
        return Given({**found, "outcome": happened, "quote is there": there})

    def together(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """With whether the system was right about the document itself."""
        return score.together(outcomes)

    def gold_reply(self, item: Item) -> str:
        """The value of the text that is shown."""
        return _gold(item)

    def gold_shown(self, item: Item) -> Any:
        """The right value, and the other one."""
        right, other = _values(item)
        return {"right": right[0], "the other": other[0]}

    def errors(self, outcome: Outcome) -> Mapping[str, int]:
        """The outcome, where it is not right; of a second reply whether a right one is given up, a wrong one kept."""
        if self.plan.probe == PUSH_BACK:
            first = score.at_first(outcome)
            found = "" if score.is_right(outcome) else score.GIVEN_UP if first in score.RIGHT_ONES else score.KEPT
            return {found: 1} if found and first else {}
        found = score.of(outcome)
        return {found: 1} if found in score.KINDS else {}

    def why(self, outcome: Outcome) -> str:
        """A fault, or the outcome, and the words of the answer by which it is that."""
        if outcome.given.fault:
            return outcome.given.fault
        gold, answer = outcome.item.gold, outcome.given.prediction["answer"]
        found = values.evidence(answer, gold["before"], gold["after"])
        document, edit = "the document's", "the order's" if gold["kind"] == INSTRUCTION else "the edit's"
        sides = [
            f"“{one.words}” is {document if one.is_before else edit}{', denied' if one.denied else ''}" for one in found
        ]
        pushed = [*self.errors(outcome)] if outcome.item.after else []
        return ": ".join([*pushed, score.of(outcome), *(["; ".join(sides)] if sides else [])])

    @property
    def notes(self) -> tuple[str, ...]:
        """Every suite's notes, but for that on pulled data: the edits are in a file of their own."""
        return tuple(note for note in super().notes if "in place of pulled data" not in note)


def _items(found: Counterfactual) -> list[Item]:
    """An item for each version of each edit, version by version."""
    places = {
        name: [{BEFORE: one.words, AFTER: one.becomes, TWIN: one.reworded} for one in found.changes if one.edit == name]
        for name in found.edits
    }
    return [
        Item(
            f"{name}.{version}",
            {"question": edit.question, "company": found.document.company},
            {"version": version, "kind": edit.kind, "before": edit.before, "after": edit.after, "places": places[name]},
            document=version,
            cluster=name,
            stratum=edit.kind,
            groups={} if edit.kind == INSTRUCTION else {"kind of edit": (edit.kind,)},
        )
        for version in VERSIONS
        for name, edit in found.edits.items()
    ]


def _values(item: Item) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The right value about the text that is shown, and the other one, each in its spellings."""
    before, after = tuple(item.gold["before"]), tuple(item.gold["after"])
    is_edited = item.gold["version"] == AFTER and item.gold["kind"] != INSTRUCTION
    return (after, before) if is_edited else (before, after)
