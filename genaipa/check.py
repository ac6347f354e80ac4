"""Whether everything in a workspace fits together, found out at once instead of one error at a time.

The loaders stop at the first problem of a file, which is right before a run. Here each is asked about every file and,
where a file has a problem, about each of its entries alone: the rules stay theirs.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import yaml

from genaipa.annotations import Annotations, is_about, load_annotations, question_set, why_unused
from genaipa.datafiles import read_yaml
from genaipa.errors import DataError, GenaipaError, nearest
from genaipa.importers.genaipabench.pull import would_provide
from genaipa.policies.document import Document, load_document
from genaipa.policies.sections import resolve
from genaipa.prompts import INCLUDED, TEMPLATES, Prompts
from genaipa.questions import load_questions
from genaipa.runs.folder import ANSWERS, CONVERSATIONS, MANIFEST, RunFolder
from genaipa.runs.records import ConversationRecord, Record
from genaipa.scoring.people import FILE as PEOPLE
from genaipa.scoring.people import load_people
from genaipa.systems.catalog import load_catalog
from genaipa.workspace import SUFFIXES, Kind, Workspace, shipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Severity = Literal["error", "warning"]


class Finding(msgspec.Struct, frozen=True):
    """Something that is wrong with an entry of a file (of the file itself if `entry` is empty).

    An `error` makes the file unusable; a `warning` is what the author may have overlooked.
    """

    path: str
    entry: str
    problem: str
    severity: Severity = "error"


def data_files(workspace: Workspace) -> dict[str, list[Path]]:
    """What there is to check: kind of data → files in effect, run folders, the user's catalog of systems."""
    found: dict[str, list[Path]] = {kind: [path for _, path in workspace.names(kind).values()] for kind in SUFFIXES}
    found["people"] = [path for path in [workspace.home / PEOPLE] if path.is_file()]
    found["systems"] = [path for path in [workspace.systems_file] if path is not None]
    found["runs"] = [path for path in sorted(workspace.runs.glob("*")) if path.is_dir() and path.name[0] != "."]
    return found


def fine_files(files: Iterable[Path], findings: Iterable[Finding]) -> list[Path]:
    """Those of these files and run folders about which there is nothing to say."""
    named = {Path(finding.path) for finding in findings}
    named |= {path.parent for path in named}
    return [path for path in files if not {path, path.with_suffix(".yaml")} & named]


def check_workspace(workspace: Workspace) -> list[Finding]:
    """Everything that is wrong with the data in effect, its layers below included, and with the runs; by file."""
    _, findings = _load_all(workspace, "questions", load_questions, "questions")
    documents, about_documents = _load_all(workspace, "policies", load_document)
    annotations, about_annotations = _load_all(workspace, "annotations", load_annotations, "answers")
    findings += about_documents + about_annotations
    for name, annotated in annotations.items():
        findings += _check_answers(workspace, annotated, documents.get(name))
    findings += _check_prompts(workspace)
    findings += _check_systems(workspace)
    findings += _check_people(workspace)
    findings += _unread_files(workspace)
    for path in data_files(workspace)["runs"]:
        findings += _check_run(path)
    return sorted(dict.fromkeys(findings), key=lambda finding: (finding.path, finding.severity))


def _load_all(
    workspace: Workspace, kind: Kind, load: Callable[[Workspace, str], Any], entries: str = ""
) -> tuple[dict[str, Any], list[Finding]]:
    """Name → what was loaded, for all that can be; and what is wrong with the others."""
    loaded, findings = {}, []
    for name, (_, path) in workspace.names(kind).items():
        try:
            loaded[name] = load(workspace, name)
        except GenaipaError as error:
            alone = _each_entry(path, entries, load, name) if entries else ()
            findings += list(alone) or [_finding(path, error)]
    return loaded, findings


def _finding(path: Path, error: GenaipaError) -> Finding:
    """A loader's error as a finding; `path` is the file for one that names none."""
    if isinstance(error, DataError):
        return Finding(error.path, error.entry, error.problem)
    return Finding(str(path), "", str(error))


