"""German."""

from __future__ import annotations

import re

from genaipa.languages.language import (
    QUOTED,
    CitationRules,
    Language,
    LawRules,
    Readability,
    SearchRules,
    SilenceRules,
    make_syllable_counter,
)
from genaipa_languages import sides
from genaipa_languages.refusals import GERMAN


def _german_policy_phrase(company: str) -> str:
    return f"die Datenschutzerklärung von {company}"


def _german_regulation_phrase(title: str, name: str) -> str:
    # Short names differ in gender (die DSGVO, das BDSG), and titles as well.
    return f"die Regelung {title} ({name})" if title else f"die Regelung {name}"


# Without words that are as frequent in Dutch or in the Scandinavian languages: in, is, den, der, die, en.
_WORDS = """
auf bei dass durch ein eine einer für haben ihre ihren ihrer im ist mit nach nicht oder sich sie sind soweit über und
uns unsere unserer vom von werden wir wird zu zum zur
"""


# --- Citations ----------------------------------------------------------------------------------------------------

# Not "Art. 6 Abs. 1 Nr. 2", which goes on below an article, nor "zum Teil 30 Tage".
_NAMES = {
    "Section": (
        r"(?i:(?:unter)?abschnitt(?:e[ns]?|s)?)|Abschn\.|(?<!\d[ \t])(?<!\d,[ \t])(?:Ziffern?|Ziff\."
        r"|Nummern?|Nr\.|Nrn\.)|(?:Unter)?[Pp]unkte?[ns]?|Paragra(?:ph|f)(?:en)?|[Ss]ections?"
    ),
    "Part": r"(?<!zum[ \t])Teil(?:e[ns]?|s)?|Parts?",
    "Article": r"Artikeln?s?|Art\.|[Aa]rticles?",
    "Chapter": r"Kapiteln?s?|Kap\.",
    "Annex": r"Anhang(?:e?s)?|Anlagen?",
    "Recital": r"Erwägungsgr(?:unde?s?|ünden?)|ErwGr?\.?",
    "Clause": r"Klauseln?",
    "Summary": r"Zusammenfassung(?:[ \t]+Punkt)?",
}
_SECTION = r"(?i:(?:unter)?abschnitt(?:e[ns]?|s)?|kapiteln?s?|artikels?|überschrift|rubrik|ziffer|punkt)"
_TEXT = (
    r"\b(?:[\w-]*(?:erklärung(?:en)?|richtlinien?|hinweise?n?|dokument(?:e?s)?|bestimmung(?:en)?|text(?:e?s)?|politik"
    r"|policy|policies|verordnung|gesetz(?:e?s)?|unterlagen?|passagen?|abschnitte?[ns]?|zusammenfassung|auszüge?n?"
    r"|auszug(?:s)?|artikeln?)|teil(?:e?s)?|DSGVO)"
)
_LAWS = LawRules(
    # DSGVO, BDSG, TDDDG, HGB, AO; "DS-GVO"; and what an English text would call them.
    short=(
        r"(?:(?:EU|UK|DS)-)?(?:GDPR|RGPD|GVO|CCPA|CPRA|LGPD|HIPAA|COPPA|PIPEDA|PIPL|GRCh|AEUV|EUV"
        r"|(?:[A-ZÄÖÜ][a-zäöü]{0,4}){1,5}(?:G|GB|VO|O|V))(?:[ \t]+n\.[ \t]?F\.)?"
    ),
    named=(
        r"(?:(?:Durchführungs)?(?:Verordnung|Richtlinie)[ \t]+(?:\([A-Z]{2,3}\)[ \t]+)?(?:Nr\.[ \t]+)?\d+/\d+"
        r"|(?:[A-ZÄÖÜ][\w-]*[ \t]+){0,3}?(?:[A-ZÄÖÜ][\w-]*(?:gesetz(?:buch)?(?:e?s)?|[Gg]rundverordnung|verordnung"
        r"|charta|ordnung|übereinkommens?)|Act|Gesetz(?:e?s)?|Verordnung|Charta)(?:[ \t]+über[ \t]+[\w -]{3,60}?)?)\b"
    ),
    texts=(
        r"(?:(?:Allgemeine\w?[ \t]+)?\w*(?:[Gg]eschäfts|[Nn]utzungs|[Vv]ertrags|[Tt]eilnahme|[Vv]erkaufs"
        r"|[Ll]iefer)bedingungen|[Ff]orenregeln|AGB"
        r"|\w+vertrag(?:e?s)?|Cookie[- ]?(?:Richtlinien?|Hinweise?n?|Erklärung|Policy))"
        r"(?:[ \t]+(?:von|der)[ \t]+[A-ZÄÖÜ][\w-]+)?"
    ),
    not_law=r"[ \t]+(?i:abschnitt|teil|hinweis)",
    below=(
        r"(?:ff?\.?|(?:(?:U(?:nter)?)?[Aa]bs(?:atz|ätze|\.)|S(?:atz|ätze|\.)|[Ll]it(?:era|\.)?|Buchst(?:aben?|\.)|Nr\."
        r"|Nummern?|Ziff(?:ern?|\.)|Hs\.|Halbsatz|Alt\.|Var\.)[ \t]*\(?(?:[a-z]|\d{1,2}|[IVX]{1,4})\b\)?"
        r"(?:[ \t]*(?:,|und|oder|bis)[ \t]*\(?(?:[a-z]|\d{1,2})\b\)?(?![ \t]*\w*(?:tage|monate|jahre))){0,3})"
    ),
    of=(
        r"(?:(?:in|aus|nach|gemäß|laut|von|i\.[ \t]?V\.[ \t]?m\.)[ \t]+)?(?:(?:de[rsmn]|diese[rsmn]|im|EU-?)[ \t]+)?"
        r"(?:[a-zäöü]+(?:en|er)[ \t]+)?"
    ),
    before=r"(?:in|unter|siehe|gemäß|nach)[ \t]+",
    this=frozenset(("gesetz", "gesetzes", "verordnung", "charta", "act")),
    same=(
        r"gdpr|ds-?gvo|rgpd|datenschutz-?grundverordnung|general data protection regulation|2016/679",
        r"ccpa|cpra|california consumer privacy act|california privacy rights act",
    ),
    here_before=(
        r"(?:erklärung|richtlinien?|hinweise?n?|quellen?|fundstellen?|belege?)[\s,:*(\[]*$"
        r"|(?:erklärung|richtlinien?|hinweise?n?)[ \t]+(?:\w+[ \t]+){0,2}(?:in|unter)[ \t]+$"
    ),
)
_NUMERALS = {
    word: str(number)
    for words in (
        "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte",
    )
    for number, word in enumerate(words.split(), start=1)
}
_ORDINAL = "|".join(word for word in _NUMERALS if word.endswith("te"))
_CITATIONS = CitationRules(
    words=rf"(?:{'|'.join(_NAMES.values())}|\u00a7{{1,2}})",
    names=_NAMES,
    numerals=_NUMERALS,
    counting=r"(?i:teil\w{0,2}|punkt\w{0,2}|nummer|nr)\b",
    ordinal=(
        rf"\b(?P<number>{_ORDINAL}|\d{{1,2}}(?=\.))[.nrms]?"
        rf"(?=(?:(?:,|[ \t]+und)[ \t]+(?:de[rnm][ \t]+)?(?:(?:{_ORDINAL})[nrms]?|\d{{1,2}}\.))*"
        r"[ \t]+(?P<word>(?:(?:Unter)?[Aa]bschnitt|Kapitel|Klausel)\w{0,2})\b)(?:[ \t]+(?P=word))?"
    ),
    not_behind=(
        r"[ \t]+(?:Tage[ns]?|Wochen?|Monate?n?|Jahre?n?|Stunden?|Minuten?|Prozent|Millionen|Milliarden|Sekunden?"
        r"|Euro|EUR|[KMGT]B|Sterne|Punkten?|(?:oder|und)[ \t]+(?:neuer|höher|später|älter))\b|[ \t]?%|[ \t/-]\d{3}"
        r"|-?(?:Datenschutz)?gruppe\b|[ \t]+(?:Ihrer|deiner)[ \t]+(?:An)?[Ff]rage"
    ),
    also="und|sowie|als[ \\t]+auch",
    either="oder|bzw\\.|beziehungsweise",
    to="bis",
    see=r"siehe|s\.|vgl\.|in|unter",
    pointer=r"(?:quellen?|fundstellen?|belege?|verweise?)[ \t]*:\**|vgl\.",
    at=(
        r"(?:(?:quellen?|fundstellen?|belege?|verweise?)[ \t]*:|laut|gemäß|nach|unter|in|siehe|vgl\.|aus|so"
        r"|insbesondere)(?:[ \t]+(?:dem|der)[ \t]+(?:Punkt|Stelle))?"
    ),
    unit=(
        r"[ \t]+(?:weitere[nr]?|andere[nr]?|mehr|Millionen|Prozent|Stunden?|Tage[ns]?|Wochen?|Monate?n?|Jahre?n?"
        r"|Nutzer\w*|Personen|Euro)\b"
    ),
    of_this=r"(?:(?:in|aus|von)[ \t]+)?(?:de[rsmn]|diese[rsmn]|[Ii]hre[rsmn]|unsere[rsmn])",
    into="in|im|unter|dort|der|dem|und[ \\t]+zwar|konkret|genauer|insbesondere",
    out_of=r"(?:Abschnitt[ \t]+)?(?:von|aus|in|im|des|der)[ \t]+(?:(?:der|des|dem)[ \t]+)?",
    called=r"(?:mit[ \t]+(?:dem[ \t]+Titel|der[ \t]+Überschrift)|namens|genannt|betitelt|über|zu[mr]?)",
    no_title=(
        r"(?:(?:Unter)?[Aa]bschnitt|Teil|Artikel|Absatz|Abs\.|Kapitel|Punkt|Ziffer|Klausel|Seite|Satz|Nummer)\w{0,2}\b"
    ),
    headed=(
        rf"(?P<before>{QUOTED}(?:(?:,|[ \t]+und)[ \t]+{QUOTED}){{0,9}})(?:[ \t]*-[ \t]*|[ \t]+){_SECTION}\b"
        rf"|(?:\b{_SECTION}[ \t]+(?:(?:mit[ \t]+de[rm][ \t]+(?:Titel|Überschrift)|namens|über|zu[mr]?)[ \t]+)?"
        r"|\b(?i:unter|siehe)[ \t]+(?=[\"\u201c\u201e\u00ab]\d))"
        rf"(?P<after>{QUOTED}(?:(?:,|[ \t]+und)[ \t]+{QUOTED}){{0,9}})"
        r"|\b(?:im|de[mrns])[ \t]+(?:Unter)?[Aa]bschnitte?s?[ \t]+"
        r"(?P<plain>[A-ZÄÖÜ][\w-]+(?:[ \t]+(?:[A-ZÄÖÜ][\w-]*|und|von|zu[mr]?|für|de[rsm]|die|mit|wir|Sie)){0,8})"
        r"(?P<several>)"
    ),
    elsewhere=(
        r"[ \t]+(?:in|auf|unter|im)[ \t]+(?:Ihre[nrm]|de[nmr]|unsere[nrm])?[ \t]*(?:\w+[ \t]+){0,3}"
        r"\w*(?:einstellungen|konto|app|website|seite|menü|profil|plattform|dashboard|hilfe)"
    ),
    here=(
        r"[ \t]*,?[ \t]*(?:(?:in|aus|von|innerhalb)[ \t]+)?(?:de[rsmn]|diese[rsmn]|ihre[rsmn]|unsere[rsmn]|im)[ \t]+"
        r"[\w -]{0,40}?(?:erklärung|richtlinien?|hinweise?n?|dokument(?:e?s)?|text(?:e?s)?|politik|policy|bestimmungen"
        r"|verordnung)\b"
    ),
    here_before=r"(?:erklärung|richtlinien?|hinweise?n?|quellen?|fundstellen?|belege?|siehe)[\s,:*(\[]*$",
    laws=_LAWS,
    summary="zusammenfassung",
    summary_before=r"zusammenfassung(?:[ \t]*[,:]?[ \t]*|[ \t]+(?:von|des|der)[ \t]+)$",
    summary_behind=(
        r"[ \t]+(?:(?:in|aus|von)[ \t]+)?(?:(?:de[rs]|diese[rs]|meine[rs]|Ihre[rs]|unsere[rs])"
        r"[ \t]+(?:\w+[ \t]+){0,2})?zusammenfassung\b"
    ),
    pointing=(
        r"\b(?:(?:unter)?abschnitt|überschrift|absatz|absätze|ziffer|kapitel)\w{0,2}\b"
        r"|(?:^|[.!?(\[])\W{0,40}(?:quellen?|fundstellen?|belege?|verweise?|referenz(?:en)?)\W{0,40}:\s{0,40}"
        r"(?!\W{0,40}(?:keine?|nein|nicht|entfällt|k\.|n/?a|https?|www|quellen?|verweise?)\b)\w"
    ),
)

