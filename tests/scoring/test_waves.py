"""The random part of a study's answers that people score: how it is drawn, and by what chance each answer is in it."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from pages import EDSGER, Shown
from queues import DOCUMENTS, make_run, work
from running import answers, carry_out, dated, repeat_record, spec, write
from size import size
from stores import opened as scores_in
from stores import score

from genaipa.runs import journal
from genaipa.runs.authors import Authorship, append_authorship
from genaipa.runs.filters import Filters
from genaipa.runs.records import answer_digest
from genaipa.scoring.answers import AnswerPool, Occurrence, PooledAnswer
from genaipa.scoring.assignment import ScoringPlan
from genaipa.scoring.waves import (
    Waves,
    compute_wave_inclusion_and_chance,
    digest_prefix_used_in_waves,
    encode_waves,
    load_waves,
    measure_standings_of_wave_groups,
)
from genaipa.ui.desk import open_desk
from genaipa.ui.settings import DeskSettings, read_settings_from_environment
from genaipa.workspace import find_workspace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from genaipa.runs.folder import RunFolder
    from genaipa.ui.desk import Desk

GPT = ("gpt", "quality")


def answer(
    question: str, document: str, number: int = 0, systems: Iterable[str] = ("gpt",), times: int = 1
) -> PooledAnswer:
    """A text that these systems gave as their answer, each so many times."""
    digest = answer_digest(document, question, f"{number} {systems}")
    places = [
        Occurrence("run", f"{system}|{n}", system, document, "document", "original", n, question, "", 0)
        for system in systems
        for n in range(1, times + 1)
    ]
    return PooledAnswer(digest, document, "policy", "answered", places)


def study(
    questions: int = 32, documents: int = 5, each: int = 1, systems: Iterable[str] = ("gpt",)
) -> list[PooledAnswer]:
    """A study in which each system answered every question about every document, in words of its own."""
    return [
        answer(f"q{question:02}", f"d{document}", number, (system,))
        for system in systems
        for question in range(questions)
        for document in range(documents)
        for number in range(each)
    ]


def draw(
    answers: Iterable[PooledAnswer],
    number: int | None = None,
    seed: int = 0,
    before: Waves | None = None,
    strata: dict[str, str] | None = None,
) -> Waves:
    """A wave of these answers, or one more draw."""
    return (before or Waves()).extend_groups_to_size(
        answers, size_of_each_group=number, seed=seed, time="2026-11-22T00:00:00Z", stratum_by_document=strata
    )


def frame(answers: Iterable[PooledAnswer]) -> pd.DataFrame:
    """The rows that a tidy table has of these answers."""
    rows = [
        {"system": at.system, "experiment": "quality", "answer": one.digest, "question": at.question, "key": at.key}
        for one in answers
        for at in one.occurrences
    ]
    return pd.DataFrame(rows).astype({"system": "category", "answer": "category"})


# -- drawing --


@pytest.mark.parametrize("seed", [0, 7])
def test_a_wave_grown_keeps_its_answers_and_equals_one_drawn_at_once(seed):
    """A wave of 32 has one answer to each question, one of 64 these and one more, about another document."""
    answers = study()
    small = draw(answers, 32, seed)
    grown, at_once = draw(answers, 64, seed, small), draw(reversed(answers), 64, seed)
    assert grown.wave_digest_prefixes_by_group == at_once.wave_digest_prefixes_by_group
    pd.testing.assert_frame_equal(
        compute_wave_inclusion_and_chance(frame(answers), grown),
        compute_wave_inclusion_and_chance(frame(answers), at_once),
    )
    assert small.wave_digest_prefixes_by_group[GPT] < grown.wave_digest_prefixes_by_group[GPT]
    places = defaultdict(list)
    for one in answers:
        if digest_prefix_used_in_waves(one.digest) in grown.wave_digest_prefixes_by_group[GPT]:
            places[one.question].append(one.document)
    assert {len(documents) for documents in places.values()} == {2} == {len(set(two)) for two in places.values()}
    assert len(places) == 32
    assert draw(answers, 64, seed + 1).wave_digest_prefixes_by_group != grown.wave_digest_prefixes_by_group
    # Never smaller, and the same again.
    assert draw(answers, 32, seed, grown) == grown == draw(answers, None, seed, grown)


def test_each_question_has_its_share():
    """Where the size is no multiple, some questions give one more; where questions are short of answers, others do."""
    answers = study(10, 3)
    share = Counter(
        one.question
        for one in answers
        if digest_prefix_used_in_waves(one.digest) in draw(answers, 23).wave_digest_prefixes_by_group[GPT]
    )
    assert Counter(share.values()) == {2: 7, 3: 3}
    few = [one for one in answers if one.question != "q00" or one.document == "d0"]
    share = Counter(
        one.question
        for one in few
        if digest_prefix_used_in_waves(one.digest) in draw(few, 25).wave_digest_prefixes_by_group[GPT]
    )
    assert share["q00"] == 1
    assert Counter(share.values()) == {1: 1, 2: 3, 3: 6}
    assert len(draw(answers, 4).wave_digest_prefixes_by_group[GPT]) == 4
    assert (
        len(
            {
                one.question
                for one in answers
                if digest_prefix_used_in_waves(one.digest) in draw(answers, 4).wave_digest_prefixes_by_group[GPT]
            }
        )
        == 4
    )
    assert len(draw(answers, 500).wave_digest_prefixes_by_group[GPT]) == 30


def test_later_answers_have_a_draw_of_their_own():
    """Answers and systems that come later are drawn from beside what was drawn; scored ones are not drawn from."""
    first = study(8, 4)
    before = draw(first, 16)
    later = [*first, *study(8, 5)[4::5], *study(8, 5, systems=["bard"])]
    after = draw(later, before=before)
    assert after.draws[0] == before.draws[0]
    assert [(one.system_and_experiment, one.wave_answer_count, one.population_size) for one in after.draws[1:]] == [
        (("bard", "quality"), 40, 40),
        (GPT, 4, 8),
    ]
    assert after.wave_digest_prefixes_by_group[GPT] > before.wave_digest_prefixes_by_group[GPT]
    scored = {one.digest for one in first[:12]}
    rest = Waves().extend_groups_to_size(
        first, size_of_each_group=16, seed=0, time="", scored_digests_to_leave_out=scored
    )
    assert rest.draws[0].population_size == 20
    found = compute_wave_inclusion_and_chance(frame(first), rest)
    assert found["pi"].isna().sum() == 12
    assert not found.loc[found["pi"].isna(), "in_wave"].any()


# -- by what chance --


def uneven() -> list[PooledAnswer]:
    """A study whose questions differ in documents, its documents in answers, and its texts in how often they occur."""
    answers = [
        answer(f"q{question}", f"d{document}", number, times=1 + (number + question) % 3)
        for question in range(5)
        for document in range(1 + question % 4)
        for number in range(1 + (question + document) % 3)
    ]
    shared = [answer(f"q{question}", "d0", 9, ("gpt", "bard")) for question in range(5)]
    return [*answers, *shared, *study(5, 2, systems=["bard"])]


@pytest.mark.parametrize("strata", [None, {"d0": "x", "d1": "y", "d2": "x", "d3": "y"}])
@pytest.mark.parametrize("turns", size(small=[3, 9], soak=[2, 3, 5, 8, 13, 40]))
def test_what_was_drawn_speaks_for_all(turns, strata):
    """A sum of y/π over what is in the wave is, over the draws, the sum over all answers, equal texts as they occur."""
    answers, found = uneven(), []
    rows = frame(answers)
    values = pd.Series(range(1, len(rows) + 1), dtype=float).groupby(rows["answer"].to_numpy()).transform("first")
    gpt = rows["system"] == "gpt"
    for seed in range(size(small=20, soak=300)):
        known = compute_wave_inclusion_and_chance(rows, draw(answers, turns, seed, strata=strata))
        assert known["pi"].between(0, 1, inclusive="right").all()
        z = (values / known["pi"]).where(known["in_wave"], 0)
        found.append((z[gpt].sum(), z[~gpt].sum()))
    truth = (values[gpt].sum(), values[~gpt].sum())
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - truth) <= 3.5 * error + 1e-6).all(), (np.mean(found, axis=0), truth, error)


def test_even_studies_have_one_chance():
    """64 of 160 answers to 32 questions: π is 0.4 for all, and 0.2 for 32; an answer in no draw has none."""
    answers = study()
    for number in (32, 64):
        found = compute_wave_inclusion_and_chance(frame(answers), draw(answers, number))
        assert found["in_wave"].sum() == number
        assert found["pi"].to_numpy() == pytest.approx(number / 160)
    nothing = compute_wave_inclusion_and_chance(frame(answers), Waves())
    assert not nothing["in_wave"].any()
    assert nothing["pi"].isna().all()
    assert found.index.equals(frame(answers).index)


def test_systems_are_asked_for_the_same():
    """The waves of two systems and of one that comes later are about the same, whatever the seed of the later draw."""
    answers = study(8, 4, systems=["gpt", "bard"])
    first = draw(answers, 12, 3)
    later = draw([*answers, *study(8, 4, systems=["claude"])], 12, 0, first)
    asked = [
        {
            (one.question, one.document)
            for one in study(8, 4, systems=[system])
            if digest_prefix_used_in_waves(one.digest) in later.all_wave_digest_prefixes
        }
        for system in ("gpt", "bard", "claude")
    ]
    assert len(asked[0]) == 12
    assert asked[0] == asked[1] == asked[2]
    assert {one.seed for one in later.draws} == {3}


@pytest.mark.parametrize("at_once", [True, False])
def test_occasions_are_asked_for_the_same(at_once):
    """Drawn together or one after another, the waves of two days are about the same questions and documents."""
    first = study(8, 4)
    second = [
        replace(one, digest=one.digest[::-1], occurrences=[replace(at, run="again") for at in one.occurrences])
        for one in first
    ]
    days = {"run": "2026-05-01", "again": "2026-06-01"}
    before = Waves() if at_once else draw(first, 16)
    waves = before.extend_groups_to_size(
        [*second, *first], size_of_each_group=32 if at_once else None, seed=0, time="", day_by_run=days
    )
    asked = [
        {
            (one.question, one.document)
            for one in some
            if digest_prefix_used_in_waves(one.digest) in waves.all_wave_digest_prefixes
        }
        for some in (first, second)
    ]
    assert len(asked[1]) == 16 if at_once else 8
    assert asked[1] <= asked[0]


def test_strata_have_their_shares():
    """Each stratum has its share of a wave, questions stay evenly asked, and systems are asked for the same."""
    answers = study(16, 20, systems=["gpt", "bard"])
    strata = {f"d{number}": "bank" if number < 4 else "shop" if number < 10 else "(none)" for number in range(20)}
    small = draw(answers, 20, strata=strata)
    waves = draw(answers, 64, before=small)
    for system in ("gpt", "bard"):
        taken = [
            one
            for one in study(16, 20, systems=[system])
            if digest_prefix_used_in_waves(one.digest) in waves.all_wave_digest_prefixes
        ]
        shares = Counter(strata[one.document] for one in taken)
        assert shares == {"bank": 13, "shop": 20, "(none)": 32}
        assert set(Counter(one.question for one in taken).values()) <= {3, 4, 5}
    assert small.all_wave_digest_prefixes < waves.all_wave_digest_prefixes
    asked = [
        {
            (one.question, one.document)
            for one in answers
            if digest_prefix_used_in_waves(one.digest) in waves.wave_digest_prefixes_by_group[group]
        }
        for group in (GPT, ("bard", "quality"))
    ]
    assert asked[0] == asked[1]
    assert (
        draw(reversed(answers), 64, strata=strata).wave_digest_prefixes_by_group == waves.wave_digest_prefixes_by_group
    )


def test_a_wave_that_grows_stays_what_was_finished():
    """Until the larger one is scored, the smaller is the random part, whoever is missing; then the larger is."""
    answers = study(8, 4)
    wave = draw(answers, 16, before=draw(answers, 8))
    digests = [one.digest for one in answers]
    [eight] = draw(answers, 8).wave_digest_prefixes_by_group.values()
    inside = [digest for digest in digests if digest_prefix_used_in_waves(digest) in wave.all_wave_digest_prefixes]
    first = [digest for digest in inside if digest_prefix_used_in_waves(digest) in eight]
    assert (
        wave.fall_back_to_last_finished_sizes(digests, []).wave_digest_prefixes_by_group
        == wave.fall_back_to_last_finished_sizes(digests, first[1:]).wave_digest_prefixes_by_group
        == wave.wave_digest_prefixes_by_group
    )
    part = wave.fall_back_to_last_finished_sizes(digests, [*first, *inside[:3]])
    assert part.wave_digest_prefixes_by_group[GPT] == eight
    assert (
        part.fall_back_to_last_finished_sizes(digests, inside).wave_digest_prefixes_by_group
        == wave.wave_digest_prefixes_by_group
    )
    # What is no longer there, or in no run that is reported, is not missed.
    assert (
        wave.fall_back_to_last_finished_sizes([*first, *digests[:3]], first).wave_digest_prefixes_by_group[GPT] == eight
    )
    gone = [digest for digest in digests if digest != inside[0]]
    assert (
        wave.fall_back_to_last_finished_sizes(gone, inside[1:]).wave_digest_prefixes_by_group
        == wave.wave_digest_prefixes_by_group
    )
    assert encode_waves(part) == encode_waves(wave)


# -- the file --


def test_sample_draws_and_keeps(genaipa):
    """The command draws, says what of what, and adds to its file; a smaller size changes nothing."""
    make_run("See section 2.", "See section 1.")
    done = genaipa("sample", "--size", "4")
    assert done.code == 0, done.err
    assert re.search(r"\b8 answers.*\b8 still", done.out)
    file = Path("waves.jsonl")
    before = load_waves(find_workspace())
    assert [len(taken) for taken in before.wave_digest_prefixes_by_group.values()] == [4, 4]
    assert [json.loads(line)["system"] for line in file.read_text("utf-8").splitlines()[1:]] == [
        "scripted/say.yaml",
        "scripted/say1.yaml",
    ]
    assert json.loads(genaipa("sample", "scripted/say.yaml", "--size", "8", "--json").out) == [
        {
            "system": "scripted/say.yaml",
            "experiment": "quality",
            "answers": 12,
            "wave": 8,
            "scored": 0,
            "outside": 0,
            "late": 0,
        }
    ]
    after = load_waves(find_workspace())
    assert [len(taken) for taken in after.wave_digest_prefixes_by_group.values()] == [8, 4]
    assert all(
        before.wave_digest_prefixes_by_group[group] <= after.wave_digest_prefixes_by_group[group]
        for group in before.wave_digest_prefixes_by_group
    )
    content = file.read_bytes()
    done = genaipa("sample", "--size", "2")
    assert re.search(r"never shrinks.*\b2 of 2\b", done.out)
    assert file.read_bytes() == content


def test_only_scores_that_count_make_an_answer_scored(genaipa):
    """The sample counts an answer as unscored, and the desk asks for it, where only somebody left out scored it."""
    run = make_run("See section 2.")
    first, second, *_ = digests = [record.digest for record in run.read_records()]
    with scores_in("sqlite:///scores.db") as store:
        store.append_new_events([score("Cy", digest) for digest in digests] + [score("Bo", first)])
    write("desk.yaml", "left_out: {CY: scored without reading}\n")
    authorship = Authorship(key="k", answer=second, author="Bo", time="2026-01-01T00:00:00Z")
    asyncio.run(append_authorship(run, authorship))
    with scores_in("sqlite:///scores.db") as store:
        store.append_new_events([score("bo", second)])
    (row,) = json.loads(genaipa("sample", "--json").out)
    assert (row["answers"], row["scored"] + row["outside"]) == (12, 1)
    desk = opened()
    assert len(work(desk.queue, "Ada")) == 11
    desk.store.close()


def test_equal_texts_are_counted_once(genaipa):
    """The total is smaller than the table's sum where two systems gave the same texts, and says why."""
    make_run("See section 2.", "See section 2.")
    done = genaipa("sample", "--size", "4")
    assert [row.split()[-3] for row in done.out.splitlines() if "scripted/" in row] == ["4", "4"]
    assert re.search(r"\b4 answers.*counted once.*\b4 still", done.out)


