"""Sections are found where a person sees them, and citations lead to them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from genaipa.policies.sections import Section, find_innermost_cited_section, find_sections

ROOT = Path(__file__).parents[2]


def outline(text: str) -> list[str]:
    """`level number | title` of each section."""
    return [f"{section.level} {section.number} | {section.title}" for section in find_sections(text)]


def published(shared: Path, name: str) -> str:
    """A published document, as it is loaded."""
    path = shared / "data" / "genaipabench" / "Privacy Documents" / f"{name}_document.txt"
    return path.read_bytes().decode("utf-8-sig")


def test_marked_headings() -> None:
    """Markdown headings of both kinds are sections, with the number that their text begins with."""
    text = """# Otterby *Privacy* Policy ##

## 4. Your data

### 4.2 What we keep

1. Pens

2. Paper

### Article 12: [Rights](https://example.org/rights)

1. You may ask.

# Chapter II: General

## IV. Odds

### B. And ends

Part 2: this is text.

## Data retention {#keep}

## 2024 changes

```
# no heading
```
"""
    assert outline(text) == [
        "1  | Otterby Privacy Policy",
        "2 4 | Your data",
        "3 4.2 | What we keep",
        "3 Article 12 | Rights",
        "1 Chapter II | General",
        "2 IV | Odds",
        "3 IV.B | And ends",
        "2  | Data retention",
        "2  | 2024 changes",
    ]
    assert outline("Policy\n======\n\nText.\n\n2. Data\n-------\n\nMore\ntext\n----\n\n| a |\n|---|\n") == [
        "1  | Policy",
        "2 2 | Data",
    ]
    assert outline(
        "---\ntitle: Policy\ndate: 2024\n---\n# Policy\n\n    # code\n\n> # quoted\n\n## Data\r\n\r\nText.\n"
    ) == [
        "1  | Policy",
        "2  | Data",
    ]


def test_sections_cover_the_text() -> None:
    """A section begins with its heading and ends where the next begins, whatever its level; line ends don't matter."""
    text = "Before.\r\n\r\n## 1. One\r\n\r\nText.\r\n\r\n### 1.1 Two\r\n\r\nText.\r\n\r\n## 2. Three"
    sections = find_sections(text)
    assert [text[section.start : section.end].split()[:2] for section in sections] == [
        ["##", "1."],
        ["###", "1.1"],
        ["##", "2."],
    ]
    assert [section.end for section in sections] == [*(section.start for section in sections[1:]), len(text)]
    assert [section.label for section in sections] == ["Section 1", "Section 1.1", "Section 2"]


PLAIN = """Otterby Privacy Policy

Last updated: 3 May 2026

1. Introduction
2. What we collect
3. Sharing
4. Contact

1. Introduction

Otterby rents boats. We do so as follows:
1. We ask for a name
2. We hand out a boat
3. We wait
13. This is what happens by then.

2. What we collect

2.1 Account data

You can do any of these:

1. Write to us

2. Come and see us

3. Swim

2.2 Boats
Your boat tells us where it is.

3. Sharing

We never share, except 1. with the coast guard, 2. with otters.
2021. A year began.

4. Contact

Write to us. As section
4. says, we answer.
"""


def test_plain_numbers() -> None:
    """Numbered lines are headings; lists, the table of contents, years and sentences are not."""
    assert outline(PLAIN) == [
        "1  | Otterby Privacy Policy",
        "1 1 | Introduction",
        "1 2 | What we collect",
        "2 2.1 | Account data",
        "2 2.2 | Boats",
        "1 3 | Sharing",
        "1 4 | Contact",
    ]


def test_contents_with_pages() -> None:
    """Lines of a table of contents that end in a page are no headings, however they are filled."""
    contents = "1. Scope\t3\n2. Data ........ 4\n3. Rights     12\n\n"
    body = "1. Scope\nThis is the scope.\n2. Data\nThis is the data.\n3. Rights\nThese are rights.\n"
    assert [section.start for section in find_sections(contents + body)] == [
        len(contents) + body.index(heading) for heading in ("1.", "2.", "3.")
    ]


