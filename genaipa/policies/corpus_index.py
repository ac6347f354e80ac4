"""The index of a corpus: what one reading of its file found, kept so that each slice of a study need not read it again.

It is a file in a folder of indices, one for each corpus and column of strata. One that is damaged, of another file or
of another genaipa is made anew without a word, and none is needed: where it can't be written, the corpus is read again.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

import msgspec

import genaipa
from genaipa.files.atomic import open_for_atomic_write
from genaipa.files.locks import hold_flock_on_folder
from genaipa.files.stamps import read_file_stamp
from genaipa.languages.catalog import LANGUAGES
from genaipa.policies.corpus import Corpus, CorpusRowFacts, read_and_check_corpus, sampling_keys_of_names
from genaipa.policies.corpus_file import make_corpus_file_reader

if TYPE_CHECKING:
    from pathlib import Path

INDICES = ".corpora"
"""The folder of indices, among the runs of a workspace."""
_ENDS = 1 << 16
"""Bytes at each end of a corpus that its index knows, beside its size and time."""
_SUM = 32


class _CorpusIndex(msgspec.Struct, array_like=True):
    """The content of an index: numbers of rows as bytes, and repeated words once."""

    key: str
    digest: str
    groups: tuple[str, ...]
    strata: list[str]
    kinds: set[str]
    numbers: int
    starts: bytes
    first: bytes
    stratum: bytes
    texts: bytes
    names: list[str]
    companies: list[str]
    head_kinds: list[str]
    languages: list[str]


def load_or_index_corpus(
    path: Path,
    index_folder: Path,
    *,
    seed: int,
    stratum_column: str,
    with_sample_order: bool,
    ignore_existing_index: bool = False,
    no_index_up_to_document_count: int = 0,
) -> Corpus:
    """Return a checked corpus with the facts about each document, by the index in a folder, which is made if missing.

    The errors of `read_and_check_corpus`. Without `with_sample_order`, it may have no order in which a sample takes
    documents. `ignore_existing_index` has the file read again whatever its index says. Of so few documents as are to
    stay `no_index_up_to_document_count`, no index is made.
    """
    make_corpus_file_reader(path)
    identity = hashlib.sha256(f"{path.resolve()}\0{stratum_column}".encode()).hexdigest()
    index_path = index_folder / f"{identity[:16]}.index"
    with contextlib.ExitStack() as locks:
        if not no_index_up_to_document_count:
            # Of many slices that begin at once, one reads the corpus and the others wait for it.
            with contextlib.suppress(OSError):
                index_folder.mkdir(parents=True, exist_ok=True)
                locks.enter_context(hold_flock_on_folder(index_folder))
        if not ignore_existing_index and (
            corpus := _load_indexed_corpus(
                index_path, path, seed=seed, stratum_column=stratum_column, with_sample_order=with_sample_order
            )
        ):
            return corpus
        key = _corpus_file_fingerprint(path)
        corpus = read_and_check_corpus(path, seed=seed, stratum_column=stratum_column, with_row_facts=True)
        if corpus.document_count > no_index_up_to_document_count:
            with contextlib.suppress(OSError):
                index_folder.mkdir(parents=True, exist_ok=True)
                _write_index_or_raise(index_path, key, corpus)
    return corpus


def find_indexed_corpus_digest(corpus_path: Path, index_folder: Path) -> str:
    """Return the SHA-256 of a corpus as an index of it in a folder knows it; empty where none does."""
    for index_path in sorted(index_folder.glob("*.index")):
        index = _read_index_if_valid(index_path)
        if index is not None and index.key == _corpus_file_fingerprint(corpus_path):
            return index.digest
    return ""


def _corpus_file_fingerprint(corpus_path: Path) -> str:
    """Return what an index is of: the file, as far as a look at it shows, and the rules by which it was read."""
    stat = corpus_path.stat()
    with corpus_path.open("rb") as file:
        ends = hashlib.sha256(file.read(_ENDS))
        file.seek(max(0, stat.st_size - _ENDS))
        ends.update(file.read(_ENDS))
    file_facts = (str(corpus_path.resolve()), stat.st_size, stat.st_mtime_ns, ends.hexdigest())
    return repr((*file_facts, genaipa.__version__, sorted(LANGUAGES)))


def _read_index_if_valid(index_path: Path) -> _CorpusIndex | None:
    try:
        content = index_path.read_bytes()
        if hashlib.sha256(content[_SUM:]).digest() != content[:_SUM]:
            return None
        return msgspec.msgpack.decode(content[_SUM:], type=_CorpusIndex)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _load_indexed_corpus(
    index_path: Path, corpus_path: Path, *, seed: int, stratum_column: str, with_sample_order: bool
) -> Corpus | None:
    """Return the corpus of an index; None where there is none, or it is not of this file."""
    import numpy as np

    index = _read_index_if_valid(index_path)
    if index is None or index.key != _corpus_file_fingerprint(corpus_path):
        return None
    heads = CorpusRowFacts(index.names, index.companies, index.head_kinds, index.languages, index.texts)
    return Corpus(
        path=corpus_path,
        file=make_corpus_file_reader(corpus_path),
        stamp=read_file_stamp(corpus_path),
        digest=index.digest,
        groups=index.groups,
        starts=np.frombuffer(index.starts, np.uint64),
        first=np.frombuffer(index.first, np.int64),
        rank=sampling_keys_of_names(index.names, seed) if with_sample_order else np.zeros(len(index.names), np.uint64),
        stratum=np.frombuffer(index.stratum, np.int32),
        strata=index.strata,
        by=stratum_column,
        kinds=index.kinds,
        numbers=index.numbers,
        heads=heads,
    )


def _write_index_or_raise(index_path: Path, corpus_fingerprint: str, corpus: Corpus) -> None:
    """Write the index of a corpus; an OSError where there is no room."""
    assert corpus.heads is not None, "they were noted"
    heads = corpus.heads
    index = _CorpusIndex(
        corpus_fingerprint,
        corpus.digest,
        corpus.groups,
        corpus.strata,
        corpus.kinds,
        corpus.numbers,
        corpus.starts.tobytes(),
        corpus.first.tobytes(),
        corpus.stratum.tobytes(),
        heads.texts,
        heads.names,
        heads.companies,
        heads.kinds,
        heads.languages,
    )
    content = msgspec.msgpack.encode(index)
    with open_for_atomic_write(index_path) as file:
        file.write(hashlib.sha256(content).digest() + content)
