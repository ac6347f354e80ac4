"""The shell recipes of docs/guide/scale.md, as they stand there but for the system, the folder and fewer slices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rounds import DOCUMENTS, kept, write_corpus
from running import make_workspace

from genaipa.runs.selection import find_sliced_study
from genaipa.workspace import find_workspace

GUIDE = Path(__file__).parents[2] / "docs/guide/scale.md"


def run_recipe(word: str, **variables: str) -> None:
    """Run the block of bash that has a word."""
    blocks = [part.partition("```")[0] for part in GUIDE.read_text(encoding="utf-8").split("```bash\n")[1:]]
    (script,) = (block for block in blocks if word in block)
    system = "-s extractive -i company-name --limit 1"
    for before, after in (
        ("--system gpt-6-luna", system),
        ("--system vllm/Qwen/Qwen3-8B", system),
        ("/shared/study", str(Path.cwd())),
        ("seq 16", "seq 3"),
        ("/16", "/3"),
    ):
        script = script.replace(before, after)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", script],
        env=os.environ | {"PATH": path} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.full
def test_shells_and_job_arrays() -> None:
    """Slices that xargs starts, or an array's tasks one by one, are a whole study."""
    make_workspace(questions=1, documents=())
    write_corpus(DOCUMENTS)
    run_recipe("xargs")
    assert len(kept()) == len(DOCUMENTS)
    Path("runs").rename("before")
    for task in ("3", "1", "2"):
        run_recipe("SBATCH", SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT="3")
    study = find_sliced_study(find_workspace(), "shops")
    assert study is not None
    assert (study.number, study.missing_slices, len(kept())) == (3, [], len(DOCUMENTS))
