"""From a name on the command line to a system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import make_workspace, write

from genaipa.errors import DataError, UnknownNameError, UsageError
from genaipa.systems.base import NEVER_REFUSED, OPTIONS
from genaipa.systems.catalog import load_usable_system_entries, resolve_system
from genaipa.systems.openai import CompatibleSystem, OpenAISystem
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from genaipa.systems.catalog import ResolvedSystem


def resolved(name: str) -> ResolvedSystem:
    """What a name stands for in the working folder."""
    write("genaipa.toml", "")
    return resolve_system(name, find_workspace())


@pytest.mark.parametrize(
    ("name", "full", "provider", "model"),
    [
        ("openai/gpt-4o", "openai/gpt-4o", "openai", "gpt-4o"),
        ("gpt-4o", "openai/gpt-4o", "openai", "gpt-4o"),
        ("anthropic/claude-x", "anthropic/claude-x", "anthropic", "claude-x"),
        ("google/gemini-x", "google/gemini-x", "google", "gemini-x"),
        ("vllm/meta-llama/Llama-3.1-8B", "vllm/meta-llama/Llama-3.1-8B", "vllm", "meta-llama/Llama-3.1-8B"),
        ("openai-api/my-server/org/tiny", "openai-api/my-server/org/tiny", "openai-api", "org/tiny"),
        ("manual/bard", "manual/bard", "manual", "bard"),
        ("extractive", "extractive", "extractive", "extractive"),
        ("scripted", "scripted", "scripted", "scripted"),
        ("scripted/replies.yaml", "scripted/replies.yaml", "scripted", "scripted/replies.yaml"),
        ("mine:Assistant", "mine:Assistant", "mine:Assistant", "mine:Assistant"),
    ],
)
def test_forms(name: str, full: str, provider: str, model: str) -> None:
    """Each form of a name leads to its provider and to the model as that provider calls it."""
    found = resolved(name)
    assert (found.requested_name, found.name, found.provider, found.model) == (name, full, provider, model)
    assert found.is_manual == (provider == "manual")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpt4", "no system 'gpt4': did you mean 'gpt-6'?"),
        ("extractiv", "did you mean 'extractive'?"),
        ("opnai/gpt-4o", "no system 'opnai/gpt-4o'"),
        ("foo/bar", "manual/NAME, openai-api/NAME/MODEL, openai/MODEL, "),
        ("", "no system ''"),
    ],
)
def test_unknown_names(name: str, said: str) -> None:
    """The nearest name that exists is offered, and where to look."""
    with pytest.raises(UnknownNameError) as error:
        resolved(name)
    assert said in str(error.value)
    assert "genaipa systems" in str(error.value)


def test_a_file_of_short_names_outside_a_workspace_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote systems.yaml into a folder that is not a workspace is told why its names are unknown."""
    (tmp_path / "systems.yaml").write_text("systems: {lawbot-A: {system: openai/m}}\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownNameError, match=r"systems\.yaml in this folder is ignored .*genaipa init \."):
        resolve_system("lawbot-A", find_workspace())
    (tmp_path / "genaipa.toml").touch()
    assert resolve_system("lawbot-A", find_workspace()).name == "openai/m"


def test_an_unknown_system_is_answered_by_models() -> None:
    """Models come before baselines, which few who misname a system look for."""
    with pytest.raises(UnknownNameError) as error:
        resolved("zzzz")
    assert "baseline/" not in str(error.value)
    assert "gpt-6" in str(error.value) or "claude" in str(error.value)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("openai/", "openai/MODEL"),
        ("vllm", "vllm/MODEL"),
        ("manual", "manual/NAME"),
        ("openai-api/server", "openai-api/NAME/MODEL"),
        ("openai-api/server/", "openai-api/NAME/MODEL"),
    ],
)
def test_names_without_a_model(name: str, form: str) -> None:
    """The form that is wanted is named."""
    with pytest.raises(UsageError, match=f"'{name}' does not name a model; use the form {form}"):
        resolved(name)


def test_shipped_catalog_resolves() -> None:
    """Every short name stands for something that can be resolved, and what replaces a retired one does too."""
    for name, entry in load_usable_system_entries(find_workspace()).items():
        assert resolved(name).name == entry.system
        assert bool(entry.retired) <= bool(entry.use)
        if entry.use:
            assert resolved(entry.use).tariff
            assert not resolved(entry.use).entry.retired


def test_own_catalog_wins() -> None:
    """An entry of the workspace's systems.yaml replaces the shipped one of its name, and adds others."""
    write("systems.yaml", "systems:\n  gpt-4o: {system: openai/gpt-4o-mini}\n  local: {system: openai-api/here/m}\n")
    assert resolved("gpt-4o").model == "gpt-4o-mini"
    assert resolved("local").name == "openai-api/here/m"
    assert resolved("claude-opus").provider == "anthropic"


