"""The published study as runs of a workspace, and its systems asked again."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from genaipabench_tree import IDS, repository, tree_of
from published_tree import COLUMNS, POLICIES, USER, faq_sheet, reply, study, user_sheet, workbook

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.errors import RunError, UsageError
from genaipa.files.spreadsheets import read_csv_records
from genaipa.runs.exclusions import read_exclusions
from genaipa.runs.folder import RunFolder
from genaipa.runs.imported import load_all_published_scores
from genaipa.runs.integrity import find_damage_in_run_folder
from genaipa.runs.records import answer_digest
from genaipa.runs.selection import find_run, list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.systems.published import NO_SUMMARY, read_recording
from genaipa.workspace import Workspace, find_workspace
from genaipa_study.findings import AUDIT, Finding
from genaipa_study.pull import pull
from genaipa_study.study import import_study_and_write_audit, write_study_recordings_and_list_problems
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from commandline import Finished

    from genaipa_study.layout import PublishedTree

    Cli = Callable[..., Finished]

EXPERIMENTS = ("quality", "robustness", "recall", "summary")
NAMES = {
    *(f"published-{s}-{e}-{o}" for s in ("chatgpt-4", "bard") for e in EXPERIMENTS for o in ("faq", "user")),
    *("published-chatgpt-4-regulation", "published-bard-regulation"),
}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def here() -> Workspace:
    """The working folder as a workspace."""
    Path("genaipa.toml").touch()
    return find_workspace()


@functools.cache
def faulty() -> MappingProxyType[str, bytes]:
    """The study with one answer missing, and one run about another company."""
    sheets = {name: user_sheet(name) for name in POLICIES}
    del sheets["uber"][5, 4]
    for row in range(77, 93, 2):
        for column in (3, 4, 5):
            sheets["facebook"][row, column] = reply("uber", "x", str(row), 1, column)
    return MappingProxyType(study() | {USER: workbook(sheets)})


def pulled_tree(files: Mapping[str, bytes]) -> PublishedTree:
    """A tree of these files and the small repository, pulled from a folder."""
    whole = repository() | dict(files)
    for path, content in whole.items():
        (Path("origin") / path).parent.mkdir(parents=True, exist_ok=True)
        (Path("origin") / path).write_bytes(content)
    tree = tree_of(whole)
    pull(origin="origin", tree=tree)
    return tree


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace into which the faulty study was imported, its cache in it; never changed by a test."""
    folder = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        patch.setenv("GENAIPA_CACHE", str(folder / "cache"))
        patch.chdir(folder)
        Path("genaipa.toml").touch()
        tree = pulled_tree(faulty())
        assert write_study_recordings_and_list_problems(tree) == []
        done = import_study_and_write_audit(tree, find_workspace())
    assert done.answers == {"published/bard": 1200, "published/chatgpt-4": 1199}
    assert done.scores == {"published/bard": 780, "published/chatgpt-4": 780}
    assert len(done.changed) == len(NAMES) + 1
    return folder


@pytest.fixture
def there(imported: Path) -> Workspace:
    """The workspace into which the faulty study was imported; only to be read."""
    return find_workspace(imported)


@pytest.fixture
def copied(imported: Path) -> Workspace:
    """The same as the working folder and this test's own cache, to be changed."""
    shutil.copytree(imported, Path(), dirs_exist_ok=True)
    return find_workspace()


# Import


def test_runs_of_the_study(there: Workspace) -> None:
    """Nine runs for each system, with fixed names, that read like any other run."""
    assert {folder.name for folder in list_run_folders_oldest_first(there)} == NAMES
    folder = find_run(there, "published-chatgpt-4-robustness-user")
    manifest, tally = folder.read_manifest_and_tally()
    assert (manifest.status, tally.totals().planned, tally.totals().answered) == ("complete", 360, 360)
    assert (manifest.spec.plan.experiment, manifest.spec.repetitions) == ("robustness", 3)
    assert manifest.spec.plan.wordings == ("paraphrase-1", "paraphrase-2", "paraphrase-3")
    record = next(r for r in folder.read_records() if r.key.endswith("uber|document|paraphrase-2|3|CA_u1"))
    assert record.reply == reply("uber", "Robustness Analysis", "CA_u1", 2, 3)
    assert record.digest == answer_digest(manifest.digests.documents["uber"], record.asked, record.reply)
    scores = load_all_published_scores(folder)
    assert {(score.experiment, score.question) for score in scores} == {
        ("robustness", question) for question in IDS if question.endswith("u1")
    }
    assert len(scores) == 8 * (len(COLUMNS) + 1)


