"""A small repository laid out like GenAIPABench, in words of our own, and a server that has it.

with TreeServer(files) as server:                  # files: path → content
    pull(origin=server.url, tree=tree_of(files))
"""

from __future__ import annotations

import csv
import hashlib
import io
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

from genaipa_study.layout import PublishedTree

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMIT = "c0ffee" * 6 + "c0ff"
POLICIES = ("Uber", "Spotify", "Airbnb", "Facebook", "Twitter")
REGULATIONS = {"GDPR": "Art. {} GDPR Duties\nArticle text.\r\n", "CCPA": "1798.10{}. Duties\r\nSection text.\n"}
CATEGORIES = ("T", "UC", "DM", "SE", "PD", "RC", "AEE", "CA")
IDS = [f"{category}_{n}" for category in CATEGORIES for n in ("f1", "f2", "f3", "u1")]
SENTENCES = [f"In matter {n} we keep your parcel list and tell you so." for n in range(12)]


def table(rows: list[list[str]]) -> bytes:
    """The rows as a CSV with CRLF, as the published ones are."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def answers(ids: list[str] = IDS) -> list[list[str]]:
    """A table of annotated answers with a header."""
    rows = [[q, "A category", f"What about {q}?", f"It keeps {q}.\r\nReference: Part 1"] for q in ids]
    return [["id_question", "category", "question", "annotated_answer"], *rows]


def repository() -> dict[str, bytes]:
    """Path → content of everything that a pull takes."""
    files: dict[str, bytes] = {}
    folder = "Privacy Documents/Privacy Policy Segments"
    for company in POLICIES:
        files[f"Privacy Documents/Privacy Policy/{company}_document.txt"] = f"{company}. {' '.join(SENTENCES)}".encode()
        halves = [f"{company}. {' '.join(SENTENCES[:6])}", " ".join(SENTENCES[6:])]
        for part_set in ("GPT-4", "BingAI&Bard"):
            for number, half in enumerate(halves, start=1):
                name = f"{folder}/{part_set}/{company.lower()}-policy-text-segments/Part  {number}.txt"
                files[name] = f"Part {number}:\n{half}".encode()
        files[f"Annotated Answers/Privacy Policy Answers/annotated_answers_{company}.csv"] = table(answers())
    for place, (law, section) in enumerate(REGULATIONS.items()):
        text = f"{law}\r\n" + "".join(section.format(n) for n in range(1, 7))
        files[f"Privacy Documents/Regulations/{law}_document.txt"] = text.encode()
        rows = [[f"PR_{n + 6 * place}", f"What of {law} {n}?", law, "It says so."] for n in range(1, 7)]
        header = ["Question ID", "Questions" if law == "GDPR" else "Question", "Regulation", "Answer"]
        files[f"Annotated Answers/Regulation Answers/annotated_answers_{law}.csv"] = b"\xef\xbb\xbf" + table(
            [header, *rows]
        )
    asked = [[q, "A category", f" What does the company say about {q}? "] for q in IDS]
    files["Questions/Privacy Policy Questions/Questions.csv"] = table([["id_question", "category", "question"], *asked])
    files["Questions/Privacy Policy Questions/Questions (Paraphrased).csv"] = table(
        [
            ["id_paraphrased", "category", "question_set_1", "question_set_2", "question_set_3"],
            *([q, "A category", f"{q}, formally?", f"{q}, plainly?", f"{q}, quickly?"] for q in IDS),
        ]
    )
    return files


def tree_of(files: Mapping[str, bytes]) -> PublishedTree:
    """The tree whose right files these are."""
    return PublishedTree(COMMIT, {path: git_hash(content) for path, content in files.items()})


def git_hash(content: bytes) -> str:
    """The git blob hash, from git's own description of it."""
    return hashlib.sha1(b"blob " + str(len(content)).encode() + b"\x00" + content).hexdigest()


class TreeServer:
    """Serves the files; counts what is asked for (`targets` as sent), and can be told to fail or to wait.

    `statuses[path]` are answered first, in order; from request number `stall_after` on nothing is answered until
    `release` is set.
    """

    def __init__(self, files: dict[str, bytes], stall_after: int | None = None) -> None:
        self.files = dict(files)
        self.statuses: dict[str, list[int]] = {}
        self.asked: Counter[str] = Counter()
        self.targets: list[str] = []
        self.stalling = threading.Event()
        self.release = threading.Event()
        self._stall_after = stall_after
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.targets.append(self.path)
                status, body = server.answer(unquote(self.path).removeprefix("/tree/"))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}/tree"

    def answer(self, path: str) -> tuple[int, bytes]:
        """Status and body for one request."""
        with self._lock:
            self.asked[path] += 1
            stalls = self._stall_after is not None and self.asked.total() > self._stall_after
            status = self.statuses[path].pop(0) if self.statuses.get(path) else 200
        if stalls:
            self.stalling.set()
            self.release.wait(60)
        if path not in self.files:
            return 404, b"no such file"
        return status, self.files[path] if status == 200 else b"not now"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._http.shutdown()
        self._http.server_close()
