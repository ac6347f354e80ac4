"""French."""

from __future__ import annotations

import re
import unicodedata

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
from genaipa_languages.refusals import FRENCH

# Names don't tell whether an h is mute; that of most companies is (d'Hermès, but de H&M).
_ELIDED = re.compile(r"h?[aeiou]")


def _french_policy_phrase(company: str) -> str:
    plain = unicodedata.normalize("NFKD", company[:2]).casefold()
    preposition = "d'" if _ELIDED.match(plain) else "de "
    return f"la politique de confidentialité {preposition}{company}"


def _french_regulation_phrase(title: str, name: str) -> str:
    return f"la réglementation {title} ({name})" if title else f"la réglementation {name}"


# Without words that are frequent in other languages, too: de, la, que, en, le, les, nos, ou, par, and Danish du.
_WORDS = """
afin au aux avec avons ces cette comme dans des est et leur lorsque mais notre nous ont pas peut pour pouvons qui sont
sur une vos votre vous être
"""


# --- Citations ----------------------------------------------------------------------------------------------------

# Not "article 6, paragraphe 1", which goes on below an article.
_NAMES = {
    "Section": (
        r"(?i:(?:sous-)?sections?|rubriques?)|[Ss]ect\.|(?<!\d[ \t])(?<!\d,[ \t])(?:[Pp]aragraphes?|[Pp]oints?"
        r"|[Pp]ar\.|[Pp]ts?\.?)(?![ \t]+[\d.]+[ \t]+(?:de[ \t]+la[ \t]+section|de[ \t]+l'article|du[ \t]+chapitre))"
    ),
    "Part": r"[Pp]arties?(?:[ \t]+n°)?|Parts?",
    "Article": r"[Aa]rticles?|[Aa]rt\.",
    "Chapter": r"[Cc]hapitres?|[Cc]hap\.",
    "Annex": r"[Aa]nnexes?",
    "Title": r"Titres?",
    "Recital": r"[Cc]onsidérants?",
    "Clause": r"[Cc]lauses?",
    "Summary": r"[Rr]ésumé(?:[ \t]+[Pp]oint)?",
}
_SECTION = r"(?i:(?:sous-)?sections?|rubriques?|chapitres?|articles?|paragraphes?|titres?|parties?|intertitre)"
_TEXT = (
    r"(?:politiques?|documents?|textes?|notices?|déclarations?|avis|chartes?|règlement|sections?|extraits?|passages?"
    r"|partie|résumé|RGPD|loi|contenu|articles?|rubriques?|éléments\s+fournis)"
)
_LAWS = LawRules(
    short=(
        r"(?:RGPD|GDPR|DSGVO|CCPA|CPRA|LGPD|HIPAA|COPPA|PIPEDA|PIPL|LIL|LCEN|CNIL|LPD|LPRPDE|CPCE|TFUE|TUE"
        r"|[Cc]ode[ \t]+(?:civil|pénal|du[ \t]+travail|de[ \t]+commerce|de[ \t]+la[ \t]+[a-zé]+|des[ \t]+[a-zé]+))"
    ),
    named=(
        r"(?:(?:[Rr]èglement|[Dd]irective|[Ll]oi|[Dd]écret|[Oo]rdonnance)[ \t]+(?:[a-zé]+[ \t]+)?(?:\((?:UE"
        r"|CE)\)[ \t]+)?(?:n[°o][ \t]*)?\d+(?:/\d+|-\d+)"
        r"|(?:Règlement[ \t]+[Gg]énéral|[Rr]èglement[ \t]+général)(?:[ \t]+(?:sur"
        r"|de)[ \t]+la[ \t]+protection[ \t]+des[ \t]+données)?"
        r"|[Ll]oi[ \t]+[\u00ab\"\u201c]?[ \u00a0]?[A-ZÀ-Þ][\w-]+(?:[ \t]+et[ \t]+[A-ZÀ-Þ][\w-]+)?"
        r"(?:[ \u00a0]?[\u00bb\"\u201d])?"
        r"|[Cc]harte[ \t]+des[ \t]+droits[ \t]+fondamentaux|(?<=[Ll]a )loi|(?<=[Ll]e )règlement|(?<=[Dd]u )règlement"
        r"|(?:[A-Z][\w-]*[ \t]+){1,5}Act)\b"
    ),
    texts=(
        r"(?:[Cc]onditions[ \t]+(?:générales|de[ \t]+vente|d['\u2019](?:utilisation|abonnement)|de[ \t]+service"
        r"|contractuelles)"
        r"(?:[ \t]+(?:d['\u2019]utilisation|de[ \t]+(?:vente|service)))?|CG[UV]|[Cc]ontrat[ \t]+de[ \t]+[a-zé]+"
        r"|[Pp]olitique[ \t]+(?:relative[ \t]+aux|de|des|sur[ \t]+les|en[ \t]+matière[ \t]+de)[ \t]+(?:cookies"
        r"|traceurs)|[Cc]harte[ \t]+d(?:u[ \t]+forum|e[ \t]+la[ \t]+communauté))(?:[ \t]+de[ \t]+[A-ZÀ-Þ][\w-]+)?"
    ),
    not_law=r"[ \t]+(?i:applicable|section|partie)",
    below=(
        r"(?:et[ \t]+suivants?|(?:paragraphes?|par\.|§{1,2}|alinéas?|al\.|points?|lettres?|let\.|lit\.|phrases?"
        r"|sous-paragraphes?)[ \t\u00a0]*\(?[a-z\d]{1,3}\b\)?(?:[ \t]*(?:,|et|ou|à)[ \t]*\(?[a-z\d]{1,3}\b\)?){0,3})"
    ),
    of=(
        r"(?:de[ \t]+l['\u2019]art(?:icle|\.)[ \t]+\d+[a-z]?[ \t]+)?(?:(?:du|de|des|dans|selon"
        r"|sous)[ \t]+(?:(?:la|le|l'|l\u2019|cette|ce|présent)[ \t]*)?(?:même[ \t]+)?)"
    ),
    before=r"(?:(?:prévoi(?:t|ent)|fixe(?:nt)?|exige(?:nt)?|dispose(?:nt)?|impose(?:nt)?|explique(?:nt)?),?[ \t]+)?"
    r"(?:dans|à|en|de|sous|voir|par)[ \t]+(?:(?:son|ses|l'|l\u2019|les)[ \t]*)?",
    this=frozenset(("loi", "règlement", "directive", "charte")),
    same=(
        r"gdpr|dsgvo|rgpd|règlement général|general data protection regulation|2016/679",
        r"ccpa|cpra|california consumer privacy act|california privacy rights act",
    ),
    here_before=(
        r"\b(?:politique|notice|déclaration|références?|sources?)(?:[ \t]+de[ \t]+confidentialité)?[\s,:*(\[]*$"
        r"|\b(?:politique|notice|déclaration)[ \t]+(?:[\w']+[ \t]+){0,4}(?:à|dans)[ \t]+$"
    ),
)
_NUMERALS = {
    word: str(number)
    for words in (
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        "première deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
        "premier second",
        "une seconde",
    )
    for number, word in enumerate(words.split(), start=1)
}
_ORDINAL = "|".join(word for word in _NUMERALS if word.endswith(("ème", "er", "ère", "nd", "nde")))
_CITATIONS = CitationRules(
    words=rf"(?:(?:{'|'.join(_NAMES.values())})(?:[ \t]+n°)?|(?<!\d[ \t])\u00a7{{1,2}})",
    names={name: rf"(?:{word})(?:[ \t]+n°)?" for name, word in _NAMES.items()},
    numerals=_NUMERALS,
    counting=r"(?i:parties?|points?)\b",
    ordinal=(
        rf"\b(?P<number>{_ORDINAL}|\d{{1,2}}(?=e|re|ère|er))(?:e|re|ère|er|ème)?"
        rf"(?=(?:(?:,|[ \t]+et)[ \t]+(?:la[ \t]+|le[ \t]+)?(?:{_ORDINAL}|\d{{1,2}}(?:e|ème)))*"
        r"[ \t]+(?P<word>(?:(?:sous-)?section|rubrique|chapitre|clause)s?)\b)(?:[ \t]+(?P=word))?"
    ),
    not_behind=(
        r"[ \t\u00a0]+(?:jours?|semaines?|mois|ans?|années?|heures?|minutes?|pour[ \t]cent|millions?|milliards?"
        r"|secondes?|euros?|EUR|[KMGT]o|étoiles?|points?"
        r"|(?:ou|et)[ \t]+(?:plus|ultérieure?s?|supérieure?s?|suivante?s?))\b|[ \t\u00a0]?[%€]"
    ),
    also="et|ainsi que",
    either="ou",
    to="à|au|jusqu'à|jusqu'au",
    see=r"voir|cf\.?|v\.|dans|à",
    pointer=r"(?:sources?|références?|réf\.)[ \u00a0]*:\**|cf\.",
    at=(
        r"(?:selon|d'après|d\u2019après|suivant|voir(?:[ \t]+aussi)?|(?:parlent|endroits|sections|passages|points"
        r"|renvois)[ \u00a0]*[:,]|cf\.?|au|aux|du|le|dans|et|en|références?[ \u00a0]*:|sources?[ \u00a0]*:)"
    ),
    unit=(
        r"[ \t]+(?:autres?|millions?|pour[ \t]cent|heures?|jours?|semaines?|mois|ans|années?|utilisateurs?"
        r"|personnes?|euros?)\b"
    ),
    of_this=r"(?:de[ \t]+(?:la|l'|cette|sa|leur|notre|votre)|du|de[ \t]+ce|des)",
    into="dans|à|sous|en|la|le|au|aux|les|et|plus|précisément|notamment",
    out_of=r"(?:section[ \t]+)?(?:de|dans|du|en)[ \t]+(?:(?:la|le|les)[ \t]+)?",
    called=r"(?:intitulée?s?|nommée?s?|appelée?s?|titrée?s?|sur|relative?[ \t]+(?:à|aux?)|consacrée?[ \t]+(?:à|aux?))",
    no_title=(
        r"(?:(?:[Ss]ous-)?[Ss]ection|[Pp]artie|[Aa]rticle|[Pp]aragraphe|[Cc]hapitre|[Pp]oint|[Cc]lause|[Pp]age"
        r"|[Aa]linéa)s?\b"
    ),
    headed=(
        rf"(?P<before>(?!))|\b{_SECTION}[ \t]+(?:(?:intitulée?s?|nommée?s?|appelée?s?|titrée?s?|sur"
        rf"|relative?s?[ \t]+(?:à|aux?)"
        rf"|consacrée?s?[ \t]+(?:à|aux?))[ \t]+)?(?P<after>{QUOTED}(?:(?:,|[ \t]+et)[ \t]+{QUOTED}){{0,9}})"
        r"|\b(?:la|La)[ \t]+(?:sous-)?(?:section|rubrique)[ \t]+(?P<plain>[A-ZÀ-Þ][\w'\u2019-]+"
        r"(?:[ \t]+(?:[A-ZÀ-Þ][\w-]*|et|de|des|du|la|le|les|à)){0,8})(?P<several>)"
    ),
    elsewhere=(
        r"[ \t]+(?:de|dans|sur|du|des)[ \t]+(?:votre|vos|leurs?|la|l'|les?|notre)?[ \t]*(?:\w+[ \t]+){0,3}"
        r"(?:paramètres|réglages|compte|application|appli|site|page|menu|profil|plateforme|tableau|aide)"
    ),
    here=(
        r"[ \t]*,?[ \t]*(?:de|dans|du|des|en)[ \t]+(?:la|le|les|cette|ce|sa|leur|notre"
        r"|présente?)?[ \t]*[\w' \u2019-]{0,40}?"
        r"\b(?:politique|notice|document|déclaration|texte|charte|avis|règlement)\b"
    ),
    here_before=(
        r"\b(?:politique|notice|déclaration|références?|sources?|voir)(?:[ \t]+de[ \t]+confidentialité)?[\s,:*(\[]*$"
    ),
    laws=_LAWS,
    summary="résumé",
    summary_before=r"résumé(?:[ \t]*[,:]?[ \t]*|[ \t]+d[eu][ \t]+)$",
    summary_behind=(
        r"[ \t]+(?:(?:d[eu]|dans)[ \t]+)?(?:(?:le|la|mon|votre|ce|son|notre)[ \t]+(?:\w+[ \t]+){0,2})?résumé\b"
    ),
    pointing=(
        r"\b(?:(?:sous-)?section|rubrique|paragraphe|intertitre)s?\b"
        r"|(?:^|[.!?(\[])\W{0,40}(?:références?|sources?|renvois?)\W{0,40}:\s{0,40}"
        r"(?!\W{0,40}(?:aucune?|non|pas|néant|n/?a|https?|www|références?|sources?)\b)\w"
    ),
)

