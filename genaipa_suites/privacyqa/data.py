"""PrivacyQA's splits as items: a question about a policy, whose sentences are the long text that its items share.

Its `subset` is the part of the test split that LegalBench-RAG has: questions with the sentences that most annotators
marked. One sentence a line of a policy's text; the evidence is given as spans of characters, which are whole lines. It
has neither single annotators nor questions without evidence, so none of the paper's figures can be had from it.
"""

from __future__ import annotations

import re
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.errors import DataError, UsageError
from genaipa.files.text import DAMAGE, why
from genaipa_suites.material import Item, Material
from genaipa_suites.privacyqa.table import (
    CORPUS,
    NO_CATEGORY,
    RULES,
    SENTENCES,
    SUBSET_FILE,
    SUBSET_QUESTIONS,
    Question,
    Table,
    empty,
    plain,
    read_categories,
    read_table,
    rule_for,
    stored,
)

if TYPE_CHECKING:
    from pathlib import Path

    from genaipa_suites.data import DataFiles

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


class _File(msgspec.Struct):
    tests: list[_Test]


def read_subset(files: DataFiles) -> Table:
    """The questions and policies that are here; a DataError where evidence is not what its span says."""
    content = files.read(SUBSET_FILE)
    path = files.find(SUBSET_FILE)
    assert path is not None, "it was just read"
    try:
        tests = msgspec.json.decode(content, type=_File).tests
    except DAMAGE as error:
        raise DataError(path, f"{why(error)}; it has to be in the form of LegalBench-RAG's benchmarks.") from None
    questions: list[Question] = []
    texts: dict[str, _Text] = {}
    for number, test in enumerate(tests, 1):
        question = _question(path, f"test {number}", test, files, texts)
        # A number, so that a question that is there twice is two items.
        question.id = f"{question.policy}_{sum(one.policy == question.policy for one in questions)}"
        questions.append(question)
    files.check(SUBSET_FILE, {"questions": len(questions)}, {"questions": SUBSET_QUESTIONS})
    policies = {policy: [sentence.strip() for sentence in text.sentences] for policy, text in texts.items()}
    return Table(questions, policies)


class _Text:
    """A policy's text, and where each of its lines begins and ends, with or without its line break."""

    def __init__(self, text: str) -> None:
        # Spans count a line break as one character, whatever a checkout makes of it.
        self.text = text = text.replace("\r\n", "\n")
        self.sentences = text.removesuffix("\n").split("\n")
        ends = list(accumulate(len(sentence) + 1 for sentence in self.sentences))
        self.begins = {begin: number for number, begin in enumerate([0, *ends[:-1]], 1)}
        self.ends = {end - 1: number for number, end in enumerate(ends, 1)}
        self.ends |= {end: number for number, end in enumerate(ends, 1)}


def _question(path: Path, where: str, test: _Test, files: DataFiles, texts: dict[str, _Text]) -> Question:
    asked = _ASKED.fullmatch(test.query)
    policies = {PurePosixPath(snippet.file_path).stem for snippet in test.snippets}
    if asked is None or len(policies) != 1:
        problem = "has to ask 'Consider \"NAME\"'s privacy policy; …', with evidence from one file alone."
        raise DataError(path, problem, where)
    (policy,) = policies
    if policy not in texts:
        texts[policy] = _read_policy(files, policy)
    text, evidence = texts[policy], set[int]()
    for snippet in test.snippets:
        begin, end = snippet.span
        if text.text[begin:end] != snippet.answer or begin not in text.begins or end not in text.ends:
            problem = (
                f"its evidence {begin} to {end} is not those whole lines of {stored(policy)}; take both as published."
            )
            raise DataError(path, problem, where)
        evidence.update(range(text.begins[begin], text.ends[end] + 1))
    return Question("", policy, asked["question"].strip(), {CONSENSUS: sorted(evidence)}, sorted(evidence))


def _read_policy(files: DataFiles, policy: str) -> _Text:
    """The text of a policy, wherever it is: beside the JSON as in the repository, or in a folder `corpus`."""
    names = dict.fromkeys((stored(policy), f"{policy}.txt"))
    places = [folder + name for folder in (CORPUS, "corpus/") for name in names]
    path = next((place for place in places if files.find(place)), places[0])
    text = files.text(path)
    lines = len(text.removesuffix("\n").split("\n"))
    files.check(path, {"lines": lines}, {"lines": SENTENCES.get(policy, lines)})
    if not text.strip():
        raise UsageError(f"'{path}' of {policy} is empty.")
    return _Text(text)


SUBSET = "subset"


def load(files: DataFiles, split: str, *, sentences: bool = True) -> Material:
    """All questions of a split; with `sentences` about their policies, else each alone.

    Shown are the question as `text` and, with sentences, the policy's name as `company`. Gold are the annotators'
    sets of sentences by their numbers (`references`), the ones the file says are relevant, the number of sentences,
    whether the question is unanswerable, and how many of the annotators marked nothing.
    """
    table = read_subset(files) if split == SUBSET else read_table(files, split)
    categories = read_categories(files, split)
    rule = RULES[rule_for(table.questions, split)]

    def item(question: Question) -> Item:
        policy = question.policy
        marked_nothing, annotators = empty(question), len(question.references)
        gold: dict[str, Any] = {
            "unanswerable": rule(marked_nothing, annotators),
            "empty": marked_nothing,
            "annotators": annotators,
        }
        shown = {"text": question.text}
        if sentences:
            gold |= {
                "references": question.references,
                "relevant": question.relevant,
                "sentences": len(table.policies[policy]),
            }
            shown["company"] = policy
        known = (policy, question.id), (policy, plain(question.text))
        groups = next((categories[key] for key in known if key in categories), ())
        return Item(
            question.id,
            shown,
            gold,
            document=policy if sentences else "",
            cluster=policy,
            stratum=policy,
            groups={"category": groups or (NO_CATEGORY,)} if categories else {},
        )

    return Material(tuple(map(item, table.questions)), dict(table.policies) if sentences else {})
