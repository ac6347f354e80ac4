"""One study, 22 houses: how long a split and a join take, whether a forger is named, and how often chance is blamed.

    python -m benchmarks.partners [--answers 3000] [--draws 400]

Ten systems a few points apart answer questions about policies in three languages; 22 partners score them, three by
spreadsheet and the others through the store. One partner is 10 points harsh. Each value is drawn so that M_all is right
on average, with a standard deviation of about 15 points, beside 10 of the answers.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.__main__ import print_table
from benchmarks.made_partners import write_study
from genaipa.answers.gather import gather_study_with_stored_scores
from genaipa.archive.study_pack import unpack_for_scoring_unless_done
from genaipa.files.stamps import now
from genaipa.reports.figures.figure import FigureScope
from genaipa.runs.selection import select_runs_and_apply_filters
from genaipa.scoring.events import Event, new_event_id
from genaipa.scoring.rubric import shipped_rubric
from genaipa.scoring.store import ScoreStore
from genaipa.workspace import find_workspace
from genaipa_partners.chapter import PartnersChapter
from genaipa_partners.returning import ENDING
from genaipa_partners.severity import (
    average_without_partner_severity,
    fit_partner_severities,
    measure_partner_severities,
)
from genaipa_partners.split import load_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.stats.arrays import Floats, Labels
    from genaipa_partners.severity import AdjustedMean, PartnerSeverity
    from genaipa_partners.split import StudySplit

PARTNERS, SYSTEMS, HARSH, FORGER = 22, 10, "house-7", "house-12"
LANGUAGES = ("en", "de", "fr")
GAP, SPREAD, SEVERITY, VARIED = 3.0, 10.0, -10.0, 5.0
"""Points of M_all between two systems; standard deviation of answers; what harshness adds; deviation of severities."""
NAMES = [f"house-{number + 1}" for number in range(PARTNERS)]
SYSTEM_NAMES = [f"openai-api/loop/model-{number}" for number in range(SYSTEMS)]


def draw_values(wanted: Floats, random: np.random.Generator) -> Floats:
    """Draw five values of -1, 0.5 and 1 for each M_all that is wanted on average."""
    mean = np.clip((wanted - 55) / 45, -1, 1)[:, None]
    chance = random.random((len(wanted), 5))
    low = np.where(chance < (mean + 1) / 1.5, 0.5, -1.0)
    high = np.where(chance < (mean - 0.5) / 0.5, 1.0, 0.5)
    return np.where(mean <= 0.5, low, high)


def run(*arguments: str | Path, home: Path) -> tuple[str, float, float]:
    """Call the command line in a process; what it printed, and its wall and processor seconds."""
    begun, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-m", "genaipa", *map(str, arguments)], cwd=home, capture_output=True, text=True, check=False
    )
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout + done.stderr, time.perf_counter() - begun, spent


def make_home(home: Path, answers: int) -> None:
    """Write the coordinator's workspace."""
    documents = {f"{language}-{n}": language for n in range(10) for language in LANGUAGES}
    sentence = "We keep what you tell us for a year, unless the law asks for more. "

    def reply(system: str, document: str, question: str) -> str:
        name, variant = system.rpartition("/")[2], SYSTEM_NAMES.index(system)
        return f"I am {name}. On {question} of {document}, in words {variant}: {sentence * 8}"

    questions = round(answers / SYSTEMS / len(documents))
    write_study(home, SYSTEM_NAMES, documents, questions, reply, text=f"{sentence}\n\n" * 300)


def score_packs(home: Path, split: StudySplit, quality: dict[str, float], random: np.random.Generator) -> None:
    """Score every pack: three by spreadsheet, the others through the store; and send what was scored."""
    rubric = shipped_rubric()
    for turn, share in enumerate(split.partners):
        folder = unpack_for_scoring_unless_done(home / "packs" / f"{share.name}.zip")
        digests = list(share.answers)
        off = SEVERITY if share.name == HARSH else 0.0
        wanted = np.array([quality[share.answers[digest][0]] + off for digest in digests])
        rows = draw_values(wanted, random)
        values = {
            digest: dict(zip(rubric.metrics, row.tolist(), strict=True))
            for digest, row in zip(digests, rows, strict=True)
        }
        if turn < 3:
            fill_sheet(folder, values)
        else:
            store = ScoreStore.open_or_create(f"sqlite:///{folder / 'scores.db'}")
            store.append_new_events(
                [
                    Event(new_event_id(), now(), "score", "Ada", digest, values=rubric.make_values(by_metric))
                    for digest, by_metric in values.items()
                ]
            )
            store.close()
        said, _, _ = run("study", "send", folder, "-o", home / f"{share.name}{ENDING}", home=home)
        assert "The last digest" in said, said


