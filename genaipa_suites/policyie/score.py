"""PolicyIE's scores: intents, and the slots of one answer against each gold row of its sentence, in three ways.

A prediction is {"intent", "slots": [{"text", "role", "label", "start", "end"}]}; a slot whose text is not in the
sentence has -1 for both places, one whose role and attribute make no label has an empty one. Neither is ever right, and
both count as predicted. A reply with a fault has the prediction None: its intent is wrong, and it earns nothing where
nothing was to be found. Each script's way of scoring has a name of its own, since they can't be compared.

The seven types of errors of PolicyIE's paper (section 4.3, Tables 7 and 8), with the precedence that it leaves open.

One intent, when wrong, is a wrong intent (WI), whatever the slots are. Every predicted slot is right, or has one type:

1. right: a reference has the same label and the same tokens;
2. spurious (SS): no reference of the sentence has its label; a slot without a valid label is one, too;
3. wrong split (WSp): it and at least one more of the same label make up a reference together, where punctuation and
   stop words may lack or be too many;
4. wrong boundary (WB): it lies within a reference of its label, or such a reference within it;
5. wrong label (WL): it has the tokens of a reference with another label;
6. wrong slot (WS): anything else: its label is there, on other words; a slot that is not in the text, too.

A reference is missing (MS) where no prediction is right about it and none explains it. The parts of a WSp explain one
reference together, a WB, a WL or a WS one each: the first in question that nothing else explains. So the types but WI
add up to the errors, slots right and errors to the "predictions" of Table 8 (missing ones among them), and a reference
is right, explained or missing.

The paper states no precedence, and no script is published. Its Table 8 fits this one. A reference that another type
explains is not counted as missing there: for RoBERTa 1,064 right + 867 MS + 130 WB + 103 WS + 18 WL + 32/2 WSp are
its 2,198 slots exactly; for BART the sum is 15.5 too high, as it is where several predictions share a reference. And
with so few wrong labels as it has (18 and 19), spurious slots came first: a trained tagger of ours has 3 then, and
80 otherwise. Table 7 does not fit: its first example names a WL where all labels on a reference's words are spurious,
and its second MS beside WB for what is one slot.
"""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from genaipa_suites.measure import Measure, f1, micro_f1, ratio, recall
from genaipa_suites.policyie.data import INTENTS, LAYERS, OTHER, ROLES
from genaipa_suites.spans import Span, count_matches, fold_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from genaipa_suites.material import Outcome
    from genaipa_suites.spans import Counts


NO_LABEL = "?"
"""In place of the attribute of a slot whose role and attribute make no label."""


def gold_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """The gold rows of the outcome's sentence."""
    rows: list[dict[str, Any]] = outcome.item.gold
    return rows


def answered(outcome: Outcome) -> list[tuple[str, dict[str, Any]]]:
    """Each gold row with the intent predicted for it: the one of the sentence, empty for a reply with a fault."""
    said = outcome.parsed.prediction or {"intent": ""}
    rows = gold_rows(outcome)
    return list(zip(said.get("intents", [said["intent"]] * len(rows)), rows, strict=True))


def with_slots(outcome: Outcome, intent: str = "") -> list[dict[str, Any]]:
    """The rows that slots are scored on: all whose gold intent is not Other, or is this one."""
    return [row for row in gold_rows(outcome) if (row["intent"] == intent if intent else row["intent"] != OTHER)]


def gold_spans(row: dict[str, Any], layer: str) -> list[Span]:
    """The references of a row in a layer."""
    return [Span(*each) for each in row[layer]]


def spans(outcome: Outcome, layer: str) -> list[Span]:
    """The predicted slots of a layer; one that can't be right has a place before the sentence, which none else has."""
    found = []
    for number, slot in enumerate(_slots(outcome, layer)):
        wrong = not slot["label"] or slot["start"] < 0
        label = slot["label"] or f"{slot['role']}.{NO_LABEL}"
        found.append(Span(-1, -1 - number, label) if wrong else Span(slot["start"], slot["end"], label))
    return found


def _slots(outcome: Outcome, layer: str) -> list[dict[str, Any]]:
    said = outcome.parsed.prediction
    return [slot for slot in said["slots"] if ROLES[slot["role"]] == layer] if said is not None else []


def intents(outcome: Outcome) -> list[int]:
    """(true positives, predicted, gold) of every intent over the rows of a sentence, in the order of `INTENTS`."""
    pairs = [(said, row["intent"]) for said, row in answered(outcome)]
    found = []
    for intent in INTENTS:
        both = pairs.count((intent, intent))
        found += [both, sum(said == intent for said, _ in pairs), sum(gold == intent for _, gold in pairs)]
    return found


