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
from genaipa.scoring.evidence.quotations import match_quotation_exact_or_normalized
from genaipa.systems.base import Message
from genaipa_suites.asking import PROBE
from genaipa_suites.baseline import Baseline, adapt_item_function_to_baseline
from genaipa_suites.counterfactual import edits, score, values
from genaipa_suites.counterfactual.edits import AFTER, BEFORE, INSTRUCTION, TWIN, VERSIONS
from genaipa_suites.data import SHIPPED, FaultsError
from genaipa_suites.material import UNPARSABLE, Item, Material, Outcome, ParsedReply, sample_by_stratum
from genaipa_suites.probes import NO_CONTEXT, PUSH_BACK
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace
    from genaipa_suites.counterfactual.edits import Counterfactual
    from genaipa_suites.measure import Measure


def format_answer_and_quote_reply(answer: str, quote: str) -> str:
    """Return a reply with this answer and this quotation."""
    return json.dumps({"answer": answer, "quote": quote}, ensure_ascii=False)


def _gold_reply(item: Item) -> str:
    return format_answer_and_quote_reply(
        _right_and_wrong_value_spellings(item)[0][0], item.gold["places"][0][item.gold["version"]]
    )


BASELINES = (
    Baseline(
        "memory",
        "floor",
        "the document's own value, whatever the text says",
        adapt_item_function_to_baseline(
            lambda item: format_answer_and_quote_reply(item.gold["before"][0], item.gold["places"][0]["document"])
        ),
    ),
    Baseline(
        "gold",
        "ceiling",
        "the value in the text shown, ignoring planted orders",
        adapt_item_function_to_baseline(_gold_reply),
    ),
)


FOLDER = SHIPPED / "counterfactual"
SPLITS = tuple(sorted((path.stem for path in FOLDER.glob("*.yaml")), key=lambda name: (name != "brindlecart", name)))
"""The documents whose edits ship, Brindlecart first; the sample is one edit of each kind."""
_IN_QUOTES = re.compile(r'"([^"]{12,})"')