def test_an_imported_run_lacks_nothing(there: Workspace) -> None:
    """A study's summaries and questions by name came without the beginning of their conversation: no damage."""
    folders = [RunFolder(there.runs / f"published-bard-{name}") for name in ("recall-faq", "summary-user")]
    assert [*itertools.chain(*map(find_damage_in_run_folder, folders))] == []


def test_a_missing_answer_is_a_failure(there: Workspace) -> None:
    """It is in the run as one that was not had, with the cell in which it should stand."""
    manifest, tally = find_run(there, "published-chatgpt-4-quality-user").read_manifest_and_tally()
    assert (manifest.status, tally.totals().failed, tally.totals().answered) == ("partial", 1, 119)
    failed = [r for r in find_run(there, "published-chatgpt-4-quality-user").read_records() if r.reply is None]
    assert failed[0].error is not None
    assert failed[0].error.message.endswith("ChatGPT-4_user-generated.xlsx, sheet 'uber', D5).")


def test_the_audit_lies_beside_what_it_is_about(there: Workspace) -> None:
    """Each run has the findings that concern it, the workspace has all; keys are those of the records."""
    whole = read_csv_records(there.home / "published/genaipabench-audit.csv", Finding)
    assert {finding.kind for finding in whole} == {"missing-answer", "other-company"}
    about = {name: read_csv_records(there.runs / name / AUDIT, Finding) for name in NAMES}
    assert sorted(name for name, found in about.items() if found) == [
        "published-chatgpt-4-quality-user",
        "published-chatgpt-4-summary-user",
    ]
    excluding = {name for name in NAMES if read_exclusions(RunFolder(there.runs / name), "answer")}
    assert excluding == {"published-chatgpt-4-summary-user"}
    out = read_exclusions(RunFolder(there.runs / "published-chatgpt-4-summary-user"), "answer")
    keys = {record.key for record in find_run(there, "published-chatgpt-4-summary-user").read_records()}
    assert len(out) == 24
    assert out.keys() <= keys


def test_scores_without_a_right_answer_are_left_out(there: Workspace) -> None:
    """Where every answer behind a score is about another company, the score says so."""
    folder = find_run(there, "published-chatgpt-4-summary-user")
    out = read_exclusions(folder, "score")
    left_out = {
        (score.document, out[score.document_question_exclusion_key].kind)
        for score in load_all_published_scores(folder)
        if score.document_question_exclusion_key in out
    }
    assert left_out == {("facebook", "other-company"), ("", "other-company")}
    assert len(out) == 8 * 2


@pytest.mark.full
def test_importing_twice_changes_nothing(copied: Workspace) -> None:
    """Every file stays as it is, byte for byte and to the minute; one that was lost comes back."""
    tree = tree_of(repository() | faulty())
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in copied.runs.rglob("*") if path.is_file()}
    assert import_study_and_write_audit(tree, copied).changed == []
    after = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in copied.runs.rglob("*") if path.is_file()}
    assert after == before
    (copied.runs / "published-bard-regulation" / "published-scores.csv").unlink()
    assert import_study_and_write_audit(tree, copied).changed == ["published-bard-regulation"]


def test_the_parts_that_were_shown_are_known(there: Workspace) -> None:
    """Answers cite parts: the conversations begin with those that the study showed the system."""
    folder = find_run(there, "published-bard-quality-faq")
    begun = next(c for c in folder.read_conversations() if c.document == "uber")
    shown = folder.read_introduction(begun.introduction)
    assert [message.content[:7] for message in shown] == ["Part 1:", "Part 2:"]
    assert list(find_run(there, "published-bard-recall-faq").read_conversations()) == []


def test_a_place_that_cannot_be_written_is_one_sentence(copied: Workspace) -> None:
    """Where a run's folder can't be made, as on a read-only disk, the file and the reason are told."""
    shutil.rmtree(copied.runs)
    copied.runs.mkdir()
    (copied.runs / "published-bard-quality-faq").write_text("")
    with pytest.raises(RunError, match=r"published-bard-quality-faq can't be written \(File exists\)\.$"):
        import_study_and_write_audit(tree_of(repository() | faulty()), copied)


def test_an_imported_run_is_not_the_latest(copied: Workspace) -> None:
    """`latest` is the newest run that was asked, where there is one."""
    asked = copied.runs / "20200101-000000-mine"
    asked.mkdir()
    (asked / "manifest.json").write_bytes((copied.runs / "published-bard-regulation" / "manifest.json").read_bytes())
    assert find_run(copied, "latest").name == asked.name


