"""Follow-ups: a second question after each answer, in its conversation, whose reply is an answer by itself."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from judges import events, judge_runs, verdict
from openpyxl import load_workbook
from running import answers, carry_out, make_workspace, messages, spec, write
from servers import Behaviour, OpenAIServer, reply
from starlette.datastructures import QueryParams
from stores import opened, score

from genaipa.judging.answers import read_judged_material
from genaipa.reports.answers import format_question_after_earlier_one
from genaipa.reports.moved import find_moved_answers
from genaipa.runs.folder import RunFolder
from genaipa.runs.inputs import load_conversation_through_reply
from genaipa.runs.integrity import describe_record_flaw_or_empty
from genaipa.runs.selection import find_run, select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.ui.view.index import AnswerIndex
from genaipa.ui.view.server import ViewServer
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commandline import Cli

FOLLOW_UP = "Where does it say so?"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that answers everything."""
    with OpenAIServer(models=("m",)) as running:
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        yield running


def ask(mode: str = "shared", **plan: Any) -> Any:
    """A run with follow-ups about four questions."""
    return carry_out(spec(conversation=mode, follow_up=FOLLOW_UP, **plan))


@pytest.mark.parametrize("mode", ["shared", "independent"])
def test_first_answers_are_asked_as_without_follow_ups(server: OpenAIServer, mode: str) -> None:
    """The messages of first questions are those of a run without follow-ups; each follow-up continues its own."""
    make_workspace()
    carry_out(spec(conversation=mode))
    without = sorted(map(repr, map(messages, server.requests)))
    server.requests.clear()
    folder, _ = ask(mode)
    asked = [messages(request) for request in server.requests]
    follow_ups = [request for request in asked if request[-1]["content"] == FOLLOW_UP]
    assert sorted(repr(request) for request in asked if request not in follow_ups) == without
    assert len(follow_ups) == 4
    for request in follow_ups:
        question = request[-3]["content"]
        assert request[:-2] in asked
        assert request[-2] == {"role": "assistant", "content": f"You asked: {question}"}
    records = folder.read_records()
    _, offsets = folder.tally_records_and_map_offsets()
    for record in (record for record in records if record.after):
        conversation = [(m.role, m.content) for m in load_conversation_through_reply(folder, record, offsets)[:-1]]
        assert conversation in [[(m["role"], m["content"]) for m in request] for request in follow_ups]


def test_the_same_words_after_two_answers_are_two_answers(server: OpenAIServer) -> None:
    """A follow-up's identity holds the answer before it, and a changed reference is found."""
    make_workspace(questions=2)
    server.script = [reply("Yes."), reply("In section 2."), reply("No."), reply("In section 2.")]
    folder, _ = ask()
    records = {record.question: record for record in answers(folder)}
    firsts = {name: record.digest for name, record in records.items() if not record.after}
    seconds = [record for record in records.values() if record.after]
    assert {record.after for record in seconds} == set(firsts.values())
    assert len({record.digest for record in seconds}) == 2
    digests = {"acme": folder.manifest().documents["acme"].digest}
    assert describe_record_flaw_or_empty(seconds[0], digests, texts_withheld=False) == ""
    assert describe_record_flaw_or_empty(
        msgspec.structs.replace(seconds[0], after="0" * 64), digests, texts_withheld=False
    )


@pytest.mark.parametrize("mode", ["shared", "independent"])
def test_a_run_goes_on_where_a_follow_up_failed(server: OpenAIServer, mode: str) -> None:
    """A failed follow-up ends no conversation, is counted as missing, and alone is asked again."""
    questions = 2 if mode == "shared" else 1
    make_workspace(questions=questions)
    server.script = [reply("Yes."), Behaviour(status=400, error="too odd"), reply("No."), reply("Section 1.")]
    folder, outcome = ask(mode)
    assert outcome.status == "partial"
    assert sum(record.status == "answered" for record in answers(folder)) == 2 * questions - 1
    server.requests.clear()
    server.script = ()
    carry_out(spec(conversation=mode, follow_up=FOLLOW_UP), folder)
    assert [messages(request)[-1]["content"] for request in server.requests] == [FOLLOW_UP]
    assert folder.manifest().status == "complete"


