"""The answers behind the averages, side by side: from a cell of a table to the replies of all systems.

Texts that may not be passed on stay out (`runs.permission`), and so do those for which a page has no room: the answers
to the questions that did worst come first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from unicodedata import category

import msgspec
import numpy as np

from genaipa.answers.tidy import metric_display_names
from genaipa.policies.search import HALF, count_words
from genaipa.questions.sets import id_without_follow_up_suffix
from genaipa.reports.averages import cache_per_frame
from genaipa.reports.figures.style import clean_name_on_one_line
from genaipa.reports.judged.alone import NO_ESTIMATE, group_passes_by_judge, let_only_judge_passes_count
from genaipa.runs.permission import SharingPermission
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from genaipa.answers.study import Study
    from genaipa.runs.records import Record

PAGE = "answers.html"
"""The file of the answers for which the report's page has no room."""
MOST = 400
"""Answers in that file."""
ROOM = 3000
"""Words of answers in the report's page."""
LONGEST = 4000
"""Characters of a text in a page."""
_CELL = ["experiment", "question", "system"]
_ASKED = ["experiment", "question"]
_LINE = ["document", "initialization", "wording", "prompts", "repetition"]


@dataclass(frozen=True)
class SystemAnswer:
    """One system's answer, and its scores in words."""

    system: str
    scores: str
    text: str


@dataclass(frozen=True)
class PromptAnswers:
    """Answers of all systems to the very same words: where these were asked, and texts beside (what it is, text)."""

    about: str
    texts: list[tuple[str, str]]
    answers: list[SystemAnswer] = field(default_factory=list)


@dataclass(frozen=True)
class AskedQuestion:
    """A question of an experiment with its answers; `page` is the file that it is in, if not the report's page."""

    number: int
    experiment: str
    question: str
    text: str
    overall: list[tuple[str, float]]
    sides: list[PromptAnswers]
    page: str = ""

    @property
    def anchor(self) -> str:
        """Its anchor."""
        return f"answers-{self.number}"

    @property
    def estimated_words_in_page(self) -> int:
        """About as many words as it takes in a page."""
        return sum(
            count_words(text, HALF)
            for side in self.sides
            for text in (
                side.about,
                *(content for _, content in side.texts),
                *(f"{a.scores} {a.text}" for a in side.answers),
            )
        )


@dataclass(frozen=True)
class ReadableAnswers:
    """Questions that have an average (or, where nothing is scored, all) with their answers, and what is left out."""

    questions: list[AskedQuestion]
    lacking: list[str]
    withheld_count: int = 0
    """Answers that are left out because their text may not be passed on."""

    @property
    def questions_in_page(self) -> list[AskedQuestion]:
        """Those in the report's page."""
        return [question for question in self.questions if not question.page]

    @property
    def all_questions_when_page_lacks_some(self) -> list[AskedQuestion]:
        """All of them, where the report's page has not all; else none."""
        return self.questions if any(question.page for question in self.questions) else []

    def answer_links(self, table_rows: pd.DataFrame) -> list[str]:
        """For each row of a table, the link to its answers; empty where there are none, or it is no row of a cell."""
        if not {*_CELL} <= {*table_rows.columns}:
            return [""] * len(table_rows)
        places = {
            (question.experiment, question.question, system): f"{question.page}#{question.anchor}"
            for question in self.questions
            for system, _ in question.overall
        }
        return [places.get((e, q, s), "") for e, q, s in table_rows[_CELL].itertuples(index=False, name=None)]


