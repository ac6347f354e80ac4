"""`genaipa runs`: list runs, and remove some."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import complain, print_json, say, show, table
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, several
from genaipa.cli.terminal.selection import filtered
from genaipa.errors import GenaipaError, NotAmongError, UnknownNameError, UsageError, command
from genaipa.runs.filters import EVERYTHING, Filters, model_names
from genaipa.words import number

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, Totals
    from genaipa.workspace import Workspace

app = typer.Typer(help="List or remove what run has asked.")


@app.command("list")
@filtered
def list_runs(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.runs_and_systems, help="Only these: runs, or parts of names, or systems' runs."
        ),
    ] = None,
    only: Filters = EVERYTHING,
    json: JsonOption = False,
) -> None:
    """List runs, imported ones last, oldest first."""
    from genaipa.workspace import elsewhere

    here = current_workspace()
    readable, problems = _readable(here, whole=bool(only.documents))
    chosen = _chosen(readable, several(run), only)
    for problem in problems:
        complain(problem)
    if json:
        print_json(
            [
                {"run": f.name, "status": m.status, "spec": m.spec, "totals": t, "out": _out(f, m, t)}
                for f, m, t in chosen
            ]
        )
    elif chosen:
        headers = ["run", "status", "systems", "documents", "experiment", "answers", "cost", "out"]
        rows = [_row(*run) for run in chosen]
        if not any(row[-1] for row in rows):
            headers, rows = headers[:-1], [row[:-1] for row in rows]
        table(headers, rows, right=(5, 6))
        if len(chosen) < len(readable):
            say(f"{len(chosen)} of {len(readable)} runs.")
    elif readable:
        show(f"None of the {len(readable)} runs is like that.")
    elif not problems:
        first = command("genaipa", "run", "--system", "extractive", "--policy", "brindlecart", *elsewhere(here.home))
        show(f"No runs in {here.runs} yet. Begin with: {first}")
    if problems:
        raise typer.Exit(1)


_Run = tuple["RunFolder", "Manifest", "Totals"]


def _readable(here: Workspace, *, whole: bool) -> tuple[list[_Run], list[str]]:
    """The runs, one's own first, and sentences about what could not be read; `whole` with all names of documents."""
    from genaipa.runs.imported import is_imported
    from genaipa.runs.manifest import MANIFEST
    from genaipa.runs.selection import is_run, run_folders

    found, problems = list[_Run](), []
    for folder in sorted(run_folders(here), key=is_imported):
        try:
            manifest = folder.manifest() if whole else folder.outline()
            totals = manifest.totals
            if lack := folder.lack(manifest):
                problems.append(lack)
            if manifest.status == "running" or lack:
                # The manifest is behind while a run goes on, and stays so if it is killed.
                outline, tally = folder.progress()
                manifest.status, totals = outline.status, tally.totals()
        except GenaipaError as error:
            problems.append(str(error))
            continue
        found.append((folder, manifest, totals))
    others = (path for path in sorted(here.runs.glob("[!.]*/")) if not is_run(path))
    problems += [f"{path} has no {MANIFEST}, so it is no run; move it away." for path in others]
    return found, problems


def _chosen(runs: list[_Run], names: tuple[str, ...], only: Filters) -> list[_Run]:
    """Select runs; an UnknownNameError for a name or a filter that fits none."""
    if only.experiments:
        known = {_experiment(manifest) for _, manifest, _ in runs}
        for name in only.experiments:
            if name not in known:
                raise NotAmongError("experiments of these runs", name, known)
    begun = only.experiments
    only = replace(only, experiments=()).checked([(folder, manifest) for folder, manifest, _ in runs])
    from genaipa.systems.provider import find_system

    own = [folder.name for folder, _, _ in runs]
    asked = {system for _, manifest, _ in runs for system in manifest.spec.systems}
    models = model_names(manifest for _, manifest, _ in runs)
    meant = {name: "" if name in own or name == "latest" else find_system(name, asked, models) for name in names}
    newest = max((folder.name for folder, *_ in runs if folder.name[:1].isdigit() and not folder.is_judges), default="")
    for name in names:
        if name != "latest" and not meant[name] and not any(name in one for one in own):
            raise UnknownNameError("system or run", name, asked.union(own))

    def is_named(folder: RunFolder, manifest: Manifest) -> bool:
        parts = (newest if name == "latest" else name for name in names if not meant[name])
        return any(part in folder.name for part in parts) or any(meant[n] in manifest.spec.systems for n in names)

    return [
        (folder, manifest, totals)
        for folder, manifest, totals in runs
        if (not names or is_named(folder, manifest))
        and (not begun or _experiment(manifest) in begun)
        and only.systems_of(folder, manifest)
    ]


