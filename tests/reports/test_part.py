"""What reports say about the part of the answers that averages rest on."""

from __future__ import annotations

import json
from pathlib import Path

from framing import QUESTIONS, answer_rows, score_rows, tidy_of
from pages import Shown
from queues import make_run, save, work
from tabling import published

from genaipa.reports import part, render
from genaipa.reports.chapters.overall import averages_of_each_metric_table, leaderboard_table
from genaipa.reports.part import note_sparsely_scored_experiments
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.people import User
from genaipa.ui.desk import open_desk
from genaipa.ui.settings import DeskSettings

ANNA = User("Anna", scores=True, adjudicates=False)


def told(rows, scored, **score):
    """What is said of one system, of whose answers (`rows`) these are scored."""
    [found] = part.measure_scored_part_per_experiment(tidy_of(rows, [row | score for row in score_rows(scored)]))[
        "part"
    ]
    return str(found), found.is_representative


def test_each_part_in_its_words():
    """All, a finished wave, one with scores beside it, one half done, one that answers came after, and no wave."""
    rows = answer_rows(systems=("a/one",), documents=("uber", "spotify", "tiktok"))
    assert len(rows) == 96
    wave = [{**row, "in_wave": "no" if n % 3 else "yes", "pi": 1 / 3} for n, row in enumerate(rows)]
    taken = wave[::3]
    assert told(wave, wave) == ("all 96", True)
    assert told(wave, taken) == ("32 of 96, at random", True)
    assert told(wave, [*taken, wave[1]]) == ("33 of 96, 32 of them at random", True)
    assert told(wave, taken[:31]) == ("31 of 96, at random; 1 of the random part not scored", True)
    assert told(wave, taken[:30]) == ("30 of 96, but the random part of 32 is not finished: not a sample", False)
    late = [row if n < 90 else {**row, "in_wave": "", "pi": None} for n, row in enumerate(wave)]
    assert told(late, late[:90:3]) == ("30 of 96, but 6 came after the draw: not a sample", False)
    # All of one document, drawn when it was alone, and half of the others.
    uneven = [
        {**row, "in_wave": "yes" if n < 32 or n % 2 else "no", "pi": 1 if n < 32 else 0.5} for n, row in enumerate(rows)
    ]
    taken = [row for row in uneven if row["in_wave"] == "yes"]
    assert told(uneven, taken) == ("64 of 96, some documents more often than others: not a sample", False)
    for order, how in (
        ("question", ", in the order of documents: not a sample"),
        ("random", ", in random order"),
        ("", ": not a sample"),
    ):
        assert told(rows, rows[:40], desk_order=order) == (f"40 of 96{how}", False)
    # What an audit leaves out is no part of it, nor what failed; a study's published scores are no part of answers.
    out = [
        {**row, "excluded": "no"} if n < 10 else {**row, "answer": ""} if n < 20 else row for n, row in enumerate(rows)
    ]
    assert told(out, out[20:]) == ("all 76", True)
    tables = [published("a/one", "quality", "uber", row["question"], m_all=70.0) for row in rows[:32]]
    assert part.measure_scored_part_per_experiment(tidy_of([*rows, *tables], score_rows(rows[40:50]))).empty


def test_the_tables_say_it():
    """The leaderboard and the averages have a column for it where anything is partial, and only there."""
    asked = {"questions": QUESTIONS[:8], "experiments": ("quality", "recall"), "documents": ("uber", "spotify")}
    one, two = (answer_rows(systems=(name,), **asked) for name in ("a/one", "b/two"))
    drawn = [{**row, "in_wave": "no" if n % 4 else "yes", "pi": 0.25} for n, row in enumerate(one)]
    whole = tidy_of([*one, *two], score_rows([*one, *two]))
    complete = leaderboard_table(whole)
    assert "scored" not in complete.main_columns
    assert set(complete.data["scored"]) == {"all 32"}
    assert "Averages of people's scores" not in complete.note
    frame = tidy_of([*drawn, *two], score_rows([*drawn[::4], *two]))
    # A quarter is enough where chance chose it.
    assert note_sparsely_scored_experiments(frame) == ""
    ranked = leaderboard_table(frame)
    assert dict(ranked.data[["system", "scored"]].to_numpy()) == {
        "a/one": "8 of 32, at random",
        "b/two": "all 32",
    }
    assert ranked.note.endswith(
        " Averages of people's scores rest on: 4 of 16, at random (a/one quality, a/one recall); all 16 (b/two "
        "quality, b/two recall)."
    )
    means = averages_of_each_metric_table(frame).data
    assert set(means.loc[means["system"] == "a/one", "scored"]) == {"4 of 16, at random"}
    assert "scored" in render.visible_headings(ranked)
    unplanned = tidy_of([*one, *two], score_rows([*one[::4], *two]))
    assert "a/one quality (4 of 16)" in note_sparsely_scored_experiments(unplanned)


def test_a_wave_from_the_desk_to_the_leaderboard(genaipa):
    """A wave that was scored at the desk is at random; an edited file is named, and then nothing is random."""
    make_run("See section 2.", "See section 1.")
    desk = open_desk(DeskSettings(Path.cwd(), sample=4, plan=ScoringPlan(per_answer=1)))
    work(desk.queue, "Anna", 7)
    before = json.loads(genaipa("leaderboard", "--json").out)
    # Of the other system, three of twelve and an unfinished wave: too little for a place.
    assert [row["scored"] for row in before["rows"]] == ["4 of 12, at random"]
    work(desk.queue, "Anna")
    assert [row[-1] for row in Shown("results", desk, ANNA).rows("results systems")] == [
        "1 analyst: 4 of 12, at random"
    ] * 2
    outside = next(digest for digest in desk.pool.answers if not desk.queue.count_wanted_scores(digest))
    save(desk.queue, "Anna", outside)
    desk.store.close()
    found = json.loads(genaipa("leaderboard", "--json").out)
    assert {row["scored"] for row in found["rows"]} == {"4 of 12, at random", "5 of 12, 4 of them at random"}
    file = Path("waves.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"sizes":[4]', b'"sizes":[6]', 1))
    damaged = genaipa("leaderboard", "--json")
    assert damaged.code == 0
    assert "was changed after genaipa wrote it" in damaged.out
    assert "at random" not in str(json.loads(damaged.out)["rows"])
