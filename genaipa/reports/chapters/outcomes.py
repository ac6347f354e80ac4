"""Outcomes: the status of each question asked, and whether its answer counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.movements import make_moved_answers_tables
from genaipa.reports.table import Table, make_table

if TYPE_CHECKING:
    from genaipa.answers.study import Study

_STATUSES = ("answered", "truncated", "refused", "failed", "missing")


@averages.cache_per_frame
def outcome_counts_by_system_table(study: Study) -> Table:
    """Count the questions planned, their statuses, and the answers that count."""
    by = ["system", "experiment"]
    frame, once = study.table, study.rows_once_per_answer("silence", "prompt-cut")
    cut, mute = once["prompt_cut"] == "yes", once["claims_silence"] == "none"
    lacks = [*_STATUSES, *(["mute"] if mute.any() else []), *(["prompt_cut"] if cut.any() else []), "excluded"]
    columns = [*by, "planned", *lacks, "scored", "unscored", "score_left_out", "published"]
    published = frame[frame["counted"] & (frame["unit"] == "table")]
    unscored = (
        (once["answer"] != "")
        & ~once["counted"]
        & ~once["left_out"]
        & ~_flag_answers_with_published_score(once, published)
    )
    left_out = _flag_answers_with_published_score(once, frame[(frame["excluded"] != "") & (frame["unit"] == "table")])
    numbers = {
        "planned": once["status"] != "",
        **{status: once["status"] == status for status in _STATUSES},
        "mute": mute,
        "prompt_cut": cut,
        "excluded": once["excluded"] != "",
        "scored": once["counted"],
        "unscored": unscored & ~left_out,
        "score_left_out": unscored & left_out,
    }
    counts = once[by].assign(**numbers).groupby(by, observed=True, sort=True).sum().astype("int64")
    tables = published.groupby(by, observed=True, sort=True).size().rename("published")
    data = counts.join(tables, how="outer").fillna(0).astype("int64").reset_index().sort_values(by, kind="stable")
    return make_table(
        "answers",
        "Outcomes of the questions",
        "Every question that was planned, once, with its last status: a failure, a refusal or a question not asked yet "
        "is counted here and has no score; only what an analyst scored is in any average. `excluded` are replies "
        "that are known not to answer their question; averages leave them out unless asked to include them. `scored` "
        "are the answers whose scores count, `unscored` the others that have a text. `published` "
        "are scores that a study gives by question, without saying which answer they belong to; answers to these "
        "questions count as neither scored nor unscored. Where such a score is excluded, its answers are under "
        "`score left out`."
        + (" `said nothing` are the answers that are empty or refuse, by status or in words." if mute.any() else "")
        + (" `prompt cut` are answers to only part of the prompt, by the server's own count." if cut.any() else ""),
        data,
        columns,
        headings={"mute": "said nothing"},
    )


def _flag_answers_with_published_score(answers: pd.DataFrame, published_scores: pd.DataFrame) -> pd.Series:
    """Tell which answers have a published score of their question, for its document or over all documents."""
    if published_scores.empty:
        return pd.Series(data=False, index=answers.index)
    by = ["system", "experiment", "question", "document"]
    scored = pd.MultiIndex.from_frame(published_scores[by].drop_duplicates().astype("str"))
    about, whole = answers[by].astype("str"), answers[by].astype("str").assign(document="")
    has_score = [pd.MultiIndex.from_frame(cell_rows).isin(scored) for cell_rows in (about, whole)]
    return pd.Series(has_score[0] | has_score[1], index=answers.index)


def question_texts_table(study: Study) -> Table:
    """Question ids with their texts."""
    about = study.table[["question", "category", "source"]].drop_duplicates("question").astype(str)
    about = about[about["question"].isin(study.questions.texts)]
    order = {question: position for position, question in enumerate(study.questions.texts)}
    about = about.sort_values("question", key=lambda ids: ids.map(order))
    data = pd.DataFrame(
        {
            "question": about["question"],
            "text": about["question"].map(study.questions.texts),
            "category": about["category"].map(lambda category: study.questions.categories.get(category, category)),
            "source": about["source"].map({"faq": "FAQ", "user": "user"}),
        }
    ).reset_index(drop=True)
    return Table(
        "questions",
        "The questions",
        "The questions in the wording of the question set; the company's or regulation's name takes the place of the "
        "brackets. Source: from companies' FAQs, or asked by a lay user (paper, section 4.1).",
        data,
        {"question": "id", "text": "question"},
    )


class OutcomesChapter(ChapterMaker):
    """The chapter on the outcomes of all questions asked, and on the answers that moved between systems."""

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        moved = make_moved_answers_tables(study, scope, study.rows_once_per_answer())
        return Chapter(
            "asked",
            "What was asked, and what came back",
            "Every planned question is counted once, whatever its outcome. Questions without an answer, and answers "
            "without a score, are not part of any average.",
            nonempty_tables(outcome_counts_by_system_table(study), *moved, question_texts_table(study)),
        )
