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
from genaipa.questions.sets import id_without_follow_up_suffix
from genaipa.runs.experiments import classify_experiment
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.procedure import read_coordinates
from genaipa.runs.selection import describe_study_problems
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import VALUED
from genaipa.scoring.people import read_counted_events
from genaipa.scoring.rubric import classify_band, load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.ui.view.movement import ColumnComparer
from genaipa.words import join_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.runs.records import Record
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.workspace import Workspace

APART = 20.0
"""Points of M_all (10 to 100) from which on two systems' scores of a question are far apart."""


class _RecordHead(msgspec.Struct, gc=False):
    """As much of a `Record` as is needed here; its texts are read once they are shown."""

    key: str
    status: str
    kind: str
    system: str
    coordinates: dict[str, str]
    task: str = DEFAULT
    digest: str = ""


class IndexedAnswer(msgspec.Struct, frozen=True, gc=False):
    """One answer: the number of its run, its place there, its outcome and its digest."""

    run: int
    place: int
    status: str
    digest: str


_Asker = tuple[int, str]
"""The number of a run, and a system of it."""
RowKey = tuple[str, str, str, str, int, str]
"""A row's identity: document, question, initialization, wording, repetition, set of prompts."""


@dataclass(frozen=True, slots=True)
class AnswerScoreSummary:
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


NO_SCORES = AnswerScoreSummary()
OUTCOMES = ("answered", "refused", "truncated", "failed")
BY_SCORE = {
    "scored": "scored by people",
    "unscored": "not scored by people",
    "green": "Green: people's M_all is high",
    "yellow": "Yellow: in between",
    "red": "Red: people's M_all is low",
    "apart": f"systems at least {APART:g} points apart",
}


