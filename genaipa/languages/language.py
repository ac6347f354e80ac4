"""A language: how its texts are recognised, and genaipa's own words in messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True, eq=False)
class Search:
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


@dataclass(frozen=True)
class Language:
    """A language. `code` is its code in ISO 639-1, `also` what else metadata may state it as; `name` is in English.

    `function_words` are frequent in its texts and rare in other languages, in lower case. `policy` (company) and
    `regulation` (title, short name; the title may be empty) are the `subject` of prompts, and `no_answer` takes the
    place of a reply without text in a conversation. Without rules to `search` by, English's are taken. `not_said` is
    what the baseline `extractive` says of a question that a document in the language leaves open.
    """

    code: str
    name: str
    also: tuple[str, ...]
    function_words: frozenset[str]
    policy: Callable[[str], str]
    regulation: Callable[[str, str], str]
    no_answer: str
    search: Search | None = None
    not_said: str = "The document does not say."
