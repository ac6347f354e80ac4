"""Reading the published answers: every quirk in a study of our own, random damage, and the published files' facts."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from genaipabench_tree import CATEGORIES, repository, table, tree_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from published_tree import (
    BARD_FAQ,
    BARD_USER,
    FAQ,
    POLICIES,
    USER,
    Sheet,
    faq_sheet,
    grid,
    reply,
    study,
    user_sheet,
    workbook,
)
from size import size

from genaipa.datasets.study import PublishedAnswer
from genaipa.questions.sets import WORDINGS, load_question_set
from genaipa_study.layout import (
    PublishedTree,
    faq_or_user_origin,
    find_closest_document_name,
    find_experiment_by_title,
    parse_question_id_and_label_number,
)
from genaipa_study.pull import pull
from genaipa_study.sheets import SheetCell, column_letter, read_answer_sheet, read_published_answers_and_findings
from genaipa_study.study import PublishedStudy, read_published_study

if TYPE_CHECKING:
    from collections.abc import Mapping

ORIGINS = ("Original", "Robustness Analysis", "Adaptive Analysis", "Summary Analysis")


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def pulled_tree(tmp_path: Path, files: Mapping[str, bytes]) -> PublishedTree:
    """A tree of these files and the small repository, pulled."""
    whole = repository() | files
    for path, content in whole.items():
        (tmp_path / "origin" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "origin" / path).write_bytes(content)
    tree = tree_of(whole)
    pull(origin=str(tmp_path / "origin"), tree=tree)
    return tree


def users(**changed: Sheet) -> bytes:
    """The workbook of users' questions with some sheets changed."""
    return workbook({name: changed.get(name) or user_sheet(name) for name in POLICIES})


def findings(study: PublishedStudy, kind: str) -> list[tuple[str, str]]:
    """(sheet, cell) of each finding of a kind."""
    return [(finding.sheet, finding.cell) for finding in study.findings if finding.kind == kind]


def placed(sheet: Sheet) -> dict[tuple[str, str, str, int], str]:
    """(experiment, question, wording, run) → text, as the sheet is read."""
    read = read_answer_sheet(grid(sheet), {})
    return {
        (slot.experiment, slot.question, slot.wording, run): cell.text
        for run, cells in enumerate(read.runs, start=1)
        for slot, cell in cells.items()
    }


# Names


@pytest.mark.parametrize(
    ("label", "meant"),
    [
        ("T_f1", ("T_f1", 1)),
        (" CA_f3 ", ("CA_f3", 3)),
        ("AEEₑ", ("AEE_f1", 1)),
        ("DMₕ", ("DM_f3", 3)),
        ("SE_u3", ("SE_u1", 3)),
        ("PbD_f2", ("PD_f2", 2)),
        ("T1", None),
        ("XX_f1", None),
        ("T_f4", None),
        ("Transparency", None),
    ],
)
def test_labels(label: str, meant: tuple[str, int] | None) -> None:
    """Every spelling of a question's id, and nothing else."""
    assert parse_question_id_and_label_number(label) == meant


def test_names_of_sheets_and_tables() -> None:
    """Slips of the pen are understood, other words are not."""
    assert [find_closest_document_name(name) for name in ("airbnd", "Uber", " twitter", "notes", "")] == [
        *("airbnb", "uber", "twitter"),
        *(None, None),
    ]
    names = ("Results_orig", "Results_original", "Robustness Analysis", "adaptive", "Adaptability Analysis", "summary")
    assert [find_experiment_by_title(name) for name in names] == [
        *("quality", "quality", "robustness", "recall", "recall", "summary"),
    ]
    assert find_experiment_by_title("Follow-up Analysis") is None
    assert [column_letter(number) for number in (1, 26, 27, 28)] == ["A", "Z", "AA", "AB"]


# One sheet


def expected(company: str) -> dict[tuple[str, str, str, int], str]:
    """What a sheet of users' questions holds."""
    names = dict(zip(ORIGINS, ("quality", "robustness", "recall", "summary"), strict=True))
    found: dict[tuple[str, str, str, int], str] = {}
    for heading, experiment in names.items():
        wordings = WORDINGS[1:] if experiment == "robustness" else WORDINGS[:1]
        for category in CATEGORIES:
            for number, wording in enumerate(wordings, start=1):
                for run in (1, 2, 3):
                    question = f"{category}_u1"
                    found[experiment, question, wording, run] = reply(company, heading, question, number, run)
    return found


