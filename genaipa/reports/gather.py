"""Gather a report's data: runs and published scores, and the scores of the store."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain, product
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd
from msgspec.structs import force_setattr

from genaipa.errors import GenaipaError, UsageError
from genaipa.files.html import short_repr
from genaipa.kinds import kind_of
from genaipa.languages.catalog import ENGLISH, LANGUAGES
from genaipa.policies.document import Document
from genaipa.policies.statistics import measure
from genaipa.questions.points import points_digest
from genaipa.reports import tidy as tidy_table
from genaipa.reports.points import PointsOf
from genaipa.runs.exclusions import read_exclusions
from genaipa.runs.experiments import experiment_of
from genaipa.runs.imported import published_scores
from genaipa.runs.inputs import Inputs
from genaipa.runs.manifest import LEFT_OUT, withheld
from genaipa.runs.permission import Permission
from genaipa.runs.records import MeasuredHead, Retrieval, conversation_of
from genaipa.runs.selection import occasions
from genaipa.scoring.current import in_effect
from genaipa.scoring.evidence.abstention import knows_silence, stance
from genaipa.scoring.people import load_people
from genaipa.scoring.rubric import Rubric, guidelines_digest, load_rubric, shipped_rubric
from genaipa.scoring.store import existing_store
from genaipa.scoring.waves import Waves, inclusion, load_waves
from genaipa.tasks.prompts import PUBLISHED, labels

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from genaipa.policies.statistics import Statistics
    from genaipa.questions.points import Point
    from genaipa.questions.sets import QuestionSet
    from genaipa.reports.chapters.chapter import Results
    from genaipa.runs.inputs import Shared
    from genaipa.runs.selection import Groups, Source
    from genaipa.scoring.events import Event
    from genaipa.scoring.evidence.passages import RunPassages
    from genaipa.scoring.store import Store
    from genaipa.systems.base import Passage
    from genaipa.workspace import Workspace

    _Looked = dict[tuple[object, ...], Any]
    """Findings of rules in a reply, by its digest and what else they depend on: many days have the same replies."""


@dataclass(repr=False)
class Gathered:
    """The tidy table, and the texts and facts that a report shows beside it.

    `documents` are what the runs asked about, by name; of one whose text is withheld, its statistics.
    `questions` (id → text, with its placeholder) and `categories` (id → name) are in the order of their sets.
    `groups` are the documents' groups that are shown apart.
    `problems` are sentences on unreadable files; without a `workspace` no answer can be read again.
    """

    frame: pd.DataFrame
    sources: list[Source]
    documents: dict[str, Document | Statistics] = field(default_factory=dict)
    questions: dict[str, str] = field(default_factory=dict)
    categories: dict[str, str] = field(default_factory=dict)
    reworded: set[str] = field(default_factory=set)
    """The ids under which runs asked different words: their sets differ."""
    worded: dict[tuple[str, str], str] = field(default_factory=dict)
    """(the translation, empty for an original; id) → text."""
    translations: dict[str, QuestionSet] = field(default_factory=dict)
    """The question sets asked that are translations, by name."""
    corrections: set[tuple[str, str]] = field(default_factory=set)
    """(document, question) of annotated answers with a known correction."""
    corrected: bool = False
    """Whether the corrections are applied."""
    annotated: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(run, document, question) → the words of its annotated answer."""
    points: dict[tuple[str, str, str], PointsOf] = field(default_factory=dict)
    """(run, document, question) → the points of its annotated answer, where it has any."""
    events: list[Event] = field(default_factory=list)
    """Everything that happened at the desk to the runs' answers, in order, without those whose scores are left out."""
    log: list[Event] = field(default_factory=list)
    """The same with them."""
    head: str = ""
    """The last digest of the whole log, by which `genaipa scores verify --head` knows it again."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Analyst whose scores are left out → the reason."""
    guidelines: str = ""
    """The SHA-256 of the guidelines that analysts have now, empty where there are none."""
    problems: list[str] = field(default_factory=list)
    rubric: Rubric = field(default_factory=shipped_rubric)
    """By which the answers are scored."""
    waves: Waves = field(default_factory=Waves)
    """The random parts of their answers that people were asked to score."""
    groups: Groups | None = None
    by_rule: list[Results] = field(default_factory=list)
    """Results of kinds of tasks whose answers people don't score, which have no place in the tidy table."""
    workspace: Workspace | None = None

    @cached_property
    def statistics(self) -> dict[str, Statistics]:
        """The statistics of the documents, by name."""
        return {
            name: measure(one.text, one.about.language) if isinstance(one, Document) else one
            for name, one in self.documents.items()
        }

    @cached_property
    def languages(self) -> dict[str, str]:
        """The language of each document, as its metadata state it, else as it is found; by name."""
        stated = {name: facts.language for one in self.sources for name, facts in one.manifest.documents.items()}
        return {name: stated.get(name) or one.language for name, one in self.documents.items()}

    def pointed(self, answers: Mapping[str, Iterable[str]] | pd.DataFrame) -> dict[str, PointsOf]:
        """Answer's digest → the points of its question's annotated answer, where it has any."""
        if not self.points:
            return {}
        columns = (answers[name] for name in ("answer", "run", "document", "question"))
        placed = ((answer, self.points.get((*place,))) for answer, *place in zip(*columns, strict=True))
        return {answer: points for answer, points in placed if answer and points}

    def retrieved(self, run: str) -> dict[str, Retrieval]:
        """The counts of a run's passages by the answer's key, of systems that gave any."""
        rows = self.frame[(self.frame["run"] == run) & self.frame["passages"].notna()].drop_duplicates("key")
        counts = rows[list(tidy_table.RETRIEVAL)].astype("int64").itertuples(index=False)
        return {key: Retrieval(*each) for key, each in zip(rows["key"], counts, strict=True)}

    def measured(self, run: str) -> dict[str, dict[str, float]]:
        """Measure texts by rules, in columns by the key of a run's answer; see `runs.manifest.Withheld`."""
        rows = self.frame[self.frame["run"] == run].drop_duplicates("key")
        found: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for name in tidy_table.AGAIN:
            known = rows[rows[name].notna()]
            for key, value in zip(known["key"], known[name], strict=True):
                found[key][name] = float(value)
        return dict(found)

    def __repr__(self) -> str:
        return short_repr("Gathered", "answers and scores", f"{len(self.frame):,} rows of {len(self.sources):,} runs")


