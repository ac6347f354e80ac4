"""A document given to `genaipa run` as a file, an address or standard input: kept by the run, and called by a name."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from running import TEXT, write

import genaipa as front
from genaipa.policies.adding import UNNAMED, read_given_document
from genaipa.policies.companies import find_company_or_placeholder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    Cli = Callable[..., Finished]

PAGE = f"<html><head><title>Quillmoor</title></head><body><main><h1>Quillmoor Privacy</h1>{'<p>We keep it. </p>' * 40}"


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """A page, a way to it, or nothing."""
        self.send_response({"/privacy": 200, "/moved": 302}.get(self.path, 404))
        self.send_header("Content-Type", "text/html")
        if self.path == "/moved":
            self.send_header("Location", "/privacy")
        self.end_headers()
        self.wfile.write(PAGE.encode() if self.path == "/privacy" else b"")

    def log_message(self, *_: object) -> None:
        """Write nothing."""


@pytest.fixture
def site() -> Iterator[str]:
    """A server on loopback that has a policy."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def ask(genaipa: Cli) -> Callable[..., Finished]:
    """A run of two questions of a scripted system about a given document."""
    write("say.yaml", "default: See section 2.\n")
    return lambda *more, **how: genaipa("run", "-s", "scripted/say.yaml", "--limit", "2", "-e", "quality", *more, **how)


def run_folders() -> list[Path]:
    """The runs of the working folder, oldest first."""
    return sorted(path.parent for path in Path("runs").glob("*/manifest.json"))


def test_a_file_is_asked_about_and_kept(genaipa: Cli, ask: Callable[..., Finished]) -> None:
    """Without a workspace; the run goes on, shows, is judged and reported on when the file is gone."""
    file = write("policy.md", TEXT)
    done = ask("-p", "policy.md")
    assert done.code == 0, done.err
    assert "policy.md is read as 'acme': " in done.err
    assert 'Questions call its company "ACME"' in done.err
    (folder,) = run_folders()
    manifest = json.loads((folder / "manifest.json").read_text())
    facts = manifest["documents"]["acme"]
    assert (facts["company"], facts["source"]) == ("ACME", "policy.md")
    assert (folder / "documents" / f"{facts['digest']}.txt").read_text() == TEXT
    assert "nothing was asked" in ask("-p", "policy.md").out  # the same plan, and no second run

    text = (folder / "answers.jsonl").read_text().splitlines(keepends=True)
    (folder / "answers.jsonl").write_text(text[0])
    file.unlink()
    resumed = genaipa("run", "--resume", "latest")
    assert (resumed.code, len((folder / "answers.jsonl").read_text().splitlines())) == (0, 2), resumed.err
    assert "acme" in genaipa("show", "latest").out
    write("judge.yaml", "default: '{}'\n")
    judged = genaipa("judge", "latest", "--judge", "scripted/judge.yaml", "--estimate", "--json")
    assert sum(row["calls"] for row in json.loads(judged.out)["rows"]) == 2
    assert genaipa("report", "latest", "--formats", "svg").code == 0


def test_another_text_gets_another_name(ask: Callable[..., Finished]) -> None:
    """Answers about two texts never count as about one; the name of a document of the workspace stays its own."""
    write("policy.md", TEXT)
    assert ask("-p", "policy.md").code == 0
    write("policy.md", TEXT + "\nWe sell everything.\n")
    assert "policy.md is read as 'acme-2'" in ask("-p", "policy.md").err
    write("brindlecart.md", TEXT)
    assert "brindlecart.md is read as 'brindlecart-2'" in ask("-p", "brindlecart.md,vpda", "-e", "quality").err


def test_standard_input_and_addresses(ask: Callable[..., Finished], site: str) -> None:
    """Text that is piped in, and a page behind a redirect, whose last address is kept."""
    piped = ask("-p", "-", stdin=TEXT)
    assert (piped.code, "standard input is read as 'acme'" in piped.err) == (0, True), piped.err
    moved = ask("-p", f"{site}/moved")
    assert moved.code == 0, moved.err
    assert re.search(rf"{site}/privacy is read as 'quillmoor'", moved.err)


def test_what_cannot_be_a_document_is_one_sentence(ask: Callable[..., Finished], site: str) -> None:
    """A missing, empty or binary file, a page that isn't there, and a name that nobody has told."""
    write("empty.md", " \n")
    Path("binary.md").write_bytes(bytes(range(256)) * 9)
    write("plain.txt", TEXT.partition("\n")[2])
    Path("a-folder").mkdir()
    for given, said in {
        "gone.md": "gone.md: the file does not exist.",
        "empty.md": "empty.md: is empty.",
        "binary.md": "binary.md: is a binary file",
        "a-folder/": "a-folder: is not a file.",
        f"{site}/gone": "the server answered 404",
        "ftp://host/it": "give a file, or a URL",
        "-": "standard input: is empty.",
        "plicy": "no policy 'plicy'",
    }.items():
        done = ask("-p", given)
        assert (done.code, said in done.err, "Traceback" in done.err) == (2, True, False), (given, done.err)
    by_name = ask("-p", "plain.txt", "-e", "recall")
    assert (by_name.code, "add --company NAME" in by_name.err) == (2, True), by_name.err
    assert 'Questions call its company "Plainly"' in ask("-p", "plain.txt", "-e", "recall", "--company", "Plainly").err
    assert "a company can be named only for a single document" in ask("-p", "brindlecart", "--company", "X").err
    assert len(run_folders()) == 1  # what was refused left nothing behind


@pytest.mark.parametrize(
    ("title", "source", "company"),
    [
        ("Larkfield Privacy Policy", "policy.md", "Larkfield"),
        ("Privacy Policy for Larkfield Ltd.", "policy.md", "Larkfield Ltd"),
        ("Privacy notice | Larkfield & Sons", "policy.md", "Larkfield & Sons"),
        ("Larkfield\u2019s Cookie Statement", "policy.md", "Larkfield"),
        ("How We Handle Your Information", "policy.md", UNNAMED),
        ("Privacy Policy", "https://www.lark-field.co.uk/privacy", "Lark Field"),
        ("Datenschutz bei uns und wie wir damit umgehen", "policy.md", UNNAMED),
        ("", "larkfield.txt", UNNAMED),
    ],
)
def test_the_company_is_told_by_the_title_or_the_host(title: str, source: str, company: str) -> None:
    """A title of generic words, or one that speaks to the reader, names nobody."""
    assert find_company_or_placeholder(title, "text", (), source) == company


def test_a_name_is_made_of_what_names_it(tmp_path: Path) -> None:
    """The file's own name, unless it says no more than that it is a policy; small letters, cut to thirty."""
    for name, called in {
        "Lark Field.md": "lark-field",
        "privacy-policy_2.md": "acme",
        f"{'x' * 50}.txt": "x" * 30,
    }.items():
        path = tmp_path / name
        path.write_text(TEXT)
        assert read_given_document(str(path), "", lambda *_: False).name == called


def test_a_notebook_gives_a_path(tmp_path: Path) -> None:
    """`genaipa.run` takes a path as it takes a name."""
    write("say.yaml", "default: See section 2.\n")
    path = tmp_path / "larkfield.md"
    path.write_text(TEXT)
    run = front.run("scripted/say.yaml", path, experiment="quality", limit=1)
    assert [answer.document for answer in run.answers()] == ["larkfield"]
