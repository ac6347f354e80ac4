"""Results: the report's numbers and figures with filters, and the answers behind a cell of a heat map.

This page says whose an answer is and how it was scored. So answers that its user can still be asked to score are in
none of its numbers, and showing others is recorded as exposure, as on every page
(see `ScoringQueue.record_exposures`).
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import streamlit as st

from genaipa.answers.tidy import plain_texts
from genaipa.reports.figures import style
from genaipa.reports.significance import format_confidence
from genaipa.runs.experiments import classify_experiment
from genaipa.scoring.rubric import M_ALL_RANGE, format_signed_value
from genaipa.stats.intervals import LEAST_DOCUMENTS
from genaipa.ui import charts, heatmap
from genaipa.ui.answer_view import (
    annotated_answer_with_warning_if_wrong,
    load_case_or_rerun_page,
    make_question_text_to_scroll_to,
    show_scores_recording_exposure,
)
from genaipa.ui.charts import drop_judges_chapter_unless_adjudicator, show_chapter
from genaipa.ui.results import (
    ResultsCache,
    ResultsChoice,
    ResultsSnapshot,
    ResultsView,
    RowKind,
    ScoredAnswer,
    ScoreFilter,
    make_results_view_cached,
    results_cache,
)
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListCell,
    ListRow,
    TitledText,
    make_note_folded_to_first_sentence,
    number_column_heads,
    show_first_problems,
    show_heading,
    show_notice,
    show_page_header,
    show_table,
    show_table_in_pages,
    show_texts,
)
from genaipa.words import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from genaipa.reports.table import Table
    from genaipa.scoring.answers import PooledAnswer
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk

ALONE = "no other answer"
"""The choice of nothing beside an answer that is read."""
_GROUPS = {ANY: ANY, "faq": "from FAQs", "user": "from users"}


@plain_texts
def show_page(desk: Desk, user: User) -> None:
    """Show the systems, the heat map with the answers behind it, the box plots, and the rest of a report."""
    desk.pool.read_new_answers()
    desk.current.read_new_events()
    show_page_header("Results")
    show_first_problems("results problems", desk.list_pool_problems_user_may_read(user))
    cache = results_cache(desk.pool)
    snapshot = _load_snapshot_and_offer_update(desk, cache)
    if snapshot is None:
        show_notice(
            "results none", "There is no run yet. Begin with: genaipa run --system extractive --policy brindlecart"
        )
        return
    choice = _choose_filters(snapshot)
    ahead = desk.queue.answers_analyst_may_still_score(user.name) if user.scores else frozenset[str]()
    results = make_results_view_cached(snapshot, choice, snapshot.make_hidden_byte_per_distinct_answer(ahead))
    _show_hidden_answers_note_and_button(desk, user, results)
    if results.frame["counted"].any():
        _show_leaderboard(results)
        if user.adjudicates:
            _show_people_and_judge_estimates(results)
        _show_heatmap_answers_and_box_plots(desk, user, results)
    else:
        show_notice("results unscored", "No score counts in this selection: it has none, or all are excluded.")
    _show_chosen_report_chapter_on_demand(desk, user, results)


def _load_snapshot_and_offer_update(desk: Desk, cache: ResultsCache) -> ResultsSnapshot | None:
    """Load the runs and scores as they were when somebody last came to this page, or asked for newer ones."""
    # The boxes' values are there as long as one stays on the page.
    arrived = "results system" not in st.session_state
    with st.spinner("Reading the runs …"):
        snapshot = cache.get_or_read_snapshot(desk, renew_if_stale=arrived)
    if snapshot is not None and not arrived and snapshot.is_stale(desk):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Scores or answers have come in since these numbers were computed.", width="content")
            st.button("Update the numbers", key="results anew", on_click=cache.renew_stale_snapshot, args=(desk,))
    return snapshot


# -- what is chosen --


def _choose_filters(snapshot: ResultsSnapshot) -> ResultsChoice:
    boxes = st.columns(5)
    system = boxes[0].selectbox("System", [ANY, *snapshot.list_column_values("system")], key="results system")
    experiment = boxes[1].selectbox(
        "Experiment", [ANY, *snapshot.list_column_values("experiment")], key="results experiment"
    )
    document = boxes[2].selectbox("Document", [ANY, *snapshot.list_column_values("document")], key="results document")
    groups = [*_GROUPS, *snapshot.list_column_values("category")]
    named = {**snapshot.study.questions.categories, **_GROUPS}
    questions = boxes[3].selectbox(
        "Questions", groups, format_func=lambda group: named.get(group, group), key="results questions"
    )
    scores: ScoreFilter = boxes[4].selectbox("Scores", snapshot.score_filters, format_func=str, key="results whose")
    excluded = False
    if (snapshot.frame["excluded"] != "").any():
        excluded = st.toggle("Include excluded answers", key="results excluded")
    return ResultsChoice(system, experiment, document, questions, scores, excluded)


def _show_hidden_answers_note_and_button(desk: Desk, user: User, results: ResultsView) -> None:
    """Note how many results are hidden from this user, and let them choose to see them."""
    scored = results.hidden_answers
    if not scored:
        return
    show_notice(
        "results left out",
        f"{format_count(len(scored), 'answer')} that people or a judge scored "
        f"{'is' if len(scored) == 1 else 'are'} left out of all numbers, because you can still be asked to score "
        "them blind. The results below cover the other answers.",
    )
    with st.expander("I only want to read the results"):
        st.text(
            "Once you have seen how others scored these answers, you are no longer asked to score them. You can't "
            "undo this."
        )
        st.button(
            "Show me all of them",
            key="results show all",
            on_click=lambda: desk.queue.record_exposures(user.name, scored, sees_system=True, sees_scores=True),
        )


# -- the systems --


def _show_leaderboard(results: ResultsView) -> None:
    show_heading("Systems")
    board = results.leaderboard
    if not board:
        show_notice("results no board", results.no_leaderboard_reason)
        return
    experiments = [
        name for name in board.data.columns if name in set(results.question_metrics_table.data["experiment"])
    ]
    sure = [
        f"{format_confidence(results.evidence_required_in_leaderboard.p)} interval for these documents",
        "for policies like these",
    ]
    came = ["answered"] if "answered" in board.main_columns else []
    columns = [
        "system",
        *number_column_heads(board.headings["m_all"]),
        *came,
        *sure,
        *number_column_heads(*experiments, "answers"),
        "scored by",
    ]
    rows = [
        ListRow(
            (
                str(row["system"]),
                board.format_cell("m_all", row["m_all"]),
                *(str(row[name]) for name in came),
                _make_interval_cell(board, row, "low", "high"),
                _make_interval_cell(board, row, "policies_low", "policies_high"),
                *(board.format_cell(name, row[name]) or "-" for name in experiments),
                f"{row['answers']:,}",
                f"{row['scored_by']}: {row['scored']}" if "scored" in board.main_columns else str(row["scored_by"]),
            )
        )
        for row in board.data.to_dict("records")
    ]
    show_table("results systems", "Systems by M_all", columns, rows)
    show_texts("results board note", [make_note_folded_to_first_sentence("", board.note)])


def _show_people_and_judge_estimates(results: ResultsView) -> None:
    """Show the study's lead what people and judge say together: M_all of each system and experiment."""
    estimates, forecasts = results.people_and_judge_table_and_forecasts
    if not estimates:
        return
    show_heading("People and judge")
    ends = {name: (f"{name}_low", f"{name}_high") for name in ("people",)} | {"mean": ("low", "high")}
    rows = []
    for row in estimates.data[estimates.data["measure"] == "M_all"].to_dict("records"):
        written = {str(name): estimates.format_cell(str(name), value) for name, value in row.items()}
        sure = (f"{written[name]} [{written[low]}, {written[high]}]" for name, (low, high) in ends.items())
        means = (text if written[name] else "-" for name, text in zip(ends, sure, strict=True))
        worth = (written["n_eff"] or "-", written["hours"] or "-")
        rows.append(ListRow((row["system"], row["experiment"], row["scored"], *means, *worth, row["why"])))
    heads = [estimates.headings[name] for name in ("people", "mean", "n_eff", "hours", "why")]
    columns = ["system", "experiment", "scored by", *number_column_heads(*heads[:-1]), heads[-1]]
    show_table(
        "results people and judge", "Averages of M_all from people and judge, for these documents", columns, rows
    )
    sentences = [*forecasts]
    if results.hidden_answer_count_in_estimates:
        sentences.append(
            f"Verdicts on {format_count(results.hidden_answer_count_in_estimates, 'answer')} outside the "
            "random parts count only in "
            "these averages."
        )
    notes = [make_note_folded_to_first_sentence("", " ".join(sentences))] if sentences else []
    show_texts("results people and judge notes", [*notes, make_note_folded_to_first_sentence("", estimates.note)])


