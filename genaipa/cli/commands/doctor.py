"""`genaipa doctor`: check this installation and suggest fixes."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from genaipa.cli.terminal.console import is_explanation_wanted, print_json, print_table, queue_next_steps, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.errors import GenaipaError, NotReadyError, UsageError, closest_name_or_empty
from genaipa.execution.launch import load_launchers
from genaipa.plugins import find_unloadable_plugin_packages
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from genaipa.systems.provider import Provider
    from genaipa.workspace import Workspace

State = Literal["ok", "missing", "broken", "off", "unknown"]
Row = tuple[str, State, str, str]
"""Subject, state, finding, and the remedy, empty where nothing is wrong."""

_ALWAYS = ("genaipa", "servers", "output", "runs")
"""Topics and checks whose every missing part is wanted."""
_OURS = "GENAIPA_"
_SETTINGS = {
    *("GENAIPA_CACHE", "GENAIPA_DATABASE_URL", "GENAIPA_DESK", "GENAIPA_MIRROR", "GENAIPA_VLLM_ARGS"),
    *("GENAIPA_VLLM_COMMAND", "GENAIPA_VLLM_START_TIMEOUT"),
}
"""Variables that stand for no option."""
_SECONDS = 2.0
"""Seconds that a server may take to answer."""
_ENOUGH = 1_000_000
"""Bytes of its answer that are read."""
_LITTLE_ROOM = 500 * 1024**2
"""Bytes; a large study takes a few hundred megabytes."""


_AllOption = Annotated[bool, option("--all", help="Show every check, including parts that nothing here uses.")]


def doctor(context: typer.Context, everything: _AllOption = False, json: JsonOption = False) -> None:
    """Check this installation and suggest fixes.

    A missing part is shown if a run, systems.yaml or an environment variable uses it. The command changes nothing,
    shows no key, and calls only servers that environment variables name.
    """
    workspace = current_workspace()
    topics = {
        "genaipa": [
            *_check_python_genaipa_and_shipped_data(),
            *_check_unknown_environment_variables(workspace, context.find_root().command),
        ],
        "extras": list(_check_extras()),
        "keys": list(_check_keys(workspace)),
        "servers": list(_check_servers_and_launchers(workspace)),
        "data": list(_check_data_folders_and_datasets(workspace)),
        "this machine": list(_check_tokenizer_output_and_run_formats(workspace)),
    }
    if json:
        keys = ("what", "state", "found", "remedy")
        print_json({topic: [dict(zip(keys, row, strict=True)) for row in rows] for topic, rows in topics.items()})
    elif everything or is_explanation_wanted():
        _print_check_results(topics)
    else:
        _print_working_and_lacking_parts(topics, _find_used_provider_families(workspace))
    if any(state == "broken" for _, state, _, _ in topics["genaipa"]):
        raise typer.Exit(1)


def _print_check_results(check_rows_by_topic: dict[str, list[Row]]) -> None:
    rows: list[tuple[str, ...] | str] = []
    for topic, findings in check_rows_by_topic.items():
        rows.append(topic)
        for subject, state, detail, remedy in findings:
            rows.append((f"  {subject}", state, f"{detail}\n-> {remedy}" if remedy else detail))
    print_table(("  part", "state", "finding and remedy"), rows)
    if any(state == "broken" for findings in check_rows_by_topic.values() for _, state, _, _ in findings):
        show("genaipa can't work in this state: see the lines marked broken.")
    else:
        show("genaipa works here. To try it without a key: genaipa run --system extractive --policy brindlecart")


def _print_working_and_lacking_parts(
    check_rows_by_topic: dict[str, list[Row]], used_provider_families: set[str]
) -> None:
    """Print a sentence on what works, then what is broken, or missing and used."""
    ok = {topic: [row for row in rows if row[1] == "ok"] for topic, rows in check_rows_by_topic.items()}
    lacks = [
        row
        for topic, rows in check_rows_by_topic.items()
        for row in rows
        if row[1] in ("broken", "unknown")
        or (row[1] == "missing" and ({topic, row[0]} & {*_ALWAYS, *used_provider_families}))
    ]
    facts = [f"Python {check_rows_by_topic['genaipa'][0][2].partition(',')[0]}"]
    facts.append(f"{len(ok['extras'])} of {len(check_rows_by_topic['extras'])} extras")
    facts += [f"key for {', '.join(subject for subject, *_ in ok['keys'])}"] if ok["keys"] else []
    facts += [f"server {detail}" for _, _, detail, _ in ok["servers"] if detail.endswith(" answers")]
    if any(state == "broken" for _, state, _, _ in lacks):
        show("genaipa can't work in this state:")
    else:
        show(f"genaipa works here: {', '.join(facts)}.")
    for subject, _, detail, remedy in lacks:
        show(f"{subject.strip()}: {detail}" + (f"; {remedy}" if remedy else ""))
    queue_next_steps("Every check: genaipa doctor --all")


def _find_used_provider_families(workspace: Workspace) -> set[str]:
    """Return the families, named like extras, of the workspace's systems, its runs and the keys that are set."""
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.systems.catalog import read_user_system_entries_and_errors
    from genaipa.systems.endpoint import read_environment_variable
    from genaipa.systems.provider import find_provider, strip_wrapper_from_system_name

    systems = {entry.system for entry in (read_user_system_entries_and_errors(workspace)[0] or {}).values()}
    for folder in list_run_folders_oldest_first(workspace):
        with contextlib.suppress(GenaipaError):
            systems |= set(folder.manifest().spec.systems)
    providers = {system: find_provider(system) for system in map(strip_wrapper_from_system_name, systems)}
    keys = {
        name
        for name, provider in _find_providers_with_env_variables(workspace).items()
        if any(map(read_environment_variable, provider.keys))
    }
    return keys | {
        part
        for system, provider in providers.items()
        if provider
        for part in (provider.name, provider.shared_name_prefix(system).rstrip("/"))
    }