def test_a_question_has_words_of_its_own(server: OpenAIServer) -> None:
    """A question's follow_up comes before that of the option, with the company's name."""
    make_workspace(questions=2)
    file = find_workspace().nearest_files("questions")["policy"][1]
    file.write_text(
        file.read_text().replace("origin: faq", "follow_up: 'And for children at [the company]?', origin: faq", 1)
    )
    ask()
    follow_ups = [messages(request)[-1]["content"] for request in server.requests]
    assert {"And for children at Acme?", FOLLOW_UP} <= set(follow_ups)


def test_analysts_and_judges_see_the_first_answer(genaipa: Cli) -> None:
    """The exchange before is shown, masked, and the judge is told to judge the second reply alone."""
    make_workspace(questions=1)
    write("say.yaml", "rules:\n- {match: Where, reply: In section 2.}\ndefault: I am GPT-4 and say yes.\n")
    write("kind.yaml", f"default: '{verdict()}'\n")
    genaipa("run", "-s", "scripted/say.yaml", "-p", "acme", "-e", "quality", "--follow-up", FOLLOW_UP)
    pool = AnswerPool(find_workspace(), [find_run(find_workspace(), "latest")])
    second = next(answer for answer in pool.answers.values() if answer.wording == "follow-up")
    case = pool.load_case(second.digest)
    assert case.asked == FOLLOW_UP
    assert case.original == ""
    assert case.earlier is not None
    assert case.earlier.asked == "Question 1 on Acme?"
    assert case.asked_with_earlier_exchange.startswith(f"{FOLLOW_UP}\n\n(Asked before: Question 1 on Acme?\n")
    genaipa("judge", "--judge", "scripted/kind.yaml", "latest")
    judge_run = judge_runs()[-1]
    judged = {item.question: item for item in read_judged_material(judge_run).answers}
    assert judged["Q1"].earlier is None
    assert judged["Q1.follow-up"].earlier == case.earlier
    asked = next(line.asked for line in judge_run.read_records() if line.question == "Q1.follow-up")
    assert asked.count("I am GPT-4 and say yes.") == 1
    assert asked.index("the earlier answer ends") < asked.index("In section 2.")
    assert len(events()) == 2


def test_a_report_names_what_a_follow_up_follows() -> None:
    """The words of a follow-up alone, the same for every question, say nothing."""
    texts = {"Q1": "Is it kept?", "Q1.follow-up": FOLLOW_UP}
    assert format_question_after_earlier_one(texts, "Q1.follow-up") == f"{FOLLOW_UP} (asked after: Is it kept?)"
    assert format_question_after_earlier_one(texts, "Q1") == "Is it kept?"


def test_the_view_and_moved_answers_show_what_a_follow_up_follows(genaipa: Cli) -> None:
    """The view has the question and answer before it with each answer; tables of moved answers have the question."""
    make_workspace(questions=1)
    for name, second in (("say", "Yes."), ("other", "No.")):
        write(f"{name}.yaml", f"rules:\n- {{match: Where, reply: {second}}}\ndefault: First, {name}.\n")
    systems = "scripted/say.yaml", "scripted/other.yaml"
    genaipa("run", "-s", ",".join(systems), "-p", "acme", "-e", "quality", "--follow-up", FOLLOW_UP)
    run = find_run(find_workspace(), "latest")
    index = AnswerIndex(find_workspace(), select_runs_and_apply_filters(find_workspace(), (run.name,)))
    server = ViewServer(index)
    with contextlib.closing(server.socket):
        data = server.make_page_data(QueryParams({}))
    rows = {row["question"]: row for row in data["rows"]}
    before = {cell["system"]: cell["earlier"] for cell in rows["Q1.follow-up"]["cells"]}
    assert before == {
        system: f"Asked before: Question 1 on Acme?\nThe system replied: First, {system[9:-5]}." for system in systems
    }
    assert {cell["earlier"] for cell in rows["Q1"]["cells"]} == {""}
    moved = find_moved_answers(*systems, workspace=find_workspace())
    asked = {pair.question: pair.asked for pair in moved.pairs}
    assert asked == {"Q1": "Question 1 on Acme?", "Q1.follow-up": f"{FOLLOW_UP} (asked after: Question 1 on Acme?)"}
    of_view = {pair.question: pair.asked for pair in data["movement"].pairs}
    assert of_view == asked


