"""Tidy tables made up for tests: whole studies of any size, with every value decided by a seed."""

from __future__ import annotations

import hashlib
import itertools
import pickle

import numpy as np

from benchmarks.made_study import make_study
from genaipa.answers.fact import answer_facts as fact_classes
from genaipa.answers.fact import list_fact_columns, study_facts
from genaipa.answers.study import Study
from genaipa.scoring.columns import ANSWER, IN_TABLE
from rubrics import METRICS, PAPER, VALUES

CATEGORIES = ("T", "UC", "DM", "SE", "PD", "RC", "AEE", "CA")
QUESTIONS = tuple(f"{category}_{number}" for category in CATEGORIES for number in ("f1", "f2", "f3", "u1"))
EXPERIMENTS = {
    "quality": ("document", ("original",)),
    "robustness": ("document", ("paraphrase-1", "paraphrase-2", "paraphrase-3")),
    "recall": ("company-name", ("original",)),
    "summary": ("summary-of-document", ("original",)),
}


def answer_rows(
    *,
    systems=("a/one", "b/two"),
    documents=("uber", "spotify"),
    experiments=("quality",),
    questions=QUESTIONS,
    repetitions=1,
    silent=(),
):
    """One entry per answer, as `frame.tidy` takes them."""
    rows = []
    for system, document, experiment, question in itertools.product(systems, documents, experiments, questions):
        initialization, wordings = EXPERIMENTS[experiment]
        for wording, repetition in itertools.product(wordings, range(1, repetitions + 1)):
            key = f"{system}|{document}|{initialization}|{wording}|{repetition}|{question}"
            rows.append(
                {
                    "unit": "answer",
                    "run": f"run-of-{system.partition('/')[2]}",
                    "key": key,
                    "system": system,
                    "model": system,
                    "experiment": experiment,
                    "document": document,
                    "kind": "policy",
                    "initialization": initialization,
                    "wording": wording,
                    "repetition": repetition,
                    "conversation": "shared",
                    # Each document's questions are asked in an order of their own.
                    "position": (questions.index(question) + documents.index(document)) % len(questions) + 1,
                    "question": question,
                    "category": question.partition("_")[0],
                    "source": "user" if question.endswith("u1") else "faq",
                    "silent": "yes" if question in silent else "no",
                    "status": "answered",
                    "claims_silence": "no",
                    "answer": f"digest of {key}",
                    "seconds": 1.0,
                    "cost": 0.01,
                }
            )
    return rows


def score_rows(answers, *, analysts=("ada",), seed=0):
    """Every analyst's score of every answer that has text, as `frame.tidy` takes them; better answers to `a/…`."""
    random = np.random.default_rng(seed)
    rows = []
    for answer in answers:
        if answer["answer"]:
            weights = (0.7, 0.2, 0.1) if answer["system"].startswith("a/") else (0.4, 0.3, 0.3)
            for analyst in analysts:
                values = random.choice(VALUES, size=len(METRICS), p=weights)
                rows.append(
                    {
                        "answer": answer["answer"],
                        "analyst": analyst,
                        "role": "score",
                        "scorer": "human",
                        "independent": "yes",
                        "rubric": PAPER.digest,
                        **dict(zip(METRICS, values.tolist(), strict=True)),
                    }
                )
    return rows


def columns(rows):
    """Rows as columns; a name that a row lacks is None there."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


_MADE = {}
"""Digest of what a table was made of → the study, of the last ones: each holds all that was made of it."""
_MOST_MADE = 30


def tidy_of(answers, scores=(), *, excluded=False):
    """The table of these rows with all facts, made once for all that ask for the same: nobody may change it."""
    answers, scores = list(answers), list(scores)
    asked = hashlib.sha256(pickle.dumps((answers, scores, excluded))).digest()
    if asked not in _MADE:
        if len(_MADE) >= _MOST_MADE:
            del _MADE[next(iter(_MADE))]
        orders = {"question": QUESTIONS, "category": CATEGORIES}
        given = columns([{"answer": "", **row} for row in scores])
        _MADE[asked] = make_study(answers, given, PAPER, excluded=excluded, orders=orders).make_tidy_table()
    return _MADE[asked]


def study_of(frame, **known):
    """The study of a table with all facts, whose rows may have been picked or changed."""
    answered = frame["unit"] == "answer"
    places = frame[answered].groupby(["run", "key"], observed=True, sort=False).ngroup()
    row = np.full(len(frame), -1)
    row[answered] = places
    facts = [fact.name for fact in (*fact_classes(), *study_facts())]
    names = [*ANSWER, *(name for name in list_fact_columns(*facts) if name in frame)]
    about_answers = [name for name in names if name not in (*ANSWER, *IN_TABLE)]
    answers = frame.loc[answered, names][~places.duplicated()].reset_index(drop=True)
    return Study(answers, frame.drop(columns=about_answers).assign(row=row.astype("int32")), **known)


def study(*, analysts=("ada",), seed=0, **shape):
    """A whole study: its answers, and the scores of all of them."""
    answers = answer_rows(**shape)
    return tidy_of(answers, score_rows(answers, analysts=analysts, seed=seed))
