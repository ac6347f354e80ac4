"""Templates of the suites' prompts: `prompts/suites/NAME-WORDING.jinja`, the workspace's over the shipped.

Three wordings of each, all ours: how much a score moves between them is part of its uncertainty. A suite with a prefix
that many items share has that in a template of its own, `NAME-PART-WORDING.jinja`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import read_text
from genaipa.tasks import catalog
from genaipa.tasks.prompts import SUITES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import jinja2

    from genaipa.workspace import Workspace


@dataclass(frozen=True)
class Template:
    """One template: its file and its text."""

    path: Path
    source: str

    @cached_property
    def _compiled(self) -> jinja2.Template:
        import jinja2

        return jinja2.Environment(
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # noqa: S701 - what comes out is plain text for a model, never HTML
            trim_blocks=True,
            lstrip_blocks=True,
        ).from_string(self.source)

    def render(self, **variables: Any) -> str:
        """The message; a DataError naming the template and what is wrong in it."""
        import jinja2

        try:
            return str(self._compiled.render(**variables))
        except jinja2.UndefinedError as error:
            known = ", ".join(sorted(variables))
            raise DataError(self.path, f"{error}; this template can use: {known}.") from None
        except jinja2.TemplateSyntaxError as error:
            raise DataError(self.path, f"{error.message}.", f"line {error.lineno}") from None
        except jinja2.TemplateError as error:
            raise DataError(self.path, f"{error}.") from None


def faults(path: Path) -> list[DataError]:
    """The reason why a file is no template; none for one. Its variables are known only once it is rendered."""
    import jinja2

    try:
        jinja2.Environment(autoescape=True).parse(read_text(path))
    except jinja2.TemplateSyntaxError as error:
        return [DataError(path, f"{error.message}.", f"line {error.lineno}")]
    except DataError as error:
        return [error]
    return []


def load_template(workspace: Workspace, suite: str, wording: int) -> Mapping[str, Template]:
    """The templates of a suite in a wording: "" for the question, and further parts by their names."""
    found = workspace.names("prompts", SUITES)
    others = catalog.SUITES.keys() - {suite}
    ending = f"-{wording}"
    templates = {}
    for name, (_, path) in found.items():
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
