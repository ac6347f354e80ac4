"""One study, many houses: answers dealt to partners as blind packs, what comes back, and the study joined again."""

from __future__ import annotations

import contextlib
import json
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from stores import GOOD, POOR, kept, opened, score, undo

from benchmarks.made_partners import write_study
from genaipa.archive import unpack_to_score
from genaipa.errors import DataError, UsageError
from genaipa.workspace import find_workspace
from genaipa_partners.dealing import Draw, Thread, deal_threads
from genaipa_partners.joining import iterate_study_events, join_logs
from genaipa_partners.returning import (
    check_return_belongs,
    choose_longest_by_partner,
    find_pack_notes,
    read_returned_log,
    write_returned_log,
)
from genaipa_partners.split import load_split

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
    assert "belongs to another split" in refused.err
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
        (("--partners", "bbc", "--languages", "bbc=en"), "No partner scores the 9 answers in German"),
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


def store_of(folder: Path | str = "") -> str:
    """The address of the store in a folder."""
    return f"sqlite:///{Path(folder, 'scores.db')}"


def send(name: str, file: str, folder: str = "packs") -> Path:
    """What a partner hands back, as `genaipa study send` writes it."""
    path, home = Path(file), Path(folder, name)
    with opened(store_of(home)) as store, path.open("wb") as written:
        write_returned_log(written, store, find_pack_notes(find_workspace(home)))
    return path


@pytest.fixture
def returned(study: None, genaipa: Cli) -> dict[str, Path]:
    """The files of three partners who scored all that they have; the analyst is called Ada everywhere."""
    with opened(store_of()) as store:
        first = next(json.loads(line)["digest"] for line in Path("runs/run-1/answers.jsonl").read_text().splitlines())
        store.append([score("reference", first, note="Aardvark is right.")])
    record = split(genaipa, *OPTIONS)
    files = {}
    for turn, share in enumerate(record["partners"]):
        folder = unpack_to_score(Path(f"packs/{share['name']}.zip"))
        with opened(store_of(folder)) as store:
            events = [score("Ada", answer, GOOD if turn else POOR) for answer in share["answers"]]
            store.append([*events, undo(events[-1])])
        files[share["name"]] = send(share["name"], f"{share['name']}.scores.jsonl")
    return files


def test_partners_scores_join_in_any_order(returned: dict[str, Path], genaipa: Cli) -> None:
    """The same bytes come out; joined again, nothing is new; each original answer has the score of its blind text."""
    exports = []
    for order in (("ard", "bbc", "rai"), ("rai", "bbc", "ard")):
        home = f"order-{order[0]}"
        shutil.copytree(".", home, ignore=shutil.ignore_patterns("packs", "order-*"))
        done(genaipa("study", "join", *(returned[name] for name in order), "--workspace", home))
        again = json.loads(done(genaipa("study", "join", ".", "--workspace", home, "--json")))
        assert [one["added"] for one in again["partners"]] == [0, 0, 0]
        done(genaipa("scores", "export", "-o", f"{home}.jsonl", "--workspace", home))
        exports.append(Path(f"{home}.jsonl").read_bytes())
    assert exports[0] == exports[1]
    events = [json.loads(line) for line in exports[0].splitlines()]
    assert {event["analyst"] for event in events} == {"reference", "Ada (bbc)", "Ada (rai)", "Ada (ard)"}
    split_answers = sum(
        len(originals) for share in load_split(find_workspace()).partners for originals in share.answers.values()
    )
    assert sum(event["kind"] == "score" for event in events) == 1 + split_answers
    rows = json.loads(done(genaipa("study", "status", "--json", ".")))["partners"]
    assert [(row["scored"], row["answers"]) for row in rows] == [(row["answers"] - 1, row["answers"]) for row in rows]
    assert "aardvark" not in returned["bbc"].read_text().casefold(), "the reference analyst's note names no system"


def test_what_was_altered_cut_or_mixed_is_named(returned: dict[str, Path]) -> None:
    """With the first event that is not as it was written; a study's own files alone are joined."""
    made = load_split(find_workspace())
    lines = returned["bbc"].read_text().splitlines()
    theirs = returned["rai"].read_text().splitlines()
    altered = [line.replace('"accuracy":-1.0', '"accuracy":1.0') if n == 5 else line for n, line in enumerate(lines)]
    assert altered != lines
    head = json.loads(lines[0])
    for content, words in (
        (altered, r"event 5 \(.*was changed after bbc wrote it"),
        ([*lines[:7], *lines[8:]], r"event 7 \("),
        (lines[:7], "has 6 of the"),
        ([*lines[:4], theirs[4], *lines[5:]], r"event 4 \("),
        ([lines[0], *theirs[1:]], "events that its first line announces|is not the last event"),
        (["{}", *lines[1:]], "was not written by genaipa study send"),
        ([json.dumps(head | {"format": 9}), *lines[1:]], "written by a newer version of genaipa"),
        ([json.dumps(head | {"study": "other"}), *lines[1:]], "belongs to another study"),
        ([json.dumps(head | {"partner": "rai"}), *lines[1:]], "were in the pack of rai|not in the pack of rai"),
        ([*lines[:-1], lines[-1][:-9]], r"can't be read.*ask bbc for the file again"),
    ):
        path = Path("wrong.scores.jsonl")
        path.write_text("\n".join(content) + "\n")
        with pytest.raises(DataError, match=words):
            check_return_belongs(read_returned_log(path), made)


def test_a_later_file_goes_on_from_an_earlier_one(returned: dict[str, Path]) -> None:
    """Of two files of one partner the longer counts; where they differ, nothing is joined and the event is named."""
    earlier, made = read_returned_log(returned["bbc"]), load_split(find_workspace())
    single = next(digest for digest, originals in made.partners[0].answers.items() if len(originals) == 1)
    shutil.copytree("packs", "twin")
    with opened(store_of("packs/bbc")) as store:
        store.append([score("Bo", single)])
    with opened(store_of("twin/bbc")) as store:
        store.append([score("Cem", single), score("Dee", single)])
    later, other = (read_returned_log(send("bbc", f"{folder}.jsonl", folder)) for folder in ("packs", "twin"))
    assert choose_longest_by_partner([later, earlier]) == {"bbc": later}
    with pytest.raises(DataError, match=r"event \d+ .*differs from the one in packs.jsonl"):
        choose_longest_by_partner([earlier, other, later])
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(opened(store_of()))
        whole = len([*iterate_study_events(earlier, made.partners[0])])
        for log, added in ((earlier, whole), (later, 1), (earlier, 0)):
            (joined,) = join_logs(store, made, [log]).partners
            assert joined.added == added
        before = kept(store)
        with pytest.raises(DataError, match="from the one that was joined before"):
            join_logs(store, made, [other])
        assert kept(store) == before
