"""What systems retrieved: columns of the tidy table, the chapter, and what a pack keeps of it."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from framing import answer_rows, study_of, tidy_of
from retrieving import COLLECT, KEEP, RIVAL, make_study
from running import answers
from size import size
from tabling import scored

from benchmarks.passages import MISSES, held
from genaipa.answers import tidy as tidy_table
from genaipa.answers.gather import gather_study
from genaipa.answers.study import Study
from genaipa.archive.study_pack import pack_study, unpack_and_rebuild_report
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.notable import notable_sentences
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace
from genaipa_retrieval import chapter as retrieval
from genaipa_retrieval.data_sheet import describe_passages_for_data_sheet
from genaipa_retrieval.fact import Passages

if TYPE_CHECKING:
    from genaipa.reports.chapters.chapter import Chapter

COUNTS = {
    # passages, with a sentence of the right sections, elsewhere, of another document, right sections, shown, at, quotes
    "Q1": (2, 1, 1, 0, 1, 1, 2, 0),
    "Q2": (1, 0, 0, 0, 1, 0, 0, 0),
    "Q3": (0, 0, 0, 0, 2, 0, 0, 0),
    "Q4": (2, 0, 1, 1, 0, 0, 0, 0),
    "Q5": (1, 0, 1, 1, 0, 0, 0, 0),
}
QUESTIONS = ("T_f1", "T_f2", "T_u1", "UC_f1")


def gathered(*names: str, **options: Any) -> Study:
    """What a report about these runs has, without a score."""
    here = find_workspace()
    return gather_study(here, select_runs_and_apply_filters(here, names or ("latest",)), None, **options)


def counts_of(frame: pd.DataFrame) -> dict[str, tuple[float, ...]]:
    """Question → the columns on the passages, of the answers about acme."""
    rows = frame[frame["document"] == "acme"].set_index("question")
    return {str(name): tuple(row) for name, row in rows[list(Passages.columns)].iterrows()}


def chapter_of(found: Study) -> Chapter | None:
    """Make the chapter on retrieval, where there is one."""
    made = retrieval.RetrievalChapter()
    return (
        made.make(found, FigureScope.from_scores_table(found.table))
        if found.has_any_value_of_each_fact(*made.needs)
        else None
    )


def frame_of(*shown: tuple[float, float, float | None], quotes: bool = False) -> pd.DataFrame:
    """A frame of one question each: its right sections, the place of the first that is shown, its accuracy."""
    rows = answer_rows(systems=("a/one",), documents=("uber",), questions=QUESTIONS[: len(shown)])
    for row, (sections, at, _) in zip(rows, shown, strict=True):
        counts = (3, at > 0, 1, 0, sections, at > 0, at, quotes)
        row.update(zip(Passages.columns, map(float, counts), strict=True))
    given = {row["answer"]: accuracy for row, (*_, accuracy) in zip(rows, shown, strict=True)}
    return tidy_of(rows, scored(rows, lambda row: given[row["answer"]]))


def test_passages_are_counted_by_answer() -> None:
    """An answer without passages found nothing, if its system gave some elsewhere; of other systems nothing is said."""
    make_study(systems=("bots:Bot", "scripted/say.yaml"))
    frame = gathered().make_tidy_table()
    assert counts_of(frame[frame["system"] == "bots:Bot"]) == COUNTS
    rival = frame[(frame["system"] == "bots:Bot") & (frame["document"] == "rival")].set_index("question")
    assert rival.loc["Q4", ["passages", "passages_elsewhere", "passages_other"]].tolist() == [2, 1, 1]
    assert frame.loc[frame["system"] == "scripted/say.yaml", list(Passages.columns)].isna().all(axis=None)
    unread = gathered(without_reading_texts=True)
    assert unread.make_tidy_table()["passages"].isna().all()
    assert not [*describe_passages_for_data_sheet(find_workspace(), unread, {})]


def test_a_data_sheet_takes_for_input_what_stood_in_the_documents_place() -> None:
    """What an assistant of one's own names may be its input or a quotation."""
    make_study(systems=("bots:Bot", "rag/extractive"), documents=("acme",))
    study = gathered()
    assert set(study.answers.loc[study.answers["passages"] > 0, "system"]) == {"bots:Bot", "rag/extractive"}
    ((number, sentence, _),) = describe_passages_for_data_sheet(find_workspace(), study, {})
    assert number == "2.1"
    assert sentence == "For 5 replies of rag/extractive, passages stood in the place of the document's text."
    named = replace(study, answers=study.answers.assign(initialization="name"))
    assert not [*describe_passages_for_data_sheet(find_workspace(), named, {})], "nothing stood there to be replaced"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_has_the_columns_only_where_a_system_gave_passages(tmp_path: Path, suffix: str) -> None:
    """Otherwise it has the columns that it had before there were any; both are read."""
    with_some, without = frame_of((1, 1, 1.0)), tidy_of(answer_rows(systems=("a/one",), documents=("uber",)))
    for number, frame in enumerate((with_some, without)):
        path = tmp_path / f"{number}{suffix}"
        tidy_table.write_filled_columns_as_csv_or_parquet(frame, path)
        written = pd.read_csv(path) if suffix == ".csv" else pd.read_parquet(path)
        known = [name for name in Passages.columns if name in written]
        assert known == ([] if number else list(Passages.columns))
        pd.testing.assert_frame_equal(written[known], frame[known], check_column_type=False, check_dtype=False)


