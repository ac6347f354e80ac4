"""Hashes that pin published files: git's own of a file, or a SHA-256."""

from __future__ import annotations

import hashlib

SHA256 = 64
"""Digits of a SHA-256."""


def blob_hash(content: bytes) -> str:
    """The hash by which git names a file of this content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def hash_like(pinned: str, content: bytes) -> str:
    """The hash of a content that is of the same kind and length as that which pins it, which may be abbreviated."""
    return hashlib.sha256(content).hexdigest() if len(pinned) == SHA256 else blob_hash(content)[: len(pinned)]
