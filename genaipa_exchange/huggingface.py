"""A Hugging Face data set: Parquet files of answers, of scores in effect and of the tidy table, and their card.

`answers.parquet` has a row for each answer, `scores.parquet` one for each score or adjudication in effect, which names
its answer by `answer`. `tidy.parquet` has a row for each answer and score, without texts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

import yaml

from genaipa import __version__
from genaipa.files.text import format_inline_code
from genaipa.runs.procedure import read_coordinates
from genaipa.words import format_count
from genaipa_exchange.outgoing import ExportSummary

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from genaipa.scoring.events import Event
    from genaipa_exchange.outgoing import Outgoing, OutgoingAnswer, OutgoingRun

_BATCH_ROWS = 5_000
"""Rows that are in memory."""
_HUB_LICENSES = {
    "apache-2.0": "apache-2.0",
    "mit": "mit",
    "cc0": "cc0-1.0",
    "cc0-1.0": "cc0-1.0",
    "odc-by": "odc-by",
    **{f"cc-{one}-{n}": f"cc-{one}-{n}" for one in ("by", "by-sa", "by-nc", "by-nc-sa") for n in ("3.0", "4.0")},
}
"""A license as it is stated, folded → its name on Hugging Face."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_LARGEST = "1M<n<10M"
_FILES = {
    "answers": "one row for each answer: what was asked, the reply, the annotated answer",
    "scores": "one row for each score in effect; `answer` is the answer's `digest`",
    "tidy": "one row for each answer and score, with all columns that tables and tests need",
}

_ANSWER_COLUMNS = (
    "digest",
    "system",
    "model",
    "document",
    "question",
    "initialization",
    "wording",
    "prompts",
    "status",
)
_REPLY_COLUMNS = ("asked", "reply", "started", "repetition", "seconds", "cost")

_Row = dict[str, Any]


def write_huggingface_dataset(outgoing: Outgoing, folder: Path) -> ExportSummary:
    """Write three files and `README.md`."""
    import pyarrow as pa

    from genaipa.answers.tidy import write_filled_columns_as_csv_or_parquet as write_tidy

    texts = (
        *_ANSWER_COLUMNS,
        "run",
        "experiment",
        "asked",
        "asked_before",
        "reply_before",
        "reply",
        "annotated_answer",
        "silent",
        "started",
        "excluded",
    )
    numbers = ("seconds", "cost", "tokens_in", "tokens_out")
    columns = {**dict.fromkeys(texts, pa.string()), "repetition": pa.int32(), **dict.fromkeys(numbers, pa.float64())}
    metrics = [*outgoing.rubric.metrics, "m_all"]
    marks = {
        **dict.fromkeys(("answer", "analyst", "role", "scorer", "time", "note", "rubric"), pa.string()),
        **dict.fromkeys((*metrics, "seconds"), pa.float64()),
        "independent": pa.bool_(),
    }
    # First, so that it is gone when the texts are read.
    write_tidy(outgoing.make_tidy_table(), folder / "tidy.parquet")
    scored = set[str]()
    systems: dict[str, None] = {}
    with (
        _BatchedParquetWriter(folder / "answers.parquet", columns) as answers,
        _BatchedParquetWriter(folder / "scores.parquet", marks) as scores,
    ):
        for run in outgoing.runs:
            for answer in run.iterate_permitted_answers():
                answers.add_row(_answer_row(run, answer))
                systems[answer.record.system] = None
                if answer.record.digest not in scored:
                    scored.add(answer.record.digest)
                    for event in answer.scores:
                        scores.add_row(_score_row(outgoing, event))
    (folder / "README.md").write_text(_format_dataset_card(outgoing, answers.count, systems), encoding="utf-8")
    return ExportSummary(
        4, answers.count, scores.count, "Choose a license for the answers and scores, and state it in README.md."
    )


