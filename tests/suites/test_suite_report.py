"""Reports on suites: their figures, what is beside them, and how sure they are."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from size import size

from genaipa.errors import DataError
from genaipa.reports.report import report
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.stats.shares import share_interval
from genaipa.workspace import find_workspace
from genaipa_suites.catalog import load_suite_classes
from genaipa_suites.data import SHIPPED, load_crosswalk_and_category_names, read_published_rows
from genaipa_suites.material import Item, Outcome, ParsedReply
from genaipa_suites.measure import Measure, f1, macro_f1, micro_f1, precision, ratio, recall
from genaipa_suites.piextract import LAYERS
from genaipa_suites.report import tables
from genaipa_suites.report.card import choose_card_boards
from genaipa_suites.report.merit import JackknifeUnits, OutcomeCounts
from genaipa_suites.report.results import ScoredBoard, group_results_into_boards, read_results_and_problems
from genaipa_suites.report.tables import main_scores_table, order_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from commandline import Finished

    Cli = Callable[..., Finished]

FIXED = """
import json
import re
from genaipa.systems.base import Readiness, Reply

class Fixed:
    name, words = "fixed:Fixed", "own"

    async def start(self): return Readiness()
    async def close(self): pass
    async def count_tokens(self, text): return None

    async def reply(self, messages, settings):
        if settings.json_schema is None: return Reply("and so on")
        said = {"answer": "your email address", "intent": "data-security-protection", "slots": []}
        return Reply(json.dumps({name: said[name] for name in settings.json_schema["properties"]}))
"""
TURNING = """
import collections, json
from genaipa.systems.base import BuiltinSystem, Reply

class Turning(BuiltinSystem):
    def __init__(self):
        super().__init__(name="turning")
        self.asked = collections.Counter()

    async def reply(self, messages, settings):
        self.asked[messages[-1].content] += 1
        first = self.asked[messages[-1].content] == 1
        return Reply(json.dumps({"labels": ["Data Security" if first else "Policy Change"]}))

    async def reply_to_last_message(self, messages, settings):
        raise NotImplementedError
