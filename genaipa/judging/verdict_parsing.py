"""The verdict of a reply: the one object in it, after thoughts, in sentences or a fence, that the rubric allows.

Spelling is free (capitals, blanks, a full stop, further fields), values are not: a value is
the rubric's words, and a sentence after them has no word of another value. Two verdicts that differ are none, and
neither is one beside an object that can't be read. A wrong verdict is worse than one that is asked for once more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from genaipa.errors import clip
from genaipa.questions.points import make_ticks
from genaipa.systems.thoughts import split_thoughts
from genaipa.tasks.lenient_json import JsonObject, find_json_objects_and_lists_or_raise

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.questions.points import Point, Ticks
    from genaipa.scoring.rubric import Rubric, Values

RIGHT_ANSWER = "right_answer"
POINTS, VERDICTS = "points", "verdicts"
YES, NO, CONTRADICTED = "yes", "no", "contradicted"
T = TypeVar("T")
_AROUND = " \t\n.;!\"'\u201c\u201d\u2018\u2019\u00ab\u00bb*_`"
"""Signs around a value that mean nothing."""
_SENTENCE = re.compile(r"\s*(?:[.:;]\s|\s[-\u2013\u2014]\s|\n)")
"""Signs between a value and a sentence on it."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Verdict:
    """A judge's values for one answer, and its evidence by point and metric.

    `right_answer` is there where it had to state that, `ticks` where the annotated answer has points.
    """

    values: Values
    evidence: dict[str, str]
    right_answer: str = ""
    ticks: Ticks | None = None

    @property
    def evidence_as_note(self) -> str:
        """The evidence as the note of a score."""
        stated = [f"right answer: {self.right_answer}"] if self.right_answer else []
        return "\n".join([*stated, *(f"{name}: {text}" for name, text in self.evidence.items())])


def metrics_to_judge(rubric: Rubric, *, has_points: bool) -> list[str]:
    """Return the metrics whose values a judge is asked for: with points all but the one by the rule."""
    return [name for name in rubric.metrics if not has_points or name != rubric.points_metric]


def read_verdict(
    rubric: Rubric, reply_text: str, *, has_annotated_answer: bool, points: Sequence[Point] = ()
) -> Verdict:
    """Return the verdict of a reply; a ValueError says why it has none. `points` are the annotated answer's."""
    metrics = metrics_to_judge(rubric, has_points=bool(points))
    lists = {*([POINTS] if points else ()), *([VERDICTS] if metrics else ())}
    wanted = lists if has_annotated_answer else {RIGHT_ANSWER, *lists}
    answer = split_thoughts(reply_text).answer
    if not (values := find_json_objects_and_lists_or_raise(answer)):
        raise ValueError("it is not JSON")
    verdicts = [
        _build_verdict(rubric, fields, wanted, points)
        for candidate in values
        for fields in _walk_verdict_objects(candidate, wanted, lists)
    ]
    if not verdicts:
        raise ValueError(f"it is not an object with {' and '.join(sorted(wanted))}")
    if any((candidate.values, candidate.ticks) != (verdicts[-1].values, verdicts[-1].ticks) for candidate in verdicts):
        raise ValueError(f"it has {len(verdicts)} verdicts that differ")
    return verdicts[-1]


