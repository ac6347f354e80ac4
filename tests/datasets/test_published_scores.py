"""The published score tables: what is read, what contradicts itself, and what is left out of analyses for it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from genaipabench_tree import IDS, tree_of
from msgspec.structs import replace
from published_tree import SINGLE, TABLES, metrics_sheet, regulations, results, results_csv, scores, workbook

from genaipa.datasets.study import PublishedAnswer
from genaipa.reports.significance import PUBLISHED
from genaipa.runs.exclusions import Exclusion
from genaipa.runs.imported import PublishedScore, format_published_scores_csv, read_published_scores_csv
from genaipa.stats.power import estimate_variance_components
from genaipa_study.audit import audit_scores, make_score_exclusions
from genaipa_study.findings import Finding, make_finding_about_answer
from genaipa_study.layout import PublishedTree
from genaipa_study.results import read_published_scores_and_findings
from genaipa_study.study import PublishedStudy

BARD = results("Bard", "orig")
FOLDER = "Results/Results_Bard"
FAQ = [question for question in sorted(IDS) if "_f" in question]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def kept(files: dict[str, bytes]) -> PublishedTree:
    """A tree of these files, which are here."""
    tree = tree_of(files)
    for path, content in files.items():
        (tree.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (tree.folder / path).write_bytes(content)
    return tree


def audited(
    **changed: dict[str, list[float]],
) -> tuple[list[PublishedScore], list[Finding], dict[PublishedScore, Exclusion]]:
    """Bard's scores with some tables changed, what is found and what is excluded; the metrics stay as they were."""
    names = {"original": "orig"}
    files = {f"{FOLDER}/Results_{names.get(name, name)}.csv": results_csv(table) for name, table in changed.items()}
    read, unplaced = read_published_scores_and_findings(kept(BARD | files))
    found = [*unplaced, *audit_scores(read)]
    return read, found, make_score_exclusions(read, found, [])


def excluded(marked: dict[PublishedScore, Exclusion]) -> set[tuple[str, str, str]]:
    """(experiment, document, question) of the scores that are left out."""
    return {(score.experiment, score.document, score.question) for score in marked}


def test_tables_without_faults() -> None:
    """160 scores and 32 means for each experiment, 12 rows about regulations, nothing to say about them."""
    read, found, marked = audited()
    assert found == []
    assert Counter((score.experiment, bool(score.document)) for score in read) == {
        **{
            (name, kind): 160 if kind else 32
            for name in ("quality", "robustness", "recall", "summary")
            for kind in (0, 1)
        },
        ("regulation", True): 12,
    }
    assert marked == {}


def test_a_score_knows_where_it_stands() -> None:
    """File, cell, value and how many scores it is the mean of; columns are found by their names."""
    read, *_ = audited()
    where = {(s.experiment, s.document, s.question): s for s in read}
    one = where["robustness", "uber", "T_u1"]
    assert (one.cell, one.averaged, one.m_all) == (
        f"C{sorted(IDS).index('T_u1') + 2}",
        3,
        round(10 * scores("robust")["T_u1"][1], 2),
    )
    assert where["quality", "airbnb", "T_f1"].averaged == 1
    means = where["recall", "", "UC_f2"]
    assert (means.m_all, means.averaged, means.sheet) == (None, 5, "adaptive")
    law = where["regulation", "ccpa", "PR_1"]
    assert (law.m_all, law.completeness, law.reference) == (77.5, 1.0, -1.0)


def test_names_with_subscripts() -> None:
    """The metrics of one experiment are labelled with subscripts for the three levels."""
    sheet = metrics_sheet(scores("adaptive"))
    for row in sheet[1:]:
        category, _, level = str(row[0]).partition("_")
        row[0] = category + {"f1": "ₑ", "f2": "ₘ", "f3": "ₕ"}[level] if level != "u1" else row[0]
    files = {f"{FOLDER}/Bard_metrics.xlsx": workbook({"adaptive": sheet})}
    read, found = read_published_scores_and_findings(kept(files))
    assert found == []
    assert {score.question for score in read} == set(IDS)


