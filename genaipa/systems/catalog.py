"""From a name on the command line to a system.

    NAME                    a short name (catalog.yaml, systems.yaml), or an entry point in the group genaipa.systems
    PROVIDER/MODEL          as the record of each provider says (`genaipa systems` lists the forms)
    rag/NAME                any of these that is a model, with a system before it
    module:Class            your own, importable from the working folder

Adapters and their SDKs are imported when a system of theirs is used.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import importlib.machinery
import importlib.util
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from genaipa.errors import DataError, NotReadyError, UnknownNameError, UsageError, clipped, closest
from genaipa.files.strict_yaml import read_partly, read_yaml
from genaipa.plugins import plugins
from genaipa.systems.base import OPTIONS
from genaipa.systems.costs import FREE, Price, Tariff, find_tariff, known_context, own_tariff
from genaipa.systems.endpoint import needs_key, read_address, read_key, read_variable
from genaipa.systems.plugins import make, source_file
from genaipa.systems.provider import adapter, adapters, builtin_systems, find_provider, providers
from genaipa.workspace import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.systems.base import Message, System
    from genaipa.systems.provider import Provider
    from genaipa.workspace import Workspace

    Setting = str
else:
    Setting = Literal[OPTIONS]

ENTRY_POINTS = "genaipa.systems"


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A catalog entry (see the head of catalog.yaml)."""

    system: str
    context: int | None = None
    settings: frozenset[Setting] | None = None
    part_tokens: int | None = None
    retired: str = ""
    use: str = ""
    note: str = ""
    price: Price | None = None
    explicit_cache: bool = False
    passages: str = ""
    recorded: str = ""

    @property
    def ended(self) -> bool:
        """Whether its day of retirement has come."""
        return bool(self.retired) and self.retired <= dt.datetime.now(dt.UTC).date().isoformat()

    @property
    def retirement(self) -> str:
        """`shuts down on 2027-01-14; then: gpt-6-luna`, to follow its name; empty if none is announced."""
        if not self.retired:
            return ""
        instead = f"; {'now' if self.ended else 'then'}: {self.use}" if self.use else ""
        return f"{'retired' if self.ended else 'shuts down'} on {self.retired}{instead}"


class _CatalogFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    systems: dict[str, Entry]


