"""How systems do where the document is silent, and where it is not (paper, sections 6.1 and 7)."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.averages import BOTH, INTERVALS
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.crossed import (
    document_numbers_or_minus_one,
    estimate_crossed_mean,
    number_labels_and_list_distinct,
)
from genaipa.reports.figures import forest, style
from genaipa.reports.figures.figure import ALONE, Figure, FigureScope
from genaipa.reports.matches import explain_missing_pairs_if_too_many
from genaipa.reports.recognition import describe_rule_accuracy, document_language_codes_or_english
from genaipa.reports.table import Table, make_table
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.stats.paired_shares import FEW, subtract_paired_shares
from genaipa.stats.tests import adjust_p_by_holm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure as Canvas

    from genaipa.answers.study import Study
    from genaipa.stats.intervals import CrossedMean

_ERRORS = {"asserts though silent": ("yes", "no"), "claims silence though answered": ("no", "yes")}
"""Error → `silent` of the questions on which it is possible, and `claims_silence` of the answers that make it."""
_WHERE = {"yes": "silent", "partly": "partly silent", "no": "answers"}
_ABROAD = "Answers about documents in other languages ({:,}) are left out: there are no rules for these languages. "
MUTE = "none"
"""`claims_silence` of an answer that says nothing, neither one nor the other."""
_CELL = ["system", "experiment", "question", "document"]
_COMPARED = 30
"""Most systems whose pairs are compared."""
_FOOT = 0.85
"""Inches of an axis with a label of two lines."""
_BEHIND = 1.5
"""Right end of an axis from 0 to 1, with room for the rate and n."""
_SURE = [*BOTH[:-1], "questions", "documents"]


def silence_error_rates_table(study: Study) -> Table:
    """Count how often a system asserts something where the document is silent, and claims silence where it answers."""
    by = ["system", "experiment"]
    columns = [*by, "error", "answers", "wrong", "rate", *_SURE, "mute", "partly"]
    once, foreign = _select_checked_and_count_unchecked(study)
    data = pd.concat(
        [
            averages.summarize_each_group(once, by, partial(_estimate_silence_error_rate, error=error))
            for error in _ERRORS
        ]
    )
    data = data.reindex(columns=columns).sort_values(by, kind="stable")
    return make_table(
        "silent-questions",
        "False assertions and false silence",
        "According to the annotated answers, documents are silent on some questions and answer others. The "
        "table shows how many "
        "answers to the former assert something instead of saying so, and how many answers to the latter claim silence "
        "(found by rules in the reply; an excluded answer is left out). An answer that says instead that it does not "
        "know the document is counted, but not as wrong; an answer that says nothing (empty, refused, or a refusal in "
        "words) is left out, and counted under `said nothing`. Clear cases only: the last column counts the answers to "
        "questions that a document answers only in part, which are left out (paper, sections 6.1 and 7). Each question "
        "weighs the same, however many documents and answers it has. "
        f"{describe_rule_accuracy('silence', document_language_codes_or_english(once, study.document_languages))}"
        f"{_ABROAD.format(foreign) if foreign else ''}{INTERVALS}{averages.note_corrected_annotations(study.table)}",
        data[data["answers"] + data["mute"] > 0],
        columns if data["mute"].any() else [name for name in columns if name != "mute"],
        headings={"mute": "said nothing", "partly": "left out (partly silent)", "documents": "documents"},
        formats={"rate": ".0%", **dict.fromkeys(BOTH[:-1], ".0%")},
    )


def _select_checked_and_count_unchecked(study: Study) -> tuple[pd.DataFrame, int]:
    """Return the answers about policies that the rules cover, and how many are in a language without rules."""
    once = averages.select_policy_rows(study.rows_once_per_answer("silence"))
    answered, recognized = (
        once["status"].isin(["answered", "truncated", "refused"]),
        once["claims_silence"].isin(["yes", "no", "abstains", MUTE]),
    )
    return once[recognized & once["silent"].isin(_WHERE) & ~once["left_out"]], int((answered & ~recognized).sum())


def silence_error_differences_table(study: Study) -> Table:
    """Return the differences between systems in both rates, over the questions about documents that both answered."""
    judged, _ = _select_checked_and_count_unchecked(study)
    once = judged[judged["claims_silence"] != MUTE]
    rows = []
    for error, (where, claim) in _ERRORS.items():
        clear = once[once["silent"] == where].astype(dict.fromkeys(_CELL, "str"))
        clear = clear.assign(wrong=(clear["claims_silence"] == claim).astype(float))
        rates = clear.pivot_table(index=_CELL[1:], columns="system", values="wrong")
        for first, second in combinations(rates.columns, 2) if len(rates.columns) <= _COMPARED else ():
            paired = rates[[first, second]].dropna()
            questions, documents = (paired.index.get_level_values(name) for name in ("question", "document"))
            difference = subtract_paired_shares(
                paired[first],
                paired[second],
                number_labels_and_list_distinct(questions)[0],
                document_numbers_or_minus_one(documents),
            )
            ends = {
                name: getattr(difference, name) for name in (*BOTH[:-1], "questions", "documents", "p", "policies_p")
            }
            rows.append({"first": first, "second": second, "error": error, "difference": difference.mean, **ends})
    columns = ["first", "second", "error", "questions", "documents", "difference", *BOTH[:-1], "p_holm"]
    columns += ["policies_p_holm"]
    data = pd.DataFrame(rows, columns=[*columns[:-2], "p", "policies_p"])
    for p in ("p", "policies_p"):
        data[f"{p}_holm"] = adjust_p_by_holm(data[p].tolist())
    return make_table(
        "silent-differences",
        "False assertions and false silence: differences between systems",
        "Rates over the questions about documents on which both said something, the first system's minus the second's. "
        f"Where fewer than {FEW} questions tell the two apart, the interval is Newcombe's (1998), which respects the "
        "ends of the scale. p is adjusted by Holm's method for all of these rows; each interval is for its row alone.",
        data[data["questions"] > 0],
        columns,
        headings={"p_holm": "p (Holm)", "policies_p_holm": "policies p (Holm)", "documents": "documents"},
        formats={
            **dict.fromkeys(("difference", *BOTH[:-1]), "+.0%"),
            **dict.fromkeys(("p_holm", "policies_p_holm"), ".2g"),
        },
    )


def _estimate_silence_error_rate(rows: pd.DataFrame, error: str) -> dict[str, object]:
    where, claim = _ERRORS[error]
    of_kind = rows[rows["silent"] == where]
    clear = of_kind[of_kind["claims_silence"] != MUTE]
    wrong = clear["claims_silence"] == claim
    estimate = estimate_crossed_mean(wrong, clear["question"], clear["document"], limits=(0, 1))
    return {
        "error": error,
        "answers": len(clear),
        "wrong": int(wrong.sum()),
        "rate": estimate.mean,
        **_interval_and_count_columns(estimate),
        "mute": len(of_kind) - len(clear),
        "partly": int((rows["silent"] == "partly").sum()),
    }


def _interval_and_count_columns(estimate: CrossedMean) -> dict[str, object]:
    return {column: getattr(estimate, column) for column in _SURE}


def quality_by_silence_table(frame: pd.DataFrame) -> Table:
    """Tabulate how well a system does where the document is silent, where it answers in part, and where it answers."""
    by = ["system", "experiment", "silent"]
    columns = [*by, "m_all", *_SURE]
    cells = averages.select_scored_rows_naming_a_document(averages.average_policy_questions_by_document(frame))
    data = averages.summarize_each_group(
        cells[cells["silent"].isin(_WHERE)], by, _estimate_m_all_with_intervals
    ).reindex(columns=columns)
    data["silent"] = pd.Categorical(data["silent"].astype("str"), list(_WHERE)).rename_categories(_WHERE)
    return make_table(
        "silent-quality",
        "Quality where the document is silent, and where it is not",
        "M_all (10 to 100) of the answers to questions on which the document is silent, which it answers in "
        "part, and which it answers (paper, sections 6.1 and 7). Each question weighs the same, however many documents "
        f"and answers it has. {INTERVALS}{averages.note_corrected_annotations(frame)}",
        data.sort_values(by, kind="stable"),
        columns,
        headings={"silent": "the document", "documents": "documents"},
        formats=dict.fromkeys(BOTH[:-1], ".1f"),
    )


def _estimate_m_all_with_intervals(rows: pd.DataFrame) -> dict[str, object]:
    estimate = estimate_crossed_mean(rows["m_all"], rows["question"], rows["document"], limits=M_ALL_RANGE)
    return {"m_all": estimate.mean, **_interval_and_count_columns(estimate)}


NAME = "silence"
_PANELS = {
    "asserts though silent": "Asserts something\nwhere the document is silent",
    "claims silence though answered": "Claims silence\nwhere the document answers",
}
"""Error → the label of its panel's axis."""


