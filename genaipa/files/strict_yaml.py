"""Read the YAML files that people write, strictly.

A typo names the file, the entry, the key and the nearest right one.
"""

from __future__ import annotations

import functools
import itertools
import operator
import pickle
import re
import types
import typing
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import yaml

from genaipa.errors import DataError, clip, closest_name_or_empty, name_suggestion
from genaipa.files.limits import YAML, limit_reading
from genaipa.files.text import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

T = TypeVar("T")

_KEPT = 2**17
"""Characters below which what a file says is kept for its next reader."""

# libyaml's parser where PyYAML was built with it: ten times as fast, same rules.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _StrictLoader(_Loader):  # type: ignore[misc]  # the base is chosen at run time
    """Safe YAML loader that refuses a repeated key and keeps a bare date as text."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Construct a node's value; a YAMLError with its line where the text does not fit its tag (`!!float abc`)."""
        try:
            return super().construct_object(node, deep=deep)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            wanted = node.tag.rpartition(":")[2]
            problem = (
                f"'{clip(str(node.value))}' is not a valid {wanted}"
                if isinstance(node, yaml.ScalarNode)
                else "is unusable"
            )
            raise _yaml_error(problem, node) from None


def _yaml_error(problem: str, node_or_event: Any) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(problem=problem, problem_mark=node_or_event.start_mark)


def _construct_mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _yaml_error("a list or a mapping can't be a key", key_node)
        key = loader.construct_object(key_node, deep=True)
        if key in mapping:
            raise _yaml_error(f"the key '{clip(str(key))}' is given twice", key_node)
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _construct_mapping)
_StrictLoader.add_constructor("tag:yaml.org,2002:timestamp", lambda _loader, node: node.value)


