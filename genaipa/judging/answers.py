"""The answers of runs as a judge is shown them: what an analyst sees of each, and no more.

Of a long document these are the passages for a question, and those named in an answer. A judge's run keeps all of it in
its folder, which is read and resumed by itself.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from genaipa.errors import DataError, GenaipaError, UsageError
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.judging.name import are_of_same_family
from genaipa.kinds import find_kind_or_placeholder
from genaipa.languages.catalog import language_to_read_reply
from genaipa.languages.language import expression
from genaipa.policies.reading import read_markdown
from genaipa.policies.search import count_words, rank_text_indices, split_into_search_spans
from genaipa.questions.annotations import SAID
from genaipa.questions.points import Point
from genaipa.runs.records import DocumentFacts
from genaipa.runs.selection import most_repeated_plan_occasions_by_system, select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool, Exchange
from genaipa.scoring.evidence.examine import collect_reply_evidence, locate_annotated_sections
from genaipa.scoring.evidence.section_finder import find_outline
from genaipa.scoring.rubric import Rubric
from genaipa.systems.costs import estimate_token_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from genaipa.policies.document import Document
    from genaipa.policies.search import Span
    from genaipa.runs.filters import Filters
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.selection import SelectedRun
    from genaipa.scoring.answers import ScoringCase
    from genaipa.scoring.evidence.examine import Evidence
    from genaipa.workspace import Workspace


_BEGINNING = 80
"""Characters of a part of a document that tell which it is."""


_OF_PARTS = re.compile(r"\bparts?\W{0,3}(?:\d|(?:one|two|three|four|five|six)\b)", re.IGNORECASE)


class JudgedSystem(NamedTuple):
    """A system whose answers are judged: its name in the run, and every name that its model goes by."""

    name: str
    models: frozenset[str]

    def is_of_same_family(self, judge_model: str) -> bool:
        """Whether it is of a judge's family."""
        return any(are_of_same_family(judge_model, model) for model in self.models)