def fill_sheet(folder: Path, values: dict[str, dict[str, float]]) -> None:
    """Score a pack by a spreadsheet."""
    from openpyxl import load_workbook

    run("scores", "sheet", "latest", "--analyst", "Ada", "-o", "a.xlsx", home=folder)
    book = load_workbook(folder / "a.xlsx")
    sheet = book["scores"]
    names = [cell.value for cell in sheet[1]]
    for row in sheet.iter_rows(min_row=2):
        given = values[str(row[names.index("digest")].value)]
        for cell, name in zip(row, names, strict=True):
            if name in given:
                cell.value = given[str(name)]
    book.save(folder / "a.xlsx")
    said, _, _ = run("scores", "import", "a.xlsx", home=folder)
    assert f"{len(values)} new" in said, said


def measure_commands(home: Path, answers: int, random: np.random.Generator) -> tuple[StudySplit, dict[str, Any]]:
    """Split, score, forge, join in three orders and report; the split, and what the table says."""
    make_home(home, answers)
    languages = ",".join(f"{name}={LANGUAGES[n % 3]}" for n, name in enumerate(NAMES))
    runs = ",".join(f"run-{n + 1}" for n in range(SYSTEMS))
    options = ("--partners", ",".join(NAMES), "--languages", languages, "--shared", "10%", "-o", "packs")
    said, wall, spent = run("study", "split", runs, *options, home=home)
    results: dict[str, Any] = {"split: seconds, processor": f"{wall:.1f}, {spent:.1f}"}
    split = load_split(find_workspace(home))
    quality, truth = draw_quality(home, random)
    score_packs(home, split, quality, random)
    files = [home / f"{name}{ENDING}" for name in NAMES]
    forged = home / f"{FORGER}{ENDING}"
    genuine = forged.read_text()
    lines = genuine.splitlines()
    lines[40] = lines[40].replace(":-1.0", ":1.0").replace(":0.5", ":1.0")
    forged.write_text("\n".join(lines) + "\n")
    said, _, _ = run("study", "join", *files, home=home)
    results["forger named"] = next((line for line in said.splitlines() if forged.name in line), said)
    forged.write_text(genuine)
    exports = []
    for turn in range(3):
        copy = home.parent / f"order-{turn}"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("packs"))
        order = [files, files[::-1], random.permutation(files).tolist()][turn]
        said, wall, spent = run("study", "join", *order, home=copy)
        results["join: seconds, processor"] = f"{wall:.1f}, {spent:.1f}"
        run("scores", "export", "-o", "all.jsonl", home=copy)
        exports.append((copy / "all.jsonl").read_bytes())
    results["three orders"] = "the same bytes" if len(set(exports)) == 1 else "other bytes"
    results["events joined"] = exports[0].count(b"\n")
    workspace = find_workspace(home.parent / "order-0")
    begun = time.process_time()
    study = gather_study_with_stored_scores(workspace, select_runs_and_apply_filters(workspace, ()))
    chapter = PartnersChapter().make(study, FigureScope())
    assert chapter is not None
    results["study and chapter: processor"] = f"{time.process_time() - begun:.1f}"
    results["stands out"] = " ".join(PartnersChapter().notable(study))
    ranking = chapter.tables[1].data
    results["ranking, and as it is"] = f"{''.join(n[-1] for n in ranking['system'])}, {truth}"
    return split, results


def draw_quality(home: Path, random: np.random.Generator) -> tuple[dict[str, float], str]:
    """Draw the quality of each answer by its digest; with it the true order of the systems, by their numbers."""
    quality = {}
    for number in range(SYSTEMS):
        for line in (home / "runs" / f"run-{number + 1}" / "answers.jsonl").read_text().splitlines():
            digest = line.partition('"digest":"')[2][:64]
            quality[digest] = 50 + GAP * number + random.normal(0, SPREAD)
    return quality, "".join(str(number) for number in reversed(range(SYSTEMS)))


