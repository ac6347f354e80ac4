"""Exports of web chats: the trees of ChatGPT, the messages of Claude, the activity of Gemini.

Only what a person read becomes a reply, with the documents that an assistant wrote beside the chat (a canvas, an
artifact): thoughts, calls of other tools and what they returned, hidden messages, and branches that somebody left do
not.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from genaipa.files.text import DAMAGE
from genaipa_exchange.chats import (
    Chat,
    ChatFileLayout,
    Exchange,
    ExportFile,
    ShownText,
    decode_lenient_json,
    format_moment_or_empty,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# -- ChatGPT --


class _Author(msgspec.Struct):
    role: str = ""


class _Metadata(msgspec.Struct):
    model_slug: str | None = ""
    is_visually_hidden_from_conversation: bool | None = False
    is_thinking_preamble_message: bool | None = False
    attachments: list[Any] | None = None
    finish_details: Any = None


class _ChatGptContent(msgspec.Struct):
    content_type: str = ""
    parts: list[Any] | None = None
    text: Any = None


class _ChatGptMessage(msgspec.Struct):
    author: _Author
    content: _ChatGptContent | None = None
    create_time: Any = None
    recipient: str | None = "all"
    channel: str | None = None
    status: str | None = ""
    metadata: _Metadata | None = None


class _Node(msgspec.Struct):
    message: _ChatGptMessage | None = None
    parent: str | None = None


class _ChatGptTree(msgspec.Struct):
    mapping: dict[str, _Node]
    current_node: str | None = None


_VISIBLE = frozenset({"text", "multimodal_text"})
_CUT = ("max_tokens", "interrupted")
_HIDDEN_CHANNELS = frozenset({"analysis", "commentary"})
_MARKED = re.compile(
    "\\ue200([^\\ue200-\\ue202]*)\\ue202?([^\\ue201]*)\\ue201|\u3010\\d+(?::\\d+)?\u2020[^\u3011]*\u3011"
)
"""What a chat shows as a button, a picture or a link: its kind, and what it holds; or a source, in earlier chats."""
_CANVAS = "canmore."
"""Begins the name of the tool with which an assistant writes a document beside the chat."""


def _read_chatgpt_chats(file: ExportFile) -> Iterator[Chat]:
    for entry, item in file.items:
        tree = file.decode_item(entry, item, _ChatGptTree, _CHATGPT)
        exchanges = _ExchangeCollector("chatgpt")
        for message in _list_shown_messages(tree):
            data = message.metadata or _Metadata()
            text, started = _join_text_parts(message.content), format_moment_or_empty(message.create_time)
            if message.author.role == "user":
                files = (file for file in data.attachments or () if isinstance(file, dict))
                exchanges.start_exchange(
                    entry, text, [ShownText(str(file.get("name") or "")) for file in files], started
                )
            else:
                text = (
                    _read_canvas_document_or_empty(message)
                    if _writes_canvas(message)
                    else _MARKED.sub(_visible_words_of_mark, text)
                )
                exchanges.add_reply_to_last_exchange(text.strip(), data.model_slug or "", is_cut=_is_reply_cut(message))
        yield Chat(entry, exchanges.make_all_exchanges())


def _list_shown_messages(tree: _ChatGptTree) -> list[_ChatGptMessage]:
    """List the messages that a person saw, on the branch that was last in view."""
    nodes, name = tree.mapping, tree.current_node or ""
    if name not in nodes:
        times = {name: format_moment_or_empty(node.message.create_time) for name, node in nodes.items() if node.message}
        name = max(times, key=lambda key: times[key], default="")
    branch: list[_ChatGptMessage] = []
    passed: set[str] = set()
    while name in nodes and name not in passed:
        passed.add(name)
        message = nodes[name].message
        if message is not None and _is_shown(message):
            branch.append(message)
        name = nodes[name].parent or ""
    return branch[::-1]


def _is_shown(message: _ChatGptMessage) -> bool:
    role, data = message.author.role, message.metadata or _Metadata()
    if data.is_visually_hidden_from_conversation or message.content is None:
        return False
    if _writes_canvas(message):
        return True
    if message.content.content_type not in _VISIBLE:
        return False
    if role == "assistant":
        is_hidden = message.channel in _HIDDEN_CHANNELS or data.is_thinking_preamble_message
        return not is_hidden and message.recipient in (None, "all")
    return role == "user"


def _is_reply_cut(message: _ChatGptMessage) -> bool:
    """Tell whether a reply was stopped by the person, or reached the limit of tokens."""
    details = message.metadata.finish_details if message.metadata else None
    reason = details.get("type") if isinstance(details, dict) else None
    return reason in _CUT or message.status == "finished_partial_completion"


def _join_text_parts(content: _ChatGptContent | None) -> str:
    """Join the texts of a message; a recording has its transcript, a picture has none."""
    parts = (content.parts if content else None) or []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _visible_words_of_mark(marked: re.Match[str]) -> str:
    """Return the words that a person read of something marked: a thing's name, a link's text; none of a source."""
    kind, inner = marked.groups()
    if kind == "entity":
        with contextlib.suppress(*DAMAGE, IndexError):
            return decode_lenient_json(inner.encode(), list[str])[1]
    return inner.partition("\ue202")[0] if kind == "url" else ""


def _writes_canvas(message: _ChatGptMessage) -> bool:
    return message.author.role == "assistant" and (message.recipient or "").startswith(_CANVAS)


class _CanvasUpdate(msgspec.Struct):
    pattern: str = ""
    replacement: str = ""


class _Canvas(msgspec.Struct):
    content: str = ""
    updates: list[_CanvasUpdate] = []


def _read_canvas_document_or_empty(message: _ChatGptMessage) -> str:
    """Return the document that an assistant wrote beside the chat, at first or anew; nothing of a change within it."""
    content = message.content
    call = content.text if content and isinstance(content.text, str) else _join_text_parts(content)
    try:
        canvas = decode_lenient_json(call.encode(), _Canvas)
    except DAMAGE:
        return ""
    whole = [update.replacement for update in canvas.updates if update.pattern == ".*"]
    return canvas.content or "\n".join(whole)


# -- Claude --


class _ClaudeBlock(msgspec.Struct):
    type: str = ""
    text: str | None = ""
    name: str | None = ""
    input: Any = None


class _File(msgspec.Struct):
    file_name: str | None = ""
    extracted_content: str | None = ""


class _ClaudeMessage(msgspec.Struct):
    sender: str
    text: str | None = ""
    content: list[_ClaudeBlock] | str | None = None
    created_at: str | None = ""
    uuid: str | None = ""
    parent_message_uuid: str | None = None
    attachments: list[_File] | None = None
    files: list[_File] | None = None
    model: str | None = ""


class _ClaudeChat(msgspec.Struct):
    chat_messages: list[_ClaudeMessage]
    current_leaf_message_uuid: str | None = ""
    model: str | None = ""


def _read_claude_chats(file: ExportFile) -> Iterator[Chat]:
    for entry, item in file.items:
        chat = file.decode_item(entry, item, _ClaudeChat, _CLAUDE)
        exchanges = _ExchangeCollector("claude")
        for message in _list_messages_of_current_branch(chat):
            text = _read_claude_text(message)
            if message.sender in ("human", "user"):
                files = [*(message.attachments or ()), *(message.files or ())]
                attachments = [ShownText(file.file_name or "", file.extracted_content or "") for file in files]
                exchanges.start_exchange(entry, text, attachments, format_moment_or_empty(message.created_at))
            elif message.sender == "assistant":
                exchanges.add_reply_to_last_exchange(text, message.model or chat.model or "")
        yield Chat(entry, exchanges.make_all_exchanges())


def _list_messages_of_current_branch(chat: _ClaudeChat) -> Sequence[_ClaudeMessage]:
    """Return the messages of the branch that was last in view; all, where the file knows no branches."""
    messages = chat.chat_messages
    by_id = {message.uuid: message for message in messages if message.uuid}
    if len(by_id) < len(messages) or not all(message.parent_message_uuid for message in messages[1:]):
        return messages
    latest = max(messages, key=lambda message: message.created_at or "", default=None)
    current = by_id.get(chat.current_leaf_message_uuid or "", latest)
    branch: list[_ClaudeMessage] = []
    while current is not None and len(branch) < len(messages):
        branch.append(current)
        current = by_id.get(current.parent_message_uuid or "")
    return branch[::-1]


_THOUGHTS = re.compile(r"(?s)<antThinking>.*?(?:</antThinking>|\Z)")
_ARTIFACT_TAG = re.compile(r"</?antArtifact\b[^>]*>")
"""Thoughts, and what is around a document beside the chat, in the texts of earlier exports."""


def _read_claude_text(message: _ClaudeMessage) -> str:
    """Return the words of a message. The flat text of one with blocks repeats its thoughts and tools."""
    text = message.text if message.content is None or message.content == [] else message.content
    if not isinstance(text, str):
        text = "\n".join(filter(None, map(_read_claude_block, text or ())))
    return _ARTIFACT_TAG.sub("", _THOUGHTS.sub("", text)).strip()


def _read_claude_block(block: _ClaudeBlock) -> str:
    """Return the words of a block: a text, a recording's, or a document beside the chat; none of other tools."""
    if block.type in ("text", "voice_note"):
        return block.text or ""
    is_artifact = block.type == "tool_use" and block.name == "artifacts" and isinstance(block.input, dict)
    return str(block.input.get("content") or "") if is_artifact else ""


