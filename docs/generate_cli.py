"""Write docs/reference/cli.md from the command line's own help pages: `python docs/generate_cli.py`."""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from unittest import mock

from genaipa.cli import command as command_line
from genaipa.cli.terminal.headings import command_names

PAGE = Path(__file__).parent / "reference" / "cli.md"
HEAD = """# Commands

Generated from `genaipa --help` by `python docs/generate_cli.py`. Every flag can also be set in the environment, as
`GENAIPA_` and its name: `GENAIPA_MAX_COST=5`.
"""


def help_page(*command: str) -> str:
    """The help of one command with all its options, at a fixed width and without styles."""
    plain = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    with mock.patch.dict(os.environ, plain), contextlib.redirect_stdout(io.StringIO()) as shown:
        command_line()([*command, "--help-all"], prog_name="genaipa", standalone_mode=False)
    return re.sub(r" +$", "", shown.getvalue(), flags=re.MULTILINE).strip()


def commands(page: str) -> list[str]:
    """The commands that a help page lists."""
    listed = page.partition("\nCommands:\n")[2]
    return re.findall(r"^  ([a-z]+)\b", listed, flags=re.MULTILINE)


def below(name: str, page: str) -> list[str]:
    """The pages of the commands that a command has."""
    pages = []
    for sub in commands(page):
        own = help_page(*name.split(), sub)
        pages += [f"### genaipa {name} {sub}\n\n```\n{own}\n```\n", *below(f"{name} {sub}", own)]
    return pages


def whole_page() -> str:
    """docs/reference/cli.md as it should be."""
    pages = [HEAD, f"## genaipa\n\n```\n{help_page()}\n```\n"]
    for name in command_names():
        page = help_page(name)
        pages.append(f"## genaipa {name}\n\n```\n{page}\n```\n")
        pages += below(name, page)
    return "\n".join(pages)


if __name__ == "__main__":
    PAGE.write_text(whole_page(), encoding="utf-8")
    print(f"wrote {PAGE}")
