"""The first screen of a report: its finding in words, the matrix of differences, and how much there is to read."""

from __future__ import annotations

import pytest
from framing import answer_rows, score_rows, study, study_of, tidy_of
from words import Words, budgets

from genaipa.answers.tidy import plain_texts
from genaipa.reports.chapters import overall
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.page import build_first_screen
from genaipa.reports.report import Report
from rubrics import METRICS

ONE = answer_rows(systems=("a/one",))
FIVE = ("uber", "spotify", "airbnb", "twitter", "facebook")


def first_screen(frame):
    """The first screen of a report on a tidy table, of the chapter that it is made from."""
    gathered = study_of(frame)
    bounds = gathered.rubric.bands
    with plain_texts:
        made = overall.OverallChapter().make(
            gathered,
            FigureScope.from_scores_table(frame, gathered.questions.categories, bounds, gathered.questions.texts),
        )
    return build_first_screen(Report(gathered, bounds, [made] if made else []))


def test_the_best_system_is_named_with_how_sure_that_is():
    """Over five documents a clear difference is the title, its interval the sentence below, ranks and cells agree."""
    said = first_screen(study(documents=FIVE))
    one, two = (line.mean for line in said.lines)
    assert said.title == f"one answers best: {one}; two {two}"
    assert said.limits.startswith("one minus two: +")
    assert "for policies like these, p " in said.limits
    assert "5 documents, so results for other policies are rough." in said.limits
    assert [line.rank for line in said.lines] == ["1", "2"]
    cells = [cell for line in said.lines for cell in line.cells if cell]
    assert [cell.holds for cell in cells] == ["sure", "sure"]
    assert cells[0].text[1:].partition(" ")[0] == cells[1].text[1:].partition(" ")[0]
    assert said.wide
    assert said.has_policies


def test_one_document_speaks_for_itself_alone():
    """The title says that it is about this document, and ranks are those for it."""
    said = first_screen(study(documents=("uber",)))
    assert said.title.startswith("one answers best about this document: ")
    assert "One document says nothing about other policies." in said.limits
    assert [line.rank for line in said.lines] == ["1", "2"]
    assert not said.wide
    assert not said.has_policies


def test_systems_have_one_order():
    """The frame of a report has the best system first, whatever its name, and with it all figures and tables."""
    rows = answer_rows(systems=("a/worse", "z/better", "c/unscored"), documents=("uber",))
    scored = [row for row in rows if row["system"] != "c/unscored"]
    values = {"a/worse": dict.fromkeys(METRICS, -1.0), "z/better": dict.fromkeys(METRICS, 1.0)}
    scores = [score | values[row["system"]] for row in scored for score in score_rows([row])]
    ordered = Report.build(study_of(tidy_of(rows, scores))).frame
    assert list(ordered["system"].cat.categories) == ["z/better", "a/worse", "c/unscored"]
    assert FigureScope.from_scores_table(ordered).systems == ("z/better", "a/worse", "c/unscored")
    assert list(overall.leaderboard_table(ordered).data["system"]) == ["z/better", "a/worse"]
    assert list(dict.fromkeys(overall.averages_of_each_metric_table(ordered).data["system"])) == ["z/better", "a/worse"]


def test_a_study_that_is_half_scored_says_so():
    """The sentence is there once, below the title, and intervals are of 99.9 %."""
    rows = answer_rows(documents=FIVE)
    said = first_screen(tidy_of(rows, score_rows(rows[:96] + rows[160:256])))
    early = "192 of 320 planned answers are scored: until all are, a difference counts only at p < 0.001"
    assert early in said.limits
    assert "(99.9%: " in said.limits
    assert said.confidence == "99.9%"
    assert not any(early in sentence for sentence in (*said.bullets, *said.further))


def test_of_several_pairs_the_interval_is_adjusted_as_p_is():
    """Of three systems the sentence below the title says for how many pairs."""
    said = first_screen(study(systems=("a/one", "b/two", "c/three"), documents=FIVE))
    assert "(95%, adjusted for 3 pairs: +" in said.limits


@pytest.mark.full
def test_alike_systems_are_not_ranked():
    """Two systems scored alike have no winner, and both may be first."""
    said = first_screen(study(systems=("b/two", "b/three"), documents=FIVE, seed=5))
    assert said.title.startswith("No clear difference: ")
    assert [line.rank for line in said.lines] == ["1 to 2", "1 to 2"]
    assert {cell.holds for line in said.lines for cell in line.cells if cell} == {"chance"}


def test_two_may_lead_a_third():
    """Those that can't be told apart are named together, and the one behind them with its average."""
    said = first_screen(study(systems=("a/one", "a/other", "b/two"), documents=FIVE))
    assert "lead, too close to call: " in said.title
    assert said.title.endswith(f"; two {said.lines[2].mean}")
    assert [line.rank for line in said.lines] == ["1 to 2", "1 to 2", "3"]


@pytest.mark.full
def test_different_people_give_no_verdict():
    """Where one analyst scored one system and another the other, no system is called better."""
    rows = answer_rows(documents=FIVE)
    scores = [
        *score_rows([row for row in rows if row["system"] == "a/one"], analysts=("ada",)),
        *score_rows([row for row in rows if row["system"] == "b/two"], analysts=("bo",)),
    ]
    assert first_screen(tidy_of(rows, scores)).title.startswith("No verdict, since different people scored: ")


@pytest.mark.parametrize(
    ("frame", "title"),
    [
        (tidy_of(ONE), "64 of 64 questions answered, none scored yet"),
        (tidy_of(ONE, score_rows(ONE[:5])), "5 of 64 answers scored, too few for averages"),
        (study(systems=("a/one",)), "one scores "),
    ],
)
def test_a_title_promises_no_comparison_where_there_is_none(frame, title):
    """Without scores it counts answers, and of one system it gives the average."""
    said = first_screen(frame)
    assert said.title.startswith(title)
    assert not said.lines


def test_the_demo_is_read_in_minutes(demo):
    """The page of the demo's report keeps to its budget of words, and bullets are at most three."""
    folder = demo[0] / "reports" / "demo"
    page = (folder / "index.html").read_text(encoding="utf-8")
    words, allowed = Words(page), budgets("report")
    assert words.in_sight <= allowed["demo"]
    assert words.all <= allowed["folded"]
    assert (
        1
        <= page.partition("</header>")[0].partition('<ul class="bullets">')[2].partition("</ul>")[0].count("<li>")
        <= 3
    )
    assert Words((folder / "notes.html").read_text(encoding="utf-8")).all > words.in_sight
