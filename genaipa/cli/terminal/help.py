"""Help pages: commands in groups, options in panels, summaries whole, placeholders in capitals.

An option that is declared with a panel is under that heading on the page of all options, `--help-all`; `--help` shows
the options without one. Typer's own pages of panels import for longer than the whole of `--help` takes,
and cut names and placeholders off on a narrow terminal.

Errors in a command line are said in one sentence, as all other errors are.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

from genaipa.cli.terminal.headings import (
    OLD_OPTIONS,
    RENAMED,
    STARTS,
    command_summaries_by_heading,
    commands_listed_only_in_full_help,
)
from genaipa.errors import closest_name_or_empty
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WHOLE = 1000
"""Characters up to which a summary is never cut: more than any has."""
_BESIDE = 40
"""Columns that a sentence wants at least beside a command."""
_PLACEHOLDERS = {int: "N", float: "NUMBER"}
_WHOLE_PAGE = "--help-all"
_ALL = "genaipa.cli.terminal.help.all"
"""Entry of a context's `meta`: the page is to show what is seldom wanted, too."""


class Command(TyperCommand):
    """A command with its help page."""

    def __init__(self, *args: Any, **details: Any) -> None:
        super().__init__(*args, **details)
        _set_value_placeholders(self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take options by their old names and plurals, too, and the page of all options."""
        names = self._option_aliases()
        before = args.index("--") if "--" in args else len(args)
        renamed = [_replace_option_alias(word, names) for word in args[:before]] + args[before:]
        result: list[str] = super().parse_args(ctx, _replace_help_all_and_remember_it(ctx, renamed))
        return result

    def _option_aliases(self) -> dict[str, str]:
        """Return other name of an option → its name: the plural where it takes several, and the names that it had."""
        listed = [parameter for parameter in self.params if parameter.param_type_name == "option"]
        names = {name for parameter in listed for name in parameter.opts}
        plurals = {}
        for parameter in (candidate for candidate in listed if candidate.multiple):
            flag = next(name for name in parameter.opts if name.startswith("--"))
            plurals[f"{flag[:-1]}ies" if flag.endswith("y") else f"{flag}s"] = flag
        return {
            old: new for old, new in {**plurals, **OLD_OPTIONS.get(self.name or "", {})}.items() if old not in names
        }

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the options, then each argument: `RUN`, `[ANSWER]`, `[RUN]...`."""
        return [self.options_metavar or "", *_list_argument_placeholders(self.get_params(ctx))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what each argument and option does."""
        _write_parameter_help(ctx, formatter, self.get_params(ctx))


class Group(TyperGroup):
    """A command with commands of its own."""

    def __init__(self, **details: Any) -> None:
        super().__init__(**details)
        _set_value_placeholders(self.params)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the page of all commands and options, too."""
        result: list[str] = super().parse_args(ctx, _replace_help_all_and_remember_it(ctx, args))
        return result

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what each option does, and the commands."""
        _write_parameter_help(ctx, formatter, self.get_params(ctx))
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under one heading."""
        del ctx
        listed = {name: command.get_short_help_str(_WHOLE) for name, command in self.commands.items()}
        _write_commands(formatter, {"Commands": listed})


class DefaultListGroup(Group):
    """A group whose default command is `list`: other words and options go to that."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leave the options to the command that they are for."""
        args = _replace_help_all_and_remember_it(ctx, args)
        ctx.ignore_unknown_options = True
        helps = not args or args[0] not in ctx.help_option_names
        result: list[str] = super().parse_args(ctx, args or ["list"] if helps else args)
        return result

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that is named, else `list` with all arguments."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["list", *args])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the usage without the words for commands, since `list` takes none."""
        pieces: list[str] = self.commands["list"].collect_usage_pieces(ctx)
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of `list`, and the commands."""
        self.commands["list"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


class RootGroup(Group):
    """`genaipa` itself: its commands in groups, also by their old names."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the named command; an old name works, too, and the new one is reported."""
        if new := RENAMED.get(args[0]):
            if not ctx.resilient_parsing:
                from genaipa.cli.terminal.console import print_to_stderr

                print_to_stderr(f"genaipa {args[0]} is now: genaipa {' '.join(new)}")
            # Options of the new name come last: what it takes may be before them.
            args = [*(word for word in new if not word.startswith("-")), *args[1:]] + [
                w for w in new if w.startswith("-")
            ]
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, and on the whole page the options."""
        self.format_commands(ctx, formatter)
        if ctx.meta.get(_ALL):
            _write_parameter_help(ctx, formatter, self.get_params(ctx))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in their groups; the rarer ones on the whole page alone."""
        rare = () if ctx.meta.get(_ALL) else commands_listed_only_in_full_help()
        groups = {
            heading: {name: summary for name, summary in listed.items() if name not in rare}
            for heading, listed in command_summaries_by_heading().items()
        }
        _write_commands(formatter, groups)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write how to begin, and where to read more."""
        del ctx
        with formatter.section("To get started"):
            broad = max(len(command) for command, _ in STARTS)
            # What a command does is beside it or, where that is too narrow, beneath it.
            formatter.write_dl(STARTS, col_max=broad if formatter.width > broad + _BESIDE else 4)
        formatter.write_paragraph()
        formatter.write_text("More: genaipa COMMAND --help, genaipa --help-all, docs/reference/glossary.md.")


def _write_commands(formatter: Any, summaries_by_heading: Mapping[str, Mapping[str, str]]) -> None:
    """Write commands with their summaries under headings; all summaries begin in the same column."""
    broad = max((len(name) for listed in summaries_by_heading.values() for name in listed), default=0)
    for heading, listed in summaries_by_heading.items():
        with formatter.section(heading):
            formatter.write_dl([(f"{name:{broad}}", summary) for name, summary in listed.items()])


def _replace_help_all_and_remember_it(ctx: Any, args: list[str]) -> list[str]:
    """Return the arguments, with `--help` for `--help-all` where that comes before any command's name."""
    for index, word in enumerate(args):
        if word == "--" or (isinstance(ctx.command, TyperGroup) and not word.startswith("-")):
            break
        if word == _WHOLE_PAGE:
            ctx.meta[_ALL] = True
            return [*args[:index], "--help", *args[index + 1 :]]
    return args


def _replace_option_alias(argument: str, aliases: Mapping[str, str]) -> str:
    flag, equals, value = argument.partition("=")
    return f"{aliases.get(flag, flag)}{equals}{value}" if flag.startswith("--") else argument


def _set_value_placeholders(parameters: Iterable[Any]) -> None:
    """Give a placeholder to each parameter that takes a value and has none: its kind or its name in capitals."""
    for parameter in parameters:
        if parameter.metavar is None and not getattr(parameter, "is_flag", False):
            kind = parameter.type_descriptor.annotation
            if get_origin(kind) is list:
                (kind,) = get_args(kind)
            name = next((flag[2:] for flag in parameter.opts if flag.startswith("--")), parameter.name.rstrip("_"))
            parameter.metavar = _PLACEHOLDERS.get(kind, name.upper().replace("_", "-"))


def _list_argument_placeholders(parameters: Iterable[Any]) -> list[str]:
    return [
        _format_argument_placeholder(parameter)
        for parameter in parameters
        if parameter.param_type_name == "argument" and not parameter.hidden
    ]


def _format_argument_placeholder(parameter: Any) -> str:
    name = parameter.metavar if parameter.required else f"[{parameter.metavar}]"
    return name if parameter.nargs == 1 else f"{name}..."


def _remove_huge_bounds(help_text: str) -> str:
    """Return an option's help without bounds of eight digits and more, which nobody comes near."""
    help_text = re.sub(r"(-?\d+)<=x<=\d{8,}", r"x>=\1", help_text)
    return re.sub(r"; x>=-\d{8,}|\s*\[x>=-\d{8,}\]", "", help_text)


def _write_parameter_help(ctx: Any, formatter: Any, parameters: Iterable[Any]) -> None:
    """Write arguments and options; those of a panel on the page of all options alone."""
    panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
    hidden = 0
    for parameter in parameters:
        record = parameter.get_help_record(ctx)
        panel = getattr(parameter, "rich_help_panel", None)
        if record is None:
            continue
        if panel and not ctx.meta.get(_ALL):
            hidden += 1
        elif parameter.param_type_name == "argument":
            panels["Arguments"].append((parameter.metavar, record[1]))
        else:
            panels.setdefault(panel or "Options", []).append((record[0], _remove_huge_bounds(record[1])))
    for heading, rows in panels.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)
    if hidden:
        formatter.write_paragraph()
        formatter.write_text(f"{format_count(hidden, 'more option')}: {ctx.command_path} {_WHOLE_PAGE}")


_REPLACEMENTS = {
    r"^No such command '(.*?)'\.(?: Did you mean ('[^']*').*)?$": r"there is no command '\1'; did you mean \2?",
    r"; did you mean \?$": ".",
    r"^Option ('[^']*') requires an argument\.$": r"\1 needs a value.",
    r"^Got unexpected extra argument(?:\(s\))? \((\S*)\)$": r"'\1' is an unexpected argument.",
    r"^Got unexpected extra arguments?(?:\(s\))? \((.*)\)$": r"unexpected arguments: \1.",
}
"""Patterns of the parser's messages, each with its replacement."""


def describe_parser_error(error: Exception) -> str:
    """Describe the parser's error in a sentence, and name the help page to read."""
    context: Any = getattr(error, "ctx", None)
    problem = _reword_parser_message(error, getattr(error, "param", None), context)
    return f"{problem} See: {context.command_path} --help" if context is not None else problem


def _reword_parser_message(error: Any, parameter: Any, context: Any) -> str:
    message = " ".join(error.format_message().split())
    if hasattr(error, "param_type") and parameter is not None:
        return f"{_parameter_flag_or_placeholder(parameter)} is missing{_parameter_help_after_colon(parameter)}."
    if parameter is not None:
        problem = " ".join(error.message.split()).rstrip(".").partition(", unable to parse")[0]
        problem = problem.replace("a valid integer", "a whole number").replace("a valid number", "a number")
        named = _parameter_flag_or_variable(parameter, context)
        if problem.startswith("Input should be "):
            return f"{named} must be {problem.removeprefix('Input should be ')}."
        return f"{named}: {problem}."
    if hasattr(error, "possibilities"):
        # Without the dashes, which all have: they would make anything look alike.
        near = closest_name_or_empty(
            error.option_name.lstrip("-"), [flag.lstrip("-") for flag in error.possibilities or ()]
        )
        near = f": did you mean '--{near}'?" if near else "."
        from genaipa.kinds import describe_missing_kinds_or_empty

        # It may be an option of a kind of task whose package is gone.
        gone = describe_missing_kinds_or_empty() if context is not None and context.command.name == "run" else ""
        near = f"; {gone}." if gone else near
        return f"there is no option '{error.option_name}'{near}"
    for pattern, replacement in _REPLACEMENTS.items():
        message = re.sub(pattern, replacement, message)
    return message[:1].lower() + message[1:]


def _parameter_flag_or_placeholder(parameter: Any) -> str:
    flags = [name for name in parameter.opts if name.startswith("--")]
    return str(flags[0] if flags else parameter.metavar or parameter.name)


def _parameter_help_after_colon(parameter: Any) -> str:
    help_ = (parameter.help or "").rstrip(".")
    return f": {help_[:1].lower()}{help_[1:]}" if help_ else ""


def _parameter_flag_or_variable(parameter: Any, context: Any) -> str:
    """Return the parameter by the name that the user gave it: the flag, or the variable that set it."""
    variable = parameter.envvar
    source = context.get_parameter_source(parameter.name) if context is not None else None
    if isinstance(variable, str) and variable in os.environ and getattr(source, "name", "") in ("", "ENVIRONMENT"):
        return f"{variable} (in the environment, for {_parameter_flag_or_placeholder(parameter)})"
    return _parameter_flag_or_placeholder(parameter)
