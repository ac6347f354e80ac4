"""Write docs/cli.md from the command line's own help pages: `python docs/generate_cli.py`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from genaipa.cli.headings import COMMANDS

PAGE = Path(__file__).with_name("cli.md")
HEAD = """# Commands

Generated from `genaipa --help` by `python docs/generate_cli.py`. Every flag can also be set in the environment, as
`GENAIPA_` and its name: `GENAIPA_MAX_COST=5`.
"""


def help_page(*command: str) -> str:
    """The help of one command, at a fixed width and without styles."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
    line = [sys.executable, "-m", "genaipa", *command, "--help"]
    shown = subprocess.run(line, capture_output=True, text=True, check=True, env=environment).stdout  # noqa: S603
    return re.sub(r" +$", "", shown, flags=re.MULTILINE).strip().replace("python -m genaipa", "genaipa")


def commands(page: str) -> list[str]:
    """The commands that a help page lists."""
    listed = page.partition("\nCommands:\n")[2]
    return re.findall(r"^  ([a-z]+)\b", listed, flags=re.MULTILINE)


def whole_page() -> str:
    """docs/cli.md as it should be."""
    pages = [HEAD, f"## genaipa\n\n```\n{help_page()}\n```\n"]
    for name in COMMANDS:
        page = help_page(name)
        pages.append(f"## genaipa {name}\n\n```\n{page}\n```\n")
        pages += [f"### genaipa {name} {sub}\n\n```\n{help_page(name, sub)}\n```\n" for sub in commands(page)]
    return "\n".join(pages)


if __name__ == "__main__":
    PAGE.write_text(whole_page(), encoding="utf-8")
    print(f"wrote {PAGE}")
