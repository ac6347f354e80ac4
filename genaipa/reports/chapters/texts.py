"""Readability of the documents, and the number of questions on which they are silent (paper, section 6, table 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from genaipa.languages.catalog import ENGLISH, LANGUAGES
from genaipa.questions.annotations import SAID
from genaipa.reports import averages
from genaipa.reports.chapters.chapter import Chapter, present
from genaipa.reports.figures.figure import Scope
from genaipa.reports.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.policies.statistics import Statistics
    from genaipa.reports.gather import Gathered

_METHOD = """How hard a text is to read is its Flesch-Kincaid grade <a href="#kincaid-1975">[Kincaid et
al., 1975]</a>; the table's note says how it was counted."""
_REFERENCES = {
    "kincaid-1975": "J. P. Kincaid, R. P. Fishburne, R. L. Rogers, B. S. Chissom: Derivation of New Readability "
    "Formulas\nfor Navy Enlisted Personnel. Naval Technical Training Command, Research Branch Report 8-75, 1975."
}


def statistics(measured: Mapping[str, Statistics], frame: pd.DataFrame) -> Table:
    """The statistics of the documents by name, and on how many of the questions asked about them they are silent."""
    columns = [
        "document",
        "words",
        "unique_words",
        "reading_minutes",
        "grade",
        *(["ease"] if any(one.ease is not None for one in measured.values()) else []),
        "connective_words",
        "questions",
        "silent",
    ]
    pair = ["document", "question"]
    asked, known = frame.drop_duplicates(pair), frame[frame["silent"].isin(SAID)].drop_duplicates(pair)
    rows = []
    for name in sorted(measured):
        found = measured[name]
        silent = known.loc[known["document"] == name, "silent"]
        rows.append(
            {
                "document": name,
                "words": found.words,
                "unique_words": found.unique_words,
                "reading_minutes": found.reading_time,
                "grade": found.grade,
                "ease": found.ease,
                "connective_words": found.connective_words,
                "questions": int((asked["document"] == name).sum()),
                "silent": float((silent == "yes").sum()) if len(silent) else np.nan,
            }
        )
    return table(
        "documents",
        "The documents",
        f"Unique words and connective words ({_connectives(measured)}) are shares of the words; the reading time takes "
        "265 words of five characters a minute. The reading level is the Flesch-Kincaid grade, with syllables counted "
        "from the spelling, of English texts alone. Compare it only with grades counted alike: those printed in the "
        "paper are lower by 1.8 to 2.7, it doesn't say how they were counted, and no way of counting that was tried "
        "gives them (sentences "
        f"that end at colons and semicolons, too, explain 1.2 to 2.0). {_eases(measured)}The last columns are the "
        "questions asked, and how many of them the document is wholly silent on by its annotated answers (paper, "
        "section 6, table 1)."
        f"{averages.corrections(frame)}",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={"silent": "silent on"},
        formats={"silent": ".0f"},
    )


def _connectives(measured: Mapping[str, Statistics]) -> str:
    """The connective word that was counted, of each language."""
    codes = {one.language for one in measured.values()} | {ENGLISH.code}
    known = {code: one.readability.connective for code, one in LANGUAGES.items() if code in codes and one.readability}
    return ", ".join(f'the word "{word}"' if code == ENGLISH.code else f'"{word}"' for code, word in known.items())


def _eases(measured: Mapping[str, Statistics]) -> str:
    """The formulas of reading ease; empty where no text has one."""
    codes = {one.language for one in measured.values() if one.ease is not None}
    known = [(one.name, one.readability) for code, one in LANGUAGES.items() if code in codes]
    said = "; ".join(f"{name}, {found.formula}: {found.in_words}" for name, found in known if found)
    return (
        f"Reading ease is from about 0 (hard) to 100 ({said}), not to be compared between languages. " if said else ""
    )


def chapter(gathered: Gathered, _scope: Scope) -> Chapter:
    """The chapter on the documents' length and readability."""
    found = statistics(gathered.statistics, gathered.frame)
    return Chapter(
        "texts",
        "The documents",
        "How long and how hard to read the documents are.",
        present(found),
        [],
        [] if found else ["The documents' statistics are not shown: none of their texts is here."],
        method=_METHOD,
        references=_REFERENCES,
    )
