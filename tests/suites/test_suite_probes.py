"""Probes for contamination: what a probe shows of an item, and how a continuation is scored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genaipa.errors import UsageError
from genaipa.runs.folder import RunFolder
from genaipa_suites.data import SHIPPED
from genaipa_suites.material import Item, Material, Outcome, ParsedReply
from genaipa_suites.probes import COMPANY_SWAP, CONTINUATION, CONTINUED, NO_CONTEXT, make_probed_material

LONG = " ".join(f"word{number}" for number in range(30))


def item(text: str, gold: object = None, **facts: str) -> Item:
    """An item with a question about a text."""
    return Item("1", {"text": text, "question": "Who is told?"}, gold, **facts)


@pytest.mark.parametrize(
    ("cluster", "text", "renamed"),
    [
        ("kaleida-health.org", "Kaleida Health asks you.", "Quillmark asks you."),
        ("mlb.mlb.com", "MLB's club (see mlb.com)", "QUILLMARK's club (see quillmark.com)"),
        (
            "fool.com",
            "The Fool is no fool, write to me@fool.com.",
            "The Quillmark is no fool, write to me@quillmark.com.",
        ),
        ("Keep: Notes and Lists", "Keep may keep notes. Bookkeeping", "Quillmark may keep notes. Bookkeeping"),
        ("www.inkwell.co.uk", "INKWELL and Inkwells", "QUILLMARK and Inkwells"),
    ],
)
def test_a_company_gets_another_name(cluster: str, text: str, renamed: str) -> None:
    """As a name, with its capitals, or in an address; not as a common word or a part of one."""
    (found,) = make_probed_material(COMPANY_SWAP, Material((item(text, [text], cluster=cluster),))).items
    assert (found.shown["text"], found.gold, found.id) == (renamed, [renamed], "1")


def test_a_swap_leaves_out_what_would_be_scored_otherwise() -> None:
    """Items without the name, and those whose gold answer is a part of it; the long text is renamed as well."""
    plain = item("We ask you.", ["you"], cluster="inkwell.com")
    cut = item("Ink Well asks.", ["Well asks"], cluster="inkwell.com")
    about = Item("2", {"question": "Who?"}, [1], "Inkwell", "Inkwell")
    found = make_probed_material(COMPANY_SWAP, Material((plain, cut, about), {"Inkwell": ["Inkwell asks.", "No."]}))
    assert [one.id for one in found.items] == ["2"]
    assert found.documents == {"Inkwell": ["Quillmark asks.", "No."]}
    with pytest.raises(UsageError, match="no text names a known company"):
        make_probed_material(COMPANY_SWAP, Material((item("Inkwell asks.", []),)))


def test_a_continuation_is_asked_once_for_each_text() -> None:
    """The first half is shown and the second is gold; short texts are left out."""
    found = make_probed_material(CONTINUATION, Material((item(LONG), item(LONG), item("Too short to tell."))))
    (one,) = found.items
    assert one.shown == {"text": " ".join(LONG.split()[:15])}
    assert one.gold == " ".join(LONG.split()[15:])
    with pytest.raises(UsageError, match="no text has 20 words or more"):
        make_probed_material(CONTINUATION, Material((item("Too short to tell."),)))


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("We keep LOGS, for a year!", 1.0),
        ("I think: we keep logs, or not, for a year", 0.5),
        ("a year for logs keep we", 1 / 3),
        ("", 0.0),
    ],
)
def test_a_continuation_is_scored_by_its_longest_run(reply: str, score: float) -> None:
    """Words in order and without a gap count, over the words of the true continuation."""
    asked = Item("1", {"text": "Here"}, "we keep logs for a year")
    assert CONTINUED.compute([Outcome(asked, ParsedReply(reply))]) == pytest.approx(score)
    assert CONTINUED.compute([Outcome(asked, ParsedReply(fault="refused"))]) == 0


def test_without_a_question_a_text_cannot_be_left_out() -> None:
    """Nothing would be asked then."""
    with pytest.raises(UsageError, match="text; without the text, nothing is left to ask"):
        make_probed_material(NO_CONTEXT, Material((Item("1", {"text": LONG}, []),)))


def messages(genaipa, probe: str, *more: str) -> list[str]:
    """The last message of each item of the sample, as a probe has it."""
    run = ("run", "--suite", "policyqa", "--split", "sample", "--system", "scripted", "--probe", probe, *more)
    done = genaipa(*run, "--dry-run", "--json")
    assert done.code == 0, done.err
    return [one["messages"][-1]["content"] for one in json.loads(done.out)]


def test_the_text_is_never_shown_without_context(genaipa) -> None:
    """A sentence is in its place; the question and its examples stay."""
    kept = messages(genaipa, NO_CONTEXT)
    assert len(kept) == 20
    assert all("left out on purpose" in text and "Question:" in text for text in kept)
    sample = json.loads((SHIPPED / "policyqa/sample.json").read_text())
    shown = "\n".join(kept)
    assert not any(p["context"] in shown for policy in sample["data"] for p in policy["paragraphs"])


def test_a_baseline_is_not_probed(genaipa) -> None:
    """It answers by rule; an unknown probe is named, with those that there are."""
    run = ("run", "--suite", "policyqa", "--split", "sample")
    refused = genaipa(*run, "--system", "baseline/empty", "--probe", NO_CONTEXT)
    assert (refused.code, "answers by a rule" in refused.err) == (2, True)
    refused = genaipa(*run, "--system", "scripted", "--probe", "by-heart")
    assert (refused.code, "continuation" in refused.err) == (2, True)


def test_a_continuation_is_run_and_scored(genaipa) -> None:
    """Its replies are plain text, read by its own measure; the run goes on with what it keeps."""
    done = genaipa("run", "--suite", "policyqa", "--split", "sample", "--system", "scripted", "--probe", CONTINUATION)
    assert done.code == 0, done.err
    (path,) = Path("runs").iterdir()
    records = list(RunFolder(path).read_records())
    assert records
    assert all(record.score is not None and "json_schema" not in record.sent for record in records)
    assert genaipa("run", "--resume", "latest").code == 0


def test_items_that_a_probe_leaves_out_are_counted(genaipa) -> None:
    """Before anything is asked: company-swap is for items that name their company, a continuation for long texts."""
    for probe, reason in ((COMPANY_SWAP, "the others don't name their company"), (CONTINUATION, "one for each text")):
        asked = len(messages(genaipa, probe))
        run = ("run", "--suite", "policyqa", "--split", "sample", "--system", "scripted", "--probe", probe, "--dry-run")
        assert asked < 20
        assert f"the probe {probe} asks {asked} of 20 items: {reason}" in genaipa(*run).err
