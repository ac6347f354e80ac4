"""A system that says nothing asserts nothing: it is left out of the rates of what answers claim, and counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pandas as pd
import pytest
from drawn import written
from framing import answer_rows, study_of, tidy_of
from running import carry_out, make_workspace, spec, write

from benchmarks.drift import series
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.reports.chapters import outcomes, silent
from genaipa.reports.chapters.groups import statuses_and_silence_by_group_table as groups_answers
from genaipa.runs.manifest import WITHHELD, WithheldTextFacts
from genaipa.runs.selection import DocumentGrouping, select_runs_and_apply_filters
from genaipa.workspace import find_workspace
from genaipa_watch.over_time import tabulate_changes_since_first_occasion

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    from genaipa.runs.folder import RunFolder

QUESTIONS = ("T_f1", "T_f2", "T_f3", "T_u1")
ANSWERS = """  Q1: {silent: true, answer: It does not say.}
  Q2: {silent: true, answer: It does not say.}
  Q3: {silent: true, answer: It does not say.}
  Q4: {silent: true, answer: It does not say.}
  Q5: {silent: false, answer: It says so., sections: ["1"]}
"""
MUTE = """rules:
- {match: Question 1 on, reply: "", finish: length}
- {match: Question 2 on, reply: "They sell", finish: refusal}
- {match: Question 3 on, reply: "I'm sorry, but I can't help with that."}
- {match: Question 4 on, reply: "<think>They sell it.</think>", finish: length}
- {match: Question 5 on, reply: "They collect your na", finish: length}
"""


def mixed() -> pd.DataFrame:
    """Two systems, four silent questions: one says nothing to three of them, the other asserts in two of four."""
    rows = answer_rows(systems=("a/mute", "b/bold"), documents=("uber",), questions=QUESTIONS, silent=QUESTIONS)
    for row, claims in zip(rows, ("none", "none", "none", "yes", "no", "yes", "yes", "no"), strict=True):
        row["claims_silence"] = claims
    return tidy_of(rows)


def test_who_says_nothing_is_left_out_of_the_rates_and_counted() -> None:
    """The rate is of the answers that say something; all of them are in the counts."""
    made = silent.silence_error_rates_table(study_of(mixed()))
    rows = made.data.set_index("system")
    assert rows[["answers", "wrong", "rate", "mute"]].values.tolist() == [[1, 0, 0.0, 3], [4, 2, 0.5, 0]]
    assert made.headings["mute"] == "said nothing"
    (pair,) = silent.silence_error_differences_table(study_of(mixed())).data.to_dict("records")
    assert (pair["questions"], pair["difference"]) == (1, -1.0)


def test_silence_is_drawn_with_its_rates() -> None:
    """Each system has a row with rate and n in the panel of the error that its questions allow."""
    found = silent.silence_error_rates_table(study_of(mixed()))
    drawn = silent.silence_error_rates_figure(found)
    assert drawn is not None
    asserts, claims = drawn.plot().axes
    assert written(asserts) == ["0%", "n=1", "50%", "n=4"]
    assert written(claims) == []
    assert [label.get_text() for label in asserts.get_yticklabels()] == ["a/mute", "b/bold"]
    assert silent.silence_error_rates_figure(silent.silence_error_rates_table(study_of(mixed()[:1]))) is None


def test_a_system_that_is_mute_throughout_has_a_row_without_a_rate() -> None:
    """Four of four said nothing: no rate, and no difference from anybody."""
    rows = answer_rows(systems=("a/mute",), documents=("uber",), questions=QUESTIONS, silent=QUESTIONS)
    frame = tidy_of([{**row, "claims_silence": "none"} for row in rows])
    (row,) = silent.silence_error_rates_table(study_of(frame)).data.to_dict("records")
    assert (row["answers"], row["mute"]) == (0, 4)
    assert np.isnan(row["rate"])
    assert silent.silence_error_differences_table(study_of(frame)).data.empty


def test_outcomes_and_groups_count_them_where_there_are_any() -> None:
    """The column is there only where somebody said nothing."""
    made = outcomes.outcome_counts_by_system_table(study_of(mixed()))
    assert made.data.set_index("system")["mute"].to_dict() == {"a/mute": 3, "b/bold": 0}
    told = groups_answers(study_of(mixed()), DocumentGrouping("sector", {"uber": "rides"})).data.set_index("system")
    assert told[["mute", "says_silent"]].values.tolist() == [[3, 1.0], [0, 0.5]]
    plain = tidy_of(answer_rows(systems=("b/bold",), documents=("uber",), questions=QUESTIONS))
    assert "mute" not in outcomes.outcome_counts_by_system_table(study_of(plain)).data
    assert "mute" not in groups_answers(study_of(plain), DocumentGrouping("sector", {"uber": "rides"})).data


def test_over_time_a_system_that_falls_mute_refuses_and_does_not_assert() -> None:
    """The day on which it says nothing has no share of abstentions, and refuses in 100 %."""
    frame, found = series(0, 1)
    first, later = (day.runs[0] for day in found["s0"])
    frame["status"] = "answered"
    frame["claims_silence"] = np.where(frame["run"] == later, "none", "yes")
    rows = tabulate_changes_since_first_occasion(frame, found).data.set_index("measure")
    assert first != later
    assert rows.loc["refuses", ["first", "now"]].tolist() == [0.0, 100.0]
    assert "abstains" not in rows.index


@pytest.fixture
def mute() -> RunFolder:
    """A run of a system that is cut, filtered, refuses in words or only thinks; its last answer is cut midway."""
    make_workspace(questions=5)
    write("policies/acme.yaml", "company: ACME\nlicense: not stated\n")
    write("annotations/acme/policy.yaml", f"document: acme\nquestions: policy\nannotators: [Cy]\nanswers:\n{ANSWERS}")
    write("mute.yaml", MUTE)
    return carry_out(spec(systems=("scripted/mute.yaml",), conversation="independent"))[0]


def stances(place: str = ".") -> dict[str, str]:
    """What each answer of the latest run of a workspace claims."""
    here = find_workspace(place)
    frame = gather_study_with_stored_scores(here, select_runs_and_apply_filters(here, ["latest"])).make_tidy_table()
    return dict(zip(frame["question"].astype(str), frame["claims_silence"].astype(str), strict=True))


SAID = {**dict.fromkeys(("Q1", "Q2", "Q3", "Q4"), "none"), "Q5": "no"}


@pytest.mark.usefixtures("mute")
def test_whatever_keeps_a_system_mute_it_asserts_nothing() -> None:
    """By status, by its words or without any; what a cut answer said before the cut counts."""
    assert stances() == SAID


def test_a_pack_knows_who_said_nothing(mute: RunFolder, genaipa: Callable[..., Finished]) -> None:
    """Replies that are left out, since they may quote the document, say as little for whoever unpacks them."""
    manifest = mute.manifest()
    manifest.systems["scripted/mute.yaml"].words = "document"
    mute.write_manifest(manifest)
    assert genaipa("pack", "latest", "-o", "study.zip").code == 0
    assert genaipa("unpack", "study.zip", "there").code == 0
    facts = msgspec.json.decode(next(Path("there/runs").glob(f"*/{WITHHELD}")).read_bytes(), type=WithheldTextFacts)
    assert [row["claims_silence"] for row in facts.facts["silence"].values()].count("none") == 4
    assert stances("there") == SAID
