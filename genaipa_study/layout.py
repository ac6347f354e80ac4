"""The published files (their commit, git blob hashes, rows of tables), and how they name things, with all spellings."""

from __future__ import annotations

import csv
import difflib
import io
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from genaipa.datasets.snapshot import Snapshot
from genaipa.errors import DataError
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.policies.document import DocumentKind
    from genaipa.questions.sets import Wording
    from genaipa.runs.experiments import StudyExperiment


M_ALL_IN_TABLES = 10
"""The published tables have a tenth of M_all."""
COMMIT = "0a5fffcb00b92ba5a604e6b1b5127b1199e52919"
LICENSE = "not stated; not redistributable"


class PublishedTree(Snapshot):
    """The 111 files of the published repository; the 25 of the study itself are needed for nothing else."""

    dataset = "genaipabench"
    title = "GenAIPABench"
    repository = "DAMSlabUMBC/GenAIPABench"
    optional = ("Generated Answers/", "Results/")


@cache
def published_tree() -> PublishedTree:
    """Return the commit that the paper's figures were checked against."""
    lines = Path(__file__).with_name("genaipabench.blobs").read_text(encoding="utf-8").splitlines()
    return PublishedTree(COMMIT, {path: blob for blob, path in (line.split("  ", 1) for line in lines)})


def make_published_file_url(path: str) -> str:
    """Return the page of a published file."""
    return f"https://github.com/{PublishedTree.repository}/blob/{COMMIT}/{quote(path)}"


