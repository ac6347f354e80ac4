"""Blinding: mask the names of assistants and their vendors in replies."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from genaipa.systems.provider import ADAPTERS, providers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MASK = "[the system]"

# Pattern of a system's name → the products, models and vendors of its family. Providers have theirs in their records.
_FAMILIES = {
    r"\bbing|copilot|microsoft|\bphi-": "BingAI, Bing AI, Bing Chat, Bing, Copilot, Phi, Microsoft",
    # "meta" alone is a word of ordinary language ("meta-data").
    r"llama|\bmeta\b": "Llama, Meta AI, Meta Platforms, by Meta, from Meta",
    "mistral|mixtral|codestral|le-?chat": "Mistral, Mixtral, Codestral, Le Chat, Mistral AI",
    r"qwen|\bqwq\b|tongyi": "Qwen, QwQ, Tongyi, Tongyi Qianwen, Qianwen, Alibaba Cloud, Alibaba",
    "deepseek": "DeepSeek, Deep Seek",
    r"\bgrok|\bx-?ai\b": "Grok, xAI",
    r"cohere|command-[ar]\b|\baya\b": "Cohere, Command R, Command A",
    r"perplexity|\bsonar\b": "Perplexity, Perplexity AI, Sonar",
    "kimi|moonshot": "Kimi, Moonshot AI, Moonshot",
    r"\bglm|chatglm|zhipu": "GLM, ChatGLM, Zhipu AI, Zhipu",
    r"\bernie|baidu": "ERNIE, ERNIE Bot, Baidu",
    r"\bolmo|\btulu|allenai": "OLMo, Tulu, Ai2, Allen Institute for AI",
    r"\bnova\b|\btitan\b|bedrock|amazon": "Amazon Nova, Amazon Titan, Nova, Titan, Amazon",
    r"\bgranite|watsonx|\bibm\b": "Granite, watsonx, IBM",
    "nemotron|nvidia": "Nemotron, NVIDIA",
}
_ORDINARY = {"chat", "assistant", "model", "local", "test", "demo", "latest", "default"}
"""Words of systems' names that mean something else in answers."""
_TELLING = 4
"""Fewest characters of a piece of a system's name that is masked by itself."""

# A whole word, in Latin letters: in scripts without blanks other letters follow a name directly.
_BEFORE, _AFTER = "(?<![a-z0-9\u00c0-\u024f])", "(?![a-z0-9\u00c0-\u024f])"
_VERSION = r"(?:\d+(?:\.\d+)*[a-z]?)?"
_TAIL = (
    r"(?:[\u2010-\u2015-][a-z0-9._]*[a-z0-9]"  # -4o-mini
    r"|[ \u00a0]\d(?:\.\d+)*[a-z]?(?![\w%])"  # 3.5
    r"|[ \u00a0](?-i:Pro|Flash|Ultra|Nano|Mini|Turbo|Advanced)\b)*"
)
"""The rest of a model's name, such as its version."""


def names_of(system: str, model: str, served: Sequence[str]) -> tuple[str, ...]:
    """The names by which an assistant could be known, longest first.

    `system` is its name in the plan, `model` its full name and `served` the models that the server said it was.
    """
    return _names_of(frozenset({system, model, *served}))


@cache
def _names_of(systems: frozenset[str]) -> tuple[str, ...]:
    found: set[str] = set()
    families = _FAMILIES | {one.betrayed_by: one.known_as for one in providers() if one.betrayed_by}
    for system in systems:
        # The route of a compatible server says nothing about who made the model.
        name = system.removeprefix("openai-api/")
        for betrays, names in families.items():
            if re.search(betrays, name, re.IGNORECASE):
                found.update(names.split(", "))
        for piece in re.split(r"[/:]", name):
            if len(piece) >= _TELLING and piece.lower() not in {*ADAPTERS, *_ORDINARY}:
                found.add(piece)
    return longest_first(found)


def longest_first(names: Iterable[str]) -> tuple[str, ...]:
    """The order in which names are masked, so that "Google Bard" goes before "Bard"."""
    return tuple(sorted(set(names), key=lambda name: (-len(name), name)))


def mask(text: str, names: Iterable[str], keep: str) -> str:
    """The text with each of the names, as a whole word in upper or lower case, replaced by `MASK`.

    `keep` are texts that the analyst sees anyway (document, question, company). Names in them stay: a policy that names
    a vendor is about that vendor, and an answer may name it too.
    """
    kept = keep.casefold()
    hidden = [name for name in longest_first(names) if not _stands_in(name, kept)]
    if not hidden:
        return text
    named = "|".join(map(_spelt, hidden))
    return re.sub(f"{_BEFORE}(?:{named}){_VERSION}{_AFTER}{_TAIL}", MASK, text, flags=re.IGNORECASE)


def _spelt(name: str) -> str:
    """A pattern for a name: "Open AI" is also "OpenAI" and "Open-AI"."""
    return r"[\s\u2010-\u2015-]*".join(map(re.escape, re.split(r"[\s-]+", name)))


def _stands_in(name: str, kept: str) -> bool:
    """Whether a name is a whole word of a text in lower case."""
    # Looked for without _BEFORE, which would make a search through a long document ten times as slow.
    found = re.finditer(_spelt(name.casefold()) + _AFTER, kept)
    return any(re.compile(_BEFORE).match(kept, hit.start()) for hit in found)