class AnswerIndex:
    """The latest answer of each key of the runs, in rows by question; a UsageError where there is none.

    `systems` are columns, `system_of` maps each to its system: one for all runs of a system, and more only where
    several of its runs asked the same. `documents` and `experiments` are the answers', `questions` maps each question
    to its text. `problems` are sentences on what can't be read. Columns of the systems in `order` come first, in it.
    """

    def __init__(self, workspace: Workspace, sources: Sequence[SelectedRun], order: Sequence[str] = ()) -> None:
        self.workspace, self.sources, self._in_order = workspace, list(sources), list(order)
        self.rubric: Rubric = load_rubric(workspace)
        self.inputs = [RunDocumentsAndQuestions(workspace, source.folder) for source in self.sources]
        self._lock = threading.Lock()
        self._stamps: list[object] = []
        self._read_answers_and_scores_of_runs()
        if not self.rows:
            raise UsageError("these runs have no answers to show yet; see: genaipa runs")

    @property
    def run_names(self) -> list[str]:
        """The names of the runs."""
        return [source.folder.name for source in self.sources]

    def reread_all_runs_if_any_changed(self) -> None:
        """Read the runs again if answers were added since."""
        with self._lock:
            if self._stamps != [source.folder.answers_file_stamp() for source in self.sources]:
                self._read_answers_and_scores_of_runs()

    def _read_answers_and_scores_of_runs(self) -> None:
        # Hundreds of thousands of small objects that all stay: looking for garbage among them doubles the time.
        with _pause_garbage_collection():
            self.problems = describe_study_problems(self.workspace, (source.manifest.slice for source in self.sources))
            self._stamps = [source.folder.answers_file_stamp() for source in self.sources]
            self._set_sorted_rows_and_filter_options(self._read_answers())
            self._read_scores()
            self._index_rows_and_sort_systems()
            self.movements = ColumnComparer(self)

    def _read_answers(self) -> dict[RowKey, dict[str, IndexedAnswer]]:
        """Read the latest answer of each key, by what the answers of a row have in common and by column."""
        damaged = 0
        answers: dict[RowKey, dict[_Asker, IndexedAnswer]] = {}
        decode = msgspec.json.Decoder(_RecordHead).decode
        for number, source in enumerate(self.sources):
            narrowed = bool(source.only) or set(source.systems) != set(source.manifest.spec.systems)
            for line_number, line in source.folder.read_answer_lines_with_offsets():
                try:
                    head = decode(line)
                except DAMAGE:
                    damaged += 1
                    continue
                if head.kind != "answer" or head.task != DEFAULT:
                    continue
                at = read_coordinates(head)
                if narrowed and not (
                    head.system in source.systems
                    and source.includes_answers(at.document, at.initialization, at.wording)
                ):
                    continue
                key = (at.document, at.question, at.initialization, at.wording, at.repetition, at.prompts)
                cells = answers.get(key)
                if cells is None:
                    cells = answers[key] = {}
                cells[number, intern(head.system)] = IndexedAnswer(
                    number, line_number, intern(head.status), head.digest
                )
        if damaged:
            self.problems.append(f"Lines that can't be read: {damaged:,}. To see which: genaipa validate --data")
        names = self._name_columns_and_map_to_systems(answers)
        return {key: {names[asker]: cell for asker, cell in cells.items()} for key, cells in answers.items()}

    def _name_columns_and_map_to_systems(self, answers: dict[RowKey, dict[_Asker, IndexedAnswer]]) -> dict[_Asker, str]:
        """Name each asker's column: runs of a system share one, unless two of them asked the same."""
        askers = [(number, name) for number, source in enumerate(self.sources) for name in source.manifest.spec.systems]
        several = {name for name, count in Counter(name for _, name in askers).items() if count > 1}
        clashes: set[tuple[_Asker, _Asker]] = set()
        for cells in answers.values() if several else ():
            clashes.update(
                (first, second) for first in cells for second in cells if first < second and first[1] == second[1]
            )
        columns: dict[str, list[list[_Asker]]] = {}
        for asker in askers:
            of_system = columns.setdefault(asker[1], [])
            free = (column for column in of_system if not any((first, asker) in clashes for first in column))
            column = next(free, None)
            if column is None:
                of_system.append([asker])
            else:
                column.append(asker)
        self.system_of: dict[str, str] = {}
        names: dict[_Asker, str] = {}
        for system, of_system in columns.items():
            for column in of_system:
                runs = join_some((self.sources[number].folder.name for number, _ in column), 1)
                name = system if len(of_system) == 1 else f"{system} in {runs}"
                self.system_of[name] = system
                names |= dict.fromkeys(column, name)
        return names

    def _set_sorted_rows_and_filter_options(self, answers: dict[RowKey, dict[str, IndexedAnswer]]) -> None:
        """Put the rows in the order of documents and of their question sets."""
        question_texts: dict[str, str] = {}
        documents = list(dict.fromkeys(name for inputs in self.inputs for name in inputs.manifest.documents))
        for inputs in self.inputs:
            for name in inputs.manifest.documents:
                question_set = inputs.questions(name)
                question_texts |= (
                    {question.id: question.text for question in question_set.questions} if question_set else {}
                )
        of_document = {name: position for position, name in enumerate(documents)}
        of_question = {name: position for position, name in enumerate(question_texts)}
        last = len(question_texts)
        self.rows = sorted(
            answers.items(), key=lambda row: (of_document[row[0][0]], of_question.get(row[0][1], last), row[0][4])
        )
        asked_about = {key[1] for key in answers}
        self.questions = {
            name: question_texts.get(name, "") for name in (*question_texts, *asked_about) if name in asked_about
        }
        present = {key[0] for key in answers}
        self.documents = [name for name in documents if name in present]

    def _read_scores(self) -> None:
        """Take the scores in effect from the store, if there is one."""
        self.scores: dict[str, AnswerScoreSummary] = {}
        events: list[Event] = []
        try:
            with open_existing_store(self.workspace) as store:
                events = read_counted_events(self.workspace, store)
        except GenaipaError as error:
            self.problems.append(f"Scores are not shown: {error}")
        by_answer: dict[str, list[Event]] = {}
        for event in effective_scores_and_adjudications(events):
            if event.kind in VALUED and event.values is not None:
                by_answer.setdefault(event.answer, []).append(event)
        # Equal values are one object, so that there are few sums however many scores there are.
        summaries: dict[tuple[tuple[str, str, int], ...], AnswerScoreSummary] = {}
        for answer, answer_events in by_answer.items():
            identity = tuple((event.kind, event.scorer, id(event.values)) for event in answer_events)
            if identity not in summaries:
                summaries[identity] = self._summarize_scores(answer_events)
            self.scores[answer] = summaries[identity]

    def _summarize_scores(self, events: list[Event]) -> AnswerScoreSummary:
        judges = [event.values for event in events if event.scorer == "machine" and event.values]
        decided = [event.values for event in events if event.kind == "adjudication" and event.values]
        people = decided[-1:] or [event.values for event in events if event.scorer == "human" and event.values]
        overall, judged = (_mean_or_none([self.rubric.m_all(values) for values in group]) for group in (people, judges))
        return AnswerScoreSummary(
            people=overall,
            analysts=len(people),
            judges=judged,
            values={
                metric: _mean_or_none([score[metric] for score in people]) or 0.0
                for metric in self.rubric.metrics
                if people
            },
            band="" if overall is None else classify_band(overall, self.rubric.bands.m_all_bounds).lower(),
        )

    def _index_rows_and_sort_systems(self) -> None:
        """Note at which places of the rows each thing is that can be filtered by."""
        kinds = {name: facts.kind for inputs in self.inputs for name, facts in inputs.manifest.documents.items()}
        of_rows: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        of_cells: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        # First the rows and cells that are alike in all of it, of which there are few kinds.
        rows: defaultdict[tuple[str, str, str, str], list[int]] = defaultdict(list)
        alike: defaultdict[tuple[str, str, str], list[int]] = defaultdict(list)
        scores, unscored = self.scores, NO_SCORES
        people: defaultdict[str, list[float]] = defaultdict(list)
        for position, (key, cells) in enumerate(self.rows):
            rows[key[:4]].append(position)
            for name, cell in cells.items():
                score = scores.get(cell.digest, unscored)
                alike[name, cell.status, score.band].append(position)
                if score.people is not None:
                    people[name].append(score.people)
        for (document, question, initialization, wording), places in rows.items():
            of_rows["document", document].update(places)
            of_rows["question", question].update(places)
            of_rows["experiment", classify_experiment(kinds[document], initialization, wording)].update(places)
        for (name, status, colour), places in alike.items():
            for fact in ("", status, colour or "unscored"):
                of_cells[name, fact].update(places)
        for name in {name for name, _ in of_cells}:
            of_cells[name, "scored"] = of_cells[name, ""] - of_cells[name, "unscored"]
        self._of_rows, self._of_cells = of_rows, of_cells
        self.experiments = sorted(name for kind, name in of_rows if kind == "experiment")
        # In the order of the names given, else the best first, as in a report.
        means = {name: _mean_or_none(numbers) or 0.0 for name, numbers in people.items()}
        columns = [name for name in self.system_of if (name, "") in of_cells]
        last = len(self._in_order)
        place_of = {name: position for position, name in enumerate(self._in_order)}
        self.systems = sorted(
            columns, key=lambda name: (place_of.get(self.system_of[name], last), -means.get(name, 0.0))
        )

    def get_scores(self, cell: IndexedAnswer) -> AnswerScoreSummary:
        """Return the scores of an answer."""
        return self.scores.get(cell.digest, NO_SCORES)

    def list_row_numbers_matching_choice(self, choice: ViewChoice) -> list[int]:
        """Select the rows in which an answer of the chosen systems meets the choice."""
        named = {"document": choice.document, "question": choice.question, "experiment": choice.experiment}
        narrowed = [self._of_rows.get((kind, name), set()) for kind, name in named.items() if name]
        if choice.systems or choice.outcome or choice.score:
            like_that: set[int] = set()
            for name in choice.systems or self.systems:
                wanted = [choice.outcome, "" if choice.score == "apart" else choice.score]
                like_that |= set.intersection(*(self._of_cells.get((name, fact), set()) for fact in wanted))
            narrowed.append(like_that)
        if not narrowed:
            return list(range(len(self.rows)))
        row_numbers = sorted(set.intersection(*narrowed))
        return self._keep_rows_with_distant_scores(row_numbers, choice) if choice.score == "apart" else row_numbers

    def _keep_rows_with_distant_scores(self, row_numbers: list[int], choice: ViewChoice) -> list[int]:
        """Select the rows in which people's scores of the chosen systems are far apart."""
        names = choice.systems or tuple(self.systems)
        scored = [row_number for name in names for row_number in self._of_cells.get((name, "scored"), ())]
        several = {row_number for row_number, count in Counter(scored).items() if count > 1}
        far_apart = []
        for row_number in (row_number for row_number in row_numbers if row_number in several):
            cells = self.rows[row_number][1]
            scores = [
                s.people for name in names if name in cells and (s := self.get_scores(cells[name])).people is not None
            ]
            if max(scores) - min(scores) >= APART:
                far_apart.append(row_number)
        return far_apart

    def read_earlier_record(self, row_key: RowKey, run_number: int, record: Record) -> Record | None:
        """Read the answer that a follow-up goes on from; None for any other answer, and if it is not there any more."""
        if not record.after:
            return None
        question = id_without_follow_up_suffix(row_key[1])
        row_numbers = self._of_rows.get(("question", question), set()) & self._of_rows["document", row_key[0]]
        cells = (cell for row_number in sorted(row_numbers) for cell in self.rows[row_number][1].values())
        earlier = next((cell for cell in cells if (cell.run, cell.digest) == (run_number, record.after)), None)
        return self.read_record(earlier) if earlier else None

    def read_record(self, cell: IndexedAnswer) -> Record | None:
        """Read the record of an answer; None if it is not there any more."""
        with contextlib.suppress(OSError, GenaipaError, IndexError, *DAMAGE):
            return self.sources[cell.run].folder.read_records_at([cell.place])[0]
        return None


@contextlib.contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Keep Python from looking for garbage meanwhile."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _mean_or_none(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
