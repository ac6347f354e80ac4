"""`genaipa run` and `genaipa show` as a person uses them."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from commandline import heeding
from running import KEY, SYSTEM, answers, lines_of, make_workspace, messages, texts_below, write
from servers import OpenAIServer, cut, failure, refusal, reply

from genaipa.execution.calls import REPLY_PLACEHOLDER
from genaipa.reports.significance import PUBLISHED
from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.scoring.rubric import M_ALL_WIDTH
from genaipa.stats.power import find_detectable_differences
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished
    from servers import Script

    Run = Callable[..., Finished]

QUALITY = ("run", "-s", SYSTEM, "-p", "acme", "-e", "quality", "--part-tokens", "60")
SLOW = """import asyncio
from pathlib import Path

from genaipa.systems.base import BuiltinSystem, Reply


class Slow(BuiltinSystem):
    words = "own"

    def __init__(self):
        super().__init__(name="slow")

    async def reply_to_last_message(self, messages, settings):
        with Path("asked").open("a") as asked:
            asked.write("one\\n")
        if Path("asked").read_text().count("\\n") == 3:
            Path("third").touch()
            await asyncio.sleep(60)
        return Reply("See section 1.")
"""
"""A system that lets its third question wait."""
PRICED = "systems:\n  loop: {system: openai-api/loop/m, price: {input: 10000, output: 10000, as_of: '2026-11-21'}}\n"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that takes one key, and a workspace with four questions."""
    make_workspace()
    with OpenAIServer(models=("m",), only=KEY) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", KEY)
        yield running


