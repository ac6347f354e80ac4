"""A model's thoughts and its answer, separated in a reply's text and in a list of its parts.

Servers that know a model's marks send its thoughts beside the answer; any other leaves both in one text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

_FAMILY = "think|thinking|thought|reasoning|seed:think|longcat_think"
_TABLE: tuple[tuple[str, str], ...] = (
    # DeepSeek-R1, Qwen3, GLM, MiniMax, Nemotron, Olmo 3 (vLLM's basic_parsers.py); `thought` is EXAONE Deep's, and
    # Gemini's through OpenAI's protocol, `seed:think` Seed-OSS' (seed_oss_reasoning_parser.py).
    (rf"<(?:{_FAMILY})>", rf"</(?:{_FAMILY})>"),
    (r"\[THINK\]", r"\[/THINK\]"),  # Magistral (mistral_reasoning_parser.py)
    (r"◁think▷", r"◁/think▷"),  # Kimi's vision and k1.5 models (SGLang's KimiDetector)
    (r"<\|START_THINKING\|>", r"<\|END_THINKING\|>"),  # Command A (cohere_command_reasoning_parser.py)
    (r"<\|inner_prefix\|>", r"<\|inner_suffix\|>"),  # Apertus (apertus_reasoning_parser.py)
    (r"<\|begin_of_thought\|>", r"<\|end_of_thought\|>"),  # Sky-T1, OpenThinker (their model cards)
    (r"<\|channel>thought\b", r"<channel\|>"),  # Gemma 4 (gemma4_utils.py)
    # gpt-oss (OpenAI's harmony format): any channel but the last, with its marks, and without them.
    (
        r"(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)\b[^<]*<\|message\|>",
        r"<\|end\|>|(?=(?:<\|start\|>assistant)?<\|channel\|>)",
    ),
    (r"analysis(?=(?-i:[A-Z]))(?=.*assistantfinal)", r"assistantfinal"),
)
"""Beginning and end of a model's thoughts, as expressions, with the source of each."""
_FRAMES = (
    r"(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final\b[^<]*<\|message\|>"
    r"|<\|START_RESPONSE\|>|<\|begin_of_solution\|>"
)
"""Marks between thoughts and answer."""
_TAILS = ("<|return|>", "<|end|>", "<|END_RESPONSE|>", "<|end_of_solution|>")
"""Marks at the end of an answer in such a frame."""

_FLAGS = re.IGNORECASE | re.DOTALL
_OPEN = re.compile("|".join(f"(?P<open{index}>{begin})" for index, (begin, _) in enumerate(_TABLE)), _FLAGS)
_MENTION = re.compile("|".join(begin for begin, _ in _TABLE[:-1]), _FLAGS)
_CLOSE = {f"open{index}": re.compile(end, _FLAGS) for index, (_, end) in enumerate(_TABLE)}
_FRAME = re.compile(_FRAMES)
# A chat template may have opened the thought in the prompt; of gpt-oss the last channel ends it.
_UNOPENED = re.compile("|".join([*(end for _, end in _TABLE[:-2]), _FRAMES.partition("|<")[0]]), _FLAGS)
_BLANKS = "\ufeff \t\r\n"
_BLANK = re.compile(rf"[{_BLANKS}]*")
_LINE = 200
"""Characters behind a mark that are looked at for the end of its line."""
_BEGINNINGS = ("<", "[", "◁", "analysis")
_ENDINGS = ("</", "|>", "[/", "◁/")
_SENTENCE_ENDS = ".!?…。\uff01\uff1f:;)]}*"
_QUOTED, _UNQUOTED = "`\"'“\u2018«(", "`”\u2019»)"
_BLANK_LINES = re.compile(r"\A(?:[^\S\n]*\n)+")


class SplitReply(NamedTuple):
    """The thoughts at the head of a reply, with their marks, and the rest; `unclosed` thoughts have no end."""

    thoughts: str
    answer: str
    unclosed: bool = False


def split_thoughts(text: str) -> SplitReply:
    """Tell the thoughts at a reply's head from the answer; together they are the text.

    Text that only mentions such marks later stays as it is.

    >>> split_thoughts("<think>Where is it?</think> Yes.")
    SplitReply(thoughts='<think>Where is it?</think> ', answer='Yes.', unclosed=False)
    """
    # One character is found at once; most replies have neither of these.
    has_ending = (">" in text or "]" in text or "▷" in text) and any(mark in text for mark in _ENDINGS)
    if not has_ending and not text.lstrip(_BLANKS).startswith(_BEGINNINGS):
        return SplitReply("", text)
    end, unclosed = 0, False
    while not unclosed and (head_end := _find_end_of_thoughts_or_minus_one(text, end)) is not None:
        unclosed = head_end < 0
        end = len(text) if unclosed else head_end
    return SplitReply(text[:end], text[end:], unclosed)


