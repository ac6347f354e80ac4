"""`genaipa runs`: list runs, and remove some."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_error_to_stderr, print_json, print_table, print_to_stderr, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, split_names
from genaipa.cli.terminal.selection import add_filter_options, print_study_slice_problems
from genaipa.errors import GenaipaError, NotAmongError, UnknownNameError, UsageError, format_shell_command
from genaipa.runs.filters import EVERYTHING, Filters, models_by_system
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.manifest import ManifestHead
    from genaipa.runs.records import Manifest, RunStatus, RunTotals
    from genaipa.runs.slices import SlicedStudy
    from genaipa.workspace import Workspace

app = typer.Typer(help="List or remove runs.")


@app.command("list")
@add_filter_options
def list_runs(
    run: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.runs_and_systems,
            help="Only these runs, by name or part of a name, or the runs of these systems.",
        ),
    ] = None,
    only: Filters = EVERYTHING,
    json: JsonOption = False,
) -> None:
    """List runs, oldest first, imported ones last."""
    from genaipa.workspace import workspace_option_if_needed

    workspace, names = current_workspace(), split_names(run)
    readable, problems = _read_entries_and_problems(workspace, names, with_all_documents=bool(only.documents))
    chosen = _select_entries(readable, names, only)
    for problem in problems:
        print_error_to_stderr(problem)
    print_study_slice_problems(workspace, [entry.folder for entry in chosen])
    if json:
        print_json([entry.as_dict() for entry in chosen])
    elif chosen:
        headers = ["run", "status", "systems", "documents", "experiment", "answers", "cost", "out"]
        rows = [entry.as_row() for entry in chosen]
        if not any(row[-1] for row in rows):
            headers, rows = headers[:-1], [row[:-1] for row in rows]
        print_table(headers, rows, right_aligned_columns=(5, 6))
        if len(chosen) < len(readable):
            print_to_stderr(f"Listed: {len(chosen)} of {len(readable)} runs.")
    elif readable:
        show(f"None of the {len(readable)} runs matches.")
    elif not problems:
        first = format_shell_command(
            "genaipa",
            "run",
            "--system",
            "extractive",
            "--policy",
            "brindlecart",
            *workspace_option_if_needed(workspace.home),
        )
        show(f"No runs in {workspace.runs} yet. Start with: {first}")
    if problems:
        raise typer.Exit(1)


@dataclass
class _RunListEntry:
    """A line of the list: a run, or a study whose slices are counted together, by its first slice's manifest."""

    name: str
    folder: RunFolder
    manifest: Manifest
    totals: RunTotals
    study: SlicedStudy | None = None

    @property
    def folders(self) -> list[RunFolder]:
        """The run's folder, or those of the slices."""
        return self.study.as_folders if self.study else [self.folder]

    @property
    def newest_folder_name(self) -> str:
        """The name of its newest folder."""
        return max(folder.name for folder in self.folders)

    def has_name_containing(self, name_part: str) -> bool:
        """Tell whether a part of a name is in the name of the run, the study or a slice."""
        return name_part in self.name or any(name_part in folder.name for folder in self.folders)

    def as_dict(self) -> dict[str, Any]:
        """Return the line for machines."""
        facts = {"run": self.name, "status": self.manifest.status, "spec": self.manifest.spec, "totals": self.totals}
        if self.study is not None:
            slices = {"number": self.study.number, "missing": self.study.missing_slices}
            facts["slices"] = slices | {"runs": [folder.name for folder in self.folders]}
        return {**facts, "out": _count_pending_answers_or_batches(self.folders, self.manifest, self.totals)}

    def as_row(self) -> tuple[Any, ...]:
        """Return the line as cells."""
        from genaipa.systems.provider import shorten_system_names

        manifest, totals = self.manifest, self.totals
        documents = manifest.spec.plan.label or manifest.documents_description
        if self.study is not None:
            have = len(self.study.slices)
            slices = f"{have:,} of " if self.study.missing_slices else ""
            slices += format_count(self.study.number, "slice")
            documents = f"{manifest.corpus.asked_count_and_file_name if manifest.corpus else ''}, {slices}"
        return (
            self.name,
            manifest.status,
            ", ".join(shorten_system_names(manifest.spec.systems).values()),
            documents,
            ", ".join(_experiment_or_task_names(manifest)),
            f"{totals.answer_count}/{totals.planned}",
            "" if totals.cost is None else f"${totals.cost:.2f}",
            _describe_pending_or_empty(_count_pending_answers_or_batches(self.folders, manifest, totals)),
        )


