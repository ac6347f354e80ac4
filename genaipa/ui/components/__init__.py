"""The desk's own parts of a page, each a JavaScript file with its style beside it.

They put every text that comes from a model, a document or an analyst on screen as text: no HTML, script, image, link
or Markdown of theirs is ever live.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer


@cache
def component(name: str) -> ComponentRenderer:
    """The component of that name, ready to be mounted: `component("pad")(key=…, data=…)`."""
    from streamlit.components import v2

    def text(file: str) -> str:
        found = files(__package__) / file
        return found.read_text(encoding="utf-8") if found.is_file() else ""

    script = text("elements.js") + text(f"{name}.js")
    return v2.component(f"genaipa_{name}", html=text(f"{name}.html"), css=text(f"{name}.css"), js=script)
