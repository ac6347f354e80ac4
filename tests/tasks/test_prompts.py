"""The templates of messages: the shipped ones, and those of a workspace in their place."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from running import answers, carry_out, make_workspace, spec, write

from genaipa.errors import DataError, UnknownNameError
from genaipa.runs.inputs import load_conversation_through_reply
from genaipa.runs.integrity import find_damage_in_run_folder
from genaipa.runs.selection import find_run
from genaipa.tasks.prompts import INCLUDED, TEMPLATES, list_prompt_sets, load_prompts, map_prompt_sets_to_labels
from genaipa.tasks.templates import Templates
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

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
    """The system is asked to cite the section that it relies on, and to say so when the answer isn't there."""
    said = load_prompts(find_workspace()).render(name, **ABOUT, parts=3, text="It is short.")
    assert "Cite the section that you rely on." in said
    assert "does not contain the answer, say so." in said
    assert "no section" not in said


def test_the_neutral_set_gives_nothing_away() -> None:
    """Neither the rule by which references are scored nor the topics of the questions are in what is asked."""
    guided, neutral = (
        {name: load_prompts(find_workspace(), of).render(name, **ABOUT, words=400, parts=3, text="It is short.")
         for name in ("introduce-document", "summarize-by-name", "summarize-document")}
        for of in ("guided", "neutral")
    )  # fmt: skip
    for telling in ("name no section", "collecting, using, keeping", "section behind each statement"):
        assert telling in " ".join(guided.values())
        assert telling not in " ".join(neutral.values())


def test_the_guided_set_is_what_it_was() -> None:
    """Runs made before there were sets go on: each template has the digest that they noted."""
    before = {
        "acknowledgement": "62395d287223c43a",
        "introduce-company": "644d4d53654a73de",
        "introduce-document": "9fe687cd33a051c8",
        "introduce-summary": "e5b89e0145cafc0c",
        "part": "87e17a8a83a33437",
        "question": "3fbbe30561576e78",
        "rules": "2e46cbeee394d8d6",
        "summarize-by-name": "723c324a0a18bdd5",
        "summarize-document": "e44e262f30db32fe",
    }
    assert {name: digest[:16] for name, digest in load_prompts(find_workspace(), "guided").digests.items()} == before


def test_a_template_reaches_its_set_or_all() -> None:
    """One in the set's folder wins over one for all sets, and that over what ships; a new folder is a set."""
    own("rules", "For all.")
    write("prompts/guided/rules.jinja", "For guided.")
    write("prompts/mine/question.jinja", "Mine: {{ question }}")
    here = find_workspace()
    sources = {name: load_prompts(here, name).template_texts for name in ("neutral", "guided", "mine")}
    assert {name: known["rules"] for name, known in sources.items()} == {
        "neutral": "For all.",
        "guided": "For guided.",
        "mine": "For all.",
    }
    assert sources["mine"]["summarize-document"] == sources["neutral"]["summarize-document"]
    assert list_prompt_sets(here) == ["neutral", "guided", "paper", "neutral-de", "neutral-fr", "mine"]
    with pytest.raises(UnknownNameError, match="did you mean 'guided'"):
        load_prompts(here, "gided")


def test_a_run_notes_its_prompts(genaipa: Callable[..., Finished]) -> None:
    """The manifest says which set was used, tables also whether it is as shipped."""
    make_workspace()
    plain, guided = spec(systems=("extractive",), prompts=("neutral",)), spec(systems=("extractive",))
    assert msgspec.json.decode(msgspec.json.encode(plain))["plan"]["prompts"] == ["neutral"]
    assert map_prompt_sets_to_labels(carry_out(plain)[0].manifest()) == {"": "neutral"}
    assert map_prompt_sets_to_labels(carry_out(guided)[0].manifest()) == {"": "guided"}
    write("prompts/rules.jinja", "Be brief.")
    done = genaipa("run", "-s", "extractive", "-p", "acme", "--name", "own", "--prompts", "guided")
    assert done.code == 0, done.err
    label = map_prompt_sets_to_labels(find_run(find_workspace(), "own").manifest())[""]
    assert re.fullmatch(r"guided \([0-9a-f]{8}\)", label)
    assert f"prompts: {label}" in genaipa("show", "own").out


