"""The seconds in which retrieved passages are placed in their document, and how often the intervals hold the truth.

    python -m benchmarks.passages [--passages 10000] [--draws 500]

The passages are chunks of 2,000 characters: word for word, wrapped anew, with one word in twenty replaced, and of
another document; each kind fills a row, and the last row has a quarter of each. Below is a retriever that misses the
right section of `brindlecart` in three of ten questions, by chance: in how many draws the interval of a report holds
the seven in ten.
"""

from __future__ import annotations

import argparse
import random
import textwrap
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.__main__ import print_table
from benchmarks.made_study import make_study
from genaipa.policies.document import load_document
from genaipa.questions.annotations import find_annotation_file
from genaipa.scoring.evidence.examine import locate_annotated_sections
from genaipa.scoring.evidence.passages import OtherDocuments, PassageFinder
from genaipa.scoring.rubric import shipped_rubric
from genaipa.systems.base import Passage
from genaipa.workspace import find_workspace
from genaipa_retrieval.chapter import tabulate_shown_right_sections
from genaipa_retrieval.counts import RightSections, count_passages_and_right_sections
from genaipa_retrieval.fact import Passages

CHARACTERS = 2000
MISSES = 0.3
"""Share of the questions of which the scripted retriever shows other sections only."""


def changed(chunk: str, draw: random.Random) -> str:
    """Return the chunk with one word in twenty replaced."""
    return " ".join(word if draw.random() > 1 / 20 else "hedgehog" for word in chunk.split())


def held(draws: int) -> pd.DataFrame:
    """One row for each draw of the retriever: the measured share, its interval, and whether that `holds` the truth."""
    workspace, draw = find_workspace(), random.Random(1)
    document = load_document("brindlecart", workspace)
    known = find_annotation_file(workspace, document)
    assert known is not None
    finder, none = PassageFinder(document.text), OtherDocuments({})
    chunks = [document.text[start : start + CHARACTERS] for start in range(0, len(document.text), CHARACTERS)]
    rows = []
    for question, answer in known.annotations.answers.items():
        spans = [span for _, span in locate_annotated_sections(answer, document, "") if span]
        right = RightSections(document, spans)
        others = [
            chunk
            for chunk in map(Passage, chunks)
            if not count_passages_and_right_sections([chunk], finder, right, none).sections_shown
        ]
        wrong, found = others[:3], [*others[:2], *(Passage(document.text[slice(*span)]) for span in spans)]
        both = [count_passages_and_right_sections(passages, finder, right, none) for passages in (found, wrong)]
        for number in range(draws if spans else 0):
            counts = both[draw.random() < MISSES]
            rows.append(
                {"unit": "answer", "run": "r", "key": f"{number}|{question}", "system": f"s{number:04}"}
                | {"experiment": "quality", "document": "brindlecart", "question": question, "status": "answered"}
                | {name: float(getattr(counts, name)) for name in Passages.columns}
            )
    rubric = shipped_rubric()
    data = tabulate_shown_right_sections(make_study(rows, {}, rubric)).data
    return data.assign(holds=np.logical_and(data["low"] <= 1 - MISSES, data["high"] >= 1 - MISSES))


def main() -> None:
    """Place as many passages of each kind, and print the seconds; then the share of draws that hold the truth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--draws", type=int, default=500)
    given = parser.parse_args()
    number = given.passages
    workspace, draw = find_workspace(), random.Random(1)
    own, other = (load_document(name, workspace).text for name in ("brindlecart", "vpda"))

    def chunk(text: str) -> str:
        start = draw.randrange(len(text) - CHARACTERS)
        return text[start : start + CHARACTERS]

    kinds: dict[str, Callable[[], str]] = {
        "word for word": lambda: chunk(own),
        "wrapped anew": lambda: textwrap.fill(" ".join(chunk(own).split()), 60),
        "one word in twenty replaced": lambda: changed(chunk(own), draw),
        "of another document": lambda: chunk(other),
    }
    mixed = list(kinds.values())
    rows = []
    for name, made in {**{name: [one] for name, one in kinds.items()}, "a quarter of each": mixed}.items():
        passages = [draw.choice(made)() for _ in range(number)]
        begun = time.perf_counter()
        finder = PassageFinder(own)
        placed = sum(finder.place(passage).span is not None for passage in passages)
        seconds = time.perf_counter() - begun
        rows.append((name, f"{number:,}", f"{placed / number:.1%}", f"{seconds:.1f}"))
    print_table(("passages of 2,000 characters", "placed", "in the document", "seconds"), rows)
    found = held(given.draws)
    row = (f"{given.draws:,}", f"{found['n'].iloc[0]}", f"{found['mean'].mean():.1%}", f"{found['holds'].mean():.1%}")
    print_table(("draws", "questions", "measured on average (truth 70 %)", "intervals that hold it"), [row])


if __name__ == "__main__":
    main()
