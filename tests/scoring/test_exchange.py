"""Scores out of the store and into it: tables, spreadsheets and the log of events, and everything wrong with them."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import openpyxl
import pytest
from exchanging import (
    ANSWERS,
    FORMULA,
    GOOD,
    HEAD,
    HISTORY,
    check_problems,
    digest,
    event,
    exported,
    kept,
    spreadsheet,
    written,
)

from genaipa.errors import DataError, UsageError
from genaipa.questions.points import Ticks
from genaipa.runs.authors import AnswerAuthors
from genaipa.scoring.answers import pair_events_with_all_occurrences
from genaipa.scoring.current import effective_scores_and_adjudications
from genaipa.scoring.importing import ImportOutcome, import_scores_or_return_problems
from genaipa.scoring.people import People
from genaipa.scoring.store import ScoreStore
from genaipa.scoring.tables import (
    DIGEST,
    MOST_CHARACTERS,
    read_table,
    score_column_names,
    select_effective_scores,
    write_scores,
)
from rubrics import METRICS, PAPER, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Import = Callable[..., ImportOutcome]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ScoreStore]:
    """An empty store."""
    opened = ScoreStore.open_or_create(f"sqlite:///{tmp_path / 'scores.db'}")
    yield opened
    opened.close()


@pytest.fixture
def take(store: ScoreStore) -> Import:
    """Take files into that store, where the nine answers are known."""

    def run(*paths: Path, **options: object) -> ImportOutcome:
        return import_scores_or_return_problems(store, paths, ANSWERS, People(), AnswerAuthors(()), **options)

    return run


# --- Out -----------------------------------------------------------------------------------------------------------


def test_the_log_comes_back_byte_for_byte(store: ScoreStore, take: Import) -> None:
    """The whole history, imported into an empty store and exported again, is the same file."""
    log = exported(".jsonl", HISTORY)
    assert len(log.splitlines()) == len(HISTORY)
    assert take(written("all.jsonl", log)) == ImportOutcome(len(HISTORY), 0, 0, [], [])
    assert exported(".jsonl", kept(store)) == log
    assert take(written("again.jsonl", log)) == ImportOutcome(0, len(HISTORY), 0, [], [])
    assert exported(".jsonl", kept(store)) == log


def test_a_table_has_what_stands_and_says_which_answer_it_is() -> None:
    """One row for each standing score and adjudication; machines only where they are wanted."""
    rows = list(
        csv.DictReader(
            io.StringIO(
                exported(".csv", select_effective_scores(HISTORY, include_machines=False)).decode("utf-8-sig"),
                newline="",
            )
        )
    )
    assert list(rows[0]) == list(score_column_names(PAPER))
    assert [row["id"] for row in rows] == ["id4", "id6", "id7", "id10"]
    assert [row["independent"] for row in rows] == ["yes", "yes", "yes", "no"]
    assert [rows[0][metric] for metric in METRICS] == ["0.5"] * 5
    assert [rows[1][metric] for metric in METRICS] == ["1", "1", "0.5", "0.5", "-1"]
    assert (rows[0]["m_all"], rows[1]["m_all"]) == ("77.5", "73.0")
    about = {name: rows[0][name] for name in ("run", "system", "document", "question", "initialization", "repetition")}
    assert list(about.values()) == ["run-1", "extractive", "acme", "Q1", "document", "1"]
    assert rows[2]["kind"] == "adjudication"
    assert [e.analyst for e in select_effective_scores(HISTORY, include_machines=True)][-2:] == ["judge", "Dee"]


def test_an_answer_that_came_back_twice_names_both_places() -> None:
    """Runs, systems and repetitions of one text stand in one row; the same one is named once."""
    first = ANSWERS[digest(1)].occurrences[0]
    twice = replace(ANSWERS[digest(1)], occurrences=[first, replace(first, run="run-2", repetition=2)])
    file = io.BytesIO()
    write_scores(file, ".csv", [event(1), event(9, answer=digest(77))], {digest(1): twice}, PAPER)
    known, unknown = csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"), newline=""))
    assert (known["run"], known["system"], known["repetition"]) == ("run-1; run-2", "extractive", "1; 2")
    assert (unknown["run"], unknown["question"], unknown["m_all"]) == ("", "", "73.0")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_each_place_has_a_row_of_its_own_for_statistics(suffix: str, store: ScoreStore, take: Import) -> None:
    """With `per_run` every place of an answer is told in full, and the table still comes back as its events."""
    first = ANSWERS[digest(1)].occurrences[0]
    second = replace(first, run="run-2", system="other", document="b", question="Q9", wording="paraphrase-1")
    answers = {digest(1): replace(ANSWERS[digest(1)], occurrences=[first, second])}
    events = [event(1), event(9, analyst="Bo", answer=digest(2))]
    assert list(pair_events_with_all_occurrences(events, answers)) == [
        (first, events[0]),
        (second, events[0]),
        (None, events[1]),
    ]
    path = Path(f"each{suffix}")
    with path.open("wb") as file:
        write_scores(file, suffix, events, answers, PAPER, row_per_occurrence=True)
    table = read_table(path, DIGEST)
    places = [table.names.index(name) for name in ("id", "run", "system", "document", "question", "wording")]
    assert [[texts[place] for place in places] for _, texts in table.rows] == [
        ["id1", "run-1", "extractive", "acme", "Q1", "original"],
        ["id1", "run-2", "other", "b", "Q9", "paraphrase-1"],
        ["id9", "", "", "", "", ""],
    ]
    assert take(path) == ImportOutcome(2, 0, 0, [], [])
    assert kept(store) == events


def test_ticks_of_points_come_back(store: ScoreStore, take: Import) -> None:
    """From the log and from tables; a table without ticks has no column of them, and takes none away.

    Other ticks under an id that is known are another event, and a text that is no ticks is told.
    """
    ticked = Ticks("0123456789ab", ("ways", "kept"), ("sale",))
    events = [msgspec.structs.replace(event(1), ticks=ticked), event(9, analyst="Bo", answer=digest(2))]
    events.append(msgspec.structs.replace(event(2, analyst="Cy"), ticks=Ticks("0123456789ab")))
    assert take(written("log.jsonl", exported(".jsonl", events))) == ImportOutcome(3, 0, 0, [], [])
    assert kept(store) == events
    for suffix in (".csv", ".xlsx"):
        table = written(f"scores{suffix}", exported(suffix, events))
        assert "ticks" in read_table(table, DIGEST).names
        assert take(table) == ImportOutcome(0, 3, 0, [], [])
        into = ScoreStore.open_or_create(f"sqlite:///{suffix[1:]}.db")
        assert import_scores_or_return_problems(into, [table], ANSWERS, People(), AnswerAuthors(())) == ImportOutcome(
            3, 0, 0, [], []
        )
        assert kept(into) == events
        into.close()
    text = exported(".csv", events).decode()
    assert "points=0123456789ab said=ways,kept contradicted=sale" in text
    plain = exported(".csv", [msgspec.structs.replace(one, ticks=None) for one in events])
    assert take(written("plain.csv", plain)) == ImportOutcome(0, 3, 0, [], [])
    assert "ticks" not in plain.decode()
    (said,) = take(written("other.csv", text.replace("contradicted=sale", "contradicted=other").encode())).problems
    assert "the event 'id1' already exists with different content" in said
    for wrong, why in (("said=sale ", "is not in the form"), ("points=0 said=sale ", "both said and contradicted")):
        bad = text.replace("points=0123456789ab said=ways,kept ", wrong).encode()
        (said,) = take(written("bad.csv", bad)).problems
        assert "ticks" in said
        assert why in said


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_table_comes_back_as_the_events_that_it_shows(suffix: str, store: ScoreStore, take: Import) -> None:
    """Every field of a standing event survives a table: notes with formulas, flags, suggestions, ids."""
    events = select_effective_scores(HISTORY, include_machines=True)
    table = written(f"scores{suffix}", exported(suffix, events))
    assert take(table) == ImportOutcome(len(events), 0, 0, [], [])
    assert kept(store) == events
    assert take(table) == ImportOutcome(0, len(events), 0, [], [])


def test_no_cell_of_an_export_is_a_formula() -> None:
    """Names and notes that are formulas are text behind an apostrophe; numbers are numbers."""
    attack = [event(1, analyst="@SUM(1)", note=FORMULA), event(2, note="x;=1+1")]
    sheet = openpyxl.load_workbook(io.BytesIO(exported(".xlsx", attack))).active
    assert "f" not in {cell.data_type for row in sheet.iter_rows() for cell in row}
    assert sheet.cell(2, 2).value == "'@SUM(1)"
    assert (sheet.cell(2, 8).value, sheet.freeze_panes) == (-1, "A2")
    first, second = list(csv.reader(io.StringIO(exported(".csv", attack).decode(), newline="")))[1:]
    assert (first[1], first[8], first[7]) == ("'@SUM(1)", "'" + FORMULA, "-1")
    assert second[8] == "x;'=1+1"


def test_a_note_that_no_cell_can_hold_is_refused_and_not_cut() -> None:
    """A spreadsheet can't hold it, and says what can."""
    with pytest.raises(UsageError, match=r"holds at most 32,767 characters.*has 40,000; write a \.csv or \.jsonl"):
        exported(".xlsx", [event(note="n" * 40_000)])
    assert len(exported(".csv", [event(note="n" * 200_000)])) > 200_000
    assert MOST_CHARACTERS == 32_767


