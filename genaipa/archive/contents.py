"""The contents of a pack: which files it may hold, and how one from somebody else is checked and written.

Nothing is written before every file has a name, a kind and the digest that a pack of genaipa's gives it. A pack holds
data and pages without anything active; it holds no code.
"""

from __future__ import annotations

import hashlib
import html
import re
import shutil
from typing import TYPE_CHECKING, Annotated

import msgspec

from genaipa.errors import DataError, OtherFormatError
from genaipa.files.limits import PACK as LIMITS
from genaipa.files.limits import TEXT, limit_reading
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.runs.manifest import MANIFEST, has_wrong_manifest_checksum
from genaipa.scoring.people import FILE as DESK
from genaipa.scoring.rubric import GUIDELINES
from genaipa.scoring.waves import WAVES
from genaipa.workspace import MARKER

if TYPE_CHECKING:
    import zipfile
    from pathlib import Path

FORMAT = 2
PACK = "pack.json"
SCORES = "scores.jsonl"
REPORT = "report"
RUNS = "runs"


class AbsentText(msgspec.Struct, frozen=True):
    """A document whose text is not in the pack, and where it can be had."""

    document: str
    digest: str
    source: str
    license: str


class Pack(msgspec.Struct, frozen=True, omit_defaults=True):
    """`pack.json`: `names` are the runs and systems to report on; `files` maps each other file to its SHA-256.

    `notes` are words of the package that wrote the pack, for itself; without a report, the pack is there to be scored.
    `after_scoring` are the words of the command of genaipa by which its scores go on.
    """

    format: int
    genaipa: str
    names: tuple[str, ...]
    runs: tuple[str, ...]
    excluded: bool
    rubric: str
    absent: tuple[AbsentText, ...]
    versions: dict[str, str]
    files: dict[str, str] = {}
    notes: dict[str, str] = {}
    # Words alone: it is printed as the next step, and the pack comes from somebody else.
    after_scoring: Annotated[str, msgspec.Meta(pattern=r"^[a-z]*( [a-z]+)*$")] = ""

    @property
    def has_report(self) -> bool:
        """Whether a report is in the pack."""
        return any(name.startswith(f"{REPORT}/") for name in self.files)


_ALONE = (MARKER, SCORES, WAVES, GUIDELINES, DESK)
_KINDS = {
    RUNS: frozenset((".json", ".jsonl", ".txt", ".md", ".jinja", ".yaml", ".csv", ".tsv", ".toml")),
    REPORT: frozenset((".html", ".svg", ".png", ".pdf", ".csv", ".tex", ".txt", ".json", ".parquet")),
    "rubrics": frozenset((".yaml",)),
}
"""Folder → endings of the files that it may hold."""
_RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{number}" for name in ("com", "lpt") for number in range(1, 10))}
"""Names that Windows takes for devices."""
_LONGEST_PART, _LONGEST = 255, 1000
"""Bytes of a file's name, and of its path, that file systems take."""


def may_pack_hold_file(name: str) -> bool:
    """Tell whether a pack may hold a file of that name: in its own folders, nothing hidden, no code, no device."""
    parts = name.split("/")
    kinds = _KINDS.get(parts[0], frozenset())
    placed = name in _ALONE or (len(parts) > 1 + (parts[0] == RUNS) and f".{name.rpartition('.')[2]}" in kinds)
    plain = all(part and part[-1] not in " ." and part[0] != "." for part in parts)
    short = len(name.encode(errors="replace")) <= _LONGEST and all(
        len(part.encode(errors="replace")) <= _LONGEST_PART for part in parts
    )
    device = any(part.partition(".")[0].casefold() in _RESERVED for part in parts)
    return placed and plain and short and not device and all(c.isprintable() and c not in '\\:*?"<>|' for c in name)


def read_checked_pack(file: Path) -> Pack:
    """Return what `pack.json` lists, once each file is checked against it; a DataError for anything else."""
    if file.exists() and not file.is_file():  # a device may have no end, from which an archive is read
        raise DataError(file, "is not a file.")
    with limit_reading(LIMITS, file) as allowance, allowance.open_zip_archive(file) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        if PACK not in names:
            raise DataError(file, f"is not a genaipa pack: it has no {PACK}.")
        try:
            pack = msgspec.json.decode(_read_packed_file(file, archive, PACK), type=Pack)
        except DAMAGE as error:
            raise DataError(file, f"is not a pack, or is damaged ({clip_error_message(error)}).") from None
        if pack.format != FORMAT:
            raise OtherFormatError(file, pack.format, FORMAT, "ask for a pack written by this version")
        _check_packed_file_names(file, pack, names)
        for name in pack.files:
            with archive.open(name) as content:
                seen_bytes = hashlib.sha256()
                while chunk := content.read(2**20):
                    seen_bytes.update(chunk)
            allowance.check_time()
            if seen_bytes.hexdigest() != pack.files[name]:
                raise DataError(file, "was changed after it was packed; ask for the pack again.", name)
            _check_manifest_checksum_or_inert_page(file, archive, name)
    return pack