def test_a_table_that_stands_twice() -> None:
    """The metrics tell which of two equal tables is the copy; each of its scores is left out."""
    _, found, marked = audited(original=scores("robust"))
    (twice,) = [finding for finding in found if finding.kind == "duplicate-table"]
    assert (twice.experiment, twice.excludes) == ("quality", "score")
    assert "equal those of the M_all table of robustness" in twice.reason
    assert {experiment for experiment, _, _ in excluded(marked)} == {"quality"}
    assert len(marked) == 160
    assert not [finding for finding in found if finding.kind == "duplicate-scores"]


def test_a_metrics_sheet_that_stands_twice() -> None:
    """A copied sheet is a copied table like any other, also where something else is wrong with its scores."""
    sheets = {name: metrics_sheet(scores(name)) for name in TABLES}
    sheets["adaptive"] = sheets["original"]
    read, _ = read_published_scores_and_findings(kept(BARD | {f"{FOLDER}/Bard_metrics.xlsx": workbook(sheets)}))
    found = audit_scores(read)
    (twice,) = [finding for finding in found if finding.kind == "duplicate-table"]
    assert (twice.experiment, twice.excludes) == ("recall", "score")
    also = replace(twice, kind="unreachable-score", reason="Something else.")
    copied = make_score_exclusions(read, [also, *found], [])
    assert {(score.experiment, score.document) for score in copied} == {("recall", "")}
    assert {exclusion.kind for exclusion in copied.values()} == {"duplicate-table"}


def test_a_column_that_stands_twice() -> None:
    """Equal FAQ scores about one document in two experiments: where the metrics fit both, the earlier counts."""
    recall, summary = scores("adaptive"), scores("summary")
    for question in FAQ:
        summary[question][0] = recall[question][0]
    tables = {name: scores(name) for name in TABLES} | {"summary": summary}
    metrics = {f"{FOLDER}/Bard_metrics.xlsx": workbook({name: metrics_sheet(t) for name, t in tables.items()})}
    read, _ = read_published_scores_and_findings(
        kept(BARD | metrics | {f"{FOLDER}/Results_summary.csv": results_csv(summary)})
    )
    found = audit_scores(read)
    assert [(f.kind, f.experiment, f.document, f.excludes) for f in found] == [
        ("duplicate-scores", "summary", "spotify", "score"),
        ("duplicate-scores", "recall", "spotify", ""),
    ]
    # The means over documents include that column.
    assert excluded(make_score_exclusions(read, found, [])) == {("summary", d, q) for d in ("spotify", "") for q in FAQ}


def test_a_row_that_stands_twice() -> None:
    """A row that was copied from another experiment is left out where the metrics contradict it."""
    summary = scores("summary") | {"T_f2": scores("adaptive")["T_f2"]}
    _, found, marked = audited(summary=summary)
    assert [(f.kind, f.experiment, f.question) for f in found] == [
        ("duplicate-scores", "summary", "T_f2"),
        ("tables-contradict", "summary", "T_f2"),
    ]
    assert excluded(marked) == {
        ("summary", name, "T_f2") for name in ("spotify", "uber", "twitter", "facebook", "airbnb")
    }


@pytest.mark.parametrize(
    ("table", "question", "value", "possible"),
    [
        ("original", "T_f1", 9.7, False),
        ("original", "T_f1", 9.55, True),
        ("original", "T_u1", 9.7, True),
        ("robust", "T_u1", 9.7, True),
        ("robust", "CA_u1", 8.82, False),
        ("summary", "T_u1", 9.75, False),
        ("adaptive", "T_f1", 11.0, False),
    ],
)
def test_values_that_no_score_has(table: str, question: str, value: float, possible: bool) -> None:
    """18 values for one score, and the means of three for a user's question."""
    changed = scores(table)
    changed[question][2] = value
    _, found, marked = audited(**{table: changed})
    impossible = [(f.question, f.document) for f in found if f.kind == "unreachable-score"]
    assert impossible == ([] if possible else [(question, "twitter")])
    left_out = {f"{f.file} {f.cell}" for f in found if f.kind == "unreachable-score"}
    assert left_out == {f"{s.file} {s.cell}" for s, one in marked.items() if one.kind == "unreachable-score"}


