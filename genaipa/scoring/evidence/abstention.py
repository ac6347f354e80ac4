"""Find where an answer claims that the document is silent: mentions nothing, specifies nothing.

That the company does not do a thing ("the policy says that it does not share …") is no claim of silence. That the
assistant knows nothing of the document ("I don't have access to …") is none either, and asserts nothing
(`classify_whether_silence_is_claimed`); a reply without words, or one that refuses, says nothing at all.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from genaipa.languages.catalog import ENGLISH, language_to_read_reply
from genaipa.languages.language import STOPS, compile_lowercase_pattern, expression, lowercase_keeping_positions
from genaipa.policies.search import HALF, count_words
from genaipa.scoring.evidence.refusals import is_empty_or_refusal, is_opening_an_answer
from genaipa.scoring.evidence.word_classes import classify_words_to_letters_and_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.languages.language import SilenceRules
    from genaipa.questions.annotations import AnnotatedAnswer

Span = tuple[int, int]

# A sentence, as far as it is searched, if it has a word that denies.
_SENTENCE = re.compile(rf"[^.!?\n{STOPS}]{{1,500}}")
# A whole sentence: a full stop inside a number or abbreviation does not end it.
_WHOLE = re.compile(rf"(?:[^.!?\n{STOPS}]|[.!?](?=\S))+")
_FEWEST = 3  # words of a sentence; less is a heading, a label or a courtesy


@dataclass(frozen=True)
class SilenceAssessment:
    """Whether and where an answer says that the document is silent, and whether it is by the annotation.

    `claimed`: the answer begins so; an answer that adds what the document leaves open claims no silence. `alone`: it
    says nothing else. `phrases` are all places where something is said to be left open. `annotated` is None without an
    annotated answer, if the document is partly silent by it, or if it leaves something open in its words. `mute`: the
    reply says nothing, neither that nor anything else.
    """

    claimed: bool
    phrases: tuple[Span, ...]
    annotated: bool | None
    alone: bool = False
    mute: bool = False


class _SilenceReader:
    """Reads answers by the rules of a language; every text is in small letters (`lower`)."""

    def __init__(self, rules: SilenceRules) -> None:
        self.rules = rules

    def search_rule(self, pattern: str, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        """Search for a rule's expression."""
        return compile_lowercase_pattern(pattern).search(text, start, len(text) if end is None else end)

    def match_rule_at_start(self, pattern: str, text: str, start: int = 0) -> re.Match[str] | None:
        """Match a rule's expression at the start."""
        return compile_lowercase_pattern(pattern).match(text, start)

    def find_silence_phrases(
        self, reply: str, quotations: Sequence[Span] = (), start: int = 0, end: int | None = None
    ) -> tuple[Span, ...]:
        """Find the places where something is said to be left open, outside of `quotations`."""
        plain, end = reply.replace("\u2019", "'"), len(reply) if end is None else end
        if not self._has_denial(plain, start, end):
            # Most answers; a report looks at a million of them.
            return ()
        return tuple(
            (start, end)
            for sentence in _SENTENCE.finditer(plain, start, end)
            if self._has_denial(plain, *sentence.span()) and not _is_question(plain, sentence)
            for start, end in self._find_silence_phrases_in_sentence(plain, sentence)
            if not any(begin <= start < until for begin, until in quotations)
        )

    def _has_denial(self, plain: str, start: int, end: int) -> bool:
        return expression(self.rules.denial).search(plain, start, end) is not None

    def find_asserting_sentences_or_all(self, reply: str, silence_phrases: Sequence[Span]) -> list[re.Match[str]]:
        """Return the sentences that say something: no heading, courtesy, repeated question or source."""
        whole = list(_WHOLE.finditer(reply))
        saying = [match for match in whole if self._is_statement_or_has_silence_phrase(reply, match, silence_phrases)]
        return [match for match in saying if not self._is_source_line(match)] or saying or whole

    def find_first_assertion_or_sentence(self, reply: str) -> re.Match[str] | None:
        """Return the first sentence that says something, without looking at those behind it."""
        first = next((match for match in _WHOLE.finditer(reply) if self.is_assertion(reply, match)), None)
        return first or next(iter(self.find_asserting_sentences_or_all(reply, ())), None)

    def begins_by_claiming_silence(self, reply: str) -> bool:
        """Tell whether a reply begins by claiming silence, without looking at what is behind its first assertion."""
        claim: Span | None = None
        first: re.Match[str] | None = None
        for sentence in _WHOLE.finditer(reply):
            phrases = self.find_silence_phrases(reply, (), *sentence.span())
            if not self._is_statement_or_has_silence_phrase(reply, sentence, phrases):
                continue
            claim = claim or next(self.select_silence_claims(reply, phrases), None)
            first = first or sentence
            if not self._is_source_line(sentence):
                first = sentence
                break
        return first is not None and claim is not None and self.claim_opens_first_assertion(reply, first, claim)

    def select_silence_claims(self, reply: str, phrases: Iterable[Span]) -> Iterator[Span]:
        """Yield the phrases that claim silence: a caveat about more presupposes that the document says something."""
        for start, end in phrases:
            if not (
                self.search_rule(self.rules.caveat, reply, start, end)
                or self.match_rule_at_start(self.rules.other, reply, end)
            ):
                yield start, end

    def claim_opens_first_assertion(self, reply: str, first_assertion: re.Match[str], claim: Span) -> bool:
        """Tell whether a claim is in the first assertion, and what is before it there answers nothing yet."""
        return first_assertion.start() <= claim[0] < first_assertion.end() and self.answers_nothing_before_claim(
            reply[first_assertion.start() : claim[0]]
        )

    def is_assertion(self, reply: str, sentence: re.Match[str]) -> bool:
        """Tell whether a sentence says something, whatever it leaves open."""
        return self._is_statement_or_has_silence_phrase(reply, sentence) and not self._is_source_line(sentence)

    def _is_source_line(self, sentence: re.Match[str]) -> bool:
        return self.match_rule_at_start(self.rules.source, sentence.group()) is not None

    def _is_statement_or_has_silence_phrase(
        self, reply: str, sentence: re.Match[str], silence_phrases: Sequence[Span] = ()
    ) -> bool:
        return any(sentence.start() <= start < sentence.end() for start, _ in silence_phrases) or (
            count_words(sentence.group(), HALF) >= _FEWEST
            and not _is_question(reply, sentence)
            and not self.match_rule_at_start(self.rules.preface, sentence.group())
        )

    def _find_silence_phrases_in_sentence(self, plain: str, sentence: re.Match[str]) -> Iterator[Span]:
        """Yield the phrases of a sentence that claim silence: those of a list and those of a construction."""
        letters, places = classify_words_to_letters_and_spans(sentence.group(), self.rules)
        if expression(self.rules.denied).search(letters):
            return
        silent = compile_lowercase_pattern(self.rules.silent)
        listed = [
            match
            for match in silent.finditer(plain, *sentence.span())
            if not self._is_condition_or_other_speaker(plain, match)
        ]
        phrases = [match.span() for match in listed]
        of_oneself = self.search_rule(self.rules.oneself, plain, *sentence.span()) and not {"t", "H", "h"} & {*letters}
        if not of_oneself and not self.search_rule(self.rules.unknown, plain, *sentence.span()):
            for match in expression(self.rules.claims).finditer(letters):
                first = match.start() + re.search("[^,:]|$", match.group()).start()  # type: ignore[union-attr]
                start, end = places[first][0] + sentence.start(), places[match.end() - 1][1] + sentence.start()
                if all(end <= begin or until <= start for begin, until in phrases) and not self.search_rule(
                    self.rules.condition, plain, max(sentence.start(), start - 60), start
                ):
                    phrases.append((start, end))
        yield from sorted(phrases)

    def _is_condition_or_other_speaker(self, plain: str, match: re.Match[str]) -> bool:
        """Whether a phrase is a condition or about somebody who does not say; not "what users get is not stated"."""
        context = plain, max(0, match.start() - 60), match.start()
        spoken = self.search_rule(self.rules.speaker, *context) and not self.match_rule_at_start(
            self.rules.passive, match.group()
        )
        return bool(spoken or self.search_rule(self.rules.condition, *context))

    def answers_nothing_before_claim(self, text_before: str) -> bool:
        """Whether the words before a phrase in the first sentence answer nothing yet."""
        if self.match_rule_at_start(rf"\W*{self.rules.answered}", text_before) and not self.match_rule_at_start(
            self.rules.no, text_before
        ):
            return False
        contrast = self.search_rule(self.rules.contrast, text_before)
        if contrast is None:
            return True
        first = text_before[: contrast.start()].strip()
        if self.search_rule(self.rules.concession, first) or (
            self.match_rule_at_start(self.rules.linking, contrast.group()) and not re.search("[,;:]", first)
        ):
            # "It speaks of cookies in general, but …"; "because, although it …, it leaves open"; "die gibt jedoch".
            return True
        if contrast.group() == ";" and count_words(first, HALF) < _FEWEST:
            return True
        # "While it does not mention X, it says Y" answers; "While it says Y, it does not mention X" ends in silence.
        return (
            bool(re.search("[,\uff0c]", text_before[contrast.end() :]))
            if not first
            else bool(self.search_rule(self.rules.sorry, first))
        )


