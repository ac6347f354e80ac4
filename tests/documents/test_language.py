"""Texts in other languages: what is found by rules for English is blank about them, and says why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from analysts import make_answers

import genaipa
from genaipa.errors import DataError
from genaipa.languages.catalog import LANGUAGES, detect_language_code_or_empty, language_of_prompt_set_or_english
from genaipa.policies.document import About, Document, is_english, load_document
from genaipa.policies.statistics import measure_distributions_by_group, measure_text
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.reports.chapters.silent import silence_error_rates_table
from genaipa.runs.records import DocumentFacts
from genaipa.scoring.evidence.examine import collect_reply_evidence

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
    assert [detect_language_code_or_empty(text) for text in (ENGLISH, GERMAN, FRENCH, DUTCH)] == ["en", "de", "fr", ""]
    stated = ("de-AT", "ger", "German", "fr_CA", "EN", "nl")
    assert [detect_language_code_or_empty(DUTCH, each) for each in stated] == ["de", "de", "de", "fr", "en", "nl"]
    assert Document("laden", GERMAN, About(company="Laden")).language == "de"
    # A run keeps what was found; nothing of English, as before.
    kept = [
        DocumentFacts.from_document(Document("a", text, About(company="A"))).language
        for text in (GERMAN, ENGLISH, DUTCH)
    ]
    assert kept == ["de", "", ""]


@pytest.mark.parametrize(
    ("stated", "text", "language", "said"),
    [
        ('lang="de-DE"', GERMAN, "de", ""),
        ('lang="nl-BE"', DUTCH, "nl", ""),
        ("", DUTCH, "", ""),
        ('lang="en"', GERMAN, "", "the page claims to be in English, but its text is in German"),
        (
            'lang="klingon"',
            DUTCH,
            "",
            "the page's language 'klingon' is not a language code; the language is detected from the text",
        ),
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
    with pytest.raises(
        DataError, match=r"laden.yaml.*language.*'klingon' is not a language code; write one such as de"
    ):
        load_document("laden", tmp_path)


def test_a_subject_is_named_in_the_language_of_the_prompts() -> None:
    """The code's own words are the language's that a set of prompts ends in; English for any other."""
    companies = ("Uber", "Hermès", "H&M", "Spotify", "Électricité")
    of = [LANGUAGES["fr"].policy(one).removeprefix("la politique de confidentialité ") for one in companies]
    assert of == ["d'Uber", "d'Hermès", "de H&M", "de Spotify", "d'Électricité"]
    german = language_of_prompt_set_or_english("neutral-de")
    assert german.policy("Uber") == "die Datenschutzerklärung von Uber"
    assert (
        german.regulation("Datenschutz-Grundverordnung", "DSGVO") == "die Regelung Datenschutz-Grundverordnung (DSGVO)"
    )
    assert german.regulation("", "DSGVO") == "die Regelung DSGVO"
    assert LANGUAGES["fr"].regulation("", "RGPD") == "la réglementation RGPD"
    assert {language_of_prompt_set_or_english(name).code for name in ("neutral", "paper", "my-own", "")} == {"en"}


def test_reading_levels_are_of_a_language() -> None:
    """English has a grade, German and French an ease by formulas of their own, others neither; no group mixes them."""
    assert measure_text(ENGLISH).grade
    found, formula = measure_text(GERMAN), LANGUAGES["de"].readability
    assert formula
    spoken = sum(formula.syllables(word) for word in GERMAN.replace("#", " ").split() if word[0].isalpha())
    assert (found.words, found.sentences, found.grade) == (47, 9, None)
    # The numbers of two sections are words, too, of a syllable each.
    assert found.ease == pytest.approx(180 - 47 / 9 - 58.5 * (spoken + 2) / 47)
    assert (found.connective_words, measure_text(FRENCH).connective_words) == (2 / 47, 3 / 40)
    assert (measure_text(DUTCH).grade, measure_text(DUTCH).ease, measure_text(DUTCH).connective_words) == (
        None,
        None,
        None,
    )
    of = [Document(text[:9], text, About(company="A")) for text in (ENGLISH, GERMAN, FRENCH)]
    (group,) = measure_distributions_by_group(of)
    assert group.quartiles["grade"].median == pytest.approx(measure_text(ENGLISH).grade)
    assert not {"ease", "connective_words"} & set(group.quartiles)
    assert measure_distributions_by_group(of[1:2])[0].quartiles["ease"].median == pytest.approx(found.ease)


def test_an_abbreviation_or_a_date_ends_no_sentence() -> None:
    """Each language has its own: z. B., Abs. 1 and 1. Oktober in German, p. ex. and art. 6 in French."""
    german = (
        "Wir speichern z. B. Namen nach Art. 6 Abs. 1 seit dem 1. Oktober. Mehr steht in Abschnitt 6. Wir löschen sie."
    )
    french = "Nous conservons p. ex. votre nom selon l'art. 6 du RGPD. Le reste est effacé."
    assert [measure_text(text, code).sentences for text, code in ((german, "de"), (french, "fr"))] == [3, 2]


def test_a_text_without_blanks() -> None:
    """Chinese has sentences and words, a character each; quotations are found inside its sentences."""
    text = "我们收集您的姓名和地址。我们不会出售您的个人信息，也不会与第三方共享。您可以随时要求我们删除！"  # noqa: RUF001
    assert (measure_text(text, "zh").sentences, measure_text(text, "zh").words) == (3, 43)
    document = Document("shop", text, About(company="店", language="zh"))
    reply = "政策规定“我们不会出售您的个人信息”，并且「您可以随时要求我们删除」，而“我们会出售您的照片和视频”没有出现。"  # noqa: RUF001
    assert [one.match for one in collect_reply_evidence(reply, document).quotations] == ["exact", "exact", "none"]


def test_the_desk_suggests_nothing() -> None:
    """About a document in Dutch no value is suggested, and nothing is said of a denial; quotations are still found."""
    document = Document("winkel", DUTCH, About(company="Winkel"))
    for silent in ("yes", "no"):
        annotated = AnnotatedAnswer(silent=silent, answer="Nichts.", sections=() if silent == "yes" else ("1",))
        reply = 'Dat staat er niet, alleen "wij verkopen niets aan wie dan ook".'
        found = collect_reply_evidence(reply, document, annotated=annotated)
        assert (found.suggestion, found.reason, found.language, found.silence.annotated) == (None, "", "", None)
        assert [quoted.match for quoted in found.quotations] == ["exact"]


def test_a_report_leaves_silence_open(tmp_path: Path) -> None:
    """Of a study in Dutch nobody is charged with a false assertion, and the table says why."""
    make_answers("Dat staat er niet.", text=DUTCH * 2, annotations="  Q1: {silent: true, answer: Niets.}\n")
    study = genaipa.report().study
    assert not study.has_any_value_of_each_fact("silence")
    found = silence_error_rates_table(study)
    assert len(found.data) == 0
    assert "Answers about documents in other languages (1) are left out" in found.note


def test_a_report_says_where_its_rates_are_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of silence says how well the rules recognise it, or that nobody has measured them."""
    monkeypatch.setitem(LANGUAGES, "de", replace(LANGUAGES["de"], measured={}))
    make_answers(
        "Dazu enthält das Dokument keine Angaben.", text=GERMAN, annotations="  Q1: {silent: true, answer: Nichts.}\n"
    )
    study = genaipa.report().study
    assert study.rows_once_per_answer().loc[lambda rows: rows["status"] == "answered", "claims_silence"].tolist() == [
        "yes"
    ]
    assert silence_error_rates_table(study).note.count("Rates about documents in German are estimates") == 1
    monkeypatch.setitem(LANGUAGES, "de", replace(LANGUAGES["de"], measured={"silence": (0.97, 0.58)}))
    assert (
        "The rules recognise 58 of 100 newly written claims of silence in German; of 100 that they find, 97 are "
        "correct." in silence_error_rates_table(study).note
    )
