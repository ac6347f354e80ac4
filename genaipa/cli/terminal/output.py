"""Files that commands write with -o: whole or not at all, their folder made, and none overwritten unasked."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated, BinaryIO

from genaipa.cli.terminal.options import option
from genaipa.errors import UsageError
from genaipa.files.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ForceOption = Annotated[bool, option("--force", help="Overwrite the file if it is there already.")]


def check_new(path: Path, *, force: bool) -> None:
    """A UsageError where a file is there already that nobody asked to overwrite."""
    if path.exists() and not force:
        raise UsageError(f"{path} is there already; name another file, or add --force to overwrite it.")


@contextlib.contextmanager
def written(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that replaces the earlier one once it is whole; a UsageError as `check_new`."""
    check_new(path, force=force)
    try:
        with replacing(path) as file:
            yield file
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
