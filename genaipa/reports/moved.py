"""How far the answers of one system are from another's, question by question: scores, sides, citations.

Sides and citations are found by rules in the answers, so that neither people nor a judge are needed. Nothing here says
which of two answers is right.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from genaipa.errors import GenaipaError, UsageError, clip
from genaipa.kinds import DEFAULT
from genaipa.reports.answers import join_follow_up_with_earlier_question
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.procedure import read_coordinates
from genaipa.runs.run import resolve_workspace_and_run_names
from genaipa.runs.selection import find_runs_by_system_or_run_name
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import VALUED
from genaipa.scoring.evidence.resolution import find_and_resolve_citations
from genaipa.scoring.evidence.sides import find_answer_side
from genaipa.scoring.people import read_counted_events
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.words import format_count, join_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genaipa.runs.records import Record
    from genaipa.runs.run import Run
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.evidence.sides import AnswerSide
    from genaipa.scoring.rubric import Rubric
    from genaipa.workspace import Workspace, WorkspaceLike

    AnswersByKey = dict[tuple[str | int, ...], tuple[SelectedRun, Record]]
    """Answers of one side by what they were asked; the key ends with the set of prompts."""

SIDES: dict[AnswerSide, str] = {
    "yes": "says yes",
    "no": "says no",
    "silent": "says that the document is silent",
    "unknown": "says that it does not know the document",
    "nothing": "says nothing",
    "open": "answers it",
}
"""Each side of an answer in words."""
_SHORT: dict[AnswerSide, str] = {"unknown": "not known", "open": "an answer"}
"""Sides for a table, where they are called otherwise."""
_ALIKE = frozenset({"yes", "no", "open"})
"""Sides of answers that say something: one that says neither yes nor no may say either in other words."""
_NAMED = 2
"""Answers that changed sides of which one is named by its question; more are counted."""
_WAYS = 3
"""Ways of changing sides that a sentence names."""
_CITED = 3
"""Sections that a sentence names."""
MEASURED = (
    "Rules find the sides: of 40 pairs of published answers that they count as changed, all 40 had changed; of 40 "
    "other pairs, none had (two systems, in English, read by the rules' author). Nobody has measured the rules in "
    "German and French; in other languages they find no yes or no."
)
"""How well sides are found, beside every count of them."""


@dataclass(frozen=True, slots=True)
class AnswerSideAndCitations:
    """What is known of one answer: its side, the sections that it cites, and M_all (10 to 100) by people and judge."""

    side: AnswerSide
    cited: frozenset[str] = frozenset()
    people: float | None = None
    judge: float | None = None

    @property
    def side_label(self) -> str:
        """Its side in one or few words, for a table."""
        return _SHORT.get(self.side, self.side)


@dataclass(frozen=True, slots=True)
class ComparedAnswerPair:
    """Two answers to the very same words. `position` is where they stand in whatever they were taken from."""

    question: str
    asked: str
    document: str
    first: AnswerSideAndCitations
    second: AnswerSideAndCitations
    names: tuple[str, str]
    position: int = 0

    @property
    def has_changed_side(self) -> bool:
        """Whether the two take different sides; an answer by neither yes nor no may mean either."""
        ours, theirs = self.first.side, self.second.side
        return ours != theirs and not ("open" in {ours, theirs} and {ours, theirs} <= _ALIKE)

    @property
    def scorer_kind_of_both_or_empty(self) -> str:
        """Who scored both: people, else the judge; empty where neither did."""
        if self.first.people is not None and self.second.people is not None:
            return "people"
        return "judge" if self.first.judge is not None and self.second.judge is not None else ""

    @property
    def score_gain_or_none(self) -> float | None:
        """M_all of the second less the first's, by who scored both."""
        if self.scorer_kind_of_both_or_empty == "people":
            return (self.second.people or 0.0) - (self.first.people or 0.0)
        return (self.second.judge or 0.0) - (self.first.judge or 0.0) if self.scorer_kind_of_both_or_empty else None

    @property
    def citations_gained(self) -> list[str]:
        """The sections that the second alone cites."""
        return sorted(self.second.cited - self.first.cited)

    @property
    def citations_lost(self) -> list[str]:
        """The sections that the first alone cites."""
        return sorted(self.first.cited - self.second.cited)

    @property
    def citation_changes_in_words(self) -> str:
        """The sections that only one of the two cites: those of the second with a plus, those of the first a minus."""
        marks = (("+", self.citations_gained), ("\u2212", self.citations_lost))
        return "; ".join(f"{mark} {_abbreviate_and_join_sections(labels)}" for mark, labels in marks if labels)

    @property
    def has_moved(self) -> bool:
        """Whether anything differs that can be told without reading."""
        return bool(self.score_gain_or_none) or self.has_changed_side or self.first.cited != self.second.cited

    @property
    def is_yes_against_no(self) -> bool:
        """Tell whether one says yes and the other no."""
        return {self.first.side, self.second.side} == {"yes", "no"}

    @property
    def movement_sort_key(self) -> tuple[float, int, int]:
        """How far they are apart: by score, then by side (yes and no before others), then by citations."""
        sides = self.has_changed_side + self.is_yes_against_no
        return (
            round(abs(self.score_gain_or_none or 0.0), _DIGITS),
            sides,
            len(self.citations_gained) + len(self.citations_lost),
        )

    @property
    def movement_sentence(self) -> str:
        """What moved, in a sentence or several; empty where nothing did."""
        ours, theirs = self.names
        parts = []
        if self.score_gain_or_none:
            points = f"{abs(self.score_gain_or_none):.0f} points {'more' if self.score_gain_or_none > 0 else 'less'}"
            parts.append(f"{_GIVE[self.scorer_kind_of_both_or_empty]} {theirs} {points}.")
        if self.has_changed_side:
            parts.append(f"{theirs} {SIDES[self.second.side]}, where {ours} {SIDES[self.first.side]}.")
        if self.citations_gained:
            parts.append(f"{theirs} alone cites {_abbreviate_and_join_sections(self.citations_gained)}.")
        if self.citations_lost:
            parts.append(f"{ours} alone cites {_abbreviate_and_join_sections(self.citations_lost)}.")
        return " ".join(parts)


