"""The desk in the browser: sign-in and the choice of page. Streamlit runs this file for every interaction."""

from __future__ import annotations

import contextlib
import traceback
from importlib import import_module
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.ui.launch import open_once, why_no_results
from genaipa.ui.settings import handed_settings
from genaipa.ui.signin import identify

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk


_AWAY = 2
"""Seconds between two attempts to reach a store that is away."""
PAGES = {
    "score": ("Score", "scoring"),
    "adjudicate": ("Adjudicate", "adjudication"),
    "agreement": ("Agreement", "agreement"),
    "by-hand": ("By hand", "manual"),
    "overview": ("Overview", "overview"),
    "results": ("Results", "results"),
}
"""Path in the address → title and module; the first one opens. Modules are imported when their page is first shown."""


def _page(module: str, desk: Desk, user: User) -> None:
    closed = why_no_results() if module == "results" else ""
    if closed:
        st.text(closed)
    else:
        import_module(f"genaipa.ui.pages.{module}").page(desk, user)


def _as_sentence(page: Callable[[], None], desk: Desk | None = None) -> None:
    """Run a page; show an error as a sentence, and as text, since it may quote a model or a person."""
    try:
        page()
    except GenaipaError as error:
        st.error("That can't be done:")
        st.text(str(error))
        if desk is not None and not _reaches_scores(desk):
            st.text("Saved scores are safe. This page comes back by itself once the store can be reached.")
            st.fragment(run_every=_AWAY)(lambda: st.rerun() if _reaches_scores(desk) else None)()
    except Exception:  # noqa: BLE001 - the edge: nobody at a desk can use a traceback
        traceback.print_exc()
        st.error("This page crashed. Saved scores are safe; the terminal running `genaipa score` shows the error.")


def _reaches_scores(desk: Desk) -> bool:
    with contextlib.suppress(GenaipaError):
        desk.current.refresh()
        return True
    return False


def _desk() -> None:
    desk, login = open_once(handed_settings())
    user = identify(desk, login)

    def shown(module: str) -> Callable[[], None]:
        return lambda: _as_sentence(lambda: _page(module, desk, user), desk) if user else None

    # Empty pages are there before anyone has signed in, so that the page in the address opens afterwards.
    pages = [st.Page(shown(module), title=title, url_path=path) for path, (title, module) in PAGES.items()]
    st.navigation(pages, position="top" if user else "hidden").run()


st.set_page_config(page_title="genaipa desk", page_icon="⚖️", layout="wide")
_as_sentence(_desk)
