"""The desk's pages beside the scoring page, over real runs and a real store of scores."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pages import Shown, desk_here, digests, dispute, make_desk, score
from running import carry_out, latest, make_workspace, spec, write

from genaipa import ui
from genaipa.runs.folder import RunFolder
from genaipa.scoring.agreement import measure_analyst_agreement
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.people import User
from genaipa.ui.desk import Desk, open_desk
from genaipa.ui.settings import DeskSettings
from genaipa.ui.widgets import PAGE, format_duration
from rubrics import METRICS, PAPER, typed

COMPONENTS = Path(ui.__file__).parent / "components"
HOSTILE = "<script>alert(1)</script> ![beacon](http://192.0.2.1/x.png) [link](http://192.0.2.1) :red[**loud**] $x$"


@pytest.fixture
def desk() -> Desk:
    """A desk with the four answers of one system, none of them scored."""
    return make_desk()


# -- nothing there --


@pytest.mark.parametrize("name", ["overview", "adjudication", "agreement", "manual"])
def test_an_empty_workspace_is_one_sentence(name):
    """Where nothing has been run, each page says so, and what to do or to wait for."""
    make_workspace()
    page = Shown(name, desk_here())
    notices = [text["text"] for data in page.components().values() for text in data.get("texts", ())]
    assert len(notices) == 1
    assert notices[0].endswith(".") or "genaipa run" in notices[0]


def test_answers_that_nobody_has_scored(desk):
    """Before the first score there is nothing to settle or to compare, and nobody in the list of analysts."""
    assert "nothing to settle" in Shown("adjudication", desk).text()
    assert "nothing to compare" in Shown("agreement", desk).text()
    overview = Shown("overview", desk)
    assert "overview analysts" not in overview.components()
    assert [metric.value for metric in overview.test.metric] == ["4", "8", "0", "8", "0", "0"]


# -- overview --


def test_the_overview_counts_runs_scores_and_analysts(desk):
    """What stands above the answers is what runs and store hold."""
    first, second, *_ = digests(desk)
    score(desk, "ada", first, "11111")
    score(desk, "grace", first, "11113")
    score(desk, "ada", second, "11111")
    page = Shown("overview", desk)
    assert {m.label: m.value for m in page.test.metric} == {
        "Answers": "4",
        "Scores wanted": "8",
        "Given": "3",
        "Remaining": "5",
        "Disputed": "1",
        "Settled": "0",
    }
    (run,) = page.rows("overview runs")
    assert run[1:] == ["complete", "extractive", "acme", "4", "4", "0"]
    assert [row[:3] for row in page.rows("overview analysts")] == [
        ["ada", "2", "1 min 0 s"],
        ["grace", "1", "1 min 0 s"],
    ]


def test_the_overview_says_how_long_it_takes_and_what_it_costs(desk):
    """Time so far and left, by analyst and in all; its price where desk.yaml has a rate, also for whoever comes yet."""
    first, second, *_ = digests(desk)
    score(desk, "ada", first, "11111")
    score(desk, "grace", first, "11113")
    score(desk, "ada", second, "11111")
    page = Shown("overview", desk)
    assert [row[3:6] for row in page.rows("overview analysts")] == [["2 min", "2", "2 min"], ["1 min", "3", "3 min"]]
    assert "Total: 3 min of analysts' time so far, and about 5 min left. The price" in page.text()
    desk.queue.adjudicate("edsger", first, typed("11112"), note="", seconds=1800.0, id="settled")
    write("desk.yaml", "analysts: [ada, grace, Katherine]\nrate: 30\n")
    page = Shown("overview", desk_here())
    assert [row[:8] for row in page.rows("overview analysts")] == [
        ["Katherine", "0", "-", "0 min", "2", "2 min", "0.00", "1.00"],
        ["ada", "2", "1 min 0 s", "2 min", "2", "2 min", "1.00", "1.00"],
        ["grace", "1", "1 min 0 s", "1 min", "2", "2 min", "0.50", "1.00"],
    ]
    said = page.text()
    assert re.search(r"\b33 min\b.*\b30 min\b.*\b6 min left", said), "of all, of adjudication, and to come"
    assert re.search(r"\b30 an hour\b.*\b16\.50 so far\b.*\b3\.00 more", said)


def test_an_answer_outside_the_wave_is_called_so(desk):
    """Nobody is asked to score it: it has scores, and not scores of none."""
    score(desk, "ada", digests(desk)[0], "11111")
    desk.store.close()
    part = open_desk(DeskSettings(Path.cwd(), sample=1, plan=ScoringPlan(per_answer=2)))
    given = [row[5] for row in Shown("overview", part).rows("overview answers")]
    assert sorted(given) == [
        "0 of 2",
        "0, not in the random part",
        "0, not in the random part",
        "1, not in the random part",
    ]


def test_what_cannot_be_used_is_said(desk):
    """A run whose manifest is damaged is named on the pages that list runs, and the others go on."""
    (run,) = desk.workspace.runs.iterdir()
    broken = run.with_name("broken")
    broken.mkdir()
    (broken / "manifest.json").write_text("{")
    again = desk_here()
    page = Shown("overview", again, User("lead", scores=False, adjudicates=True))
    assert "broken" in page.components()["overview problems"]["texts"][0]["text"]
    assert len(page.rows("overview answers")) == 4
    assert ["is damaged" in row[1] for row in page.rows("overview runs") if row[0] == "broken"] == [True]
    assert "broken" in Shown("manual", again).components()["by hand problems"]["texts"][0]["text"]


def test_a_long_table_is_turned_page_by_page():
    """Of many answers one page is on screen, and the arrows lead to the others."""
    make_workspace(PAGE + 3)
    carry_out(spec(systems=("extractive",)))
    page = Shown("overview", desk_here())
    first = page.rows("overview answers")
    assert len(first) == PAGE
    page.tell("overview answers", "turned", 1)
    assert len(page.rows("overview answers")) == 3
    assert page.components()["overview answers"]["page"] == {"first": PAGE + 1, "last": PAGE + 3, "all": PAGE + 3}
    page.tell("overview answers", "turned", 1)
    page.tell("overview answers", "turned", -1)
    assert page.rows("overview answers") == first


# -- adjudication --


@pytest.fixture
def disputed(desk: Desk) -> Desk:
    """The same, with two answers on which ada and grace differ (the first more), one alike and one scored once."""
    return dispute(desk)


def decide(page: Shown, what: str, typed: str = ".....", note: str = "") -> None:
    """What the browser tells when the adjudicator does something."""
    data = page.components()["verdict"]
    said = {"what": what, "id": data["id"], "typed": typed, "note": note}
    page.tell("verdict", "did", said | {"seconds": 12.5})


def test_both_scores_are_side_by_side(disputed):
    """The answer that differs most comes first, with each analyst's values in the rubric's words, and their notes."""
    page = Shown("adjudication", disputed)
    page.test.checkbox(key="adjudication names").check()
    page.run()
    data = page.components()["verdict"]
    assert data["answer"] == digests(disputed)[0]
    assert sorted((a["name"], a["note"]) for a in data["analysts"]) == [("ada", "ada on Q1"), ("grace", "")]
    accuracy = data["metrics"][METRICS.index("accuracy")]
    assert [(given["value"], given["words"]) for given in accuracy["given"]] == [
        ("+1", "entirely correct"),
        ("-1", "incorrect"),
    ]
    assert [metric["metric"] for metric in data["metrics"] if metric["differs"]] == ["accuracy"]
    assert "Question 1 on Acme?" in page.text()


def test_what_all_gave_is_filled_in_and_the_case_is_beside_it(disputed):
    """Only the metrics that differ are left to settle; the document is there with its marks, and the evidence."""
    page = Shown("adjudication", disputed)
    assert page.components()["verdict"]["draft"]["typed"] == "1.111"
    case = page.components()["case"]
    assert case["answer"]["answer"] == digests(disputed)[0]
    assert "".join(text for text, *_ in case["answer"]["reply"]) in page.text()
    assert set(case["answer"]["evidence"]) == set(METRICS)
    assert sum(length for length, *_ in case["answer"]["pieces"]) == len(case["document"]["text"])
    assert case["answer"]["suggestion"] == {}
    # Nothing is kept of an answer that one only looks at.
    decide(page, "skip", "1.111")
    assert disputed.store.load_drafts_of_analyst("edsger") == []


def test_names_are_hidden_at_first(disputed):
    """Letters stand in place of names and times, in an order that the answer decides, each above their own values."""
    page = Shown("adjudication", disputed)
    data = page.components()["verdict"]
    page.test.checkbox(key="adjudication names").check()
    page.run()
    named = page.components()["verdict"]
    assert [(one["name"], one["about"]) for one in data["analysts"]] == [("Analyst A", ""), ("Analyst B", "")]
    assert "grace" not in json.dumps(data)
    place = METRICS.index("accuracy")
    both = zip(data["analysts"], data["metrics"][place]["given"], strict=True)
    before = zip(named["analysts"], named["metrics"][place]["given"], strict=True)
    assert {(one["note"], given["value"]) for one, given in both} == {(o["note"], g["value"]) for o, g in before}


def test_an_adjudication_is_a_third_record(disputed):
    """Saving keeps an adjudication beside the two scores, once, and shows the next answer."""
    first, second, *_ = digests(disputed)
    page = Shown("adjudication", disputed)
    stale = page.components()["verdict"]
    decide(page, "save", "12111", note=" Section 2 says so. ")
    assert page.components()["verdict"]["answer"] == second
    said = {"what": "save", "id": stale["id"], "typed": "33333", "note": "", "seconds": 1}
    page.tell("verdict", "did", said)
    events = disputed.store.load_answer_events(first)
    assert [(event.kind, event.analyst) for event in events] == [
        ("score", "ada"),
        ("score", "grace"),
        ("look", "edsger"),
        ("adjudication", "edsger"),
    ]
    assert events[-1].values == typed("12111")
    assert (events[-1].note, events[-1].seconds) == ("Section 2 says so.", 12.5)
    assert set(disputed.current.scores_by_analyst(first)) == {"ada", "grace"}
    decide(page, "save", "11111")
    assert "No more answers match" in page.text()


def test_an_adjudication_can_be_undone(disputed):
    """Undo withdraws the last adjudication; its answer is there again with what was typed."""
    first = digests(disputed)[0]
    page = Shown("adjudication", disputed)
    assert page.components()["verdict"]["can"]["undo"] is False
    decide(page, "save", "12111", note="A slip.")
    decide(page, "undo")
    data = page.components()["verdict"]
    assert (data["answer"], data["draft"]["typed"], data["draft"]["note"]) == (first, "12111", "A slip.")
    assert disputed.current.find_latest_adjudication(first) is None
    assert [event.kind for event in disputed.store.load_answer_events(first)][-2:] == ["adjudication", "undo"]


def test_a_draft_comes_back(disputed):
    """What was typed before the tab went is there in another session, and going to the next answer loses none of it."""
    page = Shown("adjudication", disputed)
    decide(page, "draft", "12...", note="Half a th")
    again = Shown("adjudication", disputed)
    draft = again.components()["verdict"]["draft"]
    assert (draft["typed"], draft["note"], draft["seconds"]) == ("12...", "Half a th", 12.5)
    decide(again, "skip", "123..", note="Half a thought")
    decide(again, "back")
    assert again.components()["verdict"]["draft"]["typed"] == "123.."


def test_settled_answers_can_be_corrected(disputed):
    """An adjudicated answer is left out until it is asked for, then stands there with the values that settled it."""
    first, second, *_ = digests(disputed)
    decide(Shown("adjudication", disputed), "save", "12111")
    page = Shown("adjudication", disputed)
    assert page.components()["verdict"]["answer"] == second
    page.test.selectbox(key="adjudication state").select("settled")
    page.run()
    data = page.components()["verdict"]
    assert (data["answer"], data["draft"]["typed"]) == (first, "12111")
    decide(page, "save", "13111")
    adjudication = disputed.current.find_latest_adjudication(first)
    assert adjudication is not None
    assert adjudication.values == typed("13111")


def test_filters_choose_by_metric_and_difference(disputed):
    """Only answers that differ on that metric by that much are chosen."""
    first, second, *_ = digests(disputed)
    page = Shown("adjudication", disputed)
    page.test.selectbox(key="adjudication metric").select("reference")
    page.run()
    assert page.components()["verdict"]["answer"] == second
    page.test.selectbox(key="adjudication least").select(2.0)
    page.run()
    assert "verdict" not in page.components()
    page.test.selectbox(key="adjudication metric").select("accuracy")
    page.run()
    assert page.components()["verdict"]["answer"] == first


def test_a_broken_message_settles_nothing(disputed):
    """What is not five digits is not kept, is said, and leaves the answer there."""
    page = Shown("adjudication", disputed)
    decide(page, "save", "1199")
    data = page.components()["verdict"]
    assert "Not saved" in data["message"]
    assert data["answer"] == digests(disputed)[0]
    assert disputed.current.find_latest_adjudication(data["answer"]) is None


def test_only_adjudicators_settle(disputed):
    """Another user gets a sentence, and none of the scores."""
    page = Shown("adjudication", disputed, User("bo", scores=True, adjudicates=False))
    assert [text.value for text in page.test.text] == ["bo is an analyst of this study, not an adjudicator."]
    assert "ada on" not in page.text()


# -- agreement --


def test_agreement_shows_what_is_measured(disputed):
    """The numbers are those of the scores that stand, and that they rest on few answers is said."""
    page = Shown("agreement", disputed)
    found = measure_analyst_agreement(disputed.current.list_all_current_scores(), PAPER)
    on = found.metrics["reference"]
    row = next(row for row in page.rows("agreement metrics") if row[0] == "reference")
    assert row[1].startswith(f"{on.alpha:.2f}")
    assert row[2:4] == [f"{on.ac2:.2f}", f"{on.commonest:.0%}"]
    assert row[4] == f"{on.equal:.0%}" == "67%"
    assert page.rows("agreement pairs")[0][:2] == ["ada and grace", "3"]
    assert [row[0] for row in page.rows("agreement leanings")] == ["ada", "grace"]
    assert "fewer than 30" in page.text()
    assert [row[0] for row in page.rows("agreement answers")] == [
        f"{disputed.pool.load_case(answer).asked} (Q{n})" for n, answer in enumerate(digests(disputed)[:2], 1)
    ]
    tones = [cell.get("tone", "") for cell in page.components()["agreement answers"]["rows"][0]["cells"][4:-1]]
    assert tones == ["quiet", "bad", "quiet", "quiet", "quiet"], "red is what is furthest apart, and nothing else"


def test_an_answer_that_differs_is_opened_below_its_row(disputed):
    """The row of an answer opens it with everyone's scores and notes, its system masked; and comes into sight."""
    first = digests(disputed)[0]
    page = Shown("agreement", disputed)
    assert "agreement reply" not in page.components()
    page.tell("agreement answers", "chosen", first)
    shown = page.components()["agreement reply"]["texts"]
    case = disputed.pool.load_case(first)
    assert [text["text"] for text in shown[:2]] == [case.asked, case.mask_names_in_reply()]
    assert shown[0]["arrives"] == first
    assert [(row[0], row[-1]) for row in page.rows("agreement scores")] == [("ada", "ada on Q1"), ("grace", "")]
    assert first in disputed.current.answers_with_seen_scores("edsger")
    assert first not in disputed.current.answers_with_seen_system("edsger")
    settle = next(button for button in page.test.button if button.label == "Settle this answer")
    settle.click()
    page.run()
    assert page.test.session_state["adjudication session"].wanted == first


