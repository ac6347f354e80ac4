"""Languages without questions and rules: recognised for people, and said wherever a document is used."""

# ruff: noqa: RUF001 - letters of other scripts

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from running import write

import genaipa as front
from genaipa.languages.catalog import describe_stated_or_likely_language, detect_language_code_or_empty, language_name
from genaipa.languages.detection import detect_unsupported_language_code

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

TEXTS = {
    "pt": "Guardamos o nome do hóspede e o número do quarto até que a conta seja paga, e não contamos "
    "a mais ninguém quem dormiu em nossa casa. Você pode ler o livro dos hóspedes na sala, e "
    "nós não o vendemos para ninguém.",
    "nl": "Wij bewaren de naam van de gast en het nummer van de kamer tot de rekening is betaald, en "
    "wij vertellen het aan niemand. U kunt het boek van de gasten in de zaal lezen, en wij verkopen "
    "het niet aan een ander.",
    "pl": "Przechowujemy imię gościa i numer pokoju do czasu, gdy rachunek jest zapłacony, i nie mówimy "
    "o tym nikomu. Może się to zmienić, jeśli prawo tego wymaga, lub gdy gość o to poprosi przez "
    "list, który do nas przyjdzie.",
    "sv": "Vi sparar namnet på gästen och numret på rummet tills räkningen är betald, och vi säger "
    "det inte till någon. Du kan läsa boken i salen, och den är inte till salu för den som vill "
    "ha dina uppgifter.",
    "tr": "Konuğun adını ve odanın numarasını hesap ödenene kadar saklarız ve bunu kimseye söylemeyiz. "
    "Siz de bu defteri salonda okuyabilirsiniz; bir başkası için ya da başka bir ev tarafından "
    "istenirse vermeyiz, ve bu böyle olarak kalır.",
    "ja": "宿は客の名前と部屋の番号を、勘定が払われるまで保管し、だれにも伝えません。客は広間で宿帳"
    "を読むことができます。",
    "ko": "여관은 계산이 끝날 때까지 손님의 이름과 방 번호를 보관하며 아무에게도 알리지 않습니다. 손"
    "님은 장부를 읽을 수 있습니다.",
    "ru": "Мы храним имя гостя и номер комнаты, пока счёт не оплачен, и никому об этом не говорим. "
    "Гость может читать книгу.",
    "uk": "Ми зберігаємо ім’я гостя і номер кімнати, доки рахунок не сплачено, і нікому її не показуємо. "
    "Гість її читає.",
    "el": "Κρατάμε το όνομα του επισκέπτη και τον αριθμό του δωματίου μέχρι να πληρωθεί ο λογαριασμός.",
    "ar": "نحتفظ باسم الضيف ورقم الغرفة حتى يدفع الحساب، ولا نخبر أحدا بذلك. يمكن للضيف أن يقرأ الكتاب في القاعة.",
    "fa": "نام مهمان و شماره اتاق را تا پرداخت صورتحساب نگه می‌داریم و به کسی نمی‌گوییم. گزارش آن چاپ نمی‌شود.",
    "hi": "हम अतिथि का नाम और कमरे की संख्या तब तक रखते हैं जब तक बिल का भुगतान नहीं हो जाता।",
    "th": "เราเก็บชื่อของแขกและหมายเลขห้องไว้จนกว่าจะชำระเงิน และไม่บอกใคร",
}


@pytest.mark.parametrize("code", TEXTS)
def test_a_language_without_rules_is_recognised_for_people(code: str) -> None:
    """By its script, or by frequent words; it stays a language that is not known to rules."""
    assert (detect_language_code_or_empty(TEXTS[code]), detect_unsupported_language_code(TEXTS[code])) == ("", code)
    assert describe_stated_or_likely_language(TEXTS[code], "") == f"seems to be {language_name(code)}"


def test_a_language_that_nobody_recognises() -> None:
    """Its words tell nothing; a code that is stated is shown by its name."""
    assert describe_stated_or_likely_language("Zed mok tal " * 30, "") == "not recognised"
    assert [language_name(code) for code in ("ar", "nl", "de", "fil", "por", "xx")] == [
        *("Arabic", "Dutch", "German", "Filipino", "Portuguese", "xx")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            TEXTS["pt"],
            "asking in English, because the document seems to be in Portuguese, for which there are no questions",
        ),
        (
            TEXTS["ko"],
            "asking in English, because the document seems to be in Korean, for which there are no questions",
        ),
        ("Zed mok tal. " * 30, "asking in English, because the language of the document is not recognised"),
    ],
)
def test_it_is_said_before_anything_is_asked(genaipa: Cli, text: str, said: str) -> None:
    """In a sentence, by a run and by its estimate; not where the questions were named."""
    write("say.yaml", "default: See section 2.\n")
    write("inn.md", f"# Larkfield\n\n{text}\n")
    asked = ("run", "-s", "scripted/say.yaml", "-p", "inn.md", "-e", "quality", "--limit", "1")
    for more in ([], ["--estimate"]):
        done = genaipa(*asked, *more)
        assert (done.code, f"inn: {said}\n" in done.err) == (0, True), done.err
    assert said not in genaipa(*asked, "--estimate", "--questions", "policy").err


def test_it_is_shown_of_a_document(genaipa: Cli) -> None:
    """By `policies add` and `show`; a page in English whose words are not is no English one."""
    genaipa("init", ".")
    write(
        "page.html",
        f"<!doctype html><html lang=en><body><main><h1>Larkfield</h1><p>{TEXTS['pt']}</p></main></body></html>",
    )
    done = genaipa("policies", "add", "page.html", "--name", "inn", "--company", "Larkfield")
    assert "the page claims to be in English, but its text seems to be in Portuguese." in done.out
    for shown in (done, genaipa("policies", "show", "inn")):
        assert "seems to be Portuguese" in shown.out
    assert front.load_document("inn").language == ""
