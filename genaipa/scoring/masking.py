"""Names by which an assistant could be known, masked in what it says, so that answers are scored blind."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from genaipa.systems.provider import find_provider, list_providers, split_system_name_and_effort

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
_SHORTEST_PIECE = 4
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


def list_names_revealing_system(system: str, model: str, served_models: Sequence[str]) -> tuple[str, ...]:
    """Return the names by which an assistant could be known, longest first.

    `system` is its name in the plan, `model` its full name and `served_models` the models that the server said it was.
    """
    return _list_product_and_vendor_names(frozenset({system, model, *served_models}))


@cache
def _list_product_and_vendor_names(system_names: frozenset[str]) -> tuple[str, ...]:
    known_names: set[str] = set()
    families = _FAMILIES | {
        provider.model_pattern: provider.self_names for provider in list_providers() if provider.model_pattern
    }
    if any((provider := find_provider(name)) and provider.by_hand == "written" for name in system_names):
        return ()  # a word such as `lawyers` is no name by which anybody calls themselves
    providers = {provider.name for provider in list_providers()}
    for system in system_names:
        # The route of a compatible server says nothing about who made the model.
        name = split_system_name_and_effort(system)[0].removeprefix("openai-api/")
        for pattern, names in families.items():
            if re.search(pattern, name, re.IGNORECASE):
                known_names.update(names.split(", "))
        for piece in re.split(r"[/:]", name):
            if len(piece) >= _SHORTEST_PIECE and piece.lower() not in providers | _ORDINARY:
                known_names.add(piece)
    return sort_distinct_names_longest_first(known_names)


def sort_distinct_names_longest_first(names: Iterable[str]) -> tuple[str, ...]:
    """Sort names in the order in which they are masked, so that "Google Bard" goes before "Bard"."""
    return tuple(sorted(set(names), key=lambda name: (-len(name), name)))


def mask_names(text: str, names: Iterable[str], text_whose_names_stay: str) -> str:
    """Replace each of the names, as a whole word in upper or lower case, by `MASK`.

    `text_whose_names_stay` is what the analyst sees anyway (document, question, company). Names in it stay: a policy
    that names a vendor is about that vendor, and an answer may name it too.
    """
    visible_words = text_whose_names_stay.casefold()
    hidden = [name for name in sort_distinct_names_longest_first(names) if not _occurs_as_word(name, visible_words)]
    if not hidden:
        return text
    alternatives = "|".join(map(_spelling_pattern, hidden))
    return re.sub(f"{_BEFORE}(?:{alternatives}){_VERSION}{_AFTER}{_TAIL}", MASK, text, flags=re.IGNORECASE)


def _spelling_pattern(name: str) -> str:
    """Return a pattern for a name: "Open AI" is also "OpenAI" and "Open-AI"."""
    return r"[\s\u2010-\u2015-]*".join(map(re.escape, re.split(r"[\s-]+", name)))


def _occurs_as_word(name: str, lowercase_text: str) -> bool:
    """Whether a name is a whole word of a text in lower case."""
    # Looked for without _BEFORE, which would make a search through a long document ten times as slow.
    hits = re.finditer(_spelling_pattern(name.casefold()) + _AFTER, lowercase_text)
    return any(re.compile(_BEFORE).match(lowercase_text, hit.start()) for hit in hits)
