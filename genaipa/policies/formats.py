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
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from genaipa.errors import DataError, MissingPackageError, UsageError, clip
from genaipa.files.certificates import explain_refused_certificate_or_empty
from genaipa.files.limits import (
    DOCUMENT,
    PAGE,
    PDF,
    WORD,
    ReadingAllowance,
    check_html_attribute_count,
    count_xml_attributes,
    count_xml_elements,
    limit_reading,
)
from genaipa.files.stamps import local_today
from genaipa.files.text import DAMAGE, split_url_or_empty
from genaipa.languages.catalog import LANGUAGES, detect_language_code_or_empty, language_code_or_empty, language_name
from genaipa.languages.detection import detect_unsupported_language_code
from genaipa.policies.document import LONGEST, message_for_too_long_text
from genaipa.policies.encodings import decode_text, find_declared_html_encoding
from genaipa.policies.extraction_warnings import extraction_warning_or_empty
from genaipa.policies.hidden_parts import HiddenParts
from genaipa.policies.numbering import begins_like_numbered_heading
from genaipa.policies.pages import HtmlPage
from genaipa.policies.pdf_text import extract_pdf_page_text, join_pdf_pages_to_paragraphs, pdf_title_or_empty
from genaipa.policies.search import HALF, count_words, replace_ligatures
from genaipa.policies.sections import list_heading_levels_lines_and_titles

if TYPE_CHECKING:
    from collections.abc import Iterator


TIMEOUT = 30.0  # seconds, for a whole document

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
class ExtractedDocument:
    """The text of a document and its origin.

    `extraction` names the method with the library's version, empty for an unchanged text; `date` is its day (ISO).
    `held` says which tables and lists of a page are in the text, empty if it has none. `language` is a page's by its
    attribute `lang`, unless the words are of another. `notes` say what was left out or replaced, and what looks wrong.
    `named` is what a page calls its site and itself, and its own address.
    """

    text: str
    title: str
    extraction: str
    source: str
    date: str
    markdown: bool = False
    held: str = ""
    language: str = ""
    notes: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


def extract_document(source: str, *, timeout_seconds: float = TIMEOUT) -> ExtractedDocument:
    """Extract the text of a file (a path), a page (an http or https URL) or standard input (`-`).

    A DataError if there is none.
    """
    if source == STDIN:
        raw = _read_standard_input()
        return _extract_document_from_bytes(
            raw, "standard input", "Markdown" if re.match(rb"\s*#{1,2} ", raw) else None
        )
    scheme = re.match(r"([A-Za-z][\w+.-]+)://", source)
    if scheme is None:
        return _extract_document_from_bytes(
            _read_document_file(Path(source).expanduser()), source, _SUFFIXES.get(Path(source).suffix.lower())
        )
    if scheme.group(1).lower() not in {"http", "https"}:
        raise DataError(
            _strip_credentials(source), "can't be read; give a file, or a URL that begins with http:// or https://."
        )
    raw, url, content_type = _download_content_with_url_and_type(source, timeout_seconds)
    media, _, parameters = content_type.partition(";")
    media = media.strip().lower()
    if media not in _CONTENT_TYPES:
        raise DataError(url, f"is {media}; a document must be HTML, PDF, Word (.docx), Markdown or plain text.")
    charset = re.search(r"charset=\"?([\w.:-]+)", parameters)
    suffix = _SUFFIXES.get(Path(split_url_or_empty(url).path).suffix.lower()) if media != "text/html" else None
    # Servers call Markdown plain text.
    form = suffix if suffix == "Markdown" else _CONTENT_TYPES[media] or suffix
    extracted = _extract_document_from_bytes(raw, url, form, charset.group(1) if charset else "")
    return replace(extracted, notes=tuple(filter(None, (_host_redirect_note_or_empty(source, url), *extracted.notes))))


# --- Bytes ---------------------------------------------------------------------------------------------------------


def _read_document_file(path: Path) -> bytes:
    if not path.exists():
        raise DataError(path, "the file does not exist.")
    if not path.is_file():
        raise DataError(path, "is not a file.")
    with limit_reading(DOCUMENT, path) as allowance:
        allowance.check_size(path.stat().st_size)
        return path.read_bytes()


def _read_standard_input() -> bytes:
    """All of standard input; a UsageError where that is a keyboard, or more than a document may have."""
    if sys.stdin.isatty():
        raise UsageError("standard input is empty; pipe the text in: genaipa … < FILE")
    raw = sys.stdin.buffer.read(DOCUMENT.size + 1)
    ReadingAllowance("standard input", DOCUMENT).check_size(len(raw))
    return raw


