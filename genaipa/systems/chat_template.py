"""The reasoning parser of vLLM's that a model's chat template tells, for a server that is started here.

A wrong parser takes whole replies for thoughts, so that none is named unless the template leaves no doubt: rendered as
for any question, it has the model think, and the marks of its turns are a known family's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from genaipa.files.limits import JSON
from genaipa.systems.endpoint import read_environment_variable

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


def find_reasoning_parser_or_empty(model: str, server_flags: Sequence[str]) -> str:
    """Return vLLM's name of the parser for a model in a folder here or in the Hugging Face cache; empty if unsure.

    `server_flags` are the user's own for the server.
    """
    flag_names = [flag.partition("=")[0].replace("_", "-") for flag in server_flags if flag.startswith("--")]
    folder = None if any(flag.startswith(_DECISIVE) for flag in flag_names) else _find_local_model_folder(model)
    if folder is None:
        return ""
    settings = _read_json_or_empty(folder / "tokenizer_config.json")
    template = _read_chat_template_or_empty(folder, settings)
    if _OPEN not in template or not _may_have_reasoning_tokens(folder):
        return ""
    texts = {name: _token_text(settings.get(name)) for name in ("bos_token", "eos_token", "pad_token", "unk_token")}
    turn, without = (
        _render_model_turn_start_or_empty(template, texts | switches) for switches in ({}, {"enable_thinking": False})
    )
    # It opens the thoughts itself, or closes them at once where they are switched off, which they are not by default.
    thinks = turn.endswith(_OPEN) or (bool(turn) and not turn.endswith(_CLOSE) and without.endswith(_CLOSE))
    return next((parser for mark, parser in _FAMILIES if mark in turn or mark in template), "") if thinks else ""


def _find_local_model_folder(model: str) -> Path | None:
    """Return the model's folder: the one of that name, or the main snapshot in the cache; None where neither is."""
    if Path(model).is_dir():
        return Path(model)
    home = Path(
        read_environment_variable("HF_HOME")
        or Path(read_environment_variable("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    )
    hub = Path(
        read_environment_variable("HF_HUB_CACHE") or read_environment_variable("HUGGINGFACE_HUB_CACHE") or home / "hub"
    ).expanduser()
    cached = hub / f"models--{model.replace('/', '--')}"
    try:
        snapshot = cached / "snapshots" / (cached / "refs" / "main").read_text(encoding="utf-8").strip()
        return snapshot if snapshot.is_dir() else None
    except (OSError, ValueError):
        return None


def _read_text_or_empty(path: Path) -> str:
    """Return the text of a file; empty where there is none that can be read."""
    try:
        return path.read_text(encoding="utf-8") if path.stat().st_size <= JSON.size else ""
    except (OSError, ValueError):
        return ""


def _read_json_or_empty(path: Path) -> dict[str, Any]:
    try:
        fields = json.loads(_read_text_or_empty(path) or "{}")
    except (ValueError, RecursionError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _read_chat_template_or_empty(folder: Path, tokenizer_settings: dict[str, Any]) -> str:
    """Return the chat template; empty where there is none, or several."""
    alone = _read_text_or_empty(folder / "chat_template.jinja") or _read_json_or_empty(
        folder / "chat_template.json"
    ).get("chat_template")
    template = alone or tokenizer_settings.get("chat_template")
    return template if isinstance(template, str) else ""


def _may_have_reasoning_tokens(folder: Path) -> bool:
    """Tell whether both marks are tokens of the model's, without which vLLM's parsers don't start."""
    contents = [_read_text_or_empty(folder / name) for name in _TOKENS]
    lists = [
        text for name, text in zip(_TOKENS, contents, strict=True) if name != _TOKENS[-1] or "added_tokens_" in text
    ]
    if not any(lists):
        return True  # nothing tells; vLLM itself wouldn't start without
    return any(f'"{_OPEN}"' in text and f'"{_CLOSE}"' in text for text in lists)


def _token_text(token: Any) -> str:
    if isinstance(token, dict):
        token = token.get("content")
    return token if isinstance(token, str) else ""


def _render_model_turn_start_or_empty(template: str, template_variables: dict[str, Any]) -> str:
    """Return how the model's turn begins in a first question's prompt; empty where the template can't be rendered."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals |= {"raise_exception": _raise_template_error, "strftime_now": lambda _form: "2026-01-01"}
    variables = {"messages": [{"role": "user", "content": "Hello"}], **template_variables}
    try:
        compiled = environment.from_string(template)
        prefix = compiled.render(**variables, add_generation_prompt=False)
        return compiled.render(**variables, add_generation_prompt=True).removeprefix(prefix).rstrip()
    except (jinja2.TemplateError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        return ""


def _raise_template_error(message: str) -> None:
    raise ValueError(message)