def _read_entries_and_problems(
    workspace: Workspace, names_unfolding_studies: Sequence[str], *, with_all_documents: bool
) -> tuple[list[_RunListEntry], list[str]]:
    """Read the runs, one's own first, and studies, which these names unfold.

    `with_all_documents` with all names of documents.

    Also gives sentences about what could not be read.
    """
    from genaipa.files.names import clean_folder_name
    from genaipa.runs.imported import is_imported_published_study
    from genaipa.runs.manifest import MANIFEST
    from genaipa.runs.selection import is_run_folder, list_run_folders_oldest_first
    from genaipa.runs.slices import group_slices_by_study_name

    folders = sorted(list_run_folders_oldest_first(workspace), key=is_imported_published_study)
    studies = group_slices_by_study_name(folders)
    study_of = {
        folder.name: study
        for study in studies.values()
        if not any(
            name in part
            for name in names_unfolding_studies
            for part in (clean_folder_name(study.name), *(f.name for f in study.as_folders))
        )
        for folder in study.as_folders
    }
    entries, problems = list[_RunListEntry](), list[str]()
    for folder in folders:
        study = study_of.get(folder.name)
        if study is not None and folder is not study.as_folders[0]:
            continue
        try:
            entries.append(
                _read_study_entry(study, problems, with_all_documents=with_all_documents)
                if study
                else _read_run_entry(folder, problems)
            )
        except GenaipaError as error:
            problems.append(str(error))
    stray_folders = (path for path in sorted(workspace.runs.glob("[!.]*/")) if not is_run_folder(path))
    problems += [f"{path} has no {MANIFEST}, so it is not a run; move it elsewhere." for path in stray_folders]
    return entries, problems


def _read_run_entry(folder: RunFolder, problems_to_extend: list[str]) -> _RunListEntry:
    """Read the line of a run; the errors of its manifest."""
    manifest = folder.manifest()
    manifest.status, totals = _read_status_and_totals(folder, manifest, problems_to_extend)
    return _RunListEntry(folder.name, folder, manifest, totals)


def _read_study_entry(study: SlicedStudy, problems_to_extend: list[str], *, with_all_documents: bool) -> _RunListEntry:
    """Read the line of a study: its worst status, and the sums of what its slices' manifests say."""
    from genaipa.runs.records import RunStatus, RunTotals
    from genaipa.runs.status import worst_status

    first = study.as_folders[0]
    manifest, statuses, totals = (
        first.manifest(),
        set[RunStatus]({"partial"} if study.missing_slices else ()),
        RunTotals(),
    )
    for folder in study.as_folders:
        status, of_slice = _read_status_and_totals(folder, folder.read_manifest_head(), problems_to_extend)
        statuses.add(status)
        totals = totals.sum_with(of_slice)
        if with_all_documents:
            manifest.documents |= folder.manifest().documents
    manifest.status = worst_status(statuses)
    return _RunListEntry(study.name, first, manifest, totals, study)


def _read_status_and_totals(
    folder: RunFolder, manifest: Manifest | ManifestHead, problems_to_extend: list[str]
) -> tuple[RunStatus, RunTotals]:
    """Return the status and the counts of a run, from its answers where the manifest is behind."""
    lack = folder.describe_lost_answers_or_empty(manifest)
    if lack:
        problems_to_extend.append(lack)
    if manifest.status != "running" and not lack:
        return manifest.status, manifest.totals
    # The manifest is behind while a run goes on, and stays so if it is killed.
    manifest, tally = folder.read_manifest_and_tally()
    return manifest.status, tally.totals()


def _select_entries(
    entries: list[_RunListEntry], names_or_parts: tuple[str, ...], filters: Filters
) -> list[_RunListEntry]:
    """Select runs; an UnknownNameError for a name or a filter that fits none."""
    if filters.experiments:
        experiments = {name for entry in entries for name in _experiment_or_task_names(entry.manifest)}
        for name in filters.experiments:
            if name not in experiments:
                raise NotAmongError("experiments of these runs", name, experiments)
    begun = filters.experiments
    filters = replace(filters, experiments=()).resolve_names_or_raise(
        [(entry.folder, entry.manifest) for entry in entries]
    )
    from genaipa.systems.provider import match_system_name_or_empty

    run_names = {entry.name for entry in entries}
    systems = {system for entry in entries for system in entry.manifest.spec.systems}
    models = models_by_system(entry.manifest for entry in entries)
    meant = {
        name: "" if name in run_names or name == "latest" else match_system_name_or_empty(name, systems, models)
        for name in names_or_parts
    }
    newest = max(
        (
            entry.newest_folder_name
            for entry in entries
            if entry.newest_folder_name[:1].isdigit() and not entry.folder.is_judge_run
        ),
        default="",
    )
    for name in names_or_parts:
        if name != "latest" and not meant[name] and not any(entry.has_name_containing(name) for entry in entries):
            raise UnknownNameError("system or run", name, systems.union(run_names))

    def is_named(entry: _RunListEntry) -> bool:
        parts = (newest if name == "latest" else name for name in names_or_parts if not meant[name])
        return any(map(entry.has_name_containing, parts)) or any(
            meant[n] in entry.manifest.spec.systems for n in names_or_parts
        )

    return [
        entry
        for entry in entries
        if (not names_or_parts or is_named(entry))
        and (not begun or not set(begun).isdisjoint(_experiment_or_task_names(entry.manifest)))
        and filters.select_systems_of_run(entry.folder, entry.manifest)
    ]


