"""Objects as a notebook shows them: a line, a frame, or HTML in which nothing of a model or a stranger is markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import MissingPackageError, clipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd


LINE = 100
"""Characters of a `repr`, at most."""
_ABOUT = 60


def short_repr(kind: str, name: str, about: str) -> str:
    """The `repr` of an object: `<Run NAME: ABOUT>`, cut to a line."""
    name, about = (_printable(text) for text in (name, about))
    about = clipped(about, _ABOUT)
    return f"<{kind} {clipped(name, LINE - len(f'<{kind} : {about}>'))}: {about}>"


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def html_picture(png: bytes, says: str) -> str:
    """An `<img>` that holds a PNG file; `says` is its text for whoever can't see it."""
    from base64 import b64encode
    from html import escape

    return f'<img alt="{escape(says)}" src="data:image/png;base64,{b64encode(png).decode()}">'


def html_table(caption: str, rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """A `<table>`; without a `head`, the first cell of each row is its heading."""
    from html import escape

    lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in head)}</tr>"] if head else []
    for first, *others in rows:
        kind = "td" if head else "th"
        cells = "".join(f'<td style="text-align: left">{escape(str(cell))}</td>' for cell in others)
        lines.append(f'<tr><{kind} style="text-align: left">{escape(str(first))}</{kind}>{cells}</tr>')
    return f"<table>\n<caption>{escape(caption)}</caption>\n" + "\n".join(lines) + "\n</table>"


def frame_of(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these rows and columns; a MissingPackageError without pandas."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingPackageError("a frame needs the package 'pandas': pip install 'genaipa[reports]'") from None
    return pd.DataFrame(list(rows), columns=list(columns))
