"""A model's thoughts told apart from its answer, in texts and in lists of parts."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from size import size

from genaipa.systems.chat_template import find_reasoning_parser_or_empty
from genaipa.systems.thoughts import (
    begins_with_thought_marks,
    join_distinct_thoughts,
    separate_text_and_thought_parts,
    split_thoughts,
    strip_blank_lines_and_end_mark,
)

if TYPE_CHECKING:
    from pathlib import Path

APART = {
    "<think>Which section?</think>\n\nYes, for a year.": ("Yes, for a year.", False),
    "\n<think>\n\n</think>\n\nYes.": ("Yes.", False),
    "<THINK>one</think><think>two</think>Yes.": ("Yes.", False),
    "<think>a <think> b </think> c </think>\nYes.": ("Yes.", False),
    "<thinking>hm</thinking> Yes.": ("Yes.", False),
    "<thought>hm</thought>\nYes.": ("Yes.", False),
    "<seed:think>hm</seed:think>Yes.": ("Yes.", False),
    "[THINK]hm[/THINK]Yes.": ("Yes.", False),
    "◁think▷hm◁/think▷Yes.": ("Yes.", False),
    "<|channel>thought\nhm<channel|>Yes.": ("Yes.", False),
    "<|inner_prefix|>hm<|inner_suffix|>Yes.": ("Yes.", False),
    "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>": ("Yes.", False),
    "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>": (
        "Yes.",
        False,
    ),
    "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>b<|end|>"
    "<|start|>assistant<|channel|>final<|message|>Yes.": ("Yes.", False),
    "analysisWe look for it.assistantfinalYes.": ("Yes.", False),
    # The prompt has opened them.
    "The user asks.\n</think>\n\nYes.": ("Yes.", False),
    "So the answer is yes.</think>Yes.": ("Yes.", False),
    "One.</think>\nTwo.\n</think>\n\nYes.": ("Yes.", False),
    "</think>\n\nYes.": ("Yes.", False),
    'Valid JSON, then.</think>{"a": "b"}': ('{"a": "b"}', False),
    "hm<|end|><|start|>assistant<|channel|>final<|message|>Yes.": ("Yes.", False),
    # They never end, or nothing follows.
    "<think>\nThe policy is long, and": ("", True),
    "[THINK]On and on": ("", True),
    "<|channel|>analysis<|message|>On and on": ("", True),
    "<think>That is all.</think>\n": ("", False),
}
"""A reply → its answer, and whether its thoughts have no end."""

WHOLE = (
    "Yes.",
    "",
    "The form has a field <think> that nobody reads, and ends with </think>.",
    "The `</think>` tag is not part of the policy.",
    "They write (see </think>) in a footnote.",
    "Sure.\n<think>Is it?</think>",
    "analysis of your data: none",
    "[1] Section 2 </b> <i>",
    "<p>Yes.</p>",
    "5 <| 6 |> 7",
)


def test_thoughts_are_told_apart_in_every_form() -> None:
    """What stands before the answer goes, also where the prompt began it; both together are the reply as it came."""
    for text, (answer, unclosed) in APART.items():
        said = split_thoughts(text)
        assert (strip_blank_lines_and_end_mark(said.answer), said.unclosed) == (answer, unclosed), text
        assert said.thoughts + said.answer == text
        assert begins_with_thought_marks(said.thoughts), text


def test_a_mention_is_no_thought() -> None:
    """A text that speaks of such marks, or begins like one, stays whole."""
    assert [split_thoughts(text).answer for text in WHOLE] == list(WHOLE)


_PIECES = [
    "<think>",
    "</think>",
    "<|channel|>final<|message|>",
    "<|channel|>analysis<|message|>",
    "[/THINK]",
    "\n",
    " ",
]
_PIECES += ["</think>", "Yes.", "`", "analysisA", "assistantfinal", "<|end|>", "◁/think▷", "a"]


@settings(max_examples=size(small=50, soak=2000), deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
@example("a</think> </think> b")
def test_an_answer_holds_no_further_thoughts(text: str) -> None:
    """What was told apart once stays as it is, however odd the text: records are read again and again."""
    said = split_thoughts(text)
    assert said.thoughts + said.answer == text
    for answer in (said.answer, strip_blank_lines_and_end_mark(said.answer)):
        assert split_thoughts(answer).thoughts == "", answer


def test_long_and_hostile_texts_end_in_time() -> None:
    """Marks by the ten thousand take no longer than reading them."""
    for piece in (
        "</think>\n",
        "a </think> b",
        "<think></think>",
        "analysisA",
        "<|channel|>",
        "<|return|> ",
        "<think>",
    ):
        begun = time.process_time()
        said = split_thoughts(piece * 20_000)
        assert split_thoughts(said.answer).thoughts == "", piece
        strip_blank_lines_and_end_mark(said.answer)
        assert time.process_time() - begun < 5, piece  # quadratic, it takes minutes


def test_parts_of_a_reply() -> None:
    """Texts are joined, thoughts are apart in each vendor's form, and anything else is named."""
    parts: list[Any] = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "Where?"}]},
        {"type": "thinking", "thinking": "There.", "signature": "x"},
        {"type": "redacted_thinking", "data": "AAAA"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Found."}]},
        {"type": "text", "text": "Yes, "},
        {"type": "output_text", "text": "in "},
        "Section 2.",
        {"type": "image_url", "image_url": {"url": "x"}},
        7,
    ]
    assert separate_text_and_thought_parts(parts) == (
        "Yes, in Section 2.",
        "Where?\n\nThere.\n\nFound.",
        ("image_url", "int"),
    )
    assert (
        join_distinct_thoughts("<think>Where?</think>\n\n", "Where?", "", "There.")
        == "<think>Where?</think>\n\n\n\nThere."
    )


