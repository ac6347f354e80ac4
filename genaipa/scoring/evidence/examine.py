"""Collect the evidence about an answer before it is scored, and the value of its citations that follows.

evidence = examine(reply, document, parts=case.parts, annotated=case.reliable_annotation, part_set=case.part_set)

Settled are the cases whose values follow from the rubric's rule, or from values that an analyst has just given. They
are proposed to the analyst, who accepts or changes them; nothing is scored without that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING

from genaipa.files.text import digest
from genaipa.languages.catalog import LANGUAGES, read_by
from genaipa.languages.language import expression
from genaipa.policies.numbering import SEVERAL
from genaipa.policies.sections import resolve
from genaipa.scoring.evidence.abstention import Silence, find_silence
from genaipa.scoring.evidence.asked import denies_question
from genaipa.scoring.evidence.quotations import Quotation, TextIndex, find_quotations
from genaipa.scoring.evidence.resolution import Reference, find_references
from genaipa.scoring.evidence.section_finder import outline, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from genaipa.languages.language import SilenceRules
    from genaipa.policies.document import Document
    from genaipa.questions.annotations import AnnotatedAnswer
    from genaipa.scoring.evidence.asked import Asked
    from genaipa.scoring.rubric import Rubric, Values

Span = tuple[int, int]

# A possible title, or a section's number without a word.
_TITLE = re.compile(
    r"(?:[\"\u201c*_]|(?<!\w)['\u2018])([A-Z][^\"\u201c\u201d*_\n]{5,100}?)(?:[\"\u201d*_]|['\u2019](?!\w))"
    rf"|(?<![\w.]){SEVERAL}(?![\w.])"
)
_MOST = 100  # titles of an answer that are looked up


@dataclass(frozen=True)
class Evidence:
    """A reply's citations, quotations and abstention.

    `suggestion` is the value of the citations, None if the evidence doesn't settle it; `reason`
    is the sentence that says why. `targets` is how many passages the annotated answer rests on. `points` says that the
    reply seems to name a section in a way that is not recognised: then nothing is made of its naming none.
    `summarised` says that the system had a summary, from which it may quote. `language` is the
    code of the language by whose rules it was read; empty where genaipa lacks these: then quotations and numbers in
    brackets are all that is known. `on_question` says whether its denials are of the question asked; None where the
    reply is in another language than the question.
    """

    references: tuple[Reference, ...]
    quotations: tuple[Quotation, ...]
    silence: Silence
    suggestion: float | None
    reason: str
    targets: int = 0
    points: bool = False
    summarised: bool = False
    language: str = ""
    on_question: bool | None = True

    @property
    def cited(self) -> int:
        """Number of passages of the annotated answer that are cited."""
        return len({place for reference in self.references for place in reference.expected})


def examine(
    reply: str,
    document: Document,
    *,
    parts: Sequence[Span] = (),
    annotated: AnnotatedAnswer | None = None,
    part_set: str = "",
    summarised: bool = False,
    asked: Asked | None = None,
) -> Evidence:
    """Collect the evidence about a reply.

    `parts` are the spans of "Part 1", "Part 2", … as this system was given the document. `part_set` is the segmentation
    of the annotated answer's own "Part n", perhaps another. `summarised`: the system had a summary, whose parts it may
    mean. Without the question (`asked`) a denial is taken to be of it.
    """
    targets = [span for _, span in annotated_targets(annotated, document, part_set) if span] if annotated else []
    named = find_references(reply, document, parts, targets, summarised=summarised)
    quotations = find_quotations(reply, document, [(reference.start, reference.end) for reference in named])
    references = tuple(reference for reference in named if not _is_quoted(reference, quotations, document))
    said = [(q.start, q.end) for q in quotations if q.match in {"exact", "normalised"}]
    silence, language = find_silence(reply, annotated, said, document.language), read_by(reply, document.language)
    if language is None or language.citations is None or language.silence is None:
        return Evidence(references, quotations, silence, None, "", len(targets), True, summarised)
    points = not references and _points(reply, document, silence, language.citations.pointing)
    ours = denies_question(reply, silence.phrases, asked, document) if asked and silence.phrases else True
    value, reason = None, ""
    if annotated and annotated.silent == "yes":
        value, reason = _on_silence(references, silence, points=points, ours=ours)
    elif annotated:
        # A summary has parts of its own.
        summary = re.search(language.citations.summary, reply.casefold())
        value, reason = (None, "") if summary else _on_sections(references)
    known = points, summarised, language.code, ours
    return Evidence(references, quotations, silence, value, reason, len(targets), *known)


def annotated_targets(
    annotated: AnnotatedAnswer, document: Document, part_set: str
) -> tuple[tuple[str, Span | None], ...]:
    """List the sections of the annotated answer with their spans; None for one that the document lacks."""
    return section_targets(annotated.sections, document, part_set)


def section_targets(labels: Iterable[str], document: Document, part_set: str) -> tuple[tuple[str, Span | None], ...]:
    """List sections, named as annotated answers name them, with their spans; None for one that the document lacks."""
    found: list[tuple[str, Span | None]] = []
    for label in labels:
        word, _, number = label.partition(" ")
        span = document.part(part_set, int(number)) if word == "Part" and number.isdecimal() else None
        section = None if span else resolve(places(document), label)
        # The system may call another passage by the same number.
        named = f"{label} of the annotators' split" if span else label
        found.append((named, span or ((section.start, section.end) if section else None)))
    return tuple(found)


def _is_quoted(reference: Reference, quotations: Sequence[Quotation], document: Document) -> bool:
    """Whether a citation is the document's own, inside a quotation; words in brackets may be the answer's."""
    return any(
        quote.start <= reference.start
        and reference.end <= quote.end
        and quote.target is not None
        and TextIndex(document.text[slice(*quote.target)]).find(reference.text) is not None
        for quote in quotations
    )


def _points(reply: str, document: Document, silence: Silence, pointing: str) -> bool:
    """Whether a reply has a section's title, or mentions a section except to say that there is none.

    `pointing` is how an answer points at a section without a number: "the following section:", "Reference: Security".
    """
    sections = outline(document)
    if any(resolve(sections, match.group(1) or match.group()) for match in islice(_TITLE.finditer(reply), _MOST)):
        return True
    lines = (match.span() for match in re.finditer(r"[^\n.]+", reply))
    denied = [line for line in lines if any(line[0] <= start < line[1] for start, _ in silence.phrases)]
    mentions = expression(pointing, re.IGNORECASE | re.MULTILINE).finditer(reply)
    return any(not any(start <= match.start() < end for start, end in denied) for match in mentions)


def _on_silence(
    references: tuple[Reference, ...], silence: Silence, *, points: bool, ours: bool | None
) -> tuple[float | None, str]:
    """Score the references, with the reason, where the document is silent; None if it takes an analyst.

    `ours` says whether the reply denies what was asked.
    """
    if any(not reference.outside for reference in references):
        return -1.0, "The document does not answer this question, and the answer cites a section all the same."
    if silence.claimed and ours and not references and not points:
        return 1.0, "The answer says that the document does not say, as it should, and cites nothing."
    return None, ""


def _on_sections(references: tuple[Reference, ...]) -> tuple[float | None, str]:
    """Score the references, with the reason, where the document answers; None if it takes an analyst."""
    inside = [reference for reference in references if reference.outside not in {"another law", "a summary"}]
    if not inside or any(reference.outside for reference in inside):
        return None, ""
    if all(reference.expected and not reference.problem for reference in inside):
        return 1.0, "Every section of this document that the answer cites is one that the annotated answer rests on."
    if all(reference.missing for reference in inside):
        return -1.0, "None of the sections that the answer cites exists in this document."
    return None, ""


NEAR = 0.95
"""Share of the words of two texts, in their order, from which on they are nearly the same."""
JUST = 10
"""An analyst's last scores, among which the original of a near repeat is sought."""
_LONGEST = 2000
"""Words above which texts are not compared: it would take seconds."""
_SHOWN = 3
"""Differences that a reason names."""
_BLANK = 5
"""Of this many settled cases one begins blank, so that what is filled in can be held against what is not."""
_RULED = frozenset(("citations", "quotations"))
"""Kinds of evidence of the metrics in the rule on silence."""
_CLIP = 40
"""Characters of a difference that a reason shows."""


