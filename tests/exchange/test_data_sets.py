"""Answers and scores as a data set for Hugging Face, read by pandas."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import yaml
from analysts import make_answers
from commandline import call
from running import answers, make_workspace, write
from stores import GOOD, POOR, opened, score

from genaipa.files.stamps import now
from genaipa.scoring.events import Event, new_event_id

JUDGE = "judge:acme-1@0123456789ab#1"


@pytest.fixture
def scored() -> list[str]:
    """A run about a free document, three of whose four answers were scored; the digests of these answers.

    Two people scored the first, one of them as the judge did; of the third an analyst's scores are left out of
    everything.
    """
    write("policies/acme.yaml", "company: ACME\nlicense: CC-BY-4.0\n")
    write("desk.yaml", "left_out: {CY: 'scored without reading'}\n")
    annotated = '\n  Q1: {silent: false, answer: In section 1., sections: ["1"]}\nlicense: CC0\n'
    kept = answers(make_answers("See section 1.", "No.", "Perhaps.", "Yes.", annotations=annotated))
    digests = [record.digest for record in sorted(kept, key=lambda record: record.question)]
    first, second, third, _ = digests
    verdict = Event(new_event_id(), now(), "score", JUDGE, first, values=GOOD, scorer="machine")
    given = [score("ada", first), score("bo", first, POOR), score("ada", second), score("ada", third, POOR)]
    with opened("sqlite:///scores.db") as store:
        store.append_new_events([*given, score("cy", second, POOR), verdict])
    return digests


def export(form: str, *more: str) -> str:
    """Everything that an export into the folder `out` says."""
    finished = call("export", form, "-o", "out", *more)
    assert finished.code == 0, finished.err
    return finished.out + finished.err


def test_pandas_reads_the_data_set_for_hugging_face(scored: list[str]) -> None:
    """Answers with their texts, scores in effect that lead to them, the tidy table, and a card that names all three."""
    assert "4 files, 4 answers, 4 scores" in export("huggingface")
    kept, given, tidy = (pd.read_parquet(f"out/{name}.parquet") for name in ("answers", "scores", "tidy"))
    by_question = kept.sort_values("question")
    assert list(by_question["digest"]) == scored
    assert list(by_question["reply"]) == ["See section 1.", "No.", "Perhaps.", "Yes."]
    assert by_question["annotated_answer"].iloc[0] == "In section 1."
    assert set(kept["prompts"]) == set(tidy["prompts"]) == {"guided"}
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


def test_the_card_counts_the_systems_whose_answers_are_in_it() -> None:
    """Of a system whose answers may not be passed on the card says so, and the command names it."""
    make_workspace()
    for system in ("scripted", "extractive"):
        assert call("run", "-s", system, "-p", "acme", "-e", "quality").code == 0
    said = export("huggingface")
    assert "4 answers of extractive" in said, said
    assert "--license" in said
    card = Path("out/README.md").read_text()
    assert "Answers of 1 system about" in card
    assert "For `extractive` only `tidy.parquet` has rows." in card
