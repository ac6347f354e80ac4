"""What a committee that reviews a paper's artifact asks for: a packed study with everything to check it by.

    study.zip               the packed study (`genaipa.archive`)
    README.md               what is in it, and under which licences
    ARTIFACT-APPENDIX.md    PoPETs' outline filled in: requirements, commands, time, expected results
    constraints.txt         the versions of all packages that made the tables
    croissant.json          each table and its columns for machines, as Croissant's JSON-LD
    SHA256SUMS              digests of study.zip and constraints.txt; `sha256sum -c` reads it

Only the authors know the paper's title, its claims and where the artifact is published: such places are in [brackets]
in the other three files.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
import platform
import re
import shlex
import time
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import TYPE_CHECKING, Any

import pandas as pd
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from genaipa import __version__
from genaipa.archive import REPORT, pack
from genaipa.errors import UsageError
from genaipa.files.atomic import replacing
from genaipa.reports import tidy as tidy_table
from genaipa.reports.render import as_text
from genaipa.reports.writing import FRAME
from genaipa.runs.permission import Permission
from genaipa.words import number, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from genaipa.archive import Packed
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace

STUDY = "study.zip"
README, APPENDIX = "README.md", "ARTIFACT-APPENDIX.md"
CONSTRAINTS, CROISSANT, SUMS = "constraints.txt", "croissant.json", "SHA256SUMS"
EXTRAS = ("reports",)
"""What genaipa is installed with to make a report."""


def write(workspace: Workspace, sources: Sequence[Source], folder: Path, *, excluded: bool = False) -> Packed:
    """Write the artifact of these runs into a folder, over an earlier one; the errors of `pack`."""
    begun = time.process_time()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} can't be written ({error.strerror}); name another folder with -o.") from None
    packed = pack(workspace, sources, folder / STUDY, excluded=excluded)
    minutes = max(1, math.ceil((time.process_time() - begun) / 60))
    licenses = sorted({one for source in sources for one in Permission(source.folder, source.manifest).licenses})
    pinned = constraints()
    kept = {STUDY: _digest((folder / STUDY).read_bytes()), CONSTRAINTS: _digest(pinned.encode())}
    files = {
        CONSTRAINTS: pinned,
        CROISSANT: croissant(packed, folder / STUDY, licenses),
        SUMS: "".join(f"{digest}  {name}\n" for name, digest in kept.items()),
        README: _readme(packed, licenses),
        APPENDIX: _appendix(packed, folder / STUDY, minutes),
    }
    try:
        for name, text in files.items():
            with replacing(folder / name) as file:
                file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{folder} can't be written ({error.strerror}); name another folder with -o.") from None
    return packed


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# -- versions --


def constraints() -> str:
    """A line `name==version` for each package that genaipa needs for reports, as they are installed here."""
    found = sorted(name for name in installed("genaipa", EXTRAS) if name != "genaipa")
    return "".join(f"{name}=={distribution(name).version}\n" for name in found)


def installed(name: str, extras: tuple[str, ...]) -> dict[str, set[str]]:
    """Package → the packages that it needs, of one with these extras and all that it brings, as far as installed."""
    known: dict[str, set[str]] = {}
    _reach(name, extras, known, set())
    return known


def _reach(name: str, extras: tuple[str, ...], known: dict[str, set[str]], asked: set[tuple[str, str]]) -> None:
    try:
        of = distribution(name)
    except PackageNotFoundError:
        return  # of another system or Python
    those = _needed(of, extras)
    known.setdefault(name, set()).update(those)
    for other, more in those.items():
        new = {(other, extra) for extra in ("", *more)} - asked
        asked |= new
        if new:
            _reach(other, more, known, asked)


def _needed(of: Distribution, extras: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The packages that a package needs here with these extras, each with the extras that it is asked for."""
    found: dict[str, tuple[str, ...]] = {}
    for line in of.requires or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            found[canonicalize_name(one.name)] = tuple(one.extras)
    return found


# -- for machines --

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


