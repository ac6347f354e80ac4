"""Label Studio: `config.xml`, a project's labels by the rubric, and `tasks.json`, a task for each answer.

A score is an annotation; it carries its event along in the `meta` of its first result, which Label Studio keeps, so
that one that nobody changed comes back as what it was. Who is behind an annotation is not written as `completed_by`:
Label Studio takes no tasks of people whom it doesn't know.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated, Any
from xml.sax.saxutils import quoteattr

import msgspec

from genaipa.errors import DataError, clip, format_shell_command, name_suggestion
from genaipa.files.limits import JSON, limit_reading
from genaipa.files.stamps import format_utc_milliseconds, now
from genaipa.files.text import DAMAGE, clip_error_message, read_text
from genaipa.scoring.answers import format_question_with_earlier_exchange
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.rubric import format_signed_value
from genaipa_exchange.outgoing import ExportSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from genaipa.scoring.rubric import Rubric
    from genaipa_exchange.incoming import ImportSummary, Incoming
    from genaipa_exchange.outgoing import Outgoing, OutgoingAnswer, OutgoingRun

CONFIG, TASKS = "config.xml", "tasks.json"
_SHOWN = {"question": "Question", "reply": "Answer", "annotated": "Annotated answer", "text": "Document"}
"""Field of a task's data → its heading."""
_TO = "reply"
_NOTE = "note"
_OPEN = (
    "Label Studio does not mask names in replies and shows everybody the scores written here, so scoring is not blind."
)


def write_label_studio_project(outgoing: Outgoing, folder: Path) -> ExportSummary:
    """Write the labels and the tasks: each answer once, without any excluded one."""
    (folder / CONFIG).write_text(make_labelling_config_xml(outgoing.rubric), encoding="utf-8")
    answers = scores = 0
    with (folder / TASKS).open("wb") as file:
        for task in _iterate_label_studio_tasks(outgoing):
            file.write((b",\n" if answers else b"[\n") + msgspec.json.encode(task))
            answers, scores = answers + 1, scores + len(task["annotations"]) + len(task["predictions"])
        file.write(b"\n]\n" if answers else b"[]\n")
    return ExportSummary(
        2, answers, scores, _OPEN, format_shell_command("genaipa", "import", "label-studio", "EXPORT.json")
    )


# -- back --


class _Value(msgspec.Struct):
    choices: tuple[str, ...] = ()
    text: tuple[str, ...] | str = ()


class _Label(msgspec.Struct):
    """One label; `meta` is what was written beside it."""

    from_name: str = ""
    value: _Value = msgspec.field(default_factory=_Value)
    meta: dict[str, Any] = {}


class _Annotation(msgspec.Struct):
    """An annotation, or a prediction of a model."""

    result: tuple[_Label, ...] = ()
    completed_by: int | str | dict[str, Any] | None = None
    lead_time: Annotated[float, msgspec.Meta(ge=0)] | None = None
    was_cancelled: bool = False
    updated_at: str = ""

    @property
    def original_event(self) -> Any:
        """The event that was written beside it; None for an annotation that was made there."""
        return next((result.meta["event"] for result in self.result if "event" in result.meta), None)

    def count_score_and_name_analyst(self, incoming: Incoming) -> str:
        """Return the person: an address or a name, or whoever has the number that the file gives alone."""
        by = self.completed_by
        if isinstance(by, dict):
            by = by.get("email") or by.get("username") or by.get("id")
        name = "" if by is None else str(by).strip()
        return name if name and not name.isdecimal() else incoming.count_score_and_name_annotator(name)


class _Data(msgspec.Struct):
    digest: str = ""


class _Task(msgspec.Struct):
    data: _Data = msgspec.field(default_factory=_Data)
    annotations: tuple[_Annotation, ...] | None = None
    predictions: tuple[_Annotation, ...] | None = None


def import_label_studio_export(paths: Sequence[Path], incoming: Incoming) -> ImportSummary:
    """Take in the scores of exports, Label Studio's "JSON"; a DataError names the first task that can't be used."""
    for path in paths:
        _import_label_studio_tasks(path, incoming)
    return incoming.write_runs_and_scores()


def _import_label_studio_tasks(path: Path, incoming: Incoming) -> None:
    text = read_text(path, JSON)
    with limit_reading(JSON, path) as allowance:
        allowance.add_elements_within_limit(sum(map(text.count, "[{,")))
        try:
            tasks = msgspec.json.decode(text, type=list[_Task])
        except DAMAGE as error:
            raise DataError(
                path, f"is not a JSON export from Label Studio, or is cut off ({clip_error_message(error)})."
            ) from None
    meanings = {
        metric: {format_value_label(incoming.rubric, metric, value): value for value in incoming.rubric.values}
        for metric in incoming.rubric.metrics
    }
    for number, task in enumerate(tasks, 1):
        digest = task.data.digest
        if not digest:
            wrong = "has no digest, so its answer can't be found; label the tasks that genaipa export wrote."
            raise DataError(path, wrong, f"task {number}")
        if task.annotations is None:
            wrong = 'has no annotations; export the project as "JSON", not "JSON-MIN".'
            raise DataError(path, wrong, f"task {number}")
        annotations = enumerate((*task.annotations, *(task.predictions or ())), 1)
        ours = any(annotation.original_event for annotation in (*task.annotations, *(task.predictions or ())))
        was_read = [
            _import_annotation_unless_empty(
                path, f"task {number}, annotation {n}", digest, annotation, meanings, incoming, independent=not ours
            )
            for n, annotation in annotations
        ]
        incoming.unscored += not any(was_read)


