"""GenAIPABench in genaipa's own formats: a small tree for the rules, the published data for the facts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from genaipabench_tree import IDS, SENTENCES, answers, repository, table, tree_of

from genaipa.errors import DataError
from genaipa.policies.document import load_document
from genaipa.questions.annotations import load_annotations
from genaipa.questions.sets import WORDINGS, load_question_set
from genaipa.workspace import find_workspace, pulled_folder
from genaipa_study.layout import DOCUMENTS
from genaipa_study.pull import (
    PART_SETS,
    find_cited_article_labels,
    find_cited_part_labels,
    is_converted_data_available,
    locate_segments_and_list_notes,
    pull,
)

if TYPE_CHECKING:
    from genaipa.questions.annotations import Annotations
    from genaipa_study.layout import PublishedTree

POLICIES = ("uber", "spotify", "airbnb", "facebook", "twitter")
UBER = "Annotated Answers/Privacy Policy Answers/annotated_answers_Uber.csv"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def pull_files(tmp_path: Path, files: dict[str, bytes]) -> tuple[PublishedTree, tuple[str, ...]]:
    """Pull from a folder with these files; the tree and the notes."""
    for path, content in files.items():
        (tmp_path / "origin" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "origin" / path).write_bytes(content)
    tree = tree_of(files)
    return tree, pull(origin=str(tmp_path / "origin"), tree=tree).notes


def uber(tmp_path: Path, rows: list[list[str]]) -> Annotations:
    """Uber's annotations from these rows."""
    pull_files(tmp_path, repository() | {UBER: table(rows)})
    return load_annotations(find_workspace(), "uber")


# The small tree


def test_part_offsets_point_at_the_parts(tmp_path: Path) -> None:
    """Each part of both segmentations begins where its text does, its header left out."""
    pull_files(tmp_path, repository())
    document = load_document("uber")
    assert set(document.about.part_sets) == set(PART_SETS)
    assert document.part("GPT-4", 1) == (0, document.text.index(SENTENCES[6]))
    assert document.part("GPT-4", 2) == (document.text.index(SENTENCES[6]), len(document.text))


def test_a_segment_with_other_words_is_placed_and_reported() -> None:
    """The first words that agree decide; white space doesn't count."""
    text = "Alpha. " + "  ".join(SENTENCES)
    segments = [
        "1. Alpha. " + " ".join(SENTENCES[:3]),
        "\n".join(SENTENCES[3:6]),
        "Note: " + " ".join(SENTENCES[6:9]),
        " ".join(SENTENCES[9:]).replace("In matter 9", "On matter 9"),
    ]
    offsets, notes = locate_segments_and_list_notes(text, segments, "here")
    assert offsets == (0, *(text.index(SENTENCES[n]) for n in (3, 6, 9)))
    assert [note.split(":")[0] for note in notes] == ["here, Part 1", "here, Part 3", "here, Part 4"]


def test_a_segment_of_another_document_is_refused() -> None:
    """A segment that shares no words with the text is an error that names it."""
    with pytest.raises(DataError, match=r"here, Part 2: the segment is not in its document"):
        locate_segments_and_list_notes(
            " ".join(SENTENCES), [SENTENCES[0], "Bees dance in the meadow behind the mill; nobody counts them."], "here"
        )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("They keep it.\nReference: Part 3", ["Part 3"]),
        ("They keep it. (Part 4)", ["Part 4"]),
        ("They keep it.Part 4", ["Part 4"]),
        ("They keep it.(ChatGPT: P6)", ["Part 6"]),
        ("They keep it. (P3)", ["Part 3"]),
        ("They keep it. Ref.: (Part 3)", ["Part 3"]),
        ("This is in Part 4 of the policy.", ["Part 4"]),
        ("They keep it. Reference (Part 6 of the policy)", ["Part 6"]),
        ("They keep it (Part 3). Part 2: and more. Part 3", ["Part 3", "Part 2"]),
        ("This part of it says so, for parties of 4.", []),
    ],
)
def test_references_to_parts(text: str, parts: list[str]) -> None:
    """Every way in which the published answers refer to a part, each part once."""
    assert find_cited_part_labels(text) == tuple(parts)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Reference: GDPR Article 3", ["Article 3"]),
        ("Reference: GDPR Article 4 & 5", ["Article 4", "Article 5"]),
        ("Reference: GDPR Articles 3-5", ["Article 3", "Article 4", "Article 5"]),
        ("Reference: Cal. Civ. Code § 1798.140(c)(1)", ["Section 1798.140"]),
        ("Reference: Cal. Civ. Code §§ 1798.155 and 1798.140", ["Section 1798.155", "Section 1798.140"]),
        ("Cal. Civ. Code § 1798.140-1798.155", ["Section 1798.140", "Section 1798.150", "Section 1798.155"]),
        ("Reference: GDPR - a guide", []),
    ],
)
def test_references_to_a_law(text: str, labels: list[str]) -> None:
    """Every way in which the published answers refer to a regulation; a range stands for all that it holds."""
    assert find_cited_article_labels(text, ("3", "4", "5", "1798.140", "1798.150", "1798.155")) == tuple(labels)


