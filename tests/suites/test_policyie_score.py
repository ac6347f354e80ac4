"""PolicyIE's scorers against second statements of them, and its types of errors."""

from __future__ import annotations

import json
import math
import random
import warnings
from typing import Any

import pytest
from size import size

from genaipa.workspace import find_workspace
from genaipa_suites.material import UNPARSABLE, Item, Outcome, ParsedReply
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.policyie import PolicyIE, score
from genaipa_suites.policyie.data import INTENTS, LABELS, LAYERS, OTHER, role_and_attribute_of_label
from genaipa_suites.spans import Span, bio_tags_or_raise_if_spans_overlap, spans_from_tags

FEW = {
    "type-I": ["action", "data-provider.user", "data-shared.data-other", "data-shared.data-general"],
    "type-II": ["polarity.negation", "method.encryptions", "method.protection-other"],
}


@pytest.fixture
def suite() -> PolicyIE:
    """The suite of the made-up sentences."""
    return PolicyIE(make_suite_run_spec("policyie", SuiteOptions("sample")), find_workspace(None))


def slots(draw: random.Random, layer: str, length: int) -> list[Span]:
    """Random slots of a layer, none of which share a token."""
    cuts = sorted(draw.sample(range(length + 1), draw.choice([0, 0, 2, 4])))
    return [Span(*pair, draw.choice(FEW[layer])) for pair in zip(cuts[::2], cuts[1::2], strict=True)]


def sentence(draw: random.Random, number: int) -> tuple[Item, str]:
    """A sentence of different words with one gold row or two, and a reply about it that is often right."""
    tokens = [f"w{number}x{place}" for place in range(8)]
    rows: list[dict[str, Any]] = []
    for _ in range(draw.choice([1, 1, 2])):
        intent = draw.choice(INTENTS[:3])
        rows.append({"intent": intent, **{layer: [] if intent == OTHER else slots(draw, layer, 8) for layer in LAYERS}})
    said = {layer: rows[0][layer] if draw.random() < 0.4 else slots(draw, layer, 8) for layer in LAYERS}
    found = []
    for start, end, label in sorted(span for spans in said.values() for span in spans):
        role, attribute = role_and_attribute_of_label(label)
        found.append({"text": " ".join(tokens[start:end]), "role": role, "attribute": attribute})
    intent = rows[0]["intent"] if draw.random() < 0.6 else draw.choice(INTENTS[:3])
    item = Item(str(number), {"text": " ".join(tokens)}, json.loads(json.dumps(rows)))
    return item, json.dumps({"intent": intent, "slots": found})


def test_figures_are_those_of_the_scripts(suite: PolicyIE) -> None:
    """Every figure is that of the scripts as described, with seqeval, on random sentences, rows and replies."""
    seqeval = pytest.importorskip("seqeval.metrics", reason="needs seqeval")
    draw = random.Random(11)
    for _ in range(size(small=25, soak=600)):
        pairs = [sentence(draw, number) for number in range(draw.randint(1, 7))]
        outcomes = [Outcome(item, suite.parse_reply(item, reply)) for item, reply in pairs]
        found = {measure.name: measure.compute(outcomes) for measure in suite.measures}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # seqeval warns of labels that are never predicted
            for name, value in stated(outcomes, seqeval).items():
                assert found[name] == pytest.approx(value, nan_ok=True), name


def stated(outcomes: list[Outcome], seqeval: Any) -> dict[str, float]:
    """The figures, stated once more over rows of tags."""
    rows = [(outcome.parsed.prediction, row) for outcome in outcomes for row in outcome.item.gold]
    some = [(said, row) for said, row in rows if row["intent"] != OTHER]
    right = [said["intent"] == row["intent"] for said, row in rows]
    figures = {"intent_accuracy": sum(right) / len(right)}
    means: dict[str, list[float]] = {"macro": [], "micro": []}
    for layer, name in (("type-I", "type_i"), ("type-II", "type_ii")):
        gold, said = ([tags(one, layer) for one in side] for side in zip(*some, strict=True)) if some else ([], [])
        said, gold = gold, said
        if some:
            figures[f"slot_f1_tagger_{name}"] = seqeval.f1_score(gold, said)
            both = [one["intent"] == row["intent"] for one, row in some]
            exact = [same and one == other for same, one, other in zip(both, said, gold, strict=True)]
            figures[f"em_tagger_{name}"] = sum(exact) / len(exact)
            listed = [lists(one, other) for one, other in zip(said, gold, strict=True)]
            figures[f"slot_f1_seq2seq_{name}"] = sum(listed) / len(listed)
            figures[f"em_seq2seq_{name}"] = sum(
                same and one == 1 for same, one in zip(both, listed, strict=True)
            ) / len(both)
        cut = [
            [[tag.partition(".")[0] for tag in tags(one, layer)] for one in side] for side in zip(*rows, strict=True)
        ]
        for average, values in means.items():
            there = any(tag != "O" for side in cut for each in side for tag in each)
            values.append(
                seqeval.f1_score(cut[1], cut[0], average=average) if there or average == "micro" else float("nan")
            )
    return figures | {f"slot_f1_{name}_privacyglue": sum(values) / 2 for name, values in means.items()}