@tidy_table.plain_texts
def gather(
    workspace: Workspace,
    sources: Sequence[Source],
    store: Store | None,
    *,
    excluded: bool = False,
    corrected: bool = False,
    scores_alone: bool = False,
) -> Gathered:
    """Everything that a report about these runs needs.

    `excluded` counts excluded answers as well; `corrected` applies the corrections of annotated answers.
    `scores_alone` reads no reply for what it claims, and places no passage: the columns of both are left empty.
    """
    if not sources:
        raise UsageError(
            "there is no run to report on; make one with: genaipa run --system extractive --policy brindlecart"
        )
    rubric = load_rubric(workspace)
    gathered = Gathered(pd.DataFrame(), list(sources), corrected=corrected, rubric=rubric, workspace=workspace)
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    shared: Shared = {}
    looked: _Looked = {}
    again = {} if scores_alone else occasions(sources)
    for source in (one for one in sources if kind_of(one.manifest.spec.kind).people):
        run = _Run(workspace, source, gathered, shared, looked, scores_alone=scores_alone)
        name = source.folder.name
        run.again = {system for system, days in again.items() if any(name in day.runs for day in days)}
        run.add_to(rows)
    wanted = {digest for digest in rows["answer"] if digest}
    gathered.log = _about(store, wanted) if store is not None and wanted else []
    people = load_people(workspace)
    gathered.left_out, gathered.events = people.left_out, list(people.counted(gathered.log))
    gathered.guidelines = guidelines_digest(workspace)
    try:
        gathered.waves = load_waves(workspace)
    except GenaipaError as error:
        gathered.problems.append(str(error))
    orders = {"question": list(gathered.questions), "category": list(gathered.categories)}
    given = in_effect(gathered.events)
    scores = _scores(given, rubric, gathered.pointed(rows))
    taken = _taken(gathered, given, pd.DataFrame({name: rows[name] for name in ("system", "experiment", "answer")}))
    gathered.frame = tidy_table.tidy({**rows, **taken}, scores, rubric, excluded=excluded, orders=orders)
    return gathered


