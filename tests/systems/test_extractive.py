"""The extractive baseline: what it quotes, when it is silent, and what its summaries are made of."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from genaipa.languages.catalog import LANGUAGES
from genaipa.policies.document import load_document
from genaipa.policies.search import stem_question_words
from genaipa.questions.annotations import load_annotations
from genaipa.questions.sets import load_question_set
from genaipa.systems.base import Message, Settings
from genaipa.systems.extractive import (
    NO_SUMMARY,
    UNKNOWN,
    ExtractiveSystem,
    quote_answer_from_document,
    split_sentences,
)
from genaipa.workspace import find_workspace

SILENT = "The document does not say."
POLICY = """# Acme Privacy Policy

Acme runs a postal service for parcels, e.g. boxes. This page says how we treat people's details.

## 1. What we collect

### 1.1 Account

We ask for your name and your street. No. 5.2 of our terms says that Acme Inc. needs both.

### 1.2 Parcels

We collect about every parcel:

- its weight in kilograms;
- the place where it was dropped off.

## 2. Security

Passwords are encrypted with a salt. We promise "no snooping." Staff badges open the sorting hall.

## 3. Keeping

Receipts are erased after seven years,
counted from the end of the year. Complaints reach us by post.
"""


def introduced(document: str, company: str = "Acme") -> list[Message]:
    """A document of two parts, introduced as the protocol does it."""
    half = len(document) // 2
    return [
        Message("user", f"I am going to send you the privacy policy of {company}.", "introduction"),
        Message("assistant", "Ready.", "acknowledgement"),
        Message("user", f"Part 1 of 2\n\n{document[:half]}", "part", carries=document[:half]),
        Message("assistant", "I have read part 1 of 2.", "acknowledgement"),
        Message("user", f"Part 2 of 2\n\n{document[half:]}", "part", carries=document[half:]),
        Message("assistant", "I have read part 2 of 2.", "acknowledgement"),
    ]


def said(messages: list[Message]) -> str:
    """The reply's text."""
    return asyncio.run(ExtractiveSystem().reply(messages, Settings())).text


def ask(question: str, document: str = POLICY) -> str:
    """The answer to one question about a document."""
    return said([*introduced(document), Message("user", question)])


def test_answer_quotes_the_sentence() -> None:
    """The sentence that has the question's words, in whatever form, is quoted as it stands."""
    assert '"Passwords are encrypted with a salt."' in ask("Is there any encryption of my password?")


def test_parts_are_joined_seamlessly() -> None:
    """A sentence that was cut by the border between two parts is quoted whole."""
    sentence = "Receipts are erased after seven years,\ncounted from the end of the year."
    cut = POLICY.index("seven years")
    parts = [Message("user", text, "part", carries=text) for text in (POLICY[:cut], POLICY[cut:])]
    assert f'"{sentence}"' in said([*parts, Message("user", "When are receipts erased?")])


def test_quotes_and_summaries_name_the_section() -> None:
    """Behind a quote and behind a summary's sentence stands the section that it is from, where one is known."""
    assert '"Passwords are encrypted with a salt." (Section 2)' in ask("Are passwords encrypted?")
    summary = said([*introduced(POLICY), Message("user", "Write a summary.", "summary-request")])
    assert "No. 5.2 of our terms says that Acme Inc. needs both. [Section 1.1]" in summary
    assert "(" not in ask("Are passwords encrypted?", "Passwords are encrypted with a salt.")


def test_other_words_for_the_same() -> None:
    """Where policies use two words for one thing, a question with the one finds the other."""
    assert "Receipts are erased" in ask("What is deleted?")


def test_list_item_brings_its_lead_in() -> None:
    """A list item is a quote of its own, with the words that lead in its list before it, once."""
    reply = ask("What about the weight of a parcel, and the place where it was dropped off?")
    assert reply.count('"We collect about every parcel:"') == 1
    assert '"its weight in kilograms;"' in reply
    assert '"the place where it was dropped off."' in reply


def test_quotes_stand_in_the_documents_order() -> None:
    """However well each matches, the sentences come as the document has them, at most three."""
    quotes = ask("receipts erased, salt of passwords, staff badges in the sorting hall").splitlines()
    found = [POLICY.index(quote.split('"')[1]) for quote in quotes]
    assert 2 <= len(quotes) <= 3
    assert found == sorted(found)


@pytest.mark.parametrize(
    "question",
    ["Has Acme appointed a juggling ombudsman for walruses?", "Does Acme offer quantum teleportation?", "?", ""],
)
def test_silent(question: str) -> None:
    """A question whose words the document lacks gets the one fixed sentence, which names no section."""
    assert ask(question) == SILENT


