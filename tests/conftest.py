"""Every test starts alone: without a network, without the user's home folder, keys and settings, in an empty folder."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import os
import pickle
import re
import runpy
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import pytest
from commandline import Finished, call
from hypothesis import settings
from size import SOAK, TIER, TIERS
from stores import KINDS, empty_database, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from servers import OpenAIServer

    from genaipa.scoring.store import ScoreStore
    from genaipa_study.study import PublishedStudy

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
CLOSED_NETWORK = Path(__file__).parent / "support" / "closed_network"

# Whatever could lead a test to a person's files, keys, servers or terminal.
PERSONAL = re.compile(
    r"(OPENAI|ANTHROPIC|GOOGLE|GEMINI|VLLM|HF|GENAIPA|XDG|LANGSMITH|LANGCHAIN)_.*"
    r"|.*_(API_KEY|AUTH_TOKEN|BASE_URL)|(.*_)?PROXY|(CLI)?COLOR.*|FORCE_COLOR|.*TTY_COMPATIBLE|GITHUB_ACTIONS|PY_COLORS",
    re.IGNORECASE,
)
# What has to be there (CI: "shared chromium PostgreSQL"): a test that skips for want of one of them fails instead.
# Fixtures that read published research data, which a clone of the repository does not have.
PUBLISHED = {"shared", "pulled_cache", "real"}
REQUIRED = os.environ.get("GENAIPA_REQUIRE", "").split()

# What a test's file imports that waits for a desk, a browser or another process. Such tests come first, on one worker
# (worksteal gives each a part of the list), which needs one browser and one preloaded desk; the others compute
# meanwhile, and help it at the end. Without them, in `make test`, the order is pytest's.
WAITING = {"browsing", "fork", "fork_desk", "open_desk", "open_to"}

# What a background job of a shell ignores, it would hand on to all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_path(str(CLOSED_NETWORK / "sitecustomize.py"))
# A session makes some 40,000 files and folders and commits thousands of times, which a disk takes long for.
_MEMORY = Path("/dev/shm")
_HOMES = itertools.count()
# Freed memory goes back to the system: glibc keeps more the longer a process lives, and a worker grew by a seventh.
_MALLOC_H = {-1: 2**20, -3: 2**18, -8: 1}  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX; others have no mallopt
with contextlib.suppress(AttributeError, OSError, TypeError):
    for option, value in _MALLOC_H.items():
        ctypes.CDLL(None).mallopt(option, value)
if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 4 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
# How long an example takes is the machine's affair. Fixed examples in small: `make test` says the same each time.
settings.register_profile("soak", deadline=None)
settings.register_profile("small", deadline=None, max_examples=20, derandomize=True, database=None)
settings.load_profile("soak" if SOAK else "small")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return one worker a core, up to 16; three for two cores where many tests wait for browsers and servers.

    Each imports everything anew, which takes several seconds of a core.
    """
    cores = os.cpu_count() or 1
    return min(16, cores if TIER == "small" else -(-3 * cores // 2))


def tier(item: pytest.Item) -> str:
    """Return the lowest tier that has this test: by its mark, or by what it asks for."""
    if item.get_closest_marker("soak"):
        return "soak"
    if item.get_closest_marker("full") or PUBLISHED & {*getattr(item, "fixturenames", ())}:
        return "full"
    parameters = (
        item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    )
    if any(isinstance(value, str) and value == "postgresql" for value in parameters):
        return "full"
    return "small"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of the tiers above this session's, and begin with those that wait."""
    left_out = [item for item in items if TIERS.index(tier(item)) > TIERS.index(TIER)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    if TIER != "small":
        items.sort(key=lambda item: not WAITING & set(dir(getattr(item, "module", None))))


def pytest_collection_finish() -> None:
    """Keep the collector of cycles from what lives as long as the session: it took a sixth of the time."""
    gc.collect()
    gc.freeze()
    # Often enough for tables and figures, which are few objects of many bytes.
    gc.set_threshold(20_000, 5, 5)


def forget_personal_settings(patch: pytest.MonkeyPatch) -> None:
    """Take a person's keys, servers and settings out of the environment; for fixtures that live longer than a test."""
    for name in filter(PERSONAL.fullmatch, list(os.environ)):
        patch.delenv(name)


def _close(patch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Close the home folder, the environment and the network."""
    forget_personal_settings(patch)
    # A folder that pytest numbers takes a look at all that are there.
    home = tmp_path_factory.getbasetemp() / "homes" / f"{next(_HOMES)}"
    home.mkdir(parents=True)
    patch.setenv("HOME", str(home))
    patch.setenv("TIKTOKEN_CACHE_DIR", str(home / "tiktoken"))
    # Every process would list the machine's fonts anew in an empty home; this folder outlives the test.
    patch.setenv("MPLCONFIGDIR", str(tmp_path_factory.getbasetemp().parent / "matplotlib"))
    patch.setenv("PYTHONPATH", str(CLOSED_NETWORK))
    patch.setenv("NO_COLOR", "1")
    patch.setenv("COLUMNS", "100")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Close the home folder, the environment and the network, for the test and for the processes that it starts."""
    _close(monkeypatch, tmp_path_factory)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def genaipa() -> Callable[..., Finished]:
    """Run the command line in this process: `genaipa("run", "--system", "extractive")`."""
    return call


@pytest.fixture
def genaipa_process() -> Callable[..., Finished]:
    """Run the command line in a process of its own, where signals, imports, encodings or child processes matter."""

    def run(*args: str | Path, stdin: str = "", timeout: float = 120.0) -> Finished:
        command = [sys.executable, "-m", "genaipa", *map(str, args)]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, encoding="utf-8", timeout=timeout, check=False
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def own_workspace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The working folder as a workspace, with a cache of its own."""
    Path("genaipa.toml").touch()
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server with the model `m` of the endpoint `loop`, which answers everything; tests may give it a script."""
    from servers import OpenAIServer

    with OpenAIServer(models=("m",)) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", "sk-x")
        yield running


@pytest.fixture
def shared() -> Path:
    """The folder with published research data beside the checkout; it is never part of the repository."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared research data in {SHARED}")
    return SHARED


def _common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of a session share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Finished]:
    """A workspace in which `genaipa demo` was run, and what that printed.

    One for all workers of a session; a test that writes there makes a copy.
    """
    common = _common(tmp_path_factory) / "demo"
    with filelock.FileLock(f"{common}.lock"), pytest.MonkeyPatch.context() as patch:
        if not common.exists():
            _close(patch, tmp_path_factory)
            common.mkdir()
            done = call("demo", "--workspace", common, timeout=300)
            for name, text in (("out", done.out), ("err", done.err)):
                Path(f"{common}.{name}").write_text(text, encoding="utf-8")
            assert done.code == 0, done.err
    said = (Path(f"{common}.{name}").read_text(encoding="utf-8") for name in ("out", "err"))
    return common, Finished(0, *said)


@pytest.fixture(scope="session")
def pulled_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache after the published data was pulled; one for all workers of a session, never written by a test."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared research data in {SHARED}")
    common = _common(tmp_path_factory) / "published"
    with filelock.FileLock(f"{common}.lock"), pytest.MonkeyPatch.context() as patch:
        if not common.exists():
            forget_personal_settings(patch)
            patch.setenv("GENAIPA_CACHE", f"{common}.new")
            done = call("get", "genaipabench", "--from", SHARED / "data" / "genaipabench")
            assert done.code == 0, done.err
            Path(f"{common}.new").rename(common)
    return common


@pytest.fixture(scope="session")
def real(pulled_cache: Path) -> PublishedStudy:
    """The published study as far as it is here, read once for all workers; never changed by a test."""
    from genaipa_study.layout import published_tree
    from genaipa_study.study import PublishedStudy, read_published_study

    common = pulled_cache.with_name("study")
    with filelock.FileLock(f"{common}.lock"), pytest.MonkeyPatch.context() as patch:
        if not common.exists():
            patch.setenv("GENAIPA_CACHE", str(pulled_cache))
            common.write_bytes(pickle.dumps(read_published_study(published_tree())))
    found = pickle.loads(common.read_bytes())
    assert isinstance(found, PublishedStudy)
    return found


@pytest.fixture
def pulled(pulled_cache: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This test's own cache, in which the published data was pulled."""
    cache = tmp_path_factory.mktemp("cache") / "cache"
    # Links are enough: what writes into the cache puts a new file in an old one's place.
    shutil.copytree(pulled_cache, cache, copy_function=os.link)
    monkeypatch.setenv("GENAIPA_CACHE", str(cache))
    return cache


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind in turn."""
    return empty_database(request.param, tmp_path, request.config)


@pytest.fixture
def each_store(url: str) -> Iterator[ScoreStore]:
    """A store in an empty database, of each kind in turn: for what databases may do differently."""
    with opened(url) as store:
        yield store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ScoreStore]:
    """A store in an empty file: for what the store itself decides."""
    with opened(f"sqlite:///{tmp_path / 'scores.db'}") as store:
        yield store


@pytest.fixture(scope="session")
def tracked() -> tuple[Path, ...]:
    """The files that git tracks, relative to the repository's root."""
    # The repository may belong to another user than the one who runs the tests, which git would mind.
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("is not a git checkout")
    return tuple(Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where something is required, a test that skips for want of it has failed."""
    report = yield
    _fail_if_required(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Hold a file that skips as a whole to the same rule."""
    report = yield
    _fail_if_required(report)
    return report


def _fail_if_required(report: pytest.TestReport | pytest.CollectReport) -> None:
    # The report of a skip is (file, line, reason).
    if report.skipped and isinstance(report.longrepr, tuple) and any(word in report.longrepr[2] for word in REQUIRED):
        report.outcome = "failed"
        report.longrepr = f"GENAIPA_REQUIRE={' '.join(REQUIRED)}, and yet: {report.longrepr[2]}"
