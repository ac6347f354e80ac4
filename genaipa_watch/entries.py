"""The commands of this package."""

from __future__ import annotations

from genaipa.cli.terminal.headings import PackageCommand

DRIFT = PackageCommand(
    "genaipa_watch.drift:drift",
    summary="Show what changed since the first day.",
    heading="Findings",
    after="leaderboard",
)
HISTORY = PackageCommand("genaipa_watch.policies:history")
DIFF = PackageCommand("genaipa_watch.policies:diff")
CARRY = PackageCommand("genaipa_watch.policies:carry")
