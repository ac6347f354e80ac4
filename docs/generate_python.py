"""Write docs/reference/python.md from the public names of genaipa: `python docs/generate_python.py`."""

from __future__ import annotations

import inspect
from pathlib import Path

import genaipa

PAGE = Path(__file__).parent / "reference" / "python.md"
HEAD = """# Python

Every public name of `import genaipa`. [From a notebook?](../guide/python.md) shows them at work.
"""


def summarize(name: str) -> str:
    """Return the row of a public name: a link to its entry, and the first line of its docstring."""
    return f"| [`{name}`](#genaipa.{name}) | {inspect.getdoc(getattr(genaipa, name)).partition(chr(10))[0]} |"


def whole_pages() -> dict[Path, str]:
    """Return path → text of the page as it should be, functions before classes."""
    names = sorted(genaipa.__all__, key=lambda name: (inspect.isclass(getattr(genaipa, name)), name))
    table = "\n".join(("| name | |", "|---|---|", *map(summarize, names), ""))
    return {PAGE: "\n".join((HEAD, table, *(f"::: genaipa.{name}\n" for name in names)))}


if __name__ == "__main__":
    for path, text in whole_pages().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path}")