"""
HIT = Measure("hit", "hit", "Share of right ones.", lambda one: (float(bool(one.parsed.prediction)), 1.0))


def outcomes(*rows: tuple[str, str, object], repetition: int = 1) -> list[Outcome]:
    """Outcomes of (item, policy, prediction)."""
    return [Outcome(Item(name, {}, None, cluster=policy), ParsedReply(said), repetition) for name, policy, said in rows]


def counts(found: Sequence[Outcome]) -> OutcomeCounts:
    """Their counts, with the policies of these items."""
    return OutcomeCounts(found, JackknifeUnits(one.item for one in found))


def test_an_interval_is_over_policies_with_all_their_items() -> None:
    """Forty items of four policies that agree throughout have the interval of four values, not of forty."""
    rows = [(str(n), f"p{n % 4}", n % 4 < 2) for n in range(40)]
    found = counts(outcomes(*rows)).estimate_measure(HIT)
    # The mean of 1, 1, 0, 0 by Student's t with 3 degrees of freedom is 0.5 plus or minus 0.919: they say nothing.
    assert found.value == 0.5
    assert found.low == pytest.approx(1 - found.high)
    assert 0 < found.low < 0.01
    alone = counts(outcomes(*((name, "", said) for name, _, said in rows))).estimate_measure(HIT)
    assert (alone.low, alone.high) == pytest.approx((0.331, 0.669), abs=0.001)
    assert (found.policies, alone.policies, alone.items) == (4, 0, 40)


def test_an_interval_holds_the_truth_for_policies() -> None:
    """With five policies in about 94 of 100 studies, be they of equal or very unequal sizes."""
    chance = np.random.default_rng(3)
    for sizes in ([12] * 5, [40, 10, 5, 5, 5]):
        held = 0
        for _ in range(size(small=150, soak=2_500)):
            # The share of hits of a policy is uniform between .2 and .8: over policies it is a half.
            rows = [
                (f"{policy}-{n}", str(policy), bool(chance.random() < share))
                for policy, share in enumerate(chance.uniform(0.2, 0.8, 5))
                for n in range(sizes[policy])
            ]
            found = counts(outcomes(*rows)).estimate_measure(HIT)
            held += found.low <= 0.5 <= found.high
        assert held / size(small=150, soak=2_500) > size(small=0.88, soak=0.92), sizes


def test_below_three_policies_there_is_no_interval() -> None:
    """Of one or two policies nothing is known about others; the note says so."""
    for policies in ("one", "one"), ("one", "two"):
        found = counts(outcomes(("1", policies[0], True), ("2", policies[1], False)))
        assert isnan(found.estimate_measure(HIT).low)
        assert isnan(found.estimate_excess_over(found, HIT).low)
        assert "No interval" in JackknifeUnits(one.item for one in found.outcomes).population_note


def test_a_mean_over_labels_is_over_those_that_are_there() -> None:
    """Gold itself gets 100, also of a sample and without an item, where a rare label is lacking."""
    measure = Measure("m", "m", "", lambda one: one.parsed.prediction, macro_f1)
    rows = [(str(n), f"p{n}", (1.0, 1.0, 1.0, *((1.0, 1.0, 1.0) if not n else (0.0, 0.0, 0.0)))) for n in range(4)]
    found = counts(outcomes(*rows)).estimate_measure(measure)
    assert (found.value, found.high) == (1, 1)
    assert 0.3 < found.low < 0.5, "as of a share of four items: none of four wrong is not surely none"


def test_a_measure_of_whole_things_is_a_share_and_any_other_is_bent() -> None:
    """Shares by precision and recall, too; a mean of F1 lies in its interval, which leaves no scale; as repetitions."""
    rows = [(str(n), f"p{n % 5}", n % 12 > 0) for n in range(60)]
    share = counts(outcomes(*rows)).estimate_measure(HIT)
    assert (share.low, share.high) == share_interval([11] * 5, [12] * 5)
    part = Measure("p", "p", "", lambda one: (float(one.parsed.prediction), 1.0, 1.0), precision)
    assert (counts(outcomes(*rows)).estimate_measure(part).low) == share.low
    again = [*outcomes(*rows), *outcomes(*rows, repetition=2)]
    assert counts(again).estimate_measure(HIT) == replace(share, spread=0.0), "no item is more for being asked again"
    half = Measure("m", "m", "", lambda one: (1.0 if one.parsed.prediction else 0.5, 1.0))
    mean = counts(outcomes(*rows)).estimate_measure(half)
    assert 0.85 < mean.low < mean.value < mean.high < 1


def test_a_difference_of_shares_is_not_sure_of_few_policies() -> None:
    """Where one policy alone tells two systems apart, or none, there is a width, and no verdict."""
    rows = [(str(n), f"p{n % 4}", True) for n in range(48)]
    other = [(name, policy, policy != "p3") for name, policy, _ in rows]
    for second, value in ((rows, 0.0), (other, 0.25)):
        both = counts(outcomes(*rows)).estimate_excess_over(counts(outcomes(*second)), HIT)
        assert both.value == value
        assert both.low < -0.02
        assert both.high > value + 0.1


def test_repetitions_are_averaged_and_their_spread_is_the_population_s() -> None:
    """All right, then half right: the mean of both figures, and half their distance."""
    rows = [("1", "a", True), ("2", "b", True)], [("1", "a", True), ("2", "b", False)]
    found = counts([*outcomes(*rows[0]), *outcomes(*rows[1], repetition=2)]).estimate_measure(HIT)
    assert (found.value, found.spread, found.items) == (0.75, 0.25, 2)


@pytest.mark.parametrize("value", [ratio, f1, precision, recall, micro_f1, macro_f1])
def test_all_rows_at_once_are_as_the_measure_itself(value: Callable[[Sequence[float]], float]) -> None:
    """The short cut over all policies at once gives what the measure's own function gives, one by one."""
    chance = np.random.default_rng(1)
    rows = [(str(n), f"p{n % 4}", tuple(map(float, chance.integers(0, 4, 6)))) for n in range(40)]
    found = outcomes(*rows)
    quick = Measure("m", "m", "", lambda one: one.parsed.prediction, value)
    slow = replace(quick, value=partial(value))
    assert counts(found).estimate_measure(quick) == counts(found).estimate_measure(slow)
    assert counts(found).estimate_measure(quick).value == pytest.approx(quick.compute(found))


