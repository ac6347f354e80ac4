"""What stands on the analyst's screen: highlights at the right place, evidence beside its metric, names masked."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genaipa.policies.document import About, Document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.scoring.answers import Occurrence, PooledAnswer, ScoringCase
from genaipa.scoring.events import Event
from genaipa.ui.answer_view import (
    TextSpan,
    compare_with_reference,
    cut_text_at_highlights,
    find_break_offsets_in_long_lines,
    prepare_answer,
)
from rubrics import PAPER, typed

if TYPE_CHECKING:
    from genaipa.ui.answer_view import StyledTextPiece

TEXT = """# ACME Privacy Policy

## 1. What we collect

We collect your name and your address. We collect nothing else from you.

## 2. What we do with it

We deliver your order \U0001f389. ChatGPT helps us to answer you.
"""
ANNOTATED = AnnotatedAnswer(silent="no", answer="Name and address (1).", sections=("1",))
SILENT = AnnotatedAnswer(silent="yes", answer="It does not say.")


def case(reply: str, annotated: AnnotatedAnswer | None = ANNOTATED, status: Any = "answered") -> ScoringCase:
    """An answer to be scored."""
    document = Document("acme", TEXT, About(company="ACME"))
    where = Occurrence("run-1", "key", "openai/gpt-4o", "acme", "document", "original", 1, "T_u1", "T", 0)
    answer = PooledAnswer(
        digest="d" * 64,
        document_digest=document.digest,
        kind="policy",
        status=status,
        occurrences=[where],
    )
    return ScoringCase(
        answer=answer,
        asked="What do you collect?",
        reply=reply,
        original="",
        document=document,
        annotated=annotated,
        part_set="",
        parts=(),
        names=("GPT-4o", "OpenAI", "ChatGPT"),
    )


def screen(reply: str, annotated: AnnotatedAnswer | None = ANNOTATED, *, blind: bool = True) -> dict[str, Any]:
    """What the pad gets for an answer."""
    return prepare_answer(case(reply, annotated), PAPER, mask_system_names=blind).screen_data


def as_cut(text: str, lengths: list[list[int | str]]) -> list[StyledTextPiece]:
    """The pieces of a text, cut as the browser cuts it: by units of UTF-16."""
    units, at, cut = text.encode("utf-16-le"), 0, []
    for length, *marked in lengths:
        cut.append([units[at : at + 2 * int(length)].decode("utf-16-le"), *map(str, marked)])
        at += 2 * int(length)
    assert at == len(units)
    return cut


def with_style(cut: list[StyledTextPiece], style: str) -> str:
    """The stretches of a text that carry a style, joined."""
    return "".join(piece[0] for piece in cut if len(piece) > 1 and style in piece[1].split())


def lines(shown: dict[str, Any], metric: str) -> list[tuple[str, str]]:
    """Tone and text of the evidence beside a metric."""
    return [(line["tone"], line["text"]) for line in shown["evidence"][metric]]


spans = st.builds(
    TextSpan, st.integers(-2, 40), st.integers(-2, 40), st.sampled_from(["a", "b"]), st.sampled_from("xyz")
)


@given(st.text(max_size=30), st.lists(spans, max_size=6))
def test_pieces_are_the_text(text: str, marked: list[TextSpan]) -> None:
    """Whatever is highlighted, the pieces make up the text, and each character has the styles of the spans it is in."""
    cut = cut_text_at_highlights(text, marked)
    assert "".join(piece[0] for piece in cut) == text
    inside = [span for span in marked if 0 <= span.start < span.end <= len(text)]
    styles = [set(piece[1].split()) if len(piece) > 1 else set() for piece in cut for _ in piece[0]]
    assert styles == [{span.style for span in inside if span.start <= i < span.end} for i in range(len(text))]


def test_the_document_shows_what_the_answer_rests_on() -> None:
    """The annotated section, the cited one and the quoted words are each highlighted, and the first is scrolled to."""
    shown = screen('They say "ChatGPT helps us to answer you" (Section 2).')
    cut = as_cut(TEXT, shown["pieces"])
    assert with_style(cut, "annotated").startswith("## 1. What we collect")
    assert with_style(cut, "cited").startswith("## 2. What we do with it")
    assert with_style(cut, "quoted") == "ChatGPT helps us to answer you"
    assert with_style(cut, "heading").startswith("# ACME Privacy Policy")
    assert shown["first"] == "a0"
    assert shown["annotated"]["sections"] == [{"label": "1", "mark": "a0"}]


def test_a_line_of_thousands_of_letters_is_broken_into_paragraphs() -> None:
    """Where its sections begin and between sentences, at places that the browser counts; not in tables."""
    said = "We keep it \U0001f389 as the law (e.g. that of U.S. states) says. " * 40
    line = "".join(f"{n}. Matter {n} {said}" for n in (1, 2, 3))
    document = Document("acme", f"{line}\n\n| {said} |\n\nWe end here. And so on.\n", About(company="ACME"))
    at = find_break_offsets_in_long_lines(document)
    starts = {line.index(f"{n}. Matter") for n in (2, 3)}
    assert starts < set(at)
    assert {document.text[place - 6 : place] for place in at} == {"says. "}
    assert max(map(len, cut_at(line, at))) < 1000
    shown = prepare_answer(replace(case("So."), document=document), PAPER, mask_system_names=True)
    units = line.encode("utf-16-le")
    assert [len(units[: 2 * place].decode("utf-16-le")) for place in shown.document["breaks"]] == at
    assert "1." in with_style(as_cut(document.text, shown.screen_data["pieces"]), "heading")
    assert find_break_offsets_in_long_lines(Document("acme", TEXT, About(company="ACME"))) == []


def cut_at(text: str, places: list[int]) -> list[str]:
    """The text between these places."""
    return [text[start:end] for start, end in pairwise([0, *places, len(text)])]


def test_evidence_stands_beside_its_metric() -> None:
    """Sections beside reference, quotations beside accuracy; those that are word for word are one line."""
    shown = screen(
        'See Section 1 and Section 9. They say: "We collect your name and your address." "We sell all of your data."'
    )
    assert ("good", "Section 1 → Section 1 What we collect") in lines(shown, "reference")
    assert ("bad", "Section 9 → no Section 9 in this document") in lines(shown, "reference")
    assert lines(shown, "accuracy") == [
        ("plain", "1 of 2 longer quotations are in the document word for word"),
        ("bad", "these quoted words are not in the document: We sell all of your data."),
    ]
    assert lines(shown, "completeness") == []
    assert lines(shown, "clarity") == [("plain", "21 words")]


def test_what_is_of_another_text_is_not_called_missing() -> None:
    """A law's article and a summary's part are said to be so, and what may be either is unsure."""
    silent = AnnotatedAnswer(silent="yes", answer="The policy does not say.")
    shown = screen(
        "The policy does not say, nor does Part 2 of the summary. See Article 33 GDPR and Schedule 3.", silent
    )
    assert lines(shown, "reference") == [
        ("plain", "Part 2 → a summary, not this document"),
        ("plain", "Article 33 → another law, not this document"),
        ("unsure", "Schedule 3 → perhaps in another text, not this document"),
    ]
    assert with_style(shown["reply"], "unsure") == "Schedule 3"
    assert with_style(shown["reply"], "bad") == ""
    assert shown["suggestion"] == {}


def test_a_section_that_is_named_twice_is_one_line() -> None:
    """The list of evidence does not grow with an answer that repeats itself."""
    assert len(lines(screen("Section 1 says so. Section 1 repeats it."), "reference")) == 1


def test_silence_is_compared_with_the_annotation() -> None:
    """On a silent question the paper's rule is shown, and whether the answer says that the document is silent."""
    silent = AnnotatedAnswer(silent="yes", answer="The policy does not say.")
    rightly = screen("The policy does not say.", silent)
    assert rightly["annotated"]["rule"].endswith("any mention of a section scores -1 on reference.")
    assert lines(rightly, "accuracy")[0][0] == "good"
    assert rightly["suggestion"] == {"reference": "1"}
    assert [tone for tone, _ in lines(rightly, "reference")] == ["good"]
    assert lines(screen("Yes, they sell it.", silent), "reference") == [("plain", "cites no section")], "no tick"
    goes_on = screen("The policy does not say. But they most likely keep it for years.", silent)
    assert lines(goes_on, "reference") == [("plain", "cites no section")], "no tick"
    wrongly = screen("Yes, see Section 2.", silent)
    assert ("bad", "cites a section where the document is silent, which scores -1") in lines(wrongly, "reference")
    assert wrongly["suggestion"] == {"reference": "3"}
    denied = screen("The policy does not say.")
    assert lines(denied, "accuracy") == [
        ("bad", "says that the document is silent; according to the annotated answer, it is not")
    ]
    assert lines(screen("It collects your name. The policy does not say how long it keeps it."), "accuracy") == []
    assert (rightly["annotated"]["silent"], denied["annotated"]["silent"]) == ("the document is silent", "")
    partly = screen("The policy does not say.", AnnotatedAnswer(silent="partly", answer="Only the date."))
    assert partly["annotated"]["silent"] == "the document answers only part of the question"
    assert (partly["annotated"]["rule"], lines(partly, "accuracy"), partly["suggestion"]) == ("", [], {})
    worded = AnnotatedAnswer(silent="no", answer="The policy does not mention training.")
    assert lines(screen("The policy does not say.", worded), "accuracy") == []


