"""Answers about documents in German and French: citations, laws and silence by the rules of their language."""

from __future__ import annotations

import pytest

from genaipa.languages.catalog import LANGUAGES
from genaipa.policies.document import About, Document, load_document
from genaipa.questions.annotations import AnnotatedAnswer, find_annotation_file
from genaipa.scoring.evidence.abstention import assess_silence_claim, classify_whether_silence_is_claimed
from genaipa.scoring.evidence.citations import find_citations
from genaipa.scoring.evidence.examine import collect_reply_evidence
from genaipa.scoring.evidence.resolution import find_and_resolve_citations
from genaipa.workspace import find_workspace

# A sentence, and the citations in it: with a part behind a slash, of another law in brackets.
CITED = {
    "de": (
        ("Laut Abschnitt 6 werden Chats 90 Tage aufbewahrt.", "Section 6"),
        ("Die Abschnitte 2.1 bis 2.5 und Ziffer 4 der Datenschutzerklärung", "Section 2.1-2.5, Section 4"),
        ("Gemäß Punkt 2 und § 4 dieser Erklärung", "Section 2, § 4"),
        ("Das beruht auf Art. 6 Abs. 1 S. 1 lit. a und b DSGVO.", "[Article 6]"),
        ("Artikel 7 Absatz 3 der Datenschutz-Grundverordnung, Art. 15 bis 22 DSGVO", "[Article 7], [Article 15-22]"),
        ("Wir stützen uns auf § 26 BDSG und § 25 Abs. 2 Nr. 2 TDDDG (siehe 9.2).", "[§ 26], [§ 25], Section 9.2"),
        ("Teil 2, Abschnitt 2.3: „Speicherdauer“, und Abschnitt 3 von Teil 1", "Section 2.3/2, Section 3/1"),
        ("Zum Teil 30 Tage; am 1. Oktober unter der Nummer 0800 123 456", ""),
        ("Der Erwägungsgrund 47 der DSGVO; Kapitel 3; Anhang A", "[Recital 47], Chapter 3, Annex A"),
        (
            "In den Abschnitten 8, 9.1 sowie 10, und in Abschnitt 12 Absatz 3",
            "Section 8, Section 9.1, Section 10, Section 12",
        ),
        ("Das folgt aus Artikel 6 Absatz 1 Buchstabe c der Verordnung (EU) 2016/679.", "[Article 6]"),
    ),
    "fr": (
        ("Selon la section 6, les discussions sont conservées 90 jours.", "Section 6"),
        ("Les sections 2.1 à 2.5 et le point 4 de la politique", "Section 2.1-2.5, Section 4"),
        ("L\u2019article 6, paragraphe 1, point f), du RGPD le permet.", "[Article 6]"),
        ("Les articles 13 et 14 du Règlement général sur la protection des données", "[Article 13], [Article 14]"),
        ("L'article 82 de la loi Informatique et Libertés ; section 12.2", "[Article 82], Section 12.2"),
        ("Partie 2, section 2.3 : « Durée » ; la section 3 de la partie 1", "Section 2.3/2, Section 3/1"),
        ("Une partie 30 jours, l'autre 90 ; le 1er octobre, trois points", ""),
        ("Le considérant 47 du RGPD ; le chapitre 3 ; l'annexe A", "[Recital 47], Chapter 3, Annex A"),
        (
            "D'autres détails figurent aux sections 8, 9.1 et 10 (voir 9.2).",
            "Section 8, Section 9.1, Section 10, Section 9.2",
        ),
    ),
    "zh": (
        ("根据第2条，见第3、4条和第十二条。", "Article 2, Article 3, Article 4, Article 12"),  # noqa: RUF001
        ("《个人信息保护法》第十三条规定了这一点，GDPR第6条也是。", "[Article 13], [Article 6]"),  # noqa: RUF001
        ("章节3.2规定，照片保存48小时。", "Section 3.2"),  # noqa: RUF001
    ),
}
SILENT = {
    "de": (
        "Das Dokument sagt dazu nichts.",
        "Dazu macht die Datenschutzerklärung keine Angaben.",
        "Ob Brindlecart Daten verkauft, wird in der Datenschutzerklärung nicht erwähnt.",
        "Aus dem Dokument geht nicht hervor, wer der Datenschutzbeauftragte ist.",
        "Das lässt sich der Datenschutzerklärung nicht entnehmen.",
        "Die Datenschutzerklärung lässt offen, ob Daten verkauft werden.",
        "Leider enthält die Datenschutzerklärung keine Informationen zu Schulungen.",
        "Nein, die Datenschutzerklärung erwähnt keine Verschlüsselung.",
        "Es fehlen Angaben dazu, wie lange die Daten aufbewahrt werden.",
    ),
    "fr": (
        "Le document ne le dit pas.",
        "La politique de confidentialité ne précise pas si les données sont vendues.",
        "Aucune information n'est fournie à ce sujet dans le document.",
        "La politique est muette sur ce point.",
        "Le document fourni ne permet pas de répondre à cette question.",
        "Il n'y a aucune mention d'une certification dans la politique.",
        "La politique n\u2019indique pas combien de temps les discussions sont conservées.",
        "Ce point n'est abordé nulle part dans la politique.",
    ),
    "zh": ("该文件没有说明。", "隐私政策没有提及是否出售数据。", "无法从该政策中得知保存期限。"),
}
SAYING = {
    "de": (
        "Brindlecart verkauft keine Daten.",
        "Die Erklärung sagt, dass Daten nicht verkauft werden.",
        "Nein. Brindlecart gibt keine Informationen an Dritte weiter.",
        "Laut Datenschutzerklärung gibt Brindlecart keine Daten heraus.",
        "Ja, Chats werden 90 Tage gespeichert; wer sie sonst sieht, wird nicht erwähnt.",
        "Wenn Sie keine Angaben machen, können wir nicht liefern.",
        "Nutzer müssen keine Angaben zu ihrer Ernährung machen.",
        "Die Erklärung beschreibt, welche Daten erhoben werden, nennt aber keine Fristen.",
    ),
    "fr": (
        "Brindlecart ne vend pas de données.",
        "La politique indique que les données ne sont pas vendues.",
        "Non. Brindlecart ne communique aucune information à des tiers.",
        "Les données sensibles ne sont pas traitées.",
        "La politique décrit les données recueillies, mais ne précise pas les durées.",
        "Vous pouvez vous opposer sans donner de motif.",
        "Aucune information sur votre santé n'est recueillie.",
    ),
    "zh": ("不会，我们不出售个人信息。", "政策说明我们不会出售您的个人信息。", "聊天记录不会保存超过九十天。"),  # noqa: RUF001
}


