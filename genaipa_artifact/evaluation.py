"""The human evaluation of a packed study, as its records have it: scores of people, their desk, what was drawn.

Nothing here says more than runs, events and waves do. An event that says in which order the desk brought the answer up
is one of the desk; what other events say of exposures, times and screens may be a default of the file that they came
from.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from genaipa.plugins import entry_point_targets, load_object
from genaipa.questions.sets import is_follow_up
from genaipa.runs.authors import normalize_person_name
from genaipa.runs.procedure import get_plan_if_procedure_run
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.events import MEAN, SEND_BACK, VALUED
from genaipa.scoring.rubric import find_rubric_path, shipped_rubric
from genaipa.systems.provider import find_provider, strip_wrapper_from_system_name
from genaipa.tasks.prompts import NOT_KNOWN
from genaipa_artifact.heds_power import find_pairs_with_detectable_differences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from genaipa.answers.study import Study
    from genaipa.archive.study_pack import WrittenPack
    from genaipa.reports.table import Table
    from genaipa.scoring.events import Event, EventKind
    from genaipa.scoring.rubric import Guidelines, Rubric
    from genaipa.scoring.waves import Waves
    from genaipa.workspace import Workspace
    from genaipa_artifact.heds_power import ComparedPair


ADDITIONS_GROUP = "genaipa.data_sheets"
"""Entry points: functions of the workspace, the study and its report's tables, which yield sheet additions."""


class SheetAddition(NamedTuple):
    """A sentence that a package adds to the answer to a question of the sheet, and the records it follows from."""

    number: str
    sentence: str
    source: str


def collect_sheet_additions(workspace: Workspace, study: Study, tables: Mapping[str, Table]) -> list[SheetAddition]:
    """Return what packages add to the data sheet of a study, by the names of their entry points."""
    return [
        SheetAddition(*addition)
        for _, target in sorted(entry_point_targets(ADDITIONS_GROUP).items())
        for addition in load_object(target)(workspace, study, tables)
    ]


