"""`run --batch` and `genaipa runs batches` at the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from batching import Batches, BatchServer, GoogleBatchServer
from running import TEXT, make_workspace
from servers import GoogleServer, OpenAIServer, reply
from size import size
from test_batches import SYSTEM, serving, system_of

from genaipa.archive.study_pack import iterate_packed_run_files
from genaipa.runs.batches import BATCHES
from genaipa.runs.selection import SelectedRun, find_run
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from commandline import Cli
    from servers import LoopbackServer

_BILLED = [(BatchServer, OpenAIServer), *size(small=[], soak=[(GoogleBatchServer, GoogleServer)])]
_PLAN = ("run", "-s", SYSTEM, "-p", "acme", "-i", "company-name", "--conversation", "independent")


@pytest.fixture(autouse=True)
def _address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of one's own, from which a model can be estimated that its vendor has retired by the day of the test."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")


def test_hand_in_leave_look_cancel_and_collect(genaipa: Cli) -> None:
    """What was done when it was called off is kept; the rest is asked when the run goes on."""
    make_workspace(questions=4)
    with serving(BatchServer()) as server:
        left = genaipa(*_PLAN, "--batch", "--no-wait")
        assert left.code == 3, left.err
        assert "1 batch with 4 questions is pending; 0 done; collect with: genaipa run --resume" in left.out
        assert "waiting" in genaipa("runs").out
        assert "1 batch, 0 of 4 done" in " ".join(genaipa("runs").out.split())
        assert json.loads(genaipa("runs", "--json").out)[0]["out"] == {"batches": 1, "questions": 4, "done": 0}
        (listed,) = json.loads(genaipa("runs", "batches", "--json").out)
        assert (listed["system"], listed["questions"], listed["state"]) == (SYSTEM, 4, "in_progress")
        assert "Collect with: genaipa run --resume" in genaipa("runs", "batches").out
        log = find_run(find_workspace(), "latest").path / BATCHES
        log.write_bytes(written := log.read_bytes() + b'{"step":')
        called = genaipa("runs", "batches", "cancel", "latest")
        assert (called.code, "1 batch cancelled" in called.out) == (0, True), called.err
        assert log.read_bytes() == written, "the run may be under way, and its process at this line"
        done = genaipa("run", "--resume", "latest")
        assert done.code == 0, done.err
        assert "No batches are pending." in genaipa("runs", "batches").out
        assert " out" not in genaipa("runs").out
    assert [len(held.names) for held in server.batches] == [4, 2]


def test_what_is_given_up_is_asked_again(genaipa: Cli) -> None:
    """Only by the user's word."""
    make_workspace(questions=2)
    with serving(BatchServer()) as server:
        assert genaipa(*_PLAN, "--batch", "--no-wait").code == 3
        assert "add --yes" in genaipa("runs", "batches", "forget", "latest").err
        refused = genaipa("run", "--resume", "latest", "--no-batch")
        assert (refused.code, "genaipa runs batches forget" in refused.err) == (1, True)
        assert "1 batch given up" in genaipa("runs", "batches", "forget", "latest", "--yes").out
        assert "interrupted" in genaipa("runs").out
        assert genaipa("run", "--resume", "latest", "--no-batch").code == 0
    folder = find_run(find_workspace(), "latest")
    source = SelectedRun(folder, folder.manifest(), (SYSTEM,))
    assert not [name for name, _ in iterate_packed_run_files(source, include_withheld_texts=True) if "batches" in name]
    assert (len(server.batches), len(server.requests)) == (1, 2)


