"""Read the YAML files that people write, strictly.

A typo names the file, the entry, the key and the nearest right one.
"""

from __future__ import annotations

import hashlib
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


def digest(text: str) -> str:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def as_yaml(record: msgspec.Struct) -> str:
    """A record as the text of a YAML file, its keys in their order."""
    return yaml.safe_dump(msgspec.to_builtins(record), sort_keys=False, allow_unicode=True, width=120)


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
        raise DataError(path, _in_words(problem, kind), _entry(raw, location.rstrip("`"), kind)) from None


_KINDS = {
    "str": "text",
    "bool": "yes or no",
    "int": "a number",
    "float": "a number",
    "array": "a list",
    "object": "keys",
}


def _in_words(problem: str, kind: Any) -> str:
    """What the decoder says, in the words of whoever writes the file."""
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", problem)
    if unknown:
        return f"unknown key '{unknown[1]}'{nearest(unknown[1], _fields(kind))}"
    missing = re.fullmatch(r"Object missing required field `(.*)`", problem)
    if missing:
        return f"the key '{missing[1]}' is missing."
    choice = re.fullmatch(r"Invalid enum value '(.*)'", problem)
    if choice:
        return f"'{choice[1]}' is not possible here{nearest(choice[1], _choices(kind) - {choice[1]})}"
    if "matching regex" in problem:
        return "may hold letters, digits, '.', '_' and '-' only."
    wrong = re.fullmatch(r"Expected `(.*)`, got `(.*)`", problem)
    if wrong:
        wanted, got = (_KINDS.get(name.partition(" ")[0], name) for name in wrong.groups())
        quoted = "; put it in quotes" if wrong[1].startswith("str") and wrong[2] in ("bool", "int", "float") else ""
        return f"wants {wanted}, and has {got}{quoted}."
    return f"{problem}."


def _entry(raw: Any, location: str, kind: Any) -> str:
    """`$.questions[3].text` → `questions[3] (T_u1).text`: the id helps more than the position."""
    shown, here = "", raw
    for key, index in re.findall(r"\.([\w-]+)|\[(\d+|\.\.\.)\]", location.removeprefix("$")):
        if index == "...":
            # The decoder doesn't say which of a mapping's values it means.
            key = _culprit(here, kind, shown)  # noqa: PLW2901
        shown += (f".{key}" if shown else str(key)) if key else f"[{index}]"
        if isinstance(here, dict):
            here = here.get(key)
        elif isinstance(here, list) and index.isdigit() and int(index) < len(here):
            here = here[int(index)]
            if isinstance(here, dict) and isinstance(here.get("id"), str):
                shown += f" ({here['id']})"
        else:
            here = None
    return shown


def _culprit(values: Any, kind: Any, field: str) -> str:
    """The first key of a mapping whose value is not what the field of that name holds."""
    fields = msgspec.structs.fields(kind) if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else ()
    wanted = next((typing.get_args(f.type)[-1] for f in fields if f.encode_name == field), Any)
    for key, value in values.items() if isinstance(values, dict) else ():
        try:
            msgspec.convert(value, wanted, strict=True)
        except msgspec.ValidationError:
            return str(key)
    return "..."


def _choices(kind: Any) -> set[str]:
    """Every word that a file of this kind may choose from, at any depth."""
    if typing.get_origin(kind) is typing.Literal:
        return {str(choice) for choice in typing.get_args(kind)}
    return set().union(*(_choices(inner) for inner in _inner(kind)))


def _inner(kind: Any) -> list[Any]:
    """The types that a type is made of."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [field.type for field in msgspec.structs.fields(kind)]
    return list(typing.get_args(kind))


def _fields(kind: Any) -> set[str]:
    """Every key that a file of this kind may have, at any depth."""
    own = isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    names = {field.encode_name for field in msgspec.structs.fields(kind)} if own else set()
    return names.union(*(_fields(inner) for inner in _inner(kind)))
