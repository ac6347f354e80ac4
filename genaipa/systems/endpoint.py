"""Endpoints of hosted systems, and one translation of failures for all adapters.

| what happened | error | kind |
|---|---|---|
| 401, 403 | PermanentError, fatal | authentication |
| 402, or a quota that is used up | PermanentError, fatal | quota |
| 404 | PermanentError, fatal | not-found |
| 429 | TransientError, overload | rate-limit |
| 503, 529 | TransientError, overload | overload |
| 408, 409, 425 and the other 5xx (but 501, 505) | TransientError | server |
| a time-out, a broken connection | TransientError | timeout, connection |
| a body that can't be read | TransientError | malformed-reply |
| an error in the body of a success | as for the status that it states | |
| a redirect, which nothing follows | PermanentError, fatal | bad-request |
| any other status | PermanentError | context-length, unsupported-schema, bad-request |

A message is one line of at most 300 characters without a key.
"""

from __future__ import annotations

import email.utils
import importlib
import ipaddress
import json
import math
import os
import re
import shlex
import urllib.parse
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from genaipa.errors import NotReadyError, PermanentError, TransientError, UsageError, clip, name_suggestion
from genaipa.files.certificates import explain_refused_certificate_or_empty
from genaipa.files.text import split_url_or_empty
from genaipa.systems.base import MAX_TOKENS, unsupported_schema_error
from genaipa.systems.provider import list_api_keys_in_environment, mask_api_keys, redact_keys
from genaipa.words import replace_unprintable_characters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from genaipa.systems.base import Settings
    from genaipa.systems.provider import Provider

LONGEST_MESSAGE = 300
_SEARCHED = 4000
"""Characters of a server's message that are read."""
_DEEPEST = 10
"""Levels of a body that are searched for its message."""
_NO_REASON = "no reason given"
_HELP = "try a shorter document, or rag/SYSTEM, which sends passages of it"
_BEFORE_HELP = LONGEST_MESSAGE - len(_HELP) - 3
_FIRST = 100
"""Characters of a body of no use that are shown."""
LOOK_UP_SECONDS = 10.0
"""Time limit of a lookup before a run."""
UNREADABLE = "the list can't be read"
"""Why a server's list of models is not known."""
_LISTS_NOTHING = frozenset({403, 404, 405, 501})
"""HTTP statuses of servers without a list of models, or without one for this key."""