def test_a_file_that_says_something_else_is_refused(genaipa):
    """A file that was edited, or that is of another workspace, is one sentence, and it stays as it is."""
    make_run()
    assert genaipa("sample", "--size", "4").code == 0
    file = Path("waves.jsonl")
    good = file.read_bytes()
    file.write_bytes(good[:-20])
    said = genaipa("validate")
    assert said.code == 1
    fine, _, total = said.out.partition("1 error; ")[2].split()[:3]
    assert int(fine) == int(total) - 1
    assert "waves.jsonl" in said.out
    newer = good.replace(b'"format":1', b'"format":9', 1)
    other = encode_waves(draw(study(2, 2)))
    for content, told in (
        (good.replace(b'"sizes":[4]', b'"sizes":[5]'), "was changed after genaipa wrote it"),
        (good[:-20], "was changed after genaipa wrote it"),
        (b"", "was changed after genaipa wrote it"),
        (newer, "was written by a newer version of genaipa (format 9; this version reads 1); upgrade genaipa."),
        (other, "belongs to another workspace: none of the 4 answers in its draws is here"),
    ):
        file.write_bytes(content)
        for command in (("sample",), ("score", "--no-browser"))[: 1 + (content == other)]:
            done = genaipa(*command)
            assert done.code == 2, content
            assert told in done.err, content
            assert "Traceback" not in done.err
        assert file.read_bytes() == content


