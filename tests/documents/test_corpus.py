"""A corpus: many documents in one file, checked as a whole, read in a stream, sampled and measured."""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.made_up import write_policies
from genaipa.errors import DataError, MissingPackageError, UsageError
from genaipa.policies.corpus import (
    CorpusRowFacts,
    encode_corpus_line,
    read_and_check_corpus,
    read_unchecked_corpus_documents,
)
from genaipa.policies.statistics import measure_distributions_by_group, measure_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commandline import Finished


def lines(path: Path, *rows: object) -> Path:
    """Write rows as JSON lines; text is a line as it is."""
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def row(name: str, **cells: Any) -> dict[str, Any]:
    """A row that can be used."""
    return {"name": name, "company": name.title(), "text": f"{name} keeps nothing.", **cells}


def test_every_problem_is_listed(tmp_path: Path) -> None:
    """Broken rows, missing columns, taken and unusable names, empty texts: all at once, each with its lines."""
    path = lines(
        tmp_path / "c.jsonl",
        {"name": "a", "company": "A"},
        row("a b"),
        "",
        row("x"),
        {"name": "x", "company": "", "text": " \n"},
        "{bad",
        row("y", tags=[1]),
        "[1]",
        row("z", kind="poem", text="\0"),
        row("z\ud800") | {"company": "A\nB"},
    )
    with pytest.raises(DataError) as refused:
        read_and_check_corpus(path)
    told = str(refused.value).splitlines()
    assert told[0] == f"{path}: can't be used until these problems are corrected:"
    wanted = (
        "line 1: the column 'text' is missing",
        "line 2 ('a b'): the name is not valid",
        "line 5: the company is empty",
        "line 5: the text is empty",
        "line 5 (by line 4): another document has this name",
        "not a JSON object",
        "line 7 (list): the column 'tags' does not contain text",
        "line 9: the text is binary",
        "line 9: the kind is neither 'policy' nor 'regulation'",
    )
    for said in wanted:
        assert any(said in one for one in told), said
    places = next(one for one in told if "not a JSON object" in one)
    assert all(place in places for place in ("6 (", "8,", "10 (")), places


def test_many_problems_of_a_kind_are_counted(tmp_path: Path) -> None:
    """A column that every row lacks is one sentence, not a million."""
    path = lines(tmp_path / "c.jsonl", *({"name": f"n{n}", "text": "t"} for n in range(2500)))
    with pytest.raises(
        DataError, match=r"lines 1, 2, .* 20 and 2,480 more: the column 'company' is missing"
    ) as refused:
        read_and_check_corpus(path)
    assert len(str(refused.value).splitlines()) == 2


def test_wrong_files(tmp_path: Path) -> None:
    """A folder, another ending, a file that is no Parquet, an empty file, an unknown column: a sentence each."""
    (tmp_path / "c.csv").write_text("name\n")
    (tmp_path / "c.parquet").write_text("no")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(DataError, match="is not a file"):
        read_and_check_corpus(tmp_path)
    with pytest.raises(DataError, match=r"a corpus is a \.jsonl"):
        read_and_check_corpus(tmp_path / "c.csv")
    with pytest.raises(DataError, match="can't be read as Parquet"):
        read_and_check_corpus(tmp_path / "c.parquet")
    with pytest.raises(DataError, match="contains no documents"):
        read_and_check_corpus(tmp_path / "empty.jsonl")
    with pytest.raises(UsageError, match="no column 'sectr': did you mean 'sector'"):
        read_and_check_corpus(lines(tmp_path / "c.jsonl", row("a", sector="shop")), stratum_column="sectr")


_UNICODE = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
_TEXTS = st.text(_UNICODE, min_size=1, max_size=20).filter(str.strip)
_NAMES = st.text("abc ÄÖ-", min_size=1, max_size=5).filter(str.strip)