_OVERLOAD = {429: "rate-limit", 503: "overload", 529: "overload"}
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Statuses that lead to another address, where no key and no document is sent."""
# No credit; the address or the model is wrong; the server is elsewhere.
_FATAL = {402: "quota", 404: "not-found", **dict.fromkeys(_REDIRECTS, "bad-request")}
_TRY_AGAIN = frozenset({408, 409, 425})
_NEVER = frozenset({501, 505})
_NOT_FOUND = 404
_FAULT = 500
_UNAUTHORISED = frozenset({401, 403})
STATUS_BY_WORD = {
    **dict.fromkeys(("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "too_many_requests"), 429),
    **dict.fromkeys(("authentication_error", "invalid_api_key", "UNAUTHENTICATED"), 401),
    **dict.fromkeys(("invalid_request_error", "context_length_exceeded", "INVALID_ARGUMENT", "BadRequestError"), 400),
    **dict.fromkeys(("billing_error", "insufficient_quota"), 402),
    **dict.fromkeys(("permission_error", "PERMISSION_DENIED"), 403),
    **dict.fromkeys(("not_found_error", "model_not_found", "NOT_FOUND"), 404),
    **dict.fromkeys(("api_error", "server_error", "INTERNAL"), 500),
    **dict.fromkeys(("timeout_error", "DEADLINE_EXCEEDED"), 504),
    "request_too_large": 413,
    "overloaded_error": 529,
    "UNAVAILABLE": 503,
}
"""HTTP statuses of the words by which bodies and batches tell errors."""
_LENGTHY = r"(?:prompt|input|inputs|messages?|conversation|question|text|document|sequence)"
_TOO_LONG = re.compile(
    r"""
    context[ _-]?(?:length|window|size|limit|budget) | (?:maximum|available|model(?:'s)?)\ context
    | exceed_context | n_ctx | 上下文
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TOO_MANY = re.compile(
    rf"""
    {_LENGTHY}(?:\ \([^)]*\)|\ you\ \w+)?(?:\ (?:is|are|was))?\ (?:(?:far|much)\ )?too\ (?:long|large|big)
    | {_LENGTHY}\b[^.]{{0,60}}\b(?:longer|larger|greater|more)\ than\b[^.]{{0,60}}(?:length|tokens|limit|maximum)
    | \b(?:prompts?|inputs?|messages|conversation)\b[^.]{{0,60}}\bexceed
    | exceed\w*\b[^.]{{0,40}}(?:token\ limit|number\ of\ (?:input\ )?tokens|\bprompt|input\ (?:length|token))
    | tokens?\ limit\ exceeded | tokens?\b[^.]{{0,60}}\bexceed\w*\ (?:the\ )?(?:model|maximum|limit)
    | too\ many\ (?:input\ |prompt\ |total\ )*(?:tokens|text\ bytes)
    | max(?:imum)?[ _](?:model|seq|sequence|input|prompt|context)(?:\ input)?[ _](?:len|tokens)
    | (?:reduce|shorten)\b[^.]{{0,40}}(?:prompt|messages?|input|context|tokens)
    | current\ length\ is\b[^.]{{0,40}}\blimit | range\ of\ input\ length
    | `?inputs`?\ (?:tokens\ \+|must\ have\ less) | string\ too\ long | maximum\ length\ of\ (?:the\ )?{_LENGTHY}
    | 超长 | 输入[^.]{{0,12}}(?:过长|超) | 超[出过][^.]{{0,12}}(?:长度|tokens?)
    """,
    re.IGNORECASE | re.VERBOSE,
)
# The reply that is asked for, not the prompt, is too long.
_OF_REPLY = re.compile(
    r"max(?:_completion|_output|_new)?_tokens\b[^.]{0,40}(?:too large|at most|> )|(?:output|completion) tokens",
    re.IGNORECASE,
)
# How servers name what carries a schema, where they refuse it.
_SCHEMA = re.compile(r"schema|response.?format|output.?config|structured|guided|grammar|\benums?\b", re.IGNORECASE)
# Would make equal failures look different.
_REQUEST_ID = re.compile(r"\breq(?:uest)?_\w{6,}")


@dataclass(frozen=True)
class Endpoint:
    """One system's address and key, with the environment variables that set them."""

    system: str
    address: str
    address_variable: str
    key_variable: str
    key: str | None = field(default=None, repr=False)
    url_suffix: str = ""
    """Usual end of an address of this protocol, such as `/v1`."""

    @property
    def may_use_proxy(self) -> bool:
        """Whether the environment's proxy applies: never to this machine."""
        return not is_loopback_url(self.address)

    def redact_and_clip_to_one_line(self, text: str) -> str:
        """Put a text on one line, without keys and request ids, cut to `LONGEST_MESSAGE`."""
        # Keys go before the text is cut, so that no part of one is left at the end.
        text = mask_api_keys(text, list_api_keys_in_environment())[:_SEARCHED]
        line = replace_unprintable_characters(" ".join(_REQUEST_ID.sub("…", redact_keys(text, self.key)).split()))
        return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"

    def status_error(
        self,
        status: int,
        body: object,
        retry_after: float | None = None,
        *,
        schema_requested: bool = False,
        redirect_location: str | None = None,
    ) -> TransientError | PermanentError:
        """Return the error for an HTTP status and body (JSON or text); `schema_requested` if a schema was asked for.

        `redirect_location` is where a redirect leads.
        """
        text = extract_error_message(body)
        if status in _UNAUTHORISED:
            return self.make_authentication_error(status, body)
        hint = (
            f" ({self._missing_url_suffix_hint_or_empty()})"
            if status == _NOT_FOUND and self._missing_url_suffix_hint_or_empty()
            else ""
        )
        message = self.redact_and_clip_to_one_line(f"{self.system} answered {status}{hint}: {text}")
        if status in _REDIRECTS:
            message = self._redirect_message(status, redirect_location)
        if status in _FATAL:
            return self._fatal_error(message, _FATAL[status], status)
        if status in _OVERLOAD:
            kind = _OVERLOAD[status]
            return TransientError(message, kind=kind, status=status, retry_after=retry_after, overload=True)
        text_and_words = f"{text} {' '.join(_list_error_codes(body))}"[:_SEARCHED]
        too_long = _says_prompt_too_long(text_and_words)
        is_transient = 500 <= status < 600 and status not in _NEVER and not (too_long and status == _FAULT)  # noqa: PLR2004
        if status in _TRY_AGAIN or is_transient:
            return TransientError(message, kind="server", status=status, retry_after=retry_after)
        if schema_requested and _SCHEMA.search(text[:_SEARCHED]):
            return unsupported_schema_error(self.system, self.redact_and_clip_to_one_line(text), status)
        message = f"{clip(message, _BEFORE_HELP)} ({_HELP})" if too_long else message
        return PermanentError(message, kind="context-length" if too_long else "bad-request", status=status)

    def find_stated_error(
        self, body: object, headers: Mapping[str, str], *, schema_requested: bool = False
    ) -> TransientError | PermanentError | None:
        """Return the error that the body of a success states; None for a body without one."""
        error = body.get("error") if isinstance(body, dict) else None
        if not error:
            return None
        detail = error if isinstance(error, dict) else {}
        words, wait = _list_error_codes(body), read_retry_delay(headers)
        if "insufficient_quota" in words:
            return self.make_quota_used_up_error(STATUS_BY_WORD["insufficient_quota"], body)
        stated = [
            _parse_http_error_status(detail.get(name)) for name in ("code", "status", "status_code", "http_status")
        ]
        status = next(filter(None, [*stated, *map(STATUS_BY_WORD.get, words)]), None)
        if status is None and not _says_prompt_too_long(extract_error_message(body)[:_SEARCHED]):
            message = self.redact_and_clip_to_one_line(
                f"{self.system} answered with an error: {extract_error_message(body)}"
            )
            return TransientError(message, kind="server", retry_after=wait)
        if wait is None and isinstance(metadata := detail.get("metadata"), dict):
            passed = metadata.get("headers")
            wait = read_retry_delay(
                {str(k).lower(): str(v) for k, v in passed.items()} if isinstance(passed, dict) else {}
            )
        return self.status_error(status or 400, body, wait, schema_requested=schema_requested)

    def redirect_error(self, status: int, redirect_location: str | None) -> NotReadyError | None:
        """Return the error of a server that redirects before the run; None for any other status."""
        if status not in _REDIRECTS:
            return None
        return NotReadyError(self._redirect_message(status, redirect_location), kind="bad-request", status=status)

    def _redirect_message(self, status: int, redirect_location: str | None) -> str:
        try:
            # Without what may be a secret in it.
            to = urllib.parse.urljoin(f"{self.address}/", redirect_location or "").partition("?")[0]
        except ValueError:
            to = "an invalid address"
        message = (
            f"{self.system} answered {status}: {self.address} redirects to {to}, to which genaipa "
            f"sends no key and no document"
        )
        return self.redact_and_clip_to_one_line(
            f"{message}; if that is the right server, set {self.address_variable} to it."
        )

    def _missing_url_suffix_hint_or_empty(self) -> str:
        """Hint at an address without its usual end."""
        path = urllib.parse.urlsplit(self.address).path
        return (
            f"should {self.address_variable} end in {self.url_suffix}?" if self.url_suffix and "/v" not in path else ""
        )

    @property
    def _host_name(self) -> str:
        return urllib.parse.urlsplit(self.address).netloc.rpartition("@")[2]

    @property
    def _address_with_proxy(self) -> str:
        proxy = find_proxy_variable_and_address(self.address)
        return f"{self.address} through the proxy {proxy[1]} ({proxy[0]})" if proxy else self.address

    def _fatal_error(self, message: str, kind: str, status: int) -> PermanentError:
        return PermanentError(self.redact_and_clip_to_one_line(message), kind=kind, status=status, fatal=True)

    def make_quota_used_up_error(self, status: int, body: object) -> PermanentError:
        """Return the error of an account without credit."""
        message = (
            f"{self.system}: the quota of the key in {self.key_variable} is used up: {extract_error_message(body)}"
        )
        return self._fatal_error(message, "quota", status)

    def make_authentication_error(self, status: int, body: object) -> PermanentError:
        """Return the error of a refused key."""
        message = f"{self.system} refused the key in {self.key_variable} ({status}): {extract_error_message(body)}"
        return self._fatal_error(message, "authentication", status)

    def timeout_error(self, seconds: float) -> TransientError:
        """Return the error of a call without an answer in time."""
        message = f"{self.system} gave no answer within {seconds:g} s; for a slow server, raise --timeout."
        return TransientError(message, kind="timeout")

    def connection_error(self, cause: object) -> TransientError:
        """Return the error of a failed or broken connection."""
        if refused := explain_refused_certificate_or_empty(cause, self._host_name):
            return TransientError(self.redact_and_clip_to_one_line(f"{self.system}: {refused}."), kind="connection")
        message = f"{self.system}: the connection to {self._address_with_proxy} failed ({cause})."
        return TransientError(self.redact_and_clip_to_one_line(message), kind="connection")

    def protocol_error(self, problem: str, *body: object) -> TransientError:
        """Return the error of an answer that breaks the protocol, with the kind and the first words of its `body`."""
        excerpt = f" ({_describe_body_beginning(body[0])})" if body else ""
        return TransientError(
            self.redact_and_clip_to_one_line(f"{self.system} sent {problem}{excerpt}."), kind="malformed-reply"
        )

    def unreachable_error(self, cause: object) -> NotReadyError:
        """Return the error of a server that does not answer before the run."""
        if refused := explain_refused_certificate_or_empty(cause, self._host_name):
            return NotReadyError(self.redact_and_clip_to_one_line(f"{self.system}: {refused}."), kind="connection")
        proxy = find_proxy_variable_and_address(self.address)
        target, variable = ("proxy", proxy[0]) if proxy else ("address", self.address_variable)
        message = f"nothing answers at {self._address_with_proxy} ({cause}); check the {target} in {variable}."
        return NotReadyError(self.redact_and_clip_to_one_line(f"{self.system}: {message}"), kind="connection")

    def setup_authentication_error(self, status: int, body: object) -> NotReadyError:
        """Return the error of a key refused before the run."""
        message = f"{self.address} refuses the key in {self.key_variable} ({status}): {extract_error_message(body)}"
        return NotReadyError(
            self.redact_and_clip_to_one_line(f"{self.system}: {message}"), kind="authentication", status=status
        )

    def unknown_model_error(self, model: str, listed_models: Iterable[str]) -> NotReadyError:
        """Return the error of a model that the server denies having."""
        message = f"{self.system}: {self.address} has no model '{model}'{name_suggestion(model, listed_models)}"
        return NotReadyError(self.redact_and_clip_to_one_line(message), kind="not-found", status=_NOT_FOUND)

    def unlisted_model_note(self, model: str, listed_models: Iterable[str]) -> str:
        """Return a note on a model that the server neither lists nor denies."""
        return self.redact_and_clip_to_one_line(
            f"{self.address} does not list the model '{model}'{name_suggestion(model, listed_models)}"
        )

    def model_list_failure_unless_unsupported(self, status: int, body: object) -> str:
        """Return why a server lists no models, in its words; empty for a server that never lists any."""
        return "" if status in _LISTS_NOTHING else f"{status}: {extract_error_message(body)}"

    def missing_model_list_note(self, reason: object) -> str:
        """Return a note on a server whose models can't be listed."""
        reason = (
            f"{reason}; {self._missing_url_suffix_hint_or_empty()}"
            if self._missing_url_suffix_hint_or_empty()
            else reason
        )
        return self.redact_and_clip_to_one_line(
            f"{self.address} does not list its models ({reason}), so '{self.system}' was not checked."
        )


def require_sdk(system: str, provider: Provider, *more_packages: str) -> None:
    """Raise a NotReadyError, naming the extra to install, if the SDK or one more package of it is missing."""
    try:
        for package in (provider.sdk, *more_packages):
            importlib.import_module(package)
    except ImportError:
        raise NotReadyError(
            f"{system} needs the package '{package}': pip install 'genaipa[{provider.extra}]'", kind="missing-sdk"
        ) from None


def read_endpoint_from_environment(provider: Provider, system: str, address: str | None = None) -> Endpoint:
    """Read a system's endpoint from its provider's variables; a NotReadyError names a missing one.

    `address` overrides the variable for a server started here.
    """
    server = provider.fill_server_in_variable_names(system)
    address = address or read_address_from_environment(system, server.address) or server.default_address
    if not address:
        raise NotReadyError(
            f"{system} needs an address: set {server.address}, for example to http://localhost:8080/v1.",
            kind="missing-address",
        )
    keys, variables = [read_api_key_from_environment(system, key) for key in server.keys], " or ".join(server.keys)
    key = next(filter(None, keys), None)
    if key is None and needs_key(server, address):
        raise NotReadyError(
            f"{system} needs a key: set {variables} in the environment or in a .env file.", kind="missing-key"
        )
    return Endpoint(system, address, server.address, variables, key, server.url_suffix)


def needs_key(provider: Provider, address: str) -> bool:
    """Tell whether requests to this address need a key."""
    return provider.key_needed == "always" or (provider.key_needed == "elsewhere" and not is_loopback_url(address))


def read_environment_variable(name: str) -> str | None:
    """Return the value of an environment variable; None if unset or blank."""
    return os.environ.get(name, "").strip() or None


def read_api_key_from_environment(system: str, variable: str) -> str | None:
    """Return the key in an environment variable; None if unset; NotReadyError if no request can carry it."""
    key = read_environment_variable(variable)
    bad_position = next((position for position, sign in enumerate(key or "", 1) if not "!" <= sign <= "~"), None)
    if bad_position is not None:
        raise NotReadyError(
            f"{system}: the key in {variable} can't be sent: its character {bad_position} is a space or not "
            "ASCII; copy the key again.",
            kind="authentication",
        )
    return key


def read_environment_variable_words(variable: str) -> list[str]:
    """Return the value of an environment variable, split as by a shell; UsageError if a shell couldn't."""
    try:
        return shlex.split(read_environment_variable(variable) or "")
    except ValueError as error:
        raise UsageError(f"{variable} can't be split into words ({str(error).lower()}); fix its quotes.") from None


def read_address_from_environment(system: str, variable: str) -> str | None:
    """Return the address in an environment variable; None if unset; NotReadyError if it is no URL."""
    address = read_environment_variable(variable)
    if address is None:
        return None
    try:
        parts = urllib.parse.urlsplit(address)
        good = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise NotReadyError(
            f"{system}: {variable} is '{redact_keys(address)}', which is not an address such as http://localhost:8000/v1.",
            kind="missing-address",
        )
    return address.rstrip("/")


def is_loopback_url(address: str) -> bool:
    """Tell whether a URL leads to this machine."""
    host = split_url_or_empty(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def find_proxy_variable_and_address(address: str) -> tuple[str, str] | None:
    """Return the variable and the address (without password) of the proxy for a URL; None without one."""
    from urllib.request import proxy_bypass

    parts = urllib.parse.urlsplit(address)
    if is_loopback_url(address) or proxy_bypass(parts.hostname or ""):
        return None
    for name in (f"{parts.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if proxy := read_environment_variable(variable):
                return variable, redact_keys(proxy)
    return None


def read_retry_delay(headers: Mapping[str, str]) -> float | None:
    """Return the seconds to wait by an answer's headers (milliseconds, seconds or a date), if they say."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if math.isfinite(seconds) and seconds >= 0:
            return seconds
    try:
        date = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def parse_token_count_or_zero(value: object) -> int:
    """Return a token count that a server states; 0 for anything that can't be one."""
    return value if type(value) is int and 0 < value <= MAX_TOKENS else 0


def select_sendable_sampling_options(
    settings: Settings, accepted_names: AbstractSet[str], protocol_options: Mapping[str, str]
) -> dict[str, Any]:
    """Return the sampling options to send: set, accepted by the model, and in the protocol."""
    options = settings.to_options()
    return {name: options[name] for name in protocol_options if name in options and name in accepted_names}


def _list_error_codes(body: object) -> list[str]:
    """Return the words by which a body names its error: code, type and status, without sentences."""
    inner = body.get("error") if isinstance(body, dict) else None
    fields = [part for part in (inner, body) if isinstance(part, dict)]
    values = [part.get(name) for part in fields for name in ("code", "type", "status")]
    return [word for word in values if isinstance(word, str) and " " not in word]


def _says_prompt_too_long(error_message: str) -> bool:
    """Tell whether a server's words say that the prompt is longer than the model takes."""
    return bool(
        _TOO_LONG.search(error_message) or (_TOO_MANY.search(error_message) and not _OF_REPLY.search(error_message))
    )


def _parse_http_error_status(code: object) -> int | None:
    """Return the HTTP status that a code is; None for any other."""
    number = int(code) if isinstance(code, str) and code.isdecimal() and len(code) == 3 else code  # noqa: PLR2004
    return number if type(number) is int and 400 <= number < 600 else None  # noqa: PLR2004 - errors


def _describe_body_beginning(body: object) -> str:
    """Return the kind of a body, and how it begins, in a few printable words."""
    if not isinstance(body, str):
        kind = "a JSON object" if isinstance(body, dict) else "JSON"
        text = json.dumps(body, ensure_ascii=False)
    elif body.lstrip().startswith("<"):
        page = extract_error_message(body)
        kind, text = "a page", page if page != _NO_REASON else body
    else:
        kind, text = "text", body
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in text[:_SEARCHED]).split())
    return f"{kind}: {clip(words, _FIRST)}" if words else "empty"


def extract_error_message(body: object) -> str:
    """Return the message in an error's body: a vendor's or FastAPI's JSON, a proxy's page, text."""
    for _ in range(_DEEPEST):
        if isinstance(body, dict):
            body = next((body[name] for name in ("error", "message", "detail", "msg") if body.get(name)), None)
        elif isinstance(body, list):
            body = body[0] if body else None
    if isinstance(body, dict | list):
        return _NO_REASON
    text = str(body or "").strip()
    if text[:1] == "<":
        begun = re.search("<title>", text, re.IGNORECASE)
        ended = re.compile("</title>", re.IGNORECASE).search(text, begun.end()) if begun else None
        text = text[begun.end() : ended.start()].strip() if begun and ended else ""
    return text or _NO_REASON
