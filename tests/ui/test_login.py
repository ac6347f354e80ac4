"""The desk with a login: who somebody is comes from the provider, what they may do from desk.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest
from analysts import make_answers
from desk import browsing, fork_desk, free_port, greeting, open_desk
from provider import COOKIE_SECRET, SECRET, Provider
from running import write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from desk import RunningDesk, Visitors
    from playwright.sync_api import Page

LISTS = "analysts: [anna@example.org, bo@example.org]\nadjudicators: [anna@example.org, cy@example.org]\n"


@pytest.fixture
def provider() -> Iterator[Provider]:
    """A provider, and a workspace whose desk sends people there."""
    make_answers("See section 1.")
    write("desk.yaml", LISTS)
    with Provider() as running:
        write(".streamlit/secrets.toml", running.secrets())
        yield running


def log_in(browser: Visitors, desk: RunningDesk, provider: Provider, **person: object) -> Page:
    """A tab at a machine of one's own, after the way to the provider and back."""
    provider.person = person
    page = browser.visit(desk)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("button", name="log out").or_(page.get_by_role("button", name="Log out")).wait_for()
    return page


@pytest.mark.full
def test_everyone_does_what_they_are_listed_for(provider: Provider) -> None:
    """A listed analyst scores, an adjudicator adjudicates and does nothing else, and a stranger is told why not.

    Whoever logs in stays so in a new tab, and leaves nothing open after logging out.
    """
    with browsing() as browser, fork_desk() as desk:
        bo = log_in(browser, desk, provider, email="BO@example.org", email_verified=True)
        bo.get_by_text("bo@example.org ·", exact=True).wait_for()
        assert bo.get_by_text("is not one of its").count() == 0
        bo.get_by_role("link", name="Adjudicate", exact=True).click()
        bo.get_by_text("bo@example.org is an analyst of this study, not an adjudicator.").wait_for()

        cy = log_in(browser, desk, provider, email="cy@example.org")
        cy.get_by_text("How far along are we?").wait_for()
        cy.get_by_role("link", name="Score", exact=True).click()
        cy.get_by_text("cy@example.org is an adjudicator of this study, not an analyst.").wait_for()

        dee = log_in(browser, desk, provider, email="dee@example.org", name="Anna")
        dee.get_by_text("dee@example.org is neither an analyst nor an adjudicator of this study").wait_for()
        assert dee.get_by_role("link", name="Overview", exact=True).count() == 0

        fake = log_in(browser, desk, provider, email="anna@example.org", email_verified=False)
        fake.get_by_text("anna@example.org is not verified").wait_for()
        assert fake.get_by_role("link", name="Overview", exact=True).count() == 0

        page = log_in(browser, desk, provider, email="anna@example.org")
        again = browser.visit(desk, machine=page.context)
        again.get_by_text("anna@example.org ·", exact=True).wait_for()
        again.get_by_role("button", name="log out").click()
        again.get_by_role("button", name="Log in").wait_for()
        late = browser.visit(desk, machine=page.context)
        late.get_by_role("button", name="Log in").wait_for()

        assert browser.strangers == []
        assert provider.refused == []
    assert SECRET not in desk.printed
    assert COOKIE_SECRET not in desk.printed


@pytest.mark.full
def test_nothing_without_login(provider: Provider) -> None:
    """Nobody gets past a login by a name that they give, nor by changing the secrets while the desk is open."""
    with browsing() as browser, fork_desk() as desk:
        machine = browser.machine()
        machine.add_cookies([{"name": "genaipa_name", "value": "anna@example.org", "url": desk.url}])
        page = browser.visit(desk, machine=machine)
        page.get_by_role("button", name="Log in").wait_for()
        assert page.get_by_label("Your name").count() == 0
        assert page.get_by_role("link", name="Overview", exact=True).count() == 0
        write(".streamlit/secrets.toml", "")
        page.goto(f"{desk.url}/overview")
        page.get_by_role("button", name="Log in").wait_for()
        assert page.get_by_label("Your name").count() == 0


@pytest.mark.full
def test_address_of_the_login(provider: Provider) -> None:
    """The address that the command names is the one to which a login comes back; that others read secrets is said."""
    port = free_port()
    write(".streamlit/secrets.toml", provider.secrets(port).replace("http://127.0.0.1", "http://localhost"))
    with open_desk(port=port) as desk:
        assert desk.stop() == 0
    assert "chmod 600" in desk.printed, "others can read the secrets"
    assert f"The desk is open at http://localhost:{port} " in desk.printed


@pytest.mark.full
def test_behind_tls(provider: Provider) -> None:
    """At an address with https every cookie is for https alone, and so is the page that may open the desk."""
    host = "desk.example.org"
    write(".streamlit/secrets.toml", provider.secrets().replace("http://127.0.0.1:{port}", f"https://{host}:443"))
    with fork_desk() as desk:
        own = f"https://{host}"
        strangers = (f"http://{host}", f"https://{host}:444", "https://elsewhere.example", "null")
        assert greeting(desk.port, host, own) == "101"
        assert [greeting(desk.port, host, other) for other in strangers] == ["403"] * len(strangers)
        with httpx2.Client(base_url=f"http://127.0.0.1:{desk.port}", headers={"Host": host}) as browser:
            cookies = browser.get("/_stcore/health").headers.get_list("set-cookie")
            cookies += browser.get("/auth/logout").headers.get_list("set-cookie")
    assert len(cookies) >= 3
    assert [cookie for cookie in cookies if "; secure" not in cookie.lower()] == []
