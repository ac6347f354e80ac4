"""Documents that a run is given as files, addresses or standard input, in place of names in a workspace.

Such a document is called after its company, its host or its file. The run keeps its text, so that nothing else is
needed to go on, to score and to report.
"""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from genaipa.errors import UsageError
from genaipa.policies.adding import LONGEST_NAME, STDIN, SUFFIXED, check_names, extract
from genaipa.policies.document import About, Document

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.policies.adding import Extracted

GIVEN = "given"
"""The layer of a document that a run was given."""
UNNAMED = "the company"
"""The company's name in questions about a document that doesn't tell it: "Does the company sell my data?"."""
_LONGEST = 30
"""Characters of a name that is made here."""
_MOST_WORDS = 4
"""Words of a title that may be a company's name."""
_GENERIC = frozenset(
    [
        "a",
        "about",
        "an",
        "and",
        "at",
        "cookie",
        "cookies",
        "data",
        "document",
        "download",
        "draft",
        "en",
        "final",
        "for",
        "from",
        "global",
        "home",
        "html",
        "index",
        "legal",
        "new",
        "notice",
        "of",
        "official",
        "on",
        "online",
        "page",
        "pdf",
        "policies",
        "policy",
        "privacy",
        "protection",
        "readme",
        "security",
        "statement",
        "terms",
        "text",
        "the",
        "to",
        "txt",
        "untitled",
        "updated",
        "use",
        "version",
        "website",
        "www",
    ]
)
"""Words of titles and file names that name no company."""
_SPEAKING = frozenset(["how", "i", "me", "my", "our", "us", "we", "what", "when", "who", "why", "you", "your"])
"""Words of a title that speaks to the reader, whose company name can't be found."""
_BETWEEN = re.compile(r"\s*[|\u2013\u2014:\u00b7\u00bb\u2022]\s*|\s+-\s+")


def is_source(name: str) -> bool:
    """Whether a word in place of a document's name means a file, an address or standard input."""
    if name == STDIN or "://" in name or "/" in name or "\\" in name:
        return True
    return Path(name).suffix.lower() in SUFFIXED or Path(name).is_file()


def read_given(source: str, company: str, is_taken: Callable[[str, str], bool]) -> Document:
    """The document of a file, an address or standard input.

    `company` comes from the title or the host where it is empty. `is_taken` (name, digest) is whether another text has
    a name; a number is added then. The errors of `extract`, and a UsageError for a company that can't be one.
    """
    extracted = extract(source)
    company = company.strip() or _company(extracted, source)
    wanted = _slug("" if company == UNNAMED else company) if _is_generic(source) else _slug(_stem(source))
    document = _document(extracted, wanted or "document", company)
    check_names(document.name, company)
    number = 2
    while is_taken(document.name, document.digest):
        document = _document(extracted, f"{wanted or 'document'}-{number}", company)
        number += 1
    return document


def described(document: Document) -> str:
    """The name that a given document has now, its size, and its company's name."""
    words, sections = len(document.text.split()), len(document.sections)
    return (
        f"{document.about.source} is '{document.name}': {words:,} words in {sections} section{'s' * (sections != 1)}. "
        f'Questions say "{document.company}" (else: --company)'
    )


def _document(extracted: Extracted, name: str, company: str) -> Document:
    about = About(
        company=company,
        title=extracted.title,
        source=extracted.source,
        date=extracted.date,
        extraction=extracted.extraction,
        language=extracted.language,
    )
    return Document(name, extracted.text, about, GIVEN)


def needs_company(document: Document) -> UsageError:
    """The error of asking by an unknown name."""
    return UsageError(
        f"{document.about.source} has no company's name in its title, and this experiment asks by that name: add "
        "--company NAME, or ask with the document alone: --experiment quality."
    )


def _company(extracted: Extracted, source: str) -> str:
    """The company by the title, or else by the host; `UNNAMED` where neither tells it."""
    for piece in _BETWEEN.split(extracted.title):
        words = piece.replace("\u2019", "'").split()
        if _SPEAKING & {_plain(word) for word in words}:
            continue
        while words and _plain(words[0]) in _GENERIC:
            words = words[1:]
        while words and _plain(words[-1]) in _GENERIC:
            words = words[:-1]
        name = " ".join(words).removesuffix("'s").strip(" ,.'\"()")
        called = not any(word[:1].islower() and _plain(word) not in _GENERIC for word in words)
        if words and called and len(words) <= _MOST_WORDS and name.isprintable() and re.search(r"[^\W\d_]", name):
            return name[:LONGEST_NAME]
    return _host(source).replace("-", " ").title() or UNNAMED


def _plain(word: str) -> str:
    return word.strip(",.;:!?()[]'\"").lower()


def _host(source: str) -> str:
    """The name in an address: example of https://www.example.co.uk/privacy; empty where there is none."""
    if "://" not in source:
        return ""
    labels = (urlsplit(source).hostname or "").split(".")[:-1]
    if len(labels) > 1 and labels[-1] in {"ac", "co", "com", "edu", "gov", "net", "org"}:
        labels = labels[:-1]
    return labels[-1] if labels and not labels[-1].isdigit() else ""


def _stem(source: str) -> str:
    """The word that a name is made of: the host, or the file's name without its ending."""
    return _host(source) if "://" in source else "" if source == STDIN else Path(source).stem


def _is_generic(source: str) -> bool:
    """Whether a file's name or an address names nobody: policy.md, privacy-notice.pdf."""
    return all(word in _GENERIC or word.isdigit() for word in re.split(r"[\W_]+", _stem(source).lower()) if word)


def _slug(text: str) -> str:
    """A text as the name of a document: small letters of English, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].strip("-")