_GIVE = {"people": "People give", "judge": "A judge gives"}
_DIGITS = 6
_NUMBERED = re.compile(r"(?:Part \w+: )?[^\W\d_]+ [\w.]*[\dIVX][\w.]*(?: to \S+ [\w.]+)?|§+ ?[\w.]+")
_CLIP = 40
"""Characters of a section's title in a sentence."""


def _abbreviate_and_join_sections(labels: Sequence[str]) -> str:
    """Sections by their numbers alone, where they have some."""
    short = (match[0].rstrip(".") if (match := _NUMBERED.match(label)) else clip(label, _CLIP) for label in labels)
    return join_some(dict.fromkeys(short), _CITED)


@dataclass(frozen=True)
class AnswerPairsByMovement:
    """All pairs of two systems' answers, those that moved most first."""

    names: tuple[str, str]
    pairs: list[ComparedAnswerPair] = field(default_factory=list)

    @property
    def pairs_that_changed_sides(self) -> list[ComparedAnswerPair]:
        """The pairs that changed sides."""
        return [pair for pair in self.pairs if pair.has_changed_side]

    def movement_sentence_at(self, position: int) -> str:
        """Return the sentence of the pair at a place; empty where there is none."""
        return next((pair.movement_sentence for pair in self.pairs if pair.position == position), "")

    @property
    def changed_sides_headline(self) -> str:
        """How many answers changed sides, and how, in a sentence."""
        ours, theirs = self.names
        if not self.pairs:
            return f"{ours} and {theirs} were not asked any question in the same words."
        flips, count = self.pairs_that_changed_sides, format_count(len(self.pairs), "answer")
        if not flips:
            return f"None of {count} changed sides from {ours} to {theirs}."
        if len(flips) <= _NAMED:
            first = max(flips, key=lambda pair: pair.is_yes_against_no)
            about = (
                f"{_verb_for_answer_side(first.second.side)} \u201c{first.asked}\u201d, where {ours} "
                f"{SIDES[first.first.side]}"
            )
            return f"{theirs} {about}: {len(flips)} of {count} changed sides."
        ways = Counter((pair.first.side_label, pair.second.side_label) for pair in flips)
        ways_described = (f"{often:,} from {before} to {after}" for (before, after), often in ways.most_common())
        return f"{len(flips):,} of {count} changed sides from {ours} to {theirs}: {join_some(ways_described, _WAYS)}."


