"""What an answer cites is found where the document has it, and said to be missing where it hasn't."""

from __future__ import annotations

import pytest
from evidence_cases import HALF, LAW, LINE, NOTICE, PARTS, POLICY, shown

from genaipa.policies.document import About, Document
from genaipa.scoring.evidence.resolution import find_and_resolve_citations
from genaipa.scoring.evidence.section_finder import find_outline


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("(Part 2)", [("Part 2", "Part 2")]),
        ("So it says [^Part 1^].", [("Part 1", "Part 1")]),
        ("[Part1] and Part 2\u2020", [("Part1", "Part 1"), ("Part 2", "Part 2")]),
        ("(ChatGPT: P2)", [("P2", "Part 2")]),
        ("See Part 7.", [("Part 7", "")]),
        ("(Parts 1 & 2)", [("Parts 1", "Part 1"), ("2", "Part 2")]),
        ("(Reference: Part 1, 2, 9)", [("Part 1", "Part 1"), ("2", "Part 2"), ("9", "")]),
        ("Parts 1-2 say so", [("Parts 1-2", "Part 1 to Part 2")]),
        ("Parts 1-4 say so", [("Parts 1-4", "")]),
        ("Part 1 and 2 say so", [("Part 1", "Part 1"), ("2", "Part 2")]),
        ("In Part 1, 30 days are named.", [("Part 1", "Part 1")]),
        ("In Part 1 and 30 days later", [("Part 1", "Part 1")]),
        ("(Part 1, Section 1.1)", [("Part 1, Section 1.1", "Part 1: Section 1.1 Winter records")]),
        ("Section 1.1 of Part 1", [("Section 1.1 of Part 1", "Part 1: Section 1.1 Winter records")]),
        (
            "Part 1, Sections 1.1 and 1.2",
            [
                ("Part 1, Sections 1.1", "Part 1: Section 1.1 Winter records"),
                ("1.2", "Part 1: Section 1.2 Summer records"),
            ],
        ),
        ("[Part 1: 1.1]", [("Part 1: 1.1", "Part 1: Section 1.1 Winter records")]),
        ("(Part 1.2)", [("Part 1.2", "Section 1.2 Summer records")]),
        ("(Part 2.2)", [("Part 2.2", "")]),
        (
            "Part 2, Section 1.1",
            [("Part 2, Section 1.1", "Section 1.1 Winter records, which is outside the system's Part 2")],
        ),
        ("Part 2, Section 1", [("Part 2, Section 1", "")]),
        ("Part 1, Section 3", [("Part 1, Section 3", "")]),
        (
            "Part 1, Sections 1.1-1.2",
            [("Part 1, Sections 1.1-1.2", "Part 1: Section 1.1 Winter records to Part 1: Section 1.2 Summer records")],
        ),
        (
            'Part 1, Section 1.1: "Summer records"',
            [
                (
                    'Part 1, Section 1.1: "Summer records"',
                    "Part 1: Section 1.2 Summer records, which is not Section 1.1",
                )
            ],
        ),
        ("[Part 2, 3. Keeping it safe]", [("Part 2, 3. Keeping it safe", "Part 2: Section 3 Keeping it safe")]),
        ("Part 1, Sections A-F", [("Part 1, Sections A-F", "")]),
        (
            'Part 2: "Your choices"',
            [('Part 2: "Your choices"', "Part 2: Section 2 Your choices")],
        ),
        (
            "Part 1 of the Hedgehog privacy policy, Section 1.1",
            [("Part 1 of the Hedgehog privacy policy, Section 1.1", "Part 1: Section 1.1 Winter records")],
        ),
        ("Part 2 of the summary", [("Part 2", "")]),
        ("Reference: Summary, Part 2", [("Part 2", "")]),
        ("(Summary Point 3)", [("Summary Point 3", "")]),
    ],
)
def test_parts(reply: str, expected: list[tuple[str, str]]) -> None:
    """A part is one of those that the system was given, and what lies in it is found there."""
    assert shown(find_and_resolve_citations(reply, POLICY, PARTS)) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Section 1.1", [("Section 1.1", "Section 1.1 Winter records")]),
        (
            "**Section 1.1**, \u00a7 2",
            [("Section 1.1", "Section 1.1 Winter records"), ("\u00a7 2", "Section 2 Your choices")],
        ),
        ("Section 9", [("Section 9", "")]),
        ("(1.1) and [^1.2^]", [("1.1", "Section 1.1 Winter records"), ("1.2", "Section 1.2 Summer records")]),
        ("(see 1.1, 1.2), (2.5)", [("1.1", "Section 1.1 Winter records"), ("1.2", "Section 1.2 Summer records")]),
        ("Section 1.7", [("Section 1.7", "")]),
        ("Section 1.1.4", [("Section 1.1.4", "Section 1.1 Winter records, which has no subsection 1.1.4")]),
        ("Sections 1.1 to 2", [("Sections 1.1 to 2", "Section 1.1 Winter records to Section 2 Your choices")]),
        ('Section 2, "Your choices"', [('Section 2, "Your choices"', "Section 2 Your choices")]),
        ('Section 2: "Government requests"', [('Section 2: "Government requests"', "")]),
        (
            'section 2 of the policy, titled "Your Choices"',
            [('section 2 of the policy, titled "Your Choices"', "Section 2 Your choices")],
        ),
        ("the 'Your choices' section", [("'Your choices'", "Section 2 Your choices")]),
        ("the \u201c2. Your choices\u201d section", [("\u201c2. Your choices\u201d", "Section 2 Your choices")]),
        ("the Winter Records section", [("Winter Records", "Section 1.1 Winter records")]),
        ('the "Beetle trade" section of the policy', [('"Beetle trade"', "")]),
        ("https://hedge.example/policy/, Section 3", [("Section 3", "Section 3 Keeping it safe")]),
        ("Section 2 of my summary", [("Section 2", "")]),
        ("Section 2 of the GDPR", [("Section 2", "")]),
    ],
)
def test_sections(reply: str, expected: list[tuple[str, str]]) -> None:
    """A section is found by its number, its title or both, and not where the two disagree."""
    assert shown(find_and_resolve_citations(reply, POLICY)) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Article 3(1)(a)", ["Article 3 Care"]),
        ("Art. 4", ["Article 4 Fines"]),
        ("Articles 2-4", ["Article 2 Terms to Article 4 Fines"]),
        ("Articles 1, 2 and 9", ["Article 1 Scope", "Article 2 Terms", ""]),
        ("Chapter II, Article 3", ["Article 3 Care"]),
        ("Article 3 of Chapter II", ["Article 3 Care"]),
        ("Article 4 of the GDPR", ["Article 4 Fines"]),
        ("Article 4 of the CCPA", [""]),
        ("Recital 26", [""]),
    ],
)
def test_articles(reply: str, expected: list[str]) -> None:
    """Articles of a law are found, with what is below them; those of another law aren't taken for them."""
    assert [reference.resolved for reference in find_and_resolve_citations(reply, LAW)] == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("section II.B", ["Section II.B What we hear"]),
        ("[Part 1, II. A, B]", ["Part 1: Section II.A What we see", "Part 1: Section II.B What we hear"]),
        (
            "(II. Data collections, A. What we see, B. What we hear)",
            ["Section II Data collections", "Section II.A What we see", "Section II.B What we hear"],
        ),
        ("[Part 1, B. What we hear]", ["Part 1: Section II.B What we hear"]),
        ("(Part 1B)", ["Part 1: Section II.B What we hear"]),
        ("(Part 1, Section C)", [""]),
        ("(III. Choice)", ["Section III Choice"]),
        ("(III. Research)", [""]),
    ],
)
def test_letters_and_roman_numbers(reply: str, expected: list[str]) -> None:
    """IV.B is found, as B behind IV and as B in the part that holds it."""
    whole = (0, len(NOTICE.text))
    assert [reference.resolved for reference in find_and_resolve_citations(reply, NOTICE, (whole,))] == expected


