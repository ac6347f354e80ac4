"""The tables of a packed study for machines, as Croissant's JSON-LD."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pandas as pd

from genaipa.archive import REPORT
from genaipa.reports import tidy as tidy_table
from genaipa.reports.writing import FRAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from genaipa.archive import Packed

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "description": {"@container": "@language"},
    **{
        term: f"cr:{term}"
        for term in (
            *("arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileObject"),
            *("fileProperty", "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5"),
            *("parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate"),
            *("separator", "source", "subField", "transform"),
        )
    },
}
"""The terms of Croissant 1.1 (https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html)."""


def described(packed: Packed, archive: Path, about: str, licenses: Sequence[str]) -> str:
    """Croissant 1.1's JSON-LD of a packed study: the archive, each table in it as CSV, and what their columns mean."""
    study: dict[str, Any] = {
        "@type": "cr:FileObject",
        "@id": archive.name,
        "name": archive.name,
        "contentUrl": archive.name,
        "encodingFormat": "application/zip",
        "sha256": _digest(archive.read_bytes()),
    }
    files, records = [study], []
    with zipfile.ZipFile(archive) as opened:
        there = set(opened.namelist())
        for name, title, file, data in _tables(packed, there):
            path = f"{REPORT}/{file}"
            files.append(
                {
                    "@type": "cr:FileObject",
                    "@id": path,
                    "name": path,
                    "contentUrl": path,
                    "containedIn": {"@id": archive.name},
                    "encodingFormat": "text/csv" if file.endswith(".csv") else "application/vnd.apache.parquet",
                    "sha256": _digest(opened.read(path)),
                }
            )
            records.append(
                {
                    "@type": "cr:RecordSet",
                    "@id": name,
                    "name": name,
                    "description": title,
                    "field": [_field(name, path, str(column), data[column]) for column in data.columns],
                }
            )
    content = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": "genaipa-study",
        "description": f"{about} Each table of the report, and one row per answer and score.",
        "license": list(licenses),
        "url": "[address]",
        "citeAs": "[reference of the paper]",
        "version": "1.0.0",
        "datePublished": dt.datetime.now(dt.UTC).date().isoformat(),
        "distribution": files,
        "recordSet": records,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _tables(packed: Packed, there: set[str]) -> Iterable[tuple[str, str, str, pd.DataFrame]]:
    """(name, title, file in the report's folder, data) of each table, the tidy one first."""
    for file in (f"{FRAME}.csv", f"{FRAME}.parquet"):
        if f"{REPORT}/{file}" in there:
            written = tidy_table.filled(packed.report.frame)
            yield FRAME, "One row per answer and score: the source of all other tables.", file, written
            break
    for table in packed.report.tables.values():
        yield table.name, table.title, f"tables/{table.name}.csv", table.data


def _field(of: str, path: str, column: str, data: pd.Series[Any]) -> dict[str, Any]:
    meant = tidy_table.columns(()).get(column) if of == FRAME else None
    return {
        "@type": "cr:Field",
        "@id": f"{of}/{column}",
        "name": column,
        **({"description": meant[1]} if meant else {}),
        "dataType": _type(data),
        "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
    }


def _type(data: pd.Series[Any]) -> str:
    kind = data.dtype
    if pd.api.types.is_bool_dtype(kind):
        return "sc:Boolean"
    if pd.api.types.is_integer_dtype(kind):
        return "sc:Integer"
    return "sc:Float" if pd.api.types.is_float_dtype(kind) else "sc:Text"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
