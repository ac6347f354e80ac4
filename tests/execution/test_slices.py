"""Slices of a study: chosen by what is in a document, decided as a whole, and read as the one run that they make."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from running import dated
from stores import GOOD, POOR, score

import genaipa as api
from benchmarks.made_up import made_up
from genaipa.archive.study_pack import iterate_packed_run_files
from genaipa.errors import DataError, OptionError, UsageError
from genaipa.execution.observer import Observer
from genaipa.execution.prepare import prepare_run
from genaipa.execution.siblings import resume_or_prepare_slice
from genaipa.files.html import format_one_line_repr
from genaipa.policies.corpus import digest_company_and_text, encode_corpus_line
from genaipa.policies.corpus_index import INDICES
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import encode_manifest
from genaipa.runs.records import MOST_SLICES
from genaipa.runs.run import load_run
from genaipa.runs.selection import (
    find_sliced_study,
    most_repeated_plan_occasions_by_system,
    select_runs_and_apply_filters,
)
from genaipa.runs.slices import assign_documents_to_slices, parse_slice
from genaipa.scoring.store import open_or_create_store
from genaipa.tasks.request import RunRequest
from genaipa.workspace import find_workspace
from genaipa_exchange.outgoing import Outgoing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from commandline import Finished

    from genaipa.execution.prepare import PreparedRun
    from genaipa.policies.document import Document

    Cli = Callable[..., Finished]

GERMAN = (
    "Wir erheben Ihren Namen und Ihre Anschrift, und wir geben sie nicht weiter. Sie können schreiben, wann Sie wollen."
)
WANDERING = f"""
from genaipa.systems.base import BuiltinSystem, Passage, Reply

class Wandering(BuiltinSystem):
    words = "own"

    def __init__(self):
        super().__init__(name="wandering")

    async def reply_to_last_message(self, messages, settings):
        return Reply("Nothing.", passages=(Passage({GERMAN + " 38"!r}),))
"""
ASKED: dict[str, Any] = {"experiment": "quality", "limit": 1}


@pytest.fixture(autouse=True)
def _workspace() -> None:
    Path("genaipa.toml").touch()


def write_corpus(documents: Iterable[Document], name: str = "shops.jsonl") -> Path:
    """Write a corpus."""
    path = Path(name)
    path.write_bytes(b"".join(map(encode_corpus_line, documents)))
    return path


def make_documents(number: int, german: int = 0) -> list[Document]:
    """Make documents, the last ones in German, and the first once more at the end under another name."""
    documents = list(made_up(number))
    for place in range(number - german, number):
        about = replace_about(documents[place], language="de")
        documents[place] = replace(documents[place], text=f"{GERMAN} {place}", about=about)
    return [*documents, replace(documents[0], name="again")]


def replace_about(document: Document, **changes: Any) -> Any:
    """Return a document's metadata with some changed."""
    import msgspec

    return msgspec.structs.replace(document.about, **changes)


def ask_slices(path: Path, number: int, name: str = "shops", **options: Any) -> None:
    """Ask all slices of a study."""
    for index in range(1, number + 1):
        options = {"systems": "extractive", **ASKED, **options}
        api.run(corpus=path, slice=(index, number), name=name, **options)