@pytest.mark.parametrize(
    ("reply", "outside"),
    [
        ("Under Article 33 of the GDPR a company must notify.", ["another law"]),
        ("As required by Article 13 GDPR", ["another law"]),
        ("Art. 6 para. 1 lit. f GDPR", ["another law"]),
        ("the GDPR's Article 33", ["another law"]),
        ("under the GDPR (Article 33)", ["another law"]),
        ("Articles 13, 14 and 15 of the General Data Protection Regulation", ["another law"] * 3),
        ("GDPR Articles 12-14 and 33", ["another law"] * 2),
        ("Article 33 of Regulation (EU) 2016/679", ["another law"]),
        ("Section 230 of the Communications Decency Act", ["another law"]),
        ("Section 2 of the law", ["another law"]),
        ("Part 2 of the Data Protection Act 2018", ["another law"]),
        ("Cal. Civ. Code \u00a7 1798.105", ["another law"]),
        ("47 U.S.C. \u00a7 230", ["another law"]),
        ("Section 2 and Article 13 GDPR", ["", "another law"]),
        ("(Summary Part 2, 3)", ["a summary", "a summary"]),
        ("Part 2 of the summary and Part 1", ["a summary", ""]),
        ("It complies with the GDPR (Section 2).", [""]),
        ("It complies with the GDPR (Section 9).", ["perhaps another text"]),
        ("Section 9 under Law Enforcement", [""]),
        ("Section 9 of the CCPA notice", [""]),
        ("Schedule A call.", ["perhaps another text"]),
        ("Article 9 adds to that.", ["perhaps another text"]),
        ("\u00a7 9", ["perhaps another text"]),
        ("Article 2", [""]),
        ("Article 9 of the policy", [""]),
        ("The policy says so in Schedule 3.", [""]),
        ("the policy's Schedule 3", [""]),
        ("Section 9", [""]),
        ("the Article 29 Working Party", []),
    ],
)
def test_other_texts_are_told_apart(reply: str, outside: list[str]) -> None:
    """A policy isn't said to lack what is another law's, a summary's, or called as none of its sections is."""
    assert [reference.outside for reference in find_and_resolve_citations(reply, POLICY, PARTS)] == outside


