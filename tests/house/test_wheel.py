"""The wheel holds what git tracks: every data file, every file of the package, the licences, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from source import PACKAGES, ROOT

DATA_FOLDERS = ("prompts", "questions", "policies", "annotations", "rubrics")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The names of the files in a freshly built wheel."""
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    (built,) = out.glob("*.whl")
    return frozenset(zipfile.ZipFile(built).namelist())


@pytest.mark.parametrize("kind", DATA_FOLDERS)
def test_data_files_ship(wheel: frozenset[str], tracked: tuple[Path, ...], kind: str) -> None:
    """A data folder ships as genaipa/_data/<kind>: no file is missing, none is there that git doesn't know."""
    expected = {f"genaipa/_data/{path.as_posix()}" for path in tracked if path.parts[0] == kind}
    assert expected, f"git tracks no file in {kind}/"
    assert {name for name in wheel if name.startswith(f"genaipa/_data/{kind}/")} == expected


def test_package_ships(wheel: frozenset[str], tracked: tuple[Path, ...]) -> None:
    """The package ships whole, its own data files (catalog, templates, lists) and its type marker with it."""
    expected = {path.as_posix() for path in tracked if path.parts[0] in PACKAGES}
    assert "genaipa/py.typed" in expected
    assert {name for name in wheel if name.split("/")[0] in PACKAGES and "/_data/" not in name} == expected


def test_licences_ship(wheel: frozenset[str]) -> None:
    """Whoever gets the wheel gets the licence and the attribution of the paper's questions."""
    licences = {Path(name).name for name in wheel if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "NOTICE"}


def test_nothing_else_ships(wheel: frozenset[str]) -> None:
    """A wheel that carries tests or docs would put them into everybody's site-packages."""
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == PACKAGES


@pytest.mark.full  # it changes with constraints.txt alone
def test_a_list_of_all_packages(tmp_path: Path) -> None:
    """Beside the wheel is a CycloneDX file of what an install of everything brings, by the pinned versions."""
    subprocess.run(
        [sys.executable, ROOT / "docs" / "generate_sbom.py", tmp_path], check=True, stdout=subprocess.DEVNULL
    )
    (file,) = tmp_path.iterdir()
    found = json.loads(file.read_text(encoding="utf-8"))
    listed = {f"{one['name']}=={one['version']}" for one in found["components"]}
    assert not listed - set((ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines())
    assert {"openai", "langsmith", "psycopg-binary", "pyarrow"} <= {one.partition("==")[0] for one in listed}
    refs = {one["bom-ref"] for one in found["components"]} | {found["metadata"]["component"]["bom-ref"]}
    assert {ref for one in found["dependencies"] for ref in (one["ref"], *one["dependsOn"])} == refs
