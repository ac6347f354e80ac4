"""Provider records, one on each adapter's class, looked up by a system's name without importing an SDK.

By them systems have short names in tables and headings, and keys are kept out of messages and files: a provider's error
about a refused key often repeats it. Every pattern of a key runs in linear time, since providers and servers choose the
text.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from genaipa.errors import UsageError, clip
from genaipa.files.names import clean_folder_name
from genaipa.plugins import entry_point_targets, load_object
from genaipa.systems.base import EFFORTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from genaipa.systems.base import Words
    from genaipa.systems.costs import TokenCounter

ENTRY_POINTS = "genaipa.providers"
# First part of a system's name → its adapter, imported on use. A vendor with a known protocol is a subclass.
ADAPTERS: dict[str, str] = {
    "extractive": "genaipa.systems.extractive:ExtractiveSystem",
    "rag": "genaipa.systems.rag:RagSystem",
    "scripted": "genaipa.systems.scripted:ScriptedSystem",
    "published": "genaipa.systems.published:PublishedSystem",
    "manual": "genaipa.systems.provider:WebChat",
    "openai": "genaipa.systems.openai:OpenAISystem",
    "anthropic": "genaipa.systems.anthropic:AnthropicSystem",
    "google": "genaipa.systems.google:GoogleSystem",
    "openai-api": "genaipa.systems.openai:CompatibleSystem",
    "vllm": "genaipa.systems.vllm:VllmSystem",
}


class SystemMeanings(NamedTuple):
    """Meanings of systems by task: task → (system, kind, meaning) of each that it has; and sentences on the kinds.

    `title` is above a list of their names, in which models of a kind in `marked` have a *.
    """

    by_task: Mapping[str, Sequence[tuple[str, str, str]]]
    title: str
    legend: str
    marked: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Provider:
    """One provider of systems; an adapter's class has it as its attribute `provider`."""

    name: str
    form: str
    """Form of its systems' names: `openai/MODEL`."""
    about: str
    """Description in `genaipa systems`."""
    builtin: Callable[[], Iterable[str]] | None = None
    """Full names of its systems, where these come with genaipa or with data: no model to choose, no key, no server."""
    options: tuple[str, ...] = ()
    """Fields of a catalog entry that its adapter takes beside the settings."""

    sdk: str = ""
    """Module that has to be importable."""
    extra: str = ""
    """Extra of genaipa that installs it."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions can change a reply."""

    keys: tuple[str, ...] = ()
    """Environment variables; one holds the key; `{SERVER}` in it is the server's part of a system's name."""
    key_needed: Literal["always", "elsewhere", "optional"] = "always"
    """Whether a request needs a key: always, except on loopback, or only where the server wants one."""
    address: str = ""
    """Environment variable of the address."""
    default_address: str = ""
    url_suffix: str = ""
    """The end of an address of this protocol, such as `/v1`."""

    hosted: bool = False
    """Run by the vendor: genai-prices may know prices and contexts of its models."""
    free: bool = False
    wraps: bool = False
    """Whether its systems ask another one, which is named in the place of a model."""
    meanings: Callable[[], SystemMeanings] | None = None
    """Meanings of its systems, where these depend on the task."""
    only: str = ""
    """The questions that its systems answer, where these are not everybody's, and the way to ask them."""
    words: Words = "own"
    """Origin of its systems' replies."""
    by_hand: Literal["", "pasted", "written"] = ""
    """What people do who bring in its replies: paste a chat's, or write their own; empty where none do."""
    reply_form: str = ""
    """Function (`module:name`) by which the desk takes written replies: called with the desk, the user and the run."""
    model_pattern: str = ""
    """Regular expression for its models in any system's name, for blinding."""
    self_names: str = ""
    """Names by which its models call themselves, separated by `, `."""

    counter: Callable[..., TokenCounter | None] | None = None
    """Counts a model's tokens without a call: `counter(model, offline=…)`, None if it can't."""
    source: Callable[[str], Path | None] | None = None
    """File of a system's replies, by its full name."""
    efforts: tuple[str, ...] = ()
    """Levels of effort that its protocol has; which of them a model takes, its entry may tell."""
    cites: bool = False
    """Whether the vendor has citations of a document that is sent."""
    accepts: frozenset[str] | None = None
    """Sampling options that a model of no known `settings` is sent; None for all."""
    takes_flags: bool = False
    """Whether a server that is started here takes further flags."""
    program: Callable[[], str | None] | None = None
    """Finds the program that starts a server here; None if not installed; may raise a UsageError."""
    missing_setup: Callable[[str], list[str]] | None = None
    """Steps needed beyond SDK, key and server, by a system's full name."""

    @property
    def has_key_or_address_variable(self) -> bool:
        """Whether its systems are models that are asked by a key or at an address."""
        return bool(self.keys or self.address)

    def fill_server_in_variable_names(self, system: str) -> Provider:
        """Fill in the variables of this system's server."""
        server = system.partition("/")[2].partition("/")[0].upper().replace("-", "_")
        keys = tuple(key.replace("{SERVER}", server) for key in self.keys)
        return replace(self, keys=keys, address=self.address.replace("{SERVER}", server))

    def shared_name_prefix(self, system: str) -> str:
        """Return the prefix of the names that share this system's key and address: `openai/`, `openai-api/lab/`."""
        return "/".join([*system.split("/")[: self.form.count("/")], ""])


