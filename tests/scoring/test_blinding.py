"""Hiding whose answer it is."""

from __future__ import annotations

import pytest

from genaipa.scoring.masking import MASK, list_names_revealing_system, mask_names


def masked(text: str, system: str, model: str = "", keep: str = "") -> str:
    """A text as shown for a system, with a short sign for what is hidden."""
    return mask_names(text, list_names_revealing_system(system, model or system, ()), keep).replace(MASK, "■")


@pytest.mark.parametrize(
    ("system", "model", "text"),
    [
        ("gpt-4o", "openai/gpt-4o", "As ChatGPT, a GPT-4 model by OpenAI, I can't tell."),
        ("openai/o3", "openai/o3", "As ChatGPT, made by OpenAI, I can't tell."),
        ("claude-sonnet", "anthropic/claude-sonnet-5-5", "I'm Claude, made by Anthropic."),
        ("gemini-pro", "google/gemini-4-argon", "I am Gemini (formerly Bard), a model of Google DeepMind."),
        ("manual/Bard", "manual/Bard", "I am Bard, by Google."),
        ("manual/bing-chat", "manual/bing-chat", "Hello, this is Bing. I am Copilot of Microsoft."),
        ("llama-8b", "vllm/meta-llama/Llama-3.1-8B-Instruct", "I am Llama, trained by Meta."),
        ("openai-api/groq/qwen-2.5-72b", "openai-api/groq/qwen-2.5-72b", "I am Qwen, of Alibaba Cloud."),
        ("my_bots:PolicyReader", "my_bots:PolicyReader", "PolicyReader says so."),
    ],
)
def test_a_system_does_not_give_itself_away(system, model, text):
    """The product, the model and the vendor by which an assistant calls itself are hidden, and the rest is not."""
    hidden = masked(text, system, model)
    for name in ("GPT", "OpenAI", "Claude", "Anthropic", "Gemini", "Bard", "Google", "Bing", "Copilot", "Microsoft"):
        assert name not in hidden
    for name in ("Llama", "Meta", "Qwen", "Alibaba", "PolicyReader", "DeepMind"):
        assert name not in hidden
    assert "■" in hidden
    shown = hidden.replace("■", "").split()
    assert set(shown) <= set(text.split()) | {",", ".", "(formerly", "),"}


def test_the_model_as_served_is_hidden_too():
    """A name that only the server told is masked."""
    names = list_names_revealing_system("openai-api/loop/m", "openai-api/loop/m", ["mistral-large-2411"])
    assert {"Mistral", "mistral-large-2411"} <= set(names)
    assert mask_names("I am Mistral Large.", names, "") == f"I am {MASK} Large."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Bardolph asked Bard.", "Bardolph asked ■."),
        ("BARD and bard", "■ and ■"),
        ("Google Bard, **Bard**, _Bard_, Bard's", "■, **■**, _■_, ■'s"),
        ("Bardと言います", "■と言います"),
        ("bombard Bard2 Bard 2 Bard-Advanced Bard Advanced", "bombard ■ ■ ■ ■"),
        ("Bard 12 days", "■ 12 days"),
        ("Bard 3% of users", "■ 3% of users"),
        ("see bard.google.com", "see ■.■.com"),
    ],
)
def test_names_are_whole_words(text, shown):
    """Names go as whole words, in any case and markup, longest first, with the version behind them."""
    assert masked(text, "manual/Bard") == shown


@pytest.mark.parametrize("text", ["GPT-4o-mini", "GPT 4", "GPT4", "gpt\u20114", "Chat-GPT", "Chat GPT", "open ai"])
def test_spellings_of_one_name(text):
    """Blanks, hyphens and versions make no difference."""
    assert masked(f"It is {text}.", "gpt-4o", "openai/gpt-4o") == "It is ■."


def test_what_the_policy_names_stays():
    """A vendor that the document or the question names is shown: the answer is about it."""
    policy = "We use Google Analytics and share data with OpenAI, Inc. Meta-data is kept. Bardolph is our founder."
    said = "Section 2: it uses Google Analytics. I am Bard, a Google AI."
    assert masked(said, "manual/Bard", keep=policy) == "Section 2: it uses Google Analytics. I am ■, a ■."
    said = "It shares data with OpenAI. Chat GPT says so."
    assert masked(said, "gpt-4o", keep=policy) == "It shares data with OpenAI. ■ says so."


@pytest.mark.parametrize("system", ["extractive", "scripted", "scripted/x.yml", "openai-api/a/m", "manual/chat"])
def test_ordinary_words_are_no_names(system):
    """Systems without a name of their own leave ordinary words as they are."""
    text = "By chat, e-mail or an extractive, scripted assistant; a.m. or p.m.; the local model, meta-data."
    assert masked(text, system) == text


def test_nothing_to_hide():
    """Without names, and without text, nothing changes."""
    assert mask_names("Bard", (), "") == "Bard"
    assert mask_names("", list_names_revealing_system("manual/Bard", "", ()), "") == ""


def test_long_texts_are_masked_whole():
    """An answer of 200,000 characters is masked to its end, next to a long document."""
    text = "The policy says so. " * 10_000 + "I am Bard."
    shown = mask_names(
        text, list_names_revealing_system("manual/Bard", "manual/Bard", ()), "A policy of open data. " * 5_000
    )
    assert shown == text.replace("Bard", MASK)
