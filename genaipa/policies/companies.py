"""The company of a document that nobody named: by its title, its site or its address, as its text confirms it."""

# ruff: noqa: RUF001 - words of other languages

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from genaipa.files.text import split_url_or_empty
from genaipa.languages.language import UNSPACED
from genaipa.policies.search import HALF, count_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNNAMED = "the company"
"""The company's name in questions about a document that doesn't tell it: "Does the company sell my data?"."""
LONGEST_NAME = 100  # characters; a file's name has room for 255 bytes
_MOST_WORDS = 4
"""Words of a title that may be a company's name."""
_OFTEN = 2
"""Times that a text has a name outside its headings, at least, to confirm it."""
_SHARE = 0.25
"""How often a name of several words is there, of the times that a part of it is: "Acme Supplemental" is Acme."""
_SHARE_OF_ARTICLE = 0.6
_TELLING = 150
"""Words of a text that would name its company; what is shorter can neither confirm a name nor deny it."""
_LOOKED_AT, _LONGEST_TITLE = 300_000, 300  # characters


def _split_to_word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_GENERIC_IN = {
    "en": "a about acceptable addendum additional agreement an and app applicant applicants application archive"
    " article at california candidate candidates ccpa center centre child children choices communications"
    " conditions consent consumer contact contents cookie cookies cpra customer customers data date disclosure"
    " disclosures document documentation download draft eea effective employee employees en english eu europe"
    " european faq final for from full gdpr general global guidelines help home html hub in index info"
    " information international introduction kids last legal login management mobile new news notice notices of"
    " official on online our overview page part pdf personal platform policies policy portal preferences"
    " principles privacy processing product products protection readme recruitment region regional rights rules"
    " safety section security service services settings site software state statement summary supplement"
    " supplemental supplementary support table teen teens term terms text the to tos trackers trust txt uk"
    " union untitled update updated updates us usa use user users version versions visitors web website"
    " websites welcome with worldwide www",
    "de": "agb allgemeine allgemeinen am auf aus bei bestimmungen das daten datenschutz datenschutzbestimmungen"
    " datenschutzcenter datenschutzerklärung datenschutzerklärungen datenschutzgrundsätze datenschutzhinweis"
    " datenschutzhinweise datenschutzinformation datenschutzinformationen datenschutzrichtlinie"
    " datenschutzrichtlinien datenverarbeitung dem den der des die dsgvo einführung einleitung erklärung für"
    " geschäftsbedingungen hinweis hinweise im impressum informationen inhalt inhaltsverzeichnis kunden"
    " mitteilungen nutzer nutzung nutzungsbedingungen personenbezogene personenbezogener rechtliches richtlinie"
    " richtlinien schutz seite servicebedingungen stand startseite umgang und verarbeitung vom von webseite"
    " webseiten willkommen zu zum zur über übersicht",
    "fr": "accueil au aux avis caractère charte conditions confidentialité cookies de des données du déclaration en"
    " et générale générales information la le les légales mentions notice par personnel personnelles politique"
    " pour privée protection préambule présentation relatif relative respect rgpd services site sites sommaire"
    " sur traceurs utilisateur utilisateurs utilisation vie à",
    "es": "al aviso condiciones cookies datos declaración del el en generales inicio introducción la las legal los"
    " para personales política políticas por privacidad protección servicio servicios sobre tratamiento"
    " términos uso usuario usuarios y",
    "it": "al alla condizioni cookie dati degli dei del della delle di e generali gli i il in informativa"
    " informazioni introduzione la lo nota per personali politica privacy protezione riservatezza servizi"
    " servizio sui sul sulla termini trattamento utente utenti utilizzo",
    "pt": "aviso condições da dados das de declaração do dos e em gerais introdução na no o pessoais política"
    " privacidade proteção serviço serviços sobre termos tratamento uso",
    "nl": "algemene beleid cookiebeleid de een en gegevens gegevensbescherming het inleiding over persoonsgegevens"
    " privacybeleid privacymelding privacyreglement privacyverklaring servicevoorwaarden van verklaring voor"
    " voorwaarden",
    "pl": "danych dotyczące informacja korzystania o ochrona ochronie osobowych polityka prywatności regulamin usług"
    " usługi w warunki wprowadzenie z zasady",
    "cs": "o ochrana ochrany ochraně odběr osobních oznámení podmínky poskytování prohlášení služby služeb zásady"
    " údajů úvod",
    "hu": "a adatkezelési adatvédelmi az bevezetés feltételek irányelvek nyilatkozat nyilatkozata szabályzat"
    " szolgáltatási tájékoztató",
    "sv": "allmänna dataskydd dataskyddspolicy inledning integritetspolicy om personuppgifter personuppgiftspolicy"
    " personvern personvernerklæring privatlivspolitik sekretesspolicy tietosuojaseloste villkor",
    "tr": "aydınlatma bildirimi giriş gizlilik hizmet işlenmesi kişisel korunması koşulları kullanım metni"
    " politikası sözleşmesi verilerin",
    "id": "akun dasar kebijakan ketentuan layanan notis pemberitahuan pendahuluan perkhidmatan privasi syarat terma",
    "ru": "в введение данных и использования конфиденциальности о об обработке обработки отношении персональных"
    " политика пользовательское предоставления соглашение уведомление условия услуг",
    "ar": "الاستخدام الخصوصية بيان سياسة شروط مقدمة",
}
GENERIC = frozenset(word for words in _GENERIC_IN.values() for word in words.split())
"""Words of titles and file names that name no company."""
# Longest first, as alternatives are tried: in these scripts no blank parts a name from what follows it.
_GENERIC_UNSPACED = re.compile(
    "隐私权政策|隐私保护|隐私政策|隐私声明|隐私协议|隐私原则|隐私条款|隐私|个人信息保护|个人信息|用户服务协议|用户协议|用户|服务条款|服务协议|"
    "隱私權政策|隱私政策|隱私權|隱私|個人資料|使用者|條款|聲明|法律|中心|帐户|账户|帐号|服务|协议|政策|声明|原则|条款|保护|指引|指南|通知|公告|"
    "简介|引言|前言|目录|首页|总则|关于|プライバシーポリシー|プライバシー|個人情報保護方針|個人情報保護|個人情報|の取り?扱い|について|に関する|"
    "利用規約|規約|方針|通知|はじめに|ポリシー|サービス|アカウント|の|"
    "개인정보\\s*처리\\s*방침|개인정보|처리방침|보호정책|이용약관|약관|정책|안내|소개|서문|นโยบายความเป็นส่วนตัว|นโยบาย|ความเป็นส่วนตัว|"
    "[与和及《》「」『』【】（）]"
)
_SPEAKING: frozenset[str] = _split_to_word_set(
    "how i me my our us we what when who why you your wie wir uns unser unsere sie ihr ihre du dein deine was"
    " comment nous notre nos vous votre vos nosotros nuestra nuestro tu tus su sus cómo come noi nostra nostro"
    " tuoi hoe wij onze uw jouw jak nasza nasze twoje"
)
"""Words of a title that speaks to the reader, whose company name can't be found."""
_ALONE: frozenset[str] = _split_to_word_set(
    "ag ai app bv co corp corporation gmbh group inc llc lp ltd limited plc pvt sa sarl se spa"
)
"""Words that are part of a name, and none alone."""
_ARTICLES = _split_to_word_set("The Le La Les El Los Las Il Lo Die Der Das De Het O A Os As")
_BETWEEN = re.compile(r"\s*[|\u2013\u2014:\u00b7\u00bb\u2022]\s*|\s+-\s+")
_DEFINED = re.compile(
    r"[(\[][^()\[\]]{0,40}?[\"\u201c]([A-Z][\w.&' -]{1,40}?),?[\"\u201d],? (?:or |and )?"
    r"[\"\u201c](?:[Ww]e|[Uu]s|[Oo]ur)\b"
)
_ELIDED = re.compile(r"^[dlDL]['\u2019](?=\w)")
_SECOND = frozenset(("ac", "co", "com", "edu", "gob", "gov", "go", "ltd", "me", "ne", "net", "nom", "or", "org", "plc"))
_HOSTS: frozenset[str] = _split_to_word_set(
    "amazonaws archive blogspot cloudfront firebaseapp framer github githubusercontent gitlab google"
    " herokuapp iubenda netlify notion pages pactsafe readthedocs termly termsfeed vercel webflow web windows"
    " wixsite wordpress"
)
"""Hosts of other people's pages, whose name is nobody's unless the text has it."""


