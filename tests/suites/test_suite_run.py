"""Everything around a suite's run: how it ends, is listed, shown, estimated, asked by hand, packed, and checked."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import genaipa as front
from genaipa.reports.report import report
from genaipa_suites.data import SHIPPED

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

SAMPLE = SHIPPED / "policyqa" / "sample.json"
RUN = ("run", "--suite", "policyqa", "--split", "sample")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path) -> None:
    (tmp_path / "genaipa.toml").touch()


def done(finished: Finished) -> str:
    """The output of a command that worked."""
    assert finished.code == 0, finished.err
    return finished.out


def test_a_run_ends_with_its_figures(genaipa: Cli) -> None:
    """The first measures by their headings, what was scored 0, and the command for all; JSON has every measure."""
    out = done(genaipa(*RUN, "--system", "baseline/ceiling,baseline/empty"))
    assert "baseline/ceiling: F1 (SQuAD) 100 %; EM (SQuAD) 100 %" in out
    assert "baseline/empty: F1 (SQuAD) 0 %" in out
    assert "All figures: genaipa report" in out
    again = json.loads(done(genaipa(*RUN, "--system", "baseline/ceiling,baseline/empty", "--json")))
    ceiling, empty = again["suites"]
    assert (ceiling["figures"]["em"], empty["figures"]["em"], empty["figures"]["share_empty"]) == (100, 0, 100)


def test_a_run_is_listed_and_shown_by_its_items(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """With split, sample and wording; an item is found by its id."""
    monkeypatch.setenv("COLUMNS", "160")
    done(genaipa(*RUN, "--system", "baseline/ceiling", "--limit", "5", "--wording", "2"))
    listed = done(genaipa("runs"))
    assert "sample, 5 items, wording 2" in " ".join(listed.split())
    shown = done(genaipa("show", "latest"))
    assert "suite policyqa, sample, 5 items, wording 2, seed 0" in shown
    (item,) = set(re.findall(r"sample-\d+", shown.splitlines()[-3]))
    assert '{"answer": ' in done(genaipa("show", "latest", item))
    assert "did you mean 'sample-" in genaipa("show", "latest", "sample-99").err


def test_an_estimate_takes_right_replies(genaipa: Cli) -> None:
    """Their length, and not that of an answer to a question about a whole policy; each call is one item."""
    out = done(genaipa(*RUN, "--system", "openai/gpt-4o-mini", "--estimate"))
    assert "initialization" not in out
    assert int(re.search(r"Assumes (\d+) output tokens per reply", out)[1]) < 60  # type: ignore[index]
    assert "Total: 20 calls" in out


def test_a_web_chat_is_asked_by_hand(genaipa: Cli) -> None:
    """Each item in a chat of its own; fenced JSON counts, other words do not; examples can't be pasted."""
    run = (*RUN, "--system", "manual/chat", "--limit", "2")
    done_with = genaipa(*run)
    assert done_with.code == 3
    (sheet,) = Path("runs").glob("*/sheets/*.replies.txt")
    assert "open one, and paste that question" in sheet.with_name(sheet.name.replace("replies", "messages")).read_text()
    replies = iter(('```json\n{"answer": "no such words"}\n```', "I would rather not."))
    sheet.write_text(re.sub(r"(?m)^@@@@@ message .*$", lambda found: f"{found[0]}\n{next(replies)}", sheet.read_text()))
    out = done(genaipa("collect", "latest"))
    assert "(2 answers; 1 unparsable)" in out
    assert "examples" in genaipa(*RUN, "--system", "manual/chat", "--shots", "2").err


@pytest.mark.full
def test_the_sample_is_packed_with_its_figures(genaipa: Cli) -> None:
    """Its items are ours: whoever unpacks it gets the very same tables."""
    done(genaipa(*RUN, "--system", "baseline/best-overlap"))
    done(genaipa("pack", "-o", "x.zip"))
    out = done(genaipa("unpack", "x.zip", "there"))
    assert re.search(r"Rebuilt [1-9]\d+ table files, identical to the packed ones", out)


def test_changed_items_are_found(genaipa: Cli) -> None:
    """By `validate --data`, which names the file; prompts of suites are checked as well."""
    done(genaipa(*RUN, "--system", "baseline/empty"))
    assert "Everything is fine." in done(genaipa("validate", "--data"))
    (items,) = Path("runs").glob("*/suites/policyqa/items.json")
    items.write_text(items.read_text().replace("Tidepost", "Tidepast"))
    Path("prompts/suites").mkdir(parents=True)
    Path("prompts/suites/policyqa-1.jinja").write_text("{% if %}")
    Path("prompts/suites/policyq-1.jinja").write_text("{{ text }}")
    found = json.loads(genaipa("validate", "--data", "--json").out)
    assert {Path(one["path"]).name for one in found["findings"]} == {items.name, "policyqa-1.jinja", "policyq-1.jinja"}


def test_a_workspaces_prompts_take_the_shipped_ones_place(genaipa: Cli) -> None:
    """By their names: a wording of a suite, and the words of a probe."""
    Path("prompts/suites").mkdir(parents=True)
    Path("prompts/suites/policyqa-2.jinja").write_text("Mine: {{ question }}")
    Path("prompts/suites/probe-no-context.jinja").write_text("(nothing)")
    asked = (*RUN, "--system", "extractive", "--dry-run", "--limit", "1")
    assert "Mine: " in done(genaipa(*asked, "--wording", "2"))
    assert "Mine: " not in done(genaipa(*asked))
    assert "(nothing)" in done(genaipa(*asked, "--probe", "no-context"))