def test_a_note_of_any_length_comes_back_from_csv(store: ScoreStore, take: Import) -> None:
    """The CSV library's own limit on a cell doesn't apply."""
    assert take(written("long.csv", exported(".csv", [event(note="n" * 200_000)]))).added == 1
    assert len(kept(store)[0].note) == 200_000


def test_control_characters_do_not_stop_a_spreadsheet() -> None:
    """What the format forbids is shown as a replacement character."""
    content = exported(".xlsx", [event(note="a\x0bb")])
    assert openpyxl.load_workbook(io.BytesIO(content)).active.cell(2, 9).value == "a\ufffdb"


# --- Filled sheets -------------------------------------------------------------------------------------------------


def filled(n: int, *values: object, note: str = "", analyst: str = "Ann") -> str:
    """A row of a sheet saved as CSV."""
    return ",".join([digest(n), *map(str, values), note, analyst])


def test_a_filled_sheet_becomes_scores(store: ScoreStore, take: Import) -> None:
    """Each scored row is a new event with values, note and name; rows without any value are left out."""
    path = written("a.csv", "\n".join([HEAD, filled(1, 1, 1, 0.5, 0.5, -1, note="ok"), filled(2, "", "", "", "", "")]))
    assert take(path) == ImportOutcome(1, 0, 1, [], [])
    (score,) = kept(store)
    assert (score.kind, score.analyst, score.answer, score.values, score.note) == (
        "score",
        "Ann",
        digest(1),
        GOOD,
        "ok",
    )
    assert (score.seconds, score.scorer, score.blind, score.calibration) == (None, "human", True, False)
    assert len(score.id) == 32


