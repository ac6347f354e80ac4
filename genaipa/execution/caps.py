"""The spending cap of a study, of which each slice claims a share when it starts; its own until it ends.

Slices know of each other by their manifests alone, so that it makes no difference who starts them, and where.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from genaipa.errors import OptionError
from genaipa.execution.limits import max_reply_tokens
from genaipa.execution.ready import measure_tokens_of_sampled_calls
from genaipa.files.locks import hold_lock, system_file_lock
from genaipa.runs.batches import max_unrecorded_batch_dollars
from genaipa.runs.manifest import ANSWERS
from genaipa.runs.selection import find_sliced_study
from genaipa.systems.base import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import ReadySystem
    from genaipa.runs.folder import RunFolder

LEAST_CALLS = 20
"""Calls, the dearest of a slice, that its share has to pay for."""
_ROUNDING = 1e-6
"""US dollars to which manifests round what a run cost."""


def check_cap_and_find_least_slice_dollars(run: PreparedRun, systems: Sequence[ReadySystem], study_cap: float) -> float:
    """Return the US dollars of the least share that is worth a slice; an OptionError for a cap with smaller shares."""
    assert run.slice is not None, "a study has slices"
    least_share = LEAST_CALLS * max((_dearest_call_cost(run, ready) for ready in systems), default=0.0)
    if study_cap < least_share * run.slice.number:
        raise OptionError(
            "max_cost",
            f" ${study_cap:g} leaves ${study_cap / run.slice.number:.4g} for each of {run.slice.number:,} "
            f"slices, less than {LEAST_CALLS} of their most expensive calls cost; set "
            f"${least_share * run.slice.number:.4g} or more, or use fewer slices. "
            "Slices with shorter documents can still run.",
        )
    return least_share


def claim_cap_share(run: PreparedRun, folder: RunFolder, study_cap: float, least_share: float) -> float:
    """Return the US dollars that a slice may come to, and note them in its manifest, which is held for writing.

    All slices that are not complete may come to the same, of what the complete ones left; and to `least_share`
    more than they spent, if the study has so much left. What others spent, is set aside for their batches, or is
    their share while they are asked, is gone.
    """
    assert run.slice is not None, "a study has slices"
    lock = system_file_lock(run.workspace.runs / ".caps.lock")
    with hold_lock(lock, run.workspace.runs):
        study = find_sliced_study(run.workspace, run.slice.study)
        siblings = [sibling for sibling in study.as_folders if sibling.path != folder.path] if study else []
        used = {sibling.path: dollars_unavailable_to_other_slices(sibling) for sibling in siblings}
        complete = [sibling.path for sibling in siblings if sibling.read_manifest_head().status == "complete"]
        slice_dollars = folder.cost + max_unrecorded_batch_dollars(folder.path)
        level = (study_cap - sum(used[path] for path in complete)) / (run.slice.number - len(complete))
        unclaimed_dollars = max(0.0, study_cap - slice_dollars - sum(used.values()) - _ROUNDING * run.slice.number)
        granted = slice_dollars + min(unclaimed_dollars, max(level - slice_dollars, least_share))
        manifest = folder.manifest()
        manifest.status, manifest.max_cost = "running", granted
        manifest.slice = replace(run.slice, cap=study_cap)
        folder.write_manifest(manifest)
    return granted


def dollars_unavailable_to_other_slices(slice_folder: RunFolder) -> float:
    """Return the US dollars of a slice that others can't spend: its share while it is asked, else what it came to."""
    head, spent = slice_folder.read_manifest_head(), max_unrecorded_batch_dollars(slice_folder.path)
    try:
        size = (slice_folder.path / ANSWERS).stat().st_size
    except OSError:
        size = 0
    # After a kill the manifest knows nothing of the last answers.
    spent += (head.totals.cost or 0.0) if size == head.totals.bytes else slice_folder.cost
    return max(spent, head.max_cost or 0.0) if holds_cap_share(slice_folder) else spent


def holds_cap_share(slice_folder: RunFolder) -> bool:
    """Tell whether a slice is being asked, and has its share."""
    head = slice_folder.read_manifest_head()
    return head.status == "running" and head.max_cost is not None and slice_folder.is_held_for_writing()


def _dearest_call_cost(run: PreparedRun, ready: ReadySystem) -> float:
    """Return the US dollars at most of the dearest call of a slice to a system."""
    if ready.tariff is None or ready.resolved.is_manual:
        return 0.0
    output = max_reply_tokens(run.spec.max_tokens, ready.resolved.effort)
    longest = max((measured.input for measured in measure_tokens_of_sampled_calls(run.task, ready)), default=0)
    return ready.tariff.cost(Usage(input=longest, output=output))
