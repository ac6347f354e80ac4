"""A user's own document, from a file or the web: added to a workspace, or given to a run as it is.

A document that is given in place of a name in a workspace is called after its company, its host or its file. The run
keeps its text, so that nothing else is needed to go on, to score and to report.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import msgspec

from genaipa.errors import DataError, UnknownNameError, UsageError
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.strict_yaml import format_yaml
from genaipa.policies.companies import (
    LONGEST_NAME,
    UNNAMED,
    find_company_or_placeholder,
    is_generic_name,
    main_domain_label,
)
from genaipa.policies.document import GIVEN, About, Document, DocumentKind, load_document
from genaipa.policies.formats import STDIN, SUFFIXED, ExtractedDocument, extract_document
from genaipa.words import format_count
from genaipa.workspace import SUFFIXES, find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.workspace import WorkspaceLike


NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def check_document_and_company_name(name: str, company: str) -> None:
    """Raise a UsageError unless a document can have this name and its company that one."""
    if not name.strip():
        raise UsageError("the document name is blank; give a short name in lower case with --name.")
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a valid document name: use lower-case letters, digits, '.', '_' and '-', "
            "and begin with a letter or digit."
        )
    if len(name) > LONGEST_NAME:
        raise UsageError(f"the document name has {len(name)} characters; use at most {LONGEST_NAME}.")
    if not company.strip():
        raise UsageError("the company name is blank; give the name to use in questions with --company.")
    if len(company) > LONGEST_NAME or not company.isprintable():
        raise UsageError(f"the company name must be a single line of at most {LONGEST_NAME} characters.")


def add_document(
    source: str | Path,
    *,
    name: str,
    company: str,
    kind: DocumentKind = "policy",
    title: str = "",
    license: str = "",  # noqa: A002 - the word of the command's option
    force: bool = False,
    workspace: WorkspaceLike = None,
    tell: Callable[[str], object] = str,
) -> Document:
    """Add a document to the workspace: a file (text, Markdown, HTML, PDF, Word) or an address.

    `company` is its name in questions (of a regulation, its short name), `title` its full title, by default the one
    found in it; `force` replaces the document of that name. `tell` is called with what was kept of a page's tables and
    lists, what was left out or replaced, and what looks wrong: look whether `text` is whole. A UsageError for a name
    that can't be, or is taken, and where there is no workspace; a DataError for a file that can't be read.

    >>> with open("acme.txt", "w") as file:
    ...     _ = file.write("We keep your address for a year.")
    >>> genaipa.add_document("acme.txt", name="acme", company="Acme")
    <Document acme: 7 words in 0 sections>
    """
    target = find_workspace(workspace)
    if "workspace" not in dict(target.layers):
        raise UsageError(
            "documents can only be added to a workspace, and this folder is not in one; make one with: genaipa init DIR"
        )
    if kind not in get_args(DocumentKind):
        raise UnknownNameError("kind of document", kind, get_args(DocumentKind))
    check_document_and_company_name(name, company)
    extracted = extract_document(str(source))
    write_document_with_metadata(
        target.home / "policies",
        extracted,
        name=name,
        company=company,
        kind=kind,
        license=license,
        title=title,
        replace=force,
    )
    for note in filter(None, (extracted.held, *extracted.notes)):
        tell(note)
    return load_document(name, target)


def write_document_with_metadata(
    folder: Path,
    extracted: ExtractedDocument,
    *,
    name: str,
    company: str,
    kind: DocumentKind,
    license: str = "",  # noqa: A002 - the word of the file's key
    title: str = "",
    version_of: str = "",
    replace: bool = False,
) -> Path:
    """Write NAME.md or NAME.txt, and NAME.yaml beside it, into a folder; return the path of the text.

    A UsageError if a name is invalid, or is taken and `replace` is not set.
    """
    check_document_and_company_name(name, company)
    for option, text in (("title", title), ("license", license)):
        if text and not text.isprintable():
            raise UsageError(f"the {option} contains unprintable characters; give it as one line of text.")
    path = folder / f"{name}{'.md' if extracted.markdown else '.txt'}"
    metadata_path = folder / f"{name}.yaml"
    existing = [
        existing_path
        for existing_path in (*(folder / f"{name}{suffix}" for suffix in SUFFIXES["policies"]), metadata_path)
        if existing_path.exists()
    ]
    if existing and not replace:
        raise UsageError(f"{existing[0]} exists already; choose another name, or replace it with --force.")
    about = About(
        company=company.strip(),
        kind=kind,
        title=title.strip() or extracted.title,
        source=extracted.source.encode("utf-8", "backslashreplace").decode(),
        date=extracted.date,
        license=license,
        extraction=extracted.extraction,
        language=extracted.language,
        version_of=version_of,
    )
    about = msgspec.structs.replace(about, digest=Document(name, extracted.text, about).digest)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_files_together({path: extracted.text, metadata_path: format_yaml(about)})
        for existing_path in existing:
            if existing_path not in (path, metadata_path):
                existing_path.unlink()
    except OSError as error:
        raise DataError(path, f"can't be written ({error.strerror}).") from None
    return path


def _write_files_together(contents: dict[Path, str]) -> None:
    """Write all files before the first is replaced: a full disk leaves the old ones unchanged.

    After an interruption new files are removed again, since one of them alone is a document too.
    """
    fresh = [path for path in contents if not path.exists()]
    try:
        with contextlib.ExitStack() as files:
            for path, text in contents.items():
                file = files.enter_context(open_for_atomic_write(path))
                file.write(text.encode())
                file.flush()
    except BaseException:
        for path in fresh:
            path.unlink(missing_ok=True)
        raise


# --- Given to a run ------------------------------------------------------------------------------------------------

_LONGEST = 30
"""Characters of a name that is made here."""


def is_file_address_or_stdin(document_argument: str) -> bool:
    """Whether a word in place of a document's name means a file, an address or standard input."""
    if (
        document_argument == STDIN
        or "://" in document_argument
        or "/" in document_argument
        or "\\" in document_argument
    ):
        return True
    return Path(document_argument).suffix.lower() in SUFFIXED or Path(document_argument).is_file()


