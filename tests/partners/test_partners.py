"""One study, many houses: answers dealt to partners as blind packs, what comes back, and the study joined again."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks.made_partners import write_study
from genaipa.archive import unpack_to_score
from genaipa.errors import UsageError
from genaipa_partners.dealing import Draw, Thread, deal_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

SYSTEMS = ("openai-api/loop/aardvark", "openai-api/loop/badger")
DOCUMENTS = {"alpha": "en", "beta": "en", "gamma": "de"}


def reply(system: str, document: str, question: str) -> str:
    """What a system says, by its name; of Q1 all say the same but for that."""
    name = system.rpartition("/")[2]
    return f"I am {name}." if question == "Q1" else f"{name.title()} says {len(system)} on {question} of {document}."


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


@pytest.fixture
def study() -> None:
    """The working folder as the coordinator's workspace."""
    write_study(Path(), SYSTEMS, DOCUMENTS, 5, reply)


def split(genaipa: Cli, *options: str, folder: str = "packs") -> dict[str, object]:
    """Split the study; its record."""
    done(genaipa("study", "split", "run-1,run-2", "-o", folder, *options))
    record: dict[str, object] = json.loads(Path("study-split.json").read_text())
    return record


OPTIONS = ("--partners", "bbc,rai,ard", "--languages", "bbc=en,rai=en,ard=de", "--shared", "20%")


@pytest.mark.usefixtures("study")
def test_a_split_is_blind_whole_and_drawn_once(genaipa: Cli) -> None:
    """Each answer has one partner, or all of its language; no pack tells a system, and the seed decides the bytes."""
    record = split(genaipa, *OPTIONS)
    shares = {share["name"]: share for share in record["partners"]}
    shared = set(record["shared"])
    en, more, de = (set(shares[name]["answers"]) for name in ("bbc", "rai", "ard"))
    assert en & more == shared & en, "what two partners have is the shared part"
    # 5 questions on 2 documents by 2 systems, of which Q1 reads alike once the names are masked.
    assert len(en | more) == 18
    assert len(de) == 9
    assert len(shared & en) == 4
    assert sorted(map(len, shares["ard"]["answers"].values())) == [1] * 8 + [2]
    assert abs(len(en) - len(more)) <= 1
    assert set(shares["bbc"]["systems"]).isdisjoint(shares["rai"]["systems"])
    assert set(shares["bbc"]["systems"].values()) == set(SYSTEMS)
    contents = {}
    for name in shares:
        with zipfile.ZipFile(f"packs/{name}.zip") as archive:
            text = "\n".join(archive.read(member).decode() for member in archive.namelist()).casefold()
        contents[name] = Path(f"packs/{name}.zip").read_bytes()
        for word in ("aardvark", "badger", "openai", "run-1", "stop", "0.01", "2026-11-02"):
            assert word not in text, f"{word} is in the pack of {name}"
    split(genaipa, *OPTIONS, folder="again")
    assert all(Path(f"again/{name}.zip").read_bytes() == content for name, content in contents.items())
    refused = genaipa("study", "split", "run-1,run-2", "-o", "packs", *OPTIONS, "--seed", "2")
    assert "is of another split" in refused.err
    assert Path("packs/bbc.zip").read_bytes() == contents["bbc"], "nothing is written"


@pytest.mark.usefixtures("study")
def test_a_pack_is_unpacked_once(genaipa: Cli) -> None:
    """A pack becomes a workspace of its answers beside itself; another one is not mixed into it."""
    split(genaipa, *OPTIONS)
    folder = unpack_to_score(Path("packs/ard.zip"))
    assert "9 answers to score" in done(genaipa("scores", "sheet", "latest", "-o", "a.xlsx", "--workspace", folder))
    (folder / "scores.db").rename(folder / "kept.db")
    assert unpack_to_score(Path("packs/ard.zip")) == folder
    assert not (folder / "scores.db").exists(), "it is not unpacked again"
    Path("packs/rai.zip").replace("packs/ard.zip")
    with pytest.raises(UsageError, match="unpacked from another pack"):
        unpack_to_score(Path("packs/ard.zip"))


@pytest.mark.usefixtures("study")
def test_a_split_that_can_not_be_is_refused_in_a_sentence(genaipa: Cli) -> None:
    """Nothing is written for it."""
    for options, words in (
        (("--partners", "bbc,BBC"), "named twice"),
        (("--partners", "../bbc"), "can't be a partner's name"),
        (("--partners", "bbc", "--languages", "bbc=en"), "No partner takes the 9 answers in German"),
        (("--partners", "bbc", "--languages", "rai=en"), "write NAME=CODE"),
        (("--partners", "bbc", "--shared", "-3%"), "from 0% to 100%"),
        (("--partners", ",".join(f"p{number}" for number in range(40)), "--shared", "0%"), "There is no answer for"),
    ):
        refused = genaipa("study", "split", "run-1,run-2", "-o", "packs", *options)
        assert refused.code == 2
        assert words in refused.err, refused.err
        assert not Path("study-split.json").exists()


def test_a_partner_who_takes_any_language_evens_out_the_others() -> None:
    """Everything is dealt, to whoever has least; the shared part is as large as was asked, of each language."""
    threads = [
        Thread((f"{language}{number}",), f"s{number % 3}", language)
        for language, size in (("en", 60), ("de", 30))
        for number in range(size)
    ]
    deal = deal_threads(threads, {"bbc": "en", "ard": "de", "rai": ""}, 0.1, Draw(b"k"))
    assert len(deal.shared) == 9
    assert len(deal.by_partner["ard"]) == 30, "all there is of its language"
    assert sorted(map(len, deal.by_partner.values())) == [30, 34, 35]
