"""Reports on a corpus: by group of documents, what can be scored without annotated answers, and the desk's wave."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from commandline import call
from queues import work
from stores import score

from benchmarks.made_up import write_policies
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.answers.study import Study
from genaipa.reports import page
from genaipa.reports.chapters.cost import time_and_cost_table
from genaipa.reports.chapters.groups import GroupsChapter
from genaipa.reports.figures.figure import ALONE
from genaipa.reports.notable import notable_sentences
from genaipa.reports.report import Report
from genaipa.runs.run import load_run
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.current import CurrentScores
from genaipa.scoring.queue import ScoringQueue
from genaipa.scoring.store import open_or_create_store
from genaipa.scoring.waves import digest_prefix_used_in_waves, draw_and_save_waves, load_waves
from genaipa.workspace import find_workspace
from rubrics import typed
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commandline import Finished

    from genaipa.runs.run import Run


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run on a corpus of 20 documents, three questions about each; to be copied."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "genaipa.toml").touch()
    write_policies(folder / "c.jsonl", 20)
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        done = call("run", "-s", "extractive", "-e", "quality", "--limit", "3", "--documents", "c.jsonl")
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def run(asked: Path, tmp_path: Path) -> Run:
    """That run, in the working folder."""
    shutil.copytree(asked, tmp_path, dirs_exist_ok=True)
    return load_run("latest")


def gathered_of(run: Run, by: str = "") -> Study:
    """What a report on the run would be made of; `by` is a column of its documents' groups."""
    return gather_study_with_stored_scores(
        run.workspace, select_runs_and_apply_filters(run.workspace, [run.name]), document_group_column=by
    )


def sectors(run: Run) -> dict[str, str]:
    """Document → sector."""
    return {name: facts.groups["sector"] for name, facts in run.manifest.documents.items()}


def test_groups_are_told_apart(run: Run, genaipa: Callable[..., Finished]) -> None:
    """What came back and the leaderboard within each group are those of the group's documents alone."""
    of = sectors(run)
    values = {"shop": typed("11111")}
    with contextlib.closing(open_or_create_store(find_workspace())) as store:
        every = [(one, values.get(of[one.document], typed("33333"))) for one in run.answers()]
        store.append_new_events([score("Ada", one.digest, given) for one, given in every])
    gathered = gathered_of(run, "sector")
    tables = {one.name: one.data.set_index("group") for one in GroupsChapter().make(gathered, ALONE).tables}
    came = tables["groups-answers"]
    assert came["documents"].to_dict() == pd.Series(list(of.values())).value_counts().to_dict()
    assert (came["planned"] == 3 * came["documents"]).all()
    said = (
        gathered.make_tidy_table()
        .drop_duplicates("key")
        .assign(group=lambda rows: rows["document"].astype(str).map(of))
    )
    shop = said[said["group"] == "shop"].groupby("question", observed=True)["claims_silence"]
    assert came.loc["shop", "says_silent"] == pytest.approx(shop.apply(lambda told: (told == "yes").mean()).mean())
    means = tables["groups-quality"]["mean"].round(1).to_dict()
    assert means == {name: 100.0 if name == "shop" else 10.0 for name in set(of.values())}
    shown = json.loads(genaipa("leaderboard", "--by", "country", "--json").out)["groups"]
    assert {row["group"] for row in shown["rows"]} == {one.groups["country"] for one in run.manifest.documents.values()}
    unknown = genaipa("report", "--by", "sectr")
    assert (unknown.code, "did you mean 'sector'?" in unknown.err) == (2, True)


def test_metrics_without_annotated_answers(run: Run) -> None:
    """A report says how many documents have annotated answers, which metrics need them, and which texts are equal."""
    told = notable_sentences(gathered_of(run))
    (said,) = (said for said in told if "0 of 19 documents" in said)
    assert "genaipa policies annotate" in said
    assert any(said.startswith("c.jsonl: 20 documents, 1 with the same text") for said in told)


@pytest.mark.full
def test_long_and_empty_tables(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """A page counts its texts, leaves out columns without a value, and explains intervals in no chapter."""
    (tmp_path / "genaipa.toml").touch()
    write_policies(tmp_path / "c.jsonl", 30)
    asked = ("run", "-s", "extractive", "-e", "quality", "--limit", "2", "--documents", "c.jsonl")
    assert genaipa(*asked).code == 0
    run = load_run("latest")
    effort = time_and_cost_table(gathered_of(run))
    assert effort.main_columns == ["system", "experiment", "answers", "seconds"]
    assert {"cost_low", "m_all"} < set(effort.data.columns)
    with contextlib.closing(open_or_create_store(find_workspace())) as store:
        store.append_new_events([score("Ada", one.digest, typed("11111")) for one in run.answers()])
    gathered = gathered_of(run, "sector")
    report = Report.build(gathered)
    pictures = {figure.name: b"<svg/>" for chapter in report.chapters for figure in chapter.figures}
    shown = page.render_pages(report, pictures)["index.html"]
    assert "1 run, 1 system, 29 texts" in shown
    assert f"{len(report.tables['scores-by-question'].data)} rows in" not in shown
    groups = shown[shown.index('<section id="groups">') :]
    groups = groups[: groups.index("</section>")]
    assert "two intervals go with an average" not in groups
    assert '<details class="table" id="table-groups-quality">' in groups


def test_the_desk_scores_a_wave_of_a_corpus(run: Run) -> None:
    """A wave is drawn from a corpus's answers, its cases have their texts and sections, and the desk asks for it."""
    here = find_workspace()
    pool = AnswerPool(here, [run.folder])
    assert not pool.problems
    waves = draw_and_save_waves(here, pool.answers.values(), (), size_of_each_group=6, seed=0)
    with contextlib.closing(open_or_create_store(here)) as store:
        queue = ScoringQueue(
            pool,
            store,
            CurrentScores(store.read_numbered_events),
            ScoringPlan(per_answer=1, wave=waves.all_wave_digest_prefixes),
        )
        done = work(queue, "Ada", answers=6)
    assert len(set(done)) == 6
    for digest in done:
        case = pool.load_case(digest)
        assert case.document.text
        assert case.document.sections
        assert case.annotated is None
    assert gathered_of(run).table.query("counted")["in_wave"].eq("yes").all()


def test_a_wave_is_spread_over_groups(run: Run, genaipa: Callable[..., Finished]) -> None:
    """`genaipa sample --stratify` draws of each group its share; a column with too many groups is refused."""
    of = sectors(run)
    refused = genaipa("sample", "--stratify", "sector", "--size", "2")
    assert (refused.code, "can't include" in refused.err) == (2, True)
    done = genaipa("sample", "--stratify", "sector", "--size", "19")
    assert done.code == 0, done.err
    waves = load_waves(find_workspace())
    drawn = Counter(
        of[one.document]
        for one in run.answers()
        if digest_prefix_used_in_waves(one.digest) in waves.all_wave_digest_prefixes
    )
    assert drawn == Counter(of.values())
    assert "Earlier draws" not in done.out
    larger = sum(drawn.values()) > 19
    assert ("group is rounded up" in done.out) is larger
