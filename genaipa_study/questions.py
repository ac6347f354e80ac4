"""The published questions and paraphrases as question sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from genaipa.questions.sets import Question, QuestionSet
from genaipa_study.files import LICENSE, read_table, source_url

if TYPE_CHECKING:
    from genaipa_study.files import Tree

POLICY_SET = "genaipabench"
REGULATION_SET = "genaipabench-regulation"

# Id as published → id in genaipa. The six questions are published once for each regulation, numbered on.
POLICY_IDS = {
    question: question
    for category in ("T", "UC", "DM", "SE", "PD", "RC", "AEE", "CA")
    for question in (f"{category}_f1", f"{category}_f2", f"{category}_f3", f"{category}_u1")
}
REGULATION_IDS = {f"PR_{number}": f"PR_{(number - 1) % 6 + 1}" for number in range(1, 13)}

# Stands at the head of the converted file, for who opens it.
DEFECTS = """\
# As published with GenAIPABench. Some paraphrases ask something else than their original: all of T_f1, UC_u1 and
# PD_f3, the first of AEE_u1 and RC_u1, the second and third of SE_f1, the third of DM_f3 and SE_u1. The first two of
# SE_u1 are the same.
"""

_POLICY_FOLDER = "Questions/Privacy Policy Questions/"
# The table of the regulation questions themselves is a workbook; the annotated answers repeat them word for word.
_REGULATION_QUESTIONS = "Annotated Answers/Regulation Answers/annotated_answers_GDPR.csv"


def convert_questions(tree: Tree) -> QuestionSet:
    """The 32 questions about a policy with their three paraphrases each; a DataError names file, row and column."""
    path = _POLICY_FOLDER + "Questions.csv"
    asked = {"id": ("id_question",), "category": ("category",), "text": ("question",)}
    rows = read_table(tree.folder / path, asked, POLICY_IDS)
    columns = {f"question_set_{n}": (f"question_set_{n}",) for n in (1, 2, 3)}
    paraphrased = tree.folder / _POLICY_FOLDER / "Questions (Paraphrased).csv"
    others = read_table(paraphrased, {"id": ("id_paraphrased",), **columns}, POLICY_IDS)
    questions = tuple(
        Question(
            id=question,
            category=question.split("_")[0],
            origin="user" if question.endswith("u1") else "faq",
            text=row["text"],
            paraphrases=tuple(others[question][column] for column in columns),
        )
        for question, row in rows.items()
    )
    return QuestionSet(
        name=POLICY_SET,
        title="Questions about a privacy policy, as published with GenAIPABench",
        kind="policy",
        placeholder="the company",
        source=source_url(path),
        license=LICENSE,
        categories={question.split("_")[0]: row["category"] for question, row in rows.items()},
        questions=questions,
    )


def convert_regulation_questions(tree: Tree) -> QuestionSet:
    """The six questions about a regulation, which have no published paraphrases.

    They are published for the GDPR and, word for word but for its name, for the CCPA: the name is the placeholder.
    """
    columns = {"id": ("question id",), "text": ("questions",)}
    rows = read_table(tree.folder / _REGULATION_QUESTIONS, columns, REGULATION_IDS)
    return QuestionSet(
        name=REGULATION_SET,
        title="Questions about a regulation, as published with GenAIPABench",
        kind="regulation",
        placeholder="GDPR",
        source=source_url(_REGULATION_QUESTIONS),
        license=LICENSE,
        categories={"PR": "Privacy Regulations"},
        questions=tuple(
            Question(id=question, category="PR", origin="faq", text=row["text"]) for question, row in rows.items()
        ),
    )
