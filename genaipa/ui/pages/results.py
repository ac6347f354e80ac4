"""Results: the report's numbers and figures with filters, and the answers behind a cell of a heat map.

This page says whose an answer is and how it was scored. So answers that its user can still be asked to score are in
none of its numbers, and showing others is recorded as exposure, as on every page (see `Queue.expose`).
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.answers.tidy import plain_texts
from genaipa.reports.figures import style
from genaipa.reports.significance import write_confidence
from genaipa.runs.experiments import experiment_of
from genaipa.scoring.rubric import M_ALL_RANGE, format_value
from genaipa.stats.intervals import LEAST_DOCUMENTS
from genaipa.ui import charts, heatmap
from genaipa.ui.answer_view import annotated_of, asked_of, case_of, scores_of
from genaipa.ui.charts import readable, show_chapter
from genaipa.ui.results import (
    ResultsCache,
    ResultsChoice,
    ResultsSnapshot,
    ResultsView,
    Rows,
    ScoredAnswer,
    ScoreFilter,
    cache_of,
    view,
)
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListCell,
    ListRow,
    Text,
    heading,
    long_table,
    noted,
    notice,
    numbers,
    page_header,
    problems,
    table,
    texts,
)
from genaipa.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.table import Table
    from genaipa.scoring.answers import PooledAnswer
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

ALONE = "no other answer"
"""The choice of nothing beside an answer that is read."""
_GROUPS = {ANY: ANY, "faq": "from FAQs", "user": "of users"}


@plain_texts
def page(desk: Desk, user: User) -> None:
    """The systems, the heat map with the answers behind it, the box plots, and the other parts of a report."""
    desk.pool.refresh()
    desk.current.refresh()
    page_header("Results")
    problems("results problems", desk.problems(user))
    cache = cache_of(desk.pool)
    snapshot = _snapshot(desk, cache)
    if snapshot is None:
        notice("results none", "There is no run yet. Begin with: genaipa run --system extractive --policy brindlecart")
        return
    choice = _choice(snapshot)
    ahead = desk.queue.answers_ahead(user.name) if user.scores else frozenset[str]()
    found = view(snapshot, choice, snapshot.hidden(ahead))
    _left_out(desk, user, found)
    if found.frame["counted"].any():
        _board(found)
        if user.adjudicates:
            _estimates(found)
        _by_metric(desk, user, found)
    else:
        notice(
            "results unscored",
            "No score counts here: the selection has none, or it is excluded.",
        )
    _report(desk, user, found)


def _snapshot(desk: Desk, cache: ResultsCache) -> ResultsSnapshot | None:
    """The runs and scores as they were when somebody last came to this page, or asked for newer ones."""
    # The boxes' values are there as long as one stays on the page.
    arrived = "results system" not in st.session_state
    with st.spinner("Reading the runs …"):
        snapshot = cache.snapshot(desk, anew=arrived)
    if snapshot is not None and not arrived and snapshot.is_stale(desk):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Scores or answers have come in since these numbers were worked out.", width="content")
            st.button("Take them in", key="results anew", on_click=cache.refresh, args=(desk,))
    return snapshot


# -- what is chosen --


def _choice(snapshot: ResultsSnapshot) -> ResultsChoice:
    boxes = st.columns(5)
    system = boxes[0].selectbox("System", [ANY, *snapshot.names("system")], key="results system")
    experiment = boxes[1].selectbox("Experiment", [ANY, *snapshot.names("experiment")], key="results experiment")
    document = boxes[2].selectbox("Document", [ANY, *snapshot.names("document")], key="results document")
    groups = [*_GROUPS, *snapshot.names("category")]
    named = {**snapshot.study.questions.categories, **_GROUPS}
    questions = boxes[3].selectbox(
        "Questions", groups, format_func=lambda group: named.get(group, group), key="results questions"
    )
    scores: ScoreFilter = boxes[4].selectbox("Scores", snapshot.analysts, format_func=str, key="results whose")
    excluded = False
    if (snapshot.frame["excluded"] != "").any():
        excluded = st.toggle("Include excluded answers", key="results excluded")
    return ResultsChoice(system, experiment, document, questions, scores, excluded)


def _left_out(desk: Desk, user: User, found: ResultsView) -> None:
    """Name the results hidden from this user, and let them choose to see them."""
    scored = found.left_out
    if not scored:
        return
    notice(
        "results left out",
        f"{number(len(scored), 'answer')} with scores, of people or a judge, {'is' if len(scored) == 1 else 'are'} "
        "in no number here: you can still be asked to score them, blind. The results below are of the other answers.",
    )
    with st.expander("I only want to read the results"):
        st.text(
            "Once you have seen how others scored these answers, you are not asked to score them any more. "
            "That can't be taken back."
        )
        st.button(
            "Show me all of them",
            key="results show all",
            on_click=lambda: desk.queue.record_exposures(user.name, scored, system=True, scores=True),
        )


# -- the systems --


def _board(found: ResultsView) -> None:
    heading("Systems")
    board = found.board
    if not board:
        notice("results no board", found.no_board)
        return
    experiments = [name for name in board.data.columns if name in set(found.questions.data["experiment"])]
    sure = [f"{write_confidence(found.level.p)} interval for these documents", "for policies like these"]
    came = ["answered"] if "answered" in board.main_columns else []
    columns = [
        "system",
        *numbers(board.headings["m_all"]),
        *came,
        *sure,
        *numbers(*experiments, "answers"),
        "scored by",
    ]
    rows = [
        ListRow(
            (
                str(row["system"]),
                board.format_cell("m_all", row["m_all"]),
                *(str(row[name]) for name in came),
                _interval(board, row, "low", "high"),
                _interval(board, row, "policies_low", "policies_high"),
                *(board.format_cell(name, row[name]) or "-" for name in experiments),
                f"{row['answers']:,}",
                f"{row['scored_by']}: {row['scored']}" if "scored" in board.main_columns else str(row["scored_by"]),
            )
        )
        for row in board.data.to_dict("records")
    ]
    table("results systems", "Systems by M_all", columns, rows)
    texts("results board note", [noted("", board.note)])


def _estimates(found: ResultsView) -> None:
    """Show the study's lead what people and judge say together: M_all of each system and experiment."""
    made, forecasts = found.estimates
    if not made:
        return
    heading("People and judge")
    ends = {name: (f"{name}_low", f"{name}_high") for name in ("people",)} | {"mean": ("low", "high")}
    rows = []
    for row in made.data[made.data["measure"] == "M_all"].to_dict("records"):
        written = {str(name): made.format_cell(str(name), value) for name, value in row.items()}
        sure = (f"{written[name]} [{written[low]}, {written[high]}]" for name, (low, high) in ends.items())
        means = (said if written[name] else "-" for name, said in zip(ends, sure, strict=True))
        worth = (written["n_eff"] or "-", written["hours"] or "-")
        rows.append(ListRow((row["system"], row["experiment"], row["scored"], *means, *worth, row["why"])))
    heads = [made.headings[name] for name in ("people", "mean", "n_eff", "hours", "why")]
    columns = ["system", "experiment", "scored by", *numbers(*heads[:-1]), heads[-1]]
    table("results people and judge", "Averages of M_all from people and judge, for these documents", columns, rows)
    said = [*forecasts]
    if found.beyond:
        said.append(f"Verdicts on {found.beyond:,} answers that no wave asks for are in these averages alone.")
    notes = [noted("", " ".join(said))] if said else []
    texts("results people and judge notes", [*notes, noted("", made.note)])


