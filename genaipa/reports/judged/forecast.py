"""Forecasts: how many more scores would make an estimate so sure, and where no number of scores would.

The variance of a question's mean has two parts: how questions differ, which only more questions or documents lessen,
and what the answers leave open that people have not scored, which scores lessen. Both are known roughly after a wave,
so that a number of scores is said as a range: it holds 80 of 100 such forecasts' outcomes (docs/method/estimates.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from genaipa.reports import averages
from genaipa.reports.crossed import LEVEL
from genaipa.reports.judged.estimate import estimated
from genaipa.reports.table import SCALE, Table, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

TARGETS = (0.5, 0.3)
"""Halves of intervals of M_all, from 1 to 10, that are asked for."""
_BY = ["system", "experiment"]
_DRAWS = 2000
_TAILS = (0.1, 0.9)


@dataclass(frozen=True)
class Forecast:
    """The variances behind an average of `questions`, each with `each` answers; people scored `scored` in all.

    `between` is the variance of the questions' means if all answers were scored, `within` that of an answer's residual
    around its question's. `half` is half the interval for these documents as it is.
    """

    questions: int
    each: float
    scored: int
    between: float
    within: float
    half: float

    @property
    def floor(self) -> float:
        """Half the interval if people scored every answer."""
        return self._reach * float(np.sqrt(self.between / self.questions))

    @property
    def _reach(self) -> float:
        n = self.questions
        return -float(stdtrit(n - 1, (1 - LEVEL) / 2)) * (1 + 1 / (n * (n - 1)))

    def more(self, target: float) -> tuple[float, float, float]:
        """Scores still needed for half the interval to be `target`, and the range; infinite where all are too few."""
        random, free = np.random.default_rng(0), (self.questions - 1, max(self.scored - 1, 1))
        drawn = (random.chisquare(n, _DRAWS) / n for n in free)
        needed = self._needed(target, self.between * next(drawn), self.within * next(drawn))
        low, high = np.quantile(needed, _TAILS, method="nearest")
        middle = self._needed(target, np.array([self.between]), np.array([self.within]))[0]
        more, least, most = (max(float(number) - self.scored, 0.0) for number in (middle, low, high))
        return more, least, most

    def _needed(self, target: float, between: Floats, within: Floats) -> Floats:
        left = self.questions * (target / self._reach) ** 2 - between
        needed = self.questions / (
            np.divide(left, within, out=np.full_like(left, np.inf), where=within > 0) + 1 / self.each
        )
        found: Floats = np.where(left > 0, needed, np.inf)
        return found

    def in_words(self, target: float) -> str:
        """The forecast for a target, as in "about 20 more (10 to 40)"."""
        if self.half <= target:
            return "reached"
        more, least, most = self.more(target)
        if np.isinf(least):
            return "not by scoring"
        if np.isinf(more):
            return f"at least {max(round(least), 1)} more, and perhaps not by scoring"
        end = "more than there are" if np.isinf(most) else str(round(most))
        return f"about {max(round(more), 1)} more ({round(least)} to {end})"


def forecast(frame: pd.DataFrame, system: str, experiment: str) -> Forecast | None:
    """The forecast of M_all of a system in an experiment; None if it has no estimate, or one without an interval."""
    found = estimated(frame)
    if found is None:
        return None
    given = found.given[found.given["measure"] == "m_all"]
    row = given[(given["system"] == system) & (given["experiment"] == experiment)]
    cells = averages.weighted(found.frame, "m_all")
    cells = cells[(cells["system"] == system) & (cells["experiment"] == experiment)]
    mean = averages.mean_of(cells, "m_all")
    if row.empty or not float(mean["high"]) > float(mean["low"]):  # type: ignore[arg-type]
        return None
    means = cells.groupby("question", observed=True)["m_all"].mean()
    answers, scored = int(row["answers"].iloc[0]), int(row["scored"].iloc[0])
    within, each = float(row["residual"].iloc[0]), answers / len(means)
    noise = within * max(len(means) / scored - 1 / each, 0.0)
    between = max(float(means.var()) - noise, 0.0)
    return Forecast(len(means), each, scored, between, within, float(mean["high"] - mean["low"]) / 2)  # type: ignore[operator]


def forecasts(frame: pd.DataFrame, targets: Sequence[float] = TARGETS) -> Table:
    """A row for each system and experiment with an estimate of M_all: how many scores more each target takes."""
    found = estimated(frame)
    groups = [] if found is None else list(found.given[_BY].drop_duplicates().itertuples(index=False, name=None))
    known = [(system, experiment, one) for system, experiment in groups if (one := forecast(frame, system, experiment))]
    rows = [
        {
            "system": system,
            "experiment": experiment,
            "scored": one.scored,
            "half": one.half,
            "floor": one.floor,
            **{f"to{target:g}": one.in_words(target) for target in targets},
        }
        for system, experiment, one in known
    ]
    names = {f"to{target:g}": f"±{target * SCALE:g}" for target in targets}
    columns = ["system", "experiment", "scored", "half", *names, "floor"]
    return table(
        "forecast",
        "How many more scores would be enough",
        "For the interval of M_all (10 to 100) for these documents, from people and judge: half of it now, how many "
        "more answers of the system in the experiment people would have to score until it is so small, with the range "
        "that holds in 80 of 100 such studies, and half of it if people scored every answer. Below that it takes more "
        "questions or documents.",
        pd.DataFrame(rows, columns=columns),
        columns,
        headings={"half": "now ±", "floor": "all scored ±", **names},
        formats=dict.fromkeys(("half", "floor"), ".1f"),
        tenfold=("half", "floor"),
    )


def in_words(frame: pd.DataFrame, targets: Sequence[float] = TARGETS) -> list[str]:
    """The forecasts as sentences, one for each system and experiment."""
    found = estimated(frame)
    said = []
    for system, experiment in [] if found is None else found.given[_BY].drop_duplicates().itertuples(index=False):
        if one := forecast(frame, system, experiment):
            parts = [f"±{target * SCALE:g}: {one.in_words(target)}" for target in targets]
            allow = f"these {one.questions} questions allow ±{one.floor * SCALE:.1f}"
            beyond = "; more questions or documents would do it" if any("not by" in each for each in parts) else ""
            said.append(f"{system}, {experiment}: ±{one.half * SCALE:.1f} now; {'; '.join(parts)}; {allow}{beyond}.")
    return said
