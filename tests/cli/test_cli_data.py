"""The commands around the data: policies, questions, prompts, pull, systems, init, doctor."""

from __future__ import annotations

import csv
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from servers import OpenAIServer, failure

import genaipa as package
from genaipa.cli import root_command
from genaipa.cli.commands.doctor import list_option_environment_variables
from genaipa.plugins import find_unloadable_plugin_packages

if TYPE_CHECKING:
    from collections.abc import Callable

    from commandline import Finished

    Cli = Callable[..., Finished]

KEY = "sk-proj-Recognise7this8key9anywhere"
PAGE = """# ACME Privacy Policy

## 1. What we collect

We collect your name.

### 1.1 In the shop

We film the door.

## 2. Sharing

We share nothing.
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pulled data goes to a folder of this test's own."""
    monkeypatch.setenv("GENAIPA_CACHE", str(tmp_path / "cache"))


def done(finished: Finished) -> str:
    """What a command that worked has printed."""
    assert finished.code == 0, finished.err
    return finished.out


def refused(finished: Finished) -> str:
    """The one sentence of a command that was refused."""
    assert finished.code == 2
    assert finished.out == ""
    assert finished.err.startswith("genaipa: ")
    return finished.err


# --- policies ------------------------------------------------------------------------------------------------------


def test_policies_lists_what_is_here_and_what_can_be_pulled(genaipa: Cli) -> None:
    """The shipped documents with their annotated answers, and the published ones by name with the command for them."""
    out = done(genaipa("policies"))
    row = next(line.split() for line in out.splitlines() if line.startswith(" brindlecart"))
    assert row == ["brindlecart", "policy", "5,343", "32", "(8)", "policy", "shipped"]
    assert "'genaipa get genaipabench': airbnb, ccpa, facebook, gdpr, spotify, twitter, uber" in out
    listed = json.loads(done(genaipa("policies", "--json")))
    names = ["brindlecart", "brindlecart-de", "brindlecart-fr", "vpda"]
    assert [document["name"] for document in listed["documents"]] == names
    assert [document["answers_to_default"] for document in listed["documents"]] == [32, 32, 32, 6]
    assert listed["documents"][3]["kind"] == "regulation"
    assert "uber" in listed["pullable"]


def test_policies_list_is_what_policies_alone_prints(genaipa: Cli) -> None:
    """The list has a name of its own, which the help page has too, and takes options on both sides of it."""
    assert done(genaipa("policies", "list")) == done(genaipa("policies"))
    assert done(genaipa("policies", "--json", "list")) == done(genaipa("policies", "list", "--json"))
    assert "\n  list " in done(genaipa("policies", "--help"))


def test_policies_show_prints_facts_and_outline(genaipa: Cli) -> None:
    """Where a document is from, and its sections under their numbers."""
    out = done(genaipa("policies", "show", "brindlecart"))
    assert "source      written for genaipa; Brindlecart is a fictional company" in out
    assert "company     Brindlecart" in out
    assert "32 annotated (the document is silent on 8), written for the set policy\n" in out
    assert "    4.2     Personalising and advertising" in out
    facts = json.loads(done(genaipa("policies", "show", "brindlecart", "--json")))
    assert {"number": "4.2", "title": "Personalising and advertising", "level": 3, "label": "Section 4.2"} in (
        facts["outline"]
    )


def test_policies_show_says_that_there_are_no_sections(genaipa: Cli) -> None:
    """Where no section is recognised, the user learns what that means for answers."""
    Path("genaipa.toml").touch()
    Path("policies").mkdir()
    Path("policies/acme.txt").write_text("We keep nothing about anybody.")
    assert "No sections were found in the text, so answers can cite only the parts" in done(
        genaipa("policies", "show", "acme")
    )
    assert "No sections" not in done(genaipa("policies", "show", "brindlecart"))