# -- Gemini --


class _Html(msgspec.Struct):
    html: str = ""


class _GeminiActivity(msgspec.Struct):
    title: str = ""
    time: str = ""
    header: str = ""
    products: list[str] = []
    safeHtmlItem: list[_Html] = []  # noqa: N815 - Google's
    subtitles: list[dict[str, Any]] = []


_PROMPTED = re.compile(r"^(?:Prompted with:|Asked (?:Gemini|Bard):|Prompted|Asked|Said)\s+")
"""What Google puts before a prompt, of an account in English; the longer one first."""
_ATTACHED = re.compile(r"\s*Attached \d+ files?\.?\s*$")
_PAUSE = 30 * 60
"""Seconds without a prompt after which the next one begins another conversation: the file tells none apart."""


def _read_gemini_activity_chats(file: ExportFile) -> Iterator[Chat]:
    activities = []
    for entry, item in file.items:
        activity = file.decode_item(entry, item, _GeminiActivity, _GEMINI)
        labels = " ".join([activity.header, *activity.products]).lower()
        if ("gemini" in labels or "bard" in labels) and activity.safeHtmlItem:
            activities.append((format_moment_or_empty(activity.time), entry, activity))
    activities.sort(key=lambda timed: timed[0])
    for group in _split_at_pauses(activities):
        exchanges = _ExchangeCollector("gemini")
        for started, entry, activity in group:
            prompt = _ATTACHED.sub("", _PROMPTED.sub("", activity.title, count=1))
            names = [str(subtitle.get("name") or "") for subtitle in activity.subtitles]
            attachments = [ShownText(name.strip("- ")) for name in names if name.startswith("-")]
            exchanges.start_exchange(entry, prompt.strip(), attachments, started)
            exchanges.add_reply_to_last_exchange(
                "\n\n".join(extract_html_reply_text(item.html) for item in activity.safeHtmlItem)
            )
        yield Chat(group[0][1], exchanges.make_all_exchanges())


