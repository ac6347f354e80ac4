"""Documents of a user's own: files and pages in, text and YAML in the workspace out."""

# ruff: noqa: RUF001 - letters that look like others are what is read here

from __future__ import annotations

import datetime as dt
import gzip
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from genaipa.errors import DataError, MissingPackageError, UsageError
from genaipa.files.limits import DOCUMENT
from genaipa.policies import formats
from genaipa.policies.adding import write_document_with_metadata
from genaipa.policies.document import load_document
from genaipa.policies.formats import ExtractedDocument, _strip_credentials, extract_document
from genaipa.policies.sections import find_sections
from genaipa.workspace import Workspace

PAGE = """<!DOCTYPE html><html><head><title>Privacy at Quillmoor</title>{meta}
<script src="http://127.0.0.1:9/never.js"></script></head><body>
<nav><a href="/">Home</a> <a href="/shop">Shop</a></nav>
<main><h1>Quillmoor Privacy Notice</h1>
<h2>1. What we collect</h2>
<p>Quillmoor makes fountain pens, and keeps your name and your <b>street address</b> so that a pen can be sent
to you. Nothing else is needed, and nothing else is kept – not even your handwriting.</p>
<ul><li>your full name</li><li>your street address</li></ul>
<table><tr><th>Data</th><th>Kept for</th></tr><tr><td>address</td><td>two years after the order</td></tr></table>
<h3>1.1 Children</h3>
<p>Pens with a sharp nib are not sold to children, and so the data of children is neither asked for nor kept.</p>
<h2>2. Your rights</h2>
<p>You may ask for a copy of what is kept, and have it erased, with a letter to the address on the invoice.</p>
</main><script>document.write("written by a script")</script><footer>All rights reserved.</footer></body></html>"""


PAGES = [
    """Quillmoor Privacy Notice
1. What we collect
Quillmoor makes fountain pens, and keeps your name and your infor-
mation about third-
party nibs so that a pen can be sent to you by post. It is kept for 13
years after the last order that you made with us, and no longer than
that. This information is
Page 1 of 3""",
    """Quillmoor Privacy Notice
erased at once.
1.1 Children
Pens are not sold to children.
We ask for:
- a name
- an address
Page 2 of 3""",
    """Quillmoor Privacy Notice
2. Your rights
You may ask for a copy of it (in writing).
Page 3 of 3""",
]
PARAGRAPHS = """1. What we collect

Quillmoor makes fountain pens, and keeps your name and your information about third-party nibs so that a pen \
can be sent to you by post. It is kept for 13 years after the last order that you made with us, and no longer \
than that. This information is erased at once.

1.1 Children

Pens are not sold to children.

We ask for:

- a name

- an address

2. Your rights

You may ask for a copy of it (in writing).
"""


def write(name: str, content: str | bytes) -> str:
    """The path of a file with this content."""
    path = Path(name)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def pdf(*pages: list[str], title: str = "") -> bytes:
    """A PDF with these lines of text on its pages, and what it states as its title."""
    escaped = [[line.replace("(", r"\(").replace(")", r"\)") for line in lines] for lines in pages]
    shown = ["".join(f"({line}) Tj 0 -14 Td\n" for line in lines) for lines in escaped]
    return pdf_of(*(f"BT /F1 11 Tf 50 750 Td\n{lines}ET" for lines in shown), title=title)


def pdf_of(*pages: str, title: str = "") -> bytes:
    """A PDF whose pages have these operators, with one font, /F1."""
    count = len(pages)
    font = "/Resources << /Font << /F1 3 0 R >> >>"
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, content in enumerate(pages):
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * i} 0 R {font} >>",
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        ]
    objects.append(f"<< /Title ({title}) >>")
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    )
    return body + end.encode()