def _make_interval_cell(leaderboard: Table, row: charts.TableRow, low_column: str, high_column: str) -> ListCell:
    value, scale = row["m_all"], M_ALL_RANGE
    if leaderboard.format_cell(low_column, row[low_column]):
        written = (
            f"[{leaderboard.format_cell(low_column, row[low_column])}, "
            f"{leaderboard.format_cell(high_column, row[high_column])}]"
        )
        return ListCell(written, low=row[low_column], value=value, high=row[high_column], scale=scale)
    too_few = low_column == "policies_low" and row["documents"] < LEAST_DOCUMENTS
    return ListCell(f"{format_count(row['documents'], 'document')}: too few" if too_few else "-", tone="quiet")


# -- the heat map --


@st.fragment
def _show_heatmap_answers_and_box_plots(desk: Desk, user: User, results: ResultsView) -> None:
    """Show the heat map of one experiment with the box plots beneath it; between them the answers behind a cell."""
    show_heading("By question and metric")
    experiments = [str(name) for name in results.question_metrics_table.data["experiment"].unique()]
    if not experiments:
        show_notice("results no map", "This selection has no score for a question about a policy.")
        return
    boxes = st.columns([2, 2, 3])
    experiment = boxes[0].selectbox("Heat map and box plots of", experiments, format_func=style.experiment_heading)
    rows: RowKind = boxes[1].radio("Rows", ("question", "category"), horizontal=True, key="results rows")
    desk.queue.record_exposures(user.name, results.list_answers_exposed_by_small_cells(experiment), sees_scores=True)
    cell = heatmap.show_heatmap_and_choose_cell(results, experiment, rows)
    line = heatmap.find_table_row_of_heatmap_cell(results, cell) if cell else None
    if cell is not None and line is not None:
        _show_cell_answers_recording_exposure(desk, user, results, cell, line)
    elif cell is not None:
        st.caption(f"{cell.system} has no score for {cell.name} here.")
    charts.show_box_plots(results, experiment)