def _make_check_row(
    subject: str, is_ok: object, detail_if_ok: str, problem: str, remedy: str, state_if_not_ok: State = "missing"
) -> Row:
    return (subject, "ok", detail_if_ok, "") if is_ok else (subject, state_if_not_ok, problem, remedy)


def _check_python_genaipa_and_shipped_data() -> Iterator[Row]:
    """Check Python, genaipa itself and its required data."""
    import platform

    import genaipa
    from genaipa.tasks.prompts import load_prompts
    from genaipa.workspace import SUFFIXES, Workspace, shipped_folder

    yield "Python", "ok", f"{platform.python_version()}, {sys.executable}", ""
    yield "genaipa", "ok", genaipa.__version__, ""
    alone = Workspace(home=shipped_folder(), layers=(("shipped", shipped_folder()),))
    problem = ", ".join(f"no {kind}" for kind in SUFFIXES if not any(shipped_folder(kind).glob("*")))
    try:
        load_prompts(alone)
    except GenaipaError as error:
        problem = problem or str(error)
    remedy = "install genaipa again, from its folder: pip install --force-reinstall ."
    yield _make_check_row(
        "shipped data", not problem, str(shipped_folder()), f"{problem} in {shipped_folder()}", remedy, "broken"
    )
    for package, why in find_unloadable_plugin_packages().items():
        yield package, "missing", why, "install the package again, or uninstall it"


def _check_unknown_environment_variables(workspace: Workspace, root_command: Any) -> Iterator[Row]:
    """Yield variables that look like ours and set nothing, as a mistyped one."""
    ours = sorted(name for name in os.environ if name.startswith(_OURS) and name not in _SETTINGS)
    if not ours:
        return
    setting_names = list_option_environment_variables(root_command) | {
        key
        for provider in _find_providers_with_env_variables(workspace).values()
        for key in (*provider.keys, provider.address)
    }
    words = [name.removeprefix(_OURS) for name in setting_names]
    for name in ours:
        if name not in setting_names:
            near = closest_name_or_empty(name.removeprefix(_OURS), words)
            yield name, "unknown", "sets no option", f"did you mean {_OURS}{near}?" if near else "unset it"


def list_option_environment_variables(root_command: Any) -> set[str]:
    """List the variables of the environment that set an option under `root_command`, or that stand for none."""
    variable_names, pending = set(_SETTINGS), [root_command]
    while pending:
        node = pending.pop()
        names = node.list_commands(None) if hasattr(node, "list_commands") else ()
        pending += filter(None, (node.get_command(None, name) for name in names))
        variable_names |= {parameter.envvar for parameter in node.params if isinstance(parameter.envvar, str)}
    return variable_names


def _check_extras() -> Iterator[Row]:
    """Check the optional packages, as genaipa's own metadata lists them."""
    import re
    from importlib import metadata

    extras: dict[str, list[str]] = {}
    for requirement in metadata.requires("genaipa") or ():
        match = re.fullmatch(r"([\w.-]+)[^;]*;.*\bextra == [\"']([\w-]+)[\"'].*", requirement)
        if match and match[2] != "all":
            extras.setdefault(match[2], []).append(match[1])
    for extra, packages in sorted(extras.items()):
        installed, missing = [], []
        for package in packages:
            try:
                installed.append(f"{package} {metadata.version(package)}")
            except metadata.PackageNotFoundError:
                missing.append(package)
        installed_text = ", ".join(installed)
        lacks = f"{', '.join(missing)} not installed" + (f" ({installed_text} is)" if installed_text else "")
        yield _make_check_row(extra, not missing, installed_text, lacks, f"pip install 'genaipa[{extra}]'")