def test_results_that_cannot_be_written_stay_at_the_provider(genaipa: Cli) -> None:
    """A sentence names the file; once it can be written, they are collected, and nothing is handed in again."""
    make_workspace(questions=2)
    with serving(BatchServer()) as server:
        assert genaipa(*_PLAN, "--batch", "--no-wait").code == 3
        in_the_way = find_run(find_workspace(), "latest").path / "batches"
        in_the_way.write_text("")
        done = genaipa("run", "--resume", "latest")
        assert done.code == 1
        assert "can't be written (File exists); the results stay at the provider." in done.err.splitlines()[-1]
        in_the_way.unlink()
        assert genaipa("run", "--resume", "latest").code == 0
        assert len(server.batches) == 1


def test_both_prices_are_estimated(genaipa: Cli) -> None:
    """What has no batches is told so."""
    make_workspace(questions=4)
    assert "In batches" not in genaipa(*_PLAN, "--estimate").out
    said = genaipa(*_PLAN, "--estimate", "--batch").out
    assert "In batches, at half price and without a cache: $" in said
    assert "by single calls with a warm cache: $" in said
    (row,) = json.loads(genaipa(*_PLAN, "--estimate", "--batch", "--json").out)["rows"]
    assert row["batch_cost"] == pytest.approx(row["cost"] / 2)
    plan = ("run", "-s", "extractive", "-p", "acme", "-i", "company-name")
    refused = genaipa(*plan, "--batch")
    assert (refused.code, "use single calls" in refused.err) == (2, True)
    refused = genaipa(*plan, "--no-wait")
    assert (refused.code, "add --batch" in refused.err) == (2, True)


@pytest.mark.parametrize("initialization", ["document", "summary-of-document"])
@pytest.mark.parametrize("option", ["--batch", "--estimate", "--no-wait"])
def test_questions_about_a_document_are_refused(genaipa: Cli, option: str, initialization: str) -> None:
    """In one sentence that says what is cheaper, before a run is begun."""
    make_workspace(questions=1)
    refused = genaipa("run", "-s", SYSTEM, "-p", "acme", "-i", f"company-name,{initialization}", "--batch", option)
    assert refused.code == 2
    assert "cost more in batches than as single calls" in refused.err.splitlines()[-1]
    assert not list(find_workspace().runs.glob("*"))


@pytest.mark.parametrize(("suite", "code"), [("privacyqa", 2), ("policyqa", 0)])
def test_a_suite_is_refused_where_its_items_share_a_document(genaipa: Cli, suite: str, code: int) -> None:
    """All questions of a policy follow it in PrivacyQA; in PolicyQA each has a segment of its own."""
    run = genaipa("run", "--suite", suite, "--split", "sample", "-s", SYSTEM, "--batch", "--estimate")
    assert (run.code, "cost more in batches" in run.err) == (code, code == 2), run.err


@pytest.mark.parametrize(("kind", "single"), _BILLED)
def test_what_is_billed_is_what_was_estimated(genaipa: Cli, kind: type[Batches], single: type[LoopbackServer]) -> None:
    """Within two percent: in batches without a cache, and by single calls with one."""
    make_workspace(questions=12, text=TEXT * 12)
    plan = ("run", "-s", system_of(kind), "-p", "acme", "--conversation", "independent", "--max-tokens", "50")

    def estimated(*options: str) -> Any:
        (row,) = json.loads(genaipa(*plan, *options, "--estimate", "--json").out)["rows"]
        return row

    def billed(server: LoopbackServer, *options: str) -> float:
        with serving(server):
            done = genaipa(*plan, *options, "--new", "-j", "1")
        assert done.code == 0, done.err
        folder = find_run(find_workspace(), "latest")
        return sum(record.cost or 0.0 for record in folder.read_records())

    said = "So. " * 50
    caching, plain = lambda _number, _body: reply(said), lambda _number, _body: reply(said, cached=0)
    batched, cached = ("-i", "company-name", "--batch"), ("-i", "document")
    assert billed(kind(script=plain), *batched) == pytest.approx(estimated(*batched)["batch_cost"], rel=0.02)
    assert billed(single(script=caching), *cached) == pytest.approx(estimated(*cached)["cached_cost"], rel=0.02)