def _download_content_with_url_and_type(url: str, timeout_seconds: float) -> tuple[bytes, str, str]:
    """Download a URL: the content, the URL after redirects, and the content type."""
    import httpx2

    from genaipa.files.download import Downloads
    from genaipa.files.responses import TooLargeError

    allowance = ReadingAllowance(_strip_credentials(url), DOCUMENT)
    try:
        with Downloads() as downloads:
            answer = downloads.get(url, seconds=timeout_seconds, max_bytes=DOCUMENT.size)
    except httpx2.TimeoutException:
        raise DataError(
            _strip_credentials(url),
            f"took longer than {timeout_seconds:g} s to load; try again, or save it and give the file.",
        ) from None
    except TooLargeError:
        raise allowance.oversize_error() from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        if refused := explain_refused_certificate_or_empty(error, split_url_or_empty(url).hostname or ""):
            raise DataError(_strip_credentials(url), f"can't be fetched: {refused}.") from None
        raise DataError(
            _strip_credentials(url), f"can't be fetched ({_strip_credentials(str(error)) or type(error).__name__})."
        ) from None
    if not 200 <= answer.status < 300:  # noqa: PLR2004 - success
        raise DataError(_strip_credentials(url), f"the server answered {answer.status} {answer.reason}.")
    return answer.content, _strip_credentials(answer.url), answer.content_type


def _host_redirect_note_or_empty(url: str, final_url: str) -> str:
    """Say that a URL redirects to another host; empty where it doesn't, or the hosts differ by their `www.` alone."""
    first_host, last_host = (
        split_url_or_empty(_strip_credentials(address)).netloc.lower() for address in (url, final_url)
    )
    alike = first_host.removeprefix("www.") == last_host.removeprefix("www.")
    return "" if alike else f"{first_host} redirects to {last_host}; the text comes from there"


def _strip_credentials(text: str) -> str:
    """Remove users and passwords from the URLs in a text."""
    return re.sub(r"(?<=://)[^\s/?#]*@", "", text)


def _extract_document_from_bytes(raw: bytes, source: str, form: Format | None, charset: str = "") -> ExtractedDocument:
    """Extract the text of these bytes; their format is detected if `form` is None."""
    if not raw.strip():
        raise DataError(source, "is empty.")
    if raw.startswith(b"{\\rtf"):
        raise DataError(source, "is rich text (RTF); save it as .docx, PDF or plain text.")
    form = "PDF" if raw.startswith(b"%PDF-") else form or _sniff_format(raw)
    notes: list[str] = []
    if form == "PDF":
        document = _extract_pdf(raw, source)
    elif form == "Word":
        document = _extract_word(raw, source)
    else:
        stated = charset or (find_declared_html_encoding(raw) if form == "HTML" else "")
        text, notes = decode_text(raw, source, stated, import_library)
        if form == "HTML":
            document = _extract_html(text, source)
        elif not text.strip():
            raise DataError(source, "is empty.")
        elif _is_json_object_or_list(text):
            raise DataError(source, "is JSON data, not a document; save the document's text as a .txt file.")
        else:
            title = _title_from_unnumbered_first_heading(text) if form == "Markdown" else ""
            document = ExtractedDocument(text, title, "", source, local_today(), markdown=form == "Markdown")
    if len(document.text) > LONGEST:
        raise DataError(source, message_for_too_long_text(document.text))
    return replace(
        document, notes=tuple(filter(None, (*notes, *document.notes, extraction_warning_or_empty(document.text))))
    )


