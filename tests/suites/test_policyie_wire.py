"""PolicyIE's sample through an SDK, against a server whose replies have every fault that slots can have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers import Behaviour, OpenAIServer, cut, refusal, reply

from genaipa.runs.folder import RunFolder
from genaipa.workspace import find_workspace
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.policyie import PolicyIE

if TYPE_CHECKING:
    from commandline import Cli

KINDS = ("gold", "fenced", "no slots", "not in the text", "no label", "refused", "cut off", "unparsable", "other enum")


def answer(kind: str, gold: str) -> Behaviour:
    """A reply of a kind to a sentence with this gold reply."""
    said = json.loads(gold)
    slots = {
        "no slots": [],
        "not in the text": [{**slot, "text": f"so {slot['text']}"} for slot in said["slots"]],
        "no label": [{**slot, "attribute": "none" if slot["role"] != "action" else "user"} for slot in said["slots"]],
        "other enum": [{**slot, "role": "data-seller"} for slot in said["slots"]],
    }
    if kind in slots:
        return reply(json.dumps(said | {"slots": slots[kind]}))
    whole = {"gold": gold, "fenced": f"```json\n{gold}\n```", "unparsable": f"Here it is: {gold[:-1]}"}
    return reply(whole[kind]) if kind in whole else {"refused": refusal(), "cut off": cut(gold)}[kind]


def test_each_fault_of_a_slot_is_counted(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mixture, slots that are not in the text or have no label are shares of those given; replies have faults."""
    suite = PolicyIE(make_suite_run_spec("policyie", SuiteOptions("sample")), find_workspace(None))
    asked = {suite.messages(item)[0].content: item for item in suite.material.items}
    # Sentences with slots alone are sure to have each kind's fault; the others are answered by gold.
    slots = {item.id: len(json.loads(suite.gold_reply(item))["slots"]) for item in asked.values()}
    kinds = dict(zip((one for one in slots if slots[one]), KINDS + KINDS[:5], strict=True))

    def behave(_number: int, body: dict[str, Any]) -> Behaviour:
        item = asked[server.turns(body)[-1].text]
        return answer(kinds.get(item.id, "gold"), suite.gold_reply(item))

    with OpenAIServer(behave) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done = genaipa("run", "--suite", "policyie", "--split", "sample", "-s", "openai/gpt-4o", "--json")
    assert done.code in {0, 3}, done.err
    outcomes = suite.make_outcomes_of_records(list(RunFolder(Path(json.loads(done.out)["folder"])).read_records()))
    figures = {measure.name: measure.compute(outcomes) for measure in suite.measures}
    of = {kind: sum(slots[one] for one, own in kinds.items() if own == kind) for kind in KINDS}
    given = sum(of[kind] for kind in ("gold", "fenced", "not in the text", "no label"))
    assert figures["slots_not_in_text"] == pytest.approx(of["not in the text"] / given)
    assert figures["slots_without_label"] == pytest.approx(of["no label"] / given)
    assert figures["slot_f1_tagger_type_i"] < 0.6
    assert Counter(one.parsed.fault for one in outcomes) == {"": 16, "unparsable": 2, "refused": 1, "cut off": 1}
