"""The text of a document as it comes: a file, a page of the web or standard input.

Text and Markdown stay unchanged; HTML (its main text) and Word become Markdown with tables and lists; lines of a PDF
are joined to paragraphs. Nothing in a document is executed, and nothing that it refers to is fetched.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import io
import logging
import re
import sys
import time
import zipfile
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from genaipa import __version__
from genaipa.errors import DataError, MissingPackageError, UsageError, clipped
from genaipa.languages.catalog import in_words, language_code, language_of
from genaipa.policies.document import LONGEST, too_long
from genaipa.policies.numbering import is_numbered
from genaipa.policies.pages import MOST_ELEMENTS, Page
from genaipa.policies.sections import find_headings

if TYPE_CHECKING:
    from collections.abc import Iterator


TIMEOUT = 30.0  # seconds, for a whole document
MAX_BYTES = 20_000_000  # of a document as it comes, from the web after decompression

Format = Literal["text", "Markdown", "HTML", "PDF", "Word"]
_SUFFIXES: dict[str, Format] = {
    ".txt": "text",
    ".md": "Markdown",
    ".markdown": "Markdown",
    ".html": "HTML",
    ".htm": "HTML",
    ".xhtml": "HTML",
    ".pdf": "PDF",
    ".docx": "Word",
    ".doc": "Word",
}
SUFFIXED = frozenset(_SUFFIXES)
"""Endings of files that can be documents."""
STDIN = "-"
"""The word for standard input."""
# None: the server doesn't know, and the suffix decides.
_CONTENT_TYPES: dict[str, Format | None] = {
    **dict.fromkeys(("", "application/octet-stream", "binary/octet-stream")),
    "text/plain": "text",
    "text/markdown": "Markdown",
    "text/html": "HTML",
    "application/xhtml+xml": "HTML",
    "application/pdf": "PDF",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/msword": "Word",
}


@dataclass(frozen=True)
class Extracted:
    """The text of a document and its origin.

    `extraction` names the method with the library's version, empty for an unchanged text; `date` is its day (ISO).
    `held` says which tables and lists of a page are in the text, empty if it has none. `language` is a page's by its
    attribute `lang`, unless the words are of another.
    """

    text: str
    title: str
    extraction: str
    source: str
    date: str
    markdown: bool = False
    held: str = ""
    language: str = ""


def extract(source: str, *, timeout: float = TIMEOUT) -> Extracted:
    """Extract the text of a file (a path), a page (an http or https URL) or standard input (`-`).

    A DataError if there is none.
    """
    if source == STDIN:
        raw = _piped()
        return _extracted(raw, "standard input", "Markdown" if re.match(rb"\s*#{1,2} ", raw) else None)
    scheme = re.match(r"([A-Za-z][\w+.-]+)://", source)
    if scheme is None:
        return _extracted(_read(Path(source).expanduser()), source, _SUFFIXES.get(Path(source).suffix.lower()))
    if scheme.group(1).lower() not in {"http", "https"}:
        raise DataError(_shown(source), "can't be read; give a file, or a URL that begins with http:// or https://.")
    raw, url, content_type = _fetch(source, timeout)
    media, _, parameters = content_type.partition(";")
    media = media.strip().lower()
    if media not in _CONTENT_TYPES:
        raise DataError(url, f"is {media}; a document is HTML, PDF, Word (.docx), Markdown or plain text.")
    charset = re.search(r"charset=\"?([\w.:-]+)", parameters)
    suffix = _SUFFIXES.get(Path(urlsplit(url).path).suffix.lower()) if media != "text/html" else None
    # Servers call Markdown plain text.
    form = suffix if suffix == "Markdown" else _CONTENT_TYPES[media] or suffix
    return _extracted(raw, url, form, charset.group(1) if charset else "")


# --- Bytes ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    if not path.exists():
        raise DataError(path, "doesn't exist.")
    if not path.is_file():
        raise DataError(path, "is not a file.")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise _too_large(path)
        return path.read_bytes()
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None


def _piped() -> bytes:
    """All of standard input; a UsageError where that is a keyboard, or more than a document may have."""
    if sys.stdin.isatty():
        raise UsageError("nothing is piped in; give the text by standard input: genaipa … < FILE")
    raw = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise _too_large("standard input")
    return raw


def _too_large(source: Path | str) -> DataError:
    return DataError(source, f"is larger than {MAX_BYTES // 1_000_000} MB; save its text to a file.")


def _fetch(url: str, timeout: float) -> tuple[bytes, str, str]:
    """Download a URL: the content, the URL after redirects, and the content type."""
    import httpx2

    too_slow = DataError(_shown(url), f"took longer than {timeout:g} s; try again, or save it to a file.")
    begin = time.monotonic()
    found = bytearray()
    agent = {"User-Agent": f"genaipa/{__version__}"}
    try:
        with httpx2.stream("GET", url, timeout=timeout, follow_redirects=True, headers=agent) as response:
            if not response.is_success:
                raise DataError(_shown(url), f"the server answered {response.status_code} {response.reason_phrase}.")
            for chunk in response.iter_bytes():
                found += chunk
                if len(found) > MAX_BYTES:
                    raise _too_large(_shown(url))
                if time.monotonic() - begin > timeout:
                    raise too_slow
            return bytes(found), _shown(str(response.url)), response.headers.get("content-type", "")
    except httpx2.TimeoutException:
        raise too_slow from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise DataError(_shown(url), f"can't be fetched ({_shown(str(error)) or type(error).__name__}).") from None


def _shown(text: str) -> str:
    """Remove users and passwords from the URLs in a text."""
    return re.sub(r"(?<=://)[^\s/?#]*@", "", text)


def _extracted(raw: bytes, source: str, form: Format | None, charset: str = "") -> Extracted:
    """Extract the text of these bytes; their format is detected if `form` is None."""
    if not raw.strip():
        raise DataError(source, "is empty.")
    if raw.startswith(b"{\\rtf"):
        raise DataError(source, "is rich text (RTF); save it as .docx, PDF or plain text.")
    form = "PDF" if raw.startswith(b"%PDF-") else form or _sniffed(raw)
    title = extraction = held = language = ""
    if form == "PDF":
        text, title, extraction = _pdf(raw, source)
    elif form == "Word":
        text, title, extraction, held = _word(raw, source)
    else:
        text = decoded(raw, source, charset or (declared(raw) if form == "HTML" else ""))
        if form == "HTML":
            text, title, extraction, held, language = _html(text, source)
        elif not text.strip():
            raise DataError(source, "is empty.")
        elif form == "Markdown":
            title = _first_heading(text)
    if len(text) > LONGEST:
        raise DataError(source, too_long(text))
    today = datetime.now().astimezone().date().isoformat()
    markdown = form in {"HTML", "Markdown", "Word"}
    return Extracted(text, title, extraction, source, today, markdown=markdown, held=held, language=language)


def _sniffed(raw: bytes) -> Format:
    if is_word(raw):
        return "Word"
    head = raw[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    html = re.match(rb"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html)", head, re.DOTALL)
    return "HTML" if html else "text"


def _version(name: str) -> str:
    return f"{name} {importlib.metadata.version(name)}"


def _first_heading(text: str) -> str:
    """The first heading of a Markdown text; empty if it is numbered, so no title."""
    heading = next((title for _, _, title in find_headings(text)), "")
    return "" if is_numbered(heading) else heading


# --- HTML, Word and PDF --------------------------------------------------------------------------------------------

_MIN_WORDS = 30


def _html(page: str, source: str) -> tuple[str, str, str, str, str]:
    """Convert a page: Markdown, title, method, which tables and lists are in the text, and its language if stated."""
    trafilatura = library("trafilatura", "HTML")
    if page.count("<") - page.count("</") > MOST_ELEMENTS:
        raise DataError(source, f"has more than {MOST_ELEMENTS:,} elements; save its text as a .txt file.")
    tree = trafilatura.load_html(page)
    stated = "" if tree is None else tree.get("lang") or tree.get("xml:lang") or ""
    text = trafilatura.extract(
        page,
        output_format="markdown",
        include_formatting=True,
        include_tables=True,
        include_links=False,
        include_comments=False,
        favor_recall=True,
    )
    whole, text = Page(tree) if tree is not None else None, (text or "").strip() + "\n"
    how = f"main text of HTML as Markdown, {_version('trafilatura')}"
    if whole and not whole.is_whole_in(text):
        text, how = whole.markdown(), f"all text of HTML but navigation as Markdown, {_version('lxml')}"
    # A page that a script would fill says little more than that it needs one.
    if not whole or len(text.split()) < _MIN_WORDS:
        raise DataError(source, "has no main text that can be found; save its text as a .txt file.")
    title = trafilatura.extract_metadata(page, extensive=False).title or ""
    language, doubt = _stated_language(stated, text)
    return text, title, how, "; ".join(filter(None, (str(whole.held(text)), doubt))), language


def _stated_language(stated: str, text: str) -> tuple[str, str]:
    """The language that a page states, and words on why it is not taken: templates say `en` of any text."""
    code, found = language_code(stated), language_of(text)
    if stated and not code:
        return "", f"the page's language '{clipped(stated, 20)}' is no code, such as de; its words decide"
    if code and found not in ("", code):
        return "", f"the page says that it is in {in_words(code)}, and its words are {in_words(found)}, which is taken"
    return code, ""


def _word(raw: bytes, source: str) -> tuple[str, str, str, str]:
    """Convert a Word document: Markdown, title, method, and which tables and lists are in the text."""
    mammoth = library("mammoth", "Word")
    html, numbered = as_page(raw, source, mammoth)
    page = Page(library("lxml.html", "Word").document_fromstring(html))
    text = page.markdown()
    if not text.strip():
        raise DataError(source, "has no text; save it as a .txt file.")
    held = str(page.held(text)).replace("in the page", "in the document")
    if numbered:
        lost = (
            f"the numbers of {numbered} heading{'s' * (numbered > 1)} are Word's own and not in the text: write them in"
        )
        held = f"{held}; {lost}" if held else lost
    return text, _first_heading(text), f"text of Word document as Markdown, {_version('mammoth')}", held


def _pdf(raw: bytes, source: str) -> tuple[str, str, str]:
    pypdf = library("pypdf", "PDF")
    try:
        with _unlogged("pypdf"):
            reader = pypdf.PdfReader(io.BytesIO(raw))
            # Many files are encrypted only to forbid printing; their password is empty.
            if reader.is_encrypted and not reader.decrypt(""):
                raise DataError(source, "is encrypted; save it without a password.")
            pages = list(_page_texts(reader, source))
            stated = (reader.metadata.title if reader.metadata else "") or ""
    except pypdf.errors.DependencyError:
        raise DataError(source, "is encrypted; save it without a password.") from None
    except (pypdf.errors.PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(source, f"is not a PDF that can be read ({error}).") from None
    # A broken font map gives half characters, which no file can hold.
    pages = [page.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for page in pages]
    text = paragraphs(pages)
    if not text.strip():
        raise DataError(source, "has no text, its pages may be pictures; run text recognition (OCR) on it first.")
    how = f"text of PDF with lines joined to paragraphs, {_version('pypdf')}"
    return text, pdf_title(stated, pages), how


def _page_texts(reader: Any, source: str) -> Iterator[str]:
    """The text of each page; a DataError where pages come to more than a document has, as often as one is repeated."""
    drawn = said = 0
    for page in reader.pages:
        content = page.get_contents()
        drawn += 0 if content is None else len(content.get_data())
        if drawn > MOST_BYTES:
            raise DataError(
                source, f"has more than {MOST_BYTES // 1_000_000} MB of pages; save its text as a .txt file."
            )
        text = page.extract_text()
        said += len(text)
        if said > LONGEST:
            raise DataError(source, f"has more than {LONGEST:,} characters; save a part of it as a .txt file.")
        yield text


@contextlib.contextmanager
def _unlogged(name: str) -> Iterator[None]:
    """Silence a library's log: its errors are ours to report."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def library(name: str, what: str) -> Any:
    """Import an optional module; a MissingPackageError names the extra if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackageError(
            f"reading {what} needs the package '{name}': pip install 'genaipa[documents]'"
        ) from None


def declared(raw: bytes) -> str:
    """Encoding that an HTML page declares; never UTF-16, in which the declaration could not be read."""
    found = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?([\w.:-]+)", raw[:4096], re.IGNORECASE)
    named = found.group(1).decode("ascii", "ignore").lower() if found else ""
    return "" if named.startswith("utf-16") else named


# The web calls Latin-1 what has Windows' quotation marks in it.
_MEANT = {"iso-8859-1": "cp1252", "latin-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252"}
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def decoded(raw: bytes, source: str, charset: str) -> str:
    """Decode bytes; `charset` is the declared encoding or empty. A DataError if no encoding is certain enough."""
    marked = next((encoding for mark, encoding in _MARKS.items() if raw.startswith(mark)), "")
    for encoding in [marked] if marked else [_MEANT.get(charset.lower(), charset), "utf-8"]:
        try:
            text = raw.decode(encoding) if encoding else "\0"
        except (UnicodeError, LookupError):
            continue
        if "\0" not in text:
            return text
    if b"\0" in raw or marked:
        raise DataError(source, "is a binary file; a document is HTML, PDF, Word (.docx), Markdown or plain text.")
    guesses = list(library("charset_normalizer", "text that is not UTF-8").from_bytes(raw))
    if not guesses or not _confident(guesses):
        raise DataError(source, "has an unknown encoding; save it as UTF-8.")
    return str(guesses[0])


def _confident(guesses: list[Any]) -> bool:
    """Whether the best guess gives words of a language (coherence) with fewer odd characters (chaos) than others."""
    best, *others = guesses
    return (
        best.chaos <= 0.05  # noqa: PLR2004 - shares from 0 to 1, measured on policies in six languages
        and best.coherence >= 0.4  # noqa: PLR2004
        and not any(other.chaos <= best.chaos and other.coherence >= best.coherence for other in others)
    )


# --- The parts of Word and PDF -------------------------------------------------------------------------------------

MOST_BYTES = 20_000_000
"""Unpacked text and markup of a file at most; pictures are not read."""

MOST_IN_WORD = 200_000
"""Elements of a Word document at most, which takes several for a few words."""
# Whatever they are called: the prefix of a name is the file's own.
_ELEMENTS = re.compile(rb"<[^/?!]")

TEXT = "word/document.xml"
# Word's title of a whole document is a paragraph style, which is no heading to the library.
_STYLES = "p[style-name='Title'] => h1:fresh"


def is_word(raw: bytes) -> bool:
    """Whether these bytes are a Word document, by their list of files."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return TEXT in archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return False