def _check_yaml_size_and_nesting(text: str) -> None:
    """Raise a YAMLError for nesting, self-reference or size that no person writes and that would exhaust the parser."""
    sizes, open_anchors = [0], []
    anchors: dict[str | None, int] = {}
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in open_anchors:
                raise _yaml_error("refers to itself", event)
            sizes[-1] += anchors.get(event.anchor, 0)
        elif isinstance(event, yaml.CollectionStartEvent):
            sizes.append(1)
            open_anchors.append(event.anchor)
            if len(sizes) > YAML.depth:
                raise _yaml_error("is nested too deeply", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            size = sizes.pop()
            sizes[-1] += size
            anchors[open_anchors.pop()] = size
        elif isinstance(event, yaml.ScalarEvent):
            sizes[-1] += 1
            anchors[event.anchor] = 1
        if sizes[-1] > YAML.elements:  # aliases expanded
            raise _yaml_error("holds too many values", event)


def format_yaml(record: msgspec.Struct) -> str:
    """Format a record as YAML, its keys in the order of its fields."""
    return yaml.safe_dump(msgspec.to_builtins(record), sort_keys=False, allow_unicode=True, width=120)


def parse_yaml_or_keep_bytes(content: bytes) -> Any:
    """Return what YAML that genaipa wrote holds, to be compared; the content itself where it can't be read."""
    try:
        return yaml.load(content, _Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, UnicodeDecodeError, ValueError):
        return content


def read_yaml(path: Path, target_type: type[T]) -> T:
    """Read a file as a `target_type` (a msgspec Struct that forbids unknown fields).

    A DataError that says what to fix.
    """
    return convert_to_type(_load_yaml_file(path), target_type, path)


def read_valid_yaml_part_and_errors(
    path: Path, target_type: type[T], find_further_errors: Callable[[T], Iterable[DataError]]
) -> tuple[T | None, list[DataError]]:
    """Read as much of a file as is valid, and list everything that is wrong with it; None if it is not YAML.

    Invalid values are replaced: a text by UNREADABLE, others by an empty value. `find_further_errors` yield further
    errors. At most `MOST_PROBLEMS` are reported.
    """
    try:
        raw = _load_yaml_file(path)
    except DataError as error:
        return None, [error]
    reading = _Conversion(path, MOST_PROBLEMS)
    try:
        value: T = msgspec.convert(raw, target_type, strict=True)
    except msgspec.ValidationError:
        try:
            value = reading.convert_value(raw, target_type, "")
        except DataError:
            return None, reading.problems
    rule_errors = (error for error in find_further_errors(value) if UNREADABLE not in str(error))
    return value, sorted([*reading.problems, *itertools.islice(rule_errors, MOST_PROBLEMS)], key=_entry_sort_key)


def _entry_sort_key(error: DataError) -> list[tuple[int, str]]:
    """Sort key by entry, the tenth after the ninth."""
    return [(int(digits or 0), word) for word, digits in re.findall(r"([^\d]+)(\d{0,9})", error.entry)]


def _load_yaml_file(path: Path) -> Any:
    text = read_text(path, YAML)
    with limit_reading(YAML, path):
        try:
            # What reads may change what it gets.
            raw = pickle.loads(_parse_yaml_to_pickle(text)) if len(text) < _KEPT else _parse_yaml(text)  # noqa: S301 - our own
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            where = f"line {mark.line + 1}" if mark else ""
            problem = " ".join(str(getattr(error, "problem", None) or error).split())
            if problem.startswith("mapping values are not allowed"):
                problem = "a text that contains ': ' must be in quotes"
            raise DataError(path, f"{clip(problem.rstrip('.'), 200)}.", where) from None
    if raw is None:
        raise DataError(path, "is empty.")
    return raw


@functools.lru_cache(maxsize=64)
def _parse_yaml_to_pickle(text: str) -> bytes:
    """Parse a text; each of the runs and documents of a report brings the same sets of questions and prompts again."""
    return pickle.dumps(_parse_yaml(text))


def _parse_yaml(text: str) -> Any:
    _check_yaml_size_and_nesting(text)
    return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - derived from the safe loader


def convert_to_type(raw: Any, target_type: type[T], path_for_errors: Path | str) -> T:
    """Convert `raw` (lists, dicts, strings, numbers) to a `target_type`; a DataError names `path_for_errors`."""
    try:
        return msgspec.convert(raw, target_type, strict=True)
    except msgspec.ValidationError:
        value: T = _Conversion(path_for_errors, 1).convert_value(raw, target_type, "")
        return value


UNREADABLE = "\ufffc"
"""Placeholder for an invalid text, so that errors that follow from it can be left out."""
MOST_PROBLEMS = 1000
"""Problems of one file that are reported."""


class _AnyKeys(dict[Any, Any]):
    """Placeholder for an invalid mapping: it may have held any key."""

    def __contains__(self, key: object) -> bool:
        return True


class _Conversion:
    """Converts values one by one, and collects problems; the last of `most` is raised."""

    def __init__(self, path: Path | str, most_problems: int) -> None:
        self.path, self.most = path, most_problems
        self.problems: list[DataError] = []

    def record_problem_raise_at_limit(self, problem: str, entry_path: str) -> None:
        """Record a problem, or raise it."""
        self.problems.append(DataError(self.path, problem, entry_path))
        if len(self.problems) == self.most:
            raise self.problems[-1] from None

    def convert_value(self, raw: Any, target_type: Any, entry_path: str) -> Any:
        """Convert `raw` to a `target_type`, or to a placeholder if it is invalid."""
        origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
        if type(None) in inner:
            kinds = [option for option in inner if option is not type(None)]
            return None if raw is None else self.convert_value(raw, functools.reduce(operator.or_, kinds), entry_path)
        if isinstance(target_type, type) and issubclass(target_type, msgspec.Struct) and isinstance(raw, dict):
            return self._convert_struct(raw, target_type, entry_path)
        if origin in (tuple, list, frozenset) and isinstance(raw, list):
            return origin(
                self.convert_value(item, inner[0], _item_entry_path(entry_path, number, item))
                for number, item in enumerate(raw)
            )
        if origin is typing.Literal and isinstance(raw, bool) and {"yes", "no"} <= {*inner}:
            # YAML reads a bare yes or no as true or false.
            raw = "yes" if raw else "no"
        if origin is dict and isinstance(raw, dict):
            return {
                key: self.convert_value(raw[key], inner[1], _join_entry_path(entry_path, key))
                for key in raw
                if self._is_text_key_or_record_problem(key, entry_path)
            }
        try:
            return msgspec.convert(raw, target_type, strict=True)
        except msgspec.ValidationError as error:
            self.record_problem_raise_at_limit(_explain_type_mismatch(raw, target_type, error), entry_path)
            return _make_empty_value_of_type(target_type)

    def _convert_struct(self, raw: dict[Any, Any], struct_type: type[msgspec.Struct], entry_path: str) -> Any:
        fields = _struct_fields_by_key(struct_type)
        values, intended_keys, problems_before = {}, set(), len(self.problems)
        for key, value in raw.items():
            if key in fields:
                values[fields[key].name] = self.convert_value(
                    value, fields[key].type, _join_entry_path(entry_path, key)
                )
            elif self._is_text_key_or_record_problem(key, entry_path):
                intended_keys.add(closest_name_or_empty(key, fields))
                self.record_problem_raise_at_limit(
                    f"unknown key '{clip(key)}'{name_suggestion(key, fields)}", entry_path
                )
        for name, field in fields.items():
            if field.name not in values and field.required:
                values[field.name] = _make_empty_value_of_type(field.type)
                if name not in intended_keys:
                    self.record_problem_raise_at_limit(f"the key '{name}' is missing.", entry_path)
        try:
            return struct_type(**values)
        except ValueError as error:
            # Raised by the kind's own checks; problems of its parts are recorded already.
            if len(self.problems) == problems_before:
                self.record_problem_raise_at_limit(f"{error}.", entry_path)
            return UNREADABLE

    def _is_text_key_or_record_problem(self, key: Any, entry_path: str) -> bool:
        if not isinstance(key, str):
            self.record_problem_raise_at_limit(f"the key {clip(str(key))} is not text; put it in quotes.", entry_path)
        return isinstance(key, str)


@functools.cache
def _struct_fields_by_key(struct_type: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    """Key → field; to find out the types of a kind's fields takes longer than to read one of it."""
    return {field.encode_name: field for field in msgspec.structs.fields(struct_type)}


def _join_entry_path(entry_path: str, key: str) -> str:
    return f"{entry_path}.{clip(key)}" if entry_path else clip(key)


def _item_entry_path(entry_path: str, index: int, item: Any) -> str:
    """`questions[3] (T_u1)`: the id helps more than the position."""
    named = isinstance(item, dict) and isinstance(item.get("id"), str)
    return f"{entry_path}[{index}]" + (f" ({clip(item['id'])})" if named else "")


_UNIONS = (types.UnionType, typing.Union)


def _make_empty_value_of_type(target_type: Any) -> Any:
    """Make an empty value of that kind, as a placeholder."""
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is typing.Annotated:
        return _make_empty_value_of_type(inner[0])
    if origin in _UNIONS:
        return None if type(None) in inner else _make_empty_value_of_type(inner[0])
    if origin is typing.Literal:
        return inner[0]
    if origin is dict:
        return _AnyKeys()
    if isinstance(target_type, type) and issubclass(target_type, msgspec.Struct):
        return target_type(
            **{f.name: _make_empty_value_of_type(f.type) for f in msgspec.structs.fields(target_type) if f.required}
        )
    return UNREADABLE if target_type is str else (origin or target_type)()


_NAMES: dict[Any, str] = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}
_NAMES |= dict.fromkeys((list, tuple, frozenset), "a list") | {dict: "a mapping", type(None): "nothing"}


def _list_plain_types(target_type: Any) -> list[Any]:
    """Return the plain kinds that a value may be of, without nothing."""
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if origin in _UNIONS:
        return [plain for option in inner if option is not type(None) for plain in _list_plain_types(option)]
    if origin is typing.Annotated:
        return _list_plain_types(inner[0])
    return [
        dict if isinstance(target_type, type) and issubclass(target_type, msgspec.Struct) else origin or target_type
    ]


def _explain_type_mismatch(raw: Any, target_type: Any, error: msgspec.ValidationError) -> str:
    """Why one value is not of its kind, in the words of whoever writes the file."""
    origin, inner = typing.get_origin(target_type), typing.get_args(target_type)
    if origin is typing.Annotated:
        if isinstance(raw, str) and inner[1].pattern:
            return "may contain only letters, digits, '.', '_' and '-'."
        return _explain_type_mismatch(raw, inner[0], error)
    if origin is typing.Literal:
        if type(raw) not in map(type, inner):
            return _explain_type_mismatch(raw, type(inner[0]), error)
        return f"'{clip(str(raw))}' is not a valid value{name_suggestion(str(raw), {*map(str, inner)} - {str(raw)})}"
    kinds = _list_plain_types(target_type)
    # Of several kinds the one that the value is of, with its own bounds.
    target_type = next((plain for plain in kinds if type(raw) is plain), kinds[0])
    expected = " or ".join(filter(None, map(_NAMES.get, kinds)))
    got = "a number" if type(raw) in (int, float) else _NAMES.get(type(raw), "")
    if not expected or not got or type(raw) is target_type or (target_type is float and type(raw) is int):
        return f"{clip(str(error).partition(' - at `')[0], 200)}."
    quoted = "; put it in quotes" if target_type is str and isinstance(raw, (bool, int, float)) else ""
    return f"expected {expected}, got {got}{quoted}."
