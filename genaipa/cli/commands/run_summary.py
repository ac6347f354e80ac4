"""A run before it is asked: messages (`--dry-run`) or cost (`--estimate`); and after it: its counts, the next step."""

from __future__ import annotations

import asyncio
import math
from math import isfinite
from typing import TYPE_CHECKING, Any

from genaipa.cli.terminal.console import (
    print_caveat_unless_quiet,
    print_json,
    print_table,
    print_to_stderr,
    rewrite_options_as_flags,
    show,
)
from genaipa.cli.terminal.fitting import mark_unbreakable
from genaipa.cli.terminal.progress import (
    format_command_with_run_name,
    format_dollars,
    format_duration_as_m_ss_or_h_mm_ss,
    format_tokens,
)
from genaipa.errors import NOT_RECORDED, GenaipaError
from genaipa.kinds import DEFAULT, RunClosing, find_kind_or_placeholder
from genaipa.runs.status import AnswerCounts
from genaipa.systems.base import ASSUMED_THOUGHTS, Sampling
from genaipa.systems.endpoint import read_environment_variable
from genaipa.systems.provider import (
    find_provider,
    shorten_system_names,
    split_system_name_and_effort,
    strip_wrapper_from_system_name,
)
from genaipa.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from genaipa.execution.prepare import PreparedRun
    from genaipa.execution.ready import CostEstimate, ReadySystem
    from genaipa.execution.run import RunOutcome
    from genaipa.runs.folder import RunFolder
    from genaipa.runs.status import AnswerTally
    from genaipa.tasks.base import Task
    from genaipa.workspace import Workspace


_CENT = 0.01


def print_messages_or_estimate(*runs: PreparedRun, show_messages: bool, json: bool, in_batches: bool = False) -> None:
    """Print the messages, or else the estimate. Nothing is asked and no key is needed."""
    from genaipa.execution.batches.batched import refuse_new_batches_showing_documents
    from genaipa.execution.run import make_systems_ready

    for run in runs if in_batches else ():
        refuse_new_batches_showing_documents(run)
    pairs = [(run, ready) for run in runs for ready in asyncio.run(make_systems_ready(run, print_to_stderr))]
    if example := next((run for run in runs if run.study_size_factor != 1), None):
        documents = format_count(len(example.task.facts), "document")
        print_to_stderr(
            f"{'shown' if show_messages else 'estimated'} for one slice, with {documents} of {example.documents_label}"
        )
    if show_messages:
        _print_conversations_to_send(pairs, json=json)
    else:
        _print_cost_estimate(pairs, json=json, in_batches=in_batches)


def _print_conversations_to_send(runs_and_systems: list[tuple[PreparedRun, ReadySystem]], *, json: bool) -> None:
    from genaipa.execution.calls import preview_conversations

    outputs = []
    for run, ready in runs_and_systems:
        prompt = Sampling(system_prompt=run.spec.system_prompt)
        head = [{"role": "system", "purpose": "system-prompt", "content": prompt.system_prompt or ""}]
        head = [] if prompt == Sampling() or ready.resolved.list_refused_options(prompt) else head
        # A document that can be cited is sent as a block of its own, beside the other words.
        purposes = {"part": "citable part"} if run.spec.citations else {}
        for title, messages in preview_conversations(run.task, ready.target):
            listed: list[dict[str, str]] = [
                *head,
                *(
                    {"role": m.role, "purpose": purposes.get(m.purpose, m.purpose), "content": m.content}
                    for m in messages
                ),
            ]
            if json:
                outputs.append({"conversation": title, "messages": listed})
                continue
            show(f"===== {title}")
            for message in listed:
                show("\n--- {role} ({purpose})\n{content}".format_map(message), no_wrap=True)
            show()
    if json:
        print_json(outputs)


