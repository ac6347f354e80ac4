"""A model's server that is started here once, for all slices of a study on this machine."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.execution.ready import StartedSystems
from genaipa.systems.endpoint import read_environment_variable
from genaipa.systems.provider import split_system_name_and_effort

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from genaipa.systems.catalog import ResolvedSystem


def find_systems_needing_local_server(systems: Sequence[ResolvedSystem]) -> list[ResolvedSystem]:
    """Return the systems whose server would be started here, because no variable names one."""
    return [
        system
        for system in systems
        if system.provider_record
        and system.provider_record.takes_flags
        and read_environment_variable(system.provider_record.address) is None
    ]


@contextlib.contextmanager
def serve_model_and_yield_variables(
    systems: Sequence[ResolvedSystem], flags: tuple[str, ...], say: Callable[[str], None]
) -> Iterator[dict[str, str]]:
    """Start the server of these systems, if one is to be started here; gives the variables by which slices find it.

    A UsageError for several, which one variable can't name; a NotReadyError if the server can't be started.
    """
    served = find_systems_needing_local_server(systems)
    if not served:
        yield {}
        return
    if len({split_system_name_and_effort(system.name)[0] for system in served}) > 1:
        names = ", ".join(system.requested_name for system in served)
        raise UsageError(
            f"{names} would each need a server here, but slices share a single server; ask only one of "
            f"these systems in each study."
        )
    record = served[0].provider_record
    assert record is not None, "its server is started by an adapter of ours"
    with asyncio.Runner() as runner:
        started = StartedSystems(flags)
        try:
            system, readiness = runner.run(started.start_system_once(served[0]))
            for note in readiness.notes:
                say(note)
            endpoint = getattr(system, "resolve_endpoint")()  # noqa: B009 - of systems that start a server alone
            yield {record.address: endpoint.address}
        finally:
            runner.run(started.close_systems())
