"""From a cell of a report to the answers behind it: which are in the page, which are not, and that they are text."""

from __future__ import annotations

import re

import pytest
from running import answers, carry_out, make_workspace, spec, write
from stores import GOOD, POOR, opened, score

from genaipa.answers.gather import gather_study
from genaipa.reports import answers as page_answers
from genaipa.reports.page import render_pages
from genaipa.reports.report import Report
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace

SENTENCE = "We collect nothing else from you."
QUOTING = f"""
from genaipa.systems.base import Reply
from genaipa.systems.extractive import ExtractiveSystem

class Quoting(ExtractiveSystem):
    async def reply(self, messages, settings):
        return Reply("{SENTENCE} " + messages[-1].content)
"""
REPLY = "Yes <img src=x onerror=alert(1)> & no."


def page(license_: str, system: str = "scripted/replies.yaml", *, whole: bool = False) -> str:
    """The page of a report on two answers of a system about a document under this license."""
    make_workspace(questions=2)
    write("policies/acme.yaml", f"company: ACME\nlicense: {license_}\n")
    write("replies.yaml", f"rules:\n  - {{match: Question 1, reply: '{REPLY}'}}\ndefault: 'Perhaps.'\n")
    write("quoting.py", QUOTING)
    folder, _ = carry_out(spec(systems=(system,)))
    with opened("sqlite:///scores.db") as store:
        store.append_new_events(
            [
                score(analyst, record.digest, grade)
                for record, *grades in zip(answers(folder), (GOOD, POOR), (POOR, POOR), (POOR, POOR), strict=True)
                for analyst, grade in zip(("ada", "bo", "cy"), grades, strict=True)
            ]
        )
        found = gather_study(find_workspace(), select_runs_and_apply_filters(find_workspace(), ()), store)
    return render_pages(Report.build(found), {}, with_restricted_texts=whole)["index.html"]


def test_a_cell_leads_to_its_answers() -> None:
    """Each link of a heat map's numbers finds its place, where the answer stands as text, with what was asked."""
    text = page("CC0")
    links = set(re.findall(r'href="#(answers-\d+)"', text))
    assert links == set(re.findall(r'<details class="answers" id="([^"]+)"', text)) == {"answers-1", "answers-2"}
    assert "Yes &lt;img src=x onerror=alert(1)&gt; &amp; no." in text
    assert "<img src=x" not in text
    assert re.search(r"<b>Asked</b>[^<]*Question 1 on ACME", text)
    values = re.findall(r"relevance ([+-]\d[.\d]*)", text)
    assert values
    assert all(re.fullmatch(r"[+-]\d(\.\d\d?)?", value) for value in values), "thirds are rounded"


def test_what_may_not_be_passed_on_is_not_in_the_page() -> None:
    """Sentences of a restricted document are left out and counted; they are there where they are asked for."""
    text = page("not stated", "quoting:Quoting")
    assert SENTENCE not in text
    assert "Not on the page, so that you can pass it on: 2 answers of a published study" in text
    assert 'href="#answers-1"' not in text


@pytest.mark.full
def test_what_is_asked_for_is_in_the_page() -> None:
    """A report for oneself shows what may not be passed on."""
    assert SENTENCE in page("not stated", "quoting:Quoting", whole=True)


@pytest.mark.full
def test_a_page_holds_so_many_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no room for all, the lowest scores come first, and the page says how many there are."""
    monkeypatch.setattr(page_answers, "MOST", 1)
    monkeypatch.setattr(page_answers, "LONGEST", 4)
    text = page("CC0")
    assert "This page shows 1 of 2 answers, those to the questions with the lowest scores" in text
    assert text.count('<details class="answers"') == 1
    assert "more characters)" in text
