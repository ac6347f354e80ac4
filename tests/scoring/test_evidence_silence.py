"""An answer says that the document is silent in many ways, and much that is denied is none of them."""

from __future__ import annotations

import pytest

from genaipa.questions.annotations import AnnotatedAnswer
from genaipa.scoring.evidence.abstention import assess_silence_claim, classify_whether_silence_is_claimed


@pytest.mark.parametrize(
    ("reply", "phrase"),
    [
        ("The policy does not mention beetles.", "does not mention"),
        ("The policy doesn\u2019t explicitly state how long.", "doesn\u2019t explicitly state"),
        (
            "The provided parts do not contain any specific information about foxes.",
            "do not contain any specific information",
        ),
        ("This document does not directly address fines.", "document does not directly address"),
        ("It is not stated whether burrows are searched.", "is not stated"),
        ("That isn't explicitly detailed (Part 2).", "isn't explicitly detailed"),
        ("(Not addressed in the provided text)", "Not addressed"),
        ("While not explicitly stated, this is likely.", "While not explicitly stated"),
        ("Security breaches are not covered in this policy.", "are not covered"),
        ("There is no mention of audits.", "no mention"),
        ("What becomes of users is not detailed in the sections.", "is not detailed"),
        ("There aren't any clear limits on beetles outlined here.", "n't any clear limits on beetles outlined"),
        ("No specific information about training is given.", "No specific information about"),
        ("There are no clear measures outlined for this.", "no clear measures outlined"),
        ("No relevant section in the text.", "No relevant section"),
        ("Reference: None provided in the text.", "None provided in the text"),
        ("The notice is silent on retention.", "silent on"),
        ("The policy lacks specific details on this.", "lacks specific details"),
        ("The text fails to specify a period.", "fails to specify"),
        ("It's not clear whether they do.", "not clear whether"),
        ("I could not find anything on this in the policy.", "could not find anything on this in the policy"),
        ("There is not enough information.", "There is not enough information"),
        ("It names rights, nor does it describe duties.", "nor does it describe"),
        ("However, it does not address this.", "it does not address"),
        ("The sections that you gave me do not disclose this.", "sections that you gave me do not disclose"),
        ("It does not mention your right to delete it.", "does not mention"),
        ("It does not mention sharing data with third parties.", "does not mention"),
        ("Sharing data with advertisers is not mentioned in the text.", "is not mentioned"),
        ("There is no information about your rights.", "no information about"),
        ("It does not provide information about your rights.", "does not provide information"),
        ("The policy does not touch on foxes.", "does not touch on"),
    ],
)
def test_claims(reply: str, phrase: str) -> None:
    """Each of these says that the document does not say."""
    found = assess_silence_claim(reply, None)
    assert found.claimed
    start, end = found.phrases[0]
    assert reply[start:end].strip(" (") == phrase


@pytest.mark.parametrize(
    "reply",
    [
        "The policy says that it does not share your data with anybody.",
        "No, it does not sell snacks.",
        "They don't share information that identifies you.",
        "We do not provide your information to foxes.",
        "Data is kept until it is no longer needed to provide the burrow.",
        "It won't be used for a purpose that is not described in the policy.",
        "If the policy does not mention it, ask them.",
        "If you do not specify a burrow, one is given to you.",
        "The policy is not silent on this.",
        "As of my last update, I don't have specific information about beetles.",
        "No information about you is shared.",
        "It does not disclose your address.",
        "It does not list your burrow, and we do not list your name.",
        "It does not answer letters.",
        "In this policy we do not list your name.",
        "The policy says that it does not disclose your address.",
        "The notice promises that they do not list your snacks.",
        "They don't mention your name to advertisers.",
        "They do not discuss your account with third parties.",
        "Your name is not mentioned to advertisers, and it isn't described to other users.",
        "Your burrow is not included in the information shared with partners.",
        "It does not disclose information about you to advertisers.",
        "No details about your account are shared with anyone.",
        "They do not touch your snacks.",
        "They cannot tell from this information who you are.",
        "Not all sections are long, and it cannot be undone without your consent.",
        "No further details are given in the policy.",
        "Snacks are kept in jars; no additional information is provided on which.",
        "The policy does not elaborate on beetles.",
        "The policy does not mention any other foxes.",
        "What becomes of users is not described in detail.",
        "",
    ],
)
def test_what_claims_nothing(reply: str) -> None:
    """What the company doesn't do, conditions, caveats about more and other denials are no claim of silence."""
    assert not assess_silence_claim(reply, None).claimed


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I know nothing of this document, since I was given none of it.", "abstains"),
        ("I'm sorry, but I don\u2019t have access to Hedgehog's policy.", "abstains"),
        ("As of my last update, I don't have specific information about beetles.", "abstains"),
        ("As an AI language model, I cannot open websites. Please paste the text.", "abstains"),
        ("Unfortunately I have no reliable knowledge of it.", "abstains"),
        ("I do not know what the burrow's policy says.", "abstains"),
        ("I am not familiar with this notice.", "abstains"),
        ("I haven't been given the policy.", "abstains"),
        ("No document was provided, so there is nothing to go by.", "abstains"),
        ("My training data does not include this policy.", "abstains"),
        ("I couldn't find any information about fines in my search results.", "abstains"),
        ("The search results do not mention beetles.", "abstains"),
        ("I couldn't find how long beetles are kept in my search results.", "abstains"),
        ("I was unable to find that in the web search results.", "abstains"),
        ("I searched for it, but found no policy of this burrow.", "abstains"),
        ("My search results don't answer this.", "abstains"),
        ("I couldn't find a ban in my search results, but they sell your snacks.", "no"),
        ("You can't find beetles in the search results, since they hide them.", "no"),
        ("Going by my search results, they keep beetles for a year.", "no"),
        ("I could not find anything on this in the policy.", "yes"),
        ("The policy does not mention beetles.", "yes"),
        ("I don't have access to the policy. However, it keeps beetles for a year.", "no"),
        ("I don't know the details, but they sell your snacks.", "no"),
        ("Yes, and I don't know of any exception.", "no"),
        ("They sell your snacks. I don't know for how long.", "no"),
        ("We don't have access to your burrow.", "no"),
        ("I have no doubt that they do.", "no"),
        ("You cannot access the burrow's records.", "no"),
    ],
)
def test_who_knows_nothing_of_the_document_abstains(reply: str, said: str) -> None:
    """That the assistant does not know the document is no claim of silence, and asserts nothing unless it goes on."""
    assert classify_whether_silence_is_claimed(reply) == said