def test_two_splits_are_told_apart() -> None:
    """Part 1 of the annotators and Part 1 of the system may be different passages: each is named for what it is."""
    half = TEXT.index("## 2.")
    about = About(company="ACME", part_sets={"theirs": (0, half)})
    annotated = AnnotatedAnswer(silent="no", answer="So.", sections=("Part 2", "Part 1"))
    base = case("See Part 1 and Part 2.", annotated)
    parts = ((0, 30), (30, half), (half, len(TEXT)))
    found = prepare_answer(
        replace(base, document=Document("acme", TEXT, about), part_set="theirs", parts=parts),
        PAPER,
        mask_system_names=True,
    ).screen_data
    assert [section["label"] for section in found["annotated"]["sections"]] == [
        "the annotators' Part 2",
        "the annotators' Part 1",
    ]
    assert lines(found, "reference") == [
        ("plain", "cites 1 of 2 annotated passages"),
        ("good", "Part 1: overlaps an annotated passage"),
        ("good", "Part 2: overlaps an annotated passage"),
    ]


def test_a_part_that_may_be_a_section() -> None:
    """Where the section with a part's number is the right one, and the part is not, both are said."""
    parts = ((len(TEXT) - 20, len(TEXT)), (0, 30))
    found = prepare_answer(replace(case("(Part 1)"), parts=parts), PAPER, mask_system_names=True).screen_data
    (line,) = lines(found, "reference")
    assert line[1] == "Part 1: not an annotated passage, but Section 1 overlaps one"
    assert found["suggestion"] == {}


