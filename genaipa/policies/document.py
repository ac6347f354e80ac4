"""A document: a privacy policy of a company, or a data-protection regulation.

It is a text file `policies/NAME.md` or `policies/NAME.txt`, with metadata in `policies/NAME.yaml`. Without metadata its
company is its name. Rules on silence, citations and reading levels are made for English alone. A system is given a long
document in parts (paper, section 3 and Appendix A).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.errors import DataError, UnknownNameError, clip
from genaipa.files.html import format_one_line_repr, html_table
from genaipa.files.limits import POLICY
from genaipa.files.strict_yaml import read_yaml
from genaipa.files.text import read_text
from genaipa.languages.catalog import ENGLISH, detect_language_code_or_empty, language_code_or_empty
from genaipa.languages.detection import detect_unsupported_language_code
from genaipa.policies.clauses import find_numbered_clauses
from genaipa.policies.companies import name_as_company_or_placeholder
from genaipa.policies.search import count_words
from genaipa.policies.sections import Section, find_sections
from genaipa.words import format_count
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from genaipa.workspace import Workspace, WorkspaceLike


DocumentKind = Literal["policy", "regulation"]


class About(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Metadata of a document, `policies/NAME.yaml`.

    `company` replaces the placeholder in questions (for a regulation, its short name). `part_sets` are published
    segmentations: for each, the offsets in the text (in characters) at which parts 1, 2, … begin. `groups` are the
    document's groups by their kind (`sector: shop`), `also` the names of a corpus's documents with this very text.
    `version_of` is the name that all versions of a document share; the `date` tells them apart.
    """

    company: str
    kind: DocumentKind = "policy"
    title: str = ""
    source: str = ""
    date: str = ""
    license: str = ""
    extraction: str = ""
    digest: str = ""
    part_sets: dict[str, tuple[int, ...]] = {}
    language: str = ""
    groups: dict[str, str] = {}
    also: tuple[str, ...] = ()
    version_of: str = ""


@dataclass(frozen=True, repr=False)
class Document:
    """A document as given to a system. `digest` is the SHA-256 of its text in UTF-8."""

    name: str
    text: str
    about: About
    layer: str = ""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hashlib.sha256(self.text.encode()).hexdigest())

    def __repr__(self) -> str:
        return format_one_line_repr(
            "Document",
            self.name,
            f"{format_count(self.words, 'word')} in {format_count(len(self.sections), 'section')}",
        )

    def _repr_html_(self) -> str:
        facts = {
            "title": self.about.title,
            "company": self.company,
            "kind": self.kind,
            "words": f"{self.words:,}",
            "sections": f"{len(self.sections):,}",
            "source": self.about.source,
        }
        return html_table(self.name, ((name, fact) for name, fact in facts.items() if fact))

    @property
    def company(self) -> str:
        """Name that replaces the placeholder in questions."""
        return self.about.company

    @property
    def kind(self) -> DocumentKind:
        """Kind of questions that can be asked about it."""
        return self.about.kind

    @cached_property
    def language(self) -> str:
        """Code of its language, as its metadata state it or found from its words; empty where these tell none."""
        return detect_language_code_or_empty(self.text, self.about.language)

    @cached_property
    def likely_unsupported_language_code(self) -> str:
        """Code of the language without rules that it seems to be in; empty if none."""
        return detect_unsupported_language_code(self.text)

    @cached_property
    def words(self) -> int:
        """The number of its words."""
        return count_words(self.text)

    @property
    def english(self) -> bool:
        """Whether the rules for English texts apply."""
        return self.language == ENGLISH.code

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """Sections in the order of the text, recognised from headings and numbering."""
        return find_sections(self.text)

    @cached_property
    def citable_sections(self) -> tuple[Section, ...]:
        """Sections and the numbered clauses inside them: all that a citation can name."""
        clauses = find_numbered_clauses(self.text, self.sections)
        return tuple(sorted((*self.sections, *clauses), key=lambda one: one.start)) if clauses else self.sections

    def part(self, part_set: str, number: int) -> tuple[int, int] | None:
        """Start and end (characters) of the n-th part, from 1, of a published segmentation; None if there is none."""
        parts = self.parts(part_set)
        return parts[number - 1] if 1 <= number <= len(parts) else None

    def parts(self, part_set: str) -> list[tuple[int, int]]:
        """Start and end (characters) of each part of a published segmentation; empty if there is none."""
        starts = self.about.part_sets.get(part_set, ())
        return list(zip(starts, (*starts[1:], len(self.text)), strict=True)) if starts else []


_DAY = re.compile(r"\d{4}-\d\d-\d\d")
GIVEN = "given"
"""The layer of a document that a run was given."""
LONGEST = 2_000_000
"""Characters that a document may have: ten times as many as the longest law that is asked about."""


def message_for_too_long_text(too_long_text: str) -> str:
    """Message for a text of more than `LONGEST` characters."""
    return (
        f"has {len(too_long_text):,} characters; at most {LONGEST:,} are allowed. Remove the parts that no "
        "question is about."
    )