@dataclass(frozen=True)
class Resolved:
    """A resolved name: as `asked`, in full, by provider and model, with its catalog entry."""

    asked: str
    name: str
    provider: str
    model: str
    entry: Entry
    reader: Resolved | None = None
    """The system that this one asks (`rag/…`): all below is the reader's."""

    @property
    def identity(self) -> str:
        """Full name, with the SHA-256 of the file behind it, if any."""
        if self.reader is not None:
            return self.name.removesuffix(self.reader.name) + self.reader.identity
        path = _source_file(self.provider, self.name)
        if path is None or not path.is_file():
            return self.name
        return f"{self.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    @property
    def record(self) -> Provider | None:
        """The provider; None for a user's or a package's class."""
        return find_provider(self.provider)

    @property
    def manual(self) -> bool:
        """Whether a person carries the messages."""
        return self.provider == "manual"

    @property
    def takes_batches(self) -> bool:
        """Whether it can be asked by batches."""
        takes = self.provider in adapters() and getattr(adapter(self.provider), "takes_batches", False)
        return bool(takes) and self.reader is None

    @property
    def batch_tariff(self) -> Tariff | None:
        """Prices in batches; None if it takes none, or they are unknown."""
        tariff = self.tariff if self.takes_batches else None
        return tariff and tariff.in_batches(adapter(self.provider).cached_in_batches)

    @property
    def tariff(self) -> Tariff | None:
        """Prices: the catalog's, none on one's own machine, else the provider's; None if unknown."""
        if self.entry.price is not None:
            return own_tariff(self.entry.price)
        if self.record is None or self.record.free:
            return FREE if self.record else None
        return find_tariff(self.provider, self.model) if self.record.hosted else None

    @property
    def context(self) -> int | None:
        """Context in tokens, from the catalog or the price tables."""
        if self.entry.context is not None:
            return self.entry.context
        return known_context(self.provider, self.model) if self.record and self.record.hosted else None

    def sends(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages as a model is sent them, by which tokens are counted: less where passages are retrieved."""
        return messages if self.reader is None else _wrapper(self.name).retrieve(messages)[0]

    def make(self, flags: tuple[str, ...] = ()) -> System:
        """Make the system, with further flags of its server if it starts one.

        A UsageError if the user's own class fails.
        """
        if self.reader is not None:
            before: System = _wrapper(self.name)(name=self.name, reader=self.reader.make(flags))
            return before
        if ":" in self.provider:
            own: System = make(self.provider)
            for method in ("start", "reply", "count_tokens", "close"):
                if not hasattr(own, method):
                    raise UsageError(
                        f"{self.provider}: it has no '{method}'; see genaipa/systems/base.py for what a system is."
                    )
            return own
        record = self.record
        assert record is not None, "resolved to one of ours"
        arguments: dict[str, Any] = {}
        if not record.builtin:
            accepts = frozenset(OPTIONS) if self.entry.settings is None else self.entry.settings
            arguments = {"model": self.model, "accepts": accepts}
            arguments |= {name: getattr(self.entry, name) for name in record.options}
            arguments |= {"flags": flags} if record.takes_flags else {}
        made: System = adapter(self.provider)(name=self.name, **arguments)
        return made


def load_catalog(workspace: Workspace) -> dict[str, Entry]:
    """Short name → entry, the user's over the shipped ones; without the user's entries that can't be used.

    A DataError if the user's file can't be used at all.
    """
    return _read(workspace)[0]


def _read(workspace: Workspace) -> tuple[dict[str, Entry], dict[str, DataError]]:
    """Usable entries by short name, and errors by every name, short or full, of an unusable entry."""
    own, errors = own_entries(workspace)
    if own is None:
        raise errors[0]
    entries = {**_shipped(), **own}
    broken: dict[str, DataError] = {}
    for name, entry in own.items():
        at = f"systems.{clipped(name)}"
        if wrong := next((e for e in errors if e.entry == at or e.entry.startswith((f"{at}.", f"{at}["))), None):
            del entries[name]
            broken |= {name: wrong, entry.system: wrong}
    return entries, broken


@cache
def _shipped() -> dict[str, Entry]:
    return read_yaml(Path(__file__).with_name("catalog.yaml"), _CatalogFile).systems


def own_entries(workspace: Workspace) -> tuple[dict[str, Entry] | None, list[DataError]]:
    """Entries of systems.yaml and all errors in it; None in place of entries if it is unusable."""
    path = workspace.systems_file
    if path is None:
        return {}, []
    found, errors = read_partly(path, _CatalogFile, partial(_problems, path))
    whole = found is not None and all(error.entry.startswith("systems.") for error in errors)
    return (found.systems if found is not None and whole else None), errors


def _problems(path: Path, file: _CatalogFile) -> Iterator[DataError]:
    for name, entry in file.systems.items():
        if "/" not in entry.system and ":" not in entry.system and not _is_builtin(entry.system):
            yield DataError(path, f"'{clipped(entry.system)}' is not provider/model.", f"systems.{name}")
        record = find_provider(entry.system)
        if entry.passages and (record is None or "passages" not in record.options):
            said = "only a server behind openai-api/NAME/MODEL has a field with passages; leave it out."
            yield DataError(path, said, f"systems.{name}.passages")
        elif entry.passages and not all(entry.passages.split(".")):
            said = f"'{clipped(entry.passages)}' is no path such as choices.0.message.context.citations."
            yield DataError(path, said, f"systems.{name}.passages")


def resolve(name: str, workspace: Workspace) -> Resolved:
    """Resolve a name from the command line; a UsageError with the nearest name if it is unknown."""
    catalog, broken = _read(workspace)
    if name in broken:
        raise broken[name]
    entry = catalog.get(name)
    if entry is None and not _is_builtin(name) and name in plugins(ENTRY_POINTS):
        return Resolved(name, name, plugins(ENTRY_POINTS)[name], name, Entry(system=name))
    full = entry.system if entry else name
    if entry is None:
        # A full name gets what the catalog knows about the same model under its short name.
        entry = next((e for e in catalog.values() if e.system == full), Entry(system=full))
    if ":" in full and "/" not in full.partition(":")[0]:
        return Resolved(name, full, full, full, entry)
    record = find_provider(full)
    if record is None:
        known = [provider.form for provider in providers() if not provider.builtin]
        if "/" not in name:
            lasting = [short for short, entry in catalog.items() if not entry.retired]
            every = [*known, *lasting, *builtin_systems(), *plugins(ENTRY_POINTS)]
            # A misspelt baseline is told; else models are what somebody looks for.
            known = every if closest(name, every) else lasting
        raise UnknownNameError("system", name, known, f"See: genaipa systems{_name_unread_file(workspace)}")
    if record.builtin:
        path = _source_file(record.name, full)
        if record.words == "recording" and full not in record.builtin() and not (path and path.is_file()):
            raise UnknownNameError(f"{record.name} system", name, record.builtin())
        return Resolved(name, full, record.name, full, entry)
    # In `openai-api/NAME/MODEL` NAME is ours for the server, which knows the model by the rest.
    model = full.removeprefix(record.family(full))
    if not model or model == full:
        raise UsageError(f"'{name}' names no model; the form is {record.form}.")
    found = Resolved(name, full, record.name, model, entry)
    return _wrapped(found, workspace) if record.wraps else found


def _name_unread_file(workspace: Workspace) -> str:
    """Return a sentence on a file of short names that is not read, as its folder is no workspace; else nothing."""
    path = workspace.home / SYSTEMS
    if workspace.systems_file is not None or not path.is_file():
        return ""
    return f". {path.name} is here, and is read in a workspace alone; make this folder one: genaipa init ."


def _wrapped(system: Resolved, workspace: Workspace) -> Resolved:
    """A system that asks another one: it has that one's facts, but for what an entry of its own says."""
    reader = resolve(system.model, workspace)
    record = reader.record
    if reader.reader or reader.manual or (record and (record.only or record.words == "recording")):
        raise UsageError(f"'{system.asked}': {reader.name} does not answer by what it is sent; name a model instead.")
    plain = Entry(system=system.name)
    own = {name: value for name, value in msgspec.structs.asdict(system.entry).items() if value != getattr(plain, name)}
    reader = replace(reader, entry=msgspec.structs.replace(reader.entry, **own))
    return replace(reader, asked=system.asked, name=f"{system.provider}/{reader.name}", reader=reader)


def _wrapper(name: str) -> Any:
    record = find_provider(name)
    assert record is not None, "it was resolved by its record"
    return adapter(record.name)


def _is_builtin(name: str) -> bool:
    record = find_provider(name)
    return record is not None and name == record.name and bool(record.builtin)


def _source_file(provider: str, name: str) -> Path | None:
    """File of a user's class, a script of replies or a recording."""
    record = find_provider(provider)
    if record is not None:
        return record.source(name) if record.source else None
    return source_file(provider) if ":" in provider else None


def lacking(resolved: Resolved) -> list[str]:
    """Steps needed before a system can be asked."""
    if resolved.reader is not None:
        return lacking(resolved.reader)
    if resolved.record is None:
        module = resolved.provider.partition(":")[0]
        return [] if importable(module) else [f"put the module '{module}' here or install it"]
    system = resolved.name
    needed = resolved.record.at(system)
    steps = needed.lacks(system) if needed.lacks else []
    if needed.sdk and not importable(needed.sdk):
        steps.append(f"pip install 'genaipa[{needed.extra}]'")
    try:
        address = read_address(system, needed.address) or needed.default_address
    except NotReadyError:
        return [*steps, f"mend the address in {needed.address}"]
    if not address:
        steps += _serverless(needed)
    for key in needed.keys:
        try:
            read_key(system, key)
        except NotReadyError:
            return [*steps, f"mend the key in {key}"]
    if needed.keys and needs_key(needed, address) and not any(map(read_variable, needed.keys)):
        steps.append(f"set {' or '.join(needed.keys)}")
    return steps


def _serverless(provider: Provider) -> list[str]:
    """Steps needed where no server is named; none if one can be started here."""
    if provider.program is None:
        return [f"set {provider.address}"] if provider.address else []
    try:
        found = provider.program()
    except UsageError as error:
        return [str(error).removesuffix(".")]
    return [] if found else [f"set {provider.address}, or pip install 'genaipa[{provider.name}]'"]


def importable(module: str) -> bool:
    """Whether a module can be imported, also from the working folder, without importing it."""
    try:
        if importlib.util.find_spec(module) is not None:
            return True
    except (ModuleNotFoundError, ValueError):
        return False
    return importlib.machinery.PathFinder.find_spec(module.partition(".")[0], [str(Path.cwd())]) is not None