def silence_error_rates_figure(rates: Table, scope: FigureScope = ALONE) -> Figure | None:
    """Return the figure with a panel for each error and a row for each system's rate; None without a rate."""
    data = scope.select_rows_of_shown_systems(rates.data[rates.data["answers"] > 0])
    if data.empty:
        return None
    systems = style.unique_labels(style.distinct_values(data["system"]), 30)
    caption = (
        "How often a system asserts something although the document is silent, and claims silence although the "
        "document answers; lower is better. n is the number of answers."
    )
    note = f"{caption} {forest.READING}{scope.explain_benchmarks(systems)}{style.note_full_names(systems)} {rates.note}"
    numbers = Table(NAME, rates.title, note, data.reset_index(drop=True), rates.headings, rates.formats)
    fits = forest.count_systems_per_page(int(data.groupby("system")["experiment"].nunique().max()))
    return Figure(
        NAME,
        rates.title,
        note,
        numbers,
        lambda: _draw_silence_error_rates(data, systems, scope),
        fits=fits,
        caption=caption,
    )


def _draw_silence_error_rates(data: pd.DataFrame, label_by_system: Mapping[Any, str], scope: FigureScope) -> Canvas:
    pairs = data[["system", "experiment"]].drop_duplicates().itertuples(index=False, name=None)
    rows = forest.ForestRows.lay_out_rows(
        label_by_system,
        [(system, of, style.shorten_experiment_name(of)) for system, of in pairs],
        with_system_headings=False,
    )
    marks = scope.system_colours_and_markers(list(label_by_system))
    drawing, panels = rows.make_canvas_with_panels((1, 1), foot_inches=_FOOT)
    for axes, (error, label) in zip(panels, _PANELS.items(), strict=True):
        axes.set_xlim(-0.02, _BEHIND)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100 %"])
        axes.set_xlabel(label)
        axes.grid(axis="x", color="#e4e4e4", linewidth=0.5)
        of_error = data[data["error"] == error]
        rates = dict(zip(zip(of_error["system"], of_error["experiment"], strict=True), of_error["rate"], strict=True))
        rows.draw_benchmark_lines(axes, rates, scope.benchmarks)
        for row in data[data["error"] == error].to_dict("records"):
            height = rows.places[row["system"], row["experiment"]]
            forest.draw_mean_with_intervals(axes, row | {"mean": row["rate"]}, height, marks[row["system"]])
            axes.text(1.06, height, f"{row['rate']:.0%}", va="center", weight="bold", fontsize=style.SMALL)
            axes.text(1.26, height, f"n={row['answers']}", va="center", fontsize=style.TINY)
    return drawing


class SilentChapter(ChapterMaker):
    """The questions on which a document is silent, apart."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        has_silent = (frame["silent"] == "yes").any()
        rates = silence_error_rates_table(study)
        tables = nonempty_tables(rates, silence_error_differences_table(study), quality_by_silence_table(frame))
        return Chapter(
            "silent",
            "Where the document is silent",
            "Where a document does not answer a question, the right answer is to say so. This chapter shows how "
            "often a system asserts something all the same, and how often it claims silence where the "
            "document is not silent.",
            tables,
            scope.make_paged_figures([partial(silence_error_rates_figure, rates)]) if has_silent else [],
            [*filter(None, [explain_missing_pairs_if_too_many(rates.data["system"].nunique())])]
            if tables and has_silent
            else ["No question that was asked is annotated as one on which its document is silent."],
        )