def read_given_document(
    source: str,
    company: str,
    is_name_taken_by_other_text: Callable[[str, str], bool],
    tell: Callable[[str], object] = str,
) -> Document:
    """Read the document of a file, an address or standard input.

    `company` comes from the title or the host where it is empty. `is_name_taken_by_other_text` (name, digest) is
    whether another text has a name; a number is added then. `tell` hears what was left out or replaced, and what looks
    wrong. The errors of `extract_document`, and a UsageError for a company that can't be one.
    """
    extracted = extract_document(source)
    for note in extracted.notes:
        tell(f"{extracted.source}: {note}.")
    company = company.strip() or find_company_or_placeholder(extracted.title, extracted.text, extracted.named, source)
    wanted = (
        _make_slug("" if company == UNNAMED else company)
        if is_generic_name(_domain_label_or_file_stem(source))
        else _make_slug(_domain_label_or_file_stem(source))
    )
    document = _make_given_document(extracted, wanted or "document", company)
    check_document_and_company_name(document.name, company)
    number = 2
    while is_name_taken_by_other_text(document.name, document.digest):
        document = _make_given_document(extracted, f"{wanted or 'document'}-{number}", company)
        number += 1
    return document


def describe_given_document(document: Document) -> str:
    """Describe a given document: its name, its size, and what questions call its company."""
    size = f"{format_count(document.words, 'word')} in {format_count(len(document.sections), 'section')}"
    hint = "to change it: --company NAME"
    if document.company == UNNAMED:
        hint = "its text has no company name from its title or address; give one with --company NAME"
    return (
        f"{document.about.source} is read as '{document.name}': {size}. "
        f'Questions call its company "{document.company}" ({hint})'
    )


def _make_given_document(extracted: ExtractedDocument, name: str, company: str) -> Document:
    about = About(
        company=company,
        title=extracted.title,
        source=extracted.source,
        date=extracted.date,
        extraction=extracted.extraction,
        language=extracted.language,
    )
    return Document(name, extracted.text, about, GIVEN)


def company_missing_error(document: Document) -> UsageError:
    """Return the error of asking by a company's name that nobody gave."""
    if document.layer != GIVEN:
        return UsageError(
            f"{document.name} has no metadata that names its company; add the line 'company: NAME' to "
            f"{document.name}.yaml next to it, or run an experiment that needs no company name: --experiment quality."
        )
    return UsageError(
        f"{document.about.source} has no company name in its title that also appears in its text, and this experiment "
        "needs one; add --company NAME, or run an experiment that needs none: --experiment quality."
    )


def _domain_label_or_file_stem(source: str) -> str:
    """Return the word to make a name of: the host, or the file's name without its ending."""
    return main_domain_label(source) if "://" in source else "" if source == STDIN else Path(source).stem


def _make_slug(text: str) -> str:
    """Turn a text into a document's name: small letters of English, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].strip("-")
