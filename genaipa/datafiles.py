"""Read the YAML files that people write, strictly.

A typo names the file, the entry, the key and the nearest right one.
"""

from __future__ import annotations

import re
import typing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import yaml

from genaipa.errors import DataError, nearest

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")

# libyaml's parser where PyYAML was built with it: ten times as fast, same rules.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_Loader):  # type: ignore[misc]  # the base is chosen at run time
    """YAML without its two silent surprises: a key given twice, and a bare date turned into an object."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if key in found:
            raise yaml.constructor.ConstructorError(
                problem=f"the key '{key}' stands twice", problem_mark=key_node.start_mark
            )
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:timestamp", lambda _loader, node: node.value)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file (a byte-order mark is dropped); a DataError for anything else."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            path, f"is not UTF-8 text (byte {error.start} is 0x{raw[error.start]:02x}); save it as UTF-8 first."
        ) from None
    if "\0" in text:
        raise DataError(path, "is a binary file, not text.")
    return text


def read_yaml(path: Path, kind: type[T]) -> T:
    """The file as a `kind` (a msgspec Struct that forbids unknown fields); a DataError that says what to mend."""
    try:
        raw = yaml.load(read_text(path), Loader=_StrictLoader)  # noqa: S506 - derived from the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        raise DataError(path, f"{getattr(error, 'problem', None) or error}.", where) from None
    if raw is None:
        raise DataError(path, "is empty.")
    return convert(raw, kind, path)


def convert(raw: Any, kind: type[T], path: Path | str) -> T:
    """`raw` (lists, dicts, strings, numbers) as a `kind`; `path` is what an error names."""
    try:
        return msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError as error:
        problem, _, location = str(error).partition(" - at `")
        entry = _entry(raw, location.rstrip("`"))
        unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem)
        if unknown:
            problem = f"unknown key '{unknown.group(1)}'{nearest(unknown.group(1), _fields(kind))}"
        else:
            problem = problem.replace("Object missing required field", "the key is missing:").rstrip(".") + "."
        raise DataError(path, problem, entry) from None


def _entry(raw: Any, location: str) -> str:
    """`$.questions[3].text` → `questions[3] (T_u1).text`: the id helps more than the position."""
    shown, here = "", raw
    for key, index in re.findall(r"\.([\w-]+|\.\.\.)|\[(\d+|\.\.\.)\]", location.removeprefix("$")):
        shown += (f".{key}" if shown else key) if key else f"[{index}]"
        if isinstance(here, dict):
            here = here.get(key)
        elif isinstance(here, list) and index.isdigit() and int(index) < len(here):
            here = here[int(index)]
            if isinstance(here, dict) and isinstance(here.get("id"), str):
                shown += f" ({here['id']})"
        else:
            here = None
    return shown


def _fields(kind: Any) -> set[str]:
    """Every key that a file of this kind may have, at any depth."""
    found: set[str] = set()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        for field in msgspec.structs.fields(kind):
            found |= {field.encode_name} | _fields(field.type)
    for argument in typing.get_args(kind):
        found |= _fields(argument)
    return found