def test_a_sheet_taken_twice_adds_nothing_and_a_change_is_a_correction(store: ScoreStore, take: Import) -> None:
    """The same rows are known; another value is a new event, and the first one stays in the log."""
    path = written("a.csv", "\n".join([HEAD, filled(1, 1, 1, 1, 1, 1), filled(2, 1, 1, 1, 1, 1)]))
    assert take(path).added == 2
    assert take(path) == ImportOutcome(0, 2, 0, [], [])
    changed = written("b.csv", "\n".join([HEAD, filled(1, 1, 1, 1, 1, -1), filled(2, 1, 1, 1, 1, 1)]))
    assert take(changed) == ImportOutcome(1, 1, 0, [], [])
    assert [(e.answer, e.values["reference"]) for e in kept(store)] == [
        (digest(1), 1.0),
        (digest(2), 1.0),
        (digest(1), -1.0),
    ]
    assert [
        e.values["reference"] for e in effective_scores_and_adjudications(kept(store)) if e.answer == digest(1)
    ] == [-1.0]


def test_an_old_sheet_never_wins_over_a_newer_score(store: ScoreStore, take: Import) -> None:
    """A row that was taken once and corrected or undone since is told of and left out, not given again."""
    path = written("a.csv", "\n".join([HEAD, filled(1, 1, 1, 1, 1, 1), filled(2, 1, 1, 1, 1, 1)]))
    take(path)
    first, second = kept(store)
    store.append_new_events(
        [event(8, answer=first.answer), event(9, answer=second.answer, kind="undo", values=None, undoes=second.id)]
    )
    again = take(path)
    assert (again.added, again.known, again.problems) == (0, 0, [])
    assert again.replaced[0].startswith(
        "a.csv: row 2: Ann gave this score earlier and has since replaced or withdrawn it"
    )
    assert len(again.replaced) == 2
    assert len(kept(store)) == 4