def test_two_sets_are_asked_side_by_side(genaipa: Callable[..., Finished]) -> None:
    """Each question is asked with each set, in a conversation of its own; the keys tell them apart; it resumes."""
    make_workspace()
    asked = ("run", "-s", "extractive", "-p", "acme", "--experiment", "prompting")
    estimated = json.loads(genaipa(*asked, "--estimate", "--json").out)
    done = genaipa(*asked)
    assert done.code == 0, done.err
    folder = find_run(find_workspace(), "latest")
    found = {record.key: record for record in answers(folder)}
    assert {record.coordinates["prompts"] for record in found.values()} == {"neutral", "guided"}
    assert len(found) == folder.manifest().totals.planned == estimated["rows"][0]["calls"]
    record = next(record for record in found.values() if record.coordinates["prompts"] == "guided")
    introduction = load_conversation_through_reply(folder, record, folder.tally_records_and_map_offsets()[1])[0].content
    assert "name no section" in introduction
    assert map_prompt_sets_to_labels(folder.manifest()) == {"neutral": "neutral", "guided": "guided"}
    assert not list(find_damage_in_run_folder(folder))
    kept = folder.answers_path.read_bytes()
    folder.answers_path.write_bytes(b"".join(kept.splitlines(keepends=True)[:-3]))
    assert genaipa(*asked).code == 0
    assert {record.key for record in answers(folder)} == found.keys()
    refused = genaipa(*asked, "--prompts", "paper")
    assert refused.code == 2
    assert "is named; name at least two" in refused.err


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
        ("question", "{# nothing #}", "renders to an empty message"),
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
        ('{% extends "shipped/question.jinja" %} Why?', "overrides nothing"),
        ("Hello", "does not use {{ question }}"),
    ],
)
def test_a_template_that_loses_its_message_is_named(text: str, problem: str) -> None:
    """A template that can't say what it is sent for is refused with its name."""
    write("genaipa.toml", "")
    write("prompts/question.jinja", text)
    with pytest.raises(DataError, match=r"question\.jinja") as caught:
        load_prompts(find_workspace())
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{{ cycler.__init__.__globals__.os.popen("touch ran").read() }}', "access to attribute '__init__'"),
        ("{% for a in range(1000000000) %}{% endfor %}", "Range too big"),
        ("{% for a in 'a' * 100000 %}{% endfor %}", "'*' works only on numbers"),
        ("{% for a in range(1000) %}{% for b in range(1000) %}{% endfor %}{% endfor %}", "more than 100,000 rounds"),
        ("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}", "can't be rendered (RecursionError"),
        pytest.param(
            "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(99) }}",
            "rounds of loops and calls",
            marks=pytest.mark.full,
        ),
        ("{{ 9 ** 9 ** 9 }}", "'**' works only on numbers"),
        ("{{ 1 / 0 }}", "can't be rendered (ZeroDivisionError"),
        ("{% extends {} %}", "can't be rendered (TypeError"),
    ],
)
def test_a_stranger_s_template_runs_nothing(text: str, problem: str, genaipa: Callable[..., Finished]) -> None:
    """Whoever validates somebody's study is told what is wrong in a template, and neither runs code nor waits."""
    for name in ("question", "suites/policyqa-1"):
        own(name, text + "{{ question }}")
    with pytest.raises(DataError, match=re.escape(problem)):
        load_prompts(find_workspace())
    found = genaipa("validate")
    assert found.code == 1
    assert problem in " ".join(found.err.split()) + " ".join(found.out.split())
    assert not Path("ran").exists()


def test_no_template_takes_all_memory() -> None:
    """A text grows to ten million characters, whichever way it is doubled or widened; then a sentence says so."""
    long, twice = "{% set a = 'aaaaaaaaaaaaaaaaaaaa' %}", "{% set a = a|replace('a', a) %}"
    for text, problem in (
        (long + "{% set a = a ~ a %}" * 40, "produces more than 10,000,000 characters"),
        (long + "{% set a = a + a %}" * 40, "produces more than 10,000,000 characters"),
        ("{% set a = [1] %}" + "{% set a = a + a %}" * 40, "produces more than 10,000,000 characters"),
        (long + twice * 9, "produces more than 10,000,000 characters"),
        (f"{{{{ range(99999)|join('{'a' * 200}') }}}}", "produces more than 10,000,000 characters"),
        ("{{ 'a'.ljust(2000000000) }}", "access to attribute 'ljust' of 'str' object is unsafe"),
        ("{{ '{:>2000000000}'.format(1) }}", "access to attribute 'format' of 'str' object is unsafe"),
        ("{{ (5).to_bytes(2000000000) }}", "access to attribute 'to_bytes' of 'int' object is unsafe"),
        ("{{ 'a'|center(2000000000) }}", "No filter named 'center'"),
        ("{{ '%2000000000d'|format(1) }}", "No filter named 'format'"),
        ("{{ lipsum(1000000) }}", "'lipsum' is undefined"),
    ):
        with pytest.raises(DataError, match=re.escape(problem)):
            Templates({"q": text}).render("q", {"q": Path("q.jinja")})
    harmless = "{{ ['a', 2]|join('-') ~ 'b'.upper() ~ (1 + 1) }}{{ 'abc'|replace('b', 'x') }}"
    assert Templates({"q": harmless}).render("q", {"q": Path("q.jinja")}) == "a-2B2axc"


def test_a_message_has_an_end() -> None:
    """Ten million characters are the most."""
    own("question", "{% for a in range(100) %}{% for b in range(900) %}{{ question }}{% endfor %}{% endfor %}")
    with pytest.raises(DataError, match="more than 10,000,000 characters"):
        load_prompts(find_workspace()).render("question", **ABOUT, question="Why? " * 100, question_id="Q1")
