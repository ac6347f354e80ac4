"""PolicyQA (Ahmad et al. 2020): a question about a segment of a privacy policy, and the span of it that answers it.

Its files are SQuAD v1. Its scores are SQuAD v1.1's exact match and F1, and the place of an answer in its segment: word
for word, but for case and signs, nearly, or nowhere; each rung's share is a measure.
"""

from __future__ import annotations

import json
import re
import string
import unicodedata
from collections import Counter, defaultdict
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from genaipa.errors import DataError
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa_suites.baseline import Baseline, adapt_item_function_to_baseline
from genaipa_suites.data import SuiteSource
from genaipa_suites.encoders.kinds import EncoderExample, EncoderHead, EncoderModel
from genaipa_suites.material import NOT_IN_THE_TEXT, Item, Material, ParsedReply
from genaipa_suites.measure import Measure
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from genaipa_suites.data import DataFiles
    from genaipa_suites.material import Outcome


SOURCE = SuiteSource(
    name="policyqa",
    title="PolicyQA",
    repository="wasiahmad/PolicyQA",
    commit="775538bc6d932e9d0dd16975d4373659cf8964fe",
    blobs={
        "data/dev.json": "5de6a619efb80f0a5c78278612b2431b53d716d3",
        "data/test.json": "3633b5cd518c8234e5ca853d65443ee81a94accf",
        "data/train.json": "aec731244ecf09b3fe42dc82197952e9d11a199e",
    },
    terms="its texts and spans are from OPP-115, for research, teaching and scholarship only (its "
    "repository says MIT).",
    remedy="data/train.json may be available only in a clone: git clone https://github.com/wasiahmad/PolicyQA",
)
EXAMPLES = {"data/train.json": 17_056, "data/dev.json": 3_809, "data/test.json": 4_152}
CATEGORIES = (
    "First Party Collection/Use",
    "Third Party Sharing/Collection",
    "User Choice/Control",
    "User Access, Edit and Deletion",
    "Data Retention",
    "Data Security",
    "Policy Change",
    "Do Not Track",
    "International and Specific Audiences",
)
"""OPP-115's categories of practices without "Other", which PolicyQA does not ask about."""
LENGTHS = {3: "1 to 3 words", 8: "4 to 8 words", 15: "9 to 15 words", 30: "16 to 30 words"}
LONGEST = "over 30 words"
"""PrivacyGLUE's encoders give no answer of more than 30 tokens."""


class _Reference(msgspec.Struct):
    text: str
    answer_start: int


class _Example(msgspec.Struct):
    id: str
    question: str
    type: str
    answers: list[_Reference]


class _Paragraph(msgspec.Struct):
    # The published `summary` holds labels of the segment, and is not even read.
    context: str
    qas: list[_Example]


class _Policy(msgspec.Struct):
    title: str
    paragraphs: list[_Paragraph]


class _SquadFile(msgspec.Struct):
    data: list[_Policy]


def load_examples(files: DataFiles, split: str) -> Material:
    """Load the examples of a split, in the file's order: shown `text` and `question`, gold the list of references.

    A DataError names the first example whose offsets, category or id are wrong, and a pulled file of another size.
    """
    path = f"data/{split}.json"
    content = files.text(path)
    found_path = files.find(path) or Path(path)
    try:
        file = msgspec.json.decode(content, type=_SquadFile)
    except DAMAGE as error:
        problem = (
            f"is not a file of PolicyQA ({clip_error_message(error)}); use the published file, or use SQuAD's format."
        )
        raise DataError(found_path, problem) from None
    items = tuple(_make_items(file.data, found_path))
    repeated = [item_id for item_id, times in Counter(item.id for item in items).items() if times > 1]
    if repeated:
        raise DataError(
            found_path, "this id appears twice; use the published file, or give each item its own id.", repeated[0]
        )
    files.check_published_counts(path, {"examples": len(items)}, {"examples": EXAMPLES.get(path, 0)})
    if not items:
        raise DataError(found_path, "has no examples; use the published file.")
    return Material(items)