def _print_cost_estimate(
    runs_and_systems: list[tuple[PreparedRun, ReadySystem]], *, json: bool, in_batches: bool
) -> None:
    from genaipa.execution.ready import REPLY_TOKENS, estimate_costs_of_whole_run

    rows = [row for run, ready in runs_and_systems for row in estimate_costs_of_whole_run(run, ready)]
    labels = {ready.resolved.requested_name: _describe_token_counter_and_prices(ready) for _, ready in runs_and_systems}
    halved = (
        {r.resolved.requested_name for _, r in runs_and_systems if r.resolved.takes_batches}
        if in_batches
        else set[str]()
    )
    power = _estimate_detectable_differences(runs_and_systems[0][0].task, runs_and_systems[0][0].study_size_factor)
    if json:
        print_json({"rows": [_cost_estimate_to_dict(row, halved) for row in rows], "systems": labels, "power": power})
        return
    procedure = runs_and_systems[0][0].spec.kind == DEFAULT
    print_table(
        (
            "system",
            "initialization" if procedure else "task",
            "calls",
            "tokens in",
            "repeated",
            "out",
            "cost at most",
            "with cache",
        ),
        [
            (
                row.system,
                row.initialization,
                row.calls,
                format_tokens(row.usage.input),
                format_tokens(row.usage.cached),
                format_tokens(row.usage.output),
                _format_cost(row.cost),
                _format_cost(row.cached_cost),
            )
            for row in rows
        ],
        right_aligned_columns=range(2, 8),
    )
    for label in labels.values():
        show(label)
    reply_tokens = (
        REPLY_TOKENS
        if procedure
        else round(sum(row.usage.output for row in rows) / max(1, sum(row.calls for row in rows)))
    )
    levels = dict.fromkeys(ready.resolved.effort for _, ready in runs_and_systems)
    thoughts = [f"{count:,} at {level}" for level in levels if (count := ASSUMED_THOUGHTS.get(level))]
    reasoning = f"and {join_names(thoughts)} effort for reasoning" if thoughts else "without reasoning"
    show(f"Assumes {reply_tokens} output tokens per reply, {reasoning}; 'repeated' is input that a cache may serve.")
    calls = f"Total: {format_count(sum(row.calls for row in rows), 'call')}"
    priced = [(row.cost, row.cached_cost) for row in rows if row.cost is not None and row.cached_cost is not None]
    if len(priced) < len(rows):
        show(f"{calls}; the cost of some systems is unknown.")
    else:
        cost, cached_cost = (sum(side) for side in zip(*priced, strict=True)) if priced else (0.0, 0.0)
        show(f"{calls}, {_format_cost(cached_cost)} to {_format_cost(cost)}.")
    if in_batches:
        show(_describe_batch_cost_comparison(rows, halved))
    if power:
        from genaipa.stats.intervals import LEAST_DOCUMENTS

        show(f"{power['said']}, if two systems vary as in the published study.")
        if power["documents"] < LEAST_DOCUMENTS:
            show(f"Fewer than {LEAST_DOCUMENTS} documents are too few to say anything about policies like these.")


def _estimate_detectable_differences(task: Task, document_factor: float) -> dict[str, Any]:
    """Estimate the smallest differences of two systems that a run on these policies finds; empty where unknown.

    Each question counts about the documents that it is asked about; the run has `document_factor` the documents of the
    task, which take turns.
    """
    from genaipa.errors import MissingPackageError
    from genaipa.reports import check_report_packages
    from genaipa.tasks.procedure import Procedure

    if not isinstance(task, Procedure):
        return {}
    policies = {name for name, document in task.documents.items() if document.kind == "policy"}
    try:
        check_report_packages()
    except MissingPackageError:
        return {}
    import numpy as np

    from genaipa.reports.significance import PUBLISHED, begin_detectable_difference_sentence
    from genaipa.scoring.rubric import M_ALL_WIDTH
    from genaipa.stats.power import find_detectable_differences_of_cells

    questions_by_policy = [
        {
            question
            for name, order in task.question_orders.items()
            if name.partition("|")[0] == policy
            for question in order
        }
        for policy in sorted(policies)
    ]
    labels = {question: label for label, question in enumerate(sorted(set().union(*questions_by_policy)))}
    questions, documents = len(labels), round(len(policies) * document_factor)
    cells = sorted(
        (labels[question], document)
        for document in range(documents)
        for question in questions_by_policy[document % len(questions_by_policy)]
    )
    question_labels, document_labels = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    detectable = find_detectable_differences_of_cells(
        question_labels, document_labels, PUBLISHED, largest_difference=M_ALL_WIDTH
    )
    sizes = {target: round(size, 1) if isfinite(size) else None for target, size in detectable._asdict().items()}
    text = begin_detectable_difference_sentence(detectable, questions, documents)
    return {"questions": questions, "documents": documents, **sizes, "said": text} if text else {}


