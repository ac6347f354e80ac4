"""`genaipa demo`: the whole procedure on the shipped policy with the built-in baseline; needs nothing."""

from __future__ import annotations

import typer

from genaipa.cli.options import WorkspaceOption

POLICY = "brindlecart"
SYSTEM = "extractive"


def demo(workspace: WorkspaceOption = None) -> None:
    """Run the shipped demo, which needs nothing.

    A fictional company's policy, all four initializations, the extractive baseline.
    """
    from genaipa.cli import planning
    from genaipa.cli.run import carry_out
    from genaipa.cli.screen import say
    from genaipa.runner import Bounds
    from genaipa.workspace import find_workspace

    here = find_workspace(workspace)
    say(f"The same as: genaipa run --system {SYSTEM} --policy {POLICY}")
    job = planning.begun(here, planning.Wanted((SYSTEM,), (POLICY,)), name="demo", new=False, offline=True)
    raise typer.Exit(carry_out(job, here, Bounds(), offline=True, yes=True, json=False))
