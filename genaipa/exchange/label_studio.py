"""Label Studio: `config.xml`, a project's labels by the rubric, and `tasks.json`, a task for each answer.

A score is an annotation; it carries its event along in the `meta` of its first result, which Label Studio keeps, so
that one that nobody changed comes back as what it was. Who is behind an annotation is not written as `completed_by`:
Label Studio takes no tasks of people whom it doesn't know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import msgspec

from genaipa.exchange.outgoing import Written
from genaipa.scoring.rubric import shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.exchange.outgoing import Outgoing, OutgoingAnswer, OutgoingRun
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric

CONFIG, TASKS = "config.xml", "tasks.json"
_SHOWN = {"question": "Question", "reply": "Answer", "annotated": "Annotated answer", "text": "Document"}
"""Field of a task's data → its heading."""
_TO = "reply"
_NOTE = "note"
_OPEN = (
    "Label Studio does not hide who answered or what others gave: scores from there count as given with both in sight."
)


def write(outgoing: Outgoing, folder: Path) -> Written:
    """Write the labels and the tasks: each answer once, without any that an audit leaves out of analyses."""
    (folder / CONFIG).write_text(config(outgoing.rubric), encoding="utf-8")
    answers = scores = 0
    with (folder / TASKS).open("wb") as file:
        for task in _tasks(outgoing):
            file.write((b",\n" if answers else b"[\n") + msgspec.json.encode(task))
            answers, scores = answers + 1, scores + len(task["annotations"]) + len(task["predictions"])
        file.write(b"\n]\n" if answers else b"[]\n")
    return Written(2, answers, scores, _OPEN)


def config(rubric: Rubric) -> str:
    """A project's labels: for each metric one choice among the words of its values, and a note."""
    lines = [
        f"  <Header value={quoteattr(heading)}/>\n  <Text name={quoteattr(name)} value={quoteattr(f'${name}')}/>"
        for name, heading in _SHOWN.items()
    ]
    for metric, about in rubric.metrics.items():
        lines.append(f"  <Header value={quoteattr(about.question or rubric.names[metric])}/>")
        lines.append(f'  <Choices name={quoteattr(metric)} toName="{_TO}" choice="single-radio" required="true">')
        lines += [f"    <Choice value={quoteattr(choice(rubric, metric, value))}/>" for value in rubric.values]
        lines.append("  </Choices>")
    lines.append(f'  <TextArea name="{_NOTE}" toName="{_TO}" placeholder="Note"/>')
    return "\n".join(["<View>", *lines, "</View>", ""])


def choice(rubric: Rubric, metric: str, value: float) -> str:
    """The label of a value: `+1 relevant`."""
    return f"{shown(value)} {rubric.words(metric, value)}"


def _tasks(outgoing: Outgoing) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for run in outgoing.runs:
        for answer in run.answers():
            if answer.record.digest not in seen and not answer.excluded:
                seen.add(answer.record.digest)
                yield _task(outgoing.rubric, run, answer)


def _task(rubric: Rubric, run: OutgoingRun, answer: OutgoingAnswer) -> dict[str, Any]:
    record, document = answer.record, run.document(answer.record.document)
    annotated = answer.annotated
    right = "\n".join(filter(None, (annotated.answer, annotated.aside))) if annotated else ""
    people = [event for event in answer.scores if event.scorer == "human"]
    machines = [event for event in answer.scores if event.scorer == "machine"]
    return {
        "data": {
            "digest": record.digest,
            "question": record.asked,
            "reply": record.reply,
            "annotated": right,
            "document": record.document,
            "text": document.text if document else "",
        },
        "annotations": [_annotation(rubric, event) for event in people],
        "predictions": [{"model_version": event.analyst, "result": _result(rubric, event)} for event in machines],
    }


def _annotation(rubric: Rubric, event: Event) -> dict[str, Any]:
    return {
        "result": _result(rubric, event),
        "lead_time": event.seconds,
        "was_cancelled": False,
        "ground_truth": event.kind == "adjudication",
    }


def _result(rubric: Rubric, event: Event) -> list[dict[str, Any]]:
    assert event.values is not None, "scores and adjudications have values"
    found: list[dict[str, Any]] = [
        {
            "id": f"{event.id}-{metric}",
            "from_name": metric,
            "to_name": _TO,
            "type": "choices",
            "value": {"choices": [choice(rubric, metric, value)]},
        }
        for metric, value in event.values.items()
    ]
    if event.note:
        value = {"text": [event.note]}
        found.append(
            {"id": f"{event.id}-{_NOTE}", "from_name": _NOTE, "to_name": _TO, "type": "textarea", "value": value}
        )
    found[0]["meta"] = {"event": event}
    return found
