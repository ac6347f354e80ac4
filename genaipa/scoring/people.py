"""The users of the desk, their roles, and the plan of scoring: `desk.yaml` of the workspace.

    analysts: [anna@example.org, Bo]        who scores
    adjudicators: [anna@example.org]        who settles answers whose scores differ
    reference: [reference]                  whose scores new analysts compare themselves with
    left_out: {Bo: "took notes for answers"}    whose scores count nowhere, and why
    rate: 25                                the price of an analyst's hour
    keys: {skip: x, undo: ";"}              which keys do at the desk what others would (see KEYS)
    assign: {Ada: [uber, quality]}          the documents, experiments and systems that one is asked about alone
    plan: {per_answer: 2, due: 2026-12-18}  how much is scored, how, how surely, and by when (see StudyPlan)

Names, or the e-mail addresses of a login; upper and lower case are the same. A list that is left out is open to anyone
who gives a name, but to nobody who logs in.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from genaipa.errors import DataError, OptionError, UsageError, clip, name_suggestion
from genaipa.files.strict_yaml import read_yaml
from genaipa.runs.authors import AnswerAuthors, normalize_person_name
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.events import Order

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from genaipa.scoring.events import Event
    from genaipa.scoring.store import ScoreStore
    from genaipa.workspace import Workspace

FILE = "desk.yaml"
_LEFT_OUT = ("score", "adjudication", "skip")
"""The kinds of events that are left out with their analyst."""
KEYS = {
    "accept": "a",
    "back": "b",
    "last": "l",
    "skip": "s",
    "undo": "u",
    "note": "n",
    "search": "/",
    "highlight": "h",
    "nearest": "j",
    "nearest_before": "k",
    "pin": "p",
    "sentence": ".",
    "sentence_before": ",",
    "claims": "t",
    "grey": "d",
    "guidelines": "g",
    "wrong": "w",
    "help": "?",
}
"""Act at the desk → the key that does it, unless `keys` names another."""
_CAN_BE_KEYS = frozenset("abcdefghijklmnopqrstuvwxyz.,/;-+#?")
_REFERENCE = ("reference",)
LONGEST_NAME = 100
"""Characters that a name may have: more is a slip of the clipboard."""


@dataclass(frozen=True)
class User:
    """A person at the desk, with their roles."""

    name: str
    scores: bool
    adjudicates: bool

    @property
    def reason_user_may_not_score_or_empty(self) -> str:
        """Why this user gives no scores; empty if they do."""
        return "" if self.scores else f"{self.name} is an adjudicator of this study, not an analyst."

    @property
    def reason_user_may_not_adjudicate_or_empty(self) -> str:
        """Why this user adjudicates nothing; empty if they do."""
        return "" if self.adjudicates else f"{self.name} is an analyst of this study, not an adjudicator."


class StudyPlan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The plan of a study's scoring, by the names of the options that replace it for one start of the desk.

    `per_answer` to `points` are as in `assignment.ScoringPlan`; `show_systems` is its `blind`, the other way round.
    `sample` is the size of the random part of each system in each experiment, or all for everything (None: as
    `DeskSettings`); with `include_excluded`, excluded answers are scored too. Scoring may stop once every average of
    M_all is sure to ± `target` points of 10 to 100,
    and is to be done on the day `due` (empty: no day).
    """

    per_answer: Annotated[float, msgspec.Meta(ge=1, le=100)] = 1.2
    order: Order = "question"
    seed: int = 0
    calibration: Annotated[int, msgspec.Meta(ge=0)] = 10
    show_systems: bool = False
    nearest: bool = True
    evidence: bool = True
    suggestions: bool = False
    points: bool = False
    sample: Annotated[int, msgspec.Meta(ge=1)] | str | None = None
    include_excluded: bool = False
    target: Annotated[float, msgspec.Meta(gt=0)] = 5.0
    due: str = ""

    @property
    def sample_size(self) -> int | Literal["all"] | None:
        """The size of the random part: `sample`, as it is once it is checked."""
        return "all" if isinstance(self.sample, str) else self.sample

    @property
    def due_date(self) -> dt.date | None:
        """The day on which scoring is to be done; None without one."""
        return dt.date.fromisoformat(self.due) if self.due else None

    def replace_and_check_options(self, options: Mapping[str, object]) -> StudyPlan:
        """Return this plan with other values; an OptionError for one that no plan has."""
        plan = msgspec.structs.replace(self, **options)
        for name, problem in find_plan_problems(plan):
            raise OptionError(name, f": {problem}")
        return plan


