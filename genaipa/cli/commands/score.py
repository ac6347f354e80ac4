"""`genaipa score`: the desk where analysts score answers in the browser."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from genaipa.cli.terminal.console import print_to_stderr, show
from genaipa.cli.terminal.options import SELDOM, current_workspace, option, split_names
from genaipa.cli.terminal.selection import RunsArgument, add_filter_options
from genaipa.errors import UnknownNameError, UsageError, clip, format_shell_command
from genaipa.kinds import find_kind_or_placeholder
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from genaipa.runs.folder import RunFolder
    from genaipa.scoring.people import StudyPlan
    from genaipa.ui.desk import Desk
    from genaipa.ui.settings import DeskSettings, LoginSettings
    from genaipa.workspace import Workspace

_PORT = 8501
_HOST = "127.0.0.1"
_PerAnswer = Annotated[
    float | None,
    option(
        "--per-answer", help="Analysts per answer; 1.2 means one, and two for 20 % of the answers.", min=1.0, max=100.0
    ),
]
_Order = Annotated[
    str | None,
    option("--order", help="Order of the answers: question, document or random."),
]
_Seed = Annotated[
    int | None, option("--seed", help="Seed for the random part and for every analyst's order.", panel=SELDOM)
]
_Sample = Annotated[
    str | None,
    option(
        "--sample",
        metavar="SIZE|all",
        help="Number of random answers to score per system and experiment, or all; by default 64 if there are more.",
    ),
]
_Points = Annotated[
    bool | None,
    option(
        "--points/--no-points",
        help="List the points of annotated answers, to tick those that an answer makes.",
        show_default=False,
        panel=SELDOM,
    ),
]
_Suggestions = Annotated[
    bool | None,
    option(
        "--suggestions/--no-suggestions",
        help="Suggest values that the evidence settles.",
        show_default=False,
        panel=SELDOM,
    ),
]
_Calibration = Annotated[
    int | None,
    option(
        "--calibration",
        help="Number of the reference analyst's answers that a new analyst scores first.",
        min=0,
        panel=SELDOM,
    ),
]


_ShowSystems = Annotated[
    bool,
    option("--show-systems", help="Show which system answered; scores are then marked as not blind.", panel=SELDOM),
]
_Excluded = Annotated[bool, option("--include-excluded", help="Offer excluded answers, too.", panel=SELDOM)]


@add_filter_options
def score(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    port: Annotated[int, option("--port", help="Port of the desk.", min=1, max=65535)] = _PORT,
    host: Annotated[
        str,
        option("--host", help="Address to listen on; any address beyond this machine needs a login.", panel=SELDOM),
    ] = _HOST,
    no_browser: Annotated[bool, option("--no-browser", help="Print the address without opening a browser.")] = False,
    per_answer: _PerAnswer = None,
    order: _Order = None,
    seed: _Seed = None,
    calibration: _Calibration = None,
    show_systems: _ShowSystems = False,
    suggestions: _Suggestions = None,
    points: _Points = None,
    sample: _Sample = None,
    include_excluded: _Excluded = False,
    insecure: Annotated[
        bool, option("--insecure", help="Listen beyond this machine even without a login.", panel=SELDOM)
    ] = False,
) -> None:
    """Score answers in the browser.

    A pack (.zip) is unpacked beside itself and scored there. If a system has more than 64 answers in an experiment,
    analysts score a random part of them (see genaipa sample). The workspace's desk.yaml says who may score and
    adjudicate, and what is planned (plan: per_answer, order, …); an option overrides the plan for this start only.
    Ctrl-C closes the desk. To list the scores: genaipa scores.
    """
    from genaipa.archive.contents import find_command_after_scoring
    from genaipa.scoring.events import ORDERS
    from genaipa.scoring.people import load_desk_people_and_plan
    from genaipa.ui import launch
    from genaipa.ui.settings import DeskSettings

    if order is not None and order not in ORDERS:
        raise UnknownNameError("order", order, ORDERS)
    launch.check_desk_packages()
    workspace, names = _open_scored_workspace_and_run_names(split_names(run))
    options = {
        "per_answer": per_answer,
        "order": order,
        "seed": seed,
        "calibration": calibration,
        "show_systems": show_systems or None,
        "suggestions": suggestions,
        "points": points,
        "sample": _parse_sample_size(sample),
        "include_excluded": include_excluded or None,
    }
    planned = load_desk_people_and_plan(workspace).plan
    plan = planned.replace_and_check_options({name: value for name, value in options.items() if value is not None})
    settings = DeskSettings.from_plan(workspace.home, plan, runs=names, only=only)
    folders = _select_runs_to_score(workspace, settings)
    desk, login = launch.open_desk_and_login_once(settings)
    try:
        _check_something_to_score(desk, folders)
        _refuse_open_host_without_login(host, login, insecure=insecure)
        launch.check_address_can_be_bound(host, port)
        launch.import_first_page_modules()
        _print_desk_address_and_runs(desk, login, host, port)
        if note := describe_plan_override_or_empty(planned, plan):
            show(note)
        pages = dict.fromkeys(find_kind_or_placeholder(folder.manifest().spec.kind).page for folder in folders)
        for title in filter(None, () if desk.pool.answers else pages):
            show(f"{title} are scored by a rule; their items are on the page {title}.")
        launch.serve_desk(desk, login, host=host, port=port, open_browser_at_start=not no_browser)
        state = desk.store.log_state()
        if state.events:
            show(f"Digest of the score log ({format_count(state.events, 'entry', 'entries')}): {state.head}")
            if command := find_command_after_scoring(workspace.home, ""):
                # Not of the workspace that the command line names: a pack was opened by its file.
                show(f"Next: {command} {format_shell_command(workspace.home)}")
    finally:
        desk.store.close()


def _open_scored_workspace_and_run_names(pack_or_run_names: tuple[str, ...]) -> tuple[Workspace, tuple[str, ...]]:
    """Return the workspace that is scored and the names of its runs: a pack's, unpacked if need be, or this one."""
    packs = [name for name in pack_or_run_names if name.endswith(".zip")]
    if not packs:
        return current_workspace(), pack_or_run_names
    if len(pack_or_run_names) > 1:
        raise UsageError(f"{packs[0]} is a pack, which is scored by itself; leave the other names out.")

    from genaipa.archive.study_pack import unpack_for_scoring_unless_done
    from genaipa.workspace import find_workspace

    folder = unpack_for_scoring_unless_done(Path(packs[0]))
    return find_workspace(folder), ()


