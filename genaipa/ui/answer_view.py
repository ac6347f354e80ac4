"""One answer as plain data that the pad draws on the analyst's screen.

Texts are cut into pieces wherever a highlight begins or ends, so that the browser needs no offsets: a piece is
`[text]`, or `[text, styles, marks]` with the names of its styles and of the marks that one can jump to. The document's
text goes to the browser once, for all answers about it, with the places at which its long lines are broken into
paragraphs; its pieces have their lengths for their texts.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.errors import GenaipaError
from genaipa.policies.heading_end import find_heading_end
from genaipa.policies.search import count_words
from genaipa.questions.annotations import SAID
from genaipa.scoring.aids import EVIDENCE, NEAREST, OWN, SUGGESTIONS, load_built_in_and_plugin_aids
from genaipa.scoring.events import SEND_BACK
from genaipa.scoring.evidence.asked import shares_word_with_question
from genaipa.scoring.evidence.examine import collect_reply_evidence, locate_annotated_sections, locate_labelled_sections
from genaipa.scoring.evidence.nearest import load_sentence_index, match_sentences_to_document
from genaipa.scoring.evidence.passages import load_passage_finder
from genaipa.scoring.evidence.section_finder import find_outline
from genaipa.scoring.rubric import format_signed_value
from genaipa.ui.panel import load_panels_enabled_by_plan
from genaipa.ui.widgets import FOLD, ListRow, TitledText, format_utc_minute, number_column_heads, show_table, show_texts
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from genaipa.policies.document import Document
    from genaipa.scoring.answers import PooledAnswer, ScoringCase
    from genaipa.scoring.events import Event
    from genaipa.scoring.evidence.examine import Evidence
    from genaipa.scoring.evidence.quotations import Quotation
    from genaipa.scoring.evidence.resolution import ResolvedCitation
    from genaipa.scoring.people import User
    from genaipa.scoring.rubric import Rubric
    from genaipa.ui.desk import Desk
    from genaipa.ui.panel import Panel


NO_PANELS: Mapping[str, Panel] = {}
_TWICE = re.compile("[\U00010000-\U0010ffff]")
"""A character that JavaScript counts twice."""
StyledTextPiece = list[str]
EvidenceLine = dict[str, str]
"""A line of evidence: `tone` (good, bad, unsure or plain), `text`, and the mark that it jumps to, if any."""
_LONG = 900
"""Characters of a line without an outline that is broken at the ends of sentences."""
_PARAGRAPH = 450
"""Characters that such a paragraph has at least; the last one, half of them."""
_LINE = re.compile(rf"^(?! {{0,3}}\|)[^\n]{{{_LONG},}}", re.MULTILINE)
"""A long line that is no row of a table."""
_SENTENCE_END = re.compile(r"(?<=\w[.!?])[\"')\]\u201d\u2019]*\s+(?=[^\s\w]*[^\W\d_a-z])")


@dataclass(frozen=True)
class TextSpan:
    """A stretch of a text to highlight."""

    start: int
    end: int
    style: str
    mark: str = ""


@dataclass(frozen=True)
class PreparedAnswer:
    """One answer, ready to be shown; the same for every analyst from whom the same aids are withheld."""

    screen_data: dict[str, Any]
    document: dict[str, Any]
    """Its document's digest, name, text and paragraphs; the same for every answer about it."""
    reply: str
    """The answer as it is on screen."""
    evidence: Evidence
    suggested: dict[str, float]
    """Metric → the value that is suggested on screen, once the analyst is at it."""
    withheld: dict[str, float]
    """Metric → the value that would be, and is withheld."""
    aids: dict[str, bool]
    """Aid → whether it is shown, or withheld; only aids that have something to show of this answer."""
    case: ScoringCase
    panels: tuple[Panel, ...] = ()
    """The panels that have something to show of it."""


