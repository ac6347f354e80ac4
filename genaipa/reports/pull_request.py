"""A comparison as twenty lines of Markdown, for a pull request or the summary of a job.

What systems, judges and servers say is text there and nothing else: replies are code, in which no platform links,
mentions or embeds anything, and names are escaped. A reply that may not be passed on stays out (`runs.permission`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from genaipa.errors import clip, format_shell_command
from genaipa.questions.sets import id_without_follow_up_suffix
from genaipa.reports import averages
from genaipa.reports.answers import join_follow_up_with_earlier_question
from genaipa.reports.figures.style import clean_name_on_one_line
from genaipa.reports.gate import format_b_minus_a_with_interval
from genaipa.reports.significance import OTHER_PEOPLE
from genaipa.runs.permission import SharingPermission
from genaipa.runs.records import RecordHead
from genaipa.runs.selection import find_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from genaipa.questions.sets import Wording
    from genaipa.reports.comparison import Comparison
    from genaipa.reports.gate import ReleaseGate
    from genaipa.workspace import Workspace

MOST = 3
"""Answers that are shown."""
_CLIP = 160
"""Characters of an answer, or a question."""
_LONGEST = 60
"""Characters of a name."""
_CELL = ["experiment", "document", "question", "initialization", "wording", "repetition"]


@dataclass(frozen=True)
class ChangedAnswer:
    """A question of both systems whose scores are far apart: M_all of each (10 to 100), and their texts."""

    question: str
    text: str
    scores: tuple[float, float]
    replies: tuple[str, str]


def find_most_changed_answers(
    comparison: Comparison, workspace: Workspace, max_answers: int = MOST
) -> list[ChangedAnswer]:
    """Return the answers whose M_all changed most from the first system to the second, losses before gains."""
    ours, theirs = (_select_latest_scored_answers(side.frame) for side in comparison.sides)
    paired = ours.merge(theirs, on=_CELL, suffixes=("", "_now"))
    change = (paired["m_all_now"] - paired["m_all"]).round(9)
    paired = paired.assign(change=change, size=-change.abs())[change != 0]
    rows = paired.sort_values(["size", "change", *_CELL], kind="stable").head(max_answers).to_dict("records")
    replies = _read_replies_or_why_not_shown(
        workspace, [(row[f"run{side}"], row[f"key{side}"]) for row in rows for side in ("", "_now")]
    )
    return [
        ChangedAnswer(
            str(row["question"]),
            _find_question_text(comparison, row),
            (row["m_all"], row["m_all_now"]),
            (replies.get((row["run"], row["key"]), ""), replies.get((row["run_now"], row["key_now"]), "")),
        )
        for row in rows
    ]


def _find_question_text(comparison: Comparison, row: Mapping[Any, Any]) -> str:
    """Return the words of a row's question, with the one that a follow-up goes on from."""

    def find_text(question: str, wording: Wording) -> str:
        return min(comparison.sides[0].asked.get((row["document"], question, wording), ()), default="")

    earlier = id_without_follow_up_suffix(row["question"])
    earlier_text = find_text(earlier, "original") if earlier != row["question"] else ""
    return join_follow_up_with_earlier_question(find_text(row["question"], row["wording"]), earlier_text)