@pytest.mark.parametrize("code", CITED)
def test_citations(code: str) -> None:
    """Sections by their words and numbers, lists, ranges and parts; an article of a law is the law's."""
    document = Document("laden", "## § 3 Eins\n\nText.\n", About(company="Laden", language=code))
    for sentence, expected in CITED[code]:
        found = []
        for one in find_citations(sentence, document):
            label = f"{one.singular_word_and_number}{one.last and f'-{one.last}'}{one.within and f'/{one.within}'}"
            found.append(f"[{label}]" if one.outside == "another law" else label)
        assert ", ".join(found) == expected, sentence


@pytest.mark.parametrize("code", SILENT)
def test_silence(code: str) -> None:
    """An answer that begins by saying that the document is silent claims that; one about somebody's deeds doesn't."""
    assert {reply: classify_whether_silence_is_claimed(reply, code) for reply in SILENT[code]} == dict.fromkeys(
        SILENT[code], "yes"
    )
    assert {reply: classify_whether_silence_is_claimed(reply, code) for reply in SAYING[code]} == dict.fromkeys(
        SAYING[code], "no"
    )
    assert classify_whether_silence_is_claimed("Ich habe keinen Zugriff auf das Dokument.", "de") == "abstains"
    assert classify_whether_silence_is_claimed("Je n'ai pas accès à ce document.", "fr") == "abstains"