@cache_per_frame
def collect_readable_answers(study: Study, *, with_restricted_texts: bool = False) -> ReadableAnswers:
    """Return the answers behind the averages; `with_restricted_texts` shows texts that may not be passed on as well."""
    frame, whose = _select_shown_scores_and_judge_names(study)
    overall = _average_m_all_by_question_and_system(frame)
    answered_rows = _select_answers_behind_averages(frame, overall)
    sources = [] if with_restricted_texts else study.sources
    allowed = {source.folder.name: SharingPermission(source.folder, source.manifest) for source in sources}
    free = np.ones(len(answered_rows), dtype=bool) if with_restricted_texts else _may_share_each(answered_rows, allowed)
    shown_rows = answered_rows[free]
    # The systems' answers to a question stay together.
    shown_rows = shown_rows.assign(worst=shown_rows.groupby(_ASKED, observed=True)["overall"].transform("mean"))
    shown_rows = shown_rows.sort_values(["worst", *_ASKED, *_LINE, "system"], kind="stable").head(MOST)
    lacking = [f"All values here come from {whose} alone: {NO_ESTIMATE}."] if whose else []
    if len(shown_rows) < free.sum():
        lacking.append(
            f"This page shows {len(shown_rows):,} of {free.sum():,} answers, "
            f"{'those to the questions with the lowest scores' if len(overall) else 'the first, as none is scored'}; "
            "all are in the run folders (genaipa show)."
        )
    if withheld_count := int((~free).sum()):
        lacking.append(
            f"Not on the page, so that you can pass it on: {format_count(withheld_count, 'answer')} of a published "
            "study, or about documents whose license is not stated or does not allow it; the option with-texts shows "
            "them to you."
        )
    scores = _describe_scores_by_answer(frame, shown_rows, whose)
    return ReadableAnswers(
        _assign_questions_to_page_or_file(
            _collect_questions_with_answers(
                study, shown_rows, allowed, scores, with_restricted_texts=with_restricted_texts
            )
        ),
        lacking,
        withheld_count,
    )


def _average_m_all_by_question_and_system(frame: pd.DataFrame) -> pd.Series[float]:
    return frame[frame["counted"]].groupby(_CELL, observed=True)["m_all"].mean().rename("overall")


def _select_answers_behind_averages(frame: pd.DataFrame, overall: pd.Series[float]) -> pd.DataFrame:
    """Return each answer once; where nothing is scored, all that came back."""
    rows = frame[(frame["unit"] == "answer") & (frame["answer"] != "")]
    rows = rows.drop_duplicates(["run", "key"])[["run", "key", *_CELL, *_LINE]]
    return rows.merge(overall.reset_index(), on=_CELL, how="inner" if len(overall) else "left")


def _may_share_each(rows: pd.DataFrame, permission_by_run: Mapping[str, SharingPermission]) -> NDArray[np.bool_]:
    """Tell of each answer whether its text may be passed on."""
    locations = list(rows[["run", "system", "document"]].itertuples(index=False, name=None))
    may_share = {
        (run, *location): permission_by_run[run].may_share_reply(*location) for run, *location in set(locations)
    }
    return np.array([may_share[location] for location in locations], dtype=bool)


def _select_shown_scores_and_judge_names(study: Study) -> tuple[pd.DataFrame, str]:
    """Return the tidy table whose scores stand beside answers, and the judges' names where nobody but these scored."""
    frame = study.table
    judges = {} if frame["counted"].any() else group_passes_by_judge(frame, study.rubric.digest)
    if not judges:
        return frame, ""
    passes = [name for pass_names in judges.values() for name in pass_names]
    return let_only_judge_passes_count(frame, passes), join_names([clean_name_on_one_line(judge) for judge in judges])


def _assign_questions_to_page_or_file(questions: list[AskedQuestion]) -> list[AskedQuestion]:
    """Return the questions in the tidy table's order; the page's room decides which are in a file apart."""
    room, in_page = ROOM, set[int]()
    for question in questions:
        if (room := room - question.estimated_words_in_page) < 0:
            break
        in_page.add(question.number)
    ordered = sorted(questions, key=lambda question: question.number)
    return [question if question.number in in_page else replace(question, page=PAGE) for question in ordered]