# --- Silence ------------------------------------------------------------------------------------------------------

_HOW = (
    r"(?:(?:pas|jamais|nulle\s+part|non\s+plus|plus|pas\s+non\s+plus|rien|aucunement|point|guère|explicitement"
    r"|expressément"
    r"|clairement|directement|spécifiquement|précisément|formellement|vraiment|toutefois|cependant|donc|en"
    r"\s+revanche|à\s+ce\s+sujet|ici|été|être)\s+)*"
)
# What texts alone do, and what they do as well as companies.
_SAY = (
    r"(?:mentionn|précis|indiqu|spécifi|di[ts]\b|abord|décri[tv]|expliqu|détaill|évoqu|stipul|énonc|clarifi|prononc"
    r"|parl|s'exprim|exprim|renseign)\w*"
)
_DO = r"(?:trait|prévo[iy]|répond|défini|couvr|fai[ts]|permet|nomm|cite|fix|révèl|inform|régi|règl|concern|port)\w*"
_GIVE = r"(?:contien|fourni|donn|comport|inclu|apport|offr|présent|propos|renferm|contenai|livr|dispos|compren)\w*"
_NEWS = (
    r"(?:informations?|précisions?|indications?|mentions?|détails?|renseignements?|dispositions?|réponses?|éléments?"
    r"|explications?|clauses?|références?|passages?|allusions?|garanties?|listes?)"
)
# "Not fixed in advance, but …" denies how it is said.
_NOT_IN_ADVANCE = (
    r"(?!\s+(?:d'avance|à\s+l'avance|en\s+un\s+seul\s+endroit|nommément|séparément)\b[^.!?\n]{0,40}?\bmais\b)"
)
_SAID = (
    r"(?:mentionné|précisé|indiqué|spécifié|abordé|décrit|expliqué|détaillé|évoqué|prévu|stipulé|énoncé|clarifié|dit"
    r"|documenté|explicité|exposé|défini|fixé)e?s?"
    rf"{_NOT_IN_ADVANCE}"
)
_TOLD = rf"(?:(?:donné|fourni|présent|apporté|trouvé|inclu|contenu)e?s?|disponibles?|faite?s?|{_SAID})"
_NOT_TO_OTHERS = (
    r"(?!\s+(?:[\w'-]+\s+){0,4}?(?:à|aux?|avec)\s+(?:des\s+|de\s+|ses\s+|d'autres\s+|nos\s+)?(?:tiers|partenaires"
    r"|annonceurs|publicitaires|courtiers|employeurs?|autorités|entreprises))"
)
_WAYS = (
    # La politique ne précise pas, ne le dit pas, n'en parle pas; elle ne dit rien à ce sujet.
    (
        r"(?<!nous )(?<!vous )(?<!qui )\bn(?:e\s+|')(?:(?:le|la|les|en|y|se)\s+|l'|s')?"
        rf"(?!\w+ent\b){_SAY}\s+{_HOW}(?:pas|rien|aucune?|jamais|nulle\s+part|ni|point|que)\b(?<!\bque){_NOT_TO_OTHERS}"
    ),
    # Aucune information n'est donnée; rien n'est dit.
    (
        rf"\b(?:aucune?|nulle)\s+(?:[\w-]+\s+){{0,2}}?{_NEWS}\s+(?:[\w'-]+\s+){{0,8}}?"
        rf"(?:(?:n'(?:est|a|y)|ne\s+sont)\s+{_HOW}{_TOLD}(?!\s+(?:à|aux?)\s+(?!ce\b|cette\b|propos\b"
        rf"|sujet\b))|ne\s+figure\w*|ne\s+se\s+trouve\w*|n'apparaî\w+){_NOT_TO_OTHERS}"
    ),
    (
        rf"\b(?:aucune?|pas\s+de|pas\s+d')\s*(?:[\w-]+\s+)?{_NEWS}\s+(?:à\s+ce\s+(?:sujet|propos)|sur\s+ce\s+point"
        rf"|là-dessus|concernant"
        rf"|sur|quant\s+à|relati\w+|dans\s+(?:[\w']+\s+){{0,3}}?{_TEXT})(?!\s+vous\b)(?![^.;,]{{0,60}}\b(?:recueilli"
        rf"|collecté|vendu|partagé|transmis"
        r"|divulgué|conservé|cédé|utilisé|stocké))"
    ),
    (
        rf"\brien\s+(?:[\w'-]+\s+){{0,6}}?(?:n'est\s+{_HOW}{_SAID}|n(?:e\s+|')(?:l'|le\s+)?(?:permet"
        rf"|indique|précise|dit|mentionne"
        r"|figure|laisse|suggère)\w*)\b"
    ),
    rf"\baucune?\s+(?:[\w'-]+\s+){{1,8}}?n(?:e\s+|')(?:est|sont|a\s+été|ont\s+été)\s+{_HOW}{_SAID}\b{_NOT_TO_OTHERS}",
    rf"\bni\s+[^.;\n]{{3,120}}?\bn(?:e\s+|')(?:est|sont)\s+{_HOW}{_SAID}\b",
    r"\blaisse\w*\s+(?:[\w'-]+\s+){0,5}?(?:ouverte?s?|en\s+suspens|sans\s+réponse)\b",
    rf"\b(?:non|pas)\s+{_HOW}{_SAID}\b{_NOT_TO_OTHERS}",
    r"\bne\s+figure(?:nt)?\s+(?:pas|nulle\s+part)\b|\bnulle\s+part\b",
    (
        rf"\bn(?:e\s+|')(?:est|sont|paraît|semble)\s+{_HOW}(?:pas\s+)?{_HOW}(?:clair|évident)e?s?\b|\bil\s+n'est"
        rf"\s+pas\s+(?:possible|clair)\b"
    ),
    (
        r"\bn(?:e\s+|')(?:[\w'-]+\s+){0,3}?perme(?:t|ttent)\s+(?:pas|aucunement|donc\s+pas)\s+de\s+(?:savoir"
        r"|répondre|déterminer|dire|conclure|trancher|confirmer|connaître)\b"
    ),
    (
        rf"\b{_TEXT}\s+(?:[\w'-]+\s+){{0,4}}?n(?:e\s+|')(?:contien|fourni|donn|comport|présent|apport)\w*"
        rf"\s+(?:pas\s+(?:de\s+|d')|aucune?\s+)\w+"
    ),
    rf"\b{_TEXT}\s+(?:[\w'-]+\s+){{0,6}}?ne\s+semble(?:nt)?\s+(?:pas|nulle\s+part)\s+(?:{_SAY}|{_DO}|{_GIVE})",
    rf"\bil\s+manque\s+(?:[\w']+\s+){{0,3}}?{_NEWS}\b|\b(?:est|sont)\s+(?:\w+\s+)?absente?s?\s+(?:de|du|des|dans)\b",
    rf"\b{_TEXT}\s+(?:[\w'-]+\s+){{0,4}}?n(?:e\s+|'){_GIVE}\s+rien\b",
    # Je ne vois rien dans la politique; on ne sait pas si; il n'y a rien sur; sans trouver de référence.
    (
        rf"\b(?:je|on)\s+n(?:e\s+|')(?:y\s+)?(?:vois|voit|trouve|lis|lit|ai)\s+rien\b[^.;!?\n]{{0,60}}?"
        rf"\b(?:{_TEXT}|sur|concernant)\b"
    ),
    r"\bil\s+n'y\s+a\s+rien\s+(?:(?:ici|là|dedans)\s+)?(?:sur|concernant|à\s+ce\s+sujet|au\s+sujet|dans)\b",
    rf"\bsans\s+(?:y\s+)?(?:trouver|voir)\s+(?:de\s+|d'|aucune?\s+)(?:[\w-]+\s+)?{_NEWS}\b",
    # Ni l'introduction ni la suite ne le disent; ne se trouve pas dans le texte; insuffisant pour répondre.
    (
        r"\b(?:insuffisante?s?|trop\s+peu|(?<!n'ai )pas\s+assez)\b[^.;!?\n]{0,40}?\bpour\s+(?:y\s+)?(?:répondre"
        r"|savoir|conclure|(?:le\s+)?dire)\b"
    ),
)
# Classes of words, for constructions whose words come in many orders.
_CLASSES = {
    "N": r"ne|n'",
    "Z": r"sans",
    "R": r"dont",
    "A": r"auprès",
    "n": (
        r"pas|aucune?s?|rien|jamais|ni|nulle|nullement|guère|non|aucunement|impossible|faute|insuffisante?s?"
        r"|insuffisamment"
    ),
    # The document, and whatever stands for it; what is a text as well as news.
    "t": (
        r"politiques?|documents?|textes?|notices?|déclarations?|avis|chartes?|règlement|extraits?|résumé|rgpd"
        r"|contenu|articles?|rédact\w+|auteurs?|version|conditions"
    ),
    "H": r"clauses?|rubriques?|sections?|chapitres?|dispositions?|passages?|mentions?|paragraphes?",
    "h": r"ici|dedans|y|là|là-dedans",
    "j": r"il|elle|ils|elles|cela|ça|ce|c'|ceci",
    "K": r"que|qu'",
    "w": r"si|comment|qui|quel\w*|où|quand|pourquoi|combien|lorsqu[e']",
    "r": r"je|j'|on|lecteurs?",
    "G": r"tou(?:s|tes|te|t)|chaque",
    "X": r"explicites?|claires?|précise?s?|bavarde?s?|loquaces?|secours|utile|aide|concluante?s?",
    "S": r"mais",
    # Whose deeds are told, and other texts than the document.
    "c": (
        r"entreprise|société|nous|vous|utilisateurs?|clients?|employés?|personnel|support|modérateurs|personne|service"
        r"|annonceurs|assureurs|courtiers?|partenaires|livreur|factures?|rapports?|reçus?|e-mails?|courriels?|étiquette"
        r"|statistiques|profil|sondage|formulaire|enregistrements|relecteurs|invités|enfants|police|messages?|preuve"
    ),
    "q": r"promet|garantit|assure|exclut|interdit|exige|affirme|établit",
    "i": (
        r"informations?|précisions?|indications?|détails?|renseignements?|réponses?|éléments?|explications?|références?"
        r"|allusions?|indices?|mot|ligne|trace|description|éclaircissements?|question|engagements?|état|renvoi"
    ),
    "L": r"durées?|délais?|règles?|limites?|listes?|critères?|procédures?|fréquence|âge|exceptions?|dates?|échéance",
    "m": r"perme(?:t|ttent|ttant)|peut|peux|peuvent|puis|suffi(?:t|sent)",
    "v": (
        r"(?:mentionn|précis|indiqu|spécifi|abord|expliqu|détaill|évoqu|stipul|énonc|clarifi|parl|exprim|renseign|trait"
        r"|révèl|inform|confirm|infirm|nomm|cit|fix|souffl|éclair|aid|tranch|prononc|touch|rapport|prêt|consacr|engag"
        r"|réserv|attard|intéress|concern|divulgu|livr|dévoil|rév[ée]l|aborder|communiqu|énumèr|énumér|envisag"
        r"|quantifi|chiffr|soulèv|list|éclaircir)(?:e|es|ent|er|ant|erait)"
        r"|dit|disent|décri(?:t|vent|re)|prévoi(?:t|ent|r)|défini(?:t|ssent|r)|couvr(?:e|ent|ir)|répond(?:ent|re)?|dire"
        r"|éclaircit|régi(?:t|ssent)"
    ),
    "p": (
        r"(?:mentionn|précis|indiqu|spécifi|abord|expliqu|détaill|évoqu|stipul|énonc|clarifi|document|explicit"
        r"|expos|fix|nomm|cit|soulev|not|consign|développ|renseign|envisag|énumér|quantifi|chiffr|list"
        r"|réglement)ée?s?|décrite?s?|prévue?s?|définie?s?|dite?s?|écrite?s?|inscrite?s?|établie?s?"
    ),
    "Q": r"(?:trait|réglé)ée?s?|couverte?s?",
    "J": r"sujets?|points?|aspects?|thèmes?|thématique|matière",
    "P": (
        r"(?:communiqu|divulgu|donn|révél|publi|trouv|apport|détermin|expos|dévoil)ée?s?|fournie?s?|présente?s?"
        r"|incluse?s?|disponibles?|connue?s?|contenue?s?|évidente?s?"
    ),
    "D": (
        r"(?:collect|partag|conserv|utilis|stock|import|demand|affich|gard|envoy)ée?s?|(?:collect|partag"
        r"|affich)e(?:nt)?"
        r"|transmise?s?|transmet(?:tent)?|vendue?s?|recueilli(?:e?s?|t)|reçoi(?:t|vent)|vend|nécessaires?"
        r"|parvien(?:t|nent)"
    ),
    "g": (
        r"contien(?:t|nent)|fourni(?:t|ssent)|donne(?:nt)?|comporte(?:nt)?|apporte(?:nt)?|offr(?:e|ent)|présente(?:nt)?"
        r"|propose(?:nt)?|renferme(?:nt)?|dispose(?:nt)?|compren(?:d|nent)|fai(?:t|re)|font|a|ont|contenir"
        r"|inclut|prend"
    ),
    "E": r"figure(?:nt)?|existe(?:nt)?|trouve(?:nt)?|apparaî(?:t|ssent)|lit",
    "f": (
        r"savoir|répondre|déterminer|conclure|trancher|confirmer|connaître|affirmer|établir|trouver|voir|trouvé|vu"
        r"|relevé"
        r"|repéré|vois|sait|sais|cherche|cherchera|ignore|lire|voit|lis|déduire|détecté|décelé|apprend|crois|pense"
        r"|prouver|trouverez|trouvera|verrez|lirez"
    ),
    "s": r"muets?|muettes?|silencieu\w+|silence|floue?s?|vagues?|évasi\w+|imprécis\w*|discr[èe]te?s?|avares?",
    "u": (
        r"indéterminée?s?|inconnue?s?|suspens|incertaine?s?|obscure?s?|ombre|ignorance|indéfinie?s?|floue?s?"
        r"|imprécise?s?"
    ),
    "a": r"absente?s?|manque(?:nt)?|introuvables?|manquante?s?|vain|faute",
    "o": (
        r"ome(?:t|ttent)|néglige(?:nt)?|tait|taisent|élude(?:nt)?|esquive(?:nt)?|contourne(?:nt)?|occulte(?:nt)?"
        r"|impasse|outre|côté|sous-silence"
    ),
    "B": r"dépasse(?:nt)?|sort(?:ent)?|déborde(?:nt)?|excède(?:nt)?|hors",
    "e": r"est|sont|était|soit|soient|été|reste(?:nt)?|demeure(?:nt)?|semble(?:nt)?|paraît",
    "T": r"à|aux|au|avec",
    "b": r"de|d'|du|des|sur|quant|concernant|relati\w+|pour|en|par|selon",
    "l": r"dans",
}
_CLAIMS = (
    # La politique ne le dit pas; rien dans le texte ne permet; sans nommer; nulle part elle n'explique.
    r"[tH][^:,wKcN]{0,6}(?:,[^:]{1,60},)?N[^,:wev]{0,3}v(?!x?K)[^,:]{0,3}(?:n|$|[,:xbT])(?!v)",
    r"n[^,:c]{0,4}[tH][^,:c]{0,4}N[^,:]{0,3}[vmE]|t[^:N]{0,14}[Sx,]*Zv|^nx[^,:]{0,3}N[^,:]{0,2}v",
    r"(?<!K)(?<!q)jN[^,:]{0,2}v[^,:]{0,2}n(?![^,:]{0,3}T)",
    # Ne donne aucun indice; n'en souffle mot; l'entreprise ne donne pas de détails dans sa politique.
    r"[tH][^:,wKcN]{0,6}(?:,[^:]{1,60},)?N[^,:]{0,2}[gvE][^,:]{0,3}[iHL]|jN[^,:]{0,2}g[^,:]{0,2}n[^,:]{0,3}i(?!T)",
    r"cN[^,:]{0,2}[gv][^,:]{0,3}n[^,:T]{0,4}[^,:]{0,5}l[^,:c]{0,2}t",
    # Aucune mention; il n'y a aucune disposition; aucune durée n'est indiquée.
    (
        r"(?:^|[,:])x?n[^,:cDN]{0,3}[iH](?=$|[,:bhTla])(?![^,:]*(?:N|D))"
        r"|jN[^,:]{0,2}[ge][^,:]{0,1}(?:,[^,]{1,40},)?[^,:cD]{0,3}n[^,:D]{0,3}[iH]"
    ),
    r"(?:^|[,:])n[^,:c]{0,6}[iHL][^,:c]{0,5}N[^,:m]{0,2}[eE](?:[^,:T]{0,3}[pP]|[^,:T]{0,3}l)(?!T)",
    # N'est pas mentionné; n'est évoqué dans aucun passage; non traité.
    (
        r"(?<!w)N[^,:]{0,2}e[^,:cpD]{0,3}(?:n[^,:cS]{0,4}p|pl?n[^,:]{0,2}[tH])(?!T)"
        r"|N[^,:]{0,2}e[^,:cpD]{0,3}n[^,:cDb]{0,3}P(?![^,:]{0,2}T)"
    ),
    r"[jtiJ][^,:cN]{0,5}N[^,:]{0,2}e[^,:]{0,2}n[^,:]{0,2}Q|^[^,:N]{0,2}J?n[^,:]{0,1}Q",
    r"(?:^|[,:])[^,:cN]{0,3}n[^,:cN]{0,2}[pP](?=$|[,:bhl])|N[^,:]{0,2}E[^,:]{0,2}n[^,:c]{0,4}(?:l[^,:c]{0,2}[tH]|$)",
    # Aucune clause n'existe; vous ne trouverez pas cela dans la politique; n'est pas explicite; rien dans la politique.
    (
        r"n[^,:]{0,2}[Ht][^,:]{0,5}N[^,:]{0,1}E|jN[^,:]{0,1}E[^,:]{0,2}n[^,:]{0,2}[HtiL]"
        r"|cN[^,:]{0,1}[fE]n[^:]*l[^,:]{0,2}[tH]"
    ),
    (
        r"[tH][^:,wcN]{0,6}N[^,:]{0,1}eb?n[^,:]{0,1}X|[eE]x?Zi|^n[^,:Nc]{0,4}[hl][^,:N]{0,3}t(?![^:]*N)|^nX"
        r"|Nen[^,:]{0,1}X(?=$|w)"
    ),
    r"[jtiHJ][^,:c]{0,4}Nmne?[pP][^:]*[ti]|nT[fv][^:]*[tw]|^nT[fv]|t[^:cN,]{0,6}l[xN]?u",
    # Muette, indéterminé, absente, omet; dépasse le cadre; en vain.
    r"t[^:c]{0,8}s|[et]x{0,3}[us](?=$|[,:blT])|^x?u(?=$|[,:b])|a[^,:c]{0,4}t|t[^,:]{0,5}o|o[^:]{0,4}t",
    r"B[^,:c]{0,8}t|[rj][^,:]{0,5}[fx][^,:]{0,2}a|[jt][^,:c]{0,4}a[^,:]{0,3}[iH]|n[^,:c]{0,2}i[^,:]{0,6}l[^,:]{0,2}t",
    # On ne sait pas; impossible de savoir d'après ce texte; insuffisants pour dire; ne permet pas de savoir.
    r"rN[^,:c]{0,4}n(?![^:]{0,9}c)[^,:]{0,4}[fptiHv]|rNfn(?=,|w|[^:]*t)|rN[^,:]{0,3}fn|rf[^:]{0,3}w",
    r"nb[fv][^:]*[tw]|[tijx]N[^,:]{0,2}mn[^,:]{0,3}[fv]|rNx?mnx?[fv]|rN[^,:]{0,2}nK[^,:]{0,6}[pv][^:]*t",
)
_DENIED = (
    # Non pas X mais Y; la politique dit que rien n'est vendu; dont le nom n'est pas indiqué.
    r"en[^,:]*S|^[^nN]*t[^,:nN]{0,3}[vq][^,:n]{0,2}K|wN[^,:]{0,2}en?p|R[^,:]{0,3}N[^,:]{0,2}en?p|A|G[^,:]{0,4}N"
    # Le livreur ne sait rien; aucune information n'est collectée; indiqué au livreur; sur la facture.
    r"|^[xbT]{0,4}c[^tH,:K]{0,8}N[^t]{0,4}[vgpmfE](?![^:]*lx?t)|^[^t]*D[^,:t]{0,2}n|n[^,:]{0,4}[iHL][^:Kw]*D"
    r"|^lx{0,2}c[^tH]*N|p[^,:]{0,3}T[xbT]{0,2}c|n[^,:]{0,3}[iH]T[xb]?c|^[bx]{1,2}[^tHjrhiN,:]{0,5}Nv"
    r"|t[^,:]*[vq][^,:]*xN?v[^,:]{0,2}nL"
    r"|^[^tHjrhiN,:]{1,5}N[^,:]{0,1}g[^,:tH]{0,2}n[^t]*$|^[^tH]*v[^,:]{0,3}T[xbT]{0,2}c|ab?[bx]{0,2}c|^Z[^,:]*,[^t]*$"
)
_SILENCE = SilenceRules(
    classes=_CLASSES,
    vague=r"\w+ment|points?|sujets?|thèmes?|questions?|aspects?|égard|propos|matière|cas|clair\w*|précis\w*|explicit\w*|service|fournisseur|entreprise",
    oneself=r"(?<!à )\b(?:je|j'|me|m'|mes|ma|mon|joint)(?:\b|(?=\w))",
    claims="|".join(_CLAIMS),
    denied=_DENIED,
    silent="(?m)" + "|".join(_WAYS),
    denial=(
        r"\b(?:ne|pas|aucune?|nulle|rien|jamais|sans|ni|silenc\w+|muet\w*|flou\w*|impréci\w+|impossible|ignore"
        r"|non|ignore|insuffisante?s?|inconnue?|omet\w*|néglige|laisse\w*|manque\w*|absente?s?|dépasse\w*|sort"
        r"|cadre|impasse|outre|ignorance|déborde\w*|excède\w*|hors|vagues?|évasi\w+|indéterminée?s?|suspens"
        r"|ouverte?s?|incertaine?s?|introuvables?|vain|tait|taisent|élude\w*|esquive\w*|faute|guère|nullement)\b|\bn'"
    ),
    answered=r"\b(?:oui|non|effectivement|exact(?:ement)?|absolument|certainement|tout\s+à\s+fait|si)\b(?!\s+\w)",
    no=r"\W*non\b",
    contrast=(
        r"\b(?:mais|cependant|toutefois|néanmoins|pourtant|bien\s+que|quoique|alors\s+que|tandis\s+que|en\s+revanche"
        r"|sauf|même\s+si|or)\b|;"
    ),
    unknown=(
        r"\bpas\s+accès\b|\b(?:me|m')\s*souv(?:iens|enir)\b|\bn'a\s+été\s+(?:joint|fourni|transmis)e?\b|"
        r"\bje\s+n(?:e\s+|')(?:ai\s+pas|ai\s+aucune?|dispose\s+(?:pas|d'aucune?)|connais\s+pas|sais\s+pas|peux\s+pas"
        r"\s+(?:accéder"
        r"|consulter|ouvrir|lire|voir)|ai\s+jamais|suis\s+pas\s+en\s+mesure\s+(?:de|d')\s*(?:accéder|consulter"
        r"|ouvrir|lire))\b(?!\s+(?:pu\s+)?trouvé)|\bne\s+fait\s+pas\s+partie\s+de\s+mes\b|\bje\s+ne\s+peux"
        r"\s+(?:pas\s+)?(?:\w+\s+)?(?:accéder|consulter|ouvrir|lire)\b"
        r"|\bne\s+m'(?:a|ont)\s+pas\s+été\s+(?:fourni|communiqué|transmis|donné)"
    ),
    searched=r"\bma\s+recherche\b|\bmes\s+recherches\b|\brésultats?\s+de\s+recherche\b",
    speaker=(
        r"\b(?:nous|vous|utilisateurs?|qui|clients?|personnes?)\s+$|\b(?:tu\s+n'as|vous\s+n'avez)\s+$|"
        r"\bje\s+ne\s+dispose\s+(?:pas\s+)?(?:d'|de\s+)$"
        r"|\b(?:recueille|collecte|vend|partage|transmet|conserve|stocke|utilise|communique|demande|reçoit|divulgue"
        r"|cède)(?:nt)?\s+(?:[\w'-]+\s+){0,3}$"
    ),
    condition=r"\b(?:si|s'il|s'ils|sauf\s+si|lorsque|lorsqu'il|quand|à\s+moins\s+que)\s+(?:[\w'-]+\s+){0,4}$",
    concession=(
        r"\bne\s+\w+\s+que\b|\b(?:car|parce\s+que|puisque)\b[^.;]*$|\b(?:bien|certes|en\s+général"
        r"|de\s+façon\s+générale)\b"
    ),
    linking=r"toutefois|cependant|néanmoins|pourtant|en\s+revanche",
    # What comes before an answer and isn't one.
    preface=(
        r"\W*(?:(?:bonne|excellente)\s+question|merci\b.*|(?:désolé|pardon)\w*|(?:c'est|ce\s+serait|cela\s+est)\s+"
        r"(?:tout\s+à\s+fait\s+|bien\s+)?(?:possible|envisageable|plausible|probable)|(?:peut-être|possible)"
        r"(?:\s+(?:que\s+oui|bien|pas))?|j'ai\s+[^.,]*\b(?:parcouru|lu|cherché|examiné|relu|vérifié)\b.*"
        r"|il\s+faudrait\s+[^.,]*\bdemander\b.*)\W*$"
    ),
    sorry=r"\b(?:désolé\w*|malheureusement|regrett\w+|hélas)\b[^.]*$",
    but_that=r"\W*que\b",
    caveat=(
        r"\b(?:davantage|plus\s+(?:de|d'|amples?|précis\w*)|supplémentaires?|en\s+détail|(?:d'autres?|autres?)"
        r"\s+\w+)\b|\bplus\s+d'"
    ),
    other=r"\s+(?:(?:d')?autres?|davantage|supplémentaires?|en\s+détail|plus\s+(?:de|en))\b",
    source=r"\W*(?:références?|sources?|renvois?)\W*(?::|$)",
    not_applicable=r"\bs\.\s?o\.|\baucune?\b\W*$|\bsans\s+objet\b|\bnéant\b|\bN/?A\b|\bnon\s+applicable\b",
)