# -- the answers behind a cell --


def _show_cell_answers_recording_exposure(
    desk: Desk, user: User, results: ResultsView, cell: heatmap.HeatmapCell, table_row: charts.TableRow
) -> None:
    """Show the answers whose scores a cell is a mean of, and one of them to read."""
    show_heading("Behind the cell")
    value = table_row[cell.column]
    banded = f" ({heatmap.classify_band_of_heatmap_value(cell.column, value, results.bounds)})"
    written = f"{heatmap.format_heatmap_value(cell.column, value)}{banded}" if value == value else "no value"  # noqa: PLR0124
    named = f"{cell.system}, {cell.experiment}: {heatmap.headings_by_heatmap_column(results)[cell.column]} {written}"
    meaning = results.meaning_by_row_name(cell.rows).get(cell.name, "")
    show_texts("results cell", [TitledText(meaning or cell.name, cell.name, named, "strong", arrives=str(cell))])
    answers = results.list_heatmap_row_answers(cell.system, cell.experiment, cell.rows, cell.name)
    counted = sum(len(answer.counted_rows) for answer in answers)
    st.caption(
        f"{format_count(len(answers), 'answer')}, {format_count(counted, 'counted score')}. The number is a mean over "
        f"{heatmap.name_unit_documents_or_questions(cell.rows)}; each of them is a mean over answers, and "
        "each answer a mean over "
        "scores."
    )

    def record_page_systems_and_scores_as_seen(on_page: Sequence[ScoredAnswer]) -> None:
        digests = [answer["answer"] for answer in on_page if answer["answer"]]
        desk.queue.record_exposures(user.name, digests, sees_system=True, sees_scores=True)

    def remember_chosen_cell_answer_in_session(digest: str) -> None:
        st.session_state[heatmap.ANSWER] = digest

    question = ["question"] if cell.rows == "category" else []
    values = number_column_heads(
        *(heatmap.headings_by_heatmap_column(results)[column] for column in _cell_column_and_m_all(cell.column))
    )
    columns = ["document", *question, "wording", "state", *values, "scores", ""]
    show_table_in_pages(
        heatmap.ANSWERS,
        "Answers behind the cell",
        columns,
        answers,
        lambda answer: _make_scored_answer_row(desk, answer, cell),
        chosen_row_id=st.session_state.get(heatmap.ANSWER, ""),
        on_row_chosen=remember_chosen_cell_answer_in_session,
        before_showing_page=record_page_systems_and_scores_as_seen,
    )
    digest = st.session_state.get(heatmap.ANSWER, "")
    if digest and any(answer["answer"] == digest for answer in answers):
        _show_answer_with_optional_comparison(desk, user, digest, cell)
    else:
        st.caption("Choose an answer to read it with its scores and notes.")


