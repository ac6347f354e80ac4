"""Algorithm 1: what a plan holds, in which order it asks, and with which messages each conversation begins."""

from __future__ import annotations

import hashlib
import itertools
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import make_workspace, procedure, spec, write

from genaipa.errors import UsageError
from genaipa.questions.sets import WORDINGS, Question, QuestionSet
from genaipa.runs.experiments import EXPERIMENTS
from genaipa.runs.procedure import INITIALIZATIONS, Initialization, ProcedurePlan
from genaipa.runs.records import RunSpec
from genaipa.runs.status import AnswerTally
from genaipa.tasks.procedure import (
    SUMMARY,
    Procedure,
    check_questions_have_wordings,
    iterate_conversations,
    map_document_repetitions_to_orders,
    shuffle_question_ids,
    shuffled_question_order_within_limit,
)
from genaipa.tasks.prompts import Script, list_messages_and_acknowledgements
from genaipa.tasks.request import parse_question_range
from genaipa.workspace import find_workspace

QUESTIONS = QuestionSet(
    name="policy",
    title="",
    kind="policy",
    placeholder="[the company]",
    source="",
    license="",
    categories={"T": "Transparency"},
    questions=tuple(Question(f"Q{n}", "T", "faq", f"Question {n}?", ("a?", "b?", "c?")) for n in range(32)),
)
PARTS = ("One. ", "Two. ", "Three.")

names = st.lists(st.text("abcde/-|é", min_size=1, max_size=5), min_size=1, max_size=4, unique=True).map(tuple)
numbers = st.integers(min_value=0, max_value=2**31)


def some(values: tuple[Any, ...]) -> st.SearchStrategy[tuple[Any, ...]]:
    """Some of the values, at least one, in their order."""
    return st.sets(st.sampled_from(values), min_size=1).map(lambda chosen: tuple(v for v in values if v in chosen))


@st.composite
def specs(draw: st.DrawFn) -> RunSpec:
    """Any plan that asks the same 32 questions of every document."""
    documents = draw(names)
    plan = ProcedurePlan(
        documents=documents,
        questions=dict.fromkeys(documents, "policy"),
        initializations=draw(some(INITIALIZATIONS)),
        wordings=draw(some(WORDINGS)),
        prompts=("neutral",),
    )
    return RunSpec(draw(names), plan=plan, repetitions=draw(st.integers(1, 3)), seed=draw(numbers))


def conversations(a_spec: RunSpec) -> dict[str, tuple[str, ...]]:
    """Id → order of every conversation of a plan."""
    sets = dict.fromkeys(a_spec.plan.documents, QUESTIONS)
    return {c.id: c.order for system in a_spec.systems for c in iterate_conversations(a_spec, sets, system)}


@given(seed=numbers, document=st.text(), repetition=st.integers(1, 99), ids=names, other=st.randoms())
def test_shuffle_is_a_permutation_whatever_the_order_of_the_ids(
    seed: int, document: str, repetition: int, ids: tuple[str, ...], other: Any
) -> None:
    """The shuffle depends on which questions there are, not on how the file happens to list them."""
    order = shuffle_question_ids(seed, document, repetition, ids)
    digest = hashlib.sha256(f"{seed}|{document}|{repetition}".encode()).digest()
    expected = sorted(ids)
    random.Random(int.from_bytes(digest[:8], "big")).shuffle(expected)
    assert order == tuple(expected)
    again = list(ids)
    other.shuffle(again)
    assert sorted(order) == sorted(ids)
    assert shuffle_question_ids(seed, document, repetition, again) == order


def test_shuffle_never_changes() -> None:
    """The order of a seed, document and repetition is the same on every machine and in every release."""
    ids = [f"Q{n}" for n in range(1, 9)]
    assert shuffle_question_ids(0, "uber", 1, ids) == ("Q8", "Q7", "Q6", "Q5", "Q1", "Q3", "Q2", "Q4")
    assert shuffle_question_ids(7, "gdpr", 2, ids) == ("Q4", "Q3", "Q7", "Q2", "Q6", "Q1", "Q8", "Q5")


