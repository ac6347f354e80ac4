"""The fonts of figures: that of matplotlib, and for letters that it lacks whatever this machine has."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from genaipa.words import join_names, join_some

if TYPE_CHECKING:
    from collections.abc import Iterable

FONT = "DejaVu Sans"
"""Comes with matplotlib, so that a figure looks the same everywhere."""
_FALLBACKS = (
    *("Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR"),
    *("Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "Microsoft YaHei"),
    *("SimHei", "PingFang SC", "Hiragino Sans GB", "Hiragino Sans", "Yu Gothic", "Meiryo", "MS Gothic"),
    *("Malgun Gothic", "Apple SD Gothic Neo", "NanumGothic", "Noto Sans Arabic", "Noto Naskh Arabic", "Geeza Pro"),
    *("Noto Sans Hebrew", "Noto Sans Thai", "Noto Sans Devanagari", "Arial Unicode MS", "Segoe UI", "Unifont"),
)
"""Fonts for letters that it lacks, the best first: of Chinese, Japanese and Korean, of Arabic, of others."""
_SHOWN = 5
_SCRIPTS = {"CJK": "Chinese", "HIRAGANA": "Japanese", "KATAKANA": "Japanese", "HANGUL": "Korean"}


@cache
def list_installed_figure_fonts() -> tuple[str, ...]:
    """Return the names of the fonts of figures, as far as they are installed."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return (FONT, *(name for name in _FALLBACKS if name in installed))


@cache
def has_glyph(character: str) -> bool:
    """Tell whether a letter can be drawn here."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    return any(
        get_font(findfont(FontProperties(family=[name]))).get_char_index(ord(character))
        for name in list_installed_figure_fonts()
    )


def missing_glyphs_warning_or_empty(texts: Iterable[str]) -> str:
    """Return a sentence on the letters of these texts that no installed font has; empty where all can be drawn."""
    signs = sorted({sign for text in texts for sign in text if not sign.isspace() and not has_glyph(sign)})
    scripts = dict.fromkeys(_script_name(sign) for sign in signs if unicodedata.category(sign)[0] in "LM")
    if not scripts:
        return ""
    return (
        f"Figures show boxes in place of {join_some(signs, _SHOWN)}: no installed font has {join_names(list(scripts))} "
        "characters. Install one, such as Noto Sans CJK (Debian: fonts-noto-cjk, fonts-noto-core), and make the report "
        "again."
    )


def _script_name(character: str) -> str:
    """Return the script of a letter, by the first word of its name."""
    first = unicodedata.name(character, "these").split()[0]
    return _SCRIPTS.get(first, first.capitalize() if first.isupper() else first)
