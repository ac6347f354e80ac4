"""`.env` files: from the working folder, then its parents; the process environment wins."""

from __future__ import annotations

import os
from pathlib import Path

from genaipa.cli.terminal.console import say


def load_dotenv() -> None:
    """Read the nearest `.env` into the environment, without replacing what is set."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        path = folder / ".env"
        if path.is_file():
            import io

            import dotenv

            from genaipa.files.strict_yaml import read_text

            text = read_text(path)
            _say_unread(path, text)
            for name, value in dotenv.dotenv_values(stream=io.StringIO(text)).items():
                if value is not None:
                    os.environ.setdefault(name, value)
            return


def _say_unread(path: Path, text: str) -> None:
    """Say which lines are passed over, in our words instead of the library's."""
    import io
    import logging

    from dotenv.parser import parse_stream

    logging.getLogger("dotenv.main").setLevel(logging.ERROR)
    for binding in parse_stream(io.StringIO(text)):
        if binding.error:
            say(f"{path}: line {binding.original.line} is not NAME=value, and is passed over.")
