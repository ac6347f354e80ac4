"""PrivacyGLUE: its means, its tests, its agreement, and its seven tasks as one."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers import OpenAIServer, reply
from test_suite_wire import Asked, golden

from genaipa.runs.folder import RunFolder
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.tasks.catalog import make_task
from genaipa.workspace import find_workspace
from genaipa_suites.catalog import SUITES, suites_of_task
from genaipa_suites.material import Outcome
from genaipa_suites.piextract import LAYERS
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.privacyglue import (
    ROWS,
    TASKS,
    GlueRow,
    PairCategory,
    compare_systems_in_row,
    compute_mean_and_deviations,
    compute_means,
    most_frequent_agreement_of_each_example,
    pair_category_shares,
    published_encoders,
    smallest_one_sided_mann_whitney_p,
    stars_for_beating_every_rival_or_empty,
)
from genaipa_suites.privacyglue.examples import make_examples_with_correctness
from genaipa_suites.report.glue import make_glue_chapter
from genaipa_suites.report.results import ScoredBoard, group_results_into_boards, read_results_and_problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished
    from servers import Behaviour

    from genaipa.tasks.base import Task
    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

    Cli = Callable[..., Finished]

RUN = ("run", "--suite")


def test_printed_rows_give_the_printed_means() -> None:
    """Over 14 rows all fifteen means of Table 3 come out to the printed decimal; over 7 tasks they do not."""
    names = ("arithmetic", "geometric", "harmonic")
    for encoder in published_encoders():
        over = compute_means(encoder.values_by_row)
        assert over.covers_all_rows
        printed = [getattr(encoder.means, name) for name in names]
        assert [round(getattr(over, name), 1) for name in names] == printed, encoder.system
        first = encoder.compute_means(ROWS[::2])
        assert not first.covers_all_rows
        assert first.name == "mean of 7 of the 14 rows"
        assert [round(getattr(first, name), 1) for name in names] != printed
    # The printed deviations are rounded, so that a 0.0 among RoBERTa's leaves no geometric mean of its own.
    for encoder in published_encoders():
        over = compute_means({row: encoder.deviations[row.name] for row in ROWS})
        assert over.arithmetic == pytest.approx(encoder.means_of_deviations.arithmetic, abs=0.06), encoder.system
        assert math.isnan(over.geometric) == (encoder.system == "RoBERTa")


def test_a_zero_breaks_two_means_and_is_named() -> None:
    """Geometric and harmonic mean are not defined with a zero, and the note names its row."""
    over = compute_means(dict.fromkeys(ROWS, 50.0) | {GlueRow("piextract", "micro_f1"): 0.0})
    assert over.arithmetic == pytest.approx(50 * 13 / 14)
    assert math.isnan(over.geometric)
    assert math.isnan(over.harmonic)
    assert "PI-Extract micro F1 is 0" in over.note
    assert compute_means({}).note == "There are no rows."
    assert compute_means({ROWS[0]: math.nan, ROWS[1]: 3.0}).rows == (ROWS[1],)


def test_spread_is_the_populations_and_the_samples() -> None:
    """The population's SD is the paper's; the sample's is there beside it, and not for one repetition."""
    found = compute_mean_and_deviations([1.0, 2.0, 3.0, 4.0])
    assert (found.mean, found.number) == (2.5, 4)
    assert found.population == pytest.approx(math.sqrt(1.25))
    assert found.sample == pytest.approx(math.sqrt(5 / 3))
    assert math.isnan(compute_mean_and_deviations([1.0]).sample)
    assert compute_mean_and_deviations([1.0]).population == 0
    assert math.isnan(compute_mean_and_deviations([1.0, math.nan]).mean)


def test_smallest_p_is_known_beforehand() -> None:
    """Few repetitions can't reach a level; smallest p for 2, 3, 4, 5 and 10 per side are those known."""
    assert [round(smallest_one_sided_mann_whitney_p(n, n), 3) for n in (1, 2, 3, 4, 5)] == [
        0.5,
        0.167,
        0.05,
        0.014,
        0.004,
    ]
    assert smallest_one_sided_mann_whitney_p(10, 10) == pytest.approx(9.1e-5, abs=1e-6)