@pytest.mark.parametrize("given", ["0", "-1", "many", "²"])
def test_a_size_that_is_none(genaipa, given):
    """The desk takes a number of answers, or all."""
    make_run()
    done = genaipa("score", "--no-browser", "--sample", given)
    assert done.code == 2
    assert "--sample needs a number of answers, or 'all'" in done.err


def test_a_record_that_is_replaced_leaves_the_draw(genaipa):
    """What came in its place is drawn from beside it, what was drawn stays, and the command says what is gone."""
    run = make_run()
    assert genaipa("sample", "--size", "4").code == 0
    before = load_waves(find_workspace())
    [old] = [
        record
        for record in answers(run)
        if digest_prefix_used_in_waves(record.digest) == next(iter(sorted(before.all_wave_digest_prefixes)))
    ]
    document = AnswerPool(find_workspace(), [run]).answers[old.digest].document_digest
    new = msgspec.structs.replace(old, reply="No.", digest=answer_digest(document, old.asked, "No."))
    with (run.path / "answers.jsonl").open("ab") as file:
        file.write(journal.encode_record_line(new))
    done = genaipa("sample")
    assert "1 answer available to the draws can no longer be scored" in done.out
    after = load_waves(find_workspace())
    assert after.draws[0] == before.draws[0]
    assert after.all_wave_digest_prefixes == before.all_wave_digest_prefixes | {digest_prefix_used_in_waves(new.digest)}