def _taken(gathered: Gathered, events: Iterable[Event], answers: pd.DataFrame) -> dict[str, Any]:
    """The columns that say what is in the waves, as far as people finished them; the gathered waves become those."""
    if not gathered.waves:
        return {}
    scored = {event.answer for event in events if event.kind == "score" and event.scorer == "human"}
    gathered.waves = gathered.waves.finished(set(answers["answer"].dropna()), scored)
    taken = inclusion(answers, gathered.waves)
    drawn, in_wave = taken["pi"].notna(), taken["in_wave"]
    first, whole = (
        in_wave if waves == gathered.waves else inclusion(answers, waves)["in_wave"] for waves in gathered.waves.plans
    )
    return {
        "pi": taken["pi"].to_numpy(),
        "in_wave": np.where(drawn, np.where(in_wave, "yes", "no"), ""),
        "planned": np.where(drawn, np.select([first, whole], ["first", "later"], "no"), ""),
    }


def gather_scored(
    workspace: Workspace,
    sources: Sequence[Source],
    *,
    excluded: bool = False,
    corrected: bool = False,
    scores_alone: bool = False,
) -> Gathered:
    """`gather` with the scores of the workspace's own store, where there is one."""
    with existing_store(workspace) as store:
        found = gather(workspace, sources, store, excluded=excluded, corrected=corrected, scores_alone=scores_alone)
        found.head = store.chained().head if store else ""
    return found


@tidy_table.plain_texts
def rescored(gathered: Gathered, events: Iterable[Event], *, excluded: bool = False) -> Gathered:
    """The same answers with the scores in effect after these events in place of their own: no run is read again."""
    before = gathered.frame
    wanted = {*before["answer"].cat.categories} - {""}
    given = [event for event in events if event.answer in wanted]
    published = before["unit"] == "table"
    # What follows from scores is worked out anew; a published score is its own.
    derived = ("averaged", "m_all", "m_all_positive", "m_all_negative", *tidy_table.POINTS)
    answers = before.assign(**{name: before[name].where(published) for name in derived})
    answers = answers[published | ~answers.duplicated(["run", "key"])]
    columns: dict[str, Any] = {name: answers[name] for name in before.columns}
    found, effective = replace(gathered, events=given), in_effect(given)
    columns |= {name: pd.Series(of, answers.index) for name, of in _taken(found, effective, answers).items()}
    found.frame = tidy_table.tidy(
        columns, _scores(effective, found.rubric, found.pointed(before)), found.rubric, excluded=excluded
    )
    return found


def _about(store: Store, wanted: Collection[str]) -> list[Event]:
    """Every event about these answers, in order."""
    found, kept = [], {digest: digest for digest in wanted}
    same: dict[Any, Any] = {}
    for _, event in store.events():
        if event.answer in kept:
            # A million events would hold the same few names and values a million times.
            force_setattr(event, "answer", kept[event.answer])
            force_setattr(event, "analyst", same.setdefault(event.analyst, event.analyst))
            found.append(event)
    return found


def _scores(events: Sequence[Event], rubric: Rubric, pointed: Mapping[str, PointsOf]) -> dict[str, Any]:
    # A few hundred different values at most: looked up once, then only pointed to.
    metrics = list(rubric.metrics)
    given = {id(event.values): event.values for event in events if event.values is not None}
    place = {number: row for row, number in enumerate(given)}
    table = np.array([[values[metric] for metric in metrics] for values in given.values()]).reshape(-1, len(metrics))
    values = table[[place[id(event.values)] for event in events]]
    return {
        "answer": [event.answer for event in events],
        "analyst": [event.analyst for event in events],
        "role": [event.kind for event in events],
        "scorer": [event.scorer for event in events],
        "independent": ["yes" if event.independent else "no" for event in events],
        "desk_order": [event.order for event in events],
        "rubric": [event.rubric or shipped_rubric().digest for event in events],
        **{metric: values[:, number] for number, metric in enumerate(metrics)},
        **(_ticked(events, pointed) if pointed else {}),
    }


def _ticked(events: Iterable[Event], pointed: Mapping[str, PointsOf]) -> dict[str, list[Any]]:
    """The columns on the points that each score ticked."""
    of = ((pointed.get(event.answer), event.ticks) for event in events)
    rows = [points.counts(ticks) if points is not None and points.are_in(ticks) else None for points, ticks in of]
    none = dict.fromkeys(tidy_table.POINTS)
    return {name: [(row or none)[name] for row in rows] for name in tidy_table.POINTS}


