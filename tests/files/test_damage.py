"""Files of every kind that comes from other people, damaged at random: each is read, or refused in one sentence."""

from __future__ import annotations

import hashlib
import io
import json
import random
import sys
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pypdf
import pytest
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
from size import SOAK, size

from benchmarks.made_up import made_up
from genaipa.archive.contents import FORMAT, read_checked_pack
from genaipa.errors import DataError, GenaipaError
from genaipa.files.strict_yaml import read_yaml
from genaipa.policies.corpus import encode_corpus_line
from genaipa.policies.corpus_file import make_corpus_file_reader
from genaipa.policies.formats import extract_document
from genaipa.questions.sets import QuestionSet
from genaipa.scoring.importing import ScoresReader
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.tables import read_table
from genaipa.workspace import find_workspace, shipped_folder
from genaipa_exchange.incoming import Incoming
from genaipa_exchange.label_studio import format_value_label
from genaipa_exchange.label_studio import import_label_studio_export as read_label_studio

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = {".docx": size(small=30, soak=600)}
OTHERS = size(small=8, soak=200)
SLOWEST = 60.0
"""Seconds of a processor for one file, on a busy machine."""
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


ODD = (b"\0", b"\xff\xfe", b"<" * 99, b"[" * 9999, b"&a;", b"\r", b"9e999")


def zipped(files: dict[str, bytes | str]) -> bytes:
    """An archive of these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in files.items():
            archive.writestr(name, held)
    return content.getvalue()


def docx() -> bytes:
    """A Word document with headings, a numbered list and a table."""
    words = [f"<w:p><w:pPr><w:pStyle w:val='H1'/></w:pPr><w:r><w:t>Part {n}</w:t></w:r></w:p>" for n in range(5)]
    cell = "<w:tc><w:p><w:r><w:t>We keep it.</w:t></w:r></w:p></w:tc>"
    body = "".join(words) + f"<w:tbl><w:tr>{cell * 3}</w:tr></w:tbl>"
    styles = "<w:style w:type='paragraph' w:styleId='H1'><w:name w:val='heading 1'/></w:style>"
    main = f"<Relationship Id='m' Type='{OFFICE}/officeDocument' Target='word/document.xml'/>"
    style = f"<Relationship Id='s' Type='{OFFICE}/styles' Target='styles.xml'/>"
    return zipped(
        {
            "[Content_Types].xml": f"<Types xmlns='{PACKAGE}/content-types'/>",
            "_rels/.rels": f"<Relationships xmlns='{PACKAGE}/relationships'>{main}</Relationships>",
            "word/_rels/document.xml.rels": f"<Relationships xmlns='{PACKAGE}/relationships'>{style}</Relationships>",
            "word/styles.xml": f"<w:styles xmlns:w='{W}'>{styles}</w:styles>",
            "word/document.xml": f"<w:document xmlns:w='{W}'><w:body>{body}</w:body></w:document>",
        }
    )


def pdf() -> bytes:
    """A PDF of two pages of text."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    for number in range(2):
        page, content = writer.add_blank_page(600, 800), DecodedStreamObject()
        lines = "".join(f"1 0 0 1 72 {700 - 20 * n} Tm (We keep line {n} of {number}.) Tj " for n in range(20))
        content.set_data(f"BT /F1 12 Tf {lines} ET".encode())
        page[NameObject("/Contents")] = writer._add_object(content)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    held = io.BytesIO()
    writer.write(held)
    return held.getvalue()


def xlsx() -> bytes:
    """A table of scores as a spreadsheet."""
    book, held = openpyxl.Workbook(), io.BytesIO()
    for row in range(20):
        book.active.append(["answer", "note", "accuracy"] if not row else ["ab" * 32, f"a note {row}", row])
    book.save(held)
    return held.getvalue()


def pack() -> bytes:
    """The smallest pack: no run, no score."""
    files = {"genaipa.toml": b"# A study.\n", "scores.jsonl": b"", "report/index.html": b"<p>A report.</p>" * 20}
    listing = {"format": FORMAT, "genaipa": "0", "names": [], "runs": [], "excluded": False, "rubric": "", "absent": []}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return zipped({"pack.json": json.dumps(listing | {"versions": {}, "files": digests})} | files)


def page() -> bytes:
    """A page with headings, lists and a table."""
    items = "".join(f"<h2>Part {n}</h2><ul><li>We keep your name and your address.</ul>" for n in range(9))
    return f"<!doctype html><html lang=en><body><main>{items}<table><tr><td>a<td>b</table></main></html>".encode()