# -- at the desk --


def opened(**settings: Any) -> Desk:
    """The desk of the working folder."""
    plan = {name: settings.pop(name) for name in ("per_answer", "order") if name in settings}
    return open_desk(DeskSettings(Path.cwd(), plan=ScoringPlan(**{"per_answer": 1, **plan}), **settings))


def test_the_desk_asks_for_the_wave():
    """It asks for these alone, document by document; skipped ones stay due, and two score each where two are wanted."""
    make_run("See section 2.", "See section 1.")
    desk = opened(sample=6, order="document", per_answer=2)
    queue, wave = desk.queue, desk.waves.all_wave_digest_prefixes
    assert desk.sample_note_or_empty == (
        "Only a random part of the answers is to be scored: 6 of 12 answers from each system and experiment; "
        "--sample all includes all."
    )
    inside = {digest for digest in desk.pool.answers if digest_prefix_used_in_waves(digest) in wave}
    assert len(inside) == 12
    skipped = queue.reserve_next_answer("Anna")
    queue.skip_answer("Anna", skipped)
    done = work(queue, "Anna")
    assert done[-1] == skipped
    assert set(done) == set(work(queue, "Bo")) == inside
    documents = [desk.pool.answers[digest].document for digest in queue.requested_answers_in_order_even_scored("Anna")]
    assert len(list(groupby(documents))) == len(set(documents))
    assert work(queue, "Cy") == []
    progress = queue.measure_scoring_progress("Cy")
    assert (progress.answers, progress.wanted, progress.given, progress.remaining) == (24, 24, 24, 0)
    # What only a larger wave asks for is hidden until then.
    assert queue.answers_analyst_may_still_score("Anna") == desk.pool.answers.keys() - inside
    assert set(work(queue, "reference")) == inside
    desk.store.close()
    larger = opened(sample=8, per_answer=2)
    assert larger.waves.all_wave_digest_prefixes > wave
    assert len(work(larger.queue, "Anna")) == 4
    larger.store.close()
    everything = opened(sample="all")
    assert everything.sample_note_or_empty == ""
    assert len(work(everything.queue, "Bo")) == 24 - 16
    assert load_waves(find_workspace()) == larger.waves
    everything.store.close()


