"""Frames made by hand for the tests of tables: every score decided by the test, and the frames at the edges."""

from __future__ import annotations

from framing import answer_rows, score_rows, tidy_of

from rubrics import METRICS

FEW = ("T_f1", "T_u1", "UC_f1")


def scored(answers, of, *, analyst="ada", **also):
    """A score for each answer, with the value in all five metrics that `of` gives for it; None for no score.

    All five at 1, 0.5 and -1 are an M_all of 100, 77.5 and 10.
    """
    rows = []
    for answer in answers:
        value = of(answer)
        if value is not None:
            score = {"answer": answer["answer"], "analyst": analyst, "role": "score", "scorer": "human"}
            rows.append({**score, "independent": "yes", "rubric": "r", **dict.fromkeys(METRICS, value), **also})
    return rows


def published(system, experiment, document, question, *, m_all=None, metrics=None, **also):
    """A published score; without a document a mean over documents."""
    return {
        "unit": "table",
        "run": f"run-of-{system.partition('/')[2]}",
        "system": system,
        "experiment": experiment,
        "document": document,
        "kind": "policy",
        "question": question,
        "category": question.partition("_")[0],
        "source": "user" if question.endswith("u1") else "faq",
        "status": "",
        "analyst": "published",
        "role": "published",
        "scorer": "human",
        "m_all": m_all,
        **({} if metrics is None else dict.fromkeys(METRICS, metrics)),
        **also,
    }


def at_the_edges():
    """Name → a frame at an edge of what reports are made of."""
    one = answer_rows(systems=("a/one",), documents=("uber",), questions=("T_f1",))
    two = answer_rows(questions=FEW, experiments=("quality", "robustness", "recall", "summary"), silent=("T_f1",))
    lost = [{**row, "status": status, "answer": "", "seconds": None, "cost": None, "claims_silence": ""}
            for row, status in zip(two, ("failed", "missing", "failed") * len(two), strict=False)]  # fmt: skip
    refused = [{**row, "status": "refused"} for row in two]
    laws = [{**row, "kind": "regulation", "experiment": "regulation", "document": "gdpr", "source": "", "silent": ""}
            for row in one]  # fmt: skip
    nameless = [{**row, "category": "", "source": "", "silent": "", "claims_silence": ""} for row in two]
    audited = [{**row, "excluded": "It is about another company."} for row in two]
    means = [published("p/one", name, "", question, metrics=0.3) for name in ("quality", "recall") for question in FEW]
    totals = [published("p/one", "quality", "uber", question, m_all=73.0) for question in FEW]
    bard = [published("p/bard", "quality", "uber", question, m_all=73.0, excluded="A duplicate.") for question in FEW]
    bard += [
        published("p/bard", name, "", question, metrics=0.5) for name in ("quality", "robustness") for question in FEW
    ]
    bard += [published("p/bard", "robustness", "uber", question, m_all=55.0) for question in FEW]
    adjudicated = score_rows(one, analysts=("ada", "bo")) + scored(one, lambda _: 1, analyst="cy", role="adjudication")
    return {
        "empty": tidy_of([]),
        "one answer": tidy_of(one, scored(one, lambda _: 1)),
        "one answer unscored": tidy_of(one),
        "unscored": tidy_of(two),
        "half scored": tidy_of(two, score_rows(two[::2])),
        "one system": tidy_of(two[: len(two) // 2], score_rows(two[: len(two) // 2], analysts=("ada", "bo"))),
        "two systems": tidy_of(two, score_rows(two)),
        "all equal": tidy_of(two, scored(two, lambda _: 0.5)),
        "M_all only": tidy_of(totals),
        "means only": tidy_of(means),
        "originals excluded": tidy_of(bard),
        "originals included": tidy_of(bard, excluded=True),
        "published and scored": tidy_of([*two, *means, *totals], score_rows(two)),
        "failed and missing": tidy_of(lost),
        "refused": tidy_of(refused),
        "some failed": tidy_of([*lost[:5], *two[5:]], score_rows(two[5:])),
        "adjudicated": tidy_of(one, adjudicated),
        "machine": tidy_of(two, scored(two, lambda _: 1, scorer="machine")),
        "all excluded": tidy_of(audited, score_rows(audited)),
        "excluded and included": tidy_of(audited, score_rows(audited), excluded=True),
        "regulation": tidy_of(laws, score_rows(laws)),
        "nothing known of the questions": tidy_of(nameless, score_rows(nameless)),
    }
