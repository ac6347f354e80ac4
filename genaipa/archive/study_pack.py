"""One archive for whoever wants to check a study: runs, scores, the report with its tables, and a digest of each file.

    pack.json               contents, texts left out and why, versions, digests
    genaipa.toml            so that the unpacked folder is a workspace
    runs/NAME/…             the run folders, without texts that may not be passed on
    scores.jsonl            every event of the store about their answers
    waves.jsonl             the random parts of their answers that people were asked to score, if any was drawn
    guidelines.md           the guidelines that the analysts have, if they have any
    desk.yaml               the analysts whose scores are left out, and why, if any are
    report/…                the report, made from these

Left out are documents whose license does not let them be passed on and what quotes them (introductions, sheets,
passages, replies that do or may quote), annotated answers and questions of such a license, and the replies of a
published study, under whatever name its system was asked (`runs.permission`). A model's own words and analysts' notes
go along, as do facts about the texts left out (`runs.manifest.WithheldTextFacts`), so that the tables come out the
same.

The same runs, scores and versions give the same bytes. Unpacking checks an
archive, makes a workspace of it again, and compares its tables with those it came with.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import tempfile
import zipfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from genaipa import __version__
from genaipa.answers.fact import answer_facts
from genaipa.archive.contents import (
    FORMAT,
    PACK,
    REPORT,
    RUNS,
    SCORES,
    AbsentText,
    Pack,
    extract_checked_pack_files,
    may_pack_hold_file,
    read_checked_pack,
    read_pack_of_unpacked_folder,
)
from genaipa.errors import DataError, UsageError
from genaipa.files.atomic import open_draft_folder, open_for_atomic_write
from genaipa.files.spreadsheets import MARK
from genaipa.files.strict_yaml import format_yaml, read_yaml
from genaipa.kinds import describe_task_and_plan_or_empty, find_kind_or_placeholder
from genaipa.policies.corpus import encode_corpus_line
from genaipa.policies.statistics import measure_text
from genaipa.questions.annotations import read_annotations_without_blanks
from genaipa.questions.points import points_digest
from genaipa.questions.sets import QuestionSet
from genaipa.runs import journal
from genaipa.runs.authors import AnswerAuthors
from genaipa.runs.batches import BATCHES, RESULTS
from genaipa.runs.documents import INTRODUCTIONS, KeptDocuments
from genaipa.runs.integrity import find_damage_in_run_folder
from genaipa.runs.manifest import ANSWERS, LEFT_OUT, MANIFEST, WITHHELD, WithheldTextFacts, encode_manifest
from genaipa.runs.permission import (
    SharingPermission,
    classify_origin_of_reply_words,
    find_withheld_documents_of_study,
    license_allows_redistribution,
)
from genaipa.runs.records import DOCUMENTS
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.current import count_scores_in_effect
from genaipa.scoring.evidence.passages import OtherDocuments
from genaipa.scoring.importing import import_scores_or_return_problems
from genaipa.scoring.people import FILE as DESK
from genaipa.scoring.people import People
from genaipa.scoring.rubric import GUIDELINES, SHIPPED, find_rubric_path, load_rubric
from genaipa.scoring.store import ScoreStore, open_existing_store
from genaipa.scoring.waves import WAVES, Waves, encode_waves
from genaipa.workspace import MARKER, find_workspace, shipped_folder

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from genaipa.answers.fact import Row, Text
    from genaipa.answers.study import Study
    from genaipa.reports.report import Report
    from genaipa.runs.records import Record
    from genaipa.runs.selection import SelectedRun
    from genaipa.workspace import Workspace

_STAMP = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP archive can hold: the same in every pack."""


@dataclass(frozen=True)
class WrittenPack:
    """A written archive: its contents, how many scores in effect it holds, and its report.

    `unclear` maps a system to the documents about which its replies were left out because nothing says whether they
    are its own words.
    """

    pack: Pack
    scores: int
    report: Report
    unclear: dict[str, list[str]]


