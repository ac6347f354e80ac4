"""Inspect: a log of evaluation for each run, system and experiment; an answer is a sample, a repetition an epoch.

Logs are written as JSON, one sample after another: `write_eval_log` wants all of them in memory, and takes as long as
the square of their number for its other format. Every part is made by Inspect's own classes, and logs of either format
are read by its own function. A sample's metadata are the fields of its record; a score's hold its event.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import importlib
import shutil
import zipfile
from collections import defaultdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec

from genaipa import __version__
from genaipa.errors import DataError, MissingPackageError, clip
from genaipa.files.limits import INSPECT_LOG, ReadingAllowance, limit_reading
from genaipa.files.names import clean_folder_name
from genaipa.files.stamps import format_utc_milliseconds, now
from genaipa.files.text import sha256_of
from genaipa.runs.procedure import read_coordinates
from genaipa.runs.records import MOST_REPETITIONS
from genaipa.systems.base import Usage
from genaipa.systems.endpoint import parse_token_count_or_zero
from genaipa_exchange.incoming import ForeignLog, ForeignSample
from genaipa_exchange.outgoing import ExportSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from genaipa.runs.records import Status
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa_exchange.incoming import ImportSummary, Incoming
    from genaipa_exchange.outgoing import Outgoing, OutgoingAnswer, OutgoingRun

_ANSWER = 500
"""Characters of a reply beside its scores: all of it is a click away."""
_VERSION = 2
"""Version of the logs that are written; Inspect reads earlier ones, too."""
_LONGEST = 1e9
"""Seconds of a call that are believed."""
M_ALL = "M_all"
"""The sum of all metrics, from 10 to 100: what Inspect lists first of a score, before the metrics."""
METADATA_KEY = "genaipa"
"""Key of a log's metadata under which there is all that makes it a run again."""


def _import_inspect_module(name: str) -> Any:
    """Import a module of Inspect; a MissingPackageError with the extra that brings it."""
    try:
        return importlib.import_module(f"inspect_ai.{name}")
    except ImportError:
        raise MissingPackageError(
            "Inspect logs need the package 'inspect_ai': pip install 'genaipa[inspect]'"
        ) from None


# -- out --


def write_inspect_logs(outgoing: Outgoing, folder: Path) -> ExportSummary:
    """Write a log for each system and experiment of each run."""
    _import_inspect_module("log")
    files = answers = 0
    scores: set[str] = set()
    for run in outgoing.runs:
        logs: dict[tuple[str, str], _InspectLogWriter] = {}
        if run.published_scores_system_and_experiment is not None:
            logs[run.published_scores_system_and_experiment] = _InspectLogWriter(
                run, *run.published_scores_system_and_experiment, folder
            )
        for answer in run.iterate_permitted_answers():
            log_key = (answer.record.system, answer.experiment)
            if log_key not in logs:
                logs[log_key] = _InspectLogWriter(run, *log_key, folder)
            logs[log_key].add_answer(answer)
        for log in logs.values():
            log.write_log_file(is_only_log=len(logs) == 1)
            files, answers, scores = files + 1, answers + log.answers, scores | log.scores
    return ExportSummary(files, answers, len(scores), follow="inspect view --log-dir {}")


