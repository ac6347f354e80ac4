"""How much of the documents judges read from each vendor's cache, and how near `--estimate` comes to what is counted.

    python -m benchmarks.caches WORKSPACE RUN

asks a judge behind each vendor's SDK about all answers of the run, at a server that keeps the vendor's rule
(`caching_server.py`), and prints a row for each: the share of the document's tokens (with the rubric before it) that
came from the cache, and what was estimated divided by what the server counted, or by what that costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request

from benchmarks.measure import ROOT, serving

JUDGES = {
    "openai": ("openai/gpt-6.1-sol", "OPENAI", "OPENAI", "/v1"),
    "compatible": ("openai-api/mock/m", "MOCK", "MOCK", "/v1"),
    "anthropic": ("anthropic/claude-sonnet-4-5", "ANTHROPIC", "ANTHROPIC", ""),
    "anthropic-4096": ("anthropic/claude-opus-4-5", "ANTHROPIC", "ANTHROPIC", ""),
    "google": ("google/gemini-2.5-flash", "GOOGLE_GEMINI", "GEMINI", ""),
    "google-4096": ("google/gemini-2.5-pro", "GOOGLE_GEMINI", "GEMINI", ""),
}
CONNECTIONS = 64


def judged(workspace: str, run: str, vendor: str) -> tuple[object, ...]:
    """A vendor's row."""
    name, address, key, ending = JUDGES[vendor]
    with serving([sys.executable, "-m", "benchmarks.caching_server", vendor]) as url:
        environment = os.environ | {f"{address}_BASE_URL": url + ending, f"{key}_API_KEY": "none"}
        command = [sys.executable, "-m", "genaipa", "judge", run, "--judge", name, "--workspace", workspace, "--json"]
        said = [
            json.loads(
                subprocess.run([*command, *more], env=environment, cwd=ROOT, check=True, capture_output=True).stdout
            )
            for more in (["--estimate"], ["--max-connections", str(CONNECTIONS)])
        ]
        with urllib.request.urlopen(f"{url}/totals") as answer:
            counted = json.load(answer)
    (guess,), (row,) = said[0]["rows"], said[1]["runs"][0]["rows"]
    ratios = [guess["usage"][side] / counted[side] for side in ("input", "output")]
    if row["cost"]:
        ratios.append(guess["cached_cost"] / row["cost"])
    share = f"{counted['cached'] / counted['document']:.1%}"
    return (vendor, f"{counted['requests']:,}", share, *(f"{ratio:.3f}" for ratio in ratios), *[""] * (3 - len(ratios)))


if __name__ == "__main__":
    for each in JUDGES:
        print(json.dumps(judged(*sys.argv[1:], each)), flush=True)