def find_company_or_placeholder(title: str, text: str, site_names: Iterable[str], source: str) -> str:
    """Return a document's company, by its title, what its page calls itself (`site_names`) or an address.

    Else `UNNAMED`.

    A name is taken that the text has twice or more outside its headings. Where none is, the page's own name or its
    address is; a title's only where the text is too short to tell.
    """
    body = _PolicyBody(text)
    page_names = [value for value in site_names if value]
    addresses = [host for value in (*page_names, source) if (host := _registrable_domain(value))]
    names = [value for value in page_names if "://" not in value]
    title = title[:_LONGEST_TITLE]
    for piece in _candidate_name_words((title, *names)):
        if company := body.find_frequent_title_part(piece):
            return company
    for host in addresses:
        if company := body.find_spelling_of_domain(host):
            return company
    if company := body.find_defined_name():
        return company
    unconfirmed = (
        []
        if body.is_long_enough_to_name_company
        else [_join_words_as_plausible_name_or_empty(piece) for piece in _candidate_name_words((title,))]
    )
    unconfirmed += [_join_words_as_plausible_name_or_empty(piece) for piece in _candidate_name_words(names[:1])]
    unconfirmed += [
        label.replace("-", " ").title() for host in addresses if (label := host.split(".")[0]) not in _HOSTS
    ]
    return next(filter(None, unconfirmed), UNNAMED)


