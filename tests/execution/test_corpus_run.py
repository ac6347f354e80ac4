"""Runs of a corpus: its documents in one file, equal texts asked once, resumed on their own copies, packed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from running import make_workspace

from benchmarks.made_up import made_up
from genaipa.archive.study_pack import iterate_packed_run_files
from genaipa.errors import UsageError
from genaipa.execution.observer import Observer
from genaipa.execution.prepare import prepare_run
from genaipa.policies.corpus import encode_corpus_line
from genaipa.policies.document import load_document
from genaipa.runs.run import load_run
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.tasks.request import RunRequest
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    from genaipa.policies.document import Document

SHORT = ("-s", "extractive", "-e", "quality", "--limit", "2")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A workspace with a corpus of 20 documents, the last of which is a later snapshot of the one before it."""
    (tmp_path / "genaipa.toml").touch()
    return written(tmp_path / "shops.jsonl", *made_up(20))


def written(path: Path, *documents: Document) -> Path:
    """Write a corpus."""
    path.write_bytes(b"".join(map(encode_corpus_line, documents)))
    return path


def add(folder: Path, document: Document) -> None:
    """Put a document into a workspace as a file of its own."""
    folder.mkdir(exist_ok=True)
    (folder / f"{document.name}.md").write_text(document.text)
    (folder / f"{document.name}.yaml").write_text(json.dumps({"company": document.company}))