def test_stars_need_every_other_beaten() -> None:
    """A system has stars only at the level at which it beats all others; equal repetitions give none."""
    high, low, middle = [0.9, 0.91, 0.92, 0.93, 0.94], [0.1, 0.2, 0.3, 0.4, 0.5], [0.8, 0.85, 0.9, 0.905, 0.99]
    row = ROWS[0]
    over_low, over_middle = (
        compare_systems_in_row(row, "a", high, "b", low),
        compare_systems_in_row(row, "a", high, "c", middle),
    )
    assert stars_for_beating_every_rival_or_empty([over_low]) == "**"
    assert over_middle.p > 0.05
    assert stars_for_beating_every_rival_or_empty([over_low, over_middle]) == ""
    same = compare_systems_in_row(row, "a", [0.9] * 5, "b", low)
    assert same.p == pytest.approx(1 / 252)  # scipy's approximation for ties is below it
    assert "temperature 0" in same.meaningless
    assert stars_for_beating_every_rival_or_empty([same]) == ""
    assert "single" in compare_systems_in_row(row, "a", [0.9], "b", [0.1]).meaningless


def test_agreement_is_the_most_frequent_outcome_of_all_pairs() -> None:
    """It equals a plain count over all pairs of repetitions in their order, ties to the outcome seen first."""
    draw = random.Random(4)
    for mine, theirs, number in ((1, 1, 9), (2, 2, 40), (3, 5, 40), (10, 10, 40)):
        first = [[draw.random() < 0.5 for _ in range(number)] for _ in range(mine)]
        second = [[draw.random() < 0.5 for _ in range(number)] for _ in range(theirs)]
        outcome = {(True, True): 0, (True, False): 1, (False, True): 2, (False, False): 3}
        expected = [
            Counter(outcome[a[n], b[n]] for a, b in itertools.product(first, second)).most_common(1)[0][0]
            for n in range(number)
        ]
        assert most_frequent_agreement_of_each_example(first, second) == expected
    found = pair_category_shares(
        most_frequent_agreement_of_each_example([[True, True, False, False]], [[True, False, True, False]])
    )
    assert found == dict.fromkeys(PairCategory, 0.25)
    with pytest.raises(ValueError, match="2 and 3 examples"):
        most_frequent_agreement_of_each_example([[True, True]], [[True, True, True]])


def _asked(genaipa: Cli, *options: str) -> Path:
    done = genaipa(*RUN, "privacyglue", *options, "--json")
    assert done.code == 0, done.err
    return Path(json.loads(done.out)["folder"])


def test_suites_asked_as_one_are_asked_as_they_are_alone(genaipa: Cli) -> None:
    """Each part's items, and so its table, are those of a run of that suite alone; records name their suite."""
    folder = RunFolder(_asked(genaipa, "--split", "sample", "--limit", "4", "-s", "extractive"))
    kept = folder.answers_path.read_text().splitlines(keepends=True)
    folder.answers_path.write_text("".join(kept[:2] + kept[-1:]))
    assert "continuing" in genaipa(*RUN, "privacyglue", "--split", "sample", "--limit", "4", "-s", "extractive").err
    assert len(folder.answers_path.read_text().splitlines()) == len(kept)
    assert genaipa(*RUN, "opp115", "--split", "sample", "--limit", "4", "-s", "extractive").code == 0
    records = list(folder.read_records())
    names = [name for name in dict.fromkeys(task.suite for task in TASKS) if name in SUITES]
    assert {record.coordinates["suite"] for record in records} == set(names)
    assert folder.manifest().planned == len(records) == 4 * len(names)
    here = find_workspace()
    found, problems = read_results_and_problems(here, select_runs_and_apply_filters(here, []))
    assert problems == []
    assert {result.name for result in found} == {*names}
    repeated = next(result for result in found if result.name == "opp115")
    assert (repeated.repetition_count, len(repeated.runs), repeated.missing_outcome_count) == (2, 2, 0)
    assert len({outcome.key for outcome in repeated.outcomes}) == 8
    assert {result.fault_and_missing_counts["unparsable"] for result in found} == {4, 8}
    assert [bool(part.texts_for_run_folder) for part in suites_of_task(_task(folder)).values()] == [True] * len(names)


def _task(folder: RunFolder) -> Task:
    return make_task(folder.manifest().spec, find_workspace(), folder)


