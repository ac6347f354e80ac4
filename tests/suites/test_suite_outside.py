"""A suite that is not genaipa's: a module of the working folder with its prompt beside it, or a package's."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from running import write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commandline import Finished

    Cli = Callable[..., Finished]

MODULE = """
from genaipa_suites.labels import LabelSuite
from genaipa_suites.material import Item, Material


class Opposites(LabelSuite, labels=("cold", "dry", "new"), field="word"):
    title = "Opposites"
    about = "The opposite of a word."
    citation = "Made up."
    version = 3
    data = ()
    splits = ("all",)

    def load(self, split):
        pairs = (("hot", "cold"), ("wet", "dry"), ("old", "new"))
        return Material(tuple(Item(word, {"text": word}, other, cluster=word) for word, other in pairs))


class Headless(Opposites):
    head = None
"""


@pytest.fixture
def module() -> Iterator[str]:
    """The suite in the working folder, and a model that knows one opposite in three."""
    write("genaipa.toml", "")
    write("opposites.py", MODULE)
    write("prompts/opposites.Opposites-1.jinja", "What is the opposite of {{ text }}?")
    write("say.yaml", yaml.safe_dump({"rules": [{"match": "of hot", "reply": '{"word": "cold"}'}], "default": "{}"}))
    yield "opposites:Opposites"
    sys.modules.pop("opposites", None)


def test_a_suite_of_ones_own(genaipa: Cli, module: str) -> None:
    """It is asked, scored, reported and checked as one that ships, and its version is told."""
    asked = ("run", "-s", "scripted/say.yaml", "--suite", module)
    done = genaipa(*asked)
    assert done.code == 0, done.err
    assert genaipa("validate", "--data").code == 0
    assert "What is the opposite of hot?" in genaipa(*asked, "--dry-run").out
    assert genaipa("report", "latest", "-o", "made").code == 0
    with Path("made/tables/opposites.Opposites-all.csv").open(encoding="utf-8-sig", newline="") as file:
        row, floor = csv.DictReader(file)
    assert (float(row["accuracy"]), row["items"]) == (pytest.approx(100 / 3, abs=0.01), "3")
    assert floor["system"] == "baseline/majority"
    definitions = Path("made/notes.html").read_text(encoding="utf-8")
    assert "prompts and scorer have version 3" in " ".join(definitions.split())


def test_a_suite_that_a_package_brings(genaipa: Cli, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry point gives it a name, under which it is listed; a class that is no suite is refused."""
    write("brought-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: brought\nVersion: 1\n")
    write("brought-1.dist-info/entry_points.txt", f"[genaipa.suites]\nopposites = {module}\n")
    write("prompts/opposites-1.jinja", "And the opposite of {{ text }}?")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    assert genaipa("run", "-s", "scripted/say.yaml", "--suite", "opposites").code == 0
    unknown = genaipa("run", "-s", "scripted/say.yaml", "--suite", "opposite")
    assert (unknown.code, "did you mean 'opposites'?" in unknown.err) == (2, True), unknown.err
    for name, said in (("opposites:Item", "is not a subclass of"), ("opposites:No", "the module has no 'No'")):
        refused = genaipa("run", "-s", "scripted/say.yaml", "--suite", name)
        assert (refused.code, said in refused.err) == (2, True), refused.err


def test_a_suite_without_a_head_is_for_no_encoder(genaipa: Cli, module: str) -> None:
    """An encoder that is asked of it is refused in a sentence; one that inherits its labels has a head of their own."""
    write("prompts/opposites.Headless-1.jinja", "The opposite of {{ text }}?")
    asked = ("run", "-s", "encoder/x", "--dry-run", "--suite")
    refused = genaipa(*asked, "opposites:Headless")
    assert (refused.code, "can't be fine-tuned for opposites:Headless" in refused.err) == (2, True), refused.err
    assert genaipa(*asked, module).code == 0
