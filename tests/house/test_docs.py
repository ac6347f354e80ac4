"""What the documentation shows exists as it is shown."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from genaipa.cli.terminal.headings import RENAMED

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / "docs" / "reference" / "cli"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
WRITTEN = [page for page in PAGES if page.parent != COMMANDS]
"""Pages that no generator makes of commands' help."""


def shown_commands() -> list[str]:
    """Every genaipa command in a console block of the README or the docs."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), flags=re.DOTALL):
            joined = block.replace("\\\n", " ")
            found += re.findall(r"^\$ (?:.*&& )?(genaipa .*?)(?: +#.*)?$", joined, flags=re.MULTILINE)
    return sorted(set(found))


@pytest.mark.parametrize("name", ["cli", "columns", "python"])
def test_generated_pages_are_current(name):
    """The pages of commands, columns and public names are what their generators write now."""
    pages = runpy.run_path(str(ROOT / "docs" / f"generate_{name}.py"))["whole_pages"]()
    assert {path: path.read_text() for path in pages if path.exists()} == pages, f"run: python docs/generate_{name}.py"
    folders = {path.parent for path in pages if path.parent == COMMANDS}
    assert {path for folder in folders for path in folder.iterdir()} <= set(pages)


@pytest.mark.parametrize("command", shown_commands())
def test_commands_and_flags_exist(command):
    """Each command that a page shows, and each flag of it, is in the command's generated page."""
    words = shlex.split(command)[1:]
    words = [*RENAMED.get(words[0], words[:1]), *words[1:]]
    names = [word for word in words if re.fullmatch("[a-z]+", word)]
    page = COMMANDS / f"{names[0]}.md"
    assert page.exists(), f"no command {words[0]}"
    sections = dict(re.findall(r"^#+ genaipa ([a-z ]+)\n(.*?)(?=^#|\Z)", page.read_text(), re.MULTILINE | re.DOTALL))
    wanted = [" ".join(names[:count]) for count in (3, 2, 1)]
    section = next(sections[title] for title in wanted if title in sections)
    flags = [word.partition("=")[0] for word in words if re.match("--?[a-z]", word)]
    missing = [flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", section)]
    assert not missing


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    """A relative link names a file of the repository."""
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_files_that_are_named_exist(page, tracked):
    """A Python file, or a path of ours, that a page names is in the repository."""
    named = re.findall(r"`([\w/]+\.py|(?:genaipa|tests|docs|benchmarks)/(?!_data)[\w./]+)`", page.read_text())
    files = ["/" + path.as_posix() for path in tracked]
    assert [name for name in named if not any(f"/{name}" in file for file in files)] == []