def test_parts_without_data_are_left_out_and_named(genaipa: Cli) -> None:
    """A run asks what is here and says what is not, with the remedy; it goes on with what it began with."""
    assert "genaipa get policyqa" in genaipa(*RUN, "privacyglue", "-s", "baseline/ceiling").err
    Path("genaipa.toml").touch()
    own = Path("suites/opp115/test_dataset.csv")
    own.parent.mkdir(parents=True)
    own.write_text("We tell you of changes.,Policy Change\nWe lock our doors.,Data Security\n")
    folder = RunFolder(_asked(genaipa, "-s", "extractive"))
    assert (
        "PrivacyGLUE leaves out policyqa" in genaipa(*RUN, "privacyglue", "-s", "extractive", "--dry-run", "--new").err
    )
    own.unlink()
    task = _task(folder)
    assert list(suites_of_task(task)) == ["opp115"]
    assert task.count_planned_answers() == 2
    assert [note for note in task.notes if "without" in note] == []


def test_a_baseline_is_asked_where_it_is_one(genaipa: Cli) -> None:
    """A baseline asks the suites that have it; one that none has, or a mixture, or too many examples are refused."""
    assert "(20 answers of policyqa)" in genaipa(*RUN, "privacyglue", "--split", "sample", "-s", "baseline/empty").out
    folder = RunFolder(_asked(genaipa, "--split", "sample", "-s", "baseline/best-overlap"))
    assert {record.coordinates["suite"] for record in folder.read_records()} == {"policyqa"}
    cases = {
        ("-s", "baseline/whole-segmen"): "did you mean 'baseline/whole-segment'?",
        ("-s", "baseline/best-overlap", "-s", "extractive"): "baseline/best-overlap belongs only to policyqa",
        ("-s", "extractive", "--split", "dev"): "no split of privacyglue 'dev'",
        ("-s", "extractive", "--shots", "2"): "the sample of OPP-115 has no items left to show as examples",
    }
    for options, said in cases.items():
        refused = genaipa(*RUN, "privacyglue", "--split", "sample", *options)
        assert refused.code == 2, options
        assert said in refused.err, options


def _parts(split: str = "sample") -> dict[str, Suite]:
    spec = make_suite_run_spec("privacyglue", SuiteOptions(split), ("extractive",))
    return suites_of_task(make_task(spec, find_workspace()))


def _replied(part: Suite, reply: Callable[[Item], str]) -> list[Outcome]:
    return [Outcome(item, part.parse_reply(item, reply(item))) for item in part.material.items]


def _any_relevant(item: Item) -> str:
    return json.dumps({"sentences": item.gold["relevant"]})


def test_examples_are_right_by_the_gold_reply_and_wrong_by_a_fault() -> None:
    """Every example of every task is right where the gold reply was given, and none where it can't be read."""
    parts = _parts()
    for task in TASKS:
        if task.suite not in parts:
            continue
        part = parts[task.suite]
        known = _any_relevant if task.name == "privacy_qa" else part.gold_reply
        right, wrong = (_replied(part, reply) for reply in (known, lambda _: "well"))
        good, bad = (
            make_examples_with_correctness(task.name, part, right),
            make_examples_with_correctness(task.name, part, wrong),
        )
        # One of PolicyIE's sentences has two gold rows, of which one answer has one alone.
        assert [one.right for one in good].count(False) == (task.suite == "policyie"), task.name
        assert {one.right for one in bad} == {False}, task.name
        assert len({one.key for one in good}) == len(good)
        assert [(one.name, one.key) for one in good] == [(one.name, one.key) for one in bad]
        for row, name in zip(task.rows, task.measures, strict=True):
            measure = next(one for one in part.measures if one.name == name)
            values = [measure.compute(right), measure.compute(wrong)]
            assert values[1] < 0.5 < values[0] <= 1, row


