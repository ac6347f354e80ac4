"""The first screen of `genaipa view A B`: the questions whose answers moved most, and from there to the answers."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from running import carry_out, make_workspace, spec, write
from starlette.datastructures import QueryParams
from stores import GOOD, POOR, opened, score

from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.ui.view.index import AnswerIndex
from genaipa.ui.view.server import ViewServer
from genaipa.workspace import find_workspace

RULES = """rules:
- {match: Question 3 on, reply: "Yes <b>indeed</b>, see Section 2."}
- {match: Question 9 on, reply: "Yes, they do."}
"""
SYSTEMS = ("scripted/old.yaml", "scripted/new.yaml")


def pages(questions: int, order: tuple[str, ...] = ()) -> ViewServer:
    """The view of two systems of one run; the new one answers where the old one finds the document silent."""
    make_workspace(questions=questions)
    write("old.yaml", "default: The policy does not say.\n")
    write("new.yaml", f"{RULES}default: The notice does not say.\n")
    folder, _ = carry_out(spec(systems=SYSTEMS))
    of_question = {record.question: record for record in folder.read_records() if record.system == SYSTEMS[1]}
    old = next(record for record in folder.read_records() if record.system == SYSTEMS[0] and record.question == "Q9")
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([score("ada", old.digest, GOOD), score("ada", of_question["Q9"].digest, POOR)])
    here = find_workspace()
    shown = ViewServer(AnswerIndex(here, select_runs_and_apply_filters(here, ()), order))
    shown.socket.close()
    return shown


def test_what_moved_comes_first_and_leads_to_the_answers() -> None:
    """By score, then by side; each line's link opens the page on which its answers stand; all others follow."""
    shown = pages(questions=24)
    facts = shown.make_page_data(QueryParams())
    assert facts["movement"].changed_sides_headline == (
        f"{SYSTEMS[1]} says yes to \u201cQuestion 9 on Acme?\u201d, where {SYSTEMS[0]} says that the document is "
        "silent: 2 of 24 answers changed sides."
    )
    assert [each["pair"].question for each in facts["moved"]] == ["Q9", "Q3"]
    assert [row["question"] for row in facts["rows"][:4]] == ["Q9", "Q3", "Q1", "Q2"]
    assert "where scripted/old.yaml says that the document is silent" in facts["rows"][1]["sentence"]
    for each in facts["moved"]:
        link = urlsplit(each["link"])
        there = shown.make_page_data(QueryParams({name: values[0] for name, values in parse_qs(link.query).items()}))
        assert link.fragment in {f"q{row['place']}" for row in there["rows"]}
    page = shown._template.render(facts)
    assert re.findall(r'href="[^"]*#(q\d+)"', page) == [f"q{each['pair'].position}" for each in facts["moved"]]
    assert "Nobody has measured the rules in German and French" in page
    assert "<b>indeed</b>" not in page
    second = shown.make_page_data(QueryParams("page=2"))
    assert (second["moved"], len(second["rows"])) == ([], 4)


def test_the_order_of_questions_and_of_systems_is_the_users() -> None:
    """As asked where that is chosen; the system that was named first is the first column; one alone moves nothing."""
    shown = pages(questions=9, order=SYSTEMS[::-1])
    assert shown.index.systems == [*SYSTEMS[::-1]]
    assert shown.make_page_data(QueryParams())["movement"].names == SYSTEMS[::-1]
    as_asked = shown.make_page_data(QueryParams("order=asked"))
    assert [row["question"] for row in as_asked["rows"]] == [f"Q{n}" for n in range(1, 10)]
    assert as_asked["moved"] == []
    assert 'value="asked" selected' in shown._template.render(as_asked)
    assert shown.make_page_data(QueryParams({"system": SYSTEMS[0]}))["movement"] is None