def _find_providers_with_env_variables(workspace: Workspace) -> dict[str, Provider]:
    """Return name → provider of all with variables, and of the servers in the catalog."""
    from genaipa.systems.catalog import load_usable_system_entries
    from genaipa.systems.provider import find_provider, list_providers

    providers = {
        record.name: record
        for record in list_providers()
        if record.keys and record.fill_server_in_variable_names("") == record
    }
    try:
        entries = load_usable_system_entries(workspace).values()
    except GenaipaError:  # validate says why
        return providers
    for entry in entries:
        provider = find_provider(entry.system)
        if provider is not None and (server := provider.fill_server_in_variable_names(entry.system)) != provider:
            providers[provider.shared_name_prefix(entry.system).rstrip("/")] = server
    return providers


def _check_keys(workspace: Workspace) -> Iterator[Row]:
    """Check the keys that are set, by their variables' names."""
    from genaipa.systems.endpoint import needs_key, read_api_key_from_environment, read_environment_variable

    for name, provider in _find_providers_with_env_variables(workspace).items():
        present = [key for key in provider.keys if read_environment_variable(key)]
        names = " or ".join(provider.keys)
        if present:
            try:
                read_api_key_from_environment(name, present[0])
            except NotReadyError as error:
                yield name, "missing", f"{present[0]} can't be used", str(error).removesuffix(".")
            else:
                yield name, "ok", f"{present[0]} is set", ""
        elif needs_key(provider, read_environment_variable(provider.address) or ""):
            yield name, "missing", "no key", f"set {names} in the environment or in a .env file"
        else:
            whose = "needed only by servers that require a key"
            if provider.key_needed == "elsewhere":
                whose = "not needed by a server on this machine"
            yield name, "off", f"no {names}, {whose}", ""


def _check_servers_and_launchers(workspace: Workspace) -> Iterator[Row]:
    """Check the servers that variables name. No key is sent."""
    from genaipa.systems.endpoint import read_environment_variable

    providers = _find_providers_with_env_variables(workspace).items()
    addresses = {
        record.address: address for _, record in providers if (address := read_environment_variable(record.address))
    }
    yield from (_check_server(variable, address) for variable, address in addresses.items())
    if not addresses:
        yield "addresses", "off", "no environment variable names a server, so the providers' own servers are used", ""
    yield from _check_proxies_answer()
    for launcher in load_launchers().values():
        yield from launcher.doctor_rows()
    for name, provider in providers:
        try:
            program = provider.program() if provider.program else None
        except UsageError as error:
            yield name, "missing", "can't be started here", str(error).removesuffix(".")
        else:
            if program:
                yield name, "ok", f"{program} can start a server here", ""


def _check_proxies_answer() -> Iterator[Row]:
    """Check whether anything listens at the proxies that variables name."""
    import socket
    import urllib.parse

    from genaipa.systems.endpoint import find_proxy_variable_and_address

    proxies = {find_proxy_variable_and_address(f"{scheme}://example.org") for scheme in ("https", "http")}
    for variable, proxy in sorted(pair for pair in proxies if pair):
        try:
            parts = urllib.parse.urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_SECONDS):
                yield variable, "ok", f"{proxy} answers; all other machines are reached through it", ""
        except (OSError, ValueError) as error:
            remedy = f"fix or unset {variable}: no other machine can be reached through it"
            yield variable, "missing", f"nothing answers at {proxy} ({error})", remedy


def _check_server(variable: str, address: str) -> Row:
    import httpx2

    from genaipa.files.certificates import explain_refused_certificate_or_empty
    from genaipa.files.download import Downloads
    from genaipa.files.responses import TooLargeError
    from genaipa.files.text import split_url_or_empty
    from genaipa.systems.endpoint import is_loopback_url
    from genaipa.systems.provider import redact_keys

    safe_address = redact_keys(address)
    why = ""
    try:
        with Downloads(by_proxy=not is_loopback_url(address)) as downloads, contextlib.suppress(TooLargeError):
            downloads.get(address, seconds=_SECONDS, max_bytes=_ENOUGH, follow_redirects=False)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, UsageError) as error:
        host = split_url_or_empty(safe_address).hostname or ""
        why = explain_refused_certificate_or_empty(error, host) or redact_keys(str(error)) or type(error).__name__
    problem = f"nothing answers at {safe_address} ({why})"
    return _make_check_row(
        variable, not why, f"{safe_address} answers", problem, "start the server, or correct the address"
    )


