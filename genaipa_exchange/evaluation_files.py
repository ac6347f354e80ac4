"""Answers that other programs asked for a study: promptfoo's output, lm-eval's samples, and plain lines of JSON."""

from __future__ import annotations

import contextlib
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from genaipa.errors import DataError
from genaipa.files.limits import JSON
from genaipa.files.text import DAMAGE, read_text
from genaipa.runs.procedure import Initialization
from genaipa.runs.records import MOST_REPETITIONS
from genaipa_exchange.chats import Chat, ChatFileLayout, Exchange, ExportFile, ShownText, decode_lenient_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_LONGEST_SECONDS = 1e9
_LONGEST_QUESTION = 2_000
"""Characters of a variable that may be a question; a longer one is a text that was shown."""
_QUESTION_KEYS = ("question", "query", "prompt", "input", "ctx")
_DOCUMENT_KEYS = ("document", "policy")


# -- lines of one's own --


class _Line(msgspec.Struct):
    question: str
    answer: str
    document: str = ""
    system: str = ""
    language: str = ""
    repetition: Annotated[int, msgspec.Meta(ge=1, le=MOST_REPETITIONS)] | None = None
    initialization: Initialization | None = None


def _read_chats_from_lines(file: ExportFile) -> Iterator[Chat]:
    for entry, item in file.items:
        line = file.decode_item(entry, item, _Line, _LINES)
        exchange = Exchange(entry, (line.question,), line.answer.strip(), system=line.system.strip())
        yield Chat(entry, (exchange,), line.document, line.language, line.initialization, line.repetition or 0)


# -- promptfoo --


class _Provider(msgspec.Struct):
    id: str = ""
    label: str | None = ""


class _Prompt(msgspec.Struct):
    raw: Any = ""
    label: str | None = ""


class _Response(msgspec.Struct):
    output: Any = None
    error: str | None = None
    finishReason: str | None = None  # noqa: N815 - promptfoo's


class _TestCase(msgspec.Struct):
    vars: dict[str, Any] | None = None


class _Result(msgspec.Struct):
    provider: _Provider | str
    prompt: _Prompt | None = None
    promptIdx: int | None = 0  # noqa: N815 - promptfoo's
    vars: dict[str, Any] | None = None
    testCase: _TestCase | None = None  # noqa: N815 - promptfoo's
    response: _Response | None = None
    error: str | None = None
    latencyMs: float | None = 0.0  # noqa: N815 - promptfoo's


def _read_promptfoo_chats(file: ExportFile) -> Iterator[Chat]:
    results = [(entry, file.decode_item(entry, item, _Result, _PROMPTFOO)) for entry, item in file.items]
    several = len({result.promptIdx or 0 for _, result in results}) > 1
    for entry, result in results:
        provider = result.provider if isinstance(result.provider, str) else result.provider.label or result.provider.id
        output = result.response.output if result.response else None
        error = result.error or (result.response.error if result.response else None) or ""
        values = result.vars or (result.testCase.vars if result.testCase else None) or {}
        message = extract_last_user_message(result.prompt.raw if result.prompt else "")
        exchange = Exchange(
            entry,
            _list_possible_question_texts(values, message),
            None if error and output is None else (output.strip() if isinstance(output, str) else ""),
            _list_shown_texts(values),
            system=f"{provider} (prompt {(result.promptIdx or 0) + 1})" if several else provider,
            model=result.provider if isinstance(result.provider, str) else result.provider.id,
            seconds=min(max(0.0, (result.latencyMs or 0.0) / 1000), _LONGEST_SECONDS),
            error=error,
            is_cut=result.response is not None and result.response.finishReason == "length",
        )
        yield Chat(entry, (exchange,), _find_document_name_or_empty(values))


# -- lm-eval --


class _Sample(msgspec.Struct):
    doc_id: int
    resps: list[Any]
    doc: dict[str, Any] | str | None = None
    arguments: Any = None


