"""`genaipa study`: the scoring of one study, shared by partners who have no server in common."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_json,
    print_table,
    print_to_stderr,
    queue_next_steps,
    show,
)
from genaipa.cli.terminal.options import (
    ForceOption,
    JsonOption,
    current_workspace,
    open_output_file,
    option,
    split_names,
)
from genaipa.errors import DataError, MissingPackageError, UsageError, clip, format_shell_command
from genaipa.files.atomic import open_draft_folder
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.scoring.people import People
    from genaipa.workspace import Workspace
    from genaipa_partners.returning import ReturnedLog
    from genaipa_partners.split import PartnerShare, StudySplit

app = typer.Typer()

_ALL = 100.0


@app.callback(invoke_without_command=True)
def study(context: typer.Context) -> None:
    """Deal answers to partners; join their scores.

    split deals a study's answers to partners, a pack each; genaipa score opens one anywhere. Partners hand back what
    send writes; status and join read that. Without a command, who has how many answers is listed.
    """
    if context.invoked_subcommand is not None:
        return
    from genaipa_partners.split import FILE, load_split

    workspace = current_workspace()
    if not (workspace.home / FILE).is_file():
        show(f"No study was split in {workspace.home} yet.")
        queue_next_steps("Start with: genaipa study split RUN --partners NAME,NAME -o FOLDER")
        return
    current_split = load_split(workspace)
    _print_split(current_split.partners, frozenset(current_split.shared))


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
        option("--languages", metavar="NAME=CODE,…", help="Partners who score a single language: bbc=en,ard=de."),
    ] = None,
    shared: Annotated[
        str, option("--shared", metavar="PERCENT", help="The share of answers that all partners score.")
    ] = "10%",
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
    from genaipa.reports import check_report_packages

    check_report_packages()
    from genaipa.runs.procedure import get_plan_if_procedure_run
    from genaipa.runs.selection import select_runs_and_apply_filters
    from genaipa_partners.packing import StudySplitPlan, StudyTexts, make_keyed_randomness_of_split, write_partner_packs
    from genaipa_partners.power import describe_split_if_too_weak
    from genaipa_partners.split import check_no_other_split, save_split

    workspace = current_workspace()
    plan = StudySplitPlan(
        _parse_language_by_partner(_parse_partner_names(partners), split_names(languages)),
        _parse_percent_as_fraction(shared),
        seed,
    )
    sources = [
        source
        for source in select_runs_and_apply_filters(workspace, split_names(run))
        if get_plan_if_procedure_run(source.manifest.spec) is not None
    ]
    workspace.check_output_outside_data(output)
    randomness = make_keyed_randomness_of_split(sources, plan)
    if not force:
        check_no_other_split(workspace, randomness.derive_bytes_from_names("study").hex())
    texts = StudyTexts(workspace, sources, whole=with_texts)
    try:
        with open_draft_folder(output) as draft_folder:
            new_split = write_partner_packs(texts, plan, randomness, draft_folder)
    except OSError as error:
        raise UsageError(f"{output} can't be used as a folder ({error.strerror}); name another with -o.") from None
    record = save_split(workspace, new_split)
    _print_split(new_split.partners, frozenset(new_split.shared))
    weakness = describe_split_if_too_weak(
        {partner.name: tuple(partner.answers) for partner in new_split.partners},
        texts.list_threads(),
        plan.language_by_partner,
        randomness,
    )
    if not new_split.shared:
        weakness = weakness or "No answers are shared, so partners' agreement can't be measured."
    print_caveat_unless_quiet(weakness)
    print_caveat_unless_quiet(texts.describe_missing_annotations_or_empty())
    show(f"Packs: {output}. Keep {record} to yourself: it contains the systems' names.")
    print_caveat_unless_quiet(
        f"Partners run: {format_shell_command('genaipa', 'score', f'{new_split.partners[0].name}.zip')}"
    )


_PackArgument = Annotated[
    Path | None,
    typer.Argument(metavar="PACK", help="The pack or its folder; by default, the current folder."),
]
_FilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Files that partners sent, or folders of them.")
]


@app.command()
def send(
    pack: _PackArgument = None,
    output: Annotated[
        Path | None,
        option("--output", "-o", metavar="FILE", help="The file to write; by default, PARTNER.scores.jsonl."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Write a partner's scores into one file.

    It has every event of the log with its digest, so that whoever joins it sees where anything was changed. Send it as
    often as you like: a later file goes on from an earlier one. Tell the coordinator the last digest by another way,
    and even a log that was made again as a whole is found out.
    """
    from genaipa.scoring.store import open_existing_store
    from genaipa.workspace import find_workspace
    from genaipa_partners.returning import ENDING, find_pack_notes_or_raise, is_earlier_return, write_returned_log

    folder = pack.with_suffix("") if pack and pack.suffix == ".zip" else pack
    workspace = find_workspace(folder) if folder else current_workspace()
    notes = find_pack_notes_or_raise(workspace)
    path = output or Path(f"{notes['partner']}{ENDING}")
    with open_existing_store(workspace, allow_changed_events=True) as store:
        if store is None:
            start = format_shell_command("genaipa", "score", *([pack] if pack else []))
            raise UsageError(f"There are no scores in {workspace.home} yet; start with: {start}")
        with open_output_file(path, force=force or is_earlier_return(path, store)) as file:
            head = write_returned_log(file, store, notes)
    show(f"{path}: {format_count(head.events, 'event')}. The last digest: {head.head or 'none yet'}")


