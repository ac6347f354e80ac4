"""A denial settles something where it is of the question asked, and an answer that shares no word with it says so."""

from __future__ import annotations

import pytest

from genaipa.policies.document import About, Document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.scoring.evidence.abstention import assess_silence_claim
from genaipa.scoring.evidence.asked import QuestionWordings, denials_concern_question, shares_word_with_question
from genaipa.scoring.evidence.examine import Evidence, collect_reply_evidence

SILENT = AnnotatedAnswer(silent="yes", answer="It does not say.")
QUESTIONS = {
    "en": QuestionWordings(("Are the keepers trained to feed otters?", "Do staff learn how otters are fed?")),
    "de": QuestionWordings(("Werden die Pfleger geschult, Otter zu füttern?",)),
    "fr": QuestionWordings(("Les gardiens sont-ils formés à nourrir les loutres ?",)),
}


def zoo(code: str) -> Document:
    """A document in a language."""
    return Document("zoo", "Nothing. " * 3, About(company="Zoo", language=code))


@pytest.mark.parametrize(
    ("code", "reply", "ours"),
    [
        ("en", "The policy does not say.", True),
        ("en", "It is not explicitly mentioned in the provided text.", True),
        ("en", "There is no reference to this point in the provided parts.", True),
        ("en", "The policy doesn't mention whether Zoo does that.", True),
        ("en", "The policy does not mention training.", True),
        ("en", "It is not stated what the staff learn.", True),
        ("en", "It is not stated if the company publishes opening hours.", False),
        ("en", "The policy does not mention cookies.", False),
        ("en", "The policy does not specify any price limits for tickets.", False),
        ("de", "Die Erklärung sagt dazu nichts.", True),
        ("de", "Das Dokument enthält hierzu keine ausdrücklichen Angaben.", True),
        ("de", "Zu Pflegerschulungen macht die Erklärung keine Angaben.", True),
        ("de", "Die Erklärung macht keine Angaben zu Öffnungszeiten.", False),
        ("de", "Ob Eintrittskarten verkauft werden, geht aus dem Dokument nicht hervor.", False),
        ("fr", "La politique ne le précise pas.", True),
        ("fr", "Aucune information n'est donnée à ce sujet.", True),
        ("fr", "Le document ne dit pas si les gardiens sont formés.", True),
        ("fr", "La politique ne mentionne pas les heures d'ouverture.", False),
    ],
)
def test_a_denial_of_what_was_asked(code: str, reply: str, ours: bool) -> None:
    """It names nothing, or something that the question names in one of its wordings."""
    phrases = assess_silence_claim(reply, None, (), code).phrases
    assert phrases, "it denies something"
    assert denials_concern_question(reply, phrases, QUESTIONS[code], zoo(code)) is ours


def test_words_of_most_questions() -> None:
    """A word that most questions of a set have tells nothing of which was asked."""
    reply = "It is not stated if the otter house opens at noon."
    phrases = assess_silence_claim(reply, None).phrases
    asked = QuestionWordings(("Are otter keepers trained?",))
    assert denials_concern_question(reply, phrases, asked, zoo("en")) is True
    every = tuple(f"Is the otter number {n} well?" for n in range(8))
    assert denials_concern_question(reply, phrases, asked._replace(all_questions=every), zoo("en")) is False
    assert denials_concern_question(reply, phrases, asked._replace(all_questions=every[:7]), zoo("en")) is True, (
        "they are too few to tell"
    )


def test_a_reply_in_another_language_than_the_question() -> None:
    """Nothing is known of it then: it neither is of the question nor of another."""
    reply = "The document does not say whether the keepers are trained to feed the otters."
    assert (
        denials_concern_question(reply, assess_silence_claim(reply, None, (), "de").phrases, QUESTIONS["de"], zoo("de"))
        is None
    )
    assert shares_word_with_question(reply, QUESTIONS["de"], zoo("de")) is None


def evidence(reply: str) -> Evidence:
    """The evidence about an answer to the question of keepers, on which the document is silent."""
    return collect_reply_evidence(reply, zoo("en"), annotated=SILENT, question=QUESTIONS["en"])


def test_what_it_suggests() -> None:
    """Only a denial of the question has a value suggested."""
    ours, other = "It does not say how keepers are trained.", "It does not say if the company publishes opening hours."
    assert [evidence(reply).suggestion for reply in (ours, other)] == [1.0, None]
    assert collect_reply_evidence(other, zoo("en"), annotated=SILENT).suggestion == 1.0, (
        "where the question is not known"
    )


@pytest.mark.parametrize(
    ("code", "reply", "speaks"),
    [
        ("en", "Yes, the keeper feeds them.", True),
        ("en", "Tickets are sold at the gate of the Zoo.", False),
        ("en", "Yes.", None),
        ("de", "Ja, der Otterpfleger lernt das.", True),
        ("de", "Karten gibt es am Tor.", False),
        ("fr", "Oui, chaque gardien.", True),
        ("fr", "Les billets sont en vente.", False),
    ],
)
def test_an_answer_that_speaks_of_what_was_asked(code: str, reply: str, speaks: bool | None) -> None:
    """It shares a content word with the question, whatever its ending; the company's name is none."""
    assert shares_word_with_question(reply, QUESTIONS[code], zoo(code)) is speaks
