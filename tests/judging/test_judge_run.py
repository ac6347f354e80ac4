"""The asking of judges: who may judge whom, what it costs, and what is left when it is stopped."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from judges import RUBRIC, events, judge_runs, script, study, verdict
from running import lines_of, write
from servers import AnthropicServer, GoogleServer, OpenAIServer, cut, reply

from genaipa.execution.judging import hold_judging_lock
from genaipa.judging.answers import read_judged_material
from genaipa.judging.name import Judge, are_of_same_family, model_family
from genaipa.judging.verdict import count_longest_verdict_tokens, make_sample_verdict_json
from genaipa.scoring.store import open_or_create_store
from genaipa.workspace import find_workspace

LONG = "# ACME\n\n" + "\n\n".join(f"## {n}. Chapter\n\n{'We keep what we have to keep. ' * 40}" for n in range(1, 25))
"""A document of some 7,000 tokens."""


@pytest.fixture
def server(monkeypatch):
    """A server whose model gives full marks to every answer, and keeps the rule of OpenAI's cache."""
    with OpenAIServer(models=("m", "n", "gpt-4o")) as running:
        running.script = lambda _number, _body: reply(verdict())
        monkeypatch.setenv("LOOP_BASE_URL", running.url)
        monkeypatch.setenv("LOOP_API_KEY", "sk-x")
        yield running


def test_families_go_by_the_names_of_models() -> None:
    """Whatever the route; a fine-tuned model is of the family of what it was made from, an unknown one is its own."""
    families = {
        "gpt": "gpt-4 openai/gpt-4.1 openai/o3-mini chatgpt-4 published/chatgpt-4 openai-api/lab/gpt-oss-20b BingAI",
        "claude": "claude-sonnet anthropic/claude-opus-4-8 openai-api/router/anthropic/claude-haiku",
        "gemini": "google/gemini-2.5-pro vllm/google/gemma-2-9b-it published/bard bard text-palm-2",
        "llama": "vllm/meta-llama/Llama-3.1-8B-Instruct vllm/deepseek-ai/DeepSeek-R1-Distill-Llama-8B",
        "qwen": "vllm/Qwen/Qwen2.5-7B-Instruct QwQ-32B",
        "mistral": "mixtral-8x7b vllm/mistralai/Ministral-8B codestral",
        "deepseek": "deepseek-chat",
        "phi": "vllm/microsoft/phi-4",
        "command": "command-r-plus",
        "grok": "grok-4",
    }
    for known, names in families.items():
        assert {name: model_family(name) for name in names.split()} == dict.fromkeys(names.split(), known)
    for name in ("extractive", "scripted/gpt.yaml", "vllm/lab/graphite-3", "mine:Assistant", "manual/chat"):
        assert model_family(name) == name
    assert are_of_same_family("gpt-4o-2024-08-06", "openai/o3")
    assert not are_of_same_family("vllm/lab/a", "vllm/lab/b")


def test_the_own_family_is_refused_unless_it_is_wanted(genaipa, server):
    """One sentence names judge and system; with the option it is asked, and the run notes for whom it is marked."""
    study(genaipa, 1, "default: Yes.\nmodel: gpt-4o-mini\n")
    refused = genaipa("judge", "--judge", "openai-api/loop/gpt-4o")
    assert refused.code == 2
    assert "openai-api/loop/gpt-4o is from the same family as scripted/say.yaml" in refused.err
    assert (server.requests, judge_runs()) == ([], [])
    done = genaipa("judge", "--judge", "openai-api/loop/gpt-4o,openai-api/loop/m", "--own-family")
    assert done.code == 0, done.err
    (folder,) = judge_runs()
    assert read_judged_material(folder).own_family == {"openai-api/loop/gpt-4o": ("scripted/say.yaml",)}
    names = [Judge.parse(event.analyst) for event in events()]
    assert sorted(name.model for name in names if name) == ["gpt-4o-2024-08-06", "m-2024-08-06"]


