"""The plan that genaipa is for: all four initializations on a real policy, with every kind of system."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from servers import AnthropicServer, GoogleServer, OpenAIServer
from size import SOAK, size

POLICIES = size(small=("uber", "spotify"), soak=("uber", "spotify", "airbnb", "facebook", "twitter"))


def the_run() -> Path:
    """The newest run folder here."""
    return max(Path("runs").iterdir())


def records() -> list[dict]:
    """Its records."""
    return [json.loads(line) for line in (the_run() / "answers.jsonl").read_text().splitlines()]


def test_published_policies_through_all_initializations(genaipa, pulled):
    """The baseline answers 32 questions on each published policy under each of the four initializations."""
    done = genaipa("run", "--system", "extractive", "--policy", ",".join(POLICIES))
    assert done.code == 0, done.err
    answers = [r for r in records() if r["kind"] == "answer"]
    assert len(answers) == len({r["key"] for r in answers}) == len(POLICIES) * 4 * 32
    assert all(r["status"] == "answered" and r["reply"] for r in answers)
    by_document = {
        r["coordinates"]["document"]: r["reply"]
        for r in answers
        if (r["coordinates"]["initialization"], r["coordinates"]["question"]) == ("document", "T_u1")
    }
    assert len(set(by_document.values())) == len(POLICIES)


def test_regulation_questions_on_the_published_regulations(genaipa, pulled):
    """The six questions name the regulation that they are about."""
    done = genaipa("run", "-s", "extractive", "-p", "gdpr,ccpa", "-i", "document,company-name")
    assert done.code == 0, done.err
    answers = [r for r in records() if r["kind"] == "answer"]
    assert len(answers) == 2 * 2 * 6
    assert {r["asked"] for r in answers if r["coordinates"]["question"] == "PR_1"} == {
        "Who must comply with the GDPR?",
        "Who must comply with the CCPA?",
    }


# In small, test_datasets pulls a document that is asked about.
@pytest.mark.full
def test_a_published_policy_is_pulled_when_it_is_named(genaipa, shared, monkeypatch):
    """A run that names one that is not here fetches it, saying so; --offline forbids that."""
    forbidden = genaipa("run", "-s", "extractive", "-p", "uber", "--limit", "1", "--offline")
    assert forbidden.code == 2
    assert "this run is offline" in forbidden.err
    assert not Path("runs").exists()
    monkeypatch.setenv("GENAIPA_MIRROR", str(shared / "data" / "genaipabench"))
    done = genaipa("run", "-s", "extractive", "-p", "uber", "--limit", "1")
    assert done.code == 0, done.err
    assert "fetching the published" in done.err


@pytest.mark.parametrize(
    ("server", "system", "key", "address"),
    [
        (OpenAIServer, "openai/gpt-4.1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        (AnthropicServer, "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        (GoogleServer, "google/gemini-3.8-flash", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    ],
)
def test_the_same_plan_through_each_vendors_sdk(genaipa, pulled, monkeypatch, server, system, key, address):
    """Uber through all four initializations: 128 answers and two summaries, the document read from the cache.

    In small one vendor is asked the whole, and the others four questions of each.
    """
    questions = 32 if SOAK or server is OpenAIServer else 4
    with server(models=(system.partition("/")[2],)) as vendor:
        monkeypatch.setenv(key, "sk-test-0123456789abcdef")
        monkeypatch.setenv(address, vendor.root if server is not OpenAIServer else vendor.url)
        done = genaipa("run", "--system", system, "--policy", "uber", "--limit", str(questions), "--json")
        assert done.code == 0, done.err
        assert len(vendor.requests) == 4 * questions + 2
    kept = records()
    assert [r["kind"] for r in kept].count("answer") == 4 * questions
    assert [r["kind"] for r in kept].count("summary") == 2
    shown = [r for r in kept if r["coordinates"]["initialization"] == "document" and r["kind"] == "answer"]
    # Everything but the newest question and the reply before it has been sent before.
    cached = [r["usage"].get("cached", 0) / r["usage"]["input"] for r in shown]
    assert sum(share > 0.9 for share in cached) >= len(cached) - 1
    assert all(r["model"] and r["cost"] for r in kept)
    rows = {row["initialization"]: row for row in json.loads(done.out)["rows"]}
    assert rows["document"]["answered"] == questions
    assert rows["document"]["usage"]["cached"] > 0
    assert "0123456789abcdef" not in done.err + done.out + (the_run() / "manifest.json").read_text()


@pytest.mark.parametrize("server", [OpenAIServer, AnthropicServer])
def test_independent_questions_share_the_document(genaipa, monkeypatch, server):
    """After the first question of an independent conversation, the document comes from the cache for all others."""
    system = "openai/gpt-4.1" if server is OpenAIServer else "anthropic/claude-haiku-5-5"
    with server(models=(system.partition("/")[2],)) as vendor:
        monkeypatch.setenv("OPENAI_BASE_URL", vendor.url)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", vendor.root)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789abcdef")
        done = genaipa("run", "-s", system, "-p", "brindlecart", "-e", "quality", "--conversation", "independent")
        assert done.code == 0, done.err
    cached = [r["usage"].get("cached", 0) > 0 for r in records()]
    assert cached.count(False) == 1