class Said(Observer):
    """Keeps what is said before a run."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def on_note(self, sentence: str) -> None:
        """Keep it."""
        self.sentences.append(sentence)


def test_slices_are_one_run() -> None:
    """Sixteen slices have the answers and the tables of the one run, with duplicates and two languages."""
    path = write_corpus(make_documents(40, german=6))
    Path("wandering.py").write_text(WANDERING)
    options = {"systems": ("extractive", "careful", "wandering:Wandering"), "questions": "policy"}
    whole = api.run(corpus=path, name="whole", **ASKED, **options)
    ask_slices(path, 16, **options)
    sliced = load_run("shops")
    assert [len(sliced.slices), sliced.status] == [16, "complete"]
    assert sorted(record.key for record in sliced.answers()) == sorted(record.key for record in whole.answers())
    documents = [name for one in sliced.slices for name in one.manifest.documents]
    assert Counter(documents) == Counter([*whole.manifest.documents])
    assert any(not one.manifest.documents for one in sliced.slices), "one of sixteen is empty, and complete"
    assert {name: facts.also for name, facts in sliced.manifest.documents.items()} == {
        name: facts.also for name, facts in whole.manifest.documents.items()
    }
    with contextlib.closing(open_or_create_store(find_workspace())) as store:
        digests = sorted({record.digest for record in whole.answers()})
        store.append_new_events(
            [score("ada", digest, GOOD if place % 3 else POOR) for place, digest in enumerate(digests)]
        )
    tables = [api.report(name).as_json() for name in ("whole", "shops")]
    # These are about time.
    for name in tables[0]["tables"].keys() - {"effort", "throughput-systems"}:
        assert round_numbers(tables[0]["tables"][name]) == round_numbers(tables[1]["tables"][name]), name
    assert tables[0]["notable"] == tables[1]["notable"]


def round_numbers(value: Any) -> Any:
    """Round what the order of a sum decides."""
    if isinstance(value, dict):
        return {name: round_numbers(one) for name, one in value.items()}
    if isinstance(value, list):
        return [round_numbers(one) for one in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def test_everything_is_decided_over_the_whole_choice() -> None:
    """A slice without a regulation is asked with the prompts of all, and mixed languages are refused by each alike."""
    law = [replace(document, about=replace_about(document, kind="regulation")) for document in made_up(2)]
    path = write_corpus([*make_documents(12, german=12)[:12], *(replace(one, name=f"law-{one.name}") for one in law)])
    specs, sentences = [], set()
    for index in range(1, 5):
        said = Said()
        request = RunRequest(
            ("extractive",),
            corpus=str(path),
            slice=(index, 4),
            plan={"experiment": "", "questions": ("policy-de", "regulation")},
        )
        specs.append(prepare_run(find_workspace(), request, said).spec.plan)
        sentences.add(tuple(said.sentences))
    assert {plan.prompts for plan in specs} == {("neutral",)}
    assert {*map(len, (set(plan.questions.values()) for plan in specs))} == {1, 2}, "some slices have no regulation"
    assert len(sentences) == 1
    mixed = write_corpus(make_documents(12, german=2), "mixed.jsonl")
    refusals = set()
    for index in range(1, 9):
        with pytest.raises(UsageError, match="would be asked about in English, but") as refused:
            prepare_run(find_workspace(), RunRequest(("extractive",), corpus=str(mixed), slice=(index, 8)))
        refusals.add(str(refused.value))
    assert len(refusals) == 1


def test_named_question_sets_are_those_of_all_siblings() -> None:
    """The first slice that was begun has no regulation, and doesn't know the set that was named for those."""
    law = [replace(document, about=replace_about(document, kind="regulation")) for document in made_up(3)]
    path = write_corpus([*make_documents(12, german=12)[:12], *(replace(one, name=f"law-{one.name}") for one in law)])
    workspace, plan = find_workspace(), {**ASKED, "limit": "1", "questions": ("policy", "regulation")}

    def prepare_slice(index: int) -> PreparedRun:
        request = RunRequest(("extractive",), corpus=str(path), slice=(index, 8), name="shops", plan=plan)
        return prepare_run(workspace, request)

    runs = {index: prepare_slice(index) for index in range(1, 9)}
    sets = {index: {*run.spec.plan.questions.values()} for index, run in runs.items()}
    again, *_, last = (index for index in sets if "regulation" in sets[index])
    first = next(index for index in sets if sets[index] == {"policy"})
    assert first < last, "the documents are placed so"
    for index in (first, last):
        runs[index].open_or_create_folder()
    study = find_sliced_study(workspace, "shops")
    assert study is not None
    assert resume_or_prepare_slice(workspace, study, (again, 8), Observer()).spec == runs[again].spec