def test_the_desk_mixes_occasions_and_names_none(genaipa):
    """One wave is drawn from the answers of two days: pairs, which come in an order of chance, without a date."""
    days = ("2026-05-01", "2026-06-01")
    dated(make_run("See section 2."), days[0])
    write("say.yaml", "default: See section 3.\n")
    dated(carry_out(spec(systems=("scripted/say.yaml",), documents=DOCUMENTS))[0], days[1])
    done = genaipa("sample", "--size", "16")
    assert done.code == 0, done.err
    desk = opened()
    day = {digest: one.occurrences[0].run[:10] for digest, one in desk.pool.answers.items()}
    page = Shown("scoring", desk)
    shown = page.text() + json.dumps(page.components())
    assert '"reference plain"' in shown
    assert [name for name in (*days, "2026-05", "scripted") if name in shown] == []
    order = work(desk.queue, EDSGER.name)
    assert Counter(day[digest] for digest in order) == dict.fromkeys(days, 8)
    pairs = Counter((desk.pool.answers[digest].question, desk.pool.answers[digest].document) for digest in order)
    assert set(pairs.values()) == {2}
    assert {day[digest] for digest in order[:8]} == {day[digest] for digest in order[8:]} == set(days)
    desk.store.close()


def grow(run: RunFolder, number: int, only: str = "") -> None:
    """Append so many answers to each question about each document, or about one."""
    documents = {a.document: a.document_digest for a in AnswerPool(find_workspace(), [run]).answers.values()}
    with (run.path / "answers.jsonl").open("ab") as file:
        for record in [record for record in answers(run) if record.repetition == 1 and only in record.document]:
            for place in range(number):
                reply, time = f"See section {place}, {number}.", 2 + place + number * 10
                digest = answer_digest(documents[record.document], record.asked, reply)
                file.write(journal.encode_record_line(repeat_record(record, time, reply, digest)))