@app.command()
def status(
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE...", help="Files that partners sent, or folders of them.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show how far partners are, by their files.

    A file in which an event was changed, cut or mixed in is named with the first such event; the exit code is then 1.
    """
    from genaipa.scoring.people import load_desk_people_and_plan
    from genaipa_partners.returning import ENDING
    from genaipa_partners.split import load_split

    workspace = current_workspace()
    split = load_split(workspace)
    # Before anything came back there may be no folder for it either.
    named = [path for path in files or () if path.exists() or path.name.endswith(ENDING)]
    if absent := [str(path) for path in files or () if path not in named]:
        print_to_stderr(f"There is no {join_names(absent)} in {Path.cwd()}, the current folder.")
    returned = _list_returned_files(named, may_be_none=True)
    rows, problems = _tabulate_progress_and_list_problems(split, returned, load_desk_people_and_plan(workspace))
    if json:
        print_json({"partners": rows, "problems": problems})
    elif not returned:
        show(f"No pack has come back yet: {', '.join(share.name for share in split.partners)}.")
    else:
        heads = ("partner", "answers", "scored", "shared", "shared scored", "analysts", "last event", "chain")
        print_table(heads, ([row[name] for name in heads] for row in rows), right_aligned_columns=(1, 2, 3, 4, 5))
        for problem in problems:
            print_to_stderr(problem)
    if problems:
        raise typer.Exit(1)


@app.command()
def join(files: _FilesArgument, json: JsonOption = False) -> None:
    """Join the scores that partners sent.

    All of them, or none. The order of files does not matter, and what was joined before is left alone. An analyst Ada
    of the partner bbc becomes Ada (bbc). Reports then have a chapter on partners.
    """
    from genaipa.scoring.store import open_or_create_store
    from genaipa_partners.joining import join_returned_logs_all_or_none
    from genaipa_partners.returning import (
        choose_longest_log_by_partner,
        find_pack_share_of_return_or_raise,
        read_returned_log,
    )
    from genaipa_partners.split import load_split

    workspace = current_workspace()
    split = load_split(workspace)
    logs, problems = [], []
    for path in _list_returned_files(files):
        try:
            log = read_returned_log(path)
            find_pack_share_of_return_or_raise(log, split)
            logs.append(log)
        except DataError as error:
            problems.append(str(error))
    if not problems:
        chosen = choose_longest_log_by_partner(logs)
        with contextlib.closing(open_or_create_store(workspace)) as store:
            joined = join_returned_logs_all_or_none(store, split, chosen.values())
        problems = joined.problems
        if json and not problems:
            print_json(joined)
        elif not problems:
            print_table(
                ("partner", "new events", "known"),
                ((row.partner, row.added, row.known) for row in joined.partners),
                right_aligned_columns=(1, 2),
            )
            missing = [share.name for share in split.partners if share.name not in chosen]
            print_caveat_unless_quiet(f"No file of {join_names(missing)}." if missing else "")
            for sentence in _describe_harsh_and_lenient_partners(workspace, split):
                print_caveat_unless_quiet(sentence)
            queue_next_steps("Next: genaipa report")
    for problem in problems:
        print_to_stderr(problem)
    if problems:
        print_to_stderr(f"genaipa: nothing was joined: {format_count(len(problems), 'problem')}.")
        raise typer.Exit(2)


def _describe_harsh_and_lenient_partners(workspace: Workspace, split: StudySplit) -> list[str]:
    """Return a sentence on each partner who stands out; none where what reports need is not installed."""
    from genaipa.reports import check_report_packages
    from genaipa.runs.selection import find_runs_by_system_or_run_names

    try:
        check_report_packages()
        runs = find_runs_by_system_or_run_names(workspace, split.runs)
    except (MissingPackageError, UsageError):  # what was joined stays joined
        return []
    from genaipa.answers.gather import gather_study_with_stored_scores
    from genaipa_partners.chapter import PartnersChapter

    return [*PartnersChapter().notable(gather_study_with_stored_scores(workspace, runs, without_reading_texts=True))]


def _list_returned_files(paths: Sequence[Path], *, may_be_none: bool = False) -> list[Path]:
    """Return the files, and those of partners in the folders, each once; a UsageError for none, unless that may be."""
    from genaipa_partners.returning import ENDING

    listed: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            listed.update(dict.fromkeys(sorted(path.glob(f"*{ENDING}"))))
        elif path.is_file():
            listed[path] = None
        else:
            raise UsageError(f"There is no file {path}.")
    if not listed and not may_be_none:
        raise UsageError(f"There is no file *{ENDING} in {join_names([str(path) for path in paths])}.")
    return list(listed)


def _tabulate_progress_and_list_problems(
    split: StudySplit, paths: Sequence[Path], people: People
) -> tuple[list[dict[str, object]], list[str]]:
    """Return a row for each partner, and sentences on files that can't be joined."""
    from genaipa_partners.returning import (
        choose_longest_log_by_partner,
        find_pack_share_of_return_or_raise,
        find_returning_partner_or_empty,
        measure_partner_progress,
        read_returned_log,
    )

    logs, problems, broken = [], [], set()
    for path in paths:
        try:
            log = read_returned_log(path)
            find_pack_share_of_return_or_raise(log, split)
            logs.append(log)
        except DataError as error:
            problems.append(str(error))
            broken.add(find_returning_partner_or_empty(path))
    by_partner: dict[str, ReturnedLog] = {}
    for partner in sorted({log.head.partner for log in logs}):
        try:
            by_partner |= choose_longest_log_by_partner(log for log in logs if log.head.partner == partner)
        except DataError as error:
            problems.append(str(error))
            broken.add(partner)
    rows: list[dict[str, object]] = []
    for share in split.partners:
        returned = by_partner.get(share.name)
        progress = measure_partner_progress(share, frozenset(split.shared), returned.events if returned else (), people)
        rows.append(
            {
                "partner": share.name,
                "answers": progress.answers,
                "scored": progress.scored,
                "shared": progress.shared,
                "shared scored": progress.shared_scored,
                "analysts": len(progress.analysts),
                "last event": progress.latest,
                "chain": "broken" if share.name in broken else "whole" if returned else "no file",
                "head": returned.head.head if returned else "",
            }
        )
    return rows, problems


def _print_split(shares: Sequence[PartnerShare], shared_answers: frozenset[str]) -> None:
    rows = [
        (
            share.name,
            share.language,
            len(share.answers),
            len(shared_answers.intersection(share.answers)),
            len(share.training),
        )
        for share in shares
    ]
    print_table(("partner", "language", "answers", "shared", "training"), rows, right_aligned_columns=(2, 3, 4))


def _parse_partner_names(option_values: list[str]) -> list[str]:
    """Return the partners' names; a UsageError for one that names no file, or twice the same."""
    from genaipa_partners.split import LONGEST_NAME, is_valid_partner_name

    names = [name.strip() for value in option_values for name in value.split(",") if name.strip()]
    for name in names:
        if not is_valid_partner_name(name):
            raise UsageError(
                f"'{clip(name)}' can't be a partner's name; use letters, digits, - and _, at most {LONGEST_NAME}."
            )
    folded = [name.casefold() for name in names]
    twice = next((name for name in names if folded.count(name.casefold()) > 1), "")
    if twice:
        raise UsageError(f"The partner {twice} is named twice; name each once.")
    if not names:
        raise UsageError("Name the partners: --partners bbc,ard,rai.")
    return names


def _parse_language_by_partner(partners: list[str], name_code_pairs: Sequence[str]) -> dict[str, str]:
    """Return partner → the language that they take, empty for any; a UsageError for a pair that says neither."""
    from genaipa.languages.catalog import language_code_or_empty

    languages = dict.fromkeys(partners, "")
    for pair in name_code_pairs:
        name, sign, stated = (part.strip() for part in pair.partition("="))
        if name not in languages or not sign or not stated:
            raise UsageError(f"--languages {clip(pair)}: write NAME=CODE with a partner's name, such as bbc=en.")
        if languages[name]:
            raise UsageError(f"--languages names {name} twice; a partner scores either one language or any.")
        languages[name] = language_code_or_empty(stated) or stated
    return languages


def _parse_percent_as_fraction(text: str) -> float:
    """Return the share (0 to 1) that a percentage is; a UsageError for anything else."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= _ALL:
        raise UsageError(f"--shared {clip(text)}: write a share of the answers from 0% to 100%, such as 10%.")
    return percent / _ALL
