"""`people/NAME`: a group of people who write the answers themselves."""

from __future__ import annotations

from typing import ClassVar

from genaipa.systems.provider import Provider


class PeopleSystem:
    """A group of people: there is nothing to start or to ask."""

    provider: ClassVar[Provider] = Provider(
        name="people",
        form="people/NAME",
        about="people who write answers; at the desk, or in files",
        free=True,
        by_hand="written",
        reply_form="genaipa_people.form:reserve_question_and_show_form",
    )
