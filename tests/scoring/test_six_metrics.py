"""A study by a rubric of the workspace's own: six metrics with weights, in German words, from the run to the report."""

from __future__ import annotations

import contextlib
import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import openpyxl
import pytest
from analysts import arrive, make_answers, open_to
from pages import Shown, desk_here, digests, make_desk
from running import carry_out, make_workspace, spec, write
from stores import score as paper_score

from genaipa.errors import DataError
from genaipa.scoring.people import User
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import ScoreStore, open_or_create_store
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

GERMAN = """\
title: Sechs Metriken
values: [1, 0.5, 0, -1]
metrics:
  bezug:
    words: [trifft die Frage, trifft sie zum Teil, streift sie, verfehlt sie]
  richtigkeit:
    name: sachliche Richtigkeit
    question: Stimmt die Antwort mit dem Dokument überein?
    words: [ganz richtig, teils richtig, nicht zu entscheiden, falsch]
    weight: 2
    evidence: [quotations]
  klarheit:
    words: [klar, noch klar, umständlich, unverständlich]
  umfang:
    words: [vollständig, fast vollständig, lückenhaft, das Wichtigste fehlt]
  beleg:
    words: [richtig belegt, nur erwähnt, ohne Beleg, falsch belegt]
    evidence: [citations]
  tonfall:
    name: Tonfall
    words: [freundlich, sachlich, kühl, herablassend]
    weight: 0.5
bands: {green: 0.6, red: -0.2}
silent_rule: Das Dokument beantwortet diese Frage nicht.
"""
SIX = ("bezug", "richtigkeit", "klarheit", "umfang", "beleg", "tonfall")
WEIGHTS = (1, 2, 1, 1, 1, 0.5)
VALUES = {"1": 1.0, "2": 0.5, "3": 0.0, "4": -1.0}


def overall(keys: str) -> float:
    """M_all of the values behind six keys, by the weights of the rubric."""
    points = sum(weight * VALUES[key] for weight, key in zip(WEIGHTS, keys, strict=True))
    return (points + 6.5) / 13 * 90 + 10


def in_german() -> None:
    """Let the workspace of the working folder bring its own rubric."""
    write("rubrics/deutsch.yaml", GERMAN)
    write("genaipa.toml", 'name = "studie"\nrubric = "deutsch"\n')


def done(finished: Finished) -> str:
    """What a command that went well printed."""
    assert finished.code == 0, finished.err
    return finished.out