def read_checked_document_text(path: Path) -> str:
    """Read a document's text; a DataError if the file is not text, empty or too long."""
    text = read_text(path, POLICY)
    if not text.strip():
        raise DataError(path, "is empty; a document needs text.")
    if len(text) > LONGEST:
        raise DataError(path, message_for_too_long_text(text))
    return text


def document_layers_and_paths_by_name(workspace: Workspace) -> dict[str, tuple[str, Path]]:
    """Name → (layer, text file) of every document; those held in memory have the workspace's folder for a file."""
    return workspace.nearest_files("policies") | dict.fromkeys(workspace.held, ("corpus", workspace.home))


def list_documents(workspace: WorkspaceLike = None) -> list[str]:
    """List the names of the documents that can be used now.

    >>> genaipa.list_documents()
    ['brindlecart', 'brindlecart-de', 'brindlecart-fr', 'vpda']
    """
    return list(document_layers_and_paths_by_name(find_workspace(workspace)))


def load_document(name: str, workspace: WorkspaceLike = None) -> Document:
    """Load and check a document by its name: a privacy policy or a regulation.

    An UnknownNameError for a name that no document has, a DataError for a file that can't be used.

    >>> policy = genaipa.load_document("brindlecart")
    >>> policy.company, policy.kind, len(policy.sections)
    ('Brindlecart', 'policy', 70)
    """
    source = find_workspace(workspace)
    if isinstance(held := source.held.get(name), Document):
        return held
    files = source.nearest_files("policies")
    if name not in files:
        raise UnknownNameError("policy", name, files)
    layer, path = files[name]
    text = read_checked_document_text(path)
    beside = path.with_suffix(".yaml")
    if not beside.is_file():
        return Document(name=name, text=text, about=About(company=name_as_company_or_placeholder(name)), layer=layer)
    document = Document(name=name, text=text, about=read_yaml(beside, About), layer=layer)
    for error in metadata_problems(path, document):
        raise error
    return document


def metadata_problems(text_path: Path, document: Document) -> Iterator[DataError]:
    """Yield every problem of a document's metadata; `text_path` is its text file."""
    beside = text_path.with_suffix(".yaml")
    if document.about.digest and document.about.digest != document.digest:
        yield DataError(
            text_path,
            f"has changed since it was added (its digest differs from that in {beside.name}); "
            "add it again under another name or, if the change is intended, remove the line 'digest'.",
        )
    if not document.company.strip():
        yield DataError(beside, "is blank; give the company name to use in questions.", "company")
    if (stated := document.about.language) and not language_code_or_empty(stated):
        yield DataError(beside, f"'{clip(stated)}' is not a language code; write one such as de or pt-BR.", "language")
    if document.about.version_of == document.name:
        yield DataError(beside, "is the document's own name; give the name that all its versions share.", "version_of")
    if document.about.version_of and not _DAY.fullmatch(date := document.about.date):
        yield DataError(beside, f"'{clip(date)}' is not a date (YYYY-MM-DD); versions are told apart by date.", "date")
    for part_set, starts in document.about.part_sets.items():
        within = not starts or 0 <= starts[0] <= starts[-1] < len(document.text)
        if list(starts) != sorted(set(starts)) or not within:
            yield DataError(beside, "the offsets must increase and lie within the text.", f"part_sets.{part_set}")


# Coarse to fine: a chapter, a section, a paragraph, a line, a sentence, a clause, a word. A finer border is used only
# where the coarser ones leave a piece too long, so a sentence is cut only when it alone exceeds a part.
_BORDERS = [
    r"(?=\n#{1,2} )",
    r"(?=\n#{3,6} )",
    r"\n\n+",
    r"\n",
    r"(?<=[.!?;][\"\u201d\u2019)\]]) +",
    r"(?<=[.!?;]) +",
    r"(?<=[,:]) ",
    r" ",
    "",
]


def split_by_token_limit(document: Document, token_limit: int, count_tokens: Callable[[str], int]) -> list[str]:
    """Split the text into parts of at most `token_limit` tokens, as `count_tokens` counts.

    Joined, they are the document.

    A document that fits in one part stays whole. Blanks without room in a part stay with the text around them.
    """
    text = document.text
    if count_tokens(text) <= token_limit:
        return [text]
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(
        separators=_BORDERS,
        is_separator_regex=True,
        keep_separator="end",
        chunk_size=token_limit,
        chunk_overlap=0,
        length_function=count_tokens,
        strip_whitespace=False,
    )
    parts: list[str] = []
    for piece in splitter.split_text(text):
        if parts and not (piece.strip() and parts[-1].strip()):
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts


def is_english(text: str, stated_language: str = "") -> bool:
    """Say whether a text is in English: as its metadata state, else by its function words; short ones count as such."""
    return detect_language_code_or_empty(text, stated_language) == ENGLISH.code
