"""vLLM's adapter: attached to a server, and with a server process of its own (a small stand-in for vLLM's)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from asking import ALL_SETTINGS, FIRST, QUESTION, SECOND, ask, count
from commandline import heeding
from servers import OpenAIServer
from size import size

from genaipa.errors import NotReadyError, PermanentError, UsageError
from genaipa.execution.ready import StartedSystems
from genaipa.systems.base import Readiness, Reply, Settings, Usage
from genaipa.systems.catalog import resolve_system
from genaipa.systems.vllm import VllmSystem
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

# What `vllm serve` does, with the loopback server of these tests in place of an engine. It writes its command line to
# its log first, and its process ids (its own, and that of a worker that doesn't end when asked) to a file.
STAND_IN = f"""#!{sys.executable}
import os, subprocess, sys, time
sys.path.insert(0, {str(Path(__file__).parents[1] / "support")!r})
from servers import Behaviour, OpenAIServer

def behave(number, body):
    open("asked", "w").close()
    return Behaviour(stall=mode == "stalls", delay=1.0 if mode == "slow" else 0.0)

print("called with", *sys.argv[1:], flush=True)
mode = os.environ.get("STAND_IN", "")
if mode == "dies":
    for number in range(30):
        print("loading layer", number, flush=True)
    print("torch.OutOfMemoryError: CUDA out of memory, token hf_abcdefgh12345678", flush=True)
    sys.exit(3)
worker = subprocess.Popen(["sh", "-c", "trap '' TERM; exec sleep 600"])
with open("pids", "w") as pids:
    print(os.getpid(), worker.pid, file=pids)
if mode != "never-healthy":
    server = OpenAIServer(behave, models=[sys.argv[2]], context=40960)
    server.port = int(sys.argv[sys.argv.index("--port") + 1])
    server.__enter__()
    print("Application startup complete.", flush=True)
time.sleep(600)
"""


def vllm(model: str = "org/tiny") -> VllmSystem:
    """The system under test."""
    return VllmSystem(name=f"vllm/{model}", model=model, accepts=ALL_SETTINGS)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for `vllm` on PATH; gives the folder that its logs are written to."""
    folders = [tmp_path / "bin", tmp_path / "logs"]
    for folder in folders:
        folder.mkdir()
    executable = folders[0] / "vllm"
    executable.write_text(STAND_IN, encoding="utf-8")
    executable.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folders[0]}:{os.environ['PATH']}")
    monkeypatch.setattr(tempfile, "tempdir", str(folders[1]))
    return folders[1]


@contextlib.contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, **more: Any) -> Iterator[OpenAIServer]:
    """A server that runs already."""
    with OpenAIServer(models=["org/tiny"], context=4096, **more) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        yield server


def test_levels_of_a_model_share_its_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is asked at several levels of effort is loaded once; another model has a server of its own."""

    async def start() -> list[object]:
        started, here = StartedSystems(), find_workspace()
        names = ("vllm/org/tiny@low", "vllm/org/tiny@high", "vllm/org/tiny", "vllm/org/other")
        try:
            return [(await started.start_system_once(resolve_system(name, here)))[0] for name in names]
        finally:
            await started.close_systems()

    with OpenAIServer(models=["org/tiny", "org/other"]) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        *tiny, other = asyncio.run(start())
    assert len({*map(id, tiny)}) == 1
    assert (tiny[0].name, other.name) == ("vllm/org/tiny", "vllm/org/other")  # type: ignore[attr-defined]
    assert len(server.lookups) == 2


def processes() -> list[int]:
    """The stand-in's process and its worker's."""
    return [int(number) for number in Path("pids").read_text(encoding="utf-8").split()]


def wait_for_processes() -> None:
    """Return once the stand-in has written down its processes."""
    while not Path("pids").exists() or len(processes()) != 2:
        time.sleep(0.01)


def start_run(*before: str) -> subprocess.Popen[str]:
    """A process that asks a server of its own one question."""
    command = [*before, sys.executable, "-m", "genaipa", "run", "--system", "vllm/org/tiny", "--policy", "brindlecart"]
    with heeding(signal.SIGINT, signal.SIGHUP):
        return subprocess.Popen([*command, "--limit", "1"], stderr=subprocess.PIPE, text=True)


def wait_for(path: str, process: subprocess.Popen[str]) -> None:
    """Return once the stand-in has written the file; fails if the process ends before."""
    while not Path(path).exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def text_of_log(logs: Path) -> str:
    """The one log that there is."""
    (log,) = logs.iterdir()
    return log.read_text(encoding="utf-8")


def alive(process: int) -> bool:
    """Whether a process still runs; one that ended but that nobody has fetched (a zombie) doesn't."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def gone(process: int) -> bool:
    """Whether a process ends within the moment that the system needs for it, on a busy machine too."""
    deadline = time.monotonic() + 60
    while alive(process) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(process)