class JudgedAnswers:
    """The answers of runs that can be judged, those about one document in a row; documents by name.

    A UsageError where the names mean no run, or runs without answers. `problems` are sentences on what is left out.
    `day` is the latest of these runs' days if that is a later occasion, whose first one has the anchors; else empty.
    """

    def __init__(self, workspace: Workspace, runs: Sequence[str], only: Filters | None = None) -> None:
        sources = [
            source
            for source in select_runs_and_apply_filters(workspace, runs, only)
            if find_kind_or_placeholder(source.manifest.spec.kind).people
        ]
        self.runs = tuple(source.folder.name for source in sources)
        self._pool = AnswerPool(
            workspace,
            [source.folder for source in sources],
            sources=sources,
            excluded=False,
        )
        if not self._pool.answers:
            subject = f"{', '.join(runs)}: there are no answers" if runs else "this workspace has no answers"
            if runs and not sources:
                raise UsageError(f"{subject} to judge, because suites are scored by rules; name another run.")
            raise UsageError(f"{subject} to judge; `genaipa runs` lists the runs.")
        self.problems = list(self._pool.problems)
        self.day, first = _find_latest_day_and_first_day_sources(workspace, sources)
        self._anchors = AnswerPool(workspace, [source.folder for source in first], sources=first, excluded=False)
        self.systems = _list_judged_systems(sources, self._pool)
        self.documents: dict[str, Document] = {}
        self._passages: dict[str, DocumentPassages] = {}

    @property
    def answer_digests(self) -> list[str]:
        """The digests of the answers."""
        return list(self._pool.answers)

    @property
    def anchor_candidate_digests(self) -> list[str]:
        """The digests of the first occasion's answers: some are judged again."""
        return list(self._anchors.answers)

    @property
    def digest_system_question_triples(self) -> Iterator[tuple[str, str, str]]:
        """Digest, system and question of every place of an answer."""
        for digest, answer in self._pool.answers.items():
            for occurrence in answer.occurrences:
                yield digest, occurrence.system, occurrence.question

    @property
    def category_by_question(self) -> dict[str, str]:
        """Question → its category, in the order of the sets that were asked."""
        return self._pool.category_by_question

    @property
    def sentence_on_exclusions_or_empty(self) -> str:
        """A sentence on excluded answers; empty without any."""
        return self._pool.sentence_on_exclusions_or_empty.partition(" (")[0]

    def load_judged_items(
        self, passes_by_digest: Mapping[str, tuple[int, ...]], *, with_evidence: bool, with_points: bool
    ) -> list[JudgedItem]:
        """Load the answers with these digests as a judge is shown them, each with the passes that are wanted."""
        items = []
        for digest, passes in passes_by_digest.items():
            try:
                case = (self._pool if digest in self._pool.answers else self._anchors).load_case(digest)
            except GenaipaError as error:
                self.problems.append(str(error))
                continue
            items.append(self._make_judged_item(case, passes, with_evidence=with_evidence, with_points=with_points))
        # What has a form of its own has a cached document of its own.
        return sorted(
            items,
            key=lambda one: (one.document, not one.annotated, not one.points, one.passages, one.question, one.digest),
        )

    def _make_judged_item(
        self, case: ScoringCase, passes: tuple[int, ...], *, with_evidence: bool, with_points: bool
    ) -> JudgedItem:
        document, annotated = case.document, case.annotated
        long = is_too_long_to_show_whole(document)
        examined = _collect_case_evidence(case) if with_evidence or long else None
        passages: tuple[tuple[int, int], ...] = ()
        named: tuple[tuple[int, int], ...] = ()
        if long and examined is not None:
            pieces = self._passages.setdefault(document.digest, DocumentPassages(document))
            passages = pieces.select_nearest_and_annotated(case)
            named = pieces.select_cited_or_quoted(examined, passages)
        return JudgedItem(
            digest=case.answer.digest,
            document=self._add_document_and_return_name(document),
            question=case.answer.question,
            asked=case.asked,
            earlier=case.earlier,
            reply=case.mask_names_in_reply(),
            passes=passes,
            original=case.original,
            annotated=annotated.answer if annotated else "",
            aside=_describe_silence_and_cited_sections(case),
            note=" ".join(filter(None, (annotated.note if annotated else "", case.doubt))),
            silent=bool(case.reliable_annotation and case.reliable_annotation.silent == "yes"),
            passages=passages,
            named=named,
            parts=_part_beginnings_if_reply_cites_parts(case),
            evidence=tuple(_describe_evidence_in_sentences(case, examined)) if with_evidence and examined else (),
            points=annotated.points if annotated and with_points else (),
        )

    def _add_document_and_return_name(self, document: Document) -> str:
        """Return the document's name in the judge's run; of two texts of one name, the second gets its digest added."""
        existing = self.documents.setdefault(document.name, document)
        if existing.digest == document.digest:
            return document.name
        name = f"{document.name}-{document.digest[:8]}"
        self.documents[name] = document
        return name

    def document_facts(self) -> dict[str, DocumentFacts]:
        """Return the documents of the loaded items, as a manifest describes them."""
        return {name: DocumentFacts.from_document(document) for name, document in self.documents.items()}


def _find_latest_day_and_first_day_sources(
    workspace: Workspace, sources: Sequence[SelectedRun]
) -> tuple[str, list[SelectedRun]]:
    """Return the latest day of these runs, and the runs of their systems' first occasion, if that was earlier."""
    names = {source.folder.name for source in sources}
    latest, first = "", dict[str, set[str]]()
    all_sources = select_runs_and_apply_filters(workspace, [])
    for system, days in most_repeated_plan_occasions_by_system(all_sources).items():
        day = max((occasion.day for occasion in days if names.intersection(occasion.runs)), default="")
        if day > days[0].day:
            latest = max(latest, day)
            for run in days[0].runs:
                first.setdefault(run, set()).add(system)
    first_sources = [source for source in all_sources if source.folder.name in first]
    return latest, [
        dataclasses.replace(source, systems=tuple(sorted(first[source.folder.name]))) for source in first_sources
    ]


def _list_judged_systems(sources: Iterable[SelectedRun], pool: AnswerPool) -> list[JudgedSystem]:
    """Return the systems that gave the answers."""
    manifests = {source.folder.name: source.manifest for source in sources}
    models: dict[str, set[str]] = {}
    for run, name in {
        (occurrence.run, occurrence.system) for answer in pool.answers.values() for occurrence in answer.occurrences
    }:
        facts = manifests[run].systems.get(name)
        models.setdefault(name, set()).update({name, *((facts.model, *facts.served) if facts else ())})
    return [JudgedSystem(name, frozenset(models[name] - {""})) for name in sorted(models)]


