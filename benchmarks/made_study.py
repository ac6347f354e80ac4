"""Make a study of rows that nobody asked a system for: for benchmarks, and for tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.answers.frames import StudyFrameBuilder, build_score_table
from genaipa.answers.study import Study

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genaipa.scoring.rubric import Rubric


def make_study(
    rows: Iterable[Mapping[str, Any]],
    scores: Mapping[str, Sequence[Any]],
    rubric: Rubric,
    *,
    excluded: bool = False,
    orders: Mapping[str, Sequence[str]] | None = None,
) -> Study:
    """Return the study of answers and published scores (whose `unit` is `table`), and of scores as columns."""
    gathering = StudyFrameBuilder()
    asked, talk = gathering.add_question({}), gathering.add_conversation({})
    for row in rows:
        if row["unit"] == "table":
            gathering.published.add_row(row)
        else:
            gathering.append_answer_row(row.get("key", ""), asked, talk, row)
    answers, published = gathering.build_answer_and_published_score_frames(rubric, orders or {})
    table = build_score_table(
        answers, published, scores, rubric, flag_excluded_as_counted=excluded, value_orders=orders
    )
    return Study(answers, table, rubric=rubric)
