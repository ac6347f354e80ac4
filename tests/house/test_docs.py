"""What the documentation shows exists as it is shown."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from genaipa.cli.terminal.headings import RENAMED

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def shown_commands() -> list[str]:
    """Every genaipa command in a console block of the README or the docs."""
    found = []
    for page in PAGES:
        for block in re.findall(r"```console\n(.*?)```", page.read_text(), flags=re.DOTALL):
            joined = block.replace("\\\n", " ")
            found += re.findall(r"^\$ (?:.*&& )?(genaipa .*?)(?: +#.*)?$", joined, flags=re.MULTILINE)
    return sorted(set(found))


@pytest.mark.parametrize("name", ["cli", "columns"])
def test_generated_pages_are_current(name):
    """The pages of commands and of columns are what their generators write now."""
    generator = runpy.run_path(str(ROOT / "docs" / f"generate_{name}.py"))
    assert (ROOT / "docs" / "reference" / f"{name}.md").read_text() == generator["whole_page"](), (
        f"run: python docs/generate_{name}.py"
    )


@pytest.mark.parametrize("command", shown_commands())
def test_commands_and_flags_exist(command):
    """Each command that a page shows, and each flag of it, is in the generated page of commands."""
    words = shlex.split(command)[1:]
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    words = [*RENAMED.get(words[0], words[:1]), *words[1:]]
    names = [word for word in words if re.fullmatch("[a-z]+", word)]
    wanted = [f"### genaipa {' '.join(names[:3])}", f"### genaipa {' '.join(names[:2])}", f"## genaipa {names[0]}"]
    sections = dict(re.findall(r"^(##+ genaipa [a-z ]+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL))
    section = next((sections[title] for title in wanted if title in sections), None)
    assert section, f"no command {words[0]}"
    flags = [word.partition("=")[0] for word in words if re.match("--?[a-z]", word)]
    missing = [flag for flag in flags if not re.search(rf"(?<![\w-]){flag}(?![\w-])", section)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page):
    """A relative link names a file of the repository."""
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page, tracked):
    """A Python file, or a path of ours, that a page names is in the repository."""
    named = re.findall(r"`([\w/]+\.py|(?:genaipa|tests|docs|benchmarks)/(?!_data)[\w./]+)`", page.read_text())
    files = ["/" + path.as_posix() for path in tracked]
    assert [name for name in named if not any(f"/{name}" in file for file in files)] == []
