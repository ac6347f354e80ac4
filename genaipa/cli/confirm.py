"""Before money is spent: can the cap be kept, and does the person at the terminal agree."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from genaipa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.execution.prepare import Ready
    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace

ASK_FROM = 1.0
"""Dollars from which a person at a terminal is asked first."""


def check_cap(spec: RunSpec, workspace: Workspace, max_cost: float | None) -> None:
    """Raise a UsageError, before anything is started, for a cap that could not be kept."""
    from genaipa.systems.catalog import resolve

    unpriced = [name for name in spec.systems if resolve(name, workspace).tariff is None]
    if max_cost is not None and unpriced:
        raise UsageError(
            f"--max-cost can't be kept: no price is known for {unpriced[0]}; add one to systems.yaml "
            "(price: {input: …, output: …, as_of: …}, dollars per million tokens)."
        )


def confirm_cost(spec: RunSpec, systems: Sequence[Ready], *, yes: bool) -> None:
    """Ask at a terminal before a run that costs money."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from genaipa.execution.estimate import estimate

    costs = [row.cost for ready in systems for row in estimate(spec, ready)]
    expected = sum(cost for cost in costs if cost is not None)
    asked = f"The whole run may cost up to ${expected:.2f}. Go on?"
    if expected >= ASK_FROM and not typer.confirm(asked, default=False, err=True):
        raise typer.Exit(1)