@given(st.lists(st.tuples(_NAMES, _TEXTS, st.none() | _NAMES), min_size=1, max_size=8))
def test_lines_and_parquet_are_the_same_corpus(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str, str | None]]
) -> None:
    """The same rows as JSON lines and as Parquet, dates as dates, are the same documents, also written again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path_factory.mktemp("corpus")
    table = [
        {"name": f"n{n}", "company": company, "text": text, "date": dt.date(2020, 1, 1 + n), "size": n, "land": land}
        for n, (company, text, land) in enumerate(cells)
    ]
    pq.write_table(pa.Table.from_pylist(table), folder / "c.parquet")
    found = list(read_unchecked_corpus_documents(folder / "c.parquet"))
    lines(folder / "c.jsonl", *({**one, "date": str(one["date"])} for one in table))
    assert list(read_unchecked_corpus_documents(folder / "c.jsonl")) == found
    (folder / "again.jsonl").write_bytes(b"".join(map(encode_corpus_line, found)))
    assert list(read_unchecked_corpus_documents(folder / "again.jsonl")) == found
    one, other = (
        read_and_check_corpus(folder / "c.parquet", stratum_column="land"),
        read_and_check_corpus(folder / "c.jsonl", stratum_column="land"),
    )
    assert one.first.tolist() == other.first.tolist()
    assert one.strata == other.strata
    assert list(one.read_documents(one.select_distinct_or_sampled_rows())) == list(
        other.read_documents(other.select_distinct_or_sampled_rows())
    )
    assert found[0].about.groups == {"size": "0", "land": cells[0][2] or ""}


def test_parquet_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow, a Parquet file names the package and the extra that brings it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    with pytest.raises(MissingPackageError, match=re.escape("'pyarrow': pip install 'genaipa[reports]'")):
        read_and_check_corpus(tmp_path / "c.parquet")


def test_equal_texts_are_asked_once(tmp_path: Path) -> None:
    """A text about the same company is asked about once, and says whose it is too; another company's is its own."""
    path = lines(
        tmp_path / "c.jsonl",
        row("a", text="T", company="A"),
        row("b", text="T", company="B"),
        row("a-2020", text="T", company="A"),
        row("c"),
        row("a-2021", text="T", company="A"),
    )
    corpus = read_and_check_corpus(path)
    assert (corpus.document_count, corpus.distinct_text_count) == (5, 3)
    found = list(corpus.read_documents(corpus.select_distinct_or_sampled_rows()))
    assert [(one.name, one.about.also) for one in found] == [("a", ("a-2020", "a-2021")), ("b", ()), ("c", ())]


@pytest.mark.parametrize(
    "changed", [[row("w"), row("x"), row("y")], [row("x"), {"name": "y"}], [row("x"), "{"], [row("x"), row("y"), ""]]
)
def test_a_file_that_changes_while_it_is_read(tmp_path: Path, changed: list[object]) -> None:
    """What was checked is what is taken, or nothing is."""
    corpus = read_and_check_corpus(lines(tmp_path / "c.jsonl", row("x"), row("y")))
    assert len(list(corpus.read_documents([0, 1]))) == 2
    lines(corpus.path, *changed)
    with pytest.raises(DataError, match="changed while it was being read; run the command again"):
        list(corpus.read_documents([0, 1]))


def test_a_sample_has_its_share_of_each_stratum(tmp_path: Path) -> None:
    """Shares by largest remainders; the same whatever the order of the file, another with another seed."""
    rows = [row(f"n{n}", sector="shop" if n % 4 else "bank") for n in range(200)]
    path, turned = lines(tmp_path / "c.jsonl", *rows), lines(tmp_path / "d.jsonl", *reversed(rows))
    corpus = read_and_check_corpus(path, seed=3, stratum_column="sector")
    drawn = [one.name for one in corpus.read_documents(corpus.select_distinct_or_sampled_rows(21))]
    sectors = [one.about.groups["sector"] for one in corpus.read_documents(corpus.select_distinct_or_sampled_rows(21))]
    assert (sectors.count("shop"), sectors.count("bank")) == (16, 5)
    other = read_and_check_corpus(turned, seed=3, stratum_column="sector")
    assert {one.name for one in other.read_documents(other.select_distinct_or_sampled_rows(21))} == set(drawn)
    another = read_and_check_corpus(path, seed=4, stratum_column="sector")
    assert {one.name for one in another.read_documents(another.select_distinct_or_sampled_rows(21))} != set(drawn)
    assert len(corpus.select_distinct_or_sampled_rows(200)) == len(corpus.select_distinct_or_sampled_rows()) == 200


