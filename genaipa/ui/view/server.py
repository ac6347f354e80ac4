"""Server of the view: pages by GET alone, for whoever has the token, on this machine.

Marked on them is what one answer says and none of the others beside it does: words, numbers and sections of its own.
"""

from __future__ import annotations

import re
import secrets
import socket
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from urllib.parse import urlencode

import jinja2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from genaipa.errors import format_shell_command
from genaipa.files.html import replace_control_characters
from genaipa.files.text import split_url_or_empty
from genaipa.reports.moved import MEASURED
from genaipa.scoring.answers import Exchange
from genaipa.ui.view.index import BY_SCORE, NO_SCORES, OUTCOMES, ViewChoice
from genaipa.ui.view.movement import MOST
from genaipa.words import format_count, join_some
from genaipa.workspace import workspace_option_if_needed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from genaipa.reports.moved import AnswerPairsByMovement
    from genaipa.runs.records import Record
    from genaipa.ui.view.index import AnswerIndex, IndexedAnswer, RowKey


HOST = "127.0.0.1"
_HERE = Path(__file__).parent
_ROWS = 20
"""Rows on a page."""
_BESIDE = 4
"""Systems beside each other, where nobody chose them."""
_PAIR = 2
"""Systems between which answers move."""
_LISTED = 10
"""Pairs that the first screen lists."""
_AS_ASKED = "asked"
_LONGEST = 20_000
"""Characters of an answer on a page of many; it goes on behind them in `genaipa show`."""
_FEW = 3
"""Names of runs that the head of the page has room for; more are folded."""
_TYPES = {"css": "text/css", "js": "text/javascript"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class ViewServer:
    """The view of one index, on a socket of its own; `url` has the token that opens it."""

    def __init__(self, index: AnswerIndex, port: int = 0) -> None:
        self.index = index
        self.socket = socket.create_server((HOST, port))
        self.port: int = self.socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.url = f"http://{HOST}:{self.port}/?token={self.token}"
        templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
        )
        templates.finalize = replace_control_characters
        templates.filters["format_count"] = format_count
        templates.filters["zip_same"] = lambda values: [(value, value) for value in values]
        templates.filters["questions"] = lambda known: [(q, f"{q}  {text}") for q, text in known.items()]
        self._template = templates.get_template("view.html.jinja")
        self._files = {name: (_HERE / f"view.{name}").read_text(encoding="utf-8") for name in _TYPES}

    def serve_until_stopped(self) -> None:
        """Serve until Ctrl-C or SIGTERM."""
        import uvicorn

        config = uvicorn.Config(
            self.make_app(),
            log_level="critical",
            lifespan="off",
            server_header=False,
            # A browser may open a connection in the moment of Ctrl-C and keep it, unused, for as long as it likes.
            timeout_graceful_shutdown=2,
        )
        uvicorn.Server(config).run(sockets=[self.socket])

    def make_app(self) -> Starlette:
        """Return the application: a page, its style and script, and the gate before them."""
        routes = [
            Route("/", self._serve_page, methods=["GET"]),
            Route("/view.{name}", self._serve_file, methods=["GET"]),
        ]
        return Starlette(routes=routes, middleware=[Middleware(_ViewGate, token=self.token, port=self.port)])

    def _serve_file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _TYPES:
            return PlainTextResponse("There is no such page.", HTTPStatus.NOT_FOUND)
        return Response(self._files[name], media_type=_TYPES[name])

    def _serve_page(self, request: Request) -> Response:
        self.index.reread_all_runs_if_any_changed()
        return HTMLResponse(self._template.render(self.make_page_data(request.query_params)))

    def make_page_data(self, query: QueryParams) -> dict[str, Any]:
        """Everything that the page shows."""
        index, choice = self.index, read_choice_from_query(self.index, query)
        row_numbers = index.list_row_numbers_matching_choice(choice)
        pages = max(1, -(-len(row_numbers) // _ROWS))
        # The first page for what is no number.
        page = query.get("page", "")
        number = min(max(1, int(page)) if re.fullmatch(r"[0-9]{1,9}", page) else 1, pages)
        systems = choice.systems or tuple(index.systems[:_BESIDE])
        plain = bool(query.get("plain"))
        movement = self._compare_two_columns_if_few_rows(row_numbers, systems)
        by_movement = movement is not None and query.get("order") != _AS_ASKED
        if movement is not None and by_movement:
            ranked = [pair.position for pair in movement.pairs]
            row_numbers = [*ranked, *sorted({*row_numbers} - {*ranked})]
        query_items = [(name, value) for name, value in query.multi_items() if name not in {"page", "token"}]
        return {
            "index": index,
            "title": join_some(index.run_names, _FEW),
            "few": len(index.run_names) <= _FEW,
            "choice": choice,
            "plain": plain,
            "systems": systems,
            "movement": movement,
            "by_movement": by_movement,
            "moved": self._list_first_moved_pairs_with_links(movement, row_numbers, query_items)
            if movement and by_movement and number == 1
            else [],
            "rows": [
                self._make_row_data(*index.rows[row_number], systems, leave_words_unmarked=plain)
                | {"place": row_number, "sentence": movement.movement_sentence_at(row_number) if movement else ""}
                for row_number in row_numbers[(number - 1) * _ROWS : number * _ROWS]
            ],
            "found": len(row_numbers),
            "page": number,
            "pages": pages,
            "before": f"?{urlencode([*query_items, ('page', number - 1)])}" if number > 1 else "",
            "after": f"?{urlencode([*query_items, ('page', number + 1)])}" if number < pages else "",
            "outcomes": OUTCOMES,
            "by_score": BY_SCORE,
            "measured": MEASURED,
            "score": format_shell_command(
                "genaipa", "score", *index.run_names, *workspace_option_if_needed(index.workspace.home)
            ),
        }

    def _compare_two_columns_if_few_rows(
        self, row_numbers: list[int], systems: tuple[str, ...]
    ) -> AnswerPairsByMovement | None:
        """Compare two columns in these rows; None for any other number of columns, or without a pair of answers."""
        if len(systems) != _PAIR or not 0 < len(row_numbers) <= MOST:
            return None
        movement = self.index.movements.compare_columns(row_numbers, (systems[0], systems[1]))
        return movement if movement.pairs else None

    def _list_first_moved_pairs_with_links(
        self, movement: AnswerPairsByMovement, row_numbers_in_page_order: list[int], query_items: list[tuple[str, str]]
    ) -> list[dict[str, Any]]:
        """List the pairs that moved most, each with the link to its answers."""
        places = {row_number: number for number, row_number in enumerate(row_numbers_in_page_order)}
        return [
            {
                "pair": pair,
                "link": f"?{urlencode([*query_items, ('page', places[pair.position] // _ROWS + 1)])}#q{pair.position}",
            }
            for pair in movement.pairs[:_LISTED]
            if pair.has_moved
        ]

    def _make_row_data(
        self,
        row_key: RowKey,
        answers: dict[str, IndexedAnswer],
        column_names: tuple[str, ...],
        *,
        leave_words_unmarked: bool,
    ) -> dict[str, Any]:
        systems = self._answered_columns_or_first_of_system(answers, column_names)
        cells = [answers.get(name) for name in systems]
        records = [self.index.read_record(cell) if cell else None for cell in cells]
        replies = [(record.reply or "")[:_LONGEST] if record else "" for record in records]
        pieces = (
            [[(text, "")] for text in replies] if leave_words_unmarked else mark_words_that_no_other_text_has(replies)
        )
        first = next(((record, cell) for record, cell in zip(records, cells, strict=True) if record and cell), None)
        question_text, annotated, silent = "", None, ""
        if first is not None:
            inputs = self.index.inputs[first[1].run]
            question_text = inputs.question_in_wording_of_set(first[0])
            annotated, _ = inputs.annotated_answer_and_part_set_name(first[0].document, first[0].question)
            silent = "The document does not say." if annotated and not annotated.answer.strip() else ""
        return {
            "question": row_key[1],
            "about": " \u00b7 ".join(_iterate_coordinates_without_defaults(row_key)),
            "asked": question_text or self.index.questions[row_key[1]],
            "annotated": annotated,
            "silent": silent,
            "cells": [
                {
                    "system": name,
                    "status": cell.status if cell else "",
                    "pieces": answer_pieces,
                    "earlier": self._describe_earlier_exchange(row_key, cell.run, record) if cell and record else "",
                    "lost": cell is not None and record is None,
                    "cut": record is not None and len(record.reply or "") > _LONGEST,
                    "why": record.error.message if record and record.error else "",
                    "thoughts": record.thoughts.strip()[:_LONGEST] if record else "",
                    "scores": self.index.get_scores(cell) if cell else NO_SCORES,
                    "same": _find_earlier_system_with_equal_answer(replies, systems, column_number),
                }
                for column_number, (name, cell, record, answer_pieces) in enumerate(
                    zip(systems, cells, records, pieces, strict=True)
                )
            ],
        }

    def _describe_earlier_exchange(self, row_key: RowKey, run_number: int, record: Record) -> str:
        """Return the question and answer that a follow-up goes on from, as analysts see them; else nothing."""
        earlier = self.index.read_earlier_record(row_key, run_number, record)
        if earlier is None:
            return ""
        question_text = self.index.inputs[run_number].question_in_wording_of_set(earlier)
        return Exchange(question_text, earlier.reply or "").as_text_with_speakers[:_LONGEST]

    def _answered_columns_or_first_of_system(
        self, answers: dict[str, IndexedAnswer], column_names: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Return the columns of a row: those with an answer, and the first of each system that has none."""
        system_of = self.index.system_of
        answered = {system_of[name] for name in column_names if name in answers}
        first = {system_of[name]: name for name in reversed(column_names)}
        return tuple(
            name
            for name in column_names
            if name in answers or (system_of[name] not in answered and first[system_of[name]] == name)
        )


def read_choice_from_query(index: AnswerIndex, query: QueryParams) -> ViewChoice:
    """Read the choice that an address makes; what it names and is not there chooses nothing."""

    def get_query_value_if_listed(name: str, options: Any) -> str:
        return value if (value := query.get(name, "")) in options else ""

    return ViewChoice(
        systems=tuple(name for name in index.systems if name in query.getlist("system")),
        document=get_query_value_if_listed("document", index.documents),
        question=get_query_value_if_listed("question", index.questions),
        experiment=get_query_value_if_listed("experiment", index.experiments),
        outcome=get_query_value_if_listed("outcome", OUTCOMES),
        score=get_query_value_if_listed("score", BY_SCORE),
    )


def _iterate_coordinates_without_defaults(row_key: RowKey) -> Iterator[str]:
    """List the facts of a row's answers, without any that hold nearly always."""
    document, _, initialization, wording, repetition, prompts = row_key
    yield document
    yield initialization
    if wording != "original":
        yield wording
    if repetition > 1:
        yield f"repetition {repetition}"
    if prompts:
        yield prompts


def _find_earlier_system_with_equal_answer(replies: list[str], systems: tuple[str, ...], column_number: int) -> str:
    """Find the first system with the very same answer; empty if none has it, or there is nothing."""
    before = replies.index(replies[column_number])
    return systems[before] if replies[column_number] and before < column_number else ""


class _ViewGate:
    """Lets in requests of this machine's own pages that have the token, in the address or in a cookie."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token, self.port = app, token, port
        self.cookie = f"genaipa-view-{port}"
        self.ours = {f"{name}:{port}" for name in (HOST, "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        if scope["type"] != "http":
            return
        from starlette.requests import Request

        async def send_with_fixed_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
            await send(message)

        await self._admit_redirect_or_refuse(Request(scope))(scope, receive, send_with_fixed_headers)

    def _admit_redirect_or_refuse(self, request: Request) -> ASGIApp:
        origin = request.headers.get("origin")
        # A page of another site must not reach this one under a name of its own (DNS rebinding).
        if request.headers.get("host") not in self.ours or (
            origin and split_url_or_empty(origin).netloc not in self.ours
        ):
            return PlainTextResponse("This is not the view's address.", HTTPStatus.FORBIDDEN)
        if self._equals_secret_token(request.query_params.get("token")):
            query_items = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
            redirect = RedirectResponse(f"/?{urlencode(query_items)}" if query_items else "/", HTTPStatus.SEE_OTHER)
            redirect.set_cookie(self.cookie, self.token, httponly=True, samesite="lax")
            return redirect
        if not self._equals_secret_token(request.cookies.get(self.cookie)):
            return PlainTextResponse(
                "Open the view at the address that genaipa view printed: it has a token.", HTTPStatus.FORBIDDEN
            )
        return self.app

    def _equals_secret_token(self, text: str | None) -> bool:
        return text is not None and secrets.compare_digest(text.encode(), self.token.encode())


# A section or a number is one word, so that 6.4 differs from 6.5 as a whole.
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_LEAST = 4
"""Letters from which on a word can tell two answers apart; shorter ones are mostly grammar."""
_GRAMMAR = """
about above after also been before being both could does down each from have having here into itself just like many more
most much only other over same should some such than that their them then there these they this those through under upon
very were what when where which while will with within without would your yours
"""
_COMMON = frozenset(_GRAMMAR.split())
_NO = frozenset({"no", "not", "never", "nor", "yes"})
"""Short words that turn an answer round."""
_UNLIKE = 0.5
"""Share of a text's words that are its own from which on marking them says nothing."""
_FEW_WORDS = 8
"""Words from which on a text can be unlike another."""


class AnswerPiece(NamedTuple):
    """A stretch of an answer; `kind` is empty where others say it, too."""

    text: str
    kind: Literal["", "word", "number"]


def mark_words_that_no_other_text_has(texts: Sequence[str]) -> list[list[AnswerPiece]]:
    """Split each text into pieces, and mark what no other text says; a single text has no marks.

    Of a text that has little in common with the others the numbers alone are marked: nearly every word is its own.

    >>> mark_words_that_no_other_text_has(["Kept for 90 days.", "Kept for 30 days."])[0]
    [AnswerPiece(text='Kept for ', kind=''), AnswerPiece(text='90', kind='number'), AnswerPiece(text=' days.', kind='')]
    """
    if sum(bool(text) for text in texts) < 2:  # noqa: PLR2004
        return [[AnswerPiece(text, "")] for text in texts]
    return [
        _split_answer_at_distinctive_words(
            text,
            _collect_words_of_other_texts(number, texts),
            marks_words=not is_mostly_different_from_others(text, texts),
        )
        for number, text in enumerate(texts)
    ]


def is_mostly_different_from_others(text: str, all_texts: Sequence[str]) -> bool:
    """Tell whether more than half of the words of a text are in none of the others, where there are any."""
    other_texts = [other_text for other_text in all_texts if other_text and other_text != text]
    words = {
        word for match in _WORD.finditer(text) if _is_distinctive_word(word := _casefold_and_strip_plural(match[0]))
    }
    if not other_texts or len(words) < _FEW_WORDS:
        return False
    other_words = {
        _casefold_and_strip_plural(match[0]) for other_text in other_texts for match in _WORD.finditer(other_text)
    }
    return len(words - other_words) > _UNLIKE * len(words)


def _collect_words_of_other_texts(text_index: int, all_texts: Sequence[str]) -> frozenset[str]:
    """Return the words of all of these texts but one."""
    other_texts = (text for index, text in enumerate(all_texts) if index != text_index)
    return frozenset(_casefold_and_strip_plural(match[0]) for text in other_texts for match in _WORD.finditer(text))


def _casefold_and_strip_plural(word: str) -> str:
    """Normalize a word: small letters, without a plural or possessive ending."""
    word = word.casefold().replace("\u2019", "'").removesuffix("'s")
    return word.removesuffix("s") if len(word) >= _LEAST else word


def _is_distinctive_word(word: str) -> bool:
    """Tell whether a plain word can tell two answers apart."""
    return word[0].isdigit() or word in _NO or (len(word) >= _LEAST and word not in _COMMON)


def _split_answer_at_distinctive_words(
    text: str, other_words: frozenset[str], *, marks_words: bool
) -> list[AnswerPiece]:
    pieces: list[AnswerPiece] = []
    done = 0
    for match in _WORD.finditer(text):
        word = _casefold_and_strip_plural(match[0])
        if word in other_words or not _is_distinctive_word(word):
            continue
        kind: Literal["word", "number"] = "number" if word[0].isdigit() or word in _NO else "word"
        if kind == "word" and not marks_words:
            continue
        between = text[done : match.start()]
        if pieces and pieces[-1].kind == kind == "word" and between == " ":
            pieces[-1] = AnswerPiece(f"{pieces[-1].text} {match[0]}", kind)
        else:
            pieces += [*([AnswerPiece(between, "")] if between else []), AnswerPiece(match[0], kind)]
        done = match.end()
    return [*pieces, AnswerPiece(text[done:], "")] if done < len(text) or not pieces else pieces