def _experiment(manifest: Manifest) -> str:
    from genaipa.runs.procedure import find_procedure_plan

    plan = find_procedure_plan(manifest.spec)
    return (plan.experiment or ", ".join(plan.initializations)) if plan else manifest.spec.task


def _out(folder: RunFolder, manifest: Manifest, totals: Totals) -> dict[str, Any]:
    """The batches, replies by hand or answers that a run waits for; empty for one that waits for nothing."""
    from genaipa.runs.batches import batches_out

    if manifest.status == "complete":
        return {}
    if batches := list(batches_out(folder.path)):
        asked, done = sum(batch.count for batch in batches), sum(batch.done for batch in batches)
        return {"batches": len(batches), "questions": asked, "done": done}
    left = totals.planned - totals.answered - totals.refused - totals.truncated - totals.failed
    if manifest.status == "waiting":
        return {"by_hand": left}
    return {"to_come": left} if manifest.status == "running" else {}


def _out_in_words(out: dict[str, Any]) -> str:
    if "batches" in out:
        return f"{number(out['batches'], 'batch', 'batches')}, {out['done']:,} of {out['questions']:,} done"
    return next((f"{count:,} {name.replace('_', ' ')}" for name, count in out.items()), "")


def _row(folder: RunFolder, manifest: Manifest, totals: Totals) -> tuple[Any, ...]:
    from genaipa.systems.provider import shorten_names

    return (
        folder.name,
        manifest.status,
        ", ".join(shorten_names(manifest.spec.systems).values()),
        manifest.spec.plan.label or manifest.documents_in_words,
        _experiment(manifest),
        f"{totals.answered + totals.refused + totals.truncated}/{totals.planned}",
        "" if totals.cost is None else f"${totals.cost:.2f}",
        _out_in_words(_out(folder, manifest, totals)),
    )


@app.command("rm")
def remove(
    run: Annotated[list[str], typer.Argument(autocompletion=completion.runs, help="Runs, by name, part, or latest.")],
    yes: Annotated[bool, option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Remove runs with all their answers.

    The scores that were given to these answers stay in the workspace's store, and hold again for the same answers in
    other runs. Asks first; where nobody can be asked, --yes is needed.
    """
    import shutil

    from genaipa.runs.selection import find_run

    here = current_workspace()
    folders = {folder.path.resolve(): folder for folder in (find_run(here, name) for name in several(run))}
    for path, folder in folders.items():
        if path.parent != here.runs.resolve():
            raise UsageError(f"{folder.path} is not in {here.runs}; only runs of this workspace are removed.")
        if folder.is_held():
            raise UsageError(f"{folder.name} is being worked on; stop that process first.")
    for folder in folders.values():
        say(f"{folder.name}: {_kept(folder)}")
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("nothing was removed, since nobody can be asked; add --yes.")
        typer.confirm(f"Remove {number(len(folders), 'run')} with all answers?", abort=True, err=True)
    for path in folders:
        try:
            shutil.rmtree(path)
        except OSError as error:
            raise UsageError(f"{error.filename or path} can't be removed ({error.strerror}).") from None
    show(f"{number(len(folders), 'run')} removed; scores that were given to these answers stay where they are.")


def _kept(folder: RunFolder) -> str:
    try:
        totals = folder.outline().totals
    except GenaipaError as error:
        return str(error)
    return f"{totals.answered + totals.refused + totals.truncated} of {totals.planned} answers"
