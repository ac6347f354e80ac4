"""The part of their answers that averages of people's scores rest on, and whether chance chose it.

Answers scored in the order of documents are whole documents, and say little of the others; a finished wave
(`scoring.waves`) is a random part, which speaks for all. Experiments with too few scores (`thin`) don't count in the
leaderboard, and sentences say so elsewhere.

A finished wave may lack a few scores (`lacking`). Whoever skips an answer may do so because it is hard, so that the
average of the others may be too good. How far is bounded by giving what is lacking the lowest value, and the highest; a
judge's scores say where they may lie.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from genaipa.reports import averages
from genaipa.reports.evidence import evidence
from genaipa.reports.judged.estimate import estimated
from genaipa.reports.table import Table, table
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa.stats.looks import UNFINISHED

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from genaipa.reports.evidence import EvidenceLevel
    from genaipa.reports.figures.figure import Figure


LATE = 0.05
"""The share of a group's answers that may have come after the draw."""
EVEN = 2 / 3
"""The chance of one document's answers to a question over another's, below which documents are not drawn alike."""
_BY = ["system", "experiment"]


class ScoredPart(NamedTuple):
    """The number of `answers` of a system in an experiment, of those scored, and of these that a finished wave `drew`.

    `why` says in words why they are no sample; it is empty where all are scored, or what the wave drew. Of the wave,
    `lacking` have no score.
    """

    answers: int
    scored: int
    drew: int
    why: str
    lacking: int = 0

    @property
    def speaks_for_all(self) -> bool:
        """Whether all are scored, or a random part."""
        return self.scored == self.answers or (self.drew > 0 and not self.why)

    def __str__(self) -> str:
        if self.answers == self.scored:
            return f"all {self.answers:,}"
        how = self.why or (", at random" if self.drew == self.scored else f", {self.drew:,} of them at random")
        lacking = f"; {self.lacking:,} of the wave lacking" if self.lacking and not self.why else ""
        return f"{self.scored:,} of {self.answers:,}{how}{lacking}"


def part_scored(rows: pd.DataFrame) -> ScoredPart:
    """The scored part of the answers of one system in one experiment; these are its rows."""
    rows = _scorable(rows)
    each = rows.groupby(["run", "key"], observed=True, sort=False)
    scored, wave = each["counted"].any(), each["in_wave"].first().astype(str)
    asked, drew = int((wave == "yes").sum()), int(((wave == "yes") & scored).sum())
    late = int(((wave == "") & ~scored).sum())
    why = ""
    if not asked:
        why = _unplanned(rows)
    elif asked - drew > UNFINISHED * asked:
        why = f", the wave of {asked:,} not finished: not a sample"
    elif late > LATE * len(scored):
        why = f", but {late:,} came after the draw: not a sample"
    elif _is_uneven(rows):
        why = ", some documents more often than others: not a sample"
    return ScoredPart(len(scored), int(scored.sum()), drew, why, asked - drew)


def _is_uneven(rows: pd.DataFrame) -> bool:
    """Whether chance favours documents, as where a draw of one run took all of its answers, and later ones a part."""
    each = rows.drop_duplicates(["run", "key"]).dropna(subset="pi")
    chances = each.groupby(["question", "document"], observed=True)["pi"].sum().clip(upper=1)
    cells = chances.groupby(level=0, observed=True)
    return bool((cells.min() < cells.max() * EVEN).mean() > UNFINISHED)


