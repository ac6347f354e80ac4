"""Messages about failures: without keys, on one line, with the wait that a server asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from genaipa.errors import NotReadyError, PermanentError, TransientError
from genaipa.systems.endpoint import (
    LONGEST_MESSAGE,
    Endpoint,
    extract_error_message,
    is_loopback_url,
    read_address_from_environment,
    read_retry_delay,
)
from genaipa.systems.provider import HIDDEN, redact_keys

ENDPOINT = Endpoint("openai/gpt-4o", "https://api.example/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY", "sesame-open-42")


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-Ab3dEf9hIjKlMnOp",
        "sk-ant-api03-Zz9Yy8Xx7Ww6",
        "sk-proj-********************Ab3d",
        "AIzaSyA1b2C3d4E5f6G7h8I9j0",
        "gsk_1234567890abcdef",
        "d41d8cd98f00b204e9800998ecf8427e",
        "my-own***********42",
    ],
)
def test_anything_that_looks_like_a_key_is_hidden(key: str) -> None:
    """A key of a known shape, whole or masked, leaves no part of itself in the text."""
    assert redact_keys(f"Incorrect API key provided: {key}. See the console.") in {
        f"Incorrect API key provided: {HIDDEN}. See the console.",
        f"Incorrect API key provided: {HIDDEN} See the console.",
    }


@pytest.mark.parametrize("shown", ["sesame-open-42", "ses...-42", "ses…42", "sesxxxxxxxxxx"])
def test_the_known_key_is_hidden_in_any_shape(shown: str) -> None:
    """The very key in use is hidden, however the provider masks it."""
    assert redact_keys(f"the key '{shown}' is wrong", "sesame-open-42") == f"the key '{HIDDEN}' is wrong"


@pytest.mark.parametrize(
    "text",
    [
        "no model 'claude-sonnet-4-5-20250929'",
        "the model gpt-4o-mini-search-preview-2025-03-11 is overloaded...",
        "scikit: sk-learn, hf_hub_download, meta-llama/Llama-3.1-8B-Instruct",
        "This model's maximum context length is 8192 tokens; you asked for 9210.",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    """Names of models and plain sentences are not taken for keys."""
    assert redact_keys(text, "sesame-open-42") == text


def test_a_redirect_is_one_line_wherever_it_leads() -> None:
    """An address that is none, and one with characters that steer a terminal: the same kind, and a sentence."""
    for location in (
        "http://a\x1b[31m/",
        "http://[::1",
        "http://[v1.x]/",
        "\x9b31m",
        "\u202e//evil",
        None,
        "//",
        "a b",
    ):
        refused = ENDPOINT.status_error(302, "", redirect_location=location)
        assert isinstance(refused, PermanentError)
        assert (refused.kind, refused.fatal) == ("bad-request", True)
        assert " redirects to " in str(refused)
        assert str(refused).isprintable()
        before = ENDPOINT.redirect_error(302, location)
        assert before is not None
        assert before.kind == "bad-request"


def test_words_of_a_server_steer_nothing() -> None:
    """Of a message, a list of models and a note, whatever is no sign to be shown is replaced."""
    steering = "bad \x1b[31m\x07 \x9b \u202e words"
    for said in (
        ENDPOINT.status_error(400, {"error": {"message": steering}}),
        ENDPOINT.connection_error(steering),
        ENDPOINT.missing_model_list_note(steering),
        ENDPOINT.unlisted_model_note("m", [f"m{steering}"]),
    ):
        assert str(said).isprintable()


def test_credentials_in_an_address_are_hidden() -> None:
    """A user, a password or a key that stands in a URL is taken out of it."""
    assert redact_keys("http://me:secret@host/v1 and https://host/v1?key=abc123") == (
        f"http://host/v1 and https://host/v1?key={HIDDEN}"
    )


def test_a_message_is_one_short_line() -> None:
    """A long answer of several lines becomes one line that fits."""
    line = str(ENDPOINT.status_error(400, {"message": "too\nlong " * 200}))
    assert "\n" not in line
    assert len(line) == LONGEST_MESSAGE


def test_request_ids_do_not_tell_equal_failures_apart() -> None:
    """Two failures with the same cause have the same signature, though each names its own request."""
    first, second = (ENDPOINT.status_error(500, f"broken, see req_{number}abcdef") for number in (1, 2))
    assert first.comparison_key == second.comparison_key


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    """The wait is read from seconds or milliseconds; a date that is over means at once; nonsense means nothing."""
    assert read_retry_delay(headers) == seconds


def test_retry_after_a_date_to_come() -> None:
    """A date becomes the seconds until then."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    seconds = read_retry_delay({"retry-after": date})
    assert seconds is not None
    assert 60 < seconds <= 100


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "No."}}, "No."),
        ({"error": "No."}, "No."),
        ({"detail": "Not Found"}, "Not Found"),
        (
            {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]},
            "Extra inputs are not permitted",
        ),
        ("<html><head><title>502 Bad Gateway</title></head><body>…</body></html>", "502 Bad Gateway"),
        ("<html></html>", "no reason given"),
        ({}, "no reason given"),
        (None, "no reason given"),
    ],
)
def test_words_of_an_error(body: object, words: str) -> None:
    """The sentence is found in each form in which servers put it."""
    assert extract_error_message(body) == words


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("http://localhost:8080/v1", True),
        ("http://127.0.0.1/v1", True),
        ("http://[::1]:9/", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.com", False),
        ("http://10.0.0.1", False),
    ],
)
def test_is_loopback(address: str, *, near: bool) -> None:
    """Only this machine's own addresses need no key."""
    assert is_loopback_url(address) is near