def test_what_was_not_pulled_can_not_be_imported(here: Workspace) -> None:
    """The sentence names the command that fetches it; documents alone are no study."""
    with pytest.raises(UsageError, match="genaipa get genaipabench"):
        import_study_and_write_audit(tree_of(study()), here)
    with pytest.raises(UsageError, match="genaipa get genaipabench"):
        import_study_and_write_audit(pulled_tree({}), here)


def test_import_command(genaipa: Cli) -> None:
    """Another dataset, and the study before it was pulled, are refused in a sentence."""
    unknown = genaipa("get", "genaipabnch", "--runs")
    assert (unknown.code, unknown.out) == (2, "")
    assert "did you mean 'genaipabench'?" in unknown.err
    missing = genaipa("get", "genaipabench", "--runs")
    assert (missing.code, missing.out) == (2, "")
    assert "fetch it with: genaipa get genaipabench" in missing.err


# In small, the tests above do the same to a small made-up study, test_published_study imports the real one.
@pytest.mark.full
@pytest.mark.usefixtures("pulled")
def test_import_what_was_pulled_then_ask_again(genaipa: Cli) -> None:
    """The whole way with the published files: what is imported, what the audit holds, and a complete replay."""
    first = json.loads(genaipa("get", "genaipabench", "--runs", "--json").out)
    assert {name: (len(s["runs"]), s["answers"], s["scores"]) for name, s in first["systems"].items()} == {
        "published/bard": (9, 1150, 780),
        "published/chatgpt-4": (9, 1199, 780),
    }
    assert first["audit"]["findings"] == {
        "other-company": 72,
        "missing-answer": 51,
        "tables-contradict": 56,
        "repeated-answer": 52,
        "lost-first-letter": 8,
        "annotation-wrong-part": 6,
        "other-question": 4,
        "duplicate-scores": 4,
        "unreachable-score": 2,
        "note-not-answer": 1,
        "duplicate-file": 1,
        "duplicate-table": 1,
        "annotation-copied": 1,
    }
    assert Path(first["audit"]["file"]).is_file()
    again = genaipa("get", "genaipabench", "--runs")
    assert "nothing changed" in again.out
    assert "4  duplicate-scores        3 of them excluded from analyses" in again.out
    assert "72  other-company           excluded from analyses" in again.out
    assert "genaipa report published/bard published/chatgpt-4" in again.out
    run = genaipa("run", "--system", "published/chatgpt-4,published/bard", "--policy", "uber,airbnb", "--json")
    assert run.code == 0, run.err


# Systems


def asked_again(genaipa: Cli, *more: str) -> tuple[Finished, list[dict[str, Any]]]:
    """A run of published/chatgpt-4 on uber with these flags, and its records."""
    finished = genaipa("run", "--system", "published/chatgpt-4", "--policy", "uber", *more)
    runs = sorted(Path("runs").glob("2*"))
    lines = (runs[-1] / "answers.jsonl").read_text(encoding="utf-8").splitlines() if runs else []
    return finished, [json.loads(line) for line in lines]


@pytest.fixture
def _recorded(imported: Path) -> None:
    # Links are enough: what writes into the cache puts a new file in an old one's place.
    shutil.copytree(imported / "cache", "cache", copy_function=os.link)
    Path("genaipa.toml").touch()


@pytest.mark.usefixtures("_recorded")
def test_the_plain_command_ends_complete(genaipa: Cli) -> None:
    """It asks the study's questions in the three ways that were recorded, says so, and every answer is the recorded."""
    finished, records = asked_again(genaipa)
    assert finished.code == 0, finished.err
    assert "asking the questions of the published study (genaipabench)" in finished.err
    assert "using the 3 recorded initializations (company-name, document, summary-of-document)" in finished.err
    answers = [record for record in records if record.get("kind") == "answer"]
    assert len(answers) == 96
    headings = {"document": "Original", "company-name": "Adapt", "summary-of-document": "Summary Analysis"}
    for record in answers:
        at = record["coordinates"]
        heading, question = headings[at["initialization"]], at["question"]
        if heading == "Adapt":
            heading = "Adaptive Analysis" if question.endswith("u1") else "Adaptability Analysis"
        assert record["reply"] == reply("uber", heading, question)
    assert [record["reply"] for record in records if record.get("kind") == "summary"] == [NO_SUMMARY]


@pytest.mark.usefixtures("_recorded")
def test_other_prompts_are_refused(genaipa: Cli) -> None:
    """A recording answered the prompts of its study: it is asked with no others, and what it repeats says so."""
    for flags in (("--prompts", "guided"), ("--experiment", "prompting")):
        refused = genaipa("run", "-s", "published/chatgpt-4", "-p", "uber", *flags)
        assert refused.code == 2
        assert "answered the unpublished prompts of its study" in refused.err
    finished, _ = asked_again(genaipa, "-i", "document")
    assert "its answers respond to the prompts of the study, not to these prompts" in finished.err
    run = find_run(find_workspace(), "latest").name
    found = gather_study_with_stored_scores(find_workspace(), select_runs_and_apply_filters(find_workspace(), [run]))
    assert set(found.table["prompts"]) == {"published"}


