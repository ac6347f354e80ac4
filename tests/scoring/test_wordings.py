"""Answers in wordings that the rules were not written by: what is silent, what speaks, and what is cited."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from genaipa.policies.document import About, Document
from genaipa.scoring.evidence.abstention import classify_whether_silence_is_claimed
from genaipa.scoring.evidence.resolution import find_and_resolve_citations

WORDINGS = Path(__file__).parent / "wordings"
BELOW = {4: 3, 5: 2, 6: 2, 8: 2, 9: 2}
"""How many sections are below each of the twelve."""
TITLES = {
    "en": {
        "3": "Sharing",
        "6": "How long we keep data",
        "6.2": "Deletion",
        "8.2": "Transfers outside the EU",
        "11": "Children's privacy",
        "12": "Changes",
    },
    "de": {
        "3": "Weitergabe",
        "6": "Wie lange wir Daten speichern",
        "6.2": "Löschung",
        "8.2": "Übermittlung in Drittländer",
        "11": "Datenschutz bei Kindern",
        "12": "Änderungen",
    },
    "fr": {
        "3": "Partage",
        "6": "Combien de temps nous gardons les données",
        "6.2": "Suppression",
        "8.2": "Transferts hors de l'UE",
        "11": "Données des enfants",
        "12": "Modifications",
    },
}


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_silence_is_told_from_denials(language: str) -> None:
    """Many ways to say that the document does not say, and denials of deeds; those that are misread are listed."""
    wordings = yaml.safe_load((WORDINGS / f"{language}.yaml").read_text(encoding="utf-8"))
    missed = {text for text in wordings["silent"] if classify_whether_silence_is_claimed(text, language) == "no"}
    mistaken = {text for text in wordings["speaks"] if classify_whether_silence_is_claimed(text, language) != "no"}
    assert missed | mistaken == set(wordings["missed"])


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_sections_are_cited_in_many_forms(language: str) -> None:
    """Sections by word, number, ordinal and heading; no versions, durations, prices or articles of laws."""
    answers = yaml.safe_load((WORDINGS / "cite.yaml").read_text(encoding="utf-8"))[language]
    document = _document(language)
    cited = {answer: _numbers(answer, document) for answer, _ in answers}
    assert cited == {answer: set(numbers) for answer, numbers in answers}


def _document(language: str) -> Document:
    titles = TITLES[language]
    numbers = [
        number for top in range(1, 13) for number in (f"{top}", *(f"{top}.{n + 1}" for n in range(BELOW.get(top, 0))))
    ]
    text = "\n".join(
        f"{'###' if '.' in number else '##'} {number}{'' if '.' in number else '.'} "
        f"{titles.get(number) or f'Hedge {number}'}\n\nWords about it.\n"
        for number in numbers
    )
    return Document("hedge", f"# Hedge\n\n{text}", About(company="Hedge", language=language))


def _numbers(answer: str, document: Document) -> set[str]:
    """The numbers of the sections that an answer cites; of a range, all of the same depth."""
    headings = {match.start(): match[1] for match in re.finditer(r"^#+ (\d+(?:\.\d+)?)", document.text, re.MULTILINE)}
    numbers: set[str] = set()
    for reference in find_and_resolve_citations(answer, document):
        if reference.target and not reference.outside:
            start, end = reference.target
            first = headings[start]
            numbers |= {
                number
                for place, number in headings.items()
                if start <= place < end and number.count(".") == first.count(".")
            }
    return numbers
