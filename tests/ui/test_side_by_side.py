"""`genaipa view`: a real server that shows answers side by side, to whoever has its token, and records nothing."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from accessible import found, watch
from commandline import call, heeding
from desk import browsing
from running import carry_out, make_workspace, spec, write
from starlette.datastructures import QueryParams

from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.ui.view.index import AnswerIndex, ViewChoice
from genaipa.ui.view.server import AnswerPiece, ViewServer, mark_words_that_no_other_text_has
from genaipa.workspace import find_workspace
from tests.conftest import forget_personal_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

HOSTILE = """rules:
- {match: outline data, reply: '<script>alert(1)</script><b>bold</b> "quoted"'}
- {match: stance on government, reply: I had rather not., finish: refusal}
- {match: conflicts, fail: permanent}
- {match: security breach, reply: "<think>Where <b>is</b> it?</think>Never."}
default: It does not say.
"""


@pytest.fixture(scope="module")
def study(demo: tuple[Path, Finished], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's workspace with a second run, of a system that means no good."""
    folder = tmp_path_factory.mktemp("view") / "study"
    shutil.copytree(demo[0], folder)
    (folder / "genaipa.toml").touch()
    (folder / "evil.yaml").write_text(HOSTILE, encoding="utf-8")
    evil = f"scripted/{folder}/evil.yaml"
    asked = ("-s", evil, "-p", "brindlecart", "-e", "quality", "--conversation", "independent")
    with pytest.MonkeyPatch.context() as patch:
        forget_personal_settings(patch)
        assert call("run", *asked, "--name", "second", "--workspace", folder).code == 3, "one question has no answer"
    return folder


@pytest.fixture(scope="module")
def address(study: Path) -> Iterator[str]:
    """The address that a running view has printed, token included; closing it leaves every file as it was."""
    before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
    command = [sys.executable, "-um", "genaipa", "view", "--no-browser", "--workspace", str(study)]
    with (
        heeding(signal.SIGTERM, signal.SIGINT),
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process,
    ):
        try:
            assert process.stdout is not None
            printed = process.stdout.readline()
            found = re.fullmatch(
                r"The answers are at (http://127\.0\.0\.1:\d+/\?token=\S+) \(Ctrl-C closes it\)\.\n", printed
            )
            assert found, printed
            yield found[1]
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            finally:
                process.kill()
    assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before


@pytest.fixture
def browser(address: str) -> Iterator[httpx.Client]:
    """A client that came by the printed address and has the cookie."""
    with httpx.Client(base_url=address.partition("?")[0], timeout=60) as client:
        came = client.get(address)
        assert (came.status_code, came.headers["location"]) == (303, "/")
        assert re.search(r"HttpOnly.*SameSite=lax", came.headers["set-cookie"])
        yield client


def shown(page: str) -> list[str]:
    """The ids of the questions on a page."""
    return re.findall(r'<span class="id">(\w+)</span>', page)


def test_only_the_token_opens_it(address: str, browser: httpx.Client) -> None:
    """Not without the token, not with another, not under another name, not from another site; and nothing is posted."""
    base = address.partition("?")[0]
    for url in (base, f"{base}?token=guess", f"{base}view.css", f"{base}view.js"):
        refused = httpx.get(url, timeout=60)
        assert refused.status_code == 403, url
        assert "demo" not in refused.text
    assert browser.get("/").status_code == 200
    for headers in (
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
    ):
        assert browser.get("/", headers=headers).status_code == 403, headers
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    assert browser.get("/", headers=upgrade | {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}).status_code == 403
    assert browser.post("/").status_code == 405
    said = browser.get("/").headers
    policy = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'"
    assert said["content-security-policy"].startswith(policy)
    assert browser.get("/view.js").headers["content-type"].startswith("text/javascript")
    assert browser.get("/view.html.jinja").status_code == 404
    assert (said["cache-control"], said["x-frame-options"], said["referrer-policy"]) == (
        "no-store",
        "DENY",
        "no-referrer",
    )


