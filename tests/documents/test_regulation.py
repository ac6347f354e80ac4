"""Regulations in other languages, in the layout of the Official Journal: their articles, and questions about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from genaipa.policies.sections import find_sections

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

ROMAN = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI")
FINES = 83
LAYOUTS = {
    "de": (
        ("KAPITEL", "Abschnitt", "Artikel", "Artikel 1"),
        ("Fischerei in Teichen", "Pflichten der Angler", "Meldung von Fängen"),
        "(1) Wer nach Artikel 6 Absatz 1 in einem Teich angelt, meldet die Fänge der Behörde.",
        "(2) Die Behörde kann nach Artikel 9 von der Meldung befreien.",
        "(3) Wer nicht meldet, zahlt ein Bußgeld von fünf Euro.",
    ),
    "fr": (
        ("CHAPITRE", "Section", "Article", "Article premier"),
        ("Pêche dans les étangs", "Devoirs des pêcheurs", "Déclaration des prises"),
        "1. Celui qui pêche dans un étang selon l'article 6, paragraphe 1, déclare ses prises à l'autorité.",
        "2. L'autorité peut, selon l'article 9, dispenser de la déclaration.",
        "3. Les amendes prévues pour celui qui ne déclare pas sont de cinq euros.",
    ),
    "es": (
        ("CAPÍTULO", "Sección", "Artículo", "Artículo 1"),
        ("Pesca en estanques", "Deberes de los pescadores", "Declaración de capturas"),
        "1. Quien pesque en un estanque según el artículo 6, apartado 1, declarará sus capturas a la autoridad.",
        "2. La autoridad podrá, según el artículo 9, dispensar de la declaración.",
        "3. Quien no declare pagará una multa de cinco euros.",
    ),
    "it": (
        ("CAPO", "Sezione", "Articolo", "Articolo 1"),
        ("Pesca negli stagni", "Doveri dei pescatori", "Dichiarazione delle catture"),
        "1. Chi pesca in uno stagno secondo l'articolo 6, paragrafo 1, dichiara le catture all'autorità.",
        "2. L'autorità può, secondo l'articolo 9, dispensare dalla dichiarazione.",
        "3. Chi non dichiara paga una multa di cinque euro.",
    ),
}


def regulation(code: str) -> list[str]:
    """A made-up regulation of 99 articles in eleven chapters, line by line; the 83rd has the fines."""
    (chapter, section, article, first), (of, of_section, title), *body, fine = LAYOUTS[code]
    lines: list[str] = []
    for number in range(1, 100):
        place, within = divmod(number - 1, 9)
        if not within:
            lines += [f"{chapter} {ROMAN[place]}", of]
        if place == 2 and within in (0, 4):
            lines += [f"{section} {1 + within // 4}", of_section]
        lines += [first if number == 1 else f"{article} {number}", title, *body]
        lines += [fine] * (number == FINES)
    return lines


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize("code", LAYOUTS)
def test_all_articles_are_found(code: str, between: str) -> None:
    """Of a regulation of 99 articles in eleven chapters, with titles on lines of their own, each is a section."""
    found = [section.number for section in find_sections(between.join(regulation(code)))]
    assert [number for number in found if number.startswith("Article")] == [f"Article {n}" for n in range(1, 100)]
    assert [number for number in found if number.startswith("Chapter")] == [f"Chapter {n}" for n in ROMAN]


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("de", "Welche Bußgelder gibt es nach TEICH?"),
        pytest.param("fr", "Quelles sont les amendes prévues", marks=pytest.mark.full),
    ],
)
def test_its_questions_are_asked_and_reported(genaipa: Callable[..., Finished], code: str, asked: str) -> None:
    """Added from a page, it is asked the six questions in its language, answered by its words, and reported."""
    assert genaipa("init", ".").code == 0
    page = "".join(f"<p>{line}</p>" for line in regulation(code))
    Path("law.html").write_text(f'<!doctype html><html lang="{code}"><body><main>{page}</main></body></html>')
    added = genaipa("policies", "add", "law.html", "--name", "law", "--company", "TEICH", "--kind", "regulation")
    assert added.code == 0, added.err
    done = genaipa("run", "--system", "extractive", "--policy", "law", "--initialization", "document")
    assert done.code == 0, done.err
    assert f"with the questions regulation-{code} and the prompts neutral-{code}" in done.err
    (log,) = Path("runs").glob("*/answers.jsonl")
    records = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(records) == 6
    (fines,) = (record for record in records if record["asked"].startswith(asked))
    assert f"(Article {FINES})" in fines["reply"]
    reported = genaipa("report", "latest", "-o", "out")
    assert "6 of 6 answers received, none scored" in reported.out, reported.err