def pack_study(
    workspace: Workspace,
    sources: Sequence[SelectedRun],
    file: Path,
    *,
    count_excluded_in_report: bool = False,
    include_withheld_texts: bool = False,
) -> WrittenPack:
    """Write runs, their scores and their report into the archive `file`, over an earlier one.

    `count_excluded_in_report` counts excluded answers in the report; `include_withheld_texts` includes texts that may
    not be passed on. A DataError for a damaged run, a UsageError if the file can't be written.
    """
    from genaipa.answers.gather import gather_study
    from genaipa.reports.chapters.chapter import make_rule_scored_results
    from genaipa.reports.provenance import package_versions
    from genaipa.reports.report import Report

    with tempfile.TemporaryDirectory() as temporary_path, open_existing_store(workspace) as store:
        folder = Path(temporary_path)
        study = gather_study(workspace, sources, store)
        absent = _write_pack_workspace_and_list_absent(
            folder, sources, study, include_withheld_texts=include_withheld_texts
        )
        copy_own_rubric_into_pack(folder, find_rubric_path(workspace))
        if (guidelines := workspace.home / GUIDELINES).is_file():
            write_file_making_folder(folder / GUIDELINES, guidelines.read_bytes())
        _write_waves_of_systems(folder, study.waves, {name for source in sources for name in source.systems})
        if study.log.left_out:
            write_file_making_folder(folder / DESK, json.dumps({"left_out": dict(study.log.left_out)}).encode() + b"\n")
        # The report is made from the packed files, so that it holds no text that is left out.
        staged, names = find_workspace(folder), _names_that_select_sources(sources)
        packed = gather_study(
            staged, select_runs_and_apply_filters(staged, names), store, count_excluded=count_excluded_in_report
        )
        report = Report.build(packed, results=make_rule_scored_results(staged, packed.sources))
        report.write(folder / REPORT, whole=include_withheld_texts)
        content = Pack(
            format=FORMAT,
            genaipa=__version__,
            names=tuple(names),
            runs=tuple(source.folder.name for source in sources),
            excluded=count_excluded_in_report,
            rubric=load_rubric(workspace).digest,
            absent=tuple(absent),
            versions=package_versions(),
        )
        write_pack_file(file, folder, content)
    return WrittenPack(
        content,
        count_scores_in_effect(study.log.every),
        report,
        {} if include_withheld_texts else _withheld_documents_of_unattributed_replies(sources),
    )


def _write_pack_workspace_and_list_absent(
    folder: Path, sources: Sequence[SelectedRun], study: Study, *, include_withheld_texts: bool
) -> list[AbsentText]:
    """Make an empty folder the workspace that whoever unpacks the study gets; the texts left out of it."""
    absent: dict[str, AbsentText] = {}
    write_file_making_folder(folder / MARKER, b"# An unpacked study: see pack.json.\n")
    for source in sources:
        run = source.folder.name
        for name, content in iterate_packed_run_files(
            source,
            include_withheld_texts=include_withheld_texts,
            rows_by_fact_and_answer_key=study.collect_rows_by_fact_and_answer_key(run),
        ):
            write_file_making_folder(folder / RUNS / source.folder.name / name, content)
        for name, about in source.manifest.documents.items():
            if not include_withheld_texts and not license_allows_redistribution(about.license):
                absent[about.digest] = AbsentText(name, about.digest, about.source, about.license)
    write_file_making_folder(folder / SCORES, b"".join(msgspec.json.encode(event) + b"\n" for event in study.log.every))
    return sorted(absent.values(), key=lambda one: one.document)


def copy_own_rubric_into_pack(pack_folder: Path, rubric_file: Path) -> None:
    """Give a folder that becomes a pack the rubric of its scores; its marker is there.

    Only that of a workspace that names none needs no file and no name: others ship, too, in other languages.
    """
    if rubric_file != shipped_folder("rubrics") / f"{SHIPPED}.yaml":
        write_file_making_folder(pack_folder / "rubrics" / rubric_file.name, rubric_file.read_bytes())
        write_file_making_folder(
            pack_folder / MARKER,
            (pack_folder / MARKER).read_bytes() + f"rubric = {json.dumps(rubric_file.stem)}\n".encode(),
        )


def _write_waves_of_systems(folder: Path, waves: Waves, systems: Collection[str]) -> None:
    """Give the unpacked study the waves of its systems."""
    if draws := tuple(draw for draw in waves.draws if draw.system in systems):
        write_file_making_folder(folder / WAVES, encode_waves(Waves(draws)))


def write_pack_file(file: Path, content_folder: Path, pack_contents: Pack) -> None:
    """Write the pack of a folder's files, with the digest of each in `pack.json`; a UsageError if it can't be."""
    files = {p.relative_to(content_folder).as_posix(): p.read_bytes() for p in content_folder.rglob("*") if p.is_file()}
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    listed = msgspec.json.encode(msgspec.structs.replace(pack_contents, files=digests))
    try:
        with open_for_atomic_write(file) as stream, zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(_zip_entry(PACK), msgspec.json.format(listed, indent=1) + b"\n")
            for name in digests:
                archive.writestr(_zip_entry(name), files[name])
    except OSError as error:
        raise UsageError(f"{file} can't be written ({error.strerror}); name another file with -o.") from None


