"""Provenance of a run: versions, commit and whether the working tree was changed."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path

import genaipa
from genaipa.systems.provider import providers

_PACKAGES = ("langchain-text-splitters", "jinja2", "genai-prices")
"""Beside the providers' own, those whose version can change a message or a reply."""


def versions() -> dict[str, str]:
    """Name → version of Python, genaipa and the installed packages that matter to a run."""
    found = {"python": platform.python_version(), "genaipa": genaipa.__version__}
    for package in (*(package for provider in providers() for package in provider.packages), *_PACKAGES):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> tuple[str | None, bool | None]:
    """(commit, changed since) of the checkout that genaipa runs from; (None, None) where it is an installed wheel."""
    root = Path(genaipa.__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None, None
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head.strip() or None, bool(_git(root, "status", "--porcelain").strip())
    except (OSError, subprocess.SubprocessError):
        return None, None


def _git(root: Path, *arguments: str) -> str:
    return subprocess.run(  # noqa: S603 - fixed command
        ["git", "-C", str(root), *arguments],  # noqa: S607 - whichever git the user has
        capture_output=True,
        text=True,
        check=True,
        timeout=10,
    ).stdout
