"""Quality of the judges: their agreement with people, their leniency, and whether one may take a person's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.chapters.chapter import Chapter, drawn, present
from genaipa.reports.figures import judged
from genaipa.reports.figures.judged import alone_figures
from genaipa.reports.judged import quality
from genaipa.reports.judged.beside import beside
from genaipa.reports.judged.quality import agreement_apart, alternative, answer_groups, findings, leniency
from genaipa.reports.judged.verdicts import LEAST, Verdicts
from genaipa.reports.points import judged_rates, judges_agreement

if TYPE_CHECKING:
    from genaipa.reports.figures.figure import Scope
    from genaipa.reports.gather import Gathered
    from genaipa.reports.table import Table

_METHOD = """A judge&rsquo;s agreement with people is Krippendorff&rsquo;s alpha, as that of analysts, between two
sides: a judge&rsquo;s passes, and the people who scored an answer. Whether it may take a person&rsquo;s place is asked
by the alternative annotator test <a href="#calderon-2025">[Calderon, Reichart and Dror, 2025]</a>."""
_REFERENCES = {
    "calderon-2025": "N. Calderon, R. Reichart and R. Dror: The Alternative Annotator Test for LLM-as-a-Judge: How to "
    "Statistically Justify Replacing Human Annotators with LLMs. ACL 2025."
}


def chapter(gathered: Gathered, scope: Scope) -> Chapter:
    """The judges beside people; nothing where no judge has scored an answer."""
    given = Verdicts.of(gathered)
    if not given:
        return Chapter("judges", "How good the judges are", "")
    agreed, lenient, tested = quality.agreement(given), leniency(given, gathered.frame), alternative(given)
    found = findings(given, agreed, lenient, tested)
    enough = [judge for judge, both in given.both.items() if both.sum() >= LEAST]
    apart = agreement_apart(given, answer_groups(gathered))
    tables = (
        [
            agreed,
            apart,
            judges_agreement(gathered, given),
            lenient,
            quality.confusion(given),
            quality.drift(given),
            tested,
        ]
        if enough
        else []
    )
    if not gathered.frame["counted"].any():
        # Else it is beside people's averages.
        tables.append(beside(gathered.frame))
    points = {
        judge: [side.means[given.both[judge], 0] for side in (given.people, given.judges[judge])] for judge in enough
    }
    return Chapter(
        "judges",
        "How good the judges are",
        "A judge is a system in the role of a scorer. How far its verdicts agree with people's scores, and how far "
        f"people agree with each other; nothing is said below {LEAST} answers scored by both.",
        present(found, *tables, judged_rates(gathered, given)),
        [
            *alone_figures(given, gathered.frame, scope),
            *drawn(judged.agreement_figure(agreed)),
            *judged.leniency_figures(lenient, scope),
            *drawn(judged.scatter_figure(points, _correlations(agreed))),
        ],
        _absent(given),
        method=_METHOD,
        references=_REFERENCES,
        first=(found.name,),
    )


def _correlations(agreed: Table) -> dict[str, str]:
    """Judge → r of its M_all with people's, as it is written into a figure."""
    data = agreed.data[(agreed.data["measure"] == "M_all") & agreed.data["r"].notna()]
    return {row["judge"]: f"r = {row['r']:.2f}, n = {row['answers']}" for row in data.to_dict("records")}


def _absent(given: Verdicts) -> list[str]:
    """Sentences on what is not shown."""
    most = max(int(both.sum()) for both in given.both.values())
    if LEAST <= most < 2 * LEAST:
        return [
            f"Drift is not shown: it takes {2 * LEAST} answers that people and a judge scored, and there are {most}."
        ]
    return []