def test_asks_as_documents_of_their_own_would(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """Keys, messages, orders and introductions are those of the same documents as files; the texts are in one file."""
    done = genaipa("run", "--documents", corpus, "--limit-documents", "3", *SHORT)
    assert done.code == 0, done.err
    assert "20 documents, 1 with the same text as another" in done.err
    assert "a sample of 3 texts" in done.err
    run = load_run("latest")
    assert sorted(path.name for path in run.path.iterdir() if path.is_dir()) == [
        "prompts",
        "questions",
    ]
    kept = [json.loads(one)["name"] for one in (run.path / "documents.jsonl").read_text().splitlines()]
    assert kept == list(run.manifest.spec.plan.documents)
    assert genaipa("run", "--documents", corpus, "--limit-documents", "3", *SHORT).out.count("nothing was asked") == 1
    for document in made_up(20):
        add(corpus.parent / "policies", document)
    genaipa("run", "-p", ",".join(kept), *SHORT, "--name", "files")
    other = load_run("files")
    assert [(one.key, one.asked, one.digest) for one in run.answers()] == [
        (one.key, one.asked, one.digest) for one in other.answers()
    ]
    assert run.manifest.orders == other.manifest.orders
    assert [one.introduction for one in run.folder.read_conversations()] == [
        one.introduction for one in other.folder.read_conversations()
    ]


def test_equal_texts_are_named(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """The record of a text that several documents have names them, and so does an answer about it."""
    genaipa("run", "--documents", corpus, *SHORT)
    facts = load_run("latest").manifest
    assert facts.corpus is not None
    assert (facts.corpus.documents, facts.corpus.texts, facts.corpus.asked) == (20, 19, 19)
    first = next(name for name, one in facts.documents.items() if one.also)
    assert facts.documents[first].also[0].startswith(first)
    question = facts.orders[f"{first}|1"][0]
    shown = genaipa("show", "latest", f"{first}|{question}").out
    assert f"The answer also applies to {facts.documents[first].also[0]}, with the same text." in shown
    listed = genaipa("show", "latest").out
    assert "shops.jsonl: 20 documents" in listed
    assert "19 of" in genaipa("runs").out


def test_a_run_goes_on_with_its_own_copies(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """A changed corpus doesn't change a run that has copies, which says what has changed; one without is refused."""
    request = RunRequest(("extractive",), corpus=str(corpus), plan={"experiment": "quality", "limit": "2"})
    before = prepare_run(find_workspace(), request, Observer()).open_or_create_folder()
    assert not (before.path / "documents.jsonl").exists()
    every = list(made_up(20))
    changed = written(corpus, with_text(every[0], "Nothing."), *every[2:])
    refused = genaipa("run", "--resume", "latest")
    assert refused.code == 1
    assert f"{changed} has changed since. Restore that file, or start a new run." in refused.err
    written(corpus, *every)
    assert genaipa("run", "--resume", "latest").code == 0
    answers = before.answers_path.read_bytes().splitlines(keepends=True)
    before.answers_path.write_bytes(b"".join(answers[:-5]))
    written(corpus, with_text(every[0], "Nothing."), *every[2:])
    done = genaipa("run", "--resume", "latest")
    assert done.code == 0, done.err
    said = (
        f"it has a different text for {every[0].name} and no longer has {every[1].name}; the run continues with its own"
    )
    assert said in done.err
    again = before.answers_path.read_bytes().splitlines()
    assert [json.loads(one)["asked"] for one in again[-5:]] == [json.loads(one)["asked"] for one in answers[-5:]]
    before.answers_path.write_bytes(b"".join(answers[:-5]))
    changed.unlink()
    done = genaipa("run", "--resume", "latest")
    assert done.code == 0, done.err
    assert f"{changed.name} was moved or removed" in done.err
    assert "the run continues with its own copies." in done.err


def test_a_named_run_goes_on_without_its_name(corpus: Path) -> None:
    """The same corpus, asked the same again, is the run that was begun under a name of its own."""
    request = RunRequest(("extractive",), corpus=str(corpus), plan={"experiment": "quality", "limit": "2"})
    begun = prepare_run(
        find_workspace(), msgspec.structs.replace(request, name="first"), Observer()
    ).open_or_create_folder()
    again = prepare_run(find_workspace(), request, Observer())
    assert again.folder is not None
    assert again.folder.name == begun.name


def with_text(document: Document, text: str) -> Document:
    """The document with another text."""
    return type(document)(document.name, text, document.about)


def test_annotated_answers_are_found_by_the_text(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """A document of a corpus has the annotated answers about its very text, whatever its name; another has none."""
    known = load_document("brindlecart")
    same = type(known)("groceries-7", known.text, msgspec.structs.replace(known.about, part_sets={}, digest=""))
    written(corpus, same, next(made_up(1)))
    genaipa("run", "--documents", corpus, "-s", "extractive", "-e", "quality")
    run = load_run("latest")
    assert set(run.manifest.digests.annotations) == {"groceries-7"}
    shown = json.loads(genaipa("show", "latest", "groceries-7|CA_u1", "--json").out)
    assert shown[0]["annotated"]["answer"]
    (run.path / "annotations" / "groceries-7.yaml").unlink()
    # The workspace's are still found by the text.
    assert json.loads(genaipa("show", "latest", "groceries-7|CA_u1", "--json").out)[0]["annotated"]["answer"]
    other = next(name for name in run.manifest.documents if name != "groceries-7")
    assert json.loads(genaipa("show", "latest", f"{other}|CA_u1", "--json").out)[0]["annotated"] is None


def test_a_document_of_a_corpus_can_be_annotated(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """The file for its annotated answers has the text's digest, and serves the documents with that text."""
    document, other = made_up(2)
    written(corpus, document, other)
    name = document.name
    assert genaipa("policies", "annotate", name, "--documents", corpus).code == 0
    path = corpus.parent / "annotations" / f"{name}.yaml"
    path.write_text(path.read_text().replace('answer: ""', "answer: It says so.", 1))
    genaipa("run", "--documents", corpus, "-s", "extractive", "-e", "quality")
    shown = json.loads(genaipa("show", "latest", f"{name}|T_f1", "--json").out)
    assert shown[0]["annotated"]["answer"] == "It says so."
    unknown = genaipa("policies", "annotate", "nobody", "--documents", corpus)
    assert (unknown.code, "has no document 'nobody'" in unknown.err) == (2, True)


def test_an_edited_copy_is_noticed(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """Validation and resuming name the document whose copy in the run folder was edited."""
    genaipa("run", "--documents", corpus, *SHORT)
    path = load_run("latest").path / "documents.jsonl"
    path.write_text(path.read_text().replace("We ", "They ", 1))
    found = genaipa("validate", "--data")
    assert found.code != 0
    assert "has changed since the run was made" in " ".join(found.out.split())
    refused = genaipa("run", "--resume", "latest")
    assert "has a different text for" in refused.err


def test_introductions_are_in_one_file(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """Each is a line under its digest; a half-written one is taken away and written again, an edited one is noticed."""
    genaipa("run", "--documents", corpus, "--limit-documents", "4", *SHORT)
    run = load_run("latest")
    path = run.path / "introductions.jsonl"
    before = path.read_bytes()
    begun = [one.introduction for one in run.folder.read_conversations()]
    assert [json.loads(one)["digest"] for one in before.splitlines()] == begun
    path.write_bytes(before[:-100])
    run.folder.conversations_path.write_bytes(b"")
    run.folder.answers_path.write_bytes(b"")
    done = genaipa("run", "--resume", "latest")
    assert done.code == 0, done.err
    assert "introductions.jsonl: the last line was cut off" in done.err
    assert path.read_bytes() == before
    path.write_bytes(before.replace(b"We ", b"They ", 1))
    assert "has changed since the run was made" in " ".join(genaipa("validate", "--data").out.split())


def test_a_pack_leaves_texts_out(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """A text without a license that allows it stays out of a pack, and so do introductions that hold it."""
    free, *rest = made_up(3)
    closed = [type(one)(one.name, one.text, msgspec.structs.replace(one.about, license="")) for one in rest]
    written(corpus, free, *closed)
    genaipa("run", "--documents", corpus, *SHORT)
    files = dict(
        iterate_packed_run_files(
            select_runs_and_apply_filters(find_workspace(), ["latest"])[0], include_withheld_texts=False
        )
    )
    lines = files["documents.jsonl"].splitlines()
    assert [bool(json.loads(one)["text"]) for one in lines] == [True, False, False]
    told = files["introductions.jsonl"].decode()
    assert [json.dumps(one.text)[1:60] in told for one in (free, *rest)] == [True, False, False]


def test_a_large_corpus_is_asked_in_slices(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """More than 2,000 documents are so many slices as take them; from Python, that is an error that says so."""
    short = ({"name": f"n{n}", "company": "A", "text": f"{n}"} for n in range(4001))
    corpus.write_text("".join(json.dumps(one) + "\n" for one in short))
    request = RunRequest(("extractive",), corpus=str(corpus), plan={"experiment": "quality", "limit": "1"})
    with pytest.raises(
        UsageError, match=r"^4,001 documents are too many for one run \(at most 2,000\); use 3 slices\.$"
    ):
        prepare_run(find_workspace(), request, Observer())
    plan = ("run", "-s", "extractive", "--documents", corpus, "-e", "quality", "--limit", "1")
    seen = genaipa(*plan, "--estimate", "--json")
    assert "The documents are processed in 3 slices, one after another; --on local:4 runs four at once." in seen.err
    assert sum(row["calls"] for row in json.loads(seen.out)["rows"]) == 4001


def test_answers_to_a_question_are_listed_in_part(genaipa: Callable[..., Finished]) -> None:
    """Answers to one question about many documents: the question's text, some of them, and how to see another."""
    make_workspace(questions=2, documents=tuple(f"shop-{n}" for n in range(60)))
    names = ",".join(f"shop-{n}" for n in range(60))
    assert genaipa("run", "-s", "extractive", "-p", names, "-i", "document").code == 0
    shown = genaipa("show", "latest", "Q2").out
    assert shown.startswith("question Q2: Question 2 on [the company]?\n")
    assert shown.count("shop-") == 51
    assert (
        "60 answers match 'Q2'; the first 50 are listed; to select fewer, give more of a key: extractive|shop-" in shown
    )
    assert "question Q" not in genaipa("show", "latest", "document").out
    assert len(json.loads(genaipa("show", "latest", "Q2", "--json").out)) == 60


def test_refusals(corpus: Path, genaipa: Callable[..., Finished]) -> None:
    """Options that don't go together, each in a sentence, before anything is written."""
    asked = ("run", "-s", "extractive")
    for options, said in (
        (("--documents", corpus, "-p", "brindlecart"), "name documents or a corpus, not both"),
        (
            ("--documents", corpus, "--stratify", "sector"),
            "only a sample can be stratified; limit the number of documents",
        ),
        (("--documents", corpus, "--limit-documents", "3", "--stratify", "sectr"), "did you mean 'sector'?"),
        (("-p", "brindlecart", "--limit-documents", "3"), "a sample is drawn from a corpus"),
        (("--documents", corpus, "--suite", "policyqa"), "--documents is an option of the procedure"),
        (("--documents", "none.jsonl"), "is not a file"),
    ):
        refused = genaipa(*asked, *options)
        assert refused.code == 2, options
        assert said in refused.err, refused.err
    assert not Path("runs").exists()
