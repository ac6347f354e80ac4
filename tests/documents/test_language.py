"""Texts in other languages: what is found by rules for English is blank about them, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from analysts import make_answers

import genaipa
from genaipa.errors import DataError
from genaipa.languages.catalog import LANGUAGES, language_of, named_language
from genaipa.policies.document import About, Document, is_english, load_document
from genaipa.policies.statistics import distributions, measure
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.reports.chapters.silent import silent_questions
from genaipa.runs.records import DocumentFacts
from genaipa.scoring.evidence.examine import examine

if TYPE_CHECKING:
    from pathlib import Path

GERMAN = """# Datenschutz

## 1. Was wir erheben

Wir erheben Ihren Namen, Ihre Anschrift und Ihre Bestellungen, so lange es das Gesetz verlangt. In unserem Laden war
also niemand gemeint.

## 2. Wozu

Wir brauchen sie, um Ihnen die Ware zu schicken und Ihre Fragen zu beantworten. Wir verkaufen nichts davon.
"""
FRENCH = """
Nous recueillons votre nom, votre adresse et vos commandes, aussi longtemps que la loi le demande. Nous en avons besoin
pour vous livrer et pour répondre à vos questions. Nous ne vendons rien à personne, et vous pouvez nous écrire.
"""
DUTCH = """
Wij verzamelen uw naam, uw adres en uw bestellingen, zolang de wet dat vraagt. Dat is nodig om de waren te leveren en om
op uw vragen te antwoorden. Of wij iets verkopen? Nee, wij verkopen niets aan wie dan ook, en u kunt schrijven.
"""
ENGLISH = """
We collect your name, your address and what you order for as long as the law asks for it. We need it to deliver the
goods and to answer your questions. None of it is sold to anybody, and you may write to us.
"""


def test_english_is_told_from_other_languages() -> None:
    """By what the metadata state, else by the words; a text too short to tell counts as English."""
    assert [is_english(text) for text in (ENGLISH, GERMAN, FRENCH, DUTCH)] == [True, False, False, False]
    assert [is_english(GERMAN, stated) for stated in ("en", "en-GB", "de", "deu")] == [True, True, False, False]
    assert is_english("Datenschutz")


def test_a_language_is_found_from_frequent_words() -> None:
    """Each known language, none for another; what is stated comes first, by code or name, without region."""
    assert [language_of(text) for text in (ENGLISH, GERMAN, FRENCH, DUTCH)] == ["en", "de", "fr", ""]
    stated = ("de-AT", "ger", "German", "fr_CA", "EN", "nl")
    assert [language_of(DUTCH, each) for each in stated] == ["de", "de", "de", "fr", "en", "nl"]
    assert Document("laden", GERMAN, About(company="Laden")).language == "de"
    # A run keeps what was found; nothing of English, as before.
    kept = [DocumentFacts.of(Document("a", text, About(company="A"))).language for text in (GERMAN, ENGLISH, DUTCH)]
    assert kept == ["de", "", ""]


@pytest.mark.parametrize(
    ("stated", "text", "language", "said"),
    [
        ('lang="de-DE"', GERMAN, "de", ""),
        ('lang="nl-BE"', DUTCH, "nl", ""),
        ("", DUTCH, "", ""),
        ('lang="en"', GERMAN, "", "the page says that it is in English, and its words are German, which is taken"),
        ('lang="klingon"', DUTCH, "", "the page's language 'klingon' is no code, such as de; its words decide"),
    ],
)
def test_a_page_states_its_language(tmp_path: Path, stated: str, text: str, language: str, said: str) -> None:
    """The attribute of a page is its document's language, unless it is no code, or the words are of another."""
    page = tmp_path / "page.html"
    paragraphs = text.replace("\n\n", "</p><p>")
    page.write_text(f"<!doctype html><html {stated}><body><main><p>{paragraphs}</p></main></body></html>")
    (tmp_path / "genaipa.toml").write_text("")
    told: list[str] = []
    found = genaipa.add_document(page, name="laden", company="Laden", workspace=tmp_path, tell=told.append)
    assert (found.about.language, "".join(told)) == (language, said)


def test_a_language_that_is_none_is_refused(tmp_path: Path) -> None:
    """Metadata with a language that is no code are one sentence, which names file, entry and remedy."""
    (tmp_path / "genaipa.toml").write_text("")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies/laden.md").write_text(GERMAN)
    (tmp_path / "policies/laden.yaml").write_text("company: Laden\nlanguage: klingon\n")
    with pytest.raises(DataError, match=r"laden.yaml.*language.*'klingon' is no code of a language; give it as de"):
        load_document("laden", tmp_path)


def test_a_subject_is_named_in_the_language_of_the_prompts() -> None:
    """The code's own words are the language's that a set of prompts ends in; English for any other."""
    companies = ("Uber", "Hermès", "H&M", "Spotify", "Électricité")
    of = [LANGUAGES["fr"].policy(one).removeprefix("la politique de confidentialité ") for one in companies]
    assert of == ["d'Uber", "d'Hermès", "de H&M", "de Spotify", "d'Électricité"]
    german = named_language("neutral-de")
    assert german.policy("Uber") == "die Datenschutzerklärung von Uber"
    assert (
        german.regulation("Datenschutz-Grundverordnung", "DSGVO") == "die Regelung Datenschutz-Grundverordnung (DSGVO)"
    )
    assert german.regulation("", "DSGVO") == "die Regelung DSGVO"
    assert LANGUAGES["fr"].regulation("", "RGPD") == "la réglementation RGPD"
    assert {named_language(name).code for name in ("neutral", "paper", "my-own", "")} == {"en"}


def test_a_grade_is_for_english_texts() -> None:
    """The reading level and connective words are blank for another language, alone and in a corpus."""
    assert measure(ENGLISH).grade
    assert (measure(GERMAN).grade, measure(GERMAN).connective_words) == (None, None)
    assert measure(GERMAN).words == 47
    both = [Document(name, text, About(company=name)) for name, text in (("a", ENGLISH), ("b", GERMAN))]
    (group,) = distributions(both)
    assert group.spreads["grade"].median == pytest.approx(measure(ENGLISH).grade)
    assert "grade" not in distributions(both[1:])[0].spreads


def test_the_desk_suggests_nothing() -> None:
    """About a document in German no value is suggested, and nothing is said of a denial; quotations are still found."""
    document = Document("laden", GERMAN, About(company="Laden"))
    for silent in ("yes", "no"):
        annotated = AnnotatedAnswer(silent=silent, answer="Nichts.", sections=() if silent == "yes" else ("1",))
        reply = 'Dazu sagt es nichts, nur "Wir verkaufen nichts davon."'
        found = examine(reply, document, annotated=annotated)
        assert (found.suggestion, found.reason, found.language, found.silence.annotated) == (None, "", "", None)
        assert [quoted.match for quoted in found.quotations] == ["exact"]


def test_a_report_leaves_silence_open(tmp_path: Path) -> None:
    """Of a study in German nobody is charged with a false assertion, and the table says why."""
    text = GERMAN + "\n".join(GERMAN.splitlines()[4:])
    make_answers(
        "Dazu enthält das Dokument keine Angaben.", text=text, annotations="  Q1: {silent: true, answer: Nichts.}\n"
    )
    frame = genaipa.scores(everything=True)
    assert set(frame.loc[frame["status"] == "answered", "claims_silence"]) == {""}
    found = silent_questions(frame)
    assert len(found.data) == 0
    assert "Answers about documents in other languages (1) are left out" in found.note
