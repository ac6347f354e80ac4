"""By hand: the next message to paste into a web chat, and the box that takes its reply."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from genaipa.errors import GenaipaError, RunBusyError
from genaipa.execution.manual import ChatSheet, ManualRun
from genaipa.execution.prepare import prepare_resumed_run
from genaipa.execution.run import open_manual_run_without_lock, save_manual_progress
from genaipa.plugins import load_object
from genaipa.runs import selection
from genaipa.runs.folder import RunFolder
from genaipa.runs.manifest import ANSWERS
from genaipa.systems.catalog import resolve_system
from genaipa.ui.widgets import (
    FOLD,
    ListRow,
    TitledText,
    Tone,
    cache_in_session,
    show_first_problems,
    show_heading,
    show_notice,
    show_page_header,
    show_table,
    show_texts,
)

if TYPE_CHECKING:
    from genaipa.scoring.people import User
    from genaipa.tasks.base import Call
    from genaipa.ui.desk import Desk
    from genaipa.workspace import Workspace

LAST = "by hand said"
"""Session key of the message about the last reply: a sentence and its tone."""


@dataclass(frozen=True)
class UnfinishedChat:
    """One chat that waits for replies: how many are in, and the messages whose replies are missing."""

    sheet: ChatSheet
    missing: dict[str, Call]

    @property
    def reply_count(self) -> int:
        """The number of replies kept."""
        return len(self.sheet.calls) - len(self.missing)


class SavedReply(NamedTuple):
    """What became of a reply: a sentence on it and its tone, and whether another one was kept in its place."""

    sentence: str
    tone: Tone
    replaced: bool = False


def show_page(desk: Desk, user: User) -> None:
    """Choose a run and a chat, paste, and give the reply back; or write the replies of a system of people."""
    show_page_header("By hand")
    if LAST in st.session_state:
        last: SavedReply = st.session_state.pop(LAST)
        show_notice("by hand last", last.sentence, last.tone)
    waiting, unusable = _list_waiting_runs_and_problems(desk)
    show_first_problems("by hand problems", unusable)
    if not waiting:
        show_notice(
            "by hand none",
            "No run is waiting for replies. Start one with: genaipa run --system manual/NAME --policy NAME",
        )
        return
    run_column, chat_column = st.columns([2, 3])
    name = run_column.selectbox("Run", list(waiting), key="by hand run")
    folder = waiting[name]
    try:
        manual = open_manual_run_cached(desk.workspace, folder)
        forms = _map_systems_to_reply_form_functions(manual)
        chats = [chat for chat in _list_unfinished_chats(manual) if chat.sheet.system not in forms]
    except GenaipaError as error:
        show_notice("by hand error", str(error), "bad")
        return
    if not chats and not forms:
        show_notice("by hand complete", "This run has all of its replies.", "done")
        return
    names = [*forms, *(chat.sheet.name for chat in chats)]
    chosen = chat_column.selectbox("Chat" if chats else "System", names, key=f"by hand chat {name}")
    if chosen in forms:
        load_object(forms[chosen])(desk, user, manual, chosen)
        return
    chat = next(chat for chat in chats if chat.sheet.name == chosen)
    _show_missing_answer_counts(manual, chat)
    _show_chat_messages_and_reply_box(desk.workspace, folder, manual, chat)


def _list_waiting_runs_and_problems(desk: Desk) -> tuple[dict[str, RunFolder], list[str]]:
    """List the unfinished runs with a web chat, the newest first, and the problems of others."""
    folders = selection.select_run_folders(desk.workspace, desk.settings.runs, desk.settings.only)
    waiting, unusable = {}, []
    for folder in reversed(folders):
        try:
            manifest = folder.manifest()
            manual = any(resolve_system(system, desk.workspace).is_manual for system in manifest.spec.systems)
        except GenaipaError as error:
            unusable.append(str(error))
            continue
        if manual and manifest.status != "complete":
            waiting[folder.name] = folder
    return waiting, unusable


def _map_systems_to_reply_form_functions(manual: ManualRun) -> dict[str, str]:
    """List the systems with replies missing whose provider has a form of its own: name → function that shows it."""
    incomplete = manual.tally.incomplete_systems()
    return {
        ready.resolved.requested_name: ready.resolved.provider_record.reply_form
        for ready in manual.systems
        if ready.resolved.provider_record
        and ready.resolved.provider_record.reply_form
        and ready.resolved.requested_name in incomplete
    }


def open_manual_run_cached(workspace: Workspace, folder: RunFolder) -> ManualRun:
    """Open the by-hand side of a run; again when another process has kept a reply."""
    answers = folder.path / ANSWERS
    stat = answers.stat() if answers.exists() else None
    stamp = (folder.path, stat and (stat.st_size, stat.st_mtime_ns))
    return cache_in_session("by hand open", stamp, lambda: _open_manual_run_uncached(workspace, folder))


def _open_manual_run_uncached(workspace: Workspace, folder: RunFolder) -> ManualRun:
    return asyncio.run(open_manual_run_without_lock(prepare_resumed_run(workspace, folder.name)))


def _list_unfinished_chats(manual: ManualRun) -> list[UnfinishedChat]:
    chats = []
    for sheet in manual.chats_with_known_messages():
        missing = {key: call for key, call in sheet.calls.items() if not manual.tally.has_reply(key)}
        if missing:
            chats.append(UnfinishedChat(sheet, missing))
    return chats


def _show_missing_answer_counts(manual: ManualRun, chat: UnfinishedChat) -> None:
    systems = {ready.resolved.requested_name for ready in manual.systems}
    rows = [row for (system, _), row in manual.tally.rows.items() if system in systems]
    planned, missing = sum(row.planned for row in rows), sum(row.missing_count for row in rows)
    st.progress((planned - missing) / planned if planned else 1.0)
    st.caption(
        f"Missing answers: {missing:,} of {planned:,} in this run, {len(chat.missing)} of {len(chat.sheet.calls)} "
        "in this chat. Whoever pastes a reply knows its system, so let someone else score it."
    )


def _show_chat_messages_and_reply_box(
    workspace: Workspace, folder: RunFolder, manual: ManualRun, chat: UnfinishedChat
) -> None:
    """Show the messages to paste, and the box for the reply to the last of them."""
    sheet, (key, call), *later = chat.sheet, *chat.missing.items()
    introduction = [
        TitledText(
            message.content,
            f"{number}. Paste this and wait for the reply, which is not recorded",
            copies=True,
            fold=FOLD,
        )
        for number, message in enumerate(sheet.introduction, 1)
    ]
    last = manual.last_answered_call(sheet)
    if last is None or sheet.needs_chat_per_question:
        show_heading("Open a new chat")
        show_texts(f"by hand introduction {key}", introduction)
    else:
        show_heading("Continue in the same chat")
        if introduction:
            with st.expander("Start again in a new chat"):
                warning = (
                    "Paste this into a new chat, then continue below; the new chat has none of the earlier messages."
                )
                show_notice("by hand lost", warning, "warning")
                show_texts(f"by hand introduction {key}", introduction)
    request = "the request for a summary" if call.kind == "summary" else call.label
    if last is None or sheet.needs_chat_per_question:
        title = f"{len(introduction) + 1}. Paste this: {request}"
    else:
        title = f"Paste this in the chat in which you asked {last.label}: {request}"
    show_texts(
        f"by hand turn {key}", [TitledText(call.messages[-1].content, title, tone="asked", copies=True, fold=FOLD)]
    )
    box = f"by hand reply {key}"

    def save_typed_reply_and_remember_outcome() -> None:
        # Before the page is made anew: by then it may show another question, whose reply came in elsewhere.
        st.session_state[LAST] = save_reply(workspace, folder, (key, call.label), str(st.session_state[box]).strip())

    with st.form(f"by hand form {key}"):
        st.text_area("The whole reply, unchanged", height=220, key=box)
        st.form_submit_button("Save and continue", type="primary", on_click=save_typed_reply_and_remember_outcome)
    if later:
        with st.expander(f"Next in this chat ({len(later)})"):
            rows = [ListRow((after.label, " ".join(after.messages[-1].content.split()))) for _, after in later]
            show_table("by hand later", "Further messages", ["question", "message"], rows)


def save_reply(
    workspace: Workspace,
    folder: RunFolder,
    call_key_and_label: tuple[str, str],
    reply: str,
    *,
    author: str = "",
    writing_seconds: float = 0.0,
) -> SavedReply:
    """Keep one reply, by its call's key and label, and hold the run's lock only for that.

    `author` is who wrote it, in so many seconds, of a system whose replies people write.
    """
    key, label = call_key_and_label
    if not reply:
        return SavedReply("There is no reply in the box yet.", "warning")
    try:
        run = prepare_resumed_run(workspace, folder.name)
        with run.open_or_create_folder().hold_for_writing_and_list_repairs():
            # Read anew now that no other process can write: the reply may be in already.
            manual = asyncio.run(open_manual_run_without_lock(run))
            collected = asyncio.run(manual.record_replies({key: reply}, author=author, seconds={key: writing_seconds}))
            manual.write_new_sheets()
            save_manual_progress(manual)
    except RunBusyError as error:
        return SavedReply(f"Not saved: {error} Your text is still in the box.", "bad")
    except GenaipaError as error:
        return SavedReply(f"Not saved: {error}", "bad")
    if collected.conflicts or collected.final:
        sentence = f"Not saved: another reply to {label} was saved in the meantime."
        return SavedReply(sentence, "warning", replaced=True)
    return SavedReply(f"The reply to {label} is saved.", "done")
