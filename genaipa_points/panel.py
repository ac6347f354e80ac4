"""Points of annotated answers at the desk: to and from the browser, and people's ticks side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import streamlit as st

from genaipa.questions.points import Ticks, make_ticks, points_digest
from genaipa.ui.answer_view import label_scorer_of_event, load_case_or_rerun_page
from genaipa.ui.pages.agreement import FEW
from genaipa.ui.panel import Panel
from genaipa.ui.widgets import (
    ListCell,
    ListRow,
    cache_in_session,
    number_column_heads,
    show_heading,
    show_table,
    show_table_in_pages,
)
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from genaipa.questions.points import Point
    from genaipa.scoring.answers import AnswerPool, ScoringCase
    from genaipa.scoring.assignment import ScoringPlan
    from genaipa.scoring.events import Draft, Event
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.ui.desk import Desk

_TITLE = "Points with the most disagreement"


class PointsPanel(Panel):
    """The points of an annotated answer, to tick beside the answer."""

    script = "points.js"

    def is_enabled(self, plan: ScoringPlan) -> bool:
        """Tell whether the study's plan asks for ticks."""
        return plan.points

    def make_script_data(
        self, case: ScoringCase, rubric: Rubric, scores: Sequence[Event] = ()
    ) -> dict[str, Any] | None:
        """Return the points of an answer, with everyone's ticks where scores are given; None where it has none."""
        points = _list_points_of_annotated_answer(case)
        if not points or not rubric.points_metric:
            return None
        data: dict[str, Any] = {
            "metric": rubric.points_metric,
            "digest": points_digest(points),
            "values": tabulate_digit_keys_by_points_said(points, rubric),
            "list": [
                {
                    "id": point.id,
                    "text": point.text,
                    "weight": point.weight,
                    "harm": bool(point.if_wrong),
                    "why": point.why,
                    "sections": point.sections,
                    "given": point_ticks,
                }
                for point, point_ticks in zip(points, list_tick_words_by_point(points, scores), strict=True)
            ],
        }
        if scores:
            agreed, settled = find_agreed_ticks_and_whether_all(
                points, [event for event in scores if event.kind == "score"]
            )
            data |= {"agreed": msgspec.to_builtins(agreed), "partly": not settled}
        return data

    def list_linked_section_labels(self, case: ScoringCase) -> Sequence[str]:
        """Name the sections that the points rest on."""
        return tuple(
            dict.fromkeys(label for point in _list_points_of_annotated_answer(case) for label in point.sections)
        )

    def update_draft(self, case: ScoringCase, browser_data: Mapping[str, Any], draft: Draft) -> Draft:
        """Return the draft with the ticks that were sent."""
        ticks = msgspec.convert(browser_data["ticks"], Ticks)
        return msgspec.structs.replace(
            draft, ticks=make_ticks(_list_points_of_annotated_answer(case), ticks.said, ticks.contradicted)
        )

    def suggest_value_by_metric(self, case: ScoringCase, rubric: Rubric, draft: Draft) -> Mapping[str, float]:
        """Return the value that follows from the ticks; nothing before the first one."""
        ticks = draft.ticks
        if not ticks or not (ticks.said or ticks.contradicted):
            return {}
        return {rubric.points_metric: rubric.value_from_points(_list_points_of_annotated_answer(case), ticks)}

    def show_score_comparison(self, case: ScoringCase, scores: Sequence[Event], key_prefix: str) -> None:
        """Show everyone's ticks side by side, and the number of points that they tick differently."""
        points = _list_points_of_annotated_answer(case)
        events = [event for event in scores if event.ticks and event.ticks.digest == points_digest(points)]
        if not events:
            return
        rows = list_tick_words_by_point(points, events)
        heads = ["point", "", *map(label_scorer_of_event, events)]
        lines = [
            ListRow((point.text, point.weight_and_sections_in_words, *row))
            for point, row in zip(points, rows, strict=True)
        ]
        show_table(f"{key_prefix} points", "Points of this answer", heads, lines)
        if len(events) > 1:
            disputed = sum(len(set(row)) > 1 for row in rows)
            are = "is" if disputed == 1 else "are"
            st.caption(f"{disputed} of {format_count(len(points), 'point')} {are} ticked differently.")

    def show_agreement(self, desk: Desk, user: User) -> None:
        """Show the points ticked differently most often; of no answer that the user could be asked to score."""

        def find_disputed_points_for_user() -> list[DisputedPoint]:
            ahead = desk.queue.answers_analyst_may_still_score(user.name) if user.scores else set()
            scores = (score for score in desk.current.independent_human_scores() if score.answer not in ahead)
            return find_disputed_points(scores, desk.pool)

        stamp = (user.name, desk.current.event_count, desk.pool.generation)
        disputed = cache_in_session("agreement points", stamp, find_disputed_points_for_user)
        if not disputed:
            return

        def record_answers_of_points_as_seen(page: Sequence[DisputedPoint]) -> None:
            desk.queue.record_exposures(
                user.name, [digest for point in page for digest in point.answers], sees_scores=True
            )

        show_heading(_TITLE)
        columns = ["point", "question", "document", *number_column_heads("answers", "ticked differently")]
        show_table_in_pages(
            "agreement points",
            _TITLE,
            columns,
            disputed,
            lambda point: _make_disputed_point_count_row(desk, point),
            before_showing_page=record_answers_of_points_as_seen,
        )
        st.caption(
            "The answers on which at least two people ticked the point, and how many of these got different ticks."
        )


