"""Index of the answers of runs, by question and system: small enough to be filtered whole at every click."""

from __future__ import annotations

import contextlib
import gc
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from sys import intern
from typing import TYPE_CHECKING

import msgspec

from genaipa.errors import GenaipaError, UsageError
from genaipa.files.text import DAMAGE
from genaipa.kinds import DEFAULT
from genaipa.runs.experiments import experiment_of
from genaipa.runs.inputs import Inputs
from genaipa.runs.procedure import coordinates_of
from genaipa.runs.selection import study_problems
from genaipa.scoring.current import select_effective_events
from genaipa.scoring.events import VALUED
from genaipa.scoring.rubric import band, load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.ui.view.movement import Movements
from genaipa.words import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.runs.records import Record
    from genaipa.runs.selection import Source
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.workspace import Workspace

APART = 20.0
"""Points of M_all (10 to 100) from which on two systems' scores of a question are far apart."""


class _Head(msgspec.Struct, gc=False):
    """As much of a `Record` as is needed here; its texts are read once they are shown."""

    key: str
    status: str
    kind: str
    system: str
    coordinates: dict[str, str]
    task: str = DEFAULT
    digest: str = ""


class ViewCell(msgspec.Struct, frozen=True, gc=False):
    """One answer: the number of its run, its place there, its outcome and its digest."""

    run: int
    place: int
    status: str
    digest: str


_Asker = tuple[int, str]
"""The number of a run, and a system of it."""
Key = tuple[str, str, str, str, int, str]
"""A row's identity: document, question, initialization, wording, repetition, set of prompts."""


@dataclass(frozen=True, slots=True)
class ShownScores:
    """Scores of one answer: M_all (10 to 100) by people and by judges, how many gave it, and people's mean values."""

    people: float | None = None
    analysts: int = 0
    judges: float | None = None
    values: dict[str, float] = field(default_factory=dict)
    band: str = ""


@dataclass(frozen=True)
class ViewChoice:
    """The part of an index that is shown; an empty field chooses everything."""

    systems: tuple[str, ...] = ()
    document: str = ""
    question: str = ""
    experiment: str = ""
    outcome: str = ""
    score: str = ""


NO_SCORES = ShownScores()
OUTCOMES = ("answered", "refused", "truncated", "failed")
BY_SCORE = {
    "scored": "scored by people",
    "unscored": "not scored by people",
    "green": "Green: people's M_all is high",
    "yellow": "Yellow: in between",
    "red": "Red: people's M_all is low",
    "apart": f"systems {APART:g} points apart or more",
}


