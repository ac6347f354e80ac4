"""Word documents of a user's own: .docx in, Markdown in the workspace out."""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

import pytest

from genaipa.errors import DataError
from genaipa.policies.formats import extract_document
from genaipa.policies.sections import find_sections

NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PARTS = ("styles", "numbering")
STYLES = {"T": "Title", "H1": "heading 1", "H2": "heading 2"}


def paragraph(text: str, style: str = "", numbered: int = 0) -> str:
    """A paragraph of a style, in the list of that number (1 has bullets, 2 has numbers)."""
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if numbered:
        properties += f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{numbered}"/></w:numPr>'
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def table(*rows: tuple[str, ...]) -> str:
    """A table of these cells."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(*blocks: str, **more: str) -> bytes:
    """The file that Word would write, as far as it matters here."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in STYLES.items()
    )
    kinds = "".join(
        f'<w:abstractNum w:abstractNumId="{n}"><w:lvl w:ilvl="0"><w:numFmt w:val="{form}"/></w:lvl></w:abstractNum>'
        for n, form in ((1, "bullet"), (2, "decimal"))
    )
    numbers = "".join(f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n}"/></w:num>' for n in (1, 2))
    related = "".join(f'<Relationship Id="{key}" Type="{OFFICE}/{key}" Target="{key}.xml"/>' for key in PARTS)
    package = "http://schemas.openxmlformats.org/package/2006"
    main = f'<Relationship Id="m" Type="{OFFICE}/officeDocument" Target="word/document.xml"/>'
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">{main}</Relationships>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{package}/relationships">{related}</Relationships>',
        "word/styles.xml": f'<w:styles xmlns:w="{NAMESPACE}">{styles}</w:styles>',
        "word/numbering.xml": f'<w:numbering xmlns:w="{NAMESPACE}">{kinds}{numbers}</w:numbering>',
        "word/document.xml": f'<w:document xmlns:w="{NAMESPACE}"><w:body>{"".join(blocks)}</w:body></w:document>',
    } | more
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return held.getvalue()


def write(name: str, content: bytes) -> str:
    """The path of a file with this content."""
    Path(name).write_bytes(content)
    return name


def test_headings_lists_and_tables_become_markdown() -> None:
    """A document of Word's is read like a page: its sections are found, and what was in tables and lists is counted."""
    content = docx(
        paragraph("Quillmoor Privacy Notice", "T"),
        paragraph("1. What we collect", "H1"),
        paragraph("We keep your name “and” your address."),
        paragraph("name", numbered=1),
        paragraph("address", numbered=1),
        paragraph("1.1 How long", "H2"),
        table(("Data", "Kept"), ("Logs", "90 days")),
    )
    found = extract_document(write("notice.docx", content))
    assert found.text == (
        "# Quillmoor Privacy Notice\n\n# 1. What we collect\n\nWe keep your name “and” your address.\n\n"
        "- name\n- address\n\n## 1.1 How long\n\n| Data | Kept |\n|---|---|\n| Logs | 90 days |\n"
    )
    assert (found.title, found.markdown) == ("Quillmoor Privacy Notice", True)
    assert found.extraction.startswith("text of a Word document as Markdown, mammoth ")
    assert found.held == "1 table and 1 list in the document, all in the text"
    assert [section.number for section in find_sections(found.text)] == ["", "1", "1.1"]
    assert extract_document(write("notice", content)).text == found.text


def test_numbers_that_only_word_knows_are_missed() -> None:
    """Headings that Word numbers by itself have no number in the text, which is said, since answers cite numbers."""
    content = docx(paragraph("Scope", "H1", 2), paragraph("Rights", "H1", 2), paragraph("first", numbered=2))
    held = extract_document(write("auto.docx", content)).held
    assert held.endswith("all in the text; Word generates the numbers of 2 headings; type them into the text")


def test_what_is_no_word_document_is_refused_in_a_sentence() -> None:
    """Fakes, older and protected files, broken and swollen ones, and those without a text."""
    whole = docx(paragraph("Hello."))
    broken = docx(paragraph("Hello."), **{"word/document.xml": "<w:document"})
    old = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    for name, content, said in (
        ("fake.docx", b"docx!!!!", "can't be read as a Word document."),
        ("cut.docx", whole[:-30], "can't be read as a Word document."),
        ("broken.docx", broken, "can't be read as a Word document (unclosed token"),
        ("other.docx", docx().replace(b"word/document.xml", b"word/nothingx.xml"), "can't be read as a Word document"),
        ("old.doc", old, "is an old or password-protected Word document; save it as .docx without a password."),
        ("blank.docx", docx(paragraph(" ")), "has no text; save it as a .txt file."),
        ("rich.rtf", b"{\\rtf1 Hello.}", "is rich text (RTF); save it as .docx, PDF or plain text."),
    ):
        with pytest.raises(DataError) as caught:
            extract_document(write(name, content))
        assert str(caught.value).startswith(f"{name}: {said}"), name
    # A few kilobytes, packed.
    swollen = docx("<w:tbl><w:tr><w:tc/></w:tr></w:tbl>" * 134_000)
    assert len(swollen) < 50_000
    with pytest.raises(DataError, match="has more than 400,000 elements"):
        extract_document(write("packed.docx", swollen))
    with pytest.raises(DataError, match="unpacks to more than 20 MB"):
        extract_document(write("swollen.docx", docx(paragraph("Hello. " * 3_000_000))))


def test_pictures_of_a_document_are_not_fetched() -> None:
    """A picture that is linked to a file of this machine makes nobody open that file."""
    Path("secret.txt").write_text("SECRET")
    opened: list[str] = []
    watching = [True]  # a hook can't be taken away again
    sys.addaudithook(lambda event, on: opened.append(str(on[0])) if watching and event == "open" else None)
    drawing = (
        '<w:p><w:r><w:t>Text.</w:t><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
        'wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
        '<a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill>'
        f'<a:blip xmlns:r="{OFFICE}" r:link="pic"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline>'
        "</w:drawing></w:r></w:p>"
    )
    target = (Path.cwd() / "secret.txt").as_uri()
    link = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="pic" '
        f'Type="{OFFICE}/image" Target="{target}" TargetMode="External"/></Relationships>'
    )
    found = extract_document(write("linked.docx", docx(drawing, **{"word/_rels/document.xml.rels": link})))
    watching.clear()
    assert found.text == "Text.\n"
    assert any(path.endswith("linked.docx") for path in opened)
    assert not [path for path in opened if path.endswith("secret.txt")]
