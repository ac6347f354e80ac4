"""The desk in the browser: sign-in and the choice of page. Streamlit runs this file for every interaction."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.judging.name import Judge
from genaipa.kinds import kinds
from genaipa.plugins import load_each
from genaipa.runs.selection import run_folders
from genaipa.ui.desk_page import ENTRY_POINTS, DeskPage
from genaipa.ui.launch import open_once, why_no_results
from genaipa.ui.settings import handed_settings
from genaipa.ui.signin import identify
from genaipa.ui.widgets import PAGES_HERE, as_sentence, session_cached

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

    Draw = Callable[[Desk, User], None]

PAGES = {
    "score": ("Score", "scoring"),
    "study": ("Study", "study"),
    "adjudicate": ("Adjudicate", "adjudication"),
    "agreement": ("Agreement", "agreement"),
    "by-hand": ("By hand", "manual"),
    "overview": ("Overview", "overview"),
    "results": ("Results", "results"),
    "judges": ("Judges", "judges"),
}
"""Path in the address → title and module; the first one opens. Modules are imported when their page is first shown."""
_RESULTS = ("results", "judges")
"""Pages that need what reports need; pages of kinds of tasks do, too."""


_LED = "led to the study"
"""Key in the session's state: a lead has come to a page, theirs where it would have been the analysts'."""


def _page(path: str, draw: Draw, desk: Desk, user: User) -> None:
    closed = why_no_results() if path in _RESULTS or path not in {**PAGES, **_of_packages()} else ""
    if closed:
        st.text(closed)
    else:
        draw(desk, user)


def _judged(desk: Desk) -> bool:
    """Whether there are verdicts: without any, their page would only be in the way."""
    with contextlib.suppress(GenaipaError):
        desk.current.refresh()
    return any(map(Judge.parse, desk.current.analysts("machine")))


def _wanted(path: str, desk: Desk, user: User) -> bool:
    """Whether a page has something for this user: verdicts of judges are for those who lead."""
    if path == "study":
        return user.adjudicates
    if path == "judges":
        return user.adjudicates and _judged(desk)
    page = _of_packages().get(path)
    return page is None or path in PAGES or page.is_wanted(desk, user)


def _of_packages() -> dict[str, DeskPage]:
    return load_each(ENTRY_POINTS, DeskPage)


def _in_order() -> dict[str, tuple[str, str]]:
    """Return path → title and module of the desk's own pages, each with those of packages that come after it."""
    pages = {}
    brought = {path: (page.title, page.module) for path, page in _of_packages().items()}
    for path, (title, module) in PAGES.items():
        pages[path] = (title, f"genaipa.ui.pages.{module}")
        pages |= {new: brought[new] for new, page in _of_packages().items() if page.after == path and new not in PAGES}
    return pages | {path: page for path, page in brought.items() if path not in pages}


def _pages_of_kinds(desk: Desk) -> dict[str, tuple[str, Draw]]:
    """Return path → title and function of the pages of the kinds of tasks that were run in the workspace."""
    folders = run_folders(desk.workspace)

    def kinds_of_runs() -> set[str]:
        names = set()
        for folder in folders:
            with contextlib.suppress(GenaipaError):
                names.add(folder.manifest().spec.kind)
        return names

    names = session_cached("kinds here", tuple(folder.name for folder in folders), kinds_of_runs)
    run = [kind for name, kind in kinds().items() if kind.page and name in names]
    return {kind.page.lower().replace(" ", "-"): (kind.page, kind.show_page) for kind in run}


def _draw_module(module: str) -> Draw:
    return lambda desk, user: import_module(module).page(desk, user)


def _desk() -> None:
    desk, login = open_once(handed_settings())
    user = identify(desk, login)

    def shown(path: str, draw: Draw) -> Callable[[], None]:
        return lambda: as_sentence(lambda: _page(path, draw, desk, user), desk) if user else None

    # Empty pages are there before anyone has signed in, so that the page in the address opens afterwards.
    # Whoever leads and scores nothing comes to the page on the study.
    leads = user is not None and user.adjudicates and not user.scores
    ours = {path: (title, _draw_module(module)) for path, (title, module) in _in_order().items()}
    every = ours | {path: page for path, page in _pages_of_kinds(desk).items() if path not in ours}
    pages = {
        path: st.Page(shown(path, draw), title=title, url_path=path)
        for path, (title, draw) in sorted(every.items(), key=lambda page: leads and page[0] != "study")
        if user is None or _wanted(path, desk, user)
    }
    st.session_state[PAGES_HERE] = pages
    page = st.navigation([*pages.values()], position="top" if user else "hidden")
    # Before somebody signed in the first page was that of the analysts.
    first = leads and not st.session_state.get(_LED)
    st.session_state[_LED] = leads
    if first and page == pages["score"]:
        st.switch_page(pages["study"])
    st.set_page_config(page_title=f"{page.title if user else 'Sign in'} · genaipa desk")
    page.run()


st.set_page_config(page_title="genaipa desk", page_icon="⚖️", layout="wide")
as_sentence(_desk)
