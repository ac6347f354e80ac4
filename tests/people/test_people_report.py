"""People in a report: a dashed line under their short name, how many wrote, no cost and no name of a person."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest
from matplotlib.text import Annotation
from running import carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened, score

from genaipa.answers.gather import gather_study
from genaipa.execution.prepare import prepare_resumed_run
from genaipa.execution.run import open_manual_run_without_lock
from genaipa.reports.report import Report
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace
from genaipa_people.chapter import PeopleChapter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.scoring.store import ScoreStore

SYSTEM = "people/lawyers"
NOTE = "lawyers: 2 people wrote; the interval is for these people's answers."


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Iterator[Report]:
    """Two people and a machine answered four questions, and a third person scored them."""
    folder = tmp_path_factory.mktemp("people")
    with contextlib.chdir(folder), opened(f"sqlite:///{folder / 'scores.db'}") as store:
        yield make_report(store)


def make_report(store: ScoreStore) -> Report:
    """Run, write, score and report in the working folder."""
    make_workspace(questions=4)
    write("say.yaml", "default: See section 2.\n")
    folder, _ = carry_out(spec(systems=(SYSTEM, "scripted/say.yaml")))
    prepared = prepare_resumed_run(find_workspace(), folder.name)
    with prepared.open_or_create_folder().hold_for_writing_and_list_repairs():
        manual = asyncio.run(open_manual_run_without_lock(prepared))
        for number, (_, key) in enumerate([*manual.sheets_and_keys_missing_replies()]):
            author, seconds = ("Ada Lee", "Bo Day")[number % 2], {key: 100.0 + number}
            asyncio.run(manual.record_replies({key: f"Answer {number}."}, author=author, seconds=seconds))
    digests = {record.digest: record.system for record in folder.read_records()}
    store.append_new_events(
        [score("Cy", digest, GOOD if system == SYSTEM else POOR) for digest, system in digests.items()]
    )
    return Report.build(gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), store))


def test_a_report_says_how_many_people_wrote(report):
    """At its head, and under each table and figure with their numbers; of the machine it says nothing."""
    assert NOTE in report.notable
    assert report.tables["leaderboard"].note.count(NOTE) == 1
    assert report.figures["overview"].note.count(NOTE) == 1
    assert not any("say.yaml: " in sentence for sentence in report.notable)
    (row,) = report.tables["people"].data.to_dict("records")
    assert (row["system"], row["people"], row["answers"], row["seconds"]) == (SYSTEM, 2, 4, 101.5)


def test_people_whom_nobody_scored_have_no_interval(report):
    """They are counted, and no interval is spoken of."""
    assert [*PeopleChapter().notable(report.study.replace_scores_from_events([]))] == ["lawyers: 2 people wrote."]


def test_people_have_no_cost_and_no_name(report):
    """Signs tell them apart; neither a table nor the joined frame has a name or a price of theirs."""
    frame = report.study.make_tidy_table()
    people = frame[frame["system"] == SYSTEM]
    assert people["author"].nunique() == 2
    assert people["cost"].isna().all()
    texts = [frame.to_csv(), *(f"{table.data.to_csv()}{table.note}" for table in report.tables.values())]
    assert not any(name in text for text in texts for name in ("Ada", "Lee", "Bo Day"))


def test_pictures_have_a_dashed_line_for_people(report):
    """In each that compares averages, under the name without its beginning, and in no other system's name."""
    for name, along in (("overview", "x"), ("quality-by-document", "x"), ("effort-time", "y")):
        drawing = report.figures[name].plot()
        for axes in drawing.axes[:1]:
            dashed = [line for line in axes.lines if line.get_linestyle() == "--" and line.get_linewidth() > 1]
            (line,) = [line for line in dashed if {*getattr(line, f"get_{along}data")()} == {100.0}]
            assert line.get_color() == "#222222"
        texts = [text.get_text() for text in drawing.findobj(Annotation)]
        texts += [text.get_text().strip() for legend in drawing.legends for text in legend.get_texts()]
        assert "lawyers 100" in texts, name
        assert "Dashed: the average of lawyers." in report.figures[name].note
