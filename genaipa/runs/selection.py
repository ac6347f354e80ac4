"""Find and select runs: by a name, a part of one, or a system for all of its runs; and group them and their documents.

An occasion is every complete run of one plan on one day: the same was asked of the same system on several days.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from genaipa.errors import DataError, GenaipaError, UnknownNameError, UsageError, closest_name_or_empty, name_suggestion
from genaipa.files.names import clean_folder_name
from genaipa.files.text import sha256_of
from genaipa.kinds import find_kind_or_placeholder
from genaipa.policies.corpus import FACTS
from genaipa.runs.filters import EVERYTHING, Filters, models_by_system
from genaipa.runs.folder import RunFolder
from genaipa.runs.imported import is_imported_published_study
from genaipa.runs.manifest import MANIFEST, MANIFEST_COPY
from genaipa.runs.slices import SlicedStudy, group_slices_by_study_name, map_slices_to_studies
from genaipa.systems.provider import find_provider, match_system_name_or_empty
from genaipa.systems.published import map_recorded_systems_to_dataset_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from genaipa.runs.records import DocumentFacts, Manifest, RecordHead, StudySlice
    from genaipa.workspace import Workspace

_LONGEST = 1000
"""Characters of a study's name that are compared: its slices' folders have the first of them."""
_SECOND = re.compile(r"\d{8}-\d{6}-")
"""How the name of a run's folder begins that says when it was begun."""
_NEWEST = 5
"""As many runs are offered for a name that means none."""


@dataclass(frozen=True)
class SelectedRun:
    """A run that a command is about, and the systems and the answers of it that are meant."""

    folder: RunFolder
    manifest: Manifest
    systems: tuple[str, ...]
    only: Filters = EVERYTHING

    def includes_record(self, record: RecordHead) -> bool:
        """Tell whether an answer is meant."""
        way = (record.coordinates.get(name, "") for name in ("initialization", "wording"))
        return record.system in self.systems and self.includes_answers(record.document, *way)

    def includes_answers(self, document_name: str, initialization: str, wording: str) -> bool:
        """Tell whether answers with these coordinates are meant."""
        if not (self.only.documents or self.only.experiments):
            return True
        facts = self.manifest.documents.get(document_name)
        return self.only.selects_answers(document_name, facts.kind if facts else None, initialization, wording)


def select_runs_and_apply_filters(
    workspace: Workspace, system_or_run_names: Sequence[str], filters: Filters | None = None
) -> list[SelectedRun]:
    """Return the runs that `find_runs_by_system_or_run_names` finds, as far as the filters take them.

    A UsageError where they take none, and for a filter that names nothing of what there is.
    """
    return apply_filters_to_runs(find_runs_by_system_or_run_names(workspace, system_or_run_names), filters)


def apply_filters_to_runs(selected_runs: list[SelectedRun], filters: Filters | None) -> list[SelectedRun]:
    """Return these runs as far as the filters take them; the errors of `select_runs_and_apply_filters`."""
    if not filters or not selected_runs:
        return selected_runs
    filters = filters.resolve_names_or_raise([(source.folder, source.manifest) for source in selected_runs])
    selected = []
    for source in selected_runs:
        wanted = filters.select_systems_of_run(source.folder, source.manifest)
        if systems := tuple(name for name in wanted if name in source.systems):
            selected.append(replace(source, systems=systems, only=filters))
    if not selected:
        raise UsageError("no answer in these runs matches the filters; see: genaipa runs")
    return selected


def find_runs_by_system_or_run_name(workspace: Workspace, system_or_run_name: str) -> list[SelectedRun]:
    """Return the runs and their systems that one name means; see `find_runs_by_system_or_run_names`."""
    return find_runs_by_system_or_run_names(workspace, [system_or_run_name])


