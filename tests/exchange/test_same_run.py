"""Answers of somebody else's evaluation that come in twice: known by what they are, not by the name of their file."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import make_workspace

from genaipa.errors import UsageError
from genaipa.workspace import find_workspace
from genaipa_exchange.incoming import ForeignLog, ForeignSample, Incoming


def bring(*files: str, reply: str = "Yes.", target: str = "yes", documents: str = "acme") -> tuple[int, int]:
    """Import the one log under these names at once; the numbers of new and of known answers."""
    incoming = Incoming(find_workspace())
    for name in files:
        log = ForeignLog(Path(name), "m", "privacy", "Kx81", {}, incoming)
        log.add_sample(ForeignSample("sample 1", {"document": documents}, "Does it sell data?", reply, target))
        log.add_run_to_incoming()
    taken = incoming.write_runs_and_scores()
    return taken.answers, taken.known


def test_a_log_is_the_same_under_any_name() -> None:
    """Renamed, converted, or both names in one command; another reply or right answer under its id is refused."""
    make_workspace(documents=("acme", "brook"))
    assert bring("one.eval", "copy/two.json") == (1, 1)
    for name in ("one.eval", "other.eval", "one.json", "déjà vu 日本.eval"):
        assert bring(name) == (0, 1), name
    (questions,) = Path("runs").glob("*/questions/*.yaml")
    assert "one.eval" in questions.read_text()
    for other in ({"reply": "No."}, {"target": "no"}, {"documents": "brook"}):
        with pytest.raises(UsageError, match=r"with other answers; remove it: genaipa runs rm privacy-m-Kx81$"):
            bring("one.eval", **other)
    questions.write_text("{")
    with pytest.raises(UsageError, match="with other answers"):
        bring("one.eval")