def _find_end_of_thoughts_or_minus_one(text: str, start: int) -> int | None:
    """Return the end of one piece of thoughts that begins here; -1 if it has none, None without a beginning."""
    begin = _position_after_blanks(text, start)
    if opening := _OPEN.match(text, begin):
        closing = _CLOSE[str(opening.lastgroup)].search(text, opening.end())
        return _position_after_blanks(text, closing.end()) if closing else -1
    if start and (frame := _FRAME.match(text, begin)):
        return _position_after_blanks(text, frame.end())
    # Behind a beginning that is no reply's head, both marks are mentioned.
    mention, before, last = _MENTION.search(text, begin), begin, None
    for closing in _UNOPENED.finditer(text, begin, mention.start() if mention else len(text)):
        if _is_mark_end_of_thoughts(text, before, closing):
            last = closing.end()
        before = closing.end()
    return None if last is None else _position_after_blanks(text, last)


def _position_after_blanks(text: str, position: int) -> int:
    """Return the place after the blanks that follow."""
    blanks = _BLANK.match(text, position)
    return blanks.end() if blanks else position


def _is_mark_end_of_thoughts(text: str, search_start: int, mark: re.Match[str]) -> bool:
    """Tell whether a mark ends thoughts that the prompt began, and isn't mentioned in a sentence."""
    line = text[max(search_start, text.rfind("\n", search_start, mark.start()) + 1) : mark.start()]
    following = text[mark.end() : mark.end() + _LINE].partition("\n")[0]
    if not line.strip() or not following.strip():
        return True
    if following[0] in _UNQUOTED or line.rstrip()[-1] in _QUOTED:
        return False
    return not line[-1].isspace() or line.rstrip()[-1] in _SENTENCE_ENDS


def begins_with_thought_marks(thoughts: str) -> bool:
    """Tell whether thoughts were part of a reply's text: a server that sends them apart leaves out their marks."""
    return bool(_OPEN.match(thoughts.lstrip()) or split_thoughts(thoughts).thoughts)


def strip_blank_lines_and_end_mark(answer: str) -> str:
    """Return an answer without blank lines at its head, and without marks of its own at its end."""
    answer = _BLANK_LINES.sub("", answer)
    tail = next((tail for tail in _TAILS if answer.rstrip().endswith(tail)), "")
    bare = answer.rstrip().removesuffix(tail).rstrip() if tail else answer
    # A mark that was mentioned in the last line may look like an end of thoughts without it.
    return answer if split_thoughts(bare).thoughts else bare


def join_distinct_thoughts(*pieces: str) -> str:
    """Return the pieces of one reply's thoughts, each once: servers may send them in the text and beside it."""
    unique: list[str] = []
    for piece in filter(str.strip, pieces):
        if not any(piece.strip() in earlier for earlier in unique):
            unique.append(piece)
    return "\n\n".join(unique)


class ReplyParts(NamedTuple):
    """A list of parts: its text, its thoughts, and the types of the parts that are neither."""

    text: str
    thoughts: str
    other_types: tuple[str, ...]


_TEXTS = frozenset({"text", "output_text", "refusal"})
_THOUGHTS = frozenset({"thinking", "thought", "reasoning", "reasoning_text", "summary_text", "redacted_thinking"})
_FIELDS = ("thinking", "reasoning", "reasoning_content", "summary", "text", "content", "refusal", "data")


def separate_text_and_thought_parts(content: Iterable[object]) -> ReplyParts:
    """Read a reply's list of parts: OpenAI's, Mistral's, Anthropic's, or plain texts."""
    texts, thoughts, other_types = [], [], []
    for part in content:
        kind = str(part.get("type") or "text") if isinstance(part, dict) else "text"
        if isinstance(part, dict) and part.get("thought") is True:
            kind = "thought"
        if kind == "redacted_thinking":
            continue  # nobody can read it
        if kind in _THOUGHTS:
            thoughts.append(extract_nested_text(part))
        elif kind in _TEXTS and (isinstance(part, dict | str)):
            texts.append(extract_nested_text(part))
        else:
            other_types.append(kind if isinstance(part, dict) else type(part).__name__)
    return ReplyParts("".join(texts), "\n\n".join(filter(None, thoughts)), tuple(dict.fromkeys(other_types)))


def extract_nested_text(value: object) -> str:
    """Return the words of thoughts or of a part: a text, an object with one, or a list of these; else nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(extract_nested_text, value))
    if isinstance(value, dict):
        return next((words for name in _FIELDS if (words := extract_nested_text(value.get(name)))), "")
    return ""