def _scorable(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of answers that could be scored, and that no audit leaves out."""
    return frame[(frame["unit"] == "answer") & (frame["answer"] != "") & (frame["counted"] | (frame["excluded"] == ""))]


def _unplanned(rows: pd.DataFrame) -> str:
    """How answers were chosen that no wave asked for."""
    orders = set(rows.loc[rows["counted"], "desk_order"].astype(str))
    if orders == {"random"}:
        return ", in random order"
    return ", in the order of documents: not a sample" if orders & {"question", "document"} else ": not a sample"


@averages.kept
def parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Each system and experiment with answers that people scored, and of them the `part` (`ScoredPart`) scored.

    Studies' published scores are no part of their answers, and are left out.
    """
    tables = frame.loc[(frame["unit"] == "table") & frame["counted"], _BY]
    published = {*tables.drop_duplicates().itertuples(index=False, name=None)}
    found = [
        {**dict(zip(_BY, key, strict=True)), "part": part_scored(own)}
        for key, own in _scorable(frame).groupby(_BY, observed=True, sort=True)
        if key not in published and own["counted"].any()
    ]
    return pd.DataFrame(found, columns=[*_BY, "part"])


def is_scored_throughout(frame: pd.DataFrame) -> bool:
    """Tell whether people scored every answer of a tidy table that they could score."""
    return bool(_scorable(frame).groupby(["run", "key"], observed=True)["counted"].any().all())


def is_partial(frame: pd.DataFrame) -> bool:
    """Whether an average rests on a part of its answers."""
    return any(part.scored < part.answers for part in parts(frame)["part"])


def of_systems(frame: pd.DataFrame) -> dict[str, str]:
    """System → the part of its answers that is scored, over all experiments that have scores."""
    found = {}
    for system, own in parts(frame).groupby("system", observed=True, sort=True):
        some = list(own["part"])
        answers, scored = sum(part.answers for part in some), sum(part.scored for part in some)
        drew = sum(part.scored if part.scored == part.answers else part.drew for part in some)
        whys = {part.why for part in some if not part.speaks_for_all}
        why = whys.pop() if len(whys) == 1 else ": not a sample" * bool(whys)
        found[str(system)] = str(ScoredPart(answers, scored, drew, why, sum(part.lacking for part in some)))
    return found


def in_words(frame: pd.DataFrame) -> str:
    """A sentence on the parts of answers that averages rest on; empty where all answers are scored."""
    if not is_partial(frame):
        return ""
    groups: dict[str, list[str]] = {}
    for row in parts(frame).itertuples():
        groups.setdefault(str(row.part), []).append(f"{row.system} {row.experiment}")
    said = "; ".join(f"{part} ({', '.join(named)})" for part, named in groups.items())
    return f" Averages of people's scores rest on: {said}."


LEAST_SCORED = 0.5
"""Share of an experiment's answers that has to be scored before a system's average in it means anything."""
_MEANS = ("m_all", "mean")
"""Columns of averages."""
_POOLED = {
    "faq-against-user": tuple(EXPERIMENTS),
    "documents-ranked": tuple(EXPERIMENTS),
    "easiest-and-hardest": ("quality", "robustness"),
}
"""Table → the experiments that its averages are over."""
_WARNED = re.compile(rf"Less than {LEAST_SCORED:.0%} scored and no sample[^;]*(?:; [^;]*)*?\.(?= [A-Z]|$)")
Thin = dict[tuple[str, str], tuple[int, int]]
"""System and experiment → how many of its questions about a document are scored, and all, where that is too few."""


@averages.kept
def thin(frame: pd.DataFrame) -> Thin:
    """The experiments of a tidy table with too few scores.

    A published mean over documents scores its question about each of them.
    """
    rows = averages.about_policies(frame)
    few: Thin = {}
    for (system, experiment), own in rows.groupby(_BY, observed=True, sort=True):
        asked = own.loc[own["document"] != "", ["document", "question"]].drop_duplicates()
        scores = own[own["counted"] & own["m_all"].notna()]
        means = set(scores.loc[scores["document"] == "", "question"])
        single = set(zip(scores["document"], scores["question"], strict=True))
        cells = list(zip(asked["document"], asked["question"], strict=True))
        scored = sum(cell in single or cell[1] in means for cell in cells)
        if 0 < scored < LEAST_SCORED * len(cells) and not part_scored(own).speaks_for_all:
            few[str(system), str(experiment)] = (scored, len(cells))
    return few


def enough(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of the experiments with enough scores to count (`thin`)."""
    few = thin(frame)
    # The same object, where that is all, so that what is `kept` of it is found again.
    return frame.loc[~pd.MultiIndex.from_frame(frame[_BY].astype(str)).isin(list(few))] if few else frame


def board_level(frame: pd.DataFrame) -> EvidenceLevel:
    """Return what a difference has to show before it counts, by what is scored of all that a leaderboard ranks."""
    return evidence(averages.about_policies(enough(frame)))


def too_few(frame: pd.DataFrame) -> str:
    """A sentence about the experiments that are left out because too little of them is scored; or nothing."""
    return left_out(thin(frame)).strip()


def left_out(few: Thin) -> str:
    """A sentence on the cells left blank, with how much of each is scored."""
    if not few:
        return ""
    return (
        f" Left blank and not counted here, because less than {LEAST_SCORED:.0%} of an experiment's questions about a "
        f"document are scored: {_named(few)}."
    )


def warned_table(made: Table, few: Thin) -> Table:
    """The table with a sentence on these experiments, where it has averages of any."""
    return replace(made, note=f"{made.note}{_no_sample(made.name, made, few)}")


def warned_figure(drawn: Figure, few: Thin) -> Figure:
    """The figure with a sentence on these experiments, where it has averages of any."""
    return replace(drawn, about=f"{drawn.about}{_no_sample(drawn.name, drawn.table, few)}")


def warning(note: str) -> str:
    """The sentence of these two in a note; or nothing."""
    return "".join(_WARNED.findall(note)[:1])


def _no_sample(name: str, made: Table, few: Thin) -> str:
    means = [column for column in _MEANS if column in made.data]
    data = made.data.dropna(subset=means, how="all")
    if not means or data.empty:
        return ""
    if {*_BY} <= {*data}:
        shown = set(data[_BY].astype(str).itertuples(index=False, name=None))
    else:
        # A figure of one experiment has it in its name.
        systems = set(data["system"].astype(str)) if "system" in data else {system for system, _ in few}
        pooled = _POOLED.get(name, [experiment for _, experiment in few if name.startswith(f"{experiment}-")])
        shown = {(system, experiment) for system in systems for experiment in pooled}
    there = {key: numbers for key, numbers in few.items() if key in shown}
    if not there:
        return ""
    return f" Less than {LEAST_SCORED:.0%} scored and no sample, so not in the leaderboard: {_named(there)}."


def _named(few: Mapping[tuple[str, str], tuple[int, int]]) -> str:
    return "; ".join(f"{system} {experiment} ({n} of {all_})" for (system, experiment), (n, all_) in few.items())


_ENDS = dict(zip(("least", "most"), M_ALL_RANGE, strict=True))
"""Column → the M_all that it gives to what is lacking."""


def lacking(frame: pd.DataFrame) -> Table:
    """A row for each system and experiment whose finished wave lacks scores: its average, and between which it lies."""
    policies = averages.about_policies(frame)
    short = parts(policies)
    short = short[[one.speaks_for_all and one.lacking > 0 for one in short["part"]]]
    columns = [*_BY, "lacking", "mean", *_ENDS, "judge_lacking", "judge_others"]
    rows = []
    if len(short):
        known = {name: _means(estimated(_filled(policies, value)).frame) for name, value in _ENDS.items()}
        plain, said = _means(estimated(policies).frame), _said(policies)
        for row in short.to_dict("records"):
            group = (str(row["system"]), str(row["experiment"]))
            ends = {name: means.get(group) for name, means in known.items()}
            judge = {f"judge_{name}": said.get((*group, name == "lacking")) for name in ("lacking", "others")}
            about = {"system": row["system"], "experiment": row["experiment"], "lacking": row["part"].lacking}
            rows.append({**about, "mean": plain.get(group), **ends, **judge})
    return table(
        "waves-lacking",
        "What waves lack",
        "M_all (10 to 100): the average without the answers of a wave that nobody scored, and what it would "
        "be if all of these had the least, or the most, that there is. The last two are a judge's averages of them and "
        "of the wave's others.",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={
            "least": "at the least",
            "most": "at the most",
            "judge_lacking": "judge: lacking",
            "judge_others": "judge: others",
        },
        formats=dict.fromkeys((*_ENDS, "judge_lacking", "judge_others"), ".1f"),
    )


def _lacks(frame: pd.DataFrame) -> pd.Series[bool]:
    """Whether a row is of an answer of a wave that people did not score, though they could."""
    answers = frame[(frame["unit"] == "answer") & (frame["answer"] != "")]
    scored = answers.groupby(["run", "key"], observed=True, sort=False)["counted"].transform("any")
    asked = answers[~scored & (answers["in_wave"] == "yes") & (answers["excluded"] == "")]
    return pd.Series(frame.index.isin(asked.index), index=frame.index)


def _filled(frame: pd.DataFrame, value: float) -> pd.DataFrame:
    """The table as if people had scored what waves lack so."""
    given = frame[_lacks(frame)].drop_duplicates(["run", "key"])
    given = given.assign(m_all=value, averaged=1, counted=True)
    rubric = frame.loc[frame["counted"] & (frame["unit"] == "answer"), "rubric"].iloc[0]
    for name, text in {"role": "score", "scorer": "human", "rubric": rubric}.items():
        kinds = frame[name].cat.categories.union([text], sort=False)
        frame = frame.assign(**{name: frame[name].cat.set_categories(kinds)})
        given[name] = pd.Categorical([text] * len(given), categories=kinds)
    return pd.concat([frame, given], ignore_index=True)


def _means(frame: pd.DataFrame) -> dict[Hashable, float]:
    """The average of each system and experiment."""
    found = averages.policy_questions(frame).dropna(subset="m_all").astype(dict.fromkeys(_BY, "str"))
    return dict(found.groupby(_BY)["m_all"].mean())


def _said(frame: pd.DataFrame) -> dict[Hashable, float]:
    """The judges' averages over a wave's answers, by system, experiment, and whether people did not score them."""
    rows = frame.assign(lacks=_lacks(frame))
    rows = rows[(rows["scorer"] == "machine") & (rows["in_wave"] == "yes")].astype(dict.fromkeys(_BY, "str"))
    return dict(rows.groupby([*_BY, "lacks"])["m_all"].mean())
