"""The judgements that are missing: wanted, and neither in the store nor in a judge's run.

A judgement is an answer by a judge, prompt, rubric and pass; it is asked for once, ever.
"""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from genaipa.errors import GenaipaError, UsageError
from genaipa.judging import verdict
from genaipa.judging.answers import FILE, JudgedAnswers, JudgedMaterial, read_judged_material
from genaipa.judging.name import FIRST_DAY, NAME, Judge
from genaipa.judging.task import JudgeInputs, JudgeTask, load_judge_templates, prompt_digest
from genaipa.judging.verdict import full_name_by_asked_system, store_missing_verdicts_of_runs
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.runs.records import RunSpec
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.people import read_counted_events
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.systems.base import token_limit_with_thoughts
from genaipa.systems.catalog import resolve_system
from genaipa.systems.provider import add_effort_to_system_name, split_system_name_and_effort
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest
    from genaipa.scoring.rubric import Rubric
    from genaipa.tasks.prompts import PromptSet
    from genaipa.workspace import Workspace

_DATED = r"(?:-\d{3}[\d-]*)?"
"""Behind the name of a model that was asked for, a provider has the date or number of the version that it served."""

_THOUGHT = 4096
"""Tokens that a judge may think before its verdict; providers count both against one limit."""

ANCHORS = 30
"""Answers of the first occasion that a judge judges again on each later one."""

JudgementsByJudge = dict[str, set[tuple[str, int]]]
"""A judge by its system's full name → (answer digest, pass)."""


class JudgeRequest(NamedTuple):
    """The request for judges: which runs' answers, by which systems, how often, and what they are shown.

    `only` filters the answers.
    """

    runs: tuple[str, ...]
    judges: tuple[str, ...]
    passes: int = 1
    evidence: bool = False
    own_family: bool = False
    only: Filters = EVERYTHING
    max_tokens: int | None = None


@dataclass
class JudgeWorklist:
    """The judge's runs to carry out: those `started` before that go on, and `new` ones.

    `wanted` is the number of judgements of the `answers` that are asked for, `had` of the present ones.
    `notes` are sentences for whoever asked.
    """

    answers: JudgedAnswers
    wanted: int
    had: int = 0
    started: list[tuple[RunFolder, int]] = field(default_factory=list)
    new: list[JudgeTask] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _JudgeRunProgress(NamedTuple):
    """A judge's run: the judgements in its plan, and those it has, by judges; the longest verdict in tokens."""

    folder: RunFolder
    planned: JudgementsByJudge
    done: JudgementsByJudge
    max_tokens: int | None


def make_worklist_and_store_verdicts(workspace: Workspace, request: JudgeRequest) -> JudgeWorklist:
    """List the judgements that are missing; puts verdicts that only a run folder has into the store.

    A UsageError for runs without answers, for a judge that is none, and for one of the family of a system that it
    would judge, unless that is wanted.
    """
    rubric, templates = load_rubric(workspace), load_judge_templates(workspace)
    verdict.check_value_words_of_metric_differ(rubric)
    judges = {resolve_system(name, workspace).name: name for name in request.judges}
    for name in request.judges:
        _check_system_writes_own_replies(workspace, name)
    answers = JudgedAnswers(workspace, request.runs, request.only)
    own_family = _find_own_family_systems_or_refuse(answers, judges, is_own_family_allowed=request.own_family)
    prompt = prompt_digest(templates.template_texts, rubric, with_evidence=request.evidence)
    started_runs, served = _store_verdicts_and_find_runs_and_models(workspace, prompt, rubric, judges)
    passes = range(1, request.passes + 1)
    stored = _find_stored_judgements(workspace, prompt, served)
    requested = {(digest, passed) for digest in answers.answer_digests for passed in passes}
    wanted = {judge: requested | _choose_anchor_judgements(workspace, answers, stored[judge]) for judge in judges}
    worklist = JudgeWorklist(answers, sum(map(len, wanted.values())))
    _remove_done_judgements(wanted, stored)
    for started_run in started_runs:
        _remove_done_judgements(wanted, started_run.done)
    worklist.had = worklist.wanted - sum(map(len, wanted.values()))
    for started_run in started_runs:
        if request.max_tokens not in (None, started_run.max_tokens):
            continue  # a run keeps its limit, and another one is wanted
        missing = {
            judge: remaining
            for judge in started_run.planned
            if (remaining := started_run.planned[judge] - started_run.done[judge])
        }
        if all(remaining <= wanted.get(judge, set()) for judge, remaining in missing.items()) and missing:
            worklist.started.append((started_run.folder, sum(map(len, missing.values()))))
        elif any(missing.get(judge, set()) & remaining for judge, remaining in wanted.items()):
            worklist.notes.append(
                f"{started_run.folder.name} already asks for some of these verdicts, along with others; to continue "
                f"it: genaipa run --resume {started_run.folder.name}"
            )
        _remove_done_judgements(wanted, missing)
    alike: defaultdict[frozenset[tuple[str, int]], list[str]] = defaultdict(list)
    for judge, remaining in wanted.items():
        if remaining:
            alike[frozenset(remaining)].append(judges[judge])
    for judgements, names in alike.items():
        families = {name: own_family[name] for name in names if name in own_family}
        material = JudgedMaterial(prompt, secrets.token_hex(16), answers.runs, request.evidence, families, rubric, ())
        spec = RunSpec(tuple(names), NAME, NAME, max_tokens=request.max_tokens)
        worklist.new.append(_make_judge_task(workspace, answers, spec, judgements, material, templates))
    worklist.notes += [
        *answers.problems,
        *filter(None, [answers.sentence_on_exclusions_or_empty, _sentence_on_anchors_or_empty(wanted)]),
    ]
    return worklist


