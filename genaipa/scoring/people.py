"""Who may score and who may adjudicate: `desk.yaml` of the workspace.

    analysts: [anna@example.org, Bo]        who scores
    adjudicators: [anna@example.org]        who settles answers whose scores differ
    reference: [reference]                  whose scores new analysts compare themselves with

Names, or the e-mail addresses with which people log in; upper and lower case are the same. A list that is left out is
open to anyone who gives a name, as long as the desk asks for no login; with a login only those who are listed do
anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, UsageError, clipped
from genaipa.files.strict_yaml import read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from genaipa.workspace import Workspace

FILE = "desk.yaml"
LONGEST_NAME = 100
"""Characters that a name may have: more is a slip of the clipboard."""


class People(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in the file. None means that the list is left out; `reference` names the reference analysts."""

    analysts: tuple[str, ...] | None = None
    adjudicators: tuple[str, ...] | None = None
    reference: tuple[str, ...] = ("reference",)

    def may_score(self, name: str, *, login: bool) -> bool:
        """Whether this person gives scores: an analyst, or a reference analyst."""
        return _open_to(name, self.analysts, login=login) or _same(name) in map(_same, self.reference)

    def may_adjudicate(self, name: str, *, login: bool) -> bool:
        """Whether this person settles answers whose scores differ."""
        return _open_to(name, self.adjudicators, login=login)

    def who(self, given: str, known: Iterable[str] = ()) -> str:
        """The name under which this person's scores are kept; a UsageError for what can't be a name.

        It is spelt as one of the `known` names (of those who have scored), else as in the file, else as given.
        """
        name = " ".join(given.split())
        if not name:
            raise UsageError("give a name: the scores are kept under it.")
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise UsageError(f"a name is one line of at most {LONGEST_NAME} printable characters.")
        listed = (*(self.analysts or ()), *(self.adjudicators or ()), *self.reference)
        spelt = {_same(other): other for other in (*listed, *known)}
        return spelt.get(_same(name), name)


def load_people(workspace: Workspace) -> People:
    """What the workspace's desk.yaml says, checked; a DataError if it is bad. Without one all lists are left out."""
    path = workspace.home / FILE
    if not path.is_file():
        return People()
    people = read_yaml(path, People)
    for error in problems(path, people):
        raise error
    return people


def problems(path: Path, people: People) -> Iterator[DataError]:
    """Everything that is wrong with the names that are listed."""
    for entry in ("analysts", "adjudicators", "reference"):
        seen = set()
        for name in getattr(people, entry) or ():
            if not name.strip() or name != " ".join(name.split()) or len(name) > LONGEST_NAME:
                problem = f"'{clipped(name)}' is not a name; write one line without blanks around it."
                yield DataError(path, problem, entry)
            if _same(name) in seen:
                yield DataError(path, f"'{clipped(name)}' stands twice; take one out.", entry)
            seen.add(_same(name))


def _open_to(name: str, listed: tuple[str, ...] | None, *, login: bool) -> bool:
    return not login if listed is None else _same(name) in map(_same, listed)


def _same(name: str) -> str:
    """Equal for names that mean the same person."""
    return " ".join(name.split()).casefold()
