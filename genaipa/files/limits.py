"""The policy for input from other people: how large, how many parts, how deep and how long each kind of file may be.

Every reader of a file reads it `within` the limits of its kind. Whatever a parser raises of a damaged file becomes one
sentence that names the file and a remedy, and no reader takes more than 1 GB of memory for what passes.
"""

from __future__ import annotations

import contextlib
import re
import time
import zipfile
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from genaipa.errors import DataError, GenaipaError, clip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Limits(NamedTuple):
    """The most that a file of a kind may take; `size` in bytes, of an archive also of what it `unpacks` to."""

    kind: str
    """With its article, if it has one."""
    remedy: str
    size: int
    unpacks: int = 0
    members: int = 1_000
    """Files in an archive."""
    elements: int = 0
    unit: str = "elements"
    attributes: int = 0
    depth: int = 0
    page: int = 0
    """Bytes that one page draws, which its library takes a hundred times in memory."""
    seconds: float = 60.0
    """Of a processor, so that a busy machine refuses nothing."""


_AS_TEXT = "save its text as a .txt file"
_AS_TABLE = "save it as .xlsx or .csv, in several files if it is long"
TEXT = Limits("text", "remove what you don't need", 64_000_000)
YAML = Limits("YAML", "split it into several files", 32_000_000, elements=500_000, unit="values", depth=50)
JSON = Limits("JSON", "export fewer entries at a time", 64_000_000, elements=5_000_000, unit="values")
SCORES = Limits("a score log", "split it into several files", 2**30, elements=1_000_000, unit="lines")
CSV = Limits("CSV", _AS_TABLE, 50_000_000, elements=3_000_000, unit="cells")
WORKBOOK = Limits(
    "a spreadsheet",
    _AS_TABLE,
    100_000_000,
    unpacks=256_000_000,
    elements=3_000_000,
    unit="cells",
    depth=1_000,
    seconds=120.0,
)
PAGE = Limits("HTML", _AS_TEXT, 20_000_000, elements=50_000, attributes=300_000)
WORD = Limits("a Word document", _AS_TEXT, 20_000_000, unpacks=20_000_000, elements=400_000, depth=1_000)
PDF = Limits("a PDF", _AS_TEXT, 20_000_000, unpacks=20_000_000, page=4_000_000)
DOCUMENT = Limits("a document", _AS_TEXT, 20_000_000)
POLICY = Limits("a policy", "remove the parts that no question is about", 8_000_000)
HISTORY = Limits("a history", "clone fewer versions", 0, unpacks=256_000_000)
PACK = Limits(
    "a pack", "ask for it again, in parts if it is large", 4 * 2**30, unpacks=4 * 2**30, members=500_000, seconds=600.0
)
INSPECT_LOG = Limits(
    "an Inspect log",
    "export fewer samples at a time",
    128_000_000,
    unpacks=128_000_000,
    members=200_000,
    elements=2_000_000,
    unit="values",
)

CHATS = Limits(
    "an export of chats",
    "export fewer conversations, or split the file",
    256_000_000,
    unpacks=256_000_000,
    members=200_000,
    elements=2_000_000,
    unit="conversations",
)
CHAT_SIZE = 32_000_000
"""Bytes of one conversation, or one line."""


