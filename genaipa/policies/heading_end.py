"""The place where the heading of a section ends in the text, whose words it has with their markup and number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from genaipa.policies.numbering import iterate_leading_number_readings

if TYPE_CHECKING:
    from genaipa.policies.sections import Section

_LONG_LINE = 200
"""Characters that the line of a heading without markup never has."""
_WORD = re.compile(r"[^\W_]+")


def find_heading_end(text: str, section: Section) -> int:
    """Return the place in the text where a section's heading ends: behind its title as it is written there.

    Behind the number where there is no title, and with its line where nothing else is on it.
    """
    line = text[section.start : section.end].partition("\n")[0]
    line_end = section.start + len(line)
    if re.match(r" {0,3}#{1,6}\s", line):
        return line_end
    beginning = line[:_LONG_LINE].rstrip()
    reading = next(iterate_leading_number_readings(beginning), None)
    end = section.start
    if reading is not None and beginning.endswith(reading.rest):
        end += len(beginning) - len(reading.rest)
    elif not section.title:
        end += len(line.partition(" ")[0])
    window_end = min(section.end, end + 2 * len(section.title) + _LONG_LINE)  # markup in a title takes room
    for word in _WORD.findall(section.title):
        match = re.compile(rf"(?<![^\W_]){re.escape(word)}(?![^\W_])").search(text, end, window_end)
        if match is None:
            return line_end if len(line) < _LONG_LINE else end
        end = match.end()
    return end if _WORD.search(text, end, line_end) else max(end, line_end)
