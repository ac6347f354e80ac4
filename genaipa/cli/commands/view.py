"""`genaipa view`: answers side by side in the browser, to look at and not to score."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Annotated

from genaipa.cli.terminal.console import print_to_stderr, show
from genaipa.cli.terminal.options import current_workspace, option, split_names
from genaipa.cli.terminal.selection import RunsArgument, add_filter_options, print_study_slice_problems
from genaipa.errors import MissingPackageError, UsageError
from genaipa.runs.filters import EVERYTHING, Filters

if TYPE_CHECKING:
    from genaipa.ui.view.index import AnswerIndex
    from genaipa.ui.view.server import ViewServer

_NEEDED = ("starlette", "uvicorn")


@add_filter_options
def view(
    run: RunsArgument = None,
    only: Filters = EVERYTHING,
    port: Annotated[int, option("--port", help="Port of the page; by default, any free port.", min=0, max=65535)] = 0,
    no_browser: Annotated[bool, option("--no-browser", help="Print the address without opening a browser.")] = False,
) -> None:
    """Look at answers side by side.

    For two systems or runs, the questions whose answers differ most come first: by score, then by side (yes, no, or
    document silent), then by citations. Sides and citations need neither people nor a judge.

    The page opens in the browser and is read-only: it asks for no name and records nothing. It shows which system gave
    which answer, so analysts who will score blind should use genaipa score instead. Ctrl-C closes the page.
    """
    for name in _NEEDED:
        if importlib.util.find_spec(name) is None:
            raise MissingPackageError(f"the view needs the package '{name}': pip install 'genaipa[desk]'")
    import webbrowser

    from genaipa.runs.selection import resolve_system_or_run_name, select_runs_and_apply_filters
    from genaipa.ui.view.index import AnswerIndex

    workspace = current_workspace()
    sources = select_runs_and_apply_filters(workspace, split_names(run), only)
    if not sources:
        raise UsageError(f"there is no run in {workspace.runs} yet; create one with genaipa demo or genaipa run.")
    print_study_slice_problems(workspace, [source.folder for source in sources])
    systems = [
        system
        for name in split_names(run)
        for part in resolve_system_or_run_name(workspace, name).parts
        for system in part.systems
    ]
    opened = _bind_view_server(AnswerIndex(workspace, sources, list(dict.fromkeys(systems))), port)
    show(f"The answers are at {opened.url} (Ctrl-C closes it).")
    if not no_browser and not webbrowser.open(opened.url):
        print_to_stderr("No browser could be opened; open the address yourself.")
    opened.serve_until_stopped()


def _bind_view_server(index: AnswerIndex, port: int) -> ViewServer:
    from genaipa.ui.view.server import ViewServer

    try:
        return ViewServer(index, port)
    except OSError as error:
        raise UsageError(f"port {port} can't be used ({error.strerror}); leave out --port to use a free one.") from None
