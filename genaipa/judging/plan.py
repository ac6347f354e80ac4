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
from genaipa.judging.answers import FILE, JudgedAnswers, JudgedMaterial, read_material
from genaipa.judging.name import FIRST_DAY, NAME, Judge
from genaipa.judging.task import JudgeInputs, JudgeTask, load_templates, prompt_digest
from genaipa.judging.verdict import asked_models, put_in
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.runs.records import RunSpec
from genaipa.runs.selection import run_folders
from genaipa.scoring.current import in_effect
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import existing_store
from genaipa.systems.catalog import resolve_system
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest
    from genaipa.scoring.rubric import Rubric
    from genaipa.tasks.prompts import Prompts
    from genaipa.workspace import Workspace

_DATED = r"(?:-\d{3}[\d-]*)?"
"""Behind the name of a model that was asked for, a provider has the date or number of the version that it served."""

_THOUGHT = 4096
"""Tokens that a judge may think before its verdict; providers count both against one limit."""

ANCHORS = 30
"""Answers of the first occasion that a judge judges again on each later one."""

Wanted = dict[str, set[tuple[str, int]]]
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
    """The judge's runs to carry out: those `begun` before that go on, and `new` ones.

    `wanted` is the number of judgements of the `answers` that are asked for, `had` of the present ones.
    `said` are sentences for whoever asked.
    """

    answers: JudgedAnswers
    wanted: int
    had: int = 0
    begun: list[tuple[RunFolder, int]] = field(default_factory=list)
    new: list[JudgeTask] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


class _BegunRun(NamedTuple):
    """A judge's run: the judgements in its plan, and those it has, by judges; the longest verdict in tokens."""

    folder: RunFolder
    planned: Wanted
    done: Wanted
    max_tokens: int | None


def make_worklist(workspace: Workspace, request: JudgeRequest) -> JudgeWorklist:
    """List the judgements that are missing; puts verdicts that only a run folder has into the store.

    A UsageError for runs without answers, for a judge that is none, and for one of the family of a system that it
    would judge, unless that is wanted.
    """
    rubric, templates = load_rubric(workspace), load_templates(workspace)
    verdict.check(rubric)
    judges = {resolve_system(name, workspace).name: name for name in request.judges}
    for name in request.judges:
        _check_judge(workspace, name)
    answers = JudgedAnswers(workspace, request.runs, request.only)
    own_family = _own_family(answers, judges, allowed=request.own_family)
    prompt = prompt_digest(templates.sources, rubric, evidence=request.evidence)
    begun, served = _judged_before(workspace, prompt, rubric, judges)
    passes = range(1, request.passes + 1)
    there = _in_store(workspace, prompt, served)
    asked = {(digest, one) for digest in answers.digests for one in passes}
    wanted = {judge: asked | _anchors(workspace, answers, there[judge]) for judge in judges}
    worklist = JudgeWorklist(answers, sum(map(len, wanted.values())))
    _leave_out(wanted, there)
    for one in begun:
        _leave_out(wanted, one.done)
    worklist.had = worklist.wanted - sum(map(len, wanted.values()))
    for one in begun:
        if request.max_tokens not in (None, one.max_tokens):
            continue  # a run keeps its limit, and another one is wanted
        missing = {judge: left for judge in one.planned if (left := one.planned[judge] - one.done[judge])}
        if all(left <= wanted.get(judge, set()) for judge, left in missing.items()) and missing:
            worklist.begun.append((one.folder, sum(map(len, missing.values()))))
        elif any(missing.get(judge, set()) & left for judge, left in wanted.items()):
            worklist.said.append(
                f"{one.folder.name} was begun with these and other answers or judges, and asks them; to go on with it: "
                f"genaipa run --resume {one.folder.name}"
            )
        _leave_out(wanted, missing)
    alike: defaultdict[frozenset[tuple[str, int]], list[str]] = defaultdict(list)
    for judge, left in wanted.items():
        if left:
            alike[frozenset(left)].append(judges[judge])
    for those, names in alike.items():
        whose = {name: own_family[name] for name in names if name in own_family}
        material = JudgedMaterial(prompt, secrets.token_hex(16), answers.runs, request.evidence, whose, rubric, ())
        spec = RunSpec(tuple(names), NAME, NAME, max_tokens=request.max_tokens)
        worklist.new.append(_task(workspace, answers, spec, those, material, templates))
    worklist.said += [*answers.problems, *filter(None, [answers.left_out, _again(wanted)])]
    return worklist


def _task(
    workspace: Workspace,
    answers: JudgedAnswers,
    spec: RunSpec,
    left: frozenset[tuple[str, int]],
    material: JudgedMaterial,
    templates: Prompts,
) -> JudgeTask:
    passes: defaultdict[str, list[int]] = defaultdict(list)
    for digest, passed in sorted(left):
        passes[digest].append(passed)
    wanted = {digest: tuple(those) for digest, those in passes.items()}
    judged = answers.judged(wanted, evidence=material.evidence, points=bool(material.rubric.pointed))
    material = JudgedMaterial(
        **{name: getattr(material, name) for name in material.__struct_fields__} | {"answers": judged}
    )
    named = {one.document for one in judged}
    documents = {name: document for name, document in answers.documents.items() if name in named}
    facts = {name: facts for name, facts in answers.facts().items() if name in named}
    if spec.max_tokens is None:
        # A small model that goes on and on must end soon, and whoever thinks first come to an end.
        forms = {(bool(one.annotated), bool(one.points)) for one in judged}
        longest = (verdict.longest(material.rubric, annotated=annotated, points=points) for annotated, points in forms)
        spec = replace(spec, max_tokens=_THOUGHT + max(longest))
    return JudgeTask(spec, workspace, JudgeInputs(material, documents, facts, templates))


