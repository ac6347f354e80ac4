"""The status of a run, decided in one place: when it is left, when it is read, and of its shards together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from genaipa.runs.records import RunStatus

_WORST: tuple[RunStatus, ...] = ("running", "capped", "interrupted", "waiting", "partial", "complete")
"""Statuses of shards in the order in which one decides about the whole."""


def status_left(
    missing: AbstractSet[str],
    by_hand: AbstractSet[str],
    *,
    in_order: bool = True,
    capped: bool = False,
    out: bool = False,
) -> RunStatus:
    """The status of a folder that nobody asks any more.

    Answers of some systems are `missing`, and some systems are driven `by_hand`. It was left `in_order` or broken off,
    stopped by the cap (`capped`), or while batches are `out`, for which the next one to ask waits.
    """
    if in_order and not missing:
        return "complete"
    if out or (in_order and not capped and missing <= by_hand):
        return "waiting"
    if not in_order:
        return "interrupted"
    return "capped" if capped else "partial"


def status_read(noted: RunStatus, *, left: bool, out: bool, missing: bool) -> RunStatus:
    """The status of a folder as it is now: the one noted in its manifest, unless its writer was killed or answers went.

    It may be running and `left` by its process, batches may be `out`, and answers `missing`.
    """
    if left:
        return "waiting" if out else "interrupted"
    return "partial" if noted == "complete" and missing else noted


def status_together(shards: AbstractSet[RunStatus]) -> RunStatus:
    """The status of all shards, by theirs."""
    return next(status for status in _WORST if status in shards)


def status_of_whole(noted: RunStatus, shards: RunStatus) -> RunStatus:
    """The status of a run as it is now: the one noted in its manifest, put right by that of its shards together."""
    if noted == "complete":
        return shards
    if noted != "running" or shards == "running":
        return noted
    return shards if shards in ("complete", "waiting") else "interrupted"
