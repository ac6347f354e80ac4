"""The page of suites: scores without people, and the items behind them."""

from __future__ import annotations

import msgspec
from pages import Shown, desk_here
from running import carry_out, make_workspace

from genaipa.runs import journal
from genaipa.runs.records import answer_digest
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec

SYSTEMS = ("baseline/best-overlap", "baseline/empty")


def ask_sample() -> None:
    """A run of two baselines on the made-up items of PolicyQA, one of whose replies is no JSON."""
    make_workspace()
    spec = make_suite_run_spec("policyqa", SuiteOptions("sample"), SYSTEMS)
    folder, _ = carry_out(spec)
    records = list(folder.read_records())
    said = "The answer is <b>in the text</b>."
    broken = msgspec.structs.replace(records[0], reply=said, digest=answer_digest("", records[0].asked, said))
    folder.answers_path.write_bytes(b"".join(map(journal.encode_record_line, [broken, *records[1:]])))


def test_it_leads_from_a_system_to_its_items():
    """A row of a table chooses the system, the group and the item: its text, its gold label, the reply and why."""
    ask_sample()
    page = Shown("genaipa_suites.page", desk_here())
    assert [row[0] for row in page.rows("suites systems")] == [*SYSTEMS]
    assert page.rows("suites systems")[0][-1] == "1 unparsable"
    assert page.rows("suites items")[0][3] == "unparsable"
    key = page.components()["suites items"]["rows"][0]["id"]
    page.tell("suites items", "chosen", key)
    shown = {text.get("title"): text["text"] for text in page.components()["suites one"]["texts"]}
    assert shown["reply"] == "The answer is <b>in the text</b>."
    assert shown["prediction"] == "unparsable"
    assert {"text", "question", "gold"} <= shown.keys()
    groups = page.rows("suites groups")
    page.tell("suites groups", "chosen", groups[0][0])
    assert len(page.rows("suites items")) == int(groups[0][1])
    page.tell("suites systems", "chosen", SYSTEMS[1])
    assert {row[3] for row in page.rows("suites items")} == {"empty"}


def test_items_are_filtered_by_the_kind_of_error():
    """The box offers the faults that there are, and leaves the items of the chosen one."""
    ask_sample()
    page = Shown("genaipa_suites.page", desk_here())
    kinds = page.test.selectbox(key="suites kind")
    assert "unparsable" in kinds.options
    assert "refused" not in kinds.options
    kinds.set_value("unparsable")
    page.run()
    assert len(page.rows("suites items")) == 1


def test_without_a_suite_it_says_how_to_run_one():
    """The page of a workspace without one is a sentence with the command."""
    make_workspace()
    assert "genaipa run --suite" in Shown("genaipa_suites.page", desk_here()).text()


def test_a_system_asked_in_two_wordings_is_two_rows():
    """Each row has a name of its own, and either can be chosen."""
    make_workspace()
    for wording in (1, 2):
        carry_out(make_suite_run_spec("policyqa", SuiteOptions("sample", wording=wording), ("extractive",)))
    page = Shown("genaipa_suites.page", desk_here())
    names = [row[0] for row in page.rows("suites systems")]
    assert names == ["extractive (zero-shot, wording 1)", "extractive (zero-shot, wording 2)"]
    page.tell("suites systems", "chosen", names[1])
    assert page.components()["suites systems"]["chosen"] == names[1]
