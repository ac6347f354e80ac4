"""A judge without a model, to try `genaipa judge` and everything after it.

    genaipa judge demo --judge docs.example_judge:RulesOfThumb

It reads what a judge is shown, and follows a few rules of thumb: its verdicts are worth little, and `genaipa judges`
says how little. It knows the values of the rubric that ships.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from genaipa.scoring.rubric import shipped_rubric
from genaipa.systems.base import Readiness, Reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.systems.base import Message, Settings

ANSWER = re.compile(r"===== \w+: the answer begins =====\n(.*)\n===== \w+: the answer ends =====", re.DOTALL)
POINT = re.compile(r"^- ([\w-]+): (.+)$", re.MULTILINE)
SILENT = re.compile(r"The document does not say|I know nothing of this document")
CITED = re.compile(r"\((?:Section|Article) [^)]*\)")
SHARED = 0.5
"""Share of a point's long words that an answer has to have for the point to count as said."""
LONG = re.compile(r"\w{5,}")
WHY = {
    "relevance": "It says something, or that it found nothing.",
    "accuracy": "It quotes the document, or says what the document does not.",
    "clarity": "Who quotes does so in full sentences.",
    "completeness": "It quotes a few sentences.",
    "reference": "It names a section in brackets, or none.",
}
"""Metric → the evidence, which is the same for all answers."""


class RulesOfThumb:
    """Judge by rule whether an answer is silent, cites a section, and shares words with the points."""

    name = "rules-of-thumb"

    async def start(self) -> Readiness:
        """Nothing is needed."""
        return Readiness()

    async def reply(self, messages: Sequence[Message], settings: Settings) -> Reply:  # noqa: ARG002 - the form is known
        """Return the verdict on the answer in the last message."""
        asked = messages[-1].content
        found = ANSWER.search(asked)
        answer, after = (found[1], asked[found.end() :]) if found else ("", "")
        # The rubric's values, the best first, as places: 0, 1 and 2.
        places = by_rule(answer, silent="The document does not answer this question" in asked)
        reply: dict[str, Any] = {}
        if "Nobody has annotated the right answer" in asked:
            reply["right_answer"] = "I have not read the document."
        points, _, metrics = after.rpartition("by these metrics")
        if points := POINT.findall(points):
            reply["points"] = [ticked(point, text, answer) for point, text in points]
        rubric = shipped_rubric()
        reply["verdicts"] = [
            {"metric": name, "evidence": WHY[name], "value": rubric.metrics[name].words[place]}
            for name, place in zip(rubric.metrics, places, strict=True)
            if re.search(rf"^\d+\. {name}\b", metrics, re.MULTILINE)
        ]
        return Reply(json.dumps(reply), model=self.name)

    async def count_tokens(self, text: str) -> int | None:  # noqa: ARG002 - it has none
        """None: it has no tokens."""
        return None

    async def close(self) -> None:
        """Nothing is held."""


def by_rule(answer: str, *, silent: bool) -> Iterable[int]:
    """Return the values' places, metric by metric, for an answer about a document `silent` on the question."""
    if SILENT.match(answer):
        return (0, 0, 0, 0, 0) if silent else (1, 2, 0, 2, 2)
    if silent:
        return 2, 2, 1, 2, 2
    return (0, 0, 1, 1, 0) if CITED.search(answer) else (1, 1, 1, 1, 2)


def ticked(point: str, text: str, answer: str) -> dict[str, str]:
    """Return the entry of one point: said where the answer has enough of its long words."""
    words, had = (set(LONG.findall(one.lower())) for one in (text, answer))
    shared = len(words & had)
    said = "yes" if words and shared >= SHARED * len(words) else "no"
    return {"point": point, "evidence": f"The answer has {shared} of its {len(words)} long words.", "said": said}
