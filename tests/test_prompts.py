"""The templates of messages: the shipped ones, and those of a workspace in their place."""

from __future__ import annotations

import re

import pytest
from running import write

from genaipa.errors import DataError
from genaipa.tasks.prompts import INCLUDED, TEMPLATES, load_prompts
from genaipa.workspace import find_workspace

ABOUT = {"company": "ACME", "subject": "the privacy policy of ACME"}


def own(name: str, text: str) -> None:
    """A workspace with one template of its own."""
    write("genaipa.toml", "")
    write(f"prompts/{name}.jinja", text)


def test_shipped_templates_are_all_there() -> None:
    """Each message of the protocol has its template, and each template gives a message."""
    prompts = load_prompts(find_workspace())
    assert set(prompts.files) == {*TEMPLATES, *INCLUDED}
    assert all(len(digest) == 64 for digest in prompts.digests.values())


@pytest.mark.parametrize("name", ["introduce-company", "introduce-document", "introduce-summary"])
def test_every_introduction_states_the_rules(name: str) -> None:
    """The system is asked to name the section that it relies on, and to say so when the answer isn't there."""
    said = load_prompts(find_workspace()).render(name, **ABOUT, parts=3, text="It is short.")
    assert "Name the section that you rely on" in said
    assert "does not contain the answer, say so plainly and name no section" in said


def test_part_is_announced() -> None:
    """A part carries its number, how many there are, and its text as it is."""
    said = load_prompts(find_workspace()).render("part", **ABOUT, part=2, parts=9, text="<b> & {{ braces }}")
    assert said == "Part 2 of 9\n\n<b> & {{ braces }}"


def test_one_part_is_not_many() -> None:
    """A document in one part is announced in the singular."""
    assert "It comes in 1 part, each" in load_prompts(find_workspace()).render("introduce-document", **ABOUT, parts=1)


def test_own_template_wins() -> None:
    """A template of the workspace replaces the shipped one of its name; its digest follows its text."""
    before = load_prompts(find_workspace()).digests
    own("question", "Please: {{ question }}\n")
    prompts = load_prompts(find_workspace())
    assert prompts.render("question", **ABOUT, question="Why?", question_id="Q1") == "Please: Why?"
    assert {name for name, digest in prompts.digests.items() if digest != before[name]} == {"question"}


def test_own_template_may_extend_the_shipped_one() -> None:
    """What ships can be included and extended from a template of the same name."""
    own("part", '{% include "shipped/part.jinja" %}\n\n(end of part {{ part }})')
    said = load_prompts(find_workspace()).render("part", **ABOUT, part=1, parts=2, text="Text.")
    assert re.fullmatch(r"Part 1 of 2\n\nText\.\n+\(end of part 1\)", said)


def test_own_rules_reach_every_introduction() -> None:
    """The included rules can be replaced alone."""
    own("rules", "Answer in rhyme about {{ basis }}.")
    said = load_prompts(find_workspace()).render("introduce-company", **ABOUT)
    assert "Answer in rhyme about what you know of the privacy policy of ACME." in said


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("question", "{{ qestion }}", "'qestion' is undefined; this template can use: company, question, question_id"),
        ("part", "one\n{% if part %}", "line 2: "),
        ("part", "{{ text | shout }}", "No filter named 'shout'"),
        ("question", "{# nothing #}", "gives an empty message"),
        ("question", '{% include "other.jinja" %}', "other.jinja"),
    ],
)
def test_bad_templates(name: str, text: str, said: str) -> None:
    """A mistake is found before anything is asked, and named with the file."""
    own(name, text)
    with pytest.raises(DataError) as error:
        load_prompts(find_workspace())
    assert f"{name}.jinja" in str(error.value)
    assert said in str(error.value)


def test_a_shipped_template_that_is_built_on_belongs_to_the_run() -> None:
    """What a user's template extends is kept and watched with it: an upgrade must not change a run unseen."""
    write("genaipa.toml", "")
    write(
        "prompts/question.jinja",
        '{% extends "shipped/question.jinja" %}{% block message %}{{ super() }} Why?{% endblock %}',
    )
    prompts = load_prompts(find_workspace())
    assert "shipped/question" in prompts.digests
    assert prompts.render("question", question="What?", question_id="Q", company="A", subject="B") == "What?\n Why?"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{% extends "shipped/question.jinja" %} Why?', "changes nothing"),
        ("Hello", "never says {{ question }}"),
    ],
)
def test_a_template_that_loses_its_message_is_named(text: str, problem: str) -> None:
    """A template that can't say what it is sent for is refused with its name."""
    write("genaipa.toml", "")
    write("prompts/question.jinja", text)
    with pytest.raises(DataError, match=r"question\.jinja") as caught:
        load_prompts(find_workspace())
    assert problem in str(caught.value)