def _check_data_folders_and_datasets(workspace: Workspace) -> Iterator[Row]:
    from rich.filesize import decimal

    from genaipa.datasets.base import iterate_loadable_datasets
    from genaipa.systems.published import is_recording_pulled
    from genaipa.workspace import SUFFIXES, Workspace, cache_folder

    own_folder = dict(workspace.layers).get("workspace")
    none = f"none; runs go to {workspace.runs}" if own_folder is None else ""
    yield _make_check_row(
        "workspace", own_folder, str(own_folder), none, "for data of your own: genaipa init DIR", "off"
    )
    for layer, folder in workspace.layers:
        alone = Workspace(home=folder, layers=((layer, folder),))
        counts = {kind: len(alone.nearest_files(kind)) for kind in SUFFIXES}
        held = ", ".join(f"{kind}: {count}" for kind, count in counts.items() if count)
        yield _make_check_row(f"  {layer}", held, held, "nothing", "", "off")
    size = sum(path.stat().st_size for path in cache_folder().rglob("*") if path.is_file())
    yield "cache", "ok", f"{cache_folder()}, {decimal(size)}", ""
    for dataset in iterate_loadable_datasets():
        remedy = f"genaipa get {dataset.name}"
        if getattr(dataset, "is_joined", False):
            continue  # its parts are here one by one
        if not dataset.documents:
            # Nothing lacks without it but what nobody may want to ask.
            state = getattr(dataset, "state", "pulled")
            yield _make_check_row(
                dataset.title, dataset.is_pulled(), state, f"not pulled; to use it: {remedy}", "", "off"
            )
            continue
        yield _make_check_row(
            dataset.title, dataset.is_pulled(), "pulled", "the published files have not been fetched", remedy
        )
        recorded = [name for name in dataset.systems if is_recording_pulled(name)]
        if dataset.systems:
            lacks = "some of their answers are missing"
            if recorded:
                lacks += f"; the source had only {', '.join(recorded)}"
                remedy += " --from DIR|URL, with a complete source"
            yield _make_check_row(
                "  its systems", len(recorded) == len(dataset.systems), ", ".join(recorded), lacks, remedy
            )


def _check_tokenizer_output_and_run_formats(workspace: Workspace) -> Iterator[Row]:
    import importlib

    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.systems.costs import make_tiktoken_counter_if_loadable

    counter = make_tiktoken_counter_if_loadable("gpt-4o", offline=True)
    remedy = "run an OpenAI system once while online, to download it"
    try:
        importlib.import_module("tiktoken")
    except ImportError:
        remedy = f"pip install 'genaipa[openai]', and {remedy}"
    lacks = "OpenAI's vocabulary is missing, so token counts are estimates"
    yield _make_check_row("token counts", counter, f"{counter.label if counter else ''} is available", lacks, remedy)
    encoding = (sys.stdout.encoding or "").lower().replace("_", "-")
    width = shutil.get_terminal_size().columns
    kind = f"a terminal of {width} columns" if sys.stdout.isatty() else "not a terminal"
    fits = encoding in ("utf-8", "utf8")
    yield _make_check_row("output", fits, f"{kind}, UTF-8", f"{kind}, {encoding or 'no encoding'}", "set PYTHONUTF8=1")
    yield _check_disk_space(workspace.runs)
    if writers := [
        writer for folder in list_run_folders_oldest_first(workspace) if (writer := folder.outdated_writer_version)
    ]:
        lacking = f"{format_count(len(writers), 'run')} in an earlier format can be read only"
        yield (
            "runs",
            "missing",
            f"{lacking} by {join_names([*dict.fromkeys(writers)])}",
            "read them with that version, or ask the questions again in new runs",
        )


def _check_disk_space(runs_folder: Path) -> Row:
    from rich.filesize import decimal

    folder = next(parent for parent in (runs_folder, *runs_folder.parents) if parent.is_dir())
    if not os.access(folder, os.W_OK):
        return "runs", "missing", f"{folder} can't be written to", "choose another folder with --workspace"
    free = shutil.disk_usage(folder).free
    detail = f"{runs_folder}, {decimal(free)} free"
    return _make_check_row("runs", free >= _LITTLE_ROOM, detail, detail, "free some space before a large study")
