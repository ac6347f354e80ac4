"""What each provider needs on this machine: an SDK, a key, a server. Looked up without importing or calling anything.

The adapters find out for themselves when they start; this table is for those who want to know before.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import NotReadyError, UsageError
from genaipa.systems import published
from genaipa.systems.endpoint import is_loopback, read_address, read_key, read_variable, read_words

if TYPE_CHECKING:
    from genaipa.systems.catalog import Resolved


@dataclass(frozen=True)
class Requirements:
    """The `module` that has to be importable, the `extra` that installs it, and the variables that are read.

    One of the `keys` has to be set; with `keyless_here`, only for a server on another machine, and with
    `key_optional`, only where the server wants one. `address` names the server; with `address_needed` there is none to
    fall back on.
    """

    module: str
    extra: str
    keys: tuple[str, ...]
    address: str
    address_needed: bool = False
    keyless_here: bool = False
    key_optional: bool = False


PROVIDERS: dict[str, Requirements] = {
    "openai": Requirements("openai", "openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", keyless_here=True),
    "anthropic": Requirements("anthropic", "anthropic", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL"),
    "google": Requirements("google.genai", "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL"),
    "vllm": Requirements("openai", "openai", ("VLLM_API_KEY",), "VLLM_BASE_URL", key_optional=True),
}


def requirements(system: str) -> Requirements | None:
    """What a system needs, by its full name; None if nothing. `openai-api/NAME/…` has variables of its own."""
    provider, _, rest = system.partition("/")
    if provider == "openai-api":
        prefix = rest.partition("/")[0].upper().replace("-", "_")
        return Requirements(
            "openai", "openai", (f"{prefix}_API_KEY",), f"{prefix}_BASE_URL", address_needed=True, keyless_here=True
        )
    return PROVIDERS.get(provider)


def lacking(resolved: Resolved) -> list[str]:
    """What to do before this system can be asked; empty where nothing is known to be missing."""
    if ":" in resolved.provider:
        module = resolved.provider.partition(":")[0]
        return [] if importable(module) else [f"put the module '{module}' here or install it"]
    if resolved.provider == published.PROVIDER:
        return [] if published.is_recorded(resolved.name) else [published.pull_command(resolved.name)]
    needed = requirements(resolved.name)
    if needed is None:
        return []
    steps = [] if importable(needed.module) else [f"pip install 'genaipa[{needed.extra}]'"]
    try:
        address = read_address(resolved.name, needed.address)
    except NotReadyError:
        return [*steps, f"mend the address in {needed.address}"]
    if resolved.provider == "vllm" and address is None:
        steps += _vllm_lacking(needed.address)
    if needed.address_needed and address is None:
        steps.append(f"set {needed.address}")
    keyless = needed.key_optional or (needed.keyless_here and address is not None and is_loopback(address))
    for key in needed.keys:
        try:
            read_key(resolved.name, key)
        except NotReadyError:
            return [*steps, f"mend the key in {key}"]
    if not keyless and not any(read_variable(key) for key in needed.keys):
        steps.append(f"set {' or '.join(needed.keys)}")
    return steps


def importable(module: str) -> bool:
    """Whether the module can be imported (from the working folder too), found out without doing so."""
    try:
        if importlib.util.find_spec(module) is not None:
            return True
    except (ModuleNotFoundError, ValueError):
        return False
    return importlib.machinery.PathFinder.find_spec(module.partition(".")[0], [str(Path.cwd())]) is not None


@dataclass(frozen=True)
class VllmCommand:
    """How a vLLM server is started here: the words before `serve`, the flags after it.

    `program` is where the first word is found, None if it isn't installed.
    """

    words: list[str]
    flags: list[str]
    program: str | None


def vllm_command() -> VllmCommand:
    """The command as the environment has it; a UsageError for a variable that can't be read."""
    words = read_words("GENAIPA_VLLM_COMMAND") or ["vllm"]
    return VllmCommand(words, read_words("GENAIPA_VLLM_ARGS"), shutil.which(words[0]))


def _vllm_lacking(address_variable: str) -> list[str]:
    """What to do before a vLLM server can be started here."""
    try:
        program = vllm_command().program
    except UsageError as error:
        return [str(error).removesuffix(".")]
    return [] if program else [f"set {address_variable}, or pip install 'genaipa[vllm]'"]
