"""The command of a refused system, once more for each way to ask: to be pasted as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.errors import Way

_IN_PLACE_OF = {"--experiment": ("--experiment", "-e", "--initialization", "-i")}
"""Flag → the flags beside which it can't stand."""


def commands(words: Sequence[str], ways: Sequence[Way]) -> Iterator[str]:
    """Yield a line for each way: the command of these words with its system and options, and what it does.

    A command that doesn't name the system (`--resume`) has no lines.
    """
    for way in ways:
        changed = [_renamed(word, way.asked, way.system) for word in words]
        if changed == list(words) and way.asked != way.system:
            continue
        if way.options:
            changed = _with_option(changed, *way.options)
        address = f"{way.address} " if way.address else ""
        yield f"  {address}{command('genaipa', *changed)}  # {way.about}"


def _renamed(word: str, asked: str, system: str) -> str:
    """A word of a command with one of its systems renamed: `gpt-4`, `a,gpt-4`, `--system=gpt-4`."""
    flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return flag + equals + ",".join(system if one == asked else one for one in value.split(","))


def _with_option(words: Sequence[str], flag: str, value: str) -> list[str]:
    """The words with an option, in place of what they have for it."""
    others = _IN_PLACE_OF.get(flag, (flag,))
    kept, skip = [], False
    for word in words:
        if skip or (word.partition("=")[0] in others and "=" in word):
            skip = False
        elif word in others:
            skip = True
        else:
            kept.append(word)
    return [*kept, flag, value]
