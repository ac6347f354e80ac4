"""What moved between two systems' answers: scores, then sides, then citations, in order and in words."""

from __future__ import annotations

import pytest
from judged import verdict
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened, score

from genaipa.errors import UsageError
from genaipa.reports.moved import (
    AnswerPairsByMovement,
    AnswerSideAndCitations,
    ComparedAnswerPair,
    find_moved_answers,
    sort_answer_pairs_by_movement,
)
from genaipa.reports.report import report
from genaipa.reports.table import Table
from genaipa.runs.filters import Filters
from genaipa.scoring.evidence.sides import AnswerSide

NAMES = ("old", "new")


def pair(first: AnswerSideAndCitations, second: AnswerSideAndCitations, place: int = 0) -> ComparedAnswerPair:
    """Two answers to a question."""
    return ComparedAnswerPair("Q1", "Is honey sold?", "acme", first, second, NAMES, place)


def turn(first: AnswerSide, second: AnswerSide) -> ComparedAnswerPair:
    """Two answers with these sides."""
    return pair(AnswerSideAndCitations(first), AnswerSideAndCitations(second))


def test_which_sides_are_others() -> None:
    """An answer by neither yes nor no may mean either; to become silent, or to say nothing, is another side."""
    changed = [("yes", "no"), ("silent", "yes"), ("open", "silent"), ("no", "nothing"), ("silent", "unknown")]
    same = [("yes", "yes"), ("yes", "open"), ("open", "no"), ("silent", "silent"), ("open", "open")]
    for first, second in changed:
        assert turn(first, second).has_changed_side, (first, second)  # type: ignore[arg-type]
    for first, second in same:
        assert not turn(first, second).has_changed_side, (first, second)  # type: ignore[arg-type]


def test_scores_come_before_sides_and_sides_before_citations() -> None:
    """Equal ones stay in their order; people's scores count before a judge's, where both answers have some."""
    cites = pair(AnswerSideAndCitations("yes", frozenset({"1"})), AnswerSideAndCitations("yes", frozenset({"2"})), 1)
    flips = pair(AnswerSideAndCitations("yes"), AnswerSideAndCitations("no"), 2)
    judged = pair(AnswerSideAndCitations("yes", judge=50.0, people=90.0), AnswerSideAndCitations("yes", judge=40.0), 3)
    scored = pair(
        AnswerSideAndCitations("yes", judge=50.0, people=50.0),
        AnswerSideAndCitations("yes", judge=10.0, people=30.0),
        4,
    )
    same = [pair(AnswerSideAndCitations("yes"), AnswerSideAndCitations("yes"), place) for place in (5, 6)]
    ranked = sort_answer_pairs_by_movement([*same, cites, flips, judged, scored], NAMES)
    assert [one.position for one in ranked.pairs] == [4, 3, 2, 1, 5, 6]
    assert [(one.score_gain_or_none, one.scorer_kind_of_both_or_empty) for one in ranked.pairs[:3]] == [
        (-20, "people"),
        (-10, "judge"),
        (None, ""),
    ]
    assert [one.has_moved for one in ranked.pairs] == [True] * 4 + [False] * 2
    assert scored.movement_sentence == "People give new 20 points less."
    assert judged.movement_sentence == "A judge gives new 10 points less."
    assert flips.movement_sentence == "new says no, where old says yes."
    assert cites.movement_sentence == "new alone cites 2. old alone cites 1."
    assert same[0].movement_sentence == ""


def test_the_headline_counts_sides() -> None:
    """One question is named by its words, several are counted, and none is said."""
    assert sort_answer_pairs_by_movement([turn("no", "yes"), turn("yes", "yes")], NAMES).changed_sides_headline == (
        "new says yes to \u201cIs honey sold?\u201d, where old says no: 1 of 2 answers changed sides."
    )
    several = [turn("silent", "open")] * 2 + [turn("no", "yes"), turn("no", "no")]
    assert sort_answer_pairs_by_movement(several, NAMES).changed_sides_headline == (
        "3 of 4 answers changed sides from old to new: 2 from silent to an answer, 1 from no to yes."
    )
    assert (
        sort_answer_pairs_by_movement([turn("no", "no")], NAMES).changed_sides_headline
        == "None of 1 answer changed sides from old to new."
    )
    assert "not asked any question in the same words" in AnswerPairsByMovement(NAMES).changed_sides_headline