class Web(BaseHTTPRequestHandler):
    """A site with one page for each thing that can happen; `seen` are the paths that were asked for."""

    seen: list[str]

    def do_GET(self) -> None:
        """Answer as the path says."""
        self.seen.append(self.path)
        answer = getattr(self, self.path.replace("/", "_").replace(".", "_"), None)
        if answer is None:
            self.send_error(404)
        else:
            answer()

    def log_message(self, *_: object) -> None:
        """Stay quiet."""

    def give(self, body: bytes, kind: str | None = "text/html", status: int = 200, **headers: str) -> None:
        """Send this."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if kind:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _page(self) -> None:
        self.give(PAGE.format(meta="").encode())

    def _moved(self) -> None:
        self.give(b"", None, 302, Location="/page")

    def _loop(self) -> None:
        self.give(b"", None, 302, Location="/loop")

    def _away(self) -> None:
        self.give(b"", None, 302, Location="file:///etc/hostname")

    def _packed(self) -> None:
        self.give(gzip.compress(PAGE.format(meta="").encode()), Content_Encoding="gzip")

    def _bomb(self) -> None:
        self.give(gzip.compress(b"a" * 30_000_000), "text/plain", Content_Encoding="gzip")

    def _large(self) -> None:
        self.give(b"a" * 20_000_001, "text/plain")

    def _latin(self) -> None:
        self.give("We don’t keep it.".encode("cp1252"), "text/plain; charset=ISO-8859-1")

    def _picture(self) -> None:
        self.give(b"\x89PNG\r\n", "image/png")

    def _notice_md(self) -> None:
        self.give(b"# Notice\n\nShort.\n", "text/plain")

    def _file(self) -> None:
        self.give(pdf(["1. Scope", "This is about pens."]), "application/octet-stream")

    def _untyped(self) -> None:
        self.give(PAGE.format(meta="").encode(), None)

    def _broken(self) -> None:
        self.give(b"", status=503)

    def _slow(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        try:
            for _ in range(200):
                self.wfile.write(b"a")
                time.sleep(0.1)
        except OSError:
            pass


@pytest.fixture
def site():
    """The site's URL."""
    Web.seen = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["notice.txt", "notice.md", "notice"])
def test_text_stays_as_it_is(name: str) -> None:
    """Text and Markdown are taken to the letter, line ends and blanks included."""
    text = "# Notice\r\n\r\nWe keep – nothing.  \n"
    before = dt.datetime.now().astimezone().date().isoformat()
    found = extract_document(write(name, text))
    markdown = name.endswith(".md")
    expected = ExtractedDocument(text, "Notice" if markdown else "", "", name, found.date, markdown=markdown)
    assert found == expected
    assert before <= found.date <= dt.datetime.now().astimezone().date().isoformat()


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Preface.\n\n# **Beta** [Privacy Policy](https://example.org) #\n\n## 1. Scope\n", "Beta Privacy Policy"),
        ("Beta Privacy Policy\n===================\n\n## 1. Scope\n", "Beta Privacy Policy"),
        ("```\n# a comment\n```\n## Beta's words\n", "Beta's words"),
        ("## 1. Scope\n\n# Beta\n", ""),
        ("No heading, #1 or other.\n", ""),
    ],
)
def test_the_first_heading_is_the_title(text: str, title: str) -> None:
    """Markdown is called by its first heading, unless that is a numbered section."""
    assert extract_document(write("beta.md", text)).title == title


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_decide(encoding: str) -> None:
    """A file that says how it is encoded is read so, and loses the mark."""
    assert extract_document(write("a.txt", "Größe – “x”".encode(encoding))).text == "Größe – “x”"


def test_confident_guesses_only() -> None:
    """A Russian text in an old encoding is recognised; a French one that could be in several is refused."""
    russian = "Мы обрабатываем ваши персональные данные в соответствии с законом и не передаем их третьим лицам. " * 4
    french = "Nous protégeons vos données à caractère personnel. Vous êtes libre de partir à tout moment. " * 4
    assert extract_document(write("ru.txt", russian.encode("cp1251"))).text == russian
    with pytest.raises(DataError, match=r"^fr\.txt: has an unknown encoding; save it as UTF-8\.$"):
        extract_document(write("fr.txt", french.encode("cp1252")))


