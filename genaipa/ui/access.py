"""Who a visitor is and what they may do at the desk; where they may not, a sentence that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.scoring.people import FILE
from genaipa.ui.desk import Visitor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from genaipa.scoring.people import People


def check_lists(people: People, *, login: bool) -> None:
    """A UsageError where people log in and nobody is listed, so that nobody could do anything."""
    if login and not people.analysts and not people.adjudicators:
        raise UsageError(
            f"people log in at this desk, and {FILE} does not say who may score: list their e-mail addresses there, "
            "as analysts: […] and adjudicators: […]."
        )


def admit(given: str, people: People, known: Iterable[str], *, login: bool) -> Visitor:
    """The visitor who gives this name, or logged in with this e-mail address; a UsageError for whom nothing is open.

    `known` are the names under which scores are kept already: whoever gives one of them in another spelling is the
    same person.
    """
    name = people.who(given, known)
    visitor = Visitor(name, people.may_score(name, login=login), adjudicates=people.may_adjudicate(name, login=login))
    if not visitor.scores and not visitor.adjudicates:
        raise UsageError(
            f"{name} is neither an analyst nor an adjudicator of this study; "
            f"whoever keeps the study can add this {'address' if login else 'name'} to its {FILE}."
        )
    return visitor


def logged_in_as(claims: Mapping[str, object]) -> str:
    """The e-mail address that a login vouches for; a UsageError if it vouches for none."""
    email = claims.get("email")
    if not isinstance(email, str) or not email.strip():
        raise UsageError("the login gave no e-mail address, and the desk knows people by theirs.")
    # Some providers send it as a text.
    if str(claims.get("email_verified")).strip().casefold() == "false":
        raise UsageError(f"the login says that {email} is not verified, so that it could be anybody's.")
    return email


def why_no_scores(visitor: Visitor) -> str:
    """Why this visitor gives no scores; empty if they do."""
    return "" if visitor.scores else f"{visitor.name} adjudicates in this study, and is not one of its analysts."


def why_no_adjudication(visitor: Visitor) -> str:
    """Why this visitor settles nothing; empty if they do."""
    return "" if visitor.adjudicates else f"{visitor.name} scores in this study, and is not one of its adjudicators."
