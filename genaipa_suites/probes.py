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
FEWEST, MOST = 20, 200
"""Words of a text that is continued; a shorter one tells nothing, of a longer one the beginning is enough."""


def applied(probe: str, material: Material) -> Material:
    """The material that this probe asks about; itself without one. A UsageError where the probe can tell nothing."""
    if not probe:
        return material
    if probe not in PROBES:
        raise UnknownNameError("probe", probe, PROBES)
    if probe == NO_CONTEXT:
        if not all("question" in item.shown and "text" in item.shown for item in material.items):
            raise UsageError("the probe no-context is for questions about a text: without one, nothing is left to ask.")
        return material
    found = _continued(material) if probe == CONTINUATION else _renamed(material)
    if not found.items:
        missing = (
            f"no text has {FEWEST} words or more" if probe == CONTINUATION else "no text names a company that is known"
        )
        raise UsageError(f"the probe {probe} has nothing to ask: {missing}.")
    return found


def left_out(probe: str, asked: int, of: int) -> str:
    """The words on a probe that asks about fewer items than there are; empty where it leaves none out."""
    why = {
        COMPANY_SWAP: "the others don't name their company in what is shown",
        CONTINUATION: f"one for each text, if it has {FEWEST} words or more",
    }
    # Without its text, what was asked of several versions is one question.
    return f"the probe {probe} asks {asked:,} of {of:,} items: {why[probe]}" if asked < of and probe in why else ""


def withheld(item: Item, sentence: str) -> Item:
    """An item as it is asked about with a sentence in place of its text."""
    return replace(item, shown={**item.shown, "text": sentence})


# Continuation.


def _continued(material: Material) -> Material:
    """An item for each text: its first half is shown, and its second half is gold."""
    texts: dict[str, Item] = {}
    for item in material.items:
        source = material.documents[item.document] if item.document else item.shown.get("text", "")
        text = " ".join(_strings(source))
        words = list(re.finditer(r"\S+", text))[:MOST]
        if len(words) < FEWEST or text in texts:
            continue
        half = words[len(words) // 2]
        shown, gold = text[: half.start()].rstrip(), text[half.start() : words[-1].end()]
        texts[text] = Item(item.id, {"text": shown}, gold, cluster=item.cluster, stratum=item.stratum)
    return Material(tuple(texts.values()))


def _run(outcome: Outcome) -> tuple[float, float]:
    """(words of the longest run of the true continuation that the reply has, words of that continuation)."""
    wanted, said = _words(str(outcome.item.gold)), _words(str(outcome.given.prediction or ""))
    match = difflib.SequenceMatcher(None, wanted, said, autojunk=False).find_longest_match()
    return float(match.size), float(len(wanted))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


CONTINUED = Measure(
    "continued_run",
    "continued verbatim",
    "words of the true continuation that a reply has in one run, without a gap and in order, over all its words; case "
    "and punctuation do not count (a few words in a row can be had by chance)",
    _run,
)
"""The one measure of a run with `continuation`: the suite's own are of other replies."""


# Another company.


def _renamed(material: Material) -> Material:
    """The items in which a company is named, with another name for it, in the gold answer too."""
    found = []
    documents = {}
    for item in material.items:
        rename = _renaming(item)
        shown, gold = _mapped(item.shown, rename), _mapped(item.gold, rename)
        about = material.documents.get(item.document)
        changed = _mapped(about, rename)
        if (shown, changed) == (item.shown, about) or not _still(item, shown, gold):
            continue
        found.append(replace(item, shown=shown, gold=gold))
        if item.document:
            documents[item.document] = changed
    return Material(tuple(found), documents)


def _still(item: Item, shown: dict[str, Any], gold: Any) -> bool:
    """Whether gold strings that the text had are in it still: a part of a name has lost its place."""
    before, after = str(item.shown.get("text", "")), str(shown.get("text", ""))
    pairs = zip(_strings(item.gold), _strings(gold), strict=True)
    return all(other in after for one, other in pairs if one in before)


def _renaming(item: Item) -> Callable[[str], str]:
    """A function that gives the item's company the other name wherever a text has it."""
    names = {_squeezed(str(name)) for name in (item.shown.get("company", ""), item.cluster, item.document)} - {""}
    # "Kaleida Health" is the name behind kaleidahealth.org.
    spelt = "|".join("[ &'.-]?".join(name) for name in sorted(names, key=len, reverse=True))
    if not spelt:
        return str
    pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{spelt})(?![A-Za-z0-9])", re.IGNORECASE)

    def other(match: re.Match[str]) -> str:
        name = match[0]
        # A common word (Keep, Fool) is a name with a capital, or in an address.
        address = re.match(r"\.[a-z]", match.string[match.end() :]) or match.string[: match.start()].endswith(
            ("@", ".")
        )
        if name.islower():
            return OTHER_NAME.lower() if address else name
        return OTHER_NAME.upper() if name.isupper() else OTHER_NAME

    return lambda text: pattern.sub(other, text)


def _squeezed(name: str) -> str:
    """Letters and digits of a name: of a domain its own part, of a title what is before the colon."""
    name = name.lower().strip()
    if re.fullmatch(r"[\w.-]+\.[a-z]{2,}", name):
        *parts, _ = name.split(".")
        name = next((part for part in reversed(parts) if part not in ("co", "com", "www")), parts[-1])
    return re.sub(r"[^a-z0-9]", "", name.partition(":")[0])


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """Plain JSON with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(entry, change) for key, entry in value.items()}
    return [_mapped(entry, change) for entry in value] if isinstance(value, list | tuple) else value


def _strings(value: Any) -> list[str]:
    """All strings of plain JSON, in order."""
    if isinstance(value, str):
        return [value]
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [text for entry in entries for text in _strings(entry)]
