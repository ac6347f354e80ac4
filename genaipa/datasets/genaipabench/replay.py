"""The published answers as recordings, from which the study's systems are asked again (`systems/published.py`)."""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa import workspace
from genaipa.datasets.base import pulled_only
from genaipa.datasets.genaipabench.files import REPOSITORY, Tree, write
from genaipa.datasets.genaipabench.layout import ANSWERS, EXPERIMENTS, POLICIES, held
from genaipa.datasets.genaipabench.questions import POLICY_SET
from genaipa.datasets.genaipabench.transcripts import Answer, read_answers
from genaipa.policies.document import Document, load_document
from genaipa.questions.sets import QuestionSet, load_questions
from genaipa.runs.records import INITIALIZATIONS
from genaipa.systems.published import Recorded, Recording, is_recorded, recording_path, text_digest

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 1
"""Raise it when the recordings change: those that were made before are then made again."""


def convert_study(tree: Tree) -> list[str]:
    """Write the recording of each system whose answers are here; sentences about what could not be done."""
    key = _key(tree)
    done = _read_stamp()
    if done and done["key"] == key and all(map(is_recorded, done["systems"])):
        return []
    if not held(tree, ANSWERS, ".xlsx"):
        return []
    if importlib.util.find_spec("openpyxl") is None:
        said = "the study's answers are spreadsheets and were not converted"
        return [f"{said}: pip install 'genaipa[reports]', then run the same command again."]
    here = pulled_only()
    questions = load_questions(here, POLICY_SET)
    documents = {name: load_document(here, name) for name in POLICIES}
    by_system: defaultdict[str, list[Answer]] = defaultdict(list)
    for answer in read_answers(tree, questions)[0]:
        by_system[answer.system].append(answer)
    for system, answers in by_system.items():
        recording = _recording(system, answers, questions, documents, tree.commit)
        write(recording_path(system), msgspec.json.encode(recording))
    write(_stamp(), json.dumps({"key": key, "systems": sorted(by_system)}).encode())
    return []


def _recording(
    system: str, answers: list[Answer], questions: QuestionSet, documents: dict[str, Document], commit: str
) -> Recording:
    """What is asked is the published question set's text: the sheets number, quote and shorten it."""
    initializations = {EXPERIMENTS[answer.experiment].initialization for answer in answers}
    return Recording(
        system=system,
        source=f"{REPOSITORY} (commit {commit[:10]})",
        initializations=tuple(known for known in INITIALIZATIONS if known in initializations),
        documents={name: text_digest(document.text) for name, document in documents.items()},
        answers=tuple(
            Recorded(
                key=answer.key.partition("|")[2],
                asked=questions.asked(answer.question, answer.wording, documents[answer.document].company),
                reply=answer.text,
            )
            for answer in answers
            if answer.text is not None
        ),
    )


def _key(tree: Tree) -> str:
    """Equal for recordings with the same content."""
    inputs = [VERSION, tree.commit, [(path, tree.blobs[path]) for path in held(tree, ANSWERS, ".xlsx")]]
    return hashlib.sha256(json.dumps(inputs).encode()).hexdigest()


def _stamp() -> Path:
    return workspace.cache() / "genaipabench" / "recorded.json"


def _read_stamp() -> dict[str, Any]:
    """What was recorded last: under which key, for which systems; empty if nothing was."""
    try:
        stamp = json.loads(_stamp().read_bytes())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}
