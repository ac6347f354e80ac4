"""From a name on the command line to a system.

    NAME                    a short name (catalog.yaml, systems.yaml), or an entry point in the group genaipa.systems
    PROVIDER/MODEL          as the record of each provider says (`genaipa systems` lists the forms)
    NAME@LEVEL              any of these that is a model, at a level of effort
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

from genaipa.errors import DataError, NotReadyError, UnknownNameError, UsageError, clip, closest_name_or_empty
from genaipa.files.strict_yaml import read_valid_yaml_part_and_errors, read_yaml
from genaipa.plugins import entry_point_targets
from genaipa.systems.base import EFFORTS, NEVER_REFUSED, OPTIONS
from genaipa.systems.costs import FREE, Price, Tariff, find_context_window_in_tokens, find_tariff, tariff_from_price
from genaipa.systems.endpoint import (
    needs_key,
    read_address_from_environment,
    read_api_key_from_environment,
    read_environment_variable,
)
from genaipa.systems.plugins import find_class_source_file, make_user_class_instance
from genaipa.systems.provider import (
    add_effort_to_system_name,
    find_provider,
    list_builtin_systems,
    list_providers,
    load_adapter_class,
    load_adapter_classes,
    split_system_name_and_effort,
)
from genaipa.words import join_names
from genaipa.workspace import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from genaipa.systems.base import Message, Sampling, System
    from genaipa.systems.provider import Provider
    from genaipa.workspace import Workspace

    Setting = str
    Effort = str
else:
    Setting, Effort = Literal[OPTIONS], Literal[EFFORTS]

ENTRY_POINTS = "genaipa.systems"


class CatalogEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A catalog entry (see the head of catalog.yaml)."""

    system: str
    context: int | None = None
    settings: frozenset[Setting] | None = None
    effort: tuple[Effort, ...] | None = None
    part_tokens: int | None = None
    retired: str = ""
    use: str = ""
    note: str = ""
    demo: bool = False
    price: Price | None = None
    explicit_cache: bool = False
    passages: str = ""
    recorded: str = ""

    @property
    def is_retired(self) -> bool:
        """Whether its day of retirement has come."""
        return bool(self.retired) and self.retired <= dt.datetime.now(dt.UTC).date().isoformat()

    @property
    def retirement_notice_or_empty(self) -> str:
        """`shuts down on 2027-01-14; use gpt-6-luna then`, to follow its name; empty if none is announced."""
        if not self.retired:
            return ""
        instead = f"; use {self.use} {'instead' if self.is_retired else 'then'}" if self.use else ""
        return f"{'retired' if self.is_retired else 'shuts down'} on {self.retired}{instead}"


class _CatalogFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    systems: dict[str, CatalogEntry]


