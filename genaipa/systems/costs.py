"""Cost of calls: tokens, counted exactly or estimated and labelled as that, and their price in US dollars.

Prices come from the user's catalog first, then from genai-prices.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import hashlib
import math
import os
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from genaipa.systems.base import Usage


BATCH_SHARE = 0.5
"""Part of its prices that each provider takes for batches."""


class Price(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Dollars per million tokens, as of an ISO date."""

    input: float
    output: float
    as_of: str
    cached: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True)
class Tariff:
    """Prices of one model's calls."""

    label: str
    """Source and date of the prices."""
    price: Price | None = None
    provider: str = ""
    model: str = ""
    share: float = 1.0
    """Part of these prices that is paid."""
    cached_share: float = 1.0
    """Part of the price of what came from a cache that is paid."""

    def to_batch_tariff(self, cached_price_share: float = BATCH_SHARE) -> Tariff:
        """Return the tariff of calls handed in as a batch.

        `cached_price_share` is paid of the price of what comes from a cache.
        """
        label = f"{self.label}, half price in batches"
        return dataclasses.replace(self, label=label, share=BATCH_SHARE, cached_share=cached_price_share)

    def cost(self, usage: Usage) -> float:
        """Return the dollars for one call, or for a sum of calls within the model's base tier."""
        cost = self.share * self._undiscounted_cost(usage)
        if usage.cached and self.cached_share != self.share:
            cost += (self.cached_share - self.share) * self._undiscounted_cost(
                type(usage)(input=usage.cached, cached=usage.cached)
            )
        return cost

    def _undiscounted_cost(self, usage: Usage) -> float:
        # Some servers count what came from the cache beside the input, not in it.
        usage = replace(usage, input=max(usage.input, usage.cached + usage.cache_write))
        price = self.price or _find_untiered_price(self.provider, self.model)
        if price is None:
            return _cost_by_price_tables(
                self.provider, self.model, usage.input, usage.cached, usage.cache_write, usage.output
            )
        cached = price.input if price.cached is None else price.cached
        written = price.input if price.cache_write is None else price.cache_write
        fresh = usage.input - usage.cached - usage.cache_write
        dollars = fresh * price.input + usage.cached * cached + usage.cache_write * written
        return (dollars + usage.output * price.output) / 1e6


def _cost_by_price_tables(
    provider: str,
    model: str,
    input_tokens: int = 0,
    cached_tokens: int = 0,
    cache_write_tokens: int = 0,
    output_tokens: int = 0,
) -> float:
    """Return the dollars by the tables of genai-prices."""
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    priced = Priced(
        input_tokens=input_tokens,
        cache_read_tokens=cached_tokens,
        cache_write_tokens=cache_write_tokens,
        output_tokens=output_tokens,
    )
    return float(calc_price(priced, model, provider_id=provider).total_price)


@cache
def _find_untiered_price(provider: str, model: str) -> Price | None:
    """Return a model's prices by these tables, which take half a millisecond for each call; None if they have tiers."""
    prices = []
    for size in (1_000, 100_000, 10_000_000):
        sizes = {
            "input": _cost_by_price_tables(provider, model, input_tokens=size),
            "output": _cost_by_price_tables(provider, model, output_tokens=size),
            "cached": _cost_by_price_tables(provider, model, input_tokens=size, cached_tokens=size),
            "cache_write": _cost_by_price_tables(provider, model, input_tokens=size, cache_write_tokens=size),
        }
        prices.append({name: round(cost / size * 1e6, 9) for name, cost in sizes.items()})
    return Price(**prices[0], as_of="") if prices[0] == prices[1] == prices[2] else None


FREE = Tariff(label="free", price=Price(input=0, output=0, as_of=""))


def tariff_from_price(price: Price) -> Tariff:
    """Return the tariff that a catalog entry sets."""
    return Tariff(label=f"catalog, {price.as_of}", price=price)


def find_tariff(provider: str, model: str) -> Tariff | None:
    """Return the tariff of a hosted model; None if its price is unknown."""
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    try:
        calc_price(Priced(input_tokens=1, output_tokens=1), model, provider_id=provider)
    except LookupError:
        return None
    today = dt.datetime.now(dt.UTC).date()
    return Tariff(label=f"genai-prices {version('genai-prices')}, for {today}", provider=provider, model=model)


def find_context_window_in_tokens(provider: str, model: str) -> int | None:
    """Return the context of a hosted model in tokens, from the price tables."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, model_info = get_snapshot().find_provider_model(model, None, provider, None)
    except LookupError:
        return None
    return model_info.context_window


CHARACTERS_PER_TOKEN = 4.0
"""Of English, conservatively: prose has 4 to 5 in the large providers' tokenizers."""
_VOCABULARY_TIMEOUT = 15.0
_VOCABULARIES = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@dataclass(frozen=True)
class TokenCounter:
    """Counts the tokens of a text. `label` names the method; a `guess` uses the length alone.

    `rate` is the characters of a token: of this document, where the system itself counted, else a usual one.
    """

    label: str
    count: Callable[[str], int]
    guess: bool = False
    rate: float = CHARACTERS_PER_TOKEN


def estimate_token_count(text: str) -> int:
    """Estimate the tokens of a text by its length in bytes: a Chinese character is nearly one, not a quarter.

    Tokenizers work on UTF-8, in which a letter of Latin script is a byte, of Cyrillic two, of Thai or Chinese three.
    """
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / CHARACTERS_PER_TOKEN)


def make_estimating_token_counter() -> TokenCounter:
    """Make a counter that goes by length alone."""
    return TokenCounter(f"estimate: {CHARACTERS_PER_TOKEN:g} characters per token", estimate_token_count, guess=True)


def make_counter_at_measured_rate(token_count: int, character_count: int, counted_by: str) -> TokenCounter:
    """Make a counter that goes by length, at the rate that the system itself measured on this document."""
    rate = character_count / max(1, token_count)
    label = f"{counted_by}, {rate:.2f} characters per token in this document"
    return TokenCounter(label, lambda text: math.ceil(len(text) / rate), rate=rate)


def make_tiktoken_counter_if_loadable(model: str, *, offline: bool) -> TokenCounter | None:
    """Make a counter with OpenAI's tokenizer; None without its package or vocabulary."""
    try:
        import tiktoken
        from tiktoken.model import encoding_name_for_model
    except ImportError:
        return None
    try:
        name = encoding_name_for_model(model)
    except KeyError:
        name = "o200k_base"
    if offline and not _is_tiktoken_vocabulary_cached(name):
        return None
    # tiktoken downloads without a time-out of its own; a daemon thread may be left behind, a join can't hang.
    loaded: list[tiktoken.Encoding] = []
    thread = threading.Thread(target=_append_tiktoken_encoding_if_loadable, args=(name, loaded), daemon=True)
    thread.start()
    thread.join(_VOCABULARY_TIMEOUT)
    if not loaded:
        return None
    encoding = loaded[0]
    return TokenCounter(f"tiktoken {name}", lambda text: len(encoding.encode_ordinary(text)))


def _append_tiktoken_encoding_if_loadable(encoding_name: str, encodings: list[object]) -> None:
    import tiktoken

    try:
        encodings.append(tiktoken.get_encoding(encoding_name))
    except Exception:  # noqa: BLE001 - offline, blocked, damaged: whatever it is, the estimate takes over
        return


def _is_tiktoken_vocabulary_cached(encoding_name: str) -> bool:
    """Tell whether tiktoken would find the vocabulary on disk (its own rule: SHA-1 of the address)."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    cache_folder = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    address = _VOCABULARIES.format(encoding_name)
    return (cache_folder / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).is_file()