def _zip_entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _STAMP)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def write_file_making_folder(path: Path, content: bytes) -> None:
    """Write a file, its folder made if missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _withheld_documents_of_unattributed_replies(sources: Sequence[SelectedRun]) -> dict[str, list[str]]:
    documents_by_system: dict[str, dict[str, None]] = {}
    for source in sources:
        for system, document in SharingPermission(source.folder, source.manifest).list_withheld_system_document_pairs():
            if system in source.systems and not classify_origin_of_reply_words(source.manifest, system):
                documents_by_system.setdefault(system, {})[document] = None
    return {system: list(documents) for system, documents in documents_by_system.items()}


def _names_that_select_sources(sources: Sequence[SelectedRun]) -> list[str]:
    """Names that select the same again: runs, and systems of runs that were selected in part."""
    names: dict[str, None] = {}
    for source in sources:
        whole = set(source.systems) == set(source.manifest.spec.systems)
        names.update(dict.fromkeys([source.folder.name] if whole else source.systems))
    return list(names)


def iterate_packed_run_files(
    source: SelectedRun,
    *,
    include_withheld_texts: bool,
    rows_by_fact_and_answer_key: Mapping[str, Mapping[str, Row]] | None = None,
) -> Iterator[tuple[str, bytes]]:
    """(path in the run folder, content) of each file of a run that goes into a pack, in the order of the paths.

    `include_withheld_texts` leaves nothing out: for a colleague who has the texts anyway. `rows_by_fact_and_answer_key`
    are the rows of facts about answers (fact → key → row), which stay where the texts that they were read from don't. A
    DataError for a damaged run, a UsageError for two kinds that go whole or not at all: a judge's, which repeats the
    texts of the runs that it is about, and a suite's, whose figures could not be made again from what is left.
    """
    if find_kind_or_placeholder(source.manifest.spec.kind).on_answers and not include_withheld_texts:
        raise UsageError(
            f"{source.folder.name} repeats the answers and annotated answers of other runs; pack those runs instead "
            "(their verdicts are included), or pack everything, texts included: --with-texts."
        )
    if not include_withheld_texts and not SharingPermission(source.folder, source.manifest).items:
        spec = source.manifest.spec
        task_name = describe_task_and_plan_or_empty(spec) or spec.task
        raise UsageError(
            f"{source.folder.name} asks about items of the {task_name}, which its "
            "replies quote and which may not be redistributed; pack the other runs by name or, for a "
            "recipient who has the data, pack everything: --with-texts."
        )
    for flaw in find_damage_in_run_folder(source.folder):
        raise DataError(flaw.path, flaw.problem, flaw.where)
    redacted = _RedactedRun(source, rows_by_fact_and_answer_key or {}, whole=include_withheld_texts)
    path = source.folder.path
    for name in sorted(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()):
        if may_pack_hold_file(f"{RUNS}/{source.folder.name}/{name}") and redacted.includes_file(name):
            yield name, redacted.file_content(name)
    if redacted.withholds_texts:
        yield (
            WITHHELD,
            msgspec.json.format(msgspec.json.encode(redacted.facts_about_withheld_texts()), indent=1) + b"\n",
        )


class _RedactedRun:
    """One run, with the documents, questions and replies of it that may not be passed on."""

    def __init__(self, source: SelectedRun, facts: Mapping[str, Mapping[str, Row]], *, whole: bool) -> None:
        self._source, self._rows = source, facts
        self._permission = SharingPermission(source.folder, source.manifest, whole=whole)
        self._kept = KeptDocuments(source.folder.path)
        self._documents, self._worded = self._permission.restricted_documents, self._permission.restricted_files
        self._unasked = self._permission.restricted_questions
        self._replies = set(self._permission.list_withheld_system_document_pairs())
        self._withheld = {} if whole else find_withheld_documents_of_study(source.folder)
        self._left_out = {f"documents/{self._document_digest(name)}.txt" for name in self._documents} | {
            f"introductions/{begun.introduction}.json"
            for begun in source.folder.read_conversations()
            if begun.document in self._documents or (begun.system, begun.document) in self._replies
        }

    def _document_digest(self, document: str) -> str:
        return self._source.manifest.documents[document].digest

    def _document_language(self, document: str) -> str:
        return self._source.manifest.documents[document].language

    @property
    def withholds_texts(self) -> bool:
        """Whether any text of the run is left out."""
        return bool(self._documents or self._worded or self._replies or self._withheld)

    def includes_file(self, name: str) -> bool:
        """Whether a file goes along at all: sheets hold documents and questions, and batches are an account's own."""
        if name == BATCHES or name.startswith(f"{RESULTS}/"):
            return False
        quotes = name.startswith("sheets/") and (self._documents or self._unasked)
        return not quotes and name not in self._left_out

    def file_content(self, name: str) -> bytes:
        """Return a file's content without withheld texts and without answers of systems that were not selected."""
        if name == ANSWERS:
            return self._answer_lines
        if name == MANIFEST:
            return self._format_manifest_with_packed_length()
        if name == DOCUMENTS:
            return b"".join(
                encode_corpus_line(dataclasses.replace(document, text="") if name in self._documents else document)
                for name, document in self._kept.items()
            )
        if name == INTRODUCTIONS:
            left_out = {PurePosixPath(file_name).stem for file_name in self._left_out}
            return b"".join(self._source.folder.introductions.iterate_lines_except_digests(left_out))
        path = self._source.folder.path / name
        if name not in self._worded:
            return path.read_bytes()
        return _redact_annotations(path) if name.startswith("annotations/") else _redact_questions(path)

    @cached_property
    def _answer_lines(self) -> bytes:
        selected = (record for record in self._source.folder.read_records() if record.system in self._source.systems)
        permitted = (self._permission.redact_record(record, self._is_in_withheld_document) for record in selected)
        return b"".join(journal.encode_record_line(record) for record in permitted)

    def _format_manifest_with_packed_length(self) -> bytes:
        """Return the manifest, with the length of the answers' file as it is in the pack."""
        manifest = self._source.folder.manifest()
        manifest.totals = replace(manifest.totals, bytes=len(self._answer_lines))
        return encode_manifest(manifest)

    def _is_in_withheld_document(self, passage: str) -> bool:
        return self._withheld_documents_to_search.does_one_contain_most_of_passage(passage)

    @cached_property
    def _withheld_documents_to_search(self) -> OtherDocuments:
        siblings = {name: slice_documents[name].text for name, slice_documents in self._withheld.items()}
        return OtherDocuments({name: self._unredacted_document_text(name) for name in self._documents} | siblings)

    def _unredacted_document_text(self, document: str) -> str:
        """Return a document's text, from the one file or its own."""
        if self._kept:
            return self._kept[document].text
        path = self._source.folder.path / "documents" / f"{self._document_digest(document)}.txt"
        return path.read_text(encoding="utf-8")

    def facts_about_withheld_texts(self) -> WithheldTextFacts:
        """Return the facts that the tables need about the texts left out."""
        return WithheldTextFacts(
            statistics={
                name: measure_text(self._unredacted_document_text(name), self._document_language(name))
                for name in sorted(self._documents)
            },
            facts=self._redact_rows_by_fact_and_record_key(),
            points=self._point_digests_by_document_and_question(),
        )

    def _redact_rows_by_fact_and_record_key(self) -> dict[str, dict[str, Any]]:
        """Return the rows of facts that were read from a text that is left out: fact → key → row."""
        rows: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for record in self._source.folder.read_records():
            lost = self._withheld_texts_of_answer(record)
            for fact in answer_facts() if lost else ():
                row = self._rows.get(fact.name, {}).get(record.key)
                if row and not fact.texts.isdisjoint(lost):
                    rows[fact.name][record.key] = fact.redact(row)
        return dict(rows)

    def _withheld_texts_of_answer(self, record: Record) -> set[Text]:
        """Return the texts of an answer that are left out."""
        lost: dict[Text, bool] = {
            "reply": (record.system, record.document) in self._replies,
            "document": record.document in self._documents,
            "passages": self._permission.has_withheld_passages(record, self._is_in_withheld_document),
            "annotation": f"annotations/{record.document}.yaml" in self._worded,
        }
        return {text for text, is_lost in lost.items() if is_lost}

    def _point_digests_by_document_and_question(self) -> dict[str, dict[str, str]]:
        """Return the digests of the points whose words are left out, by which scores' ticks know them."""
        worded = sorted(name for name in self._worded if name.startswith("annotations/"))
        digests_by_document = {
            annotations.document: {
                name: points_digest(answer.points) for name, answer in annotations.answers.items() if answer.points
            }
            for annotations in (read_annotations_without_blanks(self._source.folder.path / name) for name in worded)
        }
        return {document: digests for document, digests in digests_by_document.items() if digests}


