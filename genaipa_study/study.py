"""The published study: its answers and scores read and audited, as runs and as recordings of its systems."""

from __future__ import annotations

import importlib.util
from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from genaipa.datasets.base import ImportedStudy, make_pulled_data_workspace
from genaipa.datasets.snapshot import digest_inputs
from genaipa.datasets.study import PublishedAnswer, StudyRun, write_recordings_and_list_systems, write_study_runs
from genaipa.errors import RunError, UsageError
from genaipa.policies.document import Document, load_document
from genaipa.questions.annotations import load_annotations
from genaipa.questions.sets import load_question_set
from genaipa.runs.imported import file_has_content
from genaipa.systems.published import is_recording_pulled
from genaipa_study.audit import (
    audit_annotations,
    audit_answers,
    audit_scores,
    make_annotation_exclusions,
    make_answer_exclusions,
    make_score_exclusions,
)
from genaipa_study.findings import AUDIT, format_audit_csv
from genaipa_study.layout import (
    ANSWERS,
    POLICIES,
    POLICY_SET,
    REGULATION_SET,
    REGULATIONS,
    REPETITIONS,
    RESULTS,
    STUDY_EXPERIMENTS,
    faq_or_user_origin,
    list_available_files,
    list_wordings,
)
from genaipa_study.results import read_published_scores_and_findings
from genaipa_study.sheets import read_published_answers_and_findings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.runs.exclusions import Exclusion
    from genaipa.runs.imported import PublishedScore
    from genaipa.workspace import Workspace
    from genaipa_study.findings import Finding
    from genaipa_study.layout import PublishedTree

RECORDING_VERSION = 1
"""Version of the recordings. Raise it when they change: those made before are then made again."""

_PART_SETS = {"published/chatgpt-4": "GPT-4"}
"""In which parts a system was shown the documents; the others share one set."""
_SHARED_PARTS = "BingAI&Bard"


@dataclass(frozen=True)
class PublishedStudy:
    """Everything that was read: answers, scores, findings about them, the documents that they are about; what is wrong.

    Answers are excluded by their keys.
    """

    answers: list[PublishedAnswer]
    scores: list[PublishedScore]
    findings: list[Finding]
    documents: dict[str, Document]
    excluded_answers: dict[str, Exclusion]
    excluded_scores: dict[PublishedScore, Exclusion]


def read_published_study(tree: PublishedTree) -> PublishedStudy:
    """Read the published study; a UsageError with the command that fetches it if it is not here."""
    pulled_data = make_pulled_data_workspace()
    if POLICY_SET not in pulled_data.nearest_files("questions") or not any(
        map(tree.is_published_file_cached, tree.optional_files)
    ):
        raise UsageError(
            f"the published study has not been fetched; fetch it with: {tree.pull_command} "
            f"(or {tree.pull_command} --from FOLDER)"
        )
    questions = load_question_set(POLICY_SET, pulled_data)
    documents = {name: load_document(name, pulled_data) for name in (*POLICIES, *REGULATIONS)}
    answers, answer_findings = read_published_answers_and_findings(tree, questions)
    scores, score_findings = read_published_scores_and_findings(tree)
    findings = [*answer_findings, *score_findings, *audit_answers(answers, questions), *audit_scores(scores)]
    for name in POLICIES:
        findings += audit_annotations(tree, documents[name], load_annotations(pulled_data, name))
    excluded = make_answer_exclusions(findings), make_score_exclusions(scores, findings, answers)
    return PublishedStudy(answers, scores, findings, documents, *excluded)


def import_study_and_write_audit(tree: PublishedTree, workspace: Workspace) -> ImportedStudy:
    """Write the study's runs and its audit into the workspace."""
    study = read_published_study(tree)
    imported = write_study_runs(workspace, _make_study_runs(study, f"{tree.repository}, commit {tree.commit}"))
    path = workspace.home / "published" / f"{tree.dataset}-{AUDIT}"
    audit = format_audit_csv(study.findings)
    if not file_has_content(path, audit):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(audit)
        except OSError as error:
            raise RunError(f"{path} can't be written ({error.strerror}).") from None
        imported.changed.append(path.name)
    kinds = Counter(finding.kind for finding in study.findings).most_common()
    imported.notes += _describe_audit(study.findings, kinds, path)
    imported.facts["audit"] = {"file": str(path), "findings": dict(kinds)}
    return imported