def test_nobody_else_can_judge(genaipa):
    """A person's web chat, a recording, a system that only quotes, and no judge at all: one sentence each."""
    study(genaipa, 1)
    for name, why in (("manual/chat", "by hand"), ("extractive", "only quotes"), ("nobody", "no system 'nobody'")):
        refused = genaipa("judge", "--judge", name)
        assert (refused.code, why in refused.err) == (2, True), refused.err
    assert "name a judge" in genaipa("judge").err
    write("genaipa.toml", 'rubric = "twice"\n')
    write("rubrics/twice.yaml", "title: Twice\nvalues: [1, -1]\nmetrics: {tone: {words: [good, Good]}}\n")
    assert "the same words for two values of tone" in genaipa("judge", "--judge", script("judge.yaml")).err


@pytest.mark.parametrize(
    ("provider", "make", "model"),
    [
        pytest.param("OPENAI", OpenAIServer, "openai/gpt-6.1-sol", id="openai"),
        pytest.param("ANTHROPIC", AnthropicServer, "anthropic/claude-opus-4-8", id="anthropic", marks=pytest.mark.full),
        pytest.param("GOOGLE_GEMINI", GoogleServer, "google/gemini-2.5-pro", id="google", marks=pytest.mark.full),
    ],
)
def test_the_document_comes_from_the_cache(genaipa, monkeypatch, provider, make, model):
    """By each provider's rule at least 85 % of the document's tokens are read from the cache; the estimate is near."""
    study(genaipa, 8, text=LONG)
    with make() as running:
        running.only_marked = make is not GoogleServer
        running.models = (model.partition("/")[2],)
        running.script = lambda _number, _body: reply(make_sample_verdict_json(RUBRIC, has_annotated_answer=False))
        monkeypatch.setenv(f"{provider}_BASE_URL", running.url)
        monkeypatch.setenv(f"{provider.removeprefix('GOOGLE_')}_API_KEY", "sk-x")
        counted = json.loads(genaipa("judge", "--judge", model, "--passes", "3", "--estimate", "--json").out)
        assert not running.requests
        done = genaipa("judge", "--judge", model, "--passes", "3", "--json")
        assert done.code == 0, done.err
        assert len(running.requests) == 24
    (run,) = json.loads(done.out)["runs"]
    (row,), (guess,) = run["rows"], counted["rows"]
    opening = judge_runs()[0].read_conversations()
    (text,) = {judge_runs()[0].read_introduction(c.introduction)[0].content for c in opening}
    assert row["usage"]["cached"] >= 0.85 * 24 * len(text) / 4
    assert guess["calls"] == 24
    assert guess["usage"]["input"] == pytest.approx(row["usage"]["input"], rel=0.1)
    assert guess["usage"]["output"] == pytest.approx(row["usage"]["output"], rel=0.1)
    assert guess["cached_cost"] == pytest.approx(row["cost"], rel=0.1)


def test_a_cap_is_kept_and_lifted(genaipa, server):
    """The cap ends it in order, replies of no use are paid for within it, and the same command goes on."""
    study(genaipa, 12, "rules: []\n")
    price = "{input: 10000, output: 1000, as_of: '2026-01-01'}"
    write("systems.yaml", f"systems:\n  paid: {{system: openai-api/loop/m, price: {price}}}\n")
    server.script = lambda number, _body: reply("{") if number == 1 else reply(verdict())
    command = ("judge", "--judge", "paid", "-j", "1")
    capped = genaipa(*command, "--max-cost", "60")
    assert capped.code == 4, capped.err
    assert "are missing. Continue with the same command and a higher --max-cost." in capped.out
    (folder,) = judge_runs()
    spent = sum(record.cost or 0 for record in folder.read_records())
    assert 0 < spent <= 60
    asked = len(server.requests)
    assert 1 < asked < 12
    first = next(folder.read_records())
    assert (first.attempts, first.status) == (2, "answered")
    left = json.loads(genaipa("judge", "--judge", "paid", "--estimate", "--json").out)
    assert [row["calls"] for row in left["rows"]] == [12 - len(events())]
    done = genaipa(*command, "--max-cost", "none")
    assert done.code == 0, done.err
    assert len(judge_runs()) == 1
    assert len(server.requests) == 12 + 1
    assert len(events()) == 12