def refused() -> dict[str, tuple[str, bytes, str]]:
    """Files that can't be documents, and what is said about them."""
    return {
        "empty": ("a.txt", b" \n", "is empty."),
        "marked, and empty": ("a.txt", b"\xef\xbb\xbf \n", "is empty."),
        "empty PDF": ("a.pdf", b"", "is empty."),
        "zip": (
            "a.zip",
            b"PK\x03\x04\x00\x00",
            "is a binary file; a document must be HTML, PDF, Word (.docx), Markdown or plain text.",
        ),
        "no recognizable main text": (
            "a.html",
            b"<html><body><div id=a></div><p>Turn on JavaScript.</p></body></html>",
            "has no recognizable main text",
        ),
        "scanned": (
            "a.pdf",
            pdf([]),
            "has no text; its pages may be images. Run text recognition (OCR) on it first.",
        ),
        "no PDF": ("a.pdf", b"This is no PDF.", "can't be read as a PDF"),
        "cut PDF": ("a.pdf", pdf(["1. Scope"])[:200], "can't be read as a PDF"),
    }


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("case", refused())
def test_what_is_no_document(case: str) -> None:
    """What has no text is refused with a sentence that names the file and the reason."""
    name, content, message = refused()[case]
    with pytest.raises(DataError) as caught:
        extract_document(write(name, content))
    assert str(caught.value).startswith(f"{name}: {message}")
    assert "\n" not in str(caught.value)


def test_encrypted_pdf() -> None:
    """A PDF that needs a password is refused; one that only forbids printing is read."""
    import pypdf

    Path("plain.pdf").write_bytes(pdf(["1. Scope", "This is about pens."]))
    for name, password in [("locked.pdf", "secret"), ("unprintable.pdf", "")]:
        writer = pypdf.PdfWriter(clone_from="plain.pdf")
        writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
        writer.write(name)
    with pytest.raises(DataError, match=r"^locked\.pdf: is encrypted; save it without a password\.$"):
        extract_document("locked.pdf")
    assert extract_document("unprintable.pdf").text == "1. Scope\n\nThis is about pens.\n"


def test_html_becomes_markdown() -> None:
    """Headings, lists and tables of the main text are kept; navigation, scripts and footers are not."""
    found = extract_document(write("notice.html", PAGE.format(meta="")))
    assert [(section.level, section.number, section.title) for section in find_sections(found.text)] == [
        (1, "", "Quillmoor Privacy Notice"),
        (2, "1", "What we collect"),
        (3, "1.1", "Children"),
        (2, "2", "Your rights"),
    ]
    assert "- your street address" in found.text
    assert re.search(r"\| address \| two years after the order \|", found.text)
    assert not re.search("Home|Shop|script|reserved", found.text)
    assert found.markdown
    assert re.fullmatch(r"main text of a web page, as Markdown, trafilatura [\d.]+", found.extraction)
    assert "Quillmoor" in found.title


ROWS = """<tr><th>Data</th><th>Kept</th></tr>
<tr><td>Orders</td><td>ten years</td></tr><tr><td>Logs</td><td>90 days</td></tr>"""
KEPT = "| Data | Kept |\n|---|---|\n| Orders | ten years |\n| Logs | 90 days |\n"
BETA = f"""<html><head><title>Beta</title></head><body><nav><ul><li>Home</li><li>Shop</li></ul></nav>
<div><ul><li><a href="/">Lamps</a></li><li><a href="/b">Bulbs</a></li></ul></div>
<h1>Beta Privacy Policy</h1><h2>1. What we collect</h2>
<p>Beta makes lamps, and keeps your name and your street address so that a lamp can be sent to you. Nothing else is
needed, and nothing else is kept at all.</p><ul><li>your <b>full</b> name</li><li>your street address</li></ul>
<h2>2. Retention</h2><p>Data is kept for no longer than the table says, and is then erased unasked.</p>
<table>{ROWS}</table></body></html>"""
SHORT = f"""<html><body><h1>Short notice</h1><p>We keep little about you, and what we keep we erase soon, as the table
says in a few words more.</p><ul><li>your name</li><li>your address</li></ul><table>{ROWS}</table></body></html>"""


