"""`genaipa prompts`: the messages that a system is sent, as templates or filled in for a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    is_explanation_wanted,
    print_json,
    print_table,
    queue_explanation,
    queue_next_steps,
    show,
)
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.errors import UnknownNameError, UsageError

if TYPE_CHECKING:
    from genaipa.tasks.prompts import PromptSet, Script
    from genaipa.workspace import Workspace


def prompts(
    name: Annotated[str | None, typer.Argument(autocompletion=completion.prompts, help="The template to show.")] = None,
    prompts: Annotated[
        str,
        option(
            "--prompts",
            autocompletion=completion.prompt_sets,
            metavar="SET",
            help="The set to show; by default, neutral, in the document's language.",
        ),
    ] = "",
    policy: Annotated[
        str | None,
        option("--policy", "-p", autocompletion=completion.documents, help="Fill in the templates for this document."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List prompt sets, or show one.

    With NAME, only that template is shown; with --policy, templates are filled in for that document.
    """
    from genaipa.datasets.base import load_named_document
    from genaipa.languages.catalog import variant_name_for_language
    from genaipa.runs.procedure import NEUTRAL
    from genaipa.tasks.prompts import list_prompt_sets, load_prompts

    workspace = current_workspace()
    if not prompts:
        translated = variant_name_for_language(
            NEUTRAL, load_named_document(workspace, policy).language if policy else ""
        )
        prompts = translated if translated in list_prompt_sets(workspace) else NEUTRAL
    loaded = load_prompts(workspace, prompts)
    if name is not None and name not in loaded.files:
        raise UnknownNameError("prompt", name, loaded.files)
    chosen = [name] if name else sorted(loaded.files, key=_template_rank)
    if policy is None:
        if not json and name is None:
            _print_prompt_sets(workspace, prompts)
        _print_template_table_and_texts(loaded, chosen, json=json)
    else:
        _print_filled_in_messages(workspace, loaded, chosen, policy, json=json)


def _template_rank(template_name: str) -> int:
    """Return the rank of a template: in the order of a conversation, included ones last."""
    from genaipa.tasks.prompts import TEMPLATES

    order = list(TEMPLATES)
    return order.index(template_name) if template_name in order else len(order)


def _template_variable_names(template_name: str) -> tuple[str, ...]:
    """Return the variables of a template; an included one sees the variables of the template around it."""
    from genaipa.tasks.prompts import TEMPLATES

    return ("company", "subject", *TEMPLATES[template_name]) if template_name in TEMPLATES else ()


def _print_prompt_sets(workspace: Workspace, set_shown_below: str) -> None:
    from genaipa.tasks.prompts import SETS, list_prompt_sets, translated_prompt_set_descriptions

    sets = SETS | translated_prompt_set_descriptions()
    print_table(
        ("set", "how it asks"),
        [
            (name, sets.get(name, "your own; missing templates come from neutral"))
            for name in list_prompt_sets(workspace)
        ],
    )
    show(f"\nMessages of {set_shown_below}, with the variables that are filled in:")


def _print_template_table_and_texts(prompt_set: PromptSet, template_names: list[str], *, json: bool) -> None:
    if json:
        print_json(
            [
                {
                    "name": name,
                    "set": prompt_set.name,
                    "variables": _template_variable_names(name),
                    "layer": prompt_set.files[name][0],
                    "digest": prompt_set.digests[name],
                    "source": prompt_set.template_texts[name],
                }
                for name in template_names
            ]
        )
        return
    digests = prompt_set.digests
    is_single, is_full = len(template_names) == 1, len(template_names) == 1 or is_explanation_wanted()
    heads = ("name", "variables", "from", "digest")
    cells = [
        (name, ", ".join(_template_variable_names(name)) or role, prompt_set.files[name][0], digests[name][:12])
        for name in template_names
        # Of a template that is no message.
        for role in [
            "(included by other templates)" if name in prompt_set.used_template_names else "(not used in this set)"
        ]
    ]
    print_table(heads if is_full else heads[:2], cells if is_full else [cell[:2] for cell in cells])
    for name in template_names if is_full else ():
        _print_text_under_title(name, prompt_set.template_texts[name].rstrip(), no_wrap=False)
    queue_explanation(
        f"To replace a template, put a file with its name into prompts/{prompt_set.name}/ in your workspace, or into "
        "prompts/ for all sets; any other folder there is a set of your own."
    )
    chosen = "" if prompt_set.name == "neutral" else f" --prompts {prompt_set.name}"
    of = "" if is_single else "To show one: genaipa prompts NAME"
    queue_next_steps(of, f"Filled in: genaipa prompts {template_names[0]}{chosen} --policy brindlecart")


def _print_filled_in_messages(
    workspace: Workspace, prompt_set: PromptSet, template_names: list[str], document_name: str, *, json: bool
) -> None:
    script = _make_message_script(workspace, prompt_set, document_name)
    messages = _example_messages_by_template(script)
    if len(template_names) == 1 and template_names[0] not in messages:
        reason = (
            "other templates include it"
            if template_names[0] in prompt_set.used_template_names
            else "this set does not use it"
        )
        raise UsageError(f"'{template_names[0]}' is not a message, because {reason}; see: genaipa prompts")
    texts = {name: messages[name] for name in template_names if name in messages}
    if json:
        print_json([{"name": name, "policy": document_name, "text": text} for name, text in texts.items()])
        return
    for name, text in texts.items():
        _print_text_under_title(name, text, no_wrap=True)
    set_option = "" if prompt_set.name == "neutral" else f" --prompts {prompt_set.name}"
    show(f"To print every message of a run: genaipa run --system SYSTEM --policy {document_name}{set_option} --dry-run")


def _print_text_under_title(title: str, text: str, *, no_wrap: bool) -> None:
    show(f"===== {title}\n{text}\n", no_wrap=no_wrap)


def _make_message_script(workspace: Workspace, prompt_set: PromptSet, document_name: str) -> Script:
    """Make the script of messages for a document in parts of the usual size."""
    from genaipa.datasets.base import load_named_document
    from genaipa.execution.ready import PART_TOKENS
    from genaipa.policies.document import split_by_token_limit
    from genaipa.questions.sets import default_question_set_name, load_question_set
    from genaipa.systems.costs import make_estimating_token_counter
    from genaipa.tasks.prompts import Script

    document = load_named_document(workspace, document_name)
    parts = tuple(split_by_token_limit(document, PART_TOKENS, make_estimating_token_counter().count))
    return Script(
        document, parts, load_question_set(default_question_set_name(document, workspace), workspace), prompt_set
    )


def _example_messages_by_template(script: Script) -> dict[str, str]:
    """Return template → a message made from it: the first part, the first question."""
    from genaipa.execution.calls import SUMMARY_PLACEHOLDER

    announcement, first_part, *_ = script.introduction_steps("document")
    first_question = script.questions.questions[0].id
    summary = script.introduction_steps("summary-by-name", SUMMARY_PLACEHOLDER)
    return {
        "introduce-company": script.introduction_steps("company-name")[0].message.content,
        "introduce-document": announcement.message.content,
        "part": first_part.message.content,
        "acknowledgement": first_part.acknowledgement.content,
        "summarize-by-name": script.summary_request_message("summary-by-name").content,
        "summarize-document": script.summary_request_message("summary-of-document").content,
        "introduce-summary": summary[0].message.content,
        "question": script.question_message(first_question, "original").content,
    }