TURNS = "{%- for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{%- endfor %}"
BEGIN = "{%- if add_generation_prompt %}<|im_start|>assistant\n"
CLOSED = "<think>\n\n</think>\n\n"
TEMPLATES = {
    TURNS
    + BEGIN
    + "{%- if enable_thinking is defined and not enable_thinking %}"
    + CLOSED
    + "{% endif %}{% endif %}": "qwen3",
    TURNS + BEGIN + "<think>\n{%- endif %}": "qwen3",
    "{{ bos_token }}{% for m in messages %}<\uff5cUser\uff5c>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<\uff5cAssistant\uff5c><think>\n{% endif %}": "deepseek_r1",
    # Off by default, never, of no family that is known, no template at all.
    TURNS + BEGIN + "{%- if not enable_thinking %}" + CLOSED + "{% endif %}{% endif %}": "",
    TURNS + BEGIN + "{%- endif %}{# <think> #}": "",
    "{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}<a><think>{% endif %}": "",
    "{% generation %}<think>": "",
}


@pytest.mark.parametrize("cached", [False, True])
def test_a_template_tells_the_parser(cached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a model in a folder or in the cache, where it thinks by default, and is of a known family; else none."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for template, parser in TEMPLATES.items():
        folder, model = tmp_path / "local", str(tmp_path / "local")
        if cached:
            refs, model = tmp_path / "models--lab--m" / "refs", "lab/m"
            refs.mkdir(parents=True, exist_ok=True)
            (refs / "main").write_text("abc")
            folder = refs.parent / "snapshots" / "abc"
        folder.mkdir(parents=True, exist_ok=True)
        tokens = {"1": {"content": "<think>"}, "2": {"content": "</think>"}}
        settings = {"chat_template": template, "added_tokens_decoder": tokens, "bos_token": {"content": "<s>"}}
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        assert find_reasoning_parser_or_empty(model, ["--max-model-len", "4096"]) == parser, template
        for flags in (["--reasoning-parser", "olmo3"], ["--reasoning_parser=none"], ["--chat-template", "x"]):
            assert find_reasoning_parser_or_empty(model, flags) == ""
    (folder / "tokenizer_config.json").write_text(
        json.dumps(settings | {"chat_template": TURNS + BEGIN + "<think>{% endif %}", "added_tokens_decoder": {}})
    )
    (folder / "tokenizer.json").write_text('{"added_tokens": []}')
    assert find_reasoning_parser_or_empty(model, []) == "", "without tokens for the marks, no parser starts"
    assert find_reasoning_parser_or_empty("lab/elsewhere", []) == ""
