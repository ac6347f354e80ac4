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
from genaipa_suites.spans import Span, count_right_predicted_and_gold, drop_blanks_unify_quotes_and_dashes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from genaipa_suites.material import Outcome
    from genaipa_suites.spans import Counts


NO_LABEL = "?"
"""In place of the attribute of a slot whose role and attribute make no label."""


def gold_rows(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the gold rows of the outcome's sentence."""
    rows: list[dict[str, Any]] = outcome.item.gold
    return rows


def pair_predicted_intents_with_gold_rows(outcome: Outcome) -> list[tuple[str, dict[str, Any]]]:
    """Pair each gold row with the intent predicted for it, which is empty for a reply with a fault."""
    prediction = outcome.parsed.prediction or {"intent": ""}
    rows = gold_rows(outcome)
    return list(zip(prediction.get("intents", [prediction["intent"]] * len(rows)), rows, strict=True))


def gold_rows_with_scored_slots(outcome: Outcome, intent: str = "") -> list[dict[str, Any]]:
    """Return the rows that slots are scored on: all whose gold intent is not Other, or is `intent`."""
    return [row for row in gold_rows(outcome) if (row["intent"] == intent if intent else row["intent"] != OTHER)]


def gold_spans(gold_row: dict[str, Any], layer: str) -> list[Span]:
    """Return the references of a row in a layer."""
    return [Span(*slot) for slot in gold_row[layer]]


def list_predicted_spans_with_unlocated(outcome: Outcome, layer: str) -> list[Span]:
    """Return the predicted slots of a layer; one that can't be right gets a place of its own before the sentence."""
    spans = []
    for number, slot in enumerate(_predicted_slots_in_layer(outcome, layer)):
        is_wrong = not slot["label"] or slot["start"] < 0
        label = slot["label"] or f"{slot['role']}.{NO_LABEL}"
        spans.append(Span(-1, -1 - number, label) if is_wrong else Span(slot["start"], slot["end"], label))
    return spans


def _predicted_slots_in_layer(outcome: Outcome, layer: str) -> list[dict[str, Any]]:
    prediction = outcome.parsed.prediction
    return [slot for slot in prediction["slots"] if ROLES[slot["role"]] == layer] if prediction is not None else []


def count_right_predicted_gold_per_intent(outcome: Outcome) -> list[int]:
    """Count (true positives, predicted, gold) of each of `INTENTS` over the rows of a sentence, in their order."""
    pairs = [(predicted, row["intent"]) for predicted, row in pair_predicted_intents_with_gold_rows(outcome)]
    counts = []
    for intent in INTENTS:
        right = pairs.count((intent, intent))
        counts += [right, sum(predicted == intent for predicted, _ in pairs), sum(gold == intent for _, gold in pairs)]
    return counts


def count_right_predicted_gold_slots(outcome: Outcome, layer: str, intent: str = "") -> Counts:
    """Count (true positives, predicted, gold) slots of a layer, over the rows that slots are scored on."""
    predicted = list_predicted_spans_with_unlocated(outcome, layer)
    counts = [
        count_right_predicted_and_gold(predicted, gold_spans(row, layer))
        for row in gold_rows_with_scored_slots(outcome, intent)
    ]
    return _sum_counts(counts)


def count_wholly_right_and_all_rows(outcome: Outcome, layer: str) -> tuple[int, int]:
    """Return (rows whose intent and slots of a layer are all right, rows), of the rows that slots are scored on."""
    slots = sorted(list_predicted_spans_with_unlocated(outcome, layer))
    rows = [
        (predicted, row) for predicted, row in pair_predicted_intents_with_gold_rows(outcome) if row["intent"] != OTHER
    ]
    return sum(predicted == row["intent"] and slots == sorted(gold_spans(row, layer)) for predicted, row in rows), len(
        rows
    )


def sum_seq2seq_f1_and_count_rows(outcome: Outcome, layer: str, intent: str = "") -> tuple[float, int]:
    """Return (sum of the F1 of each row by the seq2seq script, rows), over the rows that slots are scored on."""
    row_scores = [_compute_seq2seq_f1(outcome, row, layer) for row in gold_rows_with_scored_slots(outcome, intent)]
    return sum(row_scores), len(row_scores)


def count_seq2seq_exact_rows_and_all_rows(outcome: Outcome, layer: str) -> tuple[int, int]:
    """Return (rows with the right intent and an F1 of 1 by the seq2seq script, rows), as above."""
    rows = [
        (predicted, row) for predicted, row in pair_predicted_intents_with_gold_rows(outcome) if row["intent"] != OTHER
    ]
    return sum(
        predicted == row["intent"] and _compute_seq2seq_f1(outcome, row, layer) == 1 for predicted, row in rows
    ), len(rows)


def _compute_seq2seq_f1(outcome: Outcome, gold_row: dict[str, Any], layer: str) -> float:
    """Compute the F1 of the lists of labels with their texts, as the seq2seq script has it: places do not count.

    Like the script, it asks of each reference whether it is among the predictions, so that one prediction finds a
    reference that is there twice two times.
    """
    if outcome.parsed.prediction is None:
        return 0.0
    tokens = outcome.item.shown["text"].split()
    predicted = [
        (slot["label"], drop_blanks_unify_quotes_and_dashes(slot["text"]))
        for slot in _predicted_slots_in_layer(outcome, layer)
    ]
    gold = [
        (label, drop_blanks_unify_quotes_and_dashes("".join(tokens[start:end])))
        for start, end, label in gold_row[layer]
    ]
    return f1((sum(slot in predicted for slot in gold), len(predicted), len(gold))) if predicted or gold else 1.0


def predicted_and_gold_role_spans(outcome: Outcome, layer: str) -> tuple[list[Span], list[list[Span]]]:
    """Return the predicted slots of a layer and each gold row's, their labels cut at the dot."""
    gold = [[_shorten_label_to_role(span) for span in gold_spans(row, layer)] for row in gold_rows(outcome)]
    return [_shorten_label_to_role(span) for span in list_predicted_spans_with_unlocated(outcome, layer)], gold


def count_right_predicted_gold_per_role(outcome: Outcome) -> list[int]:
    """Count (true positives, predicted, gold) of every role over all rows, labels cut at the dot: PolicyIE-B's.

    Layer by layer, in the order of `LAYERS`.
    """
    role_counts: list[int] = []
    for layer, layer_roles in LAYERS.items():
        predicted, gold = predicted_and_gold_role_spans(outcome, layer)
        counts = Counter((1, span.label) for span in predicted * len(gold))
        for row in gold:
            counts.update((2, span.label) for span in row)
            counts.update((0, span.label) for span in (Counter(predicted) & Counter(row)).elements())
        role_counts += [counts[number, role] for role in layer_roles for number in range(3)]
    return role_counts


def _shorten_label_to_role(span: Span) -> Span:
    return Span(span.start, span.end, _role_of_label(span.label))


def split_role_counts_by_layer(role_counts: Sequence[float]) -> Iterator[Sequence[float]]:
    """Yield the counts of `count_right_predicted_gold_per_role`, one layer after the other."""
    begin = 0
    for layer_roles in LAYERS.values():
        yield role_counts[begin : begin + 3 * len(layer_roles)]
        begin += 3 * len(layer_roles)


def count_right_predicted_gold_role_slots(outcome: Outcome, role: str) -> Counts:
    """Count (true positives, predicted, gold) slots of one role by their full labels, over the rows with slots."""
    layer = ROLES[role]
    predicted = [
        span for span in list_predicted_spans_with_unlocated(outcome, layer) if _role_of_label(span.label) == role
    ]
    gold = [
        [Span(*slot) for slot in row[layer] if _role_of_label(slot[2]) == role]
        for row in gold_rows_with_scored_slots(outcome)
    ]
    return (
        _sum_counts([count_right_predicted_and_gold(predicted, row) for row in gold])
        if predicted or any(gold)
        else (0, 0, 0)
    )


def _role_of_label(label: str) -> str:
    return label.partition(".")[0]


def count_right_and_all_rows_of_intent_other(outcome: Outcome) -> tuple[int, int]:
    """Return (gold-Other rows that are answered Other without slots, gold-Other rows)."""
    rows = [intent for intent, row in pair_predicted_intents_with_gold_rows(outcome) if row["intent"] == OTHER]
    prediction = outcome.parsed.prediction
    return rows.count(OTHER) if prediction is not None and not prediction["slots"] else 0, len(rows)


def count_faulty_and_all_predicted_slots(outcome: Outcome, *, unlabelled: bool) -> tuple[int, int]:
    """Return (predicted slots without a valid label, or whose text is not in the sentence; predicted slots)."""
    prediction = outcome.parsed.prediction
    slots = prediction["slots"] if prediction is not None else []
    return sum(not slot["label"] if unlabelled else slot["start"] < 0 for slot in slots), len(slots)


def _sum_counts(row_counts: Sequence[Counts]) -> Counts:
    right, predicted, gold = (sum(column) for column in zip(*row_counts, strict=True)) if row_counts else (0, 0, 0)
    return right, predicted, gold


def macro_f1_of_gold_or_predicted_labels(hit_predicted_gold_by_label: Sequence[float]) -> float:
    """Return the mean F1 of those labels that are gold or predicted at all, as scikit-learn and seqeval take it."""
    label_counts = [
        hit_predicted_gold_by_label[index : index + 3] for index in range(0, len(hit_predicted_gold_by_label), 3)
    ]
    label_scores = [f1(counts_of_label) for counts_of_label in label_counts if counts_of_label[1] or counts_of_label[2]]
    return sum(label_scores) / len(label_scores) if label_scores else math.nan


_NAMES = {"type-I": "type_i", "type-II": "type_ii"}
_ROWS = "over the rows whose gold intent is not Other"


def _describe_scored_rows(intent: str) -> str:
    return "over the rows of the intent" if intent else _ROWS


def _make_slot_f1_measure(layer: str, intent: str = "") -> Measure:
    return Measure(
        f"slot_f1_tagger_{_NAMES[layer]}",
        f"{layer} F1 (tagger)",
        f"Micro F1 of {layer} slots by label and tokens (conlleval), {_describe_scored_rows(intent)}; slots "
        "for other rows "
        "are not counted.",
        partial(count_right_predicted_gold_slots, layer=layer, intent=intent),
        f1,
    )


def _make_seq2seq_f1_measure(layer: str, intent: str = "") -> Measure:
    return Measure(
        f"slot_f1_seq2seq_{_NAMES[layer]}",
        f"{layer} F1 (seq2seq)",
        f"Mean F1 of a row's (label, text) lists of {layer}, {_describe_scored_rows(intent)}. Positions do "
        "not count; one "
        "prediction matches every repetition of a reference; a row without slots scores 1 if the reply gives no "
        "slots, unless the reply is faulty.",
        partial(sum_seq2seq_f1_and_count_rows, layer=layer, intent=intent),
    )


def _make_exact_row_measure(layer: str) -> Measure:
    return Measure(
        f"em_tagger_{_NAMES[layer]}",
        f"{layer} EM (tagger)",
        f"Share of rows with the right intent and every tag of {layer} right, {_ROWS}; rows without {layer} slots "
        "are right if the reply gives none.",
        partial(count_wholly_right_and_all_rows, layer=layer),
    )


def _make_seq2seq_exact_row_measure(layer: str) -> Measure:
    return Measure(
        f"em_seq2seq_{_NAMES[layer]}",
        f"{layer} EM (seq2seq)",
        f"Share of rows with the right intent and an F1 of 1 by the seq2seq script in {layer}, {_ROWS}.",
        partial(count_seq2seq_exact_rows_and_all_rows, layer=layer),
    )


_WORDS = (
    "over all rows, with labels cut at the dot, averaged over the two layers (PrivacyGLUE's PolicyIE-B, which "
    "scores word pieces instead of words)."
)
MEASURES = (
    Measure(
        "intent_accuracy",
        "intent accuracy",
        "Share of rows with the right intent, which is the micro F1.",
        count_right_predicted_gold_per_intent,
        lambda counts: ratio((sum(counts[0::3]), sum(counts[2::3]))),
    ),
    *(measure for layer in LAYERS for measure in (_make_slot_f1_measure(layer), _make_exact_row_measure(layer))),
    Measure(
        "intent_f1_macro",
        "intent macro F1",
        "Mean of the F1 of the intents that are gold or predicted, over all rows (PrivacyGLUE's PolicyIE-A).",
        count_right_predicted_gold_per_intent,
        macro_f1_of_gold_or_predicted_labels,
    ),
    *(
        measure
        for layer in LAYERS
        for measure in (_make_seq2seq_f1_measure(layer), _make_seq2seq_exact_row_measure(layer))
    ),
    Measure(
        "slot_f1_macro_privacyglue",
        "slot macro F1 (PrivacyGLUE)",
        f"Macro F1 over the roles that are gold or predicted, by tokens, {_WORDS}",
        count_right_predicted_gold_per_role,
        lambda counts: sum(map(macro_f1_of_gold_or_predicted_labels, split_role_counts_by_layer(counts))) / len(LAYERS),
    ),
    Measure(
        "slot_f1_micro_privacyglue",
        "slot micro F1 (PrivacyGLUE)",
        f"Micro F1 of roles, by tokens, {_WORDS}",
        count_right_predicted_gold_per_role,
        lambda counts: sum(map(micro_f1, split_role_counts_by_layer(counts))) / len(LAYERS),
    ),
    Measure(
        "other_exact",
        "Other right",
        "Share of the rows with gold intent Other that are answered with Other and without slots.",
        count_right_and_all_rows_of_intent_other,
    ),
    Measure(
        "slots_not_in_text",
        "slots not in the text",
        "Share of the slots given whose text is not in the sentence, or only where another slot of the layer has "
        "been placed.",
        partial(count_faulty_and_all_predicted_slots, unlabelled=False),
    ),
    Measure(
        "slots_without_label",
        "slots without a label",
        "Share of the slots given whose role and attribute do not form a label of PolicyIE.",
        partial(count_faulty_and_all_predicted_slots, unlabelled=True),
    ),
)


def _intent_f1_and_slot_measures(intent_index: int) -> tuple[Measure, ...]:
    """Return the measures of one intent (Table 6)."""
    intent = INTENTS[intent_index]
    intent_measure = Measure(
        "intent_f1",
        "intent F1",
        "F1 of this intent over all rows.",
        count_right_predicted_gold_per_intent,
        lambda counts: f1(counts[3 * intent_index : 3 * intent_index + 3]),
    )
    if intent == OTHER:
        return (intent_measure,)
    slots = [
        measure
        for layer in LAYERS
        for measure in (_make_slot_f1_measure(layer, intent), _make_seq2seq_f1_measure(layer, intent))
    ]
    return (intent_measure, *slots)


def _role_recall_and_f1_measures(role: str) -> tuple[Measure, ...]:
    counts = partial(count_right_predicted_gold_role_slots, role=role)
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


def _layer_f1(role_counts: Sequence[float], index: int, *, macro: bool) -> float:
    layer_counts = list(split_role_counts_by_layer(role_counts))[index]
    return macro_f1_of_gold_or_predicted_labels(layer_counts) if macro else micro_f1(layer_counts)


def _make_layer_f1_measures(layer_index: int) -> tuple[Measure, ...]:
    return tuple(
        Measure(
            f"slot_f1_{name}_privacyglue",
            f"{name} F1 (PrivacyGLUE)",
            f"{name.capitalize()} F1 of this layer alone, over all rows, with labels cut at the dot.",
            count_right_predicted_gold_per_role,
            partial(_layer_f1, index=layer_index, macro=name == "macro"),
        )
        for name in ("macro", "micro")
    )


PARTS = {
    "intent": {intent: _intent_f1_and_slot_measures(index) for index, intent in enumerate(INTENTS)},
    "slot": {role: _role_recall_and_f1_measures(role) for role in ROLES},
    "layer": {layer: _make_layer_f1_measures(index) for index, layer in enumerate(LAYERS)},
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
    "Over gold rows that are not Other. The paper does not state which type takes precedence. Here a wrong "
    "predicted slot is spurious if no reference has its label. Otherwise it is the first of these that applies: "
    "wrong split, wrong boundary, wrong label, wrong slot. A reference is missing if no prediction matches it and "
    "no other type of error explains it."
)
_STOP_WORD_LIST = (
    "a an and any are as at be by can for from has have if in is it its may of on or our such that the their them \
they this to us was we were which who will with you your"
)
STOP_WORDS = frozenset(_STOP_WORD_LIST.split())


def count_slot_errors(predicted: Sequence[Span], gold: Sequence[Span], tokens: Sequence[str]) -> Counter[str]:
    """Count the slot errors of a sentence by type, all types but the intent's."""
    unmatched = Counter(predicted) - Counter(gold)
    wrong, missed = list(unmatched.elements()), list((Counter(gold) - Counter(predicted)).elements())
    labels = {span.label for span in gold}
    errors = Counter({SS: sum(span.label not in labels for span in wrong)})
    wrong = [span for span in wrong if span.label in labels]
    explained: set[Span] = set()
    for span in missed:
        if parts := _find_spans_together_covering(span, wrong, tokens):
            explained.add(span)
            errors[WSP] += len(parts)
            wrong = [candidate for candidate in wrong if candidate not in parts]
    unexplained = []
    for span in wrong:
        nested = [
            candidate
            for candidate in missed
            if candidate.label == span.label and _is_either_span_within_other(candidate, span)
        ]
        relabelled = [candidate for candidate in missed if candidate[:2] == span[:2]]
        explained.update(_list_first_unexplained_span(nested or relabelled, explained))
        if nested or relabelled:
            errors[WB if nested else WL] += 1
        else:
            unexplained.append(span)
    for span in unexplained:
        errors[WS] += 1
        explained.update(
            _list_first_unexplained_span(
                [candidate for candidate in missed if candidate.label == span.label], explained
            )
        )
    errors[MS] = sum(span not in explained for span in missed)
    return +errors


def _list_first_unexplained_span(references: Sequence[Span], explained: Collection[Span]) -> list[Span]:
    """Return the first of the references that nothing explains yet, if there is one."""
    return [reference for reference in references if reference not in explained][:1]


def _find_spans_together_covering(reference: Span, wrong_spans: Sequence[Span], tokens: Sequence[str]) -> list[Span]:
    """Return the predictions that make up a reference together; none if fewer than two do."""
    whole = _content_word_positions(reference, tokens)
    inside = [
        span
        for span in wrong_spans
        if span.label == reference.label
        and (span_words := _content_word_positions(span, tokens))
        and span_words <= whole
    ]
    return (
        inside
        if len(inside) > 1 and set().union(*(_content_word_positions(span, tokens) for span in inside)) == whole
        else []
    )


def _content_word_positions(span: Span, tokens: Sequence[str]) -> set[int]:
    """Return the places of a span's words that are neither punctuation nor stop words."""
    places = range(span.start, span.end)
    return {at for at in places if tokens[at].lower() not in STOP_WORDS and tokens[at].strip(string.punctuation)}


def _is_either_span_within_other(first: Span, second: Span) -> bool:
    return (first.start <= second.start and second.end <= first.end) or (
        second.start <= first.start and first.end <= second.end
    )
