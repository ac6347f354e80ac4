"""The versions of every privacy policy in clones of Open Terms Archive's collections: read, chosen, and each compared.

    python -m benchmarks.versions CLONE...

Prints the seconds and memory of reading all versions and of comparing each that differs with the one before, and what
was left out.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

from benchmarks.__main__ import print_table
from genaipa.policies.document import About, Document
from genaipa_watch.changes import DocumentChanges
from genaipa_watch.history import REASONS, read_version_history

_POLICY = "/Privacy Policy.md"


def policies(repository: Path) -> list[str]:
    """Every privacy policy that the present branch has or had."""
    named = subprocess.run(
        ["git", "-C", repository, "log", "--format=", "--name-only", "-z"], check=True, capture_output=True
    )
    return sorted({path for path in named.stdout.decode().split("\0") if path.endswith(_POLICY)})


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__)
    parser.add_argument("clones", nargs="+", type=Path)
    begun, counted, pairs, texts = time.perf_counter(), Counter[str](), 0, 0
    every, reading = 0, 0.0
    for repository in parser.parse_args().clones:
        for path in policies(repository):
            before = time.perf_counter()
            found = read_version_history(repository, path)
            reading += time.perf_counter() - before
            texts, every = texts + 1, every + found.version_count_with_left_out
            counted.update({REASONS[reason]: number for reason, number in found.left_out.items()})
            documents = [Document(version.date, version.text, About(company="x")) for version in found.versions]
            for earlier, later in pairwise(documents):
                assert DocumentChanges(earlier, later).section_counts_by_state
                pairs += 1
    whole = time.perf_counter() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rows = [
        ("policies", f"{texts:,}"),
        ("versions", f"{every:,}"),
        *((reason, f"{number:,}") for reason, number in counted.most_common()),
        ("pairs compared", f"{pairs:,}"),
        ("reading, s", f"{reading:.1f}"),
        ("all, s", f"{whole:.1f}"),
        ("all, CPU s of this process", f"{time.process_time():.1f}"),
        ("memory, MiB", f"{memory:,.0f}"),
    ]
    print_table(("versions of privacy policies", "number"), rows)


if __name__ == "__main__":
    main()
