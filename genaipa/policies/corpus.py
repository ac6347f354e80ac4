"""A corpus: many documents in one file, `corpus.jsonl` or `corpus.parquet`, read in a stream and checked as a whole.

Columns are `name`, `company` and `text`, and as far as they are known `date`, `source`, `language`, `title`, `license`
and `kind`. Every further column is a group of documents, such as `sector` or `country`, by which they can be sampled,
measured and reported. A row is checked, is a document, and is written as a line of JSON.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from genaipa.errors import DataError, UsageError, clip, name_suggestion
from genaipa.files.stamps import Stamp, read_file_stamp
from genaipa.languages.catalog import ENGLISH, detect_language_code_or_empty
from genaipa.languages.detection import detect_unsupported_language_code
from genaipa.policies.companies import LONGEST_NAME, UNNAMED
from genaipa.policies.corpus_file import CorpusFile, CorpusRow, make_corpus_file_reader
from genaipa.policies.document import LONGEST, About, Document, DocumentKind, message_for_too_long_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NEEDED = ("name", "company", "text")
KNOWN = frozenset((*NEEDED, "date", "source", "language", "title", "license", "kind", "also"))
"""Columns with a meaning of their own; all others are groups."""
_SAID = ("date", "source", "language", "title", "license")
FACTS = ("language", "date", "source", "license", "kind")
"""Columns with a meaning of their own by which documents can be grouped as well."""
LAYER = "corpus"
"""The origin of a document of a corpus, in place of a layer of the workspace."""
_NAME = re.compile(r"[^\W_][\w.-]*")
_LONGEST_CELL = 2000
"""Characters of a cell beside the text."""


def make_document_from_cells(cells: Mapping[str, Any]) -> Document:
    """Return the document of a row that was checked."""
    facts: dict[str, Any] = {name: format_scalar_cell_or_none(cells[name]) or "" for name in _SAID if name in cells}
    about = About(
        company=format_scalar_cell_or_none(cells["company"]) or "",
        kind="regulation" if cells.get("kind") == "regulation" else "policy",
        groups={name: format_scalar_cell_or_none(cells[name]) or "" for name in cells if name not in KNOWN},
        also=tuple(cells.get("also") or ()),
        **facts,
    )
    return Document(format_scalar_cell_or_none(cells["name"]) or "", cells["text"], about, LAYER)


def encode_corpus_line(document: Document) -> bytes:
    """Return a document as a line of a corpus, with its end."""
    about = document.about
    optional_facts = {"kind": "" if document.kind == "policy" else document.kind, "also": about.also}
    optional_facts |= {name: getattr(about, name) for name in _SAID}
    required = {"name": document.name, "company": document.company, "text": document.text}
    facts = {name: value for name, value in optional_facts.items() if value}
    return msgspec.json.encode(required | facts | about.groups) + b"\n"


def document_group_or_empty(document: Document, column: str) -> str:
    """Return the group of a document in a column: a group of its own or a fact (language, date, …); else empty."""
    about = document.about
    if not column:
        return ""
    return about.groups.get(column, "") if column not in FACTS else str(getattr(about, column))


def format_scalar_cell_or_none(value: object) -> str | None:
    """Return a cell in words; None for one that has none (a list, a mapping, bytes)."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, int | float | dt.date):
        return str(value)
    return None


def passes_quick_check_of_all_cells(cells: Mapping[str, Any]) -> bool:
    """Tell whether a row has nothing but valid texts: most have, and a million take a while to check."""
    for value in cells.values():
        if type(value) is not str:
            return False
    name, company, text = cells.get("name", ""), cells.get("company", ""), cells.get("text", "")
    return (
        len(name) <= LONGEST_NAME
        and _NAME.fullmatch(name) is not None
        and 0 < len(company) <= LONGEST_NAME
        and company.isprintable()
        and not company.isspace()
        and 0 < len(text) <= LONGEST
        and not text.isspace()
        and "\0" not in text
        and "kind" not in cells
        and sum(map(len, cells.values())) - len(text) <= _LONGEST_CELL
    )