class _InspectLogWriter:
    """A log on its way: its samples are in a file of their own until all are there, since the head counts them."""

    def __init__(self, run: OutgoingRun, system: str, experiment: str, folder: Path) -> None:
        self.run, self.system, self.experiment = run, system, experiment
        self.name = clean_folder_name(f"{run.name}-{system}-{experiment}", max_characters=150)
        self._folder, self._samples = folder, folder / f".{self.name}"
        self._file = self._samples.open("w", encoding="utf-8")
        self.ids: dict[str, int] = {}
        """Sample → its last epoch."""
        self._created = run.manifest.created or now()
        self.answers = 0
        self.scores: set[str] = set()
        """Ids of events: an answer that was given in several places has its scores in each."""
        self._documents: dict[str, None] = {}
        self._times: list[tuple[str, str]] = []
        """When each answer was begun, and when it was there."""
        self._sums: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        self._numbers: defaultdict[str, int] = defaultdict(int)

    def add_answer(self, answer: OutgoingAnswer) -> None:
        """Write an answer as a sample."""
        record = answer.record
        sample = _make_inspect_sample(answer, self.run.rubric)
        if sample.started_at:
            self._times.append((sample.started_at, sample.completed_at))
        self._file.write((",\n" if self.answers else "\n") + sample.model_dump_json(exclude_none=True))
        self.answers += 1
        self.ids[sample.id] = max(record.repetition, self.ids.get(sample.id, 0))
        self._documents[record.document] = None
        for event in answer.scores:
            self.scores.add(event.id)
            self._numbers[event.analyst] += 1
            for metric, value in _values_with_m_all(event, self.run.rubric).items():
                self._sums[event.analyst][metric] += value

    def write_log_file(self, *, is_only_log: bool) -> None:
        """Write the log: its head, then its samples. One that is `is_only_log` has all of its run, and its name."""
        self._file.close()
        name = self.run.name if is_only_log else self.name
        head = self._make_log_head(name).model_dump_json(exclude_none=True)
        # Inspect lists logs in JSON by such names only, and takes what comes last for the task's id.
        begun = format_utc_milliseconds(dt.datetime.fromisoformat(self._created))[:19].replace(":", "-")
        path = self._folder / f"{begun}_{self.experiment}_{name.replace('_', '-')}_{self.task_id}.json"
        with path.open("w", encoding="utf-8") as log, self._samples.open(encoding="utf-8") as samples:
            log.write(head.removesuffix("}") + ',"samples":[')
            shutil.copyfileobj(samples, log)
            log.write("\n]}\n")
        self._samples.unlink()

    @property
    def task_id(self) -> str:
        """An id that no other log has: of this run, system and experiment."""
        return sha256_of(f"{self.run.name}\0{self.system}\0{self.experiment}")[:22]

    def _make_log_head(self, name: str) -> Any:
        log, manifest = _import_inspect_module("log"), self.run.manifest
        spec = log.EvalSpec(
            created=self._created,
            task=self.experiment,
            task_id=self.task_id,
            run_id=self.run.name,
            dataset=log.EvalDataset(name=manifest.name, samples=len(self.ids), sample_ids=list(self.ids)),
            model=self.system,
            config=log.EvalConfig(epochs=max(self.ids.values(), default=1)),
            packages={"genaipa": __version__},
            metadata={METADATA_KEY: self.run.make_export_head(name, self.system, self.experiment, self._documents)},
        )
        results = log.EvalResults(
            total_samples=self.answers,
            completed_samples=self.answers,
            scores=list(self._iterate_mean_scores_of_each_analyst(log)),
        )
        begun, ended = zip(*self._times, strict=True) if self._times else ([self._created], [self._created])
        stats = log.EvalStats(started_at=min(begun), completed_at=max(ended))
        return log.EvalLog(version=_VERSION, status="success", eval=spec, results=results, stats=stats)

    def _iterate_mean_scores_of_each_analyst(self, log_module: Any) -> Iterator[Any]:
        for analyst, sums in self._sums.items():
            means = {metric: total / self._numbers[analyst] for metric, total in sums.items()}
            metrics = {metric: log_module.EvalMetric(name=metric, value=mean) for metric, mean in means.items()}
            yield log_module.EvalScore(
                name=analyst, scorer=analyst, scored_samples=self._numbers[analyst], metrics=metrics
            )


def _values_with_m_all(event: Event, rubric: Rubric) -> dict[str, float]:
    """Return an event's values, and M_all before them."""
    assert event.values is not None, "scores and adjudications have values"
    return {M_ALL: round(rubric.m_all(event.values), 2)} | event.values


def _make_messages_of_earlier_exchange(answer: OutgoingAnswer) -> list[Any]:
    """Make the messages that a follow-up goes on from; none for any other question."""
    if answer.earlier is None:
        return []
    model = _import_inspect_module("model")
    return [
        model.ChatMessageUser(content=answer.earlier.asked),
        model.ChatMessageAssistant(content=answer.earlier.reply),
    ]


