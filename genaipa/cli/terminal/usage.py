"""Errors in a command line, in one sentence as all other errors are."""

from __future__ import annotations

import os
import re
from typing import Any

from genaipa.errors import closest
from genaipa.kinds import missing

_SAID = {
    r"^No such command '(.*?)'\.(?: Did you mean ('[^']*').*)?$": r"there is no command '\1'; did you mean \2?",
    r"; did you mean \?$": ".",
    r"^Option ('[^']*') requires an argument\.$": r"\1 needs a value.",
    r"^Got unexpected extra arguments? \((.*)\)$": r"too much on the command line: \1.",
    r"^Got unexpected extra argument\(s\) \((.*)\)$": r"too much on the command line: \1.",
}
"""Patterns of the parser's messages, each with its replacement."""


def sentence(error: Exception) -> str:
    """The parser's complaint in a sentence, and the help page to read."""
    context: Any = getattr(error, "ctx", None)
    told = _reworded(error, getattr(error, "param", None), context)
    return f"{told} See: {context.command_path} --help" if context is not None else told


def _reworded(error: Any, parameter: Any, context: Any) -> str:
    message = " ".join(error.format_message().split())
    if hasattr(error, "param_type") and parameter is not None:
        return f"{_named(parameter)} is missing{_meaning(parameter)}."
    if parameter is not None:
        what = " ".join(error.message.split()).rstrip(".").partition(", unable to parse")[0]
        what = what.replace("a valid integer", "a whole number").replace("a valid number", "a number")
        named = _source(parameter, context)
        if what.startswith("Input should be "):
            return f"{named} has to be {what.removeprefix('Input should be ')}."
        return f"{named}: {what}."
    if hasattr(error, "possibilities"):
        # Without the dashes, which all have: they would make anything look alike.
        near = closest(error.option_name.lstrip("-"), [one.lstrip("-") for one in error.possibilities or ()])
        near = f": did you mean '--{near}'?" if near else "."
        # It may be an option of a kind of task whose package is gone.
        gone = missing() if context is not None and context.command.name == "run" else ""
        near = f"; {gone}." if gone else near
        return f"there is no option '{error.option_name}'{near}"
    for pattern, said in _SAID.items():
        message = re.sub(pattern, said, message)
    return message[:1].lower() + message[1:]


def _named(parameter: Any) -> str:
    flags = [name for name in parameter.opts if name.startswith("--")]
    return str(flags[0] if flags else parameter.metavar or parameter.name)


def _meaning(parameter: Any) -> str:
    help_ = (parameter.help or "").rstrip(".")
    return f": {help_[:1].lower()}{help_[1:]}" if help_ else ""


def _source(parameter: Any, context: Any) -> str:
    """The parameter by the name that the user gave it: the flag, or the variable that set it."""
    variable = parameter.envvar
    source = context.get_parameter_source(parameter.name) if context is not None else None
    if isinstance(variable, str) and variable in os.environ and getattr(source, "name", "") in ("", "ENVIRONMENT"):
        return f"{variable} (in the environment, for {_named(parameter)})"
    return _named(parameter)
