"""Changes over time, between occasions: the days on which a system was asked the same (`runs.selection`).

Several runs of a day, and repetitions, are that day's noise. Changes are against the first occasion: cell by cell (one
question about one document, in one wording), then question by question, as in every comparison. Shares, which may be
rare, have an exact test (`reports.permutation`). All tests of a report are one family. What is found holds for these
questions, documents and days.
"""

from __future__ import annotations

import math
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from genaipa.answers.tidy import plain_texts
from genaipa.judging.name import Judge, model_family
from genaipa.reports.analysts import note_confounded_analysts
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.crossed import document_numbers_or_minus_one, number_labels_and_list_distinct
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.gate import SignificantLoss, significant_loss_in_points
from genaipa.reports.recognition import Rule, describe_rule_accuracy, document_language_codes_or_english
from genaipa.reports.significance import OTHER_PEOPLE
from genaipa.reports.table import Table, make_table
from genaipa.runs.selection import most_repeated_plan_occasions_by_system
from genaipa.scoring.rubric import M_ALL_WIDTH
from genaipa.stats.changes import estimate_reply_change
from genaipa.stats.looks import SIGNIFICANT
from genaipa.stats.tests import adjust_p_by_holm

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa.runs.selection import Occasion


Measure = Literal[
    "M_all", "M_all (judge)", "same words", "cites", "abstains", "refuses", "tokens", "cost", "judge again"
]
MEASURES: dict[Measure, str] = {
    "M_all": "overall quality as people scored it, 10 to 100",
    "M_all (judge)": "overall quality as a judge scored it, 10 to 100",
    "same words": "replies identical, word for word, to a reply of the first occasion, in %",
    "cites": "citations that refer to something in the document, in % of a reply's citations (by rules)",
    "abstains": "replies that say that the document is silent, or that the system does not know it, in % of replies "
    "that say something (by rules)",
    "refuses": "replies that refuse (by status or in words) or are empty, in %",
    "tokens": "tokens per reply",
    "cost": "US cents per reply",
    "judge again": "M_all of the first occasion's answers, as a judge scored them then and scores them now: "
    "the judge's own change",
}
"""Measure → its meaning and unit, in the order of a table."""
_BY_RULES: dict[Measure, Rule] = {"cites": "citations", "abstains": "silence"}
_CELL = ["question", "document", "wording", "initialization", "experiment", "prompts"]
_FEWEST = 6
"""Questions below which no change is tested."""
_SHARES: tuple[Measure, ...] = ("same words", "cites", "abstains", "refuses")
"""Measures that are shares of replies, in %."""
_SCORED: tuple[Measure, ...] = ("M_all", "M_all (judge)", "judge again")
"""Measures that are M_all."""


@plain_texts
def tabulate_changes_since_first_occasion(
    frame: pd.DataFrame,
    occasions_by_system: dict[str, list[Occasion]],
    judge_scores_then_and_now: pd.DataFrame | None = None,
    document_languages: Mapping[str, str] | None = None,
) -> Table:
    """Tabulate every change against the first occasion: a row for each system, measure and later occasion.

    `judge_scores_then_and_now` are of the answers that a judge judged again (`find_answers_judged_again`),
    `document_languages` the documents' (name → code).
    """
    rows: list[dict[str, Any]] = []
    for system, days in occasions_by_system.items():
        answers = _select_answers_with_measures(frame, system, days, judge_scores_then_and_now)
        for measure in MEASURES:
            if measure in answers and answers[measure].notna().any():
                other_scorers = _find_days_of_other_scorers(frame, system, days) if measure == "M_all" else []
                rows += _make_change_rows(system, measure, answers, [occasion.day for occasion in days], other_scorers)
    columns = ["system", "measure", "occasion", "served", "n", "first", "now", "difference", "low", "high"]
    data = _add_adjusted_p_and_meanings(pd.DataFrame(rows).reindex(columns=[*columns, "p", "p_holm", "meaning"]))
    tests = int(data["p"].notna().sum())
    return make_table(
        "occasions",
        "Changes over time",
        "The change since the first occasion (`difference`), with its 95 % interval over questions (for shares: "
        "over replies), for these questions and documents. Shares have an exact test: if nothing had changed, chance "
        "would decide which reply came on which day. The other measures have a t test over questions. `p_holm` is "
        f"adjusted by Holm's method for all {tests:,} tests in this table, of every system, measure and occasion: "
        "if nothing has changed, at most one study in 20 shows a change. `same words` is compared with how often "
        "two replies of the first occasion agree, so it needs repetitions. "
        + " ".join(f"{name}: {meaning}." for name, meaning in MEASURES.items() if name in set(data["measure"]))
        + "".join(
            f" {describe_rule_accuracy(rule, document_language_codes_or_english(frame, document_languages)).rstrip()}"
            for name, rule in _BY_RULES.items()
            if name in set(data["measure"])
        ),
        data,
        [*columns, "p", "p_holm", "meaning"],
        formats={
            **dict.fromkeys(("first", "now"), ".1f"),
            **dict.fromkeys(("difference", "low", "high"), "+.1f"),
            **dict.fromkeys(("p", "p_holm"), ".2g"),
        },
        headings={"low": "from", "high": "to", "served": "model as served"},
    )


