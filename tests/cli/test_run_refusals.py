"""What `genaipa run` and its relatives say about numbers, names, keys, addresses and proxies that won't do."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import KEY, SYSTEM, make_workspace, write
from servers import OpenAIServer, failure

import genaipa as package
from genaipa.errors import RefusedSystemError, UsageError
from genaipa.files.names import clean_folder_name
from genaipa.runs.selection import find_run, list_run_folders_oldest_first
from genaipa.workspace import find_workspace, pulled_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Run = Callable[..., Finished]

ABSURD = (
    ("--repetitions", "99999999999"),
    ("--limit", "1-99999999999999999999"),
    ("--seed", "9" * 30),
    ("--sampling-seed", "-" + "9" * 30),
    ("--part-tokens", "9" * 30),
    ("--summary-words", "9" * 30),
    ("--max-tokens", "9" * 30),
    ("--temperature", "1e308"),
    ("--temperature", "nan"),
    ("--timeout", "1e300"),
    ("--timeout", "nan"),
    ("--max-connections", "1000000000"),
    ("--max-retries", "1000000000"),
)
BUSY = """from pathlib import Path

from genaipa.systems.base import Readiness


class Busy:
    name = "busy"

    async def start(self):
        return Readiness()

    async def reply(self, messages, settings):
        Path("begun").touch()
        while True:
            pass

    async def count_tokens(self, text):
        return None

    async def close(self):
        Path("closed").touch()
"""


def test_absurd_numbers(genaipa: Run) -> None:
    """A number that no run could use is refused at once, by its flag; an estimate builds no plan."""
    make_workspace()
    plan = ("run", "-s", "extractive", "-p", "acme", "-e", "quality")
    for flag, number in ABSURD:
        done = genaipa(*plan, f"{flag}={number}", "--estimate")
        assert (done.code, flag.strip("-") in done.err, "Traceback" in done.err) == (2, True, False), done.err
    assert "Total: 40,000 calls" in genaipa(*plan, "--repetitions", "10000", "--estimate").out
    assert not Path("runs").exists()


def test_names_of_runs(genaipa: Run) -> None:
    """A name keeps the letters of any script; one without any is refused; a whole name means that run alone."""
    make_workspace()
    plan = ("run", "-s", "scripted", "-p", "acme", "-e", "recall", "--limit", "1")
    for name, folder in (("Über lauf ñ", "Über-lauf-ñ"), ("日本語", "日本語"), ("many", "many"), ("many2", "many2")):
        assert genaipa(*plan, "--name", name).code == 0
        run = find_run(find_workspace(), name)
        assert run.name.partition("-")[2].partition("-")[2] == folder
    assert find_run(find_workspace(), "many").name.endswith("-many")
    with pytest.raises(UsageError, match="matches 2 runs"):
        find_run(find_workspace(), "man")
    done = genaipa(*plan, "--name", "!!!")
    assert (done.code, "the name '!!!' has no character" in done.err) == (2, True)
    assert len(clean_folder_name("語" * 300).encode()) == 180
    assert len(clean_folder_name("\U0001d4b3" * 300).encode()) == 200


def test_a_workspace_that_takes_no_run(genaipa: Run) -> None:
    """Where nobody may write, as on a disk that is read only, each command that makes a run says so in a sentence."""
    plan = ("run", "-s", "extractive", "-p", "brindlecart,vpda", "-e", "recall")
    for words in (("demo",), plan, ("judge", "--judge", "extractive")):
        done = genaipa(*words, "--workspace", "/sys")
        assert done.code == 1, words
        assert re.fullmatch(
            r"genaipa: /sys/runs can't be created \(.*\); choose .* that you may write to\.\n", done.err
        ), words


def test_an_experiment_is_what_it_is_called(genaipa: Run) -> None:
    """An initialization or a wording that an experiment doesn't have is refused beside it, and taken without it."""
    make_workspace()
    plan = ("run", "-s", "extractive", "-p", "acme")
    for more in (("-i", "company-name"), ("--wording", "all")):
        done = genaipa(*plan, "-e", "quality", *more, "--estimate")
        assert (done.code, done.out) == (2, "")
        assert "differ from those of the experiment 'quality'" in done.err
        assert more[1] in done.err
        assert genaipa(*plan, *more, "--estimate").code == 0
    assert genaipa(*plan, "-e", "quality", "-i", "document", "--estimate").code == 0