def _describe_silence_and_cited_sections(case: ScoringCase) -> str:
    """Describe an annotated answer's silence and sections; of a part of a split that nobody is shown, how it begins."""
    if case.annotated is None:
        return ""
    text = case.document.text
    targets = locate_annotated_sections(case.annotated, case.document, case.part_set)
    spans = dict(zip(case.annotated.sections, targets, strict=True))
    sections = (
        f"{label}, which begins “{_quote_beginning(text, span[0])}”" if span and label.startswith("Part ") else label
        for label, (_, span) in spans.items()
    )
    return "; ".join(filter(None, (SAID[case.annotated.silent], *sections)))


def _part_beginnings_if_reply_cites_parts(case: ScoringCase) -> tuple[str, ...]:
    """Return the beginnings of the parts in which the document was sent, for an answer that speaks of parts."""
    language = language_to_read_reply(case.reply, case.document.language)
    parts = language.citations.names.get("Part") if language and language.citations else None
    # In English the number may be a word.
    if not (expression(rf"(?:{parts})\W{{0,3}}\d") if parts else _OF_PARTS).search(case.reply):
        return ()
    return tuple(_quote_beginning(case.document.text, start) for start, _ in case.parts)


def _quote_beginning(text: str, start: int) -> str:
    words = text[start : start + _BEGINNING].split()
    return f"{' '.join(words[:-1])} …"


def _collect_case_evidence(case: ScoringCase) -> Evidence:
    return collect_reply_evidence(
        case.reply,
        case.document,
        part_spans_given=case.parts,
        annotated=case.reliable_annotation,
        annotated_part_set=case.part_set,
        system_had_summary=case.summarised,
        question=case.question,
    )


def _describe_evidence_in_sentences(case: ScoringCase, evidence: Evidence) -> Iterable[str]:
    """Describe the evidence that the rules have found, a sentence each.

    None repeats a word of the answer: outside the lines around it, the judge would take it for ours.
    """
    cited, quoted = len(evidence.references), len(evidence.quotations)
    for number, reference in enumerate(evidence.references, 1):
        means = f"is {reference.resolved}" if reference.resolved else "can't be found in the document"
        if reference.outside:
            means = f"refers to {reference.outside}"
        elif reference.missing:
            means = "refers to a section that the document does not have"
        rests = ", on which the annotated answer rests" if reference.expected else ""
        yield f"Citation {number} of {cited} {means}{rests}."
    match_words = {"exact": "in the document word for word", "normalised": "in the document word for word"}
    match_words |= {"near": "in the document in nearly these words"}
    for number, quotation in enumerate(evidence.quotations, 1):
        yield f"Quotation {number} of {quoted} is {match_words.get(quotation.match, 'not in the document')}."
    if evidence.silence.claimed and evidence.on_question is not False:
        yield "It says that the document does not answer the question."
    elif evidence.silence.mute:
        yield "It says nothing about the question: it is empty or a refusal."
    yield f"It has {count_words(case.reply):,} words."


WHOLE = 12_000
"""Tokens up to which a document is shown whole; more of a longer one is not shown either."""
NEAREST = 3
"""Passages that are shown because their words are nearest to the question's."""
_GAP = "[…]"


def is_too_long_to_show_whole(document: Document) -> bool:
    """Whether a document is too long to be shown whole: by its length, and so alike for all judges."""
    return estimate_token_count(document.text) > WHOLE


