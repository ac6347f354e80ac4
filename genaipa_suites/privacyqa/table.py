"""PrivacyQA's published files: where they are from, the official tables, checked, and which questions are unanswerable.

A table has a row for each question and sentence of its policy, tab-separated, without quoting. A sentence may begin
with a quotation mark, and `None` is a value: an annotator who did not do this question. So the lines are split here, by
nothing that would take either for something else.

The positive class of answerability is *unanswerable* (Ravichander et al. 2019, 4.1). No file says which questions are;
the paper says how many of the test split.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

from genaipa.errors import DataError
from genaipa_suites.data import SuiteSource
from genaipa_suites.measure import Measure, f1, precision, recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa_suites.data import DataFiles
    from genaipa_suites.material import Item, Outcome


TABLES = {"test": "data/policy_test_data.csv", "train": "data/policy_train_data.csv"}
"""Split → its official table; that of any other split is named after it, and in the form of test."""
_META = "data/meta-annotations/OPP-115 Annotations/"
CATEGORIES = {
    "test": f"{_META}test_opp_annotations.csv",
    "train": f"{_META}train_opp_annotations.csv",
    "subset": f"{_META}test_opp_annotations.csv",
}
"""Split → the OPP-115 categories of its questions; of any other split as for tables."""
SUBSET_FILE = "src/data/benchmarks/privacy_qa.json"
CORPUS = "src/data/corpus/privacy_qa/"
SENTENCES = {
    "23andMe": 334,
    "Fiverr": 173,
    "Groupon": 176,
    "Keep": 87,
    "TickTick: To Do List with Reminder, Day Planner": 25,
    "Viber Messenger": 166,
    "Wordscapes": 220,
}
"""Policy of the published subset → its sentences."""
SUBSET_QUESTIONS = 194
COUNTS = {
    "test": {"rows": 62_150, "policies": 8, "questions": 400},
    "train": {"rows": 185_200, "policies": 27, "questions": 1_350},
}
"""Split → counts of its published table."""
UNANSWERABLE = 99
"""Unanswerable questions of the test split, by the paper (a quarter of 400, Table 5's majority row)."""


def policy_file_name(policy: str) -> str:
    """Return the name of a policy's file in the subset: its JSON has `:` where the file has `_`."""
    return f"{policy.replace(':', '_')}.txt"


OFFICIAL = SuiteSource(
    name="privacyqa",
    title="PrivacyQA",
    repository="AbhilashaRavichander/PrivacyQA_EMNLP",
    commit="5178ff3eaf61cbdaea03d85ff23b676b3fea451f",
    blobs={
        TABLES["test"]: "ce6cbe60c755a340fd3e11ced3fa6fda7ea815fe",
        TABLES["train"]: "ca609e8986e8bb58bad5df663ea1e9d287c9a3dc",
        CATEGORIES["test"]: "d79edccad48f6428c71138348503ebae326f221e",
        CATEGORIES["train"]: "0deb4e89be1afb8560154f0d31ada7c1c891550e",
    },
    terms="MIT; cite Ravichander et al. 2019 (EMNLP).",
    remedy="Its two tables may be available only in a clone: git clone "
    "https://github.com/AbhilashaRavichander/PrivacyQA_EMNLP; a part of the test split is available without a "
    "clone (genaipa get privacyqa-subset, --split subset)",
)
PART = SuiteSource(
    name="privacyqa-subset",
    title="PrivacyQA (LegalBench-RAG subset)",
    repository="02noDarling/MyLegalBenchRag",
    commit="ffe332e6473bf5ee344e62e10a4b8b1ed4c54a31",
    # The JSON is known by its SHA-256; its texts by no hash, but the loader holds its evidence and counts against them.
    blobs={
        SUBSET_FILE: "12c7afcb0e6e84cdff59914495c3bce005d10bb4665cae12b64a9b57af8fb7b6",
        **{CORPUS + policy_file_name(policy): "" for policy in SENTENCES},
    },
    terms="PrivacyQA's data and LegalBench-RAG are under the MIT license.",
)


_IDS = ("Folder", "DocID", "QueryID", "SentID", "Split", "Query", "Segment")
_TRAIN, _TEST = (*_IDS, "Label"), (*_IDS, "Any_Relevant")
_ANNOTATOR = re.compile(r"Ann[1-9]\d*")
_LABELS = frozenset(("Relevant", "Irrelevant"))
_NOT_DONE = "None"
_NAMES = {
    "first": "First Party Collection/Use",
    "third": "Third Party Sharing/Collection",
    "datasecurity": "Data Security",
    "dataretention": "Data Retention",
    "user_access": "User Access, Edit and Deletion",
    "user_choice": "User Choice/Control",
    "other": "Other",
    "audiences": "International and Specific Audiences",
    "unknown": "Unknown",
}
"""Column of a category file → the category as OPP-115 names it."""
NO_CATEGORY = "None of them"


@dataclass
class PolicyQuestion:
    """A question about a policy. `references` are annotator → sentences that he marked, by their number from 1 on.

    Only annotators who did this question are in it. `relevant` are the sentences that the table says any of them
    marked (in train, the sentences with the one label).
    """

    id: str
    policy: str
    text: str
    references: dict[str, list[int]] = field(default_factory=dict)
    relevant: list[int] = field(default_factory=list)


class QuestionsAndPolicies(NamedTuple):
    """A split: its questions, and policy → its sentences in order."""

    questions: list[PolicyQuestion]
    policies: dict[str, list[str]]


class _LabelledRow(NamedTuple):
    line: int
    policy: str
    query: str
    sentence: int
    text: str
    segment: str
    labels: list[str]


class _AskedQuestion(NamedTuple):
    """A question as its rows come: its text, and sentence → (line, labels)."""

    text: str
    rows: dict[int, tuple[int, list[str]]]


@lru_cache(maxsize=4096)  # a table says each of them once for every sentence
def trim_blanks_in_id(identifier: str) -> str:
    """Return an id without the blanks that some have before their numbers ("Fiverr _1_0")."""
    return re.sub(r"\s+(?=_\d)", "", identifier.strip())


@lru_cache(maxsize=4096)
def policy_name_from_id(document_id: str) -> str:
    """Return the policy's name in a DocID: what comes before its number."""
    return re.sub(r"\s*_\d+$", "", document_id.strip())


def read_privacyqa_table(files: DataFiles, split: str) -> QuestionsAndPolicies:
    """Read the official table of a split, checked; a DataError names the line, and what is wrong with it.

    A published table has the published counts. In one of a user's own any number of policies, questions and annotators
    will do, and it has to agree with itself.
    """
    path = TABLES.get(split, f"{split}.csv")
    columns, lines = _read_tsv_columns_and_lines(files, path, _TRAIN if split == "train" else _TEST)
    table_path = files.find(path)
    assert table_path is not None, "it was just read"
    reader = _TableReader(table_path, columns, own=path in files.own_files)
    for number, fields in lines:
        reader.check_and_add_row(
            _parse_labelled_row(table_path, number, fields, columns, "train" if split == "train" else "test")
        )
    table = reader.make_questions_and_policies()
    rows = sum(len(question.rows) for question in reader.questions.values())
    counts = {"rows": rows, "policies": len(table.policies), "questions": len(table.questions)}
    files.check_published_counts(path, counts, COUNTS.get(split, counts))
    return table


def read_categories_by_policy_and_question(files: DataFiles, split: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Read the questions' categories, by (policy, id) and by (policy, question in lower case); empty without a file."""
    path = CATEGORIES.get(split, f"{split}_opp_annotations.csv")
    if files.find(path) is None:
        return {}
    columns, lines = _read_tsv_columns_and_lines(files, path, ("Folder", "DocID", "QueryID", "Split", "Query"))
    categories: dict[tuple[str, str], tuple[str, ...]] = {}
    first_mark = (
        len(columns) - len(category_columns)
        if (category_columns := [name for name in columns if name in _NAMES])
        else len(columns)
    )
    for number, fields in lines:
        marks = fields[first_mark:]
        if not category_columns or set(marks) - {"0", "1"}:
            where = files.find(path) or path
            raise DataError(where, "a category must be marked 0 or 1; pull the file again.", f"line {number}")
        names = tuple(_NAMES[name] for name, mark in zip(category_columns, marks, strict=True) if mark == "1") or (
            NO_CATEGORY,
        )
        policy = policy_name_from_id(fields[1])
        categories[policy, trim_blanks_in_id(fields[2])] = names
        categories.setdefault((policy, normalize_question(fields[4])), names)
    return categories


def normalize_question(question: str) -> str:
    """Return a question without case and needless blanks, by which files that have other ids are joined."""
    return " ".join(question.lower().split())


def _read_tsv_columns_and_lines(
    files: DataFiles, path: str, expected_first_columns: tuple[str, ...]
) -> tuple[list[str], Iterator[tuple[int, list[str]]]]:
    """Return the columns, which begin with those named, and the further lines as (number, fields)."""
    text = files.text(path).removeprefix("\ufeff")
    where = files.find(path) or path
    # Not splitlines: a sentence may hold characters that Python takes for the end of a line.
    lines = text.split("\n")
    columns = [name.strip() for name in lines[0].split("\t")]
    if tuple(columns[: len(expected_first_columns)]) != expected_first_columns:
        wanted = " ".join(expected_first_columns)
        raise DataError(where, f"its first line must name the tab-separated columns {wanted}.", "line 1")

    def yield_numbered_fields() -> Iterator[tuple[int, list[str]]]:
        for number, line in enumerate(lines[1:], 2):
            fields = line.rstrip("\r").split("\t")
            if len(fields) == len(columns):
                yield number, fields
            elif line.strip():
                fault = f"has {len(fields)} fields, not {len(columns)}"
                problem = f"{fault}; this file allows neither quoting nor line breaks in a field."
                raise DataError(where, problem, f"line {number}")

    return columns, yield_numbered_fields()


def _parse_labelled_row(
    path_for_errors: Path, line_number: int, fields: list[str], columns: list[str], expected_split: str
) -> _LabelledRow:
    if fields[4].strip() != expected_split:
        problem = f"its split is '{fields[4]}', not '{expected_split}': a file must have the rows of a single split."
        raise DataError(path_for_errors, problem, f"line {line_number}")
    labels = fields[len(_IDS) :]
    if not _LABELS.issuperset(labels):
        for column, label in zip(columns[len(_IDS) :], labels, strict=True):
            if label not in _LABELS and not (label == _NOT_DONE and _ANNOTATOR.fullmatch(column)):
                problem = f"its {column} is '{label}', not Relevant or Irrelevant."
                raise DataError(path_for_errors, problem, f"line {line_number}")
    _, before, sentence = fields[3].strip().rpartition("_")
    if not before or not sentence.isdecimal():
        raise DataError(
            path_for_errors, f"its SentID '{fields[3]}' does not end in _ and a number.", f"line {line_number}"
        )
    return _LabelledRow(
        line_number,
        policy_name_from_id(fields[1]),
        trim_blanks_in_id(fields[2]),
        int(sentence),
        fields[5].strip(),
        fields[6].strip(),
        labels,
    )


class _TableReader:
    """Rows of a table as they come, checked against the ones before."""

    def __init__(self, path: Path, columns: list[str], *, own: bool) -> None:
        self.path, self.own = path, own
        self.annotators = columns[len(_TEST) :] or ["Label"]
        wrong = [name for name in self.annotators if not _ANNOTATOR.fullmatch(name)]
        if columns[len(_IDS)] == "Any_Relevant" and wrong:
            raise DataError(path, "the columns after Any_Relevant must be annotators: Ann1, Ann2 and so on.", "line 1")
        self.segments: dict[str, dict[int, str]] = {}
        self.questions: dict[tuple[str, str], _AskedQuestion] = {}

    def check_and_add_row(self, row: _LabelledRow) -> None:
        """Add a row; a DataError for one that is there already, or contradicts another."""
        question = self.questions.get((row.policy, row.query))
        if question is None:
            question = self.questions[row.policy, row.query] = _AskedQuestion(row.text, {})
        if row.sentence in question.rows:
            line = question.rows[row.sentence][0]
            problem = f"sentence {row.sentence} of question {row.query} is already in line {line}."
            raise DataError(self.path, problem, f"line {row.line}")
        question.rows[row.sentence] = (row.line, row.labels)
        segment = self.segments.setdefault(row.policy, {}).setdefault(row.sentence, row.segment)
        if self.own and (segment != row.segment or question.text != row.text):
            noun = "sentence" if segment != row.segment else "question"
            raise DataError(self.path, f"its {noun} differs from the earlier text with this id.", f"line {row.line}")

    def make_questions_and_policies(self) -> QuestionsAndPolicies:
        """Return questions and policies; a DataError where a question does not have all sentences of its policy."""
        if not self.questions:
            raise DataError(self.path, "has no rows.")
        positions = {
            policy: {number: position for position, number in enumerate(sorted(sentences), 1)}
            for policy, sentences in self.segments.items()
        }
        questions = [self._make_question(key, question, positions[key[0]]) for key, question in self.questions.items()]
        policies = {policy: [texts[number] for number in sorted(texts)] for policy, texts in self.segments.items()}
        return QuestionsAndPolicies(questions, policies)

    def _make_question(
        self, policy_and_id: tuple[str, str], asked_question: _AskedQuestion, sentence_positions: dict[int, int]
    ) -> PolicyQuestion:
        policy, identifier = policy_and_id
        where, rows = f"question {identifier}", asked_question.rows
        if len(rows) != len(sentence_positions):
            problem = (
                f"has {len(rows)} of the {len(sentence_positions)} sentences of {policy}; every question must "
                "have all of them."
            )
            raise DataError(self.path, problem, where)

        def list_relevant_sentences(column: int) -> list[int]:
            return sorted(
                sentence_positions[number] for number, (_, labels) in rows.items() if labels[column] == "Relevant"
            )

        question = PolicyQuestion(identifier, policy, asked_question.text, relevant=list_relevant_sentences(0))
        for column, name in enumerate(self.annotators, -len(self.annotators)):
            undone = sum(labels[column] == _NOT_DONE for _, labels in rows.values())
            if self.own and 0 < undone < len(rows):
                raise DataError(
                    self.path,
                    f"{name} has both labels and None; either all sentences or no sentence must have None.",
                    where,
                )
            if undone < len(rows):
                question.references[name] = list_relevant_sentences(column)
        if self.own and question.relevant != sorted(
            {number for marks in question.references.values() for number in marks}
        ):
            raise DataError(self.path, "Any_Relevant differs from what the annotators marked.", where)
        return question


RULES: Mapping[str, Callable[[int, int], bool]] = {
    "any": lambda empty, _of: empty > 0,
    "most": lambda empty, of: 2 * empty > of,
    "all": lambda empty, of: empty == of,
}
"""Name → whether a question is unanswerable if this many of all its annotators marked no sentence."""


FALSE_ANSWER, FALSE_SILENCE = "false answer", "false silence"
"""Both errors: an unanswerable question is answered, an answerable one is not."""


def count_annotators_without_sentence(question: PolicyQuestion) -> int:
    """Count the annotators of a question who marked no sentence."""
    return sum(not marked for marked in question.references.values())


def choose_unanswerable_rule_name(questions: Sequence[PolicyQuestion], split: str) -> str:
    """Return the rule by which as many test questions are unanswerable as the paper says; `any` if none does."""
    if split == "test" and len(questions) == COUNTS[split]["questions"]:
        for name, holds in RULES.items():
            if (
                sum(
                    holds(count_annotators_without_sentence(question), len(question.references))
                    for question in questions
                )
                == UNANSWERABLE
            ):
                return name
    return "any"


def describe_unanswerable_counts(items: Sequence[Item]) -> str:
    """Say how many items are unanswerable, and how many would be by each rule."""
    gold = [item.gold for item in items]
    counts = ", ".join(
        f"{sum(holds(label['empty'], label['annotators']) for label in gold)} ({name} of them)"
        for name, holds in RULES.items()
    )
    unanswerable = sum(label["unanswerable"] for label in gold)
    total = f"{unanswerable} of {len(gold)} questions are unanswerable"
    return f"{total}. Questions in which annotators marked no sentence: {counts}"


def _says_unanswerable(outcome: Outcome) -> bool | None:
    """Tell whether the reply says that there is no answer, by an empty list; None without a prediction."""
    parsed = outcome.parsed
    return None if parsed.prediction is None or parsed.fault else not parsed.prediction


def _count_right_predicted_gold_unanswerable(outcome: Outcome) -> tuple[float, float, float]:
    gold, predicted = bool(outcome.item.gold["unanswerable"]), _says_unanswerable(outcome)
    return float(gold and predicted is True), float(predicted is True), float(gold)


def _count_right_about_unanswerable(outcome: Outcome) -> tuple[float, float]:
    return float(_says_unanswerable(outcome) is bool(outcome.item.gold["unanswerable"])), 1.0


def _count_wrong_about_unanswerable(outcome: Outcome, *, unanswerable: bool) -> tuple[float, float]:
    if bool(outcome.item.gold["unanswerable"]) is not unanswerable:
        return 0.0, 0.0
    return float(_says_unanswerable(outcome) is not unanswerable), 1.0


def unanswerable_measures() -> tuple[Measure, ...]:
    """Return F1, precision, recall of *unanswerable*, accuracy, and both rates of error."""
    about = "Unanswerable is the positive class; an empty list predicts it."
    return (
        Measure("silence_unanswerable_f1", "F1, silence", f"F1. {about}", _count_right_predicted_gold_unanswerable, f1),
        Measure(
            "silence_unanswerable_p",
            "P, silence",
            f"Precision; 0 if no question is predicted to be unanswerable. {about}",
            _count_right_predicted_gold_unanswerable,
            precision,
        ),
        Measure(
            "silence_unanswerable_r", "R, silence", f"Recall. {about}", _count_right_predicted_gold_unanswerable, recall
        ),
        Measure(
            "silence_accuracy",
            "Accuracy, silence",
            "Share of questions rightly labelled as answerable or unanswerable.",
            _count_right_about_unanswerable,
        ),
        Measure(
            "silence_false_answer_rate",
            "False answers",
            "Share of unanswerable questions not labelled as unanswerable; a faulty reply counts as an error. "
            "Lower is better.",
            partial(_count_wrong_about_unanswerable, unanswerable=True),
        ),
        Measure(
            "silence_false_silence_rate",
            "False silence",
            "Share of answerable questions not labelled as answerable; a faulty reply counts as an error. Lower is "
            "better.",
            partial(_count_wrong_about_unanswerable, unanswerable=False),
        ),
    )
