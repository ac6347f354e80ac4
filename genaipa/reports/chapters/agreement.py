"""Agreement between analysts (paper, section 5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_figures, nonempty_tables
from genaipa.reports.chapters.judges import set_up_alpha_axes
from genaipa.reports.conduct import describe_scores_not_blind
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure, FigureScope
from genaipa.reports.judged.quality import group_answers_by_silence_and_language
from genaipa.reports.ratings import tabulate_people_rating_agreement, tabulate_ratings_of_packages
from genaipa.reports.table import Table, make_table
from genaipa.scoring.agreement import (
    alpha_ac2_and_reason_columns,
    measure_agreement_by_group,
    measure_analyst_agreement,
)
from genaipa.scoring.current import independent_human_scores
from genaipa.scoring.rubric import guidelines_digest
from genaipa.stats.agreement import LEAST_UNITS, LEVEL

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric

_METHOD = """The agreement of analysts is measured by Krippendorff&rsquo;s alpha for ordinal
values <a href="#krippendorff-2011">[Krippendorff, 2011]</a>, with intervals from resampling the answers, and by
Gwet&rsquo;s AC2 <a href="#gwet-2008">[Gwet, 2008]</a>."""
_GUIDED = " Analysts now see guidelines.md with the SHA-256 <code>{}</code>."
_REFERENCES = {
    "krippendorff-2011": "K. Krippendorff: Computing Krippendorff&rsquo;s Alpha-Reliability. "
    "University of Pennsylvania, 2011.",
    "gwet-2008": "K. L. Gwet: Computing inter-rater reliability and its variance in the presence of high agreement. "
    "British Journal of Mathematical and Statistical Psychology 61, 2008.",
}
_HEADINGS = {"low": "from", "high": "to", "ac2": "AC2", "commonest": "commonest value"}
_ABSENT = "Agreement is not shown: no two analysts scored the same answer independently."
_LINES = {0.0: "chance", 0.667: "0.667", 0.8: "0.8"}
"""Alpha → label of its line."""


def analyst_alpha_table(events: Iterable[Event], rubric: Rubric) -> Table:
    """Tabulate Krippendorff's alpha of people's independent scores by metric; empty where no answer has two."""
    agreement = measure_analyst_agreement(independent_human_scores(events), rubric)
    analysts = {leaning.analyst for leaning in agreement.leanings}
    rows = []
    for metric, agreed in agreement.metrics.items() if agreement.answers else ():
        about = {"metric": rubric.display_names[metric], "answers": agreement.answers, "analysts": len(analysts)}
        rows.append({**about, **alpha_ac2_and_reason_columns(agreed), "apart": agreed.difference})
    measures = ["alpha", "low", "high", "ac2", "commonest", "agreement", "apart"]
    columns = ["metric", *measures, "answers", "analysts", "reason"]
    return make_table(
        "agreement",
        "How far analysts agree",
        "Krippendorff's alpha for ordinal values (1 is perfect agreement, 0 agreement by chance) over the answers "
        f"that two or more people scored without seeing each other's scores, with its interval ({LEVEL:.0%} "
        f"confidence, for other answers of this kind; blank below {LEAST_UNITS} answers); Gwet's AC2 with ordinal "
        "weights, which stays high where nearly all values are equal and alpha falls to 0, and the share of the "
        "commonest value; the share of pairs of scores with the same value, and how far apart the two values of a "
        "pair are on average (0 to 2).",
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(measures, "float64")),
        columns,
        headings={"agreement": "same value", **_HEADINGS},
        formats=dict.fromkeys(("low", "high", "apart"), ".2f"),
    )


def alpha_by_silence_and_language_table(study: Study) -> Table:
    """Return alpha by group: where the document is silent and where it is not, and by its language."""
    scores, rubric = study.independent_scores, study.rubric
    rows = []
    for by, groups in group_answers_by_silence_and_language(study).items():
        for group, (answers, metrics) in measure_agreement_by_group(scores, rubric, groups).items():
            for metric, agreed in metrics.items():
                about = {"by": by, "group": group, "metric": rubric.display_names[metric], "answers": answers}
                rows.append({**about, **alpha_ac2_and_reason_columns(agreed)})
    measures = ["alpha", "low", "high", "ac2", "commonest"]
    columns = ["by", "group", "metric", *measures, "answers", "reason"]
    return make_table(
        "agreement-apart",
        "Agreement by group",
        "The measures of the table for all answers, for questions on which the document is silent, partly silent or "
        "not silent, and by the document's language where there are several. Where nearly all values are equal, as is "
        "common where a document is silent, read AC2 rather than alpha.",
        pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(measures, "float64")),
        columns,
        headings=_HEADINGS,
        formats=dict.fromkeys(("low", "high"), ".2f"),
    )


def analyst_alpha_figure(alphas: Table) -> Figure | None:
    """Draw metrics down, Krippendorff's alpha with its interval and n across; None without a value."""
    data = alphas.data
    if data.empty or data["alpha"].isna().all():
        return None
    title = "How far analysts agree"
    note = (
        "Krippendorff's alpha with its interval; n is the number of answers that two or more analysts scored. Lines: 0 "
        "is agreement by chance; data is customarily called reliable from 0.8, and fit for tentative conclusions from "
        f"0.667. {alphas.note}"
    )
    figure_table = Table("agreement", title, note, data.reset_index(drop=True), alphas.headings, alphas.formats)
    return Figure("agreement", title, note, figure_table, lambda: _draw_analyst_alphas(data))


