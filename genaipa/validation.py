"""Whether all data files of a workspace fit together, by the rules of the loaders, which stop at the first problem."""

from __future__ import annotations

import contextlib
import os
import re
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from genaipa.answers.fact import find_metrics_named_like_facts
from genaipa.datasets.base import find_unpulled_dataset_with_document
from genaipa.errors import DataError, GenaipaError, clip, name_suggestion
from genaipa.files.strict_yaml import UNREADABLE, read_valid_yaml_part_and_errors
from genaipa.files.text import DAMAGE, clip_error_message, read_text
from genaipa.judging.name import NAME
from genaipa.judging.task import TEMPLATES as JUDGES
from genaipa.judging.task import load_judge_templates
from genaipa.kinds import load_kinds
from genaipa.policies.document import About, Document, load_document, metadata_problems, read_checked_document_text
from genaipa.policies.sections import find_innermost_cited_section
from genaipa.questions.annotations import (
    Annotations,
    Corrections,
    annotation_problems,
    are_annotations_of_text,
    correction_problems,
    drop_blank_answers,
    explain_unused_annotations,
    find_annotation_file,
    iterate_unproved_correction_errors,
    load_question_set_or_none,
)
from genaipa.questions.sets import QuestionSet, question_problems, translation_problems
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.runs.folder import RunFolder
from genaipa.runs.integrity import find_damage_in_run_folder
from genaipa.runs.journal import has_valid_checksum
from genaipa.runs.manifest import ANSWERS, CONVERSATIONS, MANIFEST
from genaipa.runs.records import ConversationRecord, Record
from genaipa.runs.selection import is_run_folder
from genaipa.runs.slices import group_slices_by_study_name
from genaipa.scoring import people as desk_people
from genaipa.scoring.databases import VARIABLE
from genaipa.scoring.events import verify_log_and_list_breaks
from genaipa.scoring.people import FILE, load_desk_people_and_plan
from genaipa.scoring.rubric import Rubric, find_guideline_problems, find_rubric_problems, load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.scoring.waves import WAVES, load_waves
from genaipa.systems.catalog import read_user_system_entries_and_errors
from genaipa.tasks.prompts import (
    INCLUDED,
    TEMPLATES,
    assemble_prompts_unchecked,
    list_prompt_sets,
    prompt_folder_names_of_task_kinds,
)
from genaipa.workspace import (
    MARKER,
    RUNS,
    SUFFIXES,
    SYSTEMS,
    DataKind,
    Workspace,
    explain_what_blocks_folder_or_empty,
    shipped_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from genaipa.tasks.prompts import PromptSet


Severity = Literal["error", "warning"]
NO_WORKSPACE = (
    f"is not read, because its folder has no {MARKER}, so it is not a workspace; make it one with: genaipa init ."
)
"""Said of each file in a folder of data that no workspace has."""


class FileProblem(msgspec.Struct, frozen=True):
    """A problem of an entry of a file (of the file itself if `entry` is empty).

    An `error` makes the file unusable; a `warning` is a likely oversight of its author.
    """

    path: str
    entry: str
    problem: str
    severity: Severity = "error"


class KindFilesCheck(msgspec.Struct, frozen=True):
    """Outcome of the check of a kind of task: its folder in a workspace, the files there, and findings on them.

    `splits` are the readable ones: task → split → number of items.
    """

    folder: str
    files: list[Path]
    findings: list[FileProblem]
    splits: dict[str, dict[str, int]]


def convert_to_findings(errors: Iterable[GenaipaError], default_path: Path | str = "") -> list[FileProblem]:
    """Return errors as findings; `default_path` is the file for one that names none."""
    return [
        FileProblem(error.path, error.entry, error.problem)
        if isinstance(error, DataError)
        else FileProblem(str(default_path), "", str(error))
        for error in errors
    ]


def find_problems_in_desk_assignments(
    workspace: Workspace, run_paths: Iterable[Path]
) -> Iterator[tuple[str, str, str]]:
    """Yield file, entry and problem of each assigned name that is no document, experiment or system of a run."""
    assign: dict[str, tuple[str, ...]] = {}
    with contextlib.suppress(GenaipaError):  # which is told already
        assign = load_desk_people_and_plan(workspace).assign
    if not assign:
        return
    valid_names = {*workspace.nearest_files("policies"), *EXPERIMENTS}
    for path in run_paths:
        with contextlib.suppress(GenaipaError):
            manifest = RunFolder(path).manifest()
            valid_names.update(manifest.spec.systems, manifest.documents)
    for analyst, about in assign.items():
        for name in about:
            if name not in valid_names:
                problem = (
                    f"'{clip(name)}' is not a document, experiment or system of a "
                    f"run{name_suggestion(name, valid_names)}"
                )
                yield str(workspace.home / FILE), f"assign.{clip(analyst)}", problem


def check_prompts(workspace: Workspace) -> Iterator[FileProblem]:
    """Yield every template that can't be rendered; the shipped one then takes its place and the rest is tried."""
    for name in list_prompt_sets(workspace):
        yield from _check_prompt_set(workspace, assemble_prompts_unchecked(workspace, name))
    try:
        load_judge_templates(workspace)
    except GenaipaError as error:
        yield from convert_to_findings([error], workspace.home)
    for name, (_, path) in workspace.nearest_files("prompts", NAME).items():
        if name not in JUDGES:
            yield FileProblem(str(path), "", f"is not a message to a judge{name_suggestion(name, JUDGES)}", "warning")


def _check_prompt_set(workspace: Workspace, prompts: PromptSet) -> Iterator[FileProblem]:
    files = prompts.files
    missing = [name for name in (*TEMPLATES, *INCLUDED) if name not in files]
    if missing:
        yield FileProblem(str(shipped_folder() / "prompts"), missing[0], "is missing; install genaipa again.")
        return
    while True:
        try:
            replace(prompts, files=files).check_templates()
        except GenaipaError as error:
            broken = [name for name, (_, path) in files.items() if str(error).startswith(f"{path}: ")]
            name = broken[0] if broken else ""
            yield from convert_to_findings([error], files[name][1] if name else workspace.home)
            original = prompts.originals.get(name)
            if name not in TEMPLATES or original in (None, files[name][1]):
                return
            files = {**files, name: ("shipped", original)}
        else:
            return


def find_unused_prompts(workspace: Workspace, set_name: str) -> Iterator[FileProblem]:
    """Yield the templates of a set that replace none and that none includes: most likely a name mistyped."""
    message_names = (*TEMPLATES, *INCLUDED)
    prompts = assemble_prompts_unchecked(workspace, set_name)
    for name in set(prompts.files) - set(message_names):
        path = prompts.files[name][1]
        try:
            included = name in prompts.used_template_names
        except DataError:  # not text: told already
            return
        if not included:
            yield FileProblem(
                str(path),
                "",
                f"replaces no prompt, and no prompt includes it{name_suggestion(name, message_names)}",
                "warning",
            )


class Validation(msgspec.Struct, frozen=True):
    """All findings on a workspace by file, and for each kind of data how many files are fine, of how many.

    `splits` are of the user's own data: suite → split → number of items.
    """

    findings: list[FileProblem]
    counts: dict[str, tuple[int, int]]
    splits: dict[str, dict[str, int]]


def validate(workspace: Workspace, *, with_digests: bool = False) -> Validation:
    """Check the data in effect, layers below the workspace included, and the runs.

    With `with_digests`, every text of the runs and every event of the scores is compared with the digest kept with it.
    """
    kind_checks = [checked for kind in load_kinds().values() if (checked := kind.check_workspace_files(workspace))]
    files = {**_list_data_files_by_kind(workspace), **{check.folder: check.files for check in kind_checks}}
    folders = [check.folder for check in kind_checks]
    findings = _check_workspace(workspace, files["runs"], folders, with_digests=with_digests)
    findings += [finding for check in kind_checks for finding in check.findings]
    findings = sorted(dict.fromkeys(findings), key=lambda finding: (finding.path, finding.severity))
    named = {Path(finding.path) for finding in findings}
    named |= {parent for path in named for parent in path.parents}
    fine = {kind: [p for p in paths if not {p, p.with_suffix(".yaml")} & named] for kind, paths in files.items()}
    counts = {kind: (len(fine[kind]), len(paths)) for kind, paths in files.items()}
    splits = {task: task_splits for check in kind_checks for task, task_splits in check.splits.items()}
    return Validation(findings, counts, splits)


def _list_data_files_by_kind(workspace: Workspace) -> dict[str, list[Path]]:
    """Return kind of data → files in effect, run folders, the user's catalog of systems."""
    files: dict[str, list[Path]] = {
        kind: [path for _, path in workspace.nearest_files(kind).values()] for kind in SUFFIXES
    }
    sets = (assemble_prompts_unchecked(workspace, name) for name in list_prompt_sets(workspace))
    files["prompts"] = list({path: None for prompts in sets for _, path in prompts.files.values()})
    files["prompts"] += [
        path
        for inner in prompt_folder_names_of_task_kinds()
        for _, path in workspace.nearest_files("prompts", inner).values()
    ]
    files["people"] = [path for path in [workspace.home / desk_people.FILE] if path.is_file()]
    files["systems"] = [path for path in [workspace.own_systems_file_or_none] if path is not None]
    files["waves"] = [path for path in [workspace.home / WAVES] if path.is_file()]
    files["runs"] = [path for path in sorted((workspace.home / RUNS).glob("[!.]*")) if path.is_dir()]
    return files


def _rubric_problems(path_for_errors: Path, rubric: Rubric) -> Iterator[DataError]:
    yield from find_rubric_problems(path_for_errors, rubric)
    yield from find_metrics_named_like_facts(path_for_errors, rubric)


def _check_workspace(
    workspace: Workspace, run_paths: Iterable[Path], task_folder_names: Iterable[str], *, with_digests: bool
) -> list[FileProblem]:
    findings = [*_find_blocked_folders_and_broken_links(workspace, task_folder_names), *_check_genaipa_toml(workspace)]
    for name, (_, path) in workspace.nearest_files("questions").items():
        findings += _check_questions(workspace, name, path)
    for _, path in workspace.nearest_files("rubrics").values():
        findings += convert_to_findings(
            read_valid_yaml_part_and_errors(path, Rubric, partial(_rubric_problems, path))[1]
        )
    findings += _check_chosen_rubric_and_guidelines(workspace)
    for name in workspace.nearest_files("policies"):
        findings += _check_document(workspace, name)
    for name in workspace.nearest_files("annotations"):
        findings += _check_nearest_annotations(workspace, name)
    for name in workspace.nearest_files("corrections"):
        findings += _check_corrections(workspace, name)
    findings += check_prompts(workspace)
    findings += convert_to_findings(read_user_system_entries_and_errors(workspace)[1])
    if (people := workspace.home / desk_people.FILE).is_file():
        findings += convert_to_findings(
            read_valid_yaml_part_and_errors(
                people, desk_people.People, partial(desk_people.find_desk_people_and_plan_problems, people)
            )[1]
        )
        findings += [
            FileProblem(*assignment, "warning")
            for assignment in find_problems_in_desk_assignments(workspace, run_paths)
        ]
    findings += _find_unread_files(workspace)
    for path in run_paths:
        findings += _check_run(path, with_digests=with_digests)
    findings += _check_studies(workspace, run_paths)
    try:
        load_waves(workspace)
    except GenaipaError as error:
        findings += convert_to_findings([error])
    if with_digests:
        findings += _find_breaks_in_score_log(workspace)
    return findings


def _check_questions(workspace: Workspace, set_name: str, path: Path) -> list[FileProblem]:
    questions, errors = read_valid_yaml_part_and_errors(path, QuestionSet, partial(question_problems, path, set_name))
    against = translation_problems(path, questions, workspace) if questions is not None else ()
    return convert_to_findings((*errors, *against))


def _find_blocked_folders_and_broken_links(
    workspace: Workspace, task_folder_names: Iterable[str]
) -> Iterator[FileProblem]:
    """Yield names of folders and files that something else has, and links that lead nowhere."""
    home = workspace.home
    kinds = tuple(SUFFIXES) if workspace.layers[0][0] == "workspace" else ()
    folders = [home / name for name in (*kinds, *task_folder_names, RUNS)]
    lost = (path for folder in folders if folder.is_dir() for path in folder.iterdir() if not path.exists())
    for path in (*folders, *lost):
        if problem := explain_what_blocks_folder_or_empty(path):
            yield FileProblem(str(path), "", problem)
    for path in (home / SYSTEMS, home / desk_people.FILE):
        if path.is_symlink() and not path.exists():
            yield FileProblem(str(path), "", explain_what_blocks_folder_or_empty(path))
        elif path.exists() and not path.is_file():
            yield FileProblem(str(path), "", "is not a file, so it is not read; move it away.")


def _check_genaipa_toml(workspace: Workspace) -> Iterator[FileProblem]:
    """Yield the file that makes a folder a workspace: its name is in it, and that of its rubric."""
    path = workspace.home / MARKER
    if path.is_dir():
        yield FileProblem(
            str(path), "", "is a folder, but a file of that name marks a workspace; move the folder away."
        )
    elif path.is_file():
        try:
            settings = tomllib.loads(read_text(path))
        except DataError as error:
            yield from convert_to_findings([error])
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            yield FileProblem(str(path), "", f"is not valid TOML: {clip(' '.join(str(error).split()), 200)}.")
        else:
            for key in settings.keys() - {"name", "rubric"}:
                problem = f"unknown key '{clip(key)}'{name_suggestion(key, ['name', 'rubric'])}"
                yield FileProblem(str(path), clip(key), problem, "warning")
            # A rubric that is no text is told where the rubric is looked up.
            if not isinstance(settings.get("name", ""), str):
                yield FileProblem(str(path), "name", "must be text.")


def _check_chosen_rubric_and_guidelines(workspace: Workspace) -> Iterator[FileProblem]:
    try:
        yield from convert_to_findings(find_guideline_problems(workspace, load_rubric(workspace)))
    except DataError as error:
        if error.entry == "rubric":
            yield from convert_to_findings([error])


def _check_document(workspace: Workspace, document_name: str) -> list[FileProblem]:
    layer, path = workspace.nearest_files("policies")[document_name]
    beside = path.with_suffix(".yaml")
    text, unread = "", []
    try:
        text = read_checked_document_text(path)
    except DataError as error:
        unread = [error]

    def find_metadata_problems(about: About) -> Iterable[DataError]:
        return metadata_problems(path, Document(document_name, text, about, layer)) if not unread else ()

    errors = read_valid_yaml_part_and_errors(beside, About, find_metadata_problems)[1] if beside.is_file() else []
    return convert_to_findings([*unread, *errors])


def _check_nearest_annotations(workspace: Workspace, document_name: str) -> Iterator[FileProblem]:
    path = workspace.nearest_files("annotations")[document_name][1]
    annotated, errors = read_valid_yaml_part_and_errors(
        path, Annotations, partial(annotation_problems, path, document_name)
    )
    yield from convert_to_findings(errors)
    if annotated is not None:
        try:
            document = load_document(document_name, workspace)
        except GenaipaError:
            document = None
        yield from _check_annotated_answers(workspace, document_name, drop_blank_answers(annotated), document)


def _check_annotated_answers(
    workspace: Workspace, document_name: str, annotated: Annotations, document: Document | None
) -> Iterator[FileProblem]:
    """Tell whether annotated answers belong to a text, to questions and to sections that exist."""
    layer, path = workspace.nearest_files("annotations")[document_name]
    file = str(path)
    if document is None:
        dataset = find_unpulled_dataset_with_document(document_name)
        pull = f" yet; it comes with: genaipa get {dataset.name}" if dataset else ""
        serves = "; its answers apply to a corpus document with that digest" if annotated.digest and not dataset else ""
        yield FileProblem(
            file, "document", f"there is no usable document '{document_name}' here{pull}{serves}.", "warning"
        )
    elif are_annotations_of_text(annotated, layer, document, workspace):
        yield from _check_cited_sections(file, annotated, document)
    else:
        text = str(workspace.nearest_files("policies")[document.name][1])
        location = (file, "digest") if layer == "workspace" else (text, "")
        yield FileProblem(*location, explain_unused_annotations(annotated, path, layer), "warning")
    if annotated.questions == UNREADABLE:
        return
    if (question_set := load_question_set_or_none(workspace, annotated.questions, layer)) is None:
        yield FileProblem(file, "questions", f"there is no usable question set '{annotated.questions}'.")
        return
    ids = [question.id for question in question_set.questions]
    for question in (question for question in annotated.answers if question not in ids):
        problem = f"the set '{question_set.name}' has no such question{name_suggestion(question, ids)}"
        yield FileProblem(file, f"answers.{question}", problem)
    if uncovered := [question for question in ids if question not in annotated.answers]:
        yield FileProblem(file, "answers", f"no annotated answer to {', '.join(uncovered)}.", "warning")


def _check_corrections(workspace: Workspace, document_name: str) -> Iterator[FileProblem]:
    """Tell whether the corrections of every layer are of annotated answers that there are, and proved by the text."""
    try:
        document = load_document(document_name, workspace)
    except GenaipaError:
        document = None
    for layer, path in workspace.files_in_all_layers("corrections")[document_name]:
        corrections, errors = read_valid_yaml_part_and_errors(
            path, Corrections, partial(correction_problems, path, document_name)
        )
        yield from convert_to_findings(errors)
        if corrections is None:
            continue
        if document is None or document.digest != corrections.digest:
            # Those that ship are of documents that may not be pulled, or be another text of the user's.
            if layer == "workspace":
                mismatch = (
                    f"there is no document '{document_name}' with that digest here, so the corrections are not used."
                )
                yield FileProblem(str(path), "digest", mismatch, "warning")
            continue
        yield from convert_to_findings(iterate_unproved_correction_errors(path, corrections, document.text))
        annotation_file = find_annotation_file(workspace, document)
        answers = (
            annotation_file.annotations.answers
            if annotation_file and annotation_file.annotations.questions == corrections.questions
            else None
        )
        for question in corrections.corrections:
            if answers is not None and question not in answers:
                problem = f"there is no annotated answer to correct{name_suggestion(question, answers)}"
                yield FileProblem(str(path), f"corrections.{question}", problem, "warning")


def _check_cited_sections(file_path: str, annotated: Annotations, document: Document) -> Iterator[FileProblem]:
    for question, answer in annotated.answers.items():
        named = ((f"answers.{question}.points", label) for point in answer.points for label in point.sections)
        for entry, label in (*((f"answers.{question}", label) for label in answer.sections), *named):
            part = re.fullmatch(r"Part (\d+)", label) if annotated.part_set else None
            section = (
                document.part(annotated.part_set, int(part[1]))
                if part
                else find_innermost_cited_section(document.citable_sections, label)
            )
            if section is None and label != UNREADABLE:
                problem = f"cites '{label}', a section that genaipa can't find"
                yield FileProblem(file_path, entry, f"{problem} in {document.name}.", "warning")


def _find_unread_files(workspace: Workspace) -> Iterator[FileProblem]:
    """Yield files in the workspace's own folders that nothing reads, which their author may not know."""
    is_workspace = workspace.layers[0][0] == "workspace"
    for kind in SUFFIXES:
        read = {path for _, path in workspace.nearest_files(kind).values()}
        beside = {path.with_suffix(".yaml") for path in read} if kind == "policies" else set()
        for path in sorted((workspace.home / kind).glob("[!.]*")):
            if path.is_file() and path not in read | beside:
                why_not = _explain_unread(path, kind, read) if is_workspace else NO_WORKSPACE
                yield FileProblem(str(path), "", why_not, "warning")
    for name in list_prompt_sets(workspace):
        yield from find_unused_prompts(workspace, name)


def _explain_unread(path: Path, kind: DataKind, read_files: Iterable[Path]) -> str:
    if path.suffix in SUFFIXES[kind]:
        twin = next(file.name for file in read_files if file.stem == path.stem)
        return f"is not read, because {twin} has the same name."
    if kind == "policies" and path.suffix == ".yaml":
        return f"does not belong to any document: there is no {path.stem}.md or {path.stem}.txt beside it."
    return f"is not read: the files in {kind}/ end in {' or '.join(SUFFIXES[kind])}."


def _check_run(run_path: Path, *, with_digests: bool) -> Iterator[FileProblem]:
    if not is_run_folder(run_path):
        yield FileProblem(str(run_path), "", f"is not a run: it has no {MANIFEST}.", "warning")
        return
    folder = RunFolder(run_path)
    yield from _check_run_folder(folder)
    if with_digests:
        for damage in find_damage_in_run_folder(folder):
            yield FileProblem(str(damage.path), damage.where, damage.problem)


def _check_studies(workspace: Workspace, run_paths: Iterable[Path]) -> Iterator[FileProblem]:
    """Warn of slices that are lost or were never begun, and of runs that only bear a study's name."""
    studies = group_slices_by_study_name(RunFolder(path) for path in run_paths if is_run_folder(path))
    for problem in (problem for study in studies.values() for problem in study.problems):
        yield FileProblem(str(workspace.home / RUNS), "", problem, "warning")


def _check_run_folder(folder: RunFolder) -> Iterator[FileProblem]:
    path = folder.path
    try:
        manifest = folder.manifest()
    except GenaipaError as error:
        yield from convert_to_findings([error], path / MANIFEST)
    else:
        if problem := folder.describe_manifest_damage():
            yield FileProblem(str(path / MANIFEST), "", problem)
        if lack := folder.describe_lost_answers_or_empty(manifest):
            yield FileProblem(str(path / ANSWERS), "", lack.removeprefix(f"{path / ANSWERS}: "))
    yield from _check_record_lines(path / ANSWERS, Record)
    yield from _check_record_lines(path / CONVERSATIONS, ConversationRecord)


def _find_breaks_in_score_log(workspace: Workspace) -> Iterator[FileProblem]:
    try:
        with open_existing_store(workspace, allow_changed_events=True) as store:
            if store is not None:
                yield from (
                    FileProblem(store.name, "", problem) for problem in verify_log_and_list_breaks(store).breaks
                )
    except GenaipaError as error:
        # Not the address of a server, which may contain a password.
        yield from convert_to_findings([error], VARIABLE if os.environ.get(VARIABLE) else workspace.home / "scores.db")


def _check_record_lines(path: Path, record_type: type[msgspec.Struct]) -> Iterator[FileProblem]:
    """Yield lines that are not records; one that was cut off is a warning, because resuming repairs it."""
    if not path.exists():
        return
    decode = msgspec.json.Decoder(record_type).decode
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                problem = "was cut off; resuming the run asks for it again."
                yield FileProblem(str(path), f"line {number}", problem, "warning")
                continue
            try:
                decode(line)
            except DAMAGE as error:
                yield FileProblem(str(path), f"line {number}", f"is not a record ({clip_error_message(error)}).")
            else:
                if not has_valid_checksum(line):
                    yield FileProblem(
                        str(path), f"line {number}", "was changed: its checksum does not match its content."
                    )