def test_agreement_is_about_the_answers_that_the_desk_is_open_on(disputed):
    """Scores of another run's answers, in the same store, change no number."""
    before = Shown("agreement", disputed)
    for analyst, keys in (("ada", "11111"), ("grace", "33333")):
        score(disputed, analyst, "f" * 64, keys)
    page = Shown("agreement", disputed)
    assert page.rows("agreement pairs") == before.rows("agreement pairs")
    assert page.rows("agreement metrics") == before.rows("agreement metrics")


# -- by hand --


@pytest.fixture
def waiting() -> tuple[Desk, RunFolder]:
    """A desk with a run of a web chat that waits for its two replies."""
    make_workspace(2)
    folder, outcome = carry_out(spec(systems=("manual/chat",), initializations=("company-name",)))
    assert outcome.status == "waiting"
    return desk_here(), folder


def give(page: Shown, text: str) -> None:
    """Paste a reply and press the button."""
    page.test.text_area[0].input(text)
    page.test.button[0].click()
    page.run()


def test_replies_are_taken_until_all_are_in(waiting):
    """The introduction and each question are there to be copied, and each reply is kept as it was pasted."""
    desk, folder = waiting
    page = Shown("manual", desk)
    introduction = next(d for key, d in page.components().items() if "introduction" in key)
    assert all(text["copies"] for text in introduction["texts"])
    assert "Missing answers: 2 of 2 in this run" in page.text()
    give(page, "  ")
    assert "There is no reply in the box" in page.text()
    give(page, f"One.\n\n{HOSTILE}\n")
    assert "1 of 2 in this chat" in page.text()
    assert "Continue in the same chat" in page.text()
    give(page, "Two.")
    assert "No run is waiting" in page.text()
    assert [record.reply for record in latest(folder).values()] == [f"One.\n\n{HOSTILE}", "Two."]
    assert folder.manifest().status == "complete"