# --- Silence ------------------------------------------------------------------------------------------------------

_W = r"(?:[\w'-]+\s+)"
_NOT = r"(?:nicht(?!\s+(?:nur|allein|bloß)\b)|nichts|kein(?:e[nrms]?|erlei)?|nirgends|nirgendwo|weder)"
# What a text does, as a finite verb.
_SAYS = (
    r"(?:erwähn(?:t|en)|nenn(?:t|en)|besag(?:t|en)|sag(?:t|en)|erläuter(?:t|n)|erklär(?:t|en)|beschreib(?:t|en)"
    r"|spezifizier(?:t|en)|präzisier(?:t|en)|konkretisier(?:t|en)|thematisier(?:t|en)|behandel(?:t|n)|regel(?:t|n)"
    r"|definier(?:t|en)|adressier(?:t|en)|klär(?:t|en)|beantworte(?:t|n)|geh(?:t|en)|äußer(?:t|n)|führ(?:t|en)"
    r"|leg(?:t|en)|beinhalte(?:t|n)|verrät|spricht|informier(?:t|en)|enth(?:ält|alten)|mach(?:t|en)|trifft|treffen"
    r"|gibt|geben|biete(?:t|n)|liefer(?:t|n)|verlier(?:t|en)|stell(?:t|en)|befass(?:t|en)|schreib(?:t|en))"
)
_SAID = (
    r"(?:erwähnt|genannt|angegeben|erläutert|beschrieben|geregelt|behandelt|spezifiziert|thematisiert|angesprochen"
    r"|festgelegt|ausgeführt|präzisiert|konkretisiert|aufgeführt|dargelegt|beantwortet|klargestellt|definiert"
    r"|adressiert|erklärt|dokumentiert|benannt|eingegangen|gesagt|abgedeckt|mitgeteilt)"
    # "Nicht fest angegeben, sondern …" denies how it is said.
    r"(?![^.!?\n]{0,60}?,\s+sondern\b)"
)
# What is only ever said, and what may be passed on as well.
_NEWS = (
    r"(?:[\w-]*angaben?|aussagen?|auskunft|auskünfte|erwähnung(?:en)?|ausführungen|regelung(?:en)?|bestimmung(?:en)?"
    r"|hinweise?|antworten?|passagen?|klauseln?|erläuterung(?:en)?|stellungnahme|ausdrückliche\w*\s+\w+"
    r"|anhaltspunkte?n?|aufschluss)(?!\s+(?:[\w-]+\s+){0,6}?(?:zu\s+)?(?:erhoben|gesammelt|verlangt"
    r"|gespeichert|verkauft)\b|\s+(?:[\w-]+\s+){0,6}?zu\s+(?:veröffentlichen|verkaufen|speichern"
    r"|erheben|teilen|nutzen|verwenden|übermitteln)|\s+(?:[\w-]+\s+){0,6}?(?:weiter|preis|heraus)zugeben)"
)
_FACTS = r"(?:information(?:en)?|einzelheiten|details|infos?)"
_NOT_TO_OTHERS = (
    r"(?!\s+(?:[\w-]+\s+){0,3}?(?:an|gegenüber|mit)\s+(?:[\w-]+\s+){0,2}?(?:dritte|partner|werbe|andere|behörden))"
)
_PASSED = r"(?:weitergegeben|weiter|verkauft|offengelegt|übermittelt|geteilt|gespeichert|erhoben|gesammelt|verwendet)"
# "According to the policy, they don't" tells of deeds.
_BY = "".join(
    rf"(?<!\b{by} )"
    for by in ("laut", "gemäß", "laut der", "gemäß der", "nach der", "laut dieser", "laut dem", "nach dieser")
)
_WAYS = (
    # Die Erklärung sagt dazu nichts; dazu sagt sie nichts; …, dass die Erklärung dazu nichts sagt.
    rf"{_BY}{_TEXT}\s+{_W}{{0,6}}?{_SAYS}\s+{_W}{{0,6}}?{_NOT}\b{_NOT_TO_OTHERS}",
    (
        rf"(?:\b(?:weitere|nähere|genauere|mehr)\w*\s+{_W}{{0,3}}?)?\b{_SAYS}\s+{_W}{{0,3}}?{_TEXT}"
        rf"\s+{_W}{{0,6}}?{_NOT}\b{_NOT_TO_OTHERS}"
    ),
    rf"{_TEXT}\s+{_W}{{0,5}}?{_NOT}\s+{_W}{{0,5}}?(?:{_SAYS}|eingeh(?:t|en)|hervorgeh(?:t|en)|angib(?:t)?)\b",
    (
        r"\b(?:sie|es|er)\s+(?:sagt|erwähnt|nennt|äußert\s+sich|spezifiziert|erläutert|beschreibt)\s+"
        rf"{_W}{{0,4}}?{_NOT}\b{_NOT_TO_OTHERS}"
    ),
    (
        rf"\b(?:dazu|hierzu|darüber|hierüber|davon|darin|dort)\s+{_W}{{0,5}}?nichts\b(?!\s+(?:weiter|verkauft"
        rf"|gespeichert|tun|unternehmen|zahlen|angeben|beitragen))"
    ),
    # Sagt sie dazu nichts; daraus ergibt sich nicht, ob; kommt in der Erklärung nicht vor; sucht man vergeblich.
    (
        rf"\b(?:sagt|erwähnt|nennt|regelt|spezifiziert|erläutert|beschreibt)\s+(?:sie|er"
        rf"|es)\s+{_W}{{0,4}}?{_NOT}\b{_NOT_TO_OTHERS}"
    ),
    (
        rf"\bergib(?:t|en)\s+sich\s+{_W}{{0,6}}?nicht\b|\bl(?:ässt|assen)\s+nicht\s+{_W}{{0,2}}?(?:erkennen"
        rf"|schließen|ersehen)\b"
    ),
    (
        rf"\bkomm(?:t|en)\s+{_W}{{0,4}}?{_TEXT}\s+(?:gar\s+|überhaupt\s+)?nicht\s+vor\b|"
        rf"\bsucht\s+man\s+{_W}{{0,6}}?vergeb(?:lich|ens)\b"
    ),
    rf"\bnirgend(?:s|wo)\s+{_W}{{0,4}}?(?:{_TEXT}\s+)?(?:steht|heißt|findet\s+sich|ist\s+(?:davon|die)\s+rede)\b",
    # Dazu finden sich keine Angaben; es gibt keine Informationen darüber.
    rf"\bkein(?:e[nrms]?|erlei)?\s+{_W}{{0,3}}?{_NEWS}\b{_NOT_TO_OTHERS}",
    (
        rf"\b(?:enth(?:ält|alten)|biete[tn]|liefer[tn]|mach(?:t|en)|find(?:et|en)|fand|gibt\s+es|es\s+gibt|steh(?:t|en)"
        rf"|lieg(?:t|en))\s+{_W}{{0,6}}?keine\s+{_W}{{0,3}}?{_FACTS}\b(?!\s+{_W}{{0,6}}?{_PASSED}){_NOT_TO_OTHERS}"
    ),
    (
        rf"(?<!weil ich )\bkeine\s+{_W}{{0,3}}?{_FACTS}\s+(?:darüber|dazu|hierzu|hierüber|zu[mr]?|über|ob|wie"
        rf"|enthalten|angegeben|vorhanden|verfügbar|gefunden|(?:in|aus)\s+{_W}{{0,3}}?{_TEXT})\b(?!"
        rf"\s+{_W}{{0,6}}?{_PASSED}){_NOT_TO_OTHERS}"
    ),
    # "Dazu habe ich keine Informationen" says that of the assistant, unless it has looked for them.
    rf"(?<!ich )\b(?:dazu|hierzu|darüber|hierüber)\s+{_W}{{0,6}}?(?<!habe ich )keine\s+{_W}{{0,3}}?{_FACTS}\b",
    rf"\bich\s+{_W}{{0,4}}?keine\s+{_W}{{0,3}}?{_FACTS}\b(?=\s+{_W}{{0,8}}?(?:gefunden|entdeckt|finden)\b)",
    rf"{_TEXT}\s+{_W}{{0,5}}?nichts\s+{_W}{{0,3}}?{_SAID}\b|\b(?:nirgends|nirgendwo|nicht)\s+die\s+rede\b",
    rf"\bkomm(?:t|en)\s+{_W}{{0,5}}?nicht\s+zu\s+sprechen\b|\btauch(?:t|en)\s+{_W}{{0,6}}?(?:nicht|nirgends)\b",
    # "Fehlen Angaben, wird …" is a condition.
    rf"\b(?:steh(?:t|en)|find(?:et|en)\s+sich)\s+{_W}{{0,6}}?nichts\b|\b(?:äußer(?:t|n))\s+sich\s+{_W}{{0,6}}?nicht\b",
    (
        rf"\bl(?:ässt|assen)\s+sich\s+{_W}{{0,9}}?nicht\s+{_W}{{0,3}}?(?:sagen|beurteilen|ableiten|schließen"
        rf"|beantworten|erkennen|feststellen|bestimmen|ermitteln|erfahren)\b"
    ),
    # Nicht erwähnt, nicht näher ausgeführt; unerwähnt, unklar, offen.
    (
        rf"(?<!, die )(?<!, das )(?<!, der )(?<!, denen )\b(?:nicht|nirgends|nirgendwo)\s+(?:(?!als\b|anders\b"
        rf"|vertraulich\b)[\w'-]+\s+){{0,4}}?{_SAID}\b{_NOT_TO_OTHERS}"
    ),
    r"\b(?:bleib(?:t|en)|lässt|lassen)\s+(?:[\w-]+\s+){0,6}?offen\b|\boffen\s+(?:bleib(?:t|en)|(?:ge)?lassen)\b",
    r"\b(?:nicht|nichts)\s+(?:[\w-]+\s+){0,3}?(?:zu\s+)?(?:entnehmen|finden|entnommen|gefunden|enthalten)\b",
    r"\bgeh(?:t|en)\s+(?:[\w-]+\s+){0,9}?nicht\s+(?:[\w-]+\s+){0,3}?(?:hervor|ein)\b",
    r"\b(?:schweig(?:t|en)|keine\s+rede|keine?m?\s+wort|stillschweig\w+)\b",
    r"\bbleib(?:t|en)\s+(?:[\w-]+\s+){0,6}?schuldig\b|\bgib(?:t|en)\s+(?:[\w-]+\s+){0,4}?nicht(?:s\s+dazu)?\s+her\b",
    rf"\breich(?:t|en)\s+{_W}{{0,4}}?nicht\s+(?:dafür\s+)?aus\b",
    rf"\bweder\s+[^.;\n]{{3,120}}?\bnoch\s+[^.;\n]{{3,80}}?(?:{_SAID}|{_SAYS})\b",
    # "Ob …, wird nicht offengelegt"; "das erfährt man nicht"; das Dokument lässt das Thema aus; "Keine Angabe."
    (
        r"\b(?:erfährt|erfahren)\s+(?:man|wir|leser\w*)\s+(?:[\w-]+\s+){0,4}?nicht\b|\bman\s+erfährt"
        r"\s+(?:[\w-]+\s+){0,5}?nicht"
    ),
)
# Classes of words, for constructions whose words come in many orders.
_CLASSES = {
    "n": (
        r"nichts?|kein(?:e[nrms]?|erlei)?|nie|niemals|nirgend(?:s|wo)|weder|noch|kaum|unmöglich|keineswegs|mitnichten"
        r"|unzureichend\w*"
    ),
    # The document, and whatever stands for it; what is a text as well as news.
    "t": (
        r"[\w-]*(?:erklärung(?:en)?|richtlinien?|dokument(?:e?s)?|politik|policy|policies|verordnung|unterlagen?"
        r"|zusammenfassung|auszug(?:e?s)?|auszügen?|artikeln?|schutzhinweise?n?|textstellen?)"
        r"|text(?:e?[sn]?)?|teil(?:e?s)?|dsgvo|papier|schriftstück|fassung|verfasser\w*|autoren|vorlage|schreiben"
        r"|inhalt"
    ),
    "H": (
        r"hinweise?n?|kapitel|absatz|absätze|abschnitte?[ns]?|passagen?|bestimmung(?:en)?|stellen?|klauseln?"
        r"|regelung(?:en)?|regeln?|vorgaben?"
    ),
    "h": r"hier|darin|dort|drin|da|daraus|hieraus",
    "d": r"dazu|hierzu|darüber|hierüber|davon|darauf|hierauf|dafür|hierfür",
    "j": r"es|sie|er",
    "K": r"dass|daß",
    "w": r"ob|wie|wer|was|welche[nrms]?|wann|wo|warum|wozu|weshalb|wem|wen",
    "R": r"deren|dessen|denen",
    "r": r"ich|man|leser\w*",
    "S": r"sondern",
    # Whose deeds are told, and other texts than the document.
    "c": (
        r"unternehmen\w*|firma|anbieter\w*|dienst|wir|support|personal|mitarbeiter\w*|nutzer\w*|kunden|kinder\w*"
        r"|gäste\w*|prüfer\w*|moderator\w*|versicher(?:er|ungen)\w*|werbe\w*|händlern?|datenhändlern?|partnern?|kurier"
        r"|behörden|polizei"
        r"|[\w-]*(?:rechnung|quittung|bericht|statistik|umfrage|formular|profil|paket|e-mail)\w*|niemand\w*|wer"
    ),
    "A": r"gegenüber",
    "M": r"muss|müssen|brauch(?:t|en)|darf|dürfen|soll(?:en)?",
    "D": (
        r"erhoben|gesammelt|verlangt|gespeichert|verkauft|weitergegeben|übermittelt|geteilt|verwendet|herausgegeben"
        r"|bekomm(?:t|en)|erhalten|erhält|verarbeitet|genutzt|erfasst|abgefragt|veröffentlicht|gesendet|geschickt"
    ),
    "q": r"heißt|verspricht|versichert|garantiert|verlangt|verbietet|sichert|betont",
    "i": (
        r"(?:[a-zäöü]*angaben?|aussagen?|auskunft|auskünfte|erwähnung(?:en)?|ausführungen|antwort(?:en)?|näheres"
        r"|genaueres|konkretes|erläuterung(?:en)?|stellungnahme|anhaltspunkte?n?|aufschluss|information(?:en)?|infos?"
        r"|einzelheiten"
        r"|details?|wort(?:e|en)?|silbe|rede|beschreibung(?:en)?|bezug|spur|zeile|satz|indiz(?:ien)?|aufklärung|zusage"
        r"|nennung)"
    ),
    "L": r"frist(?:en)?|dauer|zeitraum|verfahren|kriterien|grenzen?|zeitangaben?",
    "v": (
        r"(?:erwähn|nenn|benenn|besag|sag|erläuter|beschreib|spezifizier|präzisier|konkretisier|thematisier|behandel"
        r"|regel|definier|adressier|klär|beantwort|äußer|informier|schreib|bestätig|vernein|offenbar|befass|beschäftig"
        r"|berühr|streif|beinhalt|verrat|sprech|eingeh|hervorgeh|offenleg|erwähn|bezieh|festleg|vorseh|aufführ"
        r"|weiterhelf"
        r"|verlier|angeb|hergeb|festhalt|auflist|aufschlüssel|beleg|sieht|bring|enthalt|erfass|erörter|anschneid"
        r"|ansprech|aufgreif|beziffer|quantifizier|kenn|aufzähl|preisgeb|ausführ|bestimm)(?:e?t|e?n|en)"
        r"|verrät|spricht|eingeht|angibt|hergibt|festhält|vorsieht|schweigt|enthält|hilft|verliert"
    ),
    "g": (
        r"gibt|geben|mach(?:t|en)|biete[tn]|liefer[tn]|trifft|gewähr(?:t|en)|leg(?:t|en)|hält|halten|geht|gehen"
        r"|stell(?:t|en)|komm(?:t|en)|führ(?:t|en)|habe|hat|schafft|wirft|listet|räumt|zeigt|nimmt|nehmen"
    ),
    "Y": r"lässt|lassen|spar(?:t|en)|klammer(?:t|n)|blendet",
    "k": r"ein|her|fest|offen|hervor|vor|dar|preis|weiter|bereit",
    "Z": r"auf|an|aus",
    "J": r"hinaus|außerhalb|rahmen|gegenstand|bestandteil",
    "p": (
        r"erwähnt|genannt|angegeben|erläutert|beschrieben|geregelt|behandelt|spezifiziert|thematisiert|angesprochen"
        r"|festgelegt|ausgeführt|präzisiert|konkretisiert|aufgeführt|dargelegt|beantwortet|klargestellt|definiert"
        r"|adressiert|erklärt|dokumentiert|benannt|gesagt|abgedeckt|mitgeteilt|festgehalten|aufgelistet|vermerkt"
        r"|geschrieben|niedergelegt|ausgesagt|dargestellt|geklärt|aufgegriffen|angeführt|berührt|erörtert"
        r"|besprochen|aufgeworfen|angeschnitten|gestreift|beleuchtet|beziffert|aufgezählt|bedacht"
    ),
    "Q": r"eingegangen|die\s+rede",
    "P": (
        r"offengelegt|bekannt|verraten|preisgegeben|verankert|enthalten|vorhanden|verfügbar|ausgewiesen"
        r"|ersichtlich|erkennbar|herauszulesen|abgedruckt|bestimmt"
    ),
    "f": (
        r"sagen|beantworten|ableiten|schließen|erkennen|feststellen|bestimmen|ermitteln|erfahren|entnehmen|wissen"
        r"|beurteilen|herauslesen|ersehen|klären|gefunden|entdeckt|gesehen|gelesen|entnommen|erfährt|finden?|sehe|sucht"
        r"|entdecke|lese|ausmachen|aufspüren|herausfinden|weiß|ersieht|nachlesen|belegen"
    ),
    "s": r"schweig\w*|stumm|vage|bedeckt|einsilbig|wortkarg",
    "u": (
        r"unklar|un(?:erwähnt|beantwortet|bestimmt|geklärt|geregelt|bekannt|gewiss|berücksichtigt|behandelt"
        r"|definiert|spezifiziert|klaren|gewissen)|dunkeln|schleierhaft|offengelassen"
    ),
    "o": (
        r"ausspart|auslässt|verschweigt|übergeht|ausklammert|unterschlägt|ignoriert|ausgespart|ausgelassen"
        r"|ausgeklammert|übergangen|weggelassen|verschwiegen|ausgeblendet|unterschlagen|weglässt|umgeht|umgangen"
    ),
    "a": r"fehl(?:t|en)|vermiss(?:t|e|en)|vergeblich|vergebens|mangelt",
    "e": r"ist|sind|wird|werden|wurden?|bleib(?:t|en)|wäre",
    "E": r"steh(?:t|en)|findet|find(?:et|en)|existier(?:t|en)|taucht|lieg(?:t|en)",
    "G": r"alle[nrms]?|jede[nrms]?|sämtliche\w*",
    "I": r"thema|themen|punkt|frage|aspekt|sache|thematik",
    "X": r"klar|eindeutig|deutlich|ausdrücklich|explizit|konkret|aussagekräftig|präzise",
    "F": r"ohne|wenn|falls|sofern|soweit|solange|sobald",
    "y": r"die|der|das|dies|den|dem|des|ein|eine[nrms]?|sich",
    "l": r"auf|in|im|an|am|bei|beim",
    "b": r"zu[rm]?|über|von|vo[mr]|für|aus|hinsichtlich|bezüglich|mit|gegen|nach",
}
_TEXTS = "[tH]"
_CLAIMS = (
    # Die Erklärung sagt dazu nichts; dazu sagt sie nichts; die sie nicht nennt; weder bestätigt noch verneint sie.
    rf"{_TEXTS}[^,:cwK]{{0,6}}v[^:cwKS]{{0,8}}n(?![^,:]*(?:A|D))|v[^,:cwK]{{0,3}}{_TEXTS}[^,:cwK]{{0,8}}n(?![^,:]*A)",
    rf"{_TEXTS}[^,:cwKa]{{0,8}}n[^,:cwKDM]{{0,6}}[vpPQ]|n[^,:cwK]{{0,4}}{_TEXTS}[^,:cwK]{{0,4}}v",
    rf"n[^,:cw]{{0,3}}v[^,:cw]{{0,4}}{_TEXTS}",
    # Gibt die Erklärung nichts her; legt das Unternehmen hier nicht offen.
    r"g[^:c]{0,4}[tHj][^:c]{0,12}n[^,:]{0,3}[kZ]|[tHj][^,:c]{0,4}g[^:c]{0,12}n[^,:]{0,3}[kZ]",
    r"g[tj][^:]*,[^,:]{0,3}n[^,:]{0,2}[kZ]|[gv]y?c[^:]{0,7}[ht][^,:]{0,4}n[^,:]{0,3}[kZif]",
    # Liefert die Erklärung keinen Anhaltspunkt.
    (
        rf"(?:{_TEXTS}|[hd])[^,:cw]{{0,6}}g[^,:cw]{{0,6}}n[^,:c]{{0,4}}[iHL]"
        rf"|g[^,:cw]{{0,4}}[tHhj][^,:cw]{{0,6}}n[^,:]{{0,4}}[iHL]"
    ),
    rf"i[^,:c]{{0,4}}[gv][^,:c]{{0,3}}{_TEXTS}[^,:]{{0,3}}n",
    # Dazu finden sich keine Angaben; kein Wort davon; es fehlen Angaben; steht nicht darin.
    r"(?:(?:^|[,:])x?|E[^,:cn]{0,6}|jg[^,:cn]{0,6}|gj[^,:cn]{0,6})n[^,:cDgv]{0,3}[iH](?=$|[,:dhwlbtep])(?![^,:]*D)",
    r"a[^,:c]{0,4}[iH]|[iHt][^:c]{0,14}a|E[^,:c]{0,6}n[^,:]{0,2}(?:[hd]|l[^,:]{0,3}t|,w)|[hd]E[^,:c]{0,4}n|En",
    # Nicht genannt; wird nicht eingegangen; nirgends ist eine Frist festgelegt; wird nicht offengelegt.
    r"(?:e|^|[,:])[^,:cRMwn]{0,6}n[^,:cDMk]{0,5}[pQ](?![^,:]*S)",
    r"(?<!R)n[^,:cDM]{0,4}[pQ](?=[e]?(?:$|[,:]))",
    r"^w[^:]*,[^,:c]{0,4}e[^,:c]{0,4}n[^,:c]{0,3}[pP]|e[^,:cw]{0,4}n[^,:cw]{0,3}P(?=$|,w)",
    # Schweigt, offen, übergangen, geht darüber hinaus.
    rf"{_TEXTS}[^:c]{{0,8}}s|s[^,:c]{{0,5}}{_TEXTS}|[eY][^:c]{{0,9}}u(?=$|[,:])|^x?u(?=$|[,:])|u[^:c]{{0,3}},?w",
    r"[te][^:c]{0,8}o|o[^,:c]{0,3}t|(?:tY|Y[^,:c]{0,2}t)[^:]{0,10}[kZ]|t[^,:]{0,2}J|nJ[^,:]{0,3}t",
    (
        r"rf[^:c]{0,3}[tHhd][^,:]{0,3}n|^wy?t[^:]{0,4},fn|^[xrM]{0,2}nf$|[tH][^,:cw]{0,6}n[^,:]{0,2}X(?=$|[,:])|enX(?=$"
        r"|,w)"
    ),
    # Eine solche Klausel existiert nicht; das Thema kommt nicht vor; außerhalb dessen, was die Erklärung regelt.
    r"H[^,:]{0,3}E[^:c]{0,7}n|I[^:c]{0,7}n[^:cD]{0,3}[kZpvoQ]|a[^,:c]{0,2}I|I[^,:c]{0,4}a|J[^:]{0,6}t",
    # Habe ich nicht entdeckt; lässt sich nicht sagen; man erfährt nichts; man sucht vergeblich.
    r"[iHt][^:c]{0,8}rn[^,:]{0,3}f|r[^:wc]{0,9}n[^:]{0,6}[fiH]|fr[^:c]{0,6}[th][^,:]{0,3}n|fr[^:c]{0,6}n",
    r"(?:[tiHh][^:c]{0,8}|^)Y[^:c]{0,9}nx{0,3}[fp]|Yy[^:c]{0,6}[tiH][^,:c]{0,4}nx{0,3}f|[rf][^:]{0,6}a",
    r"[tiHh][^:c]{0,6}e[^,:c]{0,6}n[^,:]{0,2}(?:b?f)",
)
_DENIED = (
    # Nicht X, sondern Y; in der Erklärung heißt es, dass; ist ein Alter nicht genannt, gilt.
    r"n[^:]*,S|^[^n:]*[vqg][^nw,:]{0,3},[Kn]|^e[^,:]*n[^,:]*p,|^a[^,:]*,|,[yR][^,:e]{0,5}n[^,:]{0,2}pe|F[^,:]{0,8}n"
    # Auf dem Paket steht nicht; die E-Mail enthält keine Angaben; wird gegenüber Bietern nicht erwähnt.
    r"|^[lZ][^thHdjwrgv,:]{1,6}[eE][^tdh]{0,6}n[^tQ]{0,2}(?:$|[pPi,])|nG|A|M[^,:]{0,4}n"
    r"|^[^,:thHdjrwn]{0,4}c[^,:thHdj]{0,3}[vgEfD][^:th]{0,5}n(?![^:]*[th])"
    r"|n[^,:]{0,6}i[^,:]{0,8}D|^[xy]{0,2}[xyc][vg]n[^t]{0,2}i(?![^:]*t)|^[lZ][^thHdjwrgv,:]{1,6},y[^:]*n"
    r"|^[^t,w]*D[^t,]{0,3}n|^[xy]{0,2}c[^,:tHhid]*n(?![^:]*[thi])"
)
_SILENCE = SilenceRules(
    classes=_CLASSES,
    vague=(
        r"(?:ausdrücklich|explizit|konkret|näher|genau|direkt|eindeutig|klar|deutlich)\w*|punkt\w*|themen?|fragen?"
        r"|sache|aspekte?\w*|hinsicht|bezug|gegenstand|zusammenhang|stelle|anbieter|dienst|wir"
    ),
    oneself=r"(?<!soweit )\b(?:ich|mir|mich|meine[nrms]?|mitgeschickt|beigefügt|angehängt)\b",
    claims="|".join(_CLAIMS),
    denied=_DENIED,
    silent="(?m)" + "|".join(_WAYS),
    denial=(
        r"\b(?:nichts?|kein|übergeh|verschweig|aus(?:lässt|lassen|spar|klammer)|un(?:bekannt)|nie\b"
        r"|niemals|nirgend|schuldig|ohne|weder|unklar|unbestimmt|unerwähnt|offen|fehl(?:t|en)\b|schweig"
        r"|stillschweig|lässt|vergeb(?:lich|ens)|spar[te]|ausgespart|klammer|verschwieg|unterschl|ausgelassen"
        r"|weggelassen"
        r"|ignorier|um\w*geht|dunkeln|vage|stumm|bedeckt|kaum|unmöglich|keineswegs|hinaus|außerhalb|rahmen|umgangen"
        r"|unklaren|ungewissen|un(?:beantwortet|geklärt|geregelt|bekannt|gewiss)|mangelt|vermiss|unzureichend)"
    ),
    answered=r"\b(?:ja|nein|jawohl|richtig|korrekt|stimmt|genau|absolut|selbstverständlich)\b",
    no=r"\W*nein\b",
    contrast=(
        r"\b(?:aber|doch|jedoch|allerdings|obwohl|während|wohingegen|hingegen|dennoch|trotzdem|außer|sondern"
        r"|wenngleich|obgleich)\b|;"
    ),
    unknown=(
        r"\bmir\s+liegen?\s+(?:\w+\s+){0,3}?keine\b|\bwurde\s+kein\w*\s+(?:dokument|text|datei)\b|"
        r"\bich\s+(?:[\w-]+\s+){0,2}?keine\s+(?:\w+\s+)?informationen\s+(?:\w+\s+){0,3}?habe\b"
        r"|\bhabe\s+ich\s+(?:[\w-]+\s+){0,2}?keine\s+(?:\w+\s+)?informationen\b"
        r"|\bich\s+(?:habe|besitze)\s+(?:\w+\s+){0,3}?kein\w*\s+(?:\w+\s+)?(?:zugriff|zugang|kenntnis\w*|informationen"
        r"|wissen|kopie|text)"
        r"|\bich\s+verfüge\s+(?:\w+\s+){0,2}?über\s+kein\w*|\b(?:habe|verfüge)\s+ich\s+(?:\w+\s+){0,3}?(?:über"
        r"\s+)?kein\w*|\bich\s+(?:kenne|weiß|kann)\s+(?:[\w-]+\s+){0,9}?(?:nicht|nichts)\b"
        r"|\bich\s+(?:wei(?:ß|ss)|kenne)\s+(?:darüber\s+|dazu\s+)?nichts\b"
        r"|\bmir\s+(?:[\w-]+\s+){0,8}?(?:nicht|kein\w*)\s+(?:[\w-]+\s+){0,3}?(?:vor\b|vorliegt|vorliegen|bekannt"
        r"|bereitgestellt|vorgelegt|gegeben|zur\s+verfügung)|\bliegen?\s+mir\s+(?:[\w-]+\s+){0,6}?(?:nicht|kein\w*)"
        r"|\b(?:wurde|ist)\s+mir\s+(?:[\w-]+\s+){0,4}?nicht\s+(?:bekannt|vorgelegt|gegeben|gezeigt|bereitgestellt"
        r"|zugänglich)"
    ),
    searched=r"\bmeine[rn]?\s+(?:web-?)?suche\b|\bsuchergebnis\w*|\bgesucht\b|\brecherche\b",
    speaker=(
        r"\b(?:wir|nutzer\w*|kunden|personen|wer|du|mir)\s+(?:[\w-]+\s+)?$|\bich\s+kenne\s+(?:[\w-]+\s+){0,5}$"
        r"|\bohne\s+(?:[\w-]+\s+){0,3}$|\bgegenüber\s+(?:[\w-]+\s+){1,3}$"
        r"|\bkein\w*\s+(?:dokument|text|anhang|datei|unterlage\w*)\s+(?:\w+\s+){0,2}\w+,\s+(?:[\w-]+\s+){0,6}$"
        r"|\b(?:sie|man|nutzer\w*|kunden)\s+(?:müssen|brauchen|können|dürfen|sollten|muss|machen)\s+(?:[\w-]+\s+){0,3}$"
        r"|\b(?:erheb(?:t|en)|sammel[nt]|speicher[nt]|verkauf(?:t|en)|teil(?:t|en)|verwende[nt]"
        r"|verarbeite[nt]|nutz(?:t|en)|erhalten"
        r"|erhält|übermittel[nt]|bekomm(?:t|en)|veröffentlich(?:t|en)|(?<!es )gibt(?!\s+es\b)|geben)"
        r"\s+(?:[\w-]+\s+){0,4}$|\b(?:müssen|muss|brauchen|braucht|dürfen|darf|sollen)\s+(?:[\w-]+\s+){0,5}$"
    ),
    # "Ist ein Zweck nicht genannt, …" begins with its verb.
    condition=(
        r"\b(?:wenn|falls|sofern|soweit|solange)\s+(?:[\w'-]+\s+){0,4}$"
        r"|(?:^|[.!?]\s+)(?:ist|sind|wird|werden|wurde|sollte)\s+(?:ein|kein|d(?:er|ie|as)|ihr"
        r"|unser)\w*\s+(?:[\w'-]+\s+){0,6}$"
    ),
    concession=r"\b(?:weil|da|denn)\s*$|\b(?:zwar|nur|allgemein|generell|grundsätzlich|ausführlich)\b",
    linking=r"jedoch|allerdings|aber|hingegen|doch",
    # What comes before an answer and isn't one.
    preface=(
        r"\W*(?:(?:gute|interessante)\s+frage|danke\b.*|(?:tut\s+mir\s+leid|entschuldig)\b.*|gerne\b.*"
        r"|(?:es|das)\s+(?:ist|wäre|mag)\s+(?:durchaus\s+|gut\s+|zwar\s+)?(?:möglich|denkbar|sein|wahrscheinlich)"
        r"|(?:möglich|denkbar|wahrscheinlich)\s+(?:ist|wäre)\s+(?:es|das)|(?:vielleicht|möglicherweise|eventuell)"
        r"(?:\s+(?:ja|nicht|auch\s+nicht))?|ich\s+habe\s+[^.,]*\b(?:durchgesehen|gelesen|durchsucht|geprüft|angesehen)"
        r"|(?:da\s+)?(?:müss|müßt)ten?\s+sie\s+[^.,]*\b(?:nach)?fragen)\W*$"
    ),
    sorry=r"\b(?:leider|tut\s+mir\s+leid|entschuldig\w+|bedaure\w*)\b[^.]*$",
    but_that=r"\W*dass\b",
    caveat=r"\b(?:näher\w*|weiter(?:e[nrms]?|hin|gehend\w*)|mehr|zusätzlich\w*|im\s+(?:detail|einzelnen)|genauer\w*)\b",
    other=r"\s+(?:weitere[nrms]?|andere[nrms]?|zusätzliche\w*|darüber\s+hinaus|im\s+detail|näher\w*)\b",
    source=r"\W*(?:quellen?|fundstellen?|belege?|verweise?|referenz(?:en)?)\W*(?::|$)",
    not_applicable=r"\bk\.\s?A\.|\bkeine(?:\s+angaben?)?\b\W*$|\bentfällt\b|\bN/?A\b|\bnicht\s+zutreffend\b",
)

