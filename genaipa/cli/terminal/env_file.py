"""The nearest `.env`: keys, and addresses beside their own keys; nothing else of it reaches the environment.

Somebody else's study may bring one, and a command, a proxy or a certificate in it would have the user's machine do as a
stranger likes. An address that meets a key of the user's own would have that key sent to it.
"""

from __future__ import annotations

import functools
import io
import logging
import os
import re
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from genaipa.cli.terminal.console import print_to_stderr
from genaipa.errors import GenaipaError, clip
from genaipa.words import join_names, join_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from genaipa.systems.provider import Provider

LARGEST = 100_000
"""Bytes of a file of keys."""
LONGEST = 4_000
"""Characters of a line: the parser's time grows with their square."""
_KEY = "_API_KEY"
_SECRETS = ("_AUTH_TOKEN", "_CUSTOM_HEADERS")
"""Ends of other variables that an SDK may send to the address of the same name."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 3


class _LoadedVariables(NamedTuple):
    """The variables that a file gave."""

    path: Path
    names: frozenset[str]


_loaded: ContextVar[_LoadedVariables | None] = ContextVar("taken", default=None)


def load_keys_and_addresses_from_dotenv() -> None:
    """Read keys and their addresses of the nearest `.env` into the environment, without replacing what is set."""
    _loaded.set(None)
    folder = Path.cwd()
    path = next((path for parent in (folder, *folder.parents) if (path := parent / ".env").is_file()), None)
    if path is None:
        return
    values = _read_env_file_or_print_why_ignored(path)
    keys = {name: value for name, value in values.items() if _is_key_by_ending_or_provider(name) and "${" not in value}
    addresses = {name: value for name, value in values.items() if name not in keys and _find_key_variables(name)}
    usable = {name: value for name, value in addresses.items() if _has_every_secret_from_same_file(name, keys)}
    names = [name for name in (*keys, *usable) if name not in os.environ]
    os.environ.update({name: values[name] for name in names})
    _loaded.set(_LoadedVariables(path, frozenset(names)))
    ignored = [name for name in values if name not in os.environ]
    _print_ignored_variables(path, ignored, addresses)


def print_which_keys_came_from_env_file(systems: Iterable[str]) -> None:
    """Say in one line which keys and addresses of these systems, by their full names, come from the `.env`."""
    from genaipa.systems.endpoint import read_environment_variable
    from genaipa.systems.provider import find_provider, redact_keys, strip_wrapper_from_system_name

    loaded, origins = _loaded.get(), dict[str, str]()
    for system in map(strip_wrapper_from_system_name, systems):
        provider = find_provider(system)
        if loaded is None or provider is None or not provider.has_key_or_address_variable:
            continue
        server = provider.fill_server_in_variable_names(system)
        named = ["key"] * bool(loaded.names.intersection(server.keys)) + ["address"] * (server.address in loaded.names)
        if named:
            address = (
                f" ({redact_keys(read_environment_variable(server.address) or '')})"
                if server.address in loaded.names
                else ""
            )
            origins[f"{provider.shared_name_prefix(system).rstrip('/')}{address}"] = " and ".join(named)
    if loaded is not None and origins:
        line = join_names([f"{named} of {family}" for family, named in origins.items()])
        print_to_stderr(f"{line[0].upper()}{line[1:]} from {os.path.relpath(loaded.path)}.")


def _read_env_file_or_print_why_ignored(path: Path) -> dict[str, str]:
    """Return the values of a file by name, without a look at other variables; none of a file that is none of keys."""
    import dotenv
    from dotenv.parser import parse_stream

    from genaipa.files.text import read_text

    try:
        if path.stat().st_size > LARGEST:
            print_to_stderr(
                f"{path} is larger than {LARGEST // 1000} kB, too large for a file of keys; genaipa ignores it."
            )
            return {}
        text = read_text(path)
    except OSError as error:
        print_to_stderr(f"{path} can't be read ({error.strerror}); genaipa ignores it.")
        return {}
    except GenaipaError as error:
        print_to_stderr(f"{error} genaipa ignores the file.")
        return {}
    lines = text.splitlines(keepends=True)
    bad = [number for number, line in enumerate(lines, 1) if len(line) > LONGEST]
    text = "".join("\n" if len(line) > LONGEST else line for line in lines)
    # In our words instead of the library's.
    logging.getLogger("dotenv.main").setLevel(logging.ERROR)
    bad += [binding.original.line for binding in parse_stream(io.StringIO(text)) if binding.error]
    if bad:
        noun, are = ("line", "is") if len(bad) == 1 else ("lines", "are")
        print_to_stderr(f"{path}: genaipa ignores {noun} {join_some(sorted(bad), _SHOWN)}, which {are} not NAME=value.")
    values = dotenv.dotenv_values(stream=io.StringIO(text), interpolate=False)
    return {name: value for name, value in values.items() if value and _NAME.fullmatch(name) and "\0" not in value}


@functools.cache
def _load_providers() -> tuple[Provider, ...]:
    from genaipa.systems.provider import list_providers

    return list_providers()


def _is_key_by_ending_or_provider(variable: str) -> bool:
    """Tell whether a variable is a key, by its name or by a provider's record."""
    return variable.endswith(_KEY) or any(variable in provider.keys for provider in _load_providers())


def _find_key_variables(address_variable: str) -> set[str]:
    """Return the variables of the keys that may be sent to the address in a variable; none if it is no address."""
    keys: set[str] = set()
    for provider in _load_providers():
        before, by_server, after = provider.address.partition("{SERVER}")
        server = address_variable.removeprefix(before).removesuffix(after) if by_server else ""
        if provider.address and address_variable == provider.address.replace("{SERVER}", server):
            keys |= {key.replace("{SERVER}", server) for key in provider.keys}
    return keys


def _has_every_secret_from_same_file(address_variable: str, file_keys: Mapping[str, str]) -> bool:
    """Tell whether an address has its key in the same file, and no other secret of the user's would be sent to it."""
    wanted = _find_key_variables(address_variable)
    server = address_variable.removesuffix("_BASE_URL")
    foreign = [key for key in wanted if os.environ.get(key, file_keys.get(key)) != file_keys.get(key)]
    return (
        bool(wanted & file_keys.keys()) and not foreign and not any(f"{server}{end}" in os.environ for end in _SECRETS)
    )


def _print_ignored_variables(path: Path, variables: Iterable[str], address_variables: Mapping[str, str]) -> None:
    """Say which variables of a file are not taken, and the remedy."""
    ignored_addresses = [clip(name) for name in variables if name in address_variables]
    ignored_names = [clip(name) for name in variables if name not in address_variables]
    sentences = []
    if ignored_addresses:
        sentences.append(
            f"{join_some(ignored_addresses, _SHOWN)} ignored: put the key of the same server into the same file "
            "(NAME_API_KEY=none if it needs none) and unset any other key of this server, or set the address in the "
            "environment"
        )
    if ignored_names:
        sentences.append(
            f"{join_some(ignored_names, _SHOWN)} ignored: genaipa reads only keys (NAME_API_KEY, without "
            f"${{…}}) and their "
            "addresses from a .env file; if you trust the other variables, set them in the environment"
        )
    if sentences:
        print_to_stderr(f"{path}: {'; '.join(sentences)}.")
