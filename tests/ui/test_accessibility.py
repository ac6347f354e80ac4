"""Every page of the desk for everybody: axe-core finds nothing against WCAG 2.2 AA, and the keys can be turned off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from accessible import found, watch
from analysts import Analyst, make_answers, open_to
from running import answers, carry_out, spec
from size import size
from stores import opened, score

from genaipa.scoring.rubric import format_signed_value
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from rubrics import PAPER, typed

if TYPE_CHECKING:
    from playwright.sync_api import Page

WAYS: list[dict[str, Any]] = [
    {"width": 1400, "height": 1300, "color_scheme": "light", "forced_colors": "none"},
    {"width": 390, "height": 1300, "color_scheme": "dark", "forced_colors": "none"},
    {"width": 720, "height": 450, "color_scheme": "light", "forced_colors": "active"},
]
"""A screen, a telephone in the dark, and a small window's half at 200 % in forced colours."""
PAGES = 7
TABLE = "| *What* | How long |\n|---|---|\n| name | **two** years |\n\n- *nothing* else, as snake_case_says or 2*3*4\n"
LONG = "We keep what you order for as long as the law says. " * 60
TEXT = f"# ACME Privacy Policy\n\n## 1. Orders\n\n{TABLE}\n{LONG}\n\n## 2. Rest\n\n{LONG}\n"


def make_study() -> None:
    """A run of two answers, one with points, each scored by two; a run by hand, a suite's, and a long document."""
    points = '[{id: name, text: "Two years.", sections: ["1"], if_wrong: harm}, {id: rest, text: So, sections: ["2"]}]'
    said = f'{{silent: false, answer: "It says so.", sections: ["1"], note: "A note.", points: {points}}}'
    annotations = f'  Q1: {said}\n  Q2: {{silent: true, answer: "It does not say."}}\n'
    run = make_answers(
        'See section 1: "We keep what you order." See section 9.',
        "It does not say.",
        text=TEXT,
        annotations=annotations,
    )
    with opened("sqlite:///scores.db") as store:
        for name, keys in (("Ada", "13111"), ("Grace", "12113")):
            store.append_new_events(
                [score(name, record.digest, typed(keys), note=f"{name}'s note") for record in answers(run)]
            )
    # Its first message is longer than the page shows at once.
    carry_out(spec(systems=("manual/chat",), part_tokens=4000))
    carry_out(make_suite_run_spec("policyqa", SuiteOptions("sample"), ("baseline/empty",)))


def set_as_typography(page: Page) -> None:
    """Titles, emphasis, a list and a table look like such, and every character is still there."""
    document = page.locator(".document")
    assert document.text_content() == TEXT
    for style, said in {
        "topic": ["ACME Privacy Policy", "1. Orders", "2. Rest"],
        "cell": ["*What*", "How long", "name", "**two** years"],
        "thin": ["nothing"],
        "bullet": ["-"],
    }.items():
        assert document.locator(f".{style}").all_text_contents() == said
    left, right = (document.locator(".cell").nth(n).bounding_box() for n in (1, 3))
    assert left is not None
    assert right is not None
    assert left["x"] == right["x"], "a table's column is one"


def reached_by_keyboard_alone(anna: Analyst) -> None:
    """Turn off the keys of one character, press a button by Space, which keeps the focus, and turn them on again."""
    page, screen = anna.page, anna.wait()
    assert screen.asked in page.locator(".unseen").all_text_contents()[-1], "the answer is announced"
    page.get_by_label("keys", exact=True).uncheck()
    anna.keys("1n")
    assert anna.wait().typed == "....."
    page.locator(".choice.key1").first.focus()
    page.keyboard.press("Space")
    assert anna.wait().typed == "1...."
    page.locator(".choice.key1:focus").wait_for()
    page.get_by_label("keys", exact=True).check()
    anna.keys("2")
    assert anna.wait().typed == "12..."
    said = (
        f"{PAPER.display_names['accuracy']}: {format_signed_value(0.5)}, {PAPER.meaning('accuracy', 0.5)}. Now clarity"
    )
    assert said in page.locator(".unseen").all_text_contents(), "what a key gave is announced, and where one is"
    for key, now in (("ArrowLeft", "Now accuracy: +0.5"), ("Backspace", "Now accuracy")):
        page.keyboard.press(key)
        assert page.locator(".unseen").all_text_contents()[-1] == now
        assert page.locator(".metric[aria-current=true]").get_attribute("data-metric") == "accuracy"
    anna.keys("2")
    page.get_by_role("group", name=f"accuracy: {PAPER.metrics['accuracy'].question}").wait_for()
    page.locator(".metric[data-metric=reference] h2").click()
    # The order of answers is each analyst's own; one of the two cites a section that is not there.
    doubt = ["reference 1 doubt"] if "section 9" in screen.reply else []
    for head in (screen.asked, "Answer", "Annotated answer", "acme", *doubt):
        assert page.get_by_role("heading", level=2, name=head).count() > 0, head


@pytest.mark.full
def test_axe_finds_nothing_on_any_page() -> None:
    """Contrast, names, roles, order of titles, size of targets and reach by keyboard, on every page of a study."""
    make_study()
    with open_to("--per-answer", "5", "--points") as (desk, browser):
        for way in size(small=WAYS[:1], soak=WAYS):
            page = browser.visit(desk)
            page.set_viewport_size({side: way[side] for side in ("width", "height")})
            page.emulate_media(color_scheme=way["color_scheme"], forced_colors=way["forced_colors"])
            # A page that turns dark while it is open has the colours of both for a moment.
            page.reload()
            page.get_by_label("Your name").wait_for()
            page.get_by_text("This study asks people to score").wait_for()
            watch(page)
            assert found(page) == []
            name = f"Anna {way['width']}"
            page.get_by_label("Your name").fill(name)
            page.keyboard.press("Enter")
            reached_by_keyboard_alone(Analyst(name, page))
            set_as_typography(page)
            page.locator(".metric[data-metric=reference] h2").click()
            assert found(page) == []
            links = page.get_by_test_id("stTopNavLink").or_(page.get_by_test_id("stSidebarNavLink")).all()
            assert len(links) >= PAGES
            for link in links[1:]:
                link.evaluate("(link) => link.click()")
                page.locator("h1", has_text=link.text_content() or "").wait_for(state="attached")
                page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
                page.wait_for_timeout(500)
                assert found(page) == [], link.text_content()
                assert page.title() == f"{link.text_content()} · genaipa desk"
            page.context.clear_cookies()