def _make_inspect_sample(answer: OutgoingAnswer, rubric: Rubric) -> Any:
    log, model, record = _import_inspect_module("log"), _import_inspect_module("model"), answer.record
    metadata = {name: value for name, value in msgspec.to_builtins(record).items() if name not in ("asked", "reply")}
    output = model.ModelOutput.from_content(record.model or record.system, record.reply or "")
    output.time = record.seconds
    if record.usage is not None:
        used = record.usage
        output.usage = model.ModelUsage(
            input_tokens=used.input,
            output_tokens=used.output,
            total_tokens=used.input + used.output,
            input_tokens_cache_read=used.cached,
            input_tokens_cache_write=used.cache_write,
            reasoning_tokens=used.reasoning,
            total_cost=record.cost,
        )
    started = dt.datetime.fromisoformat(record.started) if record.started else None
    at = read_coordinates(record)
    coordinates = (at.document, at.initialization, at.wording, at.question, at.prompts)
    return log.EvalSample(
        id="|".join(filter(None, coordinates)),
        epoch=record.repetition,
        input=record.asked,
        target=answer.annotated.answer if answer.annotated else "",
        messages=[
            *_make_messages_of_earlier_exchange(answer),
            model.ChatMessageUser(content=record.asked),
            output.choices[0].message,
        ],
        output=output,
        scores=_make_inspect_scores(answer.scores, record.reply or "", rubric),
        started_at=format_utc_milliseconds(started) if started else None,
        completed_at=format_utc_milliseconds(started + dt.timedelta(seconds=record.seconds)) if started else None,
        total_time=record.seconds,
        working_time=record.seconds,
        metadata=metadata | ({"excluded": answer.excluded} if answer.excluded else {}),
    )


def _make_inspect_scores(events: Sequence[Event], reply: str, rubric: Rubric) -> dict[str, Any]:
    score = _import_inspect_module("scorer").Score
    scores: dict[str, Any] = {}
    for event in events:
        name = event.analyst if event.kind == "score" else f"{event.analyst} ({event.kind})"
        scores[name] = score(
            value=_values_with_m_all(event, rubric),
            answer=clip(reply, _ANSWER),
            explanation=event.note or None,
            metadata={"event": msgspec.to_builtins(event)},
        )
    return scores


# -- in --


def import_inspect_logs(paths: Sequence[Path], incoming: Incoming) -> ImportSummary:
    """Take in logs, or all logs of folders: each becomes a run, unless its answers are here; and its scores.

    A DataError names the first log that can't be taken in, and nothing is then.
    """
    read_log = _import_inspect_module("log").read_eval_log
    for log_path in (log_path for path in paths for log_path in _list_inspect_logs(path)):
        if not log_path.is_file():
            raise DataError(log_path, "does not exist.")
        _check_inspect_log_size(log_path)
        try:
            log = read_log(str(log_path), resolve_attachments="full")
        except Exception as error:  # noqa: BLE001 - it raises whatever its parsers do
            raise DataError(
                log_path, f"is not an Inspect log, or is damaged ({clip(' '.join(str(error).split()), 200)})."
            ) from None
        if log.status != "success":
            raise DataError(
                log_path,
                f"comes from an evaluation that did not finish ({log.status}); finish it with: inspect eval-retry.",
            )
        ours = (log.eval.metadata or {}).get(METADATA_KEY)
        if ours is None:
            _import_foreign_log(log_path, log, incoming)
        else:
            _import_genaipa_log(log_path, log, ours, incoming)
    return incoming.write_runs_and_scores()


def _check_inspect_log_size(path: Path) -> None:
    """Refuse a log of more than its reader could take into memory: a few kilobytes may hold gigabytes."""
    with limit_reading(INSPECT_LOG, path) as allowance:
        allowance.check_size(path.stat().st_size)
        if not zipfile.is_zipfile(path):
            _check_json_value_count(path, allowance)
            return
        with allowance.open_zip_archive(path) as log:
            for name in log.namelist():
                with log.open(name) as member:
                    _check_json_value_count(member, allowance)


def _check_json_value_count(file: Path | IO[bytes], allowance: ReadingAllowance) -> None:
    with file.open("rb") if isinstance(file, Path) else contextlib.nullcontext(file) as content:
        while chunk := content.read(2**20):
            allowance.add_elements_within_limit(sum(map(chunk.count, (b"{", b"[", b","))))


def _list_inspect_logs(path: Path) -> list[Path]:
    """Return the logs in a folder, as Inspect lists them, or the only one; a DataError where there is none."""
    if not path.is_dir():
        return [path]
    listed = _import_inspect_module("log").list_eval_logs(str(path))
    if not listed:
        raise DataError(path, "contains no Inspect logs.")
    return sorted(Path(url2pathname(urlsplit(info.name).path)) for info in listed)


