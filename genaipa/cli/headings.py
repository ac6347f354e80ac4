"""The groups and the order in which help pages show the commands, and the options of a command that has many."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "Ask": ("run", "runs", "show", "view", "collect"),
    "Score": ("judge", "score", "scores", "sample"),
    "Findings": ("report", "compare", "leaderboard", "judges"),
    "Data": ("policies", "questions", "prompts", "systems", "get", "pack", "unpack"),
    "Workspace": ("init", "validate", "doctor", "demo"),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)
RARE = ("collect", "sample", "pack", "unpack", "validate", "demo")
"""Commands that only the whole page lists; `demo` is what one starts with."""
RENAMED: dict[str, tuple[str, ...]] = {
    "batches": ("runs", "batches"),
    "objections": ("scores", "objections"),
    "pull": ("get",),
    "import": ("get", "--runs"),
}
"""Command's earlier name → the words that it has become; the old name works and tells the new one."""
OLD_OPTIONS: dict[str, dict[str, str]] = {
    "collect": {"--replace": "--force"},
    "add": {"--replace": "--force"},
}
"""Command → its options' earlier names, each with the present one."""
EVERYWHERE = {
    "--workspace": "Folder with your data and runs.",
    "--explain": "Say how the result is to be read.",
    "--quiet": "Print the result alone.",
    "--help": "Show this page.",
}
"""Options of every command, with what help pages say of each."""
FEW: dict[str, tuple[str, ...]] = {
    "run": (
        *("--system", "--policy", "--experiment", "--questions", "--prompts", "--repetitions", "--limit"),
        *("--conversation", "--max-cost", "--estimate", "--dry-run", "--resume", "--name"),
    ),
    "judge": ("--judge", "--passes", "--evidence", "--max-cost", "--estimate", "--dry-run", "--system", "--without"),
    "report": ("--output", "--by", "--formats", "--frame", "--open", "--system", "--without", "--json"),
    "score": ("--per-answer", "--order", "--sample", "--settled", "--port", "--no-browser"),
}
"""Command → the options that most people need; `--help-all` shows the others."""

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
        "Output": ("--name", "--dry-run", "--json", "--offline"),
    }
}
"""Command → heading → its options, where one list of all of them would be too long."""

STARTS = (
    ("genaipa demo", "a whole study"),
    ("genaipa run --system gpt-6-luna --policy policy.md", "answers"),
    ("genaipa report latest", "a page"),
)
"""The commands of a first study, each with its summary."""