def test_groups_that_are_missing_are_told(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """Documents without a group, and with a number among texts, are counted in a sentence; uniform columns are not."""
    given = ({}, {"sector": None}, {"sector": "shop"}, {"sector": 7}, {"sector": "bank"}, {"sector": True})
    path = lines(tmp_path / "c.jsonl", *(row(f"n{n}", year=2020, **one) for n, one in enumerate(given)))
    told = genaipa("policies", "stats", "--documents", path, "--by", "sector")
    assert "2 of 6 documents have no sector; they form the group (none)." in told.err
    assert "2 of 6 documents have a number or a boolean as the sector, and others have text" in " ".join(
        told.err.split()
    )
    for plain in ("year", "kind"):
        assert genaipa("policies", "stats", "--documents", path, "--by", plain).err == ""
    sampled = ("--limit-documents", "3", "--stratify", "sector")
    done = genaipa("run", "-s", "extractive", "--documents", path, *sampled, "-e", "quality", "--limit", "1")
    assert (done.code, "2 of 6 documents have no sector" in done.err) == (0, True), done.err


def test_a_corpus_is_read_in_a_stream(tmp_path: Path) -> None:
    """Checking and drawing from a corpus takes a fifth of its size in memory."""
    path = tmp_path / "c.jsonl"
    write_policies(path, 1000)
    read_and_check_corpus(path)
    tracemalloc.start()
    corpus = read_and_check_corpus(path, stratum_column="sector")
    assert sum(1 for _ in corpus.read_documents(corpus.select_distinct_or_sampled_rows(700))) == 700
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < path.stat().st_size / 5


def test_statistics_are_distributions(tmp_path: Path, genaipa: Callable[..., Finished]) -> None:
    """Each measure's median, quartiles and range by group are those of the documents' own statistics."""
    path = tmp_path / "c.jsonl"
    write_policies(path, 40)
    told = json.loads(genaipa("policies", "stats", "--documents", path, "--by", "sector", "--json").out)
    every = list(read_unchecked_corpus_documents(path))
    shops = np.array([measure_document(one) for one in every if one.about.groups["sector"] == "shop"])
    rows = {one["measure"]: one for one in told["rows"] if one["sector"] == "shop"}
    assert rows["words"]["documents"] == len(shops)
    assert rows["words"]["median"] == np.median(shops[:, 0])
    assert rows["grade"]["upper"] == round(float(np.quantile(shops[:, 4], 0.75)), 2)
    assert (told["documents"], told["texts"]) == (40, 38)
    assert sum(group.documents for group in measure_distributions_by_group(every, "country")) == 40
    shown = genaipa("policies", "stats", "--documents", path)
    assert shown.code == 0
    assert "40 documents, 2 of which have the same text as another document of the company." in shown.out
    refused = genaipa("policies", "stats", "brindlecart", "--by", "sector")
    assert (refused.code, refused.err) == (2, "genaipa: --by is for a corpus; give one with --documents.\n")


def test_a_head_without_its_text_tells_the_language_that_the_text_seems_to_be_in() -> None:
    """Nobody has rules for it, and it was found in the text, which a head has not."""
    heads = CorpusRowFacts(["acme", "lojas"], ["Acme", "Lojas"], ["policy"] * 2, ["en", "~pt"], b"")
    known, unknown = heads.make_textless_document(0), heads.make_textless_document(1)
    assert (known.language, known.likely_unsupported_language_code) == ("en", "")
    assert (unknown.language, unknown.likely_unsupported_language_code) == ("", "pt")
