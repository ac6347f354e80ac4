"""Answers in wordings that the rules were not written by: what is silent, and what speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from genaipa.scoring.evidence.abstention import stance

WORDINGS = Path(__file__).parent / "wordings"


@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_silence_is_told_from_denials(language: str) -> None:
    """Many ways to say that the document does not say, and denials of deeds; those that are misread are listed."""
    wordings = yaml.safe_load((WORDINGS / f"{language}.yaml").read_text(encoding="utf-8"))
    missed = {text for text in wordings["silent"] if stance(text, language) == "no"}
    mistaken = {text for text in wordings["speaks"] if stance(text, language) != "no"}
    assert missed | mistaken == set(wordings["missed"])
