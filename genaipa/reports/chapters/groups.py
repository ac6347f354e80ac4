"""Groups of documents apart: the outcomes of each, and the systems ranked within it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.table import Table, make_table
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope
    from genaipa.runs.selection import DocumentGrouping

_KNOWN = ("answered", "truncated", "refused", "failed", "missing")


def statuses_and_silence_by_group_table(study: Study, groups: DocumentGrouping) -> Table:
    """Outcomes of the questions about each group's documents, and how often a reply says that one is silent."""
    once = study.rows_once_per_answer("silence")
    once = once.assign(group=once["document"].astype(str).map(groups.group_by_document))
    statuses = [*_KNOWN, *(["mute"] if (once["claims_silence"] == "none").any() else [])]
    columns = ["group", "system", "experiment", "documents", "planned", *statuses, "says_silent", *BOTH[:-1]]
    data = averages.summarize_each_group(
        once[once["group"].notna()], ["group", "system", "experiment"], _summarize_statuses_and_silence_claims
    )
    data = data.reindex(columns=[*columns, "questions"])
    return make_table(
        "groups-answers",
        f"What came back, by {groups.by}",
        f"For each group of documents (column `{groups.by}`), the questions planned and their last status, as in the "
        "outcomes of the questions. `says silent` is the share of answers saying that the document is silent, among "
        "the answers that say anything; rules recognise this in the reply, without any scores. Each question weighs "
        "the same, however many documents it is about. "
        f"{averages.explain_intervals_and_small_n(data.rename(columns={'questions': 'n'}))}",
        data,
        columns,
        headings={"group": groups.by, "mute": "said nothing", "says_silent": "says silent"},
        formats={"says_silent": ".0%", **dict.fromkeys(BOTH[:-1], ".0%")},
    )


def _summarize_statuses_and_silence_claims(rows: pd.DataFrame) -> dict[str, object]:
    answers = rows[rows["claims_silence"].isin(["yes", "no", "abstains"])]
    estimate = estimate_crossed_mean(
        answers["claims_silence"] == "yes", answers["question"], answers["document"], limits=(0, 1)
    )
    return {
        "documents": rows["document"].nunique(),
        "planned": len(rows),
        **{status: int((rows["status"] == status).sum()) for status in _KNOWN},
        "mute": int((rows["claims_silence"] == "none").sum()),
        "says_silent": estimate.mean,
        "questions": estimate.questions,
        **{end: getattr(estimate, end) for end in BOTH[:-1]},
    }


def leaderboard_by_document_group_table(frame: pd.DataFrame, groups: DocumentGrouping) -> Table:
    """Rank the systems by their M_all within each group, the best first."""
    boards, unlike_groups = [], []
    for group in sorted(set(groups.group_by_document.values())):
        within = frame[frame["document"].astype(str).map(groups.group_by_document) == group]
        cells = averages.select_and_weigh_averaged_cells(within, "m_all")
        if len(cells):
            data = averages.summarize_each_group(
                cells, ["system"], lambda rows: averages.estimate_column_mean(rows, "m_all")
            )
            data = data.astype({"system": str}).sort_values("mean", ascending=False, kind="stable")
            boards.append(data.assign(group=group, rank=averages.rank_means(data["mean"])))
            if averages.has_differing_scored_questions(
                within, averages.average_policy_questions(within).dropna(subset="m_all")
            ):
                unlike_groups.append(group)
    columns = ["group", "rank", "system", "n", "documents", "mean", *BOTH[:-1]]
    data = pd.concat(boards, ignore_index=True) if boards else pd.DataFrame(columns=[*columns])
    return make_table(
        "groups-quality",
        f"Leaderboard by {groups.by}",
        f"Systems by M_all (10 to 100) within each group of documents (column `{groups.by}`), averaged as in "
        f"the leaderboard: n is the number of questions, `documents` the number of documents with a score. Groups "
        "may differ in what was scored. "
        f"{_note_groups_with_unlike_scores(unlike_groups)}{averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        headings={"group": groups.by},
    )


def _note_groups_with_unlike_scores(groups: list[str]) -> str:
    """Name the groups within which systems were scored on different questions or documents; or nothing."""
    if not groups:
        return ""
    return (
        f"Within {', '.join(groups)}, systems were scored on different questions or documents, which may affect their "
        "ranks. "
    )


class GroupsChapter(ChapterMaker):
    """The groups of a column, where one is asked for."""

    def make(self, study: Study, scope: FigureScope) -> Chapter | None:  # noqa: ARG002 - without figures
        """Make the chapter."""
        groups = study.groups
        if groups is None:
            return None
        return Chapter(
            "groups",
            f"By {groups.by}",
            f"The documents fall into {format_count(len(set(groups.group_by_document.values())), 'group')}, "
            "each reported "
            "separately.",
            nonempty_tables(
                leaderboard_by_document_group_table(study.table, groups),
                statuses_and_silence_by_group_table(study, groups),
            ),
        )