def as_page(raw: bytes, source: str, mammoth: Any) -> tuple[str, int]:
    """Convert to HTML with the library `mammoth`, and count the headings whose numbers only Word generates.

    A DataError for anything that can't be read.
    """
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(source, "is an old Word document or one with a password; save it as .docx without a password.")
    if not is_word(raw):
        raise DataError(source, "is not a Word document that can be read.")
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        read = [member for member in archive.infolist() if member.filename.endswith((".xml", ".rels"))]
        if sum(member.file_size for member in read) > MOST_BYTES:
            raise DataError(source, f"holds more than {MOST_BYTES // 1_000_000} MB of text; save it as a .txt file.")
        # The library needs minutes and gigabytes for a few kilobytes of packed paragraphs.
        if sum(len(_ELEMENTS.findall(archive.read(member))) for member in read) > MOST_IN_WORD:
            raise DataError(source, f"has more than {MOST_IN_WORD:,} elements; save it as a .txt file.")
    numbered: list[Any] = []

    def note(paragraph: Any) -> Any:
        heading = re.match(r"heading \d", paragraph.style_name or "", re.IGNORECASE)
        if heading and paragraph.numbering is not None and paragraph.numbering.is_ordered:
            numbered.append(paragraph)
        return paragraph

    try:
        found = mammoth.convert_to_html(
            io.BytesIO(raw),
            style_map=_STYLES,
            convert_image=lambda _image: [],
            transform_document=mammoth.transforms.paragraph(note),
            include_embedded_style_map=False,
        )
    except Exception as error:
        # A broken file can make the library and its parser raise anything.
        raise DataError(source, f"is not a Word document that can be read ({type(error).__name__}).") from error
    return f"<html><body>{found.value}</body></html>", len(numbered)


