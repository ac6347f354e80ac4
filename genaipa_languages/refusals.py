"""How an assistant refuses to answer, in the languages whose rules tell that, and what it adds without answering."""

from __future__ import annotations

from genaipa.languages.language import RefusalRules

# --- German -------------------------------------------------------------------------------------------------------

_HELFEN = (
    r"(?:(?:weiter)?helfen|behilflich|(?:be)?antworten|unterstützen|diskutieren|äußern|kommentieren|sagen|nachkommen"
    r"|entsprechen|fortsetzen|fortfahren|bearbeiten|erfüllen|tun|dienen|eingehen|sprechen|mitteilen|beraten|beurteilen"
    r"|(?:auskunft|auskünfte|rat|ratschläge?|rechtsberatung|beratung|antwort|aussagen?|informationen|angaben|hilfe"
    r"|unterstützung|einschätzung|stellungnahme)\s+(?:\w+\s+)?(?:zu\s+)?(?:ab)?(?:geben|leisten|anbieten|erteilen|machen"
    r"|bereitstellen|liefern|treffen))"
)
GERMAN = RefusalRules(
    refuses=(
        rf"\b(?:(?:kann|könnte|darf|werde|will|möchte|soll)\s+ich|ich\s+(?:kann|könnte|darf|werde|will|möchte|soll))\b"
        rf"[^.!?]{{0,90}}?\b(?:nichts?|kein\w*|weder|ungern)\b[^.!?]{{0,90}}?\b{_HELFEN}\b"
        rf"|\b(?:bin\s+ich|ich\s+bin)\s+(?:[\w-]+\s+){{0,3}}?nicht\s+(?:[\w-]+\s+){{0,2}}?(?:in\s+der\s+lage|befugt"
        rf"|berechtigt|dazu\s+da|dafür\s+(?:gemacht|gedacht)|imstande|autorisiert)\b"
        r"|\b(?:muss|möchte|werde)\s+(?:ich\s+)?(?:[\w-]+\s+){0,5}?(?:ablehnen|passen|verweigern)\b"
        r"|\bich\s+(?:lehne\s+(?:[\w-]+\s+){0,5}ab\b|verweigere\b)|\bist\s+(?:es\s+)?mir\s+(?:\w+\s+){0,2}?(?:nicht\s+"
        rf"(?:möglich|erlaubt|gestattet)|untersagt)|^\W*(?:das\s+)?kann\s+ich\s+(?:\w+\s+)?nicht\W*$"
        rf"|^\W*(?:da(?:bei|zu|mit)|hier(?:bei|zu)?)?\s*(?:kann|darf)\s+ich\s+(?:[\w-]+\s+){{0,3}}?(?:nicht|kein\w*)\s+"
        rf"(?:[\w-]+\s+){{0,2}}?{_HELFEN}\b|\b(?:verstößt|verstoßen|widerspricht)\s+(?:\w+\s+)?gegen\s+meine\b"
        r"|\bmeine\s+(?:\w+\s+)?(?:richtlinien|regeln|vorgaben|anweisungen)\s+(?:\w+\s+){0,4}?(?:nicht|verbieten|untersagen)"
        r"|\b(?:anfrage|antwort|ausgabe|inhalt)\s+(?:wurde|ist)\s+(?:[\w-]+\s+){0,6}?(?:blockiert|gefiltert|abgelehnt"
        r"|zurückgehalten)\b|^\W*(?:kein\s+kommentar|blockiert|gefiltert|verweigert|lieber\s+nicht)\W*$"
        r"|\bmöchte\s+ich\s+lieber\s+nicht\b|\bich\s+möchte\s+(?:\w+\s+)?lieber\s+nicht\b"
    ),
    aside=(
        r"^\W*(?:bitte|wenden\s+sie|fragen\s+sie|lesen\s+sie|prüfen\s+sie|wende\s+dich|frag|lies|danke|entschuldigung)\b"
        r"|\b(?:ich\s+)?(?:empfehle|rate)\s+(?:ich\s+)?(?:ihnen|dir)?|\b(?:gern|gerne)\b|\bich\s+verstehe\b"
        r"|\b(?:können|kannst|sollten|solltest)\s+(?:sie|du)\s+(?:sich|dich)\b|\bwenn\s+(?:sie|du)\s+(?:\w+\s+){0,4}?fragen"
        r"|\b(?:etwas|jemand)\s+anderes\b|\b(?:andere[nrms]?|weitere[nrms]?)\s+(?:fragen?|themen?|anliegen)\b"
        r"|\b(?:sie|du)\s+(?:haben\s+|hast\s+)?(?:gefragt|fragen|fragst)\b|\btut\s+mir\s+leid\b|\bich\s+bedau[er]+e\b"
    ),
    breaks=(
        r"\b(?:aber|doch|jedoch|allerdings|obwohl|während|hingegen|dennoch|trotzdem|außer|sondern|weil|da|denn|wenngleich)\b"
    ),
    grounded=(
        r"\b(?:anhand|aufgrund|auf\s+(?:der\s+)?(?:grundlage|basis)|aus|laut|nach|mit|ohne)\s+(?:[\w-]+\s+){0,3}?"
        r"[\w-]*(?:erklärung|richtlinie|dokuments?|textes|text|unterlagen|auszugs?|auszug|abschnitte?n?|angaben"
        r"|informationen)\b"
    ),
    oneself=r"\b(?:ich|mir|mich|meine[nrms]?)\b",
    text=(
        r"[\w-]*(?:erklärung|richtlinie|dokument|unternehmen|anbieter|nutzer|kunden|daten)\w*|\b(?:text\w*|wir|uns|unsere\w*"
        r"|firma|dienst)\b"
    ),
)