def _redact_annotations(path: Path) -> bytes:
    """Annotated answers and their points without their words, but with silence, sections and marks."""
    annotations = read_annotations_without_blanks(path)
    answers = {
        name: replace(
            answer,
            answer=LEFT_OUT,
            note="",
            points=tuple(replace(point, text=LEFT_OUT, why="") for point in answer.points),
        )
        for name, answer in annotations.answers.items()
    }
    return format_yaml(replace(annotations, answers=answers)).encode()


def _redact_questions(path: Path) -> bytes:
    """Return a question set without its words, but with ids, categories and origins."""
    questions = read_yaml(path, QuestionSet)
    bare = (
        replace(question, text=LEFT_OUT, paraphrases=(LEFT_OUT,) * len(question.paraphrases))
        for question in questions.questions
    )
    return format_yaml(replace(questions, questions=tuple(bare))).encode()


@dataclass(frozen=True)
class UnpackedStudy:
    """An unpacked study: its contents, the number of its scores in effect, and any report made again here.

    Of `tables` files of tables that were compared byte for byte, `different` are not as packed.
    """

    pack: Pack
    scores: int
    page: Path | None = None
    tables: int = 0
    different: Sequence[str] = ()


def unpack_and_rebuild_report(file: Path, folder: Path) -> UnpackedStudy:
    """Make a workspace of a pack, its scores in a store, and make its report again in `reports/again/`.

    The folder must be new or empty (a UsageError); nothing is written for a damaged pack (a DataError).
    """
    pack = read_checked_pack(file)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists and is not empty; name a new folder.")
    try:
        with open_draft_folder(folder) as draft_folder:
            unpacked = _unpack_into_empty_folder(file, pack, draft_folder)
            page = folder.resolve() / unpacked.page.relative_to(draft_folder.resolve()) if unpacked.page else None
    except OSError as error:
        raise UsageError(f"{folder} can't be written ({error.strerror}).") from None
    return dataclasses.replace(unpacked, page=page)