_ITEM = re.compile(r"[-*•▪◦●\u2013—]\s|\(?(?:\d{1,2}|[a-z]|[ivx]+)[.)]\s")
_SHORT = 40  # characters that no full line has less of
_PAGE_NUMBER = re.compile(r"(?:page\s+)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?", re.IGNORECASE)
_LONGEST_TITLE = 100  # characters
_FILE = re.compile(r"\.[A-Za-z]\w{1,4}$")


def paragraphs(pages: list[str]) -> str:
    """Join the lines of pages to paragraphs, without page numbers and running titles.

    A line continues the one before if that one is full, or if it begins in lower case.
    """
    lines = _without_furniture([[line.strip() for line in page.strip().split("\n")] for page in pages])
    lengths = sorted(len(line) for line in lines if line)
    # Most lines of running text are nearly as long as the longest ones.
    full = max(_SHORT, 0.75 * lengths[int(0.9 * (len(lengths) - 1))]) if lengths else _SHORT
    words = set(re.findall(r"\w+", " ".join(lines).lower()))
    found: list[str] = []
    last = ""
    for line in lines:
        if line and last and _goes_on(last, line, full):
            # Piece by piece: a paragraph may be as long as the document.
            found[-1], between = _ended(found[-1], line, words)
            found += (between, line)
        elif line:
            found += ("\n\n", line)
        last = line
    return "".join(found[1:]) + "\n" if found else ""


