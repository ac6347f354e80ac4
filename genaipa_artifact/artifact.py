"""Write the artifact of a study into a folder.

    study.zip               the packed study (`genaipa.archive.study_pack`)
    README.md               its contents and their licenses
    ARTIFACT-APPENDIX.md    PoPETs' outline filled in: requirements, commands, time, expected results
    constraints.txt         the versions of all packages that made the tables
    croissant.json          each table and its columns for machines, as Croissant's JSON-LD
    heds.json, heds.tex     the data sheet of the human evaluation (`genaipa_artifact.heds`)
    SHA256SUMS              digests of study.zip and constraints.txt; `sha256sum -c` reads it

Only the authors know the paper's title, its claims and where the artifact is published: such places are in [brackets]
in README.md, ARTIFACT-APPENDIX.md, croissant.json and heds.tex; in heds.json they are null.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import platform
import shlex
import time
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

import jinja2
import pandas as pd
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from genaipa import __version__
from genaipa.answers import tidy as tidy_table
from genaipa.archive.contents import REPORT
from genaipa.archive.study_pack import pack_study
from genaipa.errors import UsageError
from genaipa.files.atomic import open_draft_folder
from genaipa.files.text import format_inline_code
from genaipa.reports.pull_request import escape_markdown_line
from genaipa.reports.render import as_text_lines_without_title_or_note
from genaipa.reports.writing import ANSWERS, SCORES
from genaipa.runs.authors import read_authorships
from genaipa.runs.permission import SharingPermission
from genaipa.scoring.rubric import load_guidelines, load_rubric
from genaipa.words import format_count, join_some
from genaipa_artifact.evaluation import HumanEvaluationRecords
from genaipa_artifact.heds import HEDS_JSON, HEDS_LATEX, HedsDataSheet, fill_data_sheet
from genaipa_artifact.heds_criteria import CRITERION_QUESTIONS
from genaipa_artifact.heds_form import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from genaipa.archive.study_pack import WrittenPack
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace


STUDY = "study.zip"
README, APPENDIX = "README.md", "ARTIFACT-APPENDIX.md"
CONSTRAINTS, CROISSANT, SUMS = "constraints.txt", "croissant.json", "SHA256SUMS"


def write_artifact(
    workspace: Workspace, sources: Sequence[SelectedRun], folder: Path, *, include_excluded: bool = False
) -> tuple[WrittenPack, HedsDataSheet]:
    """Write the artifact of these runs into a folder, all or nothing, over an earlier one; the errors of `pack`."""
    try:
        with open_draft_folder(folder) as draft_folder:
            return _write_artifact_files(workspace, sources, draft_folder, include_excluded=include_excluded)
    except OSError as error:
        raise UsageError(f"{folder} can't be written ({error.strerror}); name another folder with -o.") from None


def _write_artifact_files(
    workspace: Workspace, sources: Sequence[SelectedRun], folder: Path, *, include_excluded: bool
) -> tuple[WrittenPack, HedsDataSheet]:
    begun = time.process_time()
    guidelines = load_guidelines(workspace, load_rubric(workspace))
    packed = pack_study(workspace, sources, folder / STUDY, count_excluded_in_report=include_excluded)
    minutes = max(1, math.ceil((time.process_time() - begun) / 60))
    licenses = sorted(
        {name for source in sources for name in SharingPermission(source.folder, source.manifest).licenses}
    )
    pinned, about = pin_versions_of_report_packages(), _describe_size_of_study(packed)
    digested_files = {STUDY: (folder / STUDY).read_bytes(), CONSTRAINTS: pinned.encode()}
    records = HumanEvaluationRecords.from_packed_study(packed, workspace, guidelines)
    sheet = fill_data_sheet(records, QUESTIONS, CRITERION_QUESTIONS)
    authors = {authorship.author for source in sources for authorship in read_authorships(source.folder)}
    facts = {"pack": packed.pack, "report": packed.report, "about": about, "licenses": licenses, "minutes": minutes}
    files = {
        CONSTRAINTS: pinned,
        HEDS_JSON: sheet.as_json(),
        HEDS_LATEX: sheet.as_latex(),
        CROISSANT: format_study_as_croissant_json(packed, folder / STUDY, about, licenses),
        SUMS: "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in digested_files.items()),
        README: _fill_template("readme.md.jinja", facts),
        APPENDIX: _fill_template(
            "appendix.md.jinja",
            {**facts, **_collect_reproduction_facts(packed, folder / STUDY), "authors": sorted(authors)},
        ),
    }
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    return packed, sheet


def _describe_size_of_study(packed: WrittenPack) -> str:
    """Return the numbers of answers, documents and scores in a sentence."""
    frame = packed.report.frame
    if frame.empty:
        return (
            f"{format_count(len(packed.pack.runs), 'run')} with answers scored by rules, made with genaipa "
            f"{__version__}."
        )
    answers = frame.loc[frame["answer"] != "", ["run", "key"]].drop_duplicates()
    documents = frame["document"].nunique() - ("" in set(frame["document"]))
    return (
        f"{format_count(len(answers), 'answer')} of {format_count(frame['system'].nunique(), 'system')} to "
        "questions about "
        f"{format_count(documents, 'document')}, and {format_count(packed.scores, 'score')}, made with "
        f"genaipa {__version__}."
    )


def _fill_template(template_name: str, facts: Mapping[str, Any]) -> str:
    """Return a text of the artifact in Markdown; what others wrote comes in as code, in which nothing is markup."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("genaipa_artifact", ""),
        autoescape=False,  # noqa: S701 - Markdown
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "code": format_inline_code,
        "markdown": escape_markdown_line,
        "number": format_count,
        "some": join_some,
        "rows": as_text_lines_without_title_or_note,
    }
    return environment.get_template(template_name).render(
        {**facts, "genaipa": __version__, "folder": REPORT, "extras": ",".join(EXTRAS)}
    )