def _check_judge(workspace: Workspace, name: str) -> None:
    """Raise a UsageError for a system without words of its own."""
    known = resolve_system(name, workspace)
    if known.manual:
        raise UsageError(
            f"{name} is a web chat that a person carries the messages of; people score with: genaipa score"
        )
    words = known.record.words if known.record else "own"
    if words != "own":
        what = "repeats the recorded answers of a study" if words == "recording" else "only quotes the document"
        raise UsageError(f"{name} can't judge: it {what}. Name a model, or scripted/FILE to try things out.")


def _own_family(answers: JudgedAnswers, judges: Mapping[str, str], *, allowed: bool) -> dict[str, tuple[str, ...]]:
    """Judge → the systems of its own family that it is to judge; a UsageError for the first, unless `allowed`."""
    found = {}
    for judge, name in judges.items():
        related = tuple(system.name for system in answers.systems if system.akin(judge))
        if related and not allowed:
            raise UsageError(
                f"{name} is of the same family as {related[0]}, whose answers it would judge, and models favour their "
                "own; choose another judge, or allow its family by the option `own_family`; every table then marks it."
            )
        if related:
            found[name] = related
    return found


def _leave_out(wanted: Wanted, done: Wanted) -> None:
    for judge in wanted:
        wanted[judge] -= done.get(judge, set())


def _judge_runs(workspace: Workspace) -> list[tuple[RunFolder, Manifest, JudgedMaterial]]:
    """Return the runs in which judges were asked, oldest first; without those whose manifest is damaged."""
    found = []
    for folder in run_folders(workspace):
        if (folder.path / FILE).is_file() and not folder.is_withheld:
            try:
                found.append((folder, folder.manifest(), read_material(folder)))
            except GenaipaError:
                continue  # `genaipa validate` names it
    return found


def _judged_before(
    workspace: Workspace, prompt: str, rubric: Rubric, judges: Mapping[str, str]
) -> tuple[list[_BegunRun], dict[str, set[str]]]:
    """Return the runs in which these judges were asked this, and the models as which each judge was served."""
    begun: list[_BegunRun] = []
    served = {judge: {judge, resolve_system(name, workspace).model} for judge, name in judges.items()}
    # Verdicts by another rubric are another judge's, and perhaps not even of these metrics.
    runs = [run for run in _judge_runs(workspace) if run[2].rubric.digest == rubric.digest]
    if runs:
        put_in(workspace, runs)
    for folder, manifest, material in runs:
        names = asked_models(manifest)
        if material.prompt != prompt or not set(names.values()) & judges.keys():
            continue
        every = {(one.digest, passed) for one in material.answers for passed in one.passes}
        limit = manifest.spec.max_tokens
        one = _BegunRun(folder, dict.fromkeys(names.values(), every), {judge: set() for judge in names.values()}, limit)
        for record in folder.records():
            if record.status == "answered" and record.system in names:
                judge, known = names[record.system], record.coordinates
                one.done[judge].add((known["answer"], int(known["pass"])))
                if record.model and judge in served:
                    served[judge].add(record.model)
        begun.append(one)
    return begun, served


def _anchors(workspace: Workspace, answers: JudgedAnswers, done: set[tuple[str, int]]) -> set[tuple[str, int]]:
    """The first occasion's answers that a judge judges again now: drawn once, among answers that people scored, too."""
    if not answers.day:
        return set()
    with existing_store(workspace) as store:
        given = in_effect(event for _, event in store.events()) if store else []
    by_people = {event.answer for event in given if event.scorer == "human"}
    before = {digest for digest, passed in done if passed >= FIRST_DAY}
    judged = {digest for digest, passed in done if passed < FIRST_DAY}
    # Those that were drawn once stay; digests are as good as random numbers.
    drawn = sorted(judged & by_people & set(answers.anchors), key=lambda digest: (digest not in before, digest))
    return {(digest, int(answers.day.replace("-", ""))) for digest in drawn[:ANCHORS]}


def _again(wanted: Wanted) -> str:
    """Return a sentence on the anchors that are asked for; empty without any."""
    anchors = len({digest for left in wanted.values() for digest, passed in left if passed >= FIRST_DAY})
    return f"with {number(anchors, 'answer')} of the first day again, to see whether the judge moved" if anchors else ""


def _in_store(workspace: Workspace, prompt: str, served: Mapping[str, set[str]]) -> Wanted:
    """Return the judgements by these judges that the store has, whether their run is here or not."""
    models = {
        judge: re.compile("|".join(f"{re.escape(name)}{_DATED}" for name in names)) for judge, names in served.items()
    }
    found: Wanted = {judge: set() for judge in served}
    given: dict[str, set[tuple[str, int]]] = defaultdict(set)
    with existing_store(workspace) as store:
        for _, event in store.events() if store else ():
            known = Judge.parse(event.analyst) if event.scorer == "machine" and event.values else None
            if known and known.prompt == prompt:
                given[known.model].add((event.answer, known.passed))
    for judge, pattern in models.items():
        found[judge].update(*(had for model, had in given.items() if pattern.fullmatch(model)))
    return found
