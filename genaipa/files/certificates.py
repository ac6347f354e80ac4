"""Servers' certificates: whom this machine trusts, and what a refused one needs, in a sentence."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from genaipa.errors import UsageError

if TYPE_CHECKING:
    import ssl

VARIABLE = "SSL_CERT_FILE"
"""Variable with a file of the authorities that are trusted, in place of this machine's."""

_REFUSED = re.compile(r"certificate verify failed: ((?:[^(\]]|\([^_])+)", re.IGNORECASE)
_UNKNOWN = re.compile(r"self[- ]signed|local issuer|issuer certificate|unable to verify|unknown", re.IGNORECASE)


def trusted() -> ssl.SSLContext:
    """Return whom this machine trusts, for all connections of the process: to read it takes fifty milliseconds.

    A UsageError for an SSL_CERT_FILE that names no file, or one without a certificate.
    """
    return _trusted(os.environ.get(VARIABLE), os.environ.get("SSL_CERT_DIR"))


@cache
def _trusted(file: str | None, _folder: str | None) -> ssl.SSLContext:
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        if not file:
            raise
        wrong = "is not there" if not Path(file).exists() else f"has no certificate that can be read ({error.strerror})"
        raise UsageError(f"{VARIABLE} names {file}, which {wrong}; name a PEM file, or unset {VARIABLE}.") from None


def certificate_refused(error: object, server: str) -> str:
    """Say why the certificate of a server was refused, and what helps; empty if an error is about anything else."""
    found = None
    while error is not None and found is None:
        found = _REFUSED.search(str(error))
        error = getattr(error, "__cause__", None) or getattr(error, "__context__", None)
    if found is None:
        return ""
    why = found[1].strip(" .")
    said = f"the certificate of {server} is not trusted ({why})"
    if not _UNKNOWN.search(why):
        return f"{said}; its owner has to mend it, or the address is another's"
    file = os.environ.get(VARIABLE)
    now = f"; it names {file} now" if file else ""
    return f"{said}; if its authority is your own company's, let {VARIABLE} name a PEM file with that authority{now}"
