"""Assignment by name: an analyst is asked about some documents, experiments or systems alone, and stays blind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from queues import make_run, open_queue, save, work
from running import write

from genaipa.scoring.assignment import ScoringPlan
from genaipa.validation import validate
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.queue import ScoringQueue


@pytest.fixture
def run() -> RunFolder:
    """A run of two systems: four answers of each to each of three documents."""
    return make_run("See section 1.", "See section 2.")


@pytest.fixture
def url() -> str:
    """The store is a file of its own."""
    return "sqlite:///scores.db"


def of(queue: ScoringQueue, *names: str) -> set[str]:
    """The answers about these documents or by these systems."""
    answers = queue.pool.answers.values()
    return {a.digest for a in answers if {a.document, a.occurrences[0].system} & set(names)}


def test_an_analyst_is_asked_for_what_is_assigned_to_them(run, store):
    """By document, by system, by experiment, or by several; whoever is not named is asked for everything."""
    who = {"ANNA": ("acme",), "Bo": ("bolt", "scripted/say1.yaml"), "Cy": ("quality",), "Dee": ("recall",)}
    queue = open_queue(run, store, ScoringPlan(per_answer=4, assign=tuple(who.items())))
    assert queue.measure_scoring_progress("Anna").remaining == 8
    assert set(work(queue, "Anna")) == of(queue, "acme")
    assert queue.reserve_next_answer("Anna") is None
    assert queue.measure_scoring_progress("Anna").remaining == 0
    assert set(work(queue, "Bo")) == of(queue, "bolt", "scripted/say1.yaml")
    assert len(work(queue, "Cy")) == 24
    assert work(queue, "Dee") == []
    assert queue.measure_scoring_progress("Eve").remaining == len(queue.pool.answers)
    # A withdrawn score is asked for again, of those it is assigned to.
    queue.undo_last_score_or_skip("Anna")
    assert queue.measure_scoring_progress("Anna").remaining == 1


def test_what_is_hidden_does_not_tell_what_is_assigned(run, store):
    """All that could be asked of any analyst is hidden from one of one system, too: what is not would name theirs."""
    free = open_queue(run, store)
    bound = open_queue(run, store, ScoringPlan(per_answer=1, assign=(("Anna", ("scripted/say.yaml",)),)))
    assert (
        bound.answers_analyst_may_still_score("Anna")
        == free.answers_analyst_may_still_score("Anna")
        == set(free.pool.answers)
    )
    save(bound, "Bo", next(iter(of(bound, "scripted/say1.yaml"))))
    free = open_queue(run, store)
    assert bound.answers_analyst_may_still_score("Anna") == free.answers_analyst_may_still_score("Anna")


def test_calibration_and_what_was_begun_are_theirs_all_the_same(run, store):
    """An assignment leaves out neither the answers that all begin with nor the one that is half scored."""
    queue = open_queue(run, store, ScoringPlan(per_answer=1, calibration=3, assign=(("Anna", ("acme",)),)))
    calibration = work(queue, "reference", answers=3)
    assert work(queue, "Anna", answers=3) == calibration
    assert set(work(queue, "Anna")) == of(queue, "acme") - set(calibration)


def test_validate_names_what_is_none(run):
    """A name that is no document, experiment or system is a warning with the nearest that is."""
    write("genaipa.toml", "")
    write("desk.yaml", "assign: {Anna: [acme, recall, scripted/say.yaml], Bo: [blot]}\n")
    (finding,) = [finding for finding in validate(find_workspace()).findings if "desk.yaml" in finding.path]
    assert (finding.entry, finding.severity) == ("assign.Bo", "warning")
    assert "'blot' is not a document, experiment or system of a run: did you mean 'bolt'" in finding.problem