def _describe_audit(findings: list[Finding], finding_counts: list[tuple[str, int]], audit_path: Path) -> Iterator[str]:
    """Describe what the audit found, kind by kind, the most frequent first."""
    if not findings:
        yield "The audit found nothing wrong in the published data."
        return
    excluding = Counter(finding.kind for finding in findings if finding.excludes)
    yield f"The audit found {len(findings)} problems in the published data:"
    for kind, count in finding_counts:
        part = "" if excluding[kind] == count else f"{excluding[kind]} of them "
        exclusion = f"  {part}excluded from analyses unless an option includes them" if excluding[kind] else ""
        yield f"  {count:4}  {kind:22}{exclusion}".rstrip()
    yield f"The file lists each problem with its cell and reason: {audit_path}"


def _make_study_runs(study: PublishedStudy, provenance: str) -> Iterator[StudyRun]:
    """Yield for each system one run for each experiment and origin, and one for scores about regulations."""
    for system in sorted({record.system for record in study.answers} | {record.system for record in study.scores}):
        for experiment, origin in (*product(STUDY_EXPERIMENTS, REPETITIONS), ("regulation", "")):
            answers = [
                a
                for a in study.answers
                if (a.system, a.experiment, faq_or_user_origin(a.question)) == (system, experiment, origin)
            ]
            scores = [s for s in study.scores if (s.system, s.experiment) == (system, experiment)]
            scores = [s for s in scores if not origin or faq_or_user_origin(s.question) == origin]
            if not answers and not scores:
                continue
            run = StudyRun(
                name="-".join(filter(None, (system.replace("/", "-"), experiment, origin))),
                system=system,
                experiment=experiment,
                questions=POLICY_SET if origin else REGULATION_SET,
                documents=study.documents,
                answers=answers,
                scores=scores,
                part_set=_PART_SETS.get(system, _SHARED_PARTS),
                source=provenance,
                wordings=list_wordings(experiment, origin),
                repetitions=REPETITIONS.get(origin, 1),
            )
            concerned = [finding for finding in study.findings if _does_finding_concern_run(finding, run, origin)]
            excluded_answers, excluded_scores = study.excluded_answers, study.excluded_scores
            excluded = [excluded_answers[answer.key] for answer in answers if answer.key in excluded_answers]
            excluded += [excluded_scores[score] for score in scores if score in excluded_scores]
            excluded += make_annotation_exclusions(concerned)
            yield replace(run, exclusions=excluded, more={AUDIT: format_audit_csv(concerned)})


def _does_finding_concern_run(finding: Finding, run: StudyRun, origin: str) -> bool:
    """Tell whether a finding is about a run, its questions or its documents."""
    return (
        (bool(run.answers) or not finding.file.startswith(ANSWERS))
        and (bool(run.scores) or not finding.file.startswith(RESULTS))
        and finding.system in ("", run.system)
        and finding.experiment in ("", run.experiment)
        and (not finding.document or finding.document in run.documents_asked)
        and (not finding.question or faq_or_user_origin(finding.question) == origin)
    )


def write_study_recordings_and_list_problems(tree: PublishedTree) -> list[str]:
    """Write the recordings of the systems whose answers are here, unless they are; a note if that can't be done."""
    sheets = list_available_files(tree, ANSWERS, ".xlsx")
    key = digest_inputs(RECORDING_VERSION, tree.commit, [(path, tree.blobs[path]) for path in sheets])
    mark = tree.load_conversion_step_results("recorded", key)
    if not sheets or (mark and all(map(is_recording_pulled, mark["systems"]))):
        return []
    if importlib.util.find_spec("openpyxl") is None:
        problem = "the study's answers are spreadsheets and were not converted"
        return [f"{problem}: pip install 'genaipa[reports]', then run the same command again."]
    questions = load_question_set(POLICY_SET, make_pulled_data_workspace())
    documents = {name: load_document(name, make_pulled_data_workspace()) for name in POLICIES}
    source = f"{tree.repository} (commit {tree.commit[:10]})"
    systems = write_recordings_and_list_systems(
        read_published_answers_and_findings(tree, questions)[0], questions, documents, source
    )
    tree.record_conversion_step("recorded", key, systems=systems)
    return []
