"""The benchmarks still work. Nothing here looks at how long anything took; all of it takes three minutes of a core."""

from __future__ import annotations

import importlib
import itertools
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from genaipa.reports.crossed import estimate_crossed_mean

ROOT = Path(__file__).parents[2]


@pytest.mark.full
def test_every_benchmark_finds_what_it_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file imports what it measures; `make soak` runs them all."""
    monkeypatch.syspath_prepend(str(ROOT))
    for file in (ROOT / "benchmarks").glob("*.py"):
        importlib.import_module(f"benchmarks.{file.stem}")


@pytest.mark.soak
def test_every_measurement_gives_its_table() -> None:
    """At a scale of a few questions, all measurements run to the end and print their rows."""
    command = [sys.executable, "-m", "benchmarks", "all", "--tiny"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| (.*?) +\| (.*?) *\|", done.stdout, re.MULTILINE)
    names = [name for name, _ in rows if not name.startswith("-")]
    assert [name for name in names if name in {"W2", "W3", "judge", "memory", "start", "resume"}] == [
        *("W2", "W3", "judge", "memory", "start", "resume"),
    ]
    assert {"handed in", "collected"} <= set(names)
    assert {"judge sections", "whole, openai", "sections, google"} <= set(names)
    assert {"W2 whole", "W3 parts", "bare loop, 10 questions", "genaipa run, 100 questions"} <= set(names)
    assert {"genaipa --help", "20 answers (0 MiB), one answer missing"} <= set(names)
    assert [who for _, who in rows].count("ratio") == 6
    assert {"view", "ratio"} <= set(names)
    if shutil.which("chromium"):
        assert {"desk: 20 answers, 2 analysts, 4 measured", "Enter to the next answer: median"} <= set(names)


@pytest.mark.soak
def test_a_suite_is_measured() -> None:
    """A run of a suite beside the bare loop, and its loading and scoring, give their tables."""
    command = [sys.executable, "-m", "benchmarks.suites", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    names = set(re.findall(r"^\| (.*?) +\|", done.stdout, re.MULTILINE))
    assert {"policyqa", "policyqa, 4,152 items", "privacyqa, 400 items", "counterfactual"} <= names
    shares = re.findall(r"^\| counterfactual, \S+ +\| +120 \| +([\d.]+)%", done.stdout, re.MULTILINE)
    assert len(shares) == 6
    assert min(map(float, shares)) >= 95


@pytest.mark.soak
def test_coverage_is_counted() -> None:
    """With a handful of studies, coverage prints its tables; test_intervals.py has the intervals."""
    command = [sys.executable, "-m", "benchmarks.coverage", "--studies", "5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    heads = re.findall(r"^\| (.*?) +\|.*\n\| -", done.stdout, re.MULTILINE)
    targets = ["for these documents", "for policies like these"]
    levels = ["documents", "looks", "documents", "variance"]
    others = ["questions", *levels, "shape", "analysts", "documents", "leniency", "policies of a suite"]
    assert heads == [*targets, *targets, *others]
    assert "refused" in done.stdout


def test_the_formulas_on_arrays_are_those_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of whole and of half-scored studies, each p is below a level exactly where the benchmark says so."""
    monkeypatch.syspath_prepend(str(ROOT))
    coverage_levels = importlib.import_module("benchmarks.coverage_levels")
    random, left = np.random.default_rng(5), coverage_levels.LEFT[coverage_levels.HALF_LEFT]
    for documents in (3, 5):
        values = coverage_levels.drawn(random, 2, documents, coverage_levels.APART, 8) + 8
        turn = coverage_levels.waves(random, documents, 8)
        for count, level in itertools.product((20, 32 * documents), (0.05, 0.001)):
            here, wide = coverage_levels.spread(values, turn < count, left).counts(level)
            for study in range(8):
                asked, about = np.nonzero(turn[study] < count)
                found = estimate_crossed_mean(values[study, 0, asked, about], asked.astype(str), about.astype(str))
                assert (here[study, 0], wide[study, 0]) == (found.p < level, found.policies_p < level)


@pytest.mark.soak
def test_an_analyst_is_scripted() -> None:
    """On the demo's study, a few answers are scored at three desks, and each key, scroll and second has its row."""
    if shutil.which("chromium") is None:
        pytest.skip("needs chromium")
    command = [sys.executable, "-m", "benchmarks.analyst", "--answers", "3", "--demo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    figures = {row[0].strip(): row[1:] for row in (line.strip("|").split("|") for line in done.stdout.splitlines())}
    assert {"keys", "scrolls", "pixels between what is read", "seconds: passage", "seconds in all"} <= figures.keys()
    assert all(float(keys) >= 6 for keys in figures["keys"]), "five digits and Enter"


@pytest.mark.soak
def test_exchange_is_measured() -> None:
    """Answers go out and come back in a form that needs no package of its own, and none of their scores is another."""
    command = [sys.executable, "-m", "benchmarks.exchange", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^\| label-studio, 1,600 answers, (\w+) .* (\d+) \|$", done.stdout, re.MULTILINE)
    assert rows == [("out", "0"), ("back", "0")]