def read_csv_rows(path: Path, *, strict: bool = False) -> list[list[str]]:
    """Read the rows of a CSV file; a DataError names the line that is none. `strict` allows no quotes inside a cell."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=strict)
    try:
        return list(rows)
    except csv.Error as error:
        raise DataError(path, f"is not a CSV file ({error}).", f"line {rows.line_num}") from None


def read_rows_by_question(
    path: Path, header_choices_by_column: Mapping[str, tuple[str, ...]], question_by_published_id: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    r"""Read the rows of a published CSV by genaipa's question id; skip blank rows and other columns.

    `header_choices_by_column` maps each wanted cell, "id" among them, to the headers under which it is published;
    `question_by_published_id` a published id to genaipa's. Line ends inside a cell become "\n", white space around it
    goes. A DataError names file, row (the header is row 1) and column.
    """
    header, *rows = read_csv_rows(path, strict=True) or [[]]
    present = [cell.strip().lower() for cell in header]
    column_indices: dict[str, int] = {}
    for column, names in header_choices_by_column.items():
        present_columns = [present.index(name) for name in names if name in present]
        if not present_columns:
            wanted = "' or '".join(names)
            raise DataError(path, f"has no column '{wanted}'.", "row 1")
        column_indices[column] = present_columns[0]
    cells_by_question: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows, start=2):
        if not any(cell.strip() for cell in row):
            continue
        cells = {
            column: "".join(row[column_index : column_index + 1]) for column, column_index in column_indices.items()
        }
        cells = {column: re.sub(r"\r\n?", "\n", cell).strip() for column, cell in cells.items()}
        for column, cell in cells.items():
            if not cell:
                raise DataError(
                    path,
                    "the cell is missing or empty.",
                    f"row {number}, column '{header_choices_by_column[column][0]}'",
                )
        question = question_by_published_id.get(cells["id"])
        if question is None or question in cells_by_question:
            problem = "is not the id of a question" if question is None else "appears twice"
            raise DataError(
                path, f"'{cells['id']}' {problem}.", f"row {number}, column '{header_choices_by_column['id'][0]}'"
            )
        cells_by_question[question] = cells
    missing = sorted(set(question_by_published_id.values()) - set(cells_by_question))
    if missing:
        raise DataError(path, f"has no row for {', '.join(missing)}.")
    return cells_by_question


POLICY_SET = "genaipabench"
REGULATION_SET = "genaipabench-regulation"


@dataclass(frozen=True)
class PublishedDocument:
    """One of the seven documents, with its date where its text states one."""

    company: str
    title: str
    kind: DocumentKind = "policy"
    date: str = ""

    @property
    def path(self) -> str:
        """The file of its text in the repository."""
        folder = "Privacy Policy" if self.kind == "policy" else "Regulations"
        return f"Privacy Documents/{folder}/{self.company}_document.txt"


DOCUMENTS: dict[str, PublishedDocument] = {
    "uber": PublishedDocument("Uber", "Uber Privacy Notice", date="2023-04-05"),
    "spotify": PublishedDocument("Spotify", "Spotify Privacy Policy"),
    "airbnb": PublishedDocument("Airbnb", "Airbnb Privacy Policy"),
    "facebook": PublishedDocument("Facebook", "Facebook Data Policy", date="2022-01-04"),
    "twitter": PublishedDocument("Twitter", "Twitter Privacy Policy"),
    "gdpr": PublishedDocument("GDPR", "General Data Protection Regulation", kind="regulation"),
    "ccpa": PublishedDocument("CCPA", "California Consumer Privacy Act of 2018", kind="regulation"),
}

# Id as published → id in genaipa. The six questions are published once for each regulation, numbered on.
POLICY_IDS = {
    question: question
    for category in ("T", "UC", "DM", "SE", "PD", "RC", "AEE", "CA")
    for question in (f"{category}_f1", f"{category}_f2", f"{category}_f3", f"{category}_u1")
}
REGULATION_IDS = {f"PR_{number}": f"PR_{(number - 1) % 6 + 1}" for number in range(1, 13)}

ANSWERS = "Generated Answers/"
RESULTS = "Results/"
POLICIES = tuple(name for name, document in DOCUMENTS.items() if document.kind == "policy")
REGULATIONS = tuple(name for name, document in DOCUMENTS.items() if document.kind == "regulation")


_BEGINS: dict[StudyExperiment, str] = {
    "quality": "orig",
    "robustness": "robust",
    "recall": "adapt",
    "summary": "summar",
}
"""Experiment → how its name begins in files and sheets."""
STUDY_EXPERIMENTS = tuple(_BEGINS)
REPETITIONS = {"faq": 1, "user": 3}
"""Origin of a question → how often the study asked it."""

_LEVELS = str.maketrans({"ₑ": "1", "ₘ": "2", "ₕ": "3"})
_LABEL = re.compile(r"([A-Z]+)_?([FU]?)_?([1-3])")
_CLOSE = 0.8
"""How alike a misspelt name has to be: "airbnd" is airbnb."""


def find_experiment_by_title(title: str) -> StudyExperiment | None:
    """Return the experiment that a sheet, a file or a heading is called after; None for any other text."""
    word = title.strip().lower().removeprefix("results_")
    return next((name for name, begins in _BEGINS.items() if word.startswith(begins)), None)


def list_wordings(experiment: StudyExperiment, origin: str) -> tuple[Wording, ...]:
    """Return the wordings in which questions of an origin were asked: of FAQ questions one paraphrase only."""
    from genaipa.runs.experiments import EXPERIMENTS  # the facts above are read wherever data sets are listed

    return EXPERIMENTS[experiment].wordings[: 1 if origin == "faq" else None]


def find_closest_document_name(text: str, names: tuple[str, ...] = POLICIES) -> str | None:
    """Return the document that a sheet or a column is called after, small slips of the pen included."""
    close = difflib.get_close_matches(text.strip().lower(), names, n=1, cutoff=_CLOSE)
    return close[0] if close else None


def parse_question_id_and_label_number(label: str) -> tuple[str, int] | None:
    """Return question id and number of a label: `T_f1`, `AEEₑ` → AEE_f1; `T_u2` → T_u1, 2 (its second paraphrase)."""
    levels = any(ord(letter) in _LEVELS for letter in label)
    match = _LABEL.fullmatch(label.strip().translate(_LEVELS).upper().replace("PBD", "PD"))
    if match is None:
        return None
    category, kind, number = match[1], "F" if levels else match[2], int(match[3])
    question = f"{category}_u1" if kind == "U" else f"{category}_f{number}"
    return (question, number) if kind and question in POLICY_IDS else None


def faq_or_user_origin(question: str) -> str:
    """Return `faq` or `user`: from where the study has the question."""
    return "user" if "_u" in question else "faq"


def system_of_file(path: str) -> str:
    """Return the system whose file this is, from its folder: `Results/Results_ChatGPT-4/…` → published/chatgpt-4."""
    folder = PurePosixPath(path).parts[1]
    return "published/" + folder.removeprefix("Results_").lower()


def list_available_files(tree: PublishedTree, folder: str, suffix: str) -> list[str]:
    """List the published files below a folder that are here, in order; files directly in it belong to no system."""
    return sorted(
        path
        for path in tree.blobs
        if path.startswith(folder)
        and path.lower().endswith(suffix)
        and path.count("/") > 1
        and tree.is_published_file_cached(path)
    )
