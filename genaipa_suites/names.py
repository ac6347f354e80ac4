"""The names of the suites, each with its class: a suite is a folder here and a line, or comes with a package."""

from __future__ import annotations

from genaipa.plugins import plugins

ENTRY_POINTS = "genaipa.suites"

SUITES: dict[str, str] = {
    "policyqa": "genaipa_suites.policyqa.task:PolicyQA",
    "opp115": "genaipa_suites.opp115.task:Opp115",
    "privacyqa": "genaipa_suites.privacyqa.task:PrivacyQA",
    "privacyqa-answerability": "genaipa_suites.privacyqa_answerability.task:Answerability",
    "privacyqa-pairs": "genaipa_suites.privacyqa_pairs.task:Pairs",
    "piextract": "genaipa_suites.piextract.task:PiExtract",
    "policyie": "genaipa_suites.policyie.task:PolicyIE",
    "policy-detection": "genaipa_suites.policy_detection.task:PolicyDetection",
    # Joins those before it.
    "privacyglue": "genaipa_suites.privacyglue.task:PrivacyGLUE",
}


def suite_targets() -> dict[str, str]:
    """Name → module:Class of every suite, shipped or brought by packages."""
    return {**SUITES, **{name: target for name, target in plugins(ENTRY_POINTS).items() if name not in SUITES}}
