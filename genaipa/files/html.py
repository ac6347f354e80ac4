"""Objects as a notebook shows them: a line, a frame, or HTML in which nothing of a model or a stranger is markup."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from genaipa.errors import MissingPackageError, clip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd


LINE = 100
"""Characters of a `repr`, at most."""
_ABOUT = 60


def format_one_line_repr(class_name: str, name: str, description: str) -> str:
    """Return the `repr` of an object: `<Run NAME: ABOUT>`, cut to a line."""
    name, description = ("".join(sign if sign.isprintable() else " " for sign in text) for text in (name, description))
    description = clip(description, _ABOUT)
    return f"<{class_name} {clip(name, LINE - len(f'<{class_name} : {description}>'))}: {description}>"


_STEERING = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of what follows."""


def escape_html(text: str) -> str:
    """Return a text as HTML, in which nothing is markup, and nothing steers whoever prints the page."""
    return escape(_STEERING.sub("�", text))


def replace_control_characters(value: object) -> object:
    """Return what a template shows, a text or markup of its own class without what steers; for jinja's `finalize`."""
    return type(value)(_STEERING.sub("�", value)) if isinstance(value, str) else value


def html_picture(png: bytes, alt_text: str) -> str:
    """Return an `<img>` that holds a PNG file; `alt_text` is its text for whoever can't see it."""
    from base64 import b64encode

    return f'<img alt="{escape_html(alt_text)}" src="data:image/png;base64,{b64encode(png).decode()}">'


def html_table(caption: str, rows: Iterable[Sequence[object]], column_headings: Sequence[str] = ()) -> str:
    """Return a `<table>`; without `column_headings`, the first cell of each row is its heading."""
    lines = (
        [f"<tr>{''.join(f'<th>{escape_html(cell)}</th>' for cell in column_headings)}</tr>"] if column_headings else []
    )
    for first, *other_cells in rows:
        kind = "td" if column_headings else "th"
        cells = "".join(f'<td style="text-align: left">{escape_html(str(cell))}</td>' for cell in other_cells)
        lines.append(f'<tr><{kind} style="text-align: left">{escape_html(str(first))}</{kind}>{cells}</tr>')
    return f"<table>\n<caption>{escape_html(caption)}</caption>\n" + "\n".join(lines) + "\n</table>"


def make_data_frame(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return a frame of these rows and columns; a MissingPackageError without pandas."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingPackageError("a data frame needs the package 'pandas': pip install 'genaipa[reports]'") from None
    return pd.DataFrame(list(rows), columns=list(columns))