def test_policies_show_prints_a_section_with_what_lies_beneath(genaipa: Cli) -> None:
    """A section is found by number or title, and ends where the next one of its level begins."""
    Path("genaipa.toml").touch()
    Path("policies").mkdir()
    Path("policies/acme.md").write_text(PAGE)
    out = done(genaipa("policies", "show", "acme", "--section", "1"))
    assert "We collect your name." in out
    assert "We film the door." in out
    assert "We share nothing." not in out
    assert done(genaipa("policies", "show", "acme", "--section", "Sharing")) == "## 2. Sharing\n\nWe share nothing.\n"
    assert "no section in acme '9'" in refused(genaipa("policies", "show", "acme", "--section", "9"))
    assert done(genaipa("policies", "show", "acme", "--text")) == PAGE
    assert "use one of them" in refused(genaipa("policies", "show", "acme", "--text", "--section", "1"))


def test_a_published_document_that_is_not_here_is_no_unknown_name(genaipa: Cli) -> None:
    """Naming one says which command brings it; a name that nobody knows gets the nearest one."""
    assert "fetch it with: genaipa get genaipabench" in refused(genaipa("policies", "show", "uber"))
    assert "did you mean 'brindlecart'?" in refused(genaipa("policies", "stats", "brindelcart"))


def test_policies_add_puts_a_file_into_the_workspace(genaipa: Cli) -> None:
    """The document is kept with what was said about it, shown, and then asked about like any other."""
    done(genaipa("init", "mine"))
    Path("acme.md").write_text(PAGE)
    out = done(
        genaipa(
            *("policies", "add", "acme.md", "--name", "acme", "--company", "ACME", "--license", "CC0"),
            *("--title", "ACME's own words", "--workspace", "mine"),
        )
    )
    assert "ACME's own words" in out
    assert "words, 4 sections" in out
    assert f"Next: genaipa --workspace {Path('mine').resolve()} run --system extractive --policy acme" in out
    assert "which people and judges need: genaipa" in out
    assert Path("mine/policies/acme.md").read_text() == PAGE
    assert "CC0" in done(genaipa("policies", "show", "acme", "--workspace", "mine"))
    again = ("policies", "add", "acme.md", "--name", "acme", "--company", "ACME Ltd", "--workspace", "mine")
    assert "--force" in refused(genaipa(*again))
    done(genaipa(*again, "--replace"))
    assert "company     ACME Ltd" in done(genaipa("policies", "--workspace", "mine", "show", "acme"))


def test_policies_add_needs_a_workspace_and_a_known_kind(genaipa: Cli) -> None:
    """Without a workspace nothing is written beside whatever the working folder holds."""
    Path("acme.md").write_text(PAGE)
    add = ("policies", "add", "acme.md", "--name", "acme", "--company", "ACME")
    assert "genaipa init" in refused(genaipa(*add))
    assert not Path("policies").exists()
    done(genaipa("init", "mine"))
    assert "known: policy, regulation" in refused(genaipa(*add, "--kind", "law", "--workspace", "mine"))


def test_policies_add_refuses_in_one_sentence(genaipa: Cli) -> None:
    """Blank names are refused before anything is read, and a library's log is not mixed into what is wrong."""
    Path("genaipa.toml").touch()
    assert "the company name is blank" in refused(
        genaipa("policies", "add", "nothing.md", "--name", "a", "--company", " ")
    )
    assert "the document name is blank" in refused(
        genaipa("policies", "add", "nothing.md", "--name", "", "--company", "A")
    )
    Path("broken.pdf").write_text("This is no PDF.")
    assert refused(genaipa("policies", "add", "broken.pdf", "--name", "a", "--company", "A")).count("\n") == 1
    Path("empty.html").write_text("<html><body><div></div></body></html>")
    assert refused(genaipa("policies", "add", "empty.html", "--name", "a", "--company", "A")).count("\n") == 1


def test_policies_add_says_what_became_of_tables(genaipa: Cli) -> None:
    """A page's tables and lists are counted, for the reader and for machines, and its title is kept."""
    Path("genaipa.toml").touch()
    rows = "<tr><th>Data</th><th>Kept</th></tr><tr><td>Logs</td><td>90 days</td></tr>"
    body = f"<h1>ACME</h1><p>{'We keep very little about you. ' * 8}</p><table>{rows}</table>"
    Path("acme.html").write_text(f"<html><head><title>ACME's words</title></head><body>{body}</body></html>")
    add = ("policies", "add", "acme.html", "--name", "acme", "--company", "ACME")
    out = done(genaipa(*add))
    assert "1 table in the page, all in the text.\n" in out
    assert "title       ACME" in out
    assert json.loads(done(genaipa(*add, "--replace", "--json")))["held"] == "1 table in the page, all in the text"
    assert "| Logs | 90 days |" in Path("policies/acme.md").read_text()