@pytest.mark.full
def test_a_study_with_six_metrics_from_the_run_to_the_report(genaipa: Callable[..., Finished]) -> None:
    """What is typed at the desk's page is exported, taken back and reported by six metrics and their weights."""
    make_workspace(3)
    in_german()
    run, _ = carry_out(spec(systems=("extractive",)))
    assert "4 rubrics" in done(genaipa("validate"))
    typed = ("112314", "411111", "222222")
    desk = desk_here(per_answer=1)
    page = Shown("scoring", desk, User("Anna", scores=True, adjudicates=False))
    pad = page.components()["pad"]
    assert [metric["metric"] for metric in pad["metrics"]] == list(SIX)
    assert pad["metrics"][1]["name"] == "sachliche Richtigkeit"
    assert [line["words"] for line in pad["metrics"][5]["lines"]] == ["freundlich", "sachlich", "kühl", "herablassend"]
    given = {}
    for number, keys in enumerate(typed, start=1):
        turn = page.components()["turn"]
        given[turn["of"]] = keys
        said = {
            "act": "save",
            "id": turn["id"],
            "number": number,
            "typed": keys,
            "note": "",
            "seconds": 1,
            "revision": 1,
        }
        page.tell("turn", "act", said | {"revision": 1})
    desk.store.close()

    done(genaipa("scores", "export", "-o", "scores.csv"))
    with Path("scores.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["digest"]: [float(row[metric]) for metric in SIX] for row in rows} == {
        digest: [VALUES[key] for key in keys] for digest, keys in given.items()
    }
    assert {row["digest"]: float(row["m_all"]) for row in rows} == {
        digest: round(overall(keys), 2) for digest, keys in given.items()
    }
    assert {row["rubric"] for row in rows} == {load_rubric(find_workspace()).digest}
    assert "unchanged since they were written" in done(genaipa("scores", "verify"))
    done(genaipa("scores", "export", "-o", "log.jsonl"))
    Path("scores.db").unlink()
    done(genaipa("scores", "import", "log.jsonl"))
    assert json.loads(done(genaipa("scores", "import", "scores.csv", "--json")))["known"] == 3

    done(genaipa("report", run.name, "-o", "report", "--formats", "svg", "--frame", "frame.csv"))
    with Path("report/tables/metrics-by-question.csv").open(encoding="utf-8", newline="") as file:
        (head, *lines) = list(csv.reader(file))
    assert head[5:12] == [*SIX, "m_all"]
    assert sorted(float(line[11]) for line in lines) == pytest.approx(sorted(map(overall, typed)), abs=0.01)
    page_text = Path("report/index.html").read_text(encoding="utf-8")
    assert "sachliche Richtigkeit (x 2)" in page_text
    assert "M_all = (sum + 6.5) / 13 x 90 + 10" in page_text
    assert "Green from 0.6 (M_all 82) up, Red below -0.2" in page_text
    done(genaipa("pack", run.name, "-o", "study.zip"))
    assert "identical to the packed ones" in done(genaipa("unpack", "study.zip", "again"))
    assert load_rubric(find_workspace(Path("again"))) == load_rubric(find_workspace())
    drawn = Path("report/figures/quality-metrics.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in ("bezug", "sachliche Richtigkeit", "Tonfall"))


# In small, the pad's keys are in test_desk_browser, six metrics on the page in the next test.
@pytest.mark.full
def test_six_metrics_are_scored_by_the_keyboard() -> None:
    """The pad has a row of keys for each metric of the rubric, four values each, and a score takes six digits."""
    make_answers("Answer 1: see section 1.", "Answer 2: see section 2.")
    in_german()
    with open_to("--per-answer", "1") as (desk, browser):
        anna = arrive(browser, desk, "Anna")
        assert anna.page.locator(".metric h2").all_text_contents()[1] == "sachliche Richtigkeit"
        anna.keys("11231")
        assert anna.look().typed == "11231."
        anna.page.keyboard.press("Enter")
        anna.wait("screen.message.includes('Tonfall has no value yet.')")
        anna.keys("4")
        assert anna.go("Enter") is not None
    with contextlib.closing(open_or_create_store(find_workspace())) as store:
        (event,) = (event for _, event in store.read_numbered_events() if event.kind == "score")
        assert list(event.values.items()) == [(metric, VALUES[key]) for metric, key in zip(SIX, "112314", strict=True)]


def test_disagreement_is_settled_and_measured_in_six_metrics() -> None:
    """The pages of adjudication, agreement and results show the rubric's metrics by their names."""
    make_workspace(4)
    in_german()
    carry_out(spec(systems=("extractive",), initializations=("company-name",)))
    desk = desk_here()
    for analyst, keys in (("ada", "111111"), ("grace", "141111")):
        for answer in digests(desk):
            values = desk.rubric.parse_digits(keys)
            desk.queue.save_score(analyst, answer, values, note="", seconds=60, suggested={}, id=f"{analyst}{answer}")
    verdict = Shown("adjudication", desk).components()["verdict"]
    assert [metric["name"] for metric in verdict["metrics"] if metric["differs"]] == ["sachliche Richtigkeit"]
    assert verdict["draft"]["typed"] == "1.1111"
    rows = Shown("agreement", desk).rows("agreement metrics")
    assert [row[0] for row in rows] == ["bezug", "sachliche Richtigkeit", "klarheit", "umfang", "beleg", "Tonfall"]
    assert rows[1][4] == "0%"
    assert Shown("results", desk).test.selectbox(key="results cell metric").options == [
        *("M_all", "bezug", "sachliche Richtigkeit", "klarheit", "umfang", "beleg", "Tonfall")
    ]


def test_a_sheet_has_the_rubrics_columns_and_words(genaipa: Callable[..., Finished]) -> None:
    """A sheet to fill has a column for each metric, explains its values, and comes back as scores."""
    make_workspace(2)
    in_german()
    run, _ = carry_out(spec(systems=("extractive",)))
    done(genaipa("scores", "sheet", run.name, "-o", "ada.xlsx", "--analyst", "Ada"))
    book = openpyxl.load_workbook("ada.xlsx")
    assert [cell.value for cell in book["rubric"][3]] == [
        "richtigkeit",
        *["ganz richtig", "teils richtig"],
        *("nicht zu entscheiden", "falsch"),
    ]
    sheet = book["scores"]
    names = [cell.value for cell in sheet[1]]
    for place, metric in enumerate(SIX):
        sheet.cell(2, names.index(metric) + 1, (1, 0.5, 0, -1, 1, 1)[place])
    book.save("ada.xlsx")
    assert "1 " in done(genaipa("scores", "import", "ada.xlsx"))
    with contextlib.closing(open_or_create_store(find_workspace())) as store:
        assert [store.rubric.format_as_digits(event.values) for _, event in store.read_numbered_events()] == ["123411"]


def test_scores_by_two_rubrics_are_not_mixed(genaipa: Callable[..., Finished]) -> None:
    """A store has one set of metrics: scores of others are neither read, written nor taken in; the log can be saved."""
    make_desk().store.close()
    with contextlib.closing(ScoreStore.open_or_create("sqlite:///scores.db")) as store:
        store.append_new_events([paper_score("ana", "a" * 64)])
    in_german()
    with contextlib.closing(open_or_create_store(find_workspace())) as store:
        with pytest.raises(DataError, match=r"the metrics are relevance.*'Sechs Metriken' has bezug"):
            list(store.read_numbered_events())
        with pytest.raises(DataError, match="the metrics are relevance"):
            store.append_new_events([paper_score("ana", "b" * 64)])
    refused = genaipa("scores", "export")
    assert refused.code != 0
    assert "Name the rubric of these scores in genaipa.toml" in refused.err
    assert "unchanged since they were written" in done(genaipa("scores", "verify"))
    done(genaipa("scores", "export", "-o", "log.jsonl"))
    Path("scores.db").unlink()
    refused = genaipa("scores", "import", "log.jsonl", "--unknown-answers")
    assert refused.code == 2
    assert "line 1, values: the metrics are relevance" in refused.out + refused.err
