"""The desk's own parts of a page, each a JavaScript file with its style beside it, after the files that it builds on.

They put every text that comes from a model, a document or an analyst on screen as text: no HTML, script, image, link
or Markdown of theirs is ever live.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_SHARED = {
    "pad": ("elements", "markdown", "document", "ticks", "values", "nearest", "recall"),
    "case": ("elements", "markdown", "document"),
    "rows": ("elements", "table"),
    "verdict": ("elements", "ticks", "values", "table"),
    "feed": (),
    "remember": (),
}


@cache
def component(name: str) -> ComponentRenderer:
    """The component of that name, ready to be mounted: `component("pad")(key=…, data=…)`."""
    from streamlit.components import v2

    def text(part: str, ending: str) -> str:
        found = files(__package__) / f"{part}.{ending}"
        return found.read_text(encoding="utf-8") if found.is_file() else ""

    parts = (*_SHARED.get(name, ("elements",)), name)
    script, style = ("".join(text(part, ending) for part in parts) for ending in ("js", "css"))
    return v2.component(f"genaipa_{name}", html=text(name, "html"), css=style, js=script)