def test_policies_stats_measures_as_table_1(genaipa: Cli) -> None:
    """The paper's four columns beside words and sections, as a table, as JSON and as CSV."""
    out = done(genaipa("policies", "stats"))
    assert "unique words" in out
    assert "Flesch-Kincaid, 0.39 words/sentences + 11.8 syllables/words - 15.59" in out
    rows = json.loads(done(genaipa("policies", "stats", "vpda", "--json")))
    assert [row["name"] for row in rows] == ["vpda"]
    measures = ["words", "sections", "unique_words", "reading_time", "grade", "ease", "connective_words"]
    assert list(rows[0])[1:] == measures
    done(genaipa("policies", "stats", "-o", "table.csv"))
    with Path("table.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["words"] for row in csv.DictReader(file) if row["name"] == "vpda"] == [str(rows[0]["words"])]
    assert ".csv" in refused(genaipa("policies", "stats", "-o", "table.xlsx"))


# --- questions and prompts -----------------------------------------------------------------------------------------


def test_questions_lists_the_sets(genaipa: Cli) -> None:
    """Each set with the kind of document that it is about, and how many questions and wordings it has."""
    rows = json.loads(done(genaipa("questions", "--json")))
    assert [(row["name"], row["questions"], row["categories"], row["wordings"]) for row in rows] == [
        *((name, 32, 8, 4) for name in ("policy", "policy-de", "policy-fr")),
        *((name, 6, 1, 4) for name in ("regulation", "regulation-de", "regulation-fr")),
    ]
    assert "genaipa questions policy" in done(genaipa("questions"))


def test_questions_shows_the_wordings_that_are_asked_for(genaipa: Cli) -> None:
    """The original by default, one paraphrase alone, or all four under one id."""
    original = "Does the [regulation] require encryption?"
    paraphrase = "encryption required by the [regulation] or not"
    out = done(genaipa("questions", "regulation"))
    assert original in out
    assert paraphrase not in out
    out = done(genaipa("questions", "regulation", "--wording", "paraphrase-3"))
    assert original not in out
    assert paraphrase in out
    texts = json.loads(done(genaipa("questions", "regulation", "--wording", "all", "--json")))["questions"][3]["texts"]
    assert list(texts) == ["original", "paraphrase-1", "paraphrase-2", "paraphrase-3"]
    assert (texts["original"], texts["paraphrase-3"]) == (original, paraphrase)
    assert "known:" in refused(genaipa("questions", "regulation", "--wording", "poetic"))


def test_prompts_lists_templates_and_their_variables(genaipa: Cli) -> None:
    """Every template with what it can use, and its source; one of the workspace's own is marked as such."""
    Path("genaipa.toml").touch()
    Path("prompts").mkdir()
    Path("prompts/question.jinja").write_text("Please: {{ question }}\n")
    out = done(genaipa("prompts", "--explain"))
    assert "company, subject, part, parts, text" in out
    assert 'each announced as "Part i of n"' in out
    listed = {entry["name"]: entry for entry in json.loads(done(genaipa("prompts", "--json")))}
    assert (listed["question"]["layer"], listed["part"]["layer"]) == ("workspace", "shipped")
    assert listed["question"]["source"] == "Please: {{ question }}\n"


def test_prompts_are_filled_in_for_a_document(genaipa: Cli) -> None:
    """What is printed is what a system is sent: the document's company, its parts, the first question."""
    out = done(genaipa("prompts", "--policy", "brindlecart"))
    assert "===== part\nPart 1 of 6\n\n# Brindlecart Privacy Policy" in out
    assert "I have read part 1 of 6." in out
    assert "===== question\nDoes the policy outline data collection practices?" in out
    only = done(genaipa("prompts", "introduce-company", "--policy", "vpda"))
    assert "questions about the Varland Personal Data Act (VPDA)" in only
    assert "===== part" not in only
    assert "other templates include it" in refused(genaipa("prompts", "rules", "--policy", "vpda"))
    assert "did you mean 'question'?" in refused(genaipa("prompts", "qestion"))


# --- pull ----------------------------------------------------------------------------------------------------------


# In small, the fixture `pulled` pulls so, and test_genaipabench_pull tests each step.
@pytest.mark.full
def test_pull_from_a_checkout_then_from_nowhere(genaipa: Cli, shared: Path) -> None:
    """The published files are counted, the documents can be used, and a second pull fetches nothing, even offline."""
    first = genaipa("get", "genaipabench", "--from", shared / "data/genaipabench")
    assert "103 files fetched, 0 already here, all identical to the published files. 8 more files are missing." in done(
        first
    )
    assert "Documents: airbnb, ccpa, facebook, gdpr, spotify, twitter, uber" in first.out
    assert "111 of 111 files" in first.err
    assert "Generated Answers/BingAI (2), Results/Results_BingAI (6)" in first.err
    again = json.loads(done(genaipa("get", "genaipabench", "--offline", "--json")))
    assert (again["fetched"], again["kept"], len(again["documents"])) == (0, 103, 7)
    unneeded = genaipa("get", "genaipabench", "--from", shared / "data/genaipabench")
    assert "0 files fetched" in done(unneeded)
    assert unneeded.err.endswith(": all its files are already here\n")
    assert "already" not in first.err
    out = done(genaipa("policies"))
    assert "pull genaipabench" not in out
    assert ["uber", "policy", "7,663", "32", "(8)", "genaipabench", "pulled"] in map(str.split, out.splitlines())
    assert "genaipabench" in done(genaipa("questions"))


def test_pull_refuses_what_it_cannot_do(genaipa: Cli) -> None:
    """A dataset that doesn't exist or isn't named, and files that aren't here while nothing may be fetched."""
    for command in (("get",), ("get", "--runs")):
        assert f"genaipa get genaipabench{' '.join(('', *command[1:]))}" in refused(genaipa(*command))
    assert "did you mean 'genaipabench'?" in refused(genaipa("get", "genaipabnch"))
    assert "to fetch them, run: genaipa get genaipabench" in refused(genaipa("get", "genaipabench", "--offline"))


# --- systems -------------------------------------------------------------------------------------------------------


def facts(genaipa: Cli, *names: str) -> list[dict[str, Any]]:
    """The rows of `genaipa systems --json`."""
    rows: list[dict[str, Any]] = json.loads(done(genaipa("systems", *names, "--json")))
    return rows


def test_systems_say_what_they_still_need(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that is missing is named; a key, or a server on this machine, makes a system ready."""
    lacking = {row["name"]: row["missing"] for row in facts(genaipa)}
    assert lacking["extractive"] == []
    assert lacking["gpt-4o"] == ["set OPENAI_API_KEY"]
    assert lacking["gemini-pro"] == ["set GOOGLE_API_KEY or GEMINI_API_KEY"]
    assert lacking["llama-8b"] == ["set VLLM_BASE_URL, or pip install 'genaipa[vllm]'"]
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("VLLM_BASE_URL", "http://elsewhere.example/v1")
    monkeypatch.setenv("LAB_BASE_URL", "localhost:8000")
    assert [row["ready"] for row in facts(genaipa, "gpt-4o,gemini-pro", "vllm/any/model")] == [True, True, True]
    needs = facts(genaipa, "openai-api/my-lab/m", "claude-opus", "openai-api/lab/m")
    assert [row["missing"] for row in needs] == [
        ["set MY_LAB_BASE_URL", "set MY_LAB_API_KEY"],
        ["set ANTHROPIC_API_KEY"],
        ["correct the address in LAB_BASE_URL"],
    ]


def test_systems_table_shows_context_price_and_retirement(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prices come with their source and date, the catalog's own and the user's; a retired model names its successor."""
    Path("genaipa.toml").touch()
    Path("systems.yaml").write_text(
        "systems:\n"
        "  mine: {system: openai-api/lab/m, context: 4096, price: {input: 1, output: 2.5, as_of: '2026-01-02'}}\n"
    )
    monkeypatch.setenv("COLUMNS", "120")
    assert "\nmine: set LAB_BASE_URL; set LAB_API_KEY\n" in done(genaipa("systems"))
    assert re.search(
        r"^ careful +free +demo: answers about Brindlecart, whatever", done(genaipa("systems")), re.MULTILINE
    )
    out = done(genaipa("systems", "--explain"))
    lines = {line.split()[0]: " ".join(line.split()) for line in out.splitlines() if line.startswith("  ")}
    assert lines["mine"] == "mine m 4,096 1.00 / 2.50"
    assert lines["gpt-4"] == "gpt-4 gpt-4 8,192 30.00 / 60.00 retired 2026-10-23, now gpt-6-luna"
    assert "mine: catalog, 2026-01-02." in out
    assert "genai-prices" in out
    assert "openai-api/lab/: set LAB_BASE_URL; set LAB_API_KEY" in out
    assert "did you mean 'gpt-6'?" in refused(genaipa("systems", "gpt4"))


def test_systems_fold_the_baselines_of_the_suites(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Baselines are listed by suite in a line each; asked for, each is there with its kind and meaning."""
    Path("genaipa.toml").touch()
    Path("systems.yaml").write_text("systems: {words: {system: baseline/tfidf}}\n")
    monkeypatch.setenv("COLUMNS", "120")
    assert re.search(r"^ words +free$", done(genaipa("systems")), re.MULTILINE)
    out = done(genaipa("systems", "--explain"))
    assert re.search(r"^   words +baseline/tfidf ", out, re.MULTILINE), "a short name is a system like any other"
    assert "baseline/majority" not in out
    (line,) = (line for line in out.splitlines() if line.startswith("  opp115 "))
    assert line.split(None, 1)[1] == "majority, tfidf*, tfidf-balanced*, tfidf-characters*"
    every = done(genaipa("systems", "baseline"))
    assert "   best-overlap                rule     the first of the sentences that share the most words" in every
    assert "gpt-4o" not in every
    (majority,) = facts(genaipa, "baseline/majority")
    assert majority["suites"]["policyie"] == {
        "kind": "floor",
        "about": "the intent Other for every sentence, and no slots",
    }
    assert "did you mean 'baseline/tfidf'?" in refused(genaipa("systems", "baseline/tfdf"))


def test_systems_check_starts_them(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """--check says what the server answers; one that isn't ready makes the exit code 1, and the others are started."""
    with OpenAIServer(context=9000) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        out = done(genaipa("systems", "gpt-4o", "extractive", "--check"))
        assert "gpt-4o: ready\n    3 models are listed, including this one\n    the context holds 9,000 tokens" in out
        assert "extractive: ready" in out
        assert [request.path for request in server.lookups] == ["/v1/models"]
        assert server.requests == []
        found = genaipa("systems", "scripted/nowhere.yaml", "claude-opus", "gpt-4o", "--check", "--json")
    assert found.code == 1
    states = json.loads(found.out)
    assert [state["ready"] for state in states] == [False, False, True]
    assert "set ANTHROPIC_API_KEY" in states[1]["error"]
    assert KEY not in found.out + found.err + out
    assert "names of the systems" in refused(genaipa("systems", "--check"))
    with OpenAIServer(listing=failure(400, "No connected db.")) as server:  # what one proxy says to a wrong key
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        out = done(genaipa("systems", "gpt-4o", "--check"))
    assert out.startswith("gpt-4o: reached, but neither the key nor the model could be checked\n")


# --- init and doctor -----------------------------------------------------------------------------------------------


def test_init_makes_a_workspace_that_validates(genaipa: Cli) -> None:
    """All folders and files are there, nothing in them is wrong, and the printed command goes on from there."""
    out = done(genaipa("init", "new/mine"))
    assert "cd new/mine" in out
    assert "genaipa policies add" in out
    names = {path.name for path in Path("new/mine").iterdir()}
    assert names == {
        *("genaipa.toml", "systems.yaml", "guidelines.md", ".gitignore", "README.md"),
        *("prompts", "questions", "policies", "annotations", "corrections", "rubrics", "runs"),
    }
    ignored = ["runs/", "reports/", "published/", ".env", "scores.db*", ".streamlit/secrets.toml"]
    assert Path("new/mine/.gitignore").read_text().split() == ignored
    assert "Everything is fine." in done(genaipa("validate", "--workspace", "new/mine"))


def test_init_keeps_what_is_there(genaipa: Cli) -> None:
    """A folder with files becomes a workspace and its files stay; a workspace, or a file in the way, is refused."""
    Path("README.md").write_text("Mine.\n")
    Path(".gitignore").write_text("*.pyc\n")
    finished = genaipa("init", ".")
    out = done(finished)
    assert "README.md already exists and was left unchanged\n" in finished.err
    assert "add to it: runs/, reports/, published/" in " ".join(finished.err.split())
    assert "This folder is a workspace now. Add a privacy policy" in out
    assert "cd" not in out
    assert Path("README.md").read_text() == "Mine.\n"
    assert "Everything is fine." in done(genaipa("validate"))
    Path("systems.yaml").write_text("systems: {}\n")
    assert "is already a workspace" in refused(genaipa("init", "."))
    assert Path("systems.yaml").read_text() == "systems: {}\n"
    Path("other").mkdir()
    Path("other/policies").touch()
    assert "policies is not a folder" in refused(genaipa("init", "other"))
    assert [path.name for path in Path("other").iterdir()] == ["policies"]


def test_names_that_no_folder_can_have_are_one_sentence(genaipa: Cli) -> None:
    """A name of 300 letters, or of bytes that are no text, wherever a file or folder is named."""
    long, odd = "a" * 300, os.fsdecode(b"x\xff")
    for command in (
        ("init", long),
        ("init", odd),
        ("get", "genaipabench", "--from", long),
        ("policies", "--workspace", long),
        ("policies", "add", long, "--name", "acme", "--company", "ACME", "--workspace", "."),
        ("policies", "show", long),
        ("policies", "show", odd),
    ):
        finished = genaipa(*command)
        assert finished.code == 2, command
        assert finished.err.count("\n") == 1, command
    assert list(Path().iterdir()) == []


def test_doctor_tells_what_works_and_keeps_keys_to_itself(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys by name only, servers by whether they answer, each gap with its remedy; nothing of it is an error."""
    with socket.socket() as closed, OpenAIServer() as server:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url.replace("//", f"//me:{KEY}@"))
        monkeypatch.setenv("VLLM_BASE_URL", f"http://127.0.0.1:{closed.getsockname()[1]}/v1")
        finished = genaipa("doctor", "--json")
        shown = done(genaipa("doctor", "--all"))
        short = done(genaipa("doctor"))
    assert KEY not in finished.out + finished.err + shown
    found = json.loads(done(finished))
    rows = {row["what"]: row for topic in found.values() for row in topic}
    assert rows["shipped data"]["state"] == "ok"
    assert {row["what"]: row["state"] for row in found["keys"]} == {
        "openai": "ok",
        "anthropic": "missing",
        "google": "missing",
        "vllm": "off",
    }
    assert rows["OPENAI_BASE_URL"]["state"] == "ok"
    assert rows["VLLM_BASE_URL"]["state"] == "missing"
    assert rows["GenAIPABench"]["remedy"] == "genaipa get genaipabench"
    assert rows["token counts"]["state"] == "missing"
    assert "-> set ANTHROPIC_API_KEY in the environment" in shown
    assert "key for openai" in short
    assert "VLLM_BASE_URL: nothing answers at" in short
    assert "ANTHROPIC" not in short, "nothing here uses it"


def test_doctor_names_a_variable_that_sets_nothing(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistyped one has a line with the nearest; one of an option or a setting has none, wherever it is read."""
    known = list_option_environment_variables(root_command())
    for path in Path(package.__file__).parent.rglob("*.py"):
        for name in re.findall(r"\bGENAIPA_[A-Z]+(?:_[A-Z]+)*\b", path.read_text(encoding="utf-8")):
            assert name in known, (path, name)
    assert "GENAIPA_" not in done(genaipa("doctor"))
    for name in ("GENAIPA_MAX_COST", "GENAIPA_MAXCOST", "GENAIPA_QQ", "GENAIPA_VLLM_ARGS"):
        monkeypatch.setenv(name, "17")
    lines = [line for line in done(genaipa("doctor")).splitlines() if line.startswith("GENAIPA_")]
    assert lines == [
        "GENAIPA_MAXCOST: sets no option; did you mean GENAIPA_MAX_COST?",
        "GENAIPA_QQ: sets no option; unset it",
    ]


def test_an_extra_that_is_not_installed_breaks_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """What genaipa's own packages can't import then is told as an extra's, and of no package that is broken."""
    for name in [name for name in sys.modules if name.startswith("genaipa_points")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "streamlit", None)
    assert find_unloadable_plugin_packages() == {}


def test_doctor_asks_only_for_what_is_missing(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Token counts need a package and a vocabulary; the package is named only where it can't be imported."""

    def remedy() -> str:
        rows = json.loads(done(genaipa("doctor", "--json")))["this machine"]
        return next(row["remedy"] for row in rows if row["what"] == "token counts")

    fetched = "run an OpenAI system once while online, to download it"
    assert remedy() == fetched
    monkeypatch.setitem(sys.modules, "tiktoken", None)  # as where it can't be imported
    assert remedy() == f"pip install 'genaipa[openai]', and {fetched}"


@pytest.mark.full
def test_doctor_works_on_a_terminal_without_unicode(genaipa_process: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output that can't hold every character is told of, not stumbled over."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    assert "set PYTHONUTF8=1" in done(genaipa_process("doctor"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_doctor_sees_a_folder_that_cannot_be_written(genaipa: Cli) -> None:
    """Runs need a place; where there is none, another is asked for."""
    Path("locked").mkdir(mode=0o500)
    rows = json.loads(done(genaipa("doctor", "--workspace", "locked", "--json")))["this machine"]
    assert "choose another folder" in next(row["remedy"] for row in rows if row["what"] == "runs")


def test_policies_history_diff_and_annotate_carry_what_holds(genaipa: Cli, tmp_path: Path) -> None:
    """From a repository to the form of the new version: the commands say what was left out and what holds."""
    done(genaipa("init", "."))
    folder = tmp_path / "collection"
    folder.mkdir()
    text = (Path(package.__file__).parents[1] / "policies" / "brindlecart.md").read_text()
    who = {f"GIT_{who}_{what}": "a" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for day, said in (
        ("2026-01-01", text),
        ("2026-02-01", text.replace("chats for 90 days after", "chats for 60 days after")),
    ):
        (folder / "policy.md").write_text(said)
        when = {"GIT_AUTHOR_DATE": f"{day}T12:00:00Z", "GIT_COMMITTER_DATE": f"{day}T12:00:00Z"}
        for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "x")):
            subprocess.run(
                ["git", "-C", folder, *arguments], check=True, env={"PATH": os.environ["PATH"], **who, **when}
            )
    asked = ("policies", "history", str(folder), "--path", "policy.md", "--name", "cart", "--company", "Brindlecart")
    assert "2 versions of policy.md: 2 differ, 2 added." in done(genaipa(*asked))
    assert "2 differ, 0 added." in done(genaipa(*asked))
    out = done(genaipa("policies", "diff", "brindlecart", "cart.2026-02-01", "-o", "diff.html"))
    assert "sections: 69 unchanged, 1 reworded" in out
    assert "29 of 32 annotated answers hold; 3 to check again: DM_f1, DM_u1, CA_u1" in out
    assert "<del>90 </del><ins>60 </ins>" in Path("diff.html").read_text()
    facts = json.loads(done(genaipa("policies", "diff", "brindlecart", "cart.2026-02-01", "--json")))
    assert facts["answers"]["DM_u1"]["points"] == ["depends", "account", "orders", "chats", "usage"]
    # The first version's text is brindlecart's, whose answers are found by its digest.
    out = done(genaipa("policies", "carry", "cart.2026-01-01", "cart.2026-02-01"))
    assert "keeps 29 answers and leaves 3 questions to answer" in out
    assert "no annotated answer to DM_f1, DM_u1, CA_u1" in genaipa("validate").out.replace("\n", " ")
    for wrong in (
        ("policies", "diff", "cart.2026-01-01", "cart.2026-01-01"),
        ("policies", "carry", "cart.2026-01-01", "cart.2026-01-01"),
    ):
        assert "cart.2026-01-01" in refused(genaipa(*wrong))