def _make_items(policies: Sequence[_Policy], path_for_errors: Path) -> Iterator[Item]:
    for policy in policies:
        for paragraph in policy.paragraphs:
            for example in paragraph.qas:
                if problem := _example_problem_or_empty(example, paragraph.context):
                    raise DataError(path_for_errors, f"{problem}; use the published file, or correct it.", example.id)
                category = example.type.partition("|||")[0]
                references = [reference.text for reference in example.answers]
                # Groups are by the words of the shortest reference.
                words = min(len(reference.split()) for reference in references)
                length = next((name for longest, name in LENGTHS.items() if words <= longest), LONGEST)
                yield Item(
                    example.id,
                    {"text": paragraph.context, "question": example.question},
                    references,
                    cluster=policy.title,
                    stratum=category,
                    groups={"category": (category,), "answer length": (length,)},
                )


def _example_problem_or_empty(example: _Example, context: str) -> str:
    """Describe the first mistake in an example; empty for none."""
    if (category := example.type.partition("|||")[0]) not in CATEGORIES:
        return f"its type begins with '{category}', which is not a category of PolicyQA"
    if not example.answers:
        return "it has no answer"
    for reference in example.answers:
        start = reference.answer_start
        if start < 0 or not reference.text.strip() or not context.startswith(reference.text, start):
            return f"the text does not have '{reference.text[:40]}' at position {start}"
    return ""


