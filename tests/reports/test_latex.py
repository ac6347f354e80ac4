"""Tables in LaTeX fit a page of `article`, and set what is a formula as one."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from commandline import Finished

from genaipa.reports import render

NUMBERS = ["leave out a score", "answers where silent", "completeness", "M_all elsewhere", "p (Holm)"]


def made(head, row, right, rows=1, note=""):
    """A table of equal rows in LaTeX."""
    return render.latex_table("t", "T", note, head, [row] * rows, right)


def test_a_wide_table_gives_way_step_by_step() -> None:
    """Headings break into lines, then stand upright; texts break behind a `/`; letters shrink last."""
    head, row = ["system", *NUMBERS], ["published/chatgpt-4", *["77.5"] * 5]
    assert "rotatebox" not in made(head, row, set(range(1, 6)))
    broken = made([*head, *NUMBERS[:3]], [*row, *["1"] * 3], set(range(1, 9)))
    assert r"\shortstack[r]{completeness}" not in broken
    assert r"\shortstack[r]{answers \\ where \\ silent}" in broken
    upright = made(["system", *NUMBERS * 3], ["published/chatgpt-4", *["77.5"] * 15], set(range(1, 16)))
    assert r"\rotatebox{90}{completeness}" in upright
    texts = made(["a"] * 6, ["openai-api/host/model"] * 5 + ["Many words of a reason. " * 9], set())
    widths = [float(points) for points in re.findall(r"p\{([\d.]+)pt\}", texts)]
    assert sum(widths) < 469
    assert r"host/\allowbreak{}model" in texts
    assert r"\scriptsize" not in texts


def test_a_high_table_breaks_over_pages() -> None:
    """Few rows whose texts take many lines are a longtable as well as many rows are."""
    row = ["T_f1", "words " * 60]
    assert r"\begin{longtable}" in made(["question", "text"], row, set(), rows=20)
    assert r"\begin{tabular}" in made(["question", "text"], row, set(), rows=4)


def test_tables_stand_in_classes_of_two_columns() -> None:
    """A table floats over both columns, never wider than they; a longtable, which stops there, has a page of one."""
    floating, long = made(["a"], ['a "b"'], set()), made(["a"], ["b"], set(), rows=50)
    assert r"\begin{table*}" in floating
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}" in floating
    assert "a ''b''" in floating
    assert long.index(r"\onecolumn") < long.index(r"\begin{longtable}") < long.index("\n\\genaipaback")


def test_formulas() -> None:
    """M_all and p-values are formulas, and the note is one that stands under the table from its left."""
    text = made(["M_all", "p"], ["77.5", "2.5e-05"], {0, 1}, note="M_all, and `M_all` as code.")
    assert r"$M_{\mathrm{all}}$ & p \\" in text
    assert r"77.5 & $2.5\times10^{-5}$ \\" in text
    assert r"\emph{Note.} $M_{\mathrm{all}}$, and \texttt{$M_{\mathrm{all}}$} as code." in text


# What each class needs to begin; article's margins are those that README's tables are made for.
CLASSES = {
    "[conference]{IEEEtran}": r"\begin{document}",
    "[sigconf,nonacm]{acmart}": r"\begin{document}\title{T}\author{A}\affiliation{\institution{I}\country{C}}"
    r"\maketitle",
    "[twocolumn]{article}": r"\begin{document}",
    "{article}": r"\usepackage[margin=1in]{geometry}\begin{document}",
}


@pytest.mark.full
@pytest.mark.parametrize("opening", CLASSES)
def test_a_reports_tables_compile(opening: str, demo: tuple[Path, Finished], tmp_path: Path) -> None:
    """In one column and in two, all tables of the demo's report compile, and none is wider than its place."""
    kind = re.sub(r"\[.*\]|\W", "", opening)
    if shutil.which("pdflatex") is None or subprocess.run(["kpsewhich", f"{kind}.cls"], check=False).returncode:
        pytest.skip(f"needs LaTeX and {kind}.cls (Debian's texlive-publishers)")
    tables = sorted((demo[0] / "reports" / "demo" / "tables").glob("*.tex"))
    assert len(tables) > 15
    lines = [
        rf"\documentclass{opening}\usepackage{{array,booktabs,graphicx,longtable}}{CLASSES[opening]}",
        *(rf"\input{{{table}}}\clearpage" for table in tables),
        r"\end{document}",
    ]
    (tmp_path / "all.tex").write_text("\n".join(lines), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    log = (tmp_path / "all.log").read_text(encoding="latin-1")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull \\hbox" not in log
