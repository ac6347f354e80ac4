"""PDFs as programs print them: words apart, ligatures, Chinese lines, titles, and what looks wrong."""

# ruff: noqa: RUF001 - letters that look like others are what is read here

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_adding import pdf, pdf_of

from genaipa.policies.extraction_warnings import extraction_warning_or_empty
from genaipa.policies.formats import extract_document
from genaipa.policies.pdf_text import join_pdf_pages_to_paragraphs, pdf_title_or_empty
from genaipa.policies.search import rank_text_indices, replace_ligatures
from genaipa.policies.sections import find_sections

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """Larkfield Privacy Notice

1. What we keep

We keep the name of a guest, the nights of the stay and the number of the room, so
that a bill can be written on the day of departure.

2. Whom we tell

Nobody but the town hears of a stay, and the town hears of it once a year, as the
law of the county has it since the year of the flood."""


# Of Helvetica, in thousandths of its size; 556 for other letters.
WIDTHS = dict.fromkeys("il", 222) | dict.fromkeys(" .,t", 278) | {"W": 944, "m": 833, "w": 722, "r": 333, "k": 500}


def drawn(text: str, *, gap: int = 14, blanks: bool = True) -> bytes:
    """A PDF in which each word is a text object of its own, and so is each blank, as Google Docs prints them."""
    shown = "1 0 0 -1 0 792 cm\n"
    for down, line in enumerate(text.split("\n")):
        across = 60.0
        for word in line.replace(" ", "\0 \0").split("\0"):
            place = f"BT /F1 11 Tf 1 0 0 -1 0 .5 Tm {across:.1f} -{40 + gap * down} Td"
            shown += f"{place} ({word}) Tj ET\n" if word and (blanks or word != " ") else ""
            across += sum(0.011 * WIDTHS.get(letter, 556) for letter in word)
    return pdf_of(shown)


@pytest.mark.parametrize(("gap", "blanks"), [(13, True), (28, True), (13, False)])
def test_words_that_are_drawn_apart(tmp_path: Path, gap: int, *, blanks: bool) -> None:
    """They are put together by their places, in single and in double spacing, even where no blank is drawn."""
    path = tmp_path / "notice.pdf"
    path.write_bytes(drawn(PAGE, gap=gap, blanks=blanks))
    found = extract_document(str(path))
    assert [section.number for section in find_sections(found.text) if section.number] == ["1", "2"]
    assert "of the room, so that a bill" in found.text
    assert (found.title, found.notes) == ("Larkfield Privacy Notice", ())


def test_a_table_of_contents_is_none_of_headings(tmp_path: Path) -> None:
    """The page number behind a title stays apart from it, so that the title is no second section."""
    contents = "Contents\n\n1. What we keep{}2\n\n2. Whom we tell{}3\n\n".replace("{}", " " * 40)
    path = tmp_path / "notice.pdf"
    path.write_bytes(drawn(contents + PAGE))
    assert [section.number for section in find_sections(extract_document(str(path)).text) if section.number] == [
        "1",
        "2",
    ]


def test_a_running_title_of_two_lines(tmp_path: Path) -> None:
    """It goes from every page, with the page's number, and a sentence over two pages is one."""
    line = "and so the guests of the house are told about it in the hall of the inn every {} day,"
    pages = [["The Notice of", "Larkfield Inn", line.format(day), line.format(day), f"{day}"] for day in range(2, 6)]
    path = tmp_path / "notice.pdf"
    path.write_bytes(pdf(*pages))
    assert extract_document(str(path)).text.count("\n") == 1


