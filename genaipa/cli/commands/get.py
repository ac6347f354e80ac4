"""`genaipa get`: published data, fetched once, checked and kept; with --runs, a study's runs and scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, print_to_stderr, queue_next_steps, show
from genaipa.cli.terminal.options import JsonOption, OfflineOption, current_workspace, option
from genaipa.errors import UsageError
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.datasets.base import Dataset, ImportedStudy, Pulled


def get(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="Name of a data set; leave it out to list all.",
            autocompletion=completion.data_sets,
        ),
    ] = None,
    source: Annotated[
        str | None,
        option(
            "--from", metavar="DIR|URL", help="Fetch from a checkout or mirror instead of the published repository."
        ),
    ] = None,
    runs: Annotated[bool, option("--runs", help="Import a study into this workspace as runs and scores.")] = False,
    offline: OfflineOption = False,
    json: JsonOption = False,
) -> None:
    """Fetch published data, or a study as runs.

    Documents, questions, annotated answers, recordings and suite files are fetched once, and each is checked against
    its published hash. With --runs, a study that was fetched before (or is fetched now, with --from) is imported into
    the workspace as runs and scores. Existing runs are left unchanged.
    """
    if runs:
        import_and_print_study(dataset, source, offline=offline, json=json)
    else:
        _pull_and_print_named_dataset(dataset, source, offline=offline, json=json)


def _pull_and_print_named_dataset(dataset_name: str | None, source: str | None, *, offline: bool, json: bool) -> None:
    from genaipa.policies.document import document_layers_and_paths_by_name

    data_set = require_known_dataset(dataset_name)
    result = pull_with_progress(data_set, origin=source, offline=offline)
    pulled = [
        name for name, (layer, _) in document_layers_and_paths_by_name(current_workspace()).items() if layer == "pulled"
    ]
    documents = pulled if data_set.documents else []
    if json:
        print_json(
            {
                "dataset": dataset_name,
                "folder": str(result.folder),
                "fetched": result.fetched,
                "kept": result.kept,
                "absent": result.absent,
                "documents": documents,
                "terms": data_set.terms,
                "notes": result.notes,
            }
        )
        return
    for note in result.notes:
        print_to_stderr(f"note: {note}")
    if source and not result.fetched:
        print_to_stderr(f"nothing was fetched from {source}: all its files are already here")
    lacking = (
        f" {format_count(result.absent, 'more file')} {'is' if result.absent == 1 else 'are'} missing."
        if result.absent
        else ""
    )
    fetched = f"{format_count(result.fetched, 'file')} fetched, {result.kept} already here"
    show(f"{data_set.title}: {fetched}, all identical to the published files.{lacking}")
    if not data_set.documents:
        show(f"Terms: {data_set.terms} ({result.folder}).")
        if step := getattr(data_set, "next_step", None):
            queue_next_steps(f"Next: {step(current_workspace())}")
        return
    show(f"{data_set.terms} ({result.folder}).")
    show(f"Documents: {', '.join(documents)}")
    queue_next_steps(f"Next: genaipa run --system extractive --policy {data_set.documents[0]}")
    if data_set.systems:
        show(f"To import the published study as runs and scores: genaipa get {data_set.name} --runs")


def pull_with_progress(dataset: Dataset, *, origin: str | None = None, offline: bool = False) -> Pulled:
    """Pull a data set, with its progress on stderr."""
    from genaipa.cli.terminal.progress import show_count_of_pulled_files

    with show_count_of_pulled_files(dataset.title) as report_files:
        return dataset.pull(origin=origin, offline=offline, progress=report_files)


def import_and_print_study(
    dataset_name: str | None, source_to_fetch_first: str | None, *, offline: bool = False, json: bool
) -> None:
    """Import a published study as runs and scores, and print what came.

    A `source_to_fetch_first` is fetched from before.
    """
    data_set = require_known_dataset(dataset_name, offer_only_studies=True)
    if source_to_fetch_first is not None:
        result = pull_with_progress(data_set, origin=source_to_fetch_first, offline=offline)
        print_to_stderr(
            f"{data_set.title}: {format_count(result.fetched, 'file')} fetched, {result.kept} already here, "
            "all identical "
            "to the published files."
        )
    done = data_set.import_study(current_workspace())
    if json:
        print_json(_imported_study_to_dict(done))
    else:
        _print_imported_study(done)


def require_known_dataset(dataset_name: str | None, *, offer_only_studies: bool = False) -> Dataset:
    """Find the data set that a command names; a UsageError that lists them where none is named."""
    from genaipa.datasets.base import dataset_names, find_dataset

    if dataset_name is None:
        names = [
            candidate for candidate in dataset_names() if not offer_only_studies or find_dataset(candidate).systems
        ]
        commands = [f"genaipa get {candidate}{' --runs' if offer_only_studies else ''}" for candidate in names]
        raise UsageError(f"choose the data set to get: {' or '.join(commands)}.")
    return find_dataset(dataset_name)


def _imported_study_to_dict(imported: ImportedStudy) -> dict[str, object]:
    return {
        "systems": {
            system: {
                "runs": imported.runs[system],
                "answers": imported.answers[system],
                "scores": imported.scores[system],
            }
            for system in imported.runs
        },
        **imported.facts,
        "changed": imported.changed,
    }


def _print_imported_study(imported: ImportedStudy) -> None:
    width = max(map(len, imported.runs), default=0)
    for system, runs in imported.runs.items():
        show(
            f"{system:{width}}  {format_count(len(runs), 'run')}, {format_count(imported.answers[system], 'answer')}, "
            f"{format_count(imported.scores[system], 'published score')}"
        )
    for line in imported.notes:
        show(line)
    if not imported.changed:
        show("Everything was already here; nothing changed.")
    queue_next_steps(f"Next: genaipa report {' '.join(imported.runs)}")
