"""Templates of the suites' prompts: `prompts/suites/NAME-WORDING.jinja`, the workspace's over the shipped.

A suite that a package brings may have them in a folder `prompts` beside its module; the workspace's are over these.

Three wordings of each, all ours: how much a score moves between them is part of its uncertainty. A suite with a prefix
that many items share has that in a template of its own, `NAME-PART-WORDING.jinja`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import read_text
from genaipa_suites.names import suite_targets

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from genaipa.tasks.templates import Templates
    from genaipa.workspace import Workspace


SUITES = "suites"
"""The folder of the suites' prompts."""


@dataclass(frozen=True)
class Template:
    """One template: its file and its text."""

    path: Path
    source: str

    @cached_property
    def _compiled(self) -> Templates:
        from genaipa.tasks.templates import Templates

        return Templates({self.path.name: self.source})

    def render(self, **variables: Any) -> str:
        """The message; a DataError naming the template and what is wrong in it."""
        return self._compiled.render(self.path.name, {self.path.name: self.path}, **variables)


def faults(path: Path) -> list[DataError]:
    """The reason why a file is no template; none for one. Its variables are known only once it is rendered."""
    from genaipa.tasks.templates import syntax_faults

    try:
        return list(syntax_faults(path, read_text(path)))
    except DataError as error:
        return [error]


def load_template(workspace: Workspace, suite: str, wording: int, beside: Path) -> Mapping[str, Template]:
    """The templates of a suite in a wording: "" for the question, and further parts by their names.

    `beside` is the folder of a suite's own.
    """
    found = {path.stem: path for path in sorted(beside.glob("*.jinja"))}
    found |= {name: path for name, (_, path) in workspace.names("prompts", SUITES).items()}
    others = suite_targets().keys() - {suite}
    ending = f"-{wording}"
    templates = {}
    for name, path in found.items():
        whose = name.removesuffix(ending)
        if whose == suite or (name.endswith(ending) and whose.startswith(f"{suite}-") and whose not in others):
            templates[whose[len(suite) :].strip("-")] = Template(path, read_text(path))
    if "" not in templates:
        raise UsageError(f"no wording {wording} of {suite} is here (prompts/{SUITES}/{suite}-{wording}.jinja).")
    return templates


def probe_template(workspace: Workspace, probe: str, part: str) -> dict[str, Template]:
    """The template of a probe as this part of a suite; none for no probe, or one that has no words of its own."""
    found = workspace.names("prompts", SUITES).get(f"probe-{probe}")
    return {part: Template(found[1], read_text(found[1]))} if found else {}
