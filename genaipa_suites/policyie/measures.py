"""PolicyIE's measures: each script's way of scoring under a name of its own, since they can't be compared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from genaipa_suites.measure import Measure, f1, micro_f1, ratio, recall
from genaipa_suites.policyie import score
from genaipa_suites.policyie.labels import INTENTS, LAYERS, OTHER, ROLES


def present_macro_f1(counts: Sequence[float]) -> float:
    """Mean of the F1 of those labels that are gold or predicted at all, as scikit-learn and seqeval take it."""
    three = [counts[place : place + 3] for place in range(0, len(counts), 3)]
    each = [f1(one) for one in three if one[1] or one[2]]
    return sum(each) / len(each) if each else math.nan


def _accuracy(counts: Sequence[float]) -> float:
    return ratio((sum(counts[0::3]), sum(counts[2::3])))


def _mean_macro(counts: Sequence[float]) -> float:
    return sum(present_macro_f1(one) for one in score.by_layer(counts)) / len(LAYERS)


def _mean_micro(counts: Sequence[float]) -> float:
    return sum(micro_f1(one) for one in score.by_layer(counts)) / len(LAYERS)


_NAMES = {"type-I": "type_i", "type-II": "type_ii"}
_ROWS = "over the rows whose gold intent is not Other"


def _rows(intent: str) -> str:
    return "over the rows of the intent" if intent else _ROWS


def _slots(layer: str, intent: str = "") -> Measure:
    return Measure(
        f"slot_f1_tagger_{_NAMES[layer]}",
        f"{layer} F1 (tagger)",
        f"Micro F1 of {layer} slots by label and tokens (conlleval), {_rows(intent)}; slots on others are free.",
        partial(score.tagger, layer=layer, intent=intent),
        f1,
    )


def _listed(layer: str, intent: str = "") -> Measure:
    return Measure(
        f"slot_f1_seq2seq_{_NAMES[layer]}",
        f"{layer} F1 (seq2seq)",
        f"Mean over rows of the F1 of (label, text) lists of {layer}, {_rows(intent)}. Places do not count; a "
        "reference that is there twice is found twice by one prediction; nothing where nothing is to be found is 1, "
        "but not for a faulty reply.",
        partial(score.seq2seq, layer=layer, intent=intent),
    )


def _exact(layer: str) -> Measure:
    return Measure(
        f"em_tagger_{_NAMES[layer]}",
        f"{layer} EM (tagger)",
        f"Share of rows with the right intent and every tag of {layer} right, {_ROWS}; those without {layer} slots are "
        "right if none is given.",
        partial(score.exact, layer=layer),
    )


def _listed_exact(layer: str) -> Measure:
    return Measure(
        f"em_seq2seq_{_NAMES[layer]}",
        f"{layer} EM (seq2seq)",
        f"Share of rows with the right intent and an F1 of 1 by the seq2seq script in {layer}, {_ROWS}.",
        partial(score.seq2seq_exact, layer=layer),
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
        score.intents,
        _accuracy,
    ),
    *(measure for layer in LAYERS for measure in (_slots(layer), _exact(layer))),
    Measure(
        "intent_f1_macro",
        "intent macro F1",
        "Mean of the F1 of the intents that are gold or predicted, over all rows (PrivacyGLUE's PolicyIE-A).",
        score.intents,
        present_macro_f1,
    ),
    *(measure for layer in LAYERS for measure in (_listed(layer), _listed_exact(layer))),
    Measure(
        "slot_f1_macro_privacyglue",
        "slot macro F1 (PrivacyGLUE)",
        f"Macro F1 over the roles that are gold or predicted, by tokens, {_WORDS}",
        score.roles,
        _mean_macro,
    ),
    Measure(
        "slot_f1_micro_privacyglue",
        "slot micro F1 (PrivacyGLUE)",
        f"Micro F1 of roles, by tokens, {_WORDS}",
        score.roles,
        _mean_micro,
    ),
    Measure(
        "other_exact",
        "Other right",
        "Share of the rows with gold intent Other that are answered Other, and without slots.",
        score.other,
    ),
    Measure(
        "slots_not_in_text",
        "slots not in the text",
        "Share of the slots given whose text is not in the sentence (any more: no token is used twice in a layer).",
        partial(score.faulty, unlabelled=False),
    ),
    Measure(
        "slots_without_label",
        "slots without a label",
        "Share of the slots given whose role and attribute together are no label of PolicyIE.",
        partial(score.faulty, unlabelled=True),
    ),
)


def _one_intent(counts: Sequence[float], place: int) -> float:
    return f1(counts[3 * place : 3 * place + 3])


def _intent(place: int) -> tuple[Measure, ...]:
    """The measures of one intent (Table 6)."""
    intent = INTENTS[place]
    own = Measure(
        "intent_f1", "intent F1", "F1 of this intent over all rows.", score.intents, partial(_one_intent, place=place)
    )
    if intent == OTHER:
        return (own,)
    slots = [measure for layer in LAYERS for measure in (_slots(layer, intent), _listed(layer, intent))]
    return (own, *slots)


def _role(which: str) -> tuple[Measure, ...]:
    counts = partial(score.role, which=which)
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
    own = list(score.by_layer(counts))[place]
    return present_macro_f1(own) if macro else micro_f1(own)


def _layer(place: int) -> tuple[Measure, ...]:
    return tuple(
        Measure(
            f"slot_f1_{name}_privacyglue",
            f"{name} F1 (PrivacyGLUE)",
            f"{name.capitalize()} F1 of this layer alone, over all rows, labels cut at the dot.",
            score.roles,
            partial(_nth_layer, place=place, macro=name == "macro"),
        )
        for name in ("macro", "micro")
    )


PARTS = {
    "intent": {intent: _intent(place) for place, intent in enumerate(INTENTS)},
    "slot": {which: _role(which) for which in ROLES},
    "layer": {layer: _layer(place) for place, layer in enumerate(LAYERS)},
}
"""Breakdowns: by gold intent (Table 6), by role (Figure 1), by layer (PrivacyGLUE's sub-tasks)."""
