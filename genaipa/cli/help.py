"""Help pages: commands in groups, options under headings, summaries whole, placeholders in capitals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args, get_origin

from typer.core import TyperCommand, TyperGroup

from genaipa.cli.headings import GROUPS, OPTIONS, STARTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_WHOLE = 1000
"""Characters up to which a summary is never cut: more than any has."""
_BESIDE = 40
"""Columns that a sentence wants at least beside a command."""
_PLACEHOLDERS = {int: "N", float: "NUMBER"}


class Command(TyperCommand):
    """A command with its help page."""

    def __init__(self, *args: Any, **details: Any) -> None:
        super().__init__(*args, **details)
        _name_values(self.params)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The options, then each argument: `RUN`, `[ANSWER]`, `[RUN]...`."""
        return [self.options_metavar or "", *_arguments(self.get_params(ctx))]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what each argument and option does."""
        _write_parameters(ctx, formatter, self.get_params(ctx), OPTIONS.get(self.name or "", {}))


class Group(TyperGroup):
    """A command with commands of its own."""

    def __init__(self, **details: Any) -> None:
        super().__init__(**details)
        _name_values(self.params)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write what each option does, and the commands."""
        _write_parameters(ctx, formatter, self.get_params(ctx), {})
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands under one heading."""
        self._write_commands(ctx, formatter, {"Commands": self.list_commands(ctx)})

    def _write_commands(self, ctx: Any, formatter: Any, groups: Mapping[str, Sequence[str]]) -> None:
        listed = {name: self.get_command(ctx, name) for names in groups.values() for name in names}
        broad = max(map(len, listed), default=0)
        for heading, names in groups.items():
            found = [(name, listed[name]) for name in names]
            with formatter.section(heading):
                # All descriptions begin in the same column.
                rows = [(f"{name:{broad}}", one.get_short_help_str(_WHOLE)) for name, one in found if one is not None]
                formatter.write_dl(rows)


class Listing(Group):
    """A group whose default command is `list`: other words and options go to that."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leave the options to the command that they are for."""
        ctx.ignore_unknown_options = True
        helps = not args or args[0] not in ctx.help_option_names
        result: list[str] = super().parse_args(ctx, args or ["list"] if helps else args)
        return result

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is named, else `list` with all arguments."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["list", *args])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Usage without the words for commands, of which `list` takes none."""
        pieces: list[str] = self.commands["list"].collect_usage_pieces(ctx)
        return pieces

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of `list`, and the commands."""
        self.commands["list"].format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


class Root(Group):
    """`genaipa` itself."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, and only then the options."""
        self.format_commands(ctx, formatter)
        _write_parameters(ctx, formatter, self.get_params(ctx), {})

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in their groups."""
        self._write_commands(ctx, formatter, dict(GROUPS))

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write how to begin, and where to read more."""
        del ctx
        with formatter.section("To get started"):
            broad = max(len(command) for command, _ in STARTS)
            # What a command does is beside it or, where that is too narrow, beneath it.
            formatter.write_dl(STARTS, col_max=broad if formatter.width > broad + _BESIDE else 4)
        formatter.write_paragraph()
        formatter.write_text(
            "More on a command: genaipa COMMAND --help. In the folder that genaipa was installed from, README.md leads "
            "through a study, docs/ has all the rest, and docs/reference/glossary.md the words."
        )


def _name_values(parameters: Iterable[Any]) -> None:
    """Give a placeholder to each parameter that takes a value and has none: its kind or its name in capitals."""
    for parameter in parameters:
        if parameter.metavar is None and not getattr(parameter, "is_flag", False):
            kind = parameter.type_descriptor.annotation
            if get_origin(kind) is list:
                (kind,) = get_args(kind)
            parameter.metavar = _PLACEHOLDERS.get(kind, parameter.name.rstrip("_").upper().replace("_", "-"))


def _arguments(parameters: Iterable[Any]) -> list[str]:
    return [_argument(one) for one in parameters if one.param_type_name == "argument" and not one.hidden]


def _argument(parameter: Any) -> str:
    name = parameter.metavar if parameter.required else f"[{parameter.metavar}]"
    return name if parameter.nargs == 1 else f"{name}..."


def _write_parameters(
    ctx: Any, formatter: Any, parameters: Sequence[Any], headings: Mapping[str, Sequence[str]]
) -> None:
    arguments: list[tuple[str, str]] = []
    options: dict[str, list[tuple[str, str]]] = {heading: [] for heading in headings or ("Options",)}
    for parameter in parameters:
        record = parameter.get_help_record(ctx)
        if record is None:
            continue
        if parameter.param_type_name == "argument":
            arguments.append((parameter.metavar, record[1]))
        else:
            under = (heading for heading, flags in headings.items() if set(flags) & set(parameter.opts))
            options[next(under, list(options)[-1])].append(record)
    for heading, rows in {"Arguments": arguments, **options}.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)