def test_each_repetition_seed_and_document_has_its_own_shuffle() -> None:
    """No two of them share an order."""
    ids = [q.id for q in QUESTIONS.questions]
    triples = itertools.product((0, 1, 12), ("uber", "gdpr", "1"), (1, 2, 11))
    assert len({shuffle_question_ids(*triple, ids) for triple in triples}) == 27


@given(specs(), specs())
def test_adding_to_a_plan_moves_no_other_order(small: RunSpec, added: RunSpec) -> None:
    """With more systems, documents, initializations, wordings or repetitions, what was planned stays as it was."""
    both: dict[str, Any] = {
        name: tuple(dict.fromkeys((*getattr(added.plan, name), *getattr(small.plan, name))))
        for name in ("documents", "initializations", "wordings")
    }
    large = RunSpec(
        tuple(dict.fromkeys((*added.systems, *small.systems))),
        plan=ProcedurePlan(**both, questions=dict.fromkeys(both["documents"], "policy")),
        repetitions=small.repetitions + added.repetitions,
        seed=small.seed,
    )
    before, after = conversations(small), conversations(large)
    assert before.items() <= after.items()


@given(specs())
def test_same_order_in_every_initialization_and_wording(a_spec: RunSpec) -> None:
    """Q' is shuffled once per repetition of a document, and used throughout; the manifest's orders say the same."""
    sets = dict.fromkeys(a_spec.plan.documents, QUESTIONS)
    listed = map_document_repetitions_to_orders(a_spec, sets)
    for system in a_spec.systems:
        for conversation in iterate_conversations(a_spec, sets, system):
            assert conversation.order == listed[f"{conversation.document}|{conversation.repetition}"]


@given(specs())
def test_each_wording_is_a_conversation_of_its_own(a_spec: RunSpec) -> None:
    """There is one conversation per document, repetition, initialization and wording, and one key per answer in it."""
    sets = dict.fromkeys(a_spec.plan.documents, QUESTIONS)
    found = list(iterate_conversations(a_spec, sets, a_spec.systems[0]))
    per_document = a_spec.repetitions * len(a_spec.plan.initializations) * len(a_spec.plan.wordings)
    assert len(found) == len(a_spec.plan.documents) * per_document
    assert {(c.initialization, c.wording) for c in found} == set(
        itertools.product(a_spec.plan.initializations, a_spec.plan.wordings)
    )
    tally = AnswerTally()
    tally.set_planned_answers(a_spec, map_document_repetitions_to_orders(a_spec, sets))
    for initialization in a_spec.plan.initializations:
        count = sum(len(c.order) for c in found if c.initialization == initialization)
        assert tally.get_or_add_row(a_spec.systems[0], initialization).planned == count


def test_keys_are_unique() -> None:
    """Every answer of a plan has a key of its own, the repetition included."""
    a_spec = procedure(systems=("a/b", "a/c"), documents=("x", "y"), wordings=WORDINGS, repetitions=3)
    sets = dict.fromkeys(a_spec.plan.documents, QUESTIONS)
    keys = [
        c.answer_key(q)
        for system in a_spec.systems
        for c in iterate_conversations(a_spec, sets, system)
        for q in c.order
    ]
    assert len(keys) == len(set(keys)) == 2 * 2 * 4 * 4 * 3 * 32


def test_plan_follows_algorithm_1() -> None:
    """A repetition goes through the four initializations in the paper's order before the next one begins."""
    found = iterate_conversations(procedure(repetitions=2), {"acme": QUESTIONS}, "s")
    assert [(c.repetition, c.initialization) for c in found] == list(itertools.product((1, 2), INITIALIZATIONS))


