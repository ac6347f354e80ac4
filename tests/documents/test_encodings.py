"""Bytes as the world has them: labels of the web, single bad places, NULs, and encodings that nobody states."""

# ruff: noqa: RUF001 - letters that look like others are what is read here

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest

from genaipa.errors import DataError
from genaipa.policies.encodings import _CODECS, decode_text, find_declared_html_encoding
from genaipa.policies.formats import extract_document, import_library

if TYPE_CHECKING:
    from pathlib import Path


def read(raw: bytes, stated: str = "") -> tuple[str, str]:
    """The text of bytes, and what is said of it."""
    text, notes = decode_text(raw, "policy.txt", stated, import_library)
    return text, "; ".join(notes)


@pytest.mark.parametrize(
    ("stated", "codec", "text"),
    [
        ("gb2312", "gbk", "朱镕基的資料"),
        ("GB_2312-80", "gb18030", "我们𠀀收集"),
        ("big5", "big5hkscs", "我哋嘅資料"),
        ("ks_c_5601-1987", "uhc", "뷁어를 똠방각하"),
        ("euc-kr", "cp949", "햏과 뷁"),
        ("shift_jis", "cp932", "①個人情報㈱髙橋"),
        ("x-sjis", "cp932", "～①"),
        ("EUC-JP", "euc_jis_2004", "①個人情報"),
        ("iso-8859-1", "cp1252", "“quoted” – 5 €"),
        ("us-ascii", "cp1252", "don’t"),
        ("iso-8859-9", "cp1254", "gizliliğiniz “şu”"),
        ("tis-620", "cp874", "ข้อมูล…"),
        ("x-mac-cyrillic", "mac-cyrillic", "данные"),
        ("koi8-ru", "koi8-u", "дані ґ"),
        ("unicode-1-1-utf-8", "utf-8", "naïve"),
        ("logical", "iso8859-8", "מידע"),
        ("utf-16", "utf-16-le", "naïve"),
    ],
)
def test_labels_of_the_web(stated: str, codec: str, text: str) -> None:
    """A label means what it means to browsers."""
    assert read(text.encode(codec), stated) == (text, "")
    assert all(codecs.lookup(known) for known in set(_CODECS.values()))


@pytest.mark.parametrize(
    ("raw", "stated", "text", "said"),
    [
        ("don’t\xa0".encode() + b"\xa0go", "utf-8", "don’t\xa0�go", "1 place could not be read as UTF-8 and is shown"),
        (b"\xef\xbb\xbfa\xffb\xfe\xfec", "", "a�b�c", "2 places could not be read as UTF-8 and are shown as �, the fi"),
        ("naïve déjà vu ".encode() * 9 + b"\xe9", "", "naïve déjà vu " * 9 + "�", "1 place could not be read as UTF-8"),
        (b"a \xef\xbf\xbd b \xff", "utf-8", "a � b �", '1 place could not be read as UTF-8 and is shown as �, near "a'),
        (
            "私たちは個人情報を".encode("cp932") + b"\x81!",
            "shift_jis",
            "私たちは個人情報を�!",
            "1 place could not be read as s",
        ),
        (b"we\0 keep\0", "utf-8", "we keep", "2 NUL characters were removed"),
        ("we\0 keep".encode("utf-16"), "", "we keep", "1 NUL character was removed"),
        (
            "déjà".encode(),
            "iso-8859-1",
            "déjà",
            "it claims to be windows-1252, but its bytes are UTF-8, so it was read as UTF-8",
        ),
        (
            "个人信息保护法".encode() * 2,
            "gbk",
            "个人信息保护法" * 2,
            "it claims to be gb18030, but its bytes are U",
        ),
        (b"We keep it.", "utf-16le", "We keep it.", "it claims to be utf-16le, but its bytes are UTF-8"),
        (b"We keep it.", "klingon", "We keep it.", "its stated encoding 'klingon' is unknown"),
        (b"We keep it.", "utf-7", "We keep it.", "its stated encoding 'utf-7' is unknown"),
        (
            "We don’t “sell” it.".encode("cp1252"),
            "",
            "We don’t “sell” it.",
            "it states no encoding and was read as windows",
        ),
        (b"We keep it. " * 200 + b"\xcf", "", "We keep it. " * 200 + "�", "1 place could not be read as UTF-8 and is"),
    ],
)
def test_what_is_wrong_is_said(raw: bytes, stated: str, text: str, said: str) -> None:
    """Bad places are replaced and counted, NULs left out, a wrong label is not followed, a guess is called so."""
    found, notes = read(raw, stated)
    assert found == text
    assert notes.startswith(said)


def test_a_guess_is_said() -> None:
    """Without a label, what is not UTF-8 is guessed where that is certain enough, and refused where it isn't."""
    text = "Datenschutzerklärung für Gäste: Wir erheben Ihren Namen, und wir löschen ihn später wieder. " * 9
    found, said = read(text.encode("cp1250"))
    assert found == text
    assert said.endswith("this is a guess, so check the letters")
    with pytest.raises(DataError, match="has an unknown encoding; save it as UTF-8"):
        read(bytes(range(0xA0, 0x100)) * 3)


@pytest.mark.parametrize(
    ("raw", "stated", "problem"),
    [
        (bytes(range(256)) * 9, "", "is a binary file"),
        (bytes(range(256)) * 9, "utf-8", "is a binary file"),
        ("Größe für Bäder ".encode("cp1252") * 30, "utf-8", "claims to be UTF-8, but 90 places in it are not"),
        (b"\xff\xfe" + b"\x00\xd8\x01" * 99, "", "is a binary file"),
    ],
)
def test_what_is_no_text_is_refused(raw: bytes, stated: str, problem: str) -> None:
    """Binary files, and texts whose label is wrong all over."""
    with pytest.raises(DataError, match=problem):
        read(raw, stated)


def test_a_page_states_its_encoding(tmp_path: Path) -> None:
    """By a meta element or an XML declaration; nobody states UTF-16 in ASCII."""
    assert find_declared_html_encoding(b'<meta charset="GB2312">') == "gb2312"
    assert find_declared_html_encoding(b'<?xml version="1.0" encoding="ISO-8859-2"?>\n<html>') == "iso-8859-2"
    assert (
        find_declared_html_encoding(b"<meta http-equiv=Content-Type content='text/html; charset = utf-16'>") == "utf-8"
    )
    page = tmp_path / "page.html"
    body = "<p>Wir erheben Ihren Namen, und wir löschen ihn später wieder aus allen Systemen.</p>" * 4
    page.write_bytes(f"<meta charset=utf-8><title>A</title>{body}".encode().replace(b"Namen", b"Na\xe4men", 1))
    found = extract_document(str(page))
    assert found.text.count("löschen") == 4
    assert found.notes == (
        '1 place could not be read as UTF-8 and is shown as �, near "Wir erheben Ihren Na�men, und wir löschen"',
    )