class Index:
    """The latest answer of each key of the runs, in rows by question; a UsageError where there is none.

    `systems` are columns, `system_of` maps each to its system: one for all runs of a system, and more only where
    several of its runs asked the same. `documents` and `experiments` are the answers', `questions` maps each question
    to its text. `problems` are sentences on what can't be read. Columns of the systems in `order` come first, in it.
    """

    def __init__(self, workspace: Workspace, sources: Sequence[Source], order: Sequence[str] = ()) -> None:
        self.workspace, self.sources, self._in_order = workspace, list(sources), list(order)
        self.rubric: Rubric = load_rubric(workspace)
        self.inputs = [Inputs(workspace, source.folder) for source in self.sources]
        self._lock = threading.Lock()
        self._stamps: list[object] = []
        self._read()
        if not self.rows:
            raise UsageError("these runs have no answers to look at yet; see: genaipa runs")

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [source.folder.name for source in self.sources]

    def refresh(self) -> None:
        """Read the runs again where answers have come since."""
        with self._lock:
            if self._stamps != [source.folder.stamp() for source in self.sources]:
                self._read()

    def _read(self) -> None:
        # Hundreds of thousands of small objects that all stay: looking for garbage among them doubles the time.
        with _without_collecting():
            self.problems = study_problems(self.workspace, (source.manifest.slice for source in self.sources))
            self._stamps = [source.folder.stamp() for source in self.sources]
            self._order(self._found())
            self._score()
            self._note_places()
            self.movements = Movements(self)

    def _found(self) -> dict[Key, dict[str, ViewCell]]:
        """The latest answer of each key, by what the answers of a row have in common and by column."""
        damaged = 0
        found: dict[Key, dict[_Asker, ViewCell]] = {}
        decode = msgspec.json.Decoder(_Head).decode
        for number, source in enumerate(self.sources):
            narrowed = bool(source.only) or set(source.systems) != set(source.manifest.spec.systems)
            for place, line in source.folder.lines():
                try:
                    head = decode(line)
                except DAMAGE:
                    damaged += 1
                    continue
                if head.kind != "answer" or head.task != DEFAULT:
                    continue
                at = coordinates_of(head)
                if narrowed and not (
                    head.system in source.systems and source.takes(at.document, at.initialization, at.wording)
                ):
                    continue
                key = (at.document, at.question, at.initialization, at.wording, at.repetition, at.prompts)
                cells = found.get(key)
                if cells is None:
                    cells = found[key] = {}
                cells[number, intern(head.system)] = ViewCell(number, place, intern(head.status), head.digest)
        if damaged:
            self.problems.append(f"Lines that can't be read: {damaged:,}. What they are says: genaipa validate --data")
        names = self._columns(found)
        return {key: {names[asker]: cell for asker, cell in cells.items()} for key, cells in found.items()}

    def _columns(self, found: dict[Key, dict[_Asker, ViewCell]]) -> dict[_Asker, str]:
        """Each asker's column: runs of a system share one, but for those that asked what another of them did."""
        askers = [(number, name) for number, source in enumerate(self.sources) for name in source.manifest.spec.systems]
        several = {name for name, count in Counter(name for _, name in askers).items() if count > 1}
        clashes: set[tuple[_Asker, _Asker]] = set()
        for cells in found.values() if several else ():
            clashes.update((one, other) for one in cells for other in cells if one < other and one[1] == other[1])
        columns: dict[str, list[list[_Asker]]] = {}
        for asker in askers:
            of_system = columns.setdefault(asker[1], [])
            free = (column for column in of_system if not any((one, asker) in clashes for one in column))
            column = next(free, None)
            if column is None:
                of_system.append([asker])
            else:
                column.append(asker)
        self.system_of: dict[str, str] = {}
        names: dict[_Asker, str] = {}
        for system, of_system in columns.items():
            for column in of_system:
                runs = some((self.sources[number].folder.name for number, _ in column), 1)
                name = system if len(of_system) == 1 else f"{system} in {runs}"
                self.system_of[name] = system
                names |= dict.fromkeys(column, name)
        return names

    def _order(self, found: dict[Key, dict[str, ViewCell]]) -> None:
        """Put the rows in the order of documents and of their question sets."""
        known: dict[str, str] = {}
        documents = list(dict.fromkeys(name for one in self.inputs for name in one.manifest.documents))
        for one in self.inputs:
            for name in one.manifest.documents:
                asked = one.questions(name)
                known |= {question.id: question.text for question in asked.questions} if asked else {}
        of_document = {name: place for place, name in enumerate(documents)}
        of_question = {name: place for place, name in enumerate(known)}
        last = len(known)
        self.rows = sorted(
            found.items(), key=lambda row: (of_document[row[0][0]], of_question.get(row[0][1], last), row[0][4])
        )
        asked_about = {key[1] for key in found}
        self.questions = {name: known.get(name, "") for name in (*known, *asked_about) if name in asked_about}
        here = {key[0] for key in found}
        self.documents = [name for name in documents if name in here]

    def _score(self) -> None:
        """Take the scores in effect from the store, if there is one."""
        self.scores: dict[str, ShownScores] = {}
        events: list[Event] = []
        try:
            with open_existing_store(self.workspace) as store:
                events = [event for _, event in store.events()] if store is not None else []
        except GenaipaError as error:
            self.problems.append(f"Scores are not shown: {error}")
        by_answer: dict[str, list[Event]] = {}
        for event in select_effective_events(events):
            if event.kind in VALUED and event.values is not None:
                by_answer.setdefault(event.answer, []).append(event)
        # Equal values are one object, so that there are few sums however many scores there are.
        known: dict[tuple[tuple[str, str, int], ...], ShownScores] = {}
        for answer, given in by_answer.items():
            same = tuple((event.kind, event.scorer, id(event.values)) for event in given)
            if same not in known:
                known[same] = self._summed_up(given)
            self.scores[answer] = known[same]

    def _summed_up(self, given: list[Event]) -> ShownScores:
        judges = [event.values for event in given if event.scorer == "machine" and event.values]
        decided = [event.values for event in given if event.kind == "adjudication" and event.values]
        people = decided[-1:] or [event.values for event in given if event.scorer == "human" and event.values]
        overall, judged = (_mean([self.rubric.m_all(values) for values in those]) for those in (people, judges))
        return ShownScores(
            people=overall,
            analysts=len(people),
            judges=judged,
            values={metric: _mean([one[metric] for one in people]) or 0.0 for metric in self.rubric.metrics if people},
            band="" if overall is None else band(overall, self.rubric.bands.overall).lower(),
        )

    def _note_places(self) -> None:
        """Note at which places of the rows each thing is that can be filtered by."""
        kinds = {name: facts.kind for one in self.inputs for name, facts in one.manifest.documents.items()}
        of_rows: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        of_cells: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        # First the rows and cells that are alike in all of it, of which there are few kinds.
        rows: defaultdict[tuple[str, str, str, str], list[int]] = defaultdict(list)
        alike: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        scores, unscored = self.scores, NO_SCORES
        people: defaultdict[str, list[float]] = defaultdict(list)
        for place, (key, cells) in enumerate(self.rows):
            rows[key[:4]].append(place)
            for name, cell in cells.items():
                score = scores.get(cell.digest, unscored)
                alike[name, cell.status, score.band].append(place)
                if score.people is not None:
                    people[name].append(score.people)
        for (document, question, initialization, wording), places in rows.items():
            of_rows["document", document].update(places)
            of_rows["question", question].update(places)
            of_rows["experiment", experiment_of(kinds[document], initialization, wording)].update(places)
        for (name, status, colour), places in alike.items():
            for fact in ("", status, colour or "unscored"):
                of_cells[name, fact].update(places)
        for name in {name for name, _ in of_cells}:
            of_cells[name, "scored"] = of_cells[name, ""] - of_cells[name, "unscored"]
        self._of_rows, self._of_cells = of_rows, of_cells
        self.experiments = sorted(name for what, name in of_rows if what == "experiment")
        # In the order of the names given, else the best first, as in a report.
        means = {name: _mean(given) or 0.0 for name, given in people.items()}
        columns = [name for name in self.system_of if (name, "") in of_cells]
        last = len(self._in_order)
        place_of = {name: place for place, name in enumerate(self._in_order)}
        self.systems = sorted(
            columns, key=lambda name: (place_of.get(self.system_of[name], last), -means.get(name, 0.0))
        )

    def scores_of(self, cell: ViewCell) -> ShownScores:
        """The scores of an answer."""
        return self.scores.get(cell.digest, NO_SCORES)

    def chosen(self, choice: ViewChoice) -> list[int]:
        """The places of the rows in which an answer of the chosen systems is like that."""
        named = {"document": choice.document, "question": choice.question, "experiment": choice.experiment}
        narrowed = [self._of_rows.get((what, name), set()) for what, name in named.items() if name]
        if choice.systems or choice.outcome or choice.score:
            like_that: set[int] = set()
            for name in choice.systems or self.systems:
                wanted = [choice.outcome, "" if choice.score == "apart" else choice.score]
                like_that |= set.intersection(*(self._of_cells.get((name, one), set()) for one in wanted))
            narrowed.append(like_that)
        if not narrowed:
            return list(range(len(self.rows)))
        found = sorted(set.intersection(*narrowed))
        return self._apart(found, choice) if choice.score == "apart" else found

    def _apart(self, places: list[int], choice: ViewChoice) -> list[int]:
        """The places at which people's scores of the chosen systems are far apart."""
        names = choice.systems or tuple(self.systems)
        scored = [place for name in names for place in self._of_cells.get((name, "scored"), ())]
        several = {place for place, count in Counter(scored).items() if count > 1}
        found = []
        for place in (place for place in places if place in several):
            cells = self.rows[place][1]
            known = [
                s.people for name in names if name in cells and (s := self.scores_of(cells[name])).people is not None
            ]
            if max(known) - min(known) >= APART:
                found.append(place)
        return found

    def record(self, cell: ViewCell) -> Record | None:
        """The record of an answer; None if it is not there any more."""
        with contextlib.suppress(OSError, GenaipaError, IndexError, *DAMAGE):
            return self.sources[cell.run].folder.records_at([cell.place])[0]
        return None


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep Python from looking for garbage meanwhile."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _mean(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
