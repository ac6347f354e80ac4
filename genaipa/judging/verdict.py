"""Verdicts: what a judge is asked to reply, what a reply of it says, and its score in the store.

A reply says a value for every metric, in the rubric's words, or it says nothing: half a verdict is a failure. Where the
annotated answer has points it says of each whether the answer says it. The metric that follows from them by the
rubric's rule is then not asked for: a value beside the points could only repeat or contradict them.

A judge's run folder is the source of its verdicts in the store of scores. An event's id follows from its record, so
that after a crash, or with a store that was lost, the same events are made again: each verdict once, however often it
is put. Verdicts by themselves are something to look at, and no estimate of what people would say.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import time
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any, Self

from genaipa.errors import UsageError
from genaipa.judging.name import Judge
from genaipa.judging.verdict_parsing import (
    CONTRADICTED,
    NO,
    POINTS,
    RIGHT_ANSWER,
    VERDICTS,
    YES,
    casefold_and_single_space,
    metrics_to_judge,
    read_verdict,
)
from genaipa.questions.points import MOST
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import ANCHOR, Event
from genaipa.scoring.people import read_counted_events
from genaipa.scoring.rubric import load_rubric, shipped_rubric
from genaipa.scoring.store import open_existing_store, open_or_create_store
from genaipa.systems.costs import CHARACTERS_PER_TOKEN
from genaipa.systems.provider import add_effort_to_system_name, split_system_name_and_effort
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from genaipa.judging.answers import JudgedAnswers, JudgedMaterial
    from genaipa.questions.points import Point
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, Record
    from genaipa.scoring.rubric import Rubric
    from genaipa.systems.base import Reply
    from genaipa.workspace import Workspace


_EVIDENCE = 1_000
"""Characters of one evidence at most: five times two ordinary sentences; whoever loops in a string ends soon."""
_POINTED = 500
"""Characters of the evidence on a point at most."""
_ID = 64
"""Characters of a point's id at most: twice as many as one may have, for blanks around it."""
_STATED = 1_500
"""Characters of a right answer at most. llama.cpp takes no string that may be as long as 2,000."""
_LOOP = re.compile(r"(.{1,300}?)\1{3,}", re.DOTALL)
_TAIL = 1_200
"""Characters at the end of a reply in which a loop is looked for, and how many of them it has to fill."""
_LOOPED = 200


