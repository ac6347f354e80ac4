"""The options of `genaipa run`, in the order of its help."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from genaipa.cli.terminal import completion
from genaipa.cli.terminal.options import option, read_parameters_from_config
from genaipa.execution.launch import launcher_names
from genaipa.files.text import read_text
from genaipa.kinds import find_kind_or_placeholder, load_first_plan_option_by_name, load_kinds
from genaipa.runs.procedure import MOST
from genaipa.runs.records import MOST_SLICES
from genaipa.systems.base import EFFORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST = 2**63 - 1
"""The largest whole number that a server or a file is sure to take."""


def _parse_spending_cap(value: object) -> float:
    """Parse the dollars of a spending cap; infinity for `none`."""
    text = str(value).strip()
    if text.lower() == "none":
        return math.inf
    try:
        dollars = float(text)
    except ValueError:
        dollars = math.nan
    if not 0 <= dollars < math.inf:
        raise typer.BadParameter(f"'{value}' is not an amount in US dollars, such as 5 or 0.5; 'none' removes the cap.")
    return dollars


def _set_defaults_from_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the file's values the defaults of this command; the command line still wins."""
    if path is not None:
        context.default_map = {**(context.default_map or {}), **read_parameters_from_config(path, context)}
    return path


System = Annotated[
    list[str] | None,
    option(
        "--system",
        "-s",
        autocompletion=completion.systems,
        help="Systems (models), as short names or provider/model; separate several with commas.",
    ),
]
Effort = Annotated[
    list[str] | None,
    option(
        "--effort",
        metavar="LEVELS",
        help=f"How much effort models put into thinking: {', '.join(EFFORTS)}; several by commas. Each is a "
        f"system: gpt-6-luna@high.",
        panel="How to ask",
    ),
]
Policy = Annotated[
    list[str] | None,
    option(
        "--policy",
        "-p",
        autocompletion=completion.documents,
        metavar="NAME|FILE|URL|-",
        help="Documents: names, files (.md, .txt, .html, .pdf, .docx), URLs, or - for standard input.",
    ),
]
Company = Annotated[
    str,
    option(
        "--company",
        help="For a file or URL: the company's name in questions, if the title lacks it.",
        panel="What to ask",
    ),
]
Documents = Annotated[
    Path | None,
    option(
        "--documents",
        metavar="FILE",
        help="Ask about a corpus instead: a .jsonl or .parquet file (see genaipa policies stats --documents).",
        panel="A corpus",
    ),
]
LimitDocuments = Annotated[
    int | None,
    option(
        "--limit-documents",
        metavar="N",
        help="For a corpus: a random sample of N documents, drawn with --seed.",
        min=1,
        panel="A corpus",
    ),
]
Stratify = Annotated[
    str | None,
    option(
        "--stratify",
        metavar="COLUMN",
        help="For a corpus: give each group in this column its share of the sample.",
        panel="A corpus",
    ),
]
Task = Annotated[
    str,
    option(
        "--task",
        metavar="NAME",
        help="The task: procedure (the paper's), one from a package, or your own module:Class.",
        panel="What to ask",
    ),
]
Repetitions = Annotated[
    int, option("--repetitions", "-r", help="How many times each question is asked.", min=1, max=10_000)
]
Seed = Annotated[
    int, option("--seed", help="Seed for shuffling and sampling.", min=-_LARGEST, max=_LARGEST, panel="How to ask")
]
MaxTokens = Annotated[
    int | None,
    option("--max-tokens", help="Maximum length of a reply, in tokens.", min=1, max=MOST, panel="How to ask"),
]
MaxConnections = Annotated[
    int,
    option(
        "--max-connections",
        "-j",
        help="Concurrent calls per system, across all slices.",
        min=1,
        max=1000,
        panel="Speed",
    ),
]
MaxRetries = Annotated[int, option("--max-retries", help="Retries of a failed call.", min=0, max=1000, panel="Speed")]
Timeout = Annotated[
    float,
    option(
        "--timeout",
        metavar="SECONDS",
        help="Seconds until a call counts as stalled.",
        min=0.1,
        max=86_400,
        panel="Speed",
    ),
]
Stream = Annotated[
    bool,
    option("--stream", help="Stream replies, and record the time to the first piece.", panel="Speed"),
]
MaxCost = Annotated[
    float | None,
    option(
        "--max-cost",
        help="Stop before the run costs more than this in US dollars. Resuming keeps the cap; 'none' removes it.",
        metavar="DOLLARS|none",
        parser=_parse_spending_cap,
    ),
]
Batch = Annotated[
    bool | None,
    option(
        "--batch/--no-batch",
        help="Ask in batches, at half the price, within 24 hours; not about documents. By default, as when "
        "the run was started.",
        show_default=False,
        panel="Cost",
    ),
]
NoWait = Annotated[
    bool,
    option(
        "--no-wait", help="With batches: exit once they are submitted; the same command collects them.", panel="Cost"
    ),
]
Slice = Annotated[
    str | None,
    option(
        "--slice",
        metavar="I/N",
        help="Ask only the I-th of N slices of the corpus, as its own run; --name names the whole study.",
        panel="A corpus",
    ),
]
Slices = Annotated[
    int | None,
    option(
        "--slices",
        metavar="N",
        help="Run all N slices of the corpus, or the incomplete ones, each as its own run.",
        min=1,
        max=MOST_SLICES,
        panel="A corpus",
    ),
]
On = Annotated[
    str | None,
    option(
        "--on",
        metavar="|".join(f"{name}[:N]" for name in launcher_names()),
        help="With slices: where they run, and how many (N) at once; local is this machine.",
        panel="Speed",
    ),
]
DataParallelSize = Annotated[
    int | None,
    option(
        "--data-parallel-size",
        metavar="N",
        help="For a vllm/… model served here: number of copies, each on its own GPUs.",
        min=1,
        max=1000,
        panel="Speed",
    ),
]
TensorParallelSize = Annotated[
    int | None,
    option(
        "--tensor-parallel-size",
        metavar="N",
        help="For a vllm/… model served here: number of GPUs per copy.",
        min=1,
        max=1000,
        panel="Speed",
    ),
]
Name = Annotated[str | None, option("--name", help="Name of the run; by default, formed from systems and documents.")]
Resume = Annotated[
    str | None,
    option(
        "--resume",
        autocompletion=completion.runs,
        metavar="RUN",
        help="Continue this run or study (name or latest).",
    ),
]
New = Annotated[
    bool,
    option("--new", help="Start a new run even if one with this plan exists.", panel="What to ask"),
]
DryRun = Annotated[bool, option("--dry-run", help="Print the exact messages; ask nothing.")]
Estimate = Annotated[bool, option("--estimate", help="Estimate calls, tokens and cost; ask nothing.")]
Yes = Annotated[
    bool,
    option("--yes", "-y", help="Don't ask to confirm costs (on a terminal, from $1).", panel="Cost"),
]
Config = Annotated[
    Path | None,
    option(
        "--config",
        metavar="FILE.yaml",
        help="YAML file that sets these options by name.",
        callback=_set_defaults_from_config,
        is_eager=True,
        panel="What to ask",
    ),
]