@pytest.mark.parametrize(
    ("drawn_as", "plain"),
    [
        ("the conﬁdential ofﬁce’s ﬂoor, eﬀective ﬃ ﬄ ﬆ", "the confidential office’s floor, effective ffi ffl st"),
        ("⽤⼾隐私⽂件", "用戶隐私文件"),
        ("ﻣﺤﻤﺪ", "محمد"),
        ("10 m², ½ of № 5, ＡＢ, ①", "10 m², ½ of № 5, ＡＢ, ①"),
    ],
)
def test_letters_in_the_forms_of_fonts_are_plain(drawn_as: str, plain: str) -> None:
    """Ligatures, radicals and letters by their place are plain letters to a search; what means something stays."""
    assert replace_ligatures(drawn_as) == plain
    assert rank_text_indices(("Nothing of it.", "And more.", drawn_as), plain)[0] == 2


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (
            "私たちは、お客様が宿に泊まった日と部屋の番号を保管し、勘定書を書いた後に消\n去します。町のほかには、だれにも伝え\nません。",
            "私たちは、お客様が宿に泊まった日と部屋の番号を保管し、勘定書を書いた後に消去します。町のほかには、だれにも伝え\n\nません。",
        ),
        (
            "我们保留客人的姓名和房间号码，并在他们离开之后从 Inn\n的系统中删除。\n第二条 权利\n可以询问。",
            "我们保留客人的姓名和房间号码，并在他们离开之后从 Inn 的系统中删除。\n\n第二条 权利\n\n可以询问。",
        ),
        (
            "เราเก็บชื่อของแขกและหมายเลขห้องไว้จนกว่าจะมีการออกใบเรียกเก็บ\nเงินในวันที่แขกออก",
            "เราเก็บชื่อของแขกและหมายเลขห้องไว้จนกว่าจะมีการออกใบเรียกเก็บเงินในวันที่แขกออก",
        ),
    ],
)
def test_lines_without_blanks_between_words(page: str, text: str) -> None:
    """A character is two columns wide, and lines are joined without a blank, but for one around Latin letters."""
    assert join_pdf_pages_to_paragraphs([page]) == text + "\n"


@pytest.mark.parametrize(
    ("stated", "lines", "title"),
    [
        ("Privacy_Notice", ["Larkfield Privacy"], "Larkfield Privacy"),
        ("privacy-notice-2026", ["Larkfield Privacy"], "Larkfield Privacy"),
        ("Larkfield%20Privacy", ["Larkfield Privacy"], "Larkfield Privacy"),
        ("larkfield-privacy(2)", ["Larkfield Privacy"], "Larkfield Privacy"),
        ("Larkfield Privacy-by-Design", ["Other"], "Larkfield Privacy-by-Design"),
        ("", ["Larkfield |", "Privacy Notice", "We keep it."], "Larkfield | Privacy Notice"),
        ("", ["Privacy Notice of the", "Larkfield Inn"], "Privacy Notice of the Larkfield Inn"),
        ("", ["Политика конфиденциальности", "1. Данные"], "Политика конфиденциальности"),
        ("", ["隐私政策", "2026 年"], "隐私政策"),
        ("", ["larkfield inn"], ""),
    ],
)
def test_titles(stated: str, lines: list[str], title: str) -> None:
    """A file's name is no title, a title over two lines is one, and it is in any script."""
    assert pdf_title_or_empty(stated, ["\n".join(lines)]) == title


PARAGRAPH = "The guests of the inn are told once a day what is kept of them and for how long it is kept."


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("\n\n".join((PARAGRAPH * 10).split()), "most of its words are on lines with fewer than 3 words"),
        (
            "\n".join(f"{n} {PARAGRAPH}" for n in range(9)) * 2 + "\n",
            "39 % of it consists of repeated paragraphs",
        ),
        ("\n".join(f"{n} {PARAGRAPH}" for n in range(300)), "it has 6,900 words but no heading"),
        ("/g12 /g45 /g3 " * 50, "many of its characters are unreadable"),
        ("12.5 | 7 % | 99 | 1/3 | " * 50, "it contains hardly any letters"),
    ],
)
def test_a_text_that_looks_wrong(text: str, sign: str) -> None:
    """What is wrong with it is said, with what to do."""
    assert extraction_warning_or_empty(text).startswith(f"the extracted text looks wrong: {sign};")
    assert "genaipa policies show NAME --text" in extraction_warning_or_empty(text)


def test_a_text_that_looks_right() -> None:
    """Short ones, tables beside prose and divided ones are right."""
    table = "| Name | Why |\n|---|---|\n" + "| name | bill |\n| room |\n" * 20
    divided = "\n".join(f"# Part {n}\n\n{n} {PARAGRAPH}" for n in range(300))
    assert [
        extraction_warning_or_empty(text) for text in ("Short.", table + f"{PARAGRAPH}\n{PARAGRAPH}\n" * 6, divided)
    ][::2] == ["", ""]
