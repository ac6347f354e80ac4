"""The power of a study: what difference it would find, shown by studies that are made up."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy
from size import size

from genaipa.reports.significance import begin_detectable_difference_sentence
from genaipa.stats.intervals import estimate_mean
from genaipa.stats.power import (
    POWER,
    DetectableDifferences,
    VarianceComponents,
    estimate_variance_components,
    find_detectable_differences,
    find_detectable_differences_of_cells,
)

ROOT = Path(__file__).parents[2]
VARIANCE = VarianceComponents(questions=262.0, documents=49.0, rest=886.0)


def made_up(random, questions, documents, variance):
    """The differences of one study around 0: questions x documents."""
    of_questions, of_documents, rest = np.sqrt(variance)
    return (
        random.normal(0, of_questions, (questions, 1))
        + random.normal(0, of_documents, documents)
        + random.normal(0, rest, (questions, documents))
    )


@pytest.mark.parametrize(("questions", "documents", "share"), [(32, 5, 1.0), (8, 3, 1.0), (24, 8, 0.35)])
def test_the_difference_is_found_in_80_of_100_studies(questions, documents, share):
    """Of studies with the difference that is said to be found, 80 % have an interval above 0, for either target.

    Also where two thirds of the cells are missing, which by themselves would take a larger difference.
    """
    random, studies = np.random.default_rng(3), size(small=40, soak=2000)
    there = random.random((questions, documents)) < share
    asked, about = np.nonzero(there)
    repeats = size(small=100, soak=1000)
    said = find_detectable_differences_of_cells(asked, about, VARIANCE, simulated_study_count=repeats)
    if share < 1:
        whole = find_detectable_differences(questions, documents, VARIANCE)
        assert said.these_documents > 1.3 * whole.these_documents
    found = np.zeros(2)
    for _ in range(studies):
        apart = made_up(random, questions, documents, VARIANCE)[there]
        general = estimate_mean(apart + said.policies, asked, about)
        # These documents have the difference by themselves: what is theirs is taken out.
        fixed = made_up(random, questions, documents, VARIANCE._replace(documents=0))[there]
        here = estimate_mean(fixed + said.these_documents, asked, about)
        found += (here.low > 0, general.policies_low > 0)
    assert found / studies == pytest.approx(POWER, abs=size(small=0.15, soak=0.04))


def test_one_sample_is_scipy_s_power():
    """For these documents it is the power of a t test of the questions' means, by the noncentral distribution."""
    variance, questions, documents = VarianceComponents(300.0, 0.0, 900.0), 60, 4
    error = math.sqrt(variance.questions / questions + variance.rest / (questions * documents))
    said = find_detectable_differences(questions, documents, variance, simulated_study_count=200).these_documents
    power = scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, questions - 1), questions - 1, said / error)
    assert power == pytest.approx(POWER, abs=0.02)


def test_the_difference_of_few_questions_is_as_exact():
    """Of 8 questions it is 1.335 standard deviations, by 40,000 studies; few studies of few questions say 1.45."""
    said = find_detectable_differences(8, 1, VarianceComponents(1.0, 0.0, 0.0)).these_documents
    assert said == pytest.approx(1.335, rel=0.02)


def test_more_of_either_finds_smaller_differences():
    """More questions and more documents make the smallest difference smaller; too few of them have none."""
    sizes = [find_detectable_differences(*shape, VARIANCE).policies for shape in ((8, 3), (32, 3), (32, 5), (32, 20))]
    assert sizes == sorted(sizes, reverse=True)
    assert math.isnan(find_detectable_differences(32, 2, VARIANCE).policies)
    assert find_detectable_differences(32, 2, VARIANCE).these_documents > 0
    assert all(map(math.isnan, find_detectable_differences(1, 5, VARIANCE)))


@pytest.mark.parametrize("missing", [0.2, 0.8])
def test_components_are_found_with_cells_missing(missing):
    """The mean of many estimates is the truth, with a fifth of the cells absent, or most of them."""
    random, truth, found = np.random.default_rng(5), VarianceComponents(100.0, 49.0, 400.0), []
    for _ in range(size(small=200, soak=1000)):
        cells = made_up(random, 32, 5, truth)
        cells[random.random(cells.shape) < missing] = np.nan
        found.append(estimate_variance_components(cells))
    errors = np.std(found, axis=0) / math.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - truth) < 3 * errors).all()


def test_what_cells_can_t_tell_apart_is_in_one_component():
    """Questions each about a document of its own, or documents each with a question of its own, leave one part 0."""
    once = np.full((6, 3), np.nan)
    once[np.arange(6), np.arange(6) % 3] = [5.0, -3.0, 8.0, 1.0, -6.0, 2.0]
    assert estimate_variance_components(once).rest == 0
    assert estimate_variance_components(once.T).documents == 0


def test_the_detectable_difference_rests_on_the_interval_s_standard_error():
    """The components give the same standard error of a mean as its questions, also where one of these is unusual."""
    table = np.zeros((32, 2))
    table[7] = -57, 30
    found = estimate_variance_components(table)
    error = math.sqrt(found.questions / 32 + found.rest / 64)
    assert error == pytest.approx(table.mean(axis=1).std(ddof=1) / math.sqrt(32))


def test_one_document_has_no_rest():
    """With one document all variance is the questions', and there is nothing to tell the documents' from."""
    cells = np.array([[1.0], [3.0], [5.0]])
    assert estimate_variance_components(cells) == pytest.approx((4.0, 0.0, 0.0))


@pytest.mark.full
def test_the_planning_page_is_current():
    """docs/method/planning.md is what its generator writes now (at full size all of it, else its first row)."""
    generator = runpy.run_path(str(ROOT / "docs" / "generate_planning.py"))
    page = (ROOT / "docs" / "method" / "planning.md").read_text()
    expected = size(small=lambda: generator["row"](8), soak=generator["whole_page"])()
    assert expected in page, "run: python docs/generate_planning.py"


def test_no_difference_beyond_the_scale_is_found():
    """Where even the largest difference would be missed, the size is infinite, and a sentence says so in its place."""
    wild = VarianceComponents(questions=900.0, documents=900.0, rest=900.0)
    sizes = find_detectable_differences(6, 3, wild, largest_difference=90)
    assert (sizes.policies, sizes.these_documents < 90) == (math.inf, True)
    mixed, both, lone = (
        begin_detectable_difference_sentence(DetectableDifferences(*ends), 6, 3)
        for ends in ((30.0, math.inf), (math.inf, math.inf), (math.inf, math.nan))
    )
    assert "a difference in M_all of 30.0 for these documents and no difference in M_all for policies" in mixed
    assert all("inf" not in sentence and "nan" not in sentence for sentence in (mixed, both, lone))
    assert "questions and 3 documents no difference in M_all for policies like these or for these documents" in both
    assert "no difference in M_all for these documents (not even of 90, the whole scale)" in lone
