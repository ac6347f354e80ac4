"""Whether people log in at the desk: the [auth] section of .streamlit/secrets.toml, in the workspace or at home.

    [auth]
    redirect_uri = "https://desk.example.org/oauth2callback"
    cookie_secret = "a long random text"
    client_id = "…"
    client_secret = "…"
    server_metadata_url = "https://login.example.org/.well-known/openid-configuration"

The format is Streamlit's; each of several providers has a section of its own, such as [auth.google].
"""

from __future__ import annotations

import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from genaipa.errors import DataError, UsageError
from genaipa.files.strict_yaml import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from genaipa.workspace import Workspace

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
    parts = urlsplit(_filled(redirect, 1))
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path != _CALLBACK:
        raise DataError(path, f"is not an address of the desk; write https://HOST{_CALLBACK}.", "redirect_uri")
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
