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
| a redirect, which nothing follows | PermanentError, fatal | bad-request |
| any other status | PermanentError | context-length, unsupported-schema, bad-request |

A message is one line of at most 300 characters without a key.
"""

from __future__ import annotations

import email.utils
import importlib
import ipaddress
import math
import os
import re
import shlex
import urllib.parse
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from genaipa.errors import NotReadyError, PermanentError, TransientError, UsageError, nearest
from genaipa.systems.base import MOST_TOKENS, unsupported_schema
from genaipa.systems.provider import known_keys, mask, redact

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
_UNAUTHORISED = frozenset({401, 403})
_TOO_LONG = re.compile(
    r"context.length|maximum context|available context|prompt is too long|maximum number of tokens", re.IGNORECASE
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
    ends: str = ""
    """Usual end of an address of this protocol, such as `/v1`."""

    @property
    def by_proxy(self) -> bool:
        """Whether the environment's proxy applies: never to this machine."""
        return not is_loopback(self.address)

    def one_line(self, text: str) -> str:
        """Put a text on one line, without keys and request ids, cut to `LONGEST_MESSAGE`."""
        # Keys go before the text is cut, so that no part of one is left at the end.
        text = mask(text, known_keys())[:_SEARCHED]
        line = " ".join(_REQUEST_ID.sub("…", redact(text, self.key)).split())
        return line if len(line) <= LONGEST_MESSAGE else line[: LONGEST_MESSAGE - 1] + "…"

    def refused(
        self,
        status: int,
        body: object,
        retry_after: float | None = None,
        *,
        structured: bool = False,
        location: str | None = None,
    ) -> TransientError | PermanentError:
        """Error for an HTTP status and body (JSON or text); `structured` if a reply by a schema was asked for.

        `location` is where a redirect leads.
        """
        said = error_text(body)
        if status in _UNAUTHORISED:
            return self.key_refused(status, body)
        hint = f" ({self._lacking_end()})" if status == _NOT_FOUND and self._lacking_end() else ""
        message = self.one_line(f"{self.system} answered {status}{hint}: {said}")
        if status in _REDIRECTS:
            message = self._redirected(status, location)
        if status in _FATAL:
            return self._fatal(message, _FATAL[status], status)
        if status in _OVERLOAD:
            kind = _OVERLOAD[status]
            return TransientError(message, kind=kind, status=status, retry_after=retry_after, overload=True)
        if status in _TRY_AGAIN or (500 <= status < 600 and status not in _NEVER):  # noqa: PLR2004 - server errors
            return TransientError(message, kind="server", status=status, retry_after=retry_after)
        if structured and _SCHEMA.search(said[:_SEARCHED]):
            return unsupported_schema(self.system, self.one_line(said), status)
        kind = "context-length" if _TOO_LONG.search(said[:_SEARCHED]) else "bad-request"
        return PermanentError(message, kind=kind, status=status)

    def redirected(self, status: int, location: str | None) -> NotReadyError | None:
        """Error of a server that redirects before the run; None for any other status."""
        if status not in _REDIRECTS:
            return None
        return NotReadyError(self._redirected(status, location), kind="bad-request", status=status)

    def _redirected(self, status: int, location: str | None) -> str:
        # Without what may be a secret in it.
        to = urllib.parse.urljoin(f"{self.address}/", location or "").partition("?")[0]
        said = f"{self.system} answered {status}: {self.address} redirects to {to}, which gets neither key nor document"
        return self.one_line(f"{said}; if that is the right server, set {self.address_variable} to it.")

    def _lacking_end(self) -> str:
        """Hint at an address without its usual end."""
        path = urllib.parse.urlsplit(self.address).path
        return f"does {self.address_variable} lack {self.ends} at its end?" if self.ends and "/v" not in path else ""

    @property
    def _reached(self) -> str:
        proxy = proxy_of(self.address)
        return f"{self.address} through the proxy {proxy[1]} ({proxy[0]})" if proxy else self.address

    def _fatal(self, said: str, kind: str, status: int) -> PermanentError:
        return PermanentError(self.one_line(said), kind=kind, status=status, fatal=True)

    def out_of_quota(self, status: int, body: object) -> PermanentError:
        """Error of an account without credit."""
        said = f"{self.system}: the quota of the key in {self.key_variable} is used up: {error_text(body)}"
        return self._fatal(said, "quota", status)

    def key_refused(self, status: int, body: object) -> PermanentError:
        """Error of a refused key."""
        said = f"{self.system} refused the key in {self.key_variable} ({status}): {error_text(body)}"
        return self._fatal(said, "authentication", status)

    def timed_out(self, seconds: float) -> TransientError:
        """Error of a call without an answer in time."""
        said = f"{self.system} gave no answer within {seconds:g} s; a slow server needs a higher --timeout."
        return TransientError(said, kind="timeout")

    def disconnected(self, cause: object) -> TransientError:
        """Error of a failed or broken connection."""
        said = f"{self.system}: the connection to {self._reached} failed ({cause})."
        return TransientError(self.one_line(said), kind="connection")

    def malformed(self, what: str) -> TransientError:
        """Error of an answer that breaks the protocol."""
        return TransientError(self.one_line(f"{self.system} sent {what}."), kind="malformed-reply")

    def unreachable(self, cause: object) -> NotReadyError:
        """Error of a server that does not answer before the run."""
        proxy = proxy_of(self.address)
        what, variable = ("proxy", proxy[0]) if proxy else ("address", self.address_variable)
        said = f"nothing answers at {self._reached} ({cause}); is the {what} right? {variable} sets it."
        return NotReadyError(self.one_line(f"{self.system}: {said}"), kind="connection")

    def unauthorised(self, status: int, body: object) -> NotReadyError:
        """Error of a key refused before the run."""
        said = f"{self.address} refuses the key in {self.key_variable} ({status}): {error_text(body)}"
        return NotReadyError(self.one_line(f"{self.system}: {said}"), kind="authentication", status=status)

    def unknown_model(self, model: str, models: Iterable[str]) -> NotReadyError:
        """Error of a model that the server denies having."""
        said = f"{self.system}: {self.address} has no model '{model}'{nearest(model, models)}"
        return NotReadyError(self.one_line(said), kind="not-found", status=_NOT_FOUND)

    def unlisted_model(self, model: str, models: Iterable[str]) -> str:
        """Note on a model that the server neither lists nor denies."""
        return self.one_line(f"{self.address} does not list the model '{model}'{nearest(model, models)}")

    def why_unlisted(self, status: int, body: object) -> str:
        """Why a server lists no models, as it says; empty if it is one that never does."""
        return "" if status in _LISTS_NOTHING else f"{status}: {error_text(body)}"

    def unlisted(self, why: object) -> str:
        """Note on a server whose models can't be listed."""
        why = f"{why}; {self._lacking_end()}" if self._lacking_end() else why
        return self.one_line(f"{self.address} does not list its models ({why}), so '{self.system}' was not checked.")


