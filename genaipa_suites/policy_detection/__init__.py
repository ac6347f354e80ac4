"""Policy-Detection as PrivacyGLUE asks it: whether the text of a web page is a privacy policy.

Its reader is written against the file's format: no snapshot that we know has its content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa_suites.data import SuiteSource
from genaipa_suites.labels import LabelSuite
from genaipa_suites.material import Item, Material, split_rows_into_training_and_validation

if TYPE_CHECKING:
    from genaipa_suites.material import Outcome


POLICY, OTHER = LABELS = ("Policy", "Not Policy")
_PACKED, _PLAIN = "data/1301_dataset.csv.xz", "data/1301_dataset.csv"
SOURCE = SuiteSource(
    name="policy-detection",
    title="Policy-Detection",
    repository="infsys-lab/policy-detection-data",
    commit="6164e00f9ce60489f6e715ca803e649e54011050",
    blobs={
        # The SHA-256 of its Git-LFS pointer.
        _PACKED: "f84cbf708ae5f0f16d86216b180a26fd693d4df37948c6ea45f78419ea7e2f16",
        # The same unpacked, as in the archive of its authors; known by no hash.
        _PLAIN: "",
    },
    terms="its repository states no license.",
    remedy=(
        "Either of the two files will do: in a clone, 'git lfs pull' fetches the packed file; the plain file is in "
        "classifier_data.tar.gz of the Princeton-Leuven Longitudinal Corpus of Privacy Policies."
    ),
)


class PolicyDetection(LabelSuite, labels=LABELS, noun="pages"):
    """Texts of web pages that were taken for privacy policies; most are."""

    title = SOURCE.title
    about = (
        "Tell whether the text of a web page is a privacy policy. The label is scored; a faulty reply counts as wrong."
    )
    citation = (
        "Amos et al. 2021, Privacy Policies over Time: Curation and Analysis of a Million-Document Dataset (WWW); as "
        "split in PrivacyGLUE: Shankar et al. 2023, Applied Sciences 13(6), 3701."
    )
    data = (SOURCE,)
    splits = ("test", "valid", "train")
    figures = ("micro_f1", "macro_f1")

    @classmethod
    def labels_counted_as_predicted(cls, outcome: Outcome) -> list[Any]:
        """Return the label; a faulty reply counts as the wrong one of the two."""
        return super().labels_counted_as_predicted(outcome) or [label for label in LABELS if label != outcome.item.gold]

    def load(self, split: str) -> Material:
        """Load the pages of a split: 30 % of all rows for test, 15 % of the others for valid; ids are row numbers."""
        if split not in self.splits:
            return Material(tuple(self._read_page_items(f"data/{split}.csv")))
        path = _PLAIN if self.files.find(_PLAIN) and not self.files.find(_PACKED) else _PACKED
        items = self._read_page_items(path)
        self.files.check_published_counts(path, {"rows": len(items)}, {"rows": 1301})
        remaining, test = split_rows_into_training_and_validation(len(items), 0.3)
        train, valid = (
            [remaining[row] for row in rows] for rows in split_rows_into_training_and_validation(len(remaining), 0.15)
        )
        return Material(tuple(items[row] for row in {"test": test, "valid": valid, "train": train}[split]))

    def _read_page_items(self, path: str) -> list[Item]:
        items = []
        for entry, (page, flag) in self.files.read_numbered_csv_rows(path, ("policy_text", "is_policy")):
            label = {"true": POLICY, "false": OTHER}.get(flag.lower())
            if label is None:
                raise self.files.make_error_with_remedy(path, "its 'is_policy' is neither True nor False", entry)
            items.append(Item(entry.replace(" ", "-"), {"text": page.strip()}, label, stratum=label))
        return items