def test_tables_that_contradict_each_other() -> None:
    """A row whose mean isn't what the metrics imply is named with both values; by rule the M_all table's counts."""
    changed = scores("robust")
    changed["UC_f3"][0] = SINGLE[(SINGLE.index(changed["UC_f3"][0]) + 1) % 18]
    _, found, marked = audited(robust=changed)
    assert [(f.kind, f.experiment, f.question, f.excludes) for f in found] == [
        ("tables-contradict", "robustness", "UC_f3", ""),
        ("tables-contradict", "robustness", "UC_f3", ""),
    ]
    assert [f.sheet for f in found] == ["", "robust"]
    assert f"average {2 * sum(changed['UC_f3']):.1f}" in found[0].reason
    assert f"imply {2 * sum(scores('robust')['UC_f3']):.1f}" in found[0].reason
    assert all("By rule, M_all is taken from the M_all table of robustness" in f.reason for f in found)
    assert marked == {}


@pytest.mark.parametrize("kind", ["other-company", "other-question"])
def test_a_mean_over_answers_to_something_else_is_left_out(kind: str) -> None:
    """If a document's answers are all left out, so are their score and the mean over documents, and it says why."""
    read, _ = read_published_scores_and_findings(kept(BARD))
    behind = [
        PublishedAnswer(
            "published/bard", "recall", "uber", question, "original", run, "What?", "Lyft.", "a.xlsx", "Uber", "C1"
        )
        for question, runs in (("T_f1", 1), ("T_u1", 3))
        for run in range(1, runs + 1)
    ]
    found = [make_finding_about_answer(answer, kind, "It is about Lyft.", excludes=True) for answer in behind]
    marked = make_score_exclusions(read, found, behind)
    assert excluded(marked) == {("recall", name, question) for name in ("uber", "") for question in ("T_f1", "T_u1")}
    (mean,) = (one for score, one in marked.items() if (score.document, score.question) == ("", "T_u1"))
    assert mean == Exclusion("score", "|T_u1", kind, "The mean includes uber. It is about Lyft.")
    one_of_three = [finding for finding in found if finding.question == "T_f1" or finding.repetition == 1]
    assert excluded(make_score_exclusions(read, one_of_three, behind)) == {
        ("recall", "uber", "T_f1"),
        ("recall", "", "T_f1"),
    }


def test_what_cannot_be_placed_is_named() -> None:
    """Unknown columns and ids, rows twice and empty cells; everything else is read."""
    rows = results_csv(scores("robust"), ("Spotify", "Ubr", "Twitter", "Facebook", "Remarks")).decode()
    rows = rows.replace("T_f1,", "T_f9,").replace("T_f2,", "T_f3,", 1)
    first = rows.splitlines()[1].split(",")
    rows = rows.replace(",".join(first), ",".join([first[0], "", *first[2:]]))
    law = regulations().decode().replace("PR_3,GDPR,1", "PR_3,GDPR,7")
    files = {f"{FOLDER}/Results_robust.csv": rows.encode(), f"{FOLDER}/Results_regulations.csv": law.encode()}
    files[f"{FOLDER}/Bard_metrics.xlsx"] = workbook(
        {"robust": [["Questions", "Relevance"], ["T_f1", 1]], "new": [["a"]], "empty": []}
    )
    read, found = read_published_scores_and_findings(kept(files))
    kinds = Counter((f.kind, f.file.rpartition("/")[2]) for f in found)
    assert kinds == {
        ("unplaced", "Results_robust.csv"): 3,
        ("missing-score", "Results_robust.csv"): 1,
        ("unplaced", "Results_regulations.csv"): 1,
        ("missing-score", "Bard_metrics.xlsx"): 1,
        ("unplaced", "Bard_metrics.xlsx"): 2,
    }
    assert {score.document for score in read} == {"spotify", "uber", "twitter", "facebook", "gdpr", "ccpa"}


