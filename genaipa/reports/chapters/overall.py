"""The overall quality: systems ranked by M_all, and by where the questions come from (paper, sections 6 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import pandas as pd

from genaipa.reports import averages, matches, part
from genaipa.reports.averages import BOTH, INTERVALS
from genaipa.reports.chapters import documents, prompting
from genaipa.reports.chapters.chapter import Chapter, drawn, present
from genaipa.reports.figures import overview
from genaipa.reports.figures.figure import Scope
from genaipa.reports.judged.beside import beside, forecasts, measures_of
from genaipa.reports.judged.estimate import estimated, with_estimates
from genaipa.reports.part import enough, lacking, left_out, thin, too_few
from genaipa.reports.table import Table, table
from genaipa.runs.experiments import EXPERIMENTS, StudyExperiment
from genaipa.words import number

if TYPE_CHECKING:
    from genaipa.reports.gather import Gathered

_EXPERIMENTS = [name for name in get_args(StudyExperiment) if EXPERIMENTS[name].kind != "regulation"]
_BY = ["system", "experiment"]


def board(frame: pd.DataFrame) -> Table:
    """Systems by the mean over questions of their means over experiments, the best first.

    Experiments with too few scores and no finished wave (`thin`) are left blank, and don't count: a handful
    that shares its texts with answers scored elsewhere is not a sample. Where averages rest on a part of the answers,
    people see the column `scored`, which says on which part.
    """
    few = thin(frame)
    frame = enough(frame)
    policies, (shown, said) = averages.about_policies(frame), with_estimates(frame)
    found = averages.policy_questions(shown).dropna(subset="m_all10")
    cells = averages.weighted(shown, "m_all10")
    data = averages.summed_up(cells, ["system"], lambda rows: averages.mean_of(rows, "m_all10"))
    others = [name for name in found["experiment"].cat.categories if name in set(found["experiment"])]
    columns = ["rank", "system", "m_all10", *BOTH, *dict.fromkeys((*_EXPERIMENTS, *others))]
    judged = _judged(frame)
    partial = part.is_partial(policies) or bool(judged)
    columns += ["answers", *(["scored"] if partial else []), "scored_by"]
    if len(data):
        means = found.pivot_table(index="system", columns="experiment", values="m_all10", observed=True)
        data = data.rename(columns={"mean": "m_all10"}).merge(means.reset_index(), on="system")
        data = data.merge(_basis(frame), on="system")
        data["scored"] = data["system"].map(part.of_systems(policies) | judged)
        each = averages.summed_up(cells, _BY, lambda rows: averages.mean_of(rows, "m_all10"))
        for name, rows in each.groupby("experiment", observed=True):
            sure = rows[["system", *BOTH[:-1]]].rename(columns={end: f"{name}_{end}" for end in BOTH[:-1]})
            data = data.merge(sure, on="system", how="left")
        data = data.sort_values("m_all10", ascending=False, kind="stable")
        data["rank"] = averages.places(data["m_all10"])
    made = table(
        "leaderboard",
        "Leaderboard",
        "Systems by M_all (10 to 100): each question's mean over the experiments that it is scored in, each "
        "a mean over documents, averaged over questions. An experiment's own column averages its questions. `answers` "
        "is how many answers, or published scores, this rests on. The intervals are for one system; whether two "
        "differ is what `genaipa compare` says (paper, sections 6 and 7), by averages over what both have alone, which "
        "may be others than these. Those of an experiment are in CSV and JSON. "
        f"{INTERVALS}{averages.few_documents(data)}{left_out(few)}{averages.not_alike(shown, found)}"
        f"{part.in_words(policies)}{said}",
        data,
        columns,
        formats=dict.fromkeys((*_EXPERIMENTS, *others), ".1f"),
        aside=[
            *([] if partial else ["scored"]),
            *(f"{name}_{end}" for name in dict.fromkeys((*_EXPERIMENTS, *others)) for end in BOTH[:-1]),
        ],
    )
    return prompting.marked(made, averages.about_policies(frame[frame["counted"]]))


def unlike(frame: pd.DataFrame) -> str:
    """A sentence where systems of a leaderboard were scored on different questions or documents; else empty."""
    shown = with_estimates(enough(frame))[0]
    if not averages.are_unlike(shown, averages.policy_questions(shown).dropna(subset="m_all10")):
        return ""
    return (
        "Systems were scored on different questions and documents: compare them by their differences, which rest on "
        "what both have, and not by their averages."
    )


def _basis(frame: pd.DataFrame) -> pd.DataFrame:
    """For each system, how many answers or published scores its averages rest on, and who gave the scores."""
    rows = averages.about_policies(frame[frame["counted"]])
    return averages.summed_up(rows, ["system"], lambda own: {"answers": _answers(own), "scored_by": _scored_by(own)})


def _answers(rows: pd.DataFrame) -> int:
    """A published mean over documents counts only where its question has nothing of its own."""
    single = rows[rows["document"] != ""]
    keys = ["experiment", "question"]
    whole = rows.loc[rows["document"] == "", keys].drop_duplicates()
    alone = whole.merge(single[keys].drop_duplicates(), on=keys, how="left", indicator=True)["_merge"] == "left_only"
    published = int((single["unit"] == "table").sum())
    return len(single.loc[single["unit"] == "answer"].drop_duplicates(["run", "key"])) + published + int(alone.sum())


def _scored_by(rows: pd.DataFrame) -> str:
    analysts = rows.loc[rows["unit"] == "answer", "analyst"].nunique()
    people = number(analysts, "analyst")
    if (rows["unit"] == "table").any():
        return f"published, {people}" if analysts else "published"
    return people


def _judged(frame: pd.DataFrame) -> dict[str, str]:
    """The basis of each system's estimates, where it has any."""
    found = estimated(frame)
    return {} if found is None else {name: found.basis(name) for name in found.given["system"].unique()}


