"""`genaipa prompts`: the messages that a system is sent, as templates or filled in for a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import explain, follow, is_explained, print_json, show, table
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from genaipa.tasks.prompts import Prompts, Script
    from genaipa.workspace import Workspace


def prompts(
    name: Annotated[str | None, typer.Argument(autocompletion=completion.prompts, help="The template to show.")] = None,
    prompts: Annotated[
        str,
        option(
            "--prompts",
            autocompletion=completion.prompt_sets,
            metavar="SET",
            help="The set to show, by default neutral in the document's language.",
        ),
    ] = "",
    policy: Annotated[
        str | None, option("--policy", "-p", autocompletion=completion.documents, help="Fill it in for this document.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """List sets of prompts, or show one.

    With NAME, that template alone; with --policy, filled in for that document.
    """
    from genaipa.datasets.base import load_named_document
    from genaipa.languages.catalog import variant
    from genaipa.runs.procedure import NEUTRAL
    from genaipa.tasks.prompts import load_prompts, set_names

    here = current_workspace()
    if not prompts:
        translated = variant(NEUTRAL, load_named_document(here, policy).language if policy else "")
        prompts = translated if translated in set_names(here) else NEUTRAL
    loaded = load_prompts(here, prompts)
    if name is not None and name not in loaded.files:
        raise UnknownNameError("prompt", name, loaded.files)
    chosen = [name] if name else sorted(loaded.files, key=_place)
    if policy is None:
        if not json and name is None:
            _print_sets(here, prompts)
        _print_templates(loaded, chosen, json=json)
    else:
        _print_filled_in(here, loaded, chosen, policy, json=json)


def _place(name: str) -> int:
    """Rank of a template: in the order of a conversation, included ones last."""
    from genaipa.tasks.prompts import TEMPLATES

    order = list(TEMPLATES)
    return order.index(name) if name in order else len(order)


def _variables(name: str) -> tuple[str, ...]:
    """Variables of a template; an included one sees the variables of the template around it."""
    from genaipa.tasks.prompts import TEMPLATES

    return ("company", "subject", *TEMPLATES[name]) if name in TEMPLATES else ()


def _print_sets(here: Workspace, shown: str) -> None:
    from genaipa.tasks.prompts import SETS, set_names, variants

    known = SETS | variants()
    table(
        ("set", "how it asks"),
        [(name, known.get(name, "your own: what it lacks is taken from neutral")) for name in set_names(here)],
    )
    show(f"\nMessages of {shown}, with the variables that are filled in:")


def _print_templates(loaded: Prompts, names: list[str], *, json: bool) -> None:
    if json:
        print_json(
            [
                {
                    "name": name,
                    "set": loaded.name,
                    "variables": _variables(name),
                    "layer": loaded.files[name][0],
                    "digest": loaded.digests[name],
                    "source": loaded.sources[name],
                }
                for name in names
            ]
        )
        return
    digests = loaded.digests
    one, more = len(names) == 1, len(names) == 1 or is_explained()
    heads = ("name", "variables", "from", "digest")
    cells = [
        (name, ", ".join(_variables(name)) or role, loaded.files[name][0], digests[name][:12])
        for name in names
        # Of a template that is no message.
        for role in ["(included by others)" if name in loaded.used else "(not used in this set)"]
    ]
    table(heads if more else heads[:2], cells if more else [cell[:2] for cell in cells])
    for name in names if more else ():
        _print_text(name, loaded.sources[name].rstrip(), exact=False)
    explain(
        f"To change one, put a file of its name into prompts/{loaded.name}/ of your workspace, or into prompts/ for "
        "all sets; a further folder there is a set of your own."
    )
    chosen = "" if loaded.name == "neutral" else f" --prompts {loaded.name}"
    of = "" if one else "One: genaipa prompts NAME"
    follow(of, f"As sent: genaipa prompts {names[0]}{chosen} --policy brindlecart")


def _print_filled_in(workspace: Workspace, loaded: Prompts, names: list[str], policy: str, *, json: bool) -> None:
    script = _script(workspace, loaded, policy)
    messages = _messages(script)
    if len(names) == 1 and names[0] not in messages:
        said = "it is included by others" if names[0] in loaded.used else "this set does not use it"
        raise UsageError(f"'{names[0]}' is no message of its own; {said}: genaipa prompts")
    shown = {name: messages[name] for name in names if name in messages}
    if json:
        print_json([{"name": name, "policy": policy, "text": text} for name, text in shown.items()])
        return
    for name, text in shown.items():
        _print_text(name, text, exact=True)
    more = "" if loaded.name == "neutral" else f" --prompts {loaded.name}"
    show(f"Every message of a run: genaipa run --system SYSTEM --policy {policy}{more} --dry-run")


def _print_text(name: str, text: str, *, exact: bool) -> None:
    show(f"===== {name}\n{text}\n", exact=exact)


def _script(workspace: Workspace, loaded: Prompts, policy: str) -> Script:
    """The messages for a document in parts of the usual size."""
    from genaipa.datasets.base import load_named_document
    from genaipa.execution.ready import PART_TOKENS
    from genaipa.policies.document import split_parts
    from genaipa.questions.sets import default_set, load_question_set
    from genaipa.systems.costs import make_estimate_counter
    from genaipa.tasks.prompts import Script

    document = load_named_document(workspace, policy)
    parts = tuple(split_parts(document, PART_TOKENS, make_estimate_counter().count))
    return Script(document, parts, load_question_set(default_set(document, workspace), workspace), loaded)


def _messages(script: Script) -> dict[str, str]:
    """Template → a message made from it: the first part, the first question."""
    from genaipa.execution.calls import SUMMARY_PLACEHOLDER

    announcement, first_part, *_ = script.introduction("document")
    first_question = script.questions.questions[0].id
    summary = script.introduction("summary-by-name", SUMMARY_PLACEHOLDER)
    return {
        "introduce-company": script.introduction("company-name")[0].message.content,
        "introduce-document": announcement.message.content,
        "part": first_part.message.content,
        "acknowledgement": first_part.acknowledgement.content,
        "summarize-by-name": script.summary_request("summary-by-name").content,
        "summarize-document": script.summary_request("summary-of-document").content,
        "introduce-summary": summary[0].message.content,
        "question": script.question(first_question, "original").content,
    }