def _is_json_object_or_list(text: str) -> bool:
    """Tell whether a text is an object or a list of JSON."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw] | list[msgspec.Raw])
    except DAMAGE:
        return False
    return True


def _sniff_format(raw: bytes) -> Format:
    if is_word_document(raw):
        return "Word"
    head = raw[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    html = re.match(rb"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html)", head, re.DOTALL)
    return "HTML" if html else "text"


def _package_with_version(package_name: str) -> str:
    return f"{package_name} {importlib.metadata.version(package_name)}"


def _title_from_unnumbered_first_heading(text: str) -> str:
    """Return the first heading of a Markdown text; empty if it is numbered, so no title."""
    heading = next((title for _, _, title in list_heading_levels_lines_and_titles(text)), "")
    return "" if begins_like_numbered_heading(heading) else heading


# --- HTML, Word and PDF --------------------------------------------------------------------------------------------

_MIN_WORDS = 30
_LONGEST_NAME = 300  # characters of what a page calls itself


def _extract_html(html: str, source: str) -> ExtractedDocument:
    """Convert a page to Markdown."""
    trafilatura = import_library("trafilatura", "HTML")
    with limit_reading(PAGE, source) as allowance:
        allowance.add_elements_within_limit(html.count("<") - html.count("</"))
        check_html_attribute_count(html, allowance)
        return _extract_html_with_trafilatura(html, source, trafilatura)


def _extract_html_with_trafilatura(html: str, source: str, trafilatura: Any) -> ExtractedDocument:
    tree = trafilatura.load_html(html)
    stated = "" if tree is None else tree.get("lang") or tree.get("xml:lang") or ""
    hidden = HiddenParts(tree) if tree is not None else None
    if hidden and hidden.changed:
        html = import_library("lxml.html", "HTML").tostring(tree, encoding="unicode")
    text = trafilatura.extract(
        html,
        output_format="markdown",
        include_formatting=True,
        include_tables=True,
        include_links=False,
        include_comments=False,
        favor_recall=True,
    )
    names = _page_names_and_addresses(tree) if tree is not None else ()
    whole, text = HtmlPage(tree) if tree is not None else None, (text or "").strip() + "\n"
    method = f"main text of a web page, as Markdown, {_package_with_version('trafilatura')}"
    if whole and not (
        whole.is_structure_kept_in_text(text) and hidden and hidden.has_all_hidden_parts(text, whole.markdown)
    ):
        text, method = (
            whole.markdown(),
            f"all text of a web page except navigation, as Markdown, {_package_with_version('lxml')}",
        )
    # A page that a script would fill says little more than that it needs one.
    if not whole or count_words(text, HALF) < _MIN_WORDS:
        raise DataError(source, "has no recognizable main text; save its text as a .txt file.")
    title = trafilatura.extract_metadata(html, extensive=False).title or ""
    language, doubt = _stated_language_code_or_note_if_ignored(stated, text)
    return ExtractedDocument(
        text,
        title,
        method,
        source,
        local_today(),
        markdown=True,
        held=str(whole.count_structures_and_lost_in_text(text)),
        language=language,
        notes=(*(hidden.iterate_notes_on_hidden_parts(text) if hidden else ()), doubt),
        named=names,
    )


_NAMED = (
    "//meta[@property='og:site_name']/@content",
    "//meta[@name='application-name']/@content",
    "//meta[@name='apple-mobile-web-app-title']/@content",
    "//head/title/text()",
    "//link[@rel='canonical']/@href",
    "//meta[@property='og:url']/@content",
)


def _page_names_and_addresses(tree: Any) -> tuple[str, ...]:
    """Return the names that a page has for its site and itself, and its own address."""
    names = (" ".join(str(value).split()) for path in _NAMED for value in tree.xpath(path)[:1])
    return tuple(value for value in names if value and len(value) <= _LONGEST_NAME)


def _stated_language_code_or_note_if_ignored(stated_language: str, text: str) -> tuple[str, str]:
    """Return the language that a page states, or a note on why it is ignored: templates state `en` for any text."""
    code, detected = language_code_or_empty(stated_language), detect_language_code_or_empty(text)
    if stated_language and not code:
        ignored = clip(stated_language, 20)
        return "", f"the page's language '{ignored}' is not a language code; the language is detected from the text"
    if code and detected not in ("", code):
        return (
            "",
            f"the page claims to be in {language_name(code)}, but its text is in {language_name(detected)}",
        )
    if code in LANGUAGES and not detected and (seems := detect_unsupported_language_code(text)):
        return "", f"the page claims to be in {language_name(code)}, but its text seems to be in {language_name(seems)}"
    return code, ""


def _extract_word(raw: bytes, source: str) -> ExtractedDocument:
    """Convert a Word document to Markdown."""
    mammoth = import_library("mammoth", "Word")
    with limit_reading(WORD, source) as allowance:
        html, numbered = _word_html_and_numbered_heading_count(raw, mammoth, allowance)
        return _extract_word_html(html, numbered, source)


def _extract_word_html(html: str, numbered_heading_count: int, source: str) -> ExtractedDocument:
    page = HtmlPage(import_library("lxml.html", "Word").document_fromstring(html))
    text = page.markdown()
    if not text.strip():
        raise DataError(source, "has no text; save it as a .txt file.")
    held = str(page.count_structures_and_lost_in_text(text)).replace("in the page", "in the document")
    if numbered_heading_count:
        lost = (
            f"Word generates the numbers of {numbered_heading_count} heading{'s' * (numbered_heading_count > 1)}; type "
            "them into the text"
        )
        held = f"{held}; {lost}" if held else lost
    method = f"text of a Word document as Markdown, {_package_with_version('mammoth')}"
    return ExtractedDocument(
        text, _title_from_unnumbered_first_heading(text), method, source, local_today(), markdown=True, held=held
    )


def _extract_pdf(raw: bytes, source: str) -> ExtractedDocument:
    pypdf = import_library("pypdf", "PDF")
    try:
        with limit_reading(PDF, source) as allowance, _silence_library_log("pypdf"):
            reader = pypdf.PdfReader(io.BytesIO(raw))
            _unlock_pdf_or_raise(reader, source)
            pages = list(_iterate_pdf_page_texts(reader, source, allowance))
            stated = (reader.metadata.title if reader.metadata else "") or ""
            return _extract_pdf_pages(pages, str(stated), source)
    except DataError as error:
        if isinstance(error.__cause__, pypdf.errors.DependencyError):
            raise DataError(source, _ENCRYPTED) from None
        raise


_ENCRYPTED = "is encrypted; save it without a password."


def _unlock_pdf_or_raise(reader: Any, source_for_errors: str) -> None:
    # Many files are encrypted only to forbid printing; their password is empty.
    if reader.is_encrypted and not reader.decrypt(""):
        raise DataError(source_for_errors, _ENCRYPTED)


def _extract_pdf_pages(pages: list[str], stated_title: str, source: str) -> ExtractedDocument:
    # A broken font map gives half characters, which no file can hold.
    pages = [replace_ligatures(page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")) for page in pages]
    text = join_pdf_pages_to_paragraphs(pages)
    if not text.strip():
        raise DataError(source, "has no text; its pages may be images. Run text recognition (OCR) on it first.")
    method = f"text of a PDF, with lines joined into paragraphs, {_package_with_version('pypdf')}"
    return ExtractedDocument(text, pdf_title_or_empty(stated_title, pages), method, source, local_today())


def _iterate_pdf_page_texts(reader: Any, source_for_errors: str, allowance: ReadingAllowance) -> Iterator[str]:
    """Yield the text of each page; a DataError where they come to more than a document has, often as one may repeat."""
    characters = 0
    for page in reader.pages:
        content = page.get_contents()
        allowance.add_pdf_page_bytes_within_limit(0 if content is None else len(content.get_data()))
        text = extract_pdf_page_text(page)
        characters += len(text)
        if characters > LONGEST:
            raise DataError(source_for_errors, f"has more than {LONGEST:,} characters; save part of it as a .txt file.")
        yield text


@contextlib.contextmanager
def _silence_library_log(logger_name: str) -> Iterator[None]:
    """Silence a library's log: its errors are ours to report."""
    logger = logging.getLogger(logger_name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def import_library(module_name: str, format_name: str) -> Any:
    """Import an optional module; a MissingPackageError names the extra if it is not installed."""
    try:
        return importlib.import_module(module_name)
    except ImportError:
        raise MissingPackageError(
            f"reading {format_name} needs the package '{module_name}': pip install 'genaipa[documents]'"
        ) from None


# --- The parts of Word ---------------------------------------------------------------------------------------------

TEXT = "word/document.xml"
# Word's title of a whole document is a paragraph style, which is no heading to the library.
_STYLES = "p[style-name='Title'] => h1:fresh"


def is_word_document(raw: bytes) -> bool:
    """Whether these bytes are a Word document, by their list of files."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return TEXT in archive.namelist()
    except Exception:  # noqa: BLE001 - a broken list makes the library raise anything
        return False


def _word_html_and_numbered_heading_count(raw: bytes, mammoth: Any, allowance: ReadingAllowance) -> tuple[str, int]:
    """Convert to HTML with the library `mammoth`, and count the headings whose numbers only Word generates."""
    if raw.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(
            allowance.source, "is an old or password-protected Word document; save it as .docx without a password."
        )
    if not is_word_document(raw):
        raise DataError(allowance.source, "can't be read as a Word document.")
    with allowance.open_zip_archive(io.BytesIO(raw), _is_xml_file_name) as archive:
        for name in filter(_is_xml_file_name, archive.namelist()):
            # The library needs minutes and gigabytes for a few kilobytes of packed paragraphs.
            content = archive.read(name)
            allowance.add_elements_within_limit(count_xml_elements(content) + count_xml_attributes(content), name)
    numbered: list[Any] = []

    def note_numbered_heading(paragraph: Any) -> Any:
        heading = re.match(r"heading \d", paragraph.style_name or "", re.IGNORECASE)
        if heading and paragraph.numbering is not None and paragraph.numbering.is_ordered:
            numbered.append(paragraph)
        return paragraph

    page = mammoth.convert_to_html(
        io.BytesIO(raw),
        style_map=_STYLES,
        convert_image=lambda _image: [],
        transform_document=mammoth.transforms.paragraph(note_numbered_heading),
        include_embedded_style_map=False,
    )
    return f"<html><body>{page.value}</body></html>", len(numbered)


def _is_xml_file_name(name: str) -> bool:
    return name.endswith((".xml", ".rels"))