@pytest.mark.parametrize(
    ("reply", "outside"),
    [
        ("Article 4 of the GDPR", ""),
        ("Article 4 of the General Data Protection Regulation", ""),
        ("Article 4 of Regulation (EU) 2016/679", ""),
        ("Article 4 of the Act", ""),
        ("Article 77 GDPR", ""),
        ("Chapter IX", ""),
        ("Article 4 of the CCPA", "another law"),
        ("Article 4 of Directive 95/46/EC", "another law"),
        ("Recital 26", "perhaps another text"),
        ("Recital 26 of the GDPR", ""),
    ],
)
def test_a_law_is_not_another_one(reply: str, outside: str) -> None:
    """Where the document itself is the law that an answer names, its articles are there or missing."""
    (reference,) = find_and_resolve_citations(reply, LAW)
    assert reference.outside == outside
    assert bool(reference.target) == (reply.startswith("Article 4") and not outside)


def test_a_title_decides_which_part_is_meant() -> None:
    """A title that is another section's tells what is meant; one that it has nowhere is said to be invented."""
    reply = (
        """Part 1: "Winter records". Part 1: "Your choices". Part 2: "Winter records". Part 2: "How we feed foxes"."""
    )
    found = find_and_resolve_citations(reply, POLICY, PARTS)
    assert [reference.problem for reference in found] == [
        "",
        "which is outside the system's Part 1",
        "which is outside the system's Part 2",
        "but this document has no such heading",
    ]
    assert found[3].target == PARTS[1]
    assert found[3].is_part_with_invented_heading
    assert not any(reference.missing for reference in found)
    # One that counts the sections as parts means section 3 by "Part 3", if it is asked for by its title there.
    (titled, bare) = find_and_resolve_citations('Part 3: "Keeping it safe" and Part 2', POLICY, (*PARTS, PARTS[0]))
    assert (titled.resolved, titled.problem) == ("Section 3 Keeping it safe", "")
    assert (bare.resolved, bare.problem) == (
        "Section 2 Your choices",
        "assuming that the answer calls sections parts",
    )


def test_a_part_with_the_end_of_a_section() -> None:
    """Of two sections with a letter, the one that begins in a part is meant; one that only ends there is said to."""
    lettered = Document(
        "shrew",
        "I. One\n\nOf it.\n\nA. Alpha\n\nBurrows, ponds and reeds, by day and by night.\n\nB. Beta\n\nFrogs.\n\n"
        "II. Two\n\nOf that.\n\nA. Gamma\n\nHedges.\n\nB. Delta\n\nTwo keys.\n",
        POLICY.about,
    )
    border = lettered.text.index("by night")
    found = find_and_resolve_citations(
        "(Part 4, A)", lettered, ((0, 1), (1, 2), (2, border), (border, len(lettered.text)))
    )
    assert found[0].resolved == "Part 4: Section II.A Gamma"
    border = POLICY.text.index("never sell")
    found = find_and_resolve_citations("(Part 2, Section 1.2)", POLICY, ((0, border), (border, len(POLICY.text))))
    assert (found[0].resolved, found[0].problem) == (
        "Part 2: Section 1.2 Summer records",
        "which is only completed in that part",
    )