def find_row_problems_with_details(cells: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every problem of a row by itself: the kind, and the words that are its own."""
    for name in NEEDED:
        if name not in cells:
            yield f"the column '{name}' is missing", ""
        elif cells[name] is None or (isinstance(cells[name], str) and not cells[name].strip()):
            yield f"the {name} is empty", ""
    for name, value in cells.items():
        if name == "also":
            if value is not None and not (isinstance(value, list) and all(isinstance(entry, str) for entry in value)):
                yield "the column 'also' is not a list of names", ""
        elif format_scalar_cell_or_none(value) is None or (name == "text" and not isinstance(value, str | None)):
            yield f"the column '{clip(name)}' does not contain text", type(value).__name__
        elif name != "text" and len(str(value)) > _LONGEST_CELL:
            yield f"the column '{clip(name)}' has more than {_LONGEST_CELL:,} characters", ""
    yield from _find_cell_problems_with_details(cells)


def _find_cell_problems_with_details(cells: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name, company, text = (format_scalar_cell_or_none(cells.get(column)) or "" for column in NEEDED)
    if name.strip() and not (_NAME.fullmatch(name) and len(name) <= LONGEST_NAME):
        rule = f"use at most {LONGEST_NAME} letters, digits, '.', '_' and '-', beginning with a letter or digit"
        yield f"the name is not valid ({rule})", repr(clip(name))
    if len(company) > LONGEST_NAME or not company.isprintable():
        yield f"the company name is not a single line of at most {LONGEST_NAME} characters", ""
    if len(text) > LONGEST:
        yield "the text is too long", message_for_too_long_text(text).partition(";")[0]
    if "\0" in text:
        yield "the text is binary", ""
    if (format_scalar_cell_or_none(cells.get("kind")) or "policy") not in get_args(DocumentKind):
        yield "the kind is neither 'policy' nor 'regulation'", ""


_NEEDED = frozenset(NEEDED)
_MOST_GROUPS = 100
_LISTED = 20
"""Places that are listed of one kind of problem; the others are counted."""


class CorpusProblems:
    """Everything that is wrong with a corpus: each kind once, with its lines."""

    def __init__(self, row_word: str) -> None:
        self._row_word = row_word
        self._rows_by_problem: dict[str, list[str]] = {}
        self._unlisted: dict[str, int] = {}

    def add_row_problem(self, row_number: int, problem: str, detail: str = "") -> None:
        """Note a kind of problem of a row, with the words that are this row's own."""
        places = self._rows_by_problem.setdefault(problem, [])
        if len(places) < _LISTED:
            places.append(f"{row_number} ({detail})" if detail else str(row_number))
        else:
            self._unlisted[problem] = self._unlisted.get(problem, 0) + 1

    def __bool__(self) -> bool:
        return bool(self._rows_by_problem)

    def __iter__(self) -> Iterator[str]:
        for problem, places in self._rows_by_problem.items():
            unlisted = self._unlisted.get(problem, 0)
            plural = "s" if len(places) > 1 else ""
            rows = f"{', '.join(places)}{f' and {unlisted:,} more' if unlisted else ''}"
            yield f"{self._row_word}{plural} {rows}: {problem}"


@dataclass
class Corpus:
    """A corpus that was checked: where its rows start, which texts are the same, and which group each is in.

    `first` holds for each row the first one with the same text about the same company (its own number for most), `rank`
    the order in which a sample takes rows, `stratum` the number of its group in `strata`.
    """

    path: Path
    file: CorpusFile
    stamp: Stamp | None
    """The stamp of the file that was checked."""
    digest: str
    groups: tuple[str, ...]
    starts: NDArray[np.uint64]
    first: NDArray[np.int64]
    rank: NDArray[np.uint64]
    stratum: NDArray[np.int32]
    strata: list[str]
    by: str = ""
    """The column of the strata; empty for none."""
    kinds: set[str] = field(default_factory=set)
    numbers: int = 0
    """Documents whose group is a number, or yes or no, and not a text."""
    heads: CorpusRowFacts | None = None
    """Facts about each document; None where nobody asked for them."""

    @property
    def remarks_on_groups(self) -> list[str]:
        """Sentences on documents without a group in the column, and on groups that are texts here and numbers there."""
        without = int((self.stratum == self.strata.index("")).sum()) if "" in self.strata else 0
        remarks, total = [], f"of {self.document_count:,} documents"
        if without:
            remarks.append(f"{without:,} {total} {_has_or_have(without)} no {self.by}; they form the group (none).")
        if 0 < self.numbers < self.document_count - without:
            remarks.append(
                f"{self.numbers:,} {total} {_has_or_have(self.numbers)} a number or a boolean as the {self.by}, and "
                "others have text; each value is used as it is written."
            )
        return remarks

    @property
    def document_count(self) -> int:
        """The number of its documents."""
        return len(self.starts)

    @property
    def distinct_text_count(self) -> int:
        """The number of texts that differ, or are about another company."""
        return int((self.first == _arange_like(self.first)).sum())

    def select_distinct_or_sampled_rows(self, sample_size: int | None = None) -> NDArray[np.int64]:
        """Return the rows that are asked about, in the order of the file: one for each text, or a sample of that size.

        Each stratum has its share of a sample, by largest remainders. The sample depends on the seed and the documents'
        names alone, not on their order.
        """
        import numpy as np

        once = np.flatnonzero(self.first == _arange_like(self.first))
        if sample_size is None or sample_size >= len(once):
            return once
        strata = self.stratum[once]
        ordered = once[np.lexsort((self.rank[once], strata))]
        sizes = np.bincount(strata, minlength=max(1, len(self.strata)))
        exact = sample_size * sizes / len(once)
        share = exact.astype(np.int64)
        remainder = sample_size - int(share.sum())
        share[np.argsort(share - exact, kind="stable")[:remainder]] += 1
        within = np.concatenate([np.arange(size) for size in sizes])
        return np.sort(ordered[within < np.repeat(share, sizes)])

    def map_rows_to_later_duplicates(self) -> dict[int, list[int]]:
        """Return row → the later rows with the same text about the same company, where there are any."""
        import numpy as np

        duplicates: dict[int, list[int]] = {}
        for row in np.flatnonzero(self.first != _arange_like(self.first)).tolist():
            duplicates.setdefault(int(self.first[row]), []).append(row)
        return duplicates

    def read_documents(self, rows: Sequence[int] | NDArray[np.int64]) -> Iterator[Document]:
        """Yield the documents of these rows, which rise, with the names of rows of the same text; in a stream.

        A DataError at the end if the file was changed meanwhile.
        """
        also = self._later_duplicate_names_by_row(rows)
        for row, cells in zip(rows, self._read_cells(rows), strict=True):
            duplicates = also.get(int(row))
            yield make_document_from_cells(
                {**cells, "also": [*(cells.get("also") or ()), *duplicates]} if duplicates else cells
            )

    def _later_duplicate_names_by_row(self, rows: Sequence[int] | NDArray[np.int64]) -> dict[int, list[str]]:
        """Return row → the names of the later documents with the same text about the same company."""
        duplicates = self.map_rows_to_later_duplicates()
        later = sorted(duplicate for row in rows for duplicate in duplicates.get(int(row), ())) if duplicates else []
        names = {duplicate: str(cells["name"]) for duplicate, cells in zip(later, self._read_cells(later), strict=True)}
        return {
            row: [names[duplicate] for duplicate in duplicate_rows]
            for row, duplicate_rows in duplicates.items()
            if duplicate_rows[0] in names
        }

    def _read_cells(self, rows: Sequence[int] | NDArray[np.int64]) -> Iterator[Mapping[str, Any]]:
        for row in self.file.read_rows_by_start(self._list_row_starts(rows)):
            if row.problem or not row.cells.keys() >= _NEEDED:
                break
            yield row.cells
        self._raise_if_file_changed()

    def _list_row_starts(self, rows: Sequence[int] | NDArray[np.int64]) -> list[int]:
        return [int(self.starts[number]) for number in rows]

    def _raise_if_file_changed(self) -> None:
        """Raise a DataError unless the file is the checked one."""
        if read_file_stamp(self.path) != self.stamp:
            raise DataError(self.path, "changed while it was being read; run the command again.")


@dataclass
class CorpusRowFacts:
    """Facts about each document of a corpus, by its row, that a plan over all of them needs without the texts.

    `texts` are the digests of company and text, 16 bytes each. A language that is not recognised is `~` and the code of
    the one that the text seems to be in.
    """

    names: list[str]
    companies: list[str]
    kinds: list[str]
    languages: list[str]
    texts: bytes

    def map_english_rows_to_first_of_same_kind(self, rows: Sequence[int]) -> list[int]:
        """Return for each row the first of these whose document is asked about as its is.

        English documents of a kind are alike; all others are named to the user, and each stands for itself.
        """
        firsts: dict[tuple[str, bool], int] = {}
        kinds, companies, languages = self.kinds, self.companies, self.languages
        return [
            firsts.setdefault((kinds[row], companies[row] == UNNAMED), row) if languages[row] == ENGLISH.code else row
            for row in rows
        ]

    def company_and_text_digest(self, row: int) -> bytes:
        """Return the digest of a document's company and text."""
        return self.texts[row * TEXT_DIGEST : (row + 1) * TEXT_DIGEST]

    def make_textless_document(self, row: int) -> Document:
        """Return a document without its text, whose language is known."""
        language, unknown, seems = self.languages[row].partition("~")
        kind: DocumentKind = "regulation" if self.kinds[row] == "regulation" else "policy"
        head = Document(self.names[row], "", About(company=self.companies[row], kind=kind, language=language), LAYER)
        if unknown:
            # Else they would be looked for in the text.
            vars(head).update(language="", likely_unsupported_language_code=seems)
        return head

    def matches_document(self, row: int, document: Document) -> bool:
        """Tell whether a document that was read at a row is the one that these facts are about."""
        read = document.name, digest_company_and_text(document.company, document.text)
        return read == (self.names[row], self.company_and_text_digest(row))


TEXT_DIGEST = 16
"""Bytes of the digest of a document's company and text."""


def digest_company_and_text(company: str | None, text: str | None) -> bytes:
    """Return the digest of a document's company and text, by which duplicates are found."""
    return hashlib.blake2b(f"{company}\0{text}".encode(), digest_size=TEXT_DIGEST).digest()


def sampling_keys_of_names(names: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """Return the order in which a sample takes the documents of these names."""
    import numpy as np

    key = _sampling_hash_key(seed)
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=16, key=key).digest() for name in names)
    return np.frombuffer(digests, np.uint64)[::2]


