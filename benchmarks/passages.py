"""The seconds in which retrieved passages are placed in their document.

    python -m benchmarks.passages [--passages 10000]

The passages are chunks of 2,000 characters: word for word, wrapped anew, with one word in twenty replaced, and of
another document; each kind fills a row, and the last row has a quarter of each.
"""

from __future__ import annotations

import argparse
import random
import textwrap
import time
from collections.abc import Callable

from benchmarks.__main__ import print_table
from genaipa.policies.document import load_document
from genaipa.scoring.evidence.passages import PassageFinder
from genaipa.workspace import find_workspace

CHARACTERS = 2000


def changed(chunk: str, draw: random.Random) -> str:
    """The chunk with one word in twenty replaced."""
    return " ".join(word if draw.random() > 1 / 20 else "hedgehog" for word in chunk.split())


def main() -> None:
    """Place as many passages of each kind, and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", type=int, default=10_000)
    number = parser.parse_args().passages
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


if __name__ == "__main__":
    main()
