"""Prompting: which prompts each system was asked with, and what other prompts change (`--experiment prompting`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.languages.catalog import language_of_prompt_set_or_english
from genaipa.reports import averages
from genaipa.reports.averages import BOTH
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.table import Table, make_table
from genaipa.scoring.rubric import BandBounds, classify_band
from genaipa.tasks.prompts import NOT_KNOWN, PUBLISHED, SETS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import Figure, FigureScope

_ABOUT = ["system", "experiment", "document", "question", "category", "source"]


def sort_prompt_sets_shipped_first(prompt_set_labels: Iterable[str]) -> list[str]:
    """Sort sets of prompts: the shipped ones first, a study's last."""
    ranks = {name: number for number, name in enumerate(SETS)} | dict.fromkeys(NOT_KNOWN, len(SETS) + 1)
    rank_by_label = {label: ranks.get(label.partition(" (")[0], len(SETS)) for label in prompt_set_labels if label}
    return sorted(rank_by_label, key=lambda label: (rank_by_label[label], label))


def note_differing_prompts(frame: pd.DataFrame) -> str:
    """Say which system was asked with which prompts, where there are several sets of them; or nothing."""
    prompts_by_system = _list_prompt_sets_by_group(frame, ["system"])
    if len({label for labels in prompts_by_system.values() for label in labels}) <= 1:
        return ""
    if len({tuple(labels) for labels in prompts_by_system.values()}) == 1:
        if len({_drop_language_of_prompt_set(label) for label in next(iter(prompts_by_system.values()))}) == 1:
            return ""  # the same prompts, each in the language of its questions
        sentence = (
            f"Each system was asked with several sets of prompts: {', '.join(next(iter(prompts_by_system.values())))}."
        )
    else:
        named = "; ".join(f"{system} {', '.join(labels)}" for (system,), labels in prompts_by_system.items())
        sentence = (
            f"Not all systems were asked with the same prompts, so differences may come from the prompts: {named}."
        )
    meanings = {PUBLISHED: "the prompts of a published study", UNKNOWN: "those of answers that came from elsewhere"}
    used_labels = {label for labels in prompts_by_system.values() for label in labels}
    if named_unknown := [f"`{label}`: {meaning}" for label, meaning in meanings.items() if label in used_labels]:
        sentence += f" (Not known are {'; '.join(named_unknown)}.)"
    if any(len(labels) > 1 for labels in prompts_by_system.values()):
        sentence += " The averages of a system with several sets of prompts mix them."
    return sentence


def _drop_language_of_prompt_set(label: str) -> str:
    """Return the label without the language that its set's name ends in, such as `neutral` of `neutral-de`."""
    name, space, digest = label.partition(" ")
    language = language_of_prompt_set_or_english(name).code
    return f"{name.removesuffix(f'-{language}')}{space}{digest}"


