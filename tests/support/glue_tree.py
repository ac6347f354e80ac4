"""A made-up tree of predictions as PrivacyGLUE's code writes it: seven tasks, two seeds, both units."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

SECURITY, TRACKING, CHANGE = "Data Security", "Do Not Track", "Policy Change"


def _labelled(golds: list[Any], said: list[Any], **fields: list[str]) -> list[dict[str, Any]]:
    texts = [f"A made-up sentence, number {n}." for n in range(len(golds))]
    return [
        {"id": n, "text": text, "gold_label": gold, "predicted_label": label}
        | {name: values[n] for name, values in fields.items()}
        for n, (text, gold, label) in enumerate(zip(texts, golds, said, strict=True))
    ]


def _tagged(layers: list[str], golds: list[list[str]], said: list[list[str]]) -> list[dict[str, Any]]:
    """Two words, three or more word pieces: the lengths of text and labels differ, as in the official files."""
    words = ["we", "collect"]
    return [
        {"id": n, "task": layer, "text": words, "gold_label": gold, "predicted_label": label}
        for n, (layer, gold, label) in enumerate(zip(layers, golds, said, strict=True))
    ]


def _answered(said: list[str]) -> list[dict[str, Any]]:
    golds = [["your e-mail address", "e-mail"], ["thirty days"]]
    about = {"title": "made-up.example", "context": "We keep it for thirty days.", "question": "What?"}
    return [
        {"id": f"q{n}", "prediction_text": text, "gold_answers": {"text": gold, "answer_start": [0] * len(gold)}}
        | about
        for n, (text, gold) in enumerate(zip(said, golds, strict=True))
    ]


_NAMES = ["COLLECT", "NOT_COLLECT", "NOT_SHARE", "SHARE"]
_SPANS = [["O", f"B-{name}", f"I-{name}"] for name in _NAMES]
_IE = [["B-action", "B-data-provider.user", "I-data-provider.user"], ["O", "B-method.encryptions", "O"]]
_YES_NO = ["yes", "yes", "no", "no"]

# Task → predictions of seed 0 and 1, and their figures worked out by hand: seed 0, seed 1.
TREE: dict[str, tuple[list[list[dict[str, Any]]], dict[str, tuple[float, float]]]] = {
    "opp_115": (
        [
            _labelled([[SECURITY], [TRACKING, CHANGE], [SECURITY]], [[SECURITY], [CHANGE, TRACKING], [SECURITY]]),
            _labelled([[SECURITY], [TRACKING, CHANGE], [SECURITY]], [[SECURITY], [CHANGE], [TRACKING]]),
        ],
        {"macro_f1": (3 / 12, (2 / 3 + 1) / 12), "micro_f1": (1, 4 / 7)},
    ),
    "piextract": (
        [_tagged(_NAMES, _SPANS, _SPANS), _tagged(_NAMES, _SPANS, [*_SPANS[:3], ["O", "O", "B-SHARE"]])],
        {
            "macro_f1": (1, 0.75),
            "micro_f1": (1, 0.75),
            "COLLECT_macro_f1": (1, 1),
            "SHARE_micro_f1": (1, 0),
        },
    ),
    "policy_detection": (
        [_labelled(_YES_NO, _YES_NO), _labelled(_YES_NO, ["yes", "no", "no", "no"])],
        {"macro_f1": (1, (2 / 3 + 4 / 5) / 2), "micro_f1": (1, 3 / 4)},
    ),
    "policy_ie_a": (
        [_labelled(_YES_NO, ["no"] * 4), _labelled(_YES_NO, _YES_NO)],
        {"macro_f1": ((2 / 3) / 2, 1), "micro_f1": (0.5, 1)},
    ),
    "policy_ie_b": (
        # The attribute behind the dot does not count, and a stray I- opens a span.
        [
            _tagged(["type-I", "type-II"], _IE, [["B-action", "B-data-provider.third-party-entity", "I-x"], _IE[1]]),
            _tagged(["type-I", "type-II"], _IE, [_IE[0], ["O", "I-method.other", "O"]]),
        ],
        {
            # Type I: action right, data-provider too short, x not there: mean of 1, 0, 0; then 2 * 1 / (3 + 2).
            "macro_f1": ((1 / 3 + 1) / 2, 1),
            "micro_f1": ((2 / 5 + 1) / 2, 1),
            "type-I_macro_f1": (1 / 3, 1),
            "type-II_micro_f1": (1, 1),
        },
    ),
    "policy_qa": (
        [_answered(["e-mail", "for thirty days"]), _answered(["", "thirty days"])],
        {"sample_f1": ((1 + 4 / 5) / 2, 0.5), "exact_match": (0.5, 0.5)},
    ),
    "privacy_qa": (
        [
            _labelled(_YES_NO, _YES_NO, question=["Who?"] * 4),
            _labelled(_YES_NO, ["yes", "no", "no", "no"], question=["Who?"] * 4),
        ],
        {"macro_f1": (1, (2 / 3 + 4 / 5) / 2), "micro_f1": (1, 3 / 4)},
    ),
}


def write_tree(root: Path, model: str = "made_up_base", *, wrong: bool = False) -> Path:
    """The tree below `root`, its figures as worked out by hand; `wrong` states another mean for OPP-115's macro F1."""
    folder = root / "runs" / model
    summary = {}
    for task, (seeds, figures) in TREE.items():
        scale = 100 if task == "policy_qa" else 1
        for seed, entries in enumerate(seeds):
            place = folder / task / f"seed_{seed}"
            place.mkdir(parents=True)
            (place / "predictions.json").write_text(json.dumps(entries))
            results = {f"predict_{name}": scale * values[seed] for name, values in figures.items()}
            (place / "all_results.json").write_text(json.dumps({"epoch": 20.0} | results))
        samples = [[scale * value for value in values] for values in figures.values()]
        summary[task] = {
            "metrics": list(figures),
            "mean": [statistics.fmean(values) for values in samples],
            "std": [statistics.pstdev(values) for values in samples],
            "samples": samples,
            "num_samples": 2,
        }
    if wrong:
        summary["opp_115"]["mean"][0] += 0.01
    (folder / "benchmark_summary.json").write_text(json.dumps(summary))
    return root
