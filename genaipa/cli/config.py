"""`--config FILE`: flags from a YAML file. Keys are the flags' names; what stands on the command line wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, nearest

if TYPE_CHECKING:
    from pathlib import Path


def read_config(path: Path, known: dict[str, bool]) -> dict[str, Any]:
    """Parameter → value; a DataError for a key that is no flag of the command.

    `known` are its flags, each with whether it takes several values; one alone needn't be written as a list.
    """
    from genaipa.datafiles import read_yaml

    values = read_yaml(path, dict[str, Any])
    flags = {flag.removeprefix("--") for flag in known if flag.startswith("--")} - {"config", "help"}
    found: dict[str, Any] = {}
    for key, value in values.items():
        if key not in flags:
            raise DataError(path, f"unknown key '{key}'{nearest(key, flags)}")
        if isinstance(value, dict) or value is None:
            raise DataError(path, "wants a value or a list of values.", key)
        several = known[f"--{key}"] and not isinstance(value, list)
        found[key.replace("-", "_")] = [value] if several else value
    return found
