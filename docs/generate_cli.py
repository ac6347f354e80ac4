"""Write docs/reference/cli.md and a page for each command from the help pages: `python docs/generate_cli.py`."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from unittest import mock

from genaipa.cli import root_command
from genaipa.cli.terminal.headings import command_summaries_by_heading

INDEX = Path(__file__).parent / "reference" / "cli.md"
FOLDER = INDEX.with_suffix("")
HEAD = """# Commands

Generated from `genaipa --help` by `python docs/generate_cli.py`, each command with all its options. Every option can
also be set in the environment, as `GENAIPA_` and its name: `GENAIPA_MAX_COST=5`.
"""


def help_page(*command: str) -> str:
    """Return the help of one command with all its options, at a fixed width and without styles."""
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with mock.patch.dict(os.environ, plain), contextlib.redirect_stdout(io.StringIO()) as shown:
        root_command()([*command, "--help-all"], prog_name="genaipa", standalone_mode=False)
    return re.sub(r" +$", "", shown.getvalue(), flags=re.MULTILINE).strip()


def list_subcommands(page: str) -> list[str]:
    """Return the commands that a help page lists."""
    return re.findall(r"^  ([a-z]+)\b", page.partition("\nCommands:\n")[2], flags=re.MULTILINE)


def write_section(level: int, *command: str) -> str:
    """Return the section of a command, followed by those of its commands."""
    page = help_page(*command)
    section = f"{'#' * level} genaipa {' '.join(command)}\n\n```\n{page}\n```\n"
    return "\n".join((section, *(write_section(level + 1, *command, sub) for sub in list_subcommands(page))))


def whole_pages() -> dict[Path, str]:
    """Return path → text of every page of commands as it should be."""
    groups = command_summaries_by_heading()
    tables = []
    for heading, commands in groups.items():
        rows = (f"| [{name}](cli/{name}.md) | {summary} |" for name, summary in commands.items())
        tables.append("\n".join((f"## {heading}\n", "| command | |", "|---|---|", *rows, "")))
    names = [name for commands in groups.values() for name in commands]
    options = help_page().partition("\nOptions:\n")[2].partition("\n\n")[0]
    index = "\n".join((HEAD, *tables, f"## Options before a command\n\n```\n{options}\n```\n"))
    return {INDEX: index} | {FOLDER / f"{name}.md": write_section(1, name) for name in names}


if __name__ == "__main__":
    pages = whole_pages()
    FOLDER.mkdir(exist_ok=True)
    for stale in set(FOLDER.glob("*.md")) - set(pages):
        stale.unlink()
    for path, text in pages.items():
        path.write_text(text, encoding="utf-8")
    print(f"wrote {len(pages)} pages of commands")
