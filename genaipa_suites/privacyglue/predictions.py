"""Predictions of fine-tuned encoders, as PrivacyGLUE's code writes them: kept as a run, scored as they are.

A run folder has one record for each task and seed, whose reply is the JSON list of all predictions, and the examples
once. Nothing is placed on words: a tagger's labels run over its own word pieces, in gold and prediction alike.

An imported prediction has the key that the same example has in outcomes of the suites, so that any two systems can be
laid side by side.

They are imported from the folders that its code writes: `runs/MODEL/TASK/seed_N/predictions.json` holds the examples
with gold label and prediction, `all_results.json` beside it and `runs/MODEL/benchmark_summary.json` the figures.
Whatever these say, figures are computed from the predictions; each difference is a finding. Figures of the task
`policy_qa` are on 0 to 100 there, all others on 0 to 1.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from genaipa import __version__
from genaipa.datasets.base import Imported
from genaipa.datasets.study import keep_audit, write_run
from genaipa.errors import DataError, UsageError
from genaipa.files.text import digest, why
from genaipa.runs import journal
from genaipa.runs.audit import AUDIT, Finding, write_audit
from genaipa.runs.manifest import ANSWERS, MANIFEST
from genaipa.runs.records import (
    FORMAT,
    Digests,
    Manifest,
    Record,
    RunSpec,
    SystemFacts,
    Totals,
    answer_digest,
    key_of,
)
from genaipa.tasks.base import Task
from genaipa_suites.measure import f1, micro_f1
from genaipa_suites.opp115 import LABELS
from genaipa_suites.privacyglue import BY_NAME, TASKS, GlueTask
from genaipa_suites.spans import Span, chunks, counted_by_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.tasks.base import Dialogue, Target
    from genaipa.workspace import Workspace
    from genaipa_suites.material import Outcome
    from genaipa_suites.suite import Suite

    Found = Iterator["Example"]

EXAMPLES = "suites/privacyglue/examples.json"
"""The file of the examples in such a run's folder."""
PREFIX = "privacyglue/"
"""Before the model's folder in the name of a system whose predictions were imported."""
OTHER_FIGURE = "other-figure"
"""The kind of a finding about a stated figure that is not the one computed from the predictions."""
KIND = "privacyglue-predictions"
NOT_ASKED = f"the task '{KIND}' is asked of nobody; it is written by: genaipa get privacyglue --runs --from FOLDER"


class Examples(msgspec.Struct, frozen=True, omit_defaults=True):
    """The examples of a task, in the order of its predictions.

    `names` are their ids there; `keys` tell an example by its content, so that runs of other kinds can be laid beside
    it; `gold` are labels, lists of labels or tags, or the texts of right answers; `layers` are the sub-tasks of a
    tagger, one for each example.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    gold: tuple[Any, ...]
    layers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Predicted:
    """A model's predictions for one task: seed → one for each example, in the examples' order."""

    task: GlueTask
    examples: Examples
    by_seed: Mapping[int, Sequence[Any]]

    def figures(self) -> dict[int, dict[str, float]]:
        """Seed → metric → its figure from 0 to 1, sub-tasks of a tagger (`COLLECT_macro_f1`) included."""
        return {seed: figures(self.task, self.examples, predicted) for seed, predicted in self.by_seed.items()}

    def right(self) -> list[list[bool]]:
        """For each seed, whether each example is right in full: the label, all labels, all tags, the very answer."""
        each = (zip(predicted, self.examples.gold, strict=True) for predicted in self.by_seed.values())
        if self.task.name == "policy_qa":
            return [[said in gold for said, gold in pairs] for pairs in each]
        if self.task.name == "opp_115":
            return [[sorted(said) == sorted(gold) for said, gold in pairs] for pairs in each]
        return [[said == gold for said, gold in pairs] for pairs in each]


def figures(task: GlueTask, examples: Examples, predicted: Sequence[Any]) -> dict[str, float]:
    """Metric → its figure from 0 to 1, by PrivacyGLUE's definitions (paper, section 4.2)."""
    if task.name == "policy_qa":
        return _answers(examples.gold, predicted)
    if task.layers:
        return _tags(task, examples, predicted)
    if task.name == "opp_115":
        said = Counter(label for labels in predicted for label in set(labels))
        gold = Counter(label for labels in examples.gold for label in set(labels))
        both = zip(predicted, examples.gold, strict=True)
        matched = Counter((label, label) for mine, right in both for label in {*mine} & {*right})
        # All twelve, whether they occur or not.
        labels: Sequence[str] = LABELS
    else:
        said, gold = Counter(predicted), Counter(examples.gold)
        matched = Counter(zip(examples.gold, predicted, strict=True))
        # As scikit-learn has it: a label that occurs in neither does not count.
        labels = sorted({*said, *gold})
    counts = [float(number) for one in labels for number in (matched[one, one], said[one], gold[one])]
    return {"macro_f1": _macro_f1(counts), "micro_f1": micro_f1(counts)}