def _import_annotation_unless_empty(
    path: Path,
    entry: str,
    answer_digest: str,
    annotation: _Annotation,
    values_by_metric_and_label: Mapping[str, Mapping[str, float]],
    incoming: Incoming,
    *,
    independent: bool,
) -> bool:
    """Take in one annotation, unless it was skipped, or has no choice at all; whether it was taken.

    It is `independent` where no score was written into the task that somebody could see.
    """
    values, note = dict[str, float](), ""
    for result in annotation.result:
        if result.from_name == _NOTE:
            text = result.value.text
            note = text if isinstance(text, str) else "\n".join(text)
        elif result.from_name in values_by_metric_and_label:
            label_values, (chosen, *_) = values_by_metric_and_label[result.from_name], (*result.value.choices, "")
            if chosen not in label_values:
                hint = name_suggestion(chosen, label_values)
                raise DataError(path, f"'{clip(chosen)}' is not one of the labels of {result.from_name}{hint}", entry)
            values[result.from_name] = label_values[chosen]
        elif result.value.choices:
            near = name_suggestion(result.from_name, values_by_metric_and_label)
            raise DataError(path, f"'{clip(result.from_name)}' is not a metric of this rubric{near}", entry)
    if annotation.was_cancelled or not values:
        return False
    if lacking := [metric for metric in values_by_metric_and_label if metric not in values]:
        raise DataError(path, f"has no choice for {', '.join(lacking)}; a score needs all metrics.", entry)
    if annotation.original_event is not None:
        incoming.add_genaipa_score_or_correction(path, entry, annotation.original_event, answer_digest, values, note)
        return True
    incoming.add_foreign_score(
        path,
        entry,
        Event(
            id=new_event_id(),
            time=_convert_time_to_stamp_or_now(annotation.updated_at),
            kind="score",
            analyst=annotation.count_score_and_name_analyst(incoming),
            answer=answer_digest,
            values=incoming.rubric.make_values(values),
            note=note,
            seconds=annotation.lead_time,
            blind=False,
            independent=independent,
            rubric=incoming.rubric.digest,
        ),
    )
    return True


def _convert_time_to_stamp_or_now(text: str) -> str:
    """Return a time as events have it; this moment where there is none."""
    try:
        return format_utc_milliseconds(dt.datetime.fromisoformat(text))
    except (ValueError, OverflowError):  # the latter for a day that is none in UTC
        return now()


# -- labels --


def make_labelling_config_xml(rubric: Rubric) -> str:
    """Return a project's labels: for each metric one choice among the words of its values, and a note."""
    lines = [
        f"  <Header value={quoteattr(heading)}/>\n  <Text name={quoteattr(name)} value={quoteattr(f'${name}')}/>"
        for name, heading in _SHOWN.items()
    ]
    for metric, about in rubric.metrics.items():
        lines.append(f"  <Header value={quoteattr(about.question or rubric.display_names[metric])}/>")
        lines.append(f'  <Choices name={quoteattr(metric)} toName="{_TO}" choice="single-radio" required="true">')
        lines += [
            f"    <Choice value={quoteattr(format_value_label(rubric, metric, value))}/>" for value in rubric.values
        ]
        lines.append("  </Choices>")
    lines.append(f'  <TextArea name="{_NOTE}" toName="{_TO}" placeholder="Note"/>')
    return "\n".join(["<View>", *lines, "</View>", ""])


def format_value_label(rubric: Rubric, metric: str, value: float) -> str:
    """Return the label of a value: `+1 relevant`."""
    return f"{format_signed_value(value)} {rubric.meaning(metric, value)}"


def _iterate_label_studio_tasks(outgoing: Outgoing) -> Iterator[dict[str, Any]]:
    digests: set[str] = set()
    for run in outgoing.runs:
        for answer in run.iterate_permitted_answers():
            if answer.record.digest not in digests and not answer.excluded:
                digests.add(answer.record.digest)
                yield _make_label_studio_task(outgoing.rubric, run, answer)


def _make_label_studio_task(rubric: Rubric, run: OutgoingRun, answer: OutgoingAnswer) -> dict[str, Any]:
    record, document = answer.record, run.document(answer.record.document)
    annotated = answer.annotated
    right = "\n".join(filter(None, (annotated.answer, annotated.silence_and_sections_in_words))) if annotated else ""
    people = [event for event in answer.scores if event.scorer == "human"]
    machines = [event for event in answer.scores if event.scorer == "machine"]
    return {
        "data": {
            "digest": record.digest,
            "question": format_question_with_earlier_exchange(record.asked, answer.earlier),
            "reply": record.reply,
            "annotated": right,
            "document": record.document,
            "text": document.text if document else "",
        },
        "annotations": [
            {
                "result": _make_label_studio_labels(rubric, event),
                "lead_time": event.seconds,
                "was_cancelled": False,
                "ground_truth": event.kind == "adjudication",
            }
            for event in people
        ],
        "predictions": [
            {"model_version": event.analyst, "result": _make_label_studio_labels(rubric, event)} for event in machines
        ],
    }


def _make_label_studio_labels(rubric: Rubric, event: Event) -> list[dict[str, Any]]:
    assert event.values is not None, "scores and adjudications have values"
    results: list[dict[str, Any]] = [
        {
            "id": f"{event.id}-{metric}",
            "from_name": metric,
            "to_name": _TO,
            "type": "choices",
            "value": {"choices": [format_value_label(rubric, metric, value)]},
        }
        for metric, value in event.values.items()
    ]
    if event.note:
        value = {"text": [event.note]}
        results.append(
            {"id": f"{event.id}-{_NOTE}", "from_name": _NOTE, "to_name": _TO, "type": "textarea", "value": value}
        )
    results[0]["meta"] = {"event": event}
    return results
