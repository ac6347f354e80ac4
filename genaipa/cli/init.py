"""`genaipa init`: a folder for your own documents, questions, prompts, systems and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_MARKER = """\
# This file makes the folder a genaipa workspace: what lies in prompts/, questions/, policies/, annotations/ and
# systems.yaml is used before what ships with genaipa, name by name, and runs are written to runs/.
name = {name}
"""

_SYSTEMS = """\
# Short names of your own for systems, beside those that `genaipa systems` lists. Take the # away to use the example,
# and the line 'systems: {}' with it.
systems: {}
# systems:
#   my-llama:
#     system: openai-api/lab/llama-3.1-8b   # reads LAB_BASE_URL and LAB_API_KEY
#     context: 131072                       # tokens that fit in one request
#     settings: [temperature, seed, max_tokens]
#     note: served by the machine in the lab.
#     price: {input: 0.0, output: 0.0, as_of: "2026-01-01"}   # dollars per million tokens
"""

_README = """\
# {name}

A workspace of genaipa. What lies here is used before what ships with genaipa.

- `policies/`: documents, `NAME.md` or `NAME.txt`, with what is known about them in `NAME.yaml` (`genaipa policies add`)
- `questions/`: question sets, `NAME.yaml` (copy one that `genaipa questions` lists)
- `annotations/`: the annotated answers of a document, `NAME.yaml`
- `prompts/`: templates that replace the shipped ones of the same name (`genaipa prompts`)
- `systems.yaml`: short names for systems (`genaipa systems`)
- `desk.yaml`: who scores and who adjudicates (left out: whoever gives a name)
- `runs/`: one folder for each run; check everything with `genaipa validate`
- `scores.db`: what analysts have scored (`genaipa score`); never change it by hand, `genaipa scores export` reads it
"""


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make (new or empty).")],
) -> None:
    """Make a workspace for your own data and runs.

    It gets folders for documents, questions, annotated answers, prompts and runs, and a file for systems.
    """
    import json

    from genaipa.cli.screen import show
    from genaipa.errors import UsageError
    from genaipa.workspace import MARKER, SUFFIXES

    folder = folder.expanduser()
    name = folder.resolve().name
    files = {
        MARKER: _MARKER.format(name=json.dumps(name, ensure_ascii=False)),
        "systems.yaml": _SYSTEMS,
        ".gitignore": "runs/\nreports/\n.env\nscores.db*\n.streamlit/secrets.toml\n",
        "README.md": _README.format(name=name),
    }
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            what = "is a workspace already" if (folder / MARKER).is_file() else "exists and is not an empty folder"
            raise UsageError(f"{folder} {what}; name a new folder.")
        for kind in (*SUFFIXES, "runs"):
            (folder / kind).mkdir(parents=True)
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename or folder} can't be made ({error.strerror}); name another folder.") from None
    show(f"{folder} is a workspace now. Go there, and add a privacy policy (a file or an address):")
    show(f"    cd {folder}")
    show("    genaipa policies add https://example.com/privacy --name example --company Example")
