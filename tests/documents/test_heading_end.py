"""Where a heading ends in the text: behind its title as it is written there."""

from __future__ import annotations

import pytest

from genaipa.policies.heading_end import find_heading_end
from genaipa.policies.sections import find_sections

BODY = "We keep your letters for 90 days, and after that nobody can read them any more. " * 4
ONE_LINE = f"Inkwell I. Keeping {BODY}II. Writing {BODY}III. Leaving {BODY}"


def headings(text: str) -> list[str]:
    """The headings of a text as they are written in it."""
    return [text[section.start : find_heading_end(text, section)] for section in find_sections(text)]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (ONE_LINE, ["I. Keeping", "II. Writing", "III. Leaving"]),
        (
            ONE_LINE.replace("Keeping ", "Keeping  and\u00a0Storing "),
            ["I. Keeping  and\u00a0Storing", "II. Writing", "III. Leaving"],
        ),
        (f"# Inkwell\n\n## 1. *Keeping*\n\n{BODY}", ["# Inkwell", "## 1. *Keeping*"]),
        (f"# Inkwell\n\n## [Keeping](/{'k' * 300})\n\n{BODY}", ["# Inkwell", f"## [Keeping](/{'k' * 300})"]),
        (f"Inkwell\n\n**1. Keeping**\n\n{BODY}\n\n**2. Writing**:\n\n{BODY}", ["**1. Keeping**", "**2. Writing**:"]),
        (f"Article 1\nKeeping\n\n{BODY}\n\nArticle 2\nWriting\n\n{BODY}", ["Article 1\nKeeping", "Article 2\nWriting"]),
    ],
)
def test_a_heading_ends_with_its_title(text: str, written: list[str]) -> None:
    """In a text with and without lines, with markup, in a long line, and with a title on the next one."""
    assert headings(text)[-len(written) :] == written