@dataclass(frozen=True)
class Proposal:
    """Values that an analyst may accept, of all metrics or of some, and the sentence that says why these."""

    values: Mapping[str, float]
    reason: str


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer that an analyst has scored: its text as they saw it, its evidence, and their values."""

    reply: str
    evidence: Evidence
    values: Values


def begins_blank(digest: str) -> bool:
    """Whether a settled case of this answer begins blank for everybody: one in five does."""
    return int(digest[:8], 16) % _BLANK == 0


def is_withheld(answer: str, metric: str) -> bool:
    """Whether what is suggested for a metric of an answer (its digest) is held back from everybody: one in five is."""
    return begins_blank(digest(f"{answer} {metric}"))


def rightly_silent(reply: str, evidence: Evidence, rubric: Rubric) -> Proposal | None:
    """Propose the best values where the document is silent, and the answer says that alone of what was asked.

    It cites nothing. The rubric's rule says that this is the right answer; None for a rubric without one. It speaks of
    what is right and cited, and of no other metric.
    """
    silence = evidence.silence
    rules = _denials(evidence)
    if rules is None:
        return None
    # A word that answers before it is said that nothing can be.
    answers = expression(
        rf"\W*{rules.answered}\s*[.,;:!\u2013\u2014\uff0c\u3002\uff1b\uff1a\uff01-]", re.IGNORECASE
    ).match(reply)
    more = evidence.references or evidence.quotations or evidence.points or answers
    if not (rubric.silent_rule and silence.annotated and silence.alone and evidence.on_question) or more:
        return None
    ruled = [name for name, metric in rubric.metrics.items() if _RULED.intersection(metric.evidence)]
    if not ruled:
        return None
    why = "The document is silent by the annotated answer; this answer says so, and cites nothing."
    return Proposal(dict.fromkeys(ruled, rubric.values[0]), why)


def _denials(evidence: Evidence) -> SilenceRules | None:
    known = LANGUAGES.get(evidence.language)
    return known.silence if known else None


def near_repeat(reply: str, evidence: Evidence, before: Iterable[ScoredAnswer]) -> Proposal | None:
    """Propose the values of the first of these answers that the reply nearly repeats; None without one.

    It has nearly the same words and cites the same; no number, denial or qualification is among the words that differ.
    """
    rules = _denials(evidence)
    for scored in before if rules else ():
        one, other = scored.reply.split(), reply.split()
        if _cites(scored.evidence) != _cites(evidence) or not _alike(one, other):
            continue
        apart = list(_differences(one, other))
        if rules and not any(expression(rules.turns, re.IGNORECASE).search(words) for pair in apart for words in pair):
            return Proposal(scored.values, f"You have just scored nearly the same answer so. {_in_words(apart)}")
    return None


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Share of the words of two texts that they have in common in the same order, from 0 to 1."""
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def _matched(one: Sequence[str], other: Sequence[str]) -> SequenceMatcher[str]:
    """The words of two texts held against each other, in upper and lower case alike."""
    return SequenceMatcher(None, [w.lower() for w in one], [w.lower() for w in other], autojunk=False)


