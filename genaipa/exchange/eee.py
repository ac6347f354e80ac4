"""Every Eval Ever 0.3.0: for each run and system a file of averages with intervals, and one of lines, an answer each.

A line's score is M_all (10 to 100). `is_correct`, which the form wants, is true where every score gives the metric
`accuracy` its best value (a rubric's first metric where none has that name). People read whole replies, so that no
answer is extracted from one. An answer without a score has no line, since the form wants one for each.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import re
import time
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa import __version__
from genaipa.errors import UsageError
from genaipa.exchange.outgoing import Written
from genaipa.judging.name import Judge
from genaipa.runs.procedure import procedure_plan
from genaipa.runs.records import SystemFacts
from genaipa.systems.provider import find_provider
from genaipa.words import number, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    import pandas as pd

    from genaipa.exchange.outgoing import Outgoing, OutgoingAnswer, OutgoingRun
    from genaipa.scoring.rubric import Rubric

VERSION = "0.3.0"
_PEOPLE = ""
"""The scorer that stands for people; every other one is a judge's name."""
_ARGUMENTS = {"temperature": (int, float), "top_p": (int, float), "top_k": (int, float), "max_tokens": (int,)}
"""Settings that have a field of their own, with the field's types."""
_NAMED = 20
"""Documents that are named; the others are counted."""


class _Scored(NamedTuple):
    """An answer as a scorer sees it: the averages of its measures, how many scores these are of, and `is_correct`."""

    values: Mapping[str, float]
    scores: int
    correct: bool


def write(outgoing: Outgoing, folder: Path) -> Written:
    """Write `data/genaipa/DEVELOPER/MODEL/` with two files for each run and system; a UsageError without any scores."""
    by_scorer = {scorer: _Scores(rows, outgoing.rubric) for scorer, rows in _scorers(outgoing.tidy(scores_alone=True))}
    if not by_scorer:
        raise UsageError("nobody has scored these runs, and the form has scores alone; score them with: genaipa score")
    made, unscored, scores = [], 0, 0
    for run in outgoing.runs:
        files = {system: _File(outgoing, run, system, by_scorer) for system in run.source.systems}
        with contextlib.ExitStack() as stack:
            for answer in run.answers():
                given = files[answer.record.system].add(answer, folder, stack)
                unscored, scores = unscored + (not given), scores + given
        made += [file for file in files.values() if file.finish(folder)]
    caveat = "Fill in source_organization_name, and what you are to the models' makers (evaluator_relationship)."
    if unscored:
        caveat += f" Left out: {number(unscored, 'answer')} without a score that counts, which the form wants."
    lines = sum(file.answers for file in made)
    return Written(sum(1 + bool(file.rows) for file in made), lines, scores, caveat)