def _describe_token_counter_and_prices(ready: ReadySystem) -> str:
    counted = "; ".join(sorted({counter.label for counter in ready.target.counters.values()}))
    price = ready.tariff.label if ready.tariff else "no price known (add one to systems.yaml)"
    return f"{ready.resolved.requested_name}: tokens counted by {counted}; prices: {price}."


def _describe_batch_cost_comparison(estimates: list[CostEstimate], half_price_systems: set[str]) -> str:
    """Compare both prices of batches: where prompts have much in common, a warm cache may be cheaper."""
    priced = [row for row in estimates if row.system in half_price_systems and row.batch_cost is not None]
    if not priced:
        return "In batches: no system accepts batches, or no price is known."
    batched = sum(row.batch_cost or 0.0 for row in priced)
    warm = sum(row.cached_cost or 0.0 for row in priced)
    cheaper = "single calls" if warm < batched else "batches"
    return (
        f"In batches, at half price and without a cache: {_format_cost(batched)}; by single calls with a warm "
        f"cache: {_format_cost(warm)}. {cheaper.capitalize()} are cheaper."
    )


def _cost_estimate_to_dict(estimate: CostEstimate, half_price_systems: set[str]) -> dict[str, object]:
    extra = {"batch_cost": estimate.batch_cost} if estimate.system in half_price_systems else {}
    return extra | {
        "system": estimate.system,
        "initialization": estimate.initialization,
        "calls": estimate.calls,
        "usage": estimate.usage,
        "cost": estimate.cost,
        "cached_cost": estimate.cached_cost,
    }


def _format_cost(dollars: float | None) -> str:
    return "?" if dollars is None else f"${dollars:.2f}" if dollars >= _CENT or dollars == 0 else f"${dollars:.4f}"


_MINUTE = 60.0


def print_run_already_complete(run: PreparedRun, *, json: bool) -> int:
    """Say that there is nothing left to ask; return the exit code."""
    assert run.folder is not None, "only an existing run is complete"
    _, tally = run.folder.read_manifest_and_tally()
    if json:
        print_json(
            {
                **summarize_run(run.folder, "complete", tally),
                **_read_closing_lines_and_facts(run.workspace, run.folder).facts,
            }
        )
    else:
        print_tally(tally)
        _print_mean_scores_or_closing_lines(run.workspace, run.folder, tally)
        look = format_command_with_run_name(run.folder, "show")
        show(f"{run.folder.name} is complete; nothing was asked. To look at it: {look}")
    return 0


