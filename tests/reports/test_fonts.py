"""Labels of figures in letters that matplotlib's own font lacks: drawn by another font that is here, else said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib.font_manager import fontManager
from running import write

from genaipa.reports.figures import fonts, style

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

QUESTIONS = """name: policy
title: t
kind: policy
placeholder: "[X]"
source: s
license: l
categories: {a: 收集, b: Rights}
questions:
- {id: A1, category: a, origin: user, text: 'What does [X] collect?', paraphrases: []}
- {id: B1, category: b, origin: user, text: 'Which rights do I have?', paraphrases: []}
"""


@pytest.fixture(autouse=True)
def _bare() -> Iterator[None]:
    """Have no font but the one that comes with matplotlib, whatever is on this machine."""
    before = list(fontManager.ttflist)
    fontManager.ttflist[:] = [font for font in before if font.name == fonts.FONT]
    _forget()
    yield
    fontManager.ttflist[:] = before
    _forget()


def _forget() -> None:
    for known in (fonts.list_installed_figure_fonts, fonts.has_glyph):
        known.cache_clear()


def install(signs: str) -> None:
    """Install a font for these letters, under the name of a usual one."""
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((0, 700))
    pen.lineTo((700, 700))
    pen.closePath()
    box, made = pen.glyph(), FontBuilder(1000, isTTF=True)
    made.setupGlyphOrder([".notdef", "box"])
    made.setupCharacterMap({ord(sign): "box" for sign in signs})
    made.setupGlyf({".notdef": box, "box": box})
    made.setupHorizontalMetrics({".notdef": (1000, 0), "box": (1000, 0)})
    made.setupHorizontalHeader(ascent=800, descent=-200)
    made.setupNameTable({"familyName": "Noto Sans CJK SC", "styleName": "Regular"})
    made.setupOS2()
    made.setupPost()
    made.save("cjk.ttf")
    fontManager.addfont("cjk.ttf")
    _forget()


def test_letters_without_a_font_are_named() -> None:
    """By their scripts, in a sentence with a remedy; nothing is said where all can be drawn."""
    for texts, said in {
        ("Überblick", "Ответ", "Ελλάδα", "€ ≤ ✓"): "",
        ("收集数据", "Rights"): "in place of 据, 收, 数, 集: no installed font has Chinese characters. Install one,",
        ("ひらがな", "한글", "中"): "Japanese, Chinese and Korean characters",
        ("ไทย",): "no installed font has Thai characters",
        ("\U0001f9ff",): "",
    }.items():
        lacking = fonts.missing_glyphs_warning_or_empty(texts)
        assert said in lacking, lacking
        assert bool(said) == bool(lacking), lacking


def test_another_font_draws_what_the_first_lacks() -> None:
    """The letters stay in labels, and nothing is said of them; others are still named."""
    install("收集")
    assert fonts.list_installed_figure_fonts() == (fonts.FONT, "Noto Sans CJK SC")
    assert style.replace_undrawable_characters("收集 数据") == "收集 □□"
    assert fonts.missing_glyphs_warning_or_empty(["收集"]) == ""
    assert "in place of 据, 数:" in fonts.missing_glyphs_warning_or_empty(["收集数据"])


def test_a_report_says_which_letters_its_figures_lack(genaipa: Callable[..., Finished]) -> None:
    """On the page, once for all figures."""
    write("genaipa.toml", "")
    write("questions/policy.yaml", QUESTIONS)
    assert genaipa("run", "-s", "extractive", "-p", "brindlecart", "-e", "quality").code == 0
    assert genaipa("report", "-o", "out", "--formats", "svg").code == 0
    assert Path("out/index.html").read_text().count("no installed font has Chinese characters") == 1
