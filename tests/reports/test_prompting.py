"""What other prompts change, and how tables that mix sets of prompts say so."""

from __future__ import annotations

import pytest
from framing import answer_rows, study_of, tidy_of
from tabling import published, scored

from genaipa.errors import UsageError
from genaipa.reports.chapters import prompting
from genaipa.reports.chapters.overall import leaderboard_table
from genaipa.reports.comparison import compare_sides
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.reports.report import Report
from genaipa.reports.sides import ComparisonSide
from genaipa.scoring.rubric import BandBounds

DOCUMENTS = ("airbnb", "spotify", "twitter", "uber")
QUESTIONS = ("T_f1", "T_u1", "SE_f1", "SE_u1")


def asked(prompts, system="a/one"):
    """Answers of a system to all questions, asked with a set of prompts."""
    rows = answer_rows(systems=(system,), documents=DOCUMENTS, questions=QUESTIONS)
    keyed = {row["key"]: row for row in rows}
    return [
        {**row, "prompts": prompts, "key": f"{key}|{prompts}", "answer": f"{prompts} {key}"}
        for key, row in keyed.items()
    ]


def value(row):
    """All good, but what the guided prompts spoil: one question everywhere, and another about one document."""
    spoilt = row["question"] == "T_f1" or (row["question"], row["document"]) == ("SE_u1", "uber")
    return -1.0 if row["prompts"] == "guided" and spoilt else 1.0


def frame_of(*rows):
    """The tidy table of these answers, all scored."""
    return tidy_of(list(rows), scored(rows, value))


def test_changes_are_those_of_the_same_questions() -> None:
    """The mean change, both intervals and the share of band changes follow from the cells, by category as well."""
    frame = frame_of(*asked("neutral"), *asked("guided"))
    cells = [(q, d) for q in QUESTIONS for d in DOCUMENTS]
    moved = [float(value({"prompts": "guided", "question": q, "document": d}) < 0) for q, d in cells]
    questions, documents = zip(*cells, strict=True)
    expected = estimate_crossed_mean([-90 * one for one in moved], questions, documents, limits=(-90, 90))
    data = prompting.score_changes_across_prompts_table(frame).data.set_index("questions")
    everything = data.loc["all"]
    assert (everything["prompts"], everything["others"]) == ("neutral", "guided")
    assert everything["change"] == pytest.approx(-90 * 5 / 16)
    assert (everything["before"], everything["after"]) == (100, pytest.approx(100 - 90 * 5 / 16))
    assert everything["low"] == pytest.approx(expected.low)
    assert everything["policies_low"] == pytest.approx(expected.policies_low)
    assert (everything["n"], everything["documents"]) == (4, 4)
    assert data.loc["T", "change"] == pytest.approx(-45)
    bands = prompting.band_change_shares_across_prompts_table(frame, BandBounds()).data.set_index("questions")
    assert bands.loc["all", "changed"] == pytest.approx(5 / 16)
    assert bands.loc["SE", "changed"] == pytest.approx(1 / 8)


def test_a_third_set_is_held_against_the_first() -> None:
    """The usual set comes first, then each other one beside it; questions that only one was asked count nowhere."""
    few = [row for row in asked("paper") if row["question"] == "T_u1"]
    data = prompting.score_changes_across_prompts_table(frame_of(*few, *asked("guided"), *asked("neutral"))).data
    pairs = data[data["questions"] == "all"][["prompts", "others", "n"]]
    assert pairs.to_numpy().tolist() == [["neutral", "guided", 4], ["neutral", "paper", 1]]


@pytest.mark.full
def test_tables_that_mix_prompts_say_so() -> None:
    """Each table of systems has a column and a sentence, and each figure the sentence; without a mix nothing has."""
    alike = frame_of(*asked("neutral"), *asked("neutral", "b/two"))
    assert not prompting.note_differing_prompts(alike)
    assert "prompts" not in leaderboard_table(alike).data
    given = of_a_study()
    rows = [*asked("neutral"), *asked("guided"), *asked("neutral", "b/two")]
    mixed = Report.build(study_of(tidy_of([*rows, *given], scored(rows, value))))
    said = "a/one neutral, guided; b/two neutral; c/old published."
    assert any(said in sentence and "mix them" in sentence for sentence in mixed.notable)
    of_systems = [table for table in mixed.tables.values() if "system" in table.data]
    assert len(of_systems) > 5
    for table in of_systems:
        assert "prompts" in table.data, table.name
        assert said in table.note or "others" in table.data, table.name
    assert all(said in figure.note for figure in mixed.figures.values() if "system" in figure.table.data)
    ranked = leaderboard_table(mixed.study.table).data.set_index("system")["prompts"]
    assert ranked.to_dict() == {"a/one": "neutral, guided", "b/two": "neutral", "c/old": "published"}


def of_a_study():
    """Published scores of all questions."""
    also = {"m_all": 50.0, "prompts": "published", "rubric": "r"}
    return [published("c/old", "quality", d, q, **also) for q in QUESTIONS for d in DOCUMENTS]


def test_systems_with_the_same_several_prompts_are_not_said_to_differ() -> None:
    """As where each was asked in two languages: averages mix prompts, but no difference comes from them."""
    german = frame_of(*(row for name in ("neutral", "neutral-de") for row in asked(name)))
    assert prompting.note_differing_prompts(german) == "", "the same prompts in another language"
    own = frame_of(*(row for name in ("neutral", "neutral-de (0123abcd)") for row in asked(name)))
    assert "neutral-de (0123abcd)" in prompting.note_differing_prompts(own)
    same = frame_of(*asked("neutral"), *asked("guided"), *asked("neutral", "b/two"), *asked("guided", "b/two"))
    assert prompting.note_differing_prompts(same).startswith(
        "Each system was asked with several sets of prompts: neutral, guided. The averages of a system"
    )


def side(frame, system):
    """A system's side of a comparison, asked the same as the others."""
    texts = {document: {document} for document in DOCUMENTS}
    all_of_it = {(d, q, "original"): {q} for d in DOCUMENTS for q in QUESTIONS}
    return ComparisonSide(system, frame[frame["system"] == system], texts, all_of_it)


def test_a_comparison_wants_the_same_prompts() -> None:
    """Other prompts are refused like other questions; those of a study can't be helped, and are told."""
    given = of_a_study()
    rows = [*asked("neutral"), *asked("guided", "b/two")]
    frame = tidy_of([*rows, *given], scored(rows, value))
    with pytest.raises(UsageError, match=r"the prompts are not the same \(neutral and guided\).*`anyway`"):
        compare_sides(side(frame, "a/one"), side(frame, "b/two"))
    found = compare_sides(side(frame, "a/one"), side(frame, "c/old"))
    assert any("c/old answered prompts that are not known" in sentence for sentence in found.finding)