def name_as_company_or_placeholder(document_name: str) -> str:
    """Return the company of a document without metadata, by its name; `UNNAMED` where that names nobody."""
    return UNNAMED if is_generic_name(document_name) else document_name.replace("-", " ").title()


def is_generic_name(name: str) -> bool:
    """Tell whether a file's name or an address names nobody: policy, privacy-notice_2."""
    return all(word in GENERIC or word.isdigit() for word in re.split(r"[\W_]+", name.lower()) if word)


def main_domain_label(url: str) -> str:
    """Return the name in an address: example of https://www.example.co.uk/privacy; empty where there is none."""
    return _registrable_domain(url).split(".")[0]


def _registrable_domain(url: str) -> str:
    """Return the name in an address with what ends it: example.co.uk."""
    if "://" not in url:
        return ""
    labels = (split_url_or_empty(url).hostname or "").split(".")
    ends = 2 if len(labels) > 2 and labels[-2] in _SECOND else 1  # noqa: PLR2004 - example, co, uk
    site = labels[-ends - 1 :]
    return ".".join(site) if len(labels) > ends and not site[0].isdigit() else ""


def _candidate_name_words(titles: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words of each piece of titles without generic ones around them; no piece that speaks to readers."""
    for title in titles:
        for piece in _BETWEEN.split(title):
            words_text = _GENERIC_UNSPACED.sub(" ", piece).replace("\u2019", "'")
            words = [
                part for word in words_text.split() for part in _split_hyphenated_word_if_generic(_ELIDED.sub("", word))
            ]
            if _SPEAKING & {_strip_and_lowercase_word(word) for word in words}:
                continue
            while (
                words
                and _strip_and_lowercase_word(words[0]) in GENERIC
                and not _begins_with_article_and_name(words[:2])
            ):
                words = words[1:]
            while words and _strip_and_lowercase_word(words[-1]) in GENERIC:
                words = words[:-1]
            words = [word.strip(',;:!?()[]"').removesuffix("'s") for word in words]
            if words := [word for word in words if word]:
                yield words


def _begins_with_article_and_name(words: list[str]) -> bool:
    """Tell whether the first of two words is an article that a name begins with: Le Monde, The Guardian."""
    return (
        len(words) > 1
        and words[0] in _ARTICLES
        and words[1][:1].isupper()
        and _strip_and_lowercase_word(words[1]) not in GENERIC
    )


def _split_hyphenated_word_if_generic(word: str) -> list[str]:
    """Return a word in parts, where a hyphen puts a name and a generic word together: Acme-Datenschutzerklärung."""
    parts = word.split("-")
    return parts if any(_strip_and_lowercase_word(part) in GENERIC for part in parts) else [word]


def _strip_and_lowercase_word(word: str) -> str:
    return word.strip(",.;:!?()[]'\"").removesuffix("'s").lower()


def _join_words_as_plausible_name_or_empty(words: list[str]) -> str:
    """Return a piece of a title as a name, if it looks like one; else empty."""
    words = words[_begins_with_article_and_name(words[:2]) :]
    name = " ".join(words).strip(" ,.'\"")
    called = (
        all(_is_written_as_name(word) or _strip_and_lowercase_word(word) in GENERIC for word in words)
        or len(words) == 1
    )
    looks = called and len(words) <= _MOST_WORDS and name.isprintable() and re.search(r"[^\W\d_]", name)
    return name[:LONGEST_NAME] if looks and not {_strip_and_lowercase_word(word) for word in words} <= _ALONE else ""


def _is_written_as_name(word: str) -> bool:
    """Tell whether a word is written as a name is: with a capital first, or in it (eBay)."""
    return not word[:1].islower() or word != word.lower()


class _PolicyBody:
    """A text without its headings, in which names are counted."""

    def __init__(self, text: str) -> None:
        self._text = text[:_LOOKED_AT]

    @cached_property
    def _prose_lines(self) -> str:
        """The lines that are no heading: a heading is marked, or a short line that no sentence ends."""
        lines = (line.strip() for line in self._text.split("\n"))
        return "\n".join(line for line in lines if not line.startswith("#") and not _is_short_as_heading(line))

    @cached_property
    def is_long_enough_to_name_company(self) -> bool:
        """Whether the text is long enough to name its company."""
        return count_words(self._prose_lines, HALF) >= _TELLING

    def _count_mentions(self, name: str) -> int:
        # A whole word; in a script without blanks it stands among other letters.
        letter = rf"[^\W_{UNSPACED}]"
        return len(re.findall(rf"(?<!{letter}){re.escape(name)}(?!{letter})", self._prose_lines))

    def find_frequent_title_part(self, title_words: list[str]) -> str:
        """Return the longest part of a title that the text has often; empty if it has none."""
        spans = [
            title_words[start:end]
            for length in range(min(_MOST_WORDS, len(title_words)), 0, -1)
            for start in range(len(title_words) - length + 1)
            for end in (start + length,)
        ]
        counts: dict[str, int] = {}
        for span in spans:
            edges = {_strip_and_lowercase_word(span[0]), _strip_and_lowercase_word(span[-1])} - (
                {_strip_and_lowercase_word(span[0])} if _begins_with_article_and_name(span[:2]) else set()
            )
            name = " ".join(span).strip(" ,.'\"")
            if edges & GENERIC or {*map(_strip_and_lowercase_word, span)} <= _ALONE or not re.search(r"[^\W\d_]", name):
                continue
            if all(_is_written_as_name(word) for word in (span[0], span[-1])) and not self._is_ordinary_word(name):
                counts[name] = self._count_mentions(name)
            if (site := re.fullmatch(r"(\w{3,})\.[a-z]{2,3}", name)) and not counts.get(name):
                counts[site[1]] = self._count_mentions(site[1])
        highest = max(counts.values(), default=0)
        frequent = (
            name
            for name, count in counts.items()
            if count >= max(_OFTEN, _minimum_share_of_highest_count(name) * highest)
        )
        if longest := next(frequent, ""):
            return longest[:LONGEST_NAME]
        loud = (name for name in counts if name.isupper())
        return next(filter(None, map(self.find_frequent_spelling_or_empty, loud)), "")

    def _is_ordinary_word(self, name: str) -> bool:
        """Tell whether a word of a title is an ordinary one: in small letters the text has it more often."""
        small = re.escape(name.lower())
        ordinary = len(re.findall(rf"(?<![\w./@-]){small}(?![\w/@-]|\.\w)", self._prose_lines))
        return not name.isupper() and name != name.lower() and ordinary > self._count_mentions(name)

    def find_spelling_of_domain(self, domain: str) -> str:
        """Return a host's name (scribehow.com, x.ai) as the text writes it, whole or its beginning; empty without."""
        label, _, end = domain.partition(".")
        spelling = self.find_frequent_spelling_or_empty(f"{label}{end}") or self.find_frequent_spelling_or_empty(label)
        if spelling and len(spelling) > 1 and not is_generic_name(label):
            return spelling
        beginnings = Counter(
            word for word in re.findall(r"\b[A-Z]\w{3,}", self._prose_lines) if label.startswith(word.lower())
        )
        frequent = [name for name, count in beginnings.items() if count >= _OFTEN and not is_generic_name(name)]
        return max(frequent, key=len, default="")

    def find_defined_name(self) -> str:
        """Return the company's name where the text says who we are: ("Acme", "we" or "us"); empty without."""
        names = (match[1].strip(" ,.") for match in _DEFINED.finditer(self._prose_lines))
        frequent = (name for name in names if self._count_mentions(name) > _OFTEN and not is_generic_name(name))
        return next((name for name in frequent if not _SPEAKING & {*name.lower().split()}), "")

    def find_frequent_spelling_or_empty(self, name: str) -> str:
        """Return a name, in any case and with blanks for hyphens, as the text writes it most; empty if it is rare."""
        loose = r"[\s-]?".join(re.escape(part) for part in re.split(r"[\s-]+", name))
        spellings = re.findall(rf"(?<![\w.@/-])(?:{loose})(?![\w@-]|\.\w)", self._prose_lines, re.IGNORECASE)
        forms = Counter(form for form in spellings if form != form.lower())
        return forms.most_common(1)[0][0] if forms.total() >= _OFTEN else ""


def _minimum_share_of_highest_count(name: str) -> float:
    """Return the share of a name's occurrences that it must have with all of its words; an article may be chance."""
    return _SHARE_OF_ARTICLE if name.split(maxsplit=1)[0] in _ARTICLES else _SHARE


def _is_short_as_heading(line: str) -> bool:
    limit = 8  # words of a heading
    return (
        not line.endswith((".", ",", ";", ":", "!", "?", "。", "！", "？", "；", "|"))
        and count_words(line, HALF) <= limit
    )
