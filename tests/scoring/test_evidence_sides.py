"""The side that an answer takes on its question: yes, no, silent, not known, nothing, or none that can be told."""

from __future__ import annotations

from genaipa.scoring.evidence.sides import find_answer_side

SOLD = "Are honey orders sold to brokers?"
CASES = {
    ("Yes, they are.", SOLD): "yes",
    ("**No.** Orders stay with us.", SOLD): "no",
    ("Absolutely! It sells them.", SOLD): "yes",
    ("Source: Section 4\nNo, it keeps them.", SOLD): "no",
    ("According to Section 4, yes: brokers get them.", SOLD): "yes",
    ("The short answer is no.", SOLD): "no",
    ("It never sells honey orders to anybody.", SOLD): "no",
    ("Brokers are not among those to whom orders are sold.", SOLD): "no",
    ("Honey orders are sold to brokers.", SOLD): "yes",
    ("Some honey orders are sold to brokers.", SOLD): "open",
    ("It keeps orders until they are no longer sold.", SOLD): "open",
    ("There is a shop.", SOLD): "open",
    ('"Honey is never sold to brokers." (Section 4)', SOLD): "open",
    ("No beetles live here.", SOLD): "open",
    ("It does not sell honey at night.", "How is honey sold at night?"): "open",
    ("Yes, by post.", "How is honey sold?"): "yes",
    ("The policy does not say whether orders are sold.", SOLD): "silent",
    ("I have no access to this policy.", SOLD): "unknown",
    ("", SOLD): "nothing",
    ("I'm sorry, but I can't help with that.", SOLD): "nothing",
}
GERMAN = "Werden Bestellungen an Händler verkauft?"
FRENCH = "Les commandes sont-elles vendues à des courtiers ?"
ABROAD = {
    ("de", "Nein, das geschieht nicht.", GERMAN): "no",
    ("de", "Laut Abschnitt 4: Ja.", GERMAN): "yes",
    ("de", "Bestellungen werden niemals an Händler verkauft.", GERMAN): "no",
    ("de", "Bestellungen werden nicht verkauft.", "Wie werden Bestellungen verkauft?"): "open",
    ("de", "Die Datenschutzerklärung sagt dazu nichts.", GERMAN): "silent",
    ("fr", "Oui, elles le sont.", FRENCH): "yes",
    ("fr", "Selon la section 4, non.", FRENCH): "no",
    ("fr", "Les commandes ne sont jamais vendues à des courtiers.", FRENCH): "no",
    ("fr", "Les commandes ne sont pas vendues.", "Comment les commandes sont-elles vendues ?"): "open",
    ("fr", "La politique ne précise pas ce point.", FRENCH): "silent",
    ("pt", "Sim, claro.", "São vendidos?"): "open",
}


def test_sides_in_english() -> None:
    """A word at the beginning decides, also behind a source; else what a first sentence repeats or denies."""
    for (reply, asked), side in CASES.items():
        assert find_answer_side(reply, asked) == side, reply


def test_sides_in_other_languages() -> None:
    """German and French have rules of their own; a language without rules has no sides."""
    for (language, reply, asked), side in ABROAD.items():
        assert find_answer_side(reply, asked, language) == side, reply


def test_a_refusal_says_nothing() -> None:
    """An answer that its server refused takes no side, whatever it begins by."""
    assert find_answer_side("Yes, but", SOLD, status="refused") == "nothing"