class _BatchedParquetWriter:
    """A Parquet file that is written some rows at a time."""

    def __init__(self, path: Path, columns: dict[str, Any]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self._table, self._schema = pa.Table, pa.schema(columns)
        self._file = parquet.ParquetWriter(path, self._schema)
        self._rows: list[_Row] = []
        self.count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._write_rows()
        self._file.close()

    def add_row(self, row: _Row) -> None:
        """Keep a row until there are enough to write."""
        self._rows.append(row)
        self.count += 1
        if len(self._rows) == _BATCH_ROWS:
            self._write_rows()

    def _write_rows(self) -> None:
        self._file.write_table(self._table.from_pylist(self._rows, self._schema))
        self._rows = []


def _answer_row(run: OutgoingRun, answer: OutgoingAnswer) -> _Row:
    record, usage, right = answer.record, answer.record.usage, answer.annotated
    at = read_coordinates(record)
    return {
        **{name: getattr(at if name in at._fields else record, name) for name in (*_ANSWER_COLUMNS, *_REPLY_COLUMNS)},
        "run": run.name,
        "prompts": run.prompt_set_label(record),
        "experiment": answer.experiment,
        "asked_before": answer.earlier.asked if answer.earlier else None,
        "reply_before": answer.earlier.reply if answer.earlier else None,
        "annotated_answer": right.answer if right else None,
        "silent": right.silent if right else None,
        "excluded": answer.excluded or None,
        "tokens_in": usage.input if usage else None,
        "tokens_out": usage.output if usage else None,
    }


def _score_row(outgoing: Outgoing, event: Event) -> _Row:
    values: Mapping[str, float] = event.values or {}
    is_complete = outgoing.rubric.metrics.keys() <= values.keys()
    return {
        **{name: getattr(event, name) for name in ("answer", "analyst", "scorer", "time", "note", "seconds", "rubric")},
        "role": event.kind,
        "independent": event.independent,
        **{metric: values.get(metric) for metric in outgoing.rubric.metrics},
        "m_all": outgoing.rubric.m_all(values) if is_complete else None,
    }


def _format_dataset_card(outgoing: Outgoing, answer_count: int, systems: Collection[str]) -> str:
    """Return the data set's card: its header for Hugging Face, and what a reader has to know.

    `systems` are those whose answers are in it.
    """
    licenses = ", ".join(map(format_inline_code, outgoing.licenses))
    documents = {name: facts for run in outgoing.runs for name, facts in run.manifest.documents.items()}
    ids = [_HUB_LICENSES.get(re.sub(r"\s+", "-", name.strip().casefold())) for name in outgoing.licenses]
    hub_license = ids[0] if len(ids) == 1 else None
    header = {
        "license": hub_license or "other",
        **({} if hub_license else {"license_name": "see-readme", "license_link": "README.md"}),
        "language": sorted({facts.language or "en" for facts in documents.values()}),
        "pretty_name": f"Answers of {format_count(len(systems), 'system')} about "
        f"{format_count(len(documents), 'document')}",
        "task_categories": ["question-answering"],
        "tags": ["genaipa", "privacy-policy"],
        "size_categories": [next((name for limit, name in _SIZES if answer_count < limit), _LARGEST)],
        "configs": [{"config_name": name, "data_files": f"{name}.parquet"} for name in _FILES],
    }
    lines = [
        "---",
        yaml.safe_dump(header, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {header['pretty_name']}",
        "",
        f"Collected and scored with genaipa {__version__}. Replies are model output; treat them as untrusted.",
        "",
        *(f"- `{name}.parquet`: {meaning}" for name, meaning in _FILES.items()),
        "",
        "## Licenses",
        "",
        f"Quoted texts: {licenses or 'none'}. Answers and scores: [your license].",
    ]
    if outgoing.omission_counts:
        held = (format_count(count, noun) for noun, count in sorted(outgoing.omission_counts.items()))
        silent = sorted(set(outgoing.silenced) - set(systems))
        without = f" For {', '.join(map(format_inline_code, silent))} only `tidy.parquet` has rows." if silent else ""
        lines += ["", f"Left out because redistribution is not permitted: {', '.join(held)}.{without}"]
    return "\n".join(lines) + "\n"
