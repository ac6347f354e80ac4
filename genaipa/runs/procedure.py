"""What only runs of the paper's procedure have: their plan, with its options, and the coordinates of their records."""

from __future__ import annotations

from itertools import product
from sys import intern
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, get_args

from msgspec.structs import replace

from genaipa.kinds import DEFAULT, Plan, make_plan_option
from genaipa.questions.sets import FOLLOW_UP, Wording, follow_up_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
        make_plan_option(
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
        make_plan_option(
            "quality, robustness, recall, summary, summary-by-name, prompting, regulation or procedure "
            "(default: all initializations).",
            "--experiment",
            "-e",
            before="repetitions",
            completes="experiments",
        ),
    ] = ""
    initializations: Annotated[
        tuple[Initialization, ...],
        make_plan_option(
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
        make_plan_option(
            "original, paraphrase-1, paraphrase-2, paraphrase-3 or all.",
            "--wording",
            before="repetitions",
            completes="wordings",
            panel="How to ask",
        ),
    ] = ("original",)
    prompts: Annotated[
        tuple[str, ...],
        make_plan_option(
            "Set of prompts: neutral (the default), guided, paper or your own (genaipa prompts).",
            metavar="SET",
            before="repetitions",
            completes="prompt_sets",
        ),
    ] = ()
    follow_up: Annotated[
        str,
        make_plan_option(
            "Ask this after each answer to original words, in its conversation; of a question with a follow_up, that "
            "instead.",
            metavar="TEXT",
            before="resume",
            panel="How to ask",
        ),
    ] = ""
    limit: Annotated[
        tuple[int, int] | None,
        make_plan_option("N or A-B: ask only these of the shuffled questions.", metavar="N|A-B", before="resume"),
    ] = None
    conversation: Annotated[
        ConversationMode,
        make_plan_option("shared: one growing history; independent: each question on its own.", before="seed"),
    ] = "shared"
    part_tokens: Annotated[
        int | None,
        make_plan_option(
            "Size, in tokens, of the parts in which a document is sent.",
            before="temperature",
            panel="How to ask",
            min=50,
            max=MOST,
        ),
    ] = None
    acknowledge: Annotated[
        bool,
        make_plan_option(
            "Let the system itself acknowledge each part, as a web chat would.",
            before="temperature",
            panel="How to ask",
        ),
    ] = False
    summary_words: Annotated[
        int,
        make_plan_option(
            "Longest summary to ask for, in words.", before="temperature", panel="How to ask", min=10, max=100_000
        ),
    ] = 400

    @property
    def wordings_and_any_follow_up(self) -> tuple[Wording, ...]:
        """The wordings in which something is asked: those of questions, and that of follow-ups, if there are any."""
        return (*self.wordings, *([FOLLOW_UP] if self.follow_up else []))

    @property
    def prompt_and_wording_pair_count(self) -> int:
        """The number of answers that are wanted of a system to each question, in each repetition and initialization."""
        return len(self.prompts) * len(self.wordings_and_any_follow_up)

    def pair_wordings_with_questions(self, order: Iterable[str]) -> Iterator[tuple[Wording, str]]:
        """Yield each wording with each question of an order that is asked in it, follow-ups last."""
        questions = (*order,)
        yield from product(self.wordings, questions)
        if self.follow_up:
            yield from ((FOLLOW_UP, follow_up_id(question)) for question in questions)


def get_plan_if_procedure_run(spec: RunSpec) -> ProcedurePlan | None:
    """Return the plan of a run of the procedure; None for one of another kind."""
    return spec.plan if isinstance(spec.plan, ProcedurePlan) else None


def assert_procedure_run_and_get_plan(spec: RunSpec) -> ProcedurePlan:
    """Return the plan of a run that is of the procedure."""
    assert isinstance(spec.plan, ProcedurePlan), "it is a run of the procedure"
    return spec.plan


def make_spec_for_other_documents(spec: RunSpec, documents: Iterable[str], question_sets: Mapping[str, str]) -> RunSpec:
    """Return the spec of the same procedure about other documents, each with its question set."""
    plan = replace(assert_procedure_run_and_get_plan(spec), documents=tuple(documents), questions=dict(question_sets))
    return replace(spec, plan=plan)


class RecordCoordinates(NamedTuple):
    """The coordinates of a record of the procedure, in the order in which its key has them.

    `prompts` is the set of prompts in a run that has several; in any other it is empty.
    """

    document: str
    initialization: Initialization
    wording: Wording
    repetition: int
    prompts: str
    question: str

    def as_dict_without_empty_values(self) -> dict[str, str]:
        """Return them as a record has them."""
        return {name: str(value) for name, value in self._asdict().items() if value}


class HasCoordinates(Protocol):
    """As much of a record as has its coordinates."""

    @property
    def coordinates(self) -> Mapping[str, str]: ...  # noqa: D102 - above


def read_coordinates(record: HasCoordinates) -> RecordCoordinates:
    """Return the coordinates of a record of the procedure."""
    values = record.coordinates
    # A million answers have a few texts in common: each is kept once.
    return RecordCoordinates(
        intern(values["document"]),
        intern(values["initialization"]),  # type: ignore[arg-type]
        intern(values["wording"]),  # type: ignore[arg-type]
        int(values["repetition"]),
        values.get("prompts", ""),
        intern(values["question"]),
    )


def conversation_id(
    system: str, document: str, initialization: str, wording: str, repetition: int | str, prompts: str = ""
) -> str:
    """Return the id of a conversation; the keys of its answers have the question behind it."""
    begun = f"{system}|{document}|{initialization}|{wording}|{repetition}"
    return f"{begun}|{prompts}" if prompts else begun


def initialization_or_task_name(task: str, coordinates: Mapping[str, str]) -> str:
    """Return the row of a table of counts to which a record belongs: its initialization, or its other task."""
    return coordinates["initialization"] if task == DEFAULT else task