def test_lines_that_say_nothing_are_left_out() -> None:
    """That a part is there, where nothing is known of what it should be, is no evidence."""
    whole = replace(case("(Part 1)", AnnotatedAnswer(silent="no", answer="So.")), parts=((0, len(TEXT)),))
    assert lines(prepare_answer(whole, PAPER, mask_system_names=True).screen_data, "reference") == []
    assert lines(screen("See the following section: What we collect"), "reference") == []
    assert lines(screen("Your name."), "reference") == [("plain", "names no section")]


def test_names_are_masked_unless_the_document_uses_them() -> None:
    """The system's own name would tell whose answer it is; one that the policy itself names would not."""
    reply = "As GPT-4o, made by OpenAI, I find that ChatGPT helps them."
    blind = "".join(piece[0] for piece in screen(reply)["reply"])
    assert "GPT-4o" not in blind
    assert "OpenAI" not in blind
    assert "ChatGPT helps them" in blind
    assert "".join(piece[0] for piece in screen(reply, blind=False)["reply"]) == reply


def test_nothing_of_the_run_is_sent_to_a_blind_screen() -> None:
    """System, run and initialization are not hidden in the page: they are not there."""
    shown = repr(screen("As GPT-4o I can't say."))
    assert "run-1" not in shown
    assert "gpt-4o" not in shown.casefold()