def _interval(board: Table, row: charts.Line, low: str, high: str) -> ListCell:
    value, scale = row["m_all"], M_ALL_RANGE
    if board.format_cell(low, row[low]):
        written = f"[{board.format_cell(low, row[low])}, {board.format_cell(high, row[high])}]"
        return ListCell(written, low=row[low], value=value, high=row[high], scale=scale)
    few = low == "policies_low" and row["documents"] < LEAST_DOCUMENTS
    return ListCell(f"{number(row['documents'], 'document')}: too few" if few else "-", tone="quiet")


# -- the heat map --


@st.fragment
def _by_metric(desk: Desk, user: User, found: ResultsView) -> None:
    """The heat map of one experiment with the box plots beneath it; between them the answers behind a cell."""
    heading("By question and metric")
    experiments = [str(name) for name in found.questions.data["experiment"].unique()]
    if not experiments:
        notice("results no map", "This selection has no score of a question about a policy.")
        return
    boxes = st.columns([2, 2, 3])
    experiment = boxes[0].selectbox("Heat map and box plots of", experiments, format_func=style.experiment_heading)
    rows: Rows = boxes[1].radio("Rows", ("question", "category"), horizontal=True, key="results rows")
    desk.queue.record_exposures(user.name, found.exposing(experiment), scores=True)
    place = heatmap.show_heatmap(found, experiment, rows)
    line = heatmap.find_line(found, place) if place else None
    if place is not None and line is not None:
        _behind(desk, user, found, place, line)
    elif place is not None:
        st.caption(f"{place.system} has no score of {place.name} here.")
    charts.boxes(found, experiment)