def _each_entry(path: Path, entries: str, load: Callable[..., Any], *name: str) -> Iterator[Finding]:
    """What the loader says of each entry alone, and then of the good ones together (an id that stands twice)."""
    try:
        raw = read_yaml(path, dict)
    except DataError:
        return
    whole = raw.get(entries)
    if not isinstance(whole, list | dict):
        return
    with tempfile.TemporaryDirectory() as folder:
        trial = _Trial(path, Path(folder), entries, raw, load, name)
        good: list[Any] = []
        for key in list(whole) if isinstance(whole, dict) else range(len(whole)):
            found = trial.said_of([key])
            if found is None:
                good.append(key)
            else:
                yield found
        while good and (found := trial.said_of(good)):
            yield found
            place = re.match(rf"{entries}\[(\d+)\]", found.entry)
            if place is None:
                return
            good.remove(int(place[1]))


@dataclass(frozen=True)
class _Trial:
    """Loads a file with a few of its entries, from a folder that is used for nothing else."""

    path: Path
    folder: Path
    entries: str
    raw: dict[str, Any]
    load: Callable[..., Any]
    name: tuple[str, ...]

    def said_of(self, keys: list[Any]) -> Finding | None:
        """What is wrong with the entries at these places or of these names; None if nothing is."""
        # The catalog of systems lies in the workspace itself, everything else in the folder of its kind.
        depth = 1 if self.entries == "systems" else 2
        copy = self.folder.joinpath(*self.path.parts[-depth:])
        copy.parent.mkdir(exist_ok=True)
        whole = self.raw[self.entries]
        few = {key: whole[key] for key in keys} if isinstance(whole, dict) else [whole[key] for key in keys]
        copy.write_text(yaml.safe_dump({**self.raw, self.entries: few}, allow_unicode=True), encoding="utf-8")
        try:
            self.load(Workspace(home=self.folder, layers=(("workspace", self.folder),)), *self.name)
        except GenaipaError as error:
            found = _finding(copy, error)
            entry = re.sub(rf"(?<=^{self.entries}\[)\d+", lambda place: str(keys[int(place[0])]), found.entry)
            return Finding(str(self.path), entry, found.problem)
        return None


def _check_answers(workspace: Workspace, annotated: Annotations, document: Document | None) -> Iterator[Finding]:
    """Whether annotated answers belong to a text, to questions and to sections that exist."""
    layer, path = workspace.names("annotations")[annotated.document]
    file = str(path)
    if document is None:
        pull = " yet; it comes with: genaipa pull genaipabench" if would_provide(annotated.document) else ""
        yield Finding(file, "document", f"there is no usable document '{annotated.document}' here{pull}.", "warning")
    elif is_about(annotated, layer, document, workspace):
        yield from _check_sections(file, annotated, document)
    else:
        text = str(workspace.names("policies")[document.name][1])
        own = (file, "digest") if layer == "workspace" else (text, "")
        yield Finding(*own, why_unused(annotated, path, layer), "warning")
    asked = question_set(workspace, annotated.questions, layer)
    if asked is None:
        yield Finding(file, "questions", f"there is no usable question set '{annotated.questions}'.")
        return
    ids = [question.id for question in asked.questions]
    for question in annotated.answers:
        if question not in ids:
            problem = f"the set '{asked.name}' has no such question{nearest(question, ids)}"
            yield Finding(file, f"answers.{question}", problem)
    uncovered = [question for question in ids if question not in annotated.answers]
    if uncovered:
        yield Finding(file, "answers", f"no annotated answer to {', '.join(uncovered)}.", "warning")


def _check_sections(file: str, annotated: Annotations, document: Document) -> Iterator[Finding]:
    for question, answer in annotated.answers.items():
        for label in answer.sections:
            part = re.fullmatch(r"Part (\d+)", label) if annotated.part_set else None
            known = document.part(annotated.part_set, int(part[1])) if part else resolve(document.sections, label)
            if known is None:
                problem = f"cites '{label}', which {document.name} does not have"
                yield Finding(file, f"answers.{question}", f"{problem} as far as genaipa can see.", "warning")