def tags(said: dict[str, Any], layer: str) -> list[str]:
    """The tags of a gold row or a prediction in a layer."""
    if "slots" not in said:
        return bio_tags_or_raise_if_spans_overlap([Span(*each) for each in said[layer]], 8)
    own = [slot for slot in said["slots"] if slot["label"] in LABELS[layer]]
    return bio_tags_or_raise_if_spans_overlap([Span(slot["start"], slot["end"], slot["label"]) for slot in own], 8)


def lists(said: list[str], gold: list[str]) -> float:
    """F1 of lists of labels with texts, as the seq2seq script has it; here no text is there twice."""
    one, other = spans_from_tags(said), spans_from_tags(gold)
    if not one and not other:
        return 1.0
    matches = sum(span in one for span in other)
    precision, recall = (matches / len(one) if one else 0.0), (matches / len(other) if other else 0.0)
    return 2 * precision * recall / (precision + recall) if matches else 0.0


def asked(suite: PolicyIE, *given: tuple[str, str, str], intent: str = "data-sharing-disclosure") -> Outcome:
    """The outcome of a reply about a sentence with five slots, and a second gold row without any."""
    text = "we share your old names and your habits with poets and old friends unless asked"
    spans = [Span(0, 1, "data-sharer.first-party-entity"), Span(1, 2, "action"), Span(2, 3, "data-provider.user")]
    spans += [Span(3, 5, "data-shared.data-contact"), Span(9, 13, "data-receiver.third-party-entity")]
    rows = [
        {"intent": "data-sharing-disclosure", "type-I": spans, "type-II": []},
        {"intent": OTHER, "type-I": [], "type-II": []},
    ]
    item = Item("1", {"text": text}, json.loads(json.dumps(rows)))
    found = [{"text": text, "role": role, "attribute": attribute} for text, role, attribute in given]
    return Outcome(item, suite.parse_reply(item, json.dumps({"intent": intent, "slots": found})))


FRIENDS = ("data-receiver", "third-party-entity")
CASES: dict[str, tuple[tuple[tuple[str, str, str], ...], dict[str, int]]] = {
    "right": ((("your", "data-provider", "user"),), {"missing slot": 4}),
    "no label": ((("your", "data-provider", "none"),), {"spurious slot": 1, "missing slot": 5}),
    "spurious": ((("with", "data-holder", "third-party-entity"),), {"spurious slot": 1, "missing slot": 5}),
    "split": ((("poets", *FRIENDS), ("friends", *FRIENDS)), {"wrong slot": 0, "wrong boundary": 2, "missing slot": 4}),
    "whole split": ((("poets and", *FRIENDS), ("old friends", *FRIENDS)), {"wrong split": 2, "missing slot": 4}),
    "split but for a stop word": (
        (("poets", *FRIENDS), ("old friends", *FRIENDS)),
        {"wrong split": 2, "missing slot": 4},
    ),
    "boundary": ((("names", "data-shared", "data-contact"),), {"wrong boundary": 1, "missing slot": 4}),
    "wider": ((("your old names and", "data-shared", "data-contact"),), {"wrong boundary": 1, "missing slot": 4}),
    "label": ((("share", "data-provider", "user"),), {"wrong label": 1, "missing slot": 4}),
    "elsewhere": ((("habits", "data-shared", "data-contact"),), {"wrong slot": 1, "missing slot": 4}),
    "not in the text": ((("friend", *FRIENDS),), {"wrong slot": 1, "missing slot": 4}),
    "none left": ((("your", "data-provider", "user"),) * 3, {"wrong slot": 2, "missing slot": 4}),
}


@pytest.mark.parametrize("case", CASES)
def test_each_type_of_error_is_told(suite: PolicyIE, case: str) -> None:
    """Each of the types, in its precedence; the parts of a split may lack stop words; references that they explain."""
    given, expected = CASES[case]
    errors = suite.count_errors_by_kind(asked(suite, *given))
    assert errors == {kind: number for kind, number in expected.items() if number}
    assert set(errors) <= {*suite.error_kinds}


