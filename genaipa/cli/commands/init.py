"""`genaipa init`: a folder for your own documents, questions, prompts, systems and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from genaipa.cli.terminal.console import print_to_stderr, show
from genaipa.errors import UsageError

_MARKER = """\
# This file makes the folder a genaipa workspace: data in prompts/, questions/, policies/, annotations/, rubrics/
# and systems.yaml is used before the data that ships with genaipa, name by name, and runs are written to runs/.
name = {name}
"""

_SYSTEMS = """\
# Your own short names for systems, in addition to those that `genaipa systems` lists. To use the example, delete the
# line 'systems: {}' and uncomment the lines below it.
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

A genaipa workspace. Its data is used before the data that ships with genaipa.

- `policies/`: documents, `NAME.md` or `NAME.txt`, with their metadata in `NAME.yaml` (`genaipa policies add`)
- `questions/`: question sets, `NAME.yaml` (copy one that `genaipa questions` lists)
- `annotations/`: annotated answers about a document, `NAME.yaml`
- `rubrics/`: metrics to use instead of the paper's; `rubric = "NAME"` in genaipa.toml selects a rubric
- `guidelines.md`: what analysts agree on, with borderline examples for each metric; shown at the desk (key g)
- `prompts/`: templates that replace the shipped ones of the same name, and sets of your own (`genaipa prompts`)
- `systems.yaml`: short names for systems (`genaipa systems`)
- `desk.yaml`: who scores and who adjudicates (without this file, anyone who gives a name can score)
- `runs/`: one folder for each run; check everything with `genaipa validate`
- `waves.jsonl`: the random part of the answers that people score (`genaipa sample`)
- `scores.db`: the analysts' scores (`genaipa score`); never edit it by hand, `genaipa scores export` reads it
"""


_IGNORED = "runs/\nreports/\npublished/\n.env\nscores.db*\n.streamlit/secrets.toml\n"


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder, or . for the current one.")],
) -> None:
    """Create a workspace for your data and runs.

    The workspace gets folders for documents, questions, annotated answers, prompts and runs, and a file for systems.
    Existing files stay as they are.
    """
    import shlex

    folder = folder.expanduser()
    for file in _create_workspace_and_list_kept_files(folder):
        lines = f"; add to it: {', '.join(_IGNORED.split())}" if file == ".gitignore" else ""
        print_to_stderr(f"{folder / file} already exists and was left unchanged{lines}")
    is_current_folder = folder.resolve() == Path.cwd().resolve()
    label = "This folder" if is_current_folder else str(folder)
    show(
        f"{label} is a workspace now. {'Add' if is_current_folder else 'Go there and add'} a privacy policy "
        "(a file or a URL):"
    )
    if not is_current_folder:
        show(f"    cd {shlex.quote(str(folder))}")
    show("    genaipa policies add https://example.com/privacy --name example --company Example")


def _create_workspace_and_list_kept_files(folder: Path) -> list[str]:
    """Make the folders and files that are not there yet; the names of the files that are. A UsageError if it can't."""
    import json

    from genaipa.scoring.rubric import GUIDELINES, STARTER
    from genaipa.workspace import MARKER, RUNS, SUFFIXES, explain_what_blocks_folder_or_empty

    name = folder.resolve().name
    if not name.isprintable():
        raise UsageError("the folder's name contains characters that can't be written to a file; choose another name.")
    files = {
        "systems.yaml": _SYSTEMS,
        GUIDELINES: STARTER,
        ".gitignore": _IGNORED,
        "README.md": _README.format(name=name),
        # Last, so that what broke off is no workspace yet.
        MARKER: _MARKER.format(name=json.dumps(name, ensure_ascii=False)),
    }
    places = [folder, *(folder / kind for kind in (*SUFFIXES, RUNS))]
    try:
        for path in places:
            if problem := explain_what_blocks_folder_or_empty(path):
                raise UsageError(f"{path} {problem}")
        if (folder / MARKER).exists():
            raise UsageError(f"{folder} is already a workspace; choose a new folder.")
        for path in places:
            path.mkdir(parents=True, exist_ok=True)
        existing = [file for file in files if (folder / file).exists()]
        for file, text in files.items():
            if file not in existing:
                (folder / file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{error.filename or folder} can't be created ({error.strerror}); choose another folder."
        ) from None
    return existing