_PUNCTUATION = str.maketrans("", "", string.punctuation)
MISPLACEMENTS = ("too long", "too short", "overlapping", "elsewhere")
"""Errors of an answer that is in its segment, as it lies to the nearest reference."""
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def squad_words(text: str) -> list[str]:
    """Split a text into words as SQuAD v1.1 does: lower case, then no ASCII punctuation, no articles, no blanks.

    >>> squad_words("The opt-out, or “an option”")
    ['optout', 'or', '“', 'option”']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


@lru_cache(maxsize=1 << 15)
def squad_exact_match_and_f1(answer: str, reference: str) -> tuple[float, float]:
    """Return (exact match, F1) of an answer and one reference, each 0 to 1, as the official script has them.

    Of two texts without a word, as it compares words, the match is 1 and F1 is 0.
    """
    predicted, gold = squad_words(answer), squad_words(reference)
    common = sum((Counter(predicted) & Counter(gold)).values())
    return float(predicted == gold), 2 * common / (len(predicted) + len(gold)) if common else 0.0


def best_exact_match_and_f1(answer: str, references: Sequence[str]) -> tuple[float, float]:
    """Return (exact match, F1) of an answer, each its maximum over the references."""
    scores = [squad_exact_match_and_f1(answer, reference) for reference in references]
    return max(match for match, _ in scores), max(f1 for _, f1 in scores)


def mean_match_and_f1_between_references(references: Sequence[str]) -> tuple[float, float]:
    """Return the mean (exact match, F1) of each of two or more references against the others."""
    scores = [
        best_exact_match_and_f1(reference, [*references[:index], *references[index + 1 :]])
        for index, reference in enumerate(references)
    ]
    return sum(match for match, _ in scores) / len(scores), sum(f1 for _, f1 in scores) / len(scores)


def classify_misplacement_or_empty(answer: str, references: Sequence[str]) -> str:
    """Return the error of an answer (one of MISPLACEMENTS) by the reference with the highest F1; empty for a match."""
    match, f1 = best_exact_match_and_f1(answer, references)
    if match or not f1:
        return "" if match else "elsewhere"
    nearest = max(references, key=lambda reference: squad_exact_match_and_f1(answer, reference)[1])
    predicted, gold = (f" {' '.join(squad_words(text))} " for text in (answer, nearest))
    return "too long" if gold in predicted else "too short" if predicted in gold else "overlapping"


VERBATIM, FOLDED, FUZZY, ABSENT, EMPTY = "verbatim", "folded", "fuzzy", "absent", "empty"
RUNGS = (VERBATIM, FOLDED, FUZZY, ABSENT, EMPTY)
ONE_IN = 5
"""A nearly verbatim answer may differ from the segment in one of this many words."""
_QUOTES, _DOUBLE = "\u2018\u2019\u201a\u201b\u2032`\u00b4", "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_DASHES, _UNSEEN = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_SIGNS = str.maketrans(
    dict.fromkeys(_QUOTES, "'") | dict.fromkeys(_DOUBLE, '"') | dict.fromkeys(_DASHES, "-") | dict.fromkeys(_UNSEEN, "")
)


class FoundSpan(NamedTuple):
    """A stretch of a segment, and how an answer was found to be it (one of RUNGS). No text for ABSENT and EMPTY."""

    rung: str
    text: str


def find_answer_in_segment(answer: str, segment: str) -> FoundSpan:
    """Find the stretch of the segment that an answer repeats.

    VERBATIM: as it stands, but for blanks around it. FOLDED: but for case, blanks, and the typography of quotation
    marks, dashes and letters. FUZZY: but for punctuation and articles, as SQuAD's metric compares, and for one word in
    five that is put in, left out or another. EMPTY is an answer without a word.
    """
    answer = answer.strip()
    wanted = _normalize_text_with_positions(answer)[0].strip()
    # Of signs that nobody sees nothing is left, which would be found anywhere.
    if not squad_words(answer) or not wanted:
        return FoundSpan(EMPTY, "")
    if answer in segment:
        return FoundSpan(VERBATIM, answer)
    letters, places = _normalize_text_with_positions(segment)
    begin = letters.find(wanted)
    if begin >= 0:
        return FoundSpan(FOLDED, segment[places[begin] : places[begin + len(wanted) - 1] + 1])
    # A curly quotation mark is a word to SQuAD's metric, and none once it is folded.
    nearest = (
        _find_span_with_fewest_word_edits(squad_words(wanted), _comparable_words_with_spans(segment))
        if squad_words(wanted)
        else None
    )
    return FoundSpan(FUZZY, segment[nearest[0] : nearest[1]]) if nearest else FoundSpan(ABSENT, "")


@lru_cache(maxsize=4096)
def _normalize_character(character: str) -> str:
    return unicodedata.normalize("NFKC", character.translate(_SIGNS)).casefold()


@lru_cache(maxsize=256)
def _normalize_text_with_positions(text: str) -> tuple[str, list[int]]:
    """Fold a text, and return for each of its characters the place that it comes from."""
    letters: list[str] = []
    positions: list[int] = []
    for index, character in enumerate(text):
        for letter in _normalize_character(character):
            blank = letter.isspace()
            if blank and letters and letters[-1] == " ":
                continue
            letters.append(" " if blank else letter)
            positions.append(index)
    return "".join(letters), positions


@lru_cache(maxsize=256)
def _comparable_words_with_spans(segment: str) -> list[tuple[str, int, int]]:
    """Return the words of a segment as they are compared, each with its begin and end."""
    folded = (
        (squad_words(_normalize_text_with_positions(word[0])[0]), *word.span()) for word in re.finditer(r"\S+", segment)
    )
    return [("".join(words), begin, end) for words, begin, end in folded if words]


def _find_span_with_fewest_word_edits(
    answer_words: list[str], segment_words: list[tuple[str, int, int]]
) -> tuple[int, int] | None:
    """Return the stretch with the fewest edits by whole words (Sellers 1980); None if these are too many."""
    allowed = len(answer_words) // ONE_IN
    if (
        sum((Counter(answer_words) & Counter(word for word, _, _ in segment_words)).values())
        < len(answer_words) - allowed
    ):
        return None
    # A cell is edits * unit**2 - matches * unit - begin: its minimum has the fewest edits, then the most words that
    # match, then the latest begin. Cells outside low to high have too many edits already.
    unit = len(segment_words) + len(answer_words) + 1
    edit, match, limit = unit * unit, -unit, allowed * unit * unit
    row, low, high = [-begin for begin in range(len(segment_words) + 1)], 0, len(segment_words)
    for word in answer_words:
        above, row = row, [limit + edit] * len(row)
        for index in range(low, len(row)):
            left_cell = row[index - 1] if index > low else limit + edit
            if index > high + 1 and left_cell > limit:
                break
            match_cost = match if index and word == segment_words[index - 1][0] else edit
            row[index] = min(
                above[index] + edit, left_cell + edit, above[index - 1] + match_cost if index else limit + edit
            )
        alive = [index for index, cell in enumerate(row) if cell <= limit]
        if not alive:
            return None
        low, high = alive[0], alive[-1]
    best_cell = min(row)
    begin = -best_cell % unit
    return segment_words[begin][1], segment_words[row.index(best_cell) - 1][2]


_EM, _F1 = 0, 1


def _answer_score_and_one(outcome: Outcome, score_index: int) -> tuple[float, float]:
    """Return (score, 1) of an answer as it was said, in the segment or not; (0, 1) without one."""
    prediction = outcome.parsed.prediction
    return best_exact_match_and_f1(prediction["answer"], outcome.item.gold)[
        score_index
    ] if prediction is not None else 0.0, 1.0


def _located_span_score_and_one(outcome: Outcome, score_index: int, match_levels: Sequence[str]) -> tuple[float, float]:
    """Return (score, 1) of the stretch that an answer was located at on one of `match_levels`, else (0, 1)."""
    prediction = outcome.parsed.prediction
    right = prediction is not None and prediction["found"] in match_levels
    return best_exact_match_and_f1(prediction["span"], outcome.item.gold)[score_index] if right else 0.0, 1.0


def _count_answers_of_match_level(outcome: Outcome, match_level: str) -> tuple[float, float]:
    prediction = outcome.parsed.prediction
    return float(prediction is not None and prediction["found"] == match_level), 1.0


def _make_f1_and_exact_measures(
    name_ending: str, heading: str, counts: Callable[..., Sequence[float]], definition: str
) -> tuple[Measure, Measure]:
    return (
        Measure(f"f1_{name_ending}", f"F1 {heading}", f"SQuAD v1.1 F1 {definition}", partial(counts, score_index=_F1)),
        Measure(
            f"em_{name_ending}",
            f"EM {heading}",
            f"SQuAD v1.1 exact match {definition}",
            partial(counts, score_index=_EM),
        ),
    )


_OFFICIAL = "of the answer as given: maximum over the references, mean over the examples."
_VERBATIM = "of answers that are in the segment word for word; any other answer scores 0."
_FOLDED = "as for verbatim, but an answer may also differ from a passage in case, white space and typography."
_FUZZY = "as for folded, but an answer may also differ in punctuation, articles and one word in five."
MEASURES = (
    Measure("f1_squad", "F1 (SQuAD)", f"SQuAD v1.1 F1 {_OFFICIAL}", partial(_answer_score_and_one, score_index=_F1)),
    Measure("em", "EM (SQuAD)", f"SQuAD v1.1 exact match {_OFFICIAL}", partial(_answer_score_and_one, score_index=_EM)),
    *_make_f1_and_exact_measures(
        "verbatim", "verbatim", partial(_located_span_score_and_one, match_levels=(VERBATIM,)), _VERBATIM
    ),
    *_make_f1_and_exact_measures(
        "folded", "folded", partial(_located_span_score_and_one, match_levels=(VERBATIM, FOLDED)), _FOLDED
    ),
    *_make_f1_and_exact_measures(
        "fuzzy", "fuzzy", partial(_located_span_score_and_one, match_levels=(VERBATIM, FOLDED, FUZZY)), _FUZZY
    ),
    *(
        Measure(f"share_{rung}", heading, definition, partial(_count_answers_of_match_level, match_level=rung))
        for rung, heading, definition in (
            (VERBATIM, "verbatim", "Share of replies whose answer is in the segment word for word."),
            (
                FOLDED,
                "folded",
                "Share of replies whose answer is in the segment except for case, white space and typography.",
            ),
            (
                FUZZY,
                "fuzzy",
                "Share of replies whose answer is nearly in the segment, as in the fuzzy measures.",
            ),
            (ABSENT, "not in the text", "Share of replies whose answer is not in the segment."),
            (EMPTY, "empty", "Share of replies whose answer contains no word."),
        )
    ),
)

_BETWEEN_SENTENCES = re.compile(r"(?<=[.!?;:])\s+|\n+")


def split_sentences(segment: str) -> list[str]:
    """Split a segment into sentences: after one of `.!?;:` and a blank, or at newlines.

    >>> split_sentences("We collect: your name. See below")
    ['We collect:', 'your name.', 'See below']
    """
    return [sentence for sentence in _BETWEEN_SENTENCES.split(segment) if sentence.strip()]


def format_answer_reply(answer: str) -> str:
    """Return a reply with this answer."""
    return json.dumps({"answer": answer}, ensure_ascii=False)


def _reply_sentence_with_most_question_words(item: Item) -> str:
    question_words = Counter(squad_words(item.shown["question"]))

    def count_question_words(sentence: str) -> int:
        return sum((Counter(squad_words(sentence)) & question_words).values())

    return format_answer_reply(max(split_sentences(item.shown["text"]), key=count_question_words, default=""))


def _make_ceiling_replier(suite: Suite) -> Callable[[Item], str]:
    """Answer items that show the same by the one reference of all of theirs with the highest F1 on average."""
    items_by_text: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in suite.material.items:
        items_by_text[item.shown["text"], item.shown["question"]].append(item)
    answers: dict[str, str] = {}
    for items in items_by_text.values():
        references = list(dict.fromkeys(reference for item in items for reference in item.gold))
        answer = max(
            references, key=lambda candidate: sum(best_exact_match_and_f1(candidate, item.gold)[1] for item in items)
        )
        answers |= dict.fromkeys((item.id for item in items), answer)
    return lambda item: format_answer_reply(answers[item.id])


BASELINES = (
    Baseline("empty", "floor", "no answer", adapt_item_function_to_baseline(lambda _item: format_answer_reply(""))),
    Baseline(
        "whole-segment",
        "floor",
        "the whole segment",
        adapt_item_function_to_baseline(lambda item: format_answer_reply(item.shown["text"])),
    ),
    Baseline(
        "first-sentence",
        "floor",
        "the segment's first sentence",
        adapt_item_function_to_baseline(
            lambda item: format_answer_reply(next(iter(split_sentences(item.shown["text"])), ""))
        ),
    ),
    Baseline(
        "longest-sentence",
        "floor",
        "the segment's longest sentence, by characters",
        adapt_item_function_to_baseline(
            lambda item: format_answer_reply(max(split_sentences(item.shown["text"]), key=len, default=""))
        ),
    ),
    Baseline(
        "best-overlap",
        "rule",
        "the first of the sentences that share the most words with the question",
        adapt_item_function_to_baseline(_reply_sentence_with_most_question_words),
    ),
    Baseline(
        "ceiling",
        "ceiling",
        "a right answer, the same for all items with the same segment and question",
        _make_ceiling_replier,
    ),
)


EMPTY_ANSWER, NOT_VERBATIM = "empty answer", "not word for word"
_BY_RUNG = {EMPTY: EMPTY_ANSWER, ABSENT: NOT_IN_THE_TEXT, FOLDED: NOT_VERBATIM, FUZZY: NOT_VERBATIM}


def _make_encoder_examples(item: Item, _material: Material) -> list[EncoderExample]:
    # The first reference, at its first place in the text.
    text, answer = item.shown["text"], item.gold[0]
    start = text.find(answer)
    return [EncoderExample(item.shown["question"], text, (start, start + len(answer)))]


class PolicyQA(Suite):
    """Answer each question with one span of its segment."""

    title: ClassVar[str] = "PolicyQA"
    version: ClassVar[int] = 2  # since 2 the head column is of answers as they were said
    about: ClassVar[str] = (
        "Answer a question about a segment of a privacy policy with a span of the segment. SQuAD's EM and F1 are scored"
    )
    citation: ClassVar[str] = (
        "Ahmad, Chi, Tian, Chang: PolicyQA: A Reading Comprehension Dataset for Privacy Policies. "
        "Findings of EMNLP 2020."
    )
    data = (SOURCE,)
    splits = ("test", "dev", "train")
    measures = MEASURES
    baselines = BASELINES
    head = EncoderHead(
        (EncoderModel("span", "f1_squad", _make_encoder_examples),),
        lambda _item, predictions: format_answer_reply(predictions[""][0]),
    )
    error_kinds = (EMPTY_ANSWER, NOT_IN_THE_TEXT, NOT_VERBATIM, *MISPLACEMENTS)
    about_errors = (
        "Too long: the answer contains the nearest reference; too short: the nearest reference contains the "
        "answer; overlapping: the two share words; elsewhere: the answer shares no words with any reference."
    )
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }

    def load(self, split: str) -> Material:
        """Load the examples of a split; DataError and UsageError as `load_examples`."""
        return load_examples(self.files, split)

    @property
    def training_split(self) -> str:
        """The train split; for test the dev split if the train split is not here."""
        without = self.plan.split == "test" and self.files.find("data/train.json") is None
        return "dev" if without else super().training_split

    def parse(self, item: Item, answer: Any) -> ParsedReply:
        """Return the answer as it was said, the span of the segment that it is, and how that was found.

        One that is not in the segment is no fault: the official figures score it as it was said.
        """
        span = find_answer_in_segment(answer["answer"], item.shown["text"])
        return ParsedReply({"answer": answer["answer"], "span": span.text, "found": span.rung})

    def gold_reply(self, item: Item) -> str:
        """Return the first reference."""
        return format_answer_reply(item.gold[0])

    def human_scores_note(self, outcomes: Sequence[Outcome]) -> str:
        """Say how many of these examples have several references."""
        several = sum(len(outcome.item.gold) > 1 for outcome in outcomes)
        return (
            f"each reference compared with the others of its example, over examples with several references "
            f"({several:,} "
            f"of {len(outcomes):,} examples)"
        )

    def human_scores_by_measure(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """Return F1 and EM of one reference against the others, over items with two references or more."""
        several = {outcome.item.id: outcome.item.gold for outcome in outcomes if len(outcome.item.gold) > 1}
        agreements = [mean_match_and_f1_between_references(references) for references in several.values()]
        if not agreements:
            return {}
        return {
            "f1_squad": sum(f1 for _, f1 in agreements) / len(agreements),
            "em": sum(match for match, _ in agreements) / len(agreements),
        }

    def count_errors_by_kind(self, outcome: Outcome) -> Mapping[str, int]:
        """Count the error of an answer that SQuAD's metric does not match: its rung, or how it lies to the nearest."""
        prediction = outcome.parsed.prediction
        if (
            outcome.parsed.fault
            or prediction is None
            or best_exact_match_and_f1(prediction["answer"], outcome.item.gold)[0]
        ):
            return {}
        error = _BY_RUNG.get(prediction["found"]) or classify_misplacement_or_empty(
            prediction["span"], outcome.item.gold
        )
        return {error: 1} if error else {}

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return a fault, or the type of error; empty for a reference."""
        return outcome.parsed.fault or next(iter(self.count_errors_by_kind(outcome)), "")