# --- Readability --------------------------------------------------------------------------------------------------

# Vowels of one syllable; other neighbours are of two.
_TOGETHER = re.compile(r"eau|ie|ei|ey|ai|ay|au|äu|eu|aa|ee|oo|ou|[aeiouyäöüéèàâêô]")
_APART = re.compile(
    # Linie, Familie, Medien, Kategorien; but studieren.
    r"(?<=lin)i(?=e(?!r))|(?<=mil)i(?=e)|(?<=med)i(?=e)|(?<=fer)i(?=e)|(?<=stud)i(?=e(?!r))|(?<=akt)i(?=e(?!r))"
    r"|(?<=b)e(?=au)|i(?=ell(?:e[nrms]?)?$)|(?<=[^d])i(?=ent)|(?<=ser)i(?=e(?!r))|(?<=präm)i(?=e)"
    r"|(?<=ter)i(?=en)|(?<=[^h])i(?=en$)|(?<=hyg)i(?=en)"
    # beenden, beinhalten, geehrt, Museum, kooperieren.
    r"|(?<=b)e(?=end|inh|inn|erdig)|(?<=g)e(?=ehr|inn)|(?<=s)e(?=um$)|(?<=[dslm])e(?=en$)|(?<=jubil)ä(?=um)|(?<=k)"
    r"o(?=op|ord)|(?<=z)o(?=olog)|(?<=r)e(?=inst|integ)|(?<=d)e(?=inst)"
)
# Words from English: Software, online, Website, Service, Update, Team.
_MUTE = re.compile(
    r"(?<=twar)e|(?<=dwar)e|(?<=lwar)e|(?<=onlin)e|(?<=offlin)e|(?<=hotlin)e|(?<=bsit)e|(?<=servic)e|(?<=devic)e"
    r"|(?<=updat)e|(?<=upgrad)e|(?<=phon)e|(?<=t)e(?=am)|(?<=str)e(?=am)|(?<=l)e(?=ad)|(?<=q)u|(?<=shar)e(?=d|$)"
    r"|(?<=typ)e(?=s)"
)

