"""`genaipa questions`: the question sets and their questions, and a file for one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import print_json, print_table, queue_next_steps, show
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.errors import UnknownNameError, UsageError, format_shell_command
from genaipa.words import format_count

if TYPE_CHECKING:
    from genaipa.questions.sets import QuestionSet, Wording
    from genaipa.workspace import Workspace


app = typer.Typer(help="List, show or start question sets.")

_NEW = """\
# Your own questions. To ask them: genaipa run --system SYSTEM --policy POLICY --questions {name}
# To check this file at any time: genaipa validate
name: {name}
title: My questions          # heading of the list of questions
kind: policy                 # what the questions are about: policy or regulation
placeholder: "[the company]" # replaced by the name of the document's company
source: written by me        # who wrote the questions, for readers of your report
license: CC0-1.0             # license of the questions

# Reports have a row for each category: its short name, and what it means.
categories:
  D: My data

# Replace the example, and add as many questions as you like. Each needs a unique id, which must not change once the
# question has been asked.
questions:
  - id: D_1
    category: D
    origin: user             # user: a person's own words; faq: a general concern
    text: What does [the company] know about me?
    # Up to three other wordings, for --experiment robustness:
    # paraphrases: [Which data about me does [the company] hold?]
"""


@app.command("list")
def show_question_sets(
    name: Annotated[
        str | None,
        typer.Argument(metavar="SET", autocompletion=completion.question_sets, help="The question set to show."),
    ] = None,
    wording: Annotated[
        str,
        option(
            "--wording",
            autocompletion=completion.wordings,
            help="Wordings to show: original, paraphrase-1, paraphrase-2, paraphrase-3 or all.",
        ),
    ] = "original",
    json: JsonOption = False,
) -> None:
    """List question sets, or show one's questions."""
    from genaipa.questions.sets import WORDINGS, load_question_set

    if wording not in (*WORDINGS, "all"):
        raise UnknownNameError("wording", wording, (*WORDINGS, "all"))
    workspace = current_workspace()
    if name is None:
        _print_question_sets(workspace, json=json)
        return
    chosen = load_question_set(name, workspace)
    wordings = [candidate for candidate in WORDINGS if wording in (candidate, "all")]
    if json:
        _print_question_set_json(chosen, wordings)
    else:
        _print_questions(chosen, wordings)


@app.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the set, for --questions NAME.")] = "mine",
) -> None:
    """Start a question set of your own.

    The file questions/NAME.yaml in the workspace has an example and explains each line.
    """
    from genaipa.policies.adding import NAME

    workspace = current_workspace()
    if "workspace" not in dict(workspace.layers):
        raise UsageError(
            "questions are kept in a workspace, and this folder is not in one; create one with: genaipa init DIR"
        )
    if not NAME.fullmatch(name):
        raise UsageError(
            f"'{name}' is not a valid name for a question set: use lower-case letters, digits, '.', '_' and "
            f"'-', and begin with "
            "a letter or digit."
        )
    if name in (sets := workspace.nearest_files("questions")) and sets[name][0] != "workspace":
        raise UsageError(f"'{name}' ships with genaipa, and your set would replace it; choose another name.")
    path = workspace.home / "questions" / f"{name}.yaml"
    try:
        path.parent.mkdir(exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_NEW.format(name=name))
    except FileExistsError:
        raise UsageError(f"{path} exists already; add to it, or choose another name.") from None
    except OSError as error:
        raise UsageError(f"{path} can't be written ({error.strerror}).") from None
    ask = format_shell_command("genaipa", "run", "--system", "SYSTEM", "--policy", "POLICY", "--questions", name)
    show(f"{path}: fill it in, and check it with genaipa validate.")
    queue_next_steps(f"Then: {ask}")


def _print_question_sets(workspace: Workspace, *, json: bool) -> None:
    from genaipa.questions.sets import load_question_set

    rows = []
    for name, (layer, _) in workspace.nearest_files("questions").items():
        question_set = load_question_set(name, workspace)
        wordings = 1 + min((len(question.paraphrases) for question in question_set.questions), default=0)
        rows.append(
            {
                "name": name,
                "kind": question_set.kind,
                "questions": len(question_set.questions),
                "categories": len(question_set.categories),
                "wordings": wordings,
                "layer": layer,
                "title": question_set.title,
            }
        )
    if json:
        print_json(rows)
        return
    headers = ("name", "kind", "questions", "categories", "wordings", "from")
    print_table(headers, [tuple(row.values())[:-1] for row in rows], right_aligned_columns=(2, 3, 4))
    show("To show a set: genaipa questions policy     To start your own: genaipa questions new")


def _print_question_set_json(question_set: QuestionSet, wordings: list[Wording]) -> None:
    print_json(
        {
            "name": question_set.name,
            "title": question_set.title,
            "kind": question_set.kind,
            "placeholder": question_set.placeholder,
            "source": question_set.source,
            "license": question_set.license,
            "language": question_set.language_code,
            "translates": question_set.translates,
            "translators": question_set.translators,
            "checked_by": question_set.checked_by,
            "categories": question_set.categories,
            "questions": [
                {
                    "id": question.id,
                    "category": question.category,
                    "origin": question.origin,
                    "texts": dict(_select_question_texts(question_set, question.id, wordings)),
                }
                for question in question_set.questions
            ],
        }
    )


def _print_questions(question_set: QuestionSet, wordings: list[Wording]) -> None:
    show(
        f"{question_set.title} ({question_set.name}): "
        f"{format_count(len(question_set.questions), 'question')}, asked about a "
        f"{question_set.kind}"
    )
    if question_set.translation_credits:
        show(f"Translated from {question_set.translates} {question_set.translation_credits}.")
    show(f"{question_set.placeholder} becomes the document's company or short name.")
    rows: list[tuple[str, ...]] = []
    for category, title in question_set.categories.items():
        rows += [("", ""), (category, title)] if rows else [(category, title)]
        for question in question_set.questions:
            if question.category == category:
                texts = _select_question_texts(question_set, question.id, wordings)
                rows.append((question.id, texts[0][1]))
                rows += [("", f"- {text}") for _, text in texts[1:]]
    print_table(("id", ", ".join(wordings)), rows)
    if wordings == ["original"]:
        show(f"To show the other wordings: genaipa questions {question_set.name} --wording all")


def _select_question_texts(
    question_set: QuestionSet, question_id: str, wordings: list[Wording]
) -> list[tuple[Wording, str]]:
    """Return those of the wordings that the question has, with their texts."""
    from genaipa.questions.sets import WORDINGS

    question = question_set[question_id]
    return [(w, question.text_in_wording(w)) for w in wordings if WORDINGS.index(w) <= len(question.paraphrases)]