def test_letters_under_roman_numbers() -> None:
    """A., B., … are counted anew in each Roman section, C. is no hundred and I. no letter."""
    lines = []
    for roman, letters in [("I", ""), ("II", "AB"), ("III", "ABCD"), ("IV", "AB")]:
        lines.append(f"{roman}. Title of {roman}\n\nThis is what it says.\n")
        lines += [f"{letter}. Title of {letter}\n\nThis is what it says.\n" for letter in letters]
    assert [section.number for section in find_sections("\n".join(lines))] == [
        "I", "II", "II.A", "II.B", "III", "III.A", "III.B", "III.C", "III.D", "IV", "IV.A", "IV.B",
    ]  # fmt: skip


def test_a_law() -> None:
    """Chapters, sections that begin anew and articles nest; titles may stand on the line below."""
    text = """CHAPTER I
General provisions

Article 1
Subject-matter

1. This Act lays down rules for boats.

2. This Act protects otters.

Article 2 - Material scope

This Act applies to boats according to
Article 1 and to nothing else. As said in
Article 17. It is so.

CHAPTER II
Principles

SECTION 1
Boats

Article 3. Boats shall float, and whoever rents one shall see to it that it does.

SECTION 2
Otters

Art. 4 GDPROtters

Otters are free to go where they like.

CHAPTER III
Rights

SECTION 1
Boats

Article 5 Bailing
Whoever sits in a boat may bail it.
"""
    assert outline(text) == [
        "1 Chapter I | General provisions",
        "3 Article 1 | Subject-matter",
        "3 Article 2 | Material scope",
        "1 Chapter II | Principles",
        "2 1 | Boats",
        "3 Article 3 | ",
        "2 2 | Otters",
        "3 Article 4 | Otters",
        "1 Chapter III | Rights",
        "2 1 | Boats",
        "3 Article 5 | Bailing",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Section 1 - Boats\nText of it.\nSection 2: Otters\nText of it.", ["1 1 | Boats", "1 2 | Otters"]),
        ("Part 1: Boats\nText of it.\nPart 2: Otters\nText of it.", ["1 Part 1 | Boats", "1 Part 2 | Otters"]),
        ("Chapter 3 Boats\nText of it.", ["1 Chapter 3 | Boats"]),
        ("§ 1798.100. Boats\nText of it.", ["1 1798.100 | Boats"]),
        ("**1. Boats**\n\nText of it.\n\n**2. Otters**\n\nText of it.", ["1 1 | Boats", "1 2 | Otters"]),
        ("# Policy\n\n1. Boats\n\nText of it.\n\n2. Otters\n\nMore.", ["1  | Policy", "2 1 | Boats", "2 2 | Otters"]),
        ("Who we are\n\nWe are Otterby.\n\nAny boats?\n\nYes, and many.", ["1  | Who we are", "1  | Any boats?"]),
        ("1. Boats\n\n2. Otters\n\nText of both.", ["1 1 | Boats", "1 2 | Otters"]),
        ("You may:\n1. Ask us\n2. Tell us\nThat is all.", []),
        ("You may:\n\n1. Ask us\n\n2. Tell us\n\n3. Swim\n\nThat is all.", []),
        ("1. Boats\nText.\n2. Otters\nText.\n9. Oars\nText.", ["1 1 | Boats", "1 2 | Otters"]),
        (
            "Article 1 Boats\nArticle 2 Otters\nArticle 3 Oars\n\nArticle 1 Boats\nText.\nArticle 3 Oars\nText.",
            ["1 Article 1 | Boats", "1 Article 3 | Oars"],
        ),
        ("Otterby\n\nOne of its pages.\n\nOtterby\n\nAnother one of them.", []),
        ("We rent boats.\n\nThey float,\n\nand that is all", []),
        ("1. first do this\nwhile it rains\n2. then do that\nwhen it doesn't", []),
        ("Article 5 of the Act says so.\nChapter V on boats;\nPart of it.", []),
        ("", []),
        ("\n\n", []),
    ],
)  # fmt: skip
def test_lines_that_look_like_headings(text: str, expected: list[str]) -> None:
    """Each way to write a heading on a line is known, and what only begins like one is text."""
    assert outline(text) == expected


