"""The messages that a system is sent, as Jinja templates in `prompts/NAME.jinja`.

A workspace's template overrides the shipped one of the same name, and may extend it:
`{% extends "shipped/part.jinja" %}{% block message %}{{ super() }} …{% endblock %}`.
Every template sees `company` and `subject` ("the privacy policy of Uber"); TEMPLATES lists what else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import digest, read_text
from genaipa.workspace import shipped

if TYPE_CHECKING:
    from pathlib import Path

    import jinja2

    from genaipa.workspace import Workspace

# Template → the variables that it sees besides `company` and `subject`.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "introduce-company": (),
    "introduce-document": ("parts",),
    "part": ("part", "parts", "text"),
    "acknowledgement": ("part", "parts"),
    "summarize-by-name": ("words",),
    "summarize-document": ("words",),
    "introduce-summary": ("text",),
    "question": ("question", "question_id"),
}
INCLUDED = ("rules",)
_CARRIED = ("text", "question")
"""Variables that messages are sent for: a template that leaves its own out is a mistake."""
_SAMPLE: dict[str, Any] = {
    "company": "ACME",
    "subject": "the privacy policy of ACME",
    "part": 1,
    "parts": 2,
    "words": 400,
}


@dataclass(frozen=True)
class Prompts:
    """The templates in effect: name → (layer, file)."""

    files: dict[str, tuple[str, Path]]

    @cached_property
    def sources(self) -> dict[str, str]:
        """Name → the template's text; `shipped/NAME` for the shipped ones that a user's template builds on."""
        found = {name: read_text(path) for name, (_, path) in self.files.items()}
        named = re.findall(r"[\"']shipped/([\w-]+)\.jinja[\"']", "".join(found.values()))
        original = {f"shipped/{name}": shipped() / "prompts" / f"{name}.jinja" for name in sorted(set(named))}
        return found | {name: read_text(path) for name, path in original.items() if path.is_file()}

    @property
    def digests(self) -> dict[str, str]:
        """Name → SHA-256 of the template's text."""
        return {name: digest(source) for name, source in self.sources.items()}

    @cached_property
    def _environment(self) -> jinja2.Environment:
        import jinja2

        return jinja2.Environment(
            loader=jinja2.DictLoader({f"{name}.jinja": source for name, source in self.sources.items()}),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # noqa: S701 - what comes out is plain text for a model, never HTML
            trim_blocks=True,
            lstrip_blocks=True,
        )

    def render(self, name: str, **variables: object) -> str:
        """The message, without white space around it; a DataError naming the template and what is wrong in it."""
        import jinja2

        path = self.files[name][1]
        try:
            return self._environment.get_template(f"{name}.jinja").render(**variables).strip()
        except jinja2.UndefinedError as error:
            known = ", ".join(sorted(variables))
            raise DataError(path, f"{error}; this template can use: {known}.") from None
        except jinja2.TemplateSyntaxError as error:
            # The fault may be in a template that this one includes.
            faulty = self.files.get((error.name or "").removesuffix(".jinja"), ("", path))[1]
            raise DataError(faulty, f"{error.message}.", f"line {error.lineno}") from None
        except jinja2.TemplateError as error:
            raise DataError(path, f"{error}.") from None

    def check(self) -> None:
        """Render every template once with sample values; the first problem as a DataError."""
        for name, variables in TEMPLATES.items():
            path, source = self.files[name][1], self.sources[name]
            sample = {key: _SAMPLE.get(key, key) for key in ("company", "subject", *variables)}
            message = self.render(name, **sample)
            if not message:
                raise DataError(path, "gives an empty message.")
            carried = next((key for key in _CARRIED if key in variables), None)
            if carried and sample[carried] not in message:
                raise DataError(path, f"never says {{{{ {carried} }}}}, which is what this message is for.")
            if re.search(r"{%-?\s*extends\b", source) and not re.search(r"{%-?\s*block\b", source):
                raise DataError(path, "extends another template and changes nothing: put it in {% block message %}.")


def load_prompts(workspace: Workspace) -> Prompts:
    """The templates in effect, checked."""
    files = workspace.names("prompts")
    missing = [name for name in (*TEMPLATES, *INCLUDED) if name not in files]
    if missing:
        raise UsageError(f"the prompt '{missing[0]}' is missing; genaipa is not installed whole, install it again.")
    prompts = Prompts(files)
    prompts.check()
    return prompts
