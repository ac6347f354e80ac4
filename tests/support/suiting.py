"""A suite in tests: its files as if pulled, and the figures that replies to its items reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.tasks.catalog import make_task
from genaipa.workspace import find_workspace
from genaipa_suites.material import Outcome
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from genaipa_suites.data import SuiteSource
    from genaipa_suites.material import Item


def keep(source: SuiteSource, path: str, content: bytes) -> Path:
    """Put a file of a source where a pull would."""
    place = source.pulled_folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def suite(name: str, split: str, **plan: int) -> Suite:
    """The suite of a run on this split."""
    spec = make_suite_run_spec(name, SuiteOptions(split, **plan), ("openai/gpt-4o",))
    made = make_task(spec, find_workspace())
    assert isinstance(made, Suite)
    return made


def outcomes(of: Suite, answer: Callable[[Item], str]) -> list[Outcome]:
    """What comes of these replies to all items."""
    return of.add_facts_of_related_outcomes(
        [Outcome(item, of.parse_reply(item, answer(item))) for item in of.material.items]
    )


def figures(of: Suite, answer: Callable[[Item], str] | str) -> dict[str, float]:
    """Measure → percentage with two decimals that these replies, or those of a baseline of this name, reach."""
    if isinstance(answer, str):
        (baseline,) = (one for one in of.baselines if one.name == answer)
        answer = baseline.make(of)
    reached = outcomes(of, answer)
    return {measure.name: round(100 * measure.compute(reached), 2) for measure in of.measures}
