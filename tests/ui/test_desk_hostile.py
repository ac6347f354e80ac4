"""Texts of models, documents and people at the desk: nothing of theirs is live, and all of it is there as it was."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from analysts import arrive, make_answers, open_to
from desk import PATIENCE
from running import answers, write
from stores import opened, score

from genaipa.scoring.aids import EVIDENCE, draw_withheld_aids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Locator, Page

    from genaipa.runs.folder import RunFolder

EMPTY = "(The answer is empty.)"
LONG = "Of the words that were said some stay. " * 5129
ARABIC = "\u0646\u062d\u0646 \u0646\u062c\u0645\u0639 \u0627\u0633\u0645\u0643 (section 1)."
CONTROLS = (
    "bell \x07, escape \x1b[31mred\x1b[0m, delete \x7f, next line \x85, overridden \u202egnp.exe\u202c, end\u2028."
)
# A family of five code points and letters with accents of their own stand before the highlight.
_FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
EMOJI = f"{_FAMILY} \U0001f389 e\u0301o\u0308 \U0001d4d0: see section 2 \U0001f389, n\u0303."
# Elements that came of somebody's text, rather than of the desk: with a handler, a way out, or a text that is styled.
_LIVE = """(port) => {
  const words = /^(title|value|aria-label|data-.*)$/;
  const leads = ({ name, value }) => name.startsWith("on") || value.startsWith(`http://127.0.0.1:${port}`) ||
    (!words.test(name) && /javascript:|wound/.test(value));
  const made = ({ tagName, textContent }) =>
    (/^(SCRIPT|STYLE|IFRAME|B)$/.test(tagName) && textContent.includes("wound")) ||
    (/^(STRONG|CODE)$/.test(tagName) && /^(bold|code)$/.test(textContent));
  const all = (root) => [...root.querySelectorAll("*")].flatMap((n) => [n, ...(n.shadowRoot ? all(n.shadowRoot) : [])]);
  const live = all(document).filter((n) => [...n.attributes].some(leads) || made(n) || n.matches(".katex, #wound"));
  return { found: live.map((node) => node.outerHTML.slice(0, 300)), wounded: "wound" in window };
}"""
# Whether the answer on the Adjudicate page is another than this text, folded or not.
_CHANGED = """(before) => {
  const roots = [...document.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean);
  const entries = roots.flatMap((root) => [...root.querySelectorAll("section.entry")]);
  const answer = entries.find((entry) => entry.querySelector(".title")?.textContent === "Answer");
  const now = answer?.querySelector(".text").textContent;
  return now !== undefined && now.slice(0, 100) !== before.slice(0, 100);
}"""


def attack(port: int) -> str:
    """A text that does harm wherever it is taken for HTML, for Markdown, or for a link."""
    beacon = f"http://127.0.0.1:{port}"
    return (
        f"<script>window.wound=1</script> <img src=x onerror=window.wound=1> <img src={beacon}/img> "
        f"![beacon]({beacon}/markdown.png) [a link]({beacon}/link) [run](javascript:window.wound=1) <{beacon}/auto> "
        f"<a id=wound href='javascript:window.wound=1'>press</a> <svg onload=window.wound=1></svg> "
        f"<iframe src={beacon}/frame></iframe> <style>@import '{beacon}/wound.css'</style> <b>wound</b> "
        "&lt;b&gt; &amp;amp; &#x3c;script&#x3e; $\\frac{1}{2}$ $$x^2$$ :material/delete: :red[red] :smile: "
        "**bold** _thin_ `code`\n# heading\n- item\n\n| a | b |\n|---|---|\n</textarea></div></template>"
    )


@contextlib.contextmanager
def beacons() -> Iterator[tuple[int, list[str]]]:
    """A server on this machine, and whatever it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1], asked
        finally:
            server.shutdown()
            thread.join(60)


def assert_dead(page: Page, port: int) -> None:
    """Nothing on this page came to life."""
    assert page.evaluate(_LIVE, port) == {"found": [], "wounded": False}


def scored(run: RunFolder, *names: str, note: str = "") -> None:
    """Somebody has scored all answers of a run before."""
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score(name, record.digest, note=note) for name in names for record in answers(run)])


def entry(page: Page, title: str) -> Locator:
    """The text under a title, on the pages that read rather than score."""
    return page.locator("section.entry", has=page.get_by_text(title, exact=True)).locator(".text")


