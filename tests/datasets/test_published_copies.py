"""Copies among the published tables of a system: found in both kinds of file, whole and nearly, and left out alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from genaipabench_tree import IDS, tree_of
from published_tree import COLUMNS, TABLES, metrics_sheet, results, results_csv, scores, workbook

from genaipa.runs.exclusions import Exclusion
from genaipa.runs.imported import PublishedScore
from genaipa_study.audit import audit_scores, make_score_exclusions
from genaipa_study.findings import Finding
from genaipa_study.results import read_published_scores_and_findings

FAQ = [question for question in IDS if "_f" in question]
EXPERIMENTS = {"original": "quality", "robust": "robustness", "adaptive": "recall", "summary": "summary"}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


class Tables:
    """The tables of a made-up system, to be changed; `sheets` are the metrics."""

    def __init__(self) -> None:
        self.m_all = {name: scores(name) for name in TABLES}
        self.sheets = {name: metrics_sheet(table) for name, table in self.m_all.items()}

    def copy_sheet(self, source: str, to: str, questions: list[str]) -> None:
        """Copy rows of the metrics."""
        rows = {row[0]: row for row in self.sheets[source]}
        self.sheets[to] = [rows[row[0]] if row[0] in questions else row for row in self.sheets[to]]

    def audited(self) -> tuple[dict[PublishedScore, Exclusion], list[Finding]]:
        """The scores that are excluded, and what is found."""
        files = results("Other") | {
            f"Results/Results_Other/Results_{name}.csv": results_csv(table) for name, table in self.m_all.items()
        }
        files["Results/Results_Other/Other_metrics.xlsx"] = workbook(self.sheets)
        tree = tree_of(files)
        for path, content in files.items():
            (tree.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (tree.folder / path).write_bytes(content)
        read, unplaced = read_published_scores_and_findings(tree)
        assert unplaced == []
        found = audit_scores(read)
        return make_score_exclusions(read, found, []), found


def where(excluded: dict[PublishedScore, Exclusion]) -> set[tuple[str, str, str]]:
    """(experiment, document, question) of what is excluded."""
    return {(score.experiment, score.document, score.question) for score in excluded}


def cells(experiment: str, documents: list[str], questions: list[str]) -> set[tuple[str, str, str]]:
    """The places of these documents and questions."""
    return {(experiment, document, question) for document in documents for question in questions}


def test_copied_metrics_lose_their_vote() -> None:
    """The FAQ rows of one sheet stand in another: they alone are left out, and the M_all that they contradict stays."""
    tables = Tables()
    tables.copy_sheet("adaptive", "summary", FAQ)
    marked, found = tables.audited()
    (copy,) = [one for one in found if one.kind == "duplicate-scores"]
    assert (copy.experiment, copy.sheet, copy.excludes) == ("summary", "summary", "score")
    assert "All 120 FAQ scores equal those of the metrics table of recall" in copy.reason
    assert "the M_all table of summary contradicts this one on 24 of 24 questions" in copy.reason
    assert where(marked) == cells("summary", [""], FAQ)
    assert {(one.kind, one.excludes) for one in found} == {("duplicate-scores", "score"), ("tables-contradict", "")}


@pytest.mark.parametrize(("changed", "is_copy"), [(15, True), (20, False)])
def test_a_table_that_is_nearly_a_copy(changed: int, is_copy: bool) -> None:
    """Nine tenths of the cells that tell something have to be equal, not all of them."""
    tables, drawn = Tables(), Random(1)
    table = {question: list(row) for question, row in scores("robust").items()}
    # Cells that hold neither the lowest nor the highest value are the ones that tell something.
    places = [(q, at) for q, row in table.items() for at, value in enumerate(row) if 1 < value < 10]
    for question, at in drawn.sample(places, changed * len(places) // 160):
        table[question][at] = 8.65 if table[question][at] != 8.65 else 4.6
    tables.m_all["original"] = table
    marked, found = tables.audited()
    copies = [one for one in found if one.kind == "duplicate-table"]
    assert [(one.experiment, "of the 160 scores equal" in one.reason) for one in copies] == [
        ("quality", True)
    ] * is_copy
    if is_copy:
        assert where(marked) == cells("quality", [name.lower() for name in COLUMNS], IDS)


@pytest.mark.parametrize("usual", [10.0, 1.0, 8.2])
def test_agreement_that_is_no_wonder_is_no_copy(usual: float) -> None:
    """Where nearly all scores are the best, the worst or the same, tables are alike without being copies."""
    tables = Tables()
    for name in ("adaptive", "summary"):
        drawn = Random(f"{name} alone")
        for question in IDS:
            row = [usual] * 5
            if drawn.random() < 0.2:
                row[drawn.randrange(5)] = drawn.choice([4.6, 5.05, 6.4, 7.3])
            tables.m_all[name][question] = row
        # Some of the others agree by chance.
        for question, value in (("T_f1", 4.6), ("UC_f1", 5.5), ("DM_f1", 6.4)):
            tables.m_all[name][question] = [value, *[usual] * 4]
        tables.sheets[name] = metrics_sheet(tables.m_all[name])
    marked, found = tables.audited()
    assert found == []
    assert where(marked) == set()


def test_a_copied_half_does_not_take_the_other_with_it() -> None:
    """The FAQ scores about a document are a copy; of the users' one tells something, and that differs."""
    tables = Tables()
    for question in IDS:
        recall, summary = tables.m_all["adaptive"][question], tables.m_all["summary"][question]
        if question in FAQ:
            summary[0] = recall[0]
        else:
            recall[0], summary[0] = 10.0, 9.55 if question == "T_u1" else 10.0
    tables.sheets |= {name: metrics_sheet(tables.m_all[name]) for name in ("adaptive", "summary")}
    marked, _ = tables.audited()
    assert where(marked) == cells("summary", ["spotify", ""], FAQ)