def test_answers_lie_side_by_side(browser: httpx.Client) -> None:
    """The chosen systems' answers, their scores, what each alone says, and the document's own answer."""
    page = browser.get("/", params={"system": ["careful", "breezy"], "question": "SE_f1"}).text
    assert shown(page) == ["SE_f1"]
    assert re.findall(r"<h3>([^<]+)</h3>", page) == ["careful", "breezy"]
    assert '<mark class="number">No</mark>' in page
    assert '<mark class="number">8.1</mark>' in page
    assert '<b class="green">100</b> by 2 people' in page
    assert "judge " in page
    assert "In-app voice calls" not in page, "the note is for who judges"
    assert "Of voice calls the policy says" in page
    assert "if you will score these answers blind" in page
    assert "<code>genaipa score " in page
    assert "<mark" not in browser.get("/", params={"question": "SE_f1", "plain": "1"}).text.partition("<main>")[2]


def test_filters_narrow(browser: httpx.Client) -> None:
    """By outcome, by score and by both at once; what names nothing chooses everything, and pages hold the rest."""
    everything = browser.get("/").text
    assert "32 of 32 questions asked, page 1 of 2" in everything
    assert len(shown(everything)) == 20
    assert len(shown(browser.get("/", params={"page": "2"}).text)) == 12
    assert shown(browser.get("/", params={"page": "99"}).text) == shown(browser.get("/", params={"page": "2"}).text)
    assert shown(browser.get("/", params={"outcome": "refused"}).text) == ["T_f2"]
    assert shown(browser.get("/", params={"outcome": "refused", "system": "careful"}).text) == []
    assert shown(browser.get("/", params={"outcome": "failed"}).text) == ["T_f3"]
    assert shown(browser.get("/", params={"score": "red", "system": "careful"}).text) == []
    red = shown(browser.get("/", params={"score": "red", "system": "breezy"}).text)
    apart = shown(browser.get("/", params={"score": "apart", "system": ["careful", "breezy"]}).text)
    assert "SE_f1" in red
    assert "SE_f1" in apart
    assert "UC_f2" not in apart
    assert "32 of 32" in browser.get("/", params={"outcome": "nope", "question": "nope", "page": "-1"}).text


def test_what_a_model_says_is_text(browser: httpx.Client, study: Path) -> None:
    """A reply with markup is shown as it was said."""
    page = browser.get("/", params={"system": f"scripted/{study}/evil.yaml", "question": "T_f1"}).text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&lt;b&gt;bold&lt;/b&gt; &#34;quoted&#34;" in page
    assert re.findall("<script[^>]*>", page) == ['<script src="/view.js" defer>']
    page = browser.get("/", params={"system": f"scripted/{study}/evil.yaml", "question": "RC_u1"}).text
    folded = "<details><summary>Thoughts</summary>"
    assert page.count(folded) == 1
    assert page.index("Never.") < page.index(folded) < page.index("Where &lt;b&gt;is&lt;/b&gt; it?")


@pytest.mark.full
def test_a_browser_needs_no_script(address: str) -> None:
    """In chromium with scripts off, light and dark, wide and narrow: choose, press, read; nothing is wider than it.

    With scripts keys lead from question to question, and from page to page; axe-core finds nothing.
    """
    with browsing() as visitors:
        for scheme, width in (("light", 1440), ("dark", 390)):
            context = visitors.browser.new_context(
                java_script_enabled=False, color_scheme=scheme, viewport={"width": width, "height": 900}
            )
            page = context.new_page()
            page.goto(address)
            assert "token" not in page.url
            page.get_by_label("Question").select_option("RC_u1")
            page.get_by_role("checkbox", name="extractive").uncheck()
            page.get_by_role("button", name="Show").click()
            page.get_by_role("heading", name="Has there ever been a security breach?").wait_for()
            assert page.locator("article h3").all_text_contents()[:2] == ["pensive@high", "careful"]
            page.get_by_text("What the document says").click()
            assert page.get_by_text("whether there has ever been a security breach").is_visible()
            box = page.locator("main").bounding_box()
            assert box is not None
            assert box["width"] <= width
            context.close()
        page = visitors.browser.new_page(viewport={"width": 1440, "height": 300})
        page.goto(address)
        watch(page)
        assert found(page) == []
        asked = page.locator("section h2")
        for key, now in (("j", 0), ("j", 1), ("k", 0)):
            page.keyboard.press(key)
            assert asked.nth(now).evaluate("(head) => head === document.activeElement")
        asked.last.focus()
        page.keyboard.press("j")
        page.wait_for_url("**page=2*")
        page.keyboard.press("k")
        page.wait_for_url("**page=1*")
        page.close()


