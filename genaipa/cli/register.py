"""The commands, each made when it is named, so that a command imports none of the others."""

from __future__ import annotations

import functools
import inspect
from importlib import import_module
from typing import Any

import typer
from typer.main import get_group

from genaipa.cli.terminal.console import NOTHING, closing
from genaipa.cli.terminal.headings import COMMANDS
from genaipa.cli.terminal.help import Command, Group, Listing, Root
from genaipa.cli.terminal.options import ExplainOption, QuietOption, WorkspaceOption

_WITHIN = {"runs": ("batches",), "scores": ("objections",)}
"""Command → its own commands that have commands."""
_NOWHERE = ("init", "unpack")
"""Commands that work outside of any workspace."""


class Commands(Root):
    """`genaipa` itself, whose commands are made when they are named."""

    def __init__(self, **details: Any) -> None:
        super().__init__(**details)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        if cmd_name in COMMANDS and self.commands[cmd_name] is None:
            self.commands[cmd_name] = made(cmd_name)
        return super().get_command(ctx, cmd_name)


def made(name: str) -> Any:
    """A command of the command line, made once, with the options that every command has."""
    parent = typer.Typer(rich_markup_mode=None)
    _add(parent, name)
    return get_group(parent).commands[name]


def _add(parent: typer.Typer, name: str) -> None:
    """Add a command from the module of its name: its function of that name, or its `app` of several commands."""
    module = import_module(f"genaipa.cli.commands.{name}")
    app = getattr(module, "app", None)
    if app is None:
        parent.command(name, cls=Command)(_everywhere(getattr(module, name)))
        return
    for one in app.registered_commands:
        one.cls, one.callback = Command, _everywhere(one.callback)
    if app.registered_callback is not None:
        app.registered_callback.callback = _everywhere(app.registered_callback.callback)
    for below in _WITHIN.get(name, ()):
        _add(app, below)
    parent.add_typer(app, name=name, cls=Listing if app.registered_callback is None else Group)


def _everywhere(command: Any) -> Any:
    """The command with --workspace, which `current_workspace` goes by, and with --explain and --quiet."""
    signature = inspect.signature(command, eval_str=True)
    own, general = list(signature.parameters.values()), _general(command)
    added: dict[str, Any] = {"explain": ExplainOption, "quiet": QuietOption}
    if command.__name__ not in _NOWHERE and "workspace" not in signature.parameters:
        added = {"workspace": WorkspaceOption, **added}
    kind = inspect.Parameter.KEYWORD_ONLY
    defaults = {"workspace": None, "explain": False, "quiet": False}
    parameters = [
        *own,
        *(inspect.Parameter(name, kind, default=defaults[name], annotation=of) for name, of in added.items()),
    ]

    @functools.wraps(command)
    def everywhere(**given: Any) -> None:
        explains, quiet = given.pop("explain"), given.pop("quiet")
        if "workspace" in added:
            given.pop("workspace")  # noted by its callback
        with closing(general, explains=explains, quiet=quiet, json=bool(given.get("json"))):
            command(**given)

    everywhere.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    everywhere.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return everywhere


def _general(command: Any) -> str:
    """The help page's text after its first sentence: it explains a command that has no explanation of its own."""
    paragraphs = (inspect.getdoc(command) or "").split("\n\n")[1:]
    return "\n".join(" ".join(one.split()) for one in paragraphs) or NOTHING