def print_run_outcome(run: PreparedRun, outcome: RunOutcome, *, json: bool, resume_options: Sequence[str] = ()) -> None:
    """Print the outcome of a run, its folder and the next command, which needs the `resume_options` of the first."""
    folder = run.open_or_create_folder()
    if json:
        facts = {
            **summarize_run(folder, outcome.status, outcome.tally),
            **_read_closing_lines_and_facts(run.workspace, folder).facts,
        }
        print_json({**facts, "stopped": outcome.stopped, "elapsed": outcome.elapsed})
        return
    print_tally(outcome.tally)
    _print_mean_scores_or_closing_lines(run.workspace, folder, outcome.tally)
    if outcome.elapsed is not None:
        took = (
            f"{outcome.elapsed:.1f} s"
            if outcome.elapsed < _MINUTE
            else format_duration_as_m_ss_or_h_mm_ss(outcome.elapsed)
        )
        # Earlier sittings' calls are in the time of all calls, too.
        is_longer = outcome.tally.totals().seconds > outcome.elapsed
        sides = "; call time sums all calls, including earlier and concurrent ones" if is_longer else ""
        print_caveat_unless_quiet(f"Took {took}{sides}.")
    show(f"Run folder: {mark_unbreakable(folder.path)}")
    for system, reason in outcome.stopped.items():
        show(f"genaipa stopped asking {system}: {rewrite_options_as_flags(reason)}")
    for sentence in [
        *_iterate_unexpected_model_sentences(folder),
        *iterate_cut_prompt_and_reasoning_notes(outcome.tally),
    ]:
        show(sentence)
    if outcome.capped:
        show(f"Stopped by --max-cost: {outcome.capped}.")
    print_caveat_unless_quiet(describe_run_next_step(folder, outcome, resume_options))


def _print_mean_scores_or_closing_lines(workspace: Workspace, folder: RunFolder, tally: AnswerTally) -> None:
    """Print the mean score of each system, or the lines of its kind of task."""
    if lines := _read_closing_lines_and_facts(workspace, folder).lines:
        for line in lines:
            show(line)
        return
    for system, scores in tally.scores.items():
        mean = sum(scores.values()) / len(scores)
        show(f"{system}: scored {mean:.3f} on average over {format_count(len(scores), 'answer')}.")


def _read_closing_lines_and_facts(workspace: Workspace, folder: RunFolder) -> RunClosing:
    """Return the lines and facts of the run's kind of task; none if its data can't be read."""
    kind = find_kind_or_placeholder(folder.manifest().spec.kind)
    try:
        return kind.closing_lines_and_facts(workspace, folder)
    except GenaipaError:
        return RunClosing()


def _iterate_unexpected_model_sentences(folder: RunFolder) -> Iterator[str]:
    """Yield a sentence on each system that was served by another model than it was asked for, or by several."""
    for name, facts in folder.manifest().systems.items():
        if len(facts.served) > 1:
            yield (
                f"{shorten_system_names([name])[name]} was served by {join_names(facts.served)} in this run: "
                "its name now stands for another model, so its answers come from several models."
            )
            continue
        record, model = (
            find_provider(strip_wrapper_from_system_name(facts.model)),
            split_system_name_and_effort(facts.model)[0].rpartition("/")[2],
        )
        other_models = [served for served in facts.served if model not in served.rpartition("/")[2]]
        if record is not None and record.has_key_or_address_variable and other_models:
            short_name = shorten_system_names([name])[name]
            yield f"{short_name} was served by {', '.join(other_models)}, which is not the model asked for."


def iterate_cut_prompt_and_reasoning_notes(tally: AnswerTally) -> Iterator[str]:
    """Yield sentences on what a setting of a system's server would mend: cut prompts, and thoughts in replies."""
    counts: dict[str, AnswerCounts] = {}
    for (system, _), row in tally.rows.items():
        counts.setdefault(system, AnswerCounts()).add_counts(row)
    names = shorten_system_names(counts)
    for system, count in counts.items():
        if count.prompt_cut:
            yield (
                f"The server of {names[system]} cut {format_count(count.prompt_cut, 'prompt')}, by its own "
                "token counts."
            )
    if thought := [system for system, count in counts.items() if count.thoughts_in_text]:
        replies = format_count(sum(counts[system].thoughts_in_text for system in thought), "reply", "replies")
        records = [record for system in thought if (record := find_provider(strip_wrapper_from_system_name(system)))]
        started = any(record.program and not read_environment_variable(record.address) for record in records)
        flag = "--reasoning-parser NAME"
        where = f'GENAIPA_VLLM_ARGS="{flag}"' if started else f"a setting of the server, such as vLLM's {flag},"
        yield (
            f"{replies} of {join_names([names[system] for system in thought])} began with reasoning, which "
            f"genaipa separated; {where} makes the server do it (NAME depends on the model, such as qwen3)."
        )