def test_a_run_that_another_process_holds_is_left_alone(waiting):
    """While a run is held nothing is kept, the page says so, and what was pasted is still in the box."""
    desk, folder = waiting
    page = Shown("manual", desk)
    with folder.hold_for_writing_and_list_repairs():
        give(page, "One.")
    assert "another process is using" in page.text()
    assert page.test.text_area[0].value == "One."
    assert latest(folder) == {}
    assert not folder.is_held_for_writing()
    give(page, "One.")
    assert [record.reply for record in latest(folder).values()] == ["One."]


def test_a_reply_that_came_in_meanwhile_stays(waiting):
    """Of two people who paste into the same question the first is kept, and the second is told."""
    desk, folder = waiting
    late = Shown("manual", desk)
    give(Shown("manual", desk), "The first.")
    give(late, "The second.")
    assert "another reply to" in late.text()
    assert [record.reply for record in latest(folder).values()] == ["The first."]


# -- safety --


@pytest.mark.parametrize("name", ["overview", "adjudication", "agreement"])
def test_no_text_of_others_reaches_markdown(desk, name):
    """A hostile answer, note or analyst's name is only ever in the desk's own components, which show it as text."""
    first = digests(desk)[0]
    score(desk, HOSTILE, first, "11111", note=HOSTILE)
    score(desk, "grace", first, "33333", note="=cmd|' /C calc'!A0")
    page = Shown(name, desk)
    if name == "overview":
        page.tell("overview answers", "chosen", first)
    assert HOSTILE in json.dumps(page.components(), ensure_ascii=False)
    live = [element for element in page.elements() if element.type != "bidi_component"]
    assert [element.type for element in live if "beacon" in str(element.proto)] == []
    assert {element.type for element in live} & {"dataframe", "arrow_data_frame", "table"} == set()


def test_components_make_text_only():
    """No component turns a text into HTML or script, or asks another machine for anything."""
    live = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|https?:|@import|url\("
    )
    files = [*COMPONENTS.glob("*.js"), *COMPONENTS.glob("*.css")]
    assert len(files) > 4
    assert {file.name: live.findall(file.read_text()) for file in files if live.search(file.read_text())} == {}


def test_letters_have_five_sizes():
    """Every component takes its sizes from the one scale, but for what is relative to a document's text."""
    files = [*COMPONENTS.glob("*.css")]
    sizes = {
        size for file in files for size in re.findall(r"font(?:-size)?:[^;]*?(\d[\d.]*(?:px|rem))", file.read_text())
    }
    assert sizes <= {"1rem"}, "a bullet's"
    assert "system-ui" not in "".join(file.read_text() for file in files)


@pytest.mark.parametrize(("seconds", "said"), [(None, "-"), (0, "0 s"), (59.6, "1 min 0 s"), (380, "6 min 20 s")])
def test_durations_read_well(seconds, said):
    """Seconds are said in minutes from one minute up."""
    assert format_duration(seconds) == said
