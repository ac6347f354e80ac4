"""The messages that a judge is sent, as Jinja templates: `prompts/judge/`, the workspace's over the shipped.

TEMPLATES lists what each sees. What a judge is asked decides who it is: its name has the digest of all of this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import DataError, UsageError
from genaipa.files.text import digest
from genaipa.judging.name import NAME
from genaipa.judging.verdict import schema
from genaipa.tasks.prompts import Prompts
from genaipa.workspace import Workspace, shipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.rubric import Rubric

TEMPLATES: dict[str, tuple[str, ...]] = {
    "document": ("company", "subject", "metrics", "text", "excerpt"),
    "ready": (),
    "answer": (
        *("question", "original", "annotated", "aside", "note", "silent_rule", "named", "parts"),
        *("mark", "begin", "end", "answer", "evidence", "points", "metrics"),
    ),
}
"""Template → the variables that it sees; the entries of `metrics` have `name` and `question`, and at the answer `id`
and `options`, too; the entries of `points` have `id` and `text`."""
FORM = 2
"""Raised whenever the same templates and rubric make other messages than before."""
_NEEDED = {"document": ("text",), "answer": ("question", "annotated", "begin", "answer", "end", "points")}
"""Variables without whose content a message is of no use."""
_DIGITS = 12


def load_templates(workspace: Workspace) -> Prompts:
    """The templates in effect, checked: a DataError for one that can't be used."""
    files = workspace.names("prompts", NAME)
    basis = Workspace(home=shipped(), layers=(("shipped", shipped()),)).names("prompts", NAME)
    if missing := [name for name in TEMPLATES if name not in files]:
        raise UsageError(
            f"the prompt 'judge/{missing[0]}' is missing; genaipa is not installed whole, install it again."
        )
    loaded = Prompts(NAME, files, {name: path for name, (_, path) in basis.items()})
    for name, variables in TEMPLATES.items():
        said = loaded.render(name, **{key: _sample(key) for key in variables})
        if lost := [key for key in _NEEDED.get(name, ()) if f"<{key}>" not in said]:
            raise DataError(files[name][1], f"never says {{{{ {lost[0]} }}}}, which a judge has to see.")
    return loaded


def _sample(variable: str) -> object:
    if variable == "metrics":
        return [{"id": "clarity", "name": "clarity", "question": "Is it clear?", "options": ["clear", "not clear"]}]
    if variable == "points":
        return [{"id": "kept", "text": "<points>"}]
    return [f"<{variable}>"] if variable in ("evidence", "parts") else f"<{variable}>"


def prompt_digest(templates: Mapping[str, str], rubric: Rubric, *, evidence: bool) -> str:
    """The beginning of a SHA-256 of everything that decides a request's words, but the answer and its document."""
    schemas = [schema(rubric, annotated=annotated) for annotated in (True, False)]
    if rubric.pointed:
        schemas.append(schema(rubric, annotated=True, points=True))
    made_of = (FORM, dict(templates), rubric.digest, rubric, schemas, evidence)
    return digest(msgspec.json.encode(made_of, order="sorted").decode())[:_DIGITS]
