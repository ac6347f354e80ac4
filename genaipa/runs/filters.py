"""Filters on the answers of runs: by system, document, experiment and day.

Help pages import this, and therefore nothing else of the package until a filter is used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genaipa.errors import NotAmongError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest


@dataclass(frozen=True)
class Filters:
    """Filters on answers and scores; an empty filter selects everything."""

    systems: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    experiments: tuple[str, ...] = ()
    since: str = ""
    """A day, as 2026-01-31."""
    without: tuple[str, ...] = ()
    without_runs: tuple[str, ...] = ()
    """Parts of the names of runs to leave out; see `resolve`."""

    def __bool__(self) -> bool:
        return self != Filters()

    def select_systems_of_run(self, folder: RunFolder, manifest: Manifest) -> tuple[str, ...]:
        """Return the selected systems of a run; none if the run is not selected."""
        if self.since and manifest.created[:10] < self.since:
            return ()
        if self.documents and not set(self.documents) & manifest.documents.keys():
            return ()
        if any(name in folder.name for name in self.without_runs):
            return ()
        wanted = (
            name
            for name in manifest.spec.systems
            if not self.systems or _is_named_or_of_named_provider(name, self.systems)
        )
        return tuple(name for name in wanted if not _is_named_or_of_named_provider(name, self.without))

    def selects_answers(self, document_name: str, document_kind: str | None, initialization: str, wording: str) -> bool:
        """Tell whether an answer with these coordinates about a document of this kind is selected."""
        from genaipa.runs.experiments import classify_experiment

        if self.documents and document_name not in self.documents:
            return False
        return not self.experiments or classify_experiment(document_kind, initialization, wording) in self.experiments

    def describe_filters_or_empty(self) -> str:
        """Return the filters that are set; empty where none is."""
        filters = {
            "systems": self.systems,
            "documents": self.documents,
            "experiments": self.experiments,
            "since": self.since and (self.since,),
            "without": self.without,
        }
        return "; ".join(f"{label} {', '.join(names)}" for label, names in filters.items() if names)

    def describe_each_filter(self) -> tuple[str, ...]:
        """Return the filters that are set, each in words."""
        return tuple(filter(None, self.describe_filters_or_empty().split("; ")))

    def resolve_names_or_raise(self, runs: Sequence[tuple[RunFolder, Manifest]]) -> Filters:
        """Resolve short names of systems; a name to leave out that is no system's is a run's, or a part of it.

        A NotAmongError for a filter that names nothing of what there is; a misspelt one would go unnoticed. That
        there is nothing published to leave out is no mistake.
        """
        from genaipa.systems.provider import list_providers, match_system_name_or_empty

        systems = {name for _, manifest in runs for name in manifest.spec.systems}
        folders = {folder.name for folder, _ in runs}
        # A provider's name stands for all of its systems.
        families = {
            name
            for name in self.systems + self.without
            if any(_is_named_or_of_named_provider(system, (name,)) for system in systems)
        }
        models = models_by_system(manifest for _, manifest in runs)
        full = {
            name: name if name in families else match_system_name_or_empty(name, systems, models)
            for name in self.systems + self.without
        }
        for name in self.systems:
            if not full[name]:
                raise NotAmongError("systems of these runs", name, systems)
        run_names = tuple(name for name in self.without if not full[name])
        recorded = {provider.name for provider in list_providers() if provider.words == "recording"}
        for name in run_names:
            if name not in recorded and not any(name in run for run in folders):
                raise NotAmongError("systems or names of these runs", name, systems | folders)
        documents = {name for _, manifest in runs for name in manifest.documents} if self.documents else set()
        for name in self.documents:
            if name not in documents:
                raise NotAmongError("documents of these runs", name, documents)
        experiments = {name for run in runs for name in collect_experiments_of_run(*run)} if self.experiments else set()
        for name in self.experiments:
            if name not in experiments:
                raise NotAmongError("experiments of these runs", name, experiments)
        only = tuple(full[name] for name in self.systems)
        return replace(
            self, systems=only, without=tuple(full[name] or name for name in self.without), without_runs=run_names
        )


EVERYTHING = Filters()
"""The filters where none is given."""


def models_by_system(manifests: Iterable[Manifest]) -> dict[str, set[str]]:
    """Collect the names of the models behind each system of these runs."""
    models: dict[str, set[str]] = {}
    for manifest in manifests:
        for system, names in manifest.models.items():
            models.setdefault(system, set()).update(names)
    return models


def collect_experiments_of_run(folder: RunFolder, manifest: Manifest) -> set[str]:
    """Return the experiments of a run's answers; of an imported study, whose tables have more, all there are."""
    from genaipa.runs.experiments import EXPERIMENTS, classify_experiment
    from genaipa.runs.imported import is_imported_published_study
    from genaipa.runs.procedure import get_plan_if_procedure_run

    if is_imported_published_study(folder):
        return set(EXPERIMENTS)
    plan = get_plan_if_procedure_run(manifest.spec)
    return {
        classify_experiment(kind, initialization, wording)
        for kind in {facts.kind for facts in manifest.documents.values()}
        for initialization in (plan.initializations if plan else ())
        for wording in (plan.wordings_and_any_follow_up if plan else ())
    }


def _is_named_or_of_named_provider(system: str, system_or_provider_names: Iterable[str]) -> bool:
    """Tell whether a system is one of these, or of a provider among them: `published` has `published/bard`."""
    return any(system == name or system.startswith(f"{name.rstrip('/')}/") for name in system_or_provider_names)