def test_blank_rows_and_further_columns_are_passed_over(tmp_path: Path) -> None:
    """What a spreadsheet leaves behind does no harm, and text is kept but for line ends."""
    rows = [["remark", *row] for row in answers()]
    rows[5:5] = [[], ["", "", " ", "", ""]]
    annotations = uber(tmp_path, rows)
    assert list(annotations.answers) == IDS
    assert annotations.answers["T_f1"].answer == "It keeps T_f1.\nReference: Part 1"
    assert annotations.part_set == "GPT-4"


@pytest.mark.parametrize(
    ("row", "cells", "problem"),
    [
        (0, ["id_question", "category", "question", "anotated"], r"row 1: has no column 'annotated answer' or"),
        (3, ["T_f9", "c", "q", "a"], r"row 4, column 'question id': 'T_f9' is not the id of a question"),
        (3, ["T_f1", "c", "q", "a"], r"row 4, column 'question id': 'T_f1' appears twice"),
        (3, ["T_f3", "c", "q"], r"row 4, column 'annotated answer': the cell is missing or empty"),
        (3, [], r"has no row for T_f3"),
    ],
)
def test_a_bad_table_names_row_and_column(tmp_path: Path, row: int, cells: list[str], problem: str) -> None:
    """A table that can't be read says where, and nothing is converted."""
    rows = answers()
    rows[row] = cells
    with pytest.raises(DataError, match=rf"annotated_answers_Uber\.csv: {problem}"):
        uber(tmp_path, rows)
    assert not pulled_folder().exists()


def test_defects_are_noted(tmp_path: Path) -> None:
    """A copy is noted where it doesn't suit, a lost beginning where it is; the text stays."""
    rows = answers()
    rows[1][2:] = ["Who may see my parcels?", "Only couriers see a parcel list. Part 1"]
    rows[2][2:] = ["Which couriers see the parcel list?", "Only couriers see a parcel list. Part 1"]
    rows[3][3] = "o, it does not. Part 2"
    found = uber(tmp_path, rows).answers
    assert found["T_f1"].note == "The published text is a copy of the answer to T_f2."
    assert found["T_f2"].note == ""
    assert found["T_f3"].note == "The beginning of the published text is missing."
    assert found["T_f3"].answer == "o, it does not. Part 2"


def test_converted_again_only_when_needed(tmp_path: Path) -> None:
    """An untouched conversion is left alone; a lost file or another tree brings it back, byte for byte."""
    tree, notes = pull_files(tmp_path, repository())
    target = pulled_folder() / "annotations" / "uber.yaml"
    first, written = target.read_bytes(), target.stat().st_mtime_ns
    assert pull(offline=True, tree=tree).notes == notes
    assert target.stat().st_mtime_ns == written
    target.unlink()
    assert not is_converted_data_available(tree)
    pull(offline=True, tree=tree)
    assert target.read_bytes() == first
    other, _ = pull_files(tmp_path, repository() | {UBER: table([*answers(), []])})
    assert (is_converted_data_available(tree), is_converted_data_available(other)) == (False, True)


# The published data


@pytest.fixture
def notes(shared: Path) -> tuple[str, ...]:
    """The published data, pulled and converted; the notes about it."""
    return pull(origin=str(shared / "data" / "genaipabench")).notes


@pytest.mark.usefixtures("notes")
def test_published_parts_are_the_segments(shared: Path) -> None:
    """Each part of a document reads as its segment but for white space, and there are as many as were published."""
    counts = {"uber": (6, 13), "spotify": (4, 12), "airbnb": (4, 10), "facebook": (3, 7), "twitter": (3, 7)}
    folder = shared / "data" / "genaipabench" / "Privacy Documents" / "Privacy Policy Segments"
    for name, expected in counts.items():
        document = load_document(name)
        assert tuple(len(document.about.part_sets[part_set]) for part_set in PART_SETS) == expected
        for part_set in PART_SETS:
            for path in (folder / part_set / f"{name}-policy-text-segments").iterdir():
                place = document.part(part_set, int(path.stem.split()[-1]))
                assert place is not None
                part = "".join(document.text[slice(*place)].split())
                segment = "".join(path.read_text(encoding="utf-8").split())
                assert segment.endswith(part)
                assert len(segment) - len(part) <= len("Part10:1.")


