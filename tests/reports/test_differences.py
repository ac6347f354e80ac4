"""Figures and tables of a comparison: who is better, by how much, how sure that is; whatever the names are."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from matplotlib.text import Text

from genaipa.reports import render
from genaipa.reports.comparison import Comparison
from genaipa.reports.figures import differences, style
from genaipa.reports.figures.figure import FigureScope, Format, render_figure, save_figure_and_data
from genaipa.reports.matches import HEADINGS
from genaipa.reports.significance import OTHER_PEOPLE, OVERALL
from genaipa.reports.table import Table

NONE = float("nan")
FORMATS = dict.fromkeys(("mean_a", "mean_b", "difference", "low", "high", "effect"), "+.2f")
LONG = "openai-api/a-host-with-a-long-name/a-model-with-an-even-longer-name-$20_x"


def row(measure: str = OVERALL, difference: float = 4.0, p: float = 0.01, **more: Any) -> dict[str, Any]:
    """A row of a comparison, in which A is higher unless told otherwise."""
    half = abs(difference) * 0.5
    return {
        **dict.fromkeys(HEADINGS, NONE),
        "measure": measure,
        "questions": "all",
        "family": "f",
        "n": 32,
        "documents": 1,
        "pairs": 32,
        "mean_a": difference,
        "mean_b": 0.0,
        "difference": difference,
        "test": "t",
        "level": 0.05,
        "meaning": "",
        "low": difference - half,
        "high": difference + half,
        "p": p,
        "p_holm": p,
        "effect": 0.5,
        **more,
    }


def comparison(*rows: dict[str, Any], names: tuple[str, str] = ("ada", "bob"), **more: Any) -> Comparison:
    """A comparison of these rows."""
    table = Table("comparison", " against ".join(names), "How.", pd.DataFrame(rows), HEADINGS, FORMATS)
    return Comparison(*names, table, [], [], "How.", **{"documents": ("shop",), "systems": names, **more})


MIXED = (row(), row("clarity", -0.5), row("accuracy", 0.1, 0.4), row("reference", 0.3, NONE, test="none"))


def texts(found: Comparison, layout: str = "") -> dict[str, Text]:
    """The texts of the drawing by what they say."""
    figure = found.figure
    assert figure
    with style.apply_house_style("t"):
        drawn = figure.layouts.get(layout, figure.draw)()
        drawn.canvas.draw()
        return {text.get_text(): text for text in drawn.findobj(Text) if text.get_text() and text.get_visible()}


@pytest.mark.parametrize(
    ("first", "title"),
    [
        (row(), "ada is better than bob, by 4.0 points of M_all"),
        (row(difference=-4.0), "bob is better than ada, by 4.0 points of M_all"),
        (row(p=0.2), "ada and bob do not clearly differ: 4.0 points of M_all apart"),
        (row(meaning=OTHER_PEOPLE), "ada and bob do not clearly differ: 4.0 points of M_all apart"),
        (row(p=NONE, test="none"), "ada and bob have too few questions for a verdict"),
    ],
)
def test_the_title_is_the_finding(first: dict[str, Any], title: str) -> None:
    """The winner is named first, whichever side it is; what may be chance has no winner."""
    found = comparison(first)
    assert found.figure
    assert found.figure.title == found.main_table.title == title
    assert title.split(maxsplit=1)[0] in texts(found)[title].get_text()


def test_a_row_for_each_measure_in_the_winners_colour() -> None:
    """Six rows at most, whatever groups there are; a win has the colour of the report, and what is no win is grey."""
    found = comparison(*MIXED, row(questions="faq"), scope=FigureScope(("zoe", "ada", "bob")))
    assert found.figure
    assert found.figure.table.data["measure"].tolist() == [OVERALL, "clarity", "accuracy", "reference"]
    marks = FigureScope(("ada", "bob", "zoe")).system_colours_and_markers(["bob"])
    for layout in ("", "slide", "column"):
        drawn = texts(found, layout)
        assert drawn["ada is better"].get_color() == marks["ada"]["color"]
        assert drawn["bob is better"].get_color() == marks["bob"]["color"]
        grey = {drawn[said].get_color() for said in ("may be chance", "too few questions")}
        assert len(grey) == 1
        assert not grey & {look["color"] for look in marks.values()}
        assert "+4.0 (+2.0 to +6.0)" in drawn
        assert "\u22120.50 (\u22120.75 to \u22120.25)" in drawn
        assert any("nothing is known about other policies" in said.replace("\n", " ") for said in drawn) or layout


def test_what_is_known_of_other_policies_is_said() -> None:
    """Below the panel: nothing, that it holds there, or that it may be due to chance there; and what thin lines are."""
    wide = {"policies_low": 1.0, "policies_high": 7.0, "policies_p": 0.01, "policies_p_holm": 0.01}
    for first, said in (
        (row(), "nothing is known about other policies"),
        (row(**wide), "it also holds for policies like these"),
        (row(**{**wide, "policies_p_holm": 0.3}), "it may be due to chance for policies like these"),
    ):
        found = comparison(first)
        below = " ".join(texts(found))
        assert said in below
        assert said in found.main_table.note
        assert ("thin for policies like these" in below) is ("policies_p" in said or "policies like these" in said)


@pytest.mark.parametrize("layout", ["", "slide", "column"])
@pytest.mark.parametrize("furthest", [-1.2, 0.9])
@pytest.mark.parametrize("names", [(LONG, LONG.replace("20", "30")), ("条款助手一号", "x" * 60)])
def test_no_text_is_cut_or_over_another(layout: str, furthest: float, names: tuple[str, str]) -> None:
    """Whatever the names, all words are on the canvas, and none is written over another or over a mark."""
    found = comparison(*MIXED, row("completeness", furthest), names=names, systems=("s", "t"))
    drawn = list(texts(found, layout).values())
    canvas = drawn[0].figure.bbox
    boxes = [(text.get_text(), text.get_window_extent()) for text in drawn]
    assert len(drawn) > 18
    for said, box in boxes:
        assert box.x0 >= canvas.x0 - 1, said
        assert box.x1 <= canvas.x1 + 1, said
        assert box.y0 >= canvas.y0 - 1, said
        assert box.y1 <= canvas.y1 + 1, said
    for (one, box), (other, beside) in itertools.combinations(boxes, 2):
        assert not box.padded(-1.5).overlaps(beside.padded(-1.5)), (one, other)


def test_groups_have_a_figure_and_a_table_of_their_own() -> None:
    """Categories are spelled out behind their keys; without a group there is neither."""
    groups = (row(questions="T"), row(questions="faq", p=0.3), row("clarity", -0.5, questions="T"))
    found = comparison(*MIXED, *groups, scope=FigureScope(("ada", "bob"), categories={"T": "Transparency & more"}))
    main, by_group = found.figures
    assert (main.name, by_group.name) == ("differences", "differences-groups")
    assert set(by_group.table.data["questions"]) == {"T", "faq"}
    drawn = by_group.plot()
    assert {"T: Transparency & more", "from FAQs"} <= {label.get_text() for label in drawn.axes[0].get_yticklabels()}
    legend = [text.get_text().strip() for text in drawn.legends[0].get_texts()]
    assert legend == ["ada is better", "may be chance", "bob is better"]
    printed = render.as_latex(found.groups_table)
    assert r"T: Transparency \& more" in printed
    assert [figure.name for figure in comparison(*MIXED).figures] == ["differences"]
    assert not comparison(*MIXED).groups_table


def test_the_printed_table_fits_a_column() -> None:
    """Six rows in a floating table of one column, with a verdict from the first side's view, and a short note."""
    found = comparison(*MIXED, row("completeness", -0.6), row("relevance", 0.7), row(questions="T"))
    printed = found.as_file_text(".tex")
    assert r"\begin{table}[tbp]" in printed
    assert "ada is" in printed
    lines = [line for line in printed.splitlines() if line.endswith(r"\\")][1:]
    verdicts = [line.removesuffix(r" \\").rpartition("& ")[2] for line in lines]
    assert verdicts == ["better", "worse", "may be chance", "too few questions", "worse", "better"]
    assert "% How." in printed


