"""A slice of a study that is there: go on with it, or begin it as the study's other slices were begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from genaipa.errors import OptionError, UsageError
from genaipa.execution.prepare import PreparedRun, prepare_resumed_run, prepare_run
from genaipa.runs.procedure import assert_procedure_run_and_get_plan
from genaipa.systems.base import Sampling
from genaipa.tasks.request import RunRequest

if TYPE_CHECKING:
    from genaipa.execution.observer import Observer
    from genaipa.runs.records import Manifest
    from genaipa.runs.slices import SlicedStudy
    from genaipa.workspace import Workspace


def resume_or_prepare_slice(
    workspace: Workspace,
    study: SlicedStudy,
    slice_index_and_count: tuple[int, int],
    observer: Observer,
    *,
    offline: bool = False,
) -> PreparedRun:
    """Prepare a slice of a study: the one that was begun, else a new one by the plan of its siblings.

    A UsageError if the corpus, or what else they were begun with, has changed since; an OptionError for no slice of
    this study.
    """
    index, number = slice_index_and_count
    if number != study.number:
        raise OptionError(
            "slice",
            f" {index}/{number}: {study.name} has {study.number:,} slices; write "
            f"{min(index, study.number)}/{study.number}.",
        )
    if index in study.slices:
        run = prepare_resumed_run(workspace, study.slices[index].name, observer, offline=offline)
    else:
        sibling = study.as_folders[0].manifest()
        request = _make_slice_request_like_sibling(sibling, slice_index_and_count, offline=offline)
        try:
            run = prepare_run(workspace, request, observer)
        except UsageError:
            # Sets of questions that were named are in the plan alike; a slice has those of its documents' languages.
            specs = [folder.manifest().spec for folder in study.as_folders]
            named = sorted(
                {name for spec in specs for name in assert_procedure_run_and_get_plan(spec).questions.values()}
            )
            run = prepare_run(workspace, replace(request, plan=request.plan | {"questions": tuple(named)}), observer)
    assert run.slice is not None, "it is a slice"
    run.slice = replace(run.slice, cap=study.highest_cap_if_all_slices_have_one)
    return run


def _make_slice_request_like_sibling(
    sibling: Manifest, slice_index_and_count: tuple[int, int], *, offline: bool
) -> RunRequest:
    """Return the request for a slice that is asked as its sibling was."""
    spec, plan, corpus = sibling.spec, assert_procedure_run_and_get_plan(sibling.spec), sibling.corpus
    assert sibling.slice is not None, "it is a slice"
    assert corpus is not None, "only a corpus has slices"
    plan_options = {
        name: value for name, value in asdict(plan).items() if name not in ("documents", "questions", "limit")
    }
    if plan.limit is not None:
        plan_options["limit"] = "-".join(map(str, plan.limit))
    return RunRequest(
        systems=spec.systems,
        corpus=corpus.file,
        limit_documents=corpus.asked if corpus.asked < corpus.texts or corpus.stratified else None,
        stratify=corpus.stratified or None,
        kind=spec.kind,
        task=spec.task,
        plan=plan_options,
        repetitions=spec.repetitions,
        seed=spec.seed,
        name=sibling.slice.study,
        offline=offline,
        slice=slice_index_and_count,
        **{name: getattr(spec, name) for name in Sampling.__struct_fields__},
    )