def _read_text_only_message(path_for_errors: Path, entry_for_errors: str, content: Any) -> str:
    """Return the text of a message's content; a DataError where there is anything else that somebody has to see."""
    if isinstance(content, str):
        return content
    other_types = [part.type for part in content if part.type not in ("text", "reasoning")]
    if other_types:
        article = "an" if other_types[0][0] in "aeiou" else "a"
        raise DataError(
            path_for_errors,
            f"has a message with {article} {other_types[0]}; only text can be scored.",
            entry_for_errors,
        )
    return "\n".join(part.text for part in content if part.type == "text")


def _import_foreign_log(path: Path, log: Any, incoming: Incoming) -> None:
    """Take in a log that somebody else's evaluation has left."""
    texts = (log.eval.metadata or {}).get("documents")
    documents = (
        {clean_folder_name(name): text for name, text in texts.items() if isinstance(text, str)}
        if isinstance(texts, dict)
        else {}
    )
    system = " ".join(log.eval.model.replace("|", "-").split())
    if not system:
        raise DataError(path, "does not name a model, which genaipa needs as the name of the system.")
    recorded = ForeignLog(path, system, log.eval.task, log.eval.eval_id, documents, incoming)
    for sample in log.samples or ():
        recorded.add_sample(_read_foreign_sample(path, sample, log.eval.created))
        incoming.ignored += len(sample.scores or {})
    recorded.add_run_to_incoming()


def _read_foreign_sample(path_for_errors: Path, sample: Any, log_created: str) -> ForeignSample:
    """Read a sample of somebody else's; a DataError for one that is not plain text."""
    entry, output, usage = f"sample {sample.id}", sample.output, sample.output.usage
    for message in sample.messages:
        if message.role == "tool" or getattr(message, "tool_calls", None):
            raise DataError(path_for_errors, "calls tools; only answers without tools can be scored.", entry)
        _read_text_only_message(path_for_errors, entry, message.content)
    if not 0 < sample.epoch <= MOST_REPETITIONS:
        raise DataError(
            path_for_errors,
            f"has the epoch {clip(str(sample.epoch), 20)}; it must be from 1 to {MOST_REPETITIONS:,}.",
            entry,
        )
    metadata, question = sample.metadata or {}, sample.input
    if not isinstance(question, str):
        question = "\n".join(
            _read_text_only_message(path_for_errors, entry, message.content)
            for message in question
            if message.role == "user"
        )
    reply = _read_text_only_message(path_for_errors, entry, output.choices[0].message.content) if output.choices else ""
    return ForeignSample(
        entry,
        metadata,
        metadata["question"] if isinstance(metadata.get("question"), str) else question,
        reply or None,
        sample.target if isinstance(sample.target, str) else "; ".join(sample.target),
        sample.epoch,
        _STATUS.get(output.stop_reason, "answered"),
        clip(sample.error.message, 200) if sample.error else "",
        output.model or None,
        format_utc_milliseconds(dt.datetime.fromisoformat(sample.started_at or log_created)),
        min(max(0.0, output.time or sample.total_time or 0.0), _LONGEST),
        Usage(
            input=parse_token_count_or_zero(usage.input_tokens), output=parse_token_count_or_zero(usage.output_tokens)
        )
        if usage
        else None,
    )


_STATUS: dict[str, Status] = {"max_tokens": "truncated", "model_length": "truncated", "content_filter": "refused"}
"""Inspect's reason for the end of a reply → status of its record."""


def _import_genaipa_log(path: Path, log: Any, raw_export_head: Any, incoming: Incoming) -> None:
    """Take in a log that `write_inspect_logs` has made."""
    head, records = incoming.parse_export_head(path, raw_export_head), []
    for sample in log.samples or ():
        entry = f"sample {sample.id}"
        fields = {name: value for name, value in sample.metadata.items() if name != "excluded"}
        reply = sample.output.choices[0].message.content if sample.output.choices else None
        record = incoming.parse_verified_record(path, entry, head, fields | {"asked": sample.input, "reply": reply})
        records.append(record)
        for name, score in (sample.scores or {}).items():
            if event := (score.metadata or {}).get("event"):
                where = f"{entry}, score of {name}"
                values = {metric: value for metric, value in score.value.items() if metric != M_ALL}
                incoming.add_genaipa_score_or_correction(
                    path, where, event, record.digest, values, score.explanation or ""
                )
            else:
                incoming.ignored += 1
    incoming.add_genaipa_run(path, head, records)
