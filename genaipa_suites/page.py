"""Suites page: the scores of the sister benchmarks, and the items behind them, each with its gold label and its reply.

Their scores are no person's, so that nothing here bears on what anybody is asked to score.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.runs.selection import list_run_folders_oldest_first
from genaipa.ui.results import list_readable_selected_runs
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListCell,
    ListRow,
    TitledText,
    cache_in_session,
    number_column_heads,
    show_first_problems,
    show_heading,
    show_notice,
    show_page_header,
    show_table,
    show_table_in_pages,
    show_texts,
)
from genaipa_suites.material import FAULTS
from genaipa_suites.probes import CONTINUATION
from genaipa_suites.report.results import (
    SuiteBoard,
    SystemSuiteResult,
    group_results_into_boards,
    read_results_and_problems,
)

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.ui.desk import Desk
    from genaipa_suites.material import Outcome
    from genaipa_suites.measure import Measure

_COLUMNS = 4
"""Measures that a table on the page has; the report has all."""
_SHORT = 160
"""Characters of a text in a row."""
_WRONG, _RIGHT = "not all right", "all right"
_CHOSEN = "suites item"


def show_page(desk: Desk, _user: User) -> None:
    """Show the systems of one suite, their scores by group, and the items behind a number."""
    show_page_header("Suites")
    files = [(folder.name, folder.answers_path) for folder in list_run_folders_oldest_first(desk.workspace)]
    stamp = tuple((name, file.stat().st_size if file.is_file() else 0) for name, file in files)
    with st.spinner("Scoring the suites …"):
        suite_results, problem_texts = cache_in_session(
            "suites results",
            stamp,
            lambda: read_results_and_problems(desk.workspace, list_readable_selected_runs(desk)),
        )
    show_first_problems("suites problems", problem_texts)
    result_boards = group_results_into_boards(suite_results)
    if not result_boards:
        show_notice(
            "suites none",
            "No suite has been run in this workspace. Start with: "
            "genaipa run --suite policyqa --split sample -s baseline/best-overlap",
        )
        return
    board = result_boards[
        st.selectbox(
            "Suite", range(len(result_boards)), format_func=lambda index: result_boards[index].title, key="suites board"
        )
    ]
    about = board.suite.about
    show_texts("suites about", [TitledText(f"{about[:1].upper()}{about[1:]}.", tone="system")])
    result = _show_systems_and_return_chosen(board)
    _show_scores_by_group(board, result)
    _show_items(board, result)


def _show_systems_and_return_chosen(board: SuiteBoard) -> SystemSuiteResult:
    """Show the systems with their first measures, and return the one whose items are below."""
    show_heading("Systems")
    measures = board.suite.measures[:_COLUMNS]
    selected = st.session_state.get("suites system", "")
    result = next(
        (candidate for candidate in board.results if _system_label(board, candidate) == selected), board.results[0]
    )
    rows = [
        ListRow(
            (
                label,
                *(
                    _format_percentage_number_or_dash(candidate.mean_value_over_repetitions(measure))
                    for measure in measures
                ),
                faults or "-",
            ),
            id=label,
        )
        for candidate in board.results
        for label in [_system_label(board, candidate)]
        for faults in [
            ", ".join(f"{number:,} {fault}" for fault, number in candidate.fault_and_missing_counts.items() if number)
        ]
    ]
    columns = ["system", *number_column_heads(*(measure.heading for measure in measures)), "faults (scored 0)"]
    show_table(
        "suites systems",
        "Scores of the systems, per cent",
        columns,
        rows,
        chosen_row_id=_system_label(board, result),
        on_row_chosen=_make_session_setter("suites system"),
    )
    definitions = "\n".join(f"{measure.heading}: {measure.definition}" for measure in measures)
    show_texts("suites measures", [TitledText(definitions, tone="system")])
    return result


def _system_label(board: SuiteBoard, result: SystemSuiteResult) -> str:
    """Return the system, with how it was asked where the board has it several times."""
    is_repeated = sum(other_result.system == result.system for other_result in board.results) > 1
    return f"{result.system} ({result.asking_text})" if is_repeated and result.asking_text else result.system


def _show_scores_by_group(board: SuiteBoard, result: SystemSuiteResult) -> None:
    """Show the main measure by the groups of a breakdown; a row leads to its items."""
    names = list(dict.fromkeys(name for item in board.suite.material.items for name in item.groups))
    if not names:
        return
    show_heading("By group")
    name = st.radio("Break down by", names, horizontal=True, key="suites breakdown")
    measure = board.suite.measures_for_item_groups[0]
    groups: dict[str, list[Outcome]] = {}
    for outcome in result.outcomes:
        for group in outcome.item.groups.get(name, ()):
            groups.setdefault(group, []).append(outcome)
    rows = [
        ListRow(
            (
                group,
                f"{len(group_outcomes):,}",
                _format_percentage_number_or_dash(result.mean_value_over_repetitions(measure, group_outcomes)),
            ),
            id=group,
        )
        for group, group_outcomes in sorted(groups.items())
    ]
    selected = st.session_state.get("suites group", "")
    show_table(
        "suites groups", f"{measure.heading} of {_system_label(board, result)} by {name}",
        [name, *number_column_heads("items", measure.heading)], rows, chosen_row_id=selected,
        on_row_chosen=_make_session_setter("suites group"),
    )  # fmt: skip


def _show_items(board: SuiteBoard, result: SystemSuiteResult) -> None:
    """Show the items of the chosen system, group and kind of error, and one of them to read."""
    show_heading("Items")
    outcomes = _show_filters_and_select_outcomes(board, result)
    if not outcomes:
        show_notice("suites no items", "No item matches.")
        return
    by_key = {outcome.key: outcome for outcome in outcomes}
    measure = board.suite.item_measure
    show_table_in_pages(
        "suites items", "Items", ["item", "asked", "gold", "prediction", *number_column_heads(measure.heading),
        "why"], outcomes, lambda outcome: _item_row(board, outcome, measure),
        on_row_chosen=_make_session_setter(_CHOSEN), chosen_row_id=st.session_state.get(_CHOSEN, ""),
    )  # fmt: skip
    selected = by_key.get(st.session_state.get(_CHOSEN, ""))
    if selected is None:
        st.caption("Choose an item to read it in full.")
    else:
        _show_item(board, selected, measure)


def _show_filters_and_select_outcomes(board: SuiteBoard, result: SystemSuiteResult) -> list[Outcome]:
    """Return the outcomes that the boxes leave, and the row chosen above them."""
    present_faults = {outcome.parsed.fault for outcome in result.outcomes}
    kinds = [ANY, _WRONG, _RIGHT, *(fault for fault in FAULTS if fault in present_faults), *board.suite.error_kinds]
    boxes = st.columns(2)
    kind = boxes[0].selectbox("Kind of error", kinds, key="suites kind")
    name, group = st.session_state.get("suites breakdown", ""), st.session_state.get("suites group", "")
    group_outcomes = [outcome for outcome in result.outcomes if not group or group in outcome.item.groups.get(name, ())]
    if group and boxes[1].button("Show all groups", key="suites all groups"):
        st.session_state["suites group"] = ""
        st.rerun()
    measure = board.suite.item_measure
    return [
        outcome for outcome in group_outcomes if kind == ANY or kind in _matching_error_filters(board, outcome, measure)
    ]


def _matching_error_filters(board: SuiteBoard, outcome: Outcome, measure: Measure) -> set[str]:
    right = measure.compute([outcome]) == 1
    errors = board.suite.count_errors_by_kind(outcome) if board.suite.error_kinds else {}
    return {_RIGHT if right else _WRONG, outcome.parsed.fault, *(kind for kind, number in errors.items() if number)}


def _fault_or_error_summary(board: SuiteBoard, outcome: Outcome) -> str:
    # A continuation has no errors of its suite's kinds.
    return (
        outcome.parsed.fault
        if board.suite.plan.probe == CONTINUATION
        else board.suite.summarize_fault_or_error(outcome)
    )


def _readable_prediction(board: SuiteBoard, outcome: Outcome) -> Any:
    return (
        outcome.parsed.prediction
        if board.suite.plan.probe == CONTINUATION
        else board.suite.readable_prediction(outcome)
    )


def _item_row(board: SuiteBoard, outcome: Outcome, measure: Measure) -> ListRow:
    score = measure.compute([outcome])
    cells: tuple[str | ListCell, ...] = (
        outcome.item.id,
        _summarize_json_on_one_line(
            outcome.item.shown.get("question") or outcome.item.shown.get("text") or outcome.item.id
        ),
        _summarize_json_on_one_line(board.suite.readable_gold(outcome.item)),
        ListCell(outcome.parsed.fault, tone="bad")
        if outcome.parsed.fault
        else _summarize_json_on_one_line(_readable_prediction(board, outcome)),
        f"{100 * score:.1f}" if score == score else "-",  # noqa: PLR0124 - NaN
        _fault_or_error_summary(board, outcome),
    )
    return ListRow(cells, id=outcome.key)


def _show_item(board: SuiteBoard, outcome: Outcome, measure: Measure) -> None:
    """Show one item: all that was shown of it, its gold label, the reply, the prediction, the score and the reason."""
    item = outcome.item
    variables = board.suite.readable_item_fields(item)
    entries = [
        TitledText(_format_json_for_reading(value), name, tone="asked" if name == "question" else "", fold=FOLD)
        for name, value in variables.items()
    ]
    score = measure.compute([outcome])
    score_text = f"{measure.heading} {100 * score:.1f}" if score == score else f"{measure.heading}: not defined"  # noqa: PLR0124
    show_texts(
        "suites one",
        [
            *entries,
            TitledText(_format_json_for_reading(board.suite.readable_gold(item)), "gold", tone="good", fold=FOLD),
            TitledText(outcome.reply or "(no reply)", "reply", fold=FOLD),
            TitledText(
                outcome.parsed.fault or _format_json_for_reading(_readable_prediction(board, outcome)),
                "prediction",
                score_text,
                "strong",
                fold=FOLD,
            ),
            *([TitledText(reason, "why", tone="note")] if (reason := _fault_or_error_summary(board, outcome)) else []),
        ],
    )


def _format_json_for_reading(value: Any) -> str:
    """Format a value as a person reads it: a list one entry a line, an object its fields one a line, else JSON."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_format_json_for_reading(entry)}" for name, entry in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(map(_format_json_for_reading, value)) or "(none)"
    return value if isinstance(value, str) else json.dumps(value)


def _summarize_json_on_one_line(value: Any) -> str:
    """Return the beginning of a value on one line: what a list or an object has in it, each once."""
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    lines = dict.fromkeys(" ".join(_format_json_for_reading(entry).split()) for entry in entries)
    line = " / ".join(filter(None, lines)) or "(none)"
    return line if len(line) <= _SHORT else f"{line[:_SHORT]} …"


def _format_percentage_number_or_dash(share: float) -> str:
    return f"{100 * share:.1f}" if share == share else "-"  # noqa: PLR0124 - NaN


def _make_session_setter(session_key: str) -> Any:
    def set_session_value(value: str) -> None:
        st.session_state[session_key] = value

    return set_session_value