def _draw_analyst_alphas(data: pd.DataFrame) -> Canvas:
    drawing = style.make_canvas(style.COLUMN, 0.24 * len(data) + 0.85)
    axes = drawing.subplots()
    for alpha, name in _LINES.items():
        axes.axvline(alpha, color=style.FAINT, linewidth=0.7, linestyle="-" if alpha == 0 else (0, (4, 2)), zorder=0)
        # The two customary bounds are close together.
        side: dict[str, Any] = {"ha": "center"} if alpha == 0 else {"ha": "right" if name == "0.667" else "left"}
        axes.annotate(
            name, (alpha, 1), (0, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
            fontsize=style.TINY, va="bottom", **side,
        )  # fmt: skip
    for index, (_, row) in enumerate(data.iterrows()):
        if pd.isna(row["alpha"]):
            axes.text(0.02, index, "no value", va="center", **style.ABSENT)
        else:
            if not pd.isna(row["low"]):
                axes.plot([row["low"], row["high"]], [index, index], color=style.INK, linewidth=1.2)
            axes.plot([row["alpha"]], [index], marker="o", color=style.COLOURS[0], markersize=5)
        axes.text(1.06, index, f"n={row['answers']:.0f}", va="center", fontsize=style.TINY, clip_on=False)
    style.write_row_labels(axes, {name: style.shorten_drawn_name(name) for name in data["metric"]}, {})
    set_up_alpha_axes(axes, data, len(data), 1.3)
    return drawing


class AnalystAgreementChapter(ChapterMaker):
    """Krippendorff's alpha of the analysts."""

    def make(self, study: Study, scope: FigureScope) -> Chapter:  # noqa: ARG002 - without figures
        """Make the chapter."""
        agreement = analyst_alpha_table(study.log.counted, study.rubric)
        rated = tabulate_ratings_of_packages(lambda ratings: tabulate_people_rating_agreement(ratings, study))
        guidelines = guidelines_digest(study.workspace) if study.workspace else ""
        return Chapter(
            "agreement",
            "Agreement of the analysts",
            f"Krippendorff's alpha: 1 is perfect agreement, 0 agreement by chance. "
            f"{describe_scores_not_blind(study.independent_scores)}".strip(),
            nonempty_tables(agreement, alpha_by_silence_and_language_table(study), *rated.tables),
            nonempty_figures(analyst_alpha_figure(agreement)),
            [*rated.problems, *([] if agreement else [_ABSENT])],
            method=_METHOD + (_GUIDED.format(guidelines) if guidelines else ""),
            references=_REFERENCES,
        )