def test_a_wrong_intent_is_one_error_of_a_row(suite: PolicyIE) -> None:
    """Only rows whose gold is not Other are looked at; a faulty reply has a wrong intent, and misses every slot."""
    other = asked(suite, intent=OTHER)
    assert suite.count_errors_by_kind(other) == {"wrong intent": 1, "missing slot": 5}
    faulty = Outcome(other.item, ParsedReply(fault=UNPARSABLE))
    assert suite.count_errors_by_kind(faulty) == {"wrong intent": 1, "missing slot": 5}
    assert suite.summarize_fault_or_error(faulty) == UNPARSABLE
    assert suite.summarize_fault_or_error(other) == "wrong intent, missing slot (5)"
    assert suite.summarize_fault_or_error(asked(suite)) == "missing slot (5), another intent or slots for Other"


def test_a_slot_explains_one_reference_at_most() -> None:
    """One slot around two references of its label is one wrong boundary, and leaves one of them missing."""
    gold = [Span(0, 1, "action"), Span(2, 3, "action")]
    assert score.count_slot_errors([Span(0, 3, "action")], gold, ["ask", "or", "tell"]) == {
        "wrong boundary": 1,
        "missing slot": 1,
    }


def test_types_of_errors_add_up() -> None:
    """Right slots, errors without the missing ones, and predictions agree, as in Table 8; references too, at least."""
    draw = random.Random(2)
    tokens = ["and", "data", "the", "name", ",", "poets", "or", "friends"]
    for _ in range(size(small=400, soak=5_000)):
        said, gold = slots(draw, "type-I", 8), slots(draw, "type-I", 8)
        found = score.count_slot_errors(said, gold, tokens)
        right = len({*said} & {*gold})
        missing = found[score.MS]
        assert right + found.total() - missing == len(said)
        assert missing <= len(gold) - right <= missing + len(said) - right


def test_a_fault_earns_nothing(suite: PolicyIE) -> None:
    """A faulty reply scores 0 under every measure, where nothing is to be found too; so does a slot with a fault."""
    faulty = [Outcome(item, ParsedReply(fault=UNPARSABLE)) for item in suite.material.items]
    figures = {measure.name: measure.compute(faulty) for measure in suite.measures}
    assert {name for name, value in figures.items() if value != 0} == {"slots_not_in_text", "slots_without_label"}
    parts = [one.compute(faulty) for groups in suite.parts.values() for measures in groups.values() for one in measures]
    assert not any(value for value in parts if not math.isnan(value))
    # The gold has no slot of type II: nothing is right there, but for whoever invents one.
    wrong = [asked(suite, ("unless asked", "polarity", attribute)) for attribute in ("condition", "negation")]
    wrong.append(asked(suite, ("nowhere to be seen", "polarity", "negation")))
    for outcome in wrong:
        figures = {measure.name: measure.compute([outcome]) for measure in suite.measures}
        assert [figures[f"{name}_type_ii"] for name in ("em_tagger", "slot_f1_seq2seq", "em_seq2seq")] == [0, 0, 0]
    nothing = {measure.name: measure.compute([asked(suite)]) for measure in suite.measures}
    assert [nothing[f"{name}_type_ii"] for name in ("em_tagger", "slot_f1_seq2seq", "em_seq2seq")] == [1, 1, 1]
    # Cut at the dot, a slot with an attribute that its role does not have is not right either.
    figures = {
        measure.name: measure.compute([asked(suite, ("your", "data-provider", "none"))]) for measure in suite.measures
    }
    assert figures["slot_f1_micro_privacyglue"] == 0
    faults = [measure.compute(wrong) for measure in suite.measures[-2:]]
    assert faults == [pytest.approx(1 / 3), pytest.approx(1 / 3)]


def test_slots_that_are_there_twice(suite: PolicyIE) -> None:
    """A text named twice is two slots; the seq2seq script finds a reference that is there twice by naming it once."""
    user = ("data-provider", "user")
    tokens = "your names and your habits"
    gold = [
        {"intent": INTENTS[1], "type-I": [[0, 1, "data-provider.user"], [3, 4, "data-provider.user"]], "type-II": []}
    ]
    item = Item("1", {"text": tokens}, gold)

    def figures(times: int) -> list[float]:
        found = [{"text": "your", "role": user[0], "attribute": user[1]}] * times
        outcome = Outcome(item, suite.parse_reply(item, json.dumps({"intent": INTENTS[1], "slots": found})))
        by_name = {measure.name: measure for measure in suite.measures}
        return [by_name[f"slot_f1_{name}_type_i"].compute([outcome]) for name in ("tagger", "seq2seq")]

    assert figures(1) == [pytest.approx(2 / 3), pytest.approx(4 / 3)]
    assert figures(2) == [1, 1]
    assert figures(3) == [pytest.approx(4 / 5), pytest.approx(4 / 5)]