def test_a_difference_is_over_the_same_policies() -> None:
    """Two systems that move together from policy to policy differ surely; items of one side alone don't count."""
    rows = [(str(n), f"p{n % 15}", n % 15 > 8) for n in range(150)]
    better = [(name, policy, said or int(name) < 75) for name, policy, said in rows]
    units = JackknifeUnits(one.item for one in outcomes(*rows))
    apart = OutcomeCounts(outcomes(*better[:120]), units).estimate_excess_over(
        OutcomeCounts(outcomes(*rows), units), HIT
    )
    assert apart.items == 120
    assert apart.value == pytest.approx(45 / 120)
    assert apart.low > 0


def test_groups_with_numbers_are_in_their_order() -> None:
    """Answer lengths come by their numbers, other groups by their sizes."""
    lengths = ["over 30 words", "16 to 30 words", "1 to 3 words", "4 to 8 words"]
    assert order_groups((name, 1) for name in lengths) == [*lengths[2:], *lengths[1::-1]]
    assert order_groups([("few", 1), ("many", 9)]) == ["many", "few"]


def test_the_cross_walk_knows_the_categories_of_every_suite() -> None:
    """Every category that PolicyQA and OPP-115 have is in it; a category of questions that is unknown is refused."""
    from genaipa_suites.opp115 import LABELS
    from genaipa_suites.policyqa import CATEGORIES

    walk, names = load_crosswalk_and_category_names(find_workspace())
    assert set(CATEGORIES) | set(LABELS) <= walk.question_categories_by_practice.keys()
    assert {code for codes in walk.question_categories_by_practice.values() for code in codes} == names.keys()


def test_a_cross_walk_of_ones_own_is_checked(tmp_path: Path) -> None:
    """A workspace's file takes the shipped one's place; a wrong category names the file and the entry."""
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "crosswalk.yaml").write_text(
        "title: Mine\nabout: Mine.\ncategories:\n  Data Security:\n    genaipabench: [SEC]\n"
    )
    with pytest.raises(DataError, match=r"crosswalk\.yaml.*Data Security.*'SEC' is not a category"):
        load_crosswalk_and_category_names(find_workspace(tmp_path))


def test_every_set_of_items_is_printed(genaipa: Callable[..., Finished]) -> None:
    """Two samples of a suite: the terminal has the main table of each, and says once what both mean.

    In a pipe, a line says that something goes on.
    """
    for limit in ("5", "6"):
        done = genaipa(
            "run", "--suite", "opp115", "--split", "sample", "--system", "baseline/majority", "--limit", limit
        )
        assert done.code == 0
    reported = genaipa("report", "--formats", "svg", "-o", "out", "--explain")
    assert reported.code == 0
    for limit in (5, 6):
        assert f"\nOPP-115, sample, a sample of {limit}\n" in f"\n{reported.out}"
    assert reported.out.count("Percentages; the table of column meanings defines each measure.") == 1
    assert reported.err.count("\n") == 1


@pytest.mark.parametrize("name", load_suite_classes())
def test_published_rows_are_of_the_measures_that_a_suite_has(name: str) -> None:
    """Every published row names a split, a source and measures of its suite."""
    for row in read_published_rows(load_suite_classes()[name]):
        assert row.source
        assert row.values


def test_a_report_on_a_suite_has_its_figures_and_nothing_else(genaipa: Cli) -> None:
    """The run's rows have every measure in full, beside floors and ceiling; no chapter on scores is missed."""
    asked = genaipa("run", "--suite", "policyqa", "--split", "sample", "--system", "baseline/best-overlap")
    assert asked.code == 0, asked.err
    made = report().as_json()
    assert made["absent"] == []
    rows = {row["system"]: row for row in made["tables"]["policyqa-sample"]["rows"]}
    assert rows["baseline/best-overlap"]["kind"] == "baseline"
    assert rows["baseline/empty"]["f1_squad"] == 0
    assert rows["baseline/ceiling"]["f1_squad"] > rows["baseline/best-overlap"]["f1_squad"] > 0
    names = [measure.name for measure in load_suite_classes()["policyqa"].measures]
    assert all(rows["baseline/best-overlap"][name] is not None for name in names)
    assert rows["baseline/best-overlap"]["f1_squad"] != round(rows["baseline/best-overlap"]["f1_squad"], 2)
    assert {"policyqa-sample-by-category", "policyqa-measures"} <= made["tables"].keys()
    assert any("made up" in sentence for sentence in made["notable"])


