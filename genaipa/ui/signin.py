"""Sign-in: by a name, asked for once and remembered in the browser, or by a login."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import unquote

import streamlit as st

from genaipa.errors import UsageError
from genaipa.scoring.people import LONGEST_NAME
from genaipa.ui.desk import estimate_answers_left_for_analyst, format_hours_and_minutes
from genaipa.ui.settings import require_email_not_marked_unverified
from genaipa.ui.widgets import load_component, show_page_header
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk
    from genaipa.ui.settings import LoginSettings

COOKIE = "genaipa_name"
_NAME = "genaipa_name"
_RECORDED = (
    "Recorded under your name: your values and notes, how long each answer is on your screen, what you skip, "
    "undo and object to, and when you look at an answer's system or at others' scores."
)
_WHO = "genaipa_who"
_IN_THE_CORNER = f"""<style>
.st-key-{_WHO} {{ position: fixed; top: 0.6rem; right: 1.2rem; width: fit-content; z-index: 1000000; }}
.st-key-{_WHO} [data-testid="stText"] {{ max-width: min(16rem, 40vw); }}
.st-key-{_WHO} [data-testid="stText"] * {{ overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
.st-key-{_WHO} :is([data-testid="stText"], button, button *) {{ font-size: 0.875rem; line-height: 1.6; }}
</style>"""


def identify_user_or_show_form(desk: Desk, login: LoginSettings | None) -> User | None:
    """Identify the user of this session; None, with a form on screen, until they have signed in."""
    return _identify_by_name_or_ask_for_it(desk) if login is None else _identify_by_login_or_offer_it(desk, login)


def _identify_by_name_or_ask_for_it(desk: Desk) -> User | None:
    if _NAME not in st.session_state:
        st.session_state[_NAME] = unquote(st.context.cookies.get(COOKIE, ""))
    user, refusal = None, ""
    name = st.session_state[_NAME]
    if name:
        try:
            user = desk.people.admit_user(name, desk.current.list_analysts_with_current_scores(), requires_login=False)
        except UsageError as error:
            refusal = str(error)
    load_component("remember")(key="remember", data={"cookie": COOKIE, "name": user.name if user else ""})
    if user is None:
        _show_name_form(desk, refusal)
    else:
        _show_user_and_sign_out_button(user.name, "not you?", _clear_session_to_sign_out)
    return user


def _clear_session_to_sign_out() -> None:
    """Forget everything that this session holds of one person, before another signs in."""
    st.session_state.clear()
    st.session_state[_NAME] = ""


def _show_name_form(desk: Desk, refusal_message: str) -> None:
    show_page_header("Who are you?")
    for sentence in (_describe_scoring_task(desk), describe_time_left_per_analyst(desk), _RECORDED):
        st.text(sentence)
    with st.form("name", width=480):
        name = st.text_input("Your name", max_chars=LONGEST_NAME)
        if st.form_submit_button("Go to the desk", type="primary"):
            if name.strip():
                st.session_state[_NAME] = name
                st.rerun()
            refusal_message = "Please give a name."
    if refusal_message:
        st.text(refusal_message)


def _describe_scoring_task(desk: Desk) -> str:
    """Describe the task of the study's analysts, in a sentence that names no system and no run."""
    answers = desk.pool.answers.values()
    if not answers:
        return "This study has no answers to score yet."
    documents = sorted({answer.document for answer in answers})
    about = documents[0] if len(documents) == 1 else f"{len(documents):,} policies"
    questions = len({answer.question for answer in answers})
    return (
        f"This study asks people to score {format_count(len(answers), 'answer')} to "
        f"{format_count(questions, 'question')} about {about}, each by "
        f"{format_count(len(desk.rubric.metrics), 'metric')}. {desk.scores_given_and_wanted_sentence}"
    )


def describe_time_left_per_analyst(desk: Desk) -> str:
    """Estimate the time that it takes an analyst, by the times of those who have scored."""
    medians = [history.seconds for history in desk.queue.histories_by_analyst().values() if history.seconds is not None]
    if not medians:
        scored = any(history.scores for history in desk.queue.histories_by_analyst().values())
        why = "the scores so far have no times" if scored else "nobody has scored an answer"
        return f"The time per answer is not known yet: {why}."
    answers_left = estimate_answers_left_for_analyst(desk, desk.queue.measure_scoring_progress(""))
    time = format_hours_and_minutes(answers_left * median(medians))
    return (
        f"About {format_count(answers_left, 'answer')} {'is' if answers_left == 1 else 'are'} left for each "
        f"analyst, which takes about {time}."
        if answers_left
        else "All answers are scored."
    )


def _identify_by_login_or_offer_it(desk: Desk, login: LoginSettings) -> User | None:
    claims = st.user.to_dict()
    if not claims.get("is_logged_in"):
        show_page_header("Please log in")
        st.text("This desk knows its analysts by their e-mail addresses.")
        st.text(_RECORDED)
        for provider in login.providers:
            label = f"Log in with {provider}" if provider else "Log in"
            st.button(label, type="primary", on_click=st.login, args=(provider,) if provider else ())
        return None
    try:
        user = desk.people.admit_user(
            require_email_not_marked_unverified(claims),
            desk.current.list_analysts_with_current_scores(),
            requires_login=True,
        )
    except UsageError as error:
        st.subheader("You have no access to this desk")
        st.text(str(error))
        st.button("Log out", on_click=st.logout)
        return None
    _show_user_and_sign_out_button(user.name, "log out", st.logout)
    return user


def _show_user_and_sign_out_button(name: str, button_label: str, sign_out: Callable[[], None]) -> None:
    """Show the user's name, as text, and how to be somebody else: in the corner, where it takes no room."""
    st.html(_IN_THE_CORNER)
    with st.container(key=_WHO, horizontal=True, vertical_alignment="center", gap="small", width="content"):
        st.text(f"{name} ·", width="content")
        st.button(button_label, type="tertiary", on_click=sign_out)
