"""Texts and tables on a page, shown as plain text by the desk's own components.

Streamlit's own tables and labels would take a model's or an analyst's words for Markdown, or offer them as a
spreadsheet. A component is a JavaScript file in `components/`, with its style beside it, after the files that it builds
on. It puts every text that comes from a model, a document or an analyst on screen as text: no HTML, script, image, link
or Markdown of theirs is ever live.
"""

from __future__ import annotations

import contextlib
import sys
import traceback
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec
import streamlit as st

from genaipa.errors import DataError, GenaipaError, StoreError
from genaipa.ui.panel import read_panel_scripts_and_styles

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from streamlit.components.v2.types import ComponentRenderer

    from genaipa.ui.desk import Desk

COMPONENTS = {
    "pad": ("elements", "markdown", "document", "panel", "values", "repeated", "recall", "following", "reading"),
    "case": ("elements", "markdown", "document"),
    "rows": ("elements", "table"),
    "verdict": ("elements", "panel", "values", "table"),
    "texts": ("elements",),
    "feed": (),
    "remember": (),
}
"""Component → the files in `components/` on which its own builds, in their order."""


@cache
def load_component(component_name: str) -> ComponentRenderer:
    """Load the component of that name, ready to be mounted: `load_component("pad")(key=…, data=…)`."""
    from streamlit.components import v2

    script, style = read_component_script_and_style(component_name)
    return v2.component(
        f"genaipa_{component_name}", html=_read_component_file_if_present(component_name, "html"), css=style, js=script
    )


def read_component_script_and_style(component_name: str) -> tuple[str, str]:
    """Return the component's script and its style as the browser gets them."""
    parts = COMPONENTS[component_name]
    scripts, styles = (
        "".join(_read_component_file_if_present(part, ending) for part in parts) for ending in ("js", "css")
    )
    more_scripts, more_styles = read_panel_scripts_and_styles() if "panel" in parts else ("", "")
    return (
        f"{scripts}{more_scripts}{_read_component_file_if_present(component_name, 'js')}",
        f"{styles}{_read_component_file_if_present(component_name, 'css')}{more_styles}",
    )


def _read_component_file_if_present(name: str, ending: str) -> str:
    file = files(__package__) / "components" / f"{name}.{ending}"
    return file.read_text(encoding="utf-8") if file.is_file() else ""


PAGES_KEY = "pages of the desk"
"""Key in the session's state of the pages that this user has, by their paths."""
Tone = Literal["", "plain", "caption", "system", "asked", "good", "strong", "note", "warning", "bad", "done"]
T = TypeVar("T")

SHORT = {"completeness": "complete"}
"""Metric → its name above a narrow column, where it has a shorter one."""
ANY = "any"
"""The choice of a box that filters nothing."""
FOLD = 4000
"""Characters of a text that are shown before the rest is asked for."""
PAGE = 10
"""Rows of a long table that are on screen at once."""
PROBLEMS = 5
"""Problems that are on screen at once."""
_AWAY = 2
"""Seconds between two attempts to reach a store that is away."""


