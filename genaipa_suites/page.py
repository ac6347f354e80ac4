"""Suites page: the scores of the sister benchmarks, and the items behind them, each with its gold label and its reply.

Their scores are no person's, so that nothing here bears on what anybody is asked to score.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import streamlit as st

from genaipa.runs.selection import run_folders
from genaipa.ui.results import list_sources
from genaipa.ui.widgets import (
    ANY,
    FOLD,
    ListCell,
    ListRow,
    Text,
    cache_in_session,
    number_columns,
    show_heading,
    show_long_table,
    show_notice,
    show_page_header,
    show_problems,
    show_table,
    show_texts,
)
from genaipa_suites.material import FAULTS
from genaipa_suites.probes import CONTINUATION
from genaipa_suites.report.results import Board, Result, boards, results

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


def page(desk: Desk, _user: User) -> None:
    """Show the systems of one suite, their scores by group, and the items behind a number."""
    show_page_header("Suites")
    files = [(folder.name, folder.answers) for folder in run_folders(desk.workspace)]
    stamp = tuple((name, file.stat().st_size if file.is_file() else 0) for name, file in files)
    with st.spinner("Scoring the suites …"):
        found, said = cache_in_session("suites results", stamp, lambda: results(desk.workspace, list_sources(desk)))
    show_problems("suites problems", said)
    made = boards(found)
    if not made:
        show_notice(
            "suites none",
            "No suite was run here. Begin with: genaipa run --suite policyqa --split sample -s baseline/best-overlap",
        )
        return
    board = made[
        st.selectbox("Suite", range(len(made)), format_func=lambda place: made[place].title, key="suites board")
    ]
    about = board.suite.about
    show_texts("suites about", [Text(f"{about[:1].upper()}{about[1:]}.", tone="system")])
    result = _systems(board)
    _groups(board, result)
    _items(board, result)


def _systems(board: Board) -> Result:
    """The systems with their first measures; the one whose items are below."""
    show_heading("Systems")
    measures = board.suite.measures[:_COLUMNS]
    chosen = st.session_state.get("suites system", "")
    result = next((one for one in board.results if _way(board, one) == chosen), board.results[0])
    rows = [
        ListRow((way, *(_percent(one.figure(measure)) for measure in measures), faults or "-"), id=way)
        for one in board.results
        for way in [_way(board, one)]
        for faults in [", ".join(f"{number:,} {fault}" for fault, number in one.faults.items() if number)]
    ]
    columns = ["system", *number_columns(*(measure.heading for measure in measures)), "scored 0 for"]
    show_table(
        "suites systems",
        "Systems by their scores, per cent",
        columns,
        rows,
        chosen=_way(board, result),
        choose=_keep("suites system"),
    )
    said = "\n".join(f"{measure.heading}: {measure.definition}" for measure in measures)
    show_texts("suites measures", [Text(said, tone="system")])
    return result


def _way(board: Board, result: Result) -> str:
    """The system, with how it was asked where the board has it several times."""
    several = sum(one.system == result.system for one in board.results) > 1
    return f"{result.system} ({result.asked})" if several and result.asked else result.system


def _groups(board: Board, result: Result) -> None:
    """The main measure by the groups of a breakdown; a row leads to its items."""
    names = list(dict.fromkeys(name for item in board.suite.material.items for name in item.groups))
    if not names:
        return
    show_heading("By group")
    name = st.radio("Break down by", names, horizontal=True, key="suites breakdown")
    measure = board.suite.grouped[0]
    groups: dict[str, list[Outcome]] = {}
    for outcome in result.outcomes:
        for group in outcome.item.groups.get(name, ()):
            groups.setdefault(group, []).append(outcome)
    rows = [
        ListRow((group, f"{len(some):,}", _percent(result.figure(measure, some))), id=group)
        for group, some in sorted(groups.items())
    ]
    chosen = st.session_state.get("suites group", "")
    show_table(
        "suites groups", f"{measure.heading} of {_way(board, result)} by {name}",
        [name, *number_columns("items", measure.heading)], rows, chosen=chosen, choose=_keep("suites group"),
    )  # fmt: skip


def _items(board: Board, result: Result) -> None:
    """The items of the chosen system, group and kind of error; one of them to read."""
    show_heading("Items")
    outcomes = _filtered(board, result)
    if not outcomes:
        show_notice("suites no items", "No item is of this kind.")
        return
    by_key = {outcome.key: outcome for outcome in outcomes}
    measure = board.suite.single
    show_long_table(
        "suites items", "Items", ["item", "asked", "gold", "prediction", *number_columns(measure.heading), "why"],
        outcomes, lambda outcome: _row(board, outcome, measure),
        chosen=st.session_state.get(_CHOSEN, ""), choose=_keep(_CHOSEN),
    )  # fmt: skip
    chosen = by_key.get(st.session_state.get(_CHOSEN, ""))
    if chosen is None:
        st.caption("Choose an item to read it whole.")
    else:
        _read(board, chosen, measure)


def _filtered(board: Board, result: Result) -> list[Outcome]:
    """The outcomes that the boxes leave, and the row chosen above them."""
    there = {outcome.given.fault for outcome in result.outcomes}
    kinds = [ANY, _WRONG, _RIGHT, *(fault for fault in FAULTS if fault in there), *board.suite.error_kinds]
    boxes = st.columns(2)
    kind = boxes[0].selectbox("Kind of error", kinds, key="suites kind")
    name, group = st.session_state.get("suites breakdown", ""), st.session_state.get("suites group", "")
    some = [outcome for outcome in result.outcomes if not group or group in outcome.item.groups.get(name, ())]
    if group and boxes[1].button(f"Not only {group}", key="suites all groups"):
        st.session_state["suites group"] = ""
        st.rerun()
    measure = board.suite.single
    return [outcome for outcome in some if kind == ANY or kind in _kinds(board, outcome, measure)]


def _kinds(board: Board, outcome: Outcome, measure: Measure) -> set[str]:
    right = measure.of([outcome]) == 1
    errors = board.suite.errors(outcome) if board.suite.error_kinds else {}
    return {_RIGHT if right else _WRONG, outcome.given.fault, *(kind for kind, number in errors.items() if number)}


def _why(board: Board, outcome: Outcome) -> str:
    # A continuation has no errors of its suite's kinds.
    return outcome.given.fault if board.suite.plan.probe == CONTINUATION else board.suite.why(outcome)


def _said(board: Board, outcome: Outcome) -> Any:
    return outcome.given.prediction if board.suite.plan.probe == CONTINUATION else board.suite.said(outcome)


def _row(board: Board, outcome: Outcome, measure: Measure) -> ListRow:
    score = measure.of([outcome])
    cells: tuple[str | ListCell, ...] = (
        outcome.item.id,
        _cut(outcome.item.shown.get("question") or outcome.item.shown.get("text") or outcome.item.id),
        _cut(board.suite.gold_shown(outcome.item)),
        ListCell(outcome.given.fault, tone="bad") if outcome.given.fault else _cut(_said(board, outcome)),
        f"{100 * score:.1f}" if score == score else "-",  # noqa: PLR0124 - NaN
        _why(board, outcome),
    )
    return ListRow(cells, id=outcome.key)


def _read(board: Board, outcome: Outcome, measure: Measure) -> None:
    """One item: all that was shown of it, its gold label, the reply, the prediction, the score and why."""
    item = outcome.item
    shown = board.suite.asked_about(item)
    entries = [
        Text(_plain(value), name, tone="asked" if name == "question" else "", fold=FOLD)
        for name, value in shown.items()
    ]
    score = measure.of([outcome])
    said = f"{measure.heading} {100 * score:.1f}" if score == score else f"{measure.heading}: not defined"  # noqa: PLR0124
    show_texts(
        "suites one",
        [
            *entries,
            Text(_plain(board.suite.gold_shown(item)), "gold", tone="good", fold=FOLD),
            Text(outcome.reply or "(no reply)", "reply", fold=FOLD),
            Text(outcome.given.fault or _plain(_said(board, outcome)), "prediction", said, "strong", fold=FOLD),
            *([Text(why, "why", tone="note")] if (why := _why(board, outcome)) else []),
        ],
    )


def _plain(value: Any) -> str:
    """A value as a person reads it: text as it is, a list one a line, an object its fields one a line, else JSON."""
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_plain(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(map(_plain, value)) or "(none)"
    return value if isinstance(value, str) else json.dumps(value)


def _cut(value: Any) -> str:
    """The beginning of a value on one line: what a list or an object has in it, each once."""
    several = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
    lines = dict.fromkeys(" ".join(_plain(each).split()) for each in several)
    line = " / ".join(filter(None, lines)) or "(none)"
    return line if len(line) <= _SHORT else f"{line[:_SHORT]} …"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}" if value == value else "-"  # noqa: PLR0124 - NaN


def _keep(name: str) -> Any:
    def choose(value: str) -> None:
        st.session_state[name] = value

    return choose