def describe_run_next_step(folder: RunFolder, outcome: RunOutcome, resume_options: Sequence[str] = ()) -> str:
    """Return the sentence that a run ends with."""
    from genaipa.runs.batches import count_pending_batches_in_words, find_pending_batches

    missing = sum(row.missing_count for row in outcome.tally.rows.values())
    if outcome.status == "complete":
        report = (
            f"\nAll figures: {format_command_with_run_name(folder, 'report')}"
            if find_kind_or_placeholder(folder.manifest().spec.kind).has_results_class
            else ""
        )
        return f"Complete. Read the answers: {format_command_with_run_name(folder, 'show')}{report}"
    lack = f"{format_count(missing, 'answer')} {'is' if missing == 1 else 'are'} missing."
    out = list(find_pending_batches(folder.path))
    go_on = format_command_with_run_name(folder, "run", *resume_options, "--resume")
    if out:
        return f"{lack} {count_pending_batches_in_words(out)}; collect with: {go_on}"
    if outcome.status == "waiting":
        models = {name: facts.model for name, facts in folder.manifest().systems.items()}
        providers = [find_provider(models.get(name, name)) for name in outcome.tally.incomplete_systems()]
        are_written = [provider is not None and provider.by_hand == "written" for provider in providers]
        sheets = mark_unbreakable(folder.path / "sheets")
        collect = f"{format_command_with_run_name(folder, 'collect')}{' --author NAME' if any(are_written) else ''}"
        if all(are_written):
            desk = (
                f"People write them at the desk, on the page By hand: {format_command_with_run_name(folder, 'score')}"
            )
            return f"{lack} {desk}\nWithout the desk, fill in the replies in {sheets}, then: {collect}"
        return f"{lack} Paste the messages in {sheets}, fill in the replies, then: {collect}"
    steps = sum(row.failed_steps for row in outcome.tally.rows.values())
    if steps:
        lack += (
            f" {format_count(steps, 'summary or acknowledgement', 'summaries or acknowledgements')} before them failed."
        )
    return f"{lack} {_describe_how_to_get_missing(folder, outcome, go_on)}"


def _describe_how_to_get_missing(folder: RunFolder, outcome: RunOutcome, resume_command: str) -> str:
    """Say how to get the missing answers; `resume_command` is the command that asks for them."""
    if outcome.status == "capped":
        enough = _suggest_higher_dollar_cap(outcome)
        return f"Continue with a higher cap (${enough:g} is a guess): {resume_command} --max-cost {enough:g}"
    if outcome.status == "partial" and not outcome.stopped and _are_all_failures_missing_recordings(folder):
        why = "Asking again can't help: the recording lacks these answers, or the turns before them."
        return f"{why} Why: {format_command_with_run_name(folder, 'show')}"
    return f"Ask again: {resume_command}"


def _are_all_failures_missing_recordings(folder: RunFolder) -> bool:
    """Tell whether every failure is that a recording lacks the answer."""
    tally, offsets = folder.tally_records_and_map_offsets()
    failed = folder.read_records_at([offsets[key] for key, status in tally.statuses.items() if status == "failed"])
    return bool(failed) and all(record.error and record.error.kind == NOT_RECORDED for record in failed)


