"""M_all is over what came back: how much that is stands beside it, where it isn't all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framing import QUESTIONS, answer_rows, score_rows, study_of, tidy_of

from genaipa.reports.answered import AnsweredCount, count_answered_by_system, note_systems_with_unanswered_questions
from genaipa.reports.chapters import overall
from genaipa.reports.comparison import compare_sides
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.page import FirstScreen, build_first_screen
from genaipa.reports.report import Report
from genaipa.reports.sides import ComparisonSide

if TYPE_CHECKING:
    import pandas as pd

LOST = {"status": "failed", "answer": "", "seconds": None, "cost": None, "claims_silence": ""}
SAID = "b/two answered 59 of 64 questions: M_all covers only these answers."


def study(*lost: str, experiments: tuple[str, ...] = ("quality",)) -> pd.DataFrame:
    """Two systems; of the second, five answers end with these states, in turn."""
    rows = answer_rows(experiments=experiments)
    mine = [row for row in rows if row["system"] == "b/two"]
    for row, status in zip(mine[:5], (*lost,) * 5 if lost else (), strict=False):
        row.update(LOST | {"status": status} if status in {"failed", "missing"} else {"status": status})
    return tidy_of(rows, score_rows(rows))


def first_screen(frame: pd.DataFrame) -> FirstScreen:
    """The first screen of a report on it."""
    gathered = study_of(frame)
    made = overall.OverallChapter().make(
        gathered,
        FigureScope.from_scores_table(
            frame, gathered.questions.categories, gathered.rubric.bands, gathered.questions.texts
        ),
    )
    return build_first_screen(Report(gathered, gathered.rubric.bands, [made]))


def test_what_failed_and_what_is_missing_did_not_come_back() -> None:
    """Refusals and cut answers did, and count."""
    found = count_answered_by_system(study("failed", "missing"))
    assert found == {"a/one": AnsweredCount(64, 64), "b/two": AnsweredCount(59, 64)}
    assert [str(one) for one in found.values()] == ["all 64", "59 of 64"]
    assert note_systems_with_unanswered_questions(found) == SAID
    assert note_systems_with_unanswered_questions(count_answered_by_system(study("refused", "truncated"))) == ""


def test_it_stands_beside_the_average() -> None:
    """In the leaderboard behind M_all, in the matrix of the first screen, and in a sentence below its title."""
    board = overall.leaderboard_table(study("failed"))
    at = board.main_columns.index("answered")
    assert board.main_columns[at - 1] == "m_all"
    assert dict(zip(board.data["system"], board.data["answered"], strict=True)) == {
        "a/one": "all 64",
        "b/two": "59 of 64",
    }
    assert board.note.endswith(SAID)
    screen = first_screen(study("failed"))
    assert SAID in screen.limits
    assert [line.mean.partition(" ")[2] for line in screen.lines] == ["", "(59 of 64)"]


def test_where_all_came_back_nothing_is_said() -> None:
    """A column that is the same for all would only take room."""
    assert "answered" not in overall.leaderboard_table(study()).data
    assert "came back" not in first_screen(study()).limits


def test_experiments_that_nobody_scored_are_in_no_average() -> None:
    """What failed there is beside no M_all."""
    rows = answer_rows(experiments=("quality", "recall"))
    for row in rows:
        if row["experiment"] == "recall":
            row.update(LOST)
    assert note_systems_with_unanswered_questions(count_answered_by_system(tidy_of(rows, score_rows(rows)))) == ""


def test_a_comparison_says_it() -> None:
    """Of both sides, by the names that they were given."""
    texts = {document: {f"text of {document}"} for document in ("uber", "spotify")}
    asked = {(document, question, "original"): {question} for document in texts for question in QUESTIONS}
    frame = study("failed")
    sides = [ComparisonSide(name, frame[frame["system"] == name], texts, asked) for name in ("a/one", "b/two")]
    found = compare_sides(*sides)
    assert found.answered == SAID
    assert SAID in found.finding
    assert found.as_json()["answered"] == SAID
