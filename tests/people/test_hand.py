"""Nothing that the desk sends to whoever scores tells an answer that a person wrote from a machine's."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict

from pages import Shown, desk_here
from running import carry_out, make_workspace, spec, write
from size import size

from genaipa.execution.prepare import prepare_resumed_run
from genaipa.execution.run import open_manual_run_without_lock
from genaipa.scoring.people import User
from genaipa.workspace import find_workspace

QUESTIONS = size(small=3, soak=60)
SYSTEM = "lawyers"
"""A short name of one's own, which no page may show, and no answer is masked for."""
WORDS = ("quorix", "zuplan", "mivexo", "lurbat", "denqus", "pyrwol")[: size(small=2, soak=6)]
MACHINES = tuple(f"scripted/kappa{number}.yaml" for number in range(len(WORDS)))
REPLY = "Lawyers and people at baseline say {}: it keeps your address for one year (Section 3)."
WRITERS = ("Ada Lee", "Bo")


def make_run_with_people() -> None:
    """A run of two machines and of people, whose answers are alike but for one word that no document has."""
    make_workspace(questions=QUESTIONS)
    for machine, word in zip(MACHINES, WORDS, strict=True):
        write(machine.partition("/")[2], f"default: '{REPLY.format(word)}'\n")
    write("systems.yaml", "systems: {lawyers: {system: people/lawyers}}\n")
    folder, _ = carry_out(spec(systems=(SYSTEM, *MACHINES)))
    prepared = prepare_resumed_run(find_workspace(), folder.name)
    with prepared.open_or_create_folder().hold_for_writing_and_list_repairs():
        manual = asyncio.run(open_manual_run_without_lock(prepared))
        keys = [key for _, key in manual.sheets_and_keys_missing_replies()]
        for key, writer in zip(keys, WRITERS * len(keys), strict=False):
            replies = {key: REPLY.format("vomtre")}
            asyncio.run(manual.record_replies(replies, author=writer, seconds={key: 321.5}))


def draw_screens() -> dict[str, dict[bool, set[str]]]:
    """Question → whether people wrote the answer → what a browser was sent of each, but for its own word."""
    # Chance withholds aids from some answers, by their digests; it knows as little who wrote them.
    desk = desk_here(per_answer=1.0, evidence=False, nearest=False)
    screens: dict[str, dict[bool, set[str]]] = defaultdict(lambda: {True: set(), False: set()})
    for number in range(len(desk.pool.answers)):
        sent = Shown("scoring", desk, User(f"analyst {number:03}", scores=True, adjudicates=False)).components()
        text = json.dumps({name: data for name, data in sent.items() if name != "following"}, sort_keys=True)
        digest = sent["answer"]["answer"]
        answer = desk.pool.answers[digest]
        for secret in (*WRITERS, "lawyers|", "people/", "scripted", "321.5", "by hand", "kappa"):
            assert secret not in text, secret
        assert "Lawyers and people at baseline" in text, "an ordinary word is masked in nobody's answer"
        plain = re.sub(r"[0-9a-f]{64}", "D" * 64, re.sub("|".join((*WORDS, "vomtre")), "word", text))
        plain = re.sub(r"analyst \d{3}|[0-9a-f]{32}", "-", plain)
        screens[answer.question][answer.occurrences[0].system == SYSTEM].add(plain)
    return screens


def test_a_persons_answer_is_sent_as_a_machines_is():
    """Every key, class, number and line of evidence is the same, on whatever screen; only the words differ."""
    make_run_with_people()
    screens = draw_screens()
    assert len(screens) == QUESTIONS
    for both in screens.values():
        assert len(both[True]) == 1
        assert both[True] == both[False]


def test_the_order_of_work_does_not_tell():
    """Over many analysts, answers of people come neither earlier nor later than those of machines."""
    make_run_with_people()
    queue = desk_here(per_answer=2.0).queue
    written = {digest for digest, answer in queue.pool.answers.items() if answer.occurrences[0].system == SYSTEM}
    orders = [queue.requested_answers_in_order_even_scored(f"analyst {number}") for number in range(200)]
    mean_place = sum(order.index(digest) for order in orders for digest in written) / (len(orders) * len(written))
    assert abs(mean_place / (len(queue.pool.answers) - 1) - 0.5) < 0.05
    firsts = sum(order[0] in written for order in orders) / len(orders)
    assert 0.5 < firsts * (len(MACHINES) + 1) < 1.5
