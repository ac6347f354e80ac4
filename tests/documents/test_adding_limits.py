"""What is refused before a document is kept, and what an addition that fails leaves behind."""

from __future__ import annotations

import time
from pathlib import Path

import lxml.html
import pypdf
import pytest
from pypdf.generic import NameObject, StreamObject
from running import write

from genaipa.errors import DataError, UsageError
from genaipa.files.limits import DOCUMENT
from genaipa.policies.adding import write_document_with_metadata
from genaipa.policies.companies import find_company_or_placeholder
from genaipa.policies.document import LONGEST, load_document
from genaipa.policies.formats import extract_document, join_pdf_pages_to_paragraphs
from genaipa.policies.pages import HtmlPage
from genaipa.workspace import Workspace


def test_a_document_has_a_bounded_size() -> None:
    """A file that nobody could read to the end is refused before it is read, by its size or by its length."""
    path = Path("huge.txt")
    with path.open("wb") as file:
        file.truncate(DOCUMENT.size + 1)
    with pytest.raises(DataError, match="is larger than 20 MB"):
        extract_document("huge.txt")
    path.write_text("a " * (LONGEST // 2 + 1))
    with pytest.raises(DataError, match="has 2,000,002 characters; at most 2,000,000 are allowed"):
        extract_document("huge.txt")
    Path("policies").mkdir()
    path.rename("policies/huge.txt")
    with pytest.raises(DataError, match="has 2,000,002 characters"):
        load_document("huge", Workspace(Path(), (("workspace", Path()),)))


def test_a_page_has_a_bounded_number_of_elements() -> None:
    """A page that would take minutes to convert is refused before it is."""
    page = f"<html><body><ul>{'<li>a b c' * 50_001}</ul></body></html>"
    with pytest.raises(DataError, match="has more than 50,000 elements"):
        extract_document(str(write("long.html", page)))


def test_cells_over_many_rows_and_columns_are_few_in_the_end() -> None:
    """A kilobyte of them would be a table of gigabytes: only the first fill the rows and columns that they span."""
    rows = "<tr><td colspan=100 rowspan=100>We keep your name</td></tr>" * 300
    page = HtmlPage(lxml.html.document_fromstring(f"<body><table>{rows}</table></body>"))
    assert len(page.markdown()) < 3_000_000
    assert page.markdown().count("We keep your name") >= 300


def test_lines_of_a_pdf_are_joined_in_one_go() -> None:
    """One paragraph of twenty thousand lines takes as long as many paragraphs, and a page is not drawn forever."""
    assert join_pdf_pages_to_paragraphs(["We keep\n" + "it\n" * 20_000]).count(" it") == 20_000
    for pages, size, said in ((1, 4_000_001, "a page of more than 4 MB"), (6, 3_999_999, "20 MB")):
        content = StreamObject()
        content.set_data(b"%" + b" " * (size - 1))
        writer = pypdf.PdfWriter()
        shared = writer._add_object(content.flate_encode())
        for _ in range(pages):
            writer.add_blank_page(9, 9)[NameObject("/Contents")] = shared
        writer.write("long.pdf")
        with pytest.raises(DataError, match=f"{said}; save its text"):
            extract_document("long.pdf")


def test_half_a_document_is_taken_away_again() -> None:
    """Where the second of its two files can't be put in place, the first does not stay alone."""
    Path("policies/acme.yaml").mkdir(parents=True)
    extracted = extract_document(str(write("a.txt", "Hello.")))
    with pytest.raises(DataError, match="can't be written"):
        write_document_with_metadata(Path("policies"), extracted, name="acme", company="A", kind="policy", replace=True)
    assert [path.name for path in Path("policies").iterdir()] == ["acme.yaml"]


def test_names_that_no_file_can_have_are_refused() -> None:
    """Too long, or with unprintable characters: before anything is written."""
    extracted = extract_document(str(write("a.txt", "Hello.")))
    for change, said in (
        ({"name": "a" * 300}, "has 300 characters; use at most 100"),
        ({"company": "a" * 300}, "a single line of at most 100 characters"),
        ({"company": "\udcff"}, "a single line of at most 100 characters"),
        ({"title": "\udcff"}, "the title contains unprintable characters"),
        ({"license": "a\nb"}, "the license contains unprintable characters"),
    ):
        with pytest.raises(UsageError, match=said):
            write_document_with_metadata(
                Path("policies"), extracted, **{"name": "acme", "company": "A", "kind": "policy"} | change
            )
    assert not Path("policies").exists()


def test_missing_files_and_folders() -> None:
    """A path without a file is named."""
    with pytest.raises(DataError, match=r"^nothing\.pdf: the file does not exist\.$"):
        extract_document("nothing.pdf")
    with pytest.raises(DataError, match=r"^\.: is not a file\.$"):
        extract_document(".")


def test_hidden_parts_are_sorted_in_time() -> None:
    """Thousands of hidden parts, inside one another and beside one another, and endless style sheets and titles."""
    deep = "<div hidden>some words of a part that is hidden " * 200
    wide = "".join(f"<div hidden><p>{'word ' * 10}{n} {'more ' * 10}</p></div>" for n in range(3_000))
    styles = f"<style>{'@media x{a{' * 20_000}</style><title>{'Inn ' * 20_000}</title>"
    page = f"<html><head>{styles}</head><body><main><p>{'We keep it. ' * 30}</p>{wide}{deep}</main></body></html>"
    begin = time.process_time()
    found = extract_document(str(write("hidden.html", page)))
    assert find_company_or_placeholder(found.title, found.text, found.named, "hidden.html")
    assert time.process_time() - begin < 5
