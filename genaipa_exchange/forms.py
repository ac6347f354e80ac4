"""The forms: names of other programs' files, with what writes them and what reads them back.

A new one is a file here and a line of `FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from genaipa.errors import UnknownNameError, UsageError
from genaipa.files.atomic import open_draft_folder
from genaipa_exchange import chat_import, huggingface, inspect_logs, label_studio
from genaipa_exchange.incoming import ImportSummary, Incoming
from genaipa_exchange.outgoing import ExportSummary, Outgoing


@dataclass(frozen=True)
class ExchangeFormat:
    """A form of files: its `name` in commands, and what the files are.

    `write` fills an empty folder, in a form that can be exported; `read` takes in files or folders of the form, in one
    that can be imported. `options` are those of the import that only this form has.
    """

    name: str
    what: str
    write: Callable[[Outgoing, Path], ExportSummary] | None = None
    read: Callable[[Sequence[Path], Incoming], ImportSummary] | None = None
    options: tuple[str, ...] = ()


FORMS: tuple[ExchangeFormat, ...] = (
    ExchangeFormat(
        "chat",
        "answers in chats, for import only: exports from ChatGPT, Claude and Gemini, promptfoo, lm-eval, JSON lines",
        read=chat_import.import_chats,
        options=("policy", "questions", "system", "accept"),
    ),
    ExchangeFormat(
        "huggingface",
        "a Hugging Face data set: Parquet files and a dataset card",
        huggingface.write_huggingface_dataset,
    ),
    ExchangeFormat(
        "inspect",
        "evaluation logs of Inspect, for export and import",
        inspect_logs.write_inspect_logs,
        inspect_logs.import_inspect_logs,
    ),
    ExchangeFormat(
        "label-studio",
        "answers to score in Label Studio, for export and import",
        label_studio.write_label_studio_project,
        label_studio.import_label_studio_export,
        ("annotators",),
    ),
)


def find_exchange_format(name: str, *, importable: bool = False) -> ExchangeFormat:
    """Return the form of that name that can be exported, or is `importable`; an UnknownNameError for none."""
    forms = {form.name: form for form in FORMS if (form.read if importable else form.write)}
    if name not in forms:
        raise UnknownNameError("format", name, forms)
    return forms[name]


def write_in_exchange_format(form: ExchangeFormat, outgoing: Outgoing, folder: Path) -> ExportSummary:
    """Write runs in a form into a new or empty folder, whole or not at all; a UsageError for any other."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} already exists and is not empty; name a new folder.")
    try:
        with open_draft_folder(folder) as draft_folder:
            assert form.write is not None, "it can be exported"
            return form.write(outgoing, draft_folder)
    except OSError as error:
        raise UsageError(f"{folder} can't be written ({error.strerror}).") from None
