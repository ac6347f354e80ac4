"""Markdown: texts of others in it."""

from __future__ import annotations


def as_code(text: str) -> str:
    """The text as code on one line, in which nothing is markup."""
    return f"`{' '.join(text.replace('`', chr(39)).split())}`"
