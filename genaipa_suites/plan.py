"""A suite's plan (the options that are only a suite's), and the suites by name."""

from __future__ import annotations

from typing import Annotated, Any

from genaipa.kinds import Plan, make_plan_option
from genaipa.plugins import entry_point_targets
from genaipa.runs.records import RunSpec
from genaipa.words import format_count

ENTRY_POINTS = "genaipa.suites"

SUITES: dict[str, str] = {
    "policyqa": "genaipa_suites.policyqa:PolicyQA",
    "opp115": "genaipa_suites.opp115:Opp115",
    "privacyqa": "genaipa_suites.privacyqa:PrivacyQA",
    "privacyqa-pairs": "genaipa_suites.privacyqa_pairs:PrivacyQAPairs",
    "piextract": "genaipa_suites.piextract:PiExtract",
    "policyie": "genaipa_suites.policyie:PolicyIE",
    "policy-detection": "genaipa_suites.policy_detection:PolicyDetection",
    "counterfactual": "genaipa_suites.counterfactual:CounterfactualEdits",
    # Joins others of them.
    "privacyglue": "genaipa_suites.privacyglue:PrivacyGLUE",
}


def suite_class_paths() -> dict[str, str]:
    """Name → module:Class of every suite, shipped or brought by packages."""
    return {
        **SUITES,
        **{name: target for name, target in entry_point_targets(ENTRY_POINTS).items() if name not in SUITES},
    }


SAMPLE = "sample"
"""The split of every suite that ships: items of ours, made up, to see how it works."""
WORDINGS = (1, 2, 3)
KIND = "suite"


class SuiteOptions(Plan, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A suite's plan: its split, and the number of items of a sample (None for all).

    `shots` is the number of examples in each prompt, `wording` which of the task's own wordings is used, `probe` the
    probe for contamination, empty for none.
    """

    split: Annotated[str, make_plan_option("For a suite: dev, test, … or sample, which ships with genaipa.")]
    limit: int | None = None
    shots: Annotated[
        int, make_plan_option("For a suite: examples in each prompt, from its train split.", min=0, max=64)
    ] = 0
    wording: int = 1
    probe: Annotated[
        str,
        make_plan_option(
            "For a suite: no-context, company-swap or continuation, to detect memorized items; for counterfactual: "
            "push-back, to detect abandoned answers."
        ),
    ] = ""

    @property
    def label(self) -> str:
        """The split, and whatever else is unusual, in a few words."""
        phrases = [self.split]
        phrases += [f"{self.limit:,} items"] if self.limit else []
        phrases += [format_count(self.shots, "shot")] if self.shots else []
        phrases += [f"wording {self.wording}"] if self.wording > 1 else []
        return ", ".join([*phrases, *([f"probe {self.probe}"] if self.probe else [])])

    def run_table_facts(self, task_name: str) -> dict[str, str]:
        """Return facts for a table of runs, by column."""
        items = f"{self.limit:,}" if self.limit else "all"
        columns = {"suite": f"{task_name}, {self.split}", "items": items, "shots": str(self.shots), "probe": self.probe}
        return {**columns, "wordings": str(self.wording)}


def make_suite_run_spec(suite_name: str, plan: SuiteOptions, systems: tuple[str, ...] = (), **others: Any) -> RunSpec:
    """Return the spec of a suite's run; `others` are its `seed`, `repetitions` and sampling."""
    return RunSpec(systems, KIND, suite_name, plan, **others)
