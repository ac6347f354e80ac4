"""Languages that no rules are here for: their names in English, and which of them a text seems to be in."""

# ruff: noqa: RUF001 - letters of other scripts

from __future__ import annotations

import re
from collections import Counter

_NAMED = (
    "aa:Afar ab:Abkhazian af:Afrikaans ak:Akan am:Amharic an:Aragonese ar:Arabic as:Assamese av:Avaric ay:Aymara"
    " az:Azerbaijani ba:Bashkir be:Belarusian bg:Bulgarian bi:Bislama bm:Bambara bn:Bengali bo:Tibetan br:Breton"
    " bs:Bosnian ca:Catalan ce:Chechen co:Corsican cs:Czech cv:Chuvash cy:Welsh da:Danish dv:Divehi dz:Dzongkha"
    " ee:Ewe el:Greek eo:Esperanto et:Estonian eu:Basque fa:Persian ff:Fulah fi:Finnish fj:Fijian fo:Faroese"
    " fy:Frisian ga:Irish gd:Gaelic gl:Galician gn:Guarani gu:Gujarati gv:Manx ha:Hausa he:Hebrew hi:Hindi"
    " hr:Croatian ht:Haitian hu:Hungarian hy:Armenian id:Indonesian ig:Igbo is:Icelandic iu:Inuktitut ja:Japanese"
    " jv:Javanese ka:Georgian ki:Kikuyu kk:Kazakh kl:Kalaallisut km:Khmer kn:Kannada ko:Korean ks:Kashmiri"
    " ku:Kurdish kw:Cornish ky:Kyrgyz la:Latin lb:Luxembourgish lg:Ganda ln:Lingala lo:Lao lt:Lithuanian"
    " lv:Latvian mg:Malagasy mi:Maori mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay mt:Maltese"
    " my:Burmese nb:Norwegian ne:Nepali nl:Dutch nn:Norwegian no:Norwegian ny:Chichewa oc:Occitan om:Oromo or:Odia"
    " os:Ossetian pa:Punjabi pl:Polish ps:Pashto pt:Portuguese qu:Quechua rm:Romansh rn:Rundi ro:Romanian"
    " ru:Russian rw:Kinyarwanda sa:Sanskrit sc:Sardinian sd:Sindhi se:Sami sg:Sango si:Sinhala sk:Slovak"
    " sl:Slovenian sm:Samoan sn:Shona so:Somali sq:Albanian sr:Serbian ss:Swati st:Sotho su:Sundanese sv:Swedish"
    " sw:Swahili ta:Tamil te:Telugu tg:Tajik th:Thai ti:Tigrinya tk:Turkmen tl:Tagalog tn:Tswana to:Tongan"
    " tr:Turkish ts:Tsonga tt:Tatar ug:Uyghur uk:Ukrainian ur:Urdu uz:Uzbek ve:Venda vi:Vietnamese wa:Walloon"
    " wo:Wolof xh:Xhosa yi:Yiddish yo:Yoruba za:Zhuang zu:Zulu fil:Filipino por:Portuguese jpn:Japanese"
    " rus:Russian kor:Korean ara:Arabic nld:Dutch dut:Dutch pol:Polish tur:Turkish ces:Czech cze:Czech"
    " hun:Hungarian swe:Swedish dan:Danish nor:Norwegian fin:Finnish ell:Greek gre:Greek heb:Hebrew hin:Hindi"
    " tha:Thai vie:Vietnamese ukr:Ukrainian ron:Romanian rum:Romanian ind:Indonesian msa:Malay may:Malay"
    " fas:Persian per:Persian de:German es:Spanish fr:French it:Italian zh:Chinese"
)
NAMES: dict[str, str] = dict(pair.split(":") for pair in _NAMED.split())
"""By code of ISO 639, of two letters or of three."""