def cut_text_at_highlights(text: str, spans: Iterable[TextSpan]) -> list[StyledTextPiece]:
    """Cut the text wherever a highlight begins or ends."""
    inside = [span for span in spans if 0 <= span.start < span.end <= len(text)]
    borders = sorted({0, len(text), *(s.start for s in inside), *(s.end for s in inside)})
    begins: dict[int, list[TextSpan]] = {}
    for span in inside:
        begins.setdefault(span.start, []).append(span)
    cut: list[StyledTextPiece] = []
    open_spans: list[TextSpan] = []
    for start, end in pairwise(borders):
        open_spans = [span for span in open_spans if span.end > start] + begins.get(start, [])
        styles = " ".join(dict.fromkeys(span.style for span in open_spans))
        marks = " ".join(dict.fromkeys(span.mark for span in open_spans if span.mark))
        cut.append([text[start:end], styles, marks] if open_spans else [text[start:end]])
    return cut


def count_utf16_units(text: str) -> int:
    """Return the length of a text as JavaScript counts it."""
    return len(text.encode("utf-16-le")) // 2


def find_break_offsets_in_long_lines(document: Document) -> list[int]:
    """Places (characters) at which its long lines are broken on screen: where a section begins, and between sentences.

    A published policy may be one line of eight thousand words, with an outline inside it.
    """
    text = document.text
    sections = [section.start for section in find_outline(document)]
    breaks: list[int] = []
    for line in _LINE.finditer(text):
        borders = sorted({line.start(), line.end(), *(at for at in sections if line.start() < at < line.end())})
        for start, end in pairwise(borders):
            breaks.append(start)
            for sentence in _SENTENCE_END.finditer(text, start, end) if end - start > _LONG else ():
                at = sentence.end()
                if at - breaks[-1] >= _PARAGRAPH and end - at >= _PARAGRAPH // 2:
                    breaks.append(at)
        breaks.remove(line.start())
    return breaks


def prepare_answer(
    case: ScoringCase,
    rubric: Rubric,
    *,
    mask_system_names: bool,
    built_in_aids: Collection[str] = tuple(OWN),
    withheld_aids: Collection[str] = (),
    panels: Mapping[str, Panel] = NO_PANELS,
) -> PreparedAnswer:
    """Return the data of one answer with these of the desk's own aids and panels, but without what is withheld."""
    document, trusted = case.document, case.reliable_annotation
    reply = case.mask_names_in_reply() if mask_system_names else case.reply
    evidence = collect_reply_evidence(
        reply,
        document,
        part_spans_given=case.parts,
        annotated=trusted,
        annotated_part_set=case.part_set,
        system_had_summary=case.summarised,
        question=case.question,
    )
    targets = locate_annotated_sections(trusted, document, case.part_set) if trusted else ()
    annotated_sections = [(label, span, f"a{n}") for n, (label, span) in enumerate(targets)]
    passage_spans = [load_passage_finder(document.text).place(passage).span for passage in case.passages]
    retrieved = [TextSpan(*span, "shown") for span in passage_spans if span]
    own_contents = _map_built_in_aids_to_contents(case, rubric, reply, evidence)
    contents = {name: own_contents[name] for name in built_in_aids}
    contents |= {name: panel.make_script_data(case, rubric) for name, panel in panels.items()}
    all_aids = load_built_in_and_plugin_aids()
    aids = {name: name not in withheld_aids for name in all_aids if contents.get(name)}
    visible = {name: content for name, content in contents.items() if aids.get(name, True)}
    panel_data = {name: visible[name] for name in panels if visible.get(name) is not None}
    active_panels = tuple(panels[name] for name in panel_data)
    places = _locate_sections_linked_from_panels(
        case, dict.fromkeys(label for panel in active_panels for label in panel.list_linked_section_labels(case))
    )
    suggested, suggestion_contents = visible.get(SUGGESTIONS, {}), contents.get(SUGGESTIONS, {})
    shown_evidence = evidence if EVIDENCE in visible else None
    highlights = _find_document_highlights(annotated_sections, shown_evidence)
    spans = [*_find_headings(document), *highlights, *places.values(), *retrieved]
    screen_data = {
        "answer": case.answer.digest,
        "document": document.digest,
        "pieces": [[count_utf16_units(text), *marks] for text, *marks in cut_text_at_highlights(document.text, spans)],
        "retrieved": f"{len(retrieved)} of {len(passage_spans)}{' cited' * case.cites_passages}"
        if passage_spans
        else "",
        "question": case.asked,
        "original": case.original,
        "earlier": case.earlier.as_text_with_speakers if case.earlier else "",
        "state": {"refused": "The system refused to answer.", "truncated": "The answer was cut off."}.get(
            case.answer.status, ""
        ),
        "reply": cut_text_at_highlights(reply, _find_reply_highlights(shown_evidence) if shown_evidence else ()),
        "words": count_words(reply),
        "annotated": _make_annotated_answer_data(case, rubric, annotated_sections),
        "evidence": dict.fromkeys(rubric.metrics, ()) | visible.get(EVIDENCE, {}),
        # Without these, keys lead to what is nearest to the question.
        "sentences": visible.get(NEAREST, ()),
        "near": _locate_sentences_nearest_to_question(case),
        "first": highlights[0].mark if highlights else "",
        "suggestion": {metric: rubric.digit_for_value(value) for metric, value in suggested.items()},
        "reason": evidence.reason if suggested else "",
        "withheld": [] if suggested else list(suggestion_contents),
        # An answer without a suggestion is no rarity; whoever knew that one is withheld would know that there is one.
        "held_back": [all_aids[name].title for name, is_shown in aids.items() if not is_shown and name != SUGGESTIONS],
        "panels": panel_data,
        "places": {label: span.mark for label, span in places.items()},
    }
    name = document.about.title or document.company
    text, break_places = document.text, find_break_offsets_in_long_lines(document)
    breaks = [*accumulate(count_utf16_units(text[start:end]) for start, end in pairwise([0, *break_places]))]
    document_data = {"digest": document.digest, "name": name, "text": text, "breaks": breaks}
    withheld = {} if suggested else suggestion_contents
    return PreparedAnswer(screen_data, document_data, reply, evidence, suggested, withheld, aids, case, active_panels)