def _add_adjusted_p_and_meanings(data: pd.DataFrame) -> pd.DataFrame:
    """Add each row's p, adjusted for all of them, and its meaning; one that has a meaning has no test."""
    adjusted = adjust_p_by_holm(list(data["p"].astype("float64")))
    meanings = [
        meaning if isinstance(meaning, str) else _classify_difference_by_significance(difference, p)
        for meaning, difference, p in zip(data["meaning"], data["difference"], adjusted, strict=True)
    ]
    return data.assign(p_holm=adjusted, meaning=meanings)


def find_answers_judged_again(study: Study) -> pd.DataFrame:
    """Find the answers that a judge judged again: columns `answer`, `day`, and M_all (10 to 100) `then` and `now`.

    A judge is the same by its family and prompt: a model that was replaced without a word is a change to be seen.
    """
    values: dict[str, dict[tuple[str, str, str], list[float]]] = {}
    for event in study.log.counted:
        judge = Judge.parse(event.analyst) if event.scorer == "machine" else None
        if judge and event.values is not None and event.rubric == study.rubric.digest:
            who = event.answer, model_family(judge.model), judge.prompt
            points = study.rubric.m_all(event.values)
            values.setdefault(judge.anchor_day_or_empty, {}).setdefault(who, []).append(points)
    first_points = values.pop("", {})
    rows = [
        (who[0], day, np.mean(first_points[who]), np.mean(later_points))
        for day, points_by_answer in values.items()
        for who, later_points in points_by_answer.items()
        if who in first_points
    ]
    return pd.DataFrame(rows, columns=["answer", "day", "then", "now"])


