"""PrivacyQA (Ravichander et al. 2019): which of a policy's numbered sentences are evidence for a question, if any.

An item is a question about a policy, whose sentences are the long text that its items share. `subset` is the part of
the test split that LegalBench-RAG has: questions with the sentences that most annotators marked. One sentence a line of
a policy's text; the evidence is given as spans of characters, which are whole lines. It has neither single annotators
nor questions without evidence, so none of the paper's figures can be had from it.

Scored is a set of sentences against the sets of several annotators (section 4.2). Precision, recall and F1 of two sets
are all 1 where both are empty, all 0 where one is or they share nothing. A reply without a prediction scores 0
everywhere, where nothing would be right, too: it is no empty list.
"""

from __future__ import annotations

import json
import math
import re
from functools import cached_property, partial
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from genaipa.errors import DataError, UsageError
from genaipa.files.text import DAMAGE, clip_error_message
from genaipa.systems.base import Message
from genaipa_suites.baseline import Baseline, adapt_item_function_to_baseline
from genaipa_suites.encoders.kinds import EncoderExample, EncoderHead, EncoderModel
from genaipa_suites.material import OUT_OF_RANGE, UNPARSABLE, Item, Material, ParsedReply
from genaipa_suites.measure import Measure, f1_of_means, macro_f1
from genaipa_suites.privacyqa.scores import (
    NOTHING,
    Scores,
    best_score_per_metric,
    mean_scores_between_annotators,
    mean_scores_leaving_one_out,
    reference_agreeing_best_with_all,
    scores_with_best_f1,
)
from genaipa_suites.privacyqa.table import (
    CORPUS,
    FALSE_ANSWER,
    FALSE_SILENCE,
    NO_CATEGORY,
    OFFICIAL,
    PART,
    RULES,
    SENTENCES,
    SUBSET_FILE,
    SUBSET_QUESTIONS,
    PolicyQuestion,
    QuestionsAndPolicies,
    choose_unanswerable_rule_name,
    count_annotators_without_sentence,
    describe_unanswerable_counts,
    normalize_question,
    policy_file_name,
    read_categories_by_policy_and_question,
    read_privacyqa_table,
    unanswerable_measures,
)
from genaipa_suites.probes import CONTINUATION
from genaipa_suites.suite import Suite

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from genaipa.runs.records import RunSpec
    from genaipa.workspace import Workspace
    from genaipa_suites.data import DataFiles
    from genaipa_suites.encoders.kinds import Predicted
    from genaipa_suites.material import Outcome

    Scorer = Callable[[Collection[int], Sequence[Collection[int]]], "Scores"]

_ASKED = re.compile(r"Consider \".*?\"'s privacy policy; (?P<question>.+)", re.DOTALL)
CONSENSUS = "consensus"
"""Name of the one reference: the sentences that at least half of at least four annotators marked."""


class _Snippet(msgspec.Struct):
    file_path: str
    span: tuple[int, int]
    answer: str


class _Test(msgspec.Struct):
    query: str
    snippets: list[_Snippet]


class _SubsetFile(msgspec.Struct):
    tests: list[_Test]


def read_legalbench_subset(files: DataFiles) -> QuestionsAndPolicies:
    """Read the questions and policies that are here; a DataError where evidence is not what its span says."""
    content = files.read_and_digest(SUBSET_FILE)
    path = files.find(SUBSET_FILE)
    assert path is not None, "it was just read"
    try:
        tests = msgspec.json.decode(content, type=_SubsetFile).tests
    except DAMAGE as error:
        raise DataError(path, f"{clip_error_message(error)}; use the format of LegalBench-RAG's benchmarks.") from None
    questions: list[PolicyQuestion] = []
    texts: dict[str, _PolicyText] = {}
    for number, test in enumerate(tests, 1):
        question = _read_subset_question(path, f"test {number}", test, files, texts)
        # A number, so that a question that is there twice is two items.
        question.id = f"{question.policy}_{sum(earlier.policy == question.policy for earlier in questions)}"
        questions.append(question)
    files.check_published_counts(SUBSET_FILE, {"questions": len(questions)}, {"questions": SUBSET_QUESTIONS})
    policies = {policy: [sentence.strip() for sentence in text.sentences] for policy, text in texts.items()}
    return QuestionsAndPolicies(questions, policies)