def find_runs_by_system_or_run_names(workspace: Workspace, system_or_run_names: Sequence[str]) -> list[SelectedRun]:
    """Return the named runs, each once: a name is a system's, for all of its runs, or a run's, or RUN:SYSTEM.

    A system may be called by its short name (`match_system_name_or_empty`) and a run by a part of its name, or
    `latest`. Without a name, every run of the workspace but those whose manifest is damaged. Runs in which a judge was
    asked are meant only by their own names.

    Of a published study's system these are the study's own, and not those in which it was asked again.
    A UsageError or RunError for a name that means nothing, or several systems; a run whose manifest is damaged is an
    error only if it was named itself.
    """
    parts: dict[str, _RunWithSystems] = {}
    meanings = [resolve_system_or_run_name(workspace, name).parts for name in system_or_run_names]
    for part in chain.from_iterable(
        meanings if system_or_run_names else [_drop_reruns_of_published_studies(_list_scorable_runs(workspace))]
    ):
        before = parts.get(part.folder.name, part)
        parts[part.folder.name] = part._replace(systems=tuple(sorted({*before.systems, *part.systems})))
    return [SelectedRun(part.folder, part.folder.manifest(), part.systems) for part in parts.values()]


class _RunWithSystems(NamedTuple):
    """Systems of a run, or all of them."""

    folder: RunFolder
    systems: tuple[str, ...]


class ResolvedName(NamedTuple):
    """Meaning of a name: its full name, which is a system's, a run's, or RUN:SYSTEM, and the runs."""

    name: str
    parts: list[_RunWithSystems]


def resolve_system_or_run_name(workspace: Workspace, system_or_run_name: str) -> ResolvedName:
    """Resolve a name of a system, of a run, or RUN:SYSTEM; systems come before parts of the names of runs.

    The errors of `find_runs_by_system_or_run_names`.
    """
    whole = system_or_run_name == "latest" or _find_run_path_by_whole_name(workspace, system_or_run_name) is not None
    runs = [] if whole else _list_scorable_runs(workspace)
    systems = list(dict.fromkeys(system for run in runs for system in run.systems))
    system = match_system_name_or_empty(system_or_run_name, systems)
    if not system and "/" in system_or_run_name:
        system = match_system_name_or_empty(
            system_or_run_name, systems, models_by_system(run.folder.manifest() for run in runs)
        )
    if system:
        return ResolvedName(
            system,
            _drop_reruns_of_published_studies(
                [run._replace(systems=(system,)) for run in runs if system in run.systems]
            ),
        )
    recorded = "/" in system_or_run_name and getattr(find_provider(system_or_run_name), "words", "") == "recording"
    if recorded and not any(is_imported_published_study(run.folder) for run in runs):
        study = map_recorded_systems_to_dataset_names().get(system_or_run_name, "NAME")
        raise UsageError(
            f"there is no run with {system_or_run_name} here; import the published study with: genaipa get "
            f"{study} --runs"
        )
    try:
        source, end = find_run_or_study(workspace, system_or_run_name), ""
    except UnknownNameError:
        run, colon, end = system_or_run_name.partition(":")
        unknown = UnknownNameError(
            "system or run", system_or_run_name, _list_names_to_suggest(systems, runs), "See: genaipa runs"
        )
        if not colon:
            raise unknown from None
        # A misspelt class (`a:Bto`) is no run and its system.
        misspelt = bool(closest_name_or_empty(system_or_run_name, [system for system in systems if ":" in system]))
        try:
            source = find_run_or_study(workspace, run)
        except UsageError:
            if misspelt:
                raise unknown from None
            raise
    run_systems = source.as_folders[0].read_manifest_head().spec.systems
    if not end:
        return ResolvedName(source.name, [_RunWithSystems(folder, run_systems) for folder in source.as_folders])
    models = models_by_system(folder.manifest() for folder in source.as_folders[:1])
    if not (system := match_system_name_or_empty(end, run_systems, models)):
        raise unknown if misspelt else UnknownNameError(f"system of the run {source.name}", end, run_systems)
    return ResolvedName(f"{source.name}:{system}", [_RunWithSystems(folder, (system,)) for folder in source.as_folders])