def test_what_is_said_to_be_missing_is_missing() -> None:
    """Where a number, or nearly the words of a title, are in the document after all, nothing is said to be missing."""
    listed = Document("vole", f"{POLICY.text}\n\n7. Also beetles count as snacks.\n", POLICY.about)
    replies = ("Section 7", "Section 8", "Section 2.5", 'Section 1: "Fox trade"', "Schedule 3")
    assert [find_and_resolve_citations(reply, listed)[0].missing for reply in replies] == [
        False,
        True,
        True,
        False,
        False,
    ]
    # 4.1 makes a section 4, though its heading was lost.
    lost = Document("shrew", "1. One\n\nA.\n\n2. Two\n\nB.\n\n4.1 Four\n\nC.\n", POLICY.about)
    assert find_and_resolve_citations("Section 4", lost)[0].target
    begun = find_and_resolve_citations(
        'the "You may leave the hedge and tell nobody about it" section of the policy', POLICY
    )[0]
    assert not begun.missing
    near = find_and_resolve_citations('the "You may leave this hedge at any time" section of the policy', POLICY)[0]
    assert (near.resolved, near.problem) == ("“You may leave the hedge at any time”", "which has similar wording")


def test_parts_of_a_summary() -> None:
    """A system that was given a summary may mean its parts: only a title says that a part is the document's."""
    found = find_and_resolve_citations(
        'Part 2. Section 2. Part 2: "Your choices".', POLICY, PARTS, system_had_summary=True
    )
    assert [(bool(reference.target), reference.outside) for reference in found] == [
        (False, "perhaps another text"),
        (False, "perhaps another text"),
        (True, ""),
    ]


def test_numbers_inside_a_line() -> None:
    """A document that is one line has the sections that rising numbers tell, also where a blank is lost."""
    assert [section.number for section in find_outline(LINE)] == ["1", "1.1", "1.2", "1.3", "2", "2.1", "3"]
    found = find_and_resolve_citations("Section 1.3, Section 2.1 and Section 2.2", LINE)
    assert [bool(reference.target) for reference in found] == [True, True, False]
    assert LINE.text[slice(*(found[1].target or ()))].startswith("2.1 Deleting it")


def test_a_heading_has_its_own_line_or_a_capital() -> None:
    """Words that stand in the midst of a sentence are no heading."""
    document = Document(
        "vole", "We run. What the vole hears We hear every step and what the vole wants.", About("Vole")
    )
    reply = 'the "What the vole hears" section and the "What the vole wants" section'
    assert [reference.text for reference in find_and_resolve_citations(reply, document)] == ['"What the vole hears"']


@pytest.mark.parametrize(
    "reply",
    [
        "Many parties are part of 3 groups.",
        "the part I like",
        'Go to the "Privacy" section of your account settings.',
        'Open the "Snack Preferences" section in the app.',
        'Open the "Your choices" section of your account settings.',
        "https://help.example/article/2855",
        "It keeps them for 2.3 years.",
        "",
    ],
)
def test_what_cites_nothing(reply: str) -> None:
    """Words and numbers that only look like a citation are none."""
    assert find_and_resolve_citations(reply, POLICY, PARTS) == ()


def test_expected_where_the_annotated_section_is() -> None:
    """A citation is expected if it is, lies in or contains what the annotated answer rests on."""
    section = POLICY.sections[3]
    target = section.start, section.end
    reply = "Section 1.2. Section 1. Part 1. Section 1.1. Part 2. Section 9."
    found = find_and_resolve_citations(reply, POLICY, PARTS, [target])
    assert [bool(reference.expected) for reference in found] == [True, True, True, False, False, False]


@pytest.mark.parametrize(("inside", "expected"), [(60, True), (40, False)])
def test_expected_across_borders(inside: int, expected: bool) -> None:
    """Where parts are cut otherwise than the annotators' own, half of the shorter one has to lie in the other."""
    target = HALF - inside, HALF - inside + 100
    (reference,) = find_and_resolve_citations("Part 1", POLICY, PARTS, [target])
    assert bool(reference.expected) is expected


def test_a_section_reaches_over_what_is_beneath_it() -> None:
    """The passage of a section includes its subsections."""
    (reference,) = find_and_resolve_citations("Section 1", POLICY)
    assert reference.target == (POLICY.text.index("## 1."), HALF)


def test_long_replies_end() -> None:
    """Two hundred thousand characters of citations, or of what nearly are some, are read up to a thousand."""
    for reply in (
        "Articles " + "1, " * 66_000,
        "Part 1." * 28_000,
        '"Your Choices" and ' * 10_000,
        "Part " + "1." * 99_000,
        "Section 1 of " + "And " * 50_000,
        "Article 1 GDPR, " * 12_000,
    ):
        assert len(find_and_resolve_citations(reply, POLICY, PARTS)) <= 1000
