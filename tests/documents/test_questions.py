"""The question corpus as it ships, and sets of one's own."""

from __future__ import annotations

import pytest
from running import write

from genaipa.errors import DataError, UnknownNameError
from genaipa.policies.document import load_document
from genaipa.questions.sets import WORDINGS, default_question_set_name, load_question_set
from genaipa.validation import validate
from genaipa.workspace import find_workspace, pulled_folder

HEAD = "name: own\ntitle: T\nkind: policy\nplaceholder: '[X]'\nsource: s\nlicense: l\ncategories: {T: Transparency}\n"
GOOD = "- {id: Q1, category: T, origin: faq, text: 'About [X]?', paraphrases: ['On [X]?']}\n"


def own(questions: str, head: str = HEAD) -> None:
    """A workspace with a question set of its own."""
    write("genaipa.toml", "")
    write("questions/own.yaml", f"{head}questions:\n{questions}")


def test_policy_questions_are_the_papers() -> None:
    """Eight categories of four, f1 to f3 from FAQs and u1 from a user, each with three paraphrases."""
    found = load_question_set("policy")
    assert list(found.categories) == ["T", "UC", "DM", "SE", "PD", "RC", "AEE", "CA"]
    assert [q.id for q in found.questions] == [f"{c}_{n}" for c in found.categories for n in ("f1", "f2", "f3", "u1")]
    for question in found.questions:
        assert question.category == question.id.partition("_")[0]
        assert question.origin == ("user" if question.id.endswith("u1") else "faq")
        assert len(set(question.paraphrases) | {question.text}) == 4
    assert found["T_u1"].text == "What sort of data is collected from me while using this?"
    assert found.question_text("UC_f3", "original", "Uber") == (
        "How does Uber manage consent and withdrawal of consent from users?"
    )


def test_regulation_questions_are_the_papers() -> None:
    """Six questions with the regulation's name to be filled in, in every wording."""
    found = load_question_set("regulation")
    assert [q.id for q in found.questions] == [f"PR_{n}" for n in range(1, 7)]
    assert found.question_text("PR_2", "original", "GDPR") == "What are the GDPR fines?"
    for question in found.questions:
        for wording in WORDINGS:
            assert "GDPR" in found.question_text(question.id, wording, "GDPR"), (question.id, wording)


@pytest.mark.parametrize("name", ["policy", "regulation"])
def test_nothing_is_left_to_fill_in(name: str) -> None:
    """No wording has a placeholder that is spelt otherwise."""
    found = load_question_set(name)
    for question in found.questions:
        for wording in WORDINGS:
            asked = found.question_text(question.id, wording, "ACME")
            assert "[" not in asked
            assert asked == asked.strip()


def test_own_set() -> None:
    """A set in the workspace is found by its name."""
    own(GOOD)
    found = load_question_set("own")
    assert found.question_text("Q1", "paraphrase-1", "ACME") == "On ACME?"


def test_unknown_names() -> None:
    """A set or question that doesn't exist is met with the nearest one."""
    own(GOOD)
    with pytest.raises(UnknownNameError, match="no question set 'polciy': did you mean 'policy'"):
        load_question_set("polciy")
    with pytest.raises(UnknownNameError, match="no question 'q1': did you mean 'Q1'"):
        load_question_set("own")["q1"]


@pytest.mark.parametrize(
    ("questions", "said"),
    [
        (GOOD + GOOD, r"questions\[1\] \(Q1\): has a duplicate id"),
        (GOOD.replace("category: T", "category: Z"), r"questions\[0\] \(Q1\): the category 'Z' is not among"),
        (GOOD.replace("About [X]?", " "), r"questions\[0\] \(Q1\): has an empty text"),
        (GOOD.replace("['On [X]?']", "[a, b, c, d]"), "has 4 paraphrases; at most 3"),
        (GOOD.replace("origin: faq", "origin: web"), r"questions\[0\] \(Q1\)\.origin"),
        (GOOD.replace("text:", "txet:"), "unknown key 'txet': did you mean 'text'"),
    ],
)
def test_bad_questions(questions: str, said: str) -> None:
    """A mistake names the file, the question and what is wrong."""
    own(questions)
    with pytest.raises(DataError, match=rf"own\.yaml.*{said}"):
        load_question_set("own")


def test_name_and_file_agree() -> None:
    """A set that calls itself something else is refused."""
    own(GOOD, HEAD.replace("name: own", "name: other"))
    with pytest.raises(DataError, match="is 'other', but the file has another name; the two must agree"):
        load_question_set("own")


