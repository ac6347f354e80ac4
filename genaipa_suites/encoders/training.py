"""Fine-tune one encoder with one seed, and predict. This module alone imports torch and transformers."""

from __future__ import annotations

import math
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import transformers
from transformers import EarlyStoppingCallback, PrinterCallback, Trainer, TrainerCallback, TrainingArguments

from genaipa.errors import UsageError, clip
from genaipa_suites.encoders.kinds import IGNORED, KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from threading import Event

    from genaipa_suites.encoders.encoder import TrainingSettings
    from genaipa_suites.encoders.kinds import EncoderExample, EncoderInput, EncoderTask, KindName

SAY_EVERY = 30.0
"""Seconds between two words on how far an epoch is."""


class StoppedError(Exception):
    """The run is over before the training is."""


@dataclass(frozen=True)
class TrainingJob:
    """One training: a model, its kind and seed, and the examples to learn from, to stop by and to predict.

    `figure` gives the figure (0 to 1) of predictions for the examples of `valid`, by which the best epoch is chosen.
    Checkpoints are kept in `scratch` meanwhile, and removed.
    """

    model: str
    kind: KindName
    seed: int
    train: Sequence[EncoderExample]
    valid: Sequence[EncoderExample]
    items: Sequence[EncoderExample]
    figure: Callable[[Sequence[Any]], float]
    settings: TrainingSettings
    scratch: Path
    say: Callable[[str], None]
    run_ended: Event


@dataclass(frozen=True)
class TrainingResult:
    """The end of a training: a prediction for each example asked, and facts for the record."""

    predictions: list[Any]
    epochs: float
    figure: float
    """The best one on the validation examples, 0 to 1."""
    revision: str
    """Commit of the model on the hub; empty for a folder."""
    device: str


def fine_tune_and_predict(job: TrainingJob) -> TrainingResult:
    """Fine-tune, take the epoch that was best on the validation examples, and predict with it.

    A UsageError for a model that can't be loaded, or that has no tokenizer with offsets. A StoppedError once the run
    is over.
    """
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    shutil.rmtree(job.scratch, ignore_errors=True)
    transformers.set_seed(job.seed)
    kind = KINDS[job.kind](job.train, job.settings)
    tokenizer, model = _load_tokenizer_and_model(job, kind)
    trainer = _make_trainer(job, kind, tokenizer, model)
    try:
        trainer.train()
        inputs = kind.inputs(tokenizer, job.items, with_targets=False)
        outputs = trainer.predict([model_input.fields for model_input in inputs]).predictions
    finally:
        shutil.rmtree(job.scratch, ignore_errors=True)
    return TrainingResult(
        predictions=kind.predictions(outputs, inputs, job.items),
        epochs=trainer.state.epoch or 0.0,
        figure=trainer.state.best_metric or 0.0,
        revision=getattr(model.config, "_commit_hash", None) or "",
        device=torch.cuda.get_device_name() if torch.cuda.is_available() else trainer.args.device.type,
    )


def _load_tokenizer_and_model(job: TrainingJob, encoder_task: EncoderTask) -> tuple[Any, Any]:
    try:
        # RoBERTa's tokenizer takes words only where each begins with a blank; others know no such option.
        config = transformers.AutoConfig.from_pretrained(job.model)
        blank = {"add_prefix_space": True} if job.kind == "token" and config.model_type in _BLANK else {}
        tokenizer = transformers.AutoTokenizer.from_pretrained(job.model, **blank)
        model = getattr(transformers, encoder_task.auto).from_pretrained(job.model, **encoder_task.label_model_options)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = clip(" ".join(str(error).split()), 300)
        raise UsageError(
            f"encoder/{job.model} can't be loaded ({reason}); name a model of the Hugging Face hub, or a folder that "
            "holds one with its tokenizer."
        ) from error
    if not tokenizer.is_fast:
        raise UsageError(
            f"encoder/{job.model}: its tokenizer is slow (written in Python) and has no offsets; choose a model "
            "with a fast tokenizer."
        )
    return tokenizer, model