def _list_scorable_runs(workspace: Workspace) -> list[_RunWithSystems]:
    """Return the runs whose answers can be scored; damaged ones, and slices that only bear a study's name, left out."""
    folders = list_run_folders_oldest_first(workspace)
    foreign = {run.name for study in group_slices_by_study_name(folders).values() for run, _ in study.foreign}
    runs = _pair_folders_with_readable_manifests(folder for folder in folders if folder.name not in foreign)
    return [
        _RunWithSystems(run, manifest.spec.systems)
        for run, manifest in runs
        if not find_kind_or_placeholder(manifest.spec.kind).on_answers
    ]


def _list_names_to_suggest(systems: Sequence[str], runs: Sequence[_RunWithSystems]) -> set[str]:
    """Return the names that an error may offer: systems, and the newest runs as they were called if that is enough."""
    heads = [(run.folder, run.folder.read_manifest_head()) for run in runs]
    # A study is offered in place of its slices.
    calls = {head.slice.study if head.slice else folder.name: head for folder, head in heads}
    names = [clean_folder_name(head.slice.study if head.slice else head.name) for head in calls.values()]
    called = [
        words if words and names.count(words) == 1 else call
        for words, call in zip(names[-_NEWEST:], [*calls][-_NEWEST:], strict=True)
    ]
    return {*systems, *called, *(["latest"] if runs else [])}


def select_run_folders(
    workspace: Workspace, system_or_run_names: Sequence[str], filters: Filters | None = None
) -> list[RunFolder]:
    """List the folders of the runs that `select_runs_and_apply_filters` finds.

    Without names and filters damaged ones, too.
    """
    if not (system_or_run_names or filters):
        return list_run_folders_oldest_first(workspace)
    return [source.folder for source in select_runs_and_apply_filters(workspace, system_or_run_names, filters)]


def _drop_reruns_of_published_studies(runs: list[_RunWithSystems]) -> list[_RunWithSystems]:
    """Return the runs, except any that only ask a published study's systems again, where the study itself is here.

    Such a run repeats answers that are counted already; by its own name it is reported as any other.
    """
    imported = {name for run in runs if is_imported_published_study(run.folder) for name in run.systems}
    return [run for run in runs if is_imported_published_study(run.folder) or not set(run.systems) <= imported]


def _pair_folders_with_readable_manifests(folders: Iterable[RunFolder]) -> list[tuple[RunFolder, Manifest]]:
    loaded = []
    for folder in folders:
        try:
            loaded.append((folder, folder.manifest()))
        except DataError:
            continue
    return loaded


def is_run_folder(path: Path) -> bool:
    """Tell whether a folder is a run, by its manifest or the copy of it."""
    return any((path / name).is_file() for name in (MANIFEST, MANIFEST_COPY))


def list_run_folders_oldest_first(workspace: Workspace) -> list[RunFolder]:
    """Return the runs of a workspace, oldest first; imported ones, whose names say no time, before all others."""
    return _list_run_folders(workspace.runs)


def _list_run_folders(runs_path: Path) -> list[RunFolder]:
    # A manifest that is lost has a copy beside it, which is read in its place.
    paths = {path.parent for name in (MANIFEST, MANIFEST_COPY) for path in runs_path.glob(f"*/{name}")}
    folders = [path for path in paths if not path.name.startswith(".")]
    # A name tells the second. Runs begin faster than that, in a notebook or a script, and `latest` is the last of them.
    seconds = {path: _SECOND.match(path.name) for path in folders}
    begun = Counter(second[0] for second in seconds.values() if second)

    def place(path: Path) -> tuple[bool, str, str, str]:
        second = seconds[path]
        moment = _moment_of_start_or_empty(RunFolder(path)) if second and begun[second[0]] > 1 else ""
        return path.name[:1].isdigit(), second[0] if second else path.name, moment, path.name

    return [RunFolder(path) for path in sorted(folders, key=place)]