def _map_built_in_aids_to_contents(case: ScoringCase, rubric: Rubric, reply: str, evidence: Evidence) -> dict[str, Any]:
    """Return what each of the desk's own aids shows of an answer, by their names."""
    metrics = rubric.metrics_with_evidence("citations") if evidence.suggestion is not None else ()
    return {
        NEAREST: _match_reply_sentences_to_document(reply, case.document, evidence),
        EVIDENCE: _evidence_lines_by_metric(evidence, case, reply, rubric),
        SUGGESTIONS: dict.fromkeys(metrics, evidence.suggestion),
    }


def _make_annotated_answer_data(
    case: ScoringCase, rubric: Rubric, labels_spans_and_marks: list[tuple[str, tuple[int, int] | None, str]]
) -> dict[str, Any] | None:
    """Describe the annotated answer for the pad; None without one."""
    annotated, trusted = case.annotated, case.reliable_annotation
    if annotated is None:
        return None
    return {
        "is": annotated.silent,
        "silent": SAID[annotated.silent],
        "rule": rubric.silent_rule if trusted and trusted.silent == "yes" else "",
        "doubt": case.doubt,
        "text": annotated.answer,
        "note": annotated.note,
        "sections": [{"label": label, "mark": mark if span else ""} for label, span, mark in labels_spans_and_marks]
        or [{"label": label, "mark": ""} for label in annotated.sections],
    }


def _match_reply_sentences_to_document(reply: str, document: Document, evidence: Evidence) -> list[dict[str, Any]]:
    """List the sentences of the answer that match the annotated one, with offset and length in UTF-16 units."""
    count_before = _make_utf16_offset_converter(reply)
    return [
        {
            "at": count_before(claim.start),
            "length": count_before(claim.end) - count_before(claim.start),
            "near": _convert_to_utf16_offset_and_length(document, claim.near),
            "line": claim.line,
            "literal": claim.literal,
        }
        for claim in match_sentences_to_document(reply, document, evidence)
    ]


