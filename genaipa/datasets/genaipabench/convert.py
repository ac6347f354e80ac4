"""The pulled files in genaipa's own formats, where every command finds them; done again only when needed."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import yaml

from genaipa import workspace
from genaipa.datasets.genaipabench.annotations import convert_annotations
from genaipa.datasets.genaipabench.documents import DOCUMENTS, convert_document
from genaipa.datasets.genaipabench.files import Tree, write
from genaipa.datasets.genaipabench.questions import (
    DEFECTS,
    POLICY_SET,
    REGULATION_SET,
    convert_questions,
    convert_regulation_questions,
)

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 2
"""Raise it when the conversion changes: what was converted before is then converted again."""

OUTPUTS = (
    *(f"policies/{name}{suffix}" for name in DOCUMENTS for suffix in (".txt", ".yaml")),
    *(f"annotations/{name}.yaml" for name in DOCUMENTS),
    f"questions/{POLICY_SET}.yaml",
    f"questions/{REGULATION_SET}.yaml",
)


def is_converted(tree: Tree) -> bool:
    """Whether this version has converted this commit and everything is still there."""
    done = _read_stamp().get("key") == _key(tree)
    return done and all((workspace.pulled() / output).is_file() for output in OUTPUTS)


def convert(tree: Tree) -> tuple[str, ...]:
    """Write documents, annotated answers and question sets; sentences about what the data has of its own.

    All files that a pull takes have to be there. A DataError names what can't be read; nothing is written then.
    """
    if is_converted(tree):
        return tuple(_read_stamp()["notes"])
    outputs, notes = _outputs(tree)
    for output, content in outputs.items():
        write(workspace.pulled() / output, content.encode())
    write(_stamp(), json.dumps({"key": _key(tree), "notes": notes}, indent=1).encode())
    return tuple(notes)


def _outputs(tree: Tree) -> tuple[dict[str, str], list[str]]:
    """Path below the pulled data → content, and the notes."""
    outputs: dict[str, str] = {}
    notes: list[str] = []
    for name in DOCUMENTS:
        text, about, inexact = convert_document(tree, name)
        outputs[f"policies/{name}.txt"] = text
        outputs[f"policies/{name}.yaml"] = _yaml(about)
        annotations = convert_annotations(tree, name)
        outputs[f"annotations/{name}.yaml"] = _yaml(annotations)
        notes += inexact
        notes += [
            f"{name}, {question}: {answer.note}" for question, answer in annotations.answers.items() if answer.note
        ]
    outputs[f"questions/{POLICY_SET}.yaml"] = DEFECTS + _yaml(convert_questions(tree))
    outputs[f"questions/{REGULATION_SET}.yaml"] = _yaml(convert_regulation_questions(tree))
    return outputs, notes


def _yaml(record: msgspec.Struct) -> str:
    plain = msgspec.to_builtins(record)
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120)


def _key(tree: Tree) -> str:
    """Equal for conversions with the same outcome."""
    inputs = [VERSION, tree.commit, sorted((path, tree.blobs[path]) for path in tree.wanted)]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def _stamp() -> Path:
    return workspace.cache() / "genaipabench" / "converted.json"


def _read_stamp() -> dict[str, Any]:
    """What the last conversion left: its key and notes; empty if there was none."""
    try:
        stamp = json.loads(_stamp().read_bytes())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}
