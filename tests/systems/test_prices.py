"""What calls cost: the user's own prices, then the price tables."""

from __future__ import annotations

import pytest

from genaipa.systems.base import Usage
from genaipa.systems.catalog import CatalogEntry, ResolvedSystem
from genaipa.systems.costs import FREE, Price, Tariff, find_context_window_in_tokens, find_tariff

USAGE = Usage(input=1_000_000, cached=400_000, cache_write=100_000, output=500_000)


def test_own_price() -> None:
    """Fresh, cached and written input and output each have their price per million tokens."""
    price = Price(input=2.0, cached=0.5, cache_write=2.5, output=8.0, as_of="2026-11-21")
    assert Tariff("own", price).cost(USAGE) == pytest.approx(0.5 * 2.0 + 0.4 * 0.5 + 0.1 * 2.5 + 0.5 * 8.0)


def test_own_price_without_a_cache() -> None:
    """Where no price is set for the cache, its tokens cost what fresh ones do."""
    assert Tariff("own", Price(input=2.0, output=8.0, as_of="")).cost(USAGE) == pytest.approx(2.0 + 4.0)


def test_price_tables() -> None:
    """A known model has a price that falls when the cache is used; the label says where from."""
    tariff = find_tariff("openai", "gpt-4o")
    assert tariff is not None
    assert tariff.label.startswith("genai-prices ")
    assert tariff.cost(Usage(input=1_000_000)) == pytest.approx(2.5)
    assert tariff.cost(Usage(input=1_000_000, cached=1_000_000)) == pytest.approx(1.25)
    assert tariff.cost(Usage(output=1_000_000)) == pytest.approx(10.0)


def test_own_price_wins() -> None:
    """The user's catalog is believed over the tables."""
    entry = CatalogEntry(system="openai/gpt-4o", price=Price(input=1.0, output=1.0, as_of="2026-01-02"))
    tariff = ResolvedSystem("mine", "openai/gpt-4o", "openai", "gpt-4o", entry).tariff
    assert tariff is not None
    assert tariff.label == "catalog, 2026-01-02"
    assert tariff.cost(Usage(input=1_000_000)) == 1.0


@pytest.mark.parametrize(("provider", "model"), [("openai", "no-such-model-x"), ("openai-api", "m"), ("loop", "m")])
def test_unknown_price(provider: str, model: str) -> None:
    """No price is made up."""
    assert find_tariff(provider, model) is None
    assert find_context_window_in_tokens(provider, model) is None


def test_known_context() -> None:
    """The tables know how much fits in a request."""
    assert find_context_window_in_tokens("openai", "gpt-4o") == 128_000


def test_free() -> None:
    """What runs here costs nothing."""
    assert FREE.cost(USAGE) == 0
