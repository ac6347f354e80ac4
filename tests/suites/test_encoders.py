"""Encoders fine-tuned for suites: a tiny model of random weights learns each kind of task, is stopped and goes on.

Torch and transformers are in no extra that `make test` installs: CI runs this file in an environment of its own.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from commandline import heeding
from running import lines_of, write

from genaipa.files.strict_yaml import format_yaml, read_yaml
from genaipa.runs.folder import RunFolder
from genaipa.workspace import find_workspace
from genaipa_suites.catalog import load_suite_classes
from genaipa_suites.data import SHIPPED
from genaipa_suites.encoders.encoder import TrainingSettings
from genaipa_suites.encoders.kinds import EncoderExample
from genaipa_suites.material import Outcome
from genaipa_suites.plan import SuiteOptions, make_suite_run_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from genaipa_suites.encoders.kinds import KindName

TRAINING = SHIPPED / "encoders" / "training.yaml"
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch and transformers (extra encoders)")

PATIENCE = 180.0
"""Seconds that the end of a process may take on a busy machine."""
COLOURS = ("red", "green", "blue", "black")
THINGS = ("house", "tree", "car", "boat", "cup")


def make_tiny_encoder(folder: Path, texts: Iterable[str]) -> str:
    """Make a model of a few hundred weights, always the same, that knows the words of these texts; its folder."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, set_seed

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    split = pre_tokenizers.BertPreTokenizer()
    words = {word for text in texts for word, _ in split.pre_tokenize_str(text.lower())}
    letters = {letter for word in words for letter in word}
    vocabulary = [*special, *sorted(words | letters | {f"##{letter}" for letter in letters})]
    tokenizer = Tokenizer(models.WordPiece({word: n for n, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = split
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=128,
    ).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=128,
        initializer_range=0.2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    set_seed(1)
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A workspace; one thread for each process."""
    Path("genaipa.toml").touch()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """The name of a system: a model that knows the words of the samples."""
    texts = [path.read_text() for path in sorted(SHIPPED.rglob("*.*")) if path.suffix != ".yaml"]
    return f"encoder/{make_tiny_encoder(tmp_path / 'tiny', texts)}"


def settings(**changed: Any) -> TrainingSettings:
    """The shipped settings with short texts and some others changed."""
    fields = {name: getattr(read_yaml(TRAINING, TrainingSettings), name) for name in TrainingSettings.__struct_fields__}
    return TrainingSettings(**(fields | {"max_length": 64, "stride": 8} | changed))


def train_for(**changed: Any) -> None:
    """Put such settings into the workspace."""
    said = settings(**changed)
    write("suites/encoders/training.yaml", format_yaml(said).replace("3.0e-05", "0.00003"))


def the_run() -> RunFolder:
    """The only run here."""
    (path,) = Path("runs").iterdir()
    return RunFolder(path)


# -- kinds --

SENTENCES = [f"the {colour} {thing} is here" for colour in COLOURS for thing in THINGS]
TEACH: dict[KindName, Callable[[str], EncoderExample]] = {
    "sequence": lambda said: EncoderExample(said, target=said.split()[1]),
    "multi-label": lambda said: EncoderExample(said, target=["red", "warm"] if "red" in said else [said.split()[1]]),
    "pair": lambda said: EncoderExample(said.split()[1], said, target=said.split()[2]),
    "token": lambda said: EncoderExample(
        tuple(said.split()), target=[["O", "B-thing", "I-thing", "O", "O"], ["B-the", "O", "O", "B-is", "O"]]
    ),
    "span": lambda said: EncoderExample("which thing", said, (4, 4 + len(" ".join(said.split()[1:3])))),
}


def right(kind: KindName, example: EncoderExample) -> Any:
    """The prediction that is right."""
    return example.second[slice(*example.target)] if kind == "span" else example.target


def train(tmp_path: Path, kind: KindName, examples: Sequence[EncoderExample], **changed: Any) -> tuple[Any, list[str]]:
    """What came of training the tiny model on examples that it is asked as well, and what it said meanwhile."""
    from genaipa_suites.encoders.training import TrainingJob, fine_tune_and_predict

    said: list[str] = []
    words = [one if isinstance(one, str) else " ".join(one) for each in examples for one in (each.first, each.second)]
    job = TrainingJob(
        model=make_tiny_encoder(tmp_path / "model", words),
        kind=kind,
        seed=0,
        train=examples,
        valid=examples,
        items=examples,
        figure=lambda found: sum(one == right(kind, of) for one, of in zip(found, examples, strict=True)) / len(found),
        settings=settings(**{"learning_rate": 0.02, "epochs": 200, "patience": 60, **changed}),
        scratch=tmp_path / "scratch",
        say=said.append,
        run_ended=Event(),
    )
    return fine_tune_and_predict(job), said


@needs_torch
@pytest.mark.parametrize("kind", TEACH)
def test_each_kind_learns(kind: KindName, tmp_path: Path) -> None:
    """Of every kind a tiny model learns twenty sentences by heart: labels go in and come out in their places."""
    examples = [TEACH[kind](said) for said in SENTENCES]
    trained, said = train(tmp_path, kind, examples)
    assert trained.predictions == [right(kind, one) for one in examples]
    assert trained.figure == 1.0
    assert any(re.fullmatch(r"epoch \d+ of 200, 100\.00 on validation", one) for one in said), said
    assert not (tmp_path / "scratch").exists()


@needs_torch
def test_long_texts(tmp_path: Path) -> None:
    """A span is found beyond the longest length, in a further window; words that were cut off are tagged O."""
    long = [EncoderExample("which thing", f"{'and so on ' * 9}{said} {'and so on ' * 9}") for said in SENTENCES]
    spans = []
    for said, one in zip(SENTENCES, long, strict=True):
        start = one.second.index(" ".join(said.split()[1:3]))
        spans.append(EncoderExample(one.first, one.second, (start, start + len(" ".join(said.split()[1:3])))))
    trained, _ = train(tmp_path, "span", spans, max_length=24, epochs=25)
    assert trained.figure > 0.9

    words = tuple(["red"] * 30)
    trained, _ = train(tmp_path, "token", [EncoderExample(words, target=[["B-x"] * 30])] * 16, max_length=16, epochs=9)
    (tags,) = trained.predictions[0]
    assert (tags[:14], tags[14:]) == (["B-x"] * 14, ["O"] * 16)


@needs_torch
def test_no_better_epoch(tmp_path: Path) -> None:
    """Training stops after as many epochs without a better figure as the settings say, and the seed decides it all."""
    examples = [TEACH["sequence"](said) for said in SENTENCES]
    first, _ = train(tmp_path, "sequence", examples, learning_rate=1e-9, patience=3)
    again, _ = train(tmp_path, "sequence", examples, learning_rate=1e-9, patience=3)
    assert first.epochs == 4.0
    assert first == again


# -- runs --


@needs_torch
def test_every_suite(genaipa: Any, tiny: str) -> None:
    """Each suite is run on its sample: two steps for each model, a reply to every item, a note, no checkpoint left."""
    train_for(epochs=1, batch_size=9)
    for suite in (name for name, kind in load_suite_classes().items() if kind.head):
        done = genaipa("run", "--suite", suite, "--split", "sample", "--system", tiny, "--name", suite, "--json")
        assert done.code == 0, (suite, done)
        assert (
            "is fine-tuned here on the same items that are asked (20 items with their labels), with seed 0" in done.err
        ), suite
        (folder,) = Path("runs").glob(f"*-{suite}")
        records = lines_of(folder / "answers.jsonl")
        assert {record["status"] for record in records} == {"answered"}, suite
        assert not [record["prediction"] for record in records if record["prediction"] == "unparsable"], suite
        (kept,) = folder.glob(f"encoders/*/{suite}/seed-0/predictions.json")
        assert len(json.loads(kept.read_text())["replies"]) == len(records), suite
        assert [path.name for path in kept.parent.iterdir()] == ["predictions.json"], suite


@needs_torch
def test_privacyglue(genaipa: Any, tiny: str) -> None:
    """Of the suites that are asked in one run each has trainings of its own, of which it keeps the predictions."""
    train_for(epochs=1, batch_size=9)
    done = genaipa("run", "--suite", "privacyglue", "--split", "sample", "--system", tiny, "--repetitions", "2")
    assert done.code == 0, done
    parts = {path.parts[-3] for path in the_run().path.glob("encoders/*/*/seed-1/predictions.json")}
    assert parts == {path.name for path in (the_run().path / "suites").iterdir()} - {"encoders"}
    assert len(parts) > 3
    assert done.err.count("is fine-tuned here on the same items that are asked") == len(parts)


@needs_torch
def test_stopped(tiny: str) -> None:
    """Ctrl-C ends a training at once, however long it would have gone on."""
    train_for(epochs=1_000_000, patience=1_000_000)
    stopped = until(
        "seed 0: epoch 1 ", "run", "--suite", "policyqa", "--split", "sample", "--system", tiny, by=signal.SIGINT
    )
    assert stopped.returncode == 130, stopped
    assert "interrupted; 0 answers of 20 received, all kept." in stopped.stderr
    assert not list(the_run().path.rglob(".checkpoints"))


@needs_torch
def test_killed_and_resumed(genaipa: Any, tiny: str) -> None:
    """A kill in the second seed's training loses that alone: whatever was done by then is never repeated."""
    train_for(epochs=60, patience=60, batch_size=4)
    args = ("run", "--suite", "policyqa", "--split", "sample", "--system", tiny, "--repetitions", "3")
    killed = until("seed 1: epoch 1 ", *args, by=signal.SIGKILL)
    # Just the first seed's, unless the machine is too busy for this process to kill the other one in time.
    kept = {path: path.stat().st_mtime_ns for path in predictions()}
    assert {path.parent.name for path in kept} >= {"seed-0"}

    train_for(epochs=2)  # the run goes on with its own settings
    done = genaipa("run", "--resume", "latest")
    assert done.code == 0, done
    assert "epoch 2 of 2" not in done.err
    assert {f"seed-{seed}" for seed in range(3) if f"seed {seed}: fine-tuning" in done.err} == {
        path.parent.name for path in predictions() if path not in kept
    }
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (killed.stderr + done.err).count("seed 0: epoch 60 of 60") == 1
    assert (len(predictions()), the_run().read_manifest_and_tally()[1].totals().answered) == (3, 60)
    assert not list(the_run().path.rglob(".checkpoints"))


def predictions() -> list[Path]:
    """The files of the seeds that are done."""
    return list(the_run().path.glob("encoders/*/policyqa/seed-*/predictions.json"))


def until(said: str, *args: str, by: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Run a command until it has said something, and end it by a signal."""
    with heeding(signal.SIGINT):
        process = subprocess.Popen(
            [sys.executable, "-m", "genaipa", *args], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
    heard = ""
    for line in process.stderr or ():
        heard += line
        if said in line:
            break
    process.send_signal(by)
    try:
        # A training that is waited for takes hours.
        rest = process.communicate(timeout=PATIENCE)[1]
    finally:
        process.kill()
    return subprocess.CompletedProcess(args, process.returncode, "", heard + rest)


def opp115(**sizes: int) -> None:
    """Put splits of so many texts into the workspace."""
    for split, size in sizes.items():
        rows = [f"{split} text {n},{('Data Security', 'Policy Change')[n % 2]}\n" for n in range(size)]
        write(f"suites/opp115/{split}_dataset.csv", "".join(rows))


@needs_torch
def test_validation(genaipa: Any, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked the test split, a training is stopped by the validation split; asked that, by a part of the train split.

    The report says which, also under a name of the user's own, and nothing on policies that only the published splits
    share.
    """
    train_for(epochs=1)
    write("systems.yaml", f"systems: {{mine: {{system: {tiny}}}}}")
    opp115(train=40, validation=8, test=6)
    for split, of in (
        ("test", "the train split: 40 items, with 8 validation items for early stopping"),
        ("validation", "the train split: 34 items, with 6 validation items for early stopping"),
    ):
        done = genaipa("run", "--suite", "opp115", "--split", split, "--system", "mine")
        assert done.code == 0, done
        assert f"seed 0: fine-tuning on {of}" in done.err
    monkeypatch.setenv("COLUMNS", "200")
    reported = genaipa("report", *(path.name for path in Path("runs").iterdir()))
    assert reported.code == 0, reported
    assert re.search(
        r"mine +system .* fine-tuned on the train split: 34 items, with 6 validation items for early stopping",
        reported.out,
    )
    assert "mine is fine-tuned here on the train split (40 items with their labels), with seed 0" in done.err
    assert "The split is by segment" not in done.err + reported.out


@needs_torch
def test_no_model(genaipa: Any) -> None:
    """A model that is nowhere, or has no tokenizer, is a sentence that says what to name."""
    write("empty/config.json", json.dumps({"model_type": "bert"}))
    for model in ("nobody/has-this-model", "./empty"):
        done = genaipa("run", "--suite", "policyqa", "--split", "sample", "--system", f"encoder/{model}", "--new")
        assert done.code == 2, done
        assert f"encoder/{model} can't be loaded (" in done.err
        assert "name a model of the Hugging Face hub, or a folder that holds one with its tokenizer." in done.err


# -- without torch --


def test_stopped_by_a_measure() -> None:
    """What each training is stopped by is a measure of its suite."""
    for name, suite in load_suite_classes().items():
        if suite.head is None:
            continue
        measures = {measure.name for measure in suite.measures}
        assert {part.figure for part in suite.head.parts} <= measures, name


def test_gold_goes_round() -> None:
    """What is learnt from a suite's sample, taken as predicted, makes replies that are all right."""
    here = find_workspace()
    for name, kind in load_suite_classes().items():
        if kind.head is None:
            continue
        suite, head = kind(make_suite_run_spec(name, SuiteOptions("sample"), ("encoder/x",)), here), kind.head
        outcomes = []
        for item in suite.material.items:
            each = {part: part.examples(item, suite.material) for part in head.parts}
            if name == "policyie" and len(item.gold) > 1:
                continue  # its rows contradict each other
            predicted = {part.name: [right(part.kind, one) for one in learnt] for part, learnt in each.items()}
            outcomes.append(Outcome(item, suite.parse_reply(item, head.reply(item, predicted))))
        for part in head.parts:
            (measure,) = [one for one in suite.measures if one.name == part.figure]
            assert measure.compute(outcomes) == 1.0, (name, measure.name)


def test_no_torch(genaipa: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the packages a run says which extra brings them, and a dry run needs none."""
    monkeypatch.setitem(sys.modules, "torch", None)
    args = ("run", "--suite", "policyqa", "--split", "sample", "--system", "encoder/bert-base-uncased")
    refused = genaipa(*args)
    assert refused.code == 1
    assert "encoder/bert-base-uncased needs the package 'torch': pip install 'genaipa[encoders]'" in refused.err
    assert not Path("runs").exists()
    assert genaipa(*args, "--dry-run").code == 0


def test_only_prompts_are_probed(genaipa: Any) -> None:
    """Probes and examples are of prompts; with an encoder, before anything is trained, they are refused."""
    opp115(train=40, test=6)
    for suite, option, chosen in (("policyqa", "probe", "no-context"), ("opp115", "shots", "2")):
        split = "test" if suite == "opp115" else "sample"
        asked = ("--suite", suite, "--split", split, "--system", "encoder/x", f"--{option}", chosen)
        done = genaipa("run", *asked, "--dry-run")
        assert done.code == 2
        said = f"'{option}' applies only to prompted systems; encoder/x is fine-tuned, so leave the option out."
        assert said in done.err


def test_wrong_settings(genaipa: Any) -> None:
    """A workspace's settings of training are checked before anything else, and a typing error is named."""
    write("suites/encoders/training.yaml", TRAINING.read_text().replace("epochs: 20", "epochs: 0"))
    done = genaipa("run", "--suite", "policyqa", "--split", "sample", "--system", "encoder/x", "--dry-run")
    assert done.code == 2
    assert "training.yaml: epochs" in done.err


@needs_torch
def test_only_for_suites(genaipa: Any) -> None:
    """An encoder that is asked about a document is refused before that, with what it is for."""
    done = genaipa("run", "--policy", "brindlecart", "--experiment", "quality", "--system", "encoder/any")
    assert done.code == 2
    assert "encoder/any answers only the items of a suite; ask it with: genaipa run --suite NAME" in done.err
