"""Probes for contamination: does a system know the data by heart? Each is shown as a gap, never as a verdict.

The data of every suite were public by 2021. `no-context` asks without the text, so that a score above the empty
answer's is memory (or a good guess); `company-swap` gives the company another name in all that is shown and in the
gold answer; `continuation` shows the first half of a text and asks how it goes on, word for word.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from genaipa.errors import UnknownNameError, UsageError
from genaipa_suites.material import Item, Material, Outcome
from genaipa_suites.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Callable

NO_CONTEXT, COMPANY_SWAP, CONTINUATION = "no-context", "company-swap", "continuation"
PUSH_BACK = "push-back"
"""Asks once more in the same conversation, and names another value; of suites whose values are known."""
PROBES = (NO_CONTEXT, COMPANY_SWAP, CONTINUATION)
OTHER_NAME = "Quillmark"
"""The name of no company, in place of each company's."""
MIN_WORDS, MAX_WORDS = 20, 200
"""Words of a text that is continued; a shorter one tells nothing, of a longer one the beginning is enough."""


def make_probed_material(probe: str, material: Material) -> Material:
    """Return the material that this probe asks about, itself without one; a UsageError if it can tell nothing."""
    if not probe:
        return material
    if probe not in PROBES:
        raise UnknownNameError("probe", probe, PROBES)
    if probe == NO_CONTEXT:
        if not all("question" in item.shown and "text" in item.shown for item in material.items):
            raise UsageError(
                "the probe no-context works only for questions about a text; without the text, nothing is left to ask."
            )
        return material
    changed = (
        _make_continuation_material(material) if probe == CONTINUATION else _swap_companies_and_drop_unchanged(material)
    )
    if not changed.items:
        missing = f"no text has {MIN_WORDS} words or more" if probe == CONTINUATION else "no text names a known company"
        raise UsageError(f"the probe {probe} has nothing to ask: {missing}.")
    return changed


def probe_omission_note_or_empty(probe: str, asked_count: int, item_count: int) -> str:
    """Describe the items that a probe can't ask about; empty where it leaves none out."""
    reasons = {
        COMPANY_SWAP: "the others don't name their company",
        CONTINUATION: f"one for each text of at least {MIN_WORDS} words",
    }
    # Without its text, what was asked of several versions is one question.
    return (
        f"the probe {probe} asks {asked_count:,} of {item_count:,} items: {reasons[probe]}"
        if asked_count < item_count and probe in reasons
        else ""
    )


def replace_text_by_sentence(item: Item, sentence: str) -> Item:
    """Return an item with a sentence in place of its text."""
    return replace(item, shown={**item.shown, "text": sentence})


# Continuation.


def _make_continuation_material(material: Material) -> Material:
    """Make an item of each text, which shows its first half and has its second half as gold."""
    texts: dict[str, Item] = {}
    for item in material.items:
        source = material.documents[item.document] if item.document else item.shown.get("text", "")
        text = " ".join(_list_strings(source))
        words = list(re.finditer(r"\S+", text))[:MAX_WORDS]
        if len(words) < MIN_WORDS or text in texts:
            continue
        half = words[len(words) // 2]
        beginning, gold = text[: half.start()].rstrip(), text[half.start() : words[-1].end()]
        texts[text] = Item(item.id, {"text": beginning}, gold, cluster=item.cluster, stratum=item.stratum)
    return Material(tuple(texts.values()))


def _count_continued_run_and_all_words(outcome: Outcome) -> tuple[float, float]:
    """Return (words of the longest run of the true continuation that the reply has, words of that continuation)."""
    continuation, reply = _split_words(str(outcome.item.gold)), _split_words(str(outcome.parsed.prediction or ""))
    match = difflib.SequenceMatcher(None, continuation, reply, autojunk=False).find_longest_match()
    return float(match.size), float(len(continuation))


def _split_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


CONTINUED = Measure(
    "continued_run",
    "continued verbatim",
    "Longest run of words of the true continuation that the reply has, as a share of the continuation's words. "
    "Case and punctuation are ignored; a few words in a row may match by chance.",
    _count_continued_run_and_all_words,
)
"""The one measure of a run with `continuation`: the suite's own are of other replies."""


# Another company.


def _swap_companies_and_drop_unchanged(material: Material) -> Material:
    """Return the items in which a company is named, with another name for it, in the gold answer too."""
    items = []
    documents = {}
    for item in material.items:
        rename = _make_company_renamer(item)
        shown_fields, gold = _map_strings(item.shown, rename), _map_strings(item.gold, rename)
        document = material.documents.get(item.document)
        changed_document = _map_strings(document, rename)
        if (shown_fields, changed_document) == (item.shown, document) or not _keeps_gold_strings_in_text(
            item, shown_fields, gold
        ):
            continue
        items.append(replace(item, shown=shown_fields, gold=gold))
        if item.document:
            documents[item.document] = changed_document
    return Material(tuple(items), documents)


def _keeps_gold_strings_in_text(item: Item, changed_fields: dict[str, Any], changed_gold: Any) -> bool:
    """Tell whether gold strings that the text had are in it still: part of a name has lost its place."""
    old_text, new_text = str(item.shown.get("text", "")), str(changed_fields.get("text", ""))
    pairs = zip(_list_strings(item.gold), _list_strings(changed_gold), strict=True)
    return all(new_gold in new_text for old_gold, new_gold in pairs if old_gold in old_text)


def _make_company_renamer(item: Item) -> Callable[[str], str]:
    """Return a function that gives the item's company the other name wherever a text has it."""
    names = {
        _letters_of_company_name(str(name)) for name in (item.shown.get("company", ""), item.cluster, item.document)
    } - {""}
    # "Kaleida Health" is the name behind kaleidahealth.org.
    spellings = "|".join("[ &'.-]?".join(name) for name in sorted(names, key=len, reverse=True))
    if not spellings:
        return str
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{spellings})(?![A-Za-z0-9])", re.IGNORECASE)

    def swap_name(match: re.Match[str]) -> str:
        name = match[0]
        # A common word (Keep, Fool) is a name with a capital, or in an address.
        address = re.match(r"\.[a-z]", match.string[match.end() :]) or match.string[: match.start()].endswith(
            ("@", ".")
        )
        if name.islower():
            return OTHER_NAME.lower() if address else name
        return OTHER_NAME.upper() if name.isupper() else OTHER_NAME

    return lambda text: pattern.sub(swap_name, text)


def _letters_of_company_name(name: str) -> str:
    """Return the letters and digits of a name: of a domain its own part, of a title what is before the colon."""
    name = name.lower().strip()
    if re.fullmatch(r"[\w.-]+\.[a-z]{2,}", name):
        *parts, _ = name.split(".")
        name = next((part for part in reversed(parts) if part not in ("co", "com", "www")), parts[-1])
    return re.sub(r"[^a-z0-9]", "", name.partition(":")[0])


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    """Return plain JSON with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _map_strings(entry, change) for key, entry in value.items()}
    return [_map_strings(entry, change) for entry in value] if isinstance(value, list | tuple) else value


def _list_strings(value: Any) -> list[str]:
    """List all strings of plain JSON, in order."""
    if isinstance(value, str):
        return [value]
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [text for entry in entries for text in _list_strings(entry)]
