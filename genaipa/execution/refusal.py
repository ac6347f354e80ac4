"""The refusal of a run whose systems can't be asked: each one's obstacles together, and what can be run instead.

Retirement and context are looked at before a key is asked for and before anything is started; and again afterwards,
with the contexts and the counts of tokens of servers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.datasets.base import map_recorded_systems_to_datasets
from genaipa.errors import AlternativeCommand, RefusedSystemError
from genaipa.execution.ready import find_oversized_documents, make_system_ready
from genaipa.kinds import DEFAULT
from genaipa.policies.document import document_layers_and_paths_by_name
from genaipa.systems.catalog import resolve_system
from genaipa.systems.endpoint import read_environment_variable
from genaipa.words import format_count, join_some
from genaipa.workspace import PULLED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.datasets.base import Dataset
    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import OversizedDocument, ReadySystem
    from genaipa.systems.catalog import ResolvedSystem

_DENSEST = 2
"""Characters of a token in a text that has many for its length: what fits by these fits."""
_QUESTION_TOKENS = 600
"""More than a question and its reply come to."""
_MARGIN = 1.5
"""A guess of a text's tokens exceeds the truth by less than half."""
_NAMED = 3
WITHOUT_DOCUMENT = "recall"
"""The experiment that asks about a company by its name alone."""


async def refuse_retired_or_small_context_systems(run: PreparedRun, *, will_start: bool) -> None:
    """Raise a RefusedSystemError for systems that can't be asked, as far as that is known without them.

    One that is `will_start` afterwards may count fewer tokens than are guessed here.
    """
    problems = []
    for system in run.systems:
        ended = would_ask_retired_vendor_model(system)
        exceeding: list[OversizedDocument] = []
        if (
            system.context_tokens is not None
            and not system.is_manual
            and (ended or _may_exceed_context(run, system.context_tokens))
        ):
            ready = await make_system_ready(system, run.task, offline=True, say=lambda _text: None)
            exceeding = find_oversized_documents(ready, run.task, guess_margin_factor=_MARGIN if will_start else 1.0)
        if ended or exceeding:
            problems.append((system, exceeding))
    _raise_refusal_if_any_problem(run, problems)


def refuse_oversized_documents(run: PreparedRun, systems: Sequence[ReadySystem]) -> None:
    """Raise a RefusedSystemError for documents that exceed the context of these systems, as they count."""
    exceeding = ((ready.resolved, find_oversized_documents(ready, run.task)) for ready in systems)
    _raise_refusal_if_any_problem(run, [(system, documents) for system, documents in exceeding if documents])


def would_ask_retired_vendor_model(system: ResolvedSystem) -> bool:
    """Tell whether the vendor, and no server of one's own, would be asked for a model that it has retired."""
    record = system.provider_record
    if not (system.entry.is_retired and record and record.hosted):
        return False
    return not (record.address and read_environment_variable(record.fill_server_in_variable_names(system.name).address))


def _may_exceed_context(run: PreparedRun, context_tokens: int) -> bool:
    """Tell whether it is worth counting: a document whose length alone rules out that it exceeds the context is not."""
    questions = max(map(len, run.task.question_orders.values()), default=0)
    longest = max(map(len, run.task.long_request_texts_by_name.values()), default=0)
    return longest / _DENSEST + questions * _QUESTION_TOKENS > context_tokens


def _raise_refusal_if_any_problem(
    run: PreparedRun, systems_and_oversized_documents: Sequence[tuple[ResolvedSystem, list[OversizedDocument]]]
) -> None:
    if systems_and_oversized_documents:
        message = " ".join(
            _refusal_sentence(system, exceeding) for system, exceeding in systems_and_oversized_documents
        )
        ways = [
            way
            for system, exceeding in systems_and_oversized_documents
            for way in _suggest_alternative_commands(run, system, exceeding)
        ]
        raise RefusedSystemError(message, ways)


def _are_all_run_documents_of_study(study: Dataset, run: PreparedRun) -> bool:
    """Tell whether all documents of a run are a study's, and none is one's own of the same name."""
    layers, names = document_layers_and_paths_by_name(run.workspace), {*run.task.facts}
    return names <= {*study.documents} and all(layers[name][0] == PULLED for name in names)


def _refusal_sentence(system: ResolvedSystem, oversized_documents: Sequence[OversizedDocument]) -> str:
    retired = f"retired on {system.entry.retired}" if would_ask_retired_vendor_model(system) else ""
    if not oversized_documents:
        return f"{system.requested_name} {retired}."
    largest = max(oversized_documents, key=lambda misfit: misfit.need)
    names = [misfit.document for misfit in oversized_documents]
    do, subject = ("do", largest.document) if len(names) > 1 else ("does", "it")
    fit = (
        f"{join_some(names, _NAMED)} {do} not fit {'it' if retired else system.requested_name}: with its questions "
        f"and replies {subject} needs about {largest.need:,} tokens ({format_count(largest.parts, 'part')}; "
        f"{largest.counted}), but the context holds {largest.context:,}."
    )
    return f"{system.requested_name} {retired}, and {fit}" if retired else fit


def _suggest_alternative_commands(
    run: PreparedRun, system: ResolvedSystem, oversized_documents: Sequence[OversizedDocument]
) -> Iterator[AlternativeCommand]:
    """Yield the commands that can be run instead, the best first."""
    system_name = system.requested_name
    procedure = run.spec.kind == DEFAULT
    without = ("--experiment", WITHOUT_DOCUMENT) if oversized_documents and procedure else ()
    need = max((misfit.need for misfit in oversized_documents), default=0)
    if system.entry.use:
        successor = resolve_system(system.entry.use, run.workspace)
        if not would_ask_retired_vendor_model(successor) and need <= (successor.context_tokens or need):
            yield AlternativeCommand(system_name, successor.requested_name, "its successor")
    recorded = system.entry.recorded
    if (
        procedure
        and recorded
        and (study := map_recorded_systems_to_datasets().get(recorded))
        and _are_all_run_documents_of_study(study, run)
    ):
        yield AlternativeCommand(system_name, recorded, f"the answers that the authors of {study.title} published")
    if oversized_documents and not would_ask_retired_vendor_model(system):
        if all(misfit.alone for misfit in oversized_documents):
            yield AlternativeCommand(
                system_name, system_name, "each question by itself", ("--conversation", "independent")
            )
        if without:
            yield AlternativeCommand(system_name, system_name, "without the document", without)
    if would_ask_retired_vendor_model(system) and not (oversized_documents and not without):
        server = "azure" if system.provider == "openai" else "other"
        about = f"{'Azure or ' if server == 'azure' else ''}another server that still has it"
        about += ", without the document" if without else ""
        address = f"{server.upper()}_BASE_URL=https://HOST/v1"
        yield AlternativeCommand(system_name, f"openai-api/{server}/{system.model}", about, without, address)
