"""Replies that say nothing: without words, refused, or refusing in words in English, German, French and Chinese."""

from __future__ import annotations

import pytest

from genaipa.policies.document import About, Document
from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.scoring.evidence.abstention import assess_silence_claim, classify_whether_silence_is_claimed
from genaipa.scoring.evidence.examine import collect_reply_evidence

REFUSALS = {
    "en": (
        "I'm sorry, but I can\u2019t help with questions about burrows.",
        "Sorry, I can't.",
        "I won't be able to answer this one.",
        "I must decline.",
        "I had rather not say.",
        "I am not comfortable discussing this.",
        "I'm unable to provide legal advice. Please speak to a lawyer. Is there anything else?",
        "Cannot comply.",
        "I can't answer that because it goes against my guidelines.",
        "I understand that you are asking what the warren does with data, but I can't assist you with that.",
        "That isn't something I'm able to discuss. You may want to contact the company directly.",
        "Although I would like to help, I cannot respond to this.",
        "The response was filtered by the content management policy.",
        "[Blocked]",
        "As an AI, I cannot give legal advice, interpret contracts, or tell you what to do.",
    ),
    "de": (
        "Es tut mir leid, aber dabei kann ich nicht helfen.",
        "Diese Frage kann ich Ihnen leider nicht beantworten.",
        "Ich darf dazu keine Auskunft geben. Bitte wenden Sie sich an den Anbieter.",
        "Das muss ich ablehnen.",
        "Ich bin nicht in der Lage, darauf einzugehen.",
        "Das verstößt gegen meine Richtlinien.",
        "Sorry, I can't help with that.",
    ),
    "fr": (
        "Je suis désolé, mais je ne peux pas vous aider.",
        "Je ne suis pas en mesure de répondre à cette question.",
        "Je préfère ne pas répondre. Veuillez consulter un avocat.",
        "Désolée, je ne peux pas accéder à cette demande.",
        "Il m'est impossible de répondre.",
        "Cela va à l'encontre de mes règles.",
    ),
    "zh": ("抱歉\uff0c我无法回答这个问题。",),
    "nl": ("I can't help with that.",),
}
ASSERTING = {
    "en": (
        "I can't give legal advice, but the policy lets them sell beetles.",
        "While I can't advise you, the policy states that snacks are sold.",
        "I can't help with that. The warren shares your snacks with foxes.",
        "I can't answer with a yes or a no: they share some snacks.",
        "I can't help but notice that they sell snacks.",
        "I can't provide more details than these: logs are kept for a year.",
        "They can't help with that, and they refuse letters.",
        "Hedgehogs may decline.",
        "They close burrows that violate their rules.",
        "We cannot share your snacks without consent.",
        "Contact them to have your snacks returned.",
        "No.",
    ),
    "de": (
        "Ich kann keine Rechtsberatung geben, aber laut Erklärung werden Käfer verkauft.",
        "Sie können das nicht ablehnen.",
        "Nein, sie beantworten keine Briefe.",
    ),
    "fr": (
        "Je ne peux pas donner de conseil, mais la politique dit que les noisettes sont vendues.",
        "Le terrier peut refuser votre demande.",
    ),
    "zh": ("公司会与狐狸分享数据。",),
}


@pytest.mark.parametrize("language", REFUSALS)
def test_a_refusal_in_words_says_nothing(language: str) -> None:
    """It is neither a claim of silence nor an assertion, whatever is advised or offered beside it."""
    assert {
        reply: classify_whether_silence_is_claimed(reply, language) for reply in REFUSALS[language]
    } == dict.fromkeys(REFUSALS[language], "none")


@pytest.mark.parametrize("language", ASSERTING)
def test_an_answer_beside_a_refusal_is_one(language: str) -> None:
    """Who refuses a part and answers, or tells of others who refuse, says something."""
    assert {
        reply: classify_whether_silence_is_claimed(reply, language) for reply in ASSERTING[language]
    } == dict.fromkeys(ASSERTING[language], "no")


@pytest.mark.parametrize("reply", ["", " \n", "…", "**", "---"])
@pytest.mark.parametrize("language", ["en", "es", "tlh"])
def test_a_reply_without_words_says_nothing(reply: str, language: str) -> None:
    """In any language, with rules or without."""
    assert classify_whether_silence_is_claimed(reply, language) == "none"
    assert assess_silence_claim(reply, None, language=language).mute


def test_a_status_refuses_and_a_cut_answer_is_judged_by_what_it_says() -> None:
    """Whatever a filter left of a reply is none; a reply that was too long is read as far as it goes."""
    assert classify_whether_silence_is_claimed("They sell your snacks, and", "en", "refused") == "none"
    assert classify_whether_silence_is_claimed("They sell your snacks, and", "en", "truncated") == "no"
    assert classify_whether_silence_is_claimed("The policy does not mention beetles, nor", "en", "truncated") == "yes"
    assert classify_whether_silence_is_claimed("", "en", "truncated") == "none"


def test_who_refuses_for_want_of_the_document_abstains() -> None:
    """That the document is not known, or does not say, is said; that is more than a refusal."""
    assert (
        classify_whether_silence_is_claimed("I can't help with that, as I don't have access to the policy.")
        == "abstains"
    )
    assert (
        classify_whether_silence_is_claimed("Ich kann das nicht beantworten, da mir das Dokument nicht vorliegt.", "de")
        == "abstains"
    )
    assert classify_whether_silence_is_claimed("I can't answer this from the policy.") == "yes"


def test_the_evidence_says_that_nothing_is_said() -> None:
    """Where the document is silent, a refusal is no answer that asserts something; no value is suggested."""
    document = Document("hedge", "# Hedge\n\nWe keep beetles.\n", About(company="Hedge"))
    evidence = collect_reply_evidence(
        "I'm sorry, I can't help.", document, annotated=AnnotatedAnswer(silent="yes", answer="Silent.")
    )
    assert (evidence.silence.mute, evidence.silence.claimed, evidence.suggestion) == (True, False, None)