@pytest.mark.full
def test_nothing_of_theirs_is_live() -> None:
    """Answers, questions, documents, annotated answers, notes and names are text on every page, word for word."""
    with beacons() as (port, asked):
        hostile = attack(port)
        names = (
            f"<img src=http://127.0.0.1:{port}/name onerror=window.wound=1> **bold**",
            f"[Bo](javascript:wound) `{port}`",
        )
        text = f"# ACME\n\n## 1. {hostile}\n\nWe say: {hostile}\n\n## 2. More\n\n{hostile}\n"
        write("policies/acme.yaml", json.dumps({"company": hostile.partition("\n")[0], "title": hostile}))
        annotation = json.dumps({"silent": False, "answer": hostile, "sections": ["1"], "note": hostile})
        replies = (hostile, f'See section 1: "{hostile}"')
        scored(
            make_answers(*replies, text=text, annotations=f"  Q1: {annotation}\n  Q2: {annotation}\n"),
            *names[:1],
            note=hostile,
        )
        with open_to("--per-answer", "2") as (desk, browser):
            analyst = arrive(browser, desk, names[1])
            page = analyst.page
            for _ in replies:
                screen = analyst.wait()
                assert screen.reply in replies
                assert hostile.partition("\n")[0] in screen.asked
                assert page.locator(".document").text_content() == text
                assert page.locator(".expected .text").text_content() == hostile
                assert_dead(page, port)
                analyst.score("33333", hostile)
            page.get_by_role("link", name="Adjudicate", exact=True).click()
            entry(page, "Answer").wait_for()
            assert entry(page, "Answer").text_content() in replies
            page.locator(".verdict tr.differs").first.wait_for()
            assert page.locator(".verdict td.note").all_text_contents()[:2] == [hostile] * 2
            assert_dead(page, port)
            page.get_by_role("link", name="Agreement", exact=True).click()
            page.get_by_role("table", name="Leniency by analyst").get_by_text(names[0]).wait_for()
            assert_dead(page, port)
            page.get_by_role("link", name="Overview", exact=True).click()
            page.get_by_role("table", name="Answers").locator("tr.choice").first.click()
            entry(page, "Answer").wait_for()
            assert entry(page, "Answer").text_content() in replies
            page.get_by_role("table", name="Scores of this answer").get_by_text(hostile).first.wait_for()
            assert page.get_by_text(names[1]).count() > 0
            assert_dead(page, port)
            assert not [url for url in browser.requests if urlsplit(url).port == port]
        assert asked == []


@pytest.mark.full
def test_texts_are_shown_as_they_are() -> None:
    """Long, right-to-left, empty and odd answers can be read, with the highlights where they belong."""
    replies = (EMOJI, ARABIC, CONTROLS, LONG, "")
    marked = {EMOJI: ["section 2"], ARABIC: ["section 1"]}
    direction = {ARABIC: "rtl"}
    run = make_answers(*replies)
    scored(run, "Anna")
    for record in answers(run):
        # Chance withholds the evidence of some answers, and its marks.
        if draw_withheld_aids((EVIDENCE,), seed=0, answer_digest=record.digest, analyst="Bo"):
            marked.pop(record.reply, None)
    with open_to("--per-answer", "2") as (desk, browser):
        seen = []
        analyst = arrive(browser, desk, "Bo")
        page, reply = analyst.page, analyst.page.locator(".reply")
        for _ in replies:
            shown = analyst.wait().reply
            seen.append("" if shown == EMPTY else shown)
            assert reply.locator("mark").all_text_contents() == marked.get(shown, [])
            assert reply.evaluate("node => getComputedStyle(node).direction") == direction.get(shown, "ltr")
            analyst.score("33333")
        assert sorted(seen) == sorted(replies)
        page.get_by_role("link", name="Adjudicate", exact=True).click()
        answer = entry(page, "Answer")
        answer.wait_for()
        read = set()
        until = time.monotonic() + PATIENCE
        while len(read) < len(replies):
            more = page.get_by_role("button", name="Show all")
            if more.count():
                more.click()
            text = answer.text_content() or ""
            read.add("" if text == "(empty)" else text)
            # The key is pressed until it is heard: the page shows the answer before it takes keys for it.
            while len(read) < len(replies) and not page.evaluate(_CHANGED, text):
                assert time.monotonic() < until, read
                page.keyboard.press("s")
                page.wait_for_timeout(100)
        assert read == set(replies)