def test_means_of_another_experiment() -> None:
    """A table whose columns were mixed up still has the means of the table that it was copied from."""
    tables = Tables()
    tables.m_all["summary"] = {question: row[::-1] for question, row in scores("adaptive").items()}
    marked, found = tables.audited()
    (copy,) = [one for one in found if one.kind.startswith("duplicate")]
    assert (copy.kind, copy.experiment) == ("duplicate-table", "summary")
    assert "All 32 means of the scores equal those of the metrics table of recall" in copy.reason
    assert where(marked) == cells("summary", [name.lower() for name in COLUMNS], IDS)


def test_a_copy_has_no_say_about_another() -> None:
    """M_all of summary is that of quality as well, and its metrics are those of recall: these have no vote on M_all."""
    tables = Tables()
    tables.m_all["original"] = scores("summary")
    tables.copy_sheet("adaptive", "summary", IDS)
    marked, found = tables.audited()
    copies = [(one.experiment, one.sheet) for one in found if one.kind == "duplicate-table"]
    assert copies == [("quality", ""), ("summary", "summary")]
    documents = [name.lower() for name in COLUMNS]
    assert where(marked) == cells("quality", documents, IDS) | cells("summary", [""], IDS)


def test_one_document_under_another_name() -> None:
    """A column that stands for two documents: nothing shows for which, so that by rule the first keeps it."""
    tables = Tables()
    for row in tables.m_all["adaptive"].values():
        row[3] = row[1]
    tables.sheets["adaptive"] = metrics_sheet(tables.m_all["adaptive"])
    marked, found = tables.audited()
    assert [(one.document, one.excludes) for one in found] == [("facebook", "score"), ("uber", "")]
    assert all("nothing shows which one is the copy" in one.reason for one in found)
    assert where(marked) == cells("recall", ["facebook", ""], IDS)


def test_the_table_with_more_questions_is_believed() -> None:
    """Where M_all of an experiment lacks scores that the metrics have, M_all of a contradicted row is the metrics'."""
    tables = Tables()
    tables.m_all["robust"]["UC_f3"] = [4.6, 5.05, 5.5, 5.95, 6.4]
    marked, _ = tables.audited()
    assert where(marked) == set()
    del tables.m_all["robust"]["SE_f1"]
    marked, found = tables.audited()
    documents = [name.lower() for name in COLUMNS]
    assert where(marked) == cells("robustness", documents, ["UC_f3"])
    assert all("M_all is taken from the metrics table of robustness" in one.reason for one in found)


def test_metrics_that_no_mean_can_come_to() -> None:
    """A mean over five documents goes in steps of a tenth; one that doesn't is named, and not left out for it."""
    tables = Tables()
    row = next(row for row in tables.sheets["robust"] if row[0] == "RC_f2")
    row[1] = round(float(str(row[1])) + 0.05, 2)
    marked, found = tables.audited()
    assert [one.kind for one in found] == ["unreachable-score", "tables-contradict", "tables-contradict"]
    assert f"Relevance {row[1]} can't be the mean of 5 values" in found[0].reason
    assert where(marked) == set()