def _verb_for_answer_side(side: AnswerSide) -> str:
    """Return a side's verb as it stands before the question."""
    return {
        "yes": "says yes to",
        "no": "says no to",
        "silent": "finds the document silent on",
        "unknown": "does not know the document when asked",
        "nothing": "says nothing when asked",
        "open": "answers",
    }[side]


def sort_answer_pairs_by_movement(
    pairs: Iterable[ComparedAnswerPair], system_names: tuple[str, str]
) -> AnswerPairsByMovement:
    """Put pairs of answers in the order of how far they moved; equal ones stay as they came."""
    ordered: Sequence[ComparedAnswerPair] = sorted(pairs, key=lambda pair: pair.movement_sort_key, reverse=True)
    return AnswerPairsByMovement(system_names, list(ordered))


class AnswerScores(NamedTuple):
    """M_all (10 to 100) of one answer: the mean of people's scores, and of judges' or one judge's."""

    people: float | None = None
    judge: float | None = None


NO_SCORES = AnswerScores()


def find_answer_side_and_citations(
    record: Record, inputs: RunDocumentsAndQuestions, scores: AnswerScores = NO_SCORES
) -> AnswerSideAndCitations:
    """Return what is known of one answer of a run with these inputs."""
    reply, about = record.reply or "", inputs.manifest.documents.get(record.document)
    question_text = inputs.question_in_wording_of_set(record) if about else record.asked
    try:
        document = inputs.document(record.document)
        cites = (
            find_and_resolve_citations(reply, document, inputs.spans_of_document_parts_given(record))
            if reply.strip()
            else ()
        )
        language = document.language
    except GenaipaError:
        cites, language = (), about.language if about and about.language else "en"
    cited = frozenset(reference.resolved for reference in cites if reference.target and not reference.outside)
    return AnswerSideAndCitations(find_answer_side(reply, question_text, language, record.status), cited, *scores)


def find_moved_answers(
    first: str | Run, second: str | Run, *, judge: str = "", workspace: WorkspaceLike = None
) -> AnswerPairsByMovement:
    """Return the pairs of answers of two systems or runs, those that moved most first.

    Each is named as a system, a run, or RUN:SYSTEM; `judge` is the one whose scores count beside people's, else all
    do. Pairs are asked the very same words. A UsageError for a name of several systems.

    >>> find_moved_answers("careful", "breezy").changed_sides_headline[:52]
    '9 of 32 answers changed sides from careful to breezy'
    """
    resolved_workspace, names = resolve_workspace_and_run_names((first, second), workspace)
    sides = []
    for name in (names * 2)[:2]:
        sources = find_runs_by_system_or_run_name(resolved_workspace, name)
        if len(systems := sorted({system for source in sources for system in source.systems})) > 1:
            choices = ", ".join(f"{name}:{system}" for system in systems)
            raise UsageError(f"'{name}' has {len(systems)} systems; write which one is meant: {choices}")
        sides.append(latest_answers_by_system(sources).get(systems[0], {}))
    with open_existing_store(resolved_workspace) as store:
        events = read_counted_events(resolved_workspace, store)
    reader = AnswerPairReader(
        resolved_workspace, people_and_judge_means_by_answer(events, load_rubric(resolved_workspace), judge)
    )
    return reader.pair_answers(sides[0], sides[1], (names[0], names[-1]))


