"""What a stranger's package has rated part by part is compared: people with each other, judges with people."""

from __future__ import annotations

from pathlib import Path

import krippendorff
import numpy as np
import pytest
from framing import answer_rows, study_of, tidy_of
from judged import GPT, human, verdict
from running import write

from genaipa.answers.study import AnswerEventLog, Study
from genaipa.reports.chapters import agreement, judges
from genaipa.reports.figures.figure import FigureScope
from genaipa.reports.judged.verdicts import LEAST
from rubrics import METRICS, VALUES

# A package that takes each metric for a part of the answer.
MARKS = """
from collections import defaultdict

import numpy as np
from genaipa.reports.ratings import AnswerPartRatings

class Marks(AnswerPartRatings):
    noun = "marks"
    values = {"bad": -1.0, "fair": 0.5, "good": 1.0}

    def count_ratings(self, study, events):
        counts = defaultdict(lambda: np.zeros(3, np.int64))
        for event in events:
            for metric, value in (event.values or {}).items():
                counts[event.answer, metric][[*self.values.values()].index(value)] += 1
        return dict(counts)

class Broken(AnswerPartRatings):
    noun, values = "stains", {"none": 0.0, "some": 1.0}

    def count_ratings(self, study, events):
        raise KeyError("ink")

"""
ANSWERS = LEAST + 6


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    """A study of which Ada and Bo scored all answers but the last, which Ada scored alone, and a judge all."""
    write("marks.py", MARKS)
    write("marks-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: marks\nVersion: 1\n")
    write("marks-1.dist-info/entry_points.txt", "[genaipa.agreements]\nmarks = marks:Marks\nstains = marks:Broken\n")
    monkeypatch.syspath_prepend(Path.cwd())
    rows = answer_rows()[:ANSWERS]
    random = np.random.default_rng(3)
    events = []
    for number, answer in enumerate(row["answer"] for row in rows):
        ada, bo, judge = (tuple(random.choice(3, len(METRICS), p=(0.6, 0.3, 0.1)).tolist()) for _ in range(3))
        events += [human("ada", answer, ada, number), verdict(GPT, answer, judge)]
        events += [human("bo", answer, bo, number)] if number < ANSWERS - 1 else []
    return study_of(tidy_of(rows), log=AnswerEventLog(events))


def ranks_of(study: Study, *scorers: str) -> list[list[int]]:
    """The ranks of these scorers' values, of all metrics of the answers that each of them scored."""
    scores = [{event.answer: event.values for event in study.log.counted if event.analyst == name} for name in scorers]
    answers = set.intersection(*map(set, scores))
    order = sorted(VALUES)
    return [[order.index(own[answer][metric]) for answer in sorted(answers) for metric in METRICS] for own in scores]


def test_ratings_of_a_package_are_compared(study: Study) -> None:
    """Alpha over answers and parts is krippendorff's; an answer that one person rated counts with judges alone."""
    chapter = agreement.AnalystAgreementChapter().make(study, FigureScope())
    tables = {table.name: table for table in chapter.tables}
    table = tables["marks-agreement"]
    (row,) = table.data.to_dict("records")
    coders = ranks_of(study, "ada", "bo")
    expected = krippendorff.alpha(np.array(coders), value_domain=[0, 1, 2], level_of_measurement="ordinal")
    assert row["alpha"] == pytest.approx(expected)
    assert row["agreement"] == pytest.approx(np.mean(np.equal(*coders)))
    assert (row["answers"], row["marks"]) == (ANSWERS - 1, (ANSWERS - 1) * len(METRICS))
    assert "(good, fair, bad, in this order)" in table.note
    assert "The agreement stains is left out: it can't be instantiated (KeyError: 'ink')." in chapter.absent
    tables = {table.name: table for table in judges.JudgesChapter().make(study, FigureScope()).tables}
    (row,) = tables["judges-marks"].data.to_dict("records")
    assert (row["answers"], row["marks"]) == (ANSWERS, ANSWERS * len(METRICS))