def need_sdk(system: str, provider: Provider, *more: str) -> None:
    """Raise a NotReadyError, naming the extra to install, if the SDK or one more package of it is missing."""
    try:
        for package in (provider.sdk, *more):
            importlib.import_module(package)
    except ImportError:
        raise NotReadyError(
            f"{system} needs the package '{package}': pip install 'genaipa[{provider.extra}]'", kind="missing-sdk"
        ) from None


def find_endpoint(provider: Provider, system: str, address: str | None = None) -> Endpoint:
    """Read a system's endpoint from its provider's variables; a NotReadyError names a missing one.

    `address` overrides the variable for a server started here.
    """
    here = provider.at(system)
    address = address or read_address(system, here.address) or here.default_address
    if not address:
        raise NotReadyError(
            f"{system} needs an address: set {here.address}, for example to http://localhost:8080/v1.",
            kind="missing-address",
        )
    keys, variables = [read_key(system, key) for key in here.keys], " or ".join(here.keys)
    key = next(filter(None, keys), None)
    if key is None and needs_key(here, address):
        raise NotReadyError(
            f"{system} needs a key: set {variables} in the environment or in a file .env.", kind="missing-key"
        )
    return Endpoint(system, address, here.address, variables, key, here.ends)


def needs_key(provider: Provider, address: str) -> bool:
    """Whether requests to this address need a key."""
    return provider.key_needed == "always" or (provider.key_needed == "elsewhere" and not is_loopback(address))


def read_variable(name: str) -> str | None:
    """Value of an environment variable; None if unset or blank."""
    return os.environ.get(name, "").strip() or None


def read_key(system: str, variable: str) -> str | None:
    """Key in an environment variable; None if unset; NotReadyError if no request can carry it."""
    key = read_variable(variable)
    wrong = next((place for place, sign in enumerate(key or "", 1) if not "!" <= sign <= "~"), None)
    if wrong is not None:
        raise NotReadyError(
            f"{system}: the key in {variable} can't be sent: its character {wrong} is a blank or not plain ASCII; "
            "copy the key once more.",
            kind="authentication",
        )
    return key


def read_words(name: str) -> list[str]:
    """Value of an environment variable, split as by a shell; UsageError if a shell couldn't."""
    try:
        return shlex.split(read_variable(name) or "")
    except ValueError as error:
        raise UsageError(f"{name} can't be split into words ({str(error).lower()}); mend its quotes.") from None


def read_address(system: str, variable: str) -> str | None:
    """Address in an environment variable; None if unset; NotReadyError if it is no URL."""
    address = read_variable(variable)
    if address is None:
        return None
    try:
        parts = urllib.parse.urlsplit(address)
        good = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise NotReadyError(
            f"{system}: {variable} is '{redact(address)}', which is no address such as http://localhost:8000/v1.",
            kind="missing-address",
        )
    return address.rstrip("/")


def is_loopback(address: str) -> bool:
    """Whether a URL leads to this machine."""
    host = urllib.parse.urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_of(address: str) -> tuple[str, str] | None:
    """Variable and address (without password) of the proxy for a URL; None without one."""
    from urllib.request import proxy_bypass

    parts = urllib.parse.urlsplit(address)
    if is_loopback(address) or proxy_bypass(parts.hostname or ""):
        return None
    for name in (f"{parts.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if proxy := read_variable(variable):
                return variable, redact(proxy)
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by an answer's headers (milliseconds, seconds or a date), if they say."""
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


def as_count(value: object) -> int:
    """Token count stated by a server; 0 for anything that can't be one."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


def sent_settings(settings: Settings, accepts: AbstractSet[str], fields: Mapping[str, str]) -> dict[str, Any]:
    """Sampling options to send: chosen, accepted by the model, and known to the protocol."""
    chosen = settings.chosen()
    return {name: chosen[name] for name in fields if name in chosen and name in accepts}


def error_text(body: object) -> str:
    """Message in an error's body: OpenAI's, Anthropic's, Google's or FastAPI's JSON, a proxy's page, text."""
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