def test_the_companys_name_is_not_what_is_asked() -> None:
    """The name under which the document was introduced finds nothing by itself; another name does."""
    asked = Message("user", "Acme?")
    assert said([*introduced(POLICY, "Acme"), asked]) == SILENT
    assert "Acme" in said([*introduced(POLICY, "Parcels Inc"), asked])


def test_name_alone_is_not_knowledge() -> None:
    """Introduced to a name without a document, it says that it has nothing to go by."""
    introduction = Message("user", "Questions about the privacy policy of Acme will follow.", "introduction")
    assert said([introduction, Message("user", "Does Acme encrypt passwords?")]) == UNKNOWN


def test_introductions_are_acknowledged() -> None:
    """A real call for the acknowledgement of a part isn't answered like a question."""
    assert said(introduced(POLICY)[:3]) == said(introduced(POLICY)[:1]) == "Ready."


def test_summary_is_in_the_documents_words_and_order() -> None:
    """Every line of a summary is a sentence of the document, in order, and not every sentence is taken."""
    topics = ["parcels", "letters", "receipts", "badges", "vans"]
    document = "\n\n".join(
        f"{topic.capitalize()} of kind {number} are sorted by our staff before noon on every working day."
        for topic in topics
        for number in range(20)
    )
    summary = said([*introduced(document), Message("user", "Write a summary.", "summary-request")])
    lines = [line.removeprefix("- ") for line in summary.splitlines()]
    found = [document.index(line) for line in lines]
    assert found == sorted(set(found))
    assert 300 <= sum(len(line.split()) for line in lines) <= 400
    assert all(topic.capitalize() in summary for topic in topics)


def test_summary_does_not_dwell_on_one_thing() -> None:
    """However often the document repeats a sentence, its summary finds room for another."""
    often = "Parcels are sorted by our staff before noon on weekdays."
    rarely = "Letters wait inside a quiet room until somebody comes and collects them."
    document = f"{often}\n\n{often}\n\n{rarely}\n\n" * 40
    summary = said([*introduced(document), Message("user", "Write a summary.", "summary-request")])
    assert often in summary
    assert rarely in summary


def test_summary_can_be_asked_about() -> None:
    """What was summarised in one conversation is the document of the next."""
    summary = said([*introduced(POLICY), Message("user", "Write a summary.", "summary-request")])
    introduction = Message("user", f"A summary of Acme's policy:\n{summary}", "introduction", carries=summary)
    assert "Receipts are erased" in said([introduction, Message("user", "When are receipts erased?")])


def test_summary_of_nothing_leads_to_silence() -> None:
    """Without a document there is no summary, and its apology isn't taken for a document afterwards."""
    nothing = said([Message("user", "Write a summary of the policy of Acme.", "summary-request")])
    assert nothing == NO_SUMMARY
    introduction = Message("user", f"Summary: {nothing}", "introduction", carries=nothing)
    assert said([introduction, Message("user", "Can you summarise what you were given?")]) == SILENT


def test_sentences() -> None:
    """Abbreviations, numbers and closing quotes don't end or break a sentence; headings are none."""
    assert [sentence.text for sentence in split_sentences(POLICY)] == [
        "Acme runs a postal service for parcels, e.g. boxes.",
        "This page says how we treat people's details.",
        "We ask for your name and your street.",
        "No. 5.2 of our terms says that Acme Inc. needs both.",
        "its weight in kilograms;",
        "the place where it was dropped off.",
        "Passwords are encrypted with a salt.",
        'We promise "no snooping."',
        "Staff badges open the sorting hall.",
        "Receipts are erased after seven years,\ncounted from the end of the year.",
        "Complaints reach us by post.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "نملك قاربين. كلاهما يطفو. هل تسبح؟ نعم.",
        "हमारे पास नाव है। वह तैरती है। क्या आप तैरते हैं? नदी गहरी है।",
        "배가 있다. 물에 뜬다. 헤엄치나? 그렇다.",
        "Есть лодка. Она плывёт. Кто гребёт? Да.",
    ],
)
def test_sentences_without_latin_capitals(text: str) -> None:
    """In every script a sentence ends with its mark."""
    assert len(split_sentences(text)) == 4


def test_lead_ins_of_nested_lists() -> None:
    """Each item carries the lead-in of its own list, and nothing after the list does."""
    law = "1. This Act binds:\n\n   (a) cities;\n\n   (b) towns.\n\n2. It binds:\n\n   (a) lakes.\n\nThe end is here."
    assert [(sentence.lead, sentence.text) for sentence in split_sentences(law)] == [
        ("This Act binds:", "cities;"),
        ("This Act binds:", "towns."),
        ("It binds:", "lakes."),
        ("", "The end is here."),
    ]