def _read_lm_eval_chats(file: ExportFile) -> Iterator[Chat]:
    system, sample_keys = _read_model_name_beside_samples(file), set[tuple[int, str]]()
    for entry, item in file.items:
        sample = file.decode_item(entry, item, _Sample, _SAMPLES)
        replies = sample.resps[0] if sample.resps and isinstance(sample.resps[0], list) else sample.resps
        if not all(isinstance(reply, str) for reply in replies):
            wrong = "contains likelihoods, not answers in text; import samples of a task of the type generate_until."
            raise DataError(file.label, wrong, entry)
        # A sample stands once for each filter that looked at its replies.
        sample_key = (sample.doc_id, "\0".join(replies))
        if sample_key in sample_keys:
            continue
        sample_keys.add(sample_key)
        values = sample.doc if isinstance(sample.doc, dict) else {}
        questions = _list_possible_question_texts(
            values, extract_last_user_message(_find_prompt_of_sample(sample.arguments))
        )
        for reply in replies:
            exchange = Exchange(entry, questions, reply.strip(), _list_shown_texts(values), system=system, model=system)
            yield Chat(entry, (exchange,), _find_document_name_or_empty(values))


def _find_prompt_of_sample(arguments: Any) -> object:
    """Return the prompt of a sample: `gen_args_0.arg_0`, or the first of the first of lists in earlier files."""
    for _ in range(2):
        if isinstance(arguments, dict):
            arguments = next(iter(arguments.values()), "")
        elif isinstance(arguments, list):
            arguments = arguments[0] if arguments else ""
    return arguments


class _Results(msgspec.Struct):
    model_name: str = ""


def _read_model_name_beside_samples(file: ExportFile) -> str:
    """Return the model's name, which is in the results beside the samples alone; empty without them."""
    beside = file.path.with_name(f"results_{file.path.stem.rpartition('_')[2]}.json")
    if file.name or not beside.is_file():
        return ""
    try:
        return decode_lenient_json(read_text(beside, JSON).encode(), _Results).model_name
    except DAMAGE:
        return ""


# -- all --


def extract_last_user_message(raw_prompt: object) -> str:
    """Return the last message of a person in a prompt: a text, a list of messages, or either as JSON."""
    if isinstance(raw_prompt, list) and raw_prompt and all(isinstance(part, str) for part in raw_prompt):
        raw_prompt = raw_prompt[0]
    if isinstance(raw_prompt, str) and raw_prompt.lstrip().startswith("["):
        with contextlib.suppress(*DAMAGE):  # a text that begins with a bracket
            raw_prompt = decode_lenient_json(raw_prompt.encode(), object)
    if isinstance(raw_prompt, list):
        messages = [message for message in raw_prompt if isinstance(message, dict) and message.get("role") == "user"]
        content = messages[-1].get("content") if messages else ""
        if isinstance(content, list):
            content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
        return content if isinstance(content, str) else ""
    return raw_prompt if isinstance(raw_prompt, str) else ""


def _list_possible_question_texts(variables: Mapping[str, Any], message: str) -> tuple[str, ...]:
    """List the texts that may be the question, likelier ones first, without names that appear twice."""
    named: Iterable[Any] = [variables[key] for key in _QUESTION_KEYS if key in variables]
    other_values = [value for key, value in variables.items() if key not in _DOCUMENT_KEYS]
    texts = [
        value for value in (*named, *other_values) if isinstance(value, str) and 0 < len(value) <= _LONGEST_QUESTION
    ]
    return tuple(dict.fromkeys([*texts, message]))


def _list_shown_texts(variables: Mapping[str, Any]) -> tuple[ShownText, ...]:
    return tuple(
        ShownText(key, value)
        for key, value in variables.items()
        if isinstance(value, str) and (len(value) > _LONGEST_QUESTION or (key in _DOCUMENT_KEYS and "\n" in value))
    )


def _find_document_name_or_empty(variables: Mapping[str, Any]) -> str:
    """Return the name of a document among the variables; promptfoo may have it as the address of a file."""
    for key in _DOCUMENT_KEYS:
        value = variables.get(key)
        if isinstance(value, str) and "\n" not in value and len(value) <= _LONGEST_QUESTION:
            return PurePath(value.removeprefix("file://")).stem if "/" in value or value.endswith(".md") else value
    return ""


_LINES = ChatFileLayout(
    "lines with a question and an answer",
    frozenset({"question"}),
    _read_chats_from_lines,
    "each line needs the keys 'question' and 'answer', with text",
    is_personal=False,
)
_PROMPTFOO = ChatFileLayout(
    "promptfoo's output",
    frozenset({"provider", "prompt"}),
    _read_promptfoo_chats,
    "write it again with: promptfoo eval -o out.json",
    is_personal=False,
)
_SAMPLES = ChatFileLayout(
    "lm-eval's samples",
    frozenset({"doc_id", "resps"}),
    _read_lm_eval_chats,
    "write them again with: lm_eval --log_samples",
    is_personal=False,
)
EVALUATIONS = (_PROMPTFOO, _SAMPLES, _LINES)