def _make_judge_task(
    workspace: Workspace,
    answers: JudgedAnswers,
    spec: RunSpec,
    judgements: frozenset[tuple[str, int]],
    material: JudgedMaterial,
    templates: PromptSet,
) -> JudgeTask:
    passes: defaultdict[str, list[int]] = defaultdict(list)
    for digest, passed in sorted(judgements):
        passes[digest].append(passed)
    wanted = {digest: tuple(numbers) for digest, numbers in passes.items()}
    items = answers.load_judged_items(
        wanted, with_evidence=material.evidence, with_points=bool(material.rubric.points_metric)
    )
    material = JudgedMaterial(
        **{name: getattr(material, name) for name in material.__struct_fields__} | {"answers": items}
    )
    document_names = {item.document for item in items}
    documents = {name: document for name, document in answers.documents.items() if name in document_names}
    facts = {name: facts for name, facts in answers.document_facts().items() if name in document_names}
    if spec.max_tokens is None:
        # A small model that goes on and on must end soon, and whoever thinks first come to an end.
        forms = {(bool(item.annotated), bool(item.points)) for item in items}
        longest = (
            verdict.count_longest_verdict_tokens(material.rubric, has_annotated_answer=annotated, has_points=points)
            for annotated, points in forms
        )
        limit = _THOUGHT + max(longest)
        spec = replace(
            spec,
            max_tokens=max(
                token_limit_with_thoughts(limit, split_system_name_and_effort(name)[1]) for name in spec.systems
            ),
        )
    return JudgeTask(spec, workspace, JudgeInputs(material, documents, facts, templates))


def _check_system_writes_own_replies(workspace: Workspace, system_name: str) -> None:
    """Raise a UsageError for a system without words of its own."""
    system = resolve_system(system_name, workspace)
    if system.is_manual:
        raise UsageError(f"{system_name} can't judge, because it is asked by hand. To have people score: genaipa score")
    words = system.provider_record.words if system.provider_record else "own"
    if words != "own":
        reason = "repeats the recorded answers of a study" if words == "recording" else "only quotes the document"
        raise UsageError(
            f"{system_name} can't judge: it {reason}. Name a model, or use scripted/FILE to try things out."
        )


def _find_own_family_systems_or_refuse(
    answers: JudgedAnswers, name_by_judge: Mapping[str, str], *, is_own_family_allowed: bool
) -> dict[str, tuple[str, ...]]:
    """Judge → the systems of its own family that it is to judge.

    A UsageError for the first, unless `is_own_family_allowed`.
    """
    own_family = {}
    for judge, name in name_by_judge.items():
        related = tuple(system.name for system in answers.systems if system.is_of_same_family(judge))
        if related and not is_own_family_allowed:
            raise UsageError(
                f"{name} is from the same family as {related[0]}, whose answers it would judge, and models favour "
                "their own; choose another judge, or allow it with the option `own_family`; every table then marks it."
            )
        if related:
            own_family[name] = related
    return own_family


def _remove_done_judgements(wanted: JudgementsByJudge, done: JudgementsByJudge) -> None:
    for judge in wanted:
        wanted[judge] -= done.get(judge, set())