POINTS = PointsPanel()


def _list_points_of_annotated_answer(case: ScoringCase) -> tuple[Point, ...]:
    return case.annotated.points if case.annotated else ()


def tabulate_digit_keys_by_points_said(points: Sequence[Point], rubric: Rubric) -> list[list[str]]:
    """Return the keys of the values that follow by the rubric.

    A row for each number of vital points that are said, from 0, and in it a key for each number of the others.
    """
    vital, okay = ([point.id for point in points if point.weight == weight] for weight in ("vital", "okay"))
    return [
        [
            rubric.digit_for_value(rubric.value_from_points(points, make_ticks(points, [*vital[:n], *okay[:m]])))
            for m in range(len(okay) + 1)
        ]
        for n in range(len(vital) + 1)
    ]


def list_tick_words_by_point(points: Sequence[Point], events: Collection[Event]) -> list[list[str]]:
    """Return each point's ticks by these events: said, contradicted or not said.

    A tick is empty where the event's points were not on screen, or were edited since.
    """
    return [
        [_name_tick_or_empty_if_edited(point, event.ticks, points_digest(points)) for event in events]
        for point in points
    ]


def _name_tick_or_empty_if_edited(point: Point, ticks: Ticks | None, current_digest: str) -> str:
    return _name_tick(point.id, ticks) if ticks and ticks.digest == current_digest else ""


def _name_tick(point_id: str, ticks: Ticks) -> str:
    return "contradicted" if point_id in ticks.contradicted else "said" if point_id in ticks.said else "not said"


def find_agreed_ticks_and_whether_all(points: Sequence[Point], scores: Collection[Event]) -> tuple[Ticks, bool]:
    """Return the ticks that all these scores have, and whether they agree on every point."""
    rows = zip(points, list_tick_words_by_point(points, scores), strict=True)
    agreed = {point.id: point_ticks[0] for point, point_ticks in rows if len(set(point_ticks)) == 1}
    said_points, contradicted_points = (
        [name for name, tick in agreed.items() if tick == wanted] for wanted in ("said", "contradicted")
    )
    return make_ticks(points, said_points, contradicted_points), len(agreed) == len(points)


@dataclass(frozen=True)
class DisputedPoint:
    """A point that people tick differently in `apart` of these `answers`, each ticked by two people or more.

    `points` is the digest of all points of its annotated answer.
    """

    point: str
    points: str
    answers: tuple[str, ...]
    apart: int


def find_disputed_points(scores: Iterable[Event], pool: AnswerPool) -> list[DisputedPoint]:
    """Return the points that people tick differently, the most often first."""
    ticks_of: defaultdict[tuple[str, str], list[Ticks]] = defaultdict(list)
    for score in scores:
        if score.ticks and score.answer in pool.answers:
            ticks_of[score.answer, score.ticks.digest].append(score.ticks)
    answers: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    counts = Counter[tuple[tuple[str, str, str], str]]()
    for (digest, points), ticks in ticks_of.items():
        if len(ticks) > 1:
            about = (pool.answers[digest].document_digest, pool.answers[digest].question, points)
            answers[about].append(digest)
            ids = {point for tick in ticks for point in (*tick.said, *tick.contradicted)}
            counts.update((about, point) for point in ids if len({_name_tick(point, tick) for tick in ticks}) > 1)
    disputed = [
        DisputedPoint(point, about[-1], tuple(answers[about]), count) for (about, point), count in counts.items()
    ]
    return sorted(disputed, key=lambda point: (-point.apart, len(point.answers), point.answers, point.point))


def _make_disputed_point_count_row(desk: Desk, disputed: DisputedPoint) -> ListRow:
    digest = disputed.answers[0]
    answer = desk.pool.answers[digest]
    points = _list_points_of_annotated_answer(load_case_or_rerun_page(desk, digest))
    # Of points that were edited since, the id is all that is left.
    texts = {point.id: point.text for point in points} if points_digest(points) == disputed.points else {}
    count = ListCell(f"{len(disputed.answers):,}", tone="quiet" if len(disputed.answers) < FEW else "")
    text = texts.get(disputed.point, disputed.point)
    return ListRow((text, answer.question, answer.document, count, f"{disputed.apart:,}"))