def test_a_slide_is_of_16_to_9_and_a_column_is_a_pdf(tmp_path: Any) -> None:
    """The formats of slides and columns have names of their own beside the others; others have no column."""
    from PIL import Image

    found = comparison(*MIXED, row(questions="T"))
    main, groups = found.figures
    formats: tuple[Format, ...] = ("svg", "slide", "column")
    names = [
        path.name
        for path in (
            *save_figure_and_data(main, tmp_path, formats),
            *save_figure_and_data(groups, tmp_path, ("column",)),
        )
    ]
    ends = [".svg", "-slide.png", "-column.pdf", ".csv"]
    assert names == [*(f"differences{end}" for end in ends), "differences-groups.csv"]
    assert {path.name for path in tmp_path.iterdir()} == set(names)
    with Image.open(tmp_path / "differences-slide.png") as slide:
        assert slide.size == (2560, 1440)
        assert slide.info["dpi"] == pytest.approx((200, 200), abs=1)
        # The drawing takes what the title leaves: something is near the left and the right edge.
        dark = slide.convert("L").point(lambda shade: 255 if shade < 128 else 0).getbbox()
        assert dark is not None
        assert dark[0] < 160
        assert dark[2] > 2560 - 400
    assert (tmp_path / "differences-column.pdf").read_bytes().startswith(b"%PDF")


