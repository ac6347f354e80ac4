"""Versions of the packages that made the tables."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

EXTRAS = ("reports",)
"""Extras of genaipa with which reports can be made."""


def constraints() -> str:
    """A line `name==version` for each package that genaipa needs for reports, as they are installed here."""
    found = sorted(name for name in installed("genaipa", EXTRAS) if name != "genaipa")
    return "".join(f"{name}=={distribution(name).version}\n" for name in found)


def installed(name: str, extras: tuple[str, ...]) -> dict[str, set[str]]:
    """Package → the packages that it needs, of one with these extras and all that it brings, as far as installed."""
    known: dict[str, set[str]] = {}
    _reach(name, extras, known, set())
    return known


def _reach(name: str, extras: tuple[str, ...], known: dict[str, set[str]], asked: set[tuple[str, str]]) -> None:
    try:
        of = distribution(name)
    except PackageNotFoundError:
        return  # of another system or Python
    those = _needed(of, extras)
    known.setdefault(name, set()).update(those)
    for other, more in those.items():
        new = {(other, extra) for extra in ("", *more)} - asked
        asked |= new
        if new:
            _reach(other, more, known, asked)


def _needed(of: Distribution, extras: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The packages that a package needs here with these extras, each with the extras that it is asked for."""
    found: dict[str, tuple[str, ...]] = {}
    for line in of.requires or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            found[canonicalize_name(one.name)] = tuple(one.extras)
    return found
