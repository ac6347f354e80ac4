"""`genaipa compare` as a person uses it, on real runs and a real store of scores."""

from __future__ import annotations

import contextlib
import csv
import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from commandline import call
from running import lines_of, write
from stores import GOOD, POOR, score

from genaipa.reports.comparison import gather_study_with_stored_scores
from genaipa.runs.selection import find_runs_by_system_or_run_name
from genaipa.scoring.store import ScoreStore
from genaipa.workspace import find_workspace
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

ASKED = ("--experiment", "quality", "--limit", "8", "--name", "both")


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


def refused(finished: Finished) -> str:
    """What a command said that could not do it, in a sentence."""
    assert finished.code == 2, finished.out
    assert "Traceback" not in finished.err
    return " ".join(finished.err.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of two systems about the shipped policy, nothing scored yet; each test has a copy."""
    folder = tmp_path_factory.mktemp("compared")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.chdir(folder)
        Path("genaipa.toml").touch()
        done(call("run", "-s", "extractive,scripted", "-p", "brindlecart", *ASKED))
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """That run in the working folder; its name."""
    monkeypatch.setenv("COLUMNS", "200")
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return next(path.name for path in Path("runs").iterdir() if path.is_dir())


def give_scores(run: str, most: int | None = None) -> None:
    """Score the answers of a run, at `most` so many: good ones to the extractive baseline, poor ones to all others."""
    records = [record for record in lines_of(Path("runs") / run / "answers.jsonl") if record["kind"] == "answer"]
    with contextlib.closing(ScoreStore.open_or_create("sqlite:///scores.db")) as store:
        store.append_new_events(
            [score("ada", r["digest"], GOOD if r["system"] == "extractive" else POOR) for r in records if r["digest"]][
                :most
            ]
        )


def test_rows_on_groups_are_left_to_all_where_nothing_can_be_tested(genaipa: Cli, run: str) -> None:
    """Every measure once, on all questions; --all shows those on groups, with the column that tells them apart."""
    give_scores(run, 12)
    short, whole = (done(genaipa("compare", "extractive", "scripted", *more)) for more in ((), ("--all",)))
    assert "too few questions to test" in short
    assert len(re.findall(r"(?m)^ M_all\b", short)) == 1
    assert len(re.findall(r"(?m)^ M_all\b", whole)) > 1
    assert "questions" in whole.partition("Primary")[0].splitlines()[-2]


def test_two_systems_are_compared(genaipa: Cli, run: str) -> None:
    """The finding in words, the rows, the same as JSON, by system and by RUN:SYSTEM.

    Rows on too few questions to test are counted, and shown with --all; machines get all of them anyway.
    """
    give_scores(run)
    short, whole = (done(genaipa("compare", "extractive", "scripted", *more)) for more in ((), ("--all", "--explain")))
    for number in ("76.50", "100.00", "23.50"):
        assert number in short.splitlines()[0]
    assert re.search(r"p = 0\.0078\b", whole)
    assert "Small n:" in whole
    found = json.loads(done(genaipa("compare", f"{run}:scripted", "latest:extractive", "--json")))
    assert found["documents"] == ["brindlecart"]
    first = found["rows"][0]
    assert (first["measure"], first["questions"], first["n"], first["pairs"]) == ("M_all", "all", 8, 8)
    assert (first["mean_a"], first["mean_b"]) == pytest.approx((23.5, 100))
    assert first["difference"] == pytest.approx(-76.5)
    assert first["low"] is first["policies_p"] is None
    assert first["p"] == pytest.approx(2 / 2**8)
    assert first["meaning"] == "B higher for these documents; few questions"
    assert found["differing"] == []
    untested = sum(row["test"] == "none" for row in found["rows"])
    told = re.compile(r"too few questions to test$", re.MULTILINE)
    assert len(told.findall(whole)) == untested > 0
    assert not told.search(short)
    assert f"{sum(row['questions'] != 'all' for row in found['rows'])} more rows: --all" in short


def test_a_question_of_the_set_that_was_not_asked_is_none_of_the_run(genaipa: Cli, run: str) -> None:
    """With --limit and --follow-up, a run has the questions that it asked, not those of its set."""
    give_scores(run)
    asked = ("run", "-s", "extractive", "-p", "brindlecart", *ASKED[:3], "3", "--follow-up", "Why?", "--name", "more")
    done(genaipa(*asked))
    differing = refused(genaipa("compare", "more", f"{run}:scripted"))
    assert "only more has 3 follow-ups." in differing
    assert f"only {run}:scripted has the questions" in differing
    assert "(8)" not in differing  # five that the shorter run did not ask
    # The follow-ups are an experiment of their own, which another experiment's comparison has nothing to do with.
    assert "follow-up" not in refused(genaipa("compare", "more", f"{run}:scripted", "-e", "quality"))
    sources = find_runs_by_system_or_run_name(find_workspace(), "more")
    texts = gather_study_with_stored_scores(find_workspace(), sources).questions.texts
    assert sorted(question.count("follow-up") for question in texts) == [0, 0, 0, 1, 1, 1]


def test_next_steps_name_the_workspace_that_was_named(
    genaipa: Cli,
    run: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With --workspace, a printed command that goes on from here has it, too; in the workspace itself it has none."""
    assert "Next: genaipa score  " in done(genaipa("leaderboard", "--workspace", "."))
    monkeypatch.chdir(tmp_path_factory.mktemp("away"))
    step = re.search(r"Next: genaipa (.*?) score  ", done(genaipa("leaderboard", "--workspace", tmp_path)))
    assert step, "the option is in the command"
    assert "2 systems" not in done(genaipa(*step[1].split(), "leaderboard"))
    why = refused(genaipa("compare", f"{run}:extractive", "scripted", "--workspace", tmp_path))
    assert why.endswith(f"with: genaipa --workspace {tmp_path} score")


# In small, test_cli_scores holds -o to the same rule.
@pytest.mark.full
def test_a_folder_keeps_the_files_that_are_in_it(genaipa: Cli, run: str) -> None:
    """With -o FOLDER, none of its files is overwritten unasked, the figure's included; --force overwrites them."""
    give_scores(run)
    command = ("compare", "extractive", "scripted", "-o", "out")
    done(genaipa(*command))
    for path in Path("out").iterdir():
        mine = Path(path.name)
        mine.mkdir()
        (mine / path.name).write_text("mine")
        assert f"{mine / path.name} already exists" in refused(genaipa(*command[:-1], path.name + "/"))
        assert [file.read_text() for file in mine.iterdir()] == ["mine"]
    done(genaipa(*command, "--force"))


def test_show_has_the_scores_and_the_annotated_answer(genaipa: Cli, run: str) -> None:
    """Beside each answer who scored it, with what and why; after the question's first, the right answer, once."""
    question = lines_of(Path("runs") / run / "answers.jsonl")[0]["coordinates"]["question"]
    before = done(genaipa("show", run, question))
    assert "scored by" not in before
    assert not Path("scores.db").exists()
    give_scores(run)
    out = done(genaipa("show", run, question))
    assert "scored by ada: relevance +1, accuracy +1" in out
    assert out.count("scored by ada") == 2
    assert out.count(f"--- annotated answer to {question}\n") == 1
    first = json.loads(done(genaipa("show", run, question, "--json")))[0]
    assert first["annotated"]["answer"]
    assert [event["analyst"] for event in first["scores"]] == ["ada"]


def test_names_are_near_misses_of_systems_too(genaipa: Cli, run: str) -> None:
    """A name that is neither a run's nor a system's gets the nearest of both, in every command that takes either."""
    assert run
    for command in (("compare", "extractve", "scripted"), ("report", "extractve"), ("leaderboard", "extractve")):
        assert "no system or run 'extractve': did you mean 'extractive'?" in refused(genaipa(*command))
    said = refused(genaipa("compare", "gpt-4.1", "claude-sonnet"))
    assert "known: both, extractive, latest, scripted." in said


@pytest.mark.full
def test_files_are_written(genaipa: Cli, run: str) -> None:
    """A file in the form that its name says; in a folder all forms, with the figure, the same bytes each time."""
    give_scores(run)
    done(genaipa("compare", "extractive", "scripted", "-o", "one/table.csv"))
    rows = list(csv.DictReader(Path("one/table.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert (rows[0]["measure"], rows[0]["n"]) == ("M_all", "8")
    for folder in ("two", "three"):
        done(genaipa("compare", "extractive", "scripted", "-o", folder))
    names = {path.name for path in Path("two").iterdir()}
    forms = {f"comparison.{form}" for form in ("csv", "tex", "json")} | {"comparison-groups.tex"}
    figures = ("differences", "differences-groups")
    assert names == forms | {f"{figure}.{form}" for figure in figures for form in ("csv", "png", "svg", "pdf")}
    for name in names:
        assert (Path("two") / name).read_bytes() == (Path("three") / name).read_bytes()
    printed = Path("two/comparison.tex").read_text(encoding="utf-8")
    assert "\\toprule" in printed
    assert "extractive is better" in printed
    assert "a comparison is written as" in refused(genaipa("compare", "extractive", "scripted", "-o", "table.docx"))


def test_formats_are_of_the_figures_in_a_folder(genaipa: Cli, run: str) -> None:
    """The formats that are asked for are written; an unknown one, and one without a folder, is a sentence."""
    give_scores(run)
    command = ("compare", "extractive", "scripted", "--formats")
    assert "There is no format 'slid': did you mean 'slide'?" in refused(genaipa(*command, "slid", "-o", "out"))
    for more in ((), ("-o", "one.tex")):
        assert "--formats is for the figures in a folder: add -o FOLDER." in refused(genaipa(*command, "pdf", *more))
    done(genaipa(*command, "svg", "-o", "out"))
    assert {path.suffix for path in Path("out").glob("differences*")} == {".svg", ".csv"}


def test_what_cannot_be_compared_is_said(genaipa: Cli, run: str) -> None:
    """Nothing scored, two systems in one name, the same twice, an unknown system or experiment: a sentence each."""
    assert "'extractive' has no score to compare yet" in refused(genaipa("compare", "extractive", "scripted"))
    assert not Path("scores.db").exists()
    give_scores(run)
    said = refused(genaipa("compare", run, "scripted"))
    assert f"has 2 systems; write which one is meant: {run}:extractive, {run}:scripted" in said
    assert "both mean extractive in" in refused(genaipa("compare", "extractive", f"{run}:extractive"))
    assert "did you mean 'scripted'?" in refused(genaipa("compare", "extractive", f"{run}:scriptde"))
    assert "did you mean 'quality'?" in refused(genaipa("compare", "extractive", "scripted", "-e", "qualty"))
    assert "has no score in recall" in refused(genaipa("compare", "extractive", "scripted", "-e", "recall"))


def test_what_a_rule_scores_is_compared_beside_unscored_answers(genaipa: Cli, run: str) -> None:
    """A suite of both is compared, and a line says that the answers of a run have no score."""
    assert run
    done(genaipa("run", "-s", "extractive,scripted", "--suite", "counterfactual", "--split", "sample"))
    compared = genaipa("compare", "extractive", "scripted", "-o", "own.csv")
    assert done(compared).startswith("extractive against scripted: suites")
    said = "Answers to questions are not compared: 'extractive' has no score to compare yet; score some answers with: "
    assert f"{said}genaipa score\n" in compared.err
    assert Path("own.csv").is_file()


def test_another_text_is_not_compared(genaipa: Cli, run: str) -> None:
    """Runs about different texts of one document are refused by name; --anyway, of no use, is not advised."""
    give_scores(run)
    write("policies/brindlecart.md", "# Brindlecart Privacy Policy\n\nWe collect nothing, and sell nothing.\n")
    done(genaipa("run", "-s", "extractive", "-p", "brindlecart", *ASKED[:-1], "changed"))
    changed = next(path.name for path in Path("runs").iterdir() if path.name.endswith("changed"))
    give_scores(changed)
    said = refused(genaipa("compare", f"{run}:scripted", changed))
    assert "the text of document brindlecart is not the same" in said
    assert "have no scored question in common" in said
    assert "anyway" not in said
    assert "have no scored question in common" in refused(genaipa("compare", f"{run}:scripted", changed, "--anyway"))


def test_the_leaderboard_s_next_step_compares_what_both_were_asked(genaipa: Cli, run: str) -> None:
    """Two systems of which one was asked fewer questions are compared by the printed command as it stands."""
    write("more.yaml", "default: See section 1.\n")
    done(genaipa("run", "-s", "scripted/more.yaml", "-p", "brindlecart", *ASKED[:3], "7"))
    give_scores(run)
    give_scores(next(path.name for path in Path("runs").iterdir() if path.name != run))
    shown = done(genaipa("leaderboard", "extractive", "scripted/more.yaml"))
    step = re.search(r"Next: genaipa (.*?)  ", shown)
    assert step, shown
    assert step[1].endswith(" --anyway")
    done(genaipa(*step[1].split()))
