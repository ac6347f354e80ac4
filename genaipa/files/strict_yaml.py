"""Read the YAML files that people write, strictly.

A typo names the file, the entry, the key and the nearest right one.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import stat
import typing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import yaml

from genaipa.errors import DataError, clipped, closest, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

T = TypeVar("T")

_LARGEST = 2**30
"""Bytes of a file that is read: a million scores take less."""

# libyaml's parser where PyYAML was built with it: ten times as fast, same rules.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_Loader):  # type: ignore[misc]  # the base is chosen at run time
    """YAML without its two silent surprises: a key given twice, and a bare date turned into an object."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of a node; a YAMLError with its place where its text is no such value (`!!float abc`)."""
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            wanted = node.tag.rpartition(":")[2]
            said = (
                f"'{clipped(str(node.value))}' is no {wanted}" if isinstance(node, yaml.ScalarNode) else "is unusable"
            )
            raise _bad(said, node) from None


def _bad(problem: str, node: Any) -> yaml.YAMLError:
    """An error at a node or an event."""
    return yaml.constructor.ConstructorError(problem=problem, problem_mark=node.start_mark)


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _bad("a list or a mapping can't be a key", key_node)
        key = loader.construct_object(key_node, deep=True)
        if key in found:
            raise _bad(f"the key '{clipped(str(key))}' stands twice", key_node)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:timestamp", lambda _loader, node: node.value)

_DEEPEST, _MOST = 50, 2_000_000
"""Levels of nesting, and values (aliases counted as what they stand for), that a file may have."""