def _collect_reproduction_facts(packed: WrittenPack, archive: Path) -> dict[str, Any]:
    """Return facts for the appendix: what it takes, who scored, and the command that makes the report again."""
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
    content = packed.pack
    named = content.names if content.names != content.runs else ()
    options = ("-o", "again", "--formats", "png,svg,pdf", *(["--include-excluded"] if content.excluded else []))
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "megabytes": math.ceil(3 * sum(entry.file_size for entry in entries) / 2**20),
        "made": sum(entry.filename.startswith(f"{REPORT}/tables/") for entry in entries),
        # The archive has everybody's events, also of those who are left out.
        "analysts": sorted({event.analyst for event in packed.report.study.log.every if event.scorer == "human"}),
        "again": shlex.join(("genaipa", "report", *named, *options)),
    }


_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{
        term: f"cr:{term}"
        for term in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
            *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
            *("separator", "source", "subField", "transform"),
        )
    },
}
"""The terms of Croissant 1.1 (https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html)."""


def format_study_as_croissant_json(
    packed: WrittenPack, archive: Path, study_description: str, licenses: Sequence[str]
) -> str:
    """Describe a packed study as Croissant 1.1's JSON-LD: the archive, each table as CSV, and its columns."""
    study: dict[str, Any] = {
        "@type": "cr:FileObject",
        "@id": archive.name,
        "name": archive.name,
        "contentUrl": archive.name,
        "encodingFormat": "application/zip",
        "sha256": _hash_content(archive.read_bytes()),
    }
    files, records = [study], []
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
        for name, title, file, data in _iterate_names_titles_files_and_frames(packed, names):
            path = f"{REPORT}/{file}"
            files.append(
                {
                    "@type": "cr:FileObject",
                    "@id": path,
                    "name": path,
                    "contentUrl": path,
                    "containedIn": {"@id": archive.name},
                    "encodingFormat": "text/csv" if file.endswith(".csv") else "application/vnd.apache.parquet",
                    "sha256": _hash_content(opened.read(path)),
                }
            )
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": name,
                    "name": name,
                    "description": title,
                    "field": [_make_croissant_field(name, path, str(column), data[column]) for column in data.columns],
                }
            )
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "genaipa-study",
        "description": f"{study_description} Each table of the report, and one row per answer and score.",
        "license": list(licenses),
        "url": "[address]",
        "citeAs": "[reference of the paper]",
        "version": "1.0.0",
        "datePublished": dt.datetime.now(dt.UTC).date().isoformat(),
        "distribution": files,
        "recordSet": records,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _iterate_names_titles_files_and_frames(
    packed: WrittenPack, archived_paths: set[str]
) -> Iterable[tuple[str, str, str, pd.DataFrame]]:
    """Yield name, title, file in the report's folder and data of each table, the frames first; no name twice."""
    study = packed.report.study
    for name, title, data in (
        (ANSWERS, "One row per answer, with everything known about it except its scores.", study.answers),
        (SCORES, "One row per answer and score: the source of all averages.", study.table),
    ):
        file = next((file for file in (f"{name}.csv", f"{name}.parquet") if f"{REPORT}/{file}" in archived_paths), None)
        if file:
            yield name, title, file, tidy_table.drop_empty_fact_columns(data)
    for table in packed.report.tables.values():
        # By its path: a table may have the name of a frame.
        yield f"tables/{table.name}", table.title, f"tables/{table.name}.csv", table.data