class _PolicyText:
    """A policy's text, and where each of its lines begins and ends, with or without its line break."""

    def __init__(self, text: str) -> None:
        # Spans count a line break as one character, whatever a checkout makes of it.
        self.text = text = text.replace("\r\n", "\n")
        self.sentences = text.removesuffix("\n").split("\n")
        ends = list(accumulate(len(sentence) + 1 for sentence in self.sentences))
        self.begins = {begin: number for number, begin in enumerate([0, *ends[:-1]], 1)}
        self.ends = {end - 1: number for number, end in enumerate(ends, 1)}
        self.ends |= {end: number for number, end in enumerate(ends, 1)}


def _read_subset_question(
    path_for_errors: Path, entry: str, test: _Test, files: DataFiles, policy_text_cache: dict[str, _PolicyText]
) -> PolicyQuestion:
    match = _ASKED.fullmatch(test.query)
    policies = {PurePosixPath(snippet.file_path).stem for snippet in test.snippets}
    if match is None or len(policies) != 1:
        problem = "must ask 'Consider \"NAME\"'s privacy policy; …', with evidence from a single file."
        raise DataError(path_for_errors, problem, entry)
    (policy,) = policies
    if policy not in policy_text_cache:
        policy_text_cache[policy] = _read_policy_text(files, policy)
    text, evidence = policy_text_cache[policy], set[int]()
    for snippet in test.snippets:
        begin, end = snippet.span
        if text.text[begin:end] != snippet.answer or begin not in text.begins or end not in text.ends:
            name = policy_file_name(policy)
            problem = (
                f"its evidence ({begin} to {end}) does not consist of whole lines of {name}; use both "
                f"files as published."
            )
            raise DataError(path_for_errors, problem, entry)
        evidence.update(range(text.begins[begin], text.ends[end] + 1))
    return PolicyQuestion("", policy, match["question"].strip(), {CONSENSUS: sorted(evidence)}, sorted(evidence))


def _read_policy_text(files: DataFiles, policy: str) -> _PolicyText:
    """Read the text of a policy, wherever it is: beside the JSON as in the repository, or in a folder `corpus`."""
    names = dict.fromkeys((policy_file_name(policy), f"{policy}.txt"))
    candidates = [folder + name for folder in (CORPUS, "corpus/") for name in names]
    path = next((candidate for candidate in candidates if files.find(candidate)), candidates[0])
    text = files.text(path)
    lines = len(text.removesuffix("\n").split("\n"))
    files.check_published_counts(path, {"lines": lines}, {"lines": SENTENCES.get(policy, lines)})
    if not text.strip():
        raise UsageError(f"'{path}' of {policy} is empty.")
    return _PolicyText(text)


SUBSET = "subset"


def load_questions(files: DataFiles, split: str) -> Material:
    """Load all questions of a split, about their policies.

    Shown are the question as `text` and the policy's name as `company`. Gold are the annotators'
    sets of sentences by their numbers (`references`), the ones the file says are relevant, the number of sentences,
    whether the question is unanswerable, and how many of the annotators marked nothing.
    """
    table = read_legalbench_subset(files) if split == SUBSET else read_privacyqa_table(files, split)
    categories = read_categories_by_policy_and_question(files, split)
    rule = RULES[choose_unanswerable_rule_name(table.questions, split)]

    def make_question_item(question: PolicyQuestion) -> Item:
        policy = question.policy
        marked_nothing, annotators = count_annotators_without_sentence(question), len(question.references)
        gold: dict[str, Any] = {
            "unanswerable": rule(marked_nothing, annotators),
            "empty": marked_nothing,
            "annotators": annotators,
            "references": question.references,
            "relevant": question.relevant,
            "sentences": len(table.policies[policy]),
        }
        keys = (policy, question.id), (policy, normalize_question(question.text))
        groups = next((categories[key] for key in keys if key in categories), ())
        return Item(
            question.id,
            {"text": question.text, "company": policy},
            gold,
            document=policy,
            cluster=policy,
            stratum=policy,
            groups={"category": groups or (NO_CATEGORY,)} if categories else {},
        )

    return Material(tuple(map(make_question_item, table.questions)), dict(table.policies))


