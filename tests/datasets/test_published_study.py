"""The published study, imported and reported: every figure that its paper prints, held against what its data gives."""

from __future__ import annotations

import csv
import importlib
import os
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import filelock
import pandas as pd
import pytest
from commandline import call
from size import FULL
from words import Words, budgets

from genaipa.reports import page
from genaipa.reports.chapters import metrics
from genaipa.reports.report import Report
from rubrics import METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from genaipa.answers.study import Study
    from genaipa_study.study import PublishedStudy

DOCS = Path(__file__).parents[2] / "docs"
SHARED = DOCS.parents[1] / "shared"
REMEDY = "run: python docs/generate_reproduction.py --from ../shared/data/genaipabench"


def _from_docs(name: str) -> Any:
    """A module that stands beside the page that it writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS))
        return importlib.import_module(name)


numbers = _from_docs("published_numbers")
reproduction = _from_docs("generate_reproduction")
PRINTED = numbers.printed_numbers()
LOST = {
    "6.1-chatgpt-4": "06",
    "6.3-chatgpt-4": "04 06 09 14 16 17 22",
    "7-bard": "02",
    "B.1-chatgpt-4": "02 05 07",
    "B.1-bard": "01 07 09 10 12 13 14 17 18 20",
}
"""The figures that match only with the scores that the audit leaves out."""


def bring_study(workspace: Path) -> None:
    """Import the study; at full size as the page's generator does it, in processes that pull it once more."""
    if FULL:
        numbers.import_study(str(SHARED / "data" / "genaipabench"), workspace)
    else:
        workspace.mkdir()
        done = call("get", "genaipabench", "--runs", "--workspace", workspace)
        assert done.code == 0, done.err


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, pulled_cache: Path) -> Iterator[Study]:
    """The study, with what its audit leaves out put back in; imported once for all workers, and never changed."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "published-study"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GENAIPA_WORKSPACE", "GENAIPA_OFFLINE", "GENAIPA_DATABASE_URL"):
            patch.delenv(name, raising=False)
        patch.setenv("GENAIPA_CACHE", str(folder / "cache"))
        with filelock.FileLock(f"{folder}.lock"):
            if not folder.exists():
                shutil.copytree(pulled_cache, folder / "cache", copy_function=os.link)
                bring_study(folder / "workspace")
        yield numbers.imported_study(folder / "workspace")


@pytest.fixture(scope="module")
def compared(study: Study) -> dict[str, Any]:
    """Every printed figure by its id, with what the data gives for it."""
    return {one.printed.id: one for one in numbers.compare(study)}


@pytest.fixture(scope="module")
def audited(study: Study) -> dict[str, Any]:
    """The same without the scores that the audit leaves out."""
    return {one.printed.id: one for one in numbers.compare(study, audited=True)}


@pytest.fixture(scope="module")
def of_all(study: Study) -> list[Any]:
    """The figures over all systems, computed over those that are here."""
    return [one for one in numbers.compare(study, whole=False) if one.printed.system == "all"]


@pytest.mark.full
def test_each_figure_follows_from_the_data_or_is_known_not_to(compared: dict[str, Any]) -> None:
    """What matches does so to the printed digit, what differs still does, and what is absent gives no number."""
    assert len(compared) == len(PRINTED)
    wrong = [
        (printed.id, printed.what, printed.printed, compared[printed.id].found, compared[printed.id].verdict)
        for printed in PRINTED
        if compared[printed.id].verdict != printed.expect
    ]
    assert wrong == []


@pytest.mark.full
def test_the_page_is_current(compared: dict[str, Any], audited: dict[str, Any], study: Study) -> None:
    """docs/method/reproduction.md and .csv are what their generator writes now."""
    every, left = [*compared.values()], [*audited.values()]
    page = reproduction.page(every, left, numbers.copied_tables(study))
    assert reproduction.PAGE.read_text(encoding="utf-8") == page, REMEDY
    assert reproduction.ROWS.read_text(encoding="utf-8") == reproduction.rows(every, left), REMEDY


def test_the_page_counts_the_rows_of_its_table() -> None:
    """The counts at the head of docs/method/reproduction.md are those of reproduction.csv, and of the list."""
    with reproduction.ROWS.open(encoding="utf-8", newline="") as table:
        rows = Counter(row["verdict"] for row in csv.DictReader(table))
    page = reproduction.PAGE.read_text(encoding="utf-8")
    counts = re.search(r"Of (\d+) printed figures (\d+) follow .*?, (\d+) differ .*?and (\d+)\s+can't", page, re.DOTALL)
    assert counts is not None
    assert [int(count) for count in counts.groups()] == [
        rows.total(),
        *(rows[verdict] for verdict in ("match", "differs", "absent")),
    ]
    assert rows == Counter(printed.expect for printed in PRINTED)


@pytest.mark.full
def test_a_mean_over_the_systems_that_are_here_is_what_the_reason_says(of_all: list[Any]) -> None:
    """Where three systems are needed, the reason says what two give, and that is true."""
    said = {one.printed.id: re.search(r"alone give ([\d.]+\d|\d)", one.printed.why)[1] for one in of_all}
    digits = {one.printed.id: f".{len(said[one.printed.id].partition('.')[2])}f" for one in of_all}
    assert len(said) == 14
    assert {one.printed.id: format(one.found.number + 1e-9, digits[one.printed.id]) for one in of_all} == said


@pytest.mark.full
def test_figures_over_systems_say_what_they_are_made_of(of_all: list[Any]) -> None:
    """Beside a mean over systems stands that of each, beside a place the mean of each policy."""
    found = [one.found for one in of_all]
    parts = [dict(part.rsplit(" ", 1) for part in one.remark.rstrip(".").split(", ")) for one in found]
    means = [(one, part) for one, part in zip(found, parts, strict=True) if part.keys() == {"bard", "chatgpt-4"}]
    assert len(means) == 10
    for one, part in means:
        assert sum(map(float, part.values())) / 2 == pytest.approx(one.number, abs=0.011)
    assert [len(part) for part in parts if "airbnb" in part] == [5] * 4


@pytest.mark.full
def test_what_follows_only_cut_off_is_told(compared: dict[str, Any]) -> None:
    """Four figures are the computed ones with digits cut off."""
    cut = {name: one.found.remark for name, one in compared.items() if one.found and "cut off" in one.found.remark}
    assert cut == {
        "6.3-bard-05": "43.75, cut off and not rounded.",
        "B.1-chatgpt-4-04": "43.75, cut off and not rounded.",
        "B.1-chatgpt-4-06": "46.875, cut off and not rounded.",
        "B.1-bingai-01": "46.875, cut off and not rounded.",
    }
    assert {compared[name].verdict for name in cut} == {"match"}


@pytest.mark.full
def test_reading_levels_are_as_far_apart_as_is_said(compared: dict[str, Any]) -> None:
    """The range in the reason for each reading level is that of the differences."""
    grades = [one for one in compared.values() if one.printed.metric == "grade"]
    apart = [one.found.number - float(one.printed.printed) for one in grades]
    assert len(grades) == 6
    assert {one.printed.why.partition("here is ")[2] for one in grades} == {
        f"{min(apart):.1f} to {max(apart):.1f} higher."
    }


@pytest.mark.full
def test_scores_that_the_audit_leaves_out_change_some_figures(
    compared: dict[str, Any], audited: dict[str, Any]
) -> None:
    """Without what the audit excludes, figures that matched come out differently: the paper counted those scores."""
    lost = [name for name, one in compared.items() if one.verdict == "match" and audited[name].verdict != "match"]
    assert lost == [f"{place}-{number}" for place, numbers in LOST.items() for number in numbers.split()]
    gained = [name for name, one in audited.items() if one.verdict == "match" and compared[name].verdict != "match"]
    # About half of the questions: 4 of the 8 whose metrics are left.
    assert gained == ["B.1-bard-23"]


@pytest.mark.full
def test_m_all_and_metrics_of_a_question_rest_on_the_same_scores(study: Study, real: PublishedStudy) -> None:
    """Without what the audit excludes, M_all is what the five metrics come to, wherever all documents have both.

    But where the two contradict each other and neither holds a copy: there both are counted.
    """
    data = metrics.metrics_by_question_table(study.replace_scores_from_events(study.log.counted).table).data
    key = ["system", "experiment", "question"]
    by_rule = {
        (finding.system, finding.experiment, finding.question)
        for finding in real.findings
        if finding.kind == "tables-contradict" and " By rule, M_all is taken from " in finding.reason
    }
    contradicting = pd.DataFrame(sorted(by_rule), columns=key)
    data = data.merge(contradicting, on=key, how="left", indicator=True)
    assert (data["_merge"] == "both").sum() == 6 + 3 + 2
    data = data[data["_merge"] == "left_only"]
    whole = data[data["m_all_documents"].isin([0, 5])]
    implied = (whole[list(METRICS)].sum(axis=1, skipna=False) + 5) / 10 * 90 + 10
    assert (implied - whole["m_all"]).abs().max() < 0.06
    # Where an answer or a column of one document is wrong, there are no metrics, for they include it.
    fewer = data[data["m_all_documents"].isin([1, 2, 3, 4])]
    assert fewer[list(METRICS)].isna().all(axis=None)
    assert len(whole) + len(fewer) == len(data)
    left = fewer.groupby(["system", "experiment"]).size().to_dict()
    bard, chatgpt = "published/bard", "published/chatgpt-4"
    assert left == {(bard, "summary"): 24, (chatgpt, "quality"): 1, (chatgpt, "recall"): 32}


def test_the_list_is_complete_in_itself() -> None:
    """Each figure has an id of its own that names its section, and a reason where it needs one."""
    assert len({printed.id for printed in PRINTED}) == len(PRINTED)
    for printed in PRINTED:
        section = re.sub(r"^\d+, Table", "table", printed.section).replace(" ", "-")
        assert printed.id.startswith(f"{section}-{printed.system}-"), printed.id
        assert (printed.questions == "one") == bool(printed.question), printed.id
        assert printed.why or printed.expect == "match" or printed.system == "bingai", printed.id


@pytest.mark.full
def test_the_report_is_read_in_minutes(study: Study) -> None:
    """The page of a report on the study says which system is best and how sure that is, within its budget of words."""
    report, allowed = Report.build(study), budgets("report")
    shown = page.render_pages(report, dict.fromkeys(report.figures, b"<svg/>"))["index.html"]
    words = Words(shown)
    assert words.in_sight <= allowed["published study"]
    assert words.all <= allowed["folded"]
    (title,) = re.findall("<h1>(.*?)</h1>", shown)
    assert re.fullmatch(r"chatgpt-4 answers best: \d\d; bard \d\d", title)
    assert "for policies like these" in shown[shown.index("</h1>") :][:400]
