"""What only runs of the paper's procedure have: their plan, with its options, each in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, get_args

from msgspec.structs import replace

from genaipa.kinds import Plan, option
from genaipa.questions.sets import Wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from genaipa.runs.records import RunSpec

Initialization = Literal["company-name", "document", "summary-by-name", "summary-of-document"]
INITIALIZATIONS: tuple[Initialization, ...] = get_args(Initialization)
"""The four ways of paper, Appendix A, Algorithm 1, in its order."""

NEUTRAL, GUIDED = "neutral", "guided"
"""The sets of prompts that runs are made with, unless they say otherwise, and that all runs were made with before."""

ConversationMode = Literal["shared", "independent"]
MOST = 10_000_000
"""The largest number of tokens, or of parts, that an option takes."""


class ProcedurePlan(Plan, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The documents, and the way in which the procedure asks about each.

    `questions` maps each document to the question set that is asked about it, and `limit` is the slice (from, to; the
    first question is 1) of each shuffled set. `prompts` are the sets of prompts that it is asked with, one by one.
    """

    documents: tuple[str, ...]
    questions: Annotated[
        dict[str, str],
        option(
            "Question sets instead of the ones for the document's kind.",
            "--questions",
            "-q",
            metavar="SET",
            before="resume",
            completes="question_sets",
        ),
    ]
    experiment: Annotated[
        str,
        option(
            "quality, robustness, recall, summary, summary-by-name, prompting, regulation or procedure (all four).",
            "--experiment",
            "-e",
            before="repetitions",
            completes="experiments",
        ),
    ] = ""
    initializations: Annotated[
        tuple[Initialization, ...],
        option(
            "company-name, document, summary-by-name, summary-of-document.",
            "--initialization",
            "-i",
            before="repetitions",
            completes="initializations",
        ),
    ]
    wordings: Annotated[
        tuple[Wording, ...],
        option(
            "original, paraphrase-1, paraphrase-2, paraphrase-3 or all.",
            "--wording",
            before="repetitions",
            completes="wordings",
        ),
    ] = ("original",)
    prompts: Annotated[
        tuple[str, ...],
        option(
            "Set of prompts: neutral (the default), guided, paper or your own (genaipa prompts).",
            metavar="SET",
            before="repetitions",
            completes="prompt_sets",
        ),
    ] = ()
    limit: Annotated[
        tuple[int, int] | None,
        option("N or A-B: only these of the shuffled questions.", metavar="N|A-B", before="resume"),
    ] = None
    conversation: Annotated[
        ConversationMode,
        option("shared: one growing history; independent: each question on its own.", before="seed"),
    ] = "shared"
    part_tokens: Annotated[
        int | None,
        option("Size of the parts in which a document is announced.", before="temperature", min=50, max=MOST),
    ] = None
    acknowledge: Annotated[
        bool, option("Let the system itself acknowledge each part, as a web chat would.", before="temperature")
    ] = False
    summary_words: Annotated[
        int,
        option("Longest summary to ask for.", before="temperature", min=10, max=100_000),
    ] = 400


def find_procedure_plan(spec: RunSpec) -> ProcedurePlan | None:
    """Return the plan of a run of the procedure; None for one of another kind."""
    return spec.plan if isinstance(spec.plan, ProcedurePlan) else None


def procedure_plan(spec: RunSpec) -> ProcedurePlan:
    """Return the plan of a run that is of the procedure."""
    assert isinstance(spec.plan, ProcedurePlan), "it is a run of the procedure"
    return spec.plan


def ask_about(spec: RunSpec, documents: Iterable[str], questions: Mapping[str, str]) -> RunSpec:
    """Return the spec of the same procedure about other documents, each with its question set."""
    plan = replace(procedure_plan(spec), documents=tuple(documents), questions=dict(questions))
    return replace(spec, plan=plan)
