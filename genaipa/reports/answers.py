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

from genaipa.answers.tidy import names_of
from genaipa.policies.search import HALF, count_words
from genaipa.reports.figures.style import one_line
from genaipa.reports.judged.alone import NO_ESTIMATE, count_verdicts, find_judges
from genaipa.runs.permission import Permission
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

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
    def place(self) -> str:
        """Its anchor."""
        return f"answers-{self.number}"

    @property
    def words(self) -> int:
        """About as many words as it takes in a page."""
        return sum(
            count_words(text, HALF)
            for side in self.sides
            for text in (side.about, *(said for _, said in side.texts), *(f"{a.scores} {a.text}" for a in side.answers))
        )


@dataclass(frozen=True)
class Answers:
    """Questions that have an average (or, where nothing is scored, all) with their answers, and what is left out."""

    questions: list[AskedQuestion]
    lacking: list[str]

    @property
    def here(self) -> list[AskedQuestion]:
        """Those in the report's page."""
        return [one for one in self.questions if not one.page]

    @property
    def apart(self) -> list[AskedQuestion]:
        """All of them, where the report's page has not all; else none."""
        return self.questions if any(one.page for one in self.questions) else []

    def hrefs(self, data: pd.DataFrame) -> list[str]:
        """For each row of a table, the link to its answers; empty where there are none, or it is no row of a cell."""
        if not {*_CELL} <= {*data.columns}:
            return [""] * len(data)
        places = {
            (one.experiment, one.question, system): f"{one.page}#{one.place}"
            for one in self.questions
            for system, _ in one.overall
        }
        return [places.get((e, q, s), "") for e, q, s in data[_CELL].itertuples(index=False, name=None)]


def find_answers(study: Study, *, whole: bool = False) -> Answers:
    """The answers behind the averages; `whole` shows texts that may not be passed on as well."""
    frame, whose = _scored(study)
    overall = frame[frame["counted"]].groupby(_CELL, observed=True)["m_all"].mean().rename("overall")
    asked = frame[(frame["unit"] == "answer") & (frame["answer"] != "")]
    asked = asked.drop_duplicates(["run", "key"])[["run", "key", *_CELL, *_LINE]]
    # Where nothing is scored, all that came back can be read.
    asked = asked.merge(overall.reset_index(), on=_CELL, how="inner" if len(overall) else "left")
    sources = [] if whole else study.sources
    allowed = {source.folder.name: Permission(source.folder, source.manifest) for source in sources}
    places = list(asked[["run", "system", "document"]].itertuples(index=False, name=None))
    known = {(run, *place): whole or allowed[run].may_share_reply(*place) for run, *place in set(places)}
    free = np.array([known[place] for place in places], dtype=bool)
    shown = asked[free]
    # The systems' answers to a question stay together.
    shown = shown.assign(worst=shown.groupby(_ASKED, observed=True)["overall"].transform("mean"))
    shown = shown.sort_values(["worst", *_ASKED, *_LINE, "system"], kind="stable").head(MOST)
    lacking = [f"All values here are those of {whose} alone: {NO_ESTIMATE}."] if whose else []
    if len(shown) < free.sum():
        lacking.append(
            f"Shown are {len(shown):,} of {free.sum():,} answers, "
            f"{'those to the questions with the lowest scores' if len(overall) else 'since none is scored the first'}; "
            "all are in the run folders (genaipa show)."
        )
    if len(asked) > free.sum():
        lacking.append(
            f"{len(asked) - free.sum():,} answers are not in this page because their text may not be passed on: it is "
            "a published study's, or may quote a document whose licence forbids it (option with-texts shows them)."
        )
    scores = _scores(frame, shown, whose)
    return Answers(_with_room(_questions(study, shown, allowed, scores, whole=whole)), lacking)


def _scored(study: Study) -> tuple[pd.DataFrame, str]:
    """Return the tidy table whose scores stand beside answers, and the judges' names where nobody but these scored."""
    frame = study.table
    judges = {} if frame["counted"].any() else find_judges(frame, study.rubric.digest)
    if not judges:
        return frame, ""
    passes = [name for each in judges.values() for name in each]
    return count_verdicts(frame, passes), join_names([one_line(judge) for judge in judges])


def _with_room(found: list[AskedQuestion]) -> list[AskedQuestion]:
    """The questions in the tidy table's order; those for which the report's page has no room are in a file apart."""
    room, here = ROOM, set[int]()
    for one in found:
        if (room := room - one.words) < 0:
            break
        here.add(one.number)
    ordered = sorted(found, key=lambda one: one.number)
    return [one if one.number in here else replace(one, page=PAGE) for one in ordered]