def test_colours_go_by_the_name_and_not_by_the_place() -> None:
    """A report in the order of ranks, and another in that of names, give a system one colour."""
    ranked, named = FigureScope(("zoe", "ada", "bob")), FigureScope(("ada", "bob", "zoe"))
    assert ranked.system_colours_and_markers(["bob"]) == named.system_colours_and_markers(["bob"])
    assert (
        differences.ComparedSides(("x", "y"), ("zoe", "ada"), (), ranked).marker_styles[0]
        == named.system_colours_and_markers([])["zoe"]
    )


@pytest.mark.parametrize("layout", ["", "slide", "column"])
def test_a_judge_alone_is_grey_and_named_in_every_verdict(layout: str) -> None:
    """No colour of a system is given to what a judge alone says, and it is said to be no estimate."""
    found = comparison(*MIXED, judge="referee-9b", favoured="referee is of ada's family.")
    assert found.figure
    assert found.figure.title.startswith("According to the judge referee-9b alone, ada is better than bob")
    drawn = texts(found, layout)
    verdicts = {"judge: ada is better", "judge: bob is better", "judge: may be chance", "judge: too few questions"}
    assert verdicts <= {*drawn}
    assert len({str(drawn[said].get_color()) for said in verdicts}) == 1
    below = " ".join(" ".join(drawn).split())
    assert "not an estimate of what people would say" in below
    assert "referee is of ada's family." in below
    assert "judge: better" in found.as_file_text(".tex")


@pytest.mark.parametrize("inches", [(3.35, 8.39), (7.0, 2.857), (1.0, 8.8), (7.01, 0.333)])
def test_a_figure_of_any_size_fits_a_slide(inches: tuple[float, float]) -> None:
    """Sizes that come to no whole number of pixels are drawn, too."""
    from PIL import Image

    main = comparison(*MIXED).figures[0]

    def draw() -> Any:
        drawn = style.make_canvas(*inches)
        drawn.set_layout_engine(None)
        return drawn

    odd = replace(main, layouts={}, draw=draw)
    with Image.open(io.BytesIO(render_figure(odd, "slide"))) as slide:
        assert slide.size == (2560, 1440)
