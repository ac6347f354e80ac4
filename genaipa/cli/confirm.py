"""The question before money is spent."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.execution.prepare import Ready
    from genaipa.tasks.base import Task

ASK_FROM = 1.0
"""Dollars from which a person at a terminal is asked first."""


def confirm_cost(task: Task, systems: Sequence[Ready], *, yes: bool) -> None:
    """Ask at a terminal before a run that costs money."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    from genaipa.execution.estimate import estimate

    costs = [row.cost for ready in systems for row in estimate(task, ready)]
    expected = sum(cost for cost in costs if cost is not None)
    asked = f"The whole run may cost up to ${expected:.2f}. Go on?"
    if expected >= ASK_FROM and not typer.confirm(asked, default=False, err=True):
        raise typer.Exit(1)