def _sampling_hash_key(seed: int) -> bytes:
    return hashlib.sha256(str(seed).encode()).digest()


def _has_or_have(number: int) -> str:
    return "has" if number == 1 else "have"


def _arange_like(array: NDArray[np.int64]) -> NDArray[np.int64]:
    import numpy as np

    return np.arange(len(array))


class _CorpusReading:
    """The one pass through a corpus that checks it; bounded memory: some 60 bytes for each row, and its `heads`."""

    def __init__(self, path: Path, file: CorpusFile, seed: int, by: str, *, heads: bool = False) -> None:
        self.path, self.file, self.by = path, file, by
        self.stamp = read_file_stamp(path)
        self.problems = CorpusProblems(file.place)
        self.starts, self.numbers, self.stratum = array("Q"), array("Q"), array("i")
        self.names, self.texts = bytearray(), bytearray()
        self.strata: dict[str, int] = {}
        self.columns: set[str] = set()
        self.kinds: set[str] = set()
        self.plain_numbers = 0
        self.heads = CorpusRowFacts([], [], [], [], b"") if heads else None
        self._key = _sampling_hash_key(seed)

    def add_row_and_note_problems(self, row: CorpusRow) -> None:
        """Check one row, and note what is needed of it."""
        if row.problem:
            problem, _, reason = row.problem.partition(" (")
            self.problems.add_row_problem(row.number, problem, reason.removesuffix(")"))
            return
        cells = row.cells
        if not passes_quick_check_of_all_cells(cells):
            for problem, detail in find_row_problems_with_details(cells):
                self.problems.add_row_problem(row.number, problem, detail)
        if not cells.keys() <= self.columns:
            self.columns.update(cells)
        name, company, text = cells.get("name"), cells.get("company"), cells.get("text")
        if type(name) is not str or type(company) is not str:
            name, company = format_scalar_cell_or_none(name), format_scalar_cell_or_none(company)
        if not name:
            return
        self.starts.append(row.start)
        self.numbers.append(row.number)
        # Keyed: the order of these hashes is also that of a sample.
        self.names += hashlib.blake2b(name.encode(), digest_size=16, key=self._key).digest()
        self.texts += digest_company_and_text(company, text)
        kind = format_scalar_cell_or_none(cells.get("kind")) or "policy"
        self.kinds.add(kind)
        if self.heads is not None:
            self.heads.names.append(name)
            self.heads.companies.append(intern(company or ""))
            self.heads.kinds.append(intern(kind))
            self.heads.languages.append(intern(_language_code_or_tilde_guess(cells)))
        if self.by:
            value = cells.get(self.by)
            self.plain_numbers += isinstance(value, int | float)
            group = format_scalar_cell_or_none(value) or ("policy" if self.by == "kind" else "")
            self.stratum.append(self.strata.setdefault(group, len(self.strata)))

    def build_checked_corpus(self) -> Corpus:
        """Return the corpus; a DataError with every problem, or a UsageError for a column that it doesn't have."""
        import numpy as np

        names = np.frombuffer(bytes(self.names), np.uint64).reshape(-1, 2)
        texts = np.frombuffer(bytes(self.texts), np.uint64).reshape(-1, 2)
        numbers, first = np.frombuffer(self.numbers, np.uint64), _first_row_with_same_hash_by_row(names)
        for row in np.flatnonzero(first != _arange_like(first)).tolist():
            self.problems.add_row_problem(
                int(numbers[row]), "another document has this name", f"by {self.file.place} {numbers[first[row]]}"
            )
        groups = sorted(self.columns.difference(KNOWN))
        if len(groups) > _MOST_GROUPS:
            self.problems.add_row_problem(
                1, f"there are more than {_MOST_GROUPS} columns; remove those that you don't need"
            )
        if self.problems:
            listed = "\n".join(f"  {problem}" for problem in self.problems)
            raise DataError(self.path, f"can't be used until these problems are corrected:\n{listed}")
        if not len(names):
            raise DataError(self.path, "contains no documents.")
        columns = (*FACTS, *groups)
        if self.by and self.by not in columns:
            raise UsageError(f"{self.path} has no column '{self.by}'{name_suggestion(self.by, columns)}")
        return Corpus(
            path=self.path,
            file=self.file,
            stamp=self.stamp,
            digest=self.file.digest(),
            groups=tuple(groups),
            starts=np.frombuffer(self.starts, np.uint64),
            first=_first_row_with_same_hash_by_row(texts),
            rank=names[:, 0],
            stratum=np.frombuffer(self.stratum, np.int32) if self.by else np.zeros(len(names), np.int32),
            strata=list(self.strata),
            by=self.by,
            kinds=self.kinds,
            numbers=self.plain_numbers,
            heads=None if self.heads is None else replace(self.heads, texts=bytes(self.texts)),
        )


