"""Packs for partners: each a workspace with their answers, under code names, and nothing that tells systems apart.

A reply goes without the names of its system, and without what only some systems have: seconds, costs, thoughts,
passages and how it ended; a question as its set words it. Answers are in an order of their own, all in one run where
their runs asked the same questions about the same texts. The same runs, options and seed give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import msgspec

from genaipa import __version__
from genaipa.archive.contents import FORMAT as PACK_FORMAT
from genaipa.archive.contents import RUNS, SCORES, Pack
from genaipa.archive.study_pack import copy_own_rubric_into_pack, write_file_making_folder, write_pack_file
from genaipa.errors import UsageError, format_shell_command
from genaipa.files.strict_yaml import read_yaml
from genaipa.kinds import DEFAULT
from genaipa.questions.sets import QuestionSet
from genaipa.runs.authors import MARKS, AuthorMarks, make_author_marks_padded_with_decoys, normalize_person_name
from genaipa.runs.exclusions import EXCLUSIONS, Exclusion, format_exclusions_csv
from genaipa.runs.imported import count_records_by_status, encode_answers_and_manifest
from genaipa.runs.inputs import RunDocumentsAndQuestions
from genaipa.runs.permission import SharingPermission, license_allows_redistribution
from genaipa.runs.procedure import INITIALIZATIONS, ProcedurePlan, RecordCoordinates, conversation_id
from genaipa.runs.records import (
    FORMAT,
    Digests,
    Manifest,
    Record,
    RunSpec,
    SystemFacts,
    answer_digest,
    record_key,
)
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.evidence.doubts import describe_likely_wrong_cited_section
from genaipa.scoring.masking import mask_names
from genaipa.scoring.people import FILE as DESK
from genaipa.scoring.people import People, StudyPlan, load_desk_people_and_plan, read_counted_events
from genaipa.scoring.rubric import GUIDELINES, find_rubric_path, load_rubric
from genaipa.scoring.store import open_existing_store
from genaipa.scoring.waves import digest_prefix_used_in_waves, load_waves
from genaipa.words import format_count
from genaipa.workspace import MARKER
from genaipa_partners.dealing import AnswerThread, KeyedRandomness, deal_threads
from genaipa_partners.layout import RunLayout
from genaipa_partners.split import FORMAT as SPLIT_FORMAT
from genaipa_partners.split import PartnerShare, StudySplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.answers import Occurrence, ScoringCase
    from genaipa.scoring.events import Event
    from genaipa.workspace import Workspace


@dataclass
class BlindText:
    """An answer as a pack has it: the case of the first answer with this text, its digest there, and who gave it.

    `originals` are the digests of all answers that read like this, `after` the digest of the one that it follows.
    """

    case: ScoringCase
    digest: str
    reply: str
    after: str
    system: str
    originals: dict[str, None] = field(default_factory=dict)

    @property
    def first_occurrence(self) -> Occurrence:
        """The first place at which it was given."""
        return self.case.answer.occurrences[0]


class StudySplitPlan(NamedTuple):
    """What is asked of a split: partner → language (empty for any), the share (0 to 1) that all have, and the seed."""

    language_by_partner: Mapping[str, str]
    share: float
    seed: int


class StudyTexts:
    """The answers of these runs that people are asked to score, blind, and the scores to train by.

    A UsageError where there is nothing to score, or where texts may not be passed on and `whole` does not say that
    partners may have them.
    """

    def __init__(self, workspace: Workspace, sources: Sequence[SelectedRun], *, whole: bool = False) -> None:
        self.workspace, self.sources = workspace, sources
        self.people = load_desk_people_and_plan(workspace)
        if not whole:
            check_texts_may_be_shared(sources)
        self.pool = AnswerPool(
            workspace,
            [source.folder for source in sources],
            sources=sources,
            excluded=self.people.plan.include_excluded,
        )
        self.folders = {source.folder.name: source.folder for source in sources}
        self.inputs = {name: RunDocumentsAndQuestions(workspace, folder) for name, folder in self.folders.items()}
        self.texts: dict[str, BlindText] = {}
        """Digest in packs → text."""
        self._packed: dict[str, str] = {}
        """Digest of an answer → digest in packs."""
        for digest in sorted(self._list_sampled_answers_or_all()):
            self._add_answer_and_get_pack_digest(digest)
        if not self.texts:
            raise UsageError("These runs have no answers to score.")
        if not whole:
            self._check_annotations_may_be_shared()

    def _check_annotations_may_be_shared(self) -> None:
        """Raise a UsageError for annotated answers that may not be passed on: later ones are in no run."""
        for text in self.texts.values():
            annotations = self.inputs[text.first_occurrence.run].annotations_of_asked_questions(text.case.document.name)
            if annotations is not None and not license_allows_redistribution(annotations.license):
                _refuse_to_share(f"annotations/{text.case.document.name}.yaml", annotations.license)

    def describe_missing_annotations_or_empty(self) -> str:
        """Say of how many documents the right answers are known, and how to write them; empty where all are."""
        documents = {text.case.document.name for text in self.texts.values()}
        annotated = {text.case.document.name for text in self.texts.values() if text.case.annotated is not None}
        if not documents - annotated:
            return ""
        command = format_shell_command("genaipa", "policies", "annotate", min(documents - annotated))
        return (
            f"Annotated answers are known for {len(annotated):,} of {format_count(len(documents), 'document')}: "
            f"partners need them to tell whether an answer is right. Write them first, then split again: {command}"
        )

    def _list_sampled_answers_or_all(self) -> list[str]:
        """List the answers in the random part, if one was drawn, else all."""
        sampled = (
            frozenset[str]()
            if self.people.plan.sample_size == "all"
            else load_waves(self.workspace).all_wave_digest_prefixes
        )
        return [digest for digest in self.pool.answers if not sampled or digest_prefix_used_in_waves(digest) in sampled]

    def _add_answer_and_get_pack_digest(self, digest: str) -> str:
        """Add an answer, and the one that it follows; return its digest in packs."""
        if digest in self._packed:
            return self._packed[digest]
        case = self.pool.load_case(digest)
        after = ""
        if case.earlier is not None:
            occurrence = case.answer.occurrences[0]
            (record,) = self.folders[occurrence.run].read_records_at([occurrence.offset])
            after = self._add_answer_and_get_pack_digest(record.after)
        reply = case.mask_names_in_reply()
        packed = answer_digest(case.document.digest, case.asked, reply, after)
        system = min(occurrence.system for occurrence in case.answer.occurrences)
        text = self.texts.setdefault(packed, BlindText(case, packed, reply, after, system))
        text.originals[digest] = None
        self._packed[digest] = packed
        return packed

    def list_threads(self) -> list[AnswerThread]:
        """List what goes to one partner together: an answer, and the answers to its follow-ups."""
        members: dict[str, list[str]] = {}
        for digest, text in self.texts.items():
            root = digest
            while self.texts[root].after:
                root = self.texts[root].after
            members.setdefault(root, []).append(text.digest)
        return [
            AnswerThread(tuple(sorted(answers)), self.texts[root].system, self.texts[root].case.document.language)
            for root, answers in members.items()
        ]

    def read_pack_digests_and_reference_scores(self) -> list[tuple[str, Event]]:
        """Return the reference analysts' scores of these answers, each with the answer's digest in packs."""
        with open_existing_store(self.workspace) as store:
            events = read_counted_events(self.workspace, store)
        return [
            (self._packed[event.answer], event)
            for event in effective_scores_and_adjudications(events)
            if event.kind == "score" and event.analyst in self.people.reference and event.answer in self._packed
        ]


def check_texts_may_be_shared(sources: Iterable[SelectedRun]) -> None:
    """Raise a UsageError for runs with texts whose license does not let them be passed on."""
    for source in sources:
        permission = SharingPermission(source.folder, source.manifest)
        for document in sorted(permission.restricted_documents):
            _refuse_to_share(f"{document} in {source.folder.name}", source.manifest.documents[document].license)
        for path in sorted(permission.restricted_files):
            _refuse_to_share(f"{path} in {source.folder.name}", permission.license_by_file[path])
        for system, _ in permission.list_withheld_system_document_pairs():
            _refuse_to_share(f"the replies of {system} in {source.folder.name}", "all rights reserved")


def _refuse_to_share(content: str, license_text: str) -> NoReturn:
    problem = (
        f"The license of {content} does not allow redistribution"
        if license_text.strip() and "not stated" not in license_text.casefold()
        else f"{content} has no license stated"
    )
    raise UsageError(f"{problem}: if the partners may have it all the same, add --with-texts.")


def make_keyed_randomness_of_split(sources: Iterable[SelectedRun], plan: StudySplitPlan) -> KeyedRandomness:
    """Return the draw of a split. Its key is made of what no pack holds, so that no partner can make it again."""
    digest = hashlib.sha256(msgspec.json.encode((plan.seed, plan.share, list(plan.language_by_partner.items()))))
    for source in sources:
        digest.update(msgspec.json.encode((source.folder.name, source.systems)))
        digest.update(hashlib.sha256(source.folder.answers_path.read_bytes()).digest())
    return KeyedRandomness(digest.digest())


def write_partner_packs(texts: StudyTexts, plan: StudySplitPlan, draw: KeyedRandomness, folder: Path) -> StudySplit:
    """Write a pack for each partner into a folder, over earlier ones, and return the record of the split."""
    threads = texts.list_threads()
    training = _sample_reference_scores_for_training(texts, draw)
    deal = deal_threads(threads, plan.language_by_partner, plan.share, draw, [answer for answer, _ in training])
    split = StudySplit(
        SPLIT_FORMAT,
        draw.derive_bytes_from_names("study").hex(),
        plan.seed,
        round(plan.share * 100, 6),
        tuple(source.folder.name for source in texts.sources),
        tuple(sorted(deal.shared)),
        (),
    )
    layouts = _map_runs_to_pack_run_number_and_layout(texts)
    shares = tuple(
        _PartnerPack(texts, split, draw, name, language, deal.by_partner[name], layouts).write_and_return_share(
            folder / f"{name}.zip", [score for score in training if score[0] in set(deal.by_partner[name])]
        )
        for name, language in plan.language_by_partner.items()
    )
    return msgspec.structs.replace(split, partners=shares)


def _sample_reference_scores_for_training(texts: StudyTexts, randomness: KeyedRandomness) -> list[tuple[str, Event]]:
    """Draw the reference scores of each language by which new analysts are trained: as many as the desk asks for."""
    training: list[tuple[str, Event]] = []
    number: Counter[str] = Counter()
    for answer, event in sorted(
        texts.read_pack_digests_and_reference_scores(),
        key=lambda score: randomness.derive_bytes_from_names("training", score[0]),
    ):
        language = texts.texts[answer].case.document.language
        if number[language] < texts.people.plan.calibration:
            number[language] += 1
            training.append((answer, event))
    return training


def _map_runs_to_pack_run_number_and_layout(texts: StudyTexts) -> dict[str, tuple[int, RunLayout]]:
    """Return, for each run of the study, the number and the layout of the run that has its answers in a pack."""
    layouts: dict[str, RunLayout] = {}
    manifests = {source.folder.name: source.manifest for source in texts.sources}
    for text in texts.texts.values():
        case, run = text.case, text.first_occurrence.run
        layout, path, inputs = layouts.setdefault(run, RunLayout()), texts.folders[run].path, texts.inputs[run]
        name = case.document.name
        if name in layout.documents:
            continue
        facts = manifests[run].documents[name]
        layout.documents[name] = facts
        layout.set_names[name] = case.questions
        if (set_path := path / "questions" / f"{case.questions}.yaml").is_file():
            layout.question_sets[case.questions] = read_yaml(set_path, QuestionSet)
        if (annotations := inputs.annotations_of_asked_questions(name)) is not None and annotations.answers:
            layout.annotations[name] = msgspec.structs.replace(annotations, document=name, digest=facts.digest)
    merged: list[RunLayout] = []
    numbers: dict[str, tuple[int, RunLayout]] = {}
    for run, layout in sorted(layouts.items()):
        for number, whole in enumerate(merged):
            if whole.add_if_it_fits(layout):
                numbers[run] = number, whole
                break
        else:
            merged.append(layout)
            numbers[run] = len(merged) - 1, layout
    return numbers


class _PartnerPack:
    """The pack of one partner."""

    def __init__(
        self,
        texts: StudyTexts,
        split: StudySplit,
        draw: KeyedRandomness,
        name: str,
        language: str,
        answers: Sequence[str],
        layouts: Mapping[str, tuple[int, RunLayout]],
    ) -> None:
        self._study, self._split, self._draw = texts, split, draw
        self._name, self._language, self._layouts = name, language, layouts
        self._answers = [texts.texts[digest] for digest in answers]
        systems = sorted({text.system for text in self._answers})
        self._codes = {system: self._derive_code_name(system) for system in systems}

    def _derive_code_name(self, system: str) -> str:
        letters = base64.b32encode(self._draw.derive_bytes_from_names("system", self._name, system)).decode().lower()
        return f"system-{letters[:8]}"

    def write_and_return_share(self, pack_path: Path, training_scores: Sequence[tuple[str, Event]]) -> PartnerShare:
        """Write the pack with these scores to train by, and return what the coordinator keeps of it."""
        events = [self._make_training_event(answer, event) for answer, event in training_scores]
        runs = {f"answers-{number + 1}": files for number, files in sorted(self._make_files_by_run_number().items())}
        with tempfile.TemporaryDirectory() as temporary_path:
            folder = Path(temporary_path)
            write_file_making_folder(folder / MARKER, b"# A part of a study, to be scored: see pack.json.\n")
            copy_own_rubric_into_pack(folder, find_rubric_path(self._study.workspace))
            if (guidelines := self._study.workspace.home / GUIDELINES).is_file():
                write_file_making_folder(folder / GUIDELINES, guidelines.read_bytes())
            write_file_making_folder(
                folder / DESK, _encode_pack_desk_yaml(self._study.people, with_reference=bool(events))
            )
            write_file_making_folder(folder / SCORES, b"".join(msgspec.json.encode(event) + b"\n" for event in events))
            for run, files in runs.items():
                for name, content in files.items():
                    write_file_making_folder(folder / RUNS / run / name, content)
            write_pack_file(pack_path, folder, self._make_pack_manifest(list(runs)))
        return PartnerShare(
            self._name,
            hashlib.sha256(pack_path.read_bytes()).hexdigest(),
            {code: system for system, code in sorted(self._codes.items(), key=lambda pair: pair[1])},
            {text.digest: tuple(text.originals) for text in self._answers},
            tuple(event.id for event in events),
            self._language,
        )

    def _make_pack_manifest(self, run_names: Sequence[str]) -> Pack:
        return Pack(
            format=PACK_FORMAT,
            genaipa=__version__,
            names=tuple(run_names),
            runs=tuple(run_names),
            excluded=False,
            rubric=load_rubric(self._study.workspace).digest,
            absent=(),
            versions={"genaipa": __version__},
            notes={"study": self._split.study, "partner": self._name},
            after_scoring="study send",
        )

    def _make_training_event(self, pack_digest: str, event: Event) -> Event:
        text = self._study.texts[pack_digest]
        note = mask_names(event.note, text.case.names, "")
        event_id = self._draw.derive_bytes_from_names("training", self._name, event.id).hex()
        return msgspec.structs.replace(event, id=event_id, answer=pack_digest, note=note)

    def _make_files_by_run_number(self) -> dict[int, dict[str, bytes]]:
        """Return the files of each run of the pack, by its number."""
        by_run: dict[int, list[BlindText]] = {}
        layouts: dict[int, RunLayout] = {}
        for text in self._answers:
            number, layout = self._layouts[text.first_occurrence.run]
            by_run.setdefault(number, []).append(text)
            layouts[number] = layout
        return {number: self._make_run_files(number, texts, layouts[number]) for number, texts in by_run.items()}

    def _make_run_files(self, run_number: int, texts: Sequence[BlindText], layout: RunLayout) -> dict[str, bytes]:
        repetitions: Counter[tuple[str, ...]] = Counter()
        records = [self._make_record(text, repetitions) for text in texts]
        documents = sorted({text.case.document.name for text in texts})
        sets = {name: layout.set_names[name] for name in documents}
        files = layout.encode_files_about(documents)
        initializations = {text.first_occurrence.initialization for text in texts}
        plan = ProcedurePlan(
            documents=tuple(documents),
            questions=sets,
            initializations=tuple(name for name in INITIALIZATIONS if name in initializations),
            wordings=tuple(sorted({text.first_occurrence.wording for text in texts})),
            conversation="independent",
        )
        codes = sorted({record.system for record in records})
        spec = RunSpec(systems=tuple(codes), plan=plan, repetitions=max(repetitions.values()))

        def map_names_to_file_digests_of_kind(kind: str) -> dict[str, str]:
            return {
                name.removeprefix(f"{kind}/").removesuffix(".yaml"): hashlib.sha256(content).hexdigest()
                for name, content in files.items()
                if name.startswith(f"{kind}/")
            }

        texts_by_name = {text.case.document.name: text.case.document for text in texts}
        manifest = Manifest(
            format=FORMAT,
            name=f"answers-{run_number + 1}",
            status="complete",
            created="",
            updated="",
            spec=spec,
            digests=Digests(
                prompts={},
                documents={name: texts_by_name[name].digest for name in documents},
                questions=map_names_to_file_digests_of_kind("questions"),
                annotations=map_names_to_file_digests_of_kind("annotations"),
                systems=dict.fromkeys(codes, ""),
            ),
            documents={name: layout.documents[name] for name in documents},
            systems={code: SystemFacts(code, words="own") for code in codes},
            orders={},
            versions={"genaipa": __version__},
            totals=count_records_by_status(records),
        )
        if self._study.pool.authors:
            marks = self._hashed_answer_authors.select_answers({text.digest for text in texts})
            files[MARKS] = msgspec.json.format(msgspec.json.encode(marks), indent=1) + b"\n"
        files |= {f"documents/{document.digest}.txt": document.text.encode() for document in texts_by_name.values()}
        if doubts := [doubt for text in texts if (doubt := _make_exclusion_of_doubted_annotation(text.case))]:
            files[EXCLUSIONS] = format_exclusions_csv(sorted(set(doubts), key=lambda doubt: doubt.key))
        return files | encode_answers_and_manifest(manifest, records)

    @cached_property
    def _hashed_answer_authors(self) -> AuthorMarks:
        """Who wrote which answer, so that nobody is asked here for what they wrote, and nothing else is told.

        Made of all answers of the pack: each has as many marks, in whatever run it is.
        """
        affiliation = f" ({normalize_person_name(self._name)})"
        names: dict[str, set[str]] = {
            text.digest: {
                name.removesuffix(affiliation)
                for original in text.originals
                for name in self._study.pool.authors.authors_of_answer(original)
            }
            for text in self._answers
        }
        salt = self._draw.derive_bytes_from_names("authors", self._name).hex()
        return make_author_marks_padded_with_decoys(
            names, salt, lambda *place: self._draw.derive_bytes_from_names("nobody", self._name, *map(str, place)).hex()
        )

    def _make_record(self, text: BlindText, repetition_counts: Counter[tuple[str, ...]]) -> Record:
        """Make the record of an answer; answers of several runs to one question are repetitions of it here."""
        occurrence, code = text.first_occurrence, self._codes[text.system]
        about = (code, occurrence.document, occurrence.initialization, occurrence.wording, occurrence.question)
        repetition_counts[about] += 1
        coordinates = RecordCoordinates(
            occurrence.document,
            occurrence.initialization,  # type: ignore[arg-type]
            occurrence.wording,
            repetition_counts[about],
            "",
            occurrence.question,
        ).as_dict_without_empty_values()
        return Record(
            key=record_key(code, DEFAULT, coordinates),
            status=text.case.answer.status,
            kind="answer",
            system=code,
            coordinates=coordinates,
            asked=text.case.asked,
            reply=text.reply,
            digest=text.digest,
            after=text.after,
            conversation=conversation_id(
                code, occurrence.document, occurrence.initialization, occurrence.wording, repetition_counts[about]
            ),
            seconds=0.0,
            turn=1,
            started="",
        )


def _make_exclusion_of_doubted_annotation(case: ScoringCase) -> Exclusion | None:
    """Return what is known against a case's annotated answer, in a pack, which has neither corrections nor exclusions.

    What its citations tell by themselves is found again there.
    """
    if case.annotated is None:
        return None
    wrong_citation = describe_likely_wrong_cited_section(case.annotated, case.document, case.part_set)
    reason = case.doubt.removesuffix(wrong_citation).strip()
    key = f"{case.document.name}|{case.answer.question}"
    return Exclusion("annotation", key, "doubt", reason) if reason else None


def _encode_pack_desk_yaml(people: People, *, with_reference: bool) -> bytes:
    """Return the desk.yaml of a pack: the plan of the study, and that all answers of the pack are to be scored.

    Each once, unless the study's plan has a number of its own: a partner may be one person.
    """
    per_answer = 1.0 if people.plan.per_answer == StudyPlan().per_answer else people.plan.per_answer
    pack_plan = msgspec.structs.replace(people.plan, sample="all", show_systems=False, per_answer=per_answer)
    plan = msgspec.to_builtins(pack_plan)
    desk: dict[str, object] = {"plan": {name: value for name, value in plan.items() if value not in (None, "")}}
    if with_reference:
        desk["reference"] = list(people.reference)
    return json.dumps(desk, indent=1).encode() + b"\n"
