"""What the desk does to the scores given at it: a chapter of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.chapters.chapter import Chapter, ChapterMaker, nonempty_tables
from genaipa_influence.tables import (
    collect_scores_recording_aids,
    describe_aids_with_too_few_scores,
    describe_significant_aid_effects,
    estimate_and_adjust_aid_effects_on_m_all,
    tabulate_aid_effects_by_metric,
    tabulate_aid_effects_by_system,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope

_METHOD = """The influence of the desk is the effect of each aid on the scores from which chance did not withhold it,
adjusted for analyst and system, with an interval that is robust and clustered
<a href="#bell-2002">[Bell and McCaffrey, 2002]</a>."""
_REFERENCES = {
    "bell-2002": "R. M. Bell, D. F. McCaffrey: Bias Reduction in Standard Errors for Linear Regression with "
    "Multi-Stage Samples. Survey Methodology 28, 2002."
}


class InfluenceChapter(ChapterMaker):
    """The effect of each aid of the desk on values and seconds."""

    needs = frozenset({"aids"})
    needs_scores = True
    after = "agreement"

    def make(self, study: Study, scope: FigureScope) -> Chapter | None:  # noqa: ARG002 - without figures
        """Make the chapter; None where no score records which aids were withheld."""
        scores = collect_scores_recording_aids(study)
        if scores.frame.empty:
            return None
        movements = estimate_and_adjust_aid_effects_on_m_all(scores, study.rubric.metrics)
        influence = tabulate_aid_effects_by_system(scores, movements)
        return Chapter(
            "influence",
            "Influence of the desk",
            "What the desk shows beside an answer may lead whoever scores it. Turn off whatever moves values.",
            nonempty_tables(influence, tabulate_aid_effects_by_metric(scores, movements, study)),
            absent=[*filter(None, [describe_aids_with_too_few_scores(movements)])],
            method=_METHOD,
            references=_REFERENCES,
        )

    def notable(self, study: Study) -> Iterable[str]:
        """Return a sentence for each aid that moves values."""
        if not study.has_any_value_of_each_fact("aids"):
            return []
        scores = collect_scores_recording_aids(study)
        return list(
            describe_significant_aid_effects(
                scores, estimate_and_adjust_aid_effects_on_m_all(scores, study.rubric.metrics), study
            )
        )