def _check_size(text: str) -> None:
    """Refuse what no person writes, and what would exhaust the parser, with a YAMLError."""
    sizes, open_anchors = [0], []
    anchors: dict[str | None, int] = {}
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in open_anchors:
                raise _bad("refers to itself", event)
            # One that names nothing is the parser's to refuse.
            sizes[-1] += anchors.get(event.anchor, 0)
        elif isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            open_anchors.append(event.anchor)
            if len(sizes) > _DEEPEST:
                raise _bad("is nested too deeply", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            size = sizes.pop()
            sizes[-1] += size
            anchors[open_anchors.pop()] = size
        elif isinstance(event, yaml.ScalarEvent):
            sizes[-1] += 1
            anchors[event.anchor] = 1
        if sizes[-1] > _MOST:
            raise _bad("holds too many values", event)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file or pipe (a byte-order mark is dropped); a DataError for anything else."""
    try:
        with path.open("rb") as file:
            kind = os.fstat(file.fileno()).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
                raise DataError(path, "is a device, not a file.")
            raw = file.read(_LARGEST + 1)
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}).") from None
    if len(raw) > _LARGEST:
        raise DataError(path, f"is larger than {_LARGEST // 2**30} GiB, which nothing is that is read here.")
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
    return convert(_load(path), kind, path)


def read_partly(
    path: Path, kind: type[T], rules: Callable[[T], Iterable[DataError]]
) -> tuple[T | None, list[DataError]]:
    """As much of the file as is of that kind, and everything that is wrong with it; None if it is no YAML at all.

    What can't be used is replaced: a text by UNREADABLE, everything else by something empty. `rules` say what else is
    wrong. At most `MOST_PROBLEMS` are told.
    """
    try:
        raw = _load(path)
    except DataError as error:
        return None, [error]
    reading = _Reading(path, MOST_PROBLEMS)
    try:
        value: T = reading.value(raw, kind, "")
    except _EnoughError:
        return None, reading.problems
    said = (error for error in rules(value) if UNREADABLE not in str(error))
    return value, sorted([*reading.problems, *itertools.islice(said, MOST_PROBLEMS)], key=_place)


def _place(error: DataError) -> list[tuple[int, str]]:
    """What sorts problems by entry, the tenth one after the ninth."""
    return [(int(digits or 0), word) for word, digits in re.findall(r"([^\d]+)(\d{0,9})", error.entry)]


def _load(path: Path) -> Any:
    text = read_text(path)
    try:
        _check_size(text)
        raw = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - derived from the safe loader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}" if mark else ""
        said = " ".join(str(getattr(error, "problem", None) or error).split())
        raise DataError(path, f"{clipped(said.rstrip('.'), 200)}.", where) from None
    if raw is None:
        raise DataError(path, "is empty.")
    return raw


def convert(raw: Any, kind: type[T], path: Path | str) -> T:
    """`raw` (lists, dicts, strings, numbers) as a `kind`; `path` is what an error names."""
    try:
        return msgspec.convert(raw, kind, strict=True)
    except msgspec.ValidationError as error:
        reading = _Reading(path, 1)
        with contextlib.suppress(_EnoughError):
            reading.value(raw, kind, "")
        raise reading.problems[0] if reading.problems else DataError(path, f"{clipped(str(error), 200)}.") from None


UNREADABLE = "\ufffc"
"""Stands for a text that could not be read, so that what else is said about it can be left out."""
MOST_PROBLEMS = 1000
"""So many problems of one file are told."""


class _AnyKeys(dict[Any, Any]):
    """A mapping that could not be read: it may have held any key."""

    def __contains__(self, key: object) -> bool:
        return True


class _EnoughError(Exception):
    """As many problems as are told were found."""


class _Reading:
    """Goes through a file's values one by one, and gathers up to `most` things that are wrong with them."""

    def __init__(self, path: Path | str, most: int) -> None:
        self.path, self.most = path, most
        self.problems: list[DataError] = []

    def say(self, problem: str, entry: str) -> None:
        """Keep a problem."""
        self.problems.append(DataError(self.path, problem, entry))
        if len(self.problems) >= self.most:
            raise _EnoughError

    def value(self, raw: Any, kind: Any, entry: str) -> Any:
        """`raw` as a `kind`, or what stands for it where it is none."""
        origin, inner = typing.get_origin(kind), typing.get_args(kind)
        if type(None) in inner:
            rest = [one for one in inner if one is not type(None)]
            return None if raw is None else self.value(raw, rest[0], entry)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and isinstance(raw, dict):
            return self._struct(raw, kind, entry)
        if origin in (tuple, list, frozenset) and isinstance(raw, list):
            return origin(self.value(item, inner[0], _item(entry, number, item)) for number, item in enumerate(raw))
        if origin is dict and isinstance(raw, dict):
            return {key: self.value(raw[key], inner[1], _below(entry, key)) for key in raw if self._is_text(key, entry)}
        try:
            return msgspec.convert(raw, kind, strict=True)
        except msgspec.ValidationError as error:
            self.say(_in_words(str(error).partition(" - at `")[0], kind), entry)
            return _instead(kind)

    def _struct(self, raw: dict[Any, Any], kind: type[msgspec.Struct], entry: str) -> Any:
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        values, meant, said = {}, set(), len(self.problems)
        for key, value in raw.items():
            if key in fields:
                values[fields[key].name] = self.value(value, fields[key].type, _below(entry, key))
            elif self._is_text(key, entry):
                meant.add(closest(key, fields))
                self.say(f"unknown key '{clipped(key)}'{nearest(key, fields)}", entry)
        for name, field in fields.items():
            if field.name not in values and field.required:
                values[field.name] = _instead(field.type)
                if name not in meant:
                    self.say(f"the key '{name}' is missing.", entry)
        try:
            return kind(**values)
        except ValueError as error:
            # What the kind itself refuses; what is wrong with a part of it was said already.
            if len(self.problems) == said:
                self.say(f"{error}.", entry)
            return UNREADABLE

    def _is_text(self, key: Any, entry: str) -> bool:
        if not isinstance(key, str):
            self.say(f"the key {clipped(str(key))} is no text; put it in quotes.", entry)
        return isinstance(key, str)


def _below(entry: str, key: str) -> str:
    return f"{entry}.{clipped(key)}" if entry else clipped(key)


def _item(entry: str, number: int, item: Any) -> str:
    """`questions[3] (T_u1)`: the id helps more than the position."""
    named = isinstance(item, dict) and isinstance(item.get("id"), str)
    return f"{entry}[{number}]" + (f" ({clipped(item['id'])})" if named else "")


def _instead(kind: Any) -> Any:
    """Something of that kind which says nothing."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _instead(inner[0])
    if origin is typing.Literal:
        return inner[0]
    if origin is dict:
        return _AnyKeys()
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind(**{f.name: _instead(f.type) for f in msgspec.structs.fields(kind) if f.required})
    return UNREADABLE if kind is str else (origin or kind)()


_KINDS = {
    "str": "text",
    "bool": "yes or no",
    "int": "a number",
    "float": "a number",
    "array": "a list",
    "object": "keys",
    "null": "nothing",
}


def _in_words(problem: str, kind: Any) -> str:
    """What the decoder says of one value, in the words of whoever writes the file."""
    choice = re.fullmatch(r"Invalid enum value '(.*)'", problem, re.DOTALL)
    if choice:
        known = {str(known) for known in typing.get_args(kind)}
        return f"'{clipped(choice[1])}' is not possible here{nearest(choice[1], known - {choice[1]})}"
    if "matching regex" in problem:
        return "may hold letters, digits, '.', '_' and '-' only."
    wrong = re.fullmatch(r"Expected `(.*)`, got `(.*)`", problem)
    if wrong:
        wanted, got = (_KINDS.get(name.partition(" ")[0], name) for name in wrong.groups())
        quoted = "; put it in quotes" if wrong[1].startswith("str") and wrong[2] in ("bool", "int", "float") else ""
        return f"wants {wanted}, and has {got}{quoted}."
    return f"{clipped(problem, 200)}."
