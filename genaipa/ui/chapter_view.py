"""Tables and figures of a report's chapter on a page of the desk."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.reports import render
from genaipa.ui.widgets import Column, Row, Text, long_table, texts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.reports.chapters.chapter import Chapter
    from genaipa.reports.table import Table
    from genaipa.scoring.people import User
    from genaipa.ui.results import View


def readable(chapters: Iterable[Chapter], user: User) -> list[Chapter]:
    """The chapters that a user may read: how good the judges are is for those who lead the study."""
    return [chapter for chapter in chapters if chapter.name != "judges" or user.adjudicates]


def show_chapter(key: str, chapter: Chapter, found: View) -> None:
    """The chapter's lead, what it lacks, its figures and its tables; `key` begins the keys of what is mounted."""
    texts(f"{key} chapter lead", [Text(sentence, tone="system") for sentence in (chapter.lead, *chapter.absent)])
    for figure in chapter.figures:
        texts(f"{key} figure {figure.name}", [Text(figure.note, figure.title, tone="system", fold=400)])
        st.image(found.picture(figure), alt=figure.title)
    for each in chapter.tables:
        show_table(key, each)


def show_table(key: str, each: Table) -> None:
    """A table of a report with its title and note, of which one page of rows is on screen."""
    texts(f"{key} title {each.name}", [Text(each.note, each.title, tone="system", fold=400)])
    right = set(render.numeric(each))
    columns = [Column(name, right=place in right) for place, name in enumerate(render.headings(each))]

    def row(place: int) -> Row:
        return Row(render.rows(replace(each, data=each.data.iloc[place : place + 1]))[0])

    long_table(f"{key} table {each.name}", each.title, columns, range(len(each.data)), row)
