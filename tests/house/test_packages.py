"""The core works without the packages beside it, of which it names none."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

import pytest
from copies import copy_genaipa, interpreter, remove_packages
from source import PACKAGES, ROOT

from genaipa.cli.terminal.headings import OWN
from genaipa.plugins import ships_with_genaipa

if TYPE_CHECKING:
    from pathlib import Path

BESIDE = sorted(PACKAGES - {"genaipa"})


@pytest.mark.parametrize("package", BESIDE)
def test_the_core_names_no_package(package: str) -> None:
    """No file of the core, its templates and scripts included, has a package's name."""
    files = (path for path in (ROOT / "genaipa").rglob("*") if path.suffix in {".py", ".jinja", ".js", ".yaml"})
    assert [path for path in files if package in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize("package", BESIDE)
def test_a_package_is_known_as_ours_and_held_to_the_rules(package: str) -> None:
    """It is found by an entry point, ships, is checked, and may be imported neither by the core nor by another one."""
    assert ships_with_genaipa(f"{package}.some")
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contracts = {contract["type"]: contract for contract in tools["importlinter"]["contracts"]}
    lists = (
        *(tools["hatch"]["build"]["targets"]["wheel"]["only-include"], tools["mypy"]["packages"]),
        tools["importlinter"]["root_packages"],
        *(contracts["forbidden"]["forbidden_modules"], contracts["independence"]["modules"]),
    )
    assert all(package in names for names in lists)


def test_the_core_alone_works(tmp_path: Path) -> None:
    """It lists its own commands, asks, reports, and knows nothing of what a package would have brought."""
    copy = copy_genaipa(tmp_path / "core")
    remove_packages(copy)
    with interpreter(copy) as genaipa:
        listed = genaipa("--help-all").out.partition("\nOptions:\n")[0]
        assert sorted(re.findall(r"(?m)^  ([a-z]+)  +[A-Z]", listed)) == sorted(OWN)
        asked = ("run", "-s", "extractive", "-p", "brindlecart-de", "-e", "quality", "--limit", "1")
        for words in (asked, ("questions",), ("validate",)):
            done = genaipa(*words)
            assert done.code == 0, (words, done.err)
        told = json.loads(genaipa("report", "latest", "--json").out)
        assert told["problems"] == []
        assert [name for name in told["tables"] if name.startswith(("retrieval", "points", "occasions"))] == []
        refused = genaipa("export")
        assert (refused.code, "there is no command 'export'" in refused.err) == (2, True)
