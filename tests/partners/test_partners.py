"""One study, many houses: answers dealt to partners as blind packs, what comes back, and the study joined again."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from analysts import make_answers
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, kept, opened, score, undo

from benchmarks.made_partners import write_study
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.archive.study_pack import unpack_for_scoring_unless_done
from genaipa.errors import DataError, UsageError
from genaipa.questions.annotations import AnnotatedAnswer, Annotations
from genaipa.questions.sets import Question, QuestionSet
from genaipa.reports.chapters.overall import leaderboard_table
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.notable import urgent_sentences
from genaipa.reports.table import Table
from genaipa.runs.authors import Authorship, append_authorship
from genaipa.runs.exclusions import Exclusion, format_exclusions_csv
from genaipa.runs.records import DocumentFacts
from genaipa.runs.selection import list_run_folders_oldest_first, select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.people import load_desk_people_and_plan
from genaipa.scoring.rubric import shipped_rubric
from genaipa.workspace import find_workspace
from genaipa_partners.chapter import (
    PartnersChapter,
    average_scores_given_by_partners,
    rank_systems_without_partner_severity,
)
from genaipa_partners.data_sheet import describe_partners_for_data_sheet
from genaipa_partners.dealing import AnswerThread, KeyedRandomness, deal_threads
from genaipa_partners.joining import iterate_file_places_and_study_events, join_returned_logs_all_or_none
from genaipa_partners.layout import RunLayout
from genaipa_partners.returning import (
    choose_longest_log_by_partner,
    find_pack_notes_or_raise,
    find_pack_share_of_return_or_raise,
    read_returned_log,
    write_returned_log,
)
from genaipa_partners.severity import (
    average_without_partner_severity,
    fit_partner_severities,
    measure_partner_severities,
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
    printed = done(genaipa("study", "split", "run-1,run-2", "-o", "again", *OPTIONS))
    assert "Nobody else scores the answers of ard, so nothing tells how harsh ard is." in printed
    assert all(Path(f"again/{name}.zip").read_bytes() == content for name, content in contents.items())
    refused = genaipa("study", "split", "run-1,run-2", "-o", "packs", *OPTIONS, "--seed", "2")
    assert "belongs to another split" in refused.err
    assert Path("packs/bbc.zip").read_bytes() == contents["bbc"], "nothing is written"


@pytest.mark.usefixtures("study")
def test_a_pack_is_unpacked_once(genaipa: Cli) -> None:
    """A pack becomes a workspace of its answers beside itself; another one is not mixed into it."""
    split(genaipa, *OPTIONS)
    folder = unpack_for_scoring_unless_done(Path("packs/ard.zip"))
    assert "9 answers to score" in done(genaipa("scores", "sheet", "latest", "-o", "a.xlsx", "--workspace", folder))
    (folder / "scores.db").rename(folder / "kept.db")
    assert unpack_for_scoring_unless_done(Path("packs/ard.zip")) == folder
    assert not (folder / "scores.db").exists(), "it is not unpacked again"
    Path("packs/rai.zip").replace("packs/ard.zip")
    with pytest.raises(UsageError, match="unpacked from another pack"):
        unpack_for_scoring_unless_done(Path("packs/ard.zip"))
    unpacked = done(genaipa("unpack", "packs/bbc.zip", "there"))
    assert "To score it: genaipa score --workspace there\nThen: genaipa study send there\n" in unpacked
    # Who scores it may be one person: the second scores that a desk wants by itself are nobody's there.
    for plan, scores_of_each in (("plan: {}", 1), ("plan: {per_answer: 2}", 2)):
        write("desk.yaml", plan)
        split(genaipa, *OPTIONS, "--force", folder=f"packs-{scores_of_each}")
        home = find_workspace(unpack_for_scoring_unless_done(Path(f"packs-{scores_of_each}/bbc.zip")))
        assert load_desk_people_and_plan(home).plan.per_answer == scores_of_each
    assert "leave the other names out" in genaipa("score", "packs/bbc.zip", "run-1").err
    assert "is not a partner's pack" in genaipa("study", "send").err


ANNOTATED = """
  Q1: {silent: no, answer: Yes., sections: ["1"]}
  Q2: {silent: yes, answer: It does not say.}