def test_long_titles_are_clipped() -> None:
    """Sections are named by their numbers, others by some of their title, and not all where there are many."""
    cited = frozenset({"Section 4.2 Honey", "Part 2: Section 3 Wax. We melt it", "A heading " * 9, "Section 9 Bees"})
    said = pair(AnswerSideAndCitations("yes"), AnswerSideAndCitations("yes", cited)).movement_sentence
    assert "Part 2: Section 3, Section 4.2 and 1 more." in said
    assert "Honey" not in said
    assert len(said) < 130


def test_two_runs_are_read_with_their_scores() -> None:
    """Sides and sections are found in the texts; people's and a judge's scores are those in effect."""
    make_workspace(questions=4)
    old = "rules:\n- {match: Question 1, reply: 'No, see Section 2.'}\n- {match: Question 2, fail: permanent}\n"
    new = "rules:\n- {match: Question 1, reply: 'Yes, see Section 3.'}\n"
    for name, rules in zip(NAMES, (old, new), strict=True):
        write(f"{name}.yaml", f"{rules}default: 'The {name} policy does not say.'\n")
    systems = tuple(f"scripted/{name}.yaml" for name in NAMES)
    folder, _ = carry_out(spec(systems=systems))
    last = {r.system: r.digest for r in answers(folder) if r.question == "Q4"}
    first = {r.system: r.digest for r in answers(folder) if r.question == "Q1"}
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score("ada", last[systems[0]], GOOD), score("ada", last[systems[1]], POOR)])
        for judge, places in (("strict", (0, 1, 2, 2, 2)), ("kind", (0, 0, 0, 0, 0))):
            store.append_new_events([verdict(judge, first[system], places) for system in systems])
    moved = find_moved_answers(*systems)
    assert [one.question for one in moved.pairs] == ["Q4", "Q1", "Q3"], "a failure is no answer"
    assert moved.pairs[0].scorer_kind_of_both_or_empty == "people"
    sold = moved.pairs[1]
    assert (sold.first.side, sold.second.side, sold.asked) == ("no", "yes", "Question 1 on Acme?")
    assert (sold.citations_lost, sold.citations_gained) == (
        ["Section 2 What we do with it"],
        ["Section 3 How long we keep it"],
    )
    assert len(moved.pairs_that_changed_sides) == 1
    strict = find_moved_answers(*systems, judge="strict").pairs[1]
    assert (sold.first.judge or 0) > (strict.first.judge or 0)
    with pytest.raises(UsageError, match="2 systems; write which one is meant"):
        find_moved_answers(folder.name, systems[1])


def test_a_report_lists_them_without_a_score() -> None:
    """Of two systems all that moved, of three ten of each pair; a system alone has no such table."""
    make_workspace(questions=12)
    for name, reply in (("old", "The policy does not say."), ("new", "Yes, see Section 2."), ("other", "No.")):
        write(f"{name}.yaml", f"default: '{reply}'\n")
    systems = [f"scripted/{name}.yaml" for name in (*NAMES, "other")]
    carry_out(spec(systems=tuple(systems)))

    def tables(*shown: str) -> dict[str, Table]:
        return report(only=Filters(systems=shown)).tables

    both = tables(*systems[:2])
    most = both["moved-answers"]
    assert most.note.startswith(
        f"12 of 12 answers changed sides from {systems[1]} to {systems[0]}: 12 from yes to silent."
    )
    assert len(most.data) == 12
    names = sorted(systems[:2])
    assert [most.headings[side] for side in ("first_side", "second_side")] == names
    assert most.data[["first_side", "second_side"]].iloc[0].tolist() == ["yes", "silent"]
    three = tables(*systems)
    assert len(three["moved-answers"].data) == 30
    assert "moved-answers" not in tables(systems[0])