def _check_prompts(workspace: Workspace) -> Iterator[Finding]:
    """Every template that can't be rendered: after each, the shipped one takes its place and the rest is tried."""
    files = workspace.names("prompts")
    missing = [name for name in (*TEMPLATES, *INCLUDED) if name not in files]
    if missing:
        yield Finding(str(shipped() / "prompts"), missing[0], "is missing; install genaipa again.")
        return
    originals = {name: ("shipped", shipped() / "prompts" / f"{name}.jinja") for name in TEMPLATES}
    while True:
        try:
            Prompts(files).check()
        except GenaipaError as error:
            broken = [name for name, (_, path) in files.items() if str(error).startswith(f"{path}: ")]
            name = broken[0] if broken else ""
            yield _finding(files[name][1] if name else workspace.home, error)
            if files.get(name) in (None, originals.get(name)) or name not in originals:
                return
            files = {**files, name: originals[name]}
        else:
            return


def _check_systems(workspace: Workspace) -> Iterator[Finding]:
    """The user's own catalog of systems."""
    path = workspace.systems_file
    if path is None:
        return
    try:
        load_catalog(workspace)
    except GenaipaError as error:
        yield from list(_each_entry(path, "systems", load_catalog)) or [_finding(path, error)]


def _check_people(workspace: Workspace) -> Iterator[Finding]:
    """Who scores and who adjudicates."""
    try:
        load_people(workspace)
    except GenaipaError as error:
        yield _finding(workspace.home / PEOPLE, error)


def _unread_files(workspace: Workspace) -> Iterator[Finding]:
    """Files in the workspace's own folders that nothing reads, which their author may not know."""
    for kind in SUFFIXES:
        read = {path for _, path in workspace.names(kind).values()}
        beside = {path.with_suffix(".yaml") for path in read} if kind == "policies" else set()
        for path in sorted((workspace.home / kind).glob("[!.]*")):
            if path.is_file() and path not in read | beside:
                yield Finding(str(path), "", _why_unread(path, kind, read), "warning")
    yield from _unused_prompts(workspace)


def _unused_prompts(workspace: Workspace) -> Iterator[Finding]:
    """Templates that replace none and that none includes: most likely a name mistyped."""
    known = (*TEMPLATES, *INCLUDED)
    prompts = Prompts(workspace.names("prompts"))
    for name in set(prompts.files) - set(known):
        path = prompts.files[name][1]
        try:
            included = any(f"{name}.jinja" in source for source in prompts.sources.values())
        except DataError:  # not text: told already
            return
        if not included:
            yield Finding(str(path), "", f"replaces no prompt and is included by none{nearest(name, known)}", "warning")


def _why_unread(path: Path, kind: Kind, read: Iterable[Path]) -> str:
    if path.suffix in SUFFIXES[kind]:
        twin = next(other.name for other in read if other.stem == path.stem)
        return f"is not read, because {twin} has the same name."
    if kind == "policies" and path.suffix == ".yaml":
        return f"is about no document: there is no {path.stem}.md or {path.stem}.txt beside it."
    return f"is not read: the files in {kind}/ end in {' or '.join(SUFFIXES[kind])}."


def _check_run(path: Path) -> Iterator[Finding]:
    """A run's manifest and records."""
    if not (path / MANIFEST).is_file():
        yield Finding(str(path), "", f"is not a run: it has no {MANIFEST}.", "warning")
        return
    try:
        RunFolder(path).manifest()
    except GenaipaError as error:
        yield _finding(path / MANIFEST, error)
    yield from _check_lines(path / ANSWERS, Record)
    yield from _check_lines(path / CONVERSATIONS, ConversationRecord)


def _check_lines(path: Path, kind: type[msgspec.Struct]) -> Iterator[Finding]:
    """Every line that is not a record; a last one without its end is healed by resuming, so it is a warning."""
    if not path.exists():
        return
    decode = msgspec.json.Decoder(kind).decode
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                problem = "was cut off; the run asks for it again when it is resumed."
                yield Finding(str(path), f"line {number}", problem, "warning")
                continue
            try:
                decode(line)
            except msgspec.DecodeError as error:
                yield Finding(str(path), f"line {number}", f"is not a record ({error}).")