def test_what_the_document_itself_says() -> None:
    """A phrase within words that are quoted from the document is the document's."""
    reply = 'It says: "this policy does not mention your neighbours".'
    assert assess_silence_claim(reply, None).claimed
    assert not assess_silence_claim(reply, None, [(10, 55)]).claimed


@pytest.mark.parametrize(
    ("reply", "claimed", "alone"),
    [
        ("The policy does not mention it.", True, True),
        ("The policy does not mention it. Nor does it describe anything else. Not stated!", True, True),
        ("The policy does not mention it. No further details are given.", True, True),
        ("The policy gives no further details, and does not mention foxes.", True, True),
        ("The policy does not mention it. However, it names beetles and two kinds of foxes.", True, False),
        ("I'm sorry, but the policy does not mention it.", True, True),
        ("While it speaks of beetles, the policy does not mention foxes.", True, False),
        ("While the policy does not mention foxes, it speaks of beetles.", False, False),
        ("Beetles are kept as long as they are needed. The policy does not state any periods.", False, False),
        ("It names beetles, but does not mention foxes.", False, False),
        ("Yes, though the policy does not mention foxes.", False, False),
        ("Reference from Part 1: they collect beetles. The policy does not mention foxes.", False, False),
        ("Reference: Part 1. The policy does not mention foxes. Reference: none of them", True, True),
        ("The policy does not state that they sell snacks.", True, False),
    ],
)
def test_an_answer_that_adds_what_is_left_open_claims_nothing(reply: str, claimed: bool, alone: bool) -> None:
    """A claim is what an answer begins with; it is held against the annotated answer only if nothing else is said."""
    found = assess_silence_claim(reply, None)
    assert (found.claimed, found.alone) == (claimed, alone)
    assert found.phrases


def test_an_annotated_answer_that_leaves_something_open() -> None:
    """One that says so in words, or N/A, without being marked silent, or is marked partly silent, settles nothing."""
    partly = AnnotatedAnswer(silent="partly", answer="It names one of the two.")
    assert assess_silence_claim("It isn't stated.", partly).annotated is None
    for answer in ("The policy does not mention training.", "Yes. Reference: N/A"):
        assert assess_silence_claim("It isn't stated.", AnnotatedAnswer(silent="no", answer=answer)).annotated is None


def test_beside_the_annotation() -> None:
    """What the annotated answer says stands beside the claim; nothing where there is none."""
    assert assess_silence_claim("Yes.", None).annotated is None
    assert assess_silence_claim("Yes.", AnnotatedAnswer(silent="yes", answer="It doesn't say.")).annotated is True
    assert assess_silence_claim("Yes.", AnnotatedAnswer(silent="no", answer="It does.")).annotated is False


@pytest.mark.full
def test_long_replies_end() -> None:
    """Two hundred thousand characters of denials come to an end."""
    for reply in ("does not " * 22_000, "no explicit " * 16_000, "not explicitly " * 13_000, "policy a b c " * 15_000):
        assess_silence_claim(reply, None)
        classify_whether_silence_is_claimed("I don't have access " + reply)


SILENT = "The notice does not say how long beetles are stored."
CLEAR = "The notice says that beetles are stored for a year."


@pytest.mark.parametrize(
    "before", ["", "# Storage\n\n", "Sources: section 2, which is silent.\n", "Are beetles stored? ", "\n\n"]
)
@pytest.mark.parametrize("replies", [(SILENT,), (CLEAR,), (SILENT, CLEAR), (CLEAR, SILENT), (SILENT, CLEAR, SILENT)])
def test_a_stance_is_taken_in_the_first_assertion(before: str, replies: tuple[str, ...]) -> None:
    """Whatever is behind it, and whatever heading, source or question is before it."""
    reply = before + " ".join(replies)
    assert (
        (classify_whether_silence_is_claimed(reply) == "yes")
        == (replies[0] == SILENT)
        == assess_silence_claim(reply, None).claimed
    )
    curly = reply.replace("does not", "doesn\u2019t")
    assert (
        classify_whether_silence_is_claimed(curly)
        == classify_whether_silence_is_claimed(curly.upper())
        == classify_whether_silence_is_claimed(reply)
    )