@pytest.mark.parametrize(("page", "last"), [(BETA, "your street address"), (SHORT, "your address")])
def test_tables_and_lists_at_the_end_of_a_page_stay(page: str, last: str) -> None:
    """A page that doesn't say where its main part is keeps its headings, list and table; how is said."""
    found = extract_document(write("beta.html", page))
    assert found.text.endswith(f"\n\n{KEPT}")
    assert f"\n- {last}\n" in found.text
    assert found.held == "1 table and 1 list in the page, all in the text"
    assert found.extraction.startswith("all text of a web page except navigation, as Markdown, lxml ")
    assert not re.search("Home|Shop", found.text)


def test_headings_of_a_page_stay() -> None:
    """Sections can be cited, though what finds the main text took their headings for decoration."""
    page = BETA.partition("<ul><li>your")[0] + f"<h2>2. Sharing</h2><p>{'Nothing is shared with anybody. ' * 5}</p>"
    found = extract_document(write("beta.html", page))
    assert [section.number for section in find_sections(found.text)] == ["", "1", "2"]
    assert found.held == ""


def test_a_table_outside_the_main_part_is_told_of() -> None:
    """What stands beside the main part is not in the text, and the user is asked to look."""
    beside = f"<aside><table>{ROWS}</table></aside><footer><ul><li>one thing</li><li>another</li></ul></footer>"
    found = extract_document(write("a.html", PAGE.format(meta="").replace("</main>", f"</main>{beside}")))
    assert "ten years" not in found.text
    assert found.held == "2 tables and 2 lists in the page; 1 table and 1 list missing from the text, so check it"
    assert (
        extract_document(write("b.html", PAGE.format(meta=""))).held
        == "1 table and 1 list in the page, all in the text"
    )


def test_the_plainer_conversion_leaves_nothing_out() -> None:
    """Nested lists, spanning cells, layout tables, line breaks and elements of a page's own keep their text."""
    odd = """<table><tr><td><h2>2. Uses</h2><p>For lamps.</td><td>Beside it</td></tr></table>
    <ol><li>one<ul><li>two</li></ul><ul><ul><li>three</li></ul></ul></li><li><p>four<p>five</li></ol><x-a><p>Own.</x-a>
    loose <b>words</b><br>and<br><br>more<script>no()</script><dl><dt>Term</dt><dd>Meaning</dd></dl><pre>a
  b</pre><table><caption>Uses</caption><tr><td rowspan=2>Name</td><td>post</td></tr><tr><td>mail|phone</td></tr>
    <tr><td colspan=2>all <ul><li>of</li><li>it</li></ul></td></tr></table></body>"""
    found = extract_document(write("a.html", BETA.replace("</body>", odd)))
    assert (
        found.text.partition(KEPT)[2]
        == """
## 2. Uses

For lamps.

Beside it

1. one
   - two
     - three
2. four
   five

Own.

loose words
and

more

Term

Meaning

a
  b

Uses

| Name | post |
|---|---|
| Name | mail\\|phone |
| all of it |  |
"""
    )
    assert found.held == "2 tables and 2 lists in the page, all in the text"


def test_html_says_its_encoding() -> None:
    """A page in an old encoding that says so is read with its dashes."""
    page = PAGE.format(meta='<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">')
    assert "kept – not even" in extract_document(write("a.htm", page.encode("cp1252"))).text


def test_pdf_becomes_paragraphs() -> None:
    """Lines are joined over the border of a page, headings stand alone, page numbers and running titles go."""
    found = extract_document(write("notice.pdf", pdf(*(page.splitlines() for page in PAGES))))
    assert found.text == PARAGRAPHS
    assert re.fullmatch(r"text of a PDF, with lines joined into paragraphs, pypdf [\d.]+", found.extraction)
    assert [section.number for section in find_sections(found.text)] == ["1", "1.1", "2"]


@pytest.mark.parametrize(
    ("stated", "first", "title"),
    [
        ("Beta  Privacy Policy", "Something else", "Beta Privacy Policy"),
        ("", "Beta Privacy Policy", "Beta Privacy Policy"),
        ("Microsoft Word - final_v3.docx", "Beta Privacy Policy", "Beta Privacy Policy"),
        ("policy.indd", "1. Scope", ""),
        ("", "This is a sentence.", ""),
        ("", "Effective 1 March 2026", ""),
    ],
)
def test_title_of_a_pdf(stated: str, first: str, title: str) -> None:
    """A PDF is called what it says, unless that is a file's name; else by a first line that looks like a title."""
    assert extract_document(write("a.pdf", pdf([first, "1. Scope"], title=stated))).title == title


