"""What a release says of itself is one thing in every file, and what its workflows call exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import genaipa

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_one_version() -> None:
    """The citation and the changelog name the version that the package has."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    newest = re.search(r"^## \[(\d[^]]*)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert (citation["version"], str(citation["date-released"])) == newest.groups()
    assert citation["version"] == genaipa.__version__


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows(file: Path) -> None:
    """A workflow reads as YAML, writes nothing by default, and runs targets that the Makefile has."""
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(re.search(r"@(v\d|release/v\d)", step["uses"]) for step in steps if "uses" in step)
    called = {name for step in steps for name in re.findall(r"\bmake (\w+)", step.get("run", ""))}
    targets = set(re.findall(r"^([\w-]+)(?= .*:|:)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert called <= targets