# -- the answers behind a cell --


def _behind(desk: Desk, user: User, found: ResultsView, place: heatmap.HeatmapCell, line: charts.Line) -> None:
    """The answers whose scores a cell is a mean of, and one of them to read."""
    heading("Behind the cell")
    value = line[place.column]
    banded = f" ({heatmap.find_band(place.column, value, found.bounds)})"
    written = f"{heatmap.format_value(place.column, value)}{banded}" if value == value else "no value"  # noqa: PLR0124
    named = f"{place.system}, {place.experiment}: {heatmap.list_columns(found)[place.column]} {written}"
    asked = found.about(place.rows).get(place.name, "")
    texts("results cell", [Text(asked or place.name, place.name, named, "strong", arrives=str(place))])
    answers = found.behind(place.system, place.experiment, place.rows, place.name)
    counted = sum(len(answer.counted) for answer in answers)
    st.caption(
        f"{number(len(answers), 'answer')}, {number(counted, 'score')} that count. The number is a mean over "
        f"{heatmap.name_unit(place.rows)} of means over answers, each a mean over its scores."
    )

    def expose(on_page: Sequence[ScoredAnswer]) -> None:
        digests = [answer["answer"] for answer in on_page if answer["answer"]]
        desk.queue.record_exposures(user.name, digests, system=True, scores=True)

    def choose(digest: str) -> None:
        st.session_state[heatmap.ANSWER] = digest

    question = ["question"] if place.rows == "category" else []
    values = numbers(*(heatmap.list_columns(found)[column] for column in _two(place.column)))
    columns = ["document", *question, "wording", "state", *values, "scores", ""]
    long_table(
        heatmap.ANSWERS,
        "Answers behind the cell",
        columns,
        answers,
        lambda answer: _answer(desk, answer, place),
        chosen=st.session_state.get(heatmap.ANSWER, ""),
        choose=choose,
        before=expose,
    )
    digest = st.session_state.get(heatmap.ANSWER, "")
    if digest and any(answer["answer"] == digest for answer in answers):
        _read(desk, user, digest, place)
    else:
        st.caption("Choose an answer to read it with its scores and notes.")


def _two(column: str) -> list[str]:
    """The columns of numbers: that of the cell, and M_all."""
    return list(dict.fromkeys((column, "m_all")))


def _answer(desk: Desk, answer: ScoredAnswer, place: heatmap.HeatmapCell) -> ListRow:
    """An answer, or a published score, with its averages and each analyst's values."""
    published = answer["unit"] == "table"
    cells: list[str | ListCell] = [answer["document"] or "mean over documents"]
    cells += [answer["question"]] if place.rows == "category" else []
    cells += ["" if published else f"{answer['wording']}, {answer['repetition']}"]
    cells += ["published score" if published else answer["status"]]
    for column in _two(place.column):
        values = [row[column] for row in answer.counted]
        cells += [heatmap.format_value(column, fmean(values)) if values else ""]
    given = [_given(row, place.column) for row in answer.scores]
    cells += ["\n".join(given) or ListCell("not scored", tone="quiet")]
    cells += [ListCell(f"left out: {answer['excluded']}" if answer["excluded"] else "", tone="quiet")]
    return ListRow(tuple(cells), id=answer["answer"] if answer["answer"] in desk.pool.answers else "")