def _is_question(text: str, sentence: re.Match[str]) -> bool:
    return text[sentence.end() : sentence.end() + 1] in {"?", "\uff1f"}


def assess_silence_claim(
    reply: str, annotated: AnnotatedAnswer | None, quotations: Sequence[Span] = (), language: str = ENGLISH.code
) -> SilenceAssessment:
    """Find the phrases by which a reply claims silence, outside its `quotations`.

    `language` is the document's code; where its rules are not known, nothing is found and `annotated` is None.
    """
    rules = _find_silence_rules(reply, language)
    if rules is None:
        return SilenceAssessment(False, (), None, mute=is_empty_or_refusal(reply, language))
    reader, expected, small = (
        _SilenceReader(rules),
        _should_claim_silence(annotated, language),
        lowercase_keeping_positions(reply),
    )
    phrases = reader.find_silence_phrases(small, quotations)
    if not phrases:
        return SilenceAssessment(False, (), expected, mute=is_empty_or_refusal(reply, language))
    sentences = reader.find_asserting_sentences_or_all(small, phrases)
    starts = [start for start, _ in phrases]
    denying = [bisect_left(starts, match.start()) < bisect_left(starts, match.end()) for match in sentences]
    claim = next(reader.select_silence_claims(small, phrases), None)
    if claim is None or not reader.claim_opens_first_assertion(small, sentences[0], claim):
        return SilenceAssessment(False, phrases, expected, mute=is_empty_or_refusal(reply, language))
    # "It does not say that they sell it" denies a deed rather than that it speaks of it.
    begin, end = claim
    opening, ending = small[sentences[0].start() : begin], small[end : sentences[0].end()]
    adds_statement = (
        reader.match_rule_at_start(rules.contrast, opening)
        or reader.search_rule(rules.contrast, ending)
        or reader.match_rule_at_start(rules.but_that, ending)
    )
    # A later sentence that turns says something of its own, whatever it denies beside that.
    turned = any(reader.match_rule_at_start(rules.contrast, match.group().lstrip()) for match in sentences[1:])
    return SilenceAssessment(True, phrases, expected, alone=all(denying) and not adds_statement and not turned)


