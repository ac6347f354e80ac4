"""Coverage for other analysts and other policies of suites: the tables that `benchmarks.coverage` prints last."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd

from genaipa.reports.analysts import estimate_analyst_panel_of_column, note_confounded_analysts
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.scoring.rubric import M_ALL_RANGE
from genaipa_suites.material import Item, Outcome, ParsedReply
from genaipa_suites.measure import Measure, ratio
from genaipa_suites.report.merit import JackknifeUnits, OutcomeCounts

LENIENCIES = (2.0, 4.0, 9.0)
"""Standard deviations between analysts of M_all: 9 is a fifth of a step on every metric alike."""
ANALYSTS = (1, 2, 3, 5)
POLICIES = (3, 5, 10, 20, 35)
_QUESTIONS, _DOCUMENTS = 32, 5
_TRUTH = 55.0
_HIT = Measure("hit", "hit", "", lambda one: (one.parsed.prediction, 1), ratio)


def _scores(random: np.random.Generator, analysts: int, leniency: float, systems: int = 1) -> pd.DataFrame:
    """One score of each answer; all answers to a question about a document are dealt to one analyst."""
    shape = (systems, _QUESTIONS, _DOCUMENTS)
    system, asked, about = (place.ravel() for place in np.indices(shape))
    who = random.integers(analysts, size=shape[1:])[asked, about]
    value = _TRUTH + random.normal(0, 82**0.5, (systems, _QUESTIONS))[system, asked]
    of_documents = random.normal(0, 9, (systems, _DOCUMENTS))
    value += of_documents[system, about] + random.normal(0, 508**0.5, shape).ravel()
    given = random.normal(0, leniency, 2 * analysts)
    columns = {"system": system, "question": asked, "document": about, "analyst": who, "plain": value}
    rows = (
        pd.DataFrame(columns)
        .astype({"question": str, "document": str})
        .assign(experiment="quality", answer=np.arange(len(value)))
    )
    rows["score"] = value + given[who]
    # The same, where each system has analysts of its own.
    rows["own"] = who + analysts * system
    rows["confounded"] = value + given[rows["own"]]
    return rows.assign(here=_TRUTH + of_documents[0].mean())


def other_analysts(studies: int) -> Iterator[tuple[str, ...]]:
    """Leniency, analysts, and per cent of studies: intervals that hold the truth, and alike systems told apart."""
    for leniency, number in itertools.product(LENIENCIES, ANALYSTS):
        random, found, these = np.random.default_rng([int(leniency), number]), np.zeros(7), 0
        for _ in range(studies):
            rows = _scores(random, number, leniency)
            sure = estimate_crossed_mean(
                rows["score"],
                rows["question"],
                rows["document"],
                limits=M_ALL_RANGE,
                panel=estimate_analyst_panel_of_column(rows, "score"),
            )
            these += sure.low <= rows["here"].iloc[0] <= sure.high
            found[:2] += (
                sure.policies_low <= _TRUTH <= sure.policies_high,
                sure.analysts_low <= _TRUTH <= sure.analysts_high,
            )
            found[2] += sure.analysts_high - sure.analysts_low if number > 2 else 0
            found[3:] += _told_apart(_scores(random, number, leniency, systems=2))
        share = [f"{one / studies:.1%}" for one in found]
        width = f"{found[2] / studies:.0f}"
        refused = number <= 2
        yield (
            *(f"{leniency:g}", str(number), f"{these / studies:.1%}", share[0]),
            *(("refused", "") if refused else (share[1], width)),
            *(share[3], f"{share[4]}; said {share[6]}"),
        )


def _told_apart(rows: pd.DataFrame) -> tuple[bool, bool, bool, bool]:
    """Whether alike systems differ for policies: by shared analysts, by their own; whether it is told, and if not."""
    differ = []
    for column in ("score", "confounded"):
        table = rows.pivot_table(index=["question", "document"], columns="system", values=column)
        apart = (table[0] - table[1]).reset_index(name="apart")
        differ.append(estimate_crossed_mean(apart["apart"], apart["question"], apart["document"]).policies_p < 0.05)
    sides = [
        pd.DataFrame({"counted": True, "scorer": "human", "analyst": own["own"].astype(str)})
        for _, own in rows.groupby("system")
    ]
    told = bool(note_confounded_analysts(*sides))
    return differ[0], differ[1], told, differ[1] and not told


def uneven_documents(studies: int) -> Iterator[tuple[str, ...]]:
    """Documents, and how often the interval for policies holds the truth: all scored, or a third of all but one."""
    for documents, third in itertools.product((5, 10), (False, True)):
        shown = [f"{documents}, {'one whole and a third of the others' if third else 'all whole'}"]
        for variance in (46, 162):
            random, held = np.random.default_rng([documents, third, variance]), 0
            for _ in range(studies):
                value = _TRUTH + random.normal(0, 82**0.5, (_QUESTIONS, 1)) + random.normal(0, variance**0.5, documents)
                value = value + random.normal(0, 508**0.5, value.shape)
                if third:
                    value[:, 1:][random.random((_QUESTIONS, documents - 1)) > 1 / 3] = np.nan
                asked, about = (place.ravel().astype(str) for place in np.indices(value.shape))
                found = estimate_crossed_mean(value.ravel(), asked, about)
                held += found.policies_low <= _TRUTH <= found.policies_high
            shown.append(f"{held / studies:.1%}")
        yield tuple(shown)


def suites_policies(studies: int) -> Iterator[tuple[str, ...]]:
    """Policies, and how often a suite's interval holds the share of hits, with policies alike and unlike in size."""
    for policies in POLICIES:
        shown = [str(policies)]
        for unlike in (False, True):
            random, held = np.random.default_rng([policies, unlike]), 0
            sizes = (
                np.full(policies, 12) if not unlike else np.round(60 / np.arange(1, policies + 1) ** 0.5).astype(int)
            )
            for _ in range(studies):
                outcomes = [
                    Outcome(Item(f"{policy}-{n}", {}, None, cluster=str(policy)), ParsedReply(bool(hit)), 1)
                    for policy, (chance, size) in enumerate(zip(random.uniform(0.2, 0.8, policies), sizes, strict=True))
                    for n, hit in enumerate(random.random(size) < chance)
                ]
                found = OutcomeCounts(outcomes, JackknifeUnits(one.item for one in outcomes)).estimate_measure(_HIT)
                held += found.low <= 0.5 <= found.high
            shown.append(f"{held / studies:.1%}")
        yield tuple(shown)