def _suggest_higher_dollar_cap(outcome: RunOutcome) -> float:
    """Return the dollars, to two figures, that the whole run may cost: at the price of its answers so far, and more."""
    totals = outcome.tally.totals()
    answered = totals.answered + totals.refused + totals.truncated
    # The later questions of a growing conversation cost more, and money is set aside for the calls under way.
    expected = max(1.5 * (totals.cost or 0.0) * totals.planned / max(1, answered), 2 * outcome.needed)
    size = 10.0 ** (math.floor(math.log10(expected)) - 1)
    return math.ceil(expected / size) * size


_COUNTS: tuple[tuple[str, Callable[[AnswerCounts], str]], ...] = (
    # Of a run that was taken in from elsewhere nothing was planned.
    ("answered", lambda row: f"{row.status['answered']}/{row.planned or row.answer_count}"),
    ("refused", lambda row: str(row.status["refused"] or "")),
    ("cut off", lambda row: str(row.status["truncated"] or "")),
    ("prompt cut", lambda row: str(row.prompt_cut or "")),
    ("failed", lambda row: str(row.status["failed"] or "")),
    ("not asked", lambda row: str(max(0, row.missing_count - row.status["failed"]) or "")),
    ("cost", lambda row: format_dollars(row.cost) if row.cost else ""),
    ("tokens in", lambda row: format_tokens(row.usage.input) if row.usage.input else ""),
    ("cached", lambda row: f"{100 * row.usage.cached / row.usage.input:.0f} %" if row.usage.input else ""),
    ("out", lambda row: format_tokens(row.usage.output) if row.usage.output else ""),
    ("call time", lambda row: f"{row.seconds:,.1f} s" if row.seconds else ""),
)
"""Header → how a count is shown in that column of the closing table."""


def print_tally(tally: AnswerTally) -> None:
    """Print a row for each system and initialization, and one for all; columns of zeros are left out."""
    initializations = {initialization for _, initialization in tally.rows}
    names = shorten_system_names(system for system, _ in tally.rows)
    rows: list[tuple[str, AnswerCounts]] = []
    for system, name in names.items():
        below = [(f"  {way}", row) for (row_system, way), row in tally.rows.items() if row_system == system]
        rows += [(name, _sum_counts(row for _, row in below)), *(below if len(below) > 1 else [])]
    if len(names) > 1:
        rows.append(("all", _sum_counts(tally.rows.values())))
    columns = [(header, [cell(row) for _, row in rows]) for header, cell in _COUNTS]
    visible = [(header, cells) for header, cells in columns if any(cells)]
    first = f"system ({initializations.pop()})" if len(initializations) == 1 else "system"
    cells = zip((name for name, _ in rows), *(cells for _, cells in visible), strict=True)
    print_table((first, *(header for header, _ in visible)), cells, right_aligned_columns=range(1, 1 + len(visible)))


def _sum_counts(counts: Iterable[AnswerCounts]) -> AnswerCounts:
    total = AnswerCounts()
    for count in counts:
        total.add_counts(count)
    return total


def tally_rows(tally: AnswerTally) -> list[dict[str, object]]:
    """Return the counts of each system and initialization for machines."""
    return [
        {
            "system": system,
            "initialization": initialization,
            "planned": row.planned,
            **{str(status): count for status, count in row.status.items()},
            "missing": row.missing_count,
            "failed_steps": row.failed_steps,
            "prompt_cut": row.prompt_cut,
            "thoughts_in_text": row.thoughts_in_text,
            "usage": row.usage,
            "cost": row.cost if row.priced else None,
            "call_seconds": round(row.seconds, 3),
        }
        for (system, initialization), row in tally.rows.items()
    ]


def summarize_run(folder: RunFolder, status: str, tally: AnswerTally) -> dict[str, object]:
    """Summarize the outcome of a run for machines."""
    facts = {"run": folder.name, "folder": str(folder.path), "status": status, "rows": tally_rows(tally)}
    scores = {system: round(sum(values.values()) / len(values), 6) for system, values in tally.scores.items()}
    return facts | ({"scores": scores} if scores else {})
