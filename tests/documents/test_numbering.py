"""Headings, clauses and citations write numbers in many ways, and mean the same by them."""

from __future__ import annotations

import pytest

from genaipa.policies.document import About, Document
from genaipa.policies.numbering import (
    begins_like_numbered_heading,
    may_have_unread_number,
    split_heading_number_and_title,
)
from genaipa.policies.sections import find_innermost_cited_section, find_sections
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.scoring.evidence.examine import collect_reply_evidence

READ = {
    "7.Otters": "7",
    "7. Otters": "7",
    "7 . Otters": "7",
    "7)Otters": "7",
    "(7) Otters": "7",
    "7 - Otters": "7",
    "7: Otters": "7",
    "7/ Otters": "7",
    "7 | Otters": "7",
    "7.2.Otters": "7.2",
    "007. Otters": "7",
    "7.02 Otters": "7.2",
    "7.2Otters": "7.2",
    "7.2.) Otters": "7.2",
    "7.b Otters": "7.b",
    "7.b.Otters": "7.b",
    "7.B.iv. Otters": "7.B.iv",
    "7A. Otters": "7A",
    "7A.2 Otters": "7A.2",
    "7º Otters": "7",
    "VII.Otters": "VII",
    "IV.B Otters": "IV.B",
    "D.Otters": "D",
    "D.3 Otters": "D.3",
    "d) Otters": "d",
    "(iv) Otters": "iv",
    "\uff17\uff0eOtters": "7",
    "\uff17\u3000Otters": "7",
    "(\uff17)Otters": "7",
    "\uff17\uff0d\uff12\u3000Otters": "7.2",
    "\u2466 Otters": "7",
    "\u2166. Otters": "VII",
    "7\u3001Otters": "7",
    "七\u3001Otters": "7",
    "（七）Otters": "7",  # noqa: RUF001 - wide brackets are meant
    "第七條 Otters": "Article 7",
    "第7節 Otters": "7",
    "제7조(Otters)": "Article 7",
    "제7조의2 Otters": "Article 7.2",
    "제7장 Otters": "Chapter 7",
    "§7 Otters": "7",
    "Section 7.Otters": "7",
    "Artikel 07 - Otters": "Article 7",
    "Artigo 7º Otters": "Article 7",
    "Статья 7. Otters": "Article 7",
    "MADDE 7- Otters": "Article 7",
    "المادة \u0667: Otters": "Article 7",
    "धारा ७ Otters": "7",
}


@pytest.mark.parametrize("heading", READ)
def test_numbers_of_headings(heading: str) -> None:
    """However a heading writes its number, it has it, and the rest is its title."""
    assert split_heading_number_and_title(heading) == (READ[heading], "Otters")


@pytest.mark.parametrize(
    "heading",
    [
        "3D boats", "24/7 otters", "7-day boats", "1st otter", "2FA", "U.S. otters", "e.g. otters", "I row", "A boat",
        "2024 boats", "01.02.2024 boats", "(EU) boats", "(c) 2024 Otterby", "7.5GB of otters", "S.A. boats",
        "7:30 boats", "Part of it", "第三方的船",
    ],
)  # fmt: skip
def test_headings_without_a_number(heading: str) -> None:
    """Years, days, hours, amounts, abbreviations and words are no numbers of sections."""
    assert split_heading_number_and_title(heading) == ("", heading)


def test_an_article_is_no_step() -> None:
    """A is a word before a small letter."""
    assert split_heading_number_and_title("7.A new boat") == ("7", "A new boat")
    assert split_heading_number_and_title("7.A New boat") == ("7.A", "New boat")


def test_lines_that_begin_numbered() -> None:
    """A line of a PDF that begins as a heading does is told from one that goes on."""
    assert all(
        map(
            begins_like_numbered_heading,
            ("7.Otters", "7.2 Otters", "IV. Otters", "Artikel 7", "§ 7", "7\u3001水獺", "7. Övning"),
        )
    )
    assert not any(
        map(begins_like_numbered_heading, ("7 otters", "section 7 and", "(a) Otters", "7.", "Otters", "in 2024"))
    )


LETTERED = (
    "# Otterby\n\n## 01. Boats\n\nAll.\n\n### a) Oars\n\nTwo.\n\n### b) Sails\n\nOne.\n\n#### ii. Ropes\n\nX.\n\n"
    "## 02.Otters\n\nAll.\n\n## (a) Fur\n\nBrown.\n\n## 03 Rules\n"
)