def annotated_sentence_sets(item: Item) -> list[list[int]]:
    """Return the annotators' sets of sentences."""
    return list(item.gold["references"].values())


def _score_predicted_sentences(outcome: Outcome, scorer: Scorer, min_references: int) -> Scores | None:
    references_of_item = annotated_sentence_sets(outcome.item)
    if len(references_of_item) < min_references:
        return None
    prediction = outcome.parsed.prediction
    return NOTHING if prediction is None or outcome.parsed.fault else scorer(prediction, references_of_item)


def _metric_score_and_count(outcome: Outcome, scorer: Scorer, min_references: int, metric: str) -> tuple[float, float]:
    scores = _score_predicted_sentences(outcome, scorer, min_references)
    return (0.0, 0.0) if scores is None else (getattr(scores, metric), 1.0)


def _precision_recall_and_count(outcome: Outcome, scorer: Scorer, min_references: int) -> tuple[float, float, float]:
    scores = _score_predicted_sentences(outcome, scorer, min_references)
    return (0.0, 0.0, 0.0) if scores is None else (scores.precision, scores.recall, 1.0)


def _make_f1_precision_recall_measures(
    name: str, heading: str, definition: str, scorer: Scorer, min_references: int = 1
) -> tuple[Measure, ...]:
    """Make F1 of means, mean F1, P and R by one scorer, over items with at least `min_references` references."""
    metric_counts = partial(_metric_score_and_count, scorer=scorer, min_references=min_references)
    return (
        Measure(
            f"{name}_f1_of_means",
            f"F1 of means, {heading}",
            f"Harmonic mean of mean precision and mean recall. {definition}",
            partial(_precision_recall_and_count, scorer=scorer, min_references=min_references),
            lambda counts: f1_of_means(counts) if counts[2] else math.nan,
        ),
        Measure(
            f"{name}_f1_mean",
            f"Mean F1, {heading}",
            f"Mean of the questions' F1. {definition}",
            partial(metric_counts, metric="f1"),
        ),
        Measure(
            f"{name}_p", f"P, {heading}", f"Mean precision. {definition}", partial(metric_counts, metric="precision")
        ),
        Measure(f"{name}_r", f"R, {heading}", f"Mean recall. {definition}", partial(metric_counts, metric="recall")),
    )


def _count_right_predicted_gold_by_relevance(outcome: Outcome) -> tuple[float, ...]:
    """Count (right, predicted, gold) of Relevant and of Irrelevant sentences; without a prediction gold alone."""
    gold, number = set(outcome.item.gold["relevant"]), outcome.item.gold["sentences"]
    if outcome.parsed.prediction is None or outcome.parsed.fault:
        return 0.0, 0.0, len(gold), 0.0, 0.0, number - len(gold)
    predicted = set(outcome.parsed.prediction)
    neither = number - len(gold | predicted)
    return len(gold & predicted), len(predicted), len(gold), neither, number - len(predicted), number - len(gold)


def _count_right_and_all_sentences(outcome: Outcome) -> tuple[float, float]:
    counts = _count_right_predicted_gold_by_relevance(outcome)
    return counts[0] + counts[3], outcome.item.gold["sentences"]


