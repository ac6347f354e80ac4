"""A desk as it is opened: its settings, the key in its address, and whether people log in.

Settings are handed from the command to the pages through the environment.

A desk without a login has a key in its address, since other users of the machine don't know it. It stays the same for
a workspace, so that a bookmark holds and an open page outlives a restart of the desk.

A login is the [auth] section of .streamlit/secrets.toml, in the workspace or at home. The format is Streamlit's; each
of several providers has a section of its own, such as [auth.google].

    [auth]
    redirect_uri = "https://desk.example.org/oauth2callback"
    cookie_secret = "a long random text"
    client_id = "…"
    client_secret = "…"
    server_metadata_url = "https://login.example.org/.well-known/openid-configuration"
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import stat
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import msgspec

from genaipa.errors import DataError, UsageError
from genaipa.files.text import read_text, split_url
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.scoring.assignment import ScoringPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.people import StudyPlan
    from genaipa.workspace import Workspace


VARIABLE = "GENAIPA_DESK"


class DeskSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a study's scoring at the desk: the `plan`, and what is to be scored.

    `runs` names the runs to score, as `runs.selection.select` takes names; empty means every run of the workspace.
    `only` are the filters on their answers. With `excluded`, excluded answers are scored too.
    `sample` is the size of the wave in each group, or all for everything; by default (None) it is that of the
    workspace's wave, which is drawn where a group has more than `waves.SIZE` answers.
    """

    workspace: Path
    runs: tuple[str, ...] = ()
    only: Filters = EVERYTHING
    excluded: bool = False
    sample: int | Literal["all"] | None = None
    suggestions: bool = True
    plan: ScoringPlan = ScoringPlan()

    @classmethod
    def make(cls, workspace: Path, plan: StudyPlan, *, runs: tuple[str, ...] = (), only: Filters = EVERYTHING) -> Self:
        """Return the settings of a study's plan."""
        return cls(
            workspace=workspace,
            runs=runs,
            only=only,
            excluded=plan.include_excluded,
            sample=plan.size,
            suggestions=plan.suggestions,
            plan=ScoringPlan(
                per_answer=plan.per_answer,
                order=plan.order,
                seed=plan.seed,
                calibration=plan.calibration,
                blind=not plan.show_systems,
                points=plan.points,
            ),
        )

    def handed_on(self) -> dict[str, str]:
        """The environment variable by which the desk's server gets these settings."""
        return {VARIABLE: msgspec.json.encode(self, enc_hook=str).decode()}


def handed_settings() -> DeskSettings:
    """The settings that `genaipa score` handed on; a UsageError where the pages were started in another way."""
    text = os.environ.get(VARIABLE)
    if text is None:
        raise UsageError("the desk's pages are opened with: genaipa score")
    return msgspec.json.decode(text, type=DeskSettings, dec_hook=lambda kind, value: kind(value))


_KEY = re.compile(r"[\w-]{22}")


def desk_key(workspace: Path) -> str:
    """The key of a workspace's desk, made where there is none; one of this process where none can be kept."""
    import platformdirs

    name = hashlib.sha256(str(workspace.resolve()).encode()).hexdigest()[:16]
    path = platformdirs.user_state_path("genaipa") / "desks" / name
    made = _new_key()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(path, "x", opener=_for_owner) as file:
            file.write(made)
        kept = path.read_text(encoding="ascii", errors="replace")
        return kept if _KEY.fullmatch(kept) else made
    return made


@cache
def _new_key() -> str:
    """One for each process: the address that is printed has the key that the gate asks for."""
    return secrets.token_urlsafe(16)


def cookie_of(key: str) -> str:
    """The name of the cookie that keeps a key: cookies are for all ports of a machine, where other desks may be."""
    return f"genaipa_key_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _for_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


_OF_DESK = ("redirect_uri", "cookie_secret")
_OF_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
_CALLBACK = "/oauth2callback"


@dataclass(frozen=True)
class Login:
    """The identity `providers` ("" is the one without a name), and the address that they redirect to."""

    providers: tuple[str, ...]
    redirect: str

    def address(self, port: int) -> str:
        """The address at which people open a desk on this port."""
        return _filled(self.redirect, port).removesuffix(_CALLBACK)


def secrets_files(workspace: Workspace) -> list[Path]:
    """The files of secrets; a section of a later one replaces an earlier one's."""
    return [folder / ".streamlit" / "secrets.toml" for folder in (Path.home(), workspace.home)]


def open_to_others(workspace: Workspace) -> list[Path]:
    """The secrets files that other users of this machine can read."""
    others = stat.S_IRGRP | stat.S_IROTH
    return [path for path in secrets_files(workspace) if path.is_file() and path.stat().st_mode & others]


def read_login(workspace: Workspace) -> Login | None:
    """The login of a workspace's desk; None without one. A DataError, which quotes no secret, if it can't be used."""
    found = None
    for path in secrets_files(workspace):
        if path.is_file() and "auth" in (sections := _sections(path)):
            found = path, sections["auth"]
    if found is None:
        return None
    path, auth = found
    if not isinstance(auth, dict):
        raise DataError(path, "is not a section; write [auth].", "auth")
    _check(path, auth, _OF_DESK, "auth")
    named = {name: section for name, section in auth.items() if isinstance(section, dict) and name != "client_kwargs"}
    for name, section in named.items():
        _check(path, section, _OF_PROVIDER, f"auth.{name}")
    providers = list(named)
    if not named or any(key in auth for key in _OF_PROVIDER):
        _check(path, auth, _OF_PROVIDER, "auth")
        providers.insert(0, "")
    redirect = auth["redirect_uri"]
    parts = split_url(_filled(redirect, 1))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path != _CALLBACK:
        wrong = "is not an address of the desk, which needs a host of its own for a login, not a path of one"
        raise DataError(path, f"{wrong}; write https://HOST{_CALLBACK}.", "redirect_uri")
    return Login(tuple(providers), redirect)


def email_of(claims: Mapping[str, object]) -> str:
    """The e-mail address that a login vouches for; a UsageError if there is none."""
    email = claims.get("email")
    if not isinstance(email, str) or not email.strip():
        raise UsageError("the login gave no e-mail address, and the desk knows people by theirs.")
    # Some providers send it as a text.
    if str(claims.get("email_verified")).strip().casefold() == "false":
        raise UsageError(f"the login says that {email} is not verified, so that it could be anybody's.")
    return email


def _filled(redirect: str, port: int) -> str:
    return redirect.replace("{port}", str(port))


def _sections(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(path, f"is not TOML ({error}).") from None


def _check(path: Path, section: dict[str, Any], keys: tuple[str, ...], entry: str) -> None:
    for key in keys:
        if not isinstance(section.get(key), str) or not section[key].strip():
            raise DataError(path, f"the key '{key}' is missing; people could not log in.", f"[{entry}]")
