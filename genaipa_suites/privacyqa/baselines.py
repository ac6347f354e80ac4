"""PrivacyQA's baselines: nothing, everything, counts of common words, and the annotator who agrees best with others."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from genaipa_suites.baseline import Baseline
from genaipa_suites.privacyqa.measures import references
from genaipa_suites.privacyqa.score import agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from genaipa_suites.material import Item
    from genaipa_suites.suite import Suite

STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by can could did do does for from had has have how i if in is it its me my of on "
        "or our that the their them they this to up was we what when where which who why will with would you your",
    )
)


def words(text: str) -> set[str]:
    """The different words of a text, in lower case: runs of letters a to z and digits."""
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def reply(sentences: Collection[int]) -> str:
    """A reply with the numbers of these sentences."""
    return json.dumps({"sentences": sorted(sentences)})


def _word_count(suite: Suite, *, top: int, without: frozenset[str]) -> Callable[[Item], str]:
    """The sentences with most different words of the question; of equals the earlier ones, of those without any too."""
    policies = {key: [words(sentence) for sentence in sentences] for key, sentences in suite.material.documents.items()}

    def answer(item: Item) -> str:
        asked = words(item.shown["text"]) - without
        common = [len(asked & sentence) for sentence in policies[item.document]]
        return reply(sorted(range(1, len(common) + 1), key=lambda number: -common[number - 1])[:top])

    return answer


def _counting(top: int, *, stop_words: bool) -> Baseline:
    return Baseline(
        f"word-count-{top}" if stop_words else f"word-count-{top}-no-stop-words",
        "rule",
        f"the {top} sentences with most words of the question" + ("" if stop_words else ", stop words left out"),
        partial(_word_count, top=top, without=frozenset() if stop_words else STOP_WORDS),
    )


def _nothing(_suite: Suite) -> Callable[[Item], str]:
    return lambda _item: reply(())


def _everything(suite: Suite) -> Callable[[Item], str]:
    sizes = {key: len(sentences) for key, sentences in suite.material.documents.items()}
    return lambda item: reply(range(1, sizes[item.document] + 1))


def _agreed(_suite: Suite) -> Callable[[Item], str]:
    return lambda item: reply(agreed(references(item)))


BASELINES = (
    Baseline("no-answer", "floor", "no sentence: every question is unanswerable", _nothing),
    Baseline("everything", "floor", "all sentences of the policy", _everything),
    *(_counting(top, stop_words=stop_words) for stop_words in (True, False) for top in (2, 3, 5)),
    Baseline("best-annotator", "ceiling", "of each question's references the one that agrees best with all", _agreed),
)
