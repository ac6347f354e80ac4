"""Markdown as typography, by the desk's own script in Node.js: what looks like what, with every character in place."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from genaipa.ui.widgets import read_component_script_and_style

_RUN = """
const fs = require("fs");
const [script, call] = JSON.parse(fs.readFileSync(0, "utf8"));
const plain = script.replace(/export default[^]*$/, "");
const { typography, named } = new Function(plain + "\\nreturn { typography, named };")();
process.stdout.write(JSON.stringify(eval(call)));
"""


def run(call: str) -> Any:
    """The value of an expression with the desk's functions."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not here")
    given = json.dumps([read_component_script_and_style("case")[0], call])
    done = subprocess.run([node, "-e", _RUN], input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def visible(text: str) -> str:
    """What is seen of a text: without the signs that take no room."""
    at, seen = 0, ""
    for end, styles, _ in run(f"typography({json.dumps(text)}, [])"):
        seen += "" if "syntax" in styles else text[at:end]
        at = end
    assert at == len(text), "no character is lost"
    return seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("A `b` c.\n```\nx `y` **z**\n```\nend", "A b c.\nx `y` **z**\nend"),
        ("```python\n# no title\n```", "# no title\n"),
        ("~~~~\n```\n~~~~\n**b**", "```\nb"),
        ("before\n```\nnever closed | x", "before\nnever closed | x"),
        ("```a``` is inline", "```a``` is inline"),
    ],
)
def test_code_between_fences(text: str, seen: str) -> None:
    """The fences are not seen, and nothing between them is taken for Markdown."""
    assert visible(text) == seen


def test_a_mark_has_a_name() -> None:
    """Whoever hears the page is told what a mark stands for; a heading's has no name."""
    names = run(
        '["annotated cited", "reference good", "silence", "heading"].map((one) => named(one)["aria-label"] ?? null)'
    )
    assert names == ["annotated, cited", "citation", "says that it is silent", None]
