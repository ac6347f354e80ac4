"""The documentation's site has every page, and what checks it finds what is wrong."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import yaml

import genaipa

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def pages(nav: Any) -> list[str]:
    """The pages of a navigation, however deep."""
    entries = nav.values() if isinstance(nav, dict) else nav
    return [nav] if isinstance(nav, str) else [page for entry in entries for page in pages(entry)]


def test_each_page_is_in_the_navigation() -> None:
    """mkdocs.yml lists every page of docs/ once, and no other, but for those that cli.md links."""
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    commands = DOCS / "reference" / "cli"
    written = (path for path in DOCS.rglob("*.md") if path.parent != commands)
    assert sorted(pages(config["nav"])) == sorted(path.relative_to(DOCS).as_posix() for path in written)


def test_each_public_name_is_in_the_reference() -> None:
    """docs/reference/python.md asks for the docstring of every public name, once."""
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^::: genaipa\.(\w+)$", page, re.MULTILINE)) == genaipa.__all__


def test_commands_of_pages_are_run(tmp_path: Path) -> None:
    """Blocks run in order in one shell, an example doesn't, and a command that ends otherwise than it says is named."""
    page = tmp_path / "page.md"
    shown = "```console\n$ cat > a.txt <<END\n> one\n> END\n$ mkdir b && \\\n  cd b\n```\n\n"
    shown += "<!-- example -->\n\n```console\n$ no-such\n```\n"
    page.write_text(
        shown + "```console\n$ grep -q one ../a.txt\n$ (echo output; exit 3)  # ends with 3\noutput\n```\n",
        encoding="utf-8",
    )
    consoles = runpy.run_path(str(DOCS / "run_consoles.py"))
    consoles["run"].__globals__["DOCS"] = tmp_path
    assert consoles["run"](page)[::2] == (4, "")
    page.write_text(shown + "```console\n$ echo so far\n$ cat c.txt\n$ echo never\n```\n", encoding="utf-8")
    said = consoles["run"](page)[2]
    assert said.startswith("page.md: $ cat c.txt\nso far\n")
    assert "never" not in said
    page.write_text(
        "```console\n$ echo 23  answers in 4 s && \\\n  echo so\n23 answers in … s\nso\n16 answers\n```\n",
        encoding="utf-8",
    )
    assert consoles["run"](page)[2] == "page.md: no command prints: 16 answers\n"


def test_faults_of_the_site_are_found(tmp_path: Path) -> None:
    """Links to no page, to no anchor and out of the site; what is loaded from elsewhere; a list in a paragraph."""
    (tmp_path / "a").mkdir()
    (tmp_path / "out.txt").touch()
    site = tmp_path / "a"
    (site / "b").mkdir()
    (site / "b" / "index.html").write_text(
        '<h1 id="there">B</h1><a href="../#no"></a><a href="../../out.txt"></a><p>So:\n- one</p>'
    )
    (site / "index.html").write_text(
        '<a href="b/#there"></a><a href="c/"></a><a href="https://example.org"></a><img src="//cdn.example/x.png">'
    )
    (site / "x.css").write_text("a { background: url('https://example.org/y.png'); }")
    check = runpy.run_path(str(DOCS / "check_site.py"))
    check["faults"].__globals__["SITE"] = site
    assert sorted(check["faults"]({path: check["Page"](path) for path in site.rglob("*.html")})) == [
        "b/index.html: ../#no has no such anchor",
        "b/index.html: ../../out.txt leads nowhere",
        "b/index.html: an empty line is missing before '- one'",
        "index.html: //cdn.example/x.png is loaded from elsewhere",
        "index.html: c/ leads nowhere",
        "x.css: https://example.org/y.png is loaded from elsewhere",
    ]
