"""Provider records, one on each adapter's class, looked up by a system's name without importing an SDK."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from genaipa.plugins import load, plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from genaipa.systems.base import Words
    from genaipa.systems.tokens import Counter

ENTRY_POINTS = "genaipa.providers"
# First part of a system's name → its adapter, imported on use. A vendor with a known protocol is a subclass.
ADAPTERS: dict[str, str] = {
    "extractive": "genaipa.systems.extractive:ExtractiveSystem",
    "scripted": "genaipa.systems.scripted:ScriptedSystem",
    "published": "genaipa.systems.published:PublishedSystem",
    "manual": "genaipa.systems.manual:WebChat",
    "openai": "genaipa.systems.openai:OpenAISystem",
    "anthropic": "genaipa.systems.anthropic:AnthropicSystem",
    "google": "genaipa.systems.google:GoogleSystem",
    "openai-api": "genaipa.systems.compatible:CompatibleSystem",
    "vllm": "genaipa.systems.vllm:VllmSystem",
}


class Meanings(NamedTuple):
    """Meanings of systems by task: task → (system, kind, meaning) of each that it has; and sentences on the kinds.

    `title` is above a list of their names, in which models of a kind in `marked` have a *.
    """

    of: Mapping[str, Sequence[tuple[str, str, str]]]
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
    ends: str = ""
    """The end of an address of this protocol, such as `/v1`."""

    hosted: bool = False
    """Run by the vendor: genai-prices may know prices and contexts of its models."""
    free: bool = False
    meanings: Callable[[], Meanings] | None = None
    """Meanings of its systems, where these depend on the task."""
    only: str = ""
    """The questions that its systems answer, where these are not everybody's, and the way to ask them."""
    words: Words = "own"
    """Origin of its systems' replies."""
    betrayed_by: str = ""
    """Regular expression for its models in any system's name, for blinding."""
    known_as: str = ""
    """Names by which its models call themselves, separated by `, `."""

    counter: Callable[..., Counter | None] | None = None
    """Counts a model's tokens without a call: `counter(model, offline=…)`, None if it can't."""
    source: Callable[[str], Path | None] | None = None
    """File of a system's replies, by its full name."""
    program: Callable[[], str | None] | None = None
    """Finds the program that starts a server here; None if not installed; may raise a UsageError."""
    lacks: Callable[[str], list[str]] | None = None
    """Steps needed beyond SDK, key and server, by a system's full name."""

    @property
    def is_remote(self) -> bool:
        """Whether its systems are models that are asked by a key or at an address."""
        return bool(self.keys or self.address)

    def at(self, system: str) -> Provider:
        """Fill in the variables of this system's server."""
        server = system.partition("/")[2].partition("/")[0].upper().replace("-", "_")
        keys = tuple(key.replace("{SERVER}", server) for key in self.keys)
        return replace(self, keys=keys, address=self.address.replace("{SERVER}", server))

    def family(self, system: str) -> str:
        """Prefix of the names that share this system's key and address: `openai/`, `openai-api/lab/`."""
        return "/".join([*system.split("/")[: self.form.count("/")], ""])


@cache
def adapter(provider: str) -> Any:
    """Import the adapter class of a provider, from the table or of a package; an ImportError if that is gone."""
    return load(ADAPTERS.get(provider) or plugins(ENTRY_POINTS)[provider])


def adapters() -> dict[str, Any]:
    """Name → adapter of every provider, those of packages that can't be imported left out."""
    found = {name: adapter(name) for name in ADAPTERS}
    for name in plugins(ENTRY_POINTS):
        with contextlib.suppress(ImportError):
            found[name] = adapter(name)
    return found


def find_provider(system: str) -> Provider | None:
    """Provider of a system's full name, or by its own name; None for others' classes."""
    name = system.partition("/")[0]
    found = adapter(name) if name in ADAPTERS else adapters().get(name)
    return None if found is None else found.provider


def providers() -> tuple[Provider, ...]:
    """All providers, in the table's order."""
    return tuple(one.provider for one in adapters().values())


def builtin_systems() -> tuple[str, ...]:
    """Full names of the systems that come with genaipa or its data."""
    return tuple(name for provider in providers() if provider.builtin for name in provider.builtin())