def _locate_sentences_nearest_to_question(case: ScoringCase) -> list[tuple[int, int]]:
    """Find the sentences of the document that are nearest to the question; none where it is silent on that.

    What the document says on it, by its annotated answer, is looked for as well.
    """
    trusted = case.reliable_annotation
    if trusted and trusted.silent == "yes":
        return []
    matter = f"{case.asked}\n{trusted.answer}" if trusted and trusted.silent == "no" else case.asked
    near = load_sentence_index(case.document.text).find_sentences_nearest_to_question(matter)
    return _convert_to_utf16_offset_and_length(case.document, [(sentence.start, sentence.end) for sentence in near])


def _convert_to_utf16_offset_and_length(document: Document, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return these stretches of the document as place and length, as JavaScript counts them."""
    count_before = _make_utf16_offset_converter(document.text)
    return [(count_before(start), count_before(end) - count_before(start)) for start, end in spans]


@lru_cache(maxsize=32)
def _make_utf16_offset_converter(text: str) -> Callable[[int], int]:
    """Return a function that counts the characters before a place as JavaScript does, which counts some twice."""
    twice = [] if text.isascii() else [match.start() for match in _TWICE.finditer(text)]
    return lambda at: at + bisect_left(twice, at)


def make_metric_screen_data(rubric: Rubric, metric: str) -> dict[str, Any]:
    """Describe a metric: its id, its name, the question that it asks, and each of its values."""
    return {
        "metric": metric,
        "name": rubric.display_names[metric],
        "question": rubric.metrics[metric].question,
        # Lines about citations are the longest.
        "wide": "citations" in rubric.metrics[metric].evidence,
        "lines": [make_metric_value_screen_data(rubric, metric, value) for value in rubric.values],
    }


def make_metric_value_screen_data(rubric: Rubric, metric: str, value: float) -> dict[str, str]:
    """Describe a value of a metric: its key, its tone, the value as people write it, and the rubric's words."""
    return {
        "key": rubric.digit_for_value(value),
        "tone": {1.0: "good", -1.0: "bad"}.get(value, "unsure"),
        "value": format_signed_value(value),
        "words": rubric.meaning(metric, value),
    }


def compare_with_reference(own: Event, reference: Event, prepared: PreparedAnswer, rubric: Rubric) -> dict[str, Any]:
    """Compare a calibration score with the reference analyst's, metric by metric in the rubric's words."""
    assert own.values is not None
    assert reference.values is not None
    return {
        "question": prepared.screen_data["question"],
        "reply": prepared.reply,
        "by": reference.analyst,
        "note": reference.note,
        "rows": [
            {
                "metric": name,
                "mine": _format_value_with_meaning(rubric, metric, own.values[metric]),
                "theirs": _format_value_with_meaning(rubric, metric, reference.values[metric]),
                "same": own.values[metric] == reference.values[metric],
            }
            for metric, name in rubric.display_names.items()
        ],
    }


def _format_value_with_meaning(rubric: Rubric, metric: str, value: float) -> str:
    return f"{format_signed_value(value)} {rubric.meaning(metric, value)}"


def _find_headings(document: Document) -> list[TextSpan]:
    return [
        TextSpan(section.start, find_heading_end(document.text, section), "heading")
        for section in find_outline(document)
    ]


def _find_document_highlights(
    annotated_labels_spans_and_marks: list[tuple[str, tuple[int, int] | None, str]], evidence: Evidence | None
) -> list[TextSpan]:
    """Return the highlights of the document: what the annotated answer rests on, then what is cited and quoted.

    Without evidence, the former alone.
    """
    spans = [TextSpan(*span, "annotated", mark) for _, span, mark in annotated_labels_spans_and_marks if span]
    if evidence is None:
        return spans
    spans += [TextSpan(*ref.target, "cited", f"r{n}") for n, ref in enumerate(evidence.references) if ref.target]
    spans += [TextSpan(*quote.target, "quoted", f"q{n}") for n, quote in enumerate(evidence.quotations) if quote.target]
    return spans


def _locate_sections_linked_from_panels(case: ScoringCase, section_labels: Iterable[str]) -> dict[str, TextSpan]:
    """Find the places of the sections that panels lead to, which have no style of their own."""
    labels = tuple(section_labels)
    targets = enumerate(zip(labels, locate_labelled_sections(labels, case.document, case.part_set), strict=True))
    return {label: TextSpan(*span, "point", f"p{n}") for n, (label, (_, span)) in targets if span}


def _find_reply_highlights(evidence: Evidence) -> list[TextSpan]:
    spans = [
        TextSpan(ref.start, ref.end, f"reference {_citation_tone(ref)}", f"r{n}")
        for n, ref in enumerate(evidence.references)
    ]
    spans += [
        TextSpan(quote.start, quote.end, f"quotation {_quotation_tone(quote)}", f"q{n}")
        for n, quote in enumerate(evidence.quotations)
    ]
    return spans + [TextSpan(start, end, "silence") for start, end in evidence.silence.phrases]


def _citation_tone(citation: ResolvedCitation) -> str:
    if citation.outside:
        return "unsure" if citation.outside == "perhaps another text" else "plain"
    if citation.problem:
        return "bad" if citation.missing or citation.is_part_with_invented_heading else "unsure"
    return "good" if citation.expected else "plain"


def _describe_cited_section_or_empty(citation: ResolvedCitation, evidence: Evidence) -> str:
    """Describe the section that a reference resolves to, in words; empty where that says nothing."""
    if citation.outside:
        if citation.split:
            return ""
        is_other_text = citation.outside == "perhaps another text"
        return (
            "perhaps in another text, not this document" if is_other_text else f"{citation.outside}, not this document"
        )
    if citation.target is None:
        return citation.problem
    named = citation.resolved
    if citation.problem or not citation.split:
        return ", ".join(filter(None, (named, citation.problem)))
    if citation.expected:
        return f"{named}: overlaps an annotated passage"
    part = "only touches an" if citation.touches else "not an"
    meant = f", but {citation.instead} overlaps one" if citation.instead else ""
    return f"{named}: {part} annotated passage{meant}" if evidence.targets else ""


def _quotation_tone(quotation: Quotation) -> str:
    return {"exact": "good", "normalised": "good", "near": "unsure", "none": "bad"}[quotation.match]


def _evidence_lines_by_metric(
    evidence: Evidence, case: ScoringCase, reply: str, rubric: Rubric
) -> dict[str, list[EvidenceLine]]:
    lines_by_kind = {
        "question": _list_line_if_no_question_word(evidence, case, reply),
        "quotations": [*_list_lines_on_quotation_accuracy(evidence), *_list_lines_on_claimed_silence(evidence)],
        "length": [_make_evidence_line("plain", format_count(count_words(reply), "word"))],
        "citations": _list_lines_on_citations(evidence),
    }
    return {
        name: [line for kind in metric.evidence for line in lines_by_kind[kind]]
        for name, metric in rubric.metrics.items()
    }


def _list_line_if_no_question_word(evidence: Evidence, case: ScoringCase, reply: str) -> list[EvidenceLine]:
    """Say that an answer has no word of the question, unless it says that the document is silent."""
    if (evidence.silence.phrases and evidence.on_question) or shares_word_with_question(
        reply, case.question, case.document
    ) is not False:
        return []
    return [_make_evidence_line("plain", "the answer contains no content word of the question")]


def _list_lines_on_quotation_accuracy(evidence: Evidence) -> list[EvidenceLine]:
    """List the lines on quotations: how many are word for word, and each that is not."""
    quotations = evidence.quotations
    literal = [n for n, quote in enumerate(quotations) if quote.match in {"exact", "normalised"}]
    lines = []
    if literal:
        every = len(literal) == len(quotations)
        share = f"{len(literal)} of {len(quotations)} longer quotations are"
        count = "its one longer quotation is" if len(quotations) == 1 else share
        lines.append(
            _make_evidence_line(
                "good" if every else "plain", f"{count} in the document word for word", f"q{literal[0]}"
            )
        )
    for n, quote in enumerate(quotations):
        finding = {
            "near": f"close to the document's words ({quote.similarity:.0f} %)",
            "none": "these quoted words are not in the document",
        }.get(quote.match)
        elsewhere = evidence.summarised and quote.match == "none"
        if finding:
            text = f"{finding}{', perhaps in another text' if elsewhere else ''}: {_truncate_to_one_line(quote.text)}"
            lines.append(_make_evidence_line("unsure" if elsewhere else _quotation_tone(quote), text, f"q{n}"))
    return lines


def _list_lines_on_citations(evidence: Evidence) -> list[EvidenceLine]:
    """List the lines on references: each one's section, and how many annotated passages they cover."""
    inside = [ref for ref in evidence.references if not ref.outside]
    lines = []
    if evidence.targets > 1 and inside:
        text = f"cites {evidence.cited_passage_count} of {evidence.targets} annotated passages"
        lines.append(_make_evidence_line("good" if evidence.cited_passage_count == evidence.targets else "plain", text))
    if not evidence.language:
        lines.append(_make_evidence_line("plain", "genaipa has no rules for citations and silence in this language"))
    if evidence.silence.annotated:
        if inside:
            lines.append(_make_evidence_line("bad", "cites a section where the document is silent, which scores -1"))
        elif not evidence.references and not evidence.points:
            # An answer that asserts something is not right for citing nothing.
            right_line = _make_evidence_line("good", "cites no section, which is right because the document is silent")
            right = evidence.silence.alone and evidence.on_question
            lines.append(right_line if right else _make_evidence_line("plain", "cites no section"))
    elif not evidence.references and not evidence.points:
        lines.append(_make_evidence_line("plain", "names no section"))
    for n, ref in enumerate(evidence.references):
        resolved = _describe_cited_section_or_empty(ref, evidence)
        if resolved:
            # "Part 6" is Part 6: said twice it says nothing more.
            text = (
                resolved if resolved.startswith(f"{ref.text}:") else f"{_truncate_to_one_line(ref.text)} → {resolved}"
            )
            lines.append(_make_evidence_line(_citation_tone(ref), text, f"r{n}"))
    # A section that is named three times is one line, which jumps to the first of them.
    return list({line["text"]: line for line in reversed(lines)}.values())[::-1]


def _list_lines_on_claimed_silence(evidence: Evidence) -> list[EvidenceLine]:
    """List the lines on whether the answer says that the document is silent, where the annotated answer settles it."""
    silence = evidence.silence
    if silence.mute:
        return [_make_evidence_line("plain", "says nothing about the question: the answer is empty or a refusal")]
    if silence.annotated is None or not (silence.annotated or silence.claimed):
        return []
    if silence.annotated:
        tone, says = "bad", "does not say that the document is silent"
        if silence.phrases and evidence.on_question is False:
            tone, says = "unsure", "says that the document is silent on something other than the question"
        elif silence.alone:
            tone, says = "good" if evidence.on_question else "plain", "says that the document is silent"
        elif silence.claimed:
            tone, says = "plain", "begins by saying that the document is silent, and continues"
        elif silence.phrases:
            tone, says = "unsure", "answers, and says that the document is silent, but only on a detail"
        return [_make_evidence_line(tone, f"{says}; according to the annotated answer, it is silent")]
    # An answer that names where the document speaks of it says more than that.
    if not silence.alone or any(ref.target for ref in evidence.references):
        return []
    if evidence.on_question is False:
        return []
    return [
        _make_evidence_line("bad", "says that the document is silent; according to the annotated answer, it is not")
    ]


def _truncate_to_one_line(text: str, max_length: int = 90) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= max_length else f"{flat[: max_length - 1]}…"


def _make_evidence_line(tone: str, text: str, jump_mark: str = "") -> EvidenceLine:
    return {"tone": tone, "text": text, "mark": jump_mark}


def load_case_or_rerun_page(desk: Desk, answer_digest: str) -> ScoringCase:
    """Load the case of an answer of the pool; drop one that can't be read, and draw the page again without it."""
    try:
        return desk.pool.load_case(answer_digest)
    except GenaipaError as error:
        desk.drop_and_report_unreadable_answer(answer_digest, error)
        st.rerun()


def make_question_text_to_scroll_to(case: ScoringCase, answer_digest: str) -> TitledText:
    """Return the question, under the name of the document; it comes into view when it arrives."""
    title = case.document.about.title or case.document.company
    return TitledText(case.asked_with_earlier_exchange, "Asked", title, "asked", arrives=answer_digest)


def annotated_answer_with_warning_if_wrong(case: ScoringCase) -> list[TitledText]:
    """Return the annotated answer; empty without one."""
    if not case.annotated:
        return []
    doubt = [TitledText(case.doubt, tone="warning")] if case.doubt else []
    about = case.annotated.silence_and_sections_in_words
    return [*doubt, TitledText(case.annotated.answer, "Annotated answer", about, "good", fold=FOLD)]


def show_scores_recording_exposure(desk: Desk, user: User, answer: PooledAnswer, *, key_prefix: str) -> None:
    """Show everyone's values side by side, and the notes; record as an exposure that others' are seen."""
    events = list(desk.current.scores_by_analyst(answer.digest).values())
    events += filter(None, [desk.current.find_latest_adjudication(answer.digest)])
    if any(event.analyst != user.name for event in events):
        desk.queue.record_exposures(user.name, [answer.digest], sees_scores=True)
    if not events:
        st.caption("Nobody has scored this answer yet.")
        return
    heads = ["by", *number_column_heads(*desk.rubric.display_names.values(), "M_all"), "note"]
    rows = [_make_score_row_with_m_all(desk, event) for event in events]
    show_table(key_prefix, "Scores of this answer", heads, rows)
    for panel in load_panels_enabled_by_plan().values():
        panel.show_score_comparison(load_case_or_rerun_page(desk, answer.digest), events, key_prefix)
    if lines := list_send_back_discussion(desk, answer.digest):
        show_texts(f"{key_prefix} thread", [TitledText("\n".join(lines), "Sent back", tone="note")])


def list_send_back_discussion(desk: Desk, digest: str, pseudonyms: Mapping[str, str] | None = None) -> list[str]:
    """List the notes with which an answer was sent back, and the scores given after them; empty if it never was.

    Pseudonyms replace the names of the analysts, without times.
    """
    lines: list[str] = []
    for event in desk.store.load_answer_events(digest) if desk.current.latest_send_back(digest) else ():
        name = f"{format_utc_minute(event.time)} {event.analyst}"
        if pseudonyms:
            name = pseudonyms.get(event.analyst, event.analyst)
        if event.kind == SEND_BACK:
            lines.append(f"{name} sent the answer back: {event.note}")
        elif lines and event.kind == "score" and event.scorer == "human" and event.values is not None:
            values = " ".join(map(format_signed_value, event.values.values()))
            lines.append(f"{name} gave {values}{f': {event.note}' if event.note else ''}")
    return lines


def _make_score_row_with_m_all(desk: Desk, event: Event) -> ListRow:
    assert event.values is not None, "scores and adjudications have values"
    values = map(format_signed_value, event.values.values())
    # As everywhere that people read it, from 10 to 100.
    return ListRow((label_scorer_of_event(event), *values, f"{desk.rubric.m_all(event.values):.1f}", event.note))


def label_scorer_of_event(event: Event) -> str:
    """Name who gave a score or an adjudication."""
    return f"{event.analyst}{' (adjudicated)' if event.kind == 'adjudication' else ''}"
