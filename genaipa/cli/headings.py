"""The commands in the groups and the order in which `genaipa --help` shows them."""

from __future__ import annotations

GROUPS: dict[str, tuple[str, ...]] = {
    "Ask": ("run", "collect", "systems"),
    "Read": ("runs", "show"),
    "Score": ("score", "scores"),
    "Results": ("report", "compare", "leaderboard"),
    "Share": ("pack", "unpack", "pull", "import"),
    "Data": ("init", "policies", "questions", "prompts", "validate"),
    "This machine": ("demo", "doctor"),
}
COMMANDS = tuple(name for names in GROUPS.values() for name in names)
