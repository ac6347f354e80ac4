"""Provenance of a report: its runs, the models as served and the texts, each with its digest."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

import msgspec
import pandas as pd

import genaipa
from genaipa.reports.table import Table
from genaipa.runs.exclusions import EXCLUSIONS
from genaipa.runs.imported import PUBLISHED_SCORES
from genaipa.runs.manifest import ANSWERS, MANIFEST
from genaipa.runs.procedure import get_plan_if_procedure_run
from genaipa.scoring.events import Event
from genaipa.tasks.prompts import map_prompt_sets_to_labels

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from genaipa.answers.study import Study
    from genaipa.runs.records import Manifest
    from genaipa.runs.selection import SelectedRun

_version = cache(metadata.version)
"""Of a package; reading it takes a millisecond."""
_FILES = (MANIFEST, ANSWERS, EXCLUSIONS, PUBLISHED_SCORES)
_COMPUTING = ("matplotlib", "numpy", "pandas", "pyarrow", "scipy")
"""Packages whose version can change a number or a picture."""
_SHORT = 12
"""Characters of a digest that a person compares."""


def tabulate_runs(study: Study) -> Table:
    """Return one row per run: its plan, time, and version of genaipa."""
    sources = sorted(study.sources, key=lambda source: source.folder.name)
    blank_facts = {name: "" for source in sources for name in _run_table_facts_of_plan(source)}
    data = _make_frame_without_blank_columns([_make_run_table_row(source, blank_facts) for source in sources], ("run",))
    note = (
        "Times are in UTC; a run that was imported has none. The digest is the beginning of the SHA-256 of the run's "
        "answers. The complete manifests are in the same folder."
    )
    return Table("runs", "The runs", note, data, {"answers_digest": "digest"})


def _run_table_facts_of_plan(source: SelectedRun) -> Mapping[str, str]:
    """Facts about the plan of a run whose kind has some."""
    return source.manifest.spec.plan.run_table_facts(source.manifest.spec.task)


def _make_run_table_row(source: SelectedRun, blank_facts: dict[str, str]) -> dict[str, Any]:
    manifest, spec = source.manifest, source.manifest.spec
    plan_facts, plan = {**blank_facts, **_run_table_facts_of_plan(source)}, get_plan_if_procedure_run(spec)
    return {
        "run": source.folder.name,
        "status": source.folder.status(
            manifest, answers_missing=bool(source.folder.describe_lost_answers_or_empty(manifest))
        ),
        "begun": _format_time_to_minute(manifest.created),
        "updated": _format_time_to_minute(manifest.updated),
        **{name: plan_facts[name] for name in plan_facts if name != "wordings"},
        "documents": manifest.documents_description,
        "initializations": ", ".join(plan.initializations) if plan else "",
        "wordings": ", ".join(plan.wordings) if plan else plan_facts.get("wordings", ""),
        "prompts": ", ".join(map_prompt_sets_to_labels(manifest).values()),
        "repetitions": spec.repetitions,
        "conversations": plan.conversation if plan else "",
        "seed": spec.seed,
        "genaipa": manifest.versions.get("genaipa", ""),
        "commit": _format_commit(manifest),
        "answers_digest": (_digest_answers(source) or "")[:_SHORT],
    }


def _format_time_to_minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _format_commit(manifest: Manifest) -> str:
    changed = " (changed since)" if manifest.commit and manifest.dirty else ""
    return f"{(manifest.commit or '')[:_SHORT]}{changed}"


def tabulate_systems(study: Study) -> Table:
    """Return one row per system as it was asked: the model asked for, and the one the provider says served."""
    runs_by_system: dict[tuple[str, ...], list[str]] = {}
    for source in study.sources:
        for name in source.systems:
            facts = source.manifest.systems.get(name)
            if facts is not None:
                settings = ", ".join(f"{key} {value}" for key, value in sorted(facts.sent.items()))
                about = (name, facts.model, ", ".join(facts.served), settings, " ".join(facts.notes))
                runs_by_system.setdefault(about, []).append(source.folder.name)
    names = ("system", "model", "served", "settings", "notes")
    rows = [
        {**dict(zip(names, about, strict=True)), "runs": len(runs_by_system[about])} for about in sorted(runs_by_system)
    ]
    headings = {"served": "model as served", "settings": "settings as sent"}
    note = (
        "Facts that a provider does not give are blank, and a setting that was not sent has the provider's default; "
        "`runs` is the number of runs."
    )
    return Table("systems", "The systems", note, _make_frame_without_blank_columns(rows, ("system",)), headings)


def tabulate_document_texts(study: Study) -> Table:
    """Return one row per document text: its title, source and digest."""
    rows_by_text: dict[tuple[str, str], dict[str, Any]] = {}
    for source in study.sources:
        for name, facts in source.manifest.documents.items():
            rows_by_text.setdefault(
                (name, facts.digest),
                {
                    "document": name,
                    "title": facts.title or facts.company,
                    "kind": facts.kind,
                    "date": facts.date,
                    "source": facts.source,
                    "license": facts.license,
                    "digest": facts.digest[:_SHORT],
                },
            )
    data = _make_frame_without_blank_columns([rows_by_text[key] for key in sorted(rows_by_text)], ("document",))
    note = "The digest is the beginning of the SHA-256 of the text. A document listed twice had two texts."
    return Table("texts", "The texts", note, data)


def _make_frame_without_blank_columns(rows: list[dict[str, Any]], required_columns: tuple[str, ...]) -> pd.DataFrame:
    data = pd.DataFrame(rows, columns=None if rows else list(required_columns))
    return data[[name for name in data.columns if (data[name] != "").any() or name in required_columns]]


def make_report_manifest(study: Study) -> dict[str, Any]:
    """Provenance of a report for machines: digests of every run's files, of the scores, and versions."""
    return {
        "genaipa": genaipa.__version__,
        "versions": package_versions(),
        "runs": [
            {
                "run": source.folder.name,
                "systems": list(source.systems),
                "files": {name: digest for name in _FILES if (digest := _digest_run_file(source, name))},
            }
            for source in study.sources
        ],
        "scores": {
            "count": len(study.log.counted),
            "digest": _digest_scores(study.log.counted),
            "head": study.log.head,
        },
    }


def package_versions() -> dict[str, str]:
    """Name → version of Python and the packages that computed and drew the report."""
    return {"python": platform.python_version(), **{name: _version(name) for name in _COMPUTING}}


def _digest_run_file(source: SelectedRun, file_name: str) -> str | None:
    return _digest_answers(source) if file_name == ANSWERS else _digest_file(source.folder.path / file_name)


def _digest_answers(source: SelectedRun) -> str | None:
    """Return the SHA-256 of the answers of a run; None without any."""
    digest = hashlib.sha256()
    try:
        for _, line in source.folder.read_answer_lines_with_offsets():
            digest.update(line)
    except OSError:
        return None
    return digest.hexdigest()


def _digest_file(path: Path) -> str | None:
    """Return the SHA-256 of a file; None if there is none."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_scores(events: Iterable[Event]) -> str:
    """Return a digest of the scores that does not depend on their order: the sum of their SHA-256."""
    total = sum(int.from_bytes(hashlib.sha256(msgspec.json.encode(event)).digest()) for event in events)
    return f"{total % 2**256:064x}"