def _find_silence_rules(reply: str, language: str) -> SilenceRules | None:
    language_rules = language_to_read_reply(reply, language)
    return language_rules.silence if language_rules else None


def has_silence_rules(language: str) -> bool:
    """Whether a document's language has rules by which silence is found."""
    return _find_silence_rules("", language) is not None


Stance = Literal["yes", "no", "abstains", "none", ""]


def classify_whether_silence_is_claimed(reply: str, language: str = ENGLISH.code, status: str = "answered") -> Stance:
    """Say whether a reply claims that the document is silent; "abstains" if it begins by not knowing the document.

    A reply that says more after a "but" or a "however" asserts that, and does not abstain. "none" if it says nothing:
    without words, refused by its `status`, or refusing in words. Empty for a document in a `language` (its code)
    without rules.
    """
    if status == "refused":
        return "none"
    rules = _find_silence_rules(reply, language)
    if rules is None:
        return "none" if is_empty_or_refusal(reply, language) else ""
    reader, small = _SilenceReader(rules), lowercase_keeping_positions(reply)
    opening = _WHOLE.search(small)
    if opening and _does_opening_assert(small[: opening.end() + 1], rules, language):
        return "no"
    plain = small.replace("\u2019", "'")
    first = reader.find_first_assertion_or_sentence(plain)
    if reader.begins_by_claiming_silence(small):
        # What a search did not bring up may be in the document all the same.
        return "abstains" if first and reader.search_rule(rules.searched, first.group()) else "yes"
    if is_empty_or_refusal(reply, language):
        return "none"
    unknown = first and reader.search_rule(rules.unknown, plain, *first.span())
    abstains = first and unknown and reader.answers_nothing_before_claim(plain[first.start() : unknown.start()])
    return "abstains" if unknown and abstains and not reader.search_rule(rules.contrast, plain, unknown.end()) else "no"


@lru_cache(maxsize=20_000)  # an assistant begins many of its replies alike
def _does_opening_assert(opening: str, rules: SilenceRules, language: str) -> bool:
    """Tell whether the first sentence of a reply, with its mark, tells of the document: then no other counts."""
    reader, sentence = _SilenceReader(rules), _WHOLE.search(opening)
    return (
        sentence is not None
        and "\u2019" not in opening  # some rules are searched with, others without them
        and not reader.find_silence_phrases(opening, (), *sentence.span())
        and reader.is_assertion(opening, sentence)
        and not reader.search_rule(rules.unknown, opening, *sentence.span())
        and is_opening_an_answer(opening, language)
    )


def _should_claim_silence(annotated: AnnotatedAnswer | None, language: str) -> bool | None:
    """Whether an answer should claim silence; None if the annotated answer leaves that open."""
    if annotated is None or annotated.silent == "partly":
        return None
    if annotated.silent == "yes":
        return True
    return None if mentions_document_silence(annotated.answer, language) else False


def mentions_document_silence(text: str, language: str = ENGLISH.code) -> bool:
    """Whether an annotated answer says, somewhere in its words, that the document does not say something."""
    rules = _find_silence_rules(text, language)
    if rules is None:
        return False
    reader, small = _SilenceReader(rules), lowercase_keeping_positions(text)
    return bool(reader.search_rule(rules.not_applicable, small) or reader.find_silence_phrases(small))
