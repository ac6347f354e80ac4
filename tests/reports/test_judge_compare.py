"""Two systems compared by a judge alone: the same table, in a judge's name, and a sentence for what can't be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from judged import GPT, KIND, OTHER_PROMPT, human, keep, make_run, verdict
from running import answers, carry_out, spec

from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.errors import UsageError
from genaipa.reports.comparison import compare
from genaipa.reports.evidence import measure_plan_share
from genaipa.reports.judged.alone import group_passes_by_judge, let_only_judge_passes_count
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    from genaipa.runs.records import Record

    Cli = Callable[..., Finished]

JUDGE = "lab/referee-9b"


@pytest.fixture
def asked() -> list[Record]:
    """Answers of two systems about one document, which nobody scored."""
    return answers(make_run(12, ("acme",)))


def places(record: Record) -> tuple[int, ...]:
    """The worth of an answer: the second system's are worse by one value, but for each third of them."""
    number = int(record.question.removeprefix("Q"))
    return (number % 2 + (record.system == GPT and number % 3 > 0),) * 5


def verdicts(records: list[Record], model: str = JUDGE, **more: str) -> Iterator[object]:
    """A judge's verdict on each of these answers."""
    return (verdict(model, record.digest, places(record), **more) for record in records)


def refused(*sides: str, **more: str) -> str:
    """The sentence on what could not be compared."""
    with pytest.raises(UsageError) as error:
        compare(*sides, **more)
    return str(error.value)


def test_the_table_is_that_of_people_who_scored_so(asked: list[Record]) -> None:
    """Each number, interval and meaning; the judge is named in every verdict, and said to be no estimate."""
    keep(verdicts(asked))
    judged = compare(KIND, GPT, judge=JUDGE)
    assert judged.judge == "lab/referee-9b"
    keep(human("ada", record.digest, places(record)) for record in asked)
    pd.testing.assert_frame_equal(judged.frame, compare(KIND, GPT).frame)
    pd.testing.assert_frame_equal(judged.frame, compare(KIND, GPT, judge="referee-9b").frame)
    assert judged.verdict.startswith(f"According to the judge lab/referee-9b alone, {KIND} is better: M_all +")
    assert judged.verdict.endswith("12 questions about 1 document. This is not an estimate of what people would say.")
    turned = compare(GPT, KIND, judge=JUDGE)
    assert turned.verdict == judged.verdict
    every = [*judged.finding, judged.table.title, judged.method]
    assert all("judge" in said for said in every if "erdict" in said)
    assert sum("referee-9b" in said for said in every) >= 4


def test_what_a_judge_left_out_is_looking_early(asked: list[Record]) -> None:
    """A judge who scored all is at its end at once; of half of them a difference counts below .001 only."""
    keep(verdicts(asked))
    assert str(compare(KIND, GPT, judge=JUDGE).evidence) == ""
    keep(verdicts([one for one in asked if int(one.question[1:]) % 2], "half"))
    assert "12 of 24 planned answers" in str(compare(KIND, GPT, judge="half").evidence)


def test_passes_are_one_judge_and_another_prompt_is_another(asked: list[Record]) -> None:
    """Passes are averaged; two prompts of a model are two judges, by name, and a model's own name is neither."""
    keep([*verdicts(asked), *(verdict(JUDGE, one.digest, (2,) * 5, passed=2) for one in asked)])
    assert compare(KIND, GPT, judge=JUDGE).frame["mean_a"].iloc[0] < 60
    keep(verdicts(asked, prompt=OTHER_PROMPT))
    said = refused(KIND, GPT, judge=JUDGE)
    assert "names 2 judges; name one of them: 'lab/referee-9b @012345' and 'lab/referee-9b @ba9876'" in said
    assert compare(KIND, GPT, judge="lab/referee-9b @ba9876").frame["mean_a"].iloc[0] > 60


