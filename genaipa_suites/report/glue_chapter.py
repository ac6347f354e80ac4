"""PrivacyGLUE's chapter of a report, and the figure of its pairs of systems."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from genaipa.reports.chapters.chapter import Chapter, drawn, present
from genaipa.reports.figures import style
from genaipa.reports.figures.figure import Figure
from genaipa_suites.privacyglue.task import PrivacyGLUE
from genaipa_suites.report import glue_tables as tables
from genaipa_suites.report.glue import GLUE, views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Canvas

    from genaipa.reports.table import Table
    from genaipa.runs.selection import Source
    from genaipa_suites.report.glue import Standing
    from genaipa_suites.report.scored import Scored

_PANELS = 6
"""Pairs that a figure has room for."""
_NAME = 32
"""Characters of a system's name above a panel."""
_METHOD = (
    "PrivacyGLUE's rows are measures of its suites, and its means run over all 14 of them, two for each task (with the "
    "14 all means printed in the paper come out, with one row for each task they do not). Repetitions are what seeds "
    "are to the paper's encoders."
)


def chapter(sources: Sequence[Source], every: Sequence[Scored], encoders: Sequence[Standing]) -> Chapter | None:
    """The chapter on PrivacyGLUE; None if no run asked all its tasks, and there are no imported encoders."""
    made: list[Table] = []
    first: list[str] = []
    figures: list[Figure | None] = []
    for view in views(sources, every, encoders):
        found = tables.compared(view)
        agreed = tables.pairs(found, view)
        rows = tables.rows(view)
        first += [rows.name] if rows else []
        made += [rows, tables.averages(view), tables.tests(view), agreed, tables.shown(found, view)]
        figures.append(_figure(agreed))
    if not present(*made):
        return None
    return Chapter(
        GLUE,
        PrivacyGLUE.title,
        PrivacyGLUE.about,
        present(*made),
        drawn(*figures),
        method=_METHOD,
        references={f"reference-{GLUE}": escape(PrivacyGLUE.citation)},
        first=tuple(first) or (present(*made)[0].name,),
    )


def _figure(agreed: Table) -> Figure | None:
    """The examples that only one of two systems has right, by task."""
    if not agreed:
        return None
    number = len(agreed.data[["a", "b"]].drop_duplicates())
    first = f" The first {_PANELS} of {number} pairs; the table has all." if number > _PANELS else ""
    about = (
        "Per cent of a task's examples that only the first system has right (to the right), and only the second (to "
        f"the left); examples that both or neither have right are left out.{first}"
    )
    return Figure(agreed.name, agreed.title, about, agreed, lambda: _draw(agreed))


def _draw(agreed: Table) -> Canvas:
    data = agreed.data
    pairs = list(dict.fromkeys(zip(data["a"], data["b"], strict=True)))[:_PANELS]
    tasks = list(dict.fromkeys(data["task"]))
    down, across = style.panels(len(pairs), 2)
    canvas = style.canvas(style.WIDTH, down * (0.24 * len(tasks) + 0.8) + 0.3)
    panels = canvas.subplots(down, across, sharex=True, squeeze=False)
    widest = max(1.0, float(data[["only_a", "only_b"]].max().max()))
    for axes, (first, second) in zip(panels.flat, pairs, strict=False):
        own = data[(data["a"] == first) & (data["b"] == second)].set_index("task")
        heads = (f"only {style.short(first, _NAME)} \u2192", f"\u2190 only {style.short(second, _NAME)}")
        axes.set_title("\n".join(heads), fontsize=style.SMALL)
        for place, task in enumerate(tasks):
            if task not in own.index:
                axes.annotate("not both", (0, place), ha="center", va="center", **style.ABSENT)
                continue
            for column, sign, colour in (("only_a", 1, style.COLOURS[0]), ("only_b", -1, style.COLOURS[1])):
                share = float(own.loc[task, column])
                axes.barh(place, sign * share, height=0.66, color=colour)
                axes.annotate(
                    f"{share:.1f}",
                    (sign * share, place),
                    xytext=(3 * sign, 0),
                    textcoords="offset points",
                    ha="left" if sign > 0 else "right",
                    va="center",
                    fontsize=style.TINY,
                )
        axes.axvline(0, color=style.INK, linewidth=0.6)
        axes.set_yticks(range(len(tasks)), tasks)
        axes.set_ylim(len(tasks) - 0.5, -0.5)
        axes.set_xlim(-1.4 * widest, 1.4 * widest)
        axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        axes.tick_params(axis="y", length=0)
    for axes in style.bottom(panels, len(pairs)):
        axes.set_xlabel("per cent of examples")
        axes.tick_params(axis="x", labelbottom=True)
    return canvas