def croissant(packed: Packed, archive: Path, licenses: Sequence[str]) -> str:
    """Croissant 1.1's JSON-LD of a packed study: the archive, each table in it as CSV, and what their columns mean."""
    study: dict[str, Any] = {
        "@type": "cr:FileObject",
        "@id": STUDY,
        "name": STUDY,
        "contentUrl": STUDY,
        "encodingFormat": "application/zip",
        "sha256": _digest(archive.read_bytes()),
    }
    files, records = [study], []
    with zipfile.ZipFile(archive) as opened:
        there = set(opened.namelist())
        for name, title, file, data in _tables(packed, there):
            path = f"{REPORT}/{file}"
            files.append(
                {
                    "@type": "cr:FileObject",
                    "@id": path,
                    "name": path,
                    "contentUrl": path,
                    "containedIn": {"@id": STUDY},
                    "encodingFormat": "text/csv" if file.endswith(".csv") else "application/vnd.apache.parquet",
                    "sha256": _digest(opened.read(path)),
                }
            )
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": name,
                    "name": name,
                    "description": title,
                    "field": [_field(name, path, str(column), data[column]) for column in data.columns],
                }
            )
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "genaipa-study",
        "description": f"{_about(packed)} Each table of the report, and one row per answer and score.",
        "license": list(licenses),
        "url": "[address]",
        "citeAs": "[reference of the paper]",
        "version": "1.0.0",
        "datePublished": dt.datetime.now(dt.UTC).date().isoformat(),
        "distribution": files,
        "recordSet": records,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _tables(packed: Packed, there: set[str]) -> Iterable[tuple[str, str, str, pd.DataFrame]]:
    """(name, title, file in the report's folder, data) of each table, the tidy one first."""
    for file in (f"{FRAME}.csv", f"{FRAME}.parquet"):
        if f"{REPORT}/{file}" in there:
            written = tidy_table.filled(packed.report.frame)
            yield FRAME, "One row per answer and score: the source of all other tables.", file, written
            break
    for table in packed.report.tables.values():
        yield table.name, table.title, f"tables/{table.name}.csv", table.data


def _field(of: str, path: str, column: str, data: pd.Series[Any]) -> dict[str, Any]:
    meant = tidy_table.columns(()).get(column) if of == FRAME else None
    return {
        "@type": "cr:Field",
        "@id": f"{of}/{column}",
        "name": column,
        **({"description": meant[1]} if meant else {}),
        "dataType": _type(data),
        "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
    }


def _type(data: pd.Series[Any]) -> str:
    kind = data.dtype
    if pd.api.types.is_bool_dtype(kind):
        return "sc:Boolean"
    if pd.api.types.is_integer_dtype(kind):
        return "sc:Integer"
    return "sc:Float" if pd.api.types.is_float_dtype(kind) else "sc:Text"


# -- for people --


def _about(packed: Packed) -> str:
    """What was asked and scored, in a sentence."""
    frame = packed.report.frame
    if frame.empty:
        return f"{number(len(packed.pack.runs), 'run')} whose answers are scored by rule, by genaipa {__version__}."
    answers = frame.loc[frame["answer"] != "", ["run", "key"]].drop_duplicates()
    documents = frame["document"].nunique() - ("" in set(frame["document"]))
    return (
        f"{number(len(answers), 'answer')} of {number(frame['system'].nunique(), 'system')} to questions about "
        f"{number(documents, 'document')}, and {number(packed.events, 'event')} of scoring, by genaipa {__version__}."
    )


