"""Settled cases: filled in for the analyst to accept with one key, recorded, and held against scores without that."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest
from analysts import arrive, kept_drafts, kept_events, make_answers, open_to
from evidence_cases import PARTS, POLICY
from pages import Shown, desk_here, digests
from running import write

import genaipa
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.reports.chapters.agreement import filled_in
from genaipa.scoring.agreement import LEAST_COMPARED, compare_preselected
from genaipa.scoring.events import Event, new_id
from genaipa.scoring.evidence.examine import Evidence, ScoredAnswer, begins_blank, examine, near_repeat, rightly_silent
from genaipa.scoring.people import User
from rubrics import METRICS, PAPER, keys_of, typed

if TYPE_CHECKING:
    from genaipa.ui.desk import Desk

SILENT = AnnotatedAnswer(silent="yes", answer="The policy does not say.")
WINTER = AnnotatedAnswer(silent="no", answer="Only the date.", sections=("1.1",))
LONG = (
    "During winter they keep the date on which you fell asleep, as Section 1.1 says, and they tell you of it. In "
    "summer beetles are counted, and the count is sold to nobody; whoever leaves is forgotten with the way home."
)
SAYS_SO = "The document does not say."
RULED = ".1..1"
"""What the rule on silence fills in: accuracy and reference."""
ANNOTATIONS = "  Q1: {silent: yes, answer: It does not say.}\n  Q2: {silent: no, answer: Yes., sections: ['1']}\n"
ANNA, BO = (User(name, scores=True, adjudicates=False) for name in ("Anna", "Bo"))


def evidence(reply: str, annotated: AnnotatedAnswer = WINTER) -> Evidence:
    """The evidence about a reply."""
    return examine(reply, POLICY, parts=PARTS, annotated=annotated)


# -- the cases --


@pytest.mark.parametrize(
    ("reply", "annotated", "settled"),
    [
        ("The policy does not mention it.", SILENT, True),
        ("The policy does not say. Reference: None", SILENT, True),
        ("The policy does not mention it (Part 2).", SILENT, False),
        ("The policy does not mention it, but they never sell it.", SILENT, False),
        ("The policy does not mention it. However, it does not mention that they sold it in May.", SILENT, False),
        ("Yes. It does not say how.", SILENT, False),
        ('The policy does not mention it; it says "we keep nothing but the date".', SILENT, False),
        ("The policy does not mention it.", WINTER, False),
    ],
)
def test_silence_rightly_said(reply: str, annotated: AnnotatedAnswer, settled: bool) -> None:
    """The rubric's rule settles an answer that says that a silent document is silent, and neither more nor less."""
    found = rightly_silent(reply, evidence(reply, annotated), PAPER)
    assert (found is not None) == settled
    assert found is None or found.values == {"accuracy": 1.0, "reference": 1.0}


def test_silence_without_a_rule() -> None:
    """A rubric that has no rule on silent documents settles nothing about them."""
    import msgspec

    bare = msgspec.structs.replace(PAPER, silent_rule="")
    said = "The policy does not mention it."
    assert rightly_silent(said, evidence(said, SILENT), bare) is None


@pytest.mark.parametrize(
    ("before", "after", "difference"),
    [
        ("they tell you", "They tell you", "It has the same words."),
        ("they tell you", "they inform you", "This one has \u201cinform\u201d for \u201ctell\u201d."),
        ("of it.", "of it. \n\nIndeed.", "This one has \u201cIndeed.\u201d added."),
        ("they tell you", "they never tell you", None),
        ("they tell you", "they may tell you", None),
        ("they tell you", "they tell 12 of you", None),
        ("Section 1.1", "Section 1.2", None),
        (LONG, LONG + " They ask the neighbours where you sleep, and what you have had for supper.", None),
    ],
)
def test_near_repeats(before: str, after: str, difference: str | None) -> None:
    """Nearly the same words settle an answer, unless a number, a denial, a hedge or a citation differs."""
    reply = LONG.replace(before, after, 1)
    found = near_repeat(reply, evidence(reply), [ScoredAnswer(LONG, evidence(LONG), typed("12131"))])
    assert (found and found.values) == (typed("12131") if difference else None)
    assert found is None or found.reason == f"You have just scored nearly the same answer so. {difference}"