def tagger(outcome: Outcome, layer: str, intent: str = "") -> Counts:
    """(true positives, predicted, gold) slots of a layer, over the rows that slots are scored on."""
    said = spans(outcome, layer)
    each = [count_matches(said, gold_spans(row, layer)) for row in with_slots(outcome, intent)]
    return _added(each)


def exact(outcome: Outcome, layer: str) -> tuple[int, int]:
    """(rows with the right intent and all slots of a layer right, rows), over the rows that slots are scored on."""
    slots = sorted(spans(outcome, layer))
    rows = [(said, row) for said, row in answered(outcome) if row["intent"] != OTHER]
    return sum(said == row["intent"] and slots == sorted(gold_spans(row, layer)) for said, row in rows), len(rows)


def seq2seq(outcome: Outcome, layer: str, intent: str = "") -> tuple[float, int]:
    """(sum of the F1 of each row by the seq2seq script, rows), over the rows that slots are scored on."""
    each = [_listed(outcome, row, layer) for row in with_slots(outcome, intent)]
    return sum(each), len(each)


def seq2seq_exact(outcome: Outcome, layer: str) -> tuple[int, int]:
    """(rows with the right intent and an F1 of 1 by the seq2seq script, rows), as above."""
    rows = [(said, row) for said, row in answered(outcome) if row["intent"] != OTHER]
    return sum(said == row["intent"] and _listed(outcome, row, layer) == 1 for said, row in rows), len(rows)


def _listed(outcome: Outcome, row: dict[str, Any], layer: str) -> float:
    """F1 of the lists of labels with their texts, as the seq2seq script has it: places do not count.

    Like the script, it asks of each reference whether it is among the predictions, so that one prediction finds a
    reference that is there twice two times.
    """
    if outcome.parsed.prediction is None:
        return 0.0
    tokens = outcome.item.shown["text"].split()
    said = [(slot["label"], fold_text(slot["text"])) for slot in _slots(outcome, layer)]
    gold = [(label, fold_text("".join(tokens[start:end]))) for start, end, label in row[layer]]
    return f1((sum(one in said for one in gold), len(said), len(gold))) if said or gold else 1.0


def role_spans(outcome: Outcome, layer: str) -> tuple[list[Span], list[list[Span]]]:
    """The predicted slots of a layer and each gold row's, their labels cut at the dot."""
    gold = [[_cut(span) for span in gold_spans(row, layer)] for row in gold_rows(outcome)]
    return [_cut(span) for span in spans(outcome, layer)], gold


def roles(outcome: Outcome) -> list[int]:
    """(true positives, predicted, gold) of every role over all rows, labels cut at the dot: PrivacyGLUE's PolicyIE-B.

    Layer by layer, in the order of `LAYERS`.
    """
    found: list[int] = []
    for layer, known in LAYERS.items():
        said, gold = role_spans(outcome, layer)
        counts = Counter((1, span.label) for span in said * len(gold))
        for row in gold:
            counts.update((2, span.label) for span in row)
            counts.update((0, span.label) for span in (Counter(said) & Counter(row)).elements())
        found += [counts[which, role] for role in known for which in range(3)]
    return found


def _cut(span: Span) -> Span:
    return Span(span.start, span.end, _role(span.label))


def by_layer(counts: Sequence[float]) -> Iterator[Sequence[float]]:
    """The counts of `roles`, one layer after the other."""
    begin = 0
    for known in LAYERS.values():
        yield counts[begin : begin + 3 * len(known)]
        begin += 3 * len(known)


def role(outcome: Outcome, which: str) -> Counts:
    """(true positives, predicted, gold) slots of one role by their full labels, over the rows with slots."""
    layer = ROLES[which]
    said = [span for span in spans(outcome, layer) if _role(span.label) == which]
    gold = [[Span(*each) for each in row[layer] if _role(each[2]) == which] for row in with_slots(outcome)]
    return _added([count_matches(said, row) for row in gold]) if said or any(gold) else (0, 0, 0)


def _role(label: str) -> str:
    return label.partition(".")[0]


def other(outcome: Outcome) -> tuple[int, int]:
    """(gold-Other rows that are answered Other without slots, gold-Other rows)."""
    rows = [intent for intent, row in answered(outcome) if row["intent"] == OTHER]
    said = outcome.parsed.prediction
    return rows.count(OTHER) if said is not None and not said["slots"] else 0, len(rows)


def faulty(outcome: Outcome, *, unlabelled: bool) -> tuple[int, int]:
    """(predicted slots with no valid label, or else with a text that is not in the sentence; predicted slots)."""
    said = outcome.parsed.prediction
    slots = said["slots"] if said is not None else []
    return sum(not slot["label"] if unlabelled else slot["start"] < 0 for slot in slots), len(slots)


