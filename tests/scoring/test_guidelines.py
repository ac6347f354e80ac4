"""Guidelines for analysts: a file of the workspace, by metric."""

from __future__ import annotations

import pytest
from running import write

from genaipa.errors import DataError
from genaipa.files.text import sha256_of
from genaipa.scoring.rubric import STARTER, guidelines_digest, load_guidelines
from genaipa.validation import validate
from genaipa.workspace import find_workspace
from rubrics import PAPER


def test_a_section_is_what_stands_below_a_metrics_id():
    """What comes first is for all metrics; deeper headings belong to their section, and a metric may have none."""
    here = find_workspace()
    assert load_guidelines(here, PAPER) is None
    assert guidelines_digest(here) == ""
    text = "# Ours\n\nFirst.\n\n## accuracy ##\nHalf.\n### More\n- One\n\n##  clarity\n"
    write("guidelines.md", text)
    found = load_guidelines(here, PAPER)
    assert found.text == text.strip()
    assert found.sections == {"accuracy": "Half.\n### More\n- One", "clarity": ""}
    assert guidelines_digest(here) == sha256_of(text.strip())
    assert not [finding for finding in validate(here).findings if "guidelines" in finding.path]


def test_the_starter_is_about_the_papers_metrics():
    """Each of them has a section with an example at the border, and nothing else is headed like one."""
    write("guidelines.md", STARTER)
    sections = load_guidelines(find_workspace(), PAPER).sections
    assert set(sections) == set(PAPER.metrics)
    assert all("- +0.5: " in section and "- -1: " in section for section in sections.values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("## acuracy\n", "'acuracy' is not a metric of the rubric: did you mean 'accuracy'"),
        ("## clarity\n\n## clarity\n", "two sections have this heading"),
    ],
)
def test_headings_are_held_against_the_rubric(text, said):
    """A metric that there is not, or that is there twice, is an error of the file, for the desk and `validate`."""
    write("genaipa.toml", "")
    write("guidelines.md", text)
    with pytest.raises(DataError, match=said):
        load_guidelines(find_workspace(), PAPER)
    (finding,) = [finding for finding in validate(find_workspace()).findings if "guidelines" in finding.path]
    assert said in finding.problem


@pytest.mark.parametrize("text", ["", "Be kind.\n"])
def test_no_metric_needs_a_section(text):
    """Guidelines may be one text for all metrics, or empty."""
    write("guidelines.md", text)
    here = find_workspace()
    found = load_guidelines(here, PAPER)
    assert (found.text, found.sections) == (text.strip(), {})
    assert not [finding for finding in validate(here).findings if "guidelines" in finding.path]
