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


def ssl_context() -> ssl.SSLContext:
    """Return the TLS context of whom this machine trusts, for all connections: to load it takes fifty milliseconds.

    Raise a UsageError for an SSL_CERT_FILE that names no file, or one without a certificate.
    """
    return _load_ssl_context(os.environ.get(VARIABLE), os.environ.get("SSL_CERT_DIR"))


@cache
def _load_ssl_context(certificate_file: str | None, _certificate_folder: str | None) -> ssl.SSLContext:
    import httpx2

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        if not certificate_file:
            raise
        wrong = (
            "does not exist"
            if not Path(certificate_file).exists()
            else f"has no readable certificate ({error.strerror})"
        )
        raise UsageError(
            f"{VARIABLE} names {certificate_file}, which {wrong}; set it to a PEM file, or unset it."
        ) from None


def explain_refused_certificate_or_empty(error: object, host: str) -> str:
    """Say why the certificate of a server was refused, and what helps; empty if an error is about anything else."""
    match = None
    while error is not None and match is None:
        match = _REFUSED.search(str(error))
        error = getattr(error, "__cause__", None) or getattr(error, "__context__", None)
    if match is None:
        return ""
    reason = match[1].strip(" .")
    sentence = f"the certificate of {host} is not trusted ({reason})"
    if not _UNKNOWN.search(reason):
        return f"{sentence}; its owner must fix it, unless the address is wrong"
    file = os.environ.get(VARIABLE)
    names = f"; it is now set to {file}" if file else ""
    remedy = f"if your own company issued it, set {VARIABLE} to a PEM file with that authority"
    return f"{sentence}; {remedy}{names}"
