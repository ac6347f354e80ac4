"""`genaipa study`: the scoring of one study, shared by partners who have no server in common."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import add_next_steps, caveat, print_table, show
from genaipa.cli.terminal.options import ForceOption, current_workspace, option, split_names
from genaipa.errors import UsageError, clip, shell_command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa_partners.split import PartnerShare

app = typer.Typer()

_LONGEST_NAME = 40
_ALL = 100.0


@app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Share scoring with partners, and join theirs.

    split deals a study's answers to partners, a pack each; genaipa score opens one anywhere. Partners hand back what
    send writes; status and join read that. Without a command, who has how many answers is listed.
    """
    if context.invoked_subcommand is not None:
        return
    from genaipa_partners.split import load_split

    made = load_split(current_workspace())
    _print_split(made.partners, frozenset(made.shared))


@app.command()
def split(
    run: Annotated[
        list[str],
        typer.Argument(autocompletion=completion.runs_and_systems, help="Runs, or systems for all of their runs."),
    ],
    partners: Annotated[
        list[str], option("--partners", metavar="NAME,…", help="The partners, by short names: bbc,ard,rai.")
    ],
    output: Annotated[Path, option("--output", "-o", metavar="DIR", help="The folder for the packs.")],
    languages: Annotated[
        list[str] | None,
        option("--languages", metavar="NAME=CODE,…", help="Partners who take one language: bbc=en,ard=de."),
    ] = None,
    shared: Annotated[str, option("--shared", metavar="PERCENT", help="The part that all partners score.")] = "10%",
    seed: Annotated[int, option("--seed", help="Seed of the draw.")] = 0,
    with_texts: Annotated[
        bool,
        option("--with-texts", help="Pack texts that may not be passed on, for partners who may have them."),
    ] = False,
    force: ForceOption = False,
) -> None:
    """Deal answers to partners, a pack each.

    A pack is a file for genaipa score, which works offline. Partners see no system's name. A shared part goes to all
    who take its language: it tells how harsh each is. Answers that a reference analyst has scored come first, for
    training. The draw is kept in study-split.json of this workspace and in no pack; the same seed gives the same bytes.
    """
    from genaipa.runs.procedure import find_procedure_plan
    from genaipa.runs.selection import select_sources
    from genaipa_partners.packing import StudySplitPlan, StudyTexts, make_study_draw, write_partner_packs
    from genaipa_partners.split import check_no_other_split, save_split

    workspace = current_workspace()
    plan = StudySplitPlan(
        _parse_languages(_parse_partners(partners), split_names(languages)), _parse_percent(shared), seed
    )
    sources = [
        source
        for source in select_sources(workspace, split_names(run))
        if find_procedure_plan(source.manifest.spec) is not None
    ]
    workspace.check_output_outside_data(output)
    if not force:
        check_no_other_split(workspace, make_study_draw(sources, plan).number("study").hex())
    texts = StudyTexts(workspace, sources, whole=with_texts)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{output} can't be a folder ({error.strerror}); name another with -o.") from None
    made = write_partner_packs(texts, plan, output)
    record = save_split(workspace, made)
    _print_split(made.partners, frozenset(made.shared))
    if not made.shared:
        caveat("No answer is shared, so nothing will tell how harsh a partner is.")
    show(f"Packs: {output}. Keep {record} to yourself: it has the systems' names.")
    add_next_steps(f"Partners run: {shell_command('genaipa', 'score', f'{made.partners[0].name}.zip')}")


def _print_split(shares: Sequence[PartnerShare], shared: frozenset[str]) -> None:
    rows = [
        (share.name, share.language, len(share.answers), len(shared.intersection(share.answers)), len(share.training))
        for share in shares
    ]
    print_table(("partner", "language", "answers", "shared", "training"), rows, right=(2, 3, 4))


def _parse_partners(values: list[str]) -> list[str]:
    """Return the partners' names; a UsageError for one that names no file, or twice the same."""
    names = [name.strip() for value in values for name in value.split(",") if name.strip()]
    for name in names:
        if not re.fullmatch(r"[\w-]+", name) or len(name) > _LONGEST_NAME:
            raise UsageError(
                f"'{clip(name)}' can't be a partner's name; write letters, digits, - and _, at most {_LONGEST_NAME}."
            )
    folded = [name.casefold() for name in names]
    twice = next((name for name in names if folded.count(name.casefold()) > 1), "")
    if twice:
        raise UsageError(f"The partner {twice} is named twice; name each once.")
    if not names:
        raise UsageError("Name the partners: --partners bbc,ard,rai.")
    return names


def _parse_languages(partners: list[str], pairs: Sequence[str]) -> dict[str, str]:
    """Return partner → the language that they take, empty for any; a UsageError for a pair that says neither."""
    from genaipa.languages.catalog import language_code

    languages = dict.fromkeys(partners, "")
    for pair in pairs:
        name, sign, stated = (part.strip() for part in pair.partition("="))
        if name not in languages or not sign or not stated:
            raise UsageError(f"--languages {clip(pair)}: write NAME=CODE with a partner's name, such as bbc=en.")
        if languages[name]:
            raise UsageError(f"--languages names {name} twice; a partner takes one language, or any.")
        languages[name] = language_code(stated) or stated
    return languages


def _parse_percent(text: str) -> float:
    """Return the share (0 to 1) that a percentage is; a UsageError for anything else."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= _ALL:
        raise UsageError(f"--shared {clip(text)}: write a part of the answers from 0% to 100%, such as 10%.")
    return percent / _ALL
