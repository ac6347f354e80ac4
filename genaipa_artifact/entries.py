"""The command of this package."""

from __future__ import annotations

from genaipa.cli.terminal.headings import PackageCommand

COMMAND = PackageCommand(
    "genaipa_artifact.command:artifact",
    summary="Pack a study for reviewers of a paper.",
    heading="Data",
    after="pack",
)
