"""The groups and the order in which help pages show the commands."""

from __future__ import annotations

from typing import NamedTuple

from genaipa.plugins import load_entry_points_of_type

GROUPS: dict[str, dict[str, str]] = {
    "Ask": {
        "run": "Ask systems about documents, keeping answers as runs.",
        "runs": "List or remove runs.",
        "show": "Show a run, or one answer with scores.",
        "view": "Look at answers side by side.",
        "collect": "Record replies from people or web chats.",
    },
    "Score": {
        "judge": "Have models score answers as judges.",
        "score": "Score answers in the browser.",
        "scores": "List, export or import scores.",
        "sample": "Draw the random part that people score.",
    },
    "Findings": {
        "report": "Write figures, tables and a page.",
        "compare": "Compare two systems or runs, with intervals.",
        "leaderboard": "Rank all systems by overall quality.",
        "judges": "Measure how well judges agree with people.",
    },
    "Data": {
        "policies": "List, show, add and measure documents.",
        "questions": "List, show or start question sets.",
        "prompts": "List prompt sets, or show one.",
        "systems": "List systems (models) and missing requirements.",
        "get": "Fetch published data, or a study as runs.",
        "pack": "Pack runs, scores and report into an archive.",
        "unpack": "Unpack a study and rebuild its tables.",
    },
    "Workspace": {
        "init": "Create a workspace for your data and runs.",
        "validate": "Check a workspace's data files.",
        "doctor": "Check this installation and suggest fixes.",
        "demo": "Run a whole study without an API key.",
    },
}
"""Heading → its commands, each with its summary: its module in `genaipa.cli.commands` has the same name."""
OWN = tuple(name for commands in GROUPS.values() for name in commands)
"""The commands of genaipa itself."""
RARE = ("sample", "pack", "unpack", "validate", "demo")
"""Commands that only the whole page lists; `demo` is what one starts with."""


class PackageCommand(NamedTuple):
    """A command that a package brings, by an entry point of the group `genaipa.commands` with its words as name.

    `export` is a command of genaipa, `scores export` one of the command `scores`. Help pages import the module that the
    entry point names, so it imports nothing heavy.
    """

    target: str
    """`module:name` of its function, or of its `typer.Typer` of several commands; imported when it is named."""
    summary: str = ""
    """For the page of all commands, with the `heading` there and the command `after` which it is listed."""
    heading: str = ""
    after: str = ""
    rare: bool = True
    """Whether only the whole page lists it."""


ENTRY_POINTS = "genaipa.commands"


def package_commands() -> dict[str, PackageCommand]:
    """Return words → command of every package whose commands can be imported."""
    commands = load_entry_points_of_type(ENTRY_POINTS, PackageCommand)
    return {words: command for words, command in commands.items() if words not in OWN}


def command_summaries_by_heading() -> dict[str, dict[str, str]]:
    """Return heading → all commands under it, with their summaries."""
    groups = {heading: list(commands.items()) for heading, commands in GROUPS.items()}
    for words, command in package_commands().items():
        if " " not in words:
            listed = groups.setdefault(command.heading, [])
            names = [name for name, _ in listed]
            position = names.index(command.after) + 1 if command.after in names else len(names)
            listed.insert(position, (words, command.summary))
    return {heading: dict(commands) for heading, commands in groups.items()}


def command_names() -> list[str]:
    """Return the names of all commands in the order of the page that lists them."""
    return [name for commands in command_summaries_by_heading().values() for name in commands]


def commands_listed_only_in_full_help() -> set[str]:
    """Return the commands that only the whole page lists."""
    return {*RARE, *(words for words, command in package_commands().items() if command.rare)}


RENAMED: dict[str, tuple[str, ...]] = {
    "batches": ("runs", "batches"),
    "pull": ("get",),
}
"""Command's earlier name → the words that it has become; the old name works and tells the new one."""
OLD_OPTIONS: dict[str, dict[str, str]] = {
    "collect": {"--replace": "--force"},
    "add": {"--replace": "--force"},
}
"""Command → its options' earlier names, each with the present one."""


STARTS = (
    ("genaipa demo", "a whole study"),
    ("genaipa run --system gpt-6-luna --policy policy.md", "answers"),
    ("genaipa report latest", "a page"),
)
"""The commands of a first study, each with its summary."""
