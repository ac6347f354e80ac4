"""No ring of imports, and what a start of the command line may cost; `lint-imports` holds the rooms."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from source import ROOT, tree

from genaipa import load_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

# Each of these takes longer to import than everything else that `genaipa --help` does, or is an SDK.
TOO_HEAVY = {
    *("openai", "anthropic", "google", "tiktoken", "httpx", "httpx2", "aiohttp", "requests"),
    *("numpy", "pandas", "scipy", "sklearn", "matplotlib", "bm25s", "ray"),
    *("jinja2", "yaml", "msgspec", "pydantic"),
    *("streamlit", "sqlalchemy", "openpyxl", "rapidfuzz"),
    *("langchain_core", "langchain_text_splitters", "trafilatura", "lxml", "mammoth", "pypdf", "genai_prices"),
}


def _imported(node: ast.AST) -> Iterator[str]:
    """Names that are imported at run time, in functions too; what only a type checker reads is left out."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom) and child.module:
            yield child.module
            yield from (f"{child.module}.{one.name}" for one in child.names)
        elif isinstance(child, ast.Import):
            yield from (one.name for one in child.names)
        elif not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from _imported(child)


def _reached(module: str, graph: dict[str, set[str]]) -> set[str]:
    found, ahead = set(), [module]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def _module_names(module: str) -> set[str]:
    """Return the names that a module binds, and those of its submodules."""
    path = Path(*module.split("."))
    folder = (ROOT / path).is_dir()
    nodes = [*ast.walk(tree(path / "__init__.py" if folder else path.with_suffix(".py")))]
    names = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    names |= {one.asname or one.name for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
    names |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {file.stem for file in (ROOT / path).glob("*")} if folder else names


def test_what_commands_and_code_strings_import_is_there() -> None:
    """No type checker reads the container's file, CI, the pages, or the programs that benchmarks start."""
    files = [*(ROOT / "container").iterdir(), *(ROOT / ".ci").iterdir(), *(ROOT / "docs").rglob("*.md")]
    texts = {path: path.read_text() for path in (*files, *(ROOT / "benchmarks").glob("*.py"))}
    imports = [
        (path.name, module, name)
        for path, text in texts.items()
        for module, names in re.findall(r"from (genaipa[\w.]*) import (\w+(?:, \w+)*)", text)
        for name in names.split(", ")
    ]
    assert len(imports) > 50
    assert [found for found in imports if found[2] not in _module_names(found[1])] == []


def test_no_files_import_each_other_in_a_ring() -> None:
    """No file reaches itself by what it imports at run time, in functions too."""
    # Packages beside genaipa are held to it, too.
    files = [path.relative_to(ROOT) for package in ROOT.glob("genaipa*") for path in package.rglob("*.py")]
    names = {path: ".".join(path.with_suffix("").parts) for path in files}
    modules = {name.removesuffix(".__init__"): path for path, name in names.items()}
    graph = {module: set(_imported(tree(path))) & (modules.keys() - {module}) for module, path in modules.items()}
    assert [module for module in graph if module in _reached(module, graph)] == []


def test_the_page_of_all_commands_is_light() -> None:
    """It imports no SDK, no heavy library, and of a package no more than says which commands it has."""
    probe = "import sys, genaipa.cli as cli; cli.run_command_line(['--help-all']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    modules = done.stderr.split()
    assert "  export " in done.stdout
    assert {name.partition(".")[0] for name in modules} & TOO_HEAVY == set()
    ours = {name for name in modules if name.startswith("genaipa_") and "." in name}
    assert {name.partition(".")[2] for name in ours} == {"entries"}


# A system that replies with the frames of ours that lie between the command's entry and its adapter.
_FRAMED = """
import traceback
import genaipa
from genaipa.systems.base import Readiness, Reply

class Framed:
    name, words = "framed", "own"
    async def start(self): return Readiness()
    async def reply(self, messages, settings):
        home = genaipa.__file__.removesuffix("__init__.py")
        return Reply(" ".join(f.name for f in traceback.extract_stack() if f.filename.startswith(home)))
    async def count_tokens(self, text): return None
    async def close(self): pass
"""


def test_few_frames_lead_to_a_system(genaipa: Callable[..., Finished]) -> None:
    """A call's stack has four frames of ours from the tests' entry to asyncio, and six from there to the adapter."""
    Path("framed.py").write_text(_FRAMED)
    done = genaipa("run", "-s", "framed:Framed", "-p", "brindlecart", "-e", "quality", "--limit", "1")
    assert done.code == 0, done.err
    frames = str(load_run("latest").answers()[-1].reply).split()
    begun, asked = frames.index("run_command_line"), frames.index("_run_dialogue")
    assert (asked - begun, len(frames) - asked) == (4, 6)


def test_the_splitter_s_telemetry_is_never_imported(tmp_path: Path) -> None:
    """The client langsmith comes with the splitter: splitting imports none of it, whatever variables say."""
    (tmp_path / "genaipa.toml").touch()
    probe = (
        "import sys; from genaipa.policies.document import split_by_token_limit\n"
        "from genaipa.policies.document import load_document\n"
        "assert len(split_by_token_limit(load_document('brindlecart'), 500, len)) > 1\n"
        "print(*[name for name in sys.modules if name.startswith('langsmith')], 'none')"
    )
    tracing = {"LANGSMITH_TRACING": "true", "LANGCHAIN_TRACING_V2": "true", "LANGSMITH_API_KEY": "made-up"}
    done = subprocess.run(
        [sys.executable, "-c", probe],
        cwd=tmp_path,
        env=os.environ | tracing,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "none", done.stderr


def test_the_engine_knows_no_way_of_asking() -> None:
    """Batches are a transport like single calls: the engine names neither, nor does it ask which it has."""
    engine = (ROOT / "genaipa/execution/engine.py").read_text(encoding="utf-8")
    assert "batch" not in engine.casefold()
