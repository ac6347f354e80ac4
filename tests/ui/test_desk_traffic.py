"""What goes between the desk and a browser, in bytes: a team may be far away."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from analysts import arrive, make_answers, open_to
from desk import PATIENCE
from judged import keep, verdict
from running import answers
from stores import opened, score

pytest.importorskip("streamlit", reason="needs the extra desk")
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

LONG = "# ACME Privacy Policy\n\n" + "".join(
    f"## {n}. Matter {n}\n\n{f'This is what we say about matter {n}. ' * 60}\n\n" for n in range(1, 41)
)
A_KEY = 2048 + len(str(files("genaipa") / "ui/script/app.py"))
"""Streamlit names the page's script in every reply, and how long its path is, the checkout's folder decides."""
AN_ANSWER = 12_000


JUDGE = "nobody-sees-this-judge"
TRACES = (JUDGE.encode(), b"the judge's evidence", b"judge:")
"""What would tell of a judge: its name, its evidence, and how the store names any."""


class Wire:
    """Every frame that goes over the websockets of a browser, how many tell a turn, and what one says of a judge."""

    def __init__(self, machine: BrowserContext) -> None:
        self.sent = self.received = self.finished = 0
        self.turns = 0
        self.traces: set[bytes] = set()
        machine.on("page", lambda page: page.on("websocket", self._listen))

    def _listen(self, socket: object) -> None:
        socket.on("framesent", self._send)  # type: ignore[attr-defined]
        socket.on("framereceived", self._receive)  # type: ignore[attr-defined]

    def _send(self, frame: bytes) -> None:
        self.sent += len(frame)

    def _receive(self, frame: bytes) -> None:
        self.received += len(frame)
        self.turns += b'"part": "turn"' in frame
        self.traces |= {trace for trace in TRACES if trace in frame}
        message = ForwardMsg()
        message.ParseFromString(frame)
        self.finished += message.WhichOneof("type") == "script_finished"

    def quiet(self, page: Page, finished: int = 0) -> int:
        """All bytes in both directions, once more runs of the page than that are over and nothing comes any more."""
        seen = -1
        for _ in range(int(PATIENCE * 5)):
            if self.finished > finished and self.received == seen:
                return self.sent + self.received
            seen = self.received
            page.wait_for_timeout(200)
        raise AssertionError("the desk has not answered")

    def of(self, page: Page, key: str) -> int:
        """The bytes in both directions for a key."""
        before, finished = self.quiet(page), self.finished
        page.keyboard.press(key)
        return self.quiet(page, finished) - before


@pytest.mark.full
def test_a_key_sends_what_changed_and_nothing_of_a_judge() -> None:
    """However long the document, a key costs 2 kB, and the next answer about the same document not much more.

    A judge has scored all answers; of that nothing reaches the browser of who scores the wave, page and frames alike.
    """
    assert len(LONG) > 80_000
    replies = [f"See section {n}. " * 20 for n in (3, 4, 5)]
    annotations = "".join(f'  Q{n}: {{silent: false, answer: "It says so.", sections: ["{n}"]}}\n' for n in (1, 2, 3))
    run = make_answers(*replies, text=LONG, annotations=annotations)
    keep(verdict(JUDGE, record.digest, (0, 1, 2, 0, 1)) for record in answers(run))
    with open_to("--per-answer", "1", "--sample", "2") as (desk, browser):
        machine = browser.machine()
        wire = Wire(machine)
        anna = arrive(browser, desk, "Anna", machine=machine)
        first = anna.wait()
        assert wire.received > len(LONG)
        with opened("sqlite:///scores.db") as store:
            store.append_new_events([score("Bo", next(one.digest for one in answers(run) if one.reply == first.reply))])
        assert [key for key in "11213" if wire.of(anna.page, key) > A_KEY] == []
        # Keys are kept; how far others are comes with the next answer.
        assert wire.turns == 1
        assert wire.of(anna.page, "Enter") <= AN_ANSWER
        second = anna.leave(first)
        assert second is not None
        assert anna.page.locator(".document").text_content() == LONG
        before = anna.page.content()
        assert anna.score("22222") is None
        assert (wire.traces, [trace for trace in TRACES if trace.decode() in before]) == (set(), [])
