"""The command of a refused system, once more for each way to ask: to be pasted as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import format_shell_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.errors import AlternativeCommand

_IN_PLACE_OF = {"--experiment": ("--experiment", "-e", "--initialization", "-i")}
"""Flag → the flags beside which it can't stand."""


def format_alternative_commands(
    command_words: Sequence[str], alternatives: Sequence[AlternativeCommand]
) -> Iterator[str]:
    """Yield a line for each way: the command of these words with its system and options, and what it does.

    A command that doesn't name the system (`--resume`) has no lines.
    """
    for way in alternatives:
        arguments = [_rename_system_in_argument(word, way.asked, way.system) for word in command_words]
        if arguments == list(command_words) and way.asked != way.system:
            continue
        if way.options:
            arguments = _set_option_in_words(arguments, *way.options)
        address = f"{way.address} " if way.address else ""
        yield f"  {address}{format_shell_command('genaipa', *arguments)}  # {way.about}"


def _rename_system_in_argument(argument: str, old_name: str, new_name: str) -> str:
    """Return a word of a command with one of its systems renamed: `gpt-4`, `a,gpt-4`, `--system=gpt-4`."""
    flag, equals, value = argument.partition("=") if argument.startswith("--") else ("", "", argument)
    return flag + equals + ",".join(new_name if name == old_name else name for name in value.split(","))


def _set_option_in_words(command_words: Sequence[str], flag: str, value: str) -> list[str]:
    """Return the words with an option, in place of what they have for it."""
    flags = _IN_PLACE_OF.get(flag, (flag,))
    arguments, skip = [], False
    for word in command_words:
        if skip or (word.partition("=")[0] in flags and "=" in word):
            skip = False
        elif word in flags:
            skip = True
        else:
            arguments.append(word)
    return [*arguments, flag, value]
