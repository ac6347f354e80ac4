"""From a name on the command line to a system: `provider/model`, a short name, or a user's own `module:Class`.

    extractive, scripted[/FILE]        nothing needed
    published/NAME                     a system of a published study, from its recording
    manual/NAME                        a web chat driven by hand
    openai/M  anthropic/M  google/M    the provider's SDK
    openai-api/NAME/M                  any compatible endpoint: NAME_BASE_URL, NAME_API_KEY
    vllm/M                             VLLM_BASE_URL, or a server started here
    module:Class                       your own, importable from the working folder
    NAME                               a short name (catalog), or an entry point in the group genaipa.systems

Adapters and their SDKs are imported when a system of theirs is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import sys
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from genaipa.errors import DataError, UnknownNameError, UsageError, clipped
from genaipa.files.strict_yaml import read_partly, read_yaml
from genaipa.systems import published
from genaipa.systems.base import OPTIONS
from genaipa.systems.prices import FREE, Price, Tariff, find_tariff, known_context, own_tariff
from genaipa.systems.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from genaipa.systems.base import System
    from genaipa.workspace import Workspace

    Setting = str
else:
    Setting = Literal[OPTIONS]

ENTRY_POINTS = "genaipa.systems"

# Provider → adapter. A vendor that speaks a known protocol is a line here and an overridden method there.
ADAPTERS: dict[str, str] = {
    "openai": "genaipa.systems.openai:OpenAISystem",
    "openai-api": "genaipa.systems.openai:CompatibleSystem",
    "vllm": "genaipa.systems.vllm:VllmSystem",
    "anthropic": "genaipa.systems.anthropic:AnthropicSystem",
    "google": "genaipa.systems.google:GoogleSystem",
    "extractive": "genaipa.systems.extractive:ExtractiveSystem",
    "scripted": "genaipa.systems.scripted:ScriptedSystem",
    published.PROVIDER: "genaipa.systems.published:PublishedSystem",
}
KEYLESS = ("extractive", "scripted", published.PROVIDER)
MANUAL = "manual"
HOSTED = ("openai", "anthropic", "google")


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the catalog says of a system (see the head of catalog.yaml)."""

    system: str
    context: int | None = None
    settings: frozenset[Setting] | None = None
    part_tokens: int | None = None
    retired: str = ""
    use: str = ""
    note: str = ""
    price: Price | None = None
    explicit_cache: bool = False


class _CatalogFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    systems: dict[str, Entry]


@dataclass(frozen=True)
class Resolved:
    """A system by name, not yet made: `name` in full form, what the catalog adds, and how it was found."""

    asked: str
    name: str
    provider: str
    model: str
    entry: Entry

    @property
    def identity(self) -> str:
        """What answers under this name: the full name, with the digest of the file that it comes from, if any."""
        path = _source_file(self.provider, self.name)
        if path is None or not path.is_file():
            return self.name
        return f"{self.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    @property
    def manual(self) -> bool:
        """Whether a person carries the messages."""
        return self.provider == MANUAL

    @property
    def tariff(self) -> Tariff | None:
        """How its calls are priced: as the catalog says, free on one's own machine, else at the provider's prices."""
        if self.entry.price is not None:
            return own_tariff(self.entry.price)
        if self.manual or self.provider in (*KEYLESS, "vllm"):
            return FREE
        return find_tariff(self.provider, self.model) if self.provider in HOSTED else None

    @property
    def context(self) -> int | None:
        """Tokens that fit in one request, as far as the catalog or the price tables know."""
        if self.entry.context is not None:
            return self.entry.context
        return known_context(self.provider, self.model) if self.provider in HOSTED else None

    def make(self) -> System:
        """The system; a UsageError if the user's own class can't be had."""
        if ":" in self.provider:
            return _own(self.provider)
        if self.provider in KEYLESS:
            keyless: System = _load(ADAPTERS[self.provider])(name=self.name)
            return keyless
        arguments: dict[str, Any] = {
            "accepts": frozenset(OPTIONS) if self.entry.settings is None else self.entry.settings
        }
        if self.provider == "openai":
            arguments["explicit_cache"] = self.entry.explicit_cache
        adapter: System = _load(ADAPTERS[self.provider])(name=self.name, model=self.model, **arguments)
        return adapter


def load_catalog(workspace: Workspace) -> dict[str, Entry]:
    """Short name → entry, the user's over the shipped ones; without the user's entries that can't be used.

    A DataError if the user's file can't be used at all.
    """
    own, errors = own_entries(workspace)
    if own is None:
        raise errors[0]
    broken = _broken(own, errors)
    entries = {**read_yaml(Path(__file__).with_name("catalog.yaml"), _CatalogFile).systems, **own}
    return {name: entry for name, entry in entries.items() if name not in broken}


def named_keyless() -> list[str]:
    """The keyless systems by the names under which they can be asked."""
    return ["extractive", "scripted", *published.recorded_in()]


