"""Pages of the web as they are: scripts without blanks, and parts that nobody sees."""

# ruff: noqa: RUF001 - punctuation of other scripts

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from genaipa.errors import DataError
from genaipa.policies.formats import extract_document

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "sentence",
    [
        "我们在您注册账户时收集您的姓名和地址，并在两年后删除这些信息。",
        "当社は、お客様の氏名と住所を二年間保管し、その後すべて削除します。",
        "เราเก็บชื่อและที่อยู่ของคุณไว้สองปีแล้วจึงลบออก",
        "យើងរក្សាទុកឈ្មោះរបស់អ្នករយៈពេលពីរឆ្នាំ។",
    ],
)
def test_a_page_in_a_script_without_blanks(tmp_path: Path, sentence: str) -> None:
    """It is taken where it says as much as an English one would have to; a line that asks for scripts is not."""
    path = tmp_path / "page.html"
    page = "<!doctype html><html><body><main>{}</main></body></html>"
    path.write_text(page.format(f"<h1>{sentence[:5]}</h1>" + f"<p>{sentence * 3}</p>" * 3))
    assert sentence in extract_document(str(path)).text
    path.write_text(page.format(f"<p>{sentence}</p>"))
    with pytest.raises(DataError, match="no recognizable main text"):
        extract_document(str(path))


TEXT = (
    "<h2>What we keep</h2><p>We keep the name of a guest, the nights of the stay and the number of the room until the "
    "bill is paid by the guest or by somebody else in the town.</p><h2>How long</h2><p>All of it is kept for {} years "
    "after the stay, and then it is taken out of the book by the keeper.</p>"
)
OTHER = (
    "<p>The dogs of the guests sleep in the stable, where a bowl of water stands for each of them, "
    "and nobody writes down their names, nor what they have eaten.</p>"
)
NEW, OLD = TEXT.format("two"), TEXT.format("nine")


def read(tmp_path: Path, body: str, style: str = "") -> tuple[str, tuple[str, ...]]:
    """The text of a page, and what is said of it."""
    path = tmp_path / "page.html"
    path.write_text(f"<!doctype html><html><head><style>{style}</style></head><body><main>{body}</main></body></html>")
    found = extract_document(str(path))
    return found.text, found.notes


@pytest.mark.parametrize(
    ("old", "style"),
    [
        ('<div style="display: none;">{}</div>', ""),
        ('<div STYLE="color:red; DISPLAY :none !important">{}</div>', ""),
        ('<section style="visibility:hidden">{}</section>', ""),
        ("<div hidden>{}</div>", ""),
        ('<div aria-hidden="true">{}</div>', ""),
        ("<template>{}</template>", ""),
        ("<details><summary>Versions before</summary>{}</details>", ""),
        ("<dialog>{}</dialog>", ""),
        ('<div class="tab-pane fade">{}</div>', ""),
        ('<div class="d-none">{}</div>', ""),
        ('<div class="archive old">{}</div>', "p { color: red } .old { margin: 0; display: none }"),
        ("<div hidden><h1>Archive</h1><div hidden>{}</div></div>", ""),
    ],
)
def test_a_hidden_older_version_is_left_out(tmp_path: Path, old: str, style: str) -> None:
    """However it is hidden, and said with its words."""
    text, notes = read(tmp_path, NEW + old.format(OLD), style)
    assert ("two years" in text, "nine years" in text) == (True, False)
    assert len(notes) == 1
    assert notes[0].endswith(" that repeats the visible text was left out")


def test_the_first_of_hidden_versions_stays(tmp_path: Path) -> None:
    """Where none of them is shown until a script chooses one."""
    text, notes = read(tmp_path, "".join(f"<div hidden>{TEXT.format(each)}</div>" for each in ("two", "nine", "ten")))
    assert ("two years" in text, "nine years" in text, "ten years" in text) == (True, False, False)
    assert notes == (
        "2 hidden parts (122 words) that repeat the visible text were left out",
        "1 part (61 words) that the page initially hides is in the text; check for outdated versions",
    )


@pytest.mark.parametrize(
    ("part", "style"),
    [
        (f"<h2>Dogs</h2><div hidden>{OTHER}</div>", ""),
        (f"<h2>Dogs</h2><div aria-hidden=true style='display:none'>{OTHER}</div>", ""),
        (f"<details><summary>Dogs</summary>{OTHER}</details>", ""),
        (f'<h2>Dogs</h2><div class="tab-pane">{OTHER}</div>', ""),
    ],
)
def test_other_hidden_text_stays(tmp_path: Path, part: str, style: str) -> None:
    """What a reader opens is of the policy, and is said."""
    text, notes = read(tmp_path, NEW + part, style)
    assert "a bowl of water" in text
    assert len(notes) == 1
    assert " that the page initially hides is in the text" in notes[0]


@pytest.mark.parametrize(
    ("part", "style"),
    [
        (f'<div class="tab-pane active">{OLD}</div>', ""),
        (f'<div class="old">{OLD}</div>', "@media print { p { color: red } .old { display: none } }"),
        (f"<details open><summary>Before</summary>{OLD}</details>", ""),
        ("<p hidden>Menu</p>", ""),
        (f"<my-page><template shadowrootmode=open>{OLD}</template></my-page>", ""),
    ],
)
def test_what_is_seen_stays(tmp_path: Path, part: str, style: str) -> None:
    """A version that a reader sees is of the page, and labels are not counted."""
    text, notes = read(tmp_path, NEW + part, style)
    assert ("nine years" in text) == ("years" in part)
    assert not any("hidden" in note or "hides" in note for note in notes)
