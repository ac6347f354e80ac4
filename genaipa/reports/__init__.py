"""Runs and their scores as one tidy table; the report, the comparison and the leaderboard made of it."""

import importlib.util

from genaipa.errors import MissingPackageError

PACKAGES = ("matplotlib", "numpy", "pandas", "pyarrow", "scipy", "sqlalchemy")


def check_report_packages() -> None:
    """Raise a MissingPackageError that names the extra where a package that reports need is not installed."""
    for name in PACKAGES:
        if importlib.util.find_spec(name) is None:
            raise MissingPackageError(f"reports need the package '{name}': pip install 'genaipa[reports]'")
