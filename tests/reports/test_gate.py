"""The gate: fails for a sure loss alone, seldom by chance, and in a pull request in which nothing is markup."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
import yaml
from judges import script, verdict
from running import TEXT, make_workspace, write
from size import size
from source import ROOT

from genaipa.reports.gate import (
    ReleaseGate,
    SignificantLoss,
    significant_loss_in_points,
    significant_loss_of_new_release,
)
from genaipa.reports.matches import MatchedScores, compute_difference_rows
from genaipa.reports.pull_request import ChangedAnswer, render_comparison_markdown, render_markdown_link_to_report
from genaipa.reports.significance import OTHER_PEOPLE, OVERALL, PUBLISHED
from genaipa.stats.power import POWER, VarianceComponents, find_detectable_differences

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]


def compared(random: np.random.Generator, questions: int, documents: int, lost: float = 0.0) -> dict[str, Any]:
    """The row of M_all of a made-up comparison of two releases, of which the new one lost so many points."""
    of_questions, _, rest = np.sqrt(PUBLISHED)
    cells = random.normal(0, of_questions, (questions, 1)) + random.normal(0, rest, (questions, documents)) + lost
    names = pd.Index([f"q{number}" for number in range(questions)])
    frame = pd.DataFrame(cells, index=names.rename("question"), columns=[f"d{n}" for n in range(documents)])
    apart = frame.reset_index().melt("question", var_name="document", value_name="apart")
    apart = apart.assign(experiment="quality", weight=1 / documents, known=True)
    old, new = pd.Series(60.0, names) + frame.mean(axis=1), pd.Series(60.0, names)
    pairs = pd.DataFrame({"ours": old, "theirs": new, "pairs": documents})
    match = MatchedScores(pairs, apart, old, new, ["quality"], [])
    return compute_difference_rows({OVERALL: match}, {"all": set(names)}).iloc[0].to_dict()


def found(row: dict[str, Any], said: str = "old beats new.") -> Any:
    """A comparison of `old` and `new` with this one row."""
    data = pd.DataFrame([{"questions": "all", "family": "primary endpoint", "measure": OVERALL, **row}])
    return SimpleNamespace(first="old", second="new", frame=data, verdict=said, judge="", favoured="")


def test_equal_releases_seldom_fail_and_a_loss_is_found_as_planning_promises() -> None:
    """Of equal pairs at most 5 % fail (1,000 at full size); 5 points are lost and found in 80 % where that is promised.

    The size at which the planning page's rule promises 5 points is 96 questions about 30 documents.
    """
    random, pairs = np.random.default_rng(8), size(small=20, soak=1000)
    red = sum(significant_loss_of_new_release(compared(random, 32, 5)).fails_gate(3) for _ in range(pairs))
    assert red <= 0.05 * pairs
    fixed = VarianceComponents(PUBLISHED.questions, 0.0, PUBLISHED.rest)
    studies = size(small=5, soak=500)
    for questions, documents in size(small=[(32, 5)], soak=[(32, 5), (96, 30)]):
        promised = find_detectable_differences(
            questions, documents, fixed, simulated_study_count=size(small=20, soak=200)
        ).these_documents
        lost = promised if questions < 96 else 5.0
        rate = (
            sum(
                significant_loss_of_new_release(compared(random, questions, documents, lost)).fails_gate(3)
                for _ in range(studies)
            )
            / studies
        )
        assert promised == pytest.approx(lost, abs=0.15)
        assert rate == pytest.approx(POWER, abs=size(small=0.35, soak=0.05))


def test_only_a_sure_loss_as_large_fails() -> None:
    """Not a gain, not what may be chance, not less than the gate's points, not without a gate, not what has no test."""
    assert (
        significant_loss_in_points(-4, 0.04),
        significant_loss_in_points(-4, 0.04, significance_level=0.01),
        significant_loss_in_points(4, 0.001),
    ) == (4, 0, 0)
    assert SignificantLoss(4.0, "M_all").fails_gate(3)
    assert SignificantLoss(3.0, "M_all").fails_gate(3)
    assert not SignificantLoss(2.9, "M_all").fails_gate(3)
    assert not SignificantLoss(0.0, "M_all").fails_gate(0)
    assert not SignificantLoss(4.0, "M_all").fails_gate(None)
    row = {
        "difference": 5.2,
        "low": 2.3,
        "high": 8.1,
        "p_holm": 0.01,
        "level": 0.05,
        "test": "t",
        "meaning": "A higher",
    }
    gate = ReleaseGate(found(row), 3)
    assert gate.is_failing
    said = "new, the new release, lost 5.2 (\u22128.1 to \u22122.3) points of M_all to old: the gate of 3 points fails."
    assert str(gate) == said
    passing = (
        ({"p_holm": 0.2}, "shows no clear loss"),
        (
            {"difference": -5.2, "low": -8.1, "high": -2.3},
            "the new release, shows no clear loss against old: +5.2",
        ),
        ({"difference": 1.2, "low": 0.4, "high": 2.0}, "lost 1.2"),
        ({"test": "none"}, "There is no result for new"),
        ({"meaning": OTHER_PEOPLE}, "There is no result for"),
    )
    for changed, words in passing:
        other = ReleaseGate(found(row | changed), 3)
        assert not other.is_failing
        assert words in str(other)
        assert str(other).endswith("the gate of 3 points passes.")