def _macro_f1(counts: Sequence[float]) -> float:
    """Mean of the F1 of every label, one that is not gold included, as PrivacyGLUE's code takes it."""
    return statistics.fmean(f1(counts[place : place + 3]) for place in range(0, len(counts), 3))


def _answers(gold: Sequence[Sequence[str]], predicted: Sequence[str]) -> dict[str, float]:
    from genaipa_suites.policyqa import best

    each = [best(said, references) for said, references in zip(predicted, gold, strict=True)]
    number = len(each)
    return {
        "sample_f1": sum(overlap for _, overlap in each) / number,
        "exact_match": sum(match for match, _ in each) / number,
    }


def _tags(task: GlueTask, examples: Examples, predicted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Figures of each layer by seqeval's default mode, and their means."""
    sums: dict[str, Counter[tuple[str, int]]] = {layer: Counter() for layer in task.layers}
    for layer, gold, said in zip(examples.layers, examples.gold, predicted, strict=True):
        found = counted_by_label(_spans(said), _spans(gold))
        sums[layer].update({(label, place): n for label, counts in found.items() for place, n in enumerate(counts)})
    of_layers: dict[str, dict[str, float]] = {}
    for layer, counted in sums.items():
        counts = [float(counted[label, place]) for label in sorted({one for one, _ in counted}) for place in range(3)]
        of_layers[layer] = {
            "macro_f1": _macro_f1(counts) if counts else 0.0,
            "micro_f1": micro_f1(counts) if counts else 0.0,
        }
    single = {f"{layer}_{name}": value for layer, found in of_layers.items() for name, value in found.items()}
    means = {name: sum(one[name] for one in of_layers.values()) / len(of_layers) for name in ("macro_f1", "micro_f1")}
    return means | single


def _spans(tags: Sequence[str]) -> list[Span]:
    return chunks([tag.partition(".")[0] for tag in tags])


def read_predictions(folder: RunFolder) -> dict[str, Predicted]:
    """Task → predictions of a run that was imported."""
    kept = msgspec.json.decode((folder.path / EXAMPLES).read_bytes(), type=dict[str, Examples])
    by_task: dict[str, dict[int, Sequence[Any]]] = {name: {} for name in kept}
    for record in folder.records():
        seed = int(record.coordinates["repetition"])
        by_task[record.coordinates["task"]][seed] = msgspec.json.decode(record.reply or "[]")
    return {name: Predicted(BY_NAME[name], examples, by_task[name]) for name, examples in kept.items()}


class Predictions(Task):
    """The task of an imported run, which is never asked."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Raise a UsageError: there is nothing to ask."""
        raise UsageError(NOT_ASKED)

    @property
    def digests(self) -> Digests:
        """Raise a UsageError: there is nothing to go on with."""
        raise UsageError(NOT_ASKED)

    def dialogues(self, target: Target) -> Iterator[Dialogue]:  # noqa: ARG002 - of the contract
        """Raise a UsageError: there is nothing to ask."""
        raise UsageError(NOT_ASKED)


class Example(NamedTuple):
    """An example: the name by which a reader finds it, its key, and whether it is right in full."""

    name: str
    key: str
    right: bool


def example_key(*parts: str) -> str:
    """The key of an example: its sub-task, its question, its text, as far as it has them, blanks squeezed.

    PolicyIE-A's has the gold label in place of a sub-task: a sentence is there once for each of its labels.
    """
    return " | ".join(" ".join(part.split()) for part in parts if part)


def numbered(keys: Iterable[str]) -> list[str]:
    """The keys, made distinct by a number where they come again."""
    seen: Counter[str] = Counter()
    found = []
    for key in keys:
        seen[key] += 1
        found.append(f"{key} ({seen[key]})" if seen[key] > 1 else key)
    return found


def examples(task: str, suite: Suite, outcomes: Iterable[Outcome]) -> list[Example]:
    """The examples of one repetition; right is what has the label, all labels, or all spans of a layer."""
    found = [example for outcome in outcomes for example in _OF[task](suite, outcome)]
    keys = numbered(example.key for example in found)
    return [example._replace(key=key) for key, example in zip(keys, found, strict=True)]


def _opp_115(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.given.prediction
    right = said is not None and sorted(said) == sorted(outcome.item.gold)
    yield Example(outcome.item.id, example_key(outcome.item.shown["text"]), right)


def _label(_suite: Suite, outcome: Outcome) -> Found:
    right = outcome.given.prediction == outcome.item.gold
    yield Example(outcome.item.id, example_key(outcome.item.shown["text"]), right)


def _piextract(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.piextract import LAYERS, spans_of

    for layer in LAYERS:
        predicted, gold = spans_of(outcome, layer)
        right = outcome.given.prediction is not None and sorted(predicted) == sorted(gold)
        yield Example(f"{outcome.item.id}, {layer}", example_key(layer, outcome.item.shown["text"]), right)


def _policy_ie_a(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.policyie.score import answered

    # A sentence is there once for each of its gold rows, in no order that can be relied on.
    for intent, row in answered(outcome):
        right = intent == row["intent"]
        yield Example(outcome.item.id, example_key(row["intent"], outcome.item.shown["text"]), right)


def _policy_ie_b(_suite: Suite, outcome: Outcome) -> Found:
    from genaipa_suites.policyie.score import role_spans

    for layer in ("type-I", "type-II"):
        said, gold = role_spans(outcome, layer)
        for row in gold:
            right = outcome.given.prediction is not None and sorted(said) == sorted(row)
            yield Example(f"{outcome.item.id}, {layer}", example_key(layer, outcome.item.shown["text"]), right)


def _policy_qa(_suite: Suite, outcome: Outcome) -> Found:
    said = outcome.given.prediction
    right = said is not None and not outcome.given.fault and said["span"] in outcome.item.gold
    yield Example(outcome.item.id, outcome.item.id, right)


def _privacy_qa(suite: Suite, outcome: Outcome) -> Found:
    sentences = suite.material.documents[outcome.item.document]
    gold, said = {*outcome.item.gold["relevant"]}, outcome.given.prediction
    faulty = said is None or outcome.given.fault
    chosen = {*(said or ())}
    for number, sentence in enumerate(sentences, start=1):
        right = not faulty and (number in gold) == (number in chosen)
        yield Example(f"{outcome.item.id}, sentence {number}", example_key(outcome.item.shown["text"], sentence), right)


_OF: dict[str, Callable[[Suite, Outcome], Found]] = {
    "opp_115": _opp_115,
    "piextract": _piextract,
    "policy_detection": _label,
    "policy_ie_a": _policy_ie_a,
    "policy_ie_b": _policy_ie_b,
    "policy_qa": _policy_qa,
    "privacy_qa": _privacy_qa,
}


NAME = "privacyglue"
_SEED = re.compile(r"seed_(\d{1,6})")
_CLOSE = 5e-5
"""As near, of 1, figures are taken for equal: half of a hundredth of a percentage point."""


class _Labelled(msgspec.Struct, frozen=True):
    id: int | str
    text: str | list[str]
    gold_label: str | list[str]
    predicted_label: str | list[str]
    question: str = ""
    task: str = ""


class _Answered(msgspec.Struct, frozen=True):
    id: int | str
    prediction_text: str
    gold_answers: Any


class _Summary(msgspec.Struct, frozen=True):
    metrics: list[str]
    mean: list[float]
    std: list[float] = []


@dataclass
class _Model:
    """A model's folder, its predictions, and what was found about them."""

    path: Path
    tasks: dict[str, Predicted] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def system(self) -> str:
        return PREFIX + self.path.name

    def found(self, kind: str, path: Path, reason: str, cell: str = "") -> None:
        file = path.relative_to(self.path.parent).as_posix()
        self.findings.append(Finding(kind, file, "", cell, reason, system=self.system))


def import_predictions(workspace: Workspace, folder: Path) -> Imported:
    """Write the predictions below a folder as runs, one for each model, with an audit of their figures.

    A UsageError for a folder without any; a DataError that names the file and the entry which can't be used.
    """
    done = Imported(workspace.home / "published" / f"{NAME}-audit.csv")
    for path in _models(folder):
        model = _read(path)
        name = f"{NAME}-{path.name}"
        done.runs[model.system] = [name]
        done.answers[model.system] = sum(
            len(predicted.examples.keys) * len(predicted.by_seed) for predicted in model.tasks.values()
        )
        done.scores[model.system] = 0
        done.findings += model.findings
        done.changed += write_run(workspace.runs / name, _files(model, name))
    keep_audit(done)
    return done


def _models(folder: Path) -> list[Path]:
    """The models' folders, by name."""
    runs = folder / "runs" if (folder / "runs").is_dir() else folder
    found = sorted({path.parents[2] for path in runs.glob("*/*/seed_*/predictions.json")})
    found = [path for path in found if any((path / task.name).is_dir() for task in TASKS)]
    if not found:
        raise UsageError(
            f"{folder} has no predictions; name the folder of PrivacyGLUE's code that has "
            "runs/MODEL/TASK/seed_N/predictions.json, with tasks such as opp_115 and policy_qa."
        )
    return found


def _read(path: Path) -> _Model:
    model = _Model(path)
    for task in TASKS:
        seeds = {
            int(match[1]): place
            for place in (path / task.name).glob("seed_*")
            if (match := _SEED.fullmatch(place.name))
        }
        examples, by_seed = None, {}
        for seed, place in sorted(seeds.items()):
            file = place / "predictions.json"
            if not file.is_file():
                model.found("no-predictions", file, "this seed has no predictions, and is left out.")
                continue
            read, by_seed[seed] = _predictions(task, file)
            if examples is not None and read != examples:
                raise DataError(file, "has other examples or gold labels than the seeds before it; import them apart.")
            examples = read
        if examples is not None:
            model.tasks[task.name] = Predicted(task, examples, by_seed)
            _compare(model, task)
    file = path / "benchmark_summary.json"
    if not file.is_file():
        model.found("no-summary", file, "it is not here: the means are compared with none.")
    return model


def _predictions(task: GlueTask, file: Path) -> tuple[Examples, list[Any]]:
    """The examples of one file, and their predictions; a DataError that names the entry which can't be used."""
    kind = list[_Answered] if task.name == "policy_qa" else list[_Labelled]
    entries = _decoded(file, kind)
    if not entries:
        raise DataError(file, "has no entries; write the predictions again.")
    twice = next((one for one, number in Counter(entry.id for entry in entries).items() if number > 1), None)
    if twice is not None:
        raise DataError(file, "has this id twice; write the predictions again.", f"id {twice}")
    names = tuple(str(entry.id) for entry in entries)
    if task.name == "policy_qa":
        gold = tuple(_gold_answers(entry, file) for entry in entries)
        return Examples(names, names, gold), [entry.prediction_text for entry in entries]
    for entry in entries:
        if problem := _misfit(task, entry):
            raise DataError(file, f"{problem}; write the predictions again.", f"id {entry.id}")
    words = (entry.text if isinstance(entry.text, str) else " ".join(entry.text) for entry in entries)
    firsts = (str(entry.gold_label) if task.name == "policy_ie_a" else entry.task for entry in entries)
    each = zip(firsts, entries, words, strict=True)
    keys = numbered(example_key(first, entry.question, text) for first, entry, text in each)
    layers = tuple(entry.task for entry in entries) if task.layers else ()
    gold_labels = tuple(entry.gold_label for entry in entries)
    return Examples(names, tuple(keys), gold_labels, layers), [entry.predicted_label for entry in entries]


def _decoded(file: Path, kind: Any) -> Any:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except OSError as error:
        raise DataError(file, f"can't be read ({error.strerror}).") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(file, f"is not what PrivacyGLUE's code writes ({why(error)}); write it again.") from None


def _gold_answers(entry: _Answered, file: Path) -> list[str]:
    """The texts of the right answers, a list or SQuAD's columns."""
    answers = entry.gold_answers.get("text") if isinstance(entry.gold_answers, dict) else entry.gold_answers
    if not isinstance(answers, list) or not answers or not all(isinstance(one, str) for one in answers):
        raise DataError(file, "has no list of right answers; write the predictions again.", f"id {entry.id}")
    return answers


def _misfit(task: GlueTask, entry: _Labelled) -> str:
    """Why an entry is none of its task, in words; empty if it is one."""
    labels = (entry.gold_label, entry.predicted_label)
    several = bool(task.layers) or task.name == "opp_115"
    if any(isinstance(one, list) != several for one in labels):
        return f"its labels are {'no lists' if several else 'lists'}"
    if task.layers and entry.task not in task.layers:
        return f"'{entry.task}' is no sub-task of {task.title} ({', '.join(task.layers)})"
    if task.layers and len(labels[0]) != len(labels[1]):
        return f"{len(labels[1])} tags are predicted for {len(labels[0])}"
    if task.layers:
        bad = next((tag for tags in labels for tag in tags if not re.fullmatch(r"O|[BI]-.+", tag)), "")
        return f"'{bad}' is no BIO tag" if bad else ""
    if several:
        bad = next((label for one in labels for label in one if label not in LABELS), "")
        return f"'{bad}' is none of the twelve labels ({', '.join(LABELS)})" if bad else ""
    return ""


def _compare(model: _Model, task: GlueTask) -> None:
    """Find the stated figures that are not those computed from the predictions."""
    predicted = model.tasks[task.name]
    computed = predicted.figures()
    for seed, figures in computed.items():
        file = model.path / task.name / f"seed_{seed}" / "all_results.json"
        if file.is_file():
            stated = _decoded(file, dict[str, Any])
            given = {name: stated.get(f"predict_{name}") for name in figures}
            _differ(model, file, task, figures, {name: value for name, value in given.items() if value is not None})
    file = model.path / "benchmark_summary.json"
    if not file.is_file():
        return
    summary = _decoded(file, dict[str, Any]).get(task.name)
    if summary is None:
        model.found("no-summary", file, f"it has no {task.name}: the means of {task.title} are compared with none.")
        return
    try:
        stated = msgspec.convert(summary, _Summary)
    except msgspec.ValidationError as error:
        raise DataError(file, f"is not what PrivacyGLUE's code writes ({why(error)}).", task.name) from None
    means = {name: statistics.fmean(one[name] for one in computed.values()) for name in computed[min(computed)]}
    _differ(model, file, task, means, dict(zip(stated.metrics, stated.mean, strict=False)), "mean of ")
    spreads = {name: statistics.pstdev(one[name] for one in computed.values()) for name in means}
    _differ(model, file, task, spreads, dict(zip(stated.metrics, stated.std, strict=False)), "deviation of ")


def _differ(
    model: _Model, file: Path, task: GlueTask, computed: Mapping[str, float], stated: Mapping[str, Any], of: str = ""
) -> None:
    for name, value in stated.items():
        if name not in computed:
            continue
        if not isinstance(value, int | float):
            raise DataError(file, f"'{name}' is no number; write it again.", task.name)
        if not abs(computed[name] - value / task.scale) <= _CLOSE:
            mine, theirs = 100 * computed[name], 100 * value / task.scale
            reason = f"{of}{name} of {task.title} is {mine:.2f} % by the predictions, and {theirs:.2f} % here."
            model.found(OTHER_FIGURE, file, reason, cell=f"{task.name} {name}")


def _files(model: _Model, name: str) -> dict[str, bytes]:
    """Name → content of every file of the run's folder."""
    examples = {task: predicted.examples for task, predicted in model.tasks.items()}
    kept = msgspec.json.encode(examples)
    records = list(_records(model))
    source = "predictions of PrivacyGLUE's code (infsys-lab/privacy-glue)"
    seeds = {seed for predicted in model.tasks.values() for seed in predicted.by_seed}
    manifest = Manifest(
        format=FORMAT,
        name=name,
        status="complete",
        created="",
        updated="",
        spec=RunSpec((model.system,), KIND, KIND, repetitions=len(seeds)),
        digests=Digests(
            {}, {}, {}, {}, systems={model.system: f"{model.system}, {source}"}, task={EXAMPLES: digest(kept.decode())}
        ),
        documents={},
        systems={model.system: SystemFacts(model=model.path.name, words="recording", notes=[f"Imported: {source}."])},
        orders={},
        versions={"genaipa": __version__},
        totals=Totals(planned=len(records), answered=len(records)),
        planned=len(records),
    )
    return {
        EXAMPLES: kept,
        ANSWERS: b"".join(map(journal.line, records)),
        AUDIT: write_audit(model.findings),
        MANIFEST: msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n",
    }


def _records(model: _Model) -> Iterator[Record]:
    """One record for each task and seed, whose reply is the list of all predictions."""
    for task, predicted in model.tasks.items():
        for seed, labels in predicted.by_seed.items():
            coordinates = {"task": task, "split": "test", "repetition": str(seed)}
            asked = f"{len(labels):,} examples of {predicted.task.title}, seed {seed}"
            reply = msgspec.json.encode(labels).decode()
            yield Record(
                key=key_of(model.system, KIND, coordinates),
                status="answered",
                conversation=model.system,
                kind="answer",
                system=model.system,
                document="",
                initialization="",
                wording="original",
                repetition=seed,
                question=task,
                turn=1,
                asked=asked,
                reply=reply,
                started="",
                seconds=0.0,
                digest=answer_digest("", asked, reply),
                task=KIND,
                coordinates=coordinates,
            )