_LEFT_OUT = (
    "As in the paper: each annotator is left out in turn, the best precision, recall and F1 over the other "
    "annotators are taken, and these are averaged. Questions with one annotator are left out."
)
_PAPER = _make_f1_precision_recall_measures("leave_one_out", "n - 1", _LEFT_OUT, mean_scores_leaving_one_out, 2)
_BEST = _make_f1_precision_recall_measures(
    "best_of_n",
    "best of n",
    "The best precision, the best recall and the best F1 over all annotators, each chosen separately.",
    best_score_per_metric,
)
# Its F1 is the best one over all annotators as well, so that its mean is a measure already.
_PLUE = tuple(
    measure
    for measure in _make_f1_precision_recall_measures(
        "best_of_n_plue", "PLUE", "Against the annotator with the best F1, as in PLUE.", scores_with_best_f1
    )
    if not measure.name.endswith("_f1_mean")
)
_ANY = "Each sentence forms a pair with the question, which is relevant if any annotator marked the sentence."
_PAIRS = (
    Measure(
        "any_relevant_macro_f1",
        "Macro F1, pairs",
        f"Mean F1 of the two labels. {_ANY}",
        _count_right_predicted_gold_by_relevance,
        macro_f1,
    ),
    Measure(
        "any_relevant_micro_f1",
        "Micro F1, pairs",
        f"Share of right labels, which is the micro F1. {_ANY}",
        _count_right_and_all_sentences,
    ),
)
_CONSENSUS = "Against a single reference: the sentences that at least half of the annotators marked."
MEASURES = (*_PAPER, *_BEST, *_PLUE, *_PAIRS, *unanswerable_measures())
TRAIN_MEASURES = (*_BEST, *_PAIRS, *unanswerable_measures())
"""Measures of the train split, which has one label of each pair."""
SUBSET_MEASURES = (
    *_make_f1_precision_recall_measures("consensus", "consensus", _CONSENSUS, best_score_per_metric),
    *(measure for measure in unanswerable_measures() if measure.name == "silence_false_silence_rate"),
)
"""Measures of the subset, in which every question has evidence."""


STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by can could did do does for from had has have how i if in is it its me my of on "
        "or our that the their them they this to up was we what when where which who why will with would you your",
    )
)


def distinct_words(text: str) -> set[str]:
    """Return the different words of a text, in lower case: runs of letters a to z and digits."""
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def format_sentence_numbers_reply(sentences: Collection[int]) -> str:
    """Return a reply with the numbers of these sentences."""
    return json.dumps({"sentences": sorted(sentences)})


def _make_common_words_replier(
    suite: Suite, *, sentence_count: int, ignored_words: frozenset[str]
) -> Callable[[Item], str]:
    """Reply with the sentences with most different words of the question, the earlier of equals, even without any."""
    policies = {
        key: [distinct_words(sentence) for sentence in sentences] for key, sentences in suite.material.documents.items()
    }

    def reply_with_top_sentences(item: Item) -> str:
        question_words = distinct_words(item.shown["text"]) - ignored_words
        common = [len(question_words & sentence) for sentence in policies[item.document]]
        return format_sentence_numbers_reply(
            sorted(range(1, len(common) + 1), key=lambda number: -common[number - 1])[:sentence_count]
        )

    return reply_with_top_sentences


def _make_common_words_baseline(sentence_count: int, *, count_stop_words: bool) -> Baseline:
    return Baseline(
        f"word-count-{sentence_count}" if count_stop_words else f"word-count-{sentence_count}-no-stop-words",
        "rule",
        f"the {sentence_count} sentences with the most words of the question"
        + ("" if count_stop_words else ", ignoring stop words"),
        partial(
            _make_common_words_replier,
            sentence_count=sentence_count,
            ignored_words=frozenset() if count_stop_words else STOP_WORDS,
        ),
    )


def _make_all_sentences_replier(suite: Suite) -> Callable[[Item], str]:
    sizes = {key: len(sentences) for key, sentences in suite.material.documents.items()}
    return lambda item: format_sentence_numbers_reply(range(1, sizes[item.document] + 1))


def _best_reference_reply(item: Item) -> str:
    return format_sentence_numbers_reply(reference_agreeing_best_with_all(annotated_sentence_sets(item)))