class TableOption(NamedTuple):
    """An option of a table: its annotation and default, and the parameter of `run` before which it is listed."""

    annotation: Any
    default: Any
    before: str


def _make_sampling_option(name: str, value_type: Any, help_text: str, **details: Any) -> TableOption:
    annotation = option(f"--{name.replace('_', '-')}", help=help_text, panel="How to ask", **details)
    return TableOption(Annotated[value_type | None, annotation], None, "max_connections")


SAMPLING_OPTIONS = {
    "temperature": _make_sampling_option(
        "temperature", float, "Sampling temperature, if the model accepts one.", min=0, max=100
    ),
    "top_p": _make_sampling_option("top_p", float, "Nucleus sampling (top_p), if the model accepts it.", min=0, max=1),
    "max_tokens": TableOption(MaxTokens, None, "max_connections"),
    "sampling_seed": _make_sampling_option(
        "sampling_seed", int, "Seed sent to the model, if it accepts one.", min=-_LARGEST, max=_LARGEST
    ),
    "service_tier": _make_sampling_option(
        "service_tier", str, "The vendor's name for its service tier, such as flex.", metavar="WORD"
    ),
    "system_prompt": _make_sampling_option(
        "system_prompt", Path, "A file with a system prompt of your own.", metavar="FILE"
    ),
    "citations": _make_sampling_option(
        "citations", str, "vendor: let the model use its vendor's citation feature (only anthropic/).", metavar="vendor"
    ),
}
"""Name → option: one for each field of `Sampling`."""


def read_system_prompt_file_into_options(sampling_options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sampling options by the fields of a request, the system prompt read from its file."""
    path = sampling_options["system_prompt"]
    return {**sampling_options, "system_prompt": None if path is None else read_text(path).strip()}


def _make_task_kind_options() -> dict[str, TableOption]:
    kind_options: dict[str, TableOption] = {}
    for kind in load_kinds().values():
        if kind.option:
            named = completion.make_name_completion_callback(kind.task_names)
            annotation = option(
                f"--{kind.option}", help=kind.about, metavar="NAME", panel=kind.heading, autocompletion=named
            )
            kind_options[kind.option] = TableOption(Annotated[str | None, annotation], None, "")
    for name, field in load_first_plan_option_by_name().items():
        takes, details = list[str] if field.takes is tuple else field.takes, dict(field.details)
        before, completes = details.pop("before", ""), details.pop("completes", "")
        panel = details.pop("panel", None) or (None if before else find_kind_or_placeholder(field.kind).heading)
        complete = getattr(completion, completes) if completes else None
        annotation = option(*field.flags, help=field.about, autocompletion=complete, panel=panel, **details)
        # An empty one is no default to be read on the help page.
        default = field.default if takes in (int, float, str) and field.default else None
        kind_options[name] = TableOption(Annotated[takes | None, annotation], default, before)
    return kind_options


KIND_OPTIONS = _make_task_kind_options()
"""Name → option of kinds of tasks: the fields of plans that have a help text among them."""
BESIDE_RESUME = frozenset(
    {
        *("resume", "max_connections", "max_retries", "timeout", "stream", "max_cost", "yes", "batch", "no_wait"),
        *("on", "slice_", "slices", "data_parallel_size", "tensor_parallel_size"),
        *("offline", "json", "workspace", "config", "dry_run", "estimate", "quiet", "explain"),
    }
)
"""Parameters that change no message."""
