"""People beside the systems: how many wrote, and what their averages hold for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.reports.chapters.chapter import Chapter, ChapterMaker
from genaipa.reports.conduct import describe_scores_not_blind
from genaipa.reports.table import Table, make_table
from genaipa.systems.provider import shorten_system_names
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from genaipa.answers.study import Study
    from genaipa.reports.figures.figure import FigureScope


class PeopleChapter(ChapterMaker):
    """The people who wrote answers, and the sentence on how many they are beside all of their numbers."""

    needs = frozenset({"authors"})
    after = "cost"

    def make(self, study: Study, _scope: FigureScope) -> Chapter:
        """Make the chapter."""
        return Chapter(
            "people",
            "People who wrote answers",
            f"People answered the same questions. {_describe_whether_scored_blind_or_empty(study)}".strip(),
            [tabulate_author_counts_by_system(study)],
        )

    def system_notes(self, study: Study) -> Mapping[str, str]:
        """Return how many people each system is, and that its intervals, if it has scores, are for their answers."""
        names = shorten_system_names(map(str, study.table["system"].cat.categories))
        return {
            str(system): _describe_author_count_of_system(names.get(str(system), str(system)), answers)
            for system, answers in _select_answers_with_known_author(study).groupby("system", observed=True)
        }

    def notable(self, study: Study) -> Iterable[str]:
        """Return the same sentences for the head of a report: an average of few people is easily taken for more."""
        return self.system_notes(study).values()


def _describe_author_count_of_system(system_name: str, answers: pd.DataFrame) -> str:
    """Say how many people wrote these answers of a system, and whom an interval of their scores is for."""
    count = answers["author"].nunique()
    whose = "this person's" if count == 1 else "these people's"
    interval = f"; the interval is for {whose} answers" if answers["counted"].any() else ""
    return f"{system_name}: {format_count(count, 'person', 'people')} wrote{interval}."


def _select_answers_with_known_author(study: Study) -> pd.DataFrame:
    """Return the answers whose authors are known, each once."""
    answers = study.rows_once_per_answer("authors", "spending")
    return answers[answers["author"].notna() & (answers["author"] != "")]


def _describe_whether_scored_blind_or_empty(study: Study) -> str:
    """Say that others scored people's answers blind, or how many of these scores were not; empty without a score."""
    answers = set(_select_answers_with_known_author(study)["answer"].astype("str"))
    scores = [score for score in study.independent_scores if score.answer in answers]
    return describe_scores_not_blind(scores) or ("Others scored their answers blind among the rest." if scores else "")


def tabulate_author_counts_by_system(study: Study) -> Table:
    """Count the people and their answers, with the median time of an answer, by system and experiment."""
    written = _select_answers_with_known_author(study)
    groups = written.assign(seconds=written["seconds"].where(written["seconds"] > 0)).groupby(
        ["system", "experiment"], observed=True
    )
    data = groups.agg(people=("author", "nunique"), answers=("author", "size"), seconds=("seconds", "median"))
    columns = ["system", "experiment", "people", "answers", "seconds"]
    return make_table(
        "people",
        "People who wrote answers",
        "How many people wrote the answers of a system, and the median of the seconds that an answer's question was "
        "on screen, where the desk measured it. An average over few people says little about other people like them.",
        data.reset_index(),
        columns,
        formats={"seconds": ".0f"},
    )
