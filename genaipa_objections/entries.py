"""What this package brings: a command below `genaipa scores`, and a page of the desk."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from genaipa.cli.terminal.headings import PackageCommand
from genaipa.errors import GenaipaError
from genaipa.ui.desk_page import DeskPage

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

COMMAND = PackageCommand("genaipa_objections.command:app")


def has_objections_page(desk: Desk, user: User) -> bool:
    """Tell whether there are objections that this user may settle."""
    from genaipa_objections.page import list_objections_to_desk_answers

    if not user.adjudicates:
        return False
    with contextlib.suppress(GenaipaError):
        desk.current.read_new_events()
    return bool(list_objections_to_desk_answers(desk))


PAGE = DeskPage("Objections", "genaipa_objections.page", has_objections_page, after="adjudicate")
