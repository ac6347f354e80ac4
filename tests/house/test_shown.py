"""Objects that show themselves in a notebook: a line of text, and HTML in which nothing of a stranger is markup."""

from __future__ import annotations

import contextlib
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from running import make_workspace, write
from stores import score

import genaipa as front
from genaipa.files.html import html_picture, html_table
from genaipa.scoring.rubric import load_rubric
from genaipa.scoring.store import open_or_create_store

if TYPE_CHECKING:
    from commandline import Finished

MARKUP = "<script>alert('x')</script>"
LONG = "x" * 90
ALLOWED = {"table", "caption", "span", "thead", "tbody", "tr", "th", "td", "p", "img", "code"}


class Tags(HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, set[str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep it."""
        self.found.append((tag, {name for name, _ in attrs}))


def check(shown: Any, *texts: str) -> None:
    """An object's line is one, and short, and has none of the texts; its HTML has no tag but a table's."""
    line = repr(shown)
    assert len(line) <= 100, line
    assert line.isprintable(), line
    assert not any(text in line for text in texts), line
    tags = Tags(shown._repr_html_()).found if hasattr(shown, "_repr_html_") else []
    assert {tag for tag, _ in tags} <= ALLOWED, tags
    assert set().union(*(names for _, names in tags)) <= {"style", "scope", "class", "alt", "src"}, tags


def scored(system: str, name: str = "") -> front.Run:
    """A run of this system and the baseline, scored by Ada."""
    run = front.run([system, "extractive"], f"acme-{LONG}", initializations="document", name=name or None)
    given = load_rubric(run.workspace).parse_digits("11111")
    with contextlib.closing(open_or_create_store(run.workspace)) as store:
        store.append_new_events([score("Ada", record.digest, given) for record in run.answers()])
    return run


def test_names_and_texts_of_strangers_are_no_markup() -> None:
    """Whatever a system, a policy, a question or a reply is called or says, it is shown as text, and names are cut."""
    here = make_workspace(questions=4, documents=(f"acme-{LONG}",))
    write(f"policies/acme-{LONG}.yaml", f'company: "{MARKUP}"\ntitle: "{MARKUP}"\nsource: "{MARKUP}"\n')
    asked = (here.home / "questions" / "policy.yaml").read_text(encoding="utf-8")
    write("questions/policy.yaml", asked.replace("Question 1 on", MARKUP.replace("'", "")).replace("Transp", "<b>"))
    system = "scripted/<img src=x onerror=alert(1)>.yaml"
    write(system.removeprefix("scripted/"), f'default: "{MARKUP}"')
    run = scored(system, LONG[:60])
    policy, questions = front.load_document(f"acme-{LONG}"), front.load_question_set("policy")
    report, comparison = front.report(run), front.compare(system, "extractive")
    sample = front.sample(run, size=2)
    things = (
        policy,
        questions,
        run,
        report,
        comparison,
        sample,
        sample.waves,
        run.manifest,
        run.workspace,
        comparison.figure,
    )
    for shown in (*things, *report.tables.values(), *report.figures.values(), *report.chapters, *run.answers()):
        check(shown, MARKUP, "We collect your name")
    assert policy._repr_html_().count("&lt;script&gt;") == 3
    assert "&lt;img src=x" in run._repr_html_()
    assert "&lt;img src=x" in report._repr_html_()
    assert "&lt;script&gt;" in questions._repr_html_()


def test_a_picture_and_a_table_escape_their_words() -> None:
    """A figure's title and a table's headings are text as well."""
    assert Tags(html_picture(b"x", f'">{MARKUP}')).found == [("img", {"alt", "src"})]
    assert "script" not in {tag for tag, _ in Tags(html_table(MARKUP, [(MARKUP, MARKUP)], (MARKUP, MARKUP))).found}


@pytest.mark.full
def test_what_the_front_door_returns_fits_a_line(demo: tuple[Path, Finished]) -> None:
    """Every object is a short line; a report shows its first figure and the leaderboard, a run its counts."""
    shutil.copytree(demo[0], Path.cwd(), dirs_exist_ok=True)
    policy, report = front.load_document("brindlecart"), front.report("demo")
    comparison, run = front.compare("careful", "extractive"), front.load_run("demo")
    assert repr(policy) == "<Document brindlecart: 5,343 words in 70 sections>"
    assert repr(front.load_question_set("policy")) == "<QuestionSet policy: 32 questions about a policy>"
    assert repr(report).startswith(f"<Report {run.name}: ")
    assert repr(comparison).startswith("<Comparison careful and extractive: ")
    for shown in (policy, report, comparison, run, report.study, *report.tables.values(), *run.answers()):
        check(shown, policy.text[:20])
    page = report._repr_html_()
    assert page.startswith('<img alt="')
    assert "data:image/png;base64,iVBOR" in page
    assert report.main_table is not None
    assert report.main_table.name == "leaderboard"
    assert report.main_table._repr_html_() in page
    assert comparison.table.title in comparison._repr_html_().replace("&gt;", ">")
    assert comparison._repr_html_().count("<tr>") == 1 + (comparison.frame["questions"] == "all").sum()
    answers = next(table for table in report.tables.values() if len(table.data) > 60)
    assert "Shown here are the first 60 of" in answers._repr_html_()
    cells = run._repr_html_()
    assert [name in cells for name in ("careful", "extractive", "<td", "32")] == [True] * 4
    assert "<td" in policy._repr_html_()
    assert policy.text[200:260] not in policy._repr_html_()
    assert comparison.frame is comparison.table.data


def test_a_scored_import_and_a_pull_say_what_they_did() -> None:
    """What came of an import is one line too."""
    make_workspace(questions=3)
    run = front.run("extractive", "acme", initializations="document")
    table = run.to_frame()[["digest"]].drop_duplicates()
    table = table.assign(relevance=1, accuracy=1, clarity=1, completeness=1, reference=1)
    done = front.import_scores(table, analyst="Ada")
    assert repr(done) == f"<Imported {len(table)} scores: 0 known, 0 unscored, 0 replaced>"
    with pytest.raises(front.GenaipaError, match="no data set"):
        front.pull("nothing")