@pytest.mark.usefixtures("notes")
def test_published_documents() -> None:
    """Company, kind, date where the text states one; text with plain line ends whose digest holds."""
    documents = {name: load_document(name) for name in DOCUMENTS}
    assert {document.company for document in documents.values()} == {
        *("Uber", "Spotify", "Airbnb", "Facebook", "Twitter"),
        *("GDPR", "CCPA"),
    }
    assert {name for name, document in documents.items() if document.kind == "regulation"} == {"gdpr", "ccpa"}
    dates = {name: document.about.date for name, document in documents.items() if document.about.date}
    assert dates == {"uber": "2023-04-05", "facebook": "2022-01-04"}
    assert "4/5/2023" in documents["uber"].text
    assert "January 4, 2022" in documents["facebook"].text
    assert not any("\r" in document.text for document in documents.values())
    assert all(document.about.digest == document.digest for document in documents.values())


@pytest.mark.usefixtures("notes")
def test_published_answers_are_counted_as_known() -> None:
    """Of 160 policy answers 83 cite a part that exists, 62 say N/A and 15 nothing."""
    cited = unavailable = nothing = 0
    for name in POLICIES:
        document = load_document(name)
        for answer in load_annotations(find_workspace(), name).answers.values():
            cited += bool(answer.sections)
            unavailable += "N/A" in answer.answer
            nothing += not answer.sections and "N/A" not in answer.answer
            assert all(document.part("GPT-4", int(label.removeprefix("Part "))) for label in answer.sections)
    assert (cited, unavailable, nothing) == (83, 62, 15)


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize(
    ("name", "silent", "partly"),
    [
        ("facebook", 15, "CA_f1 CA_f2"),
        ("twitter", 14, "DM_f3 CA_f1"),
        ("spotify", 10, "PD_f2 CA_f1"),
        ("uber", 8, "T_f2 T_f3 DM_f2 SE_f1 SE_u1 AEE_f1 CA_f3"),
        ("airbnb", 15, "UC_f2 UC_f3 DM_f1 DM_u1 SE_f2 AEE_f2"),
    ],
)
def test_published_silence(name: str, silent: int, partly: str) -> None:
    """A document is silent where the answer says N/A, as published; in part where its words leave something open."""
    found = load_annotations(find_workspace(), name)
    assert found.silent_questions == tuple(question for question, one in found.answers.items() if "N/A" in one.answer)
    assert len(found.silent_questions) == silent
    assert [question for question, one in found.answers.items() if one.silent == "partly"] == partly.split()


def test_published_defects(notes: tuple[str, ...]) -> None:
    """What is odd about the data is said, once each, and nothing else."""
    assert [note.split(": ")[0] for note in notes if "the source lacks" not in note] == [
        "uber, SE_u1",
        "spotify, GPT-4, Part 1",
        "spotify, BingAI&Bard, Part 1",
        "airbnb, AEE_u1",
    ]
    assert "copy of the answer to DM_f2" in notes[0]


@pytest.mark.usefixtures("notes")
def test_published_references_to_laws() -> None:
    """References become labels of the regulation's own articles and sections."""
    gdpr = load_annotations(find_workspace(), "gdpr").answers
    assert gdpr["PR_5"].sections == ("Article 4", "Article 9")
    assert gdpr["PR_6"].sections == tuple(f"Article {number}" for number in range(12, 24))
    assert gdpr["PR_3"].sections == ()
    ccpa = load_annotations(find_workspace(), "ccpa").answers
    assert ccpa["PR_2"].sections == ("Section 1798.155", "Section 1798.150")
    assert ccpa["PR_6"].sections[:3] == ("Section 1798.100", "Section 1798.105", "Section 1798.106")
    assert ccpa["PR_6"].sections[-1] == "Section 1798.199"
    assert list(ccpa) == [f"PR_{number}" for number in range(1, 7)]


@pytest.mark.usefixtures("notes")
def test_published_questions_can_be_asked(shared: Path) -> None:
    """Names are filled in, and the set for the GDPR filled with the CCPA is what was published for the CCPA."""
    policy = load_question_set("genaipabench")
    assert [question.id for question in policy.questions] == IDS
    assert policy.question_text("PD_f1", "original", "Uber").startswith("Does Uber conduct")
    for question in policy.questions:
        for wording in WORDINGS:
            assert "the company" not in policy.question_text(question.id, wording, "Uber").lower()
    assert policy["SE_u1"].paraphrases[0] == policy["SE_u1"].paraphrases[1]
    regulation = load_question_set("genaipabench-regulation")
    path = shared / "data/genaipabench/Annotated Answers/Regulation Answers/annotated_answers_CCPA.csv"
    published = path.read_text(encoding="utf-8-sig")
    for number in range(1, 7):
        assert regulation.question_text(f"PR_{number}", "original", "CCPA") in published