def _added(each: Sequence[Counts]) -> Counts:
    right, predicted, gold = (sum(column) for column in zip(*each, strict=True)) if each else (0, 0, 0)
    return right, predicted, gold


def present_macro_f1(counts: Sequence[float]) -> float:
    """Mean of the F1 of those labels that are gold or predicted at all, as scikit-learn and seqeval take it."""
    three = [counts[place : place + 3] for place in range(0, len(counts), 3)]
    each = [f1(one) for one in three if one[1] or one[2]]
    return sum(each) / len(each) if each else math.nan


_NAMES = {"type-I": "type_i", "type-II": "type_ii"}
_ROWS = "over the rows whose gold intent is not Other"


def _rows(intent: str) -> str:
    return "over the rows of the intent" if intent else _ROWS


def _slot_measure(layer: str, intent: str = "") -> Measure:
    return Measure(
        f"slot_f1_tagger_{_NAMES[layer]}",
        f"{layer} F1 (tagger)",
        f"Micro F1 of {layer} slots by label and tokens (conlleval), {_rows(intent)}; slots on others are free.",
        partial(tagger, layer=layer, intent=intent),
        f1,
    )


def _listed_measure(layer: str, intent: str = "") -> Measure:
    return Measure(
        f"slot_f1_seq2seq_{_NAMES[layer]}",
        f"{layer} F1 (seq2seq)",
        f"Mean over rows of the F1 of (label, text) lists of {layer}, {_rows(intent)}. Places do not count; a "
        "reference that is there twice is found twice by one prediction; nothing where nothing is to be found is 1, "
        "but not for a faulty reply.",
        partial(seq2seq, layer=layer, intent=intent),
    )


def _exact(layer: str) -> Measure:
    return Measure(
        f"em_tagger_{_NAMES[layer]}",
        f"{layer} EM (tagger)",
        f"Share of rows with the right intent and every tag of {layer} right, {_ROWS}; those without {layer} slots are "
        "right if none is given.",
        partial(exact, layer=layer),
    )


def _listed_exact(layer: str) -> Measure:
    return Measure(
        f"em_seq2seq_{_NAMES[layer]}",
        f"{layer} EM (seq2seq)",
        f"Share of rows with the right intent and an F1 of 1 by the seq2seq script in {layer}, {_ROWS}.",
        partial(seq2seq_exact, layer=layer),
    )


_WORDS = (
    "over all rows, labels cut at the dot, the mean of the two layers (PrivacyGLUE's PolicyIE-B, which scores pieces "
    "of words and not words)."
)
MEASURES = (
    Measure(
        "intent_accuracy",
        "intent accuracy",
        "Share of rows with the right intent: its micro F1.",
        intents,
        lambda counts: ratio((sum(counts[0::3]), sum(counts[2::3]))),
    ),
    *(measure for layer in LAYERS for measure in (_slot_measure(layer), _exact(layer))),
    Measure(
        "intent_f1_macro",
        "intent macro F1",
        "Mean of the F1 of the intents that are gold or predicted, over all rows (PrivacyGLUE's PolicyIE-A).",
        intents,
        present_macro_f1,
    ),
    *(measure for layer in LAYERS for measure in (_listed_measure(layer), _listed_exact(layer))),
    Measure(
        "slot_f1_macro_privacyglue",
        "slot macro F1 (PrivacyGLUE)",
        f"Macro F1 over the roles that are gold or predicted, by tokens, {_WORDS}",
        roles,
        lambda counts: sum(map(present_macro_f1, by_layer(counts))) / len(LAYERS),
    ),
    Measure(
        "slot_f1_micro_privacyglue",
        "slot micro F1 (PrivacyGLUE)",
        f"Micro F1 of roles, by tokens, {_WORDS}",
        roles,
        lambda counts: sum(map(micro_f1, by_layer(counts))) / len(LAYERS),
    ),
    Measure(
        "other_exact",
        "Other right",
        "Share of the rows with gold intent Other that are answered Other, and without slots.",
        other,
    ),
    Measure(
        "slots_not_in_text",
        "slots not in the text",
        "Share of the slots given whose text is not in the sentence (any more: no token is used twice in a layer).",
        partial(faulty, unlabelled=False),
    ),
    Measure(
        "slots_without_label",
        "slots without a label",
        "Share of the slots given whose role and attribute together are no label of PolicyIE.",
        partial(faulty, unlabelled=True),
    ),
)


def _intent(place: int) -> tuple[Measure, ...]:
    """The measures of one intent (Table 6)."""
    intent = INTENTS[place]
    own = Measure(
        "intent_f1",
        "intent F1",
        "F1 of this intent over all rows.",
        intents,
        lambda counts: f1(counts[3 * place : 3 * place + 3]),
    )
    if intent == OTHER:
        return (own,)
    slots = [measure for layer in LAYERS for measure in (_slot_measure(layer, intent), _listed_measure(layer, intent))]
    return (own, *slots)


