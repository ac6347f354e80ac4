"""How the published tables name things: documents, questions, experiments and systems, with all their spellings."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from genaipa.policies.document import DocumentKind
    from genaipa.questions.sets import Wording
    from genaipa.runs.experiments import StudyExperiment
    from genaipa_study.files import Tree


POLICY_SET = "genaipabench"
REGULATION_SET = "genaipabench-regulation"


@dataclass(frozen=True)
class Published:
    """One of the seven documents, with its date where its text states one."""

    company: str
    title: str
    kind: DocumentKind = "policy"
    date: str = ""

    @property
    def path(self) -> str:
        """The file of its text in the repository."""
        folder = "Privacy Policy" if self.kind == "policy" else "Regulations"
        return f"Privacy Documents/{folder}/{self.company}_document.txt"


DOCUMENTS: dict[str, Published] = {
    "uber": Published("Uber", "Uber Privacy Notice", date="2023-04-05"),
    "spotify": Published("Spotify", "Spotify Privacy Policy"),
    "airbnb": Published("Airbnb", "Airbnb Privacy Policy"),
    "facebook": Published("Facebook", "Facebook Data Policy", date="2022-01-04"),
    "twitter": Published("Twitter", "Twitter Privacy Policy"),
    "gdpr": Published("GDPR", "General Data Protection Regulation", kind="regulation"),
    "ccpa": Published("CCPA", "California Consumer Privacy Act of 2018", kind="regulation"),
}

# Id as published → id in genaipa. The six questions are published once for each regulation, numbered on.
POLICY_IDS = {
    question: question
    for category in ("T", "UC", "DM", "SE", "PD", "RC", "AEE", "CA")
    for question in (f"{category}_f1", f"{category}_f2", f"{category}_f3", f"{category}_u1")
}
REGULATION_IDS = {f"PR_{number}": f"PR_{(number - 1) % 6 + 1}" for number in range(1, 13)}

ANSWERS = "Generated Answers/"
RESULTS = "Results/"
POLICIES = tuple(name for name, document in DOCUMENTS.items() if document.kind == "policy")
REGULATIONS = tuple(name for name, document in DOCUMENTS.items() if document.kind == "regulation")


_BEGINS: dict[StudyExperiment, str] = {
    "quality": "orig",
    "robustness": "robust",
    "recall": "adapt",
    "summary": "summar",
}
"""Experiment → how its name begins in files and sheets."""
STUDY_EXPERIMENTS = tuple(_BEGINS)
REPETITIONS = {"faq": 1, "user": 3}
"""Origin of a question → how often the study asked it."""

_LEVELS = str.maketrans({"ₑ": "1", "ₘ": "2", "ₕ": "3"})
_LABEL = re.compile(r"([A-Z]+)_?([FU]?)_?([1-3])")
_CLOSE = 0.8
"""How alike a misspelt name has to be: "airbnd" is airbnb."""


def experiment_named(text: str) -> StudyExperiment | None:
    """The experiment that a sheet, a file or a heading is called after; None for any other text."""
    word = text.strip().lower().removeprefix("results_")
    return next((name for name, begins in _BEGINS.items() if word.startswith(begins)), None)


def wordings_of(experiment: StudyExperiment, origin: str) -> tuple[Wording, ...]:
    """The wordings in which questions of an origin were asked: of FAQ questions one paraphrase only."""
    from genaipa.runs.experiments import EXPERIMENTS  # the facts above are read wherever data sets are listed

    return EXPERIMENTS[experiment].wordings[: 1 if origin == "faq" else None]


def document_named(text: str, among: tuple[str, ...] = POLICIES) -> str | None:
    """The document that a sheet or a column is called after, small slips of the pen included."""
    close = difflib.get_close_matches(text.strip().lower(), among, n=1, cutoff=_CLOSE)
    return close[0] if close else None


def labelled(text: str) -> tuple[str, int] | None:
    """Question id and number of a label: `T_f1`, `AEEₑ` → AEE_f1; `T_u2` → T_u1, 2 (its second paraphrase)."""
    levels = any(ord(letter) in _LEVELS for letter in text)
    found = _LABEL.fullmatch(text.strip().translate(_LEVELS).upper().replace("PBD", "PD"))
    if found is None:
        return None
    category, kind, number = found[1], "F" if levels else found[2], int(found[3])
    question = f"{category}_u1" if kind == "U" else f"{category}_f{number}"
    return (question, number) if kind and question in POLICY_IDS else None


def origin_of(question: str) -> str:
    """`faq` or `user`: from where the study has the question."""
    return "user" if "_u" in question else "faq"


def system_of(path: str) -> str:
    """The system whose file this is, from its folder: `Results/Results_ChatGPT-4/…` → published/chatgpt-4."""
    folder = PurePosixPath(path).parts[1]
    return "published/" + folder.removeprefix("Results_").lower()


def held(tree: Tree, folder: str, suffix: str) -> list[str]:
    """The published files below a folder that are here, in order; files directly in it belong to no system."""
    return sorted(
        path
        for path in tree.blobs
        if path.startswith(folder) and path.lower().endswith(suffix) and path.count("/") > 1 and tree.holds(path)
    )