# The scripts of one language each, or of one that is far more frequent than others.
_SCRIPTS = {
    "ja": "\u3040-\u30ff\uff66-\uff9f",
    "ko": "\u1100-\u11ff\uac00-\ud7a3",
    "el": "\u0370-\u03ff",
    "he": "\u0590-\u05ff",
    "ar": "\u0600-\u06ff",
    "hy": "\u0530-\u058f",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "th": "\u0e00-\u0e7f",
    "lo": "\u0e80-\u0eff",
    "my": "\u1000-\u109f",
    "ka": "\u10a0-\u10ff",
    "am": "\u1200-\u137f",
    "km": "\u1780-\u17ff",
    "ru": "\u0400-\u04ff",
}
# Letters that other languages in the same script have, and it has not.
_LETTERS = {
    "ru": {"uk": "іїєґ", "be": "ў", "kk": "әқңғұ", "mk": "ѓќѕ", "sr": "ђћџљњ", "bg": "ъ"},
    "ar": {"ur": "ٹڈںےہ", "fa": "پچژگ"},
}
_NOT_BULGARIAN = frozenset("ыэё")
# Frequent words of languages in Latin script, rare in the others.
_WORDS = {
    "pt": "não você são seus suas dos das pelo pela uma com para que os ao nós também ou em seu sua podemos",
    "nl": "het een van en wij we uw je niet voor dat zijn worden met op aan door deze kunnen ook bij om de",
    "pl": "i w z na do że się nie lub oraz przez jest są dla może danych od jak które",
    "cs": "a v na se že je které nebo jsou pro jako může údajů s k vaše nás při ve podle",
    "sk": "a v na sa že je ktoré alebo sú pre ako môže údajov s k vaše nás pri vo podľa",
    "sv": "och att är för av som på med till den det vi inte din dina eller om kan",
    "da": "og at er for af som på med til den det vi ikke din dine eller om kan vores",
    "no": "og å er for av som på med til den det vi ikke din dine eller om kan vår",
    "fi": "ja on tai että ei sekä kun voi tämän joka jos ovat myös tietoja me mukaan sen henkilötietoja",
    "hu": "a az és hogy vagy nem egy is meg ha ezt személyes adatok mint által más olyan",
    "tr": "ve bir bu için ile veya olarak da de kişisel gibi tarafından olan daha ya sizin biz",
    "ro": "și de la în sau care pentru cu nu din este sunt pe prin dumneavoastră să datele",
    "id": "dan yang untuk atau dengan kami anda dari di ini dapat tidak informasi pada akan oleh data",
    "ms": "dan yang untuk atau dengan kami anda daripada di ini boleh tidak maklumat pada akan oleh kepada",
    "vi": "và của các cho bạn chúng tôi không được có là với trong thông tin để hoặc này",
    "hr": "i u na se je da za ili su koje vaše kao podataka s od možemo nije",
    "ca": "i amb dels les els per dades són seva vostè aquest aquesta mitjançant també",
}
_FREQUENT = {code: frozenset(words.split()) for code, words in _WORDS.items()}
_LOOKED_AT = 20_000
_MOSTLY = 0.5
_KANA = 0.05
"""Share of kana in Japanese, which has Han beside them."""
_SHARE = 0.12
"""Least share of a language's frequent words in a text."""
_FEWEST = 15
"""Letters, or words, of a text that tells something."""


def detect_unsupported_language_code(text: str) -> str:
    """Return the code of the language without rules that a text seems to be in, for people to read; empty if none."""
    beginning = text[:_LOOKED_AT].lower()
    letters = sum(character.isalpha() for character in beginning)
    if letters < _FEWEST:
        return ""
    if not beginning.isascii():
        for code, script in _SCRIPTS.items():
            if len(re.findall(f"[{script}]", beginning)) >= (_KANA if code == "ja" else _MOSTLY) * letters:
                return _language_code_by_distinctive_letters(code, beginning)
    counts = Counter(re.findall(r"[^\W\d_]+", beginning))
    words = counts.total()
    best, code = max((sum(counts[word] for word in frequent) / words, code) for code, frequent in _FREQUENT.items())
    return code if words >= _FEWEST and best >= _SHARE else ""


def _language_code_by_distinctive_letters(script_language: str, text: str) -> str:
    """Return the language of a text in the script of another one, by letters that only it has."""
    counts = Counter(text)
    for neighbour, letters in _LETTERS.get(script_language, {}).items():
        rare = neighbour == "bg" and any(counts[letter] for letter in _NOT_BULGARIAN)
        if not rare and sum(counts[letter] for letter in letters) * 200 > len(text):
            return neighbour
    return script_language