def test_a_sheet_as_published() -> None:
    """Three runs of 48 answers each, those of the two paraphrases without a label included."""
    assert placed(user_sheet("uber")) == expected("uber")


def test_a_column_that_slipped_down() -> None:
    """From one block on a run stands seven rows lower."""
    sheet = {(r + 7 if c == 4 and r > 57 else r, c): text for (r, c), text in user_sheet("facebook").items()}
    assert placed(sheet) == expected("facebook")


def test_columns_with_rows_of_their_own() -> None:
    """Two runs stand in columns further right, packed closely and out of step with the questions."""
    sheet = user_sheet("spotify")
    for column in (4, 5):
        texts = {row: sheet.pop((row, column)) for row in range(1, 100) if (row, column) in sheet}
        rows = [*range(5, 13), *(r for r in range(17, 49) if (r - 17) % 4 < 3), 52, *range(54, 67, 2), 70]
        rows += range(72, 85, 2)
        for row, text in zip(rows, texts.values(), strict=True):
            sheet[row, column + 2] = text
    del sheet[1, 3]
    assert placed(sheet) == expected("spotify")


def test_a_note_among_the_answers() -> None:
    """What stands beside no question is a note; the answers around it stay where they are."""
    sheet = user_sheet("uber") | {(58, 4): "Use this one"}
    assert placed(sheet) == expected("uber")
    assert read_answer_sheet(grid(sheet), {}).notes == [SheetCell(58, 4, "Use this one")]


def test_a_long_text_beside_no_question_is_named() -> None:
    """It may be an answer that slipped: it is named with its cell and not taken for another's."""
    sheet = user_sheet("uber") | {(60, 5): " ".join(["word"] * 30)}
    assert placed(sheet) == expected("uber")
    assert read_answer_sheet(grid(sheet), {}).unplaced == [("E60", "there is no question next to the text")]


def test_missing_answers_leave_the_others_in_place() -> None:
    """Empty cells, also in a column that slipped."""
    sheet = {(r + 7 if c == 4 and r > 57 else r, c): text for (r, c), text in user_sheet("uber").items()}
    gone = [(7, 3), (26, 4), (70, 4), (79, 5)]
    assert len(placed({at: text for at, text in sheet.items() if at not in gone})) == 144 - len(gone)
    kept = placed({at: text for at, text in sheet.items() if at not in gone})
    assert kept.items() <= expected("uber").items()


@pytest.mark.parametrize(
    ("changed", "unplaced"),
    [
        ({(1, 6): "Remarks", (5, 6): "good", (7, 6): "bad"}, [("F", "the column 'remarks' does not hold answers")]),
        ({(5, 6): "odd", (7, 6): "even"}, [("F", "a column with only 2 cells is not a run")]),
        ({(r, 6): f"more {r}" for r in range(5, 20)}, [("F", "the column would be run 4, but the study has only 3")]),
        (
            {(93, 2): "Follow-up Analysis", (95, 1): "T_u1"},
            [
                ("B93", "'Follow-up Analysis' is not a known experiment"),
                ("A95", "T_u1 has no experiment heading above it"),
            ],
        ),
        ({(93, 1): "T_u1"}, [("A93", "T_u1 has no experiment heading above it")]),
    ],
)
def test_what_a_sheet_has_more_is_named(changed: Sheet, unplaced: list[tuple[str, str]]) -> None:
    """Columns, headings and labels that the study doesn't have change nothing else."""
    sheet = user_sheet("uber") | changed
    assert placed(sheet) == expected("uber")
    assert read_answer_sheet(grid(sheet), {}).unplaced == unplaced


def test_questions_without_labels_are_known_by_their_text() -> None:
    """A row whose label is missing is the question that it repeats, numbered and quoted as it may be."""
    sheet = faq_sheet("uber")
    del sheet[9, 1]
    texts = {"whataboutucf": ("UC_f1", WORDINGS[0])}
    read = read_answer_sheet(grid(sheet), texts)
    assert {slot.question for slot in read.slots if slot.row == 9} == {"UC_f1"}