def _parse_sample_size(text: str | None) -> int | Literal["all"] | None:
    """Parse the size of the wave that the command line asks for; a UsageError for anything else."""
    if text is None:
        return None
    if text == "all":
        return "all"
    if not (text.isdecimal() and text.isascii() and int(text)):
        raise UsageError(f"--sample needs a number of answers, or 'all', not '{clip(text)}'.")
    return int(text)


def describe_plan_override_or_empty(study_plan: StudyPlan, actual_plan: StudyPlan) -> str:
    """Say what differs from the study's plan, with the line that would keep it; empty without any."""
    import msgspec

    new_values, plan_values = msgspec.to_builtins(actual_plan), msgspec.to_builtins(study_plan)
    changed = [name for name, value in new_values.items() if value != plan_values[name]]
    if not changed:
        return ""
    settings = ", ".join(f"{name}: {_format_as_in_desk_yaml(new_values[name])}" for name in changed)
    instead = join_names([f"{name} {_format_as_in_desk_yaml(plan_values[name])}" for name in changed])
    return (
        f"For this start only: {settings}; the plan says {instead}. To keep the change, write into desk.yaml: "
        f"plan: {{{settings}}}"
    )


def _format_as_in_desk_yaml(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "not set" if value is None else str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)


def _select_runs_to_score(workspace: Workspace, settings: DeskSettings) -> list[RunFolder]:
    """Select the runs that are scored; a UsageError where there is none yet."""
    from genaipa.runs import selection

    folders = selection.select_run_folders(workspace, settings.runs, settings.only)
    if not folders:
        raise UsageError(f"there is no run in {workspace.runs} yet; create one with genaipa demo or genaipa run.")
    return folders


