"""`genaipa get --runs`: a published study as runs of this workspace, with an audit of its data."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.cli.terminal.console import print_json, show
from genaipa.cli.terminal.options import current_workspace
from genaipa.errors import UsageError

if TYPE_CHECKING:
    from genaipa.datasets.base import Dataset, Imported


def import_study(dataset: str | None, source: str | None, *, json: bool) -> None:
    """Import a published study as runs and scores, and print what came."""
    done = _imported(dataset, source)
    if json:
        print_json(_facts(done))
    else:
        _print(done)


def named_dataset(name: str | None, *, runs: bool = False) -> Dataset:
    """The data set that a command names; a UsageError that lists them where none is named."""
    from genaipa.datasets.base import find, names

    if name is None:
        known = [one for one in names() if not runs or find(one).systems]
        commands = [f"genaipa get {one}{' --runs' if runs else ''}" for one in known]
        commands += [f"genaipa get {one} --runs --from FOLDER" for one in (_from_folders() if runs else ())]
        raise UsageError(f"which data set to get is not said: {' or '.join(commands)}.")
    return find(name)


def _imported(dataset: str | None, source: str | None) -> Imported:
    known = named_dataset(dataset, runs=True)
    import_folder = getattr(known, "import_folder", None)
    if import_folder is None:
        if source is not None:
            alone = ", ".join(_from_folders())
            raise UsageError(f"--from with --runs is for {alone} alone; fetch any other study first, without --runs.")
        return known.import_study(current_workspace())
    if source is None:
        raise UsageError(f"the folder to import is not said: genaipa get {dataset} --runs --from FOLDER")
    imported: Imported = import_folder(current_workspace(), Path(source))
    return imported


def _from_folders() -> list[str]:
    """The data sets that are imported from a folder of the user's own; every other one is pulled first."""
    from genaipa.datasets.base import find, names

    return [one for one in names() if hasattr(find(one), "import_folder")]


def _facts(done: Imported) -> dict[str, object]:
    return {
        "systems": {
            system: {"runs": done.runs[system], "answers": done.answers[system], "scores": done.scores[system]}
            for system in done.runs
        },
        "audit": {"file": str(done.audit), "findings": dict(_kinds(done))},
        "changed": done.changed,
    }


def _kinds(done: Imported) -> list[tuple[str, int]]:
    """Kind of finding → how often, the most frequent first."""
    return Counter(finding.kind for finding in done.findings).most_common()


def _print(done: Imported) -> None:
    width = max(map(len, done.runs), default=0)
    for system, runs in done.runs.items():
        show(
            f"{system:{width}}  {len(runs)} runs, {done.answers[system]:,} answers, "
            f"{done.scores[system]:,} published scores"
        )
    excluding = Counter(finding.kind for finding in done.findings if finding.excludes)
    if done.findings:
        show(f"The audit found {len(done.findings)} things in the published data:")
    for kind, count in _kinds(done):
        number = "" if excluding[kind] == count else f"{excluding[kind]} of them "
        left_out = f"  {number}left out of analyses, unless they include it by option" if excluding[kind] else ""
        show(f"  {count:4}  {kind:22}{left_out}".rstrip())
    if done.findings:
        show(f"Each with its file, cell and reason: {done.audit}")
    else:
        show("The audit found nothing wrong in the published data.")
    if not done.changed:
        show("Everything was here already: nothing was changed.")
    show(f"Next: genaipa report {' '.join(done.runs)}")
