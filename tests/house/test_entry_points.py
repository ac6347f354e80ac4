"""The entry points of installed packages, read as importlib.metadata reads them."""

from __future__ import annotations

from importlib.metadata import distributions
from typing import TYPE_CHECKING

from genaipa.plugins import entry_point_targets

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def write_package(folder: Path, name: str, points: str) -> None:
    """Install a package that is nothing but its entry points."""
    (folder / name).mkdir(parents=True)
    (folder / name / "METADATA").write_text("Name: acme\nVersion: 1\n", encoding="utf-8")
    (folder / name / "entry_points.txt").write_text(points, encoding="utf-8")


def test_entry_points_are_those_that_the_library_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comments, blanks, other groups and a second copy of the package change nothing; extras are no part of a class."""
    points = "# by hand\n[genaipa.facts]\n mood=acme.mood : Mood \n\n[other]\ntone = acme:Tone\n"
    write_package(tmp_path / "one", "acme-1.dist-info", points)
    write_package(tmp_path / "two", "acme-2.dist-info", "[genaipa.facts]\nmood = acme.old:Mood\n")
    write_package(tmp_path / "two", "best.of-3.egg-info", "[genaipa.facts]\nlength = best:Length [all]\n")
    for folder in ("two", "one"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    known = entry_point_targets("genaipa.facts")
    assert known["mood"] == "acme.mood : Mood"
    assert known["length"] == "best:Length"
    (package,) = distributions(path=[str(tmp_path / "one")])
    assert {point.name: point.value for point in package.entry_points.select(group="genaipa.facts")} == {
        "mood": known["mood"]
    }