@dataclass(frozen=True)
class HumanEvaluationRecords:
    """The records of a study's human evaluation: the `study`, the `tables` of its report, and the rubric's file.

    `guidelines` are those that the workspace has now; no event says who read them.
    """

    study: Study
    tables: Mapping[str, Table]
    rubric_path: str
    guidelines: Guidelines | None
    additions: Sequence[SheetAddition] = ()
    """What other packages know of this evaluation."""

    @classmethod
    def from_packed_study(
        cls, packed: WrittenPack, workspace: Workspace, guidelines: Guidelines | None
    ) -> HumanEvaluationRecords:
        """Return the records of a packed study, and of the rubric and guidelines of the workspace that it is of."""
        study, tables = packed.report.study, packed.report.tables
        rubric_path = f"rubrics/{find_rubric_path(workspace).name}"
        return cls(study, tables, rubric_path, guidelines, collect_sheet_additions(workspace, study, tables))

    @property
    def rubric(self) -> Rubric:
        """The rubric of the study."""
        return self.study.rubric

    @cached_property
    def _effective_scores_and_adjudications(self) -> list[Event]:
        return effective_scores_and_adjudications(self.study.log.counted)

    @cached_property
    def scores(self) -> list[Event]:
        """The scores of people that are in effect, without those of analysts who are left out."""
        return [
            event
            for event in self._effective_scores_and_adjudications
            if (event.kind, event.scorer) == ("score", "human")
        ]

    @cached_property
    def adjudications(self) -> list[Event]:
        """The adjudications that are in effect."""
        return [event for event in self._effective_scores_and_adjudications if event.kind == "adjudication"]

    @cached_property
    def judge_scores(self) -> list[Event]:
        """The scores of judges that are in effect."""
        return [event for event in self._effective_scores_and_adjudications if event.scorer == "machine"]

    @cached_property
    def desk_scores(self) -> list[Event]:
        """The scores that name the order in which the desk brought the answer up."""
        return [score for score in self.scores if score.order]

    @property
    def has_only_desk_scores(self) -> bool:
        """Whether there are scores, all of them recorded by the desk."""
        return 0 < len(self.scores) == len(self.desk_scores)

    @cached_property
    def runs_with_published_scores(self) -> list[str]:
        """The runs with published scores, which name nobody."""
        table = self.study.table
        return sorted(map(str, table.loc[table["unit"] == "table", "run"].unique()))

    @cached_property
    def tested_system_pairs(self) -> list[tuple[str, str]]:
        """The pairs of systems whose difference the report tests, perhaps by published scores."""
        table = self.tables.get("system-differences")
        if table is None:
            return []
        tested = table.data[table.data["p_holm"].notna()]
        return [(str(row["first"]), str(row["second"])) for row in tested.to_dict("records")]

    @cached_property
    def pairs_with_detectable_differences(self) -> list[ComparedPair]:
        """Some pairs of systems with the sentence on their detectable difference; each is a simulation of studies."""
        return find_pairs_with_detectable_differences(self)

    @cached_property
    def left_out_scorers(self) -> dict[str, str]:
        """Name → reason of those who are left out and have given scores or adjudications, withdrawn ones too."""
        scorers = {normalize_person_name(event.analyst) for event in self.study.log.every if event.kind in VALUED}
        return {
            name: reason for name, reason in self.study.log.left_out.items() if normalize_person_name(name) in scorers
        }

    @cached_property
    def has_independent_scores_of_two(self) -> bool:
        """Whether an answer has scores that are recorded as independent, under two names."""
        pairs = {(score.answer, score.analyst) for score in self.study.independent_scores}
        return len({answer for answer, _ in pairs}) < len(pairs)

    @cached_property
    def are_all_scored_by_current_rubric(self) -> bool:
        """Whether every score and adjudication names the values and meanings of the rubric; so does none at all."""
        digests = {event.rubric or shipped_rubric().digest for event in (*self.scores, *self.adjudications)}
        return digests <= {self.rubric.digest}

    @cached_property
    def scorable_answers(self) -> pd.DataFrame:
        """Each answer that can be scored, with `scored` (people did), `people` (how many did) and `is_follow_up`."""
        rows = self.study.rows_once_per_answer("wave")
        rows = rows[rows["answer"] != ""]
        people = Counter(answer for answer, _ in {(score.answer, score.analyst) for score in self.scores})
        adjudicated = {event.answer for event in self.adjudications}
        answers = rows["answer"].astype(str)
        return rows.assign(
            people=[people[answer] for answer in answers],
            scored=[answer in people or answer in adjudicated for answer in answers],
            is_follow_up=[*map(is_follow_up, rows["question"].astype(str))],
        )

    @cached_property
    def answers_scored_by_people(self) -> pd.DataFrame:
        """The answers that people scored."""
        return self.scorable_answers[self.scorable_answers["scored"]]

    @cached_property
    def answers_with_known_prompts(self) -> pd.DataFrame:
        """The answers of runs that were planned here: none that was imported, dealt to a partner or recorded."""
        return self.scorable_answers[~self.scorable_answers["prompts"].astype(str).isin(("", *NOT_KNOWN))]

    @cached_property
    def answers_to_sent_messages(self) -> pd.DataFrame:
        """The answers to messages that genaipa sent: none that people wrote or brought, or whose system chose passages.

        A wrapper (`rag/SYSTEM`) sends the system within it something else.
        """
        excluded_systems = set()
        for source in self.study.sources:
            for name, facts in source.manifest.systems.items():
                provider = find_provider(facts.model or name)
                if provider is not None and (provider.by_hand or provider.wraps):
                    excluded_systems.add((source.folder.name, name))
        answers = self.answers_with_known_prompts
        places = pd.MultiIndex.from_frame(answers[["run", "system"]].astype(str))
        return answers[~places.isin(sorted(excluded_systems))] if excluded_systems else answers

    @cached_property
    def descriptions_of_stand_ins(self) -> dict[str, str]:
        """System → what writes its replies, where that is known to be rules, a file or people, in all runs."""
        pairs_with_known_prompts = set(
            map(tuple, self.answers_with_known_prompts[["run", "system"]].astype(str).to_numpy())
        )
        runs_and_systems = set(map(tuple, self.scorable_answers[["run", "system"]].astype(str).to_numpy()))
        facts_by_place = {
            (source.folder.name, name): facts
            for source in self.study.sources
            for name, facts in source.manifest.systems.items()
        }
        descriptions: dict[str, set[str]] = {}
        for run, system in runs_and_systems:
            facts = facts_by_place.get((run, system)) if (run, system) in pairs_with_known_prompts else None
            about = _describe_stand_in_or_empty(facts.model or system) if facts else ""
            descriptions.setdefault(system, set()).add(about)
        return {
            system: abouts.pop()
            for system, abouts in sorted(descriptions.items())
            if len(abouts) == 1 and "" not in abouts
        }

    @cached_property
    def evaluators(self) -> set[str]:
        """The names under which people's scores or adjudications of answers that are not excluded are in effect."""
        answers = set(self.scorable_answers.loc[~self.scorable_answers["left_out"], "answer"].astype(str))
        return {event.analyst for event in (*self.scores, *self.adjudications) if event.answer in answers}

    @property
    def waves_asked_of_people(self) -> Waves:
        """The random parts as people were asked for them, finished or not."""
        return self.study.waves.waves_at_first_and_latest_sizes[1]

    @cached_property
    def are_questions_about_documents(self) -> bool:
        """Whether all outputs are answers of the procedure to questions about documents."""
        runs = set(map(str, self.scorable_answers["run"].unique()))
        return bool(runs) and all(
            get_plan_if_procedure_run(source.manifest.spec) is not None
            for source in self.study.sources
            if source.folder.name in runs
        )

    def count_events_nobody_undid(self, kind: EventKind) -> int:
        """Count the events of a kind that nobody undid."""
        undone = {event.undoes for event in self.study.log.counted}
        return sum(event.kind == kind and event.id not in undone for event in self.study.log.counted)

    @property
    def send_back_count(self) -> int:
        """How often an adjudicator sent an answer back to those who had scored it."""
        return self.count_events_nobody_undid(SEND_BACK)

    @property
    def mean_acceptance_count(self) -> int:
        """How often an adjudicator let the mean of scores stand."""
        return self.count_events_nobody_undid(MEAN)

    def agreement_table_row_of_metric(self, metric: str) -> Mapping[str, object] | None:
        """Return the row of a metric in the report's table of agreement; None without one."""
        table = self.tables.get("agreement")
        if table is None:
            return None
        rows = table.data[table.data["metric"] == self.rubric.display_names[metric]].to_dict("records")
        return {str(name): value for name, value in rows[0].items()} if rows else None


def _describe_stand_in_or_empty(system: str) -> str:
    """Say what writes a system's replies, where it is rules, a file or people; of a wrapper, the system within it."""
    inner_name = strip_wrapper_from_system_name(system)
    provider = find_provider(inner_name)
    if provider is None or ("/" in provider.form and "/" not in inner_name):
        return ""
    is_stand_in = provider.builtin is not None or provider.by_hand == "written"
    # What follows a comma is what it is good for.
    return re.split("[,;]", provider.about)[0] if is_stand_in else ""
