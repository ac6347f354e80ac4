"""Write the artifact of a study into a folder.

    study.zip               the packed study (`genaipa.archive`)
    README.md               its contents and their licences
    ARTIFACT-APPENDIX.md    PoPETs' outline filled in: requirements, commands, time, expected results
    constraints.txt         the versions of all packages that made the tables
    croissant.json          each table and its columns for machines, as Croissant's JSON-LD
    SHA256SUMS              digests of study.zip and constraints.txt; `sha256sum -c` reads it

Only the authors know the paper's title, its claims and where the artifact is published: such places are in [brackets]
in README.md, ARTIFACT-APPENDIX.md and croissant.json.
"""

from __future__ import annotations

import hashlib
import math
import platform
import shlex
import time
import zipfile
from typing import TYPE_CHECKING, Any

import jinja2

from genaipa import __version__
from genaipa.archive import REPORT, pack
from genaipa.artifact import croissant
from genaipa.artifact.packages import EXTRAS, constraints
from genaipa.errors import UsageError
from genaipa.files.atomic import replacing
from genaipa.files.text import as_code
from genaipa.reports.render import as_text
from genaipa.runs.permission import Permission
from genaipa.words import number, some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from genaipa.archive import Packed
    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa.workspace import Workspace

STUDY = "study.zip"
README, APPENDIX = "README.md", "ARTIFACT-APPENDIX.md"
CONSTRAINTS, CROISSANT, SUMS = "constraints.txt", "croissant.json", "SHA256SUMS"


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
    pinned, about = constraints(), _about(packed)
    kept = {STUDY: (folder / STUDY).read_bytes(), CONSTRAINTS: pinned.encode()}
    facts = {"pack": packed.pack, "report": packed.report, "about": about, "licenses": licenses, "minutes": minutes}
    files = {
        CONSTRAINTS: pinned,
        CROISSANT: croissant.described(packed, folder / STUDY, about, licenses),
        SUMS: "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in kept.items()),
        README: _filled("readme.md.jinja", facts),
        APPENDIX: _filled("appendix.md.jinja", {**facts, **_measured(packed, folder / STUDY)}),
    }
    try:
        for name, text in files.items():
            with replacing(folder / name) as file:
                file.write(text.encode())
    except OSError as error:
        raise UsageError(f"{folder} can't be written ({error.strerror}); name another folder with -o.") from None
    return packed


def _about(packed: Packed) -> str:
    """The numbers of answers, documents and scores in a sentence."""
    frame = packed.report.frame
    if frame.empty:
        return f"{number(len(packed.pack.runs), 'run')} whose answers are scored by rule, by genaipa {__version__}."
    answers = frame.loc[frame["answer"] != "", ["run", "key"]].drop_duplicates()
    documents = frame["document"].nunique() - ("" in set(frame["document"]))
    return (
        f"{number(len(answers), 'answer')} of {number(frame['system'].nunique(), 'system')} to questions about "
        f"{number(documents, 'document')}, and {number(packed.events, 'event')} of scoring, by genaipa {__version__}."
    )


def _filled(template: str, facts: Mapping[str, Any]) -> str:
    """A text of the artifact in Markdown; what others wrote comes in as code, in which nothing is markup."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("genaipa.artifact", ""),
        autoescape=False,  # noqa: S701 - Markdown
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"code": as_code, "number": number, "some": some, "rows": _rows}
    return environment.get_template(template).render(
        {**facts, "genaipa": __version__, "folder": REPORT, "extras": ",".join(EXTRAS)}
    )


def _measured(packed: Packed, archive: Path) -> dict[str, Any]:
    """Facts for the appendix: what it takes, who scored, and the command that makes the report again."""
    with zipfile.ZipFile(archive) as opened:
        entries = opened.infolist()
    frame, content = packed.report.frame, packed.pack
    named = content.names if content.names != content.runs else ()
    options = ("-o", "again", "--formats", "png,svg,pdf", *(["--include-excluded"] if content.excluded else []))
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "megabytes": math.ceil(3 * sum(one.file_size for one in entries) / 2**20),
        "made": sum(one.filename.startswith(f"{REPORT}/tables/") for one in entries),
        "analysts": sorted(set(frame.loc[frame["scorer"] == "human", "analyst"]) - {""}),
        "again": shlex.join(("genaipa", "report", *named, *options)),
    }


def _rows(table: Table) -> list[str]:
    """A table as lines of text, without its title and its note."""
    return as_text(table).split("\n\n")[1].splitlines()