def read_pack_of_unpacked_folder(folder: Path) -> Pack | None:
    """Return the `pack.json` of a folder into which a pack was unpacked; None for any other folder."""
    path = folder / PACK
    if not path.is_file():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Pack)
    except (OSError, *DAMAGE) as error:
        raise DataError(path, f"can't be read ({clip_error_message(error)}); unpack the pack again.") from None


def find_command_after_scoring(folder: Path, otherwise: str) -> str:
    """Return the command by which the scores of an unpacked pack go on; another one for any other workspace."""
    pack = read_pack_of_unpacked_folder(folder)
    return f"genaipa {pack.after_scoring}" if pack and pack.after_scoring else otherwise


def extract_checked_pack_files(file: Path, pack: Pack, folder: Path) -> None:
    """Write the files of a pack that was checked into a folder; an OSError where they can't be written."""
    with limit_reading(LIMITS, file) as allowance, allowance.open_zip_archive(file) as archive:
        for name in (*pack.files, PACK):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(name) as content, path.open("wb") as written:
                shutil.copyfileobj(content, written)


def _check_packed_file_names(file: Path, pack: Pack, names: list[str]) -> None:
    """Raise a DataError unless the files are the listed ones, with names of their own that a pack may hold."""
    listed, held = {PACK, *pack.files}, set(names)
    if len(held) < len(names):
        raise DataError(file, "contains two files with the same name; genaipa did not write it.")
    folders = {name.rsplit("/", depth)[0] for name in listed for depth in range(1, name.count("/") + 1)}
    for name in sorted({*held, *pack.files} - {PACK}):
        parts = name.split("/")
        if not may_pack_hold_file(name) or name in folders or (parts[0] == RUNS and parts[1] not in pack.runs):
            raise DataError(file, "does not belong in a pack; genaipa did not write it.", name)
        if name not in listed or name not in held:
            raise DataError(
                file, "is in the pack or in its list of files, but not in both; ask for the pack again.", name
            )


def _read_packed_file(file: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a file of a pack that is in memory as a whole; a DataError for one that is too large for that."""
    if archive.getinfo(name).file_size > TEXT.size:
        raise DataError(file, f"is larger than {TEXT.size // 1_000_000} MB; ask for the pack again.", name)
    return archive.read(name)


def _check_manifest_checksum_or_inert_page(file: Path, archive: zipfile.ZipFile, name: str) -> None:
    """Raise a DataError for a manifest that was changed before it was packed, and for a page that does something."""
    parts, ending = name.split("/"), name.rpartition(".")[2]
    if (
        parts[0] == RUNS
        and parts[-1] == MANIFEST
        and has_wrong_manifest_checksum(_read_packed_file(file, archive, name))
    ):
        raise DataError(file, "was changed before it was packed; ask for the pack again.", name)
    if ending in ("html", "svg") and not is_inert_page(_read_packed_file(file, archive, name).decode(errors="replace")):
        raise DataError(file, "would run code or fetch something when opened; genaipa did not write it.", name)


_TAG = re.compile(r"""<[a-z](?:[^<>"']|"[^"]*"|'[^']*')*>""", re.IGNORECASE)
_TAG_BEGINS = re.compile(r"<[a-z]", re.IGNORECASE)
_ACTIVE = re.compile(
    r"<\s*(?:[\w.-]+:)?(?:script|iframe|frame|object|embed|applet|base|form|input|button|link|foreignobject|animate|set)\b"
    r"|<!entity|<\?xml-stylesheet|http-equiv\s*=\s*[\"']?\s*refresh",
    re.IGNORECASE,
)
_QUOTED = re.compile(r""""[^"]*"|'[^']*'""")
_ADDRESS = re.compile(
    r"""(?:href|src|srcset|action|poster|to|from|values)\s*=\s*("[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE
)
_HANDLER = re.compile(r"""[\s/"']on\w+\s*=""", re.IGNORECASE)
_RUNS = re.compile(r"javascript:|vbscript:|data:(?!image/)", re.IGNORECASE)


def is_inert_page(page: str) -> bool:
    """Tell whether a page of HTML or SVG does nothing when it is opened: no script, handler, frame or form."""
    if _ACTIVE.search(page) or _TAG_BEGINS.search(_TAG.sub("", page)):
        return False
    tags = _TAG.findall(page)
    return not any(_HANDLER.search(_QUOTED.sub('""', tag)) or _has_script_address(tag) for tag in tags)


def _has_script_address(tag: str) -> bool:
    """Tell whether an address in a tag is a script."""
    values = (html.unescape(value.strip("\"'")) for value in _ADDRESS.findall(tag))
    return any(_RUNS.match("".join(value.split())) for value in values)
