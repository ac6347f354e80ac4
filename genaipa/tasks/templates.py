"""Rendering of templates that may come from somebody else's study: they get text and give text, and nothing else.

A sandbox keeps them from Python's own parts; loops, calls and the length of what comes out are limited, since a
template is rendered before anybody has read it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from genaipa.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

MOST_STEPS = 100_000
"""Rounds of loops, and calls, in one message."""
MOST_CHARACTERS = 10_000_000
"""Characters of one message."""
_LOOP, _PIECE = "rounds of a loop", "a piece of a text"
_WIDENING = ("batch", "center", "format", "indent", "pprint", "slice", "tojson", "urlize", "wordwrap", "xmlattr")
"""Filters that a number or a format makes write as much as one likes."""
_PLAIN = {
    *("capitalize", "casefold", "count", "endswith", "find", "isdigit", "lower", "lstrip", "removeprefix"),
    *("removesuffix", "rstrip", "split", "splitlines", "startswith", "strip", "title", "upper"),
}
"""Methods of a text that give no longer one."""


class _Environment(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, sources: Mapping[str, str]) -> None:
        super().__init__(
            loader=jinja2.DictLoader(sources),
            undefined=jinja2.StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.steps = 0
        self.filters |= {
            _LOOP: self._list_loop_items_or_raise,
            _PIECE: _stringify_checking_length,
            "join": self._join_checking_length,
            "replace": _replace_checking_length,
        }
        for name in _WIDENING:
            del self.filters[name]
        del self.globals["lipsum"]

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        for loop in tree.find_all(nodes.For):
            loop.iter = nodes.Filter(loop.iter, _LOOP, [], [], None, None)
        for joined in tree.find_all(nodes.Concat):
            joined.nodes = [nodes.Filter(node, _PIECE, [], [], None, None) for node in joined.nodes]
        return tree

    def _list_loop_items_or_raise(self, items: Iterable[Any]) -> list[Any]:
        rounds = list(islice(items, MOST_STEPS + 1))
        self._count_steps_or_raise_over_limit(len(rounds))
        return rounds

    def _count_steps_or_raise_over_limit(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise SecurityError(f"needs more than {MOST_STEPS:,} rounds of loops and calls")

    def _join_checking_length(self, items: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
        pieces = [
            str(item if attribute is None else self.getitem(item, attribute))
            for item in self._list_loop_items_or_raise(items)
        ]
        _raise_if_message_too_long(sum(map(len, pieces)) + len(pieces) * len(str(d)))
        return str(d).join(pieces)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Tell whether a template may use it: of texts and numbers nothing that makes a text of any length."""
        if isinstance(obj, str | int | float):
            return isinstance(obj, str) and attr in _PLAIN
        return super().is_safe_attribute(obj, attr, value)

    def wrap_str_format(self, value: Any) -> None:
        """Give no formatting of texts, whose fields may be of any width."""

    def call(self, context: Any, called: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call something, as the sandbox allows."""
        self._count_steps_or_raise_over_limit(1)
        return super().call(context, called, *args, **kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Work out a sum, or a product, power or remainder of small numbers: else there is no end."""
        if operator == "+":
            _raise_if_message_too_long(
                sum(len(operand) for operand in (left, right) if isinstance(operand, str | list | tuple))
            )
        elif not all(isinstance(operand, int | float) and abs(operand) <= MOST_STEPS for operand in (left, right)):
            raise SecurityError(f"'{operator}' works only on numbers up to {MOST_STEPS:,}")
        return super().call_binop(context, operator, left, right)


def _raise_if_message_too_long(character_count: int) -> None:
    if character_count > MOST_CHARACTERS:
        raise SecurityError(f"produces more than {MOST_CHARACTERS:,} characters")


def _stringify_checking_length(value: Any) -> str:
    """Return a value as a part of a text."""
    text = str(value)
    _raise_if_message_too_long(len(text))
    return text


def _replace_checking_length(text: Any, old: Any, new: Any, count: int = -1) -> str:
    before, removed, put = str(text), str(old), str(new)
    _raise_if_message_too_long(len(before) + before.count(removed) * len(put))
    return before.replace(removed, put, count)


@lru_cache(maxsize=16)
def _make_environment(sources: tuple[tuple[str, str], ...]) -> _Environment:
    """Return the environment of these templates, each compiled once while the process has to do with it."""
    return _Environment(dict(sources))


class Templates:
    """Templates that may include and extend each other, by name."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._environment = _make_environment(tuple(sources.items()))

    def render(self, template_name: str, paths_for_errors: Mapping[str, Path], **variables: object) -> str:
        """Render one; a DataError naming its file (of `paths_for_errors`, by name) and what is wrong in it."""
        path = paths_for_errors[template_name]
        environment = self._environment
        environment.steps = 0
        try:
            return _join_pieces_checking_length(environment.get_template(template_name).generate(**variables))
        except jinja2.UndefinedError as error:
            variable_names = ", ".join(sorted(variables))
            raise DataError(path, f"{error}; this template can use: {variable_names}.") from None
        except jinja2.TemplateSyntaxError as error:
            # The fault may be in a template that this one includes.
            faulty = paths_for_errors.get(error.name or "", path)
            raise DataError(faulty, f"{error.message}.", f"line {error.lineno}") from None
        except jinja2.TemplateError as error:
            raise DataError(path, f"{error}.") from None
        except Exception as error:  # noqa: BLE001 - a template may raise whatever Python does
            raise DataError(path, f"can't be rendered ({type(error).__name__}: {error}).") from None


def find_template_syntax_faults(path: Path, source: str) -> Iterator[DataError]:
    """Return the reason why a text is no template; none for one. Its variables are known only once it is rendered."""
    try:
        _Environment({}).parse(source)
    except jinja2.TemplateSyntaxError as error:
        yield DataError(path, f"{error.message}.", f"line {error.lineno}")


def _join_pieces_checking_length(pieces: Iterable[str]) -> str:
    parts, length = [], 0
    for piece in pieces:
        length += len(piece)
        _raise_if_message_too_long(length)
        parts.append(piece)
    return "".join(parts)