def test_what_spreadsheets_do_to_a_sheet_does_it_no_harm(store: ScoreStore, take: Import) -> None:
    """Renamed, reordered, numbers as text, other capitals, blank rows and columns, a sheet in front."""
    workbook = openpyxl.Workbook()
    workbook.active.append(["my notes"])
    sheet = workbook.create_sheet("Tabelle1")
    sheet.append([None])
    sheet.append(
        ["Reference", "note", " DIGEST ", "Accuracy", "clarity", "annotated_answer", "completeness", "relevance"]
    )
    sheet.append(["\u22121", None, digest(1), "+1", "0,5", "shown", " 0.5 ", 1.0])
    sheet.append([None, None, digest(2)])
    for _ in range(3):
        sheet.append([None, " "])
    workbook.save("renamed.xlsx")
    assert take(Path("renamed.xlsx"), analyst="Ann") == ImportOutcome(1, 0, 1, [], [])
    assert kept(store)[0].values == GOOD


def test_a_csv_of_a_german_spreadsheet_is_read(store: ScoreStore, take: Import) -> None:
    """Semicolons, a byte-order mark, decimal commas and Windows line ends."""
    head = HEAD.replace(",", ";")
    row = ";".join([digest(1), "1", "1", "0,5", "0,5", "-1", '"schön; aber lang"', "Ann"])
    path = written("de.csv", f"\ufeff{head}\r\n{row}\r\n;;;;;;;\r\n")
    assert take(path) == ImportOutcome(1, 0, 0, [], [])
    assert (kept(store)[0].values, kept(store)[0].note) == (GOOD, "schön; aber lang")


def test_all_problems_are_listed_at_once_and_nothing_is_taken(store: ScoreStore, take: Import) -> None:
    """Every bad cell of every file is named with file, row and column, and the good rows wait as well."""
    head = HEAD.replace("note", "notes")
    rows = [
        filled(1, 1, 1, 1, 1, 1),
        filled(2, 2, 1, 1, "gut", 1),
        filled(3, 1, "", 1, 1, ""),
        filled(1, 1, 1, 1, 1, 1),
        filled(77, 1, 1, 1, 1, 1),
        "," + filled(1, 1, 1, 1, 1, 1).partition(",")[2],
        filled(4, 1, 1, 1, 1, 1, analyst=""),
        filled(5, 1, 1, 1, 1, 1, analyst=""),
    ]
    csv_path = written("bad.csv", "\n".join([head, *rows]))
    xlsx_path = spreadsheet("bad.xlsx", HEAD.split(","), [digest(6), True, 1, 1, 1, 1, None, "Ann"])
    imported = take(csv_path, xlsx_path)
    check_problems(
        imported.problems,
        ("bad.csv: row 1", "'notes'", "'note'?"),
        ("bad.csv: row 3, relevance", "'2'", "+1, +0.5, -1"),
        ("bad.csv: row 3, completeness", "'gut'", "+1, +0.5, -1"),
        ("bad.csv: row 4, accuracy", "no value"),
        ("bad.csv: row 4, reference", "no value"),
        ("bad.csv: row 5, digest", "Ann", "row 2"),
        ("bad.csv: row 7, digest", "empty"),
        ("bad.csv: analyst", "row 8, 9", "--analyst"),
        ("bad.xlsx: row 2, relevance", "'True'", "+1, +0.5, -1"),
        ("bad.csv: row 6", f"'{digest(77)}'"),
    )
    assert (imported.added, kept(store)) == (0, [])