def _moment_of_start_or_empty(folder: RunFolder) -> str:
    """Return the time at which a run was begun, to the millisecond; empty if its manifest is damaged."""
    try:
        return folder.read_manifest_head().created
    except GenaipaError:
        return ""


def find_sliced_study(workspace: Workspace, study_name: str) -> SlicedStudy | None:
    """Find the slices of the study of that name; None if there are none."""
    return group_slices_by_study_name(list_run_folders_oldest_first(workspace)).get(study_name)


def list_all_slices_including_this_run(folder: RunFolder) -> list[RunFolder]:
    """Return all slices of the study that a run is a slice of, itself among them; only the run where it is none."""
    part = folder.read_manifest_head().slice
    if part is None:
        return [folder]
    study = group_slices_by_study_name(_list_run_folders(folder.path.parent)).get(part.study)
    return study.as_folders if study and any(sibling.path == folder.path for sibling in study.as_folders) else [folder]


def describe_study_problems(workspace: Workspace, slices: Iterable[StudySlice | None]) -> list[str]:
    """Return sentences on what is lost of the studies of these slices, and on runs that only bear a study's name."""
    names = dict.fromkeys(part.study for part in slices if part is not None)
    studies = group_slices_by_study_name(list_run_folders_oldest_first(workspace)) if names else {}
    return [problem for name in names if name in studies for problem in studies[name].problems]


def _find_run_path_by_whole_name(workspace: Workspace, name: str) -> Path | None:
    """Return the folder of a run that is named whole, or by a path; None if there is none."""
    return next((path for path in (workspace.home / name, workspace.runs / name) if is_run_folder(path)), None)


def find_run(workspace: Workspace, name: str) -> RunFolder:
    """Find the one run that `find_run_or_study` finds; a UsageError for a study of several slices."""
    source = find_run_or_study(workspace, name)
    if isinstance(source, SlicedStudy):
        raise UsageError(
            f"{source.name} is a study in {source.number:,} slices, each of which is a run; name one of them, such as "
            f"{source.as_folders[0].name}."
        )
    return source


def find_run_or_study(workspace: Workspace, name: str) -> RunFolder | SlicedStudy:
    """Find the run or the study of that name, path, or unambiguous part of a name.

    `latest` is the newest in which answers were asked for: a judge's runs come after the judged ones. A slice is meant
    by its own name, and its study by the name of all.
    """
    if path := _find_run_path_by_whole_name(workspace, name):
        return RunFolder(path)
    runs = list_run_folders_oldest_first(workspace)
    study_of = map_slices_to_studies(runs)
    studies = {study.name: study for study in study_of.values()}
    if name == "latest" and runs:
        newest = next((run for run in reversed(runs) if not run.is_judge_run), runs[-1])
        return study_of.get(newest.name, newest)
    words = clean_folder_name(name) or name
    matching_studies = [study for study in studies.values() if words in clean_folder_name(study.name, _LONGEST)]
    slice_names = {folder.name for study in matching_studies for folder in study.as_folders}
    matching: list[RunFolder | SlicedStudy] = [
        run for run in runs if (name in run.name or words in run.name) and run.name not in slice_names
    ]
    matching += matching_studies
    if len(matching) > 1:
        matching = [source for source in matching if source.has_exact_given_name(words)] or matching
    if len(matching) == 1:
        return matching[0]
    if matching:
        some_names = ", ".join(source.name for source in reversed(matching[-5:]))
        raise UsageError(f"'{name}' matches {len(matching)} runs, such as {some_names}; write more of the name.")
    candidates = [*(run.name for run in runs[-5:]), *studies, *(["latest"] if runs else [])]
    raise UnknownNameError("run", name, candidates, "See: genaipa runs")


NONE = "(none)"
"""The group of documents without a value in the column."""


class DocumentGrouping(NamedTuple):
    """The groups in a column (`by`), as document → group."""

    by: str
    group_by_document: dict[str, str]