def _select_answers_with_measures(
    frame: pd.DataFrame,
    system: str,
    occasions: Sequence[Occasion],
    judge_scores_then_and_now: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Select the system's answers on these occasions, a row each, with a column for every measure that is known."""
    day = {run: occasion.day for occasion in occasions for run in occasion.runs}
    rows = frame[(frame["system"] == system) & frame["run"].isin(list(day)) & (frame["unit"] == "answer")]
    if rows.empty:
        return pd.DataFrame(columns=[*_CELL, "occasion"])
    key = ["run", "key"]
    answers = rows.drop_duplicates(key).set_index(key)
    by_people = rows[rows["counted"]].groupby(key, observed=True)["m_all"].mean()
    by_judge = rows[rows["scorer"] == "machine"].groupby(key, observed=True)["m_all"].mean()
    came = answers["status"].isin(["answered", "truncated", "refused"])
    stance = answers["claims_silence"]
    measures: dict[str, pd.Series[Any]] = {
        "M_all": by_people.reindex(answers.index),
        "M_all (judge)": by_judge.reindex(answers.index),
        "cites": answers["cites_there"] * 100,
        "abstains": (stance.isin(["yes", "abstains"]) * 100.0).where(came & ~stance.isin(["", "none"])),
        "refuses": (((answers["status"] == "refused") | (stance == "none")) * 100.0).where(came),
        "tokens": answers["tokens_out"].astype("float64").where(came),
        "cost": (answers["cost"].astype("float64") * 100).where(came),
    }
    table = (
        answers[_CELL]
        .astype(object)
        .assign(served=answers["model"].astype(str), reply=answers["answer"].astype(object).where(came), **measures)
    )
    table["occasion"] = [day[str(run)] for run, _ in table.index]
    table["same words"] = _percent_of_first_replies_equal_to_row(table, occasions[0].day)
    if judge_scores_then_and_now is None or judge_scores_then_and_now.empty:
        return table.reset_index(drop=True)
    first_answers = table.assign(answer=answers["answer"].astype(str))[table["occasion"] == occasions[0].day]
    judged = first_answers[[*_CELL, "answer"]].merge(judge_scores_then_and_now, on="answer")
    before = judged.assign(occasion=occasions[0].day).rename(columns={"then": "judge again"})
    after = judged.rename(columns={"day": "occasion", "now": "judge again"})
    judge_changes = pd.concat([before, after])[[*_CELL, "occasion", "judge again"]]
    return pd.concat([table, judge_changes.assign(served="")], ignore_index=True)


def _percent_of_first_replies_equal_to_row(answers: pd.DataFrame, first_occasion: str) -> pd.Series[Any]:
    """Return how many of the first occasion's other replies to the question each reply equals, word for word, in %."""
    cells = pd.Series(list(answers[_CELL].itertuples(index=False, name=None)), answers.index)
    began = (answers["occasion"] == first_occasion) & answers["reply"].notna()
    replies = cells[began].to_frame("cell").assign(reply=answers.loc[began, "reply"])
    reply_counts = replies.groupby("cell")["reply"].size().to_dict()
    often = replies.groupby(["cell", "reply"]).size().to_dict()
    values = []
    for cell, reply, is_itself in zip(cells, answers["reply"], began, strict=True):
        other_replies = reply_counts.get(cell, 0) - is_itself
        equal_replies = often.get((cell, reply), 0) - is_itself
        values.append(100.0 * equal_replies / other_replies if other_replies and isinstance(reply, str) else np.nan)
    return pd.Series(values, answers.index)


def _find_days_of_other_scorers(frame: pd.DataFrame, system: str, occasions: Sequence[Occasion]) -> list[str]:
    """Find the later days whose answers other people scored than the first day's."""
    answers = frame[frame["system"] == system]
    first, *later = (answers[answers["run"].isin(occasion.runs)] for occasion in occasions)
    return [
        occasion.day
        for occasion, rows in zip(occasions[1:], later, strict=True)
        if note_confounded_analysts(first, rows)
    ]


def _make_change_rows(
    system: str, measure: Measure, answers: pd.DataFrame, days: Sequence[str], untested_days: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Make a row for each later day; those `untested_days` have no test."""
    measured = answers[answers[measure].notna()]
    rows: list[dict[str, Any]] = []
    for day in days[1:]:
        compared = measured[measured["occasion"].isin([days[0], day])]
        if compared["occasion"].nunique() < len({days[0], day}):
            continue
        change = _measure_change(compared, compared["occasion"] == day, measure)
        rows.append(
            {
                "system": system,
                "measure": measure,
                "occasion": day,
                "served": ", ".join(sorted(set(measured.loc[measured["occasion"] == day, "served"]) - {""})),
                **change,
                "p": change["p"] if change["n"] >= _FEWEST and day not in untested_days else math.nan,
                "meaning": OTHER_PEOPLE if day in untested_days else None,
            }
        )
    return rows


def _measure_change(replies: pd.DataFrame, is_later: pd.Series[bool], measure: Measure) -> dict[str, Any]:
    """Measure the change from the first day to a later one, of the cells that were asked on both."""
    share, unit = measure in _SHARES, 100.0 if measure in _SHARES else 1.0
    change = estimate_reply_change(
        replies[measure] / unit,
        replies.groupby(_CELL).ngroup(),
        is_later,
        number_labels_and_list_distinct(replies["question"])[0],
        document_numbers_or_minus_one(replies["document"]),
        is_share=share,
        text_labels=number_labels_and_list_distinct(replies["reply"])[0] if measure == "same words" else None,
        largest_change=M_ALL_WIDTH if measure in _SCORED else math.inf,
    )
    names = ("first", "now", "difference", "low", "high")
    ends = {name: unit * end for name, end in zip(names, change[1:6], strict=True)}
    return {"n": change.questions, **ends, "p": change.p}


def _classify_difference_by_significance(difference: float, p: float) -> str:
    if math.isnan(p):
        return "too few questions to test"
    if p >= SIGNIFICANT:
        return "may be chance" if difference else "no difference"
    return "higher" if difference > 0 else "lower"


def find_loss_on_latest_scored_occasion(changes: Table) -> SignificantLoss:
    """Find what the latest occasion of one system that is scored lost; by a judge only where people scored none.

    It is what is watched, decided before: its p is adjusted for the number of occasions, and not for other measures.
    """
    for measure in ("M_all", "M_all (judge)"):
        rows = changes.data[(changes.data["measure"] == measure) & changes.data["p"].notna()]
        if not rows.empty:
            last, p = rows.iloc[-1], adjust_p_by_holm(list(rows["p"]))[-1]
            return SignificantLoss(significant_loss_in_points(float(last["difference"]), p), measure, last["occasion"])
    return SignificantLoss()


_ACROSS = 2
_TICKS = 4
"""Days that an axis names at most."""
_SERVED = {"color": style.FAINT, "linewidth": 0.8, "linestyle": ":"}


class OverTimeChapter(ChapterMaker):
    """Changes between the days on which a system was asked the same."""

    after = "consistency"

    def make(self, study: Study, scope: FigureScope) -> Chapter | None:
        """Make the chapter; None where no system was asked the same on two days."""
        systems = most_repeated_plan_occasions_by_system(study.sources)
        if not systems:
            return None
        table = tabulate_changes_since_first_occasion(
            study.make_tidy_table(), systems, find_answers_judged_again(study), study.document_languages
        )
        days = ", ".join(
            f"{system} on {len(occasions_of_system)} days" for system, occasions_of_system in systems.items()
        )
        return Chapter(
            "over-time",
            "Over time",
            f"The same questions were asked on several days: {days}. The tests of all systems, measures and days "
            "are one family. Averages in the other chapters treat these days as repetitions.",
            nonempty_tables(table),
            scope.make_paged_figures([partial(draw_changes_over_time, table)]),
        )

    def notable(self, study: Study) -> Iterable[str]:
        """Yield a sentence where days are averaged as if they were repetitions."""
        if systems := most_repeated_plan_occasions_by_system(study.sources):
            days = "; ".join(
                f"{name} on {', '.join(occasion.day for occasion in occasions_of_system)}"
                for name, occasions_of_system in systems.items()
            )
            yield f"The same questions were asked on several days, which averages treat as repetitions: {days}."


def draw_changes_over_time(changes: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Draw each measure's difference from the first occasion, day by day, with intervals; None without any."""
    changes_shown = scope.select_rows_of_shown_systems(changes.data).reset_index(drop=True)
    moved = set(changes_shown.loc[changes_shown["difference"].abs() > 0, "measure"])
    data = changes_shown[changes_shown["measure"].isin(moved)]
    if data.empty:
        return None
    still = [measure for measure in MEASURES if measure in set(changes_shown["measure"]) - moved]
    return Figure(
        "over-time",
        "Changes over time",
        "Difference from the first occasion, with its 95 % interval, for these questions and documents. A "
        "filled mark is significant among all tests in the table, by Holm's method. A dotted line marks a "
        "change of the served model." + (f" Unchanged on every day: {', '.join(still)}." if still else ""),
        changes,
        lambda: _draw_change_panels(data, scope),
    )


def _draw_change_panels(data: pd.DataFrame, scope: FigureScope) -> Canvas:
    measures = [measure for measure in MEASURES if measure in set(data["measure"])]
    down, across = style.panel_rows_and_columns(len(measures), _ACROSS)
    canvas = style.make_canvas(style.WIDTH, 0.5 + 1.55 * down)
    panels = canvas.subplots(down, across, squeeze=False, sharex=True)
    marks, days = scope.system_colours_and_markers(list(data["system"])), sorted(set(data["occasion"]))
    for axes, measure in zip(panels.flat, measures, strict=False):
        axes.axhline(0, color=style.INK, linewidth=0.8, zorder=1)
        axes.set_title(measure, fontsize=style.SMALL)
        for system, rows in data[data["measure"] == measure].groupby("system", observed=True, sort=False):
            _draw_changes_of_system(axes, rows, marks[system])
        ticks = days[:: -(-len(days) // _TICKS)]
        axes.set_xticks(_convert_days_to_ordinals(ticks), ticks)
    style.remove_unused_and_list_lowest_axes(panels, len(measures))
    names = style.last_part_labels(dict.fromkeys(data["system"]))
    style.draw_legend(
        canvas, [style.make_marker_legend_entry(label, **marks[system]) for system, label in names.items()]
    )
    return canvas


def _convert_days_to_ordinals(days: Iterable[str]) -> list[int]:
    """Return days as numbers, so that months without an occasion are as long as others."""
    return [date.fromisoformat(day).toordinal() for day in days]


def _draw_changes_of_system(axes: Any, rows: pd.DataFrame, marker_style: dict[str, Any]) -> None:
    """Draw one system's differences, day by day."""
    days = _convert_days_to_ordinals(rows["occasion"])
    values = rows["difference"].to_numpy(dtype=float)
    ends = rows[["low", "high"]].to_numpy(dtype=float)
    reach = np.abs(np.where(np.isnan(ends), values[:, None], ends) - values[:, None]).T
    colour = marker_style["color"]
    axes.errorbar(days, values, yerr=reach, color=colour, linewidth=0.9, elinewidth=0.7, capsize=1.5)
    sure = rows["meaning"].isin(["higher", "lower"]).to_numpy()
    marker = {"marker": marker_style.get("marker", "o"), "linestyle": "none", "color": colour, "markersize": 4}
    for filled, face in ((sure, colour), (~sure, "white")):
        axes.plot(np.array(days)[filled], values[filled], **marker, markerfacecolor=face)
    served = rows["served"].tolist()
    for index in range(1, len(served)):
        if served[index] != served[index - 1]:
            axes.axvline(days[index], **_SERVED)