def who_scored(frame: pd.DataFrame) -> Table:
    """Show how far each system's average depends on who scored."""
    columns = ["system", "analysts", "mean", "policies_low", "policies_high", "analysts_low", "analysts_high"]
    columns += ["least", "most", "why"]
    return table(
        "who-scored",
        "Averages and who scored them",
        "M_all (10 to 100). All other intervals are for the analysts who scored; \u201cfor analysts like "
        "these\u201d is for other policies and other analysts. The last two are the lowest and the highest average "
        "with one analyst left out.",
        averages.who_scored(frame).reindex(columns=columns),
        columns,
        headings={
            "analysts_low": "for analysts like these",
            "analysts_high": "to",
            "least": "without one",
            "most": "to",
        },
        formats=dict.fromkeys(("analysts_low", "analysts_high", "least", "most"), ".1f"),
    )


def by_source(frame: pd.DataFrame) -> Table:
    """M_all over questions from FAQs and over users' questions, by system."""
    frame, said = with_estimates(frame)
    found = averages.policy_questions(frame).dropna(subset="m_all10")
    rows = [
        {"system": system, "questions": group, **averages.mean_of(some, "m_all10")}
        for system, those in averages.weighted(frame, "m_all10").groupby("system", observed=True, sort=True)
        for group, some in averages.groups_of_questions(those)
        if group != "all"
    ]
    columns = ["system", "questions", "n", "mean", *BOTH]
    data = pd.DataFrame(rows, columns=columns)
    return table(
        "faq-against-user",
        "Questions from FAQs and questions of users",
        "M_all (10 to 100): each question's mean over the experiments that it is scored in, each a mean over "
        "documents, averaged over questions; n is the number of questions (paper, section 7). Experiments: "
        f"{_named(found)}. {averages.intervals(data)}{averages.not_alike(frame, found)}{said}",
        data,
        columns,
    )


def by_measure(frame: pd.DataFrame) -> Table:
    """M_all and each metric, by system, experiment and source of the questions, with their intervals."""
    policies, (shown, said), found = averages.about_policies(frame), with_estimates(frame), estimated(frame)
    known = {(row.system, row.experiment): str(row.part) for row in part.parts(policies).itertuples()}
    columns = ["system", "experiment", "measure", "questions", "n", "mean", *BOTH, "scored"]
    rows = [
        {"system": system, "experiment": experiment, "measure": name, "questions": group, **mean, "scored": scored}
        for measure, name in measures_of(frame).items()
        for (system, experiment), those in averages.weighted(shown, measure).groupby(_BY, observed=True, sort=True)
        for basis in [found.basis(str(system), str(experiment), measure=measure) if found else ""]
        for scored in [basis or known.get((str(system), str(experiment)), "")]
        for group, some in averages.groups_of_questions(those)
        for mean in [averages.mean_of(some, measure, None if measure == "m_all" else (-1.0, 1.0))]
    ]
    data = pd.DataFrame(rows, columns=columns)
    printed = columns if part.is_partial(policies) or said else columns[:-1]
    return table(
        "averages",
        "Averages of M_all and of each metric",
        "M_all (10 to 100) and the metrics (-1 to 1): means over n questions of their means over documents, for all "
        "questions, FAQs' and users'; `documents` is how many documents these are, 0 where a study "
        f"published only means over them (paper, section 6). {averages.intervals(data)}{said}",
        data.sort_values(["system", "experiment"], kind="stable"),
        printed,
        formats=dict.fromkeys(("mean", *BOTH[:-1]), ".2f"),
        tenfold=["mean", *BOTH[:-1]],
        aside=columns[len(printed) :],
    )


def _named(found: pd.DataFrame) -> str:
    """The experiments that means over documents are of; by system, where these differ."""
    each = {str(name): rows["experiment"] for name, rows in found.groupby("system", observed=True, sort=True)}
    names = {name: ", ".join(own.cat.remove_unused_categories().cat.categories) for name, own in each.items()}
    if len(set(names.values())) <= 1:
        return next(iter(names.values()), "none")
    return "; ".join(f"{own} ({name})" for name, own in names.items())


def chapter(gathered: Gathered, scope: Scope) -> Chapter:
    """The first picture, the leaderboard, the differences, and M_all in five numbers and by source."""
    frame = gathered.frame
    ranked, few = board(frame), too_few(frame)
    shown = overview.numbers(ranked, averages.weighted(with_estimates(enough(frame))[0], "m_all10"))
    return Chapter(
        "overall",
        "Overall quality",
        "M_all joins the metrics of an answer into one number from 10 (worst) to 100 (best).",
        present(
            *(ranked, *matches.tables(frame), who_scored(frame), lacking(frame)),
            *(beside(frame, gathered.events), forecasts(frame)),
            *(by_measure(frame), documents.five_numbers(frame), by_source(frame)),
        ),
        drawn(overview.figure(shown, scope)),
        [] if ranked or not few else [f"There is no leaderboard. {few}"],
    )
