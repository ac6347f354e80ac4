"""The page of changes between two versions of a document: each section that changed, its words marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import genaipa
from genaipa.policies.reading import read
from genaipa.reports.page import load_template
from genaipa_watch.changes import HELD, mark_words

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa.policies.sections import Section
    from genaipa_watch.changes import Changes
    from genaipa_watch.versions import CarriedAnswers

_WORDS = {"look": "to look at again", "perhaps": "perhaps answered now"}


def page(changes: Changes, carried: CarriedAnswers | None) -> str:
    """Return the page as HTML that needs nothing else; texts of the documents are escaped."""
    return load_template("changes.html.jinja", "genaipa_watch").render(
        title=f"{changes.before.name} → {changes.after.name}",
        version=genaipa.__version__,
        counts=changes.counts,
        answers=_answers(carried) if carried else [],
        holding=len(carried.questions_in("holds")) if carried else 0,
        sections=[
            {
                "state": one.state,
                "heading": one.heading,
                "pieces": mark_words(_text(changes.before, one.before), _text(changes.after, one.after)),
            }
            for one in changes.sections
            if one.state not in HELD
        ],
        moved=[one.heading for one in changes.sections if one.state == "moved"],
    )


def _text(document: Document, section: Section | None) -> str:
    """Return the text under a section's heading, which the page shows above it."""
    if section is None:
        return ""
    text = read(document.text).read_span(section.start, section.end).strip()
    first, _, rest = text.partition("\n")
    return rest.strip() if section.title and section.title in first and rest else text


def _answers(carried: CarriedAnswers) -> list[dict[str, Any]]:
    """Return the annotated answers that don't hold, with question, changed sections and the points that they touch."""
    return [
        {
            "question": one.question,
            "asked": carried.asked.question_text(one.question, "original", carried.changes.after.company),
            "state": _WORDS[one.state],
            "sections": list(dict.fromkeys(change.heading for change in one.touched)),
            "points": [point.text for point in one.answer.points if point.id in one.points],
            "answer": one.answer.answer,
        }
        for one in carried.answers
        if one.state != "holds"
    ]