def _alike(one: list[str], other: list[str]) -> bool:
    if not one or not other or max(len(one), len(other)) > _LONGEST:
        return False
    matched = _matched(one, other)
    # First an upper bound, which is quickly found.
    return matched.quick_ratio() >= NEAR and matched.ratio() >= NEAR


def _cites(evidence: Evidence) -> tuple[object, ...]:
    """Everything in the evidence that values could depend on: equal for answers that cite and claim the same."""
    references = [(one.resolved, one.target, one.problem, one.outside, one.expected) for one in evidence.references]
    quotations = [(one.match, one.target) for one in evidence.quotations]
    return references, quotations, evidence.silence.alone, evidence.silence.claimed, evidence.points


def _differences(one: list[str], other: list[str]) -> Iterator[tuple[str, str]]:
    """The words of two texts that differ, by more than upper and lower case, of each text."""
    for kind, begin, end, start, stop in _matched(one, other).get_opcodes():
        if kind != "equal":
            yield " ".join(one[begin:end]), " ".join(other[start:stop])


def _in_words(apart: list[tuple[str, str]]) -> str:
    if not apart:
        return "It has the same words."
    named = [f"{_quoted(new)} for {_quoted(old)}" if old and new else _added(old, new) for old, new in apart[:_SHOWN]]
    more = f", and in {len(apart) - _SHOWN} more places" if len(apart) > _SHOWN else ""
    return f"This one has {', '.join(named)}{more}."


def _added(old: str, new: str) -> str:
    return f"{_quoted(new)} added" if new else f"{_quoted(old)} left out"


def _quoted(words: str) -> str:
    return f"\u201c{words if len(words) <= _CLIP else f'{words[: _CLIP - 1]}…'}\u201d"
