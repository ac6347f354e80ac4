"""Published rows of a suite: what papers print for it, as data beside its code (`published.yaml`)."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from genaipa.errors import DataError, nearest
from genaipa.files.strict_yaml import read_yaml

if TYPE_CHECKING:
    from genaipa_suites.suite import Suite

FILE = "published.yaml"
_Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


class PublishedRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published row. `values` are percentages by the name of the measure that has the very same definition.

    `source` is the paper and its table, `kind` says how the figures came about ("fine-tuned, mean of five seeds").
    A row that is about a part of the split alone names the `breakdown` and the `group` in it.
    """

    system: str
    source: str
    split: str
    kind: str
    values: Annotated[dict[str, _Percent], msgspec.Meta(min_length=1)]
    note: str = ""
    breakdown: str = ""
    group: str = ""


def published_rows(suite: type[Suite] | Suite) -> list[PublishedRow]:
    """The rows published for a suite, in the file's order; none if it has no file.

    A DataError for a split that the suite does not have, a group that a breakdown of its own does not have, or a value
    under a name that none of the measures has.
    """
    kind = suite if isinstance(suite, type) else type(suite)
    path = Path(inspect.getfile(kind)).with_name(FILE)
    if not path.is_file():
        return []
    rows = read_yaml(path, list[PublishedRow])
    for number, row in enumerate(rows, 1):
        entry = f"row {number} ({row.system})"
        if row.split not in kind.splits:
            raise DataError(path, f"'{row.split}' is no split of {kind.title}{nearest(row.split, kind.splits)}", entry)
        groups = kind.parts.get(row.breakdown, {row.group: kind.measures})
        if row.group not in groups:
            raise DataError(path, f"'{row.group}' is no group of {row.breakdown}{nearest(row.group, groups)}", entry)
        names = [measure.name for measure in groups[row.group]]
        for name in row.values:
            if name not in names:
                raise DataError(path, f"'{name}' is no measure of {kind.title}{nearest(name, names)}", entry)
    return rows