def test_nothing_in_a_summary_is_markup() -> None:
    """Names and replies link, mention, embed and close nothing; a text keeps its line; a table keeps its cells."""
    hostile = "@team ![x](http://a/b.png) <img src=x> `` ` ``` | #12\n\n# Head www.a.example \u202e[y](z)"
    row = {
        "difference": 0.0,
        "low": float("nan"),
        "high": 0.0,
        "p_holm": 1.0,
        "level": 0.05,
        "test": "t",
        "meaning": "",
    }
    one = ChangedAnswer("Q|1", hostile, (100, 10), (hostile, ""))
    comparison = found({**row, "mean_a": 1.0, "mean_b": 1.0}, hostile)
    comparison.first = comparison.second = "a|b @c"
    text = render_comparison_markdown(
        comparison,
        [one],
        gate=ReleaseGate(comparison, 3),
        report_reference=render_markdown_link_to_report(Path("a/b c>.html"), Path("a/s.md")),
    )
    lines = text.splitlines()
    assert len(lines) == 13
    assert "More: [b c\\>.html](<b c\\>.html>)" in lines
    assert "\u202e" not in text
    spans = re.compile(r"(`+) ?(?!`).*?(?<!`) ?\1(?!`)")
    outside = "\n".join(spans.sub("", line) for line in lines if not line.startswith("More"))
    assert not re.search(r"(?<!\\)[<@#!\[`](?!## genaipa)", outside.replace("### genaipa", "").replace("<br>", ""))
    assert "@team" not in outside
    assert "www.a" not in outside
    assert "http:" not in outside
    (head,) = (line for line in lines if line.startswith("| |"))
    assert len(re.findall(r"(?<!\\)\|", head)) == 6
    assert "B `(empty)`" in lines[-3]


BOT = """
from genaipa.systems.base import Readiness, Reply

class Bot:
    name = "{name}"
    async def start(self):
        return Readiness()
    async def reply(self, messages, settings):
        asked = messages[-1].content
        number = int(asked.partition("Question ")[2].split()[0])
        return Reply(text=f"No. {{number}}, worth {{{worth} * (number % 4 > 0)}}.")
    async def count_tokens(self, text):
        return None
    async def close(self):
        pass
"""


@pytest.mark.parametrize(
    ("worth", "code", "said"), [(2, 5, "M\\_all 100 \u2192 10"), (0, 0, "No answer's score has changed.")]
)
def test_the_jobs_example_is_red_for_a_loss_and_green_without(genaipa: Cli, worth: int, code: int, said: str) -> None:
    """The guide's steps, on two releases: the last ends with 5 where the new one lost, else with 0; a summary each."""
    guide = (ROOT / "docs/guide/versions.md").read_text()
    (job,) = (block for block in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL) if "release:" in block)
    steps = [step.get("run", "") for step in yaml.safe_load(job)["jobs"]["release"]["steps"]]
    make_workspace(12)
    write("policy.md", TEXT)
    script("gemini-flash", *({"match": f"worth {place}", "reply": verdict(place)} for place in (0, 1, 2)))
    for release, lost in (("old", 0), ("new", worth)):
        write(f"{release}.py", BOT.format(name=release, worth=lost))
    done = [
        genaipa(*step.replace("--judge gemini-flash", "--judge scripted/gemini-flash").split()[1:])
        for step in steps
        if step.startswith("genaipa ")
    ]
    assert [one.code for one in done] == [0, 0, code], [one.err for one in done]
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert said in summary
    assert summary.count("\n") <= 20


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--gate",), "'--gate' needs a value."),
        (("--gate", "-1"), "-1 is not a possible loss of M_all; choose between 0 and 90 points"),
        (("--gate", "nan"), "nan is not a possible loss of M_all; choose between 0 and 90 points"),
        (("--gate", "much"), "--gate must be a number"),
    ],
)
def test_a_gate_is_a_number_of_points(genaipa: Cli, options: tuple[str, ...], said: str) -> None:
    """One sentence for each other thing, at both commands that have a gate."""
    for command in (("compare", "a", "b"), ("drift", "a")):
        done = genaipa(*command, *options)
        assert done.code == 2
        assert said in " ".join(done.err.split())