@pytest.mark.full
def test_a_report_sets_systems_beside_each_other_and_the_papers_encoders(genaipa: Cli) -> None:
    """Rows, means, tests and agreement are in one chapter; the paper's encoders are averaged over a system's rows."""
    Path("genaipa.toml").touch()
    own = {
        f"piextract/{folder}/validation.conll03": f"We _ _ O\nsell _ _ O\nnames _ _ B-{layer}\n"
        for layer, folder in LAYERS.items()
    }
    for name, content in (own | {"opp115/test_dataset.csv": "We tell you of changes.,Policy Change\n"}).items():
        place = Path("suites", name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    _asked(genaipa, "-s", "extractive", "-s", "scripted", "--repetitions", "2")
    tables = json.loads(genaipa("report", "--json", "--formats", "png").out)["tables"]
    assert "published" not in {row["kind"] for row in tables["opp115-test-own"]["rows"]}
    assert "PrivBERT (paper)" not in tables["privacyglue-test-own-rows"]["rows"][0]
    # From here on as if they were the published ones.
    for kept in Path().glob("runs/*/suites/*/items.json"):
        kept.write_text(kept.read_text().replace('"own"', '"was_own"'))
    tables = json.loads(genaipa("report", "--output", "made", "--json", "--formats", "svg").out)["tables"]
    assert tables["privacyglue-test-rows"]["rows"][0]["PrivBERT (paper)"] == "82.1 ± 0.5"
    over = {(row["figure"], row["system"]): row["arithmetic"] for row in tables["privacyglue-test-means"]["rows"]}
    # Of the two tasks that were asked the one whose measure is the paper's: a tagger's words are no word pieces.
    part = "mean of 2 of the 14 rows"
    assert over[part, "PrivBERT (paper)"] == pytest.approx((82.1 + 87.2) / 2)
    assert over[part, "extractive"] == 0
    tested = tables["privacyglue-test-tests"]["rows"]
    assert {round(row["smallest"], 3) for row in tested} == {0.167}
    agreed = tables["privacyglue-test-agreement"]["rows"]
    assert {row["both"] + row["only_a"] + row["only_b"] + row["neither"] for row in agreed} == {100}
    assert Path("made/figures/privacyglue-test-agreement.svg").is_file()


def test_a_run_of_all_tasks_is_averaged_over_the_rows_that_it_has(genaipa: Cli) -> None:
    """Fewer than 14 rows are named so; floors are worked out; the paper's encoders are of other items than a sample."""
    _asked(genaipa, "--split", "sample", "-s", "extractive")
    here = find_workspace()
    sources = select_runs_and_apply_filters(here, [])
    every = [ScoredBoard(board) for board in group_results_into_boards(read_results_and_problems(here, sources)[0])]
    made = make_glue_chapter(sources, every)
    assert made is not None
    tables = {table.name: table.data.to_dict("records") for table in made.tables}
    there = [task for task in TASKS if task.suite in SUITES]
    sample = {row["system"]: row for row in tables["privacyglue-sample-means"]}
    assert "BERT (paper)" not in sample
    there = [task for task in there if not task.layers]
    assert sample["extractive"]["figure"] == f"mean of {2 * len(there)} of the 14 rows"
    assert sample["floors"]["arithmetic"] > sample["extractive"]["arithmetic"] == 0
    assert "privacyglue-sample-tests" not in tables
    assert make_glue_chapter(sources[:0], every) is None


def test_right_replies_through_an_sdk_fill_all_rows(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run asks every suite its own questions, and each reply is read by its own suite: all 14 rows are there."""
    parts = {name: Asked(name) for name in _parts()}
    replies = {name: golden(asked.suite) for name, asked in parts.items()}

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        for name, asked in parts.items():
            with contextlib.suppress(StopIteration):
                return reply(replies[name][asked.place(server, body)])
        raise AssertionError("no suite asks this")

    with OpenAIServer(behave, models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        monkeypatch.setenv("LOOP_API_KEY", "sk-made-up")
        folder = RunFolder(_asked(genaipa, "--split", "sample", "--limit", "3", "-s", "openai-api/loop/m"))
    here = find_workspace()
    sources = select_runs_and_apply_filters(here, [])
    made = make_glue_chapter(
        sources,
        [ScoredBoard(board) for board in group_results_into_boards(read_results_and_problems(here, sources)[0])],
    )
    assert made is not None
    rows = next(table.data for table in made.tables if table.name == "privacyglue-sample-3-rows")
    own = suites_of_task(_task(folder))
    expected = []
    for task in TASKS:
        right = _replied(own[task.suite], own[task.suite].gold_reply)
        measures = {one.name: one for one in own[task.suite].measures}
        expected += [100 * measures[name].compute(right) for name in task.measures]
    assert len(expected) == 14
    assert list(rows["openai-api/loop/m_mean"]) == pytest.approx(expected)
    assert min(expected) > 10
