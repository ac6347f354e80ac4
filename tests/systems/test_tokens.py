"""Counting tokens, with and without the vocabulary."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from genaipa.systems.costs import (
    make_counter_at_measured_rate,
    make_estimating_token_counter,
    make_tiktoken_counter_if_loadable,
)

ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@given(st.text(), st.text())
def test_estimate_grows_with_the_text(first: str, second: str) -> None:
    """No text counts more than its halves together, and none with something in it counts nothing."""
    count = make_estimating_token_counter().count
    assert count(first + second) <= count(first) + count(second)
    assert (count(first) > 0) == bool(first)


def test_estimate_says_that_it_is_one() -> None:
    """The label names the rate, for the user and the manifest."""
    counter = make_estimating_token_counter()
    assert (counter.label, counter.guess, counter.count("x" * 41)) == ("estimate: 4 characters per token", True, 11)


def test_measured_goes_by_the_systems_own_count() -> None:
    """On the text that was measured it gives the system's count; elsewhere it goes by that rate."""
    counter = make_counter_at_measured_rate(100, 250, "vllm's own count")
    assert counter.count("x" * 250) == 100
    assert counter.count("x" * 25) == 10
    assert counter.label == "vllm's own count, 2.50 characters per token in this document"


@pytest.mark.parametrize("offline", [True, False])
def test_without_the_vocabulary_there_is_no_counter(*, offline: bool) -> None:
    """Offline, or where it can't be fetched, the estimate has to take over; nothing is raised."""
    assert make_tiktoken_counter_if_loadable("gpt-4o", offline=offline) is None


def test_with_the_vocabulary_in_the_cache() -> None:
    """A vocabulary that can't be read is no reason to stop either."""
    folder = Path(os.environ["TIKTOKEN_CACHE_DIR"])
    folder.mkdir()
    name = hashlib.sha1(ADDRESS.format("o200k_base").encode(), usedforsecurity=False).hexdigest()
    (folder / name).write_bytes(b"\n".join(base64.b64encode(bytes([n])) + b" %d" % n for n in range(256)))
    assert make_tiktoken_counter_if_loadable("gpt-4o", offline=True) is None
