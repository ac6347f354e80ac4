"""Citations by a vendor's feature in reports and at the desk: what they cite, beside the answer's own words."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from retrieving import ANNOTATED, COLLECT, KEEP
from running import make_workspace, write
from servers import AnthropicServer, Behaviour

from genaipa.answers.gather import gather_study
from genaipa.reports.figures.figure import FigureScope
from genaipa.runs.selection import find_run, select_runs_and_apply_filters
from genaipa.scoring.answers import AnswerPool
from genaipa.scoring.rubric import load_rubric
from genaipa.ui.answer_view import prepare_answer
from genaipa.workspace import find_workspace
from genaipa_retrieval.chapter import RetrievalChapter
from genaipa_retrieval.citations import CitationsChapter, VendorCitations, tabulate_vendor_and_own_citation_quality

if TYPE_CHECKING:
    from commandline import Cli

# Question → the reply's own words, and what the feature cites.
REPLIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "1": ("Name and address (Section 1).", (COLLECT,)),
    "2": ("Never (Section 3).", (KEEP, "We never sell what we know about you.")),
    "3": ("A year.", (KEEP, "We keep it for ever.")),
    "4": ("It does not say.", (COLLECT,)),
}
COLUMNS = {
    # by the feature: citations, right, unplaced, sections; in words: citations, right, sections; annotated sections
    "Q1": (1, 1, 0, 1, 1, 1, 1, 1),
    "Q2": (2, 1, 0, 1, 1, 0, 0, 1),
    "Q3": (2, 1, 1, 1, 0, 0, 0, 2),
    "Q4": (1, 0, 0, 0, 0, 0, 0, 0),
}


def behave(_number: int, body: dict[str, Any]) -> Behaviour:
    """Reply to a question by `REPLIES`, with the offsets of the one document that was sent."""
    words, texts = REPLIES[re.findall(r"Question (\d) on", json.dumps(body["messages"][-1]))[-1]]
    (document,) = (
        block["source"]["data"]
        for turn in body["messages"]
        for block in (turn["content"] if isinstance(turn["content"], list) else ())
        if block["type"] == "document"
    )
    citations = [
        {
            "type": "char_location",
            "cited_text": text,
            "document_index": 0,
            "start_char_index": document.find(text),
            "end_char_index": document.find(text) + len(text),
        }
        for text in texts
    ]
    content = [{"type": "text", "text": words, "citations": citations}]
    usage = {"input_tokens": 900, "output_tokens": 9}
    return Behaviour(answer={"model": "m", "stop_reason": "end_turn", "usage": usage, "content": content})


@pytest.fixture
def cited(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder as a workspace with a run of four answers that cite."""
    make_workspace(questions=4)
    write("annotations/acme.yaml", ANNOTATED)
    with AnthropicServer(behave) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-x")
        about = ("-p", "acme", "-e", "quality", "--conversation", "independent", "--citations", "vendor")
        done = genaipa("run", "-s", "anthropic/claude-opus-4-8", *about)
    assert done.code == 0, done.err


@pytest.mark.usefixtures("cited")
def test_both_kinds_of_citations_against_the_annotated_sections() -> None:
    """Counts by answer, a table of recall and precision, and no word of it as of what was retrieved."""
    here = find_workspace()
    study = gather_study(here, select_runs_and_apply_filters(here, ("latest",)), None)
    frame = study.make_tidy_table().set_index("question")
    assert {str(name): tuple(row) for name, row in frame[[*VendorCitations.columns]].iterrows()} == COLUMNS
    assert frame["passages"].isna().all()
    assert not study.has_any_value_of_each_fact(*RetrievalChapter.needs)
    (row,) = tabulate_vendor_and_own_citation_quality(study).data.to_dict("records")
    assert (row["answers"], row["n"]) == (3, 3)
    assert row["vendor_recall"] == pytest.approx((1 + 1 + 0.5) / 3)
    assert row["own_recall"] == pytest.approx(1 / 3)
    assert row["mean"] == pytest.approx((0 + 1 + 0.5) / 3)
    assert (row["vendor_precision"], row["own_precision"]) == (pytest.approx(3 / 5), pytest.approx(1 / 2))
    assert (row["each"], row["unplaced"]) == (pytest.approx(5 / 3), pytest.approx(1 / 5))
    made = CitationsChapter().make(study, FigureScope.from_scores_table(study.table))
    assert [table.name for table in made.tables] == ["vendor-citations"]


@pytest.mark.usefixtures("cited")
def test_the_desk_shows_them_as_passages() -> None:
    """They are marked in the document, and named as what the system cites, not as what it was shown."""
    here = find_workspace()
    pool = AnswerPool(here, [find_run(here, "latest")])
    cases = [pool.load_case(digest) for digest in pool.answers]
    (case,) = (case for case in cases if case.asked.startswith("Question 3"))
    assert (case.passages, case.cites_passages) == ((KEEP, "We keep it for ever."), True)
    data = prepare_answer(case, load_rubric(here), mask_system_names=True).screen_data
    assert data["retrieved"] == "1 of 2 cited"
    assert "claude" not in json.dumps(data)
