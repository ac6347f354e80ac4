"""Who may do what at the desk, and what those who may not are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import write

from genaipa.errors import DataError, UsageError
from genaipa.scoring.people import People, User
from genaipa.ui.settings import load_or_create_desk_key_in_user_state, read_login, require_email_not_marked_unverified
from genaipa.workspace import find_workspace

STUDY = People(analysts=("anna@example.org", "Bo"), adjudicators=("anna@example.org", "cy@example.org"))


@pytest.mark.parametrize(
    ("given", "user"),
    [
        ("anna@example.org", User("anna@example.org", scores=True, adjudicates=True)),
        ("Bo", User("Bo", scores=True, adjudicates=False)),
        ("cy@example.org", User("cy@example.org", scores=False, adjudicates=True)),
    ],
)
@pytest.mark.parametrize("login", [False, True])
def test_lists_hold(given: str, user: User, login: bool) -> None:
    """Where people are listed, each does what they are listed for, with a login and without."""
    assert STUDY.admit_user(given, (), requires_login=login) == user


@pytest.mark.parametrize(("login", "what"), [(False, "name"), (True, "address")])
def test_unlisted_are_told(login: bool, what: str) -> None:
    """Whoever is on no list of a study is told so, and who can change that."""
    with pytest.raises(UsageError, match=f"dee@example.org is neither.*add this {what} to desk.yaml"):
        STUDY.admit_user("dee@example.org", (), requires_login=login)


def test_anyone_without_lists() -> None:
    """A desk without lists and without a login is open to whoever gives a name."""
    assert People().admit_user("Dee", (), requires_login=False) == User("Dee", scores=True, adjudicates=True)


def test_the_reference_is_nobody_unless_listed() -> None:
    """Nobody takes the name whose scores new analysts compare theirs with, unless the study gives it to somebody."""
    for name in ("reference", "Reference "):
        with pytest.raises(UsageError, match=r"list this one in desk\.yaml: reference: \[reference\]"):
            People().admit_user(name, ("reference",), requires_login=False)
    listed = People(analysts=("Bo",), listed_reference=("reference",))
    assert listed.admit_user("reference", (), requires_login=False).scores


def test_login_wants_lists() -> None:
    """A login proves who somebody is; that they belong to the study has to be written down."""
    with pytest.raises(UsageError, match=r"desk\.yaml does not say who may score"):
        People().check_someone_is_listed()
    with pytest.raises(UsageError, match="neither an analyst nor an adjudicator"):
        People().admit_user("dee@example.org", (), requires_login=True)
    People(analysts=("dee@example.org",)).check_someone_is_listed()


def test_one_person_one_name() -> None:
    """Another spelling of a listed name, or of one that has scored, is the same person."""
    assert STUDY.admit_user(" ANNA@Example.org ", (), requires_login=True).name == "anna@example.org"
    assert People().admit_user("zoë", ("Zoë",), requires_login=False).name == "Zoë"


@pytest.mark.parametrize("given", ["", "  ", "x" * 101, "a\x07b", "a\u202eb"])
def test_no_name(given: str) -> None:
    """What can't be a name is refused before anything is kept under it."""
    with pytest.raises(UsageError, match="name"):
        People().admit_user(given, (), requires_login=False)


def test_whom_a_login_vouches_for() -> None:
    """People are known by an e-mail address that the login stands for, and by nothing else that it says."""
    assert (
        require_email_not_marked_unverified({"email": "anna@example.org", "email_verified": True, "name": "Bo"})
        == "anna@example.org"
    )
    assert require_email_not_marked_unverified({"email": "anna@example.org"}) == "anna@example.org"
    assert (
        require_email_not_marked_unverified({"email": "anna@example.org", "email_verified": "true"})
        == "anna@example.org"
    )
    for unverified in (False, "false", "False"):
        with pytest.raises(UsageError, match=r"anna@example\.org is not verified"):
            require_email_not_marked_unverified({"email": "anna@example.org", "email_verified": unverified})
    for claims in ({"name": "Bo"}, {"email": ""}, {"email": None}):
        with pytest.raises(UsageError, match="gave no e-mail address"):
            require_email_not_marked_unverified(claims)