def test_a_notebook_asks_a_suite() -> None:
    """By its name as the task; the frame has items, predictions and scores."""
    frame = front.run("baseline/ceiling", task="policyqa", split="sample", limit=5).to_frame()
    assert list(frame["score"]) == [1.0] * 5
    assert frame["item"].str.startswith("sample-").all()
    assert frame["prediction"].str.contains("verbatim").all()


def test_a_pull_says_what_to_do_next(genaipa: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name the sets are named; a file that is another's is refused; import has nothing of a suite."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    assert "genaipa get genaipabench or genaipa get policyqa" in genaipa("get").err
    assert "its published figures" in genaipa("get", "policyqa", "--runs").err
    Path("other/data").mkdir(parents=True)
    shutil.copy(SAMPLE, "other/data/dev.json")
    refused = genaipa("get", "policyqa", "--from", "other")
    assert (refused.code, "5de6a619" in refused.err, "suites/policyqa/" in refused.err) == (2, True, True)


def test_pulled_data_are_asked(genaipa: Cli, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terms stand in the pull and in the run; the next step that a pull names works."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))
    out = done(genaipa("get", "policyqa", "--from", shared / "data"))
    assert "Terms: its texts and spans are from OPP-115" in out
    following = re.search(r"Next: genaipa (.*)", out)[1].split()  # type: ignore[index]
    assert following[:5] == ["run", "--suite", "policyqa", "--split", "dev"]
    asked = genaipa(*following, "--limit", "5")
    assert "PolicyQA: its texts and spans are from OPP-115" in asked.err
    assert "(5 answers" in done(asked)


def test_a_split_that_is_not_here_names_those_that_are(genaipa: Cli) -> None:
    """What is said of one file alone is no remedy for another; a misspelt one is the option's fault, and no file's."""
    refused = genaipa("run", "--suite", "policyqa", "--split", "test", "--system", "baseline/empty")
    assert (refused.code, "train.json" in refused.err) == (2, False)
    assert refused.err.rstrip().endswith(". Available splits: sample.")
    misspelt = genaipa("run", "--suite", "policyqa", "--split", "vaild", "--system", "baseline/empty")
    assert (misspelt.code, misspelt.err) == (2, "genaipa: --split 'vaild': PolicyQA has test, dev, train, sample.\n")
    # All of the parts are missing, and none has a split of its own to offer.
    whole = genaipa("run", "--suite", "privacyglue", "--system", "scripted").err
    assert whole.rstrip().endswith("The split sample has made-up items of all suites.")
    assert "Splits that are here" not in whole
    examples = genaipa("run", "--suite", "policyqa", "--split", "sample", "--shots", "1", "--system", "scripted")
    assert "leave out the shots, or choose a published split" in examples.err


def test_a_baseline_of_another_suite_is_no_misspelling(genaipa: Cli) -> None:
    """The suite's own are listed, and the nearest is named only where it is near without what all have in common."""
    assert "; known: baseline/best-overlap, baseline/ceiling" in genaipa(*RUN, "--system", "baseline/tfidf").err
    assert "did you mean 'baseline/empty'" in genaipa(*RUN, "--system", "baseline/emty").err


def test_what_takes_long_is_said_before(genaipa: Cli) -> None:
    """A baseline that learns; one that does not learn says nothing."""
    run = ("run", "--suite", "policyie", "--split", "sample", "--system")
    assert "PolicyIE: baseline/tfidf is trained first on the split sample" in genaipa(*run, "baseline/tfidf").err
    assert "trained" not in genaipa(*run, "baseline/majority").err


def test_a_system_without_json_is_told_before(genaipa: Cli) -> None:
    """Who asks the baseline of the paper's questions, under whatever name, is told what to ask in its place."""
    Path("systems.yaml").write_text("systems: {quotes: {system: extractive}}\n")
    Path("genaipa.toml").touch()
    said = genaipa(*RUN, "--system", "extractive,quotes,baseline/empty", "--dry-run").err
    assert (
        "PolicyQA: extractive, quotes can only quote text, which is not JSON, so every reply will be unparsable" in said
    )
    assert "; ask baseline/best-overlap instead" in said
    for plain in (("--system", "baseline/empty"), ("--system", "extractive", "--probe", "continuation")):
        assert "unparsable" not in genaipa(*RUN, *plain, "--dry-run").err


def test_a_figure_of_errors_defines_their_types(genaipa: Cli) -> None:
    """Beneath the figure and the table: what makes an answer too long, too short, overlapping or elsewhere."""
    done(genaipa(*RUN, "--system", "baseline/best-overlap"))
    notes = [table["note"] for table in report().as_json()["tables"].values()]
    assert any(
        "too short: the nearest reference contains the answer; overlapping: the two share words" in note
        for note in notes
    )


def test_the_leaderboard_names_systems_asked_other_items(genaipa: Cli) -> None:
    """A column is of one set of items; who was asked another sample is not left out without a word."""
    done(genaipa(*RUN, "--system", "scripted,extractive", "--limit", "10"))
    assert "Each column covers a single set of items" not in done(genaipa("leaderboard", "--explain"))
    done(genaipa(*RUN, "--system", "scripted/careful", "--limit", "5"))
    said = done(genaipa("leaderboard", "--explain"))
    assert "without these systems: PolicyQA, sample, a sample of 5 (scripted/careful)." in said


def test_an_option_of_the_other_kind_is_refused_by_its_name(genaipa: Cli) -> None:
    """As it is written on the command line, with what is to be done."""
    refused = genaipa(*RUN, "--system", "scripted", "--policy", "uber")
    assert "--policy is an option of the procedure; leave it out for the suite 'policyqa'." in refused.err
    refused = genaipa("run", "--split", "dev", "--system", "scripted")
    assert "--split is an option of suites; name a suite, or leave it out." in refused.err
