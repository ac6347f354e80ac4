"""The key in the address of a desk without a login: other users of the machine don't know it.

It stays the same for a workspace, so that a bookmark holds and an open page outlives a restart of the desk.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_KEY = re.compile(r"[\w-]{22}")


def desk_key(workspace: Path) -> str:
    """The key of a workspace's desk, made where there is none; a new one each time where none can be kept."""
    import platformdirs

    name = hashlib.sha256(str(workspace.resolve()).encode()).hexdigest()[:16]
    path = platformdirs.user_state_path("genaipa") / "desks" / name
    made = secrets.token_urlsafe(16)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(path, "x", opener=_for_owner) as file:
            file.write(made)
        kept = path.read_text(encoding="ascii", errors="replace")
        return kept if _KEY.fullmatch(kept) else made
    return made


def cookie_of(key: str) -> str:
    """The name of the cookie that keeps a key: cookies are for all ports of a machine, where other desks may be."""
    return f"genaipa_key_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
