"""`--config FILE`: flags from a YAML file. Keys are the flags' names; the command line wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, nearest

if TYPE_CHECKING:
    from pathlib import Path

    import typer


def read_config(path: Path, context: typer.Context) -> dict[str, Any]:
    """Parameter → value; a DataError for a key that is no flag of the command, or a value that it can't have."""
    from genaipa.files.strict_yaml import read_yaml

    flags = {opt.removeprefix("--"): p for p in context.command.params for opt in p.opts if opt.startswith("--")}
    for never in ("config", "help"):
        flags.pop(never, None)
    found: dict[str, Any] = {}
    for key, value in read_yaml(path, dict[str, Any]).items():
        if key not in flags:
            raise DataError(path, f"unknown key '{key}'{nearest(key, flags)}")
        if isinstance(value, dict) or value is None:
            raise DataError(path, "wants a value or a list of values.", key)
        parameter = flags[key]
        several = getattr(parameter, "multiple", False)
        given = ([str(v) for v in value] if isinstance(value, list) else [str(value)]) if several else value
        if not several:
            _check(path, key, value, parameter, context)
        found[str(parameter.name)] = given
    return found


def _check(path: Path, key: str, value: Any, parameter: Any, context: typer.Context) -> None:
    """A DataError if the flag can't take the value; otherwise the flag itself would be blamed, which nobody typed."""
    import typer

    try:
        parameter.process_value(context, value)
    except typer.BadParameter as error:
        raise DataError(path, f"can't be {value!r} ({error.message.rstrip('.')}).", key) from None
