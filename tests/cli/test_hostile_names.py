"""Names that mean harm: refused or shown in a sentence, and nothing of them steers a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import SYSTEM, make_workspace
from servers import Behaviour, OpenAIServer

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


def test_what_a_server_calls_itself_steers_nothing(
    genaipa: Callable[..., Finished], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its model's name and its word for the end are one clean line in files; a reply is whole in JSON, by numbers."""
    make_workspace(questions=1)
    steering = "\x1b[31m\x07\x9b\u202e"
    choice = {"finish_reason": f"stop{steering}", "message": {"content": f"Yes.{steering}\xa0é"}}
    body = json.dumps({"choices": [choice], "model": f"m{steering}\nx"}).encode()
    with OpenAIServer([Behaviour(body=body)], models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        assert genaipa("run", "-s", SYSTEM, "-p", "acme", "-e", "quality", "--limit", "1", "--name", "odd").code == 0
    shown = genaipa("show", "odd", "--json")
    assert not set("\x1b\x07\x9b\u202e") & set(shown.out)
    assert "é" in shown.out
    (answer,) = json.loads(shown.out)["answers"]
    assert (answer["reply"], answer["model"]) == (f"Yes.{steering}\xa0é", "m�[31m��� x")


def test_only_files_and_pipes_are_read() -> None:
    """A device without an end is refused before it is read; a folder is told as such."""
    with pytest.raises(DataError, match="is a device"):
        read_text(Path("/dev/zero"))
    with pytest.raises(DataError, match="Is a directory"):
        read_text(Path())
