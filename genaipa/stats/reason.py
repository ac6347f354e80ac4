"""Why a statistic has no value: what the data lack, which callers word."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """What the data lack; `NONE` where the statistic has its value."""

    NONE = ""
    NO_VALUE = "no value"
    ONE_QUESTION = "one question"
    ALL_EQUAL = "all questions have the same value"
    FEW_SCORED = "people scored answers to too few questions"
    NO_DOCUMENT = "only means over documents are known"
    FEW_DOCUMENTS = "too few documents"
    ONE_DOCUMENT = "one document makes up most of the mean"
    FEW_NAMED = "for most questions, only means over documents are known"
    NO_PAIRS = "the sides have no pairs"
    NOTHING_VARIES = "nothing varies"
    FEW_UNITS = "too few units, or too few that vary"
    FEW_ANALYSTS = "too few analysts"
    CONFOUNDED = "who scored depends on the question or the document"
    NO_SLOPE = "the judge's scores do not predict people's"
    EQUAL_DIFFERENCES = "people and judge differ by the same amount on all answers"