def test_full_name_has_what_the_catalog_knows() -> None:
    """openai/gpt-4 is the same model as gpt-4, with its context and its day of retirement."""
    assert resolved("openai/gpt-4").entry == resolved("gpt-4").entry
    assert resolved("openai/gpt-4").entry.context == 8192


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("systems: {mine: {system: gpt}}", r"systems\.mine: 'gpt' is not of the form provider/model"),
        ("systems: {mine: {sistem: openai/x}}", r"systems\.yaml.*unknown key 'sistem': did you mean 'system'"),
        (
            "systems: {mine: {system: openai/x, settings: [heat]}}",
            r"systems\.yaml: systems\.mine\.settings\[0\]: .heat. is not a valid value; known: citations, max_tokens",
        ),
        (
            "systems: {mine: {system: openai/x, price: {input: 1}}}",
            r"systems\.yaml: systems\.mine\.price: the key .output. is missing",
        ),
    ],
)
def test_bad_catalogs(text: str, said: str) -> None:
    """A mistake in an entry of systems.yaml is told to who asks for that system, and holds up no other."""
    write("systems.yaml", text)
    with pytest.raises(DataError, match=said):
        resolved("mine")
    assert resolved("gpt-4o").model == "gpt-4o"


def test_a_catalog_that_cannot_be_used_is_not_passed_over() -> None:
    """Where systems.yaml can't be used as a whole, no name is taken to mean what the shipped catalog says."""
    for text in ("systems: [", "sistems: {}", "systems: {mine: {system: openai/x}}\nmore: 1"):
        write("systems.yaml", text)
        with pytest.raises(DataError):
            resolved("gpt-4o")


def test_a_broken_entry_is_meant_by_its_system_too() -> None:
    """Asking for it by its full name would leave out what its entry says; dots in its name are part of it."""
    write("systems.yaml", "systems: {my-1.5: {system: openai/x, heat: 1}, mine: {system: openai/y}}")
    for name in ("my-1.5", "openai/x"):
        with pytest.raises(DataError, match="unknown key 'heat'"):
            resolved(name)
    assert resolved("mine").model == "y"


def test_settings_that_a_model_takes() -> None:
    """The catalog says which settings are sent; a name that it doesn't know may be sent all."""
    mini, other = resolved("gpt-5-mini").make_system(), resolved("openai/other").make_system()
    assert isinstance(mini, OpenAISystem)
    assert isinstance(other, OpenAISystem)
    assert (mini.accepts, other.accepts) == (frozenset({"max_tokens"}) | NEVER_REFUSED, frozenset(OPTIONS))


def test_compatible_server_is_asked_for_its_own_models_name() -> None:
    """The server's name is ours; the model is called as the server calls it."""
    system = resolved("openai-api/my-server/org/tiny").make_system()
    assert isinstance(system, CompatibleSystem)
    assert (system.name, system.model) == ("openai-api/my-server/org/tiny", "org/tiny")


def test_plugin_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that names a class in the group genaipa.systems adds a system of that name."""
    monkeypatch.syspath_prepend(tmp_path)
    write("added-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: added\nVersion: 1.0\n")
    write("added-1.0.dist-info/entry_points.txt", "[genaipa.systems]\nparrot = added_parrot:Parrot\n")
    methods = "\n".join(f"    async def {name}(self, *a): ..." for name in ("start", "reply", "count_tokens", "close"))
    write("added_parrot.py", f"class Parrot:\n    name = 'parrot'\n{methods}\n")
    assert resolved("parrot").make_system().name == "parrot"
    with pytest.raises(UnknownNameError, match="did you mean 'parrot'"):
        resolved("parot")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise RuntimeError('no weights')", "can't be instantiated \\(RuntimeError: no weights\\)"),
        ("def broken(:", "can't be instantiated \\(SyntaxError: "),
        ("import nowhere_at_all", r"own_\d+\.py imports nowhere_at_all, which is not installed\."),
        ("import nowhere_at_all.deep", r"own_\d+\.py imports nowhere_at_all, which is not installed\."),
        ("import os\nos.nothing", "can't be instantiated \\(AttributeError: "),
        ("x = 1", "the module has no 'Assistant'"),
    ],
)
def test_own_module_that_fails(code: str, said: str, request: pytest.FixtureRequest) -> None:
    """Whatever goes wrong in a module of one's own is one sentence that names it."""
    module = f"own_{abs(hash(request.node.name))}"
    write(f"{module}.py", code)
    with pytest.raises(UsageError, match=f"^{module}:Assistant:? {said}"):
        resolved(f"{module}:Assistant").make_system()


def test_a_file_of_the_working_folder_is_no_library() -> None:
    """An assistant of the working folder is found, and what lies beside it under a library's name is never imported."""
    make_workspace(questions=1)
    for name in ("typer", "httpx2", "jinja2", "filelock", "yaml", "openpyxl", "msgspec"):
        write(f"{name}.py", f"open('taken-{name}', 'w').close()\nraise SystemExit('taken')\n")
    write("beside.py", "NAME = 'mine'\n")
    write(
        "mine.py",
        "import openpyxl\n"
        "from beside import NAME\n"
        "from genaipa.systems.base import Readiness, Reply\n"
        "class Mine:\n"
        "    name = NAME\n"
        "    async def start(self): return Readiness()\n"
        "    async def reply(self, messages, settings): return Reply('Yes.')\n"
        "    async def count_tokens(self, text): return None\n"
        "    async def close(self): pass\n",
    )
    command = [sys.executable, "-m", "genaipa", "run", "-s", "mine:Mine", "-p", "acme", "-e", "quality"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(Path().glob("taken-*")) == []
    (run,) = Path("runs").iterdir()
    assert "mine.py" not in sys.modules
    assert "sha256:" in (run / "manifest.json").read_text()