def _scorers(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Scorer → its rows: people, as averages count them, and each judge."""
    answers = frame[(frame["unit"] == "answer") & frame["m_all"].notna()]
    if len(people := answers[answers["counted"]]):
        yield _PEOPLE, people
    machine = answers[(answers["scorer"] == "machine") & (answers["excluded"] == "")]
    for judge, rows in machine.groupby("analyst", observed=True, sort=True):
        yield str(judge), rows.assign(counted=True)


class _Scores:
    """The scores of people, or of one judge: by answer, and averaged."""

    def __init__(self, rows: pd.DataFrame, rubric: Rubric) -> None:
        from genaipa.reports import averages
        from genaipa.reports.table import SCALE

        rows = rows.assign(m_all=rows["m_all"] * SCALE)
        self.measures = ["m_all", *rubric.metrics]
        metric = "accuracy" if "accuracy" in rubric.metrics else next(iter(rubric.metrics))
        best = rows[metric].eq(max(rubric.values)).groupby([rows["run"], rows["key"]], observed=True).all()
        each = averages.answers(rows)
        columns = [each[name] for name in ("run", "key", "scores", *self.measures)]
        self.of = {
            (run, key): _Scored(dict(zip(self.measures, values, strict=True)), int(scores), bool(best[run, key]))
            for run, key, scores, *values in zip(*columns, strict=True)
        }
        # Worked out now, so that the table is gone when the texts are read.
        self.averages = {
            (str(run), str(system)): list(self._averages(those))
            for (run, system), those in rows.groupby(["run", "system"], observed=True, sort=True)
        }

    def _averages(self, rows: pd.DataFrame) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
        """(experiment, measure, number of answers, its mean and intervals) of a system in a run."""
        from genaipa.reports import averages
        from genaipa.reports.table import SCALE

        for experiment, cells in averages.cells(rows).groupby("experiment", observed=True, sort=True):
            for measure in self.measures:
                limits = (1.0 * SCALE, 10.0 * SCALE) if measure == "m_all" else (-1.0, 1.0)
                found = averages.mean_of(cells, measure, limits)
                yield str(experiment), measure, int(cells["answers"].sum()), found


class _File:
    """One evaluation: a system's answers in a run, written as they come, and then what they come to."""

    def __init__(self, outgoing: Outgoing, run: OutgoingRun, system: str, by_scorer: Mapping[str, _Scores]) -> None:
        self._outgoing, self._run, self._system, self._by_scorer = outgoing, run, system, by_scorer
        self._facts = run.manifest.systems.get(system) or SystemFacts(system)
        self._model = model_id(self._facts.model)
        digest = hashlib.sha256(f"{run.name}|{system}".encode()).digest()
        self._at = str(int(time.time()))
        self._id = f"genaipa-{run.name}-{system}/{self._model}/{self._at}"
        developer, _, model = self._model.partition("/")
        self._stem = f"data/genaipa/{developer}/{model.replace('/', '_')}/{uuid.UUID(bytes=digest[:16], version=4)}"
        self._samples: BinaryIO | None = None
        self._sum = hashlib.sha256()
        self.rows = self.answers = 0

    def add(self, answer: OutgoingAnswer, folder: Path, stack: contextlib.ExitStack) -> int:
        """Write the lines of an answer, one for each scorer; the number of scores that they rest on."""
        place, given = (self._run.name, answer.record.key), 0
        for scorer, scores in self._by_scorer.items():
            if scored := scores.of.get(place):
                line = msgspec.json.encode(self._line(answer, scorer, scored)) + b"\n"
                if self._samples is None:
                    path = folder / f"{self._stem}_samples.jsonl"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    self._samples = stack.enter_context(path.open("wb"))
                self._samples.write(line)
                self._sum.update(line)
                self.rows += 1
                given += scored.scores
        self.answers += bool(given)
        return given

    def _line(self, answer: OutgoingAnswer, scorer: str, scored: _Scored) -> dict[str, Any]:
        record, right = answer.record, [answer.annotated.answer] if answer.annotated else []
        usage = record.usage
        about = {
            **{name: getattr(record, name) for name in ("document", "question", "wording", "initialization", "status")},
            "repetition": str(record.repetition),
            "prompts": record.prompts,
            "run": self._run.name,
            "scorer": scorer or "people",
            "scores": str(scored.scores),
            **{name: f"{value:g}" for name, value in scored.values.items() if name != "m_all"},
        }
        return {
            "schema_version": VERSION,
            "evaluation_id": self._id,
            "model_id": self._model,
            "evaluation_name": f"genaipa {answer.experiment}",
            "evaluation_result_id": _result(answer.experiment, "m_all", scorer),
            "sample_id": f"{record.document}|{record.initialization}|{record.wording}|{record.question}",
            "sample_hash": hashlib.sha256("".join((record.asked, *right)).encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {"raw": record.asked, "reference": right},
            "output": {"raw": [record.reply]},
            "answer_attribution": [],
            "evaluation": {"score": scored.values["m_all"], "is_correct": scored.correct},
            "token_usage": usage
            and {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "input_tokens_cache_read": usage.cached,
                "input_tokens_cache_write": usage.cache_write,
                "reasoning_tokens": usage.reasoning,
            },
            "performance": {"latency_ms": record.seconds * 1000},
            "metadata": {name: value for name, value in about.items() if value},
        }

    def finish(self, folder: Path) -> bool:
        """Write the averages; whether there are any."""
        results = list(self._results())
        if not results:
            return False
        content = {
            "schema_version": VERSION,
            "evaluation_id": self._id,
            "evaluation_timestamp": self._run.manifest.created,
            "retrieved_timestamp": self._at,
            "source_metadata": {
                "source_name": "genaipa",
                "source_type": "evaluation_run",
                "source_organization_name": "not stated",
                "evaluator_relationship": "other",
            },
            "eval_library": {"name": "genaipa", "version": __version__},
            "model_info": _model(self._system, self._facts.model, {"served": ", ".join(self._facts.served)}),
            "evaluation_results": results,
        }
        if self.rows:
            content["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{self._stem}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": self._sum.hexdigest(),
                "total_rows": self.rows,
            }
        path = folder / f"{self._stem}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(content), indent=1) + b"\n")
        return True

    def _results(self) -> Iterator[dict[str, Any]]:
        spec = self._run.manifest.spec
        sent = {name: value for name, value in self._facts.sent.items() if isinstance(value, _ARGUMENTS.get(name, ()))}
        others = {name: str(value) for name, value in self._facts.sent.items() if name not in sent}
        about = {
            "documents": some(procedure_plan(spec).documents, _NAMED),
            "languages": ", ".join(sorted({one.language for one in self._run.manifest.documents.values()} - {""})),
        }
        data = {
            "dataset_name": ", ".join(sorted(set(procedure_plan(spec).questions.values()))),
            "source_type": "other",
            "additional_details": {name: text for name, text in about.items() if text},
        }
        prompts = ", ".join(procedure_plan(spec).prompts)
        asked = {"conversation": procedure_plan(spec).conversation, "prompts": prompts, "seed": str(spec.seed)}
        for scorer, scores in self._by_scorer.items():
            for experiment, measure, answers, found in scores.averages.get((self._run.name, self._system), ()):
                yield {
                    "evaluation_result_id": _result(experiment, measure, scorer),
                    "evaluation_name": f"genaipa {experiment}",
                    "source_data": data,
                    "metric_config": self._metric(measure, scorer),
                    "score_details": _details(found, answers),
                    "generation_config": {"generation_args": sent, "additional_details": {**others, **asked}},
                }

    def _metric(self, measure: str, scorer: str) -> dict[str, Any]:
        rubric, overall = self._outgoing.rubric, measure == "m_all"
        question = "" if overall else rubric.metrics[measure].question
        config: dict[str, Any] = {
            "evaluation_description": f"{rubric.in_words} Here it is times 10."
            if overall
            else question or rubric.names[measure],
            "metric_id": f"genaipa.{measure}",
            "metric_name": "M_all" if overall else rubric.names[measure],
            "metric_unit": "points",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 10 if overall else -1,
            "max_score": 100 if overall else 1,
            "additional_details": {"rubric": rubric.title, "rubric_digest": rubric.digest},
        }
        if scorer:
            judge = Judge.parse(scorer)
            config["llm_scoring"] = {
                "judges": [{"model_info": _model(scorer, judge.model if judge else scorer, {})}],
                "input_prompt": f"genaipa's templates prompts/judge, SHA-256 {judge.prompt if judge else 'unknown'}…",
            }
        return config


def _result(experiment: str, measure: str, scorer: str) -> str:
    return "/".join(filter(None, (experiment, measure, scorer)))


def _details(found: Mapping[str, Any], answers: int) -> dict[str, Any]:
    """An average with its interval: for policies like these where there are enough, else for these documents."""
    from genaipa.reports.crossed import LEVEL

    n, documents = found["n"], found["documents"]
    these = "this document" if documents == 1 else f"these {documents} documents"
    populations = {
        "policies_": f"other questions of this kind, and other documents like these {documents}",
        "": f"other questions of this kind about {these}",
    }
    known = [one for one in populations if math.isfinite(found[f"{one}low"]) and math.isfinite(found[f"{one}high"])]
    details = {"questions": str(n), "documents": str(documents), "answers": str(answers)}
    if "" in known:
        details |= {f"these_documents_{end}": f"{found[end]:g}" for end in ("low", "high")}
    uncertainty: dict[str, Any] = {"num_samples": answers}
    if known:
        uncertainty["confidence_interval"] = {
            "lower": found[f"{known[0]}low"],
            "upper": found[f"{known[0]}high"],
            "confidence_level": LEVEL,
            "method": f"questions and documents crossed, t; by the same analysts, for {populations[known[0]]}",
        }
    return {"score": found["mean"], "details": details, "uncertainty": uncertainty}


def _model(name: str, model: str, facts: Mapping[str, str]) -> dict[str, Any]:
    provider = find_provider(model)
    deployed = "unknown"
    if provider and (provider.hosted or provider.program):
        deployed = "externally_managed" if provider.hosted else "self_deployed"
    details = {"deployment_type": deployed, "model_availability": "unknown", "asked_as": model, **facts}
    return {
        "name": name,
        "id": model_id(model),
        "additional_details": {key: value for key, value in details.items() if value},
    }


def model_id(model: str) -> str:
    """DEVELOPER/MODEL of a system's full name, of signs that a folder's name may have.

    A server's name is no developer where the model has one of its own; what comes with genaipa is genaipa's.

    >>> model_id("vllm/Qwen/Qwen2.5-7B-Instruct"), model_id("openai/gpt-4.1"), model_id("extractive")
    ('Qwen/Qwen2.5-7B-Instruct', 'openai/gpt-4.1', 'genaipa/extractive')
    """
    provider = find_provider(model)
    if provider and provider.is_remote:
        family = provider.family(model)
        rest = model.removeprefix(family)
        model = rest if "/" in rest else f"{family.split('/')[-2]}/{rest}"
    elif "/" not in model:
        model = f"genaipa/{model}"
    parts = (re.sub(r"[^\w.+@=-]+", "-", part).strip(". ") or "model" for part in model.split("/"))
    return "/".join(parts)
