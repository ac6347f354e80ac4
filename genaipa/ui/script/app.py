"""The desk in the browser: sign-in and the choice of page. Streamlit runs this file for every interaction."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.judging.name import Judge
from genaipa.kinds import load_kinds
from genaipa.plugins import load_entry_points_of_type
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.ui.desk_page import ENTRY_POINTS, DeskPage
from genaipa.ui.launch import explain_missing_results_packages_if_any, open_desk_and_login_once
from genaipa.ui.settings import read_settings_from_environment
from genaipa.ui.signin import identify_user_or_show_form
from genaipa.ui.widgets import PAGES_KEY, cache_in_session, run_page_safely

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


def _show_page_or_missing_package_note(page_path: str, show_page: Draw, desk: Desk, user: User) -> None:
    closed = (
        explain_missing_results_packages_if_any()
        if page_path in _RESULTS or page_path not in {**PAGES, **_load_package_pages()}
        else ""
    )
    if closed:
        st.text(closed)
    else:
        show_page(desk, user)


def _has_judge_verdicts(desk: Desk) -> bool:
    """Tell whether there are verdicts: without any, their page would only be in the way."""
    with contextlib.suppress(GenaipaError):
        desk.current.read_new_events()
    return any(map(Judge.parse, desk.current.list_analysts_with_current_scores("machine")))


def _has_page_content_for_user(page_path: str, desk: Desk, user: User) -> bool:
    """Tell whether a page has something for this user: verdicts of judges are for those who lead."""
    if page_path == "study":
        return user.adjudicates
    if page_path == "judges":
        return user.adjudicates and _has_judge_verdicts(desk)
    page = _load_package_pages().get(page_path)
    return page is None or page_path in PAGES or page.is_wanted(desk, user)


def _load_package_pages() -> dict[str, DeskPage]:
    return load_entry_points_of_type(ENTRY_POINTS, DeskPage)


def _titles_and_modules_by_desk_page_path() -> dict[str, tuple[str, str]]:
    """Return path → title and module of the desk's own pages, each with those of packages that come after it."""
    pages = {}
    package_pages = {path: (page.title, page.module) for path, page in _load_package_pages().items()}
    for path, (title, module) in PAGES.items():
        pages[path] = (title, f"genaipa.ui.pages.{module}")
        pages |= {
            new: package_pages[new]
            for new, page in _load_package_pages().items()
            if page.after == path and new not in PAGES
        }
    return pages | {path: page for path, page in package_pages.items() if path not in pages}


def _map_paths_to_pages_of_run_kinds(desk: Desk) -> dict[str, tuple[str, Draw]]:
    """Return path → title and function of the pages of the kinds of tasks that were run in the workspace."""
    folders = list_run_folders_oldest_first(desk.workspace)

    def collect_task_kinds_of_workspace_runs() -> set[str]:
        names = set()
        for folder in folders:
            with contextlib.suppress(GenaipaError):
                names.add(folder.manifest().spec.kind)
        return names

    names = cache_in_session(
        "kinds here", tuple(folder.name for folder in folders), collect_task_kinds_of_workspace_runs
    )
    run = [kind for name, kind in load_kinds().items() if kind.page and name in names]
    return {kind.page.lower().replace(" ", "-"): (kind.page, kind.show_page) for kind in run}


def _make_lazy_page_function(module_name: str) -> Draw:
    return lambda desk, user: import_module(module_name).show_page(desk, user)


def _run_desk() -> None:
    desk, login = open_desk_and_login_once(read_settings_from_environment())
    user = identify_user_or_show_form(desk, login)

    def make_safe_page_function(path: str, draw: Draw) -> Callable[[], None]:
        return lambda: (
            run_page_safely(lambda: _show_page_or_missing_package_note(path, draw, desk, user), desk) if user else None
        )

    # Empty pages are there before anyone has signed in, so that the page in the address opens afterwards.
    # Whoever leads and scores nothing comes to the page on the study.
    leads = user is not None and user.adjudicates and not user.scores
    ours = {
        path: (title, _make_lazy_page_function(module))
        for path, (title, module) in _titles_and_modules_by_desk_page_path().items()
    }
    all_pages = ours | {path: page for path, page in _map_paths_to_pages_of_run_kinds(desk).items() if path not in ours}
    pages = {
        path: st.Page(make_safe_page_function(path, draw), title=title, url_path=path)
        for path, (title, draw) in sorted(all_pages.items(), key=lambda page: leads and page[0] != "study")
        if user is None or _has_page_content_for_user(path, desk, user)
    }
    st.session_state[PAGES_KEY] = pages
    page = st.navigation([*pages.values()], position="top" if user else "hidden")
    # Before somebody signed in the first page was that of the analysts.
    first = leads and not st.session_state.get(_LED)
    st.session_state[_LED] = leads
    if first and page == pages["score"]:
        st.switch_page(pages["study"])
    st.set_page_config(page_title=f"{page.title if user else 'Sign in'} · genaipa desk")
    page.run()


st.set_page_config(page_title="genaipa desk", page_icon="⚖️", layout="wide")
run_page_safely(_run_desk)