_SHORT = (
    r"z\.[ \u00a0]?B|d\.[ \u00a0]?h|u\.[ \u00a0]?a|i\.[ \u00a0]?d\.[ \u00a0]?R|i\.[ \u00a0]?S\.[ \u00a0]?d"
    r"|[uo]\.[ \u00a0]?[UgäÄ]|z|d|u|i|o"
    r"|bzw|ggf|usw|etc|vgl|Abs|UAbs|Art|Nr|Nrn|Ziff|lit|Buchst|Abschn|inkl|exkl|evtl|ca|sog|Dr|Prof|Hr|Fr|Str|Tel|St"
    r"|max|min|Mio|Mrd|insb|einschl|gem|entspr|zzgl|ff?|Hs|Alt|Inc|Ltd|Co|Corp|[A-ZÄÖÜ]"
)

LANGUAGE = Language(
    code="de",
    name="German",
    also=("deu", "ger"),
    function_words=frozenset(_WORDS.split()),
    policy=_german_policy_phrase,
    regulation=_german_regulation_phrase,
    no_answer="(keine Antwort)",
    not_said="Das Dokument sagt dazu nichts.",
    search=SearchRules(
        stop_words="STOPWORDS_GERMAN",
        asking=re.compile(
            r"abschnitte?n?|arten|auch|dokumente?s?|etwa|gibt|jemals|kann|könnte|(?:datenschutz)?(?:erklärung"
            r"|richtlinien?)"
            r"|nutzt|nutze[nr]?[ns]?|nutzerinnen|nutzenden?|ob|sowie|unternehmens?|verwende[nt]|welche[nrs]?|wie|würde"
        ),
        ending=re.compile(r"(?<=\w{3})(?:ungen|ung|heiten|heit|keiten|keit|ern|en|em|er|es|e|s)$"),
        same={
            "information": "dat",
            "angab": "dat",
            "aufbewahr": "speicher",
            "weitergab": "weitergeb",
            "offenleg": "weitergeb",
        },
        compounds=True,
    ),
    sections={
        "Section": r"(?:Unter)?abschnitt(?:e[ns]?)?|Abschn|Ziffern?|Ziff|Punkt(?:e[ns]?)?|Nr",
        "Article": "Artikeln?",
        "Chapter": "Kapiteln?",
        "Part": "Teil(?:e[ns]?)?",
        "Title": "Titel",
        "Annex": "Anhang|Anhänge|Anlagen?",
        "Clause": "Klauseln?",
    },
    starts="Der|Die|Das|Dies|Diese[rs]?|Wir|Unsere?|Sie|Ihre?|Wenn|Falls|Bei|Zu|Für|Um|Es|Im|Nach|Alle|Einige|Soweit",
    abbreviations=_SHORT,
    ordinal_of=(
        r"(?:Jan|Feb|März|Apr|Mai|Jun|Jul|Aug|Sept?|Okt|Nov|Dez)\w*|Lebensjahre?s?|Tage?s?|Monats?|Quartals?|Kapitel"
        r"|Geburtstage?s?|Jahrhunderts?|Absatz|Auflage"
    ),
    citations=_CITATIONS,
    silence=_SILENCE,
    sides=sides.GERMAN,
    refusals=GERMAN,
    readability=Readability(
        formula="Amstad",
        base=180,
        sentence=-1,
        syllable=-58.5,
        syllables=make_syllable_counter(_TOGETHER, _MUTE, _APART),
        connective="und",
        cited="Amstad, 1978",
        published="T. Amstad: Wie verständlich sind unsere Zeitungen? Dissertation, Universität Zürich, 1978.",
    ),
    measured={"citations": (1.0, 1.0), "silence": (0.93, 0.72)},
)
