"""The verdict of a reply: the one object in it, after thoughts, in sentences or a fence, that the rubric allows.

Spelling is free (capitals, blanks, a full stop, further fields), values are not: a value is
the rubric's words, and a sentence after them has no word of another value. Two verdicts that differ are none, and
neither is one beside an object that can't be read. A wrong verdict is worse than one that is asked for once more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from genaipa.errors import clipped
from genaipa.questions.points import ticked
from genaipa.systems.thoughts import split_thoughts
from genaipa.tasks.lenient_json import Fields, objects

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
    def note(self) -> str:
        """The evidence as the note of a score."""
        stated = [f"right answer: {self.right_answer}"] if self.right_answer else []
        return "\n".join([*stated, *(f"{name}: {said}" for name, said in self.evidence.items())])


def asked(rubric: Rubric, *, points: bool) -> list[str]:
    """The metrics whose values a judge is asked for: with points all but the one by the rule."""
    return [name for name in rubric.metrics if not points or name != rubric.pointed]


def read(rubric: Rubric, text: str, *, annotated: bool, points: Sequence[Point] = ()) -> Verdict:
    """Return the verdict of a reply; a ValueError says why it has none. `points` are the annotated answer's."""
    metrics = asked(rubric, points=bool(points))
    lists = {*([POINTS] if points else ()), *([VERDICTS] if metrics else ())}
    wanted = lists if annotated else {RIGHT_ANSWER, *lists}
    said = split_thoughts(text).answer
    if not (values := objects(said)):
        raise ValueError("it is no JSON")
    found = [_verdict(rubric, fields, wanted, points) for one in values for fields in _candidates(one, wanted, lists)]
    if not found:
        raise ValueError(f"it is no object of {' and '.join(sorted(wanted))}")
    if any((one.values, one.ticks) != (found[-1].values, found[-1].ticks) for one in found):
        raise ValueError(f"it has {len(found)} verdicts, which differ")
    return found[-1]