class CounterfactualEdits(Suite):
    """Answer questions about a policy, about it with facts that are others, and with the same facts in other words."""

    title = "Counterfactual edits"
    about = (
        "Does a system read the text? It is asked about facts of a policy, about the same facts after edits, and "
        "about the same facts in other words. A rule scores whether its answers follow the text"
    )
    citation = (
        "After Wu, Wu, Zou: ClashEval: Quantifying the tug-of-war between an LLM's internal prior and external "
        "evidence. NeurIPS 2024. The edits, the reworded texts and the scoring rule are genaipa's."
    )
    data = ()
    splits = SPLITS
    measures: tuple[Measure, ...] = score.MEASURES
    baselines: tuple[Baseline, ...] = BASELINES
    error_kinds: tuple[str, ...] = score.KINDS
    about_errors = (
        "Errors on the edited document: stays (keeps the old value) and obeys (follows a planted order). On the "
        "original and the reworded document: the edit's value. On any of the three: both values, neither value, "
        "and says silent."
    )
    clusters = "edits"
    is_joint = True
    paired_measures: tuple[str, str] | tuple[()] = (score.FOLLOWS, score.STAYS)
    memory_measure = score.STAYS
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
            raise UsageError(f"{self.title} has no examples; leave out --shots.")
        if self.plan.probe:
            # They are of the plain questions.
            self.baselines, self.paired_measures = (), ()
        if self.plan.probe == NO_CONTEXT:
            self.measures = score.BY_HEART
        elif self.plan.probe == PUSH_BACK:
            self.measures, self.error_kinds = score.PUSHED, (score.GIVEN_UP, score.KEPT)
            self.paired_measures = ("kept_wrong", "given_up")

    @property
    def item_measure(self) -> Measure:
        """The measure of whether a reply has the value of its text."""
        return next((measure for measure in self.measures if measure.name == "by_heart"), score.REPLY)

    @property
    def measures_for_item_groups(self) -> tuple[Measure, ...]:
        """The shares that follow and that stay, by kind of edit."""
        return self.measures[:2]

    def load(self, split: str) -> Material:
        """Load each edit of a file with the three texts; FaultsError has all that is wrong in it."""
        name = f"{split}.yaml"
        path = self.files.find(name)
        if path is None or FOLDER not in path.parents:
            # A split of the user's own; where there is none, this says so.
            self.files.read_and_digest(name)
        assert path, "it was read"
        self.files.changed.clear()
        counterfactual, faults = edits.load_counterfactual_and_problems(path, self.workspace)
        if faults or counterfactual is None:
            raise FaultsError(faults)
        documents = {version: counterfactual.original_edited_or_reworded_text(version) for version in VERSIONS}
        return Material(tuple(_make_items_of_each_text_version(counterfactual)), documents)

    def draw_sample(self, items: Sequence[Item], sample_size: int) -> list[Item]:
        """Draw whole edits, with all that is asked about each."""
        one_of_each = [item for item in items if item.gold["version"] == BEFORE]
        edit_names = {
            item.cluster
            for item in sample_by_stratum(one_of_each, max(1, sample_size // len(VERSIONS)), self.spec.seed)
        }
        return [item for item in items if sample_size >= len(items) or item.cluster in edit_names]

    def make_probed_material(self, material: Material) -> Material:
        """With no-context ask each question once, without a text; with push-back each but the twin's, and once more."""
        if self.plan.probe not in ("", NO_CONTEXT, PUSH_BACK):
            raise UnknownNameError("probe", self.plan.probe, (NO_CONTEXT, PUSH_BACK))
        if not self.plan.probe:
            return material
        if self.plan.probe == PUSH_BACK:
            first_items = [item for item in material.items if item.gold["version"] != TWIN]
            second_items = (replace(item, id=f"{item.id}.{PUSH_BACK}", after=item.id) for item in first_items)
            return Material((*first_items, *second_items), {name: material.documents[name] for name in (BEFORE, AFTER)})
        items = [replace(item, document="") for item in material.items]
        return Material(tuple(item for item in items if item.gold["version"] == BEFORE))

    def follow_up(self, item: Item, reply: str) -> Message:
        """Name the other value where the reply was right, and the right one where it was not."""
        right_value, other_value = _right_and_wrong_value_spellings(item)
        named_value = other_value if score.is_right(Outcome(item, self.parse_reply(item, reply))) else right_value
        text = self.render_template(PROBE, value=named_value[0], kind=item.gold["kind"], **item.shown)
        return Message("user", text, carries=item.shown["question"])

    def messages(self, item: Item) -> list[Message]:
        """Return the text, the very same for all questions about it, and the question."""
        return [
            *self._text_and_acknowledgement_messages(item),
            Message("user", self.render_template("", **item.shown), carries=item.shown["question"]),
        ]

    def _text_and_acknowledgement_messages(self, item: Item) -> tuple[Message, Message]:
        key, company = item.document, item.shown["company"]
        if key not in self._opening_message_cache:
            text = self.material.documents[key] if key else ""
            document = text or self.render_template(PROBE, policy=company)
            introduction = self.render_template("document", company=company, document=document)
            self._opening_message_cache[key] = (
                Message("user", introduction, "introduction", carries=text, breakpoint=True),
                Message("assistant", self.render_template("ready", company=company), "acknowledgement"),
            )
        return self._opening_message_cache[key]

    @cached_property
    def _opening_message_cache(self) -> dict[str, tuple[Message, Message]]:
        return {}

    def readable_item_fields(self, item: Item) -> dict[str, Any]:
        """Return the question, and the fact's sentences in each of the three texts, the one shown marked."""
        variables: dict[str, Any] = {"question": item.shown["question"]}
        for name, version in (("document", BEFORE), ("edit", AFTER), ("twin", TWIN)):
            text = self.material.documents.get(version, "")
            sentences = [
                edits.surrounding_sentence_or_words(text, edited_place[version]) for edited_place in item.gold["places"]
            ]
            variables[f"{name} (shown)" if item.document == version else name] = sentences
        return variables

    def readable_prediction(self, outcome: Outcome) -> Any:
        """Return the answer, what was said before it, and the quotation with whether the text that was shown has it."""
        prediction = outcome.parsed.prediction
        first_reply = {}
        if outcome.item.after:
            before = prediction["said at first"]
            first_reply = {
                "at first": before,
                "asked again": self.follow_up(outcome.item, format_answer_and_quote_reply(before, "")).content,
            }
        quote_note = "" if prediction["quote is there"] or not prediction["quote"] else " (not in the text)"
        return {**first_reply, "answer": prediction["answer"], "quote": (prediction["quote"] or "(none)") + quote_note}

    def parse_reply(self, item: Item, reply: str, status: str = "answered") -> ParsedReply:
        """Parse a reply as it is scored; one in prose is the answer itself, and marked."""
        parsed = super().parse_reply(item, reply, status)
        if parsed.fault != UNPARSABLE or not reply.strip() or "{" in reply:
            return parsed
        quotation = _IN_QUOTES.search(reply)
        prose = self.parse(item, {"answer": reply, "quote": quotation[1] if quotation else ""})
        return dataclasses.replace(prose, in_prose=True)

    def parse(self, item: Item, answer: Any) -> ParsedReply:
        """Read answer and quotation, what becomes of them, and whether the quotation is in the text that was shown."""
        gold = item.gold
        answered_value = values.classify_answered_value(answer["answer"], gold["before"], gold["after"])
        text = self.material.documents.get(item.document, "")
        is_quote_there = match_quotation_exact_or_normalized(answer["quote"].strip(), text) is not None
        outcome_name = score.classify_outcome(answered_value, gold["version"], gold["kind"])
        return ParsedReply({**answer, "outcome": outcome_name, "quote is there": is_quote_there})

    def add_facts_of_related_outcomes(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """Add to each outcome whether the system was right about the document itself."""
        return score.add_right_on_original_and_first_answers(outcomes)

    def gold_reply(self, item: Item) -> str:
        """Return the reply with the value of the text that is shown."""
        return _gold_reply(item)

    def readable_gold(self, item: Item) -> Any:
        """Return the right value, and the other one."""
        right_value, other_value = _right_and_wrong_value_spellings(item)
        return {"right": right_value[0], "the other": other_value[0]}

    def count_errors_by_kind(self, outcome: Outcome) -> Mapping[str, int]:
        """Count the outcome if it is not right; of a second reply, a right one given up or a wrong one kept."""
        if self.plan.probe == PUSH_BACK:
            first = score.first_outcome_name_or_empty(outcome)
            error = "" if score.is_right(outcome) else score.GIVEN_UP if first in score.RIGHT_ONES else score.KEPT
            return {error: 1} if error and first else {}
        error = score.outcome_name_or_empty(outcome)
        return {error: 1} if error in score.KINDS else {}

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return a fault, or the outcome and the words of the answer that decide it."""
        if outcome.parsed.fault:
            return outcome.parsed.fault
        gold, answer = outcome.item.gold, outcome.parsed.prediction["answer"]
        evidence = values.find_value_evidence(answer, gold["before"], gold["after"])
        document, edit = "the document's", "the order's" if gold["kind"] == INSTRUCTION else "the edit's"
        sides = [
            f"“{value.words}” is {document if value.is_before else edit}{', denied' if value.denied else ''}"
            for value in evidence
        ]
        pushed = [*self.count_errors_by_kind(outcome)] if outcome.item.after else []
        return ": ".join([*pushed, score.outcome_name_or_empty(outcome), *(["; ".join(sides)] if sides else [])])

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of every suite, without the one on pulled data: the edits are in a file of their own."""
        return tuple(note for note in super().notes if "not from the pulled data" not in note)


def _make_items_of_each_text_version(counterfactual: Counterfactual) -> list[Item]:
    """Return an item for each version of each edit, version by version."""
    places = {
        name: [
            {BEFORE: change.words, AFTER: change.becomes, TWIN: change.reworded}
            for change in counterfactual.changes
            if change.edit == name
        ]
        for name in counterfactual.edits
    }
    return [
        Item(
            f"{name}.{version}",
            {"question": edit.question, "company": counterfactual.document.company},
            {"version": version, "kind": edit.kind, "before": edit.before, "after": edit.after, "places": places[name]},
            document=version,
            cluster=name,
            stratum=edit.kind,
            groups={} if edit.kind == INSTRUCTION else {"kind of edit": (edit.kind,)},
        )
        for version in VERSIONS
        for name, edit in counterfactual.edits.items()
    ]


def _right_and_wrong_value_spellings(item: Item) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the right value about the text that is shown, and the other one, each in its spellings."""
    before, after = tuple(item.gold["before"]), tuple(item.gold["after"])
    is_edited = item.gold["version"] == AFTER and item.gold["kind"] != INSTRUCTION
    return (after, before) if is_edited else (before, after)