def test_a_sheet_without_questions() -> None:
    """Nothing is read from it, and that is said."""
    read = read_answer_sheet([("Some", "words"), (None, 3)], {})
    assert (read.runs, read.unplaced) == ([], [("", "no row is labelled with a question of the study")])
    assert read_answer_sheet([], {}).unplaced


@settings(max_examples=size(small=8, soak=40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    blank=st.tuples(st.integers(2, 95), st.integers(0, 30)),
    column=st.integers(1, 8),
    filling=st.lists(st.one_of(st.none(), st.text(max_size=30), st.integers(), st.booleans()), max_size=110),
    name=st.sampled_from(["", "Remarks", "Answers", "Labels", "Questions"]),
)
@pytest.mark.full
def test_any_sheet_can_be_read(blank: tuple[int, int], column: int, filling: list[object], name: str) -> None:
    """Blank blocks and a further column anywhere never end the reading, nor put one question's text under another."""
    first, length = blank
    rows = [
        tuple(None for _ in row) if first <= number < first + length else row
        for number, row in enumerate(grid(user_sheet("uber")), start=1)
    ]
    extra = [name or None, *filling, *[None] * len(rows)]
    wide = [(*row[:column], extra[at], *row[column:]) for at, row in enumerate(rows)]
    read = read_answer_sheet(wide, {})
    texts = {text: where[:3] for where, text in expected("uber").items()}
    for cells in read.runs:
        for slot, cell in cells.items():
            if cell.text in texts and slot.question:
                assert texts[cell.text][1] == slot.question


# Whole files


def test_a_study_with_nothing_wrong(tmp_path: Path) -> None:
    """Every answer of both systems is read, and the audit is empty."""
    found = read_published_study(pulled_tree(tmp_path, study()))
    assert found.findings == []
    assert Counter((a.system, faq_or_user_origin(a.question)) for a in found.answers) == {
        (f"published/{name}", origin): count
        for name in ("chatgpt-4", "bard")
        for origin, count in (("faq", 480), ("user", 720))
    }
    one = next(a for a in found.answers if (a.system, a.cell, a.document) == ("published/bard", "D25", "uber"))
    assert (one.experiment, one.question, one.wording, one.repetition) == ("robustness", "T_u1", "paraphrase-2", 2)
    assert one.key == "published/bard|uber|document|paraphrase-2|2|T_u1"
    assert one.text == reply("uber", "Robustness Analysis", "T_u1", 2, 2)


@pytest.mark.full
def test_files_and_sheets_under_other_names(tmp_path: Path) -> None:
    """Of two files with the same answers one is taken; a misspelt sheet is found; others are named."""
    sheets = {{"airbnb": "airbnd"}.get(name, name): user_sheet(name) for name in POLICIES}
    files = study() | {
        BARD_USER: workbook({**sheets, "uberr": user_sheet("uber"), "notes": [["a", "b"]]}),
        "Generated Answers/ChatGPT-4/GPT4 FAQ.xlsx": study()[FAQ],
        "Generated Answers/Bard/broken_FAQ.xlsx": b"no workbook",
        "Results/Results_Bard/strange.csv": b"a,b\r\n1,2\r\n",
        "Results/Results_Bard/Results_summary_new.csv": b"",
    }
    found = read_published_study(pulled_tree(tmp_path, files))
    assert len(found.answers) == 2400
    assert {(f.kind, f.file.rpartition("/")[2], f.sheet) for f in found.findings} == {
        ("duplicate-file", "GPT4 FAQ.xlsx", ""),
        ("unplaced", "Bard_user_generated.xlsx", "uberr"),
        ("unplaced", "Bard_user_generated.xlsx", "notes"),
        ("unplaced", "broken_FAQ.xlsx", ""),
        ("unplaced", "strange.csv", ""),
        ("unplaced", "Results_summary_new.csv", ""),
    }
    assert "same 480 answers as ChatGPT-4_FAQ.xlsx" in next(f.reason for f in found.findings if "GPT4" in f.file)


def test_missing_answers_are_findings(tmp_path: Path) -> None:
    """An empty cell is named with its key, a policy without a sheet with its name; neither leaves anything out."""
    sheet = user_sheet("uber")
    del sheet[5, 4]
    files = study() | {USER: users(uber=sheet), FAQ: workbook({n: faq_sheet(n) for n in POLICIES if n != "twitter"})}
    found = read_published_study(pulled_tree(tmp_path, files))
    missing = [f for f in found.findings if f.kind == "missing-answer"]
    assert [(f.sheet, f.cell, f.document, f.key) for f in missing] == [
        ("", "", "twitter", ""),
        ("uber", "D5", "uber", "published/chatgpt-4|uber|document|original|2|T_u1"),
    ]
    assert {f.excludes for f in missing} == {""}
    assert sum(a.text is None for a in found.answers) == 1


def test_a_run_about_another_company(tmp_path: Path) -> None:
    """Every answer of the run is left out, also those that name no company; other runs are not touched."""
    sheet = user_sheet("facebook")
    for at, row in enumerate(range(77, 93, 2)):
        sheet[row, 4] = reply("uber", "x", str(row)) if at < 4 else f"The summary is silent on {row}."
    found = read_published_study(pulled_tree(tmp_path, study() | {USER: users(facebook=sheet)}))
    assert findings(found, "other-company") == [("facebook", f"D{row}") for row in range(77, 93, 2)]
    assert {f.excludes for f in found.findings} == {"answer"}
    assert "4 of the 8 answers of this run name Uber, and 0 name Facebook" in found.findings[0].reason


@pytest.mark.full
def test_the_text_of_another_question(tmp_path: Path) -> None:
    """One of two equal texts is the copy: the one whose question it doesn't suit."""
    sheet = faq_sheet("uber")
    sheet[5, 3] = sheet[6, 3] = "Parcels are delivered by couriers, who see what T_f2 says about their list. Uber."
    found = read_published_study(
        pulled_tree(tmp_path, study() | {BARD_FAQ: workbook({n: faq_sheet(n) for n in POLICIES} | {"uber": sheet})})
    )
    assert findings(found, "other-question") == [("uber", "C5")]
    assert "the answer to T_f2" in found.findings[0].reason


@pytest.mark.full
def test_a_lost_first_letter(tmp_path: Path) -> None:
    """It is named and the text is kept as it is; nothing is left out for it."""
    sheet = user_sheet("uber")
    sheet[24, 3] = f" {str(sheet[24, 3])[1:]}"
    found = read_published_study(pulled_tree(tmp_path, study() | {USER: users(uber=sheet)}))
    assert findings(found, "lost-first-letter") == [("uber", "C24")]
    assert found.findings[0].excludes == ""
    assert sum((a.text or "").startswith(" ber keeps") for a in found.answers) == 1


@pytest.mark.full
def test_annotated_answers_that_cite_the_wrong_part(tmp_path: Path) -> None:
    """The part that is cited holds none of the phrases, and another does; or there is no such part."""
    text = "Couriers photograph every parcel at the door and keep the picture for three weeks in the depot archive."
    folder = "Privacy Documents/Privacy Policy Segments"
    files = repository()
    files["Privacy Documents/Privacy Policy/Uber_document.txt"] += f" {text}".encode()
    for part_set in ("GPT-4", "BingAI&Bard"):
        files[f"{folder}/{part_set}/uber-policy-text-segments/Part  2.txt"] += f" {text}".encode()
    rows = [["id_question", "category", "question", "annotated_answer"]]
    rows += [[f"{c}_{n}", "A", "What?", "It keeps it. Part 1"] for c in CATEGORIES for n in ("f1", "f2", "f3", "u1")]
    rows[1][3], rows[2][3], rows[3][3] = f"{text} Part 1", f"{text} Part 2", "It keeps it. Part 7"
    files["Annotated Answers/Privacy Policy Answers/annotated_answers_Uber.csv"] = table(rows)
    found = read_published_study(pulled_tree(tmp_path, files | study()))
    assert findings(found, "annotation-wrong-part") == [("", "D2"), ("", "D4")]
    assert [f.question for f in found.findings if f.kind == "annotation-wrong-part"] == ["T_f1", "T_f3"]


# The published files


# In small, each quirk has its test above, and test_published_study reads the same answers.
@pytest.mark.full
def test_published_answers_are_counted(real: PublishedStudy) -> None:
    """Two systems, five policies: 480 answers to FAQ questions and 720 to users' questions each, 51 of them missing."""
    assert Counter((a.system, faq_or_user_origin(a.question), a.text is None) for a in real.answers) == {
        ("published/chatgpt-4", "faq", False): 480,
        ("published/chatgpt-4", "user", False): 719,
        ("published/chatgpt-4", "user", True): 1,
        ("published/bard", "faq", False): 480,
        ("published/bard", "user", False): 670,
        ("published/bard", "user", True): 50,
    }


def row_of(answer: PublishedAnswer) -> int:
    """The row in which an answer stands by the published layout, its exceptions included."""
    at = CATEGORIES.index(answer.question.split("_")[0])
    number = 0 if answer.wording == "original" else int(answer.wording[-1]) - 1
    if faq_or_user_origin(answer.question) == "faq":
        first = {"quality": 5, "robustness": 40, "summary": 75, "recall": 110}[answer.experiment]
        return first + 4 * at + int(answer.question[-1]) - 1
    chatgpt, column = answer.system.endswith("chatgpt-4"), answer.cell[0]
    if chatgpt and answer.document == "spotify" and column in "FG":
        robust = [17, 18, 19, 21, 22, 23, 25, 26, 28, 30, 31, 32, 34, 35, 36, 38, 39, 40, 42, 43, 44, 46, 47, 48]
        rows = {"quality": range(5, 13), "recall": range(52, 67, 2), "summary": range(70, 85, 2)}
        return robust[3 * at + number] if answer.experiment == "robustness" else rows[answer.experiment][at]
    row = {"quality": 5 + 2 * at, "robustness": 24 + 4 * at + number, "recall": 59 + 2 * at, "summary": 77 + 2 * at}
    slipped = chatgpt and answer.document == "facebook" and column == "D" and answer.experiment in ("recall", "summary")
    return row[answer.experiment] + 7 * slipped


@pytest.mark.full
def test_published_answers_stand_where_they_are_known_to(real: PublishedStudy) -> None:
    """The cell that each answer was found in is the one that a person found for it."""
    wrong = [a.key for a in real.answers if a.text is not None and int(re.sub(r"\D", "", a.cell)) != row_of(a)]
    assert wrong == []


@pytest.mark.full
def test_published_runs_about_another_company(real: PublishedStudy) -> None:
    """The four places, with every answer in them."""
    found = Counter(
        (f.document, f.experiment, f.file.rpartition("/")[2][:13]) for f in real.findings if f.kind == "other-company"
    )
    assert found == {
        ("spotify", "recall", "ChatGPT-4_FAQ"): 24,
        ("uber", "recall", "ChatGPT-4_use"): 24,
        ("uber", "summary", "ChatGPT-4_use"): 8,
        ("facebook", "summary", "ChatGPT-4_use"): 16,
    }


@pytest.mark.full
def test_published_findings_about_answers(real: PublishedStudy) -> None:
    """What else is known to be wrong with answers and annotated answers, by document and cell."""
    kinds = ("other-question", "lost-first-letter", "note-not-answer", "duplicate-file", "annotation-wrong-part")
    found = {kind: [(f.document, f.cell) for f in real.findings if f.kind == kind] for kind in kinds}
    assert found == {
        "other-question": [("airbnb", "E9"), ("airbnb", "C67"), ("spotify", "C104"), ("spotify", "C29")],
        "lost-first-letter": [
            *(("spotify", "C46"), ("spotify", "C60"), ("spotify", "C61"), ("uber", "E61")),
            *(("twitter", "C128"), ("facebook", "C38"), ("airbnb", "D29"), ("uber", "C28")),
        ],
        "note-not-answer": [("uber", "D58")],
        "duplicate-file": [("", "")],
        "annotation-wrong-part": [
            *(("uber", "D4"), ("uber", "D8"), ("uber", "D27")),
            *(("airbnb", "D3"), ("airbnb", "D8"), ("facebook", "D12")),
        ],
    }
    assert [(f.document, f.question) for f in real.findings if f.kind == "annotation-copied"] == [("uber", "SE_u1")]
    assert not [f for f in real.findings if f.kind == "unplaced"]


@pytest.mark.full
def test_reading_again_gives_the_same(tmp_path: Path) -> None:
    """Answers and findings come in one order."""
    tree = pulled_tree(tmp_path, study())
    questions = load_question_set("genaipabench")
    assert read_published_answers_and_findings(tree, questions) == read_published_answers_and_findings(tree, questions)