@pytest.mark.parametrize("path", ["/page", "/moved", "/packed", "/untyped"])
def test_a_page_from_the_web(site: str, path: str) -> None:
    """A page is fetched over redirects and compression, read as the same bytes in a file, and nothing else is asked."""
    found = extract_document(site + path)
    assert found.text == extract_document(write("same.html", PAGE.format(meta=""))).text
    assert found.source == site + ("/page" if path == "/moved" else path)
    assert Web.seen == (["/moved", "/page"] if path == "/moved" else [path])


def test_other_types_from_the_web(site: str) -> None:
    """The content type decides, then the name or the bytes; the encoding that the server names is used."""
    assert extract_document(f"{site}/file").text == "1. Scope\n\nThis is about pens.\n"
    assert extract_document(f"{site}/notice.md").markdown
    assert extract_document(f"{site}/latin").text == "We don’t keep it."


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/gone", "the server answered 404 Not Found."),
        ("/broken", "the server answered 503 Service Unavailable."),
        ("/loop", "can't be fetched (Exceeded maximum allowed redirects.)."),
        ("/away", "can't be fetched (Request URL has an unsupported protocol 'file://'.)."),
        ("/large", "is larger than 20 MB; save its text as a .txt file."),
        ("/bomb", "is larger than 20 MB; save its text as a .txt file."),
        ("/picture", "is image/png; a document must be HTML, PDF, Word (.docx), Markdown or plain text."),
        ("/slow", "took longer than 0.5 s to load; try again, or save it and give the file."),
    ],
)
def test_the_web_fails(site: str, path: str, message: str) -> None:
    """Whatever the web does is said in one sentence."""
    with pytest.raises(DataError) as caught:
        extract_document(site + path, timeout_seconds=0.5 if path == "/slow" else 20)
    assert str(caught.value) == f"{site}{path}: {message}"


def test_nobody_listens() -> None:
    """A server that isn't there is said in a sentence, without the password in the URL."""
    with pytest.raises(DataError, match="can't be fetched") as caught:
        extract_document("http://ann:hunter2@127.0.0.1:9/policy")
    assert str(caught.value).startswith("http://127.0.0.1:9/policy: ")
    with pytest.raises(DataError, match=r"ftp://example\.org/a: can't be read; give a file, or a URL"):
        extract_document("ftp://ann:hunter2@example.org/a")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://ann:hun@ter2@example.org/a?by=me@home", "https://example.org/a?by=me@home"),
        ("no way from 'http://ann:hunter2@proxy' to http://[::1", "no way from 'http://proxy' to http://[::1"),
        ("what? 50 % of #1: see //nothing", "what? 50 % of #1: see //nothing"),
    ],
)
def test_passwords_are_not_shown(text: str, shown: str) -> None:
    """A URL, or a sentence with URLs in it, stays as it is but for users and passwords."""
    assert _strip_credentials(text) == shown


def test_password_is_not_kept(site: str) -> None:
    """The source of a document doesn't hold the user and password of its URL."""
    assert extract_document(site.replace("//", "//ann:hunter2@") + "/page").source == f"{site}/page"