def own_entries(workspace: Workspace) -> tuple[dict[str, Entry] | None, list[DataError]]:
    """What systems.yaml adds to the catalog, and everything that is wrong with it; None if it can't be used at all."""
    path = workspace.systems_file
    if path is None:
        return {}, []
    found, errors = read_partly(path, _CatalogFile, partial(_problems, path))
    whole = found is not None and all(error.entry.startswith("systems.") for error in errors)
    return (found.systems if found is not None and whole else None), errors


def _problems(path: Path, file: _CatalogFile) -> Iterator[DataError]:
    for name, entry in file.systems.items():
        if "/" not in entry.system and ":" not in entry.system and entry.system not in KEYLESS:
            yield DataError(path, f"'{clipped(entry.system)}' is not provider/model.", f"systems.{name}")


def _broken(names: Iterable[str], errors: Sequence[DataError]) -> dict[str, DataError]:
    """Short name → the first thing that is wrong with its entry in systems.yaml."""
    found = {}
    for name in names:
        entry = f"systems.{clipped(name)}"
        wrong = (
            error for error in errors if error.entry == entry or error.entry.startswith((f"{entry}.", f"{entry}["))
        )
        if first := next(wrong, None):
            found[name] = first
    return found


def _refuse_broken(name: str, workspace: Workspace) -> None:
    """Raise the DataError of the user's own entry that a name means, by its short name or by its system."""
    own, errors = own_entries(workspace)
    for short, error in _broken(own or {}, errors).items():
        if own and name in (short, own[short].system):
            raise error


def resolve(name: str, workspace: Workspace) -> Resolved:
    """What a name on the command line stands for; a UsageError with the nearest name if for nothing."""
    catalog = load_catalog(workspace)
    _refuse_broken(name, workspace)
    entry = catalog.get(name)
    if entry is None and name not in KEYLESS and name in _plugins():
        return Resolved(name, name, _plugins()[name], name, Entry(system=name))
    full = entry.system if entry else name
    if entry is None:
        # A full name gets what the catalog knows about the same model under its short name.
        entry = next((e for e in catalog.values() if e.system == full), Entry(system=full))
    if ":" in full and "/" not in full.partition(":")[0]:
        return Resolved(name, full, full, full, entry)
    provider, _, model = full.partition("/")
    if provider == published.PROVIDER and not published.is_recorded(full) and full not in published.recorded_in():
        raise UnknownNameError("published system", name, published.recorded_in())
    if provider in KEYLESS:
        return Resolved(name, full, provider, full, entry)
    if provider not in (*ADAPTERS, MANUAL):
        known = [*catalog, *named_keyless(), *(f"{p}/…" for p in (*HOSTED, "openai-api", "vllm", MANUAL)), *_plugins()]
        raise UnknownNameError("system", name, known, "See: genaipa systems")
    if provider == "openai-api":
        # NAME is ours for the server, which knows the model by what stands behind it.
        model = model.partition("/")[2]
    if not model:
        form = (
            "openai-api/NAME/MODEL"
            if provider == "openai-api"
            else f"{provider}/{'NAME' if provider == MANUAL else 'MODEL'}"
        )
        raise UsageError(f"'{name}' names no model; the form is {form}.")
    return Resolved(name, full, provider, model, entry)


def _plugins() -> dict[str, str]:
    """Name → module:Class of the systems that installed packages bring."""
    return {point.name: point.value for point in entry_points(group=ENTRY_POINTS)}


def _load(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _source_file(provider: str, name: str) -> Path | None:
    """The file that a user's own class, a script of replies or a recording is read from."""
    if provider == "scripted" and "/" in name:
        return Path(name.partition("/")[2])
    if provider == published.PROVIDER:
        return published.recording_path(name)
    if ":" not in provider:
        return None
    try:
        with _looking_here():
            found = importlib.util.find_spec(provider.partition(":")[0])
    except (ImportError, ValueError):
        return None
    return Path(found.origin) if found is not None and found.origin else None


@contextlib.contextmanager
def _looking_here() -> Iterator[None]:
    """Let modules of the working folder be found meanwhile, where nothing that is installed has their name.

    A folder that somebody sent may hold a file that is called like a library: it must never be imported in its place.
    """
    here = str(Path.cwd())
    if here in sys.path:
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _own(target: str) -> System:
    try:
        with _looking_here():
            made: System = _load(target)()
    except ModuleNotFoundError as error:
        raise UsageError(f"{target}: there is no module '{error.name}' here or installed.") from None
    except AttributeError as error:
        if error.name != target.partition(":")[2]:
            raise _unmade(target, error) from error
        raise UsageError(f"{target}: the module has no '{error.name}'.") from None
    except TypeError as error:
        raise UsageError(f"{target}: it can't be made without arguments ({error}).") from None
    except Exception as error:
        raise _unmade(target, error) from error
    missing = [method for method in ("start", "reply", "count_tokens", "close") if not hasattr(made, method)]
    if missing:
        raise UsageError(f"{target}: it has no '{missing[0]}'; see genaipa/systems/base.py for what a system is.")
    return made


def _unmade(target: str, error: Exception) -> UsageError:
    """A user's own module or class may raise anything when it is imported and made."""
    return UsageError(redact(f"{target}: it can't be made ({type(error).__name__}: {error})."))