@cache
def load_adapter_class(provider: str) -> Any:
    """Import the adapter class of a provider, from the table or of a package; an ImportError if that is gone."""
    return load_object(ADAPTERS.get(provider) or entry_point_targets(ENTRY_POINTS)[provider])


def load_adapter_classes() -> dict[str, Any]:
    """Return name → adapter of every provider, those of packages that can't be imported left out."""
    classes = {name: load_adapter_class(name) for name in ADAPTERS}
    for name in entry_point_targets(ENTRY_POINTS):
        with contextlib.suppress(ImportError):
            classes[name] = load_adapter_class(name)
    return classes


def split_system_name_and_effort(system: str) -> tuple[str, str]:
    """Return a system's name without the level of effort at its end, and that level; empty without one.

    >>> split_system_name_and_effort("openai/gpt-6-luna@high")
    ('openai/gpt-6-luna', 'high')
    >>> split_system_name_and_effort("vertex/claude@20260101")
    ('vertex/claude@20260101', '')
    """
    name, _, level = system.rpartition("@")
    return (name, level) if name and level in EFFORTS else (system, "")


def add_effort_to_system_name(system: str, effort: str) -> str:
    """Return a name with a level of effort at its end, if there is one: `gpt-6-luna@high`."""
    return f"{system}@{effort}" if effort else system


def find_provider(system: str) -> Provider | None:
    """Return the provider of a system's full name, or by its own name; None for others' classes."""
    name = split_system_name_and_effort(system)[0].partition("/")[0]
    provider: Provider | None = None
    if name in ADAPTERS:
        provider = load_adapter_class(name).provider
    elif name in entry_point_targets(ENTRY_POINTS):
        with contextlib.suppress(ImportError):
            provider = load_adapter_class(name).provider
    return provider


def strip_wrapper_from_system_name(system: str) -> str:
    """Return the system that a wrapper (`rag/SYSTEM`) asks; any other system itself."""
    record = find_provider(system)
    return system.removeprefix(record.shared_name_prefix(system)) if record is not None and record.wraps else system


def list_providers() -> tuple[Provider, ...]:
    """List all providers, in the table's order."""
    return tuple(adapter.provider for adapter in load_adapter_classes().values())


def list_builtin_systems() -> tuple[str, ...]:
    """List the full names of the systems that come with genaipa or its data."""
    return tuple(name for provider in list_providers() if provider.builtin for name in provider.builtin())


def shorten_system_names(systems: Iterable[str]) -> dict[str, str]:
    """Return system → its name as it is shown among these: `reader-1` for `openai-api/lab/reader-1`, where one ends so.

    Only names of models and of people are shortened; a file, a recording or a class is called as it is.
    """
    names = list(dict.fromkeys(systems))
    ends = {name: _list_name_endings_shortest_first(name) for name in names}
    often = Counter(end for name in names for end in ends[name])
    return {name: next((end for end in ends[name] if often[end] == 1), name) for name in names}


def match_system_name_or_empty(
    name: str, systems: Iterable[str], model_names_by_system: Mapping[str, Collection[str]] | None = None
) -> str:
    """Return the one of these systems that a name means: its full name, or its short one (`shorten_system_names`).

    Else it is the name of the model behind one of them, by `model_names_by_system` (system → names), which runs print
    beside it.

    Empty where none is called so; a UsageError that lists them where several are.
    """
    full_names = dict.fromkeys(systems)
    if name in full_names:
        return name
    # A figure shows the last part of any name; `m` is yet a model's name before it is the end of `rag/openai/m`.
    alike = [full_name for full_name in full_names if name in _list_name_endings_shortest_first(full_name)] or [
        full_name for full_name in full_names if name and full_name.endswith(f"/{name}")
    ]
    alike = alike or [
        system for system, names in (model_names_by_system or {}).items() if system in full_names and name in names
    ]
    if len(alike) > 1:
        full = ", ".join(sorted(alike))
        raise UsageError(f"'{clip(name)}' is the short name of {len(alike)} systems: {full}; write one full name.")
    return alike[0] if alike else ""


_LONGEST_TITLE = 40
"""Characters of a run's name that is made here; with the time before it, its folder's name has fifty-six."""
_LONGEST_SUBJECT = 16


def make_default_run_name(systems: Iterable[str], *subjects: str) -> str:
    """Return the name of a run that nobody named: its systems, shortened, and what it is about.

    What it is about stays in a long one, and systems after the first are counted.
    """
    names = list(shorten_system_names(systems).values())
    about = clean_folder_name("-".join(subjects), max_characters=1000)
    whole = clean_folder_name("-".join((*names, about)), max_characters=1000) or "run"
    if len(whole) <= _LONGEST_TITLE:
        return whole
    about = _clip_run_name(about, _LONGEST_SUBJECT)
    count = f"-and-{len(names) - 1}-more" if len(names) > 1 else ""
    room = _LONGEST_TITLE - len(count) - len(about) - 1
    return f"{_clip_run_name(clean_folder_name(names[0], max_characters=1000), room)}{count}-{about}".strip("-")