def _cell_column_and_m_all(column: str) -> list[str]:
    return list(dict.fromkeys((column, "m_all")))


def _make_scored_answer_row(desk: Desk, answer: ScoredAnswer, cell: heatmap.HeatmapCell) -> ListRow:
    """Return an answer, or a published score, with its averages and each analyst's values."""
    published = answer["unit"] == "table"
    cells: list[str | ListCell] = [answer["document"] or "mean over documents"]
    cells += [answer["question"]] if cell.rows == "category" else []
    cells += ["" if published else f"{answer['wording']}, {answer['repetition']}"]
    cells += ["published score" if published else answer["status"]]
    for column in _cell_column_and_m_all(cell.column):
        values = [row[column] for row in answer.counted_rows]
        cells += [heatmap.format_heatmap_value(column, fmean(values)) if values else ""]
    score_texts = [_describe_scorer_and_value(row, cell.column) for row in answer.score_rows]
    cells += ["\n".join(score_texts) or ListCell("not scored", tone="quiet")]
    cells += [ListCell(f"left out: {answer['excluded']}" if answer["excluded"] else "", tone="quiet")]
    return ListRow(tuple(cells), id=answer["answer"] if answer["answer"] in desk.pool.answers else "")


def _describe_scorer_and_value(score_row: charts.TableRow, column: str) -> str:
    origin = (
        " (adjudicated)"
        if score_row["role"] == "adjudication"
        else " (machine)"
        if score_row["scorer"] == "machine"
        else ""
    )
    value = score_row[column]
    # A published score is a mean, and need not be one of the rubric's values.
    return (
        f"{score_row['analyst']}{origin} "
        f"{heatmap.format_heatmap_value(column, value) if column == 'm_all' else format_signed_value(value)}"
    )