BASELINES = (
    Baseline(
        "no-answer",
        "floor",
        "no sentence: every question is unanswerable",
        adapt_item_function_to_baseline(lambda _item: format_sentence_numbers_reply(())),
    ),
    Baseline("everything", "floor", "all sentences of the policy", _make_all_sentences_replier),
    *(
        _make_common_words_baseline(top, count_stop_words=stop_words)
        for stop_words in (True, False)
        for top in (2, 3, 5)
    ),
    Baseline(
        "best-annotator",
        "ceiling",
        "the reference of each question that agrees best with all its references",
        adapt_item_function_to_baseline(_best_reference_reply),
    ),
)


CITATION = (
    "Ravichander, Black, Wilson, Norton, Sadeh: Question Answering for Privacy Policies: Combining Computational and "
    "Legal Perspectives. EMNLP 2019."
)


_NONE, _PART, _MORE = "none of the evidence", "part of the evidence", "more than the evidence"
ERRORS = (FALSE_ANSWER, FALSE_SILENCE, _NONE, _PART, _MORE)
_RELEVANCE = {False: "Irrelevant", True: "Relevant"}


def _make_question_sentence_examples(item: Item, material: Material) -> list[EncoderExample]:
    """Return the question with each sentence of its policy, which is relevant if any annotator says so."""
    relevant, sentences = set(item.gold["relevant"]), material.documents[item.document]
    numbered = enumerate(sentences, start=1)
    return [
        EncoderExample(item.shown["text"], sentence, _RELEVANCE[number in relevant]) for number, sentence in numbered
    ]


def _format_encoder_reply(_item: Item, predictions: Predicted) -> str:
    return format_sentence_numbers_reply(
        [number for number, label in enumerate(predictions[""], start=1) if label == _RELEVANCE[True]]
    )


