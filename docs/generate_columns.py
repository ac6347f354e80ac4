"""Write docs/reference/columns.md from what the code says of columns: `python docs/generate_columns.py`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.answers.fact import answer_facts, score_facts, study_facts
from genaipa.plugins import ships_with_genaipa
from genaipa.scoring import columns
from genaipa.scoring.rubric import shipped_rubric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.answers.fact import AnyFact
    from genaipa.scoring.columns import Meanings

PAGE = Path(__file__).parent / "reference" / "columns.md"
HEAD = """# Columns of answers and scores

Generated from the code by `python docs/generate_columns.py`.

| file of a [report](../guide/reports.md) | in Python | a row for |
|---|---|---|
| `answers.parquet`, `answers.csv` | `genaipa.load_answers()` | each question that was planned |
| `scores.parquet`, `scores.csv` | `genaipa.scores()` | each answer and score, and each published score |
| `report --frame FILE` | `genaipa.scores(facts=True)` | the same, with the columns of both |

In CSV an absent value is an empty cell.

In tables of differences, `p_holm` and the intervals are adjusted for as many tests as `tests` says: 1 for M_all in a
comparison of two systems, all pairs in `system-differences`, the pairs of levels in `levels`.
"""
ABOUT_FACTS = f"""A file, and the frame of answers (`load_answers`), have the columns of a fact only where something
is known of it; `scores(facts=True)` has all of them, the narrow table has
{", ".join(f"`{name}`" for name in columns.IN_TABLE)}.
The frame of answers ends with two more, `counted` (whether any of its scores counts) and `left_out` (whether it is
excluded).
"""


def core_table(meanings: Meanings) -> str:
    """Return the table of columns of the core."""
    rows = [f"| `{name}` | {kind} | {meaning} |" for name, (kind, meaning) in meanings.items()]
    return "\n".join(("| column | type | what it holds |", "|---|---|---|", *rows, ""))


def fact_table(known: Iterable[AnyFact]) -> str:
    """Return the table of the columns of facts that ship with genaipa."""
    rows = [
        f"| `{name}` | {fact.name} | {column.kind} | {column.unit} | {column.meaning} |"
        for fact in known
        if ships_with_genaipa(type(fact).__module__)
        for name, column in fact.columns.items()
    ]
    return "\n".join(("| column | fact | type | unit | what it holds |", "|---|---|---|---|---|", *rows, ""))


def whole_pages() -> dict[Path, str]:
    """Return path → text of the page as it should be."""
    metrics: Meanings = dict.fromkeys(shipped_rubric().metrics, ("float64", "the metric, from -1 to 1"))
    text = "\n".join(
        (
            HEAD,
            str(columns.__doc__).partition("\n\n")[2],
            "## Of every answer\n",
            core_table(columns.ANSWER),
            "## Facts about answers\n",
            ABOUT_FACTS,
            fact_table((*answer_facts(), *study_facts())),
            "## Of every score\n",
            "A rubric of your own has its own metrics.\n",
            core_table(columns.SCORER | metrics | columns.OVERALL),
            "## Facts about scores\n",
            fact_table(score_facts()),
        )
    )
    return {PAGE: text}


if __name__ == "__main__":
    for path, text in whole_pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