# --- Readability --------------------------------------------------------------------------------------------------

_VOWELS = "aeiouyàâäéèêëîïôöùûüœæ"
# A silent end: e, es, the -ent of "avaient"; a u that is not spoken.
_MUTE = re.compile(rf"(?<=[^{_VOWELS}])es?$|(?<=[{_VOWELS}])es?$(?<![éèê]e)|(?<=ai)ent$|(?<=q)u|(?<=g)u(?=[eiéè])")
# Neighbours of two syllables: ré-alité, na-ïf, ac-tu-el, co-opérer, cri-er.
_APART = re.compile(
    rf"é(?=[{_VOWELS}])|[aeou](?=[ïëü])|a(?=[oé])|o(?=[éoa])|(?<![gq])u(?=[aeoéè])|e(?=o)"
    rf"|(?<=[bcdfgptv][lr])i(?=[aeoé])"
    r"|(?<=[aeou])y(?=[aeiouéè])|i(?=ï)"
)


LANGUAGE = Language(
    code="fr",
    name="French",
    also=("fra", "fre"),
    function_words=frozenset(_WORDS.split()),
    policy=_french_policy_phrase,
    regulation=_french_regulation_phrase,
    no_answer="(pas de réponse)",
    not_said="Le document ne le dit pas.",
    search=SearchRules(
        stop_words="STOPWORDS_FRENCH",
        asking=re.compile(
            r"aussi|comment|documents?|entreprises?|existe|genres?|jamais|peuvent|peut|politiques?|pourrait|quel"
            r"(?:le)?s?|sections?|sociétés?|sortes?|types?|utilisateurs?|utilisatrices?|utilise[rz]?|également"
        ),
        ending=re.compile(
            r"(?<=\w{4})(?:ations?|itions?|ions?|ements?|ment|ités?|ées?|és?|er|ez|ent|ants?|eurs?|ives?|ifs?|ales?|aux"
            r"|es|e|s)$"
        ),
        same={
            "inform": "donn",
            "données": "donn",
            "communiqu": "partag",
            "transm": "partag",
            "stock": "conserv",
            "supprim": "effac",
            "suppress": "effac",
        },
    ),
    sections={
        "Section": "Rubrique|Paragraphe",
        "Chapter": "Chapitre",
        "Part": "Partie",
        "Title": "Titre",
        "Annex": "Annexe",
    },
    first="premier|première|1er|1re|1ère",
    starts="Les?|La|Cette|Ces?|Nous|Notre|Nos|Vous|Votre|Vos|Si|Lorsque|Pour|Dans|Il|Elle|Afin|Certaines?|Toute?s?",
    abbreviations=(
        r"p\.[ \u00a0]?ex|p|c\.-à-d|cf|art|al|par|etc|M|MM|Mme|Mlle|Dr|Me|n[o°]|réf|env|min|max|chap|sect|tél|av|bd"
        r"|Inc|Ltd|Co|S\.A|[A-ZÀ-Þ]|(?:[A-Z]\.)+[A-Z]"
    ),
    citations=_CITATIONS,
    silence=_SILENCE,
    sides=sides.FRENCH,
    refusals=FRENCH,
    readability=Readability(
        formula="Kandel-Moles",
        base=207,
        sentence=-1.015,
        syllable=-73.6,
        syllables=make_syllable_counter(re.compile(rf"[{_VOWELS}]+"), _MUTE, _APART),
        connective="et",
        cited="Kandel and Moles, 1958",
        published="L. Kandel, A. Moles: Application de l'indice de Flesch à la langue française. Cahiers d'Études de\n"
        "Radio-Télévision 19, 253-274, 1958.",
    ),
    measured={"citations": (1.0, 0.95), "silence": (1.0, 0.67)},
)
