"""The versions of a document in the history of a file in a git repository, such as Open Terms Archive's collections.

Versions that are the same but for layout are left out, as are error pages and texts in another language.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from genaipa.errors import UsageError, clip, closest_name_or_empty
from genaipa.files.limits import HISTORY, POLICY, limit_reading
from genaipa.languages.catalog import detect_language_code_or_empty
from genaipa.policies.document import LONGEST
from genaipa.policies.reading import PlainReading
from genaipa_watch.changes import normalize_text_to_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

OmissionReason = Literal["same", "short", "language", "day", "text"]
"""The reason that a version is left out: see `REASONS`."""
REASONS: dict[OmissionReason, str] = {
    "same": "identical except for layout",
    "short": "too short for a policy (under 30 % of the usual length, or 200 letters)",
    "language": "in another language",
    "day": "followed by another version on the same day",
    "text": "without readable text",
}
_SHORT, _LEAST = 0.3, 200
# Nothing in a stranger's repository may run a program, reach the network or show anything but what is asked for.
_GIT = (
    *("git", "--no-pager", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath="),
    *("-c", "core.quotePath=false", "-c", "log.showRoot=true", "-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "log.follow=false", "-c", "log.mailmap=false", "-c", "diff.renames=false"),
    # A protocol's own setting in the repository outranks the one for all.
    *(
        word
        for name in ("ext", "file", "git", "ssh", "http", "https")
        for word in ("-c", f"protocol.{name}.allow=never")
    ),
    *("-c", "protocol.allow=never"),
)
_QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


@dataclass(frozen=True)
class Version:
    """A version of a document: its day (YYYY-MM-DD), its text, and where it is from (repository's path, commit)."""

    date: str
    text: str
    commit: str


@dataclass(frozen=True)
class VersionHistory:
    """The versions that differ, the oldest first, and how many were left out, by reason."""

    versions: tuple[Version, ...]
    left_out: dict[OmissionReason, int]

    @property
    def version_count_with_left_out(self) -> int:
        """The number of versions that the repository has."""
        return len(self.versions) + sum(self.left_out.values())


def read_version_history(repository: Path, path: str) -> VersionHistory:
    """Read all versions of a file in a git repository's present branch, and choose the ones that differ.

    A UsageError if it is no repository, a shallow clone, has no such file, or if git is missing.
    """
    if shutil.which("git") is None:
        raise UsageError("git is needed to read the history and is not installed; install it first.")
    if not repository.is_dir():
        raise UsageError(f"there is no folder {repository}; clone the collection first.")
    if _run_git(repository, "rev-parse", "--is-shallow-repository").strip() == b"true":
        raise UsageError(f"{repository} is a shallow clone without a history; to get it: git fetch --unshallow")
    raw_git_log = _run_git(repository, "log", "--format=%x00%H %as", "--raw", "--no-abbrev", "--no-renames", "--", path)
    revisions = list(_iterate_commit_day_and_blob_of_path(raw_git_log.decode("utf-8", "replace"), path))
    if not revisions:
        files = (
            _run_git(repository, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode("utf-8", "replace").split("\0")
        )
        near = closest_name_or_empty(path, files)
        hint = f"; did you mean --path {near!r}?" if near else "; to list its files: git ls-tree -r --name-only HEAD"
        raise UsageError(f"{repository} has no file '{clip(path)}' in its history{hint}")
    return _select_distinct_usable_versions(
        revisions, _read_blob_texts_or_empty(repository, [blob for _, _, blob in revisions])
    )


def _run_git(repository: Path, *arguments: str, input_text: bytes = b"") -> bytes:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _QUIET
    done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
        [*_GIT, "-C", str(repository), *arguments], input=input_text, capture_output=True, env=environment, check=False
    )
    if done.returncode:
        error_lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(
            f"git can't read {repository}: {clip(error_lines[-1] if error_lines else 'no reason given', 160)}"
        )
    return done.stdout


def _iterate_commit_day_and_blob_of_path(raw_git_log: str, path: str) -> Iterator[tuple[str, str, str]]:
    """Yield commit, day and blob of each version of exactly this file, the oldest first."""
    for entry in reversed(raw_git_log.split("\0")[1:]):
        head, *changed = entry.strip().split("\n")
        commit, day = head.split(" ")
        for line in changed:
            match = re.fullmatch(r":\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\t(.*)", line)
            if match and match[2] == path and set(match[1]) != {"0"}:
                yield commit, day, match[1]


def _read_blob_texts_or_empty(repository: Path, blob_ids: list[str]) -> list[str]:
    """Return the text of each blob; empty if it is none that a document may have, and then it is not read at all."""
    size_lines = _run_git(
        repository, "cat-file", "--batch-check=%(objectsize)", input_text=_encode_blob_ids(blob_ids)
    ).splitlines()
    sizes = dict(zip(blob_ids, size_lines, strict=True))
    readable = [blob for blob, size in sizes.items() if size.isdigit() and int(size) <= POLICY.size]
    with limit_reading(HISTORY, repository) as allowance:
        allowance.add_unpacked_bytes_within_limit(sum(int(sizes[blob]) for blob in readable))
    contents = _run_git(repository, "cat-file", "--batch=%(objectsize)", input_text=_encode_blob_ids(readable))
    texts, at = dict.fromkeys(blob_ids, ""), 0
    for blob in readable:
        begin = contents.index(b"\n", at) + 1
        at = begin + int(sizes[blob]) + 1
        texts[blob] = _decode_utf8_text_or_empty(contents[begin : at - 1])
    return [texts[blob] for blob in blob_ids]


def _encode_blob_ids(blobs: Iterable[str]) -> bytes:
    return "".join(f"{blob}\n" for blob in blobs).encode()


def _decode_utf8_text_or_empty(content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return ""
    return "" if "\0" in text or len(text) > LONGEST else text


def _select_distinct_usable_versions(revisions: list[tuple[str, str, str]], texts: list[str]) -> VersionHistory:
    words = [normalize_text_to_words(PlainReading(text).text) for text in texts]
    usual = sorted(range(len(words)), key=lambda place: len(words[place]))[len(words) // 2]
    language = detect_language_code_or_empty(texts[usual])
    left_out: dict[OmissionReason, int] = dict.fromkeys(REASONS, 0)
    versions: list[Version] = []
    last = ""
    for (commit, day, _), text, version_words in zip(revisions, texts, words, strict=True):
        reason: OmissionReason | None = None
        if not version_words:
            reason = "text"
        elif len(version_words) < max(_SHORT * len(words[usual]), _LEAST):
            reason = "short"
        elif version_words == last:
            reason = "same"
        elif detect_language_code_or_empty(text) != language:
            reason = "language"
        if reason:
            left_out[reason] += 1
            continue
        if versions and versions[-1].date == day:
            versions.pop()
            left_out["day"] += 1
        versions.append(Version(day, text, commit))
        last = version_words
    return VersionHistory(tuple(versions), {reason: count for reason, count in left_out.items() if count})
