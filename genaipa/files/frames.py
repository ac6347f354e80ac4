"""Data frames, for whoever has pandas installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from genaipa.errors import MissingPackageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd


def frame_of(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """A frame of these rows and columns; a MissingPackageError without pandas."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingPackageError("a frame needs the package 'pandas': pip install 'genaipa[reports]'") from None
    return pd.DataFrame(list(rows), columns=list(columns))