def _split_at_pauses(
    times_entries_and_activities: Iterable[tuple[str, str, _GeminiActivity]],
) -> Iterator[list[tuple[str, str, _GeminiActivity]]]:
    group: list[tuple[str, str, _GeminiActivity]] = []
    for timed in times_entries_and_activities:
        if group and _measure_pause_seconds(group[-1][0], timed[0]) > _PAUSE:
            yield group
            group = []
        group.append(timed)
    if group:
        yield group


def _measure_pause_seconds(earlier: str, later: str) -> float:
    if not (earlier and later):
        return float("inf")
    return (dt.datetime.fromisoformat(later) - dt.datetime.fromisoformat(earlier)).total_seconds()


class _Turn(msgspec.Struct):
    prompt: str = ""
    text: list[dict[str, Any]] = []
    turn_last_modified: str = ""


class _TurnPair(msgspec.Struct):
    user_turn: _Turn | None = None
    system_turn: _Turn | None = None


class _GeminiChat(msgspec.Struct):
    conversation_turns: list[_TurnPair]


def _read_workspace_gemini_chats(file: ExportFile) -> Iterator[Chat]:
    for entry, item in file.items:
        chat = file.decode_item(entry, item, _GeminiChat, _WORKSPACE_GEMINI)
        exchanges = _ExchangeCollector("gemini")
        for pair in chat.conversation_turns:
            if pair.user_turn:
                exchanges.start_exchange(
                    entry, pair.user_turn.prompt, (), format_moment_or_empty(pair.user_turn.turn_last_modified)
                )
            if pair.system_turn:
                exchanges.add_reply_to_last_exchange(
                    "\n".join(str(part["data"]) for part in pair.system_turn.text if part.get("data"))
                )
        yield Chat(entry, exchanges.make_all_exchanges())


