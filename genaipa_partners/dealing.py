"""Who gets which answers: a draw that its key decides.

Answers of each language are put into a random order that goes round the systems. The first of them are shared by all
partners who take this language, the others dealt one by one, each to whoever has fewest.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from genaipa.errors import UsageError
from genaipa.languages.catalog import language_name
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

_ROUNDING = 1e-9


@dataclass(frozen=True)
class KeyedRandomness:
    """Random bytes for whatever is named, by a secret key: nobody without it can tell them in advance, or back."""

    key: bytes

    def derive_bytes_from_names(self, *names: str) -> bytes:
        """Return random bytes for these names."""
        return hashlib.blake2b("\0".join(names).encode(), key=self.key, digest_size=16).digest()


@dataclass(frozen=True)
class AnswerThread:
    """Answers that go to one partner together: one, with those to its follow-ups, by their digests in packs."""

    answers: tuple[str, ...]
    system: str
    language: str


@dataclass(frozen=True)
class Deal:
    """The answers of each partner, and those that all partners who take their language have."""

    by_partner: Mapping[str, tuple[str, ...]]
    shared: frozenset[str]


def deal_threads(
    threads: Sequence[AnswerThread],
    language_by_partner: Mapping[str, str],
    shared_fraction: float,
    randomness: KeyedRandomness,
    answers_shared_for_training: Collection[str] = (),
) -> Deal:
    """Deal threads to partners, whose language may be empty for any.

    `shared_fraction` (0 to 1) of each language goes to all.

    Answers for `answers_shared_for_training` come first among the shared. A UsageError for a language that no partner takes, and
    for a partner who would get nothing.
    """
    threads_by_language: defaultdict[str, list[AnswerThread]] = defaultdict(list)
    for thread in threads:
        threads_by_language[thread.language].append(thread)
    loads = dict.fromkeys(language_by_partner, 0)
    shared: list[AnswerThread] = []
    takers_by_language: dict[str, list[str]] = {}
    for language in sorted(threads_by_language):
        takers_by_language[language] = _find_partners_taking_language_or_raise(
            language, threads_by_language[language], language_by_partner
        )
        ordered = _shuffle_threads_alternating_systems(threads_by_language[language], randomness)
        for_all = [thread for thread in ordered if not set(answers_shared_for_training).isdisjoint(thread.answers)]
        untrained = [thread for thread in ordered if set(answers_shared_for_training).isdisjoint(thread.answers)]
        extra = max(ceil(shared_fraction * len(ordered) - _ROUNDING) - len(for_all), 0)
        shared += [*for_all, *untrained[:extra]]
        threads_by_language[language] = untrained[extra:]
        for name in takers_by_language[language]:
            loads[name] += sum(len(thread.answers) for thread in (*for_all, *untrained[:extra]))
    dealt: defaultdict[tuple[str, str], list[AnswerThread]] = defaultdict(list)
    for language, takers in takers_by_language.items():
        # System by system, so that each has about as many of each with everyone.
        for thread in sorted(threads_by_language[language], key=lambda thread: thread.system):
            name = min(
                takers, key=lambda taker: (loads[taker], randomness.derive_bytes_from_names("turn", language, taker))
            )
            dealt[name, language].append(thread)
            loads[name] += len(thread.answers)
    for threads_of_one in dealt.values():
        threads_of_one.sort(key=lambda thread: randomness.derive_bytes_from_names("move", *thread.answers))
    while any(
        _move_thread_if_it_levels_loads(dealt, loads, language, takers)
        for language, takers in takers_by_language.items()
    ):
        pass
    shares = {
        name: [
            *(thread for thread in shared if name in takers_by_language[thread.language]),
            *(thread for (taker, _), threads_of_one in dealt.items() if taker == name for thread in threads_of_one),
        ]
        for name in language_by_partner
    }
    if empty := next((name for name, theirs in shares.items() if not theirs), ""):
        raise UsageError(f"There is no answer for {empty}; name fewer partners, or another language for {empty}.")
    by_partner = {
        name: tuple(
            sorted(
                (answer for thread in theirs for answer in thread.answers),
                key=lambda answer, name=name: randomness.derive_bytes_from_names("order", name, answer),  # type: ignore[misc]
            )
        )
        for name, theirs in shares.items()
    }
    return Deal(by_partner, frozenset(answer for thread in shared for answer in thread.answers))


def _find_partners_taking_language_or_raise(
    language: str, threads: Sequence[AnswerThread], language_by_partner: Mapping[str, str]
) -> list[str]:
    """Return the partners who take a language; a UsageError if none does."""
    takers = [name for name, wanted in language_by_partner.items() if wanted in ("", language)]
    if not takers:
        count = sum(len(thread.answers) for thread in threads)
        spoken = language_name(language) if language else "an unknown language"
        raise UsageError(
            f"No partner scores the {format_count(count, 'answer')} in {spoken}; "
            f"name one with --languages NAME={language or 'CODE'}."
        )
    return takers


def _move_thread_if_it_levels_loads(
    threads_by_partner_and_language: dict[tuple[str, str], list[AnswerThread]],
    answer_counts: dict[str, int],
    language: str,
    takers: Sequence[str],
) -> bool:
    """Move a thread of this language to whoever has fewest answers, from whoever has most; False if that helps nobody.

    Partners who take several languages could not know, when the first was dealt, how much of the others they would get.
    """
    givers = [name for name in takers if threads_by_partner_and_language[name, language]]
    if not givers:
        return False
    giver, taker = max(givers, key=answer_counts.__getitem__), min(takers, key=answer_counts.__getitem__)
    size = len(threads_by_partner_and_language[giver, language][-1].answers)
    if answer_counts[giver] - answer_counts[taker] <= size:
        return False
    threads_by_partner_and_language[taker, language].append(threads_by_partner_and_language[giver, language].pop())
    answer_counts[giver] -= size
    answer_counts[taker] += size
    return True


def _shuffle_threads_alternating_systems(
    threads: Sequence[AnswerThread], randomness: KeyedRandomness
) -> list[AnswerThread]:
    """Put threads into a random order in which each system has its turn in every round."""
    rounds: Counter[str] = Counter()
    placed = []
    for thread in sorted(threads, key=lambda thread: randomness.derive_bytes_from_names("thread", *thread.answers)):
        placed.append(((rounds[thread.system], randomness.derive_bytes_from_names("turn", thread.system)), thread))
        rounds[thread.system] += 1
    return [thread for _, thread in sorted(placed, key=lambda place: place[0])]