def test_a_missing_or_repeated_column_is_told(take: Import) -> None:
    """All of them at once, and a column that has cells but no name."""
    path = written("c.csv", f"digest,accuracy,Accuracy,,clarity\n{digest(1)},1,1,what,1\n")
    twice, nameless = ("'accuracy'", "twice"), ("column 4", "row 2")
    missing = [(f"'{metric}'", "missing") for metric in ("relevance", "completeness", "reference")]
    check_problems(take(path).problems, *(("c.csv: row 1", *words) for words in (twice, nameless, *missing)))


def test_who_filled_a_sheet_is_named_by_its_column_or_else_by_the_flag(store: ScoreStore, take: Import) -> None:
    """The column wins row by row; a name is spelt as it is known already."""
    store.append_new_events([event(9, analyst="Ann")])
    rows = [
        filled(1, 1, 1, 1, 1, 1, analyst="Bo"),
        filled(2, 1, 1, 1, 1, 1, analyst=""),
        filled(3, 1, 1, 1, 1, 1, analyst=" ann "),
    ]
    assert take(written("a.csv", "\n".join([HEAD, *rows])), analyst="Cy").problems == []
    assert [e.analyst for e in kept(store)[1:]] == ["Bo", "Cy", "Ann"]
    (problem,) = take(written("b.csv", "\n".join([HEAD, filled(1, 1, 1, 1, 1, 1, analyst="x" * 101)]))).problems
    assert problem.startswith("b.csv: row 2, analyst: a name must be one line")


def test_a_note_keeps_its_form(store: ScoreStore, take: Import) -> None:
    """Lines, blanks around them and an apostrophe that belongs to the text are kept; the guard's is taken off."""
    path = spreadsheet("n.xlsx", HEAD.split(","), [digest(1), 1, 1, 1, 1, 1, "' quoted'\n  indented\n", "Ann"])
    guarded = spreadsheet("g.xlsx", HEAD.split(","), [digest(2), 1, 1, 1, 1, 1, "'- a dash", "Ann"])
    assert take(path, guarded).problems == []
    assert [e.note for e in kept(store)] == ["' quoted'\n  indented\n", "- a dash"]


# --- Events --------------------------------------------------------------------------------------------------------


def test_scores_of_answers_that_are_elsewhere_need_to_be_let_in(store: ScoreStore, take: Import) -> None:
    """An event for an unknown answer is a problem unless it is wanted; a sheet's row always is one."""
    elsewhere = written("e.jsonl", exported(".jsonl", [event(77)]))
    check_problems(take(elsewhere).problems, ("e.jsonl: line 1", f"'{digest(77)}'", "--unknown-answers"))
    assert take(elsewhere, unknown_answers=True).added == 1
    assert take(elsewhere) == ImportOutcome(0, 1, 0, [], [])
    table = written("e.csv", exported(".csv", [event(78)]))
    assert take(table, unknown_answers=True).added == 1
    sheet = written("s.csv", "\n".join([HEAD, filled(79, 1, 1, 1, 1, 1)]))
    check_problems(take(sheet, unknown_answers=True).problems, ("s.csv: row 2", f"'{digest(79)}'"))
    nonsense = written("x.jsonl", exported(".jsonl", [event(1, id="x", answer="Q1")]))
    assert "'Q1' is not the digest of an answer" in take(nonsense, unknown_answers=True).problems[0]
    assert len(kept(store)) == 2