def _list_judge_runs(workspace: Workspace) -> list[tuple[RunFolder, Manifest, JudgedMaterial]]:
    """Return the runs in which judges were asked, oldest first; without those whose manifest is damaged."""
    runs = []
    for folder in list_run_folders_oldest_first(workspace):
        if (folder.path / FILE).is_file() and not folder.has_withheld_texts:
            try:
                runs.append((folder, folder.manifest(), read_judged_material(folder)))
            except GenaipaError:
                continue  # `genaipa validate` names it
    return runs


def _store_verdicts_and_find_runs_and_models(
    workspace: Workspace, digest_of_prompt: str, rubric: Rubric, name_by_judge: Mapping[str, str]
) -> tuple[list[_JudgeRunProgress], dict[str, set[str]]]:
    """Return the runs in which these judges were asked this, and the models as which each judge was served."""
    started_runs: list[_JudgeRunProgress] = []
    systems = {judge: resolve_system(name, workspace) for judge, name in name_by_judge.items()}
    served = {
        judge: {judge, add_effort_to_system_name(system.model, system.effort)} for judge, system in systems.items()
    }
    # Verdicts by another rubric are another judge's, and perhaps not even of these metrics.
    runs = [run for run in _list_judge_runs(workspace) if run[2].rubric.digest == rubric.digest]
    if runs:
        store_missing_verdicts_of_runs(workspace, runs)
    for folder, manifest, material in runs:
        names = full_name_by_asked_system(manifest)
        if material.prompt != digest_of_prompt or not set(names.values()) & name_by_judge.keys():
            continue
        judgements = {(item.digest, passed) for item in material.answers for passed in item.passes}
        planned = dict.fromkeys(names.values(), judgements)
        done: JudgementsByJudge = {judge: set() for judge in names.values()}
        started_run = _JudgeRunProgress(folder, planned, done, manifest.spec.max_tokens)
        for record in folder.read_records():
            if record.status == "answered" and record.system in names:
                judge, coordinates = names[record.system], record.coordinates
                started_run.done[judge].add((coordinates["answer"], int(coordinates["pass"])))
                if record.model and judge in served:
                    served[judge].add(add_effort_to_system_name(record.model, systems[judge].effort))
        started_runs.append(started_run)
    return started_runs, served


def _choose_anchor_judgements(
    workspace: Workspace, answers: JudgedAnswers, done: set[tuple[str, int]]
) -> set[tuple[str, int]]:
    """Choose the first occasion's answers that a judge judges again, among those that people scored, too."""
    if not answers.day:
        return set()
    with open_existing_store(workspace) as store:
        effective = effective_scores_and_adjudications(read_counted_events(workspace, store))
    by_people = {event.answer for event in effective if event.scorer == "human"}
    earlier = {digest for digest, passed in done if passed >= FIRST_DAY}
    judged = {digest for digest, passed in done if passed < FIRST_DAY}
    # Those that were drawn once stay; digests are as good as random numbers.
    chosen = sorted(
        judged & by_people & set(answers.anchor_candidate_digests), key=lambda digest: (digest not in earlier, digest)
    )
    return {(digest, int(answers.day.replace("-", ""))) for digest in chosen[:ANCHORS]}


def _sentence_on_anchors_or_empty(wanted: JudgementsByJudge) -> str:
    """Return a sentence on the anchors that judges are asked for; empty without any."""
    anchors = len({digest for pairs in wanted.values() for digest, passed in pairs if passed >= FIRST_DAY})
    return (
        f"{format_count(anchors, 'answer')} from the first day will be judged again to check whether the "
        "judge has changed"
        if anchors
        else ""
    )


def _find_stored_judgements(
    workspace: Workspace, digest_of_prompt: str, served_models: Mapping[str, set[str]]
) -> JudgementsByJudge:
    """Return the judgements by these judges that the store has, whether their run is here or not."""
    models = {
        judge: re.compile("|".join(f"{re.escape(name)}{_DATED}" for name in names))
        for judge, names in served_models.items()
    }
    judgements: JudgementsByJudge = {judge: set() for judge in served_models}
    judgements_by_model: dict[str, set[tuple[str, int]]] = defaultdict(set)
    with open_existing_store(workspace) as store:
        for _, event in store.read_numbered_events() if store else ():
            scorer = Judge.parse(event.analyst) if event.scorer == "machine" and event.values else None
            if scorer and scorer.prompt == digest_of_prompt:
                judgements_by_model[scorer.model].add((event.answer, scorer.passed))
    for judge, pattern in models.items():
        judgements[judge].update(*(had for model, had in judgements_by_model.items() if pattern.fullmatch(model)))
    return judgements