def test_the_section_shown_and_the_answer_right() -> None:
    """Shares of questions; one without an annotated section is out of it, an answer nobody scored out of the parts."""
    (row,) = retrieval.tabulate_shown_right_sections(
        study_of(frame_of((2, 3, 0.5), (1, 1, -1), (1, 0, 1), (0, 0, 1)))
    ).data.to_dict("records")
    assert (row["n"], row["mean"], row["scored"]) == (3, pytest.approx(2 / 3), 3)
    assert [row[part] for part in ("shown_right", "shown_wrong", "hidden_right", "hidden_wrong")] == [
        *(pytest.approx(1 / 3),) * 3,
        0,
    ]
    (row,) = retrieval.tabulate_shown_right_sections(
        study_of(frame_of((1, 3, None), (1, 1, -1), (1, 0, None), (1, 0, 1)))
    ).data.to_dict("records")
    assert (row["mean"], row["scored"], row["shown_wrong"], row["hidden_right"]) == (0.5, 2, 0.5, 0.5)
    assert "scored" not in retrieval.tabulate_shown_right_sections(study_of(frame_of((1, 3, None), (1, 0, None)))).data
    assert not retrieval.tabulate_shown_right_sections(study_of(frame_of((0, 0, 1), (0, 0, 1))))


def test_an_answer_made_of_other_passages_is_not_from_elsewhere() -> None:
    """What is quoted from other sentences and found right is apart from what no passage has."""
    rows = (1, 1, 1.0), (1, 0, 0.5), (1, 0, -1.0)
    (row,) = retrieval.tabulate_shown_right_sections(study_of(frame_of(*rows, quotes=True))).data.to_dict("records")
    parts = ("shown_right", "quoted_right", "hidden_right", "hidden_wrong")
    assert [row[part] for part in parts] == pytest.approx([1 / 3, 1 / 3, 0, 1 / 3])
    (row,) = retrieval.tabulate_shown_right_sections(study_of(frame_of(*rows))).data.to_dict("records")
    assert [row[part] for part in parts] == pytest.approx([1 / 3, 0, 1 / 3, 1 / 3])


def test_nobody_knows_where_a_document_is_silent_that_nobody_annotated() -> None:
    """Then no number of such answers is shown, rather than 0."""
    frame = frame_of((1, 1, 1.0), (1, 0, 1.0))
    for silent, count in (("no", 0), ("yes", 2), ("", None)):
        table = retrieval.tabulate_retrieved_passages_by_system(study_of(frame.assign(silent=silent)))
        assert table.format_cell("on_silent", table.data["on_silent"].iloc[0]) == ("" if count is None else str(count))