INLINE = (
    "Otterby I. Who we are / II. Our boats / III. Rights I. Who we are Otterby B.V. rents boats. II. Our boats "
    "A. Kinds of boat We have two. I like both. B. Their names Every boat has one. III. Rights You may row."
)


def test_one_line() -> None:
    """In a single line, Roman numbers in a row after the table of contents make sections, and letters beneath them."""
    assert outline(INLINE) == [
        "1 I | Who we are",
        "1 II | Our boats",
        "2 II.A | Kinds of boat",
        "2 II.B | Their names",
        "1 III | Rights",
    ]
    assert INLINE[find_sections(INLINE)[0].start :].startswith("I. Who we are Otterby")


@pytest.mark.parametrize(
    "text",
    [
        INLINE.replace("II. Our boats A", "Our boats A"),
        INLINE + " V. Odd The rest.",
        "I. One Text. II. Two Text.",
        "1. One Text. 2. Two Text. 3. Three Text.",
    ],
)
def test_one_line_in_doubt(text: str) -> None:
    """A line whose numbers have gaps, or are too few, or could be a list's, has no sections."""
    assert find_sections(text) == ()


def test_gdpr(shared: Path) -> None:
    """All 11 chapters and 99 articles of the published GDPR are found once, in order, below one another."""
    sections = find_sections(published(shared, "Regulations/GDPR"))
    counted = [section for section in sections if section.number]
    assert [section.number for section in counted if section.level == 1] == [f"Chapter {i}" for i in range(1, 12)]
    assert [section.number for section in counted if section.level == 2] == [f"Article {i}" for i in range(1, 100)]
    assert find_innermost_cited_section(sections, "Art. 17(1)(a) GDPR") == find_innermost_cited_section(
        sections, "Right to erasure (\u2018right to be forgotten\u2019)"
    )
    assert find_innermost_cited_section(sections, "Chapter VIII").title == "Remedies, liability and penalties"


def test_ccpa(shared: Path) -> None:
    """All sections of the published CCPA are found once, and none in its table of contents."""
    text = published(shared, "Regulations/CCPA")
    sections = find_sections(text)
    assert len(sections) == 45
    assert set(Counter(section.number for section in sections).values()) == {1}
    assert text[: sections[0].start].count("1798.") == 45
    assert (
        find_innermost_cited_section(sections, "Cal. Civ. Code § 1798.105(c)(1)").title
        == "Consumers\u2019 Right to Delete Personal Information"
    )
    assert find_innermost_cited_section(sections, "Section 1798.199.10").number == "1798.199.10"
    assert find_innermost_cited_section(sections, "Section 1798.107") is None


def test_published_policies(shared: Path) -> None:
    """Uber's single line has its outline; the other four, whose numbers could be a list's, have none."""
    sections = find_sections(published(shared, "Privacy Policy/Uber"))
    assert [section.number for section in sections] == [
        "I", "II", "II.A", "II.B", "III", "III.A", "III.B", "III.C", "III.D", "III.E",
        "IV", "IV.A", "IV.B", "IV.C", "IV.D", "IV.E", "V",
    ]  # fmt: skip
    assert find_innermost_cited_section(sections, "Section III.D.6").title == "Data sharing and disclosure"
    for company in ("Airbnb", "Facebook", "Spotify", "Twitter"):
        assert find_sections(published(shared, f"Privacy Policy/{company}")) == ()


