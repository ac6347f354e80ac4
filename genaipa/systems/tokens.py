"""Token counters: exact where possible, else an estimate labelled as one."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

CHARACTERS_PER_TOKEN = 4.0
"""Conservative: English prose has 4 to 5 in the large providers' tokenizers."""
_VOCABULARY_TIMEOUT = 15.0
_VOCABULARIES = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"


@dataclass(frozen=True)
class Counter:
    """Counts the tokens of a text. `label` names the method; a `guess` uses the length alone.

    `rate` is the characters of a token: of this document, where the system itself counted, else a usual one.
    """

    label: str
    count: Callable[[str], int]
    guess: bool = False
    rate: float = CHARACTERS_PER_TOKEN


def estimated() -> Counter:
    """Counter by length alone."""
    label = f"estimate: {CHARACTERS_PER_TOKEN:g} characters a token"
    return Counter(label, lambda text: math.ceil(len(text) / CHARACTERS_PER_TOKEN), guess=True)


def measured(tokens: int, characters: int, by: str) -> Counter:
    """Counter by length, at the rate that the system itself measured on this document."""
    rate = characters / max(1, tokens)
    label = f"{by}, {rate:.2f} characters a token on this document"
    return Counter(label, lambda text: math.ceil(len(text) / rate), rate=rate)


def tiktoken_counter(model: str, *, offline: bool) -> Counter | None:
    """Counter with OpenAI's tokenizer; None without its package or vocabulary."""
    try:
        import tiktoken
        from tiktoken.model import encoding_name_for_model
    except ImportError:
        return None
    try:
        name = encoding_name_for_model(model)
    except KeyError:
        name = "o200k_base"
    if offline and not _vocabulary_is_cached(name):
        return None
    # tiktoken downloads without a time-out of its own; a daemon thread may be left behind, a join can't hang.
    loaded: list[tiktoken.Encoding] = []
    thread = threading.Thread(target=_load, args=(name, loaded), daemon=True)
    thread.start()
    thread.join(_VOCABULARY_TIMEOUT)
    if not loaded:
        return None
    encoding = loaded[0]
    return Counter(f"tiktoken {name}", lambda text: len(encoding.encode_ordinary(text)))


def _load(name: str, into: list[object]) -> None:
    import tiktoken

    try:
        into.append(tiktoken.get_encoding(name))
    except Exception:  # noqa: BLE001 - offline, blocked, damaged: whatever it is, the estimate takes over
        return


def _vocabulary_is_cached(name: str) -> bool:
    """Whether tiktoken would find the vocabulary on disk (its own rule: SHA-1 of the address)."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    here = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    address = _VOCABULARIES.format(name)
    return (here / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()).is_file()
