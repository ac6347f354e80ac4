"""What this package brings to the command line: `genaipa study`."""

from __future__ import annotations

from genaipa.cli.terminal.headings import PackageCommand

COMMAND = PackageCommand(
    "genaipa_partners.command:app",
    "Deal answers to partners; join their scores.",
    heading="Score",
    after="sample",
    rare=False,
)