@pytest.mark.parametrize("name", ["brindlecart", "vpda"])
def test_shipped_documents(name: str) -> None:
    """Every heading of the shipped documents is a section with its level, and numbered ones can be cited."""
    text = (ROOT / "policies" / f"{name}.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("#")]
    sections = find_sections(text)
    assert [text[section.start :].splitlines()[0] for section in sections] == headings
    assert [section.level for section in sections] == [len(heading.split()[0]) for heading in headings]
    assert all(section.number for section in sections[1:])
    assert all(find_innermost_cited_section(sections, section.label) == section for section in sections)
    assert all(find_innermost_cited_section(sections, section.title) is not None for section in sections)


CITED = """# Otterby

## 4. Boats

### 4.2 Oars and sails

## IV. Otters

### B. Fur

## Chapter II: Law

### Article 12: Rights

### Article 13: Duties

## Chapter III: More law

### Section 1: First

## Data retention
"""


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("4.2", "Section 4.2"),
        ("Section 4.2", "Section 4.2"),
        ("section 4.2.", "Section 4.2"),
        ("§ 4.2", "Section 4.2"),
        ("§4.2(a)", "Section 4.2"),
        ("4.2.1", "Section 4.2"),
        ("4.2 Oars and sails", "Section 4.2"),
        ("Section 4.2: Oars and sails", "Section 4.2"),
        ("oars  and SAILS", "Section 4.2"),
        ("the section \u201cOars and sails\u201d", "Section 4.2"),
        ("Sections 4.2 and 4", "Section 4.2"),
        ("4", "Section 4"),
        ("Sec. IV.B", "Section IV.B"),
        ("IV.B.1", "Section IV.B"),
        ("Article 12", "Article 12"),
        ("article 12", "Article 12"),
        ("ARTICLE 12", "Article 12"),
        ("Art. 12(3)", "Article 12"),
        ("Art 12 para. 3 of the Act", "Article 12"),
        ("Articles 12 and 13", "Article 12"),
        ("Chapter II, Article 13", "Article 13"),
        ("Article 13 (Chapter II)", "Article 13"),
        ("Chapter II", "Chapter II"),
        ("chapter 2", "Chapter II"),
        ("Chapter III, Section 1", "Section 1"),
        ("the Data Retention section", "Data retention"),
        ("section on data retention", "Data retention"),
        ("data retention", "Data retention"),
        ("Otterby", "Otterby"),
        ("4.3", None),
        ("Article 14", None),
        ("Chapter 12", None),
        ("Section 9", None),
        ("Part 4", None),
        ("2 boats", None),
        ("5. Boats", None),
        ("Section 5: Boats", None),
        ("C. Data retention", "Data retention"),
        ("A boat", None),
        ("boats and otters", None),
        ("", None),
        (" . ", None),
    ],
)
def test_citations(label: str, expected: str | None) -> None:
    """A citation leads to the section that it names, a subdivision to the section it is in, and others nowhere."""
    found = find_innermost_cited_section(find_sections(CITED), label)
    assert (found.label if found else None) == expected


def test_citations_where_numbers_begin_anew() -> None:
    """Of several sections with a number, the one in the chapter that is named is meant, else the first."""
    sections = find_sections("## Chapter I\n\n### Section 1: A\n\n## Chapter II\n\n### Section 1: B\n")
    assert find_innermost_cited_section(sections, "Chapter II, Section 1") == sections[3]
    assert find_innermost_cited_section(sections, "Section 1 of Chapter I") == sections[1]
    assert find_innermost_cited_section(sections, "Section 1") == sections[1]


def test_articles_called_sections() -> None:
    """An answer may call an article a section where the document has only articles, and the other way round."""
    articles = (Section("Article 5", "Boats", 1, 0, 9),)
    sections = (Section("5", "Boats", 1, 0, 9),)
    assert find_innermost_cited_section(articles, "Section 5(1)") == articles[0]
    assert find_innermost_cited_section(sections, "Article 5") == sections[0]
    assert find_innermost_cited_section(sections, "Chapter 5") is None
    assert find_innermost_cited_section((*articles, *sections), "Section 5") == sections[0]


