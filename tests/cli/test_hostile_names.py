"""Names that mean harm: refused or shown in a sentence, and nothing of them steers a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import make_workspace

from genaipa.errors import DataError
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished


def test_names_that_mean_harm(genaipa: Callable[..., Finished]) -> None:
    """Bytes that are no text, escapes, names of 300 letters and devices: no traceback, no escape shown."""
    make_workspace(questions=1)
    run = ("run", "-p", "acme", "-s")
    for name in ("x\udcffy", "\udcff:Class", "manual/\x1b[31mred", "\x1b[1m:C", "n" * 300, "manual/" + "n" * 300):
        for command in (("show", name), ("systems", name), (*run, name), (*run, name, "--dry-run"), ("init", name)):
            done = genaipa(*command)
            assert "Traceback" not in done.err, command
            assert "\x1b" not in done.out + done.err, command
            assert "\udcff" not in name or done.code == 2, command
    zero = genaipa(*run, "scripted//dev/zero")
    assert (zero.code, "/dev/zero: is a device, not a file." in zero.err) == (2, True)


def test_only_files_and_pipes_are_read() -> None:
    """A device without an end is refused before it is read; a folder is told as such."""
    with pytest.raises(DataError, match="is a device"):
        read_text(Path("/dev/zero"))
    with pytest.raises(DataError, match="Is a directory"):
        read_text(Path())