class TitledText(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text under its title. `copies` gives it a button to copy it; longer than `fold` characters it is folded.

    A text that `arrives` under another name than before is scrolled into view.
    """

    text: str
    title: str = ""
    aside: str = ""
    tone: Tone = ""
    copies: bool = False
    fold: int | None = None
    arrives: str = ""


class ListCell(msgspec.Struct, frozen=True, omit_defaults=True):
    """A cell that is more than text: a bar (`share`, 0 to 1), or `value` from `low` to `high` on the scale of it."""

    text: str
    tone: Literal["", "quiet", "good", "bad"] = ""
    share: float | None = None
    low: float | None = None
    value: float | None = None
    high: float | None = None
    scale: tuple[float, float] = (-1.0, 1.0)


class ListColumn(msgspec.Struct, frozen=True, omit_defaults=True):
    """A column's head; `right` for numbers. A text alone is the head of a column of texts."""

    name: str
    right: bool = False


def number_column_heads(*names: str) -> list[str | ListColumn]:
    """Return the heads of columns of numbers."""
    return [ListColumn(name, right=True) for name in names]


class ListRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row; one with an id can be chosen."""

    cells: tuple[str | ListCell, ...]
    id: str = ""


@dataclass(frozen=True)
class PageSlice:
    """The rows on screen: from the `first` to the `last` (counted from 1) of `all`."""

    first: int
    last: int
    all: int


def show_page_header(title: str, *, title_visible: bool = True) -> None:
    """Show the page's title, nearer to the top than Streamlit puts it, and the size of all titles."""
    st.html(
        "<style>.stMainBlockContainer{padding-top:3.6rem}"
        ".stHeading h1{font-size:1.75rem!important;padding:0.25rem 0 0.5rem!important}"
        ".stHeading h2{font-size:1.25rem!important;padding:0.25rem 0 0.5rem!important}"
        # Streamlit's own grey has a contrast of 3.9.
        "[data-testid=stCaptionContainer]{color:inherit;opacity:0.75}"
        # What is chosen, and how far something is, would be drawn alike in forced colours.
        "@media(forced-colors:active){[data-testid=stRadioOption]>div>div:first-child,"
        "[data-testid=stCheckbox] label>span+div,[role=progressbar]{forced-color-adjust:none}}"
        # It would cut the label of a switch where the window is narrow.
        "[data-testid=stCheckbox] [data-testid=stMarkdownContainer] *{white-space:normal}</style>"
    )
    if title_visible:
        st.title(title, anchor=False)
    else:
        show_screen_reader_header(title)


def show_screen_reader_header(title: str) -> None:
    """Show the title of a page without room for one: it is read aloud."""
    # The container of the title would take room too.
    st.html(
        "<style>[data-testid=stElementContainer]:has(h1.unseen){position:absolute;width:1px;height:1px;overflow:hidden;"
        f"clip-path:inset(50%)}}</style><h1 class='unseen'>{title}</h1>"
    )


def show_heading(title: str) -> None:
    """Show the title of a part of the page: the desk's own words, never a run's or a person's."""
    st.header(title, anchor=False)


def show_texts(key: str, entries: Sequence[TitledText]) -> None:
    """Show texts one below the other."""
    load_component("texts")(key=key, data={"texts": msgspec.to_builtins(entries)})


def make_note_folded_to_first_sentence(title: str, note: str) -> TitledText:
    """Make a table's or figure's title, and its note, whose first sentence is in sight."""
    end = note.find(". ") + 1
    return TitledText(note, title, tone="caption", fold=end or None)


def show_notice(key: str, text: str, tone: Tone = "note") -> None:
    """Show a sentence in a box."""
    show_texts(key, [TitledText(text, tone=tone)])


def show_first_problems(key: str, sentences: Sequence[str]) -> None:
    """Show problems, one below the other; of very many the first ones."""
    if sentences:
        more_line = [f"… and {len(sentences) - PROBLEMS:,} more."] if len(sentences) > PROBLEMS else []
        show_texts(key, [TitledText(sentence, tone="warning") for sentence in [*sentences[:PROBLEMS], *more_line]])


def show_table(
    key: str,
    accessible_label: str,
    columns: Sequence[str | ListColumn],
    rows: Sequence[ListRow],
    *,
    chosen_row_id: str = "",
    on_row_chosen: Callable[[str], None] | None = None,
) -> None:
    """Show a table.

    `accessible_label` is its name for screen readers, and `on_row_chosen` is called with the id of a chosen row.
    """
    _mount_table(key, accessible_label, columns, rows, chosen_row_id, on_row_chosen, None, None)


def show_table_in_pages(
    key: str,
    accessible_label: str,
    columns: Sequence[str | ListColumn],
    items: Sequence[T],
    make_row: Callable[[T], ListRow],
    *,
    chosen_row_id: str = "",
    on_row_chosen: Callable[[str], None] | None = None,
    before_showing_page: Callable[[Sequence[T]], None] | None = None,
) -> None:
    """Show a table with one page on screen; only that page's rows are made.

    `before_showing_page` is called with the items of that page before it is shown.
    """
    page_key = f"{key} page"
    pages = max(1, -(-len(items) // PAGE))
    page = min(st.session_state.get(page_key, 0), pages - 1)

    def turn_page(step: int) -> None:
        st.session_state[page_key] = min(max(page + step, 0), pages - 1)

    page_items = items[page * PAGE : (page + 1) * PAGE]
    if before_showing_page is not None:
        before_showing_page(page_items)
    page_slice = PageSlice(page * PAGE + 1, page * PAGE + len(page_items), len(items)) if pages > 1 else None
    _mount_table(
        key,
        accessible_label,
        columns,
        [make_row(item) for item in page_items],
        chosen_row_id,
        on_row_chosen,
        page_slice,
        turn_page,
    )


def _mount_table(
    key: str,
    accessible_label: str,
    columns: Sequence[str | ListColumn],
    rows: Sequence[ListRow],
    chosen_row_id: str,
    on_row_chosen: Callable[[str], None] | None,
    page_slice: PageSlice | None,
    on_page_turned: Callable[[int], None] | None,
) -> None:
    heads = [ListColumn(column) if isinstance(column, str) else column for column in columns]
    data = {
        "label": accessible_label,
        "columns": heads,
        "rows": rows,
        "chosen": chosen_row_id or None,
        "page": page_slice,
    }

    def make_callback_passing_event_value(event: str, act: Callable[[Any], None] | None) -> Callable[[], None]:
        def pass_event_value_to_act() -> None:
            value = st.session_state[key].get(event)
            if act is not None and value is not None:
                act(value)

        return pass_event_value_to_act

    load_component("rows")(
        key=key,
        data=msgspec.to_builtins(data),
        on_chosen_change=make_callback_passing_event_value("chosen", on_row_chosen),
        on_turned_change=make_callback_passing_event_value("turned", on_page_turned),
    )


def run_page_safely(show_page: Callable[[], None], desk: Desk | None = None) -> None:
    """Run a page; show an error as a sentence, and as text, since it may quote a model or a person."""
    try:
        show_page()
    except GenaipaError as error:
        st.error("That can't be done:")
        st.text(log_error_and_describe_for_desk(error))
        if desk is not None and not _can_read_scores(desk):
            st.text("Saved scores are safe. This page reloads by itself once the store can be reached.")
            st.fragment(run_every=_AWAY)(lambda: st.rerun() if _can_read_scores(desk) else None)()
    except Exception:  # noqa: BLE001 - the edge: nobody at a desk can use a traceback
        traceback.print_exc()
        st.error("This page crashed. Saved scores are safe; the terminal running `genaipa score` shows the error.")


def log_error_and_describe_for_desk(error: Exception) -> str:
    """Describe an error for whoever is at the desk, without the server's paths and hosts; log all of it."""
    if isinstance(error, StoreError):
        words = error.for_analysts
    elif isinstance(error, DataError):
        words = f"{Path(error.path).name}{': ' + error.entry if error.entry else ''}: {error.problem}"
    else:
        return str(error)
    sys.stderr.write(f"{error}\n")
    return words


def _can_read_scores(desk: Desk) -> bool:
    with contextlib.suppress(GenaipaError):
        desk.current.read_new_events()
        return True
    return False


def cache_in_session(name: str, stamp: Hashable, compute: Callable[[], T]) -> T:
    """Return the result of `compute`, kept in this session until the stamp changes."""
    held = st.session_state.get(name)
    if held is None or held[0] != stamp:
        held = st.session_state[name] = (stamp, compute())
    value: T = held[1]
    return value


def format_duration(seconds: float | None) -> str:
    """Seconds in words: "45 s", "6 min 20 s"; a dash for None."""
    if seconds is None:
        return "-"
    minutes, remainder = divmod(round(seconds), 60)
    return f"{minutes} min {remainder} s" if minutes else f"{remainder} s"


def format_utc_minute(timestamp: str) -> str:
    """Format an event's time to the minute: "2026-11-21 15:40"."""
    return timestamp[:16].replace("T", " ")
