"""`genaipa show`: a run, and any answer of it as it was asked."""

from __future__ import annotations

import shlex
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from genaipa.cli.terminal import completion, console
from genaipa.cli.terminal.console import print_to_stderr, rewrite_options_as_flags
from genaipa.cli.terminal.options import JsonOption, current_workspace, option
from genaipa.cli.terminal.selection import add_filter_options, print_study_slice_problems
from genaipa.errors import GenaipaError, UnknownNameError, UsageError, format_shell_command
from genaipa.kinds import task_option_and_name
from genaipa.runs.filters import EVERYTHING, Filters
from genaipa.words import join_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from genaipa.runs.folder import RunFolder
    from genaipa.runs.records import Manifest, Record
    from genaipa.runs.selection import SelectedRun
    from genaipa.runs.status import AnswerTally
    from genaipa.scoring.events import Event
    from genaipa.scoring.rubric import Rubric
    from genaipa.workspace import Workspace

_FOLLOW_UP_MESSAGES = 4
"""Messages that are shown of a follow-up: the first question, its answer, and the same of the follow-up."""
_PREVIEW = 72
_LEAST_PREVIEW = 30
_BESIDE = 16
"""Columns that the id of a question takes beside its answer in a narrow terminal."""
_FEW = 12
_LISTED = 50
"""Most answers listed for a part of a key."""
_MOST = 100_000
"""Answers of a run from which on they are counted, and not listed."""