def test_waves_are_the_default_for_what_is_larger(genaipa):
    """Up to 64 answers of a system and experiment all are asked for, and more in a wave of 64, drawn then."""
    run = make_run()
    done = genaipa("sample")
    assert done.code == 0, done.err
    assert "Nothing was drawn: no system has more than 64 answers in any experiment" in " ".join(done.out.split())
    small = opened()
    assert (
        small.sample_note_or_empty,
        Path("waves.jsonl").exists(),
        len(small.queue.requested_answers_in_order_even_scored("Anna")),
    ) == (
        "",
        False,
        12,
    )
    [one, two] = work(small.queue, "Anna", 2)
    small.store.close()
    grow(run, 6)
    desk = opened()
    assert len(desk.pool.answers) == 84, desk.pool.problems[:2]
    assert len(desk.waves.all_wave_digest_prefixes) == 64
    # What was scored before chance came in counts as itself.
    assert desk.waves.all_wave_digest_prefixes.isdisjoint(
        {digest_prefix_used_in_waves(one), digest_prefix_used_in_waves(two)}
    )
    [found] = measure_standings_of_wave_groups(
        desk.waves, desk.pool.answers.values(), desk.current.refresh_and_list_all_scored_answers()
    )
    assert found[2:] == (84, 64, 0, 2, 0)
    # It goes on with what it has, and says what came later.
    grow(run, 2, only="acme")
    desk.pool.read_new_answers()
    assert desk.queue.measure_scoring_progress("Anna").wanted == 64
    assert desk.sample_note_or_empty.endswith(
        " 8 answers came later; to sample from later answers, open the desk again."
    )
    desk.store.close()
    again = opened()
    assert again.waves.draws[0].questions == desk.waves.draws[0].questions
    assert again.waves.all_wave_digest_prefixes > desk.waves.all_wave_digest_prefixes
    assert [(d.population_size, d.wave_answer_count) for d in again.waves.draws] == [(82, 64), (8, 6)]
    again.store.close()


