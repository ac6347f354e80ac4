"""Whether the templates of a workspace's prompts can be rendered, and which of them nothing uses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from genaipa.errors import DataError, GenaipaError, nearest
from genaipa.judging.kind import NAME
from genaipa.judging.prompts import TEMPLATES as JUDGES
from genaipa.judging.prompts import load_templates
from genaipa.tasks.prompts import INCLUDED, TEMPLATES, found_prompts, set_names
from genaipa.validation.finding import Finding, as_findings
from genaipa.workspace import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.tasks.prompts import Prompts
    from genaipa.workspace import Workspace


def prompt_findings(workspace: Workspace) -> Iterator[Finding]:
    """Every template that can't be rendered: after each, the shipped one takes its place and the rest is tried."""
    for name in set_names(workspace):
        yield from _check_set(workspace, found_prompts(workspace, name))
    try:
        load_templates(workspace)
    except GenaipaError as error:
        yield from as_findings([error], workspace.home)
    for name, (_, path) in workspace.names("prompts", NAME).items():
        if name not in JUDGES:
            yield Finding(str(path), "", f"is no message of a judge's{nearest(name, JUDGES)}", "warning")


def _check_set(workspace: Workspace, prompts: Prompts) -> Iterator[Finding]:
    files = prompts.files
    missing = [name for name in (*TEMPLATES, *INCLUDED) if name not in files]
    if missing:
        yield Finding(str(shipped() / "prompts"), missing[0], "is missing; install genaipa again.")
        return
    while True:
        try:
            replace(prompts, files=files).check()
        except GenaipaError as error:
            broken = [name for name, (_, path) in files.items() if str(error).startswith(f"{path}: ")]
            name = broken[0] if broken else ""
            yield from as_findings([error], files[name][1] if name else workspace.home)
            original = prompts.originals.get(name)
            if name not in TEMPLATES or original in (None, files[name][1]):
                return
            files = {**files, name: ("shipped", original)}
        else:
            return


def unused_prompts(workspace: Workspace, chosen: str) -> Iterator[Finding]:
    """Templates of a set that replace none and that none includes: most likely a name mistyped."""
    known = (*TEMPLATES, *INCLUDED)
    prompts = found_prompts(workspace, chosen)
    for name in set(prompts.files) - set(known):
        path = prompts.files[name][1]
        try:
            included = name in prompts.used
        except DataError:  # not text: told already
            return
        if not included:
            yield Finding(str(path), "", f"replaces no prompt and is included by none{nearest(name, known)}", "warning")