class DocumentPassages:
    """A long document in pieces: its sections, long ones and texts without sections in several, none of them blank."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._nearest: dict[str, list[Span]] = {}

    @cached_property
    def passage_spans(self) -> tuple[Span, ...]:
        """The passages, in characters of the document's text."""
        return split_into_search_spans(self.document.text, (section.start for section in find_outline(self.document)))

    def select_nearest_and_annotated(self, case: ScoringCase) -> tuple[Span, ...]:
        """Select the three passages nearest to the question, and those of the annotated answer."""
        near = self._rank_passages(case.original or case.asked)
        targets = locate_annotated_sections(case.annotated, self.document, case.part_set) if case.annotated else ()
        rests_on = self._find_overlapping_passages(span for _, span in targets if span)
        return self._select_passages_that_fit(
            [*near[:NEAREST], *(span for span in near[NEAREST:] if span in rests_on)], WHOLE
        )

    def select_cited_or_quoted(self, evidence: Evidence, already_shown_spans: Sequence[Span]) -> tuple[Span, ...]:
        """Select the passages that an answer cites or quotes, besides those that are shown anyway."""
        targets = [reference.target for reference in evidence.quotations] + [
            reference.target for reference in evidence.references
        ]
        new_passages = [
            span for span in self._find_overlapping_passages(filter(None, targets)) if span not in already_shown_spans
        ]
        return self._select_passages_that_fit(
            new_passages, WHOLE - sum(map(self._estimate_tokens, already_shown_spans))
        )

    def _estimate_tokens(self, span: Span) -> int:
        return estimate_token_count(self.document.text[slice(*span)])

    def _select_passages_that_fit(self, spans: Iterable[Span], token_limit: int) -> tuple[Span, ...]:
        """Return the first of these passages that fit into this many tokens, in the document's order."""
        fitting: list[Span] = []
        for span in spans:
            if (size := self._estimate_tokens(span)) <= token_limit:
                fitting.append(span)
                token_limit -= size
        return tuple(sorted(fitting))

    def _find_overlapping_passages(self, spans: Iterable[Span]) -> list[Span]:
        """Return the passages that share a character with one of these spans, in the document's order."""
        wanted = list(spans)
        return [
            passage
            for passage in self.passage_spans
            if any(passage[0] < end and start < passage[1] for start, end in wanted)
        ]

    def _rank_passages(self, question: str) -> list[Span]:
        """Return all passages, the nearest to the question first."""
        if question not in self._nearest:
            reading = read_markdown(self.document.text)
            ranking = rank_text_indices(
                tuple(reading.plain_text_of_source_span(*span) for span in self.passage_spans), question
            )
            self._nearest[question] = [self.passage_spans[index] for index in ranking]
        return self._nearest[question]


def join_passages(document: Document, spans: Iterable[Span]) -> str:
    """Join passages in the document's order, marking what is left out and naming the section that goes on."""
    pieces: list[str] = []
    done = 0
    for start, end in sorted(spans):
        if start > done:
            pieces.append(_GAP)
            section = next(
                (
                    candidate
                    for candidate in reversed(find_outline(document))
                    if candidate.start < start < candidate.end
                ),
                None,
            )
            pieces += [f"[{section.label_and_title}, continued]"] if section else []
        pieces.append(document.text[start:end].strip())
        done = end
    return "\n\n".join([*pieces, *([_GAP] if done < len(document.text) else [])])


FILE = "judged.json"
Passage = tuple[int, int]


class JudgedItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer as an analyst sees it: the question, the annotated answer, and the reply without its system's names.

    `digest` is the answer's. `passages` are the spans of a long document that are shown for all answers to the
    question, `named` the spans that this answer names or quotes besides; a document without is shown whole. `parts` are
    the beginnings of parts in which the system was sent the document, where the answer speaks of parts. `passes` are
    the numbers of the passes that are wanted. `points` are the annotated answer's, where a metric follows from them.
    `earlier` is the exchange that a follow-up goes on from.
    """

    digest: str
    document: str
    question: str
    asked: str
    reply: str
    passes: tuple[int, ...]
    original: str = ""
    annotated: str = ""
    aside: str = ""
    note: str = ""
    silent: bool = False
    passages: tuple[Passage, ...] = ()
    named: tuple[Passage, ...] = ()
    parts: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    points: tuple[Point, ...] = ()
    earlier: Exchange | None = None


class JudgedMaterial(msgspec.Struct, frozen=True):
    """The content of `judged.json`.

    The marks around the answers are made of `secret`; `prompt` is the digest in the judge's name. `runs` have the
    answers, `own_family` names systems of a judge's family: judge → systems.
    """

    prompt: str
    secret: str
    runs: tuple[str, ...]
    evidence: bool
    own_family: dict[str, tuple[str, ...]]
    rubric: Rubric
    answers: tuple[JudgedItem, ...]

    def to_json(self) -> str:
        """Return the content of the file."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode() + "\n"


def read_judged_material(folder: RunFolder) -> JudgedMaterial:
    """Return the material of a judge's run; a DataError if it can't be read, or is not as it was written."""
    path = folder.path / FILE
    try:
        content = path.read_bytes()
        material = msgspec.json.decode(content, type=JudgedMaterial)
    except OSError as error:
        raise DataError(path, f"can't be read ({error.strerror}); restore the file.") from None
    except DAMAGE as error:
        raise DataError(path, f"is damaged ({clip_error_message(error)}); restore the file.") from None
    if hashlib.sha256(content).hexdigest() != folder.manifest().digests.task.get(FILE):
        raise DataError(path, "has changed since the judge was asked; restore the file.")
    return material
