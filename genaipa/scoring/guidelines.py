"""Guidelines for analysts: `guidelines.md` of the workspace, with borderline examples for each metric.

A heading of the second level (`## accuracy`) is a metric's id; the pad shows its section at that metric, and the whole
file on demand. Text before the first of them is for all metrics.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from genaipa.errors import DataError, clipped, nearest
from genaipa.files.strict_yaml import digest, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.scoring.rubric import Rubric
    from genaipa.workspace import Workspace

FILE = "guidelines.md"
_HEADING = re.compile(r"^## +(.*?)[ #]*$", re.MULTILINE)


@dataclass(frozen=True)
class Guidelines:
    """The file's `text`, and metric → its section, without the heading."""

    text: str
    sections: dict[str, str]

    @property
    def digest(self) -> str:
        """The SHA-256 of the text."""
        return digest(self.text)


def load_guidelines(workspace: Workspace, rubric: Rubric) -> Guidelines | None:
    """The workspace's guidelines, None without a file; a DataError if it can't be used with this rubric."""
    path = workspace.home / FILE
    if not path.is_file():
        return None
    text = read_text(path)
    found = [*_HEADING.finditer(text)]
    sections: dict[str, str] = {}
    for place, match in enumerate(found, 1):
        end = found[place].start() if place < len(found) else len(text)
        metric = match[1]
        if metric not in rubric.metrics:
            known = nearest(metric, rubric.metrics)
            raise DataError(path, f"'{clipped(metric)}' is no metric of the rubric{known}", f"## {clipped(metric)}")
        if metric in sections:
            raise DataError(path, "there are two sections of that heading; make one of them.", f"## {metric}")
        sections[metric] = text[match.end() : end].strip()
    return Guidelines(text.strip(), sections)


def guidelines_digest(workspace: Workspace) -> str:
    """The SHA-256 of the workspace's guidelines, empty where there are none."""
    path = workspace.home / FILE
    return digest(read_text(path).strip()) if path.is_file() else ""


def guideline_problems(workspace: Workspace, rubric: Rubric) -> Iterator[DataError]:
    """The first error in the workspace's guidelines, if there is one."""
    try:
        load_guidelines(workspace, rubric)
    except DataError as error:
        yield error


STARTER = """\
# Guidelines for scoring

At the desk the key g shows the section of the metric that one is at, and all of this on demand. Write down what you
agree on, best with an answer at the border and why it got its value. A heading with two signs is a metric's id.

Score what the answer says, by the document. What you know from elsewhere counts neither for it nor against it.

## relevance

Is it about what was asked, right or wrong?

- +0.5: asked how long data are kept, it tells what is collected, and mentions in passing that some of it is deleted.
- -1: asked how long data are kept, it tells how to write to the company.

## accuracy

Each thing that it says counts, also beside the question.

- +0.5: "Data are deleted after 30 days", where the document says so of backups alone.
- -1: it says that data are never sold, where the document names a case in which they are.
- An answer that leaves something out is not inaccurate: see completeness.

## clarity

Would somebody without legal training know what it means for them, having read it once?

- +0.5: it is right, but in the policy's own long sentences.
- -1: one can't tell whether the answer is yes or no.

## completeness

Hold it against the annotated answer: what would somebody miss who only read this?

- +0.5: of three purposes it names the two main ones.
- -1: it says that one can object, and not that this is only so in some countries.

## reference

Does what it cites hold what the answer rests on?

- +0.5: "as the section on cookies says", without its number or title where it has one.
- -1: section 4 is cited, and the answer is in section 7.
"""
