"""Short names of systems for tables and headings: the end of a full name that tells it apart from the others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from genaipa.systems.provider import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterable


def short_names(systems: Iterable[str]) -> dict[str, str]:
    """System → its name as it is shown among these: `reader-1` for `openai-api/lab/reader-1`, where one ends so.

    Only names of models are shortened; a file, a recording or a class is called as it is.
    """
    names = list(dict.fromkeys(systems))
    ends = {name: _ends(name) for name in names}
    often = Counter(end for name in names for end in ends[name])
    return {name: next((end for end in ends[name] if often[end] == 1), name) for name in names}


def _ends(name: str) -> list[str]:
    """The ends of a model's name, the shortest first; the name alone of any other system."""
    record = find_provider(name)
    if record is None or not (record.keys or record.address):
        return [name]
    parts = name.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]