def test_why_not() -> None:
    """A user who may do one thing is told why they can't do the other."""
    analyst, adjudicator = (User("Bo", scores, not scores) for scores in (True, False))
    assert analyst.reason_user_may_not_score_or_empty == adjudicator.reason_user_may_not_adjudicate_or_empty == ""
    assert analyst.reason_user_may_not_adjudicate_or_empty == "Bo is an analyst of this study, not an adjudicator."
    assert adjudicator.reason_user_may_not_score_or_empty == "Bo is an adjudicator of this study, not an analyst."


PROVIDER = """client_id = "desk"
client_secret = "Recognise7this8secret"
server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""
AUTH = """[auth]
redirect_uri = "http://localhost:{port}/oauth2callback"
cookie_secret = "Recognise7this8secret"
"""
SECRETS = ".streamlit/secrets.toml"


def test_a_key_that_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a home takes no file, the address that is printed still has the key that the gate asks for."""
    monkeypatch.setenv("XDG_STATE_HOME", "/sys")
    assert load_or_create_desk_key_in_user_state(Path.cwd()) == load_or_create_desk_key_in_user_state(Path.cwd())


def test_no_login() -> None:
    """Without an [auth] section nobody logs in."""
    assert read_login(find_workspace()) is None
    write(SECRETS, "[connections.scores]\nurl = 'x'\n")
    assert read_login(find_workspace()) is None


@pytest.mark.parametrize(
    ("text", "providers"),
    [
        (AUTH + PROVIDER, ("",)),
        (AUTH + "[auth.uni]\n" + PROVIDER + "[auth.lab]\n" + PROVIDER, ("uni", "lab")),
        (AUTH + PROVIDER + "[auth.client_kwargs]\nscope = 'openid email'\n", ("",)),
        (AUTH + PROVIDER + "[auth.lab]\n" + PROVIDER, ("", "lab")),
    ],
)
def test_login(text: str, providers: tuple[str, ...]) -> None:
    """One provider or several by name, as Streamlit has them, and the address at which people open the desk."""
    write(SECRETS, text)
    login = read_login(find_workspace())
    assert login is not None
    assert login.providers == providers
    assert login.desk_url(8502) == "http://localhost:8502"


def test_login_from_home() -> None:
    """A person's own secrets count where the workspace has none, and the workspace's come first."""
    from pathlib import Path

    write(str(Path.home() / SECRETS), AUTH + PROVIDER)
    login = read_login(find_workspace())
    assert login is not None
    write(SECRETS, (AUTH + PROVIDER).replace("localhost:{port}", "desk.example.org"))
    login = read_login(find_workspace())
    assert login is not None
    assert login.desk_url(8502) == "http://desk.example.org"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (AUTH, r"\[auth\]: the key 'client_id' is missing"),
        (AUTH.replace("cookie_secret", "cookie") + PROVIDER, r"\[auth\]: the key 'cookie_secret' is missing"),
        (AUTH + "[auth.uni]\nclient_id = 'desk'\n", r"\[auth.uni\]: the key 'client_secret' is missing"),
        ((AUTH + PROVIDER).replace("http://localhost:{port}", "localhost"), "redirect_uri: is not a valid address"),
        ((AUTH + PROVIDER).replace("/oauth2callback", "/callback"), "redirect_uri: is not a valid address"),
        ("auth = 'Recognise7this8secret'\n", "auth: is not a section"),
        ("[auth\nx = 'Recognise7this8secret'\n", "is not TOML"),
    ],
)
def test_broken_login(text: str, told: str) -> None:
    """A login that could not work is told of before anyone sits down, and never as no login; no secret is shown."""
    write(SECRETS, text)
    with pytest.raises(DataError, match=told) as error:
        read_login(find_workspace())
    assert SECRETS in str(error.value)
    assert "Recognise7" not in str(error.value)