def test_colon_without_a_list_stays() -> None:
    """A sentence that ends in a colon is lost only where a list follows."""
    assert [sentence.text for sentence in split_sentences("We collect this:\n\nNames.")] == [
        "We collect this:",
        "Names.",
    ]


@pytest.mark.parametrize("document", ["# Heading alone", "of the and", "x", "- -\n- *"])
def test_documents_without_sentences(document: str) -> None:
    """A document that says nothing is silent, and its summary says that there is nothing."""
    messages = [Message("user", document, "part", carries=document)]
    assert said([*messages, Message("user", "Is data encrypted?")]) == SILENT
    assert said([*messages, Message("user", "Summarise.", "summary-request")]) == NO_SUMMARY


@pytest.mark.full
def test_same_in_every_process() -> None:
    """Neither the order of hashing nor other calls under way change a reply."""
    program = (
        "import asyncio, sys; from genaipa.systems.base import *; from genaipa.systems.extractive import *\n"
        "text = sys.argv[1]; system = ExtractiveSystem(name='extractive')\n"
        "asked = ['How long are receipts kept?', 'Who sorts parcels?', 'What is encrypted?', 'Who complains?']\n"
        "async def main():\n"
        "    told = Message('user', text, 'part', carries=text)\n"
        "    replies = [system.reply([told, Message('user', one)], Settings()) for one in asked * 4]\n"
        "    print([reply.text for reply in await asyncio.gather(*replies)])\n"
        "asyncio.run(main())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, POLICY], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.full  # in small, test_start_is_light looks at what is loaded, and every run's output is looked at
def test_nothing_is_printed_or_loaded_early(capfd: pytest.CaptureFixture[str]) -> None:
    """Importing it loads no heavy library, and answering writes nothing to the terminal, whatever logging is set up."""
    program = (
        "import logging, sys; logging.basicConfig(level=logging.DEBUG); from genaipa.systems import extractive\n"
        "assert not {'bm25s', 'numpy'} & set(sys.modules)\n"
        "extractive.quote_answer_from_document('Passwords are encrypted with a salt.', 'Are passwords encrypted?')\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
    assert capfd.readouterr() == ("", "")


def test_reply_says_who_it_is() -> None:
    """The facts of a reply: a version to compare runs by, and no tokens."""
    system = ExtractiveSystem(name="extractive")
    reply = asyncio.run(system.reply([*introduced(POLICY), Message("user", "Is anything encrypted?")], Settings()))
    assert (system.name, reply.model, reply.finish, reply.usage, reply.sent) == (
        "extractive",
        "extractive/2",
        "stop",
        None,
        {},
    )


def test_a_german_or_french_policy_is_searched_by_its_own_words() -> None:
    """On translations of brindlecart it is silent in their language, wrongly at most 8 points more often."""
    silent, right = {}, {}
    says = {"": SILENT, "-de": "Das Dokument sagt dazu nichts.", "-fr": "Le document ne le dit pas."}
    for end, not_said in says.items():
        document, asked = load_document(f"brindlecart{end}"), load_question_set(f"policy{end}")
        annotated = load_annotations(find_workspace(None), document.name).answers
        answers = {key: one for key, one in annotated.items() if one.silent != "yes"}
        replies = {
            key: quote_answer_from_document(document.text, asked.question_text(key, "original", "")) for key in answers
        }
        assert quote_answer_from_document(document.text, "Schokoladeneis?") == not_said
        silent[end] = sum(reply == not_said for reply in replies.values()) / len(replies)
        right[end] = sum(
            any(f"(Section {section})" in replies[key] for section in one.sections) for key, one in answers.items()
        )
    assert max(silent["-de"], silent["-fr"]) <= silent[""] + 0.08
    assert min(right["-de"], right["-fr"]) >= 0.75 * right[""]


def test_parts_of_a_compound_that_the_text_lacks_are_looked_for() -> None:
    """A German compound is found by its parts; a word that the text has stays whole, as does any English one."""
    known = {"speicher", "verarbeit", "auftragsverarbeit"}
    assert stem_question_words("Speicherdauer", LANGUAGES["de"], known) == ["speicher"]
    assert stem_question_words("Unterauftragsverarbeiter", LANGUAGES["de"], known) == ["auftragsverarbeit"]
    assert stem_question_words("Auftragsverarbeiter", LANGUAGES["de"], known) == ["auftragsverarbeit"]
    assert stem_question_words("Speicherdauer", LANGUAGES["en"], known) == ["speicherdau"]