class AnswerPairReader:
    """Reads answers of a workspace's runs, each once. `scores` are the answers', by their digests."""

    def __init__(self, workspace: Workspace, scores: Mapping[str, AnswerScores]) -> None:
        self._scores = scores
        self._inputs = cache(lambda folder: RunDocumentsAndQuestions(workspace, folder))
        self._facts: dict[tuple[str, str], tuple[str, AnswerSideAndCitations]] = {}

    def pair_answers(
        self, first_answers: AnswersByKey, second_answers: AnswersByKey, system_names: tuple[str, str]
    ) -> AnswerPairsByMovement:
        """Return what moved from one side's answers to the other's, where both were asked the same words."""
        pairs = []
        # In an order of their own: answers come in any order, and from any slice of a study.
        for position, key in enumerate(sorted(key for key in first_answers if key in second_answers)):
            (question_text, first), (_, second) = (
                self._read_question_side_and_citations(*first_answers[key]),
                self._read_question_side_and_citations(*second_answers[key]),
            )
            record = first_answers[key][1]
            pairs.append(
                ComparedAnswerPair(
                    record.question, question_text, record.document, first, second, system_names, position
                )
            )
        return sort_answer_pairs_by_movement(pairs, system_names)

    def _read_question_side_and_citations(
        self, source: SelectedRun, record: Record
    ) -> tuple[str, AnswerSideAndCitations]:
        """Return what an answer was asked, and its facts."""
        answer_key = source.folder.name, record.key
        if answer_key not in self._facts:
            inputs = self._inputs(source.folder)
            question_text = (
                inputs.question_in_wording_of_set(record)
                if record.document in inputs.manifest.documents
                else record.asked
            )
            self._facts[answer_key] = (
                join_follow_up_with_earlier_question(question_text, inputs.earlier_question_or_empty(record)),
                find_answer_side_and_citations(record, inputs, self._scores.get(record.digest, NO_SCORES)),
            )
        return self._facts[answer_key]


def latest_answers_by_system(sources: Sequence[SelectedRun]) -> dict[str, AnswersByKey]:
    """Return each system's latest answer to every question as it was asked; neither failures nor texts not kept."""
    answers: dict[str, AnswersByKey] = {}
    for source in sources:
        for record in source.folder.read_records():
            if record.kind != "answer" or record.task != DEFAULT or not source.includes_record(record):
                continue
            system_answers = answers.setdefault(record.system, {})
            key = read_coordinates(record)
            if record.status == "failed" or (record.reply is None and record.status != "refused"):
                system_answers.pop(key, None)
            else:
                system_answers[key] = source, record
    return answers


def people_and_judge_means_by_answer(
    events: Iterable[Event], rubric: Rubric, only_judge: str = ""
) -> dict[str, AnswerScores]:
    """Return the scores in effect of answers (their digests), by people and by judges, or by this judge alone."""
    events_by_answer: dict[str, list[Event]] = {}
    for event in effective_scores_and_adjudications(events):
        if event.kind in VALUED and event.values is not None:
            events_by_answer.setdefault(event.answer, []).append(event)

    def average_m_all(events: list[Event]) -> float | None:
        values = [rubric.m_all(event.values) for event in events if event.values is not None]
        return sum(values) / len(values) if values else None

    def select_adjudication_or_human_scores(events: list[Event]) -> list[Event]:
        decided = [event for event in events if event.kind == "adjudication"]
        return decided[-1:] or [event for event in events if event.scorer == "human"]

    return {
        answer: AnswerScores(
            average_m_all(select_adjudication_or_human_scores(answer_events)),
            average_m_all(
                [event for event in answer_events if event.scorer == "machine" and only_judge in {"", event.analyst}]
            ),
        )
        for answer, answer_events in events_by_answer.items()
    }
