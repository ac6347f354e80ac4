"""The characters of a document's bytes: in the encoding that it states, and every place that can't be read is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from genaipa.errors import DataError, clip
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class DecodedText(NamedTuple):
    """A text, and sentences on what of it was replaced, left out or guessed."""

    text: str
    notes: list[str]


# The labels of the WHATWG's Encoding Standard (https://encoding.spec.whatwg.org/#names-and-labels), by which all
# browsers read: what calls itself Latin-1 is Windows-1252, gb2312 is GB18030. The codecs are Python's nearest.
_LABELS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp866": "ibm866 866 cp866 csibm866",
    "iso8859-2": "iso-8859-2 csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "iso-8859-3 csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "iso-8859-4 csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "iso-8859-5 csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "iso-8859-6 arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e"
    " iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "iso-8859-7 csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7"
    " iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "iso-8859-8 csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8"
    " iso_8859-8:1988 visual csiso88598i iso-8859-8-i logical",
    "iso8859-10": "iso-8859-10 csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "iso-8859-15 csisolatin9 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh csmacintosh mac x-mac-roman",
    "cp874": "windows-874 dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1252": "windows-1252 ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1"
    " iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 latin-1 us-ascii x-cp1252 x-user-defined",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5"
    " latin5 x-cp1254",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc_jis_2004": "euc-jp cseucpkdfmtjapanese x-euc-jp",
    "iso2022_jp_ext": "iso-2022-jp csiso2022jp",
    "cp932": "shift_jis csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "cp949": "euc-kr cseuckr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "utf-16-be": "utf-16be unicodefffe",
    "utf-16-le": "utf-16le csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
}
_CODECS = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_DISPLAY_NAMES = {
    "utf-8-sig": "UTF-8",
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-32": "UTF-32",
    "cp1252": "windows-1252",
}
_BYTES = frozenset(("cp932", "cp949", "gb18030", "big5hkscs", "euc_jis_2004"))
"""Encodings that take several bytes for a character, in which UTF-8 can be read by chance."""
_BY_CHANCE = 10
"""Characters of several bytes that all are right in UTF-8, and are so in these encodings by no chance."""
_CONTROL = bytes((*range(1, 9), *range(14, 27), *range(28, 32)))
_BINARY, _STRAY = 0.01, 3
"""Share of NULs that no text has, and how many of them any may have."""
_FEW = 0.001
"""Share of bytes that may be wrong in a UTF-8 that nobody states, or of control characters in a text with a NUL."""
_MOST = 20
"""Places that may be wrong where an encoding is stated, whatever their share; of more, as many as are right."""
# What English prose has beside ASCII in Windows-1252: quotation marks, dashes and the like.
_PUNCTUATION = frozenset(b"\x80\x85\x91\x92\x93\x94\x95\x96\x97\x99\xa0\xa3\xa7\xa9\xab\xae\xb0\xb7\xbb")
_NEAR = 20  # characters on each side of a place that is shown
_ESCAPED = re.compile("[\udc80-\udcff]+")


def find_declared_html_encoding(raw: bytes) -> str:
    """Return the encoding that an HTML page declares; UTF-8 for UTF-16, in which the declaration could not be read."""
    match = re.search(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", raw[:4096], re.IGNORECASE)
    match = match or re.match(rb"\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", raw[:1024])
    label = match.group(1).decode("ascii", "ignore").lower() if match else ""
    return "utf-8" if _CODECS.get(label, "").startswith("utf-16") else label


def decode_text(
    raw: bytes, source_for_errors: str, stated_encoding: str, import_library: Callable[[str, str], Any]
) -> DecodedText:
    """Decode bytes.

    `stated_encoding` is the stated encoding or empty, and `import_library` imports the package that guesses.

    Places that are wrong in a stated encoding, or in what is UTF-8 but for them, are replaced and said; an encoding is
    guessed only where none is stated, which is said, too. A DataError if none is certain enough.
    """
    if marked := next((codec for mark, codec in _MARKS.items() if raw.startswith(mark)), ""):
        text, notes = _decode_replacing_and_noting_errors(raw, marked)
        if len(notes) and text.count("\ufffd") > max(_MOST, _BINARY * len(text)):
            raise _binary_error(source_for_errors)
        return _remove_and_note_nuls(text, notes)
    codec = _CODECS.get(stated_encoding.strip().lower(), "")
    if not codec.startswith("utf-16") and _is_binary_by_nul_bytes(raw):
        raise _binary_error(source_for_errors)
    notes = [f"its stated encoding '{clip(stated_encoding, 20)}' is unknown"] if stated_encoding and not codec else []
    text = (
        _decode_as_stated_or_utf8(raw, source_for_errors, codec, notes)
        if codec
        else _decode_by_guess_or_raise(raw, source_for_errors, notes, import_library)
    )
    return _remove_and_note_nuls(text, notes)


def _binary_error(source_for_errors: str) -> DataError:
    return DataError(
        source_for_errors, "is a binary file; a document must be HTML, PDF, Word (.docx), Markdown or plain text."
    )


def _is_binary_by_nul_bytes(raw: bytes) -> bool:
    """Tell whether bytes with NULs are no text: they have other control characters or many NULs before their end."""
    text = raw.rstrip(b"\0")
    controls = len(text) - len(text.translate(None, _CONTROL))
    return b"\0" in raw and (controls > _FEW * len(text) or text.count(0) > max(_STRAY, _BINARY * len(text)))


def _decode_as_stated_or_utf8(raw: bytes, source_for_errors: str, codec: str, notes_to_extend: list[str]) -> str:
    no_pairs = codec.startswith("utf-16") and b"\0" not in raw and raw.isascii()
    if codec != "utf-8" and (no_pairs or _is_non_ascii_utf8(raw, _BY_CHANCE if codec in _BYTES else 1)):
        notes_to_extend.append(
            f"it claims to be {_encoding_name(codec)}, but its bytes are UTF-8, so it was read as UTF-8"
        )
        codec = "utf-8"
    text, remarks = _decode_replacing_and_noting_errors(raw, codec)
    wrong = text.count("\ufffd")
    if remarks and wrong > _MOST and wrong > sum(character > "\x7f" for character in text) / 2:
        raise DataError(
            source_for_errors,
            f"claims to be {_encoding_name(codec)}, but {wrong:,} places in it are not; save it as UTF-8.",
        )
    notes_to_extend += remarks
    return text


def _decode_by_guess_or_raise(
    raw: bytes, source_for_errors: str, notes_to_extend: list[str], import_library: Callable[[str, str], Any]
) -> str:
    text, remarks = _decode_replacing_and_noting_errors(raw, "utf-8")
    if not remarks:
        return text
    wrong = {byte for byte in raw if byte > 0x7F}  # noqa: PLR2004 - ASCII
    places = len(_ESCAPED.findall(raw.decode("utf-8", "surrogateescape")))
    right = sum(character > "\x7f" for character in text) - places
    if not right and wrong <= _PUNCTUATION:
        notes_to_extend.append(
            f"it states no encoding and was read as {_encoding_name('cp1252')}, which its punctuation suggests"
        )
        return raw.decode("cp1252")
    if right > places or places <= _FEW * len(raw):
        notes_to_extend += remarks
        return text
    guesses = list(import_library("charset_normalizer", "text that is not UTF-8").from_bytes(raw))
    if not guesses or not _is_best_encoding_guess_certain(guesses):
        raise DataError(source_for_errors, "has an unknown encoding; save it as UTF-8.")
    notes_to_extend.append(
        f"it states no encoding and was read as {_encoding_name(guesses[0].encoding)}; "
        "this is a guess, so check the letters"
    )
    return str(guesses[0])


def _is_non_ascii_utf8(raw: bytes, min_non_ascii: int) -> bool:
    """Tell whether bytes are UTF-8 without a fault, with that many characters beside ASCII at least."""
    if raw.isascii():
        return False
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return False
    return sum(character > "\x7f" for character in text) >= min_non_ascii


def _decode_replacing_and_noting_errors(raw: bytes, codec: str) -> DecodedText:
    """Decode bytes, each place that is wrong as one replacement character, and say how many there are and where."""
    try:
        return DecodedText(raw.decode(codec), [])
    except UnicodeDecodeError:
        text = raw.decode(codec, "surrogateescape" if codec.startswith("utf-8") else "replace")
    places = list(_ESCAPED.finditer(text)) or list(re.finditer("\ufffd", text))
    start, end = places[0].span()
    plain = _ESCAPED.sub("\ufffd", text[max(0, start - _NEAR) : end + _NEAR]).replace("\0", "")
    context = " ".join(plain.split())
    verb = "is shown as \ufffd," if len(places) == 1 else "are shown as \ufffd, the first"
    remark = (
        f'{format_count(len(places), "place")} could not be read as {_encoding_name(codec)} and {verb} near "{context}"'
    )
    return DecodedText(_ESCAPED.sub("\ufffd", text), [remark])


def _encoding_name(codec: str) -> str:
    """Return an encoding as people call it."""
    return _DISPLAY_NAMES.get(codec) or next(iter(_LABELS.get(codec, codec).split()))


def _remove_and_note_nuls(text: str, notes: list[str]) -> DecodedText:
    if nul := text.count("\0"):
        notes = [*notes, f"{format_count(nul, 'NUL character')} {'was' if nul == 1 else 'were'} removed"]
    return DecodedText(text.replace("\0", "") if nul else text, notes)


def _is_best_encoding_guess_certain(guesses: list[Any]) -> bool:
    """Tell whether the best guess gives words of a language (coherence) with the fewest odd characters (chaos)."""
    best, *rivals = guesses
    return (
        best.chaos <= 0.05  # noqa: PLR2004 - shares from 0 to 1, measured on policies in six languages
        and best.coherence >= 0.4  # noqa: PLR2004
        and not any(rival.chaos <= best.chaos and rival.coherence >= best.coherence for rival in rivals)
    )