def test_a_longer_corpus_moves_nothing() -> None:
    """A document's slice depends on its company and text alone; a sample is drawn over the whole corpus."""
    documents = make_documents(30)
    digests = b"".join(digest_company_and_text(one.company, one.text) for one in documents)
    places = dict(zip((one.name for one in documents), assign_documents_to_slices(digests, 7), strict=True))
    assert places[documents[0].name] == int.from_bytes(digests[:8], "big") % 7 + 1
    assert places["again"] == places[documents[0].name]
    assert len({*places.values()}) == 7

    def slices_of(corpus: Path, **more: Any) -> dict[str, int]:
        found = {}
        for index in range(1, 8):
            request = RunRequest(("extractive",), corpus=str(corpus), slice=(index, 7), **more)
            found |= dict.fromkeys(prepare_run(find_workspace(), request).task.facts, index)
        return found

    short = slices_of(write_corpus(documents))
    longer = slices_of(write_corpus([*list(made_up(45))[30:], *documents], "longer.jsonl"))
    assert short.items() <= {**longer, documents[0].name: longer.get(documents[0].name, longer.get("again"))}.items()
    assert short == {name: index for name, index in places.items() if name in short}
    drawn = RunRequest(("extractive",), corpus="longer.jsonl", limit_documents=20, stratify="sector", seed=5)
    sample = slices_of(Path("longer.jsonl"), limit_documents=20, stratify="sector", seed=5)
    assert sample.keys() == prepare_run(find_workspace(), drawn).task.facts.keys()


def test_a_corpus_is_read_once() -> None:
    """Its index is used while the file is the same, and made anew without a word where it is damaged or of another."""
    path = write_corpus(make_documents(12))

    def list_documents() -> set[str]:
        said = Said()
        run = prepare_run(find_workspace(), RunRequest(("extractive",), corpus=str(path), slice=(1, 2)), said)
        assert len(said.sentences) == 1
        return {*run.task.facts}

    before = list_documents()
    (index,) = (Path("runs") / INDICES).glob("*.index")
    content, written = index.read_bytes(), index.stat().st_mtime_ns
    assert (list_documents(), index.stat().st_mtime_ns) == (before, written), "it is read, and not made again"
    flipped = [content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in range(0, len(content), 150)]
    for damaged in (b"", content[:-1], b"x" * 40, *flipped):
        index.write_bytes(damaged)
        assert list_documents() == before
        assert index.read_bytes() == content
    write_corpus(make_documents(13))
    assert list_documents() > before or len(list_documents()) >= len(before)
    assert index.read_bytes() != content


