"""The groups and the order in which help pages show the commands, and the options of a command that has many."""

from __future__ import annotations

GROUPS: dict[str, dict[str, str]] = {
    "Ask": {
        "run": "Ask systems about documents, keeping answers as runs.",
        "runs": "List or remove what run has asked.",
        "show": "Show a run, or one answer with scores.",
        "view": "Look at answers side by side.",
        "collect": "Take replies of web chats by hand.",
    },
    "Score": {
        "judge": "Have models score answers; judges measures how well.",
        "score": "Score answers in the browser; scores lists them.",
        "scores": "List, export or import what score recorded.",
        "sample": "Draw the random part that people score.",
    },
    "Findings": {
        "report": "Write figures, tables and one page to read.",
        "compare": "Compare two systems or runs, with intervals.",
        "leaderboard": "Rank all systems by overall quality.",
        "drift": "Show what changed since the first day.",
        "judges": "Measure what judge's verdicts are worth.",
    },
    "Data": {
        "policies": "List, show, add and measure documents.",
        "questions": "List, show or begin question sets.",
        "prompts": "List sets of prompts, or show one.",
        "systems": "List systems (models) and what each lacks.",
        "get": "Fetch published data, or a study as runs.",
        "export": "Write answers and scores for another program.",
        "import": "Take answers and scores in from another program.",
        "pack": "Pack runs, scores and report into an archive.",
        "unpack": "Unpack a study and rebuild its tables.",
    },
    "Workspace": {
        "init": "Create a workspace for your data and runs.",
        "validate": "Check a workspace's data files.",
        "doctor": "Check this installation and suggest fixes.",
        "demo": "Run a whole study without a key.",
    },
}
"""Heading → its commands, each with its summary: its module in `genaipa.cli.commands` has the same name."""
COMMANDS = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
RARE = ("collect", "sample", "drift", "export", "import", "pack", "unpack", "validate", "demo")
"""Commands that only the whole page lists; `demo` is what one starts with."""
RENAMED: dict[str, tuple[str, ...]] = {
    "batches": ("runs", "batches"),
    "objections": ("scores", "objections"),
    "pull": ("get",),
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
    "score": ("--per-answer", "--order", "--sample", "--port", "--no-browser"),
}
"""Command → the options that most people need; `--help-all` shows the others."""

OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "run": {
        "What to ask": (
            *("--system", "--policy", "--company", "--task", "--repetitions", "--resume", "--new", "--config"),
        ),
        "A corpus": ("--documents", "--limit-documents", "--stratify", "--shard", "--shards"),
        "How to ask": ("--seed", "--temperature", "--max-tokens", "--sampling-seed"),
        "Speed": ("--max-connections", "--max-retries", "--timeout", "--on", "--gpus-per-worker", "--replicas"),
        "Cost": ("--estimate", "--max-cost", "--yes", "--batch", "--no-wait"),
        "Output": ("--name", "--dry-run", "--json", "--offline"),
    }
}
"""Command → heading → its options, where one list of all of them would be too long.

An option of a kind of tasks is under the heading of the one `before` which it is listed, or under its kind's own.
"""


def heading_of(command: str, flag: str) -> str:
    """The heading of an option; empty where it has none of its own."""
    return next((heading for heading, listed in OPTIONS[command].items() if flag in listed), "")


STARTS = (
    ("genaipa demo", "a whole study"),
    ("genaipa run --system gpt-6-luna --policy policy.md", "answers"),
    ("genaipa report latest", "a page"),
)
"""The commands of a first study, each with its summary."""