def _code(text: str) -> str:
    """Text of others as code, in which nothing is markup."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"


def _readme(packed: Packed, licenses: Sequence[str]) -> str:
    left_out = [
        f"- {_code(one.document)}: {_code(one.license or 'no licence is stated')}; {_code(one.source or 'no source')}; "
        f"SHA-256 {_code(one.digest)}"
        for one in packed.pack.absent
    ]
    return _text(
        "# [Title of the paper]: artifact",
        "",
        _about(packed),
        "",
        f"- `{STUDY}`: runs, scores, and the report with all tables and figures (unzip it, and open "
        f"`{REPORT}/{FRAME}.csv` or `{REPORT}/index.html`)",
        f"- `{APPENDIX}`: how to check it",
        f"- `{CONSTRAINTS}`: the versions of the packages that made the tables",
        f"- `{CROISSANT}`: the tables and their columns for machines",
        f"- `{SUMS}`: digests, for `sha256sum -c {SUMS}`",
        "",
        "## Licences",
        "",
        f"Texts: {', '.join(map(_code, licenses)) or 'none is in it'}. Answers and scores: [the authors' licence].",
        *(["", "Left out, because the licence does not let them be passed on:", "", *left_out] if left_out else []),
    )


def _appendix(packed: Packed, archive: Path, minutes: int) -> str:
    report = packed.report
    analysts = sorted(set(report.frame.loc[report.frame["scorer"] == "human", "analyst"]) - {""})
    names = packed.pack.names if packed.pack.names != packed.pack.runs else ()
    options = ("-o", "again", "--formats", "png,svg,pdf", *(["--include-excluded"] if packed.pack.excluded else []))
    again = shlex.join(("genaipa", "report", *names, *options))
    with zipfile.ZipFile(archive) as opened:
        size = math.ceil(3 * sum(one.file_size for one in opened.infolist()) / 2**20)
        made = sum(name.startswith(f"{REPORT}/tables/") for name in opened.namelist())
    took = f"{number(minutes, 'minute')} of one processor core"
    return _text(
        "# Artifact Appendix",
        "",
        "Paper title: [title]",
        "",
        "Requested Badge(s):",
        *(f"  - [ ] **{badge}**" for badge in ("Available", "Functional", "Reproduced")),
        "",
        "## Description",
        "",
        f"{_about(packed)} The archive has the answers as records, every scoring event, and the report made of them. "
        "It belongs to [reference of the paper].",
        "",
        "### Security/Privacy Issues and Ethical Concerns",
        "",
        f"Nothing is sent anywhere. Replies of models are untrusted text, and are shown as text alone. "
        f"{_people(analysts)}",
        "",
        "## Basic Requirements",
        "",
        "### Hardware Requirements",
        "",
        "Any computer with 2 GB of memory.",
        "",
        "### Software Requirements",
        "",
        f"Python {platform.python_version()} (3.11 or newer will do), genaipa {__version__}, and the packages in "
        f"`{CONSTRAINTS}`. It was made on {platform.system()}.",
        "",
        "### Estimated Time and Storage Consumption",
        "",
        f"{took.capitalize()}, {size:,} MB of disk, and 1 GB for the packages.",
        "",
        "## Environment",
        "",
        "### Accessibility",
        "",
        "[address]",
        "",
        "### Set up the environment",
        "",
        "```bash",
        "python3 -m venv venv && . venv/bin/activate",
        f'pip install -c {CONSTRAINTS} "genaipa[{",".join(EXTRAS)}]=={__version__}"',
        "```",
        "",
        "### Testing the Environment",
        "",
        "```bash",
        f"sha256sum -c {SUMS}",
        "genaipa --version",
        "```",
        "",
        f"Two lines end in OK, and the last says {__version__}.",
        "",
        "## Artifact Evaluation",
        "",
        "### Main Results and Claims",
        "",
        "#### Main Result 1: [name]",
        "",
        f"[The claim, and where the paper has it.] Shown by {_named(report.key)}, from Experiment 1:",
        "",
        *(f"    {line}".rstrip() for line in _lines(report.key)),
        "",
        "### Experiments",
        "",
        "#### Experiment 1: every table from the scores",
        "",
        f"- Time: 2 human-minutes, {took}",
        "",
        "```bash",
        f"genaipa unpack {STUDY} study",
        "```",
        "",
        "Each file is compared with its digest, each table is made again and compared with the packed one. Expected: "
        f"“Made again: {number(made, 'table file')}, each the same as packed.”",
        "",
        "#### Experiment 2: every figure",
        "",
        f"- Time: 2 human-minutes, {took}",
        "",
        "```bash",
        "cd study",
        again,
        f"diff -r {REPORT}/tables again/tables && diff -r {REPORT}/figures again/figures",
        "```",
        "",
        "Expected: no difference; with other versions than the pinned ones, figures may differ in bytes.",
        "",
        *_listed(packed),
        "",
        "## Limitations",
        "",
        "The answers are records. To ask again needs the systems' keys and money, and gives other words; the "
        f"messages, models and times are in `runs/NAME`. {_withheld(packed)}",
        "",
        "## Notes on Reusability",
        "",
        "The folder `study` is a workspace of genaipa: `genaipa score` opens its answers for further analysts, "
        "`genaipa run` asks other systems, and `genaipa export` writes it in other forms.",
    )


def _text(*lines: str) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _people(analysts: Sequence[str]) -> str:
    if not analysts:
        return "Nobody has scored."
    return f"Scores and notes are under the names that analysts chose: {some(map(_code, analysts), 10)}."


def _withheld(packed: Packed) -> str:
    if not packed.pack.absent:
        return "No text is left out."
    names = some((_code(one.document) for one in packed.pack.absent), 5)
    return (
        f"Left out are the texts of {names} and what quotes them; the tables don't need them. "
        f"Where they can be had: `{README}`."
    )


def _named(table: Table | None) -> str:
    return f"`{REPORT}/tables/{table.name}.csv`" if table else "the report"


def _lines(table: Table | None) -> list[str]:
    """A table as text, without its title and its note."""
    return as_text(table).split("\n\n")[1].splitlines() if table else []


def _listed(packed: Packed) -> list[str]:
    """Every figure and table by the file that the experiments make."""
    report = packed.report
    figures = [(f"again/figures/{name}.svg", one.title) for name, one in report.figures.items()]
    tables = [(f"again/tables/{name}.csv", one.title) for name, one in report.tables.items()]
    rows = [f"| `{file}` | {re.sub(r'[|<>]', ' ', title)} | |" for file, title in (*figures, *tables)]
    return ["| file | what it shows | in the paper |", "|---|---|---|", *rows]