def labelled() -> bytes:
    """Tasks as Label Studio exports them."""
    rubric = load_rubric(find_workspace())
    result = [
        {"from_name": metric, "value": {"choices": [format_value_label(rubric, metric, rubric.values[0])]}}
        for metric in rubric.metrics
    ]
    task = {"data": {"digest": "ab" * 32}, "annotations": [{"completed_by": 1, "result": result}]}
    return json.dumps([task] * 3).encode()


def scores() -> bytes:
    """Events of scoring."""
    head = {"time": "2024-01-01T00:00:00+00:00", "kind": "score", "analyst": "ada", "answer": "ab" * 32}
    return b"".join(json.dumps({"id": f"e{n}", **head, "values": {"accuracy": 1}}).encode() + b"\n" for n in range(9))


def shipped_questions() -> bytes:
    """A set of questions."""
    return (shipped_folder("questions") / "policy.yaml").read_bytes()


def read_scores(path: Path) -> None:
    """Read a log of scores."""
    ScoresReader(str, load_rubric(find_workspace())).read_file_or_table(path)


KINDS: dict[str, tuple[Callable[[], bytes], Callable[[Path], object]]] = {
    ".docx": (docx, lambda path: extract_document(str(path))),
    ".pdf": (pdf, lambda path: extract_document(str(path))),
    ".html": (page, lambda path: extract_document(str(path))),
    ".xlsx": (xlsx, lambda path: read_table(path, "answer")),
    ".csv": (lambda: b"answer,note\n" + b'"a","b\nc"\n' * 20, lambda path: read_table(path, "answer")),
    ".yaml": (shipped_questions, lambda path: read_yaml(path, QuestionSet)),
    ".zip": (pack, read_checked_pack),
    ".json": (labelled, lambda path: read_label_studio([path], Incoming(find_workspace()))),
    ".jsonl": (scores, read_scores),
    ".ndjson": (
        lambda: b"".join(map(encode_corpus_line, made_up(2))),
        lambda path: list(make_corpus_file_reader(path).rows()),
    ),
}
"""Ending → whole files of a kind, and their reader."""


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with one to three changes; of an archive, half of the times within one of its files."""
    if content.startswith(b"PK") and chance.random() < 0.5:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        name = chance.choice(list(files))
        return zipped(files | {name: damaged(files[name], chance)})
    for _ in range(chance.randint(1, 3)):
        at, length = chance.randrange(len(content) + 1), chance.choice((1, 4, 40))
        before, after = content[:at], content[at + length :]
        kind = chance.choice(("bytes", "lost", "doubled", "cut", "digit", "odd"))
        if kind == "bytes":
            content = before + chance.randbytes(length) + after
        elif kind == "lost":
            content = before + after
        elif kind == "doubled":
            content = before + content[at : at + length] * chance.choice((2, 50)) + after
        elif kind == "cut":
            content = before
        elif kind == "digit":
            content = before + str(chance.choice((0, -1, 2**31, 10**30))).encode() + after
        else:
            content = (
                before + chance.choice((b"\0", b"\xff\xfe", b"<" * 99, b"[" * 9999, b"&a;", b"\r", b"9e999")) + after
            )
    return content


def is_refused(read: Callable[[Path], object], path: Path) -> bool:
    """Whether a file is refused, which has to be in a sentence with its name; anything else that is raised fails."""
    try:
        read(path)
    except GenaipaError as error:
        sentence = str(error)
        told = isinstance(error, DataError) and path.name in sentence and "\n" not in sentence and len(sentence) < 600
        if not told:
            pytest.fail(sentence)
        return True
    return False


@pytest.mark.parametrize("ending", KINDS)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(ending: str) -> None:
    """No change to a file ends a reader otherwise than by what it read, or by a sentence with the file's name."""
    make, read = KINDS[ending]
    whole, path, chance, slowest, refused = make(), Path(f"sent{ending}"), random.Random(41), 0.0, 0
    path.write_bytes(whole)
    read(path)
    for _ in range(CASES.get(ending, OTHERS)):
        path.write_bytes(damaged(whole, chance))
        begin = time.process_time()
        refused += is_refused(read, path)
        slowest = max(slowest, time.process_time() - begin)
    assert slowest < SLOWEST
    if SOAK:
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        sys.stderr.write(f"{ending}: {refused} refused, the slowest {slowest:.2f} s, at most {peak} MB\n")