def _goes_on(last: str, line: str, full: float) -> bool:
    if _ITEM.match(line) or (is_numbered(line) and not line.endswith((".", ",", ";")) and len(line) < full):
        return False
    ended = last.endswith((".", "!", "?", ":", ";"))
    heading = is_numbered(last) and len(last) < full and not ended
    if line[0].islower():
        return not heading or last.endswith(("-", ","))
    return len(last) >= full and not (ended and len(line) < full)


def _ended(before: str, line: str, words: set[str]) -> tuple[str, str]:
    """A line that another one goes on, and what is between them: a word that was hyphenated becomes one again.

    It does so if the document has it in one elsewhere.
    """
    broken = re.search(r"(\w+)[-\u00ad]$", before)
    if not broken or not line[0].islower():
        return before, " "
    rest = re.match(r"\w+", line)
    whole = (broken.group(1) + rest.group()).lower() if rest else ""
    return (before[:-1] if before.endswith("\u00ad") or whole in words else before), ""


def _without_furniture(pages: list[list[str]]) -> list[str]:
    """Drop page numbers, and first and last lines that most pages share."""
    edges = Counter(_edge(line) for page in pages for line in {page[0], page[-1]} if line)
    often = max(3, len(pages) / 2)
    found: list[str] = []
    for page in pages:
        kept = list(page)
        for i in (-1, 0):
            if kept and (_PAGE_NUMBER.fullmatch(kept[i]) or edges[_edge(kept[i])] >= often):
                kept.pop(i)
        found += kept
    return found


def _edge(line: str) -> str:
    """A running title without the number of its page."""
    return re.sub(r"\d+", "0", line)


def pdf_title(stated: str, pages: list[str]) -> str:
    """Title in the metadata unless it is a file's name; else the first line, if it looks like a title."""
    stated = " ".join(stated.split())
    if stated and not re.match(r"untitled\b|Microsoft \w+ - ", stated, re.IGNORECASE) and not _FILE.search(stated):
        return stated
    first, second = ([line.strip() for page in pages for line in page.split("\n") if line.strip()] + ["", ""])[:2]
    looks_like_one = re.fullmatch(r"[A-Z][^\d]*[^\d.,:;!?-]", first) and len(first) <= _LONGEST_TITLE
    return first if looks_like_one and not is_numbered(first) and not second[:1].islower() else ""
