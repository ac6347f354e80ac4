"""The form of a verdict: what a judge is asked to reply, and what a reply of it says.

A reply says a value for every metric, in the rubric's words, or it says nothing: half a verdict is a failure.
"""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa.errors import UsageError, clipped
from genaipa.systems.costs import CHARACTERS_PER_TOKEN

if TYPE_CHECKING:
    from genaipa.scoring.rubric import Rubric, Values
    from genaipa.systems.base import Reply

RIGHT_ANSWER = "right_answer"
_FENCE = "```"
_EVIDENCE = 1_000
"""Characters of one evidence at most: five times two ordinary sentences; whoever loops in a string ends soon."""
_STATED = 1_500
"""Characters of a right answer at most. llama.cpp takes no string that may be as long as 2,000."""
_LOOP = re.compile(r"(.{1,300}?)\1{3,}", re.DOTALL)
_TAIL = 1_200
"""Characters at the end of a reply in which a loop is looked for, and how many of them it has to fill."""
_LOOPED = 200


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
    messages, so that another one would lose them the cached document. Its bounds end a model that loops; vendors that
    refuse them get it without.
    """
    entries = [
        _object(metric=_one_of(name), evidence=_words(_EVIDENCE), value=_one_of(*metric.words))
        for name, metric in rubric.metrics.items()
    ]
    first = {} if annotated else {RIGHT_ANSWER: _words(_STATED)}
    return _object(**first, verdicts={"type": "array", "items": {"anyOf": entries}, "maxItems": len(entries)})


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _words(most: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": most}


def _one_of(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": [*words]}


def check(rubric: Rubric) -> None:
    """A UsageError where two values of a metric are in the same words, which a judge could not tell apart."""
    for name, metric in rubric.metrics.items():
        if len({_plain(words) for words in metric.words}) < len(metric.words):
            raise UsageError(f"the rubric '{rubric.title}' has the same words for two values of {name}; reword one.")


def order(rubric: Rubric, digest: str, passed: int) -> dict[str, list[str]]:
    """Metric → the words of its values, both in the order in which this answer is judged in this pass.

    An odd pass is a shuffle of its own, an even one has the reverse of the pass before: what comes first in one comes
    last in the other, so that over both no place is favoured.
    """
    odd = passed - (passed + 1) % 2
    shuffle = random.Random(f"{digest}|{odd}").sample  # noqa: S311 - a shuffle, not a secret
    metrics = [*rubric.metrics]
    found = {
        name: shuffle(words, len(words))
        for name in shuffle(metrics, len(metrics))
        for words in (rubric.metrics[name].words,)
    }
    return found if passed == odd else {name: found[name][::-1] for name in reversed(found)}


def flaw(rubric: Rubric, reply: Reply, *, annotated: bool) -> str:
    """The reason that a reply is no verdict, in words; empty if it is one."""
    if reply.finish == "length":
        return _cut(reply)
    if reply.finish == "refusal":
        return "it is a refusal"
    try:
        read(rubric, reply.text, annotated=annotated)
    except ValueError as error:
        return str(error)
    return ""


def _cut(reply: Reply) -> str:
    """The reason that a reply that was cut off is no verdict, with what helps."""
    after = f" after {reply.usage.output:,} tokens" if reply.usage and reply.usage.output else ""
    # From its end on, since nothing says where in its round a loop was cut.
    loop = _LOOP.match(reply.text[: -_TAIL - 1 : -1])
    if loop and loop.end() >= _LOOPED:
        return f"it repeats itself, and was cut off{after}; another model may do better"
    return f"it was cut off{after}; allow it more (max_tokens)"


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
    return _filled(rubric, said, "" if annotated else said)


def longest(rubric: Rubric, *, annotated: bool) -> int:
    """Tokens of the longest verdict that the schema allows."""
    text = _filled(rubric, "x" * _EVIDENCE, "" if annotated else "x" * _STATED)
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def _filled(rubric: Rubric, evidence: str, right_answer: str) -> str:
    verdicts = [
        {"metric": name, "evidence": evidence, "value": max(metric.words, key=len)}
        for name, metric in rubric.metrics.items()
    ]
    first = {RIGHT_ANSWER: right_answer} if right_answer else {}
    return json.dumps({**first, "verdicts": verdicts})