def make_verdict_schema(rubric: Rubric, *, has_annotated_answer: bool, has_points: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a verdict; without an annotated answer the judge states the right answer first.

    It is the same for all answers with `has_points`, and for all others, whatever their order and ids: providers put it
    before the messages, so that another one would lose them the cached document. Its bounds end a model that loops;
    vendors that refuse them get it without.
    """
    entries = [
        _object_schema(
            metric=_choice_schema(name),
            evidence=_text_schema(_EVIDENCE),
            value=_choice_schema(*rubric.metrics[name].words),
        )
        for name in metrics_to_judge(rubric, has_points=has_points)
    ]
    parts: dict[str, Any] = {} if has_annotated_answer else {RIGHT_ANSWER: _text_schema(_STATED)}
    if has_points:
        decision = _choice_schema(YES, NO, CONTRADICTED)
        parts[POINTS] = _list_schema(
            _object_schema(point=_text_schema(_ID), evidence=_text_schema(_POINTED), said=decision), MOST
        )
    if entries:
        parts[VERDICTS] = _list_schema({"anyOf": entries}, len(entries))
    return _object_schema(**parts)


def _object_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _list_schema(entry_schema: dict[str, Any], most_entries: int) -> dict[str, Any]:
    return {"type": "array", "items": entry_schema, "maxItems": most_entries}


def _text_schema(most_characters: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most_characters}


def _choice_schema(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*words]}


def check_value_words_of_metric_differ(rubric: Rubric) -> None:
    """Raise a UsageError where two values of a metric have the same words, which a judge could not tell apart."""
    for name, metric in rubric.metrics.items():
        if len({casefold_and_single_space(words) for words in metric.words}) < len(metric.words):
            raise UsageError(f"the rubric '{rubric.title}' has the same words for two values of {name}; reword one.")


def shuffle_metrics_and_value_words(rubric: Rubric, digest: str, pass_number: int) -> dict[str, list[str]]:
    """Metric → the words of its values, both in the order in which this answer is judged in this pass.

    An odd pass is a shuffle of its own, an even one has the reverse of the pass before: what comes first in one comes
    last in the other, so that over both no place is favoured.
    """
    shuffle = random.Random(f"{digest}|{_find_odd_pass_of_pair(pass_number)}").sample  # noqa: S311 - a shuffle, not a secret
    metrics = [*rubric.metrics]
    ordered = {
        name: shuffle(words, len(words))
        for name in shuffle(metrics, len(metrics))
        for words in (rubric.metrics[name].words,)
    }
    return (
        ordered
        if _find_odd_pass_of_pair(pass_number) == pass_number
        else {name: ordered[name][::-1] for name in reversed(ordered)}
    )


def shuffle_points(points: Sequence[Point], digest: str, pass_number: int) -> list[Point]:
    """Return the points in the order in which this answer is judged in this pass, as that of the metrics."""
    shuffle = random.Random(f"{digest}|{_find_odd_pass_of_pair(pass_number)}|points").sample  # noqa: S311 - a shuffle, not a secret
    ordered = shuffle(points, len(points))
    return ordered if _find_odd_pass_of_pair(pass_number) == pass_number else ordered[::-1]


def _find_odd_pass_of_pair(pass_number: int) -> int:
    """Return the odd pass whose shuffle a pass has."""
    return pass_number - (pass_number + 1) % 2


def find_verdict_flaw(rubric: Rubric, reply: Reply, *, has_annotated_answer: bool, points: Sequence[Point] = ()) -> str:
    """Return the reason that a reply is no verdict, in words; empty if it is one."""
    if reply.finish == "length":
        return _explain_cut_off_reply(reply)
    if reply.finish == "refusal":
        return "it is a refusal"
    try:
        read_verdict(rubric, reply.text, has_annotated_answer=has_annotated_answer, points=points)
    except ValueError as error:
        return str(error)
    return ""


def _explain_cut_off_reply(reply: Reply) -> str:
    """Return the reason that a reply that was cut off is no verdict, with what helps."""
    output = reply.usage.output if reply.usage else 0
    after = f" after {format_count(output, 'token')}" if output else ""
    # From its end on, since nothing says where in its round a loop was cut.
    loop = _LOOP.match(reply.text[: -_TAIL - 1 : -1])
    if loop and loop.end() >= _LOOPED:
        return f"it repeated itself and was cut off{after}; try another model"
    only_thought = not reply.text.strip() and (reply.thoughts or (reply.usage and reply.usage.reasoning))
    reasoned = ", all of which were reasoning" if output else " while still reasoning"
    thought = reasoned if only_thought else ""
    return f"it was cut off{after}{thought}; allow more tokens (the option `max_tokens`)"


def make_sample_verdict_json(rubric: Rubric, *, has_annotated_answer: bool, points: Sequence[Point] = ()) -> str:
    """Return a verdict of ordinary length, for plans and estimates."""
    evidence = (
        "The answer says that orders are kept for ten years and baskets for thirty days, as section 9.3 does. It adds "
        "nothing that the document lacks, but leaves out that receipts are kept as long as orders."
    )
    point_evidence = "“Orders are kept for ten years” says it, as section 9.3 does."
    ticks = [{"point": point.id, "evidence": point_evidence, "said": YES} for point in points]
    return _format_verdict_json(rubric, evidence, "" if has_annotated_answer else evidence, ticks)


def count_longest_verdict_tokens(rubric: Rubric, *, has_annotated_answer: bool, has_points: bool = False) -> int:
    """Return the number of tokens of the longest verdict that the schema allows."""
    ticks = [{"point": "x" * _ID, "evidence": "x" * _POINTED, "said": CONTRADICTED}] * MOST if has_points else []
    text = _format_verdict_json(rubric, "x" * _EVIDENCE, "" if has_annotated_answer else "x" * _STATED, ticks)
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def _format_verdict_json(rubric: Rubric, evidence: str, right_answer: str, ticks: Sequence[dict[str, str]]) -> str:
    verdicts = [
        {"metric": name, "evidence": evidence, "value": max(rubric.metrics[name].words, key=len)}
        for name in metrics_to_judge(rubric, has_points=bool(ticks))
    ]
    parts = {RIGHT_ANSWER: right_answer, POINTS: ticks, VERDICTS: verdicts}
    return json.dumps({name: part for name, part in parts.items() if part}, ensure_ascii=False)


_EVERY = 0.5
"""Seconds between two batches: a commit for each verdict would hold up hundreds of calls a second."""


def full_name_by_asked_system(manifest: Manifest) -> dict[str, str]:
    """Map each system of a judge's run, as it was asked for, to its full name."""
    return {name: identity.partition(" sha256:")[0] for name, identity in manifest.digests.systems.items()}


class RunVerdicts:
    """The verdicts in the records of one judge's run."""

    def __init__(self, manifest: Manifest, material: JudgedMaterial) -> None:
        self.material = material
        self._models = full_name_by_asked_system(manifest)
        self._judged = {judged.digest: judged for judged in material.answers}

    def judge_of_record(self, record: Record) -> Judge:
        """Return the judge that gave a verdict: the model as served, else as it was asked for."""
        requested, coordinates = self._models[record.system], record.coordinates
        name, effort = split_system_name_and_effort(requested)
        # A script without a model of its own is served as "scripted", and would be one judge with every other.
        # A server may say anything: a name of several lines would be nobody's.
        served = " ".join((record.model or "").split())
        served = served if served != name.partition("/")[0] else ""
        return Judge(
            add_effort_to_system_name(served, effort) if served else requested,
            coordinates["prompt"],
            int(coordinates["pass"]),
        )

    def make_score_event_or_none(self, record: Record) -> Event | None:
        """Return the machine's score in a record; None for a failure."""
        answer = record.coordinates.get("answer", "")
        judged = self._judged.get(answer)
        if record.status != "answered" or record.reply is None or judged is None:
            return None
        rubric = self.material.rubric
        try:
            verdict = read_verdict(
                rubric, record.reply, has_annotated_answer=bool(judged.annotated), points=judged.points
            )
        except ValueError:
            return None
        judge = self.judge_of_record(record)
        made_of = f"{record.key}|{record.started}|{record.digest}"
        return Event(
            id=hashlib.sha256(made_of.encode()).hexdigest()[:32],
            time=record.started,
            kind=ANCHOR if judge.anchor_day_or_empty else "score",
            analyst=str(judge),
            answer=answer,
            values=verdict.values,
            note=verdict.evidence_as_note,
            scorer="machine",
            rubric=rubric.digest,
            ticks=verdict.ticks,
        )

    def make_score_events(self, records: Iterable[Record]) -> Iterator[Event]:
        """Yield the scores in these records."""
        return (event for record in records if (event := self.make_score_event_or_none(record)))


class VerdictKeeper:
    """Puts the verdicts of one judge's run into the workspace's store; a GenaipaError if that can't be written."""

    def __init__(self, workspace: Workspace, folder: RunFolder, material: JudgedMaterial) -> None:
        self._workspace, self._folder, self._material = workspace, folder, material
        self._waiting: list[Record] = []
        self._last = 0.0

    def __enter__(self) -> Self:
        self._store = open_or_create_store(self._workspace)
        # Those of a sitting that was killed between the record and the store, and of a store that was lost.
        self._verdicts = RunVerdicts(self._folder.manifest(), self._material)
        self._store.append_new_events(list(self._verdicts.make_score_events(self._folder.read_records())))
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._store_waiting_verdicts()
        finally:
            self._store.close()

    def queue_record_and_store_periodically(self, record: Record) -> None:
        """Put a record's verdict into the store, with the verdicts of the last half second."""
        self._waiting.append(record)
        if time.monotonic() - self._last >= _EVERY:
            self._store_waiting_verdicts()

    def _store_waiting_verdicts(self) -> None:
        self._store.append_new_events(list(self._verdicts.make_score_events(self._waiting)))
        self._waiting.clear()
        self._last = time.monotonic()


def store_missing_verdicts_of_runs(
    workspace: Workspace, runs: Iterable[tuple[RunFolder, Manifest, JudgedMaterial]]
) -> None:
    """Put the verdicts of judges' runs that it lacks into the store."""
    with closing(open_or_create_store(workspace)) as store:
        for folder, manifest, material in runs:
            store.append_new_events(list(RunVerdicts(manifest, material).make_score_events(folder.read_records())))


@dataclass(frozen=True)
class JudgeMeans:
    """The verdicts of one judge: M_all (10 to 100) by system and question, over documents, ways and passes."""

    judge: str
    cells: Mapping[tuple[str, str], float]
    scored_by_people: int = 0
    """How many of these answers people scored, too."""
    means: Mapping[str, float] = field(init=False)
    """System → the mean over its questions, by name and never by value."""

    def __post_init__(self) -> None:
        values_by_system: defaultdict[str, list[float]] = defaultdict(list)
        for (system, _), value in self.cells.items():
            values_by_system[system].append(value)
        object.__setattr__(
            self, "means", {system: fmean(values_by_system[system]) for system in sorted(values_by_system)}
        )


def average_verdicts_by_judge(workspace: Workspace, answers: JudgedAnswers) -> list[JudgeMeans]:
    """Average every judge's verdicts on these answers by system and question; judges by name."""
    rubric = load_rubric(workspace)
    cells: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for digest, system, question in answers.digest_system_question_triples:
        cells[digest].append((system, question))
    with open_existing_store(workspace) as store:
        events = [event for event in read_counted_events(workspace, store) if event.answer in cells]
    values: defaultdict[str, defaultdict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    answers_by_judge: defaultdict[str, set[str]] = defaultdict(set)
    by_people = set()
    for event in effective_scores_and_adjudications(events):
        if event.scorer == "human" and event.values is not None:
            by_people.add(event.answer)
        judge = Judge.parse(event.analyst) if event.scorer == "machine" else None
        if judge is None or event.values is None or (event.rubric or shipped_rubric().digest) != rubric.digest:
            continue
        answers_by_judge[judge.model].add(event.answer)
        for cell in cells[event.answer]:
            values[judge.model][cell].append(rubric.m_all(event.values))
    return [
        JudgeMeans(
            judge,
            {cell: fmean(cell_values) for cell, cell_values in values[judge].items()},
            len(answers_by_judge[judge] & by_people),
        )
        for judge in sorted(values)
    ]