def _candidates(value: Any, wanted: set[str], lists: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the outermost objects in a value that have a list of a verdict, with the fields as they were asked for."""
    if isinstance(value, dict):
        fields = _named(value, wanted)
        if lists & fields.keys():
            yield fields
            return
        for one in value.values():
            yield from _candidates(one, wanted, lists)
    elif isinstance(value, list):
        if wanted == {VERDICTS} and value and all(_is_entry(one) for one in value):
            yield {VERDICTS: value}
            return
        for one in value:
            yield from _candidates(one, wanted, lists)


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and {"metric", "value"} <= _named(value, {"metric", "value"}).keys()


def _named(fields: dict[str, Any], wanted: Iterable[str]) -> dict[str, Any]:
    """The wanted fields of an object, however their names are spelt; a ValueError for two of one name."""
    known = {_letters(name): name for name in wanted}
    named: dict[str, Any] = {}
    for name, value in fields.items():
        if (meant := known.get(_letters(name))) is None:
            continue
        if meant in named or getattr(fields, "twice", False):
            raise ValueError("it has two fields of one name")
        named[meant] = value
    return named


def _letters(name: str) -> str:
    return "".join(sign for sign in name if sign.isalnum()).casefold()


def _verdict(rubric: Rubric, fields: dict[str, Any], wanted: set[str], points: Sequence[Point]) -> Verdict:
    """The verdict of an object's fields; a ValueError says why it is none."""
    metrics = asked(rubric, points=bool(points))
    if fields.keys() != wanted:
        raise ValueError(f"it is no object of {' and '.join(sorted(wanted))}")
    values: dict[str, float] = {}
    evidence: dict[str, str] = {}
    for entry in _entries(fields.get(VERDICTS, []), "metric"):
        metric, said, value = _entry(rubric, metrics, entry)
        if metric in values:
            raise ValueError(f"it has two verdicts on {metric}")
        values[metric], evidence[metric] = value, said
    if missing := [metric for metric in metrics if metric not in values]:
        raise ValueError(f"it has no verdict on {', '.join(missing)}")
    stated = _text(fields[RIGHT_ANSWER], "right answer") if RIGHT_ANSWER in wanted else ""
    ordered = {metric: evidence[metric] for metric in metrics}
    if not points:
        return Verdict(rubric.given({metric: values[metric] for metric in metrics}), ordered, stated)
    ticks, seen = _ticks(points, _entries(fields[POINTS], "point"))
    values[rubric.pointed] = rubric.by_points(points, ticks)
    return Verdict(rubric.given({metric: values[metric] for metric in rubric.metrics}), seen | ordered, stated, ticks)


def _entries(value: Any, key: str) -> list[Any]:
    """The entries of a list, or of an object in its place that has one by each metric or point."""
    if isinstance(value, dict):
        if getattr(value, "twice", False):
            raise ValueError("it has two fields of one name")
        return [Fields({key: name, **entry}) if isinstance(entry, dict) else entry for name, entry in value.items()]
    if not isinstance(value, list):
        raise ValueError(f"its {VERDICTS if key == 'metric' else POINTS} are no list")  # noqa: TRY004 - told as a flaw
    return value


def _ticks(points: Sequence[Point], entries: Iterable[object]) -> tuple[Ticks, dict[str, str]]:
    """The ticks of a reply, each point's once, and the evidence by point; a ValueError for anything else."""
    known = {plain(point.id): point.id for point in points}
    found: dict[str, str] = {}
    evidence: dict[str, str] = {}
    for entry in entries:
        fields = _named(entry, ("point", "evidence", "said")) if isinstance(entry, dict) else {}
        if len(fields) < 3:  # noqa: PLR2004 - as are named
            raise ValueError("an entry of points is no object of point, evidence and said")
        point = known.get(plain(_text(fields["point"], "id of a point")))
        if point is None:
            raise ValueError(f"'{clipped(str(fields['point']))}' is no point")
        if point in found:
            raise ValueError(f"it speaks of the point {point} twice")
        words = _text(fields["said"], f"word on the point {point}")
        said = _value(words, {YES: YES, NO: NO, CONTRADICTED: CONTRADICTED})
        if said is None:
            raise ValueError(f"'{clipped(words)}' on the point {point} is none of yes, no and contradicted")
        found[point] = said
        evidence[point] = _text(fields["evidence"], f"evidence on the point {point}")
    if missing := [name for name in known.values() if name not in found]:
        raise ValueError(f"it does not speak of the points {', '.join(missing)}")
    ticks = ticked(points, *([name for name in found if found[name] == said] for said in (YES, CONTRADICTED)))
    return ticks, {f"point {name} ({found[name]})": evidence[name] for name in known.values()}


def _entry(rubric: Rubric, metrics: Sequence[str], entry: object) -> tuple[str, str, float]:
    """Metric, evidence and value of one entry of the list."""
    fields = _named(entry, ("metric", "evidence", "value")) if isinstance(entry, dict) else {}
    if len(fields) < 3:  # noqa: PLR2004 - as are named
        raise ValueError("an entry is no object of metric, evidence and value")
    given = _text(fields["metric"], "metric")
    known = {_letters(metric): metric for metric in rubric.metrics}
    metric = given if given in rubric.metrics else known.get(_letters(given), given)
    if metric not in metrics:
        why = "is not asked for: it follows from the points" if metric in rubric.metrics else "is no metric"
        raise ValueError(f"'{clipped(metric)}' {why}")
    said = _text(fields["evidence"], f"evidence on {metric}")
    words = _text(fields["value"], f"value of {metric}")
    value = _value(words, dict(zip(rubric.metrics[metric].words, rubric.values, strict=True)))
    if value is None:
        raise ValueError(f"'{clipped(words)}' is no value of {metric}")
    return metric, said, value


def _value(text: str, known: dict[str, T]) -> T | None:
    """The value whose words a text is, or begins with before a sentence without words of other values alone."""
    exact = {plain(words): value for words, value in known.items()}
    if (whole := plain(text)) in exact:
        return exact[whole]
    alike = {words.strip(_AROUND): value for words, value in exact.items()}
    if len(alike) < len(exact):
        return None
    if (bare := whole.strip(_AROUND)) in alike:
        return alike[bare]
    said = text.strip(_AROUND).casefold()
    for words in sorted(alike, key=len, reverse=True):
        begin = re.match(_spaced(words), said)
        if begin and (sentence := _SENTENCE.match(said, begin.end())):
            others = {word for other in alike if other != words for word in _WORD.findall(other)}
            rest = {*_WORD.findall(said[sentence.end() :])}
            return None if rest & (others - {*_WORD.findall(words)}) else alike[words]
    return None


def _spaced(words: str) -> str:
    """A pattern of words with any blanks between them."""
    return r"\s+".join(map(re.escape, words.split()))


def _text(found: object, name: str) -> str:
    if isinstance(found, int | float) and not isinstance(found, bool):
        found = f"{found:g}"  # a rubric's words may be numbers
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"it has no {name}")
    return found.strip()


def plain(words: str) -> str:
    """Return words as they are compared: without capitals, each blank one."""
    return " ".join(words.split()).casefold()
