"""Short names of systems for tables and headings: the end of a full name that tells it apart from the others."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from genaipa.files.names import folder_words
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


_LONGEST_TITLE = 24
"""Characters of a run's name that is made here; with the time before it, its folder's name has forty."""
_TAIL = 4


def run_title(systems: Iterable[str], *subjects: str) -> str:
    """The name of a run that nobody named: of its systems, shortened, and of what it is about.

    Of a long one the beginning is left, with a tail that tells it from others that begin so.
    """
    whole = folder_words("-".join((*short_names(systems).values(), *subjects)), most=1000) or "run"
    if len(whole) <= _LONGEST_TITLE:
        return whole
    tail = hashlib.sha256(whole.encode()).hexdigest()[:_TAIL]
    return f"{whole[: _LONGEST_TITLE - _TAIL - 1].rstrip('-._')}-{tail}"


def _ends(name: str) -> list[str]:
    """The ends of a model's name, the shortest first; the name alone of any other system."""
    record = find_provider(name)
    if record is None or not record.is_remote:
        return [name]
    parts = name.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]