def _questions(
    study: Study,
    shown: pd.DataFrame,
    allowed: Mapping[str, Permission],
    scored: Mapping[tuple[str, str], str],
    *,
    whole: bool,
) -> list[AskedQuestion]:
    """The questions with their answers, the worst first, numbered in the tidy table's order."""
    said = _said(study, shown)
    ordered = shown.drop_duplicates(_ASKED).sort_values(_ASKED, kind="stable")
    numbers = {key: number for number, key in enumerate(ordered[_ASKED].itertuples(index=False, name=None), 1)}
    questions: dict[tuple[Any, ...], list[Any]] = {}
    for row in shown.to_dict("records"):
        questions.setdefault(tuple(row[name] for name in _ASKED), []).append(row)
    systems = list(shown["system"].cat.categories)
    found = []
    for key, rows in questions.items():
        sides: dict[tuple[Any, ...], PromptAnswers] = {}
        for row in rows:
            record = said.get((row["run"], row["key"]))
            if record is None or record.reply is None:
                continue
            texts = (
                [("Asked", record.asked)]
                if whole or row["document"] not in allowed[row["run"]].restricted_questions
                else []
            )
            annotated = study.annotated.answers.get((row["run"], row["document"], row["question"]))
            if annotated and annotated.answer and (whole or allowed[row["run"]].may_share_annotations(row["document"])):
                texts.append(("Annotated answer", annotated.answer))
            same = (*(row[name] for name in _LINE), *texts)
            side = sides.setdefault(same, PromptAnswers(_about(row), [(what, _plain(text)) for what, text in texts]))
            scores = scored.get((row["run"], row["key"]), "No score of its own.")
            side.answers.append(SystemAnswer(str(row["system"]), scores, _plain(record.reply)))
        means = {row["system"]: float(row["overall"]) for row in rows}
        overall = [(str(name), means[name]) for name in sorted(means, key=systems.index) if means[name] > 0]
        if sides:
            experiment, question = map(str, key)
            text = study.questions.texts.get(question, "")
            found.append(AskedQuestion(numbers[key], experiment, question, text, overall, [*sides.values()]))
    return found


def _about(row: Mapping[Any, Any]) -> str:
    """The place of an answer: its system, experiment and prompts."""
    said = ", ".join(str(row[name]) for name in _LINE[:3])
    return f"{said}, {row['prompts']} prompts, repetition {row['repetition']}"


class _Key(msgspec.Struct):
    """As much of a record as tells which one it is."""

    key: str


def _said(study: Study, shown: pd.DataFrame) -> dict[tuple[str, str], Record]:
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for run, key in shown[["run", "key"]].itertuples(index=False, name=None):
        wanted[run].add(key)
    found = {}
    for source in study.sources:
        keys = wanted.get(source.folder.name)
        if keys:
            places = {line.key: place for place, line in source.folder.read_entries(_Key) if line.key in keys}
            for record in source.folder.read_records([*places.values()]):
                found[source.folder.name, record.key] = record
    return found


def _scores(frame: pd.DataFrame, shown: pd.DataFrame, whose: str) -> dict[tuple[str, str], str]:
    """Return each answer's scores in words: people's, or those of the judges whose names these are."""
    by = f"By the judge {whose} alone, " if whose else ""
    rows = frame[frame["counted"] & (frame["unit"] == "answer") & frame["key"].isin(shown["key"])]
    names = names_of(frame)
    means = rows.groupby(["run", "key"], observed=True)[["m_all", *names]].mean()
    return {
        place: f"{by}M_all {row['m_all']:.1f}: "
        + ", ".join(f"{name} {row[metric]:+g}" for metric, name in names.items())
        for place, row in zip(means.index.tolist(), means.to_dict("records"), strict=True)
    }


_STEERING = re.compile(r"[^ -~\n\t]")
"""All that may be a character which steers."""


def _plain(text: str) -> str:
    """The text without characters that steer, cut where it is very long."""
    cut = f"\n… ({len(text) - LONGEST:,} more characters)" if len(text) > LONGEST else ""
    return _STEERING.sub(lambda found: found[0] if _steers_nothing(found[0]) else "\ufffd", text[:LONGEST]) + cut


def _steers_nothing(sign: str) -> bool:
    return sign.isprintable() or category(sign) == "Zs"