@pytest.mark.parametrize("address", ["localhost:8000", "http://", "ftp://host", "http://host:port/v1", "http://[::1"])
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """What can't be an address is named with its variable."""
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(NotReadyError, match="OPENAI_BASE_URL"):
        read_address_from_environment("openai/gpt-4o", "OPENAI_BASE_URL")


def test_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address loses its last slash; a variable that is blank is as good as none."""
    monkeypatch.setenv("OPENAI_BASE_URL", " http://localhost:8000/v1/ ")
    monkeypatch.setenv("VLLM_BASE_URL", " ")
    assert read_address_from_environment("openai/gpt-4o", "OPENAI_BASE_URL") == "http://localhost:8000/v1"
    assert read_address_from_environment("vllm/tiny", "VLLM_BASE_URL") is None


TOO_LONG = (
    "This model's maximum context length is 9000 tokens. You requested 700 output tokens; your prompt has 9100.",
    "prompt is too long: 210001 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 21000 > 200000, decrease input length",
    "request (17001 tokens) exceeds the available context size, try increasing it",
    "The input token count (41000) exceeds the maximum number of tokens allowed (32000).",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5001 `inputs` tokens",
    "Input validation error: `inputs` must have less than 1024 tokens. Given: 5001",
    "Please reduce the length of the messages or completion.",
    "Current length is 10001 while limit is 8192",
    "Your request exceeded model token limit: 262144 (requested: 291001)",
    "prompt tokens (401000) exceed model maximum (278528)",
    "Requested tokens (5001) exceed context window of 2048",
    "Prompt exceeds max length",
    "Range of input length should be [1, 30720]",
    "Too many total text bytes",
    "This model's maximum prompt length is 4096 but there are 5001 tokens",
    "too many tokens: the limit is exceeded by 17",
    "Input is too long for the model that was asked for.",
    "The prompt (length 5001) is longer than the maximum model length of 4096.",
    "The message you submitted was too long; submit something shorter.",
    "Number of input tokens (5001) has exceeded the limit (4096).",
    "\u8f93\u5165\u5185\u5bb9\u8fc7\u957f",
)
NOT_TOO_LONG = (
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens",
    "temperature exceeds the maximum allowed value",
    "number of images exceeds the maximum of 20",
    "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'.",
    "messages: at least one message is required",
    "roles must alternate between user and assistant",
    "Your input was flagged.",
)


def test_servers_words_for_a_prompt_that_is_too_long() -> None:
    """In all of their wordings, or by their code alone; too long a reply, or another limit, is something else."""
    for said in TOO_LONG:
        error = ENDPOINT.status_error(400, {"error": {"message": said}})
        assert (error.kind, error.status) == ("context-length", 400), said
    for said in NOT_TOO_LONG:
        assert ENDPOINT.status_error(400, {"error": {"message": said}}).kind == "bad-request", said
    by_code = {"error": {"message": "That won't do.", "code": "context_length_exceeded"}}
    assert ENDPOINT.status_error(400, by_code).kind == "context-length"
    assert isinstance(ENDPOINT.status_error(500, {"error": {"message": TOO_LONG[3]}}), PermanentError)
    assert isinstance(ENDPOINT.status_error(503, {"error": {"message": TOO_LONG[3]}}), TransientError)


def test_a_body_of_no_use_is_shown() -> None:
    """Its kind and its first words, short and printable; what differs in it makes no other failure."""
    shown = {
        "<html><title>Sign in</title></html>": "(a page: Sign in)",
        "<html>Welcome!</html>": "(a page: <html>Welcome!</html>)",
        "upstream\x1b[31m\ngone ": "(text: upstream [31m gone)",
        "": "(empty)",
    }
    for body, words in shown.items():
        assert str(ENDPOINT.protocol_error("an answer", body)) == f"openai/gpt-4o sent an answer {words}."
    made = [ENDPOINT.protocol_error("an answer", {"id": number}) for number in (1, 2)]
    assert str(made[0]) == 'openai/gpt-4o sent an answer (a JSON object: {"id": 1}).'
    assert made[0].comparison_key == made[1].comparison_key
    assert len(str(ENDPOINT.protocol_error("an answer", ["a" * 10_000]))) < 200
