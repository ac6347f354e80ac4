"""How much of documents is read from each vendor's cache, and how near `--estimate` comes to what is counted.

    python -m benchmarks.caches WORKSPACE judge RUN --judge
    python -m benchmarks.caches --says TEXT WORKSPACE run --suite counterfactual --new --system

asks a model behind each vendor's SDK by that command, which ends with the option that names it, at a server that keeps
the vendor's rule (`caching_server.py`), and prints a row for each: the share of the document's tokens (with what is
before it) that came from the cache, and what was estimated divided by what the server counted, or by what that costs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Sequence

from benchmarks.measure import ROOT, serving

MODELS = {
    "openai": ("openai/gpt-6.1-sol", "OPENAI", "OPENAI", "/v1"),
    "compatible": ("openai-api/mock/m", "MOCK", "MOCK", "/v1"),
    "anthropic": ("anthropic/claude-sonnet-4-5", "ANTHROPIC", "ANTHROPIC", ""),
    "anthropic-4096": ("anthropic/claude-opus-4-5", "ANTHROPIC", "ANTHROPIC", ""),
    "google": ("google/gemini-2.5-flash", "GOOGLE_GEMINI", "GEMINI", ""),
    "google-4096": ("google/gemini-2.5-pro", "GOOGLE_GEMINI", "GEMINI", ""),
}
CONNECTIONS = 64


def shared(vendor: str, workspace: str, says: Sequence[str], command: Sequence[str]) -> tuple[object, ...]:
    """Return a vendor's row; `says` are the server's options on its reply."""
    name, address, key, ending = MODELS[vendor]
    with serving([sys.executable, "-m", "benchmarks.caching_server", vendor, *says]) as url:
        environment = os.environ | {f"{address}_BASE_URL": url + ending, f"{key}_API_KEY": "none"}
        asking = [sys.executable, "-m", "genaipa", *command, name, "--workspace", workspace, "--json"]
        said = [
            json.loads(
                subprocess.run([*asking, *more], env=environment, cwd=ROOT, check=True, capture_output=True).stdout
            )
            for more in (["--estimate"], ["--max-connections", str(CONNECTIONS)])
        ]
        with urllib.request.urlopen(f"{url}/totals") as answer:
            counted = json.load(answer)
    (guess,), (row,) = said[0]["rows"], said[1].get("runs", said[1:])[0]["rows"]
    ratios = [guess["usage"][side] / counted[side] for side in ("input", "output")]
    if row["cost"]:
        ratios.append(guess["cached_cost"] / row["cost"])
    share = f"{counted['cached'] / counted['document']:.1%}"
    return (vendor, f"{counted['requests']:,}", share, *(f"{ratio:.3f}" for ratio in ratios), *[""] * (3 - len(ratios)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("workspace")
    parser.add_argument("--says", help="reply of the server; without it, a judge's verdict")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    reply = ["--says", given.says] if given.says else []
    for each in MODELS:
        print(json.dumps(shared(each, given.workspace, reply, given.command)), flush=True)
