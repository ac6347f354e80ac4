"""Missing requirements of a system (SDK, key, server), looked up without importing or calling anything."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import NotReadyError, UsageError
from genaipa.systems.endpoint import needs_key, read_address, read_key, read_variable

if TYPE_CHECKING:
    from genaipa.systems.catalog import Resolved
    from genaipa.systems.provider import Provider


def lacking(resolved: Resolved) -> list[str]:
    """Steps needed before a system can be asked."""
    if resolved.record is None:
        module = resolved.provider.partition(":")[0]
        return [] if importable(module) else [f"put the module '{module}' here or install it"]
    system = resolved.name
    needed = resolved.record.at(system)
    steps = needed.lacks(system) if needed.lacks else []
    if needed.sdk and not importable(needed.sdk):
        steps.append(f"pip install 'genaipa[{needed.extra}]'")
    try:
        address = read_address(system, needed.address) or needed.default_address
    except NotReadyError:
        return [*steps, f"mend the address in {needed.address}"]
    if not address:
        steps += _serverless(needed)
    for key in needed.keys:
        try:
            read_key(system, key)
        except NotReadyError:
            return [*steps, f"mend the key in {key}"]
    if needed.keys and needs_key(needed, address) and not any(map(read_variable, needed.keys)):
        steps.append(f"set {' or '.join(needed.keys)}")
    return steps


def _serverless(provider: Provider) -> list[str]:
    """Steps needed where no server is named; none if one can be started here."""
    if provider.program is None:
        return [f"set {provider.address}"] if provider.address else []
    try:
        found = provider.program()
    except UsageError as error:
        return [str(error).removesuffix(".")]
    return [] if found else [f"set {provider.address}, or pip install 'genaipa[{provider.name}]'"]


def importable(module: str) -> bool:
    """Whether a module can be imported, also from the working folder, without importing it."""
    try:
        if importlib.util.find_spec(module) is not None:
            return True
    except (ModuleNotFoundError, ValueError):
        return False
    return importlib.machinery.PathFinder.find_spec(module.partition(".")[0], [str(Path.cwd())]) is not None
