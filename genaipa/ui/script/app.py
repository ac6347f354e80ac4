"""The desk in the browser: who is there, which page they are on. Streamlit runs this file for every interaction."""

from __future__ import annotations

import contextlib
import traceback
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.ui.access import why_no_adjudication, why_no_scores
from genaipa.ui.launch import open_once, why_no_results
from genaipa.ui.settings import handed_settings
from genaipa.ui.signin import identify

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.ui.desk import Desk, Visitor


def _score(desk: Desk, visitor: Visitor) -> None:
    from genaipa.ui.pages import scoring

    _unless(why_no_scores(visitor), scoring.page, desk, visitor)


def _adjudicate(desk: Desk, visitor: Visitor) -> None:
    from genaipa.ui.pages import adjudication

    _unless(why_no_adjudication(visitor), adjudication.page, desk, visitor)


def _agreement(desk: Desk, visitor: Visitor) -> None:
    from genaipa.ui.pages import agreement

    agreement.page(desk, visitor)


def _by_hand(desk: Desk, visitor: Visitor) -> None:
    from genaipa.ui.pages import manual

    manual.page(desk, visitor)


def _results(desk: Desk, visitor: Visitor) -> None:
    why_not = why_no_results()
    if why_not:
        st.text(why_not)
        return
    from genaipa.ui.pages import results

    results.page(desk, visitor)


def _overview(desk: Desk, visitor: Visitor) -> None:
    from genaipa.ui.pages import overview

    overview.page(desk, visitor)


_AWAY = 2
"""Seconds between two attempts to reach scores that are away."""
# Where in the address → title and page; the first is the one that opens.
PAGES: dict[str, tuple[str, Callable[[Desk, Visitor], None]]] = {
    "score": ("Score", _score),
    "adjudicate": ("Adjudicate", _adjudicate),
    "agreement": ("Agreement", _agreement),
    "by-hand": ("By hand", _by_hand),
    "overview": ("Overview", _overview),
    "results": ("Results", _results),
}


def _unless(why_not: str, page: Callable[[Desk, Visitor], None], desk: Desk, visitor: Visitor) -> None:
    if why_not:
        st.text(why_not)
    else:
        page(desk, visitor)


def _as_sentence(page: Callable[[], None], desk: Desk | None = None) -> None:
    """Run a page; an error is a sentence on it. As text: it may quote what a model or a person wrote."""
    try:
        page()
    except GenaipaError as error:
        st.error("That can't be done:")
        st.text(str(error))
        if desk is not None and not _reaches_scores(desk):
            st.text("What is kept is kept. This page comes back by itself once the scores can be reached.")
            st.fragment(run_every=_AWAY)(lambda: st.rerun() if _reaches_scores(desk) else None)()
    except Exception:  # noqa: BLE001 - the edge: nobody at a desk can use a traceback
        traceback.print_exc()
        st.error("This page broke off. Whatever was saved is kept; where `genaipa score` runs stands what went wrong.")


def _reaches_scores(desk: Desk) -> bool:
    with contextlib.suppress(GenaipaError):
        desk.current.refresh()
        return True
    return False


def _desk() -> None:
    desk, login = open_once(handed_settings())
    visitor = identify(desk, login)

    def shown(page: Callable[[Desk, Visitor], None]) -> Callable[[], None]:
        return lambda: _as_sentence(lambda: page(desk, visitor), desk) if visitor else None

    # Before one has signed in the pages are empty, and there all the same: one comes to the page that was asked for.
    pages = [st.Page(shown(page), title=title, url_path=path) for path, (title, page) in PAGES.items()]
    st.navigation(pages, position="top" if visitor else "hidden").run()


st.set_page_config(page_title="genaipa desk", page_icon="⚖️", layout="wide")
_as_sentence(_desk)
