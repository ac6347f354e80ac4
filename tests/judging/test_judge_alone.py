"""A judge's values by themselves: a line of numbers, a map in the terminal and a grey figure, and never a ranking."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from judged import human, keep
from judges import events, script, study, verdict
from running import write

from genaipa.cli.commands.judge import _shade_character_for_score, _split_categories_into_rows
from genaipa.systems.provider import make_default_run_name, shorten_system_names

LINE = "Judge alone, no estimate: scripted/a.yaml 10, scripted/b.yaml 100 (M_all)"


@pytest.fixture
def judged(genaipa):
    """Two systems, of which the judge scores the one named last the best, judged; what the command printed."""
    study(genaipa, 4)
    for name in ("b", "a"):
        write(f"{name}.yaml", f"default: Answer of {name}.\n")
    asked = genaipa("run", "-s", "scripted/b.yaml,scripted/a.yaml", "-p", "acme", "-e", "quality", "--name", "two")
    assert asked.code == 0, asked.err
    judge = script("judge.yaml", {"match": "Answer of a", "reply": verdict(2)})
    done = genaipa("judge", "two", "--judge", judge)
    assert done.code == 0, done.err
    return done


def test_numbers_come_by_name_and_never_by_rank(judged, genaipa):
    """The means are in the order of the systems' names; in a pipe there is no map; the same when nothing is left."""
    assert LINE in judged.out
    assert "█" not in judged.out
    assert "genaipa compare scripted/a.yaml scripted/b.yaml --judge kind" in " ".join(judged.out.split())
    assert LINE in genaipa("judge", "two", "--judge", "scripted/judge.yaml").out
    assert "no estimate" not in genaipa("judge", "two", "--judge", "scripted/judge.yaml", "--json").out


def test_a_judge_of_what_people_scored_is_not_alone(judged, genaipa):
    """Where people scored the same answers, the closing says how many, and where their agreement is told."""
    digests = list(dict.fromkeys(event.answer for event in events()))
    keep(human("ada", answer, (0,) * 5) for answer in digests[:3])
    again = genaipa("judge", "two", "--judge", "scripted/judge.yaml").out
    assert "alone" not in again
    assert "scripted/b.yaml 100 (M_all); people also scored 3 of these answers" in again
    assert "score some answers yourself" not in again


def test_a_terminal_shows_a_map(judged, genaipa, monkeypatch):
    """A line for each system, by name, a block for each question; nothing of it where the signs can't be written."""
    monkeypatch.setenv("COLUMNS", "60")
    again = ("judge", "two", "--judge", "scripted/judge.yaml")
    assert " scripted/a.yaml  ░░░░\n scripted/b.yaml  ████\n" in genaipa(*again, terminal="utf-8").out
    plain = genaipa(*again, terminal="ascii").out
    assert "Judge alone, no estimate" in plain
    assert "scripted/a.yaml  " not in plain


def test_the_report_has_a_grey_figure(judged, genaipa):
    """Written though nobody has scored; systems by name, and no leaderboard."""
    done = genaipa("report", "two", "-o", "out", "--formats", "svg")
    assert done.code == 0, done.err
    figure = pd.read_csv("out/figures/judge-alone.csv")
    assert list(dict.fromkeys(figure["system"])) == ["scripted/a.yaml", "scripted/b.yaml"]
    assert figure.groupby("system")["m_all"].mean().to_dict() == {"scripted/a.yaml": 10, "scripted/b.yaml": 100}
    assert not Path("out/tables/leaderboard.csv").exists()


def test_the_report_says_first_whose_values_it_shows(judged, genaipa):
    """Title and last line are one sentence; the figure has a caption and no other's legend, and answers are there."""
    done = genaipa("report", "two", "-o", "out", "--formats", "svg")
    sentence = "Judged by kind alone: a.yaml 10, b.yaml 100 (not an estimate of what people would say)"
    assert f"{sentence}.\n" in done.out
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert f"<h1>{sentence}</h1>" in page
    assert re.search(
        r"<figcaption[^>]*>According to the judge kind @\w{6} alone: not an estimate of what people would say", page
    )
    assert not re.search("Intervals</b>|corner marks|none scored", page)
    answers = page[page.index('<section id="answers">') :]
    assert answers.count("According to the judge kind alone, M_all 10.0: relevance -1") == 4
    assert answers.count("Answer of b.") == 4
    assert "All values here come from kind alone: not an estimate of what people would say." in answers
    assert "kind alone, not in any average" in Path("out/notes.html").read_text(encoding="utf-8")


def test_a_second_judge_and_a_part_are_said(judged, genaipa):
    """Each judge by name with its own means; one that scored a part is said to have."""
    judge = script("other.yaml", default=verdict(1), model="other")
    assert genaipa("judge", "two", "--judge", judge, "--system", "scripted/a.yaml").code == 0
    done = genaipa("report", "two", "-o", "out", "--formats", "svg")
    assert "Judged by kind alone: a.yaml 10, b.yaml 100; by other alone: a.yaml 78 (not an estimate" in done.out
    assert "other scored 4 of 8 answers." in Path("out/index.html").read_text(encoding="utf-8")


def test_answers_that_nobody_scored_can_be_read(genaipa):
    """A report without any score has the chapter of answers, without values."""
    study(genaipa, 2)
    assert genaipa("report", "-o", "out", "--formats", "svg").code == 0
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "2 of 2 questions answered, none scored yet" in page
    answers = page[page.index('<section id="answers">') :]
    assert "Yes. (Section 1)" in answers
    assert "nan" not in answers


def test_a_block_is_the_darker_the_higher() -> None:
    """Four shades from 10 to 100; a dot where nothing was judged; categories go into as many rows as they need."""
    assert [_shade_character_for_score(value) for value in (10, 32.4, 32.6, 60, 80, 100, None)] == list("░░▒▓██·")
    assert list(_split_categories_into_rows({"A": ["1"] * 9, "B": ["2"] * 9, "C": ["3"]}, 20)) == [["A", "B"], ["C"]]


def test_names_of_models_are_shortened_to_what_is_unique() -> None:
    """The model alone where one ends so; with its server where two do; files, recordings and classes as they are."""
    names = ("openai-api/lab/reader-1", "openai-api/far/glib", "openai-api/lab/glib", "vllm/Qwen/Qwen2.5-7B")
    others = ("extractive", "scripted/a.yaml", "published/bard", "mine:Own", "manual/chat", "gpt-4.1")
    assert shorten_system_names((*names, *others)) == {
        "openai-api/lab/reader-1": "reader-1",
        "openai-api/far/glib": "far/glib",
        "openai-api/lab/glib": "lab/glib",
        "vllm/Qwen/Qwen2.5-7B": "Qwen2.5-7B",
        **{name: name for name in others},
    }


def test_a_runs_name_is_short_and_has_the_document() -> None:
    """Systems after the first give way to what a run is about."""
    assert make_default_run_name(["openai-api/lab/reader-1", "gpt-4.1"], "acme") == "reader-1-gpt-4.1-acme"
    systems = ["scripted/one.yaml", "scripted/two.yaml", "openai/gpt-4.1"]
    assert make_default_run_name(systems, "larkfield") == "scripted-one.yaml-and-2-more-larkfield"
    long = make_default_run_name([*systems, "an-assistant-with-a-long-name"], "the-privacy-policy-of-mill-and-sons")
    assert long == "scripted-one-and-3-more-the-privacy-poli"