def test_a_log_is_checked_line_by_line(store: ScoreStore, take: Import) -> None:
    """Broken JSON, unknown fields and values, events that make no sense: all are listed, none is taken."""
    good = json.loads(msgspec.json.encode(event(1)))
    bad = [
        good,
        {**good, "id": "b", "analist": "x"},
        {**good, "id": "c", "values": good["values"] | {"clarity": 2}},
        {**good, "id": "d", "kind": "undo"},
        {**good, "id": "e", "time": "yesterday"},
        {**good, "id": "f", "analyst": " "},
        good,
        {**good, "id": "h", "kind": "undo", "values": None, "undoes": "nothing"},
        {**good, "id": "i", "kind": "undo", "values": None, "undoes": "id1", "analyst": "Bo"},
        {**good, "id": "j", "kind": "undo", "values": None},
        {**good, "id": "k", "kind": "adjudication", "scorer": "machine"},
        {**good, "id": "l", "kind": "look", "values": None},
        {**good, "id": "m", "kind": "undo", "values": None, "undoes": "l"},
    ]
    deep = '{"x":' + "[" * 100_000
    twice = json.dumps({**good, "id": "n"}).replace('"kind": "score"', '"kind": "x", "kind": "score"')
    lines = [*map(json.dumps, bad), "", "{", deep, deep + "]" * 100_000 + "}", twice]
    problems = take(written("log.jsonl", "\n".join(lines))).problems
    check_problems(
        problems,
        ("line 2:", "'analist'", "'analyst'?"),
        ("line 3, values:", "clarity is 2", "+1, +0.5, -1"),
        ("line 4:", "undo", "must not have values"),
        ("line 5:", "'yesterday'", "time"),
        ("line 6:", "empty"),
        ("line 7:", "'id1'", "twice"),
        ("line 10:", "undo"),
        ("line 11:", "machine", "adjudication"),
        *((f"line {number}:", "JSON") for number in (15, 16, 17)),
        ("line 18:", "duplicate key"),
        ("line 8:", "'nothing'"),
        ("line 9:", "'id1'", "another analyst"),
        ("line 13:", "'l'", "look"),
    )
    assert kept(store) == []


def test_an_event_never_changes_what_it_says(store: ScoreStore, take: Import) -> None:
    """An id that is here with other values is a problem, in a log and in a table, which says how to correct a score."""
    store.append_new_events([event(1)])
    other = event(1, values=typed("11111"), order="question")
    (told,) = take(written("o.jsonl", exported(".jsonl", [other]))).problems
    check_problems([told], ("o.jsonl: line 1", "'id1'"))
    table = exported(".csv", [other]).decode()
    (told,) = take(written("o.csv", table)).problems
    assert "clear the cell" in told
    assert take(written("o.csv", table.replace(",id1,", ",,"))).added == 1
    corrected = effective_scores_and_adjudications(kept(store))[0]
    assert (corrected.values, corrected.order) == (other.values, ""), "given in a spreadsheet, not at the desk"


def test_several_files_come_in_together_or_not_at_all(store: ScoreStore, take: Import) -> None:
    """Overlapping exports give each event once, an undo may stand in a later file, and one bad file stops all."""
    first = written("1.jsonl", exported(".jsonl", HISTORY[:4]))
    second = written("2.jsonl", exported(".jsonl", HISTORY[2:]))
    bad = written("3.jsonl", "{}")
    check_problems(take(first, second, bad).problems, ("3.jsonl: line 1", "'id'"))
    assert kept(store) == []
    assert take(first, second) == ImportOutcome(len(HISTORY), 2, 0, [], [])
    assert kept(store) == HISTORY


