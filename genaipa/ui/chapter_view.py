"""Tables and figures of a report's chapter on a page of the desk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.reports import render
from genaipa.ui.results import DPI
from genaipa.ui.widgets import Column, Row, long_table, noted, texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.table import Table
    from genaipa.scoring.people import User
    from genaipa.ui.results import View


_SCALE = 150 / DPI
"""Pixels on the page for one of a figure's PNG file: letters are then as large as the page's, whatever its width."""


def readable(chapters: Iterable[Chapter], user: User) -> list[Chapter]:
    """The chapters that a user may read: how good the judges are is for those who lead the study."""
    return [chapter for chapter in chapters if chapter.name != "judges" or user.adjudicates]


def show_chapter(key: str, chapter: Chapter, found: View) -> None:
    """The chapter's lead, what it lacks, its figures and its tables; `key` begins the keys of what is mounted."""
    texts(f"{key} chapter lead", [noted("", sentence) for sentence in (chapter.lead, *chapter.absent)])
    for figure in chapter.figures:
        texts(f"{key} figure {figure.name}", [noted(figure.title, figure.note)])
        png = found.picture(figure)
        st.image(png, alt=figure.title, width=round(int.from_bytes(png[16:20]) * _SCALE))
    for each in chapter.tables:
        show_table(key, each)


def show_table(key: str, each: Table) -> None:
    """A table of a report with its title and note; one page of rows is on screen."""
    texts(f"{key} title {each.name}", [noted(each.title, each.note)])
    right = set(render.numeric(each))
    columns = [Column(name, right=place in right) for place, name in enumerate(render.headings(each))]

    def row(place: int) -> Row:
        return Row(replace(each, data=each.data.iloc[place : place + 1]).cells[0])

    long_table(f"{key} table {each.name}", each.title, columns, range(len(each.data)), row)
