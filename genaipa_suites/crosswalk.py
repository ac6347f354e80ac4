"""The cross-walk: from suites' categories of practices to the paper's categories of questions (a data file)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, UsageError, nearest
from genaipa.files.strict_yaml import read_yaml
from genaipa.questions.sets import load_question_set
from genaipa_suites.data import FOLDER, folders

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.workspace import Workspace

_NAME = "crosswalk.yaml"
FILE = f"{FOLDER}/{_NAME}"
QUESTIONS = "policy"
"""The question set to whose categories it leads."""


class Category(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The categories of questions that ask about one category of practices, and the other names that suites have."""

    genaipabench: tuple[str, ...]
    also: tuple[str, ...] = ()


class Crosswalk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Category of practices (OPP-115) → categories of questions (GenAIPABench)."""

    title: str
    about: str
    categories: dict[str, Category]

    @property
    def by_name(self) -> dict[str, tuple[str, ...]]:
        """Every name of a category of practices → the categories of questions."""
        return {name: one.genaipabench for known, one in self.categories.items() for name in (known, *one.also)}


def load_crosswalk(workspace: Workspace) -> tuple[Crosswalk, dict[str, str]]:
    """The nearest cross-walk, and the names of the categories of questions that it leads to.

    A DataError for a category that the question set `policy` does not have.
    """
    path = next((file for folder in folders(workspace) if (file := folder / _NAME).is_file()), None)
    if path is None:
        raise UsageError(f"{FILE} is missing; install genaipa again.")
    found, known = read_yaml(path, Crosswalk), load_question_set(QUESTIONS, workspace).categories
    for problem in problems(path, found, known):
        raise problem
    return found, known


def problems(path: Path, walk: Crosswalk, known: dict[str, str]) -> Iterator[DataError]:
    """An error for each category of questions that is none of those known."""
    for name, one in walk.categories.items():
        for code in one.genaipabench:
            if code not in known:
                problem = f"'{code}' is no category of the question set '{QUESTIONS}'{nearest(code, known)}"
                yield DataError(path, problem, f"categories.{name}")