@pytest.mark.parametrize("text", ["9" * 20, "1-" + "9" * 5000, "0000000000999999999999"])
def test_an_absurd_limit_is_called_too_long(text: str) -> None:
    """It is a number, and is not called anything else; zeros before one that is short don't count."""
    with pytest.raises(UsageError, match="write the number of questions with at most 9 digits") as told:
        parse_question_range(text)
    assert len(str(told.value)) < 300
    assert parse_question_range("0000000000012") == (1, 12)


@pytest.mark.parametrize(("limit", "count"), [((1, 3), 3), ((2, 4), 3), ((30, 99), 3), ((33, 40), 0)])
def test_limit_is_a_slice_of_the_shuffle(limit: tuple[int, int], count: int) -> None:
    """The limit takes from the shuffled order, so a later run without it asks the same questions at the same places."""
    whole = shuffled_question_order_within_limit(spec(), "acme", 1, QUESTIONS)
    cut = shuffled_question_order_within_limit(spec(limit=limit), "acme", 1, QUESTIONS)
    assert cut == whole[limit[0] - 1 : limit[1]]
    assert len(cut) == count


def test_experiments_are_the_papers() -> None:
    """The presets name what the paper's sections 6.1 to 6.4 and B.1 did, and the fourth initialization alone."""
    assert {name: (e.initializations, e.wordings, e.kind) for name, e in EXPERIMENTS.items()} == {
        "quality": (("document",), ("original",), None),
        "robustness": (("document",), ("paraphrase-1", "paraphrase-2", "paraphrase-3"), None),
        "recall": (("company-name",), ("original",), None),
        "regulation": (("company-name",), ("original",), "regulation"),
        "summary": (("summary-of-document",), ("original",), None),
        "summary-by-name": (("summary-by-name",), ("original",), None),
        "prompting": (("document",), ("original",), None),
        "procedure": (("company-name", "document", "summary-by-name", "summary-of-document"), ("original",), None),
    }
    assert {name: e.prompts for name, e in EXPERIMENTS.items() if e.prompts} == {"prompting": ("neutral", "guided")}


def test_wording_that_a_question_lacks() -> None:
    """A paraphrase that does not exist is refused with the question and the wording before anything is asked."""
    with_two = QuestionSet("own", "", "policy", "[x]", "", "", {}, (Question("Q1", "T", "faq", "Q?", ("a?", "b?")),))
    check_questions_have_wordings(spec(wordings=("original", "paraphrase-2")), {"acme": with_two})
    with pytest.raises(UsageError, match=r"question Q1 of the set 'own' has 2 paraphrases, .* paraphrase-3"):
        check_questions_have_wordings(spec(wordings=("original", "paraphrase-3")), {"acme": with_two})


def script(parts: tuple[str, ...] = PARTS, policy: str = "acme") -> Script:
    """The messages for a document that is cut into these parts."""
    make_workspace()
    material = Procedure(spec(documents=(policy,)), find_workspace())
    return Script(material.documents[policy], parts, material.questions[policy], material.prompts["guided"])


def said(a_script: Script, initialization: Initialization, summary: str = "") -> list[tuple[str, str]]:
    """Role and first line of each message of an introduction."""
    found = list_messages_and_acknowledgements(a_script.introduction_steps(initialization, summary))
    return [(m.role, m.content.splitlines()[0]) for m in found]


def test_company_name_alone() -> None:
    """Initialization 1 gives the name, none of the document, and nothing to cache."""
    found = list_messages_and_acknowledgements(script().introduction_steps("company-name"))
    assert [m.role for m in found] == ["user", "assistant"]
    assert "the privacy policy of Acme" in found[0].content
    assert not any(part.strip() in m.content for part in PARTS for m in found)
    assert not any(m.breakpoint for m in found)