def test_a_file_for_ones_own_is_asked_as_it_is(genaipa) -> None:
    """`questions new` writes a set that validates and can be asked, and never takes another file's place."""
    assert "create one with: genaipa init" in genaipa("questions", "new").err
    write("genaipa.toml", "")
    assert "--questions mine" in genaipa("questions", "new").out
    assert "exists already" in genaipa("questions", "new").err
    assert "ships with genaipa" in genaipa("questions", "new", "policy").err
    assert "is not a valid name" in genaipa("questions", "new", "My set").err
    assert genaipa("questions", "new", "more").code == 0
    assert [load_question_set(name).questions[0].id for name in ("mine", "more")] == ["D_1", "D_1"]
    assert genaipa("validate").code == 0
    ran = genaipa("run", "-s", "extractive", "-p", "brindlecart", "-q", "mine", "-e", "quality", "--json")
    assert (ran.code, '"planned": 1' in ran.out) == (0, True), ran.err
    assert "What does [the company] know" in genaipa("questions", "mine").out


@pytest.mark.parametrize("name", ["policy-de", "policy-fr", "regulation-de", "regulation-fr"])
def test_a_translation_is_of_every_question(name: str) -> None:
    """It has the original's ids, categories, origins and number of paraphrases, and says whose it is."""
    found = load_question_set(name)
    original = load_question_set(found.translates)
    assert (found.kind, found.placeholder) == (original.kind, original.placeholder)
    assert (found.language_code, original.language_code) == (name[-2:], "en")
    for known in ("id", "category", "origin"):
        assert [getattr(q, known) for q in found.questions] == [getattr(q, known) for q in original.questions]
    assert [len(q.paraphrases) for q in found.questions] == [len(q.paraphrases) for q in original.questions]
    assert found.translation_credits.endswith("by the genaipa authors, not checked")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("translates: pollcy\nlanguage: de\n", "translates: there is no question set 'pollcy' to translate: did you"),
        ("translates: own\nlanguage: de\n", "translates: names the set itself; name the set that it translates."),
        (
            "translates: policy\nlanguage: gr\n",
            r"language: 'gr' is not a language that genaipa supports \(en, de, es, ",
        ),
        ("translates: policy\n", r"language: is missing; a translation must state its language \(en, de, es, "),
        (
            "translates: regulation\nlanguage: de\n",
            r"the ids must be those of 'regulation'; this set lacks PR_1, .*PR_5 and 1 more and also has Q1",
        ),
    ],
)
def test_a_bad_translation_is_refused(more: str, said: str) -> None:
    """A translation without its original, of itself, in no language, or with other ids is refused in one sentence."""
    own(GOOD, HEAD + more)
    with pytest.raises(DataError, match=said):
        load_question_set("own")


def test_validate_tells_of_a_bad_translation() -> None:
    """Among what else is wrong with the file."""
    own(GOOD, HEAD + "translates: policy\nlanguage: gr\n")
    assert [finding.entry for finding in validate(find_workspace()).findings] == ["language", "questions"]


def test_published_documents_are_asked_the_set_published_with_them() -> None:
    """By default, as long as nothing of one's own has the document's name or the set's; any other is asked policy."""
    data = pulled_folder()
    for name, text in {
        "policies/kiosk.md": "We sell papers.\n",
        "policies/kiosk.yaml": "{company: Kiosk, title: t, source: s, license: l}\n",
        "policies/bare.md": "We sell nothing.\n",
        "annotations/kiosk.yaml": "document: kiosk\nquestions: studied\nannotators: [a]\nanswers: {}\n",
        "questions/studied.yaml": f"{HEAD.replace('own', 'studied')}questions:\n{GOOD}",
    }.items():
        write(str(data / name), text)
    write("genaipa.toml", "")
    write("policies/mine.md", "We buy papers.\n")
    for hidden, sets in (
        ("", {"kiosk": "studied", "bare": "policy", "mine": "policy", "brindlecart": "policy"}),
        ("questions/studied.yaml", {"kiosk": "policy"}),
        ("policies/kiosk.md", {"kiosk": "policy"}),
    ):
        if hidden:
            write(hidden, (data / hidden).read_text())
        here = find_workspace()
        assert {name: default_question_set_name(load_document(name, here), here) for name in sets} == sets, hidden
