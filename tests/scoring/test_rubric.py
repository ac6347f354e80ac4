"""The rubric as data: the shipped one, others of a workspace, M_all and its bands."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from genaipa.errors import DataError
from genaipa.scoring.columns import CORE, IN_TABLE
from genaipa.scoring.rubric import BandBounds, Values, classify_band, find_rubric_problems, load_rubric, shipped_rubric
from genaipa.scoring.tables import SHEET_COLUMNS, score_column_names
from genaipa.validation import validate
from genaipa.workspace import Workspace, shipped_folder

PAPER = shipped_rubric()
METRICS = tuple(PAPER.metrics)
WORDS = {
    "relevance": {1.0: "relevant", 0.5: "partially relevant", -1.0: "not relevant"},
    "accuracy": {1.0: "entirely correct", 0.5: "partially correct", -1.0: "incorrect"},
    "clarity": {
        1.0: "clear and easy to understand",
        0.5: "somewhat clear, could be improved",
        -1.0: "confusing or hard to comprehend",
    },
    "completeness": {
        1.0: "comprehensive",
        0.5: "lacking some minor information",
        -1.0: "incomplete, or missing important details",
    },
    "reference": {
        1.0: "a correctly cited relevant section",
        0.5: "a section mentioned without citing it explicitly",
        -1.0: "an incorrect reference",
    },
}
EVERY_SCORE = [PAPER.parse_digits("".join(keys)) for keys in itertools.product("123", repeat=5)]
a_score = st.sampled_from(EVERY_SCORE)


@pytest.mark.parametrize(
    ("typed", "overall", "positive", "negative"),
    [
        ("11111", 100.0, 5.0, 0.0),
        ("22222", 77.5, 2.5, 0.0),
        ("33333", 10.0, 0.0, -5.0),
        ("11123", 77.5, 3.5, -1.0),
        ("12333", 41.5, 1.5, -3.0),
        ("11113", 82.0, 4.0, -1.0),
    ],
)
def test_m_all_of_a_score(typed: str, overall: float, positive: float, negative: float) -> None:
    """M_all is the normalised sum of the five values."""
    values = PAPER.parse_digits(typed)
    assert PAPER.m_all(values) == overall
    assert PAPER.weighted_sum({metric: max(values[metric], 0.0) for metric in PAPER.metrics}) == positive
    assert PAPER.weighted_sum({metric: min(values[metric], 0.0) for metric in PAPER.metrics}) == negative


def test_m_all_is_the_papers_formula() -> None:
    """For each of the 243 possible scores M_all is ten times (sum + 5) / 10 * 9 + 1."""
    for values in EVERY_SCORE:
        points = sum(values[metric] for metric in METRICS)
        assert PAPER.m_all(values) == pytest.approx(((points + 5) / 10 * 9 + 1) * 10, abs=1e-12)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1, "Green"), (0.5, "Green"), (0.4999, "Yellow"), (0.25, "Yellow"), (0, "Yellow"), (-0.0001, "Red"), (-1, "Red")],
)
def test_bands_of_an_average(value: float, expected: str) -> None:
    """Green begins at +0.5 and Red just below 0; M_all has the same bands at 77.5 and 55."""
    assert classify_band(value, BandBounds()) == expected
    assert classify_band(45 * value + 55, BandBounds().m_all_bounds) == expected


def test_bounds_of_m_all() -> None:
    """The bounds of M_all follow from those of a metric, and a reader is told both."""
    assert BandBounds().m_all_bounds == BandBounds(green=77.5, red=55)
    stricter = BandBounds(green=0.6, red=-0.2)
    assert (stricter.m_all_bounds.green, stricter.m_all_bounds.red) == pytest.approx((82, 46))
    assert stricter.description == "Green from 0.6 (M_all 82) up, Red below -0.2 (M_all 46), Yellow between"


@given(st.lists(a_score, min_size=1, max_size=30))
def test_bands_are_exact(scores: list[Values]) -> None:
    """However many scores are averaged, rounding moves none over a bound."""
    bounds = BandBounds()
    exact = {metric: Fraction(sum(values[metric] for values in scores)) / len(scores) for metric in METRICS}
    for metric in METRICS:
        assert classify_band(sum(values[metric] for values in scores) / len(scores), bounds) == classify_band(
            exact[metric], bounds
        )
    assert classify_band(sum(map(PAPER.m_all, scores)) / len(scores), bounds.m_all_bounds) == classify_band(
        sum(exact.values()) / 5, bounds
    )


@pytest.mark.parametrize(("green", "red"), [(0.0, 0.5), (float("nan"), 0.0)])
def test_bounds_that_cross_are_refused(green: float, red: float) -> None:
    """Bounds by which an average would be Green and Red at once are refused."""
    with pytest.raises(ValueError, match="must not be above green"):
        BandBounds(green, red)


def test_the_shipped_rubric_is_the_papers() -> None:
    """Its metrics, values and words, and the digest that the scores of all studies so far have, stay what they were."""
    words = {name: dict(zip(PAPER.values, metric.words, strict=True)) for name, metric in PAPER.metrics.items()}
    assert words == WORDS
    assert PAPER.digest == "7b32a71193c6"
    assert PAPER.bands == BandBounds()
    assert not list(find_rubric_problems(Path(), PAPER))


def test_a_workspace_brings_its_own_rubric(tmp_path: Path) -> None:
    """The one that genaipa.toml names is used; without a name the shipped one, or a workspace's file of that name."""
    workspace = Workspace(tmp_path, (("workspace", tmp_path), ("shipped", shipped_folder())))
    assert load_rubric(workspace) == PAPER
    (tmp_path / "rubrics").mkdir()
    text = (shipped_folder("rubrics") / "genaipabench.yaml").read_text(encoding="utf-8")
    own = text.replace("words: [relevant,", "weight: 2\n    words: [relevant,")
    (tmp_path / "rubrics" / "own.yaml").write_text(own, encoding="utf-8")
    assert load_rubric(workspace) == PAPER
    (tmp_path / "genaipa.toml").write_text('rubric = "own"\n', encoding="utf-8")
    rubric = load_rubric(workspace)
    assert rubric.weights["relevance"] == 2
    assert rubric.digest != PAPER.digest
    assert rubric.m_all(rubric.parse_digits("13333")) == pytest.approx(10 + 90 * (2 - 4 + 6) / 12)
    (tmp_path / "genaipa.toml").write_text('rubric = "owm"\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"genaipa.toml: rubric: there is no rubric 'owm': did you mean 'own'\?"):
        load_rubric(workspace)


@pytest.mark.parametrize(
    ("before", "after", "entry", "problem"),
    [
        ("[1, 0.5, -1]", "[1, -1, 0.5]", "values", "from best to worst"),
        ("[1, 0.5, -1]", "[5, 3, 1]", "values", "the best value must be 1"),
        ("[1, 0.5, -1]", "[1, -1]", "metrics.relevance.words", "words for each of the 2 values"),
        ("  relevance:", "  Relevance:", "metrics.Relevance", "lower-case letters"),
        ("  relevance:", "  status:", "metrics.status", "already the name of a column"),
        ("    evidence: [length]", "    weight: 0", "metrics.clarity.weight", "above 0"),
        ("    evidence: [length]", "    weigth: 2", "metrics.clarity", "weigth"),
        (
            "    evidence: [length]",
            "    evidence: [words]",
            "metrics.clarity.evidence[0]",
            "'words' is not a valid value",
        ),
        ("{green: 0.5, red: 0}", "{green: 0, red: 0.5}", "bands", "must not be above green"),
    ],
)
def test_what_a_rubric_can_not_be(tmp_path: Path, before: str, after: str, entry: str, problem: str) -> None:
    """What is wrong with a rubric is told with its file and entry."""
    (tmp_path / "rubrics").mkdir()
    text = (shipped_folder("rubrics") / "genaipabench.yaml").read_text(encoding="utf-8")
    assert before in text
    (tmp_path / "rubrics" / "genaipabench.yaml").write_text(text.replace(before, after), encoding="utf-8")
    workspace = Workspace(tmp_path, (("workspace", tmp_path), ("shipped", shipped_folder())))
    with pytest.raises(DataError) as caught:
        load_rubric(workspace)
    assert caught.value.entry == entry
    assert problem in str(caught.value)
    found = [finding for finding in validate(workspace).findings if finding.path == str(caught.value.path)]
    assert (entry, "error") in [(finding.entry, finding.severity) for finding in found]


def test_no_metric_has_the_name_of_another_column() -> None:
    """A metric's column can't be taken for another one, in the tidy table, in an export or in a sheet."""
    others = {*CORE, *IN_TABLE, *score_column_names(PAPER), *SHEET_COLUMNS} - set(PAPER.metrics)
    for name in sorted(others):
        metrics = PAPER.metrics | {name: PAPER.metrics["clarity"]}
        assert list(find_rubric_problems(Path(), msgspec.structs.replace(PAPER, metrics=metrics))), name
