"""M_all: by question, in five numbers, by where questions come from, and which are easy (paper, sections 6 and 7)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import pandas as pd

from genaipa.reports import aggregate as cells
from genaipa.reports import bootstrap as certainty
from genaipa.reports.tables import averages
from genaipa.reports.tables.columns import table

if TYPE_CHECKING:
    from genaipa.reports.table import Table


def points(frame: pd.DataFrame) -> Table:
    """M_all of every question about every document: the points behind the box plots."""
    return table(
        "scores-by-question",
        "M_all of every question about every document",
        "M_all times 10 (10 to 100), averaged over the answers to a question about a document, and over the scores of "
        "each; `answers` and `scores` say how many there are (a published score counts as one of each). Questions that "
        "nobody scored are not here (paper, section 5).",
        cells.by_document(averages.policy_cells(frame)),
        ("system", "experiment", "document", "question", "category", "source", *_SCORED),
        headings={"silent": "document silent"},
    )


_SCORED = ("silent", "m_all10", "answers", "scores")


def five_numbers(frame: pd.DataFrame) -> Table:
    """Minimum, quartiles, median, maximum and mean of M_all over questions, by document."""
    found = cells.by_document(averages.policy_cells(frame))
    by = ["system", "experiment", "document"]
    rows = [
        {**dict(zip(by, key, strict=True)), "questions": group, **_five_numbers(some["m_all10"]), **mean}
        for key, those in found.groupby(by, observed=True, sort=True)
        for group, some in averages.groups_of_questions(those)
        for mean in [averages.mean_of(some, "m_all10")]
    ]
    columns = [*by, "questions", "n", *_FIVE, "mean", "low", "high"]
    data = pd.DataFrame(rows, columns=columns)
    return table(
        "five-numbers",
        "Scores by document, in five numbers",
        "M_all times 10 (10 to 100) over the n questions asked about a document, and over those from FAQs and those of "
        "users: minimum, quartiles (interpolated linearly), maximum, and the mean with its interval (paper, figures "
        f"2a, 3a, 4a and 6a). {certainty.in_words}{averages.how_few(data['n'])}",
        data,
        columns,
        formats=dict.fromkeys(_FIVE, ".2f"),
    )


_FIVE = ("minimum", "q1", "median", "q3", "maximum")


def _five_numbers(values: pd.Series) -> dict[str, float]:
    return dict(zip(_FIVE, values.quantile([0, 0.25, 0.5, 0.75, 1]).tolist(), strict=True))


def by_source(frame: pd.DataFrame) -> Table:
    """M_all over questions from FAQs and over those of users, by system."""
    found = averages.policy_questions(frame).dropna(subset="m_all10")
    rows = [
        {"system": system, "questions": group, **averages.mean_of(some, "m_all10")}
        for system, those in found.groupby("system", observed=True, sort=True)
        for group, some in averages.groups_of_questions(those)
        if group != "all"
    ]
    columns = ["system", "questions", "n", "mean", "low", "high"]
    data = pd.DataFrame(rows, columns=columns)
    return table(
        "faq-against-user",
        "Questions from FAQs and questions of users",
        "M_all times 10 (10 to 100): each question's mean over the experiments that it is scored in, each a mean over "
        "documents, averaged over questions; n is the number of questions (paper, section 7). Experiments: "
        f"{_named(found['experiment'])}. {certainty.in_words}{averages.how_few(data['n'])}"
        f"{averages.not_alike(frame, found)}",
        data,
        columns,
    )


_OVER_DOCUMENTS = certainty.in_words.replace("question", "document")


def easiest_and_hardest(frame: pd.DataFrame, most: int = 5) -> Table:
    """The questions with the highest and the lowest M_all, and the documents that are silent on them.

    No question is among both, so that there are fewer of each where there are fewer than twice as many questions. A
    question that lacks a system or an experiment has no part, unless all do.
    """
    scored, lacking = _complete(_for_every_document(averages.policy_cells(frame)))
    found = averages.summed_up(
        scored, ["question"], lambda rows: averages.mean_over(rows, "m_all", ["system", "experiment"], "document")
    )
    columns = ["end", "rank", "question", "mean", "low", "high", "n", "silent"]
    data = pd.DataFrame(columns=columns)
    if len(found):
        silent = _silent(frame)
        # A published mean over documents alone doesn't say over how many.
        if not scored["document"].ne("").any():
            found["n"] = 0
        found["silent"] = [silent.get(question, "") for question in found["question"]]
        easiest = found.sort_values("mean", ascending=False, kind="stable").head(min(most, ceil(len(found) / 2)))
        hardest = found.sort_values("mean", kind="stable").head(min(most, len(found) // 2))
        ends = (("easiest", 1, easiest), ("hardest", -1, hardest))
        data = pd.concat([rows.assign(end=end, rank=averages.places(sign * rows["mean"])) for end, sign, rows in ends])
    return table(
        "easiest-and-hardest",
        "The easiest and the hardest questions",
        "M_all (1 to 10), averaged over the n documents, which is what the intervals resample, and then over systems "
        "and the original question and its paraphrases; where a study published only a mean over documents, it "
        "stands for each of them, and n is 0 where there is nothing else. Beside it the documents that are silent on "
        f"the question by their annotated answers (paper, section 7, table 2). Of equals the first in the order of "
        f"the questions are shown. {lacking}{_OVER_DOCUMENTS}"
        f"{averages.how_few(data['n'], 'documents')}",
        data,
        columns,
        formats=dict.fromkeys(("mean", "low", "high"), ".2f"),
    )


def _for_every_document(found: pd.DataFrame) -> pd.DataFrame:
    """The cells of questions and their paraphrases; a published mean over documents is given to each document."""
    asked = found[found["experiment"].isin(["quality", "robustness"]) & found["m_all"].notna()]
    single = asked[asked["document"] != ""]
    keys = ["system", "experiment", "question"]
    whole = asked[asked["document"] == ""].merge(single[keys].drop_duplicates(), on=keys, how="left", indicator=True)
    whole = whole[whole["_merge"] == "left_only"].drop(columns="_merge")
    documents = [name for name in single["document"].unique() if name] or [""]
    return pd.concat([single, *(whole.assign(document=name) for name in documents)], ignore_index=True)


def _complete(scored: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """The cells of the questions that have a score of every system in every experiment that it has any in.

    And a sentence on the others. Where no question has them all, the cells of every question.
    """
    both = scored["system"].astype("str") + "\n" + scored["experiment"].astype("str")
    has = both.groupby(scored["question"], observed=True).nunique()
    complete = has[has == both.nunique()].index
    if len(complete) == len(has):
        return scored, ""
    if complete.empty:
        return scored, "No question has scores of every system in every experiment: a place may be due to that. "
    lacking = len(has) - len(complete)
    said = f"Left out: {lacking} of {len(has)} questions, which lack scores of a system in an experiment. "
    return scored[scored["question"].isin(complete)], said


def _silent(frame: pd.DataFrame) -> dict[str, str]:
    """Question → the documents that are silent on it: their names, or "none" or "all"; without those not known."""
    known = averages.about_policies(frame)
    known = known[known["silent"].isin(["yes", "no"])].drop_duplicates(["question", "document"])
    found = {}
    for question, rows in known.groupby("question", observed=True, sort=True):
        names = sorted(rows.loc[rows["silent"] == "yes", "document"])
        found[str(question)] = ("all" if len(names) == len(rows) else ", ".join(names)) if names else "none"
    return found


def documents_ranked(frame: pd.DataFrame) -> Table:
    """Documents by their M_all over all systems, experiments and questions."""
    scored = cells.by_document(averages.policy_cells(frame))
    columns = ["rank", "document", "n", "mean", "low", "high"]
    found = averages.summed_up(scored, ["document"], lambda rows: averages.mean_of(rows, "m_all10"))
    data = pd.DataFrame(columns=columns)
    if len(found):
        data = found.sort_values("mean", ascending=False, kind="stable")
        data["rank"] = averages.places(data["mean"])
    return table(
        "documents-ranked",
        "Documents, the best answered first",
        "M_all times 10 (10 to 100) over all systems, experiments and questions; n is the number of questions (paper, "
        f"section 7). {_unequal(scored)}{certainty.in_words}{averages.how_few(data['n'])}",
        data,
        columns,
    )


def _unequal(scored: pd.DataFrame) -> str:
    """A sentence where documents differ in what was scored about them."""
    asked = {
        frozenset(zip(rows["system"], rows["experiment"], rows["question"], strict=True))
        for _, rows in scored.groupby("document", observed=True)
    }
    if len(asked) < 2:  # noqa: PLR2004 - one and the same for all
        return ""
    return (
        "Not every document has scores of the same systems, experiments and questions, so that a place may be due to "
        "these. "
    )


def _named(experiments: pd.Series) -> str:
    return ", ".join(experiments.cat.remove_unused_categories().cat.categories) or "none"
