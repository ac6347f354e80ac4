"""`.env` files: from the working folder, then its parents; the process environment wins."""

from __future__ import annotations

import os
from pathlib import Path


def load_dotenv() -> None:
    """Read the nearest `.env` into the environment, without replacing what is set."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        path = folder / ".env"
        if path.is_file():
            import io

            import dotenv

            from genaipa.datafiles import read_text

            for name, value in dotenv.dotenv_values(stream=io.StringIO(read_text(path))).items():
                if value is not None:
                    os.environ.setdefault(name, value)
            return