@pytest.mark.usefixtures("_recorded")
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("-i", "summary-by-name"), "did not record a summary of a document that was not shown"),
        (("-q", "policy", "-i", "document"), "with this wording"),
        (("-i", "document", "-r", "2", "--conversation", "independent"), "an answer to uber, document, original, 2, "),
        (("-e", "robustness", "--conversation", "independent"), "an answer to uber, document, paraphrase-"),
        (("-i", "document", "--acknowledge"), "did not record how the system acknowledged an introduction"),
    ],
)
def test_what_was_not_recorded_is_refused(genaipa: Cli, flags: tuple[str, ...], said: str) -> None:
    """It is a failure with its reason in the run, never an answer from somewhere else."""
    finished, records = asked_again(genaipa, *flags)
    assert finished.code == 3
    failed = [record for record in records if record["status"] == "failed"]
    assert failed
    assert all(said in str(record["error"]) for record in failed)
    assert "Asking again can't help: the recording lacks these answers" in finished.out
    assert "--resume" not in finished.out


@pytest.mark.usefixtures("_recorded")
def test_another_text_under_the_same_name_is_refused(genaipa: Cli) -> None:
    """The recording is about the text that the study showed."""
    Path("policies").mkdir()
    Path("policies/uber.txt").write_text("Uber. Another text altogether.")
    Path("policies/uber.yaml").write_text("company: Uber\n")
    finished, records = asked_again(genaipa, "-i", "document", "-i", "summary-of-document", "-p", "twitter")
    assert finished.code == 3
    refused = [str(r["error"]) for r in records if r["status"] == "failed"]
    assert len(refused) == 2
    assert all("did not record answers about this version of uber" in why for why in refused)
    kept = [r for r in records if r["status"] == "answered" and r["kind"] == "answer"]
    assert len(kept) == 64, "those that were recorded are had all the same"
    assert "Asking again can't help: the recording lacks these answers" in finished.out


@pytest.mark.usefixtures("_recorded")
def test_published_systems_are_listed(genaipa: Cli) -> None:
    """Those whose recording is here are ready and free; the other one says what to fetch."""
    rows = {row["name"]: row for row in json.loads(genaipa("systems", "--json").out)}
    assert rows["published/bard"]["ready"]
    assert rows["published/bard"]["price"] == {"input": 0.0, "output": 0.0}
    assert rows["published/bingai"]["missing"] == ["genaipa get genaipabench"]
    doctor = json.loads(genaipa("doctor", "--json").out)
    row = next(row for row in doctor["data"] if row["what"].strip() == "its systems")
    here = "some of their answers are missing; the source had only published/chatgpt-4, "
    assert (row["state"], row["found"]) == ("missing", here + "published/bard")
    assert row["remedy"] == "genaipa get genaipabench --from DIR|URL, with a complete source"
    refused = genaipa("run", "--system", "published/brad", "--policy", "uber")
    assert (refused.code, refused.out) == (2, "")
    assert "did you mean 'published/bard'?" in refused.err
    unpulled = genaipa("run", "--system", "published/bingai", "--policy", "uber")
    assert (unpulled.code, unpulled.out) == (1, "")
    assert "genaipa get genaipabench" in unpulled.err


@pytest.mark.usefixtures("_recorded")
def test_recordings_are_made_once_and_again_when_lost() -> None:
    """The recording holds every answer that is there, and is written anew only where it is missing or the data new."""
    tree = tree_of(repository() | faulty())
    made = read_recording("published/chatgpt-4")
    assert len(made.answers) == 1199
    path = Path(str(tree.folder.parent.parent)) / "data" / "published" / "chatgpt-4.json"
    written = path.stat().st_mtime_ns
    write_study_recordings_and_list_problems(tree)
    assert path.stat().st_mtime_ns == written
    path.unlink()
    write_study_recordings_and_list_problems(tree)
    assert read_recording("published/chatgpt-4") == made
    other = pulled_tree(study() | {USER: workbook({"uber": user_sheet("uber") | {(1, 9): "odd"}})})
    write_study_recordings_and_list_problems(other)
    assert len(read_recording("published/chatgpt-4").answers) == 480 + 144
    assert faq_sheet("uber")[5, 3] in {answer.reply for answer in read_recording("published/chatgpt-4").answers}