def _list_prompt_sets_by_group(frame: pd.DataFrame, group_columns: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
    """Map each group of rows to its sets of prompts, in their order."""
    # What nobody scored is in no average, unless there is none at all.
    rows = frame[frame["counted"]] if frame["counted"].any() else frame
    pairs = rows[[*group_columns, "prompts"]].drop_duplicates().astype("str")
    groups = pairs.groupby(list(group_columns), sort=True)["prompts"]
    return {tuple(map(str, key)): sort_prompt_sets_shipped_first(labels) for key, labels in groups}


def add_prompts_column_and_note(report_table: Table, frame: pd.DataFrame) -> Table:
    """Add a column on the prompts of each row, and the sentence, where a report mixes sets of them."""
    sentence = note_differing_prompts(frame)
    if not sentence or "prompts" in report_table.data or "system" not in report_table.data or report_table.data.empty:
        return report_table
    by = [name for name in ("system", "experiment") if name in report_table.data]
    prompts_by_row = _list_prompt_sets_by_group(frame, by)
    keys = report_table.data[by].astype("str").itertuples(index=False, name=None)
    data = report_table.data.copy()
    data.insert(
        list(data.columns).index("system") + 1, "prompts", [", ".join(prompts_by_row.get(key, ())) for key in keys]
    )
    return replace(report_table, data=data, note=f"{report_table.note} {sentence}".strip())


def add_prompts_to_tables_and_figures(chapters: list[Chapter], frame: pd.DataFrame) -> list[Chapter]:
    """Add the prompts' column to the chapters' tables, and the sentence under their figures of systems."""
    sentence = note_differing_prompts(frame)
    if not sentence:
        return chapters

    def add_prompts_sentence_to_figure(figure: Figure) -> Figure:
        return replace(figure, about=f"{figure.about} {sentence}") if "system" in figure.table.data else figure

    return [
        chapter.transform_tables_and_figures(
            lambda table: add_prompts_column_and_note(table, frame), add_prompts_sentence_to_figure
        )
        for chapter in chapters
    ]


@averages.cache_per_frame
def _pair_scores_across_prompt_sets(frame: pd.DataFrame) -> pd.DataFrame:
    """Return one row per system, two sets of prompts, experiment, document and question that has an M_all with both.

    `prompts` and `others` are the sets, `m_all` and `m_all_others` the averages.
    """
    answers = averages.select_policy_rows(averages.average_answers(frame))
    answers = answers[answers["unit"] == "answer"]
    if answers["prompts"].nunique() < 2:  # noqa: PLR2004 - nothing to compare, as in most studies
        return pd.DataFrame(columns=[*_ABOUT, "prompts", "others"])
    cells = answers.groupby([*_ABOUT, "prompts"], observed=True, sort=True)["m_all"].mean().reset_index()
    pairs = []
    for _, system_cells in cells.groupby("system", observed=True, sort=True):
        labels = sort_prompt_sets_shipped_first(system_cells["prompts"].astype("str").unique())
        for first, second in zip(labels[:1] * len(labels), labels[1:], strict=False):
            before, after = (
                system_cells[system_cells["prompts"] == label].drop(columns="prompts") for label in (first, second)
            )
            paired = before.merge(after, on=_ABOUT, suffixes=("", "_others"))
            pairs.append(paired.assign(prompts=first, others=second))
    return pd.concat(pairs, ignore_index=True) if pairs else pd.DataFrame(columns=[*_ABOUT, "prompts", "others"])


def _yield_pairs_by_prompts_and_questions(paired: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield the first columns of each row of a table, and its pairs."""
    for (system, first, second), rows in paired.groupby(["system", "prompts", "others"], observed=True, sort=True):
        for group, group_rows in averages.iterate_overall_source_and_category_rows(rows, with_categories=True):
            yield {"system": system, "prompts": first, "others": second, "questions": group}, group_rows


_ABOUT_ROWS = ("system", "prompts", "others", "questions", "n")
_OTHERS = {"others": "other prompts", "changed": "in another band"}


def score_changes_across_prompts_table(frame: pd.DataFrame) -> Table:
    """Tabulate how M_all moves from one set of prompts to another, by system and group of questions."""
    rows = []
    for about, group_rows in _yield_pairs_by_prompts_and_questions(_pair_scores_across_prompt_sets(frame)):
        before, after = group_rows["m_all"], group_rows["m_all_others"]
        # Rounded, because 86.5 and 86.5 may differ in their last binary digit.
        pair_rows = group_rows.assign(before=before, after=after, difference=(after - before).round(9))
        change = averages.estimate_column_mean(pair_rows, "difference")
        sides = {name: averages.estimate_column_mean(pair_rows, name)["mean"] for name in ("before", "after")}
        rows.append({**about, **sides, **change, "change": change["mean"]})
    columns = [*_ABOUT_ROWS, "before", "after", "change", *BOTH]
    data = pd.DataFrame(rows, columns=columns)
    return make_table(
        "prompting",
        "Other prompts, the same questions",
        "M_all (10 to 100) of the same questions about the same documents asked with one set of prompts "
        "(before) and with the other (after), averaged over n questions, each a mean over documents (and experiments), "
        "and the change (above 0: the other prompts do better). The intervals are for the change. "
        f"{averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        headings=_OTHERS,
        formats={"before": ".1f", "after": ".1f", "change": "+.1f", **dict.fromkeys(BOTH[:4], "+.1f")},
    )


def band_change_shares_across_prompts_table(frame: pd.DataFrame, bounds: BandBounds) -> Table:
    """Return the share of answers in another band with the other prompts, by system and group of questions."""
    rows = []
    for about, group_rows in _yield_pairs_by_prompts_and_questions(_pair_scores_across_prompt_sets(frame)):
        sides = zip(group_rows["m_all"], group_rows["m_all_others"], strict=True)
        moved = [
            float(classify_band(before, bounds.m_all_bounds) != classify_band(after, bounds.m_all_bounds))
            for before, after in sides
        ]
        share = averages.estimate_column_mean(group_rows.assign(changed=moved), "changed", (0.0, 1.0))
        rows.append({**about, **share, "changed": share["mean"]})
    columns = [*_ABOUT_ROWS, "changed", *BOTH]
    data = pd.DataFrame(rows, columns=columns)
    return make_table(
        "prompting-bands",
        "Answers that change band with other prompts",
        "Share of the questions about a document whose average M_all is in another band with the other prompts, in "
        f"either direction, each question weighing the same. Bands: {bounds.description}. "
        f"{averages.explain_intervals_and_small_n(data)}",
        data,
        columns,
        headings=_OTHERS,
        formats=dict.fromkeys(("changed", *BOTH[:4]), ".0%"),
    )


class PromptingChapter(ChapterMaker):
    """Changes that other prompts make; nothing where no system was asked with two sets of them."""

    needs_scores = True

    def make(self, study: Study, scope: FigureScope) -> Chapter:
        """Make the chapter."""
        frame = study.table
        tables = nonempty_tables(
            score_changes_across_prompts_table(frame), band_change_shares_across_prompts_table(frame, scope.bounds)
        )
        set_counts = frame[~frame["prompts"].isin(NOT_KNOWN)].groupby("system", observed=True)["prompts"].nunique()
        why = ["The effect of other prompts is not shown: no question is scored with two sets of prompts."]
        return Chapter(
            "prompting",
            "Prompts",
            "Whether the same questions about the same documents are answered as well with other prompts.",
            tables,
            [],
            why if (set_counts > 1).any() and not tables else [],
        )