class People(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The lists of the file: None for one that is left out; `reference` names the reference analysts.

    `left_out` maps an analyst whose scores and adjudications count nowhere to the reason. They stay in the log.
    `rate` is the price of an hour of analysts' time, in any currency. `keys` maps acts of `KEYS` to other keys.
    `assign` maps an analyst to the documents, experiments and systems whose answers they are asked to score; whoever
    is not there is asked about all.
    """

    analysts: tuple[str, ...] | None = None
    adjudicators: tuple[str, ...] | None = None
    listed_reference: tuple[str, ...] | None = msgspec.field(default=None, name="reference")
    left_out: dict[str, str] = {}
    assign: dict[str, tuple[str, ...]] = {}
    rate: Annotated[float, msgspec.Meta(gt=0)] | None = None
    keys: dict[str, str] = {}
    plan: StudyPlan = StudyPlan()

    @property
    def reference(self) -> tuple[str, ...]:
        """The reference analysts: those listed, or the one whose scores ship."""
        return _REFERENCE if self.listed_reference is None else self.listed_reference

    @property
    def key_by_action(self) -> dict[str, str]:
        """Act at the desk → the key in effect."""
        return KEYS | self.keys

    def drop_scores_of_excluded_and_authors(self, events: Iterable[Event], authors: AnswerAuthors) -> Iterator[Event]:
        """Yield the events without the scores, adjudications and skips of those who are left out, or are the authors.

        Whoever writes what a system said, too, may have scored it before.
        """
        if not self.left_out and not authors:
            return iter(events)
        excluded = set(map(normalize_person_name, self.left_out))
        return (
            event
            for event in events
            if event.scorer != "human"
            or event.kind not in _LEFT_OUT
            or (
                normalize_person_name(event.analyst) not in excluded
                and not authors.is_author(event.analyst, event.answer)
            )
        )

    def exclusion_reason_or_empty(self, name: str) -> str:
        """Return the reason for which an analyst's scores count nowhere; empty where they count."""
        return next(
            (
                reason
                for excluded, reason in self.left_out.items()
                if normalize_person_name(excluded) == normalize_person_name(name)
            ),
            "",
        )

    def admit_user(self, typed_name: str, scorer_names: Iterable[str] = (), *, requires_login: bool) -> User:
        """Return the user of a name or, after a `requires_login`, an e-mail address.

        A UsageError if they may do nothing here.

        `scorer_names` are the names under which scores are kept already (see `resolve_name`).
        """
        name = self.resolve_name(typed_name, scorer_names)
        if why := self.exclusion_reason_or_empty(name):
            raise UsageError(
                f"this study leaves out the scores of {name} ({why}), so new scores would not count either."
            )
        if self.listed_reference is None and normalize_person_name(name) in _REFERENCE:
            # New analysts are shown those scores as what is right.
            raise UsageError(
                f"{name} is the reference analyst, whose scores new analysts compare with their own; choose "
                f"another name, "
                f"or list this one in {FILE}: reference: [{name}]"
            )
        scores = _is_admitted(name, self.analysts, requires_login=requires_login) or _is_admitted(
            name, self.reference, requires_login=requires_login
        )
        user = User(name, scores, adjudicates=_is_admitted(name, self.adjudicators, requires_login=requires_login))
        if not user.scores and not user.adjudicates:
            raise UsageError(
                f"{name} is neither an analyst nor an adjudicator of this study; "
                f"the study's lead can add this {'address' if requires_login else 'name'} to {FILE}."
            )
        return user

    def check_someone_is_listed(self) -> None:
        """Raise a UsageError if nobody is listed, so that nobody who logs in could do anything."""
        if not self.analysts and not self.adjudicators:
            raise UsageError(
                f"this desk requires a login, but {FILE} does not say who may score; list e-mail addresses there as "
                "analysts: […] and adjudicators: […]."
            )

    def resolve_name(self, typed_name: str, scorer_names: Iterable[str] = ()) -> str:
        """Return the name under which a person's scores are kept; a UsageError for text that can't be a name.

        Its spelling is that of `scorer_names` (of those who have scored), else the file's, else as typed.
        """
        name = " ".join(typed_name.split())
        if not name:
            raise UsageError("enter a name; your scores are saved under it.")
        if len(name) > LONGEST_NAME or not name.isprintable():
            raise UsageError(f"a name must be one line of at most {LONGEST_NAME} printable characters.")
        listed = (*(self.analysts or ()), *(self.adjudicators or ()), *self.reference, *self.left_out, *self.assign)
        spellings = {normalize_person_name(spelling): spelling for spelling in (*listed, *scorer_names)}
        return spellings.get(normalize_person_name(name), name)


def load_desk_people_and_plan(workspace: Workspace) -> People:
    """Return the workspace's desk.yaml, all lists left out if there is none; a DataError if it can't be used."""
    path = workspace.home / FILE
    if not path.is_file():
        return People()
    people = read_yaml(path, People)
    for error in find_desk_people_and_plan_problems(path, people):
        raise error
    return people


def read_counted_events(workspace: Workspace, store: ScoreStore | None) -> list[Event]:
    """Return the events of the workspace's store, without those of people whose scores don't count; none without one.

    Nobody's scores count whom desk.yaml leaves out, nor anybody's of an answer that they wrote in any run.
    """
    if store is None:
        return []
    authors = AnswerAuthors(list_run_folders_oldest_first(workspace))
    events = (event for _, event in store.read_numbered_events())
    return [*load_desk_people_and_plan(workspace).drop_scores_of_excluded_and_authors(events, authors)]


def find_desk_people_and_plan_problems(path: Path, people: People) -> Iterator[DataError]:
    """Yield the errors in listed names, in the reasons of those left out, in keys, rate and plan."""
    yield from _find_key_binding_problems(path, people)
    if people.rate is not None and not math.isfinite(people.rate):
        yield DataError(path, "is not a price; write a number.", "rate")
    for name, problem in find_plan_problems(people.plan):
        yield DataError(path, problem, f"plan.{name}")
    for name, reason in people.left_out.items():
        if not reason.strip():
            yield DataError(path, f"gives no reason for '{clip(name)}'; write one.", "left_out")
    yield from _find_assignment_problems(path, people)
    for entry in ("analysts", "adjudicators", "reference", "left_out", "assign"):
        folded_names = set()
        for name in getattr(people, entry) or ():
            if not name.strip() or name != " ".join(name.split()) or len(name) > LONGEST_NAME:
                problem = f"'{clip(name)}' is not a valid name; write one line without extra spaces."
                yield DataError(path, problem, entry)
            if normalize_person_name(name) in folded_names:
                yield DataError(path, f"'{clip(name)}' appears twice; remove one.", entry)
            folded_names.add(normalize_person_name(name))


_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def find_plan_problems(plan: StudyPlan) -> Iterator[tuple[str, str]]:
    """Yield the name of each value that no plan has, and what is wrong with it."""
    for name in ("per_answer", "target"):
        if not math.isfinite(getattr(plan, name)):
            yield name, "must be a finite number such as 1.5."
    if isinstance(plan.sample, str) and plan.sample != "all":
        yield "sample", f"'{clip(plan.sample)}' is neither a number of answers nor 'all'."
    if plan.due:
        try:
            readable = bool(_DAY.fullmatch(plan.due)) and plan.due_date is not None
        except ValueError:
            readable = False
        if not readable:
            yield "due", f"'{clip(plan.due)}' is not a date; write one such as 2026-12-18."


def _find_key_binding_problems(path: Path, people: People) -> Iterator[DataError]:
    """Yield the errors in the keys: unknown acts, keys that can't be used, and keys that would do two things."""
    for act, key in people.keys.items():
        if act not in KEYS:
            yield DataError(path, f"there is no action '{clip(act)}'{name_suggestion(act, KEYS)}", "keys")
        elif key not in _CAN_BE_KEYS:
            yield DataError(
                path, f"'{clip(key)}' can't be a key; use a lower-case letter or one of . , / ; - + # ?", f"keys.{act}"
            )
    for act, key in people.keys.items():
        rivals = [rival for rival, used in people.key_by_action.items() if used == key and rival != act]
        if act in KEYS and rivals and (rivals[0] not in people.keys or act < rivals[0]):
            yield DataError(path, f"'{clip(key)}' is also the key for {rivals[0]}; choose another key.", f"keys.{act}")


def _find_assignment_problems(path: Path, people: People) -> Iterator[DataError]:
    for name, targets in people.assign.items():
        if people.analysts is not None and normalize_person_name(name) not in map(
            normalize_person_name, people.analysts
        ):
            problem = f"'{clip(name)}' is not one of the analysts{name_suggestion(name, people.analysts)}"
            yield DataError(path, problem, "assign")
        if not targets:
            yield DataError(
                path, f"'{clip(name)}' has nothing assigned; name a document, or remove the line.", "assign"
            )


def _is_admitted(name: str, listed_names: tuple[str, ...] | None, *, requires_login: bool) -> bool:
    return (
        not requires_login
        if listed_names is None
        else normalize_person_name(name) in map(normalize_person_name, listed_names)
    )