@pytest.mark.parametrize(
    ("chapter", "article", "first"),
    [
        ("KAPITEL", "Artikel", "Artikel 1"),
        ("CHAPITRE", "Article", "Article premier"),
        ("CAPÍTULO", "Artículo", "Artículo 1"),
        ("CAPO", "Articolo", "Articolo 1"),
        ("第{}章", "第{}条", "第一条"),
    ],
)
def test_a_law_in_another_language(chapter: str, article: str, first: str) -> None:
    """Articles and chapters are found by the words of all languages, each with its title, and cited by either."""

    def numbered(word: str, number: object) -> str:
        return word.format(number) if "{}" in word else f"{word} {number}"

    lines = ["Titel", ""]
    for number in range(1, 100):
        if number % 33 == 1:
            lines += [numbered(chapter, ("I", "II", "III")[number // 33] if "{}" not in chapter else number // 33 + 1)]
            lines += ["Über Ämter", ""]
        lines += [first if number == 1 else numbered(article, number), "Ämter" if number % 2 else "Élément", ""]
        lines += ["1. Dies ist der erste Absatz dieses Artikels; er verweist auf Artikel 4 Absatz 2.", ""]
    sections = find_sections("\n".join(lines))
    assert [s.number for s in sections if s.number.startswith("Article")] == [f"Article {n}" for n in range(1, 100)]
    assert next(s.number for s in sections if s.number.startswith("Chapter")) in {"Chapter I", "Chapter 1"}
    assert next(s.title for s in sections if s.number == "Article 1") == "Ämter"
    assert find_innermost_cited_section(sections, numbered(article, 12)) == find_innermost_cited_section(
        sections, "Article 12"
    )


BODIES = {
    "ar": ("سياسة القوارب", "القوارب التي نملكها", "نملك قاربين اثنين، وكلاهما يطفو على الماء في النهار وفي الليل."),
    "he": ("מדיניות הסירות", "הסירות שלנו", "יש לנו שתי סירות, ושתיהן צפות על המים ביום ובלילה כל השנה."),
    "hi": ("नाव नीति", "हमारी नावें", "हमारे पास दो नावें हैं, और दोनों दिन और रात पानी पर तैरती हैं।"),
    "ja": ("船の方針", "当社の船", "当社には船が二そうあり、どちらも昼も夜も水に浮かんでいます。"),
    "ko": ("배에 관한 방침", "회사의 배", "회사에는 배가 두 척 있으며 모두 낮에도 밤에도 물에 떠 있습니다."),
    "ru": ("Правила для лодок", "Наши лодки", "У нас две лодки, и обе держатся на воде днём и ночью, весь год."),  # noqa: RUF001 - other scripts are meant
    "th": ("นโยบายเรือ", "เรือของเรา", "เรามีเรือสองลำซึ่งทั้งสองลำลอยอยู่บนน้ำทั้งกลางวันและกลางคืน"),
    "zh": ("船只政策", "我们的船", "我们有两只船，无论白天还是夜里，它们都浮在水面上。"),  # noqa: RUF001 - so is this
}
"""A name, a title and a sentence."""


@pytest.mark.parametrize("language", BODIES)
@pytest.mark.parametrize("form", ["", "{}. ", "{}) ", "{}.", "\uff10{}\uff0e", "§ {} "])
def test_outlines_without_latin_capitals(language: str, form: str) -> None:
    """A title that is numbered or alone in its line is a section in every script; a sentence is none."""
    _, title, body = BODIES[language]
    lines = [f"{form.format(number)}{title}{mark}\n\n{body}\n\n{body}" for number, mark in ((1, ""), (2, "?"))]
    wanted = [("", ""), ("", "?")] if not form else [("1", ""), ("2", "?")]
    found = find_sections("\n\n".join(lines))
    assert [(one.number, one.title) for one in found] == [(number, f"{title}{mark}") for number, mark in wanted]


@pytest.mark.parametrize("language", BODIES)
def test_lists_without_latin_capitals(language: str) -> None:
    """Lines in a row, items with a comma behind them and long lines are no titles."""
    name, title, body = BODIES[language]
    assert find_sections(f"{body}\n\n1. {title}\n2. {name}\n3. {title}\n\n{body}\n\n{name},\n\n{body}\n") == ()


def test_articles_in_brackets() -> None:
    """Japanese and Korean articles have their title in brackets, and text below at once."""
    for text in (
        "第\uff11条\uff08船\uff09\n船は水に浮かぶ。\n第\uff12条\uff08かわうそ\uff09\n泳ぐ。",
        "제1조(배)\n배는 물에 뜬다.\n제2조(수달)\n헤엄친다.",
    ):
        assert [section.number for section in find_sections(text)] == ["Article 1", "Article 2"]