def test_an_experiment_without_a_document_says_nothing_of_the_retriever() -> None:
    """Where a system gave no passage at all, as without a document, it did not miss: the experiment is left out."""
    rows = answer_rows(systems=("a/one",), documents=("uber",), questions=("T_f1",), experiments=("quality", "recall"))
    for row in rows:
        at = float(row["experiment"] == "quality")
        row.update(zip(Passages.columns, (at, at, 0, 0, 1, at, at, 0), strict=True))
    data = retrieval.tabulate_shown_right_sections(study_of(tidy_of(rows, []))).data
    assert list(zip(data["experiment"], data["mean"], strict=True)) == [("quality", 1)]


def test_the_right_section_among_the_first_passages() -> None:
    """By how many passages it is shown, as far as a system gives so many."""
    found = retrieval.tabulate_hit_rate_among_first_passages(
        study_of(frame_of((1, 3, None), (1, 1, None), (1, 0, None), (0, 0, None)))
    ).data
    assert dict(zip(found["first"], found["mean"].round(3), strict=True)) == {1: 0.333, 2: 0.333, 3: 0.667}


def test_the_chapter() -> None:
    """Its tables, its figure and what each says of a run; an interval says for what; nothing without passages."""
    folder = make_study()
    made = chapter_of(gathered())
    assert [table.name for table in made.tables] == ["retrieval", "retrieval-by-number", "retrieval-passages"]
    whose = made.tables[2].data.iloc[0]
    assert (whose["answers"], whose["on_silent"], whose["silent_each"]) == (10, 1, 2)
    assert whose["elsewhere"] == pytest.approx(7 / 12)
    assert (whose["annotated"], whose["sections_shown"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    said = "bots:Bot: 7 of its 12 passages are not in the document that was asked about, 5 of these in another"
    assert [one for one in notable_sentences(gathered()) if one.startswith(said)]
    assert "for these documents" in made.tables[0].headings.values()
    assert "other questions of this kind" in made.tables[0].note
    assert [figure.name for figure in made.figures] == ["retrieval"]
    made.figures[0].plot()
    drawn = retrieval.draw_shown_right_sections(
        retrieval.tabulate_shown_right_sections(study_of(frame_of((2, 3, 0.5), (1, 1, -1), (1, 0, 1), (0, 0, 1))))
    )
    assert drawn is not None
    drawn.plot()
    Path("annotations/acme.yaml").unlink()
    (folder.path / "annotations/acme.yaml").unlink()
    made = chapter_of(gathered())
    assert "No question with passages has an annotated answer" in made.absent[0]
    make_study(systems=("scripted/say.yaml",))
    assert not chapter_of(gathered())


def test_a_pack_has_the_counts_without_the_passages(tmp_path: Path) -> None:
    """Passages of a text that may not be passed on stay behind; counts stay the same, of answers without any, too."""
    make_study("not stated")
    here = find_workspace()
    pack_study(here, select_runs_and_apply_filters(here, ("latest",)), tmp_path / "study.zip")
    with zipfile.ZipFile(tmp_path / "study.zip") as archive:
        packed = "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
    assert COLLECT not in packed
    assert KEEP not in packed
    assert "page 7" in packed, "passages of another text go along"
    assert RIVAL in packed
    unpacked = unpack_and_rebuild_report(tmp_path / "study.zip", tmp_path / "again")
    assert unpacked.different == []
    there = find_workspace(tmp_path / "again")
    again = gather_study(there, select_runs_and_apply_filters(there, ("latest",)), None).make_tidy_table()
    assert counts_of(again) == COUNTS
    columns = list(Passages.columns)
    pd.testing.assert_frame_equal(again[columns], gathered().make_tidy_table()[columns], check_column_type=False)
    assert again["passages"].notna().sum() == len(answers(select_runs_and_apply_filters(there, ("latest",))[0].folder))


def test_a_retriever_that_misses_is_measured() -> None:
    """The interval holds the share of a retriever that misses three in ten, in at least 93 of 100 studies."""
    draws = size(small=20, soak=500)
    found = held(draws)
    assert len(found) == draws
    assert abs(found["mean"].mean() - (1 - MISSES)) < size(small=0.06, soak=0.03)
    assert found["holds"].mean() >= 0.93
