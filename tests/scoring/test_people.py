"""Who may score and who may adjudicate."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import write

from genaipa.cli.commands.score import describe_plan_override_or_empty
from genaipa.errors import DataError, OptionError, UsageError
from genaipa.scoring.people import People, User, load_desk_people_and_plan
from genaipa.ui.settings import DeskSettings
from genaipa.workspace import find_workspace


def people_of(text: str) -> People:
    """What a desk.yaml with this text says."""
    write("desk.yaml", text)
    return load_desk_people_and_plan(find_workspace())


def test_without_a_file_whoever_gives_a_name_does_everything():
    """A desk without lists is open, but not to people who log in: nobody has let them in."""
    people = load_desk_people_and_plan(find_workspace())
    assert people == People()
    assert people.reference == ("reference",)
    assert people.admit_user("Anna", requires_login=False) == User("Anna", scores=True, adjudicates=True)
    with pytest.raises(UsageError, match="neither"):
        people.admit_user("anna@example.org", requires_login=True)


@pytest.mark.parametrize("login", [False, True])
def test_lists_are_kept_to(login):
    """Analysts and reference analysts score, adjudicators adjudicate, nobody else does either."""
    people = people_of("analysts: [anna@example.org]\nadjudicators: [Bo]\nreference: [Cy]\n")
    users = [people.admit_user(name, requires_login=login) for name in ("Anna@Example.org", "BO", "cy")]
    assert [(user.name, user.scores, user.adjudicates) for user in users] == [
        *(("anna@example.org", True, False), ("Bo", False, True), ("Cy", True, False))
    ]
    with pytest.raises(UsageError, match="neither"):
        people.admit_user("Dee", requires_login=login)


def test_an_empty_list_is_open_to_nobody():
    """A list that stands there empty lets nobody in, with or without a login."""
    people = people_of("adjudicators: []\n")
    assert people.admit_user("Anna", requires_login=False) == User("Anna", scores=True, adjudicates=False)


def test_one_person_has_one_name():
    """Blanks and capitals don't make another analyst: who has scored keeps their name, else the file's counts."""
    people = people_of("analysts: [Anna Bell, Bo]\n")
    assert people.resolve_name("  anna   bell ") == "Anna Bell"
    assert people.resolve_name("Dee") == "Dee"
    assert people.resolve_name("dee", scorer_names=["Dee"]) == "Dee"
    assert people.resolve_name("BO", scorer_names=["bo"]) == "bo"


@pytest.mark.parametrize("given", ["", "   ", "x" * 101, "An\x00na", "An\u202ena"])
def test_what_is_no_name(given):
    """An empty, an endless and an invisible name are refused with a sentence."""
    with pytest.raises(UsageError, match="name"):
        People().resolve_name(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("analyst: [Anna]\n", "did you mean 'analysts'"),
        ("analysts: Anna\n", "analysts: expected a list"),
        ("keys: {skp: x}\n", "keys: there is no action 'skp': did you mean 'skip'"),
        ("keys: {skip: '1'}\n", "keys.skip: '1' can't be a key"),
        ("keys: {skip: B}\n", "keys.skip: 'B' can't be a key"),
        ("keys: {skip: b}\n", "keys.skip: 'b' is also the key for back; choose another key"),
        ("keys: {skip: x, undo: x}\n", "keys.skip: 'x' is also the key for undo; choose another key"),
        ("analysts: [Anna]\nassign: {Ana: [uber]}\n", "assign: 'Ana' is not one of the analysts: did you mean 'Anna'"),
        ("assign: {Anna: []}\n", "assign: 'Anna' has nothing assigned"),
        ("assign: {Anna: [uber], anna: [lyft]}\n", "assign: 'anna' appears twice"),
        ("analysts: [Anna, anna]\n", "analysts: 'anna' appears twice"),
        ("reference: ['']\n", "reference: '' is not a valid name"),
        ("adjudicators: [' Bo']\n", "adjudicators: ' Bo' is not a valid name"),
        ("left_out: {Bo: ' '}\n", "left_out: gives no reason for 'Bo'"),
        ("plan: {per_anser: 2}\n", "plan: unknown key 'per_anser': did you mean 'per_answer'"),
        ("plan: {per_answer: 0.5}\n", "plan.per_answer: Expected `float` >= 1.0"),
        ("plan: {per_answer: .nan}\n", "plan.per_answer"),
        ("plan: {order: sideways}\n", "plan.order: 'sideways' is not a valid value"),
        ("plan: {sample: 0, due: 2026-12-18}\n", "plan.sample: Expected `int` >= 1"),
        ("plan: {sample: 1.5}\n", "plan.sample: expected a whole number or text, got a number"),
        ("plan: {sample: most}\n", "plan.sample: 'most' is neither a number of answers nor 'all'"),
        ("plan: {points: 1}\n", "plan.points: expected true or false, got a number"),
        ("plan: {target: .inf}\n", "plan.target: must be a finite number"),
        ("plan: {due: 2026-02-30}\n", "plan.due: '2026-02-30' is not a date; write one such as 2026-12-18"),
        ("plan: {due: 20261218}\n", "plan.due: expected text, got a number"),
        ("plan: [2]\n", "plan: expected a mapping, got a list"),
        ("rate: .inf\n", "rate: is not a price"),
        ("", "is empty"),
    ],
)
def test_a_bad_file_says_what_to_mend(text, said):
    """A typo, a wrong kind, a name twice: the file, the entry and what is wrong."""
    with pytest.raises(DataError, match=said) as caught:
        people_of(text)
    assert "desk.yaml" in str(caught.value)


def test_a_plan_outlives_the_start_of_a_desk():
    """What the plan says is what the desk is opened with; an option replaces its word for one start, and it is said."""
    plan = people_of("plan: {per_answer: 2, points: true, sample: all, show_systems: true, due: 2026-12-18}\n").plan
    settings = DeskSettings.from_plan(Path.cwd(), plan)
    assert (settings.plan.per_answer, settings.plan.points, settings.plan.blind) == (2, True, False)
    assert (settings.sample, str(plan.due_date)) == ("all", "2026-12-18")
    assert describe_plan_override_or_empty(plan, plan) == ""
    other = plan.replace_and_check_options({"per_answer": 1.5, "points": False})
    assert describe_plan_override_or_empty(plan, other) == (
        "For this start only: per_answer: 1.5, points: false; the plan says per_answer 2 and points true. "
        "To keep the change, write into desk.yaml: plan: {per_answer: 1.5, points: false}"
    )
    with pytest.raises(OptionError, match="per_answer"):
        plan.replace_and_check_options({"per_answer": float("nan")})
