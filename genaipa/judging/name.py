"""A judge's task, the name of its verdicts in the store of scores, and the family of its model."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple, Self

from genaipa.systems.provider import split_system_name_and_effort

NAME = "judge"

FIRST_DAY = 10_000_000
"""Passes from this number on are days, 20261126: on that occasion an answer of the first one was judged again."""
_NAME = re.compile(r"judge:(?P<model>.+)@(?P<prompt>[0-9a-f]{12})#(?P<passed>[1-9][0-9]*)")


class Judge(NamedTuple):
    """One judge, as an event's `analyst` names it: another model, prompt or pass is another judge.

    `model` is the one the provider says it served, with `@` and the level of effort if one was asked for. `prompt` is
    the first 12 digits of the SHA-256 of everything that decides the request's words, and `passed` the number of the
    pass, from 1; an anchor's is a day (`FIRST_DAY`).

    >>> str(Judge("claude-sonnet-4-6", "0123456789ab", 1))
    'judge:claude-sonnet-4-6@0123456789ab#1'
    """

    model: str
    prompt: str
    passed: int

    def __str__(self) -> str:
        """Return the name as the store keeps it."""
        return f"judge:{self.model}@{self.prompt}#{self.passed}"

    @property
    def anchor_day_or_empty(self) -> str:
        """The occasion on which an anchor was judged again, as YYYY-MM-DD; empty for other passes."""
        number = str(self.passed)
        return f"{number[:4]}-{number[4:6]}-{number[6:]}" if self.passed >= FIRST_DAY else ""

    @classmethod
    def parse(cls, analyst: str) -> Self | None:
        """Return the judge that an event's analyst names; None for people, and for machine scores from elsewhere."""
        match = _NAME.fullmatch(analyst)
        return cls(match["model"], match["prompt"], int(match["passed"])) if match else None


# A maker's family → how its models are called. By the names of models, so that a route or a server says nothing.
_FAMILIES = {
    "gpt": r"gpt|chatgpt|davinci|(?:^|[-_])o[1-9](?:$|[-_])|openai|copilot|bing",
    "claude": r"claude|anthropic",
    "gemini": r"gemini|gemma|\bbard\b|\bpalm\b|palm-?2|google",
    "llama": r"llama|vicuna|alpaca",
    "mistral": r"mi[sx]tral|codestral|ministral|magistral|pixtral|le-?chat",
    "qwen": r"qwen|qwq|tongyi",
    "deepseek": r"deepseek",
    "phi": r"(?:^|[-_])phi(?:$|[-_\d])",
    "command": r"command|cohere|\baya\b",
    "grok": r"grok|(?:^|[-_])xai",
    "glm": r"glm|zhipu",
    "kimi": r"kimi|moonshot",
    "ernie": r"ernie",
    "olmo": r"olmo|tulu",
    "granite": r"granite",
    "nemotron": r"nemotron",
    "nova": r"\bnova\b|amazon[-.]titan",
    "sonar": r"\bsonar\b|perplexity",
}


@cache
def model_family(model: str) -> str:
    """Return the family of a model by its name, as asked or as served; a name of no known family is one by itself.

    The last part of a path is looked at first, then those before it: a distilled or fine-tuned model is named after
    what it was made from (`vllm/deepseek-ai/DeepSeek-R1-Distill-Qwen-7B` is a qwen), and a name of one's own may have
    its maker before it.

    >>> [model_family(name) for name in ("openai/gpt-4o", "vllm/meta-llama/Llama-3.1-8B-Instruct", "scripted/kind")]
    ['gpt', 'llama', 'scripted/kind']
    """
    model = split_system_name_and_effort(model)[0]
    name = model.casefold().strip()
    pieces = name.split("/")
    # A server's name is no model: `openai-api/lab/my-model` is not a gpt.
    if pieces[0] in ("openai-api", "vllm", "scripted", "manual") and len(pieces) > 1:
        pieces = pieces[2 if pieces[0] == "openai-api" else 1 :]
    if model.startswith("scripted"):
        return model
    for piece in reversed(pieces):
        # The later of two makers in one name is what was fine-tuned: "DeepSeek-R1-Distill-Llama".
        makers = [
            (match.start(), maker) for maker, pattern in _FAMILIES.items() for match in re.finditer(pattern, piece)
        ]
        if makers:
            return max(makers)[1]
    return model


def are_of_same_family(first_model: str, second_model: str) -> bool:
    """Whether two models are of one family."""
    return model_family(first_model) == model_family(second_model)
