"""The page of changes between two versions of a document: each section that changed, its words marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import genaipa
from genaipa.policies.reading import read_markdown
from genaipa.reports.page import load_template
from genaipa_watch.changes import UNCHANGED, mark_changed_words

if TYPE_CHECKING:
    from genaipa.policies.document import Document
    from genaipa.policies.sections import Section
    from genaipa_watch.changes import DocumentChanges
    from genaipa_watch.versions import CarriedAnswers

_WORDS = {"look": "to be checked again", "perhaps": "may now be answered"}


def render_changes_page_html(changes: DocumentChanges, carried: CarriedAnswers | None) -> str:
    """Return the page as HTML that needs nothing else; texts of the documents are escaped."""
    return load_template("changes.html.jinja", "genaipa_watch").render(
        title=f"{changes.before.name} → {changes.after.name}",
        version=genaipa.__version__,
        counts=changes.section_counts_by_state,
        answers=_list_outdated_answers(carried) if carried else [],
        holding=len(carried.list_question_ids_in_state("holds")) if carried else 0,
        sections=[
            {
                "state": change.state,
                "heading": change.heading_or_both_if_renamed,
                "pieces": mark_changed_words(
                    _read_section_body(changes.before, change.before), _read_section_body(changes.after, change.after)
                ),
            }
            for change in changes.changes_of_all_sections
            if change.state not in UNCHANGED
        ],
        moved=[
            change.heading_or_both_if_renamed for change in changes.changes_of_all_sections if change.state == "moved"
        ],
    )


def _read_section_body(document: Document, section: Section | None) -> str:
    """Return the text under a section's heading, which the page shows above it."""
    if section is None:
        return ""
    text = read_markdown(document.text).plain_text_of_source_span(section.start, section.end).strip()
    first, _, body = text.partition("\n")
    return body.strip() if section.title and section.title in first and body else text


def _list_outdated_answers(carried: CarriedAnswers) -> list[dict[str, Any]]:
    """Return the annotated answers that don't hold, with question, changed sections and the points that they touch."""
    return [
        {
            "question": answer.question,
            "asked": carried.question_set.question_text(answer.question, "original", carried.changes.after.company),
            "state": _WORDS[answer.state],
            "sections": list(dict.fromkeys(change.heading_or_both_if_renamed for change in answer.touched)),
            "points": [point.text for point in answer.answer.points if point.id in answer.points],
            "answer": answer.answer.answer,
        }
        for answer in carried.answers
        if answer.state != "holds"
    ]
