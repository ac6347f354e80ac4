"""Chats as runs: each message that asks a question of the set about a known document, with the reply to it.

An export holds all that somebody ever asked. Nothing but the questions, as far as they match, and their replies is
written; the document is the workspace's own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from genaipa.errors import DataError, UnknownNameError, UsageError, clip
from genaipa.files.text import sha256_of
from genaipa.languages.catalog import language_code_or_empty, variant_name_for_language
from genaipa.policies.adding import is_file_address_or_stdin
from genaipa.policies.formats import SUFFIXED
from genaipa.questions.sets import QuestionSet, default_question_set_name, load_question_set
from genaipa.systems.thoughts import split_thoughts
from genaipa.words import format_count, join_names, replace_unprintable_characters
from genaipa_exchange.chat_files import read_chat_files
from genaipa_exchange.chat_options import MatchRow
from genaipa_exchange.chat_runs import MatchedAnswer, add_chat_run_to_incoming
from genaipa_exchange.incoming import ImportSummary
from genaipa_exchange.question_matching import QuestionMatch, QuestionMatcher
from genaipa_exchange.shown_documents import DocumentFinder

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from genaipa.policies.document import Document
    from genaipa_exchange.chats import Chat, ChatFileLayout, Exchange, ExportFile
    from genaipa_exchange.incoming import Incoming

_LISTED = 10
"""Messages without a question that are listed."""
_LONGEST_NAME = 100
"""Characters up to which a line is a document's name, and not its text; and of a system's name."""


def import_chats(paths: Sequence[Path], incoming: Incoming) -> ImportSummary:
    """Take in the answers in files of chats; a DataError names the first that can't be taken in, and nothing is."""
    chats = ChatImport(incoming)
    for path in dict.fromkeys(paths):
        for layout, file in read_chat_files(path):
            for chat in layout.read(file):
                chats.collect_answers_of_chat(layout, file, chat)
    return chats.write_runs()


@dataclass
class _ShownDocuments:
    """What a conversation has shown so far: names of known documents, and whether there was anything else."""

    names: dict[str, None] = field(default_factory=dict)
    unknown: bool = False


