"""The error of an average when people score a part of the answers: a wave, as many at random, or whole documents.

    python -m benchmarks.waves [--quick] [--answers 1000000]

Studies of 32 questions about five documents are drawn with the published study's variances (`benchmarks.coverage`), and
64 of their 160 answers are scored. The error is that of the average over all 160; an interval is right if it holds what
it speaks of: other questions about these documents, or other documents too. Then it draws a wave from so many answers,
and prints the seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from benchmarks.__main__ import print_table
from benchmarks.coverage import PUBLISHED
from genaipa.reports.crossed import estimate_crossed_mean
from genaipa.runs.records import answer_digest
from genaipa.scoring.answers import Occurrence, PooledAnswer
from genaipa.scoring.waves import (
    SIZE,
    Waves,
    compute_wave_inclusion_and_chance,
    digest_prefix_used_in_waves,
    encode_waves,
)

QUESTIONS, DOCUMENTS = 32, 5
MEAN = 72.0


def answers(systems: int, questions: int, documents: int, times: int = 1) -> Iterator[PooledAnswer]:
    """Yield a study's answers, all different."""
    for system in range(systems):
        for document in range(documents):
            for question in range(questions):
                for repetition in range(times):
                    digest = answer_digest(f"d{document}", f"q{question}", f"{system} {repetition}")
                    place = Occurrence(
                        run="run",
                        key=f"s{system}|d{document}|document|original|{repetition}|q{question}",
                        system=f"s{system}",
                        document=f"d{document}",
                        initialization="document",
                        wording="original",
                        repetition=repetition,
                        question=f"q{question}",
                        category="",
                        offset=0,
                    )
                    yield PooledAnswer(digest, f"d{document}", "policy", "answered", [place])


def _in_wave(study: list[PooledAnswer]) -> Callable[[int], np.ndarray]:
    def chosen(seed: int) -> np.ndarray:
        asked = (
            Waves().extend_groups_to_size(study, size_of_each_group=SIZE, seed=seed, time="").all_wave_digest_prefixes
        )
        return np.array([digest_prefix_used_in_waves(answer.digest) in asked for answer in study])

    return chosen


def _at_random(seed: int) -> np.ndarray:
    return np.isin(np.arange(QUESTIONS * DOCUMENTS), np.random.default_rng(seed).permutation(160)[:SIZE])


def _by_document(seed: int) -> np.ndarray:
    return np.repeat(np.isin(np.arange(DOCUMENTS), np.random.default_rng(seed).permutation(DOCUMENTS)[:2]), QUESTIONS)


def errors(studies: int) -> list[tuple[object, ...]]:
    """Each way to choose 64 of 160 answers: the error of the average, and how often the intervals are right."""
    study = list(answers(1, QUESTIONS, DOCUMENTS))
    questions, documents = (np.array([getattr(answer, of) for answer in study]) for of in ("question", "document"))
    ways = {"a wave": _in_wave(study), "at random": _at_random, "document by document": _by_document}
    found: dict[str, list[tuple[float, bool, bool]]] = {way: [] for way in ways}
    for seed in range(studies):
        random = np.random.default_rng([seed, 1])
        of_questions, of_documents, rest = (
            random.normal(0, variance**0.5, size)
            for variance, size in zip(PUBLISHED, (QUESTIONS, DOCUMENTS, (DOCUMENTS, QUESTIONS)), strict=True)
        )
        values = (MEAN + of_documents[:, None] + of_questions + rest).ravel()
        these = MEAN + of_documents.mean()
        for way, choose in ways.items():
            part = choose(seed)
            made = estimate_crossed_mean(
                values[part], questions[part], documents[part], limits=(MEAN - 500, MEAN + 500)
            )
            right = made.low <= these <= made.high, made.policies_low <= MEAN <= made.policies_high
            found[way].append((made.mean - values.mean(), *right))
    rows = []
    for way, each in found.items():
        table = np.array(each, dtype=float)
        rows.append(
            (way, f"{np.sqrt((table[:, 0] ** 2).mean()):.2f}", *(f"{x:.3f}" for x in table[:, 1:].mean(axis=0)))
        )
    return rows


def seconds(number: int) -> list[tuple[object, ...]]:
    """Return the seconds for a wave of so many answers of ten systems: to draw, as a file, and each answer's chance."""
    study = list(answers(10, QUESTIONS, 100, max(1, number // (10 * QUESTIONS * 100))))
    begun = time.perf_counter()
    waves = Waves().extend_groups_to_size(study, size_of_each_group=SIZE, seed=0, time="")
    drawn = time.perf_counter()
    content = encode_waves(waves)
    kept = time.perf_counter()
    frame = pd.DataFrame(
        {
            "system": [answer.occurrences[0].system for answer in study],
            "experiment": "quality",
            "answer": [answer.digest for answer in study],
        }
    ).astype("category")
    made = time.perf_counter()
    assert compute_wave_inclusion_and_chance(frame, waves)["in_wave"].sum() == 10 * SIZE
    done = time.perf_counter()
    row = (f"{len(study):,}", f"{drawn - begun:.1f}", f"{kept - drawn:.1f}", f"{len(content) / 2**20:.0f}")
    return [(*row, f"{done - made:.1f}")]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two hundred studies, and 100,000 answers")
    parser.add_argument("--answers", type=int, default=1_000_000)
    wanted = parser.parse_args()
    heads = ["64 of 160 answers", "error, M_all", "these documents", "policies like these"]
    print_table(heads, errors(200 if wanted.quick else 4000))
    heads = ["answers", "draw, s", "write, s", "MiB", "each answer's chance, s"]
    print_table(heads, seconds(100_000 if wanted.quick else wanted.answers))


if __name__ == "__main__":
    main()
