"""A language: how its texts are recognised, and genaipa's own words in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Language:
    """A language. `code` is its code in ISO 639-1, `also` what else metadata may state it as; `name` is in English.

    `function_words` are frequent in its texts and rare in other languages, in lower case. `policy` (company) and
    `regulation` (title, short name; the title may be empty) are the `subject` of prompts, and `no_answer` takes the
    place of a reply without text in a conversation.
    """

    code: str
    name: str
    also: tuple[str, ...]
    function_words: frozenset[str]
    policy: Callable[[str], str]
    regulation: Callable[[str, str], str]
    no_answer: str