def _language_code_or_tilde_guess(cells: Mapping[str, Any]) -> str:
    """Return the code of a row's language, or behind `~` that of the one that it seems to be in."""
    text = cells.get("text")
    text = text if isinstance(text, str) else ""
    return (
        detect_language_code_or_empty(text, format_scalar_cell_or_none(cells.get("language")) or "")
        or f"~{detect_unsupported_language_code(text)}"
    )


def _first_row_with_same_hash_by_row(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return for each row the number of the first one with the same hash."""
    import numpy as np

    if not len(hashes):
        return np.zeros(0, np.int64)
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    ordered = hashes[order]
    begins = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    first = np.empty(len(hashes), np.int64)
    # lexsort is stable: of equal ones, the first in the file comes first.
    first[order] = order[np.flatnonzero(begins)][np.cumsum(begins) - 1]
    return first


def read_and_check_corpus(
    path: Path,
    *,
    seed: int = 0,
    stratum_column: str = "",
    with_row_facts: bool = False,
    on_row: Callable[[], None] | None = None,
) -> Corpus:
    """Read a corpus once, in a stream, and check all of it.

    A DataError lists every problem with its lines, so that nothing is half taken; a UsageError for a column
    `stratum_column` that it doesn't have; a MissingPackageError where Parquet can't be read. `on_row` hears of each
    row. `with_row_facts` has facts about each document noted, their languages among them, which takes as long as
    reading them.
    """
    file = make_corpus_file_reader(path)
    reading = _CorpusReading(path, file, seed, stratum_column, heads=with_row_facts)
    for row in file.rows():
        reading.add_row_and_note_problems(row)
        if on_row is not None:
            on_row()
    return reading.build_checked_corpus()


def read_unchecked_corpus_documents(path: Path) -> Iterator[Document]:
    """Yield every document of a corpus in a stream; `read_and_check_corpus` it first."""
    for row in make_corpus_file_reader(path).rows():
        yield make_document_from_cells(row.cells)


def read_corpus_document(path: Path, document_name: str) -> Document:
    """Find the document of that name in a corpus, which may have other problems; a DataError without it."""
    for row in make_corpus_file_reader(path).rows():
        if row.cells.get("name") == document_name:
            if problems := list(find_row_problems_with_details(row.cells)):
                raise DataError(path, f"{problems[0][0]}.", document_name)
            return make_document_from_cells(row.cells)
    raise DataError(path, f"has no document '{clip(document_name)}'.")