def test_a_corpus_that_was_changed_in_the_middle_is_noticed() -> None:
    """Of its old length and time, and alike at both ends: a slice takes no text that the index doesn't know."""
    documents = make_documents(60)
    path = write_corpus([replace(one, text=one.text * 20) for one in documents])
    request = RunRequest(("extractive",), corpus=str(path), slice=(1, 1))
    prepare_run(find_workspace(), request)
    stat, content = path.stat(), path.read_bytes()
    place = content.index(b"We collect", len(content) // 2)
    path.write_bytes(content[:place] + b"We gather!" + content[place + 10 :])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(DataError, match="changed while it was being read; run the command again"):
        prepare_run(find_workspace(), request)
    assert prepare_run(find_workspace(), request).folder is None


@pytest.fixture
def study() -> Path:
    """The folder of the third of four slices."""
    ask_slices(write_corpus(make_documents(12)), 4)
    return next(Path("runs").glob("*-shops-slice-3-of-4"))


def test_a_lost_and_a_foreign_slice_are_named(study: Path, genaipa: Cli) -> None:
    """By every reader of the study, and in its report above everything else; a copy counts once."""
    other = Path("runs/29990101-000000-shops-slice-4-of-4")
    shutil.copytree(study.parent / load_run("shops").slices[3].name, other)
    manifest = RunFolder(other).manifest()
    assert manifest.slice is not None
    manifest.slice = replace_struct(manifest.slice, plan="another")
    for name in ("manifest.json", ".manifest.json"):
        (other / name).write_bytes(encode_manifest(manifest))
    shutil.rmtree(study)
    lost = "shops lacks 1 of its 4 slices (3), so a report covers only the rest. Run it with: "
    foreign = f"{other.name} claims to be a slice of shops, but has a different plan from the other slices"
    page = Path("page")
    Path("judge.yaml").write_text("default: Nothing.\n")
    for command in (
        ("report", "shops", "-o", page), ("show", "extractive"), ("show", "shops:extractive"), ("runs",),
        ("sample", "shops"), ("show", "shops"), ("show", "latest"), ("pack", "shops", "-o", "shops.zip"),
        ("drift", "shops"), ("validate",), ("judge", "shops", "--judge", "scripted/judge.yaml", "--dry-run"),
    ):  # fmt: skip
        done = genaipa(*command)
        told = " ".join((done.out + done.err).split())
        assert lost in told, (command, told)
        assert foreign in told, (command, told)
    html = (page / "index.html").read_text()
    assert html.index("<h1>") < html.index(lost) < html.index("</header>")
    here = find_workspace()
    assert (
        len(select_runs_and_apply_filters(here, ["shops"]))
        == len(select_runs_and_apply_filters(here, ["extractive"]))
        == 3
    )


def test_a_slice_that_cannot_be_is_damage(study: Path, genaipa: Cli) -> None:
    """A manifest that calls its run slice 3 of a thousand million, or of a study without a name, is damaged."""
    whole = RunFolder(study).manifest()
    assert whole.slice is not None
    for changes in ({"number": 10**9}, {"index": 0}, {"index": 5}, {"study": "//"}):
        whole.slice = replace_struct(whole.slice, **{"study": "shops", "index": 3, "number": 4, **changes})
        for name in ("manifest.json", ".manifest.json"):
            (study / name).write_bytes(encode_manifest(whole))
        done = genaipa("runs")
        assert (done.code, "is damaged (it claims to be slice" in done.err) == (1, True), changes
        assert "shops lacks 1 of its 4 slices (3)" in done.err


def replace_struct(struct: Any, **changes: Any) -> Any:
    """Return a struct with some fields changed."""
    import msgspec

    return msgspec.structs.replace(struct, **changes)


def test_a_study_is_read_by_its_name(study: Path, genaipa: Cli) -> None:
    """One row of the list, which its name unfolds; a slice by its own name; packed and unpacked as a study."""
    rows = genaipa("runs").out
    assert ("slice-3-of-4" not in rows, "shops" in rows, "12/12" in rows, "4 slices" in rows) == (True,) * 4
    assert genaipa("runs", "list", "shops").out.count("-of-4") == 4
    assert genaipa("runs", "list", "extractive").out.count("-of-4") == 0
    run = load_run("shops")
    assert repr(run) == format_one_line_repr("Run", "shops", "complete, 12 of 12 answers")
    assert [len(run.to_frame()), run.to_frame()["run"].nunique()] == [12, 4]
    assert [one.name for one in api.list_runs()] == ["shops"]
    assert load_run("slice-3").name == study.name
    key = run.answers()[-1].key
    assert f"===== {key}" in genaipa("show", "shops", key).out
    assert genaipa("pack", "shops", "-o", "shops.zip").code == 0
    assert genaipa("unpack", "shops.zip", "there").code == 0
    there = find_sliced_study(find_workspace("there"), "shops")
    assert there is not None
    assert (there.missing_slices, there.problems) == ([], [])
    assert genaipa("runs", "rm", "shops", "--yes").code == 0
    assert find_sliced_study(find_workspace(), "shops") is None


def test_a_pack_withholds_passages_of_other_slices() -> None:
    """A passage of a document that may not be passed on is left out of every slice, and of an export."""
    documents = make_documents(12, german=1)
    closed = replace(documents[11], about=replace_about(documents[11], license="All rights reserved"))
    Path("wandering.py").write_text(WANDERING)
    ask_slices(write_corpus([*documents[:11], closed]), 3, systems="wandering:Wandering", questions="policy")
    here = find_workspace()
    sources = select_runs_and_apply_filters(here, ["shops"])
    assert sum(one.folder.answers_path.read_text().count(GERMAN) > 0 for one in sources) == 3
    for source in sources:
        files = dict(iterate_packed_run_files(source, include_withheld_texts=False))
        assert not any(GERMAN.encode() in content for content in files.values())
        assert "withheld.json" in files
    outgoing = Outgoing(here, sources)
    assert not any(
        GERMAN in passage.text
        for run in outgoing.runs
        for one in run.iterate_permitted_answers()
        for passage in one.record.passages
    )


def test_a_study_is_one_occasion(study: Path) -> None:
    """The slices of a day are asked again on another by a study of another name; an incomplete one is none."""
    ask_slices(Path("shops.jsonl"), 4, "again")
    for one in load_run("shops").slices:
        dated(one.folder, "2026-01-05")
    sources = select_runs_and_apply_filters(find_workspace(), [])
    (days,) = most_repeated_plan_occasions_by_system(sources).values()
    assert [(day.day == "2026-01-05", len(day.runs)) for day in days] == [(True, 4), (False, 4)]
    shutil.rmtree(load_run("again").slices[2].path)
    assert study.name
    assert most_repeated_plan_occasions_by_system(select_runs_and_apply_filters(find_workspace(), [])) == {}


def test_another_plan_is_refused(study: Path) -> None:
    """A study's slices are of one plan: another number, system, option or corpus is refused, and so is a new begin."""
    path = Path("shops.jsonl")

    def refusal(index: int = 3, number: int = 4, **more: Any) -> str:
        asked = {"systems": ("extractive",), "plan": dict(ASKED) | {"limit": "1"}, "name": "shops"}
        with pytest.raises(UsageError) as refused:
            prepare_run(find_workspace(), RunRequest(corpus=str(path), slice=(index, number), **{**asked, **more}))
        return str(refused.value)

    assert "the study shops has 4 slices, not 5 (" in refusal(number=5)
    assert "the study shops asks extractive (" in refusal(systems=("careful",))
    assert "started with a different corpus, or with other options" in refusal(seed=1)
    assert "start a new study under another name" in refusal(new=True)
    write_corpus(make_documents(13))
    assert "started with a different corpus" in refusal()
    assert study.is_dir()


@pytest.mark.parametrize(
    "text", ["", "3", "0/4", "5/4", "3/", "/4", "a/b", "1/2/3", "-1/4", "1.0/2", "٣/٤", f"1/{10**12}"]
)
def test_a_slice_that_is_none(text: str) -> None:
    """One sentence says how a slice is written."""
    with pytest.raises(OptionError, match="must be I/N, such as 3/16"):
        parse_slice(text)


def test_a_slice_as_it_is_written() -> None:
    """With zeros in front, and blanks around."""
    assert parse_slice(" 03/16\n") == (3, 16)
    assert parse_slice(f"1/{MOST_SLICES}") == (1, MOST_SLICES)


def test_slices_are_of_a_corpus() -> None:
    """Not of named documents, nor of other tasks, and with room for all documents."""
    path = str(write_corpus(make_documents(4)))
    for more, words in (
        ({"documents": ("brindlecart",)}, "slice works only on a corpus"),
        ({"corpus": path, "stratify": "sector"}, "only a sample can be stratified"),
        ({"corpus": path, "slice": (5, 4)}, "must be I/N"),
    ):
        with pytest.raises(UsageError, match=words):
            prepare_run(find_workspace(), RunRequest(("extractive",), **{"slice": (1, 2), **more}))
