"""The seam for pages of the desk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

ENTRY_POINTS = "genaipa.pages"
"""Entry points: path in the address of a page → its `DeskPage`."""


@dataclass(frozen=True)
class DeskPage:
    """A page that a package brings; `module` has the function `show_page` of a desk and a user, as the desk's own have.

    It is listed after the page with the path `after`, for a user of whom `is_wanted` says that it has something.
    """

    title: str
    module: str
    is_wanted: Callable[[Desk, User], bool]
    after: str = ""