@pytest.mark.parametrize(("status", "said"), [("refused", "refused"), ("truncated", "cut off"), ("answered", "")])
def test_how_an_answer_ended_is_said(status: str, said: str) -> None:
    """A refusal and an answer that was cut off are scored like others, and are called so."""
    shown = prepare_answer(case("No.", status=status), PAPER, mask_system_names=True).screen_data
    assert said in shown["state"]
    assert bool(shown["state"]) == bool(said)


def test_without_annotation_and_words() -> None:
    """An answer without words, to a question that nobody annotated, has a screen too."""
    shown = screen("", None)
    assert shown["annotated"] is None
    assert shown["words"] == 0
    assert shown["first"] == ""


def test_suggestions_can_be_left_out() -> None:
    """Where the study does without them, none reaches the screen."""
    shown = prepare_answer(case("Section 1."), PAPER, mask_system_names=True, built_in_aids=("evidence",)).screen_data
    assert (shown["suggestion"], shown["reason"]) == ({}, "")
    assert screen("Section 1.")["suggestion"] == {"reference": "1"}


def test_calibration_is_in_the_rubrics_words() -> None:
    """Both scores side by side, and where they differ."""
    mine = Event(id="1", time="t", kind="score", analyst="Ada", answer="d", values=typed("11213"))
    reference = replace_values(mine, "11113")
    about = prepare_answer(case("Section 1 says so."), PAPER, mask_system_names=True)
    compared = compare_with_reference(mine, reference, about, PAPER)
    assert (compared["question"], compared["reply"]) == ("What do you collect?", "Section 1 says so.")
    assert (compared["by"], compared["note"]) == ("reference", "why")
    assert [row["same"] for row in compared["rows"]] == [True, True, False, True, True]
    assert compared["rows"][2]["mine"] == "+0.5 somewhat clear, could be improved"
    assert compared["rows"][2]["theirs"] == "+1 clear and easy to understand"


def replace_values(event: Event, keys: str) -> Event:
    """The same answer scored by the reference analyst."""
    return Event(
        id="2",
        time="t",
        kind="score",
        analyst="reference",
        answer=event.answer,
        values=typed(keys),
        note="why",
    )


def test_a_doubted_annotation_supports_nothing() -> None:
    """Where it is known to be wrong nothing is suggested, ticked or highlighted by it, and the reason is shown."""
    said = "Section 1 says so."
    assert lines(screen(said), "reference") == [("good", "Section 1 → Section 1 What we collect")]
    for doubted, reply in ((ANNOTATED, said), (SILENT, "It does not say.")):
        found = prepare_answer(
            replace(case(reply, doubted), doubt="It is of section 2."), PAPER, mask_system_names=True
        )
        shown = found.screen_data
        assert (shown["annotated"]["doubt"], shown["annotated"]["rule"]) == ("It is of section 2.", "")
        assert (shown["suggestion"], shown["withheld"], shown["reason"]) == ({}, [], "")
        assert {tone for metric in PAPER.metrics for tone, _ in lines(shown, metric)} <= {"plain"}
        assert with_style(as_cut(TEXT, shown["pieces"]), "annotated") == ""
        assert shown["annotated"]["text"] == doubted.answer


