"""A language: how its texts are recognised and read, and genaipa's own words in messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

expression = cache(re.compile)
"""A compiled regular expression: a language's are compiled when they are first looked for, which takes long."""


@cache
def compile_lowercase_pattern(pattern: str) -> re.Pattern[str]:
    """Compile an expression whose case does not count, for a text that `lower` made: 4 times faster than IGNORECASE."""
    return re.compile(re.sub(r"\\.|\(\?P|[^\\(]+|\(", lambda part: _lowercase_pattern_part(part.group()), pattern))


def _lowercase_pattern_part(part: str) -> str:
    return part if part.startswith(("\\", "(?P")) else part.lower()


def lowercase_keeping_positions(text: str) -> str:
    """Return a text in small letters, each at its place."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(letter if len(letter.lower()) > 1 else letter.lower() for letter in text)


NEVER = r"(?!)"
"""An expression that nothing matches: a language without a rule of that kind."""
CAPITAL = "A-ZÀ-ÖØ-Þ" + "".join(filter(str.isupper, map(chr, range(0x100, 0x530))))
"""Capitals of the Latin, Greek and Cyrillic scripts, as an expression's class of characters has them."""
UNCASED = (
    "\u0590-\u10ff\u1100-\u137f\u1780-\u18af\u3040-\u30ff\u3105-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7ff\uf900-\ufaff"
)
"""Characters of scripts without capitals: Hebrew, Arabic, and the scripts of South and East Asia."""
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Characters of scripts without blanks between words: Thai and Lao, Burmese, Khmer, kana, Han."""
ENDS = ".!?\u061f\u06d4\u0964"
"""Marks that end a sentence with a blank behind them, also in Arabic, Urdu and Hindi."""
STOPS = "\u3002\uff01\uff1f"
"""Full stop, exclamation and question mark of these scripts, which need no blank behind them."""
QUOTED = (
    r"(?:[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u201e\u00ab\u00bb\n]{3,120}[\"\u201c\u201d\u00bb]"
    r"|\*\*[^*\n]{3,120}\*\*"
    rf"|(?<!\w)['\u2018][{CAPITAL}](?:[^'\u2018\u2019\n]|(?<=\w)['\u2019](?=\w)){{2,120}}['\u2019](?!\w))"
)
"""A quoted title, as an expression."""


@dataclass(frozen=True, eq=False)
class SearchRules:
    """The rules by which the words of a question are looked for in texts of a language.

    `stop_words` are left out, by the name of their list in bm25s; so are words that match `asking` as a whole, which
    questions about any document are made of. `ending` is cut off, and a stem in `same` is taken for another one. With
    `compounds` a word that the text lacks is looked for by its first and its last part.
    """

    stop_words: str
    asking: re.Pattern[str]
    ending: re.Pattern[str]
    same: Mapping[str, str] = field(default_factory=dict)
    compounds: bool = False


@dataclass(frozen=True, eq=False)
class CitationRules:
    """The words by which answers in a language cite, as regular expressions without groups, upper and lower case apart.

    `words` have a number behind them (before it in `ordinal`, which has the groups number and word), `names` are
    the English names of some of them; `numerals` (word in lower case → digits) count sections, unless they follow
    `counting`, and are ordinals. A list goes on by `also` or `either`, a range by `to`; `unit` follows a number that
    counts something else. `of_this` and `into` lead from a number to a policy and to a section in it, `out_of` from a
    section to a part; a number of several steps needs no word behind `at`, nor any number behind `pointer`; `called`
    comes before a title, and `no_title` is none. `headed` finds headings without a number (groups before, after or
    plain, and several). `here` follows, and `here_before` precedes, what is said to be the document's, `elsewhere` an
    app's. `pointing` mentions a section in any way.
    """

    words: str
    also: str
    either: str
    to: str
    of_this: str
    into: str
    out_of: str
    called: str
    here: str
    here_before: str
    laws: LawRules
    names: Mapping[str, str] = field(default_factory=dict)
    numerals: Mapping[str, str] = field(default_factory=dict)
    ordinal: str = NEVER
    not_behind: str = NEVER
    see: str = NEVER
    at: str = NEVER
    pointer: str = NEVER
    counting: str = NEVER
    unit: str = NEVER
    no_title: str = NEVER
    headed: str = rf"(?P<before>{NEVER})(?P<after>)(?P<plain>)(?P<several>)"
    elsewhere: str = NEVER
    summary: str = NEVER
    summary_before: str = NEVER
    summary_behind: str = NEVER
    pointing: str = NEVER


@dataclass(frozen=True, eq=False)
class LawRules:
    """The words by which an answer in a language names laws, as regular expressions without groups.

    `short` and `named` are laws, unless `not_law` follows, `texts` a company's other texts; `this` is the law that
    is spoken of. `below` is between the number of an article and its law, which `of` may introduce; `before` comes
    between a law and what it has. `same` are the names of one law each. `here_before` precedes an article of the
    document itself.
    """

    short: str
    named: str
    of: str
    below: str = ""
    texts: str = NEVER
    not_law: str = NEVER
    before: str = NEVER
    this: frozenset[str] = frozenset()
    same: tuple[str, ...] = ()
    here_before: str = NEVER


@dataclass(frozen=True, eq=False)
class SilenceRules:
    """The phrases of a language that say that a document is silent, as regular expressions; case does not count.

    `silent` claims that, `unknown` says that the assistant knows nothing of the document, `searched` that it searched.
    A sentence has none of these without `denial`. What is said after a `speaker` (unless `passive`) or a `condition` is
    no claim. `answered` begins an answer, `no` one that may be silent all the same; `contrast` turns a sentence, also
    after an apology (`sorry`), `but_that` goes on with what is said. `caveat` or, behind it, `other` speak of a part of
    what is asked; `source` begins a line of sources. `not_applicable` is an annotated answer's.

    `classes` are classes of words, each a letter and an expression that matches a whole word in lower case; x is any
    other word, a comma a weak mark and a colon a strong one. `claims` are constructions that claim silence, as
    expressions over the letters of a sentence's words, unless `denied` matches them; `source_of` names whose words
    follow ("according to …"). A sentence that is all `preface` ("It is possible") is not yet the answer. Before a word
    of contrast, a `concession` answers nothing; one that is `linking` may stand inside a clause. Who speaks of
    `oneself`, and of no text, tells what they know, not what the document says. A `vague` word of no class names
    nothing that could be denied.
    """

    silent: str
    denial: str
    answered: str
    contrast: str
    unknown: str = NEVER
    searched: str = NEVER
    no: str = NEVER
    speaker: str = NEVER
    passive: str = NEVER
    condition: str = NEVER
    sorry: str = NEVER
    but_that: str = NEVER
    caveat: str = NEVER
    other: str = NEVER
    source: str = NEVER
    not_applicable: str = NEVER
    classes: Mapping[str, str] = field(default_factory=dict)
    claims: str = NEVER
    denied: str = NEVER
    source_of: str = ""
    preface: str = NEVER
    concession: str = NEVER
    linking: str = NEVER
    oneself: str = NEVER
    vague: str = NEVER


@dataclass(frozen=True, eq=False)
class SideRules:
    """The words of a language by which an answer takes a side, as regular expressions; case does not count.

    An `opening` comes before the Yes or No of an answer, also on a line of its own. An `open_question` can't be
    answered by either. A sentence with a `negation` denies what it repeats; one that is `partly` so does neither.
    """

    opening: str
    open_question: str
    negation: str
    partly: str


@dataclass(frozen=True, eq=False)
class RefusalRules:
    """Expressions over a clause: `refuses` that it answers, `aside` adds advice, an offer or an excuse.

    `breaks` divides clauses, beside strong marks; `grounded` names the text as the reason, which is no refusal.
    `text` are the document and those whose deeds it tells: a clause of the assistant itself (`oneself`) that has none
    of them is an aside, too.
    """

    refuses: str
    aside: str = NEVER
    breaks: str = NEVER
    grounded: str = NEVER
    oneself: str = NEVER
    text: str = NEVER


def make_syllable_counter(
    vowels: re.Pattern[str], mute_vowels: re.Pattern[str], separate_vowels: re.Pattern[str]
) -> Callable[[str], int]:
    """Make a function that counts the syllables of a word from its spelling: groups of vowels; one for a number.

    `vowels` are of one syllable each, once `mute_vowels` ones are left out and `separate_vowels` ones divided from what
    follows.
    """

    @lru_cache(maxsize=50_000)
    def count_word_part_syllables(part: str) -> int:
        spoken = mute_vowels.sub("", part) or part
        return max(1, len(vowels.findall(separate_vowels.sub(lambda vowel: f"{vowel[0]}-", spoken))))

    def count_syllables(word: str) -> int:
        return max(1, sum(count_word_part_syllables(part) for part in re.findall(r"[^\W\d_]+", word.lower())))

    return count_syllables


@dataclass(frozen=True, eq=False)
class Readability:
    """A formula of reading ease or grade: `base` + `sentence` * words per sentence + `syllable` * syllables per word.

    `grades` says that it gives years of school; else more is easier. `connective` is the word that table 1 counts.
    `abbreviations` end no sentence that is counted; without any, the language's. `cited` is how texts cite where the
    formula was published, `published` the reference.
    """

    formula: str
    base: float
    sentence: float
    syllable: float
    syllables: Callable[[str], int]
    connective: str
    grades: bool = False
    abbreviations: str = ""
    cited: str = ""
    published: str = ""

    @property
    def formula_in_words(self) -> str:
        """The formula for people: its largest terms first, `180 - words/sentences - 58.5 syllables/words`."""
        terms = {"words/sentences": self.sentence, "syllables/words": self.syllable}
        terms_in_words = [f"{number:+g} {ratio}".replace("-1 ", "-") for ratio, number in terms.items()]
        terms_in_words.insert(len(terms_in_words) if self.grades else 0, f"{self.base:+g}")
        return " ".join(f"{term[0]} {term[1:]}" for term in terms_in_words).removeprefix("+ ")


@dataclass(frozen=True)
class Language:
    """A language. `code` is its code in ISO 639-1, `also` what else metadata may state it as; `name` is in English.

    `function_words` are frequent in its texts and rare in other languages, in lower case. `policy` (company) and
    `regulation` (title, short name; the title may be empty) are the `subject` of prompts, and `no_answer` takes the
    place of a reply without text in a conversation. Without rules to `search` by, English's are taken; what rests on
    other rules that a language lacks is not shown for it. `not_said` is what the baseline `extractive` says of a
    question that a document in the language leaves open.

    `sections` are the words before a section's number, by their English names; they are known in texts of all
    languages, as are `first`, words for the number 1 behind them, and `starts`, words that begin a sentence.
    `spelt` gives a text the numbering that it begins with in English, where words don't precede it.
    `abbreviations` and ordinal numbers before `ordinal_of` end no sentence.

    `measured` are precision and recall of `citations` and `silence` on answers that the rules were not written by, at
    first sight; reports print them beside the rates that rest on these rules.
    """

    code: str
    name: str
    also: tuple[str, ...]
    function_words: frozenset[str]
    policy: Callable[[str], str]
    regulation: Callable[[str, str], str]
    no_answer: str
    search: SearchRules | None = None
    not_said: str = "The document does not say."
    sections: Mapping[str, str] = field(default_factory=dict)
    spelt: Callable[[str], str] | None = None
    first: str = NEVER
    starts: str = NEVER
    abbreviations: str = NEVER
    ordinal_of: str = NEVER
    citations: CitationRules | None = None
    silence: SilenceRules | None = None
    sides: SideRules | None = None
    refusals: RefusalRules | None = None
    readability: Readability | None = None
    measured: Mapping[str, tuple[float, float]] = field(default_factory=dict)