def test_attach(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that runs is used as it is: context, tokens, cached prefix, no field that it might not know."""
    with serving(monkeypatch) as server:
        readiness, replies = ask(
            vllm(), FIRST, SECOND, settings=Settings(max_tokens=9, sampling_seed=1, cache_key="gdpr")
        )
        assert count(vllm(), "a" * 40) == 10
    assert (readiness.context, readiness.models) == (4096, ("org/tiny",))
    assert replies[1].usage == Usage(input=359, cached=354, cache_write=5, output=7)
    assert set(server.requests[0].body) == {"model", "messages", "max_tokens", "seed"}
    # By it a router in front of several servers keeps a document with one of them.
    assert {request.headers["x-session-id"] for request in server.requests} == {"gdpr"}
    assert server.lookups[-1].body == {"model": "org/tiny", "prompt": "a" * 40, "add_special_tokens": False}


def test_attach_without_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is understood without /v1 too."""
    with serving(monkeypatch) as server:
        monkeypatch.setenv("VLLM_BASE_URL", f"{server.root}/")
        ask(vllm(), QUESTION)
    assert len(server.requests) == 1


def test_attach_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that wants a key gets the one in VLLM_API_KEY, for counting tokens too."""
    monkeypatch.setenv("VLLM_API_KEY", "the-server-key")
    with serving(monkeypatch, only="the-server-key"):
        ask(vllm(), QUESTION)
        assert count(vllm(), "a" * 40) == 10
        monkeypatch.delenv("VLLM_API_KEY")
        with pytest.raises(NotReadyError, match="VLLM_API_KEY"):
            ask(vllm())


def test_neither_server_nor_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a server and without vLLM both ways to one are named."""
    monkeypatch.setenv("GENAIPA_VLLM_COMMAND", "no-such-vllm serve-it")
    with pytest.raises(NotReadyError, match=r"VLLM_BASE_URL .*pip install 'genaipa\[vllm\]'.*'no-such-vllm'"):
        ask(vllm())


def test_start_and_stop(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """A server is started with what caching needs and the user's flags, answers, and is gone after close()."""
    monkeypatch.setenv(
        "GENAIPA_VLLM_ARGS", "--max-model-len 4096 --served-model-name other org/tiny --served-by 'me and you'"
    )
    system = vllm()

    async def through() -> tuple[Reply, int | None, str]:
        await system.start()
        found = await system.reply(QUESTION, Settings()), await system.count_tokens("a" * 40)
        log = text_of_log(logs)
        assert all(alive(process) for process in processes())
        await system.close()
        return *found, log

    found, counted, log = asyncio.run(through())
    assert (found.text, counted) == ("You asked: Is my data encrypted?", 10)
    called = log.splitlines()[0]
    assert called.startswith("called with serve org/tiny --host 127.0.0.1 --port ")
    assert called.endswith(
        "--enable-prompt-tokens-details --max-model-len 4096 --served-model-name other org/tiny --served-by me and you"
    )
    assert all(gone(process) for process in processes())
    assert list(logs.iterdir()) == []


def test_a_model_that_thinks_gets_its_parser(monkeypatch: pytest.MonkeyPatch, logs: Path, tmp_path: Path) -> None:
    """By its chat template, before the user's flags, with a note; flags that name one win."""
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
    )
    (tmp_path / "thinker").mkdir()
    (tmp_path / "thinker" / "chat_template.jinja").write_text(template)
    for flags, end in (("--seed 7", "--reasoning-parser qwen3 --seed 7"), ("--reasoning-parser olmo3",) * 2):
        monkeypatch.setenv("GENAIPA_VLLM_ARGS", flags)

        async def through() -> tuple[Readiness, str]:
            system = vllm(str(tmp_path / "thinker"))
            readiness = await system.start()
            log = text_of_log(logs)
            await system.close()
            return readiness, log

        readiness, log = asyncio.run(through())
        assert log.splitlines()[0].endswith(f"--enable-prompt-tokens-details {end}")
        noted = [note for note in readiness.notes if "vLLM gets --reasoning-parser qwen3" in note]
        assert len(noted) == ("qwen3" in end)


def test_another_command(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """The command can be another one, with arguments of its own, for instance a container's."""
    monkeypatch.setenv("GENAIPA_VLLM_COMMAND", f"{sys.executable} {logs.parent / 'bin' / 'vllm'}")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    _, replies = ask(vllm(), QUESTION)
    assert replies[0].text == "You asked: Is my data encrypted?"


def test_a_server_that_dies_at_the_start(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """The end of its log says why it died, without a key; the whole log stays and is named."""
    monkeypatch.setenv("STAND_IN", "dies")
    with pytest.raises(NotReadyError, match="CUDA out of memory") as caught:
        ask(vllm())
    message = str(caught.value)
    assert "exit code 3" in message
    assert "loading layer 29" in message
    assert "loading layer 9\n" not in message
    assert "hf_abcdefgh12345678" not in message
    assert str(next(logs.glob("*.log"))) in message


@pytest.mark.full
def test_a_server_that_never_gets_ready(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """After the time allowed it is given up and stopped, its workers with it; the variable for the time is named."""
    monkeypatch.setenv("STAND_IN", "never-healthy")
    monkeypatch.setenv("GENAIPA_VLLM_START_TIMEOUT", "1.5")
    with pytest.raises(NotReadyError, match=r"within 1\.5 s \(GENAIPA_VLLM_START_TIMEOUT\)"):
        ask(vllm())
    assert all(gone(process) for process in processes())


def test_a_start_that_is_broken_off(logs: Path) -> None:
    """A server whose start is cancelled doesn't stay behind."""
    system = vllm()

    async def break_off() -> None:
        starting = asyncio.create_task(system.start())
        await asyncio.to_thread(wait_for_processes)
        starting.cancel()
        await starting

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(break_off())
    assert all(gone(process) for process in processes())


@pytest.mark.full
@pytest.mark.parametrize("number", size(small=[signal.SIGTERM], soak=[signal.SIGTERM, signal.SIGHUP]))
@pytest.mark.parametrize(
    ("mode", "sign"), [pytest.param("never-healthy", "pids", marks=pytest.mark.soak), ("stalls", "asked")]
)
def test_a_run_that_is_ended_from_outside(
    monkeypatch: pytest.MonkeyPatch, logs: Path, mode: str, sign: str, number: int
) -> None:
    """A run that a batch system ends, or whose terminal closes, ends like one at Ctrl-C, and its server with it."""
    monkeypatch.setenv("STAND_IN", mode)
    with start_run() as process:
        wait_for(sign, process)
        wait_for_processes()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert all(gone(process) for process in processes())


@pytest.mark.soak  # test_signals shows what a command heeds in the background
def test_a_background_run_that_is_ended(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """A script's background job, which is deaf to Ctrl-C, can be ended all the same, and its server with it."""
    monkeypatch.setenv("STAND_IN", "stalls")
    with start_run("sh", "-c", "trap '' INT; exec \"$@\"", "-") as process:
        wait_for("asked", process)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Continue with: genaipa run --resume " in err
    assert all(gone(process) for process in processes())


@pytest.mark.full
def test_a_run_that_is_killed(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """A run that can say nothing more leaves no server behind that would hold the accelerator's memory."""
    monkeypatch.setenv("STAND_IN", "stalls")
    with start_run() as process:
        wait_for("asked", process)
        process.kill()
        process.communicate(timeout=60)
    assert all(gone(process) for process in processes())


@pytest.mark.soak  # test_signals shows what a command heeds under nohup
def test_a_run_that_outlives_its_terminal(monkeypatch: pytest.MonkeyPatch, logs: Path) -> None:
    """Under nohup a run goes on when its terminal closes."""
    monkeypatch.setenv("STAND_IN", "slow")
    with start_run("nohup") as process:
        wait_for("asked", process)
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err


@pytest.mark.parametrize("given", ["ten minutes", "nan", "0", "-5"])
def test_a_time_that_is_none(monkeypatch: pytest.MonkeyPatch, logs: Path, given: str) -> None:
    """A time-out that isn't a number of seconds is told before a server is started."""
    monkeypatch.setenv("GENAIPA_VLLM_START_TIMEOUT", given)
    with pytest.raises(UsageError, match=f"GENAIPA_VLLM_START_TIMEOUT is '{given}'"):
        ask(vllm())
    assert list(logs.iterdir()) == []


def test_flags_that_are_genaipas_are_refused_before_the_start(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another name of the model, another port: the sentence names the flag, and no server is started."""
    for flags, named in (
        ("--served-model-name tiny2", "--served-model-name"),
        ("--seed 1 --served_model_name=tiny2 --dtype float32", "--served-model-name"),
        ("--served-model a b", "--served-model-name"),
        ("--port 8000", "--port"),
        ("--host=0.0.0.0", "--host"),
        ("--model other", "--model"),
    ):
        monkeypatch.setenv("GENAIPA_VLLM_ARGS", flags)
        with pytest.raises(UsageError, match=rf"vllm/org/tiny: .*; remove {named} from GENAIPA_VLLM_ARGS\."):
            asyncio.run(vllm().start())
    assert not list(logs.iterdir())


@pytest.mark.parametrize("variable", ["GENAIPA_VLLM_COMMAND", "GENAIPA_VLLM_ARGS"])
def test_a_quote_too_many(
    monkeypatch: pytest.MonkeyPatch, genaipa: Callable[..., Finished], logs: Path, variable: str
) -> None:
    """A variable that no shell could split is named at the start, and by the commands that say what is missing."""
    monkeypatch.setenv(variable, "vllm 'serve-it")
    with pytest.raises(UsageError, match=rf"^{variable} can't be split into words \(no closing quotation\)"):
        ask(vllm())
    assert list(logs.iterdir()) == []
    (row,) = json.loads(genaipa("systems", "vllm/org/tiny", "--json").out)
    assert [step.partition(" ")[0] for step in row["missing"]] == [variable]
    doctor = genaipa("doctor", "--json")
    rows = [row for row in json.loads(doctor.out)["servers"] if row["what"] == "vllm"]
    assert [row["remedy"].partition(" ")[0] for row in rows] == [variable]


def test_a_server_that_dies_in_the_run(logs: Path) -> None:
    """Once it is dead every call would fail: the error is fatal and shows the end of the log."""
    system = vllm()

    async def outlive() -> None:
        await system.start()
        await system.reply(QUESTION, Settings())
        os.kill(processes()[0], signal.SIGKILL)
        try:
            await system.reply(QUESTION, Settings())
        finally:
            await system.close()

    with pytest.raises(PermanentError, match="the vLLM server ended during the run") as caught:
        asyncio.run(outlive())
    assert caught.value.fatal
    assert "Application startup complete." in str(caught.value)
    assert all(gone(process) for process in processes())
    assert len(list(logs.iterdir())) == 1