"""


def test_a_partner_sees_what_the_coordinator_would(genaipa: Cli) -> None:
    """Question, reply, annotated answer and what is known against it; a follow-up comes with the answer before it."""
    folder = make_answers("Scripted says section 1.", "", annotations=ANNOTATED, follow_up="Are you sure?")
    write("policies/acme.yaml", "company: ACME\n")
    doubt = Exclusion("annotation", "acme|Q2", "wrong", "It does say.")
    (folder.path / "exclusions.csv").write_bytes(format_exclusions_csv([doubt]))
    refused = genaipa("study", "split", "latest", "-o", "packs", "--partners", "bbc")
    assert re.search(r"acme in \S+ has no license stated: if the partners may have it", refused.err)
    done(genaipa("study", "split", "latest", "-o", "packs", "--partners", "bbc", "--with-texts", "--shared", "0%"))
    (share,) = load_split(find_workspace()).partners
    homes = find_workspace(), find_workspace(unpack_for_scoring_unless_done(Path("packs/bbc.zip")))
    ours, theirs = (AnswerPool(home, list_run_folders_oldest_first(home)) for home in homes)
    assert not theirs.problems
    assert len(theirs.answers) == len(ours.answers) == 4
    for digest, (original,) in share.answers.items():
        there, here = theirs.load_case(digest), ours.load_case(original)
        assert there.mask_names_in_reply() == there.reply == here.mask_names_in_reply()
        for name in ("asked", "original", "annotated", "summarised", "questions", "wordings", "earlier"):
            assert getattr(there, name) == getattr(here, name), name
        assert bool(there.doubt) == bool(here.doubt)
        assert here.doubt in there.doubt
    assert done(genaipa("validate", "--data", "--workspace", homes[1].home))


def test_no_run_of_a_pack_is_of_some_systems_alone(genaipa: Cli) -> None:
    """Copies of one question set that differ in what one run alone asked make one run, without what some alone have."""
    make_workspace(questions=2)
    write("say.yaml", "default: See section 2.\n")
    carry_out(spec(systems=("rag/extractive",), follow_up="Are you sure?"))
    written, _ = carry_out(spec(systems=("scripted/say.yaml",)))
    own = [record.digest for record in answers(written)]
    asyncio.run(append_authorship(written, Authorship("key", own[0], "Bo Li", "")))
    split_here = (
        "study",
        "split",
        "rag/extractive,scripted/say.yaml",
        "-o",
        "packs",
        "--partners",
        "bbc",
        "--shared",
        "0%",
    )
    warned = done(genaipa(*split_here, "--with-texts"))
    assert "Annotated answers are known for 0 of 1 document" in warned
    assert "genaipa policies annotate acme" in warned
    # What was annotated after the runs is in no run, and yet what the desk here shows.
    write("annotations/acme.yaml", f"document: acme\nquestions: policy\nannotators: [one]\nanswers:\n{ANNOTATED}")
    assert "Annotated answers" not in done(genaipa(*split_here, "--with-texts"))
    home = find_workspace(unpack_for_scoring_unless_done(Path("packs/bbc.zip")))
    (run,) = list_run_folders_oldest_first(home)
    marks = json.loads((run.path / "author-marks.json").read_bytes())["marks"]
    assert {digest: len(found) for digest, found in marks.items()} == dict.fromkeys(marks, 1)
    assert len(marks) == 6
    assert all(not record.passages for record in run.read_records())
    pool = AnswerPool(home, [run])
    assert not pool.problems
    cases = [pool.load_case(digest) for digest in pool.answers]
    assert {case.annotated is not None for case in cases if case.earlier is None} == {True}


def test_layouts_that_mean_two_things_stay_apart() -> None:
    """Another text under one name, other words of a question, or another annotated answer: nothing of it is mixed."""

    def layout(digest: str = "a", text: str = "Why?", answer: str = "So.", question: str = "Q1") -> RunLayout:
        asked = Question(question, "T", "faq", text)
        return RunLayout(
            {"acme": DocumentFacts(digest, "ACME", "policy", date=digest)},
            {"acme": "policy"},
            {"policy": QuestionSet("policy", "", "policy", "", "", "", {"T": "T"}, (asked,))},
            {"acme": Annotations("acme", "policy", (), {question: AnnotatedAnswer("no", answer)})},
        )

    for other in (layout("b"), layout(text="Who?"), layout(answer="No.")):
        base = layout()
        assert not base.add_if_it_fits(other)
        assert base == layout()
    base = layout()
    assert base.add_if_it_fits(layout(question="Q2", text="Who?", answer="We."))
    assert [question.id for question in base.question_sets["policy"].questions] == ["Q1", "Q2"]
    assert base.annotations["acme"].answers.keys() == {"Q1", "Q2"}


@pytest.mark.usefixtures("study")
def test_one_sheet_holds_every_run(genaipa: Cli) -> None:
    """A pack may have several runs: without a name the sheet has the answers of all of them."""
    here = find_workspace()
    answers = AnswerPool(here, list_run_folders_oldest_first(here)).answers
    assert f"all.xlsx: {len(answers)} answers to score." in done(genaipa("scores", "sheet", "-o", "all.xlsx"))
    Path("none").mkdir()
    Path("none/genaipa.toml").touch()
    none = genaipa("scores", "sheet", "-o", "no.xlsx", "--workspace", "none")
    assert "there is no run in" in none.err


@pytest.mark.usefixtures("study")
def test_nothing_yet_is_a_status(genaipa: Cli) -> None:
    """Before a split, before anything came back, and before anything was scored, that is what is said."""
    assert "Start with: genaipa study split" in done(genaipa("study"))
    assert "nothing to verify" in done(genaipa("scores", "verify"))
    assert json.loads(done(genaipa("scores", "verify", "--json"))) == {"events": 0, "head": "", "breaks": []}
    assert genaipa("scores", "verify", "--head", "abc").code == 2
    record = split(genaipa, *OPTIONS)
    names = ", ".join(share["name"] for share in record["partners"])
    Path("back").mkdir()
    for returned_files in ((), ("back",), ("nowhere",)):
        status = genaipa("study", "status", *returned_files)
        assert done(status) == f"No pack has come back yet: {names}.\n"
        assert status.err == (
            f"There is no nowhere in {Path.cwd()}, the current folder.\n" if "nowhere" in returned_files else ""
        )
    rows = json.loads(done(genaipa("study", "status", "--json")))["partners"]
    assert [row["chain"] for row in rows] == ["no file"] * 3
    assert "There is no file bbc.scores.jsonl" in genaipa("study", "status", "bbc.scores.jsonl").err
    unpack_for_scoring_unless_done(Path("packs/bbc.zip"))
    Path("packs/bbc/scores.db").unlink()
    assert "start with: genaipa score packs/bbc.zip" in genaipa("study", "send", "packs/bbc.zip").err


@pytest.mark.usefixtures("study")
def test_nobody_scores_what_they_wrote_at_a_partner_s(genaipa: Cli) -> None:
    """In a pack a writer is not asked for their own answer, and no file of it tells who wrote which."""
    (run, _) = list_run_folders_oldest_first(find_workspace())
    own = [record.digest for record in run.read_records() if record.document == "gamma"][1]
    asyncio.run(append_authorship(run, Authorship("key", own, "Bo Li", "")))
    asyncio.run(append_authorship(run, Authorship("key", own, "Cy (ard)", "")))
    record = split(genaipa, *OPTIONS)
    share = next(share for share in record["partners"] if share["name"] == "ard")
    (packed,) = [digest for digest, originals in share["answers"].items() if own in originals]
    folder = unpack_for_scoring_unless_done(Path("packs/ard.zip"))
    marks = [path.read_text() for path in folder.glob("runs/*/author-marks.json")]
    assert marks, "beside the answers"
    assert {len(found) for text in marks for found in json.loads(text)["marks"].values()} == {2}
    for path in folder.rglob("*"):
        assert path.is_dir() or not re.search(rb"bo li|cy \(|authors.jsonl", path.read_bytes().lower()), path
    authors = AnswerPool(find_workspace(folder), list_run_folders_oldest_first(find_workspace(folder))).authors
    for name in (" bo  LI", "Bo Li (rai)", "Cy"):
        assert authors.answer_digests_of_author(name) == {packed}
        assert authors.is_author(name, packed)
    assert not authors.answer_digests_of_author("Bo")
    with opened(store_of()) as store:
        store.append_new_events([score("Eve", packed)])
    done(genaipa("scores", "export", "-o", "eve.jsonl"))
    imported = done(genaipa("scores", "import", "eve.jsonl", "--workspace", folder))
    assert f"Next: genaipa --workspace {folder.resolve()} study send" in imported
    sheet = ("scores", "sheet", "latest", "-o", "a.xlsx", "--force", "--workspace", folder, "--analyst")
    assert "8 answers to score.\n1 answer left out: Bo Li wrote it." in done(genaipa(*sheet, "Bo Li"))
    assert "9 answers to score" in done(genaipa(*sheet, "Bo"))


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
        AnswerThread((f"{language}{number}",), f"s{number % 3}", language)
        for language, size in (("en", 60), ("de", 30))
        for number in range(size)
    ]
    deal = deal_threads(threads, {"bbc": "en", "ard": "de", "rai": ""}, 0.1, KeyedRandomness(b"k"))
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
        write_returned_log(written, store, find_pack_notes_or_raise(find_workspace(home)))
    return path


@pytest.fixture
def returned(study: None, genaipa: Cli) -> dict[str, Path]:
    """The files of three partners who scored all that they have; the analyst is called Ada everywhere."""
    with opened(store_of()) as store:
        first = next(json.loads(line)["digest"] for line in Path("runs/run-1/answers.jsonl").read_text().splitlines())
        store.append_new_events([score("reference", first, note="Aardvark is right.")])
    record = split(genaipa, *OPTIONS)
    files = {}
    for turn, share in enumerate(record["partners"]):
        folder = unpack_for_scoring_unless_done(Path(f"packs/{share['name']}.zip"))
        with opened(store_of(folder)) as store:
            events = [score("Ada", answer, GOOD if turn else POOR) for answer in share["answers"]]
            store.append_new_events([*events, undo(events[-1])])
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
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    assert {event["analyst"] for event in events} == {"reference", "Ada (bbc)", "Ada (rai)", "Ada (ard)"}
    split_answers = sum(
        len(originals) for share in load_split(find_workspace()).partners for originals in share.answers.values()
    )
    assert sum(event["kind"] == "score" for event in events) == 1 + split_answers
    workspace = find_workspace(Path("order-ard"))
    scores = average_scores_given_by_partners(
        gather_study_with_stored_scores(workspace, select_runs_and_apply_filters(workspace, ()))
    )
    assert set(scores["answer"]) <= {text for share in load_split(workspace).partners for text in share.answers}
    assert set(scores.loc[scores["cell"] == "", "answer"]) == {*load_split(workspace).shared} & {*scores["answer"]}
    assert set(scores["cell"]) - {""} == {f"{system} {language}" for system in SYSTEMS for language in ("en", "de")}
    rows = json.loads(done(genaipa("study", "status", "--json", ".")))["partners"]
    assert [(row["scored"], row["answers"]) for row in rows] == [(row["answers"] - 1, row["answers"]) for row in rows]
    Path("desk.yaml").write_text("left_out: {ada (BBC): scored without reading}\n")
    left = json.loads(done(genaipa("study", "status", "--json", ".")))["partners"]
    assert [row["scored"] for row in left] == [row["partner"] != "bbc" and row["scored"] for row in rows]
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
        (
            [json.dumps(head | {"partner": "rai"}), *lines[1:]],
            r"event \d+ .*(came with the pack of bbc|not in the pack of rai)",
        ),
        ([*lines[:-1], lines[-1][:-9]], r"can't be read.*ask bbc for the file again"),
    ):
        path = Path("wrong.scores.jsonl")
        path.write_text("\n".join(content) + "\n")
        with pytest.raises(DataError, match=words):
            find_pack_share_of_return_or_raise(read_returned_log(path), made)


def test_a_later_file_goes_on_from_an_earlier_one(returned: dict[str, Path], genaipa: Cli) -> None:
    """Of two files of one partner the longer counts; where they differ, nothing is joined and the event is named."""
    earlier, made = read_returned_log(returned["bbc"]), load_split(find_workspace())
    single = next(digest for digest, originals in made.partners[0].answers.items() if len(originals) == 1)
    shutil.copytree("packs", "twin")
    with opened(store_of("packs/bbc")) as store:
        store.append_new_events([score("Bo", single)])
    with opened(store_of("twin/bbc")) as store:
        store.append_new_events([score("Cem", single), score("Dee", single)])
    later, other = (read_returned_log(send("bbc", f"{folder}.jsonl", folder)) for folder in ("packs", "twin"))
    assert choose_longest_log_by_partner([later, earlier]) == {"bbc": later}
    assert "exists" in genaipa("study", "send", "packs/bbc.zip", "-o", "twin.jsonl").err
    done(genaipa("study", "send", "packs/bbc.zip"))
    assert returned["bbc"].read_bytes() == later.path.read_bytes(), "a later file replaces an earlier one"
    with pytest.raises(DataError, match=r"event \d+ .*differs from the one in packs.jsonl"):
        choose_longest_log_by_partner([earlier, other, later])
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(opened(store_of()))
        whole = len([*iterate_file_places_and_study_events(earlier, made.partners[0])])
        for log, added in ((earlier, whole), (later, 1), (earlier, 0)):
            (joined,) = join_returned_logs_all_or_none(store, made, [log]).partners
            assert joined.added == added
        before = kept(store)
        with pytest.raises(DataError, match="from the one that was joined before"):
            join_returned_logs_all_or_none(store, made, [other])
        assert kept(store) == before


def test_a_harsh_partner_is_found_and_moves_no_average() -> None:
    """The others are not blamed for one who is harsh; what that one gave alone is worth what others' scores are."""
    random = np.random.default_rng(4)
    quality, severity = random.normal(60, 10, 400), np.array([0.0, 0.0, -10.0, 0.0])
    # The first 80 answers are everyone's. The harsh one has nearly all others of the first system, every second one.
    alone = np.where(np.arange(80, 400) % 2, np.arange(320) // 2 % 2, 2 + (np.arange(320) % 16 == 0))
    answers = np.concatenate([np.repeat(np.arange(80), 4), np.arange(80, 400)])
    partners = np.concatenate([np.tile(np.arange(4), 80), alone])
    values = quality[answers] + severity[partners] + random.normal(0, 8, len(answers))
    found = measure_partner_severities(values, partners, answers)
    assert [partner.stands_out for partner in found] == [False, False, True, False]
    assert found[2].low < -10 < found[2].high < 0
    fit = fit_partner_severities(values, partners, answers, is_reference_partner=np.array([True, True, False, True]))
    first, second = (
        average_without_partner_severity(values, partners, answers, fit, answers % 2 == odd) for odd in (0, 1)
    )
    assert first.mean < second.mean - 4, "as scored, the first system pays for its partner"
    truth = [quality[odd::2].mean() for odd in (0, 1)]
    assert abs((first.adjusted - second.adjusted) - (truth[0] - truth[1])) < 2.5
    assert first.low < truth[0] < first.high
    assert first.partners_high - first.partners_low >= first.high - first.low
    assert first.partners_low < truth[0] - 2.5 < first.partners_high, "others like these may be as harsh"
    sure = fit._replace(influences=0 * fit.influences)
    narrow = average_without_partner_severity(values, partners, answers, sure, answers % 2 == 0)
    assert first.high - first.low > narrow.high - narrow.low, "that severity is estimated makes it less sure"
    # Of two, nobody knows which one differs; of few shared answers, nothing is said.
    both = np.isin(partners, [1, 2])
    two = measure_partner_severities(values[both], partners[both] - 1, answers[both])
    assert [partner.stands_out for partner in two] == [True, True]
    fit = fit_partner_severities(
        values[320:], partners[320:], answers[320:], is_reference_partner=np.ones(4, dtype=bool)
    )
    assert not fit.effects.any(), "nothing is known where nothing is shared"
    few = answers < 9
    assert not any(
        partner.stands_out for partner in measure_partner_severities(values[few], partners[few], answers[few])
    )


def test_a_data_sheet_counts_what_the_splits_record_has(genaipa: Cli) -> None:
    """Texts that one partner alone has are not shared, reference scores are each pack's, and a judge is no analyst."""
    write_study(Path(), SYSTEMS, {"alpha": "en"}, 16, reply)
    record = split(genaipa, "--partners", "bbc,rai", "--shared", "100%")
    first, second = record["partners"]
    del second["answers"][next(iter(first["answers"]))]
    first["training"] = ["0" * 32, "1" * 32]
    write("study-split.json", json.dumps(record))
    workspace = find_workspace()
    study = gather_study_with_stored_scores(workspace, select_runs_and_apply_filters(workspace, ()))
    for scorer, numbers in (("machine", set()), ("human", {"3.2.1", "3.3.2"})):
        scored = replace(study, table=study.table.assign(partner="bbc", analyst="x", scorer=scorer))
        sentences = {number: text for number, text, _ in describe_partners_for_data_sheet(workspace, scored, {})}
        assert sentences.keys() & {"3.2.1", "3.3.2"} == numbers
        assert "bbc and rai: 30 to several of them (asked for: 100 %)" in sentences["3.1.2"]
        assert sentences["3.1.2"].endswith("chance did not decide which partners have these.")
        assert sentences["3.2.4"].endswith("to train by, came with the packs of partners: 0 to 2 each.")
    assert sentences["3.3.2"].startswith("1 text stands for several answers"), "two systems replied alike"


def test_a_data_sheet_names_readers_of_one_language_and_leaves_a_part_open(genaipa: Cli) -> None:
    """Chance deals within a language; of some runs of a split nobody knows what was dealt, or what was not compared."""
    write_study(Path(), SYSTEMS, {"alpha": "en", "gamma": "de"}, 4, reply)
    split(genaipa, "--partners", "bbc,ard,rai", "--languages", "bbc=en,ard=de")
    workspace = find_workspace()
    table = Table("partners", "", "", pd.DataFrame({"partner": ["bbc"], "shared": [0], "own": [0]}))
    whole, part = (
        {
            number: sentence
            for number, sentence, _ in describe_partners_for_data_sheet(
                workspace,
                gather_study_with_stored_scores(workspace, select_runs_and_apply_filters(workspace, names)),
                {"partners": table},
            )
        }
        for names in ((), ("run-1",))
    )
    assert "to the partners bbc (English alone), ard (German alone) and rai: " in whole["3.1.2"]
    assert "3.1.2" not in part
    assert not {"3.3.3.1", "3.3.3.2"} & {*whole, *part}, "no answer of any partner is compared"


def test_the_ranking_averages_as_the_leaderboard_does() -> None:
    """Answers of a question about a document first, then documents, then questions, however many answers each has."""
    cells = [("Q1", "acme", 20.0), ("Q1", "acme", 40.0), ("Q1", "bolt", 50.0), ("Q2", "acme", 90.0)]
    scores = pd.DataFrame(
        {
            "question": question,
            "document": document,
            "answer": f"{number}",
            "partner": partner,
            "m_all": value,
        }
        for number, (question, document, value) in enumerate(cells)
        for partner in ("bbc", "rai")
    ).assign(system="say", experiment="quality", language="en", cell="")
    ranking = rank_systems_without_partner_severity(scores).data
    assert list(ranking["m_all"]) == pytest.approx([(40 + 90) / 2])
    assert list(ranking["adjusted"]) == pytest.approx([(40 + 90) / 2])


def test_the_report_has_a_chapter_on_partners(genaipa: Cli) -> None:
    """Partner and language are read from the joined scores, and whoever stands out is named with an interval."""
    write_study(Path(), SYSTEMS, {"alpha": "en"}, 16, reply)
    record = split(genaipa, "--partners", "bbc,rai,ard", "--shared", "100%")
    rubric = shipped_rubric()
    for turn, share in enumerate(record["partners"]):
        folder = unpack_for_scoring_unless_done(Path(f"packs/{share['name']}.zip"))
        with opened(store_of(folder)) as store:
            for analyst in ("Ada", "Bo"):
                keys = ("2" * number + "1" * (5 - number) for number in range(4))
                values = [rubric.parse_digits("33333" if turn == 1 else key) for key in keys]
                answers = sorted(share["answers"])
                store.append_new_events([score(analyst, answer, values[n % 4]) for n, answer in enumerate(answers)])
        send(share["name"], f"{share['name']}.scores.jsonl")
    assert "rai scores " in done(genaipa("study", "join", ".")), "whoever joins is told at once"
    workspace = find_workspace()
    study = gather_study_with_stored_scores(workspace, select_runs_and_apply_filters(workspace, ()))
    chapter = PartnersChapter().make(study, FigureScope())
    assert chapter is not None
    severity, ranking, agreement = (table.data for table in chapter.tables)
    assert severity["partner"].iloc[0] == "rai"
    assert set(severity["languages"]) == {"English"}
    assert list(severity["on_shared"]) == pytest.approx(list(severity["difference"])), "beside the same partners"
    (sentence,) = PartnersChapter().notable(study)
    assert sentence.startswith("rai scores ")
    assert sentence in urgent_sentences(study)
    assert "points lower (" in sentence
    assert sentence.endswith("than the other partners on the same 31 answers.")
    assert set(ranking["system"]) == set(SYSTEMS)
    assert (ranking["m_all"] < ranking["adjusted"]).all()
    board = leaderboard_table(study.table).data.set_index("system")["m_all"]
    assert dict(zip(ranking["system"], ranking["m_all"], strict=True)) == pytest.approx(dict(board))
    within, between = (
        agreement[agreement["of"] == of]["agreement"].mean() for of in ("within a partner", "between partners")
    )
    assert within == 1 > between
    additions = describe_partners_for_data_sheet(workspace, study, {"partners": chapter.tables[0]})
    sentences = {number: sentence for number, sentence, _ in additions}
    assert "31 answer texts to the partners bbc, rai and ard" in sentences["3.1.2"]
    assert "31 to several of them (asked for: 100 %)" in sentences["3.1.2"]
    assert sentences["3.2.1"].endswith("ard (2), bbc (2) and rai (2).")
    assert "rai -" in sentences["3.3.3.2"]
    assert sentences["3.3.3.2"].endswith(". The others leave out whoever stands out: rai.")
    assert sentences["3.3.3.1"].endswith(" partners, on answers that several scored."), "nobody had any of their own"
    assert "to train by" not in sentences["3.1.2"], "nobody was trained"
    assert "who was dealt which answers, scored or not" in sentences["3.1.3.1"]
    assert re.search(r"partners: about \d+% \(for \w+, who", sentences["3.1.3.2"])
