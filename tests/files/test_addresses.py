"""Addresses that people and servers write: any text is one or is none, and never an error of Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.files.text import split_url_or_empty

if TYPE_CHECKING:
    import pytest
    from commandline import Cli

ODD = (
    "http://[",
    "http://[::1/x",
    "http://[v1.x]/",
    "http://a\x1b[31m/",
    "//",
    "http://",
    "\u2100://x",
    "http://a\u2100b/",
)


def test_an_odd_address_has_no_host() -> None:
    """A host is named only where there is one."""
    assert split_url_or_empty("http://a.example/x").hostname == "a.example"
    assert not any(split_url_or_empty(odd).hostname for odd in ODD if "[v1" not in odd)


def test_commands_say_what_is_wrong_with_an_address(genaipa: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a mirror, a policy, a provider's server: a sentence."""
    for odd in ODD[:3]:
        monkeypatch.setenv("OPENAI_BASE_URL", odd)
        for command in (
            ("get", "privacyqa", "--from", odd),
            ("run", "-s", "extractive", "-p", odd),
            ("run", "-s", "openai/x", "-p", "brindlecart"),
            ("doctor", "--all"),
        ):
            assert "Traceback" not in genaipa(*command).err, command