def _walk_verdict_objects(json_value: Any, wanted_fields: set[str], list_fields: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the outermost objects in a value that have a list of a verdict, with the fields as they were asked for."""
    if isinstance(json_value, dict):
        fields = _match_verdict_fields(json_value, wanted_fields)
        if list_fields & fields.keys():
            yield fields
            return
        for item in json_value.values():
            yield from _walk_verdict_objects(item, wanted_fields, list_fields)
    elif isinstance(json_value, list):
        if wanted_fields == {VERDICTS} and json_value and all(_is_metric_entry(item) for item in json_value):
            yield {VERDICTS: json_value}
            return
        for item in json_value:
            yield from _walk_verdict_objects(item, wanted_fields, list_fields)


def _is_metric_entry(json_value: Any) -> bool:
    return (
        isinstance(json_value, dict)
        and {"metric", "value"} <= _match_verdict_fields(json_value, {"metric", "value"}).keys()
    )


def _match_verdict_fields(fields: dict[str, Any], wanted: Iterable[str]) -> dict[str, Any]:
    """Return the wanted fields of an object, however their names are spelt; a ValueError for two of one name."""
    names = {_normalize_field_name(name): name for name in wanted}
    matches: dict[str, Any] = {}
    for name, value in fields.items():
        if (field := names.get(_normalize_field_name(name))) is None:
            continue
        if field in matches or getattr(fields, "twice", False):
            raise ValueError("it has two fields with the same name")
        matches[field] = value
    return matches


def _normalize_field_name(name: str) -> str:
    return "".join(sign for sign in name if sign.isalnum()).casefold()


def _build_verdict(rubric: Rubric, fields: dict[str, Any], wanted: set[str], points: Sequence[Point]) -> Verdict:
    """Return the verdict of an object's fields; a ValueError says why it is none."""
    metrics = metrics_to_judge(rubric, has_points=bool(points))
    if fields.keys() != wanted:
        raise ValueError(f"it is not an object with {' and '.join(sorted(wanted))}")
    values: dict[str, float] = {}
    evidence: dict[str, str] = {}
    for entry in _list_entries_of_array_or_object(fields.get(VERDICTS, []), "metric"):
        metric, quotation, value = _read_metric_evidence_and_value(rubric, metrics, entry)
        if metric in values:
            raise ValueError(f"it has two verdicts on {metric}")
        values[metric], evidence[metric] = value, quotation
    if missing := [metric for metric in metrics if metric not in values]:
        raise ValueError(f"it has no verdict on {', '.join(missing)}")
    right_answer = _require_text(fields[RIGHT_ANSWER], "right answer") if RIGHT_ANSWER in wanted else ""
    ordered = {metric: evidence[metric] for metric in metrics}
    if not points:
        return Verdict(rubric.make_values({metric: values[metric] for metric in metrics}), ordered, right_answer)
    ticks, point_evidence = _read_ticks_and_evidence_by_point(
        points, _list_entries_of_array_or_object(fields[POINTS], "point")
    )
    values[rubric.points_metric] = rubric.value_from_points(points, ticks)
    return Verdict(
        rubric.make_values({metric: values[metric] for metric in rubric.metrics}),
        point_evidence | ordered,
        right_answer,
        ticks,
    )


def _list_entries_of_array_or_object(json_value: Any, entry_key_field: str) -> list[Any]:
    """Return the entries of a list, or of an object in its place that has one by each metric or point."""
    if isinstance(json_value, dict):
        if getattr(json_value, "twice", False):
            raise ValueError("it has two fields with the same name")
        return [
            JsonObject({entry_key_field: name, **entry}) if isinstance(entry, dict) else entry
            for name, entry in json_value.items()
        ]
    if not isinstance(json_value, list):
        raise ValueError(f"its {VERDICTS if entry_key_field == 'metric' else POINTS} are not a list")  # noqa: TRY004 - told as a flaw
    return json_value


def _read_ticks_and_evidence_by_point(
    points: Sequence[Point], entries: Iterable[object]
) -> tuple[Ticks, dict[str, str]]:
    """Return the ticks of a reply, each point's once, and the evidence by point; a ValueError for anything else."""
    ids = {casefold_and_single_space(point.id): point.id for point in points}
    decisions: dict[str, str] = {}
    evidence: dict[str, str] = {}
    for entry in entries:
        fields = _match_verdict_fields(entry, ("point", "evidence", "said")) if isinstance(entry, dict) else {}
        if len(fields) < 3:  # noqa: PLR2004 - as are named
            raise ValueError("an entry in points is not an object with point, evidence and said")
        point = ids.get(casefold_and_single_space(_require_text(fields["point"], "point id in an entry")))
        if point is None:
            raise ValueError(f"'{clip(str(fields['point']))}' is not a point")
        if point in decisions:
            raise ValueError(f"it has two entries for the point {point}")
        words = _require_text(fields["said"], f"decision on point {point}")
        decision = _match_words_to_value(words, {YES: YES, NO: NO, CONTRADICTED: CONTRADICTED})
        if decision is None:
            raise ValueError(f"'{clip(words)}' on point {point} is not yes, no or contradicted")
        decisions[point] = decision
        evidence[point] = _require_text(fields["evidence"], f"evidence for point {point}")
    if missing := [name for name in ids.values() if name not in decisions]:
        raise ValueError(f"it leaves out the points {', '.join(missing)}")
    ticks = make_ticks(
        points, *([name for name in decisions if decisions[name] == decision] for decision in (YES, CONTRADICTED))
    )
    return ticks, {f"point {name} ({decisions[name]})": evidence[name] for name in ids.values()}


def _read_metric_evidence_and_value(rubric: Rubric, metrics: Sequence[str], entry: object) -> tuple[str, str, float]:
    """Return metric, evidence and value of one entry of the list."""
    fields = _match_verdict_fields(entry, ("metric", "evidence", "value")) if isinstance(entry, dict) else {}
    if len(fields) < 3:  # noqa: PLR2004 - as are named
        raise ValueError("an entry in verdicts is not an object with metric, evidence and value")
    name = _require_text(fields["metric"], "metric")
    metric_names = {_normalize_field_name(metric): metric for metric in rubric.metrics}
    metric = name if name in rubric.metrics else metric_names.get(_normalize_field_name(name), name)
    if metric not in metrics:
        why = "is not asked for: it follows from the points" if metric in rubric.metrics else "is not a metric"
        raise ValueError(f"'{clip(metric)}' {why}")
    evidence = _require_text(fields["evidence"], f"evidence for {metric}")
    words = _require_text(fields["value"], f"value for {metric}")
    value = _match_words_to_value(words, dict(zip(rubric.metrics[metric].words, rubric.values, strict=True)))
    if value is None:
        raise ValueError(f"'{clip(words)}' is not a value of {metric}")
    return metric, evidence, value


def _match_words_to_value(text: str, value_by_words: dict[str, T]) -> T | None:
    """Return the value whose words a text is, or begins with before a sentence without words of other values alone."""
    exact = {casefold_and_single_space(words): value for words, value in value_by_words.items()}
    if (whole := casefold_and_single_space(text)) in exact:
        return exact[whole]
    stripped = {words.strip(_AROUND): value for words, value in exact.items()}
    if len(stripped) < len(exact):
        return None
    if (bare := whole.strip(_AROUND)) in stripped:
        return stripped[bare]
    folded = text.strip(_AROUND).casefold()
    for words in sorted(stripped, key=len, reverse=True):
        begin = re.match(r"\s+".join(map(re.escape, words.split())), folded)
        if begin and (sentence := _SENTENCE.match(folded, begin.end())):
            other_words = {word for candidate in stripped if candidate != words for word in _WORD.findall(candidate)}
            sentence_words = {*_WORD.findall(folded[sentence.end() :])}
            return None if sentence_words & (other_words - {*_WORD.findall(words)}) else stripped[words]
    return None


def _require_text(value: object, field_label: str) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = f"{value:g}"  # a rubric's words may be numbers
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"it has no {field_label}")
    return value.strip()


def casefold_and_single_space(words: str) -> str:
    """Return words as they are compared: without capitals, each blank one."""
    return " ".join(words.split()).casefold()
