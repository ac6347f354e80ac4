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
from genaipa.files.text import read_text, split_url_or_empty
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.scoring.assignment import ScoringPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.scoring.people import StudyPlan
    from genaipa.workspace import Workspace


VARIABLE = "GENAIPA_DESK"


class DeskSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a study's scoring at the desk: the `plan`, and what is to be scored.

    `runs` names the runs to score, as `select_runs_and_apply_filters` takes names; empty means every run of the
    workspace.
    `only` are the filters on their answers. With `excluded`, excluded answers are scored too.
    `sample` is the size of the wave in each group, or all for everything; by default (None) it is that of the
    workspace's wave, which is drawn where a group has more than `waves.SIZE` answers.
    """

    workspace: Path
    runs: tuple[str, ...] = ()
    only: Filters = EVERYTHING
    excluded: bool = False
    sample: int | Literal["all"] | None = None
    plan: ScoringPlan = ScoringPlan()

    @classmethod
    def from_plan(
        cls, workspace: Path, plan: StudyPlan, *, runs: tuple[str, ...] = (), only: Filters = EVERYTHING
    ) -> Self:
        """Return the settings of a study's plan."""
        return cls(
            workspace=workspace,
            runs=runs,
            only=only,
            excluded=plan.include_excluded,
            sample=plan.sample_size,
            plan=ScoringPlan(
                per_answer=plan.per_answer,
                order=plan.order,
                seed=plan.seed,
                calibration=plan.calibration,
                blind=not plan.show_systems,
                nearest=plan.nearest,
                evidence=plan.evidence,
                suggestions=plan.suggestions,
                points=plan.points,
            ),
        )

    def to_environment(self) -> dict[str, str]:
        """Return the environment variable by which the desk's server gets these settings."""
        return {VARIABLE: msgspec.json.encode(self, enc_hook=str).decode()}


def read_settings_from_environment() -> DeskSettings:
    """Read the settings that `genaipa score` handed on; a UsageError where the pages were started in another way."""
    text = os.environ.get(VARIABLE)
    if text is None:
        raise UsageError("open the desk with: genaipa score")
    return msgspec.json.decode(text, type=DeskSettings, dec_hook=lambda kind, value: kind(value))


_KEY = re.compile(r"[\w-]{22}")


def load_or_create_desk_key_in_user_state(workspace: Path) -> str:
    """Return the key of a workspace's desk, made where there is none; one of this process where none can be kept."""
    import platformdirs

    name = hashlib.sha256(str(workspace.resolve()).encode()).hexdigest()[:16]
    path = platformdirs.user_state_path("genaipa") / "desks" / name
    new_key = _make_process_key()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError), open(path, "x", opener=_open_for_owner_only) as file:
            file.write(new_key)
        stored_key = path.read_text(encoding="ascii", errors="replace")
        return stored_key if _KEY.fullmatch(stored_key) else new_key
    return new_key


@cache
def _make_process_key() -> str:
    """Make one key for each process: the printed address has the key that the gate asks for."""
    return secrets.token_urlsafe(16)


def desk_key_cookie_name(key: str) -> str:
    """Name the cookie that keeps a key: cookies are for all ports of a machine, where other desks may be."""
    return f"genaipa_key_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _open_for_owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


_OF_DESK = ("redirect_uri", "cookie_secret")
_OF_PROVIDER = ("client_id", "client_secret", "server_metadata_url")
_CALLBACK = "/oauth2callback"


@dataclass(frozen=True)
class LoginSettings:
    """The identity `providers` ("" is the one without a name), and the address that they redirect to."""

    providers: tuple[str, ...]
    redirect: str

    def desk_url(self, port: int) -> str:
        """Return the address at which people open a desk on this port."""
        return _fill_port(self.redirect, port).removesuffix(_CALLBACK)


def possible_secrets_files(workspace: Workspace) -> list[Path]:
    """Return the files of secrets; a section of a later one replaces an earlier one's."""
    return [folder / ".streamlit" / "secrets.toml" for folder in (Path.home(), workspace.home)]


def find_secrets_files_others_can_read(workspace: Workspace) -> list[Path]:
    """Find the secrets files that other users of this machine can read."""
    other_users = stat.S_IRGRP | stat.S_IROTH
    return [path for path in possible_secrets_files(workspace) if path.is_file() and path.stat().st_mode & other_users]


def read_login(workspace: Workspace) -> LoginSettings | None:
    """Read the login of a workspace's desk; None without one. A DataError, which quotes no secret, if unusable."""
    login_section = None
    for path in possible_secrets_files(workspace):
        if path.is_file() and "auth" in (sections := _parse_toml_file(path)):
            login_section = path, sections["auth"]
    if login_section is None:
        return None
    path, auth = login_section
    if not isinstance(auth, dict):
        raise DataError(path, "is not a section; write [auth].", "auth")
    _check_login_keys(path, auth, _OF_DESK, "auth")
    provider_sections = {
        name: section for name, section in auth.items() if isinstance(section, dict) and name != "client_kwargs"
    }
    for name, section in provider_sections.items():
        _check_login_keys(path, section, _OF_PROVIDER, f"auth.{name}")
    providers = list(provider_sections)
    if not provider_sections or any(key in auth for key in _OF_PROVIDER):
        _check_login_keys(path, auth, _OF_PROVIDER, "auth")
        providers.insert(0, "")
    redirect = auth["redirect_uri"]
    parts = split_url_or_empty(_fill_port(redirect, 1))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path != _CALLBACK:
        problem = "is not a valid address: with a login, the desk needs its own host, not a path on a host"
        raise DataError(path, f"{problem}; write https://HOST{_CALLBACK}.", "redirect_uri")
    return LoginSettings(tuple(providers), redirect)


def require_email_not_marked_unverified(claims: Mapping[str, object]) -> str:
    """Read the e-mail address that a login vouches for; a UsageError if there is none."""
    email = claims.get("email")
    if not isinstance(email, str) or not email.strip():
        raise UsageError("the login gave no e-mail address, which the desk needs to identify people.")
    # Some providers send it as a text.
    if str(claims.get("email_verified")).strip().casefold() == "false":
        raise UsageError(f"the login says that {email} is not verified, so it could be anybody's.")
    return email


def _fill_port(redirect_uri: str, port: int) -> str:
    return redirect_uri.replace("{port}", str(port))


def _parse_toml_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(path, f"is not TOML ({error}).") from None


def _check_login_keys(path: Path, section: dict[str, Any], required_keys: tuple[str, ...], section_name: str) -> None:
    for key in required_keys:
        if not isinstance(section.get(key), str) or not section[key].strip():
            raise DataError(path, f"the key '{key}' is missing; people could not log in.", f"[{section_name}]")