def _unpack_into_empty_folder(file: Path, pack: Pack, folder: Path) -> UnpackedStudy:
    extract_checked_pack_files(file, pack, folder)
    workspace = find_workspace(folder)
    with contextlib.closing(
        ScoreStore.open_or_create(f"sqlite:///{workspace.home / 'scores.db'}", load_rubric(workspace))
    ) as store:
        scores = _import_and_count_scores(folder, store)
        if not pack.has_report:
            return UnpackedStudy(pack, scores)
        # What is unpacked to be scored needs the desk's packages alone, which don't bring those of reports.
        from genaipa.answers.gather import gather_study
        from genaipa.reports.chapters.chapter import make_rule_scored_results
        from genaipa.reports.report import Report

        study = gather_study(
            workspace, select_runs_and_apply_filters(workspace, pack.names), store, count_excluded=pack.excluded
        )
    page = Report.build(study, results=make_rule_scored_results(workspace, study.sources)).write(
        workspace.home / "reports" / "again", formats=("svg",)
    )
    new_tables, packed = page.parent / "tables", folder / REPORT / "tables"
    tables = sorted({path.name for tables in (new_tables, packed) for path in tables.glob("*")})
    different = [
        f"tables/{name}" for name in tables if not _are_files_byte_equal_except_bom(new_tables / name, packed / name)
    ]
    return UnpackedStudy(pack, scores, page, len(tables), different)


def unpack_for_scoring_unless_done(file: Path) -> Path:
    """Return the folder beside a pack in which its answers are scored, unpacked there unless it is already.

    A UsageError for a folder that holds anything else, a DataError for a damaged pack.
    """
    folder = file.with_suffix("")
    pack, unpacked = read_checked_pack(file), read_pack_of_unpacked_folder(folder)
    if unpacked is None:
        unpack_and_rebuild_report(file, folder)
    elif unpacked != pack:
        raise UsageError(f"{folder} was unpacked from another pack; move it away, or unpack {file.name} elsewhere.")
    return folder


def _are_files_byte_equal_except_bom(file: Path, packed_file: Path) -> bool:
    """Tell whether two tables are the same, but for the mark that CSV of earlier versions lacks."""
    if not (file.is_file() and packed_file.is_file()):
        return False
    member, counterpart = (path.read_bytes().removeprefix(MARK.encode()) for path in (file, packed_file))
    return member == counterpart


def _import_and_count_scores(folder: Path, store: ScoreStore) -> int:
    """Put the scores of an unpacked folder into its store; the number of those in effect."""
    if not (folder / SCORES).stat().st_size:
        return 0  # of a study that nobody has scored yet
    imported = import_scores_or_return_problems(
        store, [folder / SCORES], (), People(), AnswerAuthors(()), unknown_answers=True
    )
    if imported.problems:
        raise DataError(folder / SCORES, imported.problems[0])
    return count_scores_in_effect(event for _, event in store.read_numbered_events())
