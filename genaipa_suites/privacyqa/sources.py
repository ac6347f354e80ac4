"""Published files of PrivacyQA: the official ones, and the copy of a part of them in LegalBench-RAG."""

from __future__ import annotations

from genaipa_suites.data import Source

TABLES = {"test": "data/policy_test_data.csv", "train": "data/policy_train_data.csv"}
"""Split → its official table; that of any other split is named after it, and in the form of test."""
_META = "data/meta-annotations/OPP-115 Annotations/"
CATEGORIES = {
    "test": f"{_META}test_opp_annotations.csv",
    "train": f"{_META}train_opp_annotations.csv",
    "subset": f"{_META}test_opp_annotations.csv",
}
"""Split → the OPP-115 categories of its questions; of any other split as for tables."""
SUBSET = "src/data/benchmarks/privacy_qa.json"
CORPUS = "src/data/corpus/privacy_qa/"
SENTENCES = {
    "23andMe": 334,
    "Fiverr": 173,
    "Groupon": 176,
    "Keep": 87,
    "TickTick: To Do List with Reminder, Day Planner": 25,
    "Viber Messenger": 166,
    "Wordscapes": 220,
}
"""Policy of the published subset → its sentences."""
SUBSET_QUESTIONS = 194
COUNTS = {
    "test": {"rows": 62_150, "policies": 8, "questions": 400},
    "train": {"rows": 185_200, "policies": 27, "questions": 1_350},
}
"""Split → counts of its published table."""
UNANSWERABLE = 99
"""Unanswerable questions of the test split, by the paper (a quarter of 400, Table 5's majority row)."""


def stored(policy: str) -> str:
    """Name of a policy's file in the subset: its JSON has `:` where the file has `_`."""
    return f"{policy.replace(':', '_')}.txt"


OFFICIAL = Source(
    name="privacyqa",
    title="PrivacyQA",
    repository="AbhilashaRavichander/PrivacyQA_EMNLP",
    commit="5178ff3eaf61cbdaea03d85ff23b676b3fea451f",
    blobs={
        TABLES["test"]: "ce6cbe60c755a340fd3e11ced3fa6fda7ea815fe",
        TABLES["train"]: "ca609e8986e8bb58bad5df663ea1e9d287c9a3dc",
        CATEGORIES["test"]: "d79edccad48f6428c71138348503ebae326f221e",
        CATEGORIES["train"]: "0deb4e89be1afb8560154f0d31ada7c1c891550e",
    },
    terms="MIT; cite Ravichander et al. 2019 (EMNLP).",
    remedy="Its two tables may be in a clone alone: git clone https://github.com/AbhilashaRavichander/PrivacyQA_EMNLP; "
    "a part of the test split can be had without (genaipa get privacyqa-subset, --split subset)",
)
PART = Source(
    name="privacyqa-subset",
    title="PrivacyQA (LegalBench-RAG subset)",
    repository="02noDarling/MyLegalBenchRag",
    commit="ffe332e6473bf5ee344e62e10a4b8b1ed4c54a31",
    # The JSON is known by its SHA-256; its texts by no hash, but the loader holds its evidence and counts against them.
    blobs={
        SUBSET: "12c7afcb0e6e84cdff59914495c3bce005d10bb4665cae12b64a9b57af8fb7b6",
        **{CORPUS + stored(policy): "" for policy in SENTENCES},
    },
    terms="PrivacyQA's data are under MIT, and so is LegalBench-RAG.",
)
