"""`genaipa runs`: what was run here."""

from __future__ import annotations

from genaipa.cli.options import JsonOption, WorkspaceOption


def runs(json: JsonOption = False, workspace: WorkspaceOption = None) -> None:
    """List the runs of the workspace, oldest first."""
    from genaipa.cli.screen import complain, print_json, show, table
    from genaipa.errors import GenaipaError
    from genaipa.runs.folder import list_runs
    from genaipa.workspace import find_workspace

    here = find_workspace(workspace)
    rows, found = [], []
    for folder in list_runs(here):
        try:
            manifest = folder.manifest()
            spec, totals = manifest.spec, manifest.totals
            if lack := folder.lack(manifest):
                complain(lack)
            if manifest.status == "running" or lack:
                # The manifest is behind while a run goes on, and stays so if it is killed.
                manifest, tally = folder.state()
                totals = tally.totals()
        except GenaipaError as error:
            complain(error)
            continue
        kept = totals.answered + totals.refused + totals.truncated
        found.append({"run": folder.name, "status": manifest.status, "spec": spec, "totals": totals})
        rows.append(
            (
                folder.name,
                manifest.status,
                ", ".join(spec.systems),
                ", ".join(spec.documents),
                spec.experiment or ", ".join(spec.initializations),
                f"{kept}/{totals.planned}",
                "" if totals.cost is None else f"${totals.cost:.2f}",
            )
        )
    if json:
        print_json(found)
    elif not rows:
        show(f"No runs in {here.runs} yet. Begin with: genaipa run --system extractive --policy brindlecart")
    else:
        table(
            ("run", "status", "systems", "documents", "experiment", "answers", "cost"),
            rows,
            right=(5, 6),
            under=(3, 2, 4),
        )
