"""Readability of the documents, and the number of questions on which they are silent (paper, section 6, table 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genaipa.languages.catalog import LANGUAGES
from genaipa.questions.annotations import SAID
from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.table import Table, make_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.answers.study import Study
    from genaipa.languages.language import Readability
    from genaipa.policies.statistics import TextStatistics

_GRADES = (
    "The reading level, for English texts only, is the Flesch-Kincaid grade, with syllables counted from the spelling. "
    "Compare it only with grades counted in the same way: the paper's grades are lower by 1.8 to 2.7; the paper "
    "doesn't say how it counted, and no method that we tried reproduces its grades (ending sentences at colons and "
    "semicolons as well explains 1.2 to 2.0). "
)


def document_statistics_table(statistics_by_document: Mapping[str, TextStatistics], frame: pd.DataFrame) -> Table:
    """Return the documents' statistics by name, and on how many of the questions asked each is silent."""
    columns = [
        "document",
        "words",
        "unique_words",
        "reading_minutes",
        "grade",
        *(["ease"] if any(text_facts.ease is not None for text_facts in statistics_by_document.values()) else []),
        "connective_words",
        "questions",
        "silent",
    ]
    pair = ["document", "question"]
    asked_rows, annotated_rows = frame.drop_duplicates(pair), frame[frame["silent"].isin(SAID)].drop_duplicates(pair)
    rows = []
    for name in sorted(statistics_by_document):
        facts = statistics_by_document[name]
        silent = annotated_rows.loc[annotated_rows["document"] == name, "silent"]
        rows.append(
            {
                "document": name,
                "words": facts.words,
                "unique_words": facts.unique_words,
                "reading_minutes": facts.reading_time,
                "grade": facts.grade,
                "ease": facts.ease,
                "connective_words": facts.connective_words,
                "questions": int((asked_rows["document"] == name).sum()),
                "silent": float((silent == "yes").sum()) if len(silent) else np.nan,
            }
        )
    return make_table(
        "documents",
        "The documents",
        f"{_describe_text_measures(_list_readability_formulas(statistics_by_document))}The last columns are "
        "the questions asked, and how many of "
        "them the document is wholly silent on, according to its annotated answers (paper, section 6, table "
        f"1).{averages.note_corrected_annotations(frame)}",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={"silent": "silent on"},
        formats={"silent": ".0f"},
    )


def _list_readability_formulas(statistics_by_document: Mapping[str, TextStatistics]) -> list[tuple[str, Readability]]:
    """Return the formulas by which these texts were measured, each with the name of its language."""
    codes = {entry.language for entry in statistics_by_document.values()}
    return [(entry.name, entry.readability) for code, entry in LANGUAGES.items() if code in codes and entry.readability]


def _describe_text_measures(formulas: list[tuple[str, Readability]]) -> str:
    words = ", ".join(f'"{formula.connective}"' for _, formula in formulas)
    eases = "; ".join(
        f"{name}, {formula.formula}: {formula.formula_in_words}" for name, formula in formulas if not formula.grades
    )
    return (
        f"Unique words and connective words{f' (the word {words})' if words else ''} are shares of the words; the "
        "reading time assumes 265 words of five characters a minute. "
        f"{f'Reading ease is about 0 (hard) to 100 ({eases}); never compare it between languages. ' if eases else ''}"
        f"{_GRADES if any(formula.grades for _, formula in formulas) else ''}"
    )


def _anchor_of_bibliography_entry(author_and_year: str) -> str:
    """Return the anchor of a reference: kincaid-1975."""
    return f"{author_and_year.split(maxsplit=1)[0].strip(',').lower()}-{author_and_year[-4:]}"


class TextsChapter(ChapterMaker):
    """The chapter on the documents' length and readability."""

    def make(self, study: Study, scope: FigureScope) -> Chapter:  # noqa: ARG002 - without figures
        """Make the chapter."""
        table = document_statistics_table(study.document_statistics, study.table)
        formulas = [formula for _, formula in _list_readability_formulas(study.document_statistics) if formula.cited]
        measures = [
            f"{formula.formula} {'grade' if formula.grades else 'ease'} "
            f'<a href="#{_anchor_of_bibliography_entry(formula.cited)}">[{formula.cited}]</a>'
            for formula in formulas
        ]
        method = (
            f"How hard a text is to read is measured by its {' or its '.join(measures)}; the table's note says how it "
            "was counted."
        )
        return Chapter(
            "texts",
            "The documents",
            "How long and how hard to read the documents are.",
            nonempty_tables(table),
            [],
            [] if table else ["The documents' statistics are not shown: none of the texts is available."],
            method=method if measures else "",
            references={_anchor_of_bibliography_entry(formula.cited): formula.published for formula in formulas},
        )