@pytest.mark.parametrize(
    ("package", "name", "content"),
    [
        ("trafilatura", "a.html", PAGE.encode()),
        ("pypdf", "a.pdf", pdf(["1. Scope"])),
        ("charset_normalizer", "a.txt", "Größe".encode("cp1252")),
    ],
)
def test_missing_package(monkeypatch: pytest.MonkeyPatch, package: str, name: str, content: bytes) -> None:
    """Without the packages for documents, the extra to install is named."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackageError, match=re.escape(f"'{package}': pip install 'genaipa[documents]'")):
        extract_document(write(name, content))


def test_added_documents_load(tmp_path: Path) -> None:
    """What is added can be loaded by its name, with all that is known about it, and changes are noticed."""
    workspace = Workspace(home=tmp_path, layers=(("workspace", tmp_path),))
    found = extract_document(write("notice.html", PAGE.format(meta="")))
    path = write_document_with_metadata(
        tmp_path / "policies",
        found,
        name="quillmoor-2026",
        company="Quill & Moor: Pens",
        kind="policy",
        license="CC0-1.0",
    )
    assert path == tmp_path / "policies" / "quillmoor-2026.md"
    document = load_document("quillmoor-2026", workspace)
    assert (document.text, document.company, document.kind) == (found.text, "Quill & Moor: Pens", "policy")
    about = document.about
    assert (about.source, about.date, about.license) == ("notice.html", found.date, "CC0-1.0")
    assert (about.title, about.extraction, about.digest) == (found.title, found.extraction, document.digest)
    assert sorted(p.name for p in path.parent.iterdir()) == ["quillmoor-2026.md", "quillmoor-2026.yaml"]
    path.write_text(found.text + "More.", encoding="utf-8")
    with pytest.raises(DataError, match="has changed since it was added"):
        load_document("quillmoor-2026", workspace)


def test_line_ends_survive(tmp_path: Path) -> None:
    """A text is stored to the byte, so that offsets into it stay right."""
    found = extract_document(write("a.txt", "One.\r\nTwo – 2.\n"))
    path = write_document_with_metadata(
        tmp_path / "policies", found, name="a", company="A", kind="regulation", title="An Act"
    )
    assert path.read_bytes() == "One.\r\nTwo – 2.\n".encode()
    loaded = load_document("a", Workspace(home=tmp_path, layers=(("workspace", tmp_path),)))
    assert (loaded.about.title, loaded.kind) == ("An Act", "regulation")


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    """A name that is taken, even by a file of the other kind, is refused; replacing leaves nothing of the old one."""
    folder = tmp_path / "policies"
    text = extract_document(write("a.txt", "Old."))
    marked = extract_document(write("a.md", "# New"))
    write_document_with_metadata(folder, text, name="a", company="A", kind="policy")
    with pytest.raises(UsageError, match=r"a\.txt exists already; choose another name, or replace it with --force\.$"):
        write_document_with_metadata(folder, marked, name="a", company="A", kind="policy")
    assert (folder / "a.txt").read_text() == "Old."
    assert (
        write_document_with_metadata(folder, marked, name="a", company="A", kind="policy", replace=True).read_text()
        == "# New"
    )
    assert {path.name for path in folder.iterdir()} == {"a.md", "a.yaml"}


@pytest.mark.parametrize("name", ["Acme", "../a", "a/b", "a b", ".a", "-a", "ä", "a\n"])
def test_names(tmp_path: Path, name: str) -> None:
    """A name that couldn't be a file name everywhere is refused, and nothing is written."""
    with pytest.raises(UsageError, match="is not a valid document name"):
        write_document_with_metadata(
            tmp_path / "policies", ExtractedDocument("x", "", "", "", ""), name=name, company="A", kind="policy"
        )
    assert not (tmp_path / "policies").exists()


@pytest.mark.parametrize(("name", "company", "what"), [(" ", "A", "name"), ("a", "", "company"), ("a", " ", "company")])
def test_blank_names(tmp_path: Path, name: str, company: str, what: str) -> None:
    """A document without a name, or without a company to ask about, is refused, and nothing is written."""
    with pytest.raises(UsageError, match=rf"^the [a-z ]* is blank; .*--{what}"):
        write_document_with_metadata(
            tmp_path / "policies", ExtractedDocument("x", "", "", "", ""), name=name, company=company, kind="policy"
        )
    assert not (tmp_path / "policies").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """A folder that is a file is said in a sentence."""
    with pytest.raises(DataError, match="can't be written"):
        write_document_with_metadata(
            Path(write("policies", "x")), ExtractedDocument("x", "", "", "", ""), name="a", company="A", kind="policy"
        )


def test_limits_are_the_documented_ones() -> None:
    """A document from the web may take 30 s and be 20 MB."""
    assert (formats.TIMEOUT, DOCUMENT.size) == (30.0, 20_000_000)
