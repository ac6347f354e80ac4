"""Tables in LaTeX fit a page of `article`, and set what is a formula as one."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from commandline import Finished

from genaipa.reports import render
from genaipa.reports.table import Table

NUMBERS = ["leave out a score", "answers where silent", "completeness", "M_all elsewhere", "p (Holm)"]


def made(head, row, right, rows=1, note=""):
    """A table of equal rows in LaTeX."""
    return render.render_latex_table("t", "T", note, head, [row] * rows, right)


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
    """A narrow table floats in a column, a wide one over both; a longtable, which stops there, has a page of one."""
    narrow, wide = made(["a"], ['a "b"'], set()), made(["words"] * 5, ["words of some width"] * 5, set())
    long = made(["a"], ["b"], set(), rows=50)
    assert r"\begin{table}[tbp]" in narrow
    assert r"\end{table}" in narrow
    assert r"\begin{table*}[tbp]" in wide
    assert r"\end{table*}" in wide
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}" in narrow
    assert "a ''b''" in narrow
    assert long.index(r"\onecolumn") < long.index(r"\begin{longtable}") < long.index("\n\\genaipaback")


def test_a_note_is_a_sentence_and_the_rest_a_comment() -> None:
    """Only the first sentence is set; no line of the others is left outside a comment, whatever they hold."""
    text = made(
        ["a"], ["b"], set(), note=f"One is set.\nThe others, 5 % of {chr(92)}all, aren't. {'Words. ' * 40}Last."
    )
    assert r"\emph{Note.} One is set.\end{minipage}" in text
    assert "% The others, 5 % of \\all, aren't. Words." in text
    before = text[: text.index(r"\begin{table}")].splitlines()
    assert all(line.startswith("%") and len(line) < 105 for line in before)
    assert before[-1].endswith("Last.")


def test_a_column_without_a_value_is_in_no_form_but_csv() -> None:
    """What nobody has a value of takes no room where people read; a table that has nothing at all keeps its heads."""
    data = pd.DataFrame({"system": ["a"], "recall": [float("nan")], "low": [float("nan")], "high": [float("nan")]})
    table = Table("t", "T", "", data, formats={"recall": ".1f", "low": ".1f", "high": ".1f"})
    forms = {suffix: form(table) for suffix, form in render.FORMS.items()}
    assert [suffix for suffix, text in forms.items() if "recall" in text] == [".csv"]
    assert [suffix for suffix, text in forms.items() if "low" in text] == [".csv"]
    assert "recall" in render.as_latex(replace(table, data=data[:0]))


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