def test_sample_and_sheet_go_by_the_plan(genaipa):
    """The plan's size is drawn, a size that is given comes before it, and a sheet has the answers that were drawn."""
    make_run()
    write("desk.yaml", "plan: {sample: 3}\n")
    assert "The random part has 3 answers" in genaipa("sample").out
    told = genaipa("sample", "--size", "4").out
    assert "The random part has 4 answers" in told
    assert "The plan in desk.yaml says sample: 3" in " ".join(told.split())
    sheet = genaipa("scores", "sheet", "latest", "-o", "a.xlsx").out
    assert "4 answers to score. Outside the random part: 8 more answers." in " ".join(sheet.split())
    assert "12 answers to score." in genaipa("scores", "sheet", "latest", "--all", "-o", "b.xlsx").out


def test_nothing_is_left_to_draw_from(genaipa):
    """Where people have scored everything, that is the reason, and there is nothing to advise but the report."""
    make_run()
    desk = opened()
    work(desk.queue, "Anna", 12)
    desk.store.close()
    told = " ".join(genaipa("sample", "--size", "4").out.split())
    assert "Nothing was drawn: people have already scored all 12 answers" in told
    assert "--size N" not in told
    assert told.endswith("Next: genaipa report")


def test_a_filter_of_the_desk_draws_nothing_of_its_own(genaipa, monkeypatch):
    """Answers about one document alone are offered, of a wave that is drawn from all of them."""
    make_run()
    only = Filters(documents=("acme",))
    settings = DeskSettings(Path.cwd(), only=only, sample=6, plan=ScoringPlan(per_answer=1))
    monkeypatch.setenv(*next(iter(settings.to_environment().items())))
    assert read_settings_from_environment() == settings
    desk = open_desk(settings)
    assert {answer.document for answer in desk.pool.answers.values()} == {"acme"}
    assert len(desk.waves.all_wave_digest_prefixes) == 6
    assert 0 < desk.queue.measure_scoring_progress("Anna").wanted < 6
    assert load_waves(find_workspace()).draws[0].population_size == 12
    desk.store.close()
    write("desk.yaml", "plan: {sample: all}\n")
    Path("waves.jsonl").unlink()
    assert "the plan in desk.yaml (sample: all)" in " ".join(genaipa("sample").out.split())
    assert not Path("waves.jsonl").exists()
