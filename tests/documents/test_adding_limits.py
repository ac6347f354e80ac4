"""What is refused before a document is kept, and what an addition that fails leaves behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import write

from genaipa.errors import DataError, UsageError
from genaipa.policies import formats
from genaipa.policies.adding import write_document
from genaipa.policies.document import LONGEST, load_document
from genaipa.policies.formats import extract
from genaipa.workspace import Workspace


def test_a_document_has_a_bounded_size() -> None:
    """A file that nobody could read to the end is refused before it is read, by its size or by its length."""
    path = Path("huge.txt")
    with path.open("wb") as file:
        file.truncate(formats.MAX_BYTES + 1)
    with pytest.raises(DataError, match="is larger than 20 MB"):
        extract("huge.txt")
    path.write_text("a " * (LONGEST // 2 + 1))
    with pytest.raises(DataError, match="has 2,000,002 characters, and a document may have 2,000,000"):
        extract("huge.txt")
    Path("policies").mkdir()
    path.rename("policies/huge.txt")
    with pytest.raises(DataError, match="has 2,000,002 characters"):
        load_document("huge", Workspace(Path(), (("workspace", Path()),)))


def test_a_page_has_a_bounded_number_of_elements() -> None:
    """A page that would take minutes to convert is refused before it is."""
    page = f"<html><body><ul>{'<li>a b c' * 100_001}</ul></body></html>"
    with pytest.raises(DataError, match="has more than 100,000 elements"):
        extract(str(write("long.html", page)))


def test_half_a_document_is_taken_away_again() -> None:
    """Where the second of its two files can't be put in place, the first does not stay alone."""
    Path("policies/acme.yaml").mkdir(parents=True)
    extracted = extract(str(write("a.txt", "Hello.")))
    with pytest.raises(DataError, match="can't be written"):
        write_document(Path("policies"), extracted, name="acme", company="A", kind="policy", replace=True)
    assert [path.name for path in Path("policies").iterdir()] == ["acme.yaml"]


def test_names_that_no_file_can_have_are_refused() -> None:
    """Too long, or with unprintable characters: before anything is written."""
    extracted = extract(str(write("a.txt", "Hello.")))
    for change, said in (
        ({"name": "a" * 300}, "has 300 characters; use at most 100"),
        ({"company": "a" * 300}, "one line of at most 100 characters"),
        ({"company": "\udcff"}, "one line of at most 100 characters"),
        ({"title": "\udcff"}, "the title has unprintable characters"),
        ({"license": "a\nb"}, "the license has unprintable characters"),
    ):
        with pytest.raises(UsageError, match=said):
            write_document(Path("policies"), extracted, **{"name": "acme", "company": "A", "kind": "policy"} | change)
    assert not Path("policies").exists()


def test_missing_files_and_folders() -> None:
    """A path without a file is named."""
    with pytest.raises(DataError, match=r"^nothing\.pdf: doesn't exist\.$"):
        extract("nothing.pdf")
    with pytest.raises(DataError, match=r"^\.: is not a file\.$"):
        extract(".")