# -- all --


class _ExchangeCollector:
    """The exchanges of one conversation, as its messages come; each message of the person begins another."""

    def __init__(self, app: str) -> None:
        self._app = app
        self._asked: list[tuple[str, str, tuple[ShownText, ...], str]] = []
        self._replies: list[list[str]] = []
        self._models: list[str] = []
        self._cuts: list[bool] = []

    def start_exchange(self, entry: str, prompt: str, attachments: Iterable[ShownText], started_at: str) -> None:
        self._asked.append((entry, prompt, tuple(attachments), started_at))
        self._replies.append([])
        self._models.append("")
        self._cuts.append(False)

    def add_reply_to_last_exchange(self, reply_text: str, model: str = "", *, is_cut: bool = False) -> None:
        if reply_text and self._asked:
            self._replies[-1].append(reply_text)
            self._cuts[-1] = is_cut
            self._models[-1] = model or self._models[-1]

    def make_all_exchanges(self) -> tuple[Exchange, ...]:
        """Return all; several messages of the assistant are one reply."""
        return tuple(
            Exchange(
                entry,
                (text,),
                "\n\n".join(replies),
                shown,
                system=f"{self._app}/{model}" if model else self._app,
                model=model,
                started=started,
                is_cut=is_cut,
            )
            for (entry, text, shown, started), replies, model, is_cut in zip(
                self._asked, self._replies, self._models, self._cuts, strict=True
            )
        )


class _TextOfHtml(HTMLParser):
    """The words of a reply in HTML, its paragraphs and items on lines of their own."""

    _PARAGRAPHS = frozenset({"p", "h1", "h2", "h3", "h4", "h5", "h6", "pre", "blockquote", "table", "ul", "ol"})
    _LINES: ClassVar = {"br": "\n", "div": "\n", "tr": "\n", "li": "\n- ", "td": " ", "th": " "}
    _UNSEEN = frozenset({"script", "style", "head", "template"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._open: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - HTMLParser's
        self._open[tag] += 1
        self.pieces.append("\n\n" if tag in self._PARAGRAPHS else self._LINES.get(tag, ""))

    def handle_endtag(self, tag: str) -> None:
        self._open[tag] -= 1
        if tag in self._PARAGRAPHS:
            self.pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not any(self._open[tag] > 0 for tag in self._UNSEEN):
            self.pieces.append(data if self._open["pre"] > 0 else re.sub(r"\s+", " ", data))


def extract_html_reply_text(html: str) -> str:
    """Return the text of a reply that is in HTML."""
    parser = _TextOfHtml()
    parser.feed(html)
    parser.close()
    text = "\n".join(line.rstrip() for line in "".join(parser.pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"(?m)^-\n+", "- ", text)).strip()


_REMEDY = "write its answers as JSON lines with the keys 'question', 'answer', 'document' and 'system'"
_CHATGPT = ChatFileLayout("an export from ChatGPT", frozenset({"mapping"}), _read_chatgpt_chats, _REMEDY)
_CLAUDE = ChatFileLayout("an export from Claude", frozenset({"chat_messages"}), _read_claude_chats, _REMEDY)
_GEMINI = ChatFileLayout(
    "Gemini's activity", frozenset({"title", "time", "header"}), _read_gemini_activity_chats, _REMEDY
)
_WORKSPACE_GEMINI = ChatFileLayout(
    "an export from Gemini", frozenset({"conversation_turns"}), _read_workspace_gemini_chats, _REMEDY
)
ASSISTANTS = (_CHATGPT, _CLAUDE, _GEMINI, _WORKSPACE_GEMINI)
