"""Write dist/genaipa-VERSION.cdx.json: every package that an install of everything brings, in CycloneDX.

Read from what is installed here, by the versions in constraints.txt: `make wheel` runs it. With a folder as its
argument it writes there.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from genaipa_artifact.artifact import map_dependencies_to_what_they_need

EXTRAS = ("all",)


def component(name: str) -> dict[str, Any]:
    """One package: its name, its version, where it comes from, and its license as its authors state it."""
    of = distribution(name)
    stated = of.metadata.get("License-Expression")
    licenses = {"licenses": [{"expression": stated}]} if stated else {}
    url = f"pkg:pypi/{name}@{of.version}"
    return {"type": "library", "bom-ref": url, "name": name, "version": of.version, "purl": url, **licenses}


def main() -> None:
    """Write the file."""
    known = map_dependencies_to_what_they_need("genaipa", EXTRAS)
    root, *parts = (component(name) for name in sorted(known, key=lambda name: (name != "genaipa", name)))
    refs = {one["name"]: one["bom-ref"] for one in (root, *parts)}
    dependencies = [
        {"ref": refs[name], "dependsOn": sorted(refs[other] for other in others if other in refs and other != name)}
        for name, others in sorted(known.items())
    ]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**root, "type": "application"}},
        "components": parts,
        "dependencies": dependencies,
    }
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "dist"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"genaipa-{root['version']}.cdx.json"
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {path}: {len(parts)} packages")


if __name__ == "__main__":
    main()