def _collect_questions_with_answers(
    study: Study,
    shown_rows: pd.DataFrame,
    permission_by_run: Mapping[str, SharingPermission],
    score_text_by_answer: Mapping[tuple[str, str], str],
    *,
    with_restricted_texts: bool,
) -> list[AskedQuestion]:
    """Return the questions with their answers, the worst first, numbered in the tidy table's order."""
    records = read_answer_records(study, shown_rows)
    ordered = shown_rows.drop_duplicates(_ASKED).sort_values(_ASKED, kind="stable")
    numbers = {key: number for number, key in enumerate(ordered[_ASKED].itertuples(index=False, name=None), 1)}
    questions: dict[tuple[Any, ...], list[Any]] = {}
    for row in shown_rows.to_dict("records"):
        questions.setdefault(tuple(row[name] for name in _ASKED), []).append(row)
    systems = list(shown_rows["system"].cat.categories)
    collected = []
    for key, rows in questions.items():
        sides: dict[tuple[Any, ...], PromptAnswers] = {}
        for row in rows:
            record = records.get((row["run"], row["key"]))
            if record is None or record.reply is None:
                continue
            texts = (
                [("Asked", record.asked)]
                if with_restricted_texts or row["document"] not in permission_by_run[row["run"]].restricted_questions
                else []
            )
            annotated = study.annotated.answers.get((row["run"], row["document"], row["question"]))
            if (
                annotated
                and annotated.answer
                and (with_restricted_texts or permission_by_run[row["run"]].may_share_annotations(row["document"]))
            ):
                texts.append(("Annotated answer", annotated.answer))
            prompt_key = (*(row[name] for name in _LINE), *texts)
            side = sides.setdefault(
                prompt_key,
                PromptAnswers(
                    _describe_asking_conditions(row), [(label, _clean_and_clip_text(text)) for label, text in texts]
                ),
            )
            scores = score_text_by_answer.get((row["run"], row["key"]), "This answer has no score of its own.")
            side.answers.append(SystemAnswer(str(row["system"]), scores, _clean_and_clip_text(record.reply)))
        means = {row["system"]: float(row["overall"]) for row in rows}
        overall = [(str(name), means[name]) for name in sorted(means, key=systems.index) if means[name] > 0]
        if sides:
            experiment, question = map(str, key)
            text = format_question_after_earlier_one(study.questions.texts, question)
            collected.append(AskedQuestion(numbers[key], experiment, question, text, overall, [*sides.values()]))
    return collected


def format_question_after_earlier_one(text_by_question: Mapping[str, str], question: str) -> str:
    """Return the text of a question, with the one that a follow-up goes on from."""
    earlier = id_without_follow_up_suffix(question)
    earlier_text = text_by_question.get(earlier, "") if earlier != question else ""
    return join_follow_up_with_earlier_question(text_by_question.get(question, ""), earlier_text)


def join_follow_up_with_earlier_question(follow_up_text: str, earlier_text: str) -> str:
    """Return the text of a follow-up, with the question that it goes on from, if that is known."""
    return f"{follow_up_text} (asked after: {earlier_text})" if earlier_text else follow_up_text


def _describe_asking_conditions(answer_row: Mapping[Any, Any]) -> str:
    """Return the place of an answer: its system, experiment and prompts."""
    parts = ", ".join(str(answer_row[name]) for name in _LINE[:3])
    return f"{parts}, {answer_row['prompts']} prompts, repetition {answer_row['repetition']}"


class _Key(msgspec.Struct):
    """As much of a record as tells which one it is."""

    key: str


def read_answer_records(study: Study, rows: pd.DataFrame) -> dict[tuple[str, str], Record]:
    """Read the records of these rows, which have a run and a key: (run, key) → record."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for run, key in rows[["run", "key"]].itertuples(index=False, name=None):
        wanted[run].add(key)
    records = {}
    for source in study.sources:
        keys = wanted.get(source.folder.name)
        if keys:
            places = {
                line.key: position
                for position, line in source.folder.read_checksummed_answers_with_offsets(_Key)
                if line.key in keys
            }
            for record in source.folder.read_records_at([*places.values()]):
                records[source.folder.name, record.key] = record
    return records


def _describe_scores_by_answer(
    frame: pd.DataFrame, shown_rows: pd.DataFrame, judge_names: str
) -> dict[tuple[str, str], str]:
    """Return each answer's scores in words: people's, or those of the judges whose names these are."""
    by = f"According to the judge {judge_names} alone, " if judge_names else ""
    rows = frame[frame["counted"] & (frame["unit"] == "answer") & frame["key"].isin(shown_rows["key"])]
    names = metric_display_names(frame)
    means = rows.groupby(["run", "key"], observed=True)[["m_all", *names]].mean()
    return {
        answer_key: f"{by}M_all {row['m_all']:.1f}: "
        + ", ".join(f"{name} {round(row[metric], 2):+g}" for metric, name in names.items())
        for answer_key, row in zip(means.index.tolist(), means.to_dict("records"), strict=True)
    }


_STEERING = re.compile(r"[^ -~\n\t]")
"""All that may be a character which steers."""


def _clean_and_clip_text(text: str) -> str:
    """Return the text without characters that steer, cut where it is very long."""
    cut = f"\n… ({len(text) - LONGEST:,} more characters)" if len(text) > LONGEST else ""
    return _STEERING.sub(lambda found: found[0] if _is_printable_or_space(found[0]) else "\ufffd", text[:LONGEST]) + cut


def _is_printable_or_space(character: str) -> bool:
    return character.isprintable() or category(character) == "Zs"
