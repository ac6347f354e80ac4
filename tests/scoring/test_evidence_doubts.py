"""What genaipa knows against an annotated answer: nothing rests on that, and the reason is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from analysts import make_answers
from pages import desk_here, digests
from running import TEXT, write

from genaipa.files.text import sha256_of
from genaipa.policies.document import About, Document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.scoring.evidence.doubts import describe_likely_wrong_cited_section

FERRY = "The ferry leaves the northern pier at seven and returns with mail, milk and musicians every Friday evening. "
CROWS = "Crows are counted by the warden, who writes their number into a green ledger beneath the lighthouse. "
PARTED = Document("island", FERRY + CROWS, About(company="Island", part_sets={"halves": (0, len(FERRY))}))
HEADED = Document(
    "island", f"# Island\n\n## 1. Ferry\n\n{FERRY}\n\n## 2. Birds\n\nThere are some.\n\n### 2.1 Crows\n\n{CROWS}\n",
    About(company="Island"),
)  # fmt: skip


def doubt(answer: str, *sections: str, document: Document = PARTED) -> str:
    """What is said against an annotated answer."""
    return describe_likely_wrong_cited_section(
        AnnotatedAnswer(silent="no", answer=answer, sections=sections), document, "halves"
    )


def test_the_wrong_part() -> None:
    """It shares far more phrases with a part that it does not name, or the part is not there."""
    assert doubt(CROWS, "Part 1") == (
        "It cites Part 1, with which it shares 0 phrases of 3 words; it shares 10 with Part 2."
    )
    assert doubt(CROWS, "Part 2") == ""
    assert doubt(CROWS, "Part 1", "Part 2") == ""
    assert doubt("Crows are counted.", "Part 1") == "", "a few words tell nothing"
    assert doubt(CROWS, "Part 7") == "It cites Part 7, but the document has only 2 parts."


def test_the_wrong_section() -> None:
    """So with numbered sections; what is beneath the one that is named belongs to it."""
    assert doubt(CROWS, "1", document=HEADED).startswith("It cites 1, with which it shares 0")
    assert doubt(CROWS, "2", document=HEADED) == ""
    assert doubt(CROWS, "2.1", document=HEADED) == ""
    assert doubt("Perhaps.", document=HEADED) == ""


ANNOTATIONS = '  Q1: {silent: no, answer: "Your name.", sections: ["1"]}\n  Q2: {silent: yes, answer: No word.}\n'


def test_known_to_the_desk() -> None:
    """A correction and an audit's finding each put an annotated answer in doubt; one without either is trusted."""
    run = make_answers("See section 1.", "It does not say.", annotations=ANNOTATIONS)

    def doubts() -> list[str]:
        desk = desk_here()
        return [desk.pool.load_case(one).doubt for one in digests(desk)]

    assert doubts() == ["", ""]
    write(
        "corrections/acme.yaml",
        f"document: acme\nquestions: policy\nannotators: [one]\ndigest: {sha256_of(TEXT)}\ncorrections:\n"
        "  Q2: {silent: no, answer: They deliver it., sentence: We deliver your order., why: It says so.}\n",
    )
    assert doubts() == ["", "A correction is known: silent: no. They deliver it. Corrected: It says so."]
    copied = Exclusion("annotation", "acme|Q1", "annotation-copied", "It is a copy.")
    other = Exclusion("score", "acme|Q1", "duplicate-scores", "None.")
    Path(run.path / EXCLUSIONS).write_bytes(format_exclusions_csv([other, copied]))
    assert doubts()[0] == "It is a copy."
    desk = desk_here()
    trusted = [desk.pool.load_case(one).reliable_annotation for one in digests(desk)]
    assert trusted == [None, None]


@pytest.mark.parametrize("silent", ["no", "yes"])
def test_nothing_is_known_of_an_answer_without_sections(silent: str) -> None:
    """What names no part is in no wrong one."""
    assert describe_likely_wrong_cited_section(AnnotatedAnswer(silent=silent, answer=CROWS), PARTED, "halves") == ""  # type: ignore[arg-type]
