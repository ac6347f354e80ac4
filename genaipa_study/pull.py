"""Fetch the published files and convert them into genaipa's own, where every command finds them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import yaml

from genaipa.datasets.snapshot import key_of, write
from genaipa.workspace import pulled
from genaipa_study.convert import (
    DEFECTS,
    convert_annotations,
    convert_document,
    convert_questions,
    convert_regulation_questions,
)
from genaipa_study.files import Tree, published
from genaipa_study.layout import DOCUMENTS, POLICY_SET, REGULATION_SET

if TYPE_CHECKING:
    from genaipa.datasets.base import Progress, Pulled

VERSION = 3
"""Raise it when the conversion changes, so that earlier conversions are done again."""

OUTPUTS = (
    *(f"policies/{name}{suffix}" for name in DOCUMENTS for suffix in (".txt", ".yaml")),
    *(f"annotations/{name}.yaml" for name in DOCUMENTS),
    f"questions/{POLICY_SET}.yaml",
    f"questions/{REGULATION_SET}.yaml",
)


def available(tree: Tree | None = None) -> bool:
    """Whether the seven documents, their annotated answers and the published questions can be used now."""
    return _notes(tree or published()) is not None


def pull(
    *,
    origin: str | None = None,
    offline: bool = False,
    progress: Progress | None = None,
    tree: Tree | None = None,
) -> Pulled:
    """Fetch missing files (`Snapshot.fetch`) and convert them; the notes are about defects of the data."""
    tree = tree or published()
    done = tree.fetch(origin=origin, offline=offline, progress=progress)
    return replace(done, notes=(*_convert(tree), *done.notes))


def _notes(tree: Tree) -> list[str] | None:
    """The notes of this version's conversion of this commit; None unless all of its files are there."""
    done = tree.marked("converted", _key(tree))
    return done["notes"] if done and all((pulled() / output).is_file() for output in OUTPUTS) else None


def _key(tree: Tree) -> str:
    return key_of(VERSION, tree.commit, sorted((path, tree.blobs[path]) for path in tree.wanted))


def _convert(tree: Tree) -> list[str]:
    """Write documents, annotated answers and question sets, unless they are there; notes on defects of the data.

    A DataError names what can't be read; nothing is written then.
    """
    done = _notes(tree)
    if done is not None:
        return done
    outputs: dict[str, str] = {}
    notes: list[str] = []
    for name in DOCUMENTS:
        text, about, inexact = convert_document(tree, name)
        annotations = convert_annotations(tree, name)
        outputs[f"policies/{name}.txt"] = text
        outputs[f"policies/{name}.yaml"] = _yaml(about)
        outputs[f"annotations/{name}.yaml"] = _yaml(annotations)
        notes += inexact
        notes += [f"{name}, {question}: {one.note}" for question, one in annotations.answers.items() if one.note]
    outputs[f"questions/{POLICY_SET}.yaml"] = DEFECTS + _yaml(convert_questions(tree))
    outputs[f"questions/{REGULATION_SET}.yaml"] = _yaml(convert_regulation_questions(tree))
    for output, content in outputs.items():
        write(pulled() / output, content.encode())
    tree.mark("converted", _key(tree), notes=notes)
    return notes


def _yaml(record: msgspec.Struct) -> str:
    plain = msgspec.to_builtins(record)
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120)
