"""The desk's seam for packages: what one shows beside an answer, and what it makes of what is done there.

A panel is an object, found by an entry point of the group `genaipa.panels`, whose name is the panel's. Its script puts
a subclass of `Panel` (`components/panel.js`) under that name.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar

from genaipa.plugins import load_entry_points_of_type

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.scoring.answers import ScoringCase
    from genaipa.scoring.assignment import ScoringPlan
    from genaipa.scoring.events import Draft, Event
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.ui.desk import Desk

GROUP = "genaipa.panels"


class Panel:
    """What a package shows at the desk. Every method may be left out.

    Nothing of a panel may tell whose answer it is, or what others gave, where `scores` is empty.
    """

    script: ClassVar[str] = ""
    """A JavaScript file beside the class's module; a style sheet of its name beside it comes along."""

    def is_enabled(self, plan: ScoringPlan) -> bool:  # noqa: ARG002 - for panels that a plan turns on
        """Tell whether a study with this plan has the panel."""
        return True

    def make_script_data(
        self,
        case: ScoringCase,  # noqa: ARG002
        rubric: Rubric,  # noqa: ARG002
        scores: Sequence[Event] = (),  # noqa: ARG002
    ) -> dict[str, Any] | None:
        """Return the data of an answer for the script; None where the panel has nothing to show.

        At the adjudication the analysts' `scores` are given, in the order in which they stand side by side.
        """
        return None

    def list_linked_section_labels(self, case: ScoringCase) -> Sequence[str]:  # noqa: ARG002
        """Name the sections that the script leads to, as annotated answers name them."""
        return ()

    def update_draft(self, case: ScoringCase, browser_data: Mapping[str, Any], draft: Draft) -> Draft:  # noqa: ARG002
        """Return the draft with what the script sent; a ValueError refuses that."""
        return draft

    def suggest_value_by_metric(self, case: ScoringCase, rubric: Rubric, draft: Draft) -> Mapping[str, float]:  # noqa: ARG002
        """Return the values that the script suggested with this draft, by metric."""
        return {}

    def show_score_comparison(self, case: ScoringCase, scores: Sequence[Event], key_prefix: str) -> None:
        """Show beneath an answer's scores what these events say of it.

        `key_prefix` begins the keys of what is mounted.
        """

    def show_agreement(self, desk: Desk, user: User) -> None:
        """Show the panel's part of the page Agreement."""


def load_panels_enabled_by_plan(plan: ScoringPlan | None = None) -> dict[str, Panel]:
    """Return the panels of the installed packages by name, with a plan those that are on."""
    return {
        name: panel
        for name, panel in load_entry_points_of_type(GROUP, Panel).items()
        if plan is None or panel.is_enabled(plan)
    }


def read_panel_scripts_and_styles() -> tuple[str, str]:
    """Return the scripts of all panels, each in a scope of its own, and their styles."""
    scripts = [_read_panel_file_if_present(panel, panel.script) for panel in load_panels_enabled_by_plan().values()]
    styles = [
        _read_panel_file_if_present(panel, f"{panel.script.removesuffix('.js')}.css")
        for panel in load_panels_enabled_by_plan().values()
    ]
    return "".join(f"{{\n{script}}}\n" for script in scripts if script), "".join(styles)


def _read_panel_file_if_present(panel: Panel, file_name: str) -> str:
    file = files(type(panel).__module__.rpartition(".")[0] or type(panel).__module__) / file_name
    return file.read_text(encoding="utf-8") if panel.script and file.is_file() else ""