def test_scores_survive_their_file(tmp_path: Path) -> None:
    """What is written is read again, and a text that a spreadsheet would run is harmless in between."""
    read, *_ = audited()
    odd = PublishedScore("=1+1", "recall", "", "T_f1", None, relevance=-0.1, sheet="-x; =y\n+z")
    path = tmp_path / "published-scores.csv"
    path.write_bytes(format_published_scores_csv([*read, odd]))
    assert read_published_scores_csv(path) == [*read, odd]
    assert "'=1+1" in path.read_text()


# The published files


def test_published_scores_are_counted(real: PublishedStudy) -> None:
    """Of two systems: 4 tables of 160 scores, 4 of 32 means, and 12 rows about regulations each."""
    assert Counter((s.system, bool(s.document)) for s in real.scores) == {
        (f"published/{name}", kind): count
        for name in ("bard", "chatgpt-4")
        for kind, count in ((True, 652), (False, 128))
    }


def test_published_findings_about_scores(real: PublishedStudy) -> None:
    """Everything that is known to be wrong with the tables, and nothing more; 45 rows contradict the metrics."""
    found = Counter(
        (f.kind, f.system, f.experiment, f.document, f.question)
        for f in real.findings
        if f.kind in ("duplicate-table", "duplicate-scores", "unreachable-score")
    )
    bard, chatgpt = "published/bard", "published/chatgpt-4"
    assert found == {
        ("duplicate-table", bard, "quality", "", ""): 1,
        ("duplicate-scores", bard, "recall", "spotify", ""): 1,
        ("duplicate-scores", bard, "summary", "spotify", ""): 1,
        ("duplicate-scores", chatgpt, "summary", "", "T_u1"): 1,
        ("duplicate-scores", chatgpt, "summary", "", "UC_u1"): 1,
        ("unreachable-score", chatgpt, "quality", "uber", "T_u1"): 1,
        ("unreachable-score", chatgpt, "robustness", "twitter", "CA_u1"): 1,
    }
    assert Counter((f.system, f.experiment) for f in real.findings if f.kind == "tables-contradict") == {
        (bard, "quality"): 32,
        # A finding for the row and one for the metrics, but where the row is a copy: there the metrics stay.
        (chatgpt, "quality"): 2 * 6,
        (chatgpt, "robustness"): 2 * 3,
        (chatgpt, "summary"): 2 * 2 + 2,
    }


def test_published_scores_that_are_left_out(real: PublishedStudy) -> None:
    """Those in copied or impossible places, and those whose answers are all about something else."""
    out = Counter((s.system, s.experiment, excluded.kind) for s, excluded in real.excluded_scores.items())
    bard, chatgpt = "published/bard", "published/chatgpt-4"
    assert out == {
        (bard, "quality", "duplicate-table"): 160,
        # A column, or the answers about one document, and the means of the metrics that include them.
        (bard, "summary", "duplicate-scores"): 24 * 2,
        (chatgpt, "recall", "other-company"): 32 * 2,
        (chatgpt, "summary", "duplicate-scores"): 10,
        (chatgpt, "quality", "other-question"): 1 * 2,
        (chatgpt, "quality", "unreachable-score"): 1,
        (chatgpt, "robustness", "unreachable-score"): 1,
    }


def test_the_default_is_the_published_study_s(real: PublishedStudy) -> None:
    """The variance that planning takes for granted is that of the published tables of both systems."""
    values = {
        (score.system, score.experiment, score.question, score.document): score.m_all
        for score in real.scores
        if score.document and score.m_all is not None
    }
    questions = sorted({key[2] for key in values})
    documents = sorted({key[3] for key in values})
    found = []
    for experiment in ("robustness", "recall", "summary"):
        sides = (
            np.array([[values.get((system, experiment, q, d), np.nan) for d in documents] for q in questions])
            for system in ("published/chatgpt-4", "published/bard")
        )
        apart = np.subtract(*sides)
        found.append(estimate_variance_components(apart[~np.isnan(apart).all(axis=1)]))
    assert np.mean(found, axis=0).round().tolist() == list(PUBLISHED)
