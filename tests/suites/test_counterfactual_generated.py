"""Made-up policies with edits of their facts: generated, validated, asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from running import write
from size import size

from genaipa.files.strict_yaml import as_yaml
from genaipa.policies.made_up import edited
from genaipa.workspace import find_workspace
from genaipa_suites.counterfactual import edits

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]


def test_generate_validate_run(genaipa: Cli) -> None:
    """They are not read where there is no workspace; in one they have no fault, memory follows none and gold all."""
    policy, file = "policies/inkmill.md", "suites/counterfactual/inkmill.yaml"
    made = genaipa("policies", "generate", policy, "--edits", file, "--seed", "2")
    assert made.code == 0, made.err
    assert f"{file}: 14 edits." in made.out
    assert "make one with: genaipa init ." in made.out
    found = json.loads(genaipa("validate", "--json").out)["findings"]
    assert [str(Path(one["path"]).relative_to(Path.cwd())) for one in found] == [policy, "policies/inkmill.yaml", file]
    assert all("because no genaipa.toml makes its folder a workspace" in one["problem"] for one in found)
    write("genaipa.toml", "")
    again = genaipa("policies", "generate", policy, "--edits", file, "--seed", "2", "--force")
    assert "genaipa init" not in again.out
    checked = genaipa("validate", "--data", "--json")
    assert (checked.code, json.loads(checked.out)["findings"]) == (0, [])
    run = ("run", "--suite", "counterfactual", "--split", "inkmill", "-s", "baseline/memory,baseline/gold", "--json")
    memory, gold = (one["figures"] for one in json.loads(genaipa(*run).out)["suites"])
    assert (memory["follows"], memory["stays"], gold["follows"], gold["right"]) == (0, 100, 100, 100)


def test_no_seed_makes_a_fault() -> None:
    """The edits of every seed fit their policy, by the rules that `validate` has."""
    write("genaipa.toml", "")
    here = find_workspace()
    for seed in range(size(small=12, soak=100)):
        document, found = edited("made", seed)
        write("policies/made.md", document.text)
        write("edits.yaml", as_yaml(found))
        _, faults = edits.load(Path("edits.yaml"), here)
        assert not faults, (seed, faults)
        assert len(found.edits) >= 8


def test_what_can_not_be_generated(genaipa: Cli) -> None:
    """Edits of a corpus, other endings, and a file that is there are refused in a sentence each."""
    for words, said in (
        (("made.jsonl", "--edits", "e.yaml"), "ends in .md"),
        (("made.md", "--edits", "e.yaml", "-n", "3"), "leave out --number"),
        (("made.md", "--edits", "made.yaml"), "name another file for the edits"),
        (("made.md",), "ends in .jsonl"),
    ):
        refused = genaipa("policies", "generate", *words)
        assert (refused.code, said in refused.err, refused.err.count("\n")) == (2, True, 1), refused.err
    assert not list(Path().glob("made*"))
    assert genaipa("policies", "generate", "made.md", "--edits", "e.yaml").code == 0
    assert "is there already" in genaipa("policies", "generate", "made.md", "--edits", "f.yaml").err