def test_a_run_with_more_than_is_asked_for_is_left_to_its_own_name(genaipa, server):
    """Of an unfinished run of several judges nothing is asked for one of them, and nothing twice: it is named."""
    study(genaipa, 3)
    server.script = lambda number, _body: reply(verdict()) if number <= 2 else cut("{")
    both = ("judge", "--judge", "openai-api/loop/m,openai-api/loop/n", "-j", "1", "--max-retries", "0")
    assert genaipa(*both).code == 3
    asked = len(server.requests)
    one = genaipa("judge", "--judge", "openai-api/loop/m")
    assert (one.code, len(server.requests)) == (0, asked)
    assert f"genaipa run --resume {judge_runs()[0].name}" in one.err
    assert "belong to a run that was started earlier" in one.out
    server.script = lambda _number, _body: reply(verdict())
    assert genaipa(*both).code == 0
    assert (len(judge_runs()), len(events())) == (1, 6)


def test_a_judge_of_ones_own_is_kept_by_its_name(genaipa):
    """A class of the user's whose replies name no model judges under its own name, now and when it is put in again."""
    study(genaipa, 2)
    write(
        "mine.py",
        "from genaipa.systems.base import Readiness, Reply\n"
        "class Own:\n"
        "    name = 'mine'\n"
        "    async def start(self): return Readiness()\n"
        f"    async def reply(self, messages, settings): return Reply({verdict()!r})\n"
        "    async def count_tokens(self, text): return None\n"
        "    async def close(self): pass\n",
    )
    assert genaipa("judge", "--judge", "mine:Own").code == 0
    assert {event.analyst.partition("@")[0] for event in events()} == {"judge:mine:Own"}
    again = genaipa("judge", "--judge", "mine:Own")
    assert (again.code, len(events())) == (0, 2), again.err
    for name in ("one", "other"):
        write(f"{name}.yaml", f"default: '{verdict()}'\n")
        assert genaipa("judge", "--judge", f"scripted/{name}.yaml").code == 0
    named = {event.analyst.partition("@")[0] for event in events()[2:]}
    assert named == {"judge:scripted/one.yaml", "judge:scripted/other.yaml"}


def test_a_model_that_changed_is_two_judges(genaipa):
    """Verdicts of two models under one name are kept as two judges', and the command says so."""
    study(genaipa, 3)
    judge = script("judge.yaml", {"match": "", "reply": verdict(), "times": 1, "model": "kind-1"}, model="kind-2")
    done = genaipa("judge", "--judge", judge, "-j", "1")
    assert done.code == 0, done.err
    assert "served as kind-1, kind-2: these count as 2 judges" in done.out
    names = [Judge.parse(event.analyst) for event in events()]
    assert sorted(name.model for name in names if name) == ["kind-1", "kind-2", "kind-2"]


def test_a_useless_judge_is_stopped(genaipa):
    """Ten replies of no use one after another end a judge, not every answer asked three times."""
    study(genaipa, 15, "rules: []\n")
    done = genaipa("judge", "--judge", script("judge.yaml", default="Fine."), "-j", "1")
    assert done.code == 3
    assert "10 unusable replies in a row" in done.out
    assert len(lines_of(judge_runs()[0].answers_path)) == 10
    assert events() == []


def test_a_run_by_its_own_name_goes_on_into_the_store(genaipa, server):
    """`genaipa run --resume` goes on with a judge's run from its folder alone, whatever became of the judged run."""
    study(genaipa, 6, "rules: []\n")
    server.script = lambda number, _body: reply(verdict()) if number <= 2 else cut("{")
    assert genaipa("judge", "--judge", "openai-api/loop/m", "-j", "1", "--max-retries", "0").code == 3
    server.script = lambda _number, _body: reply(verdict())
    (folder,) = judge_runs()
    for path in Path("runs").glob("*answers*"):
        path.rename(Path(path.name))
    write("rubrics/genaipabench.yaml", Path(__file__).parents[2].joinpath("rubrics/genaipabench.yaml").read_text())
    # As after a kill between the two.
    Path("scores.db").unlink()
    done = genaipa("run", "--resume", folder.name)
    assert done.code == 0, done.err
    assert len(events()) == 6