def test_letters_below_numbers() -> None:
    """Small letters and Roman numbers are below the number above them, and below one that they stand beside."""
    sections = find_sections(LETTERED)
    assert [(one.number, one.level) for one in sections] == [
        ("", 1), ("1", 2), ("1.a", 3), ("1.b", 3), ("1.b.ii", 4), ("2", 2), ("2.a", 3), ("3", 2),
    ]  # fmt: skip
    for label, title in {
        "Section 1.b": "Sails",
        "1(b)": "Sails",
        "§ 1b": "Sails",
        "Section 1 (b)(ii)": "Ropes",
        "Section 01.B.II": "Ropes",
        "1(c)": "Boats",
        "2.A": "Fur",
        "Section \uff13": "Rules",
    }.items():
        found = find_innermost_cited_section(sections, label)
        assert found, label
        assert found.title == title, label
    assert find_innermost_cited_section(sections, "Section 1.c") is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1)Boats\n\nAll of the boats.\n\n2)Otters\n\nAll of them.", ["1", "2"]),
        ("1.Boats\nAll of the boats.\n2.Otters\nAll of them.", ["1", "2"]),
        ("01 Boats\n\nAll of the boats.\n\n02 Otters\n\nAll of them.", ["1", "2"]),
        ("(1) Boats\n\nAll of the boats.\n\n(2) Otters\n\nAll of the otters.", ["1", "2"]),
        ("1) Boats\n\n1.1 Oars\n\nThere are two.\n\n2) Otters\n\n2.1 Fur\n\nIt is brown.", ["1", "1.1", "2", "2.1"]),
        ("1. Boats\n\na) Oars\n\nThere are two.\n\nb) Sails\n\nJust 1.\n\n2. Otters\n\nA.", ["1", "1.a", "1.b", "2"]),
        ("You may:\n\n(a) Row\n\n(b) Swim as far as you like, with or without us\n\nThat is all.", []),
        ("We ask for:\n1) Oars\n2) Sails\n3) Ropes\nand for nothing else.", []),
        ("12 Quay Road\n\nOtterby is there, and so are the boats.", []),
        ("**1 Boats**\nAll of the boats.\n**2 Otters**\nAll of the otters.", ["1", "2"]),
        ("# Otterby\n\n## Terms\n\n**1. Boats**\nAll.\n\n**2. Otters**\nA.\n\n## Us\n\n**3 of us** row.", ["1", "2"]),
        ("2.Boats\n=======\n\nAll.\n\n3.Otters\n--------\n\nAll.", ["2", "3"]),
    ],
)  # fmt: skip
def test_lines_with_numbers(text: str, numbers: list[str]) -> None:
    """In plain text, too, and in lines that are bold as a whole; lists and addresses stay text."""
    assert [one.number for one in find_sections(text) if one.number] == numbers


CLAUSES = Document(
    "otterby",
    "# Otterby\n\n## 2. Boats\n\n**2.1 Oars.** There are two, and 2.5 metres are enough.\n\n- 2.2: \u201cSails\u201d "
    "means [one](x).\n\n2.3 of them sink.\n\n4.1 Else.\n\n## 3. Otters\n\n3.1.1 Fur is brown. 3.2 Else.\n\n## Rest\n\n"
    "5.1 Ropes are here.\n",
    About(company="Otterby"),
)


def test_clauses_are_places() -> None:
    """Paragraphs that begin with a number below their section's can be cited; amounts and strangers are no clauses."""
    clauses = [one for one in CLAUSES.citable_sections if one not in CLAUSES.sections]
    assert [(one.number, one.title, one.level) for one in clauses] == [
        ("2.1", "Oars", 3), ("2.2", "\u201cSails\u201d means one", 3), ("3.1.1", "Fur is brown", 4),
        ("5.1", "Ropes are here", 3),
    ]  # fmt: skip
    assert CLAUSES.text[slice(clauses[1].start, clauses[1].end)].startswith("2.2: ")
    reply = "See Section 2.2, § 2.1(a) and Clause 3.1.1, not Section 2.4 or 3.4."
    found = collect_reply_evidence(reply, CLAUSES).references
    assert [one.resolved.partition(" \u201c")[0] for one in found] == [
        "Section 2.2", "Section 2.1 Oars", "Section 3.1.1 Fur is brown", "", "",
    ]  # fmt: skip
    assert [one.missing for one in found] == [False, False, False, True, True]
    assert all(
        CLAUSES.text[slice(*one.target)].lstrip("- *")[:3] == one.resolved[8:11] for one in found[:3] if one.target
    )


def test_clauses_of_articles() -> None:
    """A clause of an article is cited by its word, or as a paragraph of it."""
    text = "# Otterby\n\n## Article 2 Boats\n\n2.1 Oars. Two.\n\n2.2 Sails. One.\n\n## Article 3 Otters\n\nAll.\n"
    document = Document("x", text, About(company="X"))
    found = collect_reply_evidence("Article 2.2, Section 2.1, Article 2(2), Article 2.3.", document).references
    assert [one.resolved for one in found] == ["Article 2.2 Sails", "Article 2.1 Oars", "Article 2.2 Sails", ""]


def test_a_clause_is_told_from_the_next() -> None:
    """An answer that cites one clause does not cite an annotated one beside it."""
    annotated = AnnotatedAnswer(silent="no", answer="There are two.", sections=("Section 2.1",))
    right, wrong = (collect_reply_evidence(f"Two (Section {n}).", CLAUSES, annotated=annotated) for n in ("2.1", "2.2"))
    assert right.suggestion == 1
    assert (wrong.suggestion, wrong.cited_passage_count) == (None, 0)


@pytest.mark.parametrize("heading", ["12a Boats", "7_Boats", "第七 船", "7个月", "7-Boats"])
def test_nothing_is_missing_beside_numbers_that_were_not_read(heading: str) -> None:
    """Where a heading's number is not read, nobody says that a section does not exist."""
    annotated = AnnotatedAnswer(silent="no", answer="Two.", sections=("Boats",))
    for begun, missing in ((heading, False), ("Boats", True)):
        text = f"# Otterby\n\n## {begun}\n\nAll of them.\n\n## Otters\n\nAll.\n"
        found = collect_reply_evidence(
            "There are two (Section 9).", Document("x", text, About(company="X")), annotated=annotated
        )
        assert [one.missing for one in found.references] == [missing]
        assert found.suggestion == (-1 if missing else None)
    assert may_have_unread_number(heading, "")


def test_a_word_of_another_language_is_no_proof_of_absence() -> None:
    """A section that the text names by its own word is not said to be missing."""
    text = "# Otterby\n\n## Boote\n\nNach Artikel 7 sind es zwei.\n\n## Otter\n\nAlle, und \u7b2c8\u6761.\n"
    found = collect_reply_evidence(
        "Articles 7, 8 and 9.", Document("x", text, About(company="X", language="en"))
    ).references
    assert [one.missing for one in found] == [False, False, False]
    assert [one.problem.endswith("is recognised in this document") for one in found[:2]] == [True, True]
