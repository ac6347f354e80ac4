"""Answers and scores as data sets: for Every Eval Ever, by its own schemas, and for Hugging Face, read by pandas."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from analysts import make_answers
from commandline import call
from jsonschema import Draft7Validator
from running import answers, write
from stores import GOOD, POOR, opened, score

from genaipa.exchange.eee import model_id
from genaipa.files.stamps import now
from genaipa.scoring.events import Event, new_id

SCHEMAS = Path(__file__).parent / "every_eval_ever"
JUDGE = "judge:acme-1@0123456789ab#1"


@pytest.fixture
def scored() -> list[str]:
    """A run about a free document, three of whose four answers were scored; the digests of these answers.

    Two people scored the first, one of them as the judge did; of the third an analyst's scores are left out of
    everything.
    """
    write("policies/acme.yaml", "company: ACME\nlicense: CC-BY-4.0\n")
    write("desk.yaml", "left_out: {cy: 'scored without reading'}\n")
    annotated = '\n  Q1: {silent: false, answer: In section 1., sections: ["1"]}\nlicense: CC0\n'
    kept = answers(make_answers("See section 1.", "No.", "Perhaps.", "Yes.", annotations=annotated))
    digests = [record.digest for record in sorted(kept, key=lambda record: record.question)]
    first, second, third, _ = digests
    verdict = Event(new_id(), now(), "score", JUDGE, first, values=GOOD, scorer="machine")
    given = [score("ada", first), score("bo", first, POOR), score("ada", second), score("ada", third, POOR)]
    with opened("sqlite:///scores.db") as store:
        store.append([*given, score("cy", second, POOR), verdict])
    return digests


def export(form: str, *more: str) -> str:
    """Everything that an export into the folder `out` says."""
    finished = call("export", form, "-o", "out", *more)
    assert finished.code == 0, finished.err
    return finished.out + finished.err


def faults(name: str, content: Any) -> list[str]:
    """The schema's complaints about a file's content."""
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    return [error.message for error in Draft7Validator(schema).iter_errors(content)]


def test_every_eval_evers_own_schemas_take_both_files(scored: list[str]) -> None:
    """Averages with the interval's population, judges apart, and a line for each scored answer that leads to them."""
    said = export("eee", "--with-judge")
    assert "2 files, 3 answers, 5 scores" in said
    assert "Left out: 1 answer without a score" in said
    (samples,) = Path("out").rglob("*_samples.jsonl")
    (averages,) = Path("out").rglob("*.json")
    whole = json.loads(averages.read_text())
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    assert faults("eval", whole) == []
    assert [faults("instance_level_eval", line) for line in lines] == [[]] * 4
    assert faults("instance_level_eval", {**lines[0], "more": "x"}), "the schema refuses what it doesn't know"
    detail = whole["detailed_evaluation_results"]
    assert Path("out", detail["file_path"]) == samples
    assert (detail["total_rows"], detail["checksum"]) == (4, hashlib.sha256(samples.read_bytes()).hexdigest())
    results = {one["evaluation_result_id"]: one for one in whole["evaluation_results"]}
    assert {line["evaluation_result_id"] for line in lines} == {"quality/m_all", f"quality/m_all/{JUDGE}"}
    people = {
        line["metadata"]["question"]: line["evaluation"] for line in lines if "people" in line["metadata"].values()
    }
    assert {name: one["is_correct"] for name, one in people.items()} == {"Q1": False, "Q2": True, "Q3": False}
    overall = results["quality/m_all"]["score_details"]
    assert overall["score"] == pytest.approx(sum(one["score"] for one in people.values()) / 3)
    interval = overall["uncertainty"]["confidence_interval"]
    assert interval["lower"] < overall["score"] < interval["upper"]
    assert interval["method"].endswith("for other questions of this kind about this document")
    by_judge = results[f"quality/accuracy/{JUDGE}"]["metric_config"]["llm_scoring"]
    assert by_judge["judges"][0]["model_info"]["id"] == "genaipa/acme-1"


def test_without_a_score_there_is_nothing_for_every_eval_ever() -> None:
    """A sentence with what to do, and no folder."""
    make_answers("No.")
    finished = call("export", "eee", "-o", "out")
    assert (finished.code, "genaipa score" in finished.err, Path("out").exists()) == (2, True, False)


def test_a_model_is_named_by_its_developer() -> None:
    """A server's name is dropped where the model has a developer of its own; odd signs are replaced."""
    named = {
        "vllm/Qwen/Qwen2.5-7B-Instruct": "Qwen/Qwen2.5-7B-Instruct",
        "openai/gpt-4.1": "openai/gpt-4.1",
        "openai-api/lab/reader-1": "lab/reader-1",
        "extractive": "genaipa/extractive",
        "mine:Bot": "genaipa/mine-Bot",
        "scripted/../x": "scripted/model/x",
    }
    assert {name: model_id(name) for name in named} == named


def test_pandas_reads_the_data_set_for_hugging_face(scored: list[str]) -> None:
    """Answers with their texts, scores in effect that lead to them, the tidy table, and a card that names all three."""
    assert "4 files, 4 answers, 4 scores" in export("huggingface")
    kept, given, tidy = (pd.read_parquet(f"out/{name}.parquet") for name in ("answers", "scores", "tidy"))
    by_question = kept.sort_values("question")
    assert list(by_question["digest"]) == scored
    assert list(by_question["reply"]) == ["See section 1.", "No.", "Perhaps.", "Yes."]
    assert by_question["annotated_answer"].iloc[0] == "In section 1."
    assert sorted(given["analyst"]) == ["ada", "ada", "ada", "bo"], "cy is left out, the judge wasn't asked for"
    assert set(given["answer"]) == set(scored[:3])
    assert sorted(tidy.loc[tidy["counted"], "m_all"]) == sorted(given["m_all"])
    _, header, text = Path("out/README.md").read_text().split("---\n")
    card = yaml.safe_load(header)
    assert [one["data_files"] for one in card["configs"]] == [
        f"{name}.parquet" for name in ("answers", "scores", "tidy")
    ]
    assert (card["license"], card["license_link"]) == ("other", "README.md")
    assert "`Apache-2.0`, `CC-BY-4.0`, `CC0`" in text
