"""The file of a workspace's waves, `waves.jsonl`: what it is sealed with, and whether it is of this workspace.

Its first line has the format and the SHA-256 of all lines after it; each of these is one `Draw`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError
from genaipa.files.atomic import replacing
from genaipa.files.json_text import DAMAGE
from genaipa.runs.finding import run_folders
from genaipa.runs.folder import now
from genaipa.scoring.answers import Pool
from genaipa.scoring.waves import SIZE, Draw, Waves, largest, short

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from pathlib import Path

    from genaipa.scoring.answers import Answer
    from genaipa.workspace import Workspace

WAVES = "waves.jsonl"
_FORMAT = 1
_REMEDY = (
    "restore it, or move it away: genaipa sample then draws from what nobody has scored, and scores count as they are."
)


class _Head(msgspec.Struct):
    format: int
    sha256: str


def load_waves(workspace: Workspace) -> Waves:
    """The workspace's waves; none without the file. A DataError if anything but genaipa changed it."""
    path = workspace.home / WAVES
    try:
        return read_waves(path, path.read_bytes())
    except FileNotFoundError:
        return Waves()
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None


def read_waves(path: Path, content: bytes) -> Waves:
    """The waves in a file's content; a DataError if anything but genaipa changed it."""
    first, _, rest = content.partition(b"\n")
    try:
        head = msgspec.json.decode(first, type=_Head)
        if head.format > _FORMAT:
            raise DataError(path, f"was written by a newer genaipa (format {head.format}); upgrade genaipa.")
        if head.sha256 == hashlib.sha256(rest).hexdigest():
            decode = msgspec.json.Decoder(Draw).decode
            return Waves(tuple(map(decode, rest.splitlines())))
    except DAMAGE:
        pass
    raise DataError(path, f"is not as genaipa wrote it, so it no longer says what was drawn at random; {_REMEDY}")


def written(waves: Waves) -> bytes:
    """The content of the file of these waves."""
    rest = b"".join(msgspec.json.encode(msgspec.structs.replace(draw, back=0)) + b"\n" for draw in waves.draws)
    return msgspec.json.encode(_Head(_FORMAT, hashlib.sha256(rest).hexdigest())) + b"\n" + rest


def save_waves(workspace: Workspace, waves: Waves) -> None:
    """Write the workspace's waves, whole or not at all; a DataError if they can't be written."""
    path = workspace.home / WAVES
    try:
        with replacing(path, durable=True) as file:
            file.write(written(waves))
    except OSError as error:
        raise DataError(path, f"can't be written ({error.strerror}).") from None


def draw_waves(
    workspace: Workspace,
    answers: Collection[Answer],
    scored: Collection[str],
    *,
    size: int | None,
    seed: int,
    strata: Mapping[str, str] | None = None,
) -> Waves:
    """Draw from the answers that are in no draw yet, let waves grow to `size`, and keep the result (`Waves.drawn`).

    Without a `size` nothing is drawn as long as no group has more than `SIZE` answers: all of them are asked for.
    `scored` are the digests of answers that people have scored. A DataError for a file that can't be used, or that is
    of another workspace.
    """
    waves = load_waves(workspace)
    if waves:
        _check_origin(workspace, waves, answers)
    elif size is None and largest(answers) <= SIZE:
        return waves
    found = waves.drawn(answers, size=size, seed=seed, time=now(), scored=scored, strata=strata)
    if found != waves:
        save_waves(workspace, found)
    return found


def _check_origin(workspace: Workspace, waves: Waves, answers: Iterable[Answer]) -> None:
    """A DataError where none of what was drawn from is here: neither among these answers, nor in any other run."""
    known = set().union(*waves.known.values())
    if not known.isdisjoint(short(answer.digest) for answer in answers):
        return
    if known.isdisjoint(map(short, Pool(workspace, run_folders(workspace)).answers)):
        problem = f"is of another workspace: none of the {len(known):,} answers that it was drawn from is here"
        raise DataError(workspace.home / WAVES, f"{problem}; {_REMEDY}")