class _Run:
    """One run on its way into the tidy table."""

    def __init__(
        self,
        workspace: Workspace,
        source: Source,
        gathered: Gathered,
        shared: Shared,
        looked: _Looked,
        *,
        scores_alone: bool,
    ) -> None:
        self._source, self._gathered, self._scores_alone = source, gathered, scores_alone
        self._inputs = Inputs(workspace, source.folder, shared)
        derived = ("counted", "m_all_positive", "m_all_negative")
        self._columns = [name for name in tidy_table.columns(gathered.rubric.metrics) if name not in derived]
        manifest = source.manifest
        # Of a recording nobody knows in which order, and in which conversations, its questions were asked.
        self._recorded = {name for name, known in manifest.systems.items() if known.words == "recording"}
        self._places = {
            (place, question): number
            for place, order in manifest.orders.items()
            for number, question in enumerate(order, 1)
        }
        self._facts: dict[tuple[str, str], dict[str, Any]] = {}
        self._looked = looked
        self._passages: RunPassages | None = None
        self._language = cache(self._look_at_language)
        self._excluded = read_exclusions(source.folder, "answer")
        self.again: Collection[str] = ()
        """The systems that were asked the same on other days: their citations are looked up."""
        self._withheld = withheld(source.folder)
        self._labels = labels(source.manifest)
        self._stances = dict.fromkeys(self._withheld.claims_silence, "yes")
        self._stances |= dict.fromkeys(self._withheld.abstains, "abstains")
        self._stances |= dict.fromkeys(self._withheld.mute, "none")

    def add_to(self, rows: defaultdict[str, list[Any]]) -> None:
        """Add the run's answers, failures, questions not asked, and published scores."""
        only = self._source.only
        for name in self._source.manifest.documents:
            if not only.documents or name in only.documents:
                self._note(name)
        latest: dict[str, dict[str, Any]] = {}
        kept: dict[str, bool] = {}
        for _, line in self._source.folder.read(MeasuredHead):
            if line.kind == "answer":
                kept[line.key] = line.status != "failed"
            mine = line.kind == "answer" and line.system in self._source.systems
            if mine and self._source.takes(line.document, line.initialization, line.wording):
                latest[line.key] = self._row(line)
        self._retrieve_nothing(latest.values())
        others = [*self._missing(latest), *self._published()]
        # Each is gone once its columns are kept: both at once are the most memory that a report takes.
        for row in chain((latest.pop(key) for key in list(latest)), others):
            for name in self._columns:
                rows[name].append(row.get(name))
        lack = self._source.folder.lack(self._source.manifest, sum(kept.values()))
        self._gathered.problems += [*self._inputs.problems, *([lack] if lack else [])]

    def _note(self, name: str) -> None:
        """Keep a document's statistics, and the questions that were asked about it in their order."""
        asked = self._inputs.questions(name)
        if asked is not None:
            if asked.translates:
                self._gathered.translations[asked.name] = asked
                self._gathered.categories = asked.categories | self._gathered.categories
            else:
                self._gathered.categories.update(asked.categories)
            for question in asked.questions:
                # A published set writes one regulation's name in place of all, which are rows of one table here.
                named = asked.kind == "regulation"
                text = question.text.replace(asked.placeholder, "[regulation]") if named else question.text
                place = (asked.translates and asked.name, question.id)
                # A translation asks the same in another language: it is shown where the original was not asked.
                if place not in self._gathered.worded and (not place[0] or question.id not in self._gathered.questions):
                    self._gathered.questions[question.id] = text
                if self._gathered.worded.setdefault(place, text) != text:
                    self._gathered.reworded.add(question.id)
        known = self._gathered.documents
        if name in self._withheld.statistics:
            known.setdefault(name, self._withheld.statistics[name])
        if name in known:
            return
        try:
            known[name] = self._inputs.document(name)
        except GenaipaError as error:
            self._gathered.problems.append(str(error))

    def _row(self, line: MeasuredHead) -> dict[str, Any]:
        usage = line.usage
        return {
            **self._about(line.document, line.question),
            "unit": "answer",
            "key": line.key,
            "system": line.system,
            "model": line.model or "",
            "experiment": self._experiment(line.document, line.initialization, line.wording),
            "initialization": line.initialization,
            "wording": line.wording,
            "prompts": self._prompts(line.system, line.prompts),
            "repetition": line.repetition,
            **self._place(line.system, line.document, line.repetition, line.question),
            "status": line.status,
            "claims_silence": "" if self._scores_alone else self._claims_silence(line),
            "cites_there": self._cites_there(line) if line.system in self.again else None,
            "prompt_cut": "yes" if line.prompt_cut else "",
            "answer": line.digest if line.status != "failed" else "",
            "seconds": line.seconds,
            "cost": line.cost,
            "tokens_in": usage.input if usage else None,
            "tokens_cached": usage.cached if usage else None,
            "tokens_out": usage.output if usage else None,
            "excluded": str(self._excluded.get(line.key, "")),
            **({} if self._scores_alone else self._retrieved(line)),
        }

    def _retrieved(self, line: MeasuredHead) -> dict[str, int]:
        """The columns on an answer's passages; nothing where it has none."""
        found = self._withheld.retrieved.get(line.key)
        if found is None and line.passages and line.status != "failed":
            found = self._count_passages(line.document, line.question, line.passages, line.reply or "")
        return msgspec.structs.asdict(found) if found else {}

    def _count_passages(
        self, document: str, question: str, passages: Sequence[Passage] = (), reply: str = ""
    ) -> Retrieval | None:
        from genaipa.scoring.evidence.passages import RunPassages  # its expressions take long to compile

        self._passages = self._passages or RunPassages(self._inputs, corrected=self._gathered.corrected)
        return self._passages.count(document, question, passages, reply)

    def _retrieve_nothing(self, rows: Collection[dict[str, Any]]) -> None:
        """Count the answers without passages of systems that gave some with others: they found nothing."""
        gave = {row["system"] for row in rows if row.get("passages")}
        for row in rows:
            if row["system"] in gave and row["status"] != "failed" and "passages" not in row:
                found = self._count_passages(row["document"], row["question"])
                row.update(msgspec.structs.asdict(found) if found else {})

    def _about(self, document: str, question: str) -> dict[str, Any]:
        """The columns that every answer to a question about a document shares."""
        facts = self._facts.get((document, question))
        if facts is None:
            asked = self._inputs.question(document, question)
            annotated, _ = self._inputs.annotated(document, question)
            right, _ = self._inputs.annotated(document, question, corrected=True)
            if known := right != annotated:
                self._gathered.corrections.add((document, question))
            if self._gathered.corrected:
                annotated = right
            if annotated:
                place = (self._source.folder.name, document, question)
                self._gathered.annotated[place] = annotated.answer
                if annotated.points:
                    self._gathered.points[place] = self._points(document, question, annotated.points)
            about = self._source.manifest.documents.get(document)
            facts = self._facts[document, question] = {
                "run": self._source.folder.name,
                "document": document,
                "kind": about.kind if about else "",
                "question": question,
                "category": asked.category if asked else "",
                "source": asked.origin if asked else "",
                "silent": annotated.silent if annotated else "",
                "corrected": "yes" if known and self._gathered.corrected else "",
            }
        return facts

    def _points(self, document: str, question: str, points: tuple[Point, ...]) -> PointsOf:
        """The points of an annotated answer, with the digest of their words where these are left out of a pack."""
        kept = any(point.text == LEFT_OUT for point in points)
        known = self._withheld.points.get(document, {}).get(question, "") if kept else points_digest(points)
        return PointsOf(known, points, has_words=not kept and self._permission.annotated(document))

    @cached_property
    def _permission(self) -> Permission:
        return Permission(self._source.folder, self._source.manifest)

    def _place(self, system: str, document: str, repetition: int, question: str) -> dict[str, Any]:
        """In which kind of conversation the question is asked, and at which place of its order."""
        if system in self._recorded:
            return {}
        place = self._places.get((f"{document}|{repetition}", question), 0)
        return {"conversation": self._source.manifest.spec.plan.conversation, "position": place}

    def _experiment(self, document: str, initialization: str, wording: str) -> str:
        known = self._source.manifest.documents.get(document)
        return experiment_of(known.kind if known else None, initialization, wording)

    def _prompts(self, system: str, chosen: str) -> str:
        """The set that a system was asked with; a recording answered other prompts than it was sent now."""
        facts = self._source.manifest.systems.get(system)
        recorded = facts is not None and facts.words == "recording"
        return PUBLISHED if recorded else self._labels.get(chosen, chosen)

    def _claims_silence(self, line: MeasuredHead) -> str:
        """Tell whether the reply says that the document is silent, or that it is unknown, or says nothing.

        Empty about a document in a language without rules for that.
        """
        if line.status == "failed" or not line.digest:
            return ""
        language = self._language(line.document)
        if line.status == "refused":
            return "none"
        if line.reply is None:
            return self._stances.get(line.key, "no" if knows_silence(language) else "")
        place = language, line.digest
        if place not in self._looked:
            self._looked[place] = stance(line.reply, language)
        said: str = self._looked[place]
        return said

    def _cites_there(self, line: MeasuredHead) -> float | None:
        """The share of the reply's citations of this document that name something that is there; None without any."""
        if (kept := self._withheld.measured.get(line.key, {}).get("cites_there")) is not None:
            return kept
        try:
            document = self._inputs.document(line.document)
        except GenaipaError:
            return None  # `_note` says it
        known = LANGUAGES.get(document.language)
        if line.reply is None or known is None or known.citations is None:
            return None
        from genaipa.scoring.evidence.resolution import find_references  # its expressions take long to compile

        parts, summarised = self._inputs.parts(line), line.initialization.startswith("summary")
        place = line.document, line.digest, parts, summarised
        if place not in self._looked:
            named = find_references(line.reply, document, parts, summarised=summarised)
            own = [one.missing for one in named if not one.outside]
            self._looked[place] = 1 - sum(own) / len(own) if own else None
        share: float | None = self._looked[place]
        return share

    def _look_at_language(self, document: str) -> str:
        """The code of a document's language; English where its text is not known."""
        known = self._gathered.documents.get(document)
        return ENGLISH.code if known is None else known.language

    def _missing(self, seen: Collection[str]) -> Iterable[dict[str, Any]]:
        manifest = self._source.manifest
        for place, order in manifest.orders.items():
            document, _, repetition = place.rpartition("|")
            ways = product(
                self._source.systems,
                manifest.spec.plan.initializations,
                manifest.spec.plan.wordings,
                self._labels,
                order,
            )
            for system, initialization, wording, prompts, question in ways:
                if not self._source.takes(document, initialization, wording):
                    continue
                key = f"{conversation_of(system, document, initialization, wording, repetition, prompts)}|{question}"
                if key not in seen:
                    yield {
                        **self._about(document, question),
                        "unit": "answer",
                        "key": key,
                        "system": system,
                        "experiment": self._experiment(document, initialization, wording),
                        "initialization": initialization,
                        "wording": wording,
                        "prompts": self._prompts(system, prompts),
                        "repetition": int(repetition),
                        **self._place(system, document, int(repetition), question),
                        "status": "missing",
                    }

    def _published(self) -> Iterable[dict[str, Any]]:
        """The scores that a published study gives for these systems."""
        any_document, paper = next(iter(self._source.manifest.documents), ""), shipped_rubric()
        published = published_scores(self._source.folder)
        if published and self._gathered.rubric.metrics.keys() != paper.metrics.keys():
            said = f"{self._source.folder.name}: its published scores are left out: they have other metrics."
            self._gathered.problems.append(said)
            return
        only, excluded = self._source.only, read_exclusions(self._source.folder, "score")
        for score in published:
            # A mean over documents is about no single one.
            if only.documents and score.document not in only.documents:
                continue
            if only.experiments and score.experiment not in only.experiments:
                continue
            if score.system in self._source.systems:
                about = self._about(score.document or any_document, score.question)
                yield {
                    **(about if score.document else {**about, "document": "", "silent": "", "corrected": ""}),
                    "unit": "table",
                    "system": score.system,
                    "prompts": PUBLISHED,
                    "experiment": score.experiment,
                    "status": "",
                    "analyst": "published",
                    "role": "published",
                    "scorer": "human",
                    "rubric": paper.digest,
                    **{metric: score[metric] for metric in paper.metrics},
                    "m_all": score.m_all,
                    "averaged": score.averaged,
                    "excluded": str(excluded.get(score.key, "")),
                }