# -- at the desk --


def on_screen(desk: Desk, user: User) -> dict[str, Any]:
    """The turn that an analyst has before them."""
    turn: dict[str, Any] = Shown("scoring", desk, user).components()["turn"]
    return turn


def test_for_whom_it_is_filled_in() -> None:
    """Only with the study's consent; neither for calibration, a reference analyst, nor beside a score that began so."""
    make_answers(SAYS_SO, annotations=ANNOTATIONS)
    off, desk = desk_here(), desk_here(settled=True, calibration=1, reference=())
    assert on_screen(off, ANNA)["proposal"] is None
    assert (on_screen(desk, ANNA)["proposal"]["keys"], on_screen(desk, ANNA)["draft"]["typed"]) == (RULED, RULED)
    assert "settled cases are filled in" in on_screen(desk, ANNA)["progress"]
    assert on_screen(desk, User("reference", scores=True, adjudicates=False))["draft"]["typed"] == "....."
    (answer,) = digests(desk)
    given: dict[str, Any] = {"note": "", "seconds": 1.0, "suggested": {}, "id": new_id()}
    desk.queue.save("Anna", answer, typed("11111"), preselected=True, **given)
    assert (on_screen(desk, BO)["proposal"], on_screen(desk, BO)["draft"]["typed"]) == (None, ".....")
    desk.queue.undo("Anna")
    assert on_screen(desk, BO)["draft"]["typed"] == RULED
    desk.queue.save("reference", answer, typed("11111"), preselected=False, **given | {"id": new_id()})
    assert any(piece.startswith("calibration") for piece in on_screen(desk, BO)["progress"])
    assert on_screen(desk, BO)["draft"]["typed"] == "....."


def test_only_ones_own_view_is_repeated() -> None:
    """A near repeat has the values that the analyst gave before they saw others' of its original."""
    said = f"{LONG} Truly."
    write("near.yaml", f"default: '{said.replace('tell', 'inform', 1)}'\n")
    make_answers(said, systems=("scripted/say.yaml", "scripted/near.yaml"))
    desk = desk_here(settled=True)
    first, _ = desk.queue.order("Anna")
    given: dict[str, Any] = {"note": "", "seconds": 1.0, "suggested": {}, "preselected": False}
    desk.queue.save("Anna", first, typed("12131"), id=new_id(), **given)
    assert on_screen(desk, ANNA)["draft"]["typed"] == "12131"
    assert on_screen(desk, BO)["proposal"] is None, "of another's scores nothing is shown"
    desk.queue.expose("Anna", [first], scores=True)
    desk.queue.save("Anna", first, typed("33333"), id=new_id(), **given)
    assert on_screen(desk, ANNA)["draft"]["typed"] == "....."


@pytest.mark.full
def test_accepting_changing_and_losing_nothing() -> None:
    """Enter saves nothing that was filled in; `a` does, and a digit changes it; a reload keeps what was changed."""
    write(
        "near.yaml",
        f"rules: [{{match: Question 2 on, reply: '{LONG.replace('tell', 'inform', 1)}'}}]\ndefault: Maybe.\n",
    )
    make_answers(SAYS_SO, LONG, annotations=ANNOTATIONS, systems=("scripted/say.yaml", "scripted/near.yaml"))
    with open_to("--per-answer", "1", "--settled", "--order", "question") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        page, seen = anna.page, 0
        while shown := anna.look():
            if shown.typed == ".....":
                anna.score("12131")
                continue
            seen += 1
            page.keyboard.press("Enter")
            told = anna.wait("screen.message").message
            assert sum(event.preselected for event in kept_events()) == seen - 1
            if shown.reply == SAYS_SO:
                assert not told.startswith("These values were filled in"), "some are still to be given"
                page.reload()
                assert anna.wait().typed == RULED, "what nobody has touched comes back as it was, and is not saved"
                anna.keys("121")
                assert anna.wait().typed == "11211", "what is filled in is passed over"
                anna.go("Enter")
                continue
            assert told.startswith("These values were filled in")
            assert shown.typed == "12131"
            assert "You have just scored nearly the same answer so." in page.locator(".proposal").text_content()
            anna.keys("3")
            page.reload()
            assert anna.wait().typed == "32131"
            anna.go("Enter")
        events = kept_events()
    assert seen == 2
    assert kept_drafts("Anna") == []
    filled = [event for event in events if event.preselected]
    assert sorted((keys_of(event.values), PAPER.keys_of(event.suggested)) for event in filled) == [
        ("11211", RULED),
        ("32131", "12131"),
    ]
    assert sum(not event.preselected for event in events) == 2
    assert all(event.blind and event.independent for event in events)


