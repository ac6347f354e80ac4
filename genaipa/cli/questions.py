"""`genaipa questions`: the question sets and their questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli import completion
from genaipa.cli.console import print_json, show, table
from genaipa.cli.options import JsonOption, current_workspace, option
from genaipa.errors import UnknownNameError

if TYPE_CHECKING:
    from genaipa.questions.sets import QuestionSet, Wording
    from genaipa.workspace import Workspace


def questions(
    name: Annotated[
        str | None,
        typer.Argument(metavar="SET", autocompletion=completion.question_sets, help="The question set to show."),
    ] = None,
    wording: Annotated[
        str,
        option(
            "--wording",
            autocompletion=completion.wordings,
            help="Which texts: original, paraphrase-1, paraphrase-2, paraphrase-3 or all.",
        ),
    ] = "original",
    json: JsonOption = False,
) -> None:
    """List question sets, or show one's questions."""
    from genaipa.questions.sets import WORDINGS, load_question_set

    if wording not in (*WORDINGS, "all"):
        raise UnknownNameError("wording", wording, (*WORDINGS, "all"))
    here = current_workspace()
    if name is None:
        _print_sets(here, json=json)
        return
    chosen = load_question_set(name, here)
    wordings = [known for known in WORDINGS if wording in (known, "all")]
    if json:
        _print_json(chosen, wordings)
    else:
        _print_questions(chosen, wordings)


def _print_sets(workspace: Workspace, *, json: bool) -> None:
    from genaipa.questions.sets import load_question_set

    rows = []
    for name, (layer, _) in workspace.names("questions").items():
        found = load_question_set(name, workspace)
        wordings = 1 + min((len(question.paraphrases) for question in found.questions), default=0)
        rows.append(
            {
                "name": name,
                "kind": found.kind,
                "questions": len(found.questions),
                "categories": len(found.categories),
                "wordings": wordings,
                "layer": layer,
                "title": found.title,
            }
        )
    if json:
        print_json(rows)
        return
    headers = ("name", "about a", "questions", "categories", "wordings", "from")
    table(headers, [tuple(row.values())[:-1] for row in rows], right=(2, 3, 4))
    show("The questions of a set: genaipa questions policy")


def _print_json(chosen: QuestionSet, wordings: list[Wording]) -> None:
    print_json(
        {
            "name": chosen.name,
            "title": chosen.title,
            "kind": chosen.kind,
            "placeholder": chosen.placeholder,
            "source": chosen.source,
            "license": chosen.license,
            "categories": chosen.categories,
            "questions": [
                {
                    "id": question.id,
                    "category": question.category,
                    "origin": question.origin,
                    "texts": dict(_texts(chosen, question.id, wordings)),
                }
                for question in chosen.questions
            ],
        }
    )


def _print_questions(chosen: QuestionSet, wordings: list[Wording]) -> None:
    show(f"{chosen.title} ({chosen.name}): {len(chosen.questions)} questions, asked about a {chosen.kind}")
    show(f"{chosen.placeholder} becomes the document's company or short name.")
    rows: list[tuple[str, ...]] = []
    for category, title in chosen.categories.items():
        rows += [("", ""), (category, title)] if rows else [(category, title)]
        for question in chosen.questions:
            if question.category == category:
                texts = _texts(chosen, question.id, wordings)
                rows.append((question.id, texts[0][1]))
                rows += [("", f"- {text}") for _, text in texts[1:]]
    table(("id", ", ".join(wordings)), rows, flexible=1)
    if wordings == ["original"]:
        show(f"The other wordings: genaipa questions {chosen.name} --wording all")


def _texts(chosen: QuestionSet, question_id: str, wordings: list[Wording]) -> list[tuple[Wording, str]]:
    """The question's wordings among these, as far as it has them."""
    from genaipa.questions.sets import WORDINGS

    question = chosen[question_id]
    return [(w, question.wording(w)) for w in wordings if WORDINGS.index(w) <= len(question.paraphrases)]
