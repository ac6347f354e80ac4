"""`genaipa systems`: available systems and their missing requirements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    is_explanation_wanted,
    print_caveat_unless_quiet,
    print_json,
    print_table,
    print_to_stderr,
    queue_explanation,
    queue_next_steps,
    show,
    show_facts,
)
from genaipa.cli.terminal.options import JsonOption, current_workspace, option, split_names
from genaipa.errors import GenaipaError, UnknownNameError, UsageError
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.systems.catalog import ResolvedSystem
    from genaipa.systems.costs import Tariff
    from genaipa.systems.provider import Provider, SystemMeanings


def systems(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            autocompletion=completion.systems,
            help="Only these systems, as short names or provider/model; baseline lists all baselines.",
        ),
    ] = None,
    check: Annotated[bool, option("--check", help="Start the systems and show what their servers report.")] = False,
    json: JsonOption = False,
) -> None:
    """List systems (models) and missing requirements.

    No question is asked, and nothing costs money.
    """
    from genaipa.systems.catalog import load_usable_system_entries, read_user_system_entries_and_errors, resolve_system
    from genaipa.systems.provider import list_builtin_systems

    workspace = current_workspace()
    chosen = split_names(names)
    if check and not chosen:
        raise UsageError("--check needs the names of the systems to start: genaipa systems NAME --check")
    for error in read_user_system_entries_and_errors(workspace)[1] if not chosen else ():
        print_to_stderr(f"left out: {error}")
    listed = dict.fromkeys(
        _expand_baseline_names(chosen) or (*list_builtin_systems(), *load_usable_system_entries(workspace))
    )
    resolved = [resolve_system(name, workspace) for name in listed]
    if check:
        raise typer.Exit(_check_systems_start(resolved, json=json))
    rows = [_system_facts(system) for system in resolved]
    if json:
        print_json(rows)
        return
    # A short name of the user's own for a baseline is a system like any other.
    model_rows = [row for row in rows if not row["suites"] or row["name"] != row["system"]]
    if not chosen and not is_explanation_wanted():
        _print_ready_systems_and_others_needs(model_rows)
        return
    if model_rows:
        _print_systems_table(model_rows)
    if chosen:
        _print_system_meanings(rows)
        _print_system_details(model_rows)
    else:
        _print_task_dependent_system_names()
        _print_system_name_forms()


def _expand_baseline_names(names: Iterable[str]) -> list[str]:
    """Return the names, `baseline` expanded to all of them; an UnknownNameError for a name that its provider lacks."""
    from genaipa.systems.provider import find_provider

    expanded: list[str] = []
    for name in names:
        provider = find_provider(name)
        if provider is None or provider.meanings is None or provider.builtin is None:
            expanded.append(name)
            continue
        every = tuple(provider.builtin())
        if name not in (provider.name, *every):
            raise UnknownNameError(provider.name, name, every, f"See: genaipa systems {provider.name}")
        expanded += every if name == provider.name else (name,)
    return expanded


def _system_facts(resolved: ResolvedSystem) -> dict[str, Any]:
    """Return the facts about a system, without any call."""
    from genaipa.systems.catalog import list_missing_setup_steps

    entry, tariff = resolved.entry, resolved.tariff
    missing = list_missing_setup_steps(resolved)
    return {
        "name": resolved.requested_name,
        "system": resolved.name,
        "context": resolved.context_tokens,
        "price": _prices_per_million_tokens(tariff) if tariff else None,
        "price_from": tariff.label if tariff else "",
        "ready": not missing,
        "missing": missing,
        "retired": entry.retired,
        "ended": entry.is_retired,
        "use": entry.use,
        "settings": None if entry.settings is None else sorted(entry.settings),
        "effort": resolved.effort_levels,
        "note": entry.note,
        "demo": entry.demo,
        "suites": _find_kind_and_meaning_by_task(resolved.name),
    }


def _find_kind_and_meaning_by_task(system: str) -> dict[str, dict[str, str]]:
    """Return task → kind and meaning of this system in it; empty where it is the same system for every task."""
    from genaipa.systems.provider import find_provider

    provider = find_provider(system)
    every = provider.meanings().by_task if provider and provider.meanings else {}
    return {
        task: {"kind": kind, "about": about} for task, of in every.items() for name, kind, about in of if name == system
    }


def _prices_per_million_tokens(tariff: Tariff) -> dict[str, float]:
    """Return the dollars per million tokens, priced for a thousand: those of a larger request may be higher."""
    from genaipa.systems.base import Usage

    usages = {"input": Usage(input=1000), "output": Usage(output=1000)}
    return {side: round(tariff.cost(usage) * 1000, 4) for side, usage in usages.items()}


def _print_systems_table(system_facts: list[dict[str, Any]]) -> None:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in sorted(system_facts, key=lambda row: bool(_find_shared_setup_prefix_or_empty(row["system"]))):
        needs = "; ".join(row["missing"]) or "ready"
        groups.setdefault((_find_shared_setup_prefix_or_empty(row["system"]) or row["system"], needs), []).append(row)
    listed: list[tuple[str, ...] | str] = []
    for (family, needs), members in groups.items():
        # A family with different needs gets a line for each, with the names of its systems.
        alike = sum(name == family for name, _ in groups) == 1
        listed.append(f"{family if alike else ', '.join(row['system'] for row in members)}: {needs}")
        listed += [
            _make_system_cells(row)
            for row in members
            if _find_shared_setup_prefix_or_empty(row["system"]) or row["name"] != row["system"]
        ]
    print_table(("  name", "model", "context", "$ in / out", ""), listed, right_aligned_columns=(2, 3))
    if any(row["price"] for row in system_facts):
        show(f"Prices in US dollars per million tokens: {_describe_price_sources(system_facts)}.")


def _print_ready_systems_and_others_needs(system_facts: list[dict[str, Any]]) -> None:
    """Print the systems that can be asked now with their prices, and a line for each need of the others."""
    ready = [row for row in system_facts if row["ready"]]
    cells = [
        (
            row["name"],
            _make_system_cells(row)[3] if any((row["price"] or {}).values()) else "free",
            _make_system_cells(row)[4],
        )
        for row in ready
    ]
    print_table(("ready", "$ in / out", ""), cells, right_aligned_columns=(1,))
    if any((row["price"] or {}).get("input") for row in ready):
        print_caveat_unless_quiet(f"Prices in US dollars per million tokens: {_describe_price_sources(ready)}.")
    needs: dict[str, list[str]] = {}
    for row in system_facts:
        if not row["ready"]:
            needs.setdefault("; ".join(row["missing"]), []).append(row["name"])
    for need, names in needs.items():
        show(f"{', '.join(names)}: {need}")
    queue_next_steps("For prices, or another model: genaipa systems NAME", "For baselines: genaipa systems baseline")
    queue_explanation(
        "How systems are named, and baselines of suites.", hint_if_hidden="How to name a system: --explain"
    )


def _find_shared_setup_prefix_or_empty(system: str) -> str:
    """Return the prefix of systems with the same requirements: `openai/`, `openai-api/lab/`; empty for a single one."""
    from genaipa.systems.provider import find_provider

    provider = find_provider(system)
    needs = provider is not None and (provider.keys or provider.missing_setup)
    return provider.shared_name_prefix(system) if provider and needs and "/" in system else ""


def _make_system_cells(system_facts: dict[str, Any]) -> tuple[str, ...]:
    price, word = system_facts["price"], "now" if system_facts["ended"] else "then"
    end = "demo: answers about Brindlecart, whatever the policy" if system_facts["demo"] else ""
    if system_facts["retired"]:
        end = f"{'retired' if system_facts['ended'] else 'until'} {system_facts['retired']}" + (
            system_facts["use"] and f", {word} {system_facts['use']}"
        )
    return (
        f"  {system_facts['name']}",
        system_facts["system"].removeprefix(_find_shared_setup_prefix_or_empty(system_facts["system"])),
        f"{system_facts['context']:,}" if system_facts["context"] else "",
        f"{price['input']:.2f} / {price['output']:.2f}" if price else "",
        end,
    )


def _describe_price_sources(system_facts: list[dict[str, Any]]) -> str:
    names_by_label: dict[str, list[str]] = {}
    for row in system_facts:
        if row["price"]:
            names_by_label.setdefault(row["price_from"], []).append(row["name"])
    first, *other_labels = sorted(names_by_label, key=lambda label: -len(names_by_label[label]))
    return "; ".join([first, *(f"{', '.join(names_by_label[label])}: {label}" for label in other_labels)])


def _print_system_details(system_facts: list[dict[str, Any]]) -> None:
    if not system_facts:
        return
    for row in system_facts:
        if row["settings"] is not None:
            show(f"Settings sent to {row['name']}: {', '.join(row['settings']) or 'none'}.")
        if row["effort"]:
            show(f"{row['name']}: can be asked at these levels of effort: {join_names(row['effort'], 'or')}.")
        if row["note"]:
            show(f"{row['name']}: {row['note']}")
    show(f"To check their servers: genaipa systems {' '.join(row['name'] for row in system_facts)} --check")


def _print_task_dependent_system_names() -> None:
    """Print the names of systems that depend on the task: their meanings would fill the screen."""
    for provider, meanings in _list_providers_with_meanings():
        show(f"\n{meanings.title}")
        show_facts(
            (
                f"  {task}",
                ", ".join(_remove_provider_prefix(name) + "*" * (kind in meanings.marked) for name, kind, _ in of),
            )
            for task, of in meanings.by_task.items()
        )
        show(f"To list their meanings: genaipa systems {provider.name}")


def _print_system_meanings(system_facts: list[dict[str, Any]]) -> None:
    system_names = {row["system"] for row in system_facts}
    for provider, meanings in _list_providers_with_meanings():
        listed: list[tuple[str, ...] | str] = []
        for task, of in meanings.by_task.items():
            named = [
                (f"  {_remove_provider_prefix(name)}", kind, about) for name, kind, about in of if name in system_names
            ]
            listed += [task, *dict.fromkeys(named)] if named else []
        if listed:
            print_table((f"  {provider.name}/", "kind", "reply"), listed)
            show(meanings.legend)


def _list_providers_with_meanings() -> list[tuple[Provider, SystemMeanings]]:
    from genaipa.systems.provider import list_providers

    return [(provider, provider.meanings()) for provider in list_providers() if provider.meanings]


def _remove_provider_prefix(system: str) -> str:
    """Return a system's name after its provider's."""
    return system.partition("/")[2]


def _print_system_name_forms() -> None:
    from genaipa.systems.provider import list_providers

    forms = [(provider.form, provider.about) for provider in list_providers()]
    forms.append(("module:Class", "your own class, importable from the working folder"))
    show("\nA system can also be named in full:")
    show_facts((f"  {form}", description) for form, description in forms)
    show("\nPut your own short names into systems.yaml in your workspace. To check one: genaipa systems NAME --check")


def _check_systems_start(resolved_systems: Iterable[ResolvedSystem], *, json: bool) -> int:
    """Start each system and close it again; return 1 if one is not ready."""
    import asyncio

    from genaipa.cli.terminal.env_file import print_which_keys_came_from_env_file

    answers = []
    for system in resolved_systems:
        print_to_stderr(f"starting {system.name}")
        print_which_keys_came_from_env_file([system.name])
        answer = asyncio.run(_try_starting_system(system))
        answers.append({"name": system.requested_name, "system": system.name, **answer})
        if not json:
            ready = "ready" if answer["checked"] else "reached, but neither the key nor the model could be checked"
            show(f"{system.requested_name}: " + (ready if answer["ready"] else f"not ready: {answer['error']}"))
            for sentence in _list_facts_of_ready_system(answer):
                show(f"    {sentence}")
    if json:
        print_json(answers)
    return 0 if all(answer["ready"] for answer in answers) else 1


async def _try_starting_system(resolved: ResolvedSystem) -> dict[str, Any]:
    from genaipa.execution.ready import start_system
    from genaipa.systems.base import Readiness

    readiness = Readiness(notes=("people collect its replies, so there is nothing to start.",))
    try:
        if not resolved.is_manual:
            system = resolved.make_system()
            try:
                readiness = await start_system(system, resolved)
                resolved.refuse_unsupported_effort(readiness.efforts)
            finally:
                await system.close()
    except GenaipaError as error:
        return {"ready": False, "checked": True, "error": str(error)}
    models = readiness.models
    return {
        "ready": True,
        "checked": readiness.checked,
        "error": "",
        "context": readiness.context,
        "effort": readiness.efforts,
        "models": None if models is None else len(models),
        "listed": None if models is None else resolved.model in models,
        "shutdown": readiness.shutdown,
        "notes": readiness.notes,
    }


def _list_facts_of_ready_system(start_result: dict[str, Any]) -> list[str]:
    """Return a server's facts as sentences."""
    if not start_result["ready"]:
        return []
    sentences = list(start_result["notes"])
    if start_result["models"] is not None:
        sentences.append(
            f"{start_result['models']} models are listed" + (", including this one" if start_result["listed"] else "")
        )
    if start_result["effort"]:
        sentences.append(f"its levels of effort are {join_names(start_result['effort'])}")
    if start_result["context"]:
        sentences.append(f"the context holds {start_result['context']:,} tokens")
    if start_result["shutdown"]:
        sentences.append(f"the provider will shut this model down on {start_result['shutdown']}")
    return sentences