@pytest.fixture
def run(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line; no key is ever seen in what it prints or keeps, and nobody sees a traceback."""
    monkeypatch.setenv("COLUMNS", "200")

    def checked(*args: str, **more: Any) -> Finished:
        done = genaipa(*args, **more)
        for text in (done.out, done.err):
            assert KEY not in text
            assert "\x1b" not in text, "no terminal, no escape codes"
            assert "Traceback" not in text
        assert KEY not in texts_below(Path("runs"))
        return done

    return checked


def test_a_run(server: OpenAIServer, run: Run) -> None:
    """Exit code 0, a closing table on standard output, notes on standard error, and the next step."""
    done = run(*QUALITY)
    assert done.code == 0, done.err
    name = list_run_folders_oldest_first(find_workspace())[-1].name
    counting, begun, asking = done.err.splitlines()
    assert counting.startswith(f"{SYSTEM}: ")
    assert begun.startswith(f"run {name}: m on acme")
    assert "4 questions" in asking
    assert f"genaipa show {name}" in done.out
    assert str(Path("runs", name)) in done.out
    assert "document" in done.out


def test_run_as_json(server: OpenAIServer, run: Run) -> None:
    """With --json standard output is one JSON value, and everything else goes to standard error."""
    server.script = [refusal(), cut()]
    done = run(*QUALITY, "--json")
    said = json.loads(done.out)
    assert (said["status"], said["stopped"]) == ("complete", {})
    assert Path(said["folder"]).is_dir()
    (row,) = said["rows"]
    counts = {name: row[name] for name in ("planned", "answered", "refused", "truncated", "failed", "missing")}
    assert counts == {"planned": 4, "answered": 2, "refused": 1, "truncated": 1, "failed": 0, "missing": 0}
    assert row["cost"] is None
    again = json.loads(run(*QUALITY, "--json").out)
    assert again["rows"] == said["rows"]
    listed = json.loads(run("runs", "--json").out)
    assert [(one["run"], one["status"]) for one in listed] == [(said["run"], "complete")]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("-s", "gpt4", "-p", "acme"), "no system 'gpt4': did you mean 'gpt-6'?"),
        (("-s", SYSTEM, "-p", "acm"), "no policy 'acm': did you mean 'acme'?"),
        (("-s", SYSTEM, "-p", "acme", "--wording", "orignal"), "no wording 'orignal': did you mean 'original'?"),
        (("-s", SYSTEM, "-p", "acme", "-e", "qualty"), "no experiment 'qualty': did you mean 'quality'?"),
        (("-s", SYSTEM, "-p", "acme", "-i", "documnt"), "no initialization 'documnt': did you mean 'document'?"),
        (("-s", SYSTEM, "-p", "acme", "-q", "polcy"), "no question set 'polcy': did you mean 'policy'?"),
        (("-s", SYSTEM, "-p", "acme", "--conversation", "share"), "did you mean 'shared'?"),
        (("-s", SYSTEM, "-p", "acme", "-e", "regulation"), "is about a regulation, but acme is a policy"),
        (("-s", SYSTEM, "-p", "acme", "--limit", "5-3"), "limit '5-3': must be N or A-B"),
        (("-s", SYSTEM, "-p", "acme", "--limit", "0"), "limit '0': must be N or A-B"),
        (("-s", SYSTEM, "-p", "acme", "--limit", "9-12"), "limit 9-12: there are only 4 questions"),
        (("-p", "acme"), "name a system"),
        (("-s", SYSTEM), "no document is named"),
        (("--resume", "nothing"), "no run 'nothing'"),
        (("-s", SYSTEM, "-p", "acme", "--workspace", "nowhere"), "is not a folder"),
    ],
)
def test_usage_errors(server: OpenAIServer, run: Run, args: tuple[str, ...], said: str) -> None:
    """What can't be done as it was asked is one sentence, with the nearest name, and exit code 2; nothing is asked."""
    done = run("run", *args)
    assert done.code == 2
    assert said in done.err
    assert done.err.startswith("genaipa: ")
    assert done.out == ""
    assert server.requests == []
    assert not Path("runs").exists()


def test_missing_key_names_its_variable(run: Run) -> None:
    """Without a key nothing is begun, exit code 1, and the variable is named; `genaipa systems` has each provider's."""
    make_workspace()
    done = run("run", "-s", "openai/gpt-4o-mini", "-p", "acme", "--limit", "1")
    assert done.code == 1
    assert "OPENAI_API_KEY" in done.err
    assert not Path("runs").exists()


def test_unreachable_server(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An address at which nothing answers is found out before the run, with the variable that sets it."""
    make_workspace()
    with OpenAIServer() as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
    done = run(*QUALITY)
    assert done.code == 1
    assert "nothing answers at" in done.err
    assert "LOOP_BASE_URL" in done.err
    assert not Path("runs").exists()


def test_document_that_does_not_fit(server: OpenAIServer, run: Run) -> None:
    """A document that exceeds the context with its questions is refused before any call, with numbers and ways out."""
    server.context = 1200
    done = run(*QUALITY)
    assert done.code == 2
    for fact in ("acme", "openai-api/loop/m", "about 1,", "1,200"):
        assert fact in done.err
    assert f"genaipa {' '.join(QUALITY)} --conversation independent" in done.err
    assert server.requests == []
    assert run(*QUALITY, "--conversation", "independent").code == 0
    # Where the document is only summarized, the questions need no room beside it.
    assert run("run", "-s", SYSTEM, "-p", "acme", "-e", "summary").code == 0


def test_flags_repeat_and_take_commas(server: OpenAIServer, run: Run) -> None:
    """Several systems, documents, wordings and initializations, by repeating a flag or by commas, each once."""
    make_workspace(questions=1, documents=("acme", "brook"))
    done = run(
        *("run", "-s", f"{SYSTEM},scripted", "-s", "scripted", "-p", "brook", "-p", "acme,brook"),
        *("-i", "document,company-name", "--wording", "paraphrase-2,original"),
    )
    assert done.code == 0, done.err
    spec = list_run_folders_oldest_first(find_workspace())[-1].manifest().spec
    assert spec.systems == (SYSTEM, "scripted")
    assert spec.plan.documents == ("brook", "acme")
    assert spec.plan.initializations == ("company-name", "document")
    assert spec.plan.wordings == ("original", "paraphrase-2")
    assert len(server.requests) == 2 * 2 * 2


@pytest.mark.parametrize(("limit", "taken"), [("3", slice(0, 3)), ("2-4", slice(1, 4)), ("4-9", slice(3, 9))])
def test_limit(server: OpenAIServer, run: Run, limit: str, taken: slice) -> None:
    """A number takes the first of the shuffled questions, a range those from A to B."""
    assert run(*QUALITY, "--limit", limit).code == 0
    (folder,) = list_run_folders_oldest_first(find_workspace())
    whole = json.loads(run(*QUALITY, "--dry-run", "--json").out)[0]["messages"]
    asked = [m["content"] for m in whole if m["purpose"] == "question"]
    assert [record.asked for record in answers(folder)] == asked[taken]


def test_dry_run_prints_what_will_be_sent(server: OpenAIServer, run: Run) -> None:
    """The messages are those that the server then receives, in order; no key is needed and nothing is asked."""
    command = (*QUALITY[:-2], "--part-tokens", "60")
    key = os.environ.pop("LOOP_API_KEY")
    dry = run(*command, "--dry-run")
    listed = json.loads(run(*command, "--dry-run", "--json").out)
    os.environ["LOOP_API_KEY"] = key
    assert server.requests == server.lookups == []
    assert run(*command).code == 0
    said = _replies(server)
    received = messages(server.requests[-1])
    for message in received:
        message["content"] = REPLY_PLACEHOLDER if message["content"] in said else message["content"]
    shown = [{"role": m["role"], "content": m["content"]} for m in listed[0]["messages"]]
    assert received == shown
    for message in shown:
        assert message["content"] in dry.out


def _replies(server: OpenAIServer) -> list[str]:
    """What the server said."""
    return [f"You asked: {request.body['messages'][-1]['content'][:80]}" for request in server.requests]


def test_dry_run_of_the_whole_procedure(run: Run) -> None:
    """All six conversations of a repetition are shown, with a placeholder where a summary will stand."""
    make_workspace(questions=2)
    listed = json.loads(run("run", "-s", "openai/gpt-4o-mini", "-p", "acme", "--dry-run", "--json").out)
    assert [one["conversation"].split("|", 2)[2] for one in listed] == [
        "company-name|original|1",
        "document|original|1",
        "summary-by-name|original|1|(summary)",
        "summary-by-name|original|1",
        "summary-of-document|original|1|(summary)",
        "summary-of-document|original|1",
    ]
    assert "[the system's own summary]" in listed[3]["messages"][0]["content"]


def test_estimate(run: Run) -> None:
    """Calls, tokens and money without a key; a question mark where no price is known."""
    make_workspace()
    done = run("run", "-s", f"openai/gpt-4o-mini,{SYSTEM}", "-p", "acme", "--estimate")
    assert done.code == 0, done.err
    rows = {tuple(line.split()[:2]): line.split() for line in done.out.splitlines() if "openai/gpt-4o-mini " in line}
    assert rows["openai/gpt-4o-mini", "document"][2] == "4"
    assert rows["openai/gpt-4o-mini", "summary-by-name"][2] == "5"
    assert rows["openai/gpt-4o-mini", "document"][-2].startswith("$0.0")
    unpriced = [line for line in done.out.splitlines() if line.strip().startswith(f"{SYSTEM} ")]
    assert len(unpriced) == 4
    assert all(line.split()[-2:] == ["?", "?"] for line in unpriced)
    assert "Power: with these 4 questions and 1 document" in done.out
    said = json.loads(run("run", "-s", "openai/gpt-4o-mini", "-p", "acme", "--estimate", "--json").out)
    assert sum(row["calls"] for row in said["rows"]) == 4 * 4 + 2
    assert (said["power"]["questions"], said["power"]["documents"], said["power"]["policies"]) == (4, 1, None)
    # By a t test it would be 115 points, of a scale that has 90.
    assert find_detectable_differences(4, 1, PUBLISHED).these_documents > M_ALL_WIDTH
    assert said["power"]["these_documents"] is None
    assert "no difference in M_all for these documents (not even of 90, the whole scale) would be found" in done.out
    assert all(0 < row["cached_cost"] <= row["cost"] for row in said["rows"])
    assert not Path("runs").exists()


def test_money_has_as_many_places_as_it_needs() -> None:
    """Cents, and less than one in full; nothing is no cent, and a price that nobody knows is none."""
    from genaipa.cli.commands.run_summary import _format_cost

    assert [_format_cost(dollars) for dollars in (None, 0.0, 0.0012, 0.01, 12.345)] == [
        "?",
        "$0.00",
        "$0.0012",
        "$0.01",
        "$12.35",
    ]


def test_estimate_is_of_the_messages_that_are_sent(server: OpenAIServer, run: Run) -> None:
    """The input that is estimated is close to what the server counts, which counts as the estimate does."""
    said = json.loads(run(*QUALITY, "--conversation", "independent", "--estimate", "--json").out)
    assert run(*QUALITY, "--conversation", "independent").code == 0
    (folder,) = list_run_folders_oldest_first(find_workspace())
    usage = folder.manifest().totals.usage
    assert usage is not None
    assert said["rows"][0]["usage"]["input"] == usage.input
    assert said["rows"][0]["calls"] == len(server.requests)


def test_config_file(server: OpenAIServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Flags come from a file, the environment wins over it, and the command line over both."""
    write(
        "study.yaml",
        f"system: {SYSTEM}\npolicy: [acme]\ninitialization: [document]\nseed: 3\nlimit: 2\nmax-tokens: 77\n",
    )
    assert run("run", "--config", "study.yaml").code == 0
    monkeypatch.setenv("GENAIPA_SEED", "4")
    assert run("run", "--config", "study.yaml").code == 0
    assert run("run", "--config", "study.yaml", "--seed", "5", "--limit", "3").code == 0
    specs = [folder.manifest().spec for folder in list_run_folders_oldest_first(find_workspace())]
    assert sorted((s.seed, s.plan.limit, s.max_tokens) for s in specs) == [
        (3, (1, 2), 77),
        (4, (1, 2), 77),
        (5, (1, 3), 77),
    ]
    assert {s.systems for s in specs} == {(SYSTEM,)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("systm: scripted", "study.yaml: unknown key 'systm': did you mean 'system'?"),
        ("seed: {a: 1}", "study.yaml: seed: needs a value or a list of values."),
        ("seed: 1\nseed: 2", "the key 'seed' is given twice"),
        ("seed: many", "study.yaml: seed: can't be 'many' ("),
    ],
)
def test_bad_config(server: OpenAIServer, run: Run, text: str, said: str) -> None:
    """A mistake in the file is named with the file and the nearest right key; exit code 2."""
    write("study.yaml", text)
    done = run("run", "--config", "study.yaml", "-s", SYSTEM, "-p", "acme")
    assert done.code == 2
    assert said in done.err


def test_environment_sets_flags(server: OpenAIServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every flag has a variable."""
    for name, value in {"SYSTEM": SYSTEM, "POLICY": "acme", "EXPERIMENT": "recall", "SEED": "9", "LIMIT": "1"}.items():
        monkeypatch.setenv(f"GENAIPA_{name}", value)
    assert run("run").code == 0
    spec = list_run_folders_oldest_first(find_workspace())[-1].manifest().spec
    assert (spec.seed, spec.plan.limit, spec.plan.experiment) == (9, (1, 1), "recall")


def test_partial_run(server: OpenAIServer, run: Run) -> None:
    """Exit code 3, what is missing, and the command that goes on; which then completes."""
    server.script = [reply("Yes."), failure(400, f"odd {KEY}")]
    done = run(*QUALITY)
    assert done.code == 3
    (folder,) = list_run_folders_oldest_first(find_workspace())
    assert f"genaipa run --resume {folder.name}" in done.out
    assert "answered 400: odd" in done.err
    server.script = ()
    assert run("run", "--resume", folder.name).code == 0
    assert len(answers(folder)) == 4


def test_spending_cap(server: OpenAIServer, run: Run) -> None:
    """Exit code 4 before the cap is passed; replies under way are kept; the printed command completes the run."""
    write("systems.yaml", PRICED)
    command = ("run", "-s", "loop", *QUALITY[3:5], "-e", "quality", "--conversation", "independent")
    command = (*command, "--max-tokens", "50")
    assert run(*command, "--max-cost", "0").code == 4
    assert server.requests == []
    done = run(*command, "--max-cost", "7")
    assert done.code == 4
    assert "Stopped by --max-cost: the next call may cost $" in done.out
    (folder,) = list_run_folders_oldest_first(find_workspace())
    manifest = folder.manifest()
    assert (manifest.status, manifest.max_cost) == ("capped", 7)
    assert manifest.totals.cost is not None
    assert manifest.totals.cost <= 7
    kept = len(answers(folder))
    assert kept == len(server.requests) > 0
    printed = shlex.split(done.out.splitlines()[-1].partition(": ")[2])
    assert printed[:-1] == ["genaipa", "run", "--resume", folder.name, "--max-cost"]
    assert run(*printed[1:]).code == 0
    assert len(answers(folder)) == 4
    assert folder.manifest().max_cost == float(printed[-1]) > 7


def test_the_cap_belongs_to_the_run(server: OpenAIServer, run: Run) -> None:
    """Going on keeps the cap, by --resume and by the same command; a new one takes its place, and none lifts it."""
    write("systems.yaml", PRICED)
    command = ("run", "-s", "loop", *QUALITY[3:], "--max-tokens", "50")
    assert run(*command, "--max-cost", "0").code == 4
    for again in (("run", "--resume", "latest"), command):
        done = run(*again)
        assert done.code == 4
        assert "for at most $0.00" in done.err
        assert server.requests == []
    (folder,) = list_run_folders_oldest_first(find_workspace())
    assert run("run", "--resume", "latest", "--max-cost", "5").code == 4
    assert folder.manifest().max_cost == 5
    assert run("run", "--resume", "latest", "--max-cost", "none").code == 0
    assert folder.manifest().max_cost is None
    for wrong in ("abc", "-1", "nan", "inf"):
        done = run(*command, "--max-cost", wrong)
        assert (done.code, f"'{wrong}' is not an amount in US dollars" in done.err) == (2, True), done.err


def test_printed_commands_name_the_workspace(server: OpenAIServer, run: Run) -> None:
    """A run made in another folder's workspace is gone on with by the very command that is printed, blanks and all."""
    Path("my study").mkdir()
    for name in ("policies", "questions", "genaipa.toml"):
        Path(name).rename(Path("my study") / name)
    server.script = [failure(400, "no")]
    done = run(*QUALITY, "--workspace", "my study")
    assert done.code == 3
    printed = shlex.split(done.out.splitlines()[-1].partition("Ask again: ")[2])
    assert printed[-2:] == ["--workspace", str(Path("my study").resolve())]
    assert run(*printed[1:]).code == 0


def test_cap_without_a_price_is_refused(server: OpenAIServer, run: Run) -> None:
    """A cap that can't be kept is no cap."""
    done = run(*QUALITY, "--max-cost", "1")
    assert done.code == 2
    assert "no price is known for openai-api/loop/m" in done.err


def test_interrupt(run: Run) -> None:
    """Ctrl-C ends with exit code 130 and a sentence; every answer so far is kept, and the run goes on from there."""
    make_workspace()
    write("slow.py", SLOW)
    command = [sys.executable, "-m", "genaipa", "run", "-s", "slow:Slow", "-p", "acme", "-e", "quality"]
    with heeding(signal.SIGINT):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        while not Path("third").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=180)
    assert process.returncode == 130, err
    (folder,) = list_run_folders_oldest_first(find_workspace())
    assert "2 answers of 4" in err
    assert f"Continue with: genaipa run --resume {folder.name}" in err
    assert "Traceback" not in err + out
    assert folder.manifest().status == "interrupted"
    assert len(lines_of(folder.path / "answers.jsonl")) == 2
    assert run("run", "--resume", "latest").code == 0
    assert len(answers(folder)) == 4
    assert Path("asked").read_text().count("\n") == 5


def test_key_from_dotenv(server: OpenAIServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in the working folder's .env is used."""
    monkeypatch.delenv("LOOP_API_KEY")
    write(".env", f"LOOP_API_KEY={KEY}\n")
    assert run(*QUALITY, "--limit", "1").code == 0


def test_wrong_key(server: OpenAIServer, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is refused is named by its variable, never shown."""
    monkeypatch.setenv("LOOP_API_KEY", "sk-proj-AnotherKey1234567")
    done = run(*QUALITY)
    assert done.code == 1
    assert "refuses the key in LOOP_API_KEY" in done.err
    assert "AnotherKey" not in done.err


# -- show --


@pytest.mark.parametrize(
    ("more", "script"),
    [
        (("-i", "document"), [cut("")]),
        (("-i", "document", "--conversation", "independent"), ()),
        (("-i", "summary-of-document,summary-by-name"), ()),
        (("-i", "summary-of-document", "--acknowledge"), ()),
    ],
    ids=["shared", "independent", "summary", "acknowledge"],
)
def test_show_gives_the_conversation_as_it_was_asked(
    server: OpenAIServer, run: Run, more: tuple[str, ...], script: Script
) -> None:
    """Message by message, every answer and step is shown as the server received it."""
    server.script = script
    assert run("run", "-s", SYSTEM, "-p", "acme", "--part-tokens", "60", *more).code == 0
    shown = json.loads(run("show", "latest", SYSTEM, "--json").out)
    assert len(shown) == len(server.requests)
    asked = [one["messages"] if one["record"]["reply"] is None else one["messages"][:-1] for one in shown]
    received = [messages(request) for request in server.requests]
    assert sorted(map(json.dumps, asked)) == sorted(map(json.dumps, received))


def test_show_prints_the_conversation(server: OpenAIServer, run: Run) -> None:
    """Without --json the same stands there to be read, whole with --whole; a reply can't steer the terminal."""
    server.script = [reply("Yes \x1b[31m(Section 2).")]
    assert run(*QUALITY, "--limit", "1").code == 0
    (record,) = answers(list_run_folders_oldest_first(find_workspace())[-1])
    done = run("show", "latest", record.question, "--whole")
    for message in messages(server.requests[0]):
        assert message["content"] in done.out
    assert "Yes \N{REPLACEMENT CHARACTER}[31m(Section 2)." in done.out
    assert "served by m-2024-08-06" in done.out
    assert run("show", "latest", "nothing").code == 2


def test_show_lists_answers_and_failures(server: OpenAIServer, run: Run) -> None:
    """Without an answer's name the run and all its records are listed."""
    server.script = [reply("Yes."), failure(400, "odd")]
    run(*QUALITY)
    done = run("show", "latest")
    assert "partial" in done.out
    assert "Yes." in done.out
    assert "answered 400: odd" in done.out
    listed = json.loads(run("show", "latest", "--json").out)
    assert [one["status"] for one in listed["answers"]] == ["answered", "failed"]
    assert listed["manifest"]["status"] == "partial"


def test_show_spares_the_document(server: OpenAIServer, run: Run) -> None:
    """A document is not poured over the screen unless that is wanted."""
    assert run(*QUALITY, "--limit", "1").code == 0
    (record,) = answers(list_run_folders_oldest_first(find_workspace())[-1])
    sentence = "We never sell what we know about you."
    assert sentence not in run("show", "latest", record.question).out
    assert sentence in run("show", "latest", record.question, "--whole").out


def test_a_resumed_run_shows_the_document_again(genaipa: Callable[..., Finished]) -> None:
    """The baseline, which answers from what the messages carry, says the same after a crash as it did before."""
    done = genaipa("run", "-s", "extractive", "-p", "brindlecart", "--experiment", "quality", "--name", "whole")
    assert done.code == 0, done.err
    [answers] = Path("runs").glob("*-whole/answers.jsonl")
    before = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    # As a crash leaves it: the last ten answers were never written.
    kept = answers.read_bytes().splitlines(keepends=True)[:-10]
    answers.write_bytes(b"".join(kept))
    manifest = answers.with_name("manifest.json")
    manifest.write_text(manifest.read_text().replace('"status": "complete"', '"status": "running"'))
    done = genaipa("run", "--resume", "latest", "--quiet")
    assert done.code == 0, done.err
    after = [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]
    assert [(r["key"], r["reply"]) for r in after] == [(r["key"], r["reply"]) for r in before]