def _given(row: charts.Line, column: str) -> str:
    how = " (adjudicated)" if row["role"] == "adjudication" else " (machine)" if row["scorer"] == "machine" else ""
    value = row[column]
    # A published score is a mean, and need not be one of the rubric's values.
    return f"{row['analyst']}{how} {heatmap.format_value(column, value) if column == 'm_all' else format_value(value)}"


def _read(desk: Desk, user: User, digest: str, place: heatmap.HeatmapCell) -> None:
    """One answer: the question, the reply, the annotated answer, and everyone's scores with their notes.

    Another system's answer to the same question about the same document can be put beside it.
    """
    answer = desk.pool.answers.get(digest)
    if answer is None:
        return
    case = case_of(desk, digest)
    others = _others(desk, user, answer, place)
    picked = st.selectbox("Beside it", [ALONE, *others], key=f"results beside {digest}") if others else ALONE
    asked, annotated = asked_of(case, digest), annotated_of(case)
    reply = Text(case.reply, "Answer" if picked == ALONE else place.system, answer.status, fold=FOLD)
    if picked == ALONE:
        texts("results reply", [asked, reply, *annotated])
        scores_of(desk, user, answer, key="results scores")
        return
    texts("results asked", [asked])
    beside = _beside(desk, user, others[picked], picked)
    for column, key, one in zip(st.columns(2), ("reply", "reply beside"), (reply, beside), strict=True):
        with column:
            texts(f"results {key}", [one])
    texts("results annotated", annotated)
    # Below, where notes have room.
    for key, name, read in (("", place.system, digest), (" beside", picked, others[picked])):
        texts(f"results scored{key}", [Text(name, "Scores of", tone="system")])
        scores_of(desk, user, desk.pool.answers[read], key=f"results scores{key}")


def _others(desk: Desk, user: User, answer: PooledAnswer, place: heatmap.HeatmapCell) -> dict[str, str]:
    """System, wording and repetition → digest of the other systems' answers to the question in this experiment.

    Answers that this user can still be asked to score are not among them.
    """
    ahead = desk.queue.answers_ahead(user.name) if user.scores else frozenset[str]()
    found = {}
    for other in desk.pool.answers.values():
        same = (other.document_digest, other.question) == (answer.document_digest, answer.question)
        if not same or other.digest == answer.digest or other.digest in ahead:
            continue
        for at in other.occurrences:
            experiment = experiment_of(other.kind, at.initialization, at.wording)
            if at.system != place.system and experiment == place.experiment:
                found[f"{at.system}: {at.wording}, {at.repetition}"] = other.digest
    return dict(sorted(found.items()))


def _beside(desk: Desk, user: User, digest: str, named: str) -> Text:
    """The other answer; that it and its scores are seen is recorded before."""
    desk.queue.record_exposures(user.name, [digest], system=True, scores=True)
    answer, case = desk.pool.answers[digest], case_of(desk, digest)
    return Text(case.reply, named, answer.status, fold=FOLD)


# -- the rest of the report --


def _report(desk: Desk, user: User, found: ResultsView) -> None:
    heading("The rest of the report")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.toggle("Compute every table and figure of the report for this selection", key="results report")
    if not wanted:
        return
    desk.queue.record_exposures(user.name, found.exposing(), scores=True)
    with st.spinner("Working out the report …"):
        chapters = {chapter.title: chapter for chapter in readable(found.report.chapters, user)}
    if not chapters:
        return
    chapter = chapters[st.selectbox("Part", list(chapters), key="results chapter")]
    show_chapter("results", chapter, found)