@add_filter_options
def show(
    run: Annotated[
        str,
        typer.Argument(
            autocompletion=completion.runs_and_systems,
            help="Name of a run, part of a name, latest, or a system.",
        ),
    ],
    answer: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completion.answers,
            help="The answer: a question id, a key, or part of a key (see the list).",
        ),
    ] = None,
    only: Filters = EVERYTHING,
    whole: Annotated[
        bool, option("--whole", help="Show the whole conversation before the answer, as it was sent.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show a run, or one answer with scores.

    With ANSWER, the output has the question, the reply, its scores and the annotated answer; with --whole, also the
    conversation before it.
    """
    workspace = current_workspace()
    name, chosen = _resolve_name_and_select_runs(workspace, run, only)
    print_study_slice_problems(workspace, [choice.folder for choice in chosen])
    if answer is None:
        _show_run_or_study(name, chosen, json=json)
        return
    places: dict[str, RunFolder] = {}
    offsets: dict[str, dict[str, int]] = {}
    for choice in chosen:
        offsets[choice.folder.name], chosen_keys = choice.latest_record_offsets_and_chosen_keys()
        places |= dict.fromkeys(chosen_keys, choice.folder)

    def read_latest_records(keys: Sequence[str]) -> list[Record]:
        by_folder = groupby(keys, lambda key: places[key].path)
        runs = ((places[run_keys[0]], run_keys) for run_keys in (list(run_keys) for _, run_keys in by_folder))
        return [
            record
            for run, run_keys in runs
            for record in run.read_records_at([offsets[run.name][key] for key in run_keys])
        ]

    keys = _match_answer_keys_or_raise(list(places), answer)
    if len(keys) > _FEW and not json:
        _print_first_matching_answers(places[keys[0]], keys, read_latest_records(keys[:_LISTED]), answer)
        return
    matching = read_latest_records(keys)
    judged = _AnnotationsAndScores(workspace, matching)
    if json:
        console.print_json(
            [
                {
                    "record": r,
                    "messages": _read_conversation_through_reply(places[r.key], r, offsets[places[r.key].name]),
                }
                | judged.annotation_and_scores_to_dict(places[r.key], r)
                for r in matching
            ]
        )
        return
    right = ""
    for record in matching:
        folder = places[record.key]
        # A follow-up says little without the answer before it.
        messages = (
            _read_conversation_through_reply(folder, record, offsets[folder.name]) if whole or record.after else []
        )
        _print_answer(record, messages if whole else messages[-_FOLLOW_UP_MESSAGES:])
        for sentence in (*judged.list_same_text_document_notes(folder, record), *judged.list_score_sentences(record)):
            console.show(sentence)
        # Said once for all answers to a question that follow one another.
        if (annotated := judged.format_annotated_answer(folder, record)) and annotated != right:
            console.show(f"--- annotated answer to {record.question}\n{annotated}\n")
        right = annotated


class _SelectedRun(NamedTuple):
    """A run to show, or a slice of a study, and which of its answers; None for all."""

    folder: RunFolder
    meant: SelectedRun | None

    def latest_records(self) -> list[Record]:
        """Return the latest record of each key."""
        meant = (
            record for record in self.folder.read_records() if not self.meant or self.meant.includes_record(record)
        )
        return list({record.key: record for record in meant}.values())

    def latest_record_offsets_and_chosen_keys(self) -> tuple[dict[str, int], Iterable[str]]:
        """Return the place of each key's latest record, and the keys that are meant."""
        _, offsets = self.folder.tally_records_and_map_offsets()
        if self.meant is None:
            return offsets, offsets
        from genaipa.runs.records import RecordHead

        heads = self.folder.read_verified_answers_with_offsets(RecordHead)
        return offsets, dict.fromkeys(head.key for _, head in heads if self.meant.includes_record(head))


def _resolve_name_and_select_runs(
    workspace: Workspace, run_or_system_name: str, only: Filters
) -> tuple[str, list[_SelectedRun]]:
    """Return the name and the run to show, or the slices of a study; a UsageError for a system of several runs."""
    from genaipa.runs.selection import SelectedRun, apply_filters_to_runs, resolve_system_or_run_name

    full, parts = resolve_system_or_run_name(workspace, run_or_system_name)
    slices = [part.folder.read_manifest_head().slice for part in parts]
    if len(parts) > 1 and len({part and part.study for part in slices}) + slices.count(None) > 1:
        runs = join_names([part.folder.name for part in parts])
        raise UsageError(
            f"{full} was asked in {runs}; name the run: "
            f"{format_shell_command('genaipa', 'show', f'RUN:{run_or_system_name}')}"
        )
    if not only and parts[0].systems == parts[0].folder.read_manifest_head().spec.systems:
        return full, [_SelectedRun(part.folder, None) for part in parts]
    sources = apply_filters_to_runs(
        [SelectedRun(part.folder, part.folder.manifest(), part.systems) for part in parts], only
    )
    return full, [_SelectedRun(source.folder, source) for source in sources]


def _show_run_or_study(run_or_study_name: str, selected_runs: Sequence[_SelectedRun], *, json: bool) -> None:
    """Show the facts of a run or a study, and its answers unless they are too many."""
    from genaipa.cli.terminal.progress import format_command_with_run_name

    folder, several = selected_runs[0].folder, len(selected_runs) > 1
    every = sum(choice.folder.read_manifest_head().totals.answer_count for choice in selected_runs)
    if every >= _MOST and not json and not selected_runs[0].meant:
        if several:
            _print_study_facts(run_or_study_name, selected_runs)
        else:
            _print_run_facts(folder.name, *folder.read_manifest_and_tally())
        again = (
            format_shell_command("genaipa", "show", run_or_study_name)
            if several
            else format_command_with_run_name(folder, "show")
        )
        console.show(f"There are too many answers to list; select some by part of their keys: {again} KEY")
        return
    records = [record for choice in selected_runs for record in choice.latest_records()]
    if json and several:
        manifests = [choice.folder.read_manifest_and_tally()[0] for choice in selected_runs]
        console.print_json({"study": run_or_study_name, "manifests": manifests, "answers": records})
    elif json:
        console.print_json({"manifest": folder.read_manifest_and_tally()[0], "answers": records})
    elif several:
        _print_study_facts(run_or_study_name, selected_runs)
        _print_answers(records)
    else:
        _print_run_facts_and_answers(folder, records)


def _match_answer_keys_or_raise(keys: list[str], argument: str) -> list[str]:
    """Return the keys that a user may mean: the key, the question's keys, or those with these parts or this text."""
    if argument in keys:
        return [argument]
    # The last part of a suite's key is the repetition.
    questions = [next(part for part in reversed(key.split("|")) if not part.isdecimal()) for key in keys]
    exact = [key for key, question in zip(keys, questions, strict=True) if question == argument]
    wanted = set(argument.split("|"))
    matches = exact or [key for key in keys if wanted <= set(key.split("|"))]
    matches = matches or [key for key in keys if argument in key]
    if not matches:
        raise UnknownNameError("answer", argument, questions)
    return matches


def _print_first_matching_answers(
    folder: RunFolder, keys: list[str], listed_records: list[Record], searched_key: str
) -> None:
    """Print the question, if all answer the same one, the first answers, and how to see others."""
    if len({record.question for record in listed_records}) == 1 and (
        text := _find_question_text_or_empty(folder, listed_records[0].question)
    ):
        console.show(f"question {listed_records[0].question}: {text}")
    _print_answers(listed_records)
    first = f"; the first {len(listed_records)} are listed" if len(listed_records) < len(keys) else ""
    console.show(
        f"{len(keys):,} answers match '{searched_key}'{first}; to select fewer, give more of a key: "
        f"{listed_records[0].key}"
    )


def _find_question_text_or_empty(folder: RunFolder, question_id: str) -> str:
    """Find a question's text in the run's copy of its set; empty where none has it, or the copy can't be read."""
    from genaipa.files.strict_yaml import read_yaml
    from genaipa.questions.sets import QuestionSet
    from genaipa.runs.procedure import get_plan_if_procedure_run

    plan = get_plan_if_procedure_run(folder.manifest().spec)
    for name in dict.fromkeys(plan.questions.values() if plan else ()):
        try:
            questions = read_yaml(folder.path / "questions" / f"{name}.yaml", QuestionSet).questions
        except GenaipaError:
            continue
        if text := next((item.text for item in questions if item.id == question_id), ""):
            return text
    return ""


def _print_run_facts_and_answers(folder: RunFolder, records: list[Record]) -> None:
    from genaipa.cli.terminal.progress import format_command_with_run_name

    manifest, tally = folder.read_manifest_and_tally()
    if lack := folder.describe_lost_answers_or_empty(manifest, tally.totals().answer_count):
        console.print_to_stderr(lack)
    _print_run_facts(folder.name, manifest, tally)
    _print_answers(records)
    if records:
        console.show(
            f"To show one answer in full: {format_command_with_run_name(folder, 'show')} "
            f"{shlex.quote(records[-1].question)}"
        )
    if manifest.status == "waiting":
        from genaipa.cli.commands.run_summary import describe_run_next_step
        from genaipa.execution.run import RunOutcome

        console.show(describe_run_next_step(folder, RunOutcome(manifest.status, tally)))


def _print_study_facts(study_name: str, selected_runs: Sequence[_SelectedRun]) -> None:
    from genaipa.runs.slices import SlicedStudy, read_study_status_and_tally

    slices = {
        part.index: choice.folder for choice in selected_runs if (part := choice.folder.read_manifest_head().slice)
    }
    manifest = selected_runs[0].folder.manifest()
    assert manifest.slice is not None, "they are slices"
    study = SlicedStudy(manifest.slice.study, manifest.slice.number, slices)
    manifest.status, tally = read_study_status_and_tally(study)
    manifest.created = min(choice.folder.read_manifest_head().created for choice in selected_runs)
    _print_run_facts(f"{study_name}, {len(slices):,} of {study.number:,} slices", manifest, tally)


def _print_run_facts(run_title: str, manifest: Manifest, tally: AnswerTally) -> None:
    from genaipa.cli.commands.run_summary import print_tally
    from genaipa.runs.procedure import get_plan_if_procedure_run
    from genaipa.tasks.prompts import map_prompt_sets_to_labels

    spec = manifest.spec
    begun = f"started {manifest.created}" if manifest.created else "imported"
    console.show(f"{run_title}: {manifest.status}, {begun}, genaipa {manifest.versions['genaipa']}")
    for system, facts in manifest.systems.items():
        served = f", served as {', '.join(facts.served)}" if facts.served else ""
        counted = f"; tokens by {facts.counter}" if facts.counter else ""
        console.show(f"system {system}: {facts.model}{served}{counted}")
    if manifest.corpus is not None:
        console.show(f"{manifest.corpus.sentence_on_corpus_and_sample_size} sha256 {manifest.corpus.digest[:12]}")
    for text, document in manifest.documents.items() if manifest.corpus is None else ():
        console.show(f"document {text}: {document.title or document.company}, sha256 {document.digest[:12]}")
    recorded = [system for system, facts in manifest.systems.items() if facts.words == "recording"]
    if recorded:
        console.show(f"answers recorded in the system's own study, with that study's prompts: {', '.join(recorded)}")
    if spec.plan.label:
        console.show(f"{task_option_and_name(spec)}, {spec.plan.label}, seed {spec.seed}")
    elif (plan := get_plan_if_procedure_run(spec)) and (not recorded or len(recorded) < len(manifest.systems)):
        console.show(f"{plan.conversation} conversations, {', '.join(plan.wordings)}, seed {spec.seed}")
        if plan.prompts:
            console.show(f"prompts: {', '.join(map_prompt_sets_to_labels(manifest).values())}")
    print_tally(tally)


def _print_answers(records: list[Record]) -> None:
    from genaipa.systems.provider import shorten_system_names

    if all("item" in record.coordinates for record in records):
        _print_suite_answers(records)
        return
    names = shorten_system_names(record.system for record in records)
    console.print_table(
        ("system", "document", "initialization", "wording", "rep.", "question", "status", "reply"),
        [
            (
                names[r.system],
                r.document,
                r.coordinates.get("initialization", ""),
                ", ".join(r.coordinates[name] for name in ("wording", "prompts") if name in r.coordinates),
                r.repetition,
                r.question,
                r.status,
                _shorten_reply(r.reply if r.reply is not None else r.error.message if r.error else ""),
            )
            for r in records
        ],
    )


def _print_suite_answers(records: list[Record]) -> None:
    """Print the replies about the items of a suite, with the score of each."""
    console.print_table(
        ("system", "item", "rep.", "status", "score", "reply"),
        [
            (
                r.system,
                # In a run of several suites an item is told by its suite, too.
                "/".join(filter(None, (r.coordinates.get("suite"), r.coordinates["item"]))),
                r.repetition,
                r.status,
                "" if r.score is None else f"{100 * r.score:.1f}",
                _shorten_reply(r.reply if r.reply is not None else r.error.message if r.error else ""),
            )
            for r in records
        ],
        right_aligned_columns=(4,),
    )


def _shorten_reply(text: str) -> str:
    flat, room = (
        " ".join(text.split()),
        max(_LEAST_PREVIEW, min(_PREVIEW, (console.stdout_width() or 2 * _PREVIEW) - _BESIDE)),
    )
    return flat if len(flat) <= room else flat[: room - 1] + "…"


def _print_answer(record: Record, conversation: list[dict[str, str]]) -> None:
    """Print the question and its reply, or the whole conversation, with the question marked, and the thoughts."""
    console.show(f"===== {record.key}: {record.status}")
    question = {"role": "user", "content": record.asked}
    replied = [{"role": "assistant", "content": record.reply}] if record.reply is not None else []
    messages = conversation or [question, *replied]
    last = len(messages) - len(replied) - 1
    for index, message in enumerate(messages):
        mark = " (asked here)" if conversation and index == last else ""
        console.show(f"\n--- {message['role']}{mark}\n{message['content']}")
    if record.thoughts and conversation:
        console.show(f"\n--- thoughts before the reply\n{record.thoughts.strip()}")
    if record.error is not None:
        console.show(f"\n--- no reply ({record.error.kind}): {rewrite_options_as_flags(record.error.message)}")
    facts = [f"{record.seconds} s", f"attempts: {record.attempts}", f"finish: {record.finish or '-'}"]
    if record.model:
        facts.append(f"served by {record.model}")
    if record.usage:
        facts.append(f"{record.usage.input} tokens in ({record.usage.cached} cached), {record.usage.output} out")
    if record.thoughts and not conversation:
        facts.append(f"{len(record.thoughts):,} characters of thoughts (--whole shows them)")
    if record.prompt_cut:
        facts.append("fewer tokens than were sent: the server cut the prompt")
    console.show(f"\n({'; '.join(facts)})\n")


class _AnnotationsAndScores:
    """The annotated answer to each question, and the analysts' scores of the answers to it."""

    def __init__(self, workspace: Workspace, records: Sequence[Record]) -> None:
        from genaipa.runs.folder import RunFolder
        from genaipa.runs.inputs import RunDocumentsAndQuestions
        from genaipa.scoring.current import effective_scores_and_adjudications
        from genaipa.scoring.rubric import shipped_rubric
        from genaipa.scoring.store import open_existing_store

        self._inputs = cache(lambda path: RunDocumentsAndQuestions(workspace, RunFolder(path)))
        self._events: dict[str, list[Event]] = {}
        self._rubric = shipped_rubric()
        try:
            with open_existing_store(workspace) as store:
                digests = {record.digest for record in records if record.digest}
                if store is not None:
                    self._rubric = store.rubric
                    self._events = {
                        digest: effective_scores_and_adjudications(store.load_answer_events(digest))
                        for digest in digests
                    }
        except GenaipaError as error:
            print_to_stderr(f"The scores are not shown: {error}")

    def format_annotated_answer(self, folder: RunFolder, record: Record) -> str:
        """Return the annotated answer with its sections and points; empty where there is none."""
        annotation, _ = self._inputs(folder.path).annotated_answer_and_part_set_name(record.document, record.question)
        if annotation is None:
            return ""
        text = annotation.answer.strip() or ("The document does not say." if annotation.silent == "yes" else "")
        rests = f" ({', '.join(annotation.sections)})" if annotation.sections else ""
        points = [
            f"\n{index}. {point.text} ({point.weight_and_sections_in_words})"
            for index, point in enumerate(annotation.points, 1)
        ]
        return text + rests + "".join(points)

    def list_same_text_document_notes(self, folder: RunFolder, record: Record) -> list[str]:
        """Return a sentence on the other documents with the very text that the answer is about."""
        facts = self._inputs(folder.path).manifest.documents.get(record.document)
        return (
            [f"The answer also applies to {', '.join(facts.also)}, with the same text.\n"]
            if facts and facts.also
            else []
        )

    def list_score_sentences(self, record: Record) -> list[str]:
        """Return each score and decision in effect, in a sentence."""
        return [
            _describe_score(event, self._rubric)
            for event in self._events.get(record.digest, ())
            if event.values is not None
        ]

    def annotation_and_scores_to_dict(self, folder: RunFolder, record: Record) -> dict[str, object]:
        """Return annotation and scores for machines."""
        annotation, _ = self._inputs(folder.path).annotated_answer_and_part_set_name(record.document, record.question)
        events = [event for event in self._events.get(record.digest, ()) if event.values is not None]
        return {"annotated": annotation, "scores": events}


def _describe_score(event: Event, rubric: Rubric) -> str:
    """Describe a score in a line: who, the values, M_all, the note."""
    assert event.values is not None, "a score or an adjudication has values"
    values = ", ".join(f"{metric} {value:+g}" for metric, value in event.values.items())
    who = f"decided by {event.analyst}" if event.kind == "adjudication" else f"scored by {event.analyst}"
    overall = rubric.m_all(event.values)
    return f"{who}: {values}; M_all {overall:.1f}{'; ' + event.note if event.note else ''}\n"


def _read_conversation_through_reply(
    folder: RunFolder, record: Record, offsets_by_key: dict[str, int]
) -> list[dict[str, str]]:
    """Read the conversation up to and with this answer, as role and content."""
    from genaipa.runs.inputs import load_conversation_through_reply

    return [
        {"role": m.role, "content": m.content} for m in load_conversation_through_reply(folder, record, offsets_by_key)
    ]