def _select_latest_scored_answers(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the scored answers of a side, as they are paired."""
    answer_averages = averages.average_answers(frame)
    rows = answer_averages[(answer_averages["unit"] == "answer") & answer_averages["m_all"].notna()]
    rows = rows[[*_CELL, "run", "key", "m_all"]].astype(dict.fromkeys([*_CELL[:-1], "run", "key"], "str"))
    # Of two runs of one plan the later has the answer that is shown.
    return rows.sort_values("run", kind="stable").drop_duplicates(_CELL, keep="last")


def _read_replies_or_why_not_shown(
    workspace: Workspace, answer_keys: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """Return the texts of these answers (run, key), and why one is not shown in its place."""
    wanted: dict[str, set[str]] = {}
    for run, key in answer_keys:
        wanted.setdefault(run, set()).add(key)
    texts = {}
    for run, keys in wanted.items():
        folder = find_run(workspace, run)
        permission = SharingPermission(folder, folder.manifest())
        for _, record in folder.read_checksummed_answers_with_offsets(RecordHead):
            if record.key in keys:
                free = permission.may_share_reply(record.system, record.document)
                texts[run, record.key] = (record.reply or "") if free else "(its text may not be redistributed)"
    return texts


def render_comparison_markdown(
    comparison: Comparison,
    changed_answers: Sequence[ChangedAnswer],
    *,
    gate: ReleaseGate | None = None,
    report_reference: str = "",
) -> str:
    """Return the comparison for a pull request; `report_reference` is Markdown on where to read more."""
    first, second = (_format_inline_code(clip(name, _LONGEST)) for name in (comparison.first, comparison.second))
    result = ("fails" if gate.is_failing else "passes") if gate else "compared"
    lines = [
        f"### genaipa: {second} against {first}, {result}",
        "",
        *((f"Gate: {escape_markdown_line(str(gate))}", "") if gate else ()),
        f"Finding: {escape_markdown_line(f'{comparison.verdict} {comparison.favoured}'.rstrip())}",
        "",
        f"| | A {_escape_table_bars(first)} | B {_escape_table_bars(second)} | B \u2212 A | |",
        "|---|--:|--:|--:|---|",
        *(
            _render_markdown_row(row)
            for row in comparison.frame[comparison.frame["questions"] == "all"].to_dict("records")
        ),
        "",
        *(map(_render_changed_answer, changed_answers) if changed_answers else ("- No answer's score has changed.",)),
        "",
        report_reference,
    ]
    return "\n".join(lines).rstrip() + "\n"


def _render_markdown_row(row: Mapping[Any, Any]) -> str:
    overall = row["family"] == "primary endpoint"
    name, digits = ("M_all", 1) if overall else (str(row["measure"]), 2)
    means = (f"{row[mean]:.{digits}f}".replace("-", "\u2212") for mean in ("mean_a", "mean_b"))
    return (
        f"| {_escape_table_bars(escape_markdown_line(name))} | {' | '.join(means)} | "
        f"{format_b_minus_a_with_interval(row)} | {_describe_change_for_second(row)} |"
    )


def _describe_change_for_second(row: Mapping[Any, Any]) -> str:
    """Write what a row means for the second system."""
    if row["test"] == "none":
        return "too few questions"
    if row["meaning"] == OTHER_PEOPLE:
        return OTHER_PEOPLE
    if not row["p_holm"] < row["level"]:
        return "may be chance"
    return "worse" if row["difference"] > 0 else "better"


def _render_changed_answer(answer: ChangedAnswer) -> str:
    before, after = answer.scores
    head = (
        f"- **{escape_markdown_line(answer.question)}** {_format_inline_code(answer.text)}: M\\_all {before:.0f} "
        f"\u2192 {after:.0f}"
    )
    return "<br>".join(
        (head, *(f"{side} {_format_inline_code(text)}" for side, text in zip("AB", answer.replies, strict=True)))
    )


def render_markdown_link_to_report(report_path: Path, linking_page: Path) -> str:
    """Return the link from a page to a report or a folder of files, by its path."""
    path = os.path.relpath(report_path, linking_page.parent).replace(os.sep, "/")
    target = re.sub(r"([<>\\])", r"\\\1", path)
    return f"More: [{escape_markdown_line(path)}](<{target}>)"


def render_markdown_of_report_command(runs: Sequence[str]) -> str:
    """Return the command that makes the report on these runs."""
    return f"More: {_format_inline_code(format_shell_command('genaipa', 'report', *runs))}"


_ACTIVE = re.compile(r"[\\`*_{}\[\]<>()#+!|~&@:$]|(?<=www)\.")
_STOP = "\u2060"
"""A sign without width, between what would call somebody, or an issue, and the name."""


def escape_markdown_line(text: str) -> str:
    """Return a line in which nothing is markup, a link, a mention or an issue's number."""
    return _ACTIVE.sub(lambda sign: f"\\{sign[0]}{_STOP if sign[0] in '@#' else ''}", clean_name_on_one_line(text))


def _format_inline_code(text: str) -> str:
    """Return a text as code, clipped, in one line: between more backticks than are in it."""
    line = clip(clean_name_on_one_line(text), _CLIP) if text.strip() else "(empty)"
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if line.startswith("`") or line.endswith("`") else f"{fence}{line}{fence}"


def _escape_table_bars(markdown: str) -> str:
    """Return Markdown within a table, whose bars end a cell even in code."""
    return re.sub(r"(?<!\\)\|", r"\\|", markdown)