def test_a_denial_of_something_else_has_no_tick() -> None:
    """It is said to be one; of an answer without a word of the question that is said beside relevance."""
    asked = replace(case("The policy does not mention beetles.", SILENT), asked="Is honey sold?")
    shown = prepare_answer(asked, PAPER, mask_system_names=True).screen_data
    assert (lines(shown, "accuracy")[0][0], lines(shown, "reference")) == ("unsure", [("plain", "cites no section")])
    assert shown["suggestion"] == {}
    assert lines(shown, "relevance") == [("plain", "the answer contains no content word of the question")]
    ours = replace(asked, wordings=("Are beetles or honey sold?",))
    shown = prepare_answer(ours, PAPER, mask_system_names=True).screen_data
    assert [tone for metric in ("accuracy", "reference") for tone, _ in lines(shown, metric)] == ["good", "good"]
    assert (shown["suggestion"], lines(shown, "relevance")) == ({"reference": "1"}, [])


def test_a_withheld_aid_is_nowhere_on_screen() -> None:
    """Neither its own contents nor what would tell of them; what is missing is named, but for a suggestion."""
    reply = "Section 1 says: We collect your name and your address."
    whole = prepare_answer(case(reply), PAPER, mask_system_names=True)
    assert whole.aids == {"nearest": True, "evidence": True, "suggestions": True}
    assert (whole.suggested, whole.withheld, whole.screen_data["held_back"]) == ({"reference": 1.0}, {}, [])

    def without(aid: str) -> dict[str, Any]:
        found = prepare_answer(case(reply), PAPER, mask_system_names=True, withheld_aids=(aid,))
        assert found.aids == whole.aids | {aid: False}
        return {key: value for key, value in found.screen_data.items() if value != whole.screen_data[key]}

    assert without("suggestions") == {"suggestion": {}, "reason": "", "withheld": ["reference"]}
    assert without("nearest") == {"sentences": (), "held_back": ["nearest sentences"]}
    bare = without("evidence")
    assert bare.keys() == {"evidence", "reply", "pieces", "held_back"}
    assert bare["evidence"] == dict.fromkeys(PAPER.metrics, ())
    assert bare["reply"] == [[reply]]
    styles = {style for _, *marks in bare["pieces"] for style in (marks[0].split() if marks else ())}
    assert styles == {"heading", "annotated"}
    assert prepare_answer(case(reply), PAPER, mask_system_names=True, withheld_aids=("suggestions",)).withheld == {
        "reference": 1.0
    }


def test_an_aid_without_contents_is_not_drawn() -> None:
    """Where there is nothing to suggest, nothing is withheld; what a plan has off is neither shown nor withheld."""
    found = prepare_answer(case("So."), PAPER, mask_system_names=True, withheld_aids=("suggestions", "nearest"))
    assert found.aids == {"nearest": False, "evidence": True}
    found = prepare_answer(
        case("Section 1."), PAPER, mask_system_names=True, built_in_aids=(), withheld_aids=("suggestions",)
    )
    assert (found.aids, found.withheld, found.screen_data["held_back"]) == ({}, {}, [])


def test_places_are_counted_as_javascript_counts() -> None:
    """Of the answer's sentences and of those that are nearest in the document, behind a letter that counts twice."""
    reply = "\U0001f389 So. Your order is delivered to you, and ChatGPT helps to answer you."
    shown = screen(reply)
    units, document = reply.encode("utf-16-le"), TEXT.encode("utf-16-le")
    first, second = shown["sentences"]
    assert units[2 * second["at"] : 2 * (second["at"] + second["length"])].decode("utf-16-le").startswith("Your order")
    (at, length), *_ = second["near"]
    assert document[2 * at : 2 * (at + length)].decode("utf-16-le") == "ChatGPT helps us to answer you."
    assert (first["line"], second["line"]) == (None, "ChatGPT helps us to answer you.")
    assert shown["near"][0] == (46, 38)