_BLANK = ("roberta", "longformer", "bart", "deberta", "camembert")


def _make_trainer(job: TrainingJob, encoder_task: EncoderTask, tokenizer: Any, model: Any) -> Trainer:
    settings, graphics = job.settings, torch.cuda.is_available()
    valid = encoder_task.inputs(tokenizer, job.valid, with_targets=True)
    arguments = TrainingArguments(
        output_dir=str(job.scratch),
        num_train_epochs=settings.epochs,
        # As many examples in a step on several GPUs as on one.
        per_device_train_batch_size=max(1, settings.batch_size // max(1, torch.cuda.device_count())),
        per_device_eval_batch_size=settings.batch_size,
        eval_accumulation_steps=64,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        fp16=settings.half_precision and graphics,
        seed=job.seed,
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=True,
        metric_for_best_model="figure",
        greater_is_better=True,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=graphics,
    )
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=[
            model_input.fields for model_input in encoder_task.inputs(tokenizer, job.train, with_targets=True)
        ],
        eval_dataset=[model_input.fields for model_input in valid],
        processing_class=tokenizer,
        data_collator=lambda fields: _make_batch(tokenizer, fields),
        compute_loss_func=encoder_task.loss,
        compute_metrics=lambda evaluation: {
            "figure": _score_validation_outputs(job, encoder_task, evaluation.predictions, valid)
        },
        preprocess_logits_for_metrics=encoder_task.reduce_logits,
        callbacks=[EarlyStoppingCallback(settings.patience), _TrainingWatch(job)],
    )
    # It prints all figures of an epoch to standard output.
    trainer.remove_callback(PrinterCallback)
    return trainer


def _score_validation_outputs(
    job: TrainingJob, encoder_task: EncoderTask, outputs: Any, validation_inputs: Sequence[EncoderInput]
) -> float:
    figure = job.figure(encoder_task.predictions(outputs, validation_inputs, job.valid))
    return 0.0 if math.isnan(figure) else figure


def _make_batch(tokenizer: Any, model_inputs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Pad inputs to one length as tensors, with their targets."""
    targets = ("labels", "start_positions", "end_positions")
    batch = tokenizer.pad(
        [{name: value for name, value in example.items() if name not in targets} for example in model_inputs],
        return_tensors="pt",
    )
    for name in targets:
        if name in model_inputs[0]:
            batch[name] = _padded_target_tensor(
                [example[name] for example in model_inputs], batch["input_ids"].shape[1]
            )
    return dict(batch)


def _padded_target_tensor(targets: list[Any], token_count: int) -> Any:
    if not (isinstance(targets[0], list) and isinstance(targets[0][0], list)):
        return torch.tensor(targets)
    # The labels of a sentence's tokens, in each layer; those of the padding are left out of the loss.
    padding = [IGNORED] * len(targets[0][0])
    return torch.tensor([[*value, *[padding] * (token_count - len(value))] for value in targets])


class _TrainingWatch(TrainerCallback):  # type: ignore[misc]
    """Says how far a training is, and breaks it off when the run is over."""

    def __init__(self, job: TrainingJob) -> None:
        self._job, self._last_note = job, time.monotonic()

    def _raise_if_run_ended(self) -> None:
        if self._job.run_ended.is_set():
            raise StoppedError

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:  # noqa: ARG002 - the Trainer's form
        """Say how far the epoch is, now and then."""
        self._raise_if_run_ended()
        if time.monotonic() - self._last_note >= SAY_EVERY:
            self._last_note = time.monotonic()
            self._job.say(f"step {state.global_step:,} of {state.max_steps:,}")

    def on_prediction_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:  # noqa: ARG002 - the Trainer's form
        """Stop in time."""
        self._raise_if_run_ended()

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **others: Any) -> None:  # noqa: ARG002 - the Trainer's form
        """Say an epoch's figure."""
        self._last_note = time.monotonic()
        figure = (metrics or {}).get("eval_figure", math.nan)
        self._job.say(f"epoch {round(state.epoch or 0)} of {args.num_train_epochs:g}, {100 * figure:.2f} on validation")