def test_document_comes_in_announced_parts() -> None:
    """Initialization 2 announces n parts, then sends them one by one, each acknowledged without a call."""
    announcement = (
        'I am going to send you the privacy policy of Acme. It comes in 3 parts, each announced as "Part i of n". '
        "Read them all; do not summarise or comment until I ask. After the last part I will ask about it."
    )
    assert said(script(), "document") == [
        ("user", announcement),
        ("assistant", "Ready."),
        ("user", "Part 1 of 3"),
        ("assistant", "I have read part 1 of 3."),
        ("user", "Part 2 of 3"),
        ("assistant", "I have read part 2 of 3."),
        ("user", "Part 3 of 3"),
        ("assistant", "I have read part 3 of 3."),
    ]


def test_breakpoint_stands_at_the_documents_end() -> None:
    """The last part, and no other message, ends the prefix that a provider may cache; each part carries its text."""
    found = list_messages_and_acknowledgements(script().introduction_steps("document"))
    assert [m.breakpoint for m in found] == [False] * 6 + [True, False]
    assert tuple(m.carries for m in found if m.purpose == "part") == PARTS


def test_summary_is_written_in_a_conversation_of_its_own() -> None:
    """Initializations 3 and 4 ask for a summary first, given the name alone or the parts, and then begin anew."""
    a_script = script()
    assert a_script.steps_before_summary_request("summary-by-name") == ()
    assert a_script.steps_before_summary_request("summary-of-document") == a_script.introduction_steps("document")
    by_name, of_document = (
        a_script.summary_request_message(i).content for i in ("summary-by-name", "summary-of-document")
    )
    assert by_name.startswith("Write a summary of the privacy policy of Acme from what you know of it.")
    assert of_document.startswith("Write a summary of the document that I sent.")
    assert "at most 400 words" in by_name


@pytest.mark.parametrize("initialization", ["summary-by-name", "summary-of-document"])
def test_conversation_that_starts_from_a_summary(initialization: Initialization) -> None:
    """After the reset there is the summary and nothing of the document; its end is the prefix's end."""
    found = list_messages_and_acknowledgements(script().introduction_steps(initialization, "It is short."))
    assert [m.role for m in found] == ["user", "assistant"]
    assert "It is short." in found[0].content
    assert (found[0].carries, found[0].breakpoint) == ("It is short.", True)
    assert not any(part.strip() in m.content for part in PARTS for m in found)


def test_question_is_asked_about_the_company() -> None:
    """The placeholder is filled in, in the wording that was chosen."""
    a_script = script()
    assert a_script.question_message("Q2", "original").content == "Question 2 on Acme?"
    assert a_script.question_message("Q2", "paraphrase-3").content == "P2c?"


def test_messages_are_made_once() -> None:
    """Conversations share the messages of a document, so that a long one is held in memory once."""
    a_script = script()
    first, second = (list_messages_and_acknowledgements(a_script.introduction_steps("document")) for _ in range(2))
    assert all(a is b for a, b in zip(first, second, strict=True))
    assert a_script.question_message("Q1", "original") is a_script.question_message("Q1", "original")


def test_regulation_is_introduced_by_its_title() -> None:
    """A regulation is not called the privacy policy of something."""
    make_workspace()
    write("policies/law.md", "Article 1. Be good.")
    write("policies/law.yaml", "company: LAW\nkind: regulation\ntitle: Law on Good Conduct\n")
    material = Procedure(spec(documents=("law",), questions={"law": "regulation"}), find_workspace())
    a_script = Script(material.documents["law"], ("x",), material.questions["law"], material.prompts["guided"])
    assert "the Law on Good Conduct (LAW)" in a_script.introduction_steps("company-name")[0].message.content
    assert a_script.question_message("PR_1", "original").content == "Who must comply with the LAW?"


def test_summary_key_names_no_question() -> None:
    """A summary is kept under a name that no question can have taken by accident."""
    found = next(iterate_conversations(procedure(), {"acme": QUESTIONS}, "s"))
    assert found.answer_key(SUMMARY) == "s|acme|company-name|original|1|(summary)"
