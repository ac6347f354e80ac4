"""Published answers that say the same: under two questions, or to one question in several runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from genaipa.datasets.study import PublishedAnswer
from genaipa.questions.sets import load_question_set
from genaipa_study.audit import audit_repeated_answers

if TYPE_CHECKING:
    from genaipa_study.findings import Finding
    from genaipa_study.study import PublishedStudy

LONG = (
    "Couriers photograph every parcel at the door, keep the picture for three weeks in the depot archive, and tell you "
)
SAME = f"{LONG} so when you ask."


def answer(question: str, text: str, cell: str, **changed: object) -> PublishedAnswer:
    """An answer of a made-up system about one document."""
    place = {"experiment": "quality", "document": "uber", "wording": "original", "repetition": 1}
    fields = {"system": "published/other", "asked": "What?", "file": "a.xlsx", "sheet": "uber", **place, **changed}
    return PublishedAnswer(question=question, text=text, cell=cell, **fields)  # type: ignore[arg-type]


def found(*answers: PublishedAnswer) -> list[Finding]:
    """The findings about these answers."""
    return list(audit_repeated_answers(answers, load_question_set("policy")))


def kinds(findings: list[Finding]) -> list[tuple[str, str, str]]:
    """Kind, cell and effect of each."""
    return [(finding.kind, finding.cell, finding.excludes) for finding in findings]


def test_a_copy_goes_where_it_fits() -> None:
    """Of two questions the one that has more words of the text keeps it, also in another experiment or run."""
    text = f"{LONG} which security measures protect it, with encryption."
    copies = answer("SE_f1", text, "C20"), answer("CA_f2", text, "C30", experiment="recall", repetition=2)
    (finding,) = found(*copies)
    assert kinds([finding]) == [("other-question", "C30", "answer")]
    assert "the answer to SE_f1, word for word" in finding.reason


def test_a_copy_that_fits_no_question_better_is_mentioned() -> None:
    """Where two questions fit alike, nothing is left out, and both places are named."""
    (finding,) = found(answer("SE_f1", SAME, "C20"), answer("CA_f2", f" {SAME.upper()}\n", "C30"))
    assert kinds([finding]) == [("same-answer", "C20", "")]
    assert "C30 (CA_f2, quality, original, run 1)" in finding.reason


def test_a_stock_reply_is_no_copy() -> None:
    """A text under three questions or more is mentioned once, whatever its words, and nothing is left out for it."""
    text = f"{LONG} about security and encryption."
    cells = [("T_f1", "C5"), ("SE_f1", "C20"), ("CA_f2", "C30"), *((f"RC_f{n}", f"C4{n}") for n in (1, 2, 3))]
    (finding,) = found(*(answer(question, text, cell) for question, cell in cells))
    assert kinds([finding]) == [("same-answer", "C5", "")]
    assert finding.reason.count("run 1") == 5
    (finding,) = found(*(answer(question, text, cell) for question, cell in cells), answer("T_f2", text, "C6"))
    assert finding.reason.endswith("and 1 more.")


def test_near_copies_are_mentioned() -> None:
    """Texts with 95 % of their words in common; of fewer, and of texts about other documents, nothing is said."""
    words = [f"word{n}" for n in range(40)]
    near, far = (" ".join([*words[: 40 - n], *("else" for _ in range(n))]) for n in (2, 3))
    first = answer("SE_f1", " ".join(words), "C20")
    (finding,) = found(first, answer("CA_f2", near, "C30"))
    assert kinds([finding]) == [("near-copy", "C20", "")]
    assert "(95.0% of the words) is in C30" in finding.reason
    assert found(first, answer("CA_f2", far, "C30")) == []
    assert found(first, answer("CA_f2", near, "C30", document="airbnb")) == []
    # The same words in another order are not the same text.
    assert found(first, answer("CA_f2", " ".join(sorted(words, key=lambda word: word[::-1])), "C30")) == []


def test_repeats_in_several_runs_are_mentioned() -> None:
    """The same answer to the same question, word for word or nearly, is one finding, and is not left out."""
    runs = [answer("T_u1", SAME, f"{column}5", repetition=run) for run, column in enumerate("CDE", start=1)]
    (finding,) = found(*runs)
    assert kinds([finding]) == [("repeated-answer", "C5", "")]
    assert "word for word, is in D5 (T_u1, quality, original, run 2), E5 (" in finding.reason
    assert (finding.key, finding.repetition) == (runs[0].key, 1)
    assert found(answer("T_u1", "Yes, it does.", "C5"), answer("UC_u1", "Yes, it does.", "C7")) == []


@pytest.mark.full
def test_published_repeats(real: PublishedStudy) -> None:
    """Of two systems: four copies that fit another question better, none undecided, and repeats in 52 places."""
    counted = {kind: sum(f.kind == kind for f in real.findings) for kind in ("same-answer", "near-copy")}
    assert counted == {"same-answer": 0, "near-copy": 0}
    repeated = [f for f in real.findings if f.kind == "repeated-answer"]
    assert {name: sum(f.system == name for f in repeated) for name in ("published/bard", "published/chatgpt-4")} == {
        "published/bard": 17,
        "published/chatgpt-4": 35,
    }
    assert sum("Nearly" in f.reason for f in repeated) == 2