def _experiment_or_task_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the experiment as it was named, else its initializations, and those of follow-ups; of a task its name."""
    from genaipa.questions.sets import FOLLOW_UP
    from genaipa.runs.experiments import classify_experiment
    from genaipa.runs.procedure import get_plan_if_procedure_run

    plan = get_plan_if_procedure_run(manifest.spec)
    if plan is None:
        return (manifest.spec.task,)
    name = plan.experiment or ", ".join(plan.initializations)
    if not plan.follow_up:
        return (name,)
    # Answers are of the experiment of their initialization, whatever the run's preset is called.
    kinds = sorted({document.kind for document in manifest.documents.values()})
    follow_ups = (classify_experiment(kind, way, FOLLOW_UP) for kind in kinds for way in plan.initializations)
    return (name, *dict.fromkeys(follow_ups))


def _count_pending_answers_or_batches(
    folders: Sequence[RunFolder], manifest: Manifest, totals: RunTotals
) -> dict[str, Any]:
    """Return the batches, replies by hand or answers that a run waits for; empty for one that waits for nothing."""
    from genaipa.runs.batches import find_pending_batches

    if manifest.status == "complete":
        return {}
    if batches := [batch for folder in folders for batch in find_pending_batches(folder.path)]:
        questions, done = sum(batch.request_count for batch in batches), sum(batch.done for batch in batches)
        return {"batches": len(batches), "questions": questions, "done": done}
    unanswered = totals.planned - totals.answer_count - totals.failed
    if manifest.status == "waiting":
        return {"by_hand": unanswered}
    return {"to_come": unanswered} if manifest.status == "running" else {}


def _describe_pending_or_empty(pending_counts: dict[str, Any]) -> str:
    if "batches" in pending_counts:
        return (
            f"{format_count(pending_counts['batches'], 'batch', 'batches')}, {pending_counts['done']:,} of "
            f"{pending_counts['questions']:,} done"
        )
    return next((f"{count:,} {name.replace('_', ' ')}" for name, count in pending_counts.items()), "")


@app.command("rm")
def remove_runs(
    run: Annotated[
        list[str], typer.Argument(autocompletion=completion.runs, help="Runs, by name, part of a name, or latest.")
    ],
    yes: Annotated[bool, option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Remove runs with all their answers.

    The scores of these answers stay in the workspace's store, and apply again to the same answers in other runs. The
    command asks first; without a terminal, it needs --yes.
    """
    import shutil

    from genaipa.runs.selection import find_run_or_study

    workspace = current_workspace()
    folders = {
        folder.path.resolve(): folder
        for name in split_names(run)
        for folder in find_run_or_study(workspace, name).as_folders
    }
    for path, folder in folders.items():
        if path.parent != workspace.runs.resolve():
            raise UsageError(f"{folder.path} is not in {workspace.runs}; only runs of this workspace are removed.")
        if folder.is_held_for_writing():
            raise UsageError(f"{folder.name} is in use by another process; stop that process first.")
    for folder in folders.values():
        print_to_stderr(f"{folder.name}: {_describe_answer_count_or_error(folder)}")
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("nothing was removed, because there is no terminal to confirm it on; add --yes.")
        typer.confirm(f"Remove {format_count(len(folders), 'run')} with all answers?", abort=True, err=True)
    for path in folders:
        try:
            shutil.rmtree(path)
        except OSError as error:
            raise UsageError(f"{error.filename or path} can't be removed ({error.strerror}).") from None
    show(f"{format_count(len(folders), 'run')} removed; the scores of their answers stay in the store.")


def _describe_answer_count_or_error(folder: RunFolder) -> str:
    try:
        totals = folder.manifest().totals
    except GenaipaError as error:
        return str(error)
    return f"{totals.answer_count} of {totals.planned} answers"