class PrivacyQA(Suite):
    """Choose the sentences of a policy that are evidence for a question, or none."""

    title = "PrivacyQA"
    about = (
        "Answer a question with the numbers of the policy's sentences that are evidence. Sentence-level F1 is scored"
    )
    citation = CITATION
    data = (OFFICIAL, PART)
    splits = ("test", "train", SUBSET)
    measures = MEASURES
    baselines = BASELINES
    head = EncoderHead(
        (EncoderModel("pair", "any_relevant_macro_f1", _make_question_sentence_examples),), _format_encoder_reply
    )
    error_kinds = ERRORS
    schema: ClassVar[Mapping[str, Any]] = {
        "type": "object",
        "properties": {"sentences": {"type": "array", "items": {"type": "integer"}}},
        "required": ["sentences"],
        "additionalProperties": False,
    }

    def __init__(self, spec: RunSpec, workspace: Workspace) -> None:
        super().__init__(spec, workspace)
        if self.plan.probe == CONTINUATION:
            return
        self.measures = {SUBSET: SUBSET_MEASURES, "train": TRAIN_MEASURES}.get(self.plan.split, MEASURES)

    @property
    def item_measure(self) -> Measure:
        """A question's F1; the first measure is no figure of a single question."""
        return next((measure for measure in self.measures if measure.name.endswith("_f1_mean")), self.measures[0])

    def load(self, split: str) -> Material:
        """Load the questions of a split, with the sentences of their policies."""
        return load_questions(self.files, split)

    def messages(self, item: Item) -> list[Message]:
        """Return the policy, the very same for all its questions, and the question."""
        return [*self._text_and_acknowledgement_messages(item), Message("user", self.render_template("", **item.shown))]

    def _text_and_acknowledgement_messages(self, item: Item) -> tuple[Message, Message]:
        if item.document not in self._opening_message_cache:
            sentences = self.material.documents[item.document]
            introduction = self.render_template("policy", company=item.shown["company"], sentences=sentences)
            self._opening_message_cache[item.document] = (
                Message("user", introduction, "introduction", carries="\n".join(sentences), breakpoint=True),
                Message("assistant", self.render_template("ready", company=item.shown["company"]), "acknowledgement"),
            )
        return self._opening_message_cache[item.document]

    @cached_property
    def _opening_message_cache(self) -> dict[str, tuple[Message, Message]]:
        return {}

    def parse(self, item: Item, answer: Any) -> ParsedReply:
        """Read the numbers, each once and sorted; a fault if one is that of no sentence."""
        numbers = answer["sentences"]
        if any(isinstance(number, bool) for number in numbers):
            return ParsedReply(fault=UNPARSABLE)
        chosen = sorted(set(numbers))
        outside = chosen and not 1 <= chosen[0] <= chosen[-1] <= item.gold["sentences"]
        return ParsedReply(chosen, OUT_OF_RANGE if outside else "")

    def gold_reply(self, item: Item) -> str:
        """Return the reference that agrees best with all."""
        return _best_reference_reply(item)

    def readable_item_fields(self, item: Item) -> dict[str, Any]:
        """Return the question, and the policy's sentences with their numbers."""
        numbered = enumerate(self.material.documents.get(item.document, ()), 1)
        return {**item.shown, "policy": [f"[{number}] {sentence}" for number, sentence in numbered]}

    def readable_gold(self, item: Item) -> Any:
        """Return each annotator's sentences, in a line."""
        if not isinstance(item.gold, dict):
            return item.gold
        marks_by_annotator = item.gold["references"].items()
        return {name: ", ".join(map(str, marks)) or "none" for name, marks in marks_by_annotator}

    def human_scores_note(self, outcomes: Sequence[Outcome]) -> str:  # noqa: ARG002 - the same of all
        """Say that annotators are scored against each other."""
        return (
            "Each annotator compared with the other annotators of a question, averaged over questions "
            "with two annotators or more."
        )

    def human_scores_by_measure(self, outcomes: Sequence[Outcome]) -> Mapping[str, float]:
        """Return the paper's human row, over questions with two annotators or more."""
        references_by_item = {outcome.item.id: annotated_sentence_sets(outcome.item) for outcome in outcomes}
        agreements = [
            mean_scores_between_annotators(item_references)
            for item_references in references_by_item.values()
            if len(item_references) > 1
        ]
        if not agreements:
            return {}
        p, r, f1 = (sum(values) / len(agreements) for values in zip(*agreements, strict=True))
        figures = {"f1_of_means": f1_of_means((p, r, 1)), "f1_mean": f1, "p": p, "r": r}
        return {f"leave_one_out_{name}": value for name, value in figures.items()}

    def summarize_fault_or_error(self, outcome: Outcome) -> str:
        """Return a fault; a wrong answer or silence; else which of the evidence is missing or not evidence."""
        parsed, annotations = outcome.parsed, annotated_sentence_sets(outcome.item)
        if parsed.fault or parsed.prediction is None:
            return parsed.fault
        predicted, marked = set(parsed.prediction), {number for reference in annotations for number in reference}
        if best_score_per_metric(predicted, annotations).f1 == 1:
            return ""
        if not predicted:
            return FALSE_SILENCE
        if not marked:
            return FALSE_ANSWER
        if not predicted & marked:
            return _NONE
        return _PART if predicted <= marked else _MORE

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of every suite, what the subset is, and the rule by which questions are unanswerable."""
        items, documents = self.material.items, self.material.documents
        notes = tuple(note for note in super().notes if self.plan.split == SUBSET or not note.startswith(PART.title))
        if self.plan.probe == CONTINUATION:
            return notes
        if self.plan.split != SUBSET:
            return (*notes, f"{self.title}: {describe_unanswerable_counts(items)}")
        policies = {item.document for item in items}
        sentences = sum(len(documents[policy]) for policy in policies)
        part = (
            f"{PART.title}: {len(items)} of {SUBSET_QUESTIONS} published questions, about {len(policies)} of "
            f"{len(SENTENCES)} policies ({sentences:,} sentences); the reference is the annotators' consensus"
        )
        return (*notes, part)