# --- French -------------------------------------------------------------------------------------------------------

_AIDER = (
    r"(?:(?:vous\s+|t'|y\s+|lui\s+)?(?:aider|assister|répondre|commenter|continuer|poursuivre|conseiller)\b"
    r"|(?:traiter|satisfaire|accéder|donner\s+suite)\s+(?:à\s+)?(?:cette|votre|ta|ce|une\s+telle|cela)\b"
    r"|(?:vous\s+|en\s+)?(?:parler|discuter|dire|faire)\b(?:\W*$|\s+(?:de\s+|cela|ça|ce|plus|rien))"
    r"|m'(?:exprimer|engager|avancer)\b|me\s+prononcer\b"
    r"|(?:vous\s+|te\s+)?(?:fournir|donner|apporter|offrir|partager|divulguer)\s+(?:[\w'-]+\s+){0,3}?(?:[dl]')?(?:conseils?"
    r"|réponses?|informations?|renseignements?|avis|aide|assistance|cela|ce\s+contenu|interprétations?)\b)"
)
FRENCH = RefusalRules(
    refuses=(
        r"\bje\s+(?:ne\s+(?:peux|pourrai|saurais|dois|veux|souhaite|vais|pourrais)|n'ai\s+pas\s+(?:le\s+droit|la\s+"
        r"possibilité)\s+de|ne\s+suis\s+pas\s+(?:en\s+mesure|autorisée?|capable|habilitée?|conçue?|là)\s*(?:de|d'|pour|à)"
        rf"?)\s*(?:(?:malheureusement|pas|point|hélas|donc)\s+){{0,3}}{_AIDER}"
        r"|\bje\s+(?:refuse|décline)\b|\bje\s+(?:dois|préfère|préférerais)\s+(?:\w+\s+)?(?:refuser|décliner|ne\s+pas\b"
        r"|m'abstenir)|\bje\s+suis\s+(?:\w+\s+)?(?:obligée?|contrainte?)\s+de\s+(?:refuser|décliner)"
        rf"|\bil\s+m'est\s+(?:impossible|interdit)\s+(?:de\s+|d'){_AIDER}|\bje\s+ne\s+peux\s+pas\W*$"
        r"|\bmes\s+(?:\w+\s+)?(?:directives|règles|consignes|principes)\s+(?:\w+\s+)?(?:ne\s+m[e']|m'interdisent|m'empêchent"
        r"|l'interdisent)|\b(?:à\s+l'encontre|contraire|au-delà|en\s+dehors)\s+(?:à|de)\s+(?:mes|ce\s+que\s+je)\b"
        r"|\b(?:réponse|requête|demande|contenu)\s+(?:a\s+été|est)\s+(?:bloquée?|filtrée?|refusée?|rejetée?|supprimée?)\b"
        r".{0,60}\b(?:filtre|modération|sécurité|contenu)|^\W*(?:réponse|requête|demande|contenu)\s+(?:a\s+été\s+)?(?:bloquée?"
        r"|filtrée?|refusée?|rejetée?)\W*$|^\W*(?:sans\s+commentaire|pas\s+de\s+commentaire|refusé|bloqué|filtré)\W*$"
    ),
    aside=(
        r"^\W*(?:veuillez|consultez|contactez|adressez|lisez|n'hésitez|merci|pardon|excusez|désolée?|demandez)\b"
        r"|\bje\s+(?:vous\s+|te\s+)?(?:recommande|conseille|suggère|invite|comprends|regrette)\b|\b(?:volontiers|avec"
        r"\s+plaisir|ravie?\s+de|heureu\w+\s+de)\b|\b(?:vous\s+)?(?:pouvez|pourriez|devriez)\s+(?:vous\s+)?(?:consulter"
        r"|adresser|contacter|lire|demander)\b|\bsi\s+vous\s+(?:avez|souhaitez|voulez)\b|\bautre\s+chose\b"
        r"|\b(?:une\s+autre|d'autres)\s+(?:questions?|sujets?|demandes?)\b|^\W*vous\s+(?:me\s+)?demand"
    ),
    breaks=(
        r"\b(?:mais|cependant|toutefois|néanmoins|pourtant|bien\s+que|quoique|alors\s+que|tandis\s+que|en\s+revanche|sauf"
        r"|même\s+si|or|car|parce\s+que|puisque|étant\s+donné)\b|\bparce\s+qu'|\bpuisqu'"
    ),
    grounded=(
        r"(?:\bd'après|\bà\s+partir|\bsur\s+la\s+base|\bselon|\bau\s+vu|\bavec|\bsans)\s+(?:[\w'-]+\s+){0,3}?(?:[dl]')?(?:politique"
        r"|document|texte|extraits?|avis|passages?|informations?|contexte)\b"
    ),
    oneself=r"\b(?:je|me|moi|mes|mon|ma)\b|\b[jm]'",
    text=(
        r"\b(?:politiques?|documents?|textes?|déclaration|ils|elles|elle|il|entreprise|société|utilisateurs?|clients?|données"
        r"|nous|notre|nos)\b"
    ),
)

# --- Chinese ------------------------------------------------------------------------------------------------------

CHINESE = RefusalRules(
    refuses=(
        "我?(?:无法|不能|不便|不会|没办法|拒绝)(?:为您|向您|就此|对此)?(?:回答|回复|答复|提供(?:帮助|协助|法律|建议|这|该|此)"
        "|协助|帮助|讨论|处理|满足|继续|评论)"
    ),
    aside="请|建议|如果您|欢迎|抱歉|对不起|很遗憾|其他问题|感谢",
    breaks="但是?|然而|不过|因为|由于|\uff0c",
    grounded="(?:根据|从|依据|按照)[^\uff0c。]{0,10}(?:政策|文件|文本|内容|条款)",
    oneself="我",
    text="政策|文件|隐私|公司|用户|数据|信息",
)