def test_each_refusal_is_a_sentence(asked: list[Record], genaipa: Cli) -> None:
    """No verdicts at all, none of this judge, of one side alone, by several judges, and one question in common."""
    assert "no judge has scored any of them" in refused(KIND, GPT, judge="nobody")
    keep(verdicts([one for one in asked if one.system == KIND], "half"))
    assert "the verdicts here are by 'half'." in refused(KIND, GPT, judge="nobody")
    assert f"the judge 'half' has no verdicts on '{GPT}'" in refused(KIND, GPT, judge="half")
    keep(verdicts(asked))
    alone = genaipa("compare", KIND, GPT)
    assert alone.code == 2
    assert f"The judge lab/referee-9b scored both: genaipa compare {KIND} {GPT} --judge lab/referee-9b" in alone.err
    keep(verdicts(asked, "other"))
    assert f"2 judges scored both, 'lab/referee-9b' and 'other': genaipa compare {KIND} {GPT} --judge NAME" in refused(
        KIND, GPT
    )
    keep(verdicts([one for one in asked if one.question == "Q1"], "single"))
    few = genaipa("compare", KIND, GPT, "--judge", "single")
    assert few.code == 0
    assert (
        f"According to the judge single alone, {KIND} and {GPT} have too few questions in common for a verdict"
        in few.out
    )


def test_other_documents_are_refused_for_a_judge_as_for_people(asked: list[Record]) -> None:
    """The sentence names what differs."""
    run, _ = carry_out(spec(systems=(GPT,), documents=("acme",), prompts=("neutral",)))
    keep([*verdicts(asked), *verdicts(answers(run))])
    assert "the prompts are not the same" in refused(KIND, f"{run.name}:{GPT}", judge=JUDGE)


def test_the_command_names_the_judge_and_what_is_next(asked: list[Record], genaipa: Cli) -> None:
    """The verdict first, no legend of people's; machines get the judge's name; the own family is said."""
    keep(verdicts(asked, "gpt-4-turbo"))
    done = genaipa("compare", KIND, GPT, "--judge", "gpt-4-turbo")
    assert done.code == 0, done.err
    assert done.out.startswith("According to the judge gpt-4-turbo alone, ")
    assert "Next: genaipa sample 20" in done.out
    assert "people score a random part" in done.out
    found = json.loads(genaipa("compare", KIND, GPT, "--judge", "gpt-4-turbo", "--json").out)
    assert found["judge"] == "gpt-4-turbo"
    keep(verdicts(asked, GPT))
    done = genaipa("compare", KIND, GPT, "--judge", GPT)
    favoured = f"The judge {GPT} is from the same family as {GPT}, and may favour it."
    assert favoured in " ".join(done.out.split())
    assert favoured in compare(KIND, GPT, judge=GPT).finding
    assert compare(KIND, GPT, judge=GPT).table.faint
    keep(human("ada", one.digest, (0,) * 5) for one in asked)
    done = genaipa("compare", KIND, GPT, "--judge", GPT)
    assert f"Next: genaipa compare {KIND} {GPT} (people scored all" in done.out


def test_verdicts_count_alone(asked: list[Record]) -> None:
    """One row of each pass, one without values of what was not judged, and no score of people's."""
    keep([*verdicts(asked[:4]), *(human("ada", one.digest, (0,) * 5) for one in asked)])
    here = find_workspace()
    frame = gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ())).table
    made = let_only_judge_passes_count(frame, group_passes_by_judge(frame)["lab/referee-9b"])
    assert len(made) == len(asked)
    assert made["counted"].sum() == 4
    assert set(made.loc[made["m_all"].notna(), "scorer"]) == {"machine"}
    assert list(made.columns) == list(frame.columns)
    drawn = frame.assign(in_wave=pd.Categorical(["yes"] * len(frame)), planned=pd.Categorical(["later"] * len(frame)))
    assert measure_plan_share(let_only_judge_passes_count(drawn, group_passes_by_judge(frame)["lab/referee-9b"])) == (
        len(asked),
        4,
        False,
    )
    left_out = frame.assign(excluded="an audit's reason")
    passes = group_passes_by_judge(frame)["lab/referee-9b"]
    assert not let_only_judge_passes_count(left_out, passes)["counted"].any()
    assert let_only_judge_passes_count(left_out, passes, count_excluded=True)["counted"].sum() == 4
    assert group_passes_by_judge(frame, "another rubric's digest") == {}


def test_the_environment_takes_no_scores_of_peoples_away(
    asked: list[Record], genaipa: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge that the environment names is the one to ask (`judge`), and not the one to compare by."""
    keep([*verdicts(asked), *(human("ada", one.digest, (0,) * 5) for one in asked)])
    monkeypatch.setenv("GENAIPA_JUDGE", JUDGE)
    assert "judge" not in genaipa("compare", KIND, GPT).out
