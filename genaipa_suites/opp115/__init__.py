"""OPP-115 as PrivacyGLUE asks it: all practices, of twelve, that a segment of a privacy policy is about.

Its files have a row for each label of a segment, without a header.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa_suites.baseline import word_and_character_tfidf_vectorizer
from genaipa_suites.data import SuiteSource
from genaipa_suites.labels import MAJORITY, LabelSuite, make_trained_baseline
from genaipa_suites.material import Item, Material

if TYPE_CHECKING:
    from genaipa_suites.data import DataFiles


_FILE = "datasets/Majority/{}_dataset.csv"
SOURCE = SuiteSource(
    name="opp115",
    title="OPP-115",
    repository="SmartDataAnalytics/Polisis_Benchmark",
    commit="4e42f557c9937ca3f0536736f435a80f476213ef",
    blobs={
        _FILE.format("train"): "4640533e5a2b59fbc537521e70b6b90cc7f523f0",
        _FILE.format("validation"): "4d76950c2ab31eb09417f53dc1752cb2190b5d79",
        # No more digits of it are known; what it holds is counted as well.
        _FILE.format("test"): "f3689a86",
    },
    terms="its repository states no license; the corpus OPP-115 is for research, teaching and scholarship only.",
)
LABELS = (
    "Data Retention",
    "Data Security",
    "Do Not Track",
    "First Party Collection/Use",
    "International and Specific Audiences",
    "Introductory/Generic",
    "Policy Change",
    "Practice not covered",
    "Privacy contact information",
    "Third Party Sharing/Collection",
    "User Access, Edit and Deletion",
    "User Choice/Control",
)
COUNTS = {
    "train": {"rows": 2639, "texts": 2185, "labels of texts": 2609},
    "validation": {"rows": 648, "texts": 550, "labels of texts": 644},
    "test": {"rows": 833, "texts": 697, "labels of texts": 829},
}
"""Split → counts of the published file."""


class Opp115(LabelSuite, labels=LABELS, many=True, noun="segments"):
    """Segments of 115 policies, each with its practices: the Majority edition, split by segment."""

    title = SOURCE.title
    about = (
        "Name all practices that a segment of a privacy policy is about, out of twelve labels. The labels are scored."
    )
    citation = (
        "Wilson et al. 2016, The Creation and Analysis of a Website Privacy Policy Corpus (ACL); as split in "
        "PrivacyGLUE: Shankar et al. 2023, Applied Sciences 13(6), 3701."
    )
    data = (SOURCE,)
    splits = ("test", "validation", "train")
    dependence_note = (
        "its files don't name the policy of a segment, so intervals are by segment and too narrow; 108 of the "
        "policies have segments in both train and test"
    )
    leakage_note = (
        "The split is by segment: 108 policies have segments in both train and test, so the system was trained "
        "on policies that it is tested on."
    )
    baselines = (
        MAJORITY,
        make_trained_baseline("tfidf", "TF-IDF of words and pairs of words, a linear SVM for each label"),
        make_trained_baseline(
            "tfidf-balanced", "as tfidf, with the same weight for each label's segments and all others", balanced=True
        ),
        make_trained_baseline(
            "tfidf-characters",
            "as tfidf-balanced, plus sequences of two to five characters within words",
            word_and_character_tfidf_vectorizer,
            balanced=True,
        ),
    )

    def load(self, split: str) -> Material:
        """Load the segments of a split, each with all labels that it has a row for."""
        return load_segments(self.files, split)


def load_segments(files: DataFiles, split: str) -> Material:
    """Load the segments of a split: one text is one item, as in PrivacyGLUE; its id has the number of its first row."""
    path = _FILE.format(split)
    number, first = 0, dict[str, int]()
    labels: dict[str, set[str]] = {}
    for number, (entry, (segment, label)) in enumerate(
        files.read_numbered_csv_rows(path, ("a text", "a label"), has_header=False), start=1
    ):
        if not segment.strip():
            raise files.make_error_with_remedy(path, "has no text", entry)
        if label not in LABELS:
            raise files.make_error_with_remedy(
                path, f"the label '{label}' is not one of the twelve ({', '.join(LABELS)})", entry
            )
        first.setdefault(segment, number)
        labels.setdefault(segment, set()).add(label)
    counts = {"rows": number, "texts": len(labels), "labels of texts": sum(map(len, labels.values()))}
    files.check_published_counts(path, counts, COUNTS.get(split, counts))
    sets = {segment: sorted(labels[segment]) for segment in labels}
    return Material(
        tuple(
            Item(
                f"{split}-{first[segment]}",
                {"text": segment.strip()},
                gold,
                stratum="; ".join(gold),
                groups={"category": tuple(gold)},
            )
            for segment, gold in sets.items()
        )
    )
