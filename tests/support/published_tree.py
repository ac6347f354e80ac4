"""The answers and scores of a small published study, in words of our own, laid out like GenAIPABench's.

A sheet of answers is a dict (row, column) → text, so that a test can move, take away or add what it likes:

    sheets = {name: user_sheet(name) for name in POLICIES}
    del sheets["uber"][5, 4]
    files = study() | {USER: workbook(sheets)}
"""

from __future__ import annotations

import csv
import functools
import io
import random
from types import MappingProxyType
from typing import TYPE_CHECKING

import openpyxl
from genaipabench_tree import CATEGORIES, IDS

if TYPE_CHECKING:
    from collections.abc import Mapping

Sheet = dict[tuple[int, int], object]

POLICIES = ("twitter", "spotify", "facebook", "uber", "airbnb")
COLUMNS = ("Spotify", "Uber", "Twitter", "Facebook", "Airbnb")
FAQ = "Generated Answers/ChatGPT-4/ChatGPT-4_FAQ.xlsx"
USER = "Generated Answers/ChatGPT-4/ChatGPT-4_user-generated.xlsx"
BARD_FAQ = "Generated Answers/Bard/Bard_FAQ.xlsx"
BARD_USER = "Generated Answers/Bard/Bard_user_generated.xlsx"
TABLES = {"original": 0, "robust": 1, "adaptive": 2, "summary": 3}
METRICS = ("Relevance", "Accuracy", "Clarity", "Completeness", "Reference")
SINGLE = [1.0, 2.35, 2.8, 3.7, *(round(4.15 + 0.45 * step, 2) for step in range(14))]
"""Every value of M_all that one score can have, written out here so that the code isn't checked by itself."""


def reply(company: str, block: str, question: str, number: int = 1, run: int = 1) -> str:
    """What a system says; names its company, and no two cells say the same."""
    return f"{company.title()} keeps what {question} asks for ({block}, {number}), as run {run} tells."


def _headings(blocks: Mapping[str, tuple[int, int]], step: int) -> Sheet:
    sheet: Sheet = {(1, 1): "Labels", (1, 2): " Questions", (1, 3): "Answers"}
    for heading, (row, _) in blocks.items():
        sheet[row, 2] = heading
        sheet[row + 1, 2] = "Privacy Policy Questions"
        for place, category in enumerate(CATEGORIES):
            first = blocks[heading][1] + place * step
            sheet.setdefault((first - 1, 1), f"All about {category}")
    return sheet


def faq_sheet(company: str) -> Sheet:
    """FAQ questions: one run in column C; heading and first question of each block as published."""
    blocks = {
        "Original": (2, 5),
        "Robustness Analysis": (37, 40),
        "Summary Analysis": (72, 75),
        "Adaptability Analysis": (107, 110),
    }
    sheet = _headings(blocks, 4)
    for heading, (_, first) in blocks.items():
        for place, category in enumerate(CATEGORIES):
            for level in range(3):
                row, question = first + 4 * place + level, f"{category}_f{level + 1}"
                sheet[row, 1] = question
                sheet[row, 2] = f'{level + 1}. "What about {question}?"'
                sheet[row, 3] = reply(company, heading, question)
    return sheet


def user_sheet(company: str) -> Sheet:
    """Users' questions: three runs in columns C to E; the labels of the last two paraphrases are missing."""
    plain = {"Original": (3, 5), "Adaptive Analysis": (56, 59), "Summary Analysis": (74, 77)}
    sheet = _headings({**plain, "Robustness Analysis": (21, 24)}, 2)
    for heading, (_, first) in plain.items():
        for place, category in enumerate(CATEGORIES):
            _ask(sheet, company, heading, first + 2 * place, f"{category}_u1", 1)
    for place, category in enumerate(CATEGORIES):
        for number in (1, 2, 3):
            _ask(sheet, company, "Robustness Analysis", 23 + 4 * place + number, f"{category}_u{number}", number)
    del sheet[53, 1], sheet[54, 1]
    return sheet


def _ask(sheet: Sheet, company: str, heading: str, row: int, label: str, number: int) -> None:
    sheet[row, 1] = label
    sheet[row, 2] = f"what about {label}, {heading}?"
    for run in (1, 2, 3):
        sheet[row, 2 + run] = reply(company, heading, label[:-1] + "1", number, run)


def workbook(sheets: Mapping[str, Sheet | list[list[object]]]) -> bytes:
    """The sheets as an .xlsx file."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, cells in sheets.items():
        sheet = book.create_sheet(name)
        if isinstance(cells, list):
            for line in cells:
                sheet.append(line)
        else:
            for (row, column), value in cells.items():
                sheet.cell(row, column, value)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def grid(sheet: Sheet) -> list[tuple[object, ...]]:
    """The sheet's cells row by row."""
    rows, columns = (max(place[axis] for place in sheet) for axis in (0, 1))
    return [tuple(sheet.get((row, column)) for column in range(1, columns + 1)) for row in range(1, rows + 1)]


def scores(table: str) -> dict[str, list[float]]:
    """Question → M_all about each of the policies in COLUMNS; no row or column of any two tables is alike."""
    drawn = random.Random(table)
    return {question: drawn.choices(SINGLE, k=5) for question in IDS}


def results_csv(values: Mapping[str, list[float]], columns: tuple[str, ...] = COLUMNS) -> bytes:
    """A table of M_all as published: with a byte-order mark, CRLF and a blank row at its end."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerows([["Questions", *columns], *([question, *row] for question, row in sorted(values.items())), []])
    return b"\xef\xbb\xbf" + out.getvalue().encode()


def metrics_sheet(values: Mapping[str, list[float]]) -> list[list[object]]:
    """The five metrics of each question that come to the mean of its row: each a mean of five values, as possible."""
    rows: list[list[object]] = [["Questions", *METRICS]]
    drawn = random.Random(repr(values))
    for question, row in values.items():
        tenths = [0] * 5
        for _ in range(round((sum(row) / len(row) - 1) / 9 * 100)):
            tenths[drawn.choice([place for place in range(5) if tenths[place] < 20])] += 1
        rows.append([question, *(ten / 10 - 1 for ten in tenths)])
    return rows


def regulations() -> bytes:
    """The scores about the two regulations."""
    rows = [["Questions", "Regulation", *METRICS]]
    rows += [[f"PR_{n}", "GDPR" if n <= 6 else "CCPA", "1", "1", "0.5", "1", "-1"] for n in range(1, 13)]
    return "\r\n".join(",".join(row) for row in rows).encode()


def results(system: str, original: str = "original") -> dict[str, bytes]:
    """Path → content of the tables of one system; `original` is how its first table is called."""
    folder = f"Results/Results_{system}"
    tables = {name: scores(name) for name in TABLES}
    files = {
        f"{folder}/Results_{original if name == 'original' else name}.csv": results_csv(t) for name, t in tables.items()
    }
    files[f"{folder}/Results_regulations.csv"] = regulations()
    files[f"{folder}/{system}_metrics.xlsx"] = workbook({name: metrics_sheet(t) for name, t in tables.items()})
    return files


@functools.cache
def study() -> MappingProxyType[str, bytes]:
    """Path → content of the answers and scores of two systems, with nothing wrong in them; made once."""
    faq = workbook({name: faq_sheet(name) for name in POLICIES})
    user = workbook({name: user_sheet(name) for name in POLICIES})
    answers = {FAQ: faq, USER: user, BARD_FAQ: faq, BARD_USER: user}
    return MappingProxyType({**answers, **results("ChatGPT-4"), **results("Bard", "orig")})
