"""Templates of the suites' prompts: `NAME-WORDING.jinja` in a folder `prompts` beside the suite's module.

One of the same name in `prompts/suites/` of a workspace takes its place.

Three wordings of each, all ours: how much a score moves between them is part of its uncertainty. A suite with a prefix
that many items share has that in a template of its own, `NAME-PART-WORDING.jinja`.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, UsageError
from genaipa.files.text import read_text
from genaipa_suites.data import SHIPPED
from genaipa_suites.plan import suite_targets

if TYPE_CHECKING:
    from genaipa.tasks.templates import Templates
    from genaipa.workspace import Workspace
    from genaipa_suites.suite import Suite


FOLDER = "suites"
"""Of a workspace's `prompts/`."""
PROBE = "probe"
"""The part of a suite's templates that a probe has."""
PROBES = {path.stem: path for path in SHIPPED.glob("probe-*.jinja")}
"""Name → template of the probes that have words of their own."""


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


def shipped_templates(suite: type[Suite]) -> dict[str, Path]:
    """Name → file of the templates that come with a suite."""
    folder = Path(inspect.getfile(suite)).with_name("prompts")
    return {path.stem: path for path in sorted(folder.glob("*.jinja"))}


def own_templates(workspace: Workspace) -> dict[str, Path]:
    """Name → file of the workspace's templates, of all suites and probes."""
    return {name: path for name, (_, path) in workspace.names("prompts", FOLDER).items()}


def templates_of(suite: Suite) -> dict[str, Template]:
    """The templates of the plan's wording, "" for the question and further parts by their names, and of its probe."""
    name, others, ending = suite.stem, suite_targets().keys() - {suite.stem}, f"-{suite.plan.wording}"
    own = own_templates(suite.workspace)
    templates = {}
    for stem, path in (shipped_templates(type(suite)) | own).items():
        whose = stem.removesuffix(ending)
        if whose == name or (stem.endswith(ending) and whose.startswith(f"{name}-") and whose not in others):
            templates[whose[len(name) :].strip("-")] = Template(path, read_text(path))
    if "" not in templates:
        raise UsageError(f"no wording {suite.plan.wording} of {name} is here (prompts/{FOLDER}/{name}{ending}.jinja).")
    probe = f"probe-{suite.plan.probe}"
    if probe in PROBES:
        chosen = own.get(probe, PROBES[probe])
        templates[PROBE] = Template(chosen, read_text(chosen))
    return templates
