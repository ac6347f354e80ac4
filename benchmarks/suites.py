"""Measure suites: runs beside the bare loop that sends the same bodies; caches; loading a data set; scoring replies.

    python -m benchmarks.suites [--quick]

The runs are of 1,920 questions over 64 connections, against the others' server: made-up ones in PolicyQA's form, and
the 40 counterfactual edits of Brindlecart, sixteen times over. These are asked once of servers that keep each vendor's
rule for its cache, too.
Loaded and scored is what is made up, too, as large as the published test splits: PolicyQA's 4,152 questions, and
PrivacyQA's 62,150 pairs (400 questions, each about all sentences of its policy). Pulled data sets are loaded as well.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.__main__ import SERVER, Bench, Scale, alternated, beside, print_table
from benchmarks.measure import serving
from benchmarks.workload import SYSTEM, Workload
from genaipa.datasets.base import iterate_loadable_datasets
from genaipa.errors import GenaipaError
from genaipa.tasks.catalog import make_task
from genaipa.workspace import Workspace, find_workspace
from genaipa_suites.catalog import load_suite_classes
from genaipa_suites.material import Outcome
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec
from genaipa_suites.suite import Suite

POLICYQA, POLICIES, QUESTIONS, SENTENCES = 4152, 8, 50, 1243
"""Questions of PolicyQA's test split; policies, questions about each, and sentences of PrivacyQA's."""
_TEXT = "we may share your data with partners who keep it for years unless you ask us to delete all of it"
_WORDS = _TEXT.split()
SAID = " ".join(_WORDS[:10])
"""The server's answer to every question."""
EDITS = 24
"""A fifth of the questions about the edits of a policy, 40 about each of its three texts."""


def suite(name: str, split: str, here: Workspace) -> Suite:
    """Return a suite that is asked about a split."""
    made = make_task(make_suite_run_spec(name, SuiteOptions(split), (SYSTEM,)), here)
    assert isinstance(made, Suite)
    return made


def words(draw: random.Random, count: int) -> str:
    """So many words."""
    return " ".join(draw.choices(_WORDS, k=count))


def write_policyqa(file: Path, number: int) -> None:
    """Questions in PolicyQA's form, as long as the published ones, each about a text of its own."""
    draw, paragraphs = random.Random(7), []
    for place in range(number):
        # The server's answer is in every text, as most assistants' are.
        context = f"Segment {place}: {words(draw, 40)} {SAID} {words(draw, 30)}."
        spans = [" ".join(context.split()[begin : begin + 10]) for begin in (3, 40)]
        answers = [{"text": span, "answer_start": context.index(span)} for span in spans]
        asked = {"id": f"q{place}", "question": words(draw, 9), "answers": answers}
        kind = "Data Security|||Security Measure|||Generic"
        paragraphs.append({"index": place, "context": context, "summary": [], "qas": [asked | {"type": kind}]})
    file.parent.mkdir(parents=True, exist_ok=True)
    data = [{"title": f"made{number}.com", "paragraphs": paragraphs[number::20]} for number in range(20)]
    file.write_text(json.dumps({"version": "1", "data": data}), encoding="utf-8")


def write_privacyqa(file: Path) -> None:
    """Return a table in the form of PrivacyQA's test split, and as large."""
    draw, lines = random.Random(7), []
    annotators = [f"Ann{number}" for number in range(1, 7)]
    header = ["Folder", "DocID", "QueryID", "SentID", "Split", "Query", "Segment", "Any_Relevant", *annotators]
    for policy in range(POLICIES):
        sentences = [
            words(draw, 22) for _ in range(SENTENCES * (policy + 1) // POLICIES - SENTENCES * policy // POLICIES)
        ]
        for question in range(QUESTIONS):
            asked = words(draw, 8)
            for number, sentence in enumerate(sentences):
                labels = [draw.choices(("Relevant", "Irrelevant"), (1, 19))[0] for _ in range(3)]
                any_of = "Relevant" if "Relevant" in labels else "Irrelevant"
                ids = ["", f"made{policy}", f"made{policy}_{question}", f"made{policy}_{question}_{number}", "test"]
                lines.append("\t".join([*ids, asked, sentence, any_of, *labels, "None", "None", "None"]))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["\t".join(header), *lines]) + "\n", encoding="utf-8")