@dataclass(frozen=True)
class ResolvedSystem:
    """A resolved name: as it was requested, in full, by provider and model, with its catalog entry.

    Both names end with the level of effort, if they have one; the model's does not.
    """

    requested_name: str
    name: str
    provider: str
    model: str
    entry: CatalogEntry
    reader: ResolvedSystem | None = None
    """The system that this one asks (`rag/…`): all below is the reader's."""
    effort: str = ""
    """The level of effort; empty for the model's own."""

    @property
    def name_with_file_digest(self) -> str:
        """Full name, with the SHA-256 of the file behind it, if any."""
        if self.reader is not None:
            return self.name.removesuffix(self.reader.name) + self.reader.name_with_file_digest
        path = _find_file_behind_system(self.provider, self.name)
        if path is None or not path.is_file():
            return self.name
        return f"{self.name} sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"

    @property
    def provider_record(self) -> Provider | None:
        """The provider; None for a user's or a package's class."""
        return find_provider(self.provider)

    @property
    def is_manual(self) -> bool:
        """Whether people bring in its replies."""
        return bool(self.provider_record and self.provider_record.by_hand)

    @property
    def are_replies_written_by_people(self) -> bool:
        """Whether people write its replies."""
        return bool(self.provider_record and self.provider_record.by_hand == "written")

    @property
    def takes_batches(self) -> bool:
        """Whether it can be asked by batches."""
        takes = self.provider in load_adapter_classes() and getattr(
            load_adapter_class(self.provider), "takes_batches", False
        )
        return bool(takes) and self.reader is None

    @property
    def batch_tariff(self) -> Tariff | None:
        """Prices in batches; None if it takes none, or they are unknown."""
        tariff = self.tariff if self.takes_batches else None
        return tariff and tariff.to_batch_tariff(load_adapter_class(self.provider).cached_in_batches)

    @property
    def tariff(self) -> Tariff | None:
        """Prices: the catalog's, none on one's own machine, else the provider's; None if unknown."""
        if self.entry.price is not None:
            return tariff_from_price(self.entry.price)
        if self.provider_record is None or self.provider_record.free:
            return FREE if self.provider_record else None
        return find_tariff(self.provider, self.model) if self.provider_record.hosted else None

    @property
    def context_tokens(self) -> int | None:
        """Context in tokens, from the catalog or the price tables."""
        if self.entry.context is not None:
            return self.entry.context
        return (
            find_context_window_in_tokens(self.provider, self.model)
            if self.provider_record and self.provider_record.hosted
            else None
        )

    @property
    def sendable_sampling_options(self) -> frozenset[str]:
        """The sampling options that the model may be sent."""
        if self.entry.settings is not None:
            return self.entry.settings | NEVER_REFUSED
        return (self.provider_record.accepts if self.provider_record else None) or frozenset(OPTIONS)

    def list_refused_options(self, sampling: Sampling) -> list[str]:
        """List the given options that the model is not sent, in words; none for a class that reads them itself."""
        adapter: Any = load_adapter_class(self.provider) if self.provider in load_adapter_classes() else None
        if (fields := getattr(adapter, "fields", None)) is None:
            # A class of one's own reads what it likes; that a baseline knows no temperature goes without saying.
            is_mute = self.provider_record is not None and not self.provider_record.has_key_or_address_variable
            return ["system prompt"] if is_mute and sampling.system_prompt else []
        thinks = self.effort not in ("", "none")
        sent = self.sendable_sampling_options & fields.keys() - (
            adapter.refused_when_thinking if thinks else frozenset()
        )
        return [name.replace("_", " ") for name in sampling.to_options() if name not in sent]

    @property
    def effort_levels(self) -> tuple[str, ...] | None:
        """The levels of effort that may follow its name, by the catalog or the protocol; None if unknown."""
        return self.provider_record.efforts if self.entry.effort is None and self.provider_record else self.entry.effort

    def refuse_unsupported_effort(self, server_efforts: Sequence[str] | None = None) -> None:
        """Raise a UsageError where the model does not take the level of its name.

        `server_efforts` are the server's word.
        """
        levels = self.effort_levels if server_efforts is None else server_efforts
        if self.effort and levels is not None and self.effort not in levels:
            effort_note = (
                f"it takes {join_names(levels)}"
                if levels
                else "it has no levels of effort; leave out what follows the @"
            )
            raise UsageError(
                f"{self.requested_name}: {self.model} does not take the effort '{self.effort}': {effort_note}."
            )

    def messages_sent_to_model(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages that the model receives, by which tokens are counted; retrieval makes them fewer."""
        return (
            messages
            if self.reader is None
            else _load_adapter_class_of_system(self.name).replace_document_with_passages(messages)[0]
        )

    def make_system(self, server_flags: tuple[str, ...] = ()) -> System:
        """Make the system, with further flags of its server if it starts one.

        A UsageError if the user's own class fails.
        """
        if self.reader is not None:
            wrapper: System = _load_adapter_class_of_system(self.name)(
                name=self.name, reader=self.reader.make_system(server_flags)
            )
            return wrapper
        if ":" in self.provider:
            user_system: System = make_user_class_instance(self.provider)
            for method in ("start", "reply", "count_tokens", "close"):
                if not hasattr(user_system, method):
                    raise UsageError(f"{self.provider}: the class has no '{method}'; see genaipa/systems/base.py.")
            return user_system
        record = self.provider_record
        assert record is not None, "resolved to one of ours"
        arguments: dict[str, Any] = {}
        if not record.builtin:
            arguments = {"model": self.model, "accepts": self.sendable_sampling_options}
            arguments |= {name: getattr(self.entry, name) for name in record.options}
            arguments |= {"flags": server_flags} if record.takes_flags else {}
        # All levels of a model have its one server, whose messages are of the model.
        name = split_system_name_and_effort(self.name)[0] if record.takes_flags else self.name
        builtin_system: System = load_adapter_class(self.provider)(name=name, **arguments)
        return builtin_system


def load_usable_system_entries(workspace: Workspace) -> dict[str, CatalogEntry]:
    """Return short name → entry, the user's before the shipped ones, without the user's unusable entries.

    A DataError if the user's file can't be used at all.
    """
    return _read_system_entries_and_errors(workspace)[0]


def _read_system_entries_and_errors(workspace: Workspace) -> tuple[dict[str, CatalogEntry], dict[str, DataError]]:
    """Return usable entries by short name, and errors by every name, short or full, of an unusable entry."""
    user_entries, errors = read_user_system_entries_and_errors(workspace)
    if user_entries is None:
        raise errors[0]
    entries = {**_load_shipped_system_entries(), **user_entries}
    broken: dict[str, DataError] = {}
    for name, entry in user_entries.items():
        at = f"systems.{clip(name)}"
        if entry_error := next((e for e in errors if e.entry == at or e.entry.startswith((f"{at}.", f"{at}["))), None):
            del entries[name]
            broken |= {name: entry_error, entry.system: entry_error}
    return entries, broken


@cache
def _load_shipped_system_entries() -> dict[str, CatalogEntry]:
    return read_yaml(Path(__file__).with_name("catalog.yaml"), _CatalogFile).systems


def read_user_system_entries_and_errors(workspace: Workspace) -> tuple[dict[str, CatalogEntry] | None, list[DataError]]:
    """Return the entries of systems.yaml and all errors in it; None in place of entries if it is unusable."""
    path = workspace.own_systems_file_or_none
    if path is None:
        return {}, []
    catalog, errors = read_valid_yaml_part_and_errors(path, _CatalogFile, partial(_find_system_entry_errors, path))
    is_usable = catalog is not None and all(error.entry.startswith("systems.") for error in errors)
    return (catalog.systems if catalog is not None and is_usable else None), errors


def _find_system_entry_errors(path: Path, catalog_file: _CatalogFile) -> Iterator[DataError]:
    for name, entry in catalog_file.systems.items():
        if (
            "/" not in entry.system
            and ":" not in entry.system
            and not _is_builtin_provider_name(split_system_name_and_effort(entry.system)[0])
        ):
            yield DataError(path, f"'{clip(entry.system)}' is not of the form provider/model.", f"systems.{name}")
        record = find_provider(entry.system)
        if entry.passages and (record is None or "passages" not in record.options):
            message = "only systems named openai-api/NAME/MODEL take 'passages'; remove it."
            yield DataError(path, message, f"systems.{name}.passages")
        elif entry.passages and not all(entry.passages.split(".")):
            message = f"'{clip(entry.passages)}' is not a path such as choices.0.message.context.citations."
            yield DataError(path, message, f"systems.{name}.passages")


def resolve_system(name: str, workspace: Workspace) -> ResolvedSystem:
    """Resolve a name from the command line; a UsageError with the nearest name if it is unknown."""
    catalog, broken = _read_system_entries_and_errors(workspace)
    bare, effort = (name, "") if name in catalog or name in broken else split_system_name_and_effort(name)
    if entry := catalog.get(bare):
        entry_effort = split_system_name_and_effort(entry.system)[1]
        if entry_effort and effort:
            raise UsageError(
                f"'{clip(name)}': {bare} is {entry.system}; leave out '@{effort}', or name the model itself."
            )
        effort = effort or entry_effort
    _refuse_unknown_effort_level_in_name(name, catalog)
    resolved = _resolve_without_effort(bare, workspace, catalog, broken)
    if not effort:
        return resolved
    reader = resolved.reader and replace(
        resolved.reader, name=add_effort_to_system_name(resolved.reader.name, effort), effort=effort
    )
    resolved = replace(
        resolved,
        requested_name=name,
        name=add_effort_to_system_name(resolved.name, effort),
        reader=reader,
        effort=effort,
    )
    if resolved.provider_record is not None and not resolved.provider_record.efforts:
        raise UsageError(f"'{clip(name)}': {bare} has no levels of effort; leave out '@{effort}'.")
    return resolved


def _refuse_unknown_effort_level_in_name(system_name: str, catalog: Mapping[str, CatalogEntry]) -> None:
    """Raise a UsageError for a known model with a level behind it that is none."""
    bare, at, level = system_name.rpartition("@")
    known_names = {*catalog, *(entry.system for entry in catalog.values())}
    if at and system_name not in known_names and bare in known_names and level not in EFFORTS:
        raise UsageError(
            f"'{clip(system_name)}': '{clip(level)}' is not a level of effort; the levels are {join_names(EFFORTS)}."
        )


def _resolve_without_effort(
    name: str, workspace: Workspace, catalog: Mapping[str, CatalogEntry], errors_by_name: Mapping[str, DataError]
) -> ResolvedSystem:
    """Resolve a name that ends with no level of effort."""
    if name in errors_by_name:
        raise errors_by_name[name]
    entry = catalog.get(name)
    if entry is None and not _is_builtin_provider_name(name) and name in entry_point_targets(ENTRY_POINTS):
        return ResolvedSystem(name, name, entry_point_targets(ENTRY_POINTS)[name], name, CatalogEntry(system=name))
    full = split_system_name_and_effort(entry.system)[0] if entry else name
    if entry is None:
        # A full name gets what the catalog knows about the same model under its short name.
        entry = next((e for e in catalog.values() if e.system == full), CatalogEntry(system=full))
    if ":" in full and "/" not in full.partition(":")[0]:
        return ResolvedSystem(name, full, full, full, entry)
    record = find_provider(full)
    if record is None:
        suggestions = [provider.form for provider in list_providers() if not provider.builtin]
        if "/" not in name:
            current_names = [short for short, entry in catalog.items() if not entry.retired]
            all_names = [*suggestions, *current_names, *list_builtin_systems(), *entry_point_targets(ENTRY_POINTS)]
            # A misspelt baseline is told; else models are what somebody looks for.
            suggestions = all_names if closest_name_or_empty(name, all_names) else current_names
        raise UnknownNameError(
            "system", name, suggestions, f"See: genaipa systems{_hint_at_ignored_systems_file_or_empty(workspace)}"
        )
    if record.builtin:
        path = _find_file_behind_system(record.name, full)
        if record.words == "recording" and full not in record.builtin() and not (path and path.is_file()):
            raise UnknownNameError(f"{record.name} system", name, record.builtin())
        return ResolvedSystem(name, full, record.name, full, entry)
    # In `openai-api/NAME/MODEL` NAME is ours for the server, which knows the model by the rest.
    model = full.removeprefix(record.shared_name_prefix(full))
    if not model or model == full:
        raise UsageError(f"'{name}' does not name a model; use the form {record.form}.")
    resolved = ResolvedSystem(name, full, record.name, model, entry)
    return _resolve_wrapper_with_reader(resolved, workspace) if record.wraps else resolved


def _hint_at_ignored_systems_file_or_empty(workspace: Workspace) -> str:
    """Return a sentence on a file of short names that is not read, as its folder is no workspace; else nothing."""
    path = workspace.home / SYSTEMS
    if workspace.own_systems_file_or_none is not None or not path.is_file():
        return ""
    return f". {path.name} in this folder is ignored because the folder is not a workspace; run: genaipa init ."


def _resolve_wrapper_with_reader(system: ResolvedSystem, workspace: Workspace) -> ResolvedSystem:
    """Resolve a system that asks another one: it has that one's facts, unless an entry of its own says otherwise."""
    reader = resolve_system(system.model, workspace)
    record = reader.provider_record
    if reader.reader or reader.is_manual or (record and (record.only or record.words == "recording")):
        raise UsageError(
            f"'{system.requested_name}': {reader.name} does not answer from the messages it is sent; name a model."
        )
    default_entry = CatalogEntry(system=system.name)
    overrides = {
        name: value
        for name, value in msgspec.structs.asdict(system.entry).items()
        if value != getattr(default_entry, name)
    }
    reader = replace(reader, entry=msgspec.structs.replace(reader.entry, **overrides))
    return replace(reader, requested_name=system.requested_name, name=f"{system.provider}/{reader.name}", reader=reader)


def _load_adapter_class_of_system(system_name: str) -> Any:
    record = find_provider(system_name)
    assert record is not None, "it was resolved by its record"
    return load_adapter_class(record.name)


def _is_builtin_provider_name(name: str) -> bool:
    record = find_provider(name)
    return record is not None and name == record.name and bool(record.builtin)


def _find_file_behind_system(provider: str, system_name: str) -> Path | None:
    """Return the file of a user's class, a script of replies or a recording."""
    record = find_provider(provider)
    if record is not None:
        return record.source(system_name) if record.source else None
    return find_class_source_file(provider) if ":" in provider else None


def list_missing_setup_steps(resolved: ResolvedSystem) -> list[str]:
    """List the steps needed before a system can be asked."""
    if resolved.reader is not None:
        return list_missing_setup_steps(resolved.reader)
    if resolved.provider_record is None:
        module = resolved.provider.partition(":")[0]
        return [] if is_importable(module) else [f"put the module '{module}' in this folder, or install it"]
    system = resolved.name
    provider = resolved.provider_record.fill_server_in_variable_names(system)
    steps = provider.missing_setup(system) if provider.missing_setup else []
    if provider.sdk and not is_importable(provider.sdk):
        steps.append(f"pip install 'genaipa[{provider.extra}]'")
    try:
        address = read_address_from_environment(system, provider.address) or provider.default_address
    except NotReadyError:
        return [*steps, f"correct the address in {provider.address}"]
    if not address:
        steps += _server_setup_steps(provider)
    for key in provider.keys:
        try:
            read_api_key_from_environment(system, key)
        except NotReadyError:
            return [*steps, f"fix the key in {key}"]
    if provider.keys and needs_key(provider, address) and not any(map(read_environment_variable, provider.keys)):
        steps.append(f"set {' or '.join(provider.keys)}")
    return steps


def _server_setup_steps(provider: Provider) -> list[str]:
    """List the steps needed where no server is named; none if one can be started here."""
    if provider.program is None:
        return [f"set {provider.address}"] if provider.address else []
    try:
        program = provider.program()
    except UsageError as error:
        return [str(error).removesuffix(".")]
    return [] if program else [f"set {provider.address}, or pip install 'genaipa[{provider.name}]'"]


def is_importable(module_name: str) -> bool:
    """Whether a module can be imported, also from the working folder, without importing it."""
    try:
        if importlib.util.find_spec(module_name) is not None:
            return True
    except (ModuleNotFoundError, ValueError):
        return False
    return importlib.machinery.PathFinder.find_spec(module_name.partition(".")[0], [str(Path.cwd())]) is not None
