"""Write the desk's scripts into a folder as the browser gets them, each after the files that it builds on.

A linter sees there whether every name that they use is declared, and none twice: `make scripts`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from genaipa.ui.widgets import COMPONENTS, read_component_script_and_style

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name in COMPONENTS:
    (folder / f"{name}.js").write_text(read_component_script_and_style(name)[0], encoding="utf-8")