def _show_answer_with_optional_comparison(
    desk: Desk, user: User, answer_digest: str, cell: heatmap.HeatmapCell
) -> None:
    """Show one answer: the question, the reply, the annotated answer, and everyone's scores with their notes.

    Another system's answer to the same question about the same document can be put beside it.
    """
    answer = desk.pool.answers.get(answer_digest)
    if answer is None:
        return
    case = load_case_or_rerun_page(desk, answer_digest)
    other_answers = _map_labels_to_other_systems_answers(desk, user, answer, cell)
    picked = (
        st.selectbox("Compare with", [ALONE, *other_answers], key=f"results beside {answer_digest}")
        if other_answers
        else ALONE
    )
    question, annotated = (
        make_question_text_to_scroll_to(case, answer_digest),
        annotated_answer_with_warning_if_wrong(case),
    )
    reply = TitledText(case.reply, "Answer" if picked == ALONE else cell.system, answer.status, fold=FOLD)
    if picked == ALONE:
        show_texts("results reply", [question, reply, *annotated])
        show_scores_recording_exposure(desk, user, answer, key_prefix="results scores")
        return
    show_texts("results asked", [question])
    other_reply = _read_answer_recording_exposure(desk, user, other_answers[picked], picked)
    for column, key, text in zip(st.columns(2), ("reply", "reply beside"), (reply, other_reply), strict=True):
        with column:
            show_texts(f"results {key}", [text])
    show_texts("results annotated", annotated)
    # Below, where notes have room.
    for key, name, read in (("", cell.system, answer_digest), (" beside", picked, other_answers[picked])):
        show_texts(f"results scored{key}", [TitledText(name, "Scores of", tone="system")])
        show_scores_recording_exposure(desk, user, desk.pool.answers[read], key_prefix=f"results scores{key}")


def _map_labels_to_other_systems_answers(
    desk: Desk, user: User, answer: PooledAnswer, cell: heatmap.HeatmapCell
) -> dict[str, str]:
    """Find other systems' answers to the question in this experiment: system, wording and repetition → digest.

    Answers that this user can still be asked to score are not among them.
    """
    ahead = desk.queue.answers_analyst_may_still_score(user.name) if user.scores else frozenset[str]()
    digests = {}
    for candidate in desk.pool.answers.values():
        is_same_question = (candidate.document_digest, candidate.question) == (answer.document_digest, answer.question)
        if not is_same_question or candidate.digest == answer.digest or candidate.digest in ahead:
            continue
        for at in candidate.occurrences:
            experiment = classify_experiment(candidate.kind, at.initialization, at.wording)
            if at.system != cell.system and experiment == cell.experiment:
                digests[f"{at.system}: {at.wording}, {at.repetition}"] = candidate.digest
    return dict(sorted(digests.items()))


def _read_answer_recording_exposure(desk: Desk, user: User, answer_digest: str, title: str) -> TitledText:
    """Read the other answer, after recording that it and its scores are seen."""
    desk.queue.record_exposures(user.name, [answer_digest], sees_system=True, sees_scores=True)
    answer, case = desk.pool.answers[answer_digest], load_case_or_rerun_page(desk, answer_digest)
    return TitledText(case.reply, title, answer.status, fold=FOLD)


# -- the rest of the report --


def _show_chosen_report_chapter_on_demand(desk: Desk, user: User, results: ResultsView) -> None:
    show_heading("The rest of the report")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        wanted = st.toggle("Compute every table and figure of the report for this selection", key="results report")
    if not wanted:
        return
    desk.queue.record_exposures(user.name, results.list_answers_exposed_by_small_cells(), sees_scores=True)
    with st.spinner("Computing the report …"):
        chapters = {
            chapter.title: chapter for chapter in drop_judges_chapter_unless_adjudicator(results.report.chapters, user)
        }
    if not chapters:
        return
    chapter = chapters[st.selectbox("Part", list(chapters), key="results chapter")]
    show_chapter("results", chapter, results)