def draw_studies(split: StudySplit, home: Path, draws: int, random: np.random.Generator) -> list[tuple[str, str]]:
    """Score the same packs again and again, with a harsh partner and without; rates, in words."""
    system_of: dict[str, int] = {}
    for number in range(SYSTEMS):
        for line in (home / "runs" / f"run-{number + 1}" / "answers.jsonl").read_text().splitlines():
            system_of[line.partition('"digest":"')[2][:64]] = number
    digests = {digest: place for place, digest in enumerate(system_of)}
    pairs = [
        (place, digests[originals[0]])
        for place, share in enumerate(split.partners)
        for originals in share.answers.values()
    ]
    partners, answers = (np.array(column) for column in zip(*pairs, strict=True))
    system = np.array(list(system_of.values()))
    held = np.bincount(answers, minlength=len(system))
    # Everyone has one language; what several have is compared by answer.
    cells = np.where(held[answers] > 1, -1, system[answers] * len(LANGUAGES) + partners % len(LANGUAGES))
    harsh = NAMES.index(HARSH)
    counts = dict.fromkeys(
        ("found", "innocent", "alarm", "within", "kept", "order", "level", "like", "varied", "covers"), 0
    )
    shift: list[float] = []
    raw_shift: list[float] = []
    turned: list[float] = [0.0]
    for _ in range(draws):
        quality = 50 + GAP * system + random.normal(0, SPREAD, len(system))
        state = random.bit_generator.state
        sides: list[list[AdjustedMean]] = []
        for off in (SEVERITY, 0.0):
            random.bit_generator.state = state
            severity = np.zeros(PARTNERS)
            severity[harsh] = off
            values = 55 + 9 * draw_values(quality[answers] + severity[partners], random).sum(axis=1)
            severities, means = measure_study(values, partners, answers, cells, system)
            others = [partner.stands_out for place, partner in enumerate(severities) if place != harsh]
            if off:
                counts["found"] += severities[harsh].stands_out
                counts["innocent"] += any(others)
                counts["covers"] += severities[harsh].low < SEVERITY < severities[harsh].high
            else:
                counts["alarm"] += any(partner.stands_out for partner in severities)
            sides.append(means)
        order = compare_rankings(*sides)
        counts["within"] += order.within
        counts["kept"] += order.kept
        counts["order"] += not order.turned
        turned += order.turned
        for moves, column in ((shift, "adjusted"), (raw_shift, "mean")):
            moves.append(max(abs(getattr(a, column) - getattr(b, column)) for a, b in zip(*sides, strict=True)))
        severity = random.normal(0, VARIED, PARTNERS)
        values = 55 + 9 * draw_values(quality[answers] + severity[partners], random).sum(axis=1)
        for s, mean in enumerate(measure_study(values, partners, answers, cells, system)[1]):
            counts["varied"] += mean.partners_low < 50 + GAP * s < mean.partners_high
        for s, mean in enumerate(sides[1]):
            counts["level"] += mean.low < 50 + GAP * s < mean.high
            counts["like"] += mean.partners_low < 50 + GAP * s < mean.partners_high
    return [
        ("a partner 10 points harsh is found", f"{counts['found']} of {draws}"),
        ("its interval holds 10 points", f"{counts['covers']} of {draws}"),
        ("another is blamed beside it", f"{counts['innocent']} of {draws}"),
        ("anybody is blamed where nobody is harsh", f"{counts['alarm']} of {draws}"),
        ("each system's mean stays within its interval without the harsh partner", f"{counts['within']} of {draws}"),
        ("systems further apart than half an interval keep their order", f"{counts['kept']} of {draws}"),
        ("all ten systems keep their order", f"{counts['order']} of {draws}"),
        ("two that change places were apart by, at most (points)", f"{max(turned):.2f}"),
        ("largest move of a mean by that, median (points)", f"{np.median(shift):.2f}"),
        ("the same with severities left in", f"{np.median(raw_shift):.2f}"),
        ("interval for these partners holds the truth", f"{counts['level']} of {draws * SYSTEMS}"),
        ("interval for partners like these holds the truth", f"{counts['like']} of {draws * SYSTEMS}"),
        (f"the same where severities vary by {VARIED:.0f} points", f"{counts['varied']} of {draws * SYSTEMS}"),
    ]


def measure_study(
    values: Floats, partners: Labels, answers: Labels, cells: Labels, system: Labels
) -> tuple[list[PartnerSeverity], list[AdjustedMean]]:
    """Measure severities, and each system's mean without them, as the chapter does."""
    severities = measure_partner_severities(values, partners, answers, cells)
    reference = np.array([not partner.stands_out for partner in severities])
    fit = fit_partner_severities(values, partners, answers, cells, is_reference_partner=reference)
    numbers = range(int(system.max()) + 1)
    return severities, [
        average_without_partner_severity(values, partners, answers, fit, system[answers] == n) for n in numbers
    ]


class RankingChange(NamedTuple):
    """What a harsh partner changes: whether means stay in their intervals, and systems in their order.

    `kept` is of systems further apart than half an interval; `turned` has the distances of all that change places.
    """

    within: bool
    kept: bool
    turned: list[float]


def compare_rankings(harsh: Sequence[AdjustedMean], same: Sequence[AdjustedMean]) -> RankingChange:
    """Compare the means of a study with a harsh partner to those of the same study without."""
    pairs = list(itertools.combinations(range(len(same)), 2))
    turned = {
        (a, b): abs(same[a].adjusted - same[b].adjusted)
        for a, b in pairs
        if (same[a].adjusted - same[b].adjusted) * (harsh[a].adjusted - harsh[b].adjusted) < 0
    }
    reach = [(mean.high - mean.low) / 2 for mean in same]
    return RankingChange(
        all(mean.low <= moved.adjusted <= mean.high for mean, moved in zip(same, harsh, strict=True)),
        all(apart <= max(reach[a], reach[b]) for (a, b), apart in turned.items()),
        list(turned.values()),
    )


def main() -> None:
    """Measure all, and print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--answers", type=int, default=3000)
    parser.add_argument("--draws", type=int, default=400)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        home = Path(made, "study")
        split, results = measure_commands(home, chosen.answers, np.random.default_rng(1))
        print_table(("22 partners", ""), list(results.items()))
        print_table(("draws", ""), draw_studies(split, home, chosen.draws, np.random.default_rng(2)))


if __name__ == "__main__":
    main()