def _make_croissant_field(
    table_name: str, archived_path: str, column: str, column_values: pd.Series[Any]
) -> dict[str, Any]:
    known_column = tidy_table.column_types_and_meanings(()).get(column) if table_name in (ANSWERS, SCORES) else None
    return {
        "@type": "cr:Field",
        "@id": f"{table_name}/{column}",
        "name": column,
        **({"description": known_column[1]} if known_column else {}),
        "dataType": _croissant_type(column_values),
        "source": {"fileObject": {"@id": archived_path}, "extract": {"column": column}},
    }


def _croissant_type(column_values: pd.Series[Any]) -> str:
    kind = column_values.dtype
    if pd.api.types.is_bool_dtype(kind):
        return "sc:Boolean"
    if pd.api.types.is_integer_dtype(kind):
        return "sc:Integer"
    return "sc:Float" if pd.api.types.is_float_dtype(kind) else "sc:Text"


def _hash_content(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


EXTRAS = ("reports",)
"""Extras of genaipa with which reports can be made."""


def pin_versions_of_report_packages() -> str:
    """Return a line `name==version` for each package that genaipa needs for reports, as they are installed here."""
    packages = sorted(name for name in map_dependencies_to_what_they_need("genaipa", EXTRAS) if name != "genaipa")
    return "".join(f"{name}=={distribution(name).version}\n" for name in packages)


def map_dependencies_to_what_they_need(package_name: str, extras: tuple[str, ...]) -> dict[str, set[str]]:
    """List what a package with these extras needs, directly or not, as installed: package → its requirements."""
    packages: dict[str, set[str]] = {}
    _add_installed_requirements(package_name, extras, packages, set())
    return packages


def _add_installed_requirements(
    package_name: str,
    extras: tuple[str, ...],
    requirements_by_package: dict[str, set[str]],
    visited: set[tuple[str, str]],
) -> None:
    try:
        package = distribution(package_name)
    except PackageNotFoundError:
        return  # of another system or Python
    needed = _map_requirements_to_their_extras(package, extras)
    requirements_by_package.setdefault(package_name, set()).update(needed)
    for needed_name, needed_extras in needed.items():
        new = {(needed_name, extra) for extra in ("", *needed_extras)} - visited
        visited |= new
        if new:
            _add_installed_requirements(needed_name, needed_extras, requirements_by_package, visited)


def _map_requirements_to_their_extras(package: Distribution, extras: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the packages that a package needs here with these extras, each with the extras that it is asked for."""
    needed: dict[str, tuple[str, ...]] = {}
    for line in package.requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            needed[canonicalize_name(requirement.name)] = tuple(requirement.extras)
    return needed
