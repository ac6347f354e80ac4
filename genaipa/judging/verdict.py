"""The form of a verdict: what a judge is asked to reply, and what a reply of it says.

A reply says a value for every metric, in the rubric's words, or it says nothing: half a verdict is a failure.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa.errors import UsageError, clipped

if TYPE_CHECKING:
    from genaipa.scoring.rubric import Rubric, Values
    from genaipa.systems.base import Reply

RIGHT_ANSWER = "right_answer"
_FENCE = "```"
_UNUSABLE = {"length": "it was cut off", "refusal": "it is a refusal"}


@dataclass(frozen=True)
class Verdict:
    """A judge's values for one answer, its evidence by metric, and the right answer where it had to state that."""

    values: Values
    evidence: dict[str, str]
    right_answer: str = ""

    @property
    def note(self) -> str:
        """The evidence as the note of a score."""
        stated = [f"right answer: {self.right_answer}"] if self.right_answer else []
        return "\n".join([*stated, *(f"{metric}: {said}" for metric, said in self.evidence.items())])


def schema(rubric: Rubric, *, annotated: bool) -> dict[str, Any]:
    """The JSON schema of a verdict; without an annotated answer the judge states the right answer first.

    It is the same for all answers, whatever the order in which they are asked about: providers put it before the
    messages, so that another one would lose them the cached document.
    """
    entries = [
        _object(metric=_one_of(name), evidence={"type": "string"}, value=_one_of(*metric.words))
        for name, metric in rubric.metrics.items()
    ]
    first = {} if annotated else {RIGHT_ANSWER: {"type": "string"}}
    return _object(**first, verdicts={"type": "array", "items": {"anyOf": entries}})


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*words]}


def check(rubric: Rubric) -> None:
    """A UsageError where two values of a metric are in the same words, which a judge could not tell apart."""
    for name, metric in rubric.metrics.items():
        if len({_plain(words) for words in metric.words}) < len(metric.words):
            raise UsageError(f"the rubric '{rubric.title}' has the same words for two values of {name}; reword one.")


def order(rubric: Rubric, digest: str, passed: int) -> dict[str, list[str]]:
    """Metric → the words of its values, both in the order in which this answer is judged in this pass."""
    shuffle = random.Random(f"{digest}|{passed}").sample  # noqa: S311 - a shuffle, not a secret
    metrics = [*rubric.metrics]
    return {
        name: shuffle(words, len(words))
        for name in shuffle(metrics, len(metrics))
        for words in (rubric.metrics[name].words,)
    }


def flaw(rubric: Rubric, reply: Reply, *, annotated: bool) -> str:
    """The reason that a reply is no verdict, in words; empty if it is one."""
    if reply.finish in _UNUSABLE:
        return _UNUSABLE[reply.finish]
    try:
        read(rubric, reply.text, annotated=annotated)
    except ValueError as error:
        return str(error)
    return ""


def read(rubric: Rubric, text: str, *, annotated: bool) -> Verdict:
    """The verdict of a reply; a ValueError says why it is none."""
    try:
        found = json.loads(_unfenced(text), object_pairs_hook=_once)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError("it is no JSON") from None
    wanted = {"verdicts"} if annotated else {RIGHT_ANSWER, "verdicts"}
    if not isinstance(found, dict) or found.keys() != wanted or not isinstance(found["verdicts"], list):
        raise ValueError(f"it is no object of {' and '.join(sorted(wanted))}")
    values: dict[str, float] = {}
    evidence: dict[str, str] = {}
    for entry in found["verdicts"]:
        metric, said, value = _entry(rubric, entry)
        if metric in values:
            raise ValueError(f"it has two verdicts on {metric}")
        values[metric], evidence[metric] = value, said
    if missing := [metric for metric in rubric.metrics if metric not in values]:
        raise ValueError(f"it has no verdict on {', '.join(missing)}")
    stated = "" if annotated else _text(found[RIGHT_ANSWER], "right answer")
    ordered = {metric: evidence[metric] for metric in rubric.metrics}
    return Verdict(rubric.given({metric: values[metric] for metric in rubric.metrics}), ordered, stated)


def _unfenced(text: str) -> str:
    """A reply without the one fence around all of it."""
    said = text.strip()
    fenced = len(said) > 2 * len(_FENCE) and said.startswith(_FENCE) and said.endswith(_FENCE)
    return said.removeprefix(_FENCE).removesuffix(_FENCE).removeprefix("json") if fenced else said


def _entry(rubric: Rubric, entry: object) -> tuple[str, str, float]:
    """Metric, evidence and value of one entry of the list."""
    if not isinstance(entry, dict) or entry.keys() != {"metric", "evidence", "value"}:
        raise ValueError("an entry is no object of metric, evidence and value")
    metric = _text(entry["metric"], "metric")
    if metric not in rubric.metrics:
        raise ValueError(f"'{clipped(metric)}' is no metric")
    said = _text(entry["evidence"], f"evidence on {metric}")
    words = _text(entry["value"], f"value of {metric}")
    known = dict(zip(map(_plain, rubric.metrics[metric].words), rubric.values, strict=True))
    if _plain(words) not in known:
        raise ValueError(f"'{clipped(words)}' is no value of {metric}")
    return metric, said, known[_plain(words)]


def _text(found: object, name: str) -> str:
    if not isinstance(found, str) or not found.strip():
        raise ValueError(f"it has no {name}")
    return found.strip()


def _plain(words: str) -> str:
    return " ".join(words.split()).casefold()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; of two fields of one name neither can be believed."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has two fields of one name")
    return found


def sample(rubric: Rubric, *, annotated: bool) -> str:
    """A verdict of ordinary length, for plans and estimates."""
    said = (
        "The answer says that orders are kept for ten years and baskets for thirty days, as section 9.3 does. It adds "
        "nothing that the document lacks, but leaves out that receipts are kept as long as orders."
    )
    verdicts = [{"metric": name, "evidence": said, "value": m.words[0]} for name, m in rubric.metrics.items()]
    first = {} if annotated else {RIGHT_ANSWER: said}
    return json.dumps({**first, "verdicts": verdicts})
