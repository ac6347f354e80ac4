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

from genaipa.errors import command
from genaipa.files.html import strip_control_characters
from genaipa.files.text import split_url
from genaipa.reports.moved import MEASURED
from genaipa.ui.view.index import BY_SCORE, NO_SCORES, OUTCOMES, ViewChoice
from genaipa.ui.view.movement import MOST
from genaipa.words import some
from genaipa.workspace import elsewhere

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from genaipa.reports.moved import Movement
    from genaipa.ui.view.index import Index, Key, ViewCell


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


class ViewPages:
    """The view of one index, on a socket of its own; `url` has the token that opens it."""

    def __init__(self, index: Index, port: int = 0) -> None:
        self.index = index
        self.socket = socket.create_server((HOST, port))
        self.port: int = self.socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.url = f"http://{HOST}:{self.port}/?token={self.token}"
        templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
        )
        templates.finalize = strip_control_characters
        templates.filters["zip_same"] = lambda values: [(value, value) for value in values]
        templates.filters["questions"] = lambda known: [(q, f"{q}  {text}") for q, text in known.items()]
        self._template = templates.get_template("view.html.jinja")
        self._files = {name: (_HERE / f"view.{name}").read_text(encoding="utf-8") for name in _TYPES}

    def serve(self) -> None:
        """Serve until Ctrl-C or SIGTERM."""
        import uvicorn

        config = uvicorn.Config(
            self.app(),
            log_level="critical",
            lifespan="off",
            server_header=False,
            # A browser may open a connection in the moment of Ctrl-C and keep it, unused, for as long as it likes.
            timeout_graceful_shutdown=2,
        )
        uvicorn.Server(config).run(sockets=[self.socket])

    def app(self) -> Starlette:
        """Return the application: a page, its style and script, and the gate before them."""
        routes = [Route("/", self._page, methods=["GET"]), Route("/view.{name}", self._file, methods=["GET"])]
        return Starlette(routes=routes, middleware=[Middleware(_Gate, token=self.token, port=self.port)])

    def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _TYPES:
            return PlainTextResponse("There is no such page.", HTTPStatus.NOT_FOUND)
        return Response(self._files[name], media_type=_TYPES[name])

    def _page(self, request: Request) -> Response:
        self.index.refresh()
        return HTMLResponse(self._template.render(self.facts(request.query_params)))

    def facts(self, asked: QueryParams) -> dict[str, Any]:
        """Everything that the page shows."""
        index, choice = self.index, choice_of(self.index, asked)
        found = index.chosen(choice)
        pages = max(1, -(-len(found) // _ROWS))
        # The first page for what is no number.
        page = asked.get("page", "")
        number = min(max(1, int(page)) if re.fullmatch(r"[0-9]{1,9}", page) else 1, pages)
        systems = choice.systems or tuple(index.systems[:_BESIDE])
        plain = bool(asked.get("plain"))
        movement = self._movement(found, systems)
        by_movement = movement is not None and asked.get("order") != _AS_ASKED
        if movement is not None and by_movement:
            ranked = [pair.position for pair in movement.pairs]
            found = [*ranked, *sorted({*found} - {*ranked})]
        given = [(name, value) for name, value in asked.multi_items() if name not in {"page", "token"}]
        return {
            "index": index,
            "title": some(index.runs, _FEW),
            "few": len(index.runs) <= _FEW,
            "choice": choice,
            "plain": plain,
            "systems": systems,
            "movement": movement,
            "by_movement": by_movement,
            "moved": self._moved(movement, found, given) if movement and by_movement and number == 1 else [],
            "rows": [
                self._row(*index.rows[place], systems, plain=plain)
                | {"place": place, "sentence": movement.find_sentence(place) if movement else ""}
                for place in found[(number - 1) * _ROWS : number * _ROWS]
            ],
            "found": len(found),
            "page": number,
            "pages": pages,
            "before": f"?{urlencode([*given, ('page', number - 1)])}" if number > 1 else "",
            "after": f"?{urlencode([*given, ('page', number + 1)])}" if number < pages else "",
            "outcomes": OUTCOMES,
            "by_score": BY_SCORE,
            "measured": MEASURED,
            "score": command("genaipa", "score", *index.runs, *elsewhere(index.workspace.home)),
        }

    def _movement(self, found: list[int], systems: tuple[str, ...]) -> Movement | None:
        """What moved in these rows, where two columns are beside each other; None where that can't be said."""
        if len(systems) != _PAIR or not 0 < len(found) <= MOST:
            return None
        movement = self.index.movements.between(found, (systems[0], systems[1]))
        return movement if movement.pairs else None

    def _moved(self, movement: Movement, found: list[int], given: list[tuple[str, str]]) -> list[dict[str, Any]]:
        """The pairs that moved most, each with the link to its answers."""
        at = {place: number for number, place in enumerate(found)}
        return [
            {
                "pair": pair,
                "link": f"?{urlencode([*given, ('page', at[pair.position] // _ROWS + 1)])}#q{pair.position}",
            }
            for pair in movement.pairs[:_LISTED]
            if pair.has_moved
        ]

    def _row(self, key: Key, answers: dict[str, ViewCell], chosen: tuple[str, ...], *, plain: bool) -> dict[str, Any]:
        systems = self._asked(answers, chosen)
        cells = [answers.get(name) for name in systems]
        records = [self.index.record(cell) if cell else None for cell in cells]
        replies = [(record.reply or "")[:_LONGEST] if record else "" for record in records]
        pieces = [[(text, "")] for text in replies] if plain else marked(replies)
        first = next(((record, cell) for record, cell in zip(records, cells, strict=True) if record and cell), None)
        asked, annotated, silent = "", None, ""
        if first is not None:
            inputs = self.index.inputs[first[1].run]
            asked = inputs.wording(first[0])
            annotated, _ = inputs.annotated(first[0].document, first[0].question)
            silent = "The document does not say." if annotated and not annotated.answer.strip() else ""
        return {
            "question": key[1],
            "about": " \u00b7 ".join(_about(key)),
            "asked": asked or self.index.questions[key[1]],
            "annotated": annotated,
            "silent": silent,
            "cells": [
                {
                    "system": name,
                    "status": cell.status if cell else "",
                    "pieces": own,
                    "lost": cell is not None and record is None,
                    "cut": record is not None and len(record.reply or "") > _LONGEST,
                    "why": record.error.message if record and record.error else "",
                    "thoughts": record.thoughts.strip()[:_LONGEST] if record else "",
                    "scores": self.index.scores_of(cell) if cell else NO_SCORES,
                    "same": _same(replies, systems, place),
                }
                for place, (name, cell, record, own) in enumerate(zip(systems, cells, records, pieces, strict=True))
            ],
        }

    def _asked(self, answers: dict[str, ViewCell], chosen: tuple[str, ...]) -> tuple[str, ...]:
        """Return the columns of a row: those with an answer, and the first of each system that has none."""
        system_of = self.index.system_of
        answered = {system_of[name] for name in chosen if name in answers}
        first = {system_of[name]: name for name in reversed(chosen)}
        return tuple(
            name
            for name in chosen
            if name in answers or (system_of[name] not in answered and first[system_of[name]] == name)
        )


def choice_of(index: Index, asked: QueryParams) -> ViewChoice:
    """The choice that an address makes; what it names and is not there chooses nothing."""

    def one_of(name: str, known: Any) -> str:
        return value if (value := asked.get(name, "")) in known else ""

    return ViewChoice(
        systems=tuple(name for name in index.systems if name in asked.getlist("system")),
        document=one_of("document", index.documents),
        question=one_of("question", index.questions),
        experiment=one_of("experiment", index.experiments),
        outcome=one_of("outcome", OUTCOMES),
        score=one_of("score", BY_SCORE),
    )


def _about(key: Key) -> Iterator[str]:
    """The facts of a row's answers, without any that hold nearly always."""
    document, _, initialization, wording, repetition, prompts = key
    yield document
    yield initialization
    if wording != "original":
        yield wording
    if repetition > 1:
        yield f"repetition {repetition}"
    if prompts:
        yield prompts


def _same(replies: list[str], systems: tuple[str, ...], place: int) -> str:
    """The first system that said the very same; empty if none did, or there is nothing."""
    before = replies.index(replies[place])
    return systems[before] if replies[place] and before < place else ""


class _Gate:
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

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
            await send(message)

        await self._answer(Request(scope))(scope, receive, with_headers)

    def _answer(self, request: Request) -> ASGIApp:
        origin = request.headers.get("origin")
        # A page of another site must not reach this one under a name of its own (DNS rebinding).
        if request.headers.get("host") not in self.ours or (origin and split_url(origin).netloc not in self.ours):
            return PlainTextResponse("This address is not the view's.", HTTPStatus.FORBIDDEN)
        if self._is(request.query_params.get("token")):
            left = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
            to = RedirectResponse(f"/?{urlencode(left)}" if left else "/", HTTPStatus.SEE_OTHER)
            to.set_cookie(self.cookie, self.token, httponly=True, samesite="lax")
            return to
        if not self._is(request.cookies.get(self.cookie)):
            return PlainTextResponse(
                "Open the view by the address that genaipa view printed: it has a token.", HTTPStatus.FORBIDDEN
            )
        return self.app

    def _is(self, given: str | None) -> bool:
        return given is not None and secrets.compare_digest(given.encode(), self.token.encode())


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


def marked(texts: Sequence[str]) -> list[list[AnswerPiece]]:
    """Each text in pieces, with what it alone says marked; nothing is marked in a text that stands alone.

    Of a text that has little in common with the others the numbers alone are marked: nearly every word is its own.

    >>> marked(["Kept for 90 days.", "Kept for 30 days."])[0]
    [AnswerPiece(text='Kept for ', kind=''), AnswerPiece(text='90', kind='number'), AnswerPiece(text=' days.', kind='')]
    """
    if sum(bool(text) for text in texts) < 2:  # noqa: PLR2004
        return [[AnswerPiece(text, "")] for text in texts]
    return [
        _pieces(text, _words_beside(number, texts), words=not is_unlike(text, texts))
        for number, text in enumerate(texts)
    ]


def is_unlike(text: str, texts: Sequence[str]) -> bool:
    """Whether more than half of the words of a text are in none of the others, where there are any."""
    others = [other for other in texts if other and other != text]
    said = {word for found in _WORD.finditer(text) if _counts(word := _plain(found[0]))}
    if not others or len(said) < _FEW_WORDS:
        return False
    beside = {_plain(found[0]) for other in others for found in _WORD.finditer(other)}
    return len(said - beside) > _UNLIKE * len(said)


def _words_beside(number: int, texts: Sequence[str]) -> frozenset[str]:
    """Return the words of all of these texts but one."""
    others = (text for place, text in enumerate(texts) if place != number)
    return frozenset(_plain(found[0]) for text in others for found in _WORD.finditer(text))


def _plain(word: str) -> str:
    """A word without what grammar adds to it."""
    word = word.casefold().replace("\u2019", "'").removesuffix("'s")
    return word.removesuffix("s") if len(word) >= _LEAST else word


def _counts(word: str) -> bool:
    """Whether a plain word can tell two answers apart."""
    return word[0].isdigit() or word in _NO or (len(word) >= _LEAST and word not in _COMMON)


def _pieces(text: str, others: frozenset[str], *, words: bool) -> list[AnswerPiece]:
    pieces: list[AnswerPiece] = []
    done = 0
    for found in _WORD.finditer(text):
        word = _plain(found[0])
        if word in others or not _counts(word):
            continue
        kind: Literal["word", "number"] = "number" if word[0].isdigit() or word in _NO else "word"
        if kind == "word" and not words:
            continue
        between = text[done : found.start()]
        if pieces and pieces[-1].kind == kind == "word" and between == " ":
            pieces[-1] = AnswerPiece(f"{pieces[-1].text} {found[0]}", kind)
        else:
            pieces += [*([AnswerPiece(between, "")] if between else []), AnswerPiece(found[0], kind)]
        done = found.end()
    return [*pieces, AnswerPiece(text[done:], "")] if done < len(text) or not pieces else pieces
