"""The core's own kinds of tasks, and the procedure's plan: the options of a run that are its own, each in one place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from genaipa.kinds import Kind, Plan, option
from genaipa.questions.sets import Wording
from genaipa.runs.records import ConversationMode, Initialization

if TYPE_CHECKING:
    from genaipa.runs.records import RunSpec


PROCEDURE = Kind(
    make="genaipa.tasks.procedure:Procedure",
    people=True,
    documents=True,
    plan="genaipa.tasks.plan:ProcedurePlan",
    planned="genaipa.execution.procedure:planned",
)
"""Algorithm 1 of the paper."""
PLAIN = Kind(make="genaipa.tasks.catalog:make_plain", names="genaipa.tasks.catalog:plain_names")
"""A task of a package, by an entry point `genaipa.tasks`, or of the user's own, by `module:Class`."""

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
            panel="How to ask",
        ),
    ]
    wordings: Annotated[
        tuple[Wording, ...],
        option(
            "original, paraphrase-1, paraphrase-2, paraphrase-3 or all.",
            "--wording",
            before="repetitions",
            completes="wordings",
            panel="How to ask",
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
        option(
            "Size of the parts in which a document is announced.",
            before="temperature",
            panel="How to ask",
            min=50,
            max=MOST,
        ),
    ] = None
    acknowledge: Annotated[
        bool,
        option(
            "Let the system itself acknowledge each part, as a web chat would.",
            before="temperature",
            panel="How to ask",
        ),
    ] = False
    summary_words: Annotated[
        int,
        option("Longest summary to ask for.", before="temperature", panel="How to ask", min=10, max=100_000),
    ] = 400


def plan_of(spec: RunSpec) -> ProcedurePlan:
    """The plan of a run of the procedure."""
    assert isinstance(spec.plan, ProcedurePlan), "it is a run of the procedure"
    return spec.plan