def _check_something_to_score(desk: Desk, folders: list[RunFolder]) -> None:
    """Raise a UsageError where there is nothing to score: no answer, no reply to take by hand, no suite."""
    from genaipa.systems.catalog import resolve_system

    if any(find_kind_or_placeholder(folder.manifest().spec.kind).page for folder in folders):
        return  # it has a page of its own
    systems = {name for folder in folders for name in folder.manifest().spec.systems}
    if not desk.pool.answers and not any(resolve_system(name, desk.workspace).is_manual for name in systems):
        names = ", ".join(folder.name for folder in folders)
        raise UsageError(
            f"there is no answer to score in {names} yet; continue with: genaipa run --resume {folders[-1].name}"
        )


def _refuse_open_host_without_login(host: str, login: LoginSettings | None, *, insecure: bool) -> None:
    """Raise a UsageError where anybody on the network could score, unless `insecure` allows it."""
    from genaipa.ui.launch import is_reachable_from_this_machine_only

    if login is None and not insecure and not is_reachable_from_this_machine_only(host):
        raise UsageError(
            f"at {host}, anybody who can reach this machine could read and score answers under any name: set up a "
            "login ([auth] in .streamlit/secrets.toml), a list of analysts in desk.yaml, "
            "and a TLS proxy; if everyone on the network may do so, add --insecure."
        )


def _print_desk_address_and_runs(desk: Desk, login: LoginSettings | None, host: str, port: int) -> None:
    """Print the desk's address, the runs scored there, and where scores are kept."""
    from genaipa.runs.selection import list_run_folders_oldest_first
    from genaipa.runs.slices import map_slices_to_studies
    from genaipa.systems.endpoint import is_loopback_url
    from genaipa.ui.launch import is_reachable_from_this_machine_only, make_desk_url_with_key_unless_login
    from genaipa.ui.settings import find_secrets_files_others_can_read

    for problem in desk.pool.problems:
        print_to_stderr(problem)
    where = make_desk_url_with_key_unless_login(host, port, login, desk)
    if not where.startswith("https:") and not (is_reachable_from_this_machine_only(host) and is_loopback_url(where)):
        print_to_stderr(
            "The desk has no TLS proxy: everything that people read and type crosses the network unencrypted."
        )
    for path in find_secrets_files_others_can_read(desk.workspace) if login else ():
        print_to_stderr(
            f"{path} holds secrets that other users of this machine can read; protect it: "
            f"{format_shell_command('chmod', '600', path)}"
        )
    studies = map_slices_to_studies(list_run_folders_oldest_first(desk.workspace))
    in_runs = Counter(
        run
        for answer in desk.pool.answers.values()
        for run in {
            studies[occurrence.run].name if occurrence.run in studies else occurrence.run
            for occurrence in answer.occurrences
        }
    )
    runs = ", ".join(f"{run} ({count:,})" for run, count in sorted(in_runs.items()))
    texts = desk.pool.answers.values()
    once = ", equal texts counted once," if any(len(answer.occurrences) > 1 for answer in texts) else ""
    wanted = f" {desk.scores_given_and_wanted_sentence}" if texts else ""
    show(f"{format_count(len(texts), 'answer')} to score{once}{' of ' if runs else ''}{runs}.{wanted}")
    if desk.sample_note_or_empty:
        show(desk.sample_note_or_empty)
    if desk.pool.sentence_on_exclusions_or_empty:
        show(desk.pool.sentence_on_exclusions_or_empty)
    show(f"Scores are kept in {desk.store.name}.")
    show(f"The desk is open at {where} (Ctrl-C closes it).")