def test_runs_are_listed_by_the_experiment_of_their_follow_ups(genaipa: Cli) -> None:
    """It is that of the initialization, by which the report knows it, whatever the run's preset is called."""
    make_workspace(questions=2)
    for preset in ("robustness", "recall"):
        genaipa("run", "-s", "extractive", "-p", "acme", "-e", preset, "--follow-up", FOLLOW_UP, "--name", preset)
    (listed,) = json.loads(genaipa("runs", "-e", "quality-follow-up", "--json").out)
    assert listed["run"].endswith("-robustness")
    assert genaipa("show", "robustness", "-e", "quality-follow-up").code == 0
    assert genaipa("runs", "-e", "robustness-follow-up").code == 2


def test_follow_ups_are_an_experiment_apart(genaipa: Cli) -> None:
    """No average mixes them with first answers; a chat by hand refuses them."""
    make_workspace(questions=2)
    genaipa("run", "-s", "extractive", "-p", "acme", "-e", "quality", "--follow-up", FOLLOW_UP)
    import genaipa as package

    listed = genaipa("runs", "-e", "quality-follow-up").out
    assert "quality,  " in listed
    assert "quality-follow-up" in listed
    shown = genaipa("show", "latest", "-e", "quality-follow-up")
    assert shown.code == 0, shown.err
    one = genaipa("show", "latest", "Q1.follow-up", "-e", "quality-follow-up").out
    assert one.index("Question 1 on Acme?") < one.index(f"(asked here)\n{FOLLOW_UP}")
    sheet = genaipa("scores", "sheet", "latest", "-o", "sheet.xlsx", "--analyst", "Ada")
    assert sheet.code == 0, sheet.err
    cells = [str(cell.value) for line in load_workbook("sheet.xlsx").active.iter_rows() for cell in line]
    assert any(
        text.startswith(f"{FOLLOW_UP}\n\n(Asked before: Question 1 on Acme?\nThe system replied: ") for text in cells
    )
    table = package.load_answers("latest")
    pairs = set(zip(table["experiment"].astype(str), table["question"].astype(str), strict=True))
    assert pairs == {
        *(("quality", name) for name in ("Q1", "Q2")),
        *(("quality-follow-up", f"{name}.follow-up") for name in ("Q1", "Q2")),
    }
    for systems, sentence in (
        ("manual/copilot", "manual/copilot is asked by hand and can't be asked follow-ups; leave it out."),
        ("extractive,people/l", "people/l is asked by hand and can't be asked follow-ups; ask it in a run of its own,"),
        ("people/l,extractive,manual/m", "people/l and manual/m are asked by hand and can't be asked follow-ups; ask"),
    ):
        refused = genaipa("run", "-s", systems, "-p", "acme", "-e", "quality", "--follow-up", FOLLOW_UP)
        assert (refused.code, f"--follow-up: {sentence}" in refused.err) == (2, True), refused.err


def test_a_comparison_leaves_out_follow_ups_that_one_side_lacks(genaipa: Cli) -> None:
    """Of their experiment alone nothing is refused; beside it they are counted, and no question is named."""
    make_workspace(questions=4)
    write("say.yaml", "default: See section 2.\n")
    genaipa("run", "-s", "extractive", "-p", "acme", "-e", "quality", "--follow-up", FOLLOW_UP, "--limit", "2")
    genaipa("run", "-s", "scripted/say.yaml", "-p", "acme", "-e", "quality", "--limit", "2")
    pool = AnswerPool(find_workspace(), [RunFolder(path) for path in sorted(find_workspace().runs.iterdir())])
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score("Ada", digest) for digest in pool.answers])
    refused = genaipa("compare", "extractive", "scripted/say.yaml")
    assert refused.code == 2
    assert "only extractive has 2 follow-ups. --anyway" in refused.err
    assert genaipa("compare", "extractive", "scripted/say.yaml", "-e", "quality").code == 0
    unscored = genaipa("compare", "extractive", "scripted/say.yaml", "-e", "quality-follow-up")
    assert "'scripted/say.yaml' has no score in quality-follow-up to compare yet" in unscored.err