def test_no_table_makes_a_machine_an_adjudicator(store: ScoreStore, take: Import) -> None:
    """A row that says so is a problem of its cell, and nothing is taken."""
    table = exported(".csv", [event(1, kind="adjudication")]).decode().replace(",human,", ",machine,")
    (told,) = take(written("m.csv", table)).problems
    check_problems([told], ("m.csv: row 2, scorer", "machine", "adjudication"))
    assert kept(store) == []


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_table_of_events_is_checked_cell_by_cell(suffix: str, take: Import) -> None:
    """Times, durations, flags, kinds and suggestions of a table are as strict as those of the log."""
    rows = list(csv.reader(io.StringIO(exported(".csv", [event(1)]).decode("utf-8-sig"), newline="")))
    bad = {
        "time": "4 May",
        "seconds": "-3",
        "kind": "undo",
        "scorer": "dog",
        "blind": "WAHR",
        "suggested": "reference=3",
        "shown": "grey loudly" if suffix == ".csv" else "aids=nearest:perhaps",
    }
    row = [bad.get(name, text) for name, text in zip(*rows, strict=True)]
    if suffix == ".csv":
        file = io.StringIO()
        csv.writer(file).writerows([rows[0], row])
        path = written("bad.csv", file.getvalue())
    else:
        path = spreadsheet("bad.xlsx", rows[0], row)
    assert [problem.partition(" row 2, ")[2].partition(":")[0] for problem in take(path).problems] == [
        "time", "seconds", "kind", "scorer", "blind", "suggested", "shown",
    ]  # fmt: skip


# --- Files ---------------------------------------------------------------------------------------------------------


def test_a_file_that_can_not_be_read_is_one_sentence(take: Import) -> None:
    """No traceback of another library for what is no spreadsheet, damaged, empty, missing or something else."""
    empty = spreadsheet("empty.xlsx")
    elsewhere = spreadsheet("else.xlsx", ["name", "price"], ["tea", 2])
    damaged = written("cut.xlsx", elsewhere.read_bytes()[:-300])
    for path, sentence in {
        empty: "is empty",
        elsewhere: "has no column 'digest' in its first row",
        damaged: "can't be read as a spreadsheet",
        written("text.xlsx", "digest"): "can't be read as a spreadsheet",
        written("latin.csv", "digest,né".encode("latin-1")): "save it as UTF-8",
        written("quote.csv", 'digest\n"a"b,"'): "is not CSV",
        Path("nowhere.csv"): "can't be read",
        Path("nowhere.xlsx"): "can't be read",
        Path("nowhere.jsonl"): "can't be read",
    }.items():
        with pytest.raises(DataError, match=sentence) as caught:
            take(path)
        assert str(caught.value).startswith(str(path))
    with pytest.raises(UsageError, match=r"scores\.ods: scores can be read only from \.csv, \.jsonl and \.xlsx files"):
        take(Path("scores.ods"))


def with_sheet(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """The spreadsheet with its first sheet's XML changed, whole as an archive."""
    changed = path.with_stem(f"{path.stem}-changed")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return changed


def test_damaged_xml_inside_a_spreadsheet_is_one_sentence(take: Import) -> None:
    """Also where the archive is whole and a sheet in it is not."""
    with pytest.raises(DataError, match="can't be read as a spreadsheet"):
        take(with_sheet(spreadsheet("s.xlsx", HEAD.split(",")), lambda xml: xml[:200]))


def test_what_a_spreadsheet_says_of_its_size_is_not_believed(take: Import) -> None:
    """Other programs write a wrong one; all rows and columns are read all the same."""
    path = spreadsheet("s.xlsx", HEAD.split(","), [digest(1), 1, 1, 1, 1, 1, None, "Ann"])
    assert take(with_sheet(path, lambda xml: xml.replace(b'"A1:H2"', b'"A1"'))) == ImportOutcome(1, 0, 0, [], [])