@pytest.mark.parametrize("code", ["de", "fr"])
def test_annotated_answers(code: str) -> None:
    """The shipped annotated answers are silent by the rules where they say so, and cite only their own sections."""
    document = load_document(f"brindlecart-{code}")
    found = find_annotation_file(find_workspace(), document)
    assert found
    for question, annotated in found.annotations.answers.items():
        assert assess_silence_claim(annotated.answer, None, language=code).claimed == (annotated.silent == "yes"), (
            question
        )
        cited = [
            one for one in find_and_resolve_citations(annotated.answer, document) if one.resolved.startswith("Section ")
        ]
        numbers = {one.resolved.split()[1] for one in cited}
        assert numbers <= set(annotated.sections), question


def test_what_is_suggested() -> None:
    """Citations and silence are scored by the rules of the document's language."""
    document = load_document("brindlecart-de")
    silent = AnnotatedAnswer(silent="yes", answer="Die Erklärung sagt dazu nichts.")
    found = collect_reply_evidence("Dazu enthält die Erklärung keine Angaben.", document, annotated=silent)
    assert (found.language, found.silence.alone, found.suggestion) == ("de", True, 1.0)
    answered = AnnotatedAnswer(silent="no", answer="90 Tage.", sections=("2.3",))
    cited = ("Abschnitt 2.3", "Ziffer 99")
    assert [collect_reply_evidence(f"90 Tage ({one}).", document, annotated=answered).suggestion for one in cited] == [
        1.0,
        -1.0,
    ]


def test_an_english_answer_about_a_german_document() -> None:
    """It is read by the rules of English; a German one with the English word for a section by those of German."""
    document = load_document("brindlecart-de")
    assert collect_reply_evidence("The policy does not mention it, as Section 2.3 shows.", document).language == "en"
    assert classify_whether_silence_is_claimed("The document does not say.", "de") == "yes"
    (found,) = find_and_resolve_citations("Chats werden 90 Tage lang aufbewahrt (Section 2.3).", document)
    assert found.resolved.startswith("Section 2.3 ")


def test_a_language_without_rules() -> None:
    """Of a document in another language only numbers in brackets and quotations are found."""
    text = "## 1.1 Een\n\nWij verkopen uw naam en uw adres aan niemand.\n\n## 1.2 Twee\n\nTekst.\n"
    document = Document("winkel", text, About(company="Winkel", language="nl"))
    found = collect_reply_evidence('Artikel 7: "Wij verkopen uw naam en uw adres" (1.1). Het staat er niet.', document)
    assert [one.resolved for one in found.references] == ["Section 1.1 Een"]
    assert [one.match for one in found.quotations] == ["exact"]
    assert (
        found.language,
        found.suggestion,
        classify_whether_silence_is_claimed("The document does not say.", "nl"),
    ) == (
        "",
        None,
        "",
    )


SYLLABLES = {
    "de": "Datenschutz 3 Verarbeitung 4 personenbezogen 6 Richtlinie 4 Familie 4 Kategorien 5 Kopie 2 Dateien 3 Museum "
    "3 beenden 3 beinhalten 4 Software 2 online 2 Website 2 E-Mail 2 individuell 5 europäisch 4 Vertrauen 3 Medien 3 "
    "Quelle 2 studieren 3 Aufsichtsbehörde 5 neue 2 Ideen 3 Geräte 3 2025 1",
    "fr": "données 2 confidentialité 6 traitement 3 utilisateur 5 adresse 2 réalité 4 créer 2 naïf 2 actuel 3 moyen 2 "
    "quatre 1 livreur 2 avaient 2",
}


@pytest.mark.parametrize("code", SYLLABLES)
def test_syllables(code: str) -> None:
    """Groups of vowels, with the neighbours that are spoken apart."""
    words = SYLLABLES[code].split()
    counted = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    formula = LANGUAGES[code].readability
    assert formula
    assert {word: formula.syllables(word) for word in counted} == counted