def test_two_commands_at_once_do_not_ask_the_same(genaipa, server):
    """While judges are asked, another command is told to wait."""
    study(genaipa, 4)
    with hold_judging_lock(find_workspace()):
        second = genaipa("judge", "--judge", "openai-api/loop/m")
    assert (second.code, "another command is asking judges in this workspace" in second.err) == (1, True)
    assert not server.requests


def test_verdicts_that_only_the_run_folder_has_get_into_the_store(genaipa, server):
    """As after a kill between the two: they are on disk, are not asked for again, and are in the store once."""
    study(genaipa, 6, "rules: []\n")
    command = ("judge", "--judge", "openai-api/loop/m")
    server.script = lambda number, _body: reply(verdict()) if number <= 4 else cut("{")
    assert genaipa(*command, "-j", "1", "--max-retries", "0").code == 3
    (folder,) = judge_runs()
    assert len(events()) == 4
    asked = {record["key"] for record in lines_of(folder.answers_path) if record["status"] == "answered"}
    Path("scores.db").unlink()
    server.requests.clear()
    server.script = lambda _number, _body: reply(verdict())
    assert genaipa(*command).code == 0
    assert (len(asked), len(server.requests)) == (4, 2)
    assert len({event.answer for event in events()}) == len(events()) == 6
    Path("scores.db").unlink()
    assert genaipa(*command).code == 0
    assert (len(events()), len(server.requests)) == (6, 2), "nothing is left to ask, and all is put in"


def test_verdicts_by_another_rubric_are_another_judges(genaipa):
    """A rubric in other words asks anew; the verdicts by the first stay, and each names its rubric."""
    study(genaipa, 1)
    judge = script("judge.yaml")
    assert genaipa("judge", "--judge", judge).code == 0
    shipped = Path(__file__).parents[2].joinpath("rubrics/genaipabench.yaml").read_text(encoding="utf-8")
    write("rubrics/genaipabench.yaml", shipped.replace("entirely correct", "all right"))
    refused = genaipa("judge", "--judge", judge)
    assert refused.code == 3, refused.err
    assert "'entirely correct' is not a value of accuracy" in refused.err
    worded = verdict().replace("entirely correct", "all right")
    assert genaipa("judge", "--judge", script("other.yaml", default=worded)).code == 0
    with closing(open_or_create_store(find_workspace())) as store:
        given = [event for _, event in store.read_numbered_events()]
    assert [event.rubric == RUBRIC.digest for event in given] == [True, False]
    assert len({event.analyst for event in given}) == 2


def test_advice_leads_on(genaipa):
    """Of a study with few answers nobody is sent to draw from them: judges, report and sample say to score them."""
    study(genaipa)
    assert genaipa("judge", "--judge", script("judge.yaml")).code == 0
    judged, report, drawn = genaipa("judges").out, genaipa("report", "latest", "--json").out, genaipa("sample").out
    for said in (judged, report, drawn):
        assert "genaipa score" in said
    for said in (judged, report):
        assert "genaipa sample" not in said
    assert "Nothing was drawn" in drawn


def test_a_verdict_has_a_limit(genaipa, server):
    """A judge that goes on and on ends at a limit, which has room for every verdict of the form and some thoughts.

    It is not asked for the same again at once; what it lacks is asked with another limit in a run of its own.
    """
    study(genaipa, 2, "rules: []\n")
    server.script = lambda number, _body: cut("{") if number == 1 else reply(verdict())
    command = ("judge", "--judge", "openai-api/loop/m", "-j", "1")
    assert genaipa(*command).code == 3
    assert genaipa(*command, "--max-tokens", "500").code == 0
    limit = 4096 + count_longest_verdict_tokens(RUBRIC, has_annotated_answer=False)
    assert [request.body["max_tokens"] for request in server.requests] == [limit, limit, 500]
    assert (len(judge_runs()), len(events())) == (2, 2)