# -- against scores without --


def scores(answers: int, **more: Any) -> list[Event]:
    """One score without, and one a value better on the first metric with what was filled in, of so many answers."""
    kinds = (("Anna", "11111", True), ("Bo", "21111", False))
    return [
        Event(
            new_id(),
            f"2026-01-01T00:00:{n:02}.000Z",
            "score",
            who,
            f"answer {n}",
            typed(keys),
            preselected=filled,
            **more,
        )
        for n in range(answers)
        for who, keys, filled in kinds
    ]


def test_one_in_five_begins_blank() -> None:
    """Which settled cases nothing is filled in for is decided by the answer, alike for everybody."""
    digests_ = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(2000)]
    assert 0.17 < sum(map(begins_blank, digests_)) / len(digests_) < 0.23


def test_counted_by_system() -> None:
    """From the first one on a report says whose answers were filled in."""
    make_answers(SAYS_SO, annotations=ANNOTATIONS)
    desk = desk_here()
    (answer,) = digests(desk)
    given: dict[str, Any] = {"note": "", "seconds": 1.0, "suggested": {}, "id": new_id()}
    assert "filled-in-systems" not in genaipa.report().tables
    desk.queue.save("Anna", answer, typed("11111"), preselected=True, **given)
    found = genaipa.report().tables["filled-in-systems"].data
    assert found.to_numpy().tolist() == [["scripted/say.yaml", 1, 1]]


def test_compared_with_scores_without() -> None:
    """The mean difference on answers that have both, by metric; none for few answers, nor for dependent scores."""
    enough = compare_preselected(scores(LEAST_COMPARED), PAPER)
    assert (enough.scores, enough.answers) == (LEAST_COMPARED, LEAST_COMPARED)
    assert enough.differences == {metric: 0.5 if metric == METRICS[0] else 0.0 for metric in METRICS}
    few = compare_preselected([*scores(LEAST_COMPARED - 1), *scores(LEAST_COMPARED)[-2:-1]], PAPER)
    assert (few.scores, few.answers, set(few.differences.values())) == (LEAST_COMPARED, LEAST_COMPARED - 1, {None})
    assert compare_preselected(scores(LEAST_COMPARED, independent=False), PAPER).scores == 0


def test_compared_in_agreement_and_report() -> None:
    """Both show the difference and on how many answers it rests, and nothing where no value was filled in."""
    make_answers(SAYS_SO, annotations=ANNOTATIONS)
    desk = desk_here()
    (answer,) = digests(desk)
    for who, keys, filled in (("Anna", "11111", True), ("Bo", "21111", False)):
        assert "agreement filled in" not in Shown("agreement", desk).components()
        given: dict[str, Any] = {"note": "", "seconds": 1.0, "suggested": {}, "id": new_id()}
        desk.queue.save(who, answer, typed(keys), preselected=filled, **given)
    page = Shown("agreement", desk)
    assert page.rows("agreement filled in") == [["1", "1", *["-"] * len(METRICS)]]
    shown = filled_in(scores(LEAST_COMPARED), PAPER).data
    assert list(shown["difference"]) == [0.5, 0, 0, 0, 0]
    assert set(shown["answers"]) == set(shown["scores"]) == {LEAST_COMPARED}
    assert filled_in(scores(LEAST_COMPARED - 1), PAPER).data["difference"].isna().all()
    assert not filled_in([one for one in scores(LEAST_COMPARED) if not one.preselected], PAPER)