def test_the_index_follows_a_run_that_goes_on(study: Path) -> None:
    """Answers that come while it is open are there at the next click; a damaged line is counted."""
    here = find_workspace(study)
    index = AnswerIndex(here, select_runs_and_apply_filters(here, ["second"]))
    assert len(index.list_row_numbers_matching_choice(ViewChoice(outcome="answered"))) == 30
    journal = select_runs_and_apply_filters(here, ["second"])[0].folder.answers_path
    whole = journal.read_bytes()
    try:
        more = re.sub(rb'"repetition":"1"', b'"repetition":"2"', whole.splitlines(keepends=True)[0])
        journal.write_bytes(whole + more + b"no record\n")
        index.reread_all_runs_if_any_changed()
        assert len(index.list_row_numbers_matching_choice(ViewChoice(outcome="answered"))) == 31
        assert "Lines that can't be read: 1." in index.problems[0]
    finally:
        journal.write_bytes(whole)


def test_runs_of_a_system_are_one_column() -> None:
    """Runs that asked for different things are one column; one that asked the same again has its own, where it did."""
    make_workspace(questions=1)
    systems, asked = ("scripted/one.yaml", "scripted/two.yaml"), ("document", "company-name")
    for file in ("one.yaml", "two.yaml"):
        write(file, "default: It does not say.\n")
    first, second = (carry_out(spec(systems=systems, initializations=(way,)))[0].name for way in asked)
    again = carry_out(spec(systems=systems[:1], initializations=asked[1:]))[0].name
    here = find_workspace()
    assert AnswerIndex(here, select_runs_and_apply_filters(here, [first, second])).systems == [*systems]
    index = AnswerIndex(here, select_runs_and_apply_filters(here, [first, second, again]))
    merged, alone = f"{systems[0]} in {first} and 1 more", f"{systems[0]} in {again}"
    assert index.systems == [merged, alone, systems[1]]
    pages = ViewServer(index)
    with pages.socket:
        rows = pages.make_page_data(QueryParams())["rows"]
    columns = {len(row["cells"]): [cell["system"] for cell in row["cells"]] for row in rows}
    assert columns == {2: [merged, systems[1]], 3: index.systems}


def test_what_cannot_be_viewed_is_a_sentence(genaipa: Callable[..., Finished], study: Path) -> None:
    """No run, an unknown filter, a taken port: said at once."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for command, said in (
            (("view", "--workspace", "."), "there is no run"),
            (("view", "--system", "nope", "--workspace", study), "'nope' is not among the systems of these runs"),
            (("view", "demo", "--port", port, "--workspace", study), "leave out --port to use a free one"),
        ):
            done = genaipa(*command)
            assert done.code == 2
            assert said in done.err


def test_differences() -> None:
    """Words, numbers and yes or no of one answer alone are marked; grammar, forms of a word and equal texts are not."""
    assert mark_words_that_no_other_text_has(["Alone 12."]) == [[AnswerPiece("Alone 12.", "")]]
    assert mark_words_that_no_other_text_has(["", "Alone 12."])[1] == [AnswerPiece("Alone 12.", "")]
    one, other = mark_words_that_no_other_text_has(
        ["Yes, the company's cookies for 6.4 days.", "No: a company cookie, 6.5 day."]
    )
    assert [piece for piece in one if piece.kind] == [AnswerPiece("Yes", "number"), AnswerPiece("6.4", "number")]
    assert [piece for piece in other if piece.kind] == [AnswerPiece("No", "number"), AnswerPiece("6.5", "number")]
    assert "".join(piece.text for piece in one) == "Yes, the company's cookies for 6.4 days."
    assert mark_words_that_no_other_text_has(["Military grade locks", "None"])[0] == [
        AnswerPiece("Military grade locks", "word")
    ]
    unlike = "Deliveries need names, addresses, telephones, postcodes, doorbells and 2 signatures."
    assert [
        piece.text for piece in mark_words_that_no_other_text_has([unlike, "It collects names for 2 or 3 purposes."])[0]
    ] == [unlike]