def asking(bench: Bench, workload: Workload, name: str, split: str, repetitions: int) -> list[Sequence[object]]:
    """Return the run beside the bare loop."""
    asked = suite(name, split, find_workspace(bench.workspace))
    form = {"name": "reply", "schema": dict(asked.schema), "strict": True}
    introductions, conversations = {}, []
    for item in asked.material.items:
        *before, question = asked.messages(item)
        introductions[item.document] = [{"role": one.role, "content": one.content} for one in before]
        conversations.append([item.document, [question.content]])
    made = {
        "introductions": introductions,
        "conversations": conversations * repetitions,
        "fields": {"response_format": {"type": "json_schema", "json_schema": form}},
    }
    file = bench.workspace / f"{name}.json"
    file.write_text(json.dumps(made), encoding="utf-8")
    options = ("run", "--suite", name, "--split", split, "--system", SYSTEM, "--repetitions", str(repetitions), "--new")
    bare, run = alternated(
        bench.scale.rounds,
        lambda: bench.loop(workload, file),
        lambda: bench.asked(bench.genaipa(*options, "--max-connections", str(workload.connections))),
    )
    return beside(name, workload, bare, "genaipa run", run)


def caches(bench: Bench, says: str) -> None:
    """Return the share of documents that comes from each vendor's cache, and the estimates."""
    command = ("run", "--suite", "counterfactual", "--new", "--system")
    said = bench.python("-m", "benchmarks.caches", "--says", says, str(bench.workspace), *command).out
    rows = [(f"counterfactual, {row[0]}", *row[1:]) for row in map(json.loads, said.splitlines())]
    print_table(("suite", "questions", "from the cache", "estimate: input", "output", "cost"), rows)


def timed(work: Callable[[], object]) -> tuple[float, object]:
    """Seconds of processor time, and what came of it."""
    begun = time.process_time()
    made = work()
    return time.process_time() - begun, made


def scoring(here: Workspace) -> None:
    """Measure loading a split of the published size, and scoring right and wrong replies to all of it."""
    write_policyqa(here.home / "suites" / "policyqa" / "large.json", POLICYQA)
    write_privacyqa(here.home / "suites" / "privacyqa" / "large.csv")
    rows = []
    for name, said in (
        ("policyqa", lambda item: {"answer": item.gold[0]}),
        ("privacyqa", lambda _item: {"sentences": [1, 5, 60]}),
    ):
        asked = suite(name, "large", here)
        loading, loaded = timed(lambda asked=asked: asked.load("large"))
        replies = [json.dumps(said(item)) for item in loaded.items]
        assert asked.material.items, "loaded for the scorer"

        def score(asked: Suite = asked, replies: list[str] = replies) -> list[float]:
            each = zip(asked.material.items, replies, strict=True)
            outcomes = [Outcome(item, asked.parse_reply(item, one)) for item, one in each]
            assert not any(outcome.parsed.fault for outcome in outcomes), "the replies fit the schema"
            return [measure.compute(outcomes) for measure in asked.measures]

        seconds, _ = timed(score)
        rows.append((f"{name}, {len(loaded.items):,} items", f"{loading:.2f}", f"{seconds:.2f}"))
    print_table(("made up, as large as published", "loading, s", "scoring, s"), rows)


def loading(here: Workspace) -> None:
    """Measure loading the pulled data."""
    rows = []
    for name, kind in load_suite_classes().items():
        for split in getattr(kind, "splits", ()):
            try:
                seconds, loaded = timed(lambda name=name, split=split: suite(name, split, here).load(split))
            except GenaipaError:
                continue
            rows.append((f"{name}, {split}", f"{len(loaded.items):,}", f"{seconds:.2f}"))
    if rows:
        print_table(("pulled", "items", "loading, s"), rows)
    else:
        print(f"\nnothing is pulled of: {', '.join(one.name for one in iterate_loadable_datasets())}")


def main() -> None:
    """Measure all of it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suites", description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one round, of 160 questions")
    scale = Scale(rounds=1, repetitions=1) if parser.parse_args().quick else Scale()
    workload = Workload("independent", scale.repetitions, 64)
    answers = {"policyqa": {"answer": SAID}, "counterfactual": {"answer": "for 90 days", "quote": SAID}}
    says = {name: json.dumps(answer) for name, answer in answers.items()}
    edits = Workload("independent", workload.requests // (5 * EDITS), 64, limit=EDITS)
    ways = (("policyqa", "asked", workload, 1), ("counterfactual", "brindlecart", edits, edits.repetitions))
    rows: list[Sequence[object]] = []
    with tempfile.TemporaryDirectory(prefix="genaipa-benchmark-") as folder:
        (Path(folder) / "genaipa.toml").touch()
        write_policyqa(Path(folder) / "suites" / "policyqa" / "asked.json", workload.requests)
        for name, split, asked, repetitions in ways:
            with serving([*SERVER, "--says", says[name]]) as url:
                bench = Bench(Path(folder), url, scale)
                rows += asking(bench, asked, name, split, repetitions)
        print_table(("suite", "", "asking, s", "x ideal", "command, s", "processor, s", "MiB"), rows)
        caches(bench, says["counterfactual"])
        here = find_workspace(Path(folder))
        scoring(here)
        loading(here)


if __name__ == "__main__":
    main()