def test_a_run_closes_with_the_figures_of_its_report(genaipa: Cli) -> None:
    """Over repetitions that differ the figures are means of each one's, in both: pooled, macro F1 would be higher."""
    Path("turning.py").write_text(TURNING)
    args = ("--suite", "opp115", "--split", "sample", "--system", "turning:Turning", "--repetitions", "2", "--json")
    (closed,) = json.loads(genaipa("run", *args).out)["suites"]
    made = json.loads(genaipa("report", "latest", "--json", "--formats", "png").out)
    rows = {row["system"]: row for row in made["tables"]["opp115-sample"]["rows"]}
    assert closed["figures"]["macro_f1"] > 0
    for name, figure in closed["figures"].items():
        assert figure == pytest.approx(rows["turning:Turning"][name], rel=1e-12), name
    # The page begins with its result.
    found = re.search(r"<h1>(.*?)</h1>", (Path(made["folder"]) / "index.html").read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    assert found[1].endswith(f": turning:Turning micro F1 {next(iter(closed['figures'].values())):.0f} %")


def test_probes_show_a_gap_and_categories_meet_in_one_walk(genaipa: Cli) -> None:
    """Whoever answers alike with and without the text has a gap of 0; two suites meet under one category."""
    Path("fixed.py").write_text(FIXED)
    for suite, *more in (
        ("policyqa",),
        ("policyqa", "--probe", "no-context"),
        ("policyqa", "--wording", "2"),
        ("policyie",),
    ):
        asked = genaipa("run", "--suite", suite, "--split", "sample", *more, "--system", "fixed:Fixed")
        assert asked.code == 0, asked.err
    tables = report().as_json()["tables"]
    gap = tables["policyqa-gaps"]["rows"][0]
    assert (gap["probe"], gap["items"], gap["gap"]) == ("no-context", 20, 0)
    assert gap["plain"] == gap["probed"] > 0
    met = {(row["suite"], row["category"]) for row in tables["suites-by-category"]["rows"]}
    assert {("PolicyQA", "SE"), ("PolicyIE", "SE")} <= met
    card = {row["system"]: row for row in tables["card"]["rows"]}
    assert card["fixed:Fixed"]["policyqa"] == gap["plain"]
    spread = tables["policyqa-sample-wordings"]["rows"][0]
    assert (spread["wording_1"], spread["wording_3"], spread["over_wordings"]) == (gap["plain"], None, 0)
    # Of PolicyIE's two ceilings that which a reader of the sentence alone can reach.
    assert card["ceiling"]["policyie"] < 100


def test_json_in_prose_is_said_with_the_strict_figure(genaipa: Cli) -> None:
    """The closing line counts such replies; the table has their share, and the figure without them."""
    Path("chatty.py").write_text(FIXED.replace("Reply(json.dumps(", 'Reply("Sure: " + json.dumps('))
    done = genaipa("run", "--suite", "policyqa", "--split", "sample", "--system", "chatty:Fixed")
    assert "(20 answers; 20 read in prose)" in done.out, done.out + done.err
    (row,) = (row for row in report().as_json()["tables"]["policyqa-sample"]["rows"] if row["system"] == "chatty:Fixed")
    assert (row["in_prose"], row["strict"], row["unparsable"]) == (1, 0, 0)
    assert row["f1_squad"] > 0


def test_a_continuation_has_no_parts_of_its_suite(genaipa: Cli) -> None:
    """Asked how its texts go on, the suite scores the words that go on alone, in the run and in its report."""
    Path("fixed.py").write_text(FIXED)
    long = "We " + "really " * 30 + "keep data ."
    Path("genaipa.toml").touch()
    for layer, folder in LAYERS.items():
        place = Path("suites/piextract", folder, "mine.conll03")
        place.parent.mkdir(parents=True, exist_ok=True)
        tags = (f"B-{layer}" if word == "data" else "O" for word in long.split())
        place.write_text("".join(f"{word} _ _ {tag}\n" for word, tag in zip(long.split(), tags, strict=True)))
    asked = ("run", "--suite", "piextract", "--split", "mine", "--probe", "continuation")
    done = genaipa(*asked, "--system", "fixed:Fixed")
    assert done.code == 0, done.err
    assert not [name for name in report().as_json()["tables"] if "by-layer" in name]


def test_two_baselines_are_compared_and_listed(genaipa: Cli) -> None:
    """A comparison is of the same items, the leaderboard has the card; without a common item it is refused."""
    for name in ("policyqa", "opp115"):
        first = "best-overlap" if name == "policyqa" else "majority"
        systems = ("--system", f"baseline/{first}", *(("--system", "baseline/empty") if name == "policyqa" else ()))
        assert genaipa("run", "--suite", name, "--split", "sample", *systems).code == 0
    row = json.loads(genaipa("compare", "baseline/best-overlap", "baseline/empty", "--json").out)["rows"][0]
    assert row["difference"] == pytest.approx(row["a"] - row["b"])
    assert row["difference_low"] > 0
    assert row["meaning"] == "A is higher"
    refused = genaipa("compare", "baseline/best-overlap", "baseline/majority")
    assert (refused.code, "no suite items" in refused.err) == (2, True)
    card = json.loads(genaipa("leaderboard", "--json").out)["suites"]
    systems = {one["system"]: one for one in card["rows"]}
    assert systems["baseline/best-overlap"]["policyqa"] == pytest.approx(row["a"])
    assert systems["baseline/best-overlap"]["opp115"] is None
    assert {"best floor", "ceiling", "people"} <= systems.keys()


def test_a_run_without_its_items_is_left_out(genaipa: Cli) -> None:
    """A run that was passed on without its items is named, and is no report by itself."""
    assert genaipa("run", "--suite", "policyqa", "--split", "sample", "--system", "baseline/empty").code == 0
    (kept,) = Path().glob("runs/*/suites/policyqa/items.json")
    kept.unlink()
    said = genaipa("report", "latest")
    assert (said.code, "its folder lacks the items that were asked" in said.err) == (2, True)
    assert "is left out" in genaipa("leaderboard").out


def test_files_of_ones_own_are_never_beside_published_figures(genaipa: Cli) -> None:
    """The published split's name makes no published items of them; examples before them make no other items either."""
    Path("genaipa.toml").touch()
    place = Path("suites/opp115")
    place.mkdir(parents=True)
    (place / "test_dataset.csv").write_text("We tell you of changes.,Policy Change\nWe lock doors.,Data Security\n")
    (place / "train_dataset.csv").write_text("We count visits.,First Party Collection/Use\n")
    for more in ((), ("--shots", "1")):
        assert genaipa("run", "--suite", "opp115", "--system", "extractive", *more).code == 0
    made = report().as_json()
    rows = [row for row in made["tables"]["opp115-test-own"]["rows"] if row["kind"] in ("system", "published")]
    assert [(row["kind"], row["how"]) for row in rows] == [
        ("system", "zero-shot, wording 1"),
        ("system", "1 shot, wording 1"),
    ]
    assert any("test_dataset.csv" in sentence and "your own files" in sentence for sentence in made["notable"])
    for kept in Path().glob("runs/*/suites/opp115/items.json"):
        kept.write_text(kept.read_text().replace('"own"', '"was_own"'))
    rows = report().as_json()["tables"]["opp115-test"]["rows"]
    assert [row["how"] for row in rows if row["kind"] == "published" and "whole split" not in row["how"]]
    for kept in Path().glob("runs/*/manifest.json"):
        kept.write_text(kept.read_text().replace('"split": "test"', '"split": "test", "limit": 2'))
    rows = report().as_json()["tables"]["opp115-test-2"]["rows"]
    assert {row["how"].startswith("of the whole split; ") for row in rows if row["kind"] == "published"} == {True}


def test_two_samples_of_one_size_have_a_table_each(genaipa: Cli) -> None:
    """Other items are another table; the card takes a whole split before a sample of more systems."""
    for seed in ("1", "2"):
        args = ("--suite", "policyqa", "--split", "sample", "--limit", "5", "--seed", seed, "--system", "extractive")
        assert genaipa("run", *args).code == 0
    tables = report().as_json()["tables"]
    assert tables["policyqa-sample-5"]["title"] != tables["policyqa-sample-5-items-2"]["title"]
    Path("fixed.py").write_text(FIXED)
    args = ("--suite", "policyqa", "--split", "sample", "--system", "fixed:Fixed")
    assert genaipa("run", *args, "--limit", "5", "--seed", "1").code == 0
    assert _on_the_card() == "PolicyQA, sample, a sample of 5"
    assert genaipa("run", *args[:-1], "extractive").code == 0
    assert _on_the_card() == "PolicyQA, sample"


def _on_the_card() -> str:
    """The title of the items that the card has of the one suite that was asked."""
    here = find_workspace()
    (chosen,) = choose_card_boards(
        [
            ScoredBoard(board)
            for board in group_results_into_boards(
                read_results_and_problems(here, select_runs_and_apply_filters(here, []))[0]
            )
        ]
    )
    return chosen.board.title


def test_policyies_baselines_have_parts_and_types_of_errors(genaipa: Cli) -> None:
    """On the sample: floors and ceilings are runs; the report has parts and types of errors."""
    names = ("majority", "gold-intent", "ceiling")
    asked = [part for name in names for part in ("-s", f"baseline/{name}")]
    done = genaipa("run", "--suite", "policyie", "--split", "sample", *asked, "--json")
    assert done.code == 0, done.err
    here = find_workspace()
    (scored,) = [
        ScoredBoard(board)
        for board in group_results_into_boards(
            read_results_and_problems(here, select_runs_and_apply_filters(here, []))[0]
        )
    ]
    rows = {row["system"].removeprefix("baseline/"): row for row in main_scores_table(scored).data.to_dict("records")}
    found = [(rows[name]["intent_accuracy"], rows[name]["em_tagger_type_ii"]) for name in names]
    assert found == [pytest.approx(pair) for pair in ((600 / 21, 0), (100, 400 / 15), (2000 / 21, 1400 / 15))]
    errors = {row["system"]: row for row in tables.error_kinds_table(scored).data.to_dict("records")}
    assert errors["baseline/majority"]["missing slot"] == 73
    assert errors["baseline/majority"]["wrong intent"] == 15
    by_intent = tables.measures_by_item_part_table(scored, "intent").data.to_dict("records")
    intents = {row["group"]: row for row in by_intent if row["kind"] == "floor"}
    assert intents["Other"]["intent_f1"] == pytest.approx(100 * 2 * 6 / 27)


def test_published_items_are_packed_whole_or_not_at_all(genaipa: Cli) -> None:
    """Other splits than the sample are others' texts: the run is named, and nothing is written."""
    Path("genaipa.toml").touch()
    Path("suites/policyqa").mkdir(parents=True)
    shutil.copy(SHIPPED / "policyqa/sample.json", "suites/policyqa/mine.json")
    asked = genaipa("run", "--suite", "policyqa", "--split", "mine", "--system", "baseline/empty", "--name", "own")
    assert asked.code == 0, asked.err
    refused = genaipa("pack", "-o", "x.zip")
    assert refused.code == 2
    assert "own asks about items of the suite policyqa (mine)" in refused.err
    assert not Path("x.zip").exists()


def test_a_repetition_that_was_broken_off_is_left_out(genaipa: Cli) -> None:
    """Two items of a second repetition would move the mean as far as all items of the first; the report says so."""
    args = ("--suite", "policyqa", "--split", "sample", "--system", "baseline/best-overlap", "--repetitions", "2")
    assert genaipa("run", *args).code == 0
    before = report().as_json()["tables"]["policyqa-sample"]["rows"][0]
    (answers,) = Path().glob("runs/*/answers.jsonl")
    answers.write_text("".join(answers.read_text().splitlines(keepends=True)[:22]))
    made = report().as_json()
    after = made["tables"]["policyqa-sample"]["rows"][0]
    assert (before["f1_squad"], before["repetitions"]) == (pytest.approx(after["f1_squad"]), 2)
    assert (after["repetitions"], after["missing"]) == (1, 18)
    assert any("baseline/best-overlap 2" in sentence for sentence in made["notable"])