class ReadingAllowance:
    """Count what reading one file takes; a DataError tells of what is too much."""

    def __init__(self, source: Path | str, limits: Limits) -> None:
        self.source, self.limits = source, limits
        self._elements, self._unpacked = 0, 0
        self._end = time.thread_time() + limits.seconds

    def refusal_error(self, problem: str, entry: str = "") -> DataError:
        """Return the error that tells a problem with the file, or an entry of it, and the kind's remedy."""
        return DataError(self.source, f"{problem}; {self.limits.remedy}.", entry)

    def check_size(self, byte_count: int) -> None:
        """Refuse a file of more bytes than its kind may have."""
        if byte_count > self.limits.size:
            raise self.oversize_error()

    def oversize_error(self) -> DataError:
        """Return the error of a file of more bytes than its kind may have."""
        return self.refusal_error(f"is larger than {_size_in_words(self.limits.size)}")

    def check_depth(self, depth: int, entry_for_errors: str = "") -> None:
        """Refuse what is nested deeper than its kind may be."""
        if depth > self.limits.depth:
            raise self.refusal_error("is nested too deeply", entry_for_errors)

    def check_time(self) -> None:
        """Refuse a file that takes too long."""
        if time.thread_time() > self._end:
            raise self.refusal_error(f"takes longer than {self.limits.seconds:.0f} seconds to read")

    def add_elements_within_limit(self, element_count: int, entry_for_errors: str = "") -> None:
        """Count elements of the file; refuse more than its kind may have."""
        self._elements += element_count
        if self._elements > self.limits.elements:
            raise self.refusal_error(f"has more than {self.limits.elements:,} {self.limits.unit}", entry_for_errors)
        self.check_time()

    def add_unpacked_bytes_within_limit(self, byte_count: int) -> None:
        """Count unpacked bytes; refuse more than its kind may have."""
        self._unpacked += byte_count
        if self._unpacked > self.limits.unpacks:
            raise self.refusal_error(f"unpacks to more than {_size_in_words(self.limits.unpacks)}")
        self.check_time()

    def add_pdf_page_bytes_within_limit(self, byte_count: int) -> None:
        """Count the bytes that a page draws; refuse more than one page, or all, may draw."""
        if byte_count > self.limits.page:
            raise self.refusal_error(f"has a page of more than {_size_in_words(self.limits.page)}")
        self.add_unpacked_bytes_within_limit(byte_count)

    @contextlib.contextmanager
    def open_zip_archive(
        self, file: Path | BinaryIO, is_wanted: Callable[[str], bool] = lambda _name: True
    ) -> Iterator[zipfile.ZipFile]:
        """Open a ZIP archive whose wanted members are neither too many, too large, nor encrypted."""
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            if len(members) > self.limits.members:
                raise self.refusal_error(f"holds more than {self.limits.members:,} files")
            for member in members:
                if is_wanted(member.filename):
                    if member.flag_bits & 1:
                        raise DataError(self.source, "is encrypted; save it without a password.")
                    self.add_unpacked_bytes_within_limit(member.file_size)
            yield archive


@contextlib.contextmanager
def limit_reading(limits: Limits, source_for_errors: Path | str) -> Iterator[ReadingAllowance]:
    """Read a file within the limits of its kind; a DataError for whatever its parser raises."""
    try:
        yield ReadingAllowance(source_for_errors, limits)
    except GenaipaError:
        raise
    except OSError as error:
        if error.errno is None:  # a parser's own, of what it reads
            raise _unreadable_error(source_for_errors, limits, error) from error
        raise DataError(source_for_errors, f"can't be read ({error.strerror or error}).") from None
    except Exception as error:
        # A damaged file makes parsers raise anything.
        raise _unreadable_error(source_for_errors, limits, error) from error


def _unreadable_error(source: Path | str, limits: Limits, error: Exception) -> DataError:
    if isinstance(error, RecursionError):
        why = "it is nested too deeply"
    elif isinstance(error, MemoryError):
        why = "reading it takes too much memory"
    else:
        why = clip(" ".join(str(error).split()), 100) or type(error).__name__
    return DataError(source, f"can't be read as {limits.kind} ({why}); {limits.remedy}.")


def _size_in_words(byte_count: int) -> str:
    return f"{byte_count / 2**30:g} GiB" if byte_count % 2**30 == 0 else f"{byte_count / 1_000_000:.0f} MB"


MOST_ATTRIBUTES = 200
"""Attributes of one element on average that anything writes; parsers compare each with all others."""
_TAG = re.compile(rb"<[^/?!]")
_ATTRIBUTE = re.compile(rb"=\s*[\"']")
_CHUNK = 2**20
_VALUE = r"""=\s*"[^"]*"|=\s*'[^']*'"""
_WHOLE_TAG = re.compile(rf"<[a-z](?:{_VALUE}|[^>=]++|=)*+", re.IGNORECASE)
_BETWEEN = " \t\n\r\f/"


def check_html_attribute_count(page: str, allowance: ReadingAllowance) -> None:
    """Refuse a page with too many attributes in all, or in one element, as its parser would find them."""
    every = 0
    for tag in _WHOLE_TAG.finditer(page):
        words = re.sub(_VALUE, "= ", tag.group())
        attributes = sum(map(words.count, _BETWEEN))
        every += attributes
        if attributes > MOST_ATTRIBUTES or every > allowance.limits.attributes:
            raise allowance.refusal_error("has more attributes than a page needs")


def count_xml_elements(content: bytes) -> int:
    """Count the elements in XML, or a piece of it."""
    return len(_TAG.findall(content))


def count_xml_attributes(content: bytes) -> int:
    """Count the attributes in XML, or a piece of it."""
    return len(_ATTRIBUTE.findall(content))


def read_xml_chunks_with_depth(content: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield how deep XML is nested at the end of each of its chunks, exact to a few, with the chunk."""
    depth = 0
    while chunk := content.read(_CHUNK):
        # Every < opens an element, but those of end tags, comments and instructions.
        opened = chunk.count(b"<") - chunk.count(b"</") - chunk.count(b"<?") - chunk.count(b"<!")
        depth += opened - chunk.count(b"</") - chunk.count(b"/>")
        yield depth, chunk
