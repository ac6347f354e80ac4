"""The reasoning parser of vLLM's that a model's chat template tells, for a server that is started here.

A wrong parser takes whole replies for thoughts, so that none is named unless the template leaves no doubt: rendered as
for any question, it has the model think, and the marks of its turns are a known family's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.systems.endpoint import read_variable

if TYPE_CHECKING:
    from collections.abc import Sequence

_OPEN, _CLOSE = "<think>", "</think>"
_FAMILIES = (
    ("<\uff5cAssistant\uff5c>", "deepseek_r1"),
    ("[gMASK]", "glm45"),
    ("]~b]ai", "minimax_m2"),
    ("<|im_start|>", "qwen3"),
)
"""A mark of a family's turns, and vLLM's parser of its thoughts (vllm/reasoning/__init__.py)."""
_DECISIVE = (
    "--reasoning-parser",
    "--chat-template",
    "--tokenizer",
    "--revision",
    "--default-chat-template",
    "--config",
)
"""Beginnings of flags with which the template is another, or a parser was chosen."""
_TOKENS = ("tokenizer.json", "added_tokens.json", "tokenizer_config.json")
_LARGEST = 100_000_000
"""Bytes of the largest file that is read."""


def reasoning_parser(model: str, flags: Sequence[str]) -> str:
    """Return vLLM's name of the parser for a model in a folder here or in the Hugging Face cache; empty if unsure.

    `flags` are the user's own for the server.
    """
    named = [flag.partition("=")[0].replace("_", "-") for flag in flags if flag.startswith("--")]
    folder = None if any(flag.startswith(_DECISIVE) for flag in named) else _folder(model)
    if folder is None:
        return ""
    settings = _json(folder / "tokenizer_config.json")
    template = _template(folder, settings)
    if _OPEN not in template or not _knows_marks(folder):
        return ""
    texts = {name: _text(settings.get(name)) for name in ("bos_token", "eos_token", "pad_token", "unk_token")}
    begun, without = (_begun(template, texts | more) for more in ({}, {"enable_thinking": False}))
    # It opens the thoughts itself, or closes them at once where they are switched off, which they are not by default.
    thinks = begun.endswith(_OPEN) or (bool(begun) and not begun.endswith(_CLOSE) and without.endswith(_CLOSE))
    return next((parser for mark, parser in _FAMILIES if mark in begun or mark in template), "") if thinks else ""


def _folder(model: str) -> Path | None:
    """The model's folder: the one of that name, or the main snapshot in the cache; None for one that is not here."""
    if Path(model).is_dir():
        return Path(model)
    home = Path(read_variable("HF_HOME") or Path(read_variable("XDG_CACHE_HOME") or "~/.cache") / "huggingface")
    hub = Path(read_variable("HF_HUB_CACHE") or read_variable("HUGGINGFACE_HUB_CACHE") or home / "hub").expanduser()
    cached = hub / f"models--{model.replace('/', '--')}"
    try:
        snapshot = cached / "snapshots" / (cached / "refs" / "main").read_text(encoding="utf-8").strip()
        return snapshot if snapshot.is_dir() else None
    except (OSError, ValueError):
        return None


def _read(path: Path) -> str:
    """The text of a file; empty where there is none that can be read."""
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _LARGEST else ""
    except (OSError, ValueError):
        return ""


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(_read(path) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _template(folder: Path, settings: dict[str, Any]) -> str:
    """The chat template; empty where there is none, or several."""
    alone = _read(folder / "chat_template.jinja") or _json(folder / "chat_template.json").get("chat_template")
    found = alone or settings.get("chat_template")
    return found if isinstance(found, str) else ""


def _knows_marks(folder: Path) -> bool:
    """Whether both marks are tokens of the model's, without which vLLM's parsers don't start."""
    found = [_read(folder / name) for name in _TOKENS]
    lists = [text for name, text in zip(_TOKENS, found, strict=True) if name != _TOKENS[-1] or "added_tokens_" in text]
    if not any(lists):
        return True  # nothing tells; vLLM itself wouldn't start without
    return any(f'"{_OPEN}"' in text and f'"{_CLOSE}"' in text for text in lists)


def _text(token: Any) -> str:
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else ""


def _begun(template: str, values: dict[str, Any]) -> str:
    """How the model's turn begins in the prompt of a first question; empty where the template can't be rendered."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals |= {"raise_exception": _refuse, "strftime_now": lambda _form: "2026-01-01"}
    asked = {"messages": [{"role": "user", "content": "Hello"}], **values}
    try:
        made = environment.from_string(template)
        before = made.render(**asked, add_generation_prompt=False)
        return made.render(**asked, add_generation_prompt=True).removeprefix(before).rstrip()
    except (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return ""


def _refuse(said: str) -> None:
    raise ValueError(said)
