"""The company of a document that nobody named."""

# ruff: noqa: RUF001 - words of other languages

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from genaipa.policies.adding import read_given_document
from genaipa.policies.companies import UNNAMED, find_company_or_placeholder, name_as_company_or_placeholder
from genaipa.policies.document import load_document
from genaipa.policies.formats import extract_document

if TYPE_CHECKING:
    from pathlib import Path

LONG = "We keep the name of a guest and the number of the room until the bill is paid by the guest. " * 12


@pytest.mark.parametrize(
    ("title", "company"),
    [
        ("Larkfield Datenschutzerklärung", "Larkfield"),
        ("Larkfield-Datenschutzhinweise", "Larkfield"),
        ("Politique de confidentialité de Larkfield", "Larkfield"),
        ("Charte d’utilisation des données d’Orlac", "Orlac"),
        ("Política de privacidad de Larkfield", "Larkfield"),
        ("Informativa sulla privacy di Larkfield", "Larkfield"),
        ("Larkfield Privacyverklaring", "Larkfield"),
        ("Политика конфиденциальности Ларкфилд", "Ларкфилд"),
        ("云雀酒店隐私政策", "云雀酒店"),
        ("ひばり荘プライバシーポリシー", "ひばり荘"),
        ("Larkfield 개인정보 처리방침", "Larkfield"),
        ("Privacy Policy | larkField", "larkField"),
        ("Larkfield Supplemental EU Privacy Notice", "Larkfield"),
        ("Trust Center – Larkfield Inn & Sons", "Larkfield Inn & Sons"),
        ("Introduction", UNNAMED),
        ("Einleitung", UNNAMED),
        ("Datenschutzbestimmungen für Kunden", UNNAMED),
        ("EU privacy policy", UNNAMED),
        ("Legal Center", UNNAMED),
        ("California Consumer Notice", UNNAMED),
        ("《隐私政策》", UNNAMED),
        ("プライバシーに関する通知", UNNAMED),
        ("개인정보 처리방침", UNNAMED),
        ("Введение", UNNAMED),
        ("Inc.", UNNAMED),
    ],
)
def test_generic_words_of_a_language_are_no_name(title: str, company: str) -> None:
    """In a text that is too short to tell, and where the text has the name often."""
    assert find_company_or_placeholder(title, "", (), "policy.md") == company
    assert find_company_or_placeholder(title, f"{LONG} {company} 和 {company} of.", (), "policy.md") == company


@pytest.mark.parametrize(
    ("title", "text", "company"),
    [
        ("Larkfield Privacy", "", UNNAMED),
        ("Larkfield Guesthouse Rules", "At Larkfield we sleep. Larkfield is a house of its own.", "Larkfield"),
        ("LARKFIELD PRIVACY POLICY", "At Larkfield we sleep. Larkfield is a house of its own.", "Larkfield"),
        ("Privacy | iNn", "At iNn we sleep. The iNn is a house of its own.", "iNn"),
        ("Cookies and Dogs", "A guest has dogs, dogs and dogs. Dogs sleep. Dogs eat what is left.", UNNAMED),
        ("The Larks Privacy Notice", "At The Larks we sleep. The Larks is a house of its own.", "The Larks"),
        ("The Lark Privacy Notice", "At Lark we sleep. Lark is a house of its own. The Lark.", "Lark"),
        ("Lark.com Privacy", "At Lark we sleep. Lark is a house of its own.", "Lark"),
        ("Privacy", "Larks at Larkfield Ltd (“Larkfield”, “we” or “us”) sleep. Larkfield is Larkfield.", "Larkfield"),
        ("Lark Privacy", "\n\n# Lark\n\nLark rooms\n\nLark dogs\n", UNNAMED),
    ],
)
def test_a_name_is_in_the_text(title: str, text: str, company: str) -> None:
    """Twice or more outside headings, as the text writes it; a part of a title is enough, an ordinary word isn't."""
    assert find_company_or_placeholder(title, f"{LONG}\n{text}", (), "policy.md") == company


@pytest.mark.parametrize(
    ("named", "source", "text", "company"),
    [
        (("Larkfield Inn",), "a.html", "", "Larkfield Inn"),
        (("Larkfield Docs", "Privacy"), "a.html", "At Larkfield we sleep. Larkfield is old.", "Larkfield"),
        (("https://www.larkfield.co.uk/legal",), "a.html", "We are LarkField. LarkField is old.", "LarkField"),
        ((), "https://l.ark/privacy", "We are lArk. lArk is old.", "lArk"),
        ((), "https://larkfieldhq.com/privacy", "We are Larkfield. Larkfield is old.", "Larkfield"),
        ((), "https://lark-field.com/privacy", "", "Lark Field"),
        ((), "https://larkfield.github.io/privacy", "", UNNAMED),
        (("https://[broken",), "a.html", "", UNNAMED),
    ],
)
def test_a_page_names_itself(named: tuple[str, ...], source: str, text: str, company: str) -> None:
    """By its site's name or its address, as the text writes it, if it does; other people's hosts are none."""
    assert find_company_or_placeholder("Privacy Policy", f"{LONG}\n{text}", named, source) == company


def test_a_page_is_asked_for_its_names(tmp_path: Path) -> None:
    """Its meta elements, its title and its own address."""
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><html><head><title>Notice</title><meta property='og:site_name' content='  Larkfield  Inn '>"
        f"<link rel=canonical href='https://inn.example/p'></head><body><main><h1>Privacy</h1><p>{LONG}</p></main>"
    )
    assert extract_document(str(page)).named == ("Larkfield Inn", "Notice", "https://inn.example/p")
    assert read_given_document(str(page), "", lambda *_: False).company == "Larkfield Inn"


def test_a_documents_name_may_name_nobody(tmp_path: Path) -> None:
    """A document without metadata is called by its name, unless that is a word for policies."""
    assert [name_as_company_or_placeholder(name) for name in ("lark-field", "privacy-policy", "datenschutz_2")] == [
        "Lark Field",
        UNNAMED,
        UNNAMED,
    ]
    (tmp_path / "policies").mkdir()
    (tmp_path / "genaipa.toml").write_text("")
    (tmp_path / "policies" / "notice.md").write_text(LONG)
    assert load_document("notice", tmp_path).company == UNNAMED