def group_documents_by_column(
    selected_runs: Iterable[SelectedRun], column: str, language_by_document: Mapping[str, str] | None = None
) -> DocumentGrouping:
    """Return the groups of these runs' documents in a column; a UsageError for one that none of them has.

    `language_by_document` are found where metadata state none.
    """
    detected = (
        {name: code for name, code in (language_by_document or {}).items() if code} if column == "language" else {}
    )
    documents: dict[str, DocumentFacts] = {}
    for source in selected_runs:
        for name, facts in source.manifest.documents.items():
            documents.setdefault(name, facts)
    columns = {name for facts in documents.values() for name in facts.groups}
    columns |= {name for name in FACTS if any(getattr(facts, name) for facts in documents.values())}
    if column not in columns and not detected:
        raise UsageError(f"no document of these runs has a column '{column}'{name_suggestion(column, columns)}")
    groups = {
        name: str(getattr(facts, column)) if column in FACTS else facts.groups.get(column, "")
        for name, facts in documents.items()
    }
    return DocumentGrouping(column, {name: group or detected.get(name) or NONE for name, group in groups.items()})


@dataclass(frozen=True)
class Occasion:
    """A day on which a system was asked a plan, and the runs of that day."""

    day: str
    runs: tuple[str, ...]


def most_repeated_plan_occasions_by_system(selected_runs: Iterable[SelectedRun]) -> dict[str, list[Occasion]]:
    """Return system → its occasions, the earliest first, of the plan that it was asked on most days, if on several.

    A plan is the whole spec but for its systems and repetitions, and the digests of documents, questions and prompts;
    all slices of a study have one, and the day of the first, once all of them are complete.
    """
    runs_by_day: dict[tuple[str, str], dict[str, list[str]]] = {}
    selected_runs = list(selected_runs)
    studies = _map_complete_study_names_to_days(selected_runs)
    for source in selected_runs:
        manifest, part = source.manifest, source.manifest.slice
        if manifest.status != "complete" or not manifest.created or (part and part.study not in studies):
            continue
        day, plan = (
            studies[part.study] if part else manifest.created[:10],
            part.plan if part else _plan_digest(manifest),
        )
        for system in source.systems:
            runs_by_day.setdefault((system, plan), {}).setdefault(day, []).append(source.folder.name)
    chosen: dict[str, list[Occasion]] = {}
    for (system, _), days in runs_by_day.items():
        if len(days) > max(1, len(chosen.get(system, ()))):
            chosen[system] = [Occasion(day, tuple(sorted(days[day]))) for day in sorted(days)]
    return chosen


def _plan_digest(manifest: Manifest) -> str:
    """Return the digest of a run's plan."""
    spec = msgspec.to_builtins(msgspec.structs.replace(manifest.spec, systems=(), repetitions=1))
    digests = manifest.digests
    return sha256_of(repr((spec, digests.prompts, digests.documents, digests.questions)))


def _map_complete_study_names_to_days(selected_runs: Iterable[SelectedRun]) -> dict[str, str]:
    """Return study → the day of its first slice, of studies whose slices are all among these and complete."""
    slices: dict[str, dict[int, Manifest]] = {}
    for source in selected_runs:
        if (part := source.manifest.slice) and source.manifest.status == "complete":
            slices.setdefault(part.study, {})[part.index] = source.manifest
    complete = {}
    for study, manifests in slices.items():
        part = next(iter(manifests.values())).slice
        if part is not None and len(manifests) == part.number:
            complete[study] = min(manifest.created for manifest in manifests.values())[:10]
    return complete


def map_repeated_runs_to_days(selected_runs: Iterable[SelectedRun]) -> dict[str, str]:
    """Return run → its day, of runs in which a system was asked the same on several days."""
    return {
        run: occasion.day
        for days in most_repeated_plan_occasions_by_system(selected_runs).values()
        for occasion in days
        for run in occasion.runs
    }