def _clip_run_name(name: str, max_characters: int) -> str:
    return name[:max_characters].rstrip("-._")


def _list_name_endings_shortest_first(name: str) -> list[str]:
    """Return the ends of a model's name, the shortest first; the name alone of any other system."""
    record = find_provider(name)
    if (reader := strip_wrapper_from_system_name(name)) != name:
        return [name.removesuffix(reader) + end for end in _list_name_endings_shortest_first(reader)]
    if record is None or not (record.has_key_or_address_variable or record.by_hand == "written"):
        return [name]
    parts = name.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)]


HIDDEN = "[key]"

_WORD = re.compile(r"[\w.*-]+")
_PREFIX = re.compile(r"\b(?:sk|pk|rk|gsk|hf|xai|nvapi|pplx)[-_]")
"""Prefixes of providers' keys."""
_GOOGLE = re.compile(r"\bAIza[\w*-]{8,}")
_LONG = re.compile(r"\w{32,}")
_ANNOUNCED = re.compile(r"(?<=\bBearer )\S+|(?<=[?&]key=)[^&\s'\"]+")
_USER_IN_ADDRESS = re.compile(r"(?<=://)[^/\s@]+@")
_MASKS = ("*", "...", "…", "xxx")
_SHORTEST_SECRET = 8
_SHORTEST_KEY = 16
"""Length from which a known key is masked anywhere; `none` or `not-needed` may be ordinary words."""
_SHOWN_BY_MASKS = 3
"""Characters of a key shown at either end of its masked form."""
_AFTER_PREFIX = 8
"""Minimum length of a key after its prefix."""


def redact_keys(text: str, secret: str | None = None) -> str:
    """Remove everything that is or looks like a key; `secret` is a known key of any shape."""
    if secret and len(secret) < _SHORTEST_SECRET:
        # So short a key may be part of any word; as a word of its own it is the key.
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", HIDDEN, text)
    elif secret:
        text = text.replace(secret, HIDDEN)
        text = re.sub(r"[^\s'\"(),:]+", lambda word: _hide_if_masked_form_of_key(word[0], secret), text)
    text = _ANNOUNCED.sub(HIDDEN, _USER_IN_ADDRESS.sub("", text))
    return _WORD.sub(lambda word: _hide_if_shaped_like_key(word[0]), text)


def list_api_keys_in_environment() -> tuple[str, ...]:
    """Return the keys in the environment, longest first: variables named `…_API_KEY` or by a provider's record.

    Shorter values than a key's are left out, as they may be ordinary words.
    """
    named = {key for provider in list_providers() for key in provider.keys}
    values = {v.strip() for name, v in os.environ.items() if name.upper().endswith("_API_KEY") or name in named}
    return tuple(sorted((value for value in values if len(value) >= _SHORTEST_KEY), key=len, reverse=True))


def mask_api_keys(text: str, api_keys: tuple[str, ...]) -> str:
    """Hide these keys in a text."""
    for key in api_keys:
        text = text.replace(key, HIDDEN)
    return text


def _hide_if_masked_form_of_key(word: str, secret: str) -> str:
    """Hide a masked form of the key, such as `abcd...wxyz`."""
    if not any(mask in word.lower() for mask in _MASKS):
        return word
    shows = word.startswith(secret[:_SHOWN_BY_MASKS]) or word.rstrip(".").endswith(secret[-_SHOWN_BY_MASKS:])
    return HIDDEN if shows else word


def _hide_if_shaped_like_key(word: str) -> str:
    """Hide a run of letters, digits and `_ . * -` with the shape of a key."""
    if "***" in word:  # masked
        return HIDDEN
    prefix = _PREFIX.search(word)
    if prefix is not None:
        secret = word[prefix.end() :]
        if len(secret) >= _AFTER_PREFIX and any(c.isdigit() or c == "*" for c in secret):
            return word[: prefix.start()] + HIDDEN
    return _LONG.sub(lambda run: _hide_run_mixing_letters_and_digits(run[0]), _GOOGLE.sub(HIDDEN, word))


def _hide_run_mixing_letters_and_digits(character_run: str) -> str:
    """Hide a long run without a hyphen that mixes letters and digits, as no word does."""
    return (
        HIDDEN
        if any(c.isdigit() for c in character_run) and any(c.isascii() and c.isalpha() for c in character_run)
        else character_run
    )


class WebChat:
    """`manual/NAME`: a person carries the messages (`execution/manual.py`); there is nothing to start or to ask."""

    provider: ClassVar[Provider] = Provider(
        name="manual", form="manual/NAME", about="a web chat that you drive by hand", free=True, by_hand="pasted"
    )