def _role_measures(which: str) -> tuple[Measure, ...]:
    counts = partial(role, which=which)
    return (
        Measure(
            "slot_recall",
            "recall",
            f"Share of this role's slots found by full label and tokens, {_ROWS}.",
            counts,
            recall,
        ),
        Measure("slot_f1", "F1", f"F1 of this role's slots by full label and tokens, {_ROWS}.", counts, f1),
    )


def _nth_layer(counts: Sequence[float], place: int, *, macro: bool) -> float:
    own = list(by_layer(counts))[place]
    return present_macro_f1(own) if macro else micro_f1(own)


def _layer(place: int) -> tuple[Measure, ...]:
    return tuple(
        Measure(
            f"slot_f1_{name}_privacyglue",
            f"{name} F1 (PrivacyGLUE)",
            f"{name.capitalize()} F1 of this layer alone, over all rows, labels cut at the dot.",
            roles,
            partial(_nth_layer, place=place, macro=name == "macro"),
        )
        for name in ("macro", "micro")
    )


PARTS = {
    "intent": {intent: _intent(place) for place, intent in enumerate(INTENTS)},
    "slot": {which: _role_measures(which) for which in ROLES},
    "layer": {layer: _layer(place) for place, layer in enumerate(LAYERS)},
}
"""Breakdowns: by gold intent (Table 6), by role (Figure 1), by layer (PrivacyGLUE's sub-tasks)."""

WI, SS, MS, WB, WS, WSP, WL = (
    "wrong intent",
    "spurious slot",
    "missing slot",
    "wrong boundary",
    "wrong slot",
    "wrong split",
    "wrong label",
)
KINDS = (WI, SS, MS, WB, WS, WSP, WL)
"""In the order of Table 8."""
ABOUT = (
    "Over gold rows that are not Other. The paper leaves open what comes first. Here a predicted slot that is wrong is "
    "spurious where no reference has its label, else part of a wrong split, else of a wrong boundary, else of a "
    "wrong label, else a wrong slot; a reference is missing where no prediction is right about it and no other type "
    "explains it."
)
_STOPPED = (
    "a an and any are as at be by can for from has have if in is it its may of on or our such that the their them \
they this to us was we were which who will with you your"
)
STOP_WORDS = frozenset(_STOPPED.split())


def slot_errors(predicted: Sequence[Span], gold: Sequence[Span], tokens: Sequence[str]) -> Counter[str]:
    """Type of error → how many of it the slots of a sentence have, all types but the intent's."""
    rest = Counter(predicted) - Counter(gold)
    wrong, left = list(rest.elements()), list((Counter(gold) - Counter(predicted)).elements())
    labels = {span.label for span in gold}
    found = Counter({SS: sum(span.label not in labels for span in wrong)})
    wrong = [span for span in wrong if span.label in labels]
    explained: set[Span] = set()
    for span in left:
        if parts := _parts(span, wrong, tokens):
            explained.add(span)
            found[WSP] += len(parts)
            wrong = [one for one in wrong if one not in parts]
    others = []
    for span in wrong:
        near = [one for one in left if one.label == span.label and _nested(one, span)]
        same = [one for one in left if one[:2] == span[:2]]
        explained.update(_first(near or same, explained))
        if near or same:
            found[WB if near else WL] += 1
        else:
            others.append(span)
    for span in others:
        found[WS] += 1
        explained.update(_first([one for one in left if one.label == span.label], explained))
    found[MS] = sum(span not in explained for span in left)
    return +found


def _first(references: Sequence[Span], explained: Collection[Span]) -> list[Span]:
    """The first of the references that nothing explains yet, if there is one."""
    return [one for one in references if one not in explained][:1]


def _parts(reference: Span, wrong: Sequence[Span], tokens: Sequence[str]) -> list[Span]:
    """The predictions that make up a reference together; none if fewer than two do."""
    whole = _content(reference, tokens)
    inside = [
        span for span in wrong if span.label == reference.label and (own := _content(span, tokens)) and own <= whole
    ]
    return inside if len(inside) > 1 and set().union(*(_content(span, tokens) for span in inside)) == whole else []


def _content(span: Span, tokens: Sequence[str]) -> set[int]:
    """The places of a span's words that are neither punctuation nor stop words."""
    places = range(span.start, span.end)
    return {at for at in places if tokens[at].lower() not in STOP_WORDS and tokens[at].strip(string.punctuation)}


def _nested(one: Span, other: Span) -> bool:
    return (one.start <= other.start and other.end <= one.end) or (other.start <= one.start and one.end <= other.end)
