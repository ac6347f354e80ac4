"""The answers behind the averages, for the page of a report: from a cell to the replies.

Texts that may not be passed on stay out (`runs.permission`), and so do those for which a page has no room: the answers
of the questions that did worst come first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from genaipa.reports.table import SCALE
from genaipa.reports.tidy import names_of
from genaipa.runs.permission import Permission
from genaipa.runs.records import RecordHead

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from genaipa.reports.gather import Gathered

MOST = 400
"""Answers in a page."""
LONGEST = 4000
"""Characters of a text in a page."""
_CELL = ["experiment", "question", "system"]
_LINE = ["document", "initialization", "wording", "prompts", "repetition"]


@dataclass(frozen=True)
class Answer:
    """One answer: where it belongs, its scores in words, and its texts as (what it is, text)."""

    about: str
    scores: str
    texts: list[tuple[str, str]]


@dataclass(frozen=True)
class AnswerGroup:
    """The answers of one system to one question in one experiment; `place` is their anchor in the page."""

    place: str
    experiment: str
    question: str
    system: str
    overall: float
    answers: list[Answer] = field(default_factory=list)


@dataclass(frozen=True)
class Answers:
    """Answers shown on a page, of the questions that have an average, and sentences on those left out."""

    groups: list[AnswerGroup]
    lacking: list[str]

    def hrefs(self, data: pd.DataFrame) -> list[str]:
        """For each row of a table, the link to its answers; empty where there are none, or it is no row of a cell."""
        if not {*_CELL} <= {*data.columns}:
            return [""] * len(data)
        places = {(one.experiment, one.question, one.system): f"#{one.place}" for one in self.groups}
        return [places.get((e, q, s), "") for e, q, s in data[_CELL].itertuples(index=False, name=None)]


def find_answers(gathered: Gathered, *, whole: bool = False) -> Answers:
    """The answers behind the averages; `whole` shows texts that may not be passed on as well."""
    frame = gathered.frame
    overall = frame[frame["counted"]].groupby(_CELL, observed=True)["m_all"].mean().rename("overall")
    asked = frame[(frame["unit"] == "answer") & (frame["answer"] != "")]
    asked = asked.drop_duplicates(["run", "key"])[["run", "key", *_CELL, *_LINE]].merge(overall.reset_index(), on=_CELL)
    allowed = _allowed(gathered, whole=whole)
    places = list(asked[["run", "system", "document"]].itertuples(index=False, name=None))
    known = {(run, *place): whole or allowed[run].reply(*place) for run, *place in set(places)}
    free = np.array([known[place] for place in places], dtype=bool)
    shown = asked[free].sort_values(["overall", *_CELL, *_LINE], kind="stable").head(MOST)
    lacking = []
    if len(shown) < free.sum():
        lacking.append(
            f"Shown are {len(shown):,} of {free.sum():,} answers, those to the questions with the lowest scores; "
            "all are in the run folders (genaipa show)."
        )
    if len(asked) > free.sum():
        lacking.append(
            f"{len(asked) - free.sum():,} answers are not in this page because their text may not be passed on: it is "
            "a published study's, or may quote a document whose licence forbids it (option with-texts shows them)."
        )
    return Answers(_groups(gathered, shown, allowed, whole=whole), lacking)


def _allowed(gathered: Gathered, *, whole: bool) -> dict[str, Permission]:
    if whole:
        return {}
    return {source.folder.name: Permission(source.folder, source.manifest) for source in gathered.sources}


def _groups(
    gathered: Gathered, shown: pd.DataFrame, allowed: Mapping[str, Permission], *, whole: bool
) -> list[AnswerGroup]:
    """The answers by question, in the order of the tidy table's experiments, questions and systems."""
    said = _said(gathered, shown)
    scored = _scores(gathered.frame, shown)
    found: dict[tuple[str, ...], AnswerGroup] = {}
    for row in shown.sort_values([*_CELL, *_LINE], kind="stable").to_dict("records"):
        record = said.get((row["run"], row["key"]))
        if record is None or record.reply is None:
            continue
        experiment, question, system = cell = tuple(str(row[name]) for name in _CELL)
        fresh = AnswerGroup(f"answers-{len(found) + 1}", experiment, question, system, float(row["overall"]) * SCALE)
        group = found.setdefault(cell, fresh)
        texts = [("Asked", record.asked)] if whole or row["document"] not in allowed[row["run"]].unasked else []
        texts.append(("Answer", record.reply))
        annotated = gathered.annotated.get((row["run"], row["document"], row["question"]), "")
        if annotated and (whole or allowed[row["run"]].annotated(row["document"])):
            texts.append(("Annotated answer", annotated))
        about = ", ".join(str(row[name]) for name in _LINE[:3])
        about += f", {row['prompts']} prompts, repetition {row['repetition']}"
        group.answers.append(Answer(about, scored.get((row["run"], row["key"]), "No score of its own."), _plain(texts)))
    return list(found.values())


def _said(gathered: Gathered, shown: pd.DataFrame) -> dict[tuple[str, str], RecordHead]:
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for run, key in shown[["run", "key"]].itertuples(index=False, name=None):
        wanted[run].add(key)
    found = {}
    for source in gathered.sources:
        keys = wanted.get(source.folder.name)
        if keys:
            for _, record in source.folder.entries(RecordHead):
                if record.key in keys:
                    found[source.folder.name, record.key] = record
    return found


def _scores(frame: pd.DataFrame, shown: pd.DataFrame) -> dict[tuple[str, str], str]:
    rows = frame[frame["counted"] & (frame["unit"] == "answer") & frame["key"].isin(shown["key"])]
    names = names_of(frame)
    means = rows.groupby(["run", "key"], observed=True)[["m_all", *names]].mean()
    return {
        place: f"M_all*10 {row['m_all'] * SCALE:.1f}: "
        + ", ".join(f"{name} {row[metric]:+g}" for metric, name in names.items())
        for place, row in zip(means.index.tolist(), means.to_dict("records"), strict=True)
    }


def _plain(texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The texts without characters that steer, cut where they are very long."""
    found: list[tuple[str, str]] = []
    for what, text in texts:
        cut = f"\n… ({len(text) - LONGEST:,} more characters)" if len(text) > LONGEST else ""
        found.append((what, "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text[:LONGEST]) + cut))
    return found