class ChatImport:
    """The answers of all files, on their way to a run of each system."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming, self._options = incoming, incoming.chats
        self._finder = DocumentFinder(incoming)
        self._policy_document = self._load_policy_option_document()
        self._matchers: dict[tuple[str, str], QuestionMatcher] = {}
        self._sets: dict[tuple[str, str], QuestionSet] = {}
        self._texts: dict[str, Document] = {}
        """Text that a file gives for a document → the document."""
        self._answers: defaultdict[tuple[str, str, str], list[MatchedAnswer]] = defaultdict(list)
        """By the layout's title, the system, and the language that the file names."""
        self._rows: Counter[tuple[str, str, str]] = Counter()
        self._close: list[int] = []
        """Similarities of what was not accepted."""
        self._chats = self._messages = self._answer_count = self._silent = self._without_document = self._unmatched = 0
        self._repeated = 0

    def collect_answers_of_chat(self, layout: ChatFileLayout, file: ExportFile, chat: Chat) -> None:
        """Take in the answers of a conversation; a DataError where it is unclear which document one is about."""
        self._chats += 1
        documents_shown, unmatched, coordinates_in_chat = _ShownDocuments(), list[str](), set[tuple[str, str, str]]()
        for exchange in chat.exchanges:
            self._messages += 1
            texts, pastes = self._split_off_and_note_shown_documents(exchange, documents_shown)
            documents = self._list_documents_named_or_shown(file, chat, documents_shown)
            if not documents:
                self._without_document += 1
                continue
            question = self._find_document_and_question_match(file, chat, exchange, documents, texts)
            if question is None:
                unmatched += [] if pastes and layout.is_personal else texts[:1]
                continue
            document, match = question
            if self._note_match_and_tell_if_accepted(exchange, document, match):
                coordinates = (document.name, match.question, match.wording)
                if coordinates in coordinates_in_chat:
                    self._repeated += 1
                    continue
                coordinates_in_chat.add(coordinates)
                self._collect_matched_answer(layout, file, chat, exchange, document, documents_shown, match)
        if coordinates_in_chat or documents_shown.names or not layout.is_personal:
            self._unmatched += len(unmatched)
            self._rows.update((clip(" ".join(text.split())), "", "no question is similar") for text in unmatched)

    # -- the document --

    def _split_off_and_note_shown_documents(
        self, exchange: Exchange, documents_shown: _ShownDocuments
    ) -> tuple[list[str], bool]:
        """Note what a message shows; its texts without the document's, and whether it only shows the document."""
        texts, pastes = list[str](), False
        for text in exchange.asked:
            pasted = self._finder.find_pasted_document(text)
            texts += pasted.questions if pasted else (text,)
            pastes |= pasted is not None
            documents_shown.names |= dict.fromkeys(pasted.names if pasted else ())
        for item in exchange.shown:
            attached = self._finder.find_pasted_document(item.text)
            name = "" if attached else self._finder.document_name_of_file_or_empty(item.name)
            documents_shown.names |= dict.fromkeys(attached.names if attached else [name] if name else ())
            is_text = bool(item.text) or PurePath(item.name).suffix.lower() in SUFFIXED
            documents_shown.unknown |= is_text and not (attached or name)
        return texts, pastes

    def _load_policy_option_document(self) -> Document | None:
        """Return the document of `--policy`, if it is given; an UnknownNameError for none."""
        name = self._options.policy
        if not name:
            return None
        if document := self._finder.load_document_if_known(name):
            return document
        hint = f"add it first: genaipa policies add {name}" if is_file_address_or_stdin(name) else ""
        raise UnknownNameError("policy", name, self._incoming.given_and_workspace_document_names, hint)

    def _list_documents_named_or_shown(
        self, file: ExportFile, chat: Chat, documents_shown: _ShownDocuments
    ) -> list[Document]:
        """List the documents that the next question may be about."""
        if chat.document:
            return [self._load_document_stated_in_chat(file, chat)]
        policy = self._policy_document
        if policy is not None and (not documents_shown.names or policy.name in documents_shown.names):
            return [policy]
        return [document for document in map(self._finder.load_document_if_known, documents_shown.names) if document]

    def _load_document_stated_in_chat(self, file: ExportFile, chat: Chat) -> Document:
        """Return the document that a file names, or whose text it gives."""
        document_text = chat.document
        if "\n" not in document_text and len(document_text) <= _LONGEST_NAME:
            if named := self._finder.load_document_if_known(document_text):
                return named
            wrong = (
                f"is about '{clip(document_text)}'; name a folder with its text in a file of that name: "
                f"--documents FOLDER."
            )
            raise DataError(file.label, wrong, chat.entry)
        if document_text not in self._texts:
            pasted = self._finder.find_pasted_document(document_text)
            document = self._finder.load_document_if_known(pasted.names[0]) if pasted else None
            if document is None or document.text.strip() != document_text.strip():
                document = self._incoming.make_or_load_document(
                    f"document-{sha256_of(document_text)[:6]}", document_text
                )
            assert document is not None, "it has a text"
            self._texts[document_text] = document
        return self._texts[document_text]

    # -- the question --

    def _find_document_and_question_match(
        self,
        file: ExportFile,
        chat: Chat,
        exchange: Exchange,
        documents: Sequence[Document],
        possible_questions: Sequence[str],
    ) -> tuple[Document, QuestionMatch] | None:
        """Find the question of a message, and which document it is about; a DataError if it may be about several."""
        matches = [
            (document, match)
            for document in documents
            if (match := self._make_or_reuse_question_matcher(file, chat, document).find_best_match(possible_questions))
            is not None
        ]
        same_words = [(document, match) for document, match in matches if match.how != "close"]
        accepted = same_words or [(document, match) for document, match in matches if self._accepts_match(match)]
        if len(accepted) > 1 and exchange.reply != "":
            names = join_names(sorted(document.name for document, _ in accepted))
            wrong = (
                f"asks {accepted[0][1].question} after it showed {names}; name the one that it is about: --policy NAME."
            )
            raise DataError(file.label, wrong, exchange.entry)
        return max(accepted or matches, key=lambda pair: pair[1].similarity, default=None)

    def _accepts_match(self, match: QuestionMatch) -> bool:
        """Tell whether a match counts: in the same words, or as similar as was asked for."""
        accept = self._options.accept
        return match.how != "close" or (accept is not None and match.similarity >= accept)

    def _make_or_reuse_question_matcher(self, file: ExportFile, chat: Chat, document: Document) -> QuestionMatcher:
        key = (document.digest, chat.language)
        if key not in self._matchers:
            self._sets[key] = self._load_question_set(file, chat, document)
            self._matchers[key] = QuestionMatcher(self._sets[key], document.company)
        return self._matchers[key]

    def _load_question_set(self, file: ExportFile, chat: Chat, document: Document) -> QuestionSet:
        """Load the questions that are asked about a document, in the language that the file names."""
        workspace = self._incoming.workspace
        if self._options.questions:
            questions = load_question_set(self._options.questions, workspace)
            if questions.kind != document.kind:
                asks = f"'{questions.name}' asks about a {questions.kind}"
                raise UsageError(f"{document.name} is a {document.kind}; {asks}.")
            return questions
        if not chat.language:
            return load_question_set(default_question_set_name(document, workspace), workspace)
        code = language_code_or_empty(chat.language)
        name = variant_name_for_language(document.kind, code) if code else ""
        if name not in workspace.nearest_files("questions"):
            language = clip(chat.language)
            wrong = f"names the language '{language}', in which there is no question set; see: genaipa questions"
            raise DataError(file.label, wrong, chat.entry)
        return load_question_set(name, workspace)

    def _note_match_and_tell_if_accepted(self, exchange: Exchange, document: Document, match: QuestionMatch) -> bool:
        """Note a match for the table; whether it is taken."""
        is_accepted = self._accepts_match(match)
        manner = f"close, {match.similarity} %" if match.how == "close" else match.how
        if exchange.reply == "":
            self._silent += 1
            return False
        row = (clip(" ".join(match.asked.split())), f"{document.name} {match.question}")
        self._rows[(*row, manner if is_accepted else f"{manner}: not imported")] += 1
        if not is_accepted:
            self._close.append(match.similarity)
        return is_accepted

    def _collect_matched_answer(
        self,
        layout: ChatFileLayout,
        file: ExportFile,
        chat: Chat,
        exchange: Exchange,
        document: Document,
        documents_shown: _ShownDocuments,
        match: QuestionMatch,
    ) -> None:
        name = replace_unprintable_characters(self._options.system or exchange.system).replace("|", "-")
        system = " ".join(name.split())[:_LONGEST_NAME]
        if not system:
            wrong = "does not name a system; add the key 'system', or name the system that answered: --system NAME."
            raise DataError(file.label, wrong, exchange.entry)
        is_shown = not layout.is_personal or documents_shown.names or documents_shown.unknown
        self._answer_count += 1
        self._answers[layout.title, system, chat.language].append(
            MatchedAnswer(
                file=file.label,
                chat=self._chats,
                system=system,
                document=document,
                questions=self._sets[document.digest, chat.language],
                initialization=chat.initialization or ("document" if is_shown else "company-name"),
                match=match,
                exchange=exchange,
                reply=None if exchange.reply is None else split_thoughts(exchange.reply),
                repetition=chat.repetition,
            )
        )

    # -- the end --

    def write_runs(self) -> ImportSummary:
        """Write a run for each system, and tell what became of the messages; a UsageError where nothing matched."""
        if not self._rows:
            raise UsageError(self._explain_why_nothing_imported())
        for (title, _, _), answers in self._answers.items():
            add_chat_run_to_incoming(self._incoming, title, answers)
        return self._incoming.write_runs_and_scores(
            tuple(self._list_notes_on_skipped_messages()), self._make_match_rows()
        )

    def _explain_why_nothing_imported(self) -> str:
        where = f"{format_count(self._messages, 'message')} in {format_count(self._chats, 'conversation')}"
        if not self._messages:
            return "the files do not contain any message by a person; nothing was imported."
        if self._without_document == self._messages:
            return (
                "no conversation shows a document that genaipa has; name the one that they are about (--policy NAME), "
                "or add it first: genaipa policies add FILE"
            )
        if self._silent:
            return f"none of {where} asks a question of the set and has an answer in text; nothing was imported."
        return (
            f"none of {where} asks a question of the set; name another one with --questions, as `genaipa questions` "
            "lists them."
        )

    def _list_notes_on_skipped_messages(self) -> Iterable[str]:
        """Say what was not taken, and what to do about it."""
        counts = (
            (
                len(self._close),
                (
                    "similar to a question, but not imported: {}; to import after a check: "
                    f"--accept {min(self._close, default=0)}"
                ),
            ),
            (
                self._unmatched,
                (
                    "{} asking no question of the set; name another set (--questions SET), or write one: "
                    "genaipa questions new"
                ),
            ),
            (self._without_document, "{} in conversations without a known document; to name it: --policy NAME"),
            (self._silent, "{} without an answer in text"),
            (self._repeated, "{} repeating a question of the same conversation; the first answer counts"),
        )
        for count, sentence in counts:
            if count:
                yield sentence.format(format_count(count, "message"))
        if unused := self._messages - self._answer_count:
            yield f"not imported: {unused:,} of {format_count(self._messages, 'message')}"

    def _make_match_rows(self) -> tuple[MatchRow, ...]:
        rows = sorted(self._rows.items(), key=lambda row: (not row[0][1], row[0][1], row[0][0]))
        matched = [MatchRow(*row, count) for row, count in rows if row[1]]
        unmatched = [MatchRow(*row, count) for row, count in rows if not row[1]]
        return (*matched, *unmatched[:_LISTED])