def test_an_address_without_its_end(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the server says 404 and the address has no /v1, the question is put before and during the run."""
    make_workspace()
    with OpenAIServer([failure(404, "Not Found")], models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url.removesuffix("/v1"))
        done = genaipa("run", "-s", SYSTEM, "-p", "acme", "-e", "recall", "--limit", "1")
    assert done.code == 3
    assert f"{SYSTEM} answered 404 (should LOOP_BASE_URL end in /v1?)" in done.err


def test_a_key_that_cannot_be_sent(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key with an umlaut or a line end in it is found before anything is sent, by its place and without its text."""
    make_workspace()
    for key, place in (("sk-geheimnisvöll", 14), ("sk-two\nlines", 7)):
        for variable, system in (("OPENAI", "openai/m"), ("ANTHROPIC", "anthropic/m"), ("GOOGLE", "google/m")):
            monkeypatch.setenv(f"{variable}_API_KEY", key)
            done = genaipa("run", "-s", system, "-p", "acme", "-e", "recall")
            assert done.code == 1
            assert f"the key in {variable}_API_KEY can't be sent: its character {place} is" in done.err
            assert key not in done.err
            assert f"fix the key in {variable}_API_KEY" in genaipa("systems", system).out
    assert "OPENAI_API_KEY can't be used" in genaipa("doctor").out


def test_a_dead_proxy_is_named(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the proxy that is to blame, in the error and at the doctor's; a server on this machine needs none."""
    make_workspace()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        proxy = f"http://me:secret@127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", proxy)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        done = genaipa("run", "-s", "openai/gpt-4o-mini", "-p", "acme", "-e", "recall", "--limit", "1")
        shown = genaipa("doctor").out
    assert done.code == 1
    assert "through the proxy http://127.0.0.1:" in done.err
    assert "check the proxy in HTTPS_PROXY" in done.err
    assert "OPENAI_BASE_URL" not in done.err
    assert "fix or unset HTTPS_PROXY" in shown
    assert "secret" not in done.err + shown
    with OpenAIServer(models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        assert genaipa("run", "-s", SYSTEM, "-p", "acme", "-e", "recall", "--limit", "1").code == 0


def test_a_model_that_shuts_down(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its day and its successor are told once; after the day the server's own list decides."""
    make_workspace()
    ends = "{system: openai-api/loop/m, use: extractive, retired: '%s'}"
    write("systems.yaml", f"systems: {{soon: {ends % '2999-01-14'}, late: {ends % '2024-01-14'}}}")
    asked = ("-p", "acme", "-e", "recall", "--limit", "1")
    with OpenAIServer(models=("m",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        done = genaipa("run", "-s", "soon", *asked)
        assert done.code == 0
        assert done.err.count("2999-01-14") == 1
        assert "soon shuts down on 2999-01-14; use extractive then.\n" in done.err
        assert "late: the server still lists it, so the run continues." in genaipa("run", "-s", "late", *asked).err
    with OpenAIServer(models=("other",)) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        done = genaipa("run", "-s", "late", *asked[:-1], "2")
    assert done.code == 1
    assert "late retired on 2024-01-14; use extractive instead." in done.err


@pytest.mark.parametrize(
    ("old", "new", "asked", "said", "instead"),
    [
        (9000, 9000, "-s old -e quality", "old retired on 2024-01-14.", ["-s new -e quality", "-s {} -e quality"]),
        (
            *(300, 9000, "--system=x,openai/old-1 -i document"),
            "openai/old-1 retired on 2024-01-14, and acme does not fit it: with its questions and replies it needs",
            ["--system=x,new -i document", "--system=x,{} --experiment recall"],
        ),
        (300, 300, "-s old", "but the context holds 300.", ["-s {} --experiment recall"]),
    ],
)
def test_a_retired_model_is_refused_with_what_to_run_instead(
    old: int, new: int, asked: str, said: str, instead: list[str], genaipa: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last words are the same without a key, with one and for an estimate: what is in the way, what to paste."""
    make_workspace()
    gone = f"old: {{system: openai/old-1, context: {old}, use: new, retired: '2024-01-14'}}"
    write(
        "systems.yaml", f"systems: {{new: {{system: openai/new-1, context: {new}}}, x: {{system: extractive}}, {gone}}}"
    )
    heard = set()
    for key, more in (("", []), ("sk-something-of-a-key", []), ("", ["--estimate"])):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        done = genaipa("run", "-p", "acme", *more, *asked.split())
        assert done.code == 2
        assert not Path("runs").exists()
        assert f"genaipa: {said}" in done.err or said in done.err
        heard.add(done.err.replace(" --estimate", ""))
    assert len(heard) == 1, "three last words"
    lines = [line.partition("  #")[0].strip() for line in done.err.splitlines() if line.startswith("  ")]
    azure = "AZURE_BASE_URL=https://HOST/v1 "
    wanted = [f"{azure * ('{' in way)}genaipa run -p acme --estimate {way}" for way in instead]
    assert lines == [way.format("openai-api/azure/old-1") for way in wanted]


def test_published_answers_are_offered_for_published_documents(genaipa: Run) -> None:
    """In place of the study's retired model, unless a document is one's own; from Python, too."""
    for name in ("uber", "spotify"):
        write(str(pulled_folder() / f"policies/{name}.md"), "We keep your trips.\n")
    recorded = (
        "  genaipa run -s published/chatgpt-4 -p uber,spotify  # the answers that the authors of GenAIPABench published"
    )
    assert recorded in genaipa("run", "-s", "gpt-4", "-p", "uber,spotify").err.splitlines()
    write("genaipa.toml", "")
    write("policies/spotify.md", "We keep your songs.\n")
    assert "published" not in genaipa("run", "-s", "gpt-4", "-p", "uber,spotify").err
    with pytest.raises(RefusedSystemError, match=r"Instead: gpt-6-luna \(its successor\); published/chatgpt-4 \("):
        package.run("gpt-4", "uber")


def test_a_line_of_env_that_is_none(genaipa: Run) -> None:
    """It is named by file and line, in our own words, and the other lines count."""
    write(".env", "OPENAI_API_KEY=sk-ok\nthis is no assignment\nLOOP_API_KEY=x\n")
    done = genaipa("doctor")
    assert f"{Path('.env').resolve()}: genaipa ignores line 2, which is not NAME=value" in done.err
    assert "dotenv" not in done.err
    assert "key for openai" in done.out


def test_tokens_are_estimated_for_those_who_are_asked(genaipa: Run) -> None:
    """No word on counting tokens for a person, nor for an estimate, whose table has it; 1 is one call."""
    make_workspace()
    one = ("-p", "acme", "-e", "recall", "--limit", "1")
    assert "can't be counted" not in genaipa("run", "-s", "manual/x", *one).err
    done = genaipa("run", "-s", "openai/gpt-4o-mini", *one, "--estimate", "--offline")
    assert "no tokenizer;" not in done.err
    assert "Total: 1 call, $" in done.out


def test_systems_without_a_counter_share_a_line(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """That tokens are estimated is said once, of all the systems that it holds for."""
    make_workspace()
    with OpenAIServer(models=("m", "n")) as server:
        monkeypatch.setenv("LOOP_BASE_URL", server.url)
        systems = "openai-api/loop/m,openai-api/loop/n,extractive"
        done = genaipa("run", "-s", systems, "-p", "acme", "-e", "recall", "--limit", "1")
    assert "openai-api/loop/m, openai-api/loop/n: no tokenizer; tokens are estimated at 4" in done.err
    assert done.err.count("no tokenizer;") == 1


def test_members_of_a_family_that_need_different_things(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the published systems, those that were pulled and those that weren't are named apart."""
    monkeypatch.setenv("GENAIPA_CACHE", str(Path("cache").resolve()))
    write("cache/data/published/bard.json", "{}")
    lines = [line.strip() for line in genaipa("systems", "--explain").out.splitlines()]
    assert "published/bard: ready" in lines
    assert "published/chatgpt-4, published/bingai: genaipa get genaipabench" in lines


@pytest.mark.full
def test_stopping_what_computes() -> None:
    """SIGTERM ends a run, in order and resumable, although a system keeps the processor and never gives way."""
    make_workspace()
    write("busy.py", BUSY)
    command = [sys.executable, "-m", "genaipa", "run", "-s", "busy:Busy", "-p", "acme", "-e", "recall"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not Path("begun").exists() and process.poll() is None:
            pass
        process.send_signal(signal.SIGTERM)
        try:
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    (folder,) = list_run_folders_oldest_first(find_workspace())
    assert process.returncode == 130, err
    assert f"Continue with: genaipa run --resume {folder.name}" in err
    assert "Traceback" not in err
    assert folder.manifest().status == "interrupted"
    assert Path("closed").exists()


def test_a_recording_is_not_asked_about_other_documents(genaipa: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorded system knows its documents: another is refused before a run is made, and those are named."""
    monkeypatch.setenv("GENAIPA_CACHE", str(Path.cwd() / "cache"))
    recording = {"system": "published/bard", "source": "a study", "initializations": ["document"], "answers": []}
    write("cache/data/published/bard.json", json.dumps({**recording, "documents": {"lender": "", "grocer": ""}}))
    finished = genaipa("run", "-s", "extractive,published/bard", "-p", "brindlecart", "-e", "quality")
    assert finished.code == 2
    assert "published/bard has no answers about brindlecart" in finished.err
    assert "about grocer and lender" in finished.err
    assert not Path("runs").exists()
