"""Write a report into a folder: the page, every figure and table as files of their own, the tidy table, what went in.

A folder that holds an earlier report gets the new one in its place, file by file; other files beside it are left alone,
and none of them is ever overwritten. A folder that holds files and no report is refused.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from genaipa.answers import tidy as tidy_table
from genaipa.answers.tidy import plain_texts
from genaipa.errors import UsageError
from genaipa.reports import page, provenance
from genaipa.reports.figures.figure import save_figure_and_data
from genaipa.reports.render import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from genaipa.reports.figures.figure import Format
    from genaipa.reports.report import Report
    from genaipa.reports.table import Table
    from genaipa.workspace import Workspace

PAGE = page.PAGE
MANIFEST = "manifest.json"
ANSWERS, SCORES = "answers", "scores"
READABLE = 2000
"""Rows up to which a table is written for people too, and not as CSV alone."""
SPREADSHEET = 200_000
"""Rows up to which the tidy table is written as CSV too, and not as Parquet alone."""
_NAMED = 3
"""Systems and runs that a folder's name has at most."""
_LONGEST = 100
"""Characters of a folder's name."""


@plain_texts
def write_report_over_earlier_one(
    report: Report, folder: Path, *, formats: Sequence[Format], whole: bool, tell: Callable[[str], object]
) -> Path:
    """Write a report (see `Report.write`); gives the path of its page."""
    try:
        earlier = _find_earlier_report_files(folder)
        _refuse_foreign_folder(folder, earlier)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
            _save_figures(report, Path(scratch), formats, tell)
            files = _write_all_but_figures_and_list_files(report, Path(scratch), whole=whole)
            _refuse_foreign_files(folder, files, earlier)
            for name in files:  # the manifest last
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(scratch) / name).replace(folder / name)
        for name in sorted(set(earlier) - set(files)):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"the report can't be written to {folder} ({error.strerror}); name another folder.") from None
    return folder / PAGE


def _save_figures(report: Report, folder: Path, formats: Sequence[Format], tell: Callable[[str], object]) -> None:
    """Draw every figure, telling which of how many; then the tables' turn has come."""
    for number, figure in enumerate(report.figures.values(), 1):
        tell(f"drawing figure {number} of {len(report.figures)}: {figure.name}")
        save_figure_and_data(figure, folder / "figures", formats)
    tell(f"writing {len(report.tables)} tables and the page")


def _write_all_but_figures_and_list_files(report: Report, folder: Path, *, whole: bool) -> list[str]:
    """Write everything but the figures into the folder that has these; the names, the manifest's last."""
    (folder / "tables").mkdir()
    for table in report.tables.values():
        write_table_files(table, folder / "tables")
    pictures = {path.stem: path.read_bytes() for path in (folder / "figures").glob("*.svg")}
    for name, text in page.render_pages(report, pictures, with_restricted_texts=whole).items():
        _write_text_file(folder / name, text)
    _write_input_tables_and_run_manifests(report, folder / "inputs")
    frame = report.frame
    if len(frame) or not report.results:
        for name, data in ((ANSWERS, report.study.answers), (SCORES, frame)):
            tidy_table.write_filled_columns_as_csv_or_parquet(data, folder / f"{name}.parquet")
            if len(data) <= SPREADSHEET:
                tidy_table.write_filled_columns_as_csv_or_parquet(data, folder / f"{name}.csv")
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    manifest = {
        **provenance.make_report_manifest(report.study),
        "selection": sorted(report.selection),
        "bounds": {"green": report.bounds.green, "red": report.bounds.red},
        "excluded_included": bool((frame["counted"] & (frame["excluded"] != "")).any()),
        "files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names},
    }
    _write_text_file(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode() + "\n")
    return [*names, MANIFEST]


def _write_input_tables_and_run_manifests(report: Report, folder: Path) -> None:
    """Write what went in: the runs, systems and texts as tables, and each run's whole manifest."""
    folder.mkdir()
    for table in report.input_tables:
        write_table_files(table, folder)
    for source in report.study.sources:
        manifest = msgspec.json.format(msgspec.json.encode(source.manifest), indent=1).decode()
        name = re.sub(r"[^\w.+-]+", "-", source.folder.name)
        _write_text_file(folder / f"{name}.json", f"{manifest}\n")


def write_table_files(table: Table, folder: Path) -> None:
    """Write a table into a folder in every form; one of more than `READABLE` rows as CSV alone."""
    for suffix, text in FORMS.items():
        if suffix == ".csv" or len(table.data) <= READABLE:
            _write_text_file(folder / f"{table.name}{suffix}", text(table))


def _write_text_file(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def _find_earlier_report_files(folder: Path) -> list[str]:
    """Return the files of the report that the folder holds; none if it holds none."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; name a folder for the report.")
    try:
        manifest: Any = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=dict[str, Any])
        names = [*manifest["files"], MANIFEST] if "genaipa" in manifest else []
    except (FileNotFoundError, msgspec.DecodeError, KeyError, TypeError):
        return []
    # A manifest that somebody wrote must not lead out of the folder.
    return [
        name for name in names if isinstance(name, str) and (folder / name).resolve().is_relative_to(folder.resolve())
    ]


def read_report_selection(folder: Path) -> list[str] | None:
    """Return the selection that the report in this folder was made from; None if it is not known."""
    try:
        manifest: Any = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.DecodeError):
        return None
    selection = manifest.get("selection") if "genaipa" in manifest else None
    return [str(name) for name in selection] if isinstance(selection, list) else None


def _refuse_foreign_folder(folder: Path, earlier_files: Sequence[str]) -> None:
    """Raise a UsageError where a folder has files and none of them is a report's."""
    if not earlier_files and folder.is_dir():
        foreign = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
        if foreign:
            raise UsageError(
                f"{folder / foreign[0]} already exists and does not belong to an earlier report; name "
                f"another folder with -o."
            )


def _refuse_foreign_files(folder: Path, files: Sequence[str], earlier_files: Sequence[str]) -> None:
    foreign = [name for name in files if name not in earlier_files and (folder / name).exists()]
    if foreign:
        raise UsageError(
            f"{folder / foreign[0]} already exists and does not belong to an earlier report; name another "
            f"folder with -o."
        )


def choose_report_folder(workspace: Workspace, selection: Sequence[str]) -> Path:
    """Return `reports/NAME` in the workspace, named after all that the report is about, else `all`.

    Where a report on something else has that name already, a number is added.
    """
    parts = [re.sub(r"[^\w.-]+", "-", name).strip(".-") or "report" for name in selection]
    named = "+".join(parts[:_NAMED]) + (f"+{len(parts) - _NAMED}-more" if len(parts) > _NAMED else "")
    wanted = workspace.home / "reports" / (named[:_LONGEST].rstrip(".-+") or "all")
    folder, number = wanted, 2
    while (folder / MANIFEST).is_file() and read_report_selection(folder) != sorted(selection):
        folder, number = wanted.with_name(f"{wanted.name}-{number}"), number + 1
    return folder
