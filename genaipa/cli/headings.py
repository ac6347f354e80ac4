"""The groups and the order in which help pages show the commands, and the options of a command that has many."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "Ask": ("run", "collect", "runs", "batches", "show"),
    "Score": ("judge", "sample", "score", "scores", "objections"),
    "Findings": ("report", "compare", "leaderboard", "judges"),
    "Data": ("policies", "questions", "prompts", "systems", "pull", "import", "pack", "unpack"),
    "Workspace": ("init", "demo", "validate", "doctor"),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)

OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "run": {
        "What to ask": (
            *(
                "--system",
                "--policy",
                "--company",
                "--experiment",
                "--initialization",
                "--wording",
                "--prompts",
                "--repetitions",
            ),
            *("--questions", "--limit", "--task", "--resume", "--new", "--config"),
        ),
        "A corpus": ("--documents", "--limit-documents", "--stratify", "--shard", "--shards"),
        "A sister benchmark": ("--suite", "--split", "--shots", "--probe"),
        "How to ask": (
            *("--conversation", "--seed", "--part-tokens", "--acknowledge", "--summary-words"),
            *("--temperature", "--max-tokens", "--sampling-seed"),
        ),
        "Speed": ("--max-connections", "--max-retries", "--timeout", "--on", "--gpus-per-worker", "--replicas"),
        "Cost": ("--estimate", "--max-cost", "--yes", "--batch", "--no-wait"),
        "Output": ("--name", "--dry-run", "--json", "--workspace", "--offline", "--help"),
    }
}
"""Command → heading → its options, where one list of all of them would be too long."""

STARTS = (
    ("genaipa demo", "a whole study in a minute, without a key"),
    ("genaipa run --system gpt-6-luna --policy brindlecart --estimate", "the cost of a run, without asking anything"),
    ("genaipa run --system gpt-6-luna --policy brindlecart --max-cost 5", "ask, and keep every answer"),
    ("genaipa score latest", "score the answers in the browser"),
    ("genaipa report latest", "figures, tables, and one page to read"),
)
"""The commands of a first study, each with its summary."""
